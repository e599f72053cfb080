# SPDX-License-Identifier: BSD-2-Clause
# fptrain assign, runs under an assignment, and fptrain tradeoff: output, promotion in a run, what is taken up again.
. "$(dirname "$0")/common.sh"

# A number of a summary.
number() {
    sed -n "s/^ *\"$2\": \([-0-9.e+]*\),*$/\1/p" "$work/$1/summary.json"
}

# ---------------------------------------------------------------------------------------------- fptrain assign

# mlp, batch 8, 1 x 28 x 28, 10 classes, by hand: v and dv 6272 fed, 2048 linear1 and relu1, 1024 linear2 and relu2, 80;
# w and dw 200960, 32896, 1290. Groups 2 * (6272 + 200960), 2 * (4096 + 32896), 2 * (2048 + 1290), 160.
mlp="assign --model mlp --shape 1x28x28 --batch 8"
$fptrain $mlp --ratio 0.5 >"$work/table" || complain "assign failed"
awk '$1 ~ /^[0-9]$/ { print $1, $3 }' "$work/table" >"$work/groups"
printf '0 414464\n1 73984\n2 6676\n3 160\n' | cmp -s - "$work/groups" || complain "groups: $(cat "$work/groups")"
# All of group 0 but its dw: 213504 of 495284; 16 bits of each less 8 of these.
grep -q '^low-precision ratio  0.431074$' "$work/table" || complain "ratio: $(tail -2 "$work/table")"
grep -q '^model aggregate      6216512 bits, 0.7845 of all high, 0.3922 of FP32$' "$work/table" ||
    complain "bits: $(tail -1 "$work/table")"
grep -q '^linear1.weight  *w  *0  *200704  fp(4,3,4)$' "$work/table" || complain "no linear1.weight"
grep -q '^linear1.dweight  *dw  *0  *200704  fp(6,9,0)$' "$work/table" || complain "no linear1.dweight"
$fptrain $mlp --ratio 0.5 --json >"$work/json" || complain "assign --json failed"
grep -q '"bits": 6216512.0' "$work/json" && [ "$(grep -c '"low": true' "$work/json")" -eq 4 ] ||
    complain "JSON: $(head -12 "$work/json")"
$fptrain $mlp --policy assign:scheme=op,hi=bf16 --lo-forward e4m3fn | grep -q 'relu1.v .*e4m3fn' || complain "op"

refuses "not in 2..65536" $fptrain $mlp --classes 1
refuses "3x32x32" $fptrain assign --shape 32
refuses "from 0 to 1" $fptrain $mlp --ratio 2
refuses "no scheme" $fptrain $mlp --scheme best
refuses "has 4 groups, not 3" $fptrain $mlp --groups 010
refuses "format" $fptrain $mlp --hi "fp(6"
refuses "unknown option" $fptrain $mlp --nonsense
refuses "a policy is" $fptrain $mlp --policy other

# ---------------------------------------------------------------------------------------------- a run that promotes

# Formats so narrow that activations leave them: largest value 0.9375.
small="--set data.train_count=200 --set data.test_count=50 --model mlp --set train.batch=40 --epochs 2 --quiet"
narrow="hi=fp16,lo-forward=fp(2,3,3),lo-backward=bf16"
$fptrain run $small --policy "assign:uniform,$narrow" --out "$work/on" || complain "run failed"
$fptrain run $small --policy "assign:uniform,$narrow,promote=off" --out "$work/off" || complain "run failed"
[ "$(number on promotions)" != 0.0 ] && [ "$(number off promotions)" = 0.0 ] || complain "promotions"
[ "$(number off low_ratio_first)" = "$(number off low_ratio_mean)" ] || complain "a ratio moved without promotion"
awk "BEGIN { exit !($(number on low_ratio_first) > $(number on low_ratio_mean)) }" || complain "the ratio did not fall"
[ "$(number on promoted_after_step.input.v)" = 1.0 ] || complain "the input was not promoted after the first step"
# Killed in the second epoch, with promotions in its checkpoint, and resumed: the same promotions, weights, mean ratio.
steps="--policy assign:uniform,$narrow --epochs 4 --set train.batch=4"
steps="$steps --set output.log_every=1 --set output.checkpoint_steps=1"
kill_at cut 60 $small $steps
run whole 1 $small $steps || complain "run failed"
run cut 1 $small $steps --resume || complain "resuming failed"
same whole cut resumed
for key in promotions low_ratio_mean promoted_after_step.relu1.v; do
    [ -n "$(number cut/run $key)" ] || complain "no $key"
