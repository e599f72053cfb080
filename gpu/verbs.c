/* verbs.c - the verbs of scalar formats, counters and errors: arguments are checked and made into jobs; launch.h does
 * the rest. */
#include "call.h"
#include "core/plan.h"
#include "core/round_fast.h"

/* Error sums are made of blocks of this many elements by absolute index; one warp adds up a block. */
#define SUM_PIECE 4096
/* Without sums, so that arrays of a million elements keep every warp busy. */
#define PIECE 512

const char *fpemu_cuda_status_text(int status)
{
    switch (status) {
    case FPEMU_CUDA_ERROR_NO_DEVICE: return "no CUDA device";
    case FPEMU_CUDA_ERROR_DRIVER: return "the CUDA driver is missing or too old";
    case FPEMU_CUDA_ERROR_POINTER: return "a pointer that the CUDA device cannot reach";
    case FPEMU_CUDA_ERROR_NO_CODE: return "no code for this CUDA device";
    case FPEMU_CUDA_ERROR_LAUNCH: return "the CUDA kernel could not be launched";
    case FPEMU_CUDA_ERROR_DEVICE: return "earlier work on the CUDA device failed";
    case FPEMU_CUDA_ERROR_MEMORY: return "no CUDA device memory is left for the kernels";
    default: return fpemu_status_text((fpemu_status)status);
    }
}

int fpemu_cuda_finish(fpemu_cuda_stream stream, const char **text)
{
    return fpemu_gpu_wait(stream, text);
}

/* ------------------------------------------------------------------------------------------------ checks */

size_t fpemu_gpu_size(int type, uint32_t code_size)
{
    return type == GPU_F32 ? 4 : type == GPU_F64 ? 8 : type == GPU_CODES ? code_size : 2;
}

/* The library's own check of format and rounding, by its verb on one number. */
static int check(const fpemu_format *f, const fpemu_rounding *r, int type)
{
    const float x32 = 0;
    const double x64 = 0;
    float y32;
    double y64;
    return (int)(type == GPU_F64 ? fpemu_quantize_f64(f, r, 1, &x64, &y64, NULL)
                                 : fpemu_quantize_f32(f, r, 1, &x32, &y32, NULL));
}

int fpemu_gpu_fits(const fpemu_format *f, int type)
{
    fpemu_format narrow;
    double largest = fpemu_format_max(f), step;
    if (fpemu_format_named(type == GPU_BF16 ? FPEMU_NAME_BFLOAT16 : FPEMU_NAME_BINARY16, &narrow))
        return 0;
    if (-fpemu_format_lowest(f) > largest)
        largest = -fpemu_format_lowest(f);
    if (largest > narrow.max)
        return 0;
    switch (f->kind) {
    case FPEMU_KIND_FLOAT: return f->mantissa_bits <= narrow.mantissa_bits && f->quantum >= narrow.quantum;
    case FPEMU_KIND_FIXED: step = (double)f->bits - f->is_signed; break;
    default: return 0;
    }
    return step <= (double)narrow.precision && f->quantum >= narrow.quantum;
}

int fpemu_gpu_check_pointers(const void *x, size_t x_size, const void *y, size_t y_size, size_t n)
{
    const uintptr_t p = (uintptr_t)x, q = (uintptr_t)y;
    if (n > (SIZE_MAX - p) / x_size || n > (SIZE_MAX - q) / y_size)
        return FPEMU_ERROR_ARGUMENT;
    if (!(p == q && x_size == y_size) && p < q + n * y_size && q < p + n * x_size)
        return FPEMU_ERROR_OVERLAP;
    if (p % x_size || q % y_size)
        return FPEMU_ERROR_ARGUMENT; /* the device reads whole elements only */
    const int status = fpemu_gpu_reachable(x);
    return status ? status : fpemu_gpu_reachable(y);
}

int fpemu_gpu_check_words(const void *p)
{
    if (!p)
        return FPEMU_OK;
    return (uintptr_t)p % sizeof(uint64_t) ? (int)FPEMU_ERROR_ARGUMENT : fpemu_gpu_reachable(p);
}

gpu_random fpemu_gpu_random(const fpemu_rounding *r)
{
    gpu_random random;
    memset(&random, 0, sizeof random);
    if (!r)
        return random;
    const int bits = r->bits ? r->bits : 32;
    random.seed = r->seed;
    random.stream = r->stream;
    random.generator = r->generator;
    random.share = (uint8_t)core_per_word(bits);
    random.bits = (uint8_t)bits;
    random.used = r->mode == FPEMU_MODE_SR || r->mode == FPEMU_MODE_SE;
    return random;
}

