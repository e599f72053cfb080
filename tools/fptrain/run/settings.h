/* SPDX-License-Identifier: BSD-2-Clause */
/* settings.h - everything that a run can be told: one table of keys, read from a file of sections, options, or both.
 *
 *     [model]
 *     name = lenet
 *     [formats]
 *     w = e4m3fn
 *     conv1.* = fp32
 *     dv = e5m2 sr
 *
 * A model whose name ends with .net is described in a text (models/network_text.h). It is read from the file of that
 * name, and is part of the settings from then on: printed, it is the section [network], all lines below which up to the
 * next [section] are the text.
 *
 * Keys of [formats] are free: a role (v, w, dv, dw; these first) or a pattern of tensor names, in their order; the
 * value is a format, then maybe a rounding. All other keys stand in the table of settings.c.
 */
#ifndef FPTRAIN_RUN_SETTINGS_H
#define FPTRAIN_RUN_SETTINGS_H

#include "policies/policy.h"

enum { SETTINGS_TEXT = 176 }; /* a key and its value fit in a line of inih */

typedef struct settings {
    struct {
        char name[128];
        double width;
        bool projections, norm;
        char blocks[128], hidden[128];
        int depth, features, heads, kernel;
        double last;
    } model;
    struct {
        char source[SETTINGS_TEXT];
        uint64_t seed, train_count, test_count, limit, test_limit;
        char part[32];
        int pad, crop, steps;
        bool flip;
        char test[SETTINGS_TEXT], names[SETTINGS_TEXT], layout[16], characters[16], normalise[16];
        char mean[SETTINGS_TEXT], deviation[SETTINGS_TEXT];
        double test_share;
        int classes;
    } data;
    struct {
        int epochs, batch, micro_batches, warmup, threads;
        double lr;
        char schedule[64], backend[64], fanout[16], diverged[16];
        uint64_t seed;
        char schedule_by[16];
        uint64_t warmup_steps;
        double warmup_start, label_smoothing;
    } train;
    struct {
        char name[SETTINGS_TEXT];
    } policy;
    struct {
        char name[16];
        double scale, underflow_target, beta_cap, alpha_cap;
        uint64_t interval;
        bool fan;
    } scaler;
    struct {
        char name[16];
        double momentum, beta2, epsilon, decay, clip;
        bool master;
        char store[16], storing[16], weights[64], gradients[64], momenta[64], squares[64];
        char clipping[16], no_clip[128], no_decay[128];
    } optimizer;
    struct {
        char from[SETTINGS_TEXT], partial[SETTINGS_TEXT];
    } init;
    struct {
        char directory[SETTINGS_TEXT];
        int log_every, checkpoint_every, checkpoint_steps;
        bool counters, histograms, dispersion;
        char best[16];
    } output;
    int format_count;
    format_line *formats; /* as policy_fixed takes them; the words belong to the settings */
    struct {
        char *text; /* NULL: not read, or model.name is no such network; belongs to the settings */
        char from[SETTINGS_TEXT];
        int line; /* of `from`, on which the text begins */
    } network;
    int config_count;
    char **config; /* the files that settings_options read; belong to the settings */
} settings;

void settings_default(settings *s); /* the first call; settings_free is the last */
void settings_free(settings *s);
settings settings_copy(const settings *s);             /* also of its formats and network; for settings_free */
void settings_reset(settings *s, const char *section); /* the keys of the section are as settings_default leaves them */

/* These say what is wrong where (FILE:LINE, or the option), and then leave the settings half changed. */
bool settings_read(settings *s, const char *path, trouble *why);
bool settings_parse(settings *s, const char *text, size_t length, const char *name, trouble *why);
bool settings_set(settings *s, const char *section, const char *key, const char *value, trouble *why);
/* Ends the program in place of that. */
void settings_fix(settings *s, const char *section, const char *key, const char *value);
/* --config FILE, --set SECTION.KEY=VALUE, and --model NAME and the like; first all files, then the others in order.
 * What it took is gone from argv, argv[0] and the rest stay. */
bool settings_options(settings *s, int *argc, char **argv, trouble *why);

/* Reads the text of model.name where that is a file NAME.net, or one that comes with the program, and no [network] was
 * there; then model.name is NAME.net without its directory. settings_options does so at its end. */
bool settings_network(settings *s, trouble *why);
/* Takes a text over; NULL: none. `from` and the line from 1 are for messages. */
void settings_take_network(settings *s, char *text, const char *from, int line);
/* Whether both have the same text, comments and blanks apart, or none. */
bool settings_same_network(const settings *a, const settings *b);

/* All of them as a file, which reads back to the same; for free(). */
char *settings_print(const settings *s);
bool settings_write(const settings *s, const char *path, trouble *why);

/* The table: key i = 0, 1, ...; false past the end. */
typedef struct settings_key {
    const char *section, *key, *help;
    const char *option;                   /* "--model"; NULL: only by --set and in files */
    char type[32], range[96], normal[64]; /* "whole number", "1..65536", "3" */
} settings_key;
bool settings_table(int i, settings_key *key);
/* The value of key i as text of at most SETTINGS_TEXT bytes. */
const char *settings_value(const settings *s, int i, char text[SETTINGS_TEXT]);
/* The first key of those that matter whose values differ, or -1; formats are compared apart. */
int settings_difference(const settings *a, const settings *b, bool (*matters)(const settings_key *key));
bool settings_same_formats(const settings *a, const settings *b);

#endif
