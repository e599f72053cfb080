#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu fuzz: every kind of defect of a conversion, or of an operation (--op), is found and put into its class; right
# ones pass.
sources=$(cd "$(dirname "$0")" && pwd)
. "$sources/common.sh"

# agrees SPEC ARGUMENT...: no difference
agrees() {
    "$FPEMU" fuzz "$@" >out 2>err
    status=$?
    if [ $status -ne 0 ] || [ "$(tail -n 1 out)" != 'no difference' ] || [ -s err ]; then
        failed "fpemu fuzz $*: status $status $(cat out err)"
    fi
}

# differs CLASSES SPEC ARGUMENT...: these classes of differences, and no others
differs() {
    classes=$1
    shift
    "$FPEMU" fuzz "$@" >out 2>err
    status=$?
    got=$(sed 1,3d out | cut -d ' ' -f 1 | tr '\n' ' ' | sed 's/ $//')
    if [ $status -ne 1 ] || [ "$got" != "$classes" ] || [ -s err ]; then
        failed "fpemu fuzz $*: status $status, got '$got', wanted '$classes' $(cat err)"
    fi
}

# example CLASS INPUT EXPECTED GOT: of the last report
example() {
    line=$(tr -s ' ' <out | sed -n "s/^$1 [0-9]* //p")
    [ "$line" = "$2 $3 $4" ] || failed "example of $1: '$line', wanted '$2 $3 $4'"
}

