/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.h - codes of b bits as a little-endian bit string (doc/blocks.md, 4): 64 bits of an array of codes at a time.
 *
 * An array of codes holds them right-aligned in fields of 1, 2, 4 or 8 bytes, clean above; the string holds them
 * without gaps. A word is 8 bytes of the array, its first code lowest. Eight codes, whatever b, fill b bytes. */
#ifndef FPEMU_CORE_PACK_H
#define FPEMU_CORE_PACK_H

#include "port.h"

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CORE_LITTLE_ENDIAN 1
#else
#define CORE_LITTLE_ENDIAN 0
#endif

/* `count` bytes, 0 to 8, least significant first. */
FPEMU_FN uint64_t core_load_bytes(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
#if CORE_LITTLE_ENDIAN
    if (count == 8) {
        memcpy(&word, bytes, 8);
        return word;
    }
#endif
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

FPEMU_FN void core_store_bytes(unsigned char *bytes, size_t count, uint64_t word)
{
#if CORE_LITTLE_ENDIAN
    if (count == 8) {
        memcpy(bytes, &word, 8);
        return;
    }
#endif
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(word >> (8 * i));
}

/* One field of an array of codes in host byte order. */
FPEMU_FN uint64_t core_load_field(const unsigned char *codes, size_t size)
{
#if CORE_LITTLE_ENDIAN
    return core_load_bytes(codes, size);
#else
    uint64_t field = 0;
    for (size_t i = 0; i < size; i++)
        field = field << 8 | codes[i];
    return field;
#endif
}

FPEMU_FN void core_store_field(unsigned char *codes, size_t size, uint64_t field)
{
#if CORE_LITTLE_ENDIAN
    core_store_bytes(codes, size, field);
#else
    for (size_t i = 0; i < size; i++)
        codes[size - 1 - i] = (unsigned char)(field >> (8 * i));
#endif
}

/* A word from `count` codes, and back. */
FPEMU_FN uint64_t core_load_codes(const unsigned char *codes, size_t size, size_t count)
{
    uint64_t word = 0;
    if (CORE_LITTLE_ENDIAN && count * size == 8)
        return core_load_bytes(codes, 8);
    for (size_t i = 0; i < count; i++)
        word |= core_load_field(codes + i * size, size) << (8 * size * i);
    return word;
}

#if defined(FPEMU_ANALYZED) && !defined(__clang__) /* gcc does not see that count * size is at most 8 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wanalyzer-shift-count-overflow"
#endif
FPEMU_FN void core_store_codes(unsigned char *codes, size_t size, size_t count, uint64_t word)
{
    if (CORE_LITTLE_ENDIAN && count * size == 8) {
        core_store_bytes(codes, 8, word);
        return;
    }
    for (size_t i = 0; i < count; i++)
        core_store_field(codes + i * size, size, word >> (8 * size * i));
}
#if defined(FPEMU_ANALYZED) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* 2^n - 1, n = 1..64 */
FPEMU_FN uint64_t core_low_bits(int n)
{
    return ~UINT64_C(0) >> (64 - n);
}

/* The codes of a word moved together: 64/(8*size) * b bits. Neighbouring fields are joined until one is left. */
FPEMU_FN uint64_t core_squeeze(uint64_t word, size_t size, int b)
{
    const uint64_t by8 = UINT64_C(0x00ff00ff00ff00ff), by16 = UINT64_C(0x0000ffff0000ffff);
    if (size == 1) {
        word = (word & by8) | ((word & ~by8) >> (8 - b));
        b *= 2;
    }
    if (size <= 2) {
        word = (word & by16) | ((word & ~by16) >> (16 - b));
        b *= 2;
    }
    if (size <= 4)
        word = (word & 0xffffffffu) | (word >> 32 << b);
    return word;
}

/* Back. */
FPEMU_FN uint64_t core_spread(uint64_t word, size_t size, int b)
{
    const int two = size == 1 ? 2 * b : b, four = size <= 2 ? 2 * two : two;
    if (size <= 4)
        word = (word & core_low_bits(four)) | ((word >> four & core_low_bits(four)) << 32);
    if (size <= 2) {
        const uint64_t low = core_low_bits(two) * UINT64_C(0x0000000100000001);
        word = (word & low) | ((word & low << two) << (16 - two));
    }
    if (size == 1) {
        const uint64_t low = core_low_bits(b) * UINT64_C(0x0001000100010001);
        word = (word & low) | ((word & low << b) << (8 - b));
    }
    return size == 8 ? word & core_low_bits(b) : word;
}

/* Code number i of a string, with any bits above it. */
FPEMU_FN uint64_t core_load_code(const unsigned char *bytes, uint32_t b, uint64_t i)
{
    const uint64_t bit = i * b, first = bit / 8;
    const uint32_t skip = (uint32_t)(bit % 8), count = (skip + b + 7) / 8;
    const uint64_t word = core_load_bytes(bytes + first, count < 8 ? count : 8) >> skip;
    return count > 8 ? word | (uint64_t)bytes[first + 8] << (64 - skip) : word;
}

/* n codes of b bits to ceil(n*b/8) bytes; the bits past the last code are 0. */
FPEMU_FN void core_pack_codes(size_t size, int b, size_t n, const unsigned char *codes, unsigned char *bytes)
{
    const size_t per = 8 / size;
    const int bits = (int)per * b;
    uint64_t pending = 0; /* bits that fill no word yet */
    int fill = 0;
    for (size_t i = 0; i < n; i += per) {
        const size_t count = n - i < per ? n - i : per;
        const uint64_t word = core_squeeze(core_load_codes(codes + i * size, size, count), size, b);
        const int have = count == per ? bits : (int)count * b;
        pending |= word << fill;
        if (fill + have >= 64) {
            core_store_bytes(bytes, 8, pending);
            bytes += 8;
            pending = fill ? word >> (64 - fill) : 0;
            fill -= 64;
        }
        fill += have;
    }
    core_store_bytes(bytes, (size_t)(fill + 7) / 8, pending);
}

/* ceil(n*b/8) bytes to n codes. */
FPEMU_FN void core_unpack_codes(size_t size, int b, size_t n, const unsigned char *bytes, unsigned char *codes)
{
    const size_t per = 8 / size, bits = per * (size_t)b, end = (n * (size_t)b + 7) / 8;
    for (size_t i = 0, at = 0; i < n; i += per, at += bits) {
        const size_t count = n - i < per ? n - i : per, first = at / 8, left = end - first;
        const int skip = (int)(at % 8);
        uint64_t word = core_load_bytes(bytes + first, left < 8 ? left : 8) >> skip;
        if (skip && left > 8)
            word |= (uint64_t)bytes[first + 8] << (64 - skip);
        core_store_codes(codes + i * size, size, count, core_spread(word, size, b));
    }
}

#endif /* FPEMU_CORE_PACK_H */
