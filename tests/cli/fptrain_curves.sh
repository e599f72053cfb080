#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fptrain report: seeds as bands, smoothing, curves of more points than the paper holds, legends of any length, and the
# limits of formats in maps of exponents, against numbers from the definitions of the formats.
FPEMU=$FPTRAIN
. "$(dirname "$0")/common.sh"
if ! python3 -c 'import xml.dom' 2>/dev/null; then
    echo 'without Python nothing reads the pictures'
    exit 77
fi

# steps LOSS...: a line each, from step 1
steps() {
    n=0
    for loss in "$@"; do
        n=$((n + 1))
        echo "{\"step\":$n,\"epoch\":0,\"loss\":$loss,\"scale\":1,\"seconds\":$n}"
    done
}

mkdir -p seeds/tiny-1 seeds/tiny-2 seeds/tiny-3 seeds/other
for seed in 1 2 3; do
    printf '[train]\nseed = %s\nlr = 0.5\n[formats]\nw = bf16\nv = fp16 rtz\n' $seed >seeds/tiny-$seed/settings.ini
done
printf '[train]\nlr = 0.25\n[formats]\nw = bf16\nv = fp16\n' >seeds/other/settings.ini
steps 2 4 1 8 '"nan"' 6 >seeds/tiny-1/log.jsonl
steps 4 6 3 7 5 8 9 >seeds/tiny-2/log.jsonl # it goes on longer
steps 6 8 2 3 1 4 >seeds/tiny-3/log.jsonl
steps 8 1 8 1 8 1 >seeds/other/log.jsonl
for run in seeds/*; do
    printf '{"finished":true}' >"$run/summary.json"
done
cat >curves.py <<'END'
import re, sys, xml.dom.minidom
def read(path):
    svg = xml.dom.minidom.parse(path).documentElement
    out = {}
    for p in svg.getElementsByTagName("path"):
        kind = p.getAttribute("class").split(" ")[0]
        d = p.getAttribute("d")
        if kind in ("curve", "faint", "band") and not re.fullmatch(r"M[0-9]+ [0-9]+h28", d): # not of the legend
            pieces = [re.findall(r"[ML](-?[0-9.]+) (-?[0-9.]+)", piece) for piece in re.split("(?=M)", d) if piece]
            out.setdefault(kind, []).append([[(float(x), float(y)) for x, y in piece] for piece in pieces])
    return svg, out
class Axes: # step 1 and value `low` at the left bottom, step `last` and `high` at the right top
    def __init__(self, last, low, high):
        self.last, self.low, self.high = last, low, high
    def __call__(self, x, y):
        return (1 + (x - 64) / (628 - 64) * (self.last - 1), self.low + (262 - y) / (262 - 30) * (self.high - self.low))
def close(points, wanted):
    assert len(points) == len(wanted), (points, wanted)
    for (a, b), (c, d) in zip(points, wanted):
        assert abs(a - c) < 0.02 and abs(b - d) < 0.03, (points, wanted)
END
"$FPTRAIN" report seeds/* --plots plots --tables page.md || failed report
PYTHONPATH=. python3 - <<'END' || failed 'bands'
from curves import *
svg, found = read("plots/loss.svg")
at = Axes(7, 1, 9)
other, mean = found["curve"]
close([at(*p) for p in other[0]], [(i + 1, v) for i, v in enumerate([8, 1, 8, 1, 8, 1])])
# The first seed has no number at step 5: the mean breaks there. Only the second has a step 7.
assert len(mean) == 2
close([at(*p) for p in mean[0]], [(1, 4), (2, 6), (3, 2), (4, 6)])
close([at(*p) for p in mean[1]], [(6, 6), (7, 9)])
band, = found["band"]
close([at(*p) for p in band[0]], [(1, 2), (2, 4), (3, 1), (4, 3), (4, 8), (3, 3), (2, 8), (1, 6)])
close([at(*p) for p in band[1]], [(6, 4), (7, 9), (7, 9), (6, 8)])
assert "faint" not in found
text = open("plots/loss.svg").read()
assert ">tiny (3 runs)</text>" in text and ">other</text>" in text and "bands go from the lowest" in text
text = open("page.md").read()
assert "\n- formats.w = bf16\n" in text and "| v fp16 rtz |" in text and "| train.lr | formats | seeds |" in text
END

# Smoothed with the weight 0.75: m = 0.75 m + 0.25 x, over 1 - 0.75^n.
mkdir smooth
printf '[train]\nlr = 0.1\n' >smooth/settings.ini
steps 3 1 4 1 5 '"nan"' 9 2 >smooth/log.jsonl
"$FPTRAIN" report smooth --smooth 0.75 --plots smoothed || failed '--smooth'
PYTHONPATH=. python3 - <<'END' || failed 'smoothing'
from curves import *
values = [3, 1, 4, 1, 5, None, 9, 2]
svg, found = read("smoothed/loss.svg")
at = Axes(8, 1, 9)
wanted, weights, sums = [], 0, 0
for i, v in enumerate(values):
    if v is not None: # the definition: every earlier value x 0.75^distance, over the sum of these weights
        before = [x for x in values[:i + 1] if x is not None]
        w = [0.75 ** (len(before) - 1 - k) for k in range(len(before))]
        wanted.append((i + 1, sum(a * b for a, b in zip(w, before)) / sum(w)))
close([at(*p) for p in sum(found["curve"][0], [])], wanted)
close([at(*p) for p in sum(found["faint"][0], [])], [(i + 1, v) for i, v in enumerate(values) if v])
assert len(found["curve"][0]) == 2
scale = open("smoothed/scale.svg").read()
assert "faint" not in scale.split("</style>")[1] and "Smoothed" not in scale # a scale is no noise
assert "Smoothed: exponential mean, weight 0.75" in open("smoothed/loss.svg").read()
END
for weight in 0 1 -1 2 nan x '' ' 0.5'; do
    fails_report "--smooth: '$weight' is no number between 0 and 1" smooth --smooth "$weight" --plots smoothed
done
fails_report '--smooth is for --plots' smooth --smooth 0.5 --tables t.md

# 50000 points with one peak, one low and one step without a number: small, and nothing of these is lost.
mkdir long
printf '[train]\nlr = 0.1\n' >long/settings.ini
awk 'BEGIN { for (i = 1; i <= 50000; i++)
    printf "{\"step\":%d,\"epoch\":0,\"loss\":%s,\"scale\":1,\"seconds\":1}\n", i,
           i == 12345 ? 100 : i == 23456 ? 1 : i == 34567 ? "\"nan\"" : 50 + i % 2 }' >long/log.jsonl
"$FPTRAIN" report long --plots longplots || failed 'a long run'
holds "$(wc -c <longplots/loss.svg)" -lt 20000
PYTHONPATH=. python3 - <<'END' || failed 'a long curve'
from curves import *
svg, found = read("longplots/loss.svg")
at = Axes(50000, 1, 100)
curve, = found["curve"]
points = [at(*p) for piece in curve for p in piece]
assert len(points) <= 400 and len(curve) == 2, (len(points), len(curve))
assert [round(x / 100) for x, y in points if y > 99] == [123] and [round(x / 100) for x, y in points if y < 2] == [235]
assert all(49.5 < y < 51.5 for x, y in points if 2 < y < 99)
assert "Of neighbouring points" in open("longplots/loss.svg").read()
END

# A point that stands alone, between steps without a number, is a dot.
mkdir dots
printf '[train]\nlr = 0.1\n' >dots/settings.ini
steps 1 '"nan"' 3 '"nan"' 2 2 >dots/log.jsonl
"$FPTRAIN" report dots --plots dotplots || failed 'dots'
holds "$(grep -o '<circle class="f0" cx="[0-9.]*" cy="[0-9.]*"' dotplots/loss.svg | sed 's/[^0-9. ]//g' | tr -s ' ' |
    tr '\n' ';')" = ' 0 64.0 262.0; 0 289.6 30.0;'

# Losses over more than two powers of ten: 200, 20, 1 on a logarithmic axis from 2^0.
mkdir wide
printf '[train]\nlr = 0.1\n' >wide/settings.ini
steps 200 20 1 >wide/log.jsonl
"$FPTRAIN" report wide --plots wideplots || failed 'wide'
PYTHONPATH=. python3 - <<'END' || failed 'a wide range'
from curves import *
import math
svg, found = read("wideplots/loss.svg")
at = Axes(3, 0, math.log2(200))
close([at(*p) for p in found["curve"][0][0]], [(1, math.log2(200)), (2, math.log2(20)), (3, 0)])
END

# Twelve runs with long names of any letters: nothing lies over anything, no two look alike, names are no mark-up.
mkdir names
i=0
while [ $i -lt 12 ]; do
    i=$((i + 1))
    name="names/<b>&\"a name that is rather long and then some more of it, so that it does not fit - $i"
    mkdir "$name"
    printf '[train]\nlr = 0.%02d\n' $i >"$name/settings.ini"
    steps 1 $i >"$name/log.jsonl"
done
"$FPTRAIN" report names/* --plots nameplots || failed 'long names'
PYTHONPATH=. python3 - <<'END' || failed 'legends'
from curves import *
svg, found = read("nameplots/loss.svg")
width, height = map(int, svg.getAttribute("viewBox").split()[2:])
texts = [t for t in svg.getElementsByTagName("text") if "does not fit" in t.toxml()]
assert len(texts) == 12
places = [(int(t.getAttribute("x")), int(t.getAttribute("y"))) for t in texts]
assert len(set(places)) == 12 and all(y < height for x, y in places)
for t, (x, y) in zip(texts, places): # about 6 units a letter
    assert x + 6 * len("".join(n.data for n in t.childNodes)) <= width, t.toxml()
looks = [p.getAttribute("class") for p in svg.getElementsByTagName("path") if p.getAttribute("class").startswith("curve")]
assert len(set(looks)) == 12 and len(looks) == 24
assert "<b>" not in open("nameplots/loss.svg").read()
END

# ------------------------------------------------------------------------------------------------ formats
# Exponents of the smallest, the smallest normal and the largest value: OCP OFP8 (448 = 1.75 x 2^8, 2^-6, 2^-9; 57344 =
# 1.75 x 2^15, 2^-14, 2^-16), IEEE binary16 (65504, 2^-14, 2^-24), bfloat16 of which only the limits below are near;
# OCP MX FP4 (6 = 1.5 x 2^2, 1, 0.5); int8 (127, 1) has no subnormal numbers.
mkdir formats
cat >formats/settings.ini <<'END'
[formats]
*.bias = e2m1
v = e4m3fn
w = fp16
dv = e5m2
a.v = int8
dw = bf16
mx.dv = mxfp8
alone.dv = fp32
END
{
    printf '{"step":1,"epoch":0,"loss":1,"scale":1,"tensors":['
    for tensor in a.v:v b.v:v a.weight:w a.bias:w a.dv:dv mx.dv:dv alone.dv:dv a.dweight:dw; do
        printf '%s{"name":"%s","role":"%s","count":100,"histogram":{"first":-20,"counts":[' "$comma" "${tensor%:*}" \
            "${tensor#*:}"
        printf '9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,9]}}'
        comma=,
    done
    printf ']}\n'
} >formats/log.jsonl
"$FPTRAIN" report formats --tensors '*' --plots limits || failed 'limits'
PYTHONPATH=. python3 - <<'END' || failed 'limits of formats'
from curves import *
# Rows in their order: smallest, smallest normal, largest. What lies more than 8 beside -20..1 is not drawn: 2^15 (of
# FP16, E5M2), 2^-133, 2^-126 and 2^127 (of BF16).
wanted = [(0, None, 6), (-9, -6, 8), (-24, -14, None), (-1, 0, 2), (-16, -14, None), (None,) * 3, (None,) * 3, (None,) * 3]
svg, found = read("limits/exponents-formats.svg")
ticks = [(float(p.getAttribute("d")[1:].split()[0]), t.firstChild.data) for g in svg.getElementsByTagName("g")
         if g.getAttribute("class") == "axis" for p, t in zip(
             [p for p in g.getElementsByTagName("path") if p.getAttribute("d").endswith("v5")],
             [t for t in g.getElementsByTagName("text") if t.firstChild.data.lstrip("-").isdigit()])]
(x0, e0), (x1, e1) = ticks[0], ticks[-1]
unit = (x1 - x0) / (int(e1) - int(e0))
got = [[None] * 3 for row in wanted]
for kind, name in enumerate(("smallest", "normal", "largest")):
    line = [p for p in svg.getElementsByTagName("path") if p.getAttribute("class") == "limit " + name][0]
    for x, y in re.findall(r"M([0-9.]+) ([0-9]+)v13", line.getAttribute("d")):
        exponent = int(e0) + (float(x) - x0) / unit + (-0.5 if kind == 2 else 0.5) # around the bins of the exponents
        assert abs(exponent - round(exponent)) < 0.05, (name, x)
        got[(int(y) - 30) // 13][kind] = round(exponent)
assert got == [list(w) for w in wanted], got
told = [t.firstChild.data for t in svg.getElementsByTagName("text") if t.firstChild.nodeType == 3]
for words in "e4m3fn: 2^-9, 2^-6, 2^8", "fp16: 2^-24, 2^-14, 2^15", "e5m2: 2^-16, 2^-14, 2^15", "int8: 2^0, 2^6", \
        "bf16: 2^-133, 2^-126, 2^127", "e2m1: 2^-1, 2^0, 2^2":
    assert words in told, (words, told)
assert not any("mxfp8" in words for words in told)
END
finish
