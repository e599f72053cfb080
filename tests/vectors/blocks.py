#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Known answers for MX (OCP MX v1.0, section 6.3, and the other rules for its scale), block floating point, and NVFP4
(TransformerEngine's and pytorch/ao's order of operations).

    tests/vectors/blocks.py > tests/vectors/blocks.txt

Everything is exact: numbers are fractions, a binary32 operation is the fraction rounded once, a value of an element
format is looked up in the list of all its codes. No floating-point operation, logarithm or library takes part.
Written from the rules of doc/blocks.md and doc/numerics.md; it shares nothing with the library or its judges in C.

How the exponent of a scale is made, from amax, the largest value M of the element format, emax = floor(log2 M) and the
element's precision p, all as fractions; then it is cut to what the scale format has:
    floor  the power of two at or below amax, over 2^emax: found by comparing amax with powers of two
    ceil   the power of two at or above amax, over 2^emax
    even   amax is cut into steps of 2^(floor(log2 amax) - p + 1) and rounded to the nearest number of them, ties up;
           then as floor
    rceil  1/M, rounded once to binary32, times amax, rounded once to binary32; the power of two at or above the product
           (a product of 0: the smallest scale; of infinity: the largest)
    hbfp   the power of two at or above amax, over 2^(emax + 1): block floating point alone has this rule
The inputs for the last four have amax at every place where one of the rules changes its mind, and one binary32 number
below and above it.

