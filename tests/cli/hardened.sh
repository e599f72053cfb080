#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# hardened.sh - what configure says of hardening is true of the programs and of the library: position-independent, bound
# at the start with read-only tables after it, stack protector, checked functions of the C library.
set -uo pipefail
cd "$top_builddir" || exit 1
value() { sed -n "s/^$1 = *//p" Makefile | head -n 1; }
flags="$(value HARDENING_CFLAGS) $(value HARDENING_LDFLAGS) $(value RELRO_LDFLAGS)"
command -v readelf >/dev/null || { echo "no readelf"; exit 77; }
[ -n "${flags// /}" ] || { echo "configured without hardening"; exit 77; }
status=0
lacks() { # FILE WHAT
    echo "$1: $2, though configure says$flags"
    status=1
}
# Programs that libtool wraps lie in .libs.
program() { [ -e "${1%/*}/.libs/${1##*/}" ] && echo "${1%/*}/.libs/${1##*/}" || echo "$1"; }
for name in tools/fpemu/fpemu tools/fptrain/fptrain; do
    file=$(program "$name")
    [ -e "$file" ] || continue
    readelf -h "$file" >hardened.head 2>/dev/null || { echo "no ELF: $file"; exit 77; }
    readelf -sW "$file" >hardened.names
    if [[ $flags == *-pie* ]] && ! grep -q 'Type: *DYN' hardened.head; then
        lacks "$file" "not position-independent"
    fi
    if [[ $flags == *stack-protector* ]] && ! grep -q __stack_chk_fail hardened.names; then
        lacks "$file" "no stack protector"
    fi
    if [[ $flags == *FORTIFY* && $(value OPTIMISATION) != *-O0* ]] && ! grep -q '_chk[@ ]' hardened.names; then
        lacks "$file" "no checked functions"
    fi
done
for file in "$(program tools/fpemu/fpemu)" "$(program tools/fptrain/fptrain)" lib/.libs/libfpemu.so; do
    [ -e "$file" ] && [[ $flags == *relro* ]] || continue
    readelf -lW "$file" | grep -q GNU_RELRO || lacks "$file" "no GNU_RELRO"
    readelf -dW "$file" | grep -q 'BIND_NOW\|Flags: NOW' || lacks "$file" "not bound at the start"
done
rm -f hardened.head hardened.names
exit "$status"
