/* SPDX-License-Identifier: BSD-2-Clause */
/* jax_ffi.c - libfpemu's calls as handlers of XLA's FFI, for arrays of JAX in the memory of the processor.
 *
 * Every handler follows the same plan. Attributes are what is fixed when a program is compiled: the texts of formats,
 * the rounding but for its random stream, the axis of blocks. Operands are what may change from call to call: numbers,
 * and the words of the random stream, of which `state` is eight: seed, stream and two offsets (which are added), each
 * with its low half first. The attribute `rank` is the rank of one example; dimensions in front of it come from
 * jax.vmap. There an operand has the size 1 where it is the same for all examples, and each example gets the bits of a
 * call of its own. Nothing is copied, but for matrices that a caller has transposed before.
 *
 * Python sees to types and shapes; what is checked here again are only the counts of operands and words. */
#include "xla_ffi.h"

#include <fpemu.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { STATE_WORDS = 8, STATS_WORDS = sizeof(fpemu_stats) / 4, RANGE_WORDS = sizeof(fpemu_range) / 4 };
enum { MOST_OPERANDS = 5, MOST_DIMENSIONS = 64, TEXT_SIZE = 1024 };

/* ------------------------------------------------------------------------------------------ errors, attributes */

static xla_error *fail(const xla_frame *frame, int code, const char *message)
{
    xla_error_arguments arguments = {sizeof arguments, NULL, message, code};
    /* cppcheck-suppress returnDanglingLifetime ; XLA copies what it is given */
    return frame->api->create_error(&arguments);
}

static xla_error *refuse_for(const xla_frame *frame, const char *what, fpemu_status status, const fpemu_why *why)
{
    char message[256];
    if (status == FPEMU_OK)
        return NULL;
    snprintf(message, sizeof message, "fpemu: %s: %s", what, why->argument ? why->message : fpemu_status_text(status));
    return fail(frame, status == FPEMU_ERROR_UNSUPPORTED ? XLA_UNIMPLEMENTED : XLA_INVALID_ARGUMENT, message);
}

static xla_error *refuse(const xla_frame *frame, const char *what, fpemu_status status)
{
    const fpemu_why none = {0};
    return refuse_for(frame, what, status, &none);
}

/* The attribute of that name and kind; NULL where there is none. */
static const void *attribute(const xla_frame *frame, const char *name, int kind)
{
    const xla_attributes *all = &frame->attributes;
    for (int64_t i = 0; i < all->count; i++)
        if (all->kinds[i] == kind && all->names[i]->length == strlen(name) &&
            memcmp(all->names[i]->data, name, all->names[i]->length) == 0)
            return all->items[i];
    return NULL;
}

/* 0 where there is no such attribute. */
static int64_t integer(const xla_frame *frame, const char *name)
{
    const xla_scalar *scalar = attribute(frame, name, XLA_ATTRIBUTE_SCALAR);
    return scalar && scalar->type == XLA_S64 ? *(const int64_t *)scalar->value : 0;
}

/* An array of `length` numbers of 64 bits; NULL where there is no such attribute. */
static const int64_t *integers(const xla_frame *frame, const char *name, size_t length)
{
    const xla_array *array = attribute(frame, name, XLA_ATTRIBUTE_ARRAY);
    return array && array->type == XLA_S64 && array->length == length ? array->data : NULL;
}

/* Copies a text, zero-terminated; the empty text where there is none, or one too long to be read, or a zero inside. */
static void text(const xla_frame *frame, const char *name, char to[TEXT_SIZE])
{
    const xla_bytes *bytes = attribute(frame, name, XLA_ATTRIBUTE_STRING);
    const size_t fitting = bytes && bytes->length < TEXT_SIZE ? bytes->length : 0;
    const size_t length = fitting && !memchr(bytes->data, 0, fitting) ? fitting : 0;
    if (length)
        memcpy(to, bytes->data, length);
    to[length] = 0;
}

/* ------------------------------------------------------------------------------------------------- the call */

/* One array of a call: where the part of an example lies. */
typedef struct array {
    const xla_buffer *buffer;
    int64_t rank;   /* of one example */
    uint64_t bytes; /* of one example */
    uint64_t count; /* its elements */
} array;

