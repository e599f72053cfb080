#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu compare: one table, a row for each format.
. "$(dirname "$0")/common.sh"

# 1, 3, 465, 1000, 2^-10, 2^-9, 1.0625, 0
printf '\000\000\200\077\000\000\100\100\000\200\350\103\000\000\172\104' >few.raw
printf '\000\000\200\072\000\000\000\073\000\000\210\077\000\000\000\000' >>few.raw
"$FPEMU" compare few.raw --raw f32 e4m3fn e4m3fn:saturate e5m2 fp32 'posit(32,2)' >table || failed compare
holds "$(wc -l <table)" -eq 6
holds "$(sed -n 1p table | tr -s ' ')" \
    = 'format bits SQNR-dB max-rel clipped overflow underflow subnormal invalid'
holds "$(row e4m3fn)" = '8 34.55 1 2 2 1 1 0'
holds "$(row e4m3fn:saturate)" = '8 6.01 1 2 2 1 1 0'
holds "$(row e5m2)" = '8 31.48 0.05882 0 0 0 0 0'
holds "$(row fp32)" = '32 inf 0 0 0 0 0 0'
holds "$(row 'posit(32,2)')" = '32 inf 0 0 0 0 0 0'
"$FPEMU" compare few.raw --raw f32 e4m3fn --percent >table || failed 'compare --percent'
holds "$(row e4m3fn)" = '8 34.55 1 25.000% 25.000% 12.500% 12.500% 0.000%'

"$FPEMU" compare few.raw --raw f32 e4m3fn:saturate 'fixed(8,4)' -r rtz --json >json || failed 'compare --json'
python_checks json 'a, b = j["formats"]
assert j["count"] == 8 and j["shape"] == [8] and j["type"] == "float32" and j["rounding"]["mode"] == "rtz"
assert a["spec"] == "e4m3fn:saturate" and a["clipped"] == 2 and a["underflow"] == 1 and a["max_error"] == 552
assert a["max_relative_error"] == 1 and a["bits_per_element"] == 8 and b["spec"] == "fixed(8,4)"'
"$FPEMU" compare few.raw --raw f32 fp32 --json >json || failed 'compare --json'
python_checks json 'assert j["formats"][0]["sqnr_db"] == "inf"'

# A row says the same as the report of quantize, whatever the other rows; also over several pieces
"$FPEMU" sample weights -o in.npy --size 300000 || failed sample
"$FPEMU" compare in.npy bf16 e4m3fn e5m2 --json -r sr --seed 5 >json || failed compare
"$FPEMU" quantize e4m3fn in.npy -o out.npy --json -r sr --seed 5 >report || failed quantize
python_checks json 'r, row = json.load(open("report")), j["formats"][1]
for key in row:
    if key != "max_relative_error" and key in r:
        assert row[key] == r[key], key
assert row["count"] == 300000 and j["shape"] == [1200, 250]'
"$FPEMU" compare in.npy bf16 int4 int8 --json --scale 0.02 --zero 1 2>err && failed 'zero points of bf16'
"$FPEMU" compare in.npy int4 int8 --json --scale 0.02 --zero 1 >json || failed 'compare --scale'
"$FPEMU" quantize int4 in.npy -o out.npy --json --scale 0.02 --zero 1 >report || failed quantize
python_checks json 'r, row = json.load(open("report")), j["formats"][0]
assert row["clipped"] == r["clipped"] > 0 and row["sqnr_db"] == r["sqnr_db"] and row["bits_per_element"] == 4'
fails 1 '--scale: 6.22302e-61 is too small for binary32' compare in.npy int4 --scale 0x1p-200
"$FPEMU" compare in.npy e4m3fn >alone || failed compare
"$FPEMU" compare - e4m3fn <in.npy >table || failed 'compare of standard input'
same alone table

# Empty data
: >empty.raw
"$FPEMU" compare empty.raw --raw f64 e4m3fn >table || failed 'compare of nothing'
holds "$(row e4m3fn)" = '8 - 0 0 0 0 0 0'

# 465 and 1000 become NaN in e4m3fn, which its error does not see: it keeps nothing, whatever its decibels
"$FPEMU" compare few.raw --raw f32 e4m3fn e5m2 --min-sqnr 30 >table || failed 'compare --min-sqnr'
left='e4m3fn is left out: 2 elements became NaN or infinite'
holds "$(tail -n 1 table)" = "cheapest with at least 30 dB over all: e5m2; $left"
"$FPEMU" compare few.raw --raw f32 e4m3fn e5m2 --max-bits 8 >table || failed 'compare --max-bits'
holds "$(sed -n '/^best/p' table)" = "best within 8 bits an element: 31.48 dB with 8 bits an element; $left"
"$FPEMU" compare few.raw --raw f32 e4m3fn --overflow saturate --min-sqnr 6 >table || failed 'compare --min-sqnr'
holds "$(tail -n 1 table)" = 'cheapest with at least 6 dB over all: e4m3fn'

fails 2 'expected IN SPEC' compare in.npy
fails 2 'character' compare in.npy e4m3fn nonsense
fails 1 'posit(8,2)' compare empty.raw --raw f32 e4m3fn 'posit(8,2)' -r rtn

# Bars of about equal bits (nf4 4.5, nvfp4 4.501, here) stand side by side: no two points share a place.
if python3 -c 'import zipfile' 2>/dev/null; then
    "$FPEMU" sample weights --size 64 -o w.npy && "$FPEMU" sample gradients --size 64 -o g.npy &&
        python3 -m zipfile -c bars.npz w.npy g.npy &&
        "$FPEMU" compare bars.npz e4m3fn e5m2 int8 nf4 nvfp4 mxfp4 e2m1 --plot bars.svg >/dev/null || failed 'bars'
    sed -n 's/.*<circle cx="\([0-9.]*\)".*/\1/p' bars.svg | sort -n >places
    holds "$(wc -l <places)" -eq 7
    awk 'NR > 1 && $1 - last < 9.9 { exit 1 } { last = $1 }' places || failed "points at one place: $(cat places)"
    grep -q 'of about equal bits stand side by side' bars.svg || failed 'the caption'
fi

finish
