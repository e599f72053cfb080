/* SPDX-License-Identifier: BSD-2-Clause */
/* stream_tasks.c - the tasks of streams.c, on both sides, and what is right. */
#include "stream_tasks.h"

#define SEED 13
#include "random.h"

#define WANT_SCALAR (FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM)
#define WANT_TENSOR (WANT_SCALAR | FPEMU_STATS_SCALES)

const size_t element[] = {[F32] = 4, [F64] = 8, [BF16] = 2, [F16] = 2};
const fpemu_type types[4] = {
    [F32] = FPEMU_TYPE_F32, [F64] = FPEMU_TYPE_F64, [BF16] = FPEMU_TYPE_BF16, [F16] = FPEMU_TYPE_F16};

const task tasks[] = LIST(
    {"quantize", QUANTIZE, F32, "e4m3fn", RNE, 0, 0}, {"quantize", QUANTIZE, F32, "fp(6,9,0)", SR, 0, 0},
    {"quantize, counted", QUANTIZE, F32, "e5m2", SR, COUNTED, 0},
    {"quantize in place", QUANTIZE, F32, "e4m3fn", RNE, COUNTED | IN_PLACE, 0},
    {"quantize to a table", QUANTIZE, F32, "nf4", RNE, 0, 0}, {"quantize f64", QUANTIZE, F64, "posit(16,2)", RNE, 0, 0},
    {"quantize f64, counted", QUANTIZE, F64, "fp16", SR, COUNTED, 0},
    {"quantize bf16", QUANTIZE, BF16, "e4m3fn", RNE, 0, 0},
    {"quantize bf16, counted", QUANTIZE, BF16, "e5m2", SR, COUNTED, 0},
    {"quantize f16", QUANTIZE, F16, "e4m3fn", SR, 0, 0},
    {"quantize f16, counted", QUANTIZE, F16, "fixed(8,4)", RNE, COUNTED, 0},
    {"encode", ENCODE, F32, "e4m3fn", RNE, 0, 0}, {"encode, counted", ENCODE, F32, "fp16", SR, COUNTED, 0},
    {"encode f64", ENCODE, F64, "posit(32,2)", RNE, 0, 0}, {"encode bf16", ENCODE, BF16, "e5m2", RNE, 0, 0},
    {"encode f16", ENCODE, F16, "e4m3fn", SR, COUNTED, 0}, {"decode", DECODE, F32, "e4m3fn", RNE, 0, 0},
    {"decode", DECODE, F32, "posit(16,2)", RNE, 0, 0}, {"decode f64", DECODE, F64, "e5m2", RNE, 0, 0},
    {"decode bf16", DECODE, BF16, "e4m3fn", RNE, 0, 0}, {"decode f16", DECODE, F16, "e2m1", RNE, 0, 0},
    {"tensor", TENSOR, F32, "mxfp4", RNE, 0, 0}, {"tensor, counted", TENSOR, F32, "mxfp8", SR, COUNTED, 0},
    {"tensor in place", TENSOR, F32, "mxfp4", RNE, IN_PLACE, 0},
    {"tensor across", TENSOR, F32, "mxfp4", RNE, ACROSS, 0},
    {"tensor with gaps", TENSOR, F32, "mxfp6_e2m3", RNE, GAPS, 0}, {"tensor", TENSOR, F32, "nvfp4", RNE, 0, 0},
    {"tensor across, counted", TENSOR, F32, "nvfp4", SR, ACROSS | COUNTED, 0},
    {"tensor", TENSOR, F32, "group(int4,block=128)", RNE, 0, 0}, {"tensor", TENSOR, F32, "muppet(8)", SR, COUNTED, 0},
    {"tensor", TENSOR, F32, "codebook(nf4,block=64)", RNE, 0, 0}, {"tensor", TENSOR, F32, "table", RNE, 0, 0},
    {"tensor with gaps", TENSOR, F32, "blocks of table", RNE, GAPS, 0},
    {"tensor of a long block", TENSOR, F32, "mx(e4m3fn,block=4700)", RNE, 0, 0},
    {"tensor f64", TENSOR, F64, "nvfp4", RNE, GAPS, 0},
    {"tensor f64, counted", TENSOR, F64, "mx(e4m3fn,block=4500)", RNE, COUNTED, 0},
    {"tensor bf16", TENSOR, BF16, "mxfp4", RNE, ACROSS, 0}, {"tensor bf16", TENSOR, BF16, "nvfp4", SR, 0, 0},
    {"tensor f16", TENSOR, F16, "mxfp8", RNE, GAPS, 0}, {"tensor f16", TENSOR, F16, "nvfp4", RNE, COUNTED, 0},
    {"pack", PACK, F32, "mxfp4", RNE, COUNTED, 0}, {"pack", PACK, F32, "nvfp4", SR, 0, 0},
    {"pack", PACK, F32, "table", RNE, 0, 0}, {"pack f64", PACK, F64, "mxfp8", RNE, ACROSS, 0},
    {"pack bf16", PACK, BF16, "nvfp4", RNE, 0, 0}, {"pack f16", PACK, F16, "mxfp4", RNE, GAPS, 0},
    {"unpack", UNPACK, F32, "mxfp4", RNE, 0, 0}, {"unpack", UNPACK, F32, "table", RNE, 0, 0},
    {"unpack f64", UNPACK, F64, "mxfp8", RNE, ACROSS, 0}, {"unpack bf16", UNPACK, BF16, "mxfp4", RNE, GAPS, 0},
    {"unpack f16", UNPACK, F16, "mxfp4", RNE, 0, 0}, {"pack_blocks", PACK_BLOCKS, F32, "mxfp4", SR, COUNTED, 0},
    {"pack_blocks f64", PACK_BLOCKS, F64, "mxfp8", RNE, 0, 0},
    {"pack_blocks bf16", PACK_BLOCKS, BF16, "mxfp4", SR, 0, 0},
    {"pack_blocks f16", PACK_BLOCKS, F16, "mxfp8", RNE, COUNTED, 0},
    {"unpack_blocks", UNPACK_BLOCKS, F32, "mxfp4", RNE, 0, 0},
    {"unpack_blocks f64", UNPACK_BLOCKS, F64, "mxfp8", RNE, 0, 0},
    {"unpack_blocks bf16", UNPACK_BLOCKS, BF16, "mxfp8", RNE, 0, 0},
    {"unpack_blocks f16", UNPACK_BLOCKS, F16, "mxfp4", RNE, 0, 0}, {"swizzle_scales", SWIZZLE, F32, "e8m0", RNE, 0, 0},
    {"unswizzle_scales", UNSWIZZLE, F32, "e8m0", RNE, 0, 0}, {"measure", MEASURE, F32, "nvfp4", RNE, 0, 0},
    {"measure", MEASURE, F32, "s2fp8", RNE, 0, 0}, {"measure f64", MEASURE, F64, "s2fp8", RNE, 0, 0},
    {"measure bf16", MEASURE, BF16, "nvfp4", RNE, 0, 0}, {"measure f16", MEASURE, F16, "nvfp4", RNE, 0, 0},
    {"add", ARITH, F32, "fp16", RNE, 0, FPEMU_OPERATION_ADD},
    {"fma, counted", ARITH, F32, "bf16", SR, COUNTED, FPEMU_OPERATION_FMA},
    {"mul by one number", ARITH, F32, "fp16", RNE, SINGLE, FPEMU_OPERATION_MUL},
    {"div f64", ARITH, F64, "e5m2", RNE, SINGLE | COUNTED, FPEMU_OPERATION_DIV},
    {"sub bf16", ARITH, BF16, "bf16", RNE, 0, FPEMU_OPERATION_SUB},
    {"maximum f16", ARITH, F16, "fp16", RNE, SINGLE, FPEMU_OPERATION_MAXIMUM},
    {"add, scaled", ARITH_SCALED, F32, "fp16", RNE, 0, FPEMU_OPERATION_ADD},
    {"mul f64, scaled", ARITH_SCALED, F64, "fp16", RNE, COUNTED, FPEMU_OPERATION_MUL},
    {"add bf16, scaled", ARITH_SCALED, BF16, "bf16", SR, 0, FPEMU_OPERATION_ADD},
    {"mul f16, scaled", ARITH_SCALED, F16, "fp16", RNE, SINGLE, FPEMU_OPERATION_MUL},
    {"exp2", APPLY, F32, "fp16", RNE, 0, FPEMU_FUNCTION_EXP2},
    {"gelu, counted", APPLY, F32, "bf16", SR, COUNTED, FPEMU_FUNCTION_GELU},
    {"tanh f64", APPLY, F64, "e4m3fn", RNE, 0, FPEMU_FUNCTION_TANH},
    {"sin bf16", APPLY, BF16, "bf16", RNE, 0, FPEMU_FUNCTION_SIN},
    {"erf f16", APPLY, F16, "fp16", RNE, 0, FPEMU_FUNCTION_ERF},
    {"lt", COMPARE, F32, "fp32", RNE, 0, FPEMU_RELATION_LT},
    {"eq f64", COMPARE, F64, "fp32", RNE, SINGLE, FPEMU_RELATION_EQ},
    {"le bf16", COMPARE, BF16, "fp32", RNE, 0, FPEMU_RELATION_LE},
    {"lt f16", COMPARE, F16, "fp32", RNE, 0, FPEMU_RELATION_LT},
    {"lt, scaled", COMPARE_SCALED, F32, "fp32", RNE, 0, FPEMU_RELATION_LT},
    {"le f64, scaled", COMPARE_SCALED, F64, "fp32", RNE, 0, FPEMU_RELATION_LE},
    {"lt bf16, scaled", COMPARE_SCALED, BF16, "fp32", RNE, 0, FPEMU_RELATION_LT},
    {"eq f16, scaled", COMPARE_SCALED, F16, "fp32", RNE, SINGLE, FPEMU_RELATION_EQ},
    {"gemm", GEMM, F32, "fp32", RNE, 0, 0}, {"gemm", GEMM, F32, "pairwise(fp16)", RNE, GAPS, 0},
    {"gemm of rounded operands", GEMM, F32, "seq(fp16); ab=e4m3fn", RNE, GAPS | TRANSPOSE, 0},
    {"gemm, counted", GEMM, F32, "chunk(16,fp16,fp32)", RNE, COUNTED, 0},
    {"gemm f64", GEMM, F64, "seq(fp(6,9,0)/sr); a=e5m2", RNE, TRANSPOSE, 0},
    {"gemm f64, counted", GEMM, F64, "tc(h100,fp16)", RNE, COUNTED | GAPS, 0},
    {"gemm_scaled", GEMM_SCALED, F32, "chunk(16,fp16,fp32)", RNE, 0, 0},
    {"gemm_scaled f64", GEMM_SCALED, F64, "chunk(16,fp32); ab=e2m1", RNE, GAPS | COUNTED, 0},
    {"gemv", GEMV, F32, "seq(fp16)", RNE, GAPS, 0},
    {"gemv f64", GEMV, F64, "kahan(bf16); ab=bf16", RNE, TRANSPOSE | COUNTED, 0},
    {"dot", DOT, F32, "kahan(fp16)", RNE, 0, 0}, {"dot f64", DOT, F64, "seq(bf16/sr); ab=e5m2", RNE, GAPS | COUNTED, 0},
    {"measure, pack, unpack", CHAIN, F32, "nvfp4", RNE, COUNTED, 0},
    {"measure, pack, unpack", CHAIN, F32, "s2fp8", RNE, 0, 0},
    {"measure, pack, unpack f64", CHAIN, F64, "nvfp4", SR, 0, 0},
    {"measure, pack, unpack bf16", CHAIN, BF16, "nvfp4", RNE, 0, 0},
    {"measure, pack, unpack f16", CHAIN, F16, "nvfp4", RNE, COUNTED, 0});
