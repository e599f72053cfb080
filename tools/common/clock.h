/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h - a clock that only goes forward. */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

double clock_seconds(void);

/* Of a span of time: "45 s", "12 minutes", "6.5 hours", "320 days". */
enum { CLOCK_TEXT = 32 };
const char *clock_print(char text[CLOCK_TEXT], double seconds);

#endif
