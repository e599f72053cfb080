# SPDX-License-Identifier: BSD-2-Clause
"""Formats, roundings, stats; comparing and searching; what the help says."""

import json
import math
import os
import platform
import pydoc
import stat
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import fpemu
import numpy as np
import pytest
from same import assert_same, refuses


@pytest.mark.skipif(platform.machine() != "x86_64" or " avx2 " not in Path("/proc/cpuinfo").read_text()
                    or "FPEMU_OBJECTS" in os.environ, reason="no AVX2, or the wheel is not setup.py's own")
def test_library_has_fast_loops():
    assert fpemu.library()["variants"][-2:] == ["x86-64-v3", "portable"]


def test_the_library_of_cuda_finds_that_of_the_wheel():
    folder = Path(fpemu.__file__).parent
    if not (folder / "libfpemu_cuda.so").exists():
        pytest.skip("the wheel holds no libfpemu_cuda.so")
    code = "import fpemu; print(fpemu._native.device_open({!r}), open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", code.format(str(folder / "libfpemu_cuda.so"))], capture_output=True,
                          text=True, check=True, env=os.environ)
    size, *lines = done.stdout.split("\n")
    assert int(size.split()[0]) == 51368
    assert {line.split()[-1] for line in lines if "libfpemu.so" in line} == {str((folder / "libfpemu.so").resolve())}


def test_formats():
    f = fpemu.format("e4m3fn")
    assert (f.bits, f.max, f.lowest, f.smallest, f.smallest_normal) == (8, 448, -448, 2 ** -9, 2 ** -6)
    assert (f.exponent_bits, f.mantissa_bits, f.bias, f.precision) == (4, 3, 7, 4)
    assert f.spec == repr(f) == "e4m3fn" and hash(f) == hash(fpemu.format(f))
    assert f.epsilon == 0.125 and f.value_count == 253 and f.nan_count == 2 and not f.is_blocked
    values = f.values()
    assert len(values) == 253 and (np.diff(values) > 0).all()
    assert np.array_equal(fpemu.decode(f.codes(), f, "float64"), values)
    assert f.represents(448) and not f.represents(449) and f.next_up(1) == 1.125 and math.isnan(f.next_up(448))
    n = fpemu.format("nvfp4")
    assert n.is_blocked and n.block_shape == (16,) and n.scaling_rule == "nvfp4" and n.element == fpemu.format("e2m1")
    assert n.scale_format.max == 448 and fpemu.format("mxfp4").scale_format == fpemu.format("e8m0")
    assert fpemu.format("bfp(8)").scale_format is None
    assert n.bits_per_element == 4.5 and fpemu.format("mxfp4").bits_per_element == 4.25
    t = fpemu.format([-1, 0, 0.5, 3])
    assert t.kind_name == "codebook" and t.values().tolist() == [-1, 0, 0.5, 3]
    assert fpemu.quantize(np.array([2.0, -9.0], np.float32), t).tolist() == [3.0, -1.0]
    refuses(ValueError, lambda: t.spec)
    for bad in ([1], [2, 1], [0.1, 0.2], [[1, 2]]):
        refuses(ValueError, lambda: fpemu.format(bad))
    with pytest.raises(AttributeError):
        f.bits = 9
    assert set(fpemu.format_names()) >= {"fp16", "e4m3fn", "nvfp4"} and len(fpemu.format_names()) >= 35
    for name in fpemu.format_names():
        assert fpemu.format(name).spec


@pytest.mark.parametrize("text,position", [("e4m3xx", 4), ("float(e=4,m=99)", None), ("", 0), ("nvfp4:", None)])
def test_spec_errors_say_where(text, position):
    with pytest.raises(fpemu.SpecError) as caught:
        fpemu.format(text)
    error = caught.value
    assert isinstance(error, ValueError) and error.text == text and error.reason in str(error) and error.status == 7
    assert 0 <= error.position <= len(text) and (position is None or error.position == position)


