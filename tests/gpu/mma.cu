/* SPDX-License-Identifier: BSD-2-Clause */
/* mma.cu - the models tc(gpu, operands) of gemm against the matrix instructions of the device that they are named after:
 * mma.sync on sm_80 (A100), sm_89 (Ada), sm_90 (H100), sm_100 (B200), on sm_90 wgmma too. Operands by
 * tensor_operands.h; corners on which published models disagree. For each difference the example with fewest terms.
 *
 *   mma             exit status 1 where a model differs
 *   mma FILE        writes known answers as well, in the form of tests/vectors/tensor_cores.txt: of each instruction and
 *                   way some results that would differ if the model were another */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <fpemu.h>

#include "must.h"
#include "tensor_cores.h"
#include "tensor_operands.h"

enum { TILES = 256, OUTPUTS = TILES * M * N, VARIED = 12 }; /* VARIED: tiles for which models are varied */
enum instruction { MMA, WGMMA };

#define TO_FLOAT(shape, types)                                                                                         \
    asm("mma.sync.aligned." shape ".row.col.f32." types ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"   \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                               \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define TO_HALF(shape, types)                                                                                          \
    asm("mma.sync.aligned." shape ".row.col.f16." types ".f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"               \
        : "+r"(h[0]), "+r"(h[1])                                                                                       \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/* A warp has 16 rows of a tile. Its registers lie alike for all types, counted in bytes along k. */
static __global__ void __launch_bounds__(128)
    multiply(int kind, int half, const unsigned char *as, const unsigned char *bs, void *cs)
{
    const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = threadIdx.x / 32 * 16 + g;
    const size_t tile = blockIdx.x, at = tile * M * N + row * N + 2 * t;
    const unsigned char *const p = as + tile * M * ROW + row * ROW + 4 * t;
    const unsigned char *const q = bs + tile * N * ROW + g * ROW + 4 * t;
    uint32_t a[4], b[2], h[2] = {0, 0};
    float d[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4; k++)
        a[k] = *(const uint32_t *)(p + k % 2 * 8 * ROW + k / 2 * 16);
    for (int k = 0; k < 2; k++)
        b[k] = *(const uint32_t *)(q + k * 16);
    if (half) {
        h[0] = ((const uint32_t *)cs)[at / 2];
        h[1] = ((const uint32_t *)cs)[at / 2 + 4 * N];
    } else
        for (int k = 0; k < 4; k++)
            d[k] = ((const float *)cs)[at + k / 2 * 8 * N + k % 2];
    switch (kind * 2 + half) {
    case FP16 * 2: TO_FLOAT("m16n8k16", "f16.f16"); break;
    case FP16 * 2 + 1: TO_HALF("m16n8k16", "f16.f16"); break;
    case BF16 * 2: TO_FLOAT("m16n8k16", "bf16.bf16"); break;
    case TF32 * 2: TO_FLOAT("m16n8k8", "tf32.tf32"); break;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    case E4M3 * 2: TO_FLOAT("m16n8k32", "e4m3.e4m3"); break;
    case E4M3 * 2 + 1: TO_HALF("m16n8k32", "e4m3.e4m3"); break;
    case E5M2 * 2: TO_FLOAT("m16n8k32", "e5m2.e5m2"); break;
    case E5M2 * 2 + 1: TO_HALF("m16n8k32", "e5m2.e5m2"); break;
#endif
    }
    if (half) {
        ((uint32_t *)cs)[at / 2] = h[0];
        ((uint32_t *)cs)[at / 2 + 4 * N] = h[1];
    } else
        for (int k = 0; k < 4; k++)
            ((float *)cs)[at + k / 2 * 8 * N + k % 2] = d[k];
}

/* What an instruction is held to. */
typedef struct model {
    const char *text;
    int version;
    enum instruction by;
    enum kind kind;
    int half;
} model;

static const model models[] = {
    {"tc(a100,fp16)", 80, MMA, FP16, 0},
    {"tc(a100,fp16,fp16)", 80, MMA, FP16, 1},
    {"tc(a100,bf16)", 80, MMA, BF16, 0},
    {"tc(a100,tf32)", 80, MMA, TF32, 0},
    {"tc(ada,fp16)", 89, MMA, FP16, 0},
    {"tc(ada,fp16,fp16)", 89, MMA, FP16, 1},
    {"tc(ada,bf16)", 89, MMA, BF16, 0},
    {"tc(ada,tf32)", 89, MMA, TF32, 0},
    {"tc(ada,e4m3fn)", 89, MMA, E4M3, 0},
    {"tc(ada,e5m2)", 89, MMA, E5M2, 0},
    {"tc(h100,fp16)", 90, MMA, FP16, 0},
    {"tc(h100,fp16,fp16)", 90, MMA, FP16, 1},
    {"tc(h100,bf16)", 90, MMA, BF16, 0},
    {"tc(h100,tf32)", 90, MMA, TF32, 0},
    /* ptxas makes two HMMA of binary16 numbers from zero, and then adds c */
    {"fused(16,25,fp32/rtz,least=-133,promote=32,order=0145); ab=e4m3fn", 90, MMA, E4M3, 0},
    {"fused(16,25,fp32/rtz,least=-133,promote=32,order=0145); ab=e5m2", 90, MMA, E5M2, 0},
    {"fused(16,25,fp16,least=-21,promote=32,outer=fp16,order=0145); ab=e4m3fn", 90, MMA, E4M3, 1},
    {"fused(16,25,fp16,least=-21,promote=32,outer=fp16,order=0145); ab=e5m2", 90, MMA, E5M2, 1},
    {"tc(h100,fp16)", 90, WGMMA, FP16, 0},
    {"tc(h100,fp16,fp16)", 90, WGMMA, FP16, 1},
    {"tc(h100,bf16)", 90, WGMMA, BF16, 0},
    {"tc(h100,tf32)", 90, WGMMA, TF32, 0},
    {"tc(h100,e4m3fn)", 90, WGMMA, E4M3, 0},
    {"tc(h100,e5m2)", 90, WGMMA, E5M2, 0},
    {"tc(h100,e4m3fn,fp16)", 90, WGMMA, E4M3, 1},
    {"tc(h100,e5m2,fp16)", 90, WGMMA, E5M2, 1},
    {"tc(b200,fp16)", 100, MMA, FP16, 0},
    {"tc(b200,fp16,fp16)", 100, MMA, FP16, 1},
    {"tc(b200,bf16)", 100, MMA, BF16, 0},
    {"tc(b200,tf32)", 100, MMA, TF32, 0},
    {"tc(b200,e4m3fn,promote=32)", 100, MMA, E4M3, 0},
    {"tc(b200,e5m2,promote=32)", 100, MMA, E5M2, 0},
};
enum { MODELS = sizeof models / sizeof *models };

static tile tiles[TILES];
static unsigned char a[TILES * M * ROW], b[TILES * N * ROW];
static float wide_a[TILES * M * MOST_K], wide_b[TILES * N * MOST_K];
static float c[OUTPUTS], got[OUTPUTS], want[OUTPUTS];
static uint16_t half_c[OUTPUTS];
static unsigned char *d_a, *d_b;
static void *d_c;
static FILE *record;

static void lay_out(enum kind kind)
{
    const unsigned k = depth_of(kind), size = operand_formats[kind].size;
    for (int tile = 0; tile < TILES; tile++)
        for (unsigned l = 0; l < k; l++) {
            for (int i = 0; i < M; i++)
                memcpy(a + (tile * M + i) * ROW + l * size, &tiles[tile].a[i][l], size);
            for (int j = 0; j < N; j++)
                memcpy(b + (tile * N + j) * ROW + l * size, &tiles[tile].b[j][l], size);
        }
}

/* c as numbers of the result. */
static void lay_out_c(int half, int zero)
{
    const fpemu_rounding r = fpemu_rounding_nearest();
    fpemu_format f;
    for (int i = 0; i < OUTPUTS; i++)
        c[i] = zero ? 0 : tiles[i / (M * N)].c[i / N % M][i % N];
    if (!half)
        return;
    if (fpemu_format_named(FPEMU_NAME_BINARY16, &f) || fpemu_encode_f32(&f, &r, OUTPUTS, c, half_c, NULL) ||
        fpemu_decode_f32(&f, OUTPUTS, half_c, c))
        exit(1);
}

static void run(enum instruction by, enum kind kind, int half)
{
    const size_t bytes = half ? sizeof half_c : sizeof c;
    fpemu_format f;
    must(cudaMemcpy(d_c, half ? (void *)half_c : (void *)c, bytes, cudaMemcpyHostToDevice), "copy");
    if (by == WGMMA)
        wgmma(kind, half, TILES, d_a, d_b, d_c);
    else
        multiply<<<TILES, 128>>>(kind, half, d_a, d_b, d_c);
    must(cudaGetLastError(), "launch");
    must(cudaMemcpy(got, d_c, bytes, cudaMemcpyDeviceToHost), by == WGMMA ? "wgmma" : "mma");
    if (half) {
        static uint16_t words[OUTPUTS];
        memcpy(words, got, bytes);
        if (fpemu_format_named(FPEMU_NAME_BINARY16, &f) || fpemu_decode_f32(&f, OUTPUTS, words, got))
            exit(1);
    }
}

/* The model, or another one that is near to it: a fraction bit less or more, the other rounding, steps half as long, a
 * higher least exponent. */
enum { AS_IT_IS, LESS, MORE, OTHER_ROUNDING, SHORT, HIGH, VARIANTS };

static void vary(fpemu_accumulator *s, int variant)
{
    fpemu_rounding *const r = &s->inner.rounding;
    switch (variant) {
    case LESS: s->fraction_bits--; break;
    case MORE: s->fraction_bits++; break;
    case OTHER_ROUNDING: r->mode = r->mode == FPEMU_MODE_RNE ? FPEMU_MODE_RTZ : FPEMU_MODE_RNE; break;
    case SHORT: s->block /= 2; break;
    case HIGH: s->least_exponent += 8; break;
    }
}

static void compute(const model *m, int variant, int tile_count)
{
    const unsigned k = depth_of(m->kind);
    fpemu_gemm_spec spec;
    fpemu_gemm_shape s = {0};
    if (fpemu_gemm_parse(m->text, &spec, NULL)) {
        fprintf(stderr, "%s: no such model\n", m->text);
        exit(1);
    }
    vary(&spec.sum, variant);
    spec.start_from_c = 1;
    s.m = M;
    s.n = N;
    s.k = k;
    s.transpose_b = 1;
    s.batch = (uint64_t)tile_count;
    s.stride_a = M * k;
    s.stride_b = N * k;
    s.stride_c = M * N;
    for (int tile = 0; tile < tile_count; tile++)
        for (unsigned l = 0; l < k; l++) {
            for (int i = 0; i < M; i++)
                wide_a[(tile * M + i) * k + l] = (float)value_of(m->kind, tiles[tile].a[i][l]);
            for (int j = 0; j < N; j++)
                wide_b[(tile * N + j) * k + l] = (float)value_of(m->kind, tiles[tile].b[j][l]);
        }
    memcpy(want, c, sizeof *c * M * N * (size_t)tile_count);
    if (fpemu_gemm_f32(&spec, &s, 1, wide_a, wide_b, 1, want, NULL)) {
        fprintf(stderr, "%s: refused\n", m->text);
        exit(1);
    }
}

/* A known answer: instruction, operands, result, the bytes of a and b along k, the words of c and of what came out. */
static void write_answer(const model *m, int at)
{
    const char *const gpu = m->version == 80 ? "a100" : m->version == 89 ? "ada" : m->version == 90 ? "h100" : "b200";
    fprintf(record, "%s %s %s %s ", gpu, m->by == WGMMA ? "wgmma" : "mma", operand_formats[m->kind].name,
            m->half ? "fp16" : "fp32");
    for (int i = 0; i < ROW; i++)
        fprintf(record, "%02x", a[at / N * ROW + i]);
    fputc(' ', record);
    for (int i = 0; i < ROW; i++)
        fprintf(record, "%02x", b[(at / (M * N) * N + at % N) * ROW + i]);
    const float of[2] = {c[at], got[at]};
    for (int i = 0; i < 2; i++) {
        uint32_t word;
        if (m->half) {
            const __half_raw h = __float2half_rn(of[i]);
            fprintf(record, " %04x", h.x);
        } else {
            memcpy(&word, &of[i], 4);
            fprintf(record, " %08x", word);
        }
    }
    fputc('\n', record);
}

/* Three variants a way, so that all come in turn. */
static void write_answers(const model *m, int way)
{
    write_answer(m, way * 37);
    for (int v = 0; v < 3; v++) {
        int at = 0;
        compute(m, 1 + (way + v) % (VARIANTS - 1), VARIED);
        while (at < VARIED * M * N && (memcmp(got + at, want + at, 4) == 0 || got[at] - got[at] != 0))
            at++;
        if (at < VARIED * M * N)
            write_answer(m, at);
    }
}

static void show(const model *m, int at)
{
    const tile *const t = &tiles[at / (M * N)];
    const uint32_t *const x = t->a[at / N % M], *const y = t->b[at % N];
    printf("    c %a, device %a, model %a:", (double)c[at], (double)got[at], (double)want[at]);
    for (unsigned k = 0; k < depth_of(m->kind); k++)
        if (value_of(m->kind, x[k]) * value_of(m->kind, y[k]) != 0)
            printf(" %u: %a*%a", k, value_of(m->kind, x[k]), value_of(m->kind, y[k]));
    printf("\n");
}

static unsigned terms(const model *m, int at)
{
    const tile *const t = &tiles[at / (M * N)];
    unsigned n = 0;
    for (unsigned k = 0; k < depth_of(m->kind); k++)
        n += value_of(m->kind, t->a[at / N % M][k]) * value_of(m->kind, t->b[at % N][k]) != 0;
    return n;
}

/* How many outputs differ from the model; a NaN is one like another. */
static int differences(const model *m, const char *what, int zero)
{
    int differ = 0, least = 0;
    for (int i = 0; i < OUTPUTS; i++) {
        if (memcmp(got + i, want + i, 4) == 0 || (got[i] != got[i] && want[i] != want[i]))
            continue;
        if (differ++ == 0 || terms(m, i) < terms(m, least))
            least = i;
    }
    printf("%s by %s, %s, %s: %d of %d differ\n", m->text, m->by == WGMMA ? "wgmma" : "mma", what,
           zero ? "from 0" : "from any c", differ, OUTPUTS);
    if (differ)
        show(m, least);
    return differ != 0;
}

/* Sums of a few products, the n-th lying n places further along k in row and column n, so that no place is special. */
static const struct corner {
    const char *what;
    enum kind kind;
    int half;
    double a[4], b[4];
    int terms;
    double c;
} corners[] = {
    {"subnormal binary16 c", FP16, 1, {0x1p-12, 0x1p-20}, {0x1p-13, 0x1p-20}, 2, 0x1p-23},
    {"a zero product with a large exponent", BF16, 0, {0, 1}, {0x1p127, 0x1p-60}, 2, 0},
    {"the same beside c", BF16, 0, {0, 1}, {0x1p127, 0x1p-60}, 2, 0x1p-30},
    {"four products of 2^-151",
     BF16,
     0,
     {0x1p-75, 0x1p-75, 0x1p-75, 0x1p-75},
     {0x1p-76, 0x1p-76, 0x1p-76, 0x1p-76},
     4,
     0},
    {"2^-25 + 2^-46", FP16, 0, {0x1p-12, 0x1p-23}, {0x1p-13, 0x1p-23}, 2, 0},
    {"2^-25 + 2^-46", FP16, 1, {0x1p-12, 0x1p-23}, {0x1p-13, 0x1p-23}, 2, 0},
    {"2^-25 + 2^-47", FP16, 1, {0x1p-12, 0x1p-23}, {0x1p-13, 0x1p-24}, 2, 0},
    {"2^-150 + 2^-151", BF16, 0, {0x1p-75, 0x1p-75}, {0x1p-75, 0x1p-76}, 2, 0},
    {"2^-14 beside 1", E4M3, 0, {1, 0x1p-7}, {1, 0x1p-7}, 2, 0},
    {"2^-13 beside 1", E4M3, 0, {1, 0x1p-7}, {1, 0x1p-6}, 2, 0},
    {"2^-14 beside c = 1", E4M3, 0, {0x1p-7}, {0x1p-7}, 1, 1},
    {"c = 1 + 2^-13 alone", E4M3, 0, {0}, {0}, 1, 1 + 0x1p-13},
    {"c = 1 + 2^-14 alone", E4M3, 0, {0}, {0}, 1, 1 + 0x1p-14},
    {"c = 1 + 2^-23 alone", E4M3, 0, {0}, {0}, 1, 1 + 0x1p-23},
    {"c = 1 + 2^-23 beside 2^-9", E4M3, 0, {0x1p-9}, {1}, 1, 1 + 0x1p-23},
    {"c = 1 + 2^-10 beside 2^-12", E4M3, 1, {0x1p-6}, {0x1p-6}, 1, 1 + 0x1p-10},
};

static uint32_t word_with(enum kind kind, double x)
{
    const uint32_t words = operand_formats[kind].size == 4 ? 1u << 19 : 1u << 8 * operand_formats[kind].size;
    for (uint32_t u = 0; u < words; u++)
        if (value_of(kind, u << operand_formats[kind].shift) == x)
            return u << operand_formats[kind].shift;
    exit(1);
}

static int check_corners(int version)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
        const struct corner *const q = &corners[i];
        const unsigned k = depth_of(q->kind);
        memset(tiles, 0, sizeof tiles);
        for (int t = 0; t < q->terms; t++) {
            const uint32_t x = word_with(q->kind, q->a[t]), y = word_with(q->kind, q->b[t]);
            for (unsigned row = 0; row < M; row++)
                tiles[0].a[row][(t * (row / 8 + 1) + row) % k] = x;
            for (unsigned column = 0; column < N; column++)
                tiles[0].b[column][(t + column) % k] = y;
        }
        for (int at = 0; at < M * N; at++)
            tiles[0].c[at / N][at % N] = (float)q->c;
        lay_out(q->kind);
        lay_out_c(q->half, 0);
        must(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice), "copy");
        must(cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice), "copy");
        for (int m = 0; m < MODELS; m++) {
            if (models[m].version != version || models[m].kind != q->kind || models[m].half != q->half)
                continue;
            run(models[m].by, q->kind, q->half);
            compute(&models[m], AS_IT_IS, 1);
            int differ = 0;
            for (int at = 0; at < M * N; at++)
                differ += memcmp(got + at, want + at, 4) != 0;
            printf("%s by %s, %s: device %a, model %a; %d of %d differ\n", models[m].text,
                   models[m].by == WGMMA ? "wgmma" : "mma", q->what, (double)got[0], (double)want[0], differ, M * N);
            wrong |= differ != 0;
            if (record)
                write_answer(&models[m], 0);
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int count = 0, wrong = 0, known = 0;
    cudaDeviceProp device;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    must(cudaGetDeviceProperties(&device, 0), "device");
    const int version = device.major * 10 + device.minor;
    for (int m = 0; m < MODELS; m++)
        known |= models[m].version == version;
    if (!known) {
        printf("no model is named after %s (sm_%d)\n", device.name, version);
        return 0;
    }
    if (argc > 1 && !(record = fopen(argv[1], "w"))) {
        fprintf(stderr, "%s cannot be written\n", argv[1]);
        return 1;
    }
    must(cudaMalloc(&d_a, sizeof a), "memory");
    must(cudaMalloc(&d_b, sizeof b), "memory");
    must(cudaMalloc(&d_c, sizeof c), "memory");
    wrong |= check_corners(version);
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 0; way < WAYS; way++) {
            if (way == NO_TF32 && kind != TF32)
                continue;
            for (int t = 0; t < TILES; t++)
                draw_tile((enum kind)kind, (enum way)way, (uint64_t)t, &tiles[t]);
            lay_out((enum kind)kind);
            must(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice), "copy");
            must(cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice), "copy");
            for (int m = 0; m < 2 * MODELS; m++) {
                const model *const p = &models[m / 2];
                const int zero = m % 2;
                if (p->version != version || p->kind != kind)
                    continue;
                lay_out_c(p->half, zero);
                run(p->by, p->kind, p->half);
                compute(p, AS_IT_IS, TILES);
                wrong |= differences(p, way_names[way], zero);
                if (record && !zero)
                    write_answers(p, way);
            }
        }
    if (record && fclose(record)) {
        fprintf(stderr, "%s cannot be written\n", argv[1]);
        return 1;
    }
    return wrong;
}
