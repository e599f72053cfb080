#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A format for each tensor: by --map, by a plan, and the choice of compare --max-bits, which every other choice judges.
tests=$(cd "$(dirname "$0")" && pwd)
. "$tests/common.sh"
python3 -c 'import json, math; math.prod' >/dev/null 2>&1 || { echo 'skipped: no Python 3'; exit 77; }
python3 "$tests/plans.py" write in.safetensors || failed 'no model'

# The best within a number of bits, from the fewest to more than enough
for bits in 4.33 4.75 5.5 6.2 7.9 8.3; do
    "$FPEMU" compare in.safetensors mxfp4 nvfp4 e2m3 mxfp6_e2m3 e4m3fn:saturate --max-bits $bits --json \
        --write-plan plan.json --plot plot.svg >json || failed "compare --max-bits $bits"
    python3 "$tests/plans.py" judge json plan.json $bits || failed "not the best within $bits bits"
    "$FPEMU" quantize in.safetensors -o out.safetensors --plan plan.json --json >report || failed 'quantize --plan'
    python3 "$tests/plans.py" follow plan.json report || failed "quantize --plan of $bits bits"
    "$FPEMU" pack in.safetensors -o out.fpk --plan plan.json --json >report || failed 'pack --plan'
    python3 "$tests/plans.py" follow plan.json report || failed "pack --plan of $bits bits"
    gives '' unpack out.fpk -o unpacked.safetensors
    same unpacked.safetensors out.safetensors
done
grep -q '</svg>' plot.svg || failed 'no plot'
grep -q 'no choice of a format for each tensor lies above it' plot.svg || failed 'no line in the plot'
"$FPEMU" compare in.safetensors mxfp4 e4m3fn:saturate --max-bits 6 >table || failed 'compare --max-bits'
grep -q '^proven: no choice' table || failed 'no proof'
holds "$(sed -n 2p table | tr -s ' ' | sed 's/.* //')" = chosen
fails 1 'the fewest bits an element are' compare in.safetensors mxfp4 e4m3fn:saturate --max-bits 4

# Numbers that a format loses are no choice: 1000 becomes NaN in e4m3fn, and infinity in e4m3
header='{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}'
safetensors "$header" '\000\000\172\104\000\000\200\077\000\000\210\077\000\000\200\077' >loses.safetensors
"$FPEMU" compare loses.safetensors e4m3fn e5m2 --max-bits 9 --json --write-plan plan.json >json || failed compare
python_checks json 'assert [t["chosen"] for t in j["tensors"]] == ["e5m2", "e4m3fn"]'
"$FPEMU" compare loses.safetensors e4m3fn e4m3 --max-bits 32 --json --write-plan plan.json >json || failed compare
python_checks json 'assert [t["chosen"] for t in j["tensors"]] == [None, "e4m3fn"] and j["without_chosen"] == 1
p = json.load(open("plan.json"))["tensors"]
assert p[0]["format"] == "keep" and p[0]["bits"] == 32 and p[0]["sqnr_db"] == "inf"'
gives '' quantize loses.safetensors -o out.safetensors --plan plan.json --tensors b
! "$FPEMU" compare loses.safetensors e4m3fn e4m3 --max-bits 19 >out 2>err && [ ! -s out ] &&
    grep -q 'the fewest bits an element are 20;' err || failed "--max-bits 19: $(cat out err)"

# The cheapest above a threshold
"$FPEMU" compare in.safetensors mxfp4 e2m3 e4m3fn:saturate --min-sqnr 25 --write-plan plan.json --json >json \
    || failed 'compare --min-sqnr --write-plan'
python_checks json 'p = {t["name"]: t["format"] for t in json.load(open("plan.json"))["tensors"]}
assert p == {t["name"]: t["cheapest"] or "keep" for t in j["tensors"]} and len(set(p.values())) > 1, p'
"$FPEMU" quantize in.safetensors -o out.safetensors --plan plan.json --json >report || failed 'quantize --plan'
python3 "$tests/plans.py" follow plan.json report || failed 'quantize by a plan of --min-sqnr'

# Maps: the first that matches; the others have SPEC, or stay as they are
"$FPEMU" quantize mxfp4 in.safetensors -o out.safetensors --map '*.norm=keep' --map 'layers.[01].*=fp(4,3,7)' \
    --map 'layers.1.weight=float(e=5,m=2)' --map 'layers.2.*=e5m2' --json 2>err && failed 'a map that takes nothing'
grep -q "'layers.1.weight=float(e=5,m=2)' takes no tensor" err || failed "message: $(cat err)"
"$FPEMU" quantize mxfp4 in.safetensors -o out.safetensors --map '*.norm=keep' --map 'layers.1.*=float(e=5,m=3)' \
    --map 'layers.[01].*=e5m2' --json >json || failed 'quantize --map'
