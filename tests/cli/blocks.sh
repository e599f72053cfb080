#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Blocks on the command line: what they are counted, the bits that they take, tables from files, NaN that get lost.
. "$(dirname "$0")/common.sh"

# 4, 1 | 0, 0 | nan, 1 | 2^-149, 0 | 8, 2 | 4, 0 in blocks of two of e2m1, whose largest value is in [4, 8): scales 2^0;
# 2^-127 for zeros; none; 2^-151, raised to 2^-127; 2^1; 2^0
printf '\000\000\200\100\000\000\200\077\000\000\000\000\000\000\000\000\000\000\300\177\000\000\200\077' >few.raw
printf '\001\000\000\000\000\000\000\000\000\000\000\101\000\000\000\100\000\000\200\100\000\000\000\000' >>few.raw
spec='mx(e2m1,block=2)'
cat >check.py <<'E2'
def check(r):
    assert (r["blocks"], r["zero_blocks"], r["nan_blocks"], r["saturated_scales"]) == (6, 1, 1, 1), r
    assert r["scale_histogram"] == {"first": -127, "counts": [2] + 126 * [0] + [2, 1]}, r
E2
"$FPEMU" quantize "$spec" few.raw -o out.raw --raw f32 --report >report || failed 'quantize --report'
holds "$(tr -s ' ' <report | tail -n 2)" = 'blocks 6, zero 1, NaN 1, with a saturated scale 1
scales 2^-127 .. 2^1'
"$FPEMU" quantize "$spec" few.raw -o out.raw --raw f32 --json >json || failed 'quantize --json'
python_checks json 'exec(open("check.py").read()); check(j)'
"$FPEMU" compare few.raw "$spec" 'group(int4,2)' e2m1 --raw f32 --json >json || failed 'compare --json'
# int4 has 7 and fp32 scales amax/7: of 4, 8, 4, and of 2^-149 a 0, as of zeros
python_checks json 'exec(open("check.py").read()); check(j["formats"][0])
g = j["formats"][1]
assert (g["blocks"], g["zero_blocks"], g["nan_blocks"], g["saturated_scales"]) == (6, 1, 1, 0), g
assert g["scale_histogram"] == {"first": -1, "counts": [2, 1]}, g
assert "blocks" not in j["formats"][2]'
"$FPEMU" compare few.raw "$spec" e2m1 --raw f32 --long >table || failed 'compare --long'
holds "$(tail -n 2 table | tr -s ' ')" = "format blocks zero NaN saturated scales
$spec 6 1 1 1 2^-127 .. 2^1"
"$FPEMU" pack "$spec" few.raw -o out.fpk --raw f32 --json >json || failed 'pack --json'
python_checks json 'exec(open("check.py").read()); check(j); check(j["tensors"][0])
assert j["bytes"] == j["tensors"][0]["bytes"] == 6 + 6 and j["bits_per_element"] == 8 and j["nan_to_number"] == 0
assert j["spec"] == "mx(e2m1,block=2)" and j["tensors"][0]["axis"] == 0 and j["count"] == 12'
"$FPEMU" pack "$spec" few.raw -o out.fpk --raw f32 --report >table || failed 'pack --report'
grep -q '^total  *6  *1  *1  *1  2^-127 .. 2^1$' table || failed "pack --report: $(cat table)"
# A block that is the whole tensor counts once, in however many pieces it comes
"$FPEMU" sample weights -o in.npy --size 600000 || failed sample
for command in quantize pack; do
    "$FPEMU" $command 'bfp(m=4,block=tensor)' in.npy -o out --json >json || failed $command
    python_checks json 'assert j["blocks"] == 1 and j["zero_blocks"] == 0 and j["scale_histogram"]["counts"] == [1]'
done

