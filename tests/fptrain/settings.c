/* SPDX-License-Identifier: BSD-2-Clause */
/* settings.c - settings of the trainer: what files and options say is what comes out, and errors say where. Texts of all
 * kinds are for fuzz/trainer.c. */
#include "run/settings.h"

#include "../unit/suite.h" /* after ours: check.h has a macro of the name of one of our functions */

#include <unistd.h>

static trouble why;

static void parse(settings *s, const char *text)
{
    settings_default(s);
    ck_assert_msg(settings_parse(s, text, strlen(text), "file", &why), "%s", why.text);
}

static void refused(const char *text, const char *reason)
{
    settings s;
    settings_default(&s);
    ck_assert_msg(!settings_parse(&s, text, strlen(text), "file", &why), "taken: %s", text);
    ck_assert_str_eq(why.text, reason);
    settings_free(&s);
}

START_TEST(a_file)
{
    settings s;
    parse(&s, "\xef\xbb\xbf# a comment\n[model]\nname = mlp\n\n; another = 1\n[train]\r\nlr=0.125 ; of the start\r\n"
              "  epochs = 7\n\tbatch : 9\n[data]\nflip = yes\nseed = 18446744073709551615\n[model]\nwidth = .25\n"
              "[formats]\nw = e4m3fn:saturate sr\nconv1.* = mx(e2m1, block=16)\n*.bias = fp32");
    ck_assert_str_eq(s.model.name, "mlp");
    ck_assert(s.model.width == 0.25 && s.train.lr == 0.125);
    ck_assert_int_eq(s.train.epochs, 7);
    ck_assert_int_eq(s.train.batch, 9);
    ck_assert(s.data.flip);
    ck_assert(s.data.seed == UINT64_MAX);
    ck_assert_str_eq(s.optimizer.name, "momentum"); /* not said: the default */
    ck_assert_int_eq(s.format_count, 3);
    ck_assert_str_eq(s.formats[0].pattern, "w");
    ck_assert_str_eq(s.formats[0].spec, "e4m3fn:saturate");
    ck_assert_str_eq(s.formats[0].mode, "sr");
    ck_assert_str_eq(s.formats[1].spec, "mx(e2m1, block=16)");
    ck_assert_ptr_null(s.formats[1].mode);
    ck_assert_str_eq(s.formats[2].pattern, "*.bias");
    settings_free(&s);
}
END_TEST

START_TEST(errors_say_where)
{
    char text[400] = "[data]\nsource = ";
    refused("[train]\nlr = 0.1\nspeed = 3\n", "file:3: section [train] has no key 'speed' (did you mean 'seed'?)");
    refused("\n\n[nets]\na = 3\n", "file:4: there is no section [nets]");
    refused("lr = 0.1\n", "file:1: a key before the first [section]");
    refused("[train]\nlr = fast\n", "file:2: 'fast' is not a number");
    refused("[train]\nlr = nan\n", "file:2: 'nan' is not a number");
    refused("[train]\nlr = 0.1x\n", "file:2: '0.1x' is not a number");
    refused("[train]\nlr = -1\n", "file:2: -1 is not in 0..1e+06");
    refused("[train]\nlr =\n", "file:2: '' is not a number");
    refused("[train]\nepochs = 2.5\n", "file:2: '2.5' is not a whole number");
    refused("[train]\nbatch = 0\n", "file:2: 0 is not in 1..65536");
    refused("[train]\nbatch = 99999999999999999999\n", "file:2: 99999999999999999999 is not in 1..65536");
    refused("[train]\nseed = -1\n", "file:2: '-1' is not a whole number of 64 bits");
    refused("[train]\nseed = 18446744073709551616\n",
            "file:2: '18446744073709551616' is not a whole number of 64 bits");
    refused("[data]\nflip = maybe\n", "file:2: 'maybe' is neither yes nor no");
    refused("[data]\nflip = yes no\n", "file:2: 'yes no' is neither yes nor no");
    refused("[output]\ndirectory = -\n", "file:2: '-' is not taken for standard output; './-' names a directory");
    refused("[scaler]\nname = magic\n", "file:2: 'magic' is none of: none fixed backoff logmax adaptive");
    refused("[train]\nlr = 1\n\nepochs = 1\nlr = 1\n", "file:5: 'lr' of [train] for the second time (first on line 2)");
    refused("[train]\nlr 0.1\n", "file:2: neither [section] nor key = value");
    refused("[train\nlr = 0.1\n", "file:1: neither [section] nor key = value");
    refused("[formats]\nw = e4m3fx\n",
            "file:2: format 'e4m3fx', character 5: found 'fx', expected fn, fnuz, ':' or the end");
    refused("[train]\nlr = 1\a\n", "file:2: a control character");
    refused("[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n",
            "file:1: a name of more than 49 characters");
    memset(text + strlen(text), 'x', 176);
    refused(text, "file:2: a value of 176 bytes, at most 175 can be");
    memset(text + 7, 'x', 200);
    refused(text, "file:2: a line of more than 197 characters");
}
END_TEST

