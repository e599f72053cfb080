# What both programs and the tests share.
EXTRA_LTLIBRARIES += tools/libcommon.la
# Automake cleans away no library of this list.
CLEANFILES += tools/libcommon.la
tools_libcommon_la_SOURCES = \
	tools/common/atomic_file.c \
	tools/common/atomic_file.h \
	tools/common/axis.c \
	tools/common/axis.h \
	tools/common/byte_order.c \
	tools/common/byte_order.h \
	tools/common/clock.c \
	tools/common/clock.h \
	tools/common/coded.c \
	tools/common/coded.h \
	tools/common/followed.c \
	tools/common/followed.h \
	tools/common/json.c \
	tools/common/json.h \
	tools/common/near.c \
	tools/common/near.h \
	tools/common/npy.c \
	tools/common/npy.h \
	tools/common/npz.c \
	tools/common/npz.h \
	tools/common/outputs.c \
	tools/common/outputs.h \
	tools/common/safetensors.c \
	tools/common/safetensors.h \
	tools/common/shape.c \
	tools/common/shape.h \
	tools/common/shown.c \
	tools/common/shown.h \
	tools/common/streams.c \
	tools/common/streams.h \
	tools/common/svg.c \
	tools/common/svg.h \
	tools/common/system.h \
	tools/common/temporary.c \
	tools/common/temporary.h \
	tools/common/trouble.c \
	tools/common/trouble.h \
	tools/common/utf8.c \
	tools/common/utf8.h
tools_libcommon_la_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEM_CPPFLAGS) -I$(top_srcdir)/tools
tools_libcommon_la_CFLAGS = $(TOOL_CFLAGS) $(JANSSON_CFLAGS) $(ZIP_CFLAGS)
EXTRA_DIST += tools/README.md tools/common/README.md

# The library for simulators of hardware.
hdldir = $(datadir)/fpemu/hdl
dist_hdl_DATA = share/fpemu/hdl/fpemu_dpi.c share/fpemu/hdl/fpemu_dpi.h share/fpemu/hdl/fpemu_dpi.svh \
	share/fpemu/hdl/fpemu_cocotb.py
hdlexamplesdir = $(hdldir)/examples
dist_hdlexamples_DATA = share/fpemu/hdl/examples/bench.py share/fpemu/hdl/examples/designs.sv

# Completion of both programs, where bash and zsh look for it.
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
if TOOLS
dist_bashcomp_DATA = share/completion/bash/fpemu share/completion/bash/fptrain
dist_zshcomp_DATA = share/completion/zsh/_fpemu
endif

# The program sees the library through include/ alone.
if TOOLS
bin_PROGRAMS += tools/fpemu/fpemu
dist_man_MANS += doc/man/fpemu.1
endif
tools_fpemu_fpemu_SOURCES = \
	tools/fpemu/main.c \
	tools/fpemu/cli/accumulation.c \
	tools/fpemu/cli/accumulation.h \
	tools/fpemu/cli/arguments.c \
	tools/fpemu/cli/arguments.h \
	tools/fpemu/cli/ending.c \
	tools/fpemu/cli/ending.h \
	tools/fpemu/cli/error.c \
	tools/fpemu/cli/error.h \
	tools/fpemu/cli/options.c \
	tools/fpemu/cli/options.h \
	tools/fpemu/cli/progress.c \
	tools/fpemu/cli/progress.h \
	tools/fpemu/cli/rounding.c \
	tools/fpemu/cli/rounding.h \
	tools/fpemu/cli/spec.c \
	tools/fpemu/cli/spec.h \
	tools/fpemu/commands/apply.c \
	tools/fpemu/commands/bench.c \
	tools/fpemu/commands/commands.h \
	tools/fpemu/commands/compare.c \
	tools/fpemu/commands/decode.c \
	tools/fpemu/commands/encode.c \
	tools/fpemu/commands/formats.c \
	tools/fpemu/commands/fuzz.c \
	tools/fpemu/commands/gemm.c \
	tools/fpemu/commands/info.c \
	tools/fpemu/commands/judge.c \
	tools/fpemu/commands/pack.c \
	tools/fpemu/commands/quantize.c \
	tools/fpemu/commands/round.c \
	tools/fpemu/commands/sample.c \
	tools/fpemu/commands/study.c \
	tools/fpemu/commands/unpack.c \
	tools/fpemu/commands/vectors.c \
	tools/fpemu/files/box_walk.c \
	tools/fpemu/files/box_walk.h \
	tools/fpemu/files/file.c \
	tools/fpemu/files/file.h \
	tools/fpemu/files/given.c \
	tools/fpemu/files/given.h \
	tools/fpemu/files/leftovers.c \
	tools/fpemu/files/leftovers.h \
	tools/fpemu/files/output.c \
	tools/fpemu/files/output.h \
	tools/fpemu/files/output_directory.c \
	tools/fpemu/files/output_directory.h \
	tools/fpemu/files/partition.c \
	tools/fpemu/files/partition.h \
	tools/fpemu/files/scratch.c \
	tools/fpemu/files/scratch.h \
	tools/fpemu/files/writer.c \
	tools/fpemu/files/writer.h \
	tools/fpemu/plans/allocation.c \
	tools/fpemu/plans/allocation.h \
	tools/fpemu/plans/assignment.c \
	tools/fpemu/plans/assignment.h \
	tools/fpemu/plans/plan.c \
	tools/fpemu/reports/choice.c \
	tools/fpemu/reports/choice.h \
	tools/fpemu/reports/comparison.c \
	tools/fpemu/reports/comparison.h \
	tools/fpemu/reports/contents.c \
	tools/fpemu/reports/contents.h \
	tools/fpemu/reports/describe.c \
	tools/fpemu/reports/describe.h \
	tools/fpemu/reports/fuzz_report.c \
	tools/fpemu/reports/fuzz_report.h \
	tools/fpemu/reports/jsonout.c \
	tools/fpemu/reports/jsonout.h \
	tools/fpemu/reports/line_plot.c \
	tools/fpemu/reports/line_plot.h \
	tools/fpemu/reports/loss.c \
	tools/fpemu/reports/loss.h \
	tools/fpemu/reports/number_list.c \
	tools/fpemu/reports/number_list.h \
	tools/fpemu/reports/report.c \
	tools/fpemu/reports/report.h \
	tools/fpemu/reports/scatter_plot.c \
	tools/fpemu/reports/scatter_plot.h \
	tools/fpemu/reports/uses.c \
	tools/fpemu/reports/uses.h \
	tools/fpemu/testing/blocks.c \
	tools/fpemu/testing/cells.c \
	tools/fpemu/testing/child.c \
	tools/fpemu/testing/child.h \
	tools/fpemu/testing/difference.c \
	tools/fpemu/testing/difference.h \
	tools/fpemu/testing/dots.c \
	tools/fpemu/testing/external.c \
	tools/fpemu/testing/external.h \
	tools/fpemu/testing/inputs.c \
	tools/fpemu/testing/inputs.h \
	tools/fpemu/testing/law.c \
	tools/fpemu/testing/operands.c \
	tools/fpemu/testing/operands.h \
	tools/fpemu/testing/operation.c \
	tools/fpemu/testing/operation.h \
	tools/fpemu/testing/search.h \
	tools/fpemu/testing/signature.c \
	tools/fpemu/testing/signature.h \
	tools/fpemu/testing/sums.c \
	tools/fpemu/testing/tensors.c \
	tools/fpemu/testing/trial.c
