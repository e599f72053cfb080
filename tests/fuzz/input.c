/* SPDX-License-Identifier: BSD-2-Clause */
/* input.c - see input.h */
#include "input.h"
#include "reader.h"

#include <unistd.h>

#include "files/container.h"

/* A container from its header, then data with their checksums where the header says that they lie. */
static void write_container(FILE *file, const uint8_t *bytes, size_t length, size_t size)
{
    const size_t padding = (64 - (24 + length) % 64) % 64;
    uint32_t crc = container_crc(0, bytes, length);
    fwrite(container_magic, 1, sizeof container_magic, file);
    for (size_t i = 0; i < padding; i++)
        crc = container_crc(crc, " ", 1);
    const uint64_t start[] = {1 | (uint64_t)crc << 32, length + padding};
    for (int i = 0; i < 16; i++)
        putc((int)(start[i / 8] >> 8 * (i % 8) & 0xff), file);
    fwrite(bytes, 1, length, file);
    for (size_t i = 0; i < padding; i++)
        putc(' ', file);
    json_t *header = json_loadb((const char *)bytes, length, 0, NULL), *entry;
    size_t i;
    uint64_t place = 24 + length + padding;
    json_array_foreach(json_object_get(header, "tensors"), i, entry)
    {
        const uint64_t data = (uint64_t)json_integer_value(json_object_get(entry, "size"));
        unsigned char tail[CONTAINER_TAIL_SIZE];
        for (; place % 64 != 0; place++)
            putc(0, file);
        if (data > 1 << 16 || place > 1 << 20)
            break;
        crc = 0;
        for (uint64_t k = 0; k < data; k++) { /* what follows the header, over and over */
            const uint8_t byte = size > length ? bytes[length + k % (size - length)] : 0;
            putc(byte, file);
            crc = container_crc(crc, &byte, 1);
        }
        fwrite(tail, 1, container_tail(tail, crc, data, true), file);
        place += data + 4;
    }
    json_decref(header);
}

void input_write(FILE *file, model_kind kind, const void *input, size_t size)
{
    const uint8_t *bytes = input;
    const bool is_header = size >= 2 && bytes[0] == '{' && (bytes[1] == '"' || bytes[1] == '}');
    if (is_header && (kind == MODEL_CONTAINER || kind == MODEL_SAFETENSORS)) {
        size_t length = size;
        while (length > 1 && bytes[length - 1] != '}')
            length--;
        if (kind == MODEL_CONTAINER) {
            write_container(file, bytes, length, size);
            return;
        }
        for (int i = 0; i < 8; i++)
            putc((int)((uint64_t)length >> 8 * i & 0xff), file);
    }
    insist(fwrite(bytes, 1, size, file) == size, "the file is not written");
}

/* One file for all runs: the archive library wants a real one. */
FILE *input_open(model_kind kind, const void *bytes, size_t size)
{
    static FILE *kept;
    if (kept == NULL) {
        kept = tmpfile();
        insist(kept != NULL, "tmpfile");
    }
    rewind(kept);
    insist(ftruncate(fileno(kept), 0) == 0, "tmpfile");
    input_write(kept, kind, bytes, size);
    insist(fflush(kept) == 0, "tmpfile");
    const int descriptor = dup(fileno(kept));
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    insist(file != NULL && fseeko(file, 0, SEEK_SET) == 0, "dup");
    return file;
}
