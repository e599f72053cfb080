/* SPDX-License-Identifier: BSD-2-Clause */
/* allocation.h - one option for each of several items, such that the options' bits stay within a limit and their errors
 * add up to the least: a multiple-choice knapsack.
 *
 * The lower convex hull of each item's options gives a bound on what can be reached (the relaxation in which an item may
 * stand between two of its options, as Sinha and Zoltners have it in "The multiple-choice knapsack problem", Operations
 * Research 27, 1979) and a choice close to it. Options that cannot be part of a better one, by their reduced cost, are
 * left out; over the rest goes dynamic programming on pairs of bits and error of which none is better in both. It ends
 * with a choice that is the best, or, where the pairs became too many, with one that is proven to be near it.
 */
#ifndef FPEMU_TOOL_ALLOCATION_H
#define FPEMU_TOOL_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>

/* Finite numbers, not negative. */
typedef struct allocation_option {
    double bits, error;
} allocation_option;

typedef struct allocation_item {
    const allocation_option *option;
    size_t options; /* at least 1 */
} allocation_item;

typedef struct allocation {
    size_t *chosen; /* for each item the number of its option; to be freed */
    double bits, error;
    double bound; /* no choice within the limit has a smaller error; equal to `error`: it is the best */
} allocation;

/* False where no choice is within the limit; then `bits` are the fewest. Ends the program when memory runs out.
 * `most_pairs` bounds memory and time: about 16 bytes for each; 0: the usual limit. */
bool allocation_find(size_t items, const allocation_item *item, double limit, size_t most_pairs, allocation *best);

/* The best choices for some limits, from the fewest bits to the least error: every corner of the convex hull of all
 * choices. To be freed. */
allocation_option *allocation_curve(size_t items, const allocation_item *item, size_t *count);

#endif
