# SPDX-License-Identifier: BSD-2-Clause
# Weights go to PyTorch and come from it, and what eval says under formats is what ml_dtypes' casts give.
. "$(dirname "$0")/common.sh"
judge=$here/weights_judge.py
cd "$work" || exit 1
export OMP_NUM_THREADS=1
python3 -c 'import ml_dtypes, numpy, safetensors.numpy' >/dev/null 2>&1 ||
    { echo 'skipped: no Python 3 with numpy, safetensors and ml_dtypes'; exit 77; }

fails() {
    echo "$*"
    exit 1
}

train() { # NAME OPTION...
    local name=$1
    shift
    "$fptrain" run --data mnist:"$work" --epochs 1 --batch 32 --quiet --out "$name" "$@" || fails "$name: run"
}

python3 "$judge" data . || fails "no data"
train mlp --model mlp --set model.width=0.1
"$fptrain" export mlp -o mlp.safetensors --names own || fails export
"$fptrain" eval mlp --json --formats fp32 --formats w=e4m3fn:saturate --formats e4m3fn:saturate \
    --formats 'scaled(e4m3fn)' >formats.json || fails "eval mlp"
python3 "$judge" check . || fails "mlp: the judge says no"

python3 -c 'import torch, safetensors.torch' >/dev/null 2>&1 || { echo 'no torch: its part is left out'; exit 0; }
train lenet --model lenet
train resnet --model resnet20 --set model.width=0.25 --set model.projections=yes
"$fptrain" run --model charlstm --set model.width=0.25 --data text:text --set data.steps=16 --epochs 1 --quiet \
    --out lstm || fails "lstm: run"
for name in lenet resnet lstm; do
    "$fptrain" export $name -o $name.safetensors || fails "export $name"
done
for name in lenet resnet lstm; do
    "$fptrain" eval $name --json --formats fp32 >$name.json || fails "eval $name"
done
python3 "$judge" weights . || fails "no weights"
train loaded --model lenet --lr 0 --init-from half.safetensors
"$fptrain" export loaded -o loaded.safetensors --names own || fails "export loaded"
tune="run --model lenet --data mnist:$work --epochs 1 --lr 0 --quiet --init-from headless.safetensors --out tuned"
refuses "no weights for 'linear3.weight', 'linear3.bias'" "$fptrain" $tune
"$fptrain" $tune --set 'init.partial=linear3.*' || fails "a new last layer"
"$fptrain" export tuned -o tuned.safetensors --names own || fails "export tuned"
"$fptrain" eval half.safetensors --model lenet --data mnist:"$work" --json --formats fp32 >half.json || fails "eval half"
"$fptrain" eval back.safetensors --model charlstm --set model.width=0.25 --data text:text --set data.steps=16 --json \
    --formats fp32 >back.json || fails "eval back"
python3 "$judge" torch . || fails "torch: the judge says no"
exit $status