int fpemu_gpu_nan_is_error(const fpemu_format *f, const fpemu_rounding *r)
{
    return core_nan_policy(f, r) == FPEMU_NAN_ERROR && !f->has_nan;
}

/* The first element from which on four at a time lie aligned, modulo *step. */
static uintptr_t aligned_from(const void *p, size_t size, uintptr_t *step)
{
    *step = size == 8 ? 2 : 4; /* two vectors where an element has 8 bytes */
    return (0 - (uintptr_t)p / size) % *step;
}

uint8_t fpemu_gpu_phase(const void *x, size_t x_size, const void *y, size_t y_size)
{
    uintptr_t a, b;
    const uintptr_t p = aligned_from(x, x_size, &a), q = aligned_from(y, y_size, &b);
    if ((p ^ q) % (a < b ? a : b))
        return GPU_NO_QUADS;
    return (uint8_t)(a < b ? q : p);
}

static void fill_job(gpu_job *j, const fpemu_rounding *r, size_t n, const void *x, int x_type, void *y, int y_type,
                     uint32_t size, fpemu_cuda_stats *stats)
{
    j->n = n;
    j->x = x;
    j->y = y;
    j->x_type = (uint8_t)x_type;
    j->y_type = (uint8_t)y_type;
    j->x_size = (uint32_t)fpemu_gpu_size(x_type, size);
    j->y_size = (uint32_t)fpemu_gpu_size(y_type, size);
    j->phase = r && r->generator == FPEMU_GENERATOR_PHILOX && r->mode >= FPEMU_MODE_SR ? GPU_NO_QUADS
                                                                        : fpemu_gpu_phase(x, j->x_size, y, j->y_size);
    j->counts = (gpu_counts *)(void *)stats;
    j->piece = stats ? SUM_PIECE : PIECE;
    j->offset = r ? r->offset : 0;
    j->random = fpemu_gpu_random(r);
}

void fpemu_gpu_narrow_coder(core_coder32 *c, int type)
{
    fpemu_format f;
    memset(c, 0, sizeof *c);
    if (type != GPU_F32 && !fpemu_format_named(type == GPU_BF16 ? FPEMU_NAME_BFLOAT16 : FPEMU_NAME_BINARY16, &f))
        core_coder_make32(c, &f, NULL);
}

/* Values of x_type to values of the same type, or to codes. */
static int convert_inside(const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x, int x_type, void *y,
                          int to_code, fpemu_cuda_stats *stats, fpemu_cuda_stream stream)
{
    int status = check(f, r, x_type);
    if (status)
        return status;
    if (f->scaling || f->kind == FPEMU_KIND_CODEBOOK)
        return fpemu_gpu_vector(f, r, n, x, x_type, y, to_code, stats, stream);
    if (fpemu_gpu_nan_is_error(f, r))
        return FPEMU_ERROR_UNSUPPORTED;
    const int y_type = to_code ? GPU_CODES : x_type;
    const uint32_t size = (uint32_t)fpemu_format_code_size(f);
    if ((x_type == GPU_BF16 || x_type == GPU_F16) && !to_code && !fpemu_gpu_fits(f, x_type))
        return FPEMU_ERROR_CARRIER;
    if (r->offset > UINT64_MAX - n - SUM_PIECE)
        return FPEMU_ERROR_ARGUMENT;
    status = fpemu_gpu_check_pointers(x, fpemu_gpu_size(x_type, 0), y, fpemu_gpu_size(y_type, size), n);
    if (!status)
        status = fpemu_gpu_check_words(stats);
    if (status)
        return status;
    if (x_type == GPU_F64) {
        gpu_job64 j;
        memset(&j, 0, sizeof j);
        core_plan_make64(&j.plan, &j.job.integers, f, r, to_code);
        core_coder_make64(&j.coder, f, r);
        if (!to_code || j.coder.fast_encode || f->kind != FPEMU_KIND_FLOAT)
            core_choose_fast64(&j.plan, f);
        fill_job(&j.job, r, n, x, x_type, y, y_type, size, stats);
        return fpemu_gpu_convert64(&j, stream);
    }
    gpu_job32 j;
    memset(&j, 0, sizeof j);
    core_plan_make32(&j.plan, &j.job.integers, f, r, to_code);
    core_coder_make32(&j.coder, f, r);
    if (!to_code || j.coder.fast_encode || f->kind != FPEMU_KIND_FLOAT)
        core_choose_fast32(&j.plan, f);
    fpemu_gpu_narrow_coder(&j.narrow, x_type);
    fill_job(&j.job, r, n, x, x_type, y, y_type, size, stats);
    return fpemu_gpu_convert32(&j, stream);
}

