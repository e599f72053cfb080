/* SPDX-License-Identifier: BSD-2-Clause */
/* codes.inc.c - numbers, also under scales, to codes to nearest even, and codes to numbers. Included by variant.inc.c
 * after kernel.inc.c. Blocks under scales of their own have 2^shift elements, of which a vector passes none. */

#define CODES_VECTORS 4
#define CODES_GROUP (CODES_VECTORS * SIMD_LANES)
/* What is fetched ahead at most: the caller looks for the largest there next, and would wait for every line. */
#define CODES_AHEAD 4096
/* Codes of a byte at a time. */
#define UNPACK_TILE 1024
#define EACH_OF_FOUR EACH_OF(CODES_VECTORS)

/* How quotients come from x: not at all, by a multiplier, by a divisor; and of finite numbers by a multiplier, or by a
 * divisor and its inverse as core_fast_quotient has it. */
enum codes_scale { CODES_ALONE, CODES_TIMES, CODES_BY, CODES_FINITE, CODES_INVERSE, CODES_SCALES };

/* Numbers with an end whose code what lies past it has too; those past which infinity or NaN lies; an even grid. */
enum codes_grid { CODES_STOPS, CODES_PASSES, CODES_EVEN, CODES_GRIDS };

/* core_direct in every lane. */
typedef struct codes_constants {
    simd_real low, high, emin, end, nan_end, nan;
    simd_bits up, count, zero, mask, past, sign, drop, to_sign;
} codes_constants;

SIMD_FN codes_constants codes_begin(const core_direct *d, enum codes_grid grid)
{
    codes_constants c;
    memset(&c, 0, sizeof c);
    c.nan = (simd_real)simd_all(d->nan);
    c.zero = simd_all(d->zero);
    if (grid == CODES_EVEN) {
        c.low = simd_all_real(d->low);
        c.high = simd_all_real(d->high);
        c.count = simd_all(d->count);
        c.mask = simd_all(d->mask);
        return c;
    }
    c.emin = simd_all_real(core_value(d->emin));
    c.end = simd_all_real(core_value(d->end));
    c.nan_end = simd_all_real(core_value(d->nan_end));
    c.up = simd_all(d->up);
    c.count = simd_all(d->up - (d->emin >> d->drop));
    c.past = simd_all(d->past);
    c.sign = simd_all(d->sign);
    c.drop = simd_all(d->drop);
    c.to_sign = simd_all(d->to_sign);
    return c;
}

/* As core_direct_even_code and core_direct_code, with the sign of x, which no scale turns. What the code of the binade
 * is more than that of the first is counted in the sum: an even number of steps, so that ties stay where they are.
 * bytes: the lowest bits alone, where the exponent does not come; finite: no NaN. */
SIMD_FN simd_bits codes_of(const codes_constants *c, enum codes_grid grid, int bytes, int finite, simd_real x,
                           simd_real t)
{
    if (grid == CODES_EVEN) {
        const simd_real within = simd_min(simd_max(t, c->low), c->high);
        const simd_bits code = ((simd_bits)(within + (simd_real)c->count) + c->zero) & c->mask;
        return finite ? code : (simd_bits)simd_select(simd_differ(t, t), c->nan, (simd_real)code);
    }
    const simd_real a = grid == CODES_STOPS ? simd_min_magnitude(t, c->end) : simd_magnitude(t);
    const simd_real e = simd_max((simd_real)((simd_bits)a & CARRIER_INF), c->emin);
    const simd_bits binade = simd_shift_right((simd_bits)e, c->drop) + c->count;
    simd_bits code = (simd_bits)(a + (simd_real)((simd_bits)e + binade));
    if (!bytes)
        code -= (simd_bits)e + c->up;
    if (grid == CODES_PASSES)
        code = (simd_bits)simd_select(simd_at_most(a, c->end), (simd_real)code, (simd_real)c->past);
    code |= simd_shift_right((simd_bits)x, c->to_sign) & c->sign;
    if (grid == CODES_PASSES)
        return (simd_bits)simd_select(simd_at_most(a, c->nan_end), (simd_real)code, c->nan);
    return finite ? code : (simd_bits)simd_select(simd_differ(t, t), c->nan, (simd_real)code);
}

