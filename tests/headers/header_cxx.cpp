/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu.h is C++11 by itself, and its functions have C linkage. */
#include <fpemu.h>
#include <fpemu.h>

int main()
{
    return fpemu_version() == FPEMU_VERSION ? 0 : 1;
}
