"""fpemu for PyTorch: operators, modules and training in any number format.

Operators: `quantize`, `quantize_`. Each is registered as `torch.ops.fpemu.<name>`, with gradients, rules for
`torch.vmap`, and shapes for `torch.compile` and `torch.export`.
"""

from ._spec import new_state
from .counters import clear_stats, new_stats, read_stats, stats_tensor
from .operators import adopt as adopt
from .operators import quantize, quantize_
from .quantizer import Quantizer

__all__ = [
    "Quantizer",
    "clear_stats",
    "new_state",
    "new_stats",
    "quantize",
    "quantize_",
    "read_stats",
    "stats_tensor",
]
