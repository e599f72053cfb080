# The trainer sees libfpemu through include/ alone. All but main.c is a library, so that the tests can link it.
trainer_engine = \
	tools/fptrain/backend.c \
	tools/fptrain/backend.h \
	tools/fptrain/backend_blas.c \
	tools/fptrain/backend_depthwise.c \
	tools/fptrain/backend_emulated.c \
	tools/fptrain/backend_exact.c \
	tools/fptrain/backend_lowered.c \
	tools/fptrain/backend_onednn.c \
	tools/fptrain/backend_parts.h \
	tools/fptrain/base.c \
	tools/fptrain/base.h \
	tools/fptrain/graph.c \
	tools/fptrain/graph.h \
	tools/fptrain/graph_passes.c \
	tools/fptrain/op.h \
	tools/fptrain/op_activation.c \
	tools/fptrain/op_attention.c \
	tools/fptrain/op_conv.c \
	tools/fptrain/op_dropout.c \
	tools/fptrain/op_embedding.c \
	tools/fptrain/op_join.c \
	tools/fptrain/op_linear.c \
	tools/fptrain/op_loss.c \
	tools/fptrain/op_lstm.c \
	tools/fptrain/op_norm.c \
	tools/fptrain/op_pool.c
trainer_files = \
	tools/fptrain/checkpoint.c \
	tools/fptrain/checkpoint.h \
	tools/fptrain/cifar.c \
	tools/fptrain/dataset.c \
	tools/fptrain/dataset.h \
	tools/fptrain/digits.c \
	tools/fptrain/draw.h \
	tools/fptrain/idx.c \
	tools/fptrain/loader.c \
	tools/fptrain/outfile.c \
	tools/fptrain/outfile.h \
	tools/fptrain/picture.c \
	tools/fptrain/picture.h \
	tools/fptrain/readers.h \
	tools/fptrain/record.c \
	tools/fptrain/record.h \
	tools/fptrain/report.h \
	tools/fptrain/report_chart.c \
	tools/fptrain/report_group.c \
	tools/fptrain/report_heat.c \
	tools/fptrain/report_load.c \
	tools/fptrain/report_overflow.c \
	tools/fptrain/report_page.c \
	tools/fptrain/report_plots.c \
	tools/fptrain/report_tables.c \
	tools/fptrain/settings.c \
	tools/fptrain/settings.h \
	tools/fptrain/settings_file.c \
	tools/fptrain/shapes.c \
	tools/fptrain/source.c \
	tools/fptrain/source.h \
	tools/fptrain/text.c
trainer_methods = \
	tools/fptrain/dispersion.c \
	tools/fptrain/dispersion.h \
	tools/fptrain/experiment.c \
	tools/fptrain/experiment.h \
	tools/fptrain/keeper.h \
	tools/fptrain/keeper_fp32.c \
	tools/fptrain/keeper_packed.c \
	tools/fptrain/model.c \
	tools/fptrain/model.h \
	tools/fptrain/model_compact.c \
	tools/fptrain/model_googlenet.c \
	tools/fptrain/model_parts.h \
	tools/fptrain/model_plain.c \
	tools/fptrain/model_resnet.c \
	tools/fptrain/model_text.c \
	tools/fptrain/optimizer.c \
	tools/fptrain/optimizer.h \
	tools/fptrain/policy.c \
	tools/fptrain/policy.h \
	tools/fptrain/rounder.c \
	tools/fptrain/rounder.h \
	tools/fptrain/scaler.c \
	tools/fptrain/scaler.h \
	tools/fptrain/scaler_layers.c \
	tools/fptrain/scaler_layers.h \
	tools/fptrain/schedule.c \
	tools/fptrain/train.c \
	tools/fptrain/train.h \
	tools/fptrain/train_state.c
