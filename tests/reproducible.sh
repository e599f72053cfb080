#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# reproducible.sh - two builds of one archive give equal files, though folders, times, time zones, locales, umasks, home
# and the number of jobs differ: all that `make install` installs, static library too, what `make dist` packs again, and
# the wheel where PYTHON (python3) has setuptools of 77 or later.
# usage: reproducible.sh ARCHIVE RECORD, which gets the checksum of each file; CONFIGURE="..." are options for configure.
set -euo pipefail
archive=$(realpath "$1") record=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra options <<<"${CONFIGURE-}"
python=$(command -v "${PYTHON:-python3}" || :)
wheel='import setuptools, sys; sys.exit(int(setuptools.__version__.split(".")[0]) < 77)'
if [ -n "$python" ] && ! "$python" -c "$wheel" 2>/dev/null; then
    python=
fi

build() { # FOLDER UMASK JOBS SOURCE: where configure lies, seen from the build
    mkdir -p "$1/home" "$1/installed"
    tar -xf "$archive" -C "$1" --strip-components=1
    mkdir -p "$1/out/of/tree"
    (
        cd "$1/out/of/tree"
        umask "$2"
        unset MAKEFLAGS MAKELEVEL MFLAGS
        export CCACHE_DISABLE=1 # else the second build copies what the first made
        HOME=$1/home "${4/#TOP/$1}/configure" --prefix=/usr --enable-static --without-cuda ${options[@]+"${options[@]}"}
        make -j"$3"
        make install DESTDIR="$1/installed"
        make dist
        [ -z "$python" ] || make wheel PYTHON="$python"
    ) >"$1/log" 2>&1 || { tail -n 20 "$1/log"; echo "$1 does not build"; exit 1; }
    cp "$1"/out/of/tree/*.tar.xz "$1/installed/"
    [ -z "$python" ] || cp "$1"/out/of/tree/dist/*.whl "$1/installed/"
}

TZ=UTC LC_ALL=C build "$work/a" 022 2 ../../..
sleep 1
TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 build "$work/another/folder-with-a-rather-long-name" 027 1 TOP
one=$work/a/installed two=$work/another/folder-with-a-rather-long-name/installed
(cd "$one" && find . -type f | sort) >"$work/names"
(cd "$two" && find . -type f | sort) | cmp -s - "$work/names" || { echo "other files are installed"; exit 1; }
status=0
: >"$record"
while read -r file; do
    if cmp -s "$one/$file" "$two/$file"; then
        (cd "$one" && sha256sum "$file") >>"$record"
    else
        echo "differs: $file"
        status=1
    fi
done <"$work/names"
[ "$status" -ne 0 ] || echo "$(wc -l <"$record") files are equal${python:+, a wheel among them}"
exit "$status"
