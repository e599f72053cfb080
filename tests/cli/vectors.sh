#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu vectors: every operand rounded, every result and flag of an operation worked out once more by a judge of its
# own; the forms of the file.
sources=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/common.sh"
${CC:-cc} -O2 -o judge "$sources/vectors_judge.c" -lm || { echo 'no C compiler'; exit 77; }
modes=rne,rna,rnz,rtz,raz,rtp,rtn,rto,rnp

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
judged 20000 fma fp16 e4m3fn,e4m3fn,fp16 -r $modes
judged 5000 fma e5m2 e5m2,fp16,e4m3fn -r rtz
judged 10000 add bf16 e4m3fn,fp32
judged 2048 mul fp16 e2m1,e4m3fn --level 2
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
"$FPEMU" vectors fp16 --op div --as csv >csv || failed 'vectors --as csv'
holds "$(head -n 1 csv)" = \
    'mode,a,b,result,inexact,underflow,overflow,division_by_zero,invalid,subnormal,a_value,b_value,result_value'
for line in rne,0x3c00,0x8000,0xfc00,0,0,0,1,0,0,1,-0,-inf rne,0x0000,0x0000,0x7e00,0,0,0,0,1,0,0,0,nan; do
    grep -qx -e "$line" csv || failed "'$line' is missing"
done

"$FPEMU" vectors fp16 --from 'float(4,3,7,fnuz),e4m3fn,fp16' --op fma --as memh >memh || failed 'a list of formats'
holds "$(sed -n 1,2p memh)" = '// fma of float(e=4,m=3,bias=7,specials=fnuz),e4m3fn,fp16 to fp16
// 60 bits: mode [59:56], a [55:48], b [47:40], c [39:24], result [23:8], flags [7:0]'

# Widths that are no whole number of digits; other kinds of formats
"$FPEMU" vectors 'fixed(6,2)' --from 'fixed(10,5)' --as memh >out || failed 'fixed point'
grep -qx '0_200_20_05' out || failed "fixed point: $(head -n 5 out)"
"$FPEMU" vectors 'posit(8,2)' --from 'posit(16,1)' >out || failed posits
grep -qx '0 8000 80 00' out || failed 'posits: NaR'

