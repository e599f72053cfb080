"""fpemu for PyTorch: operators, modules and training in any number format.

Operators: `quantize`, `quantize_`. Each is registered as `torch.ops.fpemu.<name>`, with gradients, rules for
`torch.vmap`, and shapes for `torch.compile` and `torch.export`.
"""

from ._spec import new_state
from .counters import clear_stats, new_stats, read_stats, stats_tensor
from .operators import adopt as adopt
from .operators import quantize, quantize_
from .quantizer import Quantizer
from . import functional
from .convert import convert, manual_seed, revert, summary
from .modules import DotProductAttention
from .observe import Log, observe
from .optim import optimizer
from .recipe import Product, Recipe, recipe, recipes
from .scaler import loss_scaler

__all__ = [
    "DotProductAttention",
    "Log",
    "Product",
    "Quantizer",
    "Recipe",
    "clear_stats",
    "convert",
    "functional",
    "loss_scaler",
    "manual_seed",
    "new_state",
    "new_stats",
    "observe",
    "optimizer",
    "quantize",
    "quantize_",
    "read_stats",
    "recipe",
    "recipes",
    "revert",
    "stats_tensor",
    "summary",
]
