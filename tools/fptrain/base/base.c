/* SPDX-License-Identifier: BSD-2-Clause */
/* base.c - memory, errors, random numbers and the clock of fptrain. */
#include "base/base.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/shown.h"

static const char *command = "";

void die_in(const char *name)
{
    command = name;
}

static bool has_name(const char *line)
{
    const size_t length = strlen(command);
    return length == 0 || (strncmp(line, command, length) == 0 && line[length] == ':');
}

static void put_line(const char *format, va_list arguments)
{
    char line[1024];
    shown_message(line, sizeof line, format, arguments);
    shown_controls(line);
    fprintf(stderr, "fptrain: %s%s%s\n", has_name(line) ? "" : command, has_name(line) ? "" : ": ", line);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_line(format, arguments);
    va_end(arguments);
}

_Noreturn void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_line(format, arguments);
    va_end(arguments);
    exit(2);
}

void *needed(void *p)
{
    if (!p)
        die("out of memory");
    return p;
}

void *need_room(uint64_t count, size_t size)
{
    const bool fits = !size || count <= (SIZE_MAX - 63) / size;
    const size_t bytes = ((size_t)count * size + 63) / 64 * 64;
    return needed(fits ? aligned_alloc(64, bytes ? bytes : 64) : NULL);
}

void *need(uint64_t count, size_t size)
{
    return memset(need_room(count, size), 0, (size_t)count * size);
}

void *need_more(void *p, uint64_t count, size_t size)
{
    return needed(size && count > SIZE_MAX / size ? NULL : realloc(p, (size_t)count * size));
}

char *copy_text(const char *text, size_t length)
{
    return memcpy(need(length + 1, 1), text, length);
}

bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

char *text_joined(const char *a, const char *b, const char *c)
{
    const size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = need(size, 1);
    snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

char *path_join(const char *directory, const char *name)
{
    return text_joined(directory, "/", name);
}

void object_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        needed(NULL);
}

void array_add(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        needed(NULL);
}

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t random_u64(uint64_t seed, purpose why, uint64_t stream, uint64_t index)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    uint64_t key = mix(seed + golden);
    key = mix(key ^ mix((uint64_t)why * golden + 1));
    key = mix(key ^ mix(stream + 2 * golden));
    return mix(key + (index + 1) * golden);
}

double random_unit(uint64_t seed, purpose why, uint64_t stream, uint64_t index)
{
    return (double)(random_u64(seed, why, stream, index) >> 11) * 0x1p-53;
}

double random_normal(uint64_t seed, purpose why, uint64_t stream, uint64_t index)
{
    const double u = 1 - random_unit(seed, why, stream, 2 * index); /* (0, 1] */
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * random_unit(seed, why, stream, 2 * index + 1));
}

atomic_file output_open(const char *command, const char *path)
{
    atomic_file file;
    trouble why;
    if (!atomic_file_open(&file, path, &why))
        die("%s: %s", command, why.text);
    return file;
}

void output_commit(const char *command, atomic_file *file)
{
    trouble why;
    if (!atomic_file_commit(file, &why))
        die("%s: %s", command, why.text);
}
