# SPDX-License-Identifier: BSD-2-Clause
# Runs under MuPPET, with packed parameters, and with all that goes by steps (rates, clipping): the same bits with other numbers of threads and after runs that were
# killed, and what their records say.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fptrain=$FPTRAIN
status=0

complain() {
    echo "$*"
    status=1
}

# 60 steps; switches after policy epochs of two steps, by diversity, and sums outside of 32 bits at 16 bits, which are
# the lines 38 to 59 of the log.
cat >"$work/muppet.ini" <<'END'
[model]
name = lenet
[data]
source = digits
train_count = 240
test_count = 40
crop = 2
[train]
epochs = 4
batch = 16
lr = 0.02
threads = 0
backend = exact
[policy]
name = muppet:levels=8/12/16,epoch-steps=2,r=2,gamma=2,beta=0.1,tail=9
[optimizer]
decay = 0.001
[output]
log_every = 1
checkpoint_steps = 3
END
# 96 steps of two micro-batches, the last of an epoch of one.
cat >"$work/momentum.ini" <<'END'
[model]
name = mlp
width = 0.25
[data]
source = digits
train_count = 232
test_count = 40
crop = 2
[train]
epochs = 12
batch = 16
micro_batches = 2
lr = 0.01
threads = 0
[optimizer]
store = packed
decay = 0.001
weights = group(int8,256)
gradients = group(int8,256)
momenta = codebook(dynamic8,256)
squares = codebook(udynamic8,256)
[output]
log_every = 1
checkpoint_steps = 3
[formats]
v = e4m3fn
dv = e5m2 sr
END
sed 's/^\[optimizer\]/&\nname = adam/; s/^lr = .*/lr = 0.001/' "$work/momentum.ini" >"$work/adam.ini"

# 66 steps, 40 of them for warming up.
cat >"$work/warm.ini" <<'END'
[model]
name = mlp
width = 0.25
[data]
source = digits
train_count = 176
test_count = 40
[train]
epochs = 6
batch = 16
lr = 0.004
threads = 0
schedule = linear
schedule_by = step
warmup_steps = 40
warmup_start = 0.0001
label_smoothing = 0.1
[optimizer]
name = adamw
decay = 0.01
no_decay = *.bias
clipping = adaptive
clip = 0.7
no_clip = linear3.*
[scaler]
name = backoff
interval = 5
[output]
log_every = 1
checkpoint_steps = 3
[formats]
v = e4m3fn sr
dv = e5m2
END

run() { # DIR CONFIG THREADS [OPTION...]
    local dir=$1 config=$2 threads=$3
    shift 3
    mkdir -p "$work/$dir"
    (cd "$work/$dir" && OMP_NUM_THREADS=$threads "$fptrain" run --config "$work/$config" --out run --quiet "$@")
}

log() {
    log_bits "$work/$1/run/log.jsonl"
}

# The notes of a summary but for speed and times.
notes() {
    sed -n '/"notes"/,/}/p' "$work/$1/run/summary.json" | grep -v 'images_per_second\|_seconds"'
}

note() {
    notes "$1" | sed -n "s/^ *\"$2\": \([-0-9.e+]*\),*$/\1/p"
}

same() { # A B WHAT
    "$SAME_CHECKPOINT" "$work/$1/run/checkpoint.safetensors" "$work/$2/run/checkpoint.safetensors" || complain "$3: another state"
    [ "$(log "$1")" = "$(log "$2")" ] || complain "$3: another log"
    [ "$(notes "$1")" = "$(notes "$2")" ] || complain "$3: other notes"
}

. "$(dirname "$0")/kill.sh"

