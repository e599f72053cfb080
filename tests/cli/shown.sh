#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Whatever text comes in an argument or from a file, a message is one line of a terminal's width or a few of them, in
# printable characters of UTF-8, in the C locale too, and its end, which says what is wrong, is there.
. "$(dirname "$0")/common.sh"

# drives FILE: it holds what is no UTF-8, or a control character, also one of two bytes.
drives() {
    ! iconv -f UTF-8 -t UTF-8 <"$1" >/dev/null 2>&1 || tr '\n' ' ' <"$1" | grep -q "[[:cntrl:]]\|$(printf '\302[\200-\237]')"
}

# says PROGRAM REASON ARGUMENT...: fails with one printable line, no longer than two paths, that holds the reason.
says() {
    program=$1 wanted=$2
    shift 2
    "$program" "$@" </dev/null >out 2>err
    status=$?
    if [ $status -eq 0 ] || [ "$(wc -l <err)" -ne 1 ] || [ "$(wc -c <err)" -gt $most ] ||
        drives err || ! grep -qF -e "$wanted" err; then
        failed "${program##*/} $1 $(printf %.20s "$2" | tr -cd ' -~'): status $status, wanted '$wanted', got:" \
            "$(tr -cd ' -~' <err | head -c 600)"
    fi
}

# printable FILE WHAT: nothing in it drives a terminal.
printable() {
    [ "$(tr -d '\n' <"$1" | tr -d ' -~' | wc -c)" -eq 0 ] || failed "$2 drives the terminal: $(cat -v "$1")"
}

"$FPEMU" sample weights --size 64 -o in.npy || failed sample
long=$(printf '%3000s' '' | tr ' ' x)
control=$(printf '\033]0;title\007\rforged\nline\302\233\377')
# Bytes within characters that never began, and characters where the middle is taken out
inside=2$(printf '%3000s' '' | tr ' ' '\231')
wide=$(printf '%17s' '' | sed 's/ /\xf0\x9f\x98\x80/g')
most=620
for text in "$wide" "x$wide" "xx$wide" "xxx$wide"; do
    says "$FPEMU" '' info "$text"
done
e=$(printf '\303\251')
says "$FPEMU" "fpemu: gr$e.npy: No such file" compare "gr$e.npy" bf16
says "$FPEMU" "format 'gr$e', character 1" info "gr$e"
for blanks in '%90s' 'x%90s'; do # of two bytes each, cut between two of them
    says "$FPEMU" '...' info "$(printf "$blanks" '' | sed "s/ /$e/g")"
    ! grep -qF '?' err || failed "a character is cut: $(cat err)"
    says "$FPEMU" '.npy: ' compare "$(printf "$blanks$blanks" '' '' | sed "s/ /$e/g").npy" bf16
    ! grep -qF '?' err || failed "a character is cut: $(cat err)"
done
[ ! -x "${FPTRAIN:-}" ] || says "$FPTRAIN" "section [data] has no key 'gr$e'" run --set "data.gr$e=1"
for text in "$control" "$control$long" "$inside" "x' $long" "$long $long $long"; do
    [ "${text#*x x}" = "$text" ] || most=1040 # it is three words
    says "$FPEMU" "see 'fpemu --help'" "$text"
    says "$FPEMU" "see 'fpemu round --help'" round --"$text" e4m3fn 1
    says "$FPEMU" '' round "$text" 1
    says "$FPEMU" '' round e4m3fn "$text"
    says "$FPEMU" '' round e4m3fn 1 -r "$text"
    says "$FPEMU" '' info "$text"
    says "$FPEMU" '' gemm --model "$text" in.npy in.npy
    says "$FPEMU" '' quantize "$text" in.npy -o out.npy
    says "$FPEMU" '' quantize e4m3fn "$text" -o out.npy
    says "$FPEMU" '' quantize e4m3fn in.npy -o "no/$text"
    says "$FPEMU" '' quantize e4m3fn in.npy -o out.npy --map "$text"
    says "$FPEMU" '' quantize e4m3fn in.npy -o out.npy --map "*=$text"
    says "$FPEMU" '' quantize e4m3fn in.npy -o out.npy --plan "$text"
    says "$FPEMU" '' quantize e4m3fn in.npy -o out.npy --only "$text"
    says "$FPEMU" '' quantize e4m3fn in.npy -o out.npy --axis "$text"
    says "$FPEMU" '' compare in.npy e4m3fn "$text"
    says "$FPEMU" '' compare in.npy e4m3fn --plot "$text.png"
    says "$FPEMU" '' unpack "$text" -o out.npy
    says "$FPEMU" '' sample "$text" -o out.npy
    says "$FPEMU" '' apply "$text" e4m3fn 1 2
    says "$FPEMU" '' vectors "$text"
    says "$FPEMU" '' fuzz "$text" --command "$text"
    [ -x "${FPTRAIN:-}" ] || continue
    says "$FPTRAIN" "see 'fptrain --help'" "$text"
    says "$FPTRAIN" '' run "--$text"
    says "$FPTRAIN" '' run --set "$text"
    says "$FPTRAIN" '' run --set "data.$text=1"
    says "$FPTRAIN" '' run --set "$text.source=1"
    says "$FPTRAIN" '' run --set "data.limit=$text"
    [ "$(wc -c <err)" -lt 250 ] || failed "--set: $(cat err)"
    says "$FPTRAIN" '' run --set "train.lr=$text"
    says "$FPTRAIN" '' run --set "formats.v=$text"
    says "$FPTRAIN" '' run --set "formats.v=e4m3fn $text"
    says "$FPTRAIN" '' run --set "formats.$text=fp16"
    says "$FPTRAIN" '' run --config "$text"
    says "$FPTRAIN" '' run --model "$text"
    says "$FPTRAIN" '' run --data "npz:$text"
    says "$FPTRAIN" '' run --policy "$text"
    says "$FPTRAIN" '' run --policy "assign:$text=1"
    says "$FPTRAIN" '' run --set "train.backend=emulated:$text"
    says "$FPTRAIN" '' run --set "train.schedule=$text"
    says "$FPTRAIN" '' run --init-from "$text"
    says "$FPTRAIN" '' data "$text"
    says "$FPTRAIN" '' data digits --npz "no/$text"
    says "$FPTRAIN" '' report "$text" --tables tables.md
    says "$FPTRAIN" '' eval "$text"
    says "$FPTRAIN" '' estimate "--$text"
    says "$FPTRAIN" '' tradeoff "$text"
    says "$FPTRAIN" '' help "$text"
    { printf '[data]\nsource = '; printf '%s\n' "$text"; } >"settings.ini"
    says "$FPTRAIN" settings.ini run --config settings.ini
    { printf '[%s]\nsource = 1\n' "$text"; } >"settings.ini"
    says "$FPTRAIN" settings.ini run --config settings.ini
    printf 'input\n%s\n' "$text" >net.net
    says "$FPTRAIN" net.net run --model ./net.net
