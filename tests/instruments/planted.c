/* SPDX-License-Identifier: BSD-2-Clause */
/* planted.c - a defect that every tool of analyzed.sh has to see; never compiled into anything. */
#include <stdlib.h>

int planted(int n);

int planted(int n)
{
    int *array = malloc(sizeof *array);
    if (!array)
        return 1;
    *array = n;
    n += *array;
    free(array);
    free(array); /* freed */
    return n;
}
