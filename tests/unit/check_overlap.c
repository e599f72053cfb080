/* SPDX-License-Identifier: BSD-2-Clause */
/* check_overlap.c - inputs and outputs inside one array: what shares a byte is refused and what does not is not, as
 * counting the bytes one by one says; results are those of arrays of their own. */
#include "suite.h"

enum { ROOM = 16384, TRIALS = 20000 };

static union memory {
    unsigned char bytes[ROOM];
    float f32[ROOM / 4];
    double f64[ROOM / 8];
} one, before, inputs, outputs;
static unsigned char marks[ROOM];
/* Elements inside `one`: a place in bytes, sizes and strides in elements, of four axes. */
typedef struct area {
    size_t at, size;
    uint64_t count[4];
    int64_t stride[4];
} area;

/* Adds the bit to the marks of an area's bytes; whether any had it. */
static int mark(const area *a, unsigned char bit)
{
    int twice = 0;
    uint64_t i[4];
    for (i[0] = 0; i[0] < a->count[0]; i[0]++)
        for (i[1] = 0; i[1] < a->count[1]; i[1]++)
            for (i[2] = 0; i[2] < a->count[2]; i[2]++)
                for (i[3] = 0; i[3] < a->count[3]; i[3]++) {
                    int64_t place = 0;
                    for (int k = 0; k < 4; k++)
                        place += (int64_t)i[k] * a->stride[k];
                    unsigned char *const m = marks + (int64_t)a->at + place * (int64_t)a->size;
                    for (size_t b = 0; b < a->size; b++) {
                        twice |= (m[b] & bit) != 0;
                        m[b] |= bit;
                    }
                }
    return twice;
}

static int share(const area *a, const area *b)
{
    int found = 0;
    memset(marks, 0, sizeof marks);
    mark(a, 1);
    mark(b, 2);
    for (size_t i = 0; i < ROOM; i++)
        found |= marks[i] == 3;
    return found;
}

static int shares_with_itself(const area *a)
{
    memset(marks, 0, sizeof marks);
    return mark(a, 1);
}

/* Puts an area with such sizes and strides somewhere near the middle. */
static void place(area *a)
{
    int64_t low = 0;
    for (int k = 0; k < 4; k++)
        low += a->stride[k] < 0 ? a->stride[k] * (int64_t)(a->count[k] - 1) : 0;
    a->at = ROOM / 2 + (size_t)((int64_t)below(24) - low) * a->size;
}

/* Neighbours at a multiple of `step` bytes. */
static area row(size_t count, size_t size, size_t step)
{
    area a = {ROOM / 2 + below(512) / step * step, size, {1, 1, 1, count}, {0, 0, 0, 1}};
    return a;
}

static void fill(size_t size)
{
    for (size_t i = 0; i < ROOM / size; i++) {
        const float x = ((float)below(2048) - 1024) / 64;
        const uint16_t half = (uint16_t)(below(0x7000) | below(2) << 15);
        if (size == 8)
            one.f64[i] = (double)x;
        else if (size == 4)
            one.f32[i] = x;
        else
            memcpy(one.bytes + 2 * i, &half, 2);
    }
    before = inputs = outputs = one;
}

/* Calls are made inside `one`, and from `inputs` to `outputs`. */
static int seen[3];

static void judge(fpemu_status status, fpemu_status alone, fpemu_status expected, const char *verb, int trial)
{
    ck_assert_msg(status == expected, "%s, trial %d: status %d, not %d", verb, trial, (int)status, (int)expected);
    ck_assert_msg(alone == (expected == FPEMU_ERROR_OVERLAP ? FPEMU_OK : expected), "%s, trial %d: apart", verb, trial);
    ck_assert_msg(memcmp(&one, expected ? &before : &outputs, sizeof one) == 0, "%s, trial %d: results", verb, trial);
    seen[expected == FPEMU_OK ? 0 : expected == FPEMU_ERROR_OVERLAP ? 1 : 2]++;
}

static void enough(void)
{
    ck_assert(seen[0] > TRIALS / 20 && seen[1] > TRIALS / 20 && seen[2] > TRIALS / 100);
}

/* ---------------------------------------------------------------------------------------------- tensors */

/* Strides with gaps, in any order of axes; or anything. */
static void draw_strides(area *a)
{
    int64_t next = 1 + below(3);
    int axis = (int)below(4);
    const int anything = below(3) == 0;
    for (int k = 0; k < 4; k++, axis = (axis + 1) % 4) {
        a->stride[axis] = anything ? (int64_t)below(13) - 6 : below(3) ? next : -next;
        next = next * (int64_t)a->count[axis] + below(3);
    }
    a->stride[3] += !(a->stride[0] | a->stride[1] | a->stride[2] | a->stride[3]); /* all 0 would mean: no gaps */
}

