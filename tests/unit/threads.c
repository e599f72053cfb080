/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c - the library has no state: threads that call it at once, from a process's first call on, get what each
 * call gives alone. Under the thread sanitizer (make check-threads) no two of them touch the same memory either.
 *
 *   threads [alone]     alone: the same calls from one thread, which leaves those to watch that OpenMP starts
 */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include "../common.h"
#include <pthread.h>

#include "fpemu.h"

/* Threads, and elements of the arrays that all of them read: more than one thread of OpenMP takes. */
enum { THREADS = 4, N = 150000, SIDE = 96 };

static float numbers[N];
static pthread_barrier_t start;

typedef struct memory {
    float y[N];
    unsigned char bytes[2 * N];
    fpemu_stats stats;
    uint64_t histogram[64];
} memory;

typedef struct task {
    int first;       /* the kind of call that it begins with */
    uint64_t digest; /* of everything that all kinds gave */
    int refused;     /* calls that did not succeed */
} task;

enum { ELEMENTS, STOCHASTIC, CODES, BLOCKS, PACKED, PRODUCT, OPERATION, FUNCTION, TEXT, KINDS };

/* One kind of call, and a digest of what it wrote. */
static uint64_t call(int kind, memory *m, int *refused)
{
    fpemu_format f = {0};
    fpemu_rounding nearest = fpemu_rounding_nearest(), random = fpemu_rounding_stochastic(7, 3);
    fpemu_shape shape = fpemu_shape_vector(N);
    uint64_t digest = UINT64_C(0xcbf29ce484222325) + (uint64_t)kind;
    const float *const operands[2] = {numbers, numbers + SIDE};

    memset(m, 0, sizeof *m);
    m->stats.request.want = FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM;
    m->stats.request.histogram_first = -32;
    m->stats.request.histogram_length = 64;
    m->stats.request.histogram = m->histogram;
    switch (kind) {
    case ELEMENTS:
        *refused += fpemu_format_parse("e4m3fn:saturate", &f, NULL) != FPEMU_OK;
        *refused += fpemu_quantize_f32(&f, &nearest, N, numbers, m->y, &m->stats) != FPEMU_OK;
        break;
    case STOCHASTIC:
        *refused += fpemu_format_parse("bf16", &f, NULL) != FPEMU_OK;
        *refused += fpemu_quantize_f32(&f, &random, N, numbers, m->y, &m->stats) != FPEMU_OK;
        break;
    case CODES:
        *refused += fpemu_format_parse("posit(8,1)", &f, NULL) != FPEMU_OK;
        *refused += fpemu_encode_f32(&f, &nearest, N, numbers, m->bytes, &m->stats) != FPEMU_OK;
        *refused += fpemu_decode_f32(&f, N, m->bytes, m->y) != FPEMU_OK;
        break;
    case BLOCKS: /* with a scale of the whole tensor, which all parts measure first */
        *refused += fpemu_format_parse("nvfp4", &f, NULL) != FPEMU_OK;
        *refused += fpemu_quantize_tensor_f32(&f, &random, &shape, numbers, m->y, &m->stats) != FPEMU_OK;
        break;
    case PACKED:
        *refused += fpemu_format_parse("mxfp6_e3m2", &f, NULL) != FPEMU_OK;
        *refused += fpemu_pack_f32(&f, &nearest, &shape, numbers, m->bytes, &m->stats) != FPEMU_OK;
        *refused += fpemu_unpack_f32(&f, &shape, m->bytes, m->y) != FPEMU_OK;
        break;
    case PRODUCT: {
        fpemu_gemm_spec spec;
        const fpemu_gemm_shape square = {.m = SIDE, .n = SIDE, .k = SIDE};
        m->stats.request = (fpemu_stats_request){0};
        *refused += fpemu_gemm_parse("chunk(32,fp(6,9,0)/sr); ab=e5m2", &spec, NULL) != FPEMU_OK;
        *refused += fpemu_gemm_f32(&spec, &square, 1, numbers, numbers + SIDE, 0, m->y, &m->stats) != FPEMU_OK;
        break;
    }
    case OPERATION:
        *refused += fpemu_format_parse("fp16", &f, NULL) != FPEMU_OK;
        *refused +=
            fpemu_arith_f32(&f, &nearest, FPEMU_OPERATION_DIV, N - SIDE, operands, NULL, m->y, &m->stats) != FPEMU_OK;
        break;
    case FUNCTION:
        *refused += fpemu_format_parse("bf16", &f, NULL) != FPEMU_OK;
        *refused += fpemu_quantize_f32(&f, &nearest, N / 8, numbers, m->y, NULL) != FPEMU_OK;
        *refused += fpemu_apply_f32(&f, &nearest, FPEMU_FUNCTION_TANH, N / 8, m->y, m->y, &m->stats) != FPEMU_OK;
        break;
    default:
        for (unsigned name = 1; name < 40; name++) {
            char text[1024];
            if (fpemu_format_named((fpemu_name)name, &f) != FPEMU_OK ||
                fpemu_format_print(&f, text, sizeof text) != FPEMU_OK)
                continue;
            *refused += fpemu_format_parse(text, &f, NULL) != FPEMU_OK;
            digest = fnv(digest, text, strlen(text));
        }
        break;
    }
    digest = fnv(digest, m->y, sizeof m->y);
    digest = fnv(digest, m->bytes, sizeof m->bytes);
    digest = fnv(digest, m->histogram, sizeof m->histogram);
    m->stats.request = (fpemu_stats_request){0};
    return fnv(digest, &m->stats, sizeof m->stats);
}

/* All kinds, from another one on in each thread; the digest does not depend on the order. */
static void *run(void *argument)
{
    task *t = argument;
    memory *m = malloc(sizeof *m);
    if (!m) {
        t->refused++;
        (void)pthread_barrier_wait(&start);
        return NULL;
    }
    (void)pthread_barrier_wait(&start);
    for (int i = 0; i < KINDS; i++)
        t->digest += call((t->first + i) % KINDS, m, &t->refused);
    free(m);
    return NULL;
}

int main(int argc, char **argv)
{
    const int threads_used = argc > 1 && strcmp(argv[1], "alone") == 0 ? 0 : THREADS;
    task tasks[THREADS + 1] = {{0}};
    pthread_t threads[THREADS];
    uint32_t state = 1;

    for (size_t i = 0; i < N; i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        numbers[i] = (float)((int32_t)(state >> 8) - (1 << 23)) / 4096.f;
    }

    /* two by two the same first call, which chooses the instruction set */
    (void)pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < threads_used; i++) {
        tasks[i].first = i / 2 * 4;
        if (pthread_create(&threads[i], NULL, run, &tasks[i])) {
            printf("no threads\n");
            return 77;
        }
    }
    for (int i = 0; i < threads_used; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_barrier_destroy(&start);

    (void)pthread_barrier_init(&start, NULL, 1);
    (void)run(&tasks[THREADS]);
    (void)pthread_barrier_destroy(&start);

    int wrong = 0;
    for (int i = THREADS - threads_used; i <= THREADS; i++)
        if (tasks[i].refused || tasks[i].digest != tasks[THREADS].digest) {
            printf("thread %d: %d calls refused, digest %016llx, alone %016llx\n", i, tasks[i].refused,
                   (unsigned long long)tasks[i].digest, (unsigned long long)tasks[THREADS].digest);
            wrong = 1;
        }
    return wrong;
}
