# libfpemu beside its peers, which come from a package registry into a throw-away environment; bench/peers/run.sh says
# what is installed. Measured once more, in an environment that stays: make bench-peers PEERS_ENVIRONMENT=DIRECTORY
EXTRA_DIST += bench/peers/run.sh bench/peers/peers.py bench/peers/RESULTS.md
PEERS_ENVIRONMENT =
bench-peers: lib/libfpemu.la
	$(SHELL) $(top_srcdir)/bench/peers/run.sh lib/.libs/libfpemu.so $(PEERS_ENVIRONMENT)

# Programs that measure beside `fpemu bench'; built when asked for.
EXTRA_PROGRAMS += bench/gemm
bench_gemm_LDADD = lib/libfpemu.la $(DL_LIBS)
CLEANFILES += bench/gemm$(EXEEXT)
bench-gemm: bench/gemm$(EXEEXT)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 bench/gemm$(EXEEXT)