typedef struct call {
    const xla_frame *frame;
    fpemu_format format;
    fpemu_rounding rounding; /* its stream is set by `seek` */
    int64_t dimensions;      /* of jax.vmap */
    uint64_t examples;
    const int64_t *sizes; /* of the dimensions of jax.vmap */
    int64_t operands;
    array operand[MOST_OPERANDS];
    array result[2];
} call;

static uint64_t element_bytes(int type)
{
    switch (type) {
    case XLA_U8: return 1;
    case XLA_U16:
    case XLA_F16:
    case XLA_BF16: return 2;
    case XLA_U32:
    case XLA_F32: return 4;
    default: return 8;
    }
}

static array describe(const xla_buffer *buffer, int64_t rank)
{
    array a = {buffer, rank, 0, 1};
    for (int64_t i = buffer->rank - rank; i < buffer->rank; i++)
        a.count *= (uint64_t)buffer->sizes[i];
    a.bytes = a.count * element_bytes(buffer->type);
    return a;
}

/* Where the part of example number `example` begins. */
static void *part(const call *c, const array *a, uint64_t example)
{
    uint64_t step = 1, place = 0;
    for (int64_t i = c->dimensions - 1; i >= 0; i--) {
        const uint64_t size = (uint64_t)c->sizes[i];
        if (a->buffer->sizes[i] != 1) {
            place += example % size * step;
            step *= size;
        }
        example /= size;
    }
    return a->count && a->buffer->data ? (char *)a->buffer->data + place * a->bytes : a->buffer->data;
}

/* The minor version that handlers say they were written for: what we use is the same in all, but some jaxlibs take only
 * handlers of their own. Set once, before any is registered. */
static int minor_version = XLA_MINOR;

/* Takes the version of the jaxlib that is there; 0 if it is one that these handlers do not speak. */
EXPORT int fpemu_jax_speak(int major, int minor)
{
    if (major != XLA_MAJOR)
        return 0;
    minor_version = minor;
    return 1;
}

/* Answers XLA's question for the version, and says whether that was all. */
static bool answered(const xla_frame *frame)
{
    xla_metadata *metadata;
    const xla_version version = {sizeof version, NULL, XLA_MAJOR, minor_version};
    if (!frame->extensions || frame->extensions->type != XLA_EXTENSION_METADATA)
        return false;
    metadata = ((xla_metadata_extension *)frame->extensions)->metadata;
    metadata->version = version;
    metadata->traits = 0;
    return true;
}

/* The fields of a rounding that are fixed: mode, overflow, nan, variant, bits, generator, compat. */
static void read_rounding(call *c)
{
    const int64_t *fields = integers(c->frame, "rounding", 7);
    for (int i = 0; fields && i < 7; i++)
        ((uint8_t *)&c->rounding)[i] = (uint8_t)fields[i];
}

/* Fills *c from a frame with `operands` arrays in and `results` out, of the given ranks for one example. False where that
 * is all that was asked, or with *error. */
static bool begin(call *c, const xla_frame *frame, int64_t operands, const int64_t *operand_ranks, int64_t results,
                  const int64_t *result_ranks, xla_error **error)
{
    char spec[TEXT_SIZE];
    *error = NULL;
    if (answered(frame))
        return false;
    if (frame->arguments.count != operands || frame->results.count != results || frame->stage != XLA_STAGE_EXECUTE) {
        *error =
            fail(frame, XLA_INVALID_ARGUMENT, "fpemu: a call with another number of arrays than its handler takes");
        return false;
    }
    *c = (call){.frame = frame, .examples = 1, .operands = operands};
    for (int64_t i = 0; i < operands; i++)
        c->operand[i] = describe(frame->arguments.items[i], operand_ranks[i]);
    for (int64_t i = 0; i < results; i++)
        c->result[i] = describe(frame->results.items[i], result_ranks[i]);
    c->dimensions = c->result[0].buffer->rank - result_ranks[0];
    c->sizes = c->result[0].buffer->sizes;
    for (int64_t i = 0; i < operands && !*error; i++)
        if (c->operand[i].buffer->rank != operand_ranks[i] + c->dimensions)
            *error =
                fail(frame, XLA_INVALID_ARGUMENT, "fpemu: arrays of a call have other ranks than its handler takes");
    for (int64_t i = 0; i < c->dimensions; i++)
        c->examples *= (uint64_t)c->sizes[i];
    read_rounding(c);
    if (!*error && attribute(frame, "format", XLA_ATTRIBUTE_STRING)) {
        text(frame, "format", spec);
        *error = refuse(frame, spec, fpemu_format_parse(spec, &c->format, NULL));
    }
    return !*error;
}

