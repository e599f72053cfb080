/* SPDX-License-Identifier: BSD-2-Clause */
/* environment.c - whatever the caller's floating-point environment is, every call gives the same bits, traps nowhere,
 * and leaves environment and errno as they were; so on threads of OpenMP. The locale changes no text.
 * `environment` runs all, then each instruction set; `environment calls variant` is such a child. */
#define _GNU_SOURCE /* feenableexcept */
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "../against_judges/variants.h"
#include "calls.h"

/* The registers that a caller may set; 0 where there are none such. */
typedef struct registers {
    uint32_t sse, control, status;
    uint32_t tags; /* all ones: no x87 register holds anything; MMX fills them */
} registers;

static registers now(void)
{
    registers r = {0, 0, 0, 0xffff};
#if defined(__SSE__)
    r.sse = _mm_getcsr();
#endif
#if defined(__x86_64__) || defined(__i386__)
    uint16_t x87[14]; /* control, status and tags are every other one of the first six */
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(x87));
    r.control = x87[0];
    r.status = x87[2] & 0x3f;
    r.tags = x87[4];
#else
    r.control = (uint32_t)fegetround();
    r.status = (uint32_t)fetestexcept(FE_ALL_EXCEPT);
#endif
    return r;
}

typedef struct surroundings {
    const char *name;
    int direction;    /* of rounding */
    unsigned sse;     /* bits of MXCSR */
    unsigned control; /* 1: the x87 unit rounds to 24 bits */
    int traps;        /* every exception ends the program */
    int flags;        /* exceptions that are raised already */
} surroundings;

static const surroundings all[] = LIST(
    {"no exception raised", FE_TONEAREST, 0, 0, 0, 0}, {"all exceptions raised", FE_TONEAREST, 0, 0, 0, FE_ALL_EXCEPT},
    {"upward", FE_UPWARD, 0, 0, 0, 0}, {"downward", FE_DOWNWARD, 0, 0, 0, FE_INEXACT},
    {"toward zero, subnormals flushed", FE_TOWARDZERO, 0x8040, 0, 0, 0},
    {"subnormals flushed", FE_TONEAREST, 0x8040, 1, 0, 0},
    {"subnormal operands are zero", FE_TONEAREST, 0x0040, 0, 0, 0}, {"traps unmasked", FE_TONEAREST, 0, 0, 1, 0},
    {"traps unmasked, upward, subnormals flushed", FE_UPWARD, 0x8000, 1, 1, 0});
enum { SURROUNDINGS = sizeof all / sizeof *all };

static void set(const surroundings *s)
{
    (void)fesetenv(FE_DFL_ENV);
    (void)fesetround(s->direction);
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | s->sse);
#endif
#if defined(__x86_64__) || defined(__i386__)
    if (s->control) {
        uint16_t control;
        __asm__ volatile("fnstcw %0" : "=m"(control));
        control &= (uint16_t)~0x300;
        __asm__ volatile("fldcw %0" : : "m"(control));
    }
#endif
#if defined(__GLIBC__)
    if (s->traps)
        (void)feenableexcept(FE_ALL_EXCEPT);
#endif
    if (s->flags) { /* set, not raised: raising one may raise others */
        fexcept_t raised;
        (void)feraiseexcept(s->flags);
        (void)fegetexceptflag(&raised, s->flags);
        (void)fesetexceptflag(&raised, s->flags);
    }
}

/* 32-bit x86 gives numbers back in a register of the x87 unit: a subnormal one, loaded there, raises its flag of
 * subnormal operands, or traps. */
#if defined(__i386__)
static int through_x87(const call *c)
{
    return c->by_value;
}
#else
static int through_x87(const call *c)
{
    (void)c;
    return 0;
}
#endif

typedef struct context {
    uint64_t digest;
    call_room room;
    int threads; /* what threads share, with some surroundings */
    int child;   /* another instruction set, with some */
} context;

static sigjmp_buf after_trap;

static void trapped(int signal)
{
    (void)signal;
    siglongjmp(after_trap, 1);
}

#ifdef _OPENMP
/* What the threads of the next call begin with, and whether they have it still. */
static void set_threads(const surroundings *s)
{
#pragma omp parallel num_threads(2)
    set(s);
}