_Static_assert(sizeof tasks / sizeof *tasks == TASKS, "as the header says");

void *input(const arena *a, int type, int which)
{
    return a->in + (size_t)(3 * type + which) * SPAN + a->late_in * element[type];
}

static void *other_input(const arena *a, int which, size_t size)
{
    return a->in + (size_t)which * SPAN + a->late_in * size;
}

void *output(const arena *a, int k, int second, size_t size)
{
    return a->out + (size_t)k * SLOT + (second ? SLOT / 2 : 0) + a->late_out * size;
}

fpemu_cuda_stats *stats_of(const arena *a, int k)
{
    return tasks[k].with & COUNTED
               ? (fpemu_cuda_stats *)(void *)(a->stats + (size_t)k * ((fpemu_cuda_stats_size() + 255) / 256 * 256))
               : NULL;
}

fpemu_cuda_range *range_of(const arena *a, int k)
{
    return (fpemu_cuda_range *)(void *)(a->range + (size_t)k * RANGE);
}

uint32_t want_of(const task *t)
{
    if (t->verb >= GEMM && t->verb <= DOT)
        return 0;
    return t->verb == CHAIN || (t->verb >= TENSOR && t->verb <= UNPACK_BLOCKS) ? WANT_TENSOR : WANT_SCALAR;
}

