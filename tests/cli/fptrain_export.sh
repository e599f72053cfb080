#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fptrain report --csv: every number of a log reads back to what the log has, by the csv module; and in the files of
# events that examples/fptrain/events.py makes of it, by the package tensorboard, where they are there.
FPEMU=$FPTRAIN
example=$(cd "$(dirname "$0")/../.." && pwd)/examples/fptrain/events.py
. "$(dirname "$0")/common.sh"

# ------------------------------------------------------------------------------------------------ a small log
# A name that needs quoting, with a line feed and a letter beside ASCII; numbers at the ends of what binary64 holds.
odd=$(printf 'a "b", c\n\303\244')
mkdir "$odd" twice twice/x
printf '[train]\nseed = 1\n' | tee "$odd/settings.ini" twice/x/settings.ini >/dev/null
cat >"$odd/log.jsonl" <<'END'
{"step":1,"epoch":0,"loss":0.1,"scale":1,"skipped":false,"seconds":0.5,"tensors":[{"name":"a,b.dv","role":"dv","count":9007199254740993,"underflow":2,"max_abs":"inf","histogram":{"first":-2,"counts":[3,0,4],"zeros":5}},{"name":"c.w","role":"w","count":7}],"updates":{"count":10,"first":-5,"counts":[1,2],"mean_move":0.3333333333333333}}
{"step":2,"epoch":0,"loss":"nan","scale":2.2250738585072014e-308,"skipped":true,"seconds":1.25}
{"step":2,"policy_epoch":0,"bits":8,"p":1.7976931348623157e308,"switched":false}
{"step":3,"test_loss":"-inf","test_accuracy":0.30000000000000004,"seconds":2,"words":"are no number"}
{"step":4,"los
END
truncate -s -1 "$odd/log.jsonl"
run='"a ""b"", c
'$(printf '\303\244')'"'
"$FPTRAIN" report "$odd" --csv small.csv >out 2>err || failed "report --csv: $(cat err)"
holds ! -s out
{
    echo run,step,name,value
    while read -r line; do
        echo "$run,$line"
    done <<'END'
1,epoch,0
1,loss,0.1
1,scale,1
1,skipped,0
1,seconds,0.5
1,"count/a,b.dv",9007199254740993
1,"underflow/a,b.dv",2
1,"max_abs/a,b.dv",inf
1,"zeros/a,b.dv",5
1,"histogram/a,b.dv/-2",3
1,"histogram/a,b.dv/-1",0
1,"histogram/a,b.dv/0",4
1,count/c.w,7
1,updates/count,10
1,updates/mean_move,0.3333333333333333
1,updates/ratio/-5,1
1,updates/ratio/-4,2
2,epoch,0
2,loss,nan
2,scale,2.2250738585072014e-308
2,skipped,1
2,seconds,1.25
2,policy_epoch,0
2,bits,8
2,p,1.797693134862316e+308
2,switched,0
3,test_loss,-inf
3,test_accuracy,0.30000000000000004
3,seconds,2
END
} >expected.csv
sed -i 's/,1.797693134862316e+308/,1.7976931348623157e+308/' expected.csv
same expected.csv small.csv
# Logs of this version name their tensors in a first line, and leave zeros at the end of an array out.
cat >twice/x/log.jsonl <<'END'
{"log":2,"run":"0","machine":{"number":5},"counters":["count","underflow","nan"],"names":{"v":["a.v"],"dv":["a.dv","b.dv"]}}
{"step":10,"epoch":0,"loss":1,"scale":4,"seconds":1,"tensors":[0,[5,2],[6,{"alpha":8}]]}
{"step":11,"stopped":"the loss is no number"}
END
mkdir -p twice/y
cp -R twice/x twice/y/x
"$FPTRAIN" report twice/x --csv new.csv --tensors 'a.*' || failed 'report --csv of a log of this version'
printf 'run,step,name,value\n' >expected.csv
for line in epoch,0 loss,1 scale,4 seconds,1 count/a.dv,5 underflow/a.dv,2 nan/a.dv,0 alpha/a.dv,4; do
    echo "twice/x,10,$line"
done >>expected.csv
same expected.csv new.csv

# ------------------------------------------------------------------------------------------------ a training
"$FPTRAIN" run --quiet --model mlp --epochs 2 --out real --set data.train_count=320 --set data.test_count=64 \
    --set output.log_every=1 --set output.histograms=yes --set formats.v=e4m3fn --set formats.w=e4m3fn \
    --set formats.dv=e5m2 --set formats.dw=fp16 --scaler backoff || failed 'a training'
"$FPTRAIN" report real "$odd" twice/x twice/y/x --csv all.csv || failed 'report of four'
no_leftovers

# What the log has, read by other eyes: {name: [(step, value)]} of every run.
cat >judge.py <<'END'
import json, math
def values(directory):
    all, first = [], None
    for line in open(directory + "/log.jsonl", encoding="utf-8"):
        if not line.endswith("\n"):
            break
        line = json.loads(line)
        if "log" in line:
            first = line
            continue
        number = lambda x: float(x) if isinstance(x, str) else x
        tell = lambda name, x: all.append((line["step"], name, number(x)))
        for key, value in line.items():
            if key in ("updates", "sums"):
                for inner, x in value.items():
                    if inner not in ("first", "counts"):
                        tell(key + "/" + inner, x)
                for i, x in enumerate(value.get("counts", [])):
                    tell("%s/ratio/%d" % (key, value["first"] + i), x)
            elif key not in ("step", "tensors") and (not isinstance(value, str) or value in ("nan", "inf", "-inf")):
                tell(key, value)
        tensors = line.get("tensors", [])
        if first:
            names = [(n, role) for role in ("v", "w", "dv", "dw") for n in first["names"].get(role, [])]
            wide = []
            for (name, role), t in zip(names, tensors):
                if t == 0:
                    continue
                more = t.pop() if isinstance(t[-1], dict) else {}
                own = dict(zip(first["counters"], t + [0] * len(first["counters"])), name=name, role=role, **more)
                if role[0] == "d":
                    own.setdefault("alpha", line["scale"])
                wide.append(own)
            tensors = wide
        for t in tensors:
            for key, x in t.items():
                if key == "histogram":
                    tell("zeros/" + t["name"], x["zeros"])
                    for i, n in enumerate(x["counts"]):
                        tell("histogram/%s/%d" % (t["name"], x["first"] + i), n)
                elif key not in ("name", "role"):
                    tell(key + "/" + t["name"], x)
    return all
def same(a, b):
    return a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))
