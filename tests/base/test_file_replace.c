/* SPDX-License-Identifier: MIT */
/* test_file_replace.c: a file is replaced whole or not at all, whichever step fails and wherever
 * the process dies. */
#include "check.h"
#include "file_replace.h"
#include "os_file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The real files, except that step number `fail_at` fails, or kills the process. Owner: one test.
 */
typedef struct faulty {
    weft__os_files files;
    const weft__os_files *real;
    weft_os os;
    unsigned step, fail_at;
    bool kills;
    char log[64]; /* one letter a step: o w s r d */
} faulty;

static bool is_due(faulty *f, char letter)
{
    f->log[f->step++] = letter;
    if (f->step != f->fail_at) return false;
    if (f->kills) raise(SIGKILL);
    return true;
}

static weft_result open_write(void *user, const char *path, weft__os_file *out)
{
    faulty *f = user;
    return is_due(f, 'o') ? WEFT_IO : f->real->open_write(f->real->user, path, out);
}

static weft_result write_bytes(void *user, weft__os_file file, const void *from, size_t bytes)
{
    faulty *f = user;
    if (!is_due(f, 'w')) return f->real->write(f->real->user, file, from, bytes);
    f->real->write(f->real->user, file, from, bytes / 2); /* a full disk takes a part */
    return WEFT_IO;
}

static weft_result sync_file(void *user, weft__os_file file)
{
    faulty *f = user;
    return is_due(f, 's') ? WEFT_IO : f->real->sync(f->real->user, file);
}

static weft_result rename_file(void *user, const char *from, const char *to)
{
    faulty *f = user;
    return is_due(f, 'r') ? WEFT_IO : f->real->rename(f->real->user, from, to);
}

static weft_result sync_directory(void *user, const char *path)
{
    faulty *f = user;
    return is_due(f, 'd') ? WEFT_IO : f->real->sync_directory(f->real->user, path);
}

static void faulty_init(faulty *f, unsigned fail_at, bool kills)
{
    const weft__os_files *real = weft__os_files_of(weft__os_default());
    *f = (faulty){.real = real, .files = *real, .fail_at = fail_at, .kills = kills};
    f->files.user = f;
    f->files.open_write = open_write;
    f->files.write = write_bytes;
    f->files.sync = sync_file;
    f->files.rename = rename_file;
    f->files.sync_directory = sync_directory;
    f->os = *weft__os_default();
    f->os.files = &f->files;
}

static char directory[64], path[128];

static void make_directory(void)
{
    const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    snprintf(directory, sizeof directory, "%.40s/weft-XXXXXX", base);
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/file", directory);
}

static void remove_directory(void)
{
    char name[160];
    unlink(path);
    for (unsigned i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "%s.new%u", path, i);
        unlink(name);
    }
    CHECK(rmdir(directory) == 0);
}

TestSuite(file_replace, .init = make_directory, .fini = remove_directory);

static void check_content(const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = '\0';
    CHECK_TEXT(text, expected);
}

static weft_result replace(const weft_os *os, const char *a, const char *b)
{
    weft__file_piece pieces[] = {{a, strlen(a)}, {"", 0}, {b, strlen(b)}};
    return weft__file_replace(os, path, pieces, 3, NULL);
}

Test(file_replace, writes_all_pieces_in_the_order_that_survives_a_power_cut)
{
    faulty f;
    faulty_init(&f, 0, false);
    CHECK_OK(replace(&f.os, "first ", "second"));
    check_content("first second");
    CHECK_TEXT(f.log, "owwsrd");
}

Test(file_replace, any_failing_step_leaves_the_old_file_and_no_temporary)
{
    CHECK_OK(replace(weft__os_default(), "o", "ld"));
    for (unsigned at = 1; at <= 6; at++) {
        faulty f;
        faulty_init(&f, at, false);
        CHECK_RESULT(replace(&f.os, "n", "ew"), WEFT_IO);
        check_content(at < 6 ? "old" : "new");
        char name[160];
        snprintf(name, sizeof name, "%s.new0", path);
        CHECK(access(name, F_OK) != 0);
    }
}