# crashes TEXT ARGUMENT...: status 3, one line on stderr that holds TEXT, and never "no difference" alone
crashes() {
    text=$1
    shift
    "$FPEMU" fuzz "$@" >out 2>err
    status=$?
    if [ $status -ne 3 ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -e "$text" err || grep -qx 'no difference' out; then
        failed "fpemu fuzz $*: status $status, wanted '$text', got $(cat err)"
    fi
}

# no_result WORDS: the row of the last report about inputs without a result, white space aside
no_result() {
    tr -s ' ' <out | grep -qxF "$1" || failed "no row '$1': $(cat out)"
}

quick='--inputs 20000'

for name in casts operations; do
    ${CC:-cc} -O2 -DMAIN -o $name "$sources/fuzz_$name.c" -lm || exit 1
    ${CC:-cc} -O2 -shared -fPIC -o $name.so "$sources/fuzz_$name.c" -lm 2>compiler ||
        { echo "no shared library: $(head -n 1 compiler)"; exit 77; }
done

# ------------------------------------------------------------------------------------- right ones
agrees e4m3fn --against ./casts.so:right
grep -qE '^inputs: [0-9]+ boundary [0-9]+ coverage 1048576 random, seed 0$' out || failed "stages: $(cat out)"
agrees e4m3fn --against casts.so:right $quick --seed 7
agrees e5m2 --against ./casts.so:e5m2_right $quick
agrees e4m3fn --against ./casts.so:right_array --signature f32-to-u8-array $quick
agrees e4m3fn --against ./casts.so:decode --signature u8-to-f32
grep -q '^inputs: 256 all$' out || failed "decoding: $(cat out)"
agrees e4m3fn --against ./casts.so:round_value --signature f32-to-f32 $quick
agrees e4m3fn --against ./casts.so:e5m2_to_e4m3 --from e5m2
agrees e4m3fn --against ./casts.so:truncates -r rtz $quick
agrees e4m3fn --against ./casts.so:ties_away -r rna $quick
agrees fp16 --against ./operations.so:half_of_float $quick
agrees fp16 --against ./operations.so:half_of_double --signature f64-to-u16 $quick
agrees fp16 --against ./operations.so:float_of_half --signature u16-to-f32
agrees e4m3fn --against-program "$directory/casts" $quick
agrees e4m3fn --against-program "$directory/casts values" --signature f32-to-f32 $quick

# ------------------------------------------------------------------------------------- wrong ones
differs 'tie subnormal overflow-threshold above-max normal' e4m3fn --against ./casts.so:truncates $quick
example normal '0.01660156436264515 (0x3c880001)' '0.017578125 (0x09)' '0.015625 (0x08)'
example subnormal '0.0009765626164153218 (0x3a800001)' '0.001953125 (0x01)' '0 (0x00)'
differs 'tie overflow-threshold' e4m3fn --against ./casts.so:ties_away $quick
example tie '0.0009765625 (0x3a800000)' '0 (0x00)' '0.001953125 (0x01)'
example overflow-threshold '464 (0x43e80000)' '448 (0x7e)' 'nan (0x7f)'
differs subnormal e4m3fn --against ./casts.so:flushes $quick
example subnormal '0.0009765626164153218 (0x3a800001)' '0.001953125 (0x01)' '0 (0x00)'
differs overflow-threshold e4m3fn --against ./casts.so:wrong_threshold $quick
example overflow-threshold '464 (0x43e80000)' '448 (0x7e)' 'nan (0x7f)'
differs signed-zero e4m3fn --against ./casts.so:loses_sign $quick
example signed-zero '-0 (0x80000000)' '-0 (0x80)' '0 (0x00)'
differs nan e5m2 --against ./casts.so:e5m2_nan_is_infinity $quick
example nan 'nan (0x7f800001)' 'nan (0x7f)' 'inf (0x7c)'
differs 'overflow-threshold above-max' e4m3fn --against ./casts.so:saturates $quick
example overflow-threshold '464.0000305175781 (0x43e80001)' 'nan (0x7f)' '448 (0x7e)'
differs infinity e4m3fn --against ./casts.so:infinity_is_max $quick
differs underflow e4m3fn --against ./casts.so:never_zero $quick
differs 'overflow-threshold above-max' e4m3fn:saturate --against ./casts.so:right $quick --overflow keepinf
differs subnormal e4m3fn --against ./casts.so:decode_flushes --signature u8-to-f32
example subnormal '0.001953125 (0x01)' '0.001953125 (0x3b000000)' '0 (0x00000000)'
holds "$(sed -n '$p' out | tr -s ' ' | cut -d ' ' -f 2)" -eq 14
differs 'subnormal overflow-threshold normal' e4m3fn --against ./casts.so:rounds_twice --signature f64-to-u8 $quick
differs 'tie subnormal overflow-threshold above-max normal' e4m3fn --against-program "$directory/casts truncate" $quick

# A NaN is a NaN, unless its bits are asked for
agrees e5m2 --against ./casts.so:e5m2_other_nan $quick
differs nan e5m2 --against ./casts.so:e5m2_other_nan $quick --strict-nan
"$FPEMU" fuzz e4m3fn --against ./casts.so:forgets_array --signature f32-to-u8-array --inputs 1001 >out \
    && failed 'a result that was left out'

"$FPEMU" fuzz e4m3fn --against ./casts.so:wrong_threshold --json $quick >json && failed 'status of --json'
python_checks json 'd, = j["differences"]
assert j["mismatches"] == d["count"] >= 2 and d["class"] == "overflow-threshold" and not j["exhaustive"]
assert (d["input"], d["expected"], d["got"]) == ("464 (0x43e80000)", "448 (0x7e)", "nan (0x7f)")
assert j["signature"] == "f32-to-u8" and j["rounding"]["mode"] == "rne"
assert j["stages"]["random"] == 20000 and j["inputs"] == sum(j["stages"].values()) and j["failure"] is None'

# ------------------------------------------------------------------------------------- crashes and the like
# The input is named and counted once, though it comes three times, and all others are compared.
crashes 'casts.so:crashes crashed: Segmentation fault; the input was 12 (0x41400000)' e4m3fn \
    --against ./casts.so:crashes
no_result 'crash 1 12 (0x41400000) ./casts.so:crashes crashed: Segmentation fault'
grep -qE '^inputs: [0-9]+ boundary [0-9]+ coverage 1048576 random, seed 0$' out || failed "goes on: $(cat out)"
holds "$(tail -n 1 out)" = 'no difference where there are results'
crashes 'crashed: Segmentation fault; the input was 12 (0x41400000)' e4m3fn --against ./casts.so:crashes_array \
    --signature f32-to-u8-array $quick
crashes 'ended with exit status 3; the input was 12' e4m3fn --against ./casts.so:leaves $quick
no_result 'exit 1 12 (0x41400000) ./casts.so:leaves ended with exit status 3'
crashes 'gives no result, the time limit passed; the input was 12' e4m3fn --against ./casts.so:hangs --time-limit 1
crashes 'hangs: no result for 1 s; the input was 12 (0x41400000)' e4m3fn --against ./casts.so:hangs \
    --hang-after 1 $quick
no_result 'hang 1 12 (0x41400000) ./casts.so:hangs hangs: no result for 1 s'
crashes 'hangs: no result for 1 s; the input was 12 (0x41400000)' e4m3fn --against ./casts.so:hangs_array \
    --signature f32-to-u8-array --hang-after 1 --inputs 0
crashes 'casts.so:writes_on_array writes outside of its result; the input was ' e4m3fn \
    --against ./casts.so:writes_on_array --signature f32-to-u8-array --inputs 0
crashes 'casts.so:writes_input writes to its input; the input was 1.4012' e4m3fn \
    --against ./casts.so:writes_input --signature f32-to-u8-array --inputs 0
crashes 'though none of it alone' e4m3fn --against ./casts.so:crashes_on_long --signature f32-to-u8-array --inputs 0
# Where it also differs that comes first. Of many inputs the one from which no bit can be taken: just above 70.3.
"$FPEMU" fuzz e4m3fn --against ./casts.so:crashes_above_70 $quick >out 2>err
holds $? -eq 1
grep -qF '(0x428c999c); 64 inputs have no result' err || failed "shrunk: $(cat err)"
grep -q '^tie .* 1 (0x3f800000)\|^normal .* 1 (0x3f800000)' out || failed "crash and difference: $(cat out)"
grep -q '^given up' out || failed "given up: $(cat out)"
# Programs: what each of these does on 12 alone is found among all inputs, printed or kept back.
for what in crash exit garbage twice nothing; do
    for how in casts "stdbuf -oL $directory/casts"; do
        [ "$how" = casts ] || [ $what = crash ] || continue
        command -v "${how%% *}" >/dev/null || how=$directory/casts
        case $what in
        crash) text='crashed: Aborted, after 0 of 1 results' row='crash 1' ;;
        exit) text='ended with exit status 5, after 0 of 1 results' row='exit 1' ;;
        garbage) text="gave '?[31m', which is no u8" row='unreadable 1' ;;
        twice) text='gave more than 1 result for 1 input' row='too-many 1' ;;
        nothing) text='gave 0 results for 1 input' row='too-few 1' ;;
        esac
        case $how in casts) how=$directory/casts ;; esac
        crashes "$text; the input was 12 (0x41400000)" e4m3fn --against-program "exec $how $what-12" $quick
        tr -s ' ' <out | grep -q "^$row 12 (0x41400000)" || failed "row of $what: $(cat out)"
        grep -qE ' 20000 random, seed 0$' out || failed "$what goes on: $(cat out)"
    done
