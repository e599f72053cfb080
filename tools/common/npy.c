/* SPDX-License-Identifier: BSD-2-Clause */
/* npy.c - see npy.h. The header is a Python literal; only the part of the grammar that it can need is read. */
#include "common/npy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/byte_order.h"

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { LONGEST_HEADER = 1 << 20 };

/* ------------------------------------------------------------------------------------------------ parsing */

typedef struct parser {
    const char *at, *end;
    char *error;
} parser;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool refuse(const parser *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->error, NPY_ERROR_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

/* Takes the character if it comes next, white space aside. */
static bool take(parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_word(parser *p, const char *word)
{
    const size_t length = strlen(word);
    skip_space(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* A short string in either kind of quotes, without escapes. */
static bool take_string(parser *p, char text[NPY_LONGEST_STRING + 1])
{
    skip_space(p);
    if (p->at == p->end || (*p->at != '\'' && *p->at != '"'))
        return false;
    const char quote = *p->at;
    size_t length = 0;
    for (const char *c = p->at + 1; c < p->end && length <= NPY_LONGEST_STRING; c++) {
        if (*c == quote) {
            text[length] = '\0';
            p->at = c + 1;
            return true;
        }
        if (*c == '\\' || *c < 0x20 || *c > 0x7e || length == NPY_LONGEST_STRING)
            return false;
        text[length++] = *c;
    }
    return false;
}

/* The description of records, up to its closing bracket: of no use here but to be passed over. */
static bool skip_records(parser *p)
{
    unsigned depth = 1;
    for (char quote = '\0'; p->at < p->end && depth > 0; p->at++) {
        const char c = *p->at;
        if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else {
            depth += c == '[';
            depth -= c == ']';
        }
    }
    return depth == 0;
}

static bool parse_type(parser *p, npy_header *header)
{
    if (take(p, '[')) {
        strcpy(header->type_text, "records");
        return skip_records(p) || refuse(p, "the header's 'descr' has no end");
    }
    if (!take_string(p, header->type_text))
        return refuse(p, "the header's 'descr' is not a string");
    const char *type = header->type_text;
    header->big_endian = byte_order_is_big();
    if (*type == '<' || *type == '>')
        header->big_endian = *type++ == '>';
    else if (*type == '=' || *type == '|')
        type++;
    strcpy(header->code, type);
    return true;
}

static bool parse_order(parser *p, npy_header *header)
{
    header->fortran_order = take_word(p, "True");
    return header->fortran_order || take_word(p, "False") ||
           refuse(p, "the header's 'fortran_order' is neither True nor False");
}

/* A whole number; a final L, as Python 2 wrote it, is allowed. */
static bool parse_extent(parser *p, uint64_t *extent)
{
    skip_space(p);
    const char *first = p->at;
    *extent = 0;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') {
        const uint64_t digit = (uint64_t)(*p->at++ - '0');
        if (*extent > (INT64_MAX - digit) / 10)
            return refuse(p, "an extent of the shape is above 2^63");
        *extent = 10 * *extent + digit;
    }
    if (p->at == first)
        return refuse(p, "the header's 'shape' is not a tuple of whole numbers");
    if (p->at < p->end && *p->at == 'L')
        p->at++;
    return true;
}

static bool parse_shape(parser *p, npy_header *header)
{
    if (!take(p, '('))
        return refuse(p, "the header's 'shape' is not a tuple");
    bool comma = false;
    while (!take(p, ')')) {
        if (header->dimensions == NPY_MOST_DIMENSIONS)
            return refuse(p, "more than %d dimensions", NPY_MOST_DIMENSIONS);
        if ((header->dimensions > 0 && !comma) || !parse_extent(p, &header->extent[header->dimensions]))
            return refuse(p, "the header's 'shape' is not a tuple of whole numbers below 2^63");
        header->dimensions++;
        comma = take(p, ',');
    }
    if (header->dimensions == 1 && !comma)
        return refuse(p, "the header's 'shape' is not a tuple");
    return true;
}

/* The text of the header alone. */
static bool parse_header(const char *text, size_t length, npy_header *header, char error[NPY_ERROR_SIZE])
{
    typedef bool parse_value(parser *, npy_header *);
    static const struct {
        const char *key;
        parse_value *parse;
    } entries[] = {{"descr", parse_type}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    enum { ENTRIES = sizeof entries / sizeof *entries };
    parser p = {text, text + length, error};
    bool seen[ENTRIES] = {false};

    memset(header, 0, sizeof *header);
    if (!take(&p, '{'))
        return refuse(&p, "the header is not a dictionary");
    while (!take(&p, '}')) {
        char key[NPY_LONGEST_STRING + 1];
        if (!take_string(&p, key) || !take(&p, ':'))
            return refuse(&p, "the header is not a dictionary that can be read");
        size_t i = 0;
        while (i < ENTRIES && strcmp(entries[i].key, key) != 0)
            i++;
        if (i == ENTRIES || seen[i])
            return refuse(&p, "the header has %s key '%s'", i == ENTRIES ? "an unknown" : "twice the", key);
        seen[i] = true;
        if (!entries[i].parse(&p, header))
            return false;
        skip_space(&p);
        if (!take(&p, ',') && (p.at == p.end || *p.at != '}'))
            return refuse(&p, "the header is not a dictionary that can be read");
    }
    skip_space(&p);
    if (p.at != p.end)
        return refuse(&p, "the header goes on after its dictionary");
    for (size_t i = 0; i < ENTRIES; i++)
        if (!seen[i])
            return refuse(&p, "the header lacks the key '%s'", entries[i].key);
    return true;
}

/* ------------------------------------------------------------------------------------------------ reading */

bool npy_read_header(npy_read *read, void *from, npy_header *header, uint64_t *skipped, char error[NPY_ERROR_SIZE])
{
    const parser p = {.error = error};
    unsigned char start[12] = {0};
    static const char short_file[] = "the file ends inside its header";
    if (read(from, start, 8) != 8)
        return refuse(&p, "%s", short_file);
    if (memcmp(start, magic, sizeof magic) != 0)
        return refuse(&p, "%s", NPY_IS_OTHER);
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return refuse(&p, "version %u.%u of the .npy format is unknown", start[6], start[7]);
    const size_t size = start[6] == 1 ? 2 : 4;
    if (read(from, start + 8, size) != size)
        return refuse(&p, "%s", short_file);
    const uint32_t length =
        (uint32_t)start[8] | (uint32_t)start[9] << 8 | (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
    if (length > LONGEST_HEADER)
        return refuse(&p, "a header of %" PRIu32 " bytes is too long", length);
    char *text = malloc(length > 0 ? length : 1);
    if (text == NULL)
        return refuse(&p, "out of memory");
    const bool good = (read(from, text, length) == length || refuse(&p, "%s", short_file)) &&
                      parse_header(text, length, header, error);
    *skipped = 8 + size + length;
    free(text);
    return good;
}

size_t npy_print_header(const npy_header *header, unsigned char bytes[NPY_HEADER_SIZE])
{
    char text[NPY_HEADER_SIZE];
    const bool has_order = header->code[0] != 'S' && strcmp(header->code + 1, "1") != 0;
    size_t used = (size_t)snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (",
                                   !has_order           ? '|'
                                   : header->big_endian ? '>'
                                                        : '<',
                                   header->code, header->fortran_order ? "True" : "False");
    for (unsigned i = 0; i < header->dimensions; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64, i > 0 ? ", " : "", header->extent[i]);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s), }", header->dimensions == 1 ? "," : "");

    const size_t total = (10 + used + 1 + 63) / 64 * 64; /* 64 dimensions of 21 characters stay below the limit */
    const size_t length = total - 10;
    memcpy(bytes, magic, sizeof magic);
    bytes[6] = 1;
    bytes[7] = 0;
    bytes[8] = (unsigned char)(length & 0xff);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, text, used);
    memset(bytes + 10 + used, ' ', length - used);
    bytes[total - 1] = '\n';
    return total;
}