END
sed 's/^    //' >csv_test.py <<'END'
    import csv, sys
    from judge import values, same
    runs = sys.argv[1:]
    rows = list(csv.reader(open("all.csv", encoding="utf-8", newline=""), strict=True))
    assert rows[0] == ["run", "step", "name", "value"] and all(len(r) == 4 for r in rows)
    wanted = {run: sorted((s, n) for s, n, x in values(run)) for run in runs}
    for run in runs:
        mine = [(int(s), n, v) for r, s, n, v in rows[1:] if r == run]
        log = values(run)
        assert sorted((s, n) for s, n, v in mine) == wanted[run], run
        # in the order of the lines; within a step each name comes as often, in the same order
        assert [s for s, n, v in mine] == sorted(s for s, n, v in mine)
        left = {}
        for s, n, x in log:
            left.setdefault((s, n), []).append(x)
        for s, n, v in mine:
            x = left[(s, n)].pop(0)
            got = int(v) if isinstance(x, (bool, int)) else float(v)
            assert same(got, x), (run, s, n, v, x)
    assert {r[0] for r in rows[1:]} == set(runs)
END
sed 's/^    //' >board_test.py <<'END'
    import struct, sys
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from judge import values
    def narrow(x):
        try:
            return str(struct.unpack("<f", struct.pack("<f", float(x)))[0])
        except OverflowError:
            return "inf" if x > 0 else "-inf"
    for run in sys.argv[1:]:
        events = EventAccumulator("board/" + run, size_guidance={"scalars": 0, "histograms": 0})
        events.Reload()
        scalars, bins = {}, {}
        for step, name, x in values(run):
            if name.startswith("histogram/") or "/ratio/" in name:
                tag, exponent = name.rsplit("/", 1)
                bins.setdefault(tag, {}).setdefault(step, []).append((int(exponent) + 1, x))
            else:
                scalars.setdefault(name, []).append((step, narrow(x)))
        tags = events.Tags()
        assert {t: [(e.step, str(e.value)) for e in events.Scalars(t)] for t in tags["scalars"]} == scalars, run
        assert {t: {h.step: list(zip(h.histogram_value.bucket_limit, h.histogram_value.bucket))
                    for h in events.Histograms(t)} for t in tags["histograms"]} == bins, run
END
if python3 -c 'import json' 2>/dev/null; then
    PYTHONPATH=. python3 csv_test.py real "$odd" twice/x twice/y/x >told 2>&1 || failed "reading CSV back: $(cat told)"
    cat told
    if python3 -c 'import tensorboard.backend.event_processing.event_accumulator' 2>/dev/null; then
        python3 "$example" all.csv board >told 2>&1 || failed "events.py: $(cat told)"
        PYTHONPATH=. python3 board_test.py real "$odd" twice/x twice/y/x >told 2>&1 || failed "events: $(cat told)"
    else
        echo 'without the package tensorboard: nothing makes files of events'
    fi
else
    echo 'without Python nothing reads the files back'
fi

# ------------------------------------------------------------------------------------------------ what is refused
# A damaged log leaves no file, also where another run was whole.
mkdir bad
cp "$odd/settings.ini" bad
printf '{"step":1,"loss":1}\n{"step":-1,"loss":1}\n' >bad/log.jsonl
fails_report 'bad/log.jsonl:2: no JSON object with a step' real bad --csv none.csv
holds ! -e none.csv
printf '{"log":3}\n' >bad/log.jsonl
fails_report 'bad/log.jsonl: a log of another version' bad --csv none.csv
fails_report 'nowhere/log.jsonl: No such file' nowhere --csv none.csv
fails_report 'no/x.csv: No such file' real --csv no/x.csv
[ ! -c /dev/full ] || fails_report '/dev/full: No space left' real --csv /dev/full
finish
