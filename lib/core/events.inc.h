/* events.inc.h - what one element counts for, in one carrier; included by events.h. */

/* Which counters one element adds to: 0 or 1 each. */
typedef struct core_events {
    uintw nan, infinite, clipped, overflow, invalid, underflow, subnormal, inexact;
} core_events;

/* Those of an input x and its result y, of bits v. Without branches, so that loops that add them up have a vector form.
 *
 *   u, lost     bits of x; where the carrier does not hold x they are cut towards zero, and `lost` is 1
 *   p           the element that was rounded: v itself; under a scale what y is the multiple of
 *   past, over  whether what was rounded lies past the largest value of its sign; and whether it still does on the grid
 *               without ends. They are asked of finite x only */
FPEMU_FN core_events core_events_of(uintw min_normal, uintw u, uintw lost, uintw v, uintw p, uintw past, uintw over)
{
    const uintw a = u & ~CARRIER_SIGN, b = v & ~CARRIER_SIGN, c = p & ~CARRIER_SIGN;
    const uintw finite = a < CARRIER_INF, nonzero = (uintw)(a != 0) | lost;
    core_events e;
    e.nan = a > CARRIER_INF;
    e.infinite = a == CARRIER_INF;
    e.clipped = finite & past;
    e.overflow = finite & over;
    e.invalid = (uintw)(b > CARRIER_INF) & (e.nan ^ 1) & (e.overflow ^ 1);
    e.underflow = finite & nonzero & (uintw)(b == 0);
    e.subnormal = (uintw)(c != 0) & (uintw)(c < min_normal);
    e.inexact = finite & (lost | ((uintw)(u != v) & (uintw)((a | b) != 0))); /* -0 is 0 */
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
