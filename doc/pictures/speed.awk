# SPDX-License-Identifier: BSD-2-Clause
# speed.awk - SVG bars of the speed of libfpemu and of other software, from tables of bench/peers/RESULTS.md: the one
# of CPFloat, of which the faster build is taken, and of the others the one of 32768 elements.

function text(x, y, anchor, style, words) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, style, words
}

# One panel: a format and mode, a bar for each that does it, the length by the logarithm from 0.001 on.
function panel(key, words, x, y, i, name, width, v) {
    text(x + 76, y, "start", " font-weight=\"bold\"", words)
    for (i = 1; i <= COUNT; i++) {
        name = order[i]
        y += 19
        text(x + 70, y + 4, "end", "", name)
        v = speed[key, name]
        if (v == "") {
            text(x + 78, y + 4, "start", " fill=\"#888888\"", "-")
            continue
        }
        width = (log(v) / log(10) + 3) * 50
        printf "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>\n", x + 76, y - 7, width,
               i == 1 ? "#0072b2" : "#a6bddb"
        text(x + 82 + width, y + 4, "start", "", v)
    }
}

BEGIN {
    FS = " *[|] *"
    COUNT = split("libfpemu CPFloat torch ml_dtypes numpy qtorch gfloat pychop", order, " ")
}

/^[|] format [|] mode [|] CPFloat/ { table = 1 }
/^[|] format [|] mode [|] libfpemu/ { table = table == 1 ? 2 : 3; for (i = 4; i < NF; i++) column[i] = $i }

/^[|] (fp16|bf16|e5m2|e4m3|e4m3fn) [|]/ {
    key = $2 == "e4m3" ? "e4m3fn " $3 : $2 " " $3
    if (table == 1) {
        v = $6
        sub(/ .*/, "", v)
        speed[key, "CPFloat"] = v
    }
    for (i = 4; table == 2 && i < NF; i++) {
        v = $i
        sub(/ .*/, "", v)
        speed[key, column[i]] = v
    }
}

END {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 452\"" \
          " font-family=\"sans-serif\" font-size=\"12\">"
    print "<title>Speed of rounding to a format, of libfpemu and of other software</title>"
    print "<rect width=\"760\" height=\"452\" rx=\"6\" fill=\"#ffffff\"/>"
    text(20, 26, "start", " font-size=\"15\" font-weight=\"bold\"",
         "10<tspan dy=\"-4\" font-size=\"10\">9</tspan><tspan dy=\"4\" dx=\"5\">" \
         "elements a second, one thread, 32768 numbers (logarithmic)</tspan>")
    panel("fp16 rne", "fp16, to nearest", 10, 58)
    panel("bf16 rne", "bf16, to nearest", 385, 58)
    panel("e4m3fn rne", "e4m3fn, to nearest", 10, 250)
    panel("e4m3fn sr", "e4m3fn, stochastic", 385, 250)
    text(20, 436, "start", " fill=\"#555555\"",
         "AMD EPYC (Zen 5), 2026-11-22." \
         " CPFloat measured apart, its e4m3 has infinities. \"-\": not offered or not measured.")
    print "</svg>"
}
