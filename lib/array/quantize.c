/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize.c - quantising, encoding and decoding arrays and single numbers: arguments are checked, work is split, loops
 * are called. What the loops compute stands in core/, what is refused in check.c. */
#include "blocks.h"
#include "format/blocking.h"
#include "format/codebook.h"
#include "threads.h"
#include "loops/stream.h"

#include <assert.h>

/* Words of a narrow carrier that are binary32 at a time. */
#define NARROW_TILE 2048
/* A table of all values is worth it for so many codes. */
#define DECODE_WORTH 1024

/* The hash's key, and the high half of the words' indices that it is for. */
typedef struct word_key {
    core_hash_key key;
    uint64_t high;
} word_key;

static word_key word_key_none(void)
{
    const word_key none = {{0, 0}, ~UINT64_C(0)};
    return none;
}

/* Elements of `size` bytes before `p` comes to the beginning of a line, where n is large enough for it to matter. */
static size_t elements_to_line(const void *p, size_t size, size_t n)
{
    return n < TILE ? 0 : (0 - (uintptr_t)p) % LINE / size;
}

#include "core/carrier32.h"
#include "quantize.inc.c"
#include "core/carrier_end.h"

#include "core/carrier64.h"
#include "quantize.inc.c"
#include "core/carrier_end.h"

fpemu_status fpemu_quantize(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type, size_t n,
                            const void *x, void *y, fpemu_stats *stats)
{
    return FOR_TYPE(type, fpemu_convert, format, rounding, n, x, y, 0, stats);
}

fpemu_status fpemu_encode(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type, size_t n,
                          const void *x, void *codes, fpemu_stats *stats)
{
    return FOR_TYPE(type, fpemu_convert, format, rounding, n, x, codes, 1, stats);
}

fpemu_status fpemu_decode(const fpemu_format *format, fpemu_type type, size_t n, const void *codes, void *y)
{
    return FOR_TYPE(type, decode_array, format, n, codes, y);
}

float fpemu_quantize_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index)
{
    return core_value32(quantize_one32(format, rounding, core_bits32(x), index, NULL));
}

uint64_t fpemu_encode_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, float x, uint64_t index)
{
    uint64_t code = 0;
    quantize_one32(format, rounding, core_bits32(x), index, &code);
    return code;
}

float fpemu_decode_one_f32(const fpemu_format *format, uint64_t code)
{
    return decode_one32(format, code);
}

double fpemu_quantize_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index)
{
    return core_value64(quantize_one64(format, rounding, core_bits64(x), index, NULL));
}

uint64_t fpemu_encode_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, double x, uint64_t index)
{
    uint64_t code = 0;
    quantize_one64(format, rounding, core_bits64(x), index, &code);
    return code;
}

double fpemu_decode_one_f64(const fpemu_format *format, uint64_t code)
{
    return decode_one64(format, code);
}
