/* SPDX-License-Identifier: BSD-2-Clause */
/* api_numbers.c - calls on arrays of numbers: quantise, encode and decode, functions. */
#include "../../tools/common/system.h"

#include "api.h"

enum { SHORT = 48 };

/* --------------------------------------------------------------------------------------------------- what is drawn */
static size_t how_many(draw *d, int often)
{
    const uint32_t kind = draw_below(d, 64), n = draw_below(d, SHORT + 1);
    return kind == 63 || (kind >= 32 && often) ? LONG + n : kind > 48 ? 32 * n : n;
}

size_t draw_cut(draw *d, size_t n, uint64_t offset)
{
    const uint64_t word = draw_word(d, 4);
    const size_t cut = n > 0 ? (size_t)(word % (n + 1)) : 0, past = (size_t)((offset + cut) % 4096);
    return word >> 30 == 0 && past <= cut ? cut - past : cut;
}

int sums_cut(size_t cut, size_t n, const fpemu_rounding *later)
{
    return cut == 0 || cut == n || later->offset % 4096 == 0;
}

/* ---------------------------------------------------------------------------------------------------- quantise */
/* One value of a scalar format is another value's next neighbour at most; the exact rule is the judges' business. */
static void values_belong(const fpemu_format *f, int carrier, const void *y, size_t n)
{
    for (size_t i = 0; i < n && i < SHORT; i++) {
        const double v = carrier_load(carrier, y, i);
        INSIST(isnan(v) || fpemu_format_represents(f, v), "a result that the format does not have");
    }
}

static void quantize_pieces(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n,
                            const array *x, const array *y, uint32_t want, const counted *whole)
{
    size_t cut = draw_cut(d, n, r->offset);
    if (f->scaling != FPEMU_SCALING_NONE) {
        if (f->block != FPEMU_BLOCK_RUN || f->scaling == FPEMU_SCALING_NVFP4 || f->scaling == FPEMU_SCALING_NVFP4_AO ||
            f->scaling >= FPEMU_SCALING_4OVER6)
            return; /* pieces have other scales than the whole */
        cut -= cut % f->block_length;
    }
    const size_t size = carrier_size(carrier);
    counted first, second;
    fpemu_rounding later = *r;
    later.offset += cut;
    array z = array_new(d, y->bytes, size);
    fpemu_quantize(f, r, carrier, cut, x->data, z.data, count_into(&first, want));
    fpemu_quantize(f, &later, carrier, n - cut, x->data + cut * size, z.data + cut * size, count_into(&second, want));
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "two pieces and the whole differ");
    counted_pieces(&first, &second, whole, sums_cut(cut, n, &later));
}

static void quantize_again(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n,
                           const array *y)
{
    if (f->scaling != FPEMU_SCALING_NONE || r->compat != FPEMU_COMPAT_NONE ||
        (f->kind == FPEMU_KIND_CODEBOOK && carrier_size(carrier) == 2) || !exact_steps(f)) {
        return;
    }
    array z = array_new(d, y->bytes, carrier_size(carrier));
    fpemu_quantize(f, r, carrier, n, y->data, z.data, NULL);
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "quantised twice differs from quantised once");
}

/* In two pieces, in place, and by the wider carrier: the same codes. */
static void codes_same(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n, const array *x,
                       const array *codes, fpemu_status status, uint32_t want, const counted *whole)
{
    const size_t width = fpemu_format_code_size(f), size = carrier_size(carrier), cut = draw_cut(d, n, r->offset);
    counted first, second;
    fpemu_rounding later = *r;
    later.offset += cut;
    array z = array_new(d, codes->bytes, width);
    fpemu_encode(f, r, carrier, cut, x->data, z.data, count_into(&first, want));
    fpemu_encode(f, &later, carrier, n - cut, x->data + cut * size, z.data + cut * width, count_into(&second, want));
    INSIST(memcmp(z.data, codes->data, codes->bytes) == 0, "two pieces and the whole have other codes");
    counted_pieces(&first, &second, whole, sums_cut(cut, n, &later));
    if (width == size) {
        memcpy(z.data, x->data, x->bytes);
        INSIST(fpemu_encode(f, r, carrier, n, z.data, z.data, count_into(&first, want)) == status,
               "other status of codes in place");
        INSIST(memcmp(z.data, codes->data, codes->bytes) == 0, "codes in place differ");
        INSIST(counted_same(&first, whole, 1), "codes in place count otherwise");
    }
    const int alike =
        carrier != F32 || (r->compat == FPEMU_COMPAT_NONE && f->kind != FPEMU_KIND_CODEBOOK && exact_steps(f));
    if (carrier != F64 && alike) {
        const int wider = carrier == F32 ? F64 : F32;
        array u = array_widened(d, carrier, wider, x);
        INSIST(fpemu_encode(f, r, wider, n, u.data, z.data, count_into(&first, want)) == status,
               "other status of codes by the wider carrier");
        INSIST(memcmp(z.data, codes->data, codes->bytes) == 0, "two carriers give different codes");
        INSIST(counted_same(&first, whole, 1), "codes of the wider carrier are counted otherwise");
    }
}

