# SPDX-License-Identifier: BSD-2-Clause
# kills.sh - runs that are killed at random moments and resumed, maybe to be killed again, leave the bits of one that
# was not: checkpoint, log and summary but for the clock. Ten networks with all that rounds, remembers or draws at
# random. A full disk and one that cannot be written end a run with an error and cost nothing else.
#     make check-kills [KILLS=1000] [KILLS_SEED=N] [KILLS_JOBS=2]
# SIGKILL ends a process and no machine: that what was written survives a loss of power is the word of fsync, which is
# not tested here.
. "$(dirname "$0")/common.sh"
kills=${KILLS:-1000} seed=${KILLS_SEED:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')} jobs=${KILLS_JOBS:-2}
configs="wide chargpt fp8 packed-adam packed muppet half assign lenet charlstm"

# The options of a network; all tell every step, and keep the best.
configure() { # NAME
    local -a data=(data.source=digits data.test_count=50) text=(data.source="text:$work/text" data.steps=32) all
    local -a fp16=(formats.v=fp16 formats.w=fp16 formats.dv=fp16 formats.dw=fp16)
    case $1 in
    lenet) all=(model.name=lenet "${data[@]}" data.train_count=1280 data.crop=2 train.epochs=4 train.batch=32
        train.schedule=cosine optimizer.name=nesterov optimizer.decay=0.0001 output.checkpoint_steps=7) ;;
    half) all=(model.name=squeezenet model.width=0.25 data.source=shapes data.train_count=128 data.test_count=32
        data.flip=yes train.epochs=3 train.batch=16 train.lr=0.01 optimizer.name=sgd optimizer.master=no
        optimizer.clip=5 scaler.name=backoff scaler.interval=3 output.checkpoint_steps=3 "${fp16[@]}") ;;
    fp8) all=(model.name=resnet20 model.width=0.25 "${data[@]}" data.train_count=300 data.crop=2 data.flip=yes
        train.epochs=3 train.batch=32 train.lr=0.003 train.schedule=cosine optimizer.name=adam optimizer.decay=0.001
        scaler.name=adaptive scaler.interval=4 output.checkpoint_steps=4 'formats.v=e4m3fn sr' formats.w=e4m3fn
        'formats.dv=e5m2 sr' 'formats.dw=fp16 sr') ;;
    packed) all=(model.name=mlp model.width=0.25 "${data[@]}" data.train_count=512 train.epochs=5 train.batch=8
        train.micro_batches=4 train.lr=0.002 optimizer.name=momentum optimizer.store=packed
        output.checkpoint_steps=5) ;;
    packed-adam) all=(model.name=lenet "${data[@]}" data.train_count=256 train.epochs=5 train.batch=16
        train.micro_batches=2 train.lr=0.001 optimizer.name=adam optimizer.store=packed output.checkpoint_steps=3
        formats.v=e4m3fn 'formats.dv=e5m2 sr') ;;
    muppet) all=(model.name=mlp model.width=0.25 "${data[@]}" data.train_count=960 train.epochs=8 train.batch=32
        train.lr=0.02 train.backend=exact 'policy.name=muppet:epoch-steps=8,tail=10,levels=8/10/12'
        output.checkpoint_steps=4) ;;
    assign) all=(model.name=lenet "${data[@]}" data.train_count=1024 train.epochs=4 train.batch=32
        'policy.name=assign:ratio=0.6,lo-forward=fp(4,3,7)' scaler.name=backoff scaler.interval=8
        output.checkpoint_steps=5) ;;
    wide) all=(model.name=mobilenetv2 model.width=0.25 data.source=shapes data.train_count=48 data.test_count=8
        train.epochs=2 train.batch=8 train.lr=0.01 output.checkpoint_steps=2 output.histograms=yes formats.v=bf16
        'formats.dv=bf16 sr') ;;
    charlstm) all=(model.name=charlstm model.width=0.125 "${text[@]}" data.limit=16000 data.test_limit=1000
        train.epochs=4 train.batch=8 train.lr=0.005 optimizer.name=adam optimizer.clip=1 scaler.name=logmax
        output.checkpoint_steps=6 "${fp16[@]}") ;;
    chargpt) all=(model.name=chargpt model.width=0.125 "${text[@]}" data.limit=8000 data.test_limit=500 train.epochs=4
        train.batch=8 train.lr=0.003 optimizer.name=adam scaler.name=fixed scaler.scale=1024 output.checkpoint_steps=4
        output.dispersion=yes 'formats.v=e4m3fn sr' formats.w=e4m3fn formats.dv=e5m2) ;;
    esac
    options config "${all[@]}" output.log_every=1 output.best=loss
}