static fpemu_type type_of(size_t size)
{
    return size == 2 ? FPEMU_TYPE_F16 : size == 4 ? FPEMU_TYPE_F32 : FPEMU_TYPE_F64;
}

/* quantize, pack, unpack, scales. */
static fpemu_status call(uint32_t verb, size_t size, const fpemu_format *f, const fpemu_shape *s, const void *x,
                         void *y)
{
    const fpemu_rounding r = fpemu_rounding_nearest();
    switch (verb) {
    case 0: return fpemu_quantize_tensor(f, &r, type_of(size), s, x, y, NULL);
    case 1: return fpemu_pack(f, &r, type_of(size), s, x, y, NULL);
    case 2: return fpemu_unpack(f, type_of(size), s, x, y);
    default: return fpemu_scales(f, type_of(size), s, x, y, NULL, NULL);
    }
}

START_TEST(tensors)
{
    static const char *const formats[] = {"e4m3fn", "mxfp4", "nvfp4", "table(nf4)"};
    static const char *const verbs[] = {"quantize", "pack", "unpack", "scales"};
    memset(seen, 0, sizeof seen);
    for (int trial = 0; trial < TRIALS; trial++) {
        const size_t size = (size_t)2 << below(3);
        const uint32_t verb = below(4);
        const fpemu_format f = format_of(formats[verb == 3 ? 1 + below(2) : below(4)]);
        fpemu_shape s = {.outer = 1 + below(3), .rows = 1 + below(4), .length = 1 + below(4), .inner = 1 + below(3)};
        area x = {0, size, {s.outer, s.rows, s.length, s.inner}, {0}}, y;
        fpemu_layout l;
        draw_strides(&x);
        y = x;
        if (below(2))
            draw_strides(&y);
        place(&x);
        place(&y);
        if (below(16) == 0)
            y.at = x.at;
        ck_assert(fpemu_packed_layout(&f, &s, &l) == FPEMU_OK);
        if (verb != 2)
            memcpy(s.x_stride, x.stride, sizeof x.stride);
        if (verb == 0 || verb == 2)
            memcpy(s.y_stride, y.stride, sizeof y.stride);
        if (verb == 1)
            y = row(l.bytes, 1, 1);
        if (verb == 2)
            x = row(l.bytes, 1, 1);
        if (verb == 3)
            y = row(l.blocks, size == 8 ? 8 : 4, 8);
        int same = verb == 0 && x.at == y.at;
        for (int k = 0; k < 4; k++)
            same &= x.count[k] == 1 || x.stride[k] == y.stride[k];
        const fpemu_status expected = shares_with_itself(&y)   ? FPEMU_ERROR_ARGUMENT
                                      : !same && share(&x, &y) ? FPEMU_ERROR_OVERLAP
                                                               : FPEMU_OK;
        fill(size);
        const fpemu_status alone = call(verb, size, &f, &s, inputs.bytes + x.at, outputs.bytes + y.at);
        judge(call(verb, size, &f, &s, one.bytes + x.at, one.bytes + y.at), alone, expected, verbs[verb], trial);
    }
    enough();
}
END_TEST

/* Half of the columns of an array into the other half, by as many threads as there are, and in tiles. */
START_TEST(columns_into_columns)
{
    enum { ROWS = 700, WIDTH = 512 };
    static const char *const formats[] = {"e4m3fn", "mxfp4", "nvfp4", "fp16", "msfp12", "table(nf4)"};
    static float both[ROWS][2][WIDTH], x[ROWS][WIDTH], y[ROWS][WIDTH];
    for (int back = 0; back < 2; back++)
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            const fpemu_format f = format_of(formats[i]);
            fpemu_shape s = {.outer = 1, .rows = ROWS, .length = WIDTH, .inner = 1}, strided = s;
            for (int r = 0; r < ROWS; r++)
                for (int c = 0; c < WIDTH; c++)
                    both[r][0][c] = both[r][1][c] = x[r][c] = ((float)below(4096) - 2048) / 512;
            strided.x_stride[1] = strided.y_stride[1] = (int64_t)2 * WIDTH;
            strided.x_stride[2] = strided.y_stride[2] = 1;
            GIVES_OK(call(0, 4, &f, &s, x, y));
            GIVES_OK(call(0, 4, &f, &strided, both[0][back], both[0][!back]));
            for (int r = 0; r < ROWS; r++)
                ck_assert_msg(memcmp(both[r][back], x[r], sizeof x[r]) == 0 &&
                                  memcmp(both[r][!back], y[r], sizeof y[r]) == 0,
                              "%s, row %d", formats[i], r);
        }
}
END_TEST

/* --------------------------------------------------------------------------------------------- products */

