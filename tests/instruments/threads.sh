#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# threads.sh - whether threads touch the same memory: the parallel loops of the library and of the trainer, and plain
# threads that call the library at once, under the thread sanitizer.
#
#   threads.sh DIRECTORY [TEST...]     the tests below, unless some are named
#
# By clang, whose runtime of OpenMP has a tool, archer, that tells the sanitizer what waits for what; gcc's has none
# (Debian: clang libomp-dev). DIRECTORY/clang is a build of its own, which stays. CLANG names the compiler, JOBS=N tests
# run side by side. Exits with 1 for a finding or a failed test, 77 without clang or archer.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
[ $# -ge 1 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2; }
start "$1" threads
shift
clang=${CLANG:-clang}
has "$clang" || { echo "threads.sh: no clang"; exit 77; }

# Archer is there, and a race is seen; numbers that threads add up in turn are none.
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
export TSAN_OPTIONS=exitcode=99:ignore_noninstrumented_modules=1
"$clang" -g -fopenmp -fsanitize=thread loop.c -o loop 2>loop.out && ARCHER_OPTIONS=verbose=1 ./loop >loop.out 2>&1 &&
    grep -q '^Archer detected' loop.out || { echo "threads.sh: $clang has no OpenMP with archer"; exit 77; }
"$clang" -g -fopenmp -fsanitize=thread -DRACE loop.c -o loop
if ./loop >loop.out 2>&1 || ! grep -q 'data race' loop.out; then
    echo "threads.sh: the sanitizer sees no race" >&2
    exit 1
fi

tests=("$@")
if [ $# -eq 0 ]; then
    tests=(tests/unit/threads tests/fuzz/api.sh
        tests/against_judges/{arith_scales,blocks_stats,counters,gemm,stochastic}
        tests/fptrain/{identity,layers,packed,passes,steps,updates})
fi
programs=()
for test in "${tests[@]}"; do
    programs+=("${test%.sh}")
done
configured "$clang" --enable-sanitizers=thread
built "${programs[@]}"
fresh_reports
export TSAN_OPTIONS+=:log_path=$reports/report:history_size=4
export OMP_NUM_THREADS=4 OPENBLAS_NUM_THREADS=1 API_INPUTS=${API_INPUTS:-5000}
run_tests threads "${tests[*]}"
verdict threads 'WARNING: ThreadSanitizer'
exit $status
