# SPDX-License-Identifier: BSD-2-Clause
"""Builds the wheel: libfpemu.so from the sources and flags that the makefiles name, and the binding that loads it.

Which files the library has stands in lib/local.mk, which flags they need in m4/, what it exports in lib/libfpemu.map,
and its version in configure.ac. All are read from there, so that nothing is told twice. Needed is a C compiler and
Python's headers; CC and CFLAGS are respected. Where FPEMU_CUDA_LIBRARY names a libfpemu_cuda.so, the wheel holds it.
FPEMU_OBJECTS names the library's objects where they are compiled already, which spares minutes.
"""

import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def one(pattern, path):
    """What the group of a pattern matches in a file that holds it."""
    found = re.search(pattern, read(path), re.MULTILINE)
    if not found:
        sys.exit(f"setup.py: {path} has no line like {pattern}")
    return found[1]


def make_variable(name, path="lib/local.mk"):
    """The words of a variable of a makefile, over lines that end with a backslash."""
    return one(rf"^{name} = ((?:.*\\\n)*.*)$", path).replace("\\\n", " ").split()


VERSION = one(r"^AC_INIT\(\[libfpemu\], \[([^]]*)\]", "configure.ac")
STRICT_FLAGS = one(r"^  for flag in (-std=c11 .*); do$", "m4/fpemu_arithmetic.m4").split()
# The loops of instruction sets: by suffix in the makefile, flags and the macros that tell of them.
VARIANTS = {
    suffix: (flags.split(), macros)
    for suffix, flags, macros in re.findall(
        r"FPEMU_SIMD_VARIANT\(\[[^]]*\], \[(\w+)\], \[([^]]*)\],\s*\[([^]]*)\]\)", read("m4/fpemu_simd.m4")
    )
}
if not VARIANTS:
    sys.exit("setup.py: m4/fpemu_simd.m4 has no line FPEMU_SIMD_VARIANT that can be read")


def at_home(content):
    """A library that was linked with libfpemu.so.N, as one that finds the libfpemu.so in its own folder: these strings
    of an ELF file of 64 bits become shorter in place."""
    content = bytearray(content)
    (table,), (size, count) = struct.unpack_from("<Q", content, 32), struct.unpack_from("<HH", content, 54)
    segments = [struct.unpack_from("<IIQQQQ", content, table + i * size) for i in range(count)]
    start, length = next((s[2], s[5]) for s in segments if s[0] == PT_DYNAMIC)
    entries = [struct.unpack_from("<QQ", content, at) for at in range(start, start + length, 16)]
    strings = dict(entries)[DT_STRTAB]
    strings += next(s[2] - s[3] for s in segments if s[0] == PT_LOAD and s[3] <= strings < s[3] + s[5])
    for tag, offset in entries:
        at, end = strings + offset, content.find(0, strings + offset)
        if tag == DT_NEEDED and content[at:end].startswith(b"libfpemu.so."):
            content[at:end] = b"libfpemu.so".ljust(end - at, b"\0")
        elif tag in (DT_RPATH, DT_RUNPATH) and end - at >= len("$ORIGIN"):
            content[at:end] = b"$ORIGIN".ljust(end - at, b"\0")
    return content


PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29