/* A matrix of a product as it is stored. */
static area matrix(const fpemu_gemm_shape *s, size_t size, uint64_t rows, uint64_t columns, int transposed, uint64_t ld,
                   uint64_t stride)
{
    const int along = (s->order == FPEMU_ORDER_COLUMN_MAJOR) != transposed;
    area a = {0, size, {1, s->batch, along ? columns : rows, along ? rows : columns}, {0, 0, 0, 1}};
    a.stride[1] = (int64_t)stride;
    a.stride[2] = (int64_t)(ld ? ld : a.count[3]);
    place(&a);
    return a;
}

/* As long as a row or longer. */
static uint64_t leading(uint64_t rows, uint64_t columns)
{
    const uint64_t least = rows > columns ? rows : columns;
    return below(3) ? 12 : least + below(8);
}

static fpemu_status multiply(size_t size, const fpemu_gemm_shape *s, const void *a, const void *b, void *c)
{
    const fpemu_gemm_spec spec = model_of("fp32");
    return fpemu_gemm(&spec, s, type_of(size), -1, a, b, 1, c, NULL);
}

START_TEST(products)
{
    memset(seen, 0, sizeof seen);
    for (int trial = 0; trial < TRIALS; trial++) {
        const size_t size = (size_t)4 << below(2);
        fpemu_gemm_shape s = {.m = 1 + below(4), .n = 1 + below(4), .k = 1 + below(4), .batch = 1 + below(3) / 2};
        s.batch += s.batch == 2 && below(2);
        s.order = (uint8_t)below(2);
        s.transpose_a = (uint8_t)below(2);
        s.transpose_b = (uint8_t)below(2);
        s.lda = leading(s.m, s.k);
        s.ldb = below(2) ? s.lda : leading(s.k, s.n);
        s.ldb = s.ldb < s.k || s.ldb < s.n ? 0 : s.ldb;
        s.ldc = leading(s.m, s.n);
        s.stride_a = below(20);
        s.stride_b = below(2) ? s.stride_a : below(60);
        s.stride_c = below(60);
        const area a = matrix(&s, size, s.m, s.k, s.transpose_a, s.lda, s.stride_a);
        const area b = matrix(&s, size, s.k, s.n, s.transpose_b, s.ldb, s.stride_b);
        const area c = matrix(&s, size, s.m, s.n, 0, s.ldc, s.stride_c);
        const fpemu_status expected = shares_with_itself(&c)           ? FPEMU_ERROR_ARGUMENT
                                      : share(&a, &c) || share(&b, &c) ? FPEMU_ERROR_OVERLAP
                                                                       : FPEMU_OK;
        fill(size);
        const fpemu_status alone = multiply(size, &s, inputs.bytes + a.at, inputs.bytes + b.at, outputs.bytes + c.at);
        judge(multiply(size, &s, one.bytes + a.at, one.bytes + b.at, one.bytes + c.at), alone, expected, "gemm", trial);
    }
    enough();
}
END_TEST

START_TEST(vectors)
{
    const fpemu_gemm_spec spec = model_of("fp32");
    memset(seen, 0, sizeof seen);
    for (int trial = 0; trial < TRIALS; trial++) {
        const int column = (int)below(2), transpose = (int)below(2);
        const size_t m = 1 + below(4), n = 1 + below(4), lda = (column ? m : n) + below(6);
        const int64_t incx = 1 + below(7), incy = 1 + below(7), xs = below(2) ? 1 : -1, ys = below(2) ? 1 : -1;
        area a = {0, 4, {1, 1, column ? n : m, column ? m : n}, {0, 0, (int64_t)lda, 1}};
        area x = {0, 4, {1, 1, 1, transpose ? m : n}, {0, 0, 0, incx}};
        area y = {0, 4, {1, 1, 1, transpose ? n : m}, {0, 0, 0, incy}};
        place(&a);
        place(&x);
        place(&y);
        const fpemu_status expected = share(&a, &y) || share(&x, &y) ? FPEMU_ERROR_OVERLAP : FPEMU_OK;
        fill(4);
        const fpemu_order order = column ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
        const fpemu_status alone =
            fpemu_gemv_f32(&spec, order, transpose, m, n, 1, inputs.f32 + a.at / 4, lda, inputs.f32 + x.at / 4,
                           xs * incx, 1, outputs.f32 + y.at / 4, ys * incy, NULL);
        judge(fpemu_gemv_f32(&spec, order, transpose, m, n, 1, one.f32 + a.at / 4, lda, one.f32 + x.at / 4, xs * incx,
                             1, one.f32 + y.at / 4, ys * incy, NULL),
              alone, expected, "gemv", trial);
    }
    ck_assert(seen[0] > TRIALS / 20 && seen[1] > TRIALS / 20);
}
END_TEST

