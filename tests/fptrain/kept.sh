# SPDX-License-Identifier: BSD-2-Clause
# Nothing of a run is lost or mixed up: its files share an id, one process at a time writes them, what was killed leaves
# nothing lying about, a full disk and a directory that cannot be written cost nothing but time, and a run whose loss is
# no number says so.
. "$(dirname "$0")/common.sh"
trap 'kill -9 ${pid:-} 2>/dev/null; chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
new_line='
'

# In a directory of its own, so that the one of the run has the same name everywhere.
train() { # DIR OPTION...
    mkdir -p "$1"
    (cd "$1" && shift && exec "$fptrain" run "$@" --out run)
}

run_id() { # FILE
    sed -n 's/.*"run": *"\([0-9a-f]\{32\}\)".*/\1/p' "$1" | head -1
}

small="--set data.train_count=320 --set data.test_count=20 --model mlp --set model.width=0.125 --batch 16 --quiet
    --set output.log_every=1 --set output.checkpoint_steps=3 --set output.best=loss"

# One id of a run, another of the next; the files of two runs are not taken for one.
train a $small || complain "a: $?"
train b $small || complain "b: $?"
same a b "twice"
[ -n "$(run_id a/run/log.jsonl)" ] && [ "$(run_id a/run/log.jsonl)" = "$(run_id a/run/summary.json)" ] ||
    complain "log and summary have two ids"
grep -aq "$(run_id a/run/log.jsonl)" a/run/checkpoint.safetensors || complain "the checkpoint has another id"
[ "$(run_id a/run/log.jsonl)" != "$(run_id b/run/log.jsonl)" ] || complain "two runs have one id"
for file in checkpoint.safetensors best.safetensors log.jsonl summary.json; do
    cp -R a mixed && cp b/run/$file mixed/run/$file
    find mixed -type f -exec cksum {} + >before
    ends 2 "does not belong there" train mixed $small --resume
    find mixed -type f -exec cksum {} + | cmp -s - before || complain "mixed with $file: files have changed"
    rm -r mixed
done
# A new run in place of an old one, killed before its first checkpoint, never goes on from the old one.
cp -R a again
(cd again && exec "$fptrain" run $small --force --lr 0.01 --set output.checkpoint_steps=0 --set data.train_count=32000 \
    --out run) &
pid=$!
until now=$(run_id again/run/log.jsonl 2>/dev/null) && [ -n "$now" ] && [ "$now" != "$(run_id a/run/log.jsonl)" ]; do
    kill -0 $pid 2>/dev/null || break
    sleep 0.01
done
# Meanwhile another process is refused, and who only reads is not.
ends 2 "another fptrain is writing there" train again $small --resume
ends 2 "another fptrain is writing there" train again $small --force
"$fptrain" report again/run --tables page.md || complain "a report of a run that goes on: $?"
kill -9 $pid || complain "it was over before another came"
wait $pid 2>/dev/null
[ ! -e again/run/checkpoint.safetensors ] && [ ! -e again/run/summary.json ] ||
    complain "--force left files of the old run"
ends 2 "of a run with" train again $small --resume
train again $small --force || complain "the lock of a process that was killed: $?"
same a again "in place of another"

# Two sweeps in one directory: the second is refused before it starts a run, and one that only plans is not.
sweep="$small --set data.train_count=32000 --epochs 50 --seeds 1 --promote off --ratios 1:1:1 --out sweep"
sweep=${sweep/ --quiet/}
mkdir swept
(cd swept && exec "$fptrain" tradeoff $sweep --schemes fp32 >out 2>&1) &
pid=$!
until [ -s swept/sweep/fp32-s1/log.jsonl ]; do
    kill -0 $pid 2>/dev/null || break
    sleep 0.01
done
said=$(cd swept && "$fptrain" tradeoff $sweep --schemes fp32,ratio 2>&1)
[ $? -eq 2 ] && [ "$said" = "fptrain: tradeoff: sweep: another fptrain is writing there; wait for its end, or choose \
another --out" ] || complain "a second sweep says '$said'"
[ ! -e swept/sweep/ratio-1-s1.ini ] || complain "a second sweep has started a run"
(cd swept && "$fptrain" tradeoff $sweep --schemes fp32,ratio --plan >out2 2>&1) || complain "a plan: $?"
kill $pid || complain "the sweep was over before another came"
wait $pid 2>/dev/null

