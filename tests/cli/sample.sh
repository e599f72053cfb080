#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu sample: the same bytes everywhere, and the shapes of distributions that it promises.
. "$(dirname "$0")/common.sh"

# sum KIND CKSUM [OPTION...]: CRC and length of the file, which no machine may change
sum() {
    kind=$1
    wanted=$2
    shift 2
    "$FPEMU" sample "$kind" -o "$kind.npy" "$@" || failed "sample $kind"
    holds "$(cksum <"$kind.npy")" = "$wanted"
}
sum weights '4139275187 262272'
sum activations '4075538451 262272'
sum gradients '1409666197 262272'
sum normal '3836936078 262272'
sum uniform '3130830337 262272'
head -c 128 normal.npy | grep -qF "'shape': (256, 256), }" || failed 'shape of the default'

# Zeros: half of the activations, a tenth of the gradients; magnitudes of gradients from 2^-40 to 2^-4
zeros() {
    od -An -v -tx4 -w4 -j 128 "$1.npy" | grep -c '^ 00000000$'
}
n=$(zeros activations)
holds "$n" -gt 32000
holds "$n" -lt 33600
n=$(zeros gradients)
holds "$n" -gt 6300
holds "$n" -lt 6800
"$FPEMU" quantize fp32 gradients.npy -o out.npy --json >json || failed quantize
python_checks json 'assert 2**-40 <= j["min_abs"] < 2**-30 and 2**-12 < j["max_abs"] <= 2**-4'

# Sizes
"$FPEMU" sample normal -o a.npy --size 0 || failed 'size 0'
holds "$(wc -c <a.npy)" -eq 128
"$FPEMU" sample normal -o a.npy --size 7 || failed 'size 7'
head -c 128 a.npy | grep -qF "'shape': (1, 7), }" || failed 'shape of 7'
"$FPEMU" sample normal -o b.npy --size 7 --seed 1 || failed 'seed 1'
cmp -s a.npy b.npy && failed 'another seed gives the same'
"$FPEMU" sample normal -o b.npy --size 7 --seed 0 || failed 'seed 0'
same a.npy b.npy

"$FPEMU" sample weights -o a.npy --size 65536 && "$FPEMU" sample weights -o b.npy --shape 256x256 || failed '--shape'
same a.npy b.npy
"$FPEMU" sample normal -o a.npy --shape 3x64 && "$FPEMU" sample normal -o b.npy --shape 64x5 || failed '--shape'
head -c 128 a.npy | grep -qF "'shape': (3, 64), }" || failed 'shape of 3x64'
holds "$(wc -c <a.npy)" -eq $((128 + 3 * 64 * 4))
"$FPEMU" sample normal -o c.npy --shape 000000000000000000000003x64 || failed '--shape of 24 digits'
same a.npy c.npy
"$FPEMU" gemm a.npy b.npy fp32 >out || failed 'a product of two samples'
"$FPEMU" sample activations -o a.npy --shape 4x0 || failed 'no columns'
holds "$(wc -c <a.npy)" -eq 128

fails 2 'one of --shape and --size' sample weights -o a.npy --shape 2x2 --size 4
for shape in 4 4x x4 4x4x4 4,4 -1x4 16777216x16777217 1000000000000000000000001x1; do
    fails 2 "--shape: '$shape' is not RxC" sample weights -o no.npy --shape $shape
done
holds ! -e no.npy
fails 2 "'dreams' is none of" sample dreams -o a.npy
fails 2 'output is missing' sample weights
"$FPEMU" sample weights --size 100 -o - >out.npy || failed 'sample to standard output'
gives '' sample weights --size 100 -o wanted.npy
same out.npy wanted.npy
fails 2 'expected KIND' sample -o a.npy
fails 2 '--size' sample weights -o a.npy --size 1e6

finish
