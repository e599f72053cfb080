# SPDX-License-Identifier: BSD-2-Clause
"""Files of codes with scales: what the program `fpemu`, which the wheel holds, reads and judges."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import Error
from ._values import decode

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
          "U64": "<u8", "U32": "<u4", "U16": "<u2", "BOOL": "?", "C64": "<c8"}  # of safetensors; others have a byte


def _run(*words: str | os.PathLike[str]) -> bytes:
    inside = Path(__file__).with_name("fpemu-command")
    command = os.environ.get("FPEMU_COMMAND") or (inside if inside.exists() else shutil.which("fpemu"))
    if command is None:
        raise FileNotFoundError("this package was made without the program fpemu, which needs jansson, libzip and zlib"
                                " there; FPEMU_COMMAND names one")
    done = subprocess.run([command, *words], capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().removeprefix("fpemu: ")
        raise Error(words or f"{command} ended with status {done.returncode}")
    return done.stdout


def _read(path: Path) -> dict[str, Any]:
    data = bytearray(path.read_bytes())
    if data.startswith(b"\x93NUMPY"):
        return {"": np.load(path)}
    found, start = {}, 8 + int.from_bytes(data[:8], "little")
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            kind, (begin, end) = entry["dtype"], entry["data_offsets"]
            values: Any = np.frombuffer(memoryview(data)[start + begin:start + end], _TYPES.get(kind, "u1"))
            if kind == "BF16" or kind.startswith("F8"):
                values = decode(values, {"BF16": "bf16", "F8_E4M3": "e4m3fn"}.get(kind, kind[3:].lower()))
            found[name] = values.reshape(entry["shape"])
    return found


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The tensors of a file or directory as NumPy arrays by name: GGUF, packed tensors, and safetensors in a layout of
    other software, bit by bit what the software reads; bfloat16 and 8-bit floats as float32. Error for other files."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "model")
        _run("unpack", "-o", out, "--", path)
        tensors: dict[str, Any] = {}
        for part in sorted(out.glob("*.safetensors")) if out.is_dir() else [out]:
            tensors.update(_read(part))
        return tensors


def judge(path: str | os.PathLike[str], *, against: str | os.PathLike[str] | None = None) -> list[dict[str, Any]]:
    """Which software's layout each tensor of codes and scales has, and by which rules it can have been made.

    against: a file with the tensors before, to which each rule is applied. What `fpemu judge --json` prints.
    """
    words = () if against is None else ("--against", against)
    return list(json.loads(_run("judge", "--json", *words, "--", path)))
