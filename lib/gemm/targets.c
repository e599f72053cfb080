/* SPDX-License-Identifier: BSD-2-Clause */
/* targets.c - which specs of dot products make sense, and their targets as plans. */
#include <stdio.h>

#include "targets.h"

/* The status; where it is an error, of that argument, which the words name. */
static fpemu_status refused_at(fpemu_why *why, fpemu_argument argument, fpemu_status status)
{
    static const char *const names[] = {"a", "b", "product", "inner", "outer", "out"};
    if (why && status) {
        const fpemu_why told = *why;
        why->argument = argument;
        snprintf(why->message, sizeof why->message, "%s: %.114s", names[argument - FPEMU_ARGUMENT_A], told.message);
    }
    return status;
}

/* A target by itself: words of the caller's have no order here. */
static fpemu_status check_own(const fpemu_target *t, int carrier, fpemu_why *why)
{
    const fpemu_status status = fpemu_check_call(&t->format, &t->rounding, carrier, why);
    if (status || t->rounding.generator != FPEMU_GENERATOR_WORDS)
        return status;
    return fpemu_refuse(why, REASON_WORDS_TARGET, NULL, NULL, 0);
}

/* Whether a target goes with arithmetic; *rule is its plan. narrow: operands are binary32 numbers. */
static fpemu_status prepare_target(core_target *rule, const fpemu_target *t, int carrier, int narrow,
                                   fpemu_argument argument, fpemu_why *why)
{
    if (core_target_is_none(t))
        return FPEMU_OK;
    fpemu_status status = check_own(t, carrier, why);
    if (!status)
        status = fpemu_refuse(why, core_target_make(rule, t, carrier, narrow), &t->format, &t->rounding, carrier);
    return refused_at(why, argument, status);
}

/* The loop that rounds sums to a target in one pass. */
static enum sum_form form_of(const core_target *rule, const fpemu_format *f)
{
    const core_plan64 *const p = &rule->plan;
    const int ends = p->rule == CORE_RULE_SHIFTER_PASS || p->rule == CORE_RULE_SHIFTER_STOP;
    if (FLT_EVAL_METHOD != 0 || rule->native)
        return rule->native && FLT_EVAL_METHOD == 0 ? SUM_NATIVE : SUM_NONE;
    if (!ends || p->nan[0] != (CORE_INF64 | CORE_INF64 >> 1) || p->nan[1] != p->nan[0] || !core_dot_short(f, p))
        return SUM_NONE;
    if (p->mode == FPEMU_MODE_RNE)
        return SUM_NEAREST;
    return p->mode == FPEMU_MODE_SR && p->d_norm >= 32 ? SUM_STOCHASTIC : SUM_NONE;
}

/* The target of a rule, whose plan takes its fast form. */
static gemm_target fast_target(core_target *rule, const fpemu_target *t)
{
    gemm_target target = {NULL, NULL, 0, 0, 0};
    if (!rule->given)
        return target;
    core_plan64 fast = rule->plan;
    core_choose_fast64(&fast, &t->format);
    if (is_one_loop(fast.rule, fast.wrap))
        rule->plan = fast;
    target.is_short = (uint8_t)(!rule->nan_is_error && core_dot_short(&t->format, &fast));
    target.within = t->format.has_zero && !fast.negative && fast.max[1] >= fast.max[0];
    target.form = (uint8_t)(target.within && !rule->nan_is_error ? form_of(rule, &t->format) : SUM_NONE);
    rule->by_addition = (fast.rule == CORE_RULE_SHIFTER_PASS || fast.rule == CORE_RULE_SHIFTER_STOP) &&
                        rule->by_binary64 && fast.mode == FPEMU_MODE_RNE && rule->flushed == 0 && FLT_EVAL_METHOD == 0;
    return target;
}

static fpemu_status refuse(fpemu_why *why, core_reason reason)
{
    return fpemu_refuse(why, reason, NULL, NULL, 0);
}

