/* tensors.c - the verbs of tensors with scales and of packed bytes: arguments are checked and made into jobs. */
#include "call.h"
#include "core/plan.h"
#include "core/round_fast.h"

#include <float.h>

/* What a call hands to its job. */
typedef struct tensor_call {
    const fpemu_format *format;
    const fpemu_rounding *rounding; /* NULL: unpacking */
    const fpemu_shape *shape;
    uint64_t first, count; /* blocks; count UINT64_MAX: all of them */
    const void *x;
    void *y, *bytes, *scratch;
    fpemu_cuda_stats *stats;
    uint32_t code_size; /* bytes is an array of such codes */
    int type, lines;
} tensor_call;

/* ------------------------------------------------------------------------------------------------ scratch */

/* What lies in the scratch, each part at a multiple of 8 bytes. */
typedef struct scratch_plan {
    uint64_t range, table, extremes, bytes; /* offsets, UINT64_MAX where there is none */
} scratch_plan;

static uint64_t full_block(const core_walk *w)
{
    return w->n[0] * w->n[1] * w->n[2] * w->n[3];
}

static scratch_plan plan_scratch(const fpemu_format *f, const core_walk *w)
{
    scratch_plan p = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0};
    if (w->blocks == 0)
        return p;
    if (core_needs_range(f)) {
        p.range = p.bytes;
        p.bytes += sizeof(gpu_range);
    }
    if (f->kind == FPEMU_KIND_CODEBOOK && f->codebook_length > GPU_TABLE) {
        p.table = p.bytes;
        p.bytes += (f->codebook_length * sizeof(float) + 7) / 8 * 8;
    }
    if (f->scaling && f->block != FPEMU_BLOCK_TENSOR && f->scaling != FPEMU_SCALING_S2FP8 &&
        full_block(w) > GPU_PIECE) {
        p.extremes = p.bytes;
        p.bytes += w->blocks * sizeof(gpu_extremes);
    }
    return p;
}

/* The shape without strides, whose checks need an array. */
static fpemu_shape contiguous(const fpemu_shape *shape)
{
    fpemu_shape s = *shape;
    memset(s.x_stride, 0, sizeof s.x_stride);
    memset(s.y_stride, 0, sizeof s.y_stride);
    return s;
}

uint64_t fpemu_cuda_scratch_size(const fpemu_format *format, const fpemu_shape *shape)
{
    fpemu_layout layout;
    core_walk w;
    if (!format || !shape || fpemu_packed_layout(format, shape, &layout))
        return 0;
    const fpemu_shape s = contiguous(shape);
    return core_walk_begin(&w, format, &s, 1, 1) ? 0 : plan_scratch(format, &w).bytes;
}

/* ------------------------------------------------------------------------------------------------- checks */

/* The library's own check of format, rounding and range, by its verb on one number. */
static int check_tensor(const tensor_call *c)
{
    fpemu_shape one = fpemu_shape_vector(1);
    const fpemu_rounding nearest = fpemu_rounding_nearest(), *const r = c->rounding ? c->rounding : &nearest;
    const float x32 = 0;
    const double x64 = 0;
    float y32;
    double y64;
    one.whole = c->rounding ? c->shape->whole : NULL;
    return (int)(c->type == GPU_F64 ? fpemu_quantize_tensor_f64(c->format, r, &one, &x64, &y64, NULL)
                                    : fpemu_quantize_tensor_f32(c->format, r, &one, &x32, &y32, NULL));
}

/* Bytes [first, last) of arrays that are apart. */
static int meet(const void *x, int64_t x_first, int64_t x_last, const void *y, int64_t y_first, int64_t y_last)
{
    const uintptr_t p = (uintptr_t)x, q = (uintptr_t)y;
    return p + (uintptr_t)x_first < q + (uintptr_t)y_last && q + (uintptr_t)y_first < p + (uintptr_t)x_last;
}

