/* SPDX-License-Identifier: BSD-2-Clause */
/* shapes.c - coloured pictures of ten kinds of shapes, made from a seed: 32x32, (3, 32, 32) bytes a sample.
 *
 * Shape and ground have textures and colours of their own, none of which tell the class, but the shape is the lighter
 * one more often than not; it is turned, stretched and moved, covered in part by a bar now and then, and all is noisy.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/dice.h"
#include "data/readers.h"

enum { SIDE = 32, PLANE = SIDE * SIDE, CLASSES = 10, TRAIN = 10000, TEST = 2000, MOST_CORNERS = 12 };

static const char *const names[CLASSES] = {"disc", "ring",  "crescent", "triangle", "square",
                                           "star", "cross", "arrow",    "bar",      "ell"};

typedef struct point {
    double x, y;
} point;

/* Corners of the classes from `triangle` on. */
typedef struct polygon {
    int corners;
    point at[MOST_CORNERS];
} polygon;

static const polygon polygons[CLASSES] = {
    [3] = {3, {{0, -1}, {0.87, 0.5}, {-0.87, 0.5}}},
    [4] = {4, {{-0.75, -0.75}, {0.75, -0.75}, {0.75, 0.75}, {-0.75, 0.75}}},
    [5] = {10,
           {{0, -1},
            {0.26, -0.36},
            {0.95, -0.31},
            {0.43, 0.14},
            {0.59, 0.81},
            {0, 0.45},
            {-0.59, 0.81},
            {-0.43, 0.14},
            {-0.95, -0.31},
            {-0.26, -0.36}}},
    [6] = {12,
           {{-0.3, -0.95},
            {0.3, -0.95},
            {0.3, -0.3},
            {0.95, -0.3},
            {0.95, 0.3},
            {0.3, 0.3},
            {0.3, 0.95},
            {-0.3, 0.95},
            {-0.3, 0.3},
            {-0.95, 0.3},
            {-0.95, -0.3},
            {-0.3, -0.3}}},
    [7] = {7, {{0, -1}, {0.75, -0.1}, {0.28, -0.1}, {0.28, 0.95}, {-0.28, 0.95}, {-0.28, -0.1}, {-0.75, -0.1}}},
    [8] = {4, {{-0.3, -1}, {0.3, -1}, {0.3, 1}, {-0.3, 1}}},
    [9] = {6, {{-0.75, -0.85}, {-0.2, -0.85}, {-0.2, 0.35}, {0.75, 0.35}, {0.75, 0.85}, {-0.75, 0.85}}}};

/* Distance to the edge, negative inside. */
static double polygon_distance(const polygon *g, double x, double y)
{
    double least = 100;
    bool inside = false;
    for (int i = 0, j = g->corners - 1; i < g->corners; j = i++) {
        const point a = g->at[j], b = g->at[i];
        const double dx = b.x - a.x, dy = b.y - a.y, px = x - a.x, py = y - a.y;
        const double along = clamp_unit((px * dx + py * dy) / (dx * dx + dy * dy));
        const double ex = px - along * dx, ey = py - along * dy, square = ex * ex + ey * ey;
        least = square < least ? square : least;
        if ((a.y > y) != (b.y > y) && x < a.x + (y - a.y) * dx / dy)
            inside = !inside;
    }
    return inside ? -sqrt(least) : sqrt(least);
}

static double distance(int shape, double x, double y)
{
    const double r = sqrt(x * x + y * y);
    if (shape == 0)
        return r - 0.88;
    if (shape == 1)
        return fabs(r - 0.7) - 0.22;
    if (shape == 2)
        return fmax(r - 0.95, 0.75 - sqrt((x - 0.45) * (x - 0.45) + y * y));
    return r > 1.5 ? r - 1.2 : polygon_distance(&polygons[shape], x, y); /* all corners are within 1.2 */
}

typedef enum pattern { PLAIN, STRIPES, CHECKS, SPOTS, SLOPE, PATTERNS } pattern;

/* Two colours, and which of them is where. */
typedef struct texture {
    pattern kind;
    double a[3], b[3], kx, ky, phase;
} texture;

/* Colours around `light`, far apart or not. */
static texture random_texture(dice *d, double light)
{
    texture t = {.kind = (pattern)dice_below(d, PATTERNS)};
    const double turn = dice_between(d, 0, 1), often = dice_between(d, 0.06, 0.24);
    const double contrast = dice_between(d, 0.03, 0.2);
    for (int c = 0; c < 3; c++) {
        t.a[c] = dice_between(d, light - 0.3, light + 0.3);
        const double much = contrast * dice_between(d, 0.3, 1);
        t.b[c] = clamp_unit(t.a[c] + (dice_chance(d, 0.5) ? much : -much));
    }
    t.kx = often * cosine(turn);
    t.ky = often * sine(turn);
    t.phase = dice_between(d, 0, 1);
    return t;
}

