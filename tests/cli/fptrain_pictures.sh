#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Folders of PNG and JPEG files are the samples that Pillow reads of them, in the order of their names; scaled ones are
# the exact means of areas, and where the factor is whole those of Pillow.
FPEMU=$FPTRAIN
. "$(dirname "$0")/common.sh"
python3 -c 'import numpy, PIL.Image' >/dev/null 2>&1 || { echo 'skipped: no Python 3 with NumPy and Pillow'; exit 77; }

cat >judge.py <<'END'
import os, resource, shutil, struct, subprocess, sys, warnings, zlib
from fractions import Fraction
import numpy as np
from PIL import Image

def fptrain(*words):
    said = subprocess.run([os.environ["FPTRAIN"], "data", *words, "--npz", "out.npz"], capture_output=True, text=True)
    assert said.returncode == 0, (words, said.stderr)
    return np.load("out.npz"), said.stdout

rng = np.random.default_rng(2)
warnings.simplefilter("ignore")

def png(width, height, colour, depth, interlaced=0):
    """A PNG file of noise, of any of the fifteen kinds."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    def rows(w, h):
        size = (w * channels * depth + 7) // 8
        return b"".join(b"\0" + rng.integers(0, 256, size, "u1").tobytes() for _ in range(h if w else 0))
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    data = b"".join(rows((width - x + dx - 1) // dx, (height - y + dy - 1) // dy) for x, y, dx, dy in
                    (passes if interlaced else [(0, 0, 1, 1)]))
    palette = chunk(b"PLTE", rng.integers(0, 256, 3 << depth, "u1").tobytes()) if colour == 3 else b""
    alpha = {0: b"\0\1", 2: b"\0\1\0\2\0\3", 3: b"\0\x80"}
    if colour in alpha:
        palette += chunk(b"tRNS", alpha[colour])
    palette = chunk(b"gAMA", struct.pack(">I", 30000)) + palette
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + palette + chunk(b"IDAT", zlib.compress(data)) +
            chunk(b"IEND", b""))

def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "wb").write(data)

def pillow(path):
    image = Image.open(path)
    if image.mode.startswith("I"):
        return (np.asarray(image).astype("u2") >> 8).astype("u1")[None]  # 16 bits: their high byte
    if image.mode == "LA":
        return np.asarray(image)[:, :, 0][None]
    grey = image.mode in ("1", "L")
    array = np.asarray(image.convert("L" if grey else "RGB"))
    return array[None] if grey else array.transpose(2, 0, 1)

# Every kind of PNG file, plain and interlaced, as Pillow has it
kinds = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16),
         (6, 8), (6, 16)]
for number, (colour, depth) in enumerate(kinds):
    for interlaced in 0, 1:
        group = "grey" if colour in (0, 4) else "colour"
        put("kinds/%s/%s/%02d.png" % (group, "ab"[interlaced], number), png(19, 11, colour, depth, interlaced))
for group in "grey", "colour":
    got, _ = fptrain("kinds/" + group, "--set", "data.test_share=0.2")
    whole = {x.tobytes() for x in np.concatenate([got["x_train"], got["x_test"]])}
    files = [os.path.join(root, f) for root, _, names in os.walk("kinds/" + group) for f in names]
    assert len(files) == len(got["x_train"]) + len(got["x_test"])
    for f in files:
        if f.endswith("%02d.png" % kinds.index((4, 16))):
            continue  # Pillow has no mode for it
        assert pillow(f).tobytes() in whole, f

# Two parts; the order of names, whatever the order in which they were made; other files and hidden ones are passed
# over.
names = ["zebra", "ant", "Bee", "10", "9", "c d"]
pictures = {}
for part, count in (("train", 5), ("val", 2)):
    for k in reversed(range(count)):
        for name in names:
            x = rng.integers(0, 256, (12, 20, 3)).astype("u1")
            pictures[part, name, k] = x.transpose(2, 0, 1)
            os.makedirs("set/%s/%s" % (part, name), exist_ok=True)
            Image.fromarray(x).save("set/%s/%s/%d.png" % (part, name, k))
put("set/train/ant/notes.txt", b"x")
put("set/train/ant/.hidden.png", b"x")
put("set/LICENSE", b"x")
got, text = fptrain("set")
order = sorted(names)
assert [c.decode() for c in got["classes"]] == order
assert "images: 30 samples for training, 12 for testing, 6 classes, 20 x 12 pixels, 3 channels" in text
for part, count, x, y in (("train", 5, "x_train", "y_train"), ("val", 2, "x_test", "y_test")):
    assert list(got[y]) == [c for c in range(6) for _ in range(count)]
    assert (got[x] == np.array([pictures[part, name, k] for name in order for k in range(count)])).all()
shutil.copytree("set/val", "elsewhere")
os.rename("set/val", "hidden")
again, _ = fptrain("images:set", "--set", "data.test=elsewhere")
assert all((again[k] == got[k]).all() for k in got)
grey, _ = fptrain("set", "--set", "data.channels=grey", "--set", "data.test=hidden")
first = np.asarray(Image.open("set/train/10/0.png").convert("L"))
assert (grey["x_train"][0] == first).all() and grey["x_train"].shape == (30, 12, 20)
put("set/train/9/0.png", png(20, 12, 0, 8))  # one grey file among others has three equal channels
mixed, _ = fptrain("set", "--set", "data.test=hidden")
k = order.index("9") * 5
assert (mixed["x_train"][k] == pillow("set/train/9/0.png")).all()
assert (np.delete(mixed["x_train"], k, 0) == np.delete(got["x_train"], k, 0)).all()

# Scaled: the exact mean over areas of the square in the middle, rounded half up; by 2 and 4 that of Pillow
def exact(picture, side):
    h, w = picture.shape
    n = min(h, w)
    square = picture[(h - n) // 2:, (w - n) // 2:][:n, :n].astype(object)
    step = Fraction(n, side)
    weight = np.array([[max(Fraction(0), min(i + 1, (x + 1) * step) - max(i, x * step)) for i in range(n)]
                       for x in range(side)], dtype=object)
    mean = weight.dot(square).dot(weight.T) / step ** 2
    return np.array([[int((2 * v + 1) // 2) for v in row] for row in mean])
for k, size in enumerate([(13, 9), (9, 14), (8, 8), (16, 24), (5, 5)]):
    put("sizes/%s/%d.png" % ("ab"[k % 2], k), png(*size, 0, 8))
put("sizes/a/even.png", png(24, 24, 0, 8))
put("sizes/b/even.png", png(48, 24, 0, 8))
for side in 2, 6, 7, 12:
    got, _ = fptrain("sizes", "--set", "data.size=%d" % side, "--set", "data.test_share=0.3")
    whole = [x.tolist() for x in np.concatenate([got["x_train"], got["x_test"]])]
    for root, _, files in os.walk("sizes"):
        for f in files:
            path = os.path.join(root, f)
            assert exact(np.asarray(Image.open(path)), side).tolist() in whole, (path, side)
            if f == "even.png" and side in (6, 12):  # by 2 or 4, where Pillow is exact
                middle = Image.open(path).crop((0, 0, 24, 24) if root.endswith("a") else (12, 0, 36, 24))
                assert np.asarray(middle.reduce(24 // side)).tolist() in whole, (path, side)

# JPEG, grey and in colours of half the resolution, where libjpeg is there
os.makedirs("jpeg/a")
os.makedirs("jpeg/b")
smooth = np.asarray(Image.fromarray(rng.integers(0, 256, (5, 6, 3)).astype("u1")).resize((33, 27)))
for name, options in (("a/1.jpg", {}), ("a/2.JPEG", {"quality": 95, "subsampling": 0}),
                      ("b/3.jpg", {"progressive": True}), ("b/4.jpg", {"quality": 30})):
    Image.fromarray(smooth).save("jpeg/" + name, "JPEG", **options)
Image.fromarray(smooth[:, :, 0]).save("jpeg/b/5.jpg")
try:
    got, _ = fptrain("jpeg", "--set", "data.test_share=0.5")
    whole = {x.tobytes() for x in np.concatenate([got["x_train"], got["x_test"]])}
    for f in ("a/1.jpg", "a/2.JPEG", "b/3.jpg", "b/4.jpg", "b/5.jpg"):
        x = np.asarray(Image.open("jpeg/" + f).convert("RGB")).transpose(2, 0, 1)
        assert x.tobytes() in whole, f
    open("jpeg-is-read", "w")
except AssertionError as error:
    if "made without libjpeg" not in str(error):
        raise

# JPEG in many scans of a few bytes, and one whose coefficients would not have room
def segment(marker, body):
    return bytes([255, marker]) + struct.pack(">H", len(body) + 2) + body
def scans(side, components, count, more=b""):
    """The first coefficient of all components, then bits of the others: each code is 0 and says that none is there."""
    file = b"\xff\xd8" + segment(0xdb, b"\0" + bytes(range(8, 72))) + more
    file += segment(0xc2, struct.pack(">BHHB", 8, side, side, components) +
                    b"".join(bytes([i + 1, 0x11, 0]) for i in range(components)))
    file += b"".join(segment(0xc4, bytes([table, 1] + 15 * [0] + [0])) for table in (0, 16))
    first = segment(0xda, bytes([components]) + b"".join(bytes([i + 1, 0]) for i in range(components)) + bytes(3))
    bits = [segment(0xda, bytes([1, c + 1, 0, k, k, (bit + 1) % 14 << 4 | bit])) + b"\x7f"
            for c in range(components) for k in range(1, 64) for bit in range(13, -1, -1)]
    return file + first + b"\x1f" + b"".join(bits[:count - 1]) + b"\xff\xd9"
padding = 5 * segment(0xfe, bytes(65533))

# Defects
good = png(8, 8, 2, 8)
def bad(name, data, file="1.png"):
    put("bad-%s/a/%s" % (name, file), data)
    put("bad-%s/b/1.png" % name, good)
for cut in range(0, len(good), 7):
    bad("cut%d" % cut, good[:cut])
bad("flip", good[:-20] + bytes([good[-20] ^ 8]) + good[-19:])
bad("size", png(9, 8, 2, 8))
bad("kind", b"GIF89a", "1.gif")
bad("nothing", b"x", "1.txt")
bad("name", b"GIF89a")
def huge(width, height):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return good[:16] + header + struct.pack(">I", zlib.crc32(b"IHDR" + header)) + good[33:]
bad("huge", huge(16384, 16384))
bad("huge-colours", huge(16384, 16384) + bytes(700000)) # of as many bits, and of a 24th as many pixels
bad("huger", huge(1 << 30, 4))
bad("scans", scans(8, 1, 101), "1.jpg")
bad("most-scans", scans(8, 3, 1 + 3 * 63 * 14), "1.jpg")
bad("coefficients", scans(16384, 3, 2, padding), "1.jpg")
bad("pixels", scans(16384, 1, 2, padding[:131074]), "1.jpg")
for file in "a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg":
    put("scans/" + file, scans(8, 3, 100))
for kind in b"sPLT", b"tEXt", b"iCCP", b"eXIf", b"sCAL", b"hIST", b"noNe":  # of which hardly a byte is there
    bad("said-" + kind.decode(), good[:33] + b"\x7f\xff\xff\xf0" + kind + b"some")
for path in sorted(os.listdir(".")):  # what they say is not reserved, and then cleared
    if path.startswith("bad-said") or path == "bad-coefficients":
        subprocess.run([os.environ["FPTRAIN"], "data", path], capture_output=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
assert most < 1 << 30, "%d bytes in memory" % most
bad("nested", good, "deep/1.png")
put("alone/a/1.png", good)
put("bad-above/1.png", good)
put("bad-above/a/1.png", good)
put("bad-class/train/a/1.png", good)
put("bad-class/train/b/1.png", good)
put("bad-class/test/c/1.png", good)
jpeg = open("jpeg/a/1.jpg", "rb").read()
bad("jpeg", jpeg[:len(jpeg) - 40], "1.jpg")
END
python3 judge.py || { failed 'judge.py'; finish; }

for d in bad-cut*; do
    fails_data "$d/a/1.png: " "$d"
done
fails_data 'damaged PNG data' bad-flip
fails_data 'bad-size/b/1.png: 8 x 8 pixels, those before have 9 x 8 (data.size = N makes all N x N)' bad-size
fails_data 'bad-kind/a/1.gif: a picture of a kind that is not read; PNG and JPEG are' bad-kind
fails_data 'bad-nothing/a: no pictures' bad-nothing
fails_data 'bad-name/a/1.png: neither PNG nor JPEG' bad-name
fails_data '16384 x 16384 pixels do not come out of' bad-huge
fails_data '16384 x 16384 pixels do not come out of 70' bad-huge-colours
fails_data '1073741824 x 4 pixels; at most 16384 x 16384 can be' bad-huger
for d in bad-said-*; do
    fails_data "$d/a/1.png: damaged PNG data (truncated)" "$d"
done
fails_data 'one class alone is nothing to learn' alone
! "$FPTRAIN" data alone 2>&1 | grep -q data.classes || failed 'a hint that pictures refuse'
fails_data 'bad-nested/a/deep: a folder in the folder of a class' bad-nested
fails_data 'bad-above/1.png: a picture outside of the folders of classes' bad-above
fails_data 'bad-class/test/c: a class that those for training do not have' bad-class
if [ -e jpeg-is-read ]; then
    fails_data 'bad-jpeg/a/1.jpg: damaged JPEG data' bad-jpeg
    fails_data 'bad-scans/a/1.jpg: a JPEG picture in more than 100 scans' bad-scans
    fails_data 'bad-most-scans/a/1.jpg: a JPEG picture in more than 100 scans' bad-most-scans
    fails_data '16384 x 16384 pixels of a JPEG picture in several scans take 2415919104 bytes' bad-coefficients
    fails_data '16384 x 16384 pixels do not come out of 131' bad-pixels
    "$FPTRAIN" data scans --set data.test_share=0.5 >out 2>&1 || failed "100 scans: $(cat out)"
else
    fails_data 'which this build does not read' bad-jpeg
fi
"$FPTRAIN" data set --set data.test=hidden --set data.size=8 --png sheet.png --columns 3 --rows 2 >/dev/null ||
    failed 'a sheet'
"$FPTRAIN" run --data set --model resnet20 --set data.test=hidden --epochs 1 >out 2>&1 || failed "a run: $(cat out)"
finish