/* Alignment, overlap and reach of the call's arrays. */
static int check_arrays(const tensor_call *c, const core_walk *w, const core_layout *l, uint64_t packed)
{
    const size_t size = fpemu_gpu_size(c->type, 0);
    const int64_t elements =
        c->count == UINT64_MAX
            ? 0
            : (int64_t)(core_layout_before(l, c->first + c->count, 8) - core_layout_before(l, c->first, 8)) *
                  (int64_t)size;
    const void *const array[2] = {c->x, c->y};
    int64_t first[2] = {0, 0}, last[2] = {elements, elements};
    for (int k = 0; k < 2; k++) {
        if (!array[k])
            continue;
        if (c->count == UINT64_MAX)
            core_walk_reach(w, k ? w->y_axis : w->x_axis, size, &first[k], &last[k]);
        if ((uintptr_t)array[k] % size)
            return FPEMU_ERROR_ARGUMENT;
        if (c->bytes && meet(array[k], first[k], last[k], c->bytes, 0, (int64_t)packed))
            return FPEMU_ERROR_OVERLAP;
    }
    if (c->x && c->y && (c->x != c->y || memcmp(w->x_axis, w->y_axis, sizeof w->x_axis) != 0) &&
        meet(c->x, first[0], last[0], c->y, first[1], last[1]))
        return FPEMU_ERROR_OVERLAP;
    if (c->code_size && (uintptr_t)c->bytes % c->code_size)
        return FPEMU_ERROR_ARGUMENT;
    const void *const all[] = {c->x, c->y, c->bytes};
    int status = FPEMU_OK;
    for (size_t k = 0; k < sizeof all / sizeof *all && !status; k++)
        status = all[k] ? fpemu_gpu_reachable(all[k]) : FPEMU_OK;
    if (!status)
        status = fpemu_gpu_check_words(c->scratch);
    return status ? status : fpemu_gpu_check_words(c->stats);
}

/* --------------------------------------------------------------------------------------------------- jobs */

/* The smallest power of two that is not below n, at most 32. */
static uint32_t group_of(uint64_t n)
{
    uint32_t group = 1;
    while (group < n && group < 32)
        group *= 2;
    return group;
}

/* Whether neighbours in memory belong to neighbouring blocks. */
static int is_across(const tensor_call *c, const core_walk *w)
{
    if (c->bytes || c->stats || c->count != UINT64_MAX)
        return 0;
    if (w->block == FPEMU_BLOCK_RUN || w->block == FPEMU_BLOCK_ROW)
        return w->inner > 1 && w->x_axis[2] != 1;
    return w->block == FPEMU_BLOCK_CHANNEL && w->x_axis[2] == 1;
}

/* Whether the array lies so that blocks begin at vectors of four elements. axis: its strides. */
static int begins_aligned(const tensor_call *c, const core_walk *w, const void *p, const int64_t axis[4], int64_t step)
{
    const uint64_t extent[4] = {w->outer, w->rows, w->length, w->inner};
    const size_t size = fpemu_gpu_size(c->type, 0), wanted = size < 4 ? 4 * size : 16;
    if (!p)
        return 1;
    if (step != 1 || (uintptr_t)p % wanted)
        return 0;
    if (c->count != UINT64_MAX) /* blocks one after the other */
        return 1;
    for (int a = 0; a < 4; a++)
        if (a != 2 && extent[a] > 1 && axis[a] % 4 && w->block != FPEMU_BLOCK_TENSOR && w->block != CORE_WALK_INDEX)
            return 0;
    return 1;
}

/* Whether four neighbours of a block can be taken at once: they follow one another everywhere, and every block begins
 * aligned. */
static int is_in_quads(const tensor_call *c, const core_walk *w, const gpu_tensor_job *j)
{
    const int runs = w->block == FPEMU_BLOCK_RUN || w->block == FPEMU_BLOCK_ROW;
    const int whole = w->block == FPEMU_BLOCK_TENSOR || (w->block == CORE_WALK_INDEX && !c->rounding);
    if (j->by_block || j->code_size || (!runs && !whole) || w->n[0] != 1 || w->n[1] != 1 || w->n[2] != 1 ||
        w->step[3] != 1 || (c->bytes && (j->element_bits > 16 || j->element_bits % 2)))
        return 0;
    if (runs && (w->inner != 1 || (w->length > w->tile_length && w->tile_length % 4) ||
                 (c->count != UINT64_MAX && w->blocks > 1 && (w->length % 4 || w->tile_length % 4))))
        return 0;
    return begins_aligned(c, w, c->x, w->x_axis, w->x[3]) && begins_aligned(c, w, c->y, w->y_axis, w->y[3]);
}

