#!/bin/sh
# run.sh - that the tests notice each defect of mutants.txt.
#
# usage: [CC=gcc] [JOBS=2] tests/mutants/run.sh [NAME...]
#
# Each defect is one line of the library changed in a copy of the library; the copy is built plainly (-O1, no vector
# variants) and a few tests of tests/oracle and tests/unit run on it, which must fail. A table is printed; exit status
# 1 if a defect survives, if its old text is not found exactly once, or if the tests fail on the library as it is.
# Defects of blocked formats are for the tests of blocks, which need MPFR, GMP and Check.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
list=$here/mutants.txt
cc=${CC:-cc}
flags="-std=c11 -O1 -ffp-contract=off -w -Iinclude"
tests='values peers compat stochastic counters properties'
block_tests='check_blockspec check_pack blockvectors blockstats packing blocks'
judges='slow judge mpfr compare blocks blockcase'

# The line of a defect that begins with mark $2, without the mark.
line_of() {
    awk -v name="$1" -v mark="$2" '
        $1 == "@" { here = ($2 == name); if (here && mark == "@") print $3 }
        here && substr($0, 1, 2) == mark " " && mark != "@" { print substr($0, 3) }' "$list"
}

# Replaces OLD by NEW in file $1; fails unless OLD occurs once.
replace() {
    awk 'BEGIN { old = ENVIRON["OLD"]; new = ENVIRON["NEW"] }
        { at = index($0, old)
          if (old != "" && at) {
              count++
              if (index(substr($0, at + 1), old)) count++
              $0 = substr($0, 1, at - 1) new substr($0, at + length(old))
          }
          print }
        END { exit count != 1 }' "$1" >"$1.new" && mv "$1.new" "$1"
}

# The tests for defects of file $1.
tests_for() {
    case $1 in
    *block* | *codebook* | *pack* | *logarithm* | *walk* | *query*) echo "$block_tests" ;;
    *) echo "$tests" ;;
    esac
}

# Compiles the files of the library that depend on file $1 (all without it), and links the tests.
build() {
    for c in lib/*.c; do
        o=obj/$(basename "$c" .c).o
        case $c in *.inc.c | lib/kernels_v*) continue ;; esac
        [ -n "${1:-}" ] && ! grep -q "$1" "$o.d" && continue
        $cc $flags -Ilib -Ilib/core -MMD -MF "$o.d" -c "$c" -o "$o" || return 1
    done
    for t in $(tests_for "${1:-}"); do
        link "$t" || return 1
    done
}

link() {
    case " $block_tests " in
    *" $1 "*)
        $cc -o "$1" "obj/$1.test" obj/longhand.test obj/*.judge obj/*.o $(pkg-config --libs check) -lmpfr -lgmp -lm
        ;;
    *) $cc -o "$1" "obj/$1.test" obj/longhand.test obj/*.o -lm ;;
    esac
}

# One defect: prints a line of the table and, if it was not caught, leaves a file in $work/bad.
one() {
    name=$1 file=$(line_of "$1" @) OLD=$(line_of "$1" -) NEW=$(line_of "$1" +)
    export OLD NEW
    dir=$work/$name
    mkdir "$dir" && cp -R "$work/base/lib" "$work/base/include" "$work/base/obj" "$dir" && cd "$dir" || exit 1
    verdict=
    if [ -z "$file" ] || ! replace "$file"; then
        verdict="NOT APPLIED: the old text is not there exactly once"
    elif ! build "$file" >log 2>&1; then
        verdict="DOES NOT COMPILE: $(grep -m1 error log)"
    else
        for t in $(tests_for "$file"); do
            timeout 300 "./$t" >"$t.out" 2>&1 || { verdict="caught by $t"; break; }
        done
    fi
    case $verdict in
    caught*) ;;
    *) : >"$work/bad/$name" ;;
    esac
    printf '%-28s %s\n' "$name" "${verdict:-SURVIVED}"
    cd / && rm -rf "$dir"
}

if [ "${1:-}" = --one ]; then
    one "$2"
    exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
top_srcdir=$top
export work CC top_srcdir
mkdir -p "$work/bad" "$work/base/obj"
cp -R "$top/lib" "$top/include" "$work/base"
cd "$work/base" || exit 1
for t in $tests longhand $block_tests; do
    $cc -std=c11 -O2 -ffp-contract=off -Iinclude -w -c "$top"/tests/[ou]*/"$t.c" -o "obj/$t.test" || exit 1
done
for t in $judges; do
    $cc -std=c11 -O2 -ffp-contract=off -Iinclude -c "$top/tests/ref/$t.c" -o "obj/$t.judge" || exit 1
done
build || exit 1
for t in $block_tests; do
    link "$t" || exit 1
done
for t in $tests $block_tests; do
    "./$t" >"$t.out" 2>&1 || { echo "$t fails on the library as it is:"; cat "$t.out"; exit 1; }
done

names=${*:-$(awk '$1 == "@" { print $2 }' "$list")}
printf '%s\n' $names | xargs -P "${JOBS:-2}" -n 1 "$here/run.sh" --one
count=$(printf '%s\n' $names | wc -l)
bad=$(ls "$work/bad" | wc -l)
echo "$count defects, $((count - bad)) caught, $bad not"
[ "$bad" -eq 0 ]
