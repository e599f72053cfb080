/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.c - what libfpemu_cuda does with tensors against libfpemu, bit for bit, counters and sums included:
 * quantising along an axis, packing, unpacking, single blocks, measuring, the order of scales. Simulated on this
 * processor or run on a device, as quantize.c.
 *
 *   every named format with scales, every rule, scale format and block shape, codebooks
 *   every mode, generator, number of random bits and compatibility setting
 *   shapes around warps, blocks and pieces; strides with gaps, backwards, repeated; in place; slices of a tensor
 *   float, double, bfloat16 and binary16 arrays, at any multiple of their elements' size; bytes at any alignment
 *   the numbers of a whole tensor, measured by the device or told */

#include "memory.h"

#define SEED 11
#include "random.h"

enum { MOST = 70000, BYTES = 8 * MOST + 4096, BINS = 60 };
#define WANT_ALL (FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES)

static unsigned long failures, comparisons;
static const char *const type_name[] = {"f32", "f64", "bf16", "f16"};

typedef struct test_case {
    const char *spec;
    fpemu_format format;
    fpemu_rounding rounding;
    fpemu_shape shape;
    size_t reach_x, reach_y; /* elements that the strides span */
    int64_t low_x, low_y;    /* the first of them, relative to the array */
    int type, counted;
    int dense; /* 1: aligned, without gaps, not counted: what is taken in whole strips */
} test_case;

static void fail(const test_case *c, const char *what, fpemu_cuda_status status, size_t at)
{
    const fpemu_rounding *r = &c->rounding;
    if (failures++ < 25)
        printf("FAIL %s %s %s status %d at %zu: mode=%d bits=%d variant=%d generator=%d compat=%d offset=%llu "
               "shape %llu x %llu x %llu x %llu strides %lld %lld %lld %lld counted=%d\n",
               c->spec, type_name[c->type], what, status, at, r->mode, r->bits, r->variant, r->generator, r->compat,
               (unsigned long long)r->offset, (unsigned long long)c->shape.outer, (unsigned long long)c->shape.rows,
               (unsigned long long)c->shape.length, (unsigned long long)c->shape.inner, (long long)c->shape.x_stride[0],
               (long long)c->shape.x_stride[1], (long long)c->shape.x_stride[2], (long long)c->shape.x_stride[3],
               c->counted);
}

/* ------------------------------------------------------------------------------------------ what is right */

static fpemu_cuda_status right_quantize(const test_case *c, const unsigned char *x, unsigned char *y, fpemu_stats *s)
{
    const int type = c->type;
    const void *from = x - c->low_x * (int64_t)element[type];
    void *to = y - c->low_y * (int64_t)element[type];
    return (fpemu_cuda_status)fpemu_quantize_tensor(&c->format, &c->rounding, types[type], &c->shape, from, to, s);
}

static fpemu_cuda_status right_pack(const test_case *c, const unsigned char *x, void *bytes, fpemu_stats *s)
{
    const int type = c->type;
    const void *from = x - c->low_x * (int64_t)element[type];
    return (fpemu_cuda_status)fpemu_pack(&c->format, &c->rounding, types[type], &c->shape, from, bytes, s);
}

static fpemu_cuda_status right_unpack(const test_case *c, const void *bytes, unsigned char *y)
{
    const int type = c->type;
    void *to = y - c->low_y * (int64_t)element[type];
    return (fpemu_cuda_status)fpemu_unpack(&c->format, types[type], &c->shape, bytes, to);
}

/* ---------------------------------------------------------------------------------------------- given scales */

/* Rules with a scale of the whole tensor beside those of blocks. */
static int is_nvfp4(const fpemu_format *f)
{
    return f->scaling == FPEMU_SCALING_NVFP4 || f->scaling == FPEMU_SCALING_NVFP4_AO ||
           f->scaling == FPEMU_SCALING_NVFP4_CLAMP || f->scaling == FPEMU_SCALING_4OVER6 ||
           f->scaling == FPEMU_SCALING_EDEN;
}

static float scales[MOST], zeros[MOST];
static fpemu_given given;

/* For half of the formats that take some: mostly near 1, some odd. */
static void choose_given(test_case *c)
{
    const fpemu_format *f = &c->format;
    c->shape.given = NULL;
    if (!f->scaling || f->scaling == FPEMU_SCALING_S2FP8 || next() % 4)
        return;
    const int powers = f->scale_power || f->scaling <= FPEMU_SCALING_HBFP || f->scaling == FPEMU_SCALING_MUPPET;
    const int plain = f->scaling == FPEMU_SCALING_ABSMAX || f->scaling == FPEMU_SCALING_RECIPROCAL;
    const int shifts = plain && f->kind == FPEMU_KIND_INT && f->scale == 1 && f->bits <= 16 && next() % 3;
    memset(&given, 0, sizeof given);
    given.scales = scales;
    given.zeros = shifts ? zeros : NULL;
    given.order = shifts ? (uint8_t)(1 + next() % 2) : 0;
    given.tensor = is_nvfp4(f) && next() % 2 ? 0.01f * (float)(1 + next() % 100) : 0;
    for (size_t i = 0; i < c->shape.outer * c->shape.rows * c->shape.length * c->shape.inner; i++) {
        const uint64_t r = next();
        scales[i] = (float)(powers ? 64 : 33 + r % 64) * (r >> 20 & 1 ? 0x1p-9f : 1);
        if (r >> 40 < 200000)
            scales[i] = r % 5 == 0   ? 0
                        : r % 5 == 1 ? -1.0f
                        : r % 5 == 2 ? 0x1p-149f
                        : r % 5 == 3 ? 3e38f
                                     : 1e30f * 1e30f;
        zeros[i] = (float)f->lowest + (float)(r >> 30 & 3) + (given.order == 2 ? 0.25f * (float)(r >> 50 & 3) : 0);
    }
    c->shape.given = &given;
}

