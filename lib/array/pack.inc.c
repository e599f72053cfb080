/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.inc.c - packing and unpacking for one carrier; included twice by pack.c. */

/* Blocks [first, first + count) of `compact` values, or of a whole tensor. */
static fpemu_status pack_tensor(int carrier, const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape,
                                uint64_t first, uint64_t count, int compact, const void *x, unsigned char *bytes,
                                fpemu_stats *stats)
{
    const size_t size = carrier_size(carrier);
    packing p;
    if (!f || !r || !shape)
        return FPEMU_ERROR_NULL;
    fpemu_status status = fpemu_check_call(f, r, CARRIER_BITS); /* codes need not fit a narrow carrier */
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
    const block_sink sink = {&to, store_tensor, store_scale, store_elements};
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
                             .carrier = carrier};
    return fpemu_block_run(&call, x, NULL);
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

/* Pieces [begin, end) of blocks, `pieces` a block, each of at most TILE elements. compact: y holds the elements of the
 * blocks from the first on, one after the other. */
static void unpack_pieces(const packing *p, const block_reader *r, int carrier, uint64_t first, uint64_t pieces,
                          uint64_t begin, uint64_t end, int compact, const unsigned char *bytes, void *y)
{
    const int direct = carrier == CARRIER_BITS;
    uint64_t codes[TILE]; /* of any size */
    realw values[TILE];
    const fpemu_layout *l = &p->layout;
    const uint64_t before = compact ? bytes_before(p, first, 8) : 0;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t b = first + i / pieces, position = i % pieces * TILE;
        core_place place;
        fpemu_walk_block(&p->walk, b, &place);
        if (position >= place.elements)
            continue; /* a short block */
        const size_t n = place.elements - position < TILE ? (size_t)(place.elements - position) : TILE;
        const uint64_t scale = core_load_bytes(bytes + l->scales_offset + b * l->scale_bytes, (size_t)l->scale_bytes);
        unpack_codes(r->size, (int)l->element_bits, n, bytes + offset_of(p, b) + position / 8 * l->element_bits, codes);
        core_span s = {n, 0, 1, 0, 1, (int64_t)(bytes_before(p, b, 8) - before + position), 1};
        if (!compact)
            s = fpemu_walk_span(&p->walk, &place, position, n);
        if (direct && s.n == n && s.y_step == 1) {
            fpemu_reader_values(r, scale, n, codes, (realw *)y + s.y);
            continue;
        }
        fpemu_reader_values(r, scale, n, codes, values);
        for (size_t done = 0; done < n; done += (size_t)s.n) {
            if (!compact)
                s = fpemu_walk_span(&p->walk, &place, position + done, n - done);
            unpack_values(carrier, s.y, s.y_step, (size_t)s.n, values + done, y);
        }
    }
}

static fpemu_status unpack_tensor(int carrier, const fpemu_format *f, const fpemu_shape *shape, uint64_t first,
                                  uint64_t count, int compact, const unsigned char *bytes, void *y)
{
    const size_t size = carrier_size(carrier);
    packing p;
    block_reader reader;
    if (!f || !shape)
        return FPEMU_ERROR_NULL;
    fpemu_status status = fpemu_check_call(f, NULL, carrier);
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
    status = fpemu_reader_begin(&reader, f, l->tensor_bytes ? &tensor : NULL);
    const uint64_t pieces = (l->block_elements - 1) / TILE + 1, total = pieces * count;
    const int parts = status ? 1 : thread_count((size_t)elements);
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1) if (parts > 1)
#endif
    for (int k = 0; k < (status ? 0 : parts); k++) {
        const uint64_t part = total / (uint64_t)parts, begin = part * (uint64_t)k;
        fp_environment own; /* a worker thread has its own */
        fpemu_environment_enter(&own);
        unpack_pieces(&p, &reader, carrier, first, pieces, begin, k == parts - 1 ? total : begin + part, compact, bytes,
                      y);
        fpemu_environment_leave(&own);
    }
    fpemu_environment_leave(&environment);
    return status;
}
