/* SPDX-License-Identifier: BSD-2-Clause */
/* log.h - the kind "log" of trainer.c: the log of a run, read for a report, as CSV and as a file of events. */
#ifndef TESTS_FUZZ_LOG_H
#define TESTS_FUZZ_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "common/trouble.h"

int log_run(const uint8_t *bytes, size_t size, trouble *why); /* 1: it was read */

#endif