# Bits: 15 lines of 7 elements of 4 bits, each with a scale, take 15 * (4 + 1) bytes; without one 15 * 4. Eight lines of
# one element take 16 bits each, so that a format of nominally twice as many is the cheapest
head -c $((128 + 420)) in.npy | tail -c 420 >few
{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5, 7), }"; cat few; } >few.npy
"$FPEMU" compare few.npy mxfp4 e2m1 --json >json || failed 'compare --json'
python_checks json 'a, b = j["formats"]
assert a["bits_per_element"] == 8 * 75 / 105 and b["bits_per_element"] == 8 * 60 / 105 and a["packed"] and b["packed"]
assert a["nominal_bits_per_element"] == 4.25 and b["nominal_bits_per_element"] == 4'
"$FPEMU" compare few.npy mxfp4 --axis 0 --json >json || failed 'compare --json'
python_checks json 'assert j["formats"][0]["bits_per_element"] == 8 * 35 * (2 + 1) / 105'
"$FPEMU" pack mxfp4 few.npy -o out.fpk --json >json || failed 'pack --json'
python_checks json 'assert j["bytes"] == 75'
{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 1), }"; head -c 32 few; } >lines.npy
"$FPEMU" compare lines.npy mxfp4 e4m3fn:saturate --min-sqnr 10 --plot plot.svg >table || failed 'compare --min-sqnr'
holds "$(tail -n 1 table)" = 'cheapest with at least 10 dB over all: e4m3fn:saturate'
holds "$(tr -s ' ' <table | sed -n 's/^mxfp4 \([0-9*.]*\) .*/\1/p')" = 16
grep -q '>16</text>' plot.svg || failed 'the plot does not reach 16 bits'
{ npy "{'descr': '<f4', 'fortran_order': True, 'shape': (8, 1), }"; head -c 32 few; } >lines.npy
"$FPEMU" compare lines.npy mxfp4 e4m3fn:saturate >table || failed compare
holds "$(tr -s ' ' <table | sed -n 's/^mxfp4 \([0-9*.]*\) .*/\1/p')" = '4.25*'
grep -q '^\* bits of the format by itself' table || failed 'nothing says what * means'
fails 1 'Fortran order' pack mxfp4 lines.npy -o no.fpk

# NaN, 1: in a format without NaN one line says that a number comes back; where a NaN comes back, none
printf '\000\000\300\177\000\000\200\077' >nan.raw
for spec in e2m1 int8 'fixed(8,4)' 'bfp(m=4,block=2)' 'muppet(8)' 'scaled(e2m1)'; do
    "$FPEMU" pack "$spec" nan.raw -o out.fpk --raw f32 --json >json 2>err || failed "pack $spec"
    grep -q '^fpemu: pack: 1 NaN became numbers' err && [ "$(wc -l <err)" -eq 1 ] || failed "$spec: $(cat err)"
    grep -q '"nan_to_number": 1,' json || failed "$spec: $(grep nan_ json)"
    gives '' unpack out.fpk -o out.npy
    tail -c 8 out.npy | od -An -v -tf4 | grep -qi nan && failed "$spec: NaN came back"
    gives '' pack "$spec" nan.raw -o out.fpk --raw f32 --nan zero
done
for spec in e4m3fn bf16 mxfp4 mxint8 nf4 'group(int4,2)' 'scaled(e4m3fn)'; do
    gives '' pack "$spec" nan.raw -o out.fpk --raw f32
    gives '' unpack out.fpk -o out.npy
    tail -c 8 out.npy | od -An -v -tf4 | grep -qi nan || failed "$spec: NaN did not come back"
done
fails 1 "NaN policy is 'error'" pack e2m1 nan.raw -o no.fpk --raw f32 --nan error

