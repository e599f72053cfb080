/* absent.c - libfpemu_cuda where there is no device: every verb says so, in words, and touches nothing. */
#include <cuda_runtime_api.h>
#include <fpemu_cuda.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect_absent(const char *what, int status)
{
    const char *text = fpemu_cuda_status_text(status);
    if ((status == FPEMU_CUDA_ERROR_NO_DEVICE || status == FPEMU_CUDA_ERROR_DRIVER) && strstr(text, "CUDA"))
        return;
    printf("FAIL %s: status %d, %s\n", what, status, text);
    failures++;
}

int main(void)
{
    static float x[64], y[64];
    fpemu_format f, mx;
    fpemu_gemm_spec spec;
    const fpemu_rounding r = fpemu_nearest();
    const fpemu_shape shape = fpemu_vector(64);
    const float *const operands[2] = {x, x};
    const char *text = NULL;
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0)
        return 77; /* the other tests run there */
    if (fpemu_parse("e4m3fn", &f, NULL) || fpemu_parse("mxfp4", &mx, NULL) || fpemu_gemm_parse("fp32", &spec, NULL))
        return 1;
    y[0] = 7;
    expect_absent("quantize", fpemu_cuda_quantize_f32(&f, &r, 64, x, y, NULL, NULL));
    expect_absent("quantize_along", fpemu_cuda_quantize_along_f32(&mx, &r, &shape, x, y, NULL, NULL, NULL));
    expect_absent("pack", fpemu_cuda_pack_f32(&mx, &r, &shape, x, y, NULL, NULL, NULL));
    expect_absent("arith", fpemu_cuda_arith_f32(&f, &r, FPEMU_ADD, 64, operands, NULL, y, NULL, NULL));
    expect_absent("dot", fpemu_cuda_dot_f32(&spec, 64, x, 1, x, 1, y, NULL, NULL, NULL));
    expect_absent("finish", fpemu_cuda_finish(NULL, &text));
    if (!text || y[0] < 7 || y[0] > 7) {
        printf("FAIL no words, or y was written\n");
        failures++;
    }
    return failures != 0;
}