# ------------------------------------------------------------------------------------------------ one network

complain() {
    echo "$name: $*"
    status=1
}

go() { # DIR: goes on with the run there
    run "$1" 1 "${config[@]}" --resume
}

whole() { # DIR WHAT: it has the bits of the run that was not killed, and no other file
    same whole "$@"
    set -- "$1" "$work/$1"/run/.[!.]*
    [ ! -e "$2" ] || complain "left behind: $2"
}

below() { # N: a number from 0 to N - 1
    echo $(((RANDOM * 32768 + RANDOM) % ($1 > 0 ? $1 : 1)))
}

# Starts it and kills it within `time` milliseconds, three quarters of what all of it takes.
kill_once() { # DIR
    local pid ended wait
    wait=$(below "$time")
    (cd "$work/$1" && OMP_NUM_THREADS=1 exec "$fptrain" run "${config[@]}" --out run --quiet --resume) 2>"$work/err" &
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
        kill_once killed || break
        killed=$((killed + 1))
        [ -z "$(find "$dir" -name '.fpemu-*')" ] || orphans=$((orphans + 1))
    done
    go killed || complain "resumed after $i kills: exit status $?"
    whole killed "after $i kills"
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
    local most limit said ended
    rm -rf "$work/limited"
    most=$(du -k "$work/whole/run"/* | sort -n | tail -1 | cut -f1)
    limit=$(below "$most")
    said=$(ulimit -f "$limit" && go limited 2>&1) # through a pipe, which has no limit
    ended=$?
    echo "$said" >"$work/err"
    fails $ended 'File too large' "at most $limit KiB a file"
    go limited || complain "after at most $limit KiB a file: exit status $?"
    whole limited "after at most $limit KiB a file"
}

# A disk of its own, in a name space of this process: first too small, then not to be written, then as it should be.
small_disk() {
    local dir=$work/disk most size ended
    mkdir -p "$dir"
    most=$(du -sk "$work/whole/run" | cut -f1)
    size=$((4 + $(below "$most")))
    mount -t tmpfs -o size=${size}k none "$dir" || return
    go disk 2>"$work/err"
    ended=$?
    [ $ended -eq 0 ] || fails $ended 'No space left on device' "a disk of $size KiB"
    full=$((full + (ended != 0)))
    mount -o remount,ro "$dir"
    find "$dir" -type f -exec cksum {} + >"$work/before"
    go disk 2>"$work/err"
    fails $? 'Read-only file system' "a disk that cannot be written"
    find "$dir" -type f -exec cksum {} + | cmp -s - "$work/before" || complain "a disk that was written nevertheless"
    mount -o remount,rw,size=1g "$dir"
    go disk || complain "after a disk of $size KiB: exit status $?"
    whole disk "after a disk of $size KiB"
    umount "$dir"
}

one() { # NAME NUMBER
    local i before
    name=$1 killed=0 resumed=0 chains=0 orphans=0 full=0 trouble=$((kills / 100 + 1))
    count=$(((kills + 9) / 10))
    RANDOM=$((seed + $2))
    configure "$name"
    # A text that does not change, where text is asked for.
    [ ! -r "$here/../../README.md" ] || head -c 9000 "$here/../../README.md" >"$work/text"
    before=$(date +%s%N)
    go whole || complain "not killed: exit status $?"
    time=$((($(date +%s%N) - before) / 1333333))
    while [ $killed -lt $count ] && [ $status -eq 0 ]; do
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
    return $status
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
