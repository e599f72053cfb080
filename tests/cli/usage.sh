#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command as a whole: help, version, usage errors, the bench.
. "$(dirname "$0")/common.sh"

"$FPEMU" --help >out || failed --help
for command in formats info round apply encode decode quantize compare sample validate bench fuzz vectors; do
    grep -q "^  $command " out || failed "--help does not name $command"
done
for command in formats info round apply encode decode quantize compare sample bench fuzz vectors; do
    for option in --help -h; do
        "$FPEMU" $command $option >out 2>err || failed "$command $option"
        grep -q "^Usage: fpemu $command" out || failed "$command $option: $(head -n 1 out)"
        holds ! -s err
    done
    fails 2 "unknown" $command --no-such-option
    fails 2 "unknown option '-Z'" $command -Z
done
"$FPEMU" --version >out || failed --version
grep -qE '^fpemu [0-9]+\.[0-9]+\.[0-9]+$' out || failed "--version: $(cat out)"

for option in --version -V --help -h; do
    fails 2 "unexpected argument 'junk'" $option junk
done
fails 2 'no command'
fails 2 "unknown command 'frobnicate'" frobnicate
fails 2 "unknown option '--frobnicate'" --frobnicate
fails 2 "option '-r' needs an argument" round e4m3fn -r
fails 2 "option '--seed' needs an argument" round e4m3fn 1 --seed
fails 2 'takes no argument' round e4m3fn --double=1 1
# Did you mean
fails 2 "unknown command 'quantise' (did you mean 'quantize'?)" quantise
fails 2 "unknown command 'inof' (did you mean 'info'?)" inof
fails 2 "unknown option '--hlep' (did you mean '--help'?)" --hlep
fails 2 "option '--roundng' is unknown or ambiguous (did you mean '--rounding'?)" round e4m3fn --roundng=rne
fails 2 "no function 'gellu' (did you mean 'gelu'?)" apply gellu bf16 1
fails 2 "found 'nearest', did you mean nearest-even?" round e4m3fn -r nearest-evn 1
fails 2 "found 'nvidai', did you mean nvidia?" round e4m3fn -r nvidai 1
FPEMU_VARIANT=portable "$FPEMU" round e4m3fn 1 >out 2>err || failed 'portable'
holds ! -s err
FPEMU_VARIANT=avx9 "$FPEMU" round e4m3fn 1 >out 2>err || failed 'an unknown variant'
holds "$(cat out)" = 1
grep -q "^fpemu: FPEMU_VARIANT: no loops 'avx9' here, those of [^ ]* run; there are: .*portable$" err ||
    failed "an unknown variant: $(cat err)"
fails 2 "found 'rn', did you mean rne, rna, rnz or rtn?" round e4m3fn -r rn 1
fails 2 "none of: format keep max signmax zero error (did you mean 'keep'?)" round e4m3fn --nan kep 1
fails 2 "found 'fp8', did you mean e4m3fn or e5m2" round fp8 1
fails 2 "found 'fp4', did you mean e2m1, mxfp4 or nvfp4?" round fp4 1
fails 2 "format 'mx(fp4)', character 4: found 'fp4', did you mean e2m1?" round 'mx(fp4)' 1
fails 2 'did you mean mx(e2m1,block=16)?' round 'mxfp4(block=16)' 1
# A file in the place of a format
: >data.npy
fails 2 "'data.npy' is a file, and a format is expected in its place" quantize data.npy e4m3fn -o out.npy
fails 2 "'data.npy' is a file, and a format is expected in its place" compare e4m3fn data.npy
fails 2 "'data.npy' is a file, and a format is expected in its place" pack data.npy e4m3fn -o out.fpk
# help COMMAND
for command in formats round fuzz; do
    "$FPEMU" help $command >out && "$FPEMU" $command --help | cmp -s - out || failed "help $command"
done
"$FPEMU" help >out && "$FPEMU" --help | cmp -s - out || failed 'help'
fails 2 "unknown command 'rouns' (did you mean 'round'?)" help rouns
fails 2 "'junk' is too much" help round junk
# Format, mode and call: each says what of it does not go
fails 1 'posit(8,2): posits round to nearest even only (mode rne), not by rtz' round 'posit(8,2)' -r rtz 1
fails 1 'nf4: these blocks have no compatibility setting qpytorch' round nf4 -r qpytorch 1
fails 1 'mxfp4: results are rounded one by one' apply exp mxfp4 1
fails 1 '(mode rne), not by rto' fuzz 'posit(8,1)' --against-program cat -r rto
fails 1 'fp64: binary32 does not hold every value of the format: binary64 does; use --double' round fp64 1
# Long specs are cut around the place that is wrong, and control characters never come out
long=$(printf '%0120d' 0 | tr 0 ' ')
fails 2 '...' round "fixed(8,$long wrong)" 1
holds "$(wc -c <err)" -lt 200
grep -q "character 130: found 'wrong'" err && grep -q "wrong)'" err || failed "a long spec: $(cat err)"
fails 2 "format 'e4m3fn?[31m'" round "$(printf 'e4m3fn\033[31m')" 1
# Whatever an argument holds, an error is one line of printable characters
fails 2 "unknown command 'a?b?[31m'" "$(printf 'a\nb\033[31m')"
fails 2 'is no number' round e4m3fn "$(printf '1\n2')"
holds "$(env -i "$FPEMU" round e4m3fn 0.3)" = 0.3125
# A file without a name is said to be one, and a plot stays out of the table
fails 2 'the name of the input is empty' quantize e4m3fn '' -o x.npy
fails 1 'the name of the output is empty' vectors e4m3fn -o ''
if [ -e /dev/stdout ]; then
    fails 2 'the table goes there' study 'seq(fp16)' --plot /dev/stdout
    fails 2 'the table goes there' compare numbers e4m3fn --plot /dev/stdout
