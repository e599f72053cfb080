/* SPDX-License-Identifier: BSD-2-Clause */
/* streams.c - libfpemu_cuda as a program of CUDA uses it, with libfpemu as the judge of every bit and counter:
 *
 *   every verb that only enqueues, captured into graphs, in every mode of capture, before its kernel was ever launched
 *   and after; replays read what then lies in device memory, and nothing of the host's; what waits is refused in a
 *   capture
 *   several streams at once, and several threads of the host; counters and ranges shared by streams
 *   arrays that begin at any element, of odd lengths; tensors with gaps; operands with leading dimensions
 *   an error that CUDA told the caller before stays
 *   streams --memory: hardly any device memory is left; alone, as it takes what others on the device may want
 *
 * The calls are the tasks of stream_tasks.h. */
#include "stream_tasks.h"

#include "../common.h"
#include "must.h"
#include <pthread.h>

enum { STREAMS = 8, THREADS_AT_ONCE = 4 };

static unsigned long failures, comparisons;
static unsigned char stats_room[1 << 20];

static void expect(int right, const char *what, const char *of, int number)
{
    comparisons++;
    if (!right && failures++ < 40)
        printf("FAIL %s, %s: %d\n", what, of, number);
}

/* ------------------------------------------------------------------------------------- on the device */

static arena new_arena(void)
{
    arena a = {.n = MOST};
    const size_t stats = (fpemu_cuda_stats_size() + 255) / 256 * 256;
    must(cudaMalloc((void **)&a.in, IN_BYTES), "memory");
    must(cudaMalloc((void **)&a.out, OUT_BYTES), "memory");
    must(cudaMalloc((void **)&a.scratch, (size_t)TASKS * SCRATCH), "memory");
    must(cudaMalloc((void **)&a.stats, TASKS * stats), "memory");
    must(cudaMalloc((void **)&a.range, TASKS * RANGE), "memory");
    if (fpemu_cuda_range_size() > RANGE || fpemu_cuda_stats_size() > sizeof stats_room) {
        fprintf(stderr, "ranges or counters have grown\n");
        exit(1);
    }
    return a;
}

static void free_arena(arena *a)
{
    must(cudaFree(a->in), "free");
    must(cudaFree(a->out), "free");
    must(cudaFree(a->scratch), "free");
    must(cudaFree(a->stats), "free");
    must(cudaFree(a->range), "free");
}

static cudaStream_t new_stream(void)
{
    cudaStream_t stream;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    return stream;
}

/* Waits: what was on its way from the host has then arrived. */
static void upload(arena *a, const answer *w, cudaStream_t stream)
{
    a->n = w->host.n;
    a->late_in = w->host.late_in;
    a->late_out = w->host.late_out;
    must(cudaMemcpyAsync(a->in, w->host.in, IN_BYTES, cudaMemcpyHostToDevice, stream), "copy");
    must(cudaMemcpyAsync(a->out, w->before, OUT_BYTES, cudaMemcpyHostToDevice, stream), "copy");
    must(cudaMemsetAsync(a->scratch, 0xa5, (size_t)TASKS * SCRATCH, stream), "fill");
    must(cudaStreamSynchronize(stream), "copy");
}

static unsigned char got[OUT_BYTES];
static counted seen;

/* done: NULL, or which tasks there were. */
static void compare(const char *what, const arena *a, const answer *w, cudaStream_t stream, const unsigned char *done)
{
    const char *text = NULL;
    const fpemu_cuda_status finished = fpemu_cuda_finish(stream, &text);
    expect(finished == FPEMU_CUDA_OK, what, text ? text : "no words", (int)finished);
    must(cudaMemcpyAsync(got, a->out, OUT_BYTES, cudaMemcpyDeviceToHost, stream), "copy back");
    must(cudaStreamSynchronize(stream), "copy back");
    for (int k = 0; k < TASKS; k++) {
        char of[200];
        size_t at = 0;
        if (done && !done[k])
            continue;
        (void)snprintf(of, sizeof of, "%s %s n=%zu late %zu %zu", tasks[k].name, tasks[k].spec, a->n, a->late_in,
                       a->late_out);
        const unsigned char *const right = w->host.out + (size_t)k * SLOT, *const mine = got + (size_t)k * SLOT;
        while (at < SLOT && right[at] == mine[at])
            at++;
        expect(at == SLOT, what, of, (int)at);
        if (tasks[k].with & COUNTED) {
            begin_counters(&seen, want_of(&tasks[k]));
            const fpemu_cuda_status status = fpemu_cuda_stats_read(stats_of(a, k), stats_room, &seen.s, stream);
            expect(status == FPEMU_CUDA_OK && same_counters(&seen, &w->counters[k]), what, of, (int)status);
        }
        if (has_range(&tasks[k])) {
            fpemu_range range;
            const fpemu_cuda_status status = fpemu_cuda_range_read(range_of(a, k), &range, stream);
            expect(status == FPEMU_CUDA_OK && memcmp(&range, &w->range[k], sizeof range) == 0, what, of, (int)status);
        }
    }
}