@pytest.mark.parametrize("end,place", [("\0", 0), ("\0x", 0), ("\udc80", 0), ("x\0", 1)])
def test_no_text_is_read_in_part(end, place):
    x = np.ones((2, 2), np.float32)
    for start, call in (("bf16", fpemu.format), ("bf16", lambda text: fpemu.quantize(x, text)),
                        ("rne", fpemu.rounding), ("rne", lambda text: fpemu.quantize(x, "bf16", text)),
                        ("rne", fpemu.Rounding), ("fp32", fpemu.gemm), ("fp32", lambda text: fpemu.matmul(x, x, text)),
                        ("exp", lambda text: fpemu.apply(text, x, "bf16"))):
        call(start)
        with pytest.raises(fpemu.SpecError) as caught:
            call(start + end)
        assert caught.value.text == start + end and caught.value.position == len(start) + place
    with pytest.raises(fpemu.SpecError) as caught:
        fpemu.format("\u00e9\u20ac\U0001f600\0")
    assert caught.value.position == len("\u00e9\u20ac\U0001f600".encode())


def test_no_model_is_read_in_part_by_jax(jax):
    import fpemu.jax
    x = jax.numpy.ones((2, 2))
    fpemu.jax.matmul(x, x, "fp32")
    refuses(fpemu.SpecError, lambda: fpemu.jax.matmul(x, x, "fp32\0junk").block_until_ready(), "^model ")


@pytest.mark.parametrize("make", [
    lambda **words: fpemu.rounding("sr", **words), lambda **words: fpemu.rounding("sr").replace(**words),
    lambda **words: fpemu.Rounding("sr", **words), lambda **words: fpemu.gemm("seq(bf16/sr)", **words),
    lambda **words: fpemu.Gemm("seq(bf16/sr)", **words)])
def test_seeds_are_integers_of_64_bits(make):
    for name in "seed", "stream":
        for word in (0, 5, (1 << 64) - 1, np.uint64((1 << 64) - 1), np.int8(7)):
            made = make(**{name: word})
            assert getattr(made, name) == int(word) and type(getattr(made, name)) is int
        for word in (-1, 1 << 64, (1 << 64) + 5, np.int64(-1)):
            refuses(ValueError, lambda: make(**{name: word}), f"{name} is an integer from 0")
        for word in (1.5, 1.0, np.float32(1), "1", 1j):
            refuses(TypeError, lambda: make(**{name: word}))


def test_words_of_other_calls():
    x = np.ones((2, 2), np.float32)
    for words in ((-1, 0, 0), (0, 1 << 64, 0), (0, 0, -1)):
        refuses(ValueError, lambda: fpemu.random_word(*words))
        refuses(ValueError, lambda: fpemu._native.random_word(0, *words))
    for words in ((1.5, 0, 0), (0, 1.5, 0), (0, 0, 1.5)):
        refuses(TypeError, lambda: fpemu.random_word(*words))
    for seed in (-1, 1 << 64):
        refuses(ValueError, lambda: fpemu.matmul(x, x, "seq(bf16/sr)", seed=seed), "seed")
    model = fpemu.gemm("seq(bf16/sr)", seed=1)
    assert fpemu.gemm(model) is model
    for words in ({"seed": 7}, {"stream": 7}):
        refuses(TypeError, lambda: fpemu.gemm(model, **words), "already")


def test_roundings(vectors):
    r = fpemu.rounding("sr", seed=1, stream=7, bits=16)
    assert (r.mode, r.seed, r.stream, r.bits, r.is_stochastic) == ("sr", 1, 7, 16, True)
    assert r.replace(seed=2) == fpemu.rounding("sr", seed=2, stream=7, bits=16) != r
    assert fpemu.rounding("toward-zero").mode == "rtz"
    assert eval(repr(r)) == r
    for bad in ({"seed": -1}, {"seed": 1 << 64}, {"bits": 0}, {"bits": 33}, {"variant": "d"}, {"overflow": "x"}):
        refuses(ValueError, lambda: fpemu.rounding("sr", **bad))
    refuses(fpemu.SpecError, lambda: fpemu.rounding("sqrt"))
    for line in open(os.path.join(vectors, "hash_words.txt")):
        if not line.startswith("#"):
            seed, stream, index, word = (int(w, 16) for w in line.split())
            assert fpemu.random_word(seed, stream, index) == word
            assert fpemu.rounding("sr", seed=seed, stream=stream).random_bits(index) == word
    half = np.full(100000, 1.25, np.float32)
    up = (fpemu.quantize(half, "float(e=4,m=1)", r) == 1.5).mean()
    assert abs(up - 0.5) < 0.01


