/* SPDX-License-Identifier: BSD-2-Clause */
/* tensors.c - see tensors.h */
#include "engine/tensors.h"

#include <string.h>

const char *role_name(role which)
{
    static const char *const name[ROLES] = {[ROLE_V] = "v", [ROLE_W] = "w", [ROLE_DV] = "dv", [ROLE_DW] = "dw"};
    return name[which];
}

int role_named(const char *name)
{
    for (int i = 0; i < ROLES; i++)
        if (!strcmp(name, role_name((role)i)))
            return i;
    return -1;
}
