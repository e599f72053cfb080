/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.inc.c - packing and unpacking for one carrier; included twice by pack.c. */

/* Blocks [first, first + count) of `compact` values, or of a whole tensor. */
static fpemu_status pack_tensor(int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape,
                                uint64_t first, uint64_t count, int compact, const void *x, unsigned char *bytes,
                                fpemu_stats *stats)
{
    const size_t size = carrier_size(carrier);
    packing p;
    fpemu_format scale;
    if (!f || !r || !shape)
        return FPEMU_ERROR_NULL;
    fpemu_status status = fpemu_check_scaled(f, r, CARRIER_BITS, &scale); /* codes need not fit a narrow carrier */
    if (!status)
        status = plan_packing(&p, f, shape, size);
    if (status)
        return status;
    const fpemu_layout *l = &p.layout;
    if (compact && (first > l->blocks || count > l->blocks - first))
        return FPEMU_ERROR_ARGUMENT;
    count = compact ? count : l->blocks;
    if (count == 0)
        return FPEMU_OK;
    if (!bytes || !x)
        return FPEMU_ERROR_NULL;
    if (l->bytes > SIZE_MAX)
        return FPEMU_ERROR_ARGUMENT;
    int64_t begin = 0, end = 0;
    if (compact)
        end = (int64_t)((bytes_before(&p, first + count, 8) - bytes_before(&p, first, 8)) * size);
    else
        core_walk_reach(&p.walk, p.walk.x_axis, size, &begin, &end);
    if (overlaps(bytes, l->bytes, x, begin, end))
        return FPEMU_ERROR_OVERLAP;

    packer to = {&p, bytes};
    const block_sink sink = {&to, store_tensor, store_scale, store_elements, store_runs};
    core_tensor tensor;
    if (compact && l->tensor_bytes)
        tensor = load_tensor(bytes);
    const block_call call = {.format = f,
                             .rounding = r,
                             .shape = shape,
                             .first = first,
                             .count = compact ? count : UINT64_MAX,
                             .compact = compact,
                             .lines = 1,
                             /* cppcheck-suppress uninitvar ; set above where it is handed on */
                             .tensor = compact && l->tensor_bytes ? &tensor : NULL,
                             .sink = &sink,
                             .stats = stats,
                             .carrier = carrier,
                             .scale = &scale,
                             .walk = &p.walk};
    return fpemu_block_run(&call, x, NULL);
}

/* Values of the element format from the bytes of n elements; codes: room for them. */
static void unpack_values_of(const block_reader *r, int bits, size_t n, const unsigned char *bytes, void *codes,
                             realw *y)
{
    const int as_they_are = bits == 8 && r->size == 1;
    if (!as_they_are)
        unpack_codes(r->size, bits, n, bytes, codes);
    fpemu_reader_elements(r, n, as_they_are ? (const void *)bytes : codes, y);
}

/* Values to places `at`, at + step, ... of y; n at most TILE. */
static void unpack_values(int carrier, int64_t at, int64_t step, size_t n, const realw *values, void *y)
{
#if CARRIER_BITS == 32
    if (carrier_is_narrow(carrier)) {
        uint16_t words[TILE], *const to = (uint16_t *)y + at;
        carrier_narrow(fpemu_kernels(), carrier, n, values, step == 1 ? to : words);
        for (size_t k = 0; k < n && step != 1; k++)
            to[(int64_t)k * step] = words[k];
        return;
    }
#endif
    (void)carrier;
    for (size_t k = 0; k < n; k++)
        ((realw *)y)[at + (int64_t)k * step] = values[k];
}

/* The scales of `count` blocks and what all of them are times, from their bytes; 0 where one of them is no ordinary
 * number, or would take a value past an end of the carrier. */
