/* SPDX-License-Identifier: BSD-2-Clause */
/* arith.c - operations and functions on arrays and on single numbers. Two ways run in binary64, which
 * holds the binary32 carrier and every format that fits it:
 *
 *   short way  the exact result, rounded to odd in binary64 by vector loops, then the loops of fpemu_quantize; where
 *              binary64 has the bits for it (see core/exact.h)
 *   shortest   the same in the carrier, where that has the bits, and without counters; of words that become words of
 *              their type, in the type
 *   long way   the exact result in 128 bits and one rounding, an element at a time
 *
 * All give the same bits. Functions go the long way. An operand with scales is multiplied by them as it is read: the
 * products are binary64 numbers too, those of binary32 numbers always. */
#include <float.h>
#include <math.h>

#include "core/dot.h"
#include "array.h"
#include "threads.h"
#include "operand_scales.h"

static const uint8_t operand_count[FPEMU_OPERATION_COUNT] = {2, 2, 2, 2, 1, 3, 2, 2, 2, 2};

/* What a call computes: an operation, or a function, which comes after them. */
enum { FUNCTIONS = FPEMU_OPERATION_COUNT, WORKS = FUNCTIONS + FPEMU_FUNCTION_COUNT };

static int operands_of(int work)
{
    return work < FUNCTIONS ? operand_count[work] : 1;
}

/* What a format, a rounding, a type and an operation ask of the loops: made once, read by any number of calls. */
typedef struct arith_plan {
    const kernels *k;
    core_plan64 plan;
    core_plan32 plan32; /* of the shortest way in binary32 */
    core_plan64 quick;  /* the plan with its fast rule, in binary64; `round32`, `round64`: the loops of both */
    void (*round32)(const core_plan32 *p, size_t n, const void *x, const uint32_t *r, void *y);
    void (*round64)(const core_plan64 *p, size_t n, const void *x, const uint32_t *r, void *y);
    int work;
    int carrier, elements; /* of the rounding, and of operands and results: they may be narrow */
    uint8_t stochastic, short_way, shortest_way, nan_is_error;
} arith_plan;

/* A call. */
typedef struct job {
    const arith_plan *p;
    const fpemu_rounding *rounding; /* its seed, stream and offset are the call's */
    core_plan64 unbounded;          /* the plan without ends, where it is counted */
    const void *operand[3];         /* NULL: a single number, in `single` */
    double single[3];
    scaling scales[3];
    void *y;
    uint32_t want;
    uint8_t counted;
} job;

/* The loop of one step for a plan, or NULL. */
#define ROUND_LOOP(loops, bits, p)                                                                                     \
    ((p)->has_ends ? (loops)->finished                                                                                 \
     : (p)->rule <= CORE_RULE_AFFINE_FAST && (p)->rule != CORE_RULE_FULL_RANGE_GRID &&                                 \
             (p)->rule != CORE_RULE_SHIFTER_GRID                                                                       \
         ? (loops)->round[(p)->rule][(p)->mode]                                                                        \
         : NULL)

static void choose_rounding(arith_plan *j, const fpemu_format *f, const fpemu_rounding *r)
{
    core_plan_make32(&j->plan32, f, r, 0);
    core_choose_fast32(&j->plan32, f);
    j->round32 = ROUND_LOOP(j->k->loops32, 32, &j->plan32);
}

static void choose_wide_rounding(arith_plan *j, const fpemu_format *f)
{
    j->quick = j->plan;
    core_choose_fast64(&j->quick, f);
    j->round64 = ROUND_LOOP(j->k->loops64, 64, &j->quick);
    if (!j->round64) {
        j->quick = j->plan;
        j->round64 = j->k->loops64->round[j->plan.rule][j->plan.mode];
    }
}
#undef ROUND_LOOP

