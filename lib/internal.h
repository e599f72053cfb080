/* internal.h - what the files of lib/ share beyond the public header. */
#ifndef FPEMU_INTERNAL_H
#define FPEMU_INTERNAL_H

#include "core/exact.h"
#include "core/scale.h"
#include "core/block_fast.h"
#include "core/events.h"
#include "core/dot.h"
#include "core/element.h"
#include "core/random.h"
#include "array/environment.h"
#include "fpemu.h"

/* Lanes of the loops of dot products at most, in binary64; in binary32 twice as many. */
#define DOT_LANES 128

/* Short forms of rounding to nearest in binary32: none at all, flat of core/quick.h, magic with any ends, and magic on
 * signed numbers with infinity or the largest value past the end. */
enum mac_form { MAC_NONE, MAC_FLAT, MAC_ENDS, MAC_INF, MAC_SAT, MAC_FORMS };

/* Elements handled at a time where an intermediate result is kept on the stack. */
#define TILE 1024
/* Bytes counted at a time where no random words are needed: so much of input and output stays in L1. */
#define COUNT_TILE 16384
/* Blocks at most whose scales runs_lean looks at. */
#define LEAN_BLOCKS 256
/* Blocks at most with scales that are powers of two at a time. */
#define QUICK_BLOCKS 128
/* Vectors that cross the boundary of a cache line cost more; longer arrays are entered at one. */
#define LINE 64
/* Error sums are made of blocks of this many elements, by absolute index; threads split there. */
#define SUM_BLOCK 4096

/* What a counting loop gathers over one tile. */
typedef core_counts tile_counts;

/* What a loop finds of the magnitudes of elements, as bits. */
typedef struct block_extremes {
    uint64_t amax;      /* the largest, NaN and infinities included */
    uint64_t high, low; /* of the largest above zero, of the smallest below */
    uint32_t zeros, nonfinite;
} block_extremes;