trainer_assign = \
	tools/fptrain/assign.c \
	tools/fptrain/assign.h \
	tools/fptrain/assign_plot.c \
	tools/fptrain/assign_plot.h \
	tools/fptrain/assign_policy.c \
	tools/fptrain/estimate.c \
	tools/fptrain/estimate.h \
	tools/fptrain/estimate_plot.c \
	tools/fptrain/estimate_plot.h \
	tools/fptrain/memory.c \
	tools/fptrain/memory.h \
	tools/fptrain/muppet.c \
	tools/fptrain/muppet.h \
	tools/fptrain/policy_muppet.c \
	tools/fptrain/assign_text.c \
	tools/fptrain/network.c \
	tools/fptrain/network.h \
	tools/fptrain/tradeoff.c \
	tools/fptrain/tradeoff.h \
	tools/fptrain/tradeoff_parts.c \
	tools/fptrain/tradeoff_report.c \
	tools/fptrain/tradeoff_runs.c

if FPTRAIN
noinst_LTLIBRARIES += tools/libfptrain.la
endif
tools_libfptrain_la_SOURCES = $(trainer_engine) $(trainer_files) $(trainer_methods) $(trainer_assign)
tools_libfptrain_la_CFLAGS = $(AM_CFLAGS) $(FPTRAIN_CFLAGS) $(CBLAS_CFLAGS) $(ZIP_CFLAGS) $(JANSSON_CFLAGS)
tools_libfptrain_la_LIBADD = lib/libfpemu.la $(FPTRAIN_LIBS) $(CBLAS_LIBS) $(ZIP_LIBS) $(JANSSON_LIBS)

if FPTRAIN
bin_PROGRAMS += tools/fptrain/fptrain
endif
tools_fptrain_fptrain_SOURCES = \
	tools/fptrain/command_assign.c \
	tools/fptrain/command_estimate.c \
	tools/fptrain/command_data.c \
	tools/fptrain/command_demo.c \
	tools/fptrain/command_report.c \
	tools/fptrain/command_run.c \
	tools/fptrain/command_tradeoff.c \
	tools/fptrain/commands.h \
	tools/fptrain/main.c
tools_fptrain_fptrain_CFLAGS = $(tools_libfptrain_la_CFLAGS)
tools_fptrain_fptrain_LDADD = tools/libfptrain.la

# Settings of experiments, to run as they are or to start from.
if FPTRAIN
experimentsdir = $(datadir)/fptrain/experiments
hardwaredir = $(datadir)/fptrain/hardware
dist_hardware_DATA = share/fptrain/hardware/rtx2080ti.json
dist_experiments_DATA = \
	share/fptrain/experiments/assign-cifar-full.ini \
	share/fptrain/experiments/assign-lenet-small.ini \
	share/fptrain/experiments/assign-resnet20-small.ini \
	share/fptrain/experiments/assign-text-small.ini \
	share/fptrain/experiments/bf16.ini \
	share/fptrain/experiments/fp16.ini \
	share/fptrain/experiments/fp8.ini \
	share/fptrain/experiments/lpmm-adam-small.ini \
	share/fptrain/experiments/lpmm-cifar-full.ini \
	share/fptrain/experiments/lpmm-lenet-small.ini \
	share/fptrain/experiments/lpmm-resnet20-small.ini \
	share/fptrain/experiments/mixed-charlstm-small.ini \
	share/fptrain/experiments/mixed-cifar-full.ini \
	share/fptrain/experiments/mixed-lenet-small.ini \
	share/fptrain/experiments/mixed-master-small.ini \
	share/fptrain/experiments/mixed-resnet20-small.ini \
	share/fptrain/experiments/mixed-sums-small.ini \
	share/fptrain/experiments/mixed-text-full.ini \
	share/fptrain/experiments/mixed-text-small.ini \
	share/fptrain/experiments/mixed-vgg-small.ini \
	share/fptrain/experiments/mnist-lenet.ini \
	share/fptrain/experiments/scalers-cifar-full.ini \
	share/fptrain/experiments/scalers-lenet-small.ini \
	share/fptrain/experiments/scalers-resnet20-small.ini \
	share/fptrain/experiments/muppet-cifar-full.ini \
	share/fptrain/experiments/muppet-lenet-small.ini \
	share/fptrain/experiments/muppet-resnet20-small.ini \
	share/fptrain/experiments/muppet-schedules-small.ini
endif
