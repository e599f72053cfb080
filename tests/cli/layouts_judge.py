# SPDX-License-Identifier: BSD-2-Clause
"""The layouts of other software, read in numpy or, where it is there, by that software.

layouts_judge.py write                             in.safetensors: a small model
layouts_judge.py check CASE:SOFTWARE:SPEC...       the tensors of CASE.safetensors have the values in
                                                   CASE-wanted.safetensors
layouts_judge.py packages                          files that packages make, CASE.safetensors, with the values that
                                                   they have of them, CASE-wanted.npz, and the matrix that was given,
                                                   CASE-source.safetensors; prints the cases
layouts_judge.py same CASE                         CASE-out.safetensors has these values
"""

import json
import os
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
    weight = rng.standard_normal((140, 192)) * np.exp2(rng.integers(-20, 20, (140, 1)))
    weight[3] = 0
    save_file(
        {
            NAMES[0]: weight.astype(np.float32),
            NAMES[1]: rng.standard_normal((2, 4, 64)).astype(ml_dtypes.bfloat16),
            NAMES[2]: np.zeros((2, 32), np.float32),
            "model.norm.weight": rng.standard_normal(96).astype(np.float32),
            "b.ids": np.arange(4),
        },
        "in.safetensors",
        metadata={"format": "pt"},
    )


def check(*cases: str) -> None:
    readers = {
        "compressed-tensors": compressed_tensors,
        "DeepSeek": deepseek,
        "gpt-oss": gpt_oss,
        "ModelOpt": modelopt,
        "torchao": torchao,
    }
    given = load_file("in.safetensors")
    for case, software, spec in (c.split(":", 2) for c in cases):
        tensors, wanted = load_file(case + ".safetensors"), load_file(case + "-wanted.safetensors")
        for name in ("model.norm.weight", "b.ids"):
            assert np.array_equal(tensors[name], given[name]), name
        try:
            readers[software](spec, case, {n: wanted[n] for n in NAMES if wanted[n].dtype == np.float32})
        except ImportError as error:
            print(f"without {software}: {error}", file=sys.stderr)


def gpt_oss(spec: str, case: str, wanted: "dict[str, np.ndarray]") -> None:
    tensors = load_file(case + ".safetensors")
    for name, want in wanted.items():
        blocks, scales = tensors[name + "_blocks"], tensors[name + "_scales"]
        assert blocks.dtype == scales.dtype == np.uint8 and blocks.shape == (*scales.shape, 16)
        values = np.stack([E2M1[blocks & 15], E2M1[blocks >> 4]], axis=-1).reshape(*scales.shape, 32)
        values = (values * np.exp2(scales.astype(np.float64) - 127)[..., None]).astype(np.float32).reshape(want.shape)
        assert np.array_equal(values.view(np.uint32), want.view(np.uint32)), (spec, name)


def said_of(case: str) -> dict:
    with open(case + ".json") as f:
        said = json.load(f)["quantization_config"]
    with safe_open(case + ".safetensors", "np") as f:
        assert json.loads(f.metadata()["quantization_config"]) == said and f.metadata()["format"] == "pt"
    return said


def modelopt(spec: str, case: str, wanted: "dict[str, np.ndarray]") -> None:
    tensors = load_file(case + ".safetensors")
    assert said_of(case)["quant_algo"] == "FP8"
    for name, want in wanted.items():
        assert tensors[name + "_scale"].shape == ()
        assert np.array_equal(tensors[name].astype(np.float32) * tensors[name + "_scale"], want), (spec, name)


