/* SPDX-License-Identifier: BSD-2-Clause */
/* weights.c - see weights.h */
#include "run/weights.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/words.h"
#include "common/coded.h"
#include "run/occupied.h"

/* ------------------------------------------------------------------------------------------------ out of files */

checkpoint *weights_open(const char *path, bool *whole, trouble *why)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return checkpoint_import(path, whole, why);
    char *inside = path_join(path, RUN_CHECKPOINT);
    checkpoint *c = checkpoint_import(inside, whole, why);
    free(inside);
    return c;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char packed_weight[] = "packed.weight.";

/* "group(int12,2048) 16x3x3x3" */
static bool read_layout(const char *text, fpemu_format *format, int *dims, int dim[8])
{
    char spec[256];
    const char *blank = text ? strrchr(text, ' ') : NULL;
    if (!blank || (size_t)(blank - text) >= sizeof spec)
        return false;
    snprintf(spec, sizeof spec, "%.*s", (int)(blank - text), text);
    *dims = 0;
    for (const char *at = blank + 1; *dims < 8; at++) {
        char *end;
        const long extent = strtol(at, &end, 10);
        if (*at < '0' || *at > '9' || extent < 1 || extent > INT32_MAX)
            return false;
        dim[(*dims)++] = (int)extent;
        at = end;
        if (*at != 'x')
            return *at == '\0' && fpemu_format_parse(spec, format, NULL) == FPEMU_OK;
    }
    return false;
}

static bool put_unpacked(checkpoint *to, const checkpoint *from, const checkpoint_array *a, trouble *why)
{
    fpemu_format format;
    int dims, dim[8];
    bool good = read_layout(checkpoint_text(from, a->name), &format, &dims, dim);
    uint64_t n = 1;
    for (int i = 0; good && i < dims; i++) {
        good = n <= (UINT64_C(1) << 40) / (uint64_t)dim[i];
        n *= (uint64_t)dim[i];
    }
    const fpemu_shape shape = fpemu_shape_vector(n);
    good = good && strcmp(a->type, "U8") == 0 && fpemu_packed_size(&format, &shape) == a->length;
    float *x = good ? need(n, sizeof *x) : NULL;
    good = good && fpemu_unpack_f32(&format, &shape, a->bytes, x) == FPEMU_OK;
    if (good)
        checkpoint_put_floats(to, a->name + strlen(packed_weight), dims, dim, x);
    free(x);
    return good || fail(why, "packed bytes '%.100s' have no layout that fits them", a->name);
}

static const struct {
    const char *type;
    fpemu_name format;
} wider[] = {{"F16", FPEMU_NAME_BINARY16}, {"BF16", FPEMU_NAME_BFLOAT16},        {"F8_E4M3", FPEMU_NAME_E4M3FN},
             {"F8_E5M2", FPEMU_NAME_E5M2}, {"F8_E4M3FNUZ", FPEMU_NAME_E4M3FNUZ}, {"F8_E5M2FNUZ", FPEMU_NAME_E5M2FNUZ}};

static void put_widened(checkpoint *to, const checkpoint_array *a)
{
    checkpoint_array wide = *a;
    float *x = NULL;
    for (size_t i = 0; i < sizeof wider / sizeof *wider; i++) {
        fpemu_format format;
        if (strcmp(a->type, wider[i].type) != 0 || fpemu_format_named(wider[i].format, &format) != FPEMU_OK)
            continue;
        const size_t n = a->length / (a->type[1] == '8' ? 1 : 2);
        x = need(n, sizeof *x);
        if (n > 0 && fpemu_decode_f32(&format, n, a->bytes, x) != FPEMU_OK)
            die("cannot decode %s", a->type);
        wide.type = "F32";
        wide.bytes = x;
        wide.length = n * sizeof *x;
    }
    checkpoint_put_array(to, &wide);
    free(x);
}

/* Whether no array of a file of others is codes that want scales. */
static bool check_numbers(const checkpoint *c, trouble *why)
{
    size_t n = 0, i = 0;
    checkpoint_array a;
    while (checkpoint_at(c, n, &a))
        n++;
    coded_tensor *t = need(n, sizeof *t);
    for (; checkpoint_at(c, i, &a); i++)
        t[i] = (coded_tensor){a.name, a.type};
    coded_pair *pair = needed(coded_find(n, t));
    for (i = 0; i < n && pair[i].codes == pair[i].scales; i++)
        ;
    if (i < n)
        fail(why,
             "'%.100s' are codes with scales in '%.100s', which are not read; 'fpemu quantize fp32 --as-numbers' makes "
             "plain numbers of both",
             t[pair[i].codes].name, t[pair[i].scales].name);
    free(t);
    free(pair);
    return i == n;
}

