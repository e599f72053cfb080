# SPDX-License-Identifier: BSD-2-Clause
"""The seeds of the corpus for the files of the trainer, good-... and bad-... by whether they are to be read or refused.

    python3 trainer_seeds.py DIRECTORY
"""
import gzip
import io
import json
import lzma
import os
import struct
import sys
import zipfile
import zlib

root = sys.argv[1]


def put(kind, name, data):
    os.makedirs(os.path.join(root, kind), exist_ok=True)
    with open(os.path.join(root, kind, name), "wb") as f:
        f.write(data)


def pack_gz(data):
    return gzip.compress(data, 9, mtime=0)


def pack_xz(data):
    return lzma.compress(data, preset=0)  # a small dictionary: the fuzzer spends its time on other things


def idx(shape, data, kind=8):
    return bytes([0, 0, kind, len(shape)]) + struct.pack(">%dI" % len(shape), *shape) + data


images = idx([2, 2, 3], bytes(range(12)))
labels = idx([5], b"\5\0\4\1\x09")
put("idx", "good-images", images)
put("idx", "good-labels", labels)
put("idx", "good-gz", pack_gz(images))
put("idx", "good-xz", pack_xz(images))
put("idx", "good-members", pack_gz(images[:9]) + pack_gz(images[9:]))
put("idx", "bad-short", images[:-1])
put("idx", "bad-long", labels + b"x")
put("idx", "bad-type", idx([1], b"1234", 13))
put("idx", "bad-dimensions", idx([2, 2], b"1234"))
put("idx", "bad-zero", idx([0], b""))
put("idx", "bad-huge", idx([2**32 - 1, 4096, 4096], b"1"))
put("idx", "bad-gz-cut", pack_gz(images)[:-9])
put("idx", "bad-gz-crc", pack_gz(images)[:-8] + bytes(8))
put("idx", "bad-xz-cut", pack_xz(images)[:-9])
put("idx", "bad-gz-tail", pack_gz(labels) + b"tail")

record = bytes([7]) + bytes(k * 5 % 256 for k in range(3072))
put("cifar", "good-10", record)
put("cifar", "good-gz", pack_gz(2 * record))
put("cifar", "good-xz", pack_xz(3 * record))
put("cifar", "good-100-xz", pack_xz(bytes([3, 99]) + bytes(3072)))
put("cifar", "bad-none", b"")
put("cifar", "bad-label", pack_xz(bytes([10]) + bytes(3072)))
put("cifar", "bad-label-100", pack_xz(bytes([0, 100]) + bytes(3072)))
put("cifar", "bad-cut", pack_gz(record[:-1]))

put("text", "good-words", b"to be or not to be, that is the question")
put("text", "good-bytes", bytes(range(1, 256)))
put("text", "good-gz", pack_gz(b"abc" * 20))
put("text", "bad-short", b"nine char")
put("text", "bad-none", b"")

put("utf8", "good-ascii", b"to be or not to be, that is the question")
put("utf8", "good-all", "aß€\U00010000\U0010ffff".encode() * 5)
put("utf8", "good-gz", pack_gz("中文字".encode() * 9))
put("utf8", "bad-short", "€".encode() * 9)
put("utf8", "bad-cut", b"x" * 30 + b"\xe2\x82")
put("utf8", "bad-overlong", b"x" * 30 + b"\xc0\xaf")
put("utf8", "bad-surrogate", b"x" * 30 + b"\xed\xa0\x80")
put("utf8", "bad-beyond", b"x" * 30 + b"\xf4\x90\x80\x80")


def npy(code, shape, data, fortran=False):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (code, fortran, shape)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + data


