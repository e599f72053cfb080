# SPDX-License-Identifier: BSD-2-Clause
"""For the tests of fpemu.torch: casts, products of what is cast, small models, and a look at the products below torch's
functions."""

import io
import math
from collections import Counter

import pytest

torch = pytest.importorskip("torch")

import fpemu.torch as ft  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402


# ------------------------------------------------------------------------------------------------ numbers
def e4m3(x):
    """E4M3, past the end the largest number, by torch's own cast."""
    return x.float().clamp(-448, 448).to(torch.float8_e4m3fn).to(x.dtype)


def e5m2(x):
    return x.float().to(torch.float8_e5m2).to(x.dtype)


def is_8_bit(x):
    return torch.equal(e4m3(x), x) or torch.equal(e5m2(x), x)


def grid(*shape):
    """Numbers of magnitude 1/2 to 2 that are in no 8-bit format; sums of few products of their casts are exact in
    float32, in whatever order they are added."""
    return (torch.rand(shape) * 1.5 + 0.5) * (torch.randint(2, shape) * 2 - 1)


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def close(a, b, *how):
    return all(x.shape == y.shape and torch.allclose(x, y, *how) for x, y in zip(a, b, strict=True))


def loaded(x, weights_only=False):
    """What is read of a file that it was saved to."""
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, weights_only=weights_only)


def step(model, *args):
    """What a model gives, and the gradients of its parameters."""
    model.zero_grad()
    y = model(*args)
    y.square().mean().backward()
    return [y.detach(), *(p.grad.clone() for p in model.parameters())]


ROLES = ft.Recipe(input="e4m3fn", weight="e2m1", gradient="e5m2")  # tells weights from activations


def products(accumulator, **how):
    """The same of all three, but what is said of the data gradient's."""
    own = ft.Product(accumulator=accumulator)
    return {"forward": own, "data_gradient": ft.Product(accumulator=accumulator, **how), "weight_gradient": own}


# Products that take elements and scales apart: DeepSeek-V3's, and those of formats with scales along k.
RUN, TILE = "scaled(e4m3fn,block=128)", "scaled(e4m3fn,block=128x128)"
SCALED = (ft.Recipe(RUN, TILE, RUN, **products("tc(h100,e4m3fn,promote=128)", right="forward")),
          ft.Recipe("mxfp8", "mxfp8", "mxfp8", **products("tc(b200,e4m3fn,promote=32)")),
          ft.Recipe("nvfp4", "nvfp4", "nvfp4", **products("chunk(16,fp32); ab=e2m1")))


def act(x):
    return ft.quantize(x, "e4m3fn")


def wgt(x):
    return ft.quantize(x, "e2m1")


class Cast(torch.autograd.Function):
    """One cast on the way forward, another on the way back."""

    @staticmethod
    def forward(ctx, x, there, back):
        ctx.back = back
        return there(x)

    @staticmethod
    def backward(ctx, g):
        return ctx.back(g), None, None


def times(x, w, b=0, casts=(act, wgt)):
    """x w^T + b of cast operands, and of a gradient that is cast to E5M2."""
    x, w = (Cast.apply(t, cast, torch.clone) for t, cast in zip((x, w), casts))
    return Cast.apply(x @ w.mT, torch.clone, e5m2) + b


# ------------------------------------------------------------------------------------------------ models
class Past(nn.Module):
    """Reads the weight of one of its layers past the layer, as Mamba of transformers does."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, times=torch.matmul):
        return times(self.first(x), self.second.weight)


LAYERS = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 32}
MODELS = {  # the configuration, and the modules whose products convert leaves
    "GPT2LMHeadModel": ({"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 64, "bos_token_id": 0,
                         "eos_token_id": 0}, {"attn"}),
    "LlamaForCausalLM": (LAYERS, {"self_attn"}),
    "MixtralForCausalLM": ({**LAYERS, "num_local_experts": 3}, {"self_attn"}),
    "Qwen3MoeForCausalLM": ({**LAYERS, "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
                            {"self_attn"}),
    "ViTForImageClassification": ({**LAYERS, "image_size": 16, "patch_size": 4}, {"attention"}),
    "BertForMaskedLM": (LAYERS, {"self"}),
    "T5ForConditionalGeneration": ({"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4,
                                    "vocab_size": 64}, {"SelfAttention", "EncDecAttention"}),
    "MambaForCausalLM": ({**LAYERS, "state_size": 4}, set()),
}


def of_transformers(name, attention="sdpa"):
    transformers = pytest.importorskip("transformers")
    transformers.logging.set_verbosity_error()
    kind = getattr(transformers, name)
    how = {} if "Mamba" in name else {"attn_implementation": attention}
    model = kind(kind.config_class(**MODELS[name][0], **how))
    with torch.no_grad():  # biases and such begin at zero, which is a number of any format
        for p in model.parameters():
            p.copy_(torch.randn(p.shape) * 0.2 + (p.dim() == 1))
    if "ViT" in name:
        return model, {"pixel_values": torch.randn(2, 3, 16, 16)}
    tokens = torch.randint(64, (2, 8))
    return model, {"input_ids": tokens, **({"decoder_input_ids": tokens} if "T5" in name else {})}


def loss(result):
    return (result.logits * torch.randn(result.logits.shape, generator=torch.Generator().manual_seed(2))).sum()


# ------------------------------------------------------------------------------------------------ products

OPERANDS = {**dict.fromkeys(("mm", "bmm", "mv", "dot", "_grouped_mm", "convolution"), (0, 1)),
            **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv"), (1, 2))}


class Seen(TorchDispatchMode):
    """The products below torch's functions: the operators, each with whether its operands are numbers of E4M3 or E5M2,
    and how many multiplications there are."""

    def __init__(self):
        super().__init__()
        self.products, self.multiplications = Counter(), 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out, name, pairs = func(*args, **(kwargs or {})), func._schema.name.rpartition(":")[2], []
        if name in OPERANDS:
            a, b = (args[place] for place in OPERANDS[name])
            groups = args[2].numel() if name == "_grouped_mm" and a.ndim == b.ndim == 2 else 1
            self.multiplications += out.numel() // groups * (math.prod(b.shape[1:]) if "conv" in name else a.shape[-1])
            pairs = [(a, b)]
        elif name == "convolution_backward":  # the weight makes the gradient of the input, the input that of the weight
            pairs = [(args[0], args[2 - n]) for n, wanted in enumerate(args[-1][:2]) if wanted]
            self.multiplications += len(pairs) * args[0].numel() * math.prod(args[2].shape[1:])
        elif name.startswith("_scaled_dot_product"):  # (batch, heads, rows, width): 2 products, or 5 on the way back
            q, k = args[1:3] if name.endswith("backward") else args[:2]
            self.multiplications += (5 if name.endswith("backward") else 2) * q.numel() * k.shape[2]
            pairs = [args[:3]]
        elif "rnn" in name or "lstm" in name:
            pairs = [args[:3]]
        self.products.update((name, *map(is_8_bit, pair)) for pair in pairs)
        return out

    @property
    def emulated(self):
        return sum(calls for (_, *fit), calls in self.products.items() if all(fit))

    @property
    def plain(self):
        return self.products.total() - self.emulated


def run(model, inputs):
    with Seen() as seen:
        loss(model(**inputs)).backward()
    return seen
