/* SPDX-License-Identifier: BSD-2-Clause */
/* named.h - formats that have a name. */
#ifndef FPEMU_FORMAT_NAMED_H
#define FPEMU_FORMAT_NAMED_H

#include "fpemu.h"

/* What the name of a blocked format stands for, a spec; NULL for a scalar one. */
const char *fpemu_named_spec(fpemu_name name);
/* The scalar format of a name. */
int fpemu_named_scalar(fpemu_name name, fpemu_format *format);

#endif /* FPEMU_FORMAT_NAMED_H */