/* Whether what lies beyond binary32 becomes what its largest number does, by which odd results stand for it. */
static int ends_alike(const arith_plan *j)
{
    core_exact beyond = core_exact_special(CORE_FINITE, 0, 0);
    beyond.high = CORE_SIGN64;
    beyond.top = 128;
    if (j->plan.max[0] < core_power64(126) && j->plan.max[1] < core_power64(126))
        return 1;
    for (unsigned s = 0; s < 2; s++) {
        const float largest = s ? -FLT_MAX : FLT_MAX;
        float y;
        uint64_t g;
        beyond.negative = (uint8_t)s;
        j->round32(&j->plan32, 1, &largest, NULL, &y);
        const double got = (double)y, want = core_value64(core_exact_round(&j->plan, &beyond, 0, &g));
        if (core_bits64(got) != core_bits64(want) && (got == got || want == want))
            return 0;
    }
    return 1;
}

/* Significant bits of the largest number of a grid whose steps are equal. */
static int grid_precision(const core_plan64 *p)
{
    const uint64_t most = p->max[0] > p->max[1] ? p->max[0] : p->max[1];
    return (int)(most >> 52) - 1023 - p->quantum + 1;
}

/* Whether the carrier, rounded to odd, has the bits for a result of the format, and a loop of one step then rounds it.
 */
static int shortest_way_holds(arith_plan *j, const fpemu_format *f, const fpemu_rounding *r, int work, int random_bits)
{
    const int is_float = f->kind == FPEMU_KIND_FLOAT, is_posit = f->kind == FPEMU_KIND_POSIT;
    const int even = f->kind == FPEMU_KIND_FIXED || f->kind == FPEMU_KIND_INT;
    const int down = j->plan.mode == FPEMU_MODE_RTN;
    if (work >= FUNCTIONS || FLT_EVAL_METHOD != 0 || (!is_float && !is_posit && !even) || j->nan_is_error ||
        j->plan.wrap || j->plan.nan[0] != j->plan.nan[1])
        return 0;
    const int precision = is_float ? (int)f->mantissa_bits + 1 : is_posit ? (int)f->bits : grid_precision(&j->plan);
    const int quantum = is_float || is_posit ? f->quantum : j->plan.quantum;
    if (j->carrier == 32) {
        if (!j->k->loops32->odd[down][work] || j->stochastic || precision > 22 || quantum < -147)
            return 0;
        choose_rounding(j, f, r);
        return j->round32 && j->plan32.nan[0] == j->plan32.nan[1] && ends_alike(j);
    }
    return j->k->loops64->odd[down][work] && precision + random_bits <= 51 && quantum - random_bits >= -1072 &&
           j->plan.max[0] < core_power64(1022) && j->plan.max[1] < core_power64(1022);
}

/* Whether format and rounding go with arithmetic; fills the plan and the way to go. */
static fpemu_status prepare(arith_plan *j, const fpemu_format *f, const fpemu_rounding *r, int work, int elements)
{
    const int carrier = carrier_wide(elements);
    if (!f || !r)
        return FPEMU_ERROR_NULL;
    if ((unsigned)work >= WORKS)
        return FPEMU_ERROR_ARGUMENT;
    const fpemu_status status = fpemu_check_call(f, r, elements, NULL);
    if (status)
        return status;
    fpemu_format seen;
    memset(j, 0, sizeof *j);
    const core_reason reason = core_arith_plan(f, r, carrier, work >= FUNCTIONS, &j->plan, &seen);
    if (reason)
        return fpemu_refuse(NULL, reason, f, r, elements);
    j->k = fpemu_kernels();
    j->work = work;
    j->carrier = carrier;
    j->elements = elements;
    j->stochastic = CORE_DRAWS(j->plan.mode);
    j->nan_is_error = core_nan_policy(f, r) == FPEMU_NAN_ERROR && !f->has_nan;
    const int precision = f->kind == FPEMU_KIND_FLOAT ? (int)f->mantissa_bits + 1 : (int)f->bits;
    const int random_bits = j->stochastic ? j->plan.n : 0;
    const int plain_doubles = FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1; /* no wider intermediate results */
    j->short_way = (work >= FPEMU_OPERATION_MINIMUM && work < FUNCTIONS) ||
                   (carrier == 32 && work < FUNCTIONS && plain_doubles &&
                    (work == FPEMU_OPERATION_MUL || precision + random_bits + 2 <= 53));
    choose_wide_rounding(j, f);
    j->shortest_way = (uint8_t)shortest_way_holds(j, f, r, work, random_bits);
    return FPEMU_OK;
}

