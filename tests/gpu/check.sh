#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# check.sh - what a device has to show, step by step. The output, with a head that says of which device, date, commit
# and command it is, is also added to cuda-check.txt in the build directory, for doc/validation. Steps that passed are
# written to cuda-check.state there and not run again; remove both to begin anew.
#
# usage: tests/gpu/check.sh BUILD SOURCE COMMIT [STEP...]
set -u

build=$1 source=$2 commit=$3
shift 3
tests=$build/tests/gpu
state=$build/cuda-check.state
: >>"$state"

# One line a step: its name, how long it may take, the command. The quickest that says most comes first.
#
# What they should take on an H100, reckoned, not measured: 17 minutes together with the bench, so that 25 minutes of a
# device suffice even if the sanitizers need half as long again. A step that is cut off leaves what passed before it;
# the rest goes on at the next call. Builds take minutes of nvcc: without a device this command builds all, then says so
# and ends with 77.
#   known       1 s  a file of some hundred tensors
#   pointers    1 s  36 calls, six times
#   quantize   15 s  20,000 calls with four copies or waits each, 0.2 ms both sides taken together; 3 s of it the CPU's
#   blocks     40 s  50,000 calls likewise, 15 s of it the CPU's
#   arith       5 s  4,000 calls
#   gemm        5 s  1,800 calls
#   digests   110 s  538 lines of 2^32 inputs: 69 GB through memory at 2.5 TB/s and 60 integer operations an element for
#                    the digest, 0.05 s; the longest rules, some 500 operations an element, 0.15 s more
#   hardware    2 s  11 conversions likewise
#   large      10 s  a few passes over 2^32 elements of 4 bytes, 0.02 s each; the rest is allocation and windows
#   mma        20 s  the device's part is milliseconds; 0.9 G products by the CPU's models, at 0.05 G a second or more
#   memcheck  180 s  8,500 calls of three kernels, some 5 ms each, and a minute to instrument the library
#   memcheck2, 3     60 s each, mostly that minute
#   memcheck4 200 s  20,000 calls of one kernel, as above
#   racecheck 180 s, racecheck2 60 s as memcheck; only the tiles of products share memory
#   bench      30 s  `make bench-cuda', not of `make check-cuda': 30 lines of ten passes over 2 GB, under 1 ms at the
#                    rate of a copy, posits some ms; nine products of 1 G mac ten times, at 5 G mac/s or more
steps() {
    cat <<END
known      60  $tests/vectors_device
pointers   60  $tests/absent
quantize   300 $tests/quantize_device
blocks     300 $tests/blocks_device 6
arith      300 $tests/arith_device
gemm       300 $tests/gemm_device 30
digests    590 $tests/sweep_device --digests $source/tests/digests.txt
hardware   300 $tests/sweep_device --hardware
large      300 $tests/large
mma        300 $tests/mma
memcheck   590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/blocks_device 1
memcheck2  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/gemm_device 3
memcheck3  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/vectors_device
memcheck4  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/quantize_device
racecheck  590 compute-sanitizer --tool racecheck --error-exitcode 1 $tests/blocks_device 1
racecheck2 590 compute-sanitizer --tool racecheck --error-exitcode 1 $tests/gemm_device 3
bench      300 $build/bench/cuda
END
}

export top_srcdir=$source
# Runs the steps named, or all.
run() {
    echo "# commit    $commit"
    echo "# device    $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo none)"
    echo "# date      $(date -u '+%Y-%m-%d %H:%M UTC')"
    echo "# command   make check-cuda${*:+ CUDA_STEPS=\"$*\"}"
    failed=0
    while read -r name limit command; do
        case " $* " in *" $name "*) ;; *) [ $# -eq 0 ] && [ "$name" != bench ] || continue ;; esac
        if grep -q "^$name\$" "$state"; then
            echo "$name: passed before"
            continue
        fi
        start=$SECONDS
        timeout "$limit" $command
        status=$?
        echo "$name: status $status, $((SECONDS - start)) s"
        case $status in
        0) [ "$name" = bench ] || echo "$name" >>"$state" ;;
        77)
            [ "$name" = large ] || [ "$name" = pointers ] || {
                echo "nothing can be shown without a device"
                return 77
            }
            ;;
        *) failed=1 ;;
        esac
    done < <(steps)
    return $failed
}

run "$@" 2>&1 | tee -a "$build/cuda-check.txt"
exit "${PIPESTATUS[0]}"
