#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu fuzz --op: every kind of wrong operation is found and put into its class; right ones, among them the compiler's,
# pass.
sources=$(cd "$(dirname "$0")" && pwd)
. "$sources/fuzz_common.sh"
library sums.so fuzz_operations.c || { echo "no shared library: $(head -n 1 compiler)"; exit 77; }
${CC:-cc} -O2 -DMAIN -o sums "$sources/fuzz_operations.c" -lm || exit 1

# ------------------------------------------------------------------------------------- right ones
agrees e4m3fn --op add --against ./sums.so:add
grep -q '^inputs: 65536 all$' out || failed "stages: $(cat out)"
agrees fp16 --op add --against ./sums.so:half_add $quick
grep -qE '^inputs: [0-9]+ boundary [0-9]+ coverage 20000 random, seed 0$' out || failed "stages: $(cat out)"
agrees fp16 --op div --against ./sums.so:half_div $quick --seed 5
agrees fp16 --op mul --from e4m3fn --against ./sums.so:mul_wide
agrees e4m3fn --op fma --against ./sums.so:multiply_add $quick
agrees e4m3fn --op add --against ./sums.so:add_values --signature f32-to-f32
agrees e4m3fn --op add --against ./sums.so:add_array --signature u8-to-u8-array
agrees e4m3fn --op fma --against ./sums.so:fma_array --signature f32-to-f32-array $quick
agrees e4m3fn --op add --against-program "$directory/sums"

# ------------------------------------------------------------------------------------- wrong ones
differs 'overflow-threshold normal' e4m3fn --op add --against ./sums.so:adds_twice
example normal '0.005859375 (0x03), 0.140625 (0x21)' '0.140625 (0x21)' '0.15625 (0x22)'
example overflow-threshold '18 (0x59), 448 (0x7e)' 'nan (0x7f)' '448 (0x7e)'
differs 'overflow-threshold normal' fp16 --op add --against ./sums.so:half_adds_twice $quick
differs subnormal e4m3fn --op add --against ./sums.so:add_flushes
example subnormal '0 (0x00), 0.001953125 (0x01)' '0.001953125 (0x01)' '0 (0x00)'
differs subnormal fp16 --op add --against ./sums.so:half_add_flushes $quick
differs 'tie subnormal normal' e4m3fn --op add --against ./sums.so:add_daz
example tie '0.001953125 (0x01), 0.03515625 (0x11)' '0.0390625 (0x12)' '0.03515625 (0x11)'
differs signed-zero e4m3fn --op add --against ./sums.so:add_zero_sign
differs nan e4m3fn --op add --against ./sums.so:add_loses_nan
differs invalid fp16 --op add --against ./sums.so:half_add_infinity $quick
example invalid 'inf (0x7c00), -inf (0xfc00)' 'nan (0x7e00)' 'inf (0x7c00)'
differs division-by-zero fp16 --op div --against ./sums.so:half_div_zero $quick
example division-by-zero '5.960464477539063e-08 (0x0001), 0 (0x0000)' 'inf (0x7c00)' '65504 (0x7bff)'
differs 'tie subnormal overflow-threshold above-max signed-zero normal' e4m3fn --op fma \
    --against ./sums.so:multiply_then_add
differs 'tie overflow-threshold above-max' e4m3fn --op add --against ./sums.so:add -r rna --overflow saturate
differs subnormal e4m3fn --op add --against-program "$directory/sums flush"

"$FPEMU" fuzz e4m3fn --op add --against ./sums.so:add_flushes --json >json && failed 'status of --json'
python_checks json 'd, = j["differences"]
assert j["operation"] == "add" and j["from"] == "e4m3fn" and j["exhaustive"] and j["inputs"] == 65536
assert d["class"] == "subnormal" and d["count"] == j["mismatches"] == 590
assert d["operands"] == [{"value": 0, "code": "0x00"}, {"value": 0.001953125, "code": "0x01"}]'

crashes 'crashed: Segmentation fault; the input was 1 (0x38), 2 (0x40)' e4m3fn --op add --against ./sums.so:add_crashes

fails 2 'is none of: convert add sub' fuzz e4m3fn --op power --against ./sums.so:add
fails 2 'too narrow' fuzz fp16 --op add --against ./sums.so:half_add --signature u8-to-u16
fails 2 'does not hold every operand' fuzz e4m3fn --op add --from fp64 --against ./sums.so:add --signature f32-to-u8
fails 2 'more than 32' fuzz fp16 --op fma --against ./sums.so:half_add --exhaustive
fails 2 'stochastic' fuzz e4m3fn --op add --against ./sums.so:add -r sr
fails 1 'int(8,scale=0.1)' fuzz 'int(8,scale=0.1)' --op add --against ./sums.so:add

# ------------------------------------------------------------------------------------- the compiler's
if library float16.so fuzz_operations.c -DFLOAT16; then
    for operation in add sub mul div sqrt; do
        agrees fp16 --op $operation --against ./float16.so:half_$operation --inputs 200000
    done
    differs normal fp16 --op fma --against ./float16.so:half_fma
    agrees fp16 --op fma --against ./float16.so:half_fma_wide $quick
fi

finish