/* In the default floating-point environment: plans are made of arithmetic. */
static int convert(const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x, int x_type, void *y,
                   int to_code, fpemu_cuda_stats *stats, fpemu_cuda_stream stream)
{
    fp_environment environment;
    if (n == 0)
        return FPEMU_OK;
    if (!f || !r || !x || !y)
        return FPEMU_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const int status = convert_inside(f, r, n, x, x_type, y, to_code, stats, stream);
    fpemu_environment_leave(&environment);
    return status;
}

static int decode_inside(const fpemu_format *f, size_t n, const void *codes, void *y, int y_type,
                         fpemu_cuda_stream stream)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const uint32_t size = (uint32_t)fpemu_format_code_size(f);
    int status = check(f, &nearest, y_type);
    if (!status && (f->scaling || f->kind == FPEMU_KIND_CODEBOOK))
        return fpemu_gpu_vector_decode(f, n, codes, y, y_type, stream);
    if (!status && (y_type == GPU_BF16 || y_type == GPU_F16) && !fpemu_gpu_fits(f, y_type))
        status = FPEMU_ERROR_CARRIER;
    if (!status)
        status = fpemu_gpu_check_pointers(codes, size, y, fpemu_gpu_size(y_type, 0), n);
    if (status)
        return status;
    if (y_type == GPU_F64) {
        gpu_job64 j;
        memset(&j, 0, sizeof j);
        core_coder_make64(&j.coder, f, NULL);
        fill_job(&j.job, NULL, n, codes, GPU_CODES, y, y_type, size, NULL);
        return fpemu_gpu_decode64(&j, stream);
    }
    gpu_job32 j;
    memset(&j, 0, sizeof j);
    core_coder_make32(&j.coder, f, NULL);
    fpemu_gpu_narrow_coder(&j.narrow, y_type);
    fill_job(&j.job, NULL, n, codes, GPU_CODES, y, y_type, size, NULL);
    return fpemu_gpu_decode32(&j, stream);
}

static int decode(const fpemu_format *f, size_t n, const void *codes, void *y, int y_type, fpemu_cuda_stream stream)
{
    fp_environment environment;
    if (n == 0)
        return FPEMU_OK;
    if (!f || !codes || !y)
        return FPEMU_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const int status = decode_inside(f, n, codes, y, y_type, stream);
    fpemu_environment_leave(&environment);
    return status;
}

/* ------------------------------------------------------------------------------------------------- verbs */

#define VERBS(suffix, TYPE, type)                                                                                      \
    int fpemu_cuda_quantize_##suffix(const fpemu_format *format, const fpemu_rounding *rounding, size_t n,             \
                                     const TYPE *d_x, TYPE *d_y, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)  \
    {                                                                                                                  \
        return convert(format, rounding, n, d_x, type, d_y, 0, d_stats, stream);                                       \
    }                                                                                                                  \
    int fpemu_cuda_encode_##suffix(const fpemu_format *format, const fpemu_rounding *rounding, size_t n,               \
                                   const TYPE *d_x, void *d_codes, fpemu_cuda_stats *d_stats,                          \
                                   fpemu_cuda_stream stream)                                                           \
    {                                                                                                                  \
        return convert(format, rounding, n, d_x, type, d_codes, 1, d_stats, stream);                                   \
    }                                                                                                                  \
    int fpemu_cuda_decode_##suffix(const fpemu_format *format, size_t n, const void *d_codes, TYPE *d_y,               \
                                   fpemu_cuda_stream stream)                                                           \
    {                                                                                                                  \
        return decode(format, n, d_codes, d_y, type, stream);                                                          \
    }

VERBS(f32, float, GPU_F32)
VERBS(f64, double, GPU_F64)
VERBS(bf16, uint16_t, GPU_BF16)
VERBS(f16, uint16_t, GPU_F16)

/* ------------------------------------------------------------------------------------------------- stats */

size_t fpemu_cuda_stats_size(void)
{
    return sizeof(gpu_counts);
}

