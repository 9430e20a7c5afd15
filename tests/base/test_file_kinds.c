/* SPDX-License-Identifier: MIT */
/* test_file_kinds.c: only regular files are replaced, and a failure tells the operation, the path
 * and the system's reason. Full disks, short writes and signals are the system's own. */
#include "file_problem.h"
#include "file_replace.h"
#include "os_file.h"
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* A directory of one test. */
typedef struct place {
    char name[64], path[96], other[96];
} place;

static void place_create(place *p)
{
    const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    snprintf(p->name, sizeof p->name, "%.40s/weft-XXXXXX", base);
    CHECK(mkdtemp(p->name) != NULL);
    snprintf(p->path, sizeof p->path, "%s/file", p->name);
    snprintf(p->other, sizeof p->other, "%s/other", p->name);
}

/* Fails when anything but the two files is left. */
static void place_destroy(place *p)
{
    remove(p->path);
    remove(p->other);
    CHECK(rmdir(p->name) == 0);
}

static weft__file_problem problem;

static weft_result replace(const weft_os *os, const char *path, const char *text)
{
    weft__file_piece piece = {text, strlen(text)};
    return weft__file_replace(os, path, &piece, 1, &problem);
}

static void check_content(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    CHECK_TEXT(text, expected);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    CHECK(lstat(path, &status) == 0);
    return status.st_mode & S_IFMT;
}

static void check_refused(const place *p, const char *kind)
{
    const mode_t mode = mode_of(p->path);
    CHECK_RESULT(replace(weft__os_default(), p->path, "new"), WEFT_IO);
    CHECK_U64(mode_of(p->path), mode);
    CHECK(strstr(problem.text, p->path) != NULL && strstr(problem.text, kind) != NULL);
    weft__file_source source;
    CHECK(weft__file_open(weft__os_default(), p->path, &source) != WEFT_OK);
    CHECK(strstr(source.problem.text, p->path) != NULL);
}

/* ---- kinds ---- */

PLAIN_TEST(what_is_not_a_regular_file_is_refused_and_named)
{
    place p;
    place_create(&p);
    CHECK(mkdir(p.path, 0700) == 0);
    check_refused(&p, "a directory");
    CHECK(rmdir(p.path) == 0);
    CHECK(mkfifo(p.path, 0600) == 0);
    check_refused(&p, "a FIFO");
    CHECK(unlink(p.path) == 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s", p.path);
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(server >= 0 && bind(server, (struct sockaddr *)&address, sizeof address) == 0);
    check_refused(&p, "a socket");
    close(server);
    CHECK(unlink(p.path) == 0);
    CHECK(symlink("/dev/null", p.path) == 0);
    check_refused(&p, "a character device");
    CHECK(unlink(p.path) == 0);
    CHECK(symlink(p.other, p.path) == 0);
    check_refused(&p, "a symbolic link that leads nowhere");
    CHECK(unlink(p.path) == 0);
    CHECK(symlink(p.path, p.path) == 0);
    check_refused(&p, strerror(ELOOP));
    place_destroy(&p);
}

PLAIN_TEST(a_symbolic_link_stays_and_its_file_is_replaced)
{
    place p;
    place_create(&p);
    CHECK_OK(replace(weft__os_default(), p.other, "old"));
    CHECK(symlink("other", p.path) == 0);
    CHECK_OK(replace(weft__os_default(), p.path, "new"));
    CHECK_U64(mode_of(p.path), S_IFLNK);
    CHECK_U64(mode_of(p.other), S_IFREG);
    check_content(p.other, "new");
    CHECK_TEXT(problem.text, "");
    place_destroy(&p);
}

PLAIN_TEST(reasons_of_the_system_are_told)
{
    CHECK_RESULT(replace(weft__os_default(), "/nonexistent-weft/file", ""), WEFT_IO);
    CHECK(strstr(problem.text, "\"/nonexistent-weft/file\": No such file or directory") != NULL);
    CHECK_RESULT(replace(weft__os_default(), "/dev/null/file", ""), WEFT_IO);
    CHECK(strstr(problem.text, strerror(ENOTDIR)) != NULL);
    CHECK_RESULT(replace(weft__os_default(), "", ""), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(problem.text, "the path is empty") != NULL);
    static char longest[5000];
    memset(longest, 'a', sizeof longest - 1);
    CHECK_RESULT(replace(weft__os_default(), longest, ""), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(problem.text, strerror(ENAMETOOLONG)) != NULL);
    CHECK_RESULT(weft__file_replace(weft__os_default(), "", NULL, 0, NULL), WEFT_INVALID_ARGUMENT);
}

/* ---- steps that fail ---- */

/* The real files, of which one operation fails with a reason. Owner: one test. */
typedef struct faulty {
    weft__os_files files;
    const weft__os_files *real;
    weft_os os;
    char operation;
    int reason;
} faulty;

static weft_result fail(const faulty *f)
{
    errno = f->reason;
    return WEFT_IO;
}

static weft_result write_bytes(void *user, weft__os_file file, const void *from, size_t bytes)
{
    faulty *f = user;
    if (f->operation != 'w') return f->real->write(NULL, file, from, bytes);
    f->real->write(NULL, file, from, bytes / 2); /* a full disk takes a part */
    return fail(f);
}

static weft_result sync_file(void *user, weft__os_file file)
{
    faulty *f = user;
    return f->operation == 's' ? fail(f) : f->real->sync(NULL, file);
}

static weft_result rename_file(void *user, const char *from, const char *to)
{
    faulty *f = user;
    return f->operation == 'r' ? fail(f) : f->real->rename(NULL, from, to);
}

static weft_result close_file(void *user, weft__os_file file)
{
    faulty *f = user;
    weft_result result = f->real->close(NULL, file);
    return f->operation == 'c' ? fail(f) : result;
}

static weft_result sync_directory(void *user, const char *path)
{
    faulty *f = user;
    return f->operation == 'd' ? fail(f) : f->real->sync_directory(NULL, path);
}

PLAIN_TEST(a_step_that_fails_leaves_the_old_or_the_new_file_and_tells_why)
{
    static const struct {
        char operation;
        int reason;
        const char *words, *content;
    } steps[] = {
        {'w', ENOSPC, "cannot write", "old"},
        {'s', EIO, "cannot sync", "old"},
        {'r', EACCES, "cannot rename", "old"},
        {'c', EDQUOT, "cannot close the new file, which is in place", "new"},
        {'d', EIO, "cannot sync the directory of the new file, which is in place", "new"},
    };
    place p;
    place_create(&p);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const weft__os_files *real = weft__os_files_of(weft__os_default());
        faulty f = {.real = real, .files = *real, .os = *weft__os_default()};
        f.files.user = &f;
        f.files.write = write_bytes;
        f.files.sync = sync_file;
        f.files.rename = rename_file;
        f.files.close = close_file;
        f.files.sync_directory = sync_directory;
        f.os.files = &f.files;
        f.operation = steps[i].operation;
        f.reason = steps[i].reason;
        CHECK_OK(replace(weft__os_default(), p.path, "old"));
        CHECK_RESULT(replace(&f.os, p.path, "new"), WEFT_IO);
        check_content(p.path, steps[i].content);
        CHECK(strstr(problem.text, steps[i].words) != NULL);
        CHECK(strstr(problem.text, p.path) != NULL);
        CHECK(strstr(problem.text, strerror(steps[i].reason)) != NULL);
    }
    place_destroy(&p); /* no temporary file */
}

