/* SPDX-License-Identifier: BSD-2-Clause */
/* followed.h - where an output goes: the path behind symbolic links, or a descriptor that is open already. */
#ifndef COMMON_FOLLOWED_H
#define COMMON_FOLLOWED_H

#include <stdbool.h>

/* The path that the last name leads to, for free(): links are followed, one that leads to nothing too, as it is when a
 * shell or sort -o writes there. NULL and errno on failure: ELOOP where links go round. */
char *followed(const char *path);
/* Whether the path, or a link on its way, is a name of a descriptor of this process: /dev/stdout, /dev/stderr,
 * /dev/fd/N, /proc/self/fd/N. */
bool followed_descriptor(const char *path, int *descriptor);

#endif