int has_range(const task *t)
{
    return t->verb == MEASURE || t->verb == CHAIN;
}

static void fail_setup(const task *t, const char *what)
{
    fprintf(stderr, "%s %s: the test itself: %s\n", t->name, t->spec, what);
    exit(1);
}

static fpemu_status make_format(const task *t, things *h)
{
    fpemu_format table, scale;
    for (int i = 0; i < TABLE; i++)
        h->table[i] = (float)(i - 100) * (float)(i < 100 ? 101 - i : i - 99) / 1024;
    if (strcmp(t->spec, "table") == 0)
        return fpemu_format_table(&h->f, TABLE, h->table);
    if (strcmp(t->spec, "blocks of table") != 0)
        return fpemu_format_parse(t->spec, &h->f, NULL);
    if (fpemu_format_table(&table, TABLE, h->table) || fpemu_format_parse("fp32", &scale, NULL))
        return FPEMU_ERROR_FORMAT;
    return fpemu_format_blocked(&h->f, &table, FPEMU_SCALING_ABSMAX, &scale, 0, FPEMU_BLOCK_RUN, 0, 50);
}

/* Tensors: a vector, one whose blocks run across, one with gaps. */
static void make_shape(const task *t, size_t n, things *h)
{
    const uint64_t sizes[3] = {3, 37, 13};
    const int64_t x_stride[4] = {389, 191, 11, 2}, y_stride[4] = {217, 105, 6, 1};
    h->s = fpemu_shape_vector(n);
    if (t->with & ACROSS)
        (void)fpemu_shape_of(3, sizes, 1, &h->s);
    if (!(t->with & GAPS))
        return;
    h->s.outer = 3;
    h->s.rows = 2;
    h->s.length = 17;
    h->s.inner = 5;
    memcpy(h->s.x_stride, x_stride, sizeof x_stride);
    memcpy(h->s.y_stride, y_stride, sizeof y_stride);
}