def compressed_tensors(spec: str, case: str, wanted: "dict[str, np.ndarray]") -> None:
    """By the decompressors of compressed-tensors, with the configuration that fpemu wrote."""
    import torch
    from compressed_tensors.compressors.base import BaseCompressor
    from compressed_tensors.quantization import QuantizationConfig
    from safetensors.torch import load_file as load_torch

    config = QuantizationConfig.model_validate(said_of(case))
    (scheme,) = config.config_groups.values()
    assert set(scheme.targets) == {n.rsplit(".", 1)[0] for n in wanted} and "model.norm" in config.ignore
    compressor = BaseCompressor.get_value_from_registry(config.format)
    assert spec.startswith("group") or compressor.can_compress(torch.nn.Linear, scheme), spec
    loaded = load_torch(case + ".safetensors")
    for name, want in wanted.items():
        if not name.endswith(".weight"):
            continue
        module = name[: -len("weight")]
        state = {k[len(module) :]: v for k, v in loaded.items() if k.startswith(module)}
        assert set(state) == set(compressor.compression_param_names(scheme)), (spec, set(state))
        got = compressor.decompress(state, scheme)["weight"].float().numpy().astype(np.float64)
        # MXFP4, MXFP8: it computes in bfloat16, which holds these values; NVFP4 in bfloat16 or float32 with roundings
        if spec == "nvfp4":
            assert np.allclose(got, want, rtol=2.0**-7, atol=0), (spec, name)
        else:
            inside = np.abs(want) < 2.0**127
            assert np.array_equal(got[inside], want[inside].astype(np.float64)), (spec, name)


def deepseek(spec: str, case: str, wanted: "dict[str, np.ndarray]") -> None:
    """By transformers, for which blocks are made whole: it has no short ones."""
    import torch
    from safetensors.torch import load_file as load_torch
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize
    from transformers.utils.quantization_config import FineGrainedFP8Config

    config, loaded = FineGrainedFP8Config.from_dict(said_of(case)), load_torch(case + ".safetensors")
    assert config.weight_block_size == [128, 128] and "model.norm" in config.modules_to_not_convert
    for name, want in wanted.items():
        rows, columns = want.shape
        scale = loaded[name[: -len("weight")] + "scale" if config.scale_fmt == "ue8m0" else name + "_scale_inv"]
        whole = torch.nn.functional.pad(loaded[name].float(), (0, -columns % 128, 0, -rows % 128))
        got = Fp8Dequantize(None)._dequantize_one(whole, scale, torch.float32)[:rows, :columns].numpy()
        assert np.array_equal(got, want), (spec, name)


def torchao(spec: str, case: str, wanted: "dict[str, np.ndarray]") -> None:
    """By torchao, which makes its tensors of the file and dequantises them."""
    import torch
    from safetensors.torch import load_file as load_torch
    from torchao.prototype.safetensors.safetensors_support import unflatten_tensor_state_dict

    with safe_open(case + ".safetensors", "np") as f:
        metadata = f.metadata()
    state, left = unflatten_tensor_state_dict(load_torch(case + ".safetensors"), metadata)
    assert not left, sorted(left)
    for name, want in wanted.items():
        got = state[name].dequantize(torch.float32).numpy()
        if spec == "nvfp4":
            assert np.allclose(got, want, rtol=2.0**-22, atol=0), (spec, name)
        else:
            assert np.array_equal(got, want), (spec, name)


# ------------------------------------------------------------------------------------------- what packages write


def compressed_tensors_cases(torch, source):
    from compressed_tensors.compressors.base import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams

    for case, method, dtype, said in (
        ("fp8-tensor", "float-quantized", torch.float32, {"type": "float", "num_bits": 8, "strategy": "tensor"}),
        (
            "fp8-block",
            "float-quantized",
            torch.bfloat16,
            {"type": "float", "num_bits": 8, "strategy": "block", "block_structure": [128, 128]},
        ),
        ("int8-row", "int-quantized", torch.float32, {"num_bits": 8, "strategy": "channel", "symmetric": False}),
        ("int4-group", "pack-quantized", torch.bfloat16, {"num_bits": 4, "strategy": "group", "group_size": 32}),
        (
            "int4-zero",
            "pack-quantized",
            torch.float16,
            {"num_bits": 4, "strategy": "group", "group_size": 64, "symmetric": False},
        ),
        ("int8-words", "pack-quantized", torch.float32, {"num_bits": 8, "strategy": "channel"}),
        ("int3-zero", "pack-quantized", torch.float32, {"num_bits": 3, "strategy": "channel", "symmetric": False}),
    ):
        args = QuantizationArgs(**said)
        scheme = QuantizationScheme(targets=["Linear"], weights=args)
        weight = source.to(dtype)
        if args.strategy == "block":
            blocks = torch.nn.functional.pad(weight, (0, -192 % 128, 0, -40 % 128)).unflatten(1, (2, 128))
            low, high = blocks.amin(dim=(0, 2))[None], blocks.amax(dim=(0, 2))[None]
        elif args.strategy == "group":
            blocks = weight.unflatten(1, (-1, args.group_size))
            low, high = blocks.amin(-1), blocks.amax(-1)
        else:
            axis = {} if args.strategy == "tensor" else {"dim": 1, "keepdim": True}
            low, high = weight.amin(**axis), weight.amax(**axis)
        scale, zero = calculate_qparams(low, high, args)
        compressor = BaseCompressor.get_value_from_registry(method)
        state = compressor.compress({"weight": weight, "weight_scale": scale, "weight_zero_point": zero}, scheme)
        values = compressor.decompress(state, scheme)["weight"]
        yield "ct-" + case, {"l." + k: v for k, v in state.items()}, values, None, weight


