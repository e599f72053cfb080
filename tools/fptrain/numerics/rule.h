/* SPDX-License-Identifier: BSD-2-Clause */
/* rule.h - the format of a tensor and how it is rounded to it. */
#ifndef FPTRAIN_NUMERICS_RULE_H
#define FPTRAIN_NUMERICS_RULE_H

#include <fpemu.h>

#include "base/base.h"

typedef struct rule {
    fpemu_format format;     /* kind 0: FP32, left alone, not counted */
    fpemu_rounding rounding; /* every call is told its place by (seed, step, role, index) */
    fpemu_prepared call;     /* what rounds floats so; all zero for FP32 */
} rule;

/* The rule of a spec ("fp32": left alone) and a rounding mode (NULL: rne); false where a float cannot be rounded so. */
bool rule_parse(rule *l, const char *spec, const char *mode, trouble *why);

/* Largest finite and smallest positive magnitude of a rule's format: those of float where nothing is rounded. */
double rule_max(const rule *l);
double rule_min(const rule *l);
double rule_bits(const rule *l); /* of an element; 32 where nothing is rounded */

#endif
