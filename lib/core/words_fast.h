/* SPDX-License-Identifier: BSD-2-Clause */
/* words_fast.h - binary16 and bfloat16 words rounded as they are, by integers of 16 bits: a fast form of core_grid and
 * core_finish for formats whose numbers are all of the type. Magnitudes count the type's numbers in order, so the step
 * of the grid at a magnitude is a power of two of that count, and a carry out of the fraction is one into the exponent.
 * The loops are in lib/loops/words.inc.c, words_blocks.inc.c and words_codes.inc.c; here is what they need.
 * tests/against_judges/words.c compares all words. */
#ifndef FPEMU_CORE_WORDS_FAST_H
#define FPEMU_CORE_WORDS_FAST_H

#include "block_fast.h"
#include "narrow.h"
#include "round.h"

/* How the step follows from a magnitude. */
enum core_words_form {
    CORE_WORDS_CONST, /* it does not */
    CORE_WORDS_TABLE, /* by the last five bits of the exponent field; or 2^fewest times at most 2^7 */
    CORE_WORDS_WIDE,  /* by all of the field, whatever the difference */
    CORE_WORDS_EVEN,  /* the grid is even, and binary32 counts its steps: FPEMU_MODE_RNE, _RTP and _RTN */
    CORE_WORDS_FORMS
};

/* What is done about ends. */
enum core_words_ends {
    CORE_WORDS_NONE,  /* nothing: carries make what overflows; zeros keep their sign, CORE_WORDS_CONST */
    CORE_WORDS_ALIKE, /* they and what lies past them differ by a sign bit at most; zeros keep theirs */
    CORE_WORDS_LAST,  /* the same, and what lies past them becomes them */
    CORE_WORDS_STOP,  /* what lies past one becomes it; zeros have no sign */
    CORE_WORDS_ANY,
    CORE_WORDS_ENDS
};

/* [2] is by sign. The step at magnitude a is 2^d of the count, d being `from` less the exponent field of a, or of
 * `least` if that is larger; but at least `fewest` and at most `most`, and one less for the type's subnormals where
 * `deeper` is 1. */
typedef struct core_words {
    uint16_t least;  /* the smallest number of the grid above 0 */
    uint16_t max[2]; /* the largest magnitudes */
    uint16_t flip;   /* a bit that makes it odd, like the integer 1 that it stands for, if it is not */
    int16_t from, fewest, most, deeper;
    uint16_t zero[2];     /* magnitudes that become 0 in the mode; stochastic modes: none but 0 */
    uint16_t past[2];     /* magnitudes beyond overflow; stochastic modes: results */
    uint16_t overflow[2]; /* what they become, like infinities and NaN: words with their sign */
    uint16_t infinite[2], nan[2];
    uint16_t largest; /* magnitudes beyond are not among those `past`: finite ones, or infinity too */
    uint32_t count;   /* CORE_WORDS_EVEN: a binary32 number whose last bits count steps, positive ones or not */
    uint8_t digits;   /* of a fraction of the type */
    uint8_t keeps;    /* whether zeros keep their sign */
    uint8_t ends;     /* enum core_words_ends */
    uint8_t form;     /* enum core_words_form */
} core_words;

/* The word of a number of the type; 0 if u is none. */
FPEMU_FN int core_words_hold(int bfloat, uint32_t u, uint16_t *word)
{
    *word = (uint16_t)core_to_narrow(bfloat, u);
    return core_from_narrow(bfloat, *word) == u;
}

/* Whether the format is the type itself with its subnormal numbers, to nearest even, with infinities. */
FPEMU_FN int core_words_are_all(const core_plan32 *p, int bfloat)
{
    int all = p->mode == FPEMU_MODE_RNE && p->rule < CORE_RULE_POSIT && !p->compat && !p->wrap && !p->p1 &&
              !p->negative && !p->in_min && !p->out_min && p->zero[0] == 0 && p->zero[1] == 0x80000000u &&
              p->low_one == core_power32(bfloat ? -133 : -24) && p->d_norm == (bfloat ? 16 : 13);
    for (unsigned s = 0; s < 2; s++)
        all &= p->max[s] == (bfloat ? 0x7f7f0000u : 0x477fe000u) && p->overflow[s] == (CORE_INF32 | s << 31) &&
               p->infinite[s] == p->overflow[s];
    return all;
}

