# SPDX-License-Identifier: BSD-2-Clause
# doc/deviations.md: a training takes every setting that a row names, and does something else than without it, but where
# the row says that it is the default, or the difference shows only in long runs; every function is in its file.
. "$(dirname "$0")/common.sh"
page=$top_srcdir/doc/deviations.md

# One line a row: its section, a tab, the settings between backticks with tabs between, or WHERE, file:function.
awk -v rows="$work/rows" -v places="$work/places" '
    function words(text, out) {
        while (match(text, /`[^`]+`/)) {
            out = out "\t" substr(text, RSTART + 1, RLENGTH - 2)
            text = substr(text, RSTART + RLENGTH)
        }
        return out
    }
    /^## / { section = $2 }
    /^[|]/ {
        gsub(/\\[|]/, "")
        n = split($0, cell, "|")
        if (n != 7) { print "a row of " n - 2 " columns: " $0; bad = 1; next }
        if (cell[2] ~ /say/ && cell[3] ~ /fptrain does/ || cell[2] ~ /^---/) { next }
        print section words(cell[6]) >places
        if (words(cell[5]) ~ / = /) { print section words(cell[5]) >rows }
    }
    END { exit bad }' "$page" || complain 'the page is not as this test reads it'
[ "$(wc -l <"$work/places")" -gt 50 ] && [ "$(wc -l <"$work/rows")" -gt 20 ] || complain 'few rows'

while IFS='	' read -r section place; do
    grep -qE "^[a-z].*[ *]${place#*.c:}\(" "$top_srcdir/${place%:*}" || complain "$section: there is no $place"
done <"$work/places"

# --------------------------------------------------------------------------------------- the settings
# What a section begins with: a small network with branches and normalisation, in formats where they matter.
base() { # SECTION
    set -- "$1" formats.v=e4m3fn formats.w=e4m3fn formats.dv=e5m2 formats.dw=e5m2
    case $1 in
    Mixed) set -- "$1" formats.v=fp16 formats.w=fp16 formats.dv=fp16 formats.dw=fp16 scaler.name=backoff ;;
    Backoff) set -- "$@" scaler.name=backoff ;;
    Adaptive) set -- "$@" scaler.name=adaptive ;;
    Precision) set -- "$1" policy.name=assign:ratio=0.5 scaler.name=backoff ;;
    MuPPET) set -- "$1" policy.name=muppet:levels=4/6,r=1,epoch-steps=1,beta=0.01 train.epochs=8 ;;
    LPMM) set -- "$1" optimizer.store=packed ;;
    esac
    shift
    printf '%s\n' "$@"
}

# The log of a training, but for its clock. What a policy is given is added to what the base gives it.
train() { # SECTION SETTING...
    local section=$1 setting
    local -a options=()
    while read -r setting; do options+=(--set "$setting"); done < <(base "$section")
    shift
    for setting in "$@"; do
        [ "$section" != MuPPET ] || setting=${setting/muppet:/muppet:levels=4/6,r=1,epoch-steps=1,beta=0.01,}
        options+=(--set "$setting")
    done
    rm -rf "$work/run"
    "$FPTRAIN" run --quiet --out "$work/run" --model resnet20 --epochs 2 --batch 2 --set model.width=0.25 \
        --set data.pad=32 --set data.train_count=6 --set data.test_count=2 --set output.log_every=1 \
        --set optimizer.decay=0.01 --set train.diverged=continue --schedule cosine "${options[@]}" \
        2>"$work/said" || return 1
    sed 's/,"seconds":[^,}]*//' "$work/run/log.jsonl"
}

# Those whose difference this short training has not: what needs overflow or long runs.
expected_same() {
    case $* in
    *promote=code* | *lo-backward=* | *exact:saturate*) return 0 ;;
    esac
    return 1
}

while IFS= read -r row; do
    IFS='	' read -r -a cell <<<"$row"
    section=${cell[0]}
    settings=()
    for word in "${cell[@]:1}"; do
        [[ $word =~ ^[a-z]+\.[a-z_*.]+' = ' ]] && settings+=("${word/ = /=}")
    done
    [ ${#settings[@]} -gt 0 ] || { complain "$section: no setting in ${cell[*]:1}"; continue; }
    [ -f "$work/$section" ] || train "$section" >"$work/$section" || complain "$section: $(cat "$work/said")"
    if ! train "$section" "${settings[@]}" >"$work/log"; then
        complain "$section, ${settings[*]}: $(cat "$work/said")"
    elif cmp -s "$work/$section" "$work/log" && ! expected_same "${cell[@]}"; then
        complain "$section, ${settings[*]}: the same training as without"
    fi
done <"$work/rows"
exit $status
