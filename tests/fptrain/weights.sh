# SPDX-License-Identifier: BSD-2-Clause
# Weights out of runs and into others, checkpoints tested under many formats, the best one kept, more epochs.
. "$(dirname "$0")/common.sh"
cd "$work" || exit 1
export OMP_NUM_THREADS=1

small="--model mlp --set model.width=0.1 --data digits --set data.train_count=200 --set data.test_count=100 --quiet"
still="$small --epochs 1 --lr 0 --seed 9"

# ------------------------------------------------------------------------------------------------ out and in
"$fptrain" run $small --epochs 1 --out a || complain "run: $?"
"$fptrain" export a -o a.safetensors || complain "export: $?"
for from in a a/checkpoint.safetensors a.safetensors; do
    "$fptrain" run $still --init-from $from --force --out b || complain "--init-from $from: $?"
    "$fptrain" export b -o b.safetensors
    cmp -s a.safetensors b.safetensors || complain "--init-from $from: other weights"
done
"$fptrain" run $still --force --out b && "$fptrain" export b -o b.safetensors
cmp -s a.safetensors b.safetensors && complain "another seed, the same weights"
# --resume does not take the weights again, nor need them
"$fptrain" run $small --epochs 1 --init-from a.safetensors --out c
cp c/checkpoint.safetensors c.before && mv a.safetensors d.safetensors
"$fptrain" run $small --epochs 1 --init-from a.safetensors --resume --out c ||
    complain "--resume without the first weights"
"$SAME_CHECKPOINT" c/checkpoint.safetensors c.before || complain "--resume: other weights"
mv d.safetensors a.safetensors
# packed parameters start as the nearest, or stochastically rounded, values; here they hold the weights
"$fptrain" run $still --init-from a.safetensors --set optimizer.store=packed --set optimizer.weights=bf16 \
    --set optimizer.storing=nearest --out p && "$fptrain" export p -o p.safetensors || complain "packed: $?"
"$fptrain" run $still --init-from p --set formats.w=bf16 --set optimizer.master=no --out q &&
    "$fptrain" export q -o q.safetensors || complain "out of packed: $?"
cmp -s p.safetensors q.safetensors || complain "packed: other weights come out than went in"
cmp -s p.safetensors a.safetensors && complain "bf16 has not rounded"

# Codes with scales elsewhere are no weights
header='{"l.weight":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},'
header=$header'"l.weight_scale":{"dtype":"F32","shape":[],"data_offsets":[2,6]}}'
{ printf "\\$(printf %o ${#header})\0\0\0\0\0\0\0%s" "$header"; printf '880000'; } >coded.safetensors
refuses "'l.weight' are codes with scales in 'l.weight_scale'" "$fptrain" export coded.safetensors -o x.safetensors
refuses "'fpemu quantize fp32 --as-numbers'" "$fptrain" run $still --init-from coded.safetensors \
    --set 'init.partial=*' --out x

# ------------------------------------------------------------------------------------------------ what does not fit
LC_ALL=C sed '1s/linear3/linear4/g' a.safetensors >four.safetensors # in the header
refuses "the network has no tensor 'linear4.weight', 'linear4.bias'" "$fptrain" run $still --init-from four.safetensors
refuses "no tensor of this network is called 'conv1.*'" \
    "$fptrain" run $still --init-from a --set 'init.partial=conv1.*'
refuses "tensor 'linear1.weight' is 26x784, but linear1.weight of the network is 51x784" \
    "$fptrain" run $still --set model.width=0.2 --init-from a
twin="--model resnet20 --set model.width=0.25 --data digits --set data.train_count=32 --set data.test_count=10 --quiet"
"$fptrain" run $twin --epochs 1 --out twin || complain "resnet20: $?"
refuses "goes with init.from" "$fptrain" run $still --set init.partial=linear1.weight
refuses "none.safetensors: No such file" "$fptrain" run $still --init-from none.safetensors
refuses "no safetensors" "$fptrain" run $still --init-from a/settings.ini
cp a/checkpoint.safetensors bad.safetensors
printf 'x' | dd of=bad.safetensors bs=1 seek=9000 conv=notrunc 2>/dev/null
refuses "damaged (checksum)" "$fptrain" run $still --init-from bad.safetensors
refuses "damaged (checksum)" "$fptrain" export bad.safetensors -o x.safetensors
refuses "belongs to a run" "$fptrain" export a -o a/checkpoint.safetensors
ln -s a/checkpoint.safetensors link.safetensors
refuses "belongs to a run" "$fptrain" export a -o link.safetensors
for command in 'export twin.safetensors -o' 'eval twin.safetensors --plot'; do
    cp twin/checkpoint.safetensors twin.safetensors
    refuses "would replace what is read: './twin.safetensors'" "$fptrain" $command ./twin.safetensors
    cmp -s twin/checkpoint.safetensors twin.safetensors || complain "$command: the checkpoint is another"
