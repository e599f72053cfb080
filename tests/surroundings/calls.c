/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c - see calls.h. Nothing here computes in floating point: a caller's surroundings would see it. */
#include "calls.h"

static size_t size_of(int carrier)
{
    return carrier == 64 ? 8 : carrier == 32 ? 4 : 2;
}

/* -------------------------------------------------------------------------------------------------- numbers */
/* The bits of a number: any of the type; tiny; near 1; with few bits, as functions want them; the odd infinity or NaN,
 * a signalling one too. */
static uint64_t number(uint64_t *state, int carrier, int few, int specials)
{
    const int width = carrier < 0 ? 16 : carrier;
    const int fraction = carrier < 0 ? 7 : carrier == 16 ? 10 : carrier == 32 ? 23 : 52;
    const uint64_t sign = UINT64_C(1) << (width - 1), ones = sign - (UINT64_C(1) << fraction),
                   half = (ones >> 1) & ones;
    const uint64_t r = split_mix(state), s = split_mix(state);
    uint64_t x = r & (sign | (sign - 1));
    switch (s % 16) {
    case 0: x &= ~ones; break;                                 /* zero, subnormal */
    case 1: x = (x & sign) | (x & 1); break;                   /* zero, the smallest */
    case 2: x = (x & sign) | (ones - 1); break;                /* the largest */
    case 3: x = (x & sign) | (UINT64_C(1) << fraction); break; /* the smallest normal number */
    case 4: return specials && s % 7 == 0 ? (x & sign) | ones | (s >> 32) % 3 << (fraction - 2) : x & sign;
    case 5:
    case 6: break;
    default: x = (x & ~ones) | (half + ((s >> 8) % 9 - 4) * (UINT64_C(1) << fraction)); /* 1/16 to 32 */
    }
    if (few && carrier == 32)
        x &= ~UINT64_C(0xffff);
    if (few && carrier == 64) /* a normal number of binary32, or zero */
        x = s % 16 < 2 ? x & sign : (x & sign) | (896 + (s >> 16) % 254 + 1) << 52 | (r >> 20 & 0x7f) << 45;
    return (x & ones) == ones ? x & ~(UINT64_C(1) << fraction) : x;
}

static void fill_numbers(void *at, size_t bytes, int carrier, int few, int specials, uint64_t state)
{
    const size_t size = size_of(carrier);
    for (size_t i = 0; i + size <= bytes; i += size) {
        const uint64_t x = number(&state, carrier, few, specials);
        const uint32_t word = (uint32_t)x;
        const uint16_t half = (uint16_t)x;
        memcpy((char *)at + i, size == 2 ? (const void *)&half : size == 4 ? (const void *)&word : &x, size);
    }
}

static fpemu_status run_arith_scaled(const call *c, void *const *at);
static fpemu_status run_compare_scaled(const call *c, void *const *at);

void calls_fill(const call *c, void *const *at)
{
    const int few = !strcmp(c->group, "apply"), scaled = c->run == run_arith_scaled || c->run == run_compare_scaled;
    const int wide = c->carrier == 64 ? 64 : 32;
    for (int i = 0; i < CALL_ARRAYS; i++) {
        const size_t bytes = c->need[i].bytes;
        if (bytes == 0)
            continue;
        uint64_t state = (uint64_t)i * 1000003 + 17;
        if (i <= CALL_C) {
            fill_numbers(at[i], bytes, c->carrier, few, c->specials, state);
        } else if (i == CALL_SCALES_A || i == CALL_SCALES_B) {
            fill_numbers(at[i], bytes, wide, 1, 0, state);
            if (scaled && wide == 64) /* products are binary64 numbers */
                for (size_t j = 0; j < bytes; j += 8) {
                    const uint64_t one = UINT64_C(0x3ff) << 52 | (split_mix(&state) & 1) << 63;
                    memcpy((char *)at[i] + j, &one, 8);
                }
        } else if (i == CALL_RANGE_IN) {
            const fpemu_range range = {.count = 1000, .nonzero = 900, .amax = 3, .max = 3, .min = -2, .log2_max = 1.5};
            memcpy(at[i], &range, sizeof range);
        } else {
            for (size_t j = 0; j < bytes; j++)
                ((unsigned char *)at[i])[j] = (unsigned char)split_mix(&state);
        }
    }
    if (c->need[CALL_RANGE].bytes > 0)
        memset(at[CALL_RANGE], 0, c->need[CALL_RANGE].bytes);
    if (c->need[CALL_STATS].bytes > 0) {
        *(fpemu_stats *)at[CALL_STATS] =
            (fpemu_stats){.request = LIST(.want = c->want, .histogram_first = -20, .scale_first = -10,
                                          .histogram_length = (uint32_t)(c->need[CALL_HISTOGRAM].bytes / 8),
                                          .histogram = at[CALL_HISTOGRAM],
                                          .scale_length = (uint32_t)(c->need[CALL_SCALE_HISTOGRAM].bytes / 8),
                                          .scale_histogram = at[CALL_SCALE_HISTOGRAM])};
        for (int i = CALL_HISTOGRAM; i <= CALL_SCALE_HISTOGRAM; i++)
            if (c->need[i].bytes > 0)
                memset(at[i], 0, c->need[i].bytes);
    }
}

void calls_leave(call_room *room)
{
    for (int i = 0; i < CALL_ARRAYS; i++)
        free(room->arrays[i]);
}

