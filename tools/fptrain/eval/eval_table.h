/* SPDX-License-Identifier: BSD-2-Clause */
/* eval_table.h - the rows of an evaluation for people, for programs and as a picture. Errors are left to the stream. */
#ifndef FPTRAIN_EVAL_EVAL_TABLE_H
#define FPTRAIN_EVAL_EVAL_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "eval/evaluator.h"

typedef struct eval_table {
    const char *checkpoint, *model, *data;
    size_t samples;
    bool text; /* then the measure is bits a character, loss / ln 2, and less is better; else accuracy */
    int count;
    const eval_row *row;
} eval_table;

void eval_table_print(FILE *out, const eval_table *t);
void eval_table_csv(FILE *out, const eval_table *t);
json_t *eval_table_json(const eval_table *t);
/* A bar for each row, and a line where FP32 is, if that is among them. */
bool eval_table_plot(const char *path, const eval_table *t, trouble *why);

#endif
