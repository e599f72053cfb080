# What both programs and the tests share.
EXTRA_LTLIBRARIES += tools/libcommon.la
tools_libcommon_la_SOURCES = \
	tools/common/atomic_file.c \
	tools/common/atomic_file.h \
	tools/common/axis.c \
	tools/common/axis.h \
	tools/common/json.c \
	tools/common/json.h \
	tools/common/svg.c \
	tools/common/svg.h \
	tools/common/system.h \
	tools/common/trouble.c \
	tools/common/trouble.h
tools_libcommon_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tools_libcommon_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
EXTRA_DIST += tools/common/README.md

# The program sees the library through include/ alone.
if TOOLS
bin_PROGRAMS += tools/fpemu/fpemu
dist_man_MANS += doc/man/fpemu.1
endif
tools_fpemu_fpemu_SOURCES = \
	tools/fpemu/main.c \
	tools/fpemu/cli.h \
	tools/fpemu/commands.h \
	tools/fpemu/apply.c \
	tools/fpemu/along.c \
	tools/fpemu/along.h \
	tools/fpemu/bench.c \
	tools/fpemu/boxes.c \
	tools/fpemu/boxes.h \
	tools/fpemu/cli.c \
	tools/fpemu/compare.c \
	tools/fpemu/decode.c \
	tools/fpemu/describe.c \
	tools/fpemu/describe.h \
	tools/fpemu/encode.c \
	tools/fpemu/file.c \
	tools/fpemu/file.h \
	tools/fpemu/foreign.c \
	tools/fpemu/foreign.h \
	tools/fpemu/formats.c \
	tools/fpemu/fuzz.c \
	tools/fpemu/fuzz.h \
	tools/fpemu/fuzz_classes.c \
	tools/fpemu/fuzz_report.c \
	tools/fpemu/gemm.c \
	tools/fpemu/info.c \
	tools/fpemu/inputs.c \
	tools/fpemu/inputs.h \
	tools/fpemu/jsonout.c \
	tools/fpemu/jsonout.h \
	tools/fpemu/lines.c \
	tools/fpemu/lines.h \
	tools/fpemu/models.c \
	tools/fpemu/models.h \
	tools/fpemu/number.c \
	tools/fpemu/number.h \
	tools/fpemu/operation.c \
	tools/fpemu/operation.h \
	tools/fpemu/output.c \
	tools/fpemu/output.h \
	tools/fpemu/pack.c \
	tools/fpemu/plot.c \
	tools/fpemu/plot.h \
	tools/fpemu/progress.c \
	tools/fpemu/progress.h \
	tools/fpemu/quantize.c \
	tools/fpemu/report.c \
	tools/fpemu/report.h \
	tools/fpemu/round.c \
	tools/fpemu/sample.c \
	tools/fpemu/save.c \
	tools/fpemu/save.h \
	tools/fpemu/spool.c \
	tools/fpemu/spool.h \
	tools/fpemu/tuples.c \
	tools/fpemu/tuples.h \
	tools/fpemu/unpack.c \
	tools/fpemu/study.c \
	tools/fpemu/vectors.c \
	tools/fpemu/words.c \
	tools/fpemu/words.h
tools_fpemu_fpemu_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools -I$(top_srcdir)/tools/fpemu
tools_fpemu_fpemu_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZIP_CFLAGS) $(CBLAS_CFLAGS)
tools_fpemu_fpemu_LDADD = tools/libmodel.la tools/libcommon.la lib/libfpemu.la $(JANSSON_LIBS) $(ZIP_LIBS) $(CBLAS_LIBS) $(DL_LIBS)

# The readers of files of tensors, which do not end the program: the tests link them too.
if TOOLS
noinst_LTLIBRARIES += tools/libmodel.la
endif
tools_libmodel_la_SOURCES = \
	tools/fpemu/container.c \
	tools/fpemu/container.h \
	tools/fpemu/dtype.c \
	tools/fpemu/dtype.h \
	tools/fpemu/model.c \
	tools/fpemu/model.h \
	tools/fpemu/npy.c \
	tools/fpemu/npy.h \
	tools/fpemu/npz.c \
	tools/fpemu/safetensors.c \
	tools/fpemu/safetensors.h
tools_libmodel_la_CPPFLAGS = $(tools_fpemu_fpemu_CPPFLAGS)
tools_libmodel_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZIP_CFLAGS)

# `fpemu validate' takes its judges from the tests.
if HAVE_MPFR
tools_fpemu_fpemu_SOURCES += tools/fpemu/validate.c
tools_fpemu_fpemu_CFLAGS += $(MPFR_CFLAGS)
tools_fpemu_fpemu_LDADD += tests/ref/libjudge.la
endif

# The program measures as well: a table of formats and modes.
if TOOLS
bench: tools/fpemu/fpemu$(EXEEXT)
	tools/fpemu/fpemu$(EXEEXT) bench
else
bench:
	@echo "the program fpemu, which measures, was left out by --disable-tools" >&2; exit 1
endif