static int is_nan(double x)
{
    return x != x;
}

static core_exact exact_of(int work, int mode, double a, double b, double c)
{
    return work < FUNCTIONS
               ? core_exact_result((fpemu_operation)work, mode, core_bits64(a), core_bits64(b), core_bits64(c))
               : fpemu_function_exact((fpemu_function)(work - FUNCTIONS), core_bits64(a));
}

/* The long way for a tile. x: exact results as binary64 rounds them (counted only). Returns whether one is NaN. */
static int long_tile(const job *j, size_t n, const double *const v[3], const uint32_t *r, double *x, double *y,
                     gathering *gathered, tile_counts *c)
{
    int found_nan = 0;
    for (size_t e = 0; e < n; e++) {
        uint64_t g;
        const core_exact exact = exact_of(j->p->work, j->p->plan.mode, v[0][e], v[1][e], v[2][e]);
        const double result = core_value64(core_exact_round(&j->p->plan, &exact, j->p->stochastic ? r[e] : 0, &g));
        found_nan |= exact.kind == CORE_NOT_A_NUMBER;
        if (j->counted) {
            x[e] = core_value64(core_exact_binary64(&exact, FPEMU_MODE_RNE));
            core_count_exact(&j->p->plan, &exact, result, g, c);
            c->invalid += exact.exception == CORE_INVALID;
            gathered->stats.div_by_zero += exact.exception == CORE_DIV_BY_ZERO;
        }
        y[e] = result;
    }
    return found_nan;
}

/* Invalid operations and divisions by zero of a tile whose exact results are t. */
static void count_exceptions(const job *j, size_t n, const double *const v[3], const double *t, gathering *gathered,
                             tile_counts *c)
{
    const int count = operands_of(j->p->work);
    for (size_t e = 0; e < n; e++) {
        int nan_came = 0;
        for (int o = 0; o < count; o++)
            nan_came |= is_nan(v[o][e]);
        c->invalid += is_nan(t[e]) && !nan_came;
        gathered->stats.div_by_zero +=
            j->p->work == FPEMU_OPERATION_DIV && v[1][e] == 0 && isfinite(v[0][e]) && v[0][e] != 0;
    }
}

/* The short way for a tile, as long_tile. */
static int short_tile(const job *j, size_t n, const double *const v[3], const uint32_t *r, double *x, double *y,
                      gathering *gathered, tile_counts *c)
{
    const core_plan64 *p = &j->p->plan;
    _Alignas(LINE) double odd[TILE];
    _Alignas(LINE) uint64_t grid[TILE];
    int found_nan = 0;
    const int down = p->mode == FPEMU_MODE_RTN;
    if (!j->counted && FLT_EVAL_METHOD == 0 && p->nan[0] == p->nan[1] && j->p->k->loops64->odd[down][j->p->work])
        j->p->k->loops64->odd[down][j->p->work](n, v[0], v[1], v[2], odd);
    else
        j->p->k->exact[j->p->work](n, v[0], v[1], v[2], down ? CORE_SIGN64 : 0, x, odd);
    if (j->p->nan_is_error)
        for (size_t e = 0; e < n; e++)
            found_nan |= is_nan(odd[e]);
    if (!j->counted) {
        j->p->round64(&j->p->quick, n, odd, r, y);
        return found_nan;
    }
    j->p->k->loops64->round[p->rule][p->mode](&j->unbounded, n, odd, r, grid);
    j->p->k->loops64->finish(p, n, odd, grid, y);
    /* what compares needs the bits below; extrema and errors are defined on x to nearest */
    tile_counts nearest;
    nearest.max_error = 0;
    j->p->k->loops64->count(p, n, odd, y, grid, c);
    j->p->k->loops64->count(p, n, x, y, grid, &nearest);
    c->min_abs = nearest.min_abs;
    c->max_abs = nearest.max_abs;
    c->max_error = nearest.max_error;
    count_exceptions(j, n, v, odd, gathered, c);
    return found_nan;
}

