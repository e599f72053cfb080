#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Array files: every kind that is read, and hostile ones; nothing is left behind by a failure.
. "$(dirname "$0")/common.sh"

# narrows ARGUMENT...: to e4m3fn, silent but for -465, which becomes NaN.
narrows() {
    "$FPEMU" quantize e4m3fn "$@" <"$input" >out 2>err && [ ! -s out ] &&
        ! grep -v '^fpemu: quantize: e4m3fn: 1 of 4 elements became NaN' err || failed "quantize e4m3fn $*: $(cat out err)"
}

# 1, 1.0625, -465 and 0.3 as binary32 and binary64, both byte orders; what e4m3fn makes of them
le='\000\000\200\077\000\000\210\077\000\200\350\303\232\231\231\076'
be='\077\200\000\000\077\210\000\000\303\350\200\000\076\231\231\232'
le_rounded='\000\000\200\077\000\000\200\077\000\000\300\177\000\000\240\076'
be_rounded='\077\200\000\000\077\200\000\000\177\300\000\000\076\240\000\000'
le64='\000\000\000\000\000\000\360\077\000\000\000\000\000\000\361\077'
le64_rounded='\000\000\000\000\000\000\360\077\000\000\000\000\000\000\360\077'

# rounds HEADER DATA ROUNDED [HEADER]: a file with this header and these data; the output has the last header, padded.
rounds() {
    npy "$1" "$2" >in.npy
    rm -f out.npy
    narrows in.npy -o out.npy
    head -c 128 out.npy | tail -c +11 | tr -d '\n' >header
    printf '%-118s' "${4-$1}" | tr -d '\n' | cut -c 1-117 | tr -d '\n' >wanted_header
    same header wanted_header
    printf "$3" >wanted
    tail -c +129 out.npy >data
    same data wanted
    no_leftovers
}
rounds "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }" "$le" "$le_rounded"
rounds "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" "$le" "$le_rounded"
rounds "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1, 2), }" "$le" "$le_rounded"
rounds "{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }" "$be" "$be_rounded"
rounds "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }" "$le64" "$le64_rounded"
rounds "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }" '\100\074\000\100' '\000\074\000\100'
rounds "{'descr': '<f4', 'fortran_order': False, 'shape': (), }" '\000\000\210\077' '\000\000\200\077'
rounds "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }" '' ''
rounds "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0, 7), }" '' ''
# What else NumPy reads: keys in any order, other quotes, no spaces, no final comma, a newline, Python 2's long integers
usual="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
rounds '{"shape":(2L,2L),"fortran_order":False,"descr":"<f4"}
' "$le" "$le_rounded" "$usual"
# Versions 2.0 and 3.0 have a longer length
for version in '\002' '\003'; do
    { printf '\223NUMPY'; printf "$version\\000\\073\\000\\000\\000"; printf '%s' "$usual"; printf "$le"; } >in.npy
    narrows in.npy -o out.npy
    tail -c +129 out.npy >data
    printf "$le_rounded" >wanted
    same data wanted
done
# Native byte order by other names gives what the named one gives, on this machine
native='<'
[ "$(printf '\001\000' | od -An -tx2 | tr -d ' ')" = 0001 ] || native='>'
npy "{'descr': '${native}f4', 'fortran_order': False, 'shape': (4,), }" "$le" >in.npy
narrows in.npy -o wanted.npy
for prefix in = '|' ''; do
    npy "{'descr': '${prefix}f4', 'fortran_order': False, 'shape': (4,), }" "$le" >in.npy
    narrows in.npy -o out.npy
    same out.npy wanted.npy
done
# From a pipe
npy "$usual" "$le" >in.npy
input=in.npy
narrows - -o out.npy
cat in.npy | "$FPEMU" quantize e4m3fn - -o piped.npy || failed 'quantize of a pipe'
same out.npy piped.npy
input=/dev/null

