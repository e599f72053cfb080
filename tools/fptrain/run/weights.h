/* SPDX-License-Identifier: BSD-2-Clause */
/* weights.h - parameters and running statistics alone: out of checkpoints and files of others, and into a network.
 *
 * In PyTorch's words a normalisation's `scale`, `shift`, `mean` and `variance` are `weight`, `bias`, `running_mean` and
 * `running_var`, an LSTM's `weight`, `recurrent` and `bias` `weight_ih_l0`, `weight_hh_l0` and `bias_ih_l0`, beside
 * which `bias_hh_l0` is zero; the layouts are the same.
 */
#ifndef FPTRAIN_RUN_WEIGHTS_H
#define FPTRAIN_RUN_WEIGHTS_H

#include "run/trainer.h"

/* The checkpoint of a file, or of a run by its directory; of others any .safetensors file. NULL and a sentence on
 * failure. */
checkpoint *weights_open(const char *path, bool *whole, trouble *why);
/* Its weights: of a checkpoint (whole) without the state of the run, packed ones unpacked; F16, BF16 and 8-bit floats
 * widened exactly to F32. What has another type stays as it is. */
checkpoint *weights_of(const checkpoint *c, bool whole, trouble *why);

/* Writes weights with the names of PyTorch's modules, or with ours. */
bool weights_export(const checkpoint *weights, const char *path, bool torch, trouble *why);

/* The weights of a network that has not taken a step, by our names or PyTorch's. Refused, with
 * their names: tensors that the network has not, parameters and statistics that are missing or come twice, other shapes
 * and types. partial: patterns of names of the network, with commas between, of which what is missing or has another
 * shape keeps its start; NULL: there have to be all of them. */
bool weights_load(trainer *t, const checkpoint *weights, const char *partial, trouble *why);
/* Whether weights_load would take them, in no more memory than they have; the network need not be finished. */
bool weights_fit(graph *g, const checkpoint *weights, const char *partial, trouble *why);
/* The weights that the settings [init] say; without them nothing. */
bool weights_start(trainer *t, trouble *why);

#endif
