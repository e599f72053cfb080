#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# No program linked against an earlier build breaks: the exported functions with their versions, and the sizes of the
# structs, are those of the record in tests/headers/abi; where abidiff is there, the types of all arguments and members
# too. `record' as the argument writes the record anew, which whoever changes the interface on purpose does
# (CONTRIBUTING.md).
# From the makefile: CC, NM, top_srcdir, top_builddir.
set -euo pipefail
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library=$top_builddir/lib/.libs/libfpemu.so
[ -e "$library" ] || { echo "no ELF shared library to look into"; exit 77; }

# Every header asserts the size of each of its structs; tests/headers/sizes sees to that.
{
    $NM -D --defined-only "$library" | awk '$2 ~ /[TDBRVW]/ { sub(/@+/, " ", $3); print $3 }'
    cat "$top_srcdir"/include/fpemu/*.h |
        sed -n 's/^FPEMU_STATIC_ASSERT(sizeof(\(fpemu_[a-z0-9_]*\)) == \([0-9]*\).*/sizeof \1 \2/p'
} | sort >"$work/names"
record=$top_srcdir/tests/headers/abi

# Only what a program sees, as far as the machine and the compiler leave it: their own type names do not count.
types() {
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-parameter-names --no-write-default-sizes \
        --no-elf-needed --drop-private-types --exported-interfaces-only --headers-dir "$top_srcdir/include" "$1" |
        sed "s: path='[^']*/\(lib/[^']*\)': path='\1':"
}

if [ "${1-}" = record ]; then
    cp "$work/names" "$record/names.txt"
    types "$library" >"$record/x86_64.abi"
    exit
fi

if ! diff "$record/names.txt" "$work/names" >"$work/difference"; then
    echo "the interface is not the recorded one (<: recorded; a line that went breaks programs):"
    cat "$work/difference"
    exit 1
fi
# the record is of x86-64 and gcc: clang has other words for the same integers
why=
command -v abidiff >/dev/null || why="no abidiff"
case $($CC --version) in *clang*) why="the record of types is gcc's" ;; esac
objdump -f "$library" 2>/dev/null | grep -q x86-64 || why="the record of types is of x86-64"
objdump -h "$library" 2>/dev/null | grep -q '\.debug_info' || why="the library has no debugging information"
[ -z "$why" ] || { echo "names and sizes alone were compared: $why"; exit 0; }
abidiff --headers-dir2 "$top_srcdir/include" --drop-private-types --exported-interfaces-only \
    "$record/x86_64.abi" "$library"
