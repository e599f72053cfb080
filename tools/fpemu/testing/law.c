/* SPDX-License-Identifier: BSD-2-Clause */
/* law.c - see search.h: whether somebody else's stochastic rounding follows its law. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "cli/number.h"
#include "common/clock.h"
#include "testing/difference.h"
#include "testing/search.h"

typedef enum law_kind {
    LAW_NEIGHBOUR,   /* neither of the two neighbours */
    LAW_EXACT,       /* a number of the format, or one past its ends, has one result */
    LAW_PROBABILITY, /* of one number */
    LAW_BIAS,        /* of all numbers of a region together */
    LAW_CALLS,       /* random bits come again in the next call, */
    LAW_ELEMENTS     /* and in the same one */
} law_kind;
typedef enum law_region { LAW_SUBNORMAL, LAW_NORMAL, LAW_END, LAW_REGIONS } law_region; /* END: past the largest */

/* A number that becomes `low` or, with probability `p`, `high`, which is further from zero. */
typedef struct law_point {
    double x, low, high, p;
    law_region region;
} law_point;

typedef struct law {
    search *s;
    law_point *point;
    size_t points;
    uint64_t trials; /* roundings of each number */
    double slack;    /* by which probabilities differ where there are few random bits */
    double least;    /* logarithm of the smallest probability that passes */
} law;

/* ------------------------------------------------------------------------------------------------- numbers */

/* The one result of a number that is not rounded, or rounded past the ends. */
static double settled(const law *t, double x)
{
    const fpemu_rounding nearest = {.overflow = t->s->rounding.overflow, .nan = t->s->rounding.nan};
    return fpemu_decode_one_f64(&t->s->format, fpemu_encode_one_f64(&t->s->format, &nearest, x, 0));
}

/* From the largest number to the next on the grid without end; none of a codebook, which takes its end. */
static double last_step(const fpemu_format *format, double max)
{
    return format->kind == FPEMU_KIND_FLOAT      ? ldexp(1, ilogb(max) - (int)format->mantissa_bits)
           : format->kind == FPEMU_KIND_CODEBOOK ? 0
                                                 : max - fpemu_format_next_down(format, max);
}

static void add_point(law *t, double x)
{
    const fpemu_format *format = &t->s->format;
    const float narrow = (float)x;
    if (t->s->other.signature.in == EXTERNAL_F32)
        x = (double)narrow;
    const double max = signbit(x) ? -fpemu_format_lowest(format) : fpemu_format_max(format), size = fabs(x);
    const double step = last_step(format, max), normal = fpemu_format_min_normal(format);
    law_point p = {.x = x, .region = size > max ? LAW_END : size < normal ? LAW_SUBNORMAL : LAW_NORMAL};
    if (x < 0 && !format->is_signed)
        return;
    if (!(size < max + step) || fpemu_format_represents(format, x)) {
        p.low = p.high = settled(t, x);
    } else {
        const double low =
            size > max ? max : fabs(signbit(x) ? fpemu_format_next_up(format, x) : fpemu_format_next_down(format, x));
        const double high =
            size > max ? max + step
                       : fabs(signbit(x) ? fpemu_format_next_down(format, x) : fpemu_format_next_up(format, x));
        p.p = t->s->rounding.mode == FPEMU_MODE_SE ? 0.5 : (size - low) / (high - low);
        p.low = copysign(low, x);
        p.high = size > max ? settled(t, copysign(2 * (max + step), x)) : copysign(high, x);
    }
    t->point[t->points++] = p;
}

enum { PARTS = 7, MOST_VALUES = 240 };

/* Between u and the next value: u itself, the middle, near quarters and ends, and anywhere; all mirrored. Most have low
 * bits by chance, so that random numbers of fewer bits than are told go to one side. */
static void add_points(law *t, double u, double next)
{
    const double r = (double)fpemu_random_word(FPEMU_GENERATOR_HASH, t->s->in.seed, 50, t->points) * 0x1p-32;
    const double parts[PARTS] = {0, 0.5, 0.25 + r * 0x1p-6, 0.75 + r * 0x1p-6, r * 0x1p-6, 1 - r * 0x1p-6, r};
    for (int i = 0; i < PARTS; i++) {
        add_point(t, u + (next - u) * parts[i]);
        add_point(t, -(u + (next - u) * parts[i]));
    }
}

