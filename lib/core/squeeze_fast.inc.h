/* SPDX-License-Identifier: BSD-2-Clause */
/* squeeze_fast.inc.h - a search among the steps of S2FP8, for one carrier; included by squeeze_fast.h. */

/* Zero, and no step so far. */
FPEMU_FN void core_squeeze_begin(core_search *s)
{
    s->steps = 1;
    s->usable = s->few.usable = s->planes.usable = 0;
    s->table.length = 1;
    s->values[0] = 0;
    s->nan[0] = s->nan[1] = CARRIER_NAN;
}

/* The next step; one as near to zero as the last takes its place. */
FPEMU_FN void core_squeeze_add(core_search *s, realw threshold, realw value)
{
    uint32_t last = s->table.length - 1;
    if (core_bits(threshold) >= CARRIER_INF - 1)
        return; /* beyond every number */
    if (last == 0 || threshold > s->thresholds[last - 1])
        s->thresholds[last++] = threshold;
    s->values[last] = value;
    s->table.length = last + 1;
}

FPEMU_FN void core_squeeze_end(core_search *s)
{
    const uint32_t last = s->table.length - 1;
    for (uint32_t k = last; k < CORE_SEARCH_VALUES; k++) {
        s->thresholds[k] = core_value(CARRIER_INF);
        s->values[k + 1] = s->values[last];
    }
    s->usable = (uint8_t)(last > 0);
}