def test_stats_are_exact(rng):
    x = rng.standard_normal(5000).astype(np.float32) * 300
    s = fpemu.Stats(sums=True, histogram=(-5, 9))
    y = fpemu.quantize(x, "e4m3fn:saturate", stats=s)
    error = np.abs(x.astype(np.float64) - y)
    assert s.count == 5000 and s.overflow == (np.abs(x) > 464).sum() and s.clipped == (np.abs(x) > 448).sum()
    assert s.max_error == error.max() and s.inexact == (x != y).sum() and s.max_abs == np.abs(x).max()
    assert s.sum_error == math.fsum(error) and s.sum_square == pytest.approx(math.fsum(x.astype(np.float64) ** 2))
    assert s.sqnr == pytest.approx(10 * math.log10(s.sum_square / s.sum_error2))
    exponents = np.floor(np.log2(np.abs(x.astype(np.float64))))
    assert s.histogram.tolist() == [(exponents < -5).sum()] + [(exponents == e).sum() for e in range(-5, 10)] + \
        [(exponents > 9).sum()]
    parts = [fpemu.Stats(sums=True, histogram=(-5, 9)) for _ in range(2)]
    fpemu.quantize(x[:1234], "e4m3fn:saturate", stats=parts[0])
    fpemu.quantize(x[1234:], "e4m3fn:saturate", stats=parts[1])
    assert (parts[0] + parts[1]).sum_error == s.sum_error and (parts[0] + parts[1]).count == s.count
    assert parts[0].count == 1234
    assert json.loads(json.dumps(s.to_dict()))["histogram"]["range"] == [-5, 9]
    blocks = fpemu.Stats(scale_histogram=(-20, 20))
    fpemu.quantize(x, "mxfp4", stats=blocks)
    assert blocks.blocks == 157 == blocks.scale_histogram.sum()
    with pytest.raises(fpemu.Error):
        s += fpemu.Stats()
    refuses(ValueError, lambda: blocks.sqnr, "sums")
    refuses(ValueError, lambda: fpemu.Stats(histogram=(5, 1)))
    s += s
    assert s.count == 10000
    s.clear()
    assert s == s.empty()


@pytest.mark.parametrize("offset", [0, 1000])
@pytest.mark.parametrize("spec", ["e4m3fn:saturate", "mxfp4"])
def test_sums_follow_the_index_whatever_the_strides(rng, spec, offset):
    room = rng.standard_normal((10, 6, 10, 8, 14)).astype(np.float32)
    x = room[::2, ::2, ::2, ::2, ::2]  # five dimensions of which no two are as one
    s, t = fpemu.Stats(sums=True), fpemu.Stats(sums=True)
    y = fpemu.quantize(x, spec, offset=offset, stats=s)
    assert_same(y, fpemu.quantize(np.ascontiguousarray(x), spec, offset=offset, stats=t))
    assert s == t
    u = fpemu.Stats(sums=True)
    assert fpemu.quantize(x, spec, offset=offset, out=x, stats=u) is x and u == t
    assert_same(np.ascontiguousarray(x), np.ascontiguousarray(y))


