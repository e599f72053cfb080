# SPDX-License-Identifier: BSD-2-Clause
"""GGUF files, written and judged by the gguf package, every block type.

    gguf_judge.py write DIRECTORY      in.gguf: tensors of random and of chosen bytes, wanted.npz: their numbers
    gguf_judge.py numbers              x.npy, and what gguf makes of it by Q8_0 and MXFP4: wanted-q8_0.npy, ...
    gguf_judge.py searched             s.npy, and what ggml_python makes of it: wanted-q4_k.npy, -q5_k.npy, -q6_k.npy
    gguf_judge.py same FILE WANTED     whether two .npy files hold the same bits
    gguf_judge.py made                 made.gguf: tensors of source.npz by five types, some with a byte that is another
    gguf_judge.py compare FILE...      whether safetensors files hold the tensors of wanted.npz, every bit but NaN's; of
                                       wider types too
"""
import sys

import gguf
import ml_dtypes
import numpy as np
from gguf import GGMLQuantizationType as Q
from safetensors.numpy import load_file

np.bfloat16 = ml_dtypes.bfloat16  # safetensors looks for it there

BLOCKS = [Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0, Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K, Q.IQ4_NL, Q.IQ4_XS, Q.MXFP4,
          Q.NVFP4]
#  where binary16 numbers lie in a block
HALVES = {Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q5_0: [0], Q.Q5_1: [0, 2], Q.Q8_0: [0], Q.Q2_K: [80, 82], Q.Q3_K: [108],
          Q.Q4_K: [0, 2], Q.Q5_K: [0, 2], Q.Q6_K: [208], Q.IQ4_NL: [0], Q.IQ4_XS: [0]}


def block_bytes(kind: Q, rng: np.random.Generator) -> np.ndarray:
    """Blocks of one type: random bytes, then every scale of binary16 (infinities and NaN too) with random codes, then
    every byte everywhere."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = [rng.integers(0, 256, (512, size), dtype=np.uint8)]
    scales = np.arange(65536, dtype=np.uint16).view(np.uint8).reshape(-1, 2)
    if kind in HALVES:
        count = 65536 if kind == Q.Q8_0 else 4096
        some = scales[:: 65536 // count]
        more = rng.integers(0, 256, (count, size), dtype=np.uint8)
        for at in HALVES[kind]:
            more[:, at:at + 2] = rng.permutation(some)
        blocks.append(more)
    same = np.repeat(np.arange(256, dtype=np.uint8)[:, None], size, axis=1)
    for at in HALVES.get(kind, []):
        same[:, at:at + 2] = np.array([1.5], np.float16).view(np.uint8)
    blocks.append(same)
    first = rng.integers(0, 256, (256, size), dtype=np.uint8)
    first[:, 0] = np.arange(256)
    blocks.append(first)
    return np.concatenate(blocks)


def write(directory: str) -> None:
    rng = np.random.default_rng(5)
    wanted = {}
    writer = gguf.GGUFWriter(directory + "/in.gguf", "llama")
    writer.add_custom_alignment(64)
    writer.add_string("general.name", "a test")
    writer.add_array("tokenizer.ggml.tokens", ["a", "bc" * 400, ""])
    writer.add_array("some.numbers", [1.5, 2.5])
    writer.add_bool("flag", True)
    for kind in BLOCKS:
        data = block_bytes(kind, rng)
        rows = next(r for r in (4, 3, 2, 1) if len(data) % r == 0)
        data = data.reshape(rows, -1)
        with np.errstate(all="ignore"):
            wanted["b." + kind.name] = gguf.quants.dequantize(data, kind)
        writer.add_tensor("b." + kind.name, data, raw_dtype=kind)
    numbers = rng.standard_normal((3, 5)).astype(np.float32)
    for kind in (np.float32, np.float16, np.float64):
        wanted[kind.__name__] = numbers.astype(kind)
        writer.add_tensor(kind.__name__, wanted[kind.__name__])
    bf16 = (rng.integers(0, 65536, (2, 40)).astype(np.uint16))
    wanted["bf16"] = (bf16.astype(np.uint32) << 16).view(np.float32)
    writer.add_tensor("bf16", bf16.view(np.uint8), raw_dtype=Q.BF16)
    for kind in (np.int8, np.int16, np.int32, np.int64):
        writer.add_tensor(kind.__name__, np.arange(6, dtype=kind).reshape(1, 2, 3))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    np.savez(directory + "/wanted.npz", **wanted)


def numbers() -> None:
    """Of every magnitude, many on ties; of Q8_0 with scales that binary16 holds, neither 0 nor infinite; of MXFP4 no
    blocks whose largest number is so near below a power of two that binary32's log2 is a whole number."""
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((2048, 64)) * np.exp2(rng.integers(-14, 20, (2048, 1)))).astype(np.float32)
    ties = (rng.integers(-254, 255, (512, 64)) / 2).astype(np.float32)
    ties[:, 0], ties[:, 32] = 127, -127
    quarters = (rng.integers(-28, 29, (512, 64)) / 4 * np.exp2(rng.integers(-9, 9, (512, 1)))).astype(np.float32)
    x = np.concatenate([x, ties, quarters, np.zeros((1, 64), np.float32)])
    np.save("x.npy", x)
    for kind in (Q.Q8_0, Q.MXFP4):
        wanted = gguf.quants.dequantize(gguf.quants.quantize(x, kind), kind)
        np.save(f"wanted-{kind.name.lower()}.npy", wanted + 0)


