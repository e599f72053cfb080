#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Archives of arrays: stored and deflated, made and read back by NumPy or Python's own zip where these are here.
. "$(dirname "$0")/common.sh"
python3 -c 'import zipfile, zlib' >/dev/null 2>&1 || { echo 'skipped: no Python 3 to make archives with'; exit 77; }

# python PROGRAM
python() {
    python3 - <<END || failed 'python'
import io, json, os, struct, sys, zipfile
def npy(descr, shape, data, fortran=False):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data
def archive(name, method, members, zip64=False):
    with zipfile.ZipFile(name, "w", method) as z:
        for member, data in members:
            info = zipfile.ZipInfo(member, (2020, 2, 3, 4, 5, 6))
            info.compress_type = method
            with z.open(info, "w", force_zip64=zip64) as f:
                f.write(data)
ones = npy("<f4", "(2, 2)", struct.pack("<4f", 1.0625, -465, 0.3, 1))
members = [("a.npy", ones), ("b/c.npy", npy(">f8", "(3,)", struct.pack(">3d", 1.0625, -0.3, 2), True)),
           ("h.npy", npy("<f2", "()", struct.pack("<e", 1.0625))), ("i.npy", npy("<i8", "(1,)", bytes(8))),
           ("note.txt", b"text"), ("z.npy", npy("<f4", "(0, 3)", b""))]
$1
END
}

python 'archive("stored.npz", zipfile.ZIP_STORED, members)
archive("deflated.npz", zipfile.ZIP_DEFLATED, members)
archive("zip64.npz", zipfile.ZIP_DEFLATED, members, True)
big = npy("<f4", "(300, 1000)", struct.pack("<300000f", *[i / 7 for i in range(300000)]))
archive("big.npz", zipfile.ZIP_DEFLATED, [("big.npy", big)])
open("big.npy", "wb").write(big)'
for name in stored deflated zip64; do
    gives '' quantize e4m3fn:saturate $name.npz -o out.npz
    python 'old, new = zipfile.ZipFile("'$name'.npz"), zipfile.ZipFile("out.npz")
assert new.testzip() is None and new.namelist() == old.namelist()
for a, b in zip(old.infolist(), new.infolist()):
    assert a.compress_type == b.compress_type and a.date_time == b.date_time and a.file_size == b.file_size, (a, b)
for name in ("i.npy", "note.txt", "z.npy"):
    assert old.read(name) == new.read(name)
assert new.read("a.npy") == npy("<f4", "(2, 2)", struct.pack("<4f", 1, -448, 0.3125, 1))
assert new.read("b/c.npy") == npy(">f8", "(3,)", struct.pack(">3d", 1, -0.3125, 2), True)
assert new.read("h.npy") == npy("<f2", "()", struct.pack("<e", 1))'
    gives '' quantize e4m3fn:saturate $name.npz -o out.npz --tensors 'b/*'
    python 'old, new = zipfile.ZipFile("'$name'.npz"), zipfile.ZipFile("out.npz")
for name in old.namelist():
    assert (old.read(name) == new.read(name)) == (name != "b/c.npy"), name'
    "$FPEMU" compare $name.npz e4m3fn >table || failed compare
    grep -q '^skipped: i (<i8, 1)$' table || failed 'the skipped tensor is not named'
    grep -q '^skipped: note.txt (no array, 4)$' table || failed 'the skipped member is not named'
    # In place
    cp $name.npz same.npz
    gives '' quantize e4m3fn:saturate same.npz -o same.npz
    "$FPEMU" quantize e4m3fn:saturate $name.npz -o out.npz || failed quantize
    same same.npz out.npz
done
# Several pieces, the same as the array alone; types
gives '' quantize e4m3fn:saturate big.npz -o out.npz -r sr --seed 1
gives '' quantize e4m3fn:saturate big.npy -o out.npy -r sr --seed 1
python 'assert zipfile.ZipFile("out.npz").read("big.npy") == open("out.npy", "rb").read()'
gives '' quantize e4m3fn:saturate big.npz -o out.npz --dtype F16
python 'assert b"\x27<f2\x27" in zipfile.ZipFile("out.npz").read("big.npy")[:80]'
fails 2 'have no type BF16' quantize e4m3fn big.npz -o out.npz --dtype BF16
"$FPEMU" compare big.npz e4m3fn --json >json || failed compare
"$FPEMU" compare big.npy e4m3fn --json >json2 || failed compare
python_checks json 'k = json.load(open("json2"))
assert j["formats"] == k["formats"] and j["tensors"][0]["formats"] == k["formats"]'
if python3 -c 'import numpy' >/dev/null 2>&1; then
    python 'import numpy
x = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4) / 7
numpy.savez("in.npz", x=x, y=numpy.asfortranarray(x[0]).astype(numpy.float16))
numpy.savez_compressed("packed.npz", x=x)'
    for name in in packed; do
        gives '' quantize bf16 $name.npz -o out.npz --dtype F32
        python 'import numpy
a, b = numpy.load("'$name'.npz"), numpy.load("out.npz")
for k in a:
    bits = a[k].astype(numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    want = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype(numpy.uint32).view(numpy.float32)
    assert b[k].dtype == numpy.float32 and b[k].shape == a[k].shape and numpy.array_equal(b[k], want)'
    done
fi

# refused TEXT PROGRAM: the archive that the program makes is refused
refused() {
    rm -f in.npz
    python "$2"
    fails 1 "$1" quantize e4m3fn in.npz -o no.npz
    fails 1 "$1" compare in.npz e4m3fn
    holds ! -e no.npz
}
refused 'empty' 'archive("in.npz", 0, [])'
refused 'neither stored nor deflated' 'archive("in.npz", zipfile.ZIP_LZMA, members)'
refused 'CRC' 'archive("in.npz", 0, members)
data = open("in.npz", "rb").read()
open("in.npz", "wb").write(data.replace(b"\x9a\x99\x99\x3e", b"\x9a\x99\x99\x3f", 1))'
refused "member 'a.npy'" 'archive("in.npz", 0, [("a.npy", ones[:-1])])'
refused "member 'a.npy'" 'archive("in.npz", 0, [("a.npy", ones + b"x")])'
refused "member 'a.npy': not a .npy file" 'archive("in.npz", 0, [("a.npy", b"not an array")])'
refused 'two members' 'import warnings
warnings.simplefilter("ignore")
archive("in.npz", 0, [("a.npy", ones), ("a.npy", ones)])'
refused 'zip archive' 'archive("in.npz", 8, members)
data = open("in.npz", "rb").read()
open("in.npz", "wb").write(data[:len(data) // 2])'
refused 'not a .npz file' 'open("in.npz", "wb").write(b"something else")'
if [ -c /dev/full ]; then
    fails 1 'No space left' quantize e4m3fn deflated.npz -o /dev/full
fi
# To a pipe and behind something else no archive can be written: it is walked.
echo before >appended
"$FPEMU" quantize e4m3fn deflated.npz -o /dev/stdout >>appended 2>err && failed 'appended'
grep -q 'has to be written to a place that can be walked' err || failed "an archive that is appended: $(cat err)"
holds "$(cat appended)" = before
"$FPEMU" quantize e4m3fn deflated.npz -o - 2>err | cat >out
grep -q 'has to be written to a place that can be walked' err || failed "an archive into a pipe: $(cat err)"

finish
