# Programs and scripts that exit with 0 (fine, and silent), 1 (a defect) or 77 (cannot be done here). They run in the
# build directory, with the variables below.
TEST_EXTENSIONS = .sh
TIMED = $(BASH) $(top_srcdir)/tests/timed.sh
LOG_COMPILER = $(TIMED)
SH_LOG_COMPILER = $(TIMED) $(BASH)
AM_TESTS_ENVIRONMENT = \
	CC='$(CC)'; CXX='$(CXX)'; NM='$(NM)'; AWK='$(AWK)'; top_srcdir='$(top_srcdir)'; top_builddir='$(top_builddir)'; \
	FPEMU='$(abs_top_builddir)/tools/fpemu/fpemu$(EXEEXT)'; \
	PATH='$(abs_top_builddir)/$(PYTHON_ENV)/bin':$$PATH; \
	CK_DEFAULT_TIMEOUT=0; \
	LSAN_OPTIONS="suppressions=$(abs_top_srcdir)/tests/instruments/leaks.supp:print_suppressions=0:$$LSAN_OPTIONS"; \
	export CC CXX NM AWK top_srcdir top_builddir FPEMU PATH CK_DEFAULT_TIMEOUT LSAN_OPTIONS;

dist_noinst_SCRIPTS += tests/headers/headers.sh tests/headers/exports.sh \
	tests/hdl.sh tests/headers/abi.sh tests/headers/definitions.sh tests/installed.sh tests/packaging.sh \
	tests/paths.sh tests/staged.sh tests/configured.sh tests/quickstart.sh
dist_noinst_DATA += tests/README.md tests/against_judges/README.md tests/judges/README.md tests/mutants/README.md
dist_noinst_DATA += tests/readme_example.awk tests/headers/sizes.awk \
	tests/headers/header_cxx.cpp
dist_noinst_DATA += tests/headers/abi/names.txt tests/headers/abi/x86_64.abi

# After a change of the interface on purpose.
abi-record: lib/libfpemu.la
	CC='$(CC)' NM='$(NM)' top_srcdir='$(top_srcdir)' top_builddir=. $(BASH) $(top_srcdir)/tests/headers/abi.sh record
.PHONY: abi-record

