/* SPDX-License-Identifier: BSD-2-Clause */
/* cuda.cu - what libfpemu_cuda's functions move, as a share of a device-to-device copy in the same run, on arrays past
 * any cache; and emulated products of matrices in multiples of cuBLAS's sgemm and of a plain loop.
 *
 *   make bench-cuda                   all of it: a minute of a device at most, reckoned
 *   bench/cuda "mxfp8 sr" decode      the lines whose name has one of these words in it
 *
 * A line's name is FORMAT MODE WORK, or MODEL WORK. WORK has ".f64", ".bf16" or ".f16" for arrays of other types than
 * float, and "+" where it counts, "+sums" and so on where it counts more than always. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fpemu_cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is measured: every format of a row in every mode of it by every work of it. */
struct row {
    const char *formats, *modes, *works;
};

#define ALL_MODES "rne rna rnz rtz raz rtp rtn rto sr se sr8 philox" /* sr8: 8 random bits; philox: sr by Philox */
#define TYPES(work) work ".f64 " work ".bf16 " work ".f16 "

static const struct row rows[] = {
    {"e4m3fn", ALL_MODES, "quantize quantize+ encode encode+"},
    {"e4m3fn", "rne sr", "quantize+sums quantize+histogram quantize+all encode+sums misaligned"},
    {"e5m2 fp16 bf16 fixed(8,4) int8", "rne rna rtz raz rtp rto sr", "quantize quantize+ encode encode+"},
    {"tf32 fp32 e4m3fnuz e8m0 e3m2 e2m1 dlfloat16 p3109(8,4,se) fp(6,9,0) float(e=4,m=0,specials=finite) "
     "fp16:nosub fp16:flushin e4m3fn:flushout e5m2:saturate",
     "rne sr", "quantize quantize+ encode"},
    {"fixed(8,4):wrap fixed(16,20) ufixed(7,3) int16 uint4 int(8,scale=0.1) uint(24,scale=3)", "rne sr",
     "quantize quantize+ encode"},
    {"posit(16,2) posit(8,1)", "rne", "quantize quantize+ encode encode+ quantize.f64"},
    {"posit(8,1)", "rne", "quantize.bf16 quantize.f16"},
    {"e4m3fn e5m2 fp16 bf16 tf32 e8m0 e2m1 e4m3fnuz fixed(8,4) int8 int(8,scale=0.1) posit(16,2) "
     "posit(8,1) table(nf4)",
     "rne", "decode"},
    {"e4m3fn", "rne rtz sr", TYPES("quantize") TYPES("encode") "quantize.f64+ quantize.bf16+ quantize.f16+"},
    {"fixed(8,4)", "rne sr", TYPES("quantize")},
    {"fp32 float(e=11,m=30) fixed(32,16)", "rne sr", "quantize.f64 quantize.f64+ encode.f64"},
    {"posit(32,2)", "rne", "quantize.f64 encode.f64"},
    {"fp32 fixed(32,16) posit(32,2)", "rne", "decode.f64"},
    {"e4m3fn", "rne", TYPES("decode")},

    {"mxfp8", ALL_MODES, "quantize pack"},
    {"mxfp8 mxfp8_e5m2 mxfp6_e2m3 mxfp6_e3m2 mxfp4 mxint8 msfp12 bfp(7) bm(4,3) q8_0 "
     "group(int4,block=128) group(e4m3fn,block=128) codebook(nf4,block=64)",
     "rne sr", "quantize quantize+ pack pack+"},
    {"mx(e4m3fn,rule=ceil) mx(e4m3fn,rule=even) mx(e4m3fn,rule=rceil) mx(e4m3fn,block=7) mx(e4m3fn,block=3x16) "
     "mx(e2m1,scale=e4m3fn) nvfp4 nvfp4(rule=nvfp4-ao) group(int4) scaled(e4m3fn) scaled(e4m3fn,block=row) "
     "group(int8,block=row) group(e4m3fn,block=channel) codebook(dynamic8) table(nf4) table(dynamic8) "
     "muppet(8) muppet(8,block=32) s2fp8",
     "rne sr", "quantize quantize+ pack"},
    {"mxfp8 mxfp6_e3m2 mxfp4 mxint8 msfp12 nvfp4 group(int4,block=128) codebook(nf4,block=64) codebook(dynamic8) "
     "scaled(e4m3fn) s2fp8 e4m3fn",
     "rne", "unpack"},
    {"mxfp8 nvfp4 scaled(e4m3fn) s2fp8", "rne", "measure " TYPES("measure")},
    {"mxfp8 nvfp4", "rne sr", "quantize+all columns pack_columns misaligned"},
    {"mxfp8 nvfp4 scaled(e4m3fn)", "rne sr", TYPES("quantize") TYPES("pack")},
    {"mxfp8", "rne", TYPES("unpack") "swizzle unswizzle"},

    {"e4m3fn fp16 fixed(8,4)", "rne sr", "add sub mul div sqrt fma minimum add+ mul+ div+ sqrt+ fma+"},
    {"posit(16,2)", "rne", "add mul div sqrt fma"},
    {"e4m3fn", "rne", TYPES("add") TYPES("fma") TYPES("div")},
    {"bf16", "rne", "exp exp2 log sin tanh erf sigmoid gelu rsqrt exp2+ exp.bf16 tanh.bf16"},
    {"bf16", "sr", "exp2"},
    {"fp16", "rne", "exp.f16 tanh.f16 exp.f64"},
    {"e4m3fn", "rne", "eq lt " TYPES("lt")},
};

