# SPDX-License-Identifier: BSD-2-Clause
# common.sh - what the scripts beside it share; sourced, not run.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
make=${MAKE:-make}
status=0

has() {
    command -v "$1" >/dev/null
}

# start DIRECTORY NAME: results lie in DIRECTORY, which `directory` names; NAME is of the script.
start() {
    name=$2
    mkdir -p "$1"
    directory=$(cd "$1" && pwd)
    jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}
    unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that started this, which counts its own jobs
}

# configured COMPILER OPTION...: a build in directory/COMPILER, which becomes the working directory.
configured() {
    local cc=$1
    shift
    if [ -e "$top/config.status" ]; then
        echo "$name.sh: the source is configured itself; make distclean there, and configure in a folder" >&2
        exit 1
    fi
    mkdir -p "$directory/${cc##*/}"
    cd "$directory/${cc##*/}" || exit
    if [ ! -e Makefile ]; then
        CC=$cc CFLAGS=${CFLAGS--O1 -g1} "$top/configure" --enable-werror --without-python --without-cuda "$@" \
            >configure.out 2>&1 || { tail -n 3 configure.out >&2; exit 1; }
    fi
    reports=$PWD/reports
}

# built TARGET...: by make in the working directory.
built() {
    "$make" -j"$jobs" "$@" >make.out 2>&1 || {
        grep -m 5 'rror[: ]' make.out >&2 || tail -n 3 make.out >&2
        exit 1
    }
}

# variable TEXT: what make makes of TEXT in the working directory.
variable() {
    "$make" Makefile >/dev/null 2>&1 # which may have to be made anew, with many words
    printf 'include Makefile\nprint-variable:\n\t@echo %s\n' "$1" | "$make" -s -f - print-variable
}

# tests_of: the names of the tests of the build in the working directory, one a line.
tests_of() {
    # shellcheck disable=SC2016
    variable '$(EVERY_TEST)' | tr ' ' '\n'
}

# without FILE WORD: the lines of standard input but those that a line of FILE names, `WORD TEST REASON`.
without() {
    awk -v word="$2" 'NR == FNR { if ($1 == word) out[$2]; next } !($1 in out)' "$1" -
}

fresh_reports() {
    rm -rf "$reports"
    mkdir -p "$reports"
}

# run_tests LABEL NAMES [ARGUMENT...]: these tests, which are built.
run_tests() {
    local label=$1 names=$2
    shift 2
    # shellcheck disable=SC2086
    "$make" -j"$jobs" check-TESTS check_PROGRAMS= check_SCRIPTS= TESTS="$(echo $names)" "$@" >check.out 2>&1 || {
        echo "$label: failed:" $(sed -n 's/^\(FAIL\|ERROR\): //p' check.out) >&2
        grep -q '^FAIL: \|^ERROR: ' check.out || tail -n 3 check.out >&2
        status=1
    }
}

# verdict LABEL PATTERN: the reports that have a line with PATTERN, and a line with the counts.
verdict() {
    local label=$1 found=0 file
    while IFS= read -r file; do
        found=$((found + 1))
        [ $found -gt 5 ] || { echo "$label: ${file#"$directory"/}: $(grep -Em 1 "$2" "$file")" >&2; }
    done < <(grep -rlE "$2" "$reports" || true)
    [ $found -eq 0 ] || status=1
    count() {
        sed -n "s/^# $1: *//p" check.out | tail -n 1
    }
    echo "$label: $(count PASS) of $(count TOTAL) tests pass, $(count SKIP) skipped, $found reports"
}
