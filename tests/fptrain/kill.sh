# SPDX-License-Identifier: BSD-2-Clause
# kill.sh - what the tests of runs that are killed share; sourced, not run. $work, $fptrain and complain are theirs.

# What of a log, and of a summary, does not depend on the clock and on which run it is.
log_bits() { # FILE
    sed 's/,"seconds":[^,}]*//; 1s/"run":"[0-9a-f]*"/"run":"-"/' "$1"
}

summary_bits() { # FILE
    grep -v 'images_per_second\|seconds"\|"run": "\|"output.directory"' "$1"
}

# The lines of steps and epochs: not the first one, which names the run.
lines() { # DIR
    [ -s "$work/$1/run/log.jsonl" ] && tail -n +2 "$work/$1/run/log.jsonl" | wc -l || echo 0
}

# Starts a run in DIR, with one thread, and kills it as soon as its log has that many lines. On a busy machine it may be
# over before this script sees them: then it starts again from what was in DIR before, five times at most. A run that
# ends otherwise, or is not there after 12000 looks, is a failure at once; the clock would count when all stands still.
kill_at() { # DIR LINES OPTION...
    local dir=$1 count=$2 try pid looks ended
    shift 2
    mkdir -p "$work/$dir"
    rm -rf "$work/$dir.before"
    cp -R "$work/$dir" "$work/$dir.before"
    for try in 1 2 3 4 5; do
        (cd "$work/$dir" && OMP_NUM_THREADS=1 exec "$fptrain" run --out run --quiet "$@") &
        pid=$! # of the program itself
        looks=0
        while [ "$(lines "$dir")" -lt "$count" ] && kill -0 $pid 2>/dev/null && [ $looks -lt 12000 ]; do
            sleep 0.01
            looks=$((looks + 1))
        done
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        ended=$?
        [ $ended -eq 0 ] || break
        rm -rf "${work:?}/$dir"
        cp -R "$work/$dir.before" "$work/$dir"
    done
    rm -rf "$work/$dir.before"
    [ $ended -eq 137 ] || complain "$dir: exit status $ended, not killed at line $count"
    [ $ended -ne 137 ] || [ "$(lines "$dir")" -ge "$count" ] || complain "$dir: killed before line $count"
}
