# Files, data, settings and reports of the trainer.
TRAINER_FILE_CFLAGS = $(SYSTEM_CPPFLAGS) $(AM_CFLAGS) -I$(top_srcdir)/tools -I$(top_srcdir)/tools/fptrain $(CHECK_CFLAGS) \
	$(FPTRAIN_CFLAGS) $(ZIP_CFLAGS) $(JANSSON_CFLAGS)
TRAINER_FILE_LDADD = tools/libfptrain.la lib/libfpemu.la $(CHECK_LIBS) $(FPTRAIN_LIBS) $(ZIP_LIBS) $(JANSSON_LIBS)
TRAINER_FILE_TESTS = \
	tests/fptrain/checkpoint \
	tests/fptrain/loader \
	tests/fptrain/readers \
	tests/fptrain/record \
	tests/fptrain/settings
tests_fptrain_checkpoint_CFLAGS = $(TRAINER_FILE_CFLAGS)
tests_fptrain_checkpoint_LDADD = $(TRAINER_FILE_LDADD)
tests_fptrain_loader_CFLAGS = $(TRAINER_FILE_CFLAGS)
tests_fptrain_loader_LDADD = $(TRAINER_FILE_LDADD)
tests_fptrain_readers_CFLAGS = $(TRAINER_FILE_CFLAGS)
tests_fptrain_readers_LDADD = $(TRAINER_FILE_LDADD)
tests_fptrain_record_CFLAGS = $(TRAINER_FILE_CFLAGS)
tests_fptrain_record_LDADD = $(TRAINER_FILE_LDADD)
tests_fptrain_settings_CFLAGS = $(TRAINER_FILE_CFLAGS)
tests_fptrain_settings_LDADD = $(TRAINER_FILE_LDADD)
if FPTRAIN
if HAVE_CHECK
check_PROGRAMS += $(TRAINER_FILE_TESTS)
TESTS += $(TRAINER_FILE_TESTS)
endif
endif

# For the scripts: whether two runs have left the same bits.
tests_fptrain_same_checkpoint_CFLAGS = $(TRAINER_FILE_CFLAGS)
tests_fptrain_same_checkpoint_LDADD = tools/libfptrain.la
if FPTRAIN
check_PROGRAMS += tests/fptrain/same_checkpoint
endif
AM_TESTS_ENVIRONMENT += SAME_CHECKPOINT='$(abs_top_builddir)/tests/fptrain/same_checkpoint$(EXEEXT)'; \
	export SAME_CHECKPOINT;

TRAINER_CLI_TESTS = \
	tests/cli/fptrain_arrays.sh \
	tests/cli/fptrain_bounded.sh \
	tests/cli/fptrain_curves.sh \
	tests/cli/fptrain_data.sh \
	tests/cli/fptrain_estimate.sh \
	tests/cli/fptrain_export.sh \
	tests/cli/fptrain_networks.sh \
	tests/cli/fptrain_real.sh \
	tests/cli/fptrain_report.sh \
	tests/cli/fptrain_shipped.sh \
	tests/cli/fptrain_text.sh
EXTRA_DIST += $(TRAINER_CLI_TESTS)
if FPTRAIN
TESTS += $(TRAINER_CLI_TESTS)
endif
AM_TESTS_ENVIRONMENT += FPTRAIN='$(abs_top_builddir)/tools/fptrain/fptrain$(EXEEXT)'; export FPTRAIN;

# Hostile files: the replay of tests/fuzz over the readers of the trainer.
tests_fuzz_replay_trainer_SOURCES = tests/fuzz/replay.c $(FUZZ_ARCHIVE) tests/fuzz/reader.h \
	tests/fuzz/trainer.c
tests_fuzz_replay_trainer_CFLAGS = $(AM_CFLAGS) -I$(top_srcdir)/tools -I$(top_srcdir)/tools/fptrain \
	$(FPTRAIN_CFLAGS) $(ZIP_CFLAGS)
tests_fuzz_replay_trainer_LDADD = tools/libfptrain.la lib/libfpemu.la $(FPTRAIN_LIBS) $(ZIP_LIBS)
if FPTRAIN
check_PROGRAMS += tests/fuzz/replay_trainer
TESTS += tests/fuzz/replay_trainer
endif
