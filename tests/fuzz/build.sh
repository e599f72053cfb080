#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# build.sh - builds fuzz targets, each a program $OUT/fuzz_KIND.
#
#   build.sh KIND...       build.sh --kinds [PROGRAM] names all, or those of one file of corpus/
#   build.sh --words KIND  prints its dictionary, nothing where it has none
#
# From the environment, as OSS-Fuzz sets it: CC, CFLAGS with sanitizers and coverage; CXX, CXXFLAGS and
# LIB_FUZZING_ENGINE, which link; OUT, and WORK for objects. Besides: JOBS compilers at a time; STATIC=1 links the
# libraries of the packages into the programs; PORTABLE=1 leaves the other instruction sets out, for records of
# coverage. Needs the libraries of the programs with their headers; the fuzzer finds more where these are built with
# CFLAGS too (PKG_CONFIG_PATH says where those are).
# shellcheck disable=SC2086,SC2046 # flags are words
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tensors=(npy npz safetensors gguf container index plan table)
trainer=(idx cifar text utf8 array archive tokens settings checkpoint weights network log hardware)
if [ "${1-}" = --kinds ]; then
    case ${2-} in
    '') echo api command "${tensors[@]}" "${trainer[@]}" ;;
    reader) echo "${tensors[@]}" ;;
    trainer) echo "${trainer[@]}" ;;
    *) echo "$2" ;;
    esac
    exit
fi
if [ "${1-}" = --words ]; then
    exec awk -v kind="${2:?}:" '/^## / { on = $2 == kind } on' "$top/tests/fuzz/words.dict"
fi
[ $# -gt 0 ] || { sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 2; }
: "${CC:=clang}" "${CFLAGS:=}" "${CXX:=$CC}" "${LIB_FUZZING_ENGINE:?}" "${OUT:?}" "${WORK:?}"

flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -ffp-contract=off -Wno-unknown-pragmas -Wno-pass-failed
    -I"$top/include" -I"$top/lib" -I"$top/tools" -I"$top/tools/fpemu" -I"$top/tools/fptrain")
common=(byte_order json npy npz safetensors shape shown trouble utf8)
model_files=("${common[@]/#/common/}")
for name in container dtype foreign ggml gguf json_header layout members model reader safetensors shards stored; do
    model_files+=("fpemu/files/$name")