/* Whether the short way holds for these operands: scaled ones have up to 48 bits. Sums and choices may have them. */
static int is_short(const job *j, size_t n, const double *const v[3])
{
    uint64_t low = 0;
    if (!j->p->short_way || j->p->work == FPEMU_OPERATION_ADD || j->p->work == FPEMU_OPERATION_SUB ||
        j->p->work >= FPEMU_OPERATION_MINIMUM)
        return j->p->short_way;
    for (int o = 0; o < operands_of(j->p->work); o++)
        if (j->scales[o].values)
            for (size_t e = 0; e < n; e++)
                low |= core_bits64(v[o][e]);
    return (low & ((UINT64_C(1) << 29) - 1)) == 0; /* no more than 24 bits; a NaN may take the long way */
}

/* n operands from memory, as binary64. */
static void read_operands(const job *j, size_t n, const char *in, double *to)
{
    _Alignas(LINE) float words[TILE];
    if (carrier_is_narrow(j->p->elements))
        carrier_widen(j->p->k, j->p->elements, n, in, words);
    if (j->p->carrier == 32)
        j->p->k->widen(n, carrier_is_narrow(j->p->elements) ? words : (const float *)(const void *)in, to);
    else
        memcpy(to, in, n * sizeof *to);
}

/* n results to memory. */
static void write_results(const job *j, size_t n, const double *y, char *out)
{
    _Alignas(LINE) float words[TILE];
    if (j->p->carrier == 32)
        j->p->k->narrow(n, y, carrier_is_narrow(j->p->elements) ? words : (float *)(void *)out);
    else
        memcpy(out, y, n * sizeof *y);
    if (carrier_is_narrow(j->p->elements))
        carrier_narrow(j->p->k, j->p->elements, n, words, out);
}

/* A tile of numbers of either carrier. */
typedef union row {
    float in32[TILE];
    double in64[TILE];
} row;

/* Elements [first, first + n) by the shortest way. */
static APART void run_shortest(const job *j, size_t first, size_t n)
{
    const arith_plan *const p = j->p;
    const int wide = p->carrier == 64, narrow = carrier_is_narrow(p->elements), down = p->plan.mode == FPEMU_MODE_RTN;
    const size_t size = carrier_size(p->elements);
    _Alignas(LINE) row beside[3], odd, rounded; /* beside: single numbers, and words widened */
    _Alignas(LINE) uint32_t r[TILE];
    for (int o = 0; o < operands_of(p->work); o++)
        for (size_t e = 0; e < n && e < TILE && !j->operand[o]; e++)
            if (wide)
                beside[o].in64[e] = j->single[o];
            else
                beside[o].in32[e] = (float)j->single[o];
    for (size_t i = 0, m; i < n; i += m) {
        const size_t at = (first + i) * size;
        const void *v[3] = {&beside[0], &beside[1], &beside[2]};
        char *const out = (char *)j->y + at;
        m = n - i < TILE ? n - i : TILE;
        for (int o = 0; o < operands_of(p->work); o++) {
            const char *const in = j->operand[o] ? (const char *)j->operand[o] + at : NULL;
            if (in && narrow)
                carrier_widen(p->k, p->elements, m, in, beside[o].in32);
            else if (in)
                v[o] = in;
        }
        if (p->stochastic)
            fpemu_random_fill(p->k, j->rounding, j->rounding->offset + first + i, m, r);
        if (wide) {
            p->k->loops64->odd[down][p->work](m, v[0], v[1], v[2], odd.in64);
            p->round64(&p->quick, m, odd.in64, r, out);
        } else {
            p->k->loops32->odd[down][p->work](m, v[0], v[1], v[2], odd.in32);
            p->round32(&p->plan32, m, odd.in32, NULL, narrow ? (void *)rounded.in32 : out);
        }
        if (narrow) /* every number of the format is one of the type */
            p->k->exact16[p->elements == FPEMU_TYPE_BF16](m, rounded.in32, (uint16_t *)(void *)out);
    }
}

