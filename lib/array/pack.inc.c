/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.inc.c - packing and unpacking for one carrier; included twice by pack.c. */

/* Blocks [first, first + count) of `compact` values, or of a whole tensor. */
fpemu_status fpemu_pack_run(int carrier, const void *plan, const fpemu_format *f, const fpemu_rounding *r,
                            const fpemu_shape *shape, uint64_t first, uint64_t count, int compact, const void *x,
                            unsigned char *bytes, fpemu_stats *stats)
{
    const size_t size = carrier_size(carrier);
    packing p;
    fpemu_format own;
    const fpemu_format *scale = NULL;
    fpemu_status status = FPEMU_OK;
    if (!f || !r || !shape)
        return FPEMU_ERROR_NULL;
    if (!plan) /* codes need not fit a narrow carrier */
        status = fpemu_check_scaled(f, r, CARRIER_BITS, &scale, &own, NULL);
    if (!status)
        status = plan_packing(&p, f, shape, size);
    if (status)
        return status;
    const fpemu_layout *l = &p.layout;
    if ((compact && (first > l->blocks || count > l->blocks - first)) || !core_told_range_is_sane(shape))
        return FPEMU_ERROR_ARGUMENT;
    count = compact ? count : l->blocks;
    if (count == 0)
        return FPEMU_OK;
    if (!bytes || !x)
        return FPEMU_ERROR_NULL;
    const uint64_t elements = compact ? bytes_before(&p, first + count, 8) - bytes_before(&p, first, 8) : p.walk.total;
    status = check_packed(&p, bytes, x, p.walk.x_axis, size, compact, elements);
    if (status)
        return status;

    packer to = {&p, bytes};
    const block_sink sink = {&to, store_tensor, store_scale, store_elements, store_runs};
    core_tensor tensor;
    const int known = compact && l->tensor_bytes && !f->outer;
    if (known)
        tensor = load_tensor(bytes);
    const block_call call = {.format = f,
                             .rounding = r,
                             .shape = shape,
                             .first = first,
                             .count = compact ? count : UINT64_MAX,
                             .compact = compact,
                             .lines = 1,
                             /* cppcheck-suppress uninitvar ; set above where it is handed on */
                             .tensor = known ? &tensor : NULL,
                             .sink = &sink,
                             .stats = stats,
                             .carrier = carrier,
                             .scale = scale,
                             .walk = &p.walk,
                             .plan = plan};
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

/* The table of all values where it is worth it; else NULL. */
static const core_unpack *unpack_table(core_unpack *u, const block_reader *r, uint32_t bits, uint64_t elements)
{
#if CARRIER_BITS == 32
    const int affine = !r->values && r->coder.affine; /* which `decode` makes by a product */
    if (bits <= CORE_UNPACK_BITS && elements >> bits >= UNPACK_WORTH && !affine &&
        !(r->scaled && r->block.rule == FPEMU_SCALING_S2FP8)) {
        uint8_t codes[1 << CORE_UNPACK_BITS];
        for (uint32_t code = 0; code < UINT32_C(1) << CORE_UNPACK_BITS; code++)
            codes[code] = (uint8_t)code;
        fpemu_reader_elements32(r, (size_t)1 << bits, codes, u->values);
        fpemu_kernels()->loops32->unpack_make(u, bits);
        return u;
    }
#else
    (void)u, (void)r, (void)bits, (void)elements;
#endif
    return NULL;
}

/* Values to places `at`, at + step, ... of y; n at most TILE where the step is not 1. */
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

/* The scales of `count` blocks and what all of them are times, from their bytes, and the bits of the largest. 0 where
 * one of them would take a value past an end of the carrier, or they are not of this kind. */
static int unpack_scales(const block_reader *r, size_t count, const unsigned char *bytes, size_t size, realw *s,
                         realw *second, uintw *most)
{
    const core_block *b = &r->block;
    const int ends = CARRIER_BIAS - 1;
    *second = 1;
    if (!r->scaled) {
        s[0] = 1;
        *most = 0; /* values stay as they are */
        return count == 1;
    }
    if (b->rule == FPEMU_SCALING_S2FP8 || core_rule_levels(b->rule) || b->order || core_rule_is_super(b->rule) ||
        (size > 1 && !CORE_LITTLE_ENDIAN))
        return 0;
    if (b->bare) {
        int32_t low = ends + 1, high = -ends - 1;
        if (size == 1)
            fpemu_kernels()->loopsw->runs_powers(b->code_mask, count, bytes, s, &low, &high);
        for (size_t i = 0; i < count && size > 1; i++) {
            core_scale one;
            core_scale_read(b, core_load_bytes(bytes + i * size, size), &one);
            low = one.exponent < low ? one.exponent : low;
            high = one.exponent > high ? one.exponent : high;
            s[i] = core_value((uintw)(one.exponent + CARRIER_BIAS) << CARRIER_MANTISSA);
        }
        if (low < -ends || high > ends)
            return 0;
        *most = core_power(high);
        return b->near && high + b->emax < ends;
    }
    if (core_rule_is_nvfp4(b->rule))
        *second = (realw)b->tensor.b;
    const carrier_loops *const loops = fpemu_kernels()->loopsw;
    loops->decode(&b->scale_coder, count, bytes, size, 0, s);
    loops->runs_amax(count, 1, s, most);
    return 1;
}

/* Values of `count` blocks of `length` codes in a row, with these scales, to y of the carrier, which is this one where
 * there is no table; codes: room for those that are not looked up. 0 where they are left to unpack_pieces. */
static int unpack_scaled(const block_reader *r, const core_unpack *u, int carrier, uint32_t bits, size_t length,
                         size_t count, const unsigned char *bytes, const realw *s, realw second, uintw most,
                         void *codes, void *y)
{
#if CARRIER_BITS == 32
    if (u) {
        fpemu_kernels()->loops32->unpack(u, carrier_type(carrier), 0, length, count, bytes, r->scaled ? s : NULL,
                                         second, most, y);
        return 1;
    }
#else
    (void)u, (void)carrier;
#endif
    if (!r->scaled || most >= CARRIER_INF)
        return 0;
    unpack_values_of(r, (int)bits, length * count, bytes, codes, (realw *)y);
    fpemu_kernels()->loopsw->runs_y(length, count, s, second, y, y);
    return 1;
}

/* Full blocks from number b on, before `end`, that are neighbours in bytes and in y: how many, at most a tile. */
static uint64_t unpack_runs(const packing *p, const block_reader *r, const core_unpack *u, const unpack_to *to,
                            uint64_t b, uint64_t end, const unsigned char *bytes)
{
    const core_walk *w = &p->walk;
    const fpemu_layout *l = &p->layout;
    const uint64_t length = w->tile_length, full = w->length / length, along = b % w->across;
    if (!is_group(length))
        u = NULL;
    const int direct = u || to->carrier == CARRIER_BITS;
    const uint64_t most_elements = direct ? UNPACK_BYTES / r->size : UNPACK_TILE;
    uint64_t codes[UNPACK_BYTES / sizeof(uint64_t)];
    realw s[TILE], second, tile[UNPACK_TILE];
    uintw most;
    core_place place;
    if (!r->scaled || w->inner != 1 || (w->block != FPEMU_BLOCK_RUN && w->block != FPEMU_BLOCK_ROW) || w->y[3] != 1 ||
        to->compact || length > most_elements || length * l->element_bits % 8 || along >= full)
        return 0;
    const size_t count =
        (size_t)core_smaller(core_smaller(full - along, end - b), core_smaller(most_elements / length, TILE));
    const size_t n = count * (size_t)length;
    if (!unpack_scales(r, count, bytes + l->scales_offset + b * l->scale_bytes, (size_t)l->scale_bytes, s, &second,
                       &most))
        return 0;
    fpemu_walk_block(w, b, &place);
    if (!unpack_scaled(r, u, direct ? to->carrier : CARRIER_BITS, (uint32_t)l->element_bits, (size_t)length, count,
                       bytes + offset_of(p, b), s, second, most, codes,
                       direct ? (char *)to->y + place.y * (int64_t)carrier_size(to->carrier) : (void *)tile))
        return 0;
    if (!direct)
        unpack_values(to->carrier, place.y, 1, n, tile, to->y);
    return count;
}

/* n values of a block whose scale is in these bytes, to places of y from `at` on, one after the other; 0 as
 * unpack_scaled. */
static int unpack_row(const packing *p, const block_reader *r, const core_unpack *u, const unpack_to *to,
                      const unsigned char *scale, size_t n, const unsigned char *bytes, int64_t at)
{
    realw s[1], second;
    uintw most;
    return u && unpack_scales(r, 1, scale, (size_t)p->layout.scale_bytes, s, &second, &most) &&
           unpack_scaled(r, u, to->carrier, (uint32_t)p->layout.element_bits, n, 1, bytes, s, second, most, NULL,
                         (char *)to->y + at * (int64_t)carrier_size(to->carrier));
}

/* n values of a block with this scale, of these codes, to places of y that may lie apart; compact: from `first` on. */
static void unpack_apart(const packing *p, const block_reader *r, const unpack_to *to, const core_place *place,
                         uint64_t position, uint64_t scale, realw zero, size_t n, const void *codes, int64_t first)
{
    realw values[TILE];
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < TILE ? n - at : TILE;
        fpemu_reader_values(r, scale, zero, m, (const char *)codes + at * r->size, values);
        if (to->compact)
            unpack_values(to->carrier, first + (int64_t)at, 1, m, values, to->y);
        for (size_t done = 0; done < m && !to->compact;) {
            const core_span s = fpemu_walk_span(&p->walk, place, position + at + done, m - done);
            unpack_values(to->carrier, s.y, s.y_step, (size_t)s.n, values + done, to->y);
            done += (size_t)s.n;
        }
    }
}

