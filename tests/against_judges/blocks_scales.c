/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks_scales.c - the scales of a tensor's blocks against the judge, their codes, the numbers of the whole tensor, and
 * the same read back from packed bytes; s2fp8 against the range that the judge allows.
 *
 * blocks_scales [--rounds N] [--seed S]
 */
#include "../judges/longhand.h"
#include "blocks_cases.h"

static unsigned long rounds = 1;
static uint64_t first_seed = 1;

static fpemu_status find(const block_case *c, const fpemu_shape *s, const void *x, void *scales, void *codes,
                         float *tensor)
{
    return fpemu_scales(&c->f, c->carrier, s, x, scales, codes, tensor);
}

/* The i-th number of an array of the carrier. */
static double number(unsigned carrier, const void *values, uint64_t i)
{
    return carrier == 32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static uint64_t integer(const unsigned char *codes, uint64_t size, uint64_t i)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    if (size == 1)
        return codes[i];
    if (size == 2) {
        memcpy(&two, codes + 2 * i, 2);
        return two;
    }
    if (size == 4) {
        memcpy(&four, codes + 4 * i, 4);
        return four;
    }
    memcpy(&eight, codes + 8 * i, 8);
    return eight;
}

/* x as the carrier's numbers, in the order of indices or backwards; returns where element 0 lies. */
static void *numbers(const block_case *c, int backwards, void *memory, fpemu_shape *s)
{
    const uint64_t width = c->carrier / 8;
    for (uint64_t i = 0; i < c->n; i++) {
        const uint64_t at = backwards ? c->n - 1 - i : i;
        const uint32_t narrow = (uint32_t)c->x[i];
        if (c->carrier == 32)
            memcpy((char *)memory + at * 4, &narrow, 4);
        else
            memcpy((char *)memory + at * 8, c->x + i, 8);
    }
    if (!backwards || c->n == 0)
        return memory;
    s->x_stride[3] = -1;
    s->x_stride[2] = -(int64_t)s->inner;
    s->x_stride[1] = -(int64_t)(s->inner * s->length);
    s->x_stride[0] = -(int64_t)(s->inner * s->length * s->rows);
    return (char *)memory + (c->n - 1) * width;
}

static void s2fp8(const block_case *c, const fpemu_shape *s, const void *x, unsigned char *codes, void *scales)
{
    float tensor[2] = {-7, -7};
    const ref_s2fp8 want = ref_s2fp8_range(c->carrier, c->n, c->x);
    lh_check(find(c, s, x, scales, codes, tensor) == FPEMU_ERROR_UNSUPPORTED && tensor[0] == -7, "%s: scales of blocks",
             c->spec);
    lh_check(find(c, s, x, NULL, NULL, tensor) == FPEMU_OK, "%s", c->spec);
    if (c->n)
        lh_check(tensor[0] >= want.alpha_low && tensor[0] <= want.alpha_high && tensor[1] >= want.beta_low &&
                     tensor[1] <= want.beta_high,
                 "%s: alpha %a, beta %a; judge %a to %a, %a to %a", c->spec, (double)tensor[0], (double)tensor[1],
                 want.alpha_low, want.alpha_high, want.beta_low, want.beta_high);
}

static void against_judge(const block_case *c, const ref_tensor *t, const fpemu_layout *l, const unsigned char *codes,
                          const void *scales, const float *tensor)
{
    const int has_tensor = case_is_nvfp4(&c->f);
    int bad = 0;
    lh_check(t->blocks == l->blocks, "%s: blocks", c->spec);
    for (uint64_t b = 0; b < t->blocks && bad < 3; b++) {
        const ref_block *block = t->block + b;
        double want = ldexp(block->scale, (int)block->exponent);
        if (c->carrier == 32)
            want = (double)(float)want;
        bad += !lh_check(lh_same_f64(number(c->carrier, scales, b), want),
                         "%s: scale of block %" PRIu64 " is %a, judge %a", c->spec, b, number(c->carrier, scales, b),
                         want);
        bad += !lh_check(integer(codes, l->scale_bytes, b) == block->code,
                         "%s: code of block %" PRIu64 " is %" PRIx64 ", judge %" PRIx64, c->spec, b,
                         integer(codes, l->scale_bytes, b), block->code);
    }
    for (uint64_t k = 0; k < 2 * t->lines; k++)
        lh_check(lh_same_f64((double)tensor[k], has_tensor ? (double)t->line[k / 2][k % 2] : 1),
                 "%s: numbers of the tensor", c->spec);
}