/* The step at b, at least w->least. */
FPEMU_FN uint16_t core_words_step(const core_words *w, uint16_t b)
{
    const int field = b >> w->digits, d = w->from - field, e = d < w->fewest ? w->fewest : d > w->most ? w->most : d;
    return (uint16_t)(1u << (e - (field ? 0 : w->deeper)));
}

/* Fills *w; 0 where the form does not hold for the plan. Modes to FPEMU_MODE_SE. */
FPEMU_FN int core_words_make(core_words *w, const core_plan32 *p, int bfloat)
{
    const int digits = bfloat ? 7 : 10, cut = 23 - digits, rebias = bfloat ? 0 : 112, mode = p->mode;
    const uint16_t hidden = (uint16_t)(1u << digits), infinity = bfloat ? 0x7f80 : 0x7c00;
    const int even = p->emin_bits == CORE_INF32; /* core_plan_fixed_grid32 */
    const int emin = even ? 1 : (int)p->emin_field - rebias;
    if (p->rule == CORE_RULE_ANY || p->rule >= CORE_RULE_POSIT || p->wrap || p->compat || p->negative || p->p1 ||
        mode > FPEMU_MODE_SE || p->zero[0] || (p->zero[1] & 0x7fffffffu))
        return 0;
    if (!core_words_hold(bfloat, p->low_one, &w->least))
        return 0;
    for (int s = 0; s < 2; s++)
        if (!core_words_hold(bfloat, p->max[s], w->max + s) ||
            !core_words_hold(bfloat, p->overflow[s], w->overflow + s) ||
            !core_words_hold(bfloat, p->infinite[s], w->infinite + s) ||
            !core_words_hold(bfloat, p->nan[s], w->nan + s))
            return 0;
    const int small = w->least < hidden; /* among the type's subnormals, all of which have one step */
    w->digits = (uint8_t)digits;
    w->from = (int16_t)(p->d_low - cut - rebias);
    w->fewest = (int16_t)(even ? 0 : p->d_norm - cut);
    w->most = (int16_t)(small ? core_log2_32(w->least) : digits);
    w->deeper = (int16_t)(emin == 0);
    if (w->fewest < 0 || emin < 0 || (!even && w->from - emin != w->fewest) ||
        (small && (emin == 0 ? w->fewest : w->from) - 1 != w->most))
        return 0;
    if (emin == 0)
        w->most = w->fewest;
    w->flip = small || (w->least & hidden) ? 0 : hidden;

    const uint16_t least = w->least, half = (uint16_t)(least > hidden ? least - hidden : least >> 1);
    const uint16_t below = (uint16_t)(least - 1), less = (uint16_t)(half ? half - 1 : 0);
    for (int s = 0; s < 2; s++) {
        const uint16_t m = w->max[s], b = m > least ? m : least;
        const uint16_t step = core_words_step(w, b), to_tie = step >> 1, last = (uint16_t)((b ^ w->flip) & step);
        const int up = mode == FPEMU_MODE_RAZ || mode == (s ? FPEMU_MODE_RTN : FPEMU_MODE_RTP);
        uint16_t more; /* beyond the end and not yet past it */
        switch (mode) {
        case FPEMU_MODE_RNE:
            w->zero[s] = half;
            more = (uint16_t)(to_tie && last ? to_tie - 1 : to_tie);
            break;
        case FPEMU_MODE_RNA:
            w->zero[s] = less;
            more = (uint16_t)(to_tie ? to_tie - 1 : 0);
            break;
        case FPEMU_MODE_RNZ:
            w->zero[s] = half;
            more = to_tie;
            break;
        case FPEMU_MODE_RTO:
            w->zero[s] = 0;
            more = (uint16_t)(last ? step - 1 : 0);
            break;
        case FPEMU_MODE_SR:
        case FPEMU_MODE_SE:
            w->zero[s] = 0;
            more = 0;
            break;
        default: w->zero[s] = up ? 0 : below; more = (uint16_t)(up ? 0 : step - 1);
        }
        w->past[s] = m ? (uint16_t)(m + more) : w->zero[s];
    }
    w->keeps = p->zero[1] != 0;
    const uint16_t last = w->past[0] > w->past[1] ? w->past[0] : w->past[1]; /* what is beyond need not be right */
    const int top = last >> digits, bottom = least >> digits, at_last = w->from - top;
    if (even)
        w->fewest = (int16_t)(at_last > w->most ? w->most : at_last > 0 ? at_last : 0);
    w->form = (uint8_t)(small && w->fewest == w->most && !w->deeper              ? CORE_WORDS_CONST
                        : !small && top - bottom < 32 && w->most - w->fewest < 8 ? CORE_WORDS_TABLE
                                                                                 : CORE_WORDS_WIDE);
    int none = w->form == CORE_WORDS_CONST && w->keeps, stops = 1, infinite = mode < FPEMU_MODE_SR;
    for (int s = 0; s < 2; s++) {
        const int carries = w->max[s] + (1 << w->fewest) == infinity && (w->overflow[s] & 0x7fff) == infinity;
        none &= carries || (mode < FPEMU_MODE_SR && w->past[s] >= infinity - 1);
        stops &= (w->overflow[s] & 0x7fff) == w->max[s];
        infinite &= w->infinite[s] == w->overflow[s];
    }
    for (int s = 0; s < 2 && stops; s++)
        w->past[s] = w->max[s]; /* as well */
    const int mirrored = w->keeps && w->past[0] == w->past[1] && (w->overflow[0] | 0x8000) == (w->overflow[1] | 0x8000);
    w->ends = (uint8_t)(none                 ? CORE_WORDS_NONE
                        : mirrored && stops  ? CORE_WORDS_LAST
                        : mirrored           ? CORE_WORDS_ALIKE
                        : stops && !w->keeps ? CORE_WORDS_STOP
                                             : CORE_WORDS_ANY);
    if (none)
        infinite = (w->infinite[0] & w->infinite[1] & 0x7fff) == infinity;
    w->largest = (uint16_t)(infinite ? infinity : infinity - 1);
    w->count = (p->low_one + (23u << 23)) | 1u << 22;
    if (p->rule == CORE_RULE_EVEN && w->ends == CORE_WORDS_STOP &&
        (mode == FPEMU_MODE_RNE || mode == FPEMU_MODE_RTP || mode == FPEMU_MODE_RTN))
        w->form = CORE_WORDS_EVEN; /* core_choose_fast32 has seen to the room for it */
    return 1;
}