/* Whether elements follow one another in memory without a gap. */
static int is_dense(const core_walk *w, const int64_t axis[4])
{
    const uint64_t extent[4] = {w->outer, w->rows, w->length, w->inner};
    uint64_t step = 1;
    for (int a = 3; a >= 0; step *= extent[a--])
        if (extent[a] > 1 && (axis[a] < 0 || (uint64_t)axis[a] != step))
            return 0;
    return 1;
}

/* The length of blocks of which whole sheets go by gpu_tensor_runs; 0: they do not. */
static uint32_t run_of(const tensor_call *c, const core_walk *w, const gpu_tensor_job32 *j)
{
    const core_blocked32 *b = &j->rule;
    const uint64_t length = w->tile_length;
    const int mode = b->plan.mode, rule = b->plan.rule;
    if (!b->scaled || b->compat.setting || c->stats || c->bytes || !j->job.quad_group || !is_dense(w, w->x_axis) ||
        !is_dense(w, w->y_axis) ||
        (!b->is_table && ((mode != FPEMU_MODE_RNE && mode != FPEMU_MODE_SR) ||
                          (rule != CORE_RULE_SHIFTER_STOP && rule != CORE_RULE_EVEN))))
        return 0;
    if (j->job.whole)
        return b->block.rule == FPEMU_SCALING_S2FP8 ? 0 : 128;
    if (j->job.extremes || b->block.rule == FPEMU_SCALING_S2FP8 || b->block.rule == FPEMU_SCALING_MUPPET ||
        (w->block != FPEMU_BLOCK_RUN && w->block != FPEMU_BLOCK_ROW) || w->total < 128 ||
        (w->length % length != 0 && w->outer * w->rows != 1))
        return 0;
    return length == 16 || length == 32 || length == 64 || length == 128 ? (uint32_t)length : 0;
}

/* Elements of a tensor without gaps, by the quick forms of their rule; *j then is what is left, if *left. */
static int launch_runs(const tensor_call *c, const core_walk *w, const fpemu_format *element, gpu_tensor_job32 *j,
                       int *left, fpemu_cuda_stream stream)
{
    gpu_tensor_job32 runs = *j;
    if (!runs.rule.is_table)
        core_choose_fast32(&runs.rule.plan, element);
    *left = 1;
    runs.job.run = run_of(c, w, &runs);
    if (!runs.job.run)
        return FPEMU_OK;
    const uint64_t done = j->job.whole ? j->job.count : w->total / 128 * (128 / runs.job.run);
    j->job.first += done;
    j->job.count -= done;
    *left = j->job.count != 0;
    return fpemu_gpu_runs32(&runs, stream);
}

static void fill_job(gpu_tensor_job *j, const tensor_call *c, const core_walk *w, const fpemu_layout *l)
{
    const uint64_t full = full_block(w),
                   before = w->block == CORE_WALK_INDEX && c->rounding ? c->rounding->offset % GPU_PIECE : 0;
    memset(j, 0, sizeof *j);
    j->walk = *w;
    j->layout = core_layout_make(w);
    j->random = fpemu_gpu_random(c->rounding);
    j->offset = c->rounding ? c->rounding->offset : 0;
    j->flat = c->count != UINT64_MAX;
    j->first = c->first;
    j->count = j->flat ? c->count : w->blocks;
    j->pieces = (full + before - 1) / GPU_PIECE + 1;
    j->x = c->x;
    j->y = c->y;
    j->bytes = (unsigned char *)c->bytes;
    j->code_size = c->code_size;
    j->scales_offset = l->scales_offset;
    j->elements_offset = l->elements_offset;
    j->scale_bytes = (uint32_t)l->scale_bytes;
    j->element_bits = (uint32_t)l->element_bits;
    j->counts = (gpu_counts *)(void *)c->stats;
    j->tensor.a = j->tensor.b = 1;
    j->x_type = j->y_type = (uint8_t)c->type;
    j->by_block = (uint8_t)is_across(c, w);
    j->group = j->by_block ? 1 : j->pieces > 1 ? 32 : group_of(full);
    if (w->block == CORE_WALK_INDEX) /* lanes of sums go by index */
        j->group = 32;
    if (c->bytes && !c->code_size && j->group < 8)
        j->group = 8;
    if (is_in_quads(c, w, j))
        j->quad_group = j->pieces > 1 ? 32 : group_of((full + 3) / 4);
}