def searched() -> None:
    import ctypes

    import ggml
    rng = np.random.default_rng(2)
    normal = rng.standard_normal((1024, 256)) * np.exp2(rng.integers(-9, 9, (1024, 1)))
    tailed = rng.standard_t(2, (256, 256)) * np.exp2(rng.integers(-9, 9, (256, 16))).repeat(16, 1)
    few = np.where(rng.random((256, 256)) < 0.9, 0, rng.standard_normal((256, 256)))
    x = np.concatenate([np.load("x.npy")[:3072].reshape(-1, 256), normal, tailed, few, few[:, :1].repeat(256, 1)])
    x = np.ascontiguousarray(x, np.float32)
    np.save("s.npy", x)
    for kind in (Q.Q4_K, Q.Q5_K, Q.Q6_K):
        blocks = np.zeros((len(x), gguf.GGML_QUANT_SIZES[kind][1]), np.uint8)
        ggml.ggml_quantize_chunk(kind.value, x.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), blocks.ctypes.data, 0,
                                 len(x), 256, None)
        np.save(f"wanted-{kind.name.lower()}.npy", gguf.quants.dequantize(blocks, kind) + 0)


def same(path: str, wanted_path: str) -> None:
    found, wanted = np.load(path) + np.float32(0), np.load(wanted_path)  # -0 becomes +0, as ggml has it
    differ = found.view(np.uint32) != wanted.view(np.uint32)
    assert not differ.any(), (path, differ.sum(), found[differ][:3], wanted[differ][:3])


def made() -> None:
    x = np.load("x.npy")[2048:2560] + np.float32(0.125)
    kinds = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0")
    np.savez("source.npz", **{k + part: x for k in kinds for part in ("", ".d", ".m", ".q")})
    writer = gguf.GGUFWriter("made.gguf", "llama")
    for kind in kinds:
        blocks, halves = gguf.quants.quantize(x, Q[kind]), 4 if kind.endswith("1") else 2
        for part, at in ("", 0), (".d", 0), (".m", 2), (".q", halves + 7 + 4 * kind.startswith("Q5")):
            data = blocks.copy()
            if part and (part != ".m" or halves == 4):
                data.reshape(-1, gguf.GGML_QUANT_SIZES[Q[kind]][1])[9, at] ^= 1
            writer.add_tensor(kind + part, data, raw_dtype=Q[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_safetensors(path: str) -> "dict[str, np.ndarray]":
    return {k: v.astype(np.float32) if v.dtype == ml_dtypes.bfloat16 else v for k, v in load_file(path).items()}


def compare(*paths: str) -> None:
    wanted = dict(np.load("wanted.npz"))
    for path in paths:
        found = read_safetensors(path)
        assert set(wanted) == {n for n in found if not n.startswith("int")}, sorted(found)
        for name, values in wanted.items():
            here = found[name]
            assert here.shape == values.shape, (path, name, here.shape)
            values = values.astype(here.dtype) if here.dtype.itemsize > values.dtype.itemsize else values
            assert here.dtype == values.dtype, (path, name, here.dtype)
            nan = np.isnan(values)
            assert np.array_equal(nan, np.isnan(here)), (path, name)
            bits = f"u{values.dtype.itemsize}"
            differ = (here.view(bits) != values.view(bits)) & ~nan
            assert not differ.any(), (path, name, np.argwhere(differ)[:3], here[differ][:3], values[differ][:3])
        assert np.array_equal(found["int16"], np.arange(6).reshape(1, 2, 3))


if __name__ == "__main__":
    {"write": write, "numbers": numbers, "searched": searched, "same": same, "made": made,
     "compare": compare}[sys.argv[1]](*sys.argv[2:])