checkpoint *weights_of(const checkpoint *c, bool whole, trouble *why)
{
    checkpoint *to = checkpoint_new();
    checkpoint_array a;
    bool good = whole || check_numbers(c, why);
    for (size_t i = 0; good && checkpoint_at(c, i, &a); i++)
        if (whole && begins(a.name, packed_weight))
            good = put_unpacked(to, c, &a, why);
        else if (!whole || (!begins(a.name, "optimizer.") && strcmp(a.type, "F32") == 0))
            put_widened(to, &a);
    if (good)
        return to;
    checkpoint_free(to);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ PyTorch's names */

enum { NAME_TEXT = 256 }; /* room for a name, with its zero */

typedef bool has_name(const void *from, const char *name);

static bool ends_in(const char *name, const char *what, size_t *before)
{
    const char *dot = strrchr(name, '.');
    *before = dot ? (size_t)(dot - name) : 0;
    return dot && strcmp(dot + 1, what) == 0;
}

/* The name in PyTorch of what is ours by `name`. What is an LSTM's is told by its neighbour `recurrent`. */
static void torch_name(const char *name, has_name *has, const void *from, char to[NAME_TEXT])
{
    static const char *const plain[][2] = {
        {"scale", "weight"}, {"shift", "bias"}, {"mean", "running_mean"}, {"variance", "running_var"}};
    static const char *const lstm[][2] = {
        {"weight", "weight_ih_l0"}, {"recurrent", "weight_hh_l0"}, {"bias", "bias_ih_l0"}};
    char recurrent[NAME_TEXT + 16];
    size_t before;
    snprintf(to, NAME_TEXT, "%s", name);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (ends_in(name, plain[i][0], &before))
            snprintf(to, NAME_TEXT, "%.*s.%s", (int)before, name, plain[i][1]);
    for (size_t i = 0; i < sizeof lstm / sizeof *lstm; i++) {
        if (!ends_in(name, lstm[i][0], &before))
            continue;
        snprintf(recurrent, sizeof recurrent, "%.*s.recurrent", (int)before, name);
        if (has(from, recurrent))
            snprintf(to, NAME_TEXT, "%.*s.%s", (int)before, name, lstm[i][1]);
    }
}

static bool checkpoint_has(const void *from, const char *name)
{
    return checkpoint_get(from, name, NULL) != NULL;
}

static void put_renamed(checkpoint *to, const checkpoint_array *a, const char *name)
{
    checkpoint_array renamed = *a;
    renamed.name = name;
    checkpoint_put_array(to, &renamed);
}

/* What PyTorch's modules have beside what we have: the batches that a normalisation has seen, which no forward pass
 * uses with a momentum of its own, and the second bias of an LSTM. */
static void put_extra(checkpoint *to, const checkpoint_array *a, bool lstm)
{
    static const uint64_t zero = 0;
    char name[2 * NAME_TEXT];
    size_t before;
    checkpoint_array extra = *a;
    if (ends_in(a->name, "variance", &before)) {
        snprintf(name, sizeof name, "%.*s.num_batches_tracked", (int)before, a->name);
        extra = (checkpoint_array){.type = "I64", .bytes = &zero, .length = sizeof zero};
        put_renamed(to, &extra, name);
    } else if (lstm && ends_in(a->name, "bias", &before)) {
        snprintf(name, sizeof name, "%.*s.bias_hh_l0", (int)before, a->name);
        float *zeros = need(a->length, 1);
        extra.bytes = zeros;
        put_renamed(to, &extra, name);
        free(zeros);
    }
}

/* As PyTorch names them, or as they are. */
static checkpoint *renamed(const checkpoint *weights, bool torch)
{
    checkpoint *to = checkpoint_new();
    checkpoint_array a;
    for (size_t i = 0; checkpoint_at(weights, i, &a); i++) {
        char name[NAME_TEXT];
        size_t before;
        if (!torch) {
            checkpoint_put_array(to, &a);
            continue;
        }
        torch_name(a.name, checkpoint_has, weights, name);
        put_renamed(to, &a, name);
        put_extra(to, &a, ends_in(name, "bias_ih_l0", &before));
    }
    return to;
}

bool weights_export(const checkpoint *weights, const char *path, bool torch, trouble *why)
{
    checkpoint *to = renamed(weights, torch);
    checkpoint_put_text(to, "format", "pt"); /* as loaders of models ask: names and layouts are PyTorch's */
    const bool good = checkpoint_export(to, path, why);
    checkpoint_free(to);
    return good;
}

/* ------------------------------------------------------------------------------------------------ into a network */

typedef struct target {
    const char *name;
    char torch[NAME_TEXT];
    int dims, dim[4];
    size_t size;
    float *x;      /* what it gets; NULL: nothing yet */
    bool taken[2]; /* its own tensor, and the second bias of PyTorch's LSTM */
} target;

typedef struct targets {
    int count, params;
    target *target;
} targets;

static bool graph_has(const void *from, const char *name)
{
    graph *g = (graph *)(uintptr_t)from;
    for (int p = 0; p < graph_params(g); p++)
        if (strcmp(graph_param(g, p)->name, name) == 0)
            return true;
    return false;
}

static targets targets_of(graph *g)
{
    targets all = {.params = graph_params(g), .count = graph_params(g) + graph_buffers(g)};
    all.target = need((size_t)all.count, sizeof *all.target);
    for (int i = 0; i < all.count; i++) {
        target *t = &all.target[i];
        if (i < all.params) {
            const param *p = graph_param(g, i);
            *t = (target){.name = p->name, .dims = p->dims, .size = p->size};
            memcpy(t->dim, p->dim, sizeof t->dim);
        } else {
            const buffer *b = graph_buffer(g, i - all.params);
            *t = (target){.name = b->name, .dims = 1, .dim = {(int)b->size}, .size = b->size};
        }
        torch_name(t->name, graph_has, g, t->torch);
    }
    return all;
}

static void targets_free(targets *all)
{
    for (int i = 0; i < all->count; i++)
        free(all->target[i].x);
    free(all->target);
}

static target *find_target(const targets *all, const char *name)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->target[i].name, name) == 0)
            return &all->target[i];
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->target[i].torch, name) == 0)
            return &all->target[i];
    return NULL;
}

