# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.compat.microxcaling against the rules of OCP MX v1.0 in exact rationals, and against recorded results of
microxcaling 7bc4195."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from same import refuses

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from fpemu.compat import microxcaling as mx

# name: exponent bits (0: an integer), stored fraction bits (an integer's bits below the point), largest value
ELEMENTS = {"fp8_e5m2": (5, 2, 57344), "fp8_e4m3": (4, 3, 448), "fp6_e3m2": (3, 2, 28), "fp6_e2m3": (2, 3, 7.5),
            "fp4": (2, 1, 6), "fp4_e2m1": (2, 1, 6), "int8": (0, 6, 127 / 64), "int4": (0, 2, 7 / 4), "int2": (0, 0, 1),
            "fp16": (5, 10, 65504), "bf16": (8, 7, 255 * 2.0**120)}
SPECS = {"block_size": 32, "scale_bits": 8, "shared_exp_method": "max", "mx_flush_fp32_subnorms": False}


def floor_log2(value):
    """floor(log2 value), of a Fraction above 0."""
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e if Fraction(2) ** e <= value else e - 1


def rounded(value, quantum, mode):
    """The magnitude `value` in steps of `quantum`."""
    k, rest = divmod(value, quantum)
    twice = 2 * rest
    up = {"floor": False, "nearest": twice >= quantum, "even": twice > quantum or (twice == quantum and k % 2 == 1)}
    return (k + up[mode]) * quantum


def block_by_definition(block, element, mode, scale_bits=8):
    """A block of finite numbers by OCP MX v1.0, 6.3: scale 2^(floor(log2 amax) - emax), elements saturate."""
    exponent_bits, fraction_bits, largest = ELEMENTS[element]
    exact = [Fraction(v) for v in block]
    amax, least = max(abs(v) for v in exact), 2 ** (scale_bits - 1) - 1
    if amax == 0:
        return [0.0] * len(block)
    scale = Fraction(2) ** min(max(floor_log2(amax) - floor_log2(Fraction(largest)), -least), least)
    emin = 2 - 2 ** (exponent_bits - 1) if exponent_bits else 0
    result = []
    for v in exact:
        t = abs(v) / scale
        e = max(floor_log2(t), emin) if t and exponent_bits else emin
        p = min(rounded(t, Fraction(2) ** (e - fraction_bits), mode), Fraction(largest))
        result.append(math.copysign(float(p * scale), v))
    return result


def by_definition(x, element, axis, size, mode, scale_bits=8):
    """A whole tensor; x's last axis after moving is cut into blocks."""
    moved = x.movedim(axis, -1)
    lines = [[v for i in range(0, len(line), size or len(line))
              for v in block_by_definition(line[i:i + (size or len(line))], element, mode, scale_bits)]
             for line in moved.reshape(-1, moved.shape[-1]).tolist()]
    return torch.tensor(lines, dtype=torch.float64).to(torch.float32).reshape(moved.shape).movedim(-1, axis)


def numbers():
    """Numbers of many sizes, ties, powers of two and their neighbours, zeros, subnormal numbers."""
    g = torch.Generator().manual_seed(7)
    x = torch.randn(12, 70, generator=g) * torch.exp2(torch.randint(-20, 20, (12, 70), generator=g).float() / 4)
    x[1], x[2, ::3], x[3, :32] = 0, -0.0, 2.0 ** torch.arange(-16, 16)
    x[4] = torch.nextafter(torch.exp2(torch.randint(-9, 9, (70,), generator=g).float()), torch.tensor(0.0))
    x[5] = (torch.arange(70) - 35) / 32
    x[6] *= 2.0**-140
    x[7] *= 2.0**120
    return x


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("mode", ["nearest", "floor", "even"])
def test_blocks_by_definition(element, mode):
    x = numbers()
    for axis, size in ((-1, 32), (-1, 16), (0, 5), (1, 0), (0, 0)):
        y = mx.quantize_mx_op(x, SPECS, element, block_size=size, axes=[axis], round=mode)
        assert y.dtype == x.dtype and torch.equal(y, by_definition(x, element, axis, size, mode)), (axis, size)


