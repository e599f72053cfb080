/* SPDX-License-Identifier: BSD-2-Clause */
/* number_table.c - see number_table.h */
#include "files/number_table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/number.h"
#include "cli/words.h"

/* The digits of any binary32 are far fewer. */
enum { LONGEST = 1000 };

bool number_table_read(FILE *file, const char *name, bool codes, uint32_t most, float *values, uint32_t *count,
                       trouble *why)
{
    words text = {.file = file, .comment = '#', .line = 1};
    char word[LONGEST + 1];
    words_found found;
    uint32_t n = 0;
    while ((found = words_next(&text, word, sizeof word)) == WORDS_WORD) {
        if (n == most || !number_read_f32(word, &values[n]) ||
            (!codes && (!isfinite(values[n]) || (n > 0 && !(values[n - 1] < values[n]))))) {
            return fail(why, "%s, line %" PRIu64 ": '%s': expected at most %" PRIu32 " %s", name, text.word_line, word,
                        most, codes ? "numbers" : "finite numbers, ascending as binary32; for others codes=PATH");
        }
        values[n] = values[n] == 0 && !codes ? 0 : values[n]; /* no -0 */
        n++;
    }
    if (found == WORDS_FAILED)
        return fail(why, "%s: %s", name, strerror(errno));
    if (found == WORDS_LONG)
        return fail(why, "%s, line %" PRIu64 ": a word of more than %d characters", name, text.word_line, LONGEST);
    if (n < 2)
        return fail(why, "%s: a table has at least 2 numbers", name);
    *count = n;
    return true;
}