static const struct row products[] = {
    {"fp32 fp64 seq(fp16) seq(bf16/rtz) seq(fp(6,9,0)/sr);ab=fp(4,3,4) seq(posit(16,2)) chunk(64,fp(6,9,0));ab=e5m2 "
     "chunk(16,fp16,fp32);ab=e5m2 tc(v100,fp16) tc(a100,bf16) tc(h100,fp16) tc(h100,e4m3fn) "
     "tc(h100,e4m3fn,promote=64) tc(b200,e5m2) kahan(bf16) pairwise(fp16) int(32,saturate);ab=fixed(8,4) "
     "int(12,saturate);ab=int8",
     NULL, "gemm"},
    {"fp32 seq(fp16) tc(h100,fp16) int(32,saturate);ab=fixed(8,4)", NULL, "gemm+ gemm.f64"},
};

/* BYTES an array: past any level-2 cache, of 60 MB at most. SIZE: of matrices. */
enum { ROUNDS = 5, SIZE = 1024, COLUMNS = 8192, SCRATCH = 64 << 20, NAME = 58 };
static const size_t BYTES = (size_t)1 << 29;

enum type { F32, F64, BF16, F16, TYPE_COUNT };
static const char *const type_name[TYPE_COUNT] = {"f32", "f64", "bf16", "f16"};
static const size_t type_size[TYPE_COUNT] = {4, 8, 2, 2};
static const fpemu_type types[TYPE_COUNT] = {FPEMU_TYPE_F32, FPEMU_TYPE_F64, FPEMU_TYPE_BF16, FPEMU_TYPE_F16};

static void *d_x, *d_a, *d_b, *d_y, *d_codes; /* operands, results, codes or packed bytes */
static void *d_scratch, *d_range;
static cudaEvent_t begin, end;
static double copy_rate;
static int failures, words;
static char **word;

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void fine(fpemu_cuda_status status, const char *what)
{
    if (status == FPEMU_CUDA_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, fpemu_cuda_status_text(status));
    exit(1);
}

/* Numbers of both signs, of eight magnitudes below 8, with as many bits as the type holds. */
static __global__ void fill(void *to, int type, uint64_t seed, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        uint64_t u = (i + (seed << 40)) * 0x9e3779b97f4a7c15u;
        u = (u ^ u >> 29) * 0xbf58476d1ce4e5b9u;
        u ^= u >> 32;
        const double x = scalbn((double)((int64_t)u >> 11) * 0x1p-52, 3 - (int)(u & 7));
        switch (type) {
        case F32: ((float *)to)[i] = (float)x; break;
        case F64: ((double *)to)[i] = x; break;
        case BF16: ((uint16_t *)to)[i] = (uint16_t)(__float_as_uint((float)x) >> 16); break;
        default: ((uint16_t *)to)[i] = __half_as_ushort(__float2half_rn((float)x));
        }
    }
}

