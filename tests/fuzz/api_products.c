/* SPDX-License-Identifier: BSD-2-Clause */
/* api_products.c - products of matrices and vectors, with scales and without. */
#include "../../tools/common/system.h"

#include "api.h"

/* ------------------------------------------------------------------------------------------------------ the models */
static void draw_target(draw *d, fpemu_target *t)
{
    memset(t, 0, sizeof *t);
    if (draw_below(d, 3)) {
        draw_format(d, &t->format);
        draw_rounding(d, &t->rounding);
    }
}

static int draw_spec(draw *d, fpemu_gemm_spec *spec)
{
    char text[1100];
    static const char *const texts[] =
        LIST("seq(fp(6,9,0)/sr)", "chunk(7,fp(6,9,0)); ab=e5m2", "pairwise(fp16)", "fp32", "kahan(bf16); product=bf16",
             "tc(h100,fp16)", "tc(h100,e4m3fn,promote=128)", "int(32,saturate); ab=fixed(8,4)", "tc(v100,fp16)",
             "seq(e5m2); out=e4m3fn/rtz", "fp32; splits=bf16x6/3", "seq(bf16/rtn); splits=int8x3");
    const uint32_t which = draw_below(d, 16), fields = draw_below(d, 256);
    memset(spec, 0, sizeof *spec);
    if (which < 12) {
        INSIST(fpemu_gemm_parse(texts[which], spec, NULL) == FPEMU_OK, texts[which]);
    } else if (which < 14) {
        draw_text(d, text, sizeof text);
        CASE("gemm_parse %s", text);
        if (fpemu_gemm_parse(text, spec, NULL) != FPEMU_OK)
            return 0;
    } else {
        spec->sum.model = draw_below(d, FPEMU_MODEL_COUNT + 1);
        spec->sum.chunk = draw_below(d, 40);
        spec->sum.block = draw_below(d, 66);
        spec->sum.fraction_bits = draw_below(d, 42);
        spec->sum.least_exponent = draw_below(d, 2) ? FPEMU_NO_FLOOR : (int16_t)draw_word(d, 2);
        spec->sum.width = draw_below(d, 66);
        spec->sum.wrap = (uint8_t)draw_below(d, 3);
        draw_target(d, &spec->sum.inner);
        draw_target(d, &spec->sum.outer);
        spec->start_from_c = (uint8_t)draw_below(d, 3);
    }
    if (fields & 1)
        draw_target(d, &spec->a);
    if (fields & 2)
        draw_target(d, &spec->b);
    if (fields & 4)
        draw_target(d, &spec->product);
    if (fields & 8)
        draw_target(d, &spec->out);
    return 1;
}

/* A tensor core, by the call or by its text: the same. */
static int draw_core(draw *d, fpemu_gemm_spec *spec)
{
    static const char *const gpus[] = {"v100",  "a100",  "ada", "h100",   "b200",    "cdna1",
                                       "cdna2", "cdna3", "amx", "avx512", "cdna2old"};
    static const fpemu_name names[] = {FPEMU_NAME_BINARY16, FPEMU_NAME_BFLOAT16, FPEMU_NAME_TF32,
                                       FPEMU_NAME_E4M3FN,   FPEMU_NAME_E5M2,     FPEMU_NAME_BINARY32};
    const uint32_t gpu = draw_below(d, 13), operands = draw_below(d, 6), result = draw_below(d, 2);
    const fpemu_status status = fpemu_gemm_tensor_core(spec, (fpemu_gpu)gpu, names[operands],
                                                       result ? FPEMU_NAME_BINARY16 : FPEMU_NAME_BINARY32);
    CASE("tensor core %u of %s", (unsigned)gpu, fpemu_format_name(names[operands], 0));
    if (status != FPEMU_OK) {
        INSIST(status == FPEMU_ERROR_UNSUPPORTED || status == FPEMU_ERROR_ARGUMENT, "another status");
        return 0;
    }
    INSIST(gpu >= 1 && gpu <= 11, "a GPU that there is not");
    if (!result) {
        char text[64];
        fpemu_gemm_spec read;
        snprintf(text, sizeof text, "tc(%s,%s)", gpus[gpu - 1], fpemu_format_name(names[operands], 0));
        INSIST(fpemu_gemm_parse(text, &read, NULL) == FPEMU_OK, text);
        INSIST(memcmp(&read, spec, sizeof read) == 0, "the text of a tensor core reads as another");
    }
    return 1;
}

