# SPDX-License-Identifier: BSD-2-Clause
# fuzz_common.sh - what the tests of fpemu fuzz share; sourced after `sources` is set to the directory of the tests.
. "$sources/common.sh"

# library OUTPUT SOURCE OPTION...: a shared library; fails where that cannot be compiled
library() {
    output=$1
    source=$2
    shift 2
    ${CC:-cc} -O2 -shared -fPIC "$@" -o "$output" "$sources/$source" -lm 2>compiler
}
# agrees SPEC ARGUMENT...: no difference
agrees() {
    "$FPEMU" fuzz "$@" >out 2>err
    status=$?
    if [ $status -ne 0 ] || [ "$(tail -n 1 out)" != 'no difference' ] || [ -s err ]; then
        failed "fpemu fuzz $*: status $status $(cat out err)"
    fi
}

# differs CLASSES SPEC ARGUMENT...: these classes of differences, and no others
differs() {
    classes=$1
    shift
    "$FPEMU" fuzz "$@" >out 2>err
    status=$?
    got=$(sed 1,3d out | cut -d ' ' -f 1 | tr '\n' ' ' | sed 's/ $//')
    if [ $status -ne 1 ] || [ "$got" != "$classes" ] || [ -s err ]; then
        failed "fpemu fuzz $*: status $status, got '$got', wanted '$classes' $(cat err)"
    fi
}

# example CLASS INPUT EXPECTED GOT: of the last report
example() {
    line=$(tr -s ' ' <out | sed -n "s/^$1 [0-9]* //p")
    [ "$line" = "$2 $3 $4" ] || failed "example of $1: '$line', wanted '$2 $3 $4'"
}

# crashes TEXT ARGUMENT...: status 3, one line on stderr that holds TEXT, and never "no difference" alone
crashes() {
    text=$1
    shift
    "$FPEMU" fuzz "$@" >out 2>err
    status=$?
    if [ $status -ne 3 ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -e "$text" err || grep -qx 'no difference' out; then
        failed "fpemu fuzz $*: status $status, wanted '$text', got $(cat err)"
    fi
}

# no_result WORDS: the row of the last report about inputs without a result, white space aside
no_result() {
    tr -s ' ' <out | grep -qxF "$1" || failed "no row '$1': $(cat out)"
}

quick='--inputs 20000'
