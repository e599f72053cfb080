# Programs that measure beside `fpemu bench'; built when asked for.
EXTRA_PROGRAMS += bench/gemm
bench_gemm_LDADD = lib/libfpemu.la $(DL_LIBS)
CLEANFILES += bench/gemm$(EXEEXT)
bench-gemm: bench/gemm$(EXEEXT)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 bench/gemm$(EXEEXT)
