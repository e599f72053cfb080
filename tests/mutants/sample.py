# SPDX-License-Identifier: BSD-2-Clause
"""Defects of lines of lib and gpu drawn by a seed, in the form of mutants.txt, but that a line is named by its number.

    python3 sample.py SEED COUNT

Only lines are drawn of which run.sh compiles something: no comments, nothing for other instruction sets. What may
become of a line is for universalmutator of PyPI to say; some of it does not compile."""

import contextlib
import io
import os
import pathlib
import random
import re
import subprocess
import sys

from universalmutator import mutator

top = pathlib.Path(__file__).resolve().parents[2]
seed, count = sys.argv[1], int(sys.argv[2])
compiled = set()  # (path, number)
for source in sorted(p for room in ("lib", "gpu") for p in (top / room).rglob("*.c")):
    if re.search(r"\.inc\.c$|/x86_64_", str(source)):
        continue
    command = [os.environ.get("CC", "cc"), "-E", "-std=c11", "-Iinclude", "-Ilib", "-Igpu", source.relative_to(top)]
    number = 0
    for line in subprocess.run(command, cwd=top, capture_output=True, text=True, check=True).stdout.splitlines():
        if marker := re.match(r'# (\d+) "(.*?)"', line):
            number, path = int(marker[1]), marker[2]
            continue
        if line.strip(" {}"):
            compiled.add((path, number))
        number += 1
lines = []
for path in sorted(p for room in ("lib", "gpu") for p in (top / room).rglob("*.[ch]")):
    source = path.read_text(encoding="utf-8").splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):
        changes = mutator.mutants_regexp(source, ["universal.rules", "c_like.rules", "c.rules"], ignorePatterns=[])
    by_line = {}
    for number, changed, *_ in changes:
        if not re.search(r"\b(break|continue);?$|-1_t\b", changed.strip()):  # which seldom compiles, or changes nothing
            by_line.setdefault(number, []).append(changed)
    lines += [(path.relative_to(top), number, source[number - 1], found) for number, found in by_line.items()]
lines = [line for line in lines if (str(line[0]), line[1]) in compiled]

drawn = random.Random(seed)
for k, (path, number, old, found) in enumerate(drawn.sample(lines, count)):
    print(f"@ drawn-{seed}-{k} {path}:{number}\n- {old.strip()}\n+ {' '.join(drawn.choice(found).split())}")
