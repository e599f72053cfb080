/* SPDX-License-Identifier: BSD-2-Clause */
/* ending.c - see ending.h */
#include "cli/ending.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

static const int fatal_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU};
enum { FATAL_SIGNALS = sizeof fatal_signals / sizeof *fatal_signals };

static void (*last_act)(void);

/* Installed with SA_RESETHAND: the second raise ends the program as the signal would have. */
static void act_and_die(int signal_number)
{
    last_act();
    raise(signal_number);
}

void ending_act(void (*act)(void))
{
    if (last_act != NULL)
        return;
    last_act = act;
    atexit(act);
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        struct sigaction old;
        struct sigaction action = {.sa_handler = act_and_die, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        if (sigaction(fatal_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(fatal_signals[i], &action, NULL);
    }
}

void ending_leave_signals(void)
{
    for (int i = 0; i < FATAL_SIGNALS; i++)
        signal(fatal_signals[i], SIG_DFL);
}
