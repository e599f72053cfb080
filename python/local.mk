# The package `fpemu` for Python. `make wheel` puts its wheel into dist/ of the build folder.
EXTRA_DIST += pyproject.toml setup.py MANIFEST.in python bench/python
PYTHON = python3
wheel:
	CC='$(CC)' $(BASH) $(top_srcdir)/python/wheel.sh $(PYTHON) $(abs_top_srcdir) $(abs_top_builddir)
bench-python:
	CC='$(CC)' $(BASH) $(top_srcdir)/bench/python/run.sh $(PYTHON) $(abs_top_srcdir) $(abs_top_builddir)

# Directories are distributed whole, but for what was built in them.
dist-hook:
	find $(distdir)/python $(distdir)/tests/python '(' -name '*.so' -o -name __pycache__ -o -name '*.egg-info' \
		-o -name '*.log' -o -name '*.trs' -o -name .hypothesis -o -name .pytest_cache -o -name .mypy_cache ')' -prune -exec rm -rf {} +
clean-python:
	rm -rf dist python-src python-quick tests/python/hypothesis
.PHONY: wheel bench-python clean-python