void calls_place(call_room *room, const call *c, void **at)
{
    for (int i = 0; i < CALL_ARRAYS; i++) {
        const size_t bytes = c->need[i].bytes;
        if (bytes > room->capacity[i]) {
            free(room->arrays[i]);
            room->capacity[i] = 2 * bytes;
            room->arrays[i] = malloc(room->capacity[i]);
            if (room->arrays[i] == NULL)
                exit(77);
        }
        at[i] = bytes > 0 ? room->arrays[i] : NULL;
        if (bytes > 0)
            memset(at[i], 0x5a, bytes);
    }
    calls_fill(c, at);
}

uint64_t calls_digest(const call *c, void *const *at, fpemu_status status)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325) + (uint64_t)status;
    for (int i = CALL_FIRST_WRITTEN; i < CALL_ARRAYS; i++) {
        const size_t skip = i == CALL_STATS ? sizeof(fpemu_stats_request) : 0; /* pointers */
        if (c->need[i].bytes > 0)
            digest = fnv(digest, (const char *)at[i] + skip, c->need[i].bytes - skip);
    }
    return digest;
}

/* ---------------------------------------------------------------------------------------- calls on elements */
/* A call of the library with what the call c and its arrays `at` have for it. */
#define RUN(name, result)                                                                                              \
    static fpemu_status run_##name(const call *c, void *const *at)                                                     \
    {                                                                                                                  \
        return result;                                                                                                 \
    }
RUN(quantize, fpemu_quantize(&c->format, &c->rounding, c->carrier, c->n, at[CALL_A], at[CALL_Y], at[CALL_STATS]))
RUN(encode, fpemu_encode(&c->format, &c->rounding, c->carrier, c->n, at[CALL_A], at[CALL_CODES], at[CALL_STATS]))
RUN(decode, fpemu_decode(&c->format, c->carrier, c->n, at[CALL_CODES_IN], at[CALL_Y]))

