# SPDX-License-Identifier: BSD-2-Clause
# kills.sh - runs that are killed at random moments and resumed, maybe to be killed again, leave the bits of one that
# was not: checkpoint, log and summary but for the clock. Ten networks with all that rounds, remembers or draws at
# random. A full disk and one that cannot be written end a run with an error and cost nothing else.
#     make check-kills [KILLS=1000] [KILLS_SEED=N] [KILLS_JOBS=2]
# SIGKILL ends a process and no machine: that what was written survives a loss of power is the word of fsync, which is
# not tested here.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
kills=${KILLS:-1000} seed=${KILLS_SEED:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')} jobs=${KILLS_JOBS:-2}
configs="wide chargpt fp8 packed-adam packed muppet half assign lenet charlstm"
fptrain=$FPTRAIN
. "$here/kill.sh"

settings() { # NAME
    local digits="[data]
source = digits
test_count = 50" text="[data]
source = text:text
steps = 32" fp16="[formats]
v = fp16
w = fp16
dv = fp16
dw = fp16" output="[output]
log_every = 1
best = loss"
    case $1 in
    lenet) echo "[model]
name = lenet
$digits
train_count = 1280
crop = 2
[train]
epochs = 4
batch = 32
schedule = cosine
[optimizer]
name = nesterov
decay = 0.0001
$output
checkpoint_steps = 7" ;;
    half) echo "[model]
name = squeezenet
width = 0.25
[data]
source = shapes
train_count = 128
test_count = 32
flip = yes
[train]
epochs = 3
batch = 16
lr = 0.01
[optimizer]
name = sgd
master = no
clip = 5
[scaler]
name = backoff
interval = 3
$output
checkpoint_steps = 3
$fp16" ;;
    fp8) echo "[model]
name = resnet20
width = 0.25
$digits
train_count = 300
crop = 2
flip = yes
[train]
epochs = 3
batch = 32
lr = 0.003
schedule = cosine
[optimizer]
name = adam
decay = 0.001
[scaler]
name = adaptive
interval = 4
$output
checkpoint_steps = 4
[formats]
v = e4m3fn sr
w = e4m3fn
dv = e5m2 sr
dw = fp16 sr" ;;
    packed) echo "[model]
name = mlp
width = 0.25
$digits
train_count = 512
[train]
epochs = 5
batch = 8
micro_batches = 4
lr = 0.002
[optimizer]
name = momentum
store = packed
$output
checkpoint_steps = 5" ;;
    packed-adam) echo "[model]
name = lenet
$digits
train_count = 256
[train]
epochs = 5
batch = 16
micro_batches = 2
lr = 0.001
[optimizer]
name = adam
store = packed
$output
checkpoint_steps = 3
[formats]
v = e4m3fn
dv = e5m2 sr" ;;
    muppet) echo "[model]
name = mlp
width = 0.25
$digits
train_count = 960
[train]
epochs = 8
batch = 32
lr = 0.02
backend = exact
[policy]
name = muppet:epoch-steps=8,tail=10,levels=8/10/12
$output
checkpoint_steps = 4" ;;
    assign) echo "[model]
name = lenet
$digits
train_count = 1024
[train]
epochs = 4
batch = 32
[policy]
name = assign:ratio=0.6,lo-forward=fp(4,3,7)
[scaler]
name = backoff
interval = 8
$output
checkpoint_steps = 5" ;;
    wide) echo "[model]
name = mobilenetv2
width = 0.25
[data]
source = shapes
train_count = 48
test_count = 8
[train]
epochs = 2
batch = 8
lr = 0.01
$output
checkpoint_steps = 2
histograms = yes
[formats]
v = bf16
dv = bf16 sr" ;;
    charlstm) echo "[model]
name = charlstm
width = 0.125
$text
limit = 16000
test_limit = 1000
[train]
epochs = 4
batch = 8
lr = 0.005
[optimizer]
name = adam
clip = 1
[scaler]
name = logmax
$output
checkpoint_steps = 6
$fp16" ;;
    chargpt) echo "[model]
name = chargpt
width = 0.125
$text
limit = 8000
test_limit = 500
[train]
epochs = 4
batch = 8
lr = 0.003
[optimizer]
name = adam
[scaler]
name = fixed
scale = 1024
$output
checkpoint_steps = 4
dispersion = yes
[formats]
v = e4m3fn sr
w = e4m3fn
dv = e5m2" ;;
    esac
}

# ------------------------------------------------------------------------------------------------ one network

complain() {
    echo "$name: $*"
    failed=1
}

run() { # DIR
    (cd "$1" && OMP_NUM_THREADS=1 exec "$fptrain" run --config "$work/settings.ini" --out run --quiet --resume)
}

same() { # DIR WHAT
    local file
    for file in checkpoint best; do
        "$SAME_CHECKPOINT" "$work/whole/run/$file.safetensors" "$1/run/$file.safetensors" || complain "$2: another $file"
    done
    [ "$(log_bits "$work/whole/run/log.jsonl")" = "$(log_bits "$1/run/log.jsonl")" ] || complain "$2: another log"
    [ "$(summary_bits "$work/whole/run/summary.json")" = "$(summary_bits "$1/run/summary.json")" ] ||
        complain "$2: another summary"
    set -- "$1" "$1"/run/.[!.]*
    [ ! -e "$2" ] || complain "left behind: $2"
}

below() { # N: a number from 0 to N - 1
    echo $(((RANDOM * 32768 + RANDOM) % ($1 > 0 ? $1 : 1)))
}

