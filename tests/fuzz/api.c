/* SPDX-License-Identifier: BSD-2-Clause */
/* api.c - see api.h. By itself: api FILE... prints the digest of each, or of each member of an archive; api --random N
 * SEED takes N inputs of its own, and prints one digest; api --variants names the instruction sets that FPEMU_VARIANT can
 * ask for. With FUZZ_API it is the entry point of libFuzzer, runs every input with all instruction sets, and stands in
 * for lib/loops/dispatch.c. */
#include "../../tools/common/system.h"

#include "../judges/bits.h"
#include "api.h"
#include "archive.h"

#ifdef _OPENMP
#include <omp.h>
#endif

char api_case[2048];
static uint64_t digest;

void api_insist(int condition, const char *what, const char *file, int line)
{
    if (!condition) {
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, api_case);
        abort();
    }
}

void api_digest(const void *bytes, size_t size)
{
    digest = fnv(digest, bytes, size);
}

int api_same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

void api_threads(int n)
{
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

/* ------------------------------------------------------------------------------------------------- drawing */
static uint64_t congruent(uint64_t *state)
{
    *state = *state * 0x5851f42d4c957f2d + 1442695040888963407u;
    return *state;
}

uint64_t draw_word(draw *d, unsigned bytes)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < bytes; i++) {
        const uint64_t byte = d->at < d->end ? *d->at++ : congruent(&d->rest) >> 56;
        word |= byte << 8 * i;
    }
    return word;
}

uint32_t draw_below(draw *d, uint32_t n)
{
    return (uint32_t)(draw_word(d, n > 256 ? 4 : 1) % n);
}

uint32_t draw_seldom(draw *d, uint32_t n, int *seldom)
{
    const uint32_t byte = draw_below(d, 256);
    *seldom = byte >= 252;
    return byte % n;
}

double draw_number(draw *d, const fpemu_format *f)
{
    static const double special[] = {0.0,       -0.0,       NAN,      -NAN,    INFINITY, -INFINITY,      1.0,
                                     0x1p-149,  0x1p-126,   0x1p-24,  -1.0,    0x1p-14,  0x1.fffffep127, 65504.0,
                                     0x1p-1074, -0x1p-1022, 0x1p1023, 65520.0, -448.0,   0x1.fep127,     3.0};
    switch (draw_below(d, 6)) {
    case 0: return special[draw_below(d, sizeof special / sizeof *special)];
    case 1: return lh_float((uint32_t)draw_word(d, 4));
    case 2: return lh_double(draw_word(d, 8));
    case 3: { /* few bits at any exponent */
        const int exponent = (int16_t)draw_word(d, 2), bits = (int8_t)draw_word(d, 1);
        return ldexp(bits, exponent % (bits & 1 ? 1100 : 24));
    }
    case 4: return (double)(int16_t)draw_word(d, 2) / 16;
    default: break;
    }
    /* a value, the middle between it and the next, or what lies beside these */
    if (f == NULL || f->kind == FPEMU_KIND_INVALID)
        return 0;
    fpemu_format element;
    if (fpemu_format_element(f, &element) != FPEMU_OK)
        return 0;
    double x = fpemu_decode_one_f64(&element, draw_word(d, (element.bits + 7) / 8));
    const double next = fpemu_format_next_up(&element, x);
    if (draw_below(d, 2) && isfinite(next))
        x += (next - x) / 2;
    switch (draw_below(d, 3)) {
    case 0: return x;
    case 1: return nextafter(x, INFINITY);
    default: return nextafterf((float)x, -INFINITY);
    }
}

/* A byte to an exponent near one where a carrier ends, or to 0..171. */
static int32_t short_exponent(uint32_t byte)
{
    static const int32_t ends[] = {127, 128, -126, -149, 1023, 1024, -1022, -1074, 15, 16, -14, -24};
    enum { ENDS = sizeof ends / sizeof *ends, BESIDE = 7 };
    return byte < ENDS * BESIDE ? ends[byte % ENDS] + (int32_t)(byte / ENDS) - BESIDE / 2
                                : (int32_t)byte - ENDS * BESIDE;
}

