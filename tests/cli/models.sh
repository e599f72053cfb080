#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Models of several files: a directory with an index, one without, one with one file. Python's safetensors judge where
# there are any; hostile indices; nothing of a model is lost or left half-written.
tests=$(cd "$(dirname "$0")" && pwd)
. "$tests/common.sh"
models=$tests/models.py
OMP_NUM_THREADS=1
OPENBLAS_NUM_THREADS=1
TMPDIR=$directory
export OMP_NUM_THREADS OPENBLAS_NUM_THREADS TMPDIR

# shard NAME BYTES TENSOR...: a safetensors file with tensors of F32, BYTES of zeros each
shard() {
    file=$1 bytes=$2 header= place=0
    shift 2
    for name; do
        header="$header,\"$name\":{\"dtype\":\"F32\",\"shape\":[$((bytes / 4 / 64)),64],"
        header="$header\"data_offsets\":[$place,$((place + bytes))]}"
        place=$((place + bytes))
    done
    header="{${header#,}}"
    while [ $((${#header} % 8)) -ne 0 ]; do header="$header "; done
    safetensors "$header" >"$file"
    truncate -s $((8 + ${#header} + place)) "$file"
}
# index NAME=FILE...: an index on standard output
index() {
    map=
    for entry; do
        map="$map,\"${entry%%=*}\":\"${entry#*=}\""
    done
    echo "{\"metadata\":{\"total_size\":0},\"weight_map\":{${map#,}}}"
}
# nothing: no directory `new`, no temporary one
nothing() {
    holds ! -e new
    no_leftovers
}

# Without other programs: two shards, an index in another order
mkdir small
shard small/a.safetensors 256 x y
shard small/b.safetensors 512 z
index z=b.safetensors x=a.safetensors y=a.safetensors >small/model.safetensors.index.json
echo '{}' >small/config.json
"$FPEMU" compare small e4m3fn --tensors '[xz]' >table || failed compare
holds "$(tr -s ' ' <table | sed -n 's/^z //p')" = 'F32 2x64 -'
gives '' quantize mxfp4 small -o new
holds "$(ls new | tr '\n' ' ')" = 'a.safetensors b.safetensors model.safetensors.index.json '
same new/a.safetensors small/a.safetensors
same new/b.safetensors small/b.safetensors
grep -q '"total_size": 1024$' new/model.safetensors.index.json || failed 'total_size'
rm -r new
gives '' quantize mxfp4 small -o new --dtype BF16
grep -q '"total_size": 512$' new/model.safetensors.index.json || failed 'total_size of another type'
rm -r new
gives '' quantize mxfp4 small/model.safetensors.index.json -o new/
gives '' pack mxfp4 small -o out.fpk
gives '' unpack out.fpk -o out.safetensors

# Packed to as many files with an index, and back to what quantize gives; one file where it is named so
rm -r new
gives '' quantize nvfp4 small -o wanted
gives '' pack nvfp4 small -o packed
holds "$(ls packed | tr '\n' ' ')" = 'a.fpk b.fpk model.fpk.index.json '
gives '' unpack packed -o back
diff -r back wanted || failed 'pack and unpack of a directory'
rm -r back
gives '' unpack packed/model.fpk.index.json -o back
diff -r back wanted || failed 'unpack of an index'
"$FPEMU" info packed >table || failed 'info of packed files'
holds "$(tr -s ' ' <table | sed -n 's/^z //p')" = 'F32 2x64 80 b.fpk, nvfp4'
holds "$(tail -n 1 table)" = 'all      3 tensors, 256 elements, 168 bytes, in 2 files with an index'
grep -q '"total_size": 168$' packed/model.fpk.index.json || failed 'total_size of packed files'
"$FPEMU" unpack packed --list >table || failed 'unpack --list'
holds "$(tr -s ' ' <table | sed -n 's/^z //p')" = 'F32 2x64 80 nvfp4, axis 1'
fails 1 "'fpemu unpack' makes it a readable one" compare packed mxfp4
fails 1 'not empty' unpack packed -o back
fails 1 'not empty' pack mxfp4 small -o packed
gives '' unpack packed -o back --force
gives '' pack mxfp4 small -o packed --force
fails 1 "safetensors' in it" pack mxfp4 small -o small --force
fails 2 'is a directory of files' unpack packed -o no.safetensors
fails 2 'is a directory of files' unpack packed -o -
cp small/a.safetensors packed
sed 's/a\.fpk/a.safetensors/g' packed/model.fpk.index.json >packed/mixed.index.json
fails 1 'files of two kinds' unpack packed/mixed.index.json -o new
rm packed/a.safetensors packed/mixed.index.json
truncate -s -1 packed/b.fpk
fails 1 "file 'b.fpk'" unpack packed -o new
rm packed/b.fpk
fails 1 "file 'b.fpk': No such file" unpack packed -o new
rm packed/model.fpk.index.json
gives '' unpack packed -o new
holds "$(ls new)" = a.safetensors
rm -r new
mkdir clash
cp small/a.safetensors clash/b.safetensors
cp small/b.safetensors clash/b
index x=b.safetensors y=b.safetensors z=b >clash/model.safetensors.index.json
fails 1 "would be called 'b.fpk'" pack mxfp4 clash -o new
rm -r back wanted packed clash
nothing
gives '' quantize mxfp4 small -o new
"$FPEMU" info small >table || failed info
holds "$(tr -s ' ' <table | sed -n 's/^y //p')" = 'F32 1x64 256 a.safetensors'
holds "$(tail -n 1 table)" = 'all      3 tensors, 256 elements, 1024 bytes, in 2 files with an index'
"$FPEMU" info small --json >json || failed 'info --json'
python_checks json 'assert j["files"] == ["a.safetensors", "b.safetensors"] and j["bytes"] == 1024
assert [t["file"] for t in j["tensors"]] == ["a.safetensors", "a.safetensors", "b.safetensors"]'
fails 2 'is a file' info small/a.safetensors --values

# A directory that is there is left alone; asked for, the model is written into it beside what else it holds
echo mine >new/notes
cp -r new before
fails 1 'not empty' quantize e4m3fn small -o new
fails 1 'not empty' quantize e4m3fn small -o new/
diff -r new before || failed 'a refused output'
gives '' quantize e4m3fn small -o new --force
holds "$(cat new/notes)" = mine
shard new/old.safetensors 256 old
fails 1 "'old.safetensors' in it" quantize e4m3fn small -o new --force
rm -r new before
mkdir new
gives '' quantize e4m3fn small -o new
rm -r new
: >new
fails 1 'is a file' quantize e4m3fn small -o new
rm new
fails 1 'beside it' quantize e4m3fn small -o nowhere/new
fails 2 'is a directory of files' quantize e4m3fn small -o out.safetensors
fails 2 'is a directory of files' quantize e4m3fn small -o -
cp -r small same
gives '' quantize e4m3fn same -o same --force
holds "$(cat same/config.json)" = '{}'
nothing

# No output takes the place of a file of the model that is read, nor of one of the model that is written
mkdir kept
shard kept/a.safetensors 256 m.x m.y
shard kept/b.safetensors 512 m.z
index m.z=b.safetensors m.x=a.safetensors m.y=a.safetensors >kept/model.safetensors.index.json
cp -r kept before
is_part="'kept/a.safetensors' is a file of the input"
is_index="'kept/model.safetensors.index.json' is the index of the input"
layout='mxfp4 kept -o new --layout compressed-tensors'
for input_name in kept kept/model.safetensors.index.json; do
    fails 2 "--plot: $is_part" compare $input_name bf16 --plot kept/a.safetensors
    fails 2 "--write-plan: $is_part" compare $input_name bf16 mxfp4 --min-sqnr 3 --write-plan kept/a.safetensors
done
fails 2 "--write-plan: $is_index" compare kept bf16 mxfp4 --min-sqnr 3 --write-plan kept/model.safetensors.index.json
fails 2 "--config: $is_part" pack $layout --config kept/a.safetensors
fails 2 "--config: $is_index" pack $layout --config kept/model.safetensors.index.json
fails 2 "-o: $is_part" pack mxfp4 kept -o kept/a.safetensors --layout compressed-tensors
for name in b.safetensors model.safetensors.index.json; do
    fails 2 "--config: './new/$name' is a file of -o" pack $layout --config ./new/$name
done
"$FPEMU" compare kept bf16 mxfp4 --min-sqnr 3 --write-plan plan.json >table || failed 'compare --write-plan'
mkdir plans
cp plan.json plans/b.safetensors
cp plan.json plans/b.fpk
fails 2 "--plan: 'plans/b.safetensors' is a file of -o" quantize kept --plan plans/b.safetensors -o plans --force
fails 2 "--plan: 'plans/b.fpk' is a file of -o" pack kept --plan plans/b.fpk -o plans --force
mkdir tables
for name in b.safetensors model.safetensors.index.json; do
    printf '0 1 2 3\n' >tables/$name
    fails 2 "-o: 'tables/$name' is a table" quantize "table(file=tables/$name)" kept -o tables --force
    [ "$(cat tables/$name)" = '0 1 2 3' ] || failed "a table: $name"
    rm tables/$name
done
same plan.json plans/b.safetensors
same plan.json plans/b.fpk
diff -r kept before || failed 'a model that was read'
gives '' pack $layout --config new/config.json
holds -s new/config.json
rm -r new kept before plans
nothing

# Indices that do not agree with the files
mkdir bad
cp small/*.safetensors bad
refused() { # TEXT
    for command in 'compare bad e4m3fn' 'quantize e4m3fn bad -o new' 'pack e4m3fn bad -o new' 'info bad'; do
        fails 1 "$1" $command
        nothing
    done
}
# NAME=FILE..., or the text of an index => what is said
while read -r line; do
    case $line in
        "["* | "{"*) echo "${line% => *}" ;;
        *) index ${line% => *} ;;
    esac >bad/model.safetensors.index.json
    refused "${line#* => }"
done <<'ROWS'
x=a.safetensors y=a.safetensors z=c.safetensors => file 'c.safetensors': No such file
x=a.safetensors y=b.safetensors z=b.safetensors => 'y' lies in 'a.safetensors', the index says 'b.safetensors'
x=a.safetensors z=b.safetensors => 'y' lies in 'a.safetensors', and the index does not name it
x=a.safetensors y=a.safetensors z=b.safetensors w=b.safetensors => 'w' is not in 'b.safetensors'
x=../small/a.safetensors y=a.safetensors => no name of a file beside it
x=/etc/passwd => no name of a file beside it
x=.. => no name of a file beside it
x= => no name of a file beside it
x=a.safetensors\u0000 y=a.safetensors z=b.safetensors => no JSON
x=a.safetensors x=b.safetensors => no JSON: duplicate
{"weight_map":{"x":1}} => no name of a file
{"weight_map":{}} => no weight_map
{"metadata":1,"weight_map":{"x":"a.safetensors"}} => no weight_map
[] => no weight_map
{"weight_map": => no JSON
ROWS
rm bad/model.safetensors.index.json
mkfifo bad/c.safetensors
index z=c.safetensors >bad/model.safetensors.index.json
refused 'no regular file'
rm bad/c.safetensors bad/model.safetensors.index.json
shard bad/c.safetensors 256 z
fails 1 "tensor 'z' lies in two of the files" compare bad e4m3fn
head -c 60 small/b.safetensors >bad/c.safetensors
fails 1 "file 'c.safetensors'" compare bad e4m3fn
rm bad/*.safetensors
fails 1 'there is nothing' compare bad e4m3fn
: >bad/pytorch_model.bin
fails 1 'there is pytorch_model.bin' compare bad e4m3fn
index x=a.safetensors >bad/one.safetensors.index.json
index x=a.safetensors >bad/two.safetensors.index.json
fails 1 'several indices' compare bad e4m3fn
nothing

# A failure and a signal in the middle
mkdir long
shard long/a.safetensors 33554432 p q
shard long/b.safetensors 33554432 r
shard long/c.safetensors 33554432 s
index p=a.safetensors q=a.safetensors r=b.safetensors s=c.safetensors >long/model.safetensors.index.json
(ulimit -f 50000 && "$FPEMU" quantize mxfp4 long -o new) 2>err
holds $? -eq 1
grep -q '^fpemu: new/[abc].safetensors: File too large$' err || failed "message of a file too large: $(cat err)"
nothing
for attempt in 1 2 3 4 5; do # on a busy machine it may end before the signal comes
    "$FPEMU" quantize mxfp4 long -o new -r sr 2>err &
    process=$!
    for tries in $(seq 300); do
        set -- .fpemu-*/a.safetensors
        [ -e "$1" ] && break
        sleep 0.01
    done
    kill -TERM $process 2>/dev/null
    wait $process 2>/dev/null
    ended=$?
    [ $ended -eq 0 ] || break
    rm -r new
done
holds $ended -eq 143
nothing

# Memory: a model of 128 MB, as an address space that has some 20 MB to spare takes it
if bounded info small; then
    within compare long mxfp4 e4m3fn >/dev/null || failed 'compare in bounded memory'
    within quantize mxfp4 long -o new --dtype BF16 || failed 'quantize in bounded memory'
    within pack mxfp4 long -o out.fpk || failed 'pack in bounded memory'
    within pack mxfp4 long -o packed || failed 'pack to a directory in bounded memory'
fi
rm -rf long new packed

# Through a link to a directory: the link stays. What a dead writer has left goes away.
mkdir -p elsewhere/empty elsewhere/.fpemu-empty-Ab1xyZ
: >elsewhere/.fpemu-empty-Ab1xyZ/a.safetensors
ln -s elsewhere/empty models
"$FPEMU" quantize mxfp4 small -o models || failed 'to a link to an empty directory'
holds -L models
holds -s elsewhere/empty/a.safetensors
"$FPEMU" quantize mxfp4 small -o models --force || failed 'to a link to a directory'
holds -L models
holds ! -e elsewhere/.fpemu-empty-Ab1xyZ
rm -r elsewhere models

# Progress: on a terminal with the time that is left, elsewhere not at all
shard large.safetensors 536870912 a
"$FPEMU" compare large.safetensors e4m3fn e5m2 2>err >/dev/null || failed compare
holds ! -s err
terminals=yes
python3 -c 'import pty; pty.openpty()' 2>/dev/null || terminals=
[ -n "$terminals" ] || echo 'not tried on a terminal: no Python 3, or no pseudo-terminals here'
if [ -n "$terminals" ]; then
    python3 -c 'import os, pty, sys
seen = b""
def read(fd):
    global seen
    data = os.read(fd, 1024)
    seen += data
    return data
sys.stdout = open(os.devnull, "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
status = pty.spawn(sys.argv[1:], read)
assert status == 0 and b" s left" in seen and b"\r\x1b[K" in seen, seen[:300]' \
        "$FPEMU" compare large.safetensors e4m3fn e5m2 nvfp4 mxfp4 </dev/null 2>err || failed "progress: $(tail -n 1 err)"
fi
rm large.safetensors
shard some.safetensors 8388608 a b
if [ -n "$terminals" ]; then
    for command in "quantize mxfp4 some.safetensors -o -" "pack mxfp4 some.safetensors -o -"; do
        python3 -c 'import os, pty, subprocess, sys, time
ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=theirs)
os.read(child.stdout.fileno(), 65536)
for wait in range(8):  # slow enough for a bar; the rest at once
    time.sleep(0.15)
    os.read(child.stdout.fileno(), 65536)
child.stdout.read()
os.close(theirs)
assert child.wait() == 0
seen = os.read(ours, 65536)
assert b" s left" in seen and int(seen.split(b"] ")[1].split(b"%")[0]) < 9, seen' "$FPEMU" $command --tensors b 2>err || failed "what is copied in progress: $(tail -n 1 err)"
    done
fi
rm some.safetensors

# Python's safetensors write, read and judge
if python3 -c 'import numpy, safetensors.numpy' 2>/dev/null; then
    python3 "$models" write m || failed 'no models'
    gives '' quantize fp16 m -o out-m --min-dims 2
    python3 "$models" read m out-m || failed 'a model with an index'
    gives '' quantize fp16 m/plain -o out-plain --min-dims 2
    python3 "$models" read m/plain out-plain || failed 'a model without an index'
    gives '' quantize fp16 m/one -o out-one --min-dims 2
    python3 "$models" read m/one out-one || failed 'a model of one file'
    # one file has the same tensors, in another order: all but stochastic results are the same
    gives '' quantize mxfp4 m -o out-mx
    gives '' quantize mxfp4 m/one/model.safetensors -o one.safetensors
    python3 "$models" tensors one.safetensors out-mx || failed 'one file and several'
    gives '' pack mxfp4 m -o m.fpk
    gives '' unpack m.fpk -o unpacked.safetensors
    python3 "$models" tensors unpacked.safetensors out-mx || failed 'pack and unpack'
else
    echo 'not judged by safetensors: no Python 3 with numpy and safetensors'
fi

finish