done
echo 'linear classes' >own.net
refuses "would replace what is read: 'own.net'" "$fptrain" eval twin --model own.net --plot own.net

# ------------------------------------------------------------------------------------------------ eval
field() { # KEY: of the last line of an epoch on standard input
    sed -n "/test_loss/s/.*\"$1\":\([^,}]*\).*/\1/p" | tail -n 1
}

# What the run said of itself at its end, to the last bit.
agrees() { # DIR
    local line own fp32
    own=$("$fptrain" eval "$1" --csv --formats own) || complain "eval $1: $?"
    fp32=$("$fptrain" eval "$1" --csv --formats fp32)
    line=$(field test_loss <"$1/log.jsonl"),$(field test_accuracy <"$1/log.jsonl")
    [ "$(awk -F, 'NR == 2 { printf "%.14g %.14g", $(NF-1), $NF }' <<<"$own")" = \
        "$(awk -F, '{ printf "%.14g %.14g", $1, $2 }' <<<"$line")" ] ||
        complain "$1: own is '$own', the run said '$line'"
    [ "$(awk -F, 'NR == 2 { printf "%.14g", $NF }' <<<"$fp32")" = \
        "$(awk '{ printf "%.14g", $1 }' <<<"$(field test_accuracy_fp32 <"$1/log.jsonl")")" ] ||
        complain "$1: fp32 is '$fp32'"
}
trains() { # DIR OPTION...
    local dir=$1
    shift
    "$fptrain" run $net "$@" --out "$dir" || complain "$dir: exit status $?"
    agrees "$dir"
}
agrees a
net="--model lenet --data digits --set data.train_count=200 --set data.test_count=100 --quiet --epochs 2"
trains sr --set formats.w=e2m1 --set 'formats.v=e3m2 sr' --set 'formats.conv1.*=fp16'
trains bare --set formats.w=e4m3fn --set optimizer.master=no
trains packed --set optimizer.store=packed --set train.micro_batches=2 --set formats.v=e5m2 --lr 0.01
trains tuned --optimizer adam --set optimizer.epsilon=1e-5 --scaler backoff --set scaler.scale=64 --lr 0.001
trains tuned-packed --set optimizer.store=packed --set optimizer.storing=nearest --set optimizer.momentum=0.8 --lr 0.01
trains packed-sr --set optimizer.store=packed --set 'formats.w=e5m2 sr' --batch 40 --lr 0.01
trains assign --policy assign:ratio=0.5
trains muppet --policy muppet:levels=8/12,epoch-steps=2,tail=40,switch=0/1
"$fptrain" eval a --csv --formats 'w=scaled(int4),v=fp16' --formats 'mx(e2m1,block=16)' --plot rows.svg >rows.csv ||
    complain "eval: $?"
