# SPDX-License-Identifier: BSD-2-Clause
"""What doc/python.md and README.md print is printed; the examples in examples/python run."""

import ast
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from same import refuses

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
# <!-- runs: packages -->, a block of Python, and indented what it prints; between them there may be a line of text.
BLOCK = re.compile(r"^<!-- runs(?:: (?P<needs>[a-z_, ]+))? -->\n```python\n(?P<code>.*?)^```\n"
                   r"(?:\n(?:prints\n\n)?(?P<printed>(?:    [^\n]*\n|\n(?=    ))+))?", re.MULTILINE | re.DOTALL)


def blocks(page):
    """(line, packages, code, what it prints) of the blocks of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        needs = [name.strip() for name in (found["needs"] or "").split(",") if name.strip()]
        printed = re.sub(r"^ {4}", "", found["printed"] or "", flags=re.MULTILINE)
        yield text.count("\n", 0, found.start("code")) + 1, needs, found["code"], printed


def run(code, line, page, names):
    """What a block prints, run as if it stood in a file with the page's lines."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * (line - 1) + code, str(ROOT / page), "exec"), names)
    return out.getvalue()


@pytest.mark.parametrize("page, least", [("README.md", 1), ("doc/python.md", 15)])
def test_pages_print_what_they_say(page, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = list(blocks(page))
    assert len(found) >= least
    assert (ROOT / page).read_text(encoding="utf-8").count("<!-- runs") == len(found)
    names, compared = {"__name__": "page"}, 0
    for line, needs, code, printed in found:
        if any(importlib.util.find_spec(name) is None for name in needs):
            continue
        assert run(code, line, page, names) == printed, f"{page}, line {line}"
        compared += bool(printed)
    assert compared >= least // 2


def example(name, *arguments, cwd):
    done = subprocess.run([sys.executable, "-W", "ignore", str(EXAMPLES / name), *map(str, arguments)], cwd=cwd,
                          capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_examples_are_listed():
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    files = [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")]
    assert all(f"`{file.name}`" in listed for file in files) and len(files) == 4


def test_cast(tmp_path):
    """The defects of each conversion are those that it has by construction."""
    lines = example("cast.py", cwd=tmp_path).splitlines()
    kinds, current = {}, ""
    for line in lines:
        if line.startswith("  "):
            kinds[current].append(line.split(":")[0].strip())
        else:
            current = line.split(":")[0] if line.split(":")[0] not in kinds else f"{line.split(':')[0]} again"
            kinds[current] = []
    assert kinds["first"] == ["tie", "subnormal"]
    assert kinds["second"] == ["subnormal", "normal"]
    assert kinds["third"] == []
    if importlib.util.find_spec("torch") is not None:  # torch follows one of the two policies
        casts = [found for name, found in kinds.items() if name.startswith("torch")]
        assert len(casts) == 2 and [] in casts and casts[0] != casts[1]


def test_layers(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    out = example("layers.py", "--folder", tmp_path, cwd=tmp_path)
    sizes = {line.split()[0]: (int(line.split()[1]), float(line.split()[2])) for line in out.splitlines()
             if line.split() and line.split()[0].endswith(".safetensors")}
    assert set(sizes) == {f"{name}.safetensors" for name in ("model", "mxfp4", "mxfp8", "rounded")}
    model, narrow, wide, chosen = (sizes[f"{name}.safetensors"] for name in ("model", "mxfp4", "mxfp8", "rounded"))
    assert narrow[0] < chosen[0] < wide[0] < model[0] and model[1] < chosen[1] < narrow[1]
    files = {name: safetensors.load_file(tmp_path / f"{name}.safetensors") for name in ("model", "rounded")}
    for name, x in files["model"].items():  # the decibels that were asked for, by float64 arithmetic
        x, y = x.astype("float64"), files["rounded"][name].astype("float64")
        assert (x**2).sum() >= 100 * ((x - y)**2).sum() > 0, name
    assert model[0] == sum(x.nbytes for x in files["model"].values())
    assert ElementTree.parse(tmp_path / "layers.svg").getroot().tag.endswith("svg")


def test_gpt(tmp_path):
    """A few steps: losses fall from ln(characters), FP32 loses nothing, FP8 gradients, the 4-bit formats all."""
    pytest.importorskip("torch", reason="torch is not installed")
    recipes = "fp32", "fp8", "mxfp8", "mxfp4", "nvfp4"
    out = example("gpt.py", "--steps", 12, "--recipes", ",".join(recipes), cwd=tmp_path).splitlines()
    rows = {line.split()[0]: [float(word) for word in line.split()[1:]] for line in out
            if line.split() and line.split()[0] in recipes}
    assert set(rows) == set(recipes)
    for recipe, (loss, test, *shares) in rows.items():
        assert 2 < test < 4.6 and 2 < loss < 4.6, recipe  # at first ln 95 = 4.55 and more
        assert all(0 <= share < 100 for share in shares)
        overflow, zero = shares[::2], shares[1::2]
        if recipe == "fp32":
            assert shares == [0] * 6
        if recipe == "fp8":
            assert zero[2] > 10 and overflow == [0, 0, 0]
        if recipe in ("mxfp4", "nvfp4"):
            assert all(share > 1 for share in zero)
        if recipe == "mxfp4":
            assert all(share > 0.1 for share in overflow)
    refuses(AssertionError, lambda: example("gpt.py", "--steps", 0, cwd=tmp_path), "error: --steps is 1 or more")
    root = ElementTree.parse(tmp_path / "gpt.svg").getroot()
    assert sum(child.tag.endswith("polyline") for child in root) == 2 * len(recipes)


def test_fp4():
    """The notebook runs, draws what it shows, and what its text says is so."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    names, drawn, threads = {"__name__": "notebook"}, 0, torch.get_num_threads()
    for cell in json.loads((EXAMPLES / "fp4.ipynb").read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            continue
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else ast.Expr(ast.Constant(None))
        exec(compile(ast.Module(body, []), "fp4.ipynb", "exec"), names)
        value = eval(compile(ast.fix_missing_locations(ast.Expression(last.value)), "fp4.ipynb", "eval"), names)
        kept = ["".join(out["data"]["image/svg+xml"]) for out in cell["outputs"] if "data" in out]
        assert len(kept) == hasattr(value, "_repr_svg_")
        for svg in kept and (*kept, value._repr_svg_()):
            assert ElementTree.fromstring(svg).tag.endswith("svg")
            drawn += 1
    torch.set_num_threads(threads)
    assert drawn == 6 and names["before"].share < 0.9 and names["after"].share == 1
    fp32, mxfp8, nvfp4, mxfp4 = (names["runs"][name][2] for name in ("fp32", "mxfp8", "nvfp4", "mxfp4"))
    assert names["least"] < fp32 < mxfp8 < mxfp4 and max(mxfp8, nvfp4) - fp32 < (mxfp4 - fp32) / 2
    assert names["mended"][2] - mxfp8 < (mxfp4 - mxfp8) / 2
    lowest = {role: min(found)[0] for role, found in names["noise"].items()}
    assert min(lowest, key=lowest.get) == "gradients"
    assert names["choice"].bits <= 5 and {"head", "blocks.0.attention.qkv"} <= set(names["wide"])
