# One style for all sources, by tools of fixed versions: .clang-format, .shellcheckrc and pyproject.toml
# say which. `make check` skips the test where the tools are not installed; `make check-format` installs them.
EXTRA_DIST += .shellcheckrc include/.clang-format lib/.clang-format gpu/.clang-format tests/style
TESTS += tests/style/style.sh
style-env:
	@test -x style-env/bin/shellcheck || { $(PYTHON) -m venv style-env && \
	style-env/bin/pip install --quiet --disable-pip-version-check -r $(top_srcdir)/tests/style/requirements.txt; }
format: style-env
	top_srcdir='$(top_srcdir)' top_builddir=. $(BASH) $(top_srcdir)/tests/style/style.sh write
check-format: style-env
	top_srcdir='$(top_srcdir)' top_builddir=. $(BASH) $(top_srcdir)/tests/style/style.sh
.PHONY: style-env format check-format
