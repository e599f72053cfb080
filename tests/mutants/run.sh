#!/bin/sh
# run.sh - whether the tests notice defects of the library: every one of mutants.txt, or those named.
#
# usage: [CC=gcc] [JOBS=2] tests/mutants/run.sh [NAME...]
#
# Each defect is one line of the library changed in a copy of the library; the copy is built plainly (-O1, no vector
# variants) and a few tests of tests/oracle and tests/unit run on it, which must fail: those that the defect names after
# its file, or those that its file stands for. A table is printed; exit status 1 if a defect survives, if its old text
# is not found exactly once, or if the tests fail on the library as it is. `judged' tests need GMP and MPFR, `checked'
# ones Check; `played' ones play the kernels of gpu/ on this processor, `trainer' ones of tests/fptrain need what the
# trainer needs (oneDNN aside).
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
list=$here/mutants.txt
cc=${CC:-cc}
flags="-std=c11 -O1 -ffp-contract=off -w -Iinclude"
tests='values peers compat stochastic counters properties'
block_tests='check_blockspec check_pack blockvectors blockstats packing blocks'
judged='arith scaled gemm blockscales blockvectors blockstats packing blocks'
checked='check_arguments check_arith check_block check_gemm check_blockspec check_pack check_scales'
played='verbs tensors operations products'
trainer='assign estimate memory muppet packed readers scalers'
trainer_flags="-Itools -Itools/fptrain $(pkg-config --cflags libpng 2>/dev/null)"
trainer_libs=${TRAINER_LIBS:-"-linih -llzma -lpng16 $(pkg-config --libs openblas check 2>/dev/null) -ljansson -lz"}
judges='compare formats judge mpfr points slow sweep blocks blockcase'

# The line of a defect that begins with mark $2, without the mark; of "@" its file, of "tests" what follows that.
line_of() {
    awk -v name="$1" -v mark="$2" '
        $1 == "@" { here = ($2 == name); if (here && mark == "@") print $3 }
        here && mark == "tests" && $1 == "@" { for (i = 4; i <= NF; i++) print $i }
        here && mark != "@" && mark != "tests" && index($0, mark " ") == 1 { print substr($0, 3) }' "$list"
}

