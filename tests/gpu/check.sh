#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# check.sh - what a device has to show, step by step. The output, with a head that says of which device, date, commit
# and command it is, is also added to cuda-check.txt in the build directory, for doc/validation. Steps that passed are
# written to cuda-check.state there and not run again; remove both to begin anew.
#
# usage: tests/gpu/check.sh BUILD SOURCE COMMIT [STEP...]
#
# CUDA_JOBS=N runs N steps at a time, each a process of its own on the device: most wait for a processor. The bench runs
# alone.
set -u

build=$1 source=$2 commit=$3
shift 3
tests=$build/tests/gpu
state=$build/cuda-check.state
: >>"$state"

# One line a step: its name, how long it may take, the command.
steps() {
    cat <<END
known      60  $tests/vectors_device
pointers   60  $tests/absent
memcheck   590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/blocks_device 1
memcheck2  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/gemm_device 3
memcheck3  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/vectors_device
memcheck4  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/quantize_device
memcheck5  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/arith_device
racecheck  590 compute-sanitizer --tool racecheck --error-exitcode 1 $tests/blocks_device 1
racecheck2 590 compute-sanitizer --tool racecheck --error-exitcode 1 $tests/gemm_device 3
initcheck  590 compute-sanitizer --tool initcheck --error-exitcode 1 $tests/vectors_device
initcheck2 590 compute-sanitizer --tool initcheck --error-exitcode 1 $tests/gemm_device 3
synccheck  590 compute-sanitizer --tool synccheck --error-exitcode 1 $tests/gemm_device 3
synccheck2 590 compute-sanitizer --tool synccheck --error-exitcode 1 $tests/vectors_device
digests    590 $tests/sweep_device --digests $source/tests/digests.txt
quantize   300 $tests/quantize_device
blocks     590 $tests/blocks_device 6
arith      300 $tests/arith_device
gemm       300 $tests/gemm_device 30
hardware   300 $tests/sweep_device --hardware
streams    300 $tests/streams
large      300 $tests/large
mma        300 $tests/mma
memory     60  $tests/streams --memory
bench      300 $build/bench/cuda
END
}

export top_srcdir=$source
# Of many steps at a time each keeps to one processor.
[ "${CUDA_JOBS:-1}" -eq 1 ] || export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
# One step, its output to its log; its status stays there until the output is shown.
step() {
    local name=$1 limit=$2 start=$SECONDS status
    shift 2
    timeout "$limit" "$@" >"$logs/$name" 2>&1
    status=$?
    echo "$name: status $status, $((SECONDS - start)) s" >>"$logs/$name"
    echo "$status" >"$logs/$name.status"
    if [ $status -eq 0 ] && [ "$name" != bench ]; then echo "$name" >>"$state"; fi
}

# Runs the steps named, or all but the bench. What takes all memory of the device comes alone and last.
run() {
    echo "# commit    $commit"
    echo "# device    $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo none)"
    echo "# date      $(date -u '+%Y-%m-%d %H:%M UTC')"
    echo "# command   make check-cuda${*:+ CUDA_STEPS=\"$*\"}${CUDA_JOBS:+ CUDA_JOBS=$CUDA_JOBS}"
    if [ -x "$tests/vectors_device" ]; then
        "$tests/vectors_device" >/dev/null 2>&1
        [ $? -ne 77 ] || {
            echo "nothing can be shown without a device"
            return 77
        }
    fi
    failed=0 begun=
    while read -r name limit command; do
        case " $* " in *" $name "*) ;; *) [ $# -eq 0 ] && [ "$name" != bench ] || continue ;; esac
        if grep -q "^$name\$" "$state"; then
            echo "$name: passed before"
            continue
        fi
        case $name in
        memory | bench) wait ;;
        *) while [ "$(jobs -rp | wc -l)" -ge "${CUDA_JOBS:-1}" ]; do wait -n; done ;;
        esac
        # shellcheck disable=SC2086 # a command and its arguments
        step "$name" "$limit" $command &
        begun="$begun $name"
    done < <(steps)
    wait
    for name in $begun; do
        cat "$logs/$name"
        case $(cat "$logs/$name.status") in 0 | 77) ;; *) failed=1 ;; esac
    done
    return $failed
}

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
run "$@" 2>&1 | tee -a "$build/cuda-check.txt"
exit "${PIPESTATUS[0]}"
