/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - arrays of binary16 and bfloat16 words, every one of them, against binary32 numbers through the same format,
 * mode and policies, to values, to codes and back. The verbs of binary32 are judged over all their inputs
 * (quantize_exhaustive.c); what words become of numbers, and these of words, stands here once more.
 *
 * Blocks of words and what is packed of them are compared with those of the numbers to nearest even, and blocks by random
 * bits too; operations on them in every mode.
 *
 * Words come in their order, where the neighbours of a number are its likes, and mixed, where they are not; with
 * counters and without, in place, and in parts that begin anywhere. Every variant runs all of it. */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */
#include "half_words.h"
#include "variants.h"

enum { ORDERS = 3 };

static const char *const specs[] =
    LIST("fp16", "bf16", "fp16:saturate", "bf16:saturate", "e5m2", "e5m2:saturate", "e4m3fn", "e4m3fn:saturate", "e4m3",
         "e3m4", "e3m2", "e2m3", "e2m1", "e4m3fnuz", "e5m2fnuz", "p3109(8,3,se)", "p3109(8,4,sf)", "p3109(8,3,ue)",
         "fp(4,9,7)", "fp(4,10,7)", "fp(5,7,15)", "fp(6,1,31)", "fp(7,3,63)", "fp(8,3,127)", "fp(8,6,127)", "fp(4,2,9)",
         "fixed(8,7)", "fixed(8,4)", "fixed(4,9)", "ufixed(8,3)", "int8", "int4", "uint8", "int(9)", "int(12)",
         "int(8,scale=1024)", "uint(8,scale=0.25,zero=3)", "int(1)", /* nothing is above zero in these */
         "fixed(1,0)", "uint(2,zero=3)", /* scales of one odd factor, and the first that is too long */
         "int(8,scale=0.09375)", "int(6,scale=0.09375)", "uint(7,scale=0.75,zero=5)", "int(13)", "int(8,scale=0.1)",
         "int(8,scale=2.98023223876953125e-08)");

/* Scales that are powers of two under every rule, of blocks of each length that has a form of its own, and of others;
 * other scales; and codes of a byte or half of one, without scales. */
static const char *const packed[] = LIST(
    "mxfp8", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8", "mx(e4m3fn,block=16,rule=ceil)",
    "mx(e3m2,block=64,rule=even)", "mx(e2m1,block=48,rule=rceil)", "mx(int4,block=256)", "mx(fixed(12,10),block=32)",
    "mx(e2m3,block=1024,rule=ceil)", "msfp12", "msfp16", "bfp(7,block=32,rule=rceil)", "bfp(10,block=16,rule=hbfp)",
    "group(int8,16)", "group(e2m1,32)", "group(int4,16)", "group(int4,96)", "group(int8,48)", "group(e3m2,40)",
    "group(fixed(8,4),32)", "block(e4m3fn,block=32,scale=fp16,rule=reciprocal)", "nvfp4", "q8_0", "nf4", "table(nf4)",
    "scaled(e4m3fn)", "scaled(int8)", "e4m3fn", "e5m2", "e3m4", "e2m1", "int8", "int4", "uint8",
    "fp(2,5,-63)", /* whose first number is past binary16 */
    "fp(5,2,-49)");

static uint16_t orders[TYPES][ORDERS][WORDS], want[WORDS], y[WORDS];
static float x32[WORDS], y32[WORDS];
static uint64_t codes[2][WORDS], digest = UINT64_C(0xcbf29ce484222325);
static unsigned long lines;

/* The word that is v. */
static uint16_t exact_word(const struct type *t, float v)
{
    const uint16_t word = word_of(t, (double)v);
    lh_check(isnan(v) || values[t - types][word] == (double)v, "%s: %a is no number of the type", t->name, (double)v);
    return word;
}