SIMD_FN simd_real codes_quotient(enum codes_scale how, simd_real x, realw down, realw inverse)
{
    if (how == CODES_ALONE)
        return x;
    if (how == CODES_TIMES || how == CODES_FINITE)
        return x * down;
#if SIMD_HAS_FUSED
    if (how == CODES_INVERSE) {
        const simd_real by = simd_all_real(inverse), q = x * by;
        return simd_fused(simd_fused(-q, simd_all_real(down), x), by, q);
    }
#endif
    return how == CODES_INVERSE && inverse == 0 ? x * 0 : x / down;
}

#define CODES_OF_TYPE(TYPE)                                                                                            \
    SIMD for (size_t i = 0; i < CODES_GROUP; i++) {                                                                    \
        const TYPE code = (TYPE)wide[i];                                                                               \
        memcpy(to + i * sizeof code, &code, sizeof code);                                                              \
    }                                                                                                                  \
    break

/* The codes of a group. */
SIMD_FN void codes_store(size_t size, const simd_bits v[CODES_VECTORS], char *to)
{
    _Alignas(LINE) uintw wide[CODES_GROUP];
#if CARRIER_BITS == 32
    switch (size) {
    case 1: simd_store_bytes(to, v); return;
    case 2: EACH_OF_FOUR simd_store_words(to + k * SIMD_LANES * 2, v[k]); return;
    case 4: EACH_OF_FOUR simd_store(to + k * SIMD_BYTES, (simd_real)v[k]); return;
    default: break;
    }
#endif
    EACH_OF_FOUR simd_store(wide + k * SIMD_LANES, (simd_real)v[k]);
    switch (size) {
    case 1: CODES_OF_TYPE(uint8_t);
    case 2: CODES_OF_TYPE(uint16_t);
    case 4: CODES_OF_TYPE(uint32_t);
    default: CODES_OF_TYPE(uint64_t);
    }
}
#undef CODES_OF_TYPE

/* The block of an element; past the last of n, of that. */
SIMD_FN size_t codes_block(size_t place, size_t n, int shift)
{
    return (size_t)((uint64_t)(place < n ? place : n - 1) >> shift);
}

SIMD_FN void codes_stretch(const core_direct *d, enum codes_grid grid, enum codes_scale how, size_t size, size_t n,
                           int shift, const realw *down, const realw *inverse, const char *x, char *codes)
{
    const codes_constants c = codes_begin(d, grid);
    const size_t ahead = (n < CODES_AHEAD ? n : CODES_AHEAD) * sizeof(realw);
    for (size_t i = 0; i < n; i += CODES_GROUP) {
        const size_t m = n - i < CODES_GROUP ? n - i : CODES_GROUP;
        _Alignas(LINE) char beside[CODES_GROUP * sizeof(uint64_t)];
        const char *from = x + i * sizeof(realw);
        char *const to = codes + i * size;
        simd_bits v[CODES_VECTORS];
        for (size_t line = 0; line < CODES_GROUP * sizeof(realw); line += LINE)
            __builtin_prefetch((const void *)((uintptr_t)from + ahead + line));
        if (m < CODES_GROUP) {
            memset(beside, 0, sizeof beside);
            memcpy(beside, from, m * sizeof(realw));
            from = beside;
        }
        EACH_OF_FOUR
        {
            const size_t at = codes_block(i + (size_t)k * SIMD_LANES, n, shift);
            const simd_real number = simd_load(from + (size_t)k * SIMD_BYTES);
            const simd_real t =
                codes_quotient(how, number, how == CODES_ALONE ? 0 : down[at], how == CODES_INVERSE ? inverse[at] : 0);
            v[k] = codes_of(&c, grid, size == 1, how >= CODES_FINITE, number, t);
        }
        if (m == CODES_GROUP) {
            codes_store(size, v, to);
        } else {
            codes_store(size, v, beside);
            memcpy(to, beside, m * size);
        }
    }
}

#define CODES_FORM(grid, how)                                                                                          \
    static void CARRIER(grid##_##how)(const core_direct *d, size_t n, int shift, const realw *down,                    \
                                      const realw *inverse, const char *x, char *codes)                                \
    {                                                                                                                  \
        codes_stretch(d, grid, how, 1, n, shift, down, inverse, x, codes);                                             \
    }
