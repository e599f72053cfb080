/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h - a clock that only goes forward. */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

double clock_seconds(void);

#endif