static int draw_model(draw *d, fpemu_gemm_spec *spec)
{
    return draw_below(d, 8) ? draw_spec(d, spec) : draw_core(d, spec);
}

/* One size grows until there are products for two threads; several outputs, since one is never shared. */
static void long_product(fpemu_gemm_shape *s)
{
    uint64_t *const sizes[] = {&s->m, &s->n, &s->k}, batch = s->batch > 0 ? s->batch : 1;
    const uint64_t longest = (s->m + s->n + s->k) % 3;
    s->m += 4;
    s->n += 8;
    s->k += 3;
    *sizes[longest] *= LONG_PRODUCTS / (batch * s->m * s->n * s->k) + 1;
}

/* C in the other order. */
static void turn(int carrier, const fpemu_gemm_shape *s, const array *c, unsigned char *to)
{
    const size_t size = carrier_size(carrier), m = (size_t)s->m, n = (size_t)s->n;
    const int row_major = s->order == FPEMU_ORDER_ROW_MAJOR;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            const size_t from = row_major ? i * n + j : j * m + i, place = row_major ? j * m + i : i * n + j;
            memcpy(to + place * size, c->data + from * size, size);
        }
    }
}

/* The transpose of a product: C^T = B^T A^T by the same machine, if it treats both operands alike and draws nothing. */
static void gemm_transposed(draw *d, int carrier, const fpemu_gemm_spec *spec, const fpemu_gemm_shape *s, double alpha,
                            double beta, const array *a, const array *b, const array *c, const array *result)
{
    fpemu_gemm_shape t = *s;
    t.order = s->order == FPEMU_ORDER_ROW_MAJOR ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
    t.transpose_a = !s->transpose_a;
    t.transpose_b = !s->transpose_b;
    /* op(A) in the other order is the same array; C is not, and is turned around */
    array turned = array_new(d, c->bytes, carrier_size(carrier));
    turn(carrier, s, c, turned.data);
    fpemu_gemm(spec, &t, carrier, alpha, a->data, b->data, beta, turned.data, NULL);
    unsigned char *wanted = malloc(c->bytes + 1);
    INSIST(wanted != NULL, "out of memory");
    turn(carrier, s, result, wanted);
    INSIST(memcmp(turned.data, wanted, c->bytes) == 0, "the order changes a result");
    free(wanted);
}

/* Targets that do not depend on the carrier: operands may be rounded to codebooks, whose midpoints are rounded to it,
 * and to integers of such steps. */
static int same_targets(const fpemu_gemm_spec *spec)
{
    const fpemu_format *const all[] = {&spec->a.format,   &spec->b.format,         &spec->product.format,
                                       &spec->out.format, &spec->sum.inner.format, &spec->sum.outer.format};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->kind == FPEMU_KIND_CODEBOOK || !exact_steps(all[i]))
            return 0;
    return 1;
}

/* w is a binary32 number nearest to x; ties either way. */
static int nearest_float(float w, double x)
{
    if (isnan(w) || isnan(x))
        return isnan(w) && isnan(x);
    if (!signbit(w) != !signbit(x) || isinf(w) || fabs(x) > 0x1.ffffffp127)
        return !signbit(w) == !signbit(x) && (isinf(w) ? fabs(x) >= 0x1.ffffffp127 : fabs(x) <= 0x1.ffffffp127);
    const double away = fabs(w - x);
    return away <= fabs(nextafterf(w, INFINITY) - x) && away <= fabs(nextafterf(w, -INFINITY) - x);
}

/* The product of the same numbers as doubles: all is exact until it is rounded to a target, so that results differ by
 * the last rounding at most, to the carrier where there is no target `out`. A sum that binary64 holds is then rounded
 * once by either; any other number first to binary64, and to either side where it so becomes the middle of two. */