/* The array loops of one instruction set. Each repeats the element rules of core/. x and y may be the same array. */
typedef struct kernels {
    const char *name;
    int (*valid)(void); /* whether this machine runs it */
    /* y = x rounded and finished by plan p: by rule and mode; r: random bits, left-aligned, for the stochastic modes */
    void (*round32[CORE_RULE_SCALED + 1][CORE_MODE_COUNT])(const core_plan32 *p, size_t n, const void *x,
                                                           const uint32_t *r, void *y);
    void (*round64[CORE_RULE_SCALED + 1][CORE_MODE_COUNT])(const core_plan64 *p, size_t n, const void *x,
                                                           const uint32_t *r, void *y);
    /* y from x and its value g on the grid without ends (sign ignored) */
    void (*finish32)(const core_plan32 *p, size_t n, const void *x, const uint32_t *g, void *y);
    void (*finish64)(const core_plan64 *p, size_t n, const void *x, const uint64_t *g, void *y);
    /* counts of a tile of at most TILE elements */
    void (*count32)(const core_plan32 *p, size_t n, const void *x, const void *y, const uint32_t *g, tile_counts *c);
    void (*count64)(const core_plan64 *p, size_t n, const void *x, const void *y, const uint64_t *g, tile_counts *c);
    /* the same where the tile lies within the ends, else 0; exact: every x - y is a number of the carrier */
    int (*count_inside32)(const core_plan32 *p, size_t n, const void *x, const void *y, int exact, tile_counts *c);
    int (*count_inside64)(const core_plan64 *p, size_t n, const void *x, const void *y, int exact, tile_counts *c);
    /* the same where moreover nothing is zero, else 0; count_inside gives 2 for such a tile */
    int (*count_nonzero32)(const core_plan32 *p, size_t n, const void *x, const void *y, int exact, tile_counts *c);
    int (*count_nonzero64)(const core_plan64 *p, size_t n, const void *x, const void *y, int exact, tile_counts *c);
    /* random bits of elements i, i+1, ..., of which none passes a multiple of 2^32 */
    void (*hash)(core_hash_key k, int share, int n_bits, uint64_t i, size_t n, uint32_t *r);
    void (*philox)(uint64_t seed, uint64_t stream, int share, int n_bits, uint64_t i, size_t n, uint32_t *r);
    /* y = x rounded by the hash's bits for elements `index` and following, of which none passes a multiple of 2^32: as
     * many bits as the plan asks for, 32, 16 or 8; by rule, NULL where hash and round32 do as well; passing: y, at a
     * multiple of LINE, by stores of stream.h */
    void (*drawn32[CORE_RULE_COUNT])(const core_plan32 *p, core_hash_key k, uint64_t index, size_t n, int passing,
                                     const void *x, void *y);
    /* as round32 for plans that core_is_half32 knows; NULL where there is no instruction for it */
    void (*half32)(const core_plan32 *p, size_t n, const void *x, const uint32_t *r, void *y);
    void (*stream)(void *to, const void *from, size_t size); /* stream_tile of stream.h */
    /* exact results of an operation on binary32 numbers (minimum and the like: any), to nearest and to odd */
    void (*exact[FPEMU_OPERATION_COUNT])(size_t n, const double *a, const double *b, const double *c,
                                         uint64_t zero_sign, double *nearest, double *odd);
    void (*widen)(size_t n, const float *x, double *y);
    void (*narrow)(size_t n, const double *x, float *y);
    void (*encode32)(const core_coder32 *c, size_t n, const void *x, const void *y, size_t size, void *codes);
    void (*encode64)(const core_coder64 *c, size_t n, const void *x, const void *y, size_t size, void *codes);
    /* rounding and coding at once */
    void (*encode_nearest32)(const core_direct32 *d, size_t n, const void *x, size_t size, void *codes);
    void (*encode_nearest64)(const core_direct64 *d, size_t n, const void *x, size_t size, void *codes);
    /* passing: y, at a multiple of LINE, by stores of stream.h where the loop has vectors */
    void (*decode32)(const core_coder32 *c, size_t n, const void *codes, size_t size, int passing, void *y);
    void (*decode64)(const core_coder64 *c, size_t n, const void *codes, size_t size, int passing, void *y);
    /* blocked formats: blocks.inc.c says what each does */
    void (*extremes32)(size_t n, const void *x, block_extremes *e);
    void (*extremes64)(size_t n, const void *x, block_extremes *e);
    void (*logarithms32)(size_t n, const void *x, int64_t *sum, int64_t *largest);
    void (*logarithms64)(size_t n, const void *x, int64_t *sum, int64_t *largest);
    void (*scale_t32)(const core_scale32 *s, int sticky, size_t n, const void *x, void *t);
    void (*scale_t64)(const core_scale64 *s, int sticky, size_t n, const void *x, void *t);
    void (*scale_y32)(const core_scale32 *s, size_t n, const void *p, void *y);
    void (*scale_y64)(const core_scale64 *s, size_t n, const void *p, void *y);
    void (*count_element32)(const core_plan32 *p, size_t n, const void *x, const void *t, const void *rounded,
                            const uint32_t *g, tile_counts *c);
    void (*count_element64)(const core_plan64 *p, size_t n, const void *x, const void *t, const void *rounded,
                            const uint64_t *g, tile_counts *c);
    void (*runs_amax32)(size_t length, size_t count, const void *x, uint32_t *amax);
    void (*runs_amax64)(size_t length, size_t count, const void *x, uint64_t *amax);
    void (*runs_t32)(int divide, int sticky, size_t length, size_t count, const float *down, const void *x, void *t);
    void (*runs_t64)(int divide, int sticky, size_t length, size_t count, const double *down, const void *x, void *t);
    void (*runs_y32)(size_t length, size_t count, const float *scales, float second, const void *p, void *y);
    void (*runs_y64)(size_t length, size_t count, const double *scales, double second, const void *p, void *y);
    int (*runs_scales32)(const core_block32 *b, size_t count, const uint32_t *amax, float *v);
    int (*runs_scales64)(const core_block64 *b, size_t count, const uint64_t *amax, double *v);
    void (*runs_down32)(const core_block32 *b, size_t count, float *s, float *down);
    void (*runs_down64)(const core_block64 *b, size_t count, double *s, double *down);
    /* by form (even 1), kind (divide 1) and mode (sr 1) */
    void (*scaled32[2][2][2])(const core_plan32 *p, size_t length, size_t count, const float *down, const float *s,
                              float second, const void *x, const uint32_t *r, void *y);
    void (*scaled64[2][2][2])(const core_plan64 *p, size_t length, size_t count, const double *down, const double *s,
                              double second, const void *x, const uint32_t *r, void *y);
    /* the short way to nearest even: how far it goes (0 to 2), and by whether nothing passes the ends, form and kind */
    int (*runs_lean32)(const core_plan32 *p, const core_block32 *b, int divided, size_t count, const uint32_t *amax,
                       const float *s, float second, float *down);
    int (*runs_lean64)(const core_plan64 *p, const core_block64 *b, int divided, size_t count, const uint64_t *amax,
                       const double *s, double second, double *down);
    void (*lean32[2][2][2])(const core_plan32 *p, size_t length, size_t count, const float *down, const float *s,
                            float second, const void *x, void *y);
    void (*lean64[2][2][2])(const core_plan64 *p, size_t length, size_t count, const double *down, const double *s,
                            double second, const void *x, void *y);
    /* blocks the short way: blockquick.inc.c; quick: by kind (fixed point 1) and mode */
    size_t (*quick_powers32)(const core_quick_block32 *q, size_t count, const uint32_t *amax, uint32_t *powers);
    size_t (*quick_powers64)(const core_quick_block64 *q, size_t count, const uint64_t *amax, uint64_t *powers);
    void (*quick_spread32)(size_t length, size_t count, const uint32_t *powers, uint32_t *spread);
    void (*quick_spread64)(size_t length, size_t count, const uint64_t *powers, uint64_t *spread);
    void (*quick_rows32[2])(const core_quick_block32 *q, size_t length, size_t count, const void *x,
                            const uint32_t *powers, void *y);
    void (*quick_rows64[2])(const core_quick_block64 *q, size_t length, size_t count, const void *x,
                            const uint64_t *powers, void *y);
    void (*quick32[2][FPEMU_MODE_SE + 1])(const core_quick_block32 *q, size_t n, const void *x, const uint32_t *powers,
                                     const uint32_t *r, void *y);
    void (*quick64[2][FPEMU_MODE_SE + 1])(const core_quick_block64 *q, size_t n, const void *x, const uint64_t *powers,
                                     const uint32_t *r, void *y);
    void (*quick_count32[2])(const core_quick_block32 *q, size_t n, const void *x, const uint32_t *g,
                             const uint32_t *powers, void *y, tile_counts *c);
    void (*quick_count64[2])(const core_quick_block64 *q, size_t n, const void *x, const uint64_t *g,
                             const uint64_t *powers, void *y, tile_counts *c);
    void (*columns_amax32)(size_t n, ptrdiff_t step, size_t lanes, const void *x, uint32_t *amax);
    void (*columns_amax64)(size_t n, ptrdiff_t step, size_t lanes, const void *x, uint64_t *amax);
    /* dot products: dot.inc.c */
    void (*fma_odd)(size_t n, double x, const double *y, const double *s, uint64_t zero_sign, double *odd);
    /* as round64, for lean formats: nearest, stochastic; and both steps at once */
    void (*round_nearest)(const core_plan64 *p, size_t n, const double *x, const uint32_t *r, double *y);
    void (*round_stochastic)(const core_plan64 *p, size_t n, const double *x, const uint32_t *r, double *y);
    void (*fma_nearest)(const core_plan64 *p, size_t n, double x, const double *y, const double *s, double *out);
    /* by the forms of products and of sums */
    void (*mac32[MAC_FORMS][MAC_FORMS])(const core_plan32 *product, const core_plan32 *sum, size_t nk, size_t n,
                                        const float *x, const float *y, size_t ld, float *s);
    /* in those of MAC_INF and MAC_SAT where nothing goes past an end: products of binary32 itself, rounded ones */
    void (*mac_inside[2])(const core_plan32 *product, const core_plan32 *sum, size_t nk, size_t n, const float *x,
                          const float *y, size_t ld, float *s);
    uint32_t (*largest)(size_t n, const float *x); /* bits of a magnitude; of a NaN, if there is one */
    void (*mac_binary32)(size_t nk, size_t n, const float *x, const float *y, size_t ld, float *s);
    void (*mac_binary64)(size_t nk, size_t n, const double *x, const double *y, size_t ld, double *s);
    int has_fma; /* mac_binary64 rounds x * y + s once, whatever the operands */
    void (*fused_sum)(size_t nk, size_t n, size_t ld, const double *x, const double *px, const double *y,
                      const double *py, double scale, double floor, const double *d, double *t);
} kernels;

