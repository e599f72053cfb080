#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What `make install' puts in place serves a program outside the tree: installed into a folder of the test's own, where
# tests/installed.sh looks at it.
# From the makefile: MAKE, CC, top_srcdir.
set -euo pipefail

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
if ! "${MAKE:-make}" -s install-libLTLIBRARIES install-data DESTDIR="$stage" >"$stage/log" 2>&1 </dev/null; then
    cat "$stage/log"
    exit 1
fi
"${MAKE:-make}" -s installcheck-local DESTDIR="$stage"