PLAIN_TEST(a_disk_that_takes_a_part_and_then_nothing_leaves_the_old_file)
{
    place p;
    place_create(&p);
    CHECK_OK(replace(weft__os_default(), p.path, "old"));
    pid_t child = fork();
    if (child == 0) {
        static char large[1 << 20];
        const struct rlimit limit = {65536, 65536}; /* write() gives 65,536, then EFBIG */
        signal(SIGXFSZ, SIG_IGN);
        memset(large, 'x', sizeof large - 1);
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        CHECK_RESULT(replace(weft__os_default(), p.path, large), WEFT_IO);
        _exit(strstr(problem.text, strerror(EFBIG)) == NULL);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_content(p.path, "old");
    place_destroy(&p);
}

static weft_a32 x_signals; /* written by the handler */

static void note_signal(int number)
{
    (void)number;
    at_store_rlx(&x_signals, 1); /* relaxed: of this thread */
}

/* A pipe that is drained slowly blocks each write, and every signal interrupts one. */
PLAIN_TEST(signals_end_no_transfer)
{
    enum { BYTES = 1 << 23 };
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        static char taken[4096];
        uint64_t sum = 0;
        close(ends[1]);
        for (ssize_t n; (n = read(ends[0], taken, sizeof taken)) > 0; sum += (uint64_t)n)
            sched_yield();
        _exit(sum != BYTES);
    }
    struct sigaction action = {.sa_handler = note_signal}, before; /* no SA_RESTART */
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    CHECK(sigaction(SIGALRM, &action, &before) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    const weft__os_files *files = weft__os_files_of(weft__os_default());
    char *bytes = calloc(1, BYTES);
    weft_result result = files->write(NULL, (weft__os_file){ends[1]}, bytes, BYTES);
    while (at_load_rlx(&x_signals) == 0) sched_yield(); /* relaxed: of this thread */
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && sigaction(SIGALRM, &before, NULL) == 0);
    CHECK_OK(result);
    free(bytes);
    close(ends[0]);
    CHECK_OK(files->close(NULL, (weft__os_file){ends[1]}));
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
