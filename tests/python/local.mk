# The package `fpemu` for Python, built and tested by run.sh; --without-python leaves it out. Tests of the programs find
# their judges, as gguf and safetensors, in the same environment, where it can be made.
if PYTHON_TESTS
TESTS += tests/python/run.sh
python-environment:
	-@top_srcdir='$(top_srcdir)' top_builddir='$(top_builddir)' $(BASH) $(top_srcdir)/tests/python/environment.sh
tests/python/run.log tests/cli/fptrain_export.log tests/cli/frameworks.log tests/cli/gguf.log tests/cli/layouts.log \
tests/cli/models.log tests/cli/npz.log tests/fptrain/weights_python.log: | python-environment
endif
EXTRA_DIST += tests/python
.PHONY: python-environment
