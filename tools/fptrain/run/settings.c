/* SPDX-License-Identifier: BSD-2-Clause */
/* settings.c - the table of keys, how each is read and printed. */
#include "run/settings.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "common/atomic_file.h"
#include "common/near.h"
#include "common/shown.h"
#include "common/utf8.h"
#include "models/network_text.h"

typedef enum kind { TEXT, CHOICE, YESNO, WHOLE, COUNT, REAL } kind;
static const char *const kind_names[] = {"text", "one of", "yes or no", "whole number", "whole number", "number"};

typedef struct row {
    const char *section, *key;
    kind kind;
    size_t place, size;
    const char *normal;
    double low, high;    /* WHOLE, REAL; COUNT takes all of 64 bits */
    const char *choices; /* CHOICE: words with a blank between */
    const char *option, *help;
} row;

/* clang-format off */
/* A key that is the field of the settings of its name; behind its help stand other fields of the row, by name. */
#define ROW(in, name, type, text, ...)                                                                     \
    {.section = #in, .key = #name, .kind = type, .place = offsetof(settings, in.name),                     \
     .size = sizeof((settings *)0)->in.name, .normal = text, .help = __VA_ARGS__}
static const row rows[] = {
    ROW(model, name, TEXT, "lenet",
        "the network: a name that fptrain models lists, or a file NAME.net that describes one", .option = "--model"),
    ROW(model, width, REAL, "1", "multiplies the number of channels", .low = 0.01, .high = 16),
    ROW(model, projections, YESNO, "no", "1x1 projections in the shortcuts of resnet20 to resnet110"),
    ROW(model, norm, YESNO, "yes", "batch normalisation where the network has it"),
    ROW(model, blocks, TEXT, "",
        "how many: of each stage, as 3,3,3, of resnet, resnet18 and vgg; of chargpt; empty: the model's own"),
    ROW(model, depth, WHOLE, "0", "layers of resnet, 6 n + 2; 0: 20", .high = 6002),
    ROW(model, hidden, TEXT, "",
        "sizes, as 256,128, of the hidden layers of mlp, lenet, charlstm and chargpt; empty: the model's own"),
    ROW(model, features, WHOLE, "0", "of a character in charlstm and chargpt; 0: the model's own", .high = 65536),
    ROW(model, heads, WHOLE, "0", "of attention in chargpt; 0: 4", .high = 1024),
    ROW(model, kernel, WHOLE, "0", "side of the kernels of lenet, vgg and resnets; 0: the model's own", .high = 31),
    ROW(model, last, REAL, "1",
        "multiplies the first weights of the last layer; near 0 first losses are ln(classes)", .high = 1),
    ROW(data, source, TEXT, "digits",
        "digits, shapes, mnist:DIR, cifar10:DIR, cifar100:DIR, idx:DIR, npz:FILE, text:FILE, "
        "tokens:FILE or a path", .option = "--data"),
    ROW(data, seed, COUNT, "1", "of generated data, and of the choices by part and limits"),
    ROW(data, train_count, COUNT, "0", "generated training samples; 0: 10000", .high = 1e7),
    ROW(data, test_count, COUNT, "0", "generated test samples; 0: 2000", .high = 1e7),
    ROW(data, part, TEXT, "",
        "K/N: part K of N disjoint ones of the training data, with as many samples of each class; empty: all"),
    ROW(data, limit, COUNT, "0", "at most so many training samples; 0: all"),
    ROW(data, test_limit, COUNT, "0", "at most so many test samples; 0: all"),
    ROW(data, pad, WHOLE, "0", "side to which images are padded; 0: as they are", .high = 4096),
    ROW(data, crop, WHOLE, "0", "border of random crops in training, in pixels", .high = 64),
    ROW(data, flip, YESNO, "no", "training images are mirrored at random"),
    ROW(data, steps, WHOLE, "64", "characters of a sample of text", .low = 1, .high = 65536),
    ROW(data, test, TEXT, "", "where the samples for testing lie, if apart: as data.source after its colon"),
    ROW(data, test_share, REAL, "0.1",
        "else so many of all are for testing, where the files do not say", .low = 0.0001, .high = 0.9),
    ROW(data, names, TEXT, "",
        "of the arrays in npz:FILE: INPUTS,LABELS or INPUTS,LABELS,TEST INPUTS,TEST LABELS; empty: "
        "x_train,y_train,x_test,y_test and the like"),
    ROW(data, layout, CHOICE, "auto",
        "of arrays of images: where the channels are; auto: where there are 1, 3 or 4", .choices = "auto nchw nhwc"),
    ROW(data, classes, WHOLE, "0",
        "of npz, idx and tokens: how many there are; 0: as many as the files show", .high = 65536),
    ROW(data, characters, CHOICE, "bytes", "of text: what a character is", .choices = "bytes utf8"),
    ROW(data, normalise, CHOICE, "channel",
        "by mean and deviation of the training samples: of each channel or feature, or of all "
        "together", .choices = "channel all none"),
    ROW(data, mean, TEXT, "", "is subtracted instead: one number, or one for each channel with commas between"),
    ROW(data, deviation, TEXT, "", "is divided by instead: one number, or one for each channel with commas between"),
    ROW(train, epochs, WHOLE, "3", "how often the data are gone through", .high = 1e6, .option = "--epochs"),
    ROW(train, batch, WHOLE, "64", "samples of a step", .low = 1, .high = 65536, .option = "--batch"),
    ROW(train, micro_batches, WHOLE, "1",
        "batches whose gradients are gathered for one step; with optimizer.store = packed", .low = 1, .high = 65536),
    ROW(train, lr, REAL, "0.05", "learning rate", .high = 1e6, .option = "--lr"),
    ROW(train, schedule, TEXT, "constant",
        "of the learning rate: constant, cosine, linear, rsqrt or step:EPOCH,EPOCH...", .option = "--schedule"),
    ROW(train, warmup, WHOLE, "0", "epochs over which the rate grows at first", .high = 1e6),
    ROW(train, seed, COUNT, "1", "of weights, order, crops, dropout and stochastic rounding", .option = "--seed"),
    ROW(train, threads, WHOLE, "1",
        "0: as many as there are processors; never changes a result", .high = 1024, .option = "--threads"),
    ROW(train, backend, TEXT, "auto",
        "auto, onednn, blas, exact, exact:saturate or emulated:MODEL, such as emulated:chunk(64,fp16)"),
    ROW(train, fanout, CHOICE, "sum",
        "gradients of several consumers: the sum is rounded, or each", .choices = "sum each"),
    ROW(train, diverged, CHOICE, "stop",
        "what a run does when its loss is no number any more: stop ends it with status 3", .choices = "stop continue"),
    ROW(train, schedule_by, CHOICE, "epoch", "what the schedule counts", .choices = "epoch step"),
    ROW(train, warmup_steps, COUNT, "0", "steps over which the rate grows at first, instead of epochs", .high = 1e9),
    ROW(train, warmup_start, REAL, "0", "the rate of the first of these steps", .high = 1e6),
    ROW(train, label_smoothing, REAL, "0", "share of the target that all classes have alike, in training", .high = 1),
    ROW(policy, name, TEXT, "fixed",
        "fixed: as [formats] says; assign:KEY=VALUE,... by demotion and promotion; muppet:KEY=VALUE,... by word "
        "length", .option = "--policy"),
    ROW(scaler, name, CHOICE, "none",
        "loss scaling", .choices = "none fixed backoff logmax adaptive", .option = "--scaler"),
    ROW(scaler, scale, REAL, "0", "fixed: the scale; backoff: the first one, 0 for 2^16", .high = 0x1p100),
    ROW(scaler, interval, COUNT, "0",
        "backoff: clean steps before it grows, 0 for 2000; adaptive: steps between statistics, 0 for 100"),
    ROW(scaler, underflow_target, REAL, "0", "adaptive: share of gradients that may vanish, 0 for 0.001", .high = 1),
    ROW(scaler, fan, YESNO, "no", "adaptive: counts the fan of a layer in"),
    ROW(scaler, beta_cap, REAL, "0", "adaptive: largest factor of a layer, 0 for none", .high = 0x1p100),
    ROW(scaler, alpha_cap, REAL, "0", "adaptive: largest product of factors, 0 for none", .high = 0x1p100),
    ROW(optimizer, name, CHOICE, "momentum",
        "how weights follow gradients", .choices = "sgd momentum nesterov adam adamw", .option = "--optimizer"),
    ROW(optimizer, momentum, REAL, "0.9", "of the gradient, below 1; adam, adamw: beta1", .high = 1),
    ROW(optimizer, beta2, REAL, "0.999", "adam, adamw: of the squared gradient, below 1", .high = 1),
    ROW(optimizer, epsilon, REAL, "1e-08", "adam, adamw: added to the root, above 0 in binary32", .high = 1),
    ROW(optimizer, decay, REAL, "0",
        "times the weights, joins the gradient; adamw: times the rate, joins the update", .high = 1),
    ROW(optimizer, clip, REAL, "0",
        "largest norm of the whole gradient, or as clipping says; 0 for none", .high = 1e30),
    ROW(optimizer, master, YESNO, "yes", "weights are kept in FP32 beside the rounded ones"),
    ROW(optimizer, store, CHOICE, "fp32",
        "how parameters, gradients and state are kept; packed: low-precision model memory", .choices = "fp32 packed"),
    ROW(optimizer, storing, CHOICE, "stochastic", "packed: how they are rounded", .choices = "stochastic nearest"),
    ROW(optimizer, weights, TEXT, "", "packed: format of parameters; empty: group(int12,2048)"),
    ROW(optimizer, gradients, TEXT, "", "packed: of gathered gradients; empty: group(int8,2048)"),
    ROW(optimizer, momenta, TEXT, "", "packed: of the momentum; empty: codebook(dynamic8,2048)"),
    ROW(optimizer, squares, TEXT, "", "packed: of adam's and adamw's second moment; empty: codebook(udynamic8,2048)"),
    ROW(optimizer, clipping, CHOICE, "norm",
        "what clip bounds: the whole norm, each tensor's, each element, or each row beside its "
        "weights", .choices = "norm tensor value adaptive"),
    ROW(optimizer, no_clip, TEXT, "", "patterns of parameters whose gradients are not clipped, with commas between"),
    ROW(optimizer, no_decay, TEXT, "", "patterns of parameters without decay, such as *.bias,*.scale,*.shift"),
    ROW(init, from, TEXT, "",
        "weights to start from: a checkpoint, a directory of a run or a .safetensors file; empty: drawn by the "
        "seed", .option = "--init-from"),
    ROW(init, partial, TEXT, "",
        "patterns of parameters, with commas between, that may be missing there or have another shape"),
    ROW(output, directory, TEXT, "",
        "where log.jsonl, summary.json, settings.ini and checkpoints go; empty: nowhere", .option = "--out"),
    ROW(output, log_every, WHOLE, "10", "steps from one line to the next", .low = 1, .high = 1e9),
    ROW(output, checkpoint_every, WHOLE, "1",
        "epochs from one checkpoint to the next, and one at the end; 0: none", .high = 1e6),
    ROW(output, checkpoint_steps, WHOLE, "0",
        "steps from one checkpoint to the next within an epoch; 0: none", .high = 1e9),
    ROW(output, counters, YESNO, "yes", "counters of every tensor in the log"),
    ROW(output, histograms, YESNO, "no", "with them how often each exponent occurs"),
    ROW(output, dispersion, YESNO, "no",
        "with them standard deviation and 1 % quantile of every gradient, before it is rounded"),
    ROW(output, best, CHOICE, "none",
        "keeps best.safetensors, the checkpoint of the best test accuracy or loss so "
        "far", .choices = "none accuracy loss"),
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows, MOST_FORMATS = 1000 };

