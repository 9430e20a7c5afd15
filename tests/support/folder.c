/* SPDX-License-Identifier: MIT */
/* folder.c: see folder.h. One directory at a time. */
#include "folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[256];
static pid_t owner; /* 0: there is none */
static int before = -1;

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *place)
{
    (void)what;
    (void)kind;
    (void)place;
    return remove(path);
}

void test_folder_leave(void)
{
    if (owner == 0 || owner != getpid()) return;
    owner = 0;
    if (fchdir(before) != 0 || nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        perror(folder);
    close(before);
}

void test_folder_enter(void)
{
    const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    static int is_noted;
    before = open(".", O_RDONLY | O_CLOEXEC);
    snprintf(folder, sizeof folder, "%.200s/weft-test-XXXXXX", base);
    if (before < 0 || mkdtemp(folder) == NULL || chdir(folder) != 0) {
        perror(folder);
        abort();
    }
    owner = getpid();
    if (!is_noted) atexit(test_folder_leave);
    is_noted = 1;
}
