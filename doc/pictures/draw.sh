#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# draw.sh - makes the pictures of the documents: draw.sh [DIRECTORY] writes them there (default: beside this file).
# FPEMU names the command (default: fpemu). `make redraw' runs it; `make check' compares its pictures with those here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
fpemu=${FPEMU:-fpemu}
LC_ALL=C
export LC_ALL
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# The range of x in numbers.svg, as powers of two, and how many errors are asked for in each octave.
low=-20 high=20 samples=64
awk -v low=$low -v high=$high -v n=$samples 'BEGIN {
    for (i = low * n - n / 2; i < high * n + n / 2; i++) printf "%.9g\n", 2 ^ (i / n) }' >"$scratch/inputs"

# numbers SPEC BITS COLOUR: a format, its numbers, and what the inputs are rounded to.
numbers() {
    echo "row $1 $("$fpemu" info "$1" | awk '/^smallest normal/ { print $3 == "-" ? 0 : $3 }') $3"
    awk -v n=$((1 << $2)) 'BEGIN { for (i = 0; i < n; i++) print i }' | "$fpemu" decode "$1" | sed 's/^/value /'
    "$fpemu" round "$1" --overflow saturate <"$scratch/inputs" | paste -d ' ' "$scratch/inputs" - | sed 's/^/error /'
}

{
    numbers fp16 16 '#000000'
    numbers e5m2 8 '#d55e00'
    numbers e4m3fn 8 '#0072b2'
    numbers 'posit(8,2)' 8 '#cc79a7'
    numbers 'fixed(8,4)' 8 '#009e73'
    numbers int8 8 '#b8860b'
    numbers e2m1 4 '#7a5195'
} | awk -v LOW=$low -v HIGH=$high -v ROWS=7 -v SAMPLES=$samples -f "$here/numbers.awk" >"$out/numbers.svg"

# The table of bench/peers/RESULTS.md as bars.
awk -f "$here/speed.awk" "$here/../../bench/peers/RESULTS.md" >"$out/speed.svg"
awk -f "$here/architecture.awk" >"$out/architecture.svg"