START_TEST(scales_of_products)
{
    const fpemu_gemm_spec spec = model_of("chunk(2,fp32)");
    const fpemu_gemm_shape s = {.m = 4, .n = 2, .k = 4, .ldc = 8};
    float all[64];
    for (int i = 0; i < 64; i++)
        all[i] = (float)(i % 7);
    float *const c = all; /* rows of two numbers, with gaps of six, in which there are four scales */
    GIVES_OK(fpemu_gemm_scaled_f32(&spec, &s, 1, all + 32, NULL, all + 48, all + 2, 0, c, NULL));
    GIVES_OK(fpemu_gemm_scaled_f32(&spec, &s, 1, all + 32, NULL, all + 48, all + 4, 0, c, NULL));
    const float kept = all[8];
    REFUSES(OVERLAP, fpemu_gemm_scaled_f32(&spec, &s, 2, all + 32, NULL, all + 48, all + 5, 0, c, NULL));
    ck_assert(all[8] == kept);
}
END_TEST

/* Addresses alone: overlap is looked for before the stats are refused, and then nothing is read. Rows i of a and j of c
 * meet where 300007 i = d + 300011 j. */
static fpemu_status columns(uint64_t m, int64_t d)
{
    const fpemu_gemm_spec spec = model_of("fp32");
    const fpemu_gemm_shape s = {.m = m, .n = 1, .k = 1, .lda = 300007, .ldc = 300011};
    fpemu_stats stats = {.request = {.want = FPEMU_STATS_SUMS}};
    const uintptr_t a = (uintptr_t)one.f32, c = a + 4 * (uintptr_t)d;
    return fpemu_gemm_f32(&spec, &s, 1, (const float *)a, one.f32 + 100, 0, (float *)c, &stats);
}

START_TEST(large_strides)
{
    const fpemu_format f = format_of("mxfp4");
    fpemu_shape s = {.outer = 2, .rows = 2, .length = 2, .inner = 1, .y_stride = {2, 1, 2, INT64_MIN}};
    fill(4);
    REFUSES(ARGUMENT, call(0, 4, &f, &s, one.f32, one.f32 + 100)); /* two and two in one place */
    s.y_stride[0] = 4;
    GIVES_OK(call(0, 4, &f, &s, one.f32, one.f32 + 100)); /* no element has another along `inner` */
    s.y_stride[1] = INT64_MIN;
    REFUSES(ARGUMENT, call(0, 4, &f, &s, one.f32, one.f32 + 100));
    s.y_stride[1] = INT64_MAX;
    REFUSES(ARGUMENT, call(0, 4, &f, &s, one.f32, one.f32 + 100));
    if (sizeof(size_t) < 8)
        return;
    REFUSES(STATS, columns(50000, 1));    /* 4 j + 1 is no multiple of 300007 so early */
    REFUSES(OVERLAP, columns(50000, -4)); /* i = j = 1 */
    REFUSES(OVERLAP, columns(50000, -4 * 49999));
    REFUSES(STATS, columns(50000, -4 * 50000));
    REFUSES(OVERLAP, columns(200000, 1)); /* apart, but too many tries */
}
END_TEST

/* A step of a blocked factorisation: C -= A B, or A A^T, where all are blocks of one array and large enough for threads
 * and tiles, has the bits of one that reads a copy. */
START_TEST(blocks_of_one_array)
{
    enum { N = 150, CUT = 40, LD = N + 3 };
    static float all[N * LD], apart[N * LD], copy[N * LD];
    const fpemu_gemm_spec spec = model_of("fp32");
    for (int way = 0; way < 4; way++) {
        const int columns = way % 2, squared = way / 2;
        const size_t corner = CUT * LD + CUT, a = columns ? CUT : CUT * LD, b = squared ? a : corner - a;
        const fpemu_gemm_shape s = LIST(.m = N - CUT, .n = N - CUT, .k = CUT, .lda = LD, .ldb = LD, .ldc = LD,
                                        .order = (uint8_t)columns, .transpose_b = (uint8_t)squared);
        for (int i = 0; i < N * LD; i++)
            all[i] = apart[i] = copy[i] = ((float)below(2048) - 1024) / 1024;
        GIVES_OK(fpemu_gemm_f32(&spec, &s, -1, all + a, all + b, 1, all + corner, NULL));
        GIVES_OK(fpemu_gemm_f32(&spec, &s, -1, copy + a, copy + b, 1, apart + corner, NULL));
        ck_assert_int_eq(memcmp(all, apart, sizeof all), 0);
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("overlap", NULL, tensors, columns_into_columns, products, vectors, scales_of_products,
                     large_strides, blocks_of_one_array);
}