/* The shape with what it points to on the device. */
static const fpemu_shape *device_shape(const test_case *c)
{
    static fpemu_shape shape;
    static fpemu_given there;
    shape = c->shape;
    if (shape.given) {
        float *const d_scales = device_memory(8, sizeof scales), *const d_zeros = device_memory(9, sizeof zeros);
        to_device(d_scales, scales, sizeof scales);
        to_device(d_zeros, zeros, sizeof zeros);
        there = given;
        there.scales = d_scales;
        there.zeros = given.zeros ? d_zeros : NULL;
        shape.given = &there;
    }
    return &shape;
}

/* -------------------------------------------------------------------------------------------- comparisons */

static unsigned char in[BYTES], before[BYTES], want[BYTES], got[BYTES], packed[BYTES];
static unsigned char stats_room[1 << 20];
static uint64_t bins[2][2][BINS];
static fpemu_stats stats[2];

static void begin_stats(const test_case *c)
{
    memset(stats, 0, sizeof stats);
    memset(bins, 0, sizeof bins);
    for (int k = 0; k < 2; k++) {
        stats[k].request.want = c->counted > 1 ? WANT_ALL : 0;
        stats[k].request.histogram = bins[k][0];
        stats[k].request.scale_histogram = bins[k][1];
        stats[k].request.histogram_first = stats[k].request.scale_first = -30;
        stats[k].request.histogram_length = stats[k].request.scale_length = BINS;
    }
}

static void compare_stats(const test_case *c, const char *what, const fpemu_cuda_stats *d_s)
{
    if (!c->counted)
        return;
    const fpemu_cuda_status status = fpemu_cuda_stats_read(d_s, stats_room, &stats[1], NULL);
    if (status || !same_stats(&stats[0], &stats[1]) || memcmp(bins[0], bins[1], sizeof bins[0]) != 0)
        fail(c, what, status, 0);
}

static void compare_bytes(const test_case *c, const char *what, fpemu_cuda_status status, fpemu_cuda_status expected,
                          size_t n)
{
    comparisons++;
    if (status != expected) {
        fail(c, what, status, (size_t)expected);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i]) {
            fail(c, what, status, i);
            return;
        }
}

static void compare_quantize(const test_case *c, unsigned char *d_x, unsigned char *d_y, void *scratch,
                             fpemu_cuda_stats *d_s)
{
    const int type = c->type;
    const size_t size = element[c->type], n_x = c->reach_x * size, n_y = c->reach_y * size;
    const int in_place = c->counted == 1 && n_x == n_y && !FPEMU_CORRECTED(&c->format) &&
                         memcmp(c->shape.x_stride, c->shape.y_stride, sizeof c->shape.x_stride) == 0;
    const fpemu_rounding r = for_device(c->rounding, next() % 2);
    begin_stats(c);
    memcpy(want, in_place ? in : before, n_y);
    const fpemu_cuda_status expected = right_quantize(c, in, want, c->counted ? &stats[0] : NULL);
    to_device(d_x, in, n_x);
    to_device(d_y, before, n_y);
    unsigned char *const out = in_place ? d_x : d_y;
    fpemu_cuda_status status = fpemu_cuda_stats_clear(d_s, stats[1].request.want, NULL);
    if (!status)
        status =
            fpemu_cuda_quantize_tensor(&c->format, &r, types[type], device_shape(c), (d_x - c->low_x * (int64_t)size),
                                       (out - c->low_y * (int64_t)size), scratch, c->counted ? d_s : NULL, NULL);
    if (status == FPEMU_CUDA_ERROR_CARRIER && status == expected)
        return; /* a scalar format that does not fit the 16-bit type */
    from_device(got, out, n_y);
    compare_bytes(c, "quantize_tensor", status, expected, n_y);
    if (!status)
        compare_stats(c, "quantize_tensor: stats", d_s);
}

/* Blocks [first, first + count) packed anew from other numbers, and read. */
static void compare_blocks(const test_case *c, const fpemu_layout *l, unsigned char *d_x, unsigned char *d_y,
                           unsigned char *d_bytes, void *scratch)
{
    fpemu_extent extent;
    const uint64_t each =
        c->format.outer && next() % 4 ? 8 * l->blocks / l->tensor_bytes : 1; /* lines are packed whole */
    const uint64_t first = next() % (l->blocks / each) * each, left = (l->blocks - first) / each;
    const uint64_t count = (1 + next() % (left < 40 ? left : 40)) * each;
    size_t n = 0;
    for (uint64_t b = first; b < first + count; b++) {
        fpemu_packed_extent(&c->format, &c->shape, b, &extent);
        n += extent.elements;
    }
    if (n > c->reach_x || c->type >= BF16)
        return;
    to_device(d_x, in, n * element[c->type]);
    memcpy(want, packed, l->bytes);
    const int type = c->type;
    const void *const x = in;
    void *const y = want;
    fpemu_cuda_status expected = (fpemu_cuda_status)fpemu_pack_blocks(&c->format, &c->rounding, types[type], &c->shape,
                                                                      first, count, x, want, NULL);
    const fpemu_rounding r = for_device(c->rounding, next() % 2);
    fpemu_cuda_status status = fpemu_cuda_pack_blocks(&c->format, &r, types[type], device_shape(c), first, count, d_x,
                                                      d_bytes, scratch, NULL, NULL);
    from_device(got, d_bytes, l->bytes);
    compare_bytes(c, "pack_blocks", status, expected, l->bytes);
    expected = (fpemu_cuda_status)fpemu_unpack_blocks(&c->format, types[type], &c->shape, first, count, packed, y);
    to_device(d_bytes, packed, l->bytes);
    status =
        fpemu_cuda_unpack_blocks(&c->format, types[type], device_shape(c), first, count, d_bytes, d_y, scratch, NULL);
    from_device(got, d_y, n * element[c->type]);
    compare_bytes(c, "unpack_blocks", status, expected, n * element[c->type]);
}