/* One element at a time: values and codes. */
#define RUN_ONES(bits, type)                                                                                           \
    static void run_ones_##bits(const call *c, const type *x, type *y, uint64_t *codes)                                \
    {                                                                                                                  \
        for (size_t i = 0; i < c->n; i++) {                                                                            \
            y[2 * i] = fpemu_quantize_one_f##bits(&c->format, &c->rounding, x[i], i);                                  \
            codes[i] = fpemu_encode_one_f##bits(&c->format, &c->rounding, x[i], i);                                    \
            y[2 * i + 1] = fpemu_decode_one_f##bits(&c->format, codes[i]);                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void run_operations_##bits(const call *c, const type *a, const type *b, type *y)                            \
    {                                                                                                                  \
        for (size_t i = 0; i < c->n; i++) {                                                                            \
            const fpemu_operation operation = (fpemu_operation)(i % FPEMU_OPERATION_COUNT);                            \
            const fpemu_function function = (fpemu_function)(i % FPEMU_FUNCTION_COUNT);                                \
            y[2 * i] = fpemu_arith_one_f##bits(&c->format, &c->rounding, operation, a[i], b[i], a[0], i);              \
            y[2 * i + 1] = fpemu_apply_one_f##bits(&c->format, &c->rounding, function, a[i], i);                       \
        }                                                                                                              \
    }
RUN_ONES(32, float)
RUN_ONES(64, double)

RUN(ones, (c->carrier == 64 ? run_ones_64(c, at[CALL_A], at[CALL_Y], at[CALL_CODES])
                            : run_ones_32(c, at[CALL_A], at[CALL_Y], at[CALL_CODES]),
           FPEMU_OK))
RUN(operations_one, (c->carrier == 64 ? run_operations_64(c, at[CALL_A], at[CALL_B], at[CALL_Y])
                                      : run_operations_32(c, at[CALL_A], at[CALL_B], at[CALL_Y]),
                     FPEMU_OK))

/* Operands: two arrays and a number. */
static const size_t steps[3] = {1, 1, 0};

static fpemu_status run_arith(const call *c, void *const *at)
{
    const void *const operands[3] = {at[CALL_A], at[CALL_B], at[CALL_C]}, *const o = operands;
    return fpemu_arith(&c->format, &c->rounding, c->carrier, (fpemu_operation)c->which, c->n, o, steps, at[CALL_Y],
                       at[CALL_STATS]);
}

enum { SCALE_LENGTH = 32 };

static fpemu_status run_arith_scaled(const call *c, void *const *at)
{
    const void *const operands[3] = {at[CALL_A], at[CALL_B], at[CALL_C]}, *const o = operands;
    const fpemu_operand_scales s[3] = {{{at[CALL_SCALES_A]}, SCALE_LENGTH, 0}, {{at[CALL_SCALES_B]}, 0, 0}};
    return fpemu_arith_scaled(&c->format, &c->rounding, c->carrier, (fpemu_operation)c->which, c->n, o, steps, s,
                              at[CALL_Y], at[CALL_STATS]);
}

RUN(apply, fpemu_apply(&c->format, &c->rounding, c->carrier, (fpemu_function)c->which, c->n, at[CALL_A], at[CALL_Y],
                       at[CALL_STATS]))

/* The table is no array of the call: it is as large as all of them, and filled by the call itself. */
static fpemu_status run_table(const call *c, void *const *at)
{
    static uint16_t table[65536];
    const fpemu_function function = (fpemu_function)c->which;
    const fpemu_status status = fpemu_function_table(&c->format, &c->rounding, c->carrier, function, table);
    return status ? status : fpemu_function_look_up(table, c->n, at[CALL_A], at[CALL_Y]);
}

static fpemu_status run_compare(const call *c, void *const *at)
{
    const void *const operands[2] = {at[CALL_A], at[CALL_B]}, *const o = operands;
    return fpemu_compare(c->carrier, (fpemu_relation)c->which, c->n, o, NULL, at[CALL_Y]);
}

static fpemu_status run_compare_scaled(const call *c, void *const *at)
{
    const void *const operands[2] = {at[CALL_A], at[CALL_B]}, *const o = operands;
    const fpemu_operand_scales s[2] = {{{at[CALL_SCALES_A]}, SCALE_LENGTH, 0}, {{at[CALL_SCALES_B]}, SCALE_LENGTH, 0}};
    return fpemu_compare_scaled(c->carrier, (fpemu_relation)c->which, c->n, o, NULL, s, at[CALL_Y]);
}

/* ---------------------------------------------------------------------------------------------- tensors */
RUN(quantize_tensor,
    fpemu_quantize_tensor(&c->format, &c->rounding, c->carrier, &c->shape, at[CALL_A], at[CALL_Y], at[CALL_STATS]))

/* With the range of a whole tensor. */
static fpemu_status run_slice(const call *c, void *const *at)
{
    fpemu_shape shape = c->shape;
    shape.whole = at[CALL_RANGE_IN];
    return fpemu_quantize_tensor(&c->format, &c->rounding, c->carrier, &shape, at[CALL_A], at[CALL_Y], at[CALL_STATS]);
}

RUN(scales,
    fpemu_scales(&c->format, c->carrier, &c->shape, at[CALL_A], at[CALL_SCALES], at[CALL_SCALE_CODES], at[CALL_TENSOR]))
RUN(pack, fpemu_pack(&c->format, &c->rounding, c->carrier, &c->shape, at[CALL_A], at[CALL_BYTES], at[CALL_STATS]))

static fpemu_status run_pack_blocks(const call *c, void *const *at)
{
    fpemu_shape shape = c->shape;
    shape.whole = at[CALL_RANGE_IN];
    const fpemu_status status = fpemu_pack_tensor_scales(&c->format, &shape, at[CALL_BYTES]);
    return status ? status
                  : fpemu_pack_blocks(&c->format, &c->rounding, c->carrier, &c->shape, c->first, c->count, at[CALL_A],
                                      at[CALL_BYTES], at[CALL_STATS]);
}

RUN(unpack, fpemu_unpack(&c->format, c->carrier, &c->shape, at[CALL_BYTES_IN], at[CALL_Y]))
RUN(unpack_blocks,
    fpemu_unpack_blocks(&c->format, c->carrier, &c->shape, c->first, c->count, at[CALL_BYTES_IN], at[CALL_Y]))
RUN(unpack_scales,
    fpemu_unpack_scales(&c->format, c->carrier, &c->shape, c->first, c->count, at[CALL_BYTES_IN], at[CALL_SCALES]))
RUN(measure, fpemu_measure(&c->format, c->carrier, c->n, at[CALL_A], at[CALL_RANGE]))
RUN(swizzle, fpemu_swizzle_scales(c->product.m, c->product.n, at[CALL_BYTES_IN], at[CALL_BYTES]))
RUN(unswizzle, fpemu_unswizzle_scales(c->product.m, c->product.n, at[CALL_BYTES_IN], at[CALL_BYTES]))

/* ---------------------------------------------------------------------------------------------- products */
static fpemu_status run_gemm(const call *c, void *const *at)
{
    const int plain = c->gemm.start_from_c;
    const double alpha = plain ? 1 : c->carrier == 64 ? 0.5 : 0x1p-140, beta = plain ? 1 : -0.75;
    return fpemu_gemm(&c->gemm, &c->product, c->carrier, alpha, at[CALL_A], at[CALL_B], beta, at[CALL_Y],
                      at[CALL_STATS]);
}

RUN(gemm_scaled, fpemu_gemm_scaled(&c->gemm, &c->product, c->carrier, 1, at[CALL_A], at[CALL_SCALES_A], at[CALL_B],
                                   at[CALL_SCALES_B], 0, at[CALL_Y], at[CALL_STATS]))
RUN(gemv,
    fpemu_gemv(&c->gemm, FPEMU_ORDER_ROW_MAJOR, 0, (size_t)c->product.m, (size_t)c->product.k, c->carrier, 1,
               at[CALL_A], (size_t)c->product.k, at[CALL_B], 1, c->gemm.start_from_c, at[CALL_Y], 1, at[CALL_STATS]))
RUN(dot,
    fpemu_dot(&c->gemm, (size_t)c->product.k, c->carrier, at[CALL_A], 1, at[CALL_B], 1, at[CALL_Y], at[CALL_STATS]))

/* ---------------------------------------------------------------------------------- formats, texts, the rest */
enum { WORDS = 600 }; /* of the results below */

static void put(uint64_t **to, double x)
{
    memcpy((*to)++, &x, sizeof x);
}

/* All that is asked of one format. */
static fpemu_status run_format(const call *c, void *const *at)
{
    const fpemu_format *const f = &c->format;
    uint64_t *to = at[CALL_Y], codes[256];
    char text[256] = "";
    fpemu_format again;
    double values[256] = {0};
    size_t count = 0;
    fpemu_parse_error error = {0};
    fpemu_layout layout;
    memset(codes, 0, sizeof codes);
    *to++ = (uint64_t)fpemu_format_print(f, text, sizeof text);
    *to++ = (uint64_t)fpemu_format_parse(text, &again, &error);
    *to++ = (uint64_t)fpemu_format_equal(f, &again);
    *to++ = (uint64_t)fpemu_format_complete(&again);
    EACH(put(&to, fpemu_format_max(f)), put(&to, fpemu_format_lowest(f)), put(&to, fpemu_format_min_normal(f)),
         put(&to, fpemu_format_min_positive(f)), put(&to, fpemu_format_epsilon(f)),
         put(&to, fpemu_format_bits_per_element(f)));
    *to++ = fpemu_format_value_count(f);
    *to++ = fpemu_format_nan_count(f);
    *to++ = fpemu_format_code_size(f);
    *to++ = (uint64_t)fpemu_format_fits_f32(f) + 2 * (uint64_t)fpemu_format_fits_f64(f) +
            4 * (uint64_t)fpemu_format_fits_f16(f) + 8 * (uint64_t)fpemu_format_fits_bf16(f);
    const double *const x = at[CALL_A];
    for (size_t i = 0; i < 32; i++) {
        *to++ = (uint64_t)fpemu_format_represents(f, x[i]);
        put(&to, fpemu_format_next_up(f, x[i]));
        put(&to, fpemu_format_next_down(f, x[i]));
    }
    *to++ = (uint64_t)fpemu_format_enumerate(f, 256, values, codes, &count);
    *to++ = count;
    *to++ = fnv(0, values, sizeof values);
    *to++ = fnv(0, codes, sizeof codes);
    *to++ = (uint64_t)fpemu_format_element(f, &again);
    *to++ = fnv(0, &again, offsetof(fpemu_format, table));
    *to++ = (uint64_t)fpemu_format_scale(f, &again);
    *to++ = (uint64_t)fpemu_packed_layout(f, &c->shape, &layout);
    *to++ = fnv(0, &layout, sizeof layout);
    *to++ = fpemu_packed_size(f, &c->shape);
    *to++ = (uint64_t)fpemu_check(f, &c->rounding, 32, NULL) + 16 * (uint64_t)fpemu_check(f, &c->rounding, 64, NULL);
    return FPEMU_OK;
}

/* Texts and constructors, with parameters of all kinds. */
static fpemu_status run_texts(const call *c, void *const *at)
{
    static const char *const texts[] = LIST(
        "e4m3fn:saturate", "int(8,scale=0.1)", "int(8,scale=1e-40,zero=3)", "int(4,scale=3.0000000000000000001)",
        "float(e=11,m=52)", "fp(3,2,-7)", "p3109(8,3,se)", "mx(e2m1,block=17)", "group(int4,128)", "scaled(e4m3fn)",
        "int(8,scale=1e400)", "e4m3fn:nonsense", "fixed(8,", "", "mxfp4", "codebook(dynamic8,100)", "muppet(8)");
    static const char *const models[] = LIST("chunk(64,fp(6,9,0)); ab=e5m2", "tc(h100,fp16)",
                                             "int(32,wrap); ab=int(8,scale=0.5)", "seq(mxfp4)", "kahan(bf16");
    uint64_t *to = at[CALL_Y];
    fpemu_format f, g;
    fpemu_rounding r;
    fpemu_gemm_spec spec;
    fpemu_parse_error error;
    fpemu_function function = FPEMU_FUNCTION_EXP;
    const double *const x = at[CALL_A];
    const float *const table = at[CALL_B];
    float memory[FPEMU_CODES_MEMORY(4)] = {0};
    char text[1024];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        memset(&error, 0, sizeof error);
        *to++ = (uint64_t)fpemu_format_parse(texts[i], &f, &error);
        *to++ = fnv(error.position, error.message, sizeof error.message);
        *to++ = fnv(0, &f, offsetof(fpemu_format, table));
        memset(text, 0, sizeof text);
        *to++ = (uint64_t)fpemu_format_print(&f, text, sizeof text);
        *to++ = fnv(0, text, sizeof text);
    }
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        memset(&error, 0, sizeof error);
        memset(text, 0, sizeof text);
        *to++ = (uint64_t)fpemu_gemm_parse(models[i], &spec, &error);
        *to++ = (uint64_t)fpemu_gemm_print(&spec, text, sizeof text);
        *to++ = fnv(error.position, text, sizeof text);
        *to++ = (uint64_t)fpemu_gemm_check(&spec, 32, NULL);
    }
    for (unsigned i = 0; fpemu_compat_name(i) != NULL; i++) {
        *to++ = (uint64_t)fpemu_rounding_parse(fpemu_compat_name(i), &r, NULL);
        *to++ = fpemu_random_bits(&r, i) + fpemu_random_word(FPEMU_GENERATOR_PHILOX, 1, 2, i);
    }
    for (int i = 0; i < 24; i++) {
        *to++ = (uint64_t)fpemu_format_int(&f, 8, 1, x[i], 0);
        *to++ = fnv((uint64_t)fpemu_format_fits_f32(&f), &f, offsetof(fpemu_format, table));
    }
    *to++ = (uint64_t)fpemu_format_float(&f, 11, 52, FPEMU_BIAS_DEFAULT, FPEMU_SPECIALS_IEEE, 1);
    *to++ = (uint64_t)fpemu_format_float(&f, 8, 23, 300, FPEMU_SPECIALS_FN, 1);
    *to++ = (uint64_t)fpemu_format_lee(&f, 4, 3, 7);
    *to++ = (uint64_t)fpemu_format_p3109(&f, 8, 3, 1, 1);
    *to++ = (uint64_t)fpemu_format_fixed(&f, 40, 1000, 1);
    *to++ = (uint64_t)fpemu_format_posit(&f, 32, 4);
    *to++ = (uint64_t)fpemu_format_table(&f, 4, table);
    *to++ = fnv((uint64_t)fpemu_format_codes(&f, 4, table, memory), memory, sizeof memory);
    *to++ = (uint64_t)fpemu_format_codebook(&f, FPEMU_CODEBOOK_DYNAMIC, 8);
    *to++ = fnv((uint64_t)fpemu_format_named(FPEMU_NAME_E4M3FN, &g), &g, offsetof(fpemu_format, table));
    *to++ = (uint64_t)fpemu_format_blocked(&f, &g, FPEMU_SCALING_ABSMAX, &g, 0, FPEMU_BLOCK_RUN, 0, 32);
    *to++ = (uint64_t)fpemu_gemm_tensor_core(&spec, FPEMU_GPU_H100, FPEMU_NAME_BINARY16, FPEMU_NAME_BINARY32);
    *to++ = (uint64_t)fpemu_function_named("gelu", &function) + (uint64_t)function;
    *to++ = fnv(0, fpemu_status_text(FPEMU_ERROR_SPEC), 4) + fnv(0, fpemu_mode_long_name(FPEMU_MODE_RNE), 4) +
            fnv(0, fpemu_mode_name(FPEMU_MODE_RNE), 3) + fnv(0, fpemu_function_name(function), 3) +
            fnv(0, fpemu_format_name(FPEMU_NAME_E5M2, 0), 3) + fpemu_sizeof("stats") + (uint64_t)fpemu_version();
    (void)c;
    return FPEMU_OK;
}

