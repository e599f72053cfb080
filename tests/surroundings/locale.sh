#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Calls give the same bits, and texts of formats are read and written as ever, in a process whose locale has a decimal
# comma: one that localedef makes here, since a system may have none.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
localedef -c -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >"$work/out" 2>&1 || :
[ -e "$work/de_DE.UTF-8/LC_NUMERIC" ] || { echo "skipped: localedef makes no de_DE: $(head -1 "$work/out")"; exit 77; }
LOCPATH=$work "$top_builddir/tests/surroundings/environment" locales
