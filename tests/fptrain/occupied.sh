# SPDX-License-Identifier: BSD-2-Clause
# What a run left behind is never replaced unasked: fptrain run and tradeoff; --force leaves nothing of the old
# run to go on from. Experiments are found by their names.
. "$(dirname "$0")/common.sh"
experiments=$(cd "$here/../../share/fptrain/experiments" && pwd) || exit 1
cd "$work" || exit 1

sums() {
    find . -type f ! -name out ! -name err -exec cksum {} + | sort -k 3
}

# refuses TEXT COMMAND...: status 2, one line that holds TEXT, and the files of the directory are as they were.
refuses() {
    before=$(sums)
    ends 2 "$@"
    shift
    [ "$(sums)" = "$before" ] || complain "$*: files have changed"
}

small="--set data.train_count=80 --set data.test_count=20 --model mlp --set model.width=0.125 --batch 16 --quiet"
"$fptrain" run $small --epochs 2 --out a || complain "a run: $?"
for option in --resume --force --out; do
    refuses "$option" "$fptrain" run $small --epochs 2 --out a
done
refuses "a/ holds a run already" "$fptrain" run $small --epochs 1 --seed 2 --out a/
refuses "one of them" "$fptrain" run $small --resume --force --out a
refuses "train.seed = 1, not 2" "$fptrain" run $small --epochs 2 --seed 2 --resume --out a
# Any one of its files is enough.
for file in checkpoint.safetensors log.jsonl settings.ini summary.json; do
    mkdir only-$file && cp a/$file only-$file
    refuses "holds a run already" "$fptrain" run $small --epochs 2 --out only-$file
done
# Without a checkpoint: what is finished is not lost, what is not begins again if it is the same run.
cp -R a b && rm b/checkpoint.safetensors
refuses "finished, and no checkpoint" "$fptrain" run $small --epochs 2 --resume --out b
rm b/summary.json
refuses "train.seed = 1, not 2" "$fptrain" run $small --epochs 2 --seed 2 --resume --out b
refuses "other formats" "$fptrain" run $small --epochs 2 --set formats.v=bf16 --resume --out b
mv a/checkpoint.safetensors first && rm a/summary.json
"$fptrain" run $small --epochs 2 --resume --out a || complain "begins again: $?"
"$SAME_CHECKPOINT" a/checkpoint.safetensors first || complain "begun again, another checkpoint"
# Settings that are left out are those of the run, those that are given agree or may change.
cp -R a longer && "$fptrain" run --resume --epochs 3 --quiet --out longer || complain "by the settings of the run: $?"
"$fptrain" run $small --epochs 3 --out three || complain "three epochs at once: $?"
"$fptrain" export longer -o longer.safetensors && "$fptrain" export three -o three.safetensors
cmp longer.safetensors three.safetensors || complain "gone on, other weights"
"$fptrain" run --resume --set output.log_every=3 --set train.threads=1 --quiet --out longer || complain "at the end: $?"
grep -q '^log_every = 3' longer/settings.ini || complain "a setting that may change"
refuses "train.epochs = 3, not 2; --resume takes settings that are left out from there" "$fptrain" run --resume --epochs 2 \
    --out longer
refuses "train.batch = 16, not 8; --resume" "$fptrain" run --resume --batch 8 --out longer
refuses "other formats" "$fptrain" run --resume --set formats.v=bf16 --out longer
refuses "options expected, not 'longer'; the directory of a run: --out longer" "$fptrain" run --resume longer
printf 'linear 8, relu, linear classes\n' >own.net
"$fptrain" run --set data.train_count=80 --set data.test_count=20 --quiet --model own.net --epochs 1 --out own || complain "a network of its own: $?"
mv own.net gone.net
"$fptrain" run --resume --epochs 2 --quiet --out own || complain "its network is in the settings: $?"
rm -r longer* three* own
# --force: a shorter run without checkpoints leaves nothing of the longer one; what is no file of a run stays. A wrong
# option loses nothing.
cp -R a c && echo mine >c/notes.txt
refuses "nonesuch" "$fptrain" run $small --model nonesuch --force --out c
"$fptrain" run $small --epochs 1 --seed 2 --set output.checkpoint_every=0 --force --out c || complain "--force: $?"
[ ! -e c/checkpoint.safetensors ] || complain "--force left a checkpoint"
grep -q '"train.seed": "2"' c/summary.json || complain "--force: the summary is not of the new run"
[ "$(grep -c test_loss c/log.jsonl)" -eq 1 ] || complain "--force: lines of the old log"
grep -q mine c/notes.txt || complain "--force: a file that is no run's"
refuses "finished, and no checkpoint" "$fptrain" run $small --epochs 1 --seed 2 --set output.checkpoint_every=0 \
    --resume --out c
