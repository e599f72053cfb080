#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The shells complete what the programs have: every option in a table of the source is offered, and nothing else is.
# From the makefile: FPEMU, top_srcdir, top_builddir.
set -euo pipefail
fail() { echo "$*"; exit 1; }

PATH=$(dirname "$FPEMU"):$(cd "$top_builddir" && pwd)/tools/fptrain:$PATH
# shellcheck source=/dev/null
. "$top_srcdir/share/completion/bash/fpemu"

# completed WORD...: what the last word may become
completed() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _fpemu_complete
    printf '%s\n' "${COMPREPLY[@]}"
}
offers() { # EXPECTED WORD...
    completed "${@:2}" | grep -xF -- "$1" >/dev/null || fail "'${*:2}' is not completed to $1"
}

offers quantize fpemu qu
offers --version fpemu --v
offers e4m3fn fpemu round e4m3
offers nvfp4 fpemu quantize nv
offers rtz fpemu round bf16 -r rt
[ "$(completed fpemu bench --gen)" = --generator ] || fail "bench --gen: $(completed fpemu bench --gen)"
[ -z "$(completed fpemu round --nothing)" ] || fail "an option that there is not"
for command in $(_fpemu_commands fpemu); do
    source=$top_srcdir/tools/fpemu/commands/$command.c
    [ -e "$source" ] || continue
    # whose headers the compiler has to have
    case $command in validate) grep -q '^#define HAVE_MPFR 1' "$top_builddir/config.h" || continue ;; esac
    # the table with its macros, as the compiler sees it
    $CC -E -P -DHAVE_CONFIG_H -I"$top_builddir" -I"$top_srcdir/include" -I"$top_srcdir/tools" -I"$top_srcdir/tools/fpemu" \
        "$source" 2>/dev/null | tr -d '\n' | grep -oE 'struct option options\[\] = \{[^;]*;' |
        grep -oE '\{ *"[a-z0-9-]+",' | tr -d '{", ' | grep -vx help | sort -u >completion.table
    [ -s completion.table ] || fail "$command: no table of options found in $source"
    _fpemu_options fpemu "$command" | sed -n 's/^--//p' | grep -vx help | sort -u >completion.offered
    diff completion.table completion.offered >completion.difference ||
        { echo "$command: options of the table (<) and those offered (>)"; cat completion.difference; exit 1; }
done
rm -f completion.table completion.offered completion.difference
if command -v fptrain >/dev/null && [ -x "$(command -v fptrain)" ]; then
    offers tradeoff fptrain tr
    offers --resume fptrain run --re
    offers lenet fptrain run --model le
    offers mnist-lenet fptrain run --config mni
fi

command -v zsh >/dev/null || { echo "zsh is not here to be tried"; exit 0; }
zsh -n "$top_srcdir/share/completion/zsh/_fpemu"
