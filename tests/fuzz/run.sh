#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh - fuzzes the readers of both programs, and the calls of the library (the kind api), with libFuzzer, under the
# address and undefined-behaviour sanitizers.
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
[ $# -ge 2 ] || { sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
directory=$(cd "$1" && pwd)
seconds=$2
shift 2
kinds=("$@")
[ $# -gt 0 ] || kinds=(api npy npz safetensors gguf container index idx cifar text utf8 array archive tokens
    picture settings checkpoint weights network log)

clang=${CLANG:-clang}
flags=(-std=c11 -O1 -g -fno-omit-frame-pointer -ffp-contract=off -Wno-unknown-pragmas -Wno-pass-failed
    -I"$top/include" -I"$top/lib" -I"$top/tools" -I"$top/tools/fpemu" -I"$top/tools/fptrain")
sanitizers=-fsanitize=address,undefined
libraries=(jansson libzip zlib)
readers=(container.c dtype.c foreign.c ggml.c gguf.c json_header.c layout.c members.c model.c reader.c safetensors.c
    shards.c stored.c)
common_readers=(common/byte_order.c common/json.c common/npy.c common/npz.c common/safetensors.c common/shape.c
    common/shown.c common/trouble.c common/utf8.c)
trainer_libraries=(inih jansson liblzma libpng libzip zlib)
trainer_readers=(common/atomic_file.c common/followed.c common/near.c common/temporary.c
    "${common_readers[@]}"
    fptrain/base/base.c fptrain/base/checkpoint.c fptrain/base/listing.c fptrain/base/number.c
    fptrain/base/source.c fptrain/data/array.c fptrain/data/arrays.c fptrain/data/cifar.c fptrain/data/dataset.c
    fptrain/data/digits.c fptrain/data/idx.c fptrain/data/pictures.c fptrain/data/raster.c fptrain/data/shapes.c
    fptrain/data/text.c fptrain/data/tokens.c fptrain/run/settings.c fptrain/run/settings_file.c
    fptrain/run/shelf.c fptrain/engine/graph.c fptrain/engine/op.c)
for file in "$top"/tools/fptrain/models/*.c "$top"/tools/fptrain/ops/*.c; do
    trainer_readers+=("${file#"$top"/tools/}")
done
log_readers=(common/utf8.c fptrain/base/csv_field.c fptrain/report/csv.c fptrain/report/events.c fptrain/report/log_lines.c
    fptrain/report/log_values.c fptrain/report/run_data.c fptrain/report/tensorboard.c)

# The library below the readers, once for all kinds; its objects lie in the directory that is named.
build_library() { # DIRECTORY SANITIZERS [FLAG...]
    local file object objects=$1 watched=$2 machine
    shift 2
    [ ! -e "$objects/complete" ] || return 0
    mkdir -p "$objects"
    cd "$objects"
    for file in "$top"/lib/*.c "$top"/lib/*/*.c; do
        machine=()
        case $file in
        *.inc.c) continue ;;
        */x86_64_v3.c | */x86_64_v4.c | */vbmi.c)
            [ $# -gt 0 ] || continue
            machine=(-mprefer-vector-width=512 -march=x86-64-v4)
            [[ $file != */vbmi.c ]] || machine+=(-mavx512vbmi)
            [[ $file != */x86_64_v3.c ]] || machine=(-mprefer-vector-width=256 -march=x86-64-v3)
            ;;
        esac
        object=${file#"$top"/lib/}
        "$clang" "${flags[@]}" "$watched" "$@" "${machine[@]}" -fno-sanitize-recover=all -c "$file" \
            -o "${object//\//-}.o"
    done
    touch complete
}

# The calls, with all instruction sets that clang compiles for this machine, and two threads where it has OpenMP.
build_api() {
    local every=(-DFUZZ_API) library=$directory/library-api
    if [ "$(uname -m)" = x86_64 ]; then
        every+=(-DFPEMU_HAVE_V3=1 -DFPEMU_HAVE_V4=1 -DFPEMU_HAVE_VBMI=1)
    fi
    mkdir -p "$directory/api/inputs"
    cd "$directory/api"
    echo 'int main(void) { return 0; }' >openmp.c
    if "$clang" -fopenmp openmp.c -o openmp 2>/dev/null && ./openmp; then
        every+=(-fopenmp)
    fi
    build_library "$library" $sanitizers,fuzzer-no-link "${every[@]}"
    rm -f "$library"/loops-dispatch.c.o # api.c chooses
    cd "$directory/api"
    "$clang" "${flags[@]}" $sanitizers,fuzzer -fno-sanitize-recover=all "${every[@]}" -o reader \
        "$top"/tests/fuzz/api*.c "$library"/*.o -lm
}

# The readers of a program, once for all their kinds.
build_readers() { # DIRECTORY CFLAGS SOURCE...
    local file object objects=$1 cflags=$2
    shift 2
    [ ! -e "$objects/complete" ] || return 0
    mkdir -p "$objects"
    cd "$objects"
    for file in "$@"; do
        object=${file#"$top"/}
        "$clang" "${flags[@]}" $sanitizers,fuzzer-no-link -fno-sanitize-recover=all $cflags -c "$file" \
            -o "${object//\//-}.o"
    done
    touch complete
}

# The readers are watched by the fuzzer, the library by the sanitizers alone; but a container brings specs and bits for
# the library to read.
build() { # KIND
    local kind=$1 library=$directory/library packages=("${libraries[@]}") entry=$top/tests/fuzz/reader.c
    local objects=$directory/readers cflags
    local sources=("${readers[@]/#/$top/tools/fpemu/files/}" "${common_readers[@]/#/$top/tools/}")
    case $kind in
    idx | cifar | text | utf8 | array | archive | tokens | picture | settings | checkpoint | weights | network | log)
        packages=("${trainer_libraries[@]}")
        entry=$top/tests/fuzz/trainer.c
        objects=$directory/readers-trainer
        sources=("$top/tests/fuzz/log.c" "${trainer_readers[@]/#/$top/tools/}" "${log_readers[@]/#/$top/tools/}")
        ;;
    esac
    readarray -t sources < <(printf '%s\n' "${sources[@]}" | sort -u) # lists may overlap
    if [ "$kind" = container ]; then
        library=$directory/library-watched
        build_library "$library" $sanitizers,fuzzer-no-link
    else
        build_library "$library" $sanitizers
    fi
    cflags=$(pkg-config --static --cflags "${packages[@]}")
    build_readers "$objects" "$cflags" "${sources[@]}"
    mkdir -p "$directory/$kind/inputs"
    cd "$directory/$kind"
    "$clang" "${flags[@]}" $sanitizers,fuzzer -fno-sanitize-recover=all -DFUZZ_KIND="\"$kind\"" \
        $cflags -o reader "$entry" "$objects"/*.o "$library"/*.o \
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

rm -rf "$directory"/library "$directory"/library-{watched,api} "$directory"/readers "$directory/readers-trainer"
for kind in "${kinds[@]}"; do
    if [ "$kind" = api ]; then
        build_api
    else
        build "$kind"
    fi
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
