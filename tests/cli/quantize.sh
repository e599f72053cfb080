#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu quantize: the index of an element is its position in the file, pieces or not; the report counts.
. "$(dirname "$0")/common.sh"

# More than one piece of the file; stochastic results near the seams are those of single numbers with the same index
"$FPEMU" sample normal -o in.npy --size 300000 || failed sample
holds "$(wc -c <in.npy)" -eq 1200128
gives '' quantize e4m3fn in.npy -o out.npy -r sr --seed 9 --stream 3
for i in 0 1 4095 4096 262143 262144 299999; do
    x=$("$FPEMU" round fp32 "$(word in.npy $i f4)")
    y=$("$FPEMU" round e4m3fn -r sr --seed 9 --stream 3 --index $i "$x")
    holds "$("$FPEMU" encode fp32 "$y")" = "0x$(word out.npy $i x4)"
done
tail -c +129 in.npy >in.raw
tail -c +129 out.npy >wanted
gives '' quantize e4m3fn in.raw -o out.raw --raw f32 -r sr --seed 9 --stream 3
same out.raw wanted
gives '' quantize e4m3fn in.npy -o other.npy -r sr --seed 10 --stream 3
cmp -s other.npy out.npy && failed 'another seed gives the same'
OMP_NUM_THREADS=2 "$FPEMU" quantize e4m3fn in.npy -o other.npy -r sr --seed 9 --stream 3 || failed 'two threads'
same other.npy out.npy

# 1, 3, 465, 1000, 2^-10, 2^-9, nan, inf
printf '\000\000\200\077\000\000\100\100\000\200\350\103\000\000\172\104' >few.raw
printf '\000\000\200\072\000\000\000\073\000\000\300\177\000\000\200\177' >>few.raw
"$FPEMU" quantize e4m3fn few.raw -o out.raw --raw f32 --report >report || failed 'quantize --report'
counts() { # KEY VALUE
    grep -qE "^$1 +$2( |\$)" report || failed "report: $1 is not $2: $(grep "^$1 " report)"
}
counts format e4m3fn
counts rounding rne
counts count 8
counts nan 1
counts infinite 1
counts clipped 2
counts overflow 2
counts invalid 1
counts underflow 1
counts subnormal 1
counts inexact 3
counts min_abs 0.0009765625
counts max_abs 1000
"$FPEMU" quantize e4m3fn:saturate few.raw -o out.raw --raw f32 --report >report || failed 'quantize --report'
counts format e4m3fn:saturate
counts max_error 552
counts sum_error 569.0009765625
counts invalid 0
"$FPEMU" quantize e4m3fn:saturate few.raw -o out.raw --raw f32 --json -r sr --seed 18446744073709551615 >json \
    || failed 'quantize --json'
grep -q '"overflow": 2,' json || failed 'JSON report'
grep -q '"seed": 18446744073709551615,' json || failed 'JSON report: a seed above 2^63'
# The name of a file cannot forge a number
cp few.raw '"\u000012'
"$FPEMU" quantize e4m3fn '"\u000012' -o other.raw --raw f32 --json >json2 || failed 'quantize --json'
grep -qF '"input": "\"\\u000012",' json2 || failed "JSON report: $(grep input json2)"
python_checks json 'assert j["count"] == 8 and j["clipped"] == 2 and j["max_error"] == 552
assert j["spec"] == "e4m3fn:saturate" and j["type"] == "float32" and j["rounding"]["mode"] == "sr"
assert j["rounding"]["seed"] == 2**64 - 1 and j["rounding"]["bits"] == 32
assert j["sum_error2"] > 552**2 and 0 < j["sqnr_db"] < 10'

# A format that the type of the file does not hold; formats and roundings that do not go together: also without data
fails 1 'fp64: binary32 does not hold every value of the format: binary64 does; the data have to be float64' \
    quantize fp64 few.raw -o no.raw --raw f32
: >empty.raw
fails 1 'fp64' quantize fp64 empty.raw -o no.raw --raw f32
fails 1 'posit(8,2)' quantize 'posit(8,2)' empty.raw -o no.raw --raw f32 -r rtp
holds ! -e no.raw
# From a pipe to a pipe
gives '' quantize e4m3fn in.npy -o wanted.npy
"$FPEMU" quantize e4m3fn - -o - <in.npy | cat >out.npy
same out.npy wanted.npy
fails 2 'the report goes there' quantize e4m3fn in.npy -o - --report
fails 2 'the report goes there' quantize e4m3fn in.npy -o /dev/stdout --json
fails 2 'expected SPEC IN' quantize e4m3fn -o no.raw
fails 2 "unexpected argument 'more'" quantize e4m3fn few.raw more -o no.raw

finish
