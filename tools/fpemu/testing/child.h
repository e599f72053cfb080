/* SPDX-License-Identifier: BSD-2-Clause */
/* child.h - a process for code that may crash or hang; one at a time, and none outlives the command. */
#ifndef FPEMU_TOOL_CHILD_H
#define FPEMU_TOOL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* fork into a process group of its own; in the child, where it returns 0, signals act as usual. */
pid_t child_start(void);
/* The status of a child that has ended or is about to. */
int child_reap(pid_t child);
/* Whether it has ended, without waiting; then with its status. */
bool child_has_ended(pid_t child, int *status);
/* Ends it, with its group. */
int child_kill(pid_t child);
/* "crashed: Segmentation fault", "ended with exit status 3". */
void child_describe_end(char *text, size_t size, int status);

#endif
