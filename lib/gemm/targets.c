/* SPDX-License-Identifier: BSD-2-Clause */
/* targets.c - which specs of dot products make sense, and their targets as plans. */
#include "targets.h"

/* Whether a target is a plain float whose steps binary64 reaches by an addition, to nearest or stochastic. */
static int has_fast(const fpemu_format *f, const core_plan64 *p)
{
    const uint64_t past = p->overflow[0];
    return f->kind == FPEMU_KIND_FLOAT && p->rule == CORE_RULE_FLOAT && f->mantissa_bits >= 1 && f->fits_f32 &&
           f->emax >= f->emin && f->subnormals == FPEMU_SUBNORMALS_KEEP &&
           (p->mode == FPEMU_MODE_RNE || p->mode == FPEMU_MODE_SR) && p->zero[1] == CORE_SIGN64 &&
           p->max[0] == p->max[1] && p->nan[0] == p->nan[1] && p->nan[0] == (CORE_INF64 | CORE_INF64 >> 1) &&
           p->infinite[0] == past && p->overflow[1] == p->infinite[1] && p->overflow[1] == (past | CORE_SIGN64) &&
           (past == CORE_INF64 || past == p->max[0]);
}

/* Whether a target goes with arithmetic; *rule is its plan. narrow: operands are binary32 numbers. */
static fpemu_status prepare_target(core_target *rule, const fpemu_target *t, int carrier, int narrow)
{
    if (core_target_is_none(t))
        return FPEMU_OK;
    const fpemu_status status = fpemu_check_call(&t->format, &t->rounding, carrier);
    if (status)
        return status;
    return !t->rounding.compat && core_target_make(rule, t, carrier, narrow) ? FPEMU_OK : FPEMU_ERROR_UNSUPPORTED;
}

/* far: what is rounded may be far past all products of binary32 numbers, which those loops take. */
static gemm_target fast_target(const core_target *rule, const fpemu_target *t, int far)
{
    const gemm_target target = {rule, &t->rounding, !far && rule->given && has_fast(&t->format, &rule->plan)};
    return target;
}

static fpemu_status check_operand(const fpemu_target *t, int carrier)
{
    if (core_target_is_none(t))
        return FPEMU_OK;
    const fpemu_status status = fpemu_check_call(&t->format, &t->rounding, carrier);
    /* blocks of an operand with scales are not those of the slabs in which it is read */
    return status ? status : t->rounding.compat || t->format.scaling ? FPEMU_ERROR_UNSUPPORTED : FPEMU_OK;
}

/* Whether operands rounded to t are numbers of binary32, in the wider carrier too. */
static int is_of_binary32(const fpemu_target *t)
{
    const uint32_t kind = t->format.kind;
    return !core_target_is_none(t) && t->format.fits_f32 &&
           (kind == FPEMU_KIND_FLOAT || kind == FPEMU_KIND_FIXED || kind == FPEMU_KIND_POSIT);
}

/* Fused: what a step may give. */
static int is_step_result(const fpemu_target *t)
{
    const fpemu_format *f = &t->format;
    fpemu_rounding plain = fpemu_rounding_nearest();
    plain.mode = t->rounding.mode;
    return f->kind == FPEMU_KIND_FLOAT && f->specials == FPEMU_SPECIALS_IEEE && f->is_signed && f->has_nan &&
           f->emin >= -126 && f->emax <= 127 && f->emax >= f->emin && f->mantissa_bits <= 23 &&
           f->subnormals == FPEMU_SUBNORMALS_KEEP && f->overflow == FPEMU_OVERFLOW_IEEE &&
           (plain.mode == FPEMU_MODE_RTZ || plain.mode == FPEMU_MODE_RNE) &&
           memcmp(&plain, &t->rounding, sizeof plain) == 0;
}

static int is_fused_operand(const fpemu_target *t)
{
    return t->format.kind == FPEMU_KIND_FLOAT && t->format.mantissa_bits <= 11 && t->format.fits_f32 &&
           t->format.specials != FPEMU_SPECIALS_E8M0;
}

/* Integer: whether an operand lies on a grid of a power of two, and is not too wide. */
static int is_integer_operand(const fpemu_target *t)
{
    int exponent;
    return t->format.bits <= 31 && (t->format.kind == FPEMU_KIND_FIXED ||
                                    (t->format.kind == FPEMU_KIND_INT && core_is_power(t->format.scale, &exponent)));
}

