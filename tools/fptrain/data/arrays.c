/* SPDX-License-Identifier: BSD-2-Clause */
/* arrays.c - see readers.h */
#include "data/readers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/npz.h"
#include "data/array.h"

enum { ROLES = 4, NAME = 128 }; /* inputs, labels, the same for testing */

static const char *const usual[][ROLES] = {
    {"x_train", "y_train", "x_test", "y_test"},
    {"X_train", "y_train", "X_test", "y_test"},
    {"train_images", "train_labels", "test_images", "test_labels"},
    {"train_x", "train_y", "test_x", "test_y"},
    {"x", "y", "", ""},
    {"X", "y", "", ""},
    {"images", "labels", "", ""},
    {"data", "labels", "", ""},
    {"data", "target", "", ""},
};
enum { USUAL = sizeof usual / sizeof *usual };

/* Named arrays. */
typedef struct shelf {
    const char *where; /* for messages */
    FILE *file;
    npz *archive;
} shelf;

static void shelf_close(shelf *s, FILE *kept)
{
    npz_close(s->archive);
    if (s->file && s->file != kept)
        fclose(s->file);
}

static bool shelf_take(shelf *s, FILE *file, const char *name, trouble *why)
{
    trouble reason;
    *s = (shelf){.where = name, .file = file};
    s->archive = npz_open(file, &reason);
    return s->archive || fail(why, "%s: %.300s", name, reason.text);
}

static bool shelf_open(shelf *s, const char *where, trouble *why)
{
    FILE *file = fopen(where, "rb");
    if (!file)
        return fail(why, "%s: %s", where, strerror(errno));
    if (shelf_take(s, file, where, why))
        return true;
    fclose(file);
    return false;
}

/* The member of an archive that is called so, or -1. */
static int64_t find_member(const shelf *s, const char *name)
{
    const size_t length = strlen(name);
    for (uint64_t i = 0; i < npz_count(s->archive); i++) {
        const char *member;
        uint64_t size;
        if (npz_look(s->archive, i, &member, &size, NULL) && npz_is_array(member) && strlen(member) == length + 4 &&
            strncmp(member, name, length) == 0)
            return (int64_t)i;
    }
    return -1;
}

static bool shelf_has(const shelf *s, const char *name)
{
    return *name && find_member(s, name) >= 0;
}

static bool read_member(void *from, void *bytes, size_t size, size_t *got, trouble *why)
{
    return npz_read(from, bytes, size, got, why);
}

static source *shelf_source(const shelf *s, const char *name, trouble *why)
{
    char text[300];
    trouble reason;
    const int64_t i = find_member(s, name);
    snprintf(text, sizeof text, "%.200s: %.50s", s->where, name);
    if (i < 0)
        fail(why, "%s: no array '%s'", s->where, name);
    else if (npz_begin(s->archive, (uint64_t)i, 0, &reason))
        return source_of(read_member, s->archive, text);
    else
        fail(why, "%s: %.200s", text, reason.text);
    return NULL;
}

static bool shelf_array(const shelf *s, const char *name, array *a, trouble *why)
{
    source *from = shelf_source(s, name, why);
    const bool good = from && array_read(a, from, why);
    source_close(from);
    return good;
}

/* ------------------------------------------------------------------------------------------------ names */

typedef struct names {
    char of[ROLES][4096];
} names;

/* Two or four words with commas between. */
static bool split_names(const char *text, names *n, trouble *why)
{
    int count = 0;
    memset(n, 0, sizeof *n);
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (count == ROLES || length == 0 || length >= sizeof n->of[0])
            return fail(why,
                        "'%s': two or four names with commas between: of inputs and labels, and of those for "
                        "testing",
                        text);
        memcpy(n->of[count++], at, length);
        at += length;
        if (!*at)
            break;
    }
    return count == 2 || count == 4 ||
           fail(why, "'%s': %d names; inputs and labels, and the same for testing, make two or four", text, count);
}

