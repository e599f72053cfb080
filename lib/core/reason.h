/* SPDX-License-Identifier: BSD-2-Clause */
/* reason.h - why a check refuses: reasons.def has one line for each. */
#ifndef FPEMU_CORE_REASON_H
#define FPEMU_CORE_REASON_H

#define R(id, status, argument, text) REASON_##id,
typedef enum core_reason {
    REASON_NONE, /* all is well */
#include "reasons.def"
} core_reason;
#undef R

#endif /* FPEMU_CORE_REASON_H */