/* Codes in two pieces, and in their own place. */
static void decode_same(draw *d, int carrier, const fpemu_format *f, size_t n, const array *codes, const array *y)
{
    const size_t width = fpemu_format_code_size(f), size = carrier_size(carrier), cut = draw_cut(d, n, 0);
    array z = array_new(d, y->bytes, size);
    fpemu_decode(f, carrier, cut, codes->data, z.data);
    fpemu_decode(f, carrier, n - cut, codes->data + cut * width, z.data + cut * size);
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "two pieces and the whole are decoded otherwise");
    if (width == size) {
        memcpy(z.data, codes->data, codes->bytes);
        INSIST(fpemu_decode(f, carrier, n, z.data, z.data) == FPEMU_OK, "codes are not decoded in place");
        INSIST(memcmp(z.data, y->data, y->bytes) == 0, "codes decoded in place differ");
    }
}

static void quantize_codes(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n,
                           const array *x, const array *y, uint32_t want, const counted *whole)
{
    const size_t width = fpemu_format_code_size(f), size = carrier_size(carrier);
    counted c;
    array codes = array_new(d, n * width, width), back = array_new(d, y->bytes, size);
    const fpemu_status status = fpemu_encode(f, r, carrier, n, x->data, codes.data, count_into(&c, want));
    if (f->scaling != FPEMU_SCALING_NONE)
        INSIST(status == FPEMU_ERROR_UNSUPPORTED || n == 0, "codes of a blocked format");
    if (api_done(status, &codes, &c, want) && n > 0) {
        INSIST(fpemu_decode(f, carrier, n, codes.data, back.data) == FPEMU_OK, "codes are not decoded");
        for (size_t i = 0; i < n; i++) {
            const double v = carrier_load(carrier, y->data, i), w = carrier_load(carrier, back.data, i);
            INSIST(api_same(v, w) || isnan(v) || r->compat != FPEMU_COMPAT_NONE, "decode of encode is not quantise");
        }
        INSIST(r->compat != FPEMU_COMPAT_NONE || c.stats.nan != 0 || c.stats.invalid != 0 || counted_same(&c, whole, 1),
               "encode counts otherwise than quantise");
        codes_same(d, carrier, f, r, n, x, &codes, status, want, &c);
        decode_same(d, carrier, f, n, &codes, &back);
    }
}

/* The same numbers by a wider carrier. Midpoints of codebooks are rounded to the carrier, values of some integers
 * too. */
static void quantize_wider(draw *d, int carrier, int wider, const fpemu_format *f, const fpemu_rounding *r, size_t n,
                           const array *x, const array *y)
{
    if (!fpemu_format_fits(f, wider) || f->scaling != FPEMU_SCALING_NONE || r->compat != FPEMU_COMPAT_NONE ||
        f->kind == FPEMU_KIND_CODEBOOK || !exact_steps(f)) {
        return;
    }
    array u = array_new(d, n * carrier_size(wider), carrier_size(wider));
    array v = array_new(d, n * carrier_size(wider), carrier_size(wider));
    for (size_t i = 0; i < n; i++)
        carrier_store(wider, u.data, i, carrier_load(carrier, x->data, i));
    const fpemu_status status = fpemu_quantize(f, r, wider, n, u.data, v.data, NULL);
    INSIST(status == FPEMU_OK || status == FPEMU_ERROR_NAN, "the wider carrier is refused");
    for (size_t i = 0; i < n; i++) {
        INSIST(api_same(carrier_load(carrier, y->data, i), carrier_load(wider, v.data, i)),
               "two carriers give different numbers");
    }
}

