# The package `fpemu`: its wheel is built from this tree, installed into an environment in the build folder, which is kept
# between runs, and tested by pytest. FPEMU_PYTHON_ENV names an environment that has the packages already; PYTHON another
# Python than python3.
set -u
python=${PYTHON:-python3}
source=$(cd "$top_srcdir" && pwd) || exit 1
build=$(cd "$top_builddir" && pwd) || exit 1
tests=$source/tests/python
environment=$build/python-env

cannot() {
    echo "skipped: $*"
    exit 77
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || cannot "no Python 3.10 or newer"
"$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    cannot "no Python.h (Debian: python3-dev)"

# ------------------------------------------------------------------------------------------ the environment
wanted=$("$python" --version; cat "$tests/requirements.txt"; echo "${FPEMU_PYTHON_ENV-}")
if [ "$(cat "$environment/made-of" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$environment"
    if [ -n "${FPEMU_PYTHON_ENV-}" ]; then
        "$FPEMU_PYTHON_ENV/bin/python" -m venv --without-pip "$environment" || cannot "no module venv (Debian: python3-venv)"
        "$FPEMU_PYTHON_ENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
            >"$(echo "$environment"/lib/python3.*/site-packages)/outer.pth"
    else
        "$python" -m venv "$environment" 2>/dev/null || cannot "no module venv (Debian: python3-venv)"
        pip=("$environment/bin/python" -m pip --disable-pip-version-check install --quiet --progress-bar off)
        sed -n '/^# optional/q; /^[^#]/p' "$tests/requirements.txt" >"$environment/needed"
        "${pip[@]}" -r "$environment/needed" || cannot "the package index cannot be reached"
        sed '1,/^# optional/d; /^#/d' "$tests/requirements.txt" | while read -r package; do
            "${pip[@]}" "$package" || echo "without $package: it cannot be had"
        done
    fi
    echo "$wanted" >"$environment/made-of"
fi

# ---------------------------------------------------------------------------------------------- the package
inside=$environment/bin/python
CC=${CC-} bash "$source/python/wheel.sh" "$inside" "$source" "$build" || exit 1
"$inside" -m pip --disable-pip-version-check install --quiet --no-deps --force-reinstall --no-index \
    "$build"/dist/fpemu-*.whl || exit 1

# ------------------------------------------------------------------------------------------------ the tests
mkdir -p "$build/tests/python" && cd "$build/tests/python" || exit 1
OMP_NUM_THREADS=2 JAX_PLATFORMS=cpu PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=$build/tests/python/hypothesis \
    "$inside" -m pytest -q -p no:cacheprovider -W ignore::DeprecationWarning --rootdir "$tests" \
    -c "$source/pyproject.toml" "$tests"
