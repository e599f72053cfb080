#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh PYTHON SOURCE BUILD: builds the wheel as tests/python/run.sh does, and measures with it. Packages beside fpemu are
# those of PYTHON's environment; without torch its rows are left out.
set -euo pipefail
python=$1
source=$2
build=$3
bash "$source/python/wheel.sh" "$python" "$source" "$build"
target=$build/python-bench
rm -rf "$target"
"$python" -m pip --disable-pip-version-check install --quiet --no-deps --no-index --target "$target" \
    "$build"/dist/fpemu-*.whl
PYTHONPATH=$target OMP_NUM_THREADS=1 "$python" "$source/bench/python/overhead.py"