static void make_product(const task *t, things *h)
{
    const int gaps = t->with & GAPS, across = t->with & TRANSPOSE;
    h->product.m = 33;
    h->product.n = 20;
    h->product.k = 40;
    if (gaps) /* rows of A, of B (or of their transposes, as columns) and of C, with elements between them */
        h->product.lda = h->product.ldb = h->product.ldc = 45;
    h->product.order = across ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
    h->product.transpose_a = across != 0;
}

things *prepare(int k, const arena *a)
{
    const task *const t = &tasks[k];
    things *const h = calloc(1, sizeof *h);
    if (!h)
        fail_setup(t, "no memory");
    h->r = t->mode == SR ? fpemu_rounding_stochastic(5, 6) : fpemu_rounding_nearest();
    h->r.offset = t->mode == SR ? 77 : 0;
    for (int o = 0; o < 3; o++) {
        h->steps[o] = t->with & SINGLE && o == 1 ? 0 : 1;
        h->operands[o] = input(a, t->type, o);
    }
    /* one operand with blocks of scales, one with none, one with few that come again */
    const void *const scales = t->type == F64 ? other_input(a, SCALES64, 8) : other_input(a, SCALES32, 4);
    h->scales[0] = (fpemu_operand_scales){{scales}, 16, 0};
    h->scales[2] = (fpemu_operand_scales){{scales}, 7, 3};
    if (t->verb >= GEMM && t->verb <= DOT) {
        fpemu_gemm_shape sized;
        if (fpemu_gemm_parse(t->spec, &h->spec, NULL))
            fail_setup(t, "the model");
        make_product(t, h);
        sized = h->product;
        if (t->verb == GEMV || t->verb == DOT) {
            memset(&sized, 0, sizeof sized);
            sized.m = t->verb == DOT ? 1 : t->with & TRANSPOSE ? 40 : 33;
            sized.n = 1;
            sized.k = t->verb == DOT ? a->n : t->with & TRANSPOSE ? 33 : 40;
        }
        h->scratch = fpemu_cuda_gemm_scratch_size(&h->spec, &sized, types[t->type]);
    } else {
        fpemu_layout l;
        if (make_format(t, h))
            fail_setup(t, "the format");
        make_shape(t, a->n, h);
        if (fpemu_packed_layout(&h->f, &h->s, &l) || l.bytes + LATE * 8 > SPAN)
            fail_setup(t, "the shape");
        h->blocks = l.blocks;
        h->first = h->blocks / 3;
        h->count = h->blocks - h->first - (h->blocks > 4);
        h->scratch = fpemu_cuda_scratch_size(&h->f, &h->s);
    }
    if (h->scratch > SCRATCH)
        fail_setup(t, "scratch");
    return h;
}