# A summary that cannot be read is not called that of another run.
cp -R a unread
echo '{' >unread/run/summary.json
ends 2 "summary.json: no JSON" train unread $small --resume
if [ "$(id -u)" -ne 0 ]; then
    chmod a-r unread/run/summary.json
    ends 2 "summary.json: Permission denied" train unread $small --resume
fi

# A full disk, as a limit on the size of files is one: at the first line, in a line, in a checkpoint. Nothing is lost.
for blocks in 0 1 4 20 60; do
    said=$(ulimit -f $blocks && train full-$blocks $small 2>&1)
    ended=$?
    said=$(grep -v '^OMP: Warning' <<<"$said") # LLVM's OpenMP cannot make a file of its own either
    [ $ended -eq 1 ] || [ $ended -eq 2 ] || complain "$blocks blocks: exit status $ended"
    case $said in
    *"$new_line"*) complain "$blocks blocks: says $said" ;;
    *'File too large'*) ;;
    *) complain "$blocks blocks: says $said" ;;
    esac
    [ ! -e full-$blocks/run/summary.json ] || complain "$blocks blocks: a summary"
    train full-$blocks $small --resume || complain "$blocks blocks: resumed: $?"
    same a full-$blocks "with room again after $blocks blocks"
    [ -z "$(find full-$blocks -name '.fpemu-*')" ] || complain "$blocks blocks: leftovers"
done
# Closed streams: nothing that is said lands in a file of the run.
closed=$(train closed ${small/--quiet/} <&- >&- 2>&-; echo $?)
[ "$closed" -eq 1 ] || complain "without streams: exit status $closed"
! grep -v '^{' closed/run/log.jsonl || complain "without streams: in the log"
same a closed "without streams"
# A directory that cannot be written. Root can write any.
if [ "$(id -u)" -ne 0 ]; then
    cp -R b shut && rm shut/run/summary.json && chmod a-w shut/run
    ends 2 "Permission denied" train shut $small --resume
    chmod u+w shut/run
    train shut $small --resume || complain "writable again: $?"
    same a shut "writable again"
fi

# Another machine: oneDNN told to use other instructions, where it has any to choose from.
products() {
    sed -n '1s/.*"products":"\([^"]*\)".*/\1/p' "$1/run/log.jsonl"
}
cp -R b moved
ONEDNN_MAX_CPU_ISA=SSE41 OPENBLAS_CORETYPE=Nehalem train other $small || complain "other instructions: $?"
if [ "$(products other)" != "$(products b)" ]; then
    ONEDNN_MAX_CPU_ISA=SSE41 OPENBLAS_CORETYPE=Nehalem \
        ends 2 "products $(products b), and here it is $(products other)" train moved $small --resume
    ONEDNN_MAX_CPU_ISA=SSE41 OPENBLAS_CORETYPE=Nehalem train moved $small --resume --allow-different-machine ||
        complain "--allow-different-machine: $?"
    grep -q '"one_machine": false' moved/run/summary.json || complain "two machines are not told"
fi
# libfpemu's own instructions change no bit.
FPEMU_VARIANT=portable train b $small --resume || complain "FPEMU_VARIANT: $?"

# A loss that is no number, in a step that was taken: the run stops, and says so again when it is resumed.
lost="$small --lr 1e6 --optimizer sgd"
ends 3 "is nan, and the weights have followed it: diverged" train lost $lost
grep -q '"finished": false' lost/run/summary.json && grep -q '"diverged": true' lost/run/summary.json ||
    complain "a lost run"
grep -q '"stopped":"the loss of step [0-9]* is nan' lost/run/log.jsonl || complain "the log does not say why it ends"
ends 3 "is nan" train lost $lost --resume
train lost $lost --resume --set train.diverged=continue || complain "told to go on: $?"
grep -q '"finished": true' lost/run/summary.json && grep -q '"diverged": true' lost/run/summary.json ||
    complain "a run that went on"
