# SPDX-License-Identifier: BSD-2-Clause
# What loss scaling is for: FP16 learns with and without it, FP8 only with it.
. "$(dirname "$0")/common.sh"

trained() { # NAME FORMAT OPTION...
    local name=$1 format=$2 role
    shift 2
    for role in v w dv dw; do set -- "$@" --set formats.$role="$format"; done
    run "$name" 2 --model lenet --data digits --epochs 5 --batch 128 --lr 0.03 --schedule cosine "$@" \
        --set data.train_count=4000 --set data.test_count=1000 --set train.diverged=continue || complain "$name: run"
}

learns() { # NAME
    summary "$1" | awk -F '[:,]' '/"last_accuracy"/ { accuracy = $2 } END { exit !(accuracy > 0.85) }'
}

trained fp16 fp16
trained fp16-scaled fp16 --scaler backoff
trained fp8 e4m3fn:saturate
trained fp8-scaled e4m3fn:saturate --scaler backoff --set scaler.scale=256
for name in fp16 fp16-scaled fp8-scaled; do
    learns $name || complain "$name does not learn: $(summary $name | grep accuracy)"
done
learns fp8 && complain "fp8 learns without loss scaling: $(summary fp8 | grep accuracy)"
exit $status