EXTRA_DIST += \
	tools/fpemu/README.md \
	tools/fpemu/cli/README.md \
	tools/fpemu/commands/README.md \
	tools/fpemu/files/README.md \
	tools/fpemu/plans/README.md \
	tools/fpemu/reports/README.md \
	tools/fpemu/testing/README.md
tools_fpemu_fpemu_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEM_CPPFLAGS) -I$(top_srcdir)/tools -I$(top_srcdir)/tools/fpemu
tools_fpemu_fpemu_LDFLAGS = $(TOOL_LINK_FLAGS)
tools_fpemu_fpemu_CFLAGS = $(TOOL_CFLAGS) $(JANSSON_CFLAGS) $(ZIP_CFLAGS) $(CBLAS_CFLAGS)
tools_fpemu_fpemu_LDADD = tools/libmodel.la tools/libcommon.la lib/libfpemu.la $(JANSSON_LIBS) $(ZIP_LIBS) $(CBLAS_LIBS) $(DL_LIBS)

# The readers of files of tensors and of plans, which do not end the program: the tests link them too.
if TOOLS
noinst_LTLIBRARIES += tools/libmodel.la
endif
tools_libmodel_la_SOURCES = \
	tools/fpemu/cli/number.c \
	tools/fpemu/cli/number.h \
	tools/fpemu/cli/words.c \
	tools/fpemu/cli/words.h \
	tools/fpemu/files/container.c \
	tools/fpemu/files/container.h \
	tools/fpemu/files/dtype.c \
	tools/fpemu/files/dtype.h \
	tools/fpemu/files/foreign.c \
	tools/fpemu/files/foreign.h \
	tools/fpemu/files/ggml.c \
	tools/fpemu/files/ggml.h \
	tools/fpemu/files/gguf.c \
	tools/fpemu/files/gguf.h \
	tools/fpemu/files/grid.c \
	tools/fpemu/files/grid.h \
	tools/fpemu/files/json_header.c \
	tools/fpemu/files/json_header.h \
	tools/fpemu/files/layout.c \
	tools/fpemu/files/layout.h \
	tools/fpemu/files/members.c \
	tools/fpemu/files/members.h \
	tools/fpemu/files/model.c \
	tools/fpemu/files/model.h \
	tools/fpemu/files/number_table.c \
	tools/fpemu/files/number_table.h \
	tools/fpemu/files/reader.c \
	tools/fpemu/files/reader.h \
	tools/fpemu/files/safetensors.c \
	tools/fpemu/files/safetensors.h \
	tools/fpemu/files/shards.c \
	tools/fpemu/files/shards.h \
	tools/fpemu/files/stored.c \
	tools/fpemu/files/stored.h \
	tools/fpemu/plans/plan.h \
	tools/fpemu/plans/plan_reader.c
tools_libmodel_la_CPPFLAGS = $(tools_fpemu_fpemu_CPPFLAGS)
tools_libmodel_la_CFLAGS = $(TOOL_CFLAGS) $(JANSSON_CFLAGS) $(ZIP_CFLAGS)

# `fpemu validate' takes its judges from the tests.
if HAVE_MPFR
tools_fpemu_fpemu_SOURCES += tools/fpemu/commands/validate.c
tools_fpemu_fpemu_CFLAGS += $(MPFR_CFLAGS)
tools_fpemu_fpemu_LDADD += tests/judges/libjudges.la
endif

# The program measures as well: a table of formats and modes.
if TOOLS
bench: tools/fpemu/fpemu$(EXEEXT)
	tools/fpemu/fpemu$(EXEEXT) bench
else
bench:
	@echo "the program fpemu, which measures, was left out by --disable-tools" >&2; exit 1
endif