@pytest.mark.parametrize("element", ["fp8_e4m3", "fp4", "int8"])
def test_shapes_of_blocks(element):
    x = numbers().reshape(3, 4, 70)
    each = mx.quantize_mx_op(x, {**SPECS, "shared_exp_method": "none"}, element, axes=[-1])
    assert torch.equal(each, by_definition(x.reshape(-1), element, 0, 1, "nearest").reshape(x.shape))
    both = mx.quantize_mx_op(x, SPECS, element, block_size=0, axes=[0, 2])
    lines = x.movedim(1, 0).reshape(4, -1)
    assert torch.equal(both, by_definition(lines, element, 1, 0, "nearest").reshape(4, 3, 70).movedim(0, 1))
    tiles = mx.quantize_mx_op(x, SPECS, element, block_size=2, axes=[0, 2])
    for i, k in itertools.product(range(0, 3, 2), range(0, 70, 2)):
        for j in range(4):
            part = x[i:i + 2, j, k:k + 2]
            expected = block_by_definition(part.flatten().tolist(), element, "nearest")
            assert tiles[i:i + 2, j, k:k + 2].flatten().tolist() == torch.tensor(
                expected, dtype=torch.float64).float().tolist()


def test_scales_of_few_bits():
    x = numbers()[:6]
    for bits in (4, 5, 7):
        specs = {**SPECS, "scale_bits": bits}
        y = mx.quantize_mx_op(x * 2.0**30, specs, "fp4", axes=[-1], round="even")
        assert torch.equal(y, by_definition(x * 2.0**30, "fp4", -1, 32, "even", bits))
        y = mx.quantize_mx_op(x, specs, "fp4", axes=[-1], round="even")
        assert torch.equal(y, by_definition(x, "fp4", -1, 32, "even", bits))
    specs = {**SPECS, "scale_bits": 4}  # scales from 2^-7 to 2^7: FP4 to 6 * 2^7
    values = torch.tensor([1023.0, 100.0])
    assert mx.quantize_mx_op(values, specs, "fp4", axes=[0]).tolist() == [768.0, 128.0]
    assert mx.quantize_mx_op(2 * values, specs, "fp4", axes=[0]).tolist() == [768.0, 192.0]
    assert mx.quantize_mx_op(values, specs, "fp4", axes=[0], defects={"nan_scale"}).tolist() == [768.0, 128.0]
    assert mx.quantize_mx_op(2 * values, specs, "fp4", axes=[0], defects={"nan_scale"}).isnan().all()


def test_recorded_results():
    def mxq(values, element, **more):
        return mx.quantize_mx_op(torch.tensor(values), SPECS, element, axes=[-1], **more).tolist()

    assert mxq([470.0], "fp8_e4m3") == [448.0] and mxq([957.0], "fp8_e4m3") == [896.0]
    assert mxq([7.0, 5.0], "fp4") == [6.0, 6.0] and mxq([7.0, 5.0], "fp4", round="even") == [6.0, 4.0]
    assert mxq([1.99, -0.51], "int8") == [1.984375, -0.515625]
    assert all(math.isnan(v) for v in mxq([1.0, math.inf, 2.0], "fp4") + mxq([1.0, math.nan], "int8"))
    # numbers just below a power of two, where microxcaling's logarithm doubles the scale: 512, 64, 4 and 1.0 there
    below = torch.nextafter(torch.tensor([512.0, 64.0, 4.0]), torch.tensor(0.0))
    assert [mxq([v], e) for v, e in zip(below.tolist(), ("fp8_e4m3", "fp4", "int4"))] == [[448.0], [48.0], [3.5]]