static void compare_packed(const test_case *c, unsigned char *d_x, unsigned char *d_y, void *scratch,
                           fpemu_cuda_stats *d_s)
{
    fpemu_layout l;
    const int type = c->type;
    const size_t size = element[type];
    if (fpemu_packed_layout(&c->format, &c->shape, &l) || l.bytes == 0 || l.bytes + 8 > BYTES)
        return;
    unsigned char *const d_bytes = (unsigned char *)device_memory(5, BYTES) + next() % 8;
    const fpemu_rounding r = for_device(c->rounding, next() % 2);
    begin_stats(c);
    memset(want, 0xa5, l.bytes);
    const fpemu_cuda_status expected = right_pack(c, in, want, c->counted ? &stats[0] : NULL);
    to_device(d_x, in, c->reach_x * size);
    memset(got, 0xa5, l.bytes);
    to_device(d_bytes, got, l.bytes);
    fpemu_cuda_status status = fpemu_cuda_stats_clear(d_s, stats[1].request.want, NULL);
    if (!status)
        status = fpemu_cuda_pack(&c->format, &r, types[type], device_shape(c), (d_x - c->low_x * (int64_t)size),
                                 d_bytes, scratch, c->counted ? d_s : NULL, NULL);
    from_device(got, d_bytes, l.bytes);
    compare_bytes(c, "pack", status, expected, l.bytes);
    if (status)
        return;
    compare_stats(c, "pack: stats", d_s);
    /* back, through bytes that pack may not have written */
    memcpy(packed, want, l.bytes);
    for (size_t i = l.scales_offset; i < l.bytes; i++)
        if (next() % 8 == 0)
            packed[i] = (unsigned char)next();
    memcpy(want, before, c->reach_y * size);
    const fpemu_cuda_status read = right_unpack(c, packed, want);
    to_device(d_bytes, packed, l.bytes);
    to_device(d_y, before, c->reach_y * size);
    status = fpemu_cuda_unpack(&c->format, types[type], device_shape(c), d_bytes, (d_y - c->low_y * (int64_t)size),
                               scratch, NULL);
    if (status == FPEMU_CUDA_ERROR_CARRIER && status == read)
        return;
    from_device(got, d_y, c->reach_y * size);
    compare_bytes(c, "unpack", status, read, c->reach_y * size);
    compare_blocks(c, &l, d_x, d_y, d_bytes, scratch);
}

/* The numbers of a whole tensor, from what the device measured and from what is told. */
static void compare_numbers(const test_case *c, const fpemu_range *measured, const fpemu_cuda_range *d_range)
{
    fpemu_shape shape = c->shape;
    fpemu_layout l;
    if (fpemu_packed_layout(&c->format, &shape, &l) || l.bytes == 0 || l.bytes + 8 > BYTES)
        return;
    unsigned char *const d_bytes = (unsigned char *)device_memory(5, BYTES) + next() % 8;
    shape.whole = measured;
    memset(want, 0xa5, l.bytes);
    const fpemu_cuda_status expected = (fpemu_cuda_status)fpemu_pack_tensor_scales(&c->format, &shape, want);
    for (int told = 0; told < 2; told++) {
        shape.whole = told ? measured : NULL;
        memset(got, 0xa5, l.bytes);
        to_device(d_bytes, got, l.bytes);
        const fpemu_cuda_status status =
            fpemu_cuda_pack_tensor_scales(&c->format, &shape, told ? NULL : d_range, d_bytes, NULL);
        from_device(got, d_bytes, l.bytes);
        compare_bytes(c, told ? "pack_tensor_scales as told" : "pack_tensor", status, expected, l.bytes);
    }
}

static void compare_range(const test_case *c, unsigned char *d_x)
{
    fpemu_range expected = {0}, seen;
    fpemu_cuda_range *const d_range = device_memory(6, fpemu_cuda_range_size());
    const size_t n = c->reach_x, half = n / 3;
    const int type = c->type;
    to_device(d_x, in, n * element[type]);
    const void *const x = in;
    (void)fpemu_measure(&c->format, types[type], n, x, &expected);
    fpemu_cuda_status status = fpemu_cuda_range_clear(d_range, NULL);
    for (int part = 0; part < 2 && !status; part++) {
        const size_t m = part ? n - half : half;
        const void *p = d_x + (part ? half * element[type] : 0);
        status = fpemu_cuda_measure(&c->format, types[type], m, p, d_range, NULL);
    }
    if (!status)
        status = fpemu_cuda_range_read(d_range, &seen, NULL);
    comparisons++;
    if (status || memcmp(&seen, &expected, sizeof seen) != 0)
        fail(c, "measure", status, 0);
    compare_numbers(c, &expected, d_range);
}

/* ------------------------------------------------------------------------------------------------- inputs */

