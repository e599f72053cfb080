#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu vectors: every operand rounded, every result and flag of an operation worked out once more by a judge of its
# own; the forms of the file.
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
    what="vectors $to --from $from --op $operation $*"
    "$FPEMU" vectors "$to" --from "$from" --op "$operation" "$@" >lines || failed "$what"
    ./judge "$from" "$to" "$operation" <lines >verdict || failed "$what: $(cat verdict)"
    count=$(tail -n 1 verdict)
    holds "$count" -eq "$(wc -l <lines)"
    holds "$count" -ge "$least"
}
judged 10000 convert e4m3fn fp32 -r $modes
judged 10000 convert e5m2 fp32 -r $modes --seed 3
judged 3000 convert e2m1 fp32 -r $modes --overflow ieee
judged 10000 convert fp16 fp32 -r $modes
judged 20000 convert bf16 fp64 -r $modes
judged 20000 convert fp32 fp64 -r $modes
judged 2048 convert e5m2 e4m3fn -r $modes
judged 2048 convert fp16 e5m2 -r $modes
judged 10000 convert e4m3fn fp16 -r $modes
judged 100000 convert e4m3fn fp32 --level 2
judged 65536 convert e5m2 fp16 --level 2 -r rtn
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
"$FPEMU" vectors e4m3fn --from e4m3fn --op add --level 1 --seed 0 -o two || failed 'vectors --op -o'
same lines two

"$FPEMU" vectors e4m3fn >one || failed vectors
"$FPEMU" vectors e4m3fn --from f32 --level 1 -r rne --seed 0 --as hex -o two || failed 'vectors -o'
same one two
"$FPEMU" vectors e4m3fn --seed 1 >two || failed 'vectors --seed'
cmp -s one two && failed 'another seed gives the same'

# What matters is there: the threshold 464 and its neighbours, the half of the smallest value, specials
for line in '0 43e80000 7e 01' '0 43e80001 7f 05' '0 43e7ffff 7e 01' '0 3a800000 00 03' '0 3a800001 01 21' \
    '0 80000000 80 00' '0 7f800000 7f 10' '0 7fc00000 7f 00' '0 7f800001 7f 00' '0 3f800000 38 00'; do
    grep -qx "$line" one || failed "'$line' is missing"
done

# The other forms say the same
"$FPEMU" vectors e4m3fn --from fp16 -r rne,rtz >hex || failed 'vectors'
"$FPEMU" vectors e4m3fn --from fp16 -r rne -r rtz --as memh >memh || failed 'vectors --as memh'
holds "$(sed -n 1,2p memh)" = '// fp16 to e4m3fn
// 36 bits: mode [35:32], operand [31:16], result [15:8], flags [7:0]'
grep -v '^//' memh | tr _ ' ' | cmp - hex || failed 'memh and hex differ'
"$FPEMU" vectors e4m3fn --from fp16 -r rne,toward-zero --as csv >csv || failed 'vectors --as csv'
holds "$(head -n 1 csv)" \
    = 'mode,operand,result,inexact,underflow,overflow,invalid,subnormal,operand_value,result_value'
for line in rne,0x5f41,0x7f,1,0,1,0,0,464.25,nan toward-zero,0x5f41,0x7e,1,0,0,0,0,464.25,448 \
    rne,0x8000,0x80,0,0,0,0,0,-0,-0 rne,0x7c00,0x7f,0,0,0,1,0,inf,nan; do
    grep -qx "$line" csv || failed "'$line' is missing"
done
sed 1d csv | cut -d , -f 2,3 | sed 's/0x//g; s/,/ /' >columns
cut -d ' ' -f 2,3 hex | cmp - columns || failed 'csv and hex differ'

# Those of operations have every operand
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

# Widths that are no whole number of digits; other kinds of formats
"$FPEMU" vectors 'fixed(6,2)' --from 'fixed(10,5)' --as memh >out || failed 'fixed point'
grep -qx '0_200_20_05' out || failed "fixed point: $(head -n 5 out)"
"$FPEMU" vectors 'posit(8,2)' --from 'posit(16,1)' >out || failed posits
grep -qx '0 8000 80 00' out || failed 'posits: NaR'

fails 2 'expected SPEC' vectors
"$FPEMU" vectors e4m3fn -o - >out || failed 'vectors to standard output'
"$FPEMU" vectors e4m3fn >wanted || failed vectors
same out wanted
holds ! -e -
fails 2 "'xml' is none of" vectors e4m3fn --as xml
fails 2 '--level' vectors e4m3fn --level 3
fails 2 'stochastic' vectors e4m3fn -r rne,sr
fails 2 "rounding ''" vectors e4m3fn -r rne,
fails 2 'gives no result' vectors e2m1 --nan error
fails 2 "format 'nonsense'" vectors e4m3fn --from nonsense
fails 1 'posit(8,2)' vectors 'posit(8,2)' -r rtn
fails 2 'is none of: convert add sub' vectors e4m3fn --op power
fails 2 'stochastic' vectors e4m3fn --op add -r sr
fails 1 'int(8,scale=0.1)' vectors 'int(8,scale=0.1)' --op add

finish
