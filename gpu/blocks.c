/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.c - the calls of tensors with scales and of packed bytes: arguments are checked and made into jobs
 * (block_job.c), which launch.h runs. */
#include "block_job.h"
#include "core/plan.h"
#include "core/round_fast.h"

/* ------------------------------------------------------------------------------------------------ scratch */

/* What lies in the scratch, each part at a multiple of 8 bytes. */
typedef struct scratch_plan {
    uint64_t range, table, extremes, lines, bytes; /* offsets, UINT64_MAX where there is none */
} scratch_plan;

/* How many numbers of a table do not go with the job: of those that are long, or are rounded to by codes of their own. */
static size_t table_apart(const fpemu_format *f, int reading)
{
    if (f->kind != FPEMU_KIND_CODEBOOK)
        return 0;
    if (f->codebook == FPEMU_CODEBOOK_CODES && !reading)
        return FPEMU_CODES_MEMORY(f->codebook_length);
    return f->codebook_length > GPU_TABLE ? f->codebook_length : 0;
}

static scratch_plan plan_scratch(const fpemu_format *f, const core_walk *w, int reading)
{
    scratch_plan p = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0};
    if (w->blocks == 0)
        return p;
    if (core_needs_range(f)) {
        p.range = p.bytes;
        p.bytes += sizeof(gpu_range);
    }
    if (table_apart(f, reading)) {
        p.table = p.bytes;
        p.bytes += (table_apart(f, reading) * sizeof(float) + 7) / 8 * 8;
    }
    if (f->scaling && f->block != FPEMU_BLOCK_TENSOR && f->scaling != FPEMU_SCALING_S2FP8 &&
        fpemu_gpu_full_block(w) > GPU_PIECE) {
        p.extremes = p.bytes;
        p.bytes += w->blocks * sizeof(gpu_extremes);
    }
    if (f->outer) {
        p.lines = p.bytes;
        p.bytes += w->blocks / w->across * sizeof(gpu_extremes);
    }
    return p;
}

uint64_t fpemu_cuda_scratch_size(const fpemu_format *format, const fpemu_shape *shape)
{
    fpemu_layout layout;
    core_walk w;
    if (!format || !shape || fpemu_packed_layout(format, shape, &layout))
        return 0;
    const fpemu_shape s = fpemu_gpu_contiguous(shape);
    return core_walk_begin(&w, format, &s, 1, 1) ? 0 : plan_scratch(format, &w, 0).bytes;
}

/* ------------------------------------------------------------------------------------------------- checks */

/* Format, rounding and range. */
static fpemu_cuda_status check_tensor(const gpu_tensor *c)
{
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const fpemu_cuda_status status =
        fpemu_gpu_check(c->format, c->rounding ? c->rounding : &nearest, gpu_carrier(c->type));
    const fpemu_given *const given = c->rounding ? c->shape->given : NULL;
    if (!status && c->rounding && !core_told_range_is_sane(c->shape))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (!status && given && (c->rounding->compat || (given->tensor > 0 && c->bytes)))
        return FPEMU_CUDA_ERROR_UNSUPPORTED; /* nothing puts the two numbers of the tensor before packed bytes */
    return status;
}

/* Alignment, overlap and reach of the call's arrays. */
static fpemu_cuda_status check_arrays(const gpu_tensor *c, const core_walk *w, const core_layout *l, uint64_t packed)
{
    const size_t size = fpemu_gpu_size(c->type, 0);
    const uint64_t elements = c->count == ALL_BLOCKS
                                  ? w->total
                                  : core_layout_before(l, c->first + c->count, 8) - core_layout_before(l, c->first, 8);
    const void *const array[2] = {c->x, c->y};
    core_reach reach[2] = {{.to = 0}, {.to = 0}}, bytes = {.to = 0}; /* of an array that there is not */
    if (c->bytes && !core_reach_array(&bytes, c->bytes, packed, 1))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    for (int k = 0; k < 2; k++) {
        if (!array[k])
            continue;
        if (!(c->count == ALL_BLOCKS ? core_walk_reach(w, array[k], k ? w->y_axis : w->x_axis, size, &reach[k])
                                     : core_reach_array(&reach[k], array[k], elements, size)) ||
            (uintptr_t)array[k] % size)
            return FPEMU_CUDA_ERROR_ARGUMENT;
        if (core_reaches_meet(&reach[k], &bytes))
            return FPEMU_CUDA_ERROR_OVERLAP;
    }
    if ((c->x != c->y || !core_walk_is_same(w) || core_corrected(c->format)) && core_reaches_meet(&reach[0], &reach[1]))
        return FPEMU_CUDA_ERROR_OVERLAP;
    if (c->code_size && (uintptr_t)c->bytes % c->code_size)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    const fpemu_given *const given = c->shape->given;
    const void *const all[] = {c->x, c->y, c->bytes, given ? given->scales : NULL, given ? given->zeros : NULL};
    fpemu_cuda_status status = FPEMU_CUDA_OK;
    for (size_t k = 0; k < sizeof all / sizeof *all && !status; k++)
        status = all[k] ? fpemu_gpu_reachable(all[k]) : FPEMU_CUDA_OK;
    if (!status)
        status = fpemu_gpu_check_words(c->scratch);
    return status ? status : fpemu_gpu_check_words(c->stats);
}