done
refuses "not the role 'v'" $fptrain run $small --policy assign:uniform --set formats.v=fp16
refuses "no scheme" $fptrain run $small --policy assign:best
refuses "no tensor" $fptrain run $small --policy assign:uniform --set formats.nothing=fp16
$fptrain run $small --policy "assign:uniform,$narrow" --set "formats.*.v=fp32" --out "$work/kept" ||
    complain "run failed"
grep -q "promoted_after_step.[a-z0-9]*.v" "$work/kept/summary.json" && complain "an exception was promoted"

# A recurrent network and one with attention learn a text of one word, half low: from log 4 to less than a half of that.
for i in $(seq 300); do printf 'abcdbadc'; done >"$work/text"
for model in charlstm chargpt; do
    $fptrain run --model $model --set model.width=0.25 --data "text:$work/text" --set data.steps=16 --batch 8 --quiet \
        --epochs 4 --optimizer adam --lr 0.003 --policy assign:ratio=0.5 --scaler backoff --out "$work/$model" ||
        complain "$model failed"
    awk "BEGIN { exit !($(number $model low_ratio_first) >= 0.3 && $(number $model last_loss) < 0.69) }" ||
        complain "$model: ratio $(number $model low_ratio_first), loss $(number $model last_loss)"
done

# ---------------------------------------------------------------------------------------------- fptrain tradeoff

sweep="tradeoff $small --epochs 1 --ratios 0:1:0.5 --seeds 2 --jobs 2 --out $work/new/sweep"
sweep=${sweep/--quiet/}
$fptrain $sweep --plan >"$work/plan" || complain "tradeoff --plan failed"
# fp32, ratios 0, 0.5, 1 with promotion, uniform, op, op+out. Nothing is promoted, so that ratio 1 stands for uniform.
grep -q '^7 assignments, 2 seeds: 14 runs, of which 0 are finished$' "$work/plan" || complain "$(cat "$work/plan")"
long=$($fptrain $sweep --set data.train_count=2000 --epochs 1000000 --plan) || complain "a long plan failed"
grep -Eq ' for a run, at most [0-9.]+ (hours|days) for the 14 that are missing' <<<"$long" || complain "how long: $long"
[ -e "$work/new" ] && complain "a plan runs nothing"
$fptrain $sweep >"$work/said" || complain "tradeoff failed"
[ "$(ls "$work"/new/sweep/*/summary.json | wc -l)" -eq 12 ] || complain "not 12 runs"
[ "$(number new/sweep/ratio-1-promoted-s2 promotions)" = 0.0 ] || complain "ratio 1 promotes"
[ "$(grep -c ' 2$' "$work/new/sweep/table.txt")" -eq 7 ] || complain "$(cat "$work/new/sweep/table.txt")"
[ "$(grep -c '</text>' "$work/new/sweep/tradeoff.svg")" -gt 10 ] || complain "an empty plot"
grep -q 'scaler.name.: .none' "$work/new/sweep/fp32-s1/summary.json" || complain "fp32 has no loss scaling"
grep -q 'scaler.interval.: .5"' "$work/new/sweep/op-s2/summary.json" || complain "an epoch has 5 steps"
# A setting of backoff is for the runs that have it, FP32 has none.
$fptrain ${sweep/new/timed} --schemes fp32,op --set scaler.interval=3 >"$work/said" || complain "scaler.interval"
grep -q 'scaler.interval.: .0"' "$work/timed/sweep/fp32-s1/summary.json" || complain "fp32 has an interval"
grep -q 'scaler.interval.: .3"' "$work/timed/sweep/op-s1/summary.json" || complain "scaler.interval was not taken"

# What is finished stays, what is missing comes again, to the same numbers.
cp "$work/new/sweep/table.txt" "$work/before"
touch -d '1 hour ago' "$work/new/sweep/op-s1/summary.json"
rm -r "$work/new/sweep/op+out-s2"
$fptrain $sweep >"$work/said" || complain "tradeoff failed again"
grep -q '14 runs, of which 13 are finished' "$work/said" || complain "$(head -2 "$work/said")"
[ "$work/new/sweep/op-s1/summary.json" -ot "$work/before" ] || complain "a finished run was repeated"
cmp -s "$work/before" "$work/new/sweep/table.txt" || complain "another table"
refuses "other settings" $fptrain $sweep --lr 0.07
$fptrain $sweep --memory 1 | grep -q '^memory for 1 side by side' || complain "there is no memory for two runs in 1 MB"

# All 16 sets of groups; of the ratios only fp32 is none of them.
$fptrain $sweep --schemes fp32,ratio,uniform --promote off --exhaustive --plan >"$work/plan"
grep -q '^17 assignments' "$work/plan" || complain "$(cat "$work/plan")"
# Of mlp at an eighth of its width all sets; every ratio is told how far from the best it is.
$fptrain $sweep --set model.width=0.125 --schemes fp32,ratio --promote off --exhaustive --seeds 1 --out "$work/all" \
    >"$work/said" || complain "--exhaustive"