/* Codebook values, where they fit. */
static void take_table(const fpemu_format *f, float *table)
{
    uint8_t codes[GPU_TABLE]; /* of one byte, as there are no more */
    fpemu_format element;
    if (f->kind != FPEMU_KIND_CODEBOOK || f->codebook_length > GPU_TABLE || fpemu_format_element(f, &element))
        return;
    for (uint32_t i = 0; i < f->codebook_length; i++)
        codes[i] = (uint8_t)i;
    fpemu_decode_f32(&element, f->codebook_length, codes, table);
}

/* A long table goes into the scratch. */
static int put_table(gpu_tensor_job *j, const fpemu_format *f, unsigned char *scratch, const scratch_plan *p,
                     fpemu_cuda_stream stream)
{
    if (p->table == UINT64_MAX)
        return FPEMU_OK;
    float *const to = (float *)(void *)(scratch + p->table);
    j->table = to;
    return fpemu_gpu_put_table(to, f->table.values, f->codebook_length, stream);
}

/* The scale format, all zero where there is none. */
static void take_formats(const fpemu_format *f, fpemu_format *element, fpemu_format *scale)
{
    memset(scale, 0, sizeof *scale);
    fpemu_format_element(f, element);
    if (f->scaling && !f->scale_power)
        fpemu_format_scale(f, scale);
}

/* Adds what a tensor holds to a range. */
static int measure(const fpemu_format *f, const fpemu_shape *shape, const void *x, int type, gpu_range *range,
                   fpemu_cuda_stream stream)
{
    fpemu_format scalar = *f;
    fpemu_layout none;
    core_walk w;
    memset(&none, 0, sizeof none);
    scalar.scaling = FPEMU_SCALING_NONE;
    const int status = (int)core_walk_begin(&w, &scalar, shape, fpemu_gpu_size(type, 0), 0);
    if (status || w.blocks == 0)
        return status;
    const tensor_call c = {f, NULL, shape, 0, UINT64_MAX, x, NULL, NULL, NULL, NULL, 0, type, 0};
    if (type == GPU_F64) {
        gpu_tensor_job64 j;
        memset(&j, 0, sizeof j);
        fill_job(&j.job, &c, &w, &none);
        j.job.range = range;
        j.job.logarithms = f->scaling == FPEMU_SCALING_S2FP8;
        return fpemu_gpu_measure64(&j, w.total, stream);
    }
    gpu_tensor_job32 j;
    memset(&j, 0, sizeof j);
    fill_job(&j.job, &c, &w, &none);
    fpemu_gpu_narrow_coder(&j.narrow, type);
    j.job.range = range;
    j.job.logarithms = f->scaling == FPEMU_SCALING_S2FP8;
    return fpemu_gpu_measure32(&j, w.total, stream);
}

/* What turns a range into the numbers of f. */
static gpu_tensor_rule tensor_rule(const fpemu_format *f, int type)
{
    gpu_tensor_rule rule;
    fpemu_format element, scale;
    memset(&rule, 0, sizeof rule);
    take_formats(f, &element, &scale);
    const double max = f->kind == FPEMU_KIND_CODEBOOK && -f->lowest > f->max ? -f->lowest : f->max;
    rule.rule = f->scaling;
    rule.wide = type == GPU_F64;
    rule.largest_scale = core_saturated32(scale.max);
    rule.largest = core_saturated32(max);
    return rule;
}