A case: a line `case SPEC`, the inputs as binary32 bits in hexadecimal, the packed bytes (numbers of the tensor, scales,
elements), the values as binary32 bits.
"""
import random
from fractions import Fraction as Q

NAN = 0x7fc00000


# ---------------------------------------------------------------------------------------------------- binary32

def value(bits):
    """Fraction, 'nan' or 'inf' with its sign bit."""
    sign, e, t = bits >> 31, bits >> 23 & 255, bits & 0x7fffff
    if e == 255:
        return ('nan' if t else 'inf', sign)
    m = t if e == 0 else t | 1 << 23
    return (Q(m) * Q(2) ** (max(e, 1) - 150), sign)


def floor_log2(q):
    e = q.numerator.bit_length() - q.denominator.bit_length()
    return e if Q(2) ** e <= q else e - 1


def single(q):
    """A magnitude rounded to nearest even binary32: a fraction, or None past the largest number."""
    if q == 0:
        return Q(0)
    step = Q(2) ** (max(floor_log2(q), -126) - 23)
    k, rest = divmod(q, step)
    k += rest > step / 2 or (rest == step / 2 and k % 2)
    return k * step if k * step < Q(2) ** 128 else None


def bits_of(q, sign):
    if q == 0:
        return sign << 31
    e = max(floor_log2(q), -126)
    return sign << 31 | int(q / Q(2) ** (e - 23)) + (e + 126 << 23)


LARGEST = (Q(2) ** 24 - 1) * Q(2) ** 104


# ------------------------------------------------------------------------------------------------------ formats

def floats(e, m, bias, top):
    """Magnitudes of the codes 0 .. top."""
    return [Q(c) * Q(2) ** (1 - bias - m) if c >> m == 0 else
            (1 + Q(c & (1 << m) - 1, 1 << m)) * Q(2) ** ((c >> m) - bias) for c in range(top + 1)]


ELEMENTS = {  # bits, magnitudes by code; the sign is the top bit
    'mxfp8_e4m3': (8, floats(4, 3, 7, 0x7e)),
    'mxfp8_e5m2': (8, floats(5, 2, 15, 0x7b)),
    'mxfp6_e3m2': (6, floats(3, 2, 3, 0x1f)),
    'mxfp6_e2m3': (6, floats(2, 3, 1, 0x1f)),
    'mxfp4': (4, floats(2, 1, 1, 7)),
    'mxint8': (8, [Q(c, 64) for c in range(128)]),
    'bfp3': (4, [Q(c, 8) for c in range(8)]),
}
PLAIN = [spec for spec in ELEMENTS if spec != 'bfp3']
E4M3 = floats(4, 3, 7, 0x7e)


def nearest(q, magnitudes):
    """The code of a magnitude: nearest, ties to the even code, the largest beyond the end."""
    low, high = 0, len(magnitudes) - 1
    if q >= magnitudes[high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if magnitudes[middle] <= q else (low, middle)
    a, b = q - magnitudes[low], magnitudes[high] - q
    return low if a < b or (a == b and low % 2 == 0) else high


def pack(codes, bits):
    word = 0
    for place, code in enumerate(codes):
        word |= code << place * bits
    return word.to_bytes((len(codes) * bits + 7) // 8, 'little')


# ---------------------------------------------------------------------------------------------------------- MX

def ceil_log2(q):
    e = floor_log2(q)
    return e if Q(2) ** e == q else e + 1


def exponent(rule, amax, magnitudes, precision):
    """Of the scale; None: the smallest there is."""
    largest = magnitudes[-1]
    emax = floor_log2(largest)
    if rule == 'even':
        step = Q(2) ** (floor_log2(amax) - precision + 1)
        amax = (amax / step + Q(1, 2)).__floor__() * step
    if rule == 'rceil':
        product = single(amax * single(1 / largest))
        if product is None:  # past binary32, and so past the largest scale
            return 128
        return ceil_log2(product) if product else None
    if rule in ('floor', 'even'):
        return floor_log2(amax) - emax
    return ceil_log2(amax) - emax - (rule == 'hbfp')


def rules(x):
    """MX under the other rules, in the spelling of the library, and block floating point of 3 bits under all five."""
    for name in ('mxfp4', 'mxfp6_e2m3', 'mxfp6_e3m2', 'mxfp8_e4m3', 'mxfp8_e5m2'):
        element = {'mxfp4': 'e2m1', 'mxfp8_e4m3': 'e4m3fn'}.get(name, name[-4:])
        for rule in ('ceil', 'even', 'rceil'):
            show('mx(%s,block=4,rule=%s)' % (element, rule), x, mx(name, x, 4, rule, int(element[3]) + 1))
    for rule in ('ceil', 'even', 'rceil'):
        show('mx(fixed(8,6):symmetric,block=4,rule=%s)' % rule, x, mx('mxint8', x, 4, rule, 7))
    if all(not isinstance(value(b)[0], str) for b in x):
        for rule in ('floor', 'ceil', 'even', 'rceil', 'hbfp'):
            show('bfp(3,block=4,rule=%s)' % rule, x, mx('bfp3', x, 4, rule, 3, True))


def mx(spec, x, length=32, rule='floor', precision=None, power=False):
    """power: the scale is a bare power of two, its exponent in two's complement of 8 bits; else e8m0."""
    bits, magnitudes = ELEMENTS[spec]
    lowest = -128 if power else -127
    whole = spec in ('mxint8', 'bfp3')  # negative elements in two's complement, no -0
    scales, elements, y = b'', b'', []
    for at in range(0, len(x), length):
        block = [value(b) for b in x[at:at + length]]
        if any(isinstance(v, str) for v, _ in block):
            scales += b'\xff'
            elements += pack([0] * len(block), bits)
            y += [NAN] * len(block)
            continue
        amax = max(v for v, _ in block)
        e = exponent(rule, amax, magnitudes, precision) if amax else None
        e = lowest if e is None else min(max(e, lowest), 127)
        scale = Q(2) ** e
        scales += bytes([e % 256 if power else e + 127])
        codes = []
        for v, sign in block:
            code = nearest(v / scale, magnitudes)
            product = single(magnitudes[code] * scale)
            y.append(bits_of(LARGEST if product is None else product, sign if code or not whole else 0))
            if whole:
                codes.append(-code % 2 ** bits if sign else code)
            else:
                codes.append(code | sign << bits - 1)
        elements += pack(codes, bits)
    return scales + elements, y


# ------------------------------------------------------------------------------------------------------- NVFP4

def nvfp4(x, order, length=16):
    magnitudes = ELEMENTS['mxfp4'][1]
    values = [value(b) for b in x]
    A = max([v for v, _ in values if not isinstance(v, str)], default=Q(0))
    sat = lambda q: LARGEST if q is None else q
    if order == 'te':
        u = sat(single(Q(448 * 6) / A)) if A else Q(1)
        d = sat(single(1 / u))
    else:
        d = sat(single(A / (448 * 6))) or Q(1)
        u = sat(single(1 / d))
    scales, elements, y = b'', b'', []
    for at in range(0, len(x), length):
        block = values[at:at + length]
        if any(isinstance(v, str) for v, _ in block):
            scales += b'\x7f'
            elements += pack([0] * len(block), 4)
            y += [NAN] * len(block)
            continue
        amax = max(v for v, _ in block)
        if order == 'te':
            s = nearest(sat(single(amax * single(u * single(Q(1, 6))))), E4M3)
        else:
            s = nearest(min(max(sat(single(single(amax / 6) / d)), Q(1, 64)), Q(448)), E4M3)
        scales += bytes([s])
        scale = E4M3[s]
        codes = []
        for v, sign in block:
            if scale == 0:
                code = 0
            elif order == 'te':
                product = single(scale * d)
                factor = min(sat(single(1 / product)), LARGEST) if product else LARGEST
                code = nearest(sat(single(v * factor)), magnitudes)
            else:
                code = nearest(sat(single(v * sat(single(u / scale)))), magnitudes)
            y.append(bits_of(sat(single(sat(single(magnitudes[code] * scale)) * d)), sign))
            codes.append(code | sign << 3)
        elements += pack(codes, 4)
    numbers = b''.join(bits_of(q, 0).to_bytes(4, 'little') for q in (u, d))
    return numbers + scales + elements, y


