/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.h - short names of directories, by which one can still tell them apart. */
#ifndef FPTRAIN_REPORT_LABELS_H
#define FPTRAIN_REPORT_LABELS_H

/* Of each path its last names, as many as make all differ; where nothing does, a number follows. Room for them all at
 * once: for labels_free. */
char **labels_make(int count, const char *const *paths);
void labels_free(int count, char **labels);

#endif
