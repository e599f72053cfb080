/* SPDX-License-Identifier: BSD-2-Clause */
/* digits.c - pictures that look like handwritten digits, made from a seed: 28x28, grey, black ground.
 *
 * A digit is a few strokes (arcs of ellipses and straight lines) in a box of -1..1. Each stroke is bent by a slow wave,
 * all of them are slanted, turned, stretched and moved together, and written with a pen of some width and softness;
 * then come stray marks, a change of ink and noise.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/dice.h"
#include "data/readers.h"

enum { SIDE = 28, PIECES = 14, TRAIN = 10000, TEST = 2000, MOST_STROKES = 4 };

/* An arc around (x, y) with radii (a, b), from turn t0 to t1 (0: right, 0.25: down); a line from (x, y) to (a, b). */
typedef struct stroke {
    enum { END, ARC, LINE } kind;
    double x, y, a, b, t0, t1;
} stroke;

/* Two forms of each. */
static const stroke written[10][2][MOST_STROKES] = {
    {{{ARC, 0, 0, 0.58, 0.95, 0, 1}}, {{ARC, 0, 0, 0.72, 0.9, -0.2, 0.85}}},
    {{{LINE, 0, -0.95, 0, 0.95, 0, 0}},
     {{LINE, 0.05, -0.95, 0.05, 0.95, 0, 0},
      {LINE, -0.4, -0.5, 0.05, -0.95, 0, 0},
      {LINE, -0.3, 0.95, 0.4, 0.95, 0, 0}}},
    {{{ARC, 0, -0.42, 0.55, 0.53, 0.5, 1.1},
      {LINE, 0.45, -0.1, -0.6, 0.95, 0, 0},
      {LINE, -0.6, 0.95, 0.65, 0.95, 0, 0}},
     {{ARC, 0, -0.45, 0.5, 0.5, 0.45, 1.12},
      {LINE, 0.37, -0.1, -0.3, 0.7, 0, 0},
      {ARC, -0.4, 0.8, 0.2, 0.15, 0, 1},
      {LINE, -0.3, 0.8, 0.7, 0.9, 0, 0}}},
    {{{ARC, 0, -0.46, 0.5, 0.48, 0.55, 1.25}, {ARC, 0, 0.46, 0.58, 0.49, 0.75, 1.45}},
     {{LINE, -0.5, -0.95, 0.5, -0.95, 0, 0},
      {LINE, 0.5, -0.95, -0.05, -0.15, 0, 0},
      {ARC, 0, 0.4, 0.58, 0.55, 0.72, 1.42}}},
    {{{LINE, 0.2, -0.95, -0.65, 0.25, 0, 0}, {LINE, -0.65, 0.25, 0.7, 0.25, 0, 0}, {LINE, 0.3, -0.4, 0.25, 0.95, 0, 0}},
     {{LINE, -0.5, -0.9, -0.55, 0.1, 0, 0}, {LINE, -0.55, 0.1, 0.5, 0.05, 0, 0}, {LINE, 0.45, -0.95, 0.4, 0.95, 0, 0}}},
    {{{LINE, 0.5, -0.95, -0.42, -0.95, 0, 0},
      {LINE, -0.42, -0.95, -0.48, -0.1, 0, 0},
      {ARC, 0, 0.36, 0.57, 0.58, 0.62, 1.4}},
     {{LINE, 0.6, -0.85, -0.35, -0.9, 0, 0},
      {LINE, -0.35, -0.9, -0.3, -0.2, 0, 0},
      {ARC, -0.1, 0.35, 0.6, 0.55, 0.7, 1.35}}},
    {{{ARC, 0.45, 0.4, 0.97, 1.35, 0.5, 0.72}, {ARC, 0, 0.45, 0.52, 0.48, 0, 1}},
     {{LINE, 0.15, -0.95, -0.42, 0.2, 0, 0}, {ARC, 0, 0.42, 0.48, 0.5, -0.4, 0.65}}},
    {{{LINE, -0.6, -0.88, 0.6, -0.9, 0, 0}, {LINE, 0.6, -0.9, -0.15, 0.95, 0, 0}},
     {{LINE, -0.55, -0.8, 0.6, -0.85, 0, 0}, {LINE, 0.6, -0.85, 0, 0.95, 0, 0}, {LINE, -0.25, 0.05, 0.55, 0, 0, 0}}},
    {{{ARC, 0, -0.47, 0.43, 0.46, 0, 1}, {ARC, 0, 0.46, 0.54, 0.49, 0, 1}},
     {{ARC, 0.05, -0.5, 0.38, 0.42, 0.1, 1.15}, {ARC, -0.05, 0.42, 0.5, 0.52, -0.35, 0.7}}},
    {{{ARC, 0, -0.43, 0.5, 0.49, 0, 1}, {LINE, 0.5, -0.45, 0.3, 0.95, 0, 0}},
     {{ARC, 0.02, -0.4, 0.47, 0.5, 0, 1}, {ARC, -0.35, 0.05, 0.85, 0.88, -0.05, 0.2}}}};

