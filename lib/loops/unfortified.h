/* SPDX-License-Identifier: BSD-2-Clause */
/* unfortified.h - comes before every other header in the files that hold loops. A memcpy whose size is checked at run
 * time hides from compilers what a loop reads and writes, so that they make no vectors of it; some distributions have
 * the compiler check everywhere (level 3 of glibc's _FORTIFY_SOURCE). */
#undef _FORTIFY_SOURCE
