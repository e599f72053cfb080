/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu.h is C11 by itself: it comes first, twice, and needs nothing before it. */
#include <fpemu.h>

#include <fpemu.h>

int main(void)
{
    return fpemu_version() == FPEMU_VERSION ? 0 : 1;
}
