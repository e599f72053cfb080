/* SPDX-License-Identifier: BSD-2-Clause */
/* block_scales.c - the scales of a tensor's blocks: found from its elements, as quantising and packing find them, or
 * read from its packed bytes. */
#include "blocks.h"
#include "core/pack.h"
#include "format/blocking.h"

/* What tells what a scale's code means. */
static fpemu_status decoder_begin(core_block64 *b, const fpemu_format *f)
{
    const fpemu_rounding nearest = {0};
    fpemu_format scale = {0};
    if (f->scaling != FPEMU_SCALING_S2FP8 && !f->scale_power && !fpemu_scale_of(f, &scale))
        return FPEMU_ERROR_FORMAT;
    core_block_make64(b, f, &scale, &nearest);
    core_block_codes64(b, &scale);
    return FPEMU_OK;
}

static double scale_value(const core_block64 *b, uint64_t code)
{
    core_scale64 s;
    core_scale_read64(b, code, &s);
    if (s.kind != CORE_SCALE_POWER)
        return s.s;
    return s.exponent > 1023    ? core_value64(CORE_INF64) /* ldexp would tell errno what overflows */
           : s.exponent < -1074 ? 0
                                : core_value64(core_power64(s.exponent));
}

/* Where scales go: an array of a carrier's numbers, or NULL. */
typedef struct scale_array {
    core_block64 decoder;
    int carrier;
    void *values;
} scale_array;

static void store_value(const scale_array *a, uint64_t i, uint64_t code)
{
    const double s = scale_value(&a->decoder, code);
    if (a->values && a->carrier == 64)
        ((double *)a->values)[i] = s;
    else if (a->values)
        ((float *)a->values)[i] = (float)s;
}

/* core_reach_array of an array that may be NULL, and then has no bytes. */
static int reach_of(core_reach *e, const void *p, uint64_t count, size_t size)
{
    e->from = e->to = 0;
    return !p || core_reach_array(e, p, count, size);
}

static int some_overlap(const core_reach *e, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (core_reaches_meet(&e[i], &e[k]))
                return 1;
    return 0;
}

/* ---------------------------------------------------------------------------------------- from the elements */

typedef struct finder {
    scale_array scales;
    void *codes;
    size_t code_size;
    float *tensor;
} finder;

static void take_tensor(void *context, uint64_t line, core_tensor t)
{
    const finder *to = context;
    if (to->tensor) {
        to->tensor[2 * line] = t.a;
        to->tensor[2 * line + 1] = t.b;
    }
}

static void take_scale(void *context, uint64_t block, uint64_t code)
{
    const finder *to = context;
    store_value(&to->scales, block, code);
    if (to->codes)
        store_code(to->codes, to->code_size, (size_t)block, code);
}

static size_t size_of_code(const fpemu_format *f)
{
    const uint32_t bits = fpemu_scale_bits(f);
    return bits ? code_size(bits) : 0;
}

