#!/usr/bin/env bash
# check.sh - what a device has to show, step by step; the output is what doc/validation keeps. Steps that passed are
# written to cuda-check.state in the build directory and not run again; remove it to begin anew.
#
# usage: tests/gpu/check.sh BUILD SOURCE [STEP...]
set -u

build=$1 source=$2
shift 2
tests=$build/tests/gpu
state=$build/cuda-check.state
: >>"$state"

# One line a step: its name, how long it may take, the command. The quickest that says most comes first.
steps() {
    cat <<END
known      60  $tests/vectors_device
verbs      300 $tests/verbs_device
tensors    300 $tests/tensors_device 6
operations 300 $tests/operations_device
products   300 $tests/products_device 30
digests    590 $tests/sweep_device --digests $source/tests/digests.txt
hardware   300 $tests/sweep_device --hardware
large      300 $tests/large
mma        300 $tests/mma
memcheck   590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/tensors_device 1
memcheck2  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/products_device 3
memcheck3  590 compute-sanitizer --tool memcheck --error-exitcode 1 $tests/vectors_device
racecheck  590 compute-sanitizer --tool racecheck --error-exitcode 1 $tests/tensors_device 1
racecheck2 590 compute-sanitizer --tool racecheck --error-exitcode 1 $tests/products_device 3
END
}

export top_srcdir=$source
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "no device is seen by nvidia-smi"
date -u +%Y-%m-%d
failed=0
while read -r name limit command; do
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    if grep -q "^$name\$" "$state"; then
        echo "$name: passed before"
        continue
    fi
    start=$SECONDS
    timeout "$limit" $command
    status=$?
    echo "$name: status $status, $((SECONDS - start)) s"
    case $status in
    0) echo "$name" >>"$state" ;;
    77) [ "$name" = large ] || { echo "nothing can be shown without a device"; exit 77; } ;;
    *) failed=1 ;;
    esac
done < <(steps)
exit $failed