static int unpack_scales(const block_reader *r, size_t count, const unsigned char *bytes, size_t size, realw *s,
                         realw *second)
{
    const core_block *b = &r->block;
    const int ends = CARRIER_BIAS - 1;
    uintw most = 0;
    *second = 1;
    if (b->rule == FPEMU_SCALING_S2FP8 || (size > 1 && !CORE_LITTLE_ENDIAN))
        return 0;
    if (b->bare) {
        int fits = b->near;
        for (size_t i = 0; i < count; i++) {
            core_scale one;
            core_scale_read(b, core_load_bytes(bytes + i * size, size), &one);
            const int c = one.exponent;
            fits &= c >= -ends && c <= ends && c + b->emax < ends;
            s[i] = fits ? core_value(core_power(c)) : 1;
        }
        return fits;
    }
    if (b->rule == FPEMU_SCALING_NVFP4 || b->rule == FPEMU_SCALING_NVFP4_AO)
        *second = (realw)b->tensor.b;
    fpemu_kernels()->loopsw->decode(&b->scale_coder, count, bytes, size, 0, s);
    for (size_t i = 0; i < count; i++) {
        const uintw a = core_bits(s[i]) & ~CARRIER_SIGN;
        most = a > most ? a : most;
    }
    return most < CARRIER_INF;
}

/* Full blocks from number b on, before `end`, that are neighbours in bytes and in y: how many, at most a tile. */
static uint64_t unpack_runs(const packing *p, const block_reader *r, uint64_t b, uint64_t end,
                            const unsigned char *bytes, realw *y)
{
    const core_walk *w = &p->walk;
    const fpemu_layout *l = &p->layout;
    const uint64_t length = w->tile_length, full = w->length / length, along = b % w->across;
    uint64_t codes[UNPACK_BYTES / sizeof(uint64_t)];
    realw s[TILE], second;
    core_place place;
    if (!r->scaled || w->inner != 1 || (w->block != FPEMU_BLOCK_RUN && w->block != FPEMU_BLOCK_ROW) || w->y[3] != 1 ||
        length > UNPACK_BYTES / r->size || length * l->element_bits % 8 || along >= full)
        return 0;
    const size_t count =
        (size_t)core_smaller(core_smaller(full - along, end - b), core_smaller(UNPACK_BYTES / r->size / length, TILE));
    const size_t n = count * (size_t)length;
    if (!unpack_scales(r, count, bytes + l->scales_offset + b * l->scale_bytes, (size_t)l->scale_bytes, s, &second))
        return 0;
    fpemu_walk_block(w, b, &place);
    unpack_values_of(r, (int)l->element_bits, n, bytes + offset_of(p, b), codes, y + place.y);
    fpemu_kernels()->loopsw->runs_y((size_t)length, count, s, second, y + place.y, y + place.y);
    return count;
}

/* n values of a block with this scale to places from `to` on, one after the other. */
static void unpack_compact(const block_reader *r, int carrier, uint64_t scale, size_t n, const void *codes, int64_t to,
                           void *y)
{
    realw values[TILE];
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < TILE ? n - at : TILE;
        fpemu_reader_values(r, scale, m, (const char *)codes + at * r->size, values);
        unpack_values(carrier, to + (int64_t)at, 1, m, values, y);
    }
}

/* n values of a block with this scale, and the codes, to places of y that may lie apart. */
static void unpack_apart(const packing *p, const block_reader *r, int carrier, const core_place *place,
                         uint64_t position, uint64_t scale, size_t n, const void *codes, void *y)
{
    realw values[TILE];
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < TILE ? n - at : TILE;
        fpemu_reader_values(r, scale, m, (const char *)codes + at * r->size, values);
        for (size_t done = 0; done < m;) {
            const core_span s = fpemu_walk_span(&p->walk, place, position + at + done, m - done);
            unpack_values(carrier, s.y, s.y_step, (size_t)s.n, values + done, y);
            done += (size_t)s.n;
        }
    }
}

/* Pieces [begin, end) of blocks, `pieces` a block, each of at most `most` elements. compact: y holds the elements of
 * the blocks from the first on, one after the other. */
