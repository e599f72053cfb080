/* SPDX-License-Identifier: BSD-2-Clause */
/* loops.inc.h - the array loops of one carrier; included by loops.h, once for each. */

/* Each repeats the element rules of core/ over arrays. x and y may be the same array. */
typedef struct carrier_loops {
    /* y = x rounded and finished by plan p: by rule and mode; r: random bits, left-aligned, for the stochastic modes */
    void (*round[CORE_RULE_AFFINE_FAST + 1][CORE_MODE_COUNT])(const core_plan *p, size_t n, const void *x,
                                                              const uint32_t *r, void *y);
    /* the same of the rules that core_choose_fast gives, finished also where has_ends says so, or that
     * core_affine_is_quick takes; type: the carrier's own or, with binary32, a narrower one that holds all results;
     * kernel/kernel.inc.c */
    void (*kernel)(const core_plan *p, int type, const loop_draw *d, size_t n, const void *x, void *y);
    /* y of `count` blocks, at most RUN_BLOCKS, of `length` finite elements; kind: enum scaled_kind; open: their values
     * on the grid instead, of a plan without ends. The plan has rule SHIFTER_STOP or EVEN, and no y is infinite */
    void (*kernel_scaled)(const core_plan *p, int kind, int open, const loop_draw *d, size_t length, size_t count,
                          const realw *down, const realw *s, realw second, const void *x, void *y);
    /* y of at most TILE of them, from those values g, and their counters */
    void (*count_scaled)(const core_plan *p, int kind, size_t length, size_t count, const realw *down, const realw *s,
                         realw second, const void *x, const uintw *g, void *y, tile_counts *c);
    /* codes of so many bytes, where core_integers_code_quickly */
    void (*kernel_codes)(const core_plan *p, const core_coder *c, const loop_draw *d, size_t n, const void *x,
                         size_t size, void *codes);
    /* the same in one step for plans with has_ends, or that core_compat_is_quick takes */
    void (*finished)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y);
    void (*compat)(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y);
    /* the same where core_wraps_quickly holds */
    void (*wrapped[FPEMU_MODE_COUNT])(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y);
    /* the same where core_rounds_to_powers holds */
    void (*power[FPEMU_MODE_COUNT])(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y);
    /* exact results of an operation on any numbers, rounded to odd in the carrier, for one mode: [1] for
     * FPEMU_MODE_RTN, [0] for others; operations.inc.c; may be NULL */
    void (*odd[2][FPEMU_OPERATION_COUNT])(size_t n, const realw *a, const realw *b, const realw *c, realw *odd);
    /* y from x and its value g on the grid without ends (sign ignored) */
    void (*finish)(const core_plan *p, size_t n, const void *x, const uintw *g, void *y);
    /* counts of a tile of at most TILE elements */
    void (*count)(const core_plan *p, size_t n, const void *x, const void *y, const uintw *g, tile_counts *c);
    /* the same where the tile lies within the ends, else 0; exact: every x - y is a number of the carrier */
    int (*count_inside)(const core_plan *p, size_t n, const void *x, const void *y, int exact, tile_counts *c);
    /* the same where moreover nothing is zero, else 0; count_inside gives 2 for such a tile */
    int (*count_nonzero)(const core_plan *p, size_t n, const void *x, const void *y, int exact, tile_counts *c);
    void (*encode)(const core_coder *c, size_t n, const void *x, const void *y, size_t size, void *codes);
    /* rounding and coding at once, of x in one block or in `count` of 2^k elements, 16 or more, by or times `down` of
     * each, or with NULL of x itself; inverse: NULL, or inverses of `down` where runs_inverses says so; kernel/codes.inc.c */
    void (*codes)(const core_direct *d, int divide, size_t length, size_t count, const realw *down,
                  const realw *inverse, const void *x, size_t size, void *codes);
    void (*encode_posit)(const core_plan *p, const core_coder *c, size_t n, const void *x, size_t size, void *codes);
    /* streaming: y, at a multiple of LINE, by stores of stream.h where the loop has vectors */
    void (*decode)(const core_coder *c, size_t n, const void *codes, size_t size, int streaming, void *y);
#if CARRIER_BITS == 32
    /* all steps of chains of a slab (steps.inc.c), which has so many places, from sums to `to`; 0: not sure of some */
    int (*chains)(const dot_step *s, size_t places, size_t n, const float *x, const float *y, const float *sums,
                  float *to);
    /* y = the values of packed codes, or of codes of a byte (apart), times s of their block, times `second`: of one
     * block, or `count` of 2^k elements, 16 or more. s: NULL, or the scales, and the bits of the largest. unpack_make: of
     * u->values */
    void (*unpack)(const core_unpack *u, enum unpack_type type, int apart, size_t length, size_t count,
                   const unsigned char *bytes, const float *s, float second, uint32_t largest, void *y);
    void (*unpack_make)(core_unpack *u, uint32_t bits);
    /* codes of a byte moved together to b bits each, and back */
    void (*join)(int b, size_t n, const uint8_t *codes, unsigned char *bytes);
    void (*part)(int b, size_t n, const unsigned char *bytes, uint8_t *codes);
