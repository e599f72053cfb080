# SPDX-License-Identifier: BSD-2-Clause
# Every public function is written out where it is defined: a search for its name finds the definition. One with a type
# at the end of its name is a line of the list in fpemu/typed.h (of CUDA fpemu_cuda.h), which has "##T" for the type, and
# the function that it calls is written out.
set -eu
export LC_ALL=C
status=0
names=$(mktemp)
trap 'rm -f "$names"' EXIT
find_definitions() { # list of symbols, folder, header with the list of types
    sed -n 's/^ *\(fpemu_[a-z0-9_]*\);$/\1/p' "$1" >"$names"
    [ -s "$names" ] || { echo "$1: no names found"; status=1; }
    while read -r name; do
        case $name in
        *_f32 | *_f64 | *f16) if grep -q "^ *F(.*\b${name%_*}_##T," "$3"; then name=${name%_*}; fi ;;
        esac
        find "$2" -name '*.c' -exec cat {} + | grep -E "^[a-z][A-Za-z0-9_ *]*[ *]$name\(" | grep -qv ';$' || {
            echo "$name: no definition in $2 that a search for its name finds"
            status=1
        }
    done <"$names"
}
find_definitions "$top_srcdir/lib/libfpemu.map" "$top_srcdir/lib" "$top_srcdir/include/fpemu/typed.h"
find_definitions "$top_srcdir/gpu/libfpemu_cuda.map" "$top_srcdir/gpu" "$top_srcdir/include/fpemu_cuda.h"
exit $status
