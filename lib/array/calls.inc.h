/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.inc.h - the calls of one carrier, as the files of this room hand them to one another; included by blocks.h for
 * each. `plan` is NULL, or memory that a function below filled. Pointers are not NULL unless that is said. */

/* Values, or codes if to_code, of n elements of any format. x, and values, are arrays of `carrier`. */
fpemu_status fpemu_convert(int carrier, const fpemu_format *f, const fpemu_rounding *r, size_t n, const void *x,
                           void *out, int to_code, fpemu_stats *stats);

/* A format without scales and tables, checked with its rounding for the carrier; and n > 0 elements by the plan, in the
 * default floating-point environment. */
void fpemu_convert_plan(void *plan, const fpemu_format *f, const fpemu_rounding *r, int carrier, int to_code);
fpemu_status fpemu_convert_run(const void *plan, const fpemu_rounding *r, size_t n, const void *x, void *out,
                               fpemu_stats *stats);
fpemu_status fpemu_decode_run(const core_coder *coder, size_t size, int carrier, size_t n, const void *codes, void *y);

/* The plan of blocks, or of tables, for values or codes; scale: as fpemu_check_scaled gave it. */
void fpemu_block_plan(void *plan, const fpemu_format *f, const fpemu_format *scale, const fpemu_rounding *r,
                      int carrier, int codes);
fpemu_status fpemu_block_run(const block_call *call, const void *x, void *y);
/* fpemu_quantize_tensor. */
fpemu_status fpemu_block_tensor_run(int carrier, const void *plan, const fpemu_format *format,
                                    const fpemu_rounding *rounding, const fpemu_shape *shape, const void *x, void *y,
                                    fpemu_stats *stats);
/* What fpemu_convert and its kin hand over: n > 0 elements, codes, one element (code: NULL, or set to its code; r may be
 * NULL). */
fpemu_status fpemu_block_convert(int carrier, const void *plan, const fpemu_format *f, const fpemu_rounding *r,
                                 size_t n, const void *x, void *out, int to_code, fpemu_stats *stats);
fpemu_status fpemu_block_decode(int carrier, const fpemu_format *f, size_t n, const void *codes, void *y);
realw fpemu_table_round(const fpemu_format *f, const fpemu_rounding *r, realw x, uint64_t index, uint64_t *code);

/* Codes to values. */
typedef struct block_reader {
    core_block block;
    core_coder coder;
    const float *values; /* of a codebook, else NULL */
    uint32_t length;     /* of the codebook */
    size_t size;         /* bytes of a code */
    uint8_t scaled;
} block_reader;

/* f is checked, scale as that gave it; where the format has numbers of the whole tensor, they come into r->block.tensor
 * afterwards. Call these in the default floating-point environment. */
void fpemu_reader_begin(block_reader *r, const fpemu_format *f, const fpemu_format *scale);
/* n values of the element format from codes of r->size bytes. */
void fpemu_reader_elements(const block_reader *r, size_t n, const void *codes, realw *y);
/* The same less `zero`, a zero point, times the scale of their block, from its code (0 where there is none). With
 * levels: a whole block. */
void fpemu_reader_values(const block_reader *r, uint64_t scale, realw zero, size_t n, const void *codes, realw *y);
/* n > 0 codes of a format without scales to numbers of `carrier`. */
fpemu_status fpemu_reader_run(const block_reader *r, int carrier, size_t n, const void *codes, void *y);

/* Packing and unpacking of blocks [first, first + count) that lie one after the other in x or y, or (compact = 0) of a
 * whole tensor. plan: of unpacking a reader. */
fpemu_status fpemu_pack_run(int carrier, const void *plan, const fpemu_format *f, const fpemu_rounding *r,
                            const fpemu_shape *shape, uint64_t first, uint64_t count, int compact, const void *x,
                            unsigned char *bytes, fpemu_stats *stats);
fpemu_status fpemu_unpack_run(int carrier, const void *plan, const fpemu_format *f, const fpemu_shape *shape,
                              uint64_t first, uint64_t count, int compact, const unsigned char *bytes, void *y);