static void compare(const struct type *t, const char *spec, const fpemu_rounding *r, const char *what, size_t n,
                    const uint16_t *x, const uint16_t *right, const uint16_t *got)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != right[i]) {
            lh_check(0, "%s, %s, mode %d, overflow %d, nan %d, bits %d, %s: of %04x floats make %04x, words %04x",
                     t->name, spec, r->mode, r->overflow, r->nan, r->bits, what, x[i], right[i], got[i]);
            return;
        }
}

static void same(const struct type *t, const char *spec, const fpemu_rounding *r, const char *what,
                 const fpemu_stats *a, const fpemu_stats *b)
{
    lh_check(memcmp(a, b, sizeof *a) == 0, "%s, %s, mode %d, overflow %d, bits %d, %s: other counters", t->name, spec,
             r->mode, r->overflow, r->bits, what);
}

/* One array of words in every way. */
static void arrays(const struct type *t, const char *spec, const fpemu_format *f, const fpemu_rounding *r, size_t n,
                   const uint16_t *x, int sums)
{
    fpemu_stats right = {0}, counted = {0};
    uint64_t state = 11 + r->mode;
    right.request.want = counted.request.want = sums ? FPEMU_STATS_SUMS : 0;
    for (size_t i = 0; i < n; i++)
        x32[i] = (float)values[t - types][x[i]];
    const fpemu_status status = fpemu_quantize_f32(f, r, n, x32, y32, &right);
    for (size_t i = 0; i < n; i++)
        want[i] = exact_word(t, y32[i]);
    lh_check(fpemu_quantize(f, r, t->type, n, x, y, NULL) == status, "%s, %s: another status", t->name, spec);
    compare(t, spec, r, "array", n, x, want, y);
    digest = fnv(digest, y, n * sizeof *y);
    memset(y, 0xa5, n * sizeof *y);
    fpemu_quantize(f, r, t->type, n, x, y, &counted);
    compare(t, spec, r, "counted", n, x, want, y);
    same(t, spec, r, "counted", &right, &counted);
    memset(&counted, 0, sizeof counted);
    counted.request.want = right.request.want;
    memcpy(y, x, n * sizeof *y);
    fpemu_quantize(f, r, t->type, n, y, y, &counted);
    compare(t, spec, r, "counted in place", n, x, want, y);
    same(t, spec, r, "counted in place", &right, &counted);
    for (int k = 0; k < 3; k++) {
        const size_t begin = lh_next(&state) % (n / 2), m = lh_next(&state) % (n / (k ? 2 : 500)) + 1;
        fpemu_rounding part = *r;
        part.offset += begin;
        memset(y, 0xa5, n * sizeof *y);
        fpemu_quantize(f, &part, t->type, m, x + begin, y + k + 1, NULL);
        compare(t, spec, r, "a part", m, x + begin, want + begin, y + k + 1);
        lh_check(y[k] == 0xa5a5 && (m + (size_t)k + 1 >= n || y[m + (size_t)k + 1] == 0xa5a5), "%s, %s: written beside",
                 t->name, spec);
    }
    right = counted = (fpemu_stats){0};
    lh_check(fpemu_encode_f32(f, r, n, x32, codes[0], &right) ==
                     fpemu_encode(f, r, t->type, n, x, codes[1], &counted) &&
                 memcmp(codes[0], codes[1], n * fpemu_format_code_size(f)) == 0,
             "%s, %s, mode %d: other codes", t->name, spec, r->mode);
    same(t, spec, r, "encoded", &right, &counted);
    lines++;
}

/* Runs of words, each with a largest magnitude of its own, some that of the type, others near it and far below; many of
 * them end in zeros, which makes ties, and some are zero. */