static void *field(const settings *s, const row *r)
{
    return (char *)(uintptr_t)s + r->place;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* A value that a file can hold: the reader of files drops blanks at both ends, and what follows `;` after a blank; and
 * that JSON can, in a summary. */
static bool check_writable(const char *value, trouble *why)
{
    const size_t length = strlen(value);
    if (length > 0 && (isspace((unsigned char)value[0]) || isspace((unsigned char)value[length - 1])))
        return fail(why, "a value that begins or ends with a blank");
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)value[i]) || (value[i] == ';' && (i == 0 || isspace((unsigned char)value[i - 1]))))
            return fail(why, "a value with a control character, or with ';' after a blank");
    return utf8_is(value, length) || fail(why, "a value that is not in UTF-8");
}

static bool is_choice(const char *value, const char *choices)
{
    const size_t length = strlen(value);
    for (const char *c = choices; *c; c += strcspn(c, " "), c += *c == ' ')
        if (strcspn(c, " ") == length && strncmp(c, value, length) == 0)
            return true;
    return false;
}

enum { RANGE_TEXT = sizeof((settings_key *)0)->range };

/* From where to where a number may be; both ends are taken as they stand there. */
static const char *print_range(const row *r, char text[RANGE_TEXT])
{
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    if (r->kind == REAL)
        snprintf(text, RANGE_TEXT, "%s..%s", number_print(low, 1, r->low), number_print(high, 1, r->high));
    else
        snprintf(text, RANGE_TEXT, "%.0f..%.0f", r->low, r->high);
    return text;
}

