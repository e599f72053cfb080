/* SPDX-License-Identifier: BSD-2-Clause */
/* typed.c - the functions with a type in their name, each the call that the list in fpemu/typed.h gives for it. */
#include "core/gemm_shape.h"
#include "fpemu.h"

#define DEFINE(result, name, parameters, call)                                                                         \
    result name parameters                                                                                             \
    {                                                                                                                  \
        return call;                                                                                                   \
    }
FPEMU_TYPED(DEFINE)