/* Ascending numbers: a whole run, or one and the same with the other sign below it, so that often none is zero. */
static void draw_table(draw *d, uint32_t length, int mirrored, float *table)
{
    const uint32_t below = mirrored ? length / 2 : 0;
    float x = (float)draw_number(d, NULL);
    x = mirrored ? fmaxf(fabsf(x), 0x1p-149f) : x;
    for (uint32_t i = below; i < length; i++) {
        table[i] = x == 0 ? 0 : x;
        x = nextafterf(x + fabsf(x) * (float)draw_below(d, 64) / 64, INFINITY);
    }
    for (uint32_t i = 0; i < below; i++)
        table[i] = -table[length - 1 - i];
}

/* Arguments are drawn one by one beforehand, since C does not say in which order those of a call are made. */
int draw_scalar(draw *d, fpemu_format *f)
{
    static float table[256], memory[FPEMU_CODES_MEMORY(256)]; /* in use until the next table is drawn */
    memset(f, 0, sizeof *f);
    fpemu_status status = FPEMU_ERROR_FORMAT;
    const uint32_t which = draw_below(d, 9), flags = draw_below(d, 256), p = draw_below(d, 66), q = draw_below(d, 66);
    const int32_t s = flags & 1 ? short_exponent(draw_below(d, 256)) : (int16_t)draw_word(d, 2);
    const int yes = (flags & 6) != 0;
    switch (which) {
    case 0: status = fpemu_format_named((fpemu_name)(p % (FPEMU_NAME_COUNT + 1)), f); break;
    case 1:
    case 2: {
        const int32_t end =
            s > 0 ? (1 << p % 13) - 1 - s : 1 - s; /* 2^s is about the last power of two, or the first */
        const int32_t bias = flags & 8 ? FPEMU_BIAS_DEFAULT : flags & 1 ? end : s;
        status =
            fpemu_format_float(f, p % 13, q % (which == 1 ? 26 : 54), bias, (fpemu_specials)((flags >> 4) % 9), yes);
        break;
    }
    case 3: status = fpemu_format_fixed(f, p, (flags & 9) == 1 ? (s > 0 ? (int32_t)p - s : -s) : s, yes); break;
    case 4: {
        const double scale = flags & 8 ? ldexp(1, flags & 1 ? s : s % 160) : fabs(draw_number(d, NULL));
        status = fpemu_format_int(f, p % 34, yes, scale, flags & 16 ? 0 : s);
        break;
    }
    case 5: status = fpemu_format_posit(f, p % 34, q % 6); break;
    case 6: status = fpemu_format_p3109(f, p % 18, q % 18, yes, flags >> 4 & 1); break;
    case 7: status = fpemu_format_lee(f, p % 10, q % 25, s); break;
    default:
        if (flags & 8) {
            status = fpemu_format_codebook(f, (fpemu_codebook_name)(p % 5), q % 10);
        } else {
            const uint32_t length = p + 1 + (flags & 16 ? 190 : 0);
            draw_table(d, length, flags & 32, table);
            if (flags & 4) { /* in another order, and with what is no finite value */
                const float last = table[length - 1];
                table[length - 1] = table[0];
                table[0] = flags & 2 ? NAN : last;
                table[length / 2] = flags & 1 ? INFINITY : table[length / 2];
                status = fpemu_format_codes(f, length, table, memory);
            } else {
                status = fpemu_format_table(f, length, table);
            }
        }
    }
    if (status == FPEMU_OK && flags >> 6 == 0) { /* other policies */
        f->subnormals = (uint8_t)draw_below(d, 5);
        f->overflow = (uint8_t)draw_below(d, 5);
        f->nan = (uint8_t)draw_below(d, 7);
        f->symmetric = (uint8_t)(draw_below(d, 4) == 1);
        f->wrap = (uint8_t)(draw_below(d, 4) == 1);
        status = fpemu_format_complete(f);
    }
    return status == FPEMU_OK;
}

