# SPDX-License-Identifier: BSD-2-Clause
"""Formats with scales: known answers, MX and NVFP4 of torchao, strides and axes, packed bytes."""

import os
import pickle

import fpemu
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same import Capsule, Interface, assert_same, refuses


def known(path):
    case = {}
    for line in open(path):
        word, _, rest = line.strip().partition(" ")
        if word == "case":
            if case:
                yield case
            case = {"spec": rest}
        elif word in ("x", "y"):
            case[word] = np.array([int(w, 16) for w in rest.split()], np.uint32).view(np.float32)
        elif word == "bytes":
            case[word] = bytes.fromhex(rest)
    yield case


def test_known_answers(vectors):
    count = 0
    for case in known(os.path.join(vectors, "blocks.txt")):
        x, spec = case["x"], case["spec"]
        assert_same(fpemu.quantize(x, spec), case["y"], spec)
        packed = fpemu.pack(x, spec)
        assert packed.tobytes() == case["bytes"], spec
        assert_same(fpemu.Packed.frombytes(case["bytes"], spec, x.shape).unpack(), case["y"], spec)
        count += 1
    assert count > 20


MX = [("mxfp8_e4m3", "float8_e4m3fn", 32), ("mxfp8_e5m2", "float8_e5m2", 32), ("mxfp4", "float4_e2m1fn_x2", 32)]


@pytest.mark.parametrize("spec,element,block", MX)
def test_mx_of_torchao(torch, rng, spec, element, block):
    mx = pytest.importorskip("torchao.prototype.mx_formats.mx_tensor", reason="torchao is not installed")
    if not hasattr(torch, element):
        pytest.skip(f"this torch has no {element}")
    x = torch.from_numpy((rng.standard_normal((16, 128)) * 10.0 ** rng.integers(-6, 6, (16, 128))).astype(np.float32))
    scale, data = mx.to_mx(x, getattr(torch, element), block)
    packed = fpemu.pack(x, spec)
    assert torch.equal(packed.scale_codes.reshape(-1), scale.view(torch.uint8).reshape(-1))
    assert torch.equal(packed.elements.reshape(-1), data.view(torch.uint8).reshape(-1))
    back = mx.to_dtype(data, scale, getattr(torch, element), block, torch.float32)
    assert torch.equal(packed.unpack().reshape(-1), back.reshape(-1))
    assert torch.equal(fpemu.quantize(x, spec), packed.unpack())


def test_nvfp4_of_torchao(torch, rng):
    nv = pytest.importorskip("torchao.prototype.mx_formats.nvfp4_tensor", reason="torchao is not installed")
    x = torch.from_numpy((rng.standard_normal((16, 64)) * 10.0 ** rng.integers(-2, 3, (16, 64))).astype(np.float32))
    tensor = nv.NVFP4Tensor.to_nvfp4(x, per_tensor_scale=nv.per_tensor_amax_to_scale(x.abs().max()))
    packed = fpemu.pack(x, "nvfp4(rule=nvfp4-ao)")
    assert torch.equal(packed.elements.reshape(-1), tensor.qdata.view(torch.uint8).reshape(-1))
    assert torch.equal(packed.scale_codes.reshape(-1), tensor.scale.view(torch.uint8).reshape(-1))


@pytest.mark.parametrize("spec,tile,bound,error", [(f"nvfp4(block={b},rule={rule},bound={bound})", t, bound, error)
                                                   for b, t in (("16", (1, 16)), ("16x16", (16, 16)))
                                                   for rule, error in (("4over6", "MAE"), ("4over6-mse", "MSE"))
                                                   for bound in (256, 448)] +
                         [("nvfp4(outer=row,rule=4over6)", (1, 16), 448, "MAE"),
                          ("nvfp4(outer=row)", (1, 16), 448, "")])
