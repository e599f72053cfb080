/* SPDX-License-Identifier: BSD-2-Clause */
/* codes.inc.c - codes of integers straight from numbers, for one carrier; included by variant.inc.c for each.
 * core_integer_codes has the forms; tests/against_judges/affine.c compares them with each element by itself. */

/* So many codes are made as wide as the carrier before they are stored: what a compiler narrows is slower than that. */
#define CODES_TILE 512

#define CODES_NARROW(TYPE)                                                                                             \
    SIMD for (size_t i = 0; i < n; i++) {                                                                              \
        const TYPE code = (TYPE)wide[i];                                                                               \
        memcpy(codes + i * sizeof code, &code, sizeof code);                                                           \
    }                                                                                                                  \
    break

FPEMU_FN void loop_codes_store(size_t n, const uintw *wide, size_t size, char *codes)
{
    switch (size) {
    case 1: CODES_NARROW(uint8_t);
    case 2: CODES_NARROW(uint16_t);
    default: CODES_NARROW(uint32_t);
    }
}
#undef CODES_NARROW

#define CODES_LOOP(kind, name, mode, form)                                                                             \
    kind void CARRIER(loop_codes_##name##_##mode)(const core_integer_codes *of, size_t n, const void *x, size_t size,  \
                                                  void *codes)                                                         \
    {                                                                                                                  \
        const core_integer_codes k = *of;                                                                              \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)codes;                                                                                     \
        for (size_t m; n > 0; n -= m, in += m * sizeof(uintw), out += m * size) {                                      \
            _Alignas(LINE) uintw wide[CODES_TILE];                                                                     \
            m = n < CODES_TILE ? n : CODES_TILE;                                                                       \
            SIMD for (size_t i = 0; i < m; i++) {                                                                      \
                uintw u;                                                                                               \
                memcpy(&u, in + i * sizeof u, sizeof u);                                                               \
                wide[i] = form(&k, mode, u);                                                                           \
            }                                                                                                          \
            loop_codes_store(m, wide, size, out);                                                                      \
        }                                                                                                              \
    }

#ifdef __SSE2__
/* Calculated while the processor rounds to a side, as SIDE_LOOP of elements.inc.c. */
#define CODES_SIDE(mode, to)                                                                                           \
    CODES_LOOP(static __attribute__((noinline)), side, mode, core_even_side_code)                                      \
    static void CARRIER(loop_codes_even_##mode)(const core_integer_codes *k, size_t n, const void *x, size_t size,     \
                                                void *codes)                                                           \
    {                                                                                                                  \
        const unsigned before = _mm_getcsr();                                                                          \
        _mm_setcsr(before | (unsigned)(to));                                                                           \
        CARRIER(loop_codes_side_##mode)(k, n, x, size, codes);                                                         \
        _mm_setcsr(before);                                                                                            \
    }
CODES_SIDE(FPEMU_MODE_RNA, _MM_ROUND_DOWN)
CODES_SIDE(FPEMU_MODE_RNZ, _MM_ROUND_UP)
CODES_SIDE(FPEMU_MODE_RTZ, _MM_ROUND_DOWN)
CODES_SIDE(FPEMU_MODE_RAZ, _MM_ROUND_UP)
CODES_SIDE(FPEMU_MODE_RTP, _MM_ROUND_UP)
CODES_SIDE(FPEMU_MODE_RTN, _MM_ROUND_DOWN)
#if CARRIER_BITS == 64 || !defined(__AVX512F__) /* else in integers.inc.c */
CODES_SIDE(FPEMU_MODE_RTO, _MM_ROUND_DOWN)
#endif
#undef CODES_SIDE
#define CODES_EVEN(mode) CARRIER(loop_codes_even_##mode)
#else
#define CODES_EVEN(mode) NULL
#endif

#if CORE_HAS_FMA
CODES_LOOP(static, exact, FPEMU_MODE_RNE, core_affine_nearest_code)
CODES_LOOP(static, exact, FPEMU_MODE_RNA, core_affine_nearest_code)
CODES_LOOP(static, exact, FPEMU_MODE_RNZ, core_affine_nearest_code)
#if CARRIER_BITS == 64 || !defined(__AVX512F__) /* else in integers.inc.c */
CODES_LOOP(static, affine, FPEMU_MODE_RTZ, core_affine_side_code)
CODES_LOOP(static, affine, FPEMU_MODE_RAZ, core_affine_side_code)
CODES_LOOP(static, affine, FPEMU_MODE_RTP, core_affine_side_code)
CODES_LOOP(static, affine, FPEMU_MODE_RTN, core_affine_side_code)
CODES_LOOP(static, affine, FPEMU_MODE_RTO, core_affine_side_code)
#endif

/* Codes of at most a tile; returns whether they are right in every mode to nearest. */
FPEMU_FN int loop_codes_near(const core_integer_codes *of, size_t n, const char *in, uintw *wide)
{
    const core_integer_codes k = *of;
    intw far = 0;
#pragma omp simd reduction(max : far)
    for (size_t i = 0; i < n; i++) {
        uintw u, distance;
        memcpy(&u, in + i * sizeof u, sizeof u);
        wide[i] = core_affine_near_code(&k, u, &distance);
        far = (intw)distance > far ? (intw)distance : far;
    }
    return far <= (intw)k.q.near;
}

/* Where the shortest form does not tell an element of a tile, all are coded again. */
#define CODES_NEAREST(mode)                                                                                            \
    static void CARRIER(loop_codes_affine_##mode)(const core_integer_codes *k, size_t n, const void *x, size_t size,   \
                                                  void *codes)                                                         \
    {                                                                                                                  \
        const char *in = (const char *)x;                                                                              \
        char *out = (char *)codes;                                                                                     \
        if (!k->q.is_near) {                                                                                           \
            CARRIER(loop_codes_exact_##mode)(k, n, x, size, codes);                                                    \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t m; n > 0; n -= m, in += m * sizeof(uintw), out += m * size) {                                      \
            _Alignas(LINE) uintw wide[CODES_TILE];                                                                     \
            m = n < CODES_TILE ? n : CODES_TILE;                                                                       \
            if (loop_codes_near(k, m, in, wide))                                                                       \
                loop_codes_store(m, wide, size, out);                                                                  \
            else                                                                                                       \
                CARRIER(loop_codes_exact_##mode)(k, m, in, size, out);                                                 \
        }                                                                                                              \
    }
CODES_NEAREST(FPEMU_MODE_RNE)
CODES_NEAREST(FPEMU_MODE_RNA)
CODES_NEAREST(FPEMU_MODE_RNZ)
#undef CODES_NEAREST
#define CODES_AFFINE(mode) CARRIER(loop_codes_affine_##mode)
#else
#define CODES_AFFINE(mode) NULL
#endif
#undef CODES_LOOP
#undef CODES_TILE
