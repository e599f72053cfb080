#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What decides numbers is not the user's: whatever NVCCFLAGS says, the strict flags come after it on every line of nvcc.
# From the makefile: top_builddir.
set -euo pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL

lines=$("${MAKE:-make}" -n -C "$top_builddir" -W gpu/arith.cu -W "$top_srcdir/gpu/arith.cu" \
    NVCC=some_nvcc NVCCFLAGS='-O1 --fmad=true' gpu/arith.lo |
    grep 'some_nvcc')
for flag in --fmad=false --ftz=false --prec-div=true --prec-sqrt=true -ffp-contract=off; do
    case $lines in
    *"-O1 --fmad=true "*" $flag "*) ;;
    *) echo "no $flag after the user's flags: $lines" && exit 1 ;;
    esac
done
