# SPDX-License-Identifier: BSD-2-Clause
"""Works out what `fpemu vectors --as csv` wrote once more, in exact rationals.

dots_judge.py A B C SCALES RESULT MODEL... <vectors of --op dot or gemm, by doc/accumulation.md: MODEL is `seq INNER`,
`chunk LENGTH INNER OUTER` or `fused N F INNER MODE LEAST`; a last word `start` has the sum start from c, and
`before` or `after` ahead of it flags by IEEE 754; random bits are 8. Prints how many vectors of each case agree.
dots_judge.py to FROM ELEMENT SCALE BITS <vectors, by doc/blocks.md: a tensor of one block with rule floor, or by rule
nvfp4 where SCALE is no e8m0; dots_judge.py from RESULT ELEMENT SCALE BITS: and back.
dots_judge.py convert FROM RESULT BITS, mul FROM RESULT BITS: their classes too.
dots_judge.py FILE: the tensor cores' own answers, tests/vectors/tensor_cores.txt, by the same rules.
"""
import csv
import math
import sys
from fractions import Fraction

# exponent bits, fraction bits, bias; largest code, and what overflow and NaN become (None: no NaN, overflow saturates)
FORMATS = {"fp64": (11, 52, 1023, 0x7FEF << 48 | (1 << 48) - 1, 0x7FF << 52, 0xFFF << 51),
           "fp32": (8, 23, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000),
           "f8_13": (8, 13, 127, 0x1FDFFF, 0x1FE000, 0x1FF000), "fp16": (5, 10, 15, 0x7BFF, 0x7C00, 0x7E00),
           "bf16": (8, 7, 127, 0x7F7F, 0x7F80, 0x7FC0), "e5m2": (5, 2, 15, 0x7B, 0x7C, 0x7F),
           "e4m3fn": (4, 3, 7, 0x7E, 0x7F, 0x7F), "e2m1": (2, 1, 1, 7, None, None),
           "e4m3s": (4, 3, 7, 0x7E, None, None)}  # e4m3fn as an element, or scale, that saturates
# The same without an end of exponents.
FORMATS |= {f"wide {name}": (15, m, 16383, (32767 << m) - 1, None, None) for name, (e, m, *_) in FORMATS.items()}
INFINITY, NAN = float("inf"), float("nan")


def finite(x):
    return x - x == 0


def zero(negative):
    return -0.0 if negative else 0.0


def negative(x):
    return str(x)[0] == "-"


def decode(name, code):  # zeros, infinities and NaN are floats, all other numbers fractions
    if name == "e8m0":
        return NAN if code == 255 else Fraction(2) ** (code - 127)
    e, m, bias, largest, over, nan = FORMATS[name]
    size, sign = code & (1 << e + m) - 1, code >> e + m
    if size > largest:
        return (NAN if over == nan or size != over else -INFINITY if sign else INFINITY)
    field, fraction = size >> m, size & (1 << m) - 1
    x = Fraction(fraction + ((field > 0) << m)) * Fraction(2) ** (max(field, 1) - bias - m)
    return zero(sign) if x == 0 else -x if sign else x


def floor_log2(x):
    e = abs(x.numerator).bit_length() - x.denominator.bit_length()
    return e if abs(x) >= Fraction(2) ** e else e - 1


def rounded(name, mode, x, flags=None):
    """x in the format; its code."""
    e, m, bias, largest, over, nan = FORMATS[name]
    flags = set() if flags is None else flags
    sign = negative(x) << e + m
    if x != x:
        return nan if nan is not None else 0
    if not finite(x):
        if over == nan and over is not None:
            flags.add("invalid")
            return nan
        return (over if over is not None else largest) | sign
    if x == 0:
        return sign
    step = Fraction(2) ** (max(floor_log2(x), 1 - bias) - m)
    k, rest = divmod(abs(x), step)
    half = 2 * rest - step
    random = isinstance(mode, tuple) and rest * (1 << mode[1]) // step + mode[0] >= 1 << mode[1]  # R, of so many bits
    up = {"rne": half > 0 or half == 0 and k % 2 == 1, "rtz": False, "rtp": rest > 0 and not sign,
          "rtn": rest > 0 and sign > 0, "rna": half >= 0}.get(mode, random)
    k = int(k) + bool(up)
    code = (floor_log2(step) + m + bias - 1 << m) + k
    if code > largest:
        flags |= {"overflow", "inexact"}
        outward = mode not in ("rtz", "rtp", "rtn") or mode == "rtp" and not sign or mode == "rtn" and sign
        over = largest if over is None or not outward else over
        return over if over == nan else over | sign
    if rest > 0:
        flags.add("inexact")
    if code == 0:
        flags.add("underflow")
    return code | sign


