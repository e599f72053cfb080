/* SPDX-License-Identifier: BSD-2-Clause */
/* variants.h - a judged program run again with every instruction set of the library that this machine runs. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include "../judges/longhand.h"

/* Whether this process was started by variants_rerun; `argument` is what it was started with. */
static inline int variants_is_child(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[2], "variant") == 0;
}

/* The last line of a child. */
static inline void variants_print(uint64_t digest)
{
    printf("%s %016" PRIx64 "\n", fpemu_variant(), digest);
}

/* Every variant passes `self argument`, and ends with the same digest. What a child finds is printed. With ONE_VARIANT in
 * the environment the caller's run is all. */
static inline void variants_rerun(const char *self, const char *argument, uint64_t digest)
{
    unsigned count = 0;
    if (getenv("ONE_VARIANT") != NULL)
        return;
    for (const char *name; (name = fpemu_variant_available(count)) != NULL; count++) {
        char command[4200], line[1000], last[1000] = "", wanted[200];
        (void)snprintf(command, sizeof command, "FPEMU_VARIANT=%s '%s' %s variant", name, self, argument);
        (void)snprintf(wanted, sizeof wanted, "%s %016" PRIx64 "\n", name, digest);
        FILE *child = popen(command, "r");
        if (!lh_check(child != NULL, "cannot run %s", command))
            continue;
        while (fgets(line, sizeof line, child)) {
            if (strncmp(line, "FAIL", 4) == 0)
                printf("%s: %s", name, line);
            memcpy(last, line, sizeof last);
        }
        lh_check(pclose(child) == 0, "variant %s fails", name);
        lh_check(strcmp(last, wanted) == 0, "variant %s says %s, expected %s", name, last, wanted);
    }
    lh_check(count > 0, "no variant");
}

/* How a program ends whose main part has filled the digest: the other variants have run, the tally is printed. */
static inline int variants_end(int argc, char **argv, const char *program, uint64_t digest)
{
    const int child = variants_is_child(argc, argv);
    if (!child)
        variants_rerun(argv[0], "digest", digest);
    const int status = lh_report(program);
    if (child)
        variants_print(digest);
    return status;
}

#endif