static void gemm_wider(draw *d, const fpemu_gemm_spec *spec, const fpemu_gemm_shape *s, double alpha, double beta,
                       const array *a, const array *scales_a, const array *b, const array *scales_b, const array *c,
                       const array *result, fpemu_status status, const counted *counts)
{
    if (!same_targets(spec))
        return;
    const int rounded = spec->out.format.kind != FPEMU_KIND_INVALID;
    const int held = (spec->start_from_c || (alpha == 1 && beta == 0)) &&
                     (spec->sum.model != FPEMU_MODEL_INTEGER || spec->sum.width <= 53);
    counted again;
    array u = array_widened(d, F32, F64, a), v = array_widened(d, F32, F64, b), w = array_widened(d, F32, F64, c);
    array p = {0}, q = {0};
    if (scales_a != NULL) {
        p = array_widened(d, F32, F64, scales_a);
        q = array_widened(d, F32, F64, scales_b);
    }
    INSIST(fpemu_gemm_scaled(spec, s, F64, alpha, u.data, p.data, v.data, q.data, beta, w.data,
                             count_into(&again, 0)) == status,
           "other status by the wider carrier");
    for (size_t i = 0; i < c->bytes / sizeof(float); i++) {
        const double x = carrier_load(F64, w.data, i), y = carrier_load(F32, result->data, i);
        INSIST(rounded ? api_same(x, y)
               : held  ? api_same((float)x, y)
                       : nearest_float((float)y, x),
               "two carriers give different products");
    }
    INSIST(counted_same(counts, &again, 1), "the wider carrier counts otherwise");
}

void api_gemm(draw *d)
{
    fpemu_gemm_spec spec;
    char text[1100] = "", again[1100];
    if (!draw_spec(d, &spec))
        return;
    if (fpemu_gemm_print(&spec, text, sizeof text) == FPEMU_OK && fpemu_gemm_check(&spec, 64, NULL) == FPEMU_OK) {
        fpemu_gemm_spec read;
        CASE("gemm %s", text);
        INSIST(fpemu_gemm_parse(text, &read, NULL) == FPEMU_OK, "a canonical text is refused");
        INSIST(fpemu_gemm_print(&read, again, sizeof again) == FPEMU_OK && strcmp(text, again) == 0, "two texts");
    }
    const int carrier = draw_carrier(d, 2);
    const size_t size = carrier_size(carrier);
    const uint32_t flags = draw_below(d, 256);
    fpemu_gemm_shape s = {0};
    int many;
    s.m = draw_seldom(d, 12, &many);
    s.n = draw_below(d, 40);
    s.k = draw_below(d, flags & 1 ? 150 : 12);
    if (many && fpemu_gemm_check(&spec, carrier, NULL) == FPEMU_OK)
        long_product(&s);
    s.order = (uint8_t)(flags >> 1 & 1);
    s.transpose_a = (uint8_t)(flags >> 2 & 1);
    s.transpose_b = (uint8_t)(flags >> 3 & 1);
    const double any = draw_number(d, NULL), scalars[] = {1, 0, -0.5, carrier == F32 ? (float)any : any};
    const double alpha = spec.start_from_c ? 1 : scalars[flags >> 4 & 3],
                 beta = spec.start_from_c ? 1 : scalars[flags >> 6];
    const fpemu_format *like = spec.a.format.kind != FPEMU_KIND_INVALID ? &spec.a.format : NULL;
    array a = draw_array(d, carrier, like, (size_t)(s.m * s.k)), b = draw_array(d, carrier, like, (size_t)(s.k * s.n));
    array c = draw_array(d, carrier, NULL, (size_t)(s.m * s.n)), result = array_copy(d, &c, size);
    counted counts;
    CASE("gemm %s carrier %d m %u n %u k %u order %u trans %u %u alpha %g beta %g", text, carrier, (unsigned)s.m,
         (unsigned)s.n, (unsigned)s.k, s.order, s.transpose_a, s.transpose_b, alpha, beta);
    const fpemu_status expected = fpemu_gemm_check(&spec, carrier, NULL);
    const fpemu_status status =
        fpemu_gemm(&spec, &s, carrier, alpha, a.data, b.data, beta, result.data, count_into(&counts, 0));
    api_digest(&status, sizeof status);
    if (expected != FPEMU_OK) {
        INSIST(status == expected, "fpemu_gemm_check and the call disagree");
        INSIST(memcmp(result.data, c.data, c.bytes) == 0, "a refused product wrote");
        counted_untouched(&counts, 0);
    } else if (status == FPEMU_OK || status == FPEMU_ERROR_NAN) {
        api_digest(result.data, result.bytes);
        counted_digest(&counts);
        gemm_transposed(d, carrier, &spec, &s, alpha, beta, &a, &b, &c, &result);
        if (!many) { /* long ones take seconds under a sanitizer; the transposed one was not counted either */
            array plain = array_copy(d, &c, size);
            fpemu_gemm(&spec, &s, carrier, alpha, a.data, b.data, beta, plain.data, NULL);
            INSIST(memcmp(plain.data, result.data, c.bytes) == 0, "counting changes results");
        }
        if (!many && carrier == F32)
            gemm_wider(d, &spec, &s, alpha, beta, &a, NULL, &b, NULL, &c, &result, status, &counts);
    } else {
        INSIST(0, "a product that fpemu_gemm_check allows is refused");
    }
}

