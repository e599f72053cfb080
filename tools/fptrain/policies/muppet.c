/* SPDX-License-Identifier: BSD-2-Clause */
/* muppet.c - see muppet.h: settings, diversity and the rule for switching; the policy is muppet_policy.c. */
#include "policies/muppet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

muppet_settings muppet_defaults(void)
{
    return (muppet_settings){.levels = 4,
                             .bits = {8, 12, 14, 16},
                             .rounding = "sr",
                             .alpha = 1,
                             .beta = 1.5,
                             .lambda = 0.1,
                             .r = 3,
                             .gamma = 2,
                             .tail = 45};
}

static bool read_real(double *to, const char *key, const char *value, trouble *why)
{
    return number_real(value, 0, 1e6, to) ||
           fail(why, "muppet: %s is a number from 0 to a million, not '%s'", key, value);
}

static bool read_whole(uint64_t *to, const char *key, const char *value, uint64_t low, uint64_t high, trouble *why)
{
    return number_whole(value, low, high, to) || fail(why, "muppet: %s is a whole number from %llu to %llu, not '%s'",
                                                      key, (unsigned long long)low, (unsigned long long)high, value);
}

/* Numbers with slashes between them, each larger than the one before. */
static bool read_list(int *count, int *list, const char *key, const char *value, uint64_t low, uint64_t high,
                      trouble *why)
{
    char copy[96];
    if (strlen(value) >= sizeof copy)
        return fail(why, "muppet: %s is too long", key);
    memcpy(copy, value, strlen(value) + 1);
    *count = 0;
    for (char *one = copy; one;) {
        char *slash = strchr(one, '/');
        uint64_t x;
        if (slash)
            *slash++ = 0;
        if (!read_whole(&x, key, one, low, high, why))
            return false;
        if (*count == MUPPET_LEVELS || (*count && list[*count - 1] >= (int)x))
            return fail(why, "muppet: %s is at most %d numbers that grow, as in 8/12/14/16", key, MUPPET_LEVELS);
        list[(*count)++] = (int)x;
        one = slash;
    }
    return true;
}

/* What switch=random:SEED:EPOCHS says; no epochs where switch says something else. */
typedef struct random_switches {
    uint64_t seed, epochs;
} random_switches;

static bool read_random(random_switches *random, char *value, trouble *why)
{
    char *colon = strchr(value, ':');
    if (!colon)
        return fail(why, "muppet: switch=random:SEED:EPOCHS");
    *colon = 0;
    return read_whole(&random->seed, "the seed of switch", value, 0, UINT64_MAX, why) &&
           read_whole(&random->epochs, "the epochs of switch", colon + 1, 1, 1000000, why);
}

/* A switch for every level, at distinct policy epochs of the first `epochs`, chosen by the seed and sorted. */
static bool draw_switches(muppet_settings *s, const random_switches *random, trouble *why)
{
    uint64_t left = random->epochs;
    if (left < (uint64_t)s->levels)
        return fail(why, "muppet: %d levels need as many epochs of switch, not %d", s->levels, (int)left);
    s->switches = 0;
    for (int j = 0; s->switches < s->levels; j++, left--) /* selection sampling: each epoch with the chance it has */
        if (random_u64(random->seed, FOR_ORDER, UINT64_MAX, (uint64_t)j) % left < (uint64_t)(s->levels - s->switches))
            s->switch_at[s->switches++] = j;
    return true;
}

static bool read_one(muppet_settings *s, random_switches *random, const char *key, char *value, trouble *why)
{
    uint64_t x;
    if (!strcmp(key, "levels"))
        return read_list(&s->levels, s->bits, key, value, 2, 24, why);
    if (!strcmp(key, "switch") && !strncmp(value, "random:", 7))
        return read_random(random, value + 7, why);
    if (!strcmp(key, "switch")) {
        random->epochs = 0;
        return read_list(&s->switches, s->switch_at, key, value, 0, 1000000, why);
    }
    if (!strcmp(key, "alpha"))
        return read_real(&s->alpha, key, value, why);
    if (!strcmp(key, "beta"))
        return read_real(&s->beta, key, value, why);
    if (!strcmp(key, "lambda"))
        return read_real(&s->lambda, key, value, why);
    if (!strcmp(key, "rounding")) {
        if (strcmp(value, "sr") && strcmp(value, "printed") && strcmp(value, "nearest"))
            return fail(why, "muppet: rounding is sr, printed or nearest, not '%s'", value);
        memcpy(s->rounding, value, strlen(value) + 1);
        return true;
    }
    if (!strcmp(key, "window")) {
        if (strcmp(value, "equation") && strcmp(value, "code"))
            return fail(why, "muppet: window is equation or code, not '%s'", value);
        s->window = *value == 'e' ? MUPPET_EVERY_EPOCH : MUPPET_BLOCKS;
        return true;
    }
    if (!strcmp(key, "epoch-steps"))
        return read_whole(&s->epoch_steps, key, value, 0, UINT32_MAX, why);
    int *to = !strcmp(key, "r") ? &s->r : !strcmp(key, "gamma") ? &s->gamma : !strcmp(key, "tail") ? &s->tail : NULL;
    if (!to)
        return fail(why, "muppet has no setting '%s'", key);
    if (!read_whole(&x, key, value, to == &s->tail ? 0 : 1, to == &s->r ? MUPPET_WINDOW - 1 : 1000000, why))
        return false;
    *to = (int)x;
    return true;
}

bool muppet_read(muppet_settings *s, const char *text, trouble *why)
{
    random_switches random = {0};
    while (*text) {
        char one[128];
        const size_t length = strcspn(text, ",");
        if (length >= sizeof one)
            return fail(why, "muppet: a setting of more than %zu characters", sizeof one - 1);
        memcpy(one, text, length);
        one[length] = 0;
        char *equals = strchr(one, '=');
        if (!equals)
            return fail(why, "muppet: settings are KEY=VALUE with commas between, not '%s'", one);
        *equals = 0;
        if (!read_one(s, &random, one, equals + 1, why))
            return false;
        text += length + (text[length] == ',');
    }
    if (random.epochs) /* of as many levels as all of the text gives */
        return draw_switches(s, &random, why);
    if (s->switches && s->switches != s->levels)
        return fail(why, "muppet: %d levels need as many switches, not %d", s->levels, s->switches);
    return true;
}

/* ------------------------------------------------------------------------------------------------ deciding */

double muppet_diversity(int window, int params, const size_t *size, const float *const *g)
{
    double sum = 0;
    int counted = 0;
    for (int p = 0; p < params; p++) {
        double squares = 0, square_of_sum = 0;
        for (size_t i = 0; i < size[p]; i++) {
            double together = 0;
            for (int k = 0; k < window; k++) {
                const double x = (double)g[k * params + p][i];
                squares += x * x;
                together += x;
            }
            square_of_sum += together * together;
        }
        if (square_of_sum > 0) {
            sum += squares / square_of_sum;
            counted++;
        }
    }
    return counted ? sum / counted : NAN;
}

bool muppet_judge(muppet_switching *now, const muppet_settings *s, int j, double delta)
{
    now->p = 0;
    now->threshold = s->alpha + s->beta * exp(-s->lambda * j);
    if (!(delta > 0) || isinf(delta))
        return false;
    if (now->deltas++) {
        now->p = now->largest / delta;
        now->violations += now->p > now->threshold;
    }
    now->largest = fmax(now->largest, delta);
    return now->violations >= s->gamma;
}
