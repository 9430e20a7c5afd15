/* SPDX-License-Identifier: MIT */
/* test_cli_file.c: which files a command would write over: by device and number, not by spelling;
 * what stays of a file that is replaced: links to it, its permissions; what is no plain file. */
#include "cli_file.h"

#include "check.h"
#include "folder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make(const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    CHECK(file >= 0);
    close(file);
}

Test(cli_file, a_file_is_another_one_or_refused_whatever_its_path)
{
    char folder[] = "/tmp/weft_test_cli_file_XXXXXX";
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0 && mkdir("deep", 0777) == 0);
    make("in");
    make("other");
    make("made.part");
    CHECK(symlink("in", "soft") == 0 && link("in", "hard") == 0);
    static const char *const same[] = {"in", "./in", "deep/../in", "soft", "hard"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        CHECK(weft_cli_file_apart("test", same[i], "in") == -1);
        CHECK(weft_cli_file_apart("test", "in", same[i]) == -1);
        CHECK(weft_cli_file_apart("test", "other", same[i]) == 0);
    }
    CHECK(weft_cli_file_apart("test", "made", "made.part") == -1); /* what it is written in first */
    CHECK(weft_cli_file_apart("test", "new", "in") == 0);
    CHECK(weft_cli_file_apart("test", "in", "missing") == 0);
    CHECK(weft_cli_file_apart("test", "in", NULL) == 0);
    CHECK(weft_cli_file_apart("test", "/dev/null", "/dev/null") == 0);
    const int input = open("in", O_RDONLY | O_CLOEXEC);
    CHECK(input >= 0 && dup2(input, STDIN_FILENO) == STDIN_FILENO);
    CHECK(weft_cli_file_apart("test", "in", "-") == -1);
    CHECK(weft_cli_file_apart("test", "other", "-") == 0);
    CHECK(system("rm -r made.part in other soft hard deep") == 0 && chdir("/") == 0 &&
          rmdir(folder) == 0);
}

/* Writes a file, and keeps the new one or not. */
static void replace(const char *path, const char *text, bool is_kept)
{
    weft_cli_file f;
    CHECK(weft_cli_file_begin(&f, "test", NULL, path) == 0);
    CHECK(fputs(text, f.stream) >= 0);
    if (is_kept) CHECK(weft_cli_file_end(&f) == 0);
    if (!is_kept) weft_cli_file_drop(&f);
}

static void check_text(const char *path, const char *text)
{
    char found[16] = "";
    FILE *file = fopen(path, "re");
    CHECK(file != NULL && fgets(found, sizeof found, file) != NULL);
    CHECK_TEXT(found, text);
    fclose(file);
}

Test(cli_file, a_file_that_is_replaced_keeps_its_links_and_permissions)
{
    struct stat found;
    char bytes[8];
    test_folder_enter();
    replace("file", "first", true);
    CHECK(symlink("file", "soft") == 0 && chmod("file", 0600) == 0);
    replace("soft", "second", true);
    CHECK(lstat("soft", &found) == 0 && S_ISLNK(found.st_mode));
    CHECK(stat("file", &found) == 0 && (found.st_mode & 07777) == 0600);
    check_text("file", "second");
    replace("soft", "third", false);
    check_text("file", "second");
    CHECK(access("file.part", F_OK) != 0 && access("soft.part", F_OK) != 0);
    CHECK(mkfifo("pipe", 0600) == 0); /* no device of the machine: a mistake would replace it */
    const int reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    replace("pipe", "fourth", true);
    CHECK(lstat("pipe", &found) == 0 && S_ISFIFO(found.st_mode));
    CHECK(reader >= 0 && read(reader, bytes, sizeof bytes) == 6 && close(reader) == 0);
    CHECK(symlink("file", "new.part") == 0); /* of another program */
    CHECK(weft_cli_file_begin(&(weft_cli_file){0}, "test", NULL, "new") == -1);
    check_text("file", "second");
    test_folder_leave();
}
