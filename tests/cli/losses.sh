#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a format takes away from whole tensors is told on stderr, with how much it is: numbers below zero where the format
# has none, nearly all numbers of a tensor, and those that overflow to NaN or infinity. What is right is silent.
. "$(dirname "$0")/common.sh"

# warns LINES COMMAND ARGUMENT...: it succeeds, and says just these lines.
warns() {
    wanted=$1
    shift
    "$FPEMU" "$@" >out 2>err || failed "fpemu $*: $(cat err)"
    [ "$(cat err)" = "$wanted" ] || failed "fpemu $*: wanted '$wanted', got '$(cat err)'"
}

# -1 2 -3 0 0.25 -0.25 0.125 -0
printf '\000\000\200\277\000\000\000\100\000\000\100\300\000\000\000\000' >eight.raw
printf '\000\000\200\076\000\000\200\276\000\000\000\076\000\000\000\200' >>eight.raw
below='3 of 8 elements are below zero, where the format has no values'
for format in uint8 'scaled(uint8)' ue4m3 e8m0; do
    warns "fpemu: compare: $format: $below" compare eight.raw "$format" --raw f32
    warns "fpemu: quantize: $format: $below" quantize "$format" eight.raw -o out.raw --raw f32
    warns "fpemu: pack: $format: $below" pack "$format" eight.raw -o out.fpk --raw f32
done
warns "fpemu: compare: group(uint4,block=128): $below" compare eight.raw int8 'group(uint4,128)' --raw f32
warns '' compare eight.raw int8 'uint(8,1,128)' 'scaled(int8)' e4m3fn mxfp4 q4_1 'group(uint4,8,rule=hqq)' --raw f32
warns '' quantize 'int(8,scale=0.125)' eight.raw -o out.raw --raw f32

# 0.25 100 times, 0 100 times, 1 11 times: 100 of 111 are 90.1 %; with one 1 more they are 89.3 %
lines() { # COUNT WORD
    i=0
    while [ $i -lt "$1" ]; do
        printf "$2"
        i=$((i + 1))
    done
}
{
    lines 100 '\000\000\200\076'
    lines 100 '\000\000\000\000'
    lines 11 '\000\000\200\077'
} >most.raw
lost='100 of 111 elements other than zero became zero; scaled(int8) has a scale for the tensor'
warns "fpemu: compare: int8: $lost" compare most.raw int8 'fixed(8,4)' --raw f32
warns "fpemu: quantize: int8: $lost" quantize int8 most.raw -o out.raw --raw f32
warns "fpemu: pack: int8: $lost" pack int8 most.raw -o out.fpk --raw f32
warns "fpemu: pack: int8: $lost" pack int8 most.raw -o out.fpk --raw f32 --report
warns 'fpemu: compare: scaled(int(2)): 100 of 111 elements other than zero became zero' compare most.raw 'scaled(int2)' \
    --raw f32
{ cat most.raw && printf '\000\000\200\077'; } >fewer.raw
warns '' compare fewer.raw int8 --raw f32

# Of several tensors how many, and the first; along an axis that is not the last too; each format by its own tensors.
header='{"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"d":{"dtype":"F32","shape":[4,2],"data_offsets":[4,36]},'
header=$header'"\u00e9":{"dtype":"F32","shape":[8],"data_offsets":[36,68]}}'
header=$(printf '%-192s' "$header")
{ printf '\300\0\0\0\0\0\0\0%s\0\0\200\077' "$header" && cat eight.raw eight.raw; } >three.safetensors
below='of 16 elements are below zero, where the format has no values'
warns "fpemu: quantize: scaled(uint8), 2 of 3 tensors, first 'd': 6 $below" \
    quantize 'scaled(uint8)' three.safetensors -o out.safetensors
warns "fpemu: pack: group(uint4,block=2), 2 of 3 tensors, first 'd': 6 $below" \
    pack 'group(uint4,2)' three.safetensors -o out.fpk --axis 0
e=$(printf '\303\251')
warns "fpemu: quantize: uint8, 1 of 3 tensors, '$e': 3 of 8 elements are below zero, where the format has no values" \
    quantize int8 three.safetensors -o out.safetensors --map "$e=uint8"

# 448 464 465 -1000: to nearest, 464, in the middle of 448 and 480, goes to the even 448; 465 and -1000 are past the end
printf '\000\000\340\103\000\000\350\103\000\200\350\103\000\000\172\304' >ends.raw
past='of 4 elements became NaN or infinite by overflow, which SQNR leaves out'
warns "fpemu: compare: e4m3fn: 2 $past; e4m3fn:saturate keeps them finite" \
    compare ends.raw e4m3fn e4m3fn:saturate e5m2 mxfp8 --raw f32
warns "fpemu: quantize: e4m3fn: 2 $past; e4m3fn:saturate keeps them finite" \
    quantize e4m3fn ends.raw -o out.raw --raw f32
warns "fpemu: pack: e4m3fn: 2 $past; e4m3fn:saturate keeps them finite" pack e4m3fn ends.raw -o out.fpk --raw f32
warns "fpemu: compare: e4m3fn: 2 $past; e4m3fn:saturate keeps them finite" compare ends.raw e4m3fn --raw f32 -r rtp
warns "fpemu: compare: e4m3fn: 1 $past; --overflow saturate keeps them finite" \
    compare ends.raw e4m3fn --raw f32 -r rtn --overflow ieee
warns '' compare ends.raw e4m3fn --raw f32 -r rtz
warns '' compare ends.raw e4m3fn --raw f32 --overflow saturate
{ head -c 4194304 /dev/zero && cat ends.raw; } >long.raw # more than a piece
warns "fpemu: pack: e4m3fn: 2 of 1048580 elements became NaN or infinite by overflow, which SQNR leaves out; \
e4m3fn:saturate keeps them finite" pack e4m3fn long.raw -o out.fpk --raw f32
# 2^8 and 2^9
printf '\000\000\000\101\000\000\020\101' >powers.raw
warns 'fpemu: apply: e4m3fn: 1 of 2 elements became NaN or infinite by overflow; e4m3fn:saturate keeps them finite' \
    apply exp2 e4m3fn powers.raw -o out.raw --raw f32
warns '' apply exp2 e4m3fn powers.raw -o out.raw --raw f32 -r rtn

# What is no finite number has no error.
printf '\000\000\300\177\000\000\200\177\000\000\200\077' >three.raw
warns 'fpemu: compare: 2 of 3 elements are NaN or infinite: SQNR and max-rel tell of the others' \
    compare three.raw bf16 fp16 --raw f32

finish