/* The other ways. Returns whether an exact result was NaN, where that matters. */
static APART int run_tiles(const job *j, size_t first, size_t n, gathering *gathered)
{
    _Alignas(LINE) double wide[3][TILE], x[TILE], y[TILE];
    _Alignas(LINE) uint32_t r[TILE];
    const double *v[3] = {wide[0], wide[1], wide[2]};
    const size_t size = carrier_size(j->p->elements);
    int found_nan = 0;
    for (int o = 0; o < 3; o++)
        if (!j->operand[o])
            for (size_t e = 0; e < TILE; e++)
                wide[o][e] = j->single[o];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < TILE ? n - i : TILE;
        const uint64_t index = j->rounding->offset + first + i;
        char *out = (char *)j->y + (first + i) * size;
        for (int o = 0; o < 3; o++) {
            const char *in = j->operand[o] ? (const char *)j->operand[o] + (first + i) * size : NULL;
            if (j->operand[o])
                read_operands(j, m, in, wide[o]);
            else if (j->scales[o].values)
                for (size_t e = 0; e < m; e++)
                    wide[o][e] = j->single[o];
            if (j->scales[o].values)
                scale_tile(&j->scales[o], j->p->carrier, first + i, m, wide[o]);
        }
        if (j->p->stochastic)
            fpemu_random_fill(j->p->k, j->rounding, index, m, r);
        tile_counts c;
        memset(&c, 0, sizeof c);
        found_nan |= (is_short(j, m, v) ? short_tile : long_tile)(j, m, v, r, x, y, gathered, &c);
        if (j->counted)
            fpemu_gather_tile(gathered, 64, index, m, x, y, &c);
        write_results(j, m, y, out);
    }
    return found_nan;
}

/* Elements [first, first + n), as run_tiles. */
static int run(const job *j, size_t first, size_t n, gathering *gathered)
{
    if (j->p->shortest_way && !gathered && !j->scales[0].values && !j->scales[1].values && !j->scales[2].values) {
        run_shortest(j, first, n);
        return 0;
    }
    return run_tiles(j, first, n, gathered);
}

/* Whether functions take x: a binary32 number of at most 16 significant bits, infinity or NaN. */
static int is_narrow(double x)
{
    if (is_nan(x) || fabs(x) == (double)INFINITY || x == 0)
        return 1;
    /* of the 53 bits of binary64's significand the top 16 may be set */
    return fabs(x) <= (double)FLT_MAX && (double)(float)x == x && (core_bits64(x) & ((UINT64_C(1) << 37) - 1)) == 0;
}

static int all_narrow(const void *x, int carrier, size_t n)
{
    int all = 1;
    for (size_t i = 0; i < n; i++)
        all &= is_narrow(operand_at(x, carrier, i));
    return all;
}

/* Part k of so many. */
static int run_part(const job *j, int k, int parts, size_t n, fpemu_stats *stats)
{
    const size_t begin = part_begin(k, parts, n, j->rounding->offset);
    const size_t end = part_begin(k + 1, parts, n, j->rounding->offset);
    if (!j->counted)
        return run(j, begin, end - begin, NULL);
    gathering g;
    fpemu_gather_begin(&g, j->want, 64);
    const int found_nan = run(j, begin, end - begin, &g);
    fpemu_gather_join(&g, 64, parts, stats);
    return found_nan;
}