/* Ink on the paper, 0..1, and what moves a point of the box to the paper. */
typedef struct page {
    double ink[SIDE * SIDE];
    double xx, xy, yx, yy, x0, y0;
    double pen, soft; /* radius and width of the edge, in pixels */
} page;

static void draw_line(page *p, double x0, double y0, double x1, double y1)
{
    const double reach = p->pen + p->soft, dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy;
    const int left = (int)fmax(0, floor(fmin(x0, x1) - reach)), right = (int)fmin(SIDE - 1, ceil(fmax(x0, x1) + reach));
    const int top = (int)fmax(0, floor(fmin(y0, y1) - reach)), bottom = (int)fmin(SIDE - 1, ceil(fmax(y0, y1) + reach));
    for (int y = top; y <= bottom; y++) {
        for (int x = left; x <= right; x++) {
            const double px = x - x0, py = y - y0;
            const double along = square > 0 ? clamp_unit((px * dx + py * dy) / square) : 0;
            const double ex = px - along * dx, ey = py - along * dy;
            const double ink = clamp_unit((reach - sqrt(ex * ex + ey * ey)) / (2 * p->soft));
            double *at = &p->ink[y * SIDE + x];
            *at = ink > *at ? ink : *at;
        }
    }
}

static void draw_stroke(page *p, const stroke *s, dice *d)
{
    const double wave = dice_between(d, 0.02, 0.14), turns = dice_between(d, 0.5, 1.5), phase = dice_between(d, 0, 1);
    const double shift_x = 0.05 * dice_bell(d), shift_y = 0.05 * dice_bell(d), grow = 1 + 0.08 * dice_bell(d);
    const double cut = 0.06 * dice_bell(d); /* strokes that are a little too short or too long */
    double old_x = 0, old_y = 0;
    for (int i = 0; i <= PIECES; i++) {
        const double t = (double)i / PIECES * (1 + cut), turn = s->t0 + (s->t1 - s->t0) * t;
        double x = s->kind == ARC ? s->x + grow * s->a * cosine(turn) : s->x + (s->a - s->x) * t;
        double y = s->kind == ARC ? s->y + grow * s->b * sine(turn) : s->y + (s->b - s->y) * t;
        x += shift_x + wave * sine(phase + turns * t);
        y += shift_y + wave * sine(phase + 0.37 + turns * t);
        const double at_x = p->x0 + p->xx * x + p->xy * y, at_y = p->y0 + p->yx * x + p->yy * y;
        if (i > 0)
            draw_line(p, old_x, old_y, at_x, at_y);
        old_x = at_x;
        old_y = at_y;
    }
}

static void lay_out(page *p, dice *d)
{
    const double turn = 0.028 * dice_bell(d), slant = 0.05 + 0.22 * dice_bell(d);
    const double width = dice_between(d, 5.2, 9.5), height = dice_between(d, 6.8, 10.2);
    const double c = cosine(turn), s = sine(turn);
    p->xx = width * c;
    p->xy = -height * s - slant * height * c;
    p->yx = width * s;
    p->yy = height * c - slant * height * s;
    p->x0 = 13.5 + 1.1 * dice_bell(d);
    p->y0 = 13.5 + 1.1 * dice_bell(d);
    p->pen = dice_between(d, 0.45, 1.75);
    p->soft = dice_between(d, 0.45, 0.95);
}

static void draw_mark(page *p, dice *d)
{
    const double x = dice_between(d, 0, SIDE), y = dice_between(d, 0, SIDE);
    const double dx = dice_between(d, -6, 6), dy = dice_between(d, -6, 6); /* in an order that C leaves no choice in */
    draw_line(p, x, y, x + dx, y + dy);
}

static void draw_digit(uint8_t *pixels, int digit, dice *d)
{
    page p = {.pen = 0};
    const stroke *s = written[digit][dice_below(d, 2)];
    lay_out(&p, d);
    for (int i = 0; i < MOST_STROKES && s[i].kind != END; i++)
        draw_stroke(&p, &s[i], d);
    p.pen *= 0.6;
    for (int marks = dice_below(d, 4); marks > 1; marks--)
        draw_mark(&p, d);
    const double ink = dice_between(d, 130, 255), noise = dice_between(d, 2, 34);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double value = ink * p.ink[i] + noise * dice_bell(d);
        pixels[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

static void make_split(split *to, uint64_t seed, bool test, size_t count)
{
    to->count = count;
    to->pixels = need(count, SIDE * SIDE);
    to->labels = need(count, sizeof *to->labels);
    for (size_t i = 0; i < count; i++) {
        dice d = dice_of(seed, test, i);
        to->labels[i] = (uint16_t)dice_below(&d, 10);
        draw_digit(to->pixels + i * SIDE * SIDE, to->labels[i], &d);
    }
}

void digits_make(dataset *d, const dataset_options *options)
{
    snprintf(d->name, sizeof d->name, "digits");
    d->c = 1;
    d->h = d->w = SIDE;
    d->classes = 10;
    make_split(&d->train, options->seed, false, options->train_count ? options->train_count : TRAIN);
    make_split(&d->test, options->seed, true, options->test_count ? options->test_count : TEST);
}
