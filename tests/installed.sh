#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# `make installcheck': a program outside the tree, compiled by what pkg-config says, runs against the installed library,
# and so does one that CMake built, where there is CMake; another against the library for CUDA devices, where it is
# installed, also linked statically where both are there as archives.
# From the makefile: CC, PKG_CONFIG, pkgconfigdir, cmakedir, libdir, version, and the source as the argument.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PKG_CONFIG_PATH=$pkgconfigdir

read -ra flags < <($PKG_CONFIG --cflags --libs fpemu)
$CC -o "$work/program" "$1" "${flags[@]}" "-Wl,-rpath,$libdir"
[ -n "$("$work/program")" ]
# every header is there by itself too
for header in status format rounding stats quantize tensor arith gemm; do
    printf '#include <fpemu/%s.h>\nint main(void) { return 0; }\n' $header >"$work/header.c"
    $CC -o "$work/header" "$work/header.c" "${flags[@]}"
done

# cmake_builds VERSION COMPONENTS...: whether a project that asks for these is configured; then builds and runs it
cmake_builds() {
    rm -rf "$work/cmake"
    mkdir "$work/cmake"
    cat >"$work/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(outside C)
find_package(fpemu $1 REQUIRED ${2+COMPONENTS ${*:2}})
add_executable(outside outside.c)
target_link_libraries(outside PRIVATE fpemu::fpemu)
END
    cp "$source" "$work/cmake/outside.c"
    CC=$CC cmake -S "$work/cmake" -B "$work/cmake/build" -Dfpemu_DIR="$cmakedir" >"$work/cmake/log" 2>&1 || return
    cmake --build "$work/cmake/build" >>"$work/cmake/log" 2>&1 || { cat "$work/cmake/log"; exit 1; }
    [ "$("$work/cmake/build/outside")" = "$("$work/program")" ]
}
source=$1
if command -v cmake >/dev/null; then
    cmake_builds "$version" || { cat "$work/cmake/log"; exit 1; }
    cmake_builds "${version%.*}" fpemu || { cat "$work/cmake/log"; exit 1; }
    for unfit in 99.0 "0.0" "$version nothing"; do
        read -ra words <<<"$unfit"
        ! cmake_builds "${words[@]}" || { echo "CMake took fpemu $version for $unfit"; exit 1; }
    done
    # moved, and with its files for CMake where vcpkg has them
    mkdir -p "$work/moved/lib" "$work/moved/share" "$work/moved/include"
    cp "$libdir"/libfpemu.* "$work/moved/lib"
    cp -R "$cmakedir" "$work/moved/share/fpemu"
    read -ra flags < <($PKG_CONFIG --cflags fpemu)
    includedir=${flags[0]:+${flags[0]#-I}}
    cp -R "${includedir:-/usr/include}"/fpemu* "$work/moved/include"
    cmakedir=$work/moved/share/fpemu
    cmake_builds "$version" || { cat "$work/cmake/log"; exit 1; }
    grep -q "fpemu_DIR:.*=$cmakedir\$" "$work/cmake/build/CMakeCache.txt"
fi

[ -e "$pkgconfigdir/fpemu_cuda.pc" ] || exit 0
printf '#include <fpemu_cuda.h>\nint main(void) { return fpemu_cuda_stats_size() == 0; }\n' >"$work/cuda.c"
read -ra flags < <($PKG_CONFIG --cflags --libs fpemu_cuda)
$CC -o "$work/cuda" "$work/cuda.c" "${flags[@]}" "-Wl,-rpath,$libdir"
LD_LIBRARY_PATH=$libdir "$work/cuda" # staged, it does not find libfpemu by its own path
read -ra flags < <($PKG_CONFIG --static --cflags --libs fpemu_cuda)
case " ${flags[*]} " in
*libcudart_static*) ;;
*) echo "fpemu_cuda.pc names no CUDA runtime for static linking: ${flags[*]}" && exit 1 ;;
esac
if [ -e "$libdir/libfpemu_cuda.a" ] && [ -e "$libdir/libfpemu.a" ]; then
    mkdir "$work/archives"
    cp "$libdir/libfpemu_cuda.a" "$libdir/libfpemu.a" "$work/archives"
    $CC -o "$work/cuda" "$work/cuda.c" "-L$work/archives" "${flags[@]}"
    "$work/cuda"
fi
