#!/usr/bin/env bash
# `make installcheck': a program outside the tree, compiled by what pkg-config says, runs against the installed library;
# another against that for CUDA devices, where it is installed, also linked statically where both are there as archives.
# From the makefile: CC, PKG_CONFIG, pkgconfigdir, libdir, and the source as the argument.
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

[ -e "$pkgconfigdir/fpemu_cuda.pc" ] || exit 0
printf '#include <fpemu_cuda.h>\nint main(void) { return fpemu_cuda_stats_size() == 0; }\n' >"$work/cuda.c"
read -ra flags < <($PKG_CONFIG --cflags --libs fpemu_cuda)
$CC -o "$work/cuda" "$work/cuda.c" "${flags[@]}" "-Wl,-rpath,$libdir"
"$work/cuda"
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