/* Numbers of one size and another, block by block, with a few that are special. */
static void fill(const test_case *c)
{
    const size_t size = element[c->type];
    const int far = next() % 4 == 0, odd = next() % 3 == 0;
    const size_t hole = c->dense ? next() % (2 * c->reach_x) : c->reach_x; /* blocks of zeros */
    int shift = 0;
    for (size_t i = 0; i < c->reach_x; i++) {
        if (i % 23 == 0)
            shift = far ? (int)(next() % 269) - 148 : (int)(next() % 24) - 12;
        const uint64_t r = next();
        double x = (double)(int64_t)next() / 9223372036854775808.0;
        if (r % 7 == 0)
            x = (double)((int64_t)(r >> 40) % 33 - 16) / 4; /* ties */
        for (int k = 0; k < (shift < 0 ? -shift : shift); k++)
            x = shift < 0 ? x / 2 : x * 2;
        if (r % 11 == 0 || (i >= hole && i < hole + 300))
            x = r % 2 ? 0.0 : -0.0;
        uint64_t u;
        uint32_t v;
        float f = (float)x;
        if (odd && r % 97 == 0)
            f = r % 5 == 0 ? 0.0f / (float)(r % 5) : 3e38f * (r % 2 ? 10 : -10);
        if (odd && r % 97 == 0)
            x = (double)f;
        memcpy(&u, &x, 8);
        memcpy(&v, &f, 4);
        if (c->type == F64)
            memcpy(in + i * size, &u, 8);
        else if (c->type == F32)
            memcpy(in + i * size, &v, 4);
        else {
            const uint16_t some = (uint16_t)((r >> 20 & 0x83ff) | (r >> 31 & 0x7000));
            const uint16_t h = c->type == BF16 ? (uint16_t)(v >> 16) : r % 13 ? some : (uint16_t)(r >> 40);
            memcpy(in + i * size, &h, 2);
        }
    }
    for (size_t i = 0; i < c->reach_y * size; i++)
        before[i] = (unsigned char)(i * 7);
}

/* Strides: contiguous, padded, backwards; for x also repeated. Sets how far they reach. */
static void choose_strides(test_case *c)
{
    fpemu_shape *s = &c->shape;
    const uint64_t extent[4] = {s->outer, s->rows, s->length, s->inner};
    memset(s->x_stride, 0, sizeof s->x_stride);
    memset(s->y_stride, 0, sizeof s->y_stride);
    for (int k = 0; k < 2; k++) {
        int64_t *stride = k ? s->y_stride : s->x_stride;
        size_t *reach = k ? &c->reach_y : &c->reach_x;
        int64_t *low = k ? &c->low_y : &c->low_x;
        const unsigned kind = next() % 4;
        int64_t step = 1;
        *reach = 1;
        *low = 0;
        for (int a = 3; a >= 0; a--) {
            int64_t own = step;
            if (kind >= 2)
                own += (int64_t)(next() % 3);
            step = own * (int64_t)extent[a];
            if (kind == 3 && next() % 3 == 0)
                own = -own;
            if (kind == 2 && k == 0 && next() % 6 == 0)
                own = 0;
            *reach += (size_t)(own < 0 ? -own : own) * (size_t)(extent[a] - 1);
            if (own < 0)
                *low += own * (int64_t)(extent[a] - 1);
            if (kind)
                stride[a] = own;
        }
        if (kind && (stride[0] | stride[1] | stride[2] | stride[3]) == 0) { /* would mean contiguous */
            *reach = (size_t)(extent[0] * extent[1] * extent[2] * extent[3]);
            *low = 0;
        }
    }
    if (next() % 3 == 0) {
        memcpy(s->y_stride, s->x_stride, sizeof s->y_stride);
        c->reach_y = c->reach_x;
        c->low_y = c->low_x;
        if (s->x_stride[0] | s->x_stride[1] | s->x_stride[2] | s->x_stride[3])
            for (int a = 0; a < 4; a++)
                if (s->x_stride[a] == 0 && extent[a] > 1) { /* places of y must differ */
                    memset(s->x_stride, 0, sizeof s->x_stride);
                    memset(s->y_stride, 0, sizeof s->y_stride);
                    c->reach_x = c->reach_y = (size_t)(extent[0] * extent[1] * extent[2] * extent[3]);
                    c->low_x = c->low_y = 0;
                }
    }
}

static void choose_shape(test_case *c)
{
    static const uint64_t lengths[] = {1, 5, 15, 16, 17, 31, 32, 33, 64, 100, 129, 257};
    static const uint64_t few[] = {1, 1, 2, 3, 5};
    fpemu_shape *s = &c->shape;
    memset(s, 0, sizeof *s);
    if (c->dense) {
        static const uint64_t lengths[] = {16, 64, 127, 128, 256, 384, 1000, 4100};
        s->outer = s->rows = s->inner = 1;
        s->length = lengths[next() % 8];
        if (next() % 2)
            s->rows = few[next() % 5];
        c->reach_x = c->reach_y = (size_t)(s->rows * s->length);
        c->low_x = c->low_y = 0;
        return;
    }
    s->outer = few[next() % 5];
    s->rows = few[next() % 5];
    s->length = lengths[next() % (sizeof lengths / sizeof *lengths)];
    s->inner = few[next() % 5];
    if (next() % 8 == 0) { /* long lines, channels and tensors */
        const uint64_t n = 4090 + next() % 9000;
        s->outer = s->rows = s->inner = 1;
        s->length = 1 + next() % 3;
        *(next() % 2 ? &s->length : next() % 2 ? &s->outer : &s->inner) = n;
    }
    if (next() % 3 == 0) { /* what is taken four at a time */
        s->inner = 1;
        c->reach_x = c->reach_y = (size_t)(s->outer * s->rows * s->length);
        c->low_x = c->low_y = 0;
        return;
    }
    choose_strides(c);
}

