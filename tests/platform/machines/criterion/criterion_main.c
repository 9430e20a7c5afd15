/* SPDX-License-Identifier: MIT */
/* criterion_main.c: runs the tests of a program that includes criterion.h of this folder, each in a
 * child. A program without tests is a failure. */
#include "criterion.h"

#include <sys/wait.h>
#include <unistd.h>

static criterion_entry *first;
static criterion_entry **last = &first;

void criterion_add(criterion_entry *entry)
{
    *last = entry;
    last = &entry->next;
}

void criterion_fail(const char *file, int line, const char *text)
{
    fprintf(stderr, "%s:%d: is false: %s\n", file, line, text);
    abort();
}

static struct criterion_with suite_of(const criterion_entry *test)
{
    for (const criterion_entry *entry = first; entry != NULL; entry = entry->next)
        if (entry->run == NULL && strcmp(entry->suite, test->suite) == 0) return entry->with;
    return (struct criterion_with){0};
}

static bool passes(const criterion_entry *test)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct criterion_with suite = suite_of(test);
        if (suite.init != NULL) suite.init();
        if (test->with.init != NULL) test->with.init();
        test->run();
        if (test->with.fini != NULL) test->with.fini();
        if (suite.fini != NULL) suite.fini();
        exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return false;
    if (test->with.signal != 0) return WIFSIGNALED(status) && WTERMSIG(status) == test->with.signal;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
    int count = 0, failed = 0;
    for (const criterion_entry *test = first; test != NULL; test = test->next) {
        if (test->run == NULL) continue;
        count++;
        if (passes(test)) continue;
        failed++;
        fprintf(stderr, "FAILED: %s %s\n", test->suite, test->name);
    }
    printf("%d passed\n", count - failed);
    return count == 0 || failed != 0;
}
