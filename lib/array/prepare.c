/* SPDX-License-Identifier: BSD-2-Clause */
/* prepare.c - prepared calls: what the other calls check and plan anew each time is kept in the caller's memory. */
#include "blocks.h"

/* What lies in an fpemu_prepared. */
typedef struct prepared {
    uint64_t mark;  /* MARK, once it is made */
    int16_t type;   /* fpemu_type */
    uint8_t use;    /* fpemu_use; of operations and functions without their number */
    uint8_t wide;   /* the carrier is binary64 */
    uint8_t blocks; /* the plan is one of blocks: the format has scales, or is a table */
    uint8_t draws;  /* random bits */
    uint8_t reserved[2];
    fpemu_rounding rounding; /* without seed, stream and offset */
    fpemu_format format;
    uint64_t plan[PLAN_BYTES / sizeof(uint64_t)];
} prepared;
_Static_assert(sizeof(prepared) == sizeof(fpemu_prepared), "a prepared lies in an fpemu_prepared");

#define MARK UINT64_C(0x6670656d752e3031)

/* Fills the plan. Everything is checked. */
static fpemu_status make_plan(prepared *p, int use)
{
    const fpemu_format *f = &p->format;
    const int type = p->type, coded = p->use != FPEMU_USE_QUANTIZE;
    const fpemu_format *scale;
    fpemu_format own;
    if (p->use >= FPEMU_USE_OPERATION)
        return fpemu_arith_plan(p->plan, f, &p->rounding, use, type);
    const fpemu_status status = fpemu_check_scaled(f, NULL, carrier_wide(type), &scale, &own, NULL);
    if (status)
        return status;
    if (p->use == FPEMU_USE_DECODE || p->use == FPEMU_USE_UNPACK) {
        if (p->wide)
            fpemu_reader_begin64((block_reader64 *)(void *)p->plan, f, scale);
        else
            fpemu_reader_begin32((block_reader32 *)(void *)p->plan, f, scale);
    } else if (p->blocks) {
        (p->wide ? fpemu_block_plan64 : fpemu_block_plan32)(p->plan, f, scale, &p->rounding, type, coded);
    } else {
        (p->wide ? fpemu_convert_plan64 : fpemu_convert_plan32)(p->plan, f, &p->rounding, type, coded);
    }
    return FPEMU_OK;
}

fpemu_status fpemu_prepare(fpemu_prepared *to, const fpemu_format *format, const fpemu_rounding *rounding,
                           fpemu_type type, int use, fpemu_why *why)
{
    static const fpemu_rounding nearest;
    fpemu_status status = fpemu_check_use(format, rounding, type, use, why);
    if (!to)
        return FPEMU_ERROR_NULL;
    prepared *const p = (prepared *)(void *)to;
    memset(to, 0, sizeof *to);
    if (!status && use >= FPEMU_USE_FUNCTION_TABLE)
        status = fpemu_refuse(why, REASON_NO_USE, format, rounding, (int)type);
    if (status)
        return status;
    p->type = (int16_t)type;
    p->wide = type == FPEMU_TYPE_F64;
    p->use = (uint8_t)(use >= FPEMU_USE_FUNCTION    ? FPEMU_USE_FUNCTION
                       : use >= FPEMU_USE_OPERATION ? FPEMU_USE_OPERATION
                                                    : use);
    p->format = *format;
    p->rounding = fpemu_use_rounds(use) ? *rounding : nearest;
    p->rounding.seed = p->rounding.stream = p->rounding.offset = 0;
    p->draws = fpemu_use_rounds(use) && FPEMU_DRAWS(format, &p->rounding);
    p->blocks = p->use == FPEMU_USE_PACK || p->use == FPEMU_USE_SCALES || format->scaling ||
                format->kind == FPEMU_KIND_CODEBOOK;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    status = make_plan(p, use);
    fpemu_environment_leave(&environment);
    if (status)
        memset(to, 0, sizeof *to);
    else
        p->mark = MARK;
    return status;
}

/* What a call takes from an fpemu_prepared. */
typedef struct call {
    const prepared *p;
    const fpemu_rounding *rounding; /* the prepared one, or `own` with a place; NULL where the place is missing */
    fpemu_rounding own;
} call;

static fpemu_status begin(call *c, const fpemu_prepared *from, const fpemu_place *place)
{
    const prepared *const p = c->p = (const prepared *)(const void *)from;
    if (!p || p->mark != MARK)
        return p ? FPEMU_ERROR_ARGUMENT : FPEMU_ERROR_NULL;
    c->rounding = p->draws ? NULL : &p->rounding;
    if (!place)
        return FPEMU_OK;
    c->own = p->rounding;
    c->own.seed = place->seed;
    c->own.stream = place->stream;
    c->own.offset = place->offset;
    c->rounding = &c->own;
    return FPEMU_OK;
}

