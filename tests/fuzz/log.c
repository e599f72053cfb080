/* SPDX-License-Identifier: BSD-2-Clause */
/* log.c - see log.h */
#include "../../tools/common/system.h"

#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/csv.h"
#include "report/run_data.h"
#include "report/tensorboard.h"

static char directory[64], log_file[128], settings_file[128];
static FILE *nowhere;

static void tidy(void)
{
    char below[160];
    snprintf(below, sizeof below, "%s/run/events.out.tfevents.fptrain", directory);
    unlink(below);
    snprintf(below, sizeof below, "%s/run", directory);
    rmdir(below);
    unlink(log_file);
    unlink(settings_file);
    rmdir(directory);
}

/* A directory of a run, for as long as the program runs. */
static int prepare(void)
{
    if (nowhere)
        return 1;
    strcpy(directory, P_tmpdir "/fptrain-log-XXXXXX");
    if (!mkdtemp(directory))
        return 0;
    snprintf(log_file, sizeof log_file, "%s/log.jsonl", directory);
    snprintf(settings_file, sizeof settings_file, "%s/settings.ini", directory);
    atexit(tidy);
    FILE *file = fopen(settings_file, "w");
    nowhere = fopen("/dev/null", "w");
    return file && fclose(file) == 0 && nowhere;
}

int log_run(const uint8_t *bytes, size_t size, trouble *why)
{
    static char *const runs[] = {directory};
    static const char *const labels[] = {"run"};
    trouble other;
    run r;
    FILE *file = prepare() ? fopen(log_file, "wb") : NULL;
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror("log");
        abort();
    }
    const bool good = run_load(&r, directory, why);
    if (good)
        run_free(&r);
    if (csv_write(nowhere, 1, runs, NULL, &other) != good ||
        tensorboard_write(directory, 1, runs, labels, NULL, &other) != good) {
        fprintf(stderr, "log: what reads the log and what hands it over differ: %s\n", good ? other.text : why->text);
        abort();
    }
    return good;
}
