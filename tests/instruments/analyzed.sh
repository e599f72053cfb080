#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# analyzed.sh - programs that look for defects read the source: of the library, of the programs, of the GPU's host code
# and of Python's binding.
#
#   analyzed.sh DIRECTORY [TOOL...]     gcc, clang-tidy and cppcheck, those of them that exist, unless tools are named
#
# Runs in a build folder, whose config.h it reads. DIRECTORY keeps a tool's report of each file, and a file is read again
# when it, what it includes, or the settings have changed. .clang-tidy says which checks run and why others do not,
# cppcheck.cfg and cppcheck.supp the same for cppcheck; what a tool takes wrongly for a defect is silenced where it
# stands, with the reason. JOBS=N files at a time. Each tool must find what is planted in planted.c first. Exits with 1
# for a report, 77 without any of the tools.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
[ $# -ge 1 ] || { sed -n '3,14s/^# \{0,1\}//p' "$0"; exit 2; }
start "$1" analyzed
shift
build=$PWD
[ -e config.h ] || { echo "analyzed.sh: no config.h here" >&2; exit 1; }
tools=("$@")
if [ $# -eq 0 ]; then
    for tool in gcc clang-tidy cppcheck; do
        ! has "$tool" || tools+=("$tool")
    done
fi
[ ${#tools[@]} -gt 0 ] || { echo "analyzed.sh: none of gcc, clang-tidy, cppcheck"; exit 77; }

cd "$top"
includes="-I$build -Iinclude -Ilib -Igpu -Itools"
# shellcheck disable=SC2016
includes+=" $(cd "$build" && variable '$(JANSSON_CFLAGS) $(ZIP_CFLAGS) $(FPTRAIN_CFLAGS) $(CBLAS_CFLAGS) $(MPFR_CFLAGS)')"
system=$(cd "$build" && variable '$(SYSTEM_CPPFLAGS)')
python=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null || true)
files=()
while IFS= read -r file; do
    case $file in
    python/*) [ -e "$python/Python.h" ] || continue ;;
    */x86_64_v*) [ "$(uname -m)" = x86_64 ] || continue ;;
    esac
    files+=("$file")
done < <(find lib tools gpu python/native -name '*.c' ! -name '*.inc.c' | LC_ALL=C sort)

# What gcc 12 tells of memory that a struct in an array holds, and of arrays that a call has filled, is mostly wrong; the
# leak sanitizer, memcheck and the other two look for the same.
gcc_silent="-Wno-analyzer-malloc-leak -Wno-analyzer-use-of-uninitialized-value"

# How a file is compiled.
flags_of() {
    local flags="-std=c11 -ffp-contract=off -Wno-unknown-pragmas -DHAVE_CONFIG_H -DFPEMU_ANALYZED $includes"
    case $1 in
    gpu/simulate.c) flags+=" -DFPEMU_FEW_INLINED=1" ;;
    tools/fpemu/*) flags+=" $system -Itools/fpemu" ;;
    tools/fptrain/*) flags+=" $system -Itools/fptrain" ;;
    tools/common/*) flags+=" $system" ;;
    python/*) flags+=" -isystem $python" ;;
    */x86_64_v3*) flags+=" -march=x86-64-v3 -mprefer-vector-width=256" ;;
    */x86_64_v4*) flags+=" -march=x86-64-v4 -mprefer-vector-width=512" ;;
    esac
    echo "$flags"
}

# examine TOOL FILE: its report is the rest of the file that is named on standard output, after a line with the key.
examine() {
    local tool=$1 file=$2 flags report key
    flags=$(flags_of "$file")
    report=$directory/$tool/${file//\//-}.txt
    # shellcheck disable=SC2046,SC2086
    key=$({ echo "$version$flags$gcc_silent"; [ "$tool" != clang-tidy ] || cat .clang-tidy "${file%/*}/.clang-tidy"
        cat $(gcc $flags -MM "$file" | sed 's/^[^:]*://; s/\\$//'); } 2>&1 | cksum)
    [ "$(head -n 1 "$report" 2>/dev/null)" != "$key" ] || return 0
    # shellcheck disable=SC2086
    case $tool in
    gcc) gcc $flags -O1 -fanalyzer $gcc_silent -c "$file" -o /dev/null || echo "$file: gcc failed" ;;
    clang-tidy) clang-tidy --quiet "$file" -- $flags -Wno-everything || echo "$file: clang-tidy failed" ;;
    esac >"$report.new" 2>&1
    sed -i '/^[0-9]* warnings\{0,1\}.* generated\.$/d; /^Suppressed /d; /^Use -header-filter/d' "$report.new"
    { echo "$key"; cat "$report.new"; } >"$report"
    rm "$report.new"
}

# All of it at once, for cppcheck keeps its own records; no loops for instruction sets, which are those of portable.c.
cppcheck_all() { # FOLDER [OPTION...] FILE...
    local kept=$directory/cppcheck/$1
    mkdir -p "$kept"
    shift
    # shellcheck disable=SC2086
    cppcheck -j "$jobs" --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --cppcheck-build-dir="$kept" --library=gnu,python,"$here/cppcheck.cfg" \
        --suppressions-list="$here/cppcheck.supp" --template='{file}:{line}: {severity}: {message} [{id}]' \
        -DHAVE_CONFIG_H -DFPEMU_ANALYZED "$@" ${includes//-I\/usr*([^ ])/}
}

# The lines of a tool's reports.
examine_all() {
    local tool=$1
    shift
    mkdir -p "$directory/$tool"
    declare -p top here directory includes python version gcc_silent >"$directory/functions"
    declare -f flags_of examine >>"$directory/functions"
    case $tool in
    cppcheck)
        local file fpemu=() fptrain=() others=()
        for file in "$@"; do
            case $file in
            */x86_64_v[34].c) ;;
            tools/fpemu/*) fpemu+=("$file") ;;
            tools/fptrain/*) fptrain+=("$file") ;;
            *) others+=("$file") ;;
            esac
        done
        cppcheck_all others "${others[@]}" 2>&1 || true
        [ ${#fpemu[@]} -eq 0 ] || cppcheck_all fpemu -Itools/fpemu "${fpemu[@]}" 2>&1 || true
        [ ${#fptrain[@]} -eq 0 ] || cppcheck_all fptrain -Itools/fptrain "${fptrain[@]}" 2>&1 || true
        ;;
    gcc | clang-tidy)
        printf '%s\0' "$@" | xargs -0 -n 1 -P "$jobs" "$BASH" -c '. "$0"; examine "$1" "$2"' "$directory/functions" "$tool"
        local file
        for file in "$@"; do
            sed 1d "$directory/$tool/${file//\//-}.txt"
        done
        ;;
    *)
        echo "analyzed.sh: no way to run $tool is known" >&2
        exit 2
        ;;
    esac
}
shopt -s extglob

for tool in "${tools[@]}"; do
    version=$("$tool" --version)
    if [ -z "$(examine_all "$tool" tests/instruments/planted.c)" ]; then
        echo "analyzed.sh: $tool does not see what is planted in tests/instruments/planted.c" >&2
        status=1
    fi
    examine_all "$tool" "${files[@]}" >"$directory/$tool.txt"
    found=$(grep -cE ': (warning|error|portability|performance|style): |failed$' "$directory/$tool.txt" || true)
    echo "$tool: ${#files[@]} files, $found reports"
    [ "$found" -eq 0 ] || { head -n 40 "$directory/$tool.txt" >&2; status=1; }
done
exit $status
