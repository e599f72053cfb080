#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What comes with the program: fptrain(1) has every command; every file of settings in
# share/fptrain/experiments is read and trains a step, of generated data in place of its own.
FPEMU=$FPTRAIN
source=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
manual=$source/doc/man/fptrain.1
. "$(dirname "$0")/common.sh"

sed 's/\\-/-/g' "$manual" >manual
"$FPTRAIN" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >commands
while read -r command; do
    grep -qE "^\.S[SY] (fptrain\\\\ )?$command( |\$)" manual || failed "the manual lacks $command"
done <commands
holds -s commands
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$manual" >lint 2>&1
    grep -v 'date\|OS\|SY\|OP\|YS' lint | grep . && failed 'mandoc finds something'
fi

refuses 'run: --list stands alone' run --list extra
yes 'The quick brown fox jumps over the lazy dog.' | head -n 100 >text
for file in "$source"/share/fptrain/experiments/*.ini; do
    name=$(basename "$file" .ini)
    case $(sed -n 's/^source = *//p' "$file") in
    mnist:*) data=digits ;;
    text:*) data=text:text ;;
    *) data=shapes ;;
    esac
    "$FPTRAIN" run --config "$file" --data $data --quiet --epochs 1 --set data.train_count=4 --set data.test_count=2 \
        --set data.limit=256 --set data.seed=1 --set output.log_every=1 --out "$name" >out 2>err ||
        failed "$name: $(cat err)"
    [ "$(grep -c '"loss"' "$name/log.jsonl")" -ge 1 ] || failed "$name: no step"
done
finish