int fpemu_cuda_stats_clear(fpemu_cuda_stats *d_stats, uint32_t want, fpemu_cuda_stream stream)
{
    if (!d_stats)
        return FPEMU_ERROR_NULL;
    if (want & ~(FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES))
        return FPEMU_ERROR_STATS;
    const int status = fpemu_gpu_check_words(d_stats);
    return status ? status : fpemu_gpu_clear((gpu_counts *)(void *)d_stats, want, stream);
}

static void read_sum(const gpu_counts *from, int k, fpemu_exact_sum *to)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < sizeof to->word / sizeof to->word[0]; i++) {
        uint64_t word = 0;
        for (int half = 0; half < 2; half++) {
            const uint64_t piece = from->sum[k][2 * i + (size_t)half] + carry; /* below 2^64: half of it is room */
            word |= (piece & 0xffffffffu) << (32 * half);
            carry = piece >> 32;
        }
        to->word[i] = word;
    }
    to->infinite = from->infinite[k];
}

/* Bins of exponents from `first` on into a caller's histogram. */
static void add_bins(int n, const uint64_t *bins, int64_t first, uint64_t *to, int64_t to_first, uint32_t length)
{
    for (int k = 0; k < n; k++) {
        const int64_t bin = first + k - to_first + 1, last = (int64_t)length - 1;
        to[bin < 0 ? 0 : bin > last ? last : bin] += bins[k];
    }
}

int fpemu_cuda_stats_read(const fpemu_cuda_stats *d_stats, void *scratch, fpemu_stats *stats, fpemu_cuda_stream stream)
{
    if (!d_stats || !scratch || !stats)
        return FPEMU_ERROR_NULL;
    int status = fpemu_gpu_check_words(d_stats);
    if (!status)
        status = fpemu_gpu_copy_back(scratch, d_stats, sizeof(gpu_counts), stream);
    if (status)
        return status;
    const gpu_counts *c = (const gpu_counts *)scratch;
    fpemu_stats s;
    memset(&s, 0, sizeof s);
    if (c->want != stats->want)
        return FPEMU_ERROR_STATS;
    s.count = c->count + c->counter[GPU_ROUNDINGS];
    s.nan = c->counter[GPU_NAN];
    s.infinite = c->counter[GPU_INFINITE];
    s.clipped = c->counter[GPU_CLIPPED];
    s.overflow = c->counter[GPU_OVERFLOW];
    s.invalid = c->counter[GPU_INVALID];
    s.div_by_zero = c->counter[GPU_DIV_BY_ZERO];
    s.underflow = c->counter[GPU_UNDERFLOW];
    s.subnormal = c->counter[GPU_SUBNORMAL];
    s.inexact = c->counter[GPU_INEXACT];
    s.swamped = c->counter[GPU_SWAMPED];
    s.blocks = c->counter[GPU_BLOCKS];
    s.zero_blocks = c->counter[GPU_ZERO_BLOCKS];
    s.nan_blocks = c->counter[GPU_NAN_BLOCKS];
    s.saturated_scales = c->counter[GPU_SATURATED_SCALES];
    s.max_abs = core_value64(c->max_abs);
    s.min_abs = c->not_min_abs ? core_value64(~c->not_min_abs) : 0;
    s.max_error = core_value64(c->max_error);
    read_sum(c, 0, &s.sum_error);
    read_sum(c, 1, &s.sum_error2);
    read_sum(c, 2, &s.sum_square);
    const uint32_t want = stats->want;
    if (((want & FPEMU_STATS_HISTOGRAM) && (!stats->histogram || stats->histogram_length < 3)) ||
        ((want & FPEMU_STATS_SCALES) && (!stats->scale_histogram || stats->scale_length < 3)))
        return FPEMU_ERROR_STATS;
    s.want = stats->want = want & FPEMU_STATS_SUMS;
    status = (int)fpemu_stats_merge(stats, &s);
    stats->want = want;
    if (!status && (want & FPEMU_STATS_HISTOGRAM))
        add_bins(GPU_BINS, c->bins, -1074, stats->histogram, stats->histogram_first, stats->histogram_length);
    if (!status && (want & FPEMU_STATS_SCALES))
        add_bins(GPU_SCALE_BINS, c->scale_bins, -(GPU_SCALE_BINS / 2), stats->scale_histogram, stats->scale_first,
                 stats->scale_length);
    return status;
}