done

# A name in a report stays as it is but for control characters, also those that some terminals take in two bytes, and
# those that turn the order of a line or end it.
header='{"caf\u00e9\u001b[2J\u009b1m\u007f\u202ea\u2066\u2028":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}'
header=$(printf '%-112s' "$header")
safetensors "$header" >name.safetensors
head -c 64 /dev/zero >>name.safetensors
for command in 'info name.safetensors' 'compare name.safetensors e4m3fn' \
    'quantize e4m3fn name.safetensors -o out.safetensors --report' 'pack mxfp4 name.safetensors -o out.fpk --report' \
    'info out.fpk'; do
    "$FPEMU" $command >out 2>err || failed "$command: $(cat err)"
    grep -q "$(printf 'caf\303\251?\[2J??1m????a??????')" out || failed "$command prints another name: $(cat -v out)"
done

# So does a type that is none of ours.
header='{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
header=$header'"g":{"dtype":"\u001b]0;x\u0007","shape":[1],"data_offsets":[4,8]}}'
header=$(printf '%-128s' "$header")
safetensors "$header" 12345678 >type.safetensors
for command in 'info type.safetensors' 'compare type.safetensors e4m3fn' 'compare type.safetensors e4m3fn --long' \
    'pack e4m3fn type.safetensors -o type.fpk' 'info type.fpk' 'unpack type.fpk --list'; do
    "$FPEMU" $command >out 2>err || failed "$command: $(cat err)"
    case $command in pack*) continue ;; esac
    grep -q '?]0;x?' out || failed "$command prints another type: $(cat -v out)"
    printable out "$command"
done

# JSON says the same name, by escapes alone.
for command in 'info name.safetensors' 'compare name.safetensors e4m3fn' \
    'quantize e4m3fn name.safetensors -o out.safetensors' 'pack mxfp4 name.safetensors -o out.fpk' \
    'info out.fpk' 'unpack out.fpk --list'; do
    "$FPEMU" $command --json >json 2>err || failed "$command --json: $(cat err)"
    printable json "$command --json"
    grep -qF '"caf\u00E9\u001B[2J\u009B1m\u007F\u202Ea\u2066\u2028"' json || failed "$command --json: $(cat -v json)"
done
grep -qF "$(printf '\302\233')1m" out.safetensors || failed 'a file has another name than its source'

# What an argument or a file says of itself, in reports.
"$FPEMU" fuzz e4m3fn --against-program ": $control; cat" --inputs 1 >out 2>err
printable out fuzz
if [ -x "${FPTRAIN:-}" ]; then
    name='a\u001b[31m\u009b\u202eb'
    printf '{"name":"%s","bandwidth":1,"rows":[{"fp32":1,"fp16":1,"int8":1}]}\n' "$name" >hardware.json
    "$FPTRAIN" estimate --hardware hardware.json --model mlp --shape 1x3x2 --classes 3 >out 2>err ||
        failed "estimate: $(cat err)"
    printable out estimate
    grep -qF 'mlp on a?[31m?????b, batch' out || failed "estimate: $(cat -v out)"
    mkdir log
    printf '{"step":1,"loss":1,"tensors":[{"name":"%s","role":"dv","count":1,"underflow":1}]}\n' "$name" >log/log.jsonl
    "$FPTRAIN" report log --csv out.csv || failed 'report --csv'
    grep -qF "$(printf '\302\233')" out.csv || failed 'a name in CSV is not as it was'
    : >log/settings.ini
    run=$(printf 'a\033[31m\302\233\342\200\256b') # tables and plots have the names of runs
    cp -r log "$run"
    "$FPTRAIN" report "$run" --tables tables.md --plots plots || failed 'report --tables'
    printable tables.md 'report --tables'
    grep -qF 'a?\[31m?????b' tables.md || failed "report --tables: $(cat -v tables.md)"
    grep -qF 'a?[31m??b' plots/loss.svg || failed 'report --plots prints another name'
    if script -qec true /dev/null </dev/null >/dev/null 2>&1; then # gives it a terminal
        script -qec "'$FPTRAIN' report log --csv /dev/stdout" /dev/null </dev/null | tr -d '\r' >out
        printable out 'report --csv on a terminal'
        grep -qF 'a?[31m?????b' out || failed "report --csv on a terminal: $(cat -v out)"
    fi
fi

finish