def test_4over6_of_transformer_engine(torch, rng, spec, tile, bound, error):
    of = pytest.importorskip("transformer_engine.pytorch.custom_recipes.reference_nvfp4",
                             reason="TransformerEngine is not installed")
    x = rng.standard_normal((64, 128)) * 2.0 ** rng.integers(-4, 4, (64, 1))
    x[:16] = rng.integers(-24, 25, (16, 128)) / 4  # ties
    x = torch.from_numpy(x.astype(np.float32)) + 0  # no -0, which becomes 0 there
    q = of.NVFP4QuantizerRef(None, columnwise=False, quant_tile_shape=tile, nvfp4_use_4over6=error != "",
                             row_scaled_nvfp4="row" in spec, nvfp4_e4m3_max=bound,
                             nvfp4_4over6_err_mode=error or "MAE").quantize(x)
    rows = 64 // tile[0]
    packed = fpemu.pack(x, spec)
    assert torch.equal(packed.scale_codes.reshape(rows, 8), q.scale.view(torch.uint8)[::tile[0]])
    codes = packed.elements.reshape(rows, 8, tile[0], 8).transpose(1, 2).reshape(64, 64)
    assert torch.equal(codes, q.data)


@pytest.mark.parametrize("kind,spec", [
    ("int", "block(int4,block=32,scale=fp32,rule=absmax,target=7.5,search=100..81/100)"),
    ("float", "group(e2m1,32,search=20..2/20)"),
])
def test_search_of_compressed_tensors(torch, rng, kind, spec):
    of = pytest.importorskip("compressed_tensors.quantization", reason="compressed-tensors is not installed")
    args = of.QuantizationArgs(num_bits=4, type=kind, symmetric=True, strategy="group", group_size=32)
    row = args.model_copy(update={"strategy": "token"})
    x = rng.standard_normal((512, 32)) * 2.0 ** rng.integers(-4, 4, (512, 1))
    x[:64] = rng.integers(-24, 25, (64, 32)) / 4  # equal errors
    x = torch.from_numpy(x.astype(np.float32))
    least, want, grid = torch.full((512,), torch.inf), torch.empty_like(x), 100 if kind == "int" else 20
    for i in range(20 if kind == "int" else 19):
        share = 1 - i / grid
        scale, zero = of.utils.calculate_qparams(x.amin(-1) * share, x.amax(-1) * share, args)
        y = of.lifecycle.fake_quantize(x, scale[:, None], zero[:, None], row)
        error = sum((y - x)[:, k].abs().pow(2) for k in range(32))
        want, least = torch.where((error < least)[:, None], y, want), torch.minimum(error, least)
    assert torch.equal(fpemu.quantize(x, spec), want)


def test_second_scale_by_line(torch, rng):
    x = (rng.standard_normal((5, 40)) * 2.0 ** rng.integers(-20, 20, (5, 1))).astype(np.float32)
    spec = "nvfp4(rule=4over6,outer=row)"
    packed, u = fpemu.pack(x, spec), np.float32(2688) / np.abs(x).max(axis=1)
    assert_same(np.array(packed.tensor_scales, np.float32), np.stack([u, 1 / u], axis=1))
    assert_same(packed.unpack(), np.concatenate([fpemu.quantize(row, "nvfp4(rule=4over6)") for row in np.split(x, 5)]))
    assert_same(fpemu.quantize(x.T, spec, axis=0), packed.unpack().T)
    operators = pytest.importorskip("fpemu.torch.operators")
    assert_same(operators.scales(torch.from_numpy(x), spec)[2].numpy(), np.array(packed.tensor_scales, np.float32))
    with pytest.raises(fpemu.Error, match="round the operands"):
        operators.parts(torch.from_numpy(x), spec, -1, 8)


def test_4over6_adds_in_order():
    """Errors so near each other that another order of their sums takes the other scale."""
    run = [
        3.2, 0.8521423, 0.033928182, -1.8662276, -0.7145797, 0.4695681, -1.0338668, 0.66588944, 1.5239375,
        -1.524686, -2.4662292, 0.61687875, 2.5478978, -1.0009248, -1.2506957, 0.58896893,
    ]
    tile = [
        3.2, 1.2942116, 0.12703003, -1.0799273, -0.23590383, 0.7379002, 0.3773268, 0.2803459, -0.9847229,
        1.1878533, 1.3630804, -1.3013536, 2.301495, 0.7225066, -0.488006, -1.9043559,
    ]
    x = np.array([run + [8] * 16], np.float32)  # 8: the largest of the tensor
    assert fpemu.pack(x, "nvfp4(rule=4over6)").scale_codes.reshape(-1)[0] == 0x78  # 256, of 4; else 176, of 6
    x = np.concatenate([np.reshape(np.array(tile, np.float32), (4, 4)), np.full((4, 4), 8, np.float32)], 1)
    assert fpemu.pack(x, "nvfp4(block=4x4,rule=4over6)").scale_codes.reshape(-1)[0] == 0x73


