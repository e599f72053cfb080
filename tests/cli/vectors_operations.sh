#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu vectors --op: every result and flag worked out once more by a judge of its own.
sources=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/common.sh"
${CC:-cc} -O2 -o judge "$sources/vectors_judge.c" -lm || { echo 'no C compiler'; exit 77; }
modes=rne,rna,rnz,rtz,raz,rtp,rtn,rto

# judged LEAST OPERATION SPEC FROM OPTION...: the judge agrees with at least so many vectors
judged() {
    least=$1
    operation=$2
    to=$3
    from=$4
    shift 4
    "$FPEMU" vectors "$to" --from "$from" --op "$operation" "$@" >lines || failed "vectors $to --op $operation $*"
    ./judge "$from" "$to" "$operation" <lines >verdict \
        || failed "vectors $to --from $from --op $operation $*: $(cat verdict)"
    count=$(tail -n 1 verdict)
    holds "$count" -eq "$(wc -l <lines)"
    holds "$count" -ge "$least"
}
for operation in add sub mul div minimum maximum minimum-number maximum-number; do
    judged 10000 $operation e4m3fn e4m3fn -r $modes
    judged 10000 $operation fp16 fp16 -r $modes
    judged 2048 $operation e2m1 e2m1 -r $modes
    judged 10000 $operation bf16 fp32
    judged 65536 $operation e5m2 e5m2 --level 2
done
judged 2048 sqrt e5m2 e5m2 -r $modes
judged 10000 sqrt fp16 fp16 -r $modes
judged 65536 sqrt e4m3fn fp16 --level 2 -r rtn
for to in e4m3fn fp16; do
    judged 20000 fma $to e4m3fn -r $modes
    judged 20000 fma $to fp16 -r $modes
done
judged 20000 fma fp32 fp32
judged 100000 fma e4m3fn e4m3fn --level 2

# A wrong result and a wrong flag are noticed.
"$FPEMU" vectors e4m3fn --op add >lines
for line in '0 38 30 3d 00' '0 38 30 3c 01'; do
    { cat lines; echo "$line"; } | ./judge e4m3fn e4m3fn add >verdict && failed "the judge takes $line"
done
"$FPEMU" vectors e4m3fn --from e4m3fn --op add --level 1 --seed 0 -o two || failed 'vectors -o'
same lines two
"$FPEMU" vectors e4m3fn --op add --seed 1 >two || failed 'vectors --seed'
cmp -s lines two && failed 'another seed gives the same'

# The other forms say the same
"$FPEMU" vectors fp16 --from e4m3fn --op fma >hex || failed vectors
"$FPEMU" vectors fp16 --from e4m3fn --op fma --as memh >memh || failed 'vectors --as memh'
holds "$(sed -n 1,2p memh)" = '// fma of e4m3fn to fp16
// 52 bits: mode [51:48], a [47:40], b [39:32], c [31:24], result [23:8], flags [7:0]'
grep -v '^//' memh | tr _ ' ' | cmp - hex || failed 'memh and hex differ'
"$FPEMU" vectors fp16 --op div --as csv >csv || failed 'vectors --as csv'
holds "$(head -n 1 csv)" = \
    'mode,a,b,result,inexact,underflow,overflow,division_by_zero,invalid,subnormal,a_value,b_value,result_value'
for line in rne,0x3c00,0x8000,0xfc00,0,0,0,1,0,0,1,-0,-inf rne,0x0000,0x0000,0x7e00,0,0,0,0,1,0,0,0,nan; do
    grep -qx -e "$line" csv || failed "'$line' is missing"
done

fails 2 'is none of: convert add sub' vectors e4m3fn --op power
fails 2 'stochastic' vectors e4m3fn --op add -r sr
fails 1 'int(8,scale=0.1)' vectors 'int(8,scale=0.1)' --op add

finish
