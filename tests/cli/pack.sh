#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu pack and unpack: what comes back is what quantize gives; damaged files are refused.
. "$(dirname "$0")/common.sh"

"$FPEMU" sample normal -o in.npy --size 6000 || failed sample
for spec in e4m3fn:saturate e2m1 'int(3)' 'fixed(12,8)' 'float(e=4,m=5)' mxfp4 nvfp4 'mx(e2m3,block=7)' nf4 \
    'group(int5,100)' s2fp8 'bfp(m=4,block=channel)' 'mx(e2m1,block=4x8)'; do
    for rounding in rne sr; do
        gives '' pack "$spec" in.npy -o out.fpk -r $rounding --seed 5
        gives '' unpack out.fpk -o out.npy
        gives '' quantize "$spec" in.npy -o wanted.npy -r $rounding --seed 5
        same out.npy wanted.npy
    done
done
gives '' pack mxfp4 in.npy -o out.fpk --axis 0
gives '' unpack out.fpk -o out.npy
gives '' quantize mxfp4 in.npy -o wanted.npy --axis 0
same out.npy wanted.npy
gives '' quantize mxfp4 in.npy -o other.npy
cmp -s other.npy wanted.npy && failed 'another axis gives the same'

# A wider type in OUT changes no number: they are those of F32, which F64 holds
for spec in e4m3fn nvfp4 'scaled(int8)' 'group(int5,100)' 'bfp(m=4,block=channel)'; do
    gives '' pack "$spec" in.npy -o out.fpk
    gives '' unpack out.fpk -o out.npy --dtype F64
    gives '' quantize "$spec" in.npy -o wide.npy --dtype F64
    same out.npy wide.npy
    gives '' quantize "$spec" in.npy -o narrow.npy
    gives '' quantize fp64 narrow.npy -o wanted.npy --dtype F64
    same wide.npy wanted.npy
done
# Of a format that binary32 cannot hold they are those of F64
gives '' pack fp64 in.npy -o out.fpk
gives '' unpack out.fpk -o out.npy
gives '' quantize fp64 in.npy -o wanted.npy --dtype F64
same out.npy wanted.npy

# quantize takes a large tensor in pieces, pack as a whole
"$FPEMU" sample gradients -o big.npy --size 600064 || failed sample
for spec in 'float(e=6,m=1)' 'mx(e2m1,block=48)' nvfp4 'mx(e2m1,block=4x8)' s2fp8 'group(int8,block=channel)' 'bfp(m=4,block=row)'; do
    gives '' pack "$spec" big.npy -o out.fpk -r sr --seed 5
    gives '' unpack out.fpk -o out.npy
    gives '' quantize "$spec" big.npy -o wanted.npy -r sr --seed 5
    same out.npy wanted.npy
    cat big.npy | "$FPEMU" quantize "$spec" - -o out.npy -r sr --seed 5 || failed 'quantize of a pipe'
    same out.npy wanted.npy
done
tail -c +129 big.npy | "$FPEMU" quantize mxfp4 - -o no.raw --raw f32 2>err
holds $? -eq 1
grep -q 'how much raw data a pipe brings' err || failed "message of a raw pipe: $(cat err)"

# A container byte by byte: 1, -2, 0.5, 6 in e2m1 are the nibbles 2, c, 1, 7
printf '\000\000\200\077\000\000\000\300\000\000\000\077\000\000\300\100' >few.raw
gives '' pack e2m1 few.raw -o out.fpk --raw f32
holds "$(od -An -v -tx1 -N 8 out.fpk | tr -d ' ')" = 894650454d550d0a
holds "$(od -An -v -tu4 -j 8 -N 4 out.fpk | tr -d ' ')" -eq 1
length=$(od -An -v -tu8 -j 16 -N 8 out.fpk | tr -d ' ')
holds $(((length + 24) % 64)) -eq 0
header='{"tensors":[{"name":"","dtype":"F32","shape":[4],"spec":"e2m1","axis":0,"offset":'$((length + 24))',"size":2}]}'
holds "$(tail -c +25 out.fpk | head -c "$length" | sed 's/ *$//')" = "$header"
holds "$(od -An -v -tx1 -j $((length + 24)) out.fpk | tr -d ' ')" = c27199e6179f # the CRC-32 by another program