# ------------------------------------------------------------------------------------------------------- inputs

def number(mantissa, e, sign=0):
    return bits_of(single(Q(mantissa) * Q(2) ** e), sign)


def inputs():
    rng = random.Random(20)
    ramp = [number(k, -3, k % 3 == 1) for k in range(32)]
    yield ramp
    yield [0x00000000, 0x80000000] * 16
    yield [0] * 31 + [1]                                          # the smallest subnormal number
    yield [0x80000001, 0x007fffff, 0x00800000, 0x00400000] * 4
    yield [0x7f7fffff, 0xff7fffff, 0x7f000000, 0x7effffff, 0x7e800000, 0x3f800000] * 3
    yield ramp[:16] + [0x7f800000] + ramp[17:] + ramp[:16]        # an infinity in the first block
    yield ramp + ramp[:5] + [0xffc00001] + ramp[:3]               # a NaN in the second, which is short
    yield [number(957, 0), number(470, 0, 1), number(7, 0), number(464, 0)]
    yield [number(7, 0), number(5, 0, 1), number(5, -1), number(7, -1), number(1, -2), number(3, -2), number(13, -1, 1)]
    for k in (-127, -126, -60, -1, 0, 1, 2, 9, 60, 127):          # just under, at and just over a power of two
        yield [number(1, k) - 1, number(1, k - 3, 1)]
        yield [number(1, k), number(3, k - 4, 1), 0x80000000]
        yield [number(1, k) + 1, number(5, k - 5)]
    for spread in (1, 6, 30):
        for n in (1, 16, 17, 32, 47, 64):
            yield [number(rng.getrandbits(24) | 1, rng.randrange(-spread, spread + 1) - 24, rng.getrandbits(1))
                   for _ in range(n)]
    for e in (-149, -140, -133, -126, 100, 120, 127):             # blocks far from each other in one tensor
        yield [number(rng.getrandbits(24) | 1 << 23, min(e, 127) - 23, rng.getrandbits(1)) for _ in range(16)] + \
              [number(rng.getrandbits(24) | 1 << 23, -23 - 8 * (e % 3), rng.getrandbits(1)) for _ in range(20)]


def thresholds():
    """Largest magnitudes where a rule changes its mind, with numbers down to where they vanish."""
    tops = sorted({m[-1] / Q(2) ** floor_log2(m[-1]) for _, m in ELEMENTS.values()} |
                  {2 - Q(1, 2 ** p) for p in (2, 3, 4, 7)} | {Q(1)})
    for k in (-126, -3, 0, 90, 127):
        x = []
        for top in tops:
            middle = bits_of(single(top * Q(2) ** k), 0)
            for bits in (middle - 1, middle, middle + 1):
                if bits < 0x7f800000:
                    x += [bits, 0x80000000 | max(bits - (2 << 23), 0), max(bits - (3 << 23) + 0x200000, 0)]
                    x += [0]
        yield x
    yield [number(1, -149)] + [number(3, -149, 1)] * 2            # the product of rceil is 0, or subnormal
    yield [0] * 5
    yield [number(1, 3)] * 4 + [0x7f800000, number(1, 0)]        # a NaN block, and one before it
    rng = random.Random(21)
    for spread in (2, 12):
        yield [number(rng.getrandbits(24) | 1, rng.randrange(-spread, spread + 1) - 24, rng.getrandbits(1))
               for _ in range(64)]


def show(spec, x, answer):
    data, y = answer
    print('case', spec)
    print('x', *('%08x' % b for b in x))
    print('bytes', data.hex())
    print('y', *('%08x' % b for b in y))


if __name__ == '__main__':
    print('# made by tests/vectors/blocks.py')
    for x in inputs():
        for spec in PLAIN:
            show(spec, x, mx(spec, x))
        show('nvfp4', x, nvfp4(x, 'te'))
        show('nvfp4(rule=nvfp4-ao)', x, nvfp4(x, 'ao'))
    for x in thresholds():
        rules(x)