def test_targets():
    f = fpemu.format("nvfp4(margin=17/16,bound=256)")
    assert (f.target, f.bound) == (np.float32(6 * 16 / 17), 256) and fpemu.format(f.spec) == f


def test_swizzle_of_torchao(torch, rng):
    utils = pytest.importorskip("torchao.prototype.mx_formats.utils", reason="torchao is not installed")
    scale = torch.from_numpy(rng.integers(0, 256, (200, 10)).astype(np.uint8))
    expected = utils.to_blocked(scale).reshape(-1)
    assert torch.equal(fpemu.swizzle(scale), expected)
    assert torch.equal(fpemu.unswizzle(expected.contiguous(), 200, 10), scale)
    x = torch.from_numpy(rng.standard_normal((200, 320)).astype(np.float32))
    packed = fpemu.pack(x, "mxfp8")
    assert torch.equal(packed.swizzled(), utils.to_blocked(packed.scale_codes).reshape(-1))


def longhand(x, spec, axis):
    """A tensor line by line: what the library gives for each line by itself."""
    moved = np.moveaxis(x, axis, -1)
    result = np.empty_like(moved)
    for i in np.ndindex(moved.shape[:-1]):
        result[i] = fpemu.quantize(np.ascontiguousarray(moved[i]), spec)
    return np.moveaxis(result, -1, axis)


@st.composite
def views(draw):
    """A shape and the way to one of its strided views."""
    dimensions = draw(st.integers(1, 6))
    shape = tuple(draw(st.integers(1, 5)) for _ in range(dimensions))
    order = draw(st.permutations(range(dimensions)))
    steps = tuple(draw(st.sampled_from([1, 2, -1, -2])) for _ in range(dimensions))
    return shape, order, steps, draw(st.integers(-dimensions, dimensions - 1)), draw(st.integers(0, 99))


def view_of(values, order, steps):
    """The same numbers in a memory of another order, with gaps, walked backwards."""
    room = np.full([values.shape[i] * abs(steps[i]) for i in order], 77, values.dtype)
    view = room.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    view[...] = values
    return view


@given(views(),
       st.sampled_from(["mxfp4", "bfp(5)", "nvfp4", "nvfp4(block=4,rule=4over6)", "group(int4,3,clip=0.9)",
                        "scaled(e4m3fn)", "amdfp4", "mx9", "hif4", "q4_1", "group(int4,8,rule=asymmetric)", "hif8",
                        "e4m3fn", "fixed(8,4)"]),
       st.sampled_from(["rne", "sr"]), st.sampled_from([np.float32, np.float64, np.float16]))
def test_strides_change_nothing(case, spec, mode, dtype):
    shape, order, steps, axis, seed = case
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    rounding = fpemu.rounding(mode, seed=seed)
    expected = fpemu.quantize(values, spec, rounding, axis=axis)
    x = view_of(values, order, steps)
    assert_same(fpemu.quantize(x, spec, rounding, axis=axis), expected)
    out = view_of(np.zeros_like(values), order[::-1], steps[::-1])
    assert fpemu.quantize(x, spec, rounding, axis=axis, out=out) is out
    assert_same(out, expected)
    s, t = fpemu.Stats(sums=True), fpemu.Stats(sums=True)
    fpemu.quantize(values, spec, rounding, axis=axis, stats=s)
    fpemu.quantize(x, spec, rounding, axis=axis, stats=t, out=x)
    assert_same(x, expected)
    assert s.count == t.count == values.size and s.inexact == t.inexact and s.max_error == t.max_error
    if out.base is not None and out.base.size > out.size:  # nothing beside it was written
        assert (out.base == 77).sum() >= out.base.size - out.size
    packed = fpemu.pack(view_of(values, order, steps), spec, rounding, axis=axis)
    assert packed.tobytes() == fpemu.pack(values, spec, rounding, axis=axis).tobytes()
    assert_same(packed.unpack(), expected)


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_blocks_run_along_the_axis(rng, axis):
    x = rng.standard_normal((3, 5, 4, 6)).astype(np.float32)
    for spec in ("mxfp4", "group(int4,2)", "mx(e4m3fn,block=row)"):
        assert_same(fpemu.quantize(x, spec, axis=axis), longhand(x, spec, axis), spec)


