#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu round: known results of formats and modes, reading and printing of numbers.
. "$(dirname "$0")/common.sh"

# Ends of the formats (doc/numerics.md, thresholds of nearest even)
gives '448 nan 0.3125 -0' round e4m3fn 464 465 0.3 -0
gives '57344 inf -inf inf nan' round e5m2 61439 61440 -61440 inf nan
gives '57344 57344 -57344' round e5m2 --overflow saturate 61440 inf -inf
gives '57344 inf -inf' round e5m2 --overflow saturate-keep-inf 61440 inf -inf
gives '57344 inf' round e5m2 --overflow keepinf 61440 inf
gives '448 -448 448 nan' round e4m3fn:saturate 465 -1e30 inf nan
gives 'nan 448' round e4m3fn:saturate --overflow ieee 465 464
gives '240 nan 0' round e4m3fnuz 247 248 -0
gives '0 1 1 2 2 4 4 6 -6' round e2m1 0.25 0.75 1.25 1.75 2.5 3.5 5 7 -1e9
gives '30 30 -30' round 'fp(4,3,4)' 31 1e9 -inf
gives '114688' round 'fp(5,2,0)' 1e9
gives '65504 inf' round fp16 65519 65520
gives '5.877471754111438e-39 nan 2 2 1.7014118346046923e+38' round e8m0 0 -1 1.5 3 2.5e38
gives '8573157376 nan' round dlfloat16 8573157376 inf
gives '7.9375 -8 0 0.125' round 'fixed(8,4)' 100 -100 0.03125 0.09375
gives '-8 -8 -8 -7.5' round 'fixed(8,4):wrap' 8 -8 24 8.5
gives '127 -128 2 4' round int8 127.5 -200 2.5 3.5
gives '1048576 16777216 5.960464477539063e-08 -5.960464477539063e-08 0 nan' \
    round 'posit(8,2)' 4194304 4194305 1e-30 -1e-30 0 inf

# Of a format with scales one vector: its largest number, 6, gives the scale 1
gives '0.5 0.5 2 6' round mxfp4 0.3 0.7 1.9 6
gives '0.5 0.5 2 6' round mxfp4 --double 0.3 0.7 1.9 6

# Modes: a tie with an even and one with an odd neighbour below, on both sides of zero
gives '1 1.25 -1 -1.25' round e4m3fn -r rne 1.0625 1.1875 -1.0625 -1.1875
gives '1.125 1.25 -1.125 -1.25' round e4m3fn -r rna 1.0625 1.1875 -1.0625 -1.1875
gives '1 1.125 -1 -1.125' round e4m3fn -r rnz 1.0625 1.1875 -1.0625 -1.1875
gives '1.125 1.25 -1 -1.125' round e4m3fn -r rnp 1.0625 1.1875 -1.0625 -1.1875
gives '1.5 -1' round 'fixed(3,1)' -r rnp 1.25 -1.25 # AP_RND of ap_fixed<3, 2> in AMD's UG1399
gives '1 1.125 -1 -1.125' round e4m3fn -r rtz 1.0625 1.1875 -1.0625 -1.1875
gives '1.125 1.25 -1.125 -1.25' round e4m3fn -r raz 1.0625 1.1875 -1.0625 -1.1875
gives '1.125 1.25 -1 -1.125' round e4m3fn -r rtp 1.0625 1.1875 -1.0625 -1.1875
gives '1 1.125 -1.125 -1.25' round e4m3fn -r rtn 1.0625 1.1875 -1.0625 -1.1875
gives '1.125 1.125 -1.125 -1.125' round e4m3fn -r rto 1.0625 1.1875 -1.0625 -1.1875
gives '1.125' round e4m3fn --rounding=nearest-away 1.0625

# Stochastic: the up threshold of the published random words, on both sides
gives '0 1' round 'fixed(8,0)' -r sr --seed 42 0.6216 0.75
gives '1 0' round 'fixed(8,0)' -r sr --seed 42 0.6217 0.5439
gives '0' round 'fixed(8,0)' -r sr --seed 42 --index 1 0.5439
gives '1' round 'fixed(8,0)' -r sr --seed 42 --index 1 0.5440
gives '0' round 'fixed(8,0)' -r sr --seed 42 --stream 1 0.8578
gives '1' round 'fixed(8,0)' -r sr --seed 42 --stream 1 0.8579
gives '0' round 'fixed(8,0)' -r sr --seed 42 --bits 8 0.3
gives '1' round 'fixed(8,0)' -r sr --seed 42 --bits 8 0.301
gives '0' round 'fixed(8,0)' -r sr --seed 42 --bits 8 --variant b 0.298
gives '1' round 'fixed(8,0)' -r sr --seed 42 --bits 8 --variant b 0.299
gives '3 -3 3' round 'fixed(8,0)' -r sr --seed 7 --generator philox 3 -3 3

