/* pack.inc.c - packing and unpacking for one carrier; included twice by pack.c. */

/* Blocks [first, first + count) of `compact` values, or of a whole tensor. */
static fpemu_status pack_tensor(const fpemu_format *f, const fpemu_rounding *r, const fpemu_shape *shape,
                                uint64_t first, uint64_t count, int compact, const realw *x, unsigned char *bytes,
                                fpemu_stats *stats)
{
    packing p;
    if (!f || !r || !shape)
        return FPEMU_ERROR_NULL;
    fpemu_status status = fpemu_check_call(f, r, CARRIER_BITS);
    if (!status)
        status = plan_packing(&p, f, shape, sizeof(realw));
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
        end = (int64_t)((bytes_before(&p, first + count, 8) - bytes_before(&p, first, 8)) * sizeof(realw));
    else
        core_walk_reach(&p.walk, p.walk.x_axis, sizeof(realw), &begin, &end);
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
                             .tensor = compact && l->tensor_bytes ? &tensor : NULL,
                             .sink = &sink,
                             .stats = stats};
    return fpemu_block_run(&call, x, NULL);
}

/* Pieces [begin, end) of blocks, `pieces` a block, each of at most TILE elements. compact: y holds the elements of the
 * blocks from the first on, one after the other. */
static void unpack_pieces(const packing *p, const block_reader *r, uint64_t first, uint64_t pieces, uint64_t begin,
                          uint64_t end, int compact, const unsigned char *bytes, realw *y)
{
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
        if (compact) {
            fpemu_reader_values(r, scale, n, codes, y + (bytes_before(p, b, 8) - before + position));
            continue;
        }
        core_span s = fpemu_walk_span(&p->walk, &place, position, n);
        if (s.n == n && s.y_step == 1) {
            fpemu_reader_values(r, scale, n, codes, y + s.y);
            continue;
        }
        fpemu_reader_values(r, scale, n, codes, values);
        for (size_t done = 0; done < n; done += (size_t)s.n) {
            s = fpemu_walk_span(&p->walk, &place, position + done, n - done);
            for (uint64_t k = 0; k < s.n; k++)
                y[s.y + (int64_t)k * s.y_step] = values[done + k];
        }
    }
}

static fpemu_status unpack_tensor(const fpemu_format *f, const fpemu_shape *shape, uint64_t first, uint64_t count,
                                  int compact, const unsigned char *bytes, realw *y)
{
    packing p;
    block_reader reader;
    if (!f || !shape)
        return FPEMU_ERROR_NULL;
    fpemu_status status = fpemu_check_call(f, NULL, CARRIER_BITS);
    if (!status)
        status = plan_packing(&p, f, shape, sizeof(realw));
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
    if (l->bytes > SIZE_MAX || elements > PTRDIFF_MAX / sizeof(realw))
        return FPEMU_ERROR_ARGUMENT;
    int64_t low = 0, high = (int64_t)(elements * sizeof(realw));
    if (!compact)
        core_walk_reach(&p.walk, p.walk.y_axis, sizeof(realw), &low, &high);
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
        unpack_pieces(&p, &reader, first, pieces, begin, k == parts - 1 ? total : begin + part, compact, bytes, y);
        fpemu_environment_leave(&own);
    }
    fpemu_environment_leave(&environment);
    return status;
}
