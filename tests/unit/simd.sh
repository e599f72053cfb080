# SPDX-License-Identifier: BSD-2-Clause
# simd.sh - compiles check_simd.c for each instruction set of x86-64 that this machine runs, and in plain C, and runs it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

try() { # flags of the instruction set...
    for bits in 32 64; do
        $CC -std=c11 -O2 -ffp-contract=off -frounding-math "$@" -DBITS=$bits -I"$top_srcdir/include" \
            -I"$top_srcdir/lib" "$top_srcdir/tests/unit/check_simd.c" -o "$work/check" -lm
        "$work/check" >"$work/said" || { cat "$work/said" && echo "simd.sh: lanes of $bits bits, by ${*:-plain C}" && failed=1; }
    done
}

try
flags=$(grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null || :)
case $flags in *avx2*) try -march=x86-64-v3 ;; esac
case $flags in *avx512vl*) try -march=x86-64-v4 ;; esac
exit $failed