done
crashes 'hangs: nothing printed for 1 s, after 0 of 1 results; the input was 12' e4m3fn \
    --against-program "exec $directory/casts hang-12" --hang-after 1 --inputs 0
# Killed, it leaves nothing running
if [ "$(uname)" = Linux ]; then
    "$FPEMU" fuzz e4m3fn --against-program 'echo $$ >other; exec sleep 300' --hang-after 200 >out 2>err &
    process=$!
    for wait in 1 2 3 4 5 6 7 8 9 10; do
        [ -s other ] || sleep 0.5
    done
    kill -KILL $process
    wait $process 2>/dev/null
    sleep 0.2
    ! grep -q 'State:.[^Z]' "/proc/$(cat other)/status" 2>/dev/null || failed 'the other side outlives the command'
fi
crashes 'crashed: Aborted, after' e4m3fn --against-program "exec $directory/casts crash" $quick
grep -q '^crash  *0  a batch of' out || failed "a batch: $(cat out)"
crashes 'gave 1000 results for' e4m3fn --against-program "$directory/casts stop" $quick
crashes 'exit status 127, after 0 of' e4m3fn --against-program './no-such-program 2>/dev/null' $quick
holds "$(tail -n 1 out)" = 'nothing could be compared'
crashes 'exit status 3, after 0 of' e4m3fn --against-program 'exit 3' $quick
crashes 'exit status 1, after more than 1 of 1 results' e4m3fn --against-program "$directory/casts; echo 0; exit 1" \
    $quick
