/* SPDX-License-Identifier: BSD-2-Clause */
/* fingerprint.h - what a data set is, in lines of text that a run keeps: so that who goes on with it, or evaluates what
 * it learnt, has the same classes in the same order. */
#ifndef FPTRAIN_DATA_FINGERPRINT_H
#define FPTRAIN_DATA_FINGERPRINT_H

#include "data/dataset.h"

/* "KEY VALUE" a line; for free(). The lines from "classes" on say what a network was made for, those before which
 * samples it met. */
char *fingerprint_text(const dataset *d);
/* Whether these are the data that the text is of; classes_alone: only what a network was made for. Else a sentence. */
bool fingerprint_check(const dataset *d, const char *text, size_t length, bool classes_alone, trouble *why);

/* Mean and deviation of the text in the place of the data's own, where it has as many; it tells those of at most 16
 * channels or features, and of more a checksum. */
void fingerprint_normalise(dataset *d, const char *text, size_t length);

#endif
