/* parts.h - what the backends share. Only backend*.c see it. */
#ifndef FPTRAIN_BACKEND_PARTS_H
#define FPTRAIN_BACKEND_PARTS_H

#include "engine/backend.h"

/* One maker for each; NULL and a sentence where it cannot be. model: what follows "emulated:". */
backend *backend_blas(trouble *why);
backend *backend_onednn(trouble *why);
backend *backend_emulated(const char *model, trouble *why);
backend *backend_exact(const char *option, trouble *why); /* "" or "saturate" */

/* Things that threads borrow from a list: a thread that finds it empty makes one. */
typedef struct pool {
    void **free;
    int count, room;
} pool;

void *pool_take(pool *p); /* NULL where none is free */
void pool_give(pool *p, void *thing);
void pool_clear(pool *p, void (*clear)(void *)); /* all have been given back */

/* Convolutions as products of matrices by the backend's own gemm: fills in the four functions. */
void backend_lower(backend *b);

/* Depthwise convolutions, direct; n samples, c == groups == k. */
bool depthwise(const conv_shape *s);
size_t depthwise_room(const conv_shape *s); /* floats of scratch memory */
void depthwise_forward(const conv_shape *s, int n, const float *x, const float *w, float *y, float *room);
void depthwise_backward_data(const conv_shape *s, int n, const float *dy, const float *w, float *dx, float *room);
void depthwise_backward_weights(const conv_shape *s, int n, const float *x, const float *dy, float *dw, float *room);

#endif