/* Enqueues one task as a program does whose descriptors live no longer than the call. */
static fpemu_cuda_status enqueue(int k, const arena *a, cudaStream_t stream)
{
    things *const h = prepare(k, a);
    const fpemu_cuda_status status = on_device(k, h, a, stream);
    destroy(h);
    return status;
}

static void enqueue_all(const char *what, const arena *a, cudaStream_t stream)
{
    for (int k = 0; k < TASKS; k++) {
        const fpemu_cuda_status status = enqueue(k, a, stream);
        expect(status == FPEMU_CUDA_OK, what, tasks[k].name, (int)status);
    }
}

/* ------------------------------------------------------------------------------------- graphs */

/* A graph of tasks first to last; NULL where that failed, which is told. */
static cudaGraphExec_t capture(const char *what, int first, int last, const arena *a, cudaStream_t stream,
                               enum cudaStreamCaptureMode mode)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    int right = 1;
    must(cudaStreamBeginCapture(stream, mode), "capture");
    for (int k = first; k <= last; k++) {
        const fpemu_cuda_status status = enqueue(k, a, stream);
        expect(status == FPEMU_CUDA_OK, what, tasks[k].name, (int)status);
        right &= status == FPEMU_CUDA_OK;
    }
    cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess && right)
        error = cudaGraphInstantiateWithFlags(&exec, graph, 0);
    expect(error == cudaSuccess && right, what, cudaGetErrorString(error), (int)error);
    if (graph)
        must(cudaGraphDestroy(graph), "graph");
    (void)cudaGetLastError();
    return error == cudaSuccess && right ? exec : NULL;
}

/* each: a graph for each task, else one for all. Launched for several contents of the same memory. */
static void check_graphs(const char *what, int each, enum cudaStreamCaptureMode mode, arena *a, const answer *rounds,
                         cudaStream_t stream)
{
    cudaGraphExec_t exec[TASKS];
    unsigned char done[TASKS];
    const int graphs = each ? TASKS : 1;
    upload(a, &rounds[0], stream);
    for (int k = 0; k < graphs; k++)
        exec[k] = capture(what, k, each ? k : TASKS - 1, a, stream, mode);
    for (int k = 0; k < TASKS; k++)
        done[k] = exec[each ? k : 0] != NULL;
    for (int round = 0; round < 3; round++) {
        upload(a, &rounds[(round + 1) % 2], stream);
        for (int k = 0; k < graphs; k++)
            if (exec[k])
                must(cudaGraphLaunch(exec[k], stream), "launch of a graph");
        compare(what, a, &rounds[(round + 1) % 2], stream, done);
    }
    for (int k = 0; k < graphs; k++)
        if (exec[k])
            must(cudaGraphExecDestroy(exec[k]), "graph");
}

/* What waits cannot be captured: it is refused, the capture is lost, all else goes on. */
static void check_waiting(arena *a, const answer *w, cudaStream_t stream)
{
    static const char *const names[] = {"stats_read", "range_read", "finish"};
    const char *text;
    fpemu_range range;
    int counts = 0, measures = 0;
    while (!(tasks[counts].with & COUNTED))
        counts++;
    while (tasks[measures].verb != MEASURE)
        measures++;
    for (int which = 0; which < 3; which++) {
        cudaGraph_t graph = NULL;
        begin_counters(&seen, want_of(&tasks[counts]));
        must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        const fpemu_cuda_status status = which == 0
                                             ? fpemu_cuda_stats_read(stats_of(a, counts), stats_room, &seen.s, stream)
                                         : which == 1 ? fpemu_cuda_range_read(range_of(a, measures), &range, stream)
                                                      : fpemu_cuda_finish(stream, &text);
        expect(status != FPEMU_CUDA_OK, "in a capture", names[which], (int)status);
        printf("in a capture %s says: %s\n", names[which], fpemu_cuda_status_text(status));
        (void)cudaStreamEndCapture(stream, &graph);
        if (graph)
            (void)cudaGraphDestroy(graph);
        (void)cudaGetLastError();
    }
    upload(a, w, stream);
    enqueue_all("after lost captures", a, stream);
    compare("after lost captures", a, w, stream, NULL);
}