/* --------------------------------------------------------------------------------------------------- jobs */

/* Takes from *j what goes in runs, its blocks and, of *left, its elements: *runs then is that. */
static void take_runs(const core_walk *w, gpu_blocks_job32 *j, gpu_blocks_job32 *runs, uint64_t *left)
{
    if (runs->call.run == w->tile_length && !runs->call.whole)
        runs->call.count = gpu_run_elements(&runs->call) / runs->call.run;
    j->call.first += runs->call.count;
    j->call.count -= runs->call.count;
    *left -= gpu_run_elements(&runs->call);
}

/* The thresholds of a table that goes with the job. */
static void make_thresholds(gpu_blocks_job32 *j)
{
    core_search32 s;
    core_codebook table = j->rule.table;
    table.values = j->table;
    if (table.length > GPU_TABLE)
        return;
    core_search_begin32(&s, &table);
    if (!s.usable)
        return;
    memcpy(j->fast.thresholds, s.thresholds, sizeof j->fast.thresholds);
    j->steps = s.steps;
    for (j->search = s.usable; j->search && j->search < table.length;)
        j->search *= 2;
}

/* The fast forms of other elements. */
static void make_fast(const fpemu_format *f, const fpemu_format *element, gpu_blocks_job32 *j)
{
    const core_block32 *const b = &j->rule.block;
    const core_coder32 *const c = &b->scale_coder;
    gpu_run_fast *const by = &j->fast.by;
    const core_extremes32 zero = {0, 0, 0, 0, 0};
    core_scale32 s;
    core_choose_fast32(&j->rule.plan, element);
    by->pow2 = core_pow2_block_make32(b, f, j->rule.plan.mode);
    if (j->call.bytes && by->pow2.usable) { /* codes of powers by themselves */
        by->pow2.usable = (uint8_t)(b->bare ? b->code_mask <= 255 : core_codes_are_powers32(c)); /* of a byte */
        by->one = b->bare ? 0 : (uint32_t)(127 + c->bias);
        by->mask = b->bare ? b->code_mask : (uint32_t)c->mask;
        core_scale_candidate32(b, &zero, 0, &s);
        by->zero = (uint32_t)core_scale_code32(b, &s);
    }
    if (!core_direct_make32(&by->direct, &j->rule.plan, &j->rule.coder) && j->rule.plan.mode == FPEMU_MODE_RNE &&
        j->call.bytes)
        j->rule.plan.rule = CORE_RULE_FLOAT; /* no run */
}

/* Elements of a tensor without gaps, by the fast forms of their rule; *j then is what is left, of *left elements. */
static fpemu_cuda_status launch_runs(const gpu_tensor *c, const core_walk *w, const fpemu_format *element,
                                     gpu_blocks_job32 *j, uint64_t *left, fpemu_cuda_stream stream)
{
    gpu_blocks_job32 runs = *j;
    if (core_codebook_low(&runs.rule.table))
        return FPEMU_CUDA_OK;
    if (runs.rule.is_table) {
        make_thresholds(&runs);
    } else {
        make_fast(c->format, element, &runs);
    }
    if (w->block == CORE_WALK_INDEX && !c->bytes)
        runs.call.whole = 1;
    runs.call.run = fpemu_gpu_run_length(c, w, &runs);
    if (!runs.call.run)
        return FPEMU_CUDA_OK;
    take_runs(w, j, &runs, left);
    const fpemu_cuda_status status = fpemu_gpu_block_runs32(&runs, stream);
    return status || !c->stats ? status : fpemu_gpu_blocks32(&runs, 0, stream); /* where sums are wanted */
}

