/* SPDX-License-Identifier: BSD-2-Clause */
/* crush.c - SmallCrush, or some tests of Crush, of TestU01 on 32-bit numbers from standard input.
 *
 * usage: crush small | crush TEST...: tests of Crush by number
 */
#include "../common.h"

#include <TestU01.h>

static unsigned int next(void)
{
    static unsigned int numbers[1 << 14];
    static size_t count, used;
    if (used == count) {
        count = fread(numbers, sizeof *numbers, sizeof numbers / sizeof *numbers, stdin);
        used = 0;
        if (count == 0) {
            fputs("crush: no more numbers\n", stderr);
            exit(2);
        }
    }
    return numbers[used++];
}

int main(int argc, char **argv)
{
    char name[] = "stdin";
    unif01_Gen *generator = unif01_CreateExternGenBits(name, next);
    swrite_Basic = FALSE;
    if (argc == 2 && strcmp(argv[1], "small") == 0) {
        bbattery_SmallCrush(generator);
    } else {
        int repeat[1 + 96] = {0};
        for (int i = 1; i < argc; i++) {
            const int test = atoi(argv[i]);
            if (test < 1 || test > 96) {
                fprintf(stderr, "crush: '%s' is no test of Crush\n", argv[i]);
                return 2;
            }
            repeat[test] = 1;
        }
        bbattery_RepeatCrush(generator, repeat);
    }
    unif01_DeleteExternGenBits(generator);
    return 0;
}
