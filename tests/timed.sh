#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# timed.sh COMMAND... TEST - runs a test as the harness would; the file beside its log that ends with .time gets the
# seconds that went by, those of the processor for the program and for the system, and the test's name.
# From the makefile: top_srcdir.
exec 3>&1 4>&2
TIMEFORMAT='%R %U %S'
LC_NUMERIC=C
used=$({ time "$@" >&3 2>&4 3>&- 4>&-; } 2>&1)
status=$?
test=${*: -1}
test=${test#"$top_srcdir"/}
test=${test#./}
echo "${used##*$'\n'} $test" >"${test%.sh}.time"
exit $status