/* n > 0 elements, in the default floating-point environment. */
static fpemu_status run_plan(const arith_plan *p, const fpemu_rounding *r, size_t n, const void *const *operands,
                             const size_t *steps, const scaling *scales, void *y, fpemu_stats *stats)
{
    job j;
    fpemu_status status = FPEMU_OK;
    const int work = p->work, carrier = p->elements;
    const size_t size = carrier_size(carrier);
    if (!operands || !y)
        return FPEMU_ERROR_NULL;
    for (int o = 0; o < operands_of(work) && !status; o++) {
        const size_t step = steps ? steps[o] : 1;
        status = operands[o] ? check_operand(operands[o], step, size, y, size, n) : FPEMU_ERROR_NULL;
        if (!status && scales)
            status = check_scales(&scales[o], carrier, n, operands[o], step, y, size);
    }
    if (!status && stats)
        status = fpemu_stats_check(stats);
    if (!status && work >= FUNCTIONS && !carrier_is_narrow(carrier) && !all_narrow(operands[0], carrier, n))
        status = FPEMU_ERROR_ARGUMENT;
    if (status)
        return status;
    static const scaling none;
    for (int o = 0; o < 3; o++) {
        const int taken = o < operands_of(work), array = taken && (!steps || steps[o]);
        j.operand[o] = array ? operands[o] : NULL;
        j.single[o] = taken && !array ? operand_at(operands[o], carrier, 0) : 0;
        j.scales[o] = taken && scales ? scales[o] : none;
    }
    j.p = p;
    j.rounding = r;
    j.y = y;
    j.counted = stats != NULL;
    j.want = stats ? stats->request.want : 0;
    if (j.counted)
        j.unbounded = core_plan_unbounded64(&p->plan);

    int found_nan = 0;
    const int parts = thread_count(n);
    if (parts == 1) { /* apart: entering a parallel region costs more than many a call */
        found_nan = run_part(&j, 0, 1, n, stats);
        return found_nan && p->nan_is_error ? FPEMU_ERROR_NAN : FPEMU_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1) reduction(| : found_nan)
#endif
    for (int k = 0; k < parts; k++) {
        fp_environment environment;
        fpemu_environment_enter(&environment); /* a worker thread has its own */
        found_nan |= run_part(&j, k, parts, n, stats);
        fpemu_environment_leave(&environment);
    }
    return found_nan && p->nan_is_error ? FPEMU_ERROR_NAN : FPEMU_OK;
}

static fpemu_status operate(const fpemu_format *f, const fpemu_rounding *r, int work, int carrier, size_t n,
                            const void *const *operands, const size_t *steps, const scaling *scales, void *y,
                            fpemu_stats *stats)
{
    if (!is_type(carrier))
        return FPEMU_ERROR_ARGUMENT;
    if (n == 0)
        return FPEMU_OK;
    fp_environment environment;
    fpemu_environment_enter(&environment);
    arith_plan p;
    fpemu_status status = prepare(&p, f, r, work, carrier);
    if (!status)
        status = run_plan(&p, r, n, operands, steps, scales, y, stats);
    fpemu_environment_leave(&environment);
    return status;
}

/* One element, the long way, or NaN; operands and y are numbers of the carrier. */
static void operate_one(const fpemu_format *f, const fpemu_rounding *r, int work, int carrier, const void *a,
                        const void *b, const void *c, uint64_t index, void *y)
{
    arith_plan p;
    double wide = core_value64(CORE_INF64 | CORE_INF64 >> 1);
    fp_environment environment;
    fpemu_environment_enter(&environment);
    const double v[3] = {operand_at(a, carrier, 0), operand_at(b, carrier, 0), operand_at(c, carrier, 0)};
    if (prepare(&p, f, r, work, carrier) == FPEMU_OK && (work < FUNCTIONS || is_narrow(v[0]))) {
        uint64_t g;
        const core_exact x = exact_of(work, p.plan.mode, v[0], v[1], v[2]);
        wide = core_value64(core_exact_round(&p.plan, &x, p.stochastic ? fpemu_element_bits(r, index) : 0, &g));
    }
    const float narrow = (float)wide;
    memcpy(y, carrier == 32 ? (const void *)&narrow : &wide, carrier == 32 ? sizeof narrow : sizeof wide);
    fpemu_environment_leave(&environment);
}

