#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh - fuzzes the readers of both programs with libFuzzer, under the address and undefined-behaviour sanitizers.
#
#   run.sh DIRECTORY SECONDS [KIND...]     all kinds unless some are named; JOBS=N: N of them side by side, else one
#                                          after the other; TIMEOUT=S: seconds an input may take, 10 unless said
#
# DIRECTORY/KIND gets the inputs found, beside the program and its log; a finding ends the run and lies there as
# crash-... or timeout-... The inputs of tests/fuzz/corpus come first. Needs clang with its compiler-rt (Debian:
# clang libclang-rt-14-dev), and the libraries of the program with their headers. The fuzzer finds far more where the
# JSON and zip libraries are built with -fsanitize=fuzzer-no-link,address too; PKG_CONFIG_PATH says where those are.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
directory=$(cd "$1" && pwd)
seconds=$2
shift 2
kinds=("$@")
[ $# -gt 0 ] || kinds=(npy npz safetensors gguf container index idx cifar text utf8 array archive tokens
    picture settings checkpoint)

clang=${CLANG:-clang}
flags=(-std=c11 -O1 -g -fno-omit-frame-pointer -ffp-contract=off -Wno-unknown-pragmas -Wno-pass-failed
    -I"$top/include" -I"$top/lib" -I"$top/tools" -I"$top/tools/fpemu" -I"$top/tools/fptrain")
sanitizers=-fsanitize=address,undefined
libraries=(jansson libzip zlib)
readers=(container.c dtype.c foreign.c ggml.c gguf.c json_header.c layout.c members.c model.c reader.c safetensors.c
    shards.c stored.c)
shared_readers=(common/byte_order.c common/npy.c common/npz.c common/trouble.c)
trainer_libraries=(inih liblzma libpng libzip zlib)
trainer_readers=(common/atomic_file.c common/byte_order.c common/near.c common/npy.c common/npz.c common/shown.c
    common/trouble.c fptrain/base/base.c fptrain/base/checkpoint.c fptrain/base/listing.c fptrain/base/number.c
    fptrain/base/source.c fptrain/data/array.c fptrain/data/arrays.c fptrain/data/cifar.c fptrain/data/dataset.c
    fptrain/data/digits.c fptrain/data/idx.c fptrain/data/pictures.c fptrain/data/raster.c fptrain/data/shapes.c
    fptrain/data/text.c fptrain/data/tokens.c fptrain/run/settings.c fptrain/run/settings_file.c
    fptrain/run/shelf.c)

# The library below the readers, once for all kinds; its objects lie in the directory that is named.
build_library() { # DIRECTORY SANITIZERS
    local file object
    [ ! -e "$1/complete" ] || return 0
    mkdir -p "$1"
    cd "$1"
    for file in "$top"/lib/*.c "$top"/lib/*/*.c; do
        case $file in
        *.inc.c | */x86_64_v*.c | */vbmi.c) continue ;;
        esac
        object=${file#"$top"/lib/}
        "$clang" "${flags[@]}" "$2" -fno-sanitize-recover=all -c "$file" -o "${object//\//-}.o"
    done
    touch complete
}

# The readers are watched by the fuzzer, the library by the sanitizers alone; but a container brings specs and bits for
# the library to read.
build() { # KIND
    local kind=$1 library=$directory/library packages=("${libraries[@]}") sources=("$top/tests/fuzz/reader.c")
    case $kind in
    idx | cifar | text | utf8 | array | archive | tokens | picture | settings | checkpoint)
        packages=("${trainer_libraries[@]}")
        sources=("$top/tests/fuzz/trainer.c" "${trainer_readers[@]/#/$top/tools/}")
        ;;
    *) sources+=("${readers[@]/#/$top/tools/fpemu/files/}" "${shared_readers[@]/#/$top/tools/}") ;;
    esac
    if [ "$kind" = container ]; then
        library=$directory/library-watched
        build_library "$library" $sanitizers,fuzzer-no-link
    else
        build_library "$library" $sanitizers
    fi
    mkdir -p "$directory/$kind/inputs"
    cd "$directory/$kind"
    "$clang" "${flags[@]}" $sanitizers,fuzzer -fno-sanitize-recover=all -DFUZZ_KIND="\"$kind\"" \
        $(pkg-config --static --cflags "${packages[@]}") -o reader "${sources[@]}" "$library"/*.o \
        $(pkg-config --static --libs "${packages[@]}") -lm
}

fuzz() { # KIND
    local kind=$1 status=0 findings options=()
    cd "$directory/$kind"
    [ ! -f "$top/tests/fuzz/$kind.dict" ] || options=(-dict="$top/tests/fuzz/$kind.dict")
    ./reader "${options[@]}" -max_total_time="$seconds" -max_len=4096 -timeout="${TIMEOUT:-10}" -rss_limit_mb=2048 \
        -print_final_stats=1 inputs "$top/tests/fuzz/corpus/$kind" >log 2>&1 || status=$?
    findings=$(find . -name 'crash-*' -o -name 'timeout-*' -o -name 'oom-*' -o -name 'leak-*' | wc -l)
    echo "$kind: $findings findings, status $status," \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' log) inputs in $seconds s (log: $directory/$kind/log)"
}

rm -rf "$directory/library" "$directory/library-watched"
for kind in "${kinds[@]}"; do
    build "$kind"
done
running=0
for kind in "${kinds[@]}"; do
    if [ "$running" -ge "${JOBS:-1}" ]; then
        wait -n
        running=$((running - 1))
    fi
    fuzz "$kind" &
    running=$((running + 1))
done
wait
