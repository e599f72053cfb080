# Precision assignment: against numbers worked out by hand, and the programs around it.
TRAINER_ASSIGN_TESTS = \
	tests/fptrain/assign \
	tests/fptrain/assign_knapsack
tests_fptrain_assign_SOURCES = tests/fptrain/assign.c tests/fptrain/expect.h
tests_fptrain_assign_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_assign_LDADD = tools/libfptrain.la
tests_fptrain_assign_knapsack_SOURCES = tests/fptrain/assign_knapsack.c tests/fptrain/expect.h
tests_fptrain_assign_knapsack_CFLAGS = $(TRAINER_CFLAGS)
tests_fptrain_assign_knapsack_LDADD = tools/libfptrain.la
dist_noinst_SCRIPTS += tests/fptrain/assign_runs.sh
if FPTRAIN
check_PROGRAMS += $(TRAINER_ASSIGN_TESTS)
TESTS += $(TRAINER_ASSIGN_TESTS) tests/fptrain/assign_runs.sh
endif