@pytest.mark.parametrize("spec", ["mxfp4", "mxfp6_e2m3", "mxfp8", "nvfp4", "group(int4,5)", "e4m3fn", "e2m1", "fp16"])
@pytest.mark.parametrize("shape,axis", [((4, 7), -1), ((4, 7), 0), ((2, 3, 33), 2), ((5,), 0), ((), -1), ((0, 3), 0)])
def test_packed(rng, spec, shape, axis):
    x = rng.standard_normal(shape).astype(np.float32)
    packed = fpemu.pack(x, spec, axis=axis)
    y = fpemu.quantize(x, spec, axis=axis)
    assert_same(packed.unpack(), y)
    assert pickle.loads(pickle.dumps(packed)) == packed
    f = packed.format
    values = fpemu.decode(packed.codes, f.element, "float32") if not f.is_blocked else None
    if values is not None and packed.codes.shape == shape:
        assert_same(values, y)
    if f.is_blocked and x.size and axis in (-1, len(shape) - 1) and shape:
        element = fpemu.decode(packed.codes, f.element.spec, "float64")
        length = f.block_shape[0]
        scale = np.repeat(packed.scales.astype(np.float64), length, axis=-1)[..., :shape[-1]]
        d = packed.tensor_scales[1] if packed.tensor_scales else 1.0
        with np.errstate(invalid="ignore"):
            assert np.allclose(element * scale * d, y, rtol=2e-7, atol=0)


def test_packed_bytes_of_another_number_are_refused():
    refuses(ValueError, lambda: fpemu.Packed.frombytes(b"123", "mxfp4", (32,)), "bytes")


def test_packed_has_the_axis_that_it_is_given():
    content = fpemu.pack(np.ones((2, 32), np.float32), "mxfp4").tobytes()
    for axis, stored in ((-1, 1), (1, 1), (np.int64(1), 1)):
        assert fpemu.Packed.frombytes(content, "mxfp4", (2, 32), axis).axis == stored
    assert fpemu.Packed.frombytes(bytes(2), "bf16", ()).axis == 0
    for axis in (7, 2, -3, -5):
        refuses(ValueError, lambda: fpemu.Packed.frombytes(content, "mxfp4", (2, 32), axis), f"no axis {axis}")
    refuses(TypeError, lambda: fpemu.Packed.frombytes(content, "mxfp4", (2, 32), 1.0), "integer")


def test_packed_has_whole_sizes():
    content = fpemu.pack(np.ones((2, 32), np.float32), "mxfp4").tobytes()
    for shape in ((2.9, 32.2), (2.0, 32), ("2", 32)):
        refuses(TypeError, lambda: fpemu.Packed.frombytes(content, "mxfp4", shape), "integer")
    packed = fpemu.Packed.frombytes(content, "mxfp4", np.array([2, 32], np.int32))
    assert packed.shape == (2, 32) and all(type(size) is int for size in packed.shape)


BLOCKED = ["mxfp4", "nvfp4", "group(int4,2)", "group(int4,2,scale=bf16)", "group(int4,row)", "group(int4,channel)",
           "group(int4,2x2)", "scaled(e4m3fn)"]


@pytest.mark.parametrize("spec", BLOCKED)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,), (2, 0, 4)])
def test_a_tensor_without_elements_has_no_scales(spec, shape):
    some = fpemu.pack(np.ones(4, np.float32), spec)
    for dtype in (np.float32, np.float64):
        x = np.zeros(shape, dtype)
        for axis in range(len(shape)):
            numbers, codes, tensor = fpemu.scales(x, spec, axis=axis)
            packed = fpemu.pack(x, spec, axis=axis)
            assert packed.nbytes == 0 and tensor == (1.0, 1.0)
            assert_same(numbers, np.zeros(0, dtype))
            assert_same(codes, np.zeros(0, some.scale_codes.dtype))
            if spec in ("mxfp4", "nvfp4") and axis == len(shape) - 1:
                assert_same(packed.swizzled(), codes)


