# SPDX-License-Identifier: BSD-2-Clause
"""qtorch.optim: optimisers whose tensors are rounded."""

from .optim_low import OptimLP

__all__ = ["OptimLP"]
