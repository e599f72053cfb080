/* state.h - how parameters, gradients and the state of an optimiser are kept: what optimizer.c asks of it.
 *
 * keeper_fp32.c holds everything as arrays of float, keeper_packed.c as packed bytes of any format with local scales.
 */
#ifndef FPTRAIN_KEEPER_H
#define FPTRAIN_KEEPER_H

#include "optimizer/optimizer.h"

typedef enum method { SGD, MOMENTUM, NESTEROV, ADAM, METHODS } method;

typedef struct keeper keeper;
typedef struct keeper_type {
    void (*free)(keeper *k);
    void (*begin)(keeper *k);
    void (*extent)(const keeper *k, int param, double *largest, bool *not_finite); /* of dw, still multiplied */
    double (*square)(const keeper *k, int param); /* sum of squares of dw, still multiplied */
    void (*step)(keeper *k, double lr, double clip, uint64_t time, update_counts *counts); /* counts: NULL: none */
    const float *(*master)(keeper *k, int param);
    const float *(*gradient)(const keeper *k, int param);
    size_t (*bytes)(const keeper *k);
    size_t (*workspace)(const keeper *k);
    void (*save)(const keeper *k, checkpoint *to);
    bool (*load)(keeper *k, const checkpoint *from, trouble *why);
} keeper_type;

struct keeper {
    store calls; /* first, so that a store is a keeper */
    const keeper_type *type;
    graph *g;
    rounder *r;
    method method;
    optimizer_settings settings;
    bool unrounded; /* fetch gives the weights as they are kept */
};

keeper *keeper_fp32(const optimizer_settings *settings, method m, graph *g, rounder *r);
/* NULL, or false, and a sentence where the formats do not fit. */
keeper *keeper_packed(const optimizer_settings *settings, method m, graph *g, rounder *r, trouble *why);
/* What `bytes` and `workspace` would say of one, without making it. */
bool keeper_packed_memory(const optimizer_settings *settings, method m, graph *g, optimizer_memory *to, trouble *why);

#endif
