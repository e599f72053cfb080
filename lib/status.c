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
    case FPEMU_ERROR_UNSUPPORTED: return "format and rounding do not go together";
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

size_t fpemu_sizeof(const char *noun)
{
    if (!noun)
        return 0;
    if (strcmp(noun, "format") == 0)
        return sizeof(fpemu_format);
    if (strcmp(noun, "rounding") == 0)
        return sizeof(fpemu_rounding);
    if (strcmp(noun, "stats") == 0)
        return sizeof(fpemu_stats);
    if (strcmp(noun, "target") == 0)
        return sizeof(fpemu_target);
    if (strcmp(noun, "accumulator") == 0)
        return sizeof(fpemu_accumulator);
    if (strcmp(noun, "gemm_spec") == 0)
        return sizeof(fpemu_gemm_spec);
    if (strcmp(noun, "gemm_shape") == 0)
        return sizeof(fpemu_gemm_shape);
    return 0;
}
