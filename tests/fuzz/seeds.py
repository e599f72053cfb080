# SPDX-License-Identifier: BSD-2-Clause
"""The seeds of the corpus: small files of every kind, good-... and bad-... by whether they are to be read or refused.

    python3 seeds.py DIRECTORY
"""
import io
import json
import os
import struct
import sys
import zipfile
import zlib

root = sys.argv[1]
made = {}


def put(kind, name, data):
    made[kind, name] = data
    os.makedirs(os.path.join(root, kind), exist_ok=True)
    with open(os.path.join(root, kind, name), "wb") as f:
        f.write(data)


def npy(descr, shape, data, fortran=False, version=1):
    header = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    length = struct.pack("<H" if version == 1 else "<I", len(header) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + b"\n" + data


arrays = {
    "f4": npy("'<f4'", "(2, 3)", struct.pack("<6f", 0, 1, -2, 0.3, 1e30, float("inf"))),
    "f4-big": npy("'>f4'", "(2,)", struct.pack(">2f", 1, -0.5), version=2),
    "f8-fortran": npy("'<f8'", "(2, 1)", struct.pack("<2d", 1, float("nan")), True, 3),
    "f2": npy("'<f2'", "(1, 2, 2)", struct.pack("<4e", 1, -2, 0.5, 65504)),
    "scalar": npy("'<f4'", "()", struct.pack("<f", 7)),
    "empty": npy("'<f4'", "(0, 5)", b""),
}
others = {
    "i8": npy("'<i8'", "(2,)", struct.pack("<2q", 1, 2)),
    "records": npy("[('a', '<f4'), ('b', 'S2', (2,))]", "(1,)", bytes(8)),
}
for name, data in arrays.items():
    put("npy", "good-" + name, data)
put("npy", "bad-short", arrays["f4"][:-1])
put("npy", "bad-long", arrays["f4"] + b"\0")
put("npy", "bad-records", others["records"])
put("npy", "bad-huge", npy("'<f4'", "(4294967296, 4294967296, 4)", b""))


def archive(method, members, zip64=False):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with z.open(info, "w", force_zip64=zip64) as f:
                f.write(data)
    return out.getvalue()


members = {name + ".npy": data for name, data in (arrays | others).items()}
few = {"a.npy": arrays["f4"], "b/c.npy": arrays["f2"], "readme.txt": b"text"}
put("npz", "good-stored", archive(zipfile.ZIP_STORED, members))
put("npz", "good-deflated", archive(zipfile.ZIP_DEFLATED, members))
put("npz", "good-few", archive(zipfile.ZIP_STORED, few))
put("npz", "good-few-deflated", archive(zipfile.ZIP_DEFLATED, few))
put("npz", "good-zip64", archive(zipfile.ZIP_DEFLATED, few, True))
put("npz", "bad-bzip2", archive(zipfile.ZIP_BZIP2, {"a.npy": arrays["f4"]}))
stored = archive(zipfile.ZIP_STORED, {"a.npy": arrays["f4"]})
put("npz", "bad-crc", stored.replace(b"\x9a\x99\x99>", b"\x9a\x99\x99?", 1))
put("npz", "bad-empty", archive(zipfile.ZIP_STORED, {}))


def tensors(entries, metadata=None, tail=b"", spaces=0):
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, values) in entries.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode() + b" " * spaces
    return struct.pack("<Q", len(text)) + text + data + tail


