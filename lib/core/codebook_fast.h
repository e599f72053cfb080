/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook_fast.h - the rule of codebook.inc.h for tables of at most 256 values, by a look-up and a comparison instead
 * of a search: array loops only. Numbers are told apart by the first bits of their binary32 pattern, as many that each
 * such bucket has at most one threshold, where the result changes. codebook_fast.inc.h is read twice, as round.inc.h
 * is. tests/against_judges/codebooks.c compares all floats with the rule. */
#ifndef FPEMU_CORE_CODEBOOK_FAST_H
#define FPEMU_CORE_CODEBOOK_FAST_H

#include "codebook.h"

/* Values and buckets at most; buckets are filled some at a time, past the last too. */
#define CORE_SEARCH_VALUES 256
#define CORE_SEARCH_BUCKETS(bits) ((bits) == 32 ? 8192 : 4096)
#define CORE_SEARCH_STEP 8

/* Elements from which on the search is worth its preparation. */
#define CORE_SEARCH_WORTH 512

#include "carrier32.h"
#include "codebook_fast.inc.h"
#include "carrier_end.h"
#include "carrier64.h"
#include "codebook_fast.inc.h"
#include "carrier_end.h"

#endif /* FPEMU_CORE_CODEBOOK_FAST_H */
