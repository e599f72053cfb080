#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The recipes for distributions agree with the project: packaging/check.py.
# From the makefile: MAKE, SHELL, top_srcdir, top_builddir.
set -euo pipefail

python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || { echo "no Python 3.9"; exit 77; }
[ -x "$top_builddir/tools/fptrain/fptrain" ] || { echo "not all programs are built here"; exit 77; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
"$top_srcdir/configure" --help=recursive >"$stage/help"
if ! "${MAKE:-make}" -s install-strip DESTDIR="$stage/root" >"$stage/log" 2>&1 </dev/null; then
    cat "$stage/log"
    exit 1
fi
for file in $(find "$stage/root" -name 'libfpemu*.so'); do
    ! objdump -h "$file" 2>/dev/null | grep -q '\.debug_info' || { echo "$file has debugging information"; exit 1; }
done
# as if the prefix were /usr, with Debian's folders of libraries
prefix=$(cd "$stage/root" && find . -path '*/bin/fpemu' | sed 's:/bin/fpemu$::')
(cd "$stage/root/$prefix" && find . -type f -o -type l) | grep -v 'fpemu_cuda' |
    sed -e 's:^\./:usr/:' -e 's:^usr/lib[0-9]*/:usr/lib/any/:' >"$stage/files"
python3 "$top_srcdir/packaging/check.py" "$top_srcdir" "$stage/help" "$stage/files"
