#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tensors in pieces and boxes give what the whole gives, along any axis, and in bounded memory.
. "$(dirname "$0")/common.sh"
OMP_NUM_THREADS=1
OPENBLAS_NUM_THREADS=1
TMPDIR=$directory
export OMP_NUM_THREADS OPENBLAS_NUM_THREADS TMPDIR

# with_header SHAPE [ORDER]: what comes on standard input as binary32 numbers of a .npy file
with_header() {
    npy "{'descr': '<f4', 'fortran_order': ${2-False}, 'shape': $1, }"
    cat
}
# data FILE WANTED-BYTES: the numbers of a .npy file
data() {
    tail -c "$2" "$1"
}
repeat() { # FILE TIMES
    copies=0
    while [ $copies -lt "$2" ]; do
        cat "$1"
        copies=$((copies + 1))
    done
}

# A tensor of 24 x 5 x 50 numbers, far from each other in size, taken as a whole; then 48 of them one after the other,
# in pieces: 288000 numbers. Blocks end where a tensor ends.
"$FPEMU" sample weights -o sample.npy --size 6000 || failed sample
tail -c 24000 sample.npy >small
with_header '(24, 5, 50)' <small >small.npy
repeat small 48 >large
with_header '(48, 24, 5, 50)' <large >large.npy
for case in 'mx(e2m1,block=48) 3 2' 'mx(e2m1,block=7) 1 0' 'bfp(m=4,block=row) 3 2' 'mx(e2m1,block=3x2) 2 1' \
    'nvfp4(block=4x8) 3 2' 'nvfp4 1 0'; do
    set -- $case
    gives '' quantize "$1" small.npy -o out.npy --axis "$3"
    data out.npy 24000 >out
    repeat out 48 >wanted
    gives '' quantize "$1" large.npy -o out.npy --axis "$2"
    data out.npy 1152000 >out
    same out wanted
    cat large.npy | "$FPEMU" quantize "$1" - -o out.npy --axis "$2" || failed "$case from a pipe"
    data out.npy 1152000 >out
    same out wanted
    gives '' pack "$1" large.npy -o out.fpk --axis "$2"
    gives '' unpack out.fpk -o out.npy
    data out.npy 1152000 >out
    same out wanted
done
# 192 times the same 250 columns side by side, in boxes where the blocks go along the first axis
i=0
while [ $i -lt 24 ]; do
    tail -c +$((i * 1000 + 1)) small | head -c 1000 >row
    repeat row 192
    i=$((i + 1))
done >large
with_header '(24, 48000)' <large >large.npy
with_header '(24, 250)' <small >small.npy
for case in 'mx(e2m1,block=24)' 'bfp(m=4,block=row)' 'nvfp4(block=24)'; do
    gives '' quantize "$case" small.npy -o out.npy --axis 0
    data out.npy 24000 >small.out
    i=0
    while [ $i -lt 24 ]; do
        tail -c +$((i * 1000 + 1)) small.out | head -c 1000 >row
        repeat row 192
        i=$((i + 1))
    done >wanted
    gives '' quantize "$case" large.npy -o out.npy --axis 0
    data out.npy 4608000 >out
    same out wanted
done
# with random bits it takes no boxes; a pack along such an axis takes all of it at once
gives '' pack 'mx(e2m1,block=24)' large.npy -o out.fpk --axis 0 -r sr
gives '' unpack out.fpk -o wanted.npy
gives '' quantize 'mx(e2m1,block=24)' large.npy -o out.npy --axis 0 -r sr
same out.npy wanted.npy
# Channels along the last axis, and tiles too long for a piece, in boxes; by another way through pack
with_header '(6, 192000)' <large >long.npy
for case in 'group(int5,block=channel) -1' 'mx(e2m1,block=6x16) -1'; do
    set -- $case
    gives '' pack "$1" long.npy -o out.fpk --axis $2
    gives '' unpack out.fpk -o wanted.npy
    gives '' quantize "$1" long.npy -o out.npy --axis $2
    same out.npy wanted.npy
    cat long.npy | "$FPEMU" quantize "$1" - -o out.npy --axis $2 || failed "$case from a pipe"
    same out.npy wanted.npy