class Compiler:
    """The C compiler as a command; `configure` does the same checks."""

    def __init__(self):
        self.command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
        if shutil.which(self.command[0]) is None:
            sys.exit(f"setup.py: there is no C compiler '{self.command[0]}': install one, or name one by CC")
        self.user_flags = shlex.split(os.environ.get("CFLAGS", ""))
        unsafe = {"-Ofast", "-ffast-math", "-funsafe-math-optimizations", "-ffp-contract=fast"}
        if unsafe & set(self.command + self.user_flags):
            sys.exit("setup.py: CFLAGS that change results are refused: exact results are what fpemu is for")

    def takes(self, flags, text="int main(void) { return 0; }", link=False):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "try.c")
            source.write_text(text)
            command = [*self.command, *flags, "-Werror", *([] if link else ["-c"]), str(source), "-o", f"{folder}/try"]
            return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def run(self, arguments):
        command = [*self.command, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")


class Build(build_ext):
    """libfpemu.so beside the binding, then the binding, linked to it by $ORIGIN."""

    def build_extension(self, ext):
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        objects = Path(self.build_temp).resolve()
        compiler = Compiler()
        common = self.common_flags(compiler)
        library = target.parent / "libfpemu.so"
        self.build_library(compiler, common, objects / "lib", library)
        self.build_binding(compiler, common, ext, objects / "native", library, target)
        self.build_jax(compiler, common, objects / "jax", library)
        self.build_command(compiler, common, objects / "tools", library.with_name("fpemu-command"))
        cuda, inside = os.environ.get("FPEMU_CUDA_LIBRARY"), target.parent / "libfpemu_cuda.so"
        inside.unlink(missing_ok=True)  # of an earlier wheel
        if cuda:
            inside.write_bytes(at_home(Path(cuda).read_bytes()))
        shutil.copyfile(ROOT / BENCH_SOURCE, target.parent / "cocotb.py")

    def copy_extensions_to_source(self):
        super().copy_extensions_to_source()
        folder = ROOT / "python/fpemu"
        for file in (Path(self.build_lib) / "fpemu").glob("lib*.so"):
            shutil.copyfile(file, folder / file.name)
        if (command := Path(self.build_lib) / "fpemu/fpemu-command").exists():
            shutil.copy(command, folder)
        shutil.copyfile(ROOT / BENCH_SOURCE, folder / "cocotb.py")

    @staticmethod
    def common_flags(compiler):
        flags = [flag for flag in STRICT_FLAGS if compiler.takes([flag])]
        parallel = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }"
        if compiler.takes(["-fopenmp"], parallel, link=True):
            flags.append("-fopenmp")
        elif compiler.takes(["-fopenmp-simd"]):
            flags.append("-fopenmp-simd")
        return [*flags, "-fPIC", "-fvisibility=hidden", "-DNDEBUG", *compiler.user_flags, f"-I{ROOT / 'include'}"]

    def compile(self, compiler, jobs, folder):
        """[(source, flags)] to objects, as many at a time as there are processors; unchanged ones are kept."""
        folder.mkdir(parents=True, exist_ok=True)
        newest = max(
            file.stat().st_mtime
            for room in ("lib", "include", "python/native", "tools/common", "tools/fpemu")
            for file in (ROOT / room).rglob("*")
            if file.suffix in (".h", ".def") or file.name.endswith(".inc.c") or file.parent.name == "loops"
        )
        newest = max(newest, (ROOT / "setup.py").stat().st_mtime)

        def one_job(job):
            source, flags = job
            output = folder / (source.replace("/", "_")[:-2] + ".o")
            youngest = max(newest, (ROOT / source).stat().st_mtime)
            if self.force or not output.exists() or output.stat().st_mtime <= youngest:
                compiler.run([*flags, "-c", str(ROOT / source), "-o", str(output)])
            return output

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return [str(output) for output in pool.map(one_job, jobs)]

    def build_library(self, compiler, common, folder, library):
        objects = shlex.split(os.environ.get("FPEMU_OBJECTS", "")) or self.library_objects(compiler, common, folder)
        compiler.run(["-shared", "-s", *common, *objects, "-o", str(library), "-Wl,-soname,libfpemu.so",
                      f"-Wl,--version-script={ROOT / 'lib/libfpemu.map'}", "-Wl,-z,defs,-z,nodelete", "-lm"])

    def library_objects(self, compiler, common, folder):
        common = [*common, f"-I{ROOT / 'lib'}", "-fvisibility=default"]
        macros, loops = [], []
        for suffix, (flags, condition) in {"PORTABLE": ([], "1"), **VARIANTS}.items():
            test = f"#if !({condition})\n#error\n#endif\nint main(void) {{ return 0; }}"
            if compiler.takes([*flags, *compiler.user_flags], test):
                macros.append(f"-DFPEMU_HAVE_{suffix}=1")
                sources = make_variable(f"lib_libkernels_{suffix.lower()}_la_SOURCES")
                loops += [(source, flags) for source in sources if source.endswith(".c")]
        jobs = [
            (source, ["-O2", *common, *macros])
            for source in make_variable("lib_libfpemu_la_SOURCES")
            if source.endswith(".c")
        ]
        jobs += [(source, ["-O3", *common, *flags, *macros]) for source, flags in loops]
        return self.compile(compiler, jobs, folder)

    def build_binding(self, compiler, common, ext, folder, library, target):
        include = [f"-I{sysconfig.get_path('include')}", f"-I{sysconfig.get_path('platinclude')}"]
        limited = [] if FREE_THREADED else ["-DPy_LIMITED_API=0x030A0000"]
        flags = ["-O2", *common, *limited, *include, f"-I{ROOT / 'lib'}"]
        objects = self.compile(compiler, [(source, flags) for source in ext.sources], folder)
        compiler.run(["-shared", "-s", *common, *objects, "-o", str(target), f"-L{library.parent}", "-lfpemu",
                      "-ldl", "-Wl,-rpath,$ORIGIN"])

    def build_jax(self, compiler, common, folder, library):
        """The handlers for XLA: they need neither Python's headers nor JAX's."""
        objects = self.compile(compiler, [(JAX_SOURCE, ["-O2", *common])], folder)
        compiler.run(["-shared", "-s", *common, *objects, "-o", str(library.with_name("libfpemu_jax.so")),
                      f"-L{library.parent}", "-lfpemu", "-Wl,-rpath,$ORIGIN", "-Wl,-z,defs"])

    def build_command(self, compiler, common, folder, target):
        """The program fpemu, which reads files for the package, where its libraries are. FPEMU_COMMAND names one that
        is elsewhere, and spares half a minute."""
        target.unlink(missing_ok=True)
        needed = ["jansson >= 2.10", "libzip >= 1.5", "zlib"]
        found = [subprocess.run(["pkg-config", option, *needed], capture_output=True, text=True, check=False)
                 if shutil.which("pkg-config") and "FPEMU_COMMAND" not in os.environ else None
                 for option in ("--cflags", "--libs")]
        if None in found or any(done.returncode for done in found):
            return print("setup.py: without the program fpemu, for fpemu.load and fpemu.judge")
        include, libraries = (shlex.split(done.stdout) for done in found)
        flags = ["-O2", *common, *make_variable("SYSTEM_CPPFLAGS", "Makefile.am"), f"-I{ROOT / 'tools'}",
                 f"-I{ROOT / 'tools/fpemu'}", *include]
        newer = "#include <zip.h>\nint main(void) { return !zip_source_zip_file; }"
        if compiler.takes([*include, *libraries], newer, link=True):
            flags.append("-DHAVE_ZIP_SOURCE_ZIP_FILE=1")
        names = ("tools_fpemu_fpemu", "tools_libmodel_la", "tools_libcommon_la")
        sources = [source for name in names for source in make_variable(f"{name}_SOURCES", "tools/local.mk")]
        objects = self.compile(compiler, [(source, flags) for source in sources if source.endswith(".c")], folder)
        compiler.run(["-s", *common, *objects, "-o", str(target), f"-L{target.parent}", "-lfpemu", *libraries, "-lm",
                      "-ldl", "-Wl,-rpath,$ORIGIN"])


JAX_SOURCE = "python/native/jax_ffi.c"
BENCH_SOURCE = "share/fpemu/hdl/fpemu_cocotb.py"  # fpemu.cocotb
SOURCES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "python/native").glob("*.c")
                 if path.name != Path(JAX_SOURCE).name)

setup(
    version=VERSION,
    package_dir={"": "python"},
    packages=["fpemu"] + [
        "fpemu." + ".".join(path.parent.relative_to(ROOT / "python/fpemu").parts)
        for path in sorted((ROOT / "python/fpemu").rglob("*/__init__.py"))
    ],
    package_data={"fpemu": ["py.typed", "*.pyi", "*.so", "fpemu-command"]},
    ext_modules=[Extension("fpemu._native", SOURCES, py_limited_api=not FREE_THREADED)],
    options={"build": {"build_base": "build-python"},
             **({} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp310"}})},
    cmdclass={"build_ext": Build},
)