/* ------------------------------------------------------------------------------------- streams and threads */

static void check_streams(const answer *rounds)
{
    arena a[STREAMS];
    cudaStream_t stream[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        a[i] = new_arena();
        stream[i] = new_stream();
        upload(&a[i], &rounds[i % 2], stream[i]);
    }
    for (int k = 0; k < TASKS; k++)
        for (int i = 0; i < STREAMS; i++) {
            const fpemu_cuda_status status = enqueue(k, &a[i], stream[i]);
            expect(status == FPEMU_CUDA_OK, "streams", tasks[k].name, (int)status);
        }
    for (int i = 0; i < STREAMS; i++) {
        compare("streams", &a[i], &rounds[i % 2], stream[i], NULL);
        free_arena(&a[i]);
        must(cudaStreamDestroy(stream[i]), "stream");
    }
}

typedef struct at_once {
    arena a;
    cudaStream_t stream;
    const answer *w;
    int wrong; /* statuses */
} at_once;

/* A thread uploads, works through the list twice, forwards and backwards, and waits. */
static void *work(void *given)
{
    at_once *const t = given;
    for (int pass = 0; pass < 2; pass++) {
        upload(&t->a, t->w, t->stream);
        for (int k = 0; k < TASKS; k++)
            t->wrong += enqueue(pass ? k : TASKS - 1 - k, &t->a, t->stream) != FPEMU_CUDA_OK;
        t->wrong += fpemu_cuda_finish(t->stream, NULL) != FPEMU_CUDA_OK;
    }
    return NULL;
}

static void check_threads(const answer *rounds)
{
    at_once all[THREADS_AT_ONCE];
    pthread_t thread[THREADS_AT_ONCE];
    for (int i = 0; i < THREADS_AT_ONCE; i++) {
        const at_once t = {new_arena(), new_stream(), &rounds[i % 2], 0};
        all[i] = t;
    }
    for (int i = 0; i < THREADS_AT_ONCE; i++)
        if (pthread_create(&thread[i], NULL, work, &all[i])) {
            fprintf(stderr, "no thread\n");
            exit(1);
        }
    for (int i = 0; i < THREADS_AT_ONCE; i++)
        (void)pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS_AT_ONCE; i++) {
        expect(all[i].wrong == 0, "threads", "statuses", all[i].wrong);
        compare("threads", &all[i].a, all[i].w, all[i].stream, NULL);
        free_arena(&all[i].a);
        must(cudaStreamDestroy(all[i].stream), "stream");
    }
}

/* Two streams that count into the same memory at once, as fpemu_cuda(3) allows: nothing is lost. */
static void check_shared(arena *a, const answer *w, cudaStream_t stream)
{
    enum { TIMES = 100 };
    cudaStream_t other = new_stream();
    cudaEvent_t event;
    upload(a, w, stream);
    must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
    for (int k = 0; k < TASKS; k++) {
        const task *const t = &tasks[k];
        counted right;
        fpemu_range range = {0};
        const int sums = t->verb == GEMM && t->with & COUNTED, plain = t->verb == QUANTIZE && t->with == COUNTED;
        if (!sums && !plain && t->verb != MEASURE)
            continue;
        things *const here = prepare(k, &w->host), *const there = prepare(k, a);
        fpemu_cuda_status status = t->verb == MEASURE ? fpemu_cuda_range_clear(range_of(a, k), stream)
                                                      : fpemu_cuda_stats_clear(stats_of(a, k), want_of(t), stream);
        must(cudaEventRecord(event, stream), "event");
        must(cudaStreamWaitEvent(other, event, 0), "event");
        begin_counters(&right, want_of(t));
        for (int i = 0; i < 2 * TIMES && !status; i++) {
            const cudaStream_t q = i % 2 ? other : stream;
            void *const scratch = there->scratch ? a->scratch + (size_t)(k - i % 2) * SCRATCH : NULL;
            void *const y = output(a, k, i % 2, element[t->type]);
            const void *const x = input(a, t->type, i % 2);
            const void *const b = input(a, t->type, 2);
            fpemu_cuda_stats *const s = stats_of(a, k);
            if (t->verb == MEASURE)
                status = fpemu_cuda_measure(&there->f, types[t->type], a->n, x, range_of(a, k), q);
            else if (plain)
                status = fpemu_cuda_quantize(&there->f, &there->r, types[t->type], a->n, x, y, s, q);
            else if (t->type == F64)
                status = fpemu_cuda_gemm_f64(&there->spec, &there->product, 1, x, b, 0, y, scratch, s, q);
            else
                status = fpemu_cuda_gemm_f32(&there->spec, &there->product, 1, x, b, 0, y, scratch, s, q);
        }
        for (int i = 0; i < 2 * TIMES && !status; i++) { /* the same by the library */
            static double y[SPAN];
            const void *const x = input(&w->host, t->type, i % 2), *const b = input(&w->host, t->type, 2);
            if (t->verb == MEASURE)
                (void)fpemu_measure(&here->f, types[t->type], w->host.n, x, &range);
            else if (plain)
                (void)fpemu_quantize(&here->f, &here->r, types[t->type], w->host.n, x, y, &right.s);
            else if (t->type == F64)
                (void)fpemu_gemm_f64(&here->spec, &here->product, 1, x, b, 0, y, &right.s);
            else
                (void)fpemu_gemm_f32(&here->spec, &here->product, 1, x, b, 0, (float *)(void *)y, &right.s);
        }
        must(cudaStreamSynchronize(other), "shared");
        if (!status && t->verb == MEASURE) {
            fpemu_range all;
            status = fpemu_cuda_range_read(range_of(a, k), &all, stream);
            expect(status == FPEMU_CUDA_OK && memcmp(&all, &range, sizeof all) == 0, "a shared range", t->name,
                   (int)status);
        } else if (!status) {
            begin_counters(&seen, want_of(t));
            status = fpemu_cuda_stats_read(stats_of(a, k), stats_room, &seen.s, stream);
            expect(status == FPEMU_CUDA_OK && same_counters(&seen, &right), "shared counters", t->name, (int)status);
        } else
            expect(0, "shared", t->name, (int)status);
        destroy(here);
        destroy(there);
    }
    must(cudaEventDestroy(event), "event");
    must(cudaStreamDestroy(other), "stream");
}