static bool all_fit(const targets *all, const char *patterns, trouble *why)
{
    char one[SETTINGS_TEXT];
    for (const char *rest = patterns_begin(patterns); patterns_next(&rest, one, sizeof one);) {
        bool fits = false;
        for (int i = 0; i < all->count; i++)
            fits = fits || fnmatch(one, all->target[i].name, 0) == 0;
        if (!fits)
            return fail(why, "init.partial: no tensor of this network is called '%s'", one);
    }
    return true;
}

static bool same_shape(const target *t, const checkpoint_array *a)
{
    bool same = a->dims == (unsigned)t->dims;
    for (int i = 0; same && i < t->dims; i++)
        same = a->dim[i] == (uint64_t)t->dim[i];
    return same;
}

static void print_array_shape(const checkpoint_array *a, char text[128])
{
    size_t length = (size_t)snprintf(text, 128, "%s", a->dims ? "" : "a single number");
    for (unsigned i = 0; i < a->dims && length < 100; i++)
        length += (size_t)snprintf(text + length, 128 - length, "%s%llu", i ? "x" : "", (unsigned long long)a->dim[i]);
}

static bool refuse_shape(const target *t, const checkpoint_array *a, bool may_start, trouble *why)
{
    char theirs[128], ours[128];
    uint64_t dim[4];
    for (int i = 0; i < t->dims; i++)
        dim[i] = (uint64_t)t->dim[i];
    print_array_shape(a, theirs);
    print_array_shape(&(checkpoint_array){.dims = (unsigned)t->dims, .dim = dim}, ours);
    char advice[NAME_TEXT + 64] = "";
    if (may_start)
        snprintf(advice, sizeof advice, "; init.partial = %s leaves it at its start", t->name);
    return fail(why, "tensor '%.100s' is %s, but %s of the network is %s%s", a->name, theirs, t->name, ours, advice);
}