[ "$(ls "$work"/all/*/summary.json | wc -l)" -eq 17 ] || complain "not 17 runs"
[ "$(sed '1,/distance$/d' "$work/all/table.txt" | grep -c '^ratio-.* no .* [0-9]*\.[0-9]*$')" -eq 3 ] ||
    complain "distances: $(cat "$work/all/table.txt")"
# Of ratios that give one assignment, as many names as have room.
$fptrain $sweep --schemes ratio --ratios 0:1:0.01 --seeds 1 --out "$work/names" >"$work/said" || complain "many ratios"
grep -qx 'ratio-0\.01\(, ratio-0\.0[2-7]\)*, \.\.\.' "$work/names/table.txt" ||
    complain "names: $(cat "$work/names/table.txt")"
# Of two thresholds each has a directory; without promotion there is nothing to tell apart.
$fptrain $sweep --schemes ratio --thresholds 0.1,0.001 --out "$work/two" --seeds 1 >"$work/said" ||
    complain "thresholds"
[ "$(ls "$work/two" | grep -c 'ratio-\(0.5\|1\)-promoted-0.\(001\|1\)-s1$')" -ge 2 ] && [ -d "$work/two/ratio-0-s1" ] ||
    complain "thresholds: $(ls "$work/two")"
# Where something is promoted, no run stands for another; where nothing is, the one with the lowest threshold for all.
# $1: directories there shall be; then options.
directories() {
    wanted=$1
    shift
    rm -rf "$work/stand"
    $fptrain $sweep --schemes uniform --seeds 1 --promote both --thresholds 0.1,0.01 --jobs 1 \
        --out "$work/stand" "$@" >"$work/said" || complain "stand-ins"
    [ "$(echo $(ls "$work/stand" | grep 's1$'))" = "$wanted" ] || complain "$*: $(ls "$work/stand")"
    [ "$(grep -c ' 1$' "$work/stand/table.txt")" -eq 3 ] || complain "$*: $(cat "$work/stand/table.txt")"
}
directories "uniform-promoted-0.01-s1" --policy "assign:lo-forward=bf16"
directories "uniform-promoted-0.01-s1 uniform-promoted-0.1-s1 uniform-s1" --policy "assign:$narrow"

# A ratio chosen on the first half of the data, and trained with on the second.
$fptrain $sweep --schemes ratio --parts 2 --drop 100 --seeds 1 --out "$work/in/half" >"$work/said" || complain "--parts"
[ "$(echo $(ls "$work/in/half/part-2" | grep 's1$'))" = "fp32-s1 ratio-1-promoted-s1" ] ||
    complain "$(cat "$work/said")"
grep -q '^part = 2/2$' "$work/in/half/part-2/fp32-s1/settings.ini" || complain "not the second part"
[ "$(grep -c '^ *[12]  .* 0.60[0-9]*$' "$work/in/half/parts.txt")" -eq 2 ] ||
    complain "$(cat "$work/in/half/parts.txt")"
refuses "at least 2" $fptrain $sweep --parts 1
refuses "no part K/N" $fptrain run $small --set data.part=3/2

# Without a master copy the rounding after the update tells what to promote: biases, which begin at zero. All 25088 weights
# of the first layer are counted once.
$fptrain run --quiet --model mlp --set model.width=0.125 --data digits --set data.train_count=200 --batch 20 --lr 1 \
    --set data.test_count=50 --epochs 3 --set optimizer.master=no --set output.log_every=1 --out "$work/bare" \
    --policy "assign:ratio=1,lo-forward=fp(3,2,6),hi=fp32,lo-backward=fp32,threshold=0.05" || complain "no master copy"
[ "$(grep -c 'promoted_after_step.linear[123].bias' "$work/bare/summary.json")" -eq 3 ] ||
    complain "no master copy: $(grep promoted "$work/bare/summary.json")"
grep -q '\[25088,' "$work/bare/log.jsonl" && ! grep -q '\[50176,' "$work/bare/log.jsonl" ||
    complain "no master copy: counted otherwise"

refuses "at most 8 groups" $fptrain tradeoff --model resnet20 --exhaustive --out "$work/none" \
    --set data.train_count=10 --set data.test_count=10
refuses "out DIR is missing" $fptrain tradeoff --model mlp
refuses "FROM:TO:STEP" $fptrain $sweep --ratios 0:2:0.1
refuses "FROM:TO:STEP" $fptrain $sweep --ratios ' 0: 1: 0.5'
exit $status