# Sums, tensors, random bits, classes: the judge, which has read what tensor cores gave, works each out exactly.
# worked CASES ARGUMENTS-OF-JUDGE SPEC OPTION...: these cases, each as often as is said
worked() {
    cases=$1 rule=$2
    shift 2
    "$FPEMU" vectors "$@" --as csv >csv || failed "vectors $*"
    python3 "$sources/dots_judge.py" $rule <csv >verdict 2>&1 || failed "vectors $*: $(tail -n 1 verdict)"
    for case in $cases; do
        grep -qE "(^| )$case( |\$)" verdict || failed "vectors $*: not $case: $(cat verdict)"
    done
}
# summed CASES A B C SCALES TO MODEL-OF-JUDGE MODEL OPTION...
summed() {
    cases=$1 judge="$2 $3 $4 $5 $6 $7" to=$6 model=$8
    shift 8
    worked "$cases" "$judge" "$to" --op dot --model "$model" "$@"
}
if python3 -c 'import fractions' 2>/dev/null; then
    answers=$sources/../vectors/tensor_cores.txt
    holds "$(python3 "$sources/dots_judge.py" "$answers")" -ge 232
    cases='cancel:40 minus-zero:20 align:400 tie:160 sticky:160 carry:120 subnormal-operands:240 subnormal-result:160
        nan:800 infinity:800 zero:400 one-large:120 overflow-result:120 overflow-sum:80 random:1280'
    summed "$cases" e4m3fn e4m3fn fp16 - fp16 'seq fp64' 'seq(fp64); ab=e4m3fn' --from e4m3fn,e4m3fn,fp16 \
        -r rne,rtn,rtp,rtz,rna
    summed random:256 e2m1 e5m2 fp16 - fp16 'seq bf16 start' 'seq(bf16); a=e2m1; b=e5m2; start=c' --length 5
    grep -q ',0x8000,0,.*,-0,minus-zero$' csv || failed '-0 from nothing but -0'
    summed random:256 e4m3fn e4m3fn fp32 - fp32 'fused 32 13 f8_13 rtz -133' 'tc(h100,e4m3fn)'
    summed random:256 fp16 fp16 fp32 - fp32 'fused 16 25 fp32 rtz -133 start' 'tc(h100,fp16); start=c' --length 17
    summed scale-ends:108 e2m1 e2m1 fp32 e8m0 fp32 'chunk 4 fp64 fp32' 'chunk(4,fp64,fp32); ab=e2m1' --length 10 \
        --scales e8m0
    for when in before after; do # IEEE 754's underflow
        summed subnormal-result:256 fp16 e4m3fn fp16 - e5m2 "seq fp64 $when" 'seq(fp64)' --from fp16,e4m3fn,fp16 \
            -r rne,rtp,rtz,rna,sr --bits 8 --tininess $when
        cp csv $when
    done
    cmp -s before after && failed '--tininess of sums'
    summed tie:32 fp16 fp16 e5m2 - e5m2 "fused 16 25 fp32 rtz -133 after start" 'tc(h100,fp16); start=c' \
        --from fp16,fp16,e5m2 --tininess after
    summed scale-ends:72 e4m3fn e5m2 fp16 e4m3fn e5m2 'chunk 2 fp16 fp32' 'chunk(2,fp16,fp32)' --scales e4m3fn \
        --from e4m3fn,e5m2,fp16 -r rna --seed 5
    sed '2,$s/,0x[0-9a-f]*\(,[01],[01],[01]\)/,0x1234\1/' csv >wrong
    python3 "$sources/dots_judge.py" e4m3fn e5m2 fp16 e4m3fn e5m2 chunk 2 fp16 fp32 <wrong >verdict 2>&1 &&
        failed 'the judge takes wrong sums'

    worked 'cancel:3 align:34 nan:67 random:86' 'fp16 fp16 fp32 - fp32 fused 16 25 fp32 rtz -133 start' fp32 --op gemm \
        --shape 3x2x5 --model 'tc(h100,fp16); start=c'
    worked 'scale-ends:36 random:86' 'e2m1 e2m1 fp32 e8m0 fp32 chunk 4 fp64 fp32' fp32 --op gemm --shape 2x3x10 \
        --model 'chunk(4,fp64,fp32); ab=e2m1' --scales e8m0
    worked 'tie:80 random:640' 'e4m3fn e4m3fn fp16 - fp16 seq fp64' fp16 --op gemm --model 'seq(fp64); ab=e4m3fn' \
        --from e4m3fn,e4m3fn,fp16 -r rne,sr --bits 8
    worked 'binade-end:24 scale-ends:60 zero:4 subnormal:16 nan:7 infinity:14 short-block:14 tie:32 one-large:14
        random:256' 'to fp32 e2m1 e8m0 0' mxfp4 --length 7
    worked 'tie:160' 'to bf16 e4m3s e8m0 5' mxfp8_e4m3 --from bf16 --length 5 -r rne,sr --bits 5
    worked 'one-large:40' 'to fp32 e2m1 e4m3fn 8' nvfp4 --length 4 -r rne,sr --bits 8
    worked 'all-codes:36 all-scales:1536' 'from fp16 e2m1 e8m0 8' fp16 --from mxfp4 --length 3 -r rne,rtn,sr --bits 8
    worked 'normal.subnormal.tie:83 normal.nan.beyond:308' 'convert fp16 e4m3fn 8' e4m3fn --from fp16 -r rne,rtz,sr \
        --bits 8 --classes
    worked 'subnormal.normal.below:[0-9]+' 'mul e4m3fn e5m2 8' e5m2 --op mul --from e4m3fn -r sr --bits 8 --classes
fi
# 1 + 3/64 is 6/16 of the way from 1 (38) to 1 + 1/8: up where four random bits carry
"$FPEMU" vectors e4m3fn --from 'float(e=3,m=6)' -r sr --bits 4 >out || failed 'vectors -r sr'
for line in '8 0c3 0 38 01' '8 0c3 9 38 01' '8 0c3 a 39 01'; do
    grep -qx "$line" out || failed "stochastic rounding: not '$line'"
done
"$FPEMU" vectors mxfp4 --length 34 --as svh | grep -q 'SCALE_LOW = 144, SCALE_BITS = 8, SCALE_LANES = 2;' ||
    failed 'two blocks'
# What is not hit at first is aimed at. Of 1, 1.5, 2, 3, times each other, all signs, 9 * 4 are exact, and 1.5 * 1.5 is
# below 2.5; six are beyond 3
"$FPEMU" vectors fp16 --op add --cover >out || failed 'vectors --cover'
grep -qx '[0-9]* of 150 cells, after 131072 tries at the rest' out && grep -qE '^subnormal +nan( +-){5} +[1-9]' out ||
    failed "--cover: $(cat out)"
"$FPEMU" vectors 'float(e=2,m=1,bias=1)' --op mul --level 2 --cover >out || failed 'vectors --cover'
grep -qE '^normal +normal +36 +4 +- +- +24 +-$' out && grep -qx '29 of 150 cells, by all operands there are' out ||
    failed "--cover: $(cat out)"
