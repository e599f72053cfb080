#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Three lists agree: the functions that include/fpemu/ declares, lib/libfpemu.map, and what the shared library exports;
# likewise fpemu_cuda.h, gpu/libfpemu_cuda.map and that library, where it is built. And the library calls nothing that
# allocates, prints, ends the program or can be where a thread is cancelled, failed assertions aside.
# From the makefile: CC, NM, top_srcdir, top_builddir.
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

# declared HEADER: every name before a parenthesis, once the preprocessor has written the list of typed.h out.
declared() {
    printf '#include <%s>\n' "$1" | $CC -x c -E -I "$top_srcdir/include" - | grep -oE '\bfpemu_[a-z0-9_]+ ?\(' |
        tr -d ' (' | sort -u
}

exported() {
    $NM -D --defined-only "$1" | awk '$2 ~ /[TDBRVW]/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}

mapped() {
    sed -n 's/^ *\(fpemu_[a-z0-9_]*\);$/\1/p' "$1" | sort -u
}

declared fpemu.h >"$work/header"
declared fpemu_cuda.h | grep ^fpemu_cuda_ >"$work/cuda"
mapped "$top_srcdir/lib/libfpemu.map" >"$work/map"
mapped "$top_srcdir/gpu/libfpemu_cuda.map" >"$work/cuda_map"
same "$work/header" "$work/map" "include/fpemu/ (<) and lib/libfpemu.map (>)"
same "$work/cuda" "$work/cuda_map" "fpemu_cuda.h (<) and gpu/libfpemu_cuda.map (>)"

library=$top_builddir/lib/.libs/libfpemu.so
[ -e "$library" ] || { echo "no ELF shared library to look into"; exit 77; }
exported "$library" >"$work/exports"
same "$work/header" "$work/exports" "include/fpemu/ (<) and the exports of the library (>)"
called=$($NM -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u)
if grep -q '^memcpy$' <<<"$called" && ! grep -q '^__[a-z]*san_' <<<"$called"; then
    memory='(m|c|re)alloc|free|(posix_)?memalign|aligned_alloc|strn?dup|sbrk|m(un)?map'
    printing='v?f?d?printf|(__)?v?f?printf_chk|f?put[cs]|putchar|perror|fwrite|f(open|close|read|flush)'
    ending='abort|_?_?[eE]xit|raise|kill|system|fork'
    cancelled='(open|read|write|close)(64)?|sleep|usleep|nanosleep|select|poll|pthread_.*'
    bad=$(grep -xE "$memory|$printing|$ending|$cancelled" <<<"$called" | grep -vx pthread_atfork || :)
    [ -z "$bad" ] || { echo "the library calls $bad"; exit 1; }
fi
library=$top_builddir/gpu/.libs/libfpemu_cuda.so
if [ -e "$library" ]; then
    exported "$library" >"$work/exports"
    same "$work/cuda" "$work/exports" "fpemu_cuda.h (<) and the exports of its library (>)"
fi