/* The numbers of the whole tensor into the scratch: measured, or from the caller's range. */
static int find_range(const tensor_call *c, gpu_range *range, unsigned char *bytes, fpemu_cuda_stream stream)
{
    const fpemu_range *whole = c->shape->whole;
    int status = fpemu_gpu_zero((uint64_t *)(void *)range, sizeof *range / 8, stream);
    const fpemu_shape shape = c->count == UINT64_MAX ? *c->shape : contiguous(c->shape);
    if (!status && !whole)
        status = measure(c->format, &shape, c->x, c->type, range, stream);
    return status ? status
                  : fpemu_gpu_range_finish(range, tensor_rule(c->format, c->type), whole,
                                           core_has_tensor(c->format) ? bytes : NULL, stream);
}

static void fill_narrow(gpu_tensor_job32 *j, int type)
{
    fpemu_format f;
    core_plan64 unused;
    fpemu_rounding r = fpemu_rounding_nearest();
    r.overflow = FPEMU_OVERFLOW_SATURATE;
    fpemu_gpu_narrow_coder(&j->narrow, type);
    if (type != GPU_F32 && !fpemu_format_named(type == GPU_BF16 ? FPEMU_NAME_BFLOAT16 : FPEMU_NAME_BINARY16, &f))
        core_plan_make32(&j->narrow_plan, &unused, &f, &r, 0);
}

/* Everything that quantises, packs or unpacks, arguments being checked. */
static int launch(const tensor_call *c, const core_walk *w, const fpemu_layout *l, fpemu_cuda_stream stream)
{
    const fpemu_format *f = c->format;
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const int reading = !c->rounding, has_tensor = core_has_tensor(f);
    const scratch_plan p = plan_scratch(f, w);
    unsigned char *const scratch = (unsigned char *)c->scratch;
    fpemu_format element, scale;
    gpu_tensor_job job;
    gpu_tensor_job32 j32;
    gpu_tensor_job64 j64;
    take_formats(f, &element, &scale);
    fill_job(&job, c, w, l);
    const int from_bytes = has_tensor && (reading || job.flat);
    int status = put_table(&job, f, scratch, &p, stream);
    job.tensor_from_bytes = (uint8_t)from_bytes;
    if (!status && !reading && core_needs_range(f) && !(from_bytes && f->block != FPEMU_BLOCK_TENSOR)) {
        job.range = (gpu_range *)(void *)(scratch + p.range);
        job.whole = f->block == FPEMU_BLOCK_TENSOR;
        job.other = c->shape->whole != NULL;
        status = find_range(c, job.range, job.flat ? NULL : job.bytes, stream);
    }
    if (!status && !reading && p.extremes != UINT64_MAX) {
        job.extremes = (gpu_extremes *)(void *)(scratch + p.extremes);
        status = fpemu_gpu_zero((uint64_t *)(void *)job.extremes, job.count * sizeof(gpu_extremes) / 8, stream);
    }
    if (status)
        return status;
    const uint64_t elements = job.flat ? core_layout_before(&job.layout, c->first + c->count, 8) -
                                             core_layout_before(&job.layout, c->first, 8)
                                       : w->total;
    if (c->type == GPU_F64) {
        memset(&j64, 0, sizeof j64);
        core_blocked_make64(&j64.rule, f, &element, &scale, reading ? &nearest : c->rounding);
        take_table(f, j64.table);
        j64.job = job;
        if (reading)
            return fpemu_gpu_untensor64(&j64, stream);
        status = job.extremes ? fpemu_gpu_extremes64(&j64, stream) : FPEMU_OK;
        return status ? status : fpemu_gpu_tensor64(&j64, elements, stream);
    }
    memset(&j32, 0, sizeof j32);
    core_blocked_make32(&j32.rule, f, &element, &scale, reading ? &nearest : c->rounding);
    take_table(f, j32.table);
    fill_narrow(&j32, c->type);
    j32.job = job;
    if (reading)
        return fpemu_gpu_untensor32(&j32, stream);
    int left;
    status = job.extremes ? fpemu_gpu_extremes32(&j32, stream) : launch_runs(c, w, &element, &j32, &left, stream);
    return status || !(job.extremes || left) ? status : fpemu_gpu_tensor32(&j32, elements, stream);
}

