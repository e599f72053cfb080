# The trainer. Its judges compute by themselves; they share no code with tools/fptrain.
TRAINER_CFLAGS = $(SYSTEM_CPPFLAGS) $(AM_CFLAGS) -I$(top_srcdir)/tools -I$(top_srcdir)/tools/fptrain $(FPTRAIN_CFLAGS)
TRAINER_METHODS_TESTS = \
	tests/fptrain/assign \
	tests/fptrain/estimate \
	tests/fptrain/functions \
	tests/fptrain/models \
	tests/fptrain/muppet \
	tests/fptrain/network_text \
	tests/fptrain/optimizers \
	tests/fptrain/packed \
	tests/fptrain/rounding \
	tests/fptrain/scalers \
	tests/fptrain/sharing \
	tests/fptrain/steps
tests_fptrain_assign_SOURCES = tests/fptrain/assign.c tests/fptrain/expect.h
tests_fptrain_assign_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_assign_LDADD = tools/libfptrain.la
tests_fptrain_estimate_SOURCES = tests/fptrain/estimate.c tests/fptrain/expect.h
tests_fptrain_estimate_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_estimate_LDADD = tools/libfptrain.la
tests_fptrain_functions_SOURCES = tests/fptrain/functions.c tests/fptrain/expect.h
tests_fptrain_functions_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_functions_LDADD = tools/libfptrain.la
tests_fptrain_models_SOURCES = tests/fptrain/models.c tests/fptrain/expect.h
tests_fptrain_models_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_models_LDADD = tools/libfptrain.la
tests_fptrain_network_text_SOURCES = tests/fptrain/network_text.c tests/fptrain/expect.h
tests_fptrain_network_text_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_network_text_LDADD = tools/libfptrain.la
tests_fptrain_optimizers_SOURCES = tests/fptrain/optimizers.c tests/fptrain/bench.h tests/fptrain/expect.h
tests_fptrain_optimizers_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_optimizers_LDADD = tools/libfptrain.la
tests_fptrain_muppet_SOURCES = tests/fptrain/muppet.c tests/fptrain/bench.h tests/fptrain/expect.h
tests_fptrain_muppet_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_muppet_LDADD = tools/libfptrain.la
tests_fptrain_packed_SOURCES = tests/fptrain/packed.c tests/fptrain/bench.h tests/fptrain/expect.h
tests_fptrain_packed_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_packed_LDADD = tools/libfptrain.la
tests_fptrain_rounding_SOURCES = tests/fptrain/rounding.c tests/fptrain/expect.h
tests_fptrain_rounding_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_rounding_LDADD = tools/libfptrain.la
tests_fptrain_scalers_SOURCES = tests/fptrain/scalers.c tests/fptrain/expect.h
tests_fptrain_scalers_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_scalers_LDADD = tools/libfptrain.la
tests_fptrain_sharing_SOURCES = tests/fptrain/sharing.c tests/fptrain/expect.h
tests_fptrain_sharing_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_sharing_LDADD = tools/libfptrain.la
tests_fptrain_steps_SOURCES = tests/fptrain/steps.c tests/fptrain/expect.h
tests_fptrain_steps_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_steps_LDADD = tools/libfptrain.la
TRAINER_RUNS = tests/fptrain/assign_runs.sh tests/fptrain/deviations.sh tests/fptrain/kept.sh \
	tests/fptrain/loss_scaling.sh tests/fptrain/methods.sh tests/fptrain/mixed.sh tests/fptrain/occupied.sh tests/fptrain/runs.sh \
	tests/fptrain/weights.sh tests/fptrain/weights_python.sh
dist_noinst_SCRIPTS += $(TRAINER_RUNS)
EXTRA_DIST += tests/fptrain/common.sh tests/fptrain/weights_judge.py

if FPTRAIN
check_PROGRAMS += $(TRAINER_METHODS_TESTS)
TESTS += $(TRAINER_METHODS_TESTS) $(TRAINER_RUNS)
endif
