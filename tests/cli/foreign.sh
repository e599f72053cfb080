#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Files of kinds that are not read: one line says which kind, and what to do.
. "$(dirname "$0")/common.sh"

# refused FILE TEXT: FILE was written
refused() {
    fails 1 "fpemu: $1: " compare "$1" e4m3fn
    fails 1 "$2" compare "$1" e4m3fn
    fails 1 "$2" quantize e4m3fn "$1" -o no.out
    fails 1 "$2" pack e4m3fn "$1" -o no.out
    fails 1 "$2" unpack "$1" -o no.out
}
printf '\200\002}q\000.' >model.bin
refused model.bin 'a checkpoint of PyTorch (pickle)'
printf '\200\004\225' >any
refused any "convert it with safetensors' own tool"
printf 'anything\001' >model.pth
refused model.pth 'a checkpoint of PyTorch'
printf '\211HDF\r\n\032\n....' >w
refused w 'an HDF5 file'
printf '\010\007\022\007pytorch' >w
refused w 'an ONNX model'
printf '\177\177\177' >m.onnx
refused m.onnx 'an ONNX model'
printf '\211PNG\r\n\032\n....' >w
refused w 'a PNG picture'
printf '<!DOCTYPE html><html></html>' >model.safetensors
refused model.safetensors 'a web page; was the download refused?'
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n' >model.safetensors
refused model.safetensors "a pointer of Git LFS and not the file itself; 'git lfs pull' fetches that"
printf '1.5 2.5\n' >w
refused w 'text; numbers in text become a file'
printf '{"weight_map": {}}' >w
refused w 'the index of a model in several files'
printf '{"a": 1}' >w
refused w 'JSON text'
printf '\037\213\010\000' >w
refused w 'compressed; unpack it first'
printf 'lmgg\001\000\000\000' >w
refused w 'a GGML file from before GGUF'
printf '\177ELF\002' >w
refused w 'a program or a library'
: >w
refused w 'the file is empty'
if python3 -c 'import zipfile' 2>/dev/null; then
    python3 -c 'import zipfile
z = zipfile.ZipFile("model.pt", "w")
z.writestr("archive/data.pkl", b"\x80\x02}q\x00.")
z.writestr("archive/data/0", bytes(16))
z.close()'
    refused model.pt 'a checkpoint of PyTorch (pickle)'
fi
printf '\001\002\003\004' >w
fails 1 'w: ' compare w e4m3fn
holds ! -e no.out

# Formats of ggml that are none here
fails 2 'keeps the sum of each block' info q8_1
for spec in q2_k Q3_K q3_k_m; do
    fails 2 'super-blocks of 256' info $spec
done
fails 2 'by a search' round iq4_nl 1
gives '0.499969482421875' round q8_0 0.5 -r rna # 127 steps of 0.5/127 in binary16
gives '0.50390625 0.99993896484375' round q8_0 0.5 1 -r rna # one block: 64 and 127 steps of 1/127 in binary16

finish
