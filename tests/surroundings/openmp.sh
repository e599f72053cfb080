#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What a library compiled by gcc does after fork and dlclose where LLVM's OpenMP stands in for gcc's, whose functions it
# has too: as where clang compiled it.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for runtime in /usr/lib/llvm-*/lib/libomp.so /usr/lib/*/libomp.so* /usr/lib*/libomp.so*; do
    [ ! -e "$runtime" ] || break
done
[ -e "$runtime" ] || { echo 'skipped: no libomp'; exit 77; }
case $(ldd lib/.libs/libfpemu.so 2>/dev/null) in
*libgomp.so.1*) ;;
*) echo 'skipped: no library with libgomp'; exit 77 ;;
esac
ln -s "$runtime" "$work/libgomp.so.1"
export LD_LIBRARY_PATH=$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
tests/surroundings/fork
tests/surroundings/unload
