#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# budgets.sh - what the tree has of everything that costs who reads, builds or lists it, beside its limit. Exits with 1
# where a limit is passed, with 77 outside a clone. Times are told by the commands that take them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "no clone: nothing says which files are tracked"; exit 77; }

status=0
budget() { # WHAT COUNT LIMIT
    local mark=
    [ "$2" -le "$3" ] || { mark="  passed"; status=1; }
    printf '%-46s %8d %8d%s\n' "$1" "$2" "$3" "$mark"
}
# count LETTER PATTERN...: what wc -LETTER counts in these files
count() {
    local letter=$1
    shift
    git ls-files -z -- "$@" | xargs -0 cat | wc "-$letter"
}

printf '%-46s %8s %8s\n' what is limit
budget 'lines of lib and gpu' "$(count l {lib,gpu}'/*'.{c,h,cu,cuh,def})" 42000
budget 'lines of tests' "$(count l 'tests/*'.{c,h,sh,py})" 62000
budget 'lines of tools' "$(count l 'tools/*'.{c,h})" 54000
budget '  of which fptrain' "$(count l 'tools/fptrain/*'.{c,h})" 29909
budget 'lines of python' "$(count l 'python/*'.{py,pyi,c,h})" 17000
budget 'words of doc/*.md and the manuals' "$(count w ':(glob)doc/*.md' 'doc/man/*')" 60000
budget 'tracked files' "$(git ls-files | wc -l)" 1300
exit $status