static bool read_real(const row *r, const char *value, double *number, trouble *why)
{
    char cut[SHOWN_SIZE];
    char *end, range[RANGE_TEXT];
    errno = 0;
    const double read = strtod(value, &end);
    const bool digits = isdigit((unsigned char)*value) || *value == '.' || *value == '-' || *value == '+';
    if (!digits || *end || isnan(read) || (errno == ERANGE && fabs(read) > 1))
        return fail(why, "'%s' is not a number", shown(value, 0, cut));
    if (read < r->low || read > r->high)
        return fail(why, "%s is not in %s", shown(value, 0, cut), print_range(r, range));
    *number = read;
    return true;
}

static bool read_count(const row *r, const char *value, uint64_t *number, trouble *why)
{
    char *end, cut[SHOWN_SIZE], range[RANGE_TEXT];
    errno = 0;
    const unsigned long long read = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno == ERANGE)
        return fail(why, "'%s' is not a whole number of 64 bits", shown(value, 0, cut));
    if (r->high > 0 && (double)read > r->high)
        return fail(why, "%s is not in %s", shown(value, 0, cut), print_range(r, range));
    *number = read;
    return true;
}

static bool read_whole(const row *r, const char *value, int *number, trouble *why)
{
    char *end, cut[SHOWN_SIZE], range[RANGE_TEXT];
    errno = 0;
    const long wide = strtol(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end)
        return fail(why, "'%s' is not a whole number", shown(value, 0, cut));
    if (errno == ERANGE || (double)wide < r->low || (double)wide > r->high)
        return fail(why, "%s is not in %s", shown(value, 0, cut), print_range(r, range));
    *number = (int)wide;
    return true;
}

