#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Networks from a file: the text travels with the run; what looks at networks takes them too. And the sizes of named
# models as settings. That the files are the models of the same names is for tests/fptrain/network_text.c.
FPEMU=$FPTRAIN
hardware=$(cd "$(dirname "$0")/../../share/fptrain/hardware" && pwd)/rtx2080ti.json
. "$(dirname "$0")/common.sh"
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

# run NAME ARGUMENT...: into the directory NAME.
run() {
    out=$1
    shift
    "$FPTRAIN" run --quiet --epochs 1 --batch 8 --set output.log_every=1 --out "$out" "$@" >said 2>&1 ||
        failed "fptrain run $*: $(cat said)"
}

# ------------------------------------------------------------------- the text is part of the run
cat >own.net <<'END'
# one layer has a name
linear 20 name=first
relu
linear classes
END
run own --model ./own.net --data digits --set data.train_count=40 --set data.test_count=8 \
    --set formats.first.weight=e4m3fn --set 'formats.first.d*=e5m2'
grep -q '^name = own.net$' own/settings.ini && sed -n '/^\[network\]$/,$p' own/settings.ini | tail -n +2 >kept
same kept own.net
grep -q '"first.weight"' own/log.jsonl || failed 'the log has no first.weight'
grep -q '"first.dweight"' own/log.jsonl || failed 'the log has no first.dweight'
run twice --model own.net --epochs 2 --data digits --set data.train_count=40 --set data.test_count=8
mkdir elsewhere
cp twice/settings.ini elsewhere/run.ini
(cd elsewhere && "$FPTRAIN" run --config run.ini --out ../twice --resume --quiet) >said 2>&1 ||
    failed "resumed without the file: $(cat said)"
"$FPTRAIN" run --config elsewhere/run.ini --model own.net --resume --quiet >said 2>&1 ||
    failed "resumed with the file: $(cat said)"
sed -i 's/^relu$/relu # as before/' own.net
"$FPTRAIN" run --config elsewhere/run.ini --model own.net --resume --quiet >said 2>&1 ||
    failed "resumed with another comment: $(cat said)"
sed -i 's/^linear 20/linear 21/' own.net
refuses 'is of a run with another network own.net' run --config elsewhere/run.ini --model own.net --resume --quiet
printf '[data]\nsource = digits\ntrain_count = 200\ntest_count = 50\n[train]\nepochs = 1\n' >few.ini
"$FPTRAIN" tradeoff --model own.net --config few.ini --schemes ratio --ratios 1:1:1 --parts 2 --drop 100 --seeds 1 \
    --out halves >said 2>&1 || failed "tradeoff over parts: $(cat said)"
refuses "fptrain: run: no tensor of this network is called 'second.weight'" run --quiet --model own.net --data digits \
    --set data.train_count=8 --set formats.second.weight=fp16
refuses "fptrain: eval: no tensor of this network is called 'second.*'" eval own --formats 'second.*=fp16'
# A run knows its file by name alone: no output takes that name.
mkdir apart
cp own.net apart
sed '/^\[formats\]$/,/^$/d' own/settings.ini >plain.ini
cp own.net before
for net in own.net apart/own.net; do
    refuses "--plot has the name of the network: '$net'" eval own --plot "$net"
    same "$net" before
done
for name in e.npz e.NPY own.net.gguf e.fpk; do
    refuses "export: -o: '$name' is named as another kind" export own -o $name
    holds ! -e $name
done
refuses "--version: unexpected argument 'x'" --version x
refuses "--help: unexpected argument 'run'" --help run

# a file of settings may have it, and then no other is asked for
printf '[model]\nname = inside.net\n[network]\nlinear 12, relu\nlinear classes\n[train]\nbatch = 4\n' >inside.ini
run inside --config inside.ini --data digits --set data.train_count=8 --set data.test_count=4
printf '[model]\nname = mlp\n[network]\nrelu\n' >bad.ini
refuses 'bad.ini:3: [network] describes a model whose name ends with .net' run --config bad.ini
printf '[model]\nname = x.net\n[network]\nrelu\n\nlinear tenn\n' >bad.ini
refuses "bad.ini:6: 'tenn': nothing is called 'tenn'" run --config bad.ini --data digits

# ------------------------------------------------------------------- commands that look at networks
"$FPTRAIN" models own.net --shape 1x4x4 --classes 3 >table || failed 'models own.net'
grep -q '^own.net: 4 operators, 423 parameters,' table || failed "$(head -n 1 table)"
grep -q '^first  *input  *21  *357 .* first.v first.dv first.weight (21 x 16) first.dweight first.bias (21)' table ||
    failed "$(cat table)"