#define CODES_FORMS(MACRO, grid)                                                                                       \
    MACRO(grid, CODES_ALONE)                                                                                           \
    MACRO(grid, CODES_TIMES) MACRO(grid, CODES_BY) MACRO(grid, CODES_FINITE) MACRO(grid, CODES_INVERSE)
CODES_FORMS(CODES_FORM, CODES_STOPS)
CODES_FORMS(CODES_FORM, CODES_PASSES)
CODES_FORMS(CODES_FORM, CODES_EVEN)

/* How far places in blocks of so many elements are shifted to find their block: of one, so that there is no other. */
SIMD_FN int codes_shift(size_t length, size_t count)
{
    return count > 1 ? core_log2_64(length) : 63;
}

/* Codes of more than a byte. */
static void CARRIER(loop_codes_wide)(const core_direct *d, int grid, enum codes_scale how, size_t size, size_t n,
                                     int shift, const realw *down, const realw *inverse, const char *x, char *codes)
{
    switch (grid) {
    case CODES_STOPS: codes_stretch(d, CODES_STOPS, how, size, n, shift, down, inverse, x, codes); break;
    case CODES_PASSES: codes_stretch(d, CODES_PASSES, how, size, n, shift, down, inverse, x, codes); break;
    default: codes_stretch(d, CODES_EVEN, how, size, n, shift, down, inverse, x, codes);
    }
}

/* Codes of x, of one block or of `count` of 2^k finite elements, 16 or more. down: divisors or multipliers, or NULL;
 * inverse: NULL, or inverses of divisors, where runs_inverses says so. */
static void CARRIER(loop_codes)(const core_direct *d, int divide, size_t length, size_t count, const realw *down,
                                const realw *inverse, const void *x, size_t size, void *codes)
{
#define CODES_NAME(grid, how) [how] = CARRIER(grid##_##how),
    static void (*const forms[CODES_GRIDS][CODES_SCALES])(const core_direct *, size_t, int, const realw *,
                                                          const realw *, const char *,
                                                          char *) = {{CODES_FORMS(CODES_NAME, CODES_STOPS)},
                                                                     {CODES_FORMS(CODES_NAME, CODES_PASSES)},
                                                                     {CODES_FORMS(CODES_NAME, CODES_EVEN)}};
#undef CODES_NAME
    const enum codes_scale times = count > 1 ? CODES_FINITE : CODES_TIMES, by = inverse ? CODES_INVERSE : CODES_BY;
    const enum codes_scale how = !down ? CODES_ALONE : divide ? by : times;
    const int grid = d->even ? CODES_EVEN : core_direct_stops(d) ? CODES_STOPS : CODES_PASSES;
    const int shift = codes_shift(length, count);
    if (size == 1)
        forms[grid][how](d, length * count, shift, down, inverse, (const char *)x, (char *)codes);
    else
        CARRIER(loop_codes_wide)(d, grid, how, size, length * count, shift, down, inverse, (const char *)x,
                                 (char *)codes);
}

#if CARRIER_BITS == 32

/* Codes of a byte without what lies above their b bits, eight of them to b bytes, and back. From 4 bits on by words of 8
 * bytes, the next of which comes over what is stored too much; the last is stored as it is. */
#define CODES_WORDS 32
#define EACH_WORD for (int k = 0; k < CODES_WORDS; k++)
#define EACH_BUT_LAST for (int k = 0; k < CODES_WORDS - 1; k++)

static void loop_join(int b, size_t n, const uint8_t *codes, unsigned char *bytes)
{
    size_t i = 0;
    if (b == 4 && CORE_LITTLE_ENDIAN) {
        SIMD for (size_t k = 0; k < n / 2; k++) {
            uint16_t two;
            memcpy(&two, codes + 2 * k, sizeof two);
            bytes[k] = (unsigned char)(two | two >> 4);
        }
        i = n & ~(size_t)1;
        bytes += i / 2;
    }
    for (; b >= 4 && CORE_LITTLE_ENDIAN && i + 8 * CODES_WORDS <= n; i += 8 * CODES_WORDS, bytes += CODES_WORDS * b) {
        uint64_t words[CODES_WORDS];
        memcpy(words, codes + i, sizeof words);
        SIMD EACH_WORD words[k] = core_squeeze(words[k], 1, b);
        EACH_BUT_LAST memcpy(bytes + k * b, words + k, sizeof *words);
        memcpy(bytes + (CODES_WORDS - 1) * b, words + CODES_WORDS - 1, (size_t)b);
    }
    core_pack_codes(1, b, n - i, codes + i, bytes);
}