# A table of a file: NF4's own gives the bits of nf4
cat >nf4.txt <<'E2'
# NF4 (Dettmers et al. 2023)
-1.0 -0.6961928009986877 -0.5250730514526367 -0.39491748809814453
-0.28444138169288635 -0.18477343022823334 -0.09105003625154495 0.0 # eight below, eight above
0.07958029955625534 0.16093020141124725 0.24611230194568634 0.33791524171829224
0.44070982933044434 0.5626170039176941 0.7229568362236023 1.0
E2
gives '' quantize nf4 few.npy -o wanted.npy
gives '' quantize 'codebook(file=nf4.txt,block=64)' few.npy -o out.npy
same out.npy wanted.npy
gives '' quantize 'codebook(nf4,block=3,scale=bf16)' few.npy -o wanted.npy -r sr --seed 4
gives '' quantize 'codebook(file=nf4.txt,3,scale=bf16)' few.npy -o out.npy -r sr --seed 4
same out.npy wanted.npy
gives '0x8 0xf' encode 'table(file=nf4.txt)' 0.08 2
gives '0.07958029955625534' decode 'table(file=nf4.txt)' 8
"$FPEMU" info 'codebook(file=./nf4.txt,64)' >out || failed info
holds "$(head -n 2 out | tr -s ' ')" = 'format codebook(file=./nf4.txt,block=64)
element table(file=./nf4.txt)'
"$FPEMU" compare few.npy nf4 'codebook(file=nf4.txt,64)' e2m1 --json >json || failed compare
python_checks json 'a, b, c = j["formats"]
assert b["spec"] == "codebook(file=nf4.txt,block=64)" and a.pop("spec") == "nf4" and b.pop("spec") and a == b != c'
printf '0\n0.5\n1' >three.txt
gives '0.5 1 0' round 'table(file=three.txt)' 0.3 7 -1
echo '-3 -1 1 3' >ties.txt
gives '-3 -1 1' round 'table(file=ties.txt)' -2 0 2
gives '-3 1 3' round 'table(file=ties.txt)' -r rna -- -2 0 2
gives '-1 -1 1' round 'table(file=ties.txt)' -r rnz -- -2 0 2
gives '-1 1 3' round 'table(file=ties.txt)' -r rnp -- -2 0 2
fails 1 'no odd neighbour (mode rto)' round 'table(file=ties.txt)' -r rto 2
printf '0 1 1' >bad.txt
fails 1 "bad.txt, line 1: '1'" round 'table(file=bad.txt)' 1
printf '0 1\n\n1e99' >bad.txt
fails 1 "bad.txt, line 3: '1e99'" round 'table(file=bad.txt)' 1
printf '# 0 1\n7' >bad.txt
fails 1 'at least 2 numbers' round 'table(file=bad.txt)' 1
printf '0 1e%061d5 # a long way to write it' 0 >long.txt
gives '0 100000' round 'table(file=long.txt)' 0 1e6
printf '0 0.5%061dgarbage' 0 >bad.txt
fails 1 'bad.txt, line 1: ' round 'table(file=bad.txt)' 1
echo 0 -1 1 nan 2 inf -inf >codes.txt
gives '0x0 0x4 0x3 0x5 0x6' encode 'table(codes=codes.txt)' -- 0.4 2.5 nan 2.6 -9
gives '0 -1 1 nan 2 inf -inf nan' decode 'table(codes=codes.txt)' 0 1 2 3 4 5 6 7
"$FPEMU" info 'codebook(codes=codes.txt,64)' | grep -q '^element *table(codes=codes.txt)$' || failed 'codes of a block'
echo 1 -0 2 >bad.txt
fails 2 'codes need two finite values, +0 beside -0' round 'table(codes=bad.txt)' 1
printf '0 1\0junk 2' >bad.txt
fails 1 "bad.txt, line 1: '1?junk'" round 'table(file=bad.txt)' 1
fails 1 '/dev/zero, line 1: a word of more than 1000 characters' round 'table(file=/dev/zero)' 1
fails 1 'Is a directory' round 'table(file=.)' 1
fails 1 'No such file' round 'table(file=missing.txt)' 1
fails 2 'needs the name of a file' round 'table(file=)' 1
fails 2 "'e4m3fn(file=three.txt)', character 7" round 'e4m3fn(file=three.txt)' 1
fails 2 "'codebook(file=three.txt,bogus=1)', character 25" round 'codebook(file=three.txt,bogus=1)' 1
fails 2 'no place for a table' pack 'codebook(file=nf4.txt)' few.npy -o no.fpk

# No bits of their own; no tensor to take
fails 2 "'fpemu pack'" encode mxfp4 1
fails 2 "'fpemu unpack'" decode mxfp4 1
header='{"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"BOOL","shape":[1],"data_offsets":[8,9]}}'
safetensors "$header" 123456789 >in.safetensors
for command in 'quantize mxfp4 in.safetensors -o no.safetensors' 'pack mxfp4 in.safetensors -o no.fpk' \
    'compare in.safetensors mxfp4' 'compare in.safetensors mxfp4 --tensors b'; do
    fails 1 'in.safetensors: no tensor of a floating-point type is left to take; there are i (I64), b (BOOL)' $command
done
printf '\002\000\000\000\000\000\000\000{}' >in.safetensors
fails 1 'holds no tensors' compare in.safetensors mxfp4
holds ! -e no.fpk

finish