static bool stochastic(const call *c)
{
    return FPEMU_DRAWS(&c->format, &c->rounding);
}

static uint64_t word64(const uint32_t *halves)
{
    return halves[0] | (uint64_t)halves[1] << 32;
}

/* The rounding at the place in the random stream that the words of `state` tell. */
static fpemu_rounding seek(const call *c, const array *state, uint64_t example)
{
    const uint32_t *words = part(c, state, example);
    fpemu_rounding rounding = c->rounding;
    rounding.seed = word64(words);
    rounding.stream = word64(words + 2);
    rounding.offset = word64(words + 4) + word64(words + 6);
    return rounding;
}

/* ------------------------------------------------------------------------------------------------- counters */

/* Words of counters are a fpemu_stats and after it the counts of its two histograms, 64 bits each. XLA's buffers begin
 * at multiples of 16 bytes or more, and every example has an even number of words: histograms are counted in place. */
typedef struct counters {
    fpemu_stats stats;
    char *words;
} counters;

static xla_error *open_counters(counters *n, const call *c, const array *from, const array *to, uint64_t example)
{
    const int64_t *request = integers(c->frame, "request", 5);
    const uint64_t needed = STATS_WORDS + (request ? 2 * (uint64_t)(request[2] + request[4]) : 0);
    if (!request || from->count != needed || to->count != needed)
        return fail(c->frame, XLA_INVALID_ARGUMENT, "fpemu: counters of another size than their request");
    n->words = part(c, to, example);
    memcpy(n->words, part(c, from, example), from->bytes);
    memcpy(&n->stats, n->words, sizeof n->stats);
    n->stats.request = (fpemu_stats_request){.want = (uint32_t)request[0],
                                             .histogram_first = (int32_t)request[1],
                                             .histogram_length = (uint32_t)request[2],
                                             .scale_first = (int32_t)request[3],
                                             .scale_length = (uint32_t)request[4]};
    if (request[2])
        n->stats.request.histogram = (uint64_t *)(void *)(n->words + sizeof n->stats);
    if (request[4])
        n->stats.request.scale_histogram = (uint64_t *)(void *)(n->words + sizeof n->stats) + request[2];
    return NULL;
}

/* Pointers mean nothing to whoever reads the words. */
static void close_counters(counters *n)
{
    n->stats.request.histogram_word = 0;
    n->stats.request.scale_histogram_word = 0;
    memcpy(n->words, &n->stats, sizeof n->stats);
}

/* --------------------------------------------------------------------------------------- calls by type */

/* The type of an array's elements; 0, which the library refuses, for what is none of its types. */
static fpemu_type type_of(const array *a)
{
    switch (a->buffer->type) {
    case XLA_F64: return FPEMU_TYPE_F64;
    case XLA_F32: return FPEMU_TYPE_F32;
    case XLA_F16: return FPEMU_TYPE_F16;
    case XLA_BF16: return FPEMU_TYPE_BF16;
    default: return (fpemu_type)0;
    }
}

static fpemu_status quantize_array(const call *c, const fpemu_rounding *rounding, const fpemu_shape *shape, uint64_t n,
                                   const void *x, void *y, fpemu_stats *stats)
{
    const fpemu_type type = type_of(&c->operand[0]);
    return c->format.scaling == FPEMU_SCALING_NONE
               ? fpemu_quantize(&c->format, rounding, type, n, x, y, stats)
               : fpemu_quantize_tensor(&c->format, rounding, type, shape, x, y, stats);
}

/* --------------------------------------------------------------------------- pieces of a tensor of many devices */

/* Where an example lies in a larger tensor of the same rank: `global` are that one's sizes, `starts` the first index
 * along each dimension. */