python_checks json 's = {t["name"]: t["spec"] for t in j["tensors"]}
assert s["layers.0.weight"] == "e5m2" and s["layers.1.weight"] == "float(e=5,m=3)" and s["layers.2.weight"] == "mxfp4", s
assert j["spec"] is None and {t["name"] for t in j["copied"]} == {"layers.3.norm", "layers.5.norm"}'
gives '' quantize e5m2 in.safetensors -o one.safetensors --tensors layers.0.weight
gives '' quantize in.safetensors -o two.safetensors --map 'layers.0.weight=e5m2'
same one.safetensors two.safetensors
gives '' quantize mxfp4 in.safetensors -o one.safetensors --min-dims 2
gives '' quantize mxfp4 in.safetensors -o two.safetensors --map '*norm=keep'
same one.safetensors two.safetensors
gives '' quantize keep in.safetensors -o two.safetensors --map '*.weight=mxfp4'
same one.safetensors two.safetensors
"$FPEMU" quantize in.safetensors -o out.safetensors --map '*.weight=mxfp4' --map '*=e4m3fn' --report >table || failed report
holds "$(tr -s ' ' <table | sed -n 's/^layers.3.norm \(F32 [^ ]*\).*/\1/p')" = 'F32 e4m3fn'
holds "$(sed -n 's/^formats *//p' table)" = '2, by tensor'
"$FPEMU" pack in.safetensors -o out.fpk --map '*.weight=mxfp4' --map '*=e4m3fn' --report >table || failed 'pack report'
holds "$(tr -s ' ' <table | sed -n 's/^layers.3.norm \(8 [^ ]*\).*/\1/p')" = '8 e4m3fn'
gives '' unpack out.fpk -o unpacked.safetensors
same unpacked.safetensors out.safetensors

# Tensors of more than a piece, each cut as its own format asks
"$FPEMU" sample weights -o a.npy --size 600064 || failed sample
"$FPEMU" sample gradients -o b.npy --size 600064 || failed sample
python3 -m zipfile -c large.npz a.npy b.npy || failed zipfile
gives '' pack fp32 large.npz -o large.fpk
gives '' unpack large.fpk -o large.safetensors
set -- --map 'a=e4m3fn' --map 'b=mx(e2m1,block=4x8)' -r sr
gives '' pack large.safetensors -o out.fpk "$@"
gives '' unpack out.fpk -o unpacked.safetensors
gives '' quantize large.safetensors -o out.safetensors "$@"
same unpacked.safetensors out.safetensors
gives '' quantize e4m3fn large.safetensors -o one.safetensors --tensors a -r sr
gives '' quantize 'mx(e2m1,block=4x8)' one.safetensors -o two.safetensors --tensors b -r sr
same two.safetensors out.safetensors

fails 2 'GLOB=SPEC' quantize mxfp4 in.safetensors -o no.safetensors --map 'norm'
fails 2 'GLOB=SPEC' quantize mxfp4 in.safetensors -o no.safetensors --map '=e4m3fn'
fails 2 "format 'nonsense'" quantize mxfp4 in.safetensors -o no.safetensors --map '*=nonsense'
fails 1 "near it is 'layers.3.norm'" quantize mxfp4 in.safetensors -o no.safetensors --map '*.nrm=keep'
fails 1 "near it is 'layers.0.weight'" quantize mxfp4 in.safetensors -o no.safetensors --tensors '*.wieght'
fails 1 'every tensor would stay' quantize in.safetensors -o no.safetensors --map '*=keep'
fails 2 'leaves every tensor' quantize keep in.safetensors -o no.safetensors
fails 2 'expected SPEC IN' quantize in.safetensors -o no.safetensors
fails 2 '--axis is for formats with blocks' quantize in.safetensors -o no.safetensors --map '*=e4m3fn' --axis 0
fails 2 'min-dims' quantize mxfp4 in.safetensors -o no.safetensors --min-dims two
fails 1 'no tensor of a floating-point type is left' quantize mxfp4 in.safetensors -o no.safetensors --min-dims 4

