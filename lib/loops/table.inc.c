/* SPDX-License-Identifier: BSD-2-Clause */
/* table.inc.c - the loops of one carrier as TABLE, in the part of that carrier; with TABLE_DECODE for its loop of
 * codes, and TABLE_CODEBOOK and what begins like it for those of tables. */

#define ROUND(rule, mode) [mode] = CARRIER(loop_round_##rule##_##mode),
#define FINISHED(rule, mode) [mode] = CARRIER(loop_kernel_given),
#define OPEN(rule, mode) [mode] = CARRIER(loop_kernel_open),
#define KERNEL_RULES                                                                                                   \
    [CORE_RULE_FULL_RANGE] = {FAST_MODES(0, FINISHED)}, [CORE_RULE_FULL_RANGE_GRID] = {FAST_MODES(0, OPEN)},           \
    [CORE_RULE_SHIFTER_PASS] = {FAST_MODES(0, FINISHED)}, [CORE_RULE_SHIFTER_STOP] = {FAST_MODES(0, FINISHED)},        \
    [CORE_RULE_SHIFTER_STOP_INF] = {FAST_MODES(0, FINISHED)}, [CORE_RULE_SHIFTER_GRID] = {FAST_MODES(0, OPEN)},        \
    [CORE_RULE_EVEN] = {FAST_MODES(0, FINISHED)}
#define AFFINE(rule, mode) [mode] = CARRIER(loop_affine),
#define POW2(kind, mode) [mode] = CARRIER(loop_pow2_##kind##_##mode),
#define SCALED(form, mode) CARRIER(loop_scaled_##form##_##mode)
#define COUNTED(form, mode) CARRIER(loop_count_scaled_##form##_##mode)
#define LIMITS(form) CARRIER(loop_count_limits_##form)
#define SCALED_FAST(form) CARRIER(loop_fast_##form)

#if PART == CARRIER_BITS
const carrier_loops TABLE = {
    .round = {[CORE_RULE_FLOAT] = {MODES(float, ROUND)},
              [CORE_RULE_ANY] = {MODES(any, ROUND)},
              KERNEL_RULES,
              [CORE_RULE_POSIT] = {[FPEMU_MODE_RNE] = CARRIER(loop_posit)},
              [CORE_RULE_AFFINE_FAST] = {FAST_MODES(affine, AFFINE) ROUND(affine_fast, CORE_SR_B)
                                             ROUND(affine_fast, CORE_SR_C)}},
    .kernel = CARRIER(loop_kernel),
    .kernel_codes = CARRIER(loop_kernel_codes),
    .finished = CARRIER(loop_kernel_given),
    .compat = loop_compat,
    .wrapped = {FAST_MODES(wrapped, ROUND)},
    .power = {FAST_MODES(power, ROUND)},
    .odd = ODD_TABLE,
    .finish = loop_finish,
    .count = loop_count,
    .count_inside = loop_count_inside,
    .count_nonzero = loop_count_nonzero,
    .encode = loop_encode,
    .encode_nearest = loop_encode_nearest,
    .encode_posit = loop_encode_posit,
    .decode = TABLE_DECODE,
    .extremes = loop_extremes,
    .logarithms = loop_logarithms,
    .scale_t = loop_scale_t,
    .scale_y = loop_scale_y,
    .count_element = loop_count_element,
    .runs_amax = loop_runs_amax,
    .runs_t = loop_runs_t,
    .runs_y = loop_runs_y,
    .runs_powers = loop_runs_powers,
    .runs_scales = loop_runs_scales,
    .runs_down = loop_runs_down,
    .runs_nvfp4 = loop_runs_nvfp4,
    .scaled = {{{SCALED(stop_times, nearest), SCALED(stop_times, stochastic)},
                {SCALED(stop_by, nearest), SCALED(stop_by, stochastic)}},
               {{SCALED(even_times, nearest), SCALED(even_times, stochastic)},
                {SCALED(even_by, nearest), SCALED(even_by, stochastic)}}},
    .count_scaled = {{{COUNTED(stop_times, nearest), COUNTED(stop_times, stochastic)},
                      {COUNTED(stop_by, nearest), COUNTED(stop_by, stochastic)}},
                     {{COUNTED(even_times, nearest), COUNTED(even_times, stochastic)},
                      {COUNTED(even_by, nearest), COUNTED(even_by, stochastic)}}},
    .runs_fast = loop_runs_fast,
    .runs_limits = loop_runs_limits,
    .count_limits = {LIMITS(stop), LIMITS(stop_inside), LIMITS(even_inside)},
    .scaled_fast = {{{SCALED_FAST(stop_times), SCALED_FAST(stop_by)}, {SCALED_FAST(even_times), SCALED_FAST(even_by)}},
                    {{SCALED_FAST(stop_times_inside), SCALED_FAST(stop_by_inside)},
                     {SCALED_FAST(even_times_inside), SCALED_FAST(even_by_inside)}}},
    .codebook_begin = TABLE_CODEBOOK_BEGIN,
    .codebook = TABLE_CODEBOOK,
    .codebook_codes = TABLE_CODEBOOK_CODES,
    .codebook_random = TABLE_CODEBOOK_RANDOM,
    .codebook_random_runs = TABLE_CODEBOOK_RANDOM_RUNS,
    .count_outside = loop_count_outside,
    .codebook_outside = loop_codebook_outside,
    .codebook_values = TABLE_CODEBOOK_VALUES,
    .codebook_runs = TABLE_CODEBOOK_RUNS,
    .columns_amax = loop_columns_amax,
    .pow2_powers = loop_pow2_powers,
    .pow2_codes = loop_pow2_codes,
    .pow2_spread = loop_pow2_spread,
    .pow2_rows = {CARRIER(loop_pow2_rows_float), CARRIER(loop_pow2_rows_fixed)},
    .pow2 = {{FAST_MODES(float, POW2)}, {FAST_MODES(fixed, POW2)}},
    .pow2_count = {loop_count_pow2_float, loop_count_pow2_fixed},
};
#endif

#undef ROUND
#undef FINISHED
#undef OPEN
#undef KERNEL_RULES
#undef AFFINE
#undef POW2
#undef SCALED
#undef COUNTED
#undef LIMITS
#undef SCALED_FAST
#undef TABLE_CODEBOOK
#undef TABLE_CODEBOOK_CODES
#undef TABLE_CODEBOOK_RANDOM
#undef TABLE_CODEBOOK_RANDOM_RUNS
#undef TABLE_CODEBOOK_VALUES
#undef TABLE_CODEBOOK_RUNS
#undef TABLE_CODEBOOK_BEGIN