/* Operands of a type. */
static void give(enum type type)
{
    static int given = -1;
    void *const to[] = {d_x, d_a, d_b};
    for (int k = 0; k < 3 && given != (int)type; k++)
        fill<<<1024, 256>>>(to[k], type, (uint64_t)k, BYTES / type_size[type]);
    must(cudaGetLastError(), "fill");
    given = type;
}

/* What is done to arrays of n elements. */
struct call {
    fpemu_format format;
    fpemu_rounding rounding;
    fpemu_shape shape;
    size_t n, offset; /* of the first element */
    int number;       /* of the operation, function or relation */
    fpemu_cuda_stats *stats;
};

enum kind { QUANTIZE, ENCODE, DECODE, PACK, UNPACK, MEASURE, ARITH, APPLY, COMPARE, SWIZZLE, KIND_COUNT };

static fpemu_cuda_status work(int kind, enum type type, const struct call *c)
{
    const fpemu_type t = types[type];
    const void *const x[3] = {d_x, d_a, d_b};
    const char *const from = (const char *)d_x + c->offset * type_size[type];
    switch (kind) {
    case QUANTIZE:
        return c->format.scaling ? fpemu_cuda_quantize_tensor(&c->format, &c->rounding, t, &c->shape, from, d_y,
                                                              d_scratch, c->stats, NULL)
                                 : fpemu_cuda_quantize(&c->format, &c->rounding, t, c->n, from, d_y, c->stats, NULL);
    case ENCODE: return fpemu_cuda_encode(&c->format, &c->rounding, t, c->n, d_x, d_codes, c->stats, NULL);
    case DECODE: return fpemu_cuda_decode(&c->format, t, c->n, d_codes, d_y, NULL);
    case PACK: return fpemu_cuda_pack(&c->format, &c->rounding, t, &c->shape, d_x, d_codes, d_scratch, c->stats, NULL);
    case UNPACK: return fpemu_cuda_unpack(&c->format, t, &c->shape, d_codes, d_y, d_scratch, NULL);
    case MEASURE: return fpemu_cuda_measure(&c->format, t, c->n, d_x, (fpemu_cuda_range *)d_range, NULL);
    case ARITH:
        return fpemu_cuda_arith(&c->format, &c->rounding, t, (fpemu_operation)c->number, c->n, x, NULL, d_y, c->stats,
                                NULL);
    case APPLY:
        return fpemu_cuda_apply(&c->format, &c->rounding, t, (fpemu_function)c->number, c->n, d_codes, d_y, c->stats,
                                NULL);
    case COMPARE: return fpemu_cuda_compare(t, (fpemu_relation)c->number, c->n, x, NULL, (uint8_t *)d_y, NULL);
    default:
        return (c->number ? fpemu_cuda_unswizzle_scales : fpemu_cuda_swizzle_scales)(
            c->n / COLUMNS, COLUMNS, (const uint8_t *)d_x, (uint8_t *)d_y, NULL);
    }
}

/* Works by their names: kind, number, operands. Functions have their own. */
static const struct {
    const char *name;
    enum kind kind;
    int number, operands;
} named[] = {{"quantize", QUANTIZE, 0, 1},
             {"misaligned", QUANTIZE, 0, 1},
             {"columns", QUANTIZE, 0, 1},
             {"encode", ENCODE, 0, 1},
             {"decode", DECODE, 0, 1},
             {"pack", PACK, 0, 1},
             {"pack_columns", PACK, 0, 1},
             {"unpack", UNPACK, 0, 1},
             {"measure", MEASURE, 0, 1},
             {"swizzle", SWIZZLE, 0, 1},
             {"unswizzle", SWIZZLE, 1, 1},
             {"add", ARITH, FPEMU_OPERATION_ADD, 2},
             {"sub", ARITH, FPEMU_OPERATION_SUB, 2},
             {"mul", ARITH, FPEMU_OPERATION_MUL, 2},
             {"div", ARITH, FPEMU_OPERATION_DIV, 2},
             {"sqrt", ARITH, FPEMU_OPERATION_SQRT, 1},
             {"fma", ARITH, FPEMU_OPERATION_FMA, 3},
             {"minimum", ARITH, FPEMU_OPERATION_MINIMUM, 2},
             {"eq", COMPARE, FPEMU_RELATION_EQ, 2},
             {"lt", COMPARE, FPEMU_RELATION_LT, 2}};