static bool read_value(settings *s, const row *r, const char *value, trouble *why)
{
    void *to = field(s, r);
    char cut[SHOWN_SIZE];
    switch (r->kind) {
    case WHOLE: return read_whole(r, value, to, why);
    case COUNT: return read_count(r, value, to, why);
    case REAL: return read_real(r, value, to, why);
    case YESNO:
        if (!is_choice(value, "yes no"))
            return fail(why, "'%s' is neither yes nor no", shown(value, 0, cut));
        *(bool *)to = strcmp(value, "yes") == 0;
        return true;
    case CHOICE:
        if (!is_choice(value, r->choices))
            return fail(why, "'%s' is none of: %s", shown(value, 0, cut), r->choices);
        break;
    case TEXT:
        if (to == s->output.directory && strcmp(value, "-") == 0)
            return fail(why, "'-' is not taken for standard output; './-' names a directory");
        break;
    }
    if (strlen(value) >= r->size)
        return fail(why, "a value of %zu bytes, at most %zu can be", strlen(value), r->size - 1);
    strcpy(to, value);
    return true;
}

static void free_line(format_line *line)
{
    free((char *)(uintptr_t)line->pattern);
    free((char *)(uintptr_t)line->spec);
    free((char *)(uintptr_t)line->mode);
}

/* SPEC or SPEC MODE; a blank inside of parentheses belongs to the spec. */
static bool split_format(const char *value, format_line *line, trouble *why)
{
    fpemu_format format;
    fpemu_rounding rounding;
    fpemu_parse_error error;
    char cut[SHOWN_SIZE];
    int depth = 0;
    size_t length = 0;
    for (; value[length] && (depth > 0 || !isspace((unsigned char)value[length])); length++)
        depth += (value[length] == '(') - (value[length] == ')');
    const char *mode = value + length + strspn(value + length, " \t");
    line->spec = copy_text(value, length);
    line->mode = *mode ? copy_text(mode, strlen(mode)) : NULL;
    if (strcmp(line->spec, "fp32") != 0 && fpemu_format_parse(line->spec, &format, &error) != FPEMU_OK)
        return fail(why, "format '%s', character %u: %s", shown(line->spec, error.position, cut),
                    (unsigned)error.position + 1, error.message);
    if (line->mode && fpemu_rounding_parse(line->mode, &rounding, &error) != FPEMU_OK)
        return fail(why, "rounding '%s': %s", shown(line->mode, error.position, cut), error.message);
    return true;
}

