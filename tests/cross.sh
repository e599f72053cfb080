#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The library on other processors, under an emulator: cross-compiles it with the tests that need no other library and
# runs them. aarch64 has NEON, s390x is big-endian and computes binary32 expressions in binary64.
#   tests/cross.sh [HOST...]     hosts as in aarch64-linux-gnu (the default: that one and s390x-linux-gnu)
# Needs HOST-gcc and qemu-user; exits with 77 where a host's are missing, 1 if a test fails. JOBS=N compilers at a time.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

hosts=("$@")
[ ${#hosts[@]} -gt 0 ] || hosts=(aarch64-linux-gnu s390x-linux-gnu)
flags="-std=c11 -O3 -fopenmp-simd -ffp-contract=off -fno-trapping-math -fno-math-errno"
skipped=0

for host in "${hosts[@]}"; do
    cc=$host-gcc emulator=qemu-${host%%-*}
    if ! command -v "$cc" >/dev/null || ! command -v "$emulator" >/dev/null; then
        echo "$host: skipped, no $cc or no $emulator"
        skipped=77
        continue
    fi
    mkdir "$work/$host"
    # shellcheck disable=SC2016,SC2086 # what is quoted is for the inner shell
    find "$top/lib" -name '*.c' ! -name '*.inc.c' ! -name 'x86_64_*' -print0 |
        (cd "$work/$host" && xargs -0 -n 1 -P "${JOBS:-1}" "$BASH" -c '"${@:1:$#-1}" -c "${!#}" -o "${!#//\//-}.o"' cross \
            "$cc" $flags -I"$top/include" -I"$top/lib") 2>"$work/log" || { cat "$work/log"; exit 1; }
    for test in quantize counters stochastic; do
        # shellcheck disable=SC2086
        "$cc" $flags -static -I"$top/include" -I"$top/lib" "$top/tests/against_judges/$test.c" \
            "$top"/tests/judges/{formats,longhand}.c "$work/$host"/*.o -lm -o "$work/$test" 2>"$work/log" ||
            { cat "$work/log"; exit 1; }
        result=$("$emulator" "$work/$test" | tail -n 1) || { echo "$host: $result: failed"; exit 1; }
        echo "$host: $result"
    done
done
exit $skipped