static void unpack_pieces(const packing *p, const block_reader *r, int carrier, uint64_t first, uint64_t pieces,
                          size_t most, uint64_t begin, uint64_t end, int compact, const unsigned char *bytes, void *y)
{
    const int direct = carrier == CARRIER_BITS;
    uint64_t codes[UNPACK_BYTES / sizeof(uint64_t)], again = begin;
    const fpemu_layout *l = &p->layout;
    const uint64_t before = compact ? bytes_before(p, first, 8) : 0;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t b = first + i / pieces, position = i % pieces * most;
        core_place place;
        if (direct && !compact && pieces == 1 && i >= again) {
            const uint64_t done = unpack_runs(p, r, b, first + end, bytes, (realw *)y);
            again = done ? 0 : i + 16; /* where one block is left out, the next ones likely are */
            if (done) {
                i += done - 1;
                continue;
            }
        }
        fpemu_walk_block(&p->walk, b, &place);
        if (position >= place.elements)
            continue; /* a short block */
        const size_t n = (size_t)core_smaller(place.elements - position, most);
        const uint64_t scale = core_load_bytes(bytes + l->scales_offset + b * l->scale_bytes, (size_t)l->scale_bytes);
        const int as_they_are = l->element_bits == 8 && r->size == 1;
        const unsigned char *const from = bytes + offset_of(p, b) + position / 8 * l->element_bits;
        const void *const read = as_they_are ? (const void *)from : codes;
        if (!as_they_are)
            unpack_codes(r->size, (int)l->element_bits, n, from, codes);
        core_span s = {n, 0, 1, 0, 1, (int64_t)(bytes_before(p, b, 8) - before + position), 1};
        if (!compact)
            s = fpemu_walk_span(&p->walk, &place, position, n);
        if (direct && s.n == n && s.y_step == 1)
            fpemu_reader_values(r, scale, n, read, (realw *)y + s.y);
        else if (!compact)
            unpack_apart(p, r, carrier, &place, position, scale, n, read, y);
        else
            unpack_compact(r, carrier, scale, n, read, s.y, y);
    }
}

static fpemu_status unpack_tensor(int carrier, const fpemu_format *f, const fpemu_shape *shape, uint64_t first,
                                  uint64_t count, int compact, const unsigned char *bytes, void *y)
{
    const size_t size = carrier_size(carrier);
    packing p;
    block_reader reader;
    fpemu_format scale;
    if (!f || !shape)
        return FPEMU_ERROR_NULL;
    fpemu_status status = fpemu_check_scaled(f, NULL, carrier, &scale);
    if (!status)
        status = plan_packing(&p, f, shape, size);
    if (status)
        return status;
    const fpemu_layout *l = &p.layout;
    if (compact && (first > l->blocks || count > l->blocks - first))
        return FPEMU_ERROR_ARGUMENT;
    count = compact ? count : l->blocks;
    if (count == 0)
        return FPEMU_OK;
    if (!bytes || !y)
        return FPEMU_ERROR_NULL;
    const uint64_t elements = bytes_before(&p, first + count, 8) - bytes_before(&p, first, 8);
    if (l->bytes > SIZE_MAX || elements > PTRDIFF_MAX / size)
        return FPEMU_ERROR_ARGUMENT;
    int64_t low = 0, high = (int64_t)(elements * size);
    if (!compact)
        core_walk_reach(&p.walk, p.walk.y_axis, size, &low, &high);
    if (overlaps(bytes, l->bytes, y, low, high))
        return FPEMU_ERROR_OVERLAP;

    core_tensor tensor = {1, 1};
    if (l->tensor_bytes)
        tensor = load_tensor(bytes);
    fp_environment environment;
    fpemu_environment_enter(&environment);
    fpemu_reader_begin(&reader, f, &scale, l->tensor_bytes ? &tensor : NULL);
    const size_t most = UNPACK_BYTES / reader.size;
    const uint64_t pieces = (l->block_elements - 1) / most + 1, total = pieces * count;
    const int parts = thread_count((size_t)elements);
    if (parts == 1) { /* apart: entering a parallel region costs more than many a call */
        unpack_pieces(&p, &reader, carrier, first, pieces, most, 0, total, compact, bytes, y);
        fpemu_environment_leave(&environment);
        return FPEMU_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
    for (int k = 0; k < parts; k++) {
        const uint64_t part = total / (uint64_t)parts, begin = part * (uint64_t)k;
        fp_environment own; /* a worker thread has its own */
        fpemu_environment_enter(&own);
        unpack_pieces(&p, &reader, carrier, first, pieces, most, begin, k == parts - 1 ? total : begin + part, compact,
                      bytes, y);
        fpemu_environment_leave(&own);
    }
    fpemu_environment_leave(&environment);
    return FPEMU_OK;
}
