#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fptrain data: files made by Python's own gzip and lzma are told as they are, every defect is named.
FPEMU=$FPTRAIN
. "$(dirname "$0")/common.sh"
python3 -c 'import gzip, lzma, struct, zlib' >/dev/null 2>&1 || { echo 'skipped: no Python 3 to make files with'; exit 77; }

# python PROGRAM
python() {
    python3 - <<END || failed 'python'
import gzip, lzma, os, struct, sys, zlib
def idx(shape, data):
    return bytes([0, 0, 8, len(shape)]) + struct.pack(">%dI" % len(shape), *shape) + bytes(data)
def put(name, data):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(name[-3:], bytes)
    open(name, "wb").write(pack(data))
n, m = 30, 12
pixels = [(7 * i + i // 12) % 256 for i in range(12 * n)]
labels = [i * i % 10 for i in range(n)]
def mnist(name, end, images=idx([n, 4, 3], pixels), classes=idx([n], labels)):
    put(name + "/train-images-idx3-ubyte" + end, images)
    put(name + "/train-labels-idx1-ubyte" + end, classes)
    put(name + "/t10k-images-idx3-ubyte" + end, idx([m, 4, 3], pixels[:12 * m]))
    put(name + "/t10k-labels-idx1-ubyte" + end, idx([m], labels[:m]))
def records(first, count, coarse=False):
    out = b""
    for r in range(first, first + count):
        out += bytes([r % 20] if coarse else []) + bytes([r % (100 if coarse else 10)])
        out += bytes((r + k * (1 + c)) % 256 for c in range(3) for k in range(1024))
    return out
def statistics(rows):
    n = len(rows)
    mean = sum(rows) / n
    return "mean %.6f, deviation %.6f" % (mean / 255, (sum((x - mean) ** 2 for x in rows) / n) ** 0.5 / 255)
$1
END
}

python 'for name, end in ("plain", ""), ("gz", ".gz"), ("xz", ".xz"):
    mnist(name, end)
    put(name + "/cifar/data_batch_1.bin" + end, records(0, 7))
    put(name + "/cifar/data_batch_4.bin" + end, records(7, 2))
    put(name + "/cifar/test_batch.bin" + end, records(3, 1))
    put(name + "/cifar100/train.bin" + end, records(50, 3, True))
    put(name + "/cifar100/test.bin" + end, records(99, 1, True))
with open("numbers", "w") as f:
    f.write(statistics(pixels) + "\n")
    for c in range(3):
        f.write(statistics([(r + k * (1 + c)) % 256 for r in range(9) for k in range(1024)]) + "\n")'
{ read -r grey; read -r red; read -r green; read -r blue; } <numbers
for kind in plain gz xz; do
    for where in $kind mnist:$kind; do
        shows 'mnist: 30 samples for training, 12 for testing, 10 classes, 3 x 4 pixels, 1 channel' $where
        shows "pixels    $grey" $where
        shows '1                     6          3' $where
        shows '3                     0          0' $where
        shows '9                     6          2' $where
    done
    for where in $kind/cifar cifar10:$kind/cifar; do
        shows 'cifar10: 9 samples for training, 1 for testing, 10 classes, 32 x 32 pixels, 3 channels' $where
        shows "red       $red" $where
        shows "green     $green" $where
        shows "blue      $blue" $where
        shows 'cat                   1          1' $where
        shows 'truck                 0          0' $where
    done
    shows 'cifar100: 3 samples for training, 1 for testing, 100 classes, 32 x 32 pixels, 3 channels' $kind/cifar100
    shows '99                    0          1' $kind/cifar100
done
shows 'mnist: 5 samples for training, 12 for testing, 10 classes, 8 x 8 pixels, 1 channel' plain \
    --set data.limit=5 --set data.pad=8

printf 'to be or not to be, that is' >text
shows 'text: 25 characters for training, 2 for testing, 12 classes' text
shows 'o                     4          0' text:text
shows '0x20                  7          0' text

# Defects
python 'images = idx([n, 4, 3], pixels)
mnist("more", "", classes=idx([n + 1], labels + [0]))
mnist("label", "", classes=idx([n], labels[:-1] + [10]))
mnist("cut", "", images=images[:-1])
mnist("size", "", images=idx([n, 3, 4], pixels))
# A text whose header asks for a dictionary of 512 MiB: 2 << (34 / 2 + 11)
wide = bytearray(lzma.compress(b"a text"))
size = 4 * (wide[12] + 1)
assert wide[14:16] == b"\x21\x01"
wide[16] = 34
wide[8 + size:12 + size] = struct.pack("<I", zlib.crc32(wide[12:8 + size]))
open("wide.xz", "wb").write(wide)
put("batch/test_batch.bin", records(0, 1)[:-1])
put("batch/data_batch_1.bin", records(0, 1))
put("nil/test_batch.bin", b"")
put("nil/data_batch_1.bin", records(0, 1))
put("fine/train.bin", b"\0d" + bytes(3072))
put("fine/test.bin", records(0, 1, True))
os.mkdir("empty")'
fails_data "more: 30 images but 31 labels of 'train'" more
fails_data "label: label 10 of sample 29 of 'train' is not in 0..9" label
fails_data 'cut/train-images-idx3-ubyte: truncated: 360 bytes of data expected, 359 found' cut
fails_data 'size: training images have 4x3 pixels, test images 3x4' size
fails_data 'wide.xz: the xz data need 513 MB of memory to unpack, more than the limit of 128 MB' wide.xz
fails_data 'batch/test_batch.bin: truncated: 3072 of the 3073 bytes of record 0' batch
fails_data 'nil/test_batch.bin: has no records' nil
fails_data 'fine/train.bin: label 100 of record 0 is not in 0..99' fine
fails_data 'empty: neither IDX files' empty
fails_data 'nowhere: no file train-images-idx3-ubyte' mnist:nowhere
fails_data 'nowhere: No such file' nowhere
fails_data 'empty: has no files' text:empty
fails_data 'one data set at a time' digits shapes
few='--set data.train_count=8 --set data.test_count=8'
"$FPTRAIN" data digits $few --npz read.npz >/dev/null || failed 'arrays'
cp read.npz kept.npz
for where in npz:read.npz ./read.npz; do
    fails_data "--npz would replace what is read: 'read.npz'" $where --npz read.npz
done
same read.npz kept.npz
printf '[data]\nsource = digits\ntrain_count = 8\n' >few.ini
printf '[data]\ntest_count = 8\n' >more.ini
cp few.ini kept.ini
fails_data "--npz would replace what is read: './few.ini'" --config few.ini --npz ./few.ini
fails_data "--npz would replace what is read: 'few.ini'" --config few.ini --config more.ini --npz few.ini
fails_data "--npz would replace what is read: 'more.ini'" --config few.ini --config more.ini --npz more.ini
same few.ini kept.ini

# Nor does an output take the place of a file in a directory of data, of one of a list, or of those for testing
python '
mnist("md", "")
mnist("gd", ".gz")
put("gd/more-train-images-idx3-ubyte", idx([n, 4, 3], pixels))
put("gd/more-train-labels-idx1-ubyte", idx([n], labels))
put("gd/more-test-images-idx3-ubyte", idx([m, 4, 3], pixels[:12 * m]))
put("gd/more-test-labels-idx1-ubyte", idx([m], labels[:m]))
put("td/a.txt", b"abcdefgh\n" * 30)
put("td/b.txt", b"hgfedcba\n" * 30)
put("rows/data_batch_1.bin", records(0, 2))
put("rows/test_batch.bin", records(0, 2))'
"$FPTRAIN" data digits $few --npz test.npz >/dev/null || failed 'arrays'
ln -s b.txt td/c.txt
ln -s td elsewhere
cp td/b.txt outside.txt
ln -s ../outside.txt td/outside
cp -r md md.kept
cp -r td td.kept
cp test.npz test.kept
replaces() { # OUTPUT ARGUMENT...: as an archive, the output would replace what is read
    output=$1
    shift
    fails_data "--npz would replace what is read: '$output'" "$@" --npz "$output"
}
replaces md/train-images-idx3-ubyte mnist:md
replaces md/../md/train-images-idx3-ubyte md
replaces gd/t10k-labels-idx1-ubyte.gz gd
replaces gd/more-train-labels-idx1-ubyte idx:gd/more
replaces rows/test_batch.bin cifar10:rows
replaces td/a.txt text:td
replaces elsewhere/a.txt text:td
replaces td/c.txt text:td
replaces outside.txt text:td
replaces td/b.txt text:td/a.txt,td/b.txt
replaces td/b.txt text:td/a.txt --set data.test=td/b.txt
replaces td/a.txt text:td/b.txt --set data.test=td
replaces td/a.txt --set data.source=text:td
replaces test.npz npz:read.npz --set data.test=test.npz
"$FPTRAIN" data md --npz md/few.npz >/dev/null || failed 'a new file beside data'
"$FPTRAIN" data md --npz md/few.npz >/dev/null || failed 'the same again'
rm md/few.npz
diff -r md md.kept || failed 'data that were read'
diff -r td td.kept || failed 'texts that were read'
same test.npz test.kept
mkdir texts
cp td/a.txt texts/summary.json
cp td/b.txt texts/b.txt
cp -r texts texts.kept
small='--quiet --model charlstm --epochs 1 --set data.steps=8 --set model.hidden=4'
refuses "run: --out would replace what is read: 'texts/summary.json'" run $small \
    --data text:texts/b.txt,texts/summary.json --out texts --force
refuses "run: --out: what lies in 'texts' is read as texts" run $small --data text:texts --out texts --force
refuses "run: --out: what lies in 'td' is read as texts" run $small --data text:td --out td
diff -r texts texts.kept || failed 'texts that were read'

# A command that has its data from the settings of a run
"$FPTRAIN" run --quiet --model charlstm --data text:td --epochs 1 --set data.steps=8 --set model.hidden=4 \
    --out of-texts || failed 'a run of texts'
refuses "eval: --plot would replace what is read: 'td/a.txt'" eval of-texts --plot td/a.txt
diff -r td td.kept || failed 'texts that were read'
fails_data "unknown option '--colour'" --colour
# What would have no effect
fails_data "data.test_share is nothing that data of the kind 'digits' use" digits $few --set data.test_share=0.2
fails_data "data.test_share is nothing that data of the kind 'mnist' use" md --set data.test_share=0.2
fails_data "data.steps is nothing that data of the kind 'digits' use" digits $few --set data.steps=32
refuses "data.steps is nothing that data of the kind 'digits' use" run $few --model mlp --set data.steps=32
refuses 'tradeoff: --drop is for --parts' tradeoff --model mlp --drop 2 --plan --out sweep
refuses 'tradeoff: --orders is for the scheme ratio-random' tradeoff --model mlp --orders 2 --plan --out sweep
printf 'relu\n' >broken.net
"$FPTRAIN" tradeoff --model broken.net --parts 2 --out sweep >out 2>err && failed 'a sweep of a broken network'
grep -q '^fptrain: tradeoff: broken.net:' err || failed "a broken network: $(cat err)"
for where in text:td text:texts/b.txt,td; do
    refuses "tradeoff: --out: what lies in 'td' is read as texts" tradeoff --model charlstm --data $where --out td
done
printf '[data]\nsource = digits\n' >table.txt
refuses "tradeoff: --out would replace what is read: './table.txt'" tradeoff --config table.txt --model mlp --out .
holds ! -e sweep

finish