/* Adds at the end; what was said of the same pattern before is gone. */
static bool set_format(settings *s, const char *pattern, const char *value, trouble *why)
{
    format_line line = {NULL, NULL, NULL};
    if (s->format_count == MOST_FORMATS)
        return fail(why, "more than %d lines of formats", MOST_FORMATS);
    if (!split_format(value, &line, why)) {
        free_line(&line);
        return false;
    }
    line.pattern = copy_text(pattern, strlen(pattern));
    int kept = 0;
    format_line *lines = need((size_t)s->format_count + 1, sizeof *lines);
    for (int i = 0; i < s->format_count; i++)
        if (strcmp(s->formats[i].pattern, pattern) == 0)
            free_line(&s->formats[i]);
        else
            lines[kept++] = s->formats[i];
    lines[kept++] = line;
    free(s->formats);
    s->formats = lines;
    s->format_count = kept;
    return true;
}

static bool check_pattern(const char *pattern, trouble *why)
{
    const size_t length = strlen(pattern);
    bool good = length > 0 && length < 50 && !strchr("#;[", pattern[0]);
    for (size_t i = 0; i < length; i++)
        good = good && isgraph((unsigned char)pattern[i]) && !strchr("=:;", pattern[i]);
    return good || fail(why, "'%.60s' cannot be a role or a pattern of tensor names", pattern);
}

bool settings_set(settings *s, const char *section, const char *key, const char *value, trouble *why)
{
    bool known = false;
    if (strlen(value) >= SETTINGS_TEXT)
        return fail(why, "a value of %zu bytes, at most %d can be", strlen(value), SETTINGS_TEXT - 1);
    if (!check_writable(value, why))
        return false;
    if (strcmp(section, "formats") == 0 && strlen(key) + strlen(value) > 190)
        return fail(why, "a pattern and a format of %zu bytes, at most 190 can be", strlen(key) + strlen(value));
    if (strcmp(section, "formats") == 0)
        return check_pattern(key, why) && set_format(s, key, value, why);
    near_search keys = near_start(key), sections = near_start(section);
    near_try(&sections, "formats");
    near_try(&sections, "network");
    for (int i = 0; i < ROWS; i++) {
        const bool here = strcmp(rows[i].section, section) == 0;
        if (here && strcmp(rows[i].key, key) == 0) {
            if (field(s, &rows[i]) == s->model.name)
                settings_take_network(s, NULL, "", 1);
            return read_value(s, &rows[i], value, why);
        }
        known = known || here;
        if (here)
            near_try(&keys, rows[i].key);
        if (i == 0 || strcmp(rows[i].section, rows[i - 1].section) != 0)
            near_try(&sections, rows[i].section);
    }
    if (strcmp(section, "network") == 0)
        return fail(why, "[network] has no keys: it is the text of the network that model.name = NAME.net names");
    return known ? fail(why, "section [%s] has no key '%.60s'%s", section, key, near_text(&keys))
                 : fail(why, "there is no section [%.60s]%s", section, near_text(&sections));
}

void settings_fix(settings *s, const char *section, const char *key, const char *value)
{
    trouble why;
    if (!settings_set(s, section, key, value, &why))
        die("%s.%s: %s", section, key, why.text);
}

static void set_default(settings *s, const row *r)
{
    trouble why;
    if (!read_value(s, r, r->normal, &why))
        die("%s.%s: %s", r->section, r->key, why.text);
}

void settings_default(settings *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < ROWS; i++)
        set_default(s, &rows[i]);
}

void settings_reset(settings *s, const char *section)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].section, section) == 0)
            set_default(s, &rows[i]);
}

void settings_free(settings *s)
{
    for (int i = 0; i < s->format_count; i++)
        free_line(&s->formats[i]);
    free(s->formats);
    s->formats = NULL;
    s->format_count = 0;
    for (int i = 0; i < s->config_count; i++)
        free(s->config[i]);
    free(s->config);
    s->config = NULL;
    s->config_count = 0;
    settings_take_network(s, NULL, "", 1);
}

static char *copy_of(const char *text)
{
    return text ? copy_text(text, strlen(text)) : NULL;
}

