/* names.h - the names of the kernels that core/carrier.h's scheme changes. */
#ifndef FPEMU_GPU_NAMES_H
#define FPEMU_GPU_NAMES_H

#define gpu_convert CARRIER(gpu_convert)
#define gpu_convert_rows CARRIER(gpu_convert_rows)
#define gpu_convert_sheets CARRIER(gpu_convert_sheets)
#define gpu_count CARRIER(gpu_count)
#define gpu_decode CARRIER(gpu_decode)
#define gpu_decode_rows CARRIER(gpu_decode_rows)
#define gpu_decoded CARRIER(gpu_decoded)
#define gpu_fast CARRIER(gpu_fast)
#define gpu_group_extremes CARRIER(gpu_group_extremes)
#define gpu_load_four CARRIER(gpu_load_four)
#define gpu_result CARRIER(gpu_result)
#define gpu_round_element CARRIER(gpu_round_element)
#define gpu_round_four CARRIER(gpu_round_four)
#define gpu_store_four CARRIER(gpu_store_four)
#define gpu_tensor CARRIER(gpu_tensor)
#define gpu_tensor_count CARRIER(gpu_tensor_count)
#define gpu_tensor_extremes CARRIER(gpu_tensor_extremes)
#define gpu_tensor_have CARRIER(gpu_tensor_have)
#define gpu_tensor_load CARRIER(gpu_tensor_load)
#define gpu_tensor_measure CARRIER(gpu_tensor_measure)
#define gpu_tensor_result CARRIER(gpu_tensor_result)
#define gpu_tensor_size CARRIER(gpu_tensor_size)
#define gpu_tensor_store CARRIER(gpu_tensor_store)
#define gpu_tensor_value CARRIER(gpu_tensor_value)
#define gpu_untensor CARRIER(gpu_untensor)
#define gpu_value CARRIER(gpu_value)

#endif /* FPEMU_GPU_NAMES_H */