static void loop_part(int b, size_t n, const unsigned char *bytes, uint8_t *codes)
{
    size_t i = 0;
    if (b == 4 && CORE_LITTLE_ENDIAN) {
        SIMD for (size_t k = 0; k < n / 2; k++) {
            const uint16_t two = (uint16_t)((bytes[k] | bytes[k] << 4) & 0x0f0f);
            memcpy(codes + 2 * k, &two, sizeof two);
        }
        i = n & ~(size_t)1;
        bytes += i / 2;
    }
    for (; b >= 4 && CORE_LITTLE_ENDIAN && i + 8 * CODES_WORDS <= n; i += 8 * CODES_WORDS, bytes += CODES_WORDS * b) {
        uint64_t words[CODES_WORDS] = {0};
        EACH_BUT_LAST memcpy(words + k, bytes + k * b, sizeof *words);
        memcpy(words + CODES_WORDS - 1, bytes + (CODES_WORDS - 1) * b, (size_t)b);
        SIMD EACH_WORD words[k] = core_spread(words[k], 1, b);
        memcpy(codes + i, words, sizeof words);
    }
    core_unpack_codes(1, b, n - i, bytes, codes + i);
}
#undef EACH_WORD
#undef EACH_BUT_LAST

/* What becomes of values: nothing, where all of them are of the type; a product that does not pass its largest number;
 * one that is mended as core_block_y has it. */
enum unpack_scale { UNPACK_ALONE, UNPACK_SCALED, UNPACK_MENDED, UNPACK_SCALES };

/* What the forms need, in every lane. */
typedef struct unpack_constants {
    const float *table;
    simd_real few[16 / SIMD_LANES], step, from, times; /* few: the first 16 of the table */
    simd_bits top, whole;
} unpack_constants;

SIMD_FN unpack_constants unpack_begin(const core_unpack *u)
{
    const uint32_t whole = 0x4b000000; /* 2^23, whose last bits count */
    unpack_constants c;
    c.table = u->values;
    UNROLLED for (int k = 0; k < 16 / SIMD_LANES; k++)
        c.few[k] = simd_load(u->values + k * SIMD_LANES);
    c.step = simd_all_real(u->step);
    c.top = simd_all(u->top);
    c.whole = simd_all(whole);
    c.from = simd_all_real(core_value32(whole | u->top));
    c.times = simd_all_real(u->times);
    return c;
}

SIMD_FN simd_real unpack_value(const unpack_constants *u, enum unpack_form form, simd_bits c)
{
    switch (form) {
#if SIMD_HAS_LOOK_UP
    case UNPACK_FEW: return simd_look_up_16(u->few, c);
#endif
    case UNPACK_INTEGERS: return ((simd_real)((c ^ u->top) | u->whole) - u->from) * u->step;
    default: return (simd_real)simd_gather(u->table, c);
    }
}

/* As core_block_y has it, of any product of v. */
SIMD_FN simd_real unpack_mend(simd_real v, simd_real y)
{
    const simd_real most = simd_all_real(FLT_MAX), kept = simd_max(simd_min(y, most), -most);
    const simd_real mended = simd_select(simd_at_most(simd_magnitude(v), most), kept, y);
    return simd_select(simd_differ(y, y), simd_all_real(core_value32(CARRIER_NAN)), mended);
}