def torchao_cases(torch, source):
    from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
    from torchao.quantization import Float8Tensor, Int8Tensor, IntxUnpackedToInt8Tensor, MappingType, PerRow, PerTensor

    for case, tensor in (
        ("fp8-tensor", Float8Tensor.from_hp(source, granularity=PerTensor())),
        ("int8-row", Int8Tensor.from_hp(source.bfloat16(), PerRow())),
        (
            "int4-group",
            IntxUnpackedToInt8Tensor.from_hp(source, (1, 32), torch.int4, mapping_type=MappingType.ASYMMETRIC),
        ),
        ("int8-group", IntxUnpackedToInt8Tensor.from_hp(source, (1, 32), torch.int8)),
        (
            "int4-whole",
            IntxUnpackedToInt8Tensor.from_hp(
                source, (1, 32), torch.int4, mapping_type=MappingType.SYMMETRIC_NO_CLIPPING_ERR
            ),
        ),
        (
            "int4-bf16",
            IntxUnpackedToInt8Tensor.from_hp(
                source.bfloat16(), (1, 32), torch.int4, mapping_type=MappingType.ASYMMETRIC
            ),
        ),
    ):
        state, metadata = flatten_tensor_state_dict({"l.weight": tensor})
        yield "torchao-" + case, state, tensor.dequantize(), metadata, source.to(tensor.dtype)


def deepseek_cases(torch, source):
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize

    blocks = source[:, :128].reshape(1, 40, 1, 128)
    scale = blocks.abs().amax(dim=(1, 3)) / 448
    codes = (blocks / scale[:, None, :, None]).reshape(40, 128).to(torch.float8_e4m3fn)
    fp4 = torch.from_numpy(np.random.default_rng(5).integers(-128, 128, (40, 96), np.int8))
    power = torch.from_numpy(np.random.default_rng(6).integers(90, 150, (40, 6)).astype(np.uint8))
    for case, names, one, factor in (
        ("fp8-bf16", ("weight", "weight_scale_inv"), codes, scale.bfloat16()),
        ("fp4", ("weight", "scale"), fp4, power.view(torch.float8_e8m0fnu)),
    ):
        values = Fp8Dequantize(None)._dequantize_one(one, factor)
        yield "deepseek-" + case, {"l." + names[0]: one, "l." + names[1]: factor}, values, None


def modelopt_cases(torch, source):
    from modelopt.torch.quantization.qtensor import FP8QTensor, NVFP4QTensor

    tensor, scale = FP8QTensor.quantize(source)
    yield (
        "modelopt-fp8",
        {"l.weight": tensor._quantized_data, "l.weight_scale": scale.reshape(())},
        tensor.dequantize(torch.float32, scale=scale),
        None,
    )
    tensor, scale, double = NVFP4QTensor.quantize(source.clone(), 16)
    yield (
        "modelopt-nvfp4",
        {"l.weight": tensor._quantized_data, "l.weight_scale": scale, "l.weight_scale_2": double},
        tensor.dequantize(torch.float32, scale=scale, double_scale=double, block_sizes={-1: 16}),
        None,
    )


