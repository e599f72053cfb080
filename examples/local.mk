# Compiled and run by `make check', so that they stay true.
EXAMPLES = examples/round_array examples/stochastic examples/counters
check_PROGRAMS += $(EXAMPLES)
TESTS += $(EXAMPLES)

examples_round_array_LDADD = lib/libfpemu.la
examples_stochastic_LDADD = lib/libfpemu.la
examples_counters_LDADD = lib/libfpemu.la