/* Counters added up and read; the history of a delayed scale. */
static fpemu_status run_stats(const call *c, void *const *at)
{
    uint64_t *to = at[CALL_Y];
    fpemu_stats *const s = at[CALL_STATS], other;
    fpemu_status status = fpemu_quantize_f64(&c->format, &c->rounding, c->n, at[CALL_A], at[CALL_BYTES], s);
    other = (fpemu_stats){.request = {.want = FPEMU_STATS_SUMS}};
    s->request.want = FPEMU_STATS_SUMS;
    status = status ? status : fpemu_stats_merge(&other, s);
    status = status ? status : fpemu_stats_merge(s, &other);
    put(&to, fpemu_stats_sum_error(s));
    put(&to, fpemu_stats_sum_error2(s));
    put(&to, fpemu_stats_sum_square(s));
    put(&to, fpemu_stats_sqnr(s));
    double history[3] = {0, 0, 0};
    fpemu_delayed delayed = {.history = history, .length = 3};
    fpemu_range range = {0};
    status = status ? status : fpemu_measure_f64(&c->format, 8, at[CALL_A], &range);
    for (int i = 0; i < 5 && !status; i++)
        status = fpemu_delayed_update(&delayed, &range);
    put(&to, delayed.range.amax);
    const uint64_t sizes[3] = {3, 4, 5};
    fpemu_shape shape, vector = fpemu_shape_vector(9);
    status = status ? status : fpemu_shape_of(3, sizes, -1, &shape);
    *to++ = fnv(vector.length, &shape, sizeof shape);
    *to++ = fpemu_swizzled_size(200, 7);
    *to++ = fnv(0, fpemu_variant_available(0), 4) + (fpemu_variant() != NULL);
    return status;
}

