#!/usr/bin/env bash
# `make installcheck': a program outside the tree, compiled by what pkg-config says, runs against the installed library.
# From the makefile: CC, PKG_CONFIG, pkgconfigdir, libdir, and the source as the argument.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PKG_CONFIG_PATH=$pkgconfigdir

read -ra flags < <($PKG_CONFIG --cflags --libs fpemu)
$CC -o "$work/program" "$1" "${flags[@]}" "-Wl,-rpath,$libdir"
[ -n "$("$work/program")" ]
