/* SPDX-License-Identifier: BSD-2-Clause */
/* near.h - did you mean: the formats that a word which names none, or an impossible call, may have meant. */
#ifndef FPEMU_FORMAT_NEAR_H
#define FPEMU_FORMAT_NEAR_H

#include "fpemu.h"

enum { NEAR_SIZE = 90 }; /* what a fpemu_parse_error holds, what was found apart */

/* Whether a text of `length` characters becomes `word` by one letter put in, taken out, changed or swapped with its
 * neighbour, or is the beginning of it, of two letters or more. Case does not matter. */
int fpemu_is_near(const char *text, size_t length, const char *word);

/* One more for a list such as "e2m1, mxfp4 or nvfp4", of four at most; nothing where it is in it. */
typedef struct near_list {
    const char *words[4];
    int count;
} near_list;
void fpemu_near_add(near_list *list, const char *word);
const char *fpemu_near_print(const near_list *list, char text[NEAR_SIZE]);

/* What a word that no format has for a name may have meant, "" if nothing is near; of names and widths alone. `scalar`:
 * formats with blocks cannot be meant. Calls that are near are added to the list by those who know them. */
const char *fpemu_near_width(const char *word, size_t length, int scalar, char text[NEAR_SIZE]);
void fpemu_near_names(near_list *list, const char *word, size_t length, int scalar);

/* A name of a blocked format with arguments, "mxfp4(block=16)", in the words of the call that it stands for, which may
 * be none that can be read; 0 where there are no such words. `arguments` begins after the parenthesis. */
enum { NEAR_CALL_SIZE = 512 };
int fpemu_near_call(fpemu_name name, const char *arguments, size_t length, char call[NEAR_CALL_SIZE]);

#endif /* FPEMU_FORMAT_NEAR_H */
