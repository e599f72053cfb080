#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# style.sh          says what `style.sh write` would change, and what shellcheck and ruff complain of; changes nothing
# style.sh write    formats the C and CUDA sources, and mends what ruff can of the Python sources
# `make style-env` puts the tools into the build folder. Exits with 77 where one is missing.
# From the makefile: top_srcdir, top_builddir.
set -u
bin=$(cd "$top_builddir" && pwd)/style-env/bin
cd "$top_srcdir" || exit 1
for tool in clang-format ruff shellcheck; do
    [ -x "$bin/$tool" ] || { echo "skipped: no $tool; make style-env installs it from the package index"; exit 77; }
done
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "skipped: git names the files, and this is no clone"; exit 77; }

# each PATTERN... -- COMMAND...: the command on all sources of these names.
each() {
    local patterns=()
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    git ls-files -z -- "${patterns[@]}" | xargs -0 -n 100 -P "$(nproc)" "$@"
}
c=('*.c' '*.h' '*.cu' '*.cuh')
python=('*.py' '*.pyi')

case ${1-} in
write)
    each "${c[@]}" -- "$bin/clang-format" -i
    each "${python[@]}" -- "$bin/ruff" check --quiet --fix --exit-zero
    ;;
"")
    status=0
    each "${c[@]}" -- "$bin/clang-format" --dry-run -Werror || { echo "make format mends this"; status=1; }
    each "${python[@]}" -- "$bin/ruff" check --quiet || status=1
    each '*.sh' quickstart .ci/run -- "$bin/shellcheck" -S warning || status=1
    exit $status
    ;;
*)
    echo "usage: style.sh [write]" >&2
    exit 2
    ;;
esac
