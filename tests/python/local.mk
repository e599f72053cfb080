# The package `fpemu` for Python, built and tested by run.sh; --without-python leaves it out.
if PYTHON_TESTS
TESTS += tests/python/run.sh
endif
EXTRA_DIST += tests/python
