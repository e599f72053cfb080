/* SPDX-License-Identifier: BSD-2-Clause */
/* network_text.c - see network_text.h. The text becomes a list of tokens, over which statements are executed. */
#include "models/network_text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/near.h"
#include "models/layers.h"

enum {
    MOST_TOKENS = 1 << 14,
    MOST_DEPTH = 16,
    MOST_STATEMENTS = 1 << 16,
    MOST_OPERATORS = 4096,
    MOST_BRANCHES = 64,
    MOST_NAMES = 256,
    MOST_DEFINITIONS = 64,
    MOST_ARGUMENTS = 16,
    MOST_CHANNELS = 65536,
    MOST_PARAMETERS = sizeof(size_t) > 4 ? 32 : 30, /* powers of two; their sum may not pass size_t */
    LONGEST_WORD = 120,
    LARGEST_ROW = 1 << 24
};
#define LARGEST_NUMBER ((int64_t)1 << 31)

typedef enum token_kind { WORD, OPEN, CLOSE, STOP } token_kind;

typedef struct token {
    token_kind kind;
    const char *text; /* WORD */
    int length, line;
    int match; /* OPEN: its CLOSE */
} token;

/* A number that has a name. */
typedef struct variable {
    const token *name;
    int64_t value;
} variable;

typedef struct definition {
    const token *name;
    int first, arguments; /* tokens of its arguments */
    int from, to;         /* of its block */
    bool used;
} definition;

/* A network in the making. */
typedef struct maker {
    const plan *plan;
    const char *from;
    int first_line;
    token *token;
    int tokens;
    variable variable[MOST_NAMES];
    int variables, globals, frame; /* globals: those of the top; frame: the first one of the definition that runs */
    definition definition[MOST_DEFINITIONS];
    int definitions;
    int depth, statements, x;
} maker;

