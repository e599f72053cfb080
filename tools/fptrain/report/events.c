/* SPDX-License-Identifier: BSD-2-Clause */
/* events.c - see events.h */
#include "report/events.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "common/byte_order.h"
#include "common/utf8.h"

/* Kinds of fields of a protobuf. */
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

static const char version[] = "brain.Event:2", writer[] = "fptrain";

/* ------------------------------------------------------------------------------------------------ bytes */

static unsigned char *more(event_bytes *b, size_t count)
{
    if (b->room - b->count < count) {
        b->room = 2 * b->room + count + 256;
        b->at = need_more(b->at, b->room, 1);
    }
    b->count += count;
    return b->at + b->count - count;
}

static void put_bytes(event_bytes *b, const void *bytes, size_t count)
{
    if (count)
        memcpy(more(b, count), bytes, count);
}

static void put_fixed(event_bytes *b, uint64_t number, int bytes)
{
    bytes_store(more(b, (size_t)bytes), bytes, number);
}

static void put_varint(event_bytes *b, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *more(b, 1) = (unsigned char)(number | 0x80);
    *more(b, 1) = (unsigned char)number;
}

static void put_key(event_bytes *b, int field, int kind)
{
    put_varint(b, (uint64_t)field << 3 | (uint64_t)kind);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void put_double(event_bytes *b, int field, double x)
{
    put_key(b, field, FIXED64);
    put_fixed(b, bits_of(x), 8);
}

static void put_message(event_bytes *b, int field, const void *bytes, size_t count)
{
    put_key(b, field, LENGTH);
    put_varint(b, count);
    put_bytes(b, bytes, count);
}

/* ------------------------------------------------------------------------------------------------ records */

uint32_t events_checksum(const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    uint32_t table[256], crc = 0xffffffff;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0); /* the polynomial, lowest bit first */
    }
    for (size_t i = 0; i < count; i++)
        crc = crc >> 8 ^ table[(crc ^ from[i]) & 0xff];
    return ~crc;
}

static uint32_t masked(const void *bytes, size_t count)
{
    const uint32_t crc = events_checksum(bytes, count);
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static void write_record(FILE *out, const event_bytes *b)
{
    unsigned char head[12], tail[4];
    bytes_store(head, 8, b->count);
    bytes_store(head + 8, 4, masked(head, 8));
    bytes_store(tail, 4, masked(b->at, b->count));
    fwrite(head, 1, sizeof head, out);
    fwrite(b->at, 1, b->count, out);
    fwrite(tail, 1, sizeof tail, out);
}

/* What the first event has beside its time. */
static void put_origin(event_bytes *b)
{
    put_message(b, 3, version, sizeof version - 1);
    put_key(b, 10, LENGTH);
    put_varint(b, sizeof writer + 1);
    put_message(b, 1, writer, sizeof writer - 1);
}

void events_begin(events *e, FILE *out, double wall_time)
{
    *e = (events){.out = out};
    put_double(&e->whole, 1, wall_time);
    put_origin(&e->whole);
    write_record(out, &e->whole);
}

bool events_are_ours(FILE *in)
{
    enum { TIME = 9, HEAD = 12 };
    unsigned char head[HEAD + TIME + 64];
    event_bytes origin = {NULL, 0, 0};
    put_origin(&origin);
    const size_t size = HEAD + TIME + origin.count;
    const bool ours = fread(head, 1, size, in) == size && head[0] == TIME + origin.count &&
                      memcmp(head + HEAD + TIME, origin.at, origin.count) == 0;
    free(origin.at);
    return ours;
}

/* ------------------------------------------------------------------------------------------------ events */

static void write_event(events *e)
{
    if (!e->summary.count)
        return;
    e->whole.count = 0;
    put_double(&e->whole, 1, e->wall_time);
    put_key(&e->whole, 2, VARINT);
    put_varint(&e->whole, (uint64_t)e->step);
    put_message(&e->whole, 5, e->summary.at, e->summary.count);
    write_record(e->out, &e->whole);
    e->summary.count = 0;
}

void events_step(events *e, double wall_time, int64_t step)
{
    write_event(e);
    e->wall_time = wall_time;
    e->step = step;
}

void events_end(events *e)
{
    write_event(e);
    free(e->summary.at);
    free(e->part.at);
    free(e->whole.at);
}

/* The value that is being gathered in `part` begins with its tag. */
static void begin_value(events *e, const char *tag)
{
    e->part.count = 0;
    put_key(&e->part, 1, LENGTH);
    put_varint(&e->part, strlen(tag));
    for (const char *c = tag; *c;) {
        const int length = utf8_length(c);
        put_bytes(&e->part, length ? c : "?", length ? (size_t)length : 1);
        c += length ? length : 1;
    }
}

static void end_value(events *e)
{
    put_message(&e->summary, 1, e->part.at, e->part.count);
}

void events_scalar(events *e, const char *tag, double value)
{
    const float narrow = fabs(value) > FLT_MAX ? copysignf(INFINITY, (float)copysign(1, value)) : (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    begin_value(e, tag);
    put_key(&e->part, 2, FIXED32);
    put_fixed(&e->part, bits, 4);
    end_value(e);
}

void events_histogram(events *e, const char *tag, int64_t first, size_t bins, const uint64_t *count)
{
    double sums[3] = {0, 0, 0};
    for (size_t i = 0; i < bins; i++) {
        const double n = (double)count[i], x = (double)first + (double)i;
        sums[0] += n;
        sums[1] += n * x;
        sums[2] += n * x * x;
    }
    begin_value(e, tag);
    e->whole.count = 0;
    put_double(&e->whole, 1, (double)first);
    put_double(&e->whole, 2, (double)first + (double)bins);
    for (int i = 0; i < 3; i++)
        put_double(&e->whole, 3 + i, sums[i]);
    for (int field = 6; field <= 7; field++) { /* upper ends of bins, then their counts; packed */
        put_key(&e->whole, field, LENGTH);
        put_varint(&e->whole, 8 * bins);
        for (size_t i = 0; i < bins; i++)
            put_fixed(&e->whole, bits_of(field == 6 ? (double)first + (double)i + 1 : (double)count[i]), 8);
    }
    put_message(&e->part, 5, e->whole.at, e->whole.count);
    end_value(e);
}