static void quantize_one(int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n, const array *x,
                         const array *y)
{
    for (size_t i = 0; i < n && carrier_size(carrier) > 2 && f->scaling == FPEMU_SCALING_NONE; i += 1 + n / SHORT) {
        const double v = carrier_load(carrier, x->data, i), w = carrier_load(carrier, y->data, i);
        INSIST(api_same(w, carrier == F32 ? (double)fpemu_quantize_one_f32(f, r, (float)v, i)
                                          : fpemu_quantize_one_f64(f, r, v, i)),
               "one element and the array differ");
    }
}

void api_quantize(draw *d)
{
    fpemu_format f;
    fpemu_rounding r;
    counted c, again;
    const int complete = draw_format(d, &f), carrier = draw_carrier(d, CARRIERS);
    draw_rounding(d, &r);
    const int searched = complete && f.kind == FPEMU_KIND_CODEBOOK; /* seldom drawn, and shared in a way of its own */
    const size_t n = how_many(d, searched), size = carrier_size(carrier);
    const uint32_t want =
        draw_below(d, 8) & (f.scaling != FPEMU_SCALING_NONE && f.scaling != FPEMU_SCALING_S2FP8 ? 7 : 3);
    api_describe("quantize", &f, &r, carrier, n);
    array x = draw_array(d, carrier, complete ? &f : NULL, n), y = array_new(d, x.bytes, size);
    const array kept = array_copy(d, &x, size);
    const fpemu_status expected = fpemu_check(&f, &r, carrier, NULL);
    const fpemu_status status = fpemu_quantize(&f, &r, carrier, n, x.data, y.data, count_into(&c, want));
    const int done = api_done(status, &y, &c, want);
    INSIST(expected == FPEMU_OK ? done : status == expected || n == 0, "fpemu_check and the call disagree");
    if (expected == FPEMU_OK) {
        INSIST(complete, "a format that was refused is used");
        INSIST(c.stats.count == n, "not every element is counted");
        array z = array_new(d, x.bytes, size);
        INSIST(fpemu_quantize(&f, &r, carrier, n, x.data, z.data, NULL) == status, "other status without counters");
        INSIST(memcmp(z.data, y.data, y.bytes) == 0, "counting changes results");
        memcpy(z.data, x.data, x.bytes);
        if (!FPEMU_CORRECTED(&f)) { /* which refuses that */
            INSIST(fpemu_quantize(&f, &r, carrier, n, z.data, z.data, count_into(&again, want)) == status,
                   "other status in place");
            INSIST(memcmp(z.data, y.data, y.bytes) == 0, "in place differs");
            INSIST(counted_same(&c, &again, 1), "in place counts otherwise");
        }
        if (f.scaling == FPEMU_SCALING_NONE && r.compat == FPEMU_COMPAT_NONE &&
            !(f.kind == FPEMU_KIND_CODEBOOK && carrier_size(carrier) == 2) && f.kind != FPEMU_KIND_INT) {
            values_belong(&f, carrier, y.data, n);
        }
        quantize_pieces(d, carrier, &f, &r, n, &x, &y, want, &c);
        quantize_again(d, carrier, &f, &r, n, &y);
        quantize_codes(d, carrier, &f, &r, n, &x, &y, want, &c);
        if (carrier != F64)
            quantize_wider(d, carrier, carrier == F32 ? F64 : F32, &f, &r, n, &x, &y);
        quantize_one(carrier, &f, &r, n, &x, &y);
    }
    INSIST(memcmp(kept.data, x.data, x.bytes) == 0, "the input was written");
}

/* ----------------------------------------------------------------------------------------------------- functions */
/* Of many words each is looked up. */
static void table_long(draw *d, const uint16_t *words)
{
    array x = array_new(d, LONG * sizeof *words, 2), y = array_new(d, x.bytes, 2);
    const uint16_t *const from = (const void *)x.data, *const to = (const void *)y.data;
    INSIST(fpemu_function_look_up(words, LONG, from, (void *)y.data) == FPEMU_OK, "not looked up");
    for (size_t i = 0; i < LONG; i++)
        INSIST(to[i] == words[from[i]], "another word than the table's");
}

