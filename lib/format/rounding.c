/* SPDX-License-Identifier: BSD-2-Clause */
/* rounding.c - roundings by name. */
#include "near.h"
#include "text.h"

#include <string.h>

static const struct mode_names {
    const char *name, *long_name;
} modes[FPEMU_MODE_COUNT] = {
    [FPEMU_MODE_RNE] = {"rne", "nearest-even"},     [FPEMU_MODE_RNA] = {"rna", "nearest-away"},
    [FPEMU_MODE_RNZ] = {"rnz", "nearest-zero"},     [FPEMU_MODE_RTZ] = {"rtz", "toward-zero"},
    [FPEMU_MODE_RAZ] = {"raz", "away-from-zero"},   [FPEMU_MODE_RTP] = {"rtp", "toward-positive"},
    [FPEMU_MODE_RTN] = {"rtn", "toward-negative"},  [FPEMU_MODE_RTO] = {"rto", "to-odd"},
    [FPEMU_MODE_SR] = {"sr", "stochastic"},         [FPEMU_MODE_SE] = {"se", "stochastic-equal"},
    [FPEMU_MODE_RNP] = {"rnp", "nearest-positive"},
};

/* What reproduces other software. QPyTorch and Lee leave e = 8 as IEEE, so their policy is ieee: on the finite-only
 * formats below, that is the largest value. Their fixed point keeps NaN and, on the CPU, rounds ties to even. */
static const struct setting {
    const char *name;
    uint8_t mode, overflow, nan, compat;
} settings[] = {
    {"qpytorch", FPEMU_MODE_RNA, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_SIGNMAX, FPEMU_COMPAT_QPYTORCH},
    {"qpytorch-sr", FPEMU_MODE_SR, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_SIGNMAX, FPEMU_COMPAT_QPYTORCH},
    {"qpytorch-fixed", FPEMU_MODE_RNE, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_KEEP, FPEMU_COMPAT_QPYTORCH},
    {"qpytorch-fixed-sr", FPEMU_MODE_SR, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_KEEP, FPEMU_COMPAT_QPYTORCH},
    {"lee", FPEMU_MODE_RNA, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_SIGNMAX, FPEMU_COMPAT_QPYTORCH},
    {"lee-inf", FPEMU_MODE_RNA, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_SIGNMAX, FPEMU_COMPAT_LEE_INF},
    {"cpfloat-sr", FPEMU_MODE_SR, FPEMU_OVERFLOW_FROM_FORMAT, FPEMU_NAN_FROM_FORMAT, FPEMU_COMPAT_CPFLOAT},
    {"cpfloat-se", FPEMU_MODE_SE, FPEMU_OVERFLOW_FROM_FORMAT, FPEMU_NAN_FROM_FORMAT, FPEMU_COMPAT_CPFLOAT},
    {"nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE, FPEMU_NAN_MAX, FPEMU_COMPAT_CUDA},
    {"ml-dtypes", FPEMU_MODE_RNE, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_FROM_FORMAT, FPEMU_COMPAT_ML_DTYPES},
    {"ml-dtypes-sat", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE_KEEP_INF, FPEMU_NAN_FROM_FORMAT, FPEMU_COMPAT_ML_DTYPES},
    {"pytorch-multiply", FPEMU_MODE_RNE, FPEMU_OVERFLOW_FROM_FORMAT, FPEMU_NAN_FROM_FORMAT,
     FPEMU_COMPAT_PYTORCH_MULTIPLY},
    {"pytorch-divide", FPEMU_MODE_RNE, FPEMU_OVERFLOW_FROM_FORMAT, FPEMU_NAN_FROM_FORMAT, FPEMU_COMPAT_PYTORCH_DIVIDE},
    {"pytorch-cast", FPEMU_MODE_RNE, FPEMU_OVERFLOW_FROM_FORMAT, FPEMU_NAN_FROM_FORMAT, FPEMU_COMPAT_PYTORCH_CAST},
    {"muppet", FPEMU_MODE_SR, FPEMU_OVERFLOW_FROM_FORMAT, FPEMU_NAN_FROM_FORMAT, FPEMU_COMPAT_MUPPET},
    {"ggml", FPEMU_MODE_RNA, FPEMU_OVERFLOW_FROM_FORMAT, FPEMU_NAN_FROM_FORMAT, FPEMU_COMPAT_GGML},
};

#define SETTINGS (sizeof settings / sizeof settings[0])

fpemu_rounding fpemu_rounding_nearest(void)
{
    const fpemu_rounding r = {.mode = FPEMU_MODE_RNE};
    return r;
}

fpemu_rounding fpemu_rounding_stochastic(uint64_t seed, uint64_t stream)
{
    const fpemu_rounding r = {.mode = FPEMU_MODE_SR, .seed = seed, .stream = stream};
    return r;
}

const char *fpemu_mode_name(fpemu_mode mode)
{
    return (uint32_t)mode < FPEMU_MODE_COUNT ? modes[mode].name : NULL;
}

const char *fpemu_mode_long_name(fpemu_mode mode)
{
    return (uint32_t)mode < FPEMU_MODE_COUNT ? modes[mode].long_name : NULL;
}

const char *fpemu_compat_name(unsigned i)
{
    return i < SETTINGS ? settings[i].name : NULL;
}

fpemu_status fpemu_rounding_parse(const char *text, fpemu_rounding *rounding, fpemu_parse_error *error)
{
    if (error)
        memset(error, 0, sizeof *error);
    if (!rounding)
        return FPEMU_ERROR_NULL;
    memset(rounding, 0, sizeof *rounding);
    if (!text)
        return FPEMU_ERROR_NULL;
    const size_t length = fpemu_spec_length(text);
    if (length > FPEMU_SPEC_LENGTH)
        return fpemu_spec_error(error, text, length, FPEMU_SPEC_LENGTH, "at most 255 bytes");
    size_t start = 0, end = length;
    while (start < end && fpemu_is_space(text[start]))
        start++;
    while (end > start && fpemu_is_space(text[end - 1]))
        end--;
    for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
        if (fpemu_word_is(text + start, end - start, modes[mode].name) ||
            fpemu_word_is(text + start, end - start, modes[mode].long_name)) {
            rounding->mode = (uint8_t)mode;
            return FPEMU_OK;
        }
    for (size_t i = 0; i < SETTINGS; i++)
        if (fpemu_word_is(text + start, end - start, settings[i].name)) {
            rounding->mode = settings[i].mode;
            rounding->overflow = settings[i].overflow;
            rounding->nan = settings[i].nan;
            rounding->compat = settings[i].compat;
            return FPEMU_OK;
        }
    near_list list = {.count = 0};
    char meant[NEAR_SIZE];
    for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
        for (int k = 0; k < 2; k++) {
            const char *const name = k ? modes[mode].long_name : modes[mode].name;
            if (fpemu_is_near(text + start, end - start, name))
                fpemu_near_add(&list, name);
        }
    for (size_t i = 0; i < SETTINGS; i++)
        if (fpemu_is_near(text + start, end - start, settings[i].name))
            fpemu_near_add(&list, settings[i].name);
    if (list.count)
        return fpemu_spec_hint(error, text, length, start, fpemu_near_print(&list, meant));
    return fpemu_spec_error(error, text, length, start,
                            "rne, rna, rnz, rnp, rtz, raz, rtp, rtn, rto, sr, se or a compatibility setting");
}
