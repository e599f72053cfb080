# The trainer sees libfpemu through include/ alone. All but main.c is a library, so that the tests can link it.
trainer_engine = \
	tools/fptrain/backend.c \
	tools/fptrain/backend.h \
	tools/fptrain/backend_blas.c \
	tools/fptrain/backend_depthwise.c \
	tools/fptrain/backend_emulated.c \
	tools/fptrain/backend_lowered.c \
	tools/fptrain/backend_onednn.c \
	tools/fptrain/backend_parts.h \
	tools/fptrain/base.c \
	tools/fptrain/base.h \
	tools/fptrain/graph.c \
	tools/fptrain/graph.h \
	tools/fptrain/graph_passes.c \
	tools/fptrain/op.h \
	tools/fptrain/op_activation.c \
	tools/fptrain/op_attention.c \
	tools/fptrain/op_conv.c \
	tools/fptrain/op_dropout.c \
	tools/fptrain/op_embedding.c \
	tools/fptrain/op_join.c \
	tools/fptrain/op_linear.c \
	tools/fptrain/op_loss.c \
	tools/fptrain/op_lstm.c \
	tools/fptrain/op_norm.c \
	tools/fptrain/op_pool.c
trainer_files = \
	tools/fptrain/checkpoint.h \
	tools/fptrain/dataset.h
trainer_methods = \
	tools/fptrain/model.h \
	tools/fptrain/optimizer.h \
	tools/fptrain/policy.h \
	tools/fptrain/rounder.h \
	tools/fptrain/scaler.h

if FPTRAIN
noinst_LTLIBRARIES += tools/libfptrain.la
endif
tools_libfptrain_la_SOURCES = $(trainer_engine) $(trainer_files) $(trainer_methods)
tools_libfptrain_la_CFLAGS = $(AM_CFLAGS) $(FPTRAIN_CFLAGS) $(CBLAS_CFLAGS) $(ZIP_CFLAGS) $(JANSSON_CFLAGS)
tools_libfptrain_la_LIBADD = lib/libfpemu.la $(FPTRAIN_LIBS) $(CBLAS_LIBS) $(ZIP_LIBS) $(JANSSON_LIBS)
