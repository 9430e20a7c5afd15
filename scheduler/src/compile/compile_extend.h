/* compile_extend.h: adding archetypes to a compiled schedule. See compile_extend.c. Owner, between
 * segments. */
#ifndef WEFT_COMPILE_EXTEND_H
#define WEFT_COMPILE_EXTEND_H

#include <stdbool.h>
#include <stdint.h>

/* What extending compares with and works in; part of the scheduler, owner only. */
typedef struct weft__growth {
    uint32_t types;                  /* type count the schedule was compiled for */
    uint32_t set_words;              /* words that archetype sets have room for */
    uint64_t compilations;           /* full ones ... */
    uint64_t extensions;             /* ... and those spared: for tests */
    struct weft__arena_block *arena; /* scratch of weft__schedule_extend */
} weft__growth;

struct weft__scheduler;

/* Adds the archetypes that appeared to the schedule. False: it must be compiled again. */
bool weft__schedule_extend(struct weft__scheduler *scheduler);

#endif
