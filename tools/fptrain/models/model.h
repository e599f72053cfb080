/* SPDX-License-Identifier: BSD-2-Clause */
/* model.h - networks by name. */
#ifndef FPTRAIN_MODELS_MODEL_H
#define FPTRAIN_MODELS_MODEL_H

#include "engine/graph.h"
#include "models/model_settings.h"

/* A graph without graph_finish; NULL and a sentence where the name or the sizes do not fit. */
graph *model_new(const model_settings *settings, uint64_t seed, trouble *why);
const char *model_name(int i);  /* i = 0, 1, ...; NULL past the end */
const char *model_about(int i); /* one line */

#endif