# Without a header
printf "$le" >in.raw
printf "$le_rounded" >wanted
narrows in.raw -o out.raw --raw f32
same out.raw wanted
cat in.raw | "$FPEMU" quantize e4m3fn - -o out.raw --raw f32 || failed 'quantize of a raw pipe'
same out.raw wanted
printf "$be" >in.raw
printf "$be_rounded" >wanted
narrows in.raw -o out.raw --raw f32 --byte-order big
same out.raw wanted
: >empty.raw
gives '' quantize e4m3fn empty.raw -o out.raw --raw f64
# A device of characters has no end; a directory is none of data
(ulimit -t 20 && "$FPEMU" quantize e4m3fn /dev/zero --raw f32 -o - 2>err | head -c 300000 | tr -d '\0' | wc -c) >count
holds "$(tr -d ' ' <count)" = 0
holds "$(ulimit -t 20 && "$FPEMU" quantize e4m3fn /dev/zero --raw f32 -o - 2>err | head -c 300000 | wc -c)" -eq 300000
fails 1 '.: Is a directory' compare --raw f32 . e4m3fn
same out.raw empty.raw
printf "$le\\001" >odd.raw
rm -f out.*
printf "$le" >in.raw
fails 1 'there is an array (F32)' quantize mxfp4 in.raw -o out.raw --raw f32 --min-dims 2
printf "$be" >in.raw
fails 1 'ends inside an element' quantize e4m3fn odd.raw -o out.raw --raw f32
fails 2 '--raw' quantize e4m3fn in.raw -o out.raw --raw f16
fails 2 '--byte-order' quantize e4m3fn in.raw -o out.raw --raw f32 --byte-order middle
fails 2 '--byte-order' quantize e4m3fn in.raw -o out.raw --byte-order big
holds ! -e out.raw

# refused TEXT: in.npy is refused by both readers, from a file and from a pipe, and no output appears.
refused() {
    fails 1 "$1" quantize e4m3fn in.npy -o out.npy
    fails 1 "$1" compare in.npy e4m3fn
    input=in.npy
    fails 1 "$1" quantize e4m3fn - -o out.npy
    input=/dev/null
    cat in.npy | "$FPEMU" quantize e4m3fn - -o out.npy >out 2>err
    holds "$(wc -l <err)" -eq 1
    holds ! -e out.npy
    no_leftovers
}
: >in.npy
refused 'ends inside its header'
printf '\223NUM' >in.npy
refused 'ends inside its header'
printf 'not an array file' >in.npy
refused 'not a .npy file (data without a header: --raw of quantize, compare, apply and pack)'
printf '\223NUMPY\004\000\073\000\000\000' >in.npy
refused 'version 4.0'
printf '\223NUMPY\001\001\073\000\000\000' >in.npy
refused 'version 1.1'
printf '\223NUMPY\001\000\377\377{' >in.npy
refused 'ends inside its header'
printf '\223NUMPY\002\000\377\377\377\377{' >in.npy
refused 'too long'

# bad_header TEXT HEADER
bad_header() {
    npy "$2" "$le" >in.npy
    refused "$1"
}
bad_header 'not a dictionary' ''
bad_header 'not a dictionary' '[]'
bad_header 'not a dictionary that' "{'descr'"
bad_header 'not a dictionary that' "{descr: '<f4'}"
bad_header 'not a dictionary that' "{'descr': '<f4' 'fortran_order': False, 'shape': (4,)}"
bad_header 'not a dictionary that' "{'descr': '<f4', 'fortran_order': False, 'shape': (4,)"
bad_header 'goes on' "{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x"
bad_header "lacks the key 'descr'" '{}'
bad_header "lacks the key 'shape'" "{'descr': '<f4', 'fortran_order': False}"
bad_header "twice the key 'descr'" "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4,)}"
bad_header "unknown key 'extra'" "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'extra': 1}"
bad_header "'<c8'" "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}"
bad_header 'records' "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}"
bad_header 'not a string' "{'descr': 4, 'fortran_order': False, 'shape': (4,)}"
bad_header 'neither True nor False' "{'descr': '<f4', 'fortran_order': 0, 'shape': (4,)}"
bad_header 'not a tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': 4}"
bad_header 'not a tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': (4)}"
bad_header 'not a tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,)}"
bad_header 'not a tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}"
bad_header 'not a tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': (4.0,)}"
bad_header 'not a tuple' "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}"
bad_header '2^63' "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}"
bad_header '2^63' "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999999,)}"
bad_header '2^63' "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}"
bad_header '2^63' "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,)}"
bad_header '2^63' "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}"
bad_header 'truncated' "{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}"
bad_header 'truncated' "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000)}"
bad_header 'truncated' "{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}"
bad_header 'more' "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"
bad_header 'more' "{'descr': '<f4', 'fortran_order': False, 'shape': ()}"
bad_header 'more' "{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}"
bad_header 'more than 64 dimensions' "{'descr': '<f4', 'fortran_order': False, 'shape': ($(printf '1,%.0s' \
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 \
    41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65))}"
rm in.npy
fails 1 'No such file' quantize e4m3fn in.npy -o out.npy
fails 1 'No such file' compare in.npy e4m3fn
mkdir in.npy
fails 1 'directory' quantize e4m3fn in.npy -o out.npy
holds ! -e out.npy

finish
