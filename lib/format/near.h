/* SPDX-License-Identifier: BSD-2-Clause */
/* near.h - did you mean: the formats that an unknown word or an impossible call may have meant. */
#ifndef FPEMU_FORMAT_NEAR_H
#define FPEMU_FORMAT_NEAR_H

#include "fpemu.h"

enum { NEAR_SIZE = 90 }; /* what a fpemu_parse_error holds beside what was found */

/* Whether a text of `length` characters differs from `word` by one letter more, less, other or swapped with its
 * neighbour, or is its beginning, of two letters or more. Case does not matter. */
int fpemu_is_near(const char *text, size_t length, const char *word);

/* A list such as "e2m1, mxfp4 or nvfp4", of four words at most. Adding a word that it has changes nothing. */
typedef struct near_list {
    const char *words[4];
    int count;
} near_list;
void fpemu_near_add(near_list *list, const char *word);
const char *fpemu_near_print(const near_list *list, char text[NEAR_SIZE]);

/* What an unknown word may have meant, by names and widths alone; "" if nothing is near. `scalar`: formats with blocks
 * cannot be meant. Who knows the calls adds those that are near to the list. */
const char *fpemu_near_width(const char *word, size_t length, int scalar, char text[NEAR_SIZE]);
void fpemu_near_names(near_list *list, const char *word, size_t length, int scalar);

/* Writes a name of a blocked format with arguments, "mxfp4(block=16)", as the call that it stands for, which may be
 * unreadable; 0 where there is none. `arguments` begins after the parenthesis. */
enum { NEAR_CALL_SIZE = 512 };
int fpemu_near_call(fpemu_name name, const char *arguments, size_t length, char call[NEAR_CALL_SIZE]);

#endif /* FPEMU_FORMAT_NEAR_H */
