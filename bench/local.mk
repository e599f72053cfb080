# libfpemu beside its peers, which come from a package registry into a throw-away environment, or lie in folders that
# variables name; bench/peers/run.sh says more. Once more, in an environment that stays: make bench-peers
# PEERS_ENVIRONMENT=DIRECTORY
EXTRA_DIST += bench/peers/run.sh bench/peers/peers.py bench/peers/RESULTS.md bench/peers/softposit.c \
	bench/peers/universal.cpp bench/peers/cpfloat.c
PEERS_ENVIRONMENT =
bench-peers: lib/libfpemu.la
	$(SHELL) $(top_srcdir)/bench/peers/run.sh lib/.libs/libfpemu.so $(PEERS_ENVIRONMENT)

# Programs that measure beside `fpemu bench'; built when asked for.
EXTRA_PROGRAMS += bench/gemm
bench_gemm_LDADD = lib/libfpemu.la $(DL_LIBS)
CLEANFILES += bench/gemm$(EXEEXT)
bench-gemm: bench/gemm$(EXEEXT)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 bench/gemm$(EXEEXT)

EXTRA_PROGRAMS += bench/calls
bench_calls_LDADD = lib/libfpemu.la
CLEANFILES += bench/calls$(EXEEXT)
bench-calls: bench/calls$(EXEEXT)
	OMP_NUM_THREADS=1 bench/calls$(EXEEXT)

if FPTRAIN
EXTRA_PROGRAMS += bench/fptrain
endif
bench_fptrain_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools -I$(top_srcdir)/tools/fptrain
bench_fptrain_LDADD = tools/libfptrain.la lib/libfpemu.la
CLEANFILES += bench/fptrain$(EXEEXT)
EXTRA_DIST += bench/python/fptrain_peer.py bench/python/fptrain_steps.py
BENCH =
bench-fptrain: bench/fptrain$(EXEEXT)
	$(PYTHON) $(top_srcdir)/bench/python/fptrain_steps.py bench/fptrain$(EXEEXT) $(BENCH)
