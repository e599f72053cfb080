#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu info and fpemu formats: the facts of known formats, as text and as JSON.
. "$(dirname "$0")/common.sh"

"$FPEMU" info e4m3fn --values >values || failed 'info --values'
holds "$(wc -l <values)" -eq 256
holds "$(sed -n 1p values)" = '0x00 0'
holds "$(sed -n 2p values)" = '0x01 0.001953125'
holds "$(sed -n 127p values)" = '0x7e 448'
holds "$(sed -n 128p values)" = '0x7f nan'
holds "$(sed -n 129p values)" = '0x80 -0'
gives "0x0 0 0x1 0.5 0x2 1 0x3 1.5 0x4 2 0x5 3 0x6 4 0x7 6 \
0x8 -0 0x9 -0.5 0xa -1 0xb -1.5 0xc -2 0xd -3 0xe -4 0xf -6" info e2m1 --values
"$FPEMU" info fp16 --values >values || failed 'info fp16 --values'
holds "$(wc -l <values)" -eq 65536
holds "$(grep -c nan values)" -eq 2046
holds "$(grep -c inf values)" -eq 2
"$FPEMU" info e4m3fn >text || failed info
grep -q '448 (code 0x7e)' text || failed 'info: largest value'
grep -q '^finite values *253$' text || failed 'info: number of values'

# key VALUE: the JSON of the last `info` has this line.
key() {
    grep -qE "^  \"$1\": $2,?\$" json || failed "JSON key $1 is not $2: $(grep "\"$1\"" json)"
}
"$FPEMU" info e4m3fn --json >json || failed 'info --json'
key kind '"float"'
key spec '"e4m3fn"'
key bits 8
key exponent_bits 4
key mantissa_bits 3
key bias 7
key signed true
key subnormals '"keep"'
key has_infinity false
key nan_codes 2
key negative_zero true
key max 448.0
key min_normal 0.015625
key min_positive 0.001953125
key epsilon 0.125
key values 253
"$FPEMU" info 'fixed(8,4)' --json >json || failed 'info --json'
key kind '"fixed"'
key exponent_bits null
key mantissa_bits null
key bias null
key subnormals null
key min_normal null
key max 7.9375
key lowest -8.0
key values 256
"$FPEMU" info e8m0 --json >json || failed 'info --json'
key signed false
key nan_codes 1
key negative_zero false
key values 255
"$FPEMU" info 'posit(16,2)' --json >json || failed 'info --json'
key kind '"posit"'
key nan_codes 1
key values 65535
key bias null
"$FPEMU" info int8 --json >json || failed 'info --json'
key kind '"int"'
key max 127.0
key lowest -128.0
for spec in 'fixed(1,0)' 'int(1)' 'uint(1,2,1)'; do # no value above zero
    "$FPEMU" info "$spec" --json >json || failed "info $spec --json"
    key min_positive null
    "$FPEMU" info "$spec" >text || failed "info $spec"
    grep -qx 'smallest > 0     -' text || failed "info $spec: $(grep '^smallest > 0' text)"
done
"$FPEMU" info e4m3fn:nosub --json >json || failed 'info --json'
key subnormals '"none"'
key min_positive 0.015625
"$FPEMU" info e5m2:flushout --json >json || failed 'info --json'
key subnormals '"flush-out"'
"$FPEMU" info fp64 --json >json || failed 'info --json'
key nan_codes 9007199254740990
key values 18437736874454810623
key lowest_code 18442240474082181119
python_checks json 'assert j["max"] == sys.float_info.max and j["min_positive"] == 5e-324
assert j["values"] == 2**64 - 2**53 - 1, j["values"]'
"$FPEMU" info e5m2 --values --json >json || failed 'info --values --json'
python_checks json 'v = j["value_list"]
assert len(v) == 256 and v[0x7b] == {"code": 0x7b, "value": 57344.0}
assert v[0x7c]["value"] == "inf" and v[0xfc]["value"] == "-inf" and v[0x7d]["value"] == "nan"
assert str(v[0x80]["value"]) == "-0.0"'
echo '[' >all
for spec in fp16 bf16 tf32 fp32 e5m2 e4m3 e3m4 e4m3fnuz e5m2fnuz e4m3b11fnuz e3m2 e2m3 e2m1 ue4m3 dlfloat16 \
    'fp(6,9,0)' 'p3109(8,4,se)' 'float(e=5,m=7,bias=20,specials=finite)' 'ufixed(8,8)' 'int(8,scale=0.1)' \
    'posit(32,2)'; do
    "$FPEMU" info "$spec" --json >>all || failed "info $spec"
    echo , >>all
done
echo 'null]' >>all
python_checks all 'for f in j[:-1]:
    for key in ("spec kind bits exponent_bits mantissa_bits bias signed subnormals has_infinity "
        "nan_codes negative_zero max min_normal min_positive epsilon values").split():
        assert key in f, key'