extern const kernels fpemu_kernels_portable, fpemu_kernels_v3, fpemu_kernels_v4, fpemu_kernels_vbmi;

/* The variant in use; chosen once, the same for every thread. */
const kernels *fpemu_kernels(void);

/* Random bits (left-aligned in 32) of elements i, i+1, ... */
void fpemu_random_fill(const kernels *k, const fpemu_rounding *r, uint64_t i, size_t n, uint32_t *out);

/* The exact result of a function of a binary32 number, given as binary64 bits. */
core_exact fpemu_function_exact(fpemu_function function, uint64_t bits);

/* fpemu_check for a carrier of 32 or 64 bits, in the default floating-point environment. r = NULL: of the format alone.
 */
fpemu_status fpemu_check_call(const fpemu_format *f, const fpemu_rounding *r, int carrier);

/* The same, and the format of the scales of f, where it has scales and they are floats; else all zero. */
fpemu_status fpemu_check_scaled(const fpemu_format *f, const fpemu_rounding *r, int carrier, fpemu_format *scale);

/* The values of a codebook format, codebook_length of them; NULL if the format is damaged. */
const float *fpemu_table_values(const fpemu_format *format);

/* Whether the fields of a blocked format beside its element's go together; fills *scale as fpemu_check_scaled. */
int fpemu_blocks_are_sane(const fpemu_format *f, fpemu_format *scale);