/* Packed bytes likewise, and what is left of them. */
static fpemu_cuda_status launch_unpack(const gpu_tensor *c, const core_walk *w, gpu_blocks_job32 *j,
                                       fpemu_cuda_stream stream)
{
    gpu_blocks_job32 runs = *j;
    uint64_t left = w->total;
    fpemu_cuda_status status = FPEMU_CUDA_OK;
    runs.call.whole = c->format->block == FPEMU_BLOCK_TENSOR;
    runs.call.run = fpemu_gpu_unpack_length(c, w, &runs);
    if (runs.call.run) {
        take_runs(w, j, &runs, &left);
        status = fpemu_gpu_unpack32(&runs, stream);
    }
    return status || !left ? status : fpemu_gpu_unpack32(j, stream);
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

/* A table that does not go with the job goes into the scratch. */
static fpemu_cuda_status put_table(gpu_blocks_call *j, const fpemu_format *f, int reading, unsigned char *scratch,
                                   const scratch_plan *p, fpemu_cuda_stream stream)
{
    if (p->table == UINT64_MAX)
        return FPEMU_CUDA_OK;
    float *const to = (float *)(void *)(scratch + p->table);
    j->table = to;
    return fpemu_gpu_put_table(to, f->table, (uint32_t)table_apart(f, reading), stream);
}

/* The extremes of each line of a call: those of a format whose blocks they are. */
static fpemu_cuda_status find_lines(const gpu_tensor *c, const core_walk *w, const fpemu_layout *l, gpu_blocks_call *j,
                                    gpu_extremes *to, fpemu_cuda_stream stream)
{
    fpemu_format rows = *c->format;
    gpu_tensor own = *c;
    core_walk walk;
    gpu_blocks_job32 j32;
    gpu_blocks_job64 j64;
    rows.block = FPEMU_BLOCK_ROW;
    rows.block_length = 0;
    own.y = own.bytes = NULL;
    own.stats = NULL;
    if (own.count != ALL_BLOCKS) {
        own.first /= w->across;
        own.count /= w->across;
    }
    j->lines = to;
    j->line_rule = fpemu_gpu_tensor_rule(c->format, c->type);
    fpemu_cuda_status status = gpu_status(core_walk_begin(&walk, &rows, c->shape, fpemu_gpu_size(c->type, 0), 1));
    memset(&j32, 0, sizeof j32);
    memset(&j64, 0, sizeof j64);
    gpu_blocks_call *const call = c->type == GPU_F64 ? &j64.call : &j32.call;
    fpemu_gpu_fill_blocks(call, &own, &walk, l);
    call->extremes = to;
    if (!status)
        status = fpemu_gpu_zero((uint64_t *)(void *)to, call->count * sizeof *to / 8, stream);
    if (status)
        return status;
    return c->type == GPU_F64 ? fpemu_gpu_extremes64(&j64, stream) : fpemu_gpu_extremes32(&j32, stream);
}

/* Everything that quantises, packs or unpacks, arguments being checked. */
static fpemu_cuda_status launch(const gpu_tensor *c, const core_walk *w, const fpemu_layout *l,
                                fpemu_cuda_stream stream)
{
    const fpemu_format *f = c->format;
    const fpemu_rounding nearest = fpemu_rounding_nearest();
    const int reading = !c->rounding, has_tensor = core_has_tensor(f);
    const scratch_plan p = plan_scratch(f, w, reading);
    unsigned char *const scratch = (unsigned char *)c->scratch;
    fpemu_format element, scale;
    gpu_blocks_call job;
    gpu_blocks_job32 j32;
    gpu_blocks_job64 j64;
    fpemu_gpu_formats(f, &element, &scale);
    fpemu_gpu_fill_blocks(&job, c, w, l);
    const int from_bytes = has_tensor && (reading || (job.consecutive && !core_rule_chooses(f->scaling) && !f->outer));
    fpemu_cuda_status status = put_table(&job, f, reading, scratch, &p, stream);
    job.tensor_from_bytes = (uint8_t)from_bytes;
    if (!status && !reading && core_needs_range(f) && !(job.given.tensor > 0) &&
        !(from_bytes && f->block != FPEMU_BLOCK_TENSOR)) {
        job.range = (gpu_range *)(void *)(scratch + p.range);
        job.whole = f->block == FPEMU_BLOCK_TENSOR;
        job.other = c->shape->whole != NULL;
        status = fpemu_gpu_find_range(c, job.range, job.consecutive ? NULL : job.bytes, stream);
    }
    if (!status && !reading && p.extremes != UINT64_MAX) {
        job.extremes = (gpu_extremes *)(void *)(scratch + p.extremes);
        status = fpemu_gpu_zero((uint64_t *)(void *)job.extremes, job.count * sizeof(gpu_extremes) / 8, stream);
    }
    if (!status && !reading && p.lines != UINT64_MAX)
        status = find_lines(c, w, l, &job, (gpu_extremes *)(void *)(scratch + p.lines), stream);
    if (status)
        return status;
    const uint64_t elements = job.consecutive ? core_layout_before(&job.layout, c->first + c->count, 8) -
                                                    core_layout_before(&job.layout, c->first, 8)
                                              : w->total;
    if (c->type == GPU_F64) {
        memset(&j64, 0, sizeof j64);
        core_blocked_make64(&j64.rule, f, &element, &scale, reading ? &nearest : c->rounding, c->bytes != NULL);
        take_table(f, j64.table);
        j64.call = job;
        if (reading)
            return fpemu_gpu_unpack64(&j64, stream);
        status = job.extremes ? fpemu_gpu_extremes64(&j64, stream) : FPEMU_CUDA_OK;
        return status ? status : fpemu_gpu_blocks64(&j64, elements, stream);
    }
    memset(&j32, 0, sizeof j32);
    core_blocked_make32(&j32.rule, f, &element, &scale, reading ? &nearest : c->rounding, c->bytes != NULL);
    take_table(f, j32.table);
    j32.call = job;
    if (reading)
        return launch_unpack(c, w, &j32, stream);
    uint64_t left = elements;
    status = job.extremes ? fpemu_gpu_extremes32(&j32, stream) : FPEMU_CUDA_OK;
    if (!status)
        status = launch_runs(c, w, &element, &j32, &left, stream);
    return status || !left ? status : fpemu_gpu_blocks32(&j32, left, stream);
}

/* In the default floating-point environment: plans are made of arithmetic. */
static fpemu_cuda_status run_inside(const gpu_tensor *c, fpemu_cuda_stream stream)
{
    const fpemu_format *f = c->format;
    fpemu_layout l;
    core_walk w;
    fpemu_cuda_status status = check_tensor(c);
    if (!status)
        status = gpu_status(core_walk_begin(&w, f, c->shape, fpemu_gpu_size(c->type, 0), c->lines));
    if (!status)
        status = gpu_status(fpemu_packed_layout(f, c->shape, &l));
    if (status)
        return status;
    const int values_in = c->rounding != NULL, packing = c->lines || c->code_size;
    if (!(values_in && packing) && !f->scaling && f->kind != FPEMU_KIND_CODEBOOK && !fpemu_gpu_fits(f, c->type))
        return FPEMU_CUDA_ERROR_CARRIER;
    if (c->count != ALL_BLOCKS && (c->first > l.blocks || c->count > l.blocks - c->first))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (w.blocks == 0 || c->count == 0)
        return FPEMU_CUDA_OK;
    if (values_in && c->count != ALL_BLOCKS && core_rule_chooses(f->scaling) && !c->shape->whole && !f->outer)
        return FPEMU_CUDA_ERROR_NULL; /* packed bytes do not keep the tensor's amax */
    const uint64_t line = w.across * (w.block == FPEMU_BLOCK_TILE ? w.down : 1);
    if (values_in && c->count != ALL_BLOCKS && (f->outer || core_corrected(f)) && (c->first % line || c->count % line))
        return FPEMU_CUDA_ERROR_ARGUMENT; /* part of a line does not have its numbers, or corrections */
    if ((values_in ? !c->x : !c->y) || (packing ? !c->bytes : !c->y))
        return FPEMU_CUDA_ERROR_NULL;
    if (c->rounding && fpemu_gpu_nan_is_error(f, c->rounding))
        return FPEMU_CUDA_ERROR_UNSUPPORTED;
    const core_layout blocks = core_layout_make(&w);
    status = check_arrays(c, &w, &blocks, c->code_size ? w.total * c->code_size : l.bytes);
    const scratch_plan scratch = plan_scratch(f, &w, !values_in);
    if (!status && scratch.bytes && (values_in || scratch.table != UINT64_MAX) && !c->scratch)
        status = FPEMU_CUDA_ERROR_NULL;
    return status ? status : launch(c, &w, &l, stream);
}

static fpemu_cuda_status run(const gpu_tensor *c, fpemu_cuda_stream stream)
{
    fp_environment environment;
    if (c->type == GPU_CODES)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (!c->format || !c->shape)
        return FPEMU_CUDA_ERROR_NULL;
    fpemu_environment_enter(&environment);
    const fpemu_cuda_status status = run_inside(c, stream);
    fpemu_environment_leave(&environment);
    return status;
}

/* ---------------------------------------------------------------------------- what other calls hand over */

fpemu_cuda_status fpemu_gpu_quantize_blocks(const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x,
                                            int type, void *y, int to_code, fpemu_cuda_stats *stats,
                                            fpemu_cuda_stream stream)
{
    const fpemu_shape shape = fpemu_shape_vector(n);
    if ((to_code && f->scaling) || fpemu_cuda_scratch_size(f, &shape))
        return FPEMU_CUDA_ERROR_UNSUPPORTED;
    const gpu_tensor c = {.format = f,
                          .rounding = r,
                          .shape = &shape,
                          .count = ALL_BLOCKS,
                          .x = x,
                          .y = to_code ? NULL : y,
                          .bytes = to_code ? y : NULL,
                          .stats = stats,
                          .code_size = to_code ? (uint32_t)fpemu_format_code_size(f) : 0,
                          .type = type};
    return run(&c, stream);
}

fpemu_cuda_status fpemu_gpu_decode_codebook(const fpemu_format *f, size_t n, const void *codes, void *y, int type,
                                            fpemu_cuda_stream stream)
{
    const fpemu_shape shape = fpemu_shape_vector(n);
    if (f->scaling || table_apart(f, 1))
        return FPEMU_CUDA_ERROR_UNSUPPORTED;
    const gpu_tensor c = {.format = f,
                          .shape = &shape,
                          .count = ALL_BLOCKS,
                          .y = y,
                          .bytes = (void *)(uintptr_t)codes,
                          .code_size = (uint32_t)fpemu_format_code_size(f),
                          .type = type};
    return run(&c, stream);
}

/* ------------------------------------------------------------------------------------- public functions */

static fpemu_cuda_status quantize(const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape,
                                  const void *x, int type, void *y, void *scratch, fpemu_cuda_stats *stats,
                                  fpemu_cuda_stream stream)
{
    const gpu_tensor c = {.format = f,
                          .rounding = r,
                          .shape = shape,
                          .count = ALL_BLOCKS,
                          .x = x,
                          .y = y,
                          .scratch = scratch,
                          .stats = stats,
                          .type = type};
    return r ? run(&c, stream) : FPEMU_CUDA_ERROR_NULL;
}

fpemu_cuda_status fpemu_gpu_quantize_shape(const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape,
                                           const void *x, void *y, void *scratch, int type, fpemu_cuda_stream stream)
{
    return quantize(f, r, shape, x, type, y, scratch, NULL, stream);
}

static fpemu_cuda_status pack(const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape, uint64_t first,
                              uint64_t count, const void *x, int type, void *bytes, void *scratch,
                              fpemu_cuda_stats *stats, fpemu_cuda_stream stream)
{
    const gpu_tensor c = {.format = f,
                          .rounding = r,
                          .shape = shape,
                          .first = first,
                          .count = count,
                          .x = x,
                          .bytes = bytes,
                          .scratch = scratch,
                          .stats = stats,
                          .type = type,
                          .lines = 1};
    return r ? run(&c, stream) : FPEMU_CUDA_ERROR_NULL;
}

static fpemu_cuda_status unpack(const fpemu_format *f, const fpemu_shape *shape, uint64_t first, uint64_t count,
                                const void *bytes, void *y, int type, void *scratch, fpemu_cuda_stream stream)
{
    const gpu_tensor c = {.format = f,
                          .shape = shape,
                          .first = first,
                          .count = count,
                          .y = y,
                          .bytes = (void *)(uintptr_t)bytes,
                          .scratch = scratch,
                          .type = type,
                          .lines = 1};
    return run(&c, stream);
}

fpemu_cuda_status fpemu_cuda_quantize_tensor(const fpemu_format *format, const fpemu_rounding *rounding,
                                             fpemu_type type, const fpemu_shape *shape, const void *d_x, void *d_y,
                                             void *d_scratch, fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    return quantize(format, rounding, shape, d_x, fpemu_gpu_type(type), d_y, d_scratch, d_stats, stream);
}

fpemu_cuda_status fpemu_cuda_pack(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                  const fpemu_shape *shape, const void *d_x, void *d_bytes, void *d_scratch,
                                  fpemu_cuda_stats *d_stats, fpemu_cuda_stream stream)
{
    return pack(format, rounding, shape, 0, ALL_BLOCKS, d_x, fpemu_gpu_type(type), d_bytes, d_scratch, d_stats, stream);
}

fpemu_cuda_status fpemu_cuda_unpack(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape,
                                    const void *d_bytes, void *d_y, void *d_scratch, fpemu_cuda_stream stream)
{
    return unpack(format, shape, 0, ALL_BLOCKS, d_bytes, d_y, fpemu_gpu_type(type), d_scratch, stream);
}

fpemu_cuda_status fpemu_cuda_pack_blocks(const fpemu_format *format, const fpemu_rounding *rounding, fpemu_type type,
                                         const fpemu_shape *shape, uint64_t first, uint64_t count, const void *d_x,
                                         void *d_bytes, void *d_scratch, fpemu_cuda_stats *d_stats,
                                         fpemu_cuda_stream stream)
{
    if (rounding && count == ALL_BLOCKS)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    return pack(format, rounding, shape, first, count, d_x, fpemu_gpu_type(type), d_bytes, d_scratch, d_stats, stream);
}

fpemu_cuda_status fpemu_cuda_unpack_blocks(const fpemu_format *format, fpemu_type type, const fpemu_shape *shape,
                                           uint64_t first, uint64_t count, const void *d_bytes, void *d_y,
                                           void *d_scratch, fpemu_cuda_stream stream)
{
    if (count == ALL_BLOCKS)
        return FPEMU_CUDA_ERROR_ARGUMENT;
    return unpack(format, shape, first, count, d_bytes, d_y, fpemu_gpu_type(type), d_scratch, stream);
}

static fpemu_cuda_status swizzle(uint64_t rows, uint64_t columns, const uint8_t *from, uint8_t *to, int back,
                                 fpemu_cuda_stream stream)
{
    const uint64_t size = fpemu_swizzled_size(rows, columns);
    if (size == 0)
        return rows == 0 || columns == 0 ? FPEMU_CUDA_OK : FPEMU_CUDA_ERROR_ARGUMENT;
    if (!from || !to)
        return FPEMU_CUDA_ERROR_NULL;
    const uint64_t plain = rows * columns;
    core_reach read, written;
    if (!core_reach_array(&read, from, back ? size : plain, 1) ||
        !core_reach_array(&written, to, back ? plain : size, 1))
        return FPEMU_CUDA_ERROR_ARGUMENT;
    if (core_reaches_meet(&read, &written))
        return FPEMU_CUDA_ERROR_OVERLAP;
    fpemu_cuda_status status = fpemu_gpu_reachable(from);
    if (!status)
        status = fpemu_gpu_reachable(to);
    return status ? status : fpemu_gpu_swizzle(rows, columns, from, to, back, stream);
}

fpemu_cuda_status fpemu_cuda_swizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *d_from, uint8_t *d_to,
                                            fpemu_cuda_stream stream)
{
    return swizzle(rows, columns, d_from, d_to, 0, stream);
}

fpemu_cuda_status fpemu_cuda_unswizzle_scales(uint64_t rows, uint64_t columns, const uint8_t *d_from, uint8_t *d_to,
                                              fpemu_cuda_stream stream)
{
    return swizzle(rows, columns, d_from, d_to, 1, stream);
}
