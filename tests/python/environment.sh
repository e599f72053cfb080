#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# environment.sh [full] - an environment for Python in the build folder, kept between runs: python-env with what `make
# check` needs, python-full with all that tests judge by (requirements.txt). Exits with 77 where it cannot be made, and
# says why. FPEMU_PYTHON_ENV names an environment that has the packages already; PYTHON another Python than python3.
# From the makefile: top_srcdir, top_builddir.
set -u
python=${PYTHON:-python3}
tests=$(cd "$top_srcdir/tests/python" && pwd) || exit 1
build=$(cd "$top_builddir" && pwd) || exit 1
environment=$build/python-${1:-env}
needed=$(sed -n '/^# optional/q; /^[^#]/p' "$tests/requirements.txt")
optional=
[ "${1-}" != full ] || optional=$(sed '1,/^# optional/d; /^#/d' "$tests/requirements.txt")

cannot() {
    echo "skipped: $*"
    exit 77
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || cannot "no Python 3.10 or newer"
"$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    cannot "no Python.h (Debian: python3-dev)"

wanted=$("$python" --version; echo "$needed$optional"; echo "${FPEMU_PYTHON_ENV-}")
if [ "$(cat "$environment/made-of" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$environment"
    if [ -n "${FPEMU_PYTHON_ENV-}" ]; then
        "$FPEMU_PYTHON_ENV/bin/python" -m venv --without-pip "$environment" || cannot "no module venv (Debian: python3-venv)"
        "$FPEMU_PYTHON_ENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
            >"$(echo "$environment"/lib/python3.*/site-packages)/outer.pth"
    else
        "$python" -m venv "$environment" 2>/dev/null || cannot "no module venv (Debian: python3-venv)"
        pip=("$environment/bin/python" -m pip --disable-pip-version-check install --quiet --progress-bar off)
        "${pip[@]}" -r <(echo "$needed") || cannot "the package index cannot be reached"
        while read -r package; do
            "${pip[@]}" "$package" || echo "without $package: it cannot be had"
        done < <(echo "$optional" | grep .)
    fi
    echo "$wanted" >"$environment/made-of"
fi
