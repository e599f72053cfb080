/* SPDX-License-Identifier: BSD-2-Clause */
/* encode.h - bit patterns and affine integers, for both carriers: encode.inc.h and affine.inc.h, each read twice. */
#ifndef FPEMU_CORE_ENCODE_H
#define FPEMU_CORE_ENCODE_H

#include "round.h"

#include "carrier32.h"
#include "affine.inc.h"
#include "encode.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "affine.inc.h"
#include "encode.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_ENCODE_H */
