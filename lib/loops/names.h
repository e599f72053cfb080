/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h - the names of this room that core/carrier.h's scheme changes. */
#ifndef FPEMU_LOOPS_NAMES_H
#define FPEMU_LOOPS_NAMES_H

#define carrier_loops CARRIER(carrier_loops)
#define loop_add_error CARRIER(loop_add_error)
#define loop_columns_amax CARRIER(loop_columns_amax)
#define loop_count CARRIER(loop_count)
#define loop_count_element CARRIER(loop_count_element)
#define loop_count_inside CARRIER(loop_count_inside)
#define loop_count_nonzero CARRIER(loop_count_nonzero)
#define loop_count_pow2 CARRIER(loop_count_pow2)
#define loop_count_pow2_fixed CARRIER(loop_count_pow2_fixed)
#define loop_count_pow2_float CARRIER(loop_count_pow2_float)
#define loop_decode CARRIER(loop_decode)
#define loop_encode CARRIER(loop_encode)
#define loop_encode_nearest CARRIER(loop_encode_nearest)
#define loop_extremes CARRIER(loop_extremes)
#define loop_finish CARRIER(loop_finish)
#define loop_logarithms CARRIER(loop_logarithms)
#define loop_pow2_powers CARRIER(loop_pow2_powers)
#define loop_pow2_sixteens CARRIER(loop_pow2_sixteens)
#define loop_pow2_spread CARRIER(loop_pow2_spread)
#define loop_quotients CARRIER(loop_quotients)
#define loop_runs_amax CARRIER(loop_runs_amax)
#define loop_runs_down CARRIER(loop_runs_down)
#define loop_runs_fast CARRIER(loop_runs_fast)
#define loop_runs_scales CARRIER(loop_runs_scales)
#define loop_runs_t CARRIER(loop_runs_t)
#define loop_runs_y CARRIER(loop_runs_y)
#define loop_scale_t CARRIER(loop_scale_t)
#define loop_scale_y CARRIER(loop_scale_y)
#define loop_scaled CARRIER(loop_scaled)
#define loop_sixteen_amax CARRIER(loop_sixteen_amax)
#define loops_table CARRIER(loops_table)

#endif /* FPEMU_LOOPS_NAMES_H */
