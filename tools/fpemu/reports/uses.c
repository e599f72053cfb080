/* SPDX-License-Identifier: BSD-2-Clause */
/* uses.c - see uses.h */
#include "reports/uses.h"

#include <string.h>

#include "cli/spec.h"

/* Each use in a few words. Names that several organisations give to different formats say whose they are. */
static const char *const uses[FPEMU_NAME_COUNT] = {
    [FPEMU_NAME_BINARY16] = "IEEE half precision: inference, mixed-precision training",
    [FPEMU_NAME_BFLOAT16] = "training: the range of fp32 in 16 bits",
    [FPEMU_NAME_TF32] = "operands of NVIDIA's tensor cores for fp32 data",
    [FPEMU_NAME_BINARY32] = "IEEE single precision: the reference",
    [FPEMU_NAME_BINARY64] = "IEEE double precision",
    [FPEMU_NAME_E5M2] = "OCP FP8 for gradients: range before precision",
    [FPEMU_NAME_E4M3] = "IEEE-style E4M3, largest 240; not OCP's, which is e4m3fn (largest 448)",
    [FPEMU_NAME_E3M4] = "IEEE-style 8 bits: precision before range",
    [FPEMU_NAME_E4M3FN] = "OCP FP8 for weights and activations, largest 448; e4m3 is another (240)",
    [FPEMU_NAME_E4M3FNUZ] = "FP8 of AMD MI300 and Graphcore: no -0, one NaN",
    [FPEMU_NAME_E5M2FNUZ] = "FP8 of AMD MI300 and Graphcore for gradients",
    [FPEMU_NAME_E4M3B11FNUZ] = "FP8 of XLA with bias 11",
    [FPEMU_NAME_E8M0] = "OCP: scales of MX blocks, powers of two",
    [FPEMU_NAME_E3M2] = "OCP FP6: elements of MX blocks",
    [FPEMU_NAME_E2M3] = "OCP FP6: elements of MX blocks, more precise",
    [FPEMU_NAME_E2M1] = "OCP FP4: elements of mxfp4 and nvfp4",
    [FPEMU_NAME_UE4M3] = "e4m3fn without a sign: scales",
    [FPEMU_NAME_UE5M3] = "8 bits without a sign: scales of 4-bit blocks with more range than e4m3",
    [FPEMU_NAME_UE6M2] = "scales of hif4",
    [FPEMU_NAME_HIF8] = "Huawei Ascend's 8 bits: more precision near 1; rna is its rounding",
    [FPEMU_NAME_DLFLOAT16] = "IBM's 16 bits for deep learning",
    [FPEMU_NAME_INT4] = "integers without a scale; group(int4,...) has scales",
    [FPEMU_NAME_INT8] = "integers without a scale; group(int8,...) has scales",
    [FPEMU_NAME_INT16] = "integers without a scale",
    [FPEMU_NAME_UINT4] = "integers without a scale or sign",
    [FPEMU_NAME_UINT8] = "integers without a scale or sign",
    [FPEMU_NAME_UINT16] = "integers without a scale or sign",
    [FPEMU_NAME_MXFP8_E4M3] = "OCP MX: weights and activations",
    [FPEMU_NAME_MXFP8_E5M2] = "OCP MX: gradients",
    [FPEMU_NAME_MXFP6_E2M3] = "OCP MX: inference in 6 bits",
    [FPEMU_NAME_MXFP6_E3M2] = "OCP MX: 6 bits with more range",
    [FPEMU_NAME_MXFP4] = "OCP MX: weights in 4 bits",
    [FPEMU_NAME_MXINT8] = "OCP MX: fixed point in 8 bits",
    [FPEMU_NAME_NVFP4] = "NVIDIA Blackwell: 4 bits with finer scales than mxfp4",
    [FPEMU_NAME_AMDFP4] = "AMD's nvfp4: scales ue5m3 in place of e4m3fn",
    [FPEMU_NAME_MX9] = "shared microexponents: 9 bits an element",
    [FPEMU_NAME_MX6] = "shared microexponents: 6 bits an element",
    [FPEMU_NAME_MX4] = "shared microexponents: 4 bits an element",
    [FPEMU_NAME_HIF4] = "Huawei Ascend's 4 bits: scales in three levels; rna is its rounding",
    [FPEMU_NAME_MSFP12] = "Microsoft's block floating point, 4 bits an element",
    [FPEMU_NAME_MSFP16] = "Microsoft's block floating point, 8 bits an element",
    [FPEMU_NAME_NF4] = "QLoRA: frozen weights, a table of quantiles",
    [FPEMU_NAME_Q8_0] = "ggml's 8 bits: weights in GGUF files",
    [FPEMU_NAME_Q4_0] = "ggml's 4 bits: weights in GGUF files; ggml is its rounding",
    [FPEMU_NAME_Q4_1] = "ggml's 4 bits with a least value a block",
    [FPEMU_NAME_Q5_0] = "ggml's 5 bits: weights in GGUF files",
    [FPEMU_NAME_Q5_1] = "ggml's 5 bits with a least value a block",
    [FPEMU_NAME_Q4_K] = "ggml's 4 bits by a search, scales in two levels",
    [FPEMU_NAME_Q5_K] = "ggml's 5 bits by a search, scales in two levels",
    [FPEMU_NAME_Q6_K] = "ggml's 6 bits by a search, scales in two levels",
    [FPEMU_NAME_S2FP8] = "training in 8 bits by shifting and squeezing tensors",
};

const char *uses_of(fpemu_name name)
{
    return (unsigned)name < FPEMU_NAME_COUNT ? uses[name] : NULL;
}

const char *uses_of_format(const fpemu_format *format)
{
    char spec[CLI_SPEC_SIZE];
    cli_spec(format, spec);
    const size_t length = strcspn(spec, ":");
    for (int name = 1; name < FPEMU_NAME_COUNT; name++) {
        const char *known = fpemu_format_name((fpemu_name)name, 0);
        if (strlen(known) == length && strncmp(spec, known, length) == 0)
            return uses[name];
    }
    return NULL;
}
