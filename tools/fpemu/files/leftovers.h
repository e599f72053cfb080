/* SPDX-License-Identifier: BSD-2-Clause */
/* leftovers.h - files and directories that have to go away if the command ends before it has finished them, by an error
 * or by a signal. */
#ifndef FPEMU_TOOL_LEFTOVERS_H
#define FPEMU_TOOL_LEFTOVERS_H

#include <signal.h>

/* Between hold and let, no signal acts: for a file that is made, and noted, at once. */
sigset_t leftovers_hold(void);
void leftovers_let(const sigset_t *before);
/* What was noted last is removed first; a directory only where it is empty by then. A name that is not there does no
 * harm. */
void leftovers_note(const char *path);
void leftovers_forget(const char *path);

#endif