static fpemu_status find_scales(const void *plan, const fpemu_format *f, const fpemu_shape *shape, int carrier,
                                const void *x, finder *to)
{
    const fpemu_rounding nearest = {0};
    const size_t size = carrier_size(carrier);
    core_walk walk;
    if (!f || !shape)
        return FPEMU_ERROR_NULL;
    fpemu_status status = plan ? FPEMU_OK : fpemu_check_call(f, &nearest, carrier_wide(carrier), NULL);
    if (status)
        return status;
    const int has_scales = to->scales.values || to->codes;
    if (has_scales || !f->scaling)
        status = fpemu_refuse(NULL, fpemu_use_refused(f, NULL, FPEMU_USE_SCALES), f, NULL, carrier);
    if (status)
        return status;
    fpemu_shape input = *shape;
    memset(input.y_stride, 0, sizeof input.y_stride);
    status = fpemu_walk_begin(&walk, f, &input, size, 0);
    if (!status && !core_told_range_is_sane(shape))
        return FPEMU_ERROR_ARGUMENT;
    if (status || walk.blocks == 0)
        return status;
    if (!x || (!has_scales && !to->tensor))
        return FPEMU_ERROR_NULL;
    to->code_size = size_of_code(f);
    core_reach arrays[4];
    if (!core_walk_reach(&walk, x, walk.x_axis, size, &arrays[0]) ||
        !reach_of(&arrays[1], to->scales.values, walk.blocks, carrier_size(to->scales.carrier)) ||
        !reach_of(&arrays[2], to->codes, walk.blocks, to->code_size) ||
        !reach_of(&arrays[3], to->tensor, 2 * (f->outer ? walk.blocks / walk.across : 1), sizeof(float)))
        return FPEMU_ERROR_ARGUMENT;
    if (some_overlap(arrays, sizeof arrays / sizeof arrays[0]))
        return FPEMU_ERROR_OVERLAP;
    status = decoder_begin(&to->scales.decoder, f);
    if (status)
        return status;
    const block_sink sink = {to, take_tensor, take_scale, NULL, NULL};
    const block_call call = {.format = f,
                             .rounding = &nearest,
                             .shape = &input,
                             .count = UINT64_MAX,
                             .sink = &sink,
                             .carrier = carrier,
                             .plan = plan};
    status = carrier == 64 ? fpemu_block_run64(&call, x, NULL) : fpemu_block_run32(&call, x, NULL);
    if (!status && to->tensor && !core_has_tensor(f))
        to->tensor[0] = to->tensor[1] = 1;
    return status;
}

fpemu_status fpemu_scales_run(const void *plan, const fpemu_format *f, int type, const fpemu_shape *shape,
                              const void *x, void *scales, void *codes, float *tensor)
{
    finder to = {.scales = {.carrier = carrier_wide(type), .values = scales}, .codes = codes, .tensor = tensor};
    return find_scales(plan, f, shape, type, x, &to);
}

fpemu_status fpemu_scales(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape, const void *x,
                          void *scales, void *codes, float *tensor)
{
    if (!is_type((int)type))
        return FPEMU_ERROR_ARGUMENT;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const fpemu_status status = fpemu_scales_run(NULL, format, (int)type, shape, x, scales, codes, tensor);
    fpemu_environment_leave(&environment);
    return status;
}

/* ------------------------------------------------------------------------------------------ from packed bytes */

fpemu_status fpemu_unpack_scales(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape, uint64_t first,
                                 uint64_t count, const void *bytes, void *scales)
{
    fpemu_layout l;
    if (!is_type((int)type))
        return FPEMU_ERROR_ARGUMENT;
    scale_array to = {.carrier = carrier_wide((int)type), .values = scales};
    fpemu_status status = fpemu_packed_layout(format, shape, &l);
    if (!status)
        status = fpemu_check_call(format, NULL, to.carrier, NULL);
    if (status)
        return status;
    status = fpemu_refuse(NULL, fpemu_use_refused(format, NULL, FPEMU_USE_SCALES), format, NULL, (int)type);
    if (status)
        return status;
    if (first > l.blocks || count > l.blocks - first)
        return FPEMU_ERROR_ARGUMENT;
    if (count == 0)
        return FPEMU_OK;
    if (!bytes || !scales)
        return FPEMU_ERROR_NULL;
    core_reach packed, written;
    if (!core_reach_array(&packed, bytes, l.bytes, 1) ||
        !core_reach_array(&written, scales, count, carrier_size(to.carrier)))
        return FPEMU_ERROR_ARGUMENT;
    if (core_reaches_meet(&packed, &written))
        return FPEMU_ERROR_OVERLAP;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    status = decoder_begin(&to.decoder, format);
    for (uint64_t i = 0; i < count && !status; i++) {
        const unsigned char *code = (const unsigned char *)bytes + l.scales_offset + (first + i) * l.scale_bytes;
        store_value(&to, i, core_load_bytes(code, (size_t)l.scale_bytes));
    }
    fpemu_environment_leave(&environment);
    return status;
}
