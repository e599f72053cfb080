#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh - fuzzes the readers of both programs, and the calls of the library (the kind api), with libFuzzer, under the
# address and undefined-behaviour sanitizers.
#
#   run.sh [--built] DIRECTORY SECONDS [KIND...]   every kind for so long; --built: with the programs of the last time
#   run.sh --memory DIRECTORY SECONDS              the kind api under the memory sanitizer, by one thread: what is
#                                                  read without having been set
#   run.sh --sum DIRECTORY                         what DIRECTORY/ledger.txt has, summed by kind
#   run.sh --unpack DIRECTORY                      writes the inputs of tests/fuzz/corpus to DIRECTORY/seeds/KIND
#   run.sh --pack DIRECTORY                        makes tests/fuzz/corpus of them
#   run.sh --minimise DIRECTORY [KIND...]          both, and between them chooses inputs: those with a name, and small
#                                                  ones that together reach all that these and DIRECTORY's reach
#   run.sh --coverage DIRECTORY [KIND...]          lines and branches that the inputs reach, by folder
#
# All kinds unless some are named. JOBS=N: N compilers or fuzzers side by side; ROUNDS=N: N times through the kinds;
# TIMEOUT=S: seconds an input may take, 10 unless said. DIRECTORY gets corpora/KIND, the inputs found, with which the
# next run goes on; a line a run in ledger.txt; logs/KIND.log; and findings/KIND, the inputs that ended a run, whereupon
# run.sh ends with 1. Needs clang with its compiler-rt (Debian: clang libclang-rt-14-dev), for coverage llvm, and what
# build.sh needs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
verb=--fuzz
case ${1-} in --*) verb=$1; shift ;; esac
usage() { sed -n '3,21s/^# \{0,1\}//p' "$0"; exit 2; }
[ $# -ge 1 ] || usage
mkdir -p "$1"
directory=$(cd "$1" && pwd)
shift
case $verb in
--fuzz | --built | --memory) [ $# -ge 1 ] || usage; seconds=$1; shift ;;
--sum | --unpack | --pack | --minimise | --coverage) ;;
*) usage ;;
esac
kinds=("$@")
programs=programs label=
[ $verb != --memory ] || { kinds=(api) programs=memory label=-memory; }
[ ${#kinds[@]} -gt 0 ] || read -ra kinds < <("$here/build.sh" --kinds)
cd "$directory"
mkdir -p corpora findings logs words

# tests/fuzz/corpus has an archive of ar for each program that replays it; its members are KIND.NAME.
unpack() {
    local archive kind
    rm -rf seeds
    mkdir seeds
    for archive in "$here"/corpus/*.ar; do
        (cd seeds && "${AR:-ar}" x "$archive")
    done
    for kind in $("$here/build.sh" --kinds); do
        mkdir -p "seeds/$kind" "corpora/$kind"
        find seeds -maxdepth 1 -name "$kind.*" -exec mv -t "seeds/$kind" {} +
    done
}

pack() {
    local archive kind file
    for archive in "$here"/corpus/*.ar; do
        rm -rf packed
        mkdir packed
        for kind in $("$here/build.sh" --kinds "$(basename "$archive" .ar)"); do
            for file in "seeds/$kind"/*; do
                [[ $file == */$kind.* ]] || mv "$file" "seeds/$kind/$kind.${file##*/}"
            done
            cp -t packed "seeds/$kind"/*
        done
        (cd packed && export LC_ALL=C && rm "$archive" && "${AR:-ar}" rcDS "$archive" ./*)
    done
    rm -rf packed
}

build() { # DIRECTORY CFLAGS; KIND... are all
    echo "building into $directory/$1" >&2
    CC=${CLANG:-clang} CXX='' CFLAGS="-O1 -g $2" LIB_FUZZING_ENGINE=-fsanitize=fuzzer OUT=$directory/$1 \
        WORK=$directory/$1/objects "$here/build.sh" "${kinds[@]}"
}

build_sanitized() {
    build programs "-fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all"
    git -C "$here" describe --always --dirty 2>/dev/null >programs/commit || echo unknown >programs/commit
}

# Without OpenMP, whose runtime nobody has compiled for it.
build_memory() {
    STATIC=1 build memory "-fno-omit-frame-pointer -fsanitize=memory,fuzzer-no-link"
    git -C "$here" describe --always --dirty 2>/dev/null >memory/commit || echo unknown >memory/commit
}

# What a run did, from its log: the last line that tells of coverage has all of it.
log_value() { # KIND NAME
    grep -ao "$2: [0-9]*" "logs/$1$label.log" | tail -n 1 | grep -o '[0-9]*$' || echo 0
}

found() { # DIRECTORY
    find "$1" -type f ! -name 'slow-unit-*' | wc -l
}

# Threads that wait do not spin: beside other work that takes far longer than the calls.
fuzz() { # KIND
    local kind=$1 options=() before after used TIMEFORMAT='%U %S'
    mkdir -p "findings/$kind"
    "$here/build.sh" --words "$kind" >"words/$kind"
    [ ! -s "words/$kind" ] || options=(-dict="words/$kind")
    [ "$kind" != command ] || options+=(-rss_limit_mb=8192) # some 15 kB are lost with a refusal, as command.c says
    before=$(found "findings/$kind")
    options+=(-max_total_time="$seconds" -max_len=4096 -timeout="${TIMEOUT:-10}" -rss_limit_mb=2048
        -report_slow_units="${TIMEOUT:-10}" -print_final_stats=1 -artifact_prefix="findings/$kind/")
    used=$( { time OMP_WAIT_POLICY=passive "$programs/fuzz_$kind" "${options[@]}" "corpora/$kind" \
        "seeds/$kind" >"logs/$kind$label.log" 2>&1 || :; } 2>&1 )
    after=$(found "findings/$kind")
    # shellcheck disable=SC2086
    printf '%-11s  %s  %-9s %8.0f %10d %7d %7d %6d %4d\n' "$kind$label" "$(date -u +%F)" "$(cat "$programs/commit")" \
        "$(awk '{ print $1 + $2 }' <<<"$used")" "$(log_value "$kind" stat::number_of_executed_units)" \
        "$(log_value "$kind" cov)" "$(log_value "$kind" ft)" "$(find "corpora/$kind" -type f | wc -l)" \
        $((after - before)) | tee -a ledger.txt
}

fuzz_all() {
    local round kind findings
    if [ ! -e ledger.txt ]; then
        echo '# kind       date        commit     seconds       runs    cov.   feat. corpus findings' >ledger.txt
        echo '# seconds of processor time; coverage and features as libFuzzer counts them' >>ledger.txt
    fi
    findings=$(found findings)
    for ((round = 0; round < ${ROUNDS:-1}; round++)); do
        for kind in "${kinds[@]}"; do
            while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do
                wait -n
            done
            fuzz "$kind" &
        done
    done
    wait
    if [ "$(found findings)" -gt "$findings" ]; then
        echo "findings: see $directory/findings and logs" >&2
        exit 1
    fi
}

# A kind's seconds and runs are added up; coverage and corpus are those of its last run.
sum() {
    echo '# kind       first       last        seconds       runs    cov.   feat. corpus findings'
    grep -v '^#' ledger.txt | awk '
        !($1 in runs) { first[$1] = $2 }
        {
            seconds[$1] += $4; runs[$1] += $5; found[$1] += $9; last[$1] = $2
            rest[$1] = sprintf("%7d %7d %6d", $6, $7, $8)
        }
        END {
            for (k in runs)
                printf "%-11s  %s  %s  %8d %10d %s %4d\n", k, first[k], last[k], seconds[k], runs[k], rest[k], found[k]
        }' | sort
}

# The inputs with a name stay; of the others, named by their digest, few that reach all edges, the small ones up to
# 48 KiB a kind.
minimise() { # KIND
    local kind=$1 file size total=0 least=minimal/$1 digest='.*/([a-z0-9]+\.)?[0-9a-f]{12,40}'
    rm -rf "$least"
    mkdir -p "$least"
    find "seeds/$kind" -type f -regextype posix-extended ! -regex "$digest" -exec cp -t "$least" {} +
    "programs/fuzz_$kind" -set_cover_merge=1 -use_counters=0 -max_len=1024 -timeout="${TIMEOUT:-10}" \
        "$least" "seeds/$kind" "corpora/$kind" >"logs/$kind.merge.log" 2>&1
    find "seeds/$kind" -type f -regextype posix-extended -regex "$digest" -delete
    while read -r size file; do
        total=$((total + size))
        [ $total -le 49152 ] || break
        cp "$file" "seeds/$kind/$kind.$(basename "$file" | cut -c 1-12)"
    done < <(find "$least" -type f -regextype posix-extended -regex "$digest" -printf '%s %p\n' | sort -n)
    echo "$kind: $(find "seeds/$kind" -type f | wc -l) inputs, $(cat "seeds/$kind"/* | wc -c) bytes"
}

