#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Files of named tensors: safetensors, read and written; hostile ones refused, and nothing is left behind.
. "$(dirname "$0")/common.sh"

# Pads a header to a multiple of 8, as it is written
padded() { # HEADER DATA
    safetensors "$1$(printf "%$(((8 - ${#1} % 8) % 8))s" '')" "$2"
}

# 1.0625 and 465 in F32; 1.0625 in BF16 and F16; 1.125 and 448 in F8_E4M3, 1.25 in F8_E5M2; two of I64; 1.0625 in F64
f32='\000\000\210\077\000\200\350\103'
bf16='\210\077'
f16='\100\074'
f8='\071\176'
f8b='\075'
i64='\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000'
f64='\000\000\000\000\000\000\361\077'
header='{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
header=$header'"b.x":{"dtype":"BF16","shape":[1,1],"data_offsets":[8,10]},'
header=$header'"b.y":{"dtype":"F16","shape":[],"data_offsets":[10,12]},'
header=$header'"f8":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[12,14]},'
header=$header'"i":{"dtype":"I64","shape":[2,1],"data_offsets":[14,30]},'
header=$header'"f8b":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[30,31]},'
header=$header'"d":{"dtype":"F64","shape":[1],"data_offsets":[31,39]}}'
safetensors "$header   " "$f32$bf16$f16$f8$i64$f8b$f64" >in.safetensors

# e4m3fn:saturate: every type holds it but F8_E5M2, which becomes F32
gives '' quantize e4m3fn:saturate in.safetensors -o out.safetensors
out='{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
out=$out'"b.x":{"dtype":"BF16","shape":[1,1],"data_offsets":[8,10]},'
out=$out'"b.y":{"dtype":"F16","shape":[],"data_offsets":[10,12]},'
out=$out'"f8":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[12,14]},'
out=$out'"i":{"dtype":"I64","shape":[2,1],"data_offsets":[14,30]},'
out=$out'"f8b":{"dtype":"F32","shape":[1],"data_offsets":[30,34]},'
out=$out'"d":{"dtype":"F64","shape":[1],"data_offsets":[34,42]}}'
padded "$out" "\\000\\000\\200\\077\\000\\000\\340\\103\\200\\077\\000\\074$f8$i64\\000\\000\\240\\077\\000\\000\\000\\000\\000\\000\\360\\077" \
    >wanted
same out.safetensors wanted
for length in 659 19280; do # which begin as .npy (0x93) and a zip archive (PK) do
    safetensors "$(printf "%-${length}s" "$header")" "$f32$bf16$f16$f8$i64$f8b$f64" >length.safetensors
    gives '' quantize e4m3fn:saturate length.safetensors -o length.out
    same length.out wanted
done

# Only some; the others stay. Order of data, not of the header
gives '' quantize e2m1 in.safetensors -o out.safetensors --tensors 'b.*' --tensors d --exclude '*.y'
safetensors '{"z":{"dtype":"F16","shape":[1],"data_offsets":[2,4]},"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}' \
    "$bf16$f16" >two.safetensors
gives '' quantize e4m3fn two.safetensors -o out.safetensors --tensors z
padded '{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]},"z":{"dtype":"F16","shape":[1],"data_offsets":[2,4]}}' \
    "$bf16"'\000\074' >wanted
same out.safetensors wanted
gives '' quantize e4m3fn two.safetensors -o out.safetensors --dtype f8_e4m3
padded '{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]},"z":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[1,2]}}' \
    '\070\070' >wanted
same out.safetensors wanted
gives '' quantize fp64 two.safetensors -o out.safetensors --dtype F64 --tensors a --exclude z
fails 1 'z: F8_E4M3 does not hold every result of fp16' quantize fp16 two.safetensors -o no.safetensors \
    --dtype F8_E4M3 --tensors z
fails 2 '--dtype' quantize fp16 two.safetensors -o no.safetensors --dtype I64
fails 1 "no tensor has a name like 'b*'" quantize fp16 two.safetensors -o no.safetensors --tensors 'b*'
fails 1 "no tensor has a name like 'b*'" quantize fp16 two.safetensors -o no.safetensors --exclude 'b*'
fails 2 'another kind' quantize fp16 two.safetensors -o no.npz
fails 1 'fp64: binary32 does not hold' quantize fp64 two.safetensors -o no.safetensors
holds ! -e no.safetensors

# Tables and JSON
"$FPEMU" compare in.safetensors e4m3fn:saturate bf16 --min-sqnr 20 >table || failed compare
holds "$(row b.x)" = 'BF16 1x1 24.61 inf e4m3fn:saturate'
holds "$(row f8)" = 'F8_E4M3 2 inf inf e4m3fn:saturate'
holds "$(row 'skipped: i')" = '(I64, 2x1)'
holds "$(row cheapest)" = 'with at least 20 dB over all: e4m3fn:saturate
for each tensor: 8 bits an element'
"$FPEMU" compare in.safetensors e4m3fn:saturate bf16 --json --min-sqnr 1000 --exclude d --plot plot.svg >json \
    || failed 'compare --json'
python_checks json 'names = [t["name"] for t in j["tensors"]]
assert names == ["a", "b.x", "b.y", "f8", "f8b"] and [t["name"] for t in j["skipped"]] == ["i", "d"]
assert j["count"] == 7 and j["formats"][0]["clipped"] == 1 and j["tensors"][0]["formats"][0]["clipped"] == 1
assert j["cheapest"] is None and j["tensors"][1]["cheapest"] == "bf16" and j["tensors"][1]["shape"] == [1, 1]
assert j["without_cheapest"] == 1 and abs(j["cheapest_each_bits_per_element"] - (2*32 + 16 + 16 + 2*8 + 8) / 7) < 1e-12
import xml.etree.ElementTree as E
text = [t.text for t in E.parse("plot.svg").iter("{http://www.w3.org/2000/svg}text")]
assert "e4m3fn:saturate" in text and "bits per element" in text and "SQNR in dB" in text, text'
"$FPEMU" quantize e4m3fn:saturate in.safetensors -o out.safetensors --json --tensors a >json || failed 'quantize --json'
python_checks json 't, = j["tensors"]
assert t["name"] == "a" and t["output_dtype"] == "F32" and t["clipped"] == 1 == j["clipped"] and len(j["copied"]) == 6'
"$FPEMU" quantize e4m3fn in.safetensors -o out.safetensors --report >table || failed 'quantize --report'
grep -q '^total ' table || failed 'no row of all tensors'

# Tensor n of a file uses stream + n, so that two equal tensors round differently, and as each would alone
half='\232\231\231\076\232\231\231\076\232\231\231\076\232\231\231\076\232\231\231\076\232\231\231\076'
safetensors '{"a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]},"b":{"dtype":"F32","shape":[6],"data_offsets":[24,48]}}' \
    "$half$half" >in.safetensors
gives '' quantize e2m1 in.safetensors -o out.safetensors -r sr --seed 3 --stream 7
printf "$half" >in.raw
"$FPEMU" quantize e2m1 in.raw -o a.raw --raw f32 -r sr --seed 3 --stream 7 || failed quantize
"$FPEMU" quantize e2m1 in.raw -o b.raw --raw f32 -r sr --seed 3 --stream 8 || failed quantize
tail -c 48 out.safetensors >data
cat a.raw b.raw >wanted
same data wanted
cmp -s a.raw b.raw && failed 'two tensors with the same random words'

# refused TEXT HEADER [DATA]
refused() {
    safetensors "$2" "${3-}" >in.safetensors
    fails 1 "$1" quantize e4m3fn in.safetensors -o no.safetensors
    fails 1 "$1" compare in.safetensors e4m3fn
}
one='{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
refused 'no JSON' '{"a":'
refused 'no JSON' '{} x'
refused 'of the 1 bytes of data' '{}' x
refused 'dtype is missing' '{"a":{"shape":[1],"data_offsets":[0,1]}}' x
refused 'dtype is missing' '{"a":{"dtype":4,"shape":[1],"data_offsets":[0,1]}}' x
refused 'expected dtype' '{"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}}' x
refused 'expected dtype' '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}}' x
refused 'expected dtype' '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1.0]}}' x
refused 'expected dtype' '{"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}}' x
refused 'expected dtype' '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":0}}' x
refused 'list of whole numbers' '{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}' x
refused 'do not lie in order' '{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}' x
refused 'do not lie in order' '{"a":{"dtype":"U8","shape":[0],"data_offsets":[1,0]}}' x
refused 'ask for 4 bytes' '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,1]}}' x
refused '2^63' '{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,1]}}' x
refused '2^63' '{"a":{"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}'
refused 'no JSON' '{"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,1]}}' x
refused 'whole number of bytes' '{"a":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}}' x
refused 'duplicate' "{\"a\":$one,\"a\":$one}" x
refused 'begin at 0, those before it end at 1' "{\"a\":$one,\"b\":$one}" x
refused 'begin at 1, those before it end at 0' '{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}' xx
refused 'of the 2 bytes of data' "{\"a\":$one}" xx
refused '__metadata__' "{\"__metadata__\":[],\"a\":$one}" x
refused '__metadata__' "{\"__metadata__\":{\"a\":1},\"a\":$one}" x
refused 'more than 64 dimensions' "{\"a\":{\"dtype\":\"U8\",\"shape\":[$(printf '1,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 \
    14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 \
    52 53 54 55 56 57 58 59 60 61 62 63 64)1],\"data_offsets\":[0,1]}}" x
printf 'short' >in.safetensors
fails 1 'too short' compare in.safetensors e4m3fn
printf '\377\377\377\377\377\377\377\377{}' >in.safetensors
fails 1 'a header of 18446744073709551615 bytes in a file of 10' compare in.safetensors e4m3fn
printf '\377\377\000\000\000\000\000\000{}' >in.safetensors
fails 1 'a header of 65535 bytes' compare in.safetensors e4m3fn
holds ! -e no.safetensors

finish
