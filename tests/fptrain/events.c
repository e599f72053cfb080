/* SPDX-License-Identifier: BSD-2-Clause */
/* events.c - files of events byte by byte: checksums of RFC 3720 (B.4), and a file worked out by hand from the encoding
 * of protobufs and the framing of TFRecord. What reads such files judges them in tests/cli/fptrain_export.sh. */
#include "report/events.h"

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

/* A record: its length and the checksum of that, the event, its checksum; the checksums are masked. */
static const unsigned char file[] =
    "\x23\0\0\0\0\0\0\0\xb0\x9f\x77\x43"
    /* 1: double 2.5; 3: "brain.Event:2"; 10: {1: "fptrain"} */
    "\x09\0\0\0\0\0\0\x04\x40\x1a\x0d"
    "brain.Event:2"
    "\x52\x09\x0a\x07"
    "fptrain"
    "\xfc\xb0\x0e\x9f"
    "\x71\0\0\0\0\0\0\0\x9c\x97\xe7\x73"
    /* 1: 3.0; 2: 300; 5: {1: {1: "a?", 2: float 1.5}, 1: {1: "h", 5: {1: -1.0, 2: 1.0, 3: 3.0, 4: -1.0, 5: 1.0,
     * 6: [0.0, 1.0], 7: [1.0, 2.0]}}} */
    "\x09\0\0\0\0\0\0\x08\x40\x10\xac\x02\x2a\x63"
    "\x0a\x09\x0a\x02"
    "a?"
    "\x15\0\0\xc0\x3f"
    "\x0a\x56\x0a\x01"
    "h"
    "\x2a\x51\x09\0\0\0\0\0\0\xf0\xbf\x11\0\0\0\0\0\0\xf0\x3f\x19\0\0\0\0\0\0\x08\x40"
    "\x21\0\0\0\0\0\0\xf0\xbf\x29\0\0\0\0\0\0\xf0\x3f"
    "\x32\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\x3a\x10\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40"
    "\xd1\x8b\x0f\x50";

static void check_file(void)
{
    static const uint64_t counts[] = {1, 2};
    unsigned char written[512];
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
    const size_t size = fread(written, 1, sizeof written, out);
    EXPECT(size == sizeof file - 1, "%zu bytes", size);
    for (size_t i = 0; i < size && i < sizeof file - 1; i++)
        EXPECT(written[i] == file[i], "byte %zu is %02x, not %02x", i, written[i], file[i]);

    rewind(out);
    EXPECT(events_are_ours(out), "ours");
    written[45] = 'X'; /* of "fptrain": another writer */
    rewind(out);
    fwrite(written, 1, size, out);
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