/* Pieces [begin, end) of blocks, `pieces` a block, each of at most `most` elements. */
static void unpack_pieces(const packing *p, const block_reader *r, const core_unpack *u, const unpack_to *to,
                          uint64_t first, uint64_t pieces, size_t most, uint64_t begin, uint64_t end,
                          const unsigned char *bytes)
{
    const int direct = to->carrier == CARRIER_BITS, compact = to->compact;
    uint64_t codes[UNPACK_BYTES / sizeof(uint64_t)], again = begin;
    const fpemu_layout *l = &p->layout;
    block_reader line;
    if (l->tensor_bytes > 8) {
        line = *r;
        r = &line;
    }
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t b = first + i / pieces, position = i % pieces * most;
        core_place place;
        if (r == &line)
            line.block.tensor = load_tensor(bytes + 8 * (b / p->walk.across));
        const realw zero = to->zeros ? (realw)to->zeros[b] : 0;
        if (pieces == 1 && i >= again && !to->zeros) {
            const uint64_t done = unpack_runs(p, r, u, to, b, first + end, bytes);
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
        const unsigned char *const scale_bytes = bytes + l->scales_offset + b * l->scale_bytes;
        const uint64_t scale = core_load_bytes(scale_bytes, (size_t)l->scale_bytes);
        const int as_they_are = l->element_bits == 8 && r->size == 1;
        const unsigned char *const from = bytes + offset_of(p, b) + position / 8 * l->element_bits;
        const void *const read = as_they_are ? (const void *)from : codes;
        core_span s = {n, 0, 1, 0, 1, (int64_t)(bytes_before(p, b, 8) - to->before + position), 1};
        if (!compact)
            s = fpemu_walk_span(&p->walk, &place, position, n);
        if (!to->zeros && s.n == n && s.y_step == 1 && unpack_row(p, r, u, to, scale_bytes, n, from, s.y))
            continue;
        if (!as_they_are)
            unpack_codes(r->size, (int)l->element_bits, n, from, codes);
        if (direct && s.n == n && s.y_step == 1)
            fpemu_reader_values(r, scale, zero, n, read, (realw *)to->y + s.y);
        else
            unpack_apart(p, r, to, &place, position, scale, zero, n, read, s.y);
    }
}