def test_fuzz_finds_planted_defects(ml_dtypes):
    def good(x):
        with np.errstate(all="ignore"):
            return x.astype(ml_dtypes.float8_e4m3fn)
    assert not fpemu.fuzz(good, "e4m3fn") and not fpemu.fuzz(good, "e4m3fn", dtype="float16")

    def away(x):  # ties away from zero
        return fpemu.quantize(x, "e4m3fn", "rna")
    report = fpemu.fuzz(away, "e4m3fn")
    assert "tie" in {d.kind for d in report} <= {"tie", "overflow-threshold"} and all(d.count for d in report)
    tie = next(d for d in report if d.kind == "tie")
    assert tie.expected != tie.got and fpemu.quantize(tie.input, "e4m3fn") == tie.expected

    def saturating(x):
        return fpemu.quantize(x, "e4m3fn:saturate")
    assert {d.kind for d in fpemu.fuzz(saturating, "e4m3fn")} == {"overflow-threshold", "above-max", "infinity"}

    def flushing(x):
        y = fpemu.quantize(x, "e5m2")
        return np.where(np.abs(y) < 2.0 ** -14, np.copysign(np.float32(0), x), y)
    assert "subnormal" in {d.kind for d in fpemu.fuzz(flushing, "e5m2")} <= {"subnormal", "tie"}

    def positive(x):
        y = fpemu.quantize(x, "e5m2")
        return np.where(y == 0, np.float32(0), y)
    assert "signed-zero" in {d.kind for d in fpemu.fuzz(positive, "e5m2")}

    def stray(x):
        return fpemu.encode(x, "e2m1") | 0x10
    assert {d.kind for d in fpemu.fuzz(stray, "e2m1")} == {"stray-bits"}

    def zero_nan(x):
        return np.nan_to_num(fpemu.quantize(x, "bf16"), nan=0, posinf=np.inf, neginf=-np.inf)
    report = fpemu.fuzz(zero_nan, "bf16")
    assert [d.kind for d in report] == ["nan"] and str(report) and json.dumps(report.to_dict())
    refuses(ValueError, lambda: fpemu.fuzz(lambda x: x[:1], "bf16"), "shape")
    refuses(ValueError, lambda: fpemu.fuzz(good, "e4m3fn", "sr", op="add"), "one of the two")
    refuses(ValueError, lambda: fpemu.fuzz(good, "e4m3fn", op="fma", operands=["e5m2"]), "3 operands")
    refuses(ValueError, lambda: fpemu.fuzz(good, "e4m3fn", op="power"), "none of: convert add")


def test_fuzz_of_operations():
    def half(operation):
        def work(*operands):
            with np.errstate(all="ignore"):
                return operation(*(x.astype(np.float16) for x in operands))
        return work
    for op, operation in (("add", np.add), ("mul", np.multiply), ("div", np.divide), ("sqrt", np.sqrt)):
        assert not fpemu.fuzz(half(operation), "fp16", op=op, inputs=3000), op
    report = fpemu.fuzz(half(lambda a, b, c: a * b + c), "fp16", op="fma", operands=["bf16", "e4m3fn", "fp16"],
                        inputs=3000)
    assert {"tie", "normal"} <= {d.kind for d in report} and all(len(d.input) == 3 for d in report)
    report = fpemu.fuzz(lambda a, b: np.where(b == 0, 448, fpemu.div(a, b, "e5m2")), "e5m2", op="div")
    assert {"division-by-zero", "invalid"} <= {d.kind for d in report} and report.exhaustive and report.tried == 65536


def test_fuzz_of_float64():
    """NumPy converts binary64 to binary16 and binary32 with one rounding; by way of binary32 there are two."""
    def direct(kind):
        def cast(x):
            with np.errstate(all="ignore"):
                return x.astype(kind)
        return cast

    def twice(x):
        with np.errstate(all="ignore"):
            return x.astype(np.float32).astype(np.float16)
    assert not fpemu.fuzz(direct(np.float16), "fp16", dtype="float64", inputs=1000)
    assert not fpemu.fuzz(direct(np.float32), "fp32", dtype="float64", inputs=1000)
    report = fpemu.fuzz(twice, "fp16", dtype="float64", inputs=1000)
    assert report and all(d.expected == np.float16(d.input) != d.got == np.float16(np.float32(d.input)) for d in report)

    def without_one(x):
        y = fpemu.quantize(x, "posit(32,2)")
        return np.where(y == 1, 1 + 2.0 ** -27, y)
    report = fpemu.fuzz(without_one, "posit(32,2)", dtype="float64", inputs=1000)
    assert report and all(d.expected == 1 and d.got == 1 + 2.0 ** -27 for d in report)


