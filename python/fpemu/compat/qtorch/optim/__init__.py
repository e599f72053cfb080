"""qtorch.optim: optimisers whose tensors are rounded."""

from .optim_low import OptimLP

__all__ = ["OptimLP"]