/* ------------------------------------------------------------------------------------- places, errors, memory */

static void check_places(arena *a, answer *w, cudaStream_t stream)
{
    static const size_t lengths[] = {MOST, 1, 1001, 31, 2, 515, 33, 997};
    for (size_t i = 0; i < 2 * LATE; i++) { /* every place of the inputs, beside equal ones and others of the results */
        judge(w, lengths[(i + i / LATE) % LATE], i % LATE, i < LATE ? i : (3 * i + 1) % LATE);
        upload(a, w, stream);
        enqueue_all("places", a, stream);
        compare("places", a, w, stream, NULL);
    }
}

/* An error of the caller's that the caller has not looked at yet is still there after our calls. */
static void check_errors(arena *a, const answer *w, cudaStream_t stream)
{
    static float host[64];
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_format f, none = {0};
    void *never = NULL;
    int everywhere = 0;
    (void)fpemu_format_parse("e4m3fn", &f, NULL);
    must(cudaDeviceGetAttribute(&everywhere, cudaDevAttrPageableMemoryAccess, 0), "attribute");
    upload(a, w, stream);
    float *const x = input(a, F32, 0), *const y = output(a, 0, 1, 4);
    (void)cudaGetLastError();
    const cudaError_t error = cudaMalloc(&never, (size_t)1 << 60);
    expect(error != cudaSuccess && cudaPeekAtLastError() == error, "errors", "an impossible size", (int)error);
    enqueue_all("errors", a, stream);
    expect(cudaPeekAtLastError() == error, "errors", "after calls that went well", (int)cudaPeekAtLastError());
    compare("errors", a, w, stream, NULL);
    expect(cudaPeekAtLastError() == error, "errors", "after calls that wait", (int)cudaPeekAtLastError());
    const struct {
        const char *what;
        fpemu_cuda_status got, right;
    } refused[] = {
        {"no format", fpemu_cuda_quantize_f32(&none, &r, 64, x, y, NULL, stream), FPEMU_CUDA_ERROR_FORMAT},
        {"no array", fpemu_cuda_quantize_f32(&f, &r, 64, NULL, y, NULL, stream), FPEMU_CUDA_ERROR_NULL},
        {"overlap", fpemu_cuda_quantize_f32(&f, &r, 64, x, x + 1, NULL, stream), FPEMU_CUDA_ERROR_OVERLAP},
        {"no relation", fpemu_cuda_compare_f32((fpemu_relation)9, 64, NULL, NULL, (uint8_t *)(void *)y, stream),
         FPEMU_CUDA_ERROR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect(refused[i].got == refused[i].right, "errors", refused[i].what, (int)refused[i].got);
    expect(cudaPeekAtLastError() == error, "errors", "after calls that were refused", (int)cudaPeekAtLastError());
    if (!everywhere) { /* else the device reaches it */
        const fpemu_cuda_status status = fpemu_cuda_quantize_f32(&f, &r, 64, host, y, NULL, stream);
        expect(status == FPEMU_CUDA_ERROR_POINTER, "errors", "memory of the host", (int)status);
        expect(cudaPeekAtLastError() == error, "errors", "after memory of the host", (int)cudaPeekAtLastError());
    }
    expect(cudaGetLastError() == error && cudaGetLastError() == cudaSuccess, "errors", "the caller takes it", 0);
    enqueue_all("errors", a, stream);
    expect(cudaPeekAtLastError() == cudaSuccess, "errors", "none was made", (int)cudaPeekAtLastError());
    must(cudaStreamSynchronize(stream), "errors");
}

/* Nothing of ours has been launched yet, and no memory is left for the code and the stacks of kernels: each call says
 * so or works. With memory again, all work. */
static void check_memory(arena *a, const answer *w, cudaStream_t stream)
{
    enum { PIECES = 4096 };
    static void *piece[PIECES];
    unsigned char done[TASKS];
    size_t room = 0, all = 0;
    int pieces = 0, without = 0;
    upload(a, w, stream);
    must(cudaMemcpyAsync(got, a->out, OUT_BYTES, cudaMemcpyDeviceToHost, stream), "copy");
    must(cudaStreamSynchronize(stream), "copy");
    must(cudaMemGetInfo(&room, &all), "memory");
    for (size_t size = room; size >= (size_t)1 << 20 && pieces < PIECES;)
        if (cudaMalloc(&piece[pieces], size) == cudaSuccess)
            pieces++;
        else {
            (void)cudaGetLastError();
            size /= 2;
        }
    const size_t before = room;
    must(cudaMemGetInfo(&room, &all), "memory");
    for (int k = 0; k < TASKS; k++) {
        const fpemu_cuda_status status = enqueue(k, a, stream);
        const cudaError_t error = cudaPeekAtLastError();
        const fpemu_cuda_status finished = fpemu_cuda_finish(stream, NULL);
        if (status != FPEMU_CUDA_OK && status != FPEMU_CUDA_ERROR_DEVICE_MEMORY)
            printf("%s: CUDA says %s\n", tasks[k].name, cudaGetErrorName(error));
        expect(status == FPEMU_CUDA_OK || status == FPEMU_CUDA_ERROR_DEVICE_MEMORY, "no memory", tasks[k].name,
               (int)status);
        expect(finished == FPEMU_CUDA_OK || finished == FPEMU_CUDA_ERROR_DEVICE_MEMORY, "no memory, waited",
               tasks[k].name, (int)finished);
        done[k] = status == FPEMU_CUDA_OK && finished == FPEMU_CUDA_OK;
        without += !done[k];
        (void)cudaGetLastError();
    }
    for (int i = 0; i < pieces; i++)
        must(cudaFree(piece[i]), "free");
    printf("%zu MiB in %d pieces left %zu KiB: %d of %d calls had no memory\n", before >> 20, pieces, room >> 10,
           without, (int)TASKS);
    compare("no memory", a, w, stream, done);
    upload(a, w, stream);
    enqueue_all("memory again", a, stream);
    compare("memory again", a, w, stream, NULL);
}

int main(int argc, char **argv)
{
    static answer rounds[2], placed;
    int count = 0;
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--memory") != 0)) {
        fprintf(stderr, "usage: %s [--memory]\n", argv[0]);
        return 2;
    }
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    for (int i = 0; i < 2; i++)
        judge(&rounds[i], MOST, 0, 0);
    arena a = new_arena();
    cudaStream_t stream = new_stream();
    if (argc == 2)
        check_memory(&a, &rounds[0], stream);
    else { /* graphs come first, while no kernel has been loaded */
        check_graphs("graph of what was never launched", 1, cudaStreamCaptureModeGlobal, &a, rounds, stream);
        check_waiting(&a, &rounds[0], stream);
        check_graphs("graph, thread-local", 1, cudaStreamCaptureModeThreadLocal, &a, rounds, stream);
        check_graphs("graph of all", 0, cudaStreamCaptureModeRelaxed, &a, rounds, stream);
        check_graphs("graph of all, global", 0, cudaStreamCaptureModeGlobal, &a, rounds, stream);
        check_streams(rounds);
        check_threads(rounds);
        check_shared(&a, &rounds[0], stream);
        check_places(&a, &placed, stream);
        check_errors(&a, &rounds[1], stream);
    }
    free_arena(&a);
    must(cudaStreamDestroy(stream), "stream");
    printf("streams%s: %lu compared, %lu differ\n", argc == 2 ? " --memory" : "", comparisons, failures);
    return failures != 0;
}
