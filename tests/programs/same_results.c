/* SPDX-License-Identifier: MIT */
/* same_results.c: whole programs (perf/programs) compute what the same models compute in plain
 * C, with one world for any number of workers, and the same world in C++.
 *
 *   test_programs [NAME [SIZE [STEPS]]]
 *   test_programs count NAME C|raw|C++      steps in the function counted_steps, for callgrind
 */
#include "program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 40, LOOK_EVERY = 8, COUNTED = 12 };

/* What was computed. */
typedef struct outcome {
    uint64_t contents; /* of all looks */
    uint64_t hash;     /* of the last step; 0: there is no world */
} outcome;

static outcome run(const program_side *side, uint32_t size, uint32_t workers, uint32_t steps)
{
    outcome found = {0, 0};
    void *world = side->open(size, workers);
    if (world == NULL) return found;
    for (uint32_t step = 1; step <= steps; step++) {
        side->step(world);
        if (step % LOOK_EVERY == 0)
            found.contents = program_stir(found.contents, side->content(world));
    }
    if (side->hash != NULL) found.hash = side->hash(world);
    side->close(world);
    return found;
}

static bool is_same(const program *p, const char *side, uint32_t workers, outcome found,
                    outcome expected)
{
    if (found.contents == expected.contents && found.hash == expected.hash) return true;
    printf("FAILED: %s in %s on %u workers: content %016llx, world %016llx; expected %016llx, "
           "%016llx\n",
           p->name, side, workers, (unsigned long long)found.contents,
           (unsigned long long)found.hash, (unsigned long long)expected.contents,
           (unsigned long long)expected.hash);
    return false;
}

static bool compare(const program *p, uint32_t size, uint32_t steps)
{
    static const uint32_t workers[] = {1, 2, 3, 8};
    outcome raw = run(p->raw, size, 1, steps), first = run(p->c, size, 1, steps);
    bool is_right = is_same(p, "C", 1, (outcome){first.contents, 0}, raw);
    for (uint32_t i = 1; i < sizeof workers / sizeof *workers; i++)
        is_right &= is_same(p, "C", workers[i], run(p->c, size, workers[i], steps), first);
    for (uint32_t i = 0; i < 2 && p->cpp != NULL; i++)
        is_right &= is_same(p, "C++", workers[i], run(p->cpp, size, workers[i], steps), first);
    printf("%s %u: content %016llx, world %016llx\n", p->name, size,
           (unsigned long long)first.contents, (unsigned long long)first.hash);
    return is_right;
}

/* What is counted: instructions of whole steps. */
__attribute__((noinline)) void counted_steps(const program_side *side, void *world);
void counted_steps(const program_side *side, void *world)
{
    for (uint32_t step = 0; step < COUNTED; step++) side->step(world);
}

static int count_steps(const char *name, const char *which)
{
    for (const program *p = programs; p->name != NULL; p++) {
        if (strcmp(p->name, name) != 0) continue;
        const program_side *side = strcmp(which, "raw") == 0 ? p->raw
                                   : strcmp(which, "C") == 0 ? p->c
                                                             : p->cpp;
        void *world = side != NULL ? side->open(p->small, 1) : NULL;
        if (world == NULL) return 1;
        for (uint32_t step = 0; step < LOOK_EVERY; step++) side->step(world);
        counted_steps(side, world);
        printf("%016llx\n", (unsigned long long)side->content(world));
        side->close(world);
        return 0;
    }
    return 1;
}

int main(int count, char **arguments)
{
    if (count == 4 && strcmp(arguments[1], "count") == 0)
        return count_steps(arguments[2], arguments[3]);
    bool is_right = true;
    uint32_t done = 0;
    for (const program *p = programs; p->name != NULL; p++) {
        if (count > 1 && strcmp(arguments[1], p->name) != 0) continue;
        uint32_t size = count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : p->small;
        uint32_t steps = count > 3 ? (uint32_t)strtoul(arguments[3], NULL, 10) : STEPS;
        is_right &= compare(p, size, steps);
        done++;
    }
    return is_right && done > 0 ? 0 : 1;
}