"$FPEMU" vectors mxfp4 --cover -r rne,rtz -o one >out && holds "$(wc -l <one)" -gt 1200 || failed 'vectors --cover -o'
grep -qE '^tie +normal( +[0-9]+){4} +- +-$' out || failed "--cover: $(cat out)"
"$FPEMU" vectors fp32 --op dot --model 'tc(h100,e4m3fn); start=c' --length 2 >hex || failed 'vectors --op dot'
"$FPEMU" vectors fp32 --op dot --model 'tc(h100,e4m3fn); start=c' --length 2 --as memh >memh || failed 'dot as memh'
holds "$(sed -n '1p;3p' memh)" = '// dot product of 2, tc(h100,e4m3fn); start=c, to fp32
// cancel'
holds "$(sed -n 2p memh)" = "// 108 bits: mode [107:104], a [103:88] = a[0] to a[1], 8 bits each,\
 b [87:72] = b[0] to b[1], 8 bits each, c [71:40], result [39:8], flags [7:0]"
grep -v '^//' memh | tr _ ' ' | cmp - hex || failed 'memh and hex differ'
grep -q '^0 7f c0 38 38 00000000 7fc00000 00$' hex || failed 'a NaN in a lane'
"$FPEMU" vectors fp32 --op dot --model 'tc(h100,e4m3fn); start=c' --length 2 --as svh >svh || failed 'dot as svh'
holds "$(cat svh)" = "localparam int COUNT = $(wc -l <hex), WIDTH = 108, MODE_LOW = 104;
localparam int A_LOW = 88, A_BITS = 8, A_LANES = 2; // the first lane is the highest
localparam int B_LOW = 72, B_BITS = 8, B_LANES = 2; // the first lane is the highest
localparam int C_LOW = 40, C_BITS = 32, C_LANES = 1;
localparam int RESULT_LOW = 8, RESULT_BITS = 32, RESULT_LANES = 1;
localparam int FLAGS_LOW = 0;"
for options in 'fp16 -r rne,rtz' 'e4m3fn --from e5m2' 'fp16 --op mul' 'e5m2 --op add'; do
    "$FPEMU" vectors $options --as svh | grep -qF "COUNT = $("$FPEMU" vectors $options | wc -l)," || failed "$options"
done

# IEEE 754's underflow of fp16, whose least normal number is 2^-14 (0400). 2^-14 less 2^-26 (2ffe) becomes it, among
# subnormal numbers and as if there were none; less 2^-25 (2ffc) among subnormal ones alone; less 2^-24 is exact.
for when in before after; do
    "$FPEMU" vectors fp16 --from 'float(e=3,m=12,bias=17)' -r rne,rtz --level 2 --tininess $when >$when ||
        failed 'vectors --tininess'
    for line in '0 2ffc 0400 03' '0 2ff8 03ff 20' '0 3000 0400 00' '3 2ffe 03ff 23'; do
        grep -qx "$line" $when || failed "--tininess $when: not $line"
    done
done
grep -qx '0 2ffe 0400 03' before && grep -qx '0 2ffe 0400 01' after || failed '--tininess of 2ffe'
holds "$(diff before after | grep -c '^>')" -eq 4
# Of float(e=2,m=3), which saturates at 3.75, the least normal number is 1: without an end of exponents 31/32 (05e)
# becomes it, 15/16 (05c) stays
"$FPEMU" vectors 'float(e=2,m=3)' --overflow saturate --from 'float(e=3,m=5,bias=3)' --level 2 --tininess after >after ||
    failed 'vectors --overflow saturate --tininess after'
grep -qx '0 05e 08 01' after && grep -qx '0 05c 08 03' after || failed '--tininess after of 05e'

fails 2 '2 formats, but fma has 3 operands: name one for all, or one for each' vectors fp16 --op fma --from fp16,fp16
fails 2 '--op dot and gemm need --model' vectors fp32 --op dot
for arguments in 'fp32 --op add --model fp32' 'fp32 --op add --length 4' 'fp32 --op add --scales e8m0' \
    'mxfp4 --model fp32' 'mxfp4 --scales e8m0'; do
    fails 2 'are for --op dot and gemm' vectors $arguments