static void fill_runs(const struct type *t, size_t run, uint64_t *state, uint16_t *x)
{
    unsigned top = 0, reach = 0;
    for (size_t i = 0; i < WORDS; i++) {
        const uint64_t r = lh_next(state);
        if (i % run == 0) {
            top = (r >> 36) % 16 ? (unsigned)(r >> 40) % t->most + 1 : t->most;
            reach = (1u + (unsigned)(r >> 20) % 14) << t->digits;
        }
        const unsigned less = i % run ? (unsigned)(r >> 8) % reach : 0, word = less > top ? 0 : top - less;
        x[i] = (uint16_t)((word & ~0u << r % (unsigned)t->digits) | (r >> 7) % 2 << 15);
    }
}

/* Blocks of words, the numbers of which are in x32. */
static void rounded_blocks(const struct type *t, const char *spec, const fpemu_format *f, const fpemu_rounding *r,
                           size_t n, const uint16_t *x)
{
    fpemu_quantize_f32(f, r, n, x32, y32, NULL);
    for (size_t i = 0; i < n; i++)
        want[i] = word_of(t, (double)y32[i]);
    lh_check(fpemu_quantize(f, r, t->type, n, x, y, NULL) == FPEMU_OK, "%s, %s: refused", t->name, spec);
    compare(t, spec, r, "blocks", n, x, want, y);
    memcpy(y, x, n * sizeof *y);
    fpemu_quantize(f, r, t->type, n, y, y, NULL);
    compare(t, spec, r, "blocks in place", n, x, want, y);
    digest = fnv(digest, y, n * sizeof *y);
    lines++;
}

/* By random bits of which words have forms, and of which they have none, from places where they are of two leads or pass
 * 2^32 words; a tile at least on one side. */
static fpemu_rounding drawn(unsigned k)
{
    static const uint8_t bits[] = {0, 17, 0, 24, 16};
    static const uint64_t offsets[] = {0, 131072 - 4096, UINT64_C(0x100000000) - 32768, 131072 - 8200, 5};
    fpemu_rounding r = fpemu_rounding_stochastic(19, k);
    r.bits = bits[k % 5];
    r.offset = offsets[k % 5];
    return r;
}

/* All words by tables of few values: thresholds that are zero, that are words and lie between them, beyond the type and
 * nearer to zero than it goes. */
static void tables(const struct type *t)
{
    static const float own[][16] = {{-3, -0.3f, 0.1f, 0.15f, 7},
                                    {-1e6f, -70000, -1, 0, 2, 65504, 65519, 65521, 1e6f, 0x1p39f},
                                    {-2, 0, 2, 2.0009765625f, 2.0029296875f, 2.015625f, 2.03125f},
                                    {0, 0x1p-39f, 0x1p-26f, 0x1p-24f, 0x1p-14f, 1},
                                    {-5, -4},
                                    {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}};
    static const uint32_t lengths[] = {5, 10, 7, 6, 2, 16};
    for (unsigned k = 0; k < 8; k++)
        for (unsigned mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
            fpemu_format f;
            fpemu_rounding r = {0};
            const fpemu_status status = k < 6 ? fpemu_format_table(&f, lengths[k], own[k])
                                              : fpemu_format_parse(k % 2 ? "table(dynamic4)" : "table(nf4)", &f, NULL);
            if (!lh_check(status == FPEMU_OK, "table %u is refused", k))
                continue;
            r.mode = (uint8_t)mode;
            if (fpemu_check(&f, &r, 32, NULL) != FPEMU_OK)
                continue;
            for (int order = 0; order < ORDERS; order++) {
                const uint16_t *const x = orders[t - types][order];
                for (size_t i = 0; i < WORDS; i++)
                    x32[i] = (float)values[t - types][x[i]];
                rounded_blocks(t, "table", &f, &r, order ? WORDS : WORDS - 5, x);
            }
        }
}

