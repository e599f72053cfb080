/* SPDX-License-Identifier: BSD-2-Clause */
/* suite.h - what the unit tests share: formats from text and back, numbers at random, a check that costs nothing where
 * it holds, and a suite of tests. */
#ifndef UNIT_SUITE_H
#define UNIT_SUITE_H

#include "../common.h"
#include "fpemu.h"
#include <check.h>

/* Check takes note of every assertion that holds, which is too much in a loop. */
#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* The call gives FPEMU_OK; each of the calls, which do not depend on one another, gives FPEMU_ERROR_... */
#define GIVES_OK(...) ck_assert_int_eq(__VA_ARGS__, FPEMU_OK)
#define REFUSES(error, ...)                                                                                            \
    do {                                                                                                               \
        const fpemu_status found[] = {__VA_ARGS__};                                                                    \
        for (size_t call = 0; call < COUNT(found); call++)                                                             \
            ck_assert_msg(found[call] == FPEMU_ERROR_##error, "call %zu of %s: status %d, not " #error, call + 1,      \
                          #__VA_ARGS__, found[call]);                                                                  \
    } while (0)

static inline fpemu_format format_of(const char *spec)
{
    fpemu_format f;
    fpemu_parse_error error;
    REQUIRE(fpemu_format_parse(spec, &f, &error) == FPEMU_OK, "%s: at %u: %s", spec, error.position, error.message);
    return f;
}

static inline fpemu_gemm_spec model_of(const char *text)
{
    fpemu_gemm_spec s;
    fpemu_parse_error error;
    REQUIRE(fpemu_gemm_parse(text, &s, &error) == FPEMU_OK, "%s: at %u: %s", text, error.position, error.message);
    return s;
}

/* Parses, prints, parses again; returns whether the spec names a format. */
static inline int round_trip(const char *spec, char canonical[256])
{
    static const fpemu_format zero;
    fpemu_format f, g;
    fpemu_parse_error error;
    char again[256];
    const fpemu_status status = fpemu_format_parse(spec, &f, &error);
    if (status != FPEMU_OK) {
        REQUIRE(status == FPEMU_ERROR_SPEC, "%s: status %d", spec, status);
        REQUIRE(memcmp(&f, &zero, sizeof f) == 0, "%s: not zeroed", spec);
        REQUIRE(error.position <= strlen(spec), "%s: position %u", spec, error.position);
        const size_t n = strlen(error.message);
        REQUIRE(n > 0 && n < sizeof error.message - 1, "%s: message of %zu bytes", spec, n);
        for (size_t i = 0; i < n; i++)
            REQUIRE(error.message[i] >= ' ' && error.message[i] <= '~', "%s: message holds %02x", spec,
                    (unsigned)error.message[i] & 0xff);
        return 0;
    }
    REQUIRE(fpemu_format_print(&f, canonical, 256) == FPEMU_OK, "%s: print", spec);
    REQUIRE(fpemu_format_parse(canonical, &g, &error) == FPEMU_OK, "%s: %s: %u: %s", spec, canonical, error.position,
            error.message);
    REQUIRE(fpemu_format_equal(&f, &g) && memcmp(&f, &g, sizeof f) == 0, "%s and %s differ", spec, canonical);
    REQUIRE(fpemu_format_print(&g, again, sizeof again) == FPEMU_OK && strcmp(canonical, again) == 0, "%s and %s",
            canonical, again);
    return 1;
}

__attribute__((unused)) static uint64_t random_state = 1;

static inline uint32_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

static inline uint32_t below(uint32_t n)
{
    return random_word() % n;
}

/* Doubles, for qsort. */
static inline int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#if CHECK_MAJOR_VERSION > 0 || CHECK_MINOR_VERSION >= 13
typedef const TTest *suite_test;
#else
typedef TFun suite_test;
#endif

/* The exit status of a program of these tests, before each of which `setup` runs, if there is one. */
#define RUN_SUITE(name, setup, ...) suite_run(name, setup, (const suite_test[]){__VA_ARGS__, NULL})

static inline int suite_run(const char *name, SFun setup, const suite_test *tests)
{
    Suite *const suite = suite_create(name);
    TCase *const cases = tcase_create(name);
    SRunner *const runner = srunner_create(suite);
    tcase_set_timeout(cases, 300);
    tcase_add_checked_fixture(cases, setup, NULL);
    for (; *tests; tests++)
        tcase_add_test(cases, *tests);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