for config in muppet momentum adam warm; do
    run $config $config.ini 1 || complain "$config: exit status $?"
    for threads in 2 3; do
        run $config-threads-$threads $config.ini $threads || complain "$config, $threads threads: exit status $?"
        same $config $config-threads-$threads "$config with $threads threads"
    done
    # before the first checkpoint, within an epoch, after some, and killed again while resumed; warm: amid its warm-up
    case $config in muppet) moments='2 20 56' ;; warm) moments=20 ;; *) moments='2 20 33' ;; esac
    for at in $moments; do
        kill_at $config-$at $at --config "$work/$config.ini"
        [ $at -ne 20 ] || kill_at $config-$at 28 --config "$work/$config.ini" --resume
        run $config-$at $config.ini $((1 + at % 3)) --resume || complain "$config: resuming: exit status $?"
        same $config $config-$at "$config killed at line $at"
    done
done

# Switches before and after those moments; sums that only a checkpoint can have kept.
[ "$(lines muppet)" -eq 94 ] || complain "$(lines muppet) lines, not 60 steps, 4 epochs and 30 policy epochs"
switched=$(log muppet | grep -n '"switched":true' | cut -d: -f1 | tr '\n' ' ')
set -- $switched
[ $# -eq 3 ] && [ "$1" -lt 20 ] && [ "$3" -gt 56 ] || complain "switches at the lines $switched"
outside=$(note muppet sums_outside_32_bits)
[ "${outside:-0.0}" != 0.0 ] || complain "no sums outside of 32 bits"
# Rates of before and after the moments of the kills; clipping in some steps, told by each.
log warm | sed -n 's/.*"lr":\([-0-9.e]*\),.*/\1/p' >"$work/rates"
awk 'function near(x, y) { return x - y < 1e-12 && y - x < 1e-12 }
     NR <= 40 { want = 0.0001 + 0.0039 * (NR - 1) / 40 } NR > 40 { want = 0.004 * (1 - (NR - 41) / 26) }
     !near($1, want) { print NR ": " $1 ", not " want; bad = 1 } END { exit bad || NR != 66 }' "$work/rates" ||
    complain 'the rates of the warm-up'
clipped=$(note warm steps_clipped)
case $clipped in 0.0 | 1.0 | '') complain "a share of $clipped of the steps clipped" ;; esac
parts=$(log warm | grep -o '"clipping":{"largest":[0-9.e-]*,"parts":[0-9]*' | sed 's/.*://' | sort -u)
[ "$parts" = $((64 + 1 + 32 + 1)) ] || complain "$parts rows are compared, not 98"
# A policy epoch is two steps, and the one with which the tail begins the third: six steps at each rate, and the last one
# until the epoch of the data, of 15 steps, is over.
run tail muppet.ini 1 --policy muppet:levels=8,switch=1,epoch-steps=2,tail=9 || complain "tail: exit status $?"
kill_at tail-40 40 --config "$work/muppet.ini" --policy muppet:levels=8,switch=1,epoch-steps=2,tail=9
run tail-40 muppet.ini 1 --policy muppet:levels=8,switch=1,epoch-steps=2,tail=9 --resume || complain "tail: resuming"
same tail tail-40 "a run killed after its tail, amid an epoch"
log tail | sed -n 's/.*"lr":\([-0-9.e]*\),.*/\1/p' >"$work/rates"
awk '{ want = NR <= 10 ? 0.02 : NR <= 16 ? 0.002 : 0.0002 }
     $1 / want > 1.001 || $1 / want < 0.999 { print NR ": " $1 ", not " want; bad = 1 }
     END { exit bad || NR != 30 }' "$work/rates" || complain 'the rates of the tail'
grep -q '"bits":32' "$work/muppet/run/log.jsonl" || complain "no policy epoch in FP32"
[ "$(lines momentum)" -eq 108 ] || complain "$(lines momentum) lines, not 96 steps and 12 epochs"

