/* SPDX-License-Identifier: BSD-2-Clause */
/* unload.c - a program that does not know of OpenMP loads the library, calls by two threads, and closes it again: the
 * threads are there still, and so must be the code that they wait in. */
#include "../../tools/common/system.h"

#include "../common.h"
#include <dlfcn.h>
#include <time.h>

#include "fpemu.h"

enum { MANY = 1 << 18 };
static float x[MANY];

int main(int argc, char **argv)
{
    const char *const path = argc > 1 ? argv[1] : "lib/.libs/libfpemu.so";
    const struct timespec while_they_wait = {0, 100000000};
    (void)setenv("OMP_NUM_THREADS", "2", 1);
    for (int i = 0; i < 3; i++) {
        fpemu_status (*parse)(const char *, fpemu_format *, size_t *);
        fpemu_status (*quantize)(const fpemu_format *, const fpemu_rounding *, size_t, const float *, float *,
                                 fpemu_stats *);
        fpemu_format f;
        fpemu_rounding nearest = {0};
        void *const library = dlopen(path, RTLD_NOW);
        if (library == NULL) {
            printf("skipped: no shared library: %s\n", dlerror());
            return 77;
        }
        *(void **)&parse = dlsym(library, "fpemu_format_parse");
        *(void **)&quantize = dlsym(library, "fpemu_quantize_f32");
        x[MANY - 1] = 1.0625f;
        if (parse("e4m3fn", &f, NULL) != FPEMU_OK || quantize(&f, &nearest, MANY, x, x, NULL) != FPEMU_OK ||
            x[MANY - 1] != 1 || dlclose(library) != 0) {
            puts("not called, or not closed");
            return 1;
        }
        (void)nanosleep(&while_they_wait, NULL);
    }
    return 0;
}