typedef struct place {
    const int64_t *local, *global;
    const uint32_t *starts;
    int64_t rank;
    int64_t run;  /* the first dimension from which on the piece is one run of the larger tensor's elements */
    int64_t axis; /* of blocks */
} place;

static bool cut(const place *p, int64_t dimension)
{
    return p->local[dimension] != p->global[dimension];
}

/* Whether the piece begins and ends along `dimension` where blocks of `length` do. */
static bool at_blocks(const place *p, int64_t dimension, uint64_t length)
{
    const uint64_t first = p->starts[dimension], past = first + (uint64_t)p->local[dimension];
    return first % length == 0 && (past % length == 0 || past == (uint64_t)p->global[dimension]);
}

static bool needs_range(const fpemu_format *f)
{
    const fpemu_shape one = fpemu_shape_vector(1);
    fpemu_layout bytes;
    return !f->outer &&
           (f->block == FPEMU_BLOCK_TENSOR || (!fpemu_packed_layout(f, &one, &bytes) && bytes.tensor_bytes > 0));
}

/* Whether the larger tensor's blocks lie wholly inside or outside the piece. `whole`: scales of the whole tensor come
 * from its measured range. */
static bool holds_blocks(const call *c, const place *p, bool whole)
{
    const fpemu_format *f = &c->format;
    bool any = false;
    if (f->scaling == FPEMU_SCALING_NONE)
        return true;
    for (int64_t i = 0; i < p->rank; i++)
        any = any || cut(p, i);
    if (needs_range(f) && any && !whole)
        return false;
    if (FPEMU_CORRECTED(f) && f->block == FPEMU_BLOCK_TILE && p->axis > 0 && cut(p, p->axis - 1))
        return false;
    switch (f->outer || FPEMU_CORRECTED(f) ? FPEMU_BLOCK_ROW : f->block) {
    case FPEMU_BLOCK_RUN: return at_blocks(p, p->axis, f->block_length);
    case FPEMU_BLOCK_ROW: return !cut(p, p->axis);
    case FPEMU_BLOCK_TILE:
        return at_blocks(p, p->axis, f->block_length) && (p->axis == 0 || at_blocks(p, p->axis - 1, f->block_rows));
    case FPEMU_BLOCK_CHANNEL:
        for (int64_t i = 0; i < p->rank; i++)
            if (i != p->axis && cut(p, i))
                return false;
        return true;
    default: return true;
    }
}