Test(file_replace, a_process_killed_at_any_step_leaves_a_complete_file)
{
    for (unsigned at = 1; at <= 6; at++) {
        CHECK_OK(replace(weft__os_default(), "o", "ld"));
        pid_t child = fork();
        if (child == 0) {
            faulty f;
            faulty_init(&f, at, true);
            _exit(replace(&f.os, "n", "ew") == WEFT_OK);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        check_content(at < 6 ? "old" : "new");
    }
    CHECK_OK(replace(weft__os_default(), "af", "ter")); /* sweeps what the dead left */
    check_content("after");
}

Test(file_replace, a_temporary_held_by_a_live_writer_is_left_alone)
{
    char name[160];
    snprintf(name, sizeof name, "%s.new0", path);
    int other = open(name, O_RDWR | O_CREAT, 0600);
    CHECK(other >= 0 && flock(other, LOCK_EX) == 0 && write(other, "x", 1) == 1);
    CHECK_OK(replace(weft__os_default(), "mi", "ne"));
    check_content("mine");
    struct stat status;
    CHECK(fstat(other, &status) == 0);
    CHECK_I64(status.st_size, 1);
    close(other);
}

Test(file_replace, bad_paths_are_errors)
{
    const weft_os *os = weft__os_default();
    static char longest[5000];
    memset(longest, 'a', sizeof longest - 1);
    CHECK_RESULT(weft__file_replace(os, "", NULL, 0, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft__file_replace(os, longest, NULL, 0, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft__file_replace(os, "/nonexistent-weft/file", NULL, 0, NULL), WEFT_IO);
    CHECK_RESULT(weft__file_replace(os, directory, NULL, 0, NULL), WEFT_IO);
}

Test(file_replace, only_regular_files_are_opened_for_reading)
{
    const weft__os_files *files = weft__os_files_of(weft__os_default());
    weft__os_file file;
    uint64_t bytes;
    CHECK_RESULT(files->open_read(NULL, path, &file, &bytes), WEFT_NOT_FOUND);
    CHECK_RESULT(files->open_read(NULL, directory, &file, &bytes), WEFT_IO);
    CHECK_RESULT(files->open_read(NULL, "/dev/zero", &file, &bytes), WEFT_IO);
    CHECK(mkfifo(path, 0600) == 0);
    CHECK_RESULT(files->open_read(NULL, path, &file, &bytes), WEFT_IO);
    unlink(path);
    CHECK(symlink(path, path) == 0);
    CHECK_RESULT(files->open_read(NULL, path, &file, &bytes), WEFT_IO);
}

static mode_t mode_of_path(void)
{
    struct stat status;
    CHECK(stat(path, &status) == 0);
    return status.st_mode & 07777;
}

Test(file_replace, permissions_are_those_of_the_old_file_or_of_fopen)
{
    const weft_os *os = weft__os_default();
    const mode_t masks[] = {022, 002, 077, 0}, modes[] = {0600, 0640, 0666, 0777, 0400};
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        mode_t before = umask(masks[i]);
        CHECK_RESULT(replace(os, "a", "b"), WEFT_OK);
        CHECK_U64(mode_of_path(), 0666 & ~masks[i]);
        for (size_t k = 0; k < sizeof modes / sizeof modes[0]; k++) {
            CHECK(chmod(path, modes[k]) == 0);
            CHECK_RESULT(replace(os, "c", "d"), WEFT_OK);
            CHECK_U64(mode_of_path(), modes[k]);
        }
        unlink(path);
        umask(before);
    }
}

static weft_result write_private(void *user, weft__os_file file, const void *from, size_t bytes)
{
    const weft__os_files *real = weft__os_files_of(weft__os_default());
    struct stat status;
    (void)user;
    CHECK(fstat((int)file.handle, &status) == 0);
    CHECK_U64(status.st_mode & 07777, 0600);
    return real->write(real->user, file, from, bytes);
}

Test(file_replace, what_is_private_is_so_before_its_first_byte)
{
    faulty f;
    CHECK_RESULT(replace(weft__os_default(), "a", "b"), WEFT_OK);
    CHECK(chmod(path, 0600) == 0);
    faulty_init(&f, 0, false);
    f.files.write = write_private;
    CHECK_RESULT(replace(&f.os, "c", "d"), WEFT_OK);
    check_content("cd");
}
