# SPDX-License-Identifier: BSD-2-Clause
"""Quantisers after the layers of a model, by the kind of the layers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from torch import nn

from ..number import Number, require
from ..quant import Quantizer

__all__ = ["lower", "sequential_lower"]

# The classes of torch.nn that belong to a kind of layer; a class counts, its subclasses do not, as in qtorch.
LAYERS = {
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Unfold Fold",
    "linear": "Linear Bilinear",
    "pool": "MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d AvgPool1d AvgPool2d AvgPool3d "
            "FractionalMaxPool2d LPPool1d LPPool2d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
            "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d",
    "pad": "ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d ZeroPad2d ConstantPad1d ConstantPad2d "
           "ConstantPad3d",
    "activation": "ELU Hardshrink Hardtanh LeakyReLU LogSigmoid PReLU ReLU ReLU6 RReLU SELU Sigmoid Softplus "
                  "Softshrink Softsign Tanh Tanhshrink Threshold Softmin Softmax Softmax2d LogSoftmax",
    "normalization": "BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d "
                     "LayerNorm LocalResponseNorm",
    "dropout": "Dropout Dropout2d Dropout3d AlphaDropout",
    "loss": "L1Loss MSELoss CrossEntropyLoss NLLLoss PoissonNLLLoss KLDivLoss BCELoss BCEWithLogitsLoss "
            "MarginRankingLoss HingeEmbeddingLoss MultiLabelMarginLoss SmoothL1Loss SoftMarginLoss "
            "MultiLabelSoftMarginLoss MultiMarginLoss TripletMarginLoss",
}


def _classes(layer_types: Sequence[str]) -> set[type[nn.Module]]:
    for kind in layer_types:
        require(kind in LAYERS, f"no kind of layers {kind!r}; there are {', '.join(LAYERS)}")
    return {getattr(nn, name) for kind in layer_types for name in LAYERS[kind].split() if hasattr(nn, name)}


def lower(model: nn.Module, layer_types: Sequence[str] = (), forward_number: Number | None = None,
          backward_number: Number | None = None, forward_rounding: str = "stochastic",
          backward_rounding: str = "stochastic") -> None:
    """Has every layer of `model` whose kind (a key of LAYERS) is in layer_types round its output, in place: the layers'
    `forward` is replaced. Other arguments as `quantizer`."""
    quant = Quantizer(forward_number, backward_number, forward_rounding, backward_rounding)
    classes = _classes(layer_types)

    def after(module: nn.Module) -> None:
        inner = module.forward
        module.forward = lambda *inputs: quant(inner(*inputs))

    for module in model.modules():
        if type(module) in classes:
            after(module)


def sequential_lower(model: nn.Module, layer_types: Sequence[str] = (), forward_number: Number | None = None,
                     backward_number: Number | None = None, forward_rounding: str = "stochastic",
                     backward_rounding: str = "stochastic") -> nn.Module:
    """A copy of `model` in which a quantiser follows every layer of those kinds that has no layers inside: in its place
    stands nn.Sequential(layer, quantiser). Other arguments as `quantizer`."""
    quant = Quantizer(forward_number, backward_number, forward_rounding, backward_rounding)
    classes = _classes(layer_types)

    def lowered(module: Any) -> Any:
        if not module._modules:
            return nn.Sequential(module, quant) if type(module) in classes else module
        for name, child in module._modules.items():
            if child is not None:
                module._modules[name] = lowered(child)
        return module

    return lowered(copy.deepcopy(model))
