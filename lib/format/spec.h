/* spec.h - what the files about formats and texts share: format.c, codebook.c, blocked.c, query.c, spec.c, blockspec.c,
 * rounding.c and decimal.c. */
#ifndef FPEMU_SPEC_H
#define FPEMU_SPEC_H

#include "fpemu.h"

/* Parameters of a format, as bits, to say which of them are at fault. */
enum fpemu_parameter {
    FPEMU_PARAMETER_BITS = 1u << 0,
    FPEMU_PARAMETER_EXPONENT = 1u << 1,
    FPEMU_PARAMETER_MANTISSA = 1u << 2,
    FPEMU_PARAMETER_BIAS = 1u << 3,
    FPEMU_PARAMETER_FRACTION = 1u << 4,
    FPEMU_PARAMETER_SIGNED = 1u << 5,
    FPEMU_PARAMETER_SPECIALS = 1u << 6,
    FPEMU_PARAMETER_SUBNORMALS = 1u << 7,
    FPEMU_PARAMETER_OVERFLOW = 1u << 8,
    FPEMU_PARAMETER_NAN = 1u << 9,
    FPEMU_PARAMETER_SYMMETRIC = 1u << 10,
    FPEMU_PARAMETER_WRAP = 1u << 11,
    FPEMU_PARAMETER_SCALE = 1u << 12,
    FPEMU_PARAMETER_ZERO = 1u << 13,
    FPEMU_PARAMETER_TABLE = 1u << 14,
    /* of blocked formats; what is at fault with the element as such is one of those above */
    FPEMU_PARAMETER_ELEMENT = 1u << 15,
    FPEMU_PARAMETER_BLOCK = 1u << 16,
    FPEMU_PARAMETER_BLOCK_SCALE = 1u << 17,
    FPEMU_PARAMETER_BLOCK_EXPONENT = 1u << 18,
    FPEMU_PARAMETER_RULE = 1u << 19,
    FPEMU_PARAMETER_MARGIN = 1u << 20,
    FPEMU_PARAMETER_COUNT = 21
};

/* Why parameters make no format. `expected` completes the sentence "found ..., expected ...". */
typedef struct fpemu_problem {
    uint32_t parameters;
    const char *expected;
} fpemu_problem;

static inline int refuse(fpemu_problem *problem, uint32_t parameters, const char *expected)
{
    problem->parameters = parameters;
    problem->expected = expected;
    return 0;
}

/* fpemu_format_complete with the reason. 1 on success; else *problem is set and *format is left half done. */
int fpemu_derive(fpemu_format *format, fpemu_problem *problem);

/* What derives a codebook, and, the element derived, the rest of a blocked format; 1 for scalar formats. */
int fpemu_derive_codebook(fpemu_format *format, fpemu_problem *problem);
int fpemu_derive_blocked(fpemu_format *format, fpemu_problem *problem);

/* Value i of a codebook format, in the order of codes. */
double fpemu_table_value(const fpemu_format *format, uint64_t i);
/* 1 if both are the same built-in table, or tables of equal values, or no codebooks. */
int fpemu_same_table(const fpemu_format *a, const fpemu_format *b);

/* The parameters of blocks and their scales: copies them, sets them all to zero, 1 if they agree. */
void fpemu_copy_blocked(fpemu_format *to, const fpemu_format *from);
void fpemu_clear_blocked(fpemu_format *format);
int fpemu_same_blocking(const fpemu_format *a, const fpemu_format *b);
/* Takes a scale format: a float of at most 32 bits and 23 fraction bits with the default policies. */
int fpemu_set_scale(fpemu_format *format, const fpemu_format *scale, fpemu_problem *problem);
/* The scale format of fields that are not zero, as a scalar format; 0 if they make none. */
int fpemu_scale_of(const fpemu_format *format, fpemu_format *scale);
/* Width of the code of a block's scale; 0 where there is none. */
uint32_t fpemu_scale_bits(const fpemu_format *format);

/* Sets the parameters that the notation stands for. Numbers out of any range are refused, never truncated. */
int fpemu_set_lee(fpemu_format *format, int64_t exponent_bits, int64_t mantissa_bits, int64_t b,
                  fpemu_problem *problem);
int fpemu_set_p3109(fpemu_format *format, int64_t k, int64_t p, int is_signed, int has_infinity,
                    fpemu_problem *problem);

/* The bias that FPEMU_BIAS_DEFAULT stands for; exponent_bits >= 1. */
int32_t fpemu_default_bias(uint32_t exponent_bits, uint32_t specials);

/* Code of the smallest positive value of a float. */
uint64_t fpemu_smallest_code(const fpemu_format *format);

/* 1 if a name of the table is one of a blocked format. */
int fpemu_name_is_blocked(fpemu_name name);

/* 1 if all parameters but the policies (and those that a spec gives as modifiers) agree. */
int fpemu_same_base(const fpemu_format *a, const fpemu_format *b);

/* Fills `error` (may be NULL): what stands at `position`, and what was expected. Returns FPEMU_ERROR_SPEC. */
fpemu_status fpemu_spec_error(fpemu_parse_error *error, const char *text, size_t length, size_t position,
                              const char *expected);

/* ASCII only, whatever the locale. */
int fpemu_is_space(char c);
int fpemu_is_word(char c);
/* 1 if the `length` bytes at `text` spell the lower-case `word`, in any case. */
int fpemu_word_is(const char *text, size_t length, const char *word);

#define FPEMU_SPEC_LENGTH 255 /* longest text that is read */

/* 2^n - 1, n = 0..64 */
static inline uint64_t fpemu_ones(uint32_t n)
{
    return n ? ~UINT64_C(0) >> (64 - n) : 0;
}

/* Length of a text, FPEMU_SPEC_LENGTH + 1 for all that are too long. */
size_t fpemu_spec_length(const char *text);

/* k * 2^exponent; the caller knows that it is a number of binary64. */
double fpemu_exact(uint64_t k, int exponent);

/* The binary64 number nearest (RNE) to decimal text of the form digits[.digits][e[+-]digits], at least one digit in
 * all, `length` <= FPEMU_SPEC_LENGTH; infinity beyond the largest. Neither locale nor rounding direction matter. */
double fpemu_decimal_read(const char *text, size_t length);

/* Writes the shortest decimal that reads back as x > 0, finite; of several the nearest. Zero-terminated. */
#define FPEMU_DECIMAL_SIZE 32
void fpemu_decimal_print(double x, char text[FPEMU_DECIMAL_SIZE]);

#endif /* FPEMU_SPEC_H */