# The tests that a defect is for.
tests_for() {
    own=$(line_of "$1" tests)
    case $(line_of "$1" @) in
    tools/*) usual=$trainer ;;
    *block* | *codebook* | *pack* | *logarithm* | *layout* | *walk* | *query*) usual=$block_tests ;;
    *) usual=$tests ;;
    esac
    echo ${own:-$usual}
}

# Puts $new for $old in file $1, where it has to stand exactly once.
replace() {
    old=$old new=$new awk '
        BEGIN { old = ENVIRON["old"]; new = ENVIRON["new"] }
        {
            line = ""
            while ((i = index($0, old)) > 0) {
                line = line substr($0, 1, i - 1) new
                $0 = substr($0, i + length(old))
                count++
            }
            print line $0
        }
        END { exit count != 1 }' "$1" >"$1.new" && mv "$1.new" "$1"
}

is_one_of() {
    case " $2 " in
    *" $1 "*) return 0 ;;
    esac
    return 1
}

# Whether one of the tests $1 plays the kernels of gpu/.
plays() {
    for p in $1; do
        is_one_of "$p" "$played" && return 0
    done
    return 1
}

# The files of the trainer but for its commands, as those of the library.
build_trainer() {
    for c in tools/common/*.c tools/fptrain/*/*.c; do
        o=obj/trainer/$(echo "${c#tools/}" | tr / -).o
        case $c in
        tools/fptrain/commands/*) continue ;;
        esac
        [ -n "${1:-}" ] && ! grep -q "$1" "$o.d" && continue
        $cc $flags $trainer_flags -I. -MMD -MF "$o.d" -c "$c" -o "$o" || return 1
    done
}

# Compiles the files of the library that depend on file $1 (all without it), and links the tests $2.
build() {
    for t in $2; do
        is_one_of "$t" "$trainer" || continue
        build_trainer "${1:-}" || return 1
        break
    done
    for c in lib/*.c; do
        o=obj/$(basename "$c" .c).o
        case $c in
        lib/*.inc.c | lib/kernels_v*) continue ;;
        esac
        [ -n "${1:-}" ] && ! grep -q "$1" "$o.d" && continue
        $cc $flags -Ilib -Ilib/core -MMD -MF "$o.d" -c "$c" -o "$o" || return 1
    done
    for c in gpu/*.c; do
        o=obj/gpu/$(basename "$c" .c).o
        plays "$2" || continue
        [ -n "${1:-}" ] && ! grep -q "$1" "$o.d" && continue
        $cc $flags -Ilib -Igpu -MMD -MF "$o.d" -c "$c" -o "$o" || return 1
    done
    for t in $2; do
        if is_one_of "$t" "$played"; then
            $cc -o "$t" "obj/$t.test" obj/gpu/*.o obj/*.o -lm || return 1
        elif is_one_of "$t" "$judged"; then
            $cc -o "$t" "obj/$t.test" obj/longhand.test obj/*.judge obj/*.o -lmpfr -lgmp -lm || return 1
        elif is_one_of "$t" "$trainer"; then
            $cc -o "$t" "obj/$t.test" obj/trainer/*.o obj/*.o $trainer_libs -lm || return 1
        elif is_one_of "$t" "$checked"; then
            $cc -o "$t" "obj/$t.test" obj/*.o $(pkg-config --libs check) -lm || return 1
        else
            $cc -o "$t" "obj/$t.test" obj/longhand.test obj/*.o -lm || return 1
        fi
    done
}

# The test of arithmetic stops at the first failure.
run_test() {
    case $1 in
    arith) timeout 600 "./$1" --stop >"$1.out" 2>&1 ;;
    *) top_srcdir=$top timeout 600 "./$1" >"$1.out" 2>&1 ;;
    esac
}

# One defect, in a directory of its own.
one() {
    name=$1
    file=$(line_of "$name" @)
    old=$(line_of "$name" -)
    new=$(line_of "$name" +)
    own=$(tests_for "$name")
    dir=$work/$name
    cp -R "$work/base" "$dir" && cd "$dir" || exit 1
    verdict=
    if [ -z "$file" ] || ! replace "$file"; then
        verdict="NOT APPLIED: the old text is not there exactly once"
    elif ! build "$file" "$own" >log 2>&1; then
        verdict="DOES NOT COMPILE: $(grep -m1 error log)"
    else
        for t in $own; do
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

twice=$(awk '$1 == "@" { print $2 }' "$list" | sort | uniq -d)
[ -z "$twice" ] || { echo "two defects have the name $twice" >&2; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export work CC
mkdir -p "$work/bad" "$work/base/obj/gpu" "$work/base/obj/trainer"
cp -R "$top/lib" "$top/include" "$top/gpu" "$top/tools" "$work/base"
cp "$top/tests/gpu/memory_host.c" "$top/tests/gpu/memory.h" "$work/base/gpu"
echo '#define HAVE_ONEDNN 0' >"$work/base/config.h"
cd "$work/base" || exit 1
names=${*:-$(awk '$1 == "@" { print $2 }' "$list")}
needed=$(for name in $names; do printf '%s\n' $(tests_for "$name"); done | sort -u)
for t in $needed longhand; do
    if is_one_of "$t" "$played"; then
        $cc -std=c11 -O2 -ffp-contract=off -Iinclude -Igpu -w -c "$top/tests/gpu/$t.c" -o "obj/$t.test" || exit 1
        continue
    fi
    is_one_of "$t" "$trainer" && source=$top/tests/fptrain/$t.c || source=$(echo "$top"/tests/[ou]*/"$t.c")
    $cc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -Iinclude -Itools -Itools/fptrain -w -c "$source" \
        -o "obj/$t.test" || exit 1
    if is_one_of "$t" "$judged"; then
        for j in $judges; do
            [ -e "obj/$j.judge" ] && continue
            $cc -std=c11 -O2 -ffp-contract=off -Iinclude -c "$top/tests/ref/$j.c" -o "obj/$j.judge" || exit 1
        done
    fi
done
build '' "$needed" || exit 1
for t in $needed; do
    run_test "$t" || { echo "$t fails on the library as it is:"; cat "$t.out"; exit 1; }
done

printf '%s\n' $names | xargs -P "${JOBS:-2}" -n 1 "$here/run.sh" --one
ended=$? # 123: some defect was told not to be caught
[ $ended -eq 0 ] || [ $ended -eq 123 ] || { echo "cut off before every defect was tried (status $ended)"; exit 1; }
count=$(printf '%s\n' $names | wc -l)
bad=$(ls "$work/bad" | wc -l)
echo "$count defects, $((count - bad)) caught, $bad not"
[ "$bad" -eq 0 ]