/* In the default floating-point environment: plans are made of arithmetic. */
static int run_inside(const tensor_call *c, fpemu_cuda_stream stream)
{
    const fpemu_format *f = c->format;
    fpemu_layout l;
    core_walk w;
    int status = check_tensor(c);
    if (status == FPEMU_ERROR_UNSUPPORTED && !c->rounding) /* codes are read without rounding */
        status = FPEMU_OK;
    if (!status)
        status = (int)core_walk_begin(&w, f, c->shape, fpemu_gpu_size(c->type, 0), c->lines);
    if (!status)
        status = (int)fpemu_packed_layout(f, c->shape, &l);
    if (status)
        return status;
    if (c->count != UINT64_MAX && (c->first > l.blocks || c->count > l.blocks - c->first))
        return FPEMU_ERROR_ARGUMENT;
    if (w.blocks == 0 || c->count == 0)
        return FPEMU_OK;
    const int values_in = c->rounding != NULL, packing = c->lines || c->code_size;
    if ((values_in ? !c->x : !c->y) || (packing ? !c->bytes : !c->y))
        return FPEMU_ERROR_NULL;
    if (c->rounding && fpemu_gpu_nan_is_error(f, c->rounding))
        return FPEMU_ERROR_UNSUPPORTED;
    if ((c->type == GPU_BF16 || c->type == GPU_F16) && c->y && !f->scaling && f->kind != FPEMU_KIND_CODEBOOK &&
        !fpemu_gpu_fits(f, c->type))
        return FPEMU_ERROR_CARRIER;
    const core_layout blocks = core_layout_make(&w);
    status = check_arrays(c, &w, &blocks, c->code_size ? w.total * c->code_size : l.bytes);
    if (!status && plan_scratch(f, &w).bytes && (c->rounding || plan_scratch(f, &w).table != UINT64_MAX) && !c->scratch)
        status = FPEMU_ERROR_NULL;
    return status ? status : launch(c, &w, &l, stream);
}

static int run(const tensor_call *c, fpemu_cuda_stream stream)
{
    fp_environment environment;
    if (!c->format || !c->shape)
        return FPEMU_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const int status = run_inside(c, stream);
    fpemu_environment_leave(&environment);
    return status;
}

/* ---------------------------------------------------------------------------- what scalar verbs hand over */

int fpemu_gpu_vector(const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x, int type, void *y,
                     int to_code, fpemu_cuda_stats *stats, fpemu_cuda_stream stream)
{
    const fpemu_shape shape = fpemu_shape_vector(n);
    if ((to_code && f->scaling) || fpemu_cuda_scratch_size(f, &shape))
        return FPEMU_ERROR_UNSUPPORTED;
    const tensor_call c = {f,
                           r,
                           &shape,
                           0,
                           UINT64_MAX,
                           x,
                           to_code ? NULL : y,
                           to_code ? y : NULL,
                           NULL,
                           stats,
                           to_code ? (uint32_t)fpemu_format_code_size(f) : 0,
                           type,
                           0};
    return run(&c, stream);
}

int fpemu_gpu_vector_decode(const fpemu_format *f, size_t n, const void *codes, void *y, int type,
                            fpemu_cuda_stream stream)
{
    const fpemu_shape shape = fpemu_shape_vector(n);
    if (f->scaling || fpemu_cuda_scratch_size(f, &shape))
        return FPEMU_ERROR_UNSUPPORTED;
    const tensor_call c = {
        f,    NULL, &shape, 0, UINT64_MAX, NULL, y, (void *)(uintptr_t)codes, NULL, NULL, (uint32_t)fpemu_format_code_size(f),
        type, 0};
    return run(&c, stream);
}

int fpemu_gpu_along(const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape, const void *x, void *y,
                    int type, fpemu_cuda_stream stream)
{
    const tensor_call c = {f, r, shape, 0, UINT64_MAX, x, y, NULL, NULL, NULL, 0, type, 0};
    return run(&c, stream);
}

/* -------------------------------------------------------------------------------------------------- range */

size_t fpemu_cuda_range_size(void)
{
    return sizeof(gpu_range);
}

int fpemu_cuda_range_clear(fpemu_cuda_range *d_range, fpemu_cuda_stream stream)
{
    if (!d_range)
        return FPEMU_ERROR_NULL;
    const int status = fpemu_gpu_check_words(d_range);
    return status ? status : fpemu_gpu_zero((uint64_t *)(void *)d_range, sizeof(gpu_range) / 8, stream);
}

