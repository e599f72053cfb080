/* SPDX-License-Identifier: BSD-2-Clause */
/* list.h - lists of short things, which the formatter fills lines with; in braces each would stand on one of its own. */
#ifndef TESTS_LIST_H
#define TESTS_LIST_H

#define LIST(...) {__VA_ARGS__}

#endif