def test_compare(rng, tmp_path):
    x = rng.standard_normal((32, 64)).astype(np.float32)
    table = fpemu.compare(x, ["bf16", "e4m3fn", "mxfp4"])
    assert [row.bits for row in table] == [16, 8, 4.25] and table[0].sqnr > table[1].sqnr > table[2].sqnr
    assert table.cheapest(25).format == fpemu.format("e4m3fn") and table.cheapest(999) is None
    assert str(table).count("\n") == 3 and "e4m3fn" in str(table)
    from xml.dom.minidom import parseString
    file = tmp_path / "errors.svg"
    assert parseString(table.plot(file)) and file.read_text() == table.plot() and len(list(tmp_path.iterdir())) == 1
    for specs in ("mxfp4", fpemu.format("mxfp4")):
        assert [row.bits for row in fpemu.compare(x, specs)] == [4.25]
    for name in "errors.png", "errors.PDF", "errors.svg.jpg":
        refuses(ValueError, lambda: table.plot(tmp_path / name), "plots are SVG")
    assert len(list(tmp_path.iterdir())) == 1


def test_compare_warns_of_losses():
    x = np.array([-1, 2, -3, 0, 0.25, -0.25, 0.125, -0.0, np.nan], np.float32)
    for spec in "uint8", "scaled(uint8)", "ue4m3":
        with pytest.warns(UserWarning, match="3 of 9 elements are below zero, where the format has no values"):
            fpemu.compare(x, ["bf16", spec])
    most = np.array([0.25] * 100 + [0] * 100 + [1] * 11, np.float64)
    with pytest.warns(UserWarning, match="int8: 100 of 111 elements other than zero became zero") as told:
        fpemu.compare(most, ["int8", "scaled(int8)"])
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fpemu.compare(x, ["int8", "uint(8,1,128)", "mxfp4", "q4_1"])
        fpemu.compare(np.append(most, [1, np.nan]), "int8")
        fpemu.compare(np.abs(x), "uint8")


@pytest.mark.parametrize("kind", [np.asarray, lambda x: SimpleNamespace(__array_interface__=x.__array_interface__)])
def test_compare_leaves_out_what_overflows(kind):
    array = np.array([448, 464, 465, -1000], np.float32)  # e4m3fn: a tie to the even 448, and two past the end
    x = kind(array)
    with pytest.warns(UserWarning, match="e4m3fn: 2 of 4 elements became NaN or infinite by overflow") as told:
        table = fpemu.compare(x, ["e4m3fn", "e5m2", "e4m3fn:saturate"])
    assert len(told) == 1 and [row.lost for row in table] == [2, 0, 0] and table.to_dict()[0]["lost"] == 2
    assert table[0].sqnr > table[1].sqnr and table.cheapest(20).format == fpemu.format("e5m2")
    with pytest.warns(UserWarning, match="1 of 4"):
        assert fpemu.compare(x, "e4m3fn", "rtn").cheapest(0) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fpemu.compare(x, "e4m3fn", fpemu.rounding("rne", overflow="saturate")).cheapest(0)


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def test_what_is_overwritten(tmp_path):
    """WHAT IS OVERWRITTEN in fpemu(1)."""
    table = fpemu.compare(np.ones(4, np.float32), ["bf16"])
    text, file, link = table.plot(), tmp_path / "a.svg", tmp_path / "link.svg"
    (tmp_path / "a.svg.new").write_text("of somebody else")
    link.symlink_to("a.svg")
    mask = os.umask(0o027)
    try:
        table.plot(link)  # which leads to nothing yet
    finally:
        os.umask(mask)
    assert link.is_symlink() and file.read_text() == text and mode_of(file) == 0o640
    file.write_text("old")
    file.chmod(0o604)
    if os.getuid() == 0:
        os.chown(file, 12, 34)
    table.plot(str(link))
    assert link.is_symlink() and file.read_text() == text and mode_of(file) == 0o604
    assert os.getuid() != 0 or (file.stat().st_uid, file.stat().st_gid) == (12, 34)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "a.svg.new", "link.svg"]
    assert (tmp_path / "a.svg.new").read_text() == "of somebody else"


