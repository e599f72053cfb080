#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The public headers compile pedantically, all of them together and each by itself: as C11, where there is a C++ compiler
# as C++11, C++17 and C++20, and where the compilers can, for a 32-bit machine, where every struct has the same size
# (the headers assert it).
# The example of README.md does so as well.
# From the makefile: CC, CXX (may be empty), AWK, top_srcdir.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strict=(-pedantic-errors -Wall -Wextra -Wconversion -Werror -I "$top_srcdir/include" -fsyntax-only)

# A header alone comes first, twice, and needs nothing before it. fpemu_cuda.h needs nothing of CUDA's.
headers=("$top_srcdir"/include/fpemu/*.h "$top_srcdir"/include/fpemu{,_cuda}.h)
for header in "${headers[@]}"; do
    name=$(basename "$header")
    [ "$(basename "$(dirname "$header")")" = include ] || name=fpemu/$name
    printf '#include <%s>\n#include <%s>\nint main(void)\n{\n    return 0;\n}\n' "$name" "$name" >"$work/$(basename "$header").c"
done
$AWK -f "$top_srcdir/tests/readme_example.awk" "$top_srcdir/README.md" >"$work/example"
grep -q fpemu_quantize "$work/example"
sources=("$work"/*.c)

# compiles COMPILER... : all sources
compiles() {
    local source
    for source in "${sources[@]}"; do
        "$@" "${strict[@]}" "$source"
    done
}

compiles $CC -std=c11
$CC -x c -std=c11 "${strict[@]}" "$work/example"
if [ -n "$CXX" ]; then
    for standard in c++11 c++17 c++20; do
        compiles $CXX -x c++ -std=$standard -Wold-style-cast
        $CXX -x c++ -std=$standard "${strict[@]}" "$work/example"
        $CXX -std=$standard "${strict[@]}" -Wold-style-cast "$top_srcdir/tests/headers/header_cxx.cpp"
    done
fi

# The headers want nothing of a C library: the compiler's own stddef.h and stdint.h will do.
printf '_Static_assert(sizeof(void *) == 4, "a 32-bit machine");\n' >"$work/narrow"
if $CC -m32 -ffreestanding -std=c11 -fsyntax-only -x c "$work/narrow" 2>"$work/why"; then
    compiles $CC -m32 -ffreestanding -std=c11
else
    echo "not compiled for a 32-bit machine, since this compiler cannot: $(head -n 1 "$work/why")"
fi
printf 'static_assert(sizeof(void *) == 4, "a 32-bit machine");\n#include <stddef.h>\n#include <stdint.h>\n' >"$work/narrow"
if [ -n "$CXX" ] && $CXX -m32 -ffreestanding -std=c++11 -fsyntax-only -x c++ "$work/narrow" 2>"$work/why"; then
    compiles $CXX -x c++ -m32 -ffreestanding -std=c++11 -Wold-style-cast
fi
