#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# wheel.sh PYTHON SOURCE BUILD: the wheel of the package in BUILD/dist, from a copy of the sources in BUILD/python-src, so
# that nothing is written beside these. Objects are kept there for the next time. Where auditwheel and patchelf are
# installed, the wheel is made to run on every Linux with a glibc as old as its symbols allow.
# FPEMU_CUDA_LIBRARY names a libfpemu_cuda.so that the wheel shall hold; by default that of BUILD, if there is one.
# Files in the wheel have the time of SOURCE_DATE_EPOCH; by default that of the last commit or of NEWS, as `make dist` has.
# Their permissions are the same under every umask.
set -euo pipefail
umask 022
python=$1
source=$2
build=$3
copy=$build/python-src
wheels=$build/dist

mkdir -p "$copy" "$wheels"
rm -rf "${copy:?}/include" "${copy:?}/lib" "${copy:?}/m4" "${copy:?}/python" "${copy:?}/tools"
(cd "$source" && tar cf - --exclude='*.so' --exclude=__pycache__ --exclude='*.egg-info' --exclude=.libs --exclude='*.o' \
    --exclude='*.lo' pyproject.toml setup.py MANIFEST.in configure.ac Makefile.am COPYING include lib m4 python \
    share/fpemu/hdl tools/common tools/fpemu tools/local.mk) |
    (cd "$copy" && tar xpf - && chmod -R u+rwX,go+rX,go-w .)
rm -f "$wheels"/fpemu-*.whl

if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
    SOURCE_DATE_EPOCH=$( ([ -e "$source/.git" ] && git -C "$source" log -1 --format=%ct 2>/dev/null) ||
        date -r "$source/NEWS" +%s)
fi
export SOURCE_DATE_EPOCH

cuda=$build/gpu/.libs/libfpemu_cuda.so
if [ -z "${FPEMU_CUDA_LIBRARY-}" ] && [ -f "$cuda" ]; then
    FPEMU_CUDA_LIBRARY=$(readlink -f "$cuda")
    export FPEMU_CUDA_LIBRARY
fi

isolation=()
if "$python" -c 'import setuptools, sys; sys.exit(int(setuptools.__version__.split(".")[0]) < 77)' 2>/dev/null; then
    isolation=(--no-build-isolation)
fi
"$python" -m pip --disable-pip-version-check wheel --quiet --no-deps "${isolation[@]}" --wheel-dir "$wheels" "$copy"

if "$python" -c 'import auditwheel' 2>/dev/null && PATH=$(dirname "$python"):$PATH command -v patchelf >/dev/null; then
    PATH=$(dirname "$python"):$PATH "$python" -m auditwheel repair --wheel-dir "$wheels/repaired" "$wheels"/fpemu-*.whl \
        >"$wheels/auditwheel.log" 2>&1 || { cat "$wheels/auditwheel.log" >&2; exit 1; }
    rm "$wheels"/fpemu-*.whl
    mv "$wheels"/repaired/fpemu-*.whl "$wheels"
    rmdir "$wheels/repaired"
fi