/* n values of codes of a byte. */
SIMD_FN void unpack_stretch(const core_unpack *of, enum unpack_form form, enum unpack_scale how, enum unpack_type type,
                            size_t n, int shift, const char *codes, const float *s, float second, char *y)
{
    const unpack_constants u = unpack_begin(of);
    const size_t code = form == UNPACK_HALVES ? sizeof(uint16_t) : 1;
    const size_t size = type == UNPACK_FLOATS ? sizeof(float) : sizeof(uint16_t);
    for (size_t i = 0; i < n; i += CODES_GROUP) {
        const size_t m = n - i < CODES_GROUP ? n - i : CODES_GROUP;
        _Alignas(LINE) char beside[CODES_GROUP * sizeof(float)];
        char some[CODES_GROUP * sizeof(uint16_t)];
        const char *from = codes + i * code;
        char *const to = m < CODES_GROUP ? beside : y + i * size;
        if (m < CODES_GROUP) {
            memset(some, 0, sizeof some);
            memcpy(some, from, m * code);
            from = some;
        }
        simd_bits c[CODES_VECTORS];
        if (form != UNPACK_HALVES)
            simd_load_bytes(from, c);
        EACH_OF_FOUR
        {
#if SIMD_HAS_F16
            simd_real v = form == UNPACK_HALVES ? simd_load_f16(from + k * SIMD_LANES * 2) * u.times
                                                : unpack_value(&u, form, c[k]);
#else
            simd_real v = unpack_value(&u, form, c[k]);
#endif
            if (how != UNPACK_ALONE) {
                const simd_real product = v * s[codes_block(i + (size_t)k * SIMD_LANES, n, shift)] * second;
                v = how == UNPACK_MENDED ? unpack_mend(v, product) : product;
            }
            if (type == UNPACK_FLOATS)
                simd_store(to + (size_t)k * SIMD_BYTES, v);
#if SIMD_HAS_F16
            else
                words_store(type == UNPACK_BF16, to + (size_t)k * SIMD_BYTES / 2,
                            how == UNPACK_MENDED                          ? words_near(type == UNPACK_BF16, v)
                            : how == UNPACK_SCALED && type == UNPACK_BF16 ? words_inside(v)
                                                                          : v);
#endif
        }
        if (m < CODES_GROUP)
            memcpy(y + i * size, beside, m * size);
    }
}

#define UNPACK_FORM(form, how)                                                                                         \
    static void form##_##how(const core_unpack *u, enum unpack_type type, size_t n, int shift, const char *codes,      \
                             const float *s, float second, char *y)                                                    \
    {                                                                                                                  \
        switch (SIMD_HAS_F16 ? type : UNPACK_FLOATS) {                                                                 \
        case UNPACK_F16: unpack_stretch(u, form, how, UNPACK_F16, n, shift, codes, s, second, y); break;               \
        case UNPACK_BF16: unpack_stretch(u, form, how, UNPACK_BF16, n, shift, codes, s, second, y); break;             \
        default: unpack_stretch(u, form, how, UNPACK_FLOATS, n, shift, codes, s, second, y);                           \
        }                                                                                                              \
    }
#define UNPACK_EACH(MACRO, how)                                                                                        \
    MACRO(UNPACK_TABLE, how) MACRO(UNPACK_FEW, how) MACRO(UNPACK_INTEGERS, how) MACRO(UNPACK_HALVES, how)
UNPACK_EACH(UNPACK_FORM, UNPACK_ALONE)
UNPACK_EACH(UNPACK_FORM, UNPACK_SCALED)
UNPACK_EACH(UNPACK_FORM, UNPACK_MENDED)

/* The words of codes that are a sign and a magnitude. Apart, as the next: a known length makes such loops longer. */
static __attribute__((noinline)) void unpack_halves(const core_unpack *u, size_t n, const uint8_t *codes,
                                                    uint16_t *words)
{
    const uint16_t magnitude = (uint16_t)((u->top - 1) << u->place);
    const uint16_t place = (uint16_t)(1u << u->place), to_sign = (uint16_t)(0x8000u / u->top); /* products of 16 bits */
    SIMD for (size_t i = 0; i < n; i++) {
        const uint16_t lower = (uint16_t)(codes[i] * place), upper = (uint16_t)(codes[i] * to_sign);
        words[i] = (uint16_t)((lower & magnitude) | (upper & 0x8000));
    }
}

/* Whether some codes have values that the form does not make. */
static __attribute__((noinline)) int unpack_has_others(const core_unpack *u, size_t n, const uint8_t *codes)
{
    const uint8_t magnitude = (uint8_t)(u->top - 1), other = u->other;
    uint8_t most = 0, found = 0;
    if (!u->others && !other)
        return 0;
#pragma omp simd reduction(max : most, found)
    for (size_t i = 0; i < n; i++) {
        const uint8_t a = codes[i] & magnitude, is_other = codes[i] == other ? 255 : 0;
        most = a > most ? a : most;
        found = is_other > found ? is_other : found;
    }
    return (other && found) || (u->others && most >= u->others);
}

