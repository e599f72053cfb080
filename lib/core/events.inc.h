/* SPDX-License-Identifier: BSD-2-Clause */
/* events.inc.h - what one element counts for, in one carrier; included by events.h. */

/* What is known of an input x, its result y and the element between them.
 *
 *   u, lost     bits of x; where the carrier does not hold x they are cut towards zero, and `lost` is 1
 *   v           bits of y
 *   p           the element that was rounded: v itself; under a scale what y is the multiple of
 *   past, over  whether what was rounded lies past the largest value of its sign; and whether it still does on the grid
 *               without ends. They are asked of finite x only */
typedef struct core_seen {
    uintw min_normal, u, lost, v, p, past, over;
} core_seen;

/* Whether that counts as the event, which the caller names by a constant: 0 or 1. Without branches, so that loops that
 * add it up have a vector form. */
FPEMU_FN uintw core_event(enum core_event_name event, core_seen s)
{
    const uintw a = s.u & ~CARRIER_SIGN, b = s.v & ~CARRIER_SIGN, c = s.p & ~CARRIER_SIGN;
    const uintw nan = a > CARRIER_INF, finite = a < CARRIER_INF, overflow = finite & s.over;
    switch (event) {
    case CORE_EVENT_NAN: return nan;
    case CORE_EVENT_INFINITE: return a == CARRIER_INF;
    case CORE_EVENT_CLIPPED: return finite & s.past;
    case CORE_EVENT_OVERFLOW: return overflow;
    case CORE_EVENT_INVALID: return (uintw)(b > CARRIER_INF) & (nan ^ 1) & (overflow ^ 1);
    case CORE_EVENT_UNDERFLOW: return finite & ((uintw)(a != 0) | s.lost) & (uintw)(b == 0);
    case CORE_EVENT_SUBNORMAL: return (uintw)(c != 0) & (uintw)(c < s.min_normal);
    default: return finite & (s.lost | ((uintw)(s.u != s.v) & (uintw)((a | b) != 0))); /* INEXACT; -0 is 0 */
    }
}

/* All events of one element. */
typedef struct core_events {
    uintw nan, infinite, clipped, overflow, invalid, underflow, subnormal, inexact;
} core_events;

FPEMU_FN core_events core_events_of(uintw min_normal, uintw u, uintw lost, uintw v, uintw p, uintw past, uintw over)
{
    const core_seen s = {min_normal, u, lost, v, p, past, over};
    core_events e;
    e.nan = core_event(CORE_EVENT_NAN, s);
    e.infinite = core_event(CORE_EVENT_INFINITE, s);
    e.clipped = core_event(CORE_EVENT_CLIPPED, s);
    e.overflow = core_event(CORE_EVENT_OVERFLOW, s);
    e.invalid = core_event(CORE_EVENT_INVALID, s);
    e.underflow = core_event(CORE_EVENT_UNDERFLOW, s);
    e.subnormal = core_event(CORE_EVENT_SUBNORMAL, s);
    e.inexact = core_event(CORE_EVENT_INEXACT, s);
    return e;
}

/* What one element is to the extrema, as bits: the magnitude of x, 0 unless it is finite; and |x - y| as the carrier
 * rounds it, 0 unless both are. */
typedef struct core_extent {
    uintw magnitude, error;
} core_extent;

FPEMU_FN core_extent core_extent_of(uintw u, uintw v)
{
    const uintw a = u & ~CARRIER_SIGN, b = v & ~CARRIER_SIGN, finite = a < CARRIER_INF;
    const uintw error = core_bits(core_value(u) - core_value(v)) & ~CARRIER_SIGN;
    const core_extent e = {finite ? a : 0, finite & (uintw)(b < CARRIER_INF) ? error : 0};
    return e;
}