def npz(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


pixels = npy("|u1", (4, 3, 5, 2), bytes(range(120)))
few = npy("<i8", (4,), struct.pack("<4q", 0, 1, 1, 2))
put("array", "good-bytes", pixels)
put("array", "good-fortran", npy(">f4", (4, 2), struct.pack(">8f", *range(8)), True))
put("array", "good-half", npy("<f2", (2, 2, 2), struct.pack("<8e", *range(8))))
put("array", "good-labels", few)
put("array", "good-gz", pack_gz(few))
put("array", "bad-nan", npy("<f8", (1, 2), struct.pack("<2d", 0, float("nan"))))
put("array", "bad-beyond", npy("<f8", (1, 2), struct.pack("<2d", 0, 1e300)))
put("array", "bad-short", pixels[:-1])
put("array", "bad-long", pixels + b"x")
put("array", "bad-huge", npy("<f8", (1 << 20, 1 << 20), bytes(100)))
put("array", "bad-product", npy("<f8", (1 << 40, 1 << 40), bytes(100)))
put("array", "bad-wraps", npy("|u1", ((1 << 32) + 3,), bytes(3)))  # 2^32 is 0 where sizes have 32 bits
put("array", "bad-empty", npy("<f8", (0, 3), b""))
put("array", "bad-type", npy("<c8", (1,), bytes(8)))
put("array", "bad-string", npy("|S99999", (1, 2), bytes(2 * 99999)))
put("array", "bad-channels", npy("|u1", (2, 3, 3, 3), bytes(54)))
put("array", "bad-label", npy("<u8", (1,), b"\xff" * 8))
put("array", "bad-dimensions", npy("|u1", (1, 1, 1, 1, 1), b"1"))
put("archive", "good-pair", npz(x=pixels, y=few))
put("archive", "good-parts", npz(x_train=pixels, y_train=few, x_test=pixels, y_test=few,
                                 classes=npy("|S1", (3,), b"abc")))
put("archive", "bad-names", npz(a=pixels, b=few))
put("archive", "bad-count", npz(x=pixels, y=npy("|u1", (3,), b"123")))
put("archive", "bad-part", npz(x_train=pixels, y_train=few, x_test=pixels))
put("archive", "bad-unlike", npz(x_train=pixels, y_train=few, x_test=npy("|u1", (4, 9), bytes(36)), y_test=few))
put("archive", "bad-cut", npz(x=pixels, y=few)[:-30])
put("archive", "bad-short", npz(x=pixels[:-1], y=few))
put("tokens", "good-few", struct.pack("<4H", 1, 2, 3, 65535))
put("tokens", "good-xz", pack_xz(bytes(64)))
put("tokens", "bad-odd", b"123")
put("tokens", "bad-none", b"")


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, colour, depth, data, extra=b"", interlaced=0):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(data)) +
            chunk(b"IEND", b""))


put("picture", "good-grey", png(4, 2, 0, 8, b"\0abcd\1efgh"))
put("picture", "good-bits", png(9, 2, 0, 1, b"\0ab\0cd"))
put("picture", "good-colours", png(2, 2, 2, 8, b"\0abcdef\4ghijkl"))
put("picture", "good-palette", png(3, 1, 3, 2, b"\0\x1b", chunk(b"PLTE", bytes(12)) + chunk(b"tRNS", b"\0\1")))
put("picture", "good-deep", png(1, 1, 6, 16, b"\0abcdefgh"))
put("picture", "good-interlaced", png(2, 2, 0, 8, b"\0a\0b\0cd", interlaced=1))
put("picture", "bad-cut", png(4, 2, 0, 8, b"\0abcd\1efgh")[:-20])
put("picture", "bad-data", png(4, 2, 0, 8, b"\0abcd"))
put("picture", "bad-filter", png(4, 1, 0, 8, b"\5abcd"))
put("picture", "bad-huge", png(16384, 16384, 2, 8, b"\0"))
put("picture", "bad-said", png(4, 2, 0, 8, b"\0abcd\1efgh")[:33] + b"\x73\x73\x73\x73sPLTsome")
put("picture", "bad-zero", png(0, 1, 0, 8, b"\0"))
put("picture", "bad-kind", b"GIF89a")


def segment(marker, body):
    return bytes([255, marker]) + struct.pack(">H", len(body) + 2) + body


def coded(bits):
    bits += "1" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")