static void one_case(test_case *c, int mode, int type)
{
    fpemu_rounding *r = &c->rounding;
    fpemu_range whole;
    *r = random_rounding(mode);
    r->offset = next() % 3 == 0 ? 0 : next() % 2 ? next() % 10000 : UINT64_C(0xffffffff) - next() % 9000;
    if (next() % 4 == 0)
        r->compat = next() % 2 ? FPEMU_COMPAT_QPYTORCH : next() % 2 ? FPEMU_COMPAT_MUPPET : FPEMU_COMPAT_GGML;
    c->type = type;
    c->counted = c->dense ? 0 : (int)(next() % 3);
    choose_shape(c);
    if (c->reach_x > MOST / 2 || c->reach_y > MOST / 2)
        return;
    fill(c);
    if (next() % 4 == 0) {              /* a slice: the range of something larger */
        const double small = 0x1p-1000; /* beside which all others lie past the carrier's end */
        memset(&whole, 0, sizeof whole);
        if (type == F64 && next() % 4 == 0)
            fpemu_measure_f64(&c->format, 1, &small, &whole);
        else if (type == F64)
            fpemu_measure_f64(&c->format, c->reach_x / 2, (const double *)(void *)in, &whole);
        else if (type == F32)
            fpemu_measure_f32(&c->format, c->reach_x / 2, (const float *)(void *)in, &whole);
        whole.nonfinite = next() % 2 ? whole.nonfinite : 0;
        c->shape.whole = &whole;
    }
    unsigned char *d_x = device_memory(0, BYTES), *d_y = device_memory(1, BYTES);
    if (!c->dense) {
        d_x += next() % 3 ? 0 : next() % 4 * element[type];
        d_y += next() % 3 ? 0 : next() % 4 * element[type];
    }
    fpemu_cuda_stats *const d_s = device_memory(2, fpemu_cuda_stats_size());
    const uint64_t size = fpemu_cuda_scratch_size(&c->format, &c->shape);
    void *const scratch = size ? device_memory(4, (size_t)size) : NULL;
    choose_given(c);
    compare_quantize(c, d_x, d_y, scratch, d_s);
    if (!c->shape.given || !(given.tensor > 0)) /* which CUDA does not pack */
        compare_packed(c, d_x, d_y, scratch, d_s);
    c->shape.given = NULL;
    if (next() % 4 == 0)
        compare_range(c, d_x);
    c->shape.whole = NULL;
}

static void try_format(const char *spec, const fpemu_format *format, int rounds)
{
    test_case c = {.spec = spec, .format = *format};
    for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
        for (int type = F32; type <= F16; type++)
            if (type == F64 ? c.format.fits_f64 : c.format.fits_f32)
                for (int k = 0; k < rounds; k++)
                    one_case(&c, mode, type);
    for (c.dense = 1; rounds > 0; rounds--) {
        one_case(&c, FPEMU_MODE_RNE, rounds % 2 ? F32 : rounds % 4 ? BF16 : F16);
        one_case(&c, FPEMU_MODE_SR, F32);
        one_case(&c, FPEMU_MODE_RNE, F32);
        one_case(&c, rounds % FPEMU_MODE_COUNT, F32);
    }
}

static void try_spec(const char *spec, int rounds)
{
    fpemu_format f;
    if (fpemu_format_parse(spec, &f, NULL)) {
        printf("FAIL %s is not read\n", spec);
        failures++;
        return;
    }
    try_format(spec, &f, rounds);
}

static void check_swizzle(void)
{
    static const uint64_t rows[] = {1, 32, 33, 128, 129, 300}, columns[] = {1, 3, 4, 5, 64};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
            const size_t plain = (size_t)(rows[i] * columns[k]);
            const size_t tiled = (size_t)fpemu_swizzled_size(rows[i], columns[k]);
            uint8_t *const d_x = device_memory(0, BYTES), *const d_y = device_memory(1, BYTES);
            for (size_t b = 0; b < plain; b++)
                in[b] = (unsigned char)next();
            to_device(d_x, in, plain);
            fpemu_swizzle_scales(rows[i], columns[k], in, want);
            fpemu_cuda_status status = fpemu_cuda_swizzle_scales(rows[i], columns[k], d_x, d_y, NULL);
            from_device(got, d_y, tiled);
            comparisons += 2;
            if (status || memcmp(got, want, tiled) != 0) {
                printf("FAIL swizzle of %zu scales: status %d\n", plain, status);
                failures++;
            }
            status = fpemu_cuda_unswizzle_scales(rows[i], columns[k], d_y, d_x, NULL);
            from_device(got, d_x, plain);
            if (status || memcmp(got, in, plain) != 0) {
                printf("FAIL unswizzle of %zu scales: status %d\n", plain, status);
                failures++;
            }
        }
}

