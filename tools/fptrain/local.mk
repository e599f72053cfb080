# The trainer sees libfpemu through include/ alone. All but the commands is a library, so that the tests can link it.
trainer_base = \
	tools/fptrain/base/base.c \
	tools/fptrain/base/base.h \
	tools/fptrain/base/checkpoint.c \
	tools/fptrain/base/checkpoint.h \
	tools/fptrain/base/listing.c \
	tools/fptrain/base/listing.h \
	tools/fptrain/base/source.c \
	tools/fptrain/base/source.h \
	tools/fptrain/base/words.c \
	tools/fptrain/base/words.h
trainer_engine = \
	tools/fptrain/engine/backend.h \
	tools/fptrain/engine/graph.c \
	tools/fptrain/engine/graph.h \
	tools/fptrain/engine/memory.c \
	tools/fptrain/engine/memory.h \
	tools/fptrain/engine/op.c \
	tools/fptrain/engine/op.h \
	tools/fptrain/engine/passes.c \
	tools/fptrain/engine/tensors.c \
	tools/fptrain/engine/tensors.h
trainer_ops = \
	tools/fptrain/ops/activation.c \
	tools/fptrain/ops/attention.c \
	tools/fptrain/ops/conv.c \
	tools/fptrain/ops/dropout.c \
	tools/fptrain/ops/embedding.c \
	tools/fptrain/ops/functions.c \
	tools/fptrain/ops/functions.h \
	tools/fptrain/ops/join.c \
	tools/fptrain/ops/linear.c \
	tools/fptrain/ops/loss.c \
	tools/fptrain/ops/lstm.c \
	tools/fptrain/ops/norm.c \
	tools/fptrain/ops/ops.h \
	tools/fptrain/ops/pool.c \
	tools/fptrain/ops/products.c \
	tools/fptrain/ops/products.h
trainer_backends = \
	tools/fptrain/backends/backends.c \
	tools/fptrain/backends/backends.h \
	tools/fptrain/backends/blas.c \
	tools/fptrain/backends/depthwise.c \
	tools/fptrain/backends/depthwise.h \
	tools/fptrain/backends/emulated.c \
	tools/fptrain/backends/exact.c \
	tools/fptrain/backends/free_list.c \
	tools/fptrain/backends/free_list.h \
	tools/fptrain/backends/lowered.c \
	tools/fptrain/backends/lowered.h \
	tools/fptrain/backends/onednn.c
trainer_models = \
	tools/fptrain/models/builders.h \
	tools/fptrain/models/compact.c \
	tools/fptrain/models/googlenet.c \
	tools/fptrain/models/layers.c \
	tools/fptrain/models/layers.h \
	tools/fptrain/models/model.c \
	tools/fptrain/models/model.h \
	tools/fptrain/models/model_settings.h \
	tools/fptrain/models/network_text.c \
	tools/fptrain/models/network_text.h \
	tools/fptrain/models/parts.c \
	tools/fptrain/models/parts.h \
	tools/fptrain/models/plain.c \
	tools/fptrain/models/resnet.c \
	tools/fptrain/models/sequence.c
trainer_data = \
	tools/fptrain/data/array.c \
	tools/fptrain/data/array.h \
	tools/fptrain/data/arrays.c \
	tools/fptrain/data/cifar.c \
	tools/fptrain/data/dataset.c \
	tools/fptrain/data/dataset.h \
	tools/fptrain/data/dice.h \
	tools/fptrain/data/digits.c \
	tools/fptrain/data/export.c \
	tools/fptrain/data/export.h \
	tools/fptrain/data/fingerprint.c \
	tools/fptrain/data/fingerprint.h \
	tools/fptrain/data/idx.c \
	tools/fptrain/data/loader.c \
	tools/fptrain/data/loader.h \
	tools/fptrain/data/origin.c \
	tools/fptrain/data/origin.h \
	tools/fptrain/data/readers.h \
	tools/fptrain/data/samples.h \
	tools/fptrain/data/shapes.c \
	tools/fptrain/data/text.c \
	tools/fptrain/data/tokens.c
