/* SPDX-License-Identifier: BSD-2-Clause */
/* table.inc.c - the loops of one carrier as TABLE, in the part of that carrier. */

#define FINISHED(rule, mode) [mode] = CARRIER(loop_kernel_given),
#define OPEN(rule, mode) [mode] = CARRIER(loop_kernel_open),
#define KERNEL_RULES                                                                                                   \
    [CORE_RULE_FULL_RANGE] = {FAST_MODES(0, FINISHED)}, [CORE_RULE_FULL_RANGE_GRID] = {FAST_MODES(0, OPEN)},           \
    [CORE_RULE_SHIFTER_PASS] = {FAST_MODES(0, FINISHED)}, [CORE_RULE_SHIFTER_STOP] = {FAST_MODES(0, FINISHED)},        \
    [CORE_RULE_SHIFTER_STOP_INF] = {FAST_MODES(0, FINISHED)}, [CORE_RULE_SHIFTER_GRID] = {FAST_MODES(0, OPEN)},        \
    [CORE_RULE_EVEN] = {FAST_MODES(0, FINISHED)}
#define AFFINE(rule, mode) [mode] = CARRIER(loop_affine),

#if PART == CARRIER_BITS && !defined(KERNEL_PART)
const carrier_loops TABLE = {
    .round = {[CORE_RULE_FLOAT] = {OWN_MODES(float, MODE_OWN) VARIANTS(any, MODE_OWN) READ_MODES(any, MODE_READ)},
              [CORE_RULE_ANY] = {EACH_MODE(any)},
              KERNEL_RULES,
              [CORE_RULE_POSIT] = {[FPEMU_MODE_RNE] = CARRIER(loop_posit)},
              [CORE_RULE_AFFINE_FAST] = {MODES(affine, AFFINE)}},
    .kernel = CARRIER(loop_kernel),
    .kernel_scaled = CARRIER(loop_kernel_scaled),
    .count_scaled = CARRIER(loop_count_scaled),
    .kernel_codes = CARRIER(loop_kernel_codes),
    .finished = CARRIER(loop_kernel_given),
    .compat = loop_compat,
    .wrapped = {FAST_MODES(wrapped, MODE_OWN)},
    .power = {FAST_MODES(power, MODE_OWN)},
    .odd = ODD_TABLE,
    .finish = loop_finish,
    .count = loop_count,
    .count_inside = loop_count_inside,
    .count_nonzero = loop_count_nonzero,
    .encode = loop_encode,
    .codes = CARRIER(loop_codes),
    .encode_posit = loop_encode_posit,
    .decode = loop_decode,
#if CARRIER_BITS == 32
    .unpack = loop_unpack,
    .unpack_make = loop_unpack_make,
    .join = loop_join,
    .part = loop_part,
    .chains = loop_chains,
#else
    .step = {{loop_step, loop_step_counted}, {loop_step_each, loop_step_each_counted}},
    .sum_rows = loop_sum_rows,
    .sum_alone = loop_sum_alone,
    .sum = {[SUM_NEAREST] = loop_SUM_NEAREST,
            [SUM_STOCHASTIC] = loop_SUM_STOCHASTIC,
            [SUM_NATIVE] = SIMD_HAS_FUSED ? loop_SUM_NATIVE : NULL,
            [SUM_GIVEN] = loop_SUM_GIVEN},
#endif
    .extremes = loop_extremes,
    .logarithms = loop_logarithms,
    .scale_t = loop_scale_t,
    .scale_y = loop_scale_y,
    .zero_t = loop_zero_t,
    .zero_q = loop_zero_q,
    .runs_zero_y = loop_runs_zero_y,
    .runs_ends = loop_runs_ends,
    .steps = loop_steps,
    .choice_errors = loop_choice_errors,
    .search_errors = loop_search_errors,
    .count_element = loop_count_element,
    .runs_amax = loop_runs_amax,
    .runs_t = loop_runs_t,
    .runs_y = loop_runs_y,
    .runs_powers = loop_runs_powers,
    .runs_scales = loop_runs_scales,
    .runs_down = loop_runs_down,
    .runs_inverses = loop_runs_inverses,
    .codebook_begin = loop_table_begin,
    .codebook = loop_table,
    .codebook_codes = loop_table_codes,
    .codebook_runs = loop_table_runs,
    .count_outside = loop_count_outside,
    .codebook_outside = loop_codebook_outside,
    .codebook_values = loop_codebook_values,
    .columns_amax = loop_columns_amax,
    .pow2_powers = loop_pow2_powers,
    .pow2_codes = loop_pow2_codes,
    .pow2_scales = loop_pow2_scales,
};
#endif

#undef FINISHED
#undef OPEN
#undef KERNEL_RULES
#undef AFFINE
