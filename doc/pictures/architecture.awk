# SPDX-License-Identifier: BSD-2-Clause
# architecture.awk - SVG of the rooms of the source and of what each builds on.

function text(x, y, anchor, style, words) {
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, style, words
}

# A box with a name and up to three lines below it.
function box(x, y, w, h, fill, name, a, b, c) {
    printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" fill=\"%s\" stroke=\"#555555\"/>\n", x, y, w,
        h, fill
    text(x + 12, y + 21, "start", " font-weight=\"bold\" font-size=\"14\"", name)
    text(x + 12, y + 40, "start", "", a)
    text(x + 12, y + 56, "start", "", b)
    text(x + 12, y + 72, "start", "", c)
}

function arrow(x, from, to) {
    printf "<path stroke=\"#555555\" stroke-width=\"1.5\" d=\"M%d %dV%d\"/>\n", x, from, to - 6
    printf "<path fill=\"#555555\" d=\"M%d %dl-5 -8h10z\"/>\n", x, to
}

BEGIN {
    program = "#fdebd0"; face = "#d6eaf8"; work = "#e8f6ef"; loop = "#fef9d7"; core = "#f9dcdc"; judge = "#eeeeee"
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 596\"" \
          " font-family=\"sans-serif\" font-size=\"12\">"
    print "<title>The rooms of libfpemu, each building on those below it</title>"
    print "<rect width=\"860\" height=\"596\" rx=\"6\" fill=\"#ffffff\"/>"

    box(20, 20, 190, 66, program, "your program", "C, C++, and examples/;", "Python, by way of python/")
    box(226, 20, 190, 66, program, "tools/fpemu", "the command: files of", "tensors, reports, fuzzing")
    box(432, 20, 190, 66, program, "tools/fptrain", "the trainer: every tensor", "of a network has a format")
    box(652, 20, 188, 66, program, "your CUDA program", "arrays in device memory")
    arrow(115, 86, 112); arrow(321, 86, 112); arrow(527, 86, 112); arrow(746, 86, 112)

    box(20, 112, 602, 50, face, "include/fpemu.h, include/fpemu/",
        "the public interface: format, rounding, stats; quantize, encode, tensor, arith, gemm")
    box(652, 112, 188, 50, face, "fpemu_cuda.h", "the calls, with a stream")
    arrow(115, 162, 188); arrow(321, 162, 188); arrow(527, 162, 188); arrow(746, 162, 188)

    box(20, 188, 190, 84, work, "lib/format", "what a format is:", "names, specs, limits;", "text to and from a value")
    box(226, 188, 190, 84, work, "lib/array", "calls on arrays: check,", "plan, share among threads,",
        "gather the counters")
    box(432, 188, 190, 84, work, "lib/gemm", "products of matrices: the", "models of accumulation,", "tiles, operands")
    box(652, 188, 188, 84, work, "gpu: .c and .cu", "the host checks, plans and", "launches; a kernel is a loop",
        "over the functions of core")
    arrow(321, 272, 298); arrow(527, 272, 298)

    box(226, 298, 396, 68, loop, "lib/loops", "the fast loops, compiled for plain C, AVX2 and AVX-512;",
        "the best that the machine has is chosen once")
    arrow(115, 272, 392); arrow(424, 366, 392); arrow(746, 272, 392)

    box(20, 392, 820, 68, core, "lib/core",
        "what happens to one element, as headers that both a C compiler and nvcc read: rounding, codes, random",
            "words, events, scales of blocks, exact arithmetic, sums of products." \
            " Loops and kernels give exactly its bits.")

    printf "<path stroke=\"#888888\" stroke-dasharray=\"5 4\" d=\"M20 480H840\"/>\n"
    box(20, 500, 402, 76, judge, "tests/judges", "the rules written again, by GNU MPFR and by integers;",
        "they share no code with lib/, and see only include/")
    box(438, 500, 402, 76, judge, "tests", "compare every call and loop with the judges, each other",
        "and typed-in answers; the kernels too, on the processor")
    print "</svg>"
}