crashes 'gave more than 1 result for 1 input' e4m3fn --against-program "$directory/casts; echo 0" $quick
crashes 'gave more than 1 result for 1 input' e4m3fn --against-program "$directory/casts endless" $quick
crashes "gave 'nonsense'" e4m3fn --against-program 'echo nonsense' $quick
crashes "gave '0?junk'" e4m3fn --against-program 'printf "0\\0junk\\n"' $quick
crashes "gave '0000000000000000000000000000000000000000...'" e4m3fn --against-program 'printf "%02000d\\n" 0' $quick
crashes 'gave no result before the time limit' e4m3fn --against-program "$directory/casts hang" --time-limit 1
"$FPEMU" fuzz e4m3fn --against ./casts.so:crashes --json $quick >json 2>err
holds $? -eq 3
python_checks json 'f, = j["failures"]
assert f["class"] == "crash" and f["count"] == j["without_result"] == 1 and not j["given_up"]
assert f["input"] == "12 (0x41400000)" and f["got"] == j["failure"] and j["mismatches"] == 0
assert j["inputs"] == sum(j["stages"].values()) and j["stages"]["random"] == 20000'
"$FPEMU" fuzz e4m3fn --against ./casts.so:right --inputs 4000000000 --time-limit 1 >out || failed 'time limit'
grep -q 'ended by the time limit' out || failed "time limit: $(cat out)"
holds "$(tail -n 1 out)" = 'no difference up to the time limit'

fails 2 'one of --against' fuzz e4m3fn
fails 2 'not both' fuzz e4m3fn --against a:b --against-program c
fails 2 'expected SPEC' fuzz --against ./casts.so:right
fails 2 'is not LIBRARY:FUNCTION' fuzz e4m3fn --against ./casts.so
fails 2 'no_such_function' fuzz e4m3fn --against ./casts.so:no_such_function
fails 2 'no-such.so' fuzz e4m3fn --against ./no-such.so:right
fails 2 '--signature' fuzz e4m3fn --against ./casts.so:right --signature f16-to-u8
fails 2 '--signature' fuzz e4m3fn --against ./casts.so:right --signature f32-to-u8x
fails 2 'need --from' fuzz e4m3fn --against ./casts.so:right --signature u8-to-u8
fails 2 'too narrow' fuzz fp16 --against ./casts.so:right --signature f32-to-u8
fails 2 'are no codes' fuzz e4m3fn --against ./casts.so:right --signature f32-to-u8 --from fp16
fails 2 'more than 32' fuzz e4m3fn --against ./casts.so:rounds_twice --signature f64-to-u8 --exhaustive

# ------------------------------------------------------------------------------------- stochastic rounding
# law CLASSES OPTION...: what differs from the law of e4m3fn
law() {
    classes=$1
    shift
    differs "$classes" e4m3fn -r sr --signature f32-to-u8-array --inputs 2000000 "$@"
}
agrees e4m3fn -r sr --against ./casts.so:sr_one
grep -qE '^inputs: [0-9]{4} numbers, [0-9]{4} results of each, seed 0; a right .* fails with less than 1e-06$' out ||
    failed "law: $(cat out)"
agrees e4m3fn -r sr --against ./casts.so:sr_right --signature f32-to-u8-array --seed 2
agrees e4m3fn -r sr --bits 4 --against ./casts.so:sr_bits --signature f32-to-u8-array
for spec in e4m3fn fp16 e8m0 'fixed(8,4)' e2m1:saturate; do
    agrees "$spec" -r sr --inputs 100000 --against-program \
        "echo >>calls; '$FPEMU' encode '$spec' -r sr --seed \$(wc -l <calls)"
done
agrees e4m3fn -r se --inputs 100000 --against-program \
    "echo >>calls; '$FPEMU' encode e4m3fn -r se --seed \$(wc -l <calls)"
# All zeros; wrong below the normal range; codes that do not come back: the three kinds of defects of others
many='neighbour/subnormal neighbour/normal neighbour/end exact/subnormal exact/normal'
law "$many probability/subnormal bias/subnormal repeats-calls repeats-elements" --against ./casts.so:sr_zero
law 'probability/subnormal bias/subnormal' --against ./casts.so:sr_subnormal
law 'exact/subnormal exact/normal' --against ./casts.so:sr_moves
grep -qE '^exact/subnormal +[0-9]+ +-?0 +-?0.001953125, in [0-9]+ of [0-9]+ +-?0$' out || failed "moves: $(cat out)"
# Few bits that are not told; the same bits in every call, in pairs of elements; a bias of a hundredth; no random bits
law 'probability/subnormal probability/normal probability/end bias/subnormal bias/normal' \
    --against ./casts.so:sr_bits