[ "$(grep -c '"loss":"nan"' lost/run/log.jsonl)" -gt 10 ] || complain "no steps after the loss"
# Skipped steps leave the weights as they were: promotions mend what overflowed, and the run goes on by itself. Where
# nothing changes any more, it stops after 100 of them.
narrow="--set data.train_count=1600 --set data.test_count=20 --model mlp --set model.width=0.125 --batch 8 --quiet
    --set output.log_every=1 --epochs 1 --optimizer sgd --scaler backoff --lr 10"
train mended $narrow --policy assign:uniform,lo-forward=e5m2,hi=bf16 || complain "mended: $?"
[ "$(grep -c '"loss":"nan".*"skipped":true' mended/run/log.jsonl)" -gt 2 ] || complain "nothing to mend"
grep -q '"diverged": false' mended/run/summary.json || complain "mended, and said to diverge"
stuck="$narrow --set formats.v=e5m2 --set formats.dw=fp16 --set output.checkpoint_steps=60"
ends 3 "as it was for the 100 steps up to it" train stuck $stuck
cp stuck/run/summary.json once
# From a checkpoint among these steps it comes to the same end.
[ -e stuck/run/checkpoint.safetensors ] || complain "no checkpoint on the way"
ends 3 "as it was for the 100 steps up to it" train stuck $stuck --resume
[ "$(summary_bits once)" = "$(summary_bits stuck/run/summary.json)" ] || complain "resumed, it diverges otherwise"

# So does a run that comes to its end in the midst of them.
brief="$stuck --set data.train_count=640 --set output.checkpoint_steps=20"
ends 3 "steps is not finite: diverged" train brief $brief
grep -q '"finished": true' brief/run/summary.json && grep -q '"diverged": true' brief/run/summary.json ||
    complain "a run that ends adrift"
ends 3 "steps is not finite: diverged" train brief $brief --resume
train brief $brief --resume --set train.diverged=continue || complain "adrift, and told to take that: $?"

# Logs of the old layout and of this one are read alike, and those of a later one not at all.
mkdir old new later && printf '[data]\nsource = digits\n' | tee old/settings.ini new/settings.ini >later/settings.ini
cat >old/log.jsonl <<'END'
{"step":1,"loss":2,"scale":8,"tensors":[{"name":"a.v","role":"v","count":90,"underflow":3,"clipped":2,"nan":0},{"name":"a.dv","role":"dv","count":50,"underflow":20,"overflow":4,"nan":1,"alpha":8},{"name":"b.dv","role":"dv","count":50,"underflow":5,"alpha":16,"deviation":0.5,"quantile":0.25,"histogram":{"first":-3,"counts":[1,5],"zeros":44}}]}
{"step":1,"epoch":0,"test_loss":1,"test_accuracy":0.5,"test_accuracy_fp32":0.5}
END
cat >new/log.jsonl <<'END'
{"log":2,"run":"0","counters":["count","underflow","subnormal","inexact","min_abs","max_abs","overflow","clipped","infinite","nan"],"names":{"v":["input.v","a.v"],"w":[],"dv":["a.dv","b.dv"],"dw":["a.dw"]}}
{"step":1,"loss":2,"scale":8,"tensors":[0,[90,3,0,0,0,0,0,2],[50,20,0,0,0,0,4,0,0,1],[50,5,{"alpha":16,"deviation":0.5,"quantile":0.25,"histogram":{"first":-3,"counts":[1,5],"zeros":44}}],0]}
{"step":1,"machine":{}}
{"step":1,"epoch":0,"test_loss":1,"test_accuracy":0.5,"test_accuracy_fp32":0.5}
END
for layout in old new; do
    (cd $layout && "$fptrain" report . --tables ../$layout.md --plots ../plots-$layout) ||
        complain "a report of the $layout layout"
done
grep -q 'b.dv | 10' new.md && cmp old.md new.md && diff -r plots-old plots-new || complain "the layouts are read otherwise"
sed '1s/"log":2/"log":3/' new/log.jsonl >later/log.jsonl
ends 2 "a log of another version" "$fptrain" report later --tables later.md
exit $status
