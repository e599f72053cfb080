#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fptrain report: tables and plots of runs written by hand have their numbers, are well-formed, and escape.
FPEMU=$FPTRAIN
. "$(dirname "$0")/common.sh"

odd='a<b>&"c'
mkdir one "$odd"
cat >one/settings.ini <<END
[train]
lr = 0.1
epochs = 2
[formats]
w = e4m3fn sr
END
cat >one/log.jsonl <<END
{"step":10,"epoch":1,"loss":2.5,"lr":0.1,"scale":1024,"accuracy":0.1,"skipped":false,"skipped_so_far":0,"seconds":1,"tensors":[{"name":"conv1.dv","role":"dv","count":1000,"nan":0,"overflow":3,"underflow":250,"histogram":{"first":-3,"counts":[1,5,2]}},{"name":"conv1.weight","role":"w","count":1000,"nan":0,"overflow":0,"underflow":0}],"updates":{"count":100,"first":-5,"counts":[8,2,20,10,40],"mean_move":0.5}}
{"step":10,"epoch":1,"test_loss":1.2,"test_accuracy":0.9125,"test_accuracy_fp32":0.92,"seconds":2}
{"step":20,"epoch":2,"loss":"inf","lr":0.1,"scale":512,"accuracy":0.2,"skipped":true,"skipped_so_far":4,"seconds":3,"tensors":[{"name":"conv1.dv","role":"dv","count":1000,"nan":0,"overflow":1,"underflow":50}],"updates":{"count":100,"first":-4,"counts":[10,30,5,0,15,40],"mean_move":0.25}}
{"step":20,"policy_epoch":0,"bits":8,"threshold":2.5,"switched":false}
{"step":20,"policy_epoch":1,"bits":8,"p":0.5,"threshold":2,"switched":false}
{"step":20,"policy_epoch":2,"bits":8,"p":3,"threshold":1.5,"switched":true}
{"step":20,"policy_epoch":3,"bits":12,"threshold":1.25,"switched":false}
{"step":22,"epoch":2,"test_loss":1.5,"test_accuracy":0.875,"test_accuracy_fp32":0.88,"seconds":4.25}
{"step":30,"epo
END
truncate -s -1 one/log.jsonl # a line that is being written has no end
printf '{"finished": true, "skipped": 5, "notes": {"ratio <r>": 0.125}}' >one/summary.json
printf '[train]\nlr = 0.2\n[model]\nname = <script>alert(1)</script>\n' >"$odd/settings.ini"
printf '{"step":1,"epoch":1,"loss":3,"scale":1,"seconds":0.5}\n' >"$odd/log.jsonl"

"$FPTRAIN" report one "$odd" --tables t.md --plots first >out 2>err || failed "report: $(cat err)"
holds ! -s out
for row in '| one | lenet | 2 | 0.1 | w e4m3fn sr | 1 | 87.50 | 88.00 | 91.25 | 15 | 0.2 | 5 |' \
    '| a\<b\>&"c (not ended) | \<script\>alert(1)\</script\> | 3 | 0.2 | fp32 | 1 | - | - | - | - | - | 0 |'; do
    grep -qxF -e "$row" t.md || failed "no row '$row': $(cat t.md)"
done
fails_report 'one/settings.ini belongs to a run' one --tables one/settings.ini
for option in --tables --csv --plots; do
    fails_report "'-' is not taken for standard output" one $option -
done
holds ! -e -
holds "$(ls first | wc -l)" -eq 9 # 5 kinds of curves; of one run switches, updates, underflow, exponents
# Under 1/8: 8 and 2 of the first hundred, 10 of the second; under 1/2 also 20, 10 and 30, 5.
for text in '10 % under 1/8' '42.5 % under 1/2'; do
    grep -qF -e "$text" first/updates-one.svg || failed "updates-one.svg lacks $text"
done
grep -qF '8 bits until 2<' first/switches-one.svg || failed 'switches-one.svg lacks the switch'
! grep -q 'conv1.weight' first/underflow-one.svg || failed 'weights, in which nothing vanished, have a row'
if python3 -c 'import xml.dom' 2>/dev/null; then
    python3 - <<'END' || failed 'a plot is not well-formed, or not as it should be'
import re, xml.dom.minidom
def svg(name):
    return xml.dom.minidom.parse("first/" + name + ".svg")
def curves_of(page): # without the legend
    return [p for p in page.getElementsByTagName("path")
            if p.getAttribute("class").startswith("curve") and not re.fullmatch("M[0-9]+ [0-9]+h28", p.getAttribute("d"))]
# The scale falls from 2^10 to 2^9 in the first run; 2^0 is that of the second: highest, lower, lowest on the paper.
one, two = [p.getAttribute("d") for p in curves_of(svg("scale"))]
for path in one, two:
    assert re.fullmatch(r"([MLHhv]-?[0-9. ]+)*", path), path
first, second = re.findall(r"[ML]([0-9.]+) ([0-9.]+)", one)
third = re.findall(r"M([0-9.]+) ([0-9.]+)", two)[0]
assert float(first[0]) < float(second[0]) and float(third[0]) < float(first[0])
assert float(first[1]) < float(second[1]) < float(third[1])
assert abs((float(third[1]) - float(first[1])) / (float(second[1]) - float(first[1])) - 10) < 0.1
# p: two points, at policy epochs 1 and 2 of 3, the second six times as high; the threshold: four, falling.
switches = svg("switches-one")
p, threshold, mark = [g for g in switches.getElementsByTagName("path") if g.getAttribute("class")]
points = [tuple(map(float, at)) for at in re.findall(r"[ML]([0-9.]+) ([0-9.]+)", p.getAttribute("d"))]
falls = [tuple(map(float, at)) for at in re.findall(r"[ML]([0-9.]+) ([0-9.]+)", threshold.getAttribute("d"))]
assert len(points) == 2 and len(falls) == 4 and falls[0][1] < falls[1][1] < falls[2][1] < falls[3][1]
assert abs(points[0][0] - falls[1][0]) < 0.1 and abs(points[1][0] - falls[2][0]) < 0.1
zero = falls[3][1] + (falls[3][1] - falls[2][1]) / 0.25 * 1.25 # 1.25 is drawn there, 1.5 a quarter above
assert abs((zero - points[1][1]) / (zero - points[0][1]) - 6) < 0.1
assert re.fullmatch(r"M%.1f [0-9]+V[0-9]+" % points[1][0], mark.getAttribute("d"))
# Updates from 2^-5 to 2^2: 8 12 50 15 40 15 40 of 200.
cells = [g for g in svg("updates-one").getElementsByTagName("g") if g.getAttribute("class") == "cells"][0]
heights = [float(r.getAttribute("height")) for r in cells.getElementsByTagName("rect")]
assert [round(h * 50 / max(heights)) for h in heights] == [8, 12, 50, 15, 40, 15, 40], heights
# Of 1000 elements 1 + 5 + 2 have exponents, 992 are zeros. Exponents -3, -2, -1: shares 0.2, 1, 0.4 of the most
# frequent.
cells = [r for r in svg("exponents-one").getElementsByTagName("path") if r.getAttribute("opacity")]
assert [(r.getAttribute("opacity"), r.getAttribute("d").count("M")) for r in cells] == [("0.20", 1), ("0.40", 1), ("1.00", 2)]
places = sorted((float(x), r.getAttribute("opacity")) for r in cells for x in re.findall(r"M([0-9.]+)", r.getAttribute("d")))
assert [shade for x, shade in places] == ["1.00", "0.20", "1.00", "0.40"], places
END
fi

# Numbers that leave an axis no room: the plot has an end all the same
mkdir flat
cp one/settings.ini flat
cat >flat/log.jsonl <<END
{"step":1,"loss":1e17,"scale":0,"tensors":[{"name":"a","role":"v","count":9,"underflow":1}]}
{"step":9,"loss":1.0000000000000002e17,"scale":-1,"tensors":[{"name":"b","role":"v","count":9,"underflow":9}]}
{"step":9,"test_accuracy":"nan"}
END
timeout 20 "$FPTRAIN" report flat --plots flatplots --tensors '*' || failed 'report of numbers close to each other'
holds "$(cat flatplots/* | wc -c)" -lt 20000
holds "$(echo $(ls flatplots))" = 'loss.svg underflow-flat.svg'
if grep -h '<path' flatplots/* | grep -iq 'nan\|inf'; then
    failed 'a curve through what is no number'
fi

# A link stays one; a pipe is written to
mkdir elsewhere
: >elsewhere/real.md
ln -s elsewhere/real.md link.md
"$FPTRAIN" report one --tables link.md || failed 'report into a link'
"$FPTRAIN" report one --tables new.md || failed 'report'
holds -L link.md
same elsewhere/real.md new.md
mkfifo pipe
cat pipe >piped.md &
"$FPTRAIN" report one --tables pipe || failed 'report into a pipe'
wait
same piped.md new.md
holds -p pipe
# Only where the pipe is still one: else the device would be lost, if root tries.
[ ! -p pipe ] || [ ! -c /dev/full ] || fails_report '/dev/full: No space left' one --tables /dev/full
no_leftovers
fails_report 'none/settings.ini: No such file' none --tables no.md
fails_report 'directories of runs and --tables FILE, --plots DIR or --csv FILE expected' one
fails_report 'directories of runs and --tables FILE, --plots DIR or --csv FILE expected' --tables no.md
mkdir bad
cp one/settings.ini bad
printf '{"step":1,"loss":1}\n[1]\n' >bad/log.jsonl
fails_report 'bad/log.jsonl:2: no JSON object with a step' bad --tables no.md
# A log that cannot be read is no log without lines.
rm bad/log.jsonl
mkdir bad/log.jsonl
for output in '--tables no.md' '--csv no.md'; do
    fails_report 'bad/log.jsonl: Is a directory' bad $output
done
rmdir bad/log.jsonl
printf '[train]\nlr = 0.1\nspeed = 4\n' >bad/settings.ini
fails_report 'bad/settings.ini:3: section [train] has no key' bad --tables no.md
holds ! -e no.md

# Tables and plots: two seeds of one setting are a row, another scaler is a row of its own. seed_log UNDERFLOW ALPHA...
seed_log() {
    cat <<END
{"step":10,"epoch":0,"loss":2,"scale":1,"skipped":false,"skipped_so_far":$5,"seconds":1,"tensors":[{"name":"conv1.dv","role":"dv","count":100,"nan":0,"overflow":1,"underflow":$1,"alpha":$2,"deviation":$3,"quantile":0.5},{"name":"conv1.dweight","role":"dw","count":50,"overflow":0,"underflow":50,"alpha":1}]}
{"step":20,"epoch":0,"loss":1,"scale":1,"skipped":false,"skipped_so_far":$5,"seconds":2,"tensors":[{"name":"conv1.dv","role":"dv","count":100,"nan":0,"overflow":0,"underflow":0,"alpha":$2,"deviation":0.25,"quantile":0.5},{"name":"conv1.dweight","role":"dw","count":50,"overflow":0,"underflow":0,"alpha":1}]}
{"step":20,"epoch":0,"test_loss":1,"test_accuracy":$4,"test_accuracy_fp32":0.5,"seconds":3}
END
}
for seed in 1 2 3; do
    mkdir -p runs/adaptive-s$seed
    printf '[train]\nseed = %s\n[scaler]\nname = adaptive\n[formats]\ndv = e5m2\n' $seed \
        >runs/adaptive-s$seed/settings.ini
done
seed_log 10 4 0.5 0.75 0 >runs/adaptive-s1/log.jsonl
seed_log 30 16 2 0.5 3 >runs/adaptive-s2/log.jsonl
seed_log 20 8 1 0.625 0 >runs/adaptive-s3/log.jsonl
printf '{"finished":true,"notes":{"statistics_seconds":1.5}}' >runs/adaptive-s1/summary.json
printf '{"finished":true,"notes":{"statistics_seconds":2.5}}' >runs/adaptive-s2/summary.json
printf '{"finished":true}' >runs/adaptive-s3/summary.json
mkdir runs/fp32
printf '{"finished":true}' >runs/fp32/summary.json
printf '[output]\nlog_every = 7\n' >runs/fp32/settings.ini
# 1 % of |dv| lies below 2^-20 and below 2^-23: over u = 2^-24 of FP16 scales of 2^-4 and 2^-1, over 2^-16 2^4 and 2^7.
cat >runs/fp32/log.jsonl <<END
{"step":10,"epoch":0,"loss":2,"scale":1,"skipped_so_far":0,"tensors":[{"name":"conv1.dv","role":"dv","count":0,"underflow":0,"alpha":1,"deviation":0.125,"quantile":9.5367431640625e-07}]}
{"step":20,"epoch":0,"loss":1,"scale":1,"skipped_so_far":0,"tensors":[{"name":"conv1.dv","role":"dv","count":0,"underflow":0,"alpha":1,"deviation":0.125,"quantile":1.1920928955078125e-07}]}
{"step":20,"epoch":0,"test_loss":1,"test_accuracy":0.875,"test_accuracy_fp32":0.875}
END
"$FPTRAIN" report runs/adaptive-s1 runs/fp32 runs/adaptive-s2 runs/adaptive-s3/ --tables t.md --plots plots \
    --oracle 'fp16,fp(5,2,0)' --notes statistics_seconds >out 2>err || failed "tables: $(cat err)"
cat >expected.md <<'END'
In all runs, beside the defaults:

- model.name = lenet
- data.source = digits

| runs | scaler.name | formats | seeds | accuracy, % | of the FP32 weights, % | best, % | underflow of `*.dv`, % | overflow of `*.dv`, % | skipped | statistics\_seconds |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| adaptive | adaptive | dv e5m2 | 3 | 62.50 (50.00 to 75.00) | 50.00 | 62.50 (50.00 to 75.00) | 10 (5 to 15) | 0.5 | 1 (0 to 3) | 2 (1.5 to 2.5) |
| fp32 | none | fp32 | 1 | 87.50 | 87.50 | 87.50 | - | - | 0 | - |

Mean over the seeds (lowest to highest). Underflow and overflow: shares of the elements that were rounded in the steps of the log.

Underflow by tensor, % of its elements: mean over the seeds (lowest to highest).

| tensor | adaptive |
|---|---:|
| conv1.dv | 10 (5 to 15) |

Scale of gradients, log2: mean over steps and seeds (lowest to highest). An oracle lifts the 1 % quantile of the gradient to the smallest value of the format.

| tensor | fp32, oracle fp16 | fp32, oracle fp(5,2,0) | adaptive | fp32 |
|---|---:|---:|---:|---:|
| conv1.dv | -2.5 (-4.0 to -1.0) | 5.5 (4.0 to 7.0) | 3.0 (2.0 to 4.0) | 0.0 |

Largest standard deviation of scaled gradients: mean over the seeds (lowest to highest).

| tensor | adaptive | fp32 |
|---|---:|---:|
| conv1.dv | 1.17 (0.5 to 2) | 0.125 |
END
same expected.md t.md
holds ! -s err
# A run that has not ended, and one of a seed that is there already, are told and in no mean; what is no run is left out.
cp -R runs/adaptive-s3 runs/adaptive-s4
sed -i 's/seed = 3/seed = 4/' runs/adaptive-s4/settings.ini
rm runs/adaptive-s4/summary.json
cp -R runs/adaptive-s2 runs/adaptive-s5
: >runs/curves.svg
mkdir runs/none
"$FPTRAIN" report runs/* --tables t.md --oracle 'fp16,fp(5,2,0)' --notes statistics_seconds 2>err || failed 'alone'
sed -i 's/^| \(adaptive-s[45]\)[^|]*|/| \1 |/' t.md
holds "$(sed -n 's/^| \(adaptive[^ ]*\) | adaptive | dv e5m2 | \([0-9]*\) | \([0-9.]*\) .*/\1 \2 \3/p' t.md | tr '\n' ' ')" = \
    'adaptive 3 62.50 adaptive-s4 1 62.50 adaptive-s5 1 50.00 '
cat >expected.err <<'END'
fptrain: report: 'runs/curves.svg' is no directory of a run, and left out
fptrain: report: 'runs/none' is no directory of a run, and left out
fptrain: report: 'runs/adaptive-s4' has not ended, step 20: it is in no mean
fptrain: report: 'runs/adaptive-s2' and 'runs/adaptive-s5' have the same settings and the same seed, 2: no mean is over both
END
same expected.err err
"$FPTRAIN" report runs/curves.svg runs/fp32 --csv left.out 2>err || failed "--csv: $(cat err)"
holds "$(wc -l <err)" -eq 1
"$FPTRAIN" report runs/curves.svg --tables no.md 2>err && failed 'tables of no run'
grep -q 'directories of runs' err || failed "tables of no run: $(cat err)"
rm -r runs/none runs/curves.svg runs/adaptive-s4 runs/adaptive-s5 left.out
# Another seed of the data is another group, and its column says so.
mkdir other
printf '[data]\nseed = 5\n' >other/settings.ini
cp runs/fp32/log.jsonl runs/fp32/summary.json other
"$FPTRAIN" report runs/fp32 other --tables other.md || failed 'tables of other data'
holds "$(grep -c '^| runs | data.seed | seeds |' other.md)" -eq 1
holds "$(grep -c '^| other | 5 | 1 |\|^| fp32 | 1 | 1 |' other.md)" -eq 2
for name in loss accuracy accuracy-fp32 scale underflow deviation underflow-adaptive; do
    holds -s plots/$name.svg
done
holds "$(ls plots | wc -l)" -eq 7 # FP32 lost nothing, and one tensor with one scale all the time is no map
if python3 -c 'import xml.dom' 2>/dev/null; then
    python3 - plots <<'END' || failed 'a plot is not as it should be'
import glob, re, sys, xml.dom.minidom
def curves(name):
    page = xml.dom.minidom.parse(sys.argv[1] + "/" + name + ".svg")
    paths = [p for p in page.getElementsByTagName("path") if p.getAttribute("class").startswith("curve")]
    return [re.findall(r"[ML]([0-9.]+) ([0-9.]+)", p.getAttribute("d")) for p in paths]
for path in glob.glob(sys.argv[1] + "/*.svg"):
    assert "nan" not in xml.dom.minidom.parse(path).toxml().lower()
accuracy = curves("accuracy") # means of two groups, then the lines of the legend
assert len(accuracy) == 4 and len(accuracy[0]) == 1 and float(accuracy[0][0][1]) > float(accuracy[1][0][1])
deviation = curves("deviation") # 3.5/3, 2^-2 in the mean of three; 2^-3 twice
heights = [float(y) for x, y in deviation[0]] + [float(y) for x, y in deviation[1]]
assert abs((heights[2] - heights[1]) * 2.22239 - (heights[1] - heights[0])) < 0.3, heights
assert len(curves("underflow")[0]) == 1 # 20 % at the first step; nothing has no logarithm
END
fi
"$FPTRAIN" report runs/fp32 runs/adaptive-s1 --tables t.md --tensors 'conv1.dw*' || failed 'tensors'
grep -qF '| conv1.dweight | 50 |' t.md || failed 'tensors that fit'
! grep -qF 'conv1.dv |' t.md || failed 'tensors that do not fit'
# Two networks in files of one name are told apart; members without a mark in their names are what their words share.
mkdir nets nets/s1 nets/s2 nets/wide
for run in s1 s2 wide; do
    printf '{"finished":true}' >nets/$run/summary.json
    printf '{"step":1,"epoch":1,"loss":3,"scale":1,"seconds":0.5}\n' >nets/$run/log.jsonl
    printf '[model]\nname = own.net\n[train]\nseed = 1%s\n[network]\nlinear 8, linear classes\n' "${run#s}" |
        sed 's/1wide/5/' >nets/$run/settings.ini
done
sed -i 's/linear 8/linear 9/' nets/wide/settings.ini
"$FPTRAIN" report nets/s1 nets/s2 nets/wide --tables t.md || failed 'two networks of one name'
grep -q '^| s | own.net (1) | 2 |' t.md || failed "two networks of one name: $(cat t.md)"
grep -q '^| wide | own.net (2) | 1 |' t.md || failed 'the second network of one name'
"$FPTRAIN" report nets/wide nets/s1 one --tables t.md || failed 'nothing in common'

# Switches and updates are files too, of two seeds: the updates of both, 10, 10 and 10 of three hundreds under 1/8 and
# 40, 45 and 40 under 1/2; the switches of the first, which the other lacks.
mkdir seeds seeds/of-1 seeds/of-2
cp one/log.jsonl seeds/of-1
cp one/settings.ini one/summary.json seeds/of-1
{ cat one/settings.ini; printf '[train]\nseed = 77\n'; } >seeds/of-2/settings.ini
grep '^{"step":10' one/log.jsonl >seeds/of-2/log.jsonl
cp one/summary.json seeds/of-2
"$FPTRAIN" report seeds/of-1 seeds/of-2 --plots figures || failed 'plots of updates and switches'
for text in '>10 % under 1/8' '>41.7 % under 1/2'; do
    grep -qF "$text" figures/updates-of.svg || failed "plot of updates: '$text'"
done
grep -qF '8 bits until 2<' figures/switches-of.svg || failed 'plot of switches'
# Scales that differ between tensors are a map: 2^2 and 2^4 of at most 2^4.
mkdir map
cp one/settings.ini map
cat >map/log.jsonl <<'END'
{"step":1,"loss":1,"scale":1,"tensors":[{"name":"a.dv","role":"dv","count":9,"underflow":0,"alpha":4},{"name":"b.dv","role":"dv","count":9,"underflow":0,"alpha":16},{"name":"c.dv","role":"dv","count":9,"underflow":0,"alpha":1}]}
END
"$FPTRAIN" report map --plots maps || failed 'a map of scales'
grep -qF 'Scale of gradients (empty: 1, full: 2^4)' maps/scale-map.svg || failed 'no map of scales'
holds "$(grep -o '<path opacity="[0-9.]*"' maps/scale-map.svg | tr -d '\n')" = '<path opacity="0.50"<path opacity="1.00"'
fails_report "format 'fp99'" one --tables t.md --oracle fp99
fails_report "format 'mxfp4' has scales of its own" one --tables t.md --oracle mxfp4
fails_report '--oracle and --notes are for --tables' one --plots no --notes x
# Two outputs of one name: nothing is written.
ln -s pages/one.md linked.md
mkdir pages
for two in '--tables pages/one.md --csv pages/../pages/one.md' '--tables linked.md --csv pages/one.md' \
    '--tables linked.md --csv linked.md' '--tables pages --plots pages/'; do
    set -- $two
    fails_report "$1 and $3 are the same: " one $two
    holds -z "$(ls pages)"
done
for option in --tables --csv; do
    fails_report "$option has a name of the plots of --plots: 'pages/../pages/loss.svg'" one $option \
        pages/../pages/loss.svg --plots pages
    holds -z "$(ls pages)"
done
"$FPTRAIN" report one --tables pages/one.md --plots pages || failed 'tables beside plots'
holds -s pages/one.md -a -s pages/loss.svg
rm -r pages
mkdir pages
fails_report 'no/plots: No such file' one --plots no/plots
fails_report 'no/t.md: No such file' one --tables no/t.md

# A run counts once, by its id, which a copy has too, or where there is none by its directory; gone on with other
# settings it is another line.
mkdir same
cp one/settings.ini same
printf '{"log":2,"run":"0123","counters":["count"],"names":{"v":["a.v"]}}\n{"step":1,"loss":1,"tensors":[[9]]}\n' \
    >same/log.jsonl
cp -R same copied
cp -R same longer
sed -i 's/epochs = 2/epochs = 3/' longer/settings.ini
for output in '--tables twin.md' '--plots twin.plots'; do
    fails_report "'same' and 'copied' are one run" longer same copied $output
    fails_report "'runs/fp32' and './runs/fp32/' are one run" one runs/fp32 ./runs/fp32/ $output
done
holds ! -e twin.md -a ! -e twin.plots
"$FPTRAIN" report same longer --tables t.md || failed 'a run and how it went on'
sed -i '1s/0123/4567/' copied/log.jsonl
"$FPTRAIN" report same copied --tables t.md || failed 'two runs of one seed'
holds "$(grep -c '^| \(same\|copied\) (not ended) |.* 1 |' t.md)" -eq 2
# Patterns and notes that nothing has are slips of the pen; a run that is still going on may come to a note.
for output in '--tables twin.md' '--csv twin.csv'; do
    fails_report "--tensors: no tensor in the logs fits 'zzz*'" one same --tensors 'zzz*' $output
done
"$FPTRAIN" report one same --tensors 'a.v' --csv t.csv || failed 'a tensor of one of two runs'
mkdir begun
printf '{"log":2,"run":"0","machine":{"number":5},"counters":["count"],"names":{"v":["a.v"]}}\n' >begun/log.jsonl
cp one/settings.ini begun
"$FPTRAIN" report begun --tensors 'zzz*' --csv begun.csv || failed 'a tensor that may come'
fails_report "--notes: no run has a note 'zz'" one --tables twin.md --notes 'ratio <r>,zz'
holds ! -e twin.md -a ! -e twin.csv
"$FPTRAIN" report one same --tables t.md --notes zz || failed 'a note that may come'
# A summary that is there is read, or said not to be.
mkdir copied/summary.json
fails_report 'copied/summary.json: Is a directory' copied --tables twin.md
rmdir copied/summary.json
printf '{"finished": tr' >copied/summary.json
fails_report 'copied/summary.json: no JSON' copied --tables twin.md

# What clipping did is among the numbers of the log.
mkdir clipped
cp one/settings.ini clipped
printf '{"step":1,"loss":1,"clipping":{"largest":0.5,"parts":2,"clipped":1,"steps_clipped_so_far":3}}\n' >clipped/log.jsonl
"$FPTRAIN" report clipped --csv clipped.csv || failed 'the numbers of clipping'
{
    echo run,step,name,value
    for line in loss,1 clipping/largest,0.5 clipping/parts,2 clipping/clipped,1 clipping/steps_clipped_so_far,3; do
        echo "clipped,1,$line"
    done
} >expected.csv
same expected.csv clipped.csv

# What each tensor has would make a small log a large table: few counters, short names.
for run in many long longold; do
    mkdir $run
    cp one/settings.ini $run
done
counters() { # COUNT
    awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++) printf "%s\"c%d\"", i ? "," : "", i }'
}
printf '{"log":2,"counters":[%s],"names":{"v":["a.v"]}}\n{"step":1,"tensors":[[]]}\n' "$(counters 33)" >many/log.jsonl
letters=$(printf '%0256d' 0)
printf '{"log":2,"counters":["count"],"names":{"v":["%s"]}}\n' "$letters" >long/log.jsonl
printf '{"step":1,"tensors":[]}\n{"step":2,"tensors":[{"name":"%s","role":"v","count":1}]}\n' "$letters" >longold/log.jsonl
for run in manyold longkey; do
    mkdir $run
    cp one/settings.ini $run
