/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.h - the formats that the judges know: parameters and constants typed from the format reference, not computed,
 * here and nowhere else among the judges. */
#ifndef REF_FORMATS_H
#define REF_FORMATS_H

#include "../common.h"
#include <fpemu.h>

/* A format of the reference with what its tables say of it. */
typedef struct ref_format {
    const char *spec;
    fpemu_format f; /* parameters only */
    double max, min_normal, min_positive;
    uint64_t max_code;
    uint64_t nan_codes, inf_codes;
} ref_format;

/* Every named format of the reference and its worked examples; NULL past the end. */
const ref_format *ref_formats(size_t i);
/* The same by spec or by a shorter name (fp16); NULL if there is none. */
const ref_format *ref_find(const char *spec);

/* Parameters of any format; nothing is checked. */
fpemu_format ref_float(unsigned e, unsigned m, int bias, fpemu_specials specials, int is_signed);
fpemu_format ref_p3109(unsigned k, unsigned p, int is_signed, int has_infinity);
fpemu_format ref_fixed(unsigned bits, int fraction_bits, int is_signed);
fpemu_format ref_int(unsigned bits, int is_signed, double scale, int64_t zero_point);
fpemu_format ref_posit(unsigned n, unsigned es);

/* A varied sample of formats without a name: i = 0, 1, ...; returns 0 past the end. `text` (80 bytes) is its spec. */
int ref_generic(size_t i, fpemu_format *f, char *text);
/* The same, with the largest value of a float; 0 where nobody worked it out, and of other kinds. */
int ref_generic_max(size_t i, fpemu_format *f, char *text, double *max);
/* Calls `visit` with each of both. */
void ref_each(void (*visit)(const char *spec, const fpemu_format *parameters, int named));
/* Of a format of either list, by its spec there; returns 0 if it is of neither. */
int ref_parameters(const char *spec, fpemu_format *f);

/* What a number becomes: as sources state it, or worked out by hand. */
typedef struct ref_conversion {
    const char *spec;
    int mode, policy; /* fpemu_mode, fpemu_overflow */
    double x, y;
    int64_t code; /* -1: not stated */
} ref_conversion;

/* i = 0, 1, ...; NULL past the end. */
const ref_conversion *ref_conversions(size_t i);

#endif