fi
# The locale does not matter
holds "$(LC_ALL=de_DE.UTF-8 "$FPEMU" round e4m3fn 0.3)" = 0.3125

"$FPEMU" bench e4m3fn 'posit(8,2)' -r rne -r rtz --size 4096 >table || failed bench
holds "$(wc -l <table)" -eq 10
holds "$(grep -c '^memcpy .* 4096 ' table)" -eq 2
holds "$(grep -c '^e4m3fn .*rtz' table)" -eq 2
holds "$(grep -c '^posit(8,2) .*rne' table)" -eq 2
"$FPEMU" bench e4m3fn -r rne --size 64 --size 128 >table || failed 'bench, two sizes'
holds "$(grep -c '^e4m3fn .* 64 ' table)" -eq 2
holds "$(grep -c '^e4m3fn .* 128 ' table)" -eq 2
"$FPEMU" bench fp64 --counters --size 100 --json -r sr >json || failed 'bench --json'
python_checks json 'c, = j["cases"]
assert c["spec"] == "fp64" and c["type"] == "double" and c["rounding"] == "sr" and c["elements_per_second"] > 0
assert c["bytes_per_second"] == 16 * c["elements_per_second"]
assert j["counters"] is True and c["size"] == 100 and c["threads"] == 1'
"$FPEMU" bench fp16 e4m3fn -r rne --size 64 --carrier bf16 --carrier f16 >table || failed 'bench --carrier'
holds "$(grep -c '^memcpy .*f16 ' table)" -eq 2
holds "$(grep -c '^fp16 .* f16 ' table)" -eq 1 # bfloat16 does not hold it
holds "$(grep -c '^fp16 .* bf16 ' table)" -eq 0
holds "$(grep -c '^e4m3fn ' table)" -eq 2
fails 2 '--carrier' bench --carrier half
# The pass that finds a scale of the whole array has rows of its own
"$FPEMU" bench fp16 --size 100 --json -r sr --bits 8 --generator philox >json || failed 'bench --bits'
grep -q '"bits": 8' json && grep -q '"generator": "philox"' json || failed 'bench --bits: not said'
fails 2 '--bits' bench --bits 33
"$FPEMU" bench nvfp4 mxfp4 q4_0 'nvfp4(outer=row)' -r rne --size 64 >table || failed 'bench nvfp4'
holds "$(grep -c ' measure ' table)" -eq 2
holds "$(grep -c '^nvfp4 .* rne ' table)" -eq 2
holds "$(grep -c '^mxfp4 ' table)" -eq 2
"$FPEMU" bench 'scaled(e4m3fn)' --size 64 -r rne --json >json || failed 'bench scaled --json'
python_checks json 'c = [k for k in j["cases"] if k["type"] == "float"]
assert [k["pass"] for k in c] == ["quantize", "measure"] and "rounding" not in c[1]
assert c[1]["bytes_per_second"] == 4 * c[1]["elements_per_second"]'
fails 1 'no format goes with' bench 'posit(8,2)' -r rtz
for operation in decode unpack; do
    "$FPEMU" bench e4m3fn 'posit(8,1)' -r rne -r rtz --size 64 --op $operation >table || failed "bench --op $operation"
    [ "$(grep -c '^posit(8,1) .* rne ' table)" = 2 ] || fail "bench --op $operation: no posit"
    grep -q '^e4m3fn .* rtz ' table || fail "bench --op $operation: no e4m3fn, toward zero"
    grep -q '^posit(8,1) .* rtz ' table && fail "bench --op $operation: a mode that posits do not have"
done
fails 2 '--size' bench --size 0
fails 2 "not 'divide'" bench --op divide
fails 2 'decode has no counters' bench --op decode --counters
fails 2 'unpack has no counters' bench --op unpack --counters
fails 2 "not 'convert'" bench --op convert
for op in encode decode pack unpack add fma sqrt exp; do
    "$FPEMU" bench e4m3fn bf16 -r rne --size 64 --op $op --json >json || failed "bench --op $op"
    grep -q "\"operation\": \"$op\"" json || failed "bench --op $op: its name"
done
"$FPEMU" bench mxfp4 nvfp4 -r rne --size 64 --op pack --json >json || failed 'bench --op pack, with scales'
python_checks json 'c = [k for k in j["cases"] if k["type"] == "float"]
assert [k["pass"] for k in c] == ["pack", "pack", "measure"]
assert abs(c[0]["bytes_per_second"] / c[0]["elements_per_second"] - (4 + 0.5 + 1 / 32)) < 1e-9'
"$FPEMU" bench e4m3fn -r rne -r sr --size 64 --op tanh --carrier float --carrier f16 >table || failed 'bench --op tanh'
holds "$(grep -c '^e4m3fn .* rne table .* f16 ' table)" -eq 1
holds "$(grep -c '^e4m3fn ' table)" -eq 5 # no table holds sr
"$FPEMU" bench e4m3fn -r rne --size 64 --op fma --carrier float --json >json || failed 'bench --op fma'
python_checks json 'c, = j["cases"]
assert c["bytes_per_second"] == 16 * c["elements_per_second"]'

finish
