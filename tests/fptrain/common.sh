# SPDX-License-Identifier: BSD-2-Clause
# common.sh - what the tests of the trainer's runs share; sourced, not run. They work in $work, which goes away in the
# end, and end with `exit $status`.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fptrain=$FPTRAIN
status=0

complain() {
    echo "$*"
    status=1
}

# ends STATUS TEXT COMMAND...: ends with the status, and one line on standard error that holds the text.
ends() {
    local wanted=$1 text=$2 got
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$wanted" ] || complain "$*: exit status $got, not $wanted: $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" -eq 1 ] && grep -qF -e "$text" "$work/err" || complain "$*: says $(cat "$work/err")"
}

refuses() { # TEXT COMMAND...
    ends 2 "$@"
}

# options NAME SECTION.KEY=VALUE...: the array NAME becomes the options that set these.
options() {
    local -n array=$1
    local setting
    shift
    array=()
    for setting; do array+=(--set "$setting"); done
}

# In a directory of its own, so that the one of the run has the same name everywhere.
run() { # DIR THREADS OPTION...
    local dir=$1 threads=$2
    shift 2
    mkdir -p "$work/$dir"
    (cd "$work/$dir" && OMP_NUM_THREADS=$threads exec "$fptrain" run --out run --quiet "$@")
}

log() { # DIR
    log_bits "$work/$1/run/log.jsonl"
}

summary() { # DIR
    summary_bits "$work/$1/run/summary.json"
}

same() { # DIR DIR WHAT
    local file
    for file in checkpoint best; do
        [ ! -e "$work/$1/run/$file.safetensors" ] ||
            "$SAME_CHECKPOINT" "$work/$1/run/$file.safetensors" "$work/$2/run/$file.safetensors" ||
            complain "$3: another $file"
    done
    [ "$(log "$1")" = "$(log "$2")" ] || complain "$3: another log"
    [ "$(summary "$1")" = "$(summary "$2")" ] || complain "$3: another summary"
}

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
