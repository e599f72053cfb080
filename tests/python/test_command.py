# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.load and fpemu.judge on files whose bytes stand here: what the program reads of them."""

import json

import fpemu
import numpy as np
import pytest
from same import refuses


@pytest.fixture(autouse=True)
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        fpemu.load("none.gguf")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    except fpemu.Error:
        pass


def save(path, tensors):
    """A safetensors file of (dtype, array) by name."""
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_load_and_judge(tmp_path):
    x = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
    packed = fpemu.pack(x, "mxfp4")
    codes = packed.codes[..., ::2] | packed.codes[..., 1::2] << 4
    save(tmp_path / "-made.safetensors", {
        "l.w_blocks": ("U8", codes.reshape(64, 2, 16)), "l.w_scales": ("U8", packed.scale_codes),
        "half": ("BF16", np.array([0x3F80, 0xC000], "<u2")), "small": ("F8_E4M3", np.array([[0x38]], "u1")),
        "whole": ("I64", np.array([-5, 7])), "flag": ("BOOL", np.array([True]))})
    tensors = fpemu.load("-made.safetensors")
    assert np.array_equal(tensors["l.w"], fpemu.quantize(x, "mxfp4")) and tensors["l.w"].dtype == np.float32
    assert tensors["half"].tolist() == [1, -2] and tensors["small"].tolist() == [[1]]
    assert tensors["whole"].tolist() == [-5, 7] and tensors["flag"].tolist() == [True]
    save(tmp_path / "source.safetensors", {"l.w": ("F32", x)})
    told, = fpemu.judge(tmp_path / "-made.safetensors", against="source.safetensors")
    assert [rule["rule"] for rule in told["rules"] if rule["fits"]] == ["mxfp4"] and told["software"] == "gpt-oss"
    assert fpemu.judge("-made.safetensors")[0]["sqnr"] is None
    (tmp_path / "folder").mkdir()
    (tmp_path / "-made.safetensors").rename(tmp_path / "folder/a.safetensors")
    assert np.array_equal(fpemu.load("folder")["l.w"], tensors["l.w"])


def test_refusals(tmp_path, monkeypatch):
    (tmp_path / "bad.gguf").write_bytes(b"GGUF")
    refuses(fpemu.Error, lambda: fpemu.load("bad.gguf"), "bad.gguf: no GGUF file")
    refuses(fpemu.Error, lambda: fpemu.judge("bad.gguf"), "bad.gguf: no GGUF file")
    monkeypatch.setenv("FPEMU_COMMAND", "false")
    refuses(fpemu.Error, lambda: fpemu.judge("bad.gguf"), "false ended with status 1")
    monkeypatch.setenv("FPEMU_COMMAND", str(tmp_path / "none"))
    refuses(FileNotFoundError, lambda: fpemu.judge("bad.gguf"))
