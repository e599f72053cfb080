/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu.h is C++11 by itself, and its functions have C linkage. */
#include <fpemu.h>
#include <fpemu.h>

int main()
{
    /* -Werror: without a warning that enumerations are added */
    static_assert(FPEMU_USE_OPERATION + FPEMU_OPERATION_FMA == 69 && FPEMU_USE_FUNCTION + FPEMU_FUNCTION_LOG == 132,
                  "an int");
    return fpemu_version() == FPEMU_VERSION ? 0 : 1;
}
