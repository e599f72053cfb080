/* SPDX-License-Identifier: BSD-2-Clause */
/* packing.c - packed bytes against the judge: layout, bytes, unpacking, access to single blocks.
 *
 * packing [--rounds N] [--seed S]
 */
#include "../judges/longhand.h"
#include "blocks_cases.h"

static unsigned long rounds = 1;
static uint64_t first_seed = 1;

/* Every width from 2 to 53 bits as a scalar format, up to 32 also as elements of blocks of one to forty, on lengths
 * around the ends of words, and past 64, where loops of whole vectors begin. */
static void widths(void)
{
    block_case c = {0};
    for (unsigned bits = 2; bits <= 53; bits++)
        for (unsigned n = 1; n <= 100; n += n < 36 || rounds > 1 ? 1 : 5) {
            unsigned form;
            for (form = 0; form < 3; form++) {
                if (bits > 32)
                    (void)snprintf(c.spec, sizeof c.spec, "fixed(%u,%u)", bits, 17 * form);
                else if (form == 2) /* 0 has another code than what follows the last */
                    (void)snprintf(c.spec, sizeof c.spec, "uint(%u,zero=3)", bits);
                else if (form)
                    (void)snprintf(c.spec, sizeof c.spec, "mx(fixed(%u,%u),block=%u)", bits, bits - 1, n % 40 + 1);
                else
                    (void)snprintf(c.spec, sizeof c.spec, "int(%u)", bits);
                c.f = lh_parsed(c.spec);
                c.carrier = bits > 24 || (n % 2 && n < 65) ? 64 : 32;
                c.seed = bits * 1000 + n;
                c.shape = fpemu_shape_vector(n);
                if (n % 3 == 0) {
                    c.shape.inner = 2;
                    c.shape.length = n / 3;
                }
                case_fill(&c);
                memset(&c.r, 0, sizeof c.r);
                (void)case_packing(&c);
            }
        }
    case_free(&c);
}

/* All contents of two 4-bit codes under all codes of the scale: unpacked, and the values again as bytes. */
static void contents(void)
{
    static const char *const specs[] =
        LIST("mx(e2m1,block=2)", "bfp(3,block=2)", "nvfp4(block=2)", "group(int4,2,scale=e4m3fn)",
             "codebook(nf4,2,scale=e8m0)", "mx(e2m1,block=2,scale=e5m2)", "group(int4,2,scale=fp16)");
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        fpemu_layout l;
        fpemu_shape s;
        ref_tensor *t;
        unsigned char *bytes;
        uint64_t *want, codes, b, n, k;
        float *y;
        unsigned carrier = 32, bad = 0;
        fpemu_format f = lh_parsed(specs[i]);
        codes = ref_scale_bytes(&f) == 1 ? 256 : 65536 / 64;
        n = codes * 256;
        s = fpemu_shape_vector(2 * n);
        if (!lh_check(fpemu_packed_layout(&f, &s, &l) == FPEMU_OK && l.blocks == n && l.bytes >= n * 2, "%s: layout",
                      specs[i]))
            continue;
        bytes = case_room(l.bytes);
        want = case_room(2 * n * sizeof *want);
        y = case_room(2 * n * sizeof *y);
        /* u = 2^5, d = 2^-5 where there are such numbers */
        for (k = 0; k < l.tensor_bytes; k++)
            bytes[k] = (unsigned char)((k < 4 ? 0x42000000u : 0x3d000000u) >> k % 4 * 8);
        for (b = 0; b < n; b++) {
            uint64_t code = b / 256 * (codes == 256 ? 1 : 31);
            for (k = 0; k < l.scale_bytes; k++)
                bytes[l.scales_offset + b * l.scale_bytes + k] = (unsigned char)(code >> 8 * k);
            bytes[l.elements_offset + b] = (unsigned char)b;
        }
        t = ref_lay_out(&f, carrier, &s);
        lh_check(fpemu_unpack_f32(&f, &s, bytes, y) == FPEMU_OK, "%s: unpack", specs[i]);
        if (lh_check(ref_unpack(&f, carrier, t, bytes, want), "%s: the judge cannot unpack", specs[i]))
            for (k = 0; k < 2 * n && bad < 5; k++)
                if (!lh_check(lh_float_bits(y[k]) == want[k],
                              "%s: scale code %" PRIx64 ", codes %02x, place %d: judge %a, library %a", specs[i],
                              k / 512 * (codes == 256 ? 1 : 31), (unsigned)(k / 2 % 256), (int)(k % 2),
                              carrier_value(carrier, want[k]), (double)y[k]))
                    bad++;
        ref_free(t);
        FREE(bytes, want, y);
    }
}

