/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - arrays of every call at the least alignment that the interface asks for, against pages that cannot be
 * touched on either side: the same results, and inputs that are as before. Outputs that are inputs give the same or are
 * refused, those that overlap in part are refused, and nothing is written then. Calls on nothing take any pointers;
 * sizes that no memory has are refused. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../judges/longhand.h"
#include "calls.h"

enum { ROOM = 1 << 16 };
static unsigned char *region[CALL_ARRAYS]; /* ROOM bytes, a page without access before and after them */
static unsigned char *plain[CALL_ARRAYS];  /* anywhere */
static unsigned char *shared, *kept;       /* arrays that overlap: 2 * ROOM bytes */
static char running[600];

static void faulted(int signal)
{
    (void)signal;
    static const char text[] = "FAILED a byte beside an array is touched: ";
    if (write(1, text, sizeof text - 1) < 0 || write(1, running, strlen(running)) < 0 || write(1, "\n", 1) < 0)
        _exit(2);
    _exit(1);
}

static uint64_t inputs(const call *c, void *const *at)
{
    uint64_t digest = 7;
    for (int i = 0; i < CALL_FIRST_WRITTEN; i++)
        for (size_t j = 0; j < c->need[i].bytes; j++)
            digest = (digest ^ ((const unsigned char *)at[i])[j]) * UINT64_C(0x100000001b3);
    return digest;
}

static uint64_t run(const call *c, void *const *at, fpemu_status *status)
{
    for (int i = CALL_FIRST_WRITTEN; i < CALL_ARRAYS; i++)
        if (c->need[i].bytes > 0)
            memset(at[i], 0x5a, c->need[i].bytes);
    calls_fill(c, at);
    const uint64_t before = inputs(c, at);
    *status = c->run(c, at);
    lh_check(inputs(c, at) == before, "%s: an input was written", c->name);
    return calls_digest(c, at, *status);
}

/* -------------------------------------------------------------------------------------------------- places */
static void places(const call *c, uint64_t expected)
{
    void *at[CALL_ARRAYS];
    fpemu_status status;
    for (int way = 0; way < 3; way++) {
        for (int i = 0; i < CALL_ARRAYS; i++) {
            const size_t bytes = c->need[i].bytes, alignment = c->need[i].alignment;
            /* against the page after it, the one before it, and a step beside that: an odd address where any will do */
            const size_t place = way == 0 ? ROOM - bytes : way == 1 ? 0 : alignment;
            at[i] = bytes > 0 ? region[i] + place : NULL;
        }
        (void)snprintf(running, sizeof running, "%s, place %d", c->name, way);
        lh_check(run(c, at, &status) == expected, "%s: other results in place %d", c->name, way);
    }
}

/* ------------------------------------------------------------------------------------------------- overlaps */
/* Whether `out` may be the very array `in`. */
static int may_be_same(const call *c, int in, int out)
{
    if (c->need[in].bytes != c->need[out].bytes) /* one number for all elements; codes of another size */
        return 0;
    if (out == CALL_Y && (in == CALL_A || in == CALL_B))
        return strcmp(c->group, "gemm") != 0 && strcmp(c->group, "compare") != 0;
    return (in == CALL_CODES_IN && out == CALL_Y) || (in == CALL_A && out == CALL_CODES);
}

static void overlap(const call *c, void *const *plain_at, int in, int out, size_t shift, int same, uint64_t expected)
{
    void *at[CALL_ARRAYS];
    memcpy(at, plain_at, sizeof at);
    memset(shared, 0x5a, 2 * ROOM);
    /* the output begins at the input, or `shift` bytes past its first */
    at[in] = shared;
    at[out] = shared + shift;
    calls_fill(c, at);
    call only = *c; /* what lies beneath both is what the input has to be */
    for (int i = 0; i < CALL_ARRAYS; i++)
        only.need[i].bytes = i == in ? c->need[i].bytes : 0;
    calls_fill(&only, at);
    memcpy(kept, shared, 2 * ROOM);
    (void)snprintf(running, sizeof running, "%s, array %d at %d + %zu", c->name, out, in, shift);
    const fpemu_status status = c->run(c, at);
    if (same) {
        lh_check(calls_digest(c, at, status) == expected, "%s: other results in place, array %d at %d", c->name, out,
                 in);
        return;
    }
    lh_check(status == FPEMU_ERROR_OVERLAP, "%s: array %d at %d + %zu: status %d", c->name, out, in, shift,
             (int)status);
    lh_check(memcmp(kept, shared, 2 * ROOM) == 0, "%s: array %d at %d + %zu: refused, and written", c->name, out, in,
             shift);
}

static void overlaps(const call *c, void *const *at, uint64_t expected)
{
    const int whole = c->format.scaling == FPEMU_SCALING_NVFP4 || c->format.scaling == FPEMU_SCALING_S2FP8;
    if (whole && strncmp(c->name, "pack_blocks", 11) == 0)
        return; /* two calls, of which the first writes */
    for (int in = 0; in < CALL_ARRAYS; in++) {
        for (int out = CALL_FIRST_WRITTEN; out <= CALL_TENSOR; out++) {
            const size_t a = c->need[in].bytes, b = c->need[out].bytes;
            const int written = in >= CALL_FIRST_WRITTEN && in <= CALL_TENSOR;
            if (a == 0 || b == 0 || in == CALL_RANGE_IN || in > CALL_TENSOR || (written && in >= out))
                continue;
            /* a single operand may lie anywhere: it is read first */
            if (in == CALL_C && strncmp(c->group, "arith", 5) == 0)
                continue;
            const size_t step = c->need[out].alignment > c->need[in].alignment ? c->need[out].alignment
                                                                               : c->need[in].alignment;
            const int same = !written && may_be_same(c, in, out);
            if (!same || c->shape.x_stride[3] == 0) /* between its elements lies what lay there */
                overlap(c, at, in, out, 0, same, expected);
            if (a > step)
                overlap(c, at, in, out, step, 0, expected);
            if (a > 2 * step)
                overlap(c, at, in, out, (a - 1) / step * step, 0, expected);
        }
    }
}

