# SPDX-License-Identifier: BSD-2-Clause
# run.sh [full] - the package `fpemu`: its wheel is built from this tree, installed into an environment in the build
# folder (environment.sh), and tested by pytest. Without a word, what needs JAX, PyTorch and its kin is left out, and the
# wheel holds the library that is built, and as that of CUDA the one whose kernels are played on the processor. full:
# with all packages, all tests or those of PYTHON_TESTS, a pattern of files.
set -u
source=$(cd "$top_srcdir" && pwd) || exit 1
build=$(cd "$top_builddir" && pwd) || exit 1
tests=$source/tests/python
environment=$build/python-${1:-env}
bash "$tests/environment.sh" "$@" || exit
played=$build/gpu/.libs/libplayed.so
unset FPEMU_CUDA_LIBRARY FPEMU_COMMAND
files=("$tests"/${PYTHON_TESTS-test_*.py})
if [ $# -eq 0 ]; then
    files=("$tests") # whole paths, as pytest takes others from its own folder
    for others in jax.py 'torch_*' 'compat_*'; do
        files+=(--ignore-glob "$tests/test_$others")
    done
    FPEMU_OBJECTS=$(for object in ${LIBRARY_OBJECTS-}; do
        echo "$build/${object%/*}/.libs/$(basename "$object" .lo).o"
    done | xargs)
    export FPEMU_OBJECTS
    [ ! -f "$played" ] || export FPEMU_CUDA_LIBRARY=$played
    export FPEMU_COMMAND=$build/tools/fpemu/fpemu
    build=$build/python-quick # beside the wheel of `make wheel', which is for others
fi

# ---------------------------------------------------------------------------------------------- the package
inside=$environment/bin/python
CC=${CC-} bash "$source/python/wheel.sh" "$inside" "$source" "$build" || exit 1
"$inside" -m pip --disable-pip-version-check install --quiet --no-deps --force-reinstall --no-index \
    "$build"/dist/fpemu-*.whl || exit 1

# ------------------------------------------------------------------------------------------------ the tests
FPTRAIN=$(cd "$top_builddir" && pwd)/tools/fptrain/fptrain
[ -x "$FPTRAIN" ] || FPTRAIN=
export FPTRAIN
# FPEMU_CUDA_PLAYED: tensors of the processor go to this library, as those of a device would to its own.
export FPEMU_CUDA_LIBRARY=$played
mkdir -p "$build/tests/python" && cd "$build/tests/python" || exit 1
OMP_NUM_THREADS=2 JAX_PLATFORMS=cpu PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=$build/tests/python/hypothesis \
    "$inside" -m pytest -q -p no:cacheprovider -W ignore::DeprecationWarning -W ignore::RuntimeWarning --rootdir "$tests" \
    -c "$source/pyproject.toml" "${files[@]}"