/* What pack wrote, read by unpack_scales, all of it and from the middle on. */
static void against_bytes(const block_case *c, const fpemu_layout *l, const fpemu_shape *s, const void *x,
                          const unsigned char *codes, const void *scales, const float *tensor)
{
    const uint64_t width = c->carrier / 8, first = l->blocks / 2, rest = l->blocks - first;
    unsigned char *const bytes = case_room(l->bytes), *const read = case_room(l->blocks * width);
    const fpemu_status status = fpemu_pack(&c->f, &c->r, c->carrier, s, x, bytes, NULL);
    lh_check(status == FPEMU_OK || status == FPEMU_ERROR_NAN, "%s: pack", c->spec);
    for (uint64_t b = 0; b < l->blocks; b++)
        for (uint64_t k = 0; k < l->scale_bytes; k++)
            lh_check(bytes[l->scales_offset + b * l->scale_bytes + k] ==
                         (unsigned char)(integer(codes, l->scale_bytes, b) >> 8 * k),
                     "%s: code of block %" PRIu64 " in the packed bytes", c->spec, b);
    for (uint64_t k = 0; k < l->tensor_bytes; k++)
        lh_check(bytes[k] == (unsigned char)(lh_float_bits(tensor[k / 4]) >> 8 * (k % 4)),
                 "%s: numbers of the tensor in the packed bytes", c->spec);
    for (uint64_t k = 0; k < 2; k++) {
        const uint64_t from = k ? first : 0, count = k ? rest : l->blocks;
        memset(read, 0xa5, l->blocks * width);
        lh_check((c->carrier == 32
                      ? fpemu_unpack_scales_f32(&c->f, s, from, count, bytes, (float *)(void *)read)
                      : fpemu_unpack_scales_f64(&c->f, s, from, count, bytes, (double *)(void *)read)) == FPEMU_OK,
                 "%s: unpack_scales", c->spec);
        for (uint64_t b = 0; b < count; b++)
            lh_check(lh_same_f64(number(c->carrier, read, b), number(c->carrier, scales, from + b)),
                     "%s: unpacked scale of block %" PRIu64, c->spec, from + b);
    }
    FREE(bytes, read);
}

static int check(const block_case *c, int backwards)
{
    static const fpemu_rounding nearest;
    fpemu_shape s = c->shape;
    void *const memory = case_room(c->n * 8), *const x = numbers(c, backwards, memory, &s);
    void *const scales = case_room((c->n + 1) * 8);
    unsigned char *const codes = case_room((c->n + 1) * 8);
    float *const tensor = case_room((c->n + 1) * 8);
    fpemu_layout l;
    ref_tensor *t = NULL;
    int judged = 0;
    if (c->f.scaling == FPEMU_SCALING_NONE) {
        lh_check(find(c, &s, x, scales, codes, tensor) == FPEMU_ERROR_UNSUPPORTED, "%s: a scalar format", c->spec);
    } else if (c->f.scaling == FPEMU_SCALING_S2FP8) {
        s2fp8(c, &s, x, codes, scales);
        judged = 1;
    } else if ((t = ref_quantize(&c->f, &nearest, c->carrier, &c->shape, c->x)) != NULL) {
        lh_check(fpemu_packed_layout(&c->f, &s, &l) == FPEMU_OK, "%s: layout", c->spec);
        lh_check(find(c, &s, x, scales, codes, tensor) == FPEMU_OK, "%s: scales", c->spec);
        if (c->n) {
            against_judge(c, t, &l, codes, scales, tensor);
            against_bytes(c, &l, &s, x, codes, scales, tensor);
        }
        ref_free(t);
        judged = 1;
    } else {
        lh_check(find(c, &s, x, scales, codes, tensor) != FPEMU_OK, "%s: not refused", c->spec);
    }
    FREE(memory, scales, codes, tensor);
    return judged;
}

int main(int argc, char **argv)
{
    block_case c = {0};
    fpemu_range whole;
    fpemu_given given;
    unsigned long k, judged = 0;
    case_options(argc, argv, &rounds, &first_seed);
    for (size_t i = 0; case_format(i, &c.f, c.spec); i++)
        for (k = 0; k < 12 * rounds; k++) {
            uint64_t state = (first_seed + k) * UINT64_C(0x9e3779b97f4a7c15) + i;
            c.seed = state;
            (void)lh_next(&state);
            c.carrier = k % 3 == 2 || !fpemu_format_fits_f32(&c.f) ? 64 : 32;
            c.shape = k % 4 == 3 ? fpemu_shape_vector(state % 200) : case_shape(&state);
            if (k % 4 == 1 && case_range(&c, &whole))
                c.shape.whole = &whole;
            case_fill(&c);
            if (k % 5 < 2 && case_given(&c, &given))
                c.shape.given = &given;
            judged += (unsigned long)check(&c, k % 2);
        }
    lh_check(judged >= 100, "%lu cases judged", judged);
    case_free(&c);
    return lh_report("blocks_scales");
}