done
fails 2 'gemm takes --shape' vectors fp32 --op gemm --model fp32 --length 4
fails 2 'name a file with -o' vectors e4m3fn --cover -o -
fails 2 'name a file with -o' vectors e4m3fn --cover --as csv
fails 2 "'2x2' is not MxNxK" vectors fp32 --op gemm --model fp32 --shape 2x2
fails 2 '--shape is for --op gemm' vectors fp32 --op dot --model fp32 --shape 2x2x2
fails 2 'a sum is known to 53 bits' vectors fp32 --op dot --model fp32 -r sr
fails 2 '--bits: the rounding rne draws no random bits' vectors fp32 --bits 4
fails 2 'maximum-number dot gemm' vectors fp32 --op dots --model fp32
fails 2 "those of 'tc(b200,mxf4nvf4)' are ue4m3" vectors fp32 --op dot --model 'tc(b200,nvfp4)' --scales e4m3fn
fails 1 'compatibility settings are for conversions' vectors fp32 --op dot --model fp32 -r qpytorch
fails 2 'has no blocks: chunk(LENGTH,...), or promote=LENGTH' vectors fp32 --op dot --model fp32 --scales e8m0
fails 2 "leave 'out=' away" vectors fp32 --op dot --model 'fp32; out=fp16'
fails 2 "character 5: found 'fp33'" vectors fp32 --op dot --model 'seq(fp33)'
fails 2 'stochastic' vectors fp32 --op dot --model 'seq(fp16/sr)'
fails 2 '--length' vectors fp32 --op dot --model fp32 --length 257
fails 2 "'nvfp4' and 'mxfp4' both have scales" vectors mxfp4 --from nvfp4
fails 2 'random bits for its scales' vectors 'nvfp4(rule=eden)'
fails 1 '--scales: formats with scales have no codes' vectors fp32 --op dot --model 'chunk(2,fp32)' --scales mxfp4
fails 2 'expected SPEC' vectors
"$FPEMU" vectors e4m3fn -o - >out || failed 'vectors to standard output'
"$FPEMU" vectors e4m3fn >wanted || failed vectors
same out wanted
holds ! -e -
fails 2 "'xml' is none of" vectors e4m3fn --as xml
# RISC-V's NaN boxing (Unprivileged ISA 20240411, 21.2): upper bits of 1, else the canonical NaN
"$FPEMU" vectors fp16 --op add --from fp16,fp32 >plain && "$FPEMU" vectors fp16 --op add --from fp16,fp32 --box 32 >out ||
    failed 'vectors --box'
holds "$(sed 's/^0 \(....\) \(........\) \(....\) /0 ffff\1 \2 ffff\3 /' plain | diff - out | sed -n 's/^> //p' |
    sed 's/ [0-9a-f]\{8\} ffff7e00/ b nan/' | sort -u)" = '0 00003c00 b nan 00'
fails 2 '16 bits do not hold a code of 32' vectors fp16 --box 16
fails 2 'in a form other than testfloat' vectors fp16 --as testfloat --box 32
fails 2 'neither before nor after' vectors e4m3fn --tininess now
fails 2 'to floats' vectors 'fixed(8,4)' --tininess after
fails 2 'known to 53 bits, too few' vectors fp64 --op dot --model fp64 --tininess after
"$FPEMU" vectors fp32 --op dot --model 'tc(h100,e4m3fn)' --from fp16,fp16 2>&1 >out |
    grep -qE '^fpemu: [0-9]+ operands are no numbers of the model' || failed 'operands that are rounded first'

# TestFloat's columns; IEEE 754's flags of signalling NaN, and where binary64 itself is tiny before rounding alone
"$FPEMU" vectors fp16 --op fma --as testfloat >out || failed 'vectors --as testfloat'
"$FPEMU" vectors fp16 --op fma --tininess after | sed 's/^. //; s/ 2\(.\)$/ 0\1/; s/ 3\(.\)$/ 1\1/' | cmp - out ||
    failed 'testfloat and hex differ'
for line in '7dff 3d9a 7e00 7e00 10' '0000 7c00 7e00 7e00 10' '7e00 0000 7c00 7e00 00'; do
    grep -qx "$line" out || failed "testfloat: not $line"
done
"$FPEMU" vectors fp64 --op mul --tininess after | grep -qx '0 a008000000000000 1ff5555555555555 8010000000000000 01' ||
    failed '--tininess after of binary64'
fails 2 'testfloat names no mode' vectors fp16 --as testfloat -r rne,rtz
fails 2 '--as testfloat is for' vectors mxfp4 --as testfloat
fails 2 'no place for random bits' vectors fp16 --as testfloat -r sr
fails 2 '--level' vectors e4m3fn --level 3
fails 2 'no place in svh' vectors e4m3fn --as svh --classes
fails 2 "rounding ''" vectors e4m3fn -r rne,
fails 2 'gives no result' vectors e2m1 --nan error
fails 2 "format 'nonsense'" vectors e4m3fn --from nonsense
fails 1 'posit(8,2)' vectors 'posit(8,2)' -r rtn
fails 2 'is none of: convert add sub' vectors e4m3fn --op power
fails 1 'int(8,scale=0.1)' vectors 'int(8,scale=0.1)' --op add

finish