/* Counters, by what is wanted beyond those that always come. */
static struct {
    const char *name;
    uint32_t want;
    void *d;
} counters[] = {{"", 0, NULL},
                {"sums", FPEMU_STATS_SUMS, NULL},
                {"histogram", FPEMU_STATS_HISTOGRAM, NULL},
                {"all", FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES, NULL}};

static void unknown(const char *what)
{
    fprintf(stderr, "%s is not known\n", what);
    exit(1);
}

/* A work's word taken apart: its name alone is left. */
static void split(char *text, enum type *type, fpemu_cuda_stats **stats)
{
    char *const plus = strchr(text, '+');
    *type = F32;
    *stats = NULL;
    for (size_t i = 0; plus && i < sizeof counters / sizeof *counters; i++)
        if (strcmp(plus + 1, counters[i].name) == 0)
            *stats = (fpemu_cuda_stats *)counters[i].d;
    if (plus && !*stats)
        unknown(plus);
    if (plus)
        *plus = 0;
    char *const dot = strchr(text, '.');
    if (!dot)
        return;
    for (*dot = 0; strcmp(dot + 1, type_name[*type]) != 0;)
        if ((*type = (enum type)(*type + 1)) == TYPE_COUNT)
            unknown(dot + 1);
}

static fpemu_rounding rounding_of(const char *mode)
{
    fpemu_rounding r = fpemu_rounding_stochastic(1, 2);
    if (strcmp(mode, "sr8") == 0)
        r.bits = 8;
    else if (strcmp(mode, "philox") == 0)
        r.generator = FPEMU_GENERATOR_PHILOX;
    else if (strcmp(mode, "sr") != 0 && fpemu_rounding_parse(mode, &r, NULL))
        unknown(mode);
    return r;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

template <class Work> static double once(Work run, int times)
{
    float t = 0;
    must(cudaEventRecord(begin), "event");
    for (int k = 0; k < times; k++)
        run();
    must(cudaEventRecord(end), "event");
    must(cudaEventSynchronize(end), "work");
    must(cudaEventElapsedTime(&t, begin, end), "time");
    return t * 1e-3;
}

/* Median of several rounds, in seconds; the first call warms up. Short works go several times in a round, so that the
 * device never waits for the host, and long ones have fewer rounds. */
template <class Work> static double seconds(Work run)
{
    float times[ROUNDS];
    double t = once(run, 1);
    if (t > 0.1)
        return t;
    t = once(run, 1);
    const int each = t > 1e-3 ? 1 : t < 4e-5 ? 50 : (int)(2e-3 / t), most = (int)(0.25 / (t * each));
    const int rounds = most < 1 ? 1 : most > ROUNDS ? ROUNDS : most;
    for (int k = 0; k < rounds; k++)
        times[k] = (float)(once(run, each) / each);
    qsort(times, (size_t)rounds, sizeof *times, by_value);
    return times[rounds / 2];
}

static int is_asked_for(const char *name)
{
    for (int k = 0; k < words; k++)
        if (strstr(name, word[k]))
            return 1;
    return words == 0;
}

static void fail(const char *name, const char *what)
{
    printf("%-*s FAILED: %s\n", NAME, name, what);
    failures++;
}

/* One line. `text` is the work's word. */
static void measure(const char *format, const char *mode, const char *text)
{
    char name[256], bare[64];
    struct call c;
    enum type type;
    int kind = APPLY, operands = 1;
    snprintf(name, sizeof name, "%s %s %s", format, mode, text);
    if (!is_asked_for(name))
        return;
    memset(&c, 0, sizeof c);
    snprintf(bare, sizeof bare, "%s", text);
    split(bare, &type, &c.stats);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(bare, named[i].name) == 0) {
            kind = named[i].kind;
            c.number = named[i].number;
            operands = named[i].operands;
        }
    fpemu_function function;
    if (kind == APPLY && fpemu_function_named(bare, &function))
        unknown(bare);
    if (kind == APPLY)
        c.number = function;
    if (fpemu_format_parse(format, &c.format, NULL)) {
        fail(name, "the format is not known");
        return;
    }
    c.rounding = rounding_of(mode);

    /* functions compute for so long that few elements do */
    const size_t size = type_size[type];
    c.n = BYTES / size / (kind == APPLY ? 16 : 1);
    const uint64_t sizes[2] = {c.n / COLUMNS, COLUMNS};
    fpemu_shape_of(2, sizes, strstr(bare, "columns") ? 0 : 1, &c.shape);
    if (strcmp(bare, "misaligned") == 0) {
        c.offset = 1;
        c.n -= 4;
        c.shape = fpemu_shape_vector(c.n);
    }
    const int tensors = kind == PACK || kind == UNPACK || (kind == QUANTIZE && c.format.scaling);
    const uint64_t scratch = tensors ? fpemu_cuda_scratch_size(&c.format, &c.shape) : 0;
    if (scratch > SCRATCH) {
        fail(name, "it wants more scratch memory");
        return;
    }

    /* bytes an element that are moved at least; a scale of long blocks or of the tensor takes a pass that reads */
    const double first_pass = scratch && kind != UNPACK ? (double)size : 0,
                 code = (double)fpemu_format_code_size(&c.format),
                 packed = tensors ? (double)fpemu_packed_size(&c.format, &c.shape) / (double)c.n : 0;
    const double bytes = kind == QUANTIZE                   ? 2.0 * (double)size + first_pass
                         : kind == ENCODE || kind == DECODE ? (double)size + code
                         : kind == PACK || kind == UNPACK   ? (double)size + packed + first_pass
                         : kind == MEASURE                  ? (double)size
                         : kind == SWIZZLE                  ? 2
                         : kind == COMPARE                  ? operands * (double)size + 1
                                                            : (operands + 1) * (double)size;
    give(type);
    fpemu_cuda_status status = FPEMU_CUDA_OK;
    if (kind == DECODE)
        status = work(ENCODE, type, &c);
    else if (kind == UNPACK)
        status = work(PACK, type, &c);
    else if (kind == APPLY) { /* numbers of at most 16 bits */
        must(cudaMemcpyAsync(d_codes, d_x, c.n * size, cudaMemcpyDeviceToDevice), "copy");
        if (type == F32 || type == F64) {
            fpemu_format narrow;
            const fpemu_rounding nearest = fpemu_rounding_nearest();
            fpemu_format_parse("bf16", &narrow, NULL);
            status = fpemu_cuda_quantize(&narrow, &nearest, types[type], c.n, d_x, d_codes, NULL, NULL);
        }
    }
    if (!status)
        status = work(kind, type, &c);
    if (status) {
        fail(name, fpemu_cuda_status_text(status));
        return;
    }
    const double rate = (double)c.n * bytes / seconds([&] { fine(work(kind, type, &c), name); });
    printf("%-*s %9.1f %7.3f%s\n", NAME, name, rate * 1e-9, rate / copy_rate, first_pass ? "  two passes" : "");
    fflush(stdout);
}