/* What packed bytes stand for. */
static void unpacked(const struct type *t, const char *spec, const fpemu_format *f, size_t n, const void *bytes)
{
    const fpemu_rounding none = {0};
    const fpemu_shape shape = fpemu_shape_vector(n);
    fpemu_unpack_f32(f, &shape, bytes, y32);
    for (size_t i = 0; i < n; i++)
        want[i] = word_of(t, (double)y32[i]);
    lh_check(fpemu_unpack(f, t->type, &shape, bytes, y) == FPEMU_OK, "%s, %s: not unpacked", t->name, spec);
    compare(t, spec, &none, "unpacked", n, want, want, y);
    digest = fnv(digest, y, n * sizeof *y);
    lines++;
}

/* Blocks, and packed bytes; bytes of any kind too. */
static void blocks(const struct type *t)
{
    static uint16_t x[WORDS];
    static unsigned char right[2 * WORDS], bytes[2 * WORDS];
    const fpemu_rounding r = {0};
    uint64_t state = 29;
    for (size_t k = 0; k < sizeof packed / sizeof *packed; k++) {
        fpemu_format f = lh_parsed(packed[k]);
        for (size_t run = 16; run <= 1024; run *= 2) {
            const size_t n = run == 64 ? WORDS - 37 : run == 256 ? 801 : WORDS;
            const fpemu_shape shape = fpemu_shape_vector(n);
            const uint64_t size = fpemu_packed_size(&f, &shape);
            fill_runs(t, run, &state, x);
            for (size_t i = 0; run == 512 && i < n; i += 5003)
                x[i] = (uint16_t)(i % 2 ? 0x7fff : 0xff80); /* blocks that have no such form, among others */
            for (size_t i = 0; i < n; i++)
                x32[i] = (float)values[t - types][x[i]];
            if (f.scaling || f.kind == FPEMU_KIND_CODEBOOK || fpemu_format_fits(&f, t->type)) {
                const fpemu_rounding random = drawn((unsigned)(k + n + run / 16));
                rounded_blocks(t, packed[k], &f, &r, n, x);
                rounded_blocks(t, packed[k], &f, &random, n, x);
            }
            if (!lh_check(size <= sizeof bytes, "%s: no room", packed[k]))
                continue;
            memset(right, 0x5a, sizeof right);
            memset(bytes, 0x5a, sizeof bytes);
            fpemu_pack_f32(&f, &r, &shape, x32, right, NULL);
            lh_check(fpemu_pack(&f, &r, t->type, &shape, x, bytes, NULL) == FPEMU_OK &&
                         memcmp(bytes, right, sizeof right) == 0,
                     "%s, %s: other packed bytes", t->name, packed[k]);
            lines++;
            if (!f.scaling && f.kind != FPEMU_KIND_CODEBOOK && !fpemu_format_fits(&f, t->type))
                continue;
            unpacked(t, packed[k], &f, n, bytes);
            for (size_t i = 0; i < size; i++)
                bytes[i] = (unsigned char)(lh_next(&state) >> 40);
            unpacked(t, packed[k], &f, n, bytes);
        }
    }
}

/* Blocks in the range of another tensor, so that quotients are far beyond the ends, infinite, or nearly zero. */
static void other_ranges(const struct type *t)
{
    static const char *const some[] = {"nvfp4", "scaled(e4m3fn)", "scaled(e5m2,block=row)", "scaled(int8)"};
    static uint16_t x[WORDS];
    uint64_t state = 31;
    for (unsigned k = 0; k < 64; k++) {
        fpemu_range whole = {0};
        const size_t n = k % 3 ? WORDS : 801;
        fpemu_shape shape = fpemu_shape_vector(n);
        const fpemu_rounding r = k % 8 < 4 ? (fpemu_rounding){0} : drawn(k);
        fpemu_format f = lh_parsed(some[k % 4]);
        whole.amax = whole.max = ldexp(1.25, (int)(k / 4) * 17 - 126);
        shape.whole = &whole;
        fill_runs(t, 16u << k % 5, &state, x);
        for (size_t i = 0; i < n; i++)
            x32[i] = (float)values[t - types][x[i]];
        const fpemu_status status = fpemu_quantize_tensor_f32(&f, &r, &shape, x32, y32, NULL);
        for (size_t i = 0; i < n; i++)
            want[i] = word_of(t, (double)y32[i]);
        lh_check(fpemu_quantize_tensor(&f, &r, t->type, &shape, x, y, NULL) == status, "%s, %s: another status",
                 t->name, some[k % 4]);
        compare(t, some[k % 4], &r, "another range", n, x, want, y);
        digest = fnv(digest, y, n * sizeof *y);
        lines++;
    }
}