def test_pipes_and_devices_are_written_directly(tmp_path):
    table = fpemu.compare(np.ones(4, np.float32), ["bf16"])
    pipe, seen = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: seen.append(pipe.read_text()), daemon=True)
    reader.start()
    table.plot(pipe)
    reader.join(20)
    assert seen == [table.plot()] and stat.S_ISFIFO(os.lstat(pipe).st_mode)
    with open(tmp_path / "held", "w+b") as held:  # a name of a descriptor goes on where that is
        held.write(b"before ")
        held.flush()
        (tmp_path / "link").symlink_to(f"/dev/fd/{held.fileno()}")
        table.plot(tmp_path / "link")
    assert (tmp_path / "held").read_text() == "before " + table.plot() and (tmp_path / "link").is_symlink()


def test_errors_of_files_name_the_path(tmp_path):
    """Links to /dev/full in place of it: if one were replaced, no device would be lost."""
    table = fpemu.compare(np.ones(4, np.float32), ["bf16"])
    full, folder, kept = tmp_path / "full", tmp_path / "folder", tmp_path / "kept.svg"
    full.symlink_to("/dev/full")
    folder.mkdir()
    kept.write_text("old")
    for path, kind in ((full, OSError), (folder, IsADirectoryError), (tmp_path / "none" / "a.svg", FileNotFoundError),
                       (f"{tmp_path}/none/", FileNotFoundError), (kept / "a.svg", NotADirectoryError)):
        with pytest.raises(kind) as caught:
            table.plot(path)
        assert caught.value.filename == str(path)
    assert full.is_symlink() and stat.S_ISCHR(os.stat("/dev/full").st_mode)
    code = ("import resource, signal, fpemu, numpy as np; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
            f"fpemu.compare(np.ones(4, np.float32), ['bf16']).plot({str(kept)!r})")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 1 and done.stderr.endswith(f"File too large: {str(kept)!r}\n")
    assert kept.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "full", "kept.svg"]


def test_histograms_are_told_by_two_exponents():
    for name in "histogram", "scale_histogram":
        for ends in (5, (1,), (1, 2, 3), (0.5, 2), "ab"):
            refuses(TypeError, lambda: fpemu.Stats(**{name: ends}), f"^{name} is two exponents")
    assert fpemu.Stats(histogram=(np.int8(-3), 2)).histogram_range == (-3, 2)


def test_help_reads_like_a_page():
    text = pydoc.plain(pydoc.render_doc(fpemu))
    assert "what would this computation do" in text
    for name in fpemu.__all__:
        assert getattr(fpemu, name).__doc__, name
        thing = getattr(fpemu, name)
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, (name, member)
    import inspect
    assert list(inspect.signature(fpemu.quantize).parameters) == ["x", "format", "rounding", "axis", "offset", "out",
                                                                  "stats", "range", "scale", "zero", "zero_order",
                                                                  "reciprocal", "tensor_scale", "words", "layout"]


def test_import_brings_nothing_else():
    code = "import fpemu, sys; print([m for m in ('torch', 'jax', 'ml_dtypes', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "[]"


def test_types():
    mypy = pytest.importorskip("mypy.api", reason="mypy is not installed")
    out, err, status = mypy.run(["--strict", "-m", "fpemu", "--cache-dir", os.devnull])
    assert status == 0, out + err


def test_docstring_example():
    import doctest
    assert doctest.testmod(fpemu).failed == 0