void draw_text(draw *d, char *text, size_t capacity)
{
    static const char *const words[] = {
        "e4m3fn",   "fp(",       "5",        "2",      ",",      ")",         "mx(",       "block=",  "e2m1",
        "rule=",    "rceil",     "nvfp4",    "group(", "int8",   "128",       "fixed(",    "posit(",  ":",
        "saturate", "codebook(", "nf4",      "int(",   "scale=", "0.1",       "bfp(",      "hbfp(",   "scale",
        "scaled(",  "tile",      "row",      "16x4",   "e8m0",   "s2fp8",     "muppet(8)", "absmax",  "seq(",
        "chunk(",   "/sr",       "; ab=",    "; out=", "kahan(", "pairwise(", "tc(h100,",  "fused(",  "fp16",
        "bf16",     "promote=",  "saturate", "wrap",   "inner=", "fp32",      "exponent=", "margin=", "p3109(",
        "-",        "1e400",     " ",        "=",      "k8p3se", "dynamic8"};
    size_t length = 0;
    const uint32_t count = draw_below(d, 24);
    for (uint32_t i = 0; i < count; i++) {
        char raw[2] = {(char)draw_word(d, 1), 0};
        const char *word = draw_below(d, 4) == 0 ? raw : words[draw_below(d, sizeof words / sizeof *words)];
        if (length + strlen(word) + 1 >= capacity)
            break;
        strcpy(text + length, word);
        length += strlen(word);
    }
    text[length] = 0;
}

static int draw_blocked(draw *d, fpemu_format *f)
{
    static const fpemu_name scales[] = {FPEMU_NAME_E8M0, FPEMU_NAME_E4M3FN, FPEMU_NAME_BINARY32, FPEMU_NAME_BFLOAT16};
    fpemu_format element, scale;
    draw_scalar(d, &element);
    const uint32_t flags = draw_below(d, 256), rule = draw_below(d, FPEMU_SCALING_COUNT + 1), bits = draw_below(d, 14);
    const uint32_t rows = draw_below(d, 9), length = draw_below(d, 40), margin = draw_below(d, 66);
    const int power = flags & 1;
    if (!power && flags & 128)
        fpemu_format_named(scales[flags & 64 ? 2 : margin % 4], &scale);
    else if (!power)
        draw_scalar(d, &scale);
    const fpemu_block block = (fpemu_block)((flags >> 1 & 7) % 6);
    const int tile = block == FPEMU_BLOCK_TILE, run = tile || block == FPEMU_BLOCK_RUN;
    fpemu_status status = fpemu_format_blocked(f, &element, (fpemu_scaling)rule, power ? NULL : &scale, bits, block,
                                               tile ? rows : 0, run ? length : 0);
    if (status == FPEMU_OK && (flags >> 4 & 3) == 0) {
        f->margin = (int32_t)margin;
        status = fpemu_format_complete(f);
    } else if (status == FPEMU_OK && (flags >> 4 & 3) == 1) {
        f->target = (float)(f->max / 33 * (1 + (double)margin));
        f->bound = flags & 128 ? (float)margin : 0;
        f->correct = rule == FPEMU_SCALING_EDEN || rule == FPEMU_SCALING_EVEN ? (uint8_t)margin : 0;
        f->outer = flags & 128 && length % 2 ? FPEMU_OUTER_ROW : FPEMU_OUTER_TENSOR;
        status = fpemu_format_complete(f);
    } else if (status == FPEMU_OK && (flags >> 4 & 3) == 2) {
        f->search_first = (int16_t)((int)margin - 8);
        f->search_last = (int16_t)draw_below(d, 9);
        f->search_grid = (uint16_t)(flags >> 6);
        f->search_error = (uint16_t)(margin % 4);
        status = fpemu_format_complete(f);
    }
    return status == FPEMU_OK;
}

