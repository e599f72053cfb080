/* SPDX-License-Identifier: BSD-2-Clause */
/* listing.h - the names in a directory, in the order of their bytes whatever the system says first. */
#ifndef FPTRAIN_BASE_LISTING_H
#define FPTRAIN_BASE_LISTING_H

#include "base/base.h"

typedef struct listing {
    char **name;
    size_t count;
} listing;

/* All but those that begin with a dot. False and a sentence where the directory cannot be read. */
bool listing_read(listing *l, const char *directory, trouble *why);
void listing_free(listing *l);
bool listing_is_directory(const char *path);

#endif