# Nor does a run replace what it starts from, by whichever name.
cp -R a from && ln -s from/checkpoint.safetensors weights.safetensors
for start in from from/ ./from/checkpoint.safetensors weights.safetensors; do
    refuses "--out would replace what is read: 'from/checkpoint.safetensors'" "$fptrain" run $small --epochs 1 \
        --init-from $start --force --out from
done
cp -R from other && "$fptrain" run $small --epochs 1 --init-from from --force --out other || complain "from another: $?"
"$fptrain" run $small --epochs 2 --init-from from --resume --out other || complain "goes on: $?"
# Other outputs take no name of a run that stands there, or may yet: this one has no best.safetensors.
ln -s a/best.safetensors dangling
for output in a/best.safetensors dangling; do
    refuses "$output belongs to a run" "$fptrain" report a --csv $output
    refuses "$output belongs to a run" "$fptrain" export a -o $output
    refuses "$output belongs to a run" "$fptrain" data --npz $output
done
refuses "best.safetensors belongs to a run" sh -c "cd a && exec '$fptrain' report . --csv best.safetensors"
"$fptrain" export a -o best.safetensors || complain "a name of a run where none stands: $?"
rm best.safetensors dangling
# A directory that is there but holds no run is taken, and so is none at all.
mkdir empty && echo mine >empty/notes.txt
"$fptrain" run $small --epochs 1 --out empty || complain "an empty directory: $?"
"$fptrain" run $small --epochs 1 --out empty/deep/er || complain "a new directory: $?"
refuses "/dev/null/at: Not a directory" "$fptrain" run $small --out /dev/null/at/all

for output in --tables --plots --csv; do
    refuses "the name of the output is empty" "$fptrain" report a $output ''
done
refuses "the name of a file to read is empty" "$fptrain" export '' -o weights

# fptrain tradeoff goes on with its own runs, and starts none where one is of other settings, finished or not.
sweep="tradeoff ${small% --quiet} --epochs 1 --ratios 0:1:1 --seeds 1 --schemes fp32,ratio --promote off --out sweep"
"$fptrain" $sweep >out 2>err || complain "a sweep: $(cat err)"
"$fptrain" $sweep >out 2>err || complain "the sweep once more: $(cat err)"
refuses "other settings" "$fptrain" $sweep --lr 0.5
find sweep -name summary.json -exec rm {} +
refuses "choose another --out" "$fptrain" $sweep --lr 0.5
find sweep -name checkpoint.safetensors -exec rm {} +
refuses "choose another --out" "$fptrain" $sweep --lr 0.5

# Experiments by name, beside the program; a file of the same name comes first.
"$fptrain" run --list >list || complain "--list: $?"
[ "$(awk '{ print $1 }' list)" = "$(cd "$experiments" && ls *.ini | sed 's/\.ini$//')" ] || complain "list: $(cat list)"
grep -q '^mnist-lenet  *LeNet on MNIST$' list || complain "what they are: $(cat list)"
[ "$(awk 'length > 100' list | wc -l)" -eq 0 ] || complain "lines longer than a terminal"
for name in fp8 fp8.ini; do
    "$fptrain" run --config $name $small --epochs 1 --force --out named || complain "--config $name: $?"
    grep -q '^dv = e5m2' named/settings.ini || complain "--config $name: $(cat named/settings.ini)"
done
printf '[formats]\ndv = bf16\n' >fp8
"$fptrain" run --config fp8 $small --epochs 1 --force --out named || complain "a file fp8: $?"
grep -q '^dv = bf16' named/settings.ini || complain "a file comes first"
refuses "no experiment of that name (did you mean 'mnist-lenet'?)" "$fptrain" run --config mnist-lent
refuses "./fp8.ini: No such file" "$fptrain" run --config ./fp8.ini

# Did you mean, and nothing that drives a terminal
refuses "unknown command 'rnu' (did you mean 'run'?)" "$fptrain" rnu
refuses "unknown option '--resme' (did you mean '--resume'?)" "$fptrain" run --resme
refuses "option '--ratio' needs a value" "$fptrain" assign --ratio
refuses "no key 'epoch' (did you mean 'epochs'?)" "$fptrain" run --set train.epoch=3
refuses "'train_limit' (did you mean 'limit' or 'test_limit'?)" "$fptrain" run --set data.train_limit=256
refuses "no section [modle] (did you mean 'model'?)" "$fptrain" run --set modle.name=mlp
refuses "no model is called 'lenet5' (did you mean 'lenet'?)" "$fptrain" run --model lenet5
refuses "format 'fp8', character 1: found 'fp8', did you mean e4m3fn or e5m2" "$fptrain" run --set formats.v=fp8
refuses "format 'fp8', character 1" "$fptrain" report a --tables t --oracle fp8
refuses "character 1 of the model" "$fptrain" run $small --set train.backend=emulated:seqx
refuses "unknown command 'a?[31m'" "$fptrain" "$(printf 'a\033[31m')"
"$fptrain" help run >out && "$fptrain" run --help | cmp -s - out || complain "help run"
exit $status
