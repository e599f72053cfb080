/* SPDX-License-Identifier: BSD-2-Clause */
/* commands.h - the commands; argv[0] is the name of the command, the result the exit status. */
#ifndef FPEMU_TOOL_COMMANDS_H
#define FPEMU_TOOL_COMMANDS_H

int cmd_formats(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_round(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_quantize(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_judge(int argc, char **argv);
int cmd_unpack(int argc, char **argv);
int cmd_gemm(int argc, char **argv);
int cmd_study(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_fuzz(int argc, char **argv);
int cmd_vectors(int argc, char **argv);

#endif
