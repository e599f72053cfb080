/* SPDX-License-Identifier: BSD-2-Clause */
/* atomic_file.c - output files: links, permissions, descriptors, what killed writers leave; with files without a name
 * and without, as the system has them or as if it had not; whether two outputs are one. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* syscall */
#endif
#include "common/atomic_file.h"

#include "../common.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/outputs.h"
#include "common/temporary.h"

static int failures;

#define insist(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%d, lacks %u: %s: ", __LINE__, temporary_lacks, #condition);                                       \
            printf(__VA_ARGS__);                                                                                       \
            printf("\n");                                                                                              \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static trouble why;

/* A child that says nothing for us. */
static pid_t start(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    return child;
}

static bool put(const char *path, const char *text)
{
    return atomic_file_write(path, text, strlen(text), &why);
}

/* By the system alone. */
static void make(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0 || chmod(path, mode) != 0) {
        perror(path);
        exit(1);
    }
}

static bool has(const char *path, const char *text)
{
    char got[64] = "";
    FILE *file = fopen(path, "r");
    const size_t length = file != NULL ? fread(got, 1, sizeof got - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    return file != NULL && length == strlen(text) && strcmp(got, text) == 0;
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 ? (unsigned)status.st_mode & 0777 : 0;
}

static bool is_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* How many temporary names there are; one of them. */
static int leftovers(const char *directory, char name[256])
{
    int count = 0;
    DIR *all = opendir(directory);
    for (const struct dirent *one; all != NULL && (one = readdir(all)) != NULL;) {
        if (strncmp(one->d_name, ".fpemu-", 7) == 0) {
            snprintf(name, 256, "%s", one->d_name);
            count++;
        }
    }
    if (all != NULL)
        closedir(all);
    return count;
}

static void nothing_left(int line)
{
    char name[256] = "";
    const int count = leftovers(".", name) + leftovers("there", name);
    insist(count == 0, "line %d: %d left, such as %s", line, count, name);
}

static void refused(const char *path, const char *reason)
{
    insist(!put(path, "new"), "%s is written", path);
    insist(strncmp(why.text, path, strlen(path)) == 0 && strstr(why.text, reason) != NULL, "%s", why.text);
}

static void plain_files(void)
{
    umask(027);
    insist(put("new", "one") && has("new", "one"), "%s", why.text);
    insist(mode_of("new") == 0640, "%o", mode_of("new"));
    chmod("new", 0604);
    insist(put("new", "two") && has("new", "two") && mode_of("new") == 0604, "%s, %o", why.text, mode_of("new"));
    atomic_file f;
    insist(atomic_file_open(&f, "new", &why), "%s", why.text);
    fputs("three", f.file);
    insist(has("new", "two"), "early");
    atomic_file_drop(&f);
    insist(has("new", "two"), "after all");
    nothing_left(__LINE__);
    link("new", "other");
    insist(put("new", "four") && has("new", "four") && has("other", "two"), "hard links");
    unlink("other");
    unlink("new");
    refused("there", "Is a directory");
    refused("nowhere/new", "No such file");
    refused("there/", "");
    umask(022);
    nothing_left(__LINE__);
}

static void links(void)
{
    make("there/real", "old", 0640);
    symlink("there/real", "link");
    symlink("link", "chain");
    insist(put("chain", "new") && has("there/real", "new"), "%s", why.text);
    insist(is_link("chain") && is_link("link") && mode_of("there/real") == 0640, "links or permissions are gone");
    symlink("not-yet", "there/dangling");
    symlink("there/dangling", "far");
    insist(put("far", "new") && has("there/not-yet", "new"), "%s", why.text);
    insist(is_link("far") && is_link("there/dangling"), "links that led to nothing are gone");
    unlink("there/not-yet");
    unlink("there/dangling");
    symlink("../nowhere/x", "there/dangling");
    refused("there/dangling", "No such file");
    symlink("round", "round");
    refused("round", strerror(ELOOP));
    insist(is_link("round") && is_link("there/dangling"), "links that lead nowhere are gone");
    const char *const made[] = {"there/real", "link", "chain", "there/dangling", "far", "round"};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
        unlink(made[i]);
    nothing_left(__LINE__);
}

/* What is open already is gone on with: nothing before it is lost, and its place moves on for who has it too. */
static void descriptors(void)
{
    char path[32];
    const int file = open("all", O_RDWR | O_CREAT | O_TRUNC, 0666);
    insist(file >= 0 && write(file, "first ", 6) == 6, "cannot be made");
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    insist(put(path, "second "), "%s", why.text);
    symlink(path, "link");
    insist(put("link", "third "), "%s", why.text);
    insist(write(file, "last", 4) == 4 && close(file) == 0, "closed");
    insist(has("all", "first second third last"), "another text");
    refused("/dev/fd/99", strerror(EBADF));
    insist(put("/dev/null", "gone"), "%s", why.text);
    unlink("link");
    unlink("all");
    mkfifo("pipe", 0600);
    const pid_t child = start();
    if (child == 0) {
        char got[8] = "";
        const int from = open("pipe", O_RDONLY);
        _exit(read(from, got, 7) == 5 && strcmp(got, "piped") == 0 ? 0 : 1);
    }
    int status = 1;
    insist(put("pipe", "piped"), "%s", why.text);
    insist(waitpid(child, &status, 0) == child && status == 0, "the pipe gave something else");
    unlink("pipe");
    nothing_left(__LINE__);
}

static void twice(const char *a, const char *b, bool same)
{
    insist(same_target(a, b) == same && same_target(b, a) == same, "%s and %s", a, b);
}

/* Whether two names are of one output. */
static void targets(void)
{
    char path[32];
    EACH(twice("new", "new", true), twice("new", ".//new", true), twice("new", "there/../new", true),
         twice("new", "other", false), twice("new", "there/new", false), twice("none/new", "./none/new", true),
         twice("none/new", "none/./new/", true), twice("none/new", "none/other", false), twice("there", "there/", true),
         twice("there", "there/there", false));
    symlink("there", "folder");
    symlink("folder/new", "link");
    EACH(twice("folder/new", "there/new", true), twice("link", "there/new", true), twice("link", "new", false),
         twice("folder/none/new", "there/none/new", true));
    make("there/new", "old", 0640);
    twice("link", "there/new", true);
    link("there/new", "hard");
    EACH(twice("hard", "there/new", false), twice("/dev/null", "/dev/null", false),
         twice("/dev/stdout", "/dev/fd/1", false));
    const int file = open("hard", O_RDONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    twice(path, "hard", true);
    twice(path, "other", false);
    close(file);
    symlink("round", "round");
    twice("round", "round", false);
    const char *const made[] = {"there/new", "hard", "link", "folder", "round"};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
        unlink(made[i]);
}

/* For somebody who is not root: what he may not write is not replaced. */
static void without_rights(void)
{
    chmod(".", 0777);
    chmod("there", 0555);
    make("there/kept", "old", 0666);
    make("shut", "old", 0444);
    const pid_t child = start();
    if (child == 0) {
        failures = 0;
        if (getuid() == 0 && setuid(65534) != 0)
            _exit(0);
        refused("shut", "Permission denied");
        insist(has("shut", "old"), "replaced");
        refused("there/kept", "cannot create a file beside it: Permission denied");
        insist(has("there/kept", "old"), "replaced");
        fflush(stdout);
        _exit(failures != 0);
    }
    int status = 1;
    insist(waitpid(child, &status, 0) == child && status == 0, "see above");
    chmod("there", 0755);
    unlink("there/kept");
    unlink("shut");
    if (getuid() == 0) { /* the owner stays; a group without him gets no more than everybody */
        make("theirs", "old", 0664);
        struct stat status_now;
        insist(chown("theirs", 65534, 65533) == 0 && put("theirs", "new"), "%s", why.text);
        insist(stat("theirs", &status_now) == 0 && status_now.st_uid == 65534 && status_now.st_gid == 65533 &&
                   mode_of("theirs") == 0664,
               "owner or permissions are lost");
        unlink("theirs");
    }
    nothing_left(__LINE__);
}

/* The next writer of a name takes away what the dead have left of it, not what the living write nor what is not ours.
 */
static void of_the_dead(void)
{
    char name[256] = "";
    make(".fpemu-out-Ab1xyZ", "half", 0600);
    mkdir(".fpemu-out-Dir123", 0700);
    make(".fpemu-out-Dir123/part", "half", 0600);
    make(".fpemu-other-Ab1xyZ", "another's", 0600);
    make(".fpemu-out-longer-name", "no", 0600);
    char *living_name = NULL, *directory = NULL;
    int lock = -1;
    const int living = temporary_file("out", &living_name);
    directory = temporary_directory("out", &lock);
    insist(living >= 0 && directory != NULL && lock >= 0, "%s", strerror(errno));
    insist(put("out", "whole"), "%s", why.text);
    insist(access(".fpemu-out-Ab1xyZ", F_OK) != 0 && access(".fpemu-out-Dir123", F_OK) != 0, "the dead stay");
    insist(access(".fpemu-other-Ab1xyZ", F_OK) == 0 && access(".fpemu-out-longer-name", F_OK) == 0, "others go");
    insist(access(living_name, F_OK) == 0 && access(directory, F_OK) == 0, "the living go");
    close(living);
    close(lock);
    insist(put("out", "whole"), "%s", why.text);
    insist(access(living_name, F_OK) != 0 && access(directory, F_OK) != 0, "those that have died stay");
    unlink(".fpemu-other-Ab1xyZ");
    unlink(".fpemu-out-longer-name");
    unlink("out");
    FREE(living_name, directory);
    insist(leftovers(".", name) == 0, "%s", name);
}

#ifdef __linux__
static char *unfinished; /* a directory that gets its own name when the next lock is asked for */
static int unfinished_lock;

/* Instead of the C library's: what another process does at that moment. */
int flock(int descriptor, int operation)
{
    char *name = unfinished;
    unfinished = NULL;
    if (name != NULL) {
        insist(rename(name, "whole") == 0, "%s", strerror(errno));
        close(unfinished_lock);
    }
    return (int)syscall(SYS_flock, descriptor, operation);
}

/* Who tidies has opened a directory, and before it asks for the lock the writer has done its work. */
static void of_the_quick(void)
{
    char part[300];
    char *name = temporary_directory("out", &unfinished_lock);
    insist(name != NULL && unfinished_lock >= 0, "%s", strerror(errno));
    snprintf(part, sizeof part, "%s/part", name != NULL ? name : ".");
    make(part, "whole", 0600);
    unfinished = name;
    temporary_tidy("out");
    insist(unfinished == NULL && has("whole/part", "whole"), "a finished directory was emptied");
    unlink("whole/part");
    rmdir("whole");
    free(name);
}
#endif

/* What looks like a left one may be another user's. */
static void of_others(void)
{
    make(".fpemu-out-Ab1xyZ", "another's", 0600);
    if (getuid() == 0 && chown(".fpemu-out-Ab1xyZ", 65534, 65533) == 0) {
        temporary_tidy("out");
        insist(access(".fpemu-out-Ab1xyZ", F_OK) == 0, "another user's file goes");
    }
    unlink(".fpemu-out-Ab1xyZ");
}

/* --------------------------------------------------------------------------------------------- killed */

enum { BIG = 300000 };

/* All of one letter, and all of it there; 0: anything else. */
static int letter_of(const char *path)
{
    static char bytes[BIG + 1];
    FILE *file = fopen(path, "rb");
    const size_t length = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    for (size_t i = 1; i < length; i++)
        if (bytes[i] != bytes[0])
            return 0;
    return length == BIG ? bytes[0] : 0;
}

_Noreturn static void write_on(int letter)
{
    static char bytes[BIG];
    for (;; letter = letter == 'z' ? 'a' : letter + 1) {
        memset(bytes, letter, BIG);
        if (!atomic_file_write("big", bytes, BIG, &why))
            _exit(1);
    }
}

static void killed(int rounds, unsigned *state)
{
    static const int by[] = {SIGKILL, SIGTERM, SIGKILL, SIGINT};
    char name[256] = "";
    int left = 0;
    const int probe = temporary_unnamed(".");
    const bool unnamed = probe >= 0;
    close(probe);
    static char bytes[BIG];
    memset(bytes, 'a', BIG);
    insist(atomic_file_write("big", bytes, BIG, &why), "%s", why.text);
    for (int round = 0; round < rounds; round++) {
        int status = 0;
        const pid_t child = start();
        if (child == 0)
            write_on('a' + round % 26);
        *state = *state * 1664525u + 1013904223u;
        const struct timespec delay = {.tv_nsec = (long)(*state % 8000000u)};
        nanosleep(&delay, NULL);
        kill(child, by[round % 4]);
        insist(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "it has ended by itself");
        insist(letter_of("big") != 0, "round %d: half a file", round);
        left += leftovers(".", name);
        if (leftovers(".", name) > 0 && temporary_lacks == TEMPORARY_ALL && unnamed)
            insist(letter_of(name) != 0, "round %d: %s is half a file, and has a name", round, name);
    }
    insist(put("big", "end"), "%s", why.text);
    nothing_left(__LINE__);
    unlink("big");
    if (getenv("SAY") != NULL)
        printf("lacks %u: %d rounds, %d left\n", temporary_lacks, rounds, left);
}

int main(int argc, char **argv)
{
    char directory[] = "atomic-XXXXXX", name[256];
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    unsigned state = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_DFL); /* a shell that runs us beside itself has it ignored */
    if (mkdtemp(directory) == NULL || chdir(directory) != 0 || mkdir("there", 0755) != 0) {
        perror(directory);
        return 1;
    }
    targets();
    for (unsigned lacks = TEMPORARY_ALL; lacks <= TEMPORARY_NO_LINKS; lacks++) {
        temporary_lacks = lacks;
        plain_files();
        links();
        descriptors();
        without_rights();
        of_the_dead();
#ifdef __linux__
        of_the_quick();
#endif
        of_others();
        killed(rounds, &state);
    }
    insist(leftovers(".", name) == 0, "%s", name);
    if (rmdir("there") != 0 || chdir("..") != 0 || rmdir(directory) != 0) {
        printf("%s is not empty\n", directory);
        failures++;
    }
    return failures != 0;
}
