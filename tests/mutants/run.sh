#!/bin/sh
# run.sh - that the tests notice each defect of mutants.txt.
#
# usage: [CC=gcc] [JOBS=2] tests/mutants/run.sh [NAME...]
#
# Each defect is one line of the library changed in a copy of the library; the copy is built plainly (-O1, no vector
# variants) and a few tests of tests/oracle run on it, which must fail: those that the defect names after its file, or
# the usual ones. A table is printed; exit status 1 if a defect survives, if its old text is not found exactly once, or if
# the tests fail on the library as it is. `judged' tests need GMP and MPFR.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
list=$here/mutants.txt
cc=${CC:-cc}
flags="-std=c11 -O1 -ffp-contract=off -w -Iinclude"
tests='values peers compat stochastic counters properties'
judged='arith'
judges='compare formats judge mpfr points slow sweep'

# The line of a defect that begins with mark $2, without the mark; of "@" its file, of "tests" what follows that.
line_of() {
    awk -v name="$1" -v mark="$2" '
        $1 == "@" { here = ($2 == name); if (here && mark == "@") print $3 }
        $1 == "@" && here && mark == "tests" { for (i = 4; i <= NF; i++) print $i }
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

# Compiles the files of the library that depend on file $1 (all without it), and links the tests $2.
build() {
    for c in lib/*.c; do
        o=obj/$(basename "$c" .c).o
        case $c in *.inc.c | lib/kernels_v*) continue ;; esac
        [ -n "${1:-}" ] && ! grep -q "$1" "$o.d" && continue
        $cc $flags -Ilib -Ilib/core -MMD -MF "$o.d" -c "$c" -o "$o" || return 1
    done
    for t in $2; do
        case " $judged " in
        *" $t "*) $cc -o "$t" "obj/$t.test" obj/*.judge obj/*.o -lmpfr -lgmp -lm || return 1 ;;
        *) $cc -o "$t" "obj/$t.test" obj/longhand.test obj/*.o -lm || return 1 ;;
        esac
    done
}

# The judged tests stop at the first failure.
run_test() {
    case " $judged " in
    *" $1 "*) timeout 600 "./$1" --stop >"$1.out" 2>&1 ;;
    *) timeout 300 "./$1" >"$1.out" 2>&1 ;;
    esac
}

# One defect: prints a line of the table and, if it was not caught, leaves a file in $work/bad.
one() {
    name=$1 file=$(line_of "$1" @) OLD=$(line_of "$1" -) NEW=$(line_of "$1" +)
    own=$(line_of "$1" tests)
    export OLD NEW
    dir=$work/$name
    mkdir "$dir" && cp -R "$work/base/lib" "$work/base/include" "$work/base/obj" "$dir" && cd "$dir" || exit 1
    verdict=
    if [ -z "$file" ] || ! replace "$file"; then
        verdict="NOT APPLIED: the old text is not there exactly once"
    elif ! build "$file" "${own:-$tests}" >log 2>&1; then
        verdict="DOES NOT COMPILE: $(grep -m1 error log)"
    else
        for t in ${own:-$tests}; do
            run_test "$t" || { verdict="caught by $t"; break; }
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
export work CC
mkdir -p "$work/bad" "$work/base/obj"
cp -R "$top/lib" "$top/include" "$work/base"
cd "$work/base" || exit 1
names=${*:-$(awk '$1 == "@" { print $2 }' "$list")}
needed=$(for name in $names; do own=$(line_of "$name" tests); printf '%s\n' ${own:-$tests}; done | sort -u)
for t in $needed longhand; do
    $cc -std=c11 -O2 -ffp-contract=off -Iinclude -c "$top/tests/oracle/$t.c" -o "obj/$t.test" || exit 1
    case " $judged " in
    *" $t "*)
        for j in $judges; do
            $cc -std=c11 -O2 -ffp-contract=off -Iinclude -c "$top/tests/ref/$j.c" -o "obj/$j.judge" || exit 1
        done ;;
    esac
done
build '' "$needed" || exit 1
for t in $needed; do
    run_test "$t" || { echo "$t fails on the library as it is:"; cat "$t.out"; exit 1; }
done

printf '%s\n' $names | xargs -P "${JOBS:-2}" -n 1 "$here/run.sh" --one
count=$(printf '%s\n' $names | wc -l)
bad=$(ls "$work/bad" | wc -l)
echo "$count defects, $((count - bad)) caught, $bad not"
[ "$bad" -eq 0 ]