int draw_format(draw *d, fpemu_format *f)
{
    char text[300];
    switch (draw_below(d, 6)) {
    case 0:
    case 1: return draw_scalar(d, f);
    case 2: return fpemu_format_named((fpemu_name)draw_below(d, FPEMU_NAME_COUNT), f) == FPEMU_OK;
    case 3: draw_text(d, text, sizeof text); return fpemu_format_parse(text, f, NULL) == FPEMU_OK;
    case 4: /* a struct set by hand */
        memset(f, 0, sizeof *f);
        for (size_t i = 0; i < offsetof(fpemu_format, precision) && d->at < d->end; i++)
            ((unsigned char *)f)[i] = (unsigned char)draw_word(d, 1);
        f->kind %= 7;
        f->bits %= 80;
        f->exponent_bits %= 16;
        f->mantissa_bits %= 64;
        return fpemu_format_complete(f) == FPEMU_OK;
    default: break;
    }
    /* few elements, rules and scales go together: most would be refused */
    int made = draw_blocked(d, f);
    for (int tries = 0; !made && tries < 8; tries++)
        made = draw_blocked(d, f);
    return made;
}

void draw_rounding(draw *d, fpemu_rounding *r)
{
    memset(r, 0, sizeof *r);
    const int wrong = draw_below(d, 8) == 7;
    const uint32_t mode = draw_below(d, FPEMU_MODE_COUNT + 6); /* posits and tables take few modes but the first */
    r->mode = (uint8_t)(mode < FPEMU_MODE_COUNT ? mode : wrong ? FPEMU_MODE_COUNT : 0);
    r->overflow = (uint8_t)(draw_below(d, 2) ? 0 : draw_below(d, wrong ? 5 : 4));
    r->nan = (uint8_t)(draw_below(d, 2) ? 0 : draw_below(d, wrong ? 7 : 6));
    if (FPEMU_MODE_DRAWS(r->mode) || wrong) {
        r->variant = (uint8_t)draw_below(d, wrong ? 4 : 3);
        r->bits = (uint8_t)draw_below(d, wrong ? 34 : 33);
        r->generator = (uint8_t)draw_below(d, wrong ? 3 : 2);
        r->seed = draw_word(d, draw_below(d, 9));
        r->stream = draw_word(d, draw_below(d, 9));
    }
    r->compat = (uint8_t)(draw_below(d, 4) ? 0 : draw_below(d, FPEMU_COMPAT_COUNT + (wrong ? 1 : 0)));
    r->offset = draw_word(d, draw_below(d, 9));
    if (wrong && draw_below(d, 2))
        r->layout = 1;
}

/* ---------------------------------------------------------------------------------------------- the carriers */
const int carriers[CARRIERS] = {F32, F64, F16, BF16};

int draw_carrier(draw *d, uint32_t n)
{
    return carriers[draw_below(d, n)];
}

size_t carrier_size(int carrier)
{
    return carrier == F64 ? 8 : carrier == F32 ? 4 : 2;
}

int exact_steps(const fpemu_format *f)
{
    int exponent;
    return f->kind != FPEMU_KIND_INT ||
           (frexp(f->scale, &exponent) == 0.5 && f->bits <= 20 && llabs((long long)f->zero_point) < 1 << 20);
}

