# SPDX-License-Identifier: BSD-2-Clause
# The package `fpemu`: its wheel is built from this tree, installed into the environment in the build folder
# (environment.sh), and tested by pytest.
set -u
source=$(cd "$top_srcdir" && pwd) || exit 1
build=$(cd "$top_builddir" && pwd) || exit 1
tests=$source/tests/python
environment=$build/python-env
bash "$tests/environment.sh" || exit

# ---------------------------------------------------------------------------------------------- the package
inside=$environment/bin/python
CC=${CC-} bash "$source/python/wheel.sh" "$inside" "$source" "$build" || exit 1
"$inside" -m pip --disable-pip-version-check install --quiet --no-deps --force-reinstall --no-index \
    "$build"/dist/fpemu-*.whl || exit 1

# ------------------------------------------------------------------------------------------------ the tests
mkdir -p "$build/tests/python" && cd "$build/tests/python" || exit 1
FPTRAIN=
[ -x "$build/tools/fptrain/fptrain" ] && FPTRAIN=$build/tools/fptrain/fptrain
export FPTRAIN
OMP_NUM_THREADS=2 JAX_PLATFORMS=cpu PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=$build/tests/python/hypothesis \
    "$inside" -m pytest -q -p no:cacheprovider -W ignore::DeprecationWarning -W ignore::RuntimeWarning --rootdir "$tests" \
    -c "$source/pyproject.toml" "$tests"
