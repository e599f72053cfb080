/* SPDX-License-Identifier: BSD-2-Clause */
/* dtype.c - see dtype.h. The conversions are those of the library. */
#include "files/dtype.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/byte_order.h"

static const dtype types[] = {
    {"F64", "f8", "float64", FPEMU_NAME_BINARY64, 8},
    {"F32", "f4", "float32", FPEMU_NAME_BINARY32, 4},
    {"BF16", NULL, "bfloat16", FPEMU_NAME_BFLOAT16, 2},
    {"F16", "f2", "float16", FPEMU_NAME_BINARY16, 2},
    {"F8_E4M3", NULL, "float8_e4m3fn", FPEMU_NAME_E4M3FN, 1},
    {"F8_E5M2", NULL, "float8_e5m2", FPEMU_NAME_E5M2, 1},
    {"F8_E4M3FNUZ", NULL, "float8_e4m3fnuz", FPEMU_NAME_E4M3FNUZ, 1},
    {"F8_E5M2FNUZ", NULL, "float8_e5m2fnuz", FPEMU_NAME_E5M2FNUZ, 1},
    {"F8_E8M0", NULL, "float8_e8m0fnu", FPEMU_NAME_E8M0, 1},
};
enum { TYPES = sizeof types / sizeof *types };

const dtype *dtype_at(unsigned i)
{
    return i < TYPES ? &types[i] : NULL;
}

const dtype *dtype_named(const char *name)
{
    for (unsigned i = 0; i < TYPES; i++)
        if (strcasecmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

const dtype *dtype_texted(const char *text)
{
    for (unsigned i = 0; i < TYPES; i++)
        if (strcmp(types[i].text, text) == 0)
            return &types[i];
    return NULL;
}

const dtype *dtype_coded(const char *code)
{
    for (unsigned i = 0; i < TYPES; i++)
        if (types[i].code != NULL && strcmp(types[i].code, code) == 0)
            return &types[i];
    return NULL;
}

fpemu_format dtype_format(const dtype *type)
{
    fpemu_format format;
    fpemu_format_named(type->format, &format);
    return format;
}

unsigned dtype_integer(const char *code, bool *is_signed)
{
    const char *at = code + (code[0] != '\0' && strchr("<>|", code[0]) != NULL);
    for (unsigned size = 1; size <= 8; size *= 2)
        for (int u = 0; u < 2; u++) {
            char names[2][8];
            snprintf(names[0], sizeof names[0], "%c%u", "iu"[u], size);
            snprintf(names[1], sizeof names[1], "%c%u", "IU"[u], 8 * size);
            *is_signed = u == 0;
            if (strcmp(at, names[0]) == 0 || strcmp(at, names[1]) == 0)
                return size;
        }
    return 0;
}

void dtype_round(const dtype *type, size_t n, float *y)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    if (type != NULL) {
        const fpemu_format format = dtype_format(type);
        fpemu_quantize(&format, &nearest, FPEMU_TYPE_F32, n, y, y, NULL);
    }
}

bool dtype_holds(const dtype *type, const fpemu_format *format)
{
    enum { MOST = 1 << 16 };
    static double values[MOST];
    size_t count;
    const fpemu_format own = dtype_format(type);
    if (type->format == FPEMU_NAME_BINARY64)
        return fpemu_format_fits_f64(format) != 0;
    if (type->format == FPEMU_NAME_BINARY32)
        return fpemu_format_fits_f32(format) != 0;
    if (format->scaling != FPEMU_SCALING_NONE || (format->has_infinity && !own.has_infinity) ||
        fpemu_format_enumerate(format, MOST, values, NULL, &count) != FPEMU_OK) {
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!fpemu_format_represents(&own, values[i]))
            return false;
    return true;
}

bool dtype_needs_binary64(const dtype *type, const fpemu_format *format)
{
    return type->format == FPEMU_NAME_BINARY64 || !fpemu_format_fits_f32(format);
}

/* Whether bytes of the type are numbers of the carrier. */
static bool is_carrier(const dtype *type, bool binary64)
{
    return type->format == (binary64 ? FPEMU_NAME_BINARY64 : FPEMU_NAME_BINARY32);
}

void dtype_load(const dtype *type, bool big_endian, size_t n, void *bytes, bool binary64, void *x)
{
    const fpemu_format format = dtype_format(type);
    if (big_endian != byte_order_is_big())
        byte_order_swap(bytes, type->size, n);
    if (is_carrier(type, binary64)) {
        memmove(x, bytes, n * type->size);
        return;
    }
    const fpemu_status status = fpemu_decode(&format, dtype_carrier(binary64), n, bytes, x);
    assert(status == FPEMU_OK);
    (void)status;
}

bool dtype_store(const dtype *type, bool big_endian, size_t n, const void *x, bool binary64, void *bytes)
{
    const fpemu_format format = dtype_format(type);
    const fpemu_rounding rounding = fpemu_rounding_nearest();
    fpemu_stats stats = {0};
    if (is_carrier(type, binary64)) {
        memmove(bytes, x, n * type->size);
    } else if (type->format == FPEMU_NAME_BINARY64) { /* from float */
        for (size_t i = 0; i < n; i++)
            ((double *)bytes)[i] = (double)((const float *)x)[i];
    } else {
        const fpemu_status status = fpemu_encode(&format, &rounding, dtype_carrier(binary64), n, x, bytes, &stats);
        assert(status == FPEMU_OK);
        (void)status;
    }
    if (big_endian != byte_order_is_big())
        byte_order_swap(bytes, type->size, n);
    return (stats.inexact | stats.clipped | stats.overflow | stats.invalid) == 0;
}
