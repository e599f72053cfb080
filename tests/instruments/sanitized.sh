#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# sanitized.sh - the tests of `make check` under the address, leak and undefined-behaviour sanitizers; by clang also the
# calls of the library under the memory sanitizer: what is read without having been set.
#
#   sanitized.sh DIRECTORY [COMPILER...]     gcc and clang, those of them that exist, unless compilers are named
#
# DIRECTORY/COMPILER is a build of its own, which stays and is brought up to date. Tests that left_out.txt names do not
# run. JOBS=N tests side by side, else as many as there are processors. A finding is a failure even where a test expects
# a program to fail: each leaves a file. Exits with 1 for a finding or a failed test, 77 without a compiler.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
[ $# -ge 1 ] || { sed -n '3,11s/^# \{0,1\}//p' "$0"; exit 2; }
start "$1" sanitized
shift
compilers=("$@")
if [ $# -eq 0 ]; then
    for cc in gcc clang; do
        ! has "$cc" || compilers+=("$cc")
    done
fi
[ ${#compilers[@]} -gt 0 ] || { echo "sanitized.sh: no compiler"; exit 77; }

for cc in "${compilers[@]}"; do
    # gcc's runtime for undefined behaviour writes to standard error whatever log_path says when the one for addresses is
    # there too, and a test may keep that to itself: a trap instead, of which the other writes a report.
    flags=${CFLAGS--O1 -g1} is_clang=1
    "$cc" -dM -E -x c /dev/null | grep -q __clang__ || is_clang=0
    [ $is_clang -eq 1 ] || flags+=" -fsanitize-undefined-trap-on-error"
    CFLAGS=$flags configured "$cc" --enable-sanitizers
    built all
    built check TESTS=
    names=$(tests_of | without "$here/left_out.txt" sanitized)
    fresh_reports
    # A status that no test expects; what is read of a string is all of it; a freed frame is not used again. Not with
    # gcc: the frames that gcc 12 then puts elsewhere are not aligned as AVX-512 needs them (its report 110027).
    common=exitcode=99:log_path=$reports/report
    export ASAN_OPTIONS=$common:detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=$is_clang
    ASAN_OPTIONS+=:allocator_may_return_null=1:handle_sigill=1
    export UBSAN_OPTIONS=$common:print_stacktrace=1
    before=$status
    run_tests "$cc" "$names"
    verdict "$cc" 'ERROR: [A-Za-z]*Sanitizer: |runtime error: '
    # LLVM's search for leaks ends by a signal of its own where a thread has not yet begun when the program ends, as in
    # work of microseconds, and in children of Check: what failed runs once more, by one thread and without children.
    again=$(sed -n 's/^FAIL: \([^ ]*\).*/\1/p' check.out)
    if [ -n "$again" ] && grep -qs 'LeakSanitizer has encountered a fatal error' "$reports"/*; then
        status=$before
        run_tests "$cc, once more" "$again" \
            TESTS_ENVIRONMENT="CK_FORK=no OMP_NUM_THREADS=1; export CK_FORK OMP_NUM_THREADS;"
        verdict "$cc, once more" 'ERROR: [A-Za-z]*Sanitizer: |runtime error: '
    fi
    [ $is_clang -eq 1 ] || continue # gcc has no memory sanitizer
    memory=$directory/memory
    if CLANG=$cc JOBS=$jobs "$here/../fuzz/run.sh" --memory "$memory" 60 >"$directory/memory.out" 2>&1; then
        echo "$cc: calls under the memory sanitizer: 0 reports"
    else
        echo "$cc: calls under the memory sanitizer: see $memory/logs/api-memory.log" >&2
        status=1
    fi
done
exit $status