done
printf '{"step":1,"tensors":[{"name":"a","role":"v",%s}]}\n' "$(counters 63 | sed 's/,/:1,/g; s/$/:1/')" >manyold/log.jsonl
printf '{"step":1,"tensors":[[1,{"%s":1}]]}\n' "$letters" >longkey/log.jsonl
for output in '--tables no.md' '--csv no.csv'; do
    fails_report 'many/log.jsonl: more than 32 counters of a tensor' many $output
    fails_report 'long/log.jsonl:1: a name of more than 255 bytes' long $output
    fails_report 'longold/log.jsonl:2: a name of more than 255 bytes' longold $output
    fails_report 'manyold/log.jsonl:1: a name of more than 255 bytes, or a tensor of more than 64 members' manyold $output
    fails_report 'longkey/log.jsonl:1: a name of more than 255 bytes' longkey $output
done
sed -i 's/"c32"/"c31"/; s/,"c31","c31"/,"c31"/' many/log.jsonl
sed -i 's/0"/"/' long/log.jsonl longold/log.jsonl longkey/log.jsonl
sed -i 's/,"c62":1//' manyold/log.jsonl
"$FPTRAIN" report longkey manyold --csv t2.csv || failed 'as many members, and letters, as may be'
"$FPTRAIN" report many long longold --csv t.csv || failed 'as many counters and letters as may be'
holds "$(wc -l <t.csv)" -eq 34 # and the count of longold
# Many tensors take the time that each of them takes.
mkdir wide
cp one/settings.ini wide
awk 'BEGIN {
    printf "{\"log\":2,\"counters\":[\"count\",\"underflow\"],\"names\":{\"dv\":["
    for (i = 0; i < 100000; i++) printf "%s\"%d\"", i ? "," : "", i
    printf "]}}\n{\"step\":1,\"scale\":1,\"tensors\":["
    for (i = 0; i < 100000; i++) printf "%s[9]", i ? "," : ""
    print "]}" }' >wide/log.jsonl