#else
    /* one step's result t, where STEP_APART before the rounding; by whether x has a number for each lane, and whether it
     * is counted: then s->sums and s->near are filled, lost is not 0 in lanes that lost bits, swamped how many terms came to nothing. Where
     * the sum is exact, lost is not 0 in lanes whose t is to be made otherwise, and swamped not 0 if there are any. */
    void (*step[2][2])(const dot_step *s, size_t n, const double *d, double *t, uint64_t *lost, uint64_t *swamped);
    /* y = t's terms rounded by plan p, by the form of its target; r: random bits; all arrays have whole vectors. Where c
     * is not NULL, y is no operand, and what is counted goes to c and swamped, which may be NULL, but not of lanes past the
     * ends and the like: 0 where there are such, told in skipped; without it then no lane counts. SUM_GIVEN: y is given */
    int (*sum[SUM_FORMS])(const core_plan64 *p, size_t n, const dot_terms *t, const uint32_t *r, double *y,
                          tile_counts *c, uint64_t *swamped, uint64_t *skipped);
    /* SUM_NEAREST: the products of `rows` rows, of v and w alone, added to n sums s, counted where c is not NULL. How many
     * lanes are done; the next have results that are not counted here, and are as they were */
    size_t (*sum_rows)(const core_plan64 *p, size_t rows, size_t n, const dot_terms *t, double *s, tile_counts *c,
                       uint64_t *swamped);
    /* the same of n products of x and w added to one sum; 0 and nothing done where some results are not normal numbers */
    int (*sum_alone)(const core_plan64 *p, size_t n, const double *x, const double *w, double *s);
#endif

    /* Blocked formats; blocks.inc.c says what each does. */
    void (*extremes)(size_t n, const void *x, block_extremes *e);
    void (*logarithms)(size_t n, const void *x, int64_t *sum, int64_t *largest);
    void (*scale_t)(const core_scale *s, int sticky, size_t n, const void *x, void *t);
    void (*scale_y)(const core_scale *s, size_t n, const void *p, void *y);
    /* zero points: t in place from quotients; q, y, and counts of what lies past the ends; nan: P of a NaN, by sign */
    void (*zero_t)(const core_scale *s, const uintw *nan, size_t n, realw *t);
    void (*zero_q)(const core_block *b, const core_scale *s, const uintw *nan, size_t n, const realw *x, const realw *t,
                   const uintw *grid, realw *q, realw *y, tile_counts *c);
    void (*runs_zero_y)(const core_block *b, size_t length, size_t count, const realw *s, const realw *zero,
                        const realw *t, const uintw *grid, realw *y);
    void (*runs_ends)(size_t length, size_t count, const realw *x, realw *least, realw *most);
    uint64_t (*steps)(size_t n, const realw *x);
    /* rules that choose: core_choice_error of each element */
    void (*search_errors)(uint32_t error, size_t n, const realw *x, const realw *y, realw *errors);
    void (*choice_errors)(const core_block *b, size_t n, size_t count, const realw *down, const realw *scale,
                          const realw *x, realw *error);
    void (*count_element)(const core_plan *p, size_t n, const void *x, const void *t, const void *rounded,
                          const uintw *g, tile_counts *c);
    void (*runs_amax)(size_t length, size_t count, const void *x, uintw *amax);
    void (*runs_t)(int divide, int sticky, size_t length, size_t count, const realw *down, const void *x, void *t);
    void (*runs_y)(size_t length, size_t count, const realw *scales, realw second, const void *p, void *y);
    void (*runs_powers)(uint32_t mask, size_t count, const uint8_t *codes, realw *s, int32_t *least, int32_t *most);
    int (*runs_scales)(const core_block *b, size_t count, const uintw *amax, realw *v);
    void (*runs_down)(const core_block *b, size_t count, const realw *v, realw *s, realw *down);
    int (*runs_inverses)(size_t count, const uintw *amax, const realw *s, realw *inverse);
    /* Codebooks: what a call needs (s->usable says whether the others may be called). Values of t, by r where the mode
     * takes random bits, which may be y; the same of the quotients by `down`, times scales; indices of t where s->steps,
     * else of values. How many finite numbers lie outside of these, or of the table, or, with grid, which: all ones of a
     * magnitude, or 0. Values of codes of `size` bytes */
    void (*codebook_begin)(core_search *s, const core_codebook *c);
    void (*codebook)(const core_search *s, size_t n, const void *t, const uint32_t *r, void *y);
    void (*codebook_runs)(const core_search *s, size_t length, size_t count, const realw *down, const realw *scales,
                          const void *x, const uint32_t *r, void *y);
    void (*codebook_codes)(const core_search *s, size_t n, const void *t, uint8_t *codes);
    uint64_t (*count_outside)(realw low, realw high, size_t n, const void *x);
    uint64_t (*codebook_outside)(const core_search *s, size_t n, const void *t, uintw *grid);
    void (*codebook_values)(const float *values, uint32_t length, size_t n, const void *codes, size_t size, void *y);
    void (*columns_amax)(size_t n, ptrdiff_t step, size_t lanes, const void *x, uintw *amax);

    /* Scales that are powers of two, of blocks up to the first that core_pow2_holds does not take */
    size_t (*pow2_powers)(const core_pow2_block *q, size_t count, const uintw *amax, uintw *powers);
    size_t (*pow2_codes)(uint32_t bias, uint32_t mask, size_t count, const uintw *amax, const uintw *powers,
                         realw *down, uint8_t *codes);
    size_t (*pow2_scales)(const core_pow2_block *q, size_t count, const uintw *amax, realw *s);
} carrier_loops;
