# SPDX-License-Identifier: BSD-2-Clause
# What `fptrain demo` claims: FP16 learns with and without loss scaling, FP8 only with it; without it most of its gradients
# underflow from the first step on, reckoned again here from the logs; and its curves are well-formed.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$FPTRAIN" demo "$work/out" >"$work/table" || { cat "$work/table"; exit 1; }
status=0
awk '
    $3 == "%" { accuracy[$1] = $2; first[$1] = $7; underflow[$1] = $9; rows++ }
    END {
        learnt = accuracy["fp32"] > 85 && accuracy["fp16"] > 85 && accuracy["fp16-scaled"] > 85 &&
                 accuracy["fp8-scaled"] > 85
        exit !(rows == 5 && learnt && accuracy["fp8"] < 50 && underflow["fp8"] > underflow["fp8-scaled"] &&
               underflow["fp16"] > underflow["fp16-scaled"] && first["fp8"] > 50 && first["fp8-scaled"] < 5)
    }' "$work/table" || { cat "$work/table"; status=1; }
if python3 -c 'import json' 2>/dev/null; then
    python3 - "$work" <<'END' || status=1
import json, sys
rows = [line.split() for line in open(sys.argv[1] + "/table") if line.startswith(("fp16", "fp8"))]
for row in rows:
    lost, others = {10: 0, 1 << 60: 0}, {10: 0, 1 << 60: 0}
    lines = [json.loads(line) for line in open("%s/out/%s/log.jsonl" % (sys.argv[1], row[0]))]
    number = {name: i for i, name in enumerate(lines[0]["counters"])}
    names = lines[0]["names"]
    skipped = len(names["v"]) + len(names["w"])
    for line in lines[1:]:
        for tensor in line.get("tensors", [])[skipped:]: # gradients come last
            for last in lost:
                if tensor != 0 and line["step"] <= last:
                    numbers = [x for x in tensor if not isinstance(x, dict)] + [0] * len(number)
                    lost[last] += numbers[number["underflow"]]
                    others[last] += numbers[number["count"]] - tensor[-1]["histogram"]["zeros"]
    wanted = ["%.2f" % (100 * lost[last] / others[last]) for last in lost]
    assert row[6:10:2] == wanted, (row, wanted)
assert len(rows) == 4
END
fi
if command -v xmllint >/dev/null; then
    xmllint --noout "$work/out/curves.svg" || status=1
fi
grep -q 'fp8-scaled</text>' "$work/out/curves.svg" || { echo "the legend lacks a run"; status=1; }
exit $status