/* ------------------------------------------------------------------------------------- with scales for the chunks */
/* Chunks, which have the scales, for a model that has them if it is asked to. */
static void draw_chunks(draw *d, fpemu_accumulator *sum)
{
    if (sum->model == FPEMU_MODEL_SEQUENTIAL) {
        sum->model = FPEMU_MODEL_CHUNKED;
        sum->chunk = 1 + draw_below(d, 40);
        sum->outer = sum->inner;
    } else if (sum->model == FPEMU_MODEL_FUSED) {
        sum->chunk = sum->block * (1 + draw_below(d, 8));
        INSIST(fpemu_format_named(FPEMU_NAME_BINARY32, &sum->outer.format) == FPEMU_OK, "binary32");
    }
}

/* n scales of four that are drawn, powers of two and others; `ones`: all 1. */
static array draw_scales(draw *d, int carrier, size_t n, int ones)
{
    array s = array_new(d, n * carrier_size(carrier), carrier_size(carrier));
    double four[4] = {1, 1, 1, 1};
    for (int i = 0; i < 4 && !ones; i++)
        four[i] = draw_below(d, 4) == 3 ? draw_number(d, NULL) : ldexp(1, (int)draw_below(d, 17) - 8);
    for (size_t i = 0; i < n; i++)
        carrier_store(carrier, s.data, i, four[(i ^ i >> 2 ^ i >> 4) % 4]);
    return s;
}

