/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu.h - what would this computation do in that number format?
 *
 * Three nouns, all plain values that own nothing:
 *
 *   fpemu_format    which values exist and how they are coded
 *   fpemu_rounding  which neighbour a number becomes, and what happens past the ends
 *   fpemu_stats     what happened: counters, extrema, sums of errors, histograms
 *
 * and functions, which take: format, rounding, type, how many, input, output, stats (may be NULL).
 *
 *   fpemu_format f;
 *   fpemu_stats  s = {0};
 *   if (fpemu_format_parse("e4m3fn:saturate", &f, NULL)) return 1;
 *   fpemu_rounding r = fpemu_rounding_stochastic(42, 0);
 *   s.request.want = FPEMU_STATS_SUMS;
 *   if (fpemu_quantize(&f, &r, FPEMU_TYPE_F32, n, x, y, &s)) return 1;
 *
 * The fpemu_type says what arrays hold: float, double, or words of binary16 or bfloat16, which products do not take.
 * Each verb has also a name for each type, with pointers to it: fpemu_quantize_f32(&f, &r, n, x, y, &s). A call
 * computes in the carrier of its arrays: binary64 for double, else binary32.
 *
 * The library keeps no state, allocates nothing, never prints and never exits; every function is reentrant. Equal
 * arguments give equal bits on every thread, thread count, instruction set and machine, whatever the floating-point
 * environment of the caller, which is left as it was. A thread with 192 kB of stack suffices for every call. Arrays
 * have the alignment of their elements; codes and packed bytes may lie anywhere. limits.md has more, by call. Fields
 * called reserved are 0.
 *
 * Link with `pkg-config --cflags --libs fpemu`. Manual: fpemu(3), fpemu-formats(7), numerics.md, blocks.md,
 * accumulation.md, limits.md.
 */
#ifndef FPEMU_H
#define FPEMU_H

#include "fpemu/status.h"   /* what calls return; versions, sizes */
#include "fpemu/format.h"   /* number formats: by name, by text, by parameters; their values */
#include "fpemu/rounding.h" /* modes, policies, random bits */
#include "fpemu/stats.h"    /* counters and errors */
#include "fpemu/quantize.h" /* arrays to values, to codes, and back */
#include "fpemu/tensor.h"   /* tensors of blocks with scales; packed bytes */
#include "fpemu/arith.h"    /* operations, functions, comparisons */
#include "fpemu/prepare.h"  /* calls that are prepared once and made often */
#include "fpemu/gemm.h"     /* dot products and matrix products as hardware computes them */
#include "fpemu/typed.h"    /* all these with a type in the name */

#endif /* FPEMU_H */
