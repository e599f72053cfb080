#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# threads.sh - whether threads touch the same memory, under the thread sanitizer: plain threads that call the library at
# once, and the parallel loops of the library and of the trainer.
#
#   threads.sh DIRECTORY
#
# By clang, whose runtime of OpenMP has a tool, archer, that tells the sanitizer what waits for what; gcc's has none
# (Debian: clang libomp-dev). DIRECTORY/clang is a build of its own, which stays. CLANG names the compiler. Exits with 1
# for a finding or a failed test, 77 without clang or archer.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
[ $# -eq 1 ] || { sed -n '3,11s/^# \{0,1\}//p' "$0"; exit 2; }
start "$1" threads
clang=${CLANG:-clang}
has "$clang" || { echo "threads.sh: no clang"; exit 77; }

# Archer is there, a race is seen, and numbers that threads add up in turn are none.
cd "$directory"
cat >loop.c <<'E2'
#include <stdio.h>
int main(void)
{
    int sum = 0, turn = 0;
#pragma omp parallel num_threads(4)
    {
#ifdef RACE
        sum++;
#endif
#pragma omp critical
        turn++;
    }
    printf("%d\n", sum + turn);
    return 0;
}
E2
export TSAN_OPTIONS=exitcode=99:ignore_noninstrumented_modules=1:history_size=4:suppressions=$here/threads.supp
"$clang" -g -fopenmp -fsanitize=thread loop.c -o loop 2>loop.out && ARCHER_OPTIONS=verbose=1 ./loop >loop.out 2>&1 &&
    grep -q '^Archer detected' loop.out || { echo "threads.sh: $clang has no OpenMP with archer"; exit 77; }
"$clang" -g -fopenmp -fsanitize=thread -DRACE loop.c -o loop
if ./loop >loop.out 2>&1 || ! grep -q 'data race' loop.out; then
    echo "threads.sh: the sanitizer sees no race" >&2
    exit 1
fi

# The portable loops alone (configure leaves others out where a -march is given): what threads touch is the same.
CFLAGS="-O1 -g1"
[ "$(uname -m)" != x86_64 ] || CFLAGS+=" -march=x86-64"
configured "$clang" --enable-sanitizers=thread
# The trainer where what it needs is there: every operator forth and back, by two to four threads.
mapfile -t trainer < <(tests_of | grep -x -e tests/fptrain/layers -e tests/fptrain/passes)
built tests/unit/threads tests/fuzz/api ${trainer[@]+"${trainer[@]}"}
run() { # LABEL COMMAND...
    local label=$1
    shift
    if "$@" >"$label.out" 2>&1; then
        echo "$label: no finding"
    else
        echo "$label: status $?: $(grep -m 1 'SUMMARY' "$label.out" || tail -n 1 "$label.out"); see $PWD/$label.out" >&2
        status=1
    fi
}
# Plain threads without threads of OpenMP: archer of LLVM 14 ends in a crash of its own where threads that OpenMP did
# not start come to a critical section.
run plain env OMP_NUM_THREADS=1 OMP_TOOL=disabled tests/unit/threads
run parallel env OMP_NUM_THREADS=4 tests/unit/threads alone
for test in ${trainer[@]+"${trainer[@]}"}; do
    run "trainer-${test##*/}" env OMP_NUM_THREADS=4 "$test"
done
run calls env OMP_NUM_THREADS=4 tests/fuzz/api --random "${API_INPUTS:-2000}" 1
exit $status
