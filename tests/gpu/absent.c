/* SPDX-License-Identifier: BSD-2-Clause */
/* absent.c - libfpemu_cuda where no device reaches the memory it is given: every verb says so, in words, and touches
 * nothing. Without a device none does; with one each verb is given memory of the host in every place in turn, the other
 * places being of the device. */
#include "../common.h"
#include <cuda_runtime_api.h>
#include <fpemu_cuda.h>

enum { N = 64, ROOM = 1 << 16 };

/* Places of a verb: inputs a and b, output y, and s of what is scratch, scales, a range or counters. */
static const char places[] = "abys";

static unsigned long failures;
static int present;
static const char *of_host; /* the places that are memory of the host */
static _Alignas(16) unsigned char host[4][ROOM];

/* uses: the places that the verb reads or writes. */
static void expect(const char *what, const char *uses, fpemu_cuda_status status)
{
    const char *const text = fpemu_cuda_status_text(status);
    int right;
    if (!present)
        right = (status == FPEMU_CUDA_ERROR_NO_DEVICE || status == FPEMU_CUDA_ERROR_DRIVER) && strstr(text, "CUDA");
    else if (strpbrk(uses, of_host))
        right = status == FPEMU_CUDA_ERROR_POINTER && strstr(text, "CUDA");
    else
        right = status == FPEMU_CUDA_OK;
    if (right)
        return;
    printf("FAIL %s with %s of the host: status %d, %s\n", what, of_host, status, text);
    failures++;
}

static void try_all(void *a, void *b, void *y, void *s)
{
    fpemu_format f, mx, nv;
    fpemu_gemm_spec spec, chunked, rounded;
    fpemu_gemm_shape product = {0};
    fpemu_range range;
    fpemu_stats stats = {0};
    const fpemu_rounding r = fpemu_rounding_nearest();
    const fpemu_shape shape = fpemu_shape_vector(N);
    const float *const single[3] = {a, b, b};
    const double *const twice[3] = {a, b, b};
    const uint16_t *const half[3] = {a, b, b};
    const fpemu_operand_scales_f32 scales32[3] = {{{s}, 16, 0}};
    const fpemu_operand_scales_f64 scales64[3] = {{{s}, 16, 0}};
    fpemu_cuda_stats *const d_stats = s;
    static unsigned char room[1 << 20];
    if (fpemu_format_parse("e4m3fn", &f, NULL) || fpemu_format_parse("mxfp4", &mx, NULL) ||
        fpemu_format_parse("nvfp4", &nv, NULL) || fpemu_gemm_parse("fp32", &spec, NULL) ||
        fpemu_gemm_parse("chunk(16,fp16,fp32)", &chunked, NULL) ||
        fpemu_gemm_parse("seq(fp16); ab=e4m3fn", &rounded, NULL) || sizeof room < fpemu_cuda_stats_size() ||
        ROOM < fpemu_cuda_stats_size() || ROOM < fpemu_cuda_scratch_size(&nv, &shape)) {
        printf("FAIL the test itself\n");
        exit(1);
    }
    product.m = product.n = 4;
    product.k = 16;

    expect("quantize_f32", "ays", fpemu_cuda_quantize_f32(&f, &r, N, a, y, d_stats, NULL));
    expect("quantize_f64", "ays", fpemu_cuda_quantize_f64(&f, &r, N, a, y, d_stats, NULL));
    expect("quantize_bf16", "ays", fpemu_cuda_quantize_bf16(&f, &r, N, a, y, d_stats, NULL));
    expect("quantize_f16", "ays", fpemu_cuda_quantize_f16(&f, &r, N, a, y, d_stats, NULL));
    expect("encode", "ays", fpemu_cuda_encode_f32(&f, &r, N, a, y, d_stats, NULL));
    expect("decode", "ay", fpemu_cuda_decode_f32(&f, N, a, y, NULL));
    expect("quantize_tensor", "ays", fpemu_cuda_quantize_tensor_f32(&mx, &r, &shape, a, y, NULL, d_stats, NULL));
    expect("quantize_tensor nvfp4", "ays", fpemu_cuda_quantize_tensor_f32(&nv, &r, &shape, a, y, s, NULL, NULL));
    expect("pack", "ays", fpemu_cuda_pack_f32(&mx, &r, &shape, a, y, NULL, d_stats, NULL));
    expect("unpack", "ay", fpemu_cuda_unpack_f32(&mx, &shape, a, y, NULL, NULL));
    expect("pack_blocks", "ays", fpemu_cuda_pack_blocks_f32(&mx, &r, &shape, 0, 2, a, y, NULL, d_stats, NULL));
    expect("unpack_blocks", "ay", fpemu_cuda_unpack_blocks_f32(&mx, &shape, 0, 2, a, y, NULL, NULL));
    expect("pack_tensor_scales", "ay", fpemu_cuda_pack_tensor_scales(&nv, &shape, a, y, NULL));
    expect("swizzle_scales", "ay", fpemu_cuda_swizzle_scales(4, 4, a, y, NULL));
    expect("unswizzle_scales", "ay", fpemu_cuda_unswizzle_scales(4, 4, a, y, NULL));
    expect("measure", "ay", fpemu_cuda_measure_f32(&nv, N, a, y, NULL));
    expect("arith", "abys", fpemu_cuda_arith_f32(&f, &r, FPEMU_OPERATION_ADD, N, single, NULL, y, d_stats, NULL));
    expect("arith_scaled_f32", "abys",
           fpemu_cuda_arith_scaled_f32(&f, &r, FPEMU_OPERATION_FMA, N, single, NULL, scales32, y, NULL, NULL));
    expect("arith_scaled_f64", "abys",
           fpemu_cuda_arith_scaled_f64(&f, &r, FPEMU_OPERATION_MUL, N, twice, NULL, scales64, y, NULL, NULL));
    expect("arith_scaled_bf16", "abys",
           fpemu_cuda_arith_scaled_bf16(&f, &r, FPEMU_OPERATION_SUB, N, half, NULL, scales32, y, NULL, NULL));
    expect("arith_scaled_f16", "abys",
           fpemu_cuda_arith_scaled_f16(&f, &r, FPEMU_OPERATION_DIV, N, half, NULL, scales32, y, NULL, NULL));
    expect("apply", "ays", fpemu_cuda_apply_f32(&f, &r, FPEMU_FUNCTION_EXP2, N, a, y, d_stats, NULL));
    expect("compare", "aby", fpemu_cuda_compare_f32(FPEMU_RELATION_LT, N, single, NULL, (uint8_t *)y, NULL));
    expect("compare_scaled_f32", "abys",
           fpemu_cuda_compare_scaled_f32(FPEMU_RELATION_LT, N, single, NULL, scales32, (uint8_t *)y, NULL));
    expect("compare_scaled_f64", "abys",
           fpemu_cuda_compare_scaled_f64(FPEMU_RELATION_LT, N, twice, NULL, scales64, (uint8_t *)y, NULL));
    expect("gemm", "abys", fpemu_cuda_gemm_f32(&spec, &product, 1, a, b, 0, y, NULL, d_stats, NULL));
    expect("gemm of rounded operands", "abys", fpemu_cuda_gemm_f32(&rounded, &product, 1, a, b, 0, y, s, NULL, NULL));
    expect("gemm_scaled_f32", "abys",
           fpemu_cuda_gemm_scaled_f32(&chunked, &product, 1, a, s, b, NULL, 0, y, NULL, NULL, NULL));
    expect("gemm_scaled_f64", "abys",
           fpemu_cuda_gemm_scaled_f64(&chunked, &product, 1, a, NULL, b, s, 0, y, NULL, NULL, NULL));
    expect("gemv", "abys",
           fpemu_cuda_gemv_f32(&spec, FPEMU_ORDER_ROW_MAJOR, 0, 4, 4, 1, a, 0, b, 1, 0, y, 1, NULL, d_stats, NULL));
    expect("dot", "abys", fpemu_cuda_dot_f32(&spec, N, a, 1, b, 1, y, NULL, d_stats, NULL));
    expect("range_clear", "s", fpemu_cuda_range_clear(s, NULL));
    expect("range_read", "s", fpemu_cuda_range_read(s, &range, NULL));
    expect("stats_clear", "s", fpemu_cuda_stats_clear(s, 0, NULL));
    expect("stats_read", "s", fpemu_cuda_stats_read(s, room, &stats, NULL));
}