/* Quantises the runs of a piece one by one, each at its place in the random stream. Blocks must lie inside a run. */
static xla_error *quantize_runs(const call *c, const place *p, fpemu_rounding rounding, const fpemu_shape *whole,
                                const char *x, char *y, fpemu_stats *stats)
{
    const uint64_t offset = rounding.offset, size = element_bytes(c->operand[0].buffer->type);
    const int64_t first = c->format.block == FPEMU_BLOCK_TILE ? p->axis - 1 : p->axis;
    uint64_t runs = 1, length = 1, sizes[MOST_DIMENSIONS];
    fpemu_shape shape = {0};
    for (int64_t i = 0; i < p->run; i++)
        runs *= (uint64_t)p->local[i];
    for (int64_t i = p->run; i < p->rank; i++)
        length *= sizes[i - p->run] = (uint64_t)p->local[i];
    if (c->format.scaling != FPEMU_SCALING_NONE) {
        if (runs > 1 &&
            (first < p->run || c->format.block == FPEMU_BLOCK_CHANNEL || c->format.block == FPEMU_BLOCK_TENSOR))
            return fail(c->frame, XLA_UNIMPLEMENTED,
                        "fpemu: stochastic rounding of blocks along a dimension that is not among the contiguous ones "
                        "of a shard; shard the leading dimensions, or quantize before sharding");
        fpemu_shape_of((size_t)(p->rank - p->run), sizes, (int)(p->axis - p->run), &shape);
        shape.whole = whole->whole;
    }
    for (uint64_t r = 0; r < runs; r++, x += length * size, y += length * size) {
        uint64_t index = 0, step = 1, rest = r;
        xla_error *error;
        for (int64_t i = p->rank - 1; i >= 0; i--) {
            uint64_t along = p->starts[i];
            if (i < p->run) {
                along += rest % (uint64_t)p->local[i];
                rest /= (uint64_t)p->local[i];
            }
            index += along * step;
            step *= (uint64_t)p->global[i];
        }
        rounding.offset = offset + index;
        error = refuse(c->frame, "quantize", quantize_array(c, &rounding, &shape, length, x, y, stats));
        if (error)
            return error;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- quantize */

/* Ranges of the pieces of a tensor, taken together. */
static fpemu_range merge_ranges(const char *words, uint64_t pieces)
{
    fpemu_range all = {0};
    for (uint64_t i = 0; i < pieces; i++) {
        fpemu_range r;
        uint64_t low;
        memcpy(&r, words + i * sizeof r, sizeof r);
        if (r.nonzero && (!all.nonzero || r.log2_max > all.log2_max))
            all.log2_max = r.log2_max;
        all.count += r.count;
        all.nonzero += r.nonzero;
        all.nonfinite += r.nonfinite;
        all.amax = r.amax > all.amax ? r.amax : all.amax;
        all.max = r.max > all.max ? r.max : all.max;
        all.min = r.min < all.min ? r.min : all.min;
        low = all.log2_low + r.log2_low;
        all.log2_high += r.log2_high + (low < all.log2_low);
        all.log2_low = low;
    }
    return all;
}

/* x, state, starts (rank numbers, or 0), ranges (pieces x 24 words), counters (or 0 words) -> y, counters. */
EXPORT xla_error *fpemu_jax_quantize(const xla_frame *frame)
{
    const int64_t rank = integer(frame, "rank"), operand_ranks[5] = {rank, 1, 1, 2, 1}, result_ranks[2] = {rank, 1};
    const int64_t *global, *local;
    bool together;
    fpemu_shape shape = fpemu_shape_vector(1);
    uint64_t n;
    call c;
    xla_error *error;
    if (!begin(&c, frame, 5, operand_ranks, 2, result_ranks, &error))
        return error;
    n = c.operand[0].count;
    local = c.operand[0].buffer->sizes + c.dimensions;
    global = integers(frame, "global", (size_t)rank);
    if (rank > 0 && rank <= MOST_DIMENSIONS) {
        uint64_t sizes[MOST_DIMENSIONS];
        for (int64_t i = 0; i < rank; i++)
            sizes[i] = (uint64_t)local[i];
        if ((error = refuse(frame, "axis", fpemu_shape_of((size_t)rank, sizes, (int)integer(frame, "axis"), &shape))))
            return error;
    }
    /* All examples in one call, where that gives the same bits */
    together = c.examples > 1 && c.operand[0].buffer->rank == c.result[0].buffer->rank && !stochastic(&c) &&
               !c.operand[4].count && !global &&
               (c.format.scaling == FPEMU_SCALING_NONE ||
                ((c.format.block == FPEMU_BLOCK_RUN || c.format.block == FPEMU_BLOCK_ROW) && !needs_range(&c.format)));
    for (int64_t i = 0; i < c.dimensions; i++)
        together = together && c.operand[0].buffer->sizes[i] == c.sizes[i];
    if (together) {
        const fpemu_rounding rounding = c.rounding;
        shape.outer *= c.examples;
        return refuse(frame, "quantize",
                      quantize_array(&c, &rounding, &shape, n * c.examples, c.operand[0].buffer->data,
                                     c.result[0].buffer->data, NULL));
    }
    for (uint64_t e = 0; e < c.examples; e++) {
        const void *x = part(&c, &c.operand[0], e);
        void *y = part(&c, &c.result[0], e);
        const fpemu_rounding rounding = seek(&c, &c.operand[1], e);
        fpemu_range whole;
        counters n_of;
        fpemu_stats *stats = NULL;
        if (c.operand[3].count) {
            whole = merge_ranges(part(&c, &c.operand[3], e), c.operand[3].count / RANGE_WORDS);
            shape.whole = &whole;
        }
        if (c.operand[4].count) {
            if ((error = open_counters(&n_of, &c, &c.operand[4], &c.result[1], e)))
                return error;
            stats = &n_of.stats;
        }
        if (global && rank > 0) {
            place p = {local, global, part(&c, &c.operand[2], e), rank, rank - 1, integer(frame, "axis")};
            while (p.run > 0 && !cut(&p, p.run))
                p.run--;
            if (!holds_blocks(&c, &p, c.operand[3].count != 0))
                return fail(frame, XLA_INVALID_ARGUMENT,
                            "fpemu: a shard cuts a block of the format, or its scale belongs to the whole tensor, of "
                            "which no range was given");
            error = stochastic(&c) ? quantize_runs(&c, &p, rounding, &shape, x, y, stats)
                                   : refuse(frame, "quantize", quantize_array(&c, &rounding, &shape, n, x, y, stats));
        } else {
            error = refuse(frame, "quantize", quantize_array(&c, &rounding, &shape, n, x, y, stats));
        }
        if (error)
            return error;
        if (stats)
            close_counters(&n_of);
    }
    return NULL;
}

/* x -> the words of its range. */
EXPORT xla_error *fpemu_jax_measure(const xla_frame *frame)
{
    const int64_t rank = integer(frame, "rank"), result_rank = 1;
    call c;
    xla_error *error;
    if (!begin(&c, frame, 1, &rank, 1, &result_rank, &error))
        return error;
    for (uint64_t e = 0; e < c.examples; e++) {
        fpemu_range range = {0};
        const fpemu_status status =
            fpemu_measure(&c.format, type_of(&c.operand[0]), c.operand[0].count, part(&c, &c.operand[0], e), &range);

        if (status)
            return refuse(frame, "measure", status);
        memcpy(part(&c, &c.result[0], e), &range, sizeof range);
    }
    return NULL;
}

/* x, state -> codes. */
EXPORT xla_error *fpemu_jax_encode(const xla_frame *frame)
{
    const int64_t rank = integer(frame, "rank"), operand_ranks[2] = {rank, 1};
    call c;
    xla_error *error;
    if (!begin(&c, frame, 2, operand_ranks, 1, &rank, &error))
        return error;
    for (uint64_t e = 0; e < c.examples; e++) {
        const fpemu_rounding rounding = seek(&c, &c.operand[1], e);
        const fpemu_status status = fpemu_encode(&c.format, &rounding, type_of(&c.operand[0]), c.operand[0].count,
                                                 part(&c, &c.operand[0], e), part(&c, &c.result[0], e), NULL);

        if (status)
            return refuse(frame, "encode", status);
    }
    return NULL;
}

/* codes -> y. Examples do not matter: there is one for each element of y. */
EXPORT xla_error *fpemu_jax_decode(const xla_frame *frame)
{
    const int64_t rank = 0;
    call c;
    xla_error *error;
    if (!begin(&c, frame, 1, &rank, 1, &rank, &error))
        return error;
    return refuse(frame, "decode",
                  fpemu_decode(&c.format, type_of(&c.result[0]), c.examples, c.operand[0].buffer->data,
                               c.result[0].buffer->data));
}

/* ----------------------------------------------------------------------------------------------- arithmetic */

/* state, one to three operands of one shape -> y. The attribute `operation` is a fpemu_operation, or a fpemu_function
 * past FPEMU_OPERATION_COUNT. */
EXPORT xla_error *fpemu_jax_arith(const xla_frame *frame)
{
    const int64_t rank = integer(frame, "rank"), operation = integer(frame, "operation");
    const int64_t operand_ranks[4] = {1, rank, rank, rank};
    call c;
    xla_error *error;
    if (answered(frame))
        return NULL;
    if (frame->arguments.count < 2 || frame->arguments.count > 4)
        return fail(frame, XLA_INVALID_ARGUMENT, "fpemu: an operation takes one to three operands");
    if (!begin(&c, frame, frame->arguments.count, operand_ranks, 1, &rank, &error))
        return error;
    for (uint64_t e = 0; e < c.examples; e++) {
        const fpemu_rounding rounding = seek(&c, &c.operand[0], e);
        const void *operands[3] = {NULL, NULL, NULL};
        const fpemu_type type = type_of(&c.result[0]);
        void *const y = part(&c, &c.result[0], e);
        fpemu_status status;
        for (int64_t i = 1; i < c.operands; i++)
            operands[i - 1] = part(&c, &c.operand[i], e);
        if (operation < FPEMU_OPERATION_COUNT)
            status = fpemu_arith(&c.format, &rounding, type, (fpemu_operation)operation, c.result[0].count, operands,
                                 NULL, y, NULL);
        else
            status = fpemu_apply(&c.format, &rounding, type, (fpemu_function)(operation - FPEMU_OPERATION_COUNT),
                                 c.result[0].count, operands[0], y, NULL);
        if (status)
            return refuse(frame, "arithmetic", status);
    }
    return NULL;
}

/* state, a (products or 1, m, k), b (products or 1, k, n), counters (or 0 words) -> c (products, m, n), counters. */
EXPORT xla_error *fpemu_jax_matmul(const xla_frame *frame)
{
    const int64_t operand_ranks[4] = {1, 3, 3, 1}, result_ranks[2] = {3, 1};
    const int64_t *a, *b;
    fpemu_gemm_spec spec;
    fpemu_target *const targets[] = {&spec.a, &spec.b, &spec.product, &spec.out, &spec.sum.inner, &spec.sum.outer};
    fpemu_gemm_shape shape = {0};
    char model[TEXT_SIZE];
    call c;
    xla_error *error;
    if (!begin(&c, frame, 4, operand_ranks, 2, result_ranks, &error))
        return error;
    text(frame, "spec", model);
    if ((error = refuse(frame, model, fpemu_gemm_parse(model, &spec, NULL))))
        return error;
    a = c.operand[1].buffer->sizes + c.dimensions;
    b = c.operand[2].buffer->sizes + c.dimensions;
    shape.m = (uint64_t)a[1];
    shape.k = (uint64_t)a[2];
    shape.n = (uint64_t)b[2];
    shape.batch = (uint64_t)(c.result[0].buffer->sizes + c.dimensions)[0];
    shape.stride_a = a[0] > 1 ? shape.m * shape.k : 0;
    shape.stride_b = b[0] > 1 ? shape.k * shape.n : 0;
    shape.stride_c = shape.m * shape.n;
    for (uint64_t e = 0; e < c.examples && c.result[0].count; e++) {
        const fpemu_rounding at = seek(&c, &c.operand[0], e);
        counters n;
        fpemu_stats *stats = NULL;
        fpemu_status status;
        for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
            if (targets[i]->format.kind != FPEMU_KIND_INVALID) {
                targets[i]->rounding.seed = at.seed;
                targets[i]->rounding.stream = at.stream;
                targets[i]->rounding.offset = at.offset;
            }
        if (c.operand[3].count) {
            if ((error = open_counters(&n, &c, &c.operand[3], &c.result[1], e)))
                return error;
            stats = &n.stats;
        }
        status = fpemu_gemm(&spec, &shape, type_of(&c.result[0]), 1, part(&c, &c.operand[1], e),
                            part(&c, &c.operand[2], e), 0, part(&c, &c.result[0], e), stats);
        if (status) {
            fpemu_why why;
            fpemu_gemm_check(&spec, type_of(&c.result[0]), &why);
            return refuse_for(frame, model, status, &why);
        }
        if (stats)
            close_counters(&n);
    }
    return NULL;
}

/* What fpemu_check_use says to the text of a format and the fixed fields of a rounding, before anything is compiled. */
EXPORT int fpemu_jax_check(const char *spec, const uint8_t fields[7], int type, int use, fpemu_why *why)
{
    fpemu_format format;
    fpemu_rounding rounding = {0};
    memcpy(&rounding, fields, 7);
    if (fpemu_format_parse(spec, &format, NULL))
        return FPEMU_ERROR_SPEC;
    return (int)fpemu_check_use(&format, &rounding, (fpemu_type)type, use, why);
}

/* Whether a format has a scale that belongs to the whole tensor, so that its parts need the range of all; 0 for a text
 * that is no format. */
EXPORT int fpemu_jax_needs_range(const char *spec)
{
    fpemu_format format;
    return fpemu_format_parse(spec, &format, NULL) == FPEMU_OK && needs_range(&format);
}