# Reading: correctly rounded to binary32 once; hexadecimal; white space; negative numbers are no options
gives '1.0000001192092896 1' round fp32 1.000000059604644775390626 1.000000059604644775390625
gives '0.10000000149011612' round fp32 0.1
gives '0.1 -0 5e-324' round fp64 --double 0.1 -0 5e-324
gives '-inf nan nan 12' round -r rne fp16 -inf -nan +NaN 0x1.8p3
gives '-1.5 -0.5' round fp16 -- -1.5 -.5
printf ' 464\t465\n\n0.3\r\n-0' >numbers
input=numbers
gives '448 nan 0.3125 -0' round e4m3fn
input=/dev/null
gives '' round e4m3fn

# Printing
gives '0x1.cp+8 inf -inf nan -0x0p+0' round e5m2 --hex 448 inf -inf nan -0
gives '100 1000000 0.001953125 1e+16 1000000000000000 5.684341886080802e-14 1e+300' \
    round fp64 --double 100 1e6 0x1p-9 1e16 1e15 0x1p-44 1e300

# JSON: an array, also of nothing; numbers that are none are strings
gives '[ 448.0, "nan", 0.3125, -0.0 ]' round e4m3fn --json 464 465 0.3 -0
gives '[ "inf", "-inf", 0.10000000149011612 ]' round fp32 --json inf -inf 0.1
gives '[ 0.30000000000000004, 2.2250738585072014e-308 ]' round fp64 --double --json 0.30000000000000004 2.2250738585072014e-308
gives '[]' round e4m3fn --json
printf '1 2 four' >numbers
"$FPEMU" round e4m3fn --json <numbers >out 2>err
holds $? -eq 1
holds "$(tail -n 1 out)" = '  2.0'
fails 2 '--hex and --json' round e4m3fn --hex --json 1

# Errors
fails 2 "'abc' is no number" round e4m3fn 1 abc
fails 2 "'1.5x' is no number" round e4m3fn 1.5x
fails 2 "'' is no number" round e4m3fn ''
fails 2 "' 1' is no number" round e4m3fn ' 1'
fails 2 'character 5' round e4m3zz 1
fails 2 'expected SPEC' round
fails 2 "rounding 'up'" round e4m3fn -r up 1
fails 2 '--overflow' round e4m3fn --overflow never 1
fails 2 '--nan' round e4m3fn --nan never 1
for option in '--seed 1' '--bits 8' '--variant b' '--generator philox' '--stream 1' '--index 1'; do
    fails 2 "${option% *}: the rounding rne draws no random bits" encode e4m3fn $option 1
    fails 2 "${option% *}: the rounding rtn draws no random bits" apply exp e4m3fn $option -r rtn 1
    fails 2 "${option% *}: the rounding rne draws no random bits" round e4m3fn $option 1
    fails 2 "${option% *}: the rounding rtz draws no random bits" round e4m3fn $option -r rtz 1
done
fails 2 '--variant: the rounding se has none' round e4m3fn -r se --variant b 1
fails 2 '--bits' round e4m3fn -r sr --bits 33 1
fails 2 '--bits' round e4m3fn -r sr --bits 0 1
fails 2 '--variant' round e4m3fn -r sr --variant d 1
fails 2 '--generator' round e4m3fn -r sr --generator dice 1
fails 2 '--seed' round e4m3fn -r sr --seed -1 1
fails 2 '--index' round e4m3fn --index 18446744073709551616 1
fails 1 'posit(16,2)' round 'posit(16,2)' -r rtp 1
fails 1 'NaN' round e2m1 --nan error nan
gives 'nan 6 -6 0' round e2m1 nan --nan keep 9 -9 0
gives '6' round e2m1 --nan max nan
gives '0' round e2m1 --nan zero nan
printf '1 2\n3 four 5\n' >numbers
"$FPEMU" round e4m3fn <numbers >out 2>err
holds $? -eq 1
holds "$(cat err)" = "fpemu: standard input, line 2: 'four' is no number"

finish