/* A tensor packed piece by piece: its own numbers from a measured range, then the blocks in any order. */
static void piecewise(void)
{
    static const char *const specs[] = {"nvfp4(block=4)", "nvfp4(block=4,rule=nvfp4-ao)", "mx(e2m1,block=4)",
                                        "s2fp8",          "group(int5,block=3)",          "e4m3fn"};
    block_case c = {0};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (unsigned long k = 0; k < 8; k++) {
            fpemu_range whole = {0};
            fpemu_layout l;
            unsigned char *all, *pieces;
            float *x;
            uint64_t state = i * 100 + k + 1, b, j, step;
            ref_tensor *t;
            c.f = lh_parsed(specs[i]);
            c.carrier = 32;
            c.seed = state;
            (void)lh_next(&state);
            c.shape = case_shape(&state);
            c.shape.inner = 1; /* lines lie one after the other: a block is a piece of the array */
            case_fill(&c);
            memset(&c.r, 0, sizeof c.r);
            c.r.mode = k % 2 ? FPEMU_MODE_SR : FPEMU_MODE_RNE;
            if (!c.n || !lh_check(fpemu_packed_layout(&c.f, &c.shape, &l) == FPEMU_OK, "%s: layout", specs[i]))
                continue;
            x = case_room(c.n * sizeof *x);
            all = case_room(l.bytes);
            pieces = case_room(l.bytes);
            for (j = 0; j < c.n; j++)
                x[j] = lh_float((uint32_t)c.x[j]);
            (void)fpemu_pack_f32(&c.f, &c.r, &c.shape, x, all, NULL);
            memset(pieces, 0xee, l.bytes);
            (void)fpemu_measure_f32(&c.f, c.n / 2, x, &whole);
            (void)fpemu_measure_f32(&c.f, c.n - c.n / 2, x + c.n / 2, &whole);
            c.shape.whole = &whole;
            lh_check(fpemu_pack_tensor_scales(&c.f, &c.shape, pieces) == FPEMU_OK, "%s: pack_tensor", specs[i]);
            t = ref_lay_out(&c.f, 32, &c.shape);
            step = 1 + lh_next(&state) % 4;
            for (b = (t->blocks - 1) / step * step;; b -= step) {
                uint64_t count = b + step > t->blocks ? t->blocks - b : step;
                (void)fpemu_pack_blocks_f32(&c.f, &c.r, &c.shape, b, count, x + t->order[t->block[b].first], pieces,
                                            NULL);
                if (b == 0)
                    break;
            }
            lh_check(memcmp(all, pieces, l.bytes) == 0, "%s: packed in pieces of %" PRIu64 " blocks differs", specs[i],
                     step);
            ref_free(t);
            FREE(x, all, pieces);
        }
    case_free(&c);
}

/* Lines long enough for the loops that take many blocks at a time, and for more than one of their tiles. */
static void long_lines(void)
{
    static const char *const specs[] =
        LIST("e4m3fn", "e2m1", "e3m2", "int4", "bf16", "posit(8,1)", "fixed(12,4)", "nf4", "codebook(nf4,128)", "mxfp8",
             "mxfp6_e2m3", "mxfp4", "mxint8", "bm(4,3)", "nvfp4", "group(int8,128)", "group(e4m3fn,30)",
             "scaled(e4m3fn)", "nvfp4(outer=row)", "nvfp4(rule=4over6,outer=row)", "bfp(3,block=7)", "bfp(7,block=32)",
             "scaled(e4m3fn,block=row)", "mx(e4m3fn,block=1500)", "mxfp8_e5m2", "mxfp6_e3m2", "msfp12", "q8_0",
             "mx(e2m1,scale=e4m3fn)", "group(e5m2,48)", "group(int6,64)");
    static const uint64_t lengths[] = {9000, 1100, 4096};
    block_case c = {0};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (uint64_t k = 0; k < 9; k++) {
            c.f = lh_parsed(specs[i]);
            (void)snprintf(c.spec, sizeof c.spec, "%s", specs[i]);
            c.carrier = k % 3 == 2 ? 64 : 32;
            c.seed = 1000 * i + k + 1;
            c.plain = 1;
            c.shape = fpemu_shape_vector(lengths[k % 3]);
            c.shape.rows = 1 + k / 3;
            case_fill(&c);
            if (k < 3) {
                memset(&c.r, 0, sizeof c.r);       /* to nearest even, by the shortest way */
                for (uint64_t e = 0; e < c.n; e++) /* numbers near 1, but for a few */
                    if (e % 600)
                        c.x[e] = c.carrier == 32 ? (c.x[e] & 0x807fffff) | (0x3f000000 + (c.x[e] >> 5 & 0x3800000))
                                                 : (c.x[e] & UINT64_C(0x800fffffffffffff)) | UINT64_C(1022) << 52;
            } else {
                case_rounding(&c);
            }
            (void)case_packing(&c);
        }
    case_free(&c);
}