/* Written out here, not asked of the library. */
static double half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                             : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                            : ldexp(fraction, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

double carrier_load(int carrier, const void *x, size_t i)
{
    const unsigned char *at = (const unsigned char *)x + i * carrier_size(carrier);
    uint16_t h;
    uint32_t w;
    uint64_t l;
    switch (carrier) {
    case F32: memcpy(&w, at, 4); return lh_float(w);
    case F64: memcpy(&l, at, 8); return lh_double(l);
    case F16: memcpy(&h, at, 2); return half_value(h);
    default: memcpy(&h, at, 2); return lh_float((uint32_t)h << 16);
    }
}

void carrier_store(int carrier, void *x, size_t i, double value)
{
    unsigned char *at = (unsigned char *)x + i * carrier_size(carrier);
    uint64_t l;
    memcpy(&l, &value, 8);
    const float narrow = (float)value;
    uint32_t w;
    memcpy(&w, &narrow, 4);
    uint16_t h = (uint16_t)(w >> 16);
    switch (carrier) {
    case F32: memcpy(at, &w, 4); return;
    case F64: memcpy(at, &l, 8); return;
    case F16: { /* the exponents of binary32 are wrapped into those of binary16: all of these occur */
        h = (uint16_t)((w >> 16 & 0x8000) | (w >> 13 & 0x3ff) | (w >> 23 & 31) << 10);
        memcpy(at, &h, 2);
        return;
    }
    default: memcpy(at, &h, 2);
    }
}

/* ------------------------------------------------------------------------------------------------ the arrays */
enum { AFTER = SANITIZED ? 0 : 64 };

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 37 + 11);
}

static array *list; /* all of this run */
static size_t arrays, list_room;

array array_new(draw *d, size_t bytes, size_t alignment)
{
    array a = {.before = 64 + alignment * draw_below(d, 16), .bytes = bytes, .after = AFTER};
    a.memory = malloc(a.before + bytes + a.after);
    if (arrays == list_room) {
        list_room = 2 * list_room + 64;
        list = realloc(list, list_room * sizeof *list);
    }
    if (a.memory == NULL || list == NULL) {
        fputs("api: out of memory\n", stderr);
        exit(1);
    }
    for (size_t i = 0; i < a.before + bytes + a.after; i++)
        a.memory[i] = pattern(i);
    a.data = a.memory + a.before;
    list[arrays++] = a;
    return a;
}

array array_copy(draw *d, const array *from, size_t alignment)
{
    array a = array_new(d, from->bytes, alignment);
    memcpy(a.data, from->data, from->bytes);
    return a;
}

array array_widened(draw *d, int carrier, int wider, const array *x)
{
    const size_t n = x->bytes / carrier_size(carrier);
    array y = array_new(d, n * carrier_size(wider), carrier_size(wider));
    for (size_t i = 0; i < n; i++)
        carrier_store(wider, y.data, i, carrier_load(carrier, x->data, i));
    return y;
}

/* Insists that nothing was written beside any array of this run, and frees them. */
static void free_arrays(void)
{
    for (size_t k = 0; k < arrays; k++) {
        const array *a = &list[k];
        for (size_t i = 0; i < a->before; i++)
            INSIST(a->memory[i] == pattern(i), "a byte before an array was written");
        for (size_t i = a->before + a->bytes; i < a->before + a->bytes + a->after; i++)
            INSIST(a->memory[i] == pattern(i), "a byte after an array was written");
        free(a->memory);
    }
    arrays = 0;
}

void array_untouched(const array *a, const char *what)
{
    for (size_t i = 0; i < a->bytes; i++)
        INSIST(a->data[i] == pattern(a->before + i), what);
}

enum { FEW = 48 };

/* One time in four the exponents of what follows the first number are no larger than its own, by as many powers of two as
 * a carrier has or by few: underflow by a block's scale, or in sums. */
static void draw_far_below(draw *d, double *few, size_t n)
{
    const uint32_t kind = draw_below(d, 32);
    if (kind >= 8 || n == 0)
        return;
    if (!isfinite(few[0]) || few[0] == 0)
        few[0] = 1;
    int above, exponent;
    frexp(few[0], &above);
    for (size_t i = 1; i < n; i++) {
        const double m = frexp(few[i], &exponent);
        few[i] = ldexp(m, above - (int)draw_below(d, 16u << kind));
    }
}

/* Of a long array one number alone has the largest magnitude, and becomes the first of the few; in most all are finite,
 * since others would settle what a whole tensor becomes. */
