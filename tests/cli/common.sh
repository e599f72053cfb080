# SPDX-License-Identifier: BSD-2-Clause
# common.sh - what the tests of the fpemu command share; sourced, not run.
#
# FPEMU names the command to test. Each test works in a directory of its own, which goes away in the end; a test ends
# with status 0 (passed), 1 (failed) or 77 (skipped).

command -v "${FPEMU:=fpemu}" >/dev/null || { echo "FPEMU ('$FPEMU') is not a command"; exit 1; }
case $FPEMU in
/*) ;;
*/*) FPEMU=$PWD/$FPEMU ;;
esac
LC_ALL=C
export LC_ALL FPEMU
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory" || exit 1
failures=0
input=/dev/null # standard input of the next commands

failed() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# gives WORDS ARGUMENT...: the command succeeds silently and prints these words, white space aside.
gives() {
    wanted=$1
    shift
    "$FPEMU" "$@" <"$input" >out 2>err
    status=$?
    got=$(tr -s ' \n' '  ' <out | sed 's/ $//')
    if [ $status -ne 0 ] || [ "$got" != "$wanted" ] || [ -s err ]; then
        failed "fpemu $*: status $status, got '$got', wanted '$wanted' $(cat err)"
    fi
}

# fails STATUS TEXT ARGUMENT...: the command ends with this status and one line on stderr that holds TEXT; stdout is
# empty.
fails() {
    wanted_status=$1
    wanted=$2
    shift 2
    "$FPEMU" "$@" <"$input" >out 2>err
    status=$?
    if [ $status -ne "$wanted_status" ] || [ -s out ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -q '^fpemu: ' err \
        || ! grep -qF -e "$wanted" err; then
        failed "fpemu $*: status $status, wanted $wanted_status and '$wanted', got: $(cat out err)"
    fi
}

# within ARGUMENT...: the command, by one thread, in `limit` kB of address space.
within() {
    (ulimit -v "$limit" && OMP_NUM_THREADS=1 exec "$FPEMU" "$@")
}

# bounded ARGUMENT...: finds the `limit` in which this call runs with some 20 MB to spare, and would not with 32 MB more
# of its own; fails where there is none, as under a sanitizer. Newer versions of OpenBLAS take 135 MB when they are
# loaded, and try for ever where they get less.
bounded() {
    for limit in 80000 215000; do
        (ulimit -v "$limit" && OMP_NUM_THREADS=1 exec timeout 20 "$FPEMU" "$@") >/dev/null 2>&1 && return 0
    done
    return 1
}

# refuses TEXT COMMAND ARGUMENT...: fptrain refuses with status 2, in one line that holds TEXT.
refuses() {
    wanted=$1
    shift
    "$FPTRAIN" "$@" >out 2>err
    status=$?
    if [ $status -ne 2 ] || [ -s out ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -e "$wanted" err; then
        failed "$*: status $status, wanted '$wanted', got: $(cat out err)"
    fi
}

# fails_data TEXT ARGUMENT...: fptrain data refuses in one line that holds TEXT.
fails_data() {
    wanted=$1
    shift
    refuses "$wanted" data "$@"
}

# shows TEXT ARGUMENT...: the output of fptrain data has this line
shows() {
    wanted=$1
    shift
    "$FPTRAIN" data "$@" >out 2>err || failed "data $*: $(cat err)"
    grep -qxF -e "$wanted" out || failed "data $*: no line '$wanted' in $(cat out)"
}

# fails_report TEXT ARGUMENT...: fptrain report refuses in one line that begins so.
fails_report() {
    wanted=$1
    shift
    refuses "fptrain: report: $wanted" report "$@"
}

# holds ARGUMENT...: this test(1) is true.
holds() {
    test "$@" || failed "not true: $*"
}

# same FILE FILE: the files are equal.
same() {
    cmp "$1" "$2" || failed "$1 and $2 differ"
}

# no_leftovers: no temporary file lies about.
no_leftovers() {
    for leftover in .fpemu-*; do
        [ ! -e "$leftover" ] || failed "left behind: $leftover"
    done
}

# word FILE INDEX FORMAT: a number of 4 bytes of a .npy file, as od prints it by FORMAT.
word() {
    od -An -v "-t$3" -j $((128 + 4 * $2)) -N 4 "$1" | tr -d ' '
}

# row NAME: its row of the file `table`, spaces squeezed.
row() {
    tr -s ' ' <table | sed -n "s/^$1 //p"
}

# npy HEADER [DATA]: a .npy file of version 1.0 on stdout; DATA as for printf, in octal.
npy() {
    printf '\223NUMPY\001\000'
    printf "\\$(printf %o $((${#1} % 256)))\\$(printf %o $((${#1} / 256)))"
    printf '%s' "$1"
    printf "${2-}"
}

# safetensors HEADER [DATA]: such a file on stdout; DATA as for printf, in octal.
safetensors() {
    printf "\\$(printf %o $((${#1} % 256)))\\$(printf %o $((${#1} / 256)))\\0\\0\\0\\0\\0\\0%s" "$1"
    printf "${2-}"
}

# python_checks FILE PROGRAM ARGUMENT...: runs PROGRAM with `j` read from the JSON file, where there is a Python 3.
python_checks() {
    if python3 -c 'import json' >/dev/null 2>&1; then
        file=$1 program=$2
        shift 2
        python3 -c "import json, sys; j = json.load(open(sys.argv[1]))
$program" "$file" "$@" || failed "JSON of $file"
    fi
}

finish() {
    no_leftovers
    [ $failures -eq 0 ] || exit 1
    exit 0
}
