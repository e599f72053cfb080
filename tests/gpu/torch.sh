#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# torch.sh - what a device has to show of fpemu.torch, in some ten minutes: bits and counters of every operator on the
# processor and on CUDA, graphs, torch.compile, and training steps beside FP32, QPyTorch and torchao, where these are
# installed. Its output, with a head as check.sh has it, is added to torch-check.txt in FOLDER, for doc/validation.
# Steps that passed stand in torch-check.state there and are not run again.
# usage: tests/gpu/torch.sh WHEEL FOLDER [STEP...]
# WHEEL: of `make wheel', with libfpemu_cuda.so inside. PYTHON: one with PyTorch for CUDA, pytest and hypothesis.
set -u
[ $# -ge 2 ] || { echo "usage: $0 WHEEL FOLDER [STEP...]" >&2; exit 2; }
wheel=$1 folder=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
device=${FPEMU_TEST_DEVICE:-cuda}
state=$folder/torch-check.state
site=$(mktemp -d) || exit 1
trap 'rm -rf "$site"' EXIT
"$python" -m pip --disable-pip-version-check install -q --no-index --no-deps --target "$site" "$wheel" || exit 1
export PYTHONPATH=$site PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 FPEMU_TEST_DEVICE=$device
: >>"$state"

pytest="-m pytest -q -p no:cacheprovider -W ignore $here/../python/test_torch_device.py"
steps="$here/../../bench/python/torch_steps.py --device $device"
# One line a step: its name, how long it may take, the command.
steps() {
    cat <<END
bits     300 $pytest -k 'not graph and not compiled'
graphs   60  $pytest -k graph
compile  120 $pytest -k compiled
resnet18 120 $steps --models ${TORCH_RESNET:-resnet18-256}
gpt      180 $steps --models ${TORCH_GPT:-gpt100m}
END
}

run() {
    echo "# wheel     $(basename "$wheel")"
    echo "# device    $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo none)"
    echo "# software  $("$python" -V), torch $("$python" -c 'import torch; print(torch.__version__)')"
    echo "# date      $(date -u '+%Y-%m-%d %H:%M UTC')"
    failed=0
    while read -r name limit command; do
        case " $* " in *" $name "*) ;; *) [ $# -eq 0 ] || continue ;; esac
        if grep -q "^$name\$" "$state"; then
            echo "$name: passed before"
            continue
        fi
        echo "$name:"
        if eval "timeout $limit '$python' $command"; then echo "$name" >>"$state"; else
            echo "$name: status $?"
            failed=1
        fi
    done < <(steps)
    return $failed
}

run "$@" 2>&1 | tee -a "$folder/torch-check.txt"
exit "${PIPESTATUS[0]}"