/* --------------------------------------------------------------------------------------------------- sizes */
static void refused(const call *c, void *const *at, const char *what)
{
    (void)snprintf(running, sizeof running, "%s, %s", c->name, what);
    const fpemu_status status = c->run(c, at);
    lh_check(status == FPEMU_ERROR_ARGUMENT, "%s: %s: status %d", c->name, what, (int)status);
}

static void sizes(const call *c, void *const *at)
{
    void *nothing[CALL_ARRAYS] = {NULL};
    call other = *c;
    const int product = strcmp(c->group, "gemm") == 0, tensor = c->shape.length > 0;
    const int elements = !product && !tensor && c->product.m == 0;
    if (elements) {
        other.n = 0;
        nothing[CALL_RANGE] = at[CALL_RANGE]; /* what is added to is needed all the same */
        lh_check(other.run(&other, nothing) == FPEMU_OK, "%s: no elements, no arrays", c->name);
        other.n = SIZE_MAX;
        refused(&other, at, "2^64-1 elements");
        other.n = SIZE_MAX / 2;
        if (c->need[CALL_A].alignment > 1)
            refused(&other, at, "2^63-1 elements");
    } else if (tensor) {
        const uint64_t huge[][3] = {{UINT64_MAX, 1, 1},
                                    {UINT64_C(1) << 63, 1, 1},
                                    {UINT64_C(1) << 32, UINT64_C(1) << 32, 1},
                                    {3, UINT64_C(1) << 62, 5},
                                    {UINT64_C(1) << 33, UINT64_C(1) << 31, UINT64_C(1) << 33}};
        for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
            memset(&other.shape, 0, sizeof other.shape);
            other.shape.outer = huge[i][0];
            other.shape.rows = huge[i][1];
            other.shape.length = huge[i][2];
            other.shape.inner = 1;
            refused(&other, at, "a shape that no memory has");
        }
        other.shape = c->shape;
        other.shape.x_stride[0] = INT64_MAX;
        if (c->need[CALL_A].bytes > 0 && c->count == 0)
            refused(&other, at, "a stride past all memory");
        other.shape = c->shape;
        other.shape.rows = 0;
        other.first = other.count = 0;
        lh_check(other.run(&other, nothing) == FPEMU_OK, "%s: no elements, no arrays", c->name);
    } else if (product) {
        const uint64_t huge = UINT64_C(1) << 62;
        other.product.m = 0;
        other.product.k = strncmp(c->name, "dot", 3) == 0 ? c->product.k : 0;
        if (strncmp(c->name, "dot", 3) != 0)
            lh_check(other.run(&other, nothing) == FPEMU_OK, "%s: no outputs, no arrays", c->name);
        other.product = c->product;
        other.product.k = huge;
        refused(&other, at, "2^62 products an output");
        if (strncmp(c->name, "gemm", 4) == 0) {
            other.product = c->product;
            other.product.m = other.product.n = UINT64_C(1) << 33;
            refused(&other, at, "2^66 outputs");
            other.product = c->product;
            other.product.lda = huge;
            refused(&other, at, "rows 2^62 apart");
            other.product = c->product;
            other.product.batch = huge;
            refused(&other, at, "2^62 products");
        }
    }
}

static void visit(const call *c, void *context)
{
    void *at[CALL_ARRAYS];
    fpemu_status status;
    (void)context;
    for (int i = 0; i < CALL_ARRAYS; i++) {
        if (c->need[i].bytes + 8 > ROOM) {
            lh_check(0, "%s: %zu bytes are too many for this test", c->name, c->need[i].bytes);
            return;
        }
        at[i] = c->need[i].bytes > 0 ? plain[i] : NULL;
    }
    const uint64_t expected = run(c, at, &status);
    places(c, expected);
    if (strcmp(c->group, "format") == 0 || c->need[CALL_Y].bytes > c->n * 2 * 8 || strstr(c->name, "one by one") ||
        strncmp(c->name, "stats", 5) == 0)
        return; /* several calls, or none on arrays */
    overlaps(c, at, expected);
    sizes(c, at);
}

/* Between pages that cannot be touched. */
static unsigned char *guarded(size_t page)
{
    unsigned char *const p = mmap(NULL, ROOM + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) != 0 || mprotect(p + page + ROOM, page, PROT_NONE) != 0)
        exit(77);
    return p + page;
}

int main(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    if (page <= 0 || ROOM % page != 0)
        return 77;
    shared = malloc(2 * ROOM);
    kept = malloc(2 * ROOM);
    for (int i = 0; i < CALL_ARRAYS; i++) {
        region[i] = guarded((size_t)page);
        plain[i] = malloc(ROOM);
        if (plain[i] == NULL || shared == NULL || kept == NULL)
            return 77;
    }
    (void)signal(SIGSEGV, faulted);
    (void)signal(SIGBUS, faulted);
    lh_check(calls_each(135, visit, NULL) > 3000, "few calls");
    for (int i = 0; i < CALL_ARRAYS; i++)
        free(plain[i]);
    free(shared);
    free(kept);
    return lh_report("memory");
}
