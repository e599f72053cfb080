/* SPDX-License-Identifier: BSD-2-Clause */
/* fpemu/gemm.h - dot products and products of matrices as a machine computes them: what operands, products and sums are
 * rounded to, and in which order they are added. doc/accumulation.md defines each model bit by bit. Results depend
 * neither on threads, tiles and transposes nor on the instruction set. */
#ifndef FPEMU_API_GEMM_H
#define FPEMU_API_GEMM_H

#include "format.h"
#include "rounding.h"
#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------- the model */

/* A format, and how numbers are rounded to it. All zero bits = none: numbers pass unchanged. Refused
 * (FPEMU_ERROR_UNSUPPORTED) are compatibility settings and blocked formats; but for operands also codebooks, formats
 * that wrap, where `rounding` does not have them saturate, and the affine integers that arithmetic refuses. */
typedef struct fpemu_target {
    fpemu_format format;
    fpemu_rounding rounding;
} fpemu_target;
FPEMU_STATIC_ASSERT(sizeof(fpemu_target) == 320, "fpemu_target has no unnamed padding");

/* How products are added up; s is the sum so far. */
typedef enum fpemu_model {
    FPEMU_MODEL_INVALID = 0,
    FPEMU_MODEL_SEQUENTIAL = 1, /* s = inner(s + product), k ascending */
    FPEMU_MODEL_CHUNKED = 2,    /* the same within chunks; then s = outer(s + chunk) (Wang et al. 2018) */
    FPEMU_MODEL_PAIRWISE = 3,   /* neighbours are added, then neighbours of those, ... */
    FPEMU_MODEL_KAHAN = 4,      /* compensated: four roundings a product */
    FPEMU_MODEL_FUSED = 5,      /* matrix unit: a step's products are aligned to the largest exponent, cut, added as
                                   integers (Fasi et al. 2021; Khattak, Mikaitis 2025); or added exactly, or in turn */
    FPEMU_MODEL_INTEGER = 6,    /* integers of a given width, which saturate or wrap */
    FPEMU_MODEL_COUNT = 7
} fpemu_model;

#define FPEMU_NO_FLOOR INT32_MIN
#define FPEMU_SUM_EXACT UINT32_C(0x10000)   /* in place of fraction bits: nothing of a step's terms is cut */
#define FPEMU_SUM_CHAINED UINT32_C(0x20000) /* each product is a fused multiply-add, rounded to inner */

/* Which products a step takes, of n: */
typedef enum fpemu_products {
    FPEMU_PRODUCTS_IN_ORDER = 0,
    FPEMU_PRODUCTS_ODD_FIRST = 1, /* 1 0 3 2 ... */
    FPEMU_PRODUCTS_BY_FOURS = 2   /* of 2n the first n are 0 1 4 5 8 9 ..., the others 2 3 6 7 ... */
} fpemu_products;

/* The model and its numbers; fields that it does not name are 0. inner and outer may be any format that binary64 holds,
 * whatever the carrier. */
typedef struct fpemu_accumulator {
    uint32_t model;         /* fpemu_model */
    uint32_t chunk;         /* chunked: products of a chunk, at least 1. fused: products after which the sum is added to
                               outer, a multiple of block; 0 = never; with group: elements of a scale */
    uint32_t block;         /* fused: products of a step, 1..64 */
    uint32_t fraction_bits; /* fused: bits kept below the largest exponent, 0..40, or FPEMU_SUM_EXACT, _CHAINED */
    int32_t least_exponent; /* fused: the exponent to align to is at least this, -700..700; FPEMU_NO_FLOOR = no such
                               floor */
    uint32_t width;         /* integer: bits with the sign, 2..64 */
    uint8_t wrap;           /* integer: 0 saturates, 1 wraps */
    uint8_t ways;           /* fused: interleaved sums of a step's products, 2, 4 or 8; 0 = one */
    uint8_t late;           /* fused: the old sum joins after the products, aligned with this many bits; chained: 1 */
    uint8_t group;          /* fused, scales inside: 1 = each product is scaled, else products that are added exactly,
                               then scaled; 0 = scales at the end of a chunk */
    uint8_t order;          /* fused: fpemu_products */
    uint8_t flush;          /* fused, chained: 1 = subnormal results and old sums become zero */
    uint8_t reserved0[2];
    uint64_t reserved1[4];
    fpemu_target inner; /* what a sum is rounded to after every addition; not for integer. fused: what a step gives,
                               an ieee float of at most binary32's range, mode rtz or rne; both overflow to infinity */
    fpemu_target
        outer; /* chunked, and fused with chunk: after every addition of a chunk; with group: what scales are */
} fpemu_accumulator;
FPEMU_STATIC_ASSERT(sizeof(fpemu_accumulator) == 704, "fpemu_accumulator has no unnamed padding");