/* How much of colour b is at (x, y). */
static double texture_share(const texture *t, int x, int y)
{
    const double u = t->kx * x + t->ky * y + t->phase, v = t->ky * x - t->kx * y + t->phase;
    switch (t->kind) {
    case STRIPES: return 0.5 + 0.5 * sine(u);
    case CHECKS: return sine(u) * sine(v) > 0 ? 1 : 0;
    case SPOTS: return sine(u) + sine(v) > 0.9 ? 1 : 0;
    case SLOPE: return clamp_unit(0.5 + u / 4);
    default: return 0;
    }
}

/* Of the first colours, summed over the channels. */
static double difference(const texture *s, const texture *t)
{
    return fabs(s->a[0] - t->a[0]) + fabs(s->a[1] - t->a[1]) + fabs(s->a[2] - t->a[2]);
}

typedef struct placement {
    double xx, xy, yx, yy, x0, y0, pixel; /* from the picture to the box of the shape; the size of a pixel in it */
} placement;

static placement random_placement(dice *d)
{
    const double turn = dice_between(d, -0.06, 0.06), radius = dice_between(d, 7.5, 12.5);
    const double stretch = dice_between(d, 0.8, 1.25), c = cosine(turn), s = sine(turn);
    placement p = {.x0 = 15.5 + 1.6 * dice_bell(d), .y0 = 15.5 + 1.6 * dice_bell(d), .pixel = 1 / radius};
    p.xx = c / radius * stretch;
    p.xy = s / radius * stretch;
    p.yx = -s / radius / stretch;
    p.yy = c / radius / stretch;
    return p;
}

/* A bar in front of the picture: x kx + y ky within [from, to]. */
typedef struct bar {
    double kx, ky, from, to, colour[3];
} bar;

static bar random_bar(dice *d)
{
    const double turn = dice_between(d, 0, 1);
    bar b = {.kx = cosine(turn), .ky = sine(turn)};
    const double middle = 15.5 * b.kx + 15.5 * b.ky + dice_between(d, -9, 9), width = dice_between(d, 1, 3);
    const bool there = dice_chance(d, 0.25);
    b.from = there ? middle - width : 1000;
    b.to = there ? middle + width : 1000;
    for (int c = 0; c < 3; c++)
        b.colour[c] = dice_between(d, 0, 1);
    return b;
}

static void draw_shape(uint8_t *pixels, int shape, dice *d)
{
    const placement p = random_placement(d);
    texture ground = random_texture(d, 0.35), body = random_texture(d, 0.65);
    while (difference(&ground, &body) < 0.7)
        body = random_texture(d, 0.65);
    const bar front = random_bar(d);
    const double noise = dice_between(d, 2, 18), light = dice_between(d, 0.75, 1.1);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const double u = x - p.x0, v = y - p.y0, across = x * front.kx + y * front.ky;
            const bool covered = across >= front.from && across <= front.to;
            const double edge = distance(shape, p.xx * u + p.xy * v, p.yx * u + p.yy * v);
            const double inside = clamp_unit(0.5 - edge / p.pixel);
            const double g = inside < 1 ? texture_share(&ground, x, y) : 0;
            const double b = inside > 0 ? texture_share(&body, x, y) : 0;
            double bell[3];
            dice_bells(d, bell);
            for (int c = 0; c < 3; c++) {
                const double under = ground.a[c] + g * (ground.b[c] - ground.a[c]);
                const double over = body.a[c] + b * (body.b[c] - body.a[c]);
                const double colour = covered ? front.colour[c] : under + inside * (over - under);
                const double value = 255 * light * colour + noise * bell[c];
                pixels[c * PLANE + y * SIDE + x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
    }
}

static void make_split(split *to, uint64_t seed, bool test, size_t count)
{
    to->count = count;
    to->pixels = need(count, 3 * PLANE);
    to->labels = need(count, sizeof *to->labels);
    for (size_t i = 0; i < count; i++) {
        dice d = dice_of(seed, test, i);
        to->labels[i] = (uint16_t)dice_below(&d, CLASSES);
        draw_shape(to->pixels + i * 3 * PLANE, to->labels[i], &d);
    }
}

void shapes_make(dataset *d, const dataset_options *options)
{
    snprintf(d->name, sizeof d->name, "shapes");
    d->c = 3;
    d->h = d->w = SIDE;
    d->classes = CLASSES;
    d->class_name = names;
    make_split(&d->train, options->seed, false, options->train_count ? options->train_count : TRAIN);
    make_split(&d->test, options->seed, true, options->test_count ? options->test_count : TEST);
}