/* 2^100 is 1267650600228229401496703205376. */
START_TEST(bounds_are_taken_as_they_are_told)
{
    settings s;
    settings_key key;
    int ranges = 0;
    settings_default(&s);
    for (int i = 0; settings_table(i, &key); i++) {
        char *dots = strcmp(key.type, "one of") == 0 ? NULL : strstr(key.range, "..");
        if (!dots)
            continue;
        *dots = '\0';
        ranges++;
        ck_assert_msg(settings_set(&s, key.section, key.key, key.range, &why), "%s.%s: %s", key.section, key.key,
                      why.text);
        ck_assert_msg(settings_set(&s, key.section, key.key, dots + 2, &why), "%s.%s: %s", key.section, key.key,
                      why.text);
    }
    ck_assert_int_gt(ranges, 30);
    refused("[scaler]\nscale = 1267650600228229682971679916032\n",
            "file:2: 1267650600228229682971679916032 is not in 0..1.2676506002282294e+30");
    settings_free(&s);
}
END_TEST

/* Another value than the default for every key, by its type and range. */
static void choose(const settings_key *key, int i, char value[64])
{
    if (strcmp(key->type, "yes or no") == 0)
        strcpy(value, strcmp(key->normal, "yes") == 0 ? "no" : "yes");
    else if (strcmp(key->type, "one of") == 0)
        strcpy(value, strrchr(key->range, ' ') + 1);
    else if (strcmp(key->type, "whole number") == 0)
        snprintf(value, 64, "%d", 11 + i % 7);
    else if (strcmp(key->type, "number") == 0)
        snprintf(value, 64, "%s", "0.3");
    else
        snprintf(value, 64, "%s", "some text, 1;2 = \xc3\xa9");
}

START_TEST(all_keys_there_and_back)
{
    settings s, again;
    settings_key key;
    int keys = 0;
    settings_default(&s);
    for (int i = 0; settings_table(i, &key); i++, keys++) {
        char value[64], text[SETTINGS_TEXT];
        choose(&key, i, value);
        ck_assert_str_eq(settings_value(&s, i, text), key.normal);
        ck_assert_str_ne(value, key.normal);
        ck_assert_msg(settings_set(&s, key.section, key.key, value, &why), "%s.%s: %s", key.section, key.key, why.text);
        ck_assert_str_eq(settings_value(&s, i, text), value);
    }
    ck_assert_int_gt(keys, 35);
    ck_assert(settings_set(&s, "formats", "w", "e4m3fn", &why));
    ck_assert(settings_set(&s, "formats", "dv", "e5m2 sr", &why));
    ck_assert(settings_set(&s, "formats", "w", "bf16", &why)); /* again: now it comes last */
    char *text = settings_print(&s);
    ck_assert_ptr_nonnull(strstr(text, "[formats]\ndv = e5m2 sr\nw = bf16\n"));
    parse(&again, text);
    char *text_again = settings_print(&again);
    ck_assert_str_eq(text, text_again);
    FREE(text, text_again);
    settings_free(&s);
    settings_free(&again);
}
END_TEST

START_TEST(numbers_come_back_exactly)
{
    static const double numbers[] = {0.1, 1.0 / 3,   2.2250738585072014e-308, 4.9e-324, 0.30000000000000004,
                                     1,   123456.789};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        settings s, again;
        settings_default(&s);
        s.train.lr = numbers[i];
        char *text = settings_print(&s);
        parse(&again, text);
        ck_assert_msg(again.train.lr == numbers[i], "%a became %a", numbers[i], again.train.lr);
        free(text);
        settings_free(&again);
    }
}
END_TEST

/* What a file could not hold is no value, wherever it comes from. */
START_TEST(values_that_no_file_holds)
{
    static const char *const values[] = {" a", "a ", "a ;b", ";b", "a\nb", "a\x7f", "a\xe9", "\xc0\x80"};
    settings s;
    settings_default(&s);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert_msg(!settings_set(&s, "data", "source", values[i], &why), "'%s' taken", values[i]);
    ck_assert(!settings_set(&s, "formats", "a b", "fp32", &why));
    ck_assert(!settings_set(&s, "formats", "a=", "fp32", &why));
    ck_assert(!settings_set(&s, "formats", "[a]", "fp32", &why));
    ck_assert(!settings_set(&s, "formats", "", "fp32", &why));
    ck_assert_int_eq(s.format_count, 0);
    settings_free(&s);
}
END_TEST

/* What was taken, printed and read, is the same, in each key and in the text. */
static void comes_back(const settings *s, const char *from)
{
    settings again;
    char one[SETTINGS_TEXT], other[SETTINGS_TEXT];
    settings_key key;
    char *text = settings_print(s);
    settings_default(&again);
    ck_assert_msg(settings_parse(&again, text, strlen(text), "printed", &why), "%s: %s", from, why.text);
    for (int i = 0; settings_table(i, &key); i++)
        ck_assert_str_eq(settings_value(s, i, one), settings_value(&again, i, other));
    ck_assert(settings_same_formats(s, &again));
    char *text_again = settings_print(&again);
    ck_assert_str_eq(text, text_again);
    FREE(text, text_again);
    settings_free(&again);
}