differs 'probability/normal bias/normal' e4m3fn -r sr --signature f32-to-u8-array --against ./casts.so:sr_byte
"$FPEMU" fuzz e4m3fn -r sr --against ./casts.so:sr_seeded --signature f32-to-u8-array >out && failed 'one seed'
grep -qE '^repeats-calls .* 65536 of 65536 alike ' out || failed "one seed: $(cat out)"
law repeats-elements --against ./casts.so:sr_pairs
"$FPEMU" fuzz e4m3fn -r sr --against ./casts.so:sr_drifts --signature f32-to-u8-array >out && failed 'a bias'
grep -qE '^bias/normal +1 +away from zero at 0.50[0-9]+ +at 0.49[0-9]+ +all$' out || failed "a bias: $(cat out)"
"$FPEMU" fuzz e4m3fn -r sr --against ./casts.so:right --json >json && failed 'nearest passes for stochastic'
python_checks json 'd = {e["class"]: e for e in j["differences"]}
assert j["tried"].endswith("fails with less than 1e-06") and j["rounding"]["mode"] == "sr"
assert "repeats-elements" in d and d["probability/normal"]["count"] > 1000 and "exact/normal" not in d'
fails 3 'crashed: Segmentation fault; without -r sr' fuzz e4m3fn -r sr --against ./casts.so:crashes_above_70
fails 2 'no --op, --from or --exhaustive' fuzz e4m3fn -r sr --op add --against ./operations.so:add
fails 2 'takes f32 or f64' fuzz e4m3fn -r sr --against ./casts.so:decode --signature u8-to-f32
fails 2 '--bits' fuzz e4m3fn --bits 4 --against ./casts.so:right
fails 1 'posits round to nearest even only' fuzz 'posit(8,1)' -r sr --against ./casts.so:right

# ------------------------------------------------------------------------------------- formats with scales
values='--signature f32-to-f32' bytes='--signature f32-to-bytes'
agrees mxfp4 --against ./casts.so:mx_right
holds "$(sed -n 2p out)" = 'inputs: 65536 tensors of up to 96 elements, seed 0'
agrees mxfp4 --against ./casts.so:mx_right_bytes $bytes $quick --seed 3
agrees mxfp4 --against-program "$directory/casts tensors-bytes" $bytes $quick
differs 'element/short-block element/power-of-two' mxfp4 --against ./casts.so:mx_power $values $quick
differs 'scale/short-block scale/power-of-two' mxfp4 --against ./casts.so:mx_power_bytes $bytes $quick
grep -qE '^scale/power-of-two +[0-9]+ +\[0\] .*x\[[0-9]+\] = -?(0.25|0.5|1|2|4), 0 elsewhere, 32 elements$' out ||
    failed "not a simple power of two: $(cat out)"
differs 'element/short-block' mxfp4 --against ./casts.so:mx_short $values $quick
differs 'scale/short-block' mxfp4 --against ./casts.so:mx_short_bytes $bytes $quick
differs 'element/short-block' mxfp4 --against-program "$directory/casts tensors" $values $quick
differs 'element/nan element/infinity' mxfp4 --against ./casts.so:mx_nan $values $quick
differs 'scale/nan scale/infinity' mxfp4 --against ./casts.so:mx_nan_bytes $bytes $quick
grep -q '^scale/nan .* nan (0xff)  ' out || failed "code of the scale: $(cat out)"
differs 'element/signed-zero' mxfp4 --against ./casts.so:mx_signs $values $quick
differs 'element/signed-zero' mxfp4 --against ./casts.so:mx_signs_bytes $bytes $quick
crashes 'mx_whole writes outside of its result; the input was ' mxfp4 \
    --against ./casts.so:mx_whole $quick