@pytest.mark.parametrize("kind", [Interface, Capsule])
def test_arrays_that_have_a_protocol_alone(rng, kind):
    x = rng.standard_normal((3, 40)).astype(np.float32)
    assert fpemu.pack(kind(x), "mxfp4") == fpemu.pack(x, "mxfp4")
    assert fpemu.pack(kind(x), "mxfp4").dtype == "float32"
    assert fpemu.compare(kind(x), ["bf16"]).title == fpemu.compare(x, ["bf16"]).title
    assert "3 x 40 float32" in fpemu.compare(kind(x), ["bf16"]).title
    codes = rng.integers(0, 256, (5, 6)).astype(np.uint8)
    assert_same(fpemu.swizzle(kind(codes)), fpemu.swizzle(codes))
    assert_same(fpemu.unswizzle(kind(fpemu.swizzle(codes)), 5, 6), codes)
    for a, b in ((x[0], x[1]), (x[0], x.T), (x, x[0])):
        assert_same(fpemu.matmul(kind(a), kind(b), "seq(fp32)"), fpemu.matmul(a, b, "seq(fp32)"))
    content = fpemu.pack(x, "mxfp4").bytes
    assert fpemu.Packed(kind(content), "mxfp4", x.shape) == fpemu.pack(x, "mxfp4")


def test_numbers_are_packed():
    packed = fpemu.pack(0.3, "bf16")
    assert packed.shape == () and packed.dtype == "float64"
    assert packed.tobytes() == np.uint16(0x3E9A).tobytes()
    assert packed.unpack() == fpemu.quantize(0.3, "bf16") and fpemu.pack(2, "bf16").unpack() == 2
    assert fpemu.compare(0.3, ["bf16"]).title.endswith("1 float64 numbers")
    for call in (fpemu.pack, fpemu.scales, fpemu.quantize, lambda x, f: fpemu.compare(x, [f])):
        for bad in ([0.3], "0.3", None, True):
            refuses(TypeError, lambda: call(bad, "mxfp4"))


def test_codes_with_gaps_are_swizzled(rng):
    codes = rng.integers(0, 256, (130, 12)).astype(np.uint8)
    for part in (codes[:, ::2], codes[::-1], codes.T, codes[::2, 1::3], codes[:, 2:3]):
        got = fpemu.swizzle(part)
        assert_same(got, fpemu.swizzle(np.ascontiguousarray(part)))
        assert_same(fpemu.unswizzle(np.repeat(got, 2)[::2], *part.shape), np.ascontiguousarray(part))
    for bad in (codes[0], codes[None]):
        refuses(ValueError, lambda: fpemu.swizzle(bad), "rows x columns")


def test_tensors_of_codes_with_gaps_are_swizzled(torch):
    codes = torch.arange(24, dtype=torch.uint8).reshape(4, 6)[:, ::2]
    assert torch.equal(fpemu.swizzle(codes), fpemu.swizzle(codes.contiguous()))
    numbers, found, _ = fpemu.scales(torch.zeros(0, 3), "mxfp4")
    assert found.dtype == torch.uint8 and numbers.shape == found.shape == (0,)


def test_a_tensor_in_slices_is_the_tensor(rng):
    x = rng.standard_normal((6, 64)).astype(np.float32)
    rounding = fpemu.rounding("sr", seed=5)
    whole = fpemu.Range()
    for row in x:
        whole = fpemu.measure(row, "nvfp4", range=whole)
    assert whole == fpemu.measure(x, "nvfp4") and whole.amax == np.abs(x).max() and whole.count == x.size
    rows = [fpemu.quantize(row, "nvfp4", rounding, offset=i * 64, range=whole) for i, row in enumerate(x)]
    assert_same(np.stack(rows), fpemu.quantize(x, "nvfp4", rounding))


def test_delayed_scaling(rng):
    state = fpemu.Delayed(2)
    spec = "scaled(e4m3fn)"
    first, second, third = (rng.uniform(-1, 1, 50).astype(np.float32) * scale for scale in (1, 10, 100))
    state.update(fpemu.measure(first, spec))
    state.update(fpemu.measure(second, spec))
    assert state.range.amax == np.abs(second).max()
    state.update(fpemu.measure(np.array([np.nan], np.float32), spec))
    assert state.range.amax == np.abs(second).max()
    y = fpemu.quantize(third, spec, range=state.range)
    assert np.abs(y).max() == pytest.approx(np.abs(second).max(), rel=0.01)  # saturated at the old scale