/* Any bytes there may be: every code under every scale, ordinary or not, infinities too, which pack writes nowhere
 * (doc/blocks.md, 1.1); words and binary64 beside numbers of binary32, and results with gaps. */
static void any_bytes(void)
{
    static const char *const specs[] =
        LIST("mxfp8_e5m2", "mxfp8_e4m3", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8", "nvfp4", "msfp12", "q8_0",
             "bm(4,3)", "nf4", "group(e5m2,32,scale=fp16)", "group(e2m1,16,scale=e5m2)", "group(int8,48,scale=bf16)",
             "group(int6,32,scale=fp16)", "group(e4m3fnuz,32,scale=fp16)", "group(uint8,32,scale=fp16)",
             "group(fp(3,4,3),32,scale=bf16)", "group(fp(4,1,7),32,scale=bf16)", "group(posit(8,1),32,scale=bf16)",
             "e4m3fnuz", "int8", "scaled(e5m2)", "scaled(e4m3fn,block=row)", "e2m1", "e3m2", "e5m2", "e5m2fnuz",
             "group(fp(6,1,31),32,scale=bf16)", "block(e5m2,block=32,exponent=5,rule=ceil)",
             "block(e5m2,block=32,exponent=9,rule=ceil)", "mx(p3109(6,3,se))", "mx(p3109(4,2,se),block=16)",
             "nvfp4(p3109(4,2,se))", "block(e5m2,block=16,scale=fp32,rule=absmax)");
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (uint64_t k = 0; k < 6; k++) {
            const uint64_t n = k < 3 ? 8192 : 2100 + 4 * k;
            const fpemu_shape shape = fpemu_shape_vector(n);
            fpemu_shape gaps = shape;
            uint64_t state = 77 * i + k + 1, bad = 0;
            fpemu_format f, half;
            fpemu_layout l;
            const fpemu_rounding nearest = {.overflow = FPEMU_OVERFLOW_SATURATE_KEEP_INF};
            gaps.x_stride[2] = 1;
            gaps.y_stride[2] = 2;
            if (!lh_check(fpemu_format_parse(specs[i], &f, NULL) == FPEMU_OK &&
                              fpemu_format_parse(k % 2 ? "bf16" : "fp16", &half, NULL) == FPEMU_OK &&
                              fpemu_packed_layout(&f, &shape, &l) == FPEMU_OK,
                          "%s", specs[i]))
                continue;
            ref_tensor *t = ref_lay_out(&f, 32, &shape);
            unsigned char *bytes = case_room(l.bytes);
            float *y = case_room(n * sizeof *y), *apart = case_room(2 * n * sizeof *apart);
            double *wide = case_room(n * sizeof *wide);
            uint16_t *words = case_room(n * sizeof *words), *codes = case_room(n * sizeof *codes);
            uint64_t *value = case_room(n * sizeof *value);
            for (uint64_t b = 0; b < l.bytes; b++) /* scales near 1 half of the time, which hide nothing */
                bytes[b] = (unsigned char)(b < l.elements_offset && k % 3 == 1 && l.scale_bytes == 1
                                               ? 120 + lh_next(&state) % 16
                                               : lh_next(&state));
            if (l.tensor_bytes) {
                const float numbers[2] = {1.5f, k % 3 == 2 ? 0x1.8p120f : 0.75f};
                memcpy(bytes, numbers, sizeof numbers);
            }
            lh_check(!fpemu_unpack_f32(&f, &shape, bytes, y) && !fpemu_unpack_f32(&f, &gaps, bytes, apart) &&
                         !fpemu_unpack_f64(&f, &shape, bytes, wide),
                     "%s: unpack", specs[i]);
            lh_check((k % 2 ? fpemu_unpack_bf16 : fpemu_unpack_f16)(&f, &shape, bytes, words) == FPEMU_OK,
                     "%s: unpack words", specs[i]);
            ref_unpack(&f, 32, t, bytes, value);
            (void)fpemu_encode_f32(&half, &nearest, n, y, codes, NULL);
            for (uint64_t e = 0; e < n && bad < 3; e++) {
                uint32_t u;
                memcpy(&u, y + e, sizeof u);
                bad += !lh_check(u == value[e],
                                 "%s: any bytes, element %" PRIu64 ": judge %08" PRIx64 ", library %08" PRIx32,
                                 specs[i], e, value[e], u);
                bad += !lh_check(!isinf(y[e]) == !isinf(wide[e]) && memcmp(&apart[2 * e], &u, sizeof u) == 0,
                                 "%s: any bytes, element %" PRIu64 ": %a, in binary64 %a, with gaps %a", specs[i], e,
                                 (double)y[e], wide[e], (double)apart[2 * e]);
                if (y[e] == y[e])
                    bad += !lh_check(words[e] == codes[e], "%s: any bytes, word %" PRIu64 ": %04x, coded %04x",
                                     specs[i], e, words[e], codes[e]);
            }
            ref_free(t);
            FREE(bytes, y, apart, wide, words, codes, value);
        }
}

