// SPDX-License-Identifier: BSD-2-Clause
// universal.cpp - what peers.py measures of Stillwater's Universal, whose headers are not here: the functions of
// softposit.c, by its posits. fma is its own fused function, with one rounding.
#include <universal/number/posit/posit.hpp>

#include <cmath>
#include <cstddef>

namespace
{
using sw::universal::posit;

template <typename From, typename To, typename Verb>
void each(std::size_t n, const void *operand_a, const void *operand_b, const void *operand_c, void *result, Verb verb)
{
    const From *a = static_cast<const From *>(operand_a), *b = static_cast<const From *>(operand_b);
    const From *c = static_cast<const From *>(operand_c);
    To *y = static_cast<To *>(result);
    for (std::size_t i = 0; i < n; i++)
        y[i] = verb(a, b, c, i);
}
} // namespace

#define VERB(NAME, FROM, TO, RESULT)                                                                                   \
    extern "C" void NAME(std::size_t n, const void *a, const void *b, const void *c, void *y)                          \
    {                                                                                                                  \
        each<FROM, TO>(n, a, b, c, y,                                                                                  \
                       [](const FROM *a, [[maybe_unused]] const FROM *b, [[maybe_unused]] const FROM *c,               \
                          std::size_t i) { return TO(RESULT); });                                                      \
    }

#define CONVERSIONS(NAME, REAL, POSIT)                                                                                 \
    VERB(NAME##_round, REAL, REAL, REAL(POSIT(a[i])))                                                                  \
    VERB(NAME##_encode, REAL, POSIT, a[i])                                                                             \
    VERB(NAME##_decode, POSIT, REAL, a[i])

#define ARITHMETIC(NAME, POSIT)                                                                                        \
    VERB(NAME##_add, POSIT, POSIT, a[i] + b[i])                                                                        \
    VERB(NAME##_mul, POSIT, POSIT, a[i] * b[i])                                                                        \
    VERB(NAME##_div, POSIT, POSIT, a[i] / b[i])                                                                        \
    VERB(NAME##_sqrt, POSIT, POSIT, sqrt(a[i]))                                                                        \
    VERB(NAME##_fma, POSIT, POSIT, fma(a[i], b[i], c[i]))

using posit8_0 = posit<8, 0>;
using posit8_2 = posit<8, 2>;
using posit16_1 = posit<16, 1>;
using posit16_2 = posit<16, 2>;
using posit32_2 = posit<32, 2>;
CONVERSIONS(posit8_0, float, posit8_0)
CONVERSIONS(posit8_2, float, posit8_2)
CONVERSIONS(posit16_1, float, posit16_1)
CONVERSIONS(posit16_2, float, posit16_2)
CONVERSIONS(posit32_2, double, posit32_2)
ARITHMETIC(posit16_1, posit16_1)
ARITHMETIC(posit16_2, posit16_2)
ARITHMETIC(posit32_2, posit32_2)