# Starts it and kills it within `time` milliseconds, three quarters of what all of it takes.
kill_once() { # DIR
    local pid ended wait
    wait=$(below "$time")
    (cd "$1" && OMP_NUM_THREADS=1 exec "$fptrain" run --config "$work/settings.ini" --out run --quiet --resume) \
        2>"$work/err" &
    pid=$! # of the program itself
    sleep "$((wait / 1000)).$(printf %03d $((wait % 1000)))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    ended=$?
    [ $ended -eq 137 ] || [ $ended -eq 0 ] || complain "exit status $ended: $(cat "$work/err")"
    [ $ended -eq 137 ]
}

# A run that is killed up to eight times, then left alone.
chain() {
    local dir=$work/killed i
    rm -rf "$dir" && mkdir "$dir"
    for i in 1 2 3 4 5 6 7 8; do
        [ $killed -lt $count ] || break
        [ ! -e "$dir/run/checkpoint.safetensors" ] || resumed=$((resumed + 1))
        kill_once "$dir" || break
        killed=$((killed + 1))
        [ -z "$(find "$dir" -name '.fpemu-*')" ] || orphans=$((orphans + 1))
    done
    run "$dir" || complain "resumed after $i kills: exit status $?"
    same "$dir" "after $i kills"
    chains=$((chains + 1))
}

# The last run ended with an error, which one line told.
fails() { # STATUS TEXT WHAT
    [ "$1" -eq 1 ] || [ "$1" -eq 2 ] || complain "$3: exit status $1"
    [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q "^fptrain: run: .*$2" "$work/err" ||
        complain "$3: says $(cat "$work/err")"
}

# A limit on the size of a file, up to that of the largest.
limited() {
    local dir=$work/limited most limit said ended
    rm -rf "$dir" && mkdir "$dir"
    most=$(du -k "$work/whole/run"/* | sort -n | tail -1 | cut -f1)
    limit=$(below "$most")
    said=$(ulimit -f "$limit" && run "$dir" 2>&1) # through a pipe, which has no limit
    ended=$?
    echo "$said" >"$work/err"
    fails $ended 'File too large' "at most $limit KiB a file"
    run "$dir" || complain "after at most $limit KiB a file: exit status $?"
    same "$dir" "after at most $limit KiB a file"
}

# A disk of its own, in a name space of this process: first too small, then not to be written, then as it should be.
small_disk() {
    local dir=$work/disk most size ended
    mkdir -p "$dir"
    most=$(du -sk "$work/whole/run" | cut -f1)
    size=$((4 + $(below "$most")))
    mount -t tmpfs -o size=${size}k none "$dir" || return
    run "$dir" 2>"$work/err"
    ended=$?
    [ $ended -eq 0 ] || fails $ended 'No space left on device' "a disk of $size KiB"
    full=$((full + (ended != 0)))
    mount -o remount,ro "$dir"
    find "$dir" -type f -exec cksum {} + >"$work/before"
    run "$dir" 2>"$work/err"
    fails $? 'Read-only file system' "a disk that cannot be written"
    find "$dir" -type f -exec cksum {} + | cmp -s - "$work/before" || complain "a disk that was written nevertheless"
    mount -o remount,rw,size=1g "$dir"
    run "$dir" || complain "after a disk of $size KiB: exit status $?"
    same "$dir" "after a disk of $size KiB"
    umount "$dir"
}

one() { # NAME NUMBER
    local i before
    name=$1 killed=0 resumed=0 chains=0 orphans=0 failed=0 full=0 trouble=$((kills / 100 + 1))
    count=$(((kills + 9) / 10))
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    RANDOM=$((seed + $2))
    settings "$name" >"$work/settings.ini"
    mkdir "$work/whole" "$work/killed"
    # A text that does not change, where text is asked for.
    [ ! -r "$here/../../README.md" ] || head -c 9000 "$here/../../README.md" >"$work/text"
    sed -i "s|text:text|text:$work/text|" "$work/settings.ini"
    before=$(date +%s%N)
    run "$work/whole" || complain "not killed: exit status $?"
    time=$((($(date +%s%N) - before) / 1333333))
    while [ $killed -lt $count ] && [ $failed -eq 0 ]; do
        chain
        time=$((time > 60 ? time : 60))
    done
    for ((i = 0; i < trouble; i++)); do
        limited
        [ -z "${KILLS_MOUNT:-}" ] || small_disk
    done
    printf '%-12s %5d kills in %d runs, %d of them while going on from a checkpoint; %d left a temporary file; ' \
        "$name" $killed $chains $resumed $orphans
    printf '%d limits on files, ' $trouble
    [ -z "${KILLS_MOUNT:-}" ] && echo 'no disks of its own' || echo "$full full disks, $trouble read-only"
    return $failed
}

if [ "${1:-}" = --one ]; then
    one "$2" "$3"
    exit
fi

# ------------------------------------------------------------------------------------------------ all

export KILLS=$kills KILLS_SEED=$seed KILLS_MOUNT=
within=
if unshare -rm true 2>/dev/null; then
    within='unshare -rm' KILLS_MOUNT=yes
fi
started=$(date +%s)
echo "seed $seed; $jobs at once; at random moments of networks of ten kinds:"
number=0
for name in $configs; do
    number=$((number + 1))
    echo "$name $number"
done | xargs -P "$jobs" -L 1 $within "$BASH" "$here/kills.sh" --one
status=$?
[ $status -eq 0 ] && echo "all went on to the same bits; $(($(date +%s) - started)) s" || echo "failed"
exit $((status != 0))
