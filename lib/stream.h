/* stream.h - stores that pass the caches by, for results too large to be found there afterwards. */
#ifndef FPEMU_STREAM_H
#define FPEMU_STREAM_H

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* From this size of all results on; below, they had better stay in the last cache. */
#define STREAM_BYTES ((size_t)32 << 20)
/* Results made at a time, then copied: larger tiles are slower. */
#define STREAM_TILE 1024
/* What the address and the size of a tile must be multiples of to pass. */
#define STREAM_ALIGNMENT 16

/* As memcpy; after the last, stream_end. */
static inline void stream_copy(void *to, const void *from, size_t size)
{
#if defined(__SSE2__)
    if ((((uintptr_t)to | size) & (STREAM_ALIGNMENT - 1)) == 0) {
        for (size_t i = 0; i < size; i += STREAM_ALIGNMENT) {
            const __m128i sixteen = _mm_loadu_si128((const __m128i *)(const void *)((const char *)from + i));
            _mm_stream_si128((__m128i *)(void *)((char *)to + i), sixteen);
        }
        return;
    }
#endif
    memcpy(to, from, size);
}

/* What was stored is seen by other threads in order. */
static inline void stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif /* FPEMU_STREAM_H */
