/* SPDX-License-Identifier: BSD-2-Clause */
/* status.c - error texts, the version, and sizes for other languages. */
#include "fpemu.h"

#include <string.h>

const char *fpemu_status_text(fpemu_status status)
{
    switch (status) {
    case FPEMU_OK: return "success";
    case FPEMU_ERROR_NULL: return "a pointer that is needed is NULL";
    case FPEMU_ERROR_FORMAT: return "invalid number format";
    case FPEMU_ERROR_CARRIER: return "the carrier type cannot hold every value of the format exactly";
    case FPEMU_ERROR_ROUNDING: return "a field of the rounding is out of range";
    case FPEMU_ERROR_UNSUPPORTED: return "format, rounding and call do not go together";
    case FPEMU_ERROR_OVERLAP: return "input and output overlap without being the same array";
    case FPEMU_ERROR_SPEC: return "the spec string could not be read";
    case FPEMU_ERROR_BUFFER: return "the buffer is too small";
    case FPEMU_ERROR_NAN: return "a NaN came, and the NaN policy is error";
    case FPEMU_ERROR_STATS: return "a field of the stats is out of range, or two stats cannot be merged";
    case FPEMU_ERROR_ARGUMENT: return "an argument is out of range";
    }
    return "unknown status";
}

int fpemu_version(void)
{
    return FPEMU_VERSION;
}

/* One line a struct of the public headers; tests/headers/sizes.awk looks that none is missing. */
static const struct {
    const char *noun;
    size_t size;
} sizes[] = {
    {"format", sizeof(fpemu_format)},
    {"parse_error", sizeof(fpemu_parse_error)},
    {"why", sizeof(fpemu_why)},
    {"rounding", sizeof(fpemu_rounding)},
    {"prepared", sizeof(fpemu_prepared)},
    {"place", sizeof(fpemu_place)},
    {"stats_request", sizeof(fpemu_stats_request)},
    {"exact_sum", sizeof(fpemu_exact_sum)},
    {"stats", sizeof(fpemu_stats)},
    {"range", sizeof(fpemu_range)},
    {"given", sizeof(fpemu_given)},
    {"shape", sizeof(fpemu_shape)},
    {"layout", sizeof(fpemu_layout)},
    {"extent", sizeof(fpemu_extent)},
    {"delayed", sizeof(fpemu_delayed)},
    {"operand_scales", sizeof(fpemu_operand_scales)},
    {"target", sizeof(fpemu_target)},
    {"accumulator", sizeof(fpemu_accumulator)},
    {"gemm_spec", sizeof(fpemu_gemm_spec)},
    {"gemm_shape", sizeof(fpemu_gemm_shape)},
    {"prepared_gemm", sizeof(fpemu_prepared_gemm)},
};

size_t fpemu_sizeof(const char *noun)
{
    for (size_t i = 0; noun && i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(noun, sizes[i].noun) == 0)
            return sizes[i].size;
    return 0;
}
