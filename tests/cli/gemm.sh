#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Products of matrices and the study of accumulators, on numbers worked out by hand.
. "$(dirname "$0")/common.sh"

shape() {
    printf "{'descr': '<f4', 'fortran_order': %s, 'shape': (%s), }" "${2-False}" "$1"
}
one='\000\000\200\077'
big='\000\000\000\105' # 2048

# [2048 1 1 1 1] times ones: in binary16, where the step past 2048 is 2, every 1 is lost (a tie, to even); in pairs,
# 2048+1 = 2048 (swamped), 1+1 = 2, 2048+2 = 2050, 2050+1 = 2052 (a tie)
npy "$(shape '1, 5')" "$big$one$one$one$one" >row.npy
npy "$(shape '5, 1')" "$one$one$one$one$one" >ones.npy
heading='model relative largest inexact swamped overflow underflow invalid'
gives "$heading seq(fp16) 0.001949 0.001949 4 4 0 0 0 pairwise(fp16) 0 0 2 1 0 0 0" \
    gemm row.npy ones.npy 'seq(fp16)' 'pairwise(fp16)'
value() { # value FILE: the one binary32 number of a .npy file
    "$FPEMU" quantize fp32 "$1" -o value.npy && tail -c +129 value.npy | od -A n -t x4 --endian=little | tr -d ' \n'
}
gives_product() { # gives_product HEX MODEL
    gives "$("$FPEMU" gemm row.npy ones.npy "$2" | tr -s ' \n' '  ' | sed 's/ $//')" gemm row.npy ones.npy "$2" -o c.npy
    holds "$(value c.npy)" = "$1"
}
gives_product 45000000 'seq(fp16)'            # 2048
gives_product 45004000 fp32                   # 2052
gives_product 45004000 'chunk(1,fp16,fp32)'   # 2052
gives_product 45000000 'seq(fp16/rtz)'
gives_product 45008000 'seq(fp16/raz)'        # 2050, 2052, 2054, 2056

# transposes and Fortran order say the same
npy "$(shape '5, 1')" "$big$one$one$one$one" >column.npy
gives "$("$FPEMU" gemm row.npy ones.npy fp32 'kahan(fp16)' | tr -s ' \n' '  ' | sed 's/ $//')" \
    gemm column.npy ones.npy fp32 'kahan(fp16)' --transpose-a
npy "$(shape '2, 3')" "$one$big$one$one$one$big" >c.order.npy
npy "$(shape '2, 3' True)" "$one$one$big$one$one$big" >f.order.npy
"$FPEMU" gemm c.order.npy f.order.npy fp32 --transpose-b -o c1.npy >/dev/null || failed 'gemm with Fortran order'
"$FPEMU" gemm c.order.npy c.order.npy fp32 --transpose-b -o c2.npy >/dev/null || failed 'gemm with C order'
same c1.npy c2.npy
holds "$(wc -c <c1.npy)" -eq 144

# a sum of products that binary32 cannot hold, in binary64
fails 2 'binary64 numbers' gemm "$(npy "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }" \
    '\000\000\000\000\000\000\360\077' >wide.npy && echo wide.npy)" wide.npy fp32
gives "$heading seq(fp64) 0 0 0 0 0 0 0" \
    gemm wide.npy wide.npy fp64 --double

fails 1 'inner lengths' gemm row.npy row.npy fp32
fails 2 "round the files before, by 'fpemu quantize mxfp4', B along its rows by --axis 0" \
    gemm row.npy ones.npy 'seq(fp32); ab=mxfp4'
fails 2 'fpemu quantize mxfp8_e4m3' gemm row.npy ones.npy 'chunk(32,fp32); b=mxfp8'
for format in fp16 bf16 e4m3fn; do
    fails 2 "found '$format', did you mean seq($format)?" gemm row.npy ones.npy "$format; ab=e5m2"
done
fails 2 "found 'mxfp4', expected seq, chunk" gemm row.npy ones.npy mxfp4
fails 1 'not a matrix' gemm "$(npy "$(shape '5,')" "$one$one$one$one$one" >flat.npy && echo flat.npy)" row.npy fp32
fails 2 "model 'seq(fp99)'" gemm row.npy ones.npy 'seq(fp99)'
fails 2 'one MODEL' gemm row.npy ones.npy fp32 fp64 -o c.npy
fails 2 'no matrix to start from' gemm row.npy ones.npy 'tc(v100,fp16); start=c'
fails 2 'A B MODEL' gemm row.npy ones.npy
"$FPEMU" gemm row.npy ones.npy 'seq(fp16)' --json >report.json || failed 'gemm --json'
grep -q '"swamped": 4' report.json || failed "gemm --json does not say that 4 additions were swamped: $(cat report.json)"

# binary16 stalls where sums of chunks, and stochastic ones, do not
"$FPEMU" study 'seq(fp16)' 'chunk(64,fp16)' 'seq(fp16/sr)' fp32 --lengths 4:12 --plot study.svg --json >study.json ||
    failed study
for text in '"seq(fp16)"' '"chunk(64,fp16)"' '"lengths"' '"swamped"'; do
    grep -qF "$text" study.json || failed "study --json lacks $text"
done
last() { # last N: the error of model N at the greatest length
    tr -d ' \n' <study.json | grep -o '"error":\[[^]]*\]' | sed -n "$1p" | sed 's/.*,//; s/\]//'
}
awk -v stalls="$(last 1)" -v chunks="$(last 2)" -v random="$(last 3)" -v single="$(last 4)" 'BEGIN {
    exit !(stalls > 0.02 && chunks < 0.003 && random < stalls / 3 && single > 0 && single < 1e-5) }' ||
    failed "study: errors $(last 1) $(last 2) $(last 3) $(last 4)"
grep -q '<svg' study.svg && grep -qF 'chunk(64,fp16)' study.svg || failed 'study --plot'
fails 2 'FIRST:LAST' study fp32 --lengths 9:4
fails 2 'FIRST:LAST' study fp32 --lengths 4
fails 2 'uniform, signed or normal' study fp32 --data odd
fails 2 'MODEL...' study

finish