/* Each operand as a sum of pieces, of which some products are added: 3 of two pieces, 6 or 9 of three. Floats: a and
 * b are the format of the pieces, by mode rne, rna, rnz or rtz. INT8 (Ozaki): integer slices below the largest exponent
 * of a row or column, whose exact sums enter a sequential sum; product is none, and it does not start from c; a and b
 * are none or by one of these modes; k is at most 2^29, else FPEMU_ERROR_ARGUMENT. */
typedef enum fpemu_splits {
    FPEMU_SPLITS_NONE = 0,
    FPEMU_SPLITS_BF16X3 = 1,
    FPEMU_SPLITS_BF16X6 = 2,
    FPEMU_SPLITS_BF16X9 = 3,
    FPEMU_SPLITS_TF32X3 = 4,
    FPEMU_SPLITS_INT8 = 5,
    FPEMU_SPLITS_COUNT = 6
} fpemu_splits;

/* A dot product: s = sum of a[k] * b[k] over k = 0 .. K-1, and its result out(alpha * s + beta * c), exact but for one
 * rounding. Random bits: rounding number t of output i (doc/accumulation.md numbers them) is element i of the stream
 * mix(stream + (t+1) * 0x9e3779b97f4a7c15); an operand is the element of its index. */
typedef struct fpemu_gemm_spec {
    fpemu_target a, b;    /* what operands are rounded to before they are used. fused: needed, floats of at most 12 bits
                             of precision; integer: needed, fixed or int of at most 31 bits, steps a power of two */
    fpemu_target product; /* what a product is rounded to; none: the exact product enters the sum, as in a fused
                             multiply-add. fused, integer: none */
    fpemu_target out;     /* what the result is rounded to; none: the carrier, to nearest even */
    fpemu_accumulator sum;
    uint8_t start_from_c; /* 1: the sum starts from c in place of +0, as the instruction does; alpha and beta are 1 */
    uint8_t splits;       /* fpemu_splits */
    uint8_t slices;       /* with INT8: of each operand, 2..18 */
    uint8_t reserved0;
    uint32_t split_block; /* elements of k of which all products of pieces are added before the next ones; 0: all, and
                             always with INT8 */
    uint64_t reserved1[7];
} fpemu_gemm_spec;
FPEMU_STATIC_ASSERT(sizeof(fpemu_gemm_spec) == 2048, "fpemu_gemm_spec has no unnamed padding");

/* Reads a model from a text of at most 1023 bytes, such as "seq(fp(6,9,0)/sr)", "chunk(64,fp(6,9,0)); ab=e5m2",
 * "pairwise(fp16)", "kahan(bf16); product=bf16", "tc(h100,fp16)", "tc(h100,e4m3fn,promote=128)",
 * "int(32,saturate); ab=fixed(8,4)", "fp32", "fp64" (grammar: doc/accumulation.md). Seeds and streams are 0 then.
 * `error` may be NULL. FPEMU_ERROR_SPEC, or FPEMU_ERROR_UNSUPPORTED where sums, products or the result shall be rounded
 * to a blocked format or a codebook; *error says where in both cases, and *spec is all zero. */
fpemu_status fpemu_gemm_parse(const char *text, fpemu_gemm_spec *spec, fpemu_parse_error *error);
/* Writes the canonical text, zero-terminated; of a rounding only the mode is told. FPEMU_ERROR_BUFFER where `capacity`
 * bytes do not suffice, 1024 always do; FPEMU_ERROR_ARGUMENT for a model that does not exist, or a width, chunk, step,
 * count of fraction bits or least exponent that none has; FPEMU_ERROR_UNSUPPORTED for what fpemu_gemm_parse would not
 * read. On failure the text is empty, where there is room for that. */
