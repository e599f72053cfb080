#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The two types of status do not mix: C++ refuses it, and takes the right one.
# From the makefile: CXX (may be empty), top_srcdir.
set -euo pipefail

[ -n "$CXX" ] || exit 77
compiles() {
    printf '#include <fpemu_cuda.h>\n%s\n' "$1" |
        $CXX -x c++ -std=c++11 -fsyntax-only -I "$top_srcdir/include" - 2>/dev/null
}
compiles 'fpemu_cuda_status s = fpemu_cuda_finish(0, 0);' || { echo "the right type is refused"; exit 1; }
for wrong in 'fpemu_status s = fpemu_cuda_finish(0, 0);' 'const char *s = fpemu_status_text(fpemu_cuda_finish(0, 0));' \
    'const char *s = fpemu_cuda_status_text(FPEMU_OK);'; do
    if compiles "$wrong"; then
        echo "not refused: $wrong"
        exit 1
    fi
done
