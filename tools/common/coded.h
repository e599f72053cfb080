/* SPDX-License-Identifier: BSD-2-Clause */
/* coded.h - finds tensors of codes whose scales lie in another tensor, by types and names, such as "X.weight" and
 * "X.weight_scale_inv", or "X.qweight" and "X.scales". */
#ifndef COMMON_CODED_H
#define COMMON_CODED_H

#include <stddef.h>

typedef struct coded_tensor {
    const char *name, *type; /* the type as in safetensors: "F8_E4M3" */
} coded_tensor;

/* The numbers of two tensors; the same: there are no such. */
typedef struct coded_pair {
    size_t codes, scales;
} coded_pair;

/* Of each of n tensors the pair that it is one of, to be freed; NULL when memory runs out. */
coded_pair *coded_find(size_t n, const coded_tensor *t);

#endif