done
# Pieces that end where an index of an earlier axis does, with random bits
with_header '(2, 5, 115200)' <large >deep.npy
gives '' pack 'mx(e2m1,block=2)' deep.npy -o out.fpk --axis 1 -r sr
gives '' unpack out.fpk -o wanted.npy
gives '' quantize 'mx(e2m1,block=2)' deep.npy -o out.npy --axis 1 -r sr
same out.npy wanted.npy
# Scalar formats are packed line by line, each from a byte on: lines longer than a piece, of an odd length, and short
# ones
head -c 3600012 large | with_header '(3, 300001)' >odd.npy
head -c 3600012 large | with_header '(300001, 3)' >narrow.npy
for file in odd narrow long; do
    gives '' pack 'fixed(3,5)' $file.npy -o out.fpk -r sr
    gives '' unpack out.fpk -o wanted.npy
    gives '' quantize 'fixed(3,5)' $file.npy -o out.npy -r sr
    same out.npy wanted.npy
done
# Archives, whose data come only from the beginning
if python3 -c 'import zipfile, zlib' 2>/dev/null; then
    archive() { # FILE MEMBER
        python3 -c 'import sys, zipfile
zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, compresslevel=1).write(sys.argv[2], "a.npy")' "$1" "$2"
    }
    member() { # FILE
        python3 -c 'import sys, zipfile
sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read("a.npy"))' "$1"
    }
    archive in.npz large.npy
    gives '' quantize 'nvfp4(block=24)' in.npz -o out.npz --axis 0
    member out.npz >out.npy
    gives '' quantize 'nvfp4(block=24)' large.npy -o wanted.npy --axis 0
    same out.npy wanted.npy
fi
# What compare says is what quantize reports, whichever formats stand beside
set -- 'mx(e2m1,block=24)' e4m3fn nvfp4 'mx(e2m1,block=4099)'
"$FPEMU" compare large.npy "$@" --axis 0 --json >json || failed compare
for spec; do
    case $spec in e4m3fn) axis= ;; *) axis='--axis 0' ;; esac
    "$FPEMU" quantize "$spec" large.npy -o out.npy $axis --json >"report $spec" || failed "quantize $spec"
done
python_checks json 'assert len(j["formats"]) == 4
for row, name in zip(j["formats"], sys.argv[2:]):
    r = json.load(open("report " + name))
    for key in row:
        if key in r and key != "spec":
            assert row[key] == r[key], (name, key, row[key], r[key])' "$@"

# Memory. The program by itself takes less than the limit, unless a sanitizer watches; a tensor has 32 MB.
megabytes='"dtype":"F32","data_offsets":[0,33554432]'
tensor() { # SHAPE: zeros, which take no place on the disk
    header="{\"a\":{\"shape\":$1,$megabytes}}"
    safetensors "$header"
}
if bounded info sample.npy; then
    for case in 'mxfp4 [8,1048576] 0' 'mxfp4 [32,512,512] 0' 'mxfp4 [2048,4096] 1' \
        'mx(e2m1,block=16x16) [8,1048576] 1' \
        'group(int5,block=channel) [16384,512] 1' 'bfp(m=4,block=tensor) [2048,4096] 1'; do
        set -- $case
        tensor "$2" >in.safetensors
        truncate -s $((33554432 + $(wc -c <in.safetensors))) in.safetensors
        within compare in.safetensors "$1" --axis $3 >/dev/null || failed "compare $case"
    done
    within quantize mxfp4 in.safetensors -o out.safetensors --dtype BF16 --axis 0 || failed quantize
    within pack mxfp4 in.safetensors -o out.fpk || failed pack
    # the check checks: the whole tensor does not fit
    within pack mxfp4 in.safetensors -o out.fpk --axis 0 2>err && failed 'all of it fits'
    grep -q 'out of memory' err || failed "message: $(cat err)"
fi

finish
