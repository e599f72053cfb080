/* SPDX-License-Identifier: BSD-2-Clause */
/* shards.c - see shards.h */
#include "files/shards.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/container.h"
#include "files/layout.h"
#include "files/safetensors.h"

static const char file_suffix[] = ".safetensors", packed_suffix[] = ".fpk", index_suffix[] = ".index.json";
enum { LONGEST_INDEX = 100000000 };

static bool ends_in(const char *name, const char *suffix)
{
    const size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

bool shards_named(const char *path)
{
    struct stat status;
    return ends_in(path, ".json") || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

/* DIR/NAME, to be freed; NULL, with the error set, when memory runs out. */
static char *join(model *m, const char *directory, const char *name)
{
    char *path = malloc(strlen(directory) + strlen(name) + 2);
    if (path == NULL) {
        model_refuse(m, "out of memory");
        return NULL;
    }
    strcpy(path, directory);
    const size_t length = strlen(path);
    if (length > 0 && path[length - 1] != '/')
        strcat(path, "/");
    return strcat(path, name);
}

/* ------------------------------------------------------------------------------------------- lists of names */

typedef struct names {
    char **name;
    size_t count;
} names;

static bool names_add(model *m, names *list, const char *name)
{
    char **grown = realloc(list->name, (list->count + 1) * sizeof *grown);
    char *copy = strdup(name);
    if (grown == NULL || copy == NULL) {
        list->name = grown != NULL ? grown : list->name;
        free(copy);
        return model_refuse(m, "out of memory");
    }
    list->name = grown;
    list->name[list->count++] = copy;
    return true;
}

static void names_free(names *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->name[i]);
    free(list->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_sort_once(names *list)
{
    size_t kept = 0;
    if (list->count > 0)
        qsort(list->name, list->count, sizeof *list->name, by_name);
    for (size_t i = 0; i < list->count; i++)
        if (kept > 0 && strcmp(list->name[kept - 1], list->name[i]) == 0)
            free(list->name[i]);
        else
            list->name[kept++] = list->name[i];
    list->count = kept;
}

/* --------------------------------------------------------------------------------------------------- parts */

static FILE *open_regular(model *m, const char *name, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        model_refuse(m, "file '%.100s': %s", name, strerror(errno));
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        model_refuse(m, "'%.100s' is no regular file", name);
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        model_refuse(m, "file '%.100s': %s", name, strerror(errno));
    return file;
}

static bool check_index(model *m, const model_part *part, const json_t *weight_map)
{
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const char *name = m->tensor[i].name, *said = json_string_value(json_object_get(weight_map, name));
        if (said == NULL)
            return model_refuse(m, "tensor '%.80s' lies in '%.80s', and the index does not name it", name, part->name);
        if (strcmp(said, part->name) != 0)
            return model_refuse(m, "tensor '%.80s' lies in '%.60s', the index says '%.60s'", name, part->name, said);
    }
    return true;
}

/* What a file says of itself, added to what those before it say. */
static bool add_metadata(model *m, json_t *more)
{
    if (more == NULL)
        return true;
    m->metadata = m->metadata != NULL ? m->metadata : json_object();
    return m->metadata != NULL && json_object_update_missing(m->metadata, more) == 0;
}

static bool add_part(model *m, const char *directory, const char *name, const json_t *weight_map)
{
    model_part *part = &m->part[m->parts++];
    *part = (model_part){.name = strdup(name), .path = join(m, directory, name), .first = m->count};
    if (part->name == NULL || part->path == NULL)
        return model_refuse(m, "out of memory");
    const model_kind kind = ends_in(name, packed_suffix) ? MODEL_CONTAINER : MODEL_SAFETENSORS;
    if (m->parts > 1 && kind != m->kind)
        return model_refuse(m, "the index names files of two kinds, '%.80s' and '%.80s'", m->part[0].name, name);
    m->kind = kind;
    model one = {.kind = kind, .file = open_regular(m, name, part->path)};
    if (one.file == NULL)
        return false;
    bool good = kind == MODEL_CONTAINER ? container_open(&one) : safetensors_open(&one);
    if (!good)
        model_refuse(m, "file '%.80s': %.160s", name, one.error);
    fclose(one.file);
    part->count = one.count;
    part->metadata = one.metadata != NULL ? json_incref(one.metadata) : NULL;
    good = good && model_move(m, &one, m->parts - 1);
    if (good && !add_metadata(m, part->metadata))
        good = model_refuse(m, "out of memory");
    model_free(&one);
    return good && (weight_map == NULL || check_index(m, part, weight_map));
}

static bool add_parts(model *m, const char *directory, const names *files, const json_t *weight_map)
{
    const char *twice;
    m->part = calloc(files->count + 1, sizeof *m->part);
    if (m->part == NULL)
        return model_refuse(m, "out of memory");
    for (size_t i = 0; i < files->count; i++)
        if (!add_part(m, directory, files->name[i], weight_map))
            return false;
    if (!model_names_differ(m, &twice)) {
        return twice != NULL ? model_refuse(m, "tensor '%.100s' lies in two of the files", twice)
                             : model_refuse(m, "out of memory");
    }
    return true;
}

bool shards_turn_to(model *m, size_t part)
{
    if (m->parts == 0 || (m->file != NULL && m->turned == part))
        return true;
    if (m->file != NULL)
        fclose(m->file);
    m->file = open_regular(m, m->part[part].name, m->part[part].path);
    m->turned = part;
    return m->file != NULL;
}

/* --------------------------------------------------------------------------------------------------- index */

/* A name that means a file in the directory and nothing else. */
static bool names_a_file_here(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strlen(name) < 256;
}

static bool list_files(model *m, json_t *weight_map, names *files)
{
    const char *name;
    json_t *value;
    json_object_foreach(weight_map, name, value)
    {
        const char *file = json_string_value(value);
        if (file == NULL || strlen(file) != json_string_length(value) || !names_a_file_here(file)) {
            return model_refuse(m, "the index: tensor '%.80s' is in '%.80s', which is no name of a file beside it",
                                name, file != NULL ? file : "");
        }
        const bool same = files->count > 0 && strcmp(files->name[files->count - 1], file) == 0;
        if (!same && !names_add(m, files, file))
            return false;
    }
    names_sort_once(files);
    return true;
}

/* Where fewer tensors are there than the index names, the first that is missing. */
static bool check_all_there(model *m, json_t *weight_map)
{
    const char *name;
    json_t *value;
    json_t *there = json_object();
    bool good = there != NULL || model_refuse(m, "out of memory");
    for (size_t i = 0; good && i < m->count; i++)
        good = json_object_set_new(there, m->tensor[i].name, json_true()) == 0 || model_refuse(m, "out of memory");
    json_object_foreach(weight_map, name, value)
    {
        if (good && json_object_get(there, name) == NULL) {
            good = model_refuse(m, "tensor '%.80s' is not in '%.80s', where the index has it", name,
                                json_string_value(value));
        }
    }
    json_decref(there);
    return good;
}

static bool read_index(model *m, const char *directory, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    json_error_t error;
    FILE *file = open_regular(m, name, path);
    if (file == NULL)
        return false;
    const bool small =
        fseeko(file, 0, SEEK_END) == 0 && ftello(file) <= LONGEST_INDEX && fseeko(file, 0, SEEK_SET) == 0;
    m->index = small ? json_loadf(file, JSON_REJECT_DUPLICATES, &error) : NULL;
    fclose(file);
    if (m->index == NULL) {
        return small ? model_refuse(m, "the index '%.80s' is no JSON: %.100s, in line %d", name, error.text, error.line)
                     : model_refuse(m, "'%.80s' is too long for an index", name);
    }
    json_t *weight_map = json_object_get(m->index, "weight_map");
    const json_t *metadata = json_object_get(m->index, "metadata");
    if (!json_is_object(weight_map) || json_object_size(weight_map) == 0 ||
        (metadata != NULL && !json_is_object(metadata))) {
        return model_refuse(m, "'%.80s' is no index of safetensors files: it has no weight_map", name);
    }
    m->index_name = strdup(name);
    m->index_path = strdup(path);
    names files = {0};
    const bool good = ((m->index_name != NULL && m->index_path != NULL) || model_refuse(m, "out of memory")) &&
                      list_files(m, weight_map, &files) && add_parts(m, directory, &files, weight_map) &&
                      check_all_there(m, weight_map);
    names_free(&files);
    return good;
}

char *shards_name_as(const char *name, model_kind kind)
{
    const char *wanted = kind == MODEL_CONTAINER ? packed_suffix : file_suffix;
    const char *other = kind == MODEL_CONTAINER ? file_suffix : packed_suffix;
    const bool index = ends_in(name, index_suffix);
    const size_t length = strlen(name) - (index ? strlen(index_suffix) : 0);
    const size_t tail = strlen(other), end = strlen(wanted);
    char *text = malloc(length + end + sizeof index_suffix);
    if (text == NULL)
        return NULL;
    memcpy(text, name, length);
    text[length] = '\0';
    const bool replace = ends_in(text, other), add = kind == MODEL_CONTAINER && !index && !ends_in(text, wanted);
    if (replace || add)
        strcpy(text + length - (replace ? tail : 0), wanted);
    return strcat(text, index ? index_suffix : "");
}

/* The names of the files as they are of this kind, in the order of the index. */
static json_t *weight_map_as(const model *m, model_kind kind)
{
    json_t *map = json_object(), *value;
    const char *name;
    json_object_foreach(json_object_get(m->index, "weight_map"), name, value)
    {
        char *file = shards_name_as(json_string_value(value), kind);
        if (file == NULL || json_object_set_new(map, name, json_string(file)) != 0) {
            free(file);
            json_decref(map);
            return NULL;
        }
        free(file);
    }
    return map;
}

char *shards_print_index(const model *m, model_kind kind, uint64_t total, json_t *weight_map)
{
    json_t *index = json_copy(m->index), *old = json_object_get(m->index, "metadata");
    json_t *metadata = old != NULL ? json_copy(old) : json_object();
    json_t *map = weight_map != NULL ? json_incref(weight_map) : weight_map_as(m, kind);
    const bool good = index != NULL && metadata != NULL && map != NULL &&
                      json_object_set_new(metadata, "total_size", json_integer((json_int_t)total)) == 0 &&
                      json_object_set(index, "metadata", metadata) == 0 &&
                      json_object_set(index, "weight_map", map) == 0;
    char *text = good ? json_dumps(index, JSON_INDENT(2)) : NULL;
    json_decref(map);
    json_decref(metadata);
    json_decref(index);
    return text;
}

/* ------------------------------------------------------------------------------------------------- opening */

/* The files of a directory that count, and the others. */
enum { INDICES, FILES, PACKED_INDICES, PACKED, OTHERS, LISTS };

static bool list_directory(model *m, const char *path, names list[LISTS])
{
    char text[2][32];
    DIR *directory = opendir(path);
    if (directory == NULL)
        return model_refuse(m, "%s", strerror(errno));
    strcat(strcpy(text[0], file_suffix), index_suffix);
    strcat(strcpy(text[1], packed_suffix), index_suffix);
    bool good = true;
    for (const struct dirent *entry; good && (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        if (name[0] == '.')
            continue;
        const int k = ends_in(name, text[0])         ? INDICES
                      : ends_in(name, file_suffix)   ? FILES
                      : ends_in(name, text[1])       ? PACKED_INDICES
                      : ends_in(name, packed_suffix) ? PACKED
                                                     : OTHERS;
        good = names_add(m, &list[k], name);
    }
    closedir(directory);
    for (int k = 0; k < LISTS; k++)
        names_sort_once(&list[k]);
    return good;
}

static bool refuse_directory(model *m, const names *others)
{
    char list[120] = "";
    size_t used = 0, i = 0;
    for (; i < others->count && used < sizeof list / 2; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.40s", i > 0 ? ", " : "", others->name[i]);
    return model_refuse(m, "a directory without model%s%s and without %s files; there is %s%s", file_suffix,
                        index_suffix, file_suffix, others->count > 0 ? list : "nothing",
                        i < others->count ? ", ..." : "");
}

/* Tensors of one file that are parts of another become that one, in the index too. */
static bool join_layouts(model *m)
{
    if (m->kind == MODEL_CONTAINER)
        return true;
    if (!layout_join(m))
        return false;
    json_t *weight_map = json_object_get(m->index, "weight_map");
    bool good = true;
    for (size_t i = 0; weight_map != NULL && i < m->count; i++) {
        const tensor *t = &m->tensor[i];
        for (unsigned k = 0; k < t->stored.parts; k++)
            json_object_del(weight_map, t->stored.part[k].name);
        if (t->stored.parts > 0)
            good = good && json_object_set_new(weight_map, t->name, json_string(m->part[t->part].name)) == 0;
    }
    return good || model_refuse(m, "out of memory");
}

/* By the index, the usual one where there are several, or the files there are. */
static bool open_listed(model *m, const char *path, const names *indices, const names *files, const char *usual)
{
    const char *chosen = indices->count == 1 ? indices->name[0] : NULL;
    for (size_t i = 0; i < indices->count; i++)
        chosen = strcmp(indices->name[i], usual) == 0 ? usual : chosen;
    if (chosen != NULL) {
        char *index = join(m, path, chosen);
        const bool good = index != NULL && read_index(m, path, index);
        free(index);
        return good;
    }
    return indices->count > 1
               ? model_refuse(m, "several indices: name one, '%.80s' or '%.80s'", indices->name[0], indices->name[1])
               : add_parts(m, path, files, NULL);
}

static bool open_directory(model *m, const char *path)
{
    names l[LISTS] = {{0}};
    bool good = list_directory(m, path, l);
    if (good && l[INDICES].count + l[FILES].count > 0)
        good = open_listed(m, path, &l[INDICES], &l[FILES], "model.safetensors.index.json");
    else if (good && l[PACKED_INDICES].count + l[PACKED].count > 0)
        good = open_listed(m, path, &l[PACKED_INDICES], &l[PACKED], "model.fpk.index.json");
    else if (good)
        good = refuse_directory(m, &l[OTHERS]);
    for (int k = 0; k < LISTS; k++)
        names_free(&l[k]);
    return good;
}

/* Where a file is; to be freed. */
static char *directory_of(model *m, const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *directory = calloc(length + 3, 1);
    if (directory == NULL)
        model_refuse(m, "out of memory");
    else
        memcpy(directory, length > 0 ? path : "./", length > 0 ? length : 2);
    return directory;
}

bool shards_read_config(model *m, const char *path)
{
    enum { LONGEST = 1 << 20 };
    struct stat status;
    const bool inside = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    char *directory = inside ? strdup(path) : directory_of(m, path);
    char *name = directory != NULL ? join(m, directory, "config.json") : NULL;
    if (name != NULL && stat(name, &status) == 0) {
        const bool some = S_ISREG(status.st_mode) && status.st_size <= LONGEST;
        m->config = some ? json_load_file(name, 0, NULL) : NULL;
        m->config = m->config != NULL ? m->config : json_false();
    }
    free(directory);
    free(name);
    return name != NULL || model_refuse(m, "out of memory");
}

bool shards_open(model *m, const char *path)
{
    struct stat status;
    *m = (model){.kind = MODEL_SAFETENSORS, .walkable = true};
    if (stat(path, &status) != 0)
        return model_refuse(m, "%s", strerror(errno));
    if (!shards_read_config(m, path))
        return false;
    if (S_ISDIR(status.st_mode))
        return open_directory(m, path) && join_layouts(m);
    char *directory = directory_of(m, path);
    const bool good = directory != NULL && read_index(m, directory, path) && join_layouts(m);
    free(directory);
    return good;
}
