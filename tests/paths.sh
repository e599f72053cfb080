#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# paths.sh - what is installed does not say in which folders it was built or where its source lay: the quick part of
# `make check-reproducible`.
set -uo pipefail
cd "$top_builddir" || exit 1
grep -q '^PREFIX_MAP_CFLAGS = .*-ffile-prefix-map' Makefile || { echo "the compiler has no -ffile-prefix-map"; exit 77; }
build=$(pwd -P) source=$(cd "$top_srcdir" && pwd -P)
prefix=$(sed -n 's/^prefix = //p' Makefile) # which may be said, and lie in one of these
status=0
for file in lib/.libs/libfpemu.so lib/.libs/libfpemu.a lib/fpemu.pc lib/fpemu-config.cmake; do
    [ -e "$file" ] || continue
    for folder in "$build" "$source"; do
        if [ "$(LC_ALL=C sed "s|$prefix||g" "$file" | grep -caF "$folder")" != 0 ]; then
            echo "$file names $folder"
            status=1
            break
        fi
    done
done
exit "$status"
