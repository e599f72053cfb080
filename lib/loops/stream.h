/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.h - stores that pass the caches by, for results too large to be found there afterwards. */
#ifndef FPEMU_LOOPS_STREAM_H
#define FPEMU_LOOPS_STREAM_H

#include <stdint.h>
#include <string.h>
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

/* From this size of all results on; below, they had better stay in the last cache. */
#define STREAM_BYTES ((size_t)32 << 20)
/* Results made at a time, then copied: larger tiles are slower. */
#define STREAM_TILE 1024
/* The same where a tile is counted before it is copied. */
#define STREAM_COUNTED 2048
/* Asked of memory so far ahead, which waits for the stores otherwise. */
#define STREAM_AHEAD 4096
/* Bytes of one such store, and what its address must be a multiple of. */
#if defined(__AVX512F__)
#define STREAM_STORE 64
#elif defined(__AVX__)
#define STREAM_STORE 32
#else
#define STREAM_STORE 16
#endif

/* As memcpy, with the widest stores there are, but for what lies before the first such address and after the last;
 * after the last tile, stream_end. */
static inline void stream_tile(void *to, const void *from, size_t size)
{
    const char *in = (const char *)from;
    char *out = (char *)to;
#if defined(__AVX512F__) || defined(__AVX__) || defined(__SSE2__)
    const size_t ahead = (0 - (uintptr_t)out) % STREAM_STORE, before = ahead < size ? ahead : size;
    memcpy(out, in, before);
    out += before;
    in += before;
    size -= before;
    for (; size >= STREAM_STORE; size -= STREAM_STORE) {
#if defined(__AVX512F__)
        _mm512_stream_si512((__m512i *)(void *)out, _mm512_loadu_si512(in));
#elif defined(__AVX__)
        _mm256_stream_si256((__m256i *)(void *)out, _mm256_loadu_si256((const __m256i *)(const void *)in));
#else
        _mm_stream_si128((__m128i *)(void *)out, _mm_loadu_si128((const __m128i *)(const void *)in));
#endif
        out += STREAM_STORE;
        in += STREAM_STORE;
    }
#endif
    memcpy(out, in, size);
}

/* Asks for `size` bytes that will be read soon. */
static inline void stream_ask(const void *from, size_t size)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < size; i += 64) /* each line */
        __builtin_prefetch((const char *)from + i);
#else
    (void)from;
    (void)size;
#endif
}

/* What was stored is seen by other threads in order. */
static inline void stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif /* FPEMU_LOOPS_STREAM_H */
