/* SPDX-License-Identifier: BSD-2-Clause */
/* time.h - how long the steps of a training take on hardware with narrow products: the three products of every
 * operator of the kind `gemm`, by a table of throughputs, and what rounding moves through memory.
 *
 * The table is a JSON file:
 *
 *     {"name": "...", "bandwidth": 616,
 *      "rows": [{"m": 64, "n": 4096, "k": 576, "fp32": 6700, "fp16": 26900, "int8": 107600}]}
 *
 * bandwidth in GB/s, throughput in 10^9 multiply-adds a second; m x k by k x n. A product takes the row whose shape is
 * nearest (sum of squares of log ratios). One row without m, n and k is a machine of one speed.
 */
#ifndef FPTRAIN_ESTIMATE_TIME_H
#define FPTRAIN_ESTIMATE_TIME_H

#include "engine/graph.h"

enum { UNIT_FP32, UNIT_FP16, UNIT_INT8, UNITS };

typedef struct hardware_row {
    double m, n, k; /* 0: any */
    double speed[UNITS];
} hardware_row;
typedef struct hardware {
    char name[96];
    double bandwidth;
    int count;
    hardware_row *rows;
} hardware;

bool hardware_read(hardware *h, const char *path, trouble *why);
/* What such a file has; its path is for messages. */
bool hardware_parse(hardware *h, const void *bytes, size_t length, const char *path, trouble *why);
void hardware_free(hardware *h);

typedef struct step_time {
    double products[UNITS]; /* seconds of a step on each unit */
    double rounding;        /* seconds of reading and writing every tensor once in FP32: to narrow words and back */
    double macs;            /* multiply-adds of a step */
    double elements;        /* of all tensors that are rounded */
} step_time;
step_time estimate_step(graph *g, const hardware *h, int batch);

/* The unit that computes with `bits` (0: FP32): up to 8 INT8, up to 16 FP16. */
int estimate_unit(int bits);
const char *estimate_unit_name(int unit);

#endif