timeout 20 "$FPTRAIN" report wide --tables wide.md --plots wideplots --tensors '*' || failed 'many tensors'

# What the program says of itself
"$FPTRAIN" --version | grep -qx 'fptrain [0-9.]*' || failed '--version'
"$FPTRAIN" help config >keys || failed 'help config'

printf '{"step":1,"loss":1}\n' >bad/log.jsonl
cp keys bad/settings.ini # the defaults are settings themselves
"$FPTRAIN" report bad --tables t.md || failed 'the defaults as a file'
for command in data report help; do
    "$FPTRAIN" $command --help | grep -q "^Usage: fptrain $command" || failed "$command --help"
done
"$FPTRAIN" 2>err
holds $? -eq 2
"$FPTRAIN" nothing 2>err
grep -qx "fptrain: unknown command 'nothing'; see 'fptrain --help'" err || failed 'unknown command'
if [ -c /dev/full ]; then
    "$FPTRAIN" help >/dev/full 2>err
    holds $? -eq 1
    grep -qx 'fptrain: standard output: No space left on device' err || failed 'a full device'
fi

# Out of range, at most: c 50 %, a 10, e 7, b 1 clipped and 2 infinite, g 2, h 1; d nothing, and f is a gradient.
mkdir range
printf '[train]\nseed = 1\n' >range/settings.ini
# outside STEP NAME:ROLE:CLIPPED:INFINITE...
outside() {
    printf '{"step":%s,"epoch":0,"loss":1,"tensors":[' "$1"
    shift
    printf '%s\n' "$@" | awk -F: '{
        printf "%s", (NR > 1 ? "," : "")
        printf "{\"name\":\"%s\",\"role\":\"%s\",\"count\":100,\"clipped\":%d,\"infinite\":%d}", $1, $2, $3, $4 }'
    echo ']}'
}
{
    outside 1 a:v:0:0 b:v:1:2 c:w:0:0 d:v:0:0 e:v:7:0 f:dv:90:0 g:v:2:0 h:v:1:0
    outside 2 a:v:10:0 b:v:0:0 c:w:0:0 d:v:0:0 e:v:7:0 f:dv:90:0 g:v:0:0 h:v:1:0
    outside 3 a:v:0:0 b:v:0:0 c:w:0:50 d:v:0:0 e:v:7:0 f:dv:90:0 g:v:0:0 h:v:1:0
} >range/log.jsonl
"$FPTRAIN" report range --plots range/plots || failed 'report of what lies out of range'
holds "$(grep -o '>[a-h]</text>' range/plots/overflow-range.svg | tr -d '\n')" = \
    '>c</text>>a</text>>e</text>>b</text>>g</text>'
# 50 % is the top of the frame, at 30, and 0 its bottom, at 262.
grep -qF 'c0" d="M64.0 262.0h0.1L346.0 262.0L628.0 30.0"' range/plots/overflow-range.svg || failed 'the curve of c'
grep -qF 'c1" d="M64.0 262.0h0.1L346.0 215.6L628.0 262.0"' range/plots/overflow-range.svg || failed 'the curve of a'
holds ! -e first/overflow-one.svg
finish