/* A pattern of 49 characters was read where no blank stood before '=', and written so that it was refused. */
START_TEST(longest_pattern)
{
    settings s;
    char text[100] = "[formats]\n";
    memset(text + 10, 'w', 49);
    strcpy(text + 59, "=e5m2 sr\n");
    parse(&s, text);
    comes_back(&s, text);
    settings_free(&s);
    strcpy(text + 59, "   =e5m2 sr\n");
    parse(&s, text);
    ck_assert_uint_eq(strlen(s.formats[0].pattern), 49);
    settings_free(&s);
    strcpy(text + 59, "w=e5m2 sr\n");
    refused(text, "file:2: a name of more than 49 characters, or a line without '='");
    /* No line of its own: it is no continuation of the one before either. */
    refused("[data]\nsource = a\n\rnames = b\n", "file:3: a control character");
    refused("[data]\nsource = a\rnames = b\n", "file:2: a control character");
    refused("[model]\nname = a.net\n[network]\na\rb\n", "file:4: a control character");
    refused("[model]\nname = a.net\n[network]\na\n# \xe9\n", "file:5: a network that is not in UTF-8");
    refused("[data]\nsource = \xe9\n", "file:2: a value that is not in UTF-8");
}
END_TEST

START_TEST(formats_are_not_without_end)
{
    settings s;
    settings_default(&s);
    for (int i = 0; i <= 1000; i++) {
        char pattern[32];
        snprintf(pattern, sizeof pattern, "conv%d.*", i);
        ck_assert(settings_set(&s, "formats", pattern, "fp16", &why) == (i < 1000));
    }
    ck_assert_str_eq(why.text, "more than 1000 lines of formats");
    ck_assert_int_eq(s.format_count, 1000);
    settings_free(&s);
}
END_TEST

START_TEST(options)
{
    settings s;
    char *argv[] =
        LIST((char[]){"run"}, (char[]){"--lr"}, (char[]){"0.5"}, (char[]){"--config"}, (char[]){"options.ini"},
             (char[]){"here"}, (char[]){"--model=resnet20"}, (char[]){"--set"}, (char[]){"formats.conv1.*=e5m2 sr"},
             (char[]){"--resume"}, (char[]){"--set=data.flip=yes"}, (char[]){"--seed"}, (char[]){"9"}, NULL);
    int argc = 13;
    FILE *file = fopen("options.ini", "w");
    fputs("[train]\nlr = 0.25\nbatch = 8\n", file);
    fclose(file);
    settings_default(&s);
    ck_assert_msg(settings_options(&s, &argc, argv, &why), "%s", why.text);
    ck_assert_int_eq(argc, 3);
    ck_assert_str_eq(argv[1], "here");
    ck_assert_str_eq(argv[2], "--resume");
    ck_assert_ptr_null(argv[3]);
    ck_assert(s.train.lr == 0.5); /* said before the file, counts all the same */
    ck_assert_int_eq(s.train.batch, 8);
    ck_assert_str_eq(s.model.name, "resnet20");
    ck_assert(s.data.flip && s.train.seed == 9);
    ck_assert_str_eq(s.formats[0].pattern, "conv1.*");
    settings_free(&s);
    remove("options.ini");
}
END_TEST

static void refused_option(const char *option, const char *value, const char *reason)
{
    settings s;
    char first[64], second[64];
    char *argv[] = {(char[]){"run"}, first, second, NULL};
    int argc = value ? 3 : 2;
    strcpy(first, option);
    strcpy(second, value ? value : "");
    argv[argc] = NULL;
    settings_default(&s);
    ck_assert(!settings_options(&s, &argc, argv, &why));
    ck_assert_str_eq(why.text, reason);
    settings_free(&s);
}

START_TEST(wrong_options)
{
    refused_option("--lr", NULL, "--lr: a value is missing");
    refused_option("--lr=x", NULL, "--lr: 'x' is not a number");
    refused_option("--set", "lr=1", "--set lr=1: SECTION.KEY=VALUE expected");
    refused_option("--set", "train.lr", "--set train.lr: SECTION.KEY=VALUE expected");
    refused_option("--set", "train.speed=1",
                   "--set train.speed=1: section [train] has no key 'speed' (did you mean 'seed'?)");
    refused_option("--config", "none.ini",
                   "none.ini: no such file, and no experiment of that name; 'fptrain run --list' shows them");
}
END_TEST

int main(void)
{
    return RUN_SUITE("settings", NULL, a_file, errors_say_where, bounds_are_taken_as_they_are_told,
                     all_keys_there_and_back, numbers_come_back_exactly, values_that_no_file_holds, longest_pattern,
                     formats_are_not_without_end, options, wrong_options);
}
