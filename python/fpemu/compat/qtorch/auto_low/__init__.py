# SPDX-License-Identifier: BSD-2-Clause
"""qtorch.auto_low: quantisers after the layers of a model."""

from .auto_low import lower, sequential_lower

__all__ = ["lower", "sequential_lower"]