"$FPTRAIN" models --layers >layers && grep -q '^conv channels kernel \[stride=1\]' layers || failed 'models --layers'
"$FPTRAIN" models >all && grep -q '^resnet20.net ' all && grep -q '^resnet20 ' all || failed 'models'
"$FPTRAIN" models chargpt.net --shape text --classes 65 --set data.steps=32 >table || failed 'models chargpt.net'
grep -q '^chargpt.net: 45 operators, 814145 parameters' table || failed "$(head -n 1 table)"
for command in assign 'estimate --memory 1M'; do
    for name in resnet20 resnet20.net; do
        # shellcheck disable=SC2086
        "$FPTRAIN" $command --model $name --shape 3x32x32 --batch 16 | sed "s/$name/NAME/" >$name.said || failed "$name"
    done
    holds -s resnet20.said
    same resnet20.said resnet20.net.said
done
"$FPTRAIN" estimate --memory 1M --model own.net --shape 1x4x4 >out || failed 'estimate of a width that is not used'
grep -q '^momentum  fp32  *1\.00  *577 ' out || failed "$(cat out)"
"$FPTRAIN" estimate --hardware "$hardware" --model own.net --shape 1x4x4 >out || failed 'estimate on hardware'
"$FPTRAIN" tradeoff --out sweep --model own.net --data digits --set data.train_count=16 --set data.test_count=8 \
    --epochs 1 --batch 8 --ratios 0:1:1 --seeds 1 --schemes fp32,ratio >said 2>&1 || failed "tradeoff: $(cat said)"
for run in sweep/*/settings.ini; do
    grep -q '^linear 21 name=first$' "$run" || failed "$run has no network"
done
run assigned --model own.net --policy assign:ratio=0.5 --data digits --set data.train_count=16 --set data.test_count=8

# ------------------------------------------------------------------- what is wrong
refuses 'none.net: no such file, and no network of that name' models none.net
refuses "resnet2.net: no such file, and no network of that name" models resnet2.net
printf 'linear classes\n[x]\n' >bad.net
refuses "bad.net:2: a line of a network does not begin with '['" models bad.net
printf 'linear classes\n\n conv 3 3\001\n' >bad.net
refuses 'bad.net:3: a control character' models bad.net
head -c 70000 /dev/zero | tr '\0' ' ' >bad.net
refuses 'bad.net' models bad.net
refuses '[network] has no keys' run --model own.net --data digits --set network.text=3
refuses 'model.width; it takes none of these' run --model own.net --data digits --set model.width=0.5
refuses 'the model mlp does not use model.norm' run --model mlp --data digits --set model.norm=no

refuses '--layers stands alone' models --layers x
refuses "--shape: ' 1x 28x 28' is not" models mlp --shape ' 1x 28x 28'
refuses "--classes: ' 10' is not" models mlp --shape 1x28x28 --classes ' 10'
refuses "called 'step: 1'" run --model mlp --set 'train.schedule=step: 1'
refuses "data.mean: ' 0.5' is no number" run --model mlp --data digits --set 'data.mean=0.5, 0.5' \
    --set data.deviation=1
# Where a value is in its range but not possible, the message has the setting.
refuses 'optimizer.momentum ' run --model mlp --set optimizer.momentum=1
refuses 'optimizer.beta2 ' run --model mlp --optimizer adam --set optimizer.beta2=1
refuses 'optimizer.epsilon ' run --model mlp --optimizer adam --set optimizer.epsilon=0
refuses 'scaler.scale ' run --model mlp --scaler fixed --set scaler.scale=3
refuses 'scaler.underflow_target ' run --model mlp --scaler adaptive --set scaler.underflow_target=1
refuses 'scaler.alpha_cap ' run --model mlp --scaler adaptive --set scaler.alpha_cap=3

# ------------------------------------------------------------------- sizes of named models
"$FPTRAIN" models resnet --set model.depth=8 --shape 3x32x32 | grep -q '^resnet: 29 operators, 75290 parameters' ||
    failed 'a resnet of 8 layers'
"$FPTRAIN" models mlp --set model.hidden=100,50,25 --shape 1x28x28 |
    grep -q '^mlp: 8 operators, 85085 parameters' || failed 'an mlp of 100, 50 and 25'
run deep --model resnet --set model.depth=14 --set model.width=0.25 --set model.last=0.01 --data shapes \
    --set data.train_count=16 --set data.test_count=8
loss=$(sed -n 's/.*"loss":\([0-9.]*\).*/\1/p' deep/log.jsonl | head -n 1)
awk "BEGIN { exit !($loss > 2.25 && $loss < 2.35) }" || failed "first loss $loss, not ln(10)"
finish
