# SPDX-License-Identifier: BSD-2-Clause
# The same settings give the same bits: twice, with other numbers of threads, and after runs that were killed. Compared
# are the checkpoints of the end, entry by entry, and the logs but for the clock.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fptrain=$FPTRAIN
status=0

complain() {
    echo "$*"
    status=1
}

# Everything that rounds, remembers or draws at random is in it.
cat >"$work/hard.ini" <<'END'
[model]
name = resnet20
width = 0.25
[data]
source = digits
train_count = 300
test_count = 50
crop = 2
flip = yes
[train]
epochs = 3
batch = 32
lr = 0.003
schedule = cosine
threads = 0
[optimizer]
name = adam
decay = 0.001
[scaler]
name = adaptive
interval = 4
[output]
log_every = 1
checkpoint_steps = 4
best = loss
[formats]
v = e4m3fn sr
w = e4m3fn
dv = e5m2 sr
dw = fp16 sr
END
sed -e 's/^name = adaptive/name = backoff/; s/^interval = 4/interval = 3/; s/^name = adam/name = nesterov/' \
    -e '/^\[optimizer\]/a master = no' "$work/hard.ini" >"$work/other.ini"

run() { # DIR CONFIG THREADS [OPTION...]
    local dir=$1 config=$2 threads=$3
    shift 3
    mkdir -p "$work/$dir"
    (cd "$work/$dir" && OMP_NUM_THREADS=$threads "$fptrain" run --config "$work/$config" --out run --quiet "$@")
}

log() {
    log_bits "$work/$1/run/log.jsonl"
}

same() { # A B WHAT
    "$SAME_CHECKPOINT" "$work/$1/run/checkpoint.safetensors" "$work/$2/run/checkpoint.safetensors" || complain "$3: other weights"
    "$SAME_CHECKPOINT" "$work/$1/run/best.safetensors" "$work/$2/run/best.safetensors" || complain "$3: another best"
    [ "$(log "$1")" = "$(log "$2")" ] || complain "$3: another log"
}

# The summary but for speed and times.
summary() {
    summary_bits "$work/$1/run/summary.json"
}

. "$(dirname "$0")/kill.sh"

# The summary has all 22 steps, and the first ones that are skipped, though the log has none of them.
cat >"$work/steps.ini" <<'END'
[model]
name = mlp
width = 0.125
[data]
source = digits
train_count = 88
test_count = 10
[train]
epochs = 2
batch = 8
[scaler]
name = backoff
scale = 16777216
[formats]
dv = e5m2
[output]
log_every = 100
END
run steps steps.ini 1 || complain "steps: exit status $?"
grep -q '"loss"' "$work/steps/run/log.jsonl" && complain "the log has a step"
grep -q '"steps": 22,' "$work/steps/run/summary.json" || complain "the summary has not 22 steps"
grep -q '"skipped": [1-9]' "$work/steps/run/summary.json" || complain "the summary has no skipped steps"

for config in hard other; do
    run "$config" $config.ini 1 || complain "$config: exit status $?"
    [ "$(lines "$config")" -eq 33 ] || complain "$config: $(lines "$config") lines, not 30 steps and 3 epochs"
    run "$config-again" $config.ini 1
    same $config $config-again "$config twice"
    run "$config-threads" $config.ini 3
    same $config $config-threads "$config with 3 threads"
    # resumed when it is over: nothing is done again, and the same is said
    cp -R "$work/$config" "$work/$config-over"
    run $config-over $config.ini 1 --resume || complain "$config: resumed at the end: exit status $?"
    same $config $config-over "$config resumed at the end"
    [ "$(summary $config)" = "$(summary $config-over)" ] || complain "$config resumed at the end: another summary"
    # before the first checkpoint, within an epoch, after one, and killed again while resumed
    for at in 2 7 13 25; do
        kill_at "$config-$at" $at --config "$work/$config.ini"
        [ $at -ne 7 ] || kill_at "$config-$at" 20 --config "$work/$config.ini" --resume
        run "$config-$at" $config.ini 1 --resume || complain "$config: resuming: exit status $?"
        same $config "$config-$at" "$config killed at line $at"
    done
done

# A checkpoint of other settings, and one that is damaged, are refused in one line.
refused() { # WORD COMMAND...
    local word=$1 said
    shift
    said=$("$@" 2>&1)
    [ $? -eq 2 ] || complain "$*: not refused"
    case $said in *"$word"*) ;; *) complain "$*: says '$said'" ;; esac
    [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] || complain "$*: more than a line"
}
refused train.lr run hard hard.ini 1 --resume --lr 0.5
refused formats run hard hard.ini 1 --resume --set formats.dv=e4m3fn
printf 'x' | dd of="$work/hard/run/checkpoint.safetensors" bs=1 seek=3000 conv=notrunc 2>/dev/null
refused checkpoint run hard hard.ini 1 --resume
refused directory run hard hard.ini 1 --resume --set output.directory=
refused nonesuch run hard hard.ini 1 --model nonesuch
refused nonesuch run hard hard.ini 1 --policy nonesuch
refused polynomial run hard hard.ini 1 --schedule polynomial
refused conv99 run hard hard.ini 1 --set 'formats.conv99*=fp16'
refused --frobnicate run hard hard.ini 1 --frobnicate
exit $status
