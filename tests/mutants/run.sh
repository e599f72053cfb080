#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh - whether the tests notice defects: those of mutants.txt and DRAWN more that sample.py draws, or those named; the
# name "drawn" stands for all of the latter.
#
# usage: [CC=gcc] [JOBS=2] [QUICK="TEST..."] [DRAWN=N SEED=S PYTHON=python3] [MUTANTS_OPTIMISATION=-O1]
#        tests/mutants/run.sh [NAME...]
#
# Each defect is one line changed in a copy of the sources. What depends on its file is compiled again, plainly (-O1, no
# vector variants; -O0 compiles in half the time, and some tests run longer), and linked with the other objects of the
# sound library; then tests run until one fails: those that the defect names after its file, or those of QUICK, which
# make check-mutants sets to what make quick runs, but for its scripts. A table is printed, and for drawn ones a score by
# folder; those that do not compile, or whose objects are the sound ones, are not counted, and others come in their
# place. Exit status 1 if a defect of mutants.txt survives, if its old text is not found exactly once, or if the tests
# fail on the library as it is; a drawn one may survive: it says what no quick test looks at, or changes nothing.
#
# Where a defect names an instruction set before its tests, the loops for that set are compiled with it, at -O2, and the
# tests run them; everything else is sound. On a processor that lacks the set the defect is not tried, which is told.
#
# A test is a file of tests/against_judges (needs GMP and MPFR), tests/unit (Check), tests/gpu (the kernels run on this
# processor) or tests/fptrain (what the trainer needs, oneDNN aside), the first that has its name, or DIRECTORY/NAME.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
case ${1:-} in
--*) list=$work/list ;; # as it was when the run began
*) list=$here/mutants.txt ;;
esac
cc=${CC:-cc}
jobs=${JOBS:-2}
flags="-std=c11 -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -ffp-contract=off -w"
optimisation=${MUTANTS_OPTIMISATION:--O1}
includes='-Iinclude -Ilib -Igpu -Itools -Itools/fptrain -I.'
quick=$(for t in ${QUICK:-}; do # names of programs to names of tests
    case $t in
    *.sh) ;;
    *) echo "$t" | sed 's|^tests/||; s|_simulated$||' ;;
    esac
done)
quick=${quick:-quantize compat stochastic}
check_libs=$(pkg-config --libs check 2>/dev/null)
blas_libs=$(pkg-config --libs openblas 2>/dev/null)
trainer_libs=${TRAINER_LIBS:-"-linih -llzma -lzip $blas_libs $check_libs -ljansson -lz"}

# The line of a defect that begins with mark $2, without the mark; of "@" its file, of "tests" what follows that.
line_of() {
    awk -v name="$1" -v mark="$2" '
        $1 == "@" { here = ($2 == name); if (here && mark == "@") print $3 }
        here && mark == "tests" && $1 == "@" { for (i = 4; i <= NF; i++) print $i }
        here && mark != "@" && mark != "tests" && index($0, mark " ") == 1 { print substr($0, 3) }' "$list"
}