def test_defects_are_off_until_asked_for():
    x = torch.tensor([-0.0, -1e-3, 1.0, 0.0])

    def signs(**more):
        return mx.quantize_mx_op(x, SPECS, "fp4", axes=[0], **more).signbit().tolist()

    assert signs() == [True, True, False, False]
    assert signs(defects={"positive_zero"}) == [False, True, False, False]
    before = mx.use_defects({"positive_zero"})
    try:
        assert signs() == [False, True, False, False] and signs(defects=()) == [True, True, False, False]
    finally:
        mx.use_defects(before)
    assert signs() == [True, True, False, False]
    fp16 = {**mx.finalize_mx_specs({"fp": 16})}
    big = torch.tensor([65504.0, 65535.0, 65536.0, -1e6])
    assert mx.quantize_elemwise_op(big, fp16, "floor").tolist() == [65504.0] * 3 + [-65504.0]
    assert mx.quantize_elemwise_op(big, fp16, "floor", defects={"floor_infinite"}).tolist() == [
        65504.0, 65504.0, math.inf, -math.inf]
    refuses(ValueError, lambda: mx.quantize_elemwise_op(big, fp16, defects={"log2"}), "log2")


def test_blocks_of_subnormal_numbers_are_flushed_when_asked():
    x = torch.cat([torch.full((40,), 2.0**-127), torch.full((24,), 2.0**-126)])
    y = mx.quantize_mx_op(x, {**SPECS, "mx_flush_fp32_subnorms": True}, "fp8_e5m2", axes=[0])
    assert y.tolist() == [0.0] * 32 + x[32:].tolist()
    assert torch.equal(mx.quantize_mx_op(x, SPECS, "fp8_e5m2", axes=[0]), x)


@pytest.mark.parametrize("size", [0, 4])
def test_tensors_without_elements(size):
    for shape, axes in (((0,), [0]), ((0, 4), [0]), ((0, 4), [1]), ((3, 0), [0, 1])):
        for flush in (False, True):
            specs = {**SPECS, "mx_flush_fp32_subnorms": flush}
            assert mx.quantize_mx_op(torch.zeros(shape), specs, "fp4", block_size=size, axes=axes).shape == shape


@pytest.mark.parametrize("key,bits,exponent_bits,fraction_bits", [("bfloat", 16, 8, 7), ("bfloat", 10, 8, 1),
                                                                  ("bfloat", 24, 8, 15), ("fp", 16, 5, 10),
                                                                  ("fp", 8, 5, 2)])
def test_floats_by_definition(key, bits, exponent_bits, fraction_bits):
    emin, emax = 2 - 2 ** (exponent_bits - 1), 2 ** (exponent_bits - 1) - 1
    largest = (2 - Fraction(2) ** -fraction_bits) * Fraction(2) ** emax
    x = torch.cat([numbers().flatten(), torch.tensor([65519.0, 65520.0, 7e4, -3.4e38, 6e-8, 2.0**-25])])
    for mode, subnormal in itertools.product(("nearest", "floor", "even"), (True, False)):
        specs = mx.finalize_mx_specs({key: bits, "round": mode, "bfloat_subnorms": subnormal})
        expected = []
        for v in x.tolist():
            value = abs(Fraction(v))
            e = max(floor_log2(value), emin) if value else emin
            r = rounded(value, Fraction(2) ** (e - fraction_bits), mode)
            r = Fraction(0) if not subnormal and value < Fraction(2) ** emin else r
            past = largest if mode == "floor" else math.inf
            expected.append(math.copysign(float(r if r <= largest else past), v))
        y = mx.quantize_elemwise_op(x, specs)
        assert torch.equal(y, torch.tensor(expected, dtype=torch.float64).float())


