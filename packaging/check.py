#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads the recipes for distributions and compares them with the project: every version is that of configure.ac, every
option is one of `configure --help`, every node of symbol versions stands in Debian's list, every installed file belongs
to a Debian package, every kind of fuzz target has inputs, every dictionary a kind, and the files for OSS-Fuzz have the
licence that it asks for.
usage: check.py TOP-OF-SOURCE CONFIGURE-HELP LIST-OF-INSTALLED-FILES"""

import ast
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

top, help_text, installed = (pathlib.Path(word) for word in sys.argv[1:])
recipes = top / "packaging"
problems: list[str] = []


def check(right: bool, message: str) -> None:
    if not right:
        problems.append(message)


def read(name: str) -> str:
    return (recipes / name).read_text(encoding="utf-8")


version = re.search(r"AC_INIT\(\[libfpemu\], \[([^]]*)\]", (top / "configure.ac").read_text()).group(1)
port = json.loads(read("vcpkg/vcpkg.json"))
spack = ast.parse(read("spack/package.py"))
versions = {
    "debian/changelog": re.match(r"libfpemu \(([^-)]*)-", read("debian/changelog")).group(1),
    "conda-forge/recipe.yaml": re.search(r'^  version: "(.*)"$', read("conda-forge/recipe.yaml"), re.M).group(1),
    "spack/package.py": next(node.args[0].value for node in ast.walk(spack) if isinstance(node, ast.Call)
                             and isinstance(node.func, ast.Name) and node.func.id == "version"),
    "vcpkg/vcpkg.json": port["version"],
}
for recipe, said in versions.items():
    check(said == version, f"{recipe}: version {said}, and configure.ac has {version}")

helpers = {dependency["name"] for dependency in port["dependencies"] if dependency["host"]}
check("vcpkg_cmake_config_fixup" not in read("vcpkg/portfile.cmake") or "vcpkg-cmake-config" in helpers,
      "vcpkg/vcpkg.json: vcpkg_cmake_config_fixup is of the port vcpkg-cmake-config")
for recipe in ["debian/rules", "conda-forge/recipe.yaml", "spack/package.py"]:
    check("--without-python" in read(recipe), f"{recipe}: the tests would download packages for Python")

options = set(re.findall(r"--(?:enable|disable|with|without)-([a-z0-9-]+)", help_text.read_text()))
for recipe in ["debian/rules", "conda-forge/recipe.yaml", "spack/package.py", "vcpkg/portfile.cmake"]:
    for used in re.findall(r"--(?:enable|disable|with|without)-([a-z0-9-]+)", read(recipe)):
        check(used in options, f"{recipe}: configure has no option for {used}")

nodes = re.findall(r"^(FPEMU_[0-9.]+) \{", (top / "lib/libfpemu.map").read_text(), re.M)
check(bool(nodes), "lib/libfpemu.map: no versions found")
for node in nodes:
    check(f"(symver){node} " in read("debian/libfpemu0.symbols"), f"debian/libfpemu0.symbols: no line for {node}")

fuzzed = subprocess.run([top / "tests/fuzz/build.sh", "--kinds"], capture_output=True, text=True, check=True)
members = [subprocess.run(["ar", "t", path], capture_output=True, text=True, check=True).stdout.split()
           for path in (top / "tests/fuzz/corpus").iterdir()]
kinds = {name.split(".")[0] for archive in members for name in archive}
check(set(fuzzed.stdout.split()) == kinds, f"oss-fuzz: kinds {fuzzed.stdout.strip()}, and inputs for {kinds}")
for name in re.findall(r"^## (.*?):", (top / "tests/fuzz/words.dict").read_text(), re.M):
    check(name in kinds, f"tests/fuzz/words.dict: no kind {name}")
for name in ["Dockerfile", "build.sh"]:
    check("http://www.apache.org/licenses/LICENSE-2.0" in read(f"oss-fuzz/{name}"), f"oss-fuzz/{name}: no licence")

patterns = [line.split()[0] for path in sorted((recipes / "debian").glob("*.install"))
            for line in path.read_text().splitlines()]
files = [line.removeprefix("./") for line in installed.read_text().splitlines()]
check(len(files) > 20, "a list of installed files that is too short")
for name in files:
    taken = any(fnmatch.fnmatch(name, p) or fnmatch.fnmatch(name, p + "/*") for p in patterns)
    check(taken or name.endswith((".la", "/COPYING")), f"debian: no package takes {name}")
for pattern in patterns:
    check(any(fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, pattern + "/*") for name in files),
          f"debian: nothing installed is {pattern}")

print("\n".join(problems))
sys.exit(bool(problems))