/* A table gives what the call gives; what the call refuses has none. */
static void table_same(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, fpemu_function function,
                       const array *x, const array *y, fpemu_status status)
{
    const size_t n = x->bytes / 2;
    array table = array_new(d, fpemu_function_table_size(), 2), z = array_new(d, x->bytes, 2);
    uint16_t *const words = (void *)table.data;
    const fpemu_status made = fpemu_function_table(f, r, carrier, function, words);
    api_digest(&made, sizeof made);
    INSIST(n == 0 || made == status || made == FPEMU_ERROR_UNSUPPORTED, "a table with a status of its own");
    if (made != FPEMU_OK) {
        array_untouched(&table, "a refused table was written");
    } else {
        INSIST(fpemu_function_look_up(words, n, (const void *)x->data, (void *)z.data) == FPEMU_OK, "not looked up");
        INSIST(memcmp(z.data, y->data, y->bytes) == 0, "a table and the call differ");
        INSIST(n == 0 || fpemu_function_look_up(words, n, (const void *)x->data, words + 100) == FPEMU_ERROR_OVERLAP,
               "a table overwritten");
        table_long(d, words);
    }
}

/* In two pieces, and by the wider carrier. */
static void apply_same(draw *d, int carrier, const fpemu_format *f, const fpemu_rounding *r, fpemu_function function,
                       const array *x, const array *y, fpemu_status status, uint32_t want, const counted *whole)
{
    const size_t size = carrier_size(carrier), n = x->bytes / size, cut = draw_cut(d, n, r->offset);
    counted first, second;
    fpemu_rounding later = *r;
    later.offset += cut;
    array z = array_new(d, y->bytes, size);
    fpemu_apply(f, r, carrier, function, cut, x->data, z.data, count_into(&first, want));
    fpemu_apply(f, &later, carrier, function, n - cut, x->data + cut * size, z.data + cut * size,
                count_into(&second, want));
    INSIST(memcmp(z.data, y->data, y->bytes) == 0, "two pieces and the whole differ");
    counted_pieces(&first, &second, whole, sums_cut(cut, n, &later));
    if (carrier != F64 && exact_steps(f)) {
        const int wider = carrier == F32 ? F64 : F32;
        array u = array_widened(d, carrier, wider, x);
        z = array_new(d, u.bytes, carrier_size(wider));
        INSIST(fpemu_apply(f, r, wider, function, n, u.data, z.data, count_into(&first, want)) == status,
               "other status by the wider carrier");
        for (size_t i = 0; i < n; i++) {
            INSIST(api_same(carrier_load(carrier, y->data, i), carrier_load(wider, z.data, i)),
                   "two carriers give different numbers");
        }
        INSIST(counted_same(&first, whole, 1), "the wider carrier counts otherwise");
    }
}

void api_apply(draw *d)
{
    fpemu_format f;
    fpemu_rounding r;
    counted c;
    const int complete = draw_format(d, &f), carrier = draw_carrier(d, CARRIERS);
    draw_rounding(d, &r);
    const fpemu_function function = (fpemu_function)draw_below(d, FPEMU_FUNCTION_COUNT + 1);
    /* most calls are refused, and many of the others long */
    const uint32_t any = draw_below(d, 256), some = any % SHORT;
    const int used = function < FPEMU_FUNCTION_COUNT && fpemu_check(&f, &r, carrier, NULL) == FPEMU_OK;
    const size_t n = used && any >= 224 ? LONG + some : some, size = carrier_size(carrier);
    const uint32_t want = draw_below(d, 4), chance = draw_below(d, 256);
    const int narrow = chance % 8 != 0; /* most calls have operands that are allowed */
    array x = draw_array(d, carrier, complete ? &f : NULL, n), y = array_new(d, x.bytes, size), z;
    for (size_t i = 0; i < n && narrow && carrier_size(carrier) > 2; i++) {
        const float v = (float)carrier_load(carrier, x.data, i);
        uint32_t bits;
        float cut;
        memcpy(&bits, &v, 4);
        bits &= 0xffffff00;
        memcpy(&cut, &bits, 4);
        carrier_store(carrier, x.data, i, isnan(v) ? v : cut);
    }
    api_describe(function < FPEMU_FUNCTION_COUNT ? fpemu_function_name(function) : "no function", &f, &r, carrier, n);
    const fpemu_status status = fpemu_apply(&f, &r, carrier, function, n, x.data, y.data, count_into(&c, want));
    if (api_done(status, &y, &c, want)) {
        z = array_copy(d, &x, size);
        INSIST(fpemu_apply(&f, &r, carrier, function, n, z.data, z.data, NULL) == status, "other status in place");
        INSIST(memcmp(z.data, y.data, y.bytes) == 0, "in place differs");
        for (size_t i = 0; i < n && carrier_size(carrier) > 2; i += 1 + n / SHORT) {
            const double v = carrier_load(carrier, x.data, i);
            const double one = carrier == F32 ? (double)fpemu_apply_one_f32(&f, &r, function, (float)v, i)
                                              : fpemu_apply_one_f64(&f, &r, function, v, i);
            INSIST(api_same(one, carrier_load(carrier, y.data, i)), "one element and the array differ");
        }
        if (n > 0 && n <= SHORT) /* functions of many elements take long */
            apply_same(d, carrier, &f, &r, function, &x, &y, status, want, &c);
    }
    if (carrier_size(carrier) == 2 && chance >= 240) /* seldom: it takes 65536 elements */
        table_same(d, carrier, &f, &r, function, &x, &y, status);
}