def gptq_cases(torch, source):
    from types import SimpleNamespace

    from gptqmodel.nn_modules.qlinear.torch import TorchLinear
    from gptqmodel.utils.model import convert_gptq_v2_to_v1_format_module

    os.makedirs("v2", exist_ok=True)
    with open("v2/config.json", "w") as f:
        json.dump({"quantization_config": {"checkpoint_format": "gptq_v2"}}, f)
    for case, bits, order in ("v2/gptq-4", 4, False), ("gptq-4", 4, False), ("gptq-8", 8, False), ("gptq-3", 3, True):
        linear = torch.nn.Linear(192, 64, bias=False).half()
        groups = torch.arange(192) // 32
        groups = groups[torch.randperm(192)] if order else groups
        scale, zero = torch.rand(64, 6).half() / 8 + 0.01, torch.randint(1, 2**bits, (64, 6)).float()
        module = TorchLinear(bits=bits, group_size=32, sym=False, desc_act=order, in_features=192, out_features=64)
        module.pack_original(linear, scale, zero, groups.int())
        module.eval()
        module.post_init()
        values = module.dequantize_weight().T.clone()
        if "v2" not in case:
            convert_gptq_v2_to_v1_format_module(module, SimpleNamespace(bits=bits, pack_dtype=torch.int32))
        yield case, {"l." + k: v.clone() for k, v in module.state_dict().items()}, values, None


def awq_cases(torch, source):
    import importlib.util

    path = importlib.util.find_spec("awq").submodule_search_locations[0] + "/utils/packing_utils.py"
    spec = importlib.util.spec_from_file_location("packing_utils", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # the package itself wants an older transformers
    words = [
        torch.from_numpy(np.random.default_rng(7).integers(-(2**31), 2**31, (n, 5)).astype(np.int32)) for n in (192, 3)
    ]
    scale = torch.rand(3, 40).half()
    yield (
        "awq",
        {"l.qweight": words[0], "l.qzeros": words[1], "l.scales": scale},
        module.dequantize_gemm(words[0], words[1], scale, 4, 64).T,
        None,
    )


def bitsandbytes_cases(torch, source):
    from bitsandbytes import functional as f

    for kind in "nf4", "fp4":
        for nested in False, True:
            codes, state = f.quantize_4bit(source.bfloat16(), quant_type=kind, compress_statistics=nested)
            parts = {"l.weight." + k: v for k, v in state.as_dict(packed=True).items()}
            values = f.dequantize_4bit(codes, state)
            yield f"bnb-{kind}{'-nested' * nested}", {"l.weight": codes, **parts}, values, None, source.bfloat16()
    codes, scale, _ = f.int8_vectorwise_quant(source.half())
    yield "bnb-int8", {"l.weight": codes, "l.SCB": scale}, f.int8_vectorwise_dequant(codes, scale), None


def packages() -> None:
    """Cases whose package is not there are left out; a line on stderr says which."""
    import torch
    from safetensors.torch import save_file as save

    torch.manual_seed(1)
    source = torch.randn(40, 192) * torch.exp2(torch.randint(-6, 6, (40, 1)))
    for cases in (
        compressed_tensors_cases,
        torchao_cases,
        deepseek_cases,
        modelopt_cases,
        gptq_cases,
        awq_cases,
        bitsandbytes_cases,
    ):
        try:
            for case, state, values, metadata, *given in cases(torch, source):
                save({k: v.contiguous() for k, v in state.items()}, case + ".safetensors", metadata=metadata)
                save({"l.weight": given[0] if given else source}, case + "-source.safetensors")
                np.savez(case + "-wanted.npz", w=values.float().numpy())
                print("case", case)
        except (ImportError, AttributeError) as error:
            print(f"without {cases.__name__}: {error}", file=sys.stderr)


def same(case: str) -> None:
    values, wanted = load_file(case + "-out.safetensors")["l.weight"], np.load(case + "-wanted.npz")["w"]
    assert values.dtype == np.float32 and values.shape == wanted.shape, (values.dtype, values.shape, wanted.shape)
    if case == "modelopt-nvfp4":  # it multiplies the scales first
        assert np.allclose(values, wanted, rtol=2.0**-22, atol=0)
    else:
        bad = values.view(np.uint32) != wanted.view(np.uint32)
        assert not bad.any(), (bad.sum(), values[bad][:4], wanted[bad][:4])


if __name__ == "__main__":
    {"write": write, "check": check, "packages": packages, "same": same}[sys.argv[1]](*sys.argv[2:])
