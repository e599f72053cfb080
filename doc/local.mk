dist_man_MANS += doc/man/fpemu.3 doc/man/fpemu-formats.7
dist_doc_DATA += doc/numerics.md doc/blocks.md doc/accumulation.md doc/adding.md doc/release.md doc/architecture.md \
	doc/speed.md \
	doc/python.md doc/tutorial.md doc/deviations.md doc/limits.md doc/hardware.md
EXTRA_DIST += doc/README.md

# Pictures, made by doc/pictures/draw.sh; those of Python by examples/python.
picturesdir = $(docdir)/pictures
dist_pictures_DATA = doc/pictures/architecture.svg doc/pictures/numbers.svg doc/pictures/speed.svg \
	doc/pictures/python-gpt.svg doc/pictures/python-layers.svg
EXTRA_DIST += doc/pictures/draw.sh doc/pictures/architecture.awk doc/pictures/numbers.awk doc/pictures/speed.awk
redraw:
	FPEMU=tools/fpemu/fpemu$(EXEEXT) $(SHELL) $(top_srcdir)/doc/pictures/draw.sh
.PHONY: redraw

# All documents, manuals and the reference of C, CUDA and Python as one folder of HTML that can be searched, site/html in
# the build folder. Needs mandoc; Sphinx comes from the package index into an environment of its own. A broken link fails.
EXTRA_DIST += doc/site
site:
	@command -v mandoc >/dev/null || { echo "make site needs mandoc (Debian: mandoc)"; exit 1; }
	rm -rf site/stage site/html
	test -x site/env/bin/sphinx-build || { $(PYTHON) -m venv site/env && \
	site/env/bin/pip install --quiet --disable-pip-version-check -r $(top_srcdir)/doc/site/requirements.txt; }
	site/env/bin/python $(top_srcdir)/doc/site/pages.py $(top_srcdir) site/stage
	site/env/bin/sphinx-build -W --keep-going -q -b html site/stage site/html
	@echo "The site is site/html/index.html"
.PHONY: site

# What the documents say is so: their links and names, the output of their commands, their pictures.
EXTRA_DIST += tests/docs/links.sh tests/docs/commands.sh tests/docs/licence.sh tests/docs/pictures.sh
TESTS += tests/docs/links.sh tests/docs/licence.sh
if TOOLS
TESTS += tests/docs/commands.sh tests/docs/pictures.sh
endif

# What was run, and what came out.
validationdir = $(docdir)/validation
dist_validation_DATA = doc/validation/README.md doc/validation/exhaustive.txt doc/validation/fast_forms.txt \
	doc/validation/mutants.txt \
	doc/validation/machines.txt doc/validation/functions.txt doc/validation/random.txt \
	doc/validation/gpu.txt doc/validation/values.md
EXTRA_DIST += tests/digests.txt

# Model files: the container of packed tensors, and how the readers were fuzzed.
dist_doc_DATA += doc/container.md doc/files.md
dist_validation_DATA += doc/validation/fuzzing.txt doc/validation/blocks.txt doc/validation/findings.txt \
	doc/validation/packaging.txt doc/validation/sanitized.txt

# Experiments with the trainer, and what they gave.
resultsdir = $(docdir)/results
dist_results_DATA = doc/results/assign-lenet-curves.svg \
	doc/results/assign-lenet-narrow.svg \
	doc/results/assign-lenet.svg \
	doc/results/assign-overflow.svg \
	doc/results/assign-resnet20-curves.svg \
	doc/results/assign-resnet20-narrow.svg \
	doc/results/assign-resnet20.svg \
	doc/results/assignment.md \
	doc/results/lpmm-move.svg \
	doc/results/lpmm-resnet20-loss.svg \
	doc/results/lpmm-resnet20-move.svg \
	doc/results/lpmm-updates.svg \
	doc/results/lpmm.md \
	doc/results/mixed-exponents-lstm-fp8.svg \
	doc/results/mixed-exponents-vgg-fp8.svg \
	doc/results/mixed-lstm-loss.svg \
	doc/results/mixed.md \
	doc/results/muppet-lenet.svg \
	doc/results/muppet-mlp.svg \
	doc/results/muppet-resnet20-switches.svg \
	doc/results/muppet-resnet20.svg \
	doc/results/muppet-switches.svg \
	doc/results/muppet.md \
	doc/results/scaling.md \
	doc/results/units.md

scalingdir = $(resultsdir)/scaling
dist_scaling_DATA = \
	doc/results/scaling/resnet20-fp8-deviation.svg \
	doc/results/scaling/resnet20-fp8-scale.svg \
	doc/results/scaling/resnet20-fp8-underflow.svg \
	doc/results/scaling/resnet20-scale-fp8-adaptive.svg \
	doc/results/scaling/resnet20-underflow-fp8-adaptive.svg \
	doc/results/scaling/resnet20-underflow-fp8-fixed1024.svg \
	doc/results/scaling/resnet20-underflow-fp8-none.svg

# The manual of the trainer goes where the trainer goes.
if FPTRAIN
dist_man_MANS += doc/man/fptrain.1
else
EXTRA_DIST += doc/man/fptrain.1
endif