[ "$(cut -d'"' -f2 rows.csv | tail -n +2 | tr '\n' ' ')" = 'w=scaled(int4),v=fp16 mx(e2m1,block=16) ' ] ||
    complain "rows: $(cat rows.csv)"
grep -c '<rect class="m"' rows.svg | grep -qx 2 || complain "the plot has not 2 bars"
# What a format takes away is told with its share: weights up to 1/2 that int8 rounds to zero, of tensors that lose nine of
# ten, and inputs, most of them negative; what is right is silent.
"$fptrain" export a -o a.safetensors
"$fptrain" eval a --formats w=int8 >table 2>err || complain "eval of lost weights: $?"
if python3 -c 'import json' 2>/dev/null; then
    python3 - a.safetensors >expected <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size, = struct.unpack("<Q", data[:8])
lost = of = 0
for name, t in json.loads(data[8:8 + size]).items():
    if name != "__metadata__":
        x = memoryview(data[8 + size:])[t["data_offsets"][0]:t["data_offsets"][1]].cast("f")
        zero = sum(0 < abs(v) <= 0.5 for v in x)
        lost, of = (lost + zero, of + len(x)) if zero and zero >= 0.9 * len(x) else (lost, of)
print(f"fptrain: eval: w=int8: {lost} of {of} elements of 'linear1.weight' and its like became zero; scaled(FORMAT), as "
      "scaled(int8), has a scale for each tensor")
END
    cmp expected err || complain "lost weights: $(cat err)"
fi
"$fptrain" eval a --formats v=uint8 >table 2>err || complain "eval of lost values: $?"
grep -Eq "v=uint8: [1-9][0-9]* of [1-9][0-9]* elements of 'input.v' .* clipped, by a format without values below zero$" err ||
    complain "negative inputs: $(cat err)"
"$fptrain" eval a --formats 'scaled(int8)' --formats v=q4_1 --formats own >table 2>err && [ ! -s err ] ||
    complain "nothing is lost: $(cat err)"
"$fptrain" eval a --json --formats e4m3fn | grep -q '"formats": "e4m3fn"' || complain "eval --json"
refuses "no gradients" "$fptrain" eval a --formats dv=e5m2
refuses "character" "$fptrain" eval a --formats w=e9
refuses "no tensor of this network" "$fptrain" eval a --formats 'conv7.*=fp16'
refuses "one CHECKPOINT" "$fptrain" eval
refuses "51x784" "$fptrain" eval a --set model.width=0.2
[ "$("$fptrain" eval a.safetensors ${small% --quiet} --csv --formats fp32)" = \
    "$("$fptrain" eval a --csv --formats fp32)" ] ||
    complain "eval of exported weights"
refuses "nothing of its model: --model" "$fptrain" eval a.safetensors --data digits
refuses "nothing of its data: --data" "$fptrain" eval a.safetensors --model mlp
refuses "all of them" "$fptrain" eval a --set 'init.partial=linear3.*'
# A network gets what it was trained with: inputs less the same mean, the same classes in the same order.
for option in data.train_count=50 data.limit=60 data.part=2/2; do
    [ "$("$fptrain" eval a --csv --set $option)" = "$("$fptrain" eval a --csv)" ] ||
        complain "eval --set $option: other numbers are subtracted than in the run"
done
refuses "'mean 0' now" "$fptrain" eval a --set data.normalise=none
refuses "'shape 1 30 30' now" "$fptrain" eval a --set data.pad=30
for i in $(seq 60); do printf 'the cat sat, mat %d\n' $((i % 7)); done >words.txt
tr ac qx <words.txt >others.txt
"$fptrain" run --model charlstm --set model.width=0.1 --data text:words.txt --set data.steps=8 --epochs 1 --quiet \
    --out words || complain "run of a text: $?"
head -n 30 words.txt >fewer.txt
"$fptrain" eval words --data text:fewer.txt >/dev/null || complain "eval with another text of the same characters: $?"
refuses "the data are others than those of the checkpoint: 'symbols" "$fptrain" eval words --data text:others.txt

# ------------------------------------------------------------------------------------------ the best, and more epochs
mkdir long short
long="$small --set output.best=accuracy --set output.log_every=1 --out run"
(cd long && "$fptrain" run $long --epochs 6) || complain "6 epochs: $?"
(cd short && "$fptrain" run $long --epochs 2 && "$fptrain" run $long --epochs 6 --resume) ||
    complain "2 epochs, then 6: $?"
same long short "2 epochs, then 6"
grep -q '"steps": 24,' short/run/summary.json || complain "the summary is that of 2 epochs"
best=$(sed -n 's/.*"best_accuracy": \([^,]*\),.*/\1/p' long/run/summary.json)
[ "$("$fptrain" eval long/run/best.safetensors --csv --formats own | awk -F, 'NR == 2 { printf "%.9g", $NF }')" = \
    "$(awk '{ printf "%.9g", $1 }' <<<"$best")" ] || complain "best.safetensors is not that of accuracy $best"
refuses "train.epochs = 6, not 5" sh -c "cd long && $fptrain run $long --epochs 5 --resume"
mkdir cosine
(cd cosine && "$fptrain" run $long --epochs 2 --schedule cosine)
refuses "other learning rates" sh -c "cd cosine && $fptrain run $long --epochs 4 --schedule cosine --resume"

# A finished run has the weights of its end, whichever epochs have checkpoints, and goes on from them.
export_of() { # DIR
    "$fptrain" export "$1" -o "$1.safetensors" || complain "export of $1: $?"
}
"$fptrain" run $small --epochs 5 --out each || complain "5 epochs: $?"
"$fptrain" run $small --epochs 5 --out two --set output.checkpoint_every=2 || complain "5 epochs, a checkpoint in 2: $?"
"$fptrain" run $small --epochs 5 --out seven --set output.checkpoint_every=7 || complain "5 epochs, one in 7: $?"
"$fptrain" run $small --epochs 5 --out none --set output.checkpoint_every=0 || complain "5 epochs, none: $?"
[ ! -e none/checkpoint.safetensors ] || complain "a checkpoint with output.checkpoint_every = 0"
cp two/checkpoint.safetensors kept
"$fptrain" run $small --epochs 5 --out two --set output.checkpoint_every=2 --resume || complain "nothing to do: $?"
cmp kept two/checkpoint.safetensors || complain "a finished run that does nothing has another checkpoint"
for run in each two seven; do export_of $run; done
cmp each.safetensors two.safetensors || complain "5 epochs, a checkpoint in 2: the weights are not of the end"
cmp each.safetensors seven.safetensors || complain "5 epochs, a checkpoint in 7: the weights are not of the end"
"$fptrain" run $small --epochs 8 --out all || complain "8 epochs: $?"
for run in two seven; do
    "$fptrain" run $small --epochs 8 --out $run --resume || complain "$run: 5 epochs, then 8: $?"
    "$SAME_CHECKPOINT" all/checkpoint.safetensors $run/checkpoint.safetensors >differs ||
        grep -q settings differs || complain "$run: 5 epochs, then 8: other weights: $(cat differs)"
done
exit $status