trainer_numerics = \
	tools/fptrain/numerics/adaptive.c \
	tools/fptrain/numerics/adaptive.h \
	tools/fptrain/numerics/dispersion.c \
	tools/fptrain/numerics/dispersion.h \
	tools/fptrain/numerics/rounder.c \
	tools/fptrain/numerics/rounder.h \
	tools/fptrain/numerics/rule.c \
	tools/fptrain/numerics/rule.h \
	tools/fptrain/numerics/scaler.c \
	tools/fptrain/numerics/scaler.h
trainer_optimizer = \
	tools/fptrain/optimizer/clipping.c \
	tools/fptrain/optimizer/clipping.h \
	tools/fptrain/optimizer/fp32_state.c \
	tools/fptrain/optimizer/optimizer.c \
	tools/fptrain/optimizer/optimizer.h \
	tools/fptrain/optimizer/packed_state.c \
	tools/fptrain/optimizer/state.h
trainer_policies = \
	tools/fptrain/policies/assignment.c \
	tools/fptrain/policies/assignment.h \
	tools/fptrain/policies/assignment_policy.c \
	tools/fptrain/policies/assignment_policy.h \
	tools/fptrain/policies/assignment_settings.c \
	tools/fptrain/policies/assignment_settings.h \
	tools/fptrain/policies/fixed.c \
	tools/fptrain/policies/muppet.c \
	tools/fptrain/policies/muppet.h \
	tools/fptrain/policies/muppet_policy.c \
	tools/fptrain/policies/named.c \
	tools/fptrain/policies/policy.h
trainer_run = \
	tools/fptrain/run/data_settings.c \
	tools/fptrain/run/data_settings.h \
	tools/fptrain/run/experiment.c \
	tools/fptrain/run/experiment.h \
	tools/fptrain/run/lock.c \
	tools/fptrain/run/lock.h \
	tools/fptrain/run/machine.c \
	tools/fptrain/run/machine.h \
	tools/fptrain/run/network.c \
	tools/fptrain/run/network.h \
	tools/fptrain/run/occupied.c \
	tools/fptrain/run/occupied.h \
	tools/fptrain/run/record.c \
	tools/fptrain/run/record.h \
	tools/fptrain/run/record_file.h \
	tools/fptrain/run/record_lines.c \
	tools/fptrain/run/record_start.c \
	tools/fptrain/run/schedule.c \
	tools/fptrain/run/schedule.h \
	tools/fptrain/run/settings.c \
	tools/fptrain/run/settings.h \
	tools/fptrain/run/settings_file.c \
	tools/fptrain/run/shelf.c \
	tools/fptrain/run/shelf.h \
	tools/fptrain/run/tally.c \
	tools/fptrain/run/tally.h \
	tools/fptrain/run/trainer.c \
	tools/fptrain/run/trainer.h \
	tools/fptrain/run/trainer_state.c \
	tools/fptrain/run/weights.c \
	tools/fptrain/run/weights.h
trainer_estimate = \
	tools/fptrain/estimate/memory.c \
	tools/fptrain/estimate/memory.h \
	tools/fptrain/estimate/time.c \
	tools/fptrain/estimate/time.h
trainer_eval = \
	tools/fptrain/eval/eval_table.c \
	tools/fptrain/eval/eval_table.h \
	tools/fptrain/eval/evaluator.c \
	tools/fptrain/eval/evaluator.h
trainer_sweep = \
	tools/fptrain/sweep/data_parts.c \
	tools/fptrain/sweep/results.c \
	tools/fptrain/sweep/runs.c \
	tools/fptrain/sweep/sweep.c \
	tools/fptrain/sweep/sweep.h
trainer_report = \
	tools/fptrain/report/chart.c \
	tools/fptrain/report/chart.h \
	tools/fptrain/report/csv.c \
	tools/fptrain/report/csv.h \
	tools/fptrain/report/estimate_plot.c \
	tools/fptrain/report/estimate_plot.h \
	tools/fptrain/report/group.c \
	tools/fptrain/report/group.h \
	tools/fptrain/report/heat.c \
	tools/fptrain/report/heat.h \
	tools/fptrain/report/log_lines.c \
	tools/fptrain/report/log_lines.h \
	tools/fptrain/report/log_values.c \
	tools/fptrain/report/log_values.h \
	tools/fptrain/report/overflow.c \
	tools/fptrain/report/plots.c \
	tools/fptrain/report/run_data.c \
	tools/fptrain/report/run_data.h \
	tools/fptrain/report/shared.c \
	tools/fptrain/report/shared.h \
	tools/fptrain/report/tables.c \
	tools/fptrain/report/views.h