# A checkpoint of other settings of these methods, and settings that do not go together, are refused in one line.
refused() { # WORD COMMAND...
    local word=$1 said
    shift
    said=$("$@" 2>&1)
    [ $? -eq 2 ] || complain "$*: not refused"
    case $said in *"$word"*) ;; *) complain "$*: says '$said'" ;; esac
    [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] || complain "$*: more than a line"
}
refused policy.name run muppet muppet.ini 1 --resume --policy muppet
refused optimizer.weights run momentum momentum.ini 1 --resume --set 'optimizer.weights=group(int12,256)'
refused micro-batches run other momentum.ini 1 --set optimizer.store=fp32
refused "no setting 'speed'" run other muppet.ini 1 --policy muppet:speed=1
refused "sets the learning rate itself" run other muppet.ini 1 --set train.warmup_steps=4
refused "sets the learning rate itself" run other muppet.ini 1 --set train.schedule_by=step
refused "not both" run other warm.ini 1 --set train.warmup=1
for setting in sgd:momentum=0.5 momentum:beta2=0.9 sgd:epsilon=1e-6 nesterov:beta2=0.99; do
    refused "${setting%%:*} has no use for optimizer.$(echo ${setting#*:} | sed 's/=.*//')" run other warm.ini 1 \
        --optimizer "${setting%%:*}" --set "optimizer.${setting#*:}" --set optimizer.clip=0
done
for setting in storing=nearest weights=bf16 gradients=bf16 momenta=bf16 squares=bf16; do
    refused "optimizer.${setting%=*} is for optimizer.store = packed" run other warm.ini 1 --set "optimizer.$setting"
done
# A method of loss scaling takes the settings that ALGORITHMS.md gives it, and without a method there are none.
for setting in none:scale=1024 none:interval=5 none:underflow_target=0.5 none:fan=yes none:beta_cap=2 none:alpha_cap=2 \
    fixed:interval=5 fixed:fan=yes backoff:underflow_target=0.5 logmax:scale=1024 logmax:interval=5 \
    adaptive:scale=1024; do
    key=${setting#*:}
    fixed=
    [ "${setting%%:*}" != fixed ] || fixed="--set scaler.scale=2"
    refused "scaler.${key%=*} is for scaler.name = " run other momentum.ini 1 --scaler "${setting%%:*}" $fixed \
        --set "scaler.$key"
done
for setting in histograms dispersion; do
    refused "output.$setting goes with output.counters = yes" run other momentum.ini 1 --set output.counters=no \
        --set output.$setting=yes
done
refused "its threshold" run other warm.ini 1 --set optimizer.clip=0
refused "called 'conv1.*'" run other warm.ini 1 --set 'optimizer.no_decay=*.bias,conv1.*'
refused exact:wrap run other muppet.ini 1 --set train.backend=exact:wrap
echo 'conv 4 1 pad=1, global_pool, linear classes' >"$work/padded.net"
refused "a padding of 1 with a kernel of 1 is not supported" run other muppet.ini 1 --model "$work/padded.net"
refused "decides by gradients" run other muppet.ini 1 --set optimizer.store=packed --set train.backend=auto

# Parameters of this mlp: 784 x 64, 64 x 32, 32 x 10 and biases. In bytes: three arrays of 8 bits, and a scale of 4
# bytes for each 256 elements or what is left.
groups=$((196 + 1 + 8 + 1 + 2 + 1))
[ "$(note momentum optimizer_bytes)" = "$((3 * (52650 + 4 * groups))).0" ] ||
    complain "$(note momentum optimizer_bytes) bytes"
[ "$(note momentum bits_a_parameter_in_fp32)" = 96.0 ] || complain "FP32 has 96 bits a parameter"
[ "$(note adam bits_a_parameter_in_fp32)" = 128.0 ] || complain "FP32 has 128 bits a parameter with adam"
# Weights and gradient of the largest layer, and five arrays of a group.
[ "$(note momentum workspace_bytes)" = "$((2 * 4 * (784 * 64 + 64) + 5 * 4 * 256)).0" ] ||
    complain "$(note momentum workspace_bytes) bytes of workspace"
exit $status
