/* SPDX-License-Identifier: BSD-2-Clause */
/* assignment_settings.c - see assignment_settings.h */
#include "policies/assignment_settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"

enum { HI, LO_FORWARD, LO_BACKWARD };

assign_settings assign_defaults(void)
{
    assign_settings s = {.choice = {.scheme = SCHEME_RATIO},
                         .promote = PROMOTE_ON,
                         .threshold = 0.01,
                         .spec = {"fp(6,9,0)", "fp(4,3,4)", "fp(5,2,0)"}};
    for (int i = 0; i < ROLES; i++)
        memcpy(s.rounding[i], "rne", sizeof "rne");
    return s;
}

static bool copy(char *to, size_t capacity, const char *key, const char *value, trouble *why)
{
    if (strlen(value) >= capacity)
        return fail(why, "%s has more than %zu characters", key, capacity - 1);
    memcpy(to, value, strlen(value) + 1);
    return true;
}

static bool read_share(double *to, const char *key, const char *value, trouble *why)
{
    return number_real(value, 0, 1, to) || fail(why, "%s is a number from 0 to 1, not '%s'", key, value);
}

static bool read_seed(uint64_t *to, const char *value, trouble *why)
{
    return number_whole(value, 0, UINT64_MAX, to) || fail(why, "seed is a whole number, not '%s'", value);
}

static bool read_groups(assign_settings *s, const char *value, trouble *why)
{
    const size_t length = strlen(value);
    if (!length || length > 64 || strspn(value, "01") != length)
        return fail(why, "groups are given by at most 64 digits 0 (high) and 1 (low), not '%s'", value);
    s->choice.groups = 0;
    for (size_t i = 0; i < length; i++)
        s->choice.groups |= (uint64_t)(value[i] == '1') << i;
    s->group_count = (int)length;
    s->choice.scheme = SCHEME_GROUPS;
    return true;
}

static bool read_scheme(assign_settings *s, const char *value, trouble *why)
{
    for (int i = 0; i < SCHEMES; i++)
        if (!strcmp(value, scheme_name((scheme)i))) {
            s->choice.scheme = (scheme)i;
            return true;
        }
    return fail(why,
                "no scheme is called '%s' (fp32, uniform, op, op+out, ratio, ratio-increasing, ratio-random, "
                "groups)",
                value);
}

static bool read_promotion(assign_settings *s, const char *value, trouble *why)
{
    static const char *const names[] = {[PROMOTE_OFF] = "off", [PROMOTE_ON] = "on", [PROMOTE_CODE] = "code"};
    for (int i = PROMOTE_OFF; i <= PROMOTE_CODE; i++)
        if (!strcmp(value, names[i])) {
            s->promote = (promotion)i;
            return true;
        }
    return fail(why, "promote is on, off or code, not '%s'", value);
}

bool assign_set(assign_settings *s, const char *key, const char *value, trouble *why)
{
    static const char *const specs[] = {[HI] = "hi", [LO_FORWARD] = "lo-forward", [LO_BACKWARD] = "lo-backward"};
    for (int i = HI; i <= LO_BACKWARD; i++)
        if (!strcmp(key, specs[i]))
            return copy(s->spec[i], sizeof s->spec[i], key, value, why);
    for (int i = 0; i < ROLES; i++) {
        const bool one = !strncmp(key, "rounding-", 9) && !strcmp(key + 9, role_name((role)i));
        if ((one || !strcmp(key, "rounding")) && !copy(s->rounding[i], sizeof s->rounding[i], key, value, why))
            return false;
        if (one || (i == ROLES - 1 && !strcmp(key, "rounding")))
            return true;
    }
    if (!strcmp(key, "scheme"))
        return read_scheme(s, value, why);
    if (!strcmp(key, "ratio"))
        return read_share(&s->choice.ratio, key, value, why);
    if (!strcmp(key, "seed"))
        return read_seed(&s->choice.seed, value, why);
    if (!strcmp(key, "groups"))
        return read_groups(s, value, why);
    if (!strcmp(key, "promote"))
        return read_promotion(s, value, why);
    if (!strcmp(key, "threshold"))
        return read_share(&s->threshold, key, value, why);
    return fail(why, "an assignment has no setting '%s'", key);
}

/* The end of the setting that begins at text: its comma or the end of the text. Formats have commas in parentheses. */
static const char *setting_end(const char *text)
{
    int depth = 0;
    for (; *text && (*text != ',' || depth > 0); text++)
        depth += (*text == '(') - (*text == ')');
    return text;
}

bool assign_read(assign_settings *s, const char *text, trouble *why)
{
    while (*text) {
        const char *end = setting_end(text);
        char one[320];
        if ((size_t)(end - text) >= sizeof one)
            return fail(why, "a setting of an assignment has more than %zu characters", sizeof one - 1);
        memcpy(one, text, (size_t)(end - text));
        one[end - text] = 0;
        char *equals = strchr(one, '=');
        if (equals)
            *equals = 0;
        if (!(equals ? assign_set(s, one, equals + 1, why) : read_scheme(s, one, why)))
            return false;
        text = *end ? end + 1 : end;
    }
    return true;
}

bool assign_complete(assign_settings *s, trouble *why)
{
    if (s->choice.scheme == SCHEME_GROUPS && !s->group_count)
        return fail(why, "the scheme groups needs the groups, as in groups=0110");
    for (int i = 0; i < ROLES; i++) {
        const char *low = i == ROLE_DW ? s->spec[HI] : i == ROLE_DV ? s->spec[LO_BACKWARD] : s->spec[LO_FORWARD];
        if (!rule_parse(&s->high[i], s->spec[HI], s->rounding[i], why) ||
            !rule_parse(&s->low[i], low, s->rounding[i], why))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------- formats */

const rule *assign_rule(const assign_settings *s, const assign_tensor *t)
{
    static const rule alone = {0};
    if (t->own)
        return t->own;
    if (s->choice.scheme == SCHEME_FP32)
        return &alone;
    return t->low ? &s->low[t->which] : &s->high[t->which];
}

double assignment_bits(const assignment *a, const assign_settings *s)
{
    double bits = 0;
    for (int i = 0; i < a->tensors; i++)
        bits += (double)a->tensor[i].elements * rule_bits(assign_rule(s, &a->tensor[i]));
    return bits;
}
