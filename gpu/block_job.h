/* SPDX-License-Identifier: BSD-2-Clause */
/* block_job.h - a call on tensors with scales, and the jobs made of it: what blocks.c and range.c share. */
#ifndef FPEMU_GPU_BLOCK_JOB_H
#define FPEMU_GPU_BLOCK_JOB_H

#include "call.h"

/* Not a part of them but all. */
#define ALL_BLOCKS UINT64_MAX

/* What a call hands to its job. */
typedef struct gpu_tensor {
    const fpemu_format *format;
    const fpemu_rounding *rounding; /* NULL: unpacking */
    const fpemu_shape *shape;
    uint64_t first, count; /* blocks; or ALL_BLOCKS */
    const void *x;
    void *y, *bytes, *scratch;
    fpemu_cuda_stats *stats;
    uint32_t code_size; /* bytes is an array of such codes */
    int type;
    int lines; /* a scalar format has a line as block, not all of the tensor: packed bytes */
} gpu_tensor;

/* The shape without strides, whose checks need an array. */
fpemu_shape fpemu_gpu_contiguous(const fpemu_shape *shape);
/* Elements of a whole block. */
uint64_t fpemu_gpu_full_block(const core_walk *w);
/* The format of the elements, and that of the scales, all zero where there is none. */
void fpemu_gpu_formats(const fpemu_format *f, fpemu_format *element, fpemu_format *scale);
/* What a job has beside its rule: arrays, walk, and how lanes take elements. */
void fpemu_gpu_fill_blocks(gpu_blocks_call *j, const gpu_tensor *c, const core_walk *w, const fpemu_layout *l);
/* Whether elements follow one another in memory from an aligned place on. */
int fpemu_gpu_is_run(const gpu_tensor *c, const core_walk *w, const void *p, const int64_t axis[4]);
/* The run of a job for gpu_block_runs or gpu_unpack_runs: the length of its blocks, 128 for longer ones; 0: it does not
 * go by that. */
uint32_t fpemu_gpu_run_length(const gpu_tensor *c, const core_walk *w, const gpu_blocks_job32 *j);
uint32_t fpemu_gpu_unpack_length(const gpu_tensor *c, const core_walk *w, const gpu_blocks_job32 *j);

/* What turns a range into the numbers of the tensor. */
gpu_range_rule fpemu_gpu_tensor_rule(const fpemu_format *f, int type);

/* Clears *range in device memory, and fills it for the job's rule: measured (range.c), or from the caller's. bytes:
 * NULL, or where the two numbers of the tensor go. */
fpemu_cuda_status fpemu_gpu_find_range(const gpu_tensor *c, gpu_range *range, unsigned char *bytes,
                                       fpemu_cuda_stream stream);

#endif /* FPEMU_GPU_BLOCK_JOB_H */