crashes 'crashed: Segmentation fault; the input was x[' mxfp4 --against ./casts.so:mx_crash $quick
"$FPEMU" fuzz mxfp4 --against ./casts.so:mx_nan_bytes $bytes $quick --json >json && failed 'status of --json'
python_checks json 'd = j["differences"]
assert [e["class"] for e in d] == ["scale/nan", "scale/infinity"] and j["mismatches"] == d[0]["count"] + d[1]["count"]
assert d[0]["input"] == "x[0] = nan, 0 elsewhere, 1 element" and d[0]["expected"] == "[0] nan (0xff)"
assert j["inputs"] == 20000 and j["signature"] == "f32-to-bytes" and not j["failures"]'
agrees mxfp4 --axis 1 --against ./casts.so:mx_rows $quick
agrees mxfp4 --axis 0 --against ./casts.so:mx_columns $quick
"$FPEMU" fuzz mxfp4 --axis 0 --against ./casts.so:mx_rows $quick >out && failed 'blocks along the other axis'
fails 2 'along axis 1' fuzz mxfp4 --axis 0 --against ./casts.so:mx_rows $bytes
fails 2 "'fp16' has no blocks" fuzz fp16 --axis 0 --against ./casts.so:right
fails 2 'takes whole tensors of numbers: no --op' fuzz mxfp4 --op add --against ./casts.so:mx_right
fails 2 "'mxfp4' has f32-to-f32, f64-to-f64, f32-to-bytes" fuzz mxfp4 --against ./casts.so:mx_right \
    --signature f32-to-u8
fails 2 '--signature' fuzz e4m3fn --against ./casts.so:right $bytes
fails 2 'stochastic' fuzz mxfp4 --against ./casts.so:mx_right -r sr

# ------------------------------------------------------------------------------------- right operations
agrees e4m3fn --op add --against ./operations.so:add
grep -q '^inputs: 65536 all$' out || failed "stages: $(cat out)"
agrees fp16 --op add --against ./operations.so:half_add $quick
grep -qE '^inputs: [0-9]+ boundary [0-9]+ coverage 20000 random, seed 0$' out || failed "stages: $(cat out)"
agrees fp16 --op div --against ./operations.so:half_div $quick --seed 5
agrees fp16 --op mul --from e4m3fn --against ./operations.so:mul_wide
agrees e4m3fn --op fma --against ./operations.so:multiply_add $quick
agrees fp16 --op fma --from e4m3fn,e4m3fn,fp16 --against ./operations.so:multiply_add_mixed $quick
holds "$(sed -n 1p out)" = 'fma of e4m3fn,e4m3fn,fp16 to fp16, rne, u16-to-u16: ./operations.so:multiply_add_mixed'
agrees e4m3fn --op add --against ./operations.so:add_values --signature f32-to-f32
agrees e4m3fn --op add --against ./operations.so:add_array --signature u8-to-u8-array
agrees e4m3fn --op fma --against ./operations.so:fma_array --signature f32-to-f32-array $quick
agrees e4m3fn --op add --against-program "$directory/operations"

# ------------------------------------------------------------------------------------- wrong operations
differs 'overflow-threshold normal' e4m3fn --op add --against ./operations.so:adds_twice
example normal '0.005859375 (0x03), 0.140625 (0x21)' '0.140625 (0x21)' '0.15625 (0x22)'
example overflow-threshold '18 (0x59), 448 (0x7e)' 'nan (0x7f)' '448 (0x7e)'
differs 'overflow-threshold normal' fp16 --op add --against ./operations.so:half_adds_twice $quick
differs subnormal e4m3fn --op add --against ./operations.so:add_flushes
example subnormal '0 (0x00), 0.001953125 (0x01)' '0.001953125 (0x01)' '0 (0x00)'
differs subnormal fp16 --op add --against ./operations.so:half_add_flushes $quick
differs 'tie subnormal normal' e4m3fn --op add --against ./operations.so:add_daz
example tie '0.001953125 (0x01), 0.03515625 (0x11)' '0.0390625 (0x12)' '0.03515625 (0x11)'
differs signed-zero e4m3fn --op add --against ./operations.so:add_zero_sign
differs nan e4m3fn --op add --against ./operations.so:add_loses_nan
differs invalid fp16 --op add --against ./operations.so:half_add_infinity $quick
example invalid 'inf (0x7c00), -inf (0xfc00)' 'nan (0x7e00)' 'inf (0x7c00)'
differs division-by-zero fp16 --op div --against ./operations.so:half_div_zero $quick
example division-by-zero '5.960464477539063e-08 (0x0001), 0 (0x0000)' 'inf (0x7c00)' '65504 (0x7bff)'
differs 'tie subnormal overflow-threshold above-max signed-zero normal' e4m3fn --op fma \
    --against ./operations.so:multiply_then_add
differs 'tie overflow-threshold above-max' e4m3fn --op add --against ./operations.so:add -r rna --overflow saturate
differs subnormal e4m3fn --op add --against-program "$directory/operations flush"

