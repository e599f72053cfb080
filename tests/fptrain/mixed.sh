# SPDX-License-Identifier: BSD-2-Clause
# Mixed precision: what the log of a run has about updates, sums and exponents agrees with itself and with the summary,
# and a run that was killed has the same notes as one that was not.
. "$(dirname "$0")/common.sh"
python3 -c 'import json' 2>/dev/null || exit 77

options mixed model.name=mlp model.width=0.125 data.source=digits data.train_count=96 data.test_count=20 \
    train.epochs=2 train.batch=16 train.lr=0.002 'train.backend=emulated:chunk(64,fp16)' optimizer.name=momentum \
    optimizer.master=no scaler.name=backoff scaler.scale=262144 output.log_every=1 output.histograms=yes \
    output.checkpoint_steps=1 formats.v=fp16 formats.w=bf16 formats.dv=fp16 formats.dw=fp16
run whole 1 "${mixed[@]}" || exit 1
kill_at killed 4 "${mixed[@]}"
run killed 1 "${mixed[@]}" --resume || exit 1
same whole killed "a run that was killed"

python3 - "$work/whole/run" <<'PYTHON' || status=1
import json, sys

def load(directory):
    first, *lines = [json.loads(l) for l in open(directory + "/log.jsonl")]
    names = [(role, name) for role in ("v", "w", "dv", "dw") for name in first["names"][role]]
    for line in lines:
        if "tensors" in line: # arrays in the order of the names, 0 for a tensor that has none
            assert len(line["tensors"]) == len(names)
            line["tensors"] = [{"role": role, "name": name, **dict.fromkeys(first["counters"], 0),
                                **dict(zip(first["counters"], entry[:-1])), **entry[-1]}
                               for (role, name), entry in zip(names, line["tensors"]) if entry]
    return [l for l in lines if "loss" in l], json.load(open(directory + "/summary.json"))

steps, summary = load(sys.argv[1])
notes = summary["notes"]
assert len(steps) == 12
taken = [s["updates"] for s in steps if not s["skipped"]]
assert 0 < len(taken) < 12, "2^18 overflows, smaller scales do not"
assert all(("updates" in s) != s["skipped"] for s in steps)
parameters = 784 * 32 + 32 + 32 * 16 + 16 + 16 * 10 + 10
for u in taken:
    assert u["count"] == parameters and 0 < u["vanished"] < u["not_zero"] <= parameters
    assert u["gradients_below_2^-24"] <= u["updates_below_2^-24"] and "counts" not in u
total = lambda key: sum(u[key] for u in taken)
assert notes["updates_vanished"] == total("vanished") / total("not_zero")
assert notes["updates_not_zero"] == total("not_zero") / total("count")
assert notes["gradients_below_2^-24"] == total("gradients_below_2^-24") / total("count")
assert notes["updates_below_2^-24"] == total("updates_below_2^-24") / total("count")

# Three linear layers, forward and backward but for the gradient of the input; a chunk of 64 has one addition more.
def roundings(m, n, k):
    return m * n * (k + (k + 63) // 64)
layers = [(784, 32), (32, 16), (16, 10)]
each = sum(roundings(16, o, i) + roundings(o, i, 16) for i, o in layers)
each += sum(roundings(16, i, o) for i, o in layers[1:])
for s in steps:
    assert s["sums"]["count"] == each, (s["sums"]["count"], each)
    assert 0 < s["sums"]["swamped"] < s["sums"]["inexact"] < each
swamped = sum(s["sums"]["swamped"] for s in steps)
assert notes["sums_swamped"] == swamped / (12 * each)

roles = set()
for s in steps:
    for t in s["tensors"]:
        h = t["histogram"]
        assert sum(h["counts"]) + h["zeros"] + t["nan"] + t["infinite"] == t["count"], t
        roles.add(t["role"])
        if t["name"] == "relu1.v": # about half of what goes in is negative
            assert t["count"] == 16 * 32 and 50 < h["zeros"] < 450, h
assert roles == {"v", "w", "dv", "dw"}
PYTHON
exit $status