done
model_files+=(fpemu/files/number_table fpemu/cli/{number,words} fpemu/plans/plan_reader)
command_files=(fpemu/commands/{apply,compare,pack,quantize,unpack})
for file in "$top"/tools/common/*.c "$top"/tools/fpemu/{cli,files,plans,reports}/*.c; do
    file=${file#"$top"/tools/}
    [ "$file" = fpemu/reports/fuzz_report.c ] || command_files+=("${file%.c}") # it goes with a command that is not here
done
trainer_files=("${common[@]/#/common/}" common/{atomic_file,followed,near,temporary}
    fptrain/base/{base,checkpoint,listing,source,words}
    fptrain/data/{array,arrays,cifar,dataset,digits,idx,shapes,text,tokens}
    fptrain/run/{record_lines,settings,settings_file,shelf} fptrain/estimate/time fptrain/engine/{graph,op}
    fptrain/report/{csv,log_lines,log_values,run_data})
for file in "$top"/tools/fptrain/models/*.c "$top"/tools/fptrain/ops/*.c; do
    file=${file#"$top"/tools/}
    trainer_files+=("${file%.c}")
done

machine=$(uname -m)
case " $CFLAGS " in *" -m32 "* | *" i386"*) machine=i386 ;; esac
[ -z "${PORTABLE-}" ] || machine=portable
variants=()
[ "$machine" != x86_64 ] || variants=(-DFPEMU_HAVE_V3=1 -DFPEMU_HAVE_V4=1)

# Two threads, where the compiler has an OpenMP that runs.
openmp=
mkdir -p "$WORK" "$OUT"
echo 'int main(void) { return 0; }' >"$WORK/openmp.c"
if [ -z "${STATIC-}" ] && $CC $CFLAGS -fopenmp "$WORK/openmp.c" -o "$WORK/openmp" 2>/dev/null &&
    "$WORK/openmp"; then
    openmp=-fopenmp
fi

compile() { # OBJECT FILE FLAG...
    local object=$1 file=$2
    shift 2
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do
        wait -n
    done
    $CC "${flags[@]}" $CFLAGS $openmp "$@" -c "$file" -o "$object" &
}

# wait says how the last one ended; what is missing says that one failed.
finished() { # DIRECTORY FILES
    local have
    wait
    have=$(find "$1" -name '*.o' | wc -l)
    [ "$have" = "$2" ] || { echo "$1: $have objects of $2" >&2; exit 1; }
}

build_library() {
    local file object count=0 set
    rm -rf "$WORK/library"
    mkdir -p "$WORK/library"
    for file in "$top"/lib/*.c "$top"/lib/*/*.c; do
        set=()
        case $file in
        *.inc.c) continue ;;
        */x86_64_v*)
            [ ${#variants[@]} -gt 0 ] || continue
            set=(-mprefer-vector-width=512 -march=x86-64-v4)
            [[ $file != */x86_64_v3* ]] || set=(-mprefer-vector-width=256 -march=x86-64-v3)
            ;;
        esac
        object=${file#"$top"/lib/}
        compile "$WORK/library/${object//\//-}.o" "$file" "${variants[@]}" "${set[@]}"
        count=$((count + 1))
    done
    finished "$WORK/library" $count
}

# The files of one program, for all its kinds.
build_readers() { # PROGRAM PACKAGES CFLAGS FILE...
    local file program=$1 cflags
    cflags="$(pkg-config --static --cflags $2) $3"
    shift 3
    rm -rf "${WORK:?}/$program"
    mkdir -p "$WORK/$program"
    for file in "$@"; do
        compile "$WORK/$program/${file//\//-}.o" "$top/tools/$file.c" $cflags
    done
    finished "$WORK/$program" $#
}

link() { # KIND LIBRARIES OBJECT...
    local kind=$1 libraries=$2
    shift 2
    if [ -n "${STATIC-}" ]; then # but for those of the system
        libraries=$(printf '%s\n' $libraries | grep -vxE -e '-(lm|lc|lpthread|pthread)' | xargs)
        libraries="-Wl,-Bstatic $libraries -Wl,-Bdynamic"
    fi
    $CXX ${CXXFLAGS-$CFLAGS} $openmp "$@" $LIB_FUZZING_ENGINE $libraries -lm -o "$OUT/fuzz_$kind"
}

build_api() {
    local file
    rm -rf "$WORK/api"
    mkdir -p "$WORK/api"
    for file in api api_numbers api_packing api_products api_scaled api_tensors; do
        compile "$WORK/api/$file.o" "$top/tests/fuzz/$file.c" -DFUZZ_API "${variants[@]}"
    done
    finished "$WORK/api" 6
    # api.c chooses the instruction set
    link api "" "$WORK"/api/*.o $(find "$WORK/library" -name '*.o' ! -name loops-dispatch.c.o)
}

build_reader() { # PROGRAM ENTRIES KIND LIBRARIES CFLAGS
    local entry objects=()
    for entry in $2; do
        compile "$WORK/$3-$entry.o" "$top/tests/fuzz/$entry.c" -DFUZZ_KIND="\"$3\"" $5
        objects+=("$WORK/$3-$entry.o")
    done
    wait
    link "$3" "$4" "${objects[@]}" "$WORK/$1"/*.o "$WORK"/library/*.o
}

build_library
for program in model command trainer; do
    packages="jansson libzip zlib" kinds=("${tensors[@]}") files=("${model_files[@]}") entries="reader input replay" defines=
    if [ $program = command ]; then # which ends where it would have ended the program
        kinds=(command) files=("${command_files[@]}") entries="command input replay"
        defines="-Dexit=command_exit -Datexit=command_atexit"
    fi
    if [ $program = trainer ]; then
        packages="inih jansson liblzma libzip zlib" kinds=("${trainer[@]}") files=("${trainer_files[@]}")
        entries="trainer replay"
    fi
    wanted=$(printf '%s\n' "$@" | grep -Fx "$(printf '%s\n' "${kinds[@]}")" || :)
    [ -n "$wanted" ] || continue
    build_readers $program "$packages" "$defines" "${files[@]}"
    for kind in $wanted; do
        build_reader $program "$entries" "$kind" "$(pkg-config --static --libs $packages)" \
            "$(pkg-config --static --cflags $packages)"
    done
done
[[ " $* " != *" api "* ]] || build_api