/* Operations in the type itself, and in formats near it, in every mode, of all words and those in another order, some
 * with scales or a single number; comparisons. */
static void operations(const struct type *t)
{
    static const char *const near[2][6] = {
        {"fp16", "fp16:saturate", "e4m3fn", "e5m2", "fp16:flushin", "fp16:flushout"},
        {"bf16", "bf16:saturate", "e4m3fn", "e5m2", "bf16:flushin", "bf16:flushout"}};
    static const float scale[] = {0.75f, -3, 0x1p-4f, 1.0009765625f};
    static uint16_t x[WORDS], got[WORDS];
    static uint8_t truth[2][WORDS];
    static float other[WORDS];
    for (unsigned k = 0; k < 48; k++) {
        const char *const spec = near[t - types][k % 8 < 3 ? 0 : k % 8 - 2];
        const size_t n = k % 3 ? WORDS : WORDS - 7, steps[] = {1, k % 16 != 5, 0};
        const fpemu_operand_scales scales[3] = {{.values = k % 4 == 1 ? scale : NULL, .length = 7, .count = 4}};
        const float *const numbers[] = {x32, other, other};
        const void *const words[] = {x, y, y};
        fpemu_rounding r = fpemu_rounding_stochastic(5, 6);
        r.mode = (uint8_t)(k % 5 ? k % FPEMU_MODE_COUNT : FPEMU_MODE_RNE);
        fpemu_format f = lh_parsed(spec);
        for (size_t i = 0; i < n; i++) {
            x[i] = orders[t - types][1][i];
            y[i] = (uint16_t)(k % 2 ? i * (2 * k + 1) + 977 * k : x[i] + (k / 8 << (k % 11)) + 1); /* far, near */
            x32[i] = (float)values[t - types][x[i]];
            other[i] = (float)values[t - types][y[i]];
        }
        for (int o = FPEMU_OPERATION_ADD; o <= FPEMU_OPERATION_DIV; o++) {
            const fpemu_operation operation = (fpemu_operation)o;
            fpemu_stats right = {0}, counted = {0};
            fpemu_arith_scaled_f32(&f, &r, operation, n, numbers, steps, scales, y32, &right);
            for (size_t i = 0; i < n; i++)
                want[i] = exact_word(t, y32[i]);
            for (int uncounted = 0; uncounted < 2; uncounted++) {
                fpemu_stats *const stats = uncounted ? NULL : &counted;
                lh_check((scales[0].values
                              ? fpemu_arith_scaled(&f, &r, t->type, operation, n, words, steps, scales, got, stats)
                              : fpemu_arith(&f, &r, t->type, operation, n, words, steps, got, stats)) == FPEMU_OK,
                         "%s, %s: operation %d refused", t->name, spec, o);
                compare(t, spec, &r, "operation", n, x, want, got);
            }
            same(t, spec, &r, "operation", &right, &counted);
            digest = fnv(digest, got, n * sizeof *got);
            lines++;
        }
        for (int relation = 0; relation < FPEMU_RELATION_COUNT; relation++) {
            fpemu_compare_scaled_f32((fpemu_relation)relation, n, numbers, steps, scales, truth[0]);
            fpemu_compare_scaled(t->type, (fpemu_relation)relation, n, words, steps, scales, truth[1]);
            lh_check(memcmp(truth[0], truth[1], n) == 0, "%s: relation %d", t->name, relation);
        }
    }
}