coverage() {
    local kind objects=()
    PORTABLE=1 build coverage "-fprofile-instr-generate -fcoverage-mapping"
    for kind in "${kinds[@]}"; do
        LLVM_PROFILE_FILE=coverage/$kind.profraw "coverage/fuzz_$kind" -runs=0 -rss_limit_mb=0 "corpora/$kind" \
            "seeds/$kind" >"logs/$kind.coverage.log" 2>&1
        objects+=(-object "coverage/fuzz_$kind")
    done
    "${LLVM_PROFDATA:-llvm-profdata}" merge -sparse -o coverage/all.profdata coverage/*.profraw
    "${LLVM_COV:-llvm-cov}" report "${objects[@]:1}" -instr-profile=coverage/all.profdata \
        -ignore-filename-regex='tests/fuzz/|^/usr/' >coverage/files.txt
    awk '
        /^[^ ]+\.[ch] / && $8 > 0 {
            room = $1
            sub(/\/[^\/]*$/, "", room)
            if (match(room "/", /(^|\/)(lib|tools)\//))
                room = substr(room, RSTART + (substr(room, RSTART, 1) == "/"))
            lines[room] += $8; missed[room] += $9; branches[room] += $11; not_taken[room] += $12
        }
        END {
            for (r in lines)
                printf "%-26s %7d %6.1f %9d %6.1f\n", r, lines[r], 100 - 100 * missed[r] / (lines[r] ? lines[r] : 1),
                    branches[r], 100 - 100 * not_taken[r] / (branches[r] ? branches[r] : 1)
        }' coverage/files.txt | sort >coverage/rooms.txt
    echo '# folder                     lines  % run  branches  % taken'
    cat coverage/rooms.txt
    echo "each file: $directory/coverage/files.txt; each line: llvm-cov show with coverage/all.profdata" >&2
}

case $verb in --sum | --pack) ;; *) unpack ;; esac
case $verb in
--pack) pack ;;
--fuzz) build_sanitized; fuzz_all ;;
--built) fuzz_all ;;
--memory) build_memory; fuzz_all ;;
--sum) sum ;;
--minimise)
    [ -e programs/commit ] || build_sanitized
    for kind in "${kinds[@]}"; do
        minimise "$kind"
    done
    pack
    ;;
--coverage) coverage ;;
esac
