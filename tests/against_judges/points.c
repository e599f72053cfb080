/* SPDX-License-Identifier: BSD-2-Clause */
/* points.c - boundary-heavy inputs of a format, from the judge's idea of its values. */
#include "points.h"
#include "../judges/bits.h"
#include "../judges/judge.h"

typedef struct list {
    double *v;
    size_t n, capacity;
} list;

static void *grown(void *memory, size_t *capacity, size_t size)
{
    *capacity = *capacity ? 2 * *capacity : 1024;
    memory = realloc(memory, *capacity * size);
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void push(points *p, uint64_t bits)
{
    if (p->n == p->capacity)
        p->x = grown(p->x, &p->capacity, sizeof *p->x);
    p->x[p->n++] = bits;
}

/* v, or what the carrier has nearest to it, and `reach` numbers on each side. */
static void push_near(points *p, unsigned carrier, double v, unsigned reach)
{
    double down = carrier == 32 ? (double)(float)v : v, up = down;
    push(p, carrier_bits(carrier, down));
    for (unsigned i = 0; i < reach; i++) {
        down = carrier == 32 ? (double)nextafterf((float)down, -INFINITY) : nextafter(down, -INFINITY);
        up = carrier == 32 ? (double)nextafterf((float)up, INFINITY) : nextafter(up, INFINITY);
        push(p, carrier_bits(carrier, down));
        push(p, carrier_bits(carrier, up));
    }
}

static void push_specials(points *p, unsigned carrier)
{
    static const uint32_t narrow[] = {0,          1,          2,          3,          0x7fffff,
                                      0x800000,   0x800001,   0x7f7fffff, 0x7f800000, 0x7fc00000,
                                      0x7f800001, 0x7fffffff, 0x7fbfffff, 0x7fc12345};
    static const uint64_t wide[] =
        LIST(0, 1, 2, 3, UINT64_C(0x000fffffffffffff), UINT64_C(0x0010000000000000), UINT64_C(0x7fefffffffffffff),
             UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff0000000000001),
             UINT64_C(0x7fffffffffffffff), UINT64_C(0x36a0000000000000), UINT64_C(0x47efffffffffffff),
             UINT64_C(0x47f0000000000000));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        push(p, carrier == 32 ? narrow[i] : wide[i]);
        push(p, carrier == 32 ? narrow[i] | 0x80000000 : wide[i] | UINT64_C(1) << 63);
    }
}

/* ------------------------------------------------------------------------------------------------- values */

static void add_value(list *l, judge *j, unsigned carrier, uint64_t code)
{
    const double v = carrier_value(carrier, judge_decode(j, code));
    if (!isfinite(v))
        return;
    if (l->n == l->capacity)
        l->v = grown(l->v, &l->capacity, sizeof *l->v);
    l->v[l->n++] = v;
}

static void add_around(list *l, judge *j, unsigned carrier, uint64_t code)
{
    for (uint64_t i = 0; i < 7; i++)
        add_value(l, j, carrier, code + i - 3);
}