/* Whether all values of a format are words, of which there are no more than codes of 16 bits; then its codes are read
 * so, and else all is refused. */
static int fits(const struct type *t, const char *spec, const fpemu_format *f)
{
    const fpemu_rounding nearest = {0};
    const size_t n = (size_t)1 << (f->bits < 16 ? f->bits : 16);
    int all = f->bits <= 16 && fpemu_format_fits_f32(f);
    for (size_t i = 0; i < n; i++) {
        const double v = all ? (double)fpemu_decode_one_f32(f, i) : 0;
        want[i] = word_of(t, v);
        all = all && (!isfinite(v) || values[t - types][want[i] & 0x7fff] == fabs(v));
        f->bits <= 8 ? (void)(((uint8_t *)codes)[i] = (uint8_t)i) : (void)(((uint16_t *)codes)[i] = (uint16_t)i);
    }
    lh_check(fpemu_format_fits(f, t->type) == all, "%s, %s: fits %d", t->name, spec, all);
    memset(y, 0xa5, sizeof y);
    const fpemu_status status = fpemu_decode(f, t->type, all ? n : 1, codes, y);
    if (all)
        compare(t, spec, &nearest, "decoded", n, want, want, y);
    else
        lh_check(status && fpemu_quantize(f, &nearest, t->type, 1, orders[t - types][0], y, NULL) == status &&
                     y[0] == 0xa5a5,
                 "%s, %s: not refused", t->name, spec);
    return all;
}

/* All words in every mode and policy, or, of most formats, in a part of them. */
static void format_of_words(const struct type *t, const char *spec, size_t k, int every)
{
    fpemu_format f = lh_parsed(spec);
    if (!fits(t, spec, &f))
        return;
    for (unsigned mode = 0; mode < FPEMU_MODE_COUNT; mode++)
        for (unsigned overflow = 0; overflow < 4; overflow++) {
            static const uint8_t bits[] = {0, 16, 8, 13};
            fpemu_rounding r = fpemu_rounding_stochastic(7, k);
            r.mode = (uint8_t)mode;
            r.overflow = (uint8_t)overflow;
            r.nan = (uint8_t)(f.has_nan ? 0 : 1 + (overflow + mode) % 5);
            r.bits = !FPEMU_MODE_DRAWS(mode) ? 0 : bits[overflow];
            r.offset = overflow == 3 ? 0 : UINT64_C(0xffffc000) + 64 * (k + overflow); /* past 2^32 words */
            if (fpemu_check(&f, &r, 32, NULL) != FPEMU_OK || (k >= 8 && (k + mode + overflow) % 3 == 0) ||
                (!every && (k + mode) % 4 != overflow))
                continue;
            arrays(t, spec, &f, &r, WORDS, orders[t - types][(k + mode + overflow) % ORDERS], overflow == 3);
        }
}

static void formats(const struct type *t)
{
    const lh_format *other;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        format_of_words(t, specs[k], k, 1);
    for (size_t k = 0; (other = lh_formats(k)) != NULL; k++)
        format_of_words(t, other->spec, k, 0);
}

int main(int argc, char **argv)
{
    uint64_t state = 3;
    find_values();
    for (int t = 0; t < TYPES; t++) {
        for (unsigned i = 0; i < WORDS; i++) {
            orders[t][0][i] = orders[t][1][i] = (uint16_t)i;
            orders[t][2][i] = (uint16_t)(i * 3);
        }
        for (unsigned i = WORDS - 1; i > 0; i--) {
            const size_t other = lh_next(&state) % (i + 1);
            const uint16_t word = orders[t][1][i];
            orders[t][1][i] = orders[t][1][other];
            orders[t][1][other] = word;
        }
        formats(&types[t]);
        blocks(&types[t]);
        tables(&types[t]);
        other_ranges(&types[t]);
        operations(&types[t]);
    }
    printf("words: %lu arrays compared\n", lines);
    return variants_end(argc, argv, "words", digest);
}