"$FPEMU" fuzz e4m3fn --op add --against ./operations.so:add_flushes --json >json && failed 'status of --json'
python_checks json 'd, = j["differences"]
assert j["operation"] == "add" and j["from"] == "e4m3fn" and j["exhaustive"] and j["inputs"] == 65536
assert d["class"] == "subnormal" and d["count"] == j["mismatches"] == 590
assert d["input"] == "0 (0x00), 0.001953125 (0x01)"'

crashes 'crashed: Segmentation fault; the input was 1 (0x38), 2 (0x40)' e4m3fn --op add --against \
    ./operations.so:add_crashes

# ------------------------------------------------------------------------------------- sums of products
# sums VERDICT FUNCTION OPTION...: of binary32, of numbers of fp16
sums() {
    verdict=$1 function=$2
    shift 2
    $verdict fp32 --op dot --from fp16 --against ./operations.so:$function --signature f32-to-f32 --inputs 2000 "$@"
}
wrong() {
    "$FPEMU" fuzz "$@" >out && failed "no difference: $*"
}
sums agrees dot --length 7 --model 'seq(fp32)'
grep -qE '^inputs: [0-9]+ dot products of 7, of fp16,fp16, seq\(fp32\), seed 0$' out || failed "sums: $(cat out)"
sums agrees dot_from --from fp16,fp16,fp32 --model 'seq(fp32); start=c'
sums agrees product --op gemm --shape 3x2x5 --model 'seq(fp32)'
agrees fp64 --op dot --from e2m1 --model 'chunk(2,fp64,fp64)' --scales e8m0 --against ./operations.so:dot_scaled \
    --signature f64-to-f64 --inputs 2000
agrees fp32 --op dot --from fp16 --model 'seq(fp32)' --against-program "$directory/operations dot" \
    --signature f32-to-f32
# Another order keeps to the bound 7 2^-24, and is no sequence; a product that is left out is told as one
sums agrees dot_turned --length 7 --bound 0x7p-24
grep -qE '^inputs: [0-9]+ dot products of 7, of fp16,fp16, exact sums, seed 0$' out || failed "sums: $(cat out)"
sums agrees dot_turned --from fp32 --length 7 --bound 0x7p-24
sums wrong dot_turned --length 7 --model 'seq(fp32)'
for how in '--bound 1e-6' '--model seq(fp32)'; do
    sums wrong dot_drops --length 7 $how
    grep -qE '^random .* a\[6\] = [-0-9.e]+, b\[6\] = [-0-9.e]+, 0 elsewhere$' out || failed "not one: $(cat out)"
done
sums wrong product --op gemm --shape 3x2x5 --model 'seq(bf16)'
# Where it crashes with fewer numbers, an example stays large, and still has both results
sums wrong dot_crashes --model 'seq(fp32)' --json 2>err
python_checks out 'd = j["differences"]
assert j["operation"] == "dot" and d and j["failures"] and all(e["expected"][0] == "[" and "0x" in e["got"] for e in d)'
for how in '' '--model fp32 --bound 1e-6' '--model fp32 --exhaustive' '--model fp32 -r sr'; do
    sums "fails 2 takes fuzz" dot $how
done
fails 2 'are for --op dot and gemm' fuzz fp32 --op add --length 4 --against ./operations.so:dot
sums "fails 2 rounding fuzz" dot --bound 1e-6 -r rtz

fails 2 'is none of: convert add sub' fuzz e4m3fn --op power --against ./operations.so:add
fails 2 '2 formats, but fma has 3 operands' fuzz fp16 --op fma --from fp16,e5m2 --against ./operations.so:half_add
fails 1 '--from: formats with scales have no codes' fuzz fp16 --from mxfp4 --against ./operations.so:half_add
fails 2 'too narrow' fuzz fp16 --op fma --from e5m2,e5m2,fp16 --against ./operations.so:half_add --signature u8-to-u16
fails 2 'too narrow' fuzz fp16 --op add --against ./operations.so:half_add --signature u8-to-u16
fails 2 'does not hold every operand' fuzz e4m3fn --op add --from fp64 --against \
    ./operations.so:add --signature f32-to-u8
fails 2 'more than 32' fuzz fp16 --op fma --against ./operations.so:half_add --exhaustive
fails 1 'int(8,scale=0.1)' fuzz 'int(8,scale=0.1)' --op add --against ./operations.so:add

finish
