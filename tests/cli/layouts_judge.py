# SPDX-License-Identifier: BSD-2-Clause
"""The layouts of other software, read by a decoder of their own in numpy and, where they are there, by that software.

    layouts_judge.py write                             in.safetensors: a small model
    layouts_judge.py check SOFTWARE:SPEC...            the tensors of SOFTWARE-SPEC.safetensors have the values in
                                                       wanted-SPEC.safetensors
"""
import json
import sys

import ml_dtypes
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

for dtype_name in ("bfloat16", "float8_e4m3fn", "float8_e8m0fnu"):
    if not hasattr(np, dtype_name):
        setattr(np, dtype_name, getattr(ml_dtypes, dtype_name))  # safetensors looks for them there

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
NAMES = ["model.layers.0.q_proj.weight", "model.layers.0.mlp.experts.gate_up_proj", "z.weight"]


def write() -> None:
    rng = np.random.default_rng(3)
    weight = rng.standard_normal((16, 96)) * np.exp2(rng.integers(-20, 20, (16, 1)))
    weight[3] = 0
    save_file({NAMES[0]: weight.astype(np.float32),
               NAMES[1]: rng.standard_normal((2, 4, 64)).astype(ml_dtypes.bfloat16),
               NAMES[2]: np.zeros((2, 32), np.float32),
               "model.norm.weight": rng.standard_normal(96).astype(np.float32),
               "b.ids": np.arange(4)}, "in.safetensors", metadata={"format": "pt"})


def parts_of(software: str, name: str) -> "tuple[str, str, str]":
    if software == "gpt-oss":
        return name + "_blocks", name + "_scales", ""
    if software == "torchao":
        module, word = name.rsplit(".", 1)
        return f"{module}._{word}_qdata", f"{module}._{word}_scale", f"{module}._{word}_per_tensor_scale"
    return name + "_packed", name + "_scale", name + "_global_scale"


def decode(software: str, spec: str, tensors: "dict[str, np.ndarray]", name: str) -> np.ndarray:
    """The values, exact in binary64 and then rounded once; 1/u of compressed-tensors is a binary32 number as well."""
    elements_name, scales_name, global_name = parts_of(software, name)
    if software == "compressed-tensors" and spec == "mxfp8":
        elements_name = name
    elements, scales = tensors[elements_name], tensors[scales_name]
    if spec == "mxfp8":
        assert elements.dtype == ml_dtypes.float8_e4m3fn
        values = elements.astype(np.float64)
    else:
        assert elements.dtype == np.uint8
        if software == "gpt-oss":
            assert elements.shape[-2:] == (scales.shape[-1], 16)
            elements = elements.reshape(*scales.shape[:-1], -1)
        values = np.stack([E2M1[elements & 15], E2M1[elements >> 4]], axis=-1).reshape(*elements.shape[:-1], -1)
        values = values.astype(np.float64)
    if spec == "nvfp4":
        assert scales.dtype == ml_dtypes.float8_e4m3fn
        factor = scales.astype(np.float64)
    else:
        assert scales.dtype == (ml_dtypes.float8_e8m0fnu if software == "torchao" else np.uint8), scales.dtype
        codes = scales.view(np.uint8)
        assert (codes != 255).all()
        factor = np.exp2(codes.astype(np.float64) - 127)
    values = values * np.repeat(factor, values.shape[-1] // factor.shape[-1], axis=-1)
    if spec == "nvfp4":
        whole = tensors[global_name]
        assert whole.dtype == np.float32 and whole.shape == (() if software == "torchao" else (1,))
        values = values * float(whole if software == "torchao" else np.float32(1) / whole[0])
    return values.astype(np.float32)


def check(*cases: str) -> None:
    for case in cases:
        check_one(*case.split(":"))


def check_one(software: str, spec: str) -> None:
    path = f"{software}-{spec}.safetensors"
    tensors, wanted, given = load_file(path), load_file(f"wanted-{spec}.safetensors"), load_file("in.safetensors")
    chosen = [n for n in NAMES if n in wanted]
    for name in ("model.norm.weight", "b.ids"):
        assert np.array_equal(tensors[name], given[name]), name
    for name in chosen:
        values, want = decode(software, spec, tensors, name), wanted[name]
        assert values.shape == want.shape and want.dtype == np.float32, name
        assert np.array_equal(values.view(np.uint32), want.view(np.uint32)), (spec, name)
    with_package = {"compressed-tensors": compressed_tensors, "torchao": torchao}.get(software)
    if with_package is not None:
        with_package(spec, path, {n: wanted[n] for n in chosen}, tensors)


def compressed_tensors(spec: str, path: str, wanted: "dict[str, np.ndarray]", tensors: "dict[str, np.ndarray]") -> None:
    """By the decompressors of compressed-tensors, with the configuration that fpemu wrote."""
    try:
        import torch
        from compressed_tensors.compressors.base import BaseCompressor
        from compressed_tensors.quantization import QuantizationConfig
        from safetensors.torch import load_file as load_torch
    except ImportError:
        return
    with open(f"compressed-tensors-{spec}.json") as f:
        said = json.load(f)["quantization_config"]
    with safe_open(path, "np") as f:
        assert json.loads(f.metadata()["quantization_config"]) == said and f.metadata()["format"] == "pt"
    config = QuantizationConfig.model_validate(said)
    (scheme,) = config.config_groups.values()
    assert set(scheme.targets) == {n.rsplit(".", 1)[0] for n in wanted} and "model.norm" in config.ignore
    compressor = BaseCompressor.get_value_from_registry(config.format)
    assert compressor.can_compress(torch.nn.Linear, scheme)
    loaded = load_torch(path)
    for name, want in wanted.items():
        if not name.endswith(".weight"):
            continue
        module = name[:-len("weight")]
        state = {k[len(module):]: v for k, v in loaded.items() if k.startswith(module)}
        got = compressor.decompress(state, scheme)["weight"].float().numpy().astype(np.float64)
        # MXFP4, MXFP8: it computes in bfloat16, which holds these values; NVFP4 in bfloat16 or float32 with roundings
        if spec == "nvfp4":
            assert np.allclose(got, want, rtol=2.0 ** -7, atol=0), (spec, name)
        else:
            inside = np.abs(want) < 2.0 ** 127
            assert np.array_equal(got[inside], want[inside].astype(np.float64)), (spec, name)
    print("judged by compressed-tensors")


def torchao(spec: str, path: str, wanted: "dict[str, np.ndarray]", tensors: "dict[str, np.ndarray]") -> None:
    """By torchao, which makes its tensors of the file and dequantises them."""
    try:
        import torch
        from safetensors.torch import load_file as load_torch
        from torchao.prototype.safetensors.safetensors_support import unflatten_tensor_state_dict
    except ImportError:
        return
    with safe_open(path, "np") as f:
        metadata = f.metadata()
    state, left = unflatten_tensor_state_dict(load_torch(path), metadata)
    assert not left, sorted(left)
    for name, want in wanted.items():
        got = state[name].dequantize(torch.float32).numpy()
        if spec == "nvfp4":
            assert np.allclose(got, want, rtol=2.0 ** -22, atol=0), (spec, name)
        else:
            assert np.array_equal(got, want), (spec, name)
    print("judged by torchao")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](*sys.argv[2:])