static fpemu_status run_elements(const prepared *p, const fpemu_rounding *r, size_t n, const void *x, void *y,
                                 fpemu_stats *stats)
{
    const void *const operands[1] = {x};
    switch (p->use) {
    case FPEMU_USE_QUANTIZE:
    case FPEMU_USE_ENCODE: return (p->wide ? fpemu_convert_run64 : fpemu_convert_run32)(p->plan, r, n, x, y, stats);
    case FPEMU_USE_DECODE:
        return p->wide ? fpemu_reader_run64((const block_reader64 *)(const void *)p->plan, p->type, n, x, y)
                       : fpemu_reader_run32((const block_reader32 *)(const void *)p->plan, p->type, n, x, y);
    case FPEMU_USE_FUNCTION: return fpemu_arith_run(p->plan, r, n, operands, NULL, NULL, y, stats);
    default: return FPEMU_ERROR_ARGUMENT;
    }
}

static fpemu_status run_tensor(const prepared *p, const fpemu_rounding *r, const fpemu_shape *shape, const void *x,
                               void *y, fpemu_stats *stats)
{
    switch (p->use) {
    case FPEMU_USE_QUANTIZE:
        return (p->wide ? fpemu_block_tensor_run64 : fpemu_block_tensor_run32)(p->type, p->blocks ? p->plan : NULL,
                                                                               &p->format, r, shape, x, y, stats);
    case FPEMU_USE_PACK:
        return (p->wide ? fpemu_pack_run64 : fpemu_pack_run32)(p->type, p->plan, &p->format, r, shape, 0, 0, 0, x, y,
                                                               stats);
    case FPEMU_USE_UNPACK:
        return (p->wide ? fpemu_unpack_run64 : fpemu_unpack_run32)(p->type, p->plan, &p->format, shape, 0, 0, 0, x, y);
    default: return FPEMU_ERROR_ARGUMENT;
    }
}

fpemu_status fpemu_run(const fpemu_prepared *from, const fpemu_place *place, size_t n, const void *x, void *y,
                       fpemu_stats *stats)
{
    call c;
    fpemu_status status = begin(&c, from, place);
    const prepared *const p = c.p;
    if (status || n == 0)
        return status;
    if (!c.rounding || !x || !y)
        return FPEMU_ERROR_NULL;
    if (p->use == FPEMU_USE_PACK || p->use == FPEMU_USE_UNPACK || (p->blocks && p->use == FPEMU_USE_QUANTIZE)) {
        const fpemu_shape vector = {.outer = 1, .rows = 1, .length = n, .inner = 1};
        return run_tensor(p, c.rounding, &vector, x, y, stats);
    }
    if (p->blocks && p->use == FPEMU_USE_ENCODE)
        return (p->wide ? fpemu_block_convert64 : fpemu_block_convert32)(p->type, p->plan, &p->format, c.rounding, n, x,
                                                                         y, 1, stats);
    fp_environment environment;
    fpemu_environment_enter(&environment);
    status = run_elements(p, c.rounding, n, x, y, stats);
    fpemu_environment_leave(&environment);
    return status;
}

fpemu_status fpemu_run_tensor(const fpemu_prepared *from, const fpemu_place *place, const fpemu_shape *shape,
                              const void *x, void *y, fpemu_stats *stats)
{
    call c;
    const fpemu_status status = begin(&c, from, place);
    if (status)
        return status;
    return c.rounding ? run_tensor(c.p, c.rounding, shape, x, y, stats) : FPEMU_ERROR_NULL;
}

fpemu_status fpemu_run_operation(const fpemu_prepared *from, const fpemu_place *place, size_t n,
                                 const void *const *operands, const size_t *steps, const fpemu_operand_scales *scales,
                                 void *y, fpemu_stats *stats)
{
    call c;
    fp_environment environment;
    fpemu_status status = begin(&c, from, place);
    if (!status && c.p->use != FPEMU_USE_OPERATION)
        status = FPEMU_ERROR_ARGUMENT;
    if (status || n == 0)
        return status;
    if (!c.rounding)
        return FPEMU_ERROR_NULL;
    fpemu_environment_enter(&environment);
    status = fpemu_arith_run(c.p->plan, c.rounding, n, operands, steps, scales, y, stats);
    fpemu_environment_leave(&environment);
    return status;
}

fpemu_status fpemu_run_scales(const fpemu_prepared *from, const fpemu_shape *shape, const void *x, void *scales,
                              void *codes, float *tensor)
{
    call c;
    fp_environment environment;
    fpemu_status status = begin(&c, from, NULL);
    if (status || c.p->use != FPEMU_USE_SCALES)
        return status ? status : FPEMU_ERROR_ARGUMENT;
    fpemu_environment_enter(&environment);
    status = fpemu_scales_run(c.p->plan, &c.p->format, c.p->type, shape, x, scales, codes, tensor);
    fpemu_environment_leave(&environment);
    return status;
}