static void single_out(draw *d, int carrier, double few[FEW])
{
    const uint32_t tame = draw_below(d, 4);
    size_t largest = 0;
    double most = -1;
    for (size_t i = 0; i < FEW; i++) {
        uint64_t place;
        carrier_store(carrier, &place, 0, few[i]);
        few[i] = carrier_load(carrier, &place, 0);
        if (tame && !isfinite(few[i]))
            few[i] = (double)i / 8;
        if (fabs(few[i]) > most) {
            most = fabs(few[i]);
            largest = i;
        }
    }
    const double first = few[0];
    few[0] = few[largest];
    few[largest] = first;
}

array draw_array(draw *d, int carrier, const fpemu_format *f, size_t n)
{
    array x = array_new(d, n * carrier_size(carrier), carrier_size(carrier));
    double few[FEW];
    const size_t own = n < FEW ? n : FEW, once = n >= LONG ? 1 : 0;
    for (size_t i = 0; i < own; i++)
        few[i] = draw_number(d, f);
    draw_far_below(d, few, own);
    size_t place = 0;
    if (once) {
        place = (size_t)draw_word(d, 4) % n;
        single_out(d, carrier, few);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t other = once + (congruent(&d->state) >> 33) % (own - once);
        carrier_store(carrier, x.data, i, few[i < own && i >= once ? i : other]);
    }
    if (once)
        carrier_store(carrier, x.data, place, few[0]);
    return x;
}

/* -------------------------------------------------------------------------------------------------- the counters */
fpemu_stats *count_into(counted *c, uint32_t want)
{
    memset(c, 0, sizeof *c);
    c->stats.request.want = want;
    if (want & FPEMU_STATS_HISTOGRAM) {
        c->stats.request.histogram_first = -20;
        c->stats.request.histogram_length = 40;
        c->stats.request.histogram = c->exponents;
    }
    if (want & FPEMU_STATS_SCALES) {
        c->stats.request.scale_first = -10;
        c->stats.request.scale_length = 24;
        c->stats.request.scale_histogram = c->scales;
    }
    return &c->stats;
}

static void without_sums(fpemu_stats *s)
{
    memset(&s->sum_error, 0, sizeof s->sum_error);
    memset(&s->sum_error2, 0, sizeof s->sum_error2);
    memset(&s->sum_square, 0, sizeof s->sum_square);
}

int counted_same(const counted *a, const counted *b, int sums)
{
    counted x = *a, y = *b;
    x.stats.request = y.stats.request = (fpemu_stats_request){0};
    if (!sums) {
        without_sums(&x.stats);
        without_sums(&y.stats);
    }
    const int same = memcmp(&x, &y, sizeof x) == 0;
    for (size_t i = 0; !same && i < sizeof x / 8; i++) {
        const uint64_t *u = (const uint64_t *)(const void *)&x, *v = (const uint64_t *)(const void *)&y;
        if (u[i] != v[i]) {
            fprintf(stderr, "word %zu of the stats: %llx and %llx\n", i, (unsigned long long)u[i],
                    (unsigned long long)v[i]);
        }
    }
    return same;
}

void counted_untouched(const counted *c, uint32_t want)
{
    counted fresh;
    count_into(&fresh, want);
    fresh.stats.request.histogram = c->stats.request.histogram; /* each has arrays of its own */
    fresh.stats.request.scale_histogram = c->stats.request.scale_histogram;
    INSIST(memcmp(c, &fresh, sizeof fresh) == 0, "a refused call counted");
}

void counted_digest(const counted *c)
{
    counted x = *c;
    x.stats.request = (fpemu_stats_request){0};
    api_digest(&x, sizeof x);
}

void counted_pieces(counted *first, const counted *second, const counted *whole, int sums)
{
    INSIST(fpemu_stats_merge(&first->stats, &second->stats) == FPEMU_OK, "two pieces do not merge");
    INSIST(counted_same(first, whole, sums), "the counters of two pieces and of the whole differ");
}

