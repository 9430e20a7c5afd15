/* SPDX-License-Identifier: MIT */
/* plain_main.c: runs the tests of a plain program (plain.h) in the order of the file.
 *
 * A failed check aborts, so reaching the end means that everything passed. A program without
 * tests, or a name that does not exist, is a failure: a test run must not pass by running nothing.
 */
#include "plain.h"

#include "folder.h"

#include <stdio.h>
#include <string.h>

static test_plain *first;
static test_plain **last = &first;

void test_plain_add(test_plain *test)
{
    *last = test;
    last = &test->next;
}

static bool is_wanted(const test_plain *test, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], test->name) == 0) return true;
    }
    return argc == 1;
}

int main(int argc, char **argv)
{
    int count = 0;
    test_folder_enter();
    for (const test_plain *test = first; test; test = test->next) {
        if (!is_wanted(test, argc, argv)) continue;
        printf("%s\n", test->name);
        fflush(stdout);
        test->run();
        count++;
    }
    if (count == 0 || count < argc - 1) {
        fprintf(stderr, "%s: ran %d tests, expected more: check the names\n", argv[0], count);
        return 1;
    }
    printf("%d passed\n", count);
    return 0;
}
