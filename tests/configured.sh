#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# configured.sh - what configure chooses: the variants that --enable-variants names, and no library that pkg-config tells
# of but that does not link, as those of the building machine where the programs are for another.
# From the makefile: CC, FPEMU, MAKE, top_srcdir.
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

run --enable-variants=native || tail -n 5 log
for library in MPFR BLAS 'unit tests \(Check\)'; do
    is "$library" no
done
best=$("$FPEMU" --version | sed -n 's/.*\(portable\|x86-64-v[34][a-z-]*\).*/\1/p')
grep -q '^#define FPEMU_HAVE_V3 1' "$OLDPWD/variants.h" && is 'array loops' "portable.*${best/portable/}"
"${MAKE:-make}" -n >commands 2>/dev/null || { echo 'make -n fails'; status=1; }
grep ' -c .*/tests/' commands && status=1 # the judges are for `make check' alone
if [ "$best" != portable ]; then # beside native loops the portable ones are compiled in less time
    grep -q '^PORTABLE_OPTIMISATION = -O1' Makefile || { grep ^PORTABLE Makefile; status=1; }
fi

refused with-mpfr --with-mpfr
refused enable-variants=avx2 --enable-variants=native,avx2
refused enable-variants=native --cache-file=/dev/null --build=aarch64-linux-gnu --host=x86_64-linux-gnu \
    --enable-variants=native
run -n --enable-variants=portable || { tail -n 5 log; status=1; }
is 'array loops' portable
case $(uname -m) in
x86_64)
    run -n --enable-variants=x86-64-v4 || { tail -n 5 log; status=1; }
    is 'array loops' 'portable x86-64-v4'
    ;;
*) refused enable-variants=x86-64-v3 --enable-variants=x86-64-v3 ;;
esac
exit $status
