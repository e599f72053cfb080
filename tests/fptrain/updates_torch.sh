# SPDX-License-Identifier: BSD-2-Clause
# The optimisers beside PyTorch's in FP32, step by step: the weights that tests/fptrain/updates prints, and those of
# torch.optim for the same gradients, differ by at most 4 units in the last place of the larger of the weight, its
# first value and the first rate (PyTorch fuses products with sums, and sums norms in FP32); most are the same. Losses
# with smoothed labels beside those of torch.nn.CrossEntropyLoss: the numbers of tests/vectors/updates.txt.
set -u
python3 -c 'import torch' >/dev/null 2>&1 || { echo 'skipped: no Python 3 with PyTorch'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$top_builddir/tests/fptrain/updates" print >"$work/weights" || { cat "$work/weights"; exit 1; }

OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$top_srcdir/tests/vectors" python3 - "$work/weights" \
    "$top_srcdir/tests/vectors/updates.txt" <<'END'
import math
import sys

import torch
import updates

MOST, RATE = 4, float(updates.rate(1))
failed, most, same, count = 0, 0.0, 0, 0


def complain(text):
    global failed
    failed += 1
    if failed < 20:
        print(text)


def optimizer_of(case, named):
    _, name, *numbers, kind, no_decay, no_clip = case
    mu, beta2, epsilon, decay, clip = (float(x) for x in numbers)
    without = [p for n, p in named if updates.fits(n, no_decay)]
    groups = [{"params": [p for n, p in named if not updates.fits(n, no_decay)], "weight_decay": decay},
              {"params": without, "weight_decay": 0.0}]
    if name.startswith("adam"):
        made = torch.optim.AdamW if name == "adamw" else torch.optim.Adam
        return made(groups, lr=RATE, betas=(mu, beta2), eps=epsilon, foreach=False)
    return torch.optim.SGD(groups, lr=RATE, momentum=mu, nesterov=name == "nesterov", foreach=False)


def clip(case, named):
    limit, kind, exempt = float(case[6]), case[7], case[9]
    taken = [p for n, p in named if not updates.fits(n, exempt)]
    if limit == 0:
        return
    if kind == "norm":
        torch.nn.utils.clip_grad_norm_(taken, limit)
    elif kind == "tensor":
        for p in taken:
            torch.nn.utils.clip_grad_norm_([p], limit)
    elif kind == "value":
        torch.nn.utils.clip_grad_value_(taken, limit)


lines = iter(open(sys.argv[1]).read().split("\n"))
for case in updates.CASES:
    named = [(name, torch.nn.Parameter(torch.tensor([updates.start(p, i) / 4096 for i in range(updates.size(shape))])
                                       .reshape(shape)))
             for p, (name, shape) in enumerate(updates.SHAPES)]
    first = [p.detach().clone().flatten().tolist() for _, p in named]
    optimizer = optimizer_of(case, named)
    if next(lines) != f"case {case[0]}":
        complain(f"{case[0]}: the program has another case")
    for step in range(1, updates.STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = float(updates.rate(step))
        for p, (_, parameter) in enumerate(named):
            parameter.grad = torch.tensor([updates.gradient(p, i, step) / 65536 for i in range(parameter.numel())]
                                          ).reshape(parameter.shape)
        clip(case, named)
        optimizer.step()
        for p, (name, parameter) in enumerate(named):
            for i, want in enumerate(parameter.detach().flatten().tolist()):
                got = float.fromhex(next(lines))
                if case[7] == "adaptive":
                    continue  # not in PyTorch
                unit = math.ldexp(1, math.frexp(max(abs(want), abs(first[p][i]), RATE))[1] - 24)
                most, count, same = max(most, abs(got - want) / unit), count + 1, same + (got == want)
                if abs(got - want) > MOST * unit:
                    complain(f"{case[0]}, step {step}, {name}[{i}]: {got!r}, PyTorch has {want!r}")
print(f"{same} of {count} weights are PyTorch's, the others at most {most:.2f} units away")
if same < 0.8 * count:
    complain("too many weights differ")

rows, losses = [], 0
for line in open(sys.argv[2]):
    words = line.split()
    if words[0] in ("case", "step"):
        continue
    if words[0] == "loss":
        smoothing, n, classes, told = float(words[1]), int(words[2]), int(words[3]), float(words[4])
        logits = torch.tensor([updates.logit(n, i) / 512 for i in range(n * classes)], dtype=torch.float64)
        logits = logits.reshape(n, classes).requires_grad_()
        labels = torch.tensor([(7 * r + 1) % classes for r in range(n)])
        loss = torch.nn.CrossEntropyLoss(label_smoothing=smoothing)(logits, labels)
        loss.backward()
        losses += 1
        if abs(loss.item() - told) > 1e-14 * told:
            complain(f"smoothing {smoothing}: {told!r}, PyTorch has {loss.item()!r}")
        rows = list(logits.grad)
        continue
    for want, got in zip(rows.pop(0).tolist(), words, strict=True):
        if abs(want - float(got)) > 1e-15:
            complain(f"smoothing {smoothing}: {got}, PyTorch has {want!r}")
if losses != len(updates.LOSSES):
    complain(f"{losses} losses")
sys.exit(failed != 0)
END
