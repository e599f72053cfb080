/* SPDX-License-Identifier: BSD-2-Clause */
/* depthwise.h - depthwise convolutions, computed directly. */
#ifndef FPTRAIN_BACKENDS_DEPTHWISE_H
#define FPTRAIN_BACKENDS_DEPTHWISE_H

#include "engine/backend.h"

/* n samples, c == groups == k. */
bool depthwise(const conv_shape *s);
size_t depthwise_room(const conv_shape *s); /* floats of scratch memory */
void depthwise_forward(const conv_shape *s, int n, const float *x, const float *w, float *y, float *room);
void depthwise_backward_data(const conv_shape *s, int n, const float *dy, const float *w, float *dx, float *room);
void depthwise_backward_weights(const conv_shape *s, int n, const float *x, const float *dy, float *dw, float *room);

#endif
