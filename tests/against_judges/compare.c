/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.c - the library against a judge, over an array of inputs. */
#include "compare.h"
#include "../judges/bits.h"

const char *compare_mode(unsigned mode)
{
    static const char *const names[] = {"rne", "rna", "rnz", "rtz", "raz", "rtp", "rtn", "rto", "sr", "se", "rnp"};
    return mode < sizeof names / sizeof *names ? names[mode] : "?";
}

const char *compare_policy(unsigned policy)
{
    static const char *const names[] = {"format", "ieee", "saturate", "keepinf"};
    return policy < sizeof names / sizeof *names ? names[policy] : "?";
}

void compare_print(void *context, const compare_mismatch *m)
{
    const fpemu_rounding *r = m->rounding;
    (void)context;
    printf("FAIL %s %s overflow=%s nan=%d f%u: %s of x=0x%" PRIx64 " (%.17g, index %" PRIu64 "): judge 0x%" PRIx64
           ", library 0x%" PRIx64,
           m->spec, compare_mode(r->mode), compare_policy(r->overflow), r->nan, m->carrier, m->what, m->x,
           carrier_value(m->carrier, m->x), m->index, m->judge, m->library);
    if (strcmp(m->what, "value") == 0)
        printf(" (%.17g, %.17g)", carrier_value(m->carrier, m->judge), carrier_value(m->carrier, m->library));
    if (FPEMU_MODE_DRAWS(r->mode))
        printf(" variant %d bits %d seed %" PRIu64 " stream %" PRIu64 " R=0x%" PRIx32, r->variant, r->bits, r->seed,
               r->stream, fpemu_random_bits(r, m->index));
    putchar('\n');
}

typedef struct run {
    compare_mismatch m;
    unsigned long failures;
    unsigned most;
    compare_report *report;
    void *context;
} run;

static void check(run *c, const char *what, uint64_t x, uint64_t index, uint64_t judged, uint64_t library)
{
    if (judged == library)
        return;
    if (c->failures++ >= c->most)
        return;
    c->m.what = what;
    c->m.x = x;
    c->m.index = index;
    c->m.judge = judged;
    c->m.library = library;
    c->report(c->context, &c->m);
}

static void *allocate(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

enum { COUNTERS = 6 };

static const char *const counter_names[COUNTERS] = {"counter clipped",   "counter overflow",  "counter invalid",
                                                    "counter underflow", "counter subnormal", "counter inexact"};

/* In the order of the bits of judge_result.events. */
static void counters(const fpemu_stats *s, uint64_t count[COUNTERS])
{
    count[0] = s->clipped;
    count[1] = s->overflow;
    count[2] = s->invalid;
    count[3] = s->underflow;
    count[4] = s->subnormal;
    count[5] = s->inexact;
}

static fpemu_status quantize(const fpemu_format *f, const fpemu_rounding *r, unsigned carrier, size_t n, const void *in,
                             void *out, fpemu_stats *stats)
{
    fpemu_status status = fpemu_quantize(f, r, (fpemu_type)carrier, n, in, out, stats);
    return status == FPEMU_ERROR_NAN && r->nan == FPEMU_NAN_ERROR ? FPEMU_OK : status;
}

static fpemu_status encode(const fpemu_format *f, const fpemu_rounding *r, unsigned carrier, size_t n, const void *in,
                           void *codes, fpemu_stats *stats)
{
    fpemu_status status = fpemu_encode(f, r, (fpemu_type)carrier, n, in, codes, stats);
    return status == FPEMU_ERROR_NAN && r->nan == FPEMU_NAN_ERROR ? FPEMU_OK : status;
}

static uint32_t random_of(const fpemu_rounding *r, size_t i)
{
    return FPEMU_MODE_DRAWS(r->mode) ? fpemu_random_bits(r, i) : 0;
}

/* Counter k differs over the array: find an element that shows it. */
static void check_counter(run *c, const fpemu_format *f, unsigned carrier, const uint64_t *x, const unsigned char *in,
                          size_t n, judge *j, unsigned k, uint64_t judged, uint64_t library)
{
    size_t size = carrier / 8, i;
    unsigned char out[8];

    for (i = 0; i < n; i++) {
        fpemu_rounding at = *c->m.rounding;
        fpemu_stats one = {0};
        uint64_t got[COUNTERS];
        uint32_t event = judge_round(j, x[i], random_of(&at, i), 0).events >> k & 1;
        at.offset += i;
        quantize(f, &at, carrier, 1, in + i * size, out, &one);
        counters(&one, got);
        if (got[k] != event) {
            check(c, counter_names[k], x[i], i, event, got[k]);
            return;
        }
    }
    check(c, counter_names[k], 0, 0, judged, library); /* only the whole array shows it */
}

unsigned long compare_array(const char *spec, const fpemu_format *format, const fpemu_rounding *rounding,
                            unsigned carrier, const uint64_t *x, size_t n, judge *j, unsigned most,
                            compare_report *report, void *context)
{
    run c = {{spec, rounding, carrier, NULL, 0, 0, 0, 0}, 0, most, report, context};
    size_t size = carrier / 8, i;
    unsigned char *in = allocate(n * size), *out = allocate(n * size), *codes = allocate(n * 8);
    fpemu_stats quantized = {0}, encoded = {0};
    uint64_t want[COUNTERS] = {0}, got[COUNTERS], got_encoded[COUNTERS];

    for (i = 0; i < n; i++) {
        uint32_t narrow = (uint32_t)x[i];
        memcpy(in + i * size, carrier == 32 ? (const void *)&narrow : &x[i], size);
    }
    check(&c, "status of quantize", 0, 0, FPEMU_OK, quantize(format, rounding, carrier, n, in, out, &quantized));
    check(&c, "status of encode", 0, 0, FPEMU_OK, encode(format, rounding, carrier, n, in, codes, &encoded));
    if (!c.failures) {
        for (i = 0; i < n; i++) {
            judge_result r = judge_round(j, x[i], random_of(rounding, i), 1);
            uint64_t y = 0;
            uint32_t narrow;
            if (carrier == 32) {
                memcpy(&narrow, out + i * size, sizeof narrow);
                y = narrow;
            } else {
                memcpy(&y, out + i * size, sizeof y);
            }
            check(&c, "value", x[i], i, r.bits, y);
            check(&c, "code", x[i], i, r.code, code_at(codes, fpemu_format_code_size(format), i));
            for (unsigned k = 0; k < COUNTERS; k++)
                want[k] += r.events >> k & 1;
        }
        counters(&quantized, got);
        counters(&encoded, got_encoded);
        for (unsigned k = 0; k < COUNTERS; k++)
            if (got[k] != want[k])
                check_counter(&c, format, carrier, x, in, n, j, k, want[k], got[k]);
            else if (got_encoded[k] != want[k])
                check(&c, "counter of encode", k, 0, want[k], got_encoded[k]);
    }
    FREE(in, out, codes);
    return c.failures;
}
