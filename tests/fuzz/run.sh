#!/usr/bin/env bash
# run.sh - fuzzes the readers of the program with libFuzzer, under the address and undefined-behaviour sanitizers.
#
#   run.sh DIRECTORY SECONDS [KIND...]     all kinds, one after the other, unless some are named
#
# DIRECTORY/KIND gets the inputs found, beside the program and its log; a finding ends the run and lies there as
# crash-... or timeout-... The inputs of tests/fuzz/corpus come first. Needs clang with its compiler-rt (Debian:
# clang libclang-rt-14-dev), and the libraries of the program with their headers. The fuzzer finds far more where the
# JSON and zip libraries are built with -fsanitize=fuzzer-no-link,address too; PKG_CONFIG_PATH says where those are.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
directory=$(cd "$1" && pwd)
seconds=$2
shift 2
kinds=("$@")
[ $# -gt 0 ] || kinds=(npy npz safetensors container idx cifar text settings checkpoint)

clang=${CLANG:-clang}
flags=(-std=c11 -O1 -g -fno-omit-frame-pointer -ffp-contract=off -Wno-unknown-pragmas -Wno-pass-failed
    -I"$top/include" -I"$top/lib")
sanitizers=-fsanitize=address,undefined
libraries=(jansson libzip zlib)
readers=(container.c dtype.c model.c npy.c npz.c safetensors.c)
trainer_libraries=(inih liblzma zlib)
trainer_readers=(base.c checkpoint.c cifar.c dataset.c digits.c idx.c outfile.c settings.c settings_file.c shapes.c
    source.c text.c)

# The readers are watched by the fuzzer, the library below them by the sanitizers alone; but a container brings specs
# and bits for the library to read.
build() { # KIND
    local kind=$1 file objects=() below=$sanitizers packages=("${libraries[@]}") sources=("$top/tests/fuzz/reader.c")
    [ "$kind" != container ] || below=$sanitizers,fuzzer-no-link
    case $kind in
    idx | cifar | text | settings | checkpoint)
        packages=("${trainer_libraries[@]}")
        sources=("$top/tests/fuzz/trainer.c" "${trainer_readers[@]/#/$top/tools/fptrain/}")
        ;;
    *) sources+=("${readers[@]/#/$top/tools/fpemu/}") ;;
    esac
    mkdir -p "$directory/$kind/objects" "$directory/$kind/inputs"
    cd "$directory/$kind/objects"
    for file in "$top"/lib/*.c; do
        case $file in
        *.inc.c | */kernels_v?.c) ;;
        *)
            "$clang" "${flags[@]}" "$below" -fno-sanitize-recover=all -c "$file"
            objects+=("$(basename "$file" .c).o")
            ;;
        esac
    done
    "$clang" "${flags[@]}" $sanitizers,fuzzer -fno-sanitize-recover=all -DFUZZ_KIND="\"$kind\"" \
        $(pkg-config --static --cflags "${packages[@]}") -o ../reader "${sources[@]}" "${objects[@]}" \
        $(pkg-config --static --libs "${packages[@]}") -lm
}

set --
for kind in "${kinds[@]}"; do
    build "$kind"
    cd "$directory/$kind"
    status=0
    dictionary=$top/tests/fuzz/$kind.dict
    [ ! -f "$dictionary" ] || set -- -dict="$dictionary"
    ./reader "$@" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        inputs "$top/tests/fuzz/corpus/$kind" >log 2>&1 || status=$?
    findings=$(find . -name 'crash-*' -o -name 'timeout-*' -o -name 'oom-*' -o -name 'leak-*' | wc -l)
    echo "$kind: $findings findings, status $status," \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' log) inputs in $seconds s (log: $directory/$kind/log)"
done