static int threads_keep(const surroundings *s)
{
    int kept = 1;
    (void)s;
#pragma omp parallel num_threads(2) reduction(&& : kept)
    kept = kept && fegetround() == s->direction
#if defined(__SSE__)
           && (_mm_getcsr() & 0x8040) == s->sse
#endif
        ;
    return kept;
}
#endif

static void visit(const call *c, void *context_)
{
    context *const x = context_;
    void *at[CALL_ARRAYS];
    calls_place(&x->room, c, at);
    const fpemu_status status = c->run(c, at);
    lh_check(status == FPEMU_OK || status == FPEMU_ERROR_NAN, "%s: status %d", c->name, (int)status);
    const uint64_t expected = calls_digest(c, at, status);
    x->digest = fnv(x->digest, &expected, sizeof expected);
    for (volatile int i = x->threads || x->child ? 4 : 0; i < SURROUNDINGS; i += x->threads || x->child ? 4 : 1) {
#if !defined(__GLIBC__)
        if (all[i].traps)
            continue;
#endif
        if (all[i].traps && through_x87(c))
            continue;
        const uint32_t other = through_x87(c) ? 2 : 0; /* what may have been raised */
        calls_place(&x->room, c, at);
        if (sigsetjmp(after_trap, 1)) {
            (void)fesetenv(FE_DFL_ENV);
            lh_check(0, "%s: an exception traps, with %s", c->name, all[i].name);
            return;
        }
#ifdef _OPENMP
        if (x->threads)
            set_threads(&all[i]);
#endif
        set(&all[i]);
        errno = 4242;
        const registers before = now();
        const fpemu_status again = c->run(c, at);
        const registers after = now();
        const int kept = errno;
#ifdef _OPENMP
        const int keep = x->threads ? threads_keep(&all[i]) : 1;
        if (x->threads) {
            static const surroundings plain = {"", FE_TONEAREST, 0, 0, 0, 0};
            set_threads(&plain);
        }
#else
        const int keep = 1;
#endif
        (void)fesetenv(FE_DFL_ENV);
        lh_check(calls_digest(c, at, again) == expected, "%s: other results with %s", c->name, all[i].name);
        lh_check(before.sse == after.sse && before.control == after.control &&
                     (before.status | other) == (after.status | other),
                 "%s: with %s the environment is not restored: MXCSR %x became %x, x87 %x %x became %x %x", c->name,
                 all[i].name, before.sse, after.sse, before.control, before.status, after.control, after.status);
        lh_check(after.tags == 0xffff, "%s: with %s registers of the x87 unit are left full: %x", c->name, all[i].name,
                 after.tags);
        lh_check(kept == 4242, "%s: with %s errno became %d", c->name, all[i].name, kept);
        lh_check(keep, "%s: with %s the environment of a thread is not restored", c->name, all[i].name);
    }
}

/* A decimal comma, and another order of bytes in texts: numbers are read and written as ever. */
static int locales(uint64_t expected, size_t n)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "tr_TR.UTF-8", "de_DE.utf8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL && strcmp(localeconv()->decimal_point, ",") == 0) {
            context x = {0};
            (void)calls_each(n, visit, &x);
            calls_leave(&x.room);
            lh_check(x.digest == expected, "locale %s changes results", names[i]);
            (void)setlocale(LC_ALL, "C");
            return 1;
        }
    return 0;
}

enum { COUNT = 200 };

int main(int argc, char **argv)
{
    /* threads that wait sleep, else they take time from each other; read when a program starts */
    if (getenv("OMP_WAIT_POLICY") == NULL && setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        (void)execv(argv[0], argv);
    context x = {0};
    if (argc == 2 && strcmp(argv[1], "locales") == 0) {
        (void)calls_each(COUNT, visit, &x);
        calls_leave(&x.room);
        lh_check(locales(x.digest, COUNT), "no locale has a decimal comma");
        return lh_report("locales");
    }
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(2);
#endif
    (void)signal(SIGFPE, trapped);
    x.child = variants_is_child(argc, argv);
    const size_t calls = calls_each(COUNT, visit, &x);
    lh_check(calls > 3000, "only %zu calls", calls);
    calls_leave(&x.room);
    if (x.child) {
        const int status = lh_report("environment");
        variants_print(x.digest);
        return status;
    }
    context t = {.threads = 1};
    lh_check(calls_each(131072 + 77, visit, &t) > 60, "few calls with threads");
    calls_leave(&t.room);
    variants_rerun(argv[0], "calls", x.digest);
    return lh_report("environment");
}
