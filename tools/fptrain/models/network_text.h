/* SPDX-License-Identifier: BSD-2-Clause */
/* network_text.h - a network described in a small text: layers one after the other, repeated, in branches.
 *
 *     # two blocks of a residual network
 *     define norm_conv channels stride {
 *         conv channels 3 stride=stride pad=1 bias=no, batch_norm
 *     }
 *     norm_conv 16 1, relu
 *     repeat 2 {
 *         branch add { norm_conv 16 1, relu, norm_conv 16 1 } { }
 *         relu
 *     }
 *     global_pool, linear classes
 *
 * A statement ends with its line or with a comma. It is a layer of the table of layers.h with its arguments, in their
 * order or as NAME=VALUE, and maybe name=NAME, which names the operator; or one of
 *
 *     let NAME = EXPRESSION                 until the end of the block it stands in
 *     repeat N { ... }                      the block N times, each with parameters of its own
 *     branch add { ... } { ... } ...        blocks that read the same value; what they put out is added up, or
 *     branch concat { ... } { ... } ...     put side by side; an empty block puts out what it reads
 *     define NAME ARGUMENT... { ... }       a layer of one's own, at the top alone, before it is used
 *
 * Expressions are of whole numbers and have no blanks: + - * / (that leaves no rest), parentheses, names, `channels`
 * (of the value that is read), `classes` and `steps` (of the data), scaled(N), which is N times the width of the
 * settings, to the nearest, and rounded(N), the same to a multiple of 8 or 4. The network reads the data and ends with
 * a number for each class; the loss comes by itself. Layers without a name are called by type and number: conv1, ...
 *
 * Limits: a text of 64 KiB and 16384 words; blocks within blocks 16 deep, 64 branches, 16 arguments; 65536 statements
 * executed; 4096 operators; 2^24 elements and 65536 channels in a row of a value (classes and what is read apart), 2^32
 * parameters; fewer than 2^31 elements that the kernel of a convolution covers. Every error says FILE:LINE. */
#ifndef FPTRAIN_MODELS_NETWORK_TEXT_H
#define FPTRAIN_MODELS_NETWORK_TEXT_H

#include "models/parts.h"

enum { NETWORK_TEXT_LARGEST = 1 << 16 };

/* A name of a model that stands for such a text: it ends with ".net". */
bool network_text_is(const char *name);
/* Whether two texts are the same but for comments, empty lines, and how many blanks stand in a gap or at the ends of
 * a line. */
bool network_text_same(const char *a, const char *b);
/* A builder as those of builders.h; the text is in the settings of the model. */
int build_network_text(const plan *p, int x);

#endif
