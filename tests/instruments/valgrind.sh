#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# valgrind.sh - the tests of the command, and the short tests of the library, under valgrind's memcheck: numbers that
# were never set, bytes beside an array, memory that nobody has any more.
#
#   valgrind.sh DIRECTORY [TEST...]     those of the build in the working directory, unless tests are named
#
# Tests that left_out.txt names do not run. valgrind knows no AVX-512 and tells the library so, which then runs its loops
# for x86-64-v3. DIRECTORY has the reports. JOBS=N tests side by side. Exits with 1 for a finding, 77 without valgrind.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
[ $# -ge 1 ] || { sed -n '3,11s/^# \{0,1\}//p' "$0"; exit 2; }
has valgrind || { echo "valgrind.sh: no valgrind"; exit 77; }
start "$1" valgrind
shift
reports=$directory/reports
fresh_reports
build=$PWD

options="-q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite"
options+=" --num-callers=20 --suppressions=$here/valgrind.supp --log-file=$reports/%p"

# The command as the tests call it, without libtool, which looks into every argument that names a file and waits without
# end for what is in /dev/stdout.
program=$build/tools/fpemu/.libs/fpemu
[ -x "$program" ] || program=$build/tools/fpemu/fpemu
cat >"$directory/fpemu" <<EOF
#!/bin/sh
LD_LIBRARY_PATH="$build/lib/.libs\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
export LD_LIBRARY_PATH
exec valgrind $options "$program" "\$@"
EOF
chmod +x "$directory/fpemu"

names=$*
[ -n "$names" ] ||
    names=$(tests_of | grep -E '^tests/(cli|unit)/|^tests/fuzz/replay$' | grep -v '/fptrain_' |
        without "$here/left_out.txt" valgrind)
# A test that fails here for its numbers says nothing: valgrind adds, multiplies and divides to nearest whatever
# direction is set, as its manual says. The reports count.
before=$status
run_tests "valgrind, numbers of no weight" "$names" \
    LOG_COMPILER="$build/libtool --silent --mode=execute valgrind $options" \
    TESTS_ENVIRONMENT="FPEMU='$directory/fpemu' CK_FORK=no; export FPEMU CK_FORK;"
status=$before
mv check.out "$directory"
cd "$directory"
verdict valgrind '^==[0-9]+== '
exit $status