/* What becomes of all values, of which the largest that is finite comes to `most`. */
SIMD_FN enum unpack_scale unpack_scale_of(const core_unpack *u, enum unpack_type type, int scaled, float most)
{
    static const float ends[] = {[UNPACK_FLOATS] = FLT_MAX, [UNPACK_F16] = 65504, [UNPACK_BF16] = 0x1.fep127f};
    if (!(most <= ends[type]) || (scaled && u->infinite))
        return UNPACK_MENDED;
    return scaled || (type == UNPACK_BF16 && !u->upper) ? UNPACK_SCALED : UNPACK_ALONE;
}

/* y = the values of codes of u->bits, in `count` blocks of 2^k elements, 16 or more, or in one of any length, times s
 * of their block, times `second`. apart: codes have a byte each; s: NULL, or the scales, and the bits of the largest. */
static void loop_unpack(const core_unpack *u, enum unpack_type type, int apart, size_t length, size_t count,
                        const unsigned char *bytes, const float *s, float second, uint32_t largest, void *y)
{
#define UNPACK_NAME(form, how) [form] = form##_##how,
    static void (*const forms[UNPACK_SCALES][UNPACK_FORMS])(const core_unpack *, enum unpack_type, size_t, int,
                                                            const char *, const float *, float,
                                                            char *) = {{UNPACK_EACH(UNPACK_NAME, UNPACK_ALONE)},
                                                                       {UNPACK_EACH(UNPACK_NAME, UNPACK_SCALED)},
                                                                       {UNPACK_EACH(UNPACK_NAME, UNPACK_MENDED)}};
#undef UNPACK_NAME
    static const float one = 1;
    const size_t size = type == UNPACK_FLOATS ? sizeof(float) : sizeof(uint16_t), all = length * count;
    const float most = s ? (u->most * core_value32(largest)) * (second < 0 ? -second : second) : u->most;
    const enum unpack_scale how = unpack_scale_of(u, type, s != NULL, most);
    const int shift = codes_shift(length, count);
    const uint8_t mask = (uint8_t)(255 >> (8 - u->bits));
    for (size_t from = 0, n; from < all; from += n) { /* tiles begin with a block, or lie in one */
        _Alignas(LINE) uint8_t tile[UNPACK_TILE];
        _Alignas(LINE) uint16_t words[UNPACK_TILE];
        _Alignas(LINE) float values[SIMD_HAS_F16 ? 1 : UNPACK_TILE];
        const unsigned char *const read = bytes + (apart ? from : from * u->bits / 8);
        const uint8_t *const codes = u->bits == 8 ? read : tile;
        n = all - from < UNPACK_TILE ? all - from : UNPACK_TILE;
        if (u->bits != 8 && apart) SIMD
            for (size_t i = 0; i < n; i++)
                tile[i] = read[i] & mask;
        else if (u->bits != 8)
            loop_part((int)u->bits, n, read, tile);
        const unsigned form = unpack_has_others(u, n, codes) ? UNPACK_TABLE : u->form;
        if (form == UNPACK_HALVES)
            unpack_halves(u, n, codes, words);
        const enum unpack_type now = SIMD_HAS_F16 ? type : UNPACK_FLOATS; /* vectors of words, or floats first */
        forms[how][form](u, now, n, shift, form == UNPACK_HALVES ? (const char *)words : (const char *)codes,
                         s ? s + codes_block(from, all, shift) : &one, second,
                         now == type ? (char *)y + from * size : (char *)values);
        if (now != type)
            words_narrow(type == UNPACK_BF16, 0, n, values, (uint16_t *)y + from);
    }
}

static void loop_unpack_make(core_unpack *u, uint32_t bits)
{
    core_unpack_make(u, bits, SIMD_HAS_F16);
}
#undef UNPACK_FORM
#undef UNPACK_EACH
#endif
#undef CODES_FORM
#undef EACH_OF_FOUR
