"""fpemu for PyTorch: operators, modules and training in any number format.

Operators: `quantize`, `quantize_`, `encode`, `decode`, `pack`, `unpack`, `scales`, `measure`, `matmul`, `arith`,
`apply`. Each is registered as `torch.ops.fpemu.<name>`, with rules for `torch.vmap` and torch.func, and shapes for
`torch.compile` and `torch.export`; `quantize`, `matmul`, `arith` and `apply` have gradients. `Quantizer` is the module.
Random state is a tensor (`new_state`), and so are counters (`new_stats`, `read_stats`). `fpemu.torch.parallel` is about
tensors on several ranks.
"""

from ._spec import new_state
from .counters import clear_stats, new_stats, read_stats, stats_tensor
from .operators import adopt as adopt
from .operators import apply, arith, decode, encode, matmul, measure, pack, quantize, quantize_, scales, unpack
from .quantizer import Quantizer

__all__ = [
    "Quantizer",
    "apply",
    "arith",
    "clear_stats",
    "decode",
    "encode",
    "matmul",
    "measure",
    "new_state",
    "new_stats",
    "pack",
    "quantize",
    "quantize_",
    "read_stats",
    "scales",
    "stats_tensor",
    "unpack",
]
