#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every file of settings in share/fptrain/experiments is read and trains a step, of generated data in place of its own.
FPEMU=$FPTRAIN
experiments=$(cd "$(dirname "$0")/../../share/fptrain/experiments" && pwd) || exit 1
. "$(dirname "$0")/common.sh"

refuses 'run: --list stands alone' run --list extra
yes 'The quick brown fox jumps over the lazy dog.' | head -n 100 >text
for file in "$experiments"/*.ini; do
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