/* What the verbs hand over for blocked formats and codebooks: quantising and encoding of n > 0 elements, decoding, one
 * element as the scalar forms have it (code: NULL, or set to its code). Pointers are not NULL, but for the rounding of
 * the scalar forms. */
fpemu_status fpemu_block_convert_f32(const fpemu_format *f, const fpemu_rounding *r, size_t n, const float *x,
                                     void *out, int to_code, fpemu_stats *stats);
fpemu_status fpemu_block_convert_f64(const fpemu_format *f, const fpemu_rounding *r, size_t n, const double *x,
                                     void *out, int to_code, fpemu_stats *stats);
fpemu_status fpemu_block_decode_f32(const fpemu_format *f, size_t n, const void *codes, float *y);
fpemu_status fpemu_block_decode_f64(const fpemu_format *f, size_t n, const void *codes, double *y);
float fpemu_table_round_f32(const fpemu_format *f, const fpemu_rounding *r, float x, uint64_t index, uint64_t *code);
double fpemu_table_round_f64(const fpemu_format *f, const fpemu_rounding *r, double x, uint64_t index, uint64_t *code);

/* The random word and its bits, as the public functions but with a rounding known to be right. */
uint32_t fpemu_element_bits(const fpemu_rounding *r, uint64_t index);

/* Exponents of a carrier: -149..127 or -1074..1023, one bin each. */
#define EXPONENTS_F32 277
#define EXPONENTS_F64 2098

/* Element i of an array of codes of 1, 2, 4 or 8 bytes, at any alignment. */
static inline void store_code(void *codes, size_t size, size_t i, uint64_t code)
{
    switch (size) {
    case 1: ((uint8_t *)codes)[i] = (uint8_t)code; break;
    case 2: {
        const uint16_t c = (uint16_t)code;
        memcpy((char *)codes + 2 * i, &c, 2);
        break;
    }
    case 4: {
        const uint32_t c = (uint32_t)code;
        memcpy((char *)codes + 4 * i, &c, 4);
        break;
    }
    default: memcpy((char *)codes + 8 * i, &code, 8);
    }
}

static inline uint64_t load_code(const void *codes, size_t size, size_t i)
{
    switch (size) {
    case 1: return ((const uint8_t *)codes)[i];
    case 2: {
        uint16_t c;
        memcpy(&c, (const char *)codes + 2 * i, 2);
        return c;
    }
    case 4: {
        uint32_t c;
        memcpy(&c, (const char *)codes + 4 * i, 4);
        return c;
    }
    default: {
        uint64_t c;
        memcpy(&c, (const char *)codes + 8 * i, 8);
        return c;
    }
    }
}

/* What one thread gathers; joined into the caller's stats at its end. */
typedef struct gathering {
    fpemu_stats stats;   /* its histogram is not used */
    double lanes[3][32]; /* the open block of error sums */
    uint64_t bins[EXPONENTS_F64];
} gathering;

/* Begins: `want` is the caller's. */
void fpemu_gather_begin(gathering *g, uint32_t want, int carrier);
/* Counts of a tile, then (as wanted) its sums and exponents; `i` is the absolute index of its first element. */
void fpemu_gather_tile(gathering *g, int carrier, uint64_t i, size_t n, const void *x, const void *y,
                       const tile_counts *c);
/* Closes the open block of sums: those of a block of a blocked format are formed by themselves. */
void fpemu_gather_close(gathering *g);
/* Closes the open block of sums and adds everything to the caller's stats. */
void fpemu_gather_end(gathering *g, int carrier, fpemu_stats *to);

/* Whether the caller's fields of a stats are in range. */
fpemu_status fpemu_stats_check(const fpemu_stats *s);

#endif /* FPEMU_INTERNAL_H */
