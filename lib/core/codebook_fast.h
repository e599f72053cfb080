/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook_fast.h - thresholds of tables of at most 256 values, where the index of codebook.inc.h changes, and buckets
 * in which loops look them up instead of a search. codebook_fast.inc.h is read twice, as round.inc.h is.
 *
 * A number has a place, an integer that ascends with it, made of the bits of its magnitude: t > T for a threshold T
 * just if the place of t is above that of T. The upper bits of the place are the bucket, which has one threshold at
 * most. Its entry, added to the place, gives the index in the upper bits: the place's lower bits carry just if they are
 * above the threshold's. tests/against_judges/codebooks.c compares all floats with the rule. */
#ifndef FPEMU_CORE_CODEBOOK_FAST_H
#define FPEMU_CORE_CODEBOOK_FAST_H

#include "codebook.h"

/* Values and buckets at most; buckets are filled some at a time, past the last too. */
#define CORE_SEARCH_VALUES 256
#define CORE_SEARCH_BUCKETS(bits) ((bits) == 32 ? 8192 : 4096)
#define CORE_SEARCH_STEP 8

/* Elements from which on the search is worth its preparation. */
#define CORE_SEARCH_WORTH(length) ((length) <= 16 ? 24 : 512)

#include "carrier32.h"
#include "codebook_fast.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "codebook_fast.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_CODEBOOK_FAST_H */