void destroy(things *h)
{
    memset(h, 0xff, sizeof *h);
    free(h);
}

/* Pieces of a product, as factors and steps. */
#define ALPHA 0.5
#define BETA 1.5
enum { ROWS = 33, COLUMNS = 40, SWIZZLE_ROWS = 130, SWIZZLE_COLUMNS = 7 };

static int64_t step_x(const task *t)
{
    return t->with & GAPS ? -2 : 1;
}

static size_t dot_length(const task *t, const arena *a)
{
    return t->with & GAPS ? a->n / 2 : a->n;
}

/* ------------------------------------------------------------------------------------- a task on both sides */

/* Where a task is to be done: on a stream of the device, with its counters and scratch, or by the library. */
typedef struct side {
    int device;
    fpemu_cuda_stream q;
    fpemu_cuda_stats *d_stats;
    fpemu_cuda_range *d_range;
    void *scratch;
    fpemu_stats *stats; /* NULL or counters, which the library adds to */
    fpemu_range *range;
} side;

/* A call whose arguments are those of the library, and behind them scratch, counters and the stream. */
#define PLAIN(verb, ...) (on->device ? (int)fpemu_cuda_##verb(__VA_ARGS__, on->q) : (int)fpemu_##verb(__VA_ARGS__))
#define WITH_SCRATCH(verb, ...)                                                                                        \
    (on->device ? (int)fpemu_cuda_##verb(__VA_ARGS__, on->scratch, on->q) : (int)fpemu_##verb(__VA_ARGS__))
#define COUNTING(verb, ...)                                                                                            \
    (on->device ? (int)fpemu_cuda_##verb(__VA_ARGS__, on->d_stats, on->q) : (int)fpemu_##verb(__VA_ARGS__, on->stats))
#define COUNTING_WITH_SCRATCH(verb, ...)                                                                               \
    (on->device ? (int)fpemu_cuda_##verb(__VA_ARGS__, on->scratch, on->d_stats, on->q)                                 \
                : (int)fpemu_##verb(__VA_ARGS__, on->stats))

static int product(int k, const things *h, const arena *a, const side *on)
{
    const task *const t = &tasks[k];
    const fpemu_order order = t->with & TRANSPOSE ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
    const int wide = t->type == F64, transpose = t->with & TRANSPOSE ? 1 : 0;
    const size_t lda = t->with & GAPS ? 45 : 0, length = dot_length(t, a);
    const void *const x = input(a, t->type, 0), *const y = input(a, t->type, 1);
    const void *const scales = other_input(a, wide ? SCALES64 : SCALES32, element[t->type]);
    void *const c = output(a, k, 0, element[t->type]);
    const fpemu_type type = types[t->type];
    switch (t->verb) {
    case GEMM: return COUNTING_WITH_SCRATCH(gemm, &h->spec, &h->product, type, ALPHA, x, y, BETA, c);
    case GEMM_SCALED:
        return COUNTING_WITH_SCRATCH(gemm_scaled, &h->spec, &h->product, type, 1, x, scales, y, wide ? NULL : scales,
                                     BETA, c);
    case GEMV:
        return COUNTING_WITH_SCRATCH(gemv, &h->spec, order, transpose, ROWS, COLUMNS, type, 1, x, lda, y, step_x(t),
                                     BETA, c, 3);
    default: return COUNTING_WITH_SCRATCH(dot, &h->spec, length, type, x, 1, y, step_x(t), c);
    }
}

static int measure(int k, const things *h, const arena *a, const side *on)
{
    const fpemu_type type = types[tasks[k].type];
    const void *const x = input(a, tasks[k].type, 0);
    if (!on->device)
        return (int)fpemu_measure(&h->f, type, a->n, x, on->range);
    const fpemu_cuda_status cleared = fpemu_cuda_range_clear(on->d_range, on->q);
    return (int)(cleared ? cleared : fpemu_cuda_measure(&h->f, type, a->n, x, on->d_range, on->q));
}

/* A tensor measured, its numbers packed, then its blocks in two calls, then read again; nothing waits. */
static int chain(int k, const things *h, const arena *a, const side *on)
{
    const task *const t = &tasks[k];
    const fpemu_type type = types[t->type];
    const uint64_t half = h->blocks / 2, rest = h->blocks - half;
    unsigned char *const x = input(a, t->type, 0);
    void *const bytes = output(a, k, 0, 1), *const y = output(a, k, 1, element[t->type]);
    const void *const later = x + half * h->f.block_length * element[t->type];
    fpemu_shape told = h->s;
    told.whole = on->range;
    int status = measure(k, h, a, on);
    if (!status)
        status = on->device ? (int)fpemu_cuda_pack_tensor_scales(&h->f, &h->s, on->d_range, bytes, on->q)
                            : (int)fpemu_pack_tensor_scales(&h->f, &told, bytes);
    if (!status && half)
        status = COUNTING_WITH_SCRATCH(pack_blocks, &h->f, &h->r, type, &h->s, 0, half, x, bytes);
    if (!status)
        status = COUNTING_WITH_SCRATCH(pack_blocks, &h->f, &h->r, type, &h->s, half, rest, later, bytes);
    return status ? status : WITH_SCRATCH(unpack, &h->f, type, &h->s, bytes, y);
}

static int run(int k, const things *h, const arena *a, const side *on)
{
    const task *const t = &tasks[k];
    const fpemu_type type = types[t->type];
    const fpemu_operation operation = (fpemu_operation)t->work;
    const fpemu_relation relation = (fpemu_relation)t->work;
    const size_t size = element[t->type];
    void *const values = output(a, k, 0, size), *const bytes = output(a, k, 0, 1);
    void *const codes = output(a, k, 0, fpemu_format_code_size(&h->f));
    const void *const x = t->with & IN_PLACE ? values : input(a, t->type, 0);
    const void *const given = other_input(a, CODES, 1);
    switch (t->verb) {
    case QUANTIZE: return COUNTING(quantize, &h->f, &h->r, type, a->n, x, values);
    case ENCODE: return COUNTING(encode, &h->f, &h->r, type, a->n, x, codes);
    case DECODE: return PLAIN(decode, &h->f, type, a->n, other_input(a, CODES, fpemu_format_code_size(&h->f)), values);
    case TENSOR: return COUNTING_WITH_SCRATCH(quantize_tensor, &h->f, &h->r, type, &h->s, x, values);
    case PACK: return COUNTING_WITH_SCRATCH(pack, &h->f, &h->r, type, &h->s, x, bytes);
    case UNPACK: return WITH_SCRATCH(unpack, &h->f, type, &h->s, given, values);
    case PACK_BLOCKS:
        return COUNTING_WITH_SCRATCH(pack_blocks, &h->f, &h->r, type, &h->s, h->first, h->count, x, bytes);
    case UNPACK_BLOCKS: return WITH_SCRATCH(unpack_blocks, &h->f, type, &h->s, h->first, h->count, given, values);
    case SWIZZLE: return PLAIN(swizzle_scales, SWIZZLE_ROWS, SWIZZLE_COLUMNS, given, bytes);
    case UNSWIZZLE: return PLAIN(unswizzle_scales, SWIZZLE_ROWS, SWIZZLE_COLUMNS, given, bytes);
    case MEASURE: return measure(k, h, a, on);
    case ARITH: return COUNTING(arith, &h->f, &h->r, type, operation, a->n, h->operands, h->steps, values);
    case ARITH_SCALED:
        return COUNTING(arith_scaled, &h->f, &h->r, type, operation, a->n, h->operands, h->steps, h->scales, values);
    case APPLY: return COUNTING(apply, &h->f, &h->r, type, (fpemu_function)t->work, a->n, input(a, t->type, 2), values);
    case COMPARE: return PLAIN(compare, type, relation, a->n, h->operands, h->steps, bytes);
    case COMPARE_SCALED: return PLAIN(compare_scaled, type, relation, a->n, h->operands, h->steps, h->scales, bytes);
    case CHAIN: return chain(k, h, a, on);
    default: return product(k, h, a, on);
    }
}

fpemu_cuda_status on_device(int k, const things *h, const arena *a, fpemu_cuda_stream q)
{
    const side on = {.device = 1,
                     .q = q,
                     .d_stats = stats_of(a, k),
                     .d_range = range_of(a, k),
                     .scratch = h->scratch ? a->scratch + (size_t)k * SCRATCH : NULL};
    const fpemu_cuda_status status =
        on.d_stats ? fpemu_cuda_stats_clear(on.d_stats, want_of(&tasks[k]), q) : FPEMU_CUDA_OK;
    return status ? status : (fpemu_cuda_status)run(k, h, a, &on);
}

/* ------------------------------------------------------------------------------------- what is right */

void begin_counters(counted *c, uint32_t want)
{
    memset(c, 0, sizeof *c);
    c->s.request.want = want;
    c->s.request.histogram = c->bins[0];
    c->s.request.scale_histogram = c->bins[1];
    c->s.request.histogram_first = c->s.request.scale_first = -25;
    c->s.request.histogram_length = c->s.request.scale_length = BINS;
}

int same_counters(const counted *p, const counted *q)
{
    return memcmp(&p->s.request + 1, &q->s.request + 1, sizeof p->s - sizeof p->s.request) == 0 &&
           memcmp(p->bins, q->bins, sizeof p->bins) == 0;
}

/* Finite numbers of several sizes, some zero; scales of few bits. */
static void fill(answer *w)
{
    for (size_t i = 0; i < SPAN / 8; i++) {
        uint32_t bits;
        for (int o = 0; o < 3; o++) {
            const uint64_t r = next();
            float v = (float)((int64_t)(r >> 40) - (1 << 23)) / (float)(1 << (r & 15)) / 4096;
            if (r >> 20 & 1)
                v = (float)((int)(r >> 30 & 63) - 32) / 8; /* ties, zeros */
            memcpy(&bits, &v, 4);
            bits &= o == 2 ? 0xffffff00u : 0xffffffffu;
            memcpy(&v, &bits, 4);
            const double wide = (double)v;
            const uint16_t top = (uint16_t)(bits >> 16), half = (uint16_t)(r >> 8 & 0xbbff);
            memcpy(w->host.in + (size_t)(3 * F32 + o) * SPAN + 4 * i, &v, 4);
            memcpy(w->host.in + (size_t)(3 * F64 + o) * SPAN + 8 * i, &wide, 8);
            memcpy(w->host.in + (size_t)(3 * BF16 + o) * SPAN + 2 * i, &top, 2);
            memcpy(w->host.in + (size_t)(3 * F16 + o) * SPAN + 2 * i, &half, 2);
        }
        const uint64_t r = next();
        const float scale = (float)((r >> 8) % 63 + 1) / (float)(1 << (r & 7)) * (r >> 60 & 1 ? 1 : -1);
        const double wide = (double)scale;
        memcpy(w->host.in + (size_t)SCALES32 * SPAN + 4 * i, &scale, 4);
        memcpy(w->host.in + (size_t)SCALES64 * SPAN + 8 * i, &wide, 8);
        memcpy(w->host.in + (size_t)CODES * SPAN + 8 * i, &r, 8);
    }
    for (int k = 0; k < TASKS; k++) /* finite numbers of the task's type, which some of them read */
        for (size_t i = 0; i < SLOT; i += SPAN)
            memcpy(w->before + (size_t)k * SLOT + i,
                   w->host.in + (size_t)(3 * tasks[k].type + (int)(i / SPAN) % 2) * SPAN, SPAN);
}

void judge(answer *w, size_t n, size_t late_in, size_t late_out)
{
    if (!w->before) {
        w->host.in = malloc(IN_BYTES);
        w->host.out = malloc(OUT_BYTES);
        w->before = malloc(OUT_BYTES);
        if (!w->host.in || !w->host.out || !w->before) {
            fprintf(stderr, "no memory\n");
            exit(1);
        }
    }
    w->host.n = n;
    w->host.late_in = late_in;
    w->host.late_out = late_out;
    fill(w);
    memcpy(w->host.out, w->before, OUT_BYTES);
    memset(w->range, 0, sizeof w->range);
    for (int k = 0; k < TASKS; k++) {
        things *const h = prepare(k, &w->host);
        begin_counters(&w->counters[k], want_of(&tasks[k]));
        const side library = {.stats = tasks[k].with & COUNTED ? &w->counters[k].s : NULL, .range = &w->range[k]};
        const fpemu_status status = (fpemu_status)run(k, h, &w->host, &library);
        if (status)
            fail_setup(&tasks[k], fpemu_status_text(status));
        destroy(h);
    }
}
