# SPDX-License-Identifier: BSD-2-Clause
"""Modules under another package's name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence


def install(package: str, name: str, parts: Sequence[str], replace: bool) -> None:
    """Makes `import NAME` mean `package`, and `import NAME.part` its parts. Raises ImportError, before anything is
    changed, where another module has that name already and `replace` is false."""
    wanted = {name + ("." + part if part else ""): importlib.import_module(package + ("." + part if part else ""))
              for part in ("", *parts)}
    for alias, module in wanted.items():
        if not replace and sys.modules.get(alias, module) is not module:
            raise ImportError(f"{alias} has been imported already; install(replace=True) takes its place")
    if replace:
        for alias in [alias for alias in sys.modules if alias == name or alias.startswith(name + ".")]:
            del sys.modules[alias]
    sys.modules.update(wanted)
