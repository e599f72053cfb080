/* SPDX-License-Identifier: BSD-2-Clause */
/* calibration.h - ranges of tensors, seen in batches before they are used: fixed scales instead of those of the moment.
 *
 * Formats with a scale of the whole tensor find it from the tensor's largest magnitude. A calibration looks at the
 * values of some batches, unrounded, and at the parameters; then it gives each tensor one range, from which the library
 * finds the scale ever after. What lies outside becomes the largest value of the format.
 *
 *     absmax       the largest magnitude seen
 *     percentile   the magnitude that P % of those seen do not exceed
 *     mse          of absmax 2^(-k/4), k = 0 ... 40, the range with the least squared error of what was seen, by the
 *                  format of the tensor; the larger one of equals
 *
 * The last two look at no more than 65536 elements of a tensor, as many from each batch, which is cut into stretches of
 * one length; of each an element is drawn, by the seed.
 */
#ifndef FPTRAIN_NUMERICS_CALIBRATION_H
#define FPTRAIN_NUMERICS_CALIBRATION_H

#include "numerics/rounder.h"

typedef enum range_kind { RANGE_ABSMAX, RANGE_PERCENTILE, RANGE_MSE } range_kind;

typedef struct range_rule {
    range_kind kind;
    double percent; /* of RANGE_PERCENTILE, above 0 to 100 */
} range_rule;

/* "absmax", "mse", "percentile:99.9" */
bool range_rule_read(range_rule *r, const char *text, trouble *why);

typedef struct calibration calibration;

/* Of the values and parameters of the rounder's network; `batches` share the elements that are looked at. */
calibration *calibration_new(rounder *r, int batches);
void calibration_free(calibration *c);
rounds *calibration_observer(calibration *c); /* for graph_forward: rounds nothing, sees values */
void calibration_weights(calibration *c, int param, const float *w);
/* Gives ranges to all rules of values and parameters of which the scale is found from the range of the whole tensor.
 * How many there are. They stay while the calibration does, or until calibration_lift. */
int calibration_apply(calibration *c, const range_rule *how);
void calibration_lift(calibration *c);

#endif
