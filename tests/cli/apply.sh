#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu apply: functions of numbers and of files.
. "$(dirname "$0")/common.sh"

# Known values: exact ones, ends, poles; pi/2, e and their like as fp32 and fp16 hold them
gives '1 2.71875 inf 0 nan' apply exp fp16 0 1 inf -inf nan
gives '2.7182817459106445' apply exp fp32 1
gives '2.7182819843292236' apply exp fp32 -r rtp 1
gives '8 0.25 1.4142135381698608' apply exp2 fp32 3 -2 0.5
gives '1000 1.0000000200408773e+20' apply exp10 fp32 3 20
gives '-10 3 -inf nan' apply log2 bf16 0.0009765625 8 0 -1
gives '3 0 0.301025390625' apply log10 fp16 1000 1 2
gives '1.5703125 -1.5703125' apply atan bf16 inf -inf
gives '0.84130859375 1 0' apply sin fp16 --from fp16 1 1.5707963 0
gives '0.97509765625' apply sin fp16 65504 -r rtz
gives '0.5 1 0.73046875' apply sigmoid bf16 0 100 1
gives '-0.04541015625 -0.158203125 0.345703125 3' apply gelu bf16 -2 -1 0.5 3
gives '-0 inf -0' apply silu bf16 -inf inf -0
gives 'inf -inf 0.5 nan' apply rsqrt e5m2 0 -0 4 -4
gives '3.140625 0' apply acos fp16 -1 1
gives '448 448' apply exp e4m3fn:saturate 9 inf
gives '1' apply cos e4m3fn 0x1p-66
gives '0.9375' apply cos e4m3fn -r rtz 0x1p-66
gives '0x1.5cp+1 0x0p+0' apply exp fp16 --hex 1 -inf
gives '[ 1.0, "inf", "nan" ]' apply exp bf16 --json 0 inf nan
printf '1 0\n' >numbers
input=numbers
gives '0 -inf' apply log e5m2
input=/dev/null

# Files: as the numbers, one by one, with the same index
"$FPEMU" sample normal -o in.npy --size 1000 || failed sample
gives '' apply tanh e5m2 in.npy -o out.npy --from bf16 -r sr --seed 5
for i in 0 1 500 999; do
    x=$("$FPEMU" decode fp32 "0x$(word in.npy $i x4)")
    y=$("$FPEMU" apply tanh e5m2 --from bf16 -r sr --seed 5 --index $i "$x")
    holds "$("$FPEMU" encode fp32 "$y")" = "0x$(word out.npy $i x4)"
done
# 1 as binary64
printf '\000\000\000\000\000\000\360\077' >one.raw
gives '' apply exp2 fp16 one.raw -o out.raw --raw f64
printf '\000\000\000\000\000\000\000\100' >wanted
same out.raw wanted
# Operands are rounded where a format is asked for, once: 1.01 to 1.010009765625, or 1.0078125; 1 + 2^-11 + 2^-30, which
# binary32 holds as a tie, to 1 + 2^-10
gives '2.0139248371124268' apply exp2 fp32 --from 'float(e=8,m=15)' 1.01
gives '2.010859727859497 2.010859727859497' apply exp2 fp32 --from bf16 1.01 1.0078125
gives '2' apply exp2 fp32 --from fp16 0x1.002p0
gives '2.001354217529297' apply exp2 fp32 --from fp16 0x1.00200004p0
# Others are refused: numbers, numbers of a pipe, elements of files
many='no binary32 number of at most 16 significant bits, which exp takes; --from bf16, fp16 or float(e=8,m=15) rounds'
fails 1 "apply: operand 1 is 0.1, $many" apply exp fp32 0.1
fails 1 "apply: operand 2 is 65537, $many" apply exp fp32 65536 65537
fails 1 "apply: operand 1 is 1e+300, $many" apply exp fp32 1e300
printf -- '-1e-50\n' >numbers
input=numbers
fails 1 "apply: operand 1 is -1e-50, $many" apply exp fp32
input=/dev/null
printf '\001\000\000\000\001\000\200\077' >two.raw # 2^-149, which functions take, is the first
fails 1 "two.raw: element 1 is 1.0000001192092896, $many" apply exp fp32 two.raw -o no.raw --raw f32
holds ! -e no.raw

# Errors
fails 2 'expected FUNCTION SPEC' apply exp
fails 2 'expected FUNCTION SPEC IN' apply exp fp16 -o out.npy
fails 2 "no function 'sine'" apply sine fp16 1
fails 2 "no function 'fp16'" apply fp16 exp 1
fails 2 "'x' is no number" apply exp fp16 1 x
fails 2 '--hex and --json do not' apply exp fp16 --hex --json 1
fails 1 'no tensor of a floating-point type is left' apply exp fp16 in.npy -o no.npy --min-dims 3
holds ! -e no.npy
fails 2 'not with -o' apply exp fp16 in.npy -o out.npy --hex
fails 2 'at most 16 significant bits' apply exp fp16 --from fp32 1
fails 2 '--raw' apply exp fp16 --raw f32 1
fails 1 'fp64: functions take formats that binary32 holds' apply exp fp64 1
fails 1 'fixed(8,4):wrap' apply exp 'fixed(8,4):wrap' 1
fails 1 'fp16: compatibility settings are for conversions' apply exp fp16 -r qpytorch 1
fails 1 'NaN' apply log e2m1 --nan error -1

finish
