#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fptrain takes no more of a file than that says of itself: packed zeros and files without an end are refused in the
# memory that a good one of that kind takes.
FPEMU=$FPTRAIN
. "$(dirname "$0")/common.sh"
OMP_NUM_THREADS=1
OPENBLAS_NUM_THREADS=1
export OMP_NUM_THREADS OPENBLAS_NUM_THREADS

# refused TEXT ARGUMENT...: in a line that holds TEXT, within the limit
refused() {
    wanted=$1
    shift
    within "$@" >out 2>err
    status=$?
    if [ $status -ne 2 ] || [ -s out ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -e "$wanted" err; then
        failed "$* in $limit kB: status $status, wanted '$wanted', got: $(cat out err)"
    fi
}
zeros() { # MB
    head -c $(($1 * 1000000)) /dev/zero
}

short='--model mlp --set model.width=0.05 --set data.train_count=8 --set data.test_count=8 --batch 8 --epochs 1 --quiet'
"$FPTRAIN" run $short --out run || failed 'a training'
"$FPTRAIN" export run -o weights.safetensors || failed 'export'
if ! bounded export weights.safetensors -o out.safetensors; then
    echo 'no limits of memory here'
    finish
fi
zeros 300 | gzip -1 >bomb.safetensors
ln -s /dev/zero endless.safetensors
{ cat weights.safetensors && zeros 300; } | gzip -1 >longer.safetensors
{ cat run/checkpoint.safetensors && zeros 300; } | gzip -1 >more.safetensors
header='{"a":{"dtype":"U8","shape":[576460752303423488],"data_offsets":[0,576460752303423488]}}'
safetensors "$header" ... >promise.safetensors
sed '1s/ of [0-9]* bytes/ of 04611686018427387904 bytes/' run/checkpoint.safetensors >large.safetensors
while read -r file text; do
    refused "$file.safetensors: $text" eval $file.safetensors
    refused "$file.safetensors: $text" export $file.safetensors -o out.safetensors
    refused "$file.safetensors: $text" run $short --init-from $file.safetensors
done <<'END'
bomb the header is no JSON
endless the header is no JSON
longer has bytes after its data
more too long: it should have
promise tensor 'a': the data_offsets 0 and 576460752303423488 do not lie in order in the 3 bytes
large truncated: it should have 4611686018427387904 bytes
END

limit=$((limit + 131072))
# The network of a checkpoint gets no memory before its tensors are known to be those of the file. forge TEXT: such a
# file, whole by its checksum, with the network of TEXT in the place of its own.
layers='linear 8                                         '
printf '%s\nlinear classes\n' "$layers" >own.net
own=${short#--model mlp --set model.width=0.05}
"$FPTRAIN" run $own --model own.net --out own || failed 'a training of an own network'
forge() {
    text=$(printf "%-${#layers}s" "$1")
    sed "1s/$layers/$text/; 1s/crc32 ......../crc32 00000000/" own/checkpoint.safetensors >zero.safetensors
    crc=$(gzip -c zero.safetensors | tail -c 8 | od -An -tx1 -N4 | awk '{ print $4 $3 $2 $1 }')
    sed "1s/crc32 00000000/crc32 $crc/" zero.safetensors >forged.safetensors
}
forge 'linear 8 bias=yes'
within eval forged.safetensors >out 2>err || failed "a network of the same layers: $(cat err)"
forge 'linear 20000, linear 20000, relu'
refused "tensor 'linear1.weight' is 8x784, but linear1.weight of the network is 20000x784" eval forged.safetensors

# A line of a log has 64 MiB at most.
mkdir log
cp run/settings.ini log
ln -s /dev/zero log/log.jsonl
for output in '--tables page.md' '--csv log.csv'; do
    refused 'log/log.jsonl: a line of more than 67108864 bytes' report log $output
done
# So has a summary; and no log takes what its lists would make together.
rm log/log.jsonl
cp run/log.jsonl log
head -c 67108865 /dev/zero | tr '\0' ' ' >log/summary.json
refused 'log/summary.json: larger than 67108864 bytes' report log --tables page.md
rm log/summary.json
awk 'BEGIN {
    printf "{\"log\":2,\"counters\":["
    for (i = 0; i < 20000; i++) printf "%s\"%d\"", i ? "," : "", i
    printf "],\"names\":{\"v\":["
    for (i = 0; i < 400; i++) printf "%s\"%d\"", i ? "," : "", i
    printf "]}}\n{\"step\":1,\"tensors\":["
    for (i = 0; i < 400; i++) printf "%s[]", i ? "," : ""
    print "]}" }' >log/log.jsonl
refused 'log/log.jsonl: more than 32 counters' report log --tables page.md
cp -R run resumed
rm resumed/log.jsonl
ln -s /dev/zero resumed/log.jsonl
refused 'resumed/log.jsonl: a line of more than 67108864 bytes' run $short --out resumed --resume --epochs 2
finish
