/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - arrays of every call at the least alignment that the interface asks for, against pages that cannot be
 * touched on either side: the same results, and inputs that are as before. Outputs that are inputs give the same or are
 * refused, those that overlap in part are refused, and nothing is written then. Calls on nothing take any pointers;
 * sizes that no memory has, and arrays that pass an end of memory, are refused, and nothing is written. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <signal.h>
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
    static const char text[] = "FAILED a byte that no array has is touched: ";
    if (write(1, text, sizeof text - 1) < 0 || write(1, running, strlen(running)) < 0 || write(1, "\n", 1) < 0)
        _exit(2);
    _exit(1);
}

static uint64_t inputs(const call *c, void *const *at)
{
    uint64_t digest = 7;
    for (int i = 0; i < CALL_FIRST_WRITTEN; i++)
        digest = fnv(digest, at[i], c->need[i].bytes);
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

static void overlap(const call *c, void *const *plain_at, int in, int out, ptrdiff_t shift, int same, uint64_t expected)
{
    void *at[CALL_ARRAYS];
    memcpy(at, plain_at, sizeof at);
    memset(shared, 0x5a, 2 * ROOM);
    /* the output begins at the input, or `shift` bytes past its first */
    at[in] = shared + (shift < 0 ? -shift : 0);
    at[out] = shared + (shift > 0 ? shift : 0);
    calls_fill(c, at);
    call only = *c, others = *c; /* what lies beneath both is what the input has to be */
    for (int i = 0; i < CALL_ARRAYS; i++)
        only.need[i].bytes = i == in ? c->need[i].bytes : 0;
    calls_fill(&only, at);
    memcpy(kept, shared, 2 * ROOM);
    others.need[in].bytes = others.need[out].bytes = 0;
    const uint64_t before = calls_digest(&others, at, FPEMU_OK);
    (void)snprintf(running, sizeof running, "%s, array %d at %d %+td", c->name, out, in, shift);
    const fpemu_status status = c->run(c, at);
    if (same) {
        lh_check(calls_digest(c, at, status) == expected, "%s: other results", running);
        return;
    }
    lh_check(status == FPEMU_ERROR_OVERLAP, "%s: status %d", running, (int)status);
    lh_check(memcmp(kept, shared, 2 * ROOM) == 0 && calls_digest(&others, at, FPEMU_OK) == before,
             "%s: refused, and written or counted", running);
}

/* Two calls, of which the first writes. */
static int writes_first(const call *c)
{
    const int whole = c->format.scaling == FPEMU_SCALING_NVFP4 || c->format.scaling == FPEMU_SCALING_S2FP8;
    return whole && strncmp(c->name, "pack_blocks", 11) == 0;
}

static void overlaps(const call *c, void *const *at, uint64_t expected)
{
    if (writes_first(c))
        return;
    for (int in = 0; in < CALL_ARRAYS; in++) {
        for (int out = CALL_FIRST_WRITTEN; out <= CALL_TENSOR; out++) {
            const size_t a = c->need[in].bytes, b = c->need[out].bytes;
            const int written = in >= CALL_FIRST_WRITTEN && in <= CALL_TENSOR;
            if (a == 0 || b == 0 || in == CALL_RANGE_IN || in > CALL_TENSOR || (written && in >= out))
                continue;
            /* a single operand may lie anywhere: it is read first */
            if (in == CALL_C && strncmp(c->group, "arith", 5) == 0)
                continue;
            const int strided = c->shape.x_stride[3] != 0; /* two apart: an odd step leads between its elements */
            const size_t element =
                c->need[out].alignment > c->need[in].alignment ? c->need[out].alignment : c->need[in].alignment;
            const size_t step = strided ? 2 * element : element;
            const int same = !written && may_be_same(c, in, out);
            if (!same || !strided) /* between its elements lies what lay there */
                overlap(c, at, in, out, 0, same, expected);
            const ptrdiff_t one = (ptrdiff_t)step, most = (ptrdiff_t)((a - 1) / step * step);
            const ptrdiff_t least = -(ptrdiff_t)((b - 1) / step * step), beside[] = {most + one, least - one};
            const ptrdiff_t shifts[] = {least, -one, one, most};
            for (int i = 0; i < 4; i++)
                if (shifts[i] != 0 && shifts[i] >= least && shifts[i] <= most)
                    overlap(c, at, in, out, shifts[i], 0, expected);
            for (int i = 0; i < 2; i++) /* no byte of both */
                overlap(c, at, in, out, beside[i], 1, expected);
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

/* ---------------------------------------------------------------------------------------- the ends of memory */
/* Refused, and all outputs but `out` are as before. */
static void unwritten(const call *c, void *const *at, int out, const char *what)
{
    call others = *c;
    if (out < CALL_ARRAYS)
        others.need[out].bytes = 0;
    calls_fill(&others, at);
    const uint64_t before = calls_digest(&others, at, FPEMU_OK);
    refused(c, at, what);
    lh_check(writes_first(c) || calls_digest(&others, at, FPEMU_OK) == before, "%s: %s: refused, and written", c->name,
             what);
}

/* Each array in turn where it ends with memory, and where it would pass its end. */
static void ends(const call *c, void *const *plain_at)
{
    void *at[CALL_ARRAYS];
    for (int i = 0; i <= CALL_TENSOR; i++) {
        const uintptr_t bytes = c->need[i].bytes;
        char what[60];
        if (bytes == 0 || i == CALL_RANGE_IN)
            continue;
        for (int past = 0; past < 2; past++) {
            (void)snprintf(what, sizeof what, "array %d %s the end of memory", i, past ? "past" : "at");
            if (past && bytes < 16)
                continue;
            memcpy(at, plain_at, sizeof at);
            at[i] = (void *)(past ? UINTPTR_MAX - 15 : 0 - bytes);
            unwritten(c, at, i, what);
        }
    }
}

/* Rows of a tensor that lie before all memory, and as far on as no pointer goes. */
static void strides(const call *c, void *const *plain_at)
{
    for (int k = 0; k < 2; k++) {
        const int array = k ? CALL_Y : CALL_A;
        const size_t size = c->need[array].alignment;
        call other = *c;
        int64_t *const stride = k ? other.shape.y_stride : other.shape.x_stride;
        void *at[CALL_ARRAYS];
        if (c->need[array].bytes == 0)
            continue;
        memcpy(at, plain_at, sizeof at);
        other.shape.outer = 2;
        other.shape.rows = other.shape.inner = 1;
        other.shape.length = 3;
        stride[1] = stride[2] = stride[3] = 1;
        stride[0] = PTRDIFF_MAX / (int64_t)size - 2;
        unwritten(&other, at, CALL_ARRAYS, k ? "rows of y too far apart" : "rows of x too far apart");
        at[array] = (void *)(uintptr_t)64;
        stride[0] = -64;
        unwritten(&other, at, array, k ? "rows of y before all memory" : "rows of x before all memory");
    }
}

#define REFUSED(expected, call) lh_check((call) == (expected), "past memory: %s", #call)

/* Arrays that no call of calls.c takes from its caller, and outputs beside single operands. */
static void other_ends(void)
{
    static float x[64];
    static uint16_t words[64], table[65536];
    static uint64_t counts[64], codes[64];
    double values[64];
    size_t count;
    void *const high = (void *)(UINTPTR_MAX - 15);
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    fpemu_format f, blocked, whole;
    fpemu_shape shape = fpemu_shape_vector(64), of;
    const fpemu_range range = {.count = 64, .nonzero = 64, .amax = 1, .max = 1, .min = -1};
    fpemu_gemm_spec s;
    (void)snprintf(running, sizeof running, "arrays past memory");
    if (fpemu_format_parse("e2m1", &f, NULL) != FPEMU_OK || fpemu_format_parse("mxfp8", &blocked, NULL) != FPEMU_OK ||
        fpemu_format_parse("nvfp4", &whole, NULL) != FPEMU_OK || fpemu_gemm_parse("seq(fp32)", &s, NULL) != FPEMU_OK)
        exit(1);

    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_function_table_f16(&f, &nearest, FPEMU_FUNCTION_EXP, high));
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_function_table_bf16(&f, &nearest, FPEMU_FUNCTION_EXP, high));
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_function_look_up(high, 64, words, words));
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_function_look_up(table, 64, high, words));
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_function_look_up(table, 64, words, high));
    shape.whole = &range;
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_pack_tensor_scales(&whole, &shape, high));
    shape.whole = NULL;

    const size_t single[2] = {0, 0};
    const float *const operands[2] = {x, x};
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_arith_f32(&f, &nearest, FPEMU_OPERATION_ADD, 64, operands, single, high, NULL));
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_compare_f32(FPEMU_RELATION_LT, 64, operands, single, high));

    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_gemv_f32(&s, FPEMU_ORDER_ROW_MAJOR, 0, 8, 8, 1, x, 8, x, 1, 0, high, -1, NULL));
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_dot_f32(&s, 8, high, -1, x, 1, x + 8, NULL));

    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_shape_of(3, high, 0, &of));
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_format_enumerate(&f, 64, high, codes, &count));
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_format_enumerate(&f, 64, values, high, &count));
    REFUSED(FPEMU_ERROR_FORMAT, fpemu_format_table(&f, 64, high));
    REFUSED(FPEMU_ERROR_FORMAT, fpemu_format_codes(&f, 64, high, x));
    REFUSED(FPEMU_ERROR_FORMAT, fpemu_format_codes(&f, 64, x, high));
    fpemu_delayed delayed = {.history = high, .length = 8};
    REFUSED(FPEMU_ERROR_ARGUMENT, fpemu_delayed_update(&delayed, &range));

    (void)fpemu_format_parse("e2m1", &f, NULL);
    fpemu_stats stats = {0}, others;
    stats.request.want = FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES;
    stats.request.histogram_length = stats.request.scale_length = 64;
    stats.request.histogram = stats.request.scale_histogram = counts;
    others = stats;
    others.request.histogram = high;
    x[0] = 1;
    REFUSED(FPEMU_ERROR_STATS, fpemu_quantize_f32(&f, &nearest, 64, x, x, &others));
    REFUSED(FPEMU_ERROR_STATS, fpemu_stats_merge(&stats, &others));
    others = stats;
    others.request.scale_histogram = high;
    REFUSED(FPEMU_ERROR_STATS, fpemu_quantize_tensor_f32(&blocked, &nearest, &shape, x, x, &others));
    REFUSED(FPEMU_ERROR_STATS, fpemu_stats_merge(&others, &stats));
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
    if (strncmp(c->name, "format", 6) == 0 || strncmp(c->name, "texts", 5) == 0 || strstr(c->name, "one by one") ||
        strncmp(c->name, "stats", 5) == 0)
        return; /* several calls, or none on arrays */
    overlaps(c, at, expected);
    sizes(c, at);
    ends(c, at);
    if (c->shape.length > 0 && c->count == 0)
        strides(c, at);
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
    other_ends();
    for (int i = 0; i < CALL_ARRAYS; i++)
        free(plain[i]);
    FREE(shared, kept);
    return lh_report("memory");
}
