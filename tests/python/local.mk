# The package `fpemu` for Python, built and tested by run.sh; --without-python leaves it out. Tests of the programs find
# their judges, as gguf and safetensors, in the same environments, where they can be made.
PYTHON_ENV = python-env
if PYTHON_TESTS
TESTS += tests/python/run.sh tests/python/full.sh
ENVIRONMENT = top_srcdir='$(top_srcdir)' top_builddir='$(top_builddir)' $(BASH) $(top_srcdir)/tests/python/environment.sh
else
ENVIRONMENT = :
endif
python-environment:
	-@$(ENVIRONMENT)
python-full:
	-@$(ENVIRONMENT) full
EXTRA_DIST += tests/python
.PHONY: python-environment python-full
