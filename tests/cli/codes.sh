#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu encode, fpemu decode: known bit patterns.
. "$(dirname "$0")/common.sh"

gives '0x7e 0xbc 0x7f 0x80 0x00' encode e4m3fn 448 -1.5 nan -0 0
gives '0x7b 0x7c 0xfc 0x7f' encode e5m2 57344 inf -inf nan
gives '0x7bff 0x7c00 0x7e00' encode fp16 65504 65520 nan
gives '0x7fc0 0x3f80' encode bf16 nan 1
gives '0x7 0xf 0x8 0x7' encode e2m1 6 -6 -0 nan
gives '0x1fc00' encode tf32 1
gives '0x3ff0000000000000 0x7ff8000000000000' encode fp64 --double 1 nan
gives '0x80 0x00' encode e4m3fnuz nan -0
gives '0x7fff 0x7ffe' encode dlfloat16 inf 8573157376
gives '0xfe 0xff 0x00 0x7f' encode e8m0 1.7014118346046923e38 -1 0 1
# values of CANN's own test of hif8; then one of each prefix, ties away, infinity, NaN
gives '0x04 0x05 0x06 0x06 0x1d 0x19' encode hif8 -r rna 2.75313869e-06 4.55029203e-06 6.82727705e-06 9.30949318e-06 0.783273578 0.567049742
gives '0x00 0x01 0x07 0x70 0x5c 0x3c 0x18 0x08 0x0a 0x17 0x2f 0x4f 0x6e 0x6f 0xef 0x80 0x00' \
    encode hif8 -r rna 1.1e-7 1.1920928955078125e-07 2e-5 0.00390625 0.0078125 0.1875 0.5 1 1.1875 3.8 15 224 40959 40960 \
    -inf nan -0
gives '0xff 0x00 0x01 0xff' encode ue6m2 1e9 0 4.5e-15 -1
gives '0x80 0x7f 0x01' encode 'posit(8,2)' nan 1e30 1e-30
gives '0xf0 0x7f 0x80' encode 'fixed(8,4)' -1 100 -100
gives '0x00' encode 'fixed(8,4)' nan
gives '0x0' encode 'fixed(4,0)' -r sr --seed 42 --stream 1 0.8578
printf '448 -1.5\n' >numbers
input=numbers
gives '0x7e 0xbc' encode e4m3fn
input=/dev/null
fails 2 "'x' is no number" encode e4m3fn 1 x
fails 1 'fp64: binary32 does not hold every value of the format: binary64 does; use --double' encode fp64 1
gives '[ 126, 188, 127 ]' encode e4m3fn --json 448 -1.5 nan
gives '[ 4607182418800017408, 13830554455654793216 ]' encode fp64 --double --json 1 -1
gives '[]' encode e4m3fn --json

gives '448 448 nan -0 0.001953125' decode e4m3fn 0x7e 126 0x7F 0x80 1
gives '0x1.cp+8 -0x0p+0 nan' decode --hex e4m3fn 0x7e 0x80 0x7f
gives '[ 448.0, "nan", -0.0 ]' decode e4m3fn --json 0x7e 0x7f 0x80
gives '[ "inf", "-inf" ]' decode e5m2 --json 0x7c 0xfc
gives '[]' decode e4m3fn --json
fails 2 '--hex and --json' decode e4m3fn --hex --json 1
gives 'inf -inf nan' decode e5m2 0x7c 0xfc 0x7d
gives '5.877471754111438e-39 nan' decode e8m0 0 0xff
gives 'nan 0 16777216' decode 'posit(8,2)' 0x80 0 0x7f
gives '448' decode ue4m3 0xfe
gives '-1 7.9375' decode 'fixed(8,4)' 0xf0 0x7f
gives '5e-324 nan' decode fp64 1 0x7ff8000000000000
gives '0.10000000149011612' decode 'int(8,scale=0.1)' 1
gives '0.1' decode 'int(8,scale=0.1)' --double 1
printf '0x7e 126\n' >codes
input=codes
gives '448 448' decode e4m3fn
input=/dev/null
fails 2 "'0x100' is no code of 1 byte" decode e4m3fn 0x7e 0x100
fails 2 "'0x10000' is no code of 2 bytes" decode fp16 0x10000
fails 2 "'-1' is no code" decode e4m3fn -1
fails 2 "'7e' is no code" decode e4m3fn 7e
fails 2 "'0x' is no code" decode e4m3fn 0x

finish