/* Words of a block whose scale is a power of two, to nearest even by the grid of core_pow2_float or core_pow2_fixed. A
 * magnitude a counts as b, at least `least`, and the step there is low + 1 at exponent fields up to `first` and half as
 * much with every one above, as far as `top` has it. With `flip` reversed in b, the step's bit says whether b is odd.
 * What is at most `zero` becomes 0, and what is rounded past `max` becomes that. Below `least` a magnitude is a fraction
 * of it, in units of 2^-16 its own fraction with the hidden bit, taken up by `up` places and down by `down`, less those
 * that its field is above 1. */
typedef struct core_words_block {
    uint32_t least, first, top, low, flip, zero, max, up, down;
} core_words_block;

/* Whether the form holds for a block of the scale 2^c, power = c << 23: its binade of the smallest normal number is one
 * of the type's, and its ends are alike and of the type. Of FPEMU_MODE_SR too, which has neither `flip` nor `zero`. */
FPEMU_FN uint32_t core_words_block_make(core_words_block *w, const core_pow2_block32 *q, int bfloat, int fixed,
                                        uint32_t power)
{
    const int digits = bfloat ? 7 : 10, rebias = bfloat ? 0 : 112, fields = bfloat ? 255 : 31;
    const int normal = (int)((q->emin + power) >> 23) - rebias, step = normal - 23 + (int)(q->up >> 23);
    const int first = step > 1 ? step : 1, less = first - step, top = fixed ? fields : normal;
    const uint32_t hidden = 1u << digits, max = q->max + power - ((uint32_t)rebias << 23);
    const uint32_t least = ((uint32_t)first << digits) >> (less & 31);
    const int last = (int)max >> 23;
    w->least = least;
    w->first = (uint32_t)first;
    w->top = (uint32_t)top << digits;
    w->low = (hidden >> (less & 31)) - 1;
    w->flip = ~least & hidden;
    w->zero = least > hidden ? least - hidden : least >> 1;
    w->max = max >> (23 - digits);
    w->up = (uint32_t)(first == 1 ? 16 - digits + less : 15 - digits);
    w->down = (uint32_t)(first == 1 ? 0 : first - 2);
    return (uint32_t)(less <= digits) & (uint32_t)(top > 0) & (uint32_t)(last > 0) & (uint32_t)(last < fields) &
           (uint32_t)(q->max == q->lowest) & (uint32_t)((w->max << (23 - digits)) == max);
}