/* The word at *text, words being apart by spaces; *text goes behind it. 0: there is none. */
static int next(const char **text, char *to, size_t capacity)
{
    *text += strspn(*text, " ");
    const size_t n = strcspn(*text, " ");
    snprintf(to, capacity, "%.*s", (int)n, *text);
    *text += n;
    return n != 0;
}

static void measure_row(const struct row *row)
{
    char format[128], mode[16], text[64];
    for (const char *f = row->formats; next(&f, format, sizeof format);)
        for (const char *w = row->works; next(&w, text, sizeof text);)
            for (const char *m = row->modes; next(&m, mode, sizeof mode);)
                measure(format, mode, text);
}

/* ---------------------------------------------------------------------------------------------------- products */

static __global__ void plain(const float *a, const float *b, float *c)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, row = i / SIZE, column = i % SIZE;
    float s = 0;
    for (int k = 0; k < SIZE; k++)
        s = fmaf(a[row * SIZE + k], b[(size_t)k * SIZE + column], s);
    c[i] = s;
}

/* cuBLAS, where the machine has it; nothing is linked to it. cublas_v2.h has these types. */
typedef int cublas_create(void **handle);
typedef int cublas_set_math_mode(void *handle, int mode);
typedef int cublas_sgemm(void *handle, int transpose_a, int transpose_b, int m, int n, int k, const float *alpha,
                         const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc);
