/* SPDX-License-Identifier: BSD-2-Clause */
/* ending.h - what has to be done when the command ends, however it ends. */
#ifndef FPEMU_TOOL_ENDING_H
#define FPEMU_TOOL_ENDING_H

/* Calls `act` at the end of the program and when a signal ends it, which then ends it as it would have. Only the first
 * act is taken; it may be called in a signal handler, and twice. */
void ending_act(void (*act)(void));
/* In a child process: those signals act as usual. */
void ending_leave_signals(void);

#endif