settings settings_copy(const settings *s)
{
    settings to = *s;
    to.formats = need((size_t)s->format_count + 1, sizeof *to.formats);
    for (int i = 0; i < s->format_count; i++)
        to.formats[i] =
            (format_line){copy_of(s->formats[i].pattern), copy_of(s->formats[i].spec), copy_of(s->formats[i].mode)};
    to.network.text = copy_of(s->network.text);
    to.config = NULL; /* nothing was read for these */
    to.config_count = 0;
    return to;
}

void settings_take_network(settings *s, char *text, const char *from, int line)
{
    free(s->network.text);
    s->network.text = text;
    snprintf(s->network.from, sizeof s->network.from, "%s", from);
    s->network.line = line;
}

bool settings_same_network(const settings *a, const settings *b)
{
    if (!a->network.text || !b->network.text)
        return a->network.text == b->network.text;
    return network_text_same(a->network.text, b->network.text);
}

/* ------------------------------------------------------------------------------------------------ printing */

const char *settings_value(const settings *s, int i, char text[SETTINGS_TEXT])
{
    const row *r = &rows[i];
    const void *from = field(s, r);
    switch (r->kind) {
    case TEXT:
    case CHOICE: snprintf(text, SETTINGS_TEXT, "%s", (const char *)from); break;
    case YESNO: strcpy(text, *(const bool *)from ? "yes" : "no"); break;
    case WHOLE: snprintf(text, SETTINGS_TEXT, "%d", *(const int *)from); break;
    case COUNT: snprintf(text, SETTINGS_TEXT, "%" PRIu64, *(const uint64_t *)from); break;
    case REAL: number_print(text, 1, *(const double *)from); break;
    }
    return text;
}

char *settings_print(const settings *s)
{
    char *text = NULL, value[SETTINGS_TEXT];
    size_t length;
    const char *section = "";
    FILE *file = needed(open_memstream(&text, &length));
    for (int i = 0; i < ROWS; i++) {
        if (strcmp(section, rows[i].section) != 0)
            fprintf(file, "%s[%s]\n", i ? "\n" : "", rows[i].section);
        section = rows[i].section;
        fprintf(file, "%s = %s\n", rows[i].key, settings_value(s, i, value));
    }
    if (s->format_count > 0)
        fprintf(file, "\n[formats]\n");
    for (int i = 0; i < s->format_count; i++)
        fprintf(file, "%s = %s%s%s\n", s->formats[i].pattern, s->formats[i].spec, s->formats[i].mode ? " " : "",
                s->formats[i].mode ? s->formats[i].mode : "");
    if (s->network.text)
        fprintf(file, "\n[network]\n%s", s->network.text);
    if (fclose(file) != 0)
        die("out of memory");
    return text;
}

bool settings_write(const settings *s, const char *path, trouble *why)
{
    char *text = settings_print(s);
    const bool good = atomic_file_write(path, text, strlen(text), why);
    free(text);
    return good;
}

bool settings_table(int i, settings_key *key)
{
    if (i < 0 || i >= ROWS)
        return false;
    const row *r = &rows[i];
    *key = (settings_key){.section = r->section, .key = r->key, .help = r->help, .option = r->option};
    snprintf(key->type, sizeof key->type, "%s", kind_names[r->kind]);
    snprintf(key->normal, sizeof key->normal, "%s", r->normal);
    if (r->kind == CHOICE)
        snprintf(key->range, sizeof key->range, "%s", r->choices);
    else if (r->kind == WHOLE || r->kind == REAL || (r->kind == COUNT && r->high > 0))
        print_range(r, key->range);
    return true;
}

int settings_difference(const settings *a, const settings *b, bool (*matters)(const settings_key *key))
{
    char one[SETTINGS_TEXT], other[SETTINGS_TEXT];
    settings_key key;
    for (int i = 0; settings_table(i, &key); i++)
        if (matters(&key) && strcmp(settings_value(a, i, one), settings_value(b, i, other)) != 0)
            return i;
    return -1;
}

static bool same_word(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool settings_same_formats(const settings *a, const settings *b)
{
    bool same = a->format_count == b->format_count;
    for (int i = 0; same && i < a->format_count; i++) {
        const format_line *x = &a->formats[i], *y = &b->formats[i];
        same = same_word(x->pattern, y->pattern) && same_word(x->spec, y->spec) && same_word(x->mode, y->mode);
    }
    return same;
}
