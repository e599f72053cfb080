/* SPDX-License-Identifier: BSD-2-Clause */
/* compat.h - departures of other software that the format and the rounding cannot express (fpemu_compat).
 * compat.inc.h is read twice, as round.inc.h is. doc/numerics.md states each. Some of these rules are sums and
 * quotients in binary32 and use the processor's: callers see to the default floating-point environment. */
#ifndef FPEMU_CORE_COMPAT_H
#define FPEMU_CORE_COMPAT_H

#include "plan.h"

#include "carrier32.h"
#include "compat.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "compat.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_COMPAT_H */