/* The second bias of an LSTM of PyTorch is added to the first; in what order they come does not matter. */
static bool take(target *t, const checkpoint_array *a, bool second, const char *partial, trouble *why)
{
    const float *x = a->bytes;
    if (!same_shape(t, a))
        return patterns_fit(partial, t->name) || refuse_shape(t, a, partial != NULL, why);
    if (strcmp(a->type, "F32") != 0)
        return fail(why, "tensor '%.100s' is of type %s; F32, F16, BF16 and 8-bit floats are taken", a->name, a->type);
    if (t->taken[second])
        return fail(why, "tensor '%.100s' is the second one for %s of the network", a->name, t->name);
    t->taken[second] = true;
    const bool add = t->x != NULL;
    if (!add)
        t->x = need(t->size, sizeof *x);
    for (size_t i = 0; i < t->size; i++)
        t->x[i] = add ? t->x[i] + x[i] : x[i];
    return true;
}

/* A few names, and how many more there are. */
typedef struct list {
    char text[256];
    int count;
} list;

static void add_name(list *l, const char *name)
{
    const size_t length = strlen(l->text);
    if (l->count++ < 4)
        snprintf(l->text + length, sizeof l->text - length, "%s'%.50s'", length ? ", " : "", name);
}

static bool refuse_list(const list *l, const char *what, const char *advice, trouble *why)
{
    char more[32] = "";
    if (l->count > 4)
        snprintf(more, sizeof more, " and %d more", l->count - 4);
    return fail(why, "%s %s%s%s", what, l->text, more, advice);
}

static bool take_all(const targets *all, const checkpoint *weights, const char *partial, trouble *why)
{
    list extra = {"", 0}, missing = {"", 0};
    checkpoint_array a;
    int taken = 0;
    for (size_t i = 0; checkpoint_at(weights, i, &a); i++) {
        char name[NAME_TEXT + 16];
        size_t before;
        snprintf(name, sizeof name, "%s", a.name);
        const bool second = ends_in(name, "bias_hh_l0", &before);
        if (ends_in(name, "num_batches_tracked", &before))
            continue;
        if (second)
            (void)snprintf(name + before, sizeof name - before, ".bias_ih_l0");
        target *t = find_target(all, name);
        if (!t)
            add_name(&extra, a.name);
        else if (!take(t, &a, second, partial, why))
            return false;
    }
    for (int i = 0; i < all->count; i++) {
        taken += all->target[i].taken[0];
        if (!all->target[i].taken[0] && !patterns_fit(partial, all->target[i].name))
            add_name(&missing, all->target[i].name);
    }
    if (extra.count)
        return refuse_list(&extra, "the network has no tensor", "", why);
    if (missing.count)
        return refuse_list(&missing, "no weights for", partial ? "; init.partial leaves them at their start" : "", why);
    return taken > 0 || fail(why, "not one tensor of it is of this network");
}

bool weights_fit(graph *g, const checkpoint *weights, const char *partial, trouble *why)
{
    targets all = targets_of(g);
    const bool good = all_fit(&all, partial, why) && take_all(&all, weights, partial, why);
    targets_free(&all);
    return good;
}

bool weights_load(trainer *t, const checkpoint *weights, const char *partial, trouble *why)
{
    targets all = targets_of(t->g);
    const bool good = all_fit(&all, partial, why) && take_all(&all, weights, partial, why);
    for (int i = 0; good && i < all.count; i++) {
        const target *from = &all.target[i];
        if (from->x && i < all.params)
            t->optimizer->type->start(t->optimizer, i, from->x);
        else if (from->x)
            memcpy(graph_buffer(t->g, i - all.params)->data, from->x, from->size * sizeof *from->x);
    }
    targets_free(&all);
    return good;
}

bool weights_start(trainer *t, trouble *why)
{
    const settings *s = t->settings;
    trouble inner;
    bool whole;
    if (!s->init.from[0])
        return !s->init.partial[0] || fail(why, "init.partial goes with init.from");
    checkpoint *c = weights_open(s->init.from, &whole, why);
    checkpoint *weights = c ? weights_of(c, whole, &inner) : NULL;
    bool good = weights && weights_load(t, weights, s->init.partial, &inner);
    if (c && !good)
        fail(why, "%.150s: %.340s", s->init.from, inner.text);
    checkpoint_free(weights);
    checkpoint_free(c);
    return good;
}
