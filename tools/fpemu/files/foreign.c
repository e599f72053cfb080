/* SPDX-License-Identifier: BSD-2-Clause */
/* foreign.c - see foreign.h */
#include "files/foreign.h"

#include <string.h>
#include <strings.h>

#define TO_SAFETENSORS "convert it with safetensors' own tool or safetensors.torch.save_file"

static const char checkpoint[] = "a checkpoint of PyTorch (pickle), which can run code when it is loaded and is not "
                                 "read; " TO_SAFETENSORS;
static const char onnx[] = "an ONNX model, which is not read; save its initialisers as .npz or safetensors";
static const char hdf5[] = "an HDF5 file (.h5, Keras), which is not read; save its arrays as .npz or safetensors";
static const char packed[] = "compressed; unpack it first";

/* By the bytes at a place. */
static const struct {
    const char *bytes;
    unsigned at, size;
    const char *what;
} magics[] = {
    {"\x80\x02", 0, 2, checkpoint},
    {"\x80\x03", 0, 2, checkpoint},
    {"\x80\x04", 0, 2, checkpoint},
    {"\x80\x05", 0, 2, checkpoint},
    {"\x89HDF\r\n\x1a\n", 0, 8, hdf5},
    {"\x89PNG\r\n\x1a\n", 0, 8, "a PNG picture; no tensors are in it"},
    {"\177ELF", 0, 4, "a program or a library; no tensors are in it"},
    {"\x1f\x8b", 0, 2, packed},
    {"\x28\xb5\x2f\xfd", 0, 4, packed},
    {"\3757zXZ", 0, 5, packed},
    {"7z\xbc\xaf\x27\x1c", 0, 6, packed},
    {"BZh", 0, 3, packed},
    {"ustar", 257, 5, "a tar archive; unpack it first"},
    {"TFL3", 4, 4, "a TensorFlow Lite model, which is not read; save its tensors as .npz or safetensors"},
    {"lmgg", 0, 4, "a GGML file from before GGUF, which is not read; llama.cpp's scripts make GGUF of it"},
    {"tjgg", 0, 4, "a GGJT file from before GGUF, which is not read; llama.cpp's scripts make GGUF of it"},
    {"fmgg", 0, 4, "a GGMF file from before GGUF, which is not read; llama.cpp's scripts make GGUF of it"},
    {"PAR1", 0, 4, "a Parquet file, which is not read; save its columns as .npy"},
    {"ARROW1", 0, 6, "an Arrow file, which is not read; save its columns as .npy"},
    {"MATLAB 5.0", 0, 10, "a MATLAB file, which is not read; save its arrays as .npy (scipy.io.loadmat, numpy.save)"},
    {"version https://git-lfs", 0, 23, "a pointer of Git LFS and not the file itself; 'git lfs pull' fetches that"},
};

/* By the end of the name. */
static const struct {
    const char *suffix, *what;
} suffixes[] = {
    {".pt", checkpoint},
    {".pth", checkpoint},
    {".ckpt", checkpoint},
    {".pkl", checkpoint},
    {".onnx", onnx},
    {".h5", hdf5},
    {".hdf5", hdf5},
    {".pb", "a TensorFlow model, which is not read; save its tensors as "
            ".npz or safetensors"},
};

static bool starts(const char *text, const char *with)
{
    return strncasecmp(text, with, strlen(with)) == 0;
}

/* What a text is; NULL: it is none, or a damaged file of the kind that its name says. */
static const char *text_kind(const unsigned char *start, size_t size, bool named)
{
    char text[FOREIGN_START + 1];
    size_t at = size >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, length = 0;
    for (; at < size; at++) {
        const unsigned char c = start[at];
        if ((c < 0x20 && strchr("\t\n\r\f", c) == NULL) || c == 0 || c == 0x7f)
            return NULL;
        text[length] = (char)c;
        length += length > 0 || strchr(" \t\r\n", c) == NULL;
    }
    text[length] = '\0';
    if (starts(text, "<!doctype html") || starts(text, "<html"))
        return "a web page; was the download refused?";
    if (text[0] == '<')
        return "XML text; no tensors are in it";
    if (strstr(text, "\"weight_map\"") != NULL)
        return "the index of a model in several files; give it a name that ends in .json, beside them";
    if (text[0] == '{' || text[0] == '[')
        return "JSON text; no tensors are in it";
    return named ? NULL : "text; numbers in text become a file by numpy.save(OUT, numpy.loadtxt(IN))";
}

bool foreign_kind(const unsigned char *start, size_t size, const char *name, char error[MODEL_ERROR_SIZE])
{
    /* Of a name that says a kind, and of standard input, which brings .npy, the reader says what is wrong. */
    const bool named = name == NULL || model_kind_of_name(name) != MODEL_DETECT;
    const char *what = size == 0 && !named ? "the file is empty" : NULL;
    for (unsigned i = 0; what == NULL && i < sizeof magics / sizeof *magics; i++)
        if (size >= magics[i].at + magics[i].size && memcmp(start + magics[i].at, magics[i].bytes, magics[i].size) == 0)
            what = magics[i].what;
    for (unsigned i = 0; what == NULL && name != NULL && i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t length = strlen(name), suffix = strlen(suffixes[i].suffix);
        if (length > suffix && strcasecmp(name + length - suffix, suffixes[i].suffix) == 0)
            what = suffixes[i].what;
    }
    /* ONNX begins with its version and the name of who made it, or a domain. */
    if (what == NULL && size >= 4 && start[0] == 0x08 && start[1] < 0x20 && (start[2] == 0x12 || start[2] == 0x1a))
        what = onnx;
    if (what == NULL && size > 0)
        what = text_kind(start, size, named);
    if (what != NULL)
        snprintf(error, MODEL_ERROR_SIZE, "%s", what);
    return what != NULL;
}

const char *foreign_member(const char *member)
{
    const char *slash = strrchr(member, '/'), *base = slash != NULL ? slash + 1 : member;
    if (strcmp(base, "data.pkl") == 0)
        return checkpoint;
    if (strcmp(base, "model.weights.h5") == 0)
        return hdf5;
    return NULL;
}