static void check_refusals(void)
{
    fpemu_format f;
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_shape shape = fpemu_shape_vector(64);
    float *const x = device_memory(0, BYTES), *const y = device_memory(1, BYTES);
    void *const scratch = device_memory(4, 1024), *const bytes = device_memory(5, BYTES);
    unsigned char *const d_s = device_memory(2, fpemu_cuda_stats_size() + 8);
    unsigned char *const d_r = device_memory(6, fpemu_cuda_range_size() + 8);
    fpemu_cuda_stats *const crooked = (fpemu_cuda_stats *)(void *)(d_s + 4);
    fpemu_cuda_range *const range = (fpemu_cuda_range *)(void *)d_r, *const crooked_range =
                                                                         (fpemu_cuda_range *)(void *)(d_r + 4);
    const fpemu_shape empty = {.outer = 1, .rows = 1, .inner = 1};
    fpemu_shape far = shape; /* with strides */
    far.x_stride[2] = far.y_stride[2] = 1;
    void *const high = (void *)(UINTPTR_MAX - 15); /* 15 bytes before the end of memory */
    fpemu_range seen;
    const fpemu_range none_has = {.amax = -1};
    fpemu_shape told = shape;
    told.whole = &none_has;
    fpemu_format scalar, wide;
    fpemu_format_parse("fp32", &wide, NULL);
    fpemu_format_parse("nvfp4", &f, NULL);
    fpemu_format_parse("e4m3fn", &scalar, NULL);
    const refusal cases[] = {
        SAYS(ERROR_NULL, "no shape", fpemu_cuda_quantize_tensor_f32(&f, &r, NULL, x, y, scratch, NULL, NULL)),
        SAYS(ERROR_NULL, "no format", fpemu_cuda_quantize_tensor_f32(NULL, &r, &shape, x, y, scratch, NULL, NULL)),
        SAYS(ERROR_NULL, "no rounding", fpemu_cuda_quantize_tensor_f32(&f, NULL, &shape, x, y, scratch, NULL, NULL)),
        SAYS(ERROR_NULL, "no scratch", fpemu_cuda_quantize_tensor_f32(&f, &r, &shape, x, y, NULL, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked scratch",
             fpemu_cuda_quantize_tensor_f32(&f, &r, &shape, x, y, (char *)scratch + 4, NULL, NULL)),
        SAYS(ERROR_OVERLAP, "overlap", fpemu_cuda_quantize_tensor_f32(&f, &r, &shape, x, x + 1, scratch, NULL, NULL)),
        SAYS(ERROR_OVERLAP, "bytes in x", fpemu_cuda_pack_f32(&f, &r, &shape, x, (char *)x + 200, scratch, NULL, NULL)),
        SAYS(ERROR_UNSUPPORTED, "needs scratch", fpemu_cuda_quantize_f32(&f, &r, 64, x, y, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "blocks past the end", fpemu_cuda_unpack_blocks_f32(&f, &shape, 3, 2, y, x, NULL, NULL)),
        SAYS(OK, "no elements", fpemu_cuda_pack_f32(&f, &r, &empty, NULL, NULL, NULL, NULL, NULL)),
        SAYS(ERROR_CARRIER, "no elements, in 16 bits that lack the format",
             fpemu_cuda_quantize_tensor_f16(&wide, &r, &empty, NULL, NULL, NULL, NULL, NULL)),
        SAYS(ERROR_CARRIER, "no elements to unpack to 16 bits",
             fpemu_cuda_unpack_f16(&wide, &empty, NULL, NULL, NULL, NULL)),
        SAYS(OK, "no elements to pack from 16 bits",
             fpemu_cuda_pack_f16(&wide, &r, &empty, NULL, NULL, NULL, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of quantize_tensor",
             fpemu_cuda_quantize_tensor_f32(&f, &r, &shape, x, y, scratch, crooked, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of a scalar format",
             fpemu_cuda_quantize_tensor_f32(&scalar, &r, &shape, x, y, NULL, crooked, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of pack",
             fpemu_cuda_pack_f32(&f, &r, &shape, x, bytes, scratch, crooked, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked stats of pack_blocks",
             fpemu_cuda_pack_blocks_f32(&f, &r, &shape, 0, 1, x, bytes, scratch, crooked, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked range of measure", fpemu_cuda_measure_f32(&f, 64, x, crooked_range, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked range of clear", fpemu_cuda_range_clear(crooked_range, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked range of read", fpemu_cuda_range_read(crooked_range, &seen, NULL)),
        SAYS(ERROR_ARGUMENT, "crooked range of pack_tensor",
             fpemu_cuda_pack_tensor_scales(&f, &shape, crooked_range, bytes, NULL)),
        SAYS(ERROR_ARGUMENT, "a range that no tensor has", fpemu_cuda_pack_tensor_scales(&f, &told, NULL, bytes, NULL)),
        SAYS(ERROR_ARGUMENT, "a range that no tensor has, of a format without numbers of the tensor",
             fpemu_cuda_pack_tensor_scales(&scalar, &told, NULL, NULL, NULL)),
        SAYS(ERROR_NULL, "no range", fpemu_cuda_pack_tensor_scales(&f, &shape, NULL, bytes, NULL)),
        SAYS(ERROR_NULL, "no bytes", fpemu_cuda_pack_tensor_scales(&f, &shape, range, NULL, NULL)),
        SAYS(ERROR_NULL, "no shape of pack_tensor", fpemu_cuda_pack_tensor_scales(&f, NULL, range, bytes, NULL)),
        SAYS(ERROR_OVERLAP, "bytes in the range", fpemu_cuda_pack_tensor_scales(&f, &shape, range, d_r + 16, NULL)),
        SAYS(OK, "no numbers of the tensor", fpemu_cuda_pack_tensor_scales(&scalar, &shape, NULL, NULL, NULL)),
        SAYS(OK, "no tensor", fpemu_cuda_pack_tensor_scales(&f, &empty, NULL, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "x past memory",
             fpemu_cuda_quantize_tensor_f32(&f, &r, &shape, high, y, scratch, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "y past memory",
             fpemu_cuda_quantize_tensor_f32(&f, &r, &shape, x, high, scratch, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "strided x past memory",
             fpemu_cuda_quantize_tensor_f32(&f, &r, &far, high, y, scratch, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "strided y past memory",
             fpemu_cuda_quantize_tensor_f32(&f, &r, &far, x, high, scratch, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "x of pack past memory",
             fpemu_cuda_pack_f32(&f, &r, &shape, high, bytes, scratch, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "bytes past memory", fpemu_cuda_pack_f32(&f, &r, &shape, x, high, scratch, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "x of blocks past memory",
             fpemu_cuda_pack_blocks_f32(&f, &r, &shape, 0, 1, high, bytes, scratch, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "bytes of unpack past memory", fpemu_cuda_unpack_f32(&f, &shape, high, y, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "y of unpack past memory", fpemu_cuda_unpack_f32(&f, &shape, bytes, high, NULL, NULL)),
        SAYS(ERROR_ARGUMENT, "measured x past memory", fpemu_cuda_measure_f32(&f, 64, high, range, NULL)),
        SAYS(ERROR_ARGUMENT, "bytes of pack_tensor past memory",
             fpemu_cuda_pack_tensor_scales(&f, &shape, range, high, NULL)),
        SAYS(ERROR_ARGUMENT, "swizzle from past memory", fpemu_cuda_swizzle_scales(128, 4, high, bytes, NULL)),
        SAYS(ERROR_ARGUMENT, "swizzle to past memory", fpemu_cuda_swizzle_scales(128, 4, bytes, high, NULL)),
        SAYS(ERROR_ARGUMENT, "unswizzle to past memory", fpemu_cuda_unswizzle_scales(128, 4, bytes, high, NULL)),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++, comparisons++)
        failures += differs(&cases[i]);
}

/* Columns 1 to 32 of an array into columns 33 to 64, packed bytes between rows; a column that is shared. */
static void check_inside(const char *spec)
{
    enum { ROWS = 40, WIDE = 72, WIDTH = 32 };
    static float x[ROWS * WIDE], y[ROWS * WIDE], z[ROWS * WIDE];
    const fpemu_rounding r = fpemu_rounding_nearest();
    float *const d = device_memory(0, BYTES);
    void *const scratch = device_memory(4, 4096);
    fpemu_shape s = {1, ROWS, WIDTH, 1, {0, WIDE, 1, 0}, {0, WIDE, 1, 0}, {NULL}, {NULL}, {0}};
    const fpemu_shape first = {1, 1, WIDTH, 1, {0, 0, 1, 0}, {0}, {NULL}, {NULL}, {0}};
    const fpemu_shape apart = {2, 1, WIDTH / 2, 1, {WIDE, 0, 1, 0}, {0}, {NULL}, {NULL}, {0}};
    fpemu_format f;
    fpemu_format_parse(spec, &f, NULL);
    for (size_t i = 0; i < ROWS * WIDE; i++)
        x[i] = y[i] = (float)((int)(next() % 4096) - 2048) / 256;
    to_device(d, x, sizeof x);
    fpemu_quantize_tensor_f32(&f, &r, &s, x, y + WIDTH, NULL);
    fpemu_pack_f32(&f, &r, &apart, x, y + 2 * WIDTH, NULL); /* at most 32 bytes, in a gap of 32 + 160 */
    const fpemu_cuda_status status[] = {
        fpemu_cuda_quantize_tensor_f32(&f, &r, &s, d, d + WIDTH, scratch, NULL, NULL),
        fpemu_cuda_quantize_tensor_f32(&f, &r, &s, d, d + WIDTH - 1, scratch, NULL, NULL),
        fpemu_cuda_pack_f32(&f, &r, &apart, d, d + 2 * WIDTH, scratch, NULL, NULL),
        fpemu_cuda_pack_f32(&f, &r, &apart, d, (char *)(d + WIDTH / 2) - 1, scratch, NULL, NULL),
        fpemu_cuda_pack_f32(&f, &r, &first, d, (char *)(d + WIDTH) - 1, scratch, NULL, NULL),
    };
    from_device(z, d, sizeof z);
    comparisons += 5;
    if (status[0] || status[1] != FPEMU_CUDA_ERROR_OVERLAP || status[2] || status[3] != FPEMU_CUDA_ERROR_OVERLAP ||
        status[4] != FPEMU_CUDA_ERROR_OVERLAP || memcmp(y, z, sizeof z) != 0) {
        printf("FAIL %s inside one array: status %d %d %d %d %d\n", spec, status[0], status[1], status[2], status[3],
               status[4]);
        failures++;
    }
}

int main(int argc, char **argv)
{
    static const char *const specs[] = LIST(
        "mx(e4m3fn,block=32,rule=ceil)", "mx(e2m1,block=16,rule=rceil)", "mx(e3m2,block=7,rule=even)",
        "mx(e2m1,block=32,scale=e4m3fn)", "mx(ue4m3,block=32)", "mx(ufixed(6,3),block=8)", "mx(int8,block=row)",
        "mx(e4m3fn,block=channel)", "mx(e5m2,block=tensor)", "mx(e2m1,block=3x16)", "mx(e2m3,block=128x128)",
        "mx(posit(8,1),block=32)", "bfp(7,block=16)", "bfp(4,block=tensor,exponent=5)", "bfp(3,block=row,rule=even)",
        "hbfp(7)", "bm(4,3)", "bm(2,1,block=8)", "nvfp4(e2m1,block=16,rule=nvfp4-ao)", "nvfp4(e2m1,block=4x4)",
        "nvfp4(outer=row)", "nvfp4(block=4,rule=4over6,outer=row)", "nvfp4(block=5000,rule=nvfp4-ao,outer=row)",
        "mx(e2m1,rule=even,correct=128)", "mx(e2m1,block=3x5,rule=rceil,correct=10)", "group(int2,tensor,rule=absmean)",
        "group(int2,block=7,rule=absmean)", "nvfp4(rule=eden)",
        "nvfp4(block=5,rule=eden,bound=200,outer=row,correct=20)", "nvfp4(rule=4over6)",
        "nvfp4(block=16x16,rule=4over6-mse,bound=256)", "nvfp4(block=2048,rule=4over6)", "nvfp4(block=3x5,rule=4over6)",
        "nvfp4(search=-2..2)", "nvfp4(block=20,rule=nvfp4-ao,outer=row,search=5..4/4)",
        "mx(e2m1,block=3x5,search=-1..1,error=absolute)", "group(int4,64,scale=fp16,search=8..6/8,error=weighted)",
        "codebook(nf4,block=64,search=9..8/10)", "bfp(3,block=7,exponent=4,search=1..-1)", "mx9", "mx4", "hif4", "q4_0",
        "q4_1", "q4_k", "q5_k", "q6_k", "group(int8,block=channel,rule=asymmetric)",
        "group(uint4,block=3x5,rule=minmax)", "group(uint(5),block=20,rule=tinygemm)", "group(uint4,64,rule=hqq)",
        "group(int4,block=tensor,scale=fp16,rule=asymmetric)", "group(hif8,7)", "nvfp4(margin=17/16)",
        "mx(e2m1,rule=rceil,target=7.25)", "mx(e4m3fn,clip=0.75)", "group(int4,block=128,clip=0.9)",
        "nvfp4(block=32,rule=nvfp4-clamp,target=5)", "nvfp4(int4,block=20,scale=fp16)",
        "nvfp4(ufixed(6,5),block=16,scale=e8m0)", "bfp(7,block=16,exponent=9)",
        "block(e4m3fn,block=32,exponent=10,rule=floor)", "mx(ufixed(1,0),block=32)", "group(uint(1),block=64)",
        "group(int4,block=128)", "block(int4,block=32,scale=fp32,rule=absmax)", "group(int8,block=512)",
        "group(int8,block=row)", "group(e4m3fn,block=channel,scale=bf16)", "group(fixed(8,3),block=2x33)",
        "group(int(8,scale=0.3),block=32)", "codebook(nf4,block=64)", "codebook(dynamic8,block=256)",
        "codebook(udynamic5,block=row,scale=fp16)", "table(nf4)", "table(dynamic6)", "scaled(e4m3fn)",
        "scaled(e5m2,block=row,margin=2)", "scaled(e4m3fn,block=channel,rule=recipe-pow2)", "muppet(8)",
        "muppet(5,block=32,exponent=6)", "muppet(31)", "s2fp8", "s2fp8(e4m3fn)", "e4m3fn", "int(8,scale=0.1)",
        "posit(16,2)", "ufixed(12,3)", "uint4", "fixed(21,4)", "mx(float(e=8,m=20),block=32,rule=floor)",
        "mx(e4m3fn,block=4097)", "mx(e8m0,block=32)");
    static float table[700];
    fpemu_format f;
    const int rounds = argc > 1 ? atoi(argv[1]) : 3;
    device_begin();
    for (int name = 1; name < FPEMU_NAME_COUNT; name++) {
        fpemu_format_named((fpemu_name)name, &f);
        if (f.scaling || f.kind == FPEMU_KIND_CODEBOOK)
            try_spec(fpemu_format_name((fpemu_name)name, 0), rounds);
    }
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        try_spec(specs[i], rounds);
    for (int i = 0; i < 700; i++)
        table[i] = (float)(i - 100) * (float)(i < 100 ? 101 - i : i - 99) / 1024;
    for (uint32_t n = 200; n <= 700; n += 500) { /* with the job, and in the scratch */
        if (fpemu_format_table(&f, n, table)) {
            printf("FAIL a table of %u values\n", n);
            failures++;
        }
        try_format("a table", &f, rounds);
        fpemu_format blocked, scale;
        fpemu_format_parse("fp32", &scale, NULL);
        if (fpemu_format_blocked(&blocked, &f, FPEMU_SCALING_ABSMAX, &scale, 0, FPEMU_BLOCK_RUN, 0, 50)) {
            printf("FAIL blocks of a table of %u values\n", n);
            failures++;
        }
        try_format("blocks of a table", &blocked, rounds);
    }
    static const float odd[] = {-3, -1, 1, 3}; /* no zero: the sign of the slightest number decides */
    fpemu_format_table(&f, 4, odd);
    static float codes[256], memory[FPEMU_CODES_MEMORY(256)];
    fpemu_format own, e5m2, of_codes;
    for (int i = 0; i < 256 && !fpemu_format_named(FPEMU_NAME_E5M2, &e5m2); i++)
        codes[255 - i] = (float)fpemu_decode_one_f64(&e5m2, (uint64_t)i);
    if (fpemu_format_codes(&own, 256, codes, memory) ||
        fpemu_format_blocked(&of_codes, &own, FPEMU_SCALING_FLOOR, NULL, 8, FPEMU_BLOCK_RUN, 0, 32)) {
        printf("FAIL a table of codes\n");
        failures++;
    }
    try_format("a table of codes", &own, rounds);
    try_format("blocks of a table of codes", &of_codes, rounds);
    for (unsigned length = 16; length <= 128; length *= 2) {
        fpemu_format blocked;
        if (fpemu_format_blocked(&blocked, &f, FPEMU_SCALING_FLOOR, NULL, 8, FPEMU_BLOCK_RUN, 0, length)) {
            printf("FAIL blocks of a table without zero\n");
            failures++;
        }
        try_format("blocks of a table without zero", &blocked, 4 * rounds);
    }
    check_swizzle();
    check_inside("mxfp4");
    check_inside("nvfp4");
    check_inside("e4m3fn");
    check_refusals();
    printf("blocks: %lu calls, %lu failures\n", comparisons, failures);
    return failures != 0;
}