# Plans are read strictly
plan() { # TENSORS [MORE]
    echo "{\"fpemu_plan\":1,\"tensors\":[$1]${2-}}" >plan.json
}
refused() { # TEXT
    fails 1 "$1" quantize in.safetensors -o no.safetensors --plan plan.json
    fails 1 "$1" pack in.safetensors -o no.fpk --plan plan.json
}
good='{"name":"layers.0.weight","format":"e5m2"}'
plan "$good"
gives '' quantize in.safetensors -o two.safetensors --plan plan.json
gives '' quantize e5m2 in.safetensors -o one.safetensors --tensors layers.0.weight
same one.safetensors two.safetensors
plan "$good"',{"name":"layers.1.weight","format":"mxfp4","bits":4.25,"sqnr_db":"inf","shape":[4,32]}' ',"axis":0'
gives '' quantize in.safetensors -o two.safetensors --plan plan.json --tensors '*.1.*'
gives '' quantize mxfp4 in.safetensors -o one.safetensors --tensors '*.1.*' --axis 0
same one.safetensors two.safetensors
plan "$good,$good" && refused "tensor 'layers.0.weight' is there twice"
plan '{"name":"layers.9.weight","format":"e5m2"}' && refused "tensor 'layers.9.weight' of the plan is not in in.safetensors"
plan '{"name":"layers.0.weight","format":"e55m2"}' && refused "tensor 'layers.0.weight': format 'e55m2'"
plan '{"name":"layers.0.weight"}' && refused 'expected a format'
plan '{"name":"layers.0.weight","format":8}' && refused 'expected a format'
plan '{"format":"e5m2"}' && refused 'tensor 1 of the list'
plan '"layers.0.weight"' && refused 'tensor 1 of the list'
plan '{"name":"layers.0.weight","format":"e5m2","bits":"8"}' && refused 'bits and sqnr_db are numbers'
plan '{"name":"layers.0.weight","format":"e5m2","spec":"e5m2"}' && refused "unknown key 'spec'"
plan '{"name":"layers.0.weight","format":"e5m2","shape":[64,8]}' && refused 'has another shape in the plan'
plan '{"name":"layers.0.weight","format":"e5m2","shape":[-1]}' && refused 'not a list of whole numbers'
plan '{"name":"layers.0.weight","format":"e5m2","shape":8}' && refused 'not a list of whole numbers'
plan '{"name":"layers.0.weight","format":"keep"}' && refused 'every tensor would stay'
plan "$good" ',"more":1' && refused "unknown key 'more'"
plan "$good" ',"axis":1.5' && refused 'the axis is no whole number'
plan "$good" ',"axis":65' && refused 'the axis is no whole number'
plan "$good" ',"axis":-9223372036854775808' && refused 'the axis is no whole number'
plan '' && refused 'no list of tensors'
echo '{"fpemu_plan":2,"tensors":['"$good"']}' >plan.json && refused 'version 2; this program reads version 1'
echo '{"tensors":['"$good"']}' >plan.json && refused 'no plan: it has no whole number fpemu_plan'
echo '[1]' >plan.json && refused 'no plan'
echo '{"fpemu_plan":1,' >plan.json && refused 'no plan: no JSON'
fails 1 'missing.json: No such file' quantize in.safetensors -o no.safetensors --plan missing.json
plan "$good"
fails 2 'does not go with it' quantize mxfp4 in.safetensors -o no.safetensors --plan plan.json
fails 2 'does not go with it' quantize in.safetensors -o no.safetensors --plan plan.json --map '*=mxfp4'
fails 2 'give one of them' compare in.safetensors mxfp4 --write-plan plan.json
fails 2 'choose differently' compare in.safetensors mxfp4 --min-sqnr 20 --max-bits 5
fails 2 'no number of bits' compare in.safetensors mxfp4 --max-bits -1
fails 2 'name a file for the plan' compare in.safetensors mxfp4 --max-bits 5 --write-plan -
fails 2 'plots are SVG' compare in.safetensors mxfp4 --plot plot.PNG
fails 2 "'-' is not taken" compare in.safetensors mxfp4 --plot -
cp in.safetensors kept.safetensors
ln -s in.safetensors link
fails 2 "--plot: 'in.safetensors' is the input" compare in.safetensors mxfp4 --plot in.safetensors
fails 2 "--plot: 'link' is the input" compare in.safetensors mxfp4 --plot link
fails 2 "--write-plan: './in.safetensors' is the input" compare in.safetensors mxfp4 --max-bits 5 \
    --write-plan ./in.safetensors
fails 2 "--write-plan: './one.svg' is the file of --plot" compare in.safetensors mxfp4 --max-bits 5 --plot one.svg \
    --write-plan ./one.svg
holds ! -e one.svg
plan '{"name":"layers.0.weight","format":"mxfp4"}'
cp plan.json kept.json
fails 2 "--plan: 'plan.json' is the file of -o" quantize in.safetensors --plan plan.json -o plan.json
fails 2 "--plan: './plan.json' is the file of -o" pack in.safetensors --plan ./plan.json -o plan.json
fails 2 "--config: 'plan.json' is the plan" pack in.safetensors --plan plan.json -o no.safetensors \
    --layout compressed-tensors --config plan.json
same plan.json kept.json
printf '0 1 2 3\n' >table.txt
cp table.txt kept.txt
for spec in 'table(file=table.txt)' 'codebook(file=table.txt,64)'; do
    fails 2 "-o: 'table.txt' is a table" quantize "$spec" in.safetensors -o table.txt
    fails 2 "--plot: 'table.txt' is a table" compare in.safetensors "$spec" --plot table.txt
    fails 2 "--write-plan: './table.txt' is a table" compare in.safetensors "$spec" --max-bits 9 \
        --write-plan ./table.txt
done
fails 2 "-o: 'table.txt' is a table" vectors 'table(file=table.txt)' -o table.txt
same table.txt kept.txt
same in.safetensors kept.safetensors
holds ! -e no.safetensors
holds ! -e no.fpk

finish