/* Values of a block whose scale is a power of two, or any number; middles between them and their neighbours, of both
 * signs; zeros of both signs too, or none below zero. Tables of the caller's, some of whose values lie close together. */
static void middles(void)
{
    static const char *const specs[] =
        LIST("nvfp4", "mxfp4", "mxfp6_e2m3", "mx(e2m2,block=48)", "group(e2m1,16,scale=e4m3fn,rule=reciprocal)", "nf4",
             "codebook(nf4,128)", "codebook(dynamic4,block=64)", "table 0", "table 1", "table 2", "table 3");
    static const float tables[4][16] = {
        {-1, -0.75f, -0.5f, -0.3f, -0.2f, -0.1f, -0.05f, 0, 0.01f, 0.02f, 0.03f, 0.2f, 0.4f, 0.6f, 0.8f, 0.9f},
        {-0.5f, -0.4f, -0.3f, -0.2f, -0.1f, 0, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 1},
        {-1, -0.5f, -0.4f, -0.3f, -0.2f, -0.1f, 0, 0x1p-7f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f,
         0.9f}, /* a threshold of 1/256 */
        {-2, -1.75f, -1.5f, -1.25f, -1, -0.75f, -0.5f, -0.25f, 0, 0.25f, 0.5f, 0.75f, 1, 1.25f, 1.5f, 1.75f}};
    block_case c = {0};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (uint64_t k = 0; k < 8; k++) {
            fpemu_format element, scale;
            uint64_t state = 1000 * i + k + 1;
            const int own = specs[i][0] == 't';
            (void)snprintf(c.spec, sizeof c.spec, "%s", specs[i]);
            if (own ? fpemu_format_table(&element, 16, tables[specs[i][6] - '0']) ||
                          fpemu_format_parse("fp32", &scale, NULL) ||
                          fpemu_format_blocked(&c.f, &element, FPEMU_SCALING_ABSMAX, &scale, 0, FPEMU_BLOCK_RUN, 0, 64)
                    : fpemu_format_parse(c.spec, &c.f, NULL) || fpemu_format_element(&c.f, &element)) {
                lh_check(0, "%s", c.spec);
                continue;
            }
            c.carrier = 32;
            c.seed = state;
            c.plain = 1;
            c.shape = fpemu_shape_vector(k < 6 ? 8192 : 1000 + 8 * k);
            case_fill(&c);
            memset(&c.r, 0, sizeof c.r);
            const uint64_t length = c.f.block_length, codes = UINT64_C(1) << c.f.bits;
            const float most = (float)fpemu_format_max(&element), end = (float)-fpemu_format_lowest(&element);
            float times = 1;
            for (uint64_t e = 0; e < c.n; e++) {
                const float a = (float)fpemu_decode_one_f64(&element, lh_next(&state) % codes),
                            b = (float)fpemu_decode_one_f64(&element, lh_next(&state) % codes);
                float x = (float)(((double)a + (double)b) / 2);
                if (e % length == 0) /* the scale */
                    times = ldexpf(k % 3 == 1 ? 1 + (float)(lh_next(&state) % 4096) * 0x1p-12f : 1,
                                   (int)(lh_next(&state) % 8) - 4);
                if (x != 0 && lh_next(&state) % 3 == 0)
                    x = nextafterf(x, lh_next(&state) % 2 ? 1e9f : -1e9f);
                if (e % length == 0) /* the largest, which is the scale's */
                    x = end > most ? -end : most;
                if (x == 0)
                    x = k % 2 && lh_next(&state) % 2 ? -0.0f : 0.0f;
                x *= times;
                if (e == 0 && c.f.scaling == FPEMU_SCALING_NVFP4)
                    x = 6 * 448; /* the scale of the tensor is 1 */
                c.x[e] = lh_float_bits(x);
            }
            fpemu_range whole = {0};
            whole.count = whole.nonzero = 1;
            whole.amax = whole.max = 16;
            if (k == 4 && c.f.scaling == FPEMU_SCALING_NVFP4) /* of another tensor: quotients lie past all values */
                c.shape.whole = &whole;
            (void)case_packing(&c);
        }
    case_free(&c);
}

int main(int argc, char **argv)
{
    case_options(argc, argv, &rounds, &first_seed);
    case_randomised(case_packing, 0, 12 * rounds, first_seed);
    widths();
    contents();
    piecewise();
    long_lines();
    any_bytes();
    middles();
    return lh_report("packing");
}
