"""fpemu: what would this computation do in that number format?"""

from . import _native
from ._arrays import adopt as _adopt
from ._arrays import bump as _bump
from ._arrays import grad_enabled as _grad_enabled
from ._errors import Error, SpecError
from ._format import Format, format
from ._rounding import Rounding, rounding
from ._stats import Stats

_native.register(Format=Format, Rounding=Rounding, Error=Error, SpecError=SpecError, adopt=_adopt, bump=_bump,
                 grad=_grad_enabled)
quantize = _native.quantize

__all__ = ["Error", "Format", "Rounding", "SpecError", "Stats", "format", "quantize", "rounding"]
