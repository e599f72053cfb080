/* SPDX-License-Identifier: BSD-2-Clause */
/* format.h - formats of all kinds. */
#ifndef FPEMU_FORMAT_FORMAT_H
#define FPEMU_FORMAT_FORMAT_H

#include "parameters.h"

/* fpemu_format_complete with the reason. 1 on success; else *problem is set and *format is left as it was. */
int fpemu_derive(fpemu_format *format, fpemu_problem *problem);

/* 1 if all parameters but the policies (and those that a spec gives as modifiers) agree. */
int fpemu_same_base(const fpemu_format *a, const fpemu_format *b);

/* Whether *f may have been completed: what queries ask before they answer. */
static inline int fpemu_is_format(const fpemu_format *f)
{
    return f && f->kind >= FPEMU_KIND_FLOAT && f->kind <= FPEMU_KIND_CODEBOOK && f->bits >= 1 && f->bits <= 64 &&
           f->scaling < FPEMU_SCALING_COUNT;
}

#endif /* FPEMU_FORMAT_FORMAT_H */