fpemu_status fpemu_gemm_print(const fpemu_gemm_spec *spec, char *text, size_t capacity);
/* FPEMU_OK if the spec can be used with arrays of FPEMU_TYPE_F32 or _F64, or why it cannot, which *why (may be NULL)
 * tells in words. */
fpemu_status fpemu_gemm_check(const fpemu_gemm_spec *spec, fpemu_type type, fpemu_why *why);

typedef enum fpemu_gpu {
    FPEMU_GPU_V100 = 1,
    FPEMU_GPU_A100 = 2,
    FPEMU_GPU_ADA = 3,  /* L40S */
    FPEMU_GPU_H100 = 4, /* H200 */
    FPEMU_GPU_B200 = 5,
    FPEMU_GPU_CDNA1 = 6,     /* AMD: MI100, */
    FPEMU_GPU_CDNA2 = 7,     /* MI200, */
    FPEMU_GPU_CDNA3 = 8,     /* MI300 */
    FPEMU_GPU_AMX = 9,       /* Intel: TDPBF16PS, TDPFP16PS */
    FPEMU_GPU_AVX512 = 10,   /* VDPBF16PS */
    FPEMU_GPU_CDNA2_OLD = 11 /* BFLOAT16 by the instructions without _1k */
} fpemu_gpu;
/* The matrix unit of a GPU or CPU: a model made from measurements that others published or from documents; those of
 * H100, AVX512 and AMX with BFLOAT16 have been compared with one. Operands FPEMU_NAME_BINARY16; all but V100 also
 * BFLOAT16 and TF32 (CDNA: CDNA3 alone); Ada, H100, B200 also E4M3FN and E5M2; CDNA3 E4M3FNUZ and E5M2FNUZ; B200 E3M2,
 * E2M3, E2M1, and with scales MXFP8_..., MXFP6_..., MXFP4, NVFP4. AMX: BFLOAT16, BINARY16; AVX512: BFLOAT16. Result
 * FPEMU_NAME_BINARY32, or BINARY16 on NVIDIA's for operands of that, on Ada, H100 (wgmma) and B200 for smaller ones.
 * FPEMU_ERROR_UNSUPPORTED, and *spec all zero, where there is no such instruction, or none that is known. */
fpemu_status fpemu_gemm_tensor_core(fpemu_gemm_spec *spec, fpemu_gpu gpu, fpemu_name operands, fpemu_name result);

/* --------------------------------------------------------------------------------------------- the products */

typedef enum fpemu_order { FPEMU_ORDER_ROW_MAJOR = 0, FPEMU_ORDER_COLUMN_MAJOR = 1 } fpemu_order;

/* op(A) is m x k, op(B) is k x n, C is m x n; op(X) is X, or its transpose where that is asked. All counts are in
 * elements. */
typedef struct fpemu_gemm_shape {
    uint64_t m, n, k;
    uint64_t lda, ldb, ldc; /* from one row (column-major: column) of the array to the next; 0 = without gaps */
    uint64_t batch;         /* independent products; 0 = 1 */
    uint64_t stride_a, stride_b, stride_c; /* from one product's array to the next; a, b: 0 = one array for all */
    uint8_t order;                         /* fpemu_order, of all three */
    uint8_t transpose_a, transpose_b;      /* 1: the array holds the transpose */
    uint8_t reserved0[5];
    uint64_t reserved1[5];
} fpemu_gemm_shape;
FPEMU_STATIC_ASSERT(sizeof(fpemu_gemm_shape) == 128, "fpemu_gemm_shape has no unnamed padding");

/* C = out(alpha * op(A) op(B) + beta * C). The type is FPEMU_TYPE_F32, with alpha and beta that are binary32 numbers,
 * infinities or NaN, or FPEMU_TYPE_F64 (else FPEMU_ERROR_ARGUMENT). With beta = 0 C is not read, with alpha = 0 neither
 * are A and B. c shares no element with a and b where they are read; all may be blocks of an array. m = 0 or n = 0
 * succeeds; k = 0 gives out(alpha * 0 + beta * C), or with start_from_c what C alone is. Indices in the random streams,
 * whatever order, transposes and strides are: output (i,j) of product q is (q*m + i)*n + j, a(i,l) is (q*m + i)*k + l,
 * b(l,j) is (q*k + l)*n + j, with q = 0 for an array that all products share. `stats` (may be NULL) counts every
 * rounding of products and sums and, where given, of out; its request.want must be 0. FPEMU_ERROR_ARGUMENT for a
 * leading dimension that is too small, products of a batch that share an element of c, or an array past the end of
 * memory. Tell the formats of a and b though the numbers are rounded to them already: it is faster. Up to 120 kB of
 * stack are used. */
