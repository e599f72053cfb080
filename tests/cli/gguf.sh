#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# GGUF: read as ggml decodes it, whatever the alignment; what is no GGUF file is refused with one line.
. "$(dirname "$0")/common.sh"
here=$(dirname "$0")
case $here in /*) ;; *) here=$OLDPWD/$here ;; esac

# le SIZE NUMBER...: whole numbers, little-endian
le() {
    le_size=$1
    shift
    for le_number; do
        le_left=$le_size
        while [ "$le_left" -gt 0 ]; do
            printf "\\$(printf %o $((le_number % 256)))"
            le_number=$((le_number / 256))
            le_left=$((le_left - 1))
        done
    done
}
text() { # STRING: its length and itself
    le 8 ${#1}
    printf %s "$1"
}
key() { # NAME TYPE: the value is to follow
    text "$1"
    le 4 "$2"
}
info() { # NAME TYPE OFFSET EXTENT...
    info_name=$1 info_type=$2 info_offset=$3
    shift 3
    text "$info_name"
    le 4 $#
    le 8 "$@"
    le 4 "$info_type"
    le 8 "$info_offset"
}
pad() { # FILE ALIGNMENT: zeros up to it
    while [ $(($(wc -c <"$1") % $2)) -ne 0 ]; do
        printf '\0' >>"$1"
    done
}
start() { # VERSION TENSORS KEYS
    printf GGUF
    le 4 "$1"
    le 8 "$2" "$3"
}

# Two rows of a Q4_0 block each, 1.5 and -2 as scales; an F32 tensor of two numbers; every kind of key
for version in 2 3; do
    {
        start $version 2 8
        key general.architecture 8; text llama
        key a 0; printf '\007'
        key b 7; printf '\001'
        key c 10; le 8 5
        key tokens 9; le 4 8; le 8 2; text one; text ''
        key scores 9; le 4 6; le 8 3; le 4 1 2 3
        key general.alignment 4; le 4 8
        key d 12; le 8 0
        info x 2 0 32 2
        info y 0 40 2
    } >in.gguf
    pad in.gguf 8
    {
        printf '\000\076\020\002\003\004\005\006\007\010\011\012\013\014\015\016\017\360'
        printf '\000\300\020\002\003\004\005\006\007\010\011\012\013\014\015\016\017\360'
        le 4 0 # up to the alignment
        printf '\000\000\200\077\000\000\000\300'
    } >>in.gguf
    gives '' unpack in.gguf -o out.safetensors
    size=$(od -An -v -tu8 -N 8 out.safetensors | tr -d ' ')
    holds "$(tail -c +9 out.safetensors | head -c "$size" | sed 's/ *$//')" = '{"x":{"dtype":"F32","shape":[2,32],'\
'"data_offsets":[0,256]},"y":{"dtype":"F32","shape":[2],"data_offsets":[256,264]}}'
    # low nibbles first: 0 is -8, 2 is -6, ...; then the high ones: 1 is -7, 0, ..., 15 is 7
    wanted=$(tail -c +$((size + 9)) out.safetensors | od -An -v -tf4 -w128 | tr -s ' ')
    row='-12 -9 -7.5 -6 -4.5 -3 -1.5 0 1.5 3 4.5 6 7.5 9 10.5 -12 -10.5'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do row="$row -12"; done
    row="$row 10.5"
    holds "$(echo "$wanted" | sed -n '1s/^ //p')" = "$row"
    holds "$(echo "$wanted" | sed -n '3s/^ //p')" = '1 -2'
    "$FPEMU" unpack --list in.gguf >table || failed 'unpack --list'
    holds "$(tr -s ' ' <table | sed -n 's/^x //p')" = 'F32 2x32 36 Q4_0'
    holds "$(tr -s ' ' <table | sed -n 's/^y //p')" = 'F32 2 8 -'
done
"$FPEMU" info in.gguf >table || failed info
holds "$(tr -s ' ' <table | sed -n 's/^x //p')" = 'Q4_0 2x32 36 '
gives '' quantize e4m3fn in.gguf -o q.safetensors --tensors y
gives '' quantize e4m3fn out.safetensors -o wanted.safetensors --tensors y
same q.safetensors wanted.safetensors
for axis in 0 1; do # along the first axis in boxes, for which data are read in any order
    gives '' quantize mxfp4 in.gguf -o q.safetensors --tensors x --axis $axis
    gives '' quantize mxfp4 out.safetensors -o wanted.safetensors --tensors x --axis $axis
    same q.safetensors wanted.safetensors
done
gives '' pack mxfp4 in.gguf -o q.fpk --tensors x
gives '' pack mxfp4 out.safetensors -o wanted.fpk --tensors x
same q.fpk wanted.fpk
"$FPEMU" compare in.gguf fp16 --min-sqnr 1000 --json >json || failed 'compare'
python_checks json 't = j["tensors"]
assert [a["dtype"] for a in t] == ["Q4_0", "F32"], t'
fails 2 'written as safetensors' quantize e4m3fn in.gguf -o no.npz
cat in.gguf | "$FPEMU" quantize e4m3fn - -o no.safetensors 2>err
holds $? -eq 1

# Blocks that want another scale, in a tensor of its own
{ start 3 2 0; info b.weight 40 0 64; info b.scale 0 64 1; } >scaled.gguf
pad scaled.gguf 32
head -c 68 /dev/zero >>scaled.gguf
fails 1 "'b.weight' (NVFP4 64) are codes with scales in 'b.scale' (F32 1)" quantize bf16 scaled.gguf -o no.safetensors
fails 1 '2 tensors are such' unpack scaled.gguf -o no.safetensors
"$FPEMU" unpack scaled.gguf -o out.safetensors --as-numbers 2>err || failed 'unpack --as-numbers'
grep -q 'taken as numbers; 2 tensors are such' err || failed "$(cat err)"

# refused TEXT: bad.gguf is
refused() {
    fails 1 "$1" quantize e4m3fn bad.gguf -o no.safetensors
    fails 1 "$1" compare bad.gguf e4m3fn
}
small() { # TEXT TYPE OFFSET EXTENT...: one tensor, alignment 32, its data 64 bytes, is
    small_text=$1
    shift
    { start 3 1 0; info t "$@"; } >bad.gguf
    pad bad.gguf 32
    le 8 0 0 0 0 0 0 0 0 >>bad.gguf
    [ -z "$small_text" ] || refused "$small_text"
}
small '' 0 0 16
gives '' unpack bad.gguf -o out.safetensors
small '32 bytes follow the last tensor' 0 0 8 # as many bytes follow as the alignment at most leaves
small 'begin at 32, expected 0' 0 32 8
small 'truncated' 0 0 17
small '2^63' 0 0 4294967296 4294967296 4
small '2^63' 0 0 0 4294967296 4294967296
small '5 dimensions' 0 0 1 1 1 1 16
small 'no whole blocks of 32, as Q4_0' 2 0 16
small 'no whole blocks of 256, as Q4_K' 12 0 64
small 'type IQ2_XXS is not read' 16 0 256
small 'type TQ1_0 is not read' 34 0 256
small 'type 5 is unknown' 5 0 256
small 'type 4294967295 is unknown' 4294967295 0 256
{ start 1 0 0; } >bad.gguf
refused 'version 1'
{ printf 'GGUF\000\000\000\003'; le 8 0 0; } >bad.gguf
refused 'big-endian'
{ start 3 1000 0; } >bad.gguf
refused '1000 tensors and 0 keys in a file of 24 bytes'
{ start 3 0 9223372036854775807; } >bad.gguf
refused 'keys in a file of 24 bytes'
{ start 3 0 1; key a 9; le 4 8; le 8 100000; } >bad.gguf
refused 'an array of 100000 values'
{ start 3 0 1; key a 9; le 4 9; le 8 1; } >bad.gguf
refused "key 'a': an array of values of type 9"
{ start 3 0 1; key a 13; le 8 1; } >bad.gguf
refused 'unknown type 13'
{ start 3 0 1; key a 8; le 8 100000; } >bad.gguf
refused 'truncated'
{ start 3 0 1; le 8 100000; le 8 0; } >bad.gguf
refused 'name of a key has 100000 bytes'
{ start 3 0 1; le 8 1; printf '\377'; le 8 0; } >bad.gguf
refused 'no UTF-8'
for alignment in 0 3 48; do
    { start 3 0 1; key general.alignment 4; le 4 $alignment; } >bad.gguf
    refused "$alignment is no power of two"
done
{ start 3 0 1; key general.alignment 10; le 8 32; } >bad.gguf
refused 'no uint32'
{ start 3 0 2; key general.alignment 4; le 4 32; key general.alignment 4; le 4 32; } >bad.gguf
refused 'twice'
{ start 3 2 0; info t 0 0 8; info t 0 32 8; } >bad.gguf
pad bad.gguf 32
le 8 0 0 0 0 0 0 0 0 >>bad.gguf
refused "two tensors have the name 't'"
{ start 3 2 0; info t 0 0 8; info u 0 0 8; } >bad.gguf
pad bad.gguf 32
le 8 0 0 0 0 0 0 0 0 >>bad.gguf
refused 'begin at 0, expected 32'
{ start 3 1 0; info __metadata__ 0 0 32; } >bad.gguf
pad bad.gguf 32
le 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 >>bad.gguf
fails 1 "called '__metadata__'" quantize mxfp4 bad.gguf -o no.safetensors
fails 1 "called '__metadata__'" pack mxfp4 bad.gguf -o no.safetensors --layout gpt-oss
size=$(wc -c <in.gguf)
for at in 4 10 30 100 $((size / 2)) $((size - 1)); do
    head -c $at in.gguf >bad.gguf
    fails 1 bad.gguf quantize e4m3fn bad.gguf -o no.safetensors
done
holds ! -e no.safetensors

# Memory: 32 million elements, 128 MB as F32, in a program that has less, unless a sanitizer watches
{ start 3 1 0; info t.w 12 0 8192 4096; } >large.gguf
pad large.gguf 32
truncate -s $(($(wc -c <large.gguf) + 8192 * 4096 / 256 * 144)) large.gguf
if bounded info in.gguf; then
    within compare large.gguf e4m3fn >/dev/null || failed 'compare in little memory'
    within unpack large.gguf -o large.safetensors --dtype BF16 || failed 'unpack likewise'
    within pack nvfp4 large.gguf -o large.safetensors --layout torchao || failed 'pack'
    within compare large.safetensors e4m3fn --axis 0 mxfp4 >/dev/null || failed 'compare of a layout'
    rm -f large.gguf large.safetensors
fi

# Every type, every scale, by the gguf package
python3 -c 'import gguf, ml_dtypes, safetensors.numpy' >/dev/null 2>&1 || { echo 'not all: no Python 3 with gguf'; finish; }
python3 "$here/gguf_judge.py" write . || failed 'no files'
gives '' unpack in.gguf -o out.safetensors
gives '' quantize fp64 in.gguf -o quantized.safetensors --dtype F64
python3 "$here/gguf_judge.py" compare out.safetensors quantized.safetensors || failed 'other numbers than ggml'

# As ggml quantises: Q8_0 rounds ties away, MXFP4 takes the smaller of two that are as near
python3 "$here/gguf_judge.py" numbers || failed 'no numbers'
gives '' quantize q8_0 x.npy -o y.npy -r rna
python3 "$here/gguf_judge.py" same y.npy wanted-q8_0.npy || failed 'other numbers than Q8_0'
gives '' quantize mxfp4 x.npy -o y.npy -r rnz
python3 "$here/gguf_judge.py" same y.npy wanted-mxfp4.npy || failed 'other numbers than MXFP4'
gives '' quantize q8_0 x.npy -o y.npy
python3 "$here/gguf_judge.py" same y.npy wanted-q8_0.npy 2>/dev/null && failed 'ties to even are not seen'

# Scales found by a search: those of ggml's own library, where it is built without contraction
if [ "$(uname -m)" = x86_64 ] && python3 -c 'import ggml' >/dev/null 2>&1; then
    python3 "$here/gguf_judge.py" searched || failed 'no numbers'
    for type in q4_k q5_k q6_k; do
        gives '' quantize $type s.npy -o y.npy
        python3 "$here/gguf_judge.py" same y.npy wanted-$type.npy || failed "other numbers than $type"
    done
fi

# Which rule made a file of the package, and what differs where one byte of block 9 is another
python3 "$here/gguf_judge.py" made || failed 'no file'
"$FPEMU" judge made.gguf --against source.npz --json >json || failed judge
python_checks json 'told = {t["tensor"]: t["rules"][0] for t in j}
for kind in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"):
    made, scale, code, least = (told[kind + part] for part in ("", ".d", ".q", ".m"))
    assert made["rule"] == kind.lower() and made["rounding"] == ("rna" if kind == "Q8_0" else "ggml"), made
    assert made["fits"] and not scale["fits"] and not code["fits"], (made, scale, code)
    assert scale["scales_differ"] == 1 and scale["first_scale"] == 9, scale
    assert code["scales_differ"] == code["zeros_differ"] == 0, code
    assert code["values_differ"] == 1 and code["first_value"] // 32 == 9, code
    assert not kind.endswith("1") or (least["zeros_differ"] == 1 and least["first_zero"] == 9), least
assert all(len(t["rules"]) == 2 for t in j), j'
"$FPEMU" judge made.gguf --json >json || failed judge
python_checks json 'assert all(t["rules"][0]["fits"] for t in j if "." not in t["tensor"]), j'

finish
