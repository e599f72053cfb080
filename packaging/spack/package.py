# SPDX-License-Identifier: BSD-2-Clause
"""libfpemu for Spack."""

from spack.package import *


class Libfpemu(AutotoolsPackage):
    """Bit-exact emulation of number formats: floats of any width, fixed point, posits, and formats whose blocks share
    a scale (MX, NVFP4), with eleven rounding modes and counters; the programs fpemu and fptrain."""

    # release: homepage, url and the checksum of the archive that `make dist` made
    manual_download = True
    license("BSD-2-Clause")
    version("0.1.0")

    variant("tools", default=True, description="the programs fpemu and fptrain")
    variant("openmp", default=True, description="threads")
    variant("cuda", default=False, description="libfpemu_cuda")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("pkgconfig", type="build")
    depends_on("check", type="test")
    depends_on("gmp", type=("build", "link"), when="+tools")
    depends_on("mpfr@4:", when="+tools")
    depends_on("jansson@2.10:", when="+tools")
    depends_on("libzip@1.5:", when="+tools")
    depends_on("zlib-api", when="+tools")
    depends_on("openblas", when="+tools")
    depends_on("inih", when="+tools")
    depends_on("xz", when="+tools")
    depends_on("cuda", when="+cuda")

    install_targets = ["install-strip"]

    def configure_args(self):
        return [
            "--without-python",
            *self.enable_or_disable("tools"),
            *self.enable_or_disable("openmp"),
            *self.with_or_without("cuda", activation_value="prefix"),
            *(["--with-mpfr", "--enable-fptrain"] if self.spec.satisfies("+tools") else ["--without-mpfr"]),
        ]
