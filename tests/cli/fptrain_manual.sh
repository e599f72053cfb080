#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fptrain(1) has every command, and every key of the settings with its default, option, help, type and range.
FPEMU=$FPTRAIN
manual=$(cd "$(dirname "$0")/../.." && pwd)/doc/man/fptrain.1
. "$(dirname "$0")/common.sh"

sed 's/\\-/-/g' "$manual" >manual
"$FPTRAIN" help config >keys || failed 'help config'
"$FPTRAIN" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >commands
while read -r command; do
    grep -qxF ".SY fptrain\\ $command" manual || failed "the synopsis lacks $command"
    grep -qxF ".B $command" manual || failed "the manual lacks $command"
done <commands
holds -s commands
# A key is two lines in both, of the form: KEY = DEFAULT, then # HELP; TYPE (OPTION).
sed -n '/^\[formats\]/,$d; /^[a-z]/{N; s/\n *# /|/; p; }; s/^\(\[[a-z0-9]*\]\)$/\1/p' keys >wanted
awk '/^\.SH/ { inside = $2 == "SETTINGS" }
     inside && /^\.SS / { print $2 }
     inside && /^\.BR [a-z0-9_]* " = / {
         key = $2; line = $0; option = ""
         sub(/^\.BR [a-z0-9_]* " = /, "", line)
         value = line; sub(/".*/, "", value)
         if (match(line, /--[a-z-]+\)"$/)) { option = substr(line, RSTART, RLENGTH - 2) }
         getline help; sub(/\.$/, "", help)
         print key " = " value "|" help (option != "" ? " (" option ")" : "")
     }' manual | sed '/^\[formats\]$/d; /^\[network\]$/d' >told
diff wanted told >differences || failed "help config and the manual: $(cat differences)"
holds "$(wc -l <wanted)" -gt 40
# The layers of a network from a file, each with its arguments and their defaults.
"$FPTRAIN" models --layers | sed 's/   .*//; s/[][]//g' >layers || failed 'models --layers'
holds "$(wc -l <layers)" -ge 19
sed -n '/^\.SH NETWORKS/,/^\.SH DATA/{/^\.nf/,/^\.fi/p;}' manual | sed 's/^\.B //; s/, /\n/g' >told
while read -r layer; do
    grep -qxF "$layer" told || failed "the manual lacks the layer $layer"
done <layers
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$manual" >lint 2>&1
    grep -v 'date\|OS\|SY\|OP\|YS' lint | grep . && failed 'mandoc finds something'
fi
finish
