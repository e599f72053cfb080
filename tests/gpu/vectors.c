/* SPDX-License-Identifier: BSD-2-Clause */
/* vectors.c - libfpemu_cuda against the known answers in tests/vectors, which the CPU library is held to too; simulated
 * on this processor or run on a device, as quantize.c, which compares random words.
 *
 *   blocks.txt       what every blocked format makes of a tensor, and its bytes
 *   tensor_cores.txt what matrix instructions gave */

#include "../vectors/tensor_answers.h"
#include "memory.h"

enum { MOST = 1024 };

static unsigned long failures, comparisons;

static void expect(int right, const char *what, const char *spec, unsigned long i)
{
    comparisons++;
    if (!right && failures++ < 25)
        printf("FAIL %s %s: %lu\n", what, spec, i);
}

static FILE *open_vectors(const char *name)
{
    const char *source = getenv("top_srcdir");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/tests/vectors/%s", source ? source : ".", name);
    FILE *const file = fopen(path, "r");
    if (!file) {
        printf("FAIL %s cannot be read (is top_srcdir set?)\n", path);
        failures++;
    }
    return file;
}

static size_t words(const char *text, uint32_t *to)
{
    size_t n = 0;
    for (int used = 0; n < MOST && sscanf(text, "%" SCNx32 "%n", to + n, &used) == 1; text += used)
        n++;
    return n;
}

static void one_case(const char *spec, size_t n, const uint32_t *x, const char *digits, const uint32_t *y)
{
    static uint32_t got[MOST];
    static unsigned char bytes[4 * MOST];
    const fpemu_rounding r = fpemu_rounding_nearest();
    const fpemu_shape s = fpemu_shape_vector(n);
    fpemu_format f;
    if (fpemu_format_parse(spec, &f, NULL) || fpemu_packed_size(&f, &s) != strlen(digits) / 2 || n == 0) {
        expect(0, "the case of", spec, n);
        return;
    }
    const size_t size = strlen(digits) / 2;
    const uint64_t room = fpemu_cuda_scratch_size(&f, &s);
    float *const d_x = device_memory(0, 4 * MOST), *const d_y = device_memory(1, 4 * MOST);
    unsigned char *const d_bytes = device_memory(2, 4 * MOST);
    void *const scratch = room ? device_memory(3, (size_t)room) : NULL;
    to_device(d_x, x, 4 * n);
    expect(fpemu_cuda_quantize_tensor_f32(&f, &r, &s, d_x, d_y, scratch, NULL, NULL) == FPEMU_CUDA_OK, "quantize", spec,
           n);
    from_device(got, d_y, 4 * n);
    for (size_t i = 0; i < n; i++)
        expect(got[i] == y[i], "quantize", spec, i);
    expect(fpemu_cuda_pack_f32(&f, &r, &s, d_x, d_bytes, scratch, NULL, NULL) == FPEMU_CUDA_OK, "pack", spec, n);
    from_device(bytes, d_bytes, size);
    for (size_t i = 0; i < size; i++) {
        unsigned byte = 0;
        (void)sscanf(digits + 2 * i, "%2x", &byte);
        expect(bytes[i] == byte, "byte", spec, i);
    }
    memset(got, 0, sizeof got);
    to_device(d_y, got, 4 * n);
    expect(fpemu_cuda_unpack_f32(&f, &s, d_bytes, d_y, scratch, NULL) == FPEMU_CUDA_OK, "unpack", spec, n);
    from_device(got, d_y, 4 * n);
    for (size_t i = 0; i < n; i++)
        expect(got[i] == y[i], "unpack", spec, i);
}

static void check_blocks(void)
{
    static char line[4096], spec[64], digits[4096];
    static uint32_t x[MOST], y[MOST];
    FILE *const file = open_vectors("blocks.txt");
    size_t n = 0, cases = 0;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "case ", 5))
            (void)snprintf(spec, sizeof spec, "%.60s", line + 5);
        else if (!strncmp(line, "x ", 2))
            n = words(line + 2, x);
        else if (!strncmp(line, "bytes ", 6))
            (void)snprintf(digits, sizeof digits, "%s", line + 6);
        else if (!strncmp(line, "y ", 2)) {
            expect(words(line + 2, y) == n, "words of", spec, n);
            one_case(spec, n, x, digits, y);
            cases++;
        }
    }
    if (file)
        (void)fclose(file);
    expect(cases > 300, "cases", "blocks.txt", cases);
}

/* Of as many outputs as take a tile and more. */
static void check_tensor_cores(void)
{
    enum { SIDE = 17 };
    static float a[SIDE * TENSOR_BYTES], b[SIDE * TENSOR_BYTES], c[SIDE * SIDE], got[SIDE * SIDE];
    FILE *const file = open_vectors("tensor_cores.txt");
    tensor_answer t = {0};
    unsigned long count = 0;
    int found;
    while (file && (found = tensor_next(file, &t)) != 0) {
        const char *const model = found > 0 ? tensor_instructions[t.instruction].model : "";
        fpemu_gemm_spec spec;
        fpemu_gemm_shape s = {0};
        s.m = s.n = SIDE;
        s.k = t.n;
        s.transpose_b = 1;
        if (found < 0 || fpemu_gemm_parse(model, &spec, NULL)) {
            expect(0, "line", "tensor_cores.txt", t.line);
            continue;
        }
        spec.start_from_c = 1;
        for (unsigned i = 0; i < SIDE; i++) {
            memcpy(a + i * t.n, t.a, t.n * sizeof *a);
            memcpy(b + i * t.n, t.b, t.n * sizeof *b);
        }
        for (unsigned i = 0; i < SIDE * SIDE; i++)
            c[i] = t.c;
        const uint64_t room = fpemu_cuda_gemm_scratch_size(&spec, &s, 32);
        float *const d_a = device_memory(0, 4 * MOST), *const d_b = device_memory(1, 4 * MOST);
        float *const d_c = device_memory(2, 4 * MOST);
        to_device(d_a, a, sizeof a);
        to_device(d_b, b, sizeof b);
        to_device(d_c, c, sizeof c);
        expect(fpemu_cuda_gemm_f32(&spec, &s, 1, d_a, d_b, 1, d_c, room ? device_memory(3, (size_t)room) : NULL, NULL,
                                   NULL) == FPEMU_CUDA_OK,
               "gemm", model, t.line);
        from_device(got, d_c, sizeof got);
        for (unsigned i = 0; i < SIDE * SIDE; i++)
            expect(tensor_same((double)got[i], (double)t.d), "a line of tensor_cores.txt by", model, t.line);
        count++;
    }
    if (file)
        (void)fclose(file);
    expect(count > 600, "answers", "tensor_cores.txt", count);
}

int main(void)
{
    device_begin();
    check_blocks();
    check_tensor_cores();
    printf("known answers: %lu compared, %lu differ\n", comparisons, failures);
    return failures != 0;
}