def jpeg(kind, width, height, sampling, scans, extra=b""):
    """Scans are (components, first and last coefficient, high and low bit, bits). Codes of the first coefficient: 0 no
    change, 10 and 4 bits of one; of the others: 0 the end of the block, 10 and a bit: +-1, 110 and a bit: after 2."""
    frame = b"".join(bytes([i + 1, s, 0]) for i, s in enumerate(sampling))
    file = b"\xff\xd8" + segment(0xDB, b"\0" + bytes(range(8, 72)))
    file += segment(kind, struct.pack(">BHHB", 8, height, width, len(sampling)) + frame)
    file += segment(0xC4, b"\0" + bytes([1, 1] + 14 * [0]) + b"\0\4")
    file += segment(0xC4, b"\x10" + bytes([1, 1, 1] + 13 * [0]) + b"\0\1\x21") + extra
    for components, first, last, bit, bits in scans:
        selected = b"".join(bytes([c, 0]) for c in components)
        file += segment(0xDA, bytes([len(components)]) + selected + bytes([first, last, bit]))
        file += b"".join(bytes([255, 0xD0 + (k - 1) % 8]) * (k > 0) + coded(b) for k, b in enumerate(bits.split("R")))
    return file + b"\xff\xd9"


def many(count):
    """Scans of a picture of one block: the first coefficient, then every bit of each of the others."""
    rest = [([1], k, k, (bit + 1) % 10 << 4 | bit, "0") for k in range(1, 64) for bit in range(9, -1, -1)]
    return jpeg(0xC2, 8, 8, [0x11], [([1], 0, 0, 0, "101000")] + rest[:count - 1])


block, flat = "101100" + "101" + "1100" + "0", "00"
whole = ([1], 0, 63, 0, block + flat + block + flat)
put("picture", "good-jpeg-grey", jpeg(0xC0, 11, 9, [0x11], [whole]))
put("picture", "good-jpeg-colours", jpeg(0xC0, 17, 5, [0x22, 0x11, 0x11],
                                         [([1, 2, 3], 0, 63, 0, (4 * block + block + flat) + 6 * flat)]))
put("picture", "good-jpeg-restarts", jpeg(0xC1, 11, 9, [0x11], [([1], 0, 63, 0, block + "R" + flat + "R00R" + block)],
                                          segment(0xDD, b"\0\1")))
put("picture", "good-jpeg-scans", jpeg(0xC0, 8, 8, [0x11, 0x11, 0x11], [([c], 0, 63, 0, block) for c in (1, 2, 3)]))
put("picture", "good-jpeg-progressive", jpeg(0xC2, 9, 8, [0x21, 0x11, 0x11], [
    ([1, 2, 3], 0, 0, 1, "101100" + "0" + "101001" + "0"), ([1], 1, 5, 2, "1010" + "0"), ([2], 1, 63, 1, "11000"),
    ([3], 1, 63, 1, "0"), ([1], 6, 63, 2, "00"), ([1], 1, 63, 0x21, "0" + "1" + "0"), ([1, 2, 3], 0, 0, 0x10, "1010"),
    ([2], 1, 63, 0x10, "01"), ([3], 1, 63, 0x10, "0"), ([1], 1, 63, 0x10, "0" + "1" + "0")]))
put("picture", "good-jpeg-many", many(100))
put("picture", "bad-jpeg-many", many(101))
put("picture", "bad-jpeg-cut", jpeg(0xC0, 11, 9, [0x11], [whole])[:-4])
put("picture", "bad-jpeg-four", jpeg(0xC0, 8, 8, 4 * [0x11], [([1, 2, 3, 4], 0, 63, 0, 4 * block)]))
put("picture", "bad-jpeg-huge", jpeg(0xC2, 16384, 16384, [0x11], [([1], 0, 0, 0, "0")]))
put("picture", "jpeg-arithmetic", jpeg(0xC9, 11, 9, [0x11], [whole]))  # not every libjpeg has it