static int refuse(const maker *m, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* -1, with FILE:LINE before the sentence. */
static int refuse(const maker *m, int line, const char *format, ...)
{
    trouble inner;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(inner.text, sizeof inner.text, format, arguments);
    va_end(arguments);
    fail(m->plan->why, "%.150s:%d: %.330s", m->from, m->first_line + line, inner.text);
    return -1;
}

static bool is_word(const token *t, const char *word)
{
    return t->kind == WORD && strlen(word) == (size_t)t->length && memcmp(t->text, word, (size_t)t->length) == 0;
}

static bool same_word(const token *a, const token *b)
{
    return a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

/* ------------------------------------------------------------------------------------------------ tokens */

static bool add_token(maker *m, token t)
{
    if (m->tokens == MOST_TOKENS)
        return refuse(m, t.line, "more than %d words", MOST_TOKENS) >= 0;
    m->token[m->tokens++] = t;
    return true;
}

/* The word at `at`; its end. */
static const char *take_word(maker *m, const char *at, const char *end, int line)
{
    const char *stop = at;
    while (stop < end && isgraph((unsigned char)*stop) && !strchr("{},#", *stop))
        stop++;
    if (stop == at) {
        refuse(m, line, "a character that is no printable ASCII");
        return NULL;
    }
    if (stop - at > LONGEST_WORD) {
        refuse(m, line, "a word of more than %d characters", LONGEST_WORD);
        return NULL;
    }
    return add_token(m, (token){.kind = WORD, .text = at, .length = (int)(stop - at), .line = line}) ? stop : NULL;
}

static bool tokenize(maker *m, const char *at)
{
    const char *end = at + strlen(at);
    int line = 0;
    if (end - at > NETWORK_TEXT_LARGEST)
        return refuse(m, 0, "a text of more than %d bytes", NETWORK_TEXT_LARGEST) >= 0;
    while (at < end) {
        const char c = *at;
        bool good = true;
        if (c == '#') {
            at += strcspn(at, "\n");
        } else if (c == ' ' || c == '\t' || c == '\r') {
            at++;
        } else if (strchr("{},\n", c)) {
            good = add_token(m, (token){.kind = c == '{' ? OPEN : c == '}' ? CLOSE : STOP, .line = line});
            line += c == '\n';
            at++;
        } else {
            at = take_word(m, at, end, line);
            good = at != NULL;
        }
        if (!good)
            return false;
    }
    return add_token(m, (token){.kind = STOP, .line = line});
}

/* Which CLOSE belongs to which OPEN. */
static bool match_blocks(maker *m)
{
    int open[MOST_DEPTH], depth = 0;
    for (int i = 0; i < m->tokens; i++) {
        token *t = &m->token[i];
        if (t->kind == OPEN && depth == MOST_DEPTH)
            return refuse(m, t->line, "blocks within blocks, more than %d deep", MOST_DEPTH) >= 0;
        if (t->kind == CLOSE && depth == 0)
            return refuse(m, t->line, "'}' without '{'") >= 0;
        if (t->kind == OPEN)
            open[depth++] = i;
        if (t->kind == CLOSE)
            m->token[open[--depth]].match = i;
    }
    return depth == 0 || refuse(m, m->token[open[depth - 1]].line, "'{' without '}'") >= 0;
}

/* ------------------------------------------------------------------------------------------------ expressions */

/* What is left of a word to be read. */
typedef struct expression {
    maker *m;
    const token *word;
    const char *at, *end;
} expression;

static bool read_sum(expression *e, int64_t *value);

static bool bad_expression(const expression *e, const char *what)
{
    return refuse(e->m, e->word->line, "'%.*s': %s", e->word->length, e->word->text, what) >= 0;
}

static size_t name_length(const char *at, const char *end)
{
    const char *stop = at;
    while (stop < end && (isalnum((unsigned char)*stop) || *stop == '_'))
        stop++;
    return stop > at && !isdigit((unsigned char)*at) ? (size_t)(stop - at) : 0;
}

/* One that is closed: `name` is scaled or rounded. */
static bool read_scaled(expression *e, const char *name, int64_t *value)
{
    const plan *p = e->m->plan;
    int64_t inner;
    e->at++;
    if (!read_sum(e, &inner))
        return false;
    if (e->at == e->end || *e->at++ != ')')
        return bad_expression(e, "')' is missing");
    if (inner < 1 || inner > MOST_CHANNELS)
        return bad_expression(e, "what the width multiplies is from 1 to 65536");
    *p->width_used = true;
    *value = *name == 's' ? part_scaled(p, (int)inner) : part_rounded(p, (int)inner);
    return true;
}

static bool read_name(expression *e, size_t length, int64_t *value)
{
    const maker *m = e->m;
    const char *name = e->at;
    const token word = {.kind = WORD, .text = name, .length = (int)length};
    e->at += length;
    if ((is_word(&word, "scaled") || is_word(&word, "rounded")) && e->at < e->end && *e->at == '(')
        return read_scaled(e, name, value);
    if (is_word(&word, "channels"))
        *value = graph_value(m->plan->g, m->x)->c;
    else if (is_word(&word, "classes"))
        *value = m->plan->settings->classes;
    else if (is_word(&word, "steps") && m->plan->settings->steps)
        *value = m->plan->settings->steps;
    else {
        for (int i = m->variables - 1; i >= 0; i--)
            if ((i >= m->frame || i < m->globals) && same_word(m->variable[i].name, &word)) {
                *value = m->variable[i].value;
                return true;
            }
        return refuse(e->m, e->word->line, "'%.*s': nothing is called '%.*s'", e->word->length, e->word->text,
                      (int)length, name) >= 0;
    }
    return true;
}

static bool read_factor(expression *e, int64_t *value)
{
    const size_t length = name_length(e->at, e->end);
    if (length)
        return read_name(e, length, value);
    if (e->at < e->end && *e->at == '(') {
        e->at++;
        return read_sum(e, value) && ((e->at < e->end && *e->at++ == ')') || bad_expression(e, "')' is missing"));
    }
    if (e->at == e->end || !isdigit((unsigned char)*e->at))
        return bad_expression(e, "a number or a name is missing; an expression has no blanks");
    for (*value = 0; e->at < e->end && isdigit((unsigned char)*e->at); e->at++)
        if ((*value = 10 * *value + (*e->at - '0')) >= LARGEST_NUMBER)
            return bad_expression(e, "the number is too large");
    return true;
}

/* Factors with '*' and '/' between them, or products with '+' and '-'. */
static bool read_operators(expression *e, bool sum, int64_t *value)
{
    if (!(sum ? read_operators(e, false, value) : read_factor(e, value)))
        return false;
    while (e->at < e->end && (*e->at == (sum ? '+' : '*') || *e->at == (sum ? '-' : '/'))) {
        const char sign = *e->at++;
        int64_t right;
        if (!(sum ? read_operators(e, false, &right) : read_factor(e, &right)))
            return false;
        if (sign == '/' && (right == 0 || *value % right))
            return bad_expression(e, "the division leaves a rest");
        *value = sign == '+'   ? *value + right
                 : sign == '-' ? *value - right
                 : sign == '*' ? *value * right
                               : *value / right;
        if (*value >= LARGEST_NUMBER || *value <= -LARGEST_NUMBER)
            return bad_expression(e, "the number is too large");
    }
    return true;
}

static bool read_sum(expression *e, int64_t *value)
{
    return read_operators(e, true, value);
}

/* All of a word, from its character `from` on. */
static bool evaluate(maker *m, const token *word, int from, int64_t *value)
{
    expression e = {m, word, word->text + from, word->text + word->length};
    return read_sum(&e, value) && (e.at == e.end || bad_expression(&e, "no expression of whole numbers"));
}

/* ------------------------------------------------------------------------------------------------ layers */

/* The length of NAME in NAME=VALUE, else 0. */
static int key_length(const token *word)
{
    const int length = (int)name_length(word->text, word->text + word->length);
    return length < word->length && word->text[length] == '=' ? length : 0;
}

static bool read_argument(maker *m, const argument *a, const token *word, int from, double *value)
{
    const int length = word->length - from;
    int64_t whole;
    char text[LONGEST_WORD + 1], *end;
    snprintf(text, sizeof text, "%.*s", length, word->text + from);
    if (a->kind == ARGUMENT_YESNO) {
        if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
            return refuse(m, word->line, "%s is yes or no, not '%s'", a->name, text) >= 0;
        *value = text[0] == 'y';
        return true;
    }
    if (a->kind == ARGUMENT_NUMBER) {
        *value = strtod(text, &end);
        if (!isdigit((unsigned char)text[0]) || *end || strspn(text, "0123456789.eE+-") != strlen(text))
            return refuse(m, word->line, "%s is a number such as 0.5, not '%s'", a->name, text) >= 0;
    } else {
        if (!evaluate(m, word, from, &whole))
            return false;
        *value = (double)whole;
    }
    if (*value < a->low || *value > a->high)
        return refuse(m, word->line, "%s is from %.10g to %.10g, not %.10g", a->name, a->low, a->high, *value) >= 0;
    return true;
}

/* Whether the program itself could call an operator so. */
static bool is_automatic(const char *name)
{
    size_t digits = 0;
    const size_t length = strlen(name);
    while (digits < length && isdigit((unsigned char)name[length - digits - 1]))
        digits++;
    const bool whole = digits > 0 && layer_named(name, length - digits);
    return whole || strncmp(name, "add", 3) == 0 || strncmp(name, "concat", 6) == 0 ||
           strncmp(name, "cross_entropy", 13) == 0 || strcmp(name, "input") == 0;
}

static bool read_name_of(maker *m, const token *word, char name[LAYER_NAME])
{
    const int from = (int)strlen("name="), length = word->length - from;
    if (length >= LAYER_NAME || length < 1 ||
        (int)strspn(word->text + from, "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") < length ||
        !isalpha((unsigned char)word->text[from]))
        return refuse(m, word->line, "a name has 1 to %d letters, digits, '_' and '-', a letter first",
                      LAYER_NAME - 1) >= 0;
    snprintf(name, LAYER_NAME, "%.*s", length, word->text + from);
    return !is_automatic(name) || refuse(m, word->line, "'%s' is kept for the names that the program gives", name) >= 0;
}

/* Position in the arguments: by name, or the next one without. */
static int place_of(const layer_kind *layer, const token *word, int next)
{
    const int key = key_length(word);
    for (int i = 0; key && i < LAYER_ARGUMENTS && layer->argument[i].name; i++)
        if (strlen(layer->argument[i].name) == (size_t)key &&
            memcmp(layer->argument[i].name, word->text, (size_t)key) == 0)
            return i;
    return key || next >= LAYER_ARGUMENTS || !layer->argument[next].name ? -1 : next;
}

static bool read_arguments(maker *m, const layer_kind *layer, int at, int count, double *value, char name[LAYER_NAME])
{
    bool given[LAYER_ARGUMENTS] = {false}, named = false;
    int next = 0;
    for (int i = 0; i < count; i++) {
        const token *word = &m->token[at + i];
        const int key = key_length(word);
        if (key == 4 && memcmp(word->text, "name", 4) == 0) {
            if (name[0])
                return refuse(m, word->line, "%s: 'name' for the second time", layer->name) >= 0;
            if (!read_name_of(m, word, name))
                return false;
            continue;
        }
        const int place = place_of(layer, word, next);
        if (place < 0)
            return refuse(m, word->line, key ? "%s has no argument '%.*s'" : "%s: '%.*s' is too much", layer->name,
                          key ? key : word->length, word->text) >= 0;
        if (given[place])
            return refuse(m, word->line, "%s: '%s' for the second time", layer->name, layer->argument[place].name) >= 0;
        if (!key && named)
            return refuse(m, word->line, "%s: '%.*s' after an argument with a name", layer->name, word->length,
                          word->text) >= 0;
        if (!read_argument(m, &layer->argument[place], word, key ? key + 1 : 0, &value[place]))
            return false;
        given[place] = true;
        named = named || key;
        next = place + 1;
    }
    for (int i = 0; i < LAYER_ARGUMENTS && layer->argument[i].name; i++) {
        const argument *a = &layer->argument[i];
        if (!given[i] && !a->normal)
            return refuse(m, m->token[at - 1].line, "%s: '%s' is missing", layer->name, a->name) >= 0;
        if (!given[i])
            value[i] = a->kind == ARGUMENT_YESNO ? a->normal[0] == 'y' : strtod(a->normal, NULL);
    }
    return true;
}

typedef struct addition {
    const layer_kind *layer;
    int x;
    double value[LAYER_ARGUMENTS];
} addition;

static int add_layer(graph *g, const void *what)
{
    const addition *a = what;
    return a->layer->add(g, a->x, a->value);
}

/* What an operator has made is within the limits. */
static int check_size(const maker *m, int line, int x)
{
    graph *g = m->plan->g;
    if (x < 0) {
        const trouble inner = *m->plan->why;
        return refuse(m, line, "%s", inner.text);
    }
    const value *v = graph_value(g, x);
    size_t buffers = 0;
    for (int i = 0; i < graph_buffers(g); i++)
        buffers += graph_buffer(g, i)->size;
    if (v->row > LARGEST_ROW || v->c > MOST_CHANNELS || buffers > LARGEST_ROW)
        return refuse(m, line, "%d x %d x %d are too many", v->c, v->h, v->w);
    if ((double)graph_param_count(g) > ldexp(1, MOST_PARAMETERS))
        return refuse(m, line, "more than 2^%d parameters", MOST_PARAMETERS);
    if (graph_ops(g) > MOST_OPERATORS)
        return refuse(m, line, "more than %d operators", MOST_OPERATORS);
    return x;
}

static bool is_tokens(const maker *m, int x)
{
    const value *v = graph_value(m->plan->g, x);
    return v->producer < 0 && !v->is_tensor;
}

static bool is_taken(const maker *m, const char *name)
{
    for (int i = 0; i < graph_ops(m->plan->g); i++)
        if (strcmp(graph_op(m->plan->g, i).name, name) == 0)
            return true;
    return false;
}

static int make_layer(maker *m, const layer_kind *layer, int at, int count)
{
    addition a = {.layer = layer, .x = m->x};
    char name[LAYER_NAME] = "";
    const int line = m->token[at].line;
    if (!read_arguments(m, layer, at + 1, count, a.value, name))
        return -1;
    if (is_tokens(m, m->x) != layer->reads_tokens)
        return refuse(m, line,
                      layer->reads_tokens ? "an embedding reads a text, and comes first"
                                          : "the data are text, which only an embedding reads");
    if (name[0] && is_taken(m, name))
        return refuse(m, line, "two operators are called '%s'", name);
    if (name[0])
        graph_name(m->plan->g, name);
    return check_size(m, line, graph_attempt(m->plan->g, add_layer, &a, m->plan->why));
}

/* ------------------------------------------------------------------------------------------------ statements */

static int run_block(maker *m, int from, int to, int x);

static int find_definition(const maker *m, const token *word)
{
    for (int i = 0; i < m->definitions; i++)
        if (same_word(m->definition[i].name, word))
            return i;
    return -1;
}

static const char *const own_words[] = {"let",     "repeat", "branch", "define",  "channels",
                                        "classes", "steps",  "scaled", "rounded", "name"};
enum { STATEMENTS = 4, OWN_WORDS = sizeof own_words / sizeof *own_words }; /* the former begin a statement */

/* A name that may be given: nothing else is called so. */
static bool is_free(maker *m, const token *word)
{
    bool good = word->kind == WORD && name_length(word->text, word->text + word->length) == (size_t)word->length;
    if (!good)
        return refuse(m, word->line, "a name of letters, digits and '_' is missing") >= 0;
    for (int i = 0; i < OWN_WORDS; i++)
        good = good && !is_word(word, own_words[i]);
    good = good && !layer_named(word->text, (size_t)word->length) && find_definition(m, word) < 0;
    for (int i = 0; i < m->variables; i++)
        if (i >= m->frame || i < m->globals)
            good = good && !same_word(m->variable[i].name, word);
    return good || refuse(m, word->line, "'%.*s' is the name of something else", word->length, word->text) >= 0;
}

static bool add_variable(maker *m, const token *name, int64_t value)
{
    if (m->variables == MOST_NAMES)
        return refuse(m, name->line, "more than %d names", MOST_NAMES) >= 0;
    m->variable[m->variables++] = (variable){name, value};
    m->globals += m->depth == 0;
    return true;
}

/* let NAME = EXPRESSION */
static int run_let(maker *m, int at, int count)
{
    const token *word = &m->token[at];
    int64_t value;
    if (count != 3 || !is_word(&word[2], "="))
        return refuse(m, word->line, "let NAME = EXPRESSION expected");
    return is_free(m, &word[1]) && evaluate(m, &word[3], 0, &value) && add_variable(m, &word[1], value) ? m->x : -1;
}

/* The first token of the block that comes next, over empty lines; -1: none comes. */
static int next_block(const maker *m, int at, int to)
{
    while (at < to && m->token[at].kind == STOP)
        at++;
    return at < to && m->token[at].kind == OPEN ? at : -1;
}

static bool is_empty(const maker *m, int open)
{
    for (int i = open + 1; i < m->token[open].match; i++)
        if (m->token[i].kind != STOP)
            return false;
    return true;
}

static int run_repeat(maker *m, int at, int count, int open)
{
    const token *word = &m->token[at];
    int64_t times = 0;
    if (count != 1 || open < 0 || is_empty(m, open))
        return refuse(m, word->line, "repeat N { ... } expected");
    if (!evaluate(m, &word[1], 0, &times))
        return -1;
    if (times < 1 || times > MOST_STATEMENTS)
        return refuse(m, word->line, "a block is repeated from 1 to %d times, not %lld", MOST_STATEMENTS,
                      (long long)times);
    int x = m->x;
    for (int64_t i = 0; i < times && x >= 0; i++)
        x = run_block(m, open + 1, m->token[open].match, x);
    return x;
}

typedef struct joined {
    int count, part[MOST_BRANCHES];
} joined;

static int add_sum(graph *g, const void *what)
{
    const joined *j = what;
    int x = j->part[0];
    for (int i = 1; i < j->count; i++)
        x = graph_add(g, x, j->part[i]);
    return x;
}

static int add_concat(graph *g, const void *what)
{
    const joined *j = what;
    return graph_concat(g, j->count, j->part);
}

/* branch add|concat and its blocks; *at is behind the last one then. */
static int run_branch(maker *m, const token *word, int *at, int to, int count, int open)
{
    const int x = m->x;
    joined all = {.count = 0};
    const bool adds = count == 1 && is_word(&word[1], "add");
    if (!adds && !(count == 1 && is_word(&word[1], "concat")))
        return refuse(m, word->line, "branch add { ... } { ... } or branch concat { ... } { ... } expected");
    for (; open >= 0; open = next_block(m, *at, to)) {
        if (all.count == MOST_BRANCHES)
            return refuse(m, word->line, "more than %d branches", MOST_BRANCHES);
        *at = m->token[open].match + 1;
        const int y = is_empty(m, open) ? x : run_block(m, open + 1, *at - 1, x);
        if (y < 0)
            return -1;
        if (y == x && is_tokens(m, x))
            return refuse(m, word->line, "the data are text, which only an embedding reads");
        all.part[all.count++] = y;
    }
    if (all.count < 2)
        return refuse(m, word->line, "a branch has at least two blocks");
    return check_size(m, word->line, graph_attempt(m->plan->g, adds ? add_sum : add_concat, &all, m->plan->why));
}

/* define NAME ARGUMENT... { ... } */
static int run_define(maker *m, int at, int count, int open)
{
    const token *word = &m->token[at];
    if (m->depth > 0)
        return refuse(m, word->line, "define stands at the top alone");
    if (count < 1 || open < 0 || is_empty(m, open))
        return refuse(m, word->line, "define NAME ARGUMENT... { ... } expected");
    if (m->definitions == MOST_DEFINITIONS || count > MOST_ARGUMENTS)
        return refuse(m, word->line, "more than %d definitions or %d arguments", MOST_DEFINITIONS, MOST_ARGUMENTS);
    for (int i = 1; i <= count; i++) {
        if (!is_free(m, &word[i]))
            return -1;
        for (int k = 1; k < i; k++)
            if (same_word(&word[i], &word[k]))
                return refuse(m, word->line, "two arguments are called '%.*s'", word[i].length, word[i].text);
    }
    m->definition[m->definitions++] = (definition){&word[1], at + 2, count - 1, open + 1, m->token[open].match, false};
    return m->x;
}

/* Runs definition i with the words after `at`; it sees its arguments and what stands at the top. */
static int run_definition(maker *m, int i, int at, int count)
{
    definition *d = &m->definition[i];
    const token *word = &m->token[at];
    const int frame = m->frame, variables = m->variables;
    int64_t value[MOST_ARGUMENTS];
    if (count != d->arguments)
        return refuse(m, word->line, "%.*s takes %d arguments, not %d", word->length, word->text, d->arguments, count);
    for (int k = 0; k < count; k++)
        if (!evaluate(m, &word[1 + k], 0, &value[k]))
            return -1;
    m->depth++; /* what it is given are no names of the top */
    for (int k = 0; k < count; k++)
        if (!add_variable(m, &m->token[d->first + k], value[k]))
            return -1;
    m->depth--;
    m->frame = variables;
    d->used = true;
    const int x = run_block(m, d->from, d->to, m->x);
    m->frame = frame;
    m->variables = variables;
    return x;
}

static int unknown(maker *m, const token *word)
{
    char text[LONGEST_WORD + 1], names[MOST_DEFINITIONS][LONGEST_WORD + 1];
    snprintf(text, sizeof text, "%.*s", word->length, word->text);
    near_search near = near_start(text);
    for (int i = 0; layer_table(i); i++)
        near_try(&near, layer_table(i)->name);
    for (int i = 0; i < STATEMENTS; i++)
        near_try(&near, own_words[i]);
    for (int i = 0; i < m->definitions; i++) {
        snprintf(names[i], sizeof names[i], "%.*s", m->definition[i].name->length, m->definition[i].name->text);
        near_try(&near, names[i]);
    }
    return refuse(m, word->line, "there is no layer '%s'%s ('fptrain models --layers' lists them)", text,
                  near_text(&near));
}

/* One statement, which begins at *at; then *at is behind it. */
static int run_statement(maker *m, int *at, int to)
{
    const int first = *at;
    const token *word = &m->token[first];
    if (word->kind != WORD)
        return refuse(m, word->line, "a block without 'repeat', 'branch' or 'define' before it");
    if (++m->statements > MOST_STATEMENTS)
        return refuse(m, word->line, "more than %d statements are executed", MOST_STATEMENTS);
    while (*at < to && m->token[*at].kind == WORD)
        ++*at;
    const int count = *at - first - 1;
    const bool own = is_word(word, "repeat") || is_word(word, "branch") || is_word(word, "define");
    const int open = own ? next_block(m, *at, to) : -1;
    if (is_word(word, "branch"))
        return run_branch(m, word, at, to, count, open);
    if (open >= 0)
        *at = m->token[open].match + 1;
    if (is_word(word, "repeat"))
        return run_repeat(m, first, count, open);
    if (is_word(word, "define"))
        return run_define(m, first, count, open);
    if (is_word(word, "let"))
        return run_let(m, first, count);
    const layer_kind *layer = layer_named(word->text, (size_t)word->length);
    if (layer)
        return make_layer(m, layer, first, count);
    const int own_layer = find_definition(m, word);
    return own_layer >= 0 ? run_definition(m, own_layer, first, count) : unknown(m, word);
}

/* The value that the block of tokens puts out when it reads x. */
static int run_block(maker *m, int from, int to, int x)
{
    const int outside = m->x, variables = m->variables;
    if (++m->depth > MOST_DEPTH)
        return refuse(m, m->token[from].line, "blocks within blocks, more than %d deep", MOST_DEPTH);
    for (m->x = x; from < to && m->x >= 0;)
        if (m->token[from].kind == STOP)
            from++;
        else
            m->x = run_statement(m, &from, to);
    x = m->x;
    m->x = outside;
    m->variables = variables;
    m->depth--;
    return x;
}

/* ------------------------------------------------------------------------------------------------ all of it */

/* Every definition is used, and the last value has a number for each class. */
static int check_end(maker *m, int x)
{
    const int last = m->token[m->tokens - 1].line, classes = m->plan->settings->classes;
    for (int i = 0; i < m->definitions; i++)
        if (!m->definition[i].used)
            return refuse(m, m->definition[i].name->line, "'%.*s' is defined and not used",
                          m->definition[i].name->length, m->definition[i].name->text);
    const value *v = graph_value(m->plan->g, x);
    if (v->producer < 0)
        return refuse(m, last, "there is no layer");
    if (v->row != (size_t)classes)
        return refuse(m, last, "the network ends with %d x %d x %d, and the data have %d classes", v->c, v->h, v->w,
                      classes);
    return x;
}

int build_network_text(const plan *p, int x)
{
    maker *m = need(1, sizeof *m);
    m->plan = p;
    m->from = p->settings->from;
    m->first_line = p->settings->line;
    m->token = need(MOST_TOKENS, sizeof *m->token);
    m->depth = -1;
    int y = tokenize(m, p->settings->text) && match_blocks(m) ? run_block(m, 0, m->tokens, x) : -1;
    if (y >= 0)
        y = check_end(m, y);
    free(m->token);
    free(m);
    return y;
}

bool network_text_is(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".net") == 0;
}

/* The next line with something in it, without blanks at its ends and without comment; its length, 0 at the end. */
static size_t next_line(const char **at, const char **line)
{
    while (**at) {
        const size_t all = strcspn(*at, "\n");
        size_t length = strcspn(*at, "#\n");
        *line = *at;
        *at += all + ((*at)[all] == '\n');
        for (; length && strchr(" \t\r", **line); length--)
            ++*line;
        while (length && strchr(" \t\r", (*line)[length - 1]))
            length--;
        if (length)
            return length;
    }
    return 0;
}

/* Whether two lines are one but for how many blanks stand in their gaps. */
static bool same_line(const char *x, const char *x_end, const char *y, const char *y_end)
{
    while (x < x_end && y < y_end) {
        const size_t gap = strspn(x, " \t\r"), other = strspn(y, " \t\r");
        if (!gap != !other || (!gap && *x != *y))
            return false;
        x += gap ? gap : 1;
        y += other ? other : 1;
    }
    return x == x_end && y == y_end;
}

bool network_text_same(const char *a, const char *b)
{
    const char *x = NULL, *y = NULL;
    size_t one, other;
    do {
        one = next_line(&a, &x);
        other = next_line(&b, &y);
        if (!one != !other || (one && !same_line(x, x + one, y, y + other)))
            return false;
    } while (one);
    return true;
}