/* ---------------------------------------------------------------------------------------------------- the format */
static void api_format_neighbours(draw *d, const fpemu_format *f)
{
    fpemu_format element;
    INSIST(fpemu_format_element(f, &element) == FPEMU_OK, "no element");
    const double x = draw_number(d, f), up = fpemu_format_next_up(&element, x),
                 down = fpemu_format_next_down(&element, x);
    INSIST(isnan(up) || (up > x && fpemu_format_represents(&element, up)), "next_up is no value above");
    INSIST(isnan(down) || (down < x && fpemu_format_represents(&element, down)), "next_down is no value below");
    if (!isnan(up) && fpemu_format_represents(&element, x) && isfinite(x))
        INSIST(fpemu_format_next_down(&element, up) == x, "what is below the next value above");
    api_digest(&up, sizeof up);
    api_digest(&down, sizeof down);
}

void api_format(draw *d)
{
    char text[1100] = "", again[1100];
    fpemu_format f, g;
    fpemu_rounding r;
    fpemu_parse_error error;
    if (draw_below(d, 4) == 0) {
        draw_text(d, text, sizeof text);
        CASE("rounding_parse %s", text);
        const fpemu_status status = fpemu_rounding_parse(text, &r, &error);
        INSIST(status == FPEMU_OK || memchr(error.message, 0, sizeof error.message) != NULL,
               "a message without an end");
        CASE("format_parse %s", text);
        if (fpemu_format_parse(text, &f, &error) != FPEMU_OK) {
            static const fpemu_format none;
            INSIST(memchr(error.message, 0, sizeof error.message) != NULL, "a message without an end");
            INSIST(error.position <= strlen(text), "a position past the text");
            INSIST(memcmp(&f, &none, sizeof f) == 0, "a refused text left something");
            return;
        }
    } else if (!draw_format(d, &f)) {
        return;
    }
    const fpemu_status printed = fpemu_format_print(&f, text, sizeof text);
    CASE("format %s kind %u", printed == FPEMU_OK ? text : "", f.kind);
    if (printed == FPEMU_OK) {
        INSIST(strlen(text) < 256, "a long canonical text");
        INSIST(fpemu_format_parse(text, &g, &error) == FPEMU_OK, "a canonical text is refused");
        INSIST(fpemu_format_equal(&f, &g), "a canonical text reads as another format");
        INSIST(fpemu_format_print(&g, again, sizeof again) == FPEMU_OK && strcmp(text, again) == 0, "two texts");
        const size_t capacity = draw_below(d, 256);
        memset(again, 'x', sizeof again);
        if (capacity <= strlen(text))
            INSIST(fpemu_format_print(&f, again, capacity) == FPEMU_ERROR_BUFFER, "a short buffer suffices");
        INSIST(again[capacity] == 'x' || capacity > strlen(text), "a byte past the buffer");
        api_digest(text, strlen(text));
    }
    g = f;
    INSIST(fpemu_format_complete(&g) == FPEMU_OK && memcmp(&f, &g, sizeof f) == 0,
           "complete changes a complete format");
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    for (int k = 0; k < CARRIERS; k++) {
        INSIST((fpemu_check(&f, &nearest, carriers[k], NULL) == FPEMU_OK) == fpemu_format_fits(&f, carriers[k]),
               "what fits is refused, or what does not is taken");
    }
    api_format_neighbours(d, &f);
    const uint64_t count = fpemu_format_value_count(&f);
    fpemu_format element;
    fpemu_format_element(&f, &element);
    if (count <= 4096) {
        static double values[4096];
        static uint64_t codes[4096];
        size_t got = 0;
        INSIST(fpemu_format_enumerate(&element, 4096, values, codes, &got) == FPEMU_OK && got == count,
               "another count");
        for (size_t i = 0; i < got; i++) {
            INSIST(i == 0 || values[i - 1] < values[i], "values out of order");
            INSIST(fpemu_decode_one_f64(&element, codes[i]) == values[i] || !fpemu_format_fits_f64(&element),
                   "another value");
        }
        api_digest(values, got * sizeof *values);
    }
    const double known[] =
        LIST(fpemu_format_max(&f), fpemu_format_lowest(&f), fpemu_format_min_normal(&f), fpemu_format_min_positive(&f),
             fpemu_format_epsilon(&f), fpemu_format_bits_per_element(&f), (double)fpemu_format_nan_count(&f));
    api_digest(known, sizeof known);
}

