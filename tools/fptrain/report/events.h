/* SPDX-License-Identifier: BSD-2-Clause */
/* events.h - files of events, as TensorBoard reads them.
 *
 * A file is a row of records: the length of the bytes (64 bits, little-endian), its checksum, the bytes, their
 * checksum. A checksum is the CRC-32C of the bytes, turned right by 15 bits, plus 0xa282ead8 (TFRecord). The bytes are
 * a protobuf message Event: wall_time = 1, step = 2, file_version = 3, summary = 5, source_metadata = 10; a Summary has
 * values = 1 with tag = 1 and simple_value = 2 (binary32) or histo = 5, a HistogramProto (tensorboard/compat/proto).
 * Errors are left to the stream.
 */
#ifndef FPTRAIN_REPORT_EVENTS_H
#define FPTRAIN_REPORT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct event_bytes {
    unsigned char *at;
    size_t count, room;
} event_bytes;

typedef struct events {
    FILE *out;
    double wall_time; /* of the event that is being gathered, in seconds since 1970 */
    int64_t step;
    event_bytes summary, part, whole; /* its values; room to work in */
} events;

/* The record that every file begins with. */
void events_begin(events *e, FILE *out, double wall_time);
/* The event before is written, if it has any values, and the next one begins. */
void events_step(events *e, double wall_time, int64_t step);
void events_end(events *e);

/* Tags are UTF-8; other bytes become '?'. */
void events_scalar(events *e, const char *tag, double value);
/* count[i] numbers lie from first + i up to first + i + 1. Their sum and the sum of their squares are not known: they
 * are reckoned as if all lay at the lower end, where an exponent is what it says. */
void events_histogram(events *e, const char *tag, int64_t first, size_t bins, const uint64_t *count);

/* Whether the file begins as events_begin writes it; the stream is then somewhere behind that. */
bool events_are_ours(FILE *in);

uint32_t events_checksum(const void *bytes, size_t count); /* CRC-32C (Castagnoli), not masked */

#endif