def test_stochastic_rounding_has_the_law():
    torch.manual_seed(1)
    x = torch.full((1 << 15,), 0.7)
    y = mx.quantize_mx_op(x, SPECS, "fp4", axes=[0], round="dither")  # scale 2^-3: 0.5 and 0.75
    assert set(y.tolist()) == {0.5, 0.75} and abs(float((y - 0.5).mean()) * 4 - 0.8) < 0.012
    assert not torch.equal(y, mx.quantize_mx_op(x, SPECS, "fp4", axes=[0], round="dither"))
    torch.manual_seed(1)
    assert torch.equal(y, mx.quantize_mx_op(x, SPECS, "fp4", axes=[0], round="dither"))


def test_specs():
    assert mx.finalize_mx_specs({}) is None and mx.finalize_mx_specs({"round": "even"}) is None
    specs = mx.finalize_mx_specs({"w_elem_format": "fp4", "a_elem_format": "fp8_e4m3", "round": "even",
                                  "round_grad_input": "floor", "a_elem_format_bp_os": "int8", "block_size": 32})
    assert (specs["w_elem_format_bp"], specs["a_elem_format_bp_ex"], specs["a_elem_format_bp_os"]) == (
        "fp4", "fp8_e4m3", "int8")
    assert (specs["round_mx_output"], specs["round_mx_input_grad_weight"], specs["round_weight"]) == (
        "even", "floor", "even")
    assert specs["scale_bits"] == 0 and specs["quantize_backprop"] is True
    back = mx.get_backwards_mx_specs(mx.apply_mx_specs({**specs, "quantize_backprop": False}))
    assert back["w_elem_format"] is None and back["block_size"] == 0 and specs["block_size"] == 32
    refuses(AssertionError, lambda: mx.MxSpecs({"bflot": 16}))
    refuses(KeyError, lambda: mx.apply_mx_specs({"bflot": 16}))


def test_products():
    """Operands are exact products' operands: sums of few integers over 2^k are exact in any order."""
    specs = mx.finalize_mx_specs({"w_elem_format": "fp6_e3m2", "a_elem_format": "fp8_e4m3", "block_size": 16,
                                  "bfloat": 16, "round": "even", "a_elem_format_bp_ex": "fp4",
                                  "a_elem_format_bp_os": "int8"})
    g = torch.Generator().manual_seed(8)
    x, w, b, d = (torch.randint(-40, 41, shape, generator=g) / 4 for shape in ((3, 20, 24), (6, 24), (6,), (3, 20, 6)))

    def q(t, element, axis):
        return by_definition(t, element, axis, 16, "even")

    def bf(t):
        return t.to(torch.bfloat16).float()

    xq, wq, bias = x.clone().requires_grad_(), w.clone().requires_grad_(), b.clone().requires_grad_()
    y = mx.linear(xq, wq, bias, specs)
    expected = bf(bf(q(x, "fp8_e4m3", -1) @ q(w, "fp6_e3m2", -1).T) + b)
    assert torch.equal(y, expected)
    y.backward(d)
    assert torch.equal(xq.grad, bf(q(d, "int8", -1) @ q(w, "fp6_e3m2", 0)))
    flat = q(d, "fp4", -2).reshape(-1, 6).T @ q(x, "fp8_e4m3", -2).reshape(-1, 24)
    assert torch.equal(wq.grad, bf(flat)) and torch.equal(bias.grad, bf(d.reshape(-1, 6).sum(0)))
    module = mx.Linear(24, 6, mx_specs=specs)
    module.load_state_dict({"weight": w, "bias": b})
    assert torch.equal(module(x), expected) and torch.equal(module(x[0, 0]), mx.linear(x[:1, 0], w, b, specs)[0])
    module.apply_mx_specs(None)
    assert torch.equal(module(x), torch.nn.functional.linear(x, w, b))

    a, c = x[0].clone().requires_grad_(), w.T.clone().requires_grad_()
    y = mx.matmul(a, c, mx_specs=specs, mode_config="aw")
    assert torch.equal(y, bf(q(x[0], "fp8_e4m3", -1) @ q(w.T, "fp6_e3m2", -2)))
    y.backward(d[0])
    assert torch.equal(a.grad, bf(q(d[0], "int8", -1) @ q(w.T, "fp6_e3m2", -1).T))
    assert torch.equal(c.grad, bf(q(x[0], "fp8_e4m3", -2).T @ q(d[0], "int8", -2)))
    assert torch.equal(mx.matmul(x[0], w.T), x[0] @ w.T)

    original = torch.matmul
    undo = mx.inject_pyt_ops(specs)
    try:
        assert torch.equal(torch.matmul(x[0], w.T), mx.matmul(x[0], w.T, mx_specs=specs))
        assert torch.equal(torch.bmm(x, x.mT), mx.bmm(x, x.mT, specs))
        assert type(torch.nn.Linear(2, 3)).__name__ == "Linear_inj"
        assert torch.equal(torch.nn.functional.linear(x, w, b), expected)
        assert torch.equal(torch.addmm(b, x[0], w.T), mx.addmm(b, x[0], w.T, specs))
        for more in ({"beta": 2}, {"alpha": 2}, {"out": torch.empty(0)}):
            refuses(TypeError, lambda: torch.addmm(b, x[0], w.T, **more))
    finally:
        undo()
    assert torch.matmul is original and torch.nn.Linear.__name__ == "Linear"


