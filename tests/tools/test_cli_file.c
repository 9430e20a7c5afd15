/* SPDX-License-Identifier: MIT */
/* test_cli_file.c: which files a command would write over: by device and number, not by spelling.
 */
#include "cli_file.h"

#include "check.h"

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
