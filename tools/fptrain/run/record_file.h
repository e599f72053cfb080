/* SPDX-License-Identifier: BSD-2-Clause */
/* record_file.h - the inside of a record, for record.c and record_start.c alone. */
#ifndef FPTRAIN_RUN_RECORD_FILE_H
#define FPTRAIN_RUN_RECORD_FILE_H

#include <stdio.h>

#include "run/record.h"
#include "run/tally.h"

enum { RUN_ID = 32 }; /* hexadecimal digits */

typedef enum record_total { ELEMENTS, OVERFLOW_, UNDERFLOW_, CLIPPED, NOT_A_NUMBER, TOTALS } record_total;

struct record {
    char id[RUN_ID + 1];
    machine machine;
    bool one_machine; /* since the run began */
    char *directory;
    FILE *log;
    json_t *line; /* between record_begin and record_end */
    json_t *settings, *notes;
    json_t *best, *last;     /* lines of epochs */
    json_t *step;            /* the last line of a step, without tensors */
    json_t *stopped;         /* why; NULL: it was not */
    uint64_t totals[TOTALS]; /* over the lines of steps */
    uint32_t crc;            /* of the log so far, as zlib's crc32 */
    uint64_t every;          /* steps from line to line */
    int first[ROLES];        /* number of the first tensor of a role in the tally */
    tally *tally;            /* counters that are in no line yet */
};

/* A line, with tensors: the text of a tally, or NULL. */
bool record_line(record *r, json_t *line, const char *tensors, trouble *why);

#endif