int fpemu_cuda_range_read(const fpemu_cuda_range *d_range, fpemu_range *range, fpemu_cuda_stream stream)
{
    gpu_range seen;
    fp_environment environment;
    if (!d_range || !range)
        return FPEMU_ERROR_NULL;
    int status = fpemu_gpu_check_words(d_range);
    if (!status)
        status = fpemu_gpu_copy_back(&seen, d_range, sizeof seen, stream);
    if (status)
        return status;
    fpemu_environment_enter(&environment);
    gpu_range_value(&seen, range);
    fpemu_environment_leave(&environment);
    return FPEMU_OK;
}

static int measure_vector(const fpemu_format *f, size_t n, const void *x, int type, fpemu_cuda_range *range,
                          fpemu_cuda_stream stream)
{
    const fpemu_shape shape = fpemu_shape_vector(n);
    fp_environment environment;
    fpemu_range unused;
    memset(&unused, 0, sizeof unused);
    if (!f || !range || (n && !x))
        return FPEMU_ERROR_NULL;
    int status =
        (int)(type == GPU_F64 ? fpemu_measure_f64(f, 0, NULL, &unused) : fpemu_measure_f32(f, 0, NULL, &unused));
    if (!status && n && (uintptr_t)x % fpemu_gpu_size(type, 0))
        status = FPEMU_ERROR_ARGUMENT;
    if (!status && n)
        status = fpemu_gpu_reachable(x);
    if (!status)
        status = fpemu_gpu_check_words(range);
    if (status || n == 0)
        return status;
    fpemu_environment_enter(&environment);
    status = measure(f, &shape, x, type, (gpu_range *)(void *)range, stream);
    fpemu_environment_leave(&environment);
    return status;
}

int fpemu_cuda_pack_tensor_scales(const fpemu_format *format, const fpemu_shape *shape, const fpemu_cuda_range *d_range,
                           void *d_bytes, fpemu_cuda_stream stream)
{
    const gpu_range *const range = (const gpu_range *)(const void *)d_range;
    fpemu_layout l;
    fp_environment environment;
    int status = (int)fpemu_packed_layout(format, shape, &l);
    if (status || l.tensor_bytes == 0)
        return status;
    if (!d_bytes || (!shape->whole && !range))
        return FPEMU_ERROR_NULL;
    if (!shape->whole && meet(range, 0, sizeof *range, d_bytes, 0, (int64_t)l.tensor_bytes))
        return FPEMU_ERROR_OVERLAP;
    status = shape->whole ? FPEMU_OK : fpemu_gpu_check_words(range);
    if (!status)
        status = fpemu_gpu_reachable(d_bytes);
    if (status)
        return status;
    fpemu_environment_enter(&environment);
    status = fpemu_gpu_pack_tensor(range, tensor_rule(format, GPU_F64), shape->whole,
                                   (unsigned char *)d_bytes + l.tensor_offset, stream);
    fpemu_environment_leave(&environment);
    return status;
}

/* ------------------------------------------------------------------------------------------------- verbs */

