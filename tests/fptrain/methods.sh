# SPDX-License-Identifier: BSD-2-Clause
# Runs under MuPPET, with packed parameters, and with all that goes by steps (rates, clipping): the same bits with other
# numbers of threads and after runs that were killed, and what their records say.
. "$(dirname "$0")/common.sh"

# 60 steps; switches after policy epochs of two steps, by diversity, and sums outside of 32 bits at 16 bits, which are
# the lines 38 to 59 of the log.
options muppet model.name=lenet data.source=digits data.train_count=240 data.test_count=40 data.crop=2 train.epochs=4 \
    train.batch=16 train.lr=0.02 train.threads=0 train.backend=exact output.log_every=1 output.checkpoint_steps=3 \
    policy.name=muppet:levels=8/12/16,epoch-steps=2,r=2,gamma=2,beta=0.1,tail=9 optimizer.decay=0.001
# 96 steps of two micro-batches, the last of an epoch of one.
options momentum model.name=mlp model.width=0.25 data.source=digits data.train_count=232 data.test_count=40 \
    data.crop=2 train.epochs=12 train.batch=16 train.micro_batches=2 train.lr=0.01 train.threads=0 output.log_every=1 \
    output.checkpoint_steps=3 optimizer.store=packed optimizer.decay=0.001 'optimizer.weights=group(int8,256)' \
    'optimizer.gradients=group(int8,256)' 'optimizer.momenta=codebook(dynamic8,256)' \
    'optimizer.squares=codebook(udynamic8,256)' formats.v=e4m3fn 'formats.dv=e5m2 sr'
adam=("${momentum[@]}" --set optimizer.name=adam --set train.lr=0.001)
# 66 steps, 40 of them for warming up.
options warm model.name=mlp model.width=0.25 data.source=digits data.train_count=176 data.test_count=40 train.epochs=6 \
    train.batch=16 train.lr=0.004 train.threads=0 train.schedule=linear train.schedule_by=step train.warmup_steps=40 \
    train.warmup_start=0.0001 train.label_smoothing=0.1 optimizer.name=adamw optimizer.decay=0.01 \
    'optimizer.no_decay=*.bias' optimizer.clipping=adaptive optimizer.clip=0.7 'optimizer.no_clip=linear3.*' \
    scaler.name=backoff scaler.interval=5 output.log_every=1 output.checkpoint_steps=3 'formats.v=e4m3fn sr' \
    formats.dv=e5m2

note() { # DIR NAME: of the summary
    summary "$1" | sed -n "s/^ *\"$2\": \([-0-9.e+]*\),*$/\1/p"
}

for config in muppet momentum adam warm; do
    declare -n now=$config
    run $config 1 "${now[@]}" || complain "$config: exit status $?"
    for threads in 2 3; do
        run $config-threads-$threads $threads "${now[@]}" || complain "$config, $threads threads: exit status $?"
        same $config $config-threads-$threads "$config with $threads threads"
    done
    # before the first checkpoint, within an epoch, after some, and killed again while resumed; warm: amid its warm-up
    case $config in muppet) moments='2 20 56' ;; warm) moments=20 ;; *) moments='2 20 33' ;; esac
    for at in $moments; do
        kill_at $config-$at $at "${now[@]}"
        [ $at -ne 20 ] || kill_at $config-$at 28 "${now[@]}" --resume
        run $config-$at $((1 + at % 3)) "${now[@]}" --resume || complain "$config: resuming: exit status $?"
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
last=("${muppet[@]}" --policy 'muppet:levels=8,switch=1,epoch-steps=2,tail=9')
run tail 1 "${last[@]}" || complain "tail: exit status $?"
kill_at tail-40 40 "${last[@]}"
run tail-40 1 "${last[@]}" --resume || complain "tail: resuming"
same tail tail-40 "a run killed after its tail, amid an epoch"
log tail | sed -n 's/.*"lr":\([-0-9.e]*\),.*/\1/p' >"$work/rates"
awk '{ want = NR <= 10 ? 0.02 : NR <= 16 ? 0.002 : 0.0002 }
     $1 / want > 1.001 || $1 / want < 0.999 { print NR ": " $1 ", not " want; bad = 1 }
     END { exit bad || NR != 30 }' "$work/rates" || complain 'the rates of the tail'
grep -q '"bits":32' "$work/muppet/run/log.jsonl" || complain "no policy epoch in FP32"
[ "$(lines momentum)" -eq 108 ] || complain "$(lines momentum) lines, not 96 steps and 12 epochs"

# A checkpoint of other settings of these methods, and settings that do not go together, are refused in one line.
refuses policy.name run muppet 1 "${muppet[@]}" --resume --policy muppet
refuses optimizer.weights run momentum 1 "${momentum[@]}" --resume --set 'optimizer.weights=group(int12,256)'
refuses micro-batches run other 1 "${momentum[@]}" --set optimizer.store=fp32
refuses "no setting 'speed'" run other 1 "${muppet[@]}" --policy muppet:speed=1
refuses "sets the learning rate itself" run other 1 "${muppet[@]}" --set train.warmup_steps=4
refuses "sets the learning rate itself" run other 1 "${muppet[@]}" --set train.schedule_by=step
refuses "not both" run other 1 "${warm[@]}" --set train.warmup=1
for setting in sgd:momentum=0.5 momentum:beta2=0.9 sgd:epsilon=1e-6 nesterov:beta2=0.99; do
    refuses "${setting%%:*} has no use for optimizer.$(echo ${setting#*:} | sed 's/=.*//')" run other 1 "${warm[@]}" \
        --optimizer "${setting%%:*}" --set "optimizer.${setting#*:}" --set optimizer.clip=0
done
for setting in storing=nearest weights=bf16 gradients=bf16 momenta=bf16 squares=bf16; do
    refuses "optimizer.${setting%=*} is for optimizer.store = packed" run other 1 "${warm[@]}" --set "optimizer.$setting"
done
# A method of loss scaling takes the settings that ALGORITHMS.md gives it, and without a method there are none.
for setting in none:scale=1024 none:interval=5 none:underflow_target=0.5 none:fan=yes none:beta_cap=2 none:alpha_cap=2 \
    fixed:interval=5 fixed:fan=yes backoff:underflow_target=0.5 logmax:scale=1024 logmax:interval=5 \
    adaptive:scale=1024; do
    key=${setting#*:}
    fixed=
    [ "${setting%%:*}" != fixed ] || fixed="--set scaler.scale=2"
    refuses "scaler.${key%=*} is for scaler.name = " run other 1 "${momentum[@]}" --scaler "${setting%%:*}" $fixed \
        --set "scaler.$key"
done
for setting in histograms dispersion; do
    refuses "output.$setting goes with output.counters = yes" run other 1 "${momentum[@]}" --set output.counters=no \
        --set output.$setting=yes
done
refuses "its threshold" run other 1 "${warm[@]}" --set optimizer.clip=0
refuses "called 'conv1.*'" run other 1 "${warm[@]}" --set 'optimizer.no_decay=*.bias,conv1.*'
refuses exact:wrap run other 1 "${muppet[@]}" --set train.backend=exact:wrap
echo 'conv 4 1 pad=1, global_pool, linear classes' >"$work/padded.net"
refuses "a padding of 1 with a kernel of 1 is not supported" run other 1 "${muppet[@]}" --model "$work/padded.net"
refuses "decides by gradients" run other 1 "${muppet[@]}" --set optimizer.store=packed --set train.backend=auto

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