/* ---------------------------------------------------------------------------------------- public functions */

static int work_of_operation(fpemu_operation operation)
{
    return (unsigned)operation < FPEMU_OPERATION_COUNT ? (int)operation : -1;
}

static int work_of_function(fpemu_function function)
{
    return (unsigned)function < FPEMU_FUNCTION_COUNT ? FUNCTIONS + (int)function : -1;
}

fpemu_status fpemu_arith_scaled(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                fpemu_operation operation, size_t n, const void *const *operands, const size_t *steps,
                                const fpemu_operand_scales *scales, void *y, fpemu_stats *stats)
{
    const void *all[3] = {NULL, NULL, NULL};
    scaling scaled[3];
    if (n && (unsigned)operation < FPEMU_OPERATION_COUNT)
        take_operands(operand_count[operation], operands, scales, all, scaled);
    return operate(format, rounding, work_of_operation(operation), (int)type, n, all, steps, scales ? scaled : NULL, y,
                   stats);
}

fpemu_status fpemu_arith(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                         fpemu_operation operation, size_t n, const void *const *operands, const size_t *steps, void *y,
                         fpemu_stats *stats)
{
    return fpemu_arith_scaled(format, rounding, type, operation, n, operands, steps, NULL, y, stats);
}

fpemu_status fpemu_apply(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                         fpemu_function function, size_t n, const void *x, void *y, fpemu_stats *stats)
{
    const void *const operands[] = {x};
    return operate(format, rounding, work_of_function(function), (int)type, n, operands, NULL, NULL, y, stats);
}

float fpemu_arith_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation,
                          float a, float b, float c, uint64_t index)
{
    float y;
    operate_one(format, rounding, work_of_operation(operation), 32, &a, &b, &c, index, &y);
    return y;
}

double fpemu_arith_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_operation operation,
                           double a, double b, double c, uint64_t index)
{
    double y;
    operate_one(format, rounding, work_of_operation(operation), 64, &a, &b, &c, index, &y);
    return y;
}

float fpemu_apply_one_f32(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function, float x,
                          uint64_t index)
{
    float y;
    operate_one(format, rounding, work_of_function(function), 32, &x, &x, &x, index, &y);
    return y;
}

double fpemu_apply_one_f64(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_function function,
                           double x, uint64_t index)
{
    double y;
    operate_one(format, rounding, work_of_function(function), 64, &x, &x, &x, index, &y);
    return y;
}

/* ------------------------------------------------------------------------------------------- prepared calls */

_Static_assert(sizeof(arith_plan) <= PLAN_BYTES, "an arith_plan is kept in an fpemu_prepared");

fpemu_status fpemu_arith_plan(void *plan, const fpemu_format *f, const fpemu_rounding *r, int use, int type)
{
    return prepare((arith_plan *)plan, f, r,
                   use >= FPEMU_USE_FUNCTION ? work_of_function((fpemu_function)(use - FPEMU_USE_FUNCTION))
                                             : work_of_operation((fpemu_operation)(use - FPEMU_USE_OPERATION)),
                   type);
}

fpemu_status fpemu_arith_run(const void *plan, const fpemu_rounding *r, size_t n, const void *const *operands,
                             const size_t *steps, const fpemu_operand_scales *scales, void *y, fpemu_stats *stats)
{
    const arith_plan *const p = (const arith_plan *)plan;
    const void *all[3] = {NULL, NULL, NULL};
    scaling scaled[3];
    take_operands(operands_of(p->work), operands, scales, all, scaled);
    return run_plan(p, r, n, all, steps, scales ? scaled : NULL, y, stats);
}
