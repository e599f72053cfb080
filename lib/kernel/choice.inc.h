/* SPDX-License-Identifier: BSD-2-Clause */
/* choice.inc.h - what a plan asks of the stages of kernel.inc.c; read in the part of a carrier. SIMD_HAS_F16: whether
 * the processor converts to binary16. */

#ifndef FPEMU_KERNEL_CHOICE
#define FPEMU_KERNEL_CHOICE

/* Vectors that are made at once, so that they need not wait for one another. */
#define KERNEL_VECTORS 4
#define KERNEL_GROUP ((size_t)(KERNEL_VECTORS * SIMD_LANES))
#define EACH_OF(vectors) UNROLLED for (int k = 0; k < (vectors); k++)
#define EACH_VECTOR EACH_OF(KERNEL_VECTORS)

enum kernel_grid {
    KERNEL_BINADES,  /* steps that follow the binade of x: floats */
    KERNEL_EVEN,     /* one step: fixed point, integers; no zero is -0 */
    KERNEL_FULL,     /* floats of the carrier's exponents: so many last bits of every number go */
    KERNEL_F16_TYPE, /* binary16 by the processor's conversion, to nearest */
    KERNEL_AFFINE,   /* integers with a scale */
    KERNEL_PYTORCH,  /* the same in PyTorch's orders, to nearest */
    KERNEL_GRIDS
};

enum kernel_ends {
    KERNEL_OPEN,        /* none: the value on the grid, whatever is said of zeros, infinities and NaN */
    KERNEL_CARRY,       /* infinity, which the grid makes by itself */
    KERNEL_CLAMP,       /* the largest values, of infinities too */
    KERNEL_TO_INFINITY, /* infinity */
    KERNEL_TO_NAN,      /* the NaN, of infinities too */
    KERNEL_BY_SIGN,     /* whatever the plan says, for each sign */
    KERNEL_ENDS
};

/* Whose numbers are in the arrays. */
enum kernel_type { KERNEL_OWN, KERNEL_F16, KERNEL_BF16, KERNEL_TYPES };

typedef struct kernel_choice {
    int type, grid, ends, mode;
    int scale; /* enum scaled_kind */
    int codes; /* bytes of a code of an integer; 0: values */
} kernel_choice;

FPEMU_FN int kernel_is_stochastic(int mode)
{
    return CORE_DRAWS(mode);
}

/* Modes that take numbers of both signs as they are, since their sums with 1.5 * 2^k are positive. */
FPEMU_FN int kernel_takes_signs(int mode)
{
    return mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_RNP || mode == FPEMU_MODE_RTP || mode == FPEMU_MODE_RTN ||
           mode == FPEMU_MODE_RTO;
}
#endif

/* What becomes of what lies past the ends, where it is the same for both signs. */
FPEMU_FN int kernel_ends_of(const core_plan *p)
{
    const uintw *const over = p->overflow, *const infinite = p->infinite, max = p->max[0], nan = p->nan[0];
    if (p->max[1] != max || p->nan[1] != nan || infinite[0] != over[0] || infinite[1] != over[1] ||
        (!p->zero[1] && !kernel_takes_signs(p->mode)))
        return KERNEL_BY_SIGN;
    if (over[0] == max && over[1] == (max | CARRIER_SIGN))
        return KERNEL_CLAMP;
    if (p->past[0] != p->past[1]) /* of a setting that makes infinity in every mode */
        return KERNEL_BY_SIGN;
    return over[0] == nan && over[1] == nan                                    ? KERNEL_TO_NAN
           : over[0] == CARRIER_INF && over[1] == (CARRIER_INF | CARRIER_SIGN) ? KERNEL_TO_INFINITY
                                                                               : KERNEL_BY_SIGN;
}

/* What a plan of one of the rules that core_choose_fast gives, or that core_affine_is_quick takes, asks for; open: the
 * grid alone, where the rule is a _GRID. */
FPEMU_FN kernel_choice kernel_choose(const core_plan *p, int type, int open)
{
    kernel_choice s = {type, KERNEL_BINADES, KERNEL_OPEN, p->mode, UNSCALED, 0};
    if (p->rule >= CORE_RULE_AFFINE_FAST) {
        s.grid = p->compat ? KERNEL_PYTORCH : KERNEL_AFFINE;
        s.ends = KERNEL_CLAMP;
        s.mode = p->compat ? FPEMU_MODE_RNE : p->mode;
    } else if (p->rule == CORE_RULE_EVEN) {
        s.grid = KERNEL_EVEN;
        s.ends = KERNEL_CLAMP;
    } else if (p->rule == CORE_RULE_FULL_RANGE || p->rule == CORE_RULE_FULL_RANGE_GRID) {
        s.grid = KERNEL_FULL;
        s.ends = p->rule == CORE_RULE_FULL_RANGE ? KERNEL_CARRY : open ? KERNEL_OPEN : KERNEL_BY_SIGN;
#if SIMD_HAS_F16
    } else if (core_is_binary16(p)) {
        s.grid = KERNEL_F16_TYPE;
        s.ends = KERNEL_CARRY;
#endif
    } else if (p->rule != CORE_RULE_SHIFTER_GRID || !open) {
        s.ends = kernel_ends_of(p);
    }
    return s;
}

/* The scales of blocks whose elements are finite. */
typedef struct kernel_scales {
    const realw *down,
        *s; /* of each block, or of each element; SCALED_POWERS: its first binade, and its largest value */
    realw second;
    int each;
    unsigned shift; /* else vector v is of block v >> shift */
} kernel_scales;

/* What is to be done to n elements; coder, scales and draw where there are such. */
typedef struct kernel_job {
    const core_plan *plan;
    const core_coder *coder;
    const kernel_scales *scales;
    const loop_draw *draw;
    size_t n;
    const void *x;
    void *y;
} kernel_job;

/* The instances of an instruction set: the rows of kernels.def, or NULL; and by mode those that read the rest at run
 * time. affine: the rule of integers with a scale. */
typedef struct kernel_instances {
    void (*rows[KERNEL_TYPES][KERNEL_GRIDS][KERNEL_ENDS][FPEMU_MODE_COUNT])(const kernel_job *j);
    void (*scaled_rows[SCALED_KINDS][KERNEL_GRIDS][KERNEL_ENDS][FPEMU_MODE_COUNT])(const kernel_job *j);
    void (*any[FPEMU_MODE_COUNT])(kernel_choice s, const kernel_job *j);
    void (*scaled[FPEMU_MODE_COUNT])(kernel_choice s, const kernel_job *j);
    void (*codes[FPEMU_MODE_COUNT])(kernel_choice s, const kernel_job *j);
    void (*affine[CORE_MODE_COUNT])(const core_plan *p, size_t n, const void *x, const uint32_t *r, void *y);
} kernel_instances;
