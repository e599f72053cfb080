/* adaptive.h - adaptive scaling, layer by layer: the part of a scaler that a backward pass asks. */
#ifndef FPTRAIN_SCALER_LAYERS_H
#define FPTRAIN_SCALER_LAYERS_H

#include "numerics/scaler.h"

typedef struct layers layers;

layers *layers_new(const scaler_settings *settings, graph *g, rounder *r);
void layers_free(layers *l);
layer_scaling *layers_calls(layers *l);
double layers_beta(const layers *l, int op);
void layers_update(layers *l, bool bad);
size_t layers_size(const layers *l);
void layers_save(const layers *l, unsigned char *bytes);
void layers_load(layers *l, const unsigned char *bytes);

/* y in (-1, 1): the x with erf(x) = y. */
double erf_inverse(double y);
/* The one multiplier for contributions of max |delta| largest[i], multiplied by alpha[i]. */
double layers_meet(int count, const double *alpha, const double *largest, double max_finite);

#endif
