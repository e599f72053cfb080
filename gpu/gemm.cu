/* SPDX-License-Identifier: BSD-2-Clause */
/* gemm.cu - matrix products: the bodies of gemm.h as kernels. */
#include "launch.cuh"

static __global__ void __launch_bounds__(THREADS) gemm(const __grid_constant__ gpu_gemm_job job)
{
    gpu_gemm(&job, 0, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) gemm_counted(const __grid_constant__ gpu_gemm_job job)
{
    gpu_gemm(&job, 1, this_warp(), all_warps());
}

static __global__ void __launch_bounds__(THREADS) tiles(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_tile tile;
    gpu_gemm_tiles(&job, &tile, blockIdx.x, gridDim.x);
}

/* Tiles by the forms of core/dot_fast.h. */
template <int form, int model>
static __global__ void __launch_bounds__(THREADS, 3) macs32(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_mac_tile32 tile;
    gpu_macs32(&job, form, model, &job.fast.in32, &tile, blockIdx.x, gridDim.x);
}

template <int form, int model>
static __global__ void __launch_bounds__(THREADS, 2) macs64(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_mac_tile64 tile;
    gpu_macs64(&job, form, model, &job.fast.in64, &tile, blockIdx.x, gridDim.x);
}

template <int long_sum, int chunked>
static __global__ void __launch_bounds__(THREADS, 2) fused(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_fused_tile tile;
    gpu_fused(&job, long_sum, chunked, &tile, blockIdx.x, gridDim.x);
}

template <int ends> static __global__ void __launch_bounds__(THREADS, 3) whole(const __grid_constant__ gpu_gemm_job job)
{
    __shared__ gpu_whole_tile tile;
    gpu_whole(&job, ends, &tile, blockIdx.x, gridDim.x);
}

typedef void (*gemm_kernel)(gpu_gemm_job);

template <int model> static gemm_kernel macs_of(const gpu_gemm_job *job)
{
    const int form = gpu_macs_form(job);
    if (job->carrier == 32) {
        switch (form) {
        case CORE_DOT_NATIVE: return macs32<CORE_DOT_NATIVE, model>;
        case CORE_DOT_NEAREST: return macs32<CORE_DOT_NEAREST, model>;
        case CORE_DOT_FULL_RANGE: return macs32<CORE_DOT_FULL_RANGE, model>;
        }
        if constexpr (model != FPEMU_MODEL_KAHAN)
            if (form == CORE_DOT_FULL_MODE)
                return macs32<CORE_DOT_FULL_MODE, model>;
        if constexpr (model != FPEMU_MODEL_KAHAN)
            if (form == CORE_DOT_POSIT)
                return macs32<CORE_DOT_POSIT, model>;
        return macs32<CORE_DOT_ANY, model>;
    }
    switch (form) {
    case CORE_DOT_NATIVE: return macs64<CORE_DOT_NATIVE, model>;
    case CORE_DOT_NEAREST: return macs64<CORE_DOT_NEAREST, model>;
    }
    if constexpr (model != FPEMU_MODEL_KAHAN)
        if (form == CORE_DOT_STOCHASTIC)
            return macs64<CORE_DOT_STOCHASTIC, model>;
    return macs64<CORE_DOT_ANY, model>;
}

static gemm_kernel kernel_of(const gpu_gemm_job *job)
{
    switch (job->rule.model) {
    case FPEMU_MODEL_INTEGER: return job->ends ? whole<1> : whole<0>;
    case FPEMU_MODEL_FUSED:
        if (gpu_fused_is_long(job))
            return job->rule.chunk ? fused<1, 1> : fused<1, 0>;
        return job->rule.chunk ? fused<0, 1> : fused<0, 0>;
    case FPEMU_MODEL_CHUNKED: return macs_of<FPEMU_MODEL_CHUNKED>(job);
    case FPEMU_MODEL_KAHAN: return macs_of<FPEMU_MODEL_KAHAN>(job);
    default: return macs_of<FPEMU_MODEL_SEQUENTIAL>(job);
    }
}

extern "C" fpemu_cuda_status fpemu_gpu_gemm(const gpu_gemm_job *job, fpemu_cuda_stream stream)
{
    const uint64_t side = job->carrier ? GPU_WIDE : GPU_TILE;
    const uint64_t blocks = job->batch * ((job->n + side - 1) / side) * ((job->m + side - 1) / side);
    if (job->carrier || job->slab)
        return launch_pieces(job->carrier ? kernel_of(job) : tiles, blocks * WARPS_A_BLOCK, stream, *job);
    return launch_pieces(job->counts ? gemm_counted : gemm, job->batch * job->m * job->n / 32 + 1, stream, *job);
}
