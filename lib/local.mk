include_HEADERS = include/fpemu.h

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = lib/fpemu.pc

CORE = \
	lib/core/affine.inc.h \
	lib/core/arith.h \
	lib/core/block.h \
	lib/core/block.inc.h \
	lib/core/blocked.h \
	lib/core/blocked.inc.h \
	lib/core/blockquick.h \
	lib/core/blockquick.inc.h \
	lib/core/carrier32.inc.h \
	lib/core/carrier64.inc.h \
	lib/core/carrier_end.inc.h \
	lib/core/code.h \
	lib/core/code.inc.h \
	lib/core/codebook.h \
	lib/core/codebook.inc.h \
	lib/core/compat.h \
	lib/core/compat.inc.h \
	lib/core/count.h \
	lib/core/dot.h \
	lib/core/element.h \
	lib/core/element.inc.h lib/core/fits.h \
	lib/core/function.h \
	lib/core/layout.h \
	lib/core/logarithm.h \
	lib/core/matrix.h \
	lib/core/pack.h \
	lib/core/plan.h \
	lib/core/plan.inc.h \
	lib/core/port.h \
	lib/core/product.h \
	lib/core/quick.h \
	lib/core/quick.inc.h \
	lib/core/random.h \
	lib/core/round.h \
	lib/core/round.inc.h \
	lib/core/scaled.h \
	lib/core/walk.h

lib_LTLIBRARIES += lib/libfpemu.la
lib_libfpemu_la_SOURCES = \
	$(CORE) \
	lib/internal.h \
	lib/block.h \
	lib/cpu.h \
	lib/gemm.h \
	lib/environment.h \
	lib/parts.h \
	lib/scales.h \
	lib/spec.h \
	lib/stream.h \
	lib/reader.h \
	lib/formats.def \
	lib/status.c \
	lib/format.c \
	lib/codebook.c \
	lib/blocked.c \
	lib/query.c \
	lib/decimal.c \
	lib/spec.c \
	lib/blockspec.c \
	lib/rounding.c \
	lib/rng.c \
	lib/check.c \
	lib/round.c \
	lib/arith.c \
	lib/relate.c \
	lib/function.c \
	lib/walk.c \
	lib/block.c \
	lib/block_scales.c \
	lib/gemm.c \
	lib/gemm_check.c \
	lib/gemm_model.c \
	lib/gemm_spec.c \
	lib/gemm_tile.c \
	lib/environment.c \
	lib/pack.c \
	lib/stats.c \
	lib/dispatch.c
lib_libfpemu_la_LIBADD = $(KERNELS)
lib_libfpemu_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info $(FPEMU_LIBVERSION) \
	-export-symbols $(top_srcdir)/lib/libfpemu.map
EXTRA_lib_libfpemu_la_DEPENDENCIES = lib/libfpemu.map
EXTRA_DIST += lib/libfpemu.map

# Included by other files.
EXTRA_DIST += lib/verbs.inc.c lib/kernels.inc.c lib/loops.inc.c lib/drawn.inc.c lib/half.inc.c lib/dot.inc.c \
	lib/block.inc.c lib/blockrows.inc.c lib/blocks.inc.c lib/blockquick.inc.c lib/pack.inc.c

# The array loops, lib/kernels.inc.c, once per instruction set. The flags stay within these small libraries: no other
# file may use an instruction that the machine might lack.
KERNEL_CFLAGS = $(AM_CFLAGS) $(KERNEL_OPTIMISATION)

KERNELS = lib/libkernels_portable.la
lib_libkernels_portable_la_SOURCES = lib/kernels_portable.c
lib_libkernels_portable_la_CFLAGS = $(KERNEL_CFLAGS)

if HAVE_V3
KERNELS += lib/libkernels_v3.la
endif
lib_libkernels_v3_la_SOURCES = lib/kernels_v3.c
lib_libkernels_v3_la_CFLAGS = $(KERNEL_CFLAGS) $(V3_CFLAGS)

if HAVE_V4
KERNELS += lib/libkernels_v4.la
endif
lib_libkernels_v4_la_SOURCES = lib/kernels_v4.c
lib_libkernels_v4_la_CFLAGS = $(KERNEL_CFLAGS) $(V4_CFLAGS)

if HAVE_VBMI
KERNELS += lib/libkernels_vbmi.la
endif
lib_libkernels_vbmi_la_SOURCES = lib/kernels_vbmi.c lib/kernels_vbmi.h
lib_libkernels_vbmi_la_CFLAGS = $(KERNEL_CFLAGS) $(VBMI_CFLAGS)

noinst_LTLIBRARIES += $(KERNELS)
