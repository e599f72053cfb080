/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.c - see machine.h */
#include "common/system.h"

#include "run/machine.h"

#include <cblas.h>
#include <fpemu.h>
#include <stdio.h>
#include <string.h>

#if HAVE_ONEDNN && defined _OPENMP
#include <dnnl.h>
#include <dnnl_debug.h>
#endif
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

/* What each part is called in files. */
static const char *const names[MACHINE_PARTS] = {"fptrain", "compiler", "mathematics", "products", "processor"};

/* The compiler, the processors that it may take for granted, and what makes it careless. */
static void say_compiler(char text[MACHINE_TEXT])
{
    const char *which =
#ifdef __clang__
        "clang ";
#else
        "gcc ";
#endif
    snprintf(text, MACHINE_TEXT, "%s%.60s", which, __VERSION__);
    static const char *const more[] = {
#ifdef __AVX2__
        "avx2",
#endif
#ifdef __FMA__
        "fma",
#endif
#ifdef __AVX512F__
        "avx512f",
#endif
#ifdef __FAST_MATH__
        "fast-math",
#endif
#ifndef __OPTIMIZE__
        "unoptimised",
#endif
        NULL};
    for (int i = 0; more[i]; i++)
        snprintf(text + strlen(text), MACHINE_TEXT - strlen(text), ", %s", more[i]);
}

static void say_mathematics(char text[MACHINE_TEXT])
{
#ifdef __GLIBC__
    snprintf(text, MACHINE_TEXT, "glibc %s", gnu_get_libc_version());
#else
    snprintf(text, MACHINE_TEXT, "unknown");
#endif
}

/* Backends that compute by libfpemu alone have no version of their own. */
static void say_products(const backend *b, char text[MACHINE_TEXT])
{
    snprintf(text, MACHINE_TEXT, "%s", b->name);
#if HAVE_ONEDNN && defined _OPENMP
    if (strcmp(b->name, "onednn") == 0) {
        const dnnl_version_t *v = dnnl_version();
        snprintf(text, MACHINE_TEXT, "onednn %d.%d.%d, %s", v->major, v->minor, v->patch,
                 dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa()));
    }
#endif
    if (strcmp(b->name, "blas") == 0) {
#ifdef OPENBLAS_VERSION
        char name[32] = "", version[32] = "";
        (void)sscanf(openblas_get_config(), "%31s %31s", name, version); /* without them, empty */
        snprintf(text, MACHINE_TEXT, "blas, %s %s, %s", name, version, openblas_get_corename());
#endif
    }
}

/* The widest instructions that it has, whichever libfpemu was told to use. */
static void say_processor(char text[MACHINE_TEXT])
{
    snprintf(text, MACHINE_TEXT, "%s", fpemu_variant_available(0));
}

machine machine_here(const backend *b)
{
    machine m;
    snprintf(m.part[0], MACHINE_TEXT, "%d.%d.%d", FPEMU_VERSION_MAJOR, FPEMU_VERSION_MINOR, FPEMU_VERSION_PATCH);
    say_compiler(m.part[1]);
    say_mathematics(m.part[2]);
    say_products(b, m.part[3]);
    say_processor(m.part[4]);
    return m;
}

json_t *machine_to_json(const machine *m)
{
    json_t *all = json_object();
    for (int i = 0; i < MACHINE_PARTS; i++)
        object_put(all, names[i], json_string(m->part[i]));
    return all;
}

bool machine_from_json(const json_t *from, machine *m)
{
    for (int i = 0; i < MACHINE_PARTS; i++) {
        const char *text = json_string_value(json_object_get(from, names[i]));
        if (!text)
            return false;
        snprintf(m->part[i], MACHINE_TEXT, "%s", text);
    }
    return true;
}

bool machine_same(const machine *now, const machine *then, trouble *why)
{
    for (int i = 0; i < MACHINE_PARTS; i++)
        if (strcmp(now->part[i], then->part[i]) != 0)
            return fail(why,
                        "the run was made with %s %.120s, and here it is %.120s, which can change bits: "
                        "--allow-different-machine goes on all the same",
                        names[i], then->part[i], now->part[i]);
    return true;
}