static fpemu_status check_operand(const fpemu_target *t, int carrier, fpemu_argument argument, fpemu_why *why)
{
    if (core_target_is_none(t))
        return FPEMU_OK;
    fpemu_status status = check_own(t, carrier, why);
    if (!status && (t->rounding.compat || t->format.scaling))
        /* blocks of an operand with scales are not those of the slabs in which it is read */
        status = refuse(why, t->rounding.compat ? REASON_RESULT_COMPAT : REASON_OPERAND_BLOCKS);
    return refused_at(why, argument, status);
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

/* Fused, scales inside: whether binary64 has the terms of a step, and whether these are scales. */
static core_reason check_group(const fpemu_gemm_spec *spec)
{
    const fpemu_format *const a = &spec->a.format, *const b = &spec->b.format, *const scale = &spec->sum.outer.format;
    const int top = a->emax + b->emax + 2, bits = (int)(a->mantissa_bits + b->mantissa_bits + 2);
    const int whole = spec->sum.group > 1;
    if (scale->kind != FPEMU_KIND_FLOAT || scale->is_signed || scale->mantissa_bits > 7 || !scale->fits_f32 ||
        !scale->has_nan)
        return REASON_SCALES;
    if (whole && (top + 6 + 2 + (int)spec->sum.fraction_bits > 50 || top + 6 - a->quantum - b->quantum > 32))
        return REASON_SCALED_OPERAND;
    return bits + 2 * (int)scale->mantissa_bits + 2 <= 53 ? REASON_NONE : REASON_SCALED_OPERAND;
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

/* Whether an operand may be split; *at: which may not. */
static core_reason check_splits(const fpemu_gemm_spec *spec, fpemu_argument *at)
{
    const int slices = spec->splits == FPEMU_SPLITS_INT8;
    const fpemu_target *const operands[] = {&spec->a, &spec->b};
    fpemu_format piece;
    if (!spec->splits)
        return REASON_NONE;
    if (slices &&
        (!core_target_is_none(&spec->product) || spec->sum.model != FPEMU_MODEL_SEQUENTIAL || spec->start_from_c))
        return REASON_SLICES;
    (void)fpemu_format_named(fpemu_split_format((fpemu_splits)spec->splits), &piece);
    for (int i = 0; i < 2; i++) {
        const fpemu_rounding *const r = &operands[i]->rounding;
        fpemu_rounding plain = fpemu_rounding_nearest();
        fpemu_format f = operands[i]->format;
        f.subnormals = FPEMU_SUBNORMALS_KEEP; /* a unit may flush them */
        (void)fpemu_format_complete(&f);
        plain.mode = r->mode;
        *at = i ? FPEMU_ARGUMENT_B : FPEMU_ARGUMENT_A;
        if (slices && core_target_is_none(operands[i]))
            continue;
        if ((!slices && !fpemu_format_equal(&f, &piece)) || memcmp(&plain, r, sizeof plain) != 0 ||
            !(r->mode == FPEMU_MODE_RNE || r->mode == FPEMU_MODE_RNA || r->mode == FPEMU_MODE_RNZ ||
              r->mode == FPEMU_MODE_RTZ))
            return REASON_SPLIT_OPERAND;
    }
    return REASON_NONE;
}

/* Fields of the accumulator, by its model; targets are checked already. */
static core_reason check_fields(const fpemu_gemm_spec *spec)
{
    const fpemu_accumulator *s = &spec->sum;
    const int fused = s->model == FPEMU_MODEL_FUSED, integer = s->model == FPEMU_MODEL_INTEGER;
    const int has_outer = s->model == FPEMU_MODEL_CHUNKED || (fused && s->chunk);
    const uint8_t steps[] = {s->ways, s->late, s->group, s->order, s->flush};
    if (s->model == FPEMU_MODEL_INVALID || s->model >= FPEMU_MODEL_COUNT || spec->start_from_c > 1 || s->wrap > 1 ||
        !is_zero(s->reserved0, sizeof s->reserved0) || !is_zero(s->reserved1, sizeof s->reserved1) || spec->reserved0 ||
        !is_zero(spec->reserved1, sizeof spec->reserved1) || !fpemu_splits_exist(spec))
        return REASON_NO_MODEL;
    if (core_target_is_none(&s->inner) != integer)
        return REASON_SUM_FORMAT;
    if (core_target_is_none(&s->outer) == has_outer)
        return REASON_CHUNK_FORMAT;
    if (fused && !core_dot_steps_exist(s))
        return REASON_STEP;
    if (!fused && ((s->chunk == 0) == has_outer || s->block || s->fraction_bits || s->least_exponent ||
                   !is_zero(steps, sizeof steps)))
        return REASON_CHUNK;
    return (integer ? s->width >= 2 && s->width <= 64 : s->width == 0 && s->wrap == 0) ? REASON_NONE : REASON_WIDTH;
}

/* What a fused or an integer model asks of its targets; *at: of which operand. */
static core_reason check_model(const fpemu_gemm_spec *spec, fpemu_argument *at)
{
    const int fused = spec->sum.model == FPEMU_MODEL_FUSED;
    int (*const is_operand)(const fpemu_target *) = fused ? is_fused_operand : is_integer_operand;
    if (!fused && spec->sum.model != FPEMU_MODEL_INTEGER)
        return REASON_NONE;
    if (!core_target_is_none(&spec->product))
        return REASON_EXACT_PRODUCT;
    if (fused ? !is_step_result(&spec->sum.inner) : spec->start_from_c)
        return fused ? REASON_STEP_FORMAT : REASON_INTEGER_START;
    *at = is_operand(&spec->a) ? FPEMU_ARGUMENT_B : FPEMU_ARGUMENT_A;
    if (fused && spec->sum.group && is_operand(&spec->a) && is_operand(&spec->b)) {
        const core_reason reason = check_group(spec);
        *at = !reason ? FPEMU_ARGUMENT_NONE : reason == REASON_SCALED_OPERAND ? FPEMU_ARGUMENT_A : FPEMU_ARGUMENT_OUTER;
        return reason;
    }
    return is_operand(&spec->a) && is_operand(&spec->b) ? REASON_NONE
           : fused                                      ? REASON_STEP_OPERAND
                                                        : REASON_INTEGER_OPERAND;
}

/* Checks a spec and fills *t. */
static fpemu_status prepare_spec(gemm_targets *t, const fpemu_gemm_spec *spec, int carrier, fpemu_why *why)
{
    if (!spec || (carrier != 32 && carrier != 64))
        return refuse(why, spec ? REASON_NO_TYPE : REASON_NO_SPEC);
    const fpemu_accumulator *s = &spec->sum;
    core_dot *const d = &t->dot;
    const int slices = spec->splits == FPEMU_SPLITS_INT8;
    const int narrow = carrier == 32 || slices || (is_of_binary32(&spec->a) && is_of_binary32(&spec->b));
    const struct {
        core_target *rule;
        const fpemu_target *target;
        int carrier, narrow;
    } rounded[] = {{&d->product, &spec->product, 64, narrow},
                   {&d->inner, &s->inner, 64, core_dot_sums_are_narrow(spec, narrow)},
                   {&d->outer, &s->outer, 64, narrow},
                   {&d->out, &spec->out, carrier, 0}};
    fpemu_status status = check_operand(&spec->a, carrier, FPEMU_ARGUMENT_A, why);
    if (!status)
        status = check_operand(&spec->b, carrier, FPEMU_ARGUMENT_B, why);
    for (int i = 0; i < 4 && !status; i++)
        status = prepare_target(rounded[i].rule, rounded[i].target, rounded[i].carrier, rounded[i].narrow,
                                (fpemu_argument)(FPEMU_ARGUMENT_PRODUCT + i), why);
    if (status)
        return status;
    fpemu_argument operand = FPEMU_ARGUMENT_NONE;
    core_reason reason = check_fields(spec);
    reason = reason ? reason : check_model(spec, &operand);
    reason = reason ? reason : check_splits(spec, &operand);
    if (reason)
        return operand ? refused_at(why, operand, refuse(why, reason)) : refuse(why, reason);
    core_dot_make(d, spec, carrier);
    fpemu_target wide = {.rounding = fpemu_rounding_nearest()};
    if (slices) { /* a term's products are a chunk, added exactly */
        (void)fpemu_format_named(FPEMU_NAME_BINARY64, &wide.format);
        d->model = FPEMU_MODEL_CHUNKED;
        d->outer = d->inner;
        (void)core_target_make(&d->inner, &wide, 64, narrow);
    }
    t->carrier = carrier;
    t->binary32 = (uint8_t)narrow;
    t->nan_is_error = d->product.nan_is_error || d->inner.nan_is_error || d->outer.nan_is_error || d->out.nan_is_error;
    t->product = fast_target(&d->product, &spec->product);
    t->inner = fast_target(&d->inner, slices ? &wide : &s->inner);
    t->outer = fast_target(&d->outer, slices ? &s->inner : &s->outer);
    fpemu_gemm_point(t, spec);
    return FPEMU_OK;
}

void fpemu_gemm_point(gemm_targets *t, const fpemu_gemm_spec *spec)
{
    t->spec = spec;
    t->product.rule = &t->dot.product;
    t->product.rounding = &spec->product.rounding;
    t->inner.rule = &t->dot.inner;
    t->inner.rounding = &spec->sum.inner.rounding;
    t->outer.rule = &t->dot.outer;
    t->outer.rounding = spec->splits == FPEMU_SPLITS_INT8 ? t->inner.rounding : &spec->sum.outer.rounding;
}

fpemu_status fpemu_gemm_targets(gemm_targets *t, const fpemu_gemm_spec *spec, int carrier, fpemu_why *why)
{
    fp_environment environment;
    memset(t, 0, sizeof *t);
    fpemu_environment_enter(&environment);
    const fpemu_status status = prepare_spec(t, spec, carrier, why);
    fpemu_environment_leave(&environment);
    return status;
}

fpemu_status fpemu_gemm_check(const fpemu_gemm_spec *spec, fpemu_type type, fpemu_why *why)
{
    gemm_targets t;
    if (why)
        memset(why, 0, sizeof *why);
    return fpemu_gemm_targets(&t, spec, (int)type, why);
}