/* ------------------------------------------------------------------------------------------------- the list */
typedef struct walk {
    void (*visit)(const call *c, void *context);
    void *context;
    size_t visited, n;
    int threads; /* only what threads share */
} walk;

typedef struct needed {
    call_array array;
    size_t bytes, alignment;
} needed;

/* NEED(call, {array, bytes, alignment}, ...) */
#define NEED(call, ...) need_all(call, (const needed[]){__VA_ARGS__, {CALL_ARRAYS, 0, 0}})

static void need_all(call *c, const needed *n)
{
    for (; n->array < CALL_ARRAYS; n++) {
        c->need[n->array].bytes = n->bytes;
        c->need[n->array].alignment = n->alignment;
    }
}

/* Numbers that are read, and as many that are written. */
static void need_numbers(call *c, size_t n, size_t size)
{
    NEED(c, {CALL_A, n * size, size}, {CALL_Y, n * size, size});
}

static void need_stats(call *c, uint32_t want)
{
    c->want = want;
    NEED(c, {CALL_STATS, sizeof(fpemu_stats), 8}, {CALL_HISTOGRAM, want & FPEMU_STATS_HISTOGRAM ? 40 * 8 : 0, 8},
         {CALL_SCALE_HISTOGRAM, want & FPEMU_STATS_SCALES ? 24 * 8 : 0, 8});
}

static void visit(walk *w, const call *c)
{
    w->visited++;
    w->visit(c, w->context);
}

/* The call as it stands, then with counters. */
static void visit_counted(walk *w, call c, uint32_t want)
{
    visit(w, &c);
    if (w->threads)
        return;
    strcat(c.name, " counted");
    need_stats(&c, want);
    visit(w, &c);
}

static call begin(const char *group, const char *verb, fpemu_status (*run)(const call *, void *const *),
                  const call *like)
{
    call c = *like;
    c.group = group;
    c.run = run;
    c.by_value =
        run == run_ones || run == run_operations_one || run == run_format || run == run_texts || run == run_stats;
    (void)snprintf(c.name, sizeof c.name, "%s %.200s", verb, like->name);
    return c;
}

static int works(fpemu_status status)
{
    return status == FPEMU_OK;
}

