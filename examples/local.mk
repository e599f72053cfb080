# Compiled and run by `make check', so that they stay true.
EXAMPLES = examples/round_array examples/stochastic examples/counters examples/packed_state \
	examples/scaled_blocks
check_PROGRAMS += $(EXAMPLES)
TESTS += $(EXAMPLES)

examples_round_array_LDADD = lib/libfpemu.la
examples_stochastic_LDADD = lib/libfpemu.la
examples_counters_LDADD = lib/libfpemu.la
examples_packed_state_LDADD = lib/libfpemu.la
examples_scaled_blocks_LDADD = lib/libfpemu.la

# Run by tests/python/test_documents.py.
EXTRA_DIST += examples/python/README.md examples/python/cast.py examples/python/fp4.ipynb examples/python/gpt.py \
	examples/python/layers.py

# Run by tests/cli/fptrain_arrays.sh and fptrain_export.sh.
EXTRA_DIST += examples/fptrain/events.py examples/fptrain/spirals.py
