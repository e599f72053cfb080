dist_man_MANS += doc/man/fpemu.3 doc/man/fpemu-formats.7
dist_doc_DATA += doc/numerics.md doc/blocks.md doc/accumulation.md doc/adding.md

# What was run, and what came out.
validationdir = $(docdir)/validation
dist_validation_DATA = doc/validation/README.md doc/validation/exhaustive.txt doc/validation/mutants.txt \
	doc/validation/machines.txt doc/validation/functions.txt doc/validation/random.txt doc/validation/triples.txt
EXTRA_DIST += tests/digests.txt

# Model files: the container of packed tensors, and how the readers were fuzzed.
dist_doc_DATA += doc/container.md
dist_validation_DATA += doc/validation/fuzzing.txt doc/validation/blocks.txt

# Experiments with the trainer, and what they gave.
resultsdir = $(docdir)/results
dist_results_DATA = doc/results/assignment.md doc/results/assign-lenet.svg doc/results/assign-lenet-narrow.svg \
	doc/results/assign-resnet20.svg doc/results/lpmm.md doc/results/lpmm-move.svg doc/results/lpmm-updates.svg \
	doc/results/muppet.md doc/results/muppet-mlp.svg doc/results/muppet-switches.svg doc/results/scaling.md

# The manual of the trainer goes where the trainer goes.
if FPTRAIN
dist_man_MANS += doc/man/fptrain.1
else
EXTRA_DIST += doc/man/fptrain.1
endif