if FPTRAIN
noinst_LTLIBRARIES += tools/libfptrain.la
endif
tools_libfptrain_la_SOURCES = $(trainer_base) $(trainer_engine) $(trainer_ops) $(trainer_backends) \
	$(trainer_models) $(trainer_data) $(trainer_numerics) $(trainer_optimizer) $(trainer_policies) $(trainer_run) \
	$(trainer_estimate) $(trainer_eval) $(trainer_sweep) $(trainer_report)
tools_libfptrain_la_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEM_CPPFLAGS) -I$(top_srcdir)/tools \
	-I$(top_srcdir)/tools/fptrain -DFPTRAIN_DATADIR='"$(datadir)"'
tools_libfptrain_la_CFLAGS = $(TOOL_CFLAGS) $(FPTRAIN_CFLAGS) $(CBLAS_CFLAGS) $(ZIP_CFLAGS) $(JANSSON_CFLAGS)
tools_libfptrain_la_LIBADD = lib/libfpemu.la tools/libcommon.la $(FPTRAIN_LIBS) $(CBLAS_LIBS) $(ZIP_LIBS) $(JANSSON_LIBS)

if FPTRAIN
bin_PROGRAMS += tools/fptrain/fptrain
endif
tools_fptrain_fptrain_SOURCES = \
	tools/fptrain/commands/assign.c \
	tools/fptrain/commands/commands.h \
	tools/fptrain/commands/data.c \
	tools/fptrain/commands/estimate.c \
	tools/fptrain/commands/eval.c \
	tools/fptrain/commands/export.c \
	tools/fptrain/commands/main.c \
	tools/fptrain/commands/models.c \
	tools/fptrain/commands/options.c \
	tools/fptrain/commands/options.h \
	tools/fptrain/commands/report.c \
	tools/fptrain/commands/run.c \
	tools/fptrain/commands/tradeoff.c
tools_fptrain_fptrain_CPPFLAGS = $(tools_libfptrain_la_CPPFLAGS)
tools_fptrain_fptrain_LDFLAGS = $(TOOL_LINK_FLAGS)
tools_fptrain_fptrain_CFLAGS = $(tools_libfptrain_la_CFLAGS)
tools_fptrain_fptrain_LDADD = tools/libfptrain.la

EXTRA_DIST += tools/fptrain/README.md \
	tools/fptrain/backends/README.md \
	tools/fptrain/base/README.md \
	tools/fptrain/commands/README.md \
	tools/fptrain/data/README.md \
	tools/fptrain/engine/README.md \
	tools/fptrain/estimate/README.md \
	tools/fptrain/eval/README.md \
	tools/fptrain/models/README.md \
	tools/fptrain/numerics/README.md \
	tools/fptrain/ops/README.md \
	tools/fptrain/optimizer/README.md \
	tools/fptrain/policies/README.md \
	tools/fptrain/report/README.md \
	tools/fptrain/run/README.md \
	tools/fptrain/sweep/README.md

# Settings of experiments, to run as they are or to start from.
if FPTRAIN
experimentsdir = $(datadir)/fptrain/experiments
hardwaredir = $(datadir)/fptrain/hardware
networksdir = $(datadir)/fptrain/networks
dist_networks_DATA = \
	share/fptrain/networks/alexnet.net \
	share/fptrain/networks/chargpt.net \
	share/fptrain/networks/charlstm.net \
	share/fptrain/networks/googlenet.net \
	share/fptrain/networks/lenet.net \
	share/fptrain/networks/mlp.net \
	share/fptrain/networks/mobilenetv2.net \
	share/fptrain/networks/resnet18.net \
	share/fptrain/networks/resnet20.net \
	share/fptrain/networks/shufflenetv2.net \
	share/fptrain/networks/squeezenet.net \
	share/fptrain/networks/vgg.net
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
	share/fptrain/experiments/muppet-schedules-small.ini \
	share/fptrain/experiments/units-text-small.ini
endif

# The link by which the program finds them in a build tree; configure makes it.
distclean-fptrain:
	test ! -h share/fptrain || rm -f share/fptrain
	rmdir share 2>/dev/null || :
