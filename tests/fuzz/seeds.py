"""The seeds of the corpus: small files of every kind, good-... and bad-... by whether they are to be read or refused.

    python3 seeds.py DIRECTORY
"""
import io
import json
import os
import struct
import sys
import zipfile

root = sys.argv[1]


def put(kind, name, data):
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
put("npz", "bad-crc", archive(zipfile.ZIP_STORED, {"a.npy": arrays["f4"]}).replace(b"\x9a\x99\x99>", b"\x9a\x99\x99?", 1))
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