# ------------------------------------------------------------------------------------- which run when
EXTRA_DIST += tests/tiers.mk tests/timed.sh tests/budgets.sh tests/common.h tests/unit/suite.h
-include $(srcdir)/tests/tiers.mk
CLEANFILES += check-*.log quick.log examples/*.log examples/*.t[ri]* tests/*.log tests/*.t[ri]* tests/*/*.log tests/*/*.t[ri]*
budgets:
	@$(BASH) $(top_srcdir)/tests/budgets.sh
.PHONY: budgets

# ------------------------------------------------------------------------------------- the public face
TESTS += tests/headers/headers.sh tests/headers/abi.sh tests/headers/exports.sh tests/headers/definitions.sh \
	tests/headers/sizes \
	tests/readme_example tests/hdl.sh tests/packaging.sh tests/paths.sh tests/staged.sh \
	tests/configured.sh tests/quickstart.sh

# Recipes for distributions. check-debian builds, tests and, as root, installs Debian's: a quarter of an hour.
EXTRA_DIST += packaging/README.md packaging/check.py packaging/conda-forge packaging/debian packaging/oss-fuzz \
	packaging/spack packaging/vcpkg
check-debian: dist
	rm -rf debian-packages && $(MKDIR_P) debian-packages && cd debian-packages && \
	$(BASH) $(abs_top_srcdir)/packaging/debian/build.sh $(abs_top_builddir)/$(distdir).tar.xz $(abs_top_srcdir)/packaging
.PHONY: check-debian

# Two builds of what `make dist' makes, in different folders: minutes.
EXTRA_DIST += tests/reproducible.sh
check-reproducible: dist
	PYTHON='$(PYTHON)' $(BASH) $(top_srcdir)/tests/reproducible.sh $(distdir).tar.xz reproducible.txt
CLEANFILES += reproducible.txt
.PHONY: check-reproducible

check_PROGRAMS += tests/readme_example
nodist_tests_readme_example_SOURCES = tests/readme_example.c
tests_readme_example_LDADD = lib/libfpemu.la
CLEANFILES += tests/readme_example.c
tests/readme_example.c: README.md tests/readme_example.awk
	@$(MKDIR_P) tests
	$(AM_V_GEN)$(AWK) -f $(top_srcdir)/tests/readme_example.awk $(top_srcdir)/README.md >$@.new && mv $@.new $@

check_PROGRAMS += tests/headers/sizes
nodist_tests_headers_sizes_SOURCES = tests/headers/sizes.c
tests_headers_sizes_LDADD = lib/libfpemu.la
CLEANFILES += tests/headers/sizes.c
tests/headers/sizes.c: $(fpemuinclude_HEADERS) tests/headers/sizes.awk
	@$(MKDIR_P) tests/headers
	$(AM_V_GEN)cd $(srcdir) && $(AWK) -f tests/headers/sizes.awk $(fpemuinclude_HEADERS) >$(abs_builddir)/$@.new \
	&& mv $(abs_builddir)/$@.new $(abs_builddir)/$@

installcheck-local: tests/readme_example.c
	CC='$(CC) $(SANITIZER_FLAGS)' PKG_CONFIG='$(PKG_CONFIG)' pkgconfigdir='$(DESTDIR)$(pkgconfigdir)' \
	PKG_CONFIG_SYSROOT_DIR='$(DESTDIR)' PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
	cmakedir='$(DESTDIR)$(cmakedir)' libdir='$(DESTDIR)$(libdir)' version='$(PACKAGE_VERSION)' \
	$(BASH) $(top_srcdir)/tests/installed.sh tests/readme_example.c

# ------------------------------------------------------------------------------------- unit tests, by Check
dist_noinst_DATA += tests/vectors/hash_words.txt tests/vectors/philox4x32_10.txt

UNIT_TESTS = \
	tests/unit/check_arith \
	tests/unit/check_arguments \
	tests/unit/check_block \
	tests/unit/check_blockspec \
	tests/unit/check_format \
	tests/unit/check_pack \
	tests/unit/check_gemm \
	tests/unit/check_overlap \
	tests/unit/check_rng \
	tests/unit/check_scales \
	tests/unit/check_spec \
	tests/unit/check_prepare \
	tests/unit/check_why
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LDADD = lib/libfpemu.la $(CHECK_LIBS)
tests_unit_check_arith_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_arith_LDADD = $(UNIT_LDADD)
tests_unit_check_arguments_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_arguments_LDADD = $(UNIT_LDADD)
tests_unit_check_block_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_block_LDADD = $(UNIT_LDADD)
tests_unit_check_blockspec_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_blockspec_LDADD = $(UNIT_LDADD)
tests_unit_check_format_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_format_LDADD = tests/judges/liblonghand.la $(UNIT_LDADD)
tests_unit_check_pack_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_pack_LDADD = $(UNIT_LDADD)
tests_unit_check_gemm_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_gemm_LDADD = $(UNIT_LDADD)
tests_unit_check_overlap_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_overlap_LDADD = $(UNIT_LDADD) -lm
tests_unit_check_rng_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_rng_LDADD = tests/judges/liblonghand.la $(UNIT_LDADD)
tests_unit_check_scales_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_scales_LDADD = $(UNIT_LDADD)
tests_unit_check_spec_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_spec_LDADD = $(UNIT_LDADD)
tests_unit_check_prepare_CFLAGS = $(UNIT_CFLAGS) $(OPENMP_CFLAGS)
tests_unit_check_prepare_LDADD = $(UNIT_LDADD)
tests_unit_check_why_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_why_LDADD = $(UNIT_LDADD)
if HAVE_CHECK
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif

check_PROGRAMS += tests/unit/threads
TESTS += tests/unit/threads tests/unit/simd.sh
dist_noinst_SCRIPTS += tests/unit/simd.sh
EXTRA_DIST += tests/unit/check_simd.c
tests_unit_threads_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_threads_LDADD = lib/libfpemu.la

# ------------------------------------------------------------------------------------- the judges
# Rules worked by hand need no other library; the rest needs MPFR and GMP.
tests_judges_liblonghand_la_SOURCES = \
	tests/judges/bits.h \
	tests/judges/formats.c \
	tests/judges/formats.h \
	tests/judges/longhand.c \
	tests/judges/longhand.h
tests_judges_libjudges_la_SOURCES = \
	tests/against_judges/blocks_cases.c \
	tests/against_judges/blocks_cases.h \
	tests/against_judges/compare.c \
	tests/against_judges/compare.h \
	tests/against_judges/expected.h \
	tests/against_judges/points.c \
	tests/against_judges/points.h \
	tests/against_judges/sweep.c \
	tests/against_judges/sweep.h \
	tests/judges/blocks.c \
	tests/judges/blocks.h \
	tests/judges/exact.h \
	tests/judges/functions.c \
	tests/judges/functions.h \
	tests/judges/judge.c \
	tests/judges/judge.h \
	tests/judges/mpfr.c \
	tests/judges/slow.c
tests_judges_libjudges_la_CFLAGS = $(AM_CFLAGS) $(MPFR_CFLAGS)
tests_judges_libjudges_la_LIBADD = tests/judges/liblonghand.la lib/libfpemu.la $(MPFR_LIBS)
check_LTLIBRARIES += tests/judges/liblonghand.la
if HAVE_MPFR
check_LTLIBRARIES += tests/judges/libjudges.la
endif

# ------------------------------------------------------------------------------------- against rules worked by hand
LONGHAND_TESTS = \
	tests/against_judges/affine \
	tests/against_judges/blocks_vectors \
	tests/against_judges/carrier_ends \
	tests/against_judges/codebooks \
	tests/against_judges/compat \
	tests/against_judges/counters \
	tests/against_judges/matrix_units \
	tests/against_judges/properties \
	tests/against_judges/quantize \
	tests/against_judges/spans \
	tests/against_judges/stochastic \
	tests/against_judges/tensor_cores \
	tests/against_judges/words
LONGHAND_LDADD = tests/judges/liblonghand.la lib/libfpemu.la
check_PROGRAMS += $(LONGHAND_TESTS)
TESTS += $(LONGHAND_TESTS)
dist_noinst_DATA += tests/vectors/blocks.py tests/vectors/blocks.txt
tests_against_judges_blocks_vectors_LDADD = $(LONGHAND_LDADD)
dist_noinst_DATA += tests/vectors/tensor_cores.txt tests/vectors/tensor_answers.h
tests_against_judges_matrix_units_LDADD = $(LONGHAND_LDADD)
tests_against_judges_tensor_cores_LDADD = $(LONGHAND_LDADD)
tests_against_judges_affine_SOURCES = tests/against_judges/affine.c tests/against_judges/alone.h \
	tests/against_judges/variants.h
tests_against_judges_affine_LDADD = $(LONGHAND_LDADD)
tests_against_judges_codebooks_SOURCES = tests/against_judges/codebooks.c tests/against_judges/alone.h \
	tests/against_judges/variants.h
tests_against_judges_codebooks_LDADD = $(LONGHAND_LDADD)
tests_against_judges_carrier_ends_SOURCES = tests/against_judges/carrier_ends.c tests/against_judges/alone.h
tests_against_judges_carrier_ends_LDADD = $(LONGHAND_LDADD)
tests_against_judges_compat_LDADD = $(LONGHAND_LDADD)
tests_against_judges_counters_LDADD = $(LONGHAND_LDADD)
tests_against_judges_properties_SOURCES = tests/against_judges/properties.c tests/against_judges/alone.h
tests_against_judges_properties_LDADD = $(LONGHAND_LDADD)
tests_against_judges_quantize_LDADD = $(LONGHAND_LDADD)
tests_against_judges_spans_SOURCES = tests/against_judges/spans.c tests/against_judges/alone.h \
	tests/against_judges/variants.h
tests_against_judges_spans_LDADD = $(LONGHAND_LDADD)
tests_against_judges_stochastic_LDADD = $(LONGHAND_LDADD)
tests_against_judges_words_SOURCES = tests/against_judges/words.c tests/against_judges/half_words.h \
	tests/against_judges/variants.h
tests_against_judges_words_LDADD = $(LONGHAND_LDADD)

# ------------------------------------------------------------------------------------- whatever surrounds a call
SURROUNDINGS_TESTS = \
	tests/surroundings/environment \
	tests/surroundings/fork \
	tests/surroundings/memory \
	tests/surroundings/stack
SURROUNDINGS_LDADD = tests/judges/liblonghand.la lib/libfpemu.la
SURROUNDINGS_CALLS = tests/surroundings/calls.c tests/surroundings/calls.h tests/against_judges/variants.h
check_PROGRAMS += $(SURROUNDINGS_TESTS)
TESTS += $(SURROUNDINGS_TESTS) tests/surroundings/locale.sh
EXTRA_DIST += tests/surroundings/README.md tests/surroundings/locale.sh tests/surroundings/openmp.sh
tests/surroundings/locale.log: tests/surroundings/environment$(EXEEXT)
if TOOLS
check_PROGRAMS += tests/surroundings/unload
TESTS += tests/surroundings/unload tests/surroundings/openmp.sh
tests/surroundings/openmp.log: tests/surroundings/fork$(EXEEXT) tests/surroundings/unload$(EXEEXT)
endif
tests_surroundings_unload_CFLAGS = $(STRICT_CFLAGS) $(WARNING_CFLAGS) $(SANITIZER_FLAGS) $(OPTIMISATION)
tests_surroundings_unload_LDADD = $(DL_LIBS)
tests_surroundings_environment_SOURCES = tests/surroundings/environment.c $(SURROUNDINGS_CALLS)
tests_surroundings_environment_LDADD = $(SURROUNDINGS_LDADD)
tests_surroundings_fork_SOURCES = tests/surroundings/fork.c $(SURROUNDINGS_CALLS)
tests_surroundings_fork_LDADD = $(SURROUNDINGS_LDADD) -lpthread
tests_surroundings_memory_SOURCES = tests/surroundings/memory.c $(SURROUNDINGS_CALLS)
tests_surroundings_memory_LDADD = $(SURROUNDINGS_LDADD)
tests_surroundings_stack_SOURCES = tests/surroundings/stack.c $(SURROUNDINGS_CALLS)
tests_surroundings_stack_LDADD = $(SURROUNDINGS_LDADD) -lpthread

# ------------------------------------------------------------------------------------- against numbers of any length
JUDGE_TESTS = \
	tests/against_judges/arith \
	tests/against_judges/arith_scales \
	tests/against_judges/arith_short \
	tests/against_judges/blocks \
	tests/against_judges/blocks_scales \
	tests/against_judges/blocks_stats \
	tests/against_judges/codes \
	tests/against_judges/function_tables \
	tests/against_judges/functions \
	tests/against_judges/gemm \
	tests/against_judges/judges \
	tests/against_judges/kernels \
	tests/against_judges/narrow \
	tests/against_judges/packing \
	tests/against_judges/quantize_neighbours
JUDGE_CFLAGS = $(AM_CFLAGS) $(MPFR_CFLAGS)
JUDGE_LDADD = tests/judges/libjudges.la $(MPFR_LIBS)
tests_against_judges_arith_CFLAGS = $(JUDGE_CFLAGS)
tests_against_judges_arith_LDADD = $(JUDGE_LDADD)
tests_against_judges_arith_short_LDADD = $(JUDGE_LDADD)
tests_against_judges_arith_scales_SOURCES = tests/against_judges/arith_scales.c tests/against_judges/variants.h
tests_against_judges_arith_scales_CFLAGS = $(JUDGE_CFLAGS)
tests_against_judges_arith_scales_LDADD = $(JUDGE_LDADD)
tests_against_judges_blocks_LDADD = $(JUDGE_LDADD)
tests_against_judges_blocks_scales_LDADD = $(JUDGE_LDADD)
tests_against_judges_blocks_stats_LDADD = $(JUDGE_LDADD)
tests_against_judges_codes_LDADD = $(JUDGE_LDADD)
tests_against_judges_function_tables_SOURCES = tests/against_judges/function_tables.c tests/against_judges/half_words.h
tests_against_judges_function_tables_LDADD = $(JUDGE_LDADD)
tests_against_judges_functions_CFLAGS = $(JUDGE_CFLAGS)
tests_against_judges_functions_LDADD = $(JUDGE_LDADD)
tests_against_judges_gemm_SOURCES = tests/against_judges/gemm.c tests/against_judges/variants.h
tests_against_judges_gemm_CFLAGS = $(JUDGE_CFLAGS)
tests_against_judges_gemm_LDADD = $(JUDGE_LDADD)
tests_against_judges_judges_LDADD = $(JUDGE_LDADD)
tests_against_judges_kernels_SOURCES = tests/against_judges/kernels.c tests/against_judges/half_words.h \
	tests/against_judges/variants.h
tests_against_judges_kernels_CFLAGS = $(JUDGE_CFLAGS)
tests_against_judges_kernels_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib
tests_against_judges_kernels_LDADD = $(JUDGE_LDADD)
tests_against_judges_narrow_SOURCES = tests/against_judges/narrow.c tests/against_judges/half_words.h \
	tests/against_judges/variants.h
tests_against_judges_narrow_CFLAGS = $(JUDGE_CFLAGS)
tests_against_judges_narrow_LDADD = $(JUDGE_LDADD)
tests_against_judges_packing_LDADD = $(JUDGE_LDADD)
tests_against_judges_quantize_neighbours_LDADD = $(JUDGE_LDADD)
if HAVE_MPFR
check_PROGRAMS += $(JUDGE_TESTS)
TESTS += $(JUDGE_TESTS)
endif

# Many more random cases and denser grids, some minutes; record in doc/validation/blocks.txt.
# Another part: make check-blocks BLOCK_ROUNDS="--rounds 40 --seed 1000"
BLOCK_ROUNDS = --rounds 40
if HAVE_MPFR
check-blocks: tests/against_judges/blocks$(EXEEXT) tests/against_judges/blocks_stats$(EXEEXT) tests/against_judges/packing$(EXEEXT)
	tests/against_judges/blocks$(EXEEXT) $(BLOCK_ROUNDS)
	tests/against_judges/packing$(EXEEXT) $(BLOCK_ROUNDS)
	tests/against_judges/blocks_stats$(EXEEXT) $(BLOCK_ROUNDS)
else
check-blocks:
	@echo "configure did not find MPFR and GMP, which judge" >&2; exit 1
endif

# ------------------------------------------------------------------------------------- every binary32 input
# All of it takes hours. A part, or more threads: make check-exhaustive EXHAUSTIVE="e4m3fn rne ieee --jobs 4"
EXHAUSTIVE =
EXTRA_PROGRAMS += tests/against_judges/quantize_exhaustive
tests_against_judges_quantize_exhaustive_LDADD = $(JUDGE_LDADD)
CLEANFILES += exhaustive.txt
if HAVE_MPFR
check-exhaustive: tests/against_judges/quantize_exhaustive$(EXEEXT)
	@commit=$(PACKAGE_VERSION); \
	if test -e $(srcdir)/.git; then commit=`git -C $(srcdir) describe --always --dirty`; fi; \
	tests/against_judges/quantize_exhaustive$(EXEEXT) -o exhaustive.txt --commit "$$commit" $(EXHAUSTIVE)
else
check-exhaustive:
	@echo "configure did not find MPFR and GMP, which judge" >&2; exit 1
endif

# Every triple of the named 8-bit formats through fma; of some: make check-triples TRIPLES="e4m3fn e5m2"
TRIPLES =
if HAVE_MPFR
check-triples: tests/against_judges/arith$(EXEEXT)
	tests/against_judges/arith$(EXEEXT) --triples $(TRIPLES)
else
check-triples:
	@echo "configure did not find MPFR and GMP, which judge" >&2; exit 1
endif

# Elementary functions, operand by operand, a record on standard output: minutes; with FUNCTIONS=--float, every binary32
# number, hours. Of some: make check-functions FUNCTIONS="exp log" or FUNCTIONS="--float exp"
FUNCTIONS =
EXTRA_PROGRAMS += tests/against_judges/functions_proof
tests_against_judges_functions_proof_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib
tests_against_judges_functions_proof_CFLAGS = $(JUDGE_CFLAGS)
tests_against_judges_functions_proof_LDADD = $(JUDGE_LDADD)
if HAVE_MPFR
check-functions: tests/against_judges/functions_proof$(EXEEXT)
	tests/against_judges/functions_proof$(EXEEXT) $(FUNCTIONS)
else
check-functions:
	@echo "configure did not find MPFR and GMP, which judge" >&2; exit 1
endif

# ------------------------------------------------------------------------------------- the program
CLI_TESTS = \
	tests/cli/blocks.sh \
	tests/cli/bounded.sh \
	tests/cli/apply.sh \
	tests/cli/coded.sh \
	tests/cli/codes.sh \
	tests/cli/compare.sh \
	tests/cli/completion.sh \
	tests/cli/files.sh \
	tests/cli/foreign.sh \
	tests/cli/frameworks.sh \
	tests/cli/fuzz.sh \
	tests/cli/gemm.sh \
	tests/cli/gguf.sh \
	tests/cli/hardened.sh \
	tests/cli/info.sh \
	tests/cli/layouts.sh \
	tests/cli/losses.sh \
	tests/cli/models.sh \
	tests/cli/npy.sh \
	tests/cli/npz.sh \
	tests/cli/pack.sh \
	tests/cli/plans.sh \
	tests/cli/quantize.sh \
	tests/cli/round.sh \
	tests/cli/safetensors.sh \
	tests/cli/sample.sh \
	tests/cli/shown.sh \
	tests/cli/usage.sh \
	tests/cli/vectors.sh
EXTRA_DIST += $(CLI_TESTS) tests/cli/README.md tests/cli/common.sh tests/cli/dots_judge.py tests/cli/fuzz_casts.c \
	tests/cli/fuzz_operations.c tests/cli/gguf_judge.py tests/cli/layouts_judge.py \
	tests/cli/models.py tests/cli/plans.py tests/cli/vectors_judge.c
if TOOLS
check_PROGRAMS += tests/cli/allocation tests/cli/atomic_file
TESTS += $(CLI_TESTS) tests/cli/allocation tests/cli/atomic_file
endif
tests_cli_atomic_file_SOURCES = tests/cli/atomic_file.c
tests_cli_atomic_file_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tools
tests_cli_atomic_file_LDADD = tools/libcommon.la $(JANSSON_LIBS) $(ZIP_LIBS)
tests_cli_allocation_SOURCES = tests/cli/allocation.c tools/fpemu/plans/allocation.c tools/fpemu/cli/error.c \
	tools/fpemu/cli/progress.c
tests_cli_allocation_CPPFLAGS = $(tools_fpemu_fpemu_CPPFLAGS)
tests_cli_allocation_LDADD = tools/libcommon.la lib/libfpemu.la $(JANSSON_LIBS)

# ------------------------------------------------------------------------------------- files from strangers
EXTRA_DIST += tests/fuzz/README.md tests/fuzz/build.sh tests/fuzz/corpus tests/fuzz/run.sh \
	tests/fuzz/words.dict
FUZZ_ARCHIVE = tests/fuzz/archive.c tests/fuzz/archive.h
tests_fuzz_replay_SOURCES = tests/fuzz/replay.c $(FUZZ_ARCHIVE) tests/fuzz/input.c tests/fuzz/input.h tests/fuzz/reader.c tests/fuzz/reader.h
tests_fuzz_replay_CPPFLAGS = $(tools_fpemu_fpemu_CPPFLAGS)
tests_fuzz_replay_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZIP_CFLAGS)
tests_fuzz_replay_LDADD = tools/libmodel.la tools/libcommon.la lib/libfpemu.la $(JANSSON_LIBS) $(ZIP_LIBS)
tests_fuzz_replay_commands_SOURCES = tests/fuzz/replay.c $(FUZZ_ARCHIVE) tests/fuzz/command.c tests/fuzz/input.c \
	tests/fuzz/input.h tests/fuzz/reader.h
tests_fuzz_replay_commands_CPPFLAGS = $(tests_fuzz_replay_CPPFLAGS)
tests_fuzz_replay_commands_CFLAGS = $(tests_fuzz_replay_CFLAGS)
tests_fuzz_replay_commands_LDADD = $(tests_fuzz_replay_LDADD)
if TOOLS
check_PROGRAMS += tests/fuzz/replay tests/fuzz/replay_commands
TESTS += tests/fuzz/replay tests/fuzz/replay_commands
endif

# The calls of the library: api.sh says what has to hold.
EXTRA_DIST += tests/fuzz/api.sh
tests_fuzz_api_SOURCES = tests/fuzz/api.c tests/fuzz/api.h tests/fuzz/api_numbers.c tests/fuzz/api_packing.c \
	tests/fuzz/api_products.c tests/fuzz/api_scaled.c tests/fuzz/api_tensors.c $(FUZZ_ARCHIVE)
tests_fuzz_api_LDADD = lib/libfpemu.la
check_PROGRAMS += tests/fuzz/api
TESTS += tests/fuzz/api.sh
tests/fuzz/api.log: tests/fuzz/api$(EXEEXT)

# With libFuzzer and sanitizers, by clang: make check-fuzz FUZZ_SECONDS=3600 FUZZ="npz safetensors"
FUZZ_SECONDS = 60
FUZZ =
check-fuzz:
	$(BASH) $(top_srcdir)/tests/fuzz/run.sh fuzz $(FUZZ_SECONDS) $(FUZZ)
# ------------------------------------------------------------------------------------- random words
# By dieharder, half an hour, and TestU01 where it is installed: make check-random TESTU01=PREFIX
EXTRA_PROGRAMS += tests/random/stream
tests_random_stream_LDADD = lib/libfpemu.la
EXTRA_DIST += tests/random/run.sh tests/random/crush.c
CLEANFILES += random.txt
TESTU01 = /usr
check-random: tests/random/stream$(EXEEXT)
	CC='$(CC)' TESTU01='$(TESTU01)' $(SHELL) $(top_srcdir)/tests/random/run.sh tests/random/stream$(EXEEXT) random.txt

# ------------------------------------------------------------------------------------- each defect is noticed
EXTRA_DIST += tests/mutants/run.sh tests/mutants/mutants.txt tests/mutants/sample.py
# Others than those of mutants.txt and 150 drawn ones: make check-mutants MUTANTS="NAME..."; drawn ones alone:
# make check-mutants MUTANTS=drawn DRAWN=20 SEED=2
MUTANTS =
DRAWN = 150
SEED = 1
check-mutants: mutants-env/bin/mutate
	CC='$(CC)' TRAINER_LIBS='$(FPTRAIN_LIBS) $(CBLAS_LIBS) $(ZIP_LIBS) $(JANSSON_LIBS)' QUICK='$(QUICK_TESTS)' \
	DRAWN='$(DRAWN)' SEED='$(SEED)' PYTHON='$(abs_builddir)/mutants-env/bin/python' \
	$(SHELL) $(top_srcdir)/tests/mutants/run.sh $(MUTANTS)
mutants-env/bin/mutate:
	$(PYTHON) -m venv mutants-env
	mutants-env/bin/python -m pip --disable-pip-version-check install --quiet --no-deps universalmutator==1.14.1

# ------------------------------------------------------------------------------------- other processors
dist_noinst_SCRIPTS += tests/cross.sh
# Others than the default: make check-cross HOSTS="aarch64-linux-gnu"
HOSTS =
check-cross:
	$(BASH) $(top_srcdir)/tests/cross.sh $(HOSTS)

# ------------------------------------------------------------------------------------- the trainer's networks
EXTRA_DIST += tests/vectors/fptrain.py tests/vectors/fptrain.txt tests/vectors/updates.py tests/vectors/updates.txt
FPTRAIN_HARNESS = tests/fptrain/harness.c tests/fptrain/harness.h
FPTRAIN_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools -I$(top_srcdir)/tools/fptrain
FPTRAIN_LDADD = tools/libfptrain.la lib/libfpemu.la
FPTRAIN_TESTS = \
	tests/fptrain/networks \
	tests/fptrain/passes \
	tests/fptrain/rounded \
	tests/fptrain/updates
tests_fptrain_passes_SOURCES = tests/fptrain/passes.c $(FPTRAIN_HARNESS)
tests_fptrain_passes_CPPFLAGS = $(FPTRAIN_CPPFLAGS)
tests_fptrain_passes_LDADD = $(FPTRAIN_LDADD)
tests_fptrain_rounded_SOURCES = tests/fptrain/rounded.c $(FPTRAIN_HARNESS)
tests_fptrain_rounded_CPPFLAGS = $(FPTRAIN_CPPFLAGS)
tests_fptrain_rounded_LDADD = $(FPTRAIN_LDADD)
tests_fptrain_updates_SOURCES = tests/fptrain/updates.c $(FPTRAIN_HARNESS)
tests_fptrain_updates_CPPFLAGS = $(FPTRAIN_CPPFLAGS)
tests_fptrain_updates_LDADD = $(FPTRAIN_LDADD)
tests_fptrain_networks_SOURCES = tests/fptrain/networks.c $(FPTRAIN_HARNESS)
tests_fptrain_networks_CPPFLAGS = $(FPTRAIN_CPPFLAGS)
tests_fptrain_networks_LDADD = $(FPTRAIN_LDADD)
if FPTRAIN
check_PROGRAMS += $(FPTRAIN_TESTS)
TESTS += $(FPTRAIN_TESTS)
endif