/* All operations and functions with the first formats; some with each of the others, as it is their turn. */
static void visit_operations(walk *w, const call *like, int turn)
{
    const size_t n = like->n, size = size_of(like->carrier), wide = like->carrier == 64 ? 8 : 4;
    for (int operation = 0; operation < (w->threads ? 1 : FPEMU_OPERATION_COUNT); operation++) {
        if (operation % 3 != turn % 3 && turn >= 3)
            continue;
        call c = begin("arith", "arith", run_arith, like);
        (void)snprintf(c.name + strlen(c.name), 24, " operation %d", operation);
        c.which = operation;
        need_numbers(&c, n, size);
        NEED(&c, {CALL_B, operation == FPEMU_OPERATION_SQRT ? 0 : n * size, size},
             {CALL_C, operation == FPEMU_OPERATION_FMA ? size : 0, size});
        visit_counted(w, c, FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM);
        c.group = "arith_scaled";
        c.run = run_arith_scaled;
        memcpy(c.name, "scale", 5);
        NEED(&c, {CALL_SCALES_A, (n + SCALE_LENGTH - 1) / SCALE_LENGTH * wide, wide},
             {CALL_SCALES_B, operation == FPEMU_OPERATION_SQRT ? 0 : wide, wide});
        visit_counted(w, c, FPEMU_STATS_SUMS);
    }
    if (!fpemu_format_fits_f32(&like->format))
        return;
    for (int function = 0; function < (w->threads ? 1 : FPEMU_FUNCTION_COUNT); function++) {
        if (function % 9 != turn % 9 && turn > 0)
            continue;
        call c = begin("apply", "apply", run_apply, like);
        (void)snprintf(c.name + strlen(c.name), 24, " function %d", function);
        c.which = function;
        c.n = w->threads ? n : n / 4;
        need_numbers(&c, c.n, size);
        if (like->carrier != FPEMU_TYPE_F16 || !c.specials)
            visit_counted(w, c, FPEMU_STATS_SUMS);
    }
    if (size < 4 && turn < 4 && !FPEMU_MODE_DRAWS(like->rounding.mode)) {
        call c = begin("apply", "table", run_table, like);
        c.which = FPEMU_FUNCTION_RSQRT;
        need_numbers(&c, n, size);
        visit(w, &c);
    }
    if (w->threads || size < 4)
        return;
    call c = begin("apply", "operations one by one", run_operations_one, like);
    c.n = 135;
    NEED(&c, {CALL_A, c.n * size, size}, {CALL_B, c.n * size, size}, {CALL_Y, 2 * c.n * size, size});
    visit(w, &c);
}

static void visit_scalar(walk *w, const call *like)
{
    const size_t n = like->n, size = size_of(like->carrier), code = fpemu_format_code_size(&like->format);
    call c = begin(like->format.scaling ? "tensor" : "quantize", "quantize", run_quantize, like);
    need_numbers(&c, n, size);
    visit_counted(w, c, FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM);
    if (like->format.scaling == FPEMU_SCALING_NONE) {
        c = begin("quantize", "encode", run_encode, like);
        NEED(&c, {CALL_A, n * size, size}, {CALL_CODES, n * code, 1});
        visit_counted(w, c, FPEMU_STATS_SUMS);
        c = begin("quantize", "decode", run_decode, like);
        NEED(&c, {CALL_CODES_IN, n * code, 1}, {CALL_Y, n * size, size});
        visit(w, &c);
        if (size >= 4 && !w->threads) {
            c = begin("quantize", "one by one", run_ones, like);
            c.n = 100;
            NEED(&c, {CALL_A, c.n * size, size}, {CALL_Y, 2 * c.n * size, size}, {CALL_CODES, c.n * 8, 8});
            visit(w, &c);
        }
    }
}

