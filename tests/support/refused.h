/* SPDX-License-Identifier: MIT */
/* refused.h: refused memory, function by function: for every k the call whose k-th allocation is
 * refused fails with OUT_OF_MEMORY and a text, leaves everything as before, and gives, called
 * again, what it gives where nothing was refused; nothing leaks.
 *
 * A test opens a *bed*, in which each of its functions has something to do, and says by a *look*
 * what can be seen of it. Refused are, one after the other, calls of the memory hook, mappings and
 * threads of the operating system, and for beds that say so calls of malloc. The table that is
 * printed says how many refusals each function had with each kind of component; 0: it allocates
 * nothing there; -: the kind does not go with it.
 *
 * WEFT_DEEP in the environment: also with all allocations from the k-th on refused, and with all
 * kinds in builds with checks. Without it, builds with checks take one in three behind the 64th
 * of a sweep. Under ThreadSanitizer: one in seven refusals of what has workers. The last line of a
 * table counts what was left out.
 */
#ifndef WEFT_TESTS_REFUSED_H
#define WEFT_TESTS_REFUSED_H

#include "libc_fault.h"
#include "memory_fault.h"
#include "os_fault.h"

#include <weft/world.h>

/* What a bed is made with. Constant while the bed lives. */
typedef struct refused_place {
    weft_allocator heap;
    const weft_os *os;
    weft_job_pool *pool; /* with `workers` workers; its memory is not refused */
    uint32_t workers, kind;
} refused_place;

enum { REFUSED_WORDS = 48 };

/* What can be seen of a bed, as words with names. A value. */
typedef struct refused_look {
    uint32_t count;
    struct {
        const char *name;
        uint64_t value;
        bool is_soft;  /* may be otherwise where a call did with less memory than it asked for */
        bool is_cache; /* fewer is the same, or one more: units that are kept for next chunks */
    } words[REFUSED_WORDS];
} refused_look;

void refused_see(refused_look *look, const char *name, uint64_t value);
void refused_see_soft(refused_look *look, const char *name, uint64_t value);
/* Content, layout, counts, names and validity of a world; `prefix`: before the names of words. */
void refused_see_world(refused_look *look, weft_world *world);

/* How a function answers to refused memory, where it is not as above. */
typedef enum refused_flags {
    REFUSED_KINDS = 1 << 0,   /* the kind of component says something */
    REFUSED_LATER = 1 << 1,   /* what was not done is done by the next call (its header says so) */
    REFUSED_LESS = 1 << 2,    /* it does less, which is no error (its header says so) */
    REFUSED_PART = 1 << 3,    /* a part may be done (its header says so); the next call works */
    REFUSED_TYPES = 1 << 6,   /* types that it made stay (its header says so) */
    REFUSED_IDS = 1 << 7,     /* ids that it gave are used up (its header says so) */
    REFUSED_WORKERS = 1 << 4, /* allocates on workers: also swept with two of them, every day */
    REFUSED_SILENT = 1 << 5,  /* no world has an error of it */
} refused_flags;

/* A function. `name`: the public function, and behind a blank what is special here. */
typedef struct refused_function {
    const char *name;
    weft_result (*run)(void *bed);
    uint32_t flags;
    uint32_t how; /* for functions of the test that do several: refused_how */
} refused_function;

/* `how` of the function that runs. */
uint32_t refused_how(void);

typedef struct refused_bed {
    const char *name;
    void *(*open)(const refused_place *place); /* nothing is refused */
    void (*close)(void *bed);
    void (*look)(void *bed, refused_look *out);
    weft_world *(*world)(void *bed); /* whose error is read; NULL: none */
    const refused_function *functions;
    uint32_t function_count;
    const char *const *kinds; /* NULL: the bed has no kinds */
    uint32_t kind_count;
    const test_libc *libc; /* also refused: memory that does not come from the hook; or NULL */
    uint32_t fewest;       /* refusals that a sweep has at least */
    bool is_small;         /* all kinds every day */
} refused_bed;

/* Sweeps all functions of a bed, prints the table, and ends the test when there was a fault. */
void refused_sweep(const refused_bed *bed);
/* The same of a bed that is called `name`, opened by `open`, and has these functions. */
void refused_sweep_of(const refused_bed *bed, const char *name,
                      void *(*open)(const refused_place *place), const refused_function *functions,
                      size_t count);
/* A list of functions and its count, for the call. */
#define REFUSED_LIST(list) (list), sizeof(list) / sizeof(list)[0]

/* Whether the environment has WEFT_DEEP. */
bool refused_is_deep(void);

#endif
