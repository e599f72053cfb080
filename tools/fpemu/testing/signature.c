/* SPDX-License-Identifier: BSD-2-Clause */
/* signature.c - see signature.h */
#include "testing/signature.h"

#include <stdio.h>
#include <string.h>

static const struct type {
    const char *name;
    size_t size;
} types[EXTERNAL_TYPES] = {{"f32", 4}, {"f64", 8}, {"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};

static const char *read_type(const char *text, external_type *type)
{
    for (int i = 0; i < EXTERNAL_TYPES; i++) {
        const size_t length = strlen(types[i].name);
        if (strncmp(text, types[i].name, length) == 0) {
            *type = (external_type)i;
            return text + length;
        }
    }
    return NULL;
}

bool signature_read(const char *text, external_signature *signature)
{
    text = read_type(text, &signature->in);
    if (text == NULL || strncmp(text, "-to-", 4) != 0)
        return false;
    signature->bytes = strcmp(text, "-to-bytes") == 0;
    if ((text = read_type(signature->bytes ? "u8" : text + 4, &signature->out)) == NULL)
        return false;
    signature->array = strcmp(text, "-array") == 0;
    return signature->array || *text == '\0';
}

const char *signature_print(char text[SIGNATURE_SIZE], const external_signature *signature)
{
    snprintf(text, SIGNATURE_SIZE, "%s-to-%s%s", types[signature->in].name,
             signature->bytes ? "bytes" : types[signature->out].name,
             signature->array && !signature->tensors ? "-array" : "");
    return text;
}

size_t signature_size(external_type type)
{
    return types[type].size;
}

bool signature_is_code(external_type type)
{
    return type != EXTERNAL_F32 && type != EXTERNAL_F64;
}

external_type signature_code_type(size_t size)
{
    return size == 1 ? EXTERNAL_U8 : size == 2 ? EXTERNAL_U16 : size == 4 ? EXTERNAL_U32 : EXTERNAL_U64;
}

const char *signature_type_name(external_type type)
{
    return types[type].name;
}
