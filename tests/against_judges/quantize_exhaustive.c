/* SPDX-License-Identifier: BSD-2-Clause */
/* quantize_exhaustive.c - every binary32 input, in order, through the library: see sweep.h for what that proves.
 *
 *   quantize_exhaustive [-o FILE] [--jobs N] [--commit TEXT] [--digests] [FORMAT | MODE | POLICY ...]
 *
 * Words may come in any order; what is left out means all: the formats below, the nine deterministic modes, the
 * policies ieee and saturate. One line can be run again by its first three words: quantize_exhaustive e4m3fn rne ieee.
 */
#include "../judges/formats.h"
#include "sweep.h"
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const char *const default_formats[] =
    LIST("binary16", "bfloat16", "tf32", "e5m2", "e4m3", "e3m4", "e4m3fn", "e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz",
         "e8m0", "e3m2", "e2m3", "e2m1", "ue4m3", "dlfloat16", "fp(4,3,4)", "fp(5,2,0)", "fp(6,9,0)", "int4", "int8",
         "int16", "uint4", "uint8", "uint16", "p3109(8,3,se)", "p3109(8,4,se)", "p3109(8,4,sf)", "p3109(8,3,ue)",
         "p3109(8,1,uf)", "p3109(4,2,sf)", "fixed(8,4)", "fixed(8,4):wrap", "posit(8,0)", "posit(8,1)", "posit(8,2)",
         "posit(16,1)", "posit(16,2)");
enum { DEFAULT_FORMATS = sizeof default_formats / sizeof *default_formats };

typedef struct task {
    const char *spec;
    fpemu_rounding rounding;
    sweep result;
    double seconds;
    int refused, done;
} task;

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int usage(const char *problem, const char *word)
{
    fprintf(stderr, "quantize_exhaustive: %s '%s'\n", problem, word);
    return 2;
}

static const char *verdict(const task *t)
{
    return t->refused ? "REFUSED" : t->result.failures ? "FAIL" : "ok";
}