# The tests that a defect is for, the likeliest first.
tests_for() {
    own=$(line_of "$1" tests | grep -v '^x86-64-' || :)
    case $(line_of "$1" @) in
    gpu/*) first=gpu/ ;;
    *) first=[^g] ;;
    esac
    if [ "$own" ]; then
        printf '%s\n' $own
    else
        printf '%s\n' $quick | grep "^$first"
        printf '%s\n' $quick | grep -v "^$first"
    fi
}

# The instruction set whose loops defect $1 is in; nothing where it is in the plain ones.
set_of() {
    line_of "$1" tests | grep '^x86-64-' || :
}

# The files of instruction set $1, and how they are compiled.
set_files() {
    case $1 in
    x86-64-v3) printf ' lib/loops/x86_64_v3%s.c' '' _f32 _f64 _kernel32 _kernel64 ;;
    x86-64-v4) printf ' lib/loops/x86_64_v4%s.c' '' _f32 _f64 _kernel32 _kernel64 ;;
    esac
}
set_flags() {
    case $1:$2 in
    x86-64-v3:*) echo -march=x86-64-v3 -mprefer-vector-width=256 ;;
    *x86_64_v4*) echo -march=x86-64-v4 -mprefer-vector-width=512 ;;
    esac
}
set_defines() {
    case $1 in
    x86-64-v3) echo -DFPEMU_HAVE_V3=1 ;;
    x86-64-v4) echo -DFPEMU_HAVE_V4=1 ;;
    esac
}

# Whether this processor has instruction set $1.
set_is_here() {
    case $1 in
    x86-64-v3) flag=avx2 ;;
    *) flag=avx512bw ;;
    esac
    grep -qw "$flag" /proc/cpuinfo 2>/dev/null
}

# Compiles the loops of set $2 and the file that chooses among sets, or of those the files $3..., into directory $1.
compile_set() {
    into=$1 set=$2
    shift 2
    for c in ${*:-$(set_files "$set") lib/loops/dispatch.c}; do
        mkdir -p "$into/lib/loops"
        $cc $flags -O2 -ftree-vectorize -fopenmp-simd $(set_flags "$set" "$c") $(set_defines "$set") $includes \
            -c "$c" -o "$into/$c.o" || return 1
    done
}

# Where test $1 lies below tests/, without .c.
place_of() {
    for directory in . against_judges unit gpu fptrain; do
        [ -e "$top/tests/$directory/$1.c" ] && { echo "$directory/$1" | sed 's|^\./||'; return; }
    done
    echo "no test is named $1" >&2
    return 1
}

# Puts $new for $old in file $1, where it has to stand exactly once, or for all of a line of FILE:LINE.
replace() {
    line=${1#*:}
    [ "$line" != "$1" ] || line=
    line=$line old=$old new=$new awk '
        BEGIN { number = ENVIRON["line"]; old = ENVIRON["old"]; new = ENVIRON["new"] }
        number == NR { print new; count++ }
        number == NR { next }
        {
            line = ""
            while (!number && (i = index($0, old)) > 0) {
                line = line substr($0, 1, i - 1) new
                $0 = substr($0, i + length(old))
                count++
            }
            print line $0
        }
        END { exit count != 1 }' "${1%:*}" >"${1%:*}.new" && mv "${1%:*}.new" "${1%:*}"
}

# The files that make up the library, the kernels and the trainer, without what the machine may lack and without main().
sources() {
    find lib -name '*.c' ! -name '*.inc.c' ! -name 'x86_64_*.c'
    for place in $1; do
        case $place in
        gpu/*) find gpu -name '*.c'; echo tests/gpu/memory_host.c ;;
        fptrain/*)
            find tools/fptrain tools/common -name '*.c' ! -path '*/commands/*' ! -name 'command_*' ! -name main.c
            ;;
        esac
    done 2>/dev/null | sort -u
}

# Compiles the files $2... into directory $1; their objects have the same names with .o at the end. A file that is the
# same when all that it includes is put in, or whose object is, leaves none but in the sound library.
compile() {
    into=$1
    shift
    for c in "$@"; do
        o=$into/$c.o
        mkdir -p "${o%/*}"
        $cc $flags $optimisation $includes -E -P "$c" -o "$o.i" || return 1
        cmp -s "$o.i" "$work/base/$o.i" && [ "$PWD" != "$work/base" ] && continue
        $cc $flags $optimisation $includes -MMD -MF "$o.d" -c "$c" -o "$o" || return 1
        ! cmp -s "$o" "$work/base/$o" || [ "$PWD" = "$work/base" ] || rm "$o"
    done
}

# Links test $1, at $2 below tests/, with the loops of set $3 if given: objects of obj/, or of ../base/obj (../base/$3)
# where there are none.
link() {
    case $2 in
    gpu/*) with='lib/ gpu/ tests/gpu/' libs= ;;
    fptrain/*) with='lib/ tools/' libs=$trainer_libs ;;
    unit/*) with=lib/ libs=$check_libs ;;
    *) with=lib/ libs='-lmpfr -lgmp' ;;
    esac
    objects=$(for w in $with; do grep "^$w" "$work/base/objects"; done | while read -r o; do
        [ "$o" = lib/loops/dispatch.c.o ] && [ "${3:-}" ] && continue
        [ -e "obj/$o" ] && echo "obj/$o" || echo "$work/base/obj/$o"
    done)
    [ -z "${3:-}" ] || for c in $(set_files "$3") lib/loops/dispatch.c; do
        [ -e "obj/$c.o" ] && objects="$objects obj/$c.o" || objects="$objects $work/base/$3/$c.o"
    done
    $cc -o "$1" "$work/base/tests/$2.o" $objects "$work/base/judges.a" $libs -lm
}

# Stops at the first failure where the test can.
run_test() {
    stop=
    [ "$1" = arith ] && stop=--stop
    top_srcdir=$top STOP_AT_FAILURE=1 ONE_VARIANT=1 CK_DEFAULT_TIMEOUT=0 FPEMU_VARIANT=${2:-portable} \
        timeout "${limit:-600}" "./$1" $stop >"$1.out" 2>&1
}

# One defect, in a directory of its own. A drawn one is counted in $work/drawn, until there are DRAWN.
one() {
    name=$1
    file=$(line_of "$name" @)
    old=$(line_of "$name" -)
    new=$(line_of "$name" +)
    drawn=
    case $name in drawn-*) drawn=1 limit=120 ;; esac
    [ -z "$drawn" ] || [ "$(wc -l <"$work/drawn")" -lt "$DRAWN" ] || exit 0
    dir=$work/$name
    mkdir "$dir" && cd "$dir" && cp -R "$work/base/include" "$work/base/lib" "$work/base/gpu" "$work/base/tools" \
        "$work/base/config.h" . && mkdir tests && cp -R "$work/base/tests/gpu" tests || exit 1
    verdict= set=$(set_of "$name")
    if [ "$set" ]; then
        build="compile_set obj $set $(set_files "$set")"
    else
        build="compile obj $(awk -v file="${file%:*}" '$2 == file { print $1 }' "$work/base/depends" | tr '\n' ' ')"
    fi
    if [ "$set" ] && ! set_is_here "$set"; then
        verdict="not tried: this processor lacks $set"
    elif [ -z "$file" ] || ! replace "$file"; then
        verdict="NOT APPLIED: the old text is not there exactly once"
    elif ! $build 2>log; then
        verdict="DOES NOT COMPILE: $(grep -m1 error log)"
    elif [ -z "$(find obj -name '*.o' 2>/dev/null)" ]; then
        verdict="CHANGES NOTHING"
    else
        for t in $(tests_for "$name"); do
            program=$(basename "$t")
            if ! link "$program" "$(place_of "$t")" "$set" 2>log; then
                verdict="DOES NOT LINK: $(grep -m1 -i error log)"
                break
            fi
            run_test "$program" "$set"
            case $? in
            0) ;;
            124) verdict="NOT DECIDED: $t did not end in ${limit:-600} s"; break ;;
            *) verdict="caught by $t"; break ;;
            esac
        done
    fi
    cd / && rm -rf "$dir"
    verdict=${verdict:-SURVIVED}
    case $drawn$verdict in
    caught* | 'not tried'* | 1caught* | 1SURVIVED* | '1NOT DECIDED'*) ;;
    1*) exit 0 ;; # another comes in its place
    *) : >"$work/bad/$name" ;;
    esac
    if [ "$drawn" ]; then
        folder=${file%/*}
        echo "$folder $verdict" >>"$work/drawn"
        verdict="$verdict $file: $new"
    fi
    printf '%-28s %s\n' "$name" "$verdict"
}

# Test $1 on the library as it is, by the loops of set $2 if given.
sound() {
    program=$(basename "$1") # in a directory of its own: other sets have a program of the same name
    mkdir -p "$work/sound/${2:-plain}/$program" && cd "$work/sound/${2:-plain}/$program" &&
        link "$program" "$(place_of "$1")" "${2:-}" || exit 255
    run_test "$program" "${2:-}" || { echo "$1 fails on the library as it is:"; cat "$program.out"; exit 255; }
}

# What this script does for itself, several at a time; 255 ends them all.
case ${1:-} in
--one) one "$2"; exit 0 ;;
--compile) compile obj "$2" || exit 255; exit 0 ;;
--sound) sound "${2%%:*}" "${2#*:}"; exit 0 ;;
--compile-set) compile_set "$2" "$2" || exit 255; exit 0 ;;
esac

twice=$(awk '$1 == "@" { print $2 }' "$list" | sort | uniq -d)
[ -z "$twice" ] || { echo "two defects have the name $twice" >&2; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export work CC
mkdir -p "$work/bad" "$work/base/obj" "$work/base/tests"
cp "$list" "$work/list"
: >"$work/drawn"
names=${*:-$(awk '$1 == "@" { print $2 }' "$list") drawn}
case " $names " in *' drawn '*) DRAWN=${DRAWN:-150} ;; *) DRAWN=0 ;; esac
names=$(printf '%s\n' $names | grep -vx drawn)
export DRAWN
[ "$DRAWN" -eq 0 ] || "${PYTHON:-python3}" "$here/sample.py" "${SEED:-1}" $((4 * DRAWN)) >>"$work/list" || exit 1
cp -R "$top/lib" "$top/include" "$top/gpu" "$top/tools" "$work/base"
cp -R "$top/tests/gpu" "$work/base/tests"
echo '#define HAVE_ONEDNN 0' >"$work/base/config.h"
cd "$work/base" || exit 1
needed=$(for name in $names; do # a test and, after a colon, the set
    set=$(set_of "$name")
    [ "$set" ] && ! set_is_here "$set" || for t in $(tests_for "$name"); do echo "$t:$set"; done
done | sort -u)
[ "$DRAWN" -eq 0 ] || needed=$({ printf '%s\n' $needed; printf '%s:\n' $quick; } | sort -u)
sets=$(printf '%s\n' $needed | sed 's/.*://' | grep . | sort -u)
places=$(printf '%s\n' $needed | sed 's/:.*//' | sort -u | while read -r t; do place_of "$t" || exit 1; done) || exit 1

# The sound library, the tests and the judges, which every defect uses.
for place in $places; do
    mkdir -p "tests/${place%/*}"
    $cc $flags -O2 $includes -c "$top/tests/$place.c" -o "tests/$place.o" ||
        exit 1
done
for place in $places; do
    case $place in against_judges/*) ;; *) continue ;; esac
    for c in "$top"/tests/judges/*.c $(grep -L 'int main(' "$top"/tests/against_judges/*.c); do
        o=judges-$(basename "$c").o
        $cc $flags -O2 $includes -c "$c" -o "$o" && ar rcs judges.a "$o" || exit 1
    done
    break
done
case " $places" in *[' ']fptrain/* | *'
'fptrain/*) $cc $flags -O2 $includes -c "$top/tests/fptrain/harness.c" -o harness.o && ar rcs judges.a harness.o || exit 1 ;;
esac
[ -e judges.a ] || ar rcs judges.a
sources "$places" | xargs -P "$jobs" -n 1 "$here/run.sh" --compile || exit 1
[ -z "$sets" ] || printf '%s\n' $sets | xargs -P "$jobs" -n 1 "$here/run.sh" --compile-set || exit 1
(cd obj && find . -name '*.o' | sed 's|^\./||' | sort) >objects
while read -r o; do
    sed 's/\\$//; s/^[^ ]*: //' "obj/$o.d" | tr -s ' ' '\n' | grep . | xargs realpath -m --relative-to=. |
        sed "s|^|${o%.o} |"
done <objects >depends
printf '%s\n' $needed | xargs -P "$jobs" -n 1 "$here/run.sh" --sound || exit 1

drawn=$(awk '$1 == "@" && $2 ~ /^drawn-/ { print $2 }' "$work/list")
printf '%s\n' $names $drawn | xargs -P "$jobs" -n 1 "$here/run.sh" --one
ended=$? # 123: some defect was told not to be caught
[ $ended -eq 0 ] || [ $ended -eq 123 ] || { echo "cut off before every defect was tried (status $ended)"; exit 1; }
count=$(printf '%s' "$names" | grep -c .)
bad=$(ls "$work/bad" | wc -l)
echo "$count defects of mutants.txt, $((count - bad)) caught, $bad not"
awk '
    { all[$1]++; sum++ }
    $2 == "caught" { caught[$1]++; sum_caught++ }
    END { for (f in all) printf "drawn in %-12s %4d, %d caught\n", f ":", all[f], caught[f]
          if (sum) printf "drawn: %d, %d caught\n", sum, sum_caught }' "$work/drawn" | sort
[ "$bad" -eq 0 ]