every = {"x." + t: (t, [2, 2], bytes(range(4 * bits // 8)))
         for t, bits in (("F64", 64), ("F32", 32), ("BF16", 16), ("F16", 16), ("F8_E4M3", 8), ("F8_E5M2", 8),
                         ("F8_E4M3FNUZ", 8), ("F8_E5M2FNUZ", 8), ("F8_E8M0", 8), ("I64", 64), ("BOOL", 8), ("F4", 4),
                         ("F6_E2M3", 6), ("NEW", 8))}
put("safetensors", "good-every", tensors(every, {"format": "pt"}, spaces=5))
put("safetensors", "good-one", tensors({"w": ("F32", [3], bytes(12))}))
put("safetensors", "good-scalar-and-empty", tensors({"s": ("BF16", [], b"\x80?"), "e": ("F32", [0, 7], b""),
                                                "t": ("F32", [1], bytes(4))}))
put("safetensors", "good-none", tensors({}))
put("safetensors", "good-names", tensors({"a\u00e9\u4e16/\u0001\"": ("F16", [1], bytes(2)), "": ("U8", [1], b"!")}))
put("safetensors", "bad-tail", tensors({"w": ("F32", [1], bytes(4))}, tail=b"x"))
text = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}'
put("safetensors", "bad-overlap", struct.pack("<Q", len(text)) + text + bytes(6))
text = b'{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}'
put("safetensors", "bad-product", struct.pack("<Q", len(text)) + text)
text = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}'
put("safetensors", "bad-twice", struct.pack("<Q", len(text)) + text + bytes(2))
put("safetensors", "bad-long-header", struct.pack("<Q", 1 << 62) + b"{}")

# Headers alone: the reader's test puts the length before them.
put("safetensors", "good-header", tensors(every, {"format": "pt"})[8:])
put("safetensors", "good-header-one", tensors({"w": ("F32", [3], bytes(12))})[8:])


def container(entries, change=lambda header: header, place=1024):
    """Packed tensors: (name, dtype, shape, spec, axis, data); the data of scalar formats packed by hand."""
    parts, body = [], b""
    for name, dtype, shape, spec, axis, data in entries:
        body += bytes(-len(body) % 64)
        entry = {"name": name, "dtype": dtype, "shape": shape}
        if spec is not None:
            entry |= {"spec": spec, "axis": axis}
        parts.append(entry | {"offset": place + len(body), "size": len(data)})
        body += data + struct.pack("<I", zlib.crc32(data))
    text = change(json.dumps({"tensors": parts, "metadata": {"k": "v"}})).ljust(place - 24).encode()
    return b"\x89FPEMU\r\n" + struct.pack("<IIQ", 1, zlib.crc32(text), len(text)) + text + body


packed = [("a", "F32", [4], "e2m1", 0, b"\xc2\x71"), ("i", "I64", [1], None, 0, bytes(8)),
          ("b", "BF16", [2, 32], "mxfp4", 1, bytes(2 + 32)), ("c", "F16", [], "e4m3fn", 0, b"8"),
          ("d", "F64", [0, 3], "int8", 1, b"")]
put("container", "good-few", container(packed))
put("container", "good-none", container([]))
put("container", "good-blocks", container([
    ("n", "F32", [1, 16], "nvfp4", 1, bytes(8 + 1 + 8)), ("s", "F32", [2, 2], "s2fp8", 1, bytes(8 + 4)),
    ("k", "F32", [65], "nf4", 0, bytes(8 + 33)), ("t", "F32", [3, 3], "mx(e2m3,block=2x2)", 1, bytes(4 + 8))]))
headers = (container(packed, place=64 * i)[24:] for i in range(2, 20))
put("container", "good-header", next(h[:h.rindex(b"}") + 1] for h in headers if b"} " in h))
put("container", "bad-size", container([("a", "F32", [4], "e2m1", 0, bytes(3))]))
put("container", "bad-spec", container([("a", "F32", [4], "e99m1", 0, bytes(2))]))
put("container", "bad-axis", container([("a", "F32", [4], "mxfp4", 1, bytes(3))]))
put("container", "bad-axis-of-scalars", container([("a", "F32", [4, 2], "e2m1", 0, bytes(4))]))
put("container", "bad-axis-of-one", container([("a", "F32", [], "mxfp4", 1, bytes(2))]))
put("container", "bad-copied-size", container([("i", "I64", [1], None, 0, bytes(9))]))
put("container", "good-copied", container([("", "F32", [4], None, 0, bytes(16))]))
put("container", "good-copied-unknown", container([("u", "X3", [2], None, 0, bytes(5))]))
put("container", "good-metadata", container([("__metadata__", "F32", [4], None, 0, bytes(16))]))
put("container", "bad-offset", container(packed, lambda text: text.replace('"offset": 1088', '"offset": 1089')))
put("container", "bad-names", container([packed[0], packed[0]]))
put("container", "bad-checksum", container(packed)[:-1])
put("container", "bad-twice", container(packed, lambda text: text.replace('"k"', '"k": "v", "k"')))
gap = container([packed[0], ("z",) + packed[0][1:]])
put("container", "bad-padding", gap[:1024 + 40] + b"\1" + gap[1024 + 41:])
put("container", "bad-filling", container(packed, lambda text: text + "\n"))


def gguf(tensors, keys=(), version=3, alignment=32, counts=None, tail=b""):
    """Tensors: (name, extents, number of the type, data, or the offset as well); keys: (name, type, bytes)."""
    def text(t):
        t = t.encode() if isinstance(t, str) else t
        return struct.pack("<Q", len(t)) + t
    head, body = b"GGUF" + struct.pack("<IQQ", version, *(counts or (len(tensors), len(keys)))), b""
    for name, kind, value in keys:
        head += text(name) + struct.pack("<I", kind) + value
    for name, extents, kind, data, *offset in tensors:
        head += text(name) + struct.pack("<I%dQ" % len(extents), len(extents), *extents)
        head += struct.pack("<IQ", kind, offset[0] if offset else len(body))
        body += data + bytes(-len(data) % alignment)
    return head + bytes(-len(head) % alignment) + body + tail


blocks = {2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 10: (256, 84), 11: (256, 110),
          12: (256, 144), 13: (256, 176), 14: (256, 210), 20: (32, 18), 23: (256, 136), 39: (32, 17), 40: (64, 36)}
plain = {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2}
every = [("b%d" % kind, [count, 2], kind, bytes(range(size)) + bytes(range(size)[::-1]))
         for kind, (count, size) in blocks.items()]
every += [("p%d" % kind, [2, 1, 2, 1], kind, bytes(range(4 * size))) for kind, size in plain.items()]
u32, string, array = 4, 8, 9
keys = [("general.architecture", string, struct.pack("<Q", 5) + b"llama"), ("n", u32, bytes(4)),
        ("list", array, struct.pack("<IQ", 6, 2) + bytes(8)), ("u64", 10, bytes(8)), ("flag", 7, b"\1"),
        ("tokens", array, struct.pack("<IQQ", string, 2, 1) + b"a" + struct.pack("<Q", 0))]
alignment = ("general.alignment", u32, struct.pack("<I", 8))
one = ("w", [3], 0, bytes(12))
put("gguf", "good-every", gguf(every, keys))
put("gguf", "good-version-2", gguf([one], keys, version=2))
put("gguf", "good-alignment", gguf([one, ("v", [], 0, bytes(4)), ("e", [0, 32], 2, b"")], [alignment], alignment=8))
put("gguf", "good-empty", gguf([("w", [0], 0, b""), ("", [0, 32], 2, b"")]))
put("gguf", "good-none", gguf([]))
for kind in (2, 8, 12, 14, 39):
    put("gguf", "good-block-%d" % kind, gguf([t for t in every if t[2] == kind]))
put("gguf", "bad-version", gguf([one], version=1))
put("gguf", "bad-big-endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0))
put("gguf", "bad-alignment", gguf([one], [("general.alignment", u32, struct.pack("<I", 24))]))
put("gguf", "bad-counts", gguf([one], counts=(1 << 60, 0)))
put("gguf", "bad-keys", gguf([one], counts=(1, 1 << 63)))
put("gguf", "bad-array", gguf([one], [("a", array, struct.pack("<IQ", 8, 1 << 60))]))
put("gguf", "bad-nested", gguf([one], [("a", array, struct.pack("<IQ", array, 1))]))
put("gguf", "bad-product", gguf([("w", [1 << 32, 1 << 32], 0, b"")]))
put("gguf", "bad-dimensions", gguf([("w", [1] * 5, 0, bytes(4))]))
put("gguf", "bad-block", gguf([("w", [33], 8, bytes(68))]))
put("gguf", "bad-type", gguf([("w", [32], 4, bytes(32))]))
put("gguf", "bad-unread", gguf([("w", [256], 16, bytes(66))]))
put("gguf", "bad-overlap", gguf([one, ("v", [3], 0, bytes(12), 0)]))
put("gguf", "bad-gap", gguf([one, ("v", [3], 0, bytes(12), 64)]))
put("gguf", "bad-past-end", gguf([("w", [1 << 40], 0, b"")]))
put("gguf", "bad-name", gguf([(b"\xff", [3], 0, bytes(12))]))
put("gguf", "bad-twice", gguf([one, one[:3] + (bytes(12),)]))
put("gguf", "bad-short", gguf([one])[:-25])
put("gguf", "bad-tail", gguf([one], tail=bytes(33)))

# Layouts of other software in safetensors
ao = {"_type": "MXTensor", "_data": {"is_swizzled_scales": False}}
put("safetensors", "good-layouts", tensors({
    "a_packed": ("U8", [2, 16], bytes(range(32))), "a_scale": ("U8", [2, 1], b"\x7f\xff"),
    "b_packed": ("U8", [8], bytes(range(8))), "b_scale": ("F8_E4M3", [1], b"8"),
    "b_global_scale": ("F32", [1], b"\0\0\x80\x3f"),
    "c": ("F8_E4M3", [64], bytes(range(64))), "c_scale": ("U8", [2], b"\0\x80"),
    "d_blocks": ("U8", [3, 1, 16], bytes(range(48))), "d_scales": ("U8", [3, 1], b"\1\2\3"),
    "m._e_qdata": ("U8", [16], bytes(range(16))), "m._e_scale": ("F8_E8M0", [1], b"\x7f")},
    {"m.e": json.dumps(ao), "tensor_names": "[]", "quantization_config": "{}"}))
put("safetensors", "good-header-layouts", tensors({
    "a_packed": ("U8", [2, 16], bytes(range(32))), "a_scale": ("U8", [2, 1], b"\x7f\xff"),
    "b_packed": ("U8", [8], bytes(range(8))), "b_scale": ("F8_E4M3", [1], b"8"),
    "b_global_scale": ("F32", [], b"\xff\xff\x7f\x7f"),
    "m._e_qdata": ("F8_E4M3", [32], bytes(range(32))), "m._e_scale": ("F8_E8M0", [1], b"\x7f")},
    {"m.e": json.dumps(ao)})[8:])
put("safetensors", "bad-layout-nan", tensors({
    "b_packed": ("U8", [8], bytes(range(8))), "b_scale": ("F8_E4M3", [1], b"8"),
    "b_global_scale": ("F32", [1], b"\0\0\xc0\x7f")}))

# Beside an index lie the files a (tensors x and y) and b (tensor z).
here = {"x": "a.safetensors", "y": "a.safetensors", "z": "b.safetensors"}


def index(weight_map, **more):
    return json.dumps({"metadata": {"total_size": 8}, "weight_map": weight_map, **more}).encode()


put("index", "good-two", index(here))
put("index", "good-order", index(dict(reversed(here.items())), other=[1, {}]))
put("index", "good-one", index({"z": "b.safetensors"}))
put("index", "bad-missing", index({**here, "w": "b.safetensors"}))
put("index", "bad-left-out", index({"x": "a.safetensors", "z": "b.safetensors"}))
put("index", "bad-other-file", index({**here, "y": "b.safetensors"}))
put("index", "bad-no-file", index({**here, "z": "c.safetensors"}))
put("index", "bad-path", index({**here, "z": "../b.safetensors"}))
put("index", "bad-directory", index({"z": "."}))
put("index", "bad-itself", index({"z": "index.json"}))
put("index", "bad-twice", index(here).replace(b'"y"', b'"x"'))
put("index", "bad-number", index({"z": 1}))
put("index", "bad-empty", index({}))
put("index", "bad-metadata", index(here, metadata=[]))
put("index", "bad-cut", index(here)[:-1])


def plan(tensors, **more):
    return json.dumps({"fpemu_plan": 1, **more, "tensors": tensors}).encode()


entry = {"name": "a", "shape": [2, 3], "format": "mxfp4", "bits": 4.25, "sqnr_db": 18.7}
put("plan", "good-one", plan([entry], model="in", axis=-1, bits_per_element=4.25, sqnr_db=18.7))
put("plan", "good-few", plan([entry, {"name": "b", "format": "keep"}, {**entry, "name": "c", "sqnr_db": "inf"}]))
put("plan", "good-least", plan([{"name": "", "format": ""}], axis=64))
put("plan", "bad-twice", plan([entry, entry]))
put("plan", "bad-axis", plan([entry], axis=65))
put("plan", "bad-least-axis", plan([entry], axis=-2**63))  # has no absolute value
put("plan", "bad-key", plan([entry], more=1))
put("plan", "bad-shape", plan([{**entry, "shape": [2, -1]}]))
put("plan", "bad-format", plan([{**entry, "format": 8}]))
put("plan", "bad-real", plan([{**entry, "bits": "8"}]))
put("plan", "bad-none", plan([]))
put("plan", "bad-version", plan([entry]).replace(b"1", b"2", 1))
put("plan", "bad-cut", plan([entry])[:-1])

put("table", "good-few", b"-1 -0.5 0 0x1p-3 2e1\n")
put("table", "good-comments", b"# values\n-1 # least\n\t-0\n#\n1#2 3\r\n4")
put("table", "good-long", b"0 1e" + 61 * b"0" + b"5\n" + b"2e5")  # once read as 1
put("table", "good-digits", b"0 0." + 998 * b"1")
put("table", "bad-tail", b"0 0." + 61 * b"1" + b"garbage")  # once read without its end
put("table", "bad-zero", b"0 1\0junk 2")  # once read as 0 1 2
put("table", "bad-endless", 2000 * b"\0")
put("table", "bad-one", b"1")
put("table", "bad-none", b"# 1 2")
put("table", "bad-order", b"1 2 2")
put("table", "bad-close", b"1 1.00000001")  # the same as binary32
put("table", "bad-infinite", b"0 inf")
put("table", "bad-over", b"0 1e39")
put("table", "bad-not", b"-nan 1")

# The routes of command.c, by number: what the command does, and files that it takes and that it refuses.
made["safetensors", "wide"] = tensors({"a.weight": ("F32", [2, 64], bytes(range(256)) * 2),
                                       "b.weight": ("BF16", [32], bytes(range(64))), "n.n": ("I64", [1], bytes(8))})
made["npz", "pair"] = archive(zipfile.ZIP_DEFLATED, {"a.npy": arrays["f4"], "b/c.npy": arrays["f2"]})
made["npz", "copied-crc"] = archive(zipfile.ZIP_DEFLATED, few).replace(struct.pack("<I", zlib.crc32(b"text")), bytes(4))
routes = [
    ("quantize-f32", "npy", "good-f4 good-f4-big good-f8-fortran", "bad-short"),
    ("quantize", "npz", "good-stored good-few-deflated", "bad-crc copied-crc"),
    ("quantize", "safetensors", "good-every good-header-one", "bad-tail"),
    ("quantize-blocks", "safetensors", "good-scalar-and-empty good-layouts", ""),
    ("quantize", "gguf", "good-every good-block-8", ""),
    ("pack", "npy", "good-f4 good-f4-big good-scalar good-empty", "bad-long"),
    ("pack", "npz", "pair", "good-stored good-few"),
    ("pack", "safetensors", "good-every good-header", ""),
    ("pack-nvfp4", "safetensors", "good-one good-scalar-and-empty", ""),
    ("pack-compressed", "safetensors", "wide", "good-one"),
    ("pack-oss", "safetensors", "wide", "good-one"),
    ("pack-ao", "safetensors", "wide", "good-one"),
    ("unpack", "container", "good-few good-blocks good-header good-copied", "bad-padding"),
    ("unpack-f64", "container", "good-few good-copied-unknown", ""),
    ("unpack", "safetensors", "good-layouts good-header-layouts", "good-one"),
    ("unpack", "gguf", "good-every good-empty", "bad-tail"),
    ("list", "container", "good-few good-header", "bad-spec"),
    ("list", "gguf", "good-every", ""),
    ("apply", "safetensors", "good-every good-one", ""),
    ("apply", "npz", "good-few", ""),
    ("compare", "safetensors", "good-every good-names", ""),
    ("compare", "npy", "good-f2 good-empty", ""),
]
for number, (does, kind, taken, refused) in enumerate(routes):
    for verdict, names in (("good", taken), ("bad", refused)):
        for name in names.split():
            put("command", "%s-%s-%s-%s" % (verdict, does, kind, name.removeprefix("good-").removeprefix("bad-")),
                bytes([number]) + made[kind, name])
