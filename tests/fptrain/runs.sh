# SPDX-License-Identifier: BSD-2-Clause
# The same settings give the same bits: twice, with other numbers of threads, and after runs that were killed. Compared
# are the checkpoints of the end, entry by entry, and the logs but for the clock.
. "$(dirname "$0")/common.sh"

# Everything that rounds, remembers or draws at random is in it.
options hard model.name=resnet20 model.width=0.25 data.source=digits data.train_count=300 data.test_count=50 \
    data.crop=2 data.flip=yes train.epochs=3 train.batch=32 train.lr=0.003 train.schedule=cosine train.threads=0 \
    optimizer.name=adam optimizer.decay=0.001 scaler.name=adaptive scaler.interval=4 output.log_every=1 \
    output.checkpoint_steps=4 output.best=loss 'formats.v=e4m3fn sr' formats.w=e4m3fn 'formats.dv=e5m2 sr' \
    'formats.dw=fp16 sr'
options more scaler.name=backoff scaler.interval=3 optimizer.name=nesterov optimizer.master=no
other=("${hard[@]}" "${more[@]}")

# The summary has all 22 steps, and the first ones that are skipped, though the log has none of them.
options steps model.name=mlp model.width=0.125 data.source=digits data.train_count=88 data.test_count=10 \
    train.epochs=2 train.batch=8 scaler.name=backoff scaler.scale=16777216 formats.dv=e5m2 output.log_every=100
run steps 1 "${steps[@]}" || complain "steps: exit status $?"
grep -q '"loss"' "$work/steps/run/log.jsonl" && complain "the log has a step"
grep -q '"steps": 22,' "$work/steps/run/summary.json" || complain "the summary has not 22 steps"
grep -q '"skipped": [1-9]' "$work/steps/run/summary.json" || complain "the summary has no skipped steps"
# Elements past the end of a block are no overflow of the format.
run scaled 1 "${steps[@]}" --set formats.dv=mxfp4 --set 'formats.dw=mxfp8' || complain "scaled: exit status $?"
grep -q '"skipped": 0' "$work/scaled/run/summary.json" || complain "formats with scales have skipped steps"

for config in hard other; do
    declare -n now=$config
    run "$config" 1 "${now[@]}" || complain "$config: exit status $?"
    [ "$(lines "$config")" -eq 33 ] || complain "$config: $(lines "$config") lines, not 30 steps and 3 epochs"
    run "$config-again" 1 "${now[@]}"
    same $config $config-again "$config twice"
    run "$config-threads" 3 "${now[@]}"
    same $config $config-threads "$config with 3 threads"
    # resumed when it is over: nothing is done again, and the same is said
    cp -R "$work/$config" "$work/$config-over"
    run $config-over 1 "${now[@]}" --resume || complain "$config: resumed at the end: exit status $?"
    same $config $config-over "$config resumed at the end"
    # before the first checkpoint, within an epoch, after one, and killed again while resumed
    for at in 2 7 13 25; do
        kill_at "$config-$at" $at "${now[@]}"
        [ $at -ne 7 ] || kill_at "$config-$at" 20 "${now[@]}" --resume
        run "$config-$at" 1 "${now[@]}" --resume || complain "$config: resuming: exit status $?"
        same $config "$config-$at" "$config killed at line $at"
    done
done

# A checkpoint of other settings, and one that is damaged, are refused in one line.
refuses train.lr run hard 1 "${hard[@]}" --resume --lr 0.5
refuses formats run hard 1 "${hard[@]}" --resume --set formats.dv=e4m3fn
printf 'x' | dd of="$work/hard/run/checkpoint.safetensors" bs=1 seek=3000 conv=notrunc 2>/dev/null
refuses checkpoint run hard 1 "${hard[@]}" --resume
refuses directory run hard 1 "${hard[@]}" --resume --set output.directory=
refuses nonesuch run hard 1 "${hard[@]}" --model nonesuch
refuses nonesuch run hard 1 "${hard[@]}" --policy nonesuch
refuses polynomial run hard 1 "${hard[@]}" --schedule polynomial
refuses conv99 run hard 1 "${hard[@]}" --set 'formats.conv99*=fp16'
refuses --frobnicate run hard 1 "${hard[@]}" --frobnicate
exit $status