fpemu_status fpemu_unpack_run(int carrier, const void *plan, const fpemu_format *f, const fpemu_shape *shape,
                              uint64_t first, uint64_t count, int compact, const unsigned char *bytes, void *y)
{
    const size_t size = carrier_size(carrier);
    packing p;
    block_reader reader;
    const block_reader *from = (const block_reader *)plan;
    core_unpack table;
    fpemu_format own;
    const fpemu_format *scale = NULL;
    fpemu_status status = FPEMU_OK;
    if (!f || !shape)
        return FPEMU_ERROR_NULL;
    if (!plan)
        status = fpemu_check_scaled(f, NULL, carrier, &scale, &own, NULL);
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
    status = check_packed(&p, bytes, y, p.walk.y_axis, size, compact, elements);
    if (status)
        return status;

    core_tensor tensor = {1, 1, 0, 0};
    if (l->tensor_bytes)
        tensor = load_tensor(bytes);
    fp_environment environment;
    fpemu_environment_enter(&environment);
    if (!from || l->tensor_bytes) {
        if (from)
            reader = *from;
        else
            fpemu_reader_begin(&reader, f, scale);
        if (l->tensor_bytes)
            reader.block.tensor = tensor;
        from = &reader;
    }
    const core_unpack *const u = unpack_table(&table, from, (uint32_t)l->element_bits, elements);
    const unpack_to to = {carrier, compact, compact ? bytes_before(&p, first, 8) : 0, y,
                          shape->given ? shape->given->zeros : NULL};
    const size_t most = UNPACK_BYTES / from->size;
    const uint64_t pieces = (l->block_elements - 1) / most + 1, total = pieces * count;
    const int parts = thread_count((size_t)elements);
    if (parts == 1) { /* apart: entering a parallel region costs more than many a call */
        unpack_pieces(&p, from, u, &to, first, pieces, most, 0, total, bytes);
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
        unpack_pieces(&p, from, u, &to, first, pieces, most, begin, k == parts - 1 ? total : begin + part, bytes);
        fpemu_environment_leave(&own);
    }
    fpemu_environment_leave(&environment);
    return FPEMU_OK;
}