int api_done(fpemu_status status, const array *y, const counted *c, uint32_t want)
{
    const int done = status == FPEMU_OK || status == FPEMU_ERROR_NAN;
    api_digest(&status, sizeof status);
    if (done) {
        api_digest(y->data, y->bytes);
        counted_digest(c);
    } else {
        array_untouched(y, "a refused call wrote");
        counted_untouched(c, want);
    }
    return done;
}

void api_describe(const char *verb, const fpemu_format *f, const fpemu_rounding *r, int carrier, size_t n)
{
    char text[400];
    if (fpemu_format_print(f, text, sizeof text) != FPEMU_OK)
        strcpy(text, "(no text)");
    CASE("%s %s kind %u mode %u overflow %u nan %u compat %u bits %u offset %llu carrier %d n %zu", verb, text, f->kind,
         r->mode, r->overflow, r->nan, r->compat, r->bits, (unsigned long long)r->offset, carrier, n);
}

/* ------------------------------------------------------------------------------------------------------- a run */
static api_call *const calls[] = {api_format,  api_quantize,     api_quantize,       api_arith,       api_apply,
                                  api_compare, api_stats,        api_tensor,         api_tensor,      api_pack,
                                  api_shape,   api_swizzle,      api_measure,        api_gemm,        api_quantize,
                                  api_gemm,    api_arith_scaled, api_compare_scaled, api_gemm_scaled, api_gemv,
                                  api_dot,     api_one,          api_names,          api_gemm_scaled};
enum { CALLS = sizeof calls / sizeof *calls };

uint64_t api_run(const uint8_t *bytes, size_t size)
{
    digest = 0xcbf29ce484222325;
    api_digest(bytes, size);
    draw d = {.at = bytes, .end = bytes + size, .rest = digest, .state = 0x9e3779b97f4a7c15};
    CASE("nothing yet");
    calls[draw_below(&d, CALLS)](&d);
    free_arrays();
    return digest;
}

#ifdef FUZZ_API
#include "loops/loops.h"

static const kernels *current = &fpemu_kernels_portable;

const kernels *fpemu_kernels(void)
{
    return current;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const kernels *const others[] = {
#if FPEMU_HAVE_V3
        &fpemu_kernels_v3,
#endif
#if FPEMU_HAVE_V4
        &fpemu_kernels_v4,
#endif
        NULL};
    current = &fpemu_kernels_portable;
    api_threads(1);
    const uint64_t portable = api_run(bytes, size);
    api_threads(2);
    for (int i = 0; others[i] != NULL; i++) {
        if (others[i]->valid()) {
            current = others[i];
            INSIST(api_run(bytes, size) == portable, others[i]->name);
        }
    }
    if (current == &fpemu_kernels_portable) /* no other ran by two */
        INSIST(api_run(bytes, size) == portable, "two threads");
    return 0;
}
#else
static void random_bytes(uint64_t *state, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)split_mix(state);
}

static void print_digest(const void *context, const char *name, const uint8_t *bytes, size_t size)
{
    (void)context;
    printf("%016llx %s\n", (unsigned long long)api_run(bytes, size), name);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--variants") == 0) {
        for (unsigned i = 0; fpemu_variant_available(i) != NULL; i++)
            puts(fpemu_variant_available(i));
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "--random") == 0) {
        uint64_t state = strtoull(argv[3], NULL, 0), all = 0;
        for (uint64_t left = strtoull(argv[2], NULL, 0); left > 0; left--) {
            uint8_t bytes[464];
            const size_t size = 64 + split_mix(&state) % 400;
            random_bytes(&state, bytes, size);
            all = all * 31 + api_run(bytes, size);
        }
        printf("%016llx\n", (unsigned long long)all);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        archive_each(argv[i], print_digest, NULL);
    return 0;
}
#endif
