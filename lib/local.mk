include_HEADERS = include/fpemu.h

# What fpemu.h includes.
fpemuincludedir = $(includedir)/fpemu
fpemuinclude_HEADERS = \
	include/fpemu/arith.h \
	include/fpemu/format.h \
	include/fpemu/gemm.h \
	include/fpemu/prepare.h \
	include/fpemu/quantize.h \
	include/fpemu/rounding.h \
	include/fpemu/stats.h \
	include/fpemu/status.h \
	include/fpemu/tensor.h \
	include/fpemu/typed.h

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = lib/fpemu.pc

# find_package(fpemu) of CMake.
cmakedir = $(libdir)/cmake/fpemu
cmake_DATA = lib/fpemu-config.cmake lib/fpemu-config-version.cmake

CORE = \
	lib/core/affine.inc.h \
	lib/core/exact.h \
	lib/core/scale.h \
	lib/core/scale.inc.h \
	lib/core/super.inc.h \
	lib/core/block.h \
	lib/core/block.inc.h \
	lib/core/block_fast.h \
	lib/core/block_fast.inc.h \
	lib/core/carrier.h \
	lib/core/carrier32.h \
	lib/core/carrier64.h \
	lib/core/carrier_end.h \
	lib/core/encode.h \
	lib/core/encode.inc.h \
	lib/core/codebook.h \
	lib/core/codebook.inc.h \
	lib/core/codebook_fast.h \
	lib/core/codebook_fast.inc.h \
	lib/core/compat.h \
	lib/core/compat.inc.h \
	lib/core/compat_fast.h \
	lib/core/compat_fast.inc.h \
	lib/core/events.h \
	lib/core/events.inc.h \
	lib/core/dot.h \
	lib/core/element.h \
	lib/core/element.inc.h lib/core/fits.h \
	lib/core/functions.h \
	lib/core/packed_layout.h \
	lib/core/logarithm.h \
	lib/core/unpack_fast.h \
	lib/core/gemm_shape.h \
	lib/core/odd_fast.h \
	lib/core/pack.h \
	lib/core/plan.h \
	lib/core/plan.inc.h \
	lib/core/port.h \
	lib/core/posit_fast.h \
	lib/core/posit_fast.inc.h \
	lib/core/dot_fast.h \
	lib/core/dot_fast.inc.h \
	lib/core/dot_make.h \
	lib/core/dot_models.h \
	lib/core/round_fast.h \
	lib/core/round_fast.inc.h \
	lib/core/random.h \
	lib/core/reason.h lib/core/reasons.def \
	lib/core/reach.h \
	lib/core/round.h \
	lib/core/round.inc.h \
	lib/core/affine_fast.h \
	lib/core/affine_quick.h \
	lib/core/affine_quick.inc.h \
	lib/core/narrow.h \
	lib/core/walk.h

# A linker without version scripts exports the same names, without versions.
if HAVE_VERSION_SCRIPT
LIBFPEMU_EXPORTS = -Wl,--version-script=$(top_srcdir)/lib/libfpemu.map
else
LIBFPEMU_EXPORTS = -export-symbols-regex '^fpemu_'
endif

lib_LTLIBRARIES += lib/libfpemu.la
lib_libfpemu_la_SOURCES = \
	$(CORE) \
	lib/array/array.h \
	lib/array/names.h \
	lib/loops/loops.h \
	lib/loops/names.h \
	lib/array/blocks.h \
	lib/loops/cpu.h \
	lib/gemm/call.h \
	lib/gemm/models.h \
	lib/gemm/operands.h \
	lib/gemm/split.h \
	lib/gemm/targets.h \
	lib/gemm/tiles.h \
	lib/format/environment.h \
	lib/array/threads.h \
	lib/array/operand_scales.h \
	lib/loops/stream.h \
	lib/loops/unfortified.h \
	lib/format/blocking.h \
	lib/format/codebook.h \
	lib/format/decimal.h \
	lib/format/format.h \
	lib/format/named.h \
	lib/format/parameters.h \
	lib/format/scalar.h \
	lib/format/spec_blocks.h \
	lib/format/spec_reader.h \
	lib/format/near.h \
	lib/format/text.h \
	lib/format/named.def \
	lib/status.c \
	lib/typed.c \
	lib/format/format.c \
	lib/format/codebook.c \
	lib/format/blocking.c \
	lib/format/query.c \
	lib/format/decimal.c \
	lib/format/named.c \
	lib/format/scalar.c \
	lib/format/spec.c \
	lib/format/near.c \
	lib/format/text.c \
	lib/format/spec_blocks.c \
	lib/format/rounding.c \
	lib/array/random.c \
	lib/array/check.c \
	lib/array/quantize.c \
	lib/array/arith.c \
	lib/array/compare.c lib/array/tables.c \
	lib/array/functions.c \
	lib/array/walk.c \
	lib/array/why.c \
	lib/array/blocks.c \
	lib/array/block_scales.c \
	lib/gemm/gemm.c \
	lib/gemm/targets.c \
	lib/gemm/models.c \
	lib/gemm/models_fast.c \
	lib/gemm/operands.c \
	lib/gemm/spec.c \
	lib/gemm/split.c \
	lib/gemm/tiles.c \
	lib/format/environment.c \
	lib/array/pack.c \
	lib/array/prepare.c \
	lib/array/stats.c \
	lib/array/threads.c \
	lib/loops/dispatch.c
