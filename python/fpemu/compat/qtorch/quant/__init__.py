# SPDX-License-Identifier: BSD-2-Clause
"""qtorch.quant: quantisers as functions and as a module."""

from .quant_function import block_quantize, fixed_point_quantize, float_quantize, quantizer
from .quant_module import Quantizer

__all__ = ["Quantizer", "block_quantize", "fixed_point_quantize", "float_quantize", "quantizer"]