enum { CUBLAS_DEFAULT = 0, CUBLAS_PEDANTIC = 2 }; /* the latter is binary32 arithmetic and nothing else */

static struct {
    void *handle;
    cublas_set_math_mode *set_math_mode;
    cublas_sgemm *sgemm;
} cublas;

static void *open_cublas(void)
{
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"};
    static const char *const versions[] = {".13", "", ".12"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (size_t k = 0; k < sizeof versions / sizeof *versions; k++) {
            char path[128];
            snprintf(path, sizeof path, "%slibcublasLt.so%s", folders[i], versions[k]);
            dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* which the other needs */
            snprintf(path, sizeof path, "%slibcublas.so%s", folders[i], versions[k]);
            void *const library = dlopen(path, RTLD_NOW);
            if (library) {
                printf("%s\n", path);
                return library;
            }
        }
    return NULL;
}

/* NULL, or what is missing. */
static const char *find_cublas(void)
{
    void *const library = open_cublas();
    if (!library)
        return "there is no libcublas";
    cublas_create *const create = (cublas_create *)dlsym(library, "cublasCreate_v2");
    cublas.set_math_mode = (cublas_set_math_mode *)dlsym(library, "cublasSetMathMode");
    cublas.sgemm = (cublas_sgemm *)dlsym(library, "cublasSgemm_v2");
    if (!create || !cublas.set_math_mode || !cublas.sgemm)
        return "libcublas lacks a function";
    return create(&cublas.handle) ? "libcublas finds no device" : NULL;
}

/* Matrices of binary32 are the first SIZE * SIZE numbers of the operands. Row by row: cuBLAS has columns. */
static void sgemm(void)
{
    const float one = 1, zero = 0;
    if (cublas.sgemm(cublas.handle, 0, 0, SIZE, SIZE, SIZE, &one, (const float *)d_a, SIZE, (const float *)d_x, SIZE,
                     &zero, (float *)d_y, SIZE)) {
        fprintf(stderr, "sgemm failed\n");
        exit(1);
    }
}

static void loop(void)
{
    plain<<<SIZE * SIZE / 256, 256>>>((const float *)d_x, (const float *)d_a, (float *)d_y);
}

/* The root of the mean square of d_y's difference from `expected`, relative: 1e-7 is binary32, 3e-4 would be tf32. */
static double difference(const float *expected)
{
    static float got[SIZE * SIZE];
    double d = 0, e = 0;
    must(cudaMemcpy(got, d_y, sizeof got, cudaMemcpyDeviceToHost), "copy");
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        d += ((double)got[i] - expected[i]) * ((double)got[i] - expected[i]);
        e += (double)expected[i] * expected[i];
    }
    return sqrt(d / e);
}

/* How long what is compared with takes; 0: unknown. */
static struct {
    double loop, sgemm;
} yardstick;

static void print_product(const char *name, double t)
{
    printf("%-*s %9.1f %9.2f", NAME, name, (double)SIZE * SIZE * SIZE / t * 1e-9, t / yardstick.loop);
    if (yardstick.sgemm > 0)
        printf(" %9.2f", t / yardstick.sgemm);
    printf("\n");
    fflush(stdout);
}

