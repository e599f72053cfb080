/* SPDX-License-Identifier: BSD-2-Clause */
/* api.h - arguments of the public calls, drawn from bytes, and what every call has to hold.
 *
 * api.c draws; api_numbers.c, api_scaled.c, api_tensors.c, api_packing.c and api_products.c call and
 * insist. All outputs go into a digest, which has to be the same with every instruction set and any number of threads.
 * When the bytes are used up, what is drawn is random: a function of all of them.
 */
#ifndef FPEMU_FUZZ_API_H
#define FPEMU_FUZZ_API_H

#include "../common.h"

#include "fpemu.h"

/* ------------------------------------------------------------------------------------------------- drawing */
typedef struct draw {
    const uint8_t *at, *end;
    uint64_t rest;  /* of what is drawn after the last byte; a digest of all to begin with */
    uint64_t state; /* of numbers that need no bytes of their own: long arrays */
} draw;

uint64_t draw_word(draw *d, unsigned bytes); /* 1 to 8 of them, little-endian */
uint32_t draw_below(draw *d, uint32_t n);    /* 0..n-1 */
/* 0..n-1, n at most 256; *seldom: one time in 64, for what takes long. */
uint32_t draw_seldom(draw *d, uint32_t n, int *seldom);
double draw_number(draw *d, const fpemu_format *f); /* any double: specials, powers of two, near values of f */
/* A complete format in most cases; false: the drawn parameters were refused, and *f is what that left. */
int draw_format(draw *d, fpemu_format *f);
int draw_scalar(draw *d, fpemu_format *f);
void draw_rounding(draw *d, fpemu_rounding *r); /* one in eight has a field out of range */
/* A text of at most `capacity` - 1 bytes. */
void draw_text(draw *d, char *text, size_t capacity);

/* ---------------------------------------------------------------------------------------------- the carriers */
#define F32 FPEMU_TYPE_F32
#define F64 FPEMU_TYPE_F64
#define F16 FPEMU_TYPE_F16
#define BF16 FPEMU_TYPE_BF16
enum { CARRIERS = 4 };
extern const int carriers[CARRIERS];
int draw_carrier(draw *d, uint32_t n); /* of the first n */
size_t carrier_size(int carrier);
double carrier_load(int carrier, const void *x, size_t i);
void carrier_store(int carrier, void *x, size_t i, double value); /* cut to the carrier, not rounded */

/* 1 but for affine integers whose values a carrier rounds. */
int exact_steps(const fpemu_format *f);

/* ------------------------------------------------------------------------------------------------ the arrays */
/* Calls share their work between two threads from 2 * ELEMENTS_PER_THREAD (lib/array/threads.h) elements on, and from 2
 * * PRODUCTS_PER_THREAD (lib/gemm/tiles.c) products: of what is called long here each takes a part. */
enum { LONG = 140000, LONG_PRODUCTS = 270000 };

/* An array whose bytes before and, but for the address sanitizer, after it are watched. It starts at any multiple of
 * its elements' size, and stays until the end of the run, which insists that nothing was written beside it. */
typedef struct array {
    unsigned char *memory, *data;
    size_t before, bytes, after;
} array;
array array_new(draw *d, size_t bytes, size_t alignment); /* filled with a pattern */
array array_copy(draw *d, const array *from, size_t alignment);
array array_widened(draw *d, int carrier, int wider, const array *x); /* the same numbers */
void array_untouched(const array *a, const char *what);

/* n numbers; those after the first few are these again. */
array draw_array(draw *d, int carrier, const fpemu_format *f, size_t n);

/* -------------------------------------------------------------------------------------------------- the counters */
/* A request of FPEMU_STATS_..., with histograms of its own. */
typedef struct counted {
    fpemu_stats stats;
    uint64_t exponents[40], scales[24];
} counted;

fpemu_stats *count_into(counted *c, uint32_t want);
int counted_same(const counted *a, const counted *b, int sums); /* says which words differ */
void counted_untouched(const counted *c, uint32_t want);        /* after a refused call */
void counted_digest(const counted *c);
/* Whether a call did its work, by its status. Then its results go into the digest; else it wrote and counted nothing. */
int api_done(fpemu_status status, const array *y, const counted *c, uint32_t want);
/* Where an array is cut in two; one in four at a multiple of 4096, where sums are cut too (doc/numerics.md, 6). */
size_t draw_cut(draw *d, size_t n, uint64_t offset);
int sums_cut(size_t cut, size_t n, const fpemu_rounding *later); /* 1: the sums of two pieces are those of the whole */
/* Adds the second piece of an array to the first, and insists on what the whole counts; `sums`: the sums too. */
void counted_pieces(counted *first, const counted *second, const counted *whole, int sums);

/* --------------------------------------------------------------------------------------------------- tensors */
size_t shape_elements(const fpemu_shape *s);
/* Up to some thousand elements; 0 now and then. `used`: the call is none that will be refused, and one in 16 has many
 * elements, of lines and channels three in four. */
fpemu_shape draw_shape(draw *d, const fpemu_format *f, int used);
int draw_range(draw *d, const fpemu_format *f, fpemu_range *range); /* of another tensor; 0: one that no tensor has */
int draw_whole(draw *d, fpemu_format *f);           /* a format that reads shape.whole: draw_format seldom gives one */
uint32_t draw_want(draw *d, const fpemu_format *f); /* FPEMU_STATS_... that the format has */

/* 1: the carriers binary32 and binary64 hold the same steps on the way to a block's codes (doc/blocks.md, 1.1, 2.4):
 * powers of two scale exactly, and s2fp8 works in binary64 for both. The other rules divide, and absmax, reciprocal,
 * rceil and the nvfp4 rules so find their scales, by the carrier's arithmetic. Left out too: codebooks, whose midpoints
 * a carrier rounds, settings of other software, which are of binary32, and integers whose steps a carrier rounds. */
int same_codes(const fpemu_format *f, const fpemu_rounding *r);
/* Insists that the results y of a carrier are v of the next wider one, rounded once to the narrower; what is blocked
 * stays finite (doc/numerics.md, 1.3; doc/blocks.md, 1.1). 1: none was rounded, so that both count the same. */
int wider_values(int carrier, int wider, const fpemu_format *f, size_t n, const array *y, const array *v);

/* --------------------------------------------------------------------------------------------------- insisting */
extern char api_case[2048]; /* what is being called, for messages */
#define CASE(...) snprintf(api_case, sizeof api_case, __VA_ARGS__)
void api_describe(const char *verb, const fpemu_format *f, const fpemu_rounding *r, int carrier, size_t n);
void api_insist(int condition, const char *what, const char *file, int line);
#define INSIST(condition, what) api_insist((condition) != 0, what, __FILE__, __LINE__)
void api_digest(const void *bytes, size_t size);
int api_same(double a, double b); /* the same bits, or both NaN */
void api_threads(int n);

/* Their kinds of call: each draws one and insists. */
typedef void api_call(draw *d);
api_call api_format, api_quantize, api_arith, api_apply, api_compare, api_stats;
api_call api_tensor, api_pack, api_shape, api_swizzle, api_measure;
api_call api_gemm, api_gemm_scaled, api_gemv, api_dot;
api_call api_arith_scaled, api_compare_scaled, api_one, api_names;

/* Takes the bytes through one call, and returns the digest of what it gave; aborts where something does not hold. */
uint64_t api_run(const uint8_t *bytes, size_t size);

#endif