put("settings", "good-none", b"")
put("settings", "good-all", b"""[model]
name = resnet20
width = 0.5
projections = yes
norm = no
[data]
source = cifar10:data
seed = 18446744073709551615
limit = 1000
pad = 32
crop = 4
flip = yes
[train]
epochs = 10
batch = 128
lr = 0.1
schedule = step:5,8
threads = 2
fanout = each
[policy]
name = fixed
[scaler]
name = backoff
scale = 65536
interval = 100
[optimizer]
name = nesterov
momentum = 0.9
decay = 5e-4
master = no
[formats]
v = e4m3fn:saturate
w = fp(4,3,4) rne
dv = e5m2 sr
conv1.* = mx(e2m1, block=16)
*.bias = fp32
[output]
directory = out
log_every = 5
""")
put("settings", "good-layout", b"\xef\xbb\xbf# first\r\n[train]\r\n  lr : 1e-3 ; rate\r\n\r\n; last")
put("settings", "bad-section", b"[nets]\na = 1\n")
put("settings", "bad-key", b"[train]\nspeed = 1\n")
put("settings", "bad-value", b"[train]\nlr = fast\n")
put("settings", "bad-twice", b"[train]\nlr = 1\nlr = 1\n")
put("settings", "bad-format", b"[formats]\nw = e99m1\n")
put("settings", "bad-mode", b"[formats]\nw = e4m3fn up\n")
put("settings", "bad-long", b"[data]\nsource = " + b"x" * 300)
put("settings", "bad-control", b"[train]\nlr = 1\0\n")
put("settings", "bad-line", b"[train]\nlr\n")


def checkpoint(entries, texts=(), change=lambda header: header, tail=b"", checked=True):
    """The layout that checkpoint.h states: entries of (name, type, shape, bytes)."""
    metadata, place = dict(texts), 0
    if checked:
        metadata = {"checksum": "crc32 00000000 of 00000000000000000000 bytes", **metadata}
    header = {"__metadata__": metadata} if metadata else {}
    for name, kind, shape, data in entries:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [place, place + len(data)]}
        place += len(data)
    text = change(json.dumps(header, separators=(",", ":")).encode())
    text += b" " * (-len(text) % 8)
    whole = struct.pack("<Q", len(text)) + text + b"".join(data for _, _, _, data in entries) + tail
    if not checked:
        return whole
    whole = whole[:55] + b"%020d" % len(whole) + whole[75:]
    return whole[:43] + b"%08x" % zlib.crc32(whole) + whole[51:]


few = [("run.position", "U64", [2], struct.pack("<QQ", 12, 1)),
       ("conv1.weight", "F32", [1, 1, 5, 5], bytes(range(100))), ("scaler.state", "U8", [3], b"abc"),
       ("empty", "U8", [0], b"")]
put("checkpoint", "good-few", checkpoint(few, {"settings": "[model]\nname = lenet\n"}))
put("checkpoint", "good-none", checkpoint([]))
put("checkpoint", "good-one", checkpoint([("x" * 255, "U8", [1], b"1")]))
put("checkpoint", "bad-cut", checkpoint(few)[:-1])
put("checkpoint", "bad-tail", checkpoint(few, tail=b"x"))
put("checkpoint", "bad-twice", checkpoint([("a", "U8", [1], b"1"), ("b", "U8", [1], b"2")],
                                          change=lambda h: h.replace(b'"b"', b'"a"')))
put("checkpoint", "bad-name", checkpoint([("", "U8", [1], b"1")]))
put("checkpoint", "bad-long", checkpoint([("x" * 256, "U8", [1], b"1")]))
put("checkpoint", "bad-zero", checkpoint([("a\0b", "U8", [1], b"1")]))
put("checkpoint", "bad-offset", checkpoint(few, change=lambda h: h.replace(b"[0,16]", b"[1,17]")))
put("checkpoint", "bad-shape", checkpoint(few, change=lambda h: h.replace(b"[1,1,5,5]", b"[1,1,5,922337203685477580]")))
put("checkpoint", "bad-number", checkpoint(few, change=lambda h: h.replace(b"[0,16]", b"[0,1e9]")))
put("checkpoint", "bad-text", checkpoint(few, {"n": "x"}, change=lambda h: h.replace(b'"n":"x"', b'"n":[1]')))
put("checkpoint", "bad-json", checkpoint(few, change=lambda h: h[:-1]))
put("checkpoint", "bad-crc", checkpoint(few)[:-1] + b"x")
put("checkpoint", "bad-old", b"\x89FPTRN\r\n" + bytes(32))
put("checkpoint", "bad-magic", b"PK\3\4" + bytes(60))