#define VERBS(suffix, TYPE, type)                                                                                      \
    int fpemu_cuda_measure_##suffix(const fpemu_format *format, size_t n, const TYPE *d_x, fpemu_cuda_range *d_range,  \
                                    fpemu_cuda_stream stream)                                                          \
    {                                                                                                                  \
        return measure_vector(format, n, d_x, type, d_range, stream);                                                  \
    }                                                                                                                  \
    int fpemu_cuda_quantize_tensor_##suffix(const fpemu_format *format, const fpemu_rounding *rounding,                 \
                                           const fpemu_shape *shape, const TYPE *d_x, TYPE *d_y, void *d_scratch,      \
                                           fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)                        \
    {                                                                                                                  \
        const tensor_call c = {                                                                                        \
            format, rounding, shape, 0, UINT64_MAX, d_x, d_y, NULL, d_scratch, d_stats, 0, type, 0};                   \
        return rounding ? run(&c, stream) : (int)FPEMU_ERROR_NULL;                                                     \
    }                                                                                                                  \
    int fpemu_cuda_pack_##suffix(const fpemu_format *format, const fpemu_rounding *rounding, const fpemu_shape *shape, \
                                 const TYPE *d_x, void *d_bytes, void *d_scratch, fpemu_cuda_stats *d_stats,           \
                                 fpemu_cuda_stream stream)                                                             \
    {                                                                                                                  \
        const tensor_call c = {format,  rounding,  shape,   0, UINT64_MAX, d_x, NULL,                                  \
                               d_bytes, d_scratch, d_stats, 0, type,       1};                                         \
        return rounding ? run(&c, stream) : (int)FPEMU_ERROR_NULL;                                                     \
    }                                                                                                                  \
    int fpemu_cuda_unpack_##suffix(const fpemu_format *format, const fpemu_shape *shape, const void *d_bytes,          \
                                   TYPE *d_y, void *d_scratch, fpemu_cuda_stream stream)                               \
    {                                                                                                                  \
        const tensor_call c = {format,    NULL, shape, 0,    UINT64_MAX, NULL, d_y, (void *)(uintptr_t)d_bytes,        \
                               d_scratch, NULL, 0,     type, 1};                                                       \
        return run(&c, stream);                                                                                        \
    }                                                                                                                  \
    int fpemu_cuda_pack_blocks_##suffix(const fpemu_format *format, const fpemu_rounding *rounding,                    \
                                        const fpemu_shape *shape, uint64_t first, uint64_t count, const TYPE *d_x,     \
                                        void *d_bytes, void *d_scratch, fpemu_cuda_stats *d_stats,                     \
                                        fpemu_cuda_stream stream)                                                      \
    {                                                                                                                  \
        const tensor_call c = {format,  rounding,  shape,   first, count, d_x, NULL,                                   \
                               d_bytes, d_scratch, d_stats, 0,     type,  1};                                          \
        return !rounding ? (int)FPEMU_ERROR_NULL : count == UINT64_MAX ? (int)FPEMU_ERROR_ARGUMENT : run(&c, stream);  \
    }                                                                                                                  \
    int fpemu_cuda_unpack_blocks_##suffix(const fpemu_format *format, const fpemu_shape *shape, uint64_t first,        \
                                          uint64_t count, const void *d_bytes, TYPE *d_y, void *d_scratch,             \
                                          fpemu_cuda_stream stream)                                                    \
    {                                                                                                                  \
        const tensor_call c = {format,    NULL, shape, first, count, NULL, d_y, (void *)(uintptr_t)d_bytes,            \
                               d_scratch, NULL, 0,     type,  1};                                                      \
        return count == UINT64_MAX ? (int)FPEMU_ERROR_ARGUMENT : run(&c, stream);                                      \
    }

VERBS(f32, float, GPU_F32)
VERBS(f64, double, GPU_F64)
VERBS(bf16, uint16_t, GPU_BF16)
VERBS(f16, uint16_t, GPU_F16)

static int swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                   fpemu_cuda_stream stream)
{
    const uint64_t size = fpemu_swizzled_size(rows, columns);
    if (size == 0)
        return rows == 0 || columns == 0 ? FPEMU_OK : FPEMU_ERROR_ARGUMENT;
    if (size > PTRDIFF_MAX)
        return FPEMU_ERROR_ARGUMENT;
    if (!from || !to)
        return FPEMU_ERROR_NULL;
    const int64_t plain = (int64_t)(rows * columns), tiled = (int64_t)size;
    if (meet(from, 0, back ? tiled : plain, to, 0, back ? plain : tiled))
        return FPEMU_ERROR_OVERLAP;
    int status = fpemu_gpu_reachable(from);
    if (!status)
        status = fpemu_gpu_reachable(to);
    return status ? status : fpemu_gpu_swizzle(rows, columns, from, to, back, stream);
}

int fpemu_cuda_swizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *d_from, uint8_t *d_to,
                              fpemu_cuda_stream stream)
{
    return swizzle(rows, columns, d_from, d_to, 0, stream);
}

int fpemu_cuda_unswizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *d_from, uint8_t *d_to,
                                fpemu_cuda_stream stream)
{
    return swizzle(rows, columns, d_from, d_to, 1, stream);
}