/* What is there, for a message. */
static void list_arrays(const shelf *s, char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; i < npz_count(s->archive) && used + 70 < capacity; i++) {
        const char *name;
        uint64_t size;
        if (npz_look(s->archive, i, &name, &size, NULL) && npz_is_array(name))
            used += (size_t)snprintf(text + used, capacity - used, "%s%.*s", used ? ", " : "",
                                     (int)(strlen(name) - 4 < 60 ? strlen(name) - 4 : 60), name);
    }
}

static bool find_names(const shelf *s, const char *wanted, names *n, trouble *why)
{
    char there[300];
    if (wanted && *wanted)
        return split_names(wanted, n, why);
    for (int i = 0; i < USUAL; i++) {
        if (!shelf_has(s, usual[i][0]) || !shelf_has(s, usual[i][1]))
            continue;
        for (int k = 0; k < ROLES; k++)
            snprintf(n->of[k], NAME, "%s", k < 2 || shelf_has(s, usual[i][k]) ? usual[i][k] : "");
        if (!*n->of[2] != !*n->of[3])
            return fail(why, "%s: '%s' without '%s'", s->where, *n->of[2] ? usual[i][2] : usual[i][3],
                        *n->of[2] ? usual[i][3] : usual[i][2]);
        return true;
    }
    list_arrays(s, there, sizeof there);
    return fail(why,
                "%s: no arrays x_train and y_train, nor others of usual names; data.names = INPUTS,LABELS says "
                "which (there are: %s)",
                s->where, *there ? there : "none");
}

/* ------------------------------------------------------------------------------------------------ the data set */

static bool read_pair(dataset *d, split *to, const shelf *s, const char *inputs, const char *labels,
                      const dataset_options *o, trouble *why)
{
    array a;
    return shelf_array(s, inputs, &a, why) && array_samples(&a, d, to, o->layout, why) &&
           shelf_array(s, labels, &a, why) && array_labels(&a, to, &d->classes, o->classes > 0, why);
}

/* The names of the classes, where an archive has them as dataset_export writes them: byte strings, as many as classes.
 */
static void read_class_names(dataset *d, const shelf *s)
{
    array a;
    if (!shelf_has(s, "classes") || !shelf_array(s, "classes", &a, NULL))
        return;
    if (a.header.code[0] == 'S' && a.header.dimensions == 1 && a.count == (size_t)d->classes) {
        d->own_names = need(a.count, sizeof *d->own_names);
        for (size_t i = 0; i < a.count; i++)
            d->own_names[i] = copy_text((const char *)a.bytes + i * a.size, a.size);
        d->class_name = (const char *const *)d->own_names;
    }
    array_free(&a);
}

static bool read_all(dataset *d, const shelf *s, const dataset_options *o, trouble *why)
{
    names n;
    d->classes = o->classes;
    if (!find_names(s, o->names, &n, why) || !read_pair(d, &d->train, s, n.of[0], n.of[1], o, why))
        return false;
    if (o->test && *o->test) {
        shelf other;
        names its;
        if (!shelf_open(&other, o->test, why))
            return false;
        const bool good =
            find_names(&other, o->names, &its, why) && read_pair(d, &d->test, &other, its.of[0], its.of[1], o, why);
        shelf_close(&other, NULL);
        if (!good)
            return false;
    } else if (*n.of[2] && !read_pair(d, &d->test, s, n.of[2], n.of[3], o, why)) {
        return false;
    }
    read_class_names(d, s);
    return true;
}

bool arrays_from_npz(dataset *d, FILE *file, const char *name, const dataset_options *options, trouble *why)
{
    shelf s;
    snprintf(d->name, sizeof d->name, "npz");
    if (!shelf_take(&s, file, name, why))
        return false;
    const bool good = read_all(d, &s, options, why);
    shelf_close(&s, file);
    return good;
}

bool arrays_open(dataset *d, const char *where, const dataset_options *options, trouble *why)
{
    shelf s;
    if (!shelf_open(&s, where, why))
        return false;
    snprintf(d->name, sizeof d->name, "npz");
    const bool good = read_all(d, &s, options, why);
    shelf_close(&s, NULL);
    return good;
}