lib_libfpemu_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib
lib_libfpemu_la_CFLAGS = $(AM_CFLAGS) $(COPY_CFLAGS)
lib_libfpemu_la_LIBADD = $(KERNELS)
lib_libfpemu_la_LDFLAGS = $(AM_LDFLAGS) $(RELRO_LDFLAGS) $(NODELETE_LDFLAGS) -no-undefined -version-info $(FPEMU_LIBVERSION) \
	$(LIBFPEMU_EXPORTS)
EXTRA_lib_libfpemu_la_DEPENDENCIES = lib/libfpemu.map
EXTRA_DIST += lib/libfpemu.map lib/README.md lib/gemm/README.md lib/array/README.md lib/core/README.md \
	lib/format/README.md lib/loops/README.md

# Included by other files.
EXTRA_DIST += lib/kernel/README.md lib/kernel/kernel.inc.c lib/kernel/runs.inc.c lib/kernel/codes.inc.c lib/kernel/table.inc.c lib/kernel/choice.inc.h lib/kernel/kernels.def \
	lib/simd/README.md lib/simd/simd.h lib/simd/avx512.h lib/simd/avx2.h lib/simd/plain.h lib/simd/lanes.h lib/simd/philox.h \
	lib/array/quantize.inc.c lib/loops/variant.inc.c lib/loops/elements.inc.c \
	lib/loops/settings.inc.c lib/loops/narrow.inc.c \
	lib/loops/operations.inc.c lib/loops/dot.inc.c lib/loops/steps.inc.c lib/loops/sums.inc.c \
	lib/array/calls.inc.h lib/array/blocks.inc.c lib/array/block_runs.inc.c lib/array/block_codes.inc.c \
	lib/loops/blocks.inc.c lib/array/pack.inc.c \
	lib/loops/loops.inc.h lib/loops/table.inc.c

# The array loops, lib/loops/variant.inc.c, once per instruction set. The flags stay within these small libraries: no other
# file may use an instruction that the machine might lack.
KERNEL_CFLAGS = $(AM_CFLAGS) $(KERNEL_OPTIMISATION)

KERNELS = lib/libkernels_portable.la
lib_libkernels_portable_la_SOURCES = lib/loops/portable.c lib/loops/portable_f32.c lib/loops/portable_f64.c \
	lib/loops/portable_kernel32.c lib/loops/portable_kernel64.c
lib_libkernels_portable_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib
lib_libkernels_portable_la_CFLAGS = $(AM_CFLAGS) $(PORTABLE_OPTIMISATION)
$(lib_libkernels_portable_la_OBJECTS): variants.h

if HAVE_V3
KERNELS += lib/libkernels_v3.la
endif
lib_libkernels_v3_la_SOURCES = lib/loops/x86_64_v3.c lib/loops/x86_64_v3_f32.c lib/loops/x86_64_v3_f64.c \
	lib/loops/x86_64_v3_kernel32.c lib/loops/x86_64_v3_kernel64.c
lib_libkernels_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib
lib_libkernels_v3_la_CFLAGS = $(KERNEL_CFLAGS) $(V3_CFLAGS)

if HAVE_V4
KERNELS += lib/libkernels_v4.la
endif
lib_libkernels_v4_la_SOURCES = lib/loops/x86_64_v4.c lib/loops/x86_64_v4_f32.c lib/loops/x86_64_v4_f64.c \
	lib/loops/x86_64_v4_kernel32.c lib/loops/x86_64_v4_kernel64.c
lib_libkernels_v4_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib
lib_libkernels_v4_la_CFLAGS = $(KERNEL_CFLAGS) $(V4_CFLAGS)

noinst_LTLIBRARIES += $(KERNELS)
# What takes the longest to compile, for who wants to begin with it.
kernels: $(KERNELS)
.PHONY: kernels
