#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The data sets themselves: fptrain data has the counts and means that their descriptions give, and LeNet learns MNIST
# in the formats of share/fptrain/experiments, as far as a short run shows it. FPTRAIN_DATA says where they are, else a
# directory beside the source.
FPEMU=$FPTRAIN
experiments=$(cd "$(dirname "$0")/../../share/fptrain/experiments" && pwd) || exit 1
data=${FPTRAIN_DATA:-$(cd "$(dirname "$0")/../../.." && pwd)/shared/data}
[ -d "$data/mnist" ] || { echo "skipped: no data in $data (FPTRAIN_DATA)"; exit 77; }
. "$(dirname "$0")/common.sh"

# counts CLASS TRAINING TEST: of the data set shown last
counts() {
    grep -qxF -e "$(printf '%-12s %10d %10d' "$1" "$2" "$3")" out || failed "class $1: not $2 and $3"
}

shows 'mnist: 60000 samples for training, 10000 for testing, 10 classes, 28 x 28 pixels, 1 channel' "$data/mnist"
class=0
for both in 5923,980 6742,1135 5958,1032 6131,1010 5842,982 5421,892 5918,958 6265,1028 5851,974 5949,1009; do
    counts $class "${both%,*}" "${both#*,}"
    class=$((class + 1))
done
grep -q 'mean 0.13066' out || failed 'the mean of MNIST' # 33.318 of 255
if [ -d "$data/cifar10" ]; then
    shows 'cifar10: 20000 samples for training, 10000 for testing, 10 classes, 32 x 32 pixels, 3 channels' \
        "$data/cifar10"
    counts airplane 1989 1000
    counts cat 2011 1000
    counts truck 1966 1000
    grep -q '^red *mean 0.4926' out || failed 'the mean of CIFAR-10' # (125.79 + 125.46) / 2 of 255
fi
if [ -f "$data/tinyshakespeare/input.txt" ]; then
    shows 'text: 1003855 characters for training, 111539 for testing, 65 classes' "$data/tinyshakespeare/input.txt"
fi
for formats in '' fp16 fp8; do
    "$FPTRAIN" run --config "$experiments/mnist-lenet.ini" ${formats:+--config "$experiments/$formats.ini"} \
        --data "mnist:$data/mnist" --set data.limit=10000 --epochs 1 --threads 1 --out "run$formats" >out 2>err ||
        failed "${formats:-fp32}: $(cat err)"
    percent=$(sed -n 's/.*test \([0-9]*\)\..*/\1/p' out)
    [ "${percent:-0}" -ge 92 ] || failed "${formats:-fp32}: $(cat out)"
done
finish