/* Fields of the accumulator, by its model; targets are checked already. */
static int fields_fit(const fpemu_gemm_spec *spec)
{
    const fpemu_accumulator *s = &spec->sum;
    const int fused = s->model == FPEMU_MODEL_FUSED, integer = s->model == FPEMU_MODEL_INTEGER;
    const int has_outer = s->model == FPEMU_MODEL_CHUNKED || (fused && s->chunk);
    if (s->model == FPEMU_MODEL_INVALID || s->model >= FPEMU_MODEL_COUNT || spec->start_from_c > 1 || s->wrap > 1)
        return 0;
    if (!is_zero(s->reserved0, sizeof s->reserved0) || !is_zero(s->reserved1, sizeof s->reserved1) ||
        !is_zero(spec->reserved0, sizeof spec->reserved0) || !is_zero(spec->reserved1, sizeof spec->reserved1))
        return 0;
    if (core_target_is_none(&s->inner) != integer || core_target_is_none(&s->outer) == has_outer)
        return 0;
    if (fused ? !core_dot_steps_exist(s)
              : (s->chunk == 0) == has_outer || s->block || s->fraction_bits || s->least_exponent)
        return 0;
    return integer ? s->width >= 2 && s->width <= 64 : s->width == 0 && s->wrap == 0;
}

/* Checks a spec and fills *t. */
static fpemu_status prepare_spec(gemm_targets *t, const fpemu_gemm_spec *spec, int carrier)
{
    if (!spec)
        return FPEMU_ERROR_NULL;
    if (carrier != 32 && carrier != 64)
        return FPEMU_ERROR_ARGUMENT;
    const fpemu_accumulator *s = &spec->sum;
    core_dot *const d = &t->dot;
    fpemu_status status = check_operand(&spec->a, carrier);
    if (!status)
        status = check_operand(&spec->b, carrier);
    if (status)
        return status;
    const int narrow = carrier == 32 || (is_of_binary32(&spec->a) && is_of_binary32(&spec->b));
    if (!status)
        status = prepare_target(&d->product, &spec->product, 64, narrow);
    if (!status)
        status = prepare_target(&d->inner, &s->inner, 64, core_dot_sums_are_narrow(spec, narrow));
    if (!status)
        status = prepare_target(&d->outer, &s->outer, 64, narrow);
    if (!status)
        status = prepare_target(&d->out, &spec->out, carrier, 0);
    if (status)
        return status;
    if (!fields_fit(spec))
        return FPEMU_ERROR_ARGUMENT;
    if (s->model == FPEMU_MODEL_FUSED &&
        (d->product.given || !is_step_result(&s->inner) || !is_fused_operand(&spec->a) || !is_fused_operand(&spec->b)))
        return FPEMU_ERROR_UNSUPPORTED;
    if (s->model == FPEMU_MODEL_INTEGER &&
        (d->product.given || spec->start_from_c || !is_integer_operand(&spec->a) || !is_integer_operand(&spec->b)))
        return FPEMU_ERROR_UNSUPPORTED;
    core_dot_make(d, spec, carrier);
    t->spec = spec;
    t->carrier = carrier;
    t->binary32 = (uint8_t)narrow;
    t->nan_is_error = d->product.nan_is_error || d->inner.nan_is_error || d->outer.nan_is_error || d->out.nan_is_error;
    t->product = fast_target(&d->product, &spec->product, 0);
    t->inner = fast_target(&d->inner, &s->inner, d->product.given && !spec->product.format.fits_f32);
    t->outer = fast_target(&d->outer, &s->outer, d->inner.given && !s->inner.format.fits_f32);
    return FPEMU_OK;
}

fpemu_status fpemu_gemm_targets(gemm_targets *t, const fpemu_gemm_spec *spec, int carrier)
{
    fp_environment environment;
    memset(t, 0, sizeof *t);
    fpemu_environment_enter(&environment);
    const fpemu_status status = prepare_spec(t, spec, carrier);
    fpemu_environment_leave(&environment);
    return status;
}

fpemu_status fpemu_gemm_check(const fpemu_gemm_spec *spec, int carrier)
{
    gemm_targets t;
    return fpemu_gemm_targets(&t, spec, carrier);
}
