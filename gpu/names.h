/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h - the names of the kernels that core/carrier.h's scheme changes. */
#ifndef FPEMU_GPU_NAMES_H
#define FPEMU_GPU_NAMES_H

#define gpu_blocks CARRIER(gpu_blocks)
#define gpu_blocks_count CARRIER(gpu_blocks_count)
#define gpu_blocks_extremes CARRIER(gpu_blocks_extremes)
#define gpu_blocks_form CARRIER(gpu_blocks_form)
#define gpu_blocks_have CARRIER(gpu_blocks_have)
#define gpu_blocks_job CARRIER(gpu_blocks_job)
#define gpu_blocks_load CARRIER(gpu_blocks_load)
#define gpu_blocks_result CARRIER(gpu_blocks_result)
#define gpu_blocks_size CARRIER(gpu_blocks_size)
#define gpu_blocks_store CARRIER(gpu_blocks_store)
#define gpu_blocks_value CARRIER(gpu_blocks_value)
#define gpu_count CARRIER(gpu_count)
#define gpu_decode CARRIER(gpu_decode)
#define gpu_decode_rows CARRIER(gpu_decode_rows)
#define gpu_decoded CARRIER(gpu_decoded)
#define gpu_form CARRIER(gpu_form)
#define gpu_group_extremes CARRIER(gpu_group_extremes)
#define gpu_lane_events CARRIER(gpu_lane_events)
#define gpu_load_four CARRIER(gpu_load_four)
#define gpu_measure CARRIER(gpu_measure)
#define gpu_quantize CARRIER(gpu_quantize)
#define gpu_quantize_job CARRIER(gpu_quantize_job)
#define gpu_quantize_rows CARRIER(gpu_quantize_rows)
#define gpu_quantize_strips CARRIER(gpu_quantize_strips)
#define gpu_result CARRIER(gpu_result)
#define gpu_round_element CARRIER(gpu_round_element)
#define gpu_round_four CARRIER(gpu_round_four)
#define gpu_store_four CARRIER(gpu_store_four)
#define gpu_unpack CARRIER(gpu_unpack)
#define gpu_value CARRIER(gpu_value)

#endif /* FPEMU_GPU_NAMES_H */