/* ------------------------------------------------------------------------------------------------------ the stats */
static int all_zero(const array *a)
{
    for (size_t i = 0; i < a->bytes; i++)
        if (a->data[i] != 0)
            return 0;
    return 1;
}

/* Requests as hostile programs make them: refused, or nothing past the histograms is written. */
void api_stats(draw *d)
{
    fpemu_format f;
    fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_stats stats = {0}, other = {0};
    const int complete = draw_format(d, &f), carrier = draw_carrier(d, 2);
    const size_t n = draw_below(d, SHORT);
    const uint32_t length = draw_below(d, 12), scales = draw_below(d, 12);
    array x = draw_array(d, carrier, complete ? &f : NULL, n), y = array_new(d, x.bytes, carrier_size(carrier));
    array histogram = array_new(d, length * sizeof(uint64_t), 8), spread = array_new(d, scales * sizeof(uint64_t), 8);
    memset(histogram.data, 0, histogram.bytes);
    memset(spread.data, 0, spread.bytes);
    stats.request.want = draw_below(d, 9);
    stats.request.histogram_first = (int32_t)draw_word(d, 4);
    stats.request.histogram_length = length;
    stats.request.histogram_word = 0;
    stats.request.scale_first = (int32_t)draw_word(d, 4);
    stats.request.scale_length = scales;
    const uint32_t given = draw_below(d, 8);
    if (given & 1)
        stats.request.histogram = (uint64_t *)(void *)histogram.data;
    if (given & 2)
        stats.request.scale_histogram = (uint64_t *)(void *)spread.data;
    stats.request.reserved0 = given == 7;
    stats.count = 900; /* of calls before this one */
    stats.nan = 9;
    stats.min_abs = 0.25;
    stats.max_abs = 2;
    stats.sum_square.word[17] = 1;
    stats.zero_blocks = stats.blocks = 1;
    const fpemu_stats before = stats;
    api_describe("stats", &f, &r, carrier, n);
    const fpemu_status status = fpemu_quantize(&f, &r, carrier, n, x.data, y.data, &stats);
    api_digest(&status, sizeof status);
    if (status == FPEMU_OK && n > 0) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < length; i++)
            sum += ((const uint64_t *)(const void *)histogram.data)[i];
        uint64_t finite = 0;
        for (size_t i = 0; i < n; i++) {
            const double v = carrier_load(carrier, x.data, i);
            finite += isfinite(v) && v != 0;
        }
        INSIST(!(stats.request.want & FPEMU_STATS_HISTOGRAM) || sum == finite, "a histogram that lacks elements");
    } else if (status != FPEMU_OK && status != FPEMU_ERROR_NAN) {
        array_untouched(&y, "a refused call wrote");
        INSIST(memcmp(&before, &stats, sizeof stats) == 0, "a refused call counted");
        INSIST(all_zero(&histogram) && all_zero(&spread), "a refused call counted in a histogram");
    }
    other.request = stats.request;
    fpemu_stats_merge(&other, &stats);
    const double seen[] = {fpemu_stats_sum_error(&stats), fpemu_stats_sum_error2(&stats),
                           fpemu_stats_sum_square(&stats)};
    api_digest(seen, sizeof seen);
    const double ratio = fpemu_stats_sqnr(&stats), wanted = seen[2] > 0 ? 10 * log10(seen[2] / seen[1]) : NAN;
    INSIST(seen[1] > 0 && isfinite(wanted) ? fabs(ratio - wanted) < 1e-9 * (1 + fabs(wanted)) : !isfinite(ratio),
           "another ratio of signal to noise");
}
