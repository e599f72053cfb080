# SPDX-License-Identifier: BSD-2-Clause
"""fpemu for PyTorch: operators, modules and training in any number format.

Operators: `quantize`, `quantize_`, `encode`, `decode`, `pack`, `unpack`, `scales`, `measure`, `matmul`, `arith`,
`apply`. Each is registered as `torch.ops.fpemu.<name>`, with rules for `torch.vmap` and torch.func, and shapes for
`torch.compile` and `torch.export`; `quantize`, `matmul`, `arith` and `apply` have gradients. `Quantizer` is the module.
Random state is a tensor (`new_state`), and so are counters (`new_stats`, `read_stats`). `fpemu.torch.parallel` is about
tensors on several ranks.

Training: `convert` makes a model round by a `Recipe` and `revert` takes that back, `everywhere` has torch's functions
go by one, `audit` lists every product and whether it is emulated, `choose` finds a recipe for each layer, `observe`
counts every tensor by layer and role, `optimizer` holds parameters and states in formats, `loss_scaler` scales losses
or layers' gradients, `functional` has the layers as functions, of which `linear`, `conv2d` and, as `attention`,
`scaled_dot_product_attention` are here too.

    model = fpemu.torch.convert(model, "fp8", {"*.head": None, "blocks.0.*": "bf16"})
    with fpemu.torch.observe(model) as log:
        ...  # train as ever; log.step(loss) ends a step
    print(log)
"""

from typing import Any as _Any

from . import functional
from ._spec import new_state
from .audit import audit
from .choose import Choice, choose
from .convert import convert, freeze, manual_seed, revert, summary
from .counters import clear_stats, new_stats, read_stats, stats_tensor
from .everywhere import everywhere, register_attention
from .functional import conv2d, linear
from .functional import scaled_dot_product_attention as attention
from .modules import DotProductAttention
from .observe import Log, observe
from .operators import adopt as adopt
from .operators import apply, arith, decode, encode, matmul, measure, pack, quantize, quantize_, scales, unpack
from .optim import optimizer
from .quantizer import Quantizer
from .recipe import Product, Recipe, recipe, recipes
from .scaler import loss_scaler

__all__ = ["Choice", "DotProductAttention", "Log", "Product", "Quantizer", "Recipe", "apply", "arith", "attention",
           "audit", "choose", "clear_stats", "conv2d", "convert", "decode", "encode", "everywhere", "freeze",
           "functional", "linear", "loss_scaler", "manual_seed", "matmul", "measure", "new_state", "new_stats",
           "observe", "optimizer", "pack", "quantize", "quantize_", "read_stats", "recipe", "recipes",
           "register_attention", "revert", "scales", "stats_tensor", "summary", "unpack"]


def __getattr__(name: str) -> _Any:
    if name == "parallel":  # which loads torch.distributed
        from importlib import import_module  # noqa: PLC0415

        return import_module(".parallel", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
