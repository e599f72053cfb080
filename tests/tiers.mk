# Which tests run when. GNU make reads this after all lists of tests; automake passes it over, and has written a rule for
# every test. One that no list here names belongs to `make check'. Nothing fails for its time.
EVERY_TEST := $(TESTS)

# At most a minute on two cores, without network, Python and MPFR: each rule of lib/core once, the command in short.
QUICK_TESTS := $(filter \
	tests/against_judges/blocks_vectors \
	tests/against_judges/carrier_ends \
	tests/against_judges/compat \
	tests/against_judges/counters \
	tests/against_judges/quantize \
	tests/against_judges/stochastic \
	tests/against_judges/tensor_cores \
	tests/cli/apply.sh \
	tests/cli/compare.sh \
	tests/cli/quantize.sh \
	tests/cli/round.sh \
	tests/gpu/%_simulated \
	tests/unit/%, $(EVERY_TEST))

# The parts of `make check-full' beside `make check', each `make check-PART'; check-torch and check-jax are one test,
# which check-torch-device repeats.
variants_TESTS = $(addprefix tests/against_judges/,affine arith codebooks codes properties spans words)
frameworks_TESTS = tests/cli/frameworks.sh tests/cli/fptrain_export.sh tests/cli/gguf.sh \
	tests/cli/layouts.sh tests/cli/models.sh tests/fptrain/weights_python.sh
trainer_TESTS = $(addsuffix .sh,$(addprefix tests/fptrain/,kept loss_scaling methods runs))
corpora_TESTS = tests/fuzz/%
surroundings_TESTS = tests/surroundings/%
packaging_TESTS = tests/hdl.sh tests/packaging.sh tests/paths.sh tests/staged.sh
FULL_TESTS = tests/python/full.sh $(variants_TESTS) $(frameworks_TESTS) $(trainer_TESTS) $(corpora_TESTS) \
	$(surroundings_TESTS) $(packaging_TESTS)
ifeq ($(origin TESTS),file)
TESTS := $(filter-out $(FULL_TESTS),$(EVERY_TEST))
endif

# Tests that judge by packages for Python find them in these environments, where they can be made.
FRAMEWORK_LOGS = $(addsuffix .log,$(basename $(frameworks_TESTS)))
tests/cli/fptrain_arrays.log tests/cli/npz.log tests/python/run.log: | python-environment
$(FRAMEWORK_LOGS) tests/python/full.log: | python-full
tests/python/full.log: | gpu/libplayed.la
$(FRAMEWORK_LOGS) tests/hdl.log: PYTHON_ENV = python-full
# The wheel of the quick Python test holds these.
LIBRARIES = lib/libfpemu.la $(KERNELS)
tests/python/run.log: export LIBRARY_OBJECTS = $(foreach l,$(LIBRARIES),$($(subst /,_,$(subst .,_,$(l)))_OBJECTS))

# The ten slowest stand in every summary, also where tests fail: automake has the shell echo this behind the title.
AM_TESTSUITE_SUMMARY_HEADER = ' for $(PACKAGE_STRING)'; \
	for test in $$bases; do cat "$$test.time"; done 2>/dev/null | LC_ALL=C sort -rn | \
	$(AWK) 'NR == 1 { print "The slowest, seconds:" } NR <= 10 { printf "%8.1f  %s\n", $$1, $$4 }'; printf %s
RUN_TESTS = status=$${status-0}; \
	test -n "$$tests" || echo "$@: nothing to run; configured without what these tests need"; \
	test -z "$$tests" || $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$tests" TEST_SUITE_LOG=$@.log $(1) || status=1; \
	exit $$status

quick: all
	+@tests='$(QUICK_TESTS)'; $(call RUN_TESTS,check_PROGRAMS= check_SCRIPTS=)
check-variants check-frameworks check-trainer check-corpora check-surroundings check-packaging: all
	+@tests='$(filter $($(@:check-%=%)_TESTS),$(EVERY_TEST))'; $(RUN_TESTS)
check-torch check-torch-device check-jax: all
	+@tests='$(filter tests/python/full.sh,$(EVERY_TEST))'; $(RUN_TESTS)
# They share an environment and the log of the test.
check-torch-device: | $(filter check-torch,$(MAKECMDGOALS))
check-jax: | $(filter check-torch%,$(MAKECMDGOALS))
check-torch: export PYTHON_TESTS = test_[!j]*.py
check-torch-device: export PYTHON_TESTS = test_torch_*.py
check-torch-device: export FPEMU_CUDA_PLAYED = 1
check-jax: export PYTHON_TESTS = test_jax.py

# All; with AFTER=check what that has not run. totals: of the last check and check-full, one line.
check-full: all
	+@test '$(AFTER)' = check || $(MAKE) $(AM_MAKEFLAGS) check || status=1; \
	tests='$(filter $(FULL_TESTS),$(EVERY_TEST))'; $(RUN_TESTS)
totals:
	@cat test-suite.log check-full.log | $(AWK) '/^# (PASS|XFAIL): / { passed += $$3 } \
		/^# (FAIL|XPASS|ERROR): / { failed += $$3 } /^# SKIP: / { skipped += $$3 } \
		END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
.PHONY: quick totals check-full check-variants check-torch check-torch-device check-jax check-frameworks \
	check-trainer check-corpora check-surroundings check-packaging