int main(void)
{
    const char *text = NULL;
    void *device[4] = {NULL, NULL, NULL, NULL};
    int count = 0, everywhere = 0;
    memset(host, 7, sizeof host);
    present = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    of_host = places;
    if (present && (cudaDeviceGetAttribute(&everywhere, cudaDevAttrPageableMemoryAccess, 0) || everywhere)) {
        printf("skipped: this device reaches all memory of the host\n");
        return 77;
    }
    try_all(host[0], host[1], host[2], host[3]);
    for (int k = 0; present && k < 4; k++)
        if (cudaMalloc(&device[k], ROOM) || cudaMemset(device[k], 0, ROOM)) {
            printf("FAIL no memory\n");
            return 1;
        }
    for (int k = 0; present && k < 5; k++) { /* in the end nowhere, which goes well */
        const char one[2] = {k < 4 ? places[k] : '\0', '\0'};
        of_host = one;
        try_all(k == 0 ? host[0] : device[0], k == 1 ? host[1] : device[1], k == 2 ? host[2] : device[2],
                k == 3 ? host[3] : device[3]);
    }
    of_host = present ? "" : places;
    expect("finish", "", fpemu_cuda_finish(NULL, &text));
    if (!text || !*text) {
        printf("FAIL finish: no words\n");
        failures++;
    }
    for (size_t i = 0; i < sizeof host; i++)
        if (host[i / ROOM][i % ROOM] != 7) {
            printf("FAIL byte %zu of the host was written\n", i);
            return 1;
        }
    return failures != 0;
}
