#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# configured.sh - what configure chooses: no library that pkg-config tells of but that does not link, as those of the
# building machine where the programs are for another.
# From the makefile: CC, MAKE, top_srcdir.
set -uo pipefail
source=$(cd "$top_srcdir" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
status=0

run() { # OPTION...: configures by what was found before
    "$source/configure" -C CC="$CC" --disable-tools --without-cuda "$@" >log 2>&1
}

refused() { # NAME OPTION...
    ! run "${@:2}" && grep -q "^configure: error: --$1: " log || { echo "$*: $(tail -n 1 log)"; status=1; }
}

is() { # WORD VALUE: as the summary of configure has it
    grep -qE "^ +$1 +$2(,|\$)" log || { echo "$1 is not $2: $(grep -E "^ +$1 |error:" log)"; status=1; }
}

mkdir elsewhere
for module in mpfr gmp openblas check; do
    printf '%s\n' "Name: $module" "Description: of another machine" "Version: 9" "Libs: -lof_another_machine" \
        >"elsewhere/$module.pc"
done
export PKG_CONFIG_PATH=$work/elsewhere

run || tail -n 5 log
for library in MPFR BLAS 'unit tests \(Check\)'; do
    is "$library" no
done
"${MAKE:-make}" -n 2>/dev/null | grep ' -c .*/tests/' && status=1 # the judges are for `make check' alone
refused with-mpfr --with-mpfr
exit $status
