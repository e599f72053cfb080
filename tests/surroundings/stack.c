/* SPDX-License-Identifier: BSD-2-Clause */
/* stack.c - no call takes more stack than doc/limits.md says of its part of the interface, with any instruction set: on
 * a thread whose stack is painted, the paint that is left is measured after each call. `stack calls variant` is one
 * instruction set; `stack --print` says what each part took. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../against_judges/variants.h"
#include "calls.h"

#if SANITIZED || !defined(__OPTIMIZE__)
#define MEASURABLE 0
#else
#define MEASURABLE 1
#endif

/* In kB, as doc/limits.md has it. */
static struct {
    const char *group;
    size_t bound, most;
    char by[256];
} groups[] = {
    {"format", 32, 0, ""}, {"compare", 32, 0, ""}, {"quantize", 112, 0, ""},
    {"apply", 112, 0, ""}, {"arith", 112, 0, ""},  {"arith_scaled", 112, 0, ""},
    {"gemm", 120, 0, ""},  {"pack", 144, 0, ""},   {"tensor", 160, 0, ""},
};
enum { GROUPS = sizeof groups / sizeof *groups, SIZE = 1 << 20, MOST = 3 << 17, PAINT = 0xa5 };

static call_room room;
static uint64_t digest;
/* Room for the frames of what paints. */
enum { APART = 1024 };

static void visit(const call *c, void *context)
{
    void *at[CALL_ARRAYS];
    (void)context;
    calls_place(&room, c, at);
    unsigned char *const here = (unsigned char *)__builtin_frame_address(0), *p = here - APART - MOST;
    memset(p, PAINT, MOST);
    const fpemu_status status = c->run(c, at);
    while (*p == PAINT)
        p++;
    const size_t used = (size_t)(here - p);
    const uint64_t one = calls_digest(c, at, status);
    digest = fnv(digest, &one, sizeof one);
    for (int i = 0; i < GROUPS; i++)
        if (strcmp(groups[i].group, c->group) == 0) {
            lh_check(used <= groups[i].bound * 1024, "%s: %zu bytes of stack, more than %zu kB", c->name, used,
                     groups[i].bound);
            if (used > groups[i].most) {
                groups[i].most = used;
                (void)snprintf(groups[i].by, sizeof groups[i].by, "%s", c->name);
            }
            return;
        }
    lh_check(0, "no bound for %s", c->group);
}

static void *painted(void *nothing)
{
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    lh_check(calls_each(300, visit, NULL) > 3000, "few calls");
    return nothing;
}

int main(int argc, char **argv)
{
    if (!MEASURABLE) {
        puts("the stack is measured of an optimised program without sanitizers");
        return 77;
    }
    void *const memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    if (memory == MAP_FAILED || pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, memory, SIZE) != 0 ||
        pthread_create(&thread, &attributes, painted, NULL) != 0) {
        puts("no thread on a stack of one's own");
        return 77;
    }
    (void)pthread_join(thread, NULL);
    (void)pthread_attr_destroy(&attributes);
    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        for (int i = 0; i < GROUPS; i++)
            printf("%-14s %7zu  %s\n", groups[i].group, groups[i].most, groups[i].by);
        return 0;
    }
    const int child = variants_is_child(argc, argv);
    if (!child)
        variants_rerun(argv[0], "calls", digest);
    const int status = lh_report("stack");
    if (child)
        variants_print(digest);
    return status;
}