def test_gradient_of_bfloat():
    specs = mx.finalize_mx_specs({"bfloat": 16, "round": "even"})
    x = torch.tensor([1.003, 2.0], requires_grad=True)
    y = mx.quantize_bfloat(x, specs)
    y.backward(torch.tensor([1.003, 0.3]))
    assert torch.equal(y, x.detach().bfloat16().float())
    assert torch.equal(x.grad, torch.tensor([1.003, 0.3]).bfloat16().float())
    x.grad = None
    mx.quantize_bfloat(x, {**specs, "quantize_backprop": False}).backward(torch.tensor([1.003, 0.3]))
    assert torch.equal(x.grad, torch.tensor([1.003, 0.3]))
    assert mx.quantize_bfloat(x, None) is x


def test_refusals():
    x = torch.ones(4)
    for bad in ({"elem_format": "fp5"}, {"elem_format": "fp4", "round": "up"}, {"elem_format": "fp4", "axes": None},
                {"elem_format": "fp4", "block_size": -1}, {"elem_format": "fp4", "axes": [5]},
                {"elem_format": "fp4", "axes": -2}):
        refuses(ValueError, lambda: mx.quantize_mx_op(x, SPECS, **{"axes": [0], **bad}))
    refuses(ValueError, lambda: mx.quantize_mx_op(torch.tensor(1.0), SPECS, "fp4", axes=[0]), "no axis 0")
    for change in ({"scale_bits": 9}, {"scale_bits": 1}, {"shared_exp_method": "mean"}):
        refuses(ValueError, lambda: mx.quantize_mx_op(x, {**SPECS, **change}, "fp4", axes=[0]))
    refuses(TypeError, lambda: mx.quantize_mx_op(torch.arange(4), SPECS, "fp4", axes=[0]))
    for change in ({"bfloat": 9}, {"fp": 6}, {"bfloat": 16, "fp": 16}):
        refuses(ValueError, lambda: mx.quantize_elemwise_op(x, mx.MxSpecs(change)))
    assert mx.quantize_mx_op(x, SPECS, None, axes=[0]) is x and mx.quantize_elemwise_op(x, None) is x


def test_16_bit_tensors_are_rounded_once():
    x = numbers().to(torch.bfloat16)
    y = mx.quantize_mx_op(x, SPECS, "fp4", axes=[-1], round="even")
    assert y.dtype == torch.bfloat16
    assert torch.equal(y.float(), by_definition(x.float(), "fp4", -1, 32, "even").bfloat16().float())