fpemu_status fpemu_gemm(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type, double alpha,
                        const void *a, const void *b, double beta, void *c, fpemu_stats *stats);

/* The same with a scale for every block of sum.chunk elements along k (the last may have fewer), as hardware for MX and
 * NVFP4 has it: the sum of a chunk, times the scales of its two blocks, is added to s by one rounding to outer. Chunked
 * models, and fused ones with a chunk; FPEMU_ERROR_UNSUPPORTED for others, and with splits, where scales
 * are given.
 *   scales_a  m rows of ceil(k / chunk) scales, one row for each row of op(A)
 *   scales_b  n rows of as many, one row for each column of op(B)
 * and so for each product of the batch, one after the other, or once where stride_a (stride_b) is 0. NULL: all 1.
 * Scales are of the type, and binary32 numbers, infinities or NaN, else FPEMU_ERROR_ARGUMENT; where the model has them
 * inside its steps (group), NaN or numbers of the format `outer`. No element of c overlaps one. */
fpemu_status fpemu_gemm_scaled(const fpemu_gemm_spec *spec, const fpemu_gemm_shape *shape, fpemu_type type,
                               double alpha, const void *a, const void *scales_a, const void *b, const void *scales_b,
                               double beta, void *c, fpemu_stats *stats);

/* y = out(alpha * op(A) x + beta * y). A is an array of m rows and n columns; transpose = 0: x has n elements and y m;
 * 1: x has m and y n. Steps incx, incy are in elements and not 0; negative ones begin at the end of the array, as in
 * BLAS. In the random streams element l of x has index l, output i index i. */
fpemu_status fpemu_gemv(const fpemu_gemm_spec *spec, fpemu_order order, int transpose, size_t m, size_t n,
                        fpemu_type type, double alpha, const void *a, size_t lda, const void *x, int64_t incx,
                        double beta, void *y, int64_t incy, fpemu_stats *stats);

/* *result = out(sum of x[i] * y[i]), output 0 of the random streams. With start_from_c *result is read first. n = 0
 * gives out(+0), or with start_from_c what *result alone is. */
fpemu_status fpemu_dot(const fpemu_gemm_spec *spec, size_t n, fpemu_type type, const void *x, int64_t incx,
                       const void *y, int64_t incy, void *result, fpemu_stats *stats);

/* ---------------------------------------------------------------------------------------- prepared products */

/* A spec and a type, checked and planned, which takes most of the time of a call on few elements. It holds a copy of
 * the spec with its seeds and streams; otherwise what prepare.h says of an fpemu_prepared holds of it. */
typedef struct fpemu_prepared_gemm {
    uint64_t state[896];
} fpemu_prepared_gemm;
FPEMU_STATIC_ASSERT(sizeof(fpemu_prepared_gemm) == 7168, "fpemu_prepared_gemm has no unnamed padding");

/* Refuses what fpemu_gemm_check refuses, with the reason in *why (may be NULL); then *prepared is all zero. */
fpemu_status fpemu_prepare_gemm(fpemu_prepared_gemm *prepared, const fpemu_gemm_spec *spec, fpemu_type type,
                                fpemu_why *why);
/* fpemu_gemm_scaled, or where both scales are NULL fpemu_gemm. FPEMU_ERROR_ARGUMENT for what is not prepared. */
fpemu_status fpemu_run_gemm(const fpemu_prepared_gemm *prepared, const fpemu_gemm_shape *shape, double alpha,
                            const void *a, const void *scales_a, const void *b, const void *scales_b, double beta,
                            void *c, fpemu_stats *stats);
/* fpemu_dot. FPEMU_ERROR_ARGUMENT for what is not prepared. */
fpemu_status fpemu_run_dot(const fpemu_prepared_gemm *prepared, size_t n, const void *x, int64_t incx, const void *y,
                           int64_t incy, void *result, fpemu_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* FPEMU_API_GEMM_H */