static void visit_tensor(walk *w, const call *like)
{
    const int blocked = like->format.scaling != FPEMU_SCALING_NONE, s2fp8 = like->format.scaling == FPEMU_SCALING_S2FP8;
    const size_t size = size_of(like->carrier), wide = like->carrier == 64 ? 8 : 4;
    const uint32_t want = FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | (blocked && !s2fp8 ? FPEMU_STATS_SCALES : 0);
    for (int layout = 0; layout < (w->threads ? 1 : 3); layout++) {
        call c = begin("tensor",
                       layout == 0   ? "tensor"
                       : layout == 1 ? "columns"
                                     : "strided",
                       run_quantize_tensor, like);
        fpemu_shape s = {.outer = 2,
                         .rows = layout == 1  ? 3
                                 : w->threads ? 8
                                              : 4,
                         .inner = layout == 1 ? 19 : 1,
                         .length = 0};
        s.length = like->n / (s.outer * s.rows * s.inner) + 1;
        const size_t n = (size_t)(s.outer * s.rows * s.inner * s.length);
        size_t places = n;
        if (layout == 2) { /* every other place, lines in another order */
            s.x_stride[3] = s.y_stride[3] = 1;
            s.x_stride[1] = s.y_stride[1] = 2;
            s.x_stride[2] = s.y_stride[2] = 2 * (int64_t)s.rows;
            s.x_stride[0] = s.y_stride[0] = 2 * (int64_t)(s.rows * s.length);
            places = 2 * n - 1;
        }
        c.shape = s;
        need_numbers(&c, places, size);
        visit_counted(w, c, want);
        call slice = c;
        slice.run = run_slice;
        memcpy(slice.name, "slice ", 6);
        NEED(&slice, {CALL_RANGE_IN, sizeof(fpemu_range), 8});
        if (blocked && !w->threads)
            visit(w, &slice);
        fpemu_layout packed;
        if (fpemu_packed_layout(&c.format, &c.shape, &packed) != FPEMU_OK || packed.bytes == 0)
            continue;
        call p = begin("pack", "pack", run_pack, like);
        p.shape = s;
        NEED(&p, {CALL_A, places * size, size}, {CALL_BYTES, (size_t)packed.bytes, 1});
        visit_counted(w, p, want);
        p = begin("pack", "unpack", run_unpack, like);
        p.shape = s;
        NEED(&p, {CALL_BYTES_IN, (size_t)packed.bytes, 1}, {CALL_Y, places * size, size});
        visit(w, &p);
        if (layout == 2)
            continue;
        p.first = packed.blocks / 3;
        p.count = (packed.blocks + 1) / 2;
        if (blocked && !s2fp8) {
            call v = p;
            v.group = "tensor";
            v.run = run_unpack_scales;
            (void)snprintf(v.name, sizeof v.name, "unpack_scales %.200s", like->name);
            NEED(&v, {CALL_Y, 0, 1}, {CALL_SCALES, (size_t)p.count * wide, wide});
            visit(w, &v);
            v = begin("tensor", "scales", run_scales, like);
            v.shape = s;
            NEED(&v, {CALL_A, places * size, size}, {CALL_SCALES, (size_t)packed.blocks * wide, wide},
                 {CALL_SCALE_CODES, (size_t)(packed.blocks * packed.scale_bytes), 1},
                 {CALL_TENSOR, 2 * sizeof(float), 4});
            visit(w, &v);
        }
        size_t some = 0;
        for (uint64_t b = p.first; b < p.first + p.count; b++) {
            fpemu_extent extent;
            some += fpemu_packed_extent(&c.format, &s, b, &extent) == FPEMU_OK ? (size_t)extent.elements : 0;
        }
        p.run = run_unpack_blocks;
        (void)snprintf(p.name, sizeof p.name, "unpack_blocks %.200s", like->name);
        NEED(&p, {CALL_Y, some * size, size});
        visit(w, &p);
        p = begin("pack", "pack_blocks", run_pack_blocks, like);
        p.shape = s;
        p.first = packed.blocks / 3;
        p.count = (packed.blocks + 1) / 2;
        NEED(&p, {CALL_A, some * size, size}, {CALL_BYTES, (size_t)packed.bytes, 1},
             {CALL_RANGE_IN, sizeof(fpemu_range), 8});
        visit_counted(w, p, want);
    }
    call m = begin("tensor", "measure", run_measure, like);
    NEED(&m, {CALL_A, like->n * size, size}, {CALL_RANGE, sizeof(fpemu_range), 8});
    visit(w, &m);
}

static void visit_formats(walk *w)
{
    static const char *const specs[] =
        LIST("e4m3fn", "e5m2:saturate", "fp16", "fp32", "fp64", "fp(4,3,7)", "e8m0", "dlfloat16", "e2m1", "fixed(8,4)",
             "fixed(40,20)", "ufixed(8,8):wrap", "int8", "int(8,scale=0.1)", "int(32)", "posit(8,1)", "posit(32,2)",
             "table(nf4)", "table(dynamic8)", "mxfp4", "mxint8", "nvfp4", "nf4", "s2fp8", "bfp(7)", "bfp(7,block=3x5)",
             "hbfp(7)", "q8_0", "group(int4,24)", "scaled(e5m2,block=row)", "scaled(e4m3fn,block=channel)", "muppet(8)",
             "codebook(dynamic8,100)", "mx(posit(8,1))", "group(fixed(40,20),24)");
    static const char *const large[] = {"e4m3fn", "fp64", "mxfp4", "nvfp4"};
    static const char *const roundings[] =
        LIST("rne", "rtz", "sr", "rto", "qpytorch", "cpfloat-sr", "pytorch-multiply", "ml-dtypes", "muppet");
    static const int carriers[] = {32, 64, 16, -16};
    const size_t count = w->threads ? sizeof large / sizeof *large : sizeof specs / sizeof *specs;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < (w->threads ? 1 : sizeof roundings / sizeof *roundings); j++) {
            for (size_t k = w->threads ? i % 2 : 0; k < (w->threads ? i % 2 + 1 : 4); k++) {
                call like = {.n = w->n, .carrier = carriers[k]};
                const char *const spec = w->threads ? large[i] : specs[i];
                if (!works(fpemu_format_parse(spec, &like.format, NULL)) ||
                    !works(fpemu_rounding_parse(roundings[j], &like.rounding, NULL))) {
                    fprintf(stderr, "cannot read %s or %s\n", spec, roundings[j]);
                    exit(1);
                }
                like.rounding.seed = 5;
                like.rounding.bits = j == 2 ? 11 : 0;
                if (!works(fpemu_check(&like.format, &like.rounding, like.carrier, NULL)))
                    continue;
                for (int specials = j > 0 && !w->threads; specials < (w->threads ? 1 : 2); specials++) {
                    like.specials = specials;
                    (void)snprintf(like.name, sizeof like.name, "%s %s carrier %d%s", spec, roundings[j], like.carrier,
                                   specials ? " specials" : "");
                    visit_scalar(w, &like);
                    visit_tensor(w, &like);
                    const int plain = like.format.kind == FPEMU_KIND_FLOAT || like.format.kind == FPEMU_KIND_POSIT;
                    if (plain && like.format.scaling == FPEMU_SCALING_NONE &&
                        like.rounding.compat == FPEMU_COMPAT_NONE && j % 2 == 0 && specials == !w->threads)
                        visit_operations(w, &like, (int)(i + k + j / 2));
                }
                if (k == 0 && !w->threads) {
                    call c = begin("format", "format", run_format, &like);
                    c.shape = fpemu_shape_vector(1000);
                    NEED(&c, {CALL_A, 32 * sizeof(double), 8}, {CALL_Y, WORDS * 8, 8});
                    c.specials = 1;
                    c.carrier = 64;
                    visit(w, &c);
                }
            }
        }
    }
}