static void measure_yardsticks(void)
{
    static float expected[SIZE * SIZE];
    give(F32);
    printf("%d x %d x %d, ", SIZE, SIZE, SIZE);
    const char *const missing = find_cublas();
    if (missing)
        printf("%s: the loop alone is the yardstick\n", missing);
    yardstick.loop = seconds(loop);
    must(cudaMemcpy(expected, d_y, sizeof expected, cudaMemcpyDeviceToHost), "copy");
    double pedantic = 0;
    if (!missing) {
        cublas.set_math_mode(cublas.handle, CUBLAS_PEDANTIC);
        pedantic = seconds(sgemm);
        printf("sgemm by pedantic math is off the loop by %.1e of it, ", difference(expected));
        cublas.set_math_mode(cublas.handle, CUBLAS_DEFAULT);
        yardstick.sgemm = seconds(sgemm);
        printf("by default math, the yardstick, by %.1e\n", difference(expected));
    }
    printf("%-*s %9s %9s %9s\n", NAME, "", "G/s", "loops", missing ? "" : "sgemms");
    print_product("loop of fmaf", yardstick.loop);
    if (!missing) {
        print_product("sgemm", yardstick.sgemm);
        print_product("sgemm, pedantic", pedantic);
    }
}

static void measure_product(const char *model, const char *text)
{
    char name[256], bare[64];
    enum type type;
    fpemu_cuda_stats *stats;
    fpemu_gemm_spec spec;
    fpemu_gemm_shape s;
    snprintf(name, sizeof name, "%s %s", model, text);
    if (!is_asked_for(name))
        return;
    snprintf(bare, sizeof bare, "%s", text);
    split(bare, &type, &stats);
    memset(&s, 0, sizeof s);
    s.m = s.n = s.k = SIZE;
    if (fpemu_gemm_parse(model, &spec, NULL) || type > F64 ||
        fpemu_cuda_gemm_scratch_size(&spec, &s, types[type]) > SCRATCH) {
        fail(name, "the model is not known, or wants more scratch memory");
        return;
    }
    if (yardstick.loop == 0)
        measure_yardsticks();
    give(type);
    const auto run = [&] {
        return fpemu_cuda_gemm(&spec, &s, types[type], 1, d_x, d_a, 0, d_y, d_scratch, stats, NULL);
    };
    const fpemu_cuda_status status = run();
    if (status)
        fail(name, fpemu_cuda_status_text(status));
    else
        print_product(name, seconds([&] { fine(run(), name); }));
}

static void copy(void)
{
    must(cudaMemcpyAsync(d_y, d_x, BYTES, cudaMemcpyDeviceToDevice), "copy");
}

static void print_copy(void)
{
    const double rate = 2.0 * (double)BYTES / seconds(copy);
    copy_rate = copy_rate > 0 ? copy_rate : rate;
    printf("%-*s %9.1f %7.3f\n", NAME, "copy", rate * 1e-9, rate / copy_rate);
}

int main(int argc, char **argv)
{
    int count = 0;
    cudaDeviceProp device;
    words = argc - 1;
    word = argv + 1;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("no CUDA device\n");
        return 77;
    }
    must(cudaGetDeviceProperties(&device, 0), "device");
    void **const arrays[] = {&d_x, &d_a, &d_b, &d_y};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        must(cudaMalloc(arrays[i], BYTES), "memory");
    must(cudaMalloc(&d_codes, BYTES + BYTES / 8), "memory");
    must(cudaMalloc(&d_scratch, SCRATCH), "memory");
    must(cudaMalloc(&d_range, fpemu_cuda_range_size()), "memory");
    fine(fpemu_cuda_range_clear((fpemu_cuda_range *)d_range, NULL), "range");
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        must(cudaMalloc(&counters[i].d, fpemu_cuda_stats_size()), "memory");
        fine(fpemu_cuda_stats_clear((fpemu_cuda_stats *)counters[i].d, counters[i].want, NULL), "stats");
    }
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    give(F32);
    printf("%s, %d multiprocessors, %d MiB of level-2 cache; arrays of %zu MiB\n%-*s %9s %7s\n", device.name,
           device.multiProcessorCount, device.l2CacheSize >> 20, BYTES >> 20, NAME, "", "GB/s", "of copy");
    print_copy();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure_row(rows + i);
    print_copy();
    char model[128], text[64];
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        for (const char *m = products[i].formats; next(&m, model, sizeof model);)
            for (const char *w = products[i].works; next(&w, text, sizeof text);)
                measure_product(model, text);
    if (failures)
        printf("%d lines failed\n", failures);
    return failures != 0;
}
