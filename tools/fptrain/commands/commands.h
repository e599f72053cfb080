/* SPDX-License-Identifier: BSD-2-Clause */
/* commands.h - the subcommands of fptrain: each takes its arguments with its name as argv[0], and returns the exit
 * status: 0 done, 1 a failure on the way, 2 a wrong option or file (die says so). */
#ifndef FPTRAIN_COMMANDS_COMMANDS_H
#define FPTRAIN_COMMANDS_COMMANDS_H

int command_run(int argc, char **argv);
int command_models(int argc, char **argv);
int command_assign(int argc, char **argv);
int command_estimate(int argc, char **argv);
int command_tradeoff(int argc, char **argv);
int command_data(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_export(int argc, char **argv);
int command_report(int argc, char **argv);
int command_help(int argc, char **argv);

#endif
