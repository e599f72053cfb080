#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh - libfpemu beside its peers on this machine.
#
# usage: run.sh LIBRARY [ENVIRONMENT [OPTION...]]
#
# Makes a Python virtual environment, in a directory that goes away in the end (or in ENVIRONMENT, which stays and is
# used again), and installs these packages into it, from where pip is set to look: numpy, ml_dtypes, gfloat, pychop,
# torch, torchao, bitsandbytes, and qtorch with ninja, which compiles itself when it is imported. With the CUDA
# libraries that the wheels of torch may bring along they take some gigabytes; PEERS="numpy ml_dtypes" in the
# environment installs fewer. Peers that are no packages are fetched by whoever wants them measured: MICROXCALING,
# SOFTPOSIT, UNIVERSAL and CPFLOAT in the environment name a folder each with a copy of the repository. What is not
# there is left out and named. Then peers.py measures LIBRARY, libfpemu.so, and them; its OPTIONs.
set -u

[ $# -ge 1 ] || { echo "usage: run.sh LIBRARY [ENVIRONMENT [OPTION...]]" >&2; exit 2; }
library=$1
environment=${2:-}
shift
[ $# -eq 0 ] || shift
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "$environment" ]; then
    environment=$(mktemp -d) || exit 1
    trap 'rm -rf "$environment"' EXIT
    trap 'exit 1' HUP INT TERM
fi
python3 -m venv "$environment" || { echo "no virtual environment: Python's venv is needed" >&2; exit 1; }
for package in ${PEERS:-numpy ml_dtypes gfloat pychop torch torchao setuptools ninja qtorch bitsandbytes}; do
    echo "Installing $package ..." >&2
    "$environment/bin/pip" install -q "$package" >&2 || echo "not installed: $package" >&2
done
export TORCH_EXTENSIONS_DIR="$environment/extensions" # of qtorch; an earlier build that was cut off would block it
PATH=$environment/bin:$PATH "$environment/bin/python" "$here/peers.py" "$library" "$@"
