/* SPDX-License-Identifier: BSD-2-Clause */
/* events.c - files of events byte by byte: checksums of RFC 3720 (B.4), and a file worked out by hand from the encoding
 * of protobufs and the framing of TFRecord. What reads such files judges them in tests/cli/fptrain_export.sh. */
#include "report/events.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

static void check_checksums(void)
{
    unsigned char zeros[32] = {0}, ones[32], up[32], down[32];
    for (int i = 0; i < 32; i++) {
        ones[i] = 0xff;
        up[i] = (unsigned char)i;
        down[i] = (unsigned char)(31 - i);
    }
    EXPECT(events_checksum(zeros, 32) == 0x8a9136aa, "32 zeros");
    EXPECT(events_checksum(ones, 32) == 0x62a8ab43, "32 ones");
    EXPECT(events_checksum(up, 32) == 0x46dd794e, "0 to 31");
    EXPECT(events_checksum(down, 32) == 0x113fdb5c, "31 to 0");
    EXPECT(events_checksum("123456789", 9) == 0xe3069283, "the digits");
    EXPECT(events_checksum("", 0) == 0, "nothing");
}

/* Length, payload and place of the record at `at`; the checksums are put back as they were before the mask. */
static size_t read_record(const unsigned char *file, size_t size, size_t at, const unsigned char **payload)
{
    EXPECT(at + 16 <= size, "a record at %zu of %zu", at, size);
    size_t length = 0;
    for (int i = 0; i < 8; i++)
        length |= (size_t)file[at + (size_t)i] << 8 * i;
    *payload = file + at + 12;
    const unsigned char *const sums[2] = {file + at + 8, file + at + 12 + length};
    for (int k = 0; k < 2; k++) {
        uint32_t crc = 0;
        for (int i = 0; i < 4; i++)
            crc |= (uint32_t)sums[k][i] << 8 * i;
        crc -= 0xa282ead8;
        crc = crc << 15 | crc >> 17;
        EXPECT(crc == (k ? events_checksum(*payload, length) : events_checksum(file + at, 8)), "checksum %d at %zu", k,
               at);
    }
    return length;
}

static void check_file(void)
{
    /* 1: double 2.5; 3: "brain.Event:2"; 10: {1: "fptrain"} */
    static const unsigned char first[] = "\x09\0\0\0\0\0\0\x04\x40\x1a\x0d"
                                         "brain.Event:2"
                                         "\x52\x09\x0a\x07"
                                         "fptrain";
    /* 1: 3.0; 2: 300; 5: {1: {1: "a?", 2: float 1.5}, 1: {1: "h", 5: {1: -1.0, 2: 1.0, 3: 3.0, 4: -1.0, 5: 1.0,
     * 6: [0.0, 1.0], 7: [1.0, 2.0]}}} */
    static const unsigned char second[] =
        "\x09\0\0\0\0\0\0\x08\x40\x10\xac\x02\x2a\x63"
        "\x0a\x09\x0a\x02"
        "a?"
        "\x15\0\0\xc0\x3f"
        "\x0a\x56\x0a\x01"
        "h"
        "\x2a\x51\x09\0\0\0\0\0\0\xf0\xbf\x11\0\0\0\0\0\0\xf0\x3f\x19\0\0\0\0\0\0\x08\x40"
        "\x21\0\0\0\0\0\0\xf0\xbf\x29\0\0\0\0\0\0\xf0\x3f"
        "\x32\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\x3a\x10\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40";
    static const uint64_t counts[] = {1, 2};
    unsigned char file[512];
    const unsigned char *payload;
    FILE *out = tmpfile();
    events e;
    EXPECT(out != NULL, "tmpfile");
    if (!out)
        return;
    events_begin(&e, out, 2.5);
    events_step(&e, 2.75, 299); /* without a value: no record */
    events_step(&e, 3, 300);
    events_scalar(&e, "a\xff", 1.5);
    events_histogram(&e, "h", -1, 2, counts);
    events_end(&e);
    rewind(out);
    const size_t size = fread(file, 1, sizeof file, out);
    size_t length = read_record(file, size, 0, &payload);
    EXPECT(length == sizeof first - 1 && memcmp(payload, first, length) == 0, "the first record, of %zu", length);
    length = read_record(file, size, 16 + sizeof first - 1, &payload);
    EXPECT(length == sizeof second - 1 && memcmp(payload, second, length) == 0, "the second record, of %zu", length);
    EXPECT(size == 32 + sizeof first - 1 + sizeof second - 1, "%zu bytes", size);

    rewind(out);
    EXPECT(events_are_ours(out), "ours");
    file[12 + sizeof first - 3] = 'X'; /* another writer */
    rewind(out);
    fwrite(file, 1, size, out);
    rewind(out);
    EXPECT(!events_are_ours(out), "another writer's");
    fclose(out);
}

int main(void)
{
    check_checksums();
    check_file();
    return failures != 0;
}
