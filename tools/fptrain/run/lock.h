/* SPDX-License-Identifier: BSD-2-Clause */
/* lock.h - one process at a time writes into the directory of a run.
 *
 * The system holds the lock on the directory itself and gives it up when the process ends, however it ends: nothing is
 * left behind. Who only reads asks for no lock and is not held up.
 */
#ifndef FPTRAIN_RUN_LOCK_H
#define FPTRAIN_RUN_LOCK_H

#include "base/base.h"

/* What holds the lock, until lock_release; -1: the file system has no locks. False and a sentence where another process
 * has it, or where the directory cannot be opened. */
bool lock_take(const char *directory, int *lock, trouble *why);
void lock_release(int lock);

#endif