put("network", "good-mlp", b"linear scaled(256), relu\nlinear classes\n")
put("network", "good-residual", b"""# blocks
define norm_conv to stride {
    conv to 3 stride=stride pad=1 bias=no, batch_norm
}
norm_conv 8 1, relu
repeat 2 { branch add { norm_conv 8 1, relu } { } }
branch add { norm_conv 16 2 } { shortcut 2*channels stride=2 }, relu
branch concat { slice 0 channels/2 } { slice channels/2 channels/2, relu6 }, shuffle 2
branch concat { max_pool 3 stride=2 pad=1 } { average_pool 3 stride=2 pad=1, tanh } { average_pool 2 }
dropout 0.5, sigmoid, global_pool, layer_norm, linear classes name=head
""")
put("network", "good-text", b"let d = 3*4\r\nembedding d, positions\r\nlinear 3*d, attention heads=3, lstm (d+4)/2\n"
    b"linear classes bias=no")
put("network", "bad-none", b"")
put("network", "bad-layer", b"linea 10")
put("network", "bad-argument", b"conv 10 3 up=1")
put("network", "bad-value", b"linear 0")
put("network", "bad-expression", b"linear ((((((1+2)*3)")
put("network", "bad-number", b"linear 123456789123456789123456789")
put("network", "bad-rest", b"linear 10/(3-3)")
put("network", "bad-open", b"repeat 3 { relu\n")
put("network", "bad-close", b"relu }\n")
put("network", "bad-deep", b"repeat 2 {" * 17 + b"relu" + b"}" * 17)
put("network", "bad-long", b"repeat 65536 { repeat 65536 { let a = 1 } }")
put("network", "bad-self", b"define f { f, f }\nf\n")
put("network", "bad-large", b"repeat 9 { branch concat { } { }, conv 65536 1 pad=4096 }")
put("network", "bad-many", b"repeat 65536 { relu }")
put("network", "bad-branch", b"branch add { conv 4 1 } { }")
put("network", "bad-end", b"linear 11")
put("network", "bad-name", b"repeat 2 { relu name=a }\nlinear classes")
put("network", "good-zero", b"linear 10\0 x")

net = b"""[model]
name = own.net
[network]
# its layers [or so]
conv 8 3, relu
  linear classes

[train]
lr = 0.5
"""
put("settings", "good-network", net)
put("settings", "bad-network", net.replace(b"own.net", b"mlp"))
put("settings", "bad-networks", net + b"[network]\nrelu\n")
put("settings", "bad-network-control", net.replace(b"relu", b"re\1u"))

line = b'{"step":10,"epoch":1,"loss":2.5,"scale":1024,"skipped_so_far":0,"seconds":1,'
old = line + b"""\
"tensors":[{"name":"a.dv","role":"dv","count":9,"underflow":2,"alpha":4,"histogram":{"first":-3,"counts":[1,5,2]}}],\
"updates":{"count":9,"first":-5,"counts":[8,2],"mean_move":0.5},"sums":{"count":3,"swamped":1}}
{"step":10,"epoch":1,"test_loss":"inf","test_accuracy":0.5,"test_accuracy_fp32":"nan","seconds":2}
{"step":10,"policy_epoch":0,"bits":8,"p":0.5,"threshold":2.5,"switched":true}
"""
first = b"""\
{"log":2,"run":"0","machine":{"processor":"x"},"counters":["count","underflow"],"names":{"v":["a.v"],"dv":["a.dv"]}}
"""
new = first + line + b"""\
"tensors":[0,[9,2,{"alpha":4,"histogram":{"first":-3,"counts":[1,5,2],"zeros":1}}]]}
{"step":11,"stopped":"the loss is no number"}
"""
put("log", "good-none", b"")
put("log", "good-old", old)
put("log", "good-new", new)
put("log", "good-being-written", new[:-9])
put("log", "good-far", line + b"""\
"tensors":[{"name":"a","role":"v","count":9223372036854775807,"histogram":{"first":9223372036854775807,"counts":[1,5]}},
""".strip() + b"""\
{"name":"b","role":"w","histogram":{"first":-9223372036854775808,"counts":[-1,9223372036854775807]}}],\
"updates":{"first":9223372036854775807,"counts":[1,2,3]}}
""")
put("log", "good-other-kinds", first + line +
    b'"tensors":[[[],{},"x",{"histogram":7}],[],3],"updates":[1],"sums":"x"}\n')