/* Codes around the ends of the range, of every binade (some, where there are very many) and of every power of two. */
static void sample_codes(list *l, judge *j, unsigned carrier, const fpemu_format *f, uint64_t *seed)
{
    unsigned body = f->bits - f->is_signed, i;
    uint64_t mask = f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
    uint64_t top = body == 64 ? UINT64_MAX : (UINT64_C(1) << body) - 1;
    uint64_t sign, E, many = UINT64_C(1) << f->exponent_bits;

    for (sign = 0; sign <= (uint64_t)f->is_signed; sign++) {
        uint64_t s = sign << (f->bits - 1);
        for (i = 0; i < 24; i++) {
            add_value(l, j, carrier, s + i);
            add_value(l, j, carrier, s + top - i);
        }
        for (i = 3; i < body; i++) {
            add_around(l, j, carrier, s + (UINT64_C(1) << i));
            add_around(l, j, carrier, s + top - (UINT64_C(1) << i));
        }
        for (i = 0; i < 24; i++)
            add_around(l, j, carrier, (s | split_mix(seed)) & mask);
        if (f->kind != FPEMU_KIND_FLOAT)
            continue;
        for (E = 0; E < many; E++) {
            uint64_t c = s + (E << f->mantissa_bits);
            int64_t from_bias = (int64_t)E - f->bias;
            if (many > 64 && E > 3 && E + 5 < many && (from_bias < -1 || from_bias > 2) && split_mix(seed) % 8)
                continue;
            add_around(l, j, carrier, c);
            add_around(l, j, carrier, c + (UINT64_C(1) << f->mantissa_bits >> 1));
        }
    }
    /* The largest finite values: past them come codes of infinities and NaN, as many as a binade. */
    if (f->kind == FPEMU_KIND_FLOAT && f->specials == FPEMU_SPECIALS_IEEE)
        for (i = 0; i < 24; i++)
            add_value(l, j, carrier, ((many - 1) << f->mantissa_bits) - 1 - i);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_bits(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Posits change over not in the arithmetic middle, but at the posit with one bit more. */
static void push_posit_middles(points *p, const fpemu_format *f, unsigned carrier, const points_want *want,
                               uint64_t *seed)
{
    static const fpemu_rounding nearest;
    fpemu_format finer = *f;
    list l = {0};

    finer.bits++;
    judge *j = finer.bits > 32 ? NULL : judge_open(JUDGE_SLOW, &finer, &nearest, carrier);
    if (!j)
        return;
    if (f->bits <= want->full_bits)
        for (size_t i = 0; i < (size_t)1 << finer.bits; i++)
            add_value(&l, j, carrier, i);
    else
        sample_codes(&l, j, carrier, &finer, seed);
    for (size_t i = 0; i < l.n; i++)
        push_near(p, carrier, l.v[i], want->reach);
    judge_close(j);
    free(l.v);
}

static double middle(double u, double w)
{
    return (w - u < INFINITY) ? u + (w - u) / 2 : u / 2 + w / 2;
}

static void push_past_end(points *p, unsigned carrier, double end, double inner, unsigned reach)
{
    static const double steps[] = {0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4};
    double step = end - inner;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        push_near(p, carrier, end + steps[i] * step, reach);
    for (size_t i = 1; i <= 70; i += i < 8 ? 1 : 9)
        push_near(p, carrier, end * ldexp(1, (int)i), reach);
    push_near(p, carrier, 1.5 * end, reach);
}

/* ------------------------------------------------------------------------------------------------- random */

static uint64_t random_in_range(unsigned carrier, double lowest, double max, double smallest, int linear,
                                uint64_t *seed)
{
    const uint64_t r = split_mix(seed);
    double v;
    if (linear) {
        v = lowest + (max - lowest) * (ldexp((double)(r >> 11), -53) * 1.5 - 0.25);
    } else {
        int low = ilogb(smallest) - 3, high = ilogb(fmax(max, -lowest)) + 3;
        uint64_t pick = split_mix(seed);
        v = ldexp(1 + ldexp((double)(r >> 12), -52), low + (int)(pick % (uint64_t)(high - low)));
        /* Few significant bits now and then: such inputs lie on grid points and ties. */
        if (v != 0 && pick >> 60 < 4)
            v = ldexp(rint(ldexp(v, 8 - ilogb(v))), ilogb(v) - 8);
        if (pick >> 59 & 1)
            v = -v;
    }
    return carrier_bits(carrier, v);
}

int points_make(points *p, const fpemu_format *f, unsigned carrier, const points_want *want)
{
    static const fpemu_rounding nearest;
    judge *j = judge_open(JUDGE_SLOW, f, &nearest, carrier);
    list l = {0};
    uint64_t seed = want->seed;
    double smallest = INFINITY;
    size_t i, n;

    if (!j)
        return 0;
    if (f->bits <= want->full_bits)
        for (i = 0; i < (size_t)1 << f->bits; i++)
            add_value(&l, j, carrier, i);
    else
        sample_codes(&l, j, carrier, f, &seed);
    judge_close(j);
    qsort(l.v, l.n, sizeof *l.v, by_value);

    push_specials(p, carrier);
    for (i = 0; i < l.n; i++) {
        push_near(p, carrier, l.v[i], want->reach);
        if (i + 1 < l.n && l.v[i] < l.v[i + 1])
            push_near(p, carrier, middle(l.v[i], l.v[i + 1]), want->reach);
        if (l.v[i] != 0 && fabs(l.v[i]) < smallest)
            smallest = fabs(l.v[i]);
    }
    if (smallest < INFINITY) {
        size_t last = l.n - 1, inner;
        for (inner = last; inner > 0 && l.v[inner] == l.v[last]; inner--)
            continue;
        push_past_end(p, carrier, l.v[last], l.v[inner], want->reach);
        for (inner = 0; inner < last && l.v[inner] == l.v[0]; inner++)
            continue;
        push_past_end(p, carrier, l.v[0], l.v[inner], want->reach);
        push_past_end(p, carrier, -l.v[last], -l.v[last] + smallest, want->reach);
        for (i = 1; i < 40; i++) {
            push_near(p, carrier, ldexp(smallest, -(int)i), want->reach);
            push_near(p, carrier, -ldexp(smallest, -(int)i), want->reach);
        }
        for (i = 0; i < want->random / 2; i++)
            push(p, random_in_range(carrier, l.v[0], l.v[last], smallest,
                                    f->kind != FPEMU_KIND_FLOAT && f->kind != FPEMU_KIND_POSIT && i % 2, &seed));
    }
    if (f->kind == FPEMU_KIND_POSIT)
        push_posit_middles(p, f, carrier, want, &seed);
    for (i = 0; i < want->random - want->random / 2; i++)
        push(p, split_mix(&seed) >> (64 - carrier));
    free(l.v);

    qsort(p->x, p->n, sizeof *p->x, by_bits);
    for (i = 1, n = p->n ? 1 : 0; i < p->n; i++)
        if (p->x[i] != p->x[n - 1])
            p->x[n++] = p->x[i];
    p->n = n;
    return 1;
}

void points_free(points *p)
{
    free(p->x);
    *p = (points){0};
}
