# SPDX-License-Identifier: BSD-2-Clause
# plans.py - models for plans.sh, and the judge of choices within bits: every choice that there is.
#
#   write FILE              a safetensors file of small tensors
#   judge JSON PLAN BITS    what 'compare --max-bits BITS --json --write-plan PLAN' said is the best
#   follow PLAN REPORT      'quantize --plan PLAN --json' or 'pack --plan PLAN --json' did what the plan says
import array
import json
import math
import random
import struct
import sys


def write(path):
    rng = random.Random(3)
    header, data = {}, b""
    for i, (shape, scale) in enumerate((((8, 64), 1), ((4, 32), 40), ((3, 50), .1), ((64,), 1), ((16, 16), 300),
                                        ((70,), 3), ((2, 2, 33), 1e-3), ((5, 96), 9))):
        count = math.prod(shape)
        numbers = array.array("f", (rng.gauss(0, scale) * (10 if rng.random() < .02 * i else 1) for _ in range(count)))
        numbers = numbers if sys.byteorder == "little" else numbers.byteswap() or numbers
        name = f"layers.{i}." + ("weight" if len(shape) > 1 else "norm")
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + 4 * count]}
        data += numbers.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def read(path):
    with open(path) as f:
        return json.load(f)


def near(a, b, tolerance=1e-9):
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b))


def judge(report, plan, most):
    report, plan, most = read(report), read(plan), float(most)
    counts = [math.prod(t["shape"]) for t in report["tensors"]]
    limit = most * sum(counts)
    sums, signal = [(0.0, 0.0)], 0.0
    for t, n in zip(report["tensors"], counts):
        usable = [f for f in t["formats"] if f["invalid"] == 0 and f["overflow"] == 0 or f["spec"] in SATURATE]
        options = [(round(f["bits_per_element"] * n), f["sum_error2"]) for f in usable]
        sums = [(b + x, e + y) for b, e in sums for x, y in options]
        signal += t["formats"][0]["sum_square"]
    best = min(e for b, e in sums if b <= limit)
    chosen = {t["name"]: next(f for f in t["formats"] if f["spec"] == t["chosen"]) for t in report["tensors"]}
    bits = sum(round(chosen[t["name"]]["bits_per_element"] * n) for t, n in zip(report["tensors"], counts))
    error = sum(f["sum_error2"] for f in chosen.values())
    assert bits <= limit, (bits, limit)
    assert near(error, best), (error, best)
    assert report["max_bits"] == most and report["chosen_gap_db"] == 0 and report["without_chosen"] == 0
    assert near(report["chosen_bits_per_element"], bits / sum(counts))
    assert near(report["chosen_sqnr_db"], 10 * math.log10(signal / error))
    assert plan["fpemu_plan"] == 1 and plan["axis"] == -1
    assert plan["bits_per_element"] == report["chosen_bits_per_element"]
    assert plan["sqnr_db"] == report["chosen_sqnr_db"]
    assert [t["name"] for t in plan["tensors"]] == [t["name"] for t in report["tensors"]]
    for t, u in zip(plan["tensors"], report["tensors"]):
        f = chosen[t["name"]]
        assert t["shape"] == u["shape"] and t["format"] == f["spec"], t
        assert t["bits"] == f["bits_per_element"] and t["sqnr_db"] == f["sqnr_db"], t


# overflow is no loss in formats that saturate
SATURATE = ("mxfp4", "nvfp4", "mxfp6_e2m3", "e2m3", "mxfp8_e4m3", "e4m3fn:saturate")


def follow(plan, report):
    plan, report = read(plan), read(report)
    done = {t["name"]: t for t in report["tensors"]}
    planned = {t["name"]: t for t in plan["tensors"] if t["format"] != "keep"}
    assert set(done) == set(planned)
    for name, t in planned.items():
        assert done[name]["spec"] == t["format"] and done[name]["sqnr_db"] == t["sqnr_db"], name
        assert done[name].get("bits_per_element", t["bits"]) == t["bits"], name
    if len(planned) == len(plan["tensors"]):
        assert near(report["sqnr_db"], plan["sqnr_db"])
        assert near(report.get("bits_per_element", plan["bits_per_element"]), plan["bits_per_element"])


{"write": write, "judge": judge, "follow": follow}[sys.argv[1]](*sys.argv[2:])
