/* SPDX-License-Identifier: BSD-2-Clause */
/* stream_tasks.h - calls of libfpemu_cuda for streams.c: a list of tasks, each a verb and what it is given, by the device
 * and by libfpemu. Their arrays lie in an arena, of which there is one on the host and one for each stream: the host's is
 * filled, copied to the device, and worked on by both sides. */
#ifndef TEST_STREAM_TASKS_H
#define TEST_STREAM_TASKS_H

#include <fpemu_cuda.h>

enum { F32, F64, BF16, F16 };
enum { RNE = FPEMU_MODE_RNE, SR = FPEMU_MODE_SR };
extern const size_t element[4]; /* bytes of each */
extern const fpemu_type types[4];

/* Elements of an array, room for one that begins late included; bytes of an input, an output and the scratch. */
enum { MOST = 5003, LATE = 8, SPAN = 8 * 5056, SLOT = 4 * SPAN, SCRATCH = 1 << 17, RANGE = 256 };
/* Inputs: three of each type, the third of at most 16 significant bits; bytes; scales. */
enum { CODES = 12, SCALES32, SCALES64, INPUTS };
enum { BINS = 50, TABLE = 700 };

typedef enum verb {
    QUANTIZE,
    ENCODE,
    DECODE,
    TENSOR,
    PACK,
    UNPACK,
    PACK_BLOCKS,
    UNPACK_BLOCKS,
    SWIZZLE,
    UNSWIZZLE,
    MEASURE,
    ARITH,
    ARITH_SCALED,
    APPLY,
    COMPARE,
    COMPARE_SCALED,
    GEMM,
    GEMM_SCALED,
    GEMV,
    DOT,
    CHAIN
} verb;

/* What a task has beside its verb. */
enum {
    COUNTED = 1,
    IN_PLACE = 2,
    ACROSS = 4,    /* blocks along an axis that is not the last */
    GAPS = 8,      /* strides, or leading dimensions */
    SINGLE = 16,   /* an operand is one number */
    TRANSPOSE = 32 /* and columns first */
};

typedef struct task {
    const char *name;
    verb verb;
    int type;
    const char *spec; /* a format, or a model of sums; "table", "blocks of table": of TABLE values */
    int mode, with;
    int work; /* operation, function or relation */
} task;

enum { TASKS = 106 };
extern const task tasks[TASKS];

/* Where a list of tasks works. late: elements by which arrays begin after an address that suits vectors. */
typedef struct arena {
    unsigned char *in, *out, *scratch, *stats, *range; /* INPUTS spans; of each task a slot */
    size_t n, late_in, late_out;
} arena;

void *input(const arena *a, int type, int which);
/* The first or the second output of a task, of elements of `size` bytes. */
void *output(const arena *a, int k, int second, size_t size);
/* NULL where the task has no counters. */
fpemu_cuda_stats *stats_of(const arena *a, int k);
fpemu_cuda_range *range_of(const arena *a, int k);
uint32_t want_of(const task *t);
int has_range(const task *t);

/* What a call is given that is the host's: read at launch, and no more. */
typedef struct things {
    fpemu_format f;
    fpemu_rounding r;
    fpemu_shape s;
    fpemu_gemm_spec spec;
    fpemu_gemm_shape product;
    const void *operands[3];
    size_t steps[3];
    fpemu_operand_scales scales[3];
    float table[TABLE];
    uint64_t blocks, first, count; /* of pack_blocks */
    uint64_t scratch;              /* bytes */
} things;

things *prepare(int k, const arena *a);
/* Whatever still looks at it shall not find what was there. */
void destroy(things *h);

/* Enqueues a task: its counters are cleared first. */
fpemu_cuda_status on_device(int k, const things *h, const arena *a, fpemu_cuda_stream q);

/* Counters, and room for their histograms. */
typedef struct counted {
    fpemu_stats s;
    uint64_t bins[2][BINS];
} counted;

void begin_counters(counted *c, uint32_t want);
int same_counters(const counted *p, const counted *q);

/* Contents of an arena, and what the tasks make of them. */
typedef struct answer {
    arena host; /* `out` is the result */
    unsigned char *before;
    counted counters[TASKS];
    fpemu_range range[TASKS];
} answer;

enum { IN_BYTES = INPUTS * SPAN, OUT_BYTES = TASKS * SLOT };

/* New contents for lists of n elements that begin late, and what is right for them. */
void judge(answer *w, size_t n, size_t late_in, size_t late_out);

#endif
