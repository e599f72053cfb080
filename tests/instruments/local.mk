# Instruments that watch what the tests do, and that read the source. Builds of their own lie below the build folder.
INSTRUMENTS = tests/instruments/analyzed.sh tests/instruments/sanitized.sh tests/instruments/threads.sh \
	tests/instruments/valgrind.sh
EXTRA_DIST += $(INSTRUMENTS) .clang-tidy tests/instruments/.clang-tidy tools/common/.clang-tidy \
	tools/fpemu/files/.clang-tidy lib/format/.clang-tidy tools/fptrain/data/.clang-tidy \
	tests/instruments/README.md tests/instruments/common.sh \
	tests/instruments/cppcheck.cfg tests/instruments/cppcheck.supp tests/instruments/leaks.supp \
	tests/instruments/left_out.txt tests/instruments/planted.c \
	tests/instruments/threads.supp tests/instruments/valgrind.supp

# Of some compilers: make check-sanitized SANITIZED=clang-19
SANITIZED =
check-sanitized:
	MAKE='$(MAKE)' $(BASH) $(top_srcdir)/tests/instruments/sanitized.sh sanitized $(SANITIZED)

check-threads:
	MAKE='$(MAKE)' $(BASH) $(top_srcdir)/tests/instruments/threads.sh threads

check-valgrind: all
	$(MAKE) check TESTS=
	MAKE='$(MAKE)' $(BASH) $(top_srcdir)/tests/instruments/valgrind.sh valgrind

# Some alone: make check-analyzed ANALYZERS="cppcheck gcc"
ANALYZERS =
check-analyzed: all
	MAKE='$(MAKE)' CC='$(CC)' $(BASH) $(top_srcdir)/tests/instruments/analyzed.sh analyzed $(ANALYZERS)

.PHONY: check-sanitized check-threads check-valgrind check-analyzed

clean-instruments:
	rm -rf sanitized threads valgrind analyzed
.PHONY: clean-instruments
