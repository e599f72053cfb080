/* fpemu.h is C++17 by itself, and its functions have C linkage. */
#include <fpemu.h>
#include <fpemu.h>

int main()
{
    return fpemu_version() == FPEMU_VERSION ? 0 : 1;
}
