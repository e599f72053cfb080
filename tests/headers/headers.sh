#!/usr/bin/env bash
# The public headers compile alone, pedantically, as C11 and, where there is a C++ compiler, as C++17.
# From the makefile: CC, CXX (may be empty), top_srcdir.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strict=(-pedantic-errors -Wall -Wextra -Wconversion -Werror -I "$top_srcdir/include" -c)

$CC -std=c11 "${strict[@]}" -o "$work/c.o" "$top_srcdir/tests/headers/header_c.c"
# fpemu_cuda.h needs nothing of CUDA's
cat >"$work/cuda.c" <<END
#include <fpemu_cuda.h>
#include <fpemu_cuda.h>
int main(void)
{
    return fpemu_cuda_stats_size() == 0;
}
END
$CC -std=c11 "${strict[@]}" -o "$work/cuda.o" "$work/cuda.c"
if [ -n "$CXX" ]; then
    $CXX -x c++ -std=c++17 "${strict[@]}" -Wold-style-cast -o "$work/cuda.o" "$work/cuda.c"
    $CXX -std=c++17 "${strict[@]}" -Wold-style-cast -o "$work/cxx.o" "$top_srcdir/tests/headers/header_cxx.cpp"
fi