put("log", "good-odd-names", b'{"log":2,"counters":[1,"a,\\"b",{}],"names":{"v":[7,"\\n"],"w":3}}\n' + line +
    b'"tensors":[[1,2,3],[4,5,6]]}\n')
put("log", "bad-version", new.replace(b'"log":2', b'"log":3', 1))
put("log", "bad-late", old + new)
put("log", "bad-step", old.replace(b'"step":10', b'"step":-1', 1))
put("log", "bad-array", b"[1]\n")
put("log", "bad-json", line + b"\n")
put("log", "bad-twice", line + b'"loss":3}\n')
put("log", "bad-deep", b"[" * 5000 + b"\n")
half = [("fc.weight", "F16", [2, 2], bytes(8)), ("fc.bias", "BF16", [2], bytes(4)), ("n", "NEW", [3], b"abcde")]
put("weights", "good-half", checkpoint(half, {"format": "pt"}, checked=False))
put("weights", "good-none", checkpoint([], checked=False))
put("weights", "good-checkpoint", checkpoint(few))
put("weights", "bad-checkpoint", checkpoint(few)[:-3])
put("weights", "bad-size", checkpoint([("x", "F16", [2], bytes(2))], checked=False))
put("weights", "bad-length", struct.pack("<Q", 1 << 63) + b"{}")
put("weights", "bad-start", b"{}")

put("names", "good-few", b"# names\n\nfeatures.0.* = conv1.*\n*.num_batches =\n")
put("names", "good-order", b"*.a.*.b = \\2.\\1.x.\\2\n* = *\n")
put("names", "good-list", b"a.* = b.*\n# , c = d, * = *")
put("names", "good-stars", b"*a*a*a*a*a*a*a*a*b = \\9*\\1\n# aaaaaaaaaaaaaaaa\n")
put("names", "good-none", b"")
put("names", "bad-rule", b"features.0\n")
put("names", "bad-pattern", b" = b\n")
put("names", "bad-stars", b"********** = b\n")
put("names", "bad-more", b"a* = **\n")
put("names", "bad-which", b"a* = \\2\n")
put("names", "bad-inside", b"2" + 15 * b"\x99" + b"2" + 49 * b"\x99" + b" ")  # once wrote past the end of a message
put("names", "bad-zero", b"a\0* = b*\n")

speeds = {"fp32": 6700, "fp16": 26900, "int8": 107600}
shaped = {"m": 64, "n": 4096, "k": 576, **speeds}


def hardware(rows, **more):
    return json.dumps({"name": "one", "bandwidth": 616, "rows": rows, **more}).encode()


put("hardware", "good-one", hardware([speeds]))
put("hardware", "good-rows", hardware([shaped, {**shaped, "m": 1e-300, "n": 1e300}, speeds]))
put("hardware", "good-small", hardware([{**speeds, "int8": 1e-320}], bandwidth=1e-320))
put("hardware", "good-name", hardware([speeds], name="\x1b[31m" + 40 * "\u20ac"))
put("hardware", "bad-none", hardware([]))
put("hardware", "bad-shape", hardware([{"m": 1, **speeds}]))
put("hardware", "bad-zero", hardware([{**speeds, "fp16": 0}]))
put("hardware", "bad-bandwidth", hardware([speeds], bandwidth=-1))
put("hardware", "bad-name", hardware([speeds], name=1))
put("hardware", "bad-twice", hardware([speeds])[:-1] + b', "name": "two"}')
put("hardware", "bad-cut", hardware([speeds])[:-1])
