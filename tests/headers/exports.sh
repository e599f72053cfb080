#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Three lists agree: the functions that include/fpemu/ declares, lib/libfpemu.map, and what the shared library exports;
# likewise fpemu_cuda.h, gpu/libfpemu_cuda.map and that library, where it is built.
# From the makefile: NM, top_srcdir, top_builddir.
set -euo pipefail
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# same A B WORDS: files A and B are the same
same() {
    diff "$1" "$2" >"$work/difference" && return
    echo "$3 differ:"
    cat "$work/difference"
    exit 1
}

# Declarations: comments taken out, then every name before a parenthesis.
declared() {
    cat "$@" | sed -e 's:/\*.*\*/::g' -e '/\/\*/,/\*\//d' | grep -oE '\bfpemu_[a-z0-9_]+\(' | tr -d '(' | sort -u
}

exported() {
    $NM -D --defined-only "$1" | awk '$2 ~ /[TDBRVW]/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}

mapped() {
    sed -n 's/^ *\(fpemu_[a-z0-9_]*\);$/\1/p' "$1" | sort -u
}

declared "$top_srcdir"/include/fpemu/*.h >"$work/header"
declared "$top_srcdir/include/fpemu_cuda.h" >"$work/cuda"
mapped "$top_srcdir/lib/libfpemu.map" >"$work/map"
mapped "$top_srcdir/gpu/libfpemu_cuda.map" >"$work/cuda_map"
same "$work/header" "$work/map" "include/fpemu/ (<) and lib/libfpemu.map (>)"
same "$work/cuda" "$work/cuda_map" "fpemu_cuda.h (<) and gpu/libfpemu_cuda.map (>)"

library=$top_builddir/lib/.libs/libfpemu.so
[ -e "$library" ] || { echo "no ELF shared library to look into"; exit 77; }
exported "$library" >"$work/exports"
same "$work/header" "$work/exports" "include/fpemu/ (<) and the exports of the library (>)"
library=$top_builddir/gpu/.libs/libfpemu_cuda.so
if [ -e "$library" ]; then
    exported "$library" >"$work/exports"
    same "$work/cuda" "$work/exports" "fpemu_cuda.h (<) and the exports of its library (>)"
fi