/* Codes of words by the form of core_direct_code. From the format's first normal binade on they count steps of the word,
 * below it steps of its fraction with the hidden bit. Their size is 2^(digits + 2 - g) units, where g is the field less
 * one, at most `normal`, less `less` or more `more`; at g = 0, whatever it is, every number is below half of it. */
typedef struct core_words_codes {
    uint16_t normal; /* fields before the first normal binade of the format, as they stand in a word */
    uint16_t less, more;
    uint16_t end, past, nan_end, nan; /* as of core_direct32 */
    uint16_t sign;
    uint8_t to_sign, digits;
} core_words_codes;

/* The largest word whose number has bits of at most u; those of finite numbers are from the least normal one on. */
FPEMU_FN uint16_t core_words_below(int bfloat, uint32_t u)
{
    const uint32_t least = 113u << 23, most = 0x477fe000u, infinite = 0x7c00 + ((u - CORE_INF32) >> 13);
    if (bfloat)
        return (uint16_t)(u >> 16);
    return (uint16_t)(u >= CORE_INF32 ? infinite : u >= most ? 0x7bff : u >= least ? (u - (112u << 23)) >> 13 : 0);
}

/* Whether the form holds. */
FPEMU_FN int core_words_codes_make(core_words_codes *c, const core_direct32 *d, int bfloat)
{
    const int digits = bfloat ? 7 : 10, rebias = bfloat ? 0 : 112, drop = digits - 23 + (int)(d->up >> 23);
    const int first = (int)(d->emin >> 23) - rebias, deep = drop + first - 1 - (digits + 2);
    const uint32_t end = core_words_below(bfloat, d->end), nan_end = core_words_below(bfloat, d->nan_end);
    if (d->even || drop < 1 || first < 1 || end == 0 || (d->end >> 31) || (d->nan_end >> 31))
        return 0;
    if ((first - 1) >> (15 - digits)) /* past every field of a word */
        return 0;
    c->normal = (uint16_t)((first - 1) << digits);
    c->less = (uint16_t)(deep > 0 ? deep : 0);
    c->more = (uint16_t)(deep < 0 ? -deep : 0);
    c->end = (uint16_t)end;
    c->past = (uint16_t)d->past;
    c->nan_end = (uint16_t)nan_end;
    c->nan = (uint16_t)d->nan;
    c->sign = (uint16_t)d->sign;
    c->to_sign = (uint8_t)(d->to_sign - 16);
    c->digits = (uint8_t)digits;
    return d->to_sign >= 16;
}

#endif /* FPEMU_CORE_WORDS_FAST_H */