/* Values at even distances in the order of their codes, both ends of the subnormal ones and of all among them. */
static void list_points(law *t)
{
    const fpemu_format *format = &t->s->format;
    const double max = fpemu_format_max(format), step = last_step(format, max);
    const double specials[] = {(double)INFINITY, (double)NAN, max + step, 2 * max};
    const double edges[] = {fpemu_format_min_positive(format), fpemu_format_min_normal(format), max, 1};
    t->point = cli_allocate((MOST_VALUES + 16) * 2 * PARTS, sizeof *t->point);
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        add_point(t, specials[i]);
        add_point(t, -specials[i]);
    }
    add_points(t, max, max + step);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const double low = fpemu_format_next_down(format, edges[i]);
        add_points(t, low, fpemu_format_next_up(format, low));
    }
    const uint64_t stride = format->max_code / MOST_VALUES + 1;
    for (uint64_t code = 0; code < format->max_code; code += stride) {
        const double u = fpemu_decode_one_f64(format, code);
        if (isfinite(u) && u >= 0 && u < max)
            add_points(t, u, fpemu_format_next_up(format, u));
    }
}

/* ------------------------------------------------------------------------------------------------- results */

static double result(const law *t, size_t i)
{
    const external_type out = t->s->other.signature.out;
    return difference_number(out, &t->s->format, number_load_code(t->s->other.out, signature_size(out), i)).value;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* False past the time limit. Without every result there is no law to test. */
static bool run(law *t, size_t n)
{
    search *s = t->s;
    memset(s->other.out, 0xa5, n * signature_size(s->other.signature.out));
    const external_end end = clock_seconds() > s->deadline ? EXTERNAL_LATE : external_run(&s->other, n, s->deadline);
    if (end == EXTERNAL_FAILED)
        cli_end(CLI_NOT_COMPARED, "%s; without -r sr, fuzz looks for the input", s->other.failure);
    s->late = s->late || end == EXTERNAL_LATE;
    return end == EXTERNAL_DONE;
}

/* A bound on the logarithm of the chance that of n independent events of mean probability p k or more happen: n times
 * the relative entropy (Chernoff; Hoeffding for unequal ones). */
static double log_tail(double k, double n, double p)
{
    const double a = k / n;
    if (a <= p)
        return 0;
    const double there = p > 0 ? a * log(a / p) : (double)INFINITY;
    const double not_there = a < 1 ? (1 - a) * log((1 - a) / (1 - p)) : 0;
    return -n * (there + not_there);
}

/* Neither too many nor too few of n, where the probability lies within the slack around p. */
static bool is_likely(const law *t, double k, double n, double p)
{
    return log_tail(k, n, fmin(p + t->slack, 1)) >= t->least &&
           log_tail(n - k, n, fmin(1 - p + t->slack, 1)) >= t->least;
}

/* The class to be filled in, where x is the smallest example so far; NULL otherwise. */
static outcome *take(law *t, law_kind kind, law_region region, double x)
{
    static const char *const kinds[] = {"neighbour", "exact",         "probability",
                                        "bias",      "repeats-calls", "repeats-elements"};
    static const char *const regions[LAW_REGIONS] = {"subnormal", "normal", "end"};
    const double rank[OUTCOME_RANKS] = {fabs(x)};
    outcome *o = outcome_take(t->s, (int)kind * LAW_REGIONS + (int)region, kinds[kind],
                              kind < LAW_CALLS ? regions[region] : NULL, rank);
    if (o != NULL)
        number_print(o->input, x);
    return o;
}

static void describe(outcome *o, const law_point *p, const char *got)
{
    char low[NUMBER_SIZE], high[NUMBER_SIZE];
    if (o == NULL)
        return;
    snprintf(o->got, sizeof o->got, "%s", got);
    if (same(p->low, p->high))
        number_print(o->expected, p->low);
    else
        snprintf(o->expected, sizeof o->expected, "%s, else %s at %.6g", number_print(low, p->low),
                 number_print(high, p->high), p->p);
}

typedef struct pool {
    double n, up, p;
} pool;

/* The results of a point, from `first` on in the batch. */
static void judge(law *t, const law_point *p, size_t first, pool *all)
{
    char value[NUMBER_SIZE], text[100];
    uint64_t up = 0, strange = 0;
    double stranger = 0;
    for (size_t i = first; i < first + t->trials; i++) {
        const double y = result(t, i);
        up += same(y, p->high);
        if (!same(y, p->high) && !same(y, p->low)) {
            strange++;
            stranger = y;
        }
    }
    const bool exact = same(p->low, p->high);
    if (strange > 0) {
        snprintf(text, sizeof text, "%s, in %" PRIu64 " of %" PRIu64, number_print(value, stranger), strange,
                 t->trials);
        describe(take(t, exact ? LAW_EXACT : LAW_NEIGHBOUR, p->region, p->x), p, text);
    } else if (!exact) {
        if (!is_likely(t, (double)up, (double)t->trials, p->p)) {
            snprintf(text, sizeof text, "%s in %" PRIu64 " of %" PRIu64, number_print(value, p->high), up, t->trials);
            describe(take(t, LAW_PROBABILITY, p->region, p->x), p, text);
        }
        all[p->region].n += (double)t->trials;
        all[p->region].up += (double)up;
        all[p->region].p += p->p * (double)t->trials;
    }
}

/* ----------------------------------------------------------------------------------------------- repetition */

enum { REPEATED = 1 << 16, LAGS = 1024, ALL_LAGS = LAGS + 5 };

static size_t lag_of(size_t i)
{
    return i < LAGS ? i + 1 : (size_t)LAGS << (i - LAGS + 1); /* then powers of two */
}

/* Two calls on many ties: bits that come again agree too often, or too seldom. */
static void look_for_repetition(law *t)
{
    const law_point *tie = NULL;
    for (size_t i = 0; i < t->points; i++)
        if (t->point[i].region == LAW_NORMAL && t->point[i].p == 0.5)
            tie = &t->point[i];
    if (tie == NULL)
        return;
    uint8_t *up[2];
    for (int call = 0; call < 2; call++) {
        up[call] = cli_allocate(REPEATED, 1);
        for (size_t i = 0; i < REPEATED; i++)
            difference_store(t->s->other.signature.in, t->s->other.in[0], i, tie->x);
        const bool goes_on = run(t, REPEATED);
        for (size_t i = 0; goes_on && i < REPEATED; i++)
            up[call][i] = same(result(t, i), tie->high);
    }
    uint64_t equal = 0;
    for (size_t i = 0; i < REPEATED; i++)
        equal += up[0][i] == up[1][i];
    if (!t->s->late && !is_likely(t, (double)equal, REPEATED, 0.5)) {
        outcome *o = take(t, LAW_CALLS, LAW_NORMAL, tie->x);
        snprintf(o->expected, sizeof o->expected, "two calls alike in half");
        snprintf(o->got, sizeof o->got, "%" PRIu64 " of %d alike", equal, REPEATED);
    }
    for (size_t k = 0; !t->s->late && k < ALL_LAGS; k++) {
        const size_t lag = lag_of(k), n = REPEATED - lag;
        equal = 0;
        for (size_t i = 0; i < n; i++)
            equal += up[0][i] == up[0][i + lag];
        if (!is_likely(t, (double)equal, (double)n, 0.5)) {
            outcome *o = take(t, LAW_ELEMENTS, LAW_NORMAL, tie->x);
            if (o == NULL)
                continue;
            snprintf(o->expected, sizeof o->expected, "elements %zu apart alike in half", lag);
            snprintf(o->got, sizeof o->got, "%" PRIu64 " of %zu alike", equal, n);
        }
    }
    free(up[0]);
    free(up[1]);
}

/* --------------------------------------------------------------------------------------------------- search */

void law_search(search *s, uint64_t results)
{
    law whole = {.s = s}, *t = &whole;
    pool all[LAW_REGIONS] = {{0, 0, 0}};
    list_points(t);
    t->trials = results / t->points;
    t->trials = t->trials < 64 ? 64 : t->trials > EXTERNAL_BATCH ? EXTERNAL_BATCH : t->trials;
    t->slack = s->rounding.bits > 0 ? ldexp(1, -s->rounding.bits) : 0x1p-32;
    t->least = log(LAW_FALSE_ALARM / (2 * (double)(t->points + LAW_REGIONS + 1 + ALL_LAGS)));
    look_for_repetition(t);
    const size_t batch = EXTERNAL_BATCH / (size_t)t->trials;
    for (size_t first = 0; first < t->points && !s->late; first += batch) {
        const size_t n = t->points - first < batch ? t->points - first : batch;
        for (size_t i = 0; i < n * t->trials; i++)
            difference_store(s->other.signature.in, s->other.in[0], i, t->point[first + i / t->trials].x);
        if (!run(t, n * (size_t)t->trials))
            break;
        for (size_t i = 0; i < n; i++)
            judge(t, &t->point[first + i], i * (size_t)t->trials, all);
        s->done[INPUTS_BOUNDARY] += n;
    }
    for (int r = 0; r < LAW_REGIONS; r++) {
        if (all[r].n > 0 && !is_likely(t, all[r].up, all[r].n, all[r].p / all[r].n)) {
            outcome *o = take(t, LAW_BIAS, (law_region)r, 0);
            snprintf(o->input, sizeof o->input, "all");
            snprintf(o->expected, sizeof o->expected, "away from zero at %.6g", all[r].p / all[r].n);
            snprintf(o->got, sizeof o->got, "at %.6g", all[r].up / all[r].n);
        }
    }
    snprintf(s->summary, sizeof s->summary,
             "%" PRIu64 " numbers, %" PRIu64 " results of each, seed %" PRIu64
             "; a right implementation fails with less than %g",
             s->done[INPUTS_BOUNDARY], t->trials, s->in.seed, LAW_FALSE_ALARM);
    free(t->point);
}