static void visit_products(walk *w)
{
    static const char *const specs[] =
        LIST("fp32", "fp64", "seq(fp(6,9,0)/sr)", "seq(fp16); ab=e5m2; product=fp16", "chunk(16,fp(6,9,0)); ab=e5m2",
             "pairwise(fp16)", "kahan(bf16); product=bf16", "tc(h100,fp16)", "tc(h100,e4m3fn,promote=64)",
             "tc(v100,fp16)", "int(32,saturate); ab=fixed(8,4)", "seq(fp32); ab=mxfp4; out=posit(16,1)",
             "seq(fp64); out=e4m3fn/sr", "seq(posit(16,1))");
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        for (int carrier = 32; carrier <= 64; carrier += 32) {
            call like = {.carrier = carrier, .specials = 1};
            fpemu_parse_error error;
            if (!works(fpemu_gemm_parse(specs[i], &like.gemm, &error)) ||
                !works(fpemu_gemm_check(&like.gemm, carrier, NULL))) /* one of these may be no model */
                continue;
            const size_t size = size_of(carrier), m = w->threads ? 64 : 9, n = w->threads ? 80 : 37;
            const size_t k = w->threads ? 64 : 70;
            like.product.m = m;
            like.product.n = n;
            like.product.k = k;
            (void)snprintf(like.name, sizeof like.name, "%s carrier %d", specs[i], carrier);
            call c = begin("gemm", "gemm", run_gemm, &like);
            NEED(&c, {CALL_A, m * k * size, size}, {CALL_B, k * n * size, size}, {CALL_Y, m * n * size, size});
            visit_counted(w, c, 0);
            const size_t chunk = like.gemm.sum.chunk;
            if (chunk > 0) {
                c = begin("gemm", "gemm_scaled", run_gemm_scaled, &like);
                c.gemm.start_from_c = 0;
                NEED(&c, {CALL_A, m * k * size, size}, {CALL_B, k * n * size, size},
                     {CALL_SCALES_A, m * ((k + chunk - 1) / chunk) * size, size},
                     {CALL_SCALES_B, n * ((k + chunk - 1) / chunk) * size, size}, {CALL_Y, m * n * size, size});
                visit_counted(w, c, 0);
            }
            c = begin("gemm", "gemv", run_gemv, &like);
            NEED(&c, {CALL_A, m * k * size, size}, {CALL_B, k * size, size}, {CALL_Y, m * size, size});
            visit_counted(w, c, 0);
            c = begin("gemm", "dot", run_dot, &like);
            NEED(&c, {CALL_A, k * size, size}, {CALL_B, k * size, size}, {CALL_Y, size, size});
            visit_counted(w, c, 0);
        }
    }
}

static void visit_rest(walk *w)
{
    static const int carriers[] = {32, 64, 16, -16};
    for (size_t k = 0; k < 4; k++) {
        for (int relation = 0; relation < FPEMU_RELATION_COUNT; relation++) {
            call like = {.carrier = carriers[k], .specials = 1, .which = relation, .n = w->n};
            const size_t size = size_of(like.carrier), wide = like.carrier == 64 ? 8 : 4;
            (void)snprintf(like.name, sizeof like.name, "relation %d carrier %d", relation, like.carrier);
            call c = begin("compare", "compare", run_compare, &like);
            NEED(&c, {CALL_A, like.n * size, size}, {CALL_B, like.n * size, size}, {CALL_Y, like.n, 1});
            visit(w, &c);
            c.run = run_compare_scaled;
            c.group = "compare";
            memcpy(c.name, "compare+", 8);
            NEED(&c, {CALL_SCALES_A, (like.n + SCALE_LENGTH - 1) / SCALE_LENGTH * wide, wide});
            visit(w, &c);
        }
    }
    if (w->threads)
        return;
    call like = {.carrier = 64, .specials = 1, .n = 40, .product = {.m = 200, .n = 7}};
    (void)fpemu_format_parse("e4m3fn", &like.format, NULL);
    (void)snprintf(like.name, sizeof like.name, "of 200 x 7");
    const size_t tiled = (size_t)fpemu_swizzled_size(200, 7);
    call c = begin("format", "swizzle", run_swizzle, &like);
    NEED(&c, {CALL_BYTES_IN, 200 * 7, 1}, {CALL_BYTES, tiled, 1});
    visit(w, &c);
    c = begin("format", "unswizzle", run_unswizzle, &like);
    NEED(&c, {CALL_BYTES_IN, tiled, 1}, {CALL_BYTES, 200 * 7, 1});
    visit(w, &c);
    c = begin("format", "texts", run_texts, &like);
    NEED(&c, {CALL_A, 32 * sizeof(double), 8}, {CALL_B, 4 * sizeof(double), 8}, {CALL_Y, WORDS * 8, 8});
    visit(w, &c);
    c = begin("quantize", "stats", run_stats, &like);
    c.want = FPEMU_STATS_SUMS;
    NEED(&c, {CALL_A, like.n * sizeof(double), 8}, {CALL_BYTES, like.n * sizeof(double), 8},
         {CALL_STATS, sizeof(fpemu_stats), 8}, {CALL_Y, WORDS * 8, 8});
    visit(w, &c);
}

size_t calls_each(size_t n, void (*to)(const call *c, void *context), void *context)
{
    walk w = {to, context, 0, n, n >= 131072};
    visit_formats(&w);
    visit_products(&w);
    visit_rest(&w);
    return w.visited;
}
