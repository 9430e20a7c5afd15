/* SPDX-License-Identifier: MIT */
/* criterion.h: as much of Criterion as the suites use, for machines that have no package of it
 * (machines.py): Test, TestSuite with .init and .fini, .signal, cr_assert. Each test runs in a
 * child process, as Criterion does; criterion_main.c runs them. */
#ifndef WEFT_TESTS_CRITERION_H
#define WEFT_TESTS_CRITERION_H

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A test or a suite (run == NULL) of the program, linked into a list before main starts. */
typedef struct criterion_entry {
    const char *suite, *name;
    void (*run)(void);
    struct criterion_with {
        void (*init)(void), (*fini)(void);
        int signal; /* that must end the test */
    } with;
    struct criterion_entry *next;
} criterion_entry;

void criterion_add(criterion_entry *entry);
_Noreturn void criterion_fail(const char *file, int line, const char *text);

#define CRITERION_ENTRY(id, suite_name, test_name, function, ...)                                  \
    static criterion_entry entry_##id = {                                                          \
        .suite = #suite_name, .name = test_name, .run = function, .with = {__VA_ARGS__}};          \
    __attribute__((constructor)) static void add_##id(void)                                        \
    {                                                                                              \
        criterion_add(&entry_##id);                                                                \
    }
#define Test(suite, name, ...)                                                                     \
    static void run_##suite##_##name(void);                                                        \
    CRITERION_ENTRY(suite##_##name, suite, #name, run_##suite##_##name, __VA_ARGS__)               \
    static void run_##suite##_##name(void)
#define TestSuite(suite, ...)                                                                      \
    CRITERION_ENTRY(suite, suite, NULL, NULL, __VA_ARGS__) static_assert(1, "")
#define cr_assert(condition)                                                                       \
    ((condition) ? (void)0 : criterion_fail(__FILE__, __LINE__, #condition))

#endif
