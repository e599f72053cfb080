/* SPDX-License-Identifier: BSD-2-Clause */
/* coded.c - see coded.h */
#include "common/coded.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Endings of the names of scales, zero points and code books, after a '.' or '_' or as the whole name. A message names
 * the first that a file has. After "zero_point" come the words of HQQ, bitsandbytes, AQLM, ComfyUI, Mistral, Nunchaku
 * and TensorRT-LLM, and those of activations. */
static const char *const scales_end[] = {"scale_inv",    "scale",
                                         "scales",       "scale_2",
                                         "global_scale", "per_tensor_scale",
                                         "qzeros",       "zero_point",
                                         "zeros",        "zero",
                                         "absmax",       "quant_map",
                                         "SCB",          "codebooks",
                                         "scale_weight", "qscale_weight",
                                         "wscales",      "weights_scaling_factor",
                                         "input_scale",  "input_global_scale",
                                         "output_scale"};

/* How the name of the codes ends after the same beginning; and its last word, where the scales have one too. */
static const char *const codes_end[] = {"", "_packed", "_blocks", "_qdata", "_data", "_quantized", "_weight"};
static const char *const codes_word[] = {"weight", "qweight", "W_q", "codes"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_one_of_8_bits_or_less(const char *type)
{
    return strncmp(type, "F8_", 3) == 0 || strncmp(type, "F6_", 3) == 0 || strncmp(type, "F4", 2) == 0;
}

/* Codes are integers, small floats and blocks. A model that was cast as a whole has learned factors of its own type. */
static bool may_pair(const coded_tensor *codes, const coded_tensor *scales)
{
    static const char *const numbers[] = {"F64", "F32", "F16", "BF16", "C64", "BOOL"};
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (strcmp(codes->type, numbers[i]) == 0)
            return false;
    if (strchr("|<>=", codes->type[0]) != NULL && strchr("iuV", codes->type[1]) == NULL) /* NumPy's: '|b1', '<c8' */
        return false;
    return codes != scales && !(is_one_of_8_bits_or_less(codes->type) && strcmp(codes->type, scales->type) == 0);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const coded_tensor *const *)a)->name, (*(const coded_tensor *const *)b)->name);
}

typedef struct search {
    size_t n;
    const coded_tensor *t, **sorted;
    coded_pair *pair;
    char *text; /* room for a name */
} search;

/* Pairs scales with the tensor of the name that is these two, one behind the other; false: it is no such tensor. */
static bool try_name(search *s, const coded_tensor *scales, size_t length, const char *word)
{
    sprintf(s->text, "%.*s%s", (int)length, scales->name, word);
    const coded_tensor wanted = {s->text, ""}, *key = &wanted;
    const coded_tensor **found = bsearch(&key, s->sorted, s->n, sizeof *s->sorted, by_name);
    if (found == NULL || !may_pair(*found, scales))
        return false;
    const coded_pair pair = {(size_t)(*found - s->t), (size_t)(scales - s->t)};
    const size_t of[] = {pair.codes, pair.scales};
    for (int i = 0; i < 2; i++)
        if (s->pair[of[i]].codes == s->pair[of[i]].scales)
            s->pair[of[i]] = pair;
    return true;
}

static void try_end(search *s, const coded_tensor *t, const char *end)
{
    const size_t length = strlen(t->name), tail = strlen(end);
    if (length < tail || strcmp(t->name + length - tail, end) != 0)
        return;
    const size_t before = length - tail; /* with the mark */
    const char mark = before > 0 ? t->name[before - 1] : '\0';
    bool found = false;
    for (size_t k = 0; !found && k < COUNT(codes_end) && (mark == '.' || mark == '_'); k++)
        found = try_name(s, t, before - 1, codes_end[k]);
    for (size_t k = 0; !found && k < COUNT(codes_word) && (mark == '.' || mark == '\0'); k++)
        found = try_name(s, t, before, codes_word[k]);
}

coded_pair *coded_find(size_t n, const coded_tensor *t)
{
    size_t longest = 0;
    search s = {.n = n, .t = t, .sorted = calloc(n + 1, sizeof *s.sorted), .pair = calloc(n + 1, sizeof *s.pair)};
    for (size_t i = 0; i < n && s.sorted != NULL; i++) {
        s.sorted[i] = &t[i];
        longest = strlen(t[i].name) > longest ? strlen(t[i].name) : longest;
    }
    s.text = malloc(longest + 32); /* more than any end or word has */
    const bool good = s.sorted != NULL && s.pair != NULL && s.text != NULL;
    if (good)
        qsort(s.sorted, n, sizeof *s.sorted, by_name);
    for (size_t k = 0; good && k < COUNT(scales_end); k++)
        for (size_t i = 0; i < n; i++)
            try_end(&s, &t[i], scales_end[k]);
    free(s.sorted);
    free(s.text);
    if (!good) {
        free(s.pair);
        return NULL;
    }
    return s.pair;
}
