#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh - dieharder, and TestU01 where it is installed, on the top 24 bits of the words of the default generator.
#
# usage: [TESTU01=PREFIX] run.sh STREAM [RECORD]
#
# STREAM is the program of stream.c; the record goes to RECORD (default: random.txt). A quarter of an hour for each of
# two ways to read the words: one stream in order, and 64 streams taking turns. Every test reads on where the one before
# has stopped, so that a run passes the 2^32 words after which the generator changes its keys. Of TestU01, which Debian
# does not have (github.com/umontreal-simul/TestU01-2009), SmallCrush; of Crush the tests named in CRUSH, by number.
# Exit status: 0 nothing failed, 1 something did, 77 dieharder is not installed.
set -u

[ $# -ge 1 ] || { echo "usage: run.sh STREAM [RECORD]" >&2; exit 2; }
stream=$1
record=${2:-random.txt}
here=$(cd "$(dirname "$0")" && pwd)
testu01=${TESTU01:-/usr}
crush=$(mktemp) || exit 1
trap 'rm -f "$crush"' EXIT
trap 'exit 1' HUP INT TERM
command -v dieharder >/dev/null || { echo "dieharder, which tests, is not installed" >&2; exit 77; }

# The tests of dieharder -a, without those that its authors call suspect or not to be used (5, 6, 7, 14). The sums of
# every (n + 1)-th number, which would take most of the time, for some n; the rest with its own sizes.
tests() {
    cat <<'END'
-d 0
-d 1
-d 2
-d 3
-d 4
-d 8
-d 9
-d 10
-d 11
-d 12
-d 13
-d 15
-d 16
-d 17
-d 100
-d 101
-d 102
-d 200 -n 1
-d 200 -n 2
-d 200 -n 3
-d 200 -n 4
-d 200 -n 5
-d 200 -n 6
-d 200 -n 7
-d 200 -n 8
-d 200 -n 9
-d 200 -n 10
-d 200 -n 11
-d 200 -n 12
-d 201 -n 2
-d 201 -n 3
-d 201 -n 4
-d 201 -n 5
-d 202 -n 2
-d 202 -n 3
-d 202 -n 4
-d 202 -n 5
-d 203 -n 0
-d 203 -n 1
-d 203 -n 3
-d 203 -n 7
-d 203 -n 15
-d 203 -n 31
-d 204
-d 205 -Y 0
-d 206
-d 207
-d 208
-d 209
END
}

# What is not clear, p < 0.005 or > 0.995, is repeated with more samples until it is (-Y 1); but not dab_bytedistrib,
# whose authors want one p-value, and of which 100 show that the words of one stream are a permutation of their index.
dieharder_on_stdin() {
    tests | while read -r options; do
        dieharder -g 200 -Y 1 $options -D test_name -D ntuple -D tsamples -D psamples -D pvalues -D assessment \
            <&3 | grep -v '^#\|p-value' || exit 1
    done
}

run() {
    echo
    echo "# dieharder, $1: stream $2"
    "$stream" $2 | { exec 3<&0; dieharder_on_stdin; }
    if [ -x "$crush" ]; then
        echo
        echo "# TestU01, $1: stream $2"
        "$stream" $2 | "$crush" small | grep .
        [ -z "${CRUSH:-}" ] || "$stream" $2 | "$crush" $CRUSH | grep .
    fi
}

{
    echo "# dieharder $(dieharder -l | sed -n 's/.*version \([0-9.]*\).*/\1/p')"
    echo "# date      $(date -u +%Y-%m-%d)"
    echo "# command   make check-random"
    echo "# columns   test, n, samples of a p-value, p-values, their Kolmogorov-Smirnov p-value, dieharder's verdict"
    ${CC:-cc} -O2 -w -I"$testu01/include" -o "$crush" "$here/crush.c" -L"$testu01/lib" -ltestu01 -lprobdist -lmylib \
        -lm 2>/dev/null || { rm -f "$crush"; echo '# TestU01 is not installed'; }
    run 'one stream in order' ''
    run '64 streams taking turns' '--streams 64'
} >"$record.new" || exit 1
mv "$record.new" "$record"
! grep -qE 'FAILED|The following tests gave p-values outside' "$record"
