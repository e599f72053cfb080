# SPDX-License-Identifier: BSD-2-Clause
"""What is refused for tensors of a device, before anything is handed over by address. Where there is no device, tensors
of the processor stand for its own, and a library that no call may reach."""

from __future__ import annotations

import contextlib
import ctypes
import pathlib
from types import SimpleNamespace

import pytest
from same import refuses

torch = pytest.importorskip("torch")

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402
from fpemu.torch import _device  # noqa: E402
from torch import nn  # noqa: E402

STATS_BYTES = 51368
E4M3 = fpemu.format("e4m3fn")


@pytest.fixture
def device(monkeypatch):
    host = ctypes.CDLL(str(pathlib.Path(fpemu.__file__).parent / "libfpemu.so"))
    library = SimpleNamespace(fpemu_cuda_stats_size=lambda: STATS_BYTES, fpemu_cuda_scratch_size=lambda *args: 0)
    monkeypatch.setattr(_device, "_libraries", lambda: (host, library))
    monkeypatch.setattr(_device, "_call", lambda verb, *arguments, **options: pytest.fail(f"{verb} was called"))
    monkeypatch.setattr(_device, "_stream", lambda x: None)
    monkeypatch.setattr(torch.cuda, "device", lambda index: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    return _device


X = torch.ones(4, 8)


def quantized(device, x=X, y=X, rounding="rne", stats=None):
    device.quantize(x, y, E4M3, fpemu.rounding(rounding), -1, stats, None)


def test_counters_of_another_size_or_place(device):
    for stats in (ft.new_stats(), torch.zeros(STATS_BYTES // 8, dtype=torch.int64),
                  torch.zeros(STATS_BYTES // 8 + 1),
                  torch.zeros(STATS_BYTES // 8 + 1, dtype=torch.int64, device="meta"),
                  torch.zeros(2 * STATS_BYTES // 8 + 2, dtype=torch.int64)[::2]):
        for call in (lambda: quantized(device, stats=stats),
                     lambda: device.encode(X, X.byte(), E4M3, fpemu.rounding("rne"), stats)):
            refuses(TypeError, call, r"fpemu.torch.new_stats\(device='cpu'\), int64, 6422 words")
    for call in (device.read_stats, lambda stats: device.clear_stats(stats, 0)):
        refuses(TypeError, lambda: call(ft.new_stats()), "6422 words, not one of torch.int64, shape \\(131,\\)")


def test_what_is_no_counters_is_not_cleared():
    for other in (torch.ones(200), torch.ones(5, dtype=torch.int64)):
        refuses(TypeError, lambda: ft.clear_stats(other), "new_stats")
        assert other.all()


def test_results_and_codes_of_another_size(device):
    refuses(ValueError, lambda: quantized(device, y=torch.ones(4, 7)), "do not go together")
    refuses(ValueError, lambda: quantized(device, y=X.to("meta")), "on cpu and one of .* on meta do not go together")
    refuses(TypeError, lambda: quantized(device, y=X.half()), "the result torch.float16")
    with pytest.raises(ValueError, match="do not go together"):
        device.encode(X, torch.zeros(4, 7, dtype=torch.uint8), E4M3, fpemu.rounding("rne"), None)
    for codes, spec in ((X.byte(), "bf16"), (X.char(), "e4m3fn"), (X.to(torch.uint16), "e4m3fn")):
        refuses(TypeError, lambda: device.decode(codes, X, fpemu.format(spec)), f"codes of {spec} are uint")


def test_a_graph_does_not_repeat_random_bits(device, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    for call in (lambda: quantized(device, rounding="sr"),
                 lambda: device.encode(X, X.byte(), E4M3, fpemu.rounding("sr"), None)):
        refuses(fpemu.Error, call, "a CUDA graph would repeat the random bits")
    refuses(pytest.fail.Exception, lambda: quantized(device), "was called")


def test_observe_takes_models_of_the_processor():
    model = ft.convert(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)), "fp8")
    model[1].to("meta")
    with pytest.raises(fpemu.Error, match="observe counts on the processor alone, and 1.weight lies on meta"):
        ft.observe(model).__enter__()
    assert model[0]._fpemu.site.counters is None


def test_a_scaler_that_watches_a_model_sees_the_processor_alone():
    model = ft.convert(nn.Linear(2, 2), "fp8")
    elsewhere, site = SimpleNamespace(is_cpu=False, is_meta=False), model._fpemu.site
    assert site.stats_for(elsewhere) is None
    scaler = ft.loss_scaler("backoff", model)
    refuses(fpemu.Error, lambda: site.stats_for(elsewhere), "sees overflow on the processor alone")
    with pytest.warns(UserWarning, match="lose sight of it"):
        ft.convert(model, "bf16")
    scaler.close()
    assert site.stats_for(elsewhere) is None