# Formats with scales: the element's values; codebooks
gives "0x0 0 0x1 0.5 0x2 1 0x3 1.5 0x4 2 0x5 3 0x6 4 0x7 6 \
0x8 -0 0x9 -0.5 0xa -1 0xb -1.5 0xc -2 0xd -3 0xe -4 0xf -6" info 'mx(e2m1,row,rule=ceil)' --values
"$FPEMU" info 'hbfp(7,24x24,exponent=8)' >text || failed 'info of a blocked format'
for line in 'format           hbfp(7,block=24x24,exponent=8)' 'element          fixed(8,7):symmetric' \
    'block            24x24' 'scale            2^c, c of 8 bits' 'scale rule       hbfp'; do
    grep -qxF "$line" text || failed "info of a blocked format: no line '$line'"
done
"$FPEMU" info 'table(dynamic8)' --json >json || failed 'info --json'
key kind '"codebook"'
key values 256
key lowest '-0\.99296873807907(1|104)' # newer versions of jansson write no digit more than tell a number
key max 1.0
search='group(int4,128,search=100..81/100,error=weighted)'
"$FPEMU" info "$search" | grep -qx 'search  *100\.\.81/100, error weighted' || failed 'info of a search'
"$FPEMU" info "$search" --json >json || failed 'info --json of a search'
key search '"100\.\.81/100, error weighted"'
fails 2 'character 4' info 'mx(mxfp4)'

fails 2 'up to 16 bits' info tf32 --values
fails 2 'expected SPEC' info
fails 2 "unexpected argument 'e5m2'" info e4m3fn e5m2
fails 2 'character' info 'float(e=4,m=)'
fails 2 'format' info ''
# Standard input is a file of tensors, as for other commands
"$FPEMU" sample weights --size 8 -o in.npy || failed sample
"$FPEMU" info in.npy | sed 's/in\.npy/standard input/' >listed
"$FPEMU" info - <in.npy >text || failed 'info -'
same listed text
cat in.npy | "$FPEMU" info - >text || failed 'info of a pipe'
same listed text
fails 2 "and '-' is a file" info - --values
printf '\001\002\003\004\005\006\007\010' >in.raw
fails 1 'in.raw: not a .npy file (data without a header: --raw of quantize, compare, apply and pack)' info in.raw

"$FPEMU" formats >table || failed formats
holds "$(sed -n 's/  */ /g; s/^e4m3fn 8 \(.*-0\) OCP.*/\1/p' table)" = '448 0.015625 0.001953125 0.125 nan:2 -0'
holds "$(sed -n 's/  */ /g; s/^e5m2 8 \(.*-0\) OCP.*/\1/p' table)" \
    = '57344 6.103515625e-05 1.52587890625e-05 0.25 inf nan:6 -0'
holds "$(sed -n 's/  */ /g; s/^e2m1 4 \(.*-0\) OCP.*/\1/p' table)" = '6 1 0.5 0.5 -0'
holds "$(sed -n 's/  */ /g; s/^int8 8 \(.*none\) .*/\1/p' table)" = '127 - - - none'
"$FPEMU" formats --json >json || failed 'formats --json'
python_checks json 'names = [f["name"] for f in j]
assert len(names) == len(set(names)) == 51, names
f = {f["name"]: f for f in j}
assert f["e4m3fn"]["max"] == 448 and f["e4m3fn"]["epsilon"] == 0.125
assert f["e8m0"]["min_subnormal"] is None and f["e8m0"]["min_positive"] == 2.0**-127'
holds "$(sed -n 's/  */ /g; s/^mxfp4 \(.*floor\) .*/\1/p' table)" = '4.25 e2m1 32 e8m0 floor'
holds "$(sed -n 's/  */ /g; s/^msfp12 \(.*hbfp\) .*/\1/p' table)" = '4.5 fixed(4,3):symmetric 16 2^c, c of 8 bits hbfp'
holds "$(sed -n 's/  */ /g; s/^s2fp8 \(.*s2fp8\) .*/\1/p' table)" = '8 e5m2 tensor - s2fp8'
python_checks json 'f = {f["name"]: f for f in j}
assert f["nvfp4"]["bits_per_element"] == 4.5 and f["nvfp4"]["element"] == "e2m1" and f["nvfp4"]["block"] == "16"
assert f["nvfp4"]["scale_format"] == "e4m3fn" and f["nvfp4"]["scale_rule"] == "nvfp4" and f["nvfp4"]["max"] == 6
assert f["e2m1"]["element"] is None and f["e2m1"]["block"] is None and f["e2m1"]["scale_format"] is None
assert f["s2fp8"]["scale_format"] is None and f["mxfp8_e4m3"]["aliases"] == ["mxfp8"]'
fails 2 'unexpected argument' formats all

# Every name says what it is for; the two formats that are called E4M3 name each other, modifiers or not.
holds "$(grep -cE '  -$' table)" -eq 0
python_checks json 'assert all(f["for"] for f in j), [f["name"] for f in j if not f["for"]]
f = {f["name"]: f["for"] for f in j}
assert "e4m3fn" in f["e4m3"] and "448" in f["e4m3"] and "240" in f["e4m3"] and "e4m3 " in f["e4m3fn"]'
for spec in e4m3 e4m3:saturate; do
    "$FPEMU" info $spec >out || failed "info $spec"
    grep -q '^for .*e4m3fn' out || failed "info $spec: no word about e4m3fn"
done
"$FPEMU" info 'fixed(8,4)' >out && ! grep -q '^for ' out || failed 'info of a format without a name'
"$FPEMU" info 'fixed(8,4)' --json >json && python_checks json 'assert j["for"] is None'

finish
