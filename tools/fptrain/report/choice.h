/* SPDX-License-Identifier: BSD-2-Clause */
/* choice.h - what tables and plots show beside the settings and results. */
#ifndef FPTRAIN_REPORT_CHOICE_H
#define FPTRAIN_REPORT_CHOICE_H

typedef struct report_choice {
    const char *tensors; /* pattern of names */
    double smooth;       /* as in curves (chart.h) */
    int notes, oracles;
    char **note;             /* keys in summary.json */
    char **oracle_name;      /* formats for which the scale of an oracle is told */
    double *oracle_smallest; /* and their smallest positive values */
} report_choice;

#endif
