# SPDX-License-Identifier: BSD-2-Clause
"""A small GPT learns the text of this project's documents, with every product's operands in a format.

    python gpt.py                      # FP32, FP8, MXFP8, MXFP4, NVFP4: a table, and gpt.svg
    python gpt.py --steps 50 --recipes fp32,fp8-scaled --svg ""

It predicts the next character of `doc/*.md`. `fpemu.torch.convert` makes the model round, in one line; `observe` counts
what overflowed and what became zero, by role: activations, weights, gradients. The last layer stays in bf16, as
published recipes have it. "fp8" is plain casts without scales; "fp8-scaled" gives every tensor a scale. Needs torch.
"""

import argparse
import math
import pathlib

import fpemu
import fpemu.torch
import torch
import torch.nn.functional as F
from torch import nn

DOCUMENTS = pathlib.Path(__file__).resolve().parents[2] / "doc"
ROLES = {"v": "activations", "w": "weights", "dv": "gradients"}
COLOURS = ("#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#b8860b", "#7a5195", "#777777")


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.attention = fpemu.torch.DotProductAttention()  # the function as a module, so that convert finds it

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(self.attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, characters, length=64, width=64, heads=2, layers=1):
        super().__init__()
        self.token, self.place = nn.Embedding(characters, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, characters)

    def forward(self, text):
        x = self.token(text) + self.place.weight[:text.shape[1]]
        return self.head(self.norm(self.blocks(x)))


def read_text():
    """The documents as numbers of characters: those to learn from, those to test on, how many characters there are.
    The page that quotes what this example prints is left out."""
    pages = [page.read_text(encoding="utf-8") for page in sorted(DOCUMENTS.glob("*.md")) if page.name != "python.md"]
    text = "".join(pages)
    number = {c: i for i, c in enumerate(sorted(set(text)))}
    data = torch.tensor([number[c] for c in text])
    cut = len(data) * 9 // 10
    return data[:cut], data[cut:], len(number)


def batch(data, generator, size=8, length=64):
    starts = torch.randint(len(data) - length, (size,), generator=generator)
    rows = torch.stack([data[i:i + length + 1] for i in starts])
    return rows[:, :-1], rows[:, 1:]


def loss_of(model, pair):
    x, y = pair
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def train(recipe, steps, train_data, test_data, characters):
    """The losses of all steps, the loss on the test text, and the counters by role."""
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(2)  # the same batches for every recipe
    model = fpemu.torch.convert(GPT(characters), recipe, {"head": "bf16"})
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps, pct_start=0.15)
    with fpemu.torch.observe(model) as log:
        for _ in range(steps):
            loss = loss_of(model, batch(train_data, generator))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            log.step(loss)
    losses = [line["loss"] for line in log.lines]
    with torch.no_grad():
        test = torch.stack([loss_of(model, batch(test_data, generator)) for _ in range(32)]).mean().item()
    counters = {role: fpemu.Stats() for role in ROLES}
    for name, role, stats in log:
        if role in counters and not name.startswith("head"):
            counters[role] += stats
    return losses, test, counters


def share(stats, what):
    return 100 * getattr(stats, what) / max(stats.count, 1)


def smoothed(losses):
    """The mean of each step's neighbours."""
    reach = max(1, len(losses) // 50)
    parts = [losses[max(0, i - reach):i + reach + 1] for i in range(len(losses))]
    return [sum(part) / len(part) for part in parts]


def panel(parts, title, curves, top, height, tick):
    """Curves by step, with a line at each multiple of `tick`."""
    left, width = 56, 400
    finite = [value for curve in curves for value in curve if math.isfinite(value)]
    low, high = math.floor(min(finite) / tick), max(math.ceil(max(finite) / tick), math.floor(min(finite) / tick) + 1)
    steps = max(map(len, curves))

    def y(value):
        return top + height * (high * tick - value) / ((high - low) * tick)

    parts.append(f'<text x="{left}" y="{top - 12}" font-size="15" font-weight="bold">{title}</text>')
    for mark in range(low, high + 1):
        parts.append(f'<path stroke="#dddddd" d="M{left} {y(mark * tick):.1f}h{width}"/>'
                     f'<text x="{left - 8}" y="{y(mark * tick) + 4:.1f}" text-anchor="end">{mark * tick:g}</text>')
    for curve, colour in zip(curves, COLOURS):
        points = " ".join(f"{left + width * i / max(steps - 1, 1):.1f},{y(value):.1f}"
                          for i, value in enumerate(curve) if i % max(1, steps // 250) == 0 and math.isfinite(value))
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>')
    parts.append(f'<text x="{left + width}" y="{top + height + 18}" text-anchor="end">{steps} steps</text>')


def draw(runs, file):
    """Losses by step, above those of the first recipe too; beside them what became zero."""
    names = list(runs)
    curves = [smoothed(losses) for losses, _, _ in runs.values()]
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 430" font-family="sans-serif" font-size="13">',
             '<rect width="800" height="430" rx="6" fill="#ffffff"/>']
    panel(parts, "Loss of a small GPT on this manual", curves, 40, 130, 1)
    panel(parts, f"The same, above that in {names[0]}", [[a - b for a, b in zip(curve, curves[0])] for curve in curves],
          230, 160, 0.05)
    x = 520
    parts.append(f'<text x="{x}" y="28" font-size="15" font-weight="bold">What became zero</text>')
    for i, (name, (_, test, counters)) in enumerate(runs.items()):
        y, colour = 40 + i * 390 / max(len(runs), 5), COLOURS[i % len(COLOURS)]
        parts.append(f'<text x="{x}" y="{y + 14:.1f}" fill="{colour}" font-weight="bold">{name}: '
                     f'loss {test:.2f} on other text</text>')
        for role, stats in counters.items():
            value = share(stats, "underflow")
            wide = max(value * 2, 0.5)
            parts.append(f'<rect x="{x}" y="{y + 20:.1f}" width="{wide:.1f}" height="12" fill="{colour}" '
                         f'opacity="0.6"/><text x="{x + wide + 6:.1f}" y="{y + 30:.1f}" font-size="11" '
                         f'fill="#555555">{ROLES[role]} {value:.2g} %</text>')
            y += 15
    pathlib.Path(file).write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1500, help="steps of training for each recipe")
    parser.add_argument("--recipes", default="fp32,fp8,mxfp8,mxfp4,nvfp4", help="names, or formats of all operands")
    parser.add_argument("--svg", default="gpt.svg", help="the picture's file; empty: none")
    options = parser.parse_args()
    if options.steps < 1:
        parser.error("--steps is 1 or more")
    train_data, test_data, characters = read_text()
    print(f"{len(train_data)} characters to learn, {len(test_data)} to test, {options.steps} steps of 512")
    print(f"{'':10} {'loss':>6} {'test':>6}" + "".join(f"{name + ', %':>22}" for name in ROLES.values()))
    print(f"{'':10} {'':>6} {'':>6}" + f"{'overflow':>12}{'to zero':>10}" * len(ROLES))
    runs = {}
    for name in options.recipes.split(","):
        losses, test, counters = runs[name] = train(name, options.steps, train_data, test_data, characters)
        last = losses[-50:]
        print(f"{name:10} {sum(last) / len(last):6.3f} {test:6.3f}" + "".join(
            f"{share(s, 'overflow'):12.4f}{share(s, 'underflow'):10.4f}" for s in counters.values()), flush=True)
    if options.svg:
        draw(runs, options.svg)
        print(f"{options.svg}: the losses step by step")


if __name__ == "__main__":
    main()