# Names, other types, metadata
header='{"__metadata__":{"k":"v"},"a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},'
header=$header'"i":{"dtype":"I64","shape":[1],"data_offsets":[8,16]},'
header=$header'"b":{"dtype":"F32","shape":[],"data_offsets":[16,20]},"e":{"dtype":"F16","shape":[0,3],"data_offsets":[20,20]}}    '
safetensors "$header" \
    '\200\077\000\300\000\077\300\100\001\002\003\004\005\006\007\010\000\000\220\077' >in.safetensors
gives '' pack e2m1 in.safetensors -o out.fpk --exclude b
gives '' unpack out.fpk -o out.safetensors
gives '' quantize e2m1 in.safetensors -o wanted.safetensors --exclude b
same out.safetensors wanted.safetensors
"$FPEMU" unpack out.fpk --list >table || failed 'unpack --list'
holds "$(tr -s ' ' <table | sed -n 's/^a //p')" = 'BF16 2x2 2 e2m1, axis 1'
holds "$(tr -s ' ' <table | sed -n 's/^b //p')" = 'F32 scalar 4 -'
"$FPEMU" unpack out.fpk --list --json >json || failed 'unpack --list --json'
python_checks json 't = {t["name"]: t for t in j["tensors"]}
assert list(t) == ["a", "i", "b", "e"] and j["metadata"] == {"k": "v"}
assert t["a"]["bytes"] == 2 and t["a"]["spec"] == "e2m1" and t["i"]["spec"] is None and t["e"]["shape"] == [0, 3]'
"$FPEMU" pack e2m1 in.safetensors -o out.fpk --report >table || failed 'pack --report'
grep -q '^total ' table || failed 'no row of all tensors'

# One tensor whose name is empty becomes a .npy file, which has no BF16: 1, -3 as F32
{ printf '\100\0\0\0\0\0\0\0%-64s' '{"":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
printf '\200\077\100\300'; } >nameless.safetensors
gives '' pack e4m3fn nameless.safetensors -o nameless.fpk
gives '' unpack nameless.fpk -o out.npy
holds "$(tail -c 8 out.npy | od -An -v -tx1 | tr -d ' ')" = 0000803f000040c0
grep -q "'descr': '<f4', 'fortran_order': False, 'shape': (2,)" out.npy || failed 'header of a .npy file'
gives '' unpack nameless.fpk -o out.npy --dtype F16
holds "$(tail -c 4 out.npy | od -An -v -tx1 | tr -d ' ')" = 003c00c2
fails 2 'have no type BF16' unpack nameless.fpk -o no.npy --dtype BF16

# What pack does not write, and container.md allows or forbids
if python3 -c 'import json, zlib' >/dev/null 2>&1; then
    python3 - <<'END' || failed 'no files'
import json, struct, zlib
def put(file, data, place=512, **tensor):
    header = {"tensors": [tensor | {"offset": place, "size": len(data)}], "metadata": {"k": "v"}}
    text = json.dumps(header).ljust(place - 24).encode()
    open(file, "wb").write(b"\x89FPEMU\r\n" + struct.pack("<IIQ", 1, zlib.crc32(text), len(text)) + text + data
                           + struct.pack("<I", zlib.crc32(data)))