void api_gemm_scaled(draw *d)
{
    fpemu_gemm_spec spec;
    char text[1100] = "";
    if (!draw_model(d, &spec))
        return;
    if (spec.sum.chunk == 0 && draw_below(d, 4) > 0)
        draw_chunks(d, &spec.sum);
    fpemu_gemm_print(&spec, text, sizeof text);
    const int carrier = draw_carrier(d, 2);
    const size_t size = carrier_size(carrier);
    const uint32_t flags = draw_below(d, 256);
    int many;
    fpemu_gemm_shape s = {0};
    s.m = draw_seldom(d, 8, &many);
    s.n = draw_below(d, 24);
    s.k = draw_below(d, flags & 1 ? 150 : 12);
    s.batch = draw_below(d, 4);
    if (many && fpemu_gemm_check(&spec, carrier, NULL) == FPEMU_OK)
        long_product(&s);
    s.order = (uint8_t)(flags >> 1 & 1);
    s.transpose_a = (uint8_t)(flags >> 2 & 1);
    s.transpose_b = (uint8_t)(flags >> 3 & 1);
    const size_t products = s.batch > 0 ? (size_t)s.batch : 1, chunk = spec.sum.chunk ? spec.sum.chunk : 1;
    const int shared_a = flags >> 4 & 1, shared_b = flags >> 5 & 1;
    const size_t of_a = shared_a ? 1 : products, of_b = shared_b ? 1 : products;
    const size_t blocks = s.k > 0 ? (size_t)(s.k - 1) / chunk + 1 : 0;
    s.stride_a = shared_a ? 0 : s.m * s.k;
    s.stride_b = shared_b ? 0 : s.k * s.n;
    s.stride_c = s.m * s.n;
    const double alpha = spec.start_from_c ? 1 : draw_below(d, 3) - 0.5,
                 beta = spec.start_from_c ? 1 : draw_below(d, 2);
    const fpemu_format *like = spec.a.format.kind != FPEMU_KIND_INVALID ? &spec.a.format : NULL;
    const int ones = flags >> 6 == 0;
    array scales_a = draw_scales(d, carrier, of_a * (size_t)s.m * blocks, ones);
    array scales_b = draw_scales(d, carrier, of_b * (size_t)s.n * blocks, ones);
    array a = draw_array(d, carrier, like, of_a * (size_t)(s.m * s.k));
    array b = draw_array(d, carrier, like, of_b * (size_t)(s.k * s.n));
    array c = draw_array(d, carrier, NULL, products * (size_t)(s.m * s.n)), y = array_copy(d, &c, size);
    counted counts;
    CASE("gemm_scaled %s carrier %d m %u n %u k %u batch %u shared %d %d", text, carrier, (unsigned)s.m, (unsigned)s.n,
         (unsigned)s.k, (unsigned)s.batch, shared_a, shared_b);
    const fpemu_status expected = fpemu_gemm_check(&spec, carrier, NULL);
    const fpemu_status status = fpemu_gemm_scaled(&spec, &s, carrier, alpha, a.data, scales_a.data, b.data,
                                                  scales_b.data, beta, y.data, count_into(&counts, 0));
    api_digest(&status, sizeof status);
    if (status != FPEMU_OK && status != FPEMU_ERROR_NAN) {
        INSIST(expected == FPEMU_OK || status == expected || status == FPEMU_ERROR_UNSUPPORTED, "another status");
        INSIST(expected != FPEMU_OK || !ones || spec.sum.chunk == 0, "a product with scales of 1 is refused");
        INSIST(memcmp(y.data, c.data, c.bytes) == 0, "a refused product wrote");
        counted_untouched(&counts, 0);
    } else {
        INSIST(expected == FPEMU_OK || c.bytes == 0, "fpemu_gemm_check and the call disagree");
        api_digest(y.data, y.bytes);
        counted_digest(&counts);
        array z = array_copy(d, &c, size);
        fpemu_gemm_scaled(&spec, &s, carrier, alpha, a.data, scales_a.data, b.data, scales_b.data, beta, z.data, NULL);
        INSIST(memcmp(y.data, z.data, c.bytes) == 0, "counting changes results");
        if (!many && carrier == F32)
            gemm_wider(d, &spec, &s, alpha, beta, &a, &scales_a, &b, &scales_b, &c, &y, status, &counts);
        if (ones) {
            z = array_copy(d, &c, size);
            fpemu_gemm_scaled(&spec, &s, carrier, alpha, a.data, NULL, b.data, NULL, beta, z.data, NULL);
            INSIST(memcmp(y.data, z.data, c.bytes) == 0, "scales of 1 change a product");
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- with gaps */
/* n elements, one every `step` places; negative: from the end. */
static array with_steps(draw *d, int carrier, const array *x, size_t n, int64_t step)
{
    const size_t size = carrier_size(carrier), wide = (size_t)llabs((long long)step);
    array y = array_new(d, n > 0 ? ((n - 1) * wide + 1) * size : 0, size);
    for (size_t i = 0; i < n; i++)
        memcpy(y.data + (step < 0 ? n - 1 - i : i) * wide * size, x->data + i * size, size);
    return y;
}

/* `lines` lines of `n` elements, `leading` elements apart. */
static array with_gaps(draw *d, int carrier, const array *x, size_t lines, size_t n, size_t leading)
{
    const size_t size = carrier_size(carrier);
    array y = array_new(d, lines > 0 && n > 0 ? ((lines - 1) * leading + n) * size : 0, size);
    for (size_t i = 0; i < lines && n > 0; i++)
        memcpy(y.data + i * leading * size, x->data + i * n * size, n * size);
    return y;
}

static void same_array(const array *got, const array *expected, const char *what)
{
    for (size_t i = 0; i < got->bytes; i++) { /* between the elements both have the pattern of their places */
        const unsigned char gap = (unsigned char)((got->before + i) * 37 + 11);
        const unsigned char wanted = (unsigned char)((expected->before + i) * 37 + 11);
        INSIST(got->data[i] == expected->data[i] || (got->data[i] == gap && expected->data[i] == wanted), what);
    }
}

/* A vector is a matrix of one column; steps and leading dimensions change nothing, and no gap is written. */
void api_gemv(draw *d)
{
    fpemu_gemm_spec spec;
    char text[1100] = "";
    if (!draw_model(d, &spec))
        return;
    fpemu_gemm_print(&spec, text, sizeof text);
    const int carrier = draw_carrier(d, 2);
    const size_t size = carrier_size(carrier);
    const uint32_t flags = draw_below(d, 256);
    int many;
    const uint32_t rows = draw_seldom(d, 30, &many), columns = draw_below(d, 30);
    many = many && fpemu_gemm_check(&spec, carrier, NULL) == FPEMU_OK;
    const size_t m = many ? 520 + rows : rows, n = many ? 520 + columns : columns, gap = flags >> 2 & 3;
    const int transpose = flags & 1, column_major = flags >> 1 & 1;
    const fpemu_order order = column_major ? FPEMU_ORDER_COLUMN_MAJOR : FPEMU_ORDER_ROW_MAJOR;
    const size_t lines = column_major ? n : m, length = column_major ? m : n, in = transpose ? m : n;
    const size_t out = transpose ? n : m;
    static const int64_t steps[] = {1, 2, -1, -3};
    const int64_t incx = steps[flags >> 4 & 3], incy = steps[flags >> 6];
    const double alpha = spec.start_from_c ? 1 : draw_below(d, 3) - 0.5,
                 beta = spec.start_from_c ? 1 : draw_below(d, 2);
    const fpemu_format *like = spec.a.format.kind != FPEMU_KIND_INVALID ? &spec.a.format : NULL;
    array a = draw_array(d, carrier, like, m * n), x = draw_array(d, carrier, like, in);
    array y = draw_array(d, carrier, NULL, out), plain = array_copy(d, &y, size);
    array wide_a = with_gaps(d, carrier, &a, lines, length, length + gap);
    array wide_x = with_steps(d, carrier, &x, in, incx), wide_y = with_steps(d, carrier, &y, out, incy);
    counted counts, again;
    CASE("gemv %s carrier %d m %zu n %zu transpose %d order %d gap %zu steps %d %d", text, carrier, m, n, transpose,
         column_major, gap, (int)incx, (int)incy);
    const fpemu_gemm_shape s =
        LIST(.m = out, .n = 1, .k = in, .order = (uint8_t)order, .transpose_a = (uint8_t)transpose, .lda = length,
             .ldb = column_major ? in : 1, .ldc = column_major ? out : 1);
    const fpemu_status expected = fpemu_gemm_scaled(&spec, &s, carrier, alpha, a.data, NULL, x.data, NULL, beta,
                                                    plain.data, count_into(&counts, 0));
    fpemu_stats *const stats = count_into(&again, 0);
    const size_t lda = length + gap > 0 ? length + gap : 1;
    const fpemu_status status = fpemu_gemv(&spec, order, transpose, m, n, carrier, alpha, wide_a.data, lda, wide_x.data,
                                           incx, beta, wide_y.data, incy, stats);
    api_digest(&status, sizeof status);
    INSIST(status == expected || m == 0 || n == 0, "a vector and a matrix of one column have two statuses");
    if (status == expected) {
        array wanted = with_steps(d, carrier, &plain, out, incy);
        same_array(&wide_y, &wanted, "a vector and a matrix of one column differ, or a gap was written");
        INSIST(status != FPEMU_OK || counted_same(&counts, &again, 1), "they count otherwise");
        if (status != FPEMU_OK && status != FPEMU_ERROR_NAN)
            counted_untouched(&again, 0);
        api_digest(plain.data, plain.bytes);
    }
}

/* A dot product is a product of one row and one column. */
void api_dot(draw *d)
{
    fpemu_gemm_spec spec;
    char text[1100] = "";
    if (!draw_model(d, &spec))
        return;
    fpemu_gemm_print(&spec, text, sizeof text);
    static const int64_t steps[] = {1, 3, -1, -2};
    const int carrier = draw_carrier(d, 2);
    const uint32_t flags = draw_below(d, 16);
    const size_t size = carrier_size(carrier), n = draw_below(d, 200);
    const int64_t incx = steps[flags & 3], incy = steps[flags >> 2];
    const fpemu_format *like = spec.a.format.kind != FPEMU_KIND_INVALID ? &spec.a.format : NULL;
    array x = draw_array(d, carrier, like, n), y = draw_array(d, carrier, like, n);
    array result = draw_array(d, carrier, NULL, 1), plain = array_copy(d, &result, size);
    array wide_x = with_steps(d, carrier, &x, n, incx), wide_y = with_steps(d, carrier, &y, n, incy);
    const fpemu_gemm_shape s = {.m = 1, .n = 1, .k = n};
    CASE("dot %s carrier %d n %zu steps %d %d", text, carrier, n, (int)incx, (int)incy);
    const fpemu_status expected =
        fpemu_gemm_scaled(&spec, &s, carrier, 1, x.data, NULL, y.data, NULL, spec.start_from_c, plain.data, NULL);
    counted counts;
    fpemu_stats *const stats = count_into(&counts, 0);
    const fpemu_status status = fpemu_dot(&spec, n, carrier, wide_x.data, incx, wide_y.data, incy, result.data, stats);
    api_digest(&status, sizeof status);
    INSIST(status == expected, "a dot product and a product of matrices have two statuses");
    INSIST(memcmp(result.data, plain.data, size) == 0, "a dot product and a product of matrices differ");
    if (status != FPEMU_OK && status != FPEMU_ERROR_NAN)
        counted_untouched(&counts, 0);
    api_digest(result.data, size);
}
