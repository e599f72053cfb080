/* SPDX-License-Identifier: BSD-2-Clause */
/* outputs.h - whether two outputs of a program are one. */
#ifndef COMMON_OUTPUTS_H
#define COMMON_OUTPUTS_H

#include <stdbool.h>

/* True where writing both as atomic_file.h does would leave one of them. Links are followed; neither needs to exist,
 * nor the directories above them. Hard links are two, since a file that is replaced leaves its other names alone. What
 * is written behind each other, a pipe, a device or twice one open descriptor, loses nothing: false. */
bool same_target(const char *a, const char *b);

#endif
