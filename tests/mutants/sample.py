# SPDX-License-Identifier: BSD-2-Clause
"""Defects of lines of lib and gpu drawn by a seed, in the form of mutants.txt, but that a line is named by its number.

    python3 sample.py SEED COUNT

universalmutator of PyPI says what may become of a line; some of it does not compile."""
import contextlib
import io
import pathlib
import random
import sys

from universalmutator import mutator

top = pathlib.Path(__file__).resolve().parents[2]
seed, count = sys.argv[1], int(sys.argv[2])
lines = []
for path in sorted(p for room in ("lib", "gpu") for p in (top / room).rglob("*.[ch]")):
    source = path.read_text(encoding="utf-8").splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):
        changes = mutator.mutants_regexp(source, ["universal.rules", "c_like.rules", "c.rules"], ignorePatterns=[])
    by_line = {}
    for number, changed, *_ in changes:
        by_line.setdefault(number, []).append(changed)
    lines += [(path.relative_to(top), number, source[number - 1], found) for number, found in by_line.items()]

drawn = random.Random(seed)
for k, (path, number, old, found) in enumerate(drawn.sample(lines, count)):
    print(f"@ drawn-{seed}-{k} {path}:{number}\n- {old.strip()}\n+ {' '.join(drawn.choice(found).split())}")
