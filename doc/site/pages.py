# SPDX-License-Identifier: BSD-2-Clause
"""pages.py SOURCE STAGE: writes the pages of the site for Sphinx into STAGE.

The documents are copied, and links to files that are no page become plain text. The manuals become pages by mandoc. The
references of C, CUDA and Python are made of the comments in include/ and the docstrings in python/fpemu.
"""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE, STAGE = Path(sys.argv[1]), Path(sys.argv[2])
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
DOCUMENTS += [str(p.relative_to(SOURCE)) for g in ("doc/*.md", "doc/results/*.md") for p in sorted(SOURCE.glob(g))]
MANUALS = ["fpemu.1", "fptrain.1", "fpemu.3", "fpemu_cuda.3", "fpemu-formats.7"]
NOUNS = ["status", "format", "rounding", "stats", "quantize", "tensor", "arith", "gemm", "typed"]
HEADERS = [*(f"include/fpemu/{noun}.h" for noun in NOUNS), "include/fpemu_cuda.h"]
PACKAGES = ["fpemu", "fpemu.torch", "fpemu.jax"]


def write(name: str, text: str) -> None:
    path = STAGE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def indented(text: str, by: str = "    ") -> str:
    return "".join(by + line if line.strip() else "\n" for line in text.splitlines(keepends=True))


def literal(text: str) -> str:
    """A block of reStructuredText that shows text as it is, within a directive."""
    return "    ::\n\n" + indented(text.rstrip() + "\n", "        ") + "\n"


def document(name: str) -> None:
    """Copies a document with its pictures. What is linked and is no page of the site is named, and not linked."""
    page = SOURCE / name

    def link(match: re.Match[str]) -> str:
        text, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group()
        path, _, heading = target.partition("#")
        file = (page.parent / path).resolve()
        inside = str(file.relative_to(SOURCE.resolve()))
        if file.suffix in (".svg", ".png"):
            (STAGE / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, STAGE / inside)
            return match.group()
        if inside in DOCUMENTS:
            return f"[{text}]({path}{'#' + heading if heading else ''})"
        return f"[{text}]({path}.md)" if inside.startswith("doc/man/") else text

    write(name, re.sub(r"\[([^\]]*)\]\(([^) ]+)\)", link, page.read_text(encoding="utf-8")))


def manual(name: str) -> None:
    """A manual page, as a terminal shows it, cut into its sections."""
    shown = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=110", SOURCE / "doc/man" / name], check=True,
                           capture_output=True, text=True).stdout
    lines = re.sub(".\b", "", shown).splitlines()[1:-1]
    text, body = [f"# {name[:-2]}({name[-1]})\n\n"], []
    for line in [*lines, "END"]:
        if not re.match(r"\S", line):
            body.append(line[5:])
            continue
        if any(body):
            text.append("```text\n" + "\n".join(body).strip("\n") + "\n```\n\n")
        text.append(f"## {line}\n\n" if line != "END" else "")
        body = []
    write(f"doc/man/{name}.md", "".join(text))


def header(name: str) -> str:
    """Every comment of a header with the declarations that follow it."""
    source = (SOURCE / name).read_text(encoding="utf-8")
    source = re.sub(r"#ifdef __cplusplus\n.*?#endif\n|#define FPEMU_\w+_H\n", "", source, flags=re.S)
    _, about, rest = re.split(r"/\* (?:fpemu/)?[a-z_]+\.h - (.*?) \*/\n", source, maxsplit=1, flags=re.S)
    text = [f"{name}\n{'=' * len(name)}\n\n", literal(re.sub(r"\n \* ?", "\n", about)).replace("    ::", "::", 1)]
    piece = r"(?:^/\*(.*?)\*/\n)?((?:^(?!/\*|#include|#ifndef|#endif|$)[^\n]*\n)*)"
    for match in re.finditer(piece, rest, flags=re.S | re.M):
        comment, code = re.sub(r"\n \* ?", "\n", match.group(1) or "").strip(), match.group(2)
        if not comment and not code.strip():
            continue
        calls = re.findall(r"^(?:const )?\w[\w ]*\*? ?\*?fpemu_\w+\([^;{]*\);", code, flags=re.M)
        macros = re.findall(r"^#define (\w+)(?:\(|\s)", code, flags=re.M)
        types = re.findall(r"^} (\w+);|^typedef [^{;]*?(\w+);", code, flags=re.M)
        if calls and len(calls) * 2 >= code.count(";"):
            signatures = "\n                ".join(" ".join(c.split())[:-1] for c in calls)
            text.append(f".. c:function:: {signatures}\n\n")
            text.append(literal(comment) if comment else "")
            continue
        named = [("type", a or b) for a, b in types] + [("macro", m) for m in macros]
        text.append("".join(f".. c:{kind}:: {what}\n\n" for kind, what in named[:1]) or ".. container::\n\n")
        text.append(literal((comment + "\n\n" if comment else "") + code))
    return "".join(text)


def exported(package: str) -> dict[str, tuple[str, Path | None]]:
    """The names in __all__ of a package, each with what it is called where it is defined, and the file; None where no
    source of Python defines it."""
    folder = SOURCE / "python" / package.replace(".", "/")
    public: list[str] = []
    found: dict[str, tuple[str, Path | None]] = {}
    for node in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            public = ast.literal_eval(node.value)
        elif isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            file = folder / (node.module.replace(".", "/") + ".py")
            found |= {a.asname or a.name: (a.name, file if file.exists() else None) for a in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node.name, folder / "__init__.py"
    return {name: found.get(name, (name, None)) for name in public}


def definition(node: ast.FunctionDef | ast.ClassDef, kind: str) -> str:
    arguments = f"({ast.unparse(node.args)})" if isinstance(node, ast.FunctionDef) else ""
    return f".. py:{kind}:: {node.name}{arguments}\n\n" + literal(ast.get_docstring(node) or node.name)


def package(name: str) -> str:
    folder = SOURCE / "python" / name.replace(".", "/")
    about = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    text = [f"{name}\n{'=' * len(name)}\n\n.. py:module:: {name}\n\n", literal(about).replace("    ::", "::", 1)]
    for public, (own, file) in exported(name).items():
        nodes = ast.parse(file.read_text(encoding="utf-8")).body if file else []
        made = [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == own]
        if not made:  # of the binding in C, or made of others
            text.append(f".. py:data:: {public}\n\n" + literal(f"help({name}.{public}) tells of it"))
        for node in made:
            node.name = public
            if isinstance(node, ast.FunctionDef):
                text.append(definition(node, "function"))
            else:
                text.append(definition(node, "class"))
                methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")]
                text += [indented(definition(m, "method")) for m in methods if ast.get_docstring(m)]
    return "".join(text)


for name in DOCUMENTS:
    document(name)
for name in MANUALS:
    manual(name)
for name in HEADERS:
    write(f"reference/{Path(name).stem}.rst", header(name))
for name in PACKAGES:
    write(f"reference/{name}.rst", package(name))


def contents(title: str, pages: list[str]) -> str:
    return f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n\n"


write("index.md", "# libfpemu\n\n" + contents("Documents", [n.removesuffix(".md") for n in DOCUMENTS])
      + contents("Manuals", [f"doc/man/{n}" for n in MANUALS])
      + contents("Reference", [f"reference/{Path(n).stem}" for n in HEADERS] + [f"reference/{n}" for n in PACKAGES]))
write("_static/wrap.css", ".highlight pre { white-space: pre-wrap; }\n")
shutil.copy(Path(__file__).with_name("conf.py"), STAGE / "conf.py")
