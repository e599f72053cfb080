#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Output files appear complete or not at all; standard output is checked. Writers that are killed, and links of all kinds,
# are for atomic_file.c.
. "$(dirname "$0")/common.sh"

"$FPEMU" sample weights -o in.npy --size 1000 || failed sample
chmod 640 in.npy
gives '' quantize e4m3fn in.npy -o out.npy

# In place, through a link, permissions kept
cp -p in.npy same.npy
ln -s same.npy link.npy
gives '' quantize e4m3fn link.npy -o link.npy
same same.npy out.npy
holds -L link.npy
holds -n "$(find same.npy -perm 640)"
(umask 027 && "$FPEMU" quantize e4m3fn in.npy -o new.npy) || failed 'quantize with umask'
holds -n "$(find new.npy -perm 640)"

# Where nothing can be written
cp out.npy before.npy
fails 1 'No such file' quantize e4m3fn in.npy -o nowhere/out.npy
mkdir folder
fails 1 'folder' quantize e4m3fn in.npy -o folder
fails 2 'output is missing' quantize e4m3fn in.npy
if [ -c /dev/full ]; then
    fails 1 'No space left' quantize e4m3fn in.npy -o /dev/full
    fails 1 'No space left' sample weights -o /dev/full
    fails 1 '/dev/full: No space left' vectors e4m3fn -o /dev/full
    fails 1 '/dev/full: No space left' vectors e2m1 --from e2m1 -o /dev/full
    "$FPEMU" vectors e4m3fn >/dev/full 2>err
    holds $? -eq 1
    holds "$(cat err)" = 'fpemu: standard output: No space left on device'
    for command in formats --help --version 'round --help' 'info e4m3fn --json' 'round fp16 1' \
        'round fp16 1 --json'; do
        "$FPEMU" $command >/dev/full 2>err
        holds $? -eq 1
        holds "$(cat err)" = 'fpemu: standard output: No space left on device'
    done
fi
holds -c /dev/null
gives '' quantize e4m3fn in.npy -o /dev/null
holds -c /dev/null
"$FPEMU" formats >&- 2>err
holds $? -eq 1
holds "$(wc -l <err)" -eq 1
# A file too large for its limit
(ulimit -f 8 && "$FPEMU" sample weights -o big.npy --size 100000) >out 2>err
holds $? -eq 1
grep -q '^fpemu: big.npy: File too large$' err || failed "message of a file too large: $(cat err)"
holds ! -e big.npy
no_leftovers

# A failure after half of the data: an existing output stays as it was
head -c 2000 in.npy >short.npy
cat short.npy | "$FPEMU" quantize e5m2 - -o out.npy 2>err
holds $? -eq 1
grep -q truncated err || failed "message of a truncated pipe: $(cat err)"
same out.npy before.npy
no_leftovers
printf '\000\000\300\177' >nan.raw
fails 1 'NaN' quantize e2m1 --nan error nan.raw -o out.npy --raw f32
same out.npy before.npy

# A signal in the middle
mkfifo pipe
for signal in TERM HUP; do
    ! sh -c "kill -$signal \$\$" 2>/dev/null || continue # nohup has it ignored
    "$FPEMU" quantize e4m3fn pipe -o out.npy 2>err &
    process=$!
    exec 3>pipe
    head -c 2000 in.npy >&3
    sleep 0.3
    kill -$signal $process
    wait $process 2>/dev/null
    holds $? -gt 128
    exec 3>&-
    same out.npy before.npy
    no_leftovers
done

# Links: what they lead to is written, also where nothing is yet; names of what is open go on with it
mkdir target
ln -s target/later.npy dangling.npy
gives '' quantize e4m3fn in.npy -o dangling.npy
holds -L dangling.npy
same target/later.npy before.npy
ln -s round.npy round.npy
fails 1 'round.npy: ' quantize e4m3fn in.npy -o round.npy
if [ -e /dev/stdout ]; then
    printf 'before ' >both
    "$FPEMU" quantize e4m3fn in.npy -o /dev/stdout >>both || failed '-o /dev/stdout'
    { printf 'before '; cat before.npy; } | cmp - both || failed '-o /dev/stdout loses what is there'
fi
: >shut.npy && chmod a-w shut.npy
if [ ! -w shut.npy ]; then # root may
    fails 1 'shut.npy: Permission denied' quantize e4m3fn in.npy -o shut.npy
    holds ! -s shut.npy
fi
finish
