# SPDX-License-Identifier: BSD-2-Clause
# What `fptrain demo` claims: FP16 learns with and without loss scaling, FP8 only with it, where less underflows; and
# its curves are well-formed.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$FPTRAIN" demo "$work/out" >"$work/table" || { cat "$work/table"; exit 1; }
status=0
awk '
    $3 == "%" { accuracy[$1] = $2; underflow[$1] = $7; rows++ }
    END {
        learnt = accuracy["fp32"] > 85 && accuracy["fp16"] > 85 && accuracy["fp16-scaled"] > 85 &&
                 accuracy["fp8-scaled"] > 85
        exit !(rows == 5 && learnt && accuracy["fp8"] < 50 && underflow["fp8"] > underflow["fp8-scaled"] &&
               underflow["fp16"] > underflow["fp16-scaled"])
    }' "$work/table" || { cat "$work/table"; status=1; }
if command -v xmllint >/dev/null; then
    xmllint --noout "$work/out/curves.svg" || status=1
fi
grep -q 'fp8-scaled</text>' "$work/out/curves.svg" || { echo "the legend lacks a run"; status=1; }
exit $status