def times(x, y):
    if x != x or y != y or not (finite(x) and finite(y)) and (x == 0 or y == 0):
        return NAN
    sign = negative(x) != negative(y)
    if not (finite(x) and finite(y)):
        return -INFINITY if sign else INFINITY
    return zero(sign) if x == 0 or y == 0 else x * y


def plus(x, y, mode="rne"):
    if not (finite(x) and finite(y)):
        terms = [t for t in (x, y) if not finite(t)]
        return terms[0] if len(terms) == 1 or terms[0] == terms[1] else NAN
    if x == 0 and y == 0:
        return zero(negative(x) and negative(y) or mode == "rtn" and negative(x) != negative(y))
    x = Fraction(x) + Fraction(y)
    return zero(mode == "rtn") if x == 0 else x


def fused(d, terms, n, f, inner, mode, least, emin, flags):
    for first in range(0, len(terms), n):
        step = [(t, max(floor_log2(x), emin[0]) + max(floor_log2(y), emin[1]) if finite(t) and t != 0 else 0)
                for t, x, y in terms[first:first + n]]
        low = 2 - FORMATS[inner][2] - 1
        step.append((d, max(floor_log2(d), low) if finite(d) and d != 0 else 0))
        known = [t for t, _ in step if t == t]
        bad = {t for t in known if not finite(t)}
        if len(known) < len(step) or len(bad) == 2:
            if all(x == x and y == y for _, x, y in terms[first:first + n]) and d == d:
                flags.add("invalid")
            d = NAN
        elif bad:
            d = bad.pop()
        else:
            step = [(t, e) for t, e in step if t != 0]
            top = max([e for _, e in step] + [least])
            scaled = [Fraction(t) * Fraction(2) ** (f - top) for t, _ in step]
            total = sum((-1 if t < 0 else 1) * (abs(t) // 1) for t in scaled)
            if any(t.denominator > 1 for t in scaled):
                flags.add("inexact")
            x = total * Fraction(2) ** (top - f)
            e, m, _, largest, over, _ = FORMATS[inner]
            code = rounded(inner, mode, x, flags) if x != 0 else 0
            code = over | code & 1 << e + m if "overflow" in flags and code & largest == largest else code
            d = decode(inner, code)
            d = 0.0 if d == 0 else d
    return d


def dot(model, formats, a, b, scales_a, scales_b, c, mode, result, when=None):
    """The code of the result and the flags; `when`: of underflow by IEEE 754."""
    flags = set()
    terms = [(times(x, y), x, y) for x, y in zip(a, b)]
    start = c if c is not None and model[-1] == "start" else 0.0

    def add(s, x, term, name):  # x: the product; term: what it is made of
        total = plus(s, x)
        if total != total and all(t == t for t in (s, *term)):
            flags.add("invalid")
        return decode(name, rounded(name, "rne", total, flags))
    if model[0] == "seq":
        s = start if start == 0 else decode(model[1], rounded(model[1], "rne", start))
        for x, *term in terms:
            s = add(s, x, term, model[1])
    elif model[0] == "chunk":
        length, (inner, outer) = int(model[1]), model[2:4]
        s = start if start == 0 else decode(outer, rounded(outer, "rne", start))
        for j, first in enumerate(range(0, len(terms), length)):
            r = 0.0
            for x, *term in terms[first:first + length]:
                r = add(r, x, term, inner)
            scale = times(scales_a[j], scales_b[j]) if scales_a else Fraction(1)
            s = add(s, times(r, scale), (r, scale), outer)
    else:
        emin = [1 - FORMATS[name][2] for name in formats]
        s = fused(start if start == 0 else decode("fp32", rounded("fp32", "rne", start)), terms, int(model[1]),
                  int(model[2]), model[3], model[4], int(model[5]), emin, flags)
    if c is not None and model[-1] != "start":
        total = plus(s, c, mode)
        if total != total and s == s and c == c:
            flags.add("invalid")
        s = total
    last = set()
    code = small(result, rounded(result, mode, s, last), last)
    flags |= last
    if when:  # tiny and inexact in the last rounding
        y = decode(f"wide {result}", rounded(f"wide {result}", mode, s)) if when == "after" and finite(s) else s
        flags -= {"underflow"}
        flags |= {"underflow"} if "inexact" in last and abs(y) < Fraction(2) ** (1 - FORMATS[result][2]) else set()
    return code, flags


def signals(name, code):
    e, m, _, largest, over, nan = FORMATS[name]
    return over not in (nan, None) and decode(name, code) != decode(name, code) and code & 1 << m - 1 == 0


def lanes(row, field, name=None):
    found = [k for k in row if k == field or k.startswith(field) and k[len(field):].isdigit()]
    return [decode(name, int(row[k], 16)) if name else int(row[k], 16) for k in found]


def judged(work):
    """Holds the codes, and the flags but for None, that `work` has for a row to those in the row."""
    counts = {}
    for row in csv.DictReader(sys.stdin):
        codes, flags = work(row)
        said = {k for k in ("inexact", "underflow", "overflow", "invalid", "subnormal") if row[k] == "1"}
        for field, right in codes.items():
            if lanes(row, field) != right or flags is not None and flags != said:
                sys.exit(f"{row}: should be {field} {right} {flags}")
        case = row.get("case", row.get("classes"))
        counts[case] = counts.get(case, 0) + 1
    print(" ".join(f"{case}:{count}" for case, count in counts.items()))


def modes(row, bits):
    return [(r, int(bits)) for r in lanes(row, "random")] if row["mode"] == "sr" else [row["mode"]] * 256


def sums(a, b, c, scales, result, *model):
    when = next((word for word in model if word in ("before", "after")), None)
    model = [word for word in model if word != when]

    def work(row):
        x, y, starts = (lanes(row, *field) for field in (("a", a), ("b", b), ("c", c)))
        scales_x, scales_y = lanes(row, "scale_a", scales), lanes(row, "scale_b", scales)
        n = len(lanes(row, "result"))
        m = math.isqrt(len(x) * n // len(y))  # results are m x n / m
        k, n, codes, flags, by = len(x) // m, n // m, [], set(), modes(row, 8)
        blocks = len(scales_x) // m
        for i in range(m):
            for j in range(n):
                code, more = dot(model, (a, b), x[i * k:][:k], y[j::n], scales_x[i * blocks:][:blocks],
                                 scales_y[j * blocks:][:blocks], starts[i * n + j] if starts else None,
                                 by[i * n + j], result, when)
                codes.append(code)
                flags |= more
        if when and any(signals(name, code) for f, name in zip("abc", (a, b, c)) if f in "ab" or starts
                        for code in lanes(row, f)):
            flags.add("invalid")
        return {"result": codes}, flags
    judged(work)


def small(name, code, flags):
    e, m = FORMATS[name][:2]
    if 0 < code & (1 << e + m) - 1 < 1 << m:
        flags.add("subnormal")
    return code


def to_blocks(source, element, scale, bits):
    def f32(x):
        return decode("fp32", rounded("fp32", "rne", x))

    def work(row):
        x, by = lanes(row, "x", source), modes(row, bits)
        largest = max(abs(Fraction(t)) for t in [*filter(finite, x), Fraction(0)])
        emax, most, flags = {"e2m1": (2, 6), "e4m3s": (8, 448)}[element] + (set(),)
        if not all(map(finite, x)):
            wrong = {"invalid"} if any(t == t for t in x) else set()
            return ({"scale": [255 if scale == "e8m0" else 127], "code": [0] * len(x)},
                    wrong | ({"inexact"} if any(map(finite, x)) else set()))
        if scale == "e8m0":
            e = min(max(floor_log2(largest) - emax, -127), 127) if largest else -127
            t = [x / Fraction(2) ** e if x != 0 else x for x in x]
            return ({"scale": [e + 127],
                     "code": [small(element, rounded(element, m, x, flags), flags) for x, m in zip(t, by)]}, flags)
        whole, top = abs(Fraction(lanes(row, "amax", source)[0])), decode("fp32", 0x7F7FFFFF)
        u = min(f32(Fraction(448 * most) / whole), top) if whole else Fraction(1)
        u = top if not finite(u) else u
        d = f32(1 / u)
        code = rounded("e4m3s", "rne", f32(largest * f32(u * f32(Fraction(1, most)))))
        s = decode("e4m3s", code)
        factor = f32(1 / f32(s * d)) if s * d != 0 and f32(s * d) != 0 else top if s != 0 else 0
        factor = factor if finite(factor) else top
        t = [(f32(Fraction(v) * factor) if s != 0 else 0) if v != 0 else v for v in x]
        t = [zero(negative(v)) if q == 0 else q for q, v in zip(t, x)]
        return ({"tensor": [rounded("fp32", "rne", u), rounded("fp32", "rne", d)], "scale": [code],
                 "code": [rounded(element, m, q) for q, m in zip(t, by)]}, None)
    judged(work)


def from_blocks(result, element, scale, bits):
    def work(row):
        by, [s] = modes(row, bits), lanes(row, "scale", scale)
        y = [times(p, s) for p in lanes(row, "code", element)]
        flags = set()
        return {"y": [small(result, rounded(result, m, x, flags), flags) for x, m in zip(y, by)]}, flags
    judged(work)


def scalars(operation, source, result, bits):
    def kind(name, x):
        e, m, bias = FORMATS[name][:3]
        return ("nan" if x != x else "infinity" if not finite(x) else "zero" if x == 0 else
                "subnormal" if abs(x) < Fraction(2) ** (1 - bias) else "normal")

    def work(row):
        x = [decode(source, int(row[k], 16)) for k in (("operand",) if operation == "convert" else ("a", "b"))]
        exact = x[0] if operation == "convert" else times(*x)
        code = rounded(result, modes(row, bits)[0], exact)
        largest = decode(result, FORMATS[result][3])
        case = "special" if not finite(exact) else "beyond" if abs(exact) > largest else "exact"
        low, high = decode(result, rounded(result, "rtz", exact)), 0
        if case == "exact" and low != exact:
            high = decode(result, rounded(result, "rtz", exact) + 1)
            twice = 2 * abs(exact) - abs(low) - abs(high)
            case = "below" if twice < 0 else "above" if twice > 0 else "tie"
        y = [decode(result, code)] if operation == "convert" else []
        classes = ".".join([*(kind(source, t) for t in x), *(kind(result, t) for t in y), case])
        if row["classes"] != classes:
            sys.exit(f"{row}: should be {classes}")
        return {"result": [code]}, None
    judged(work)


def records(path):
    models = {"fp32": ("fused", 16, 25, "fp32", "rtz", -133, "start"),
              "fp16": ("fused", 16, 25, "fp16", "rne", -21, "start"),
              "fp8": ("fused", 32, 13, "f8_13", "rtz", -133, "start")}
    agreed = 0
    for line in open(path):
        words = line.split()
        if words[:2] != ["h100", "wgmma"] or words[2] == "tf32" or words[2:4] in (["e4m3fn", "fp16"], ["e5m2", "fp16"]):
            continue
        _, _, name, result, a, b, c, wanted = words
        size = 2 if name in ("e4m3fn", "e5m2") else 4  # digits
        a, b = ([decode(name, int.from_bytes(bytes.fromhex(x[i:i + size]), "little"))
                 for i in range(0, 64, size)] for x in (a, b))
        code, _ = dot(models["fp8" if size == 2 else result], (name, name), a, b, None, None,
                      decode(result, int(c, 16)), "rne", result)
        right = int(wanted, 16)
        assert code == right or all(decode(result, x) != decode(result, x) for x in (code, right)), (line, hex(code))
        agreed += 1
    print(agreed)


if __name__ == "__main__":
    first, *rest = sys.argv[1:]
    own = {"to": to_blocks, "from": from_blocks, "convert": scalars, "mul": scalars}
    if not rest:
        records(first)
    elif first in own:
        own[first](*(sys.argv[1:] if own[first] == scalars else rest))
    else:
        sums(first, *rest)