numbers = struct.pack("<4f", 1, 2, 3, 4)
put("copied.fpk", numbers, name="", dtype="F32", shape=[2, 2])
put("integer.fpk", bytes(8), name="", dtype="I64", shape=[1])
put("metadata.fpk", numbers, name="__metadata__", dtype="F32", shape=[4])
put("unknown.fpk", bytes(5), name="u", dtype="X3", shape=[2])
put("size.fpk", bytes(9), name="i", dtype="I64", shape=[1])
put("first.fpk", bytes(2), name="a", dtype="F32", shape=[2, 2], spec="e2m1", axis=0)
put("last.fpk", bytes(2), name="a", dtype="F32", shape=[2, 2], spec="e2m1", axis=1)
put("blocks.fpk", bytes(4), name="a", dtype="F32", shape=[2, 2], spec="mxfp4", axis=0)
put("single.fpk", bytes(2), name="a", dtype="F32", shape=[], spec="mxfp4", axis=0)
put("beyond.fpk", bytes(2), name="a", dtype="F32", shape=[], spec="mxfp4", axis=1)
put("case.fpk", bytes(1), name="a", dtype="f32", shape=[], spec="e4m3fn", axis=0)
END
    gives '' unpack copied.fpk -o out.npy
    grep -q "'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)" out.npy || failed 'header of a .npy file'
    holds "$(tail -c 16 out.npy | od -An -v -tx1 | tr -d ' \n')" = 0000803f000000400000404000008040
    "$FPEMU" unpack copied.fpk -o - >data || failed 'to standard output'
    same data out.npy
    fails 1 'no .npy file is written of type I64' unpack integer.fpk -o no
    fails 1 "called '__metadata__'" unpack metadata.fpk -o no
    fails 1 "called '__metadata__'" unpack metadata.fpk -o -
    fails 1 'do not give the size 9' unpack size.fpk -o no
    fails 1 'do not go with axis 0' unpack first.fpk -o no
    fails 1 'do not go with axis 1' unpack beyond.fpk -o no
    fails 1 'a floating-point dtype' unpack case.fpk -o no
    holds ! -e no
    for file in unknown last blocks single; do
        gives '' unpack $file.fpk -o out.safetensors
    done
    mkdir copied
    mv copied.fpk metadata.fpk copied
    fails 1 "called '__metadata__'" unpack copied -o new
    holds ! -e new
    rm copied/metadata.fpk
    gives '' unpack copied -o new
    "$FPEMU" info ./new >table || failed 'info of a directory'
    grep -q '^F32 .*1 tensor, 4 elements' table || failed 'a tensor without a name in a directory'
fi

# Into the same file, a wrong name, a file of the wrong kind
cp in.safetensors same
gives '' pack e2m1 same -o same
cmp same out.fpk || failed 'packed in place'
fails 2 'another kind' pack e2m1 in.safetensors -o out.safetensors
fails 2 'another kind' unpack out.fpk -o out.npy
fails 2 'either -o OUT' unpack out.fpk
fails 2 'either -o OUT' unpack out.fpk -o out.safetensors --list
fails 1 'no file of packed tensors' unpack in.safetensors -o no.safetensors
fails 1 "'fpemu unpack'" quantize e2m1 out.fpk -o no.npy
fails 1 "'fpemu unpack'" compare out.fpk e2m1

# Damage anywhere, or a missing end, is noticed
size=$(wc -c <out.fpk)
for at in 0 8 12 16 30 $((size / 2)) $((size - 100)) $((size - 1)); do
    head -c "$at" out.fpk >bad.fpk
    fails 1 'bad.fpk' unpack bad.fpk -o no.safetensors
    byte=$(od -An -v -tu1 -j "$at" -N 1 out.fpk)
    { cat bad.fpk; printf "\\$(printf %o $((byte ^ 4)))"; tail -c +$((at + 2)) out.fpk; } >worse.fpk
    fails 1 'worse.fpk' unpack worse.fpk -o no.safetensors
done
start=$(($(od -An -v -tu8 -j 16 -N 8 out.fpk | tr -d ' ') + 24))
for at in 6 40 63; do # behind 2 bytes of the first tensor and their checksum
    { head -c $((start + at)) out.fpk; printf '\001'; tail -c +$((start + at + 2)) out.fpk; } >worse.fpk
    fails 1 "before its data are not zero" unpack worse.fpk -o no.safetensors
done
cat out.fpk out.fpk >bad.fpk
fails 1 'more follows' unpack bad.fpk -o no.safetensors
holds ! -e no.safetensors

finish
