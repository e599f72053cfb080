#!/usr/bin/env bash
# Three lists agree: the functions that fpemu.h declares, lib/libfpemu.map, and what the shared library exports.
# From the makefile: NM, top_srcdir, top_builddir.
set -euo pipefail
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Declarations: comments taken out, then every name before a parenthesis.
sed -e 's:/\*.*\*/::g' -e '/\/\*/,/\*\//d' "$top_srcdir/include/fpemu.h" |
    grep -oE '\bfpemu_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$work/header"
if ! diff "$work/header" "$top_srcdir/lib/libfpemu.map" >"$work/difference"; then
    echo "fpemu.h (<) and lib/libfpemu.map (>) differ:"
    cat "$work/difference"
    exit 1
fi

library=$top_builddir/lib/.libs/libfpemu.so
[ -e "$library" ] || { echo "no ELF shared library to look into"; exit 77; }
$NM -D --defined-only "$library" | awk '$2 ~ /[TDBRVW]/ { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exports"
if ! diff "$work/header" "$work/exports" >"$work/difference"; then
    echo "fpemu.h (<) and the exports of the library (>) differ:"
    cat "$work/difference"
    exit 1
fi