static void print_header(FILE *out, const char *commit)
{
    char date[32];
    time_t clock = time(NULL);
    struct tm *utc = gmtime(&clock);
    if (!utc || !strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", utc))
        strcpy(date, "unknown");
    fprintf(out, "# commit    %s\n# compiler  %s\n# variant   %s\n# date      %s\n# inputs    all 2^32 of binary32\n",
            commit,
#if defined __clang__
            __VERSION__,
#elif defined __GNUC__
            "gcc " __VERSION__,
#else
            "unknown",
#endif
            fpemu_variant(), date);
    fprintf(out, "# %-16s %-4s %-9s %10s %12s %-16s %8s %s\n", "format", "mode", "policy", "runs", "judge-calls",
            "digest", "seconds", "result");
}

static void print_line(FILE *out, const task *t)
{
    fprintf(out, "%-18s %-4s %-9s %10" PRIu64 " %12" PRIu64 " %016" PRIx64 " %8.1f %s", t->spec,
            compare_mode(t->rounding.mode), compare_policy(t->rounding.overflow), t->result.runs, t->result.judge_calls,
            t->result.digest, t->seconds, verdict(t));
    if (t->result.failures)
        fprintf(out, " %" PRIu64, t->result.failures);
    fputc('\n', out);
    fflush(out);
}

static void perform(task *t)
{
    const ref_format *r = ref_find(t->spec);
    fpemu_format f, parameters;
    judge *j = NULL;
    double start = now();

    if (fpemu_format_parse(t->spec, &f, NULL) == FPEMU_OK) {
        parameters = r ? r->f : f;
        j = judge_open_any(&parameters, &t->rounding, 32);
    }
    t->refused = !j || !sweep_f32(&t->result, t->spec, &f, &t->rounding, j, 8, compare_print, NULL, NULL);
    judge_close(j);
    t->seconds = now() - start;
}

/* Posits have one rounding rule; other formats the nine deterministic modes. */
static int mode_exists(const char *spec, int mode)
{
    return strncmp(spec, "posit", 5) != 0 ? !FPEMU_MODE_DRAWS(mode) : mode == FPEMU_MODE_RNE;
}

int main(int argc, char **argv)
{
    const char *record = NULL, *commit = "unknown";
    const char **specs = malloc(((size_t)argc + DEFAULT_FORMATS) * sizeof *specs);
    int modes[FPEMU_MODE_COUNT] = {0}, policies[4] = {0};
    int any_mode = 0, any_policy = 0, digests = 0, jobs = 1, i, m, p, failed = 0;
    int nspecs = 0, ntasks = 0, printed = 0;
    FILE *out = NULL;

    if (!specs)
        return 1;
    for (i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(word, "--digests") == 0) {
            digests = 1;
        } else if (word[0] == '-') {
            if (!value)
                return usage("a value is missing after", word);
            i++;
            if (strcmp(word, "-o") == 0)
                record = value;
            else if (strcmp(word, "--commit") == 0)
                commit = value;
            else if (strcmp(word, "--jobs") == 0)
                jobs = atoi(value);
            else
                return usage("unknown option", word);
            if (jobs < 1)
                return usage("not a number of jobs:", value);
        } else {
            fpemu_format f;
            for (m = 0; m < FPEMU_MODE_COUNT && (FPEMU_MODE_DRAWS(m) || strcmp(word, compare_mode((unsigned)m))); m++)
                continue;
            for (p = 1; p < 4 && strcmp(word, compare_policy((unsigned)p)) != 0; p++)
                continue;
            if (m < FPEMU_MODE_COUNT)
                any_mode = modes[m] = 1;
            else if (p < 4)
                any_policy = policies[p] = 1;
            else if (fpemu_format_parse(word, &f, NULL) == FPEMU_OK)
                specs[nspecs++] = word;
            else
                return usage("neither a format, nor a deterministic mode, nor a policy:", word);
        }
    }
    if (!nspecs)
        for (i = 0; i < DEFAULT_FORMATS; i++)
            specs[nspecs++] = default_formats[i];
    task *tasks = calloc((size_t)nspecs * 3 * FPEMU_MODE_COUNT, sizeof *tasks);
    if (!tasks)
        return 1;
    for (i = 0; i < nspecs; i++) {
        for (p = 1; p < 4; p++) {
            for (m = 0; m < FPEMU_MODE_COUNT; m++) {
                if (any_policy ? !policies[p] : p == FPEMU_OVERFLOW_SATURATE_KEEP_INF)
                    continue;
                if (any_mode ? !modes[m] : !mode_exists(specs[i], m))
                    continue;
                tasks[ntasks].spec = specs[i];
                tasks[ntasks].rounding.mode = (uint8_t)m;
                tasks[ntasks++].rounding.overflow = (uint8_t)p;
            }
        }
    }
    if (record && !(out = fopen(record, "w"))) {
        perror(record);
        return 1;
    }
    if (!digests)
        print_header(stdout, commit);
    if (out)
        print_header(out, commit);

#ifdef _OPENMP
    omp_set_num_threads(1); /* the library's own threads; a task is one thread */
#endif
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(jobs)
#endif
    for (i = 0; i < ntasks; i++) {
        perform(&tasks[i]);
#ifdef _OPENMP
#pragma omp critical
#endif
        {
            tasks[i].done = 1;
            failed |= tasks[i].refused || tasks[i].result.failures;
            /* In the order of the list, whichever came first. */
            for (; printed < ntasks && tasks[printed].done; printed++) {
                const task *t = &tasks[printed];
                if (digests)
                    printf("%s %s %s %016" PRIx64 "\n", t->spec, compare_mode(t->rounding.mode),
                           compare_policy(t->rounding.overflow), t->result.digest);
                else
                    print_line(stdout, t);
                fflush(stdout);
                if (out)
                    print_line(out, t);
            }
        }
    }
    if (!digests)
        printf("quantize_exhaustive: %d lines, %s\n", ntasks, failed ? "FAILED" : "all ok");
    if (out) {
        fprintf(out, "# %d lines, %s\n", ntasks, failed ? "FAILED" : "all ok");
        if (ferror(out) | fclose(out)) {
            perror(record);
            failed = 1;
        }
    }
    FREE(tasks, specs);
    return failed;
}
