# SPDX-License-Identifier: BSD-2-Clause
# numbers.awk - SVG of the positive numbers of some formats, and of the mean error of rounding to them.
#
# Reads lines "row NAME SMALLEST-NORMAL COLOUR", "value X" (the numbers of that row, ascending) and "error X Y" (a
# number and what it was rounded to, ascending). Octaves from 2^LOW to 2^HIGH, SAMPLES errors an octave.

function x_of(value) { return left + (log(value) / log(2) - LOW) * octave }

function text(x, y, anchor, style, words) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, style, words
}

# Ticks nearer than a pixel become one bar.
function close_tick() {
    if (!open)
        return
    width = last - first < 1 ? 1 : last - first + 1
    ticks = ticks sprintf("M%.1f %.1fh%.1fv-%dh-%.1fz", first - 0.5, y + 9, width, height, width)
    open = 0
}

function close_row(i, x, shown, sum, points, centre) {
    if (name == "")
        return
    close_tick()
    printf "<path fill=\"%s\" d=\"%s\"/>\n", colour, ticks
    points = ""
    for (i = 0; i <= errors - SAMPLES; i += SAMPLES / 8) { # the mean over an octave, eight times an octave
        sum = 0
        for (x = i; x < i + SAMPLES; x++)
            sum += error[x]
        centre = input[i] * sqrt(2)
        shown = log(sum / SAMPLES) / log(10)
        shown = shown < -4 ? -4 : shown > 0 ? 0 : shown
        points = points sprintf("%s%.1f %.1f", points == "" ? "M" : "L", x_of(centre), top2 - shown * decade)
    }
    curves = curves sprintf("<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"" \
                            " stroke-linejoin=\"round\"%s d=\"%s\"/>\n",
                            colour, name ~ /posit/ ? " stroke-dasharray=\"6 3\"" : "", points)
}

BEGIN {
    left = 130; octave = 17; right = left + (HIGH - LOW) * octave; top = 64; pitch = 27; decade = 58
    top2 = top + ROWS * pitch + 66
    bottom = top2 + 4 * decade
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\"" \
           " font-family=\"sans-serif\" font-size=\"13\">\n",
           right + 30, bottom + 52
    print "<title>The numbers of seven formats, and the error of rounding to them</title>"
    printf "<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#ffffff\"/>\n", right + 30, bottom + 52
    text(left, 24, "start", " font-size=\"15\" font-weight=\"bold\"", "The numbers above zero")
    text(left, 43, "start", " fill=\"#555555\"",
        "one tick each, bars where they lie closer than can be drawn; short: subnormal")
    text(left, top2 - 30, "start", " font-size=\"15\" font-weight=\"bold\"",
        "Mean error of rounding to nearest, relative to x")
    text(left, top2 - 11, "start", " fill=\"#555555\"",
        "of numbers from x/1.41 to 1.41 x, saturating; colours as above, posit dashed")
    for (i = LOW; i <= HIGH; i += 4) {
        x = left + (i - LOW) * octave
        printf "<path stroke=\"#dddddd\" d=\"M%.1f %dV%dM%.1f %dV%d\"/>\n", x, top - 12, top + ROWS * pitch - 10, x,
            top2, bottom
        words = sprintf("2<tspan dy=\"-4\" font-size=\"10\">%s%d</tspan>", i < 0 ? "\342\210\222" : "", i < 0 ? -i : i)
        text(x, bottom + 20, "middle", "", i == 0 ? "1" : words)
    }
    text((left + right) / 2, bottom + 42, "middle", "", "x")
    for (i = 0; i <= 4; i++) {
        printf "<path stroke=\"#dddddd\" d=\"M%d %.1fH%d\"/>\n", left, top2 + i * decade, right
        text(left - 8, top2 + i * decade + 4, "end", "", sprintf("%g %%", 100 / 10 ^ i))
    }
    row = -1
}

$1 == "row" {
    close_row()
    row++
    name = $2; normal = $3; colour = $4
    y = top + row * pitch
    ticks = ""; open = 0; errors = 0
    text(left - 12, y + 5, "end", " fill=\"" colour "\" font-weight=\"bold\"", name)
    printf "<path stroke=\"#bbbbbb\" d=\"M%d %.1fH%d\"/>\n", left, y + 9.5, right
}

$1 == "value" && $2 ~ /^[0-9]/ && $2 > 0 {
    x = x_of($2)
    if (x < left - 0.5 || x > right + 0.5)
        next
    tall = $2 >= normal ? 18 : 9
    if (open && x - last < 1.2 && tall == height) {
        last = x
    } else {
        close_tick()
        open = 1; first = last = x; height = tall
    }
}

$1 == "error" {
    input[errors] = $2
    e = ($3 - $2) / $2
    error[errors++] = e < 0 ? -e : e
}

END {
    close_row()
    printf "%s", curves
    print "</svg>"
}
