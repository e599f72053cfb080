/* SPDX-License-Identifier: BSD-2-Clause */
/* system.h - which interfaces of the system a file sees. Include it before any system header. */
#ifndef COMMON_SYSTEM_H
#define COMMON_SYSTEM_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#endif
