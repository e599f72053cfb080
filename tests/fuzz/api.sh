#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# api.sh - the inputs of corpus/api.ar and random ones through the public calls: what the other api_*.c insist
# on holds, and every instruction set, by one thread or by two, gives the same digests.
set -euo pipefail
api=$top_builddir/tests/fuzz/api
digests() { # VARIANT THREADS
    FPEMU_VARIANT=$1 OMP_NUM_THREADS=$2 "$api" "$top_srcdir/tests/fuzz/corpus/api.ar" &&
        FPEMU_VARIANT=$1 OMP_NUM_THREADS=$2 "$api" --random "${API_INPUTS:-20000}" "${API_SEED:-1}"
}
portable=$(digests portable 1)
[ "$(wc -l <<<"$portable")" -gt 20 ] || { echo "no inputs in $top_srcdir/tests/fuzz/corpus/api.ar"; exit 1; }
for variant in $("$api" --variants); do
    if ! other=$(digests "$variant" 2) || [ "$other" != "$portable" ]; then
        echo "$variant, two threads, and portable, one thread, differ:"
        diff <(echo "$portable") <(echo "$other") | head -4
        exit 1
    fi
done
