/* SPDX-License-Identifier: MIT */
/* peers.h: the rows of `weft-peers`: the same work in weft and in libraries of others, which the
 * user has (cmake -DWEFT_PEERS=DIR). Each library is one file that fills a table of cases; peers.c
 * runs them in turn, compares their results, and prints the figures. */
#ifndef WEFT_PERF_PEERS_H
#define WEFT_PERF_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The work of one row by one library. `open` makes what is there before, untimed; `run` is timed,
 * once; `sum` says what came of it, which is the same for all; `close` ends it. */
typedef struct peers_case {
    const char *row;
    void *(*open)(uint32_t n, uint32_t workers);
    void (*run)(void *state);
    uint64_t (*sum)(const void *state);
    void (*close)(void *state);
} peers_case;

/* A library. `cases` end with row NULL; a row that it does not have is left out. */
typedef struct peers_library {
    const char *name;
    const char *version;
    const peers_case *cases;
} peers_library;

extern const peers_library peers_weft, peers_flecs, peers_entt, peers_taskflow, peers_enkits;

/* ---- what all have in common ---- */

typedef struct Position {
    float x, y, z;
} Position;
typedef struct Velocity {
    float x, y, z;
} Velocity;
typedef struct Health {
    uint32_t points;
} Health;

enum {
    PEERS_TAGS = 26, /* of iterate.fragments */
    PEERS_BITS = 10, /* tags of the tables rows: entity i has those of the bits of i */
    PEERS_WORLDS = 100,
    PEERS_SMALL = 1000, /* entities of a world */
    PEERS_TREE = 10,    /* entities of a tree: a root and its children */
    PEERS_LAYERS = 32
};

static inline Position peers_position(uint32_t i)
{
    Position made = {(float)(i % 1000), (float)(i % 7), 1};
    return made;
}

static inline Velocity peers_velocity(uint32_t i)
{
    Velocity made = {(float)(i % 3), 1, (float)(i % 5)};
    return made;
}

static inline void peers_move(Position *at, const Velocity *by)
{
    at->x += by->x;
    at->y += by->y;
    at->z += by->z;
}

static inline void peers_add(Position *at, const Position *other)
{
    at->x += other->x;
    at->y += other->y;
    at->z += other->z;
}

enum { PEERS_NAME = 16 };

/* The name of entity i of the row "name". */
static inline void peers_name(char out[PEERS_NAME], uint32_t i)
{
    for (int k = 0; k < 8; k++) out[k] = (char)('a' + (i >> 4 * k & 15));
    out[8] = 0;
}

/* Values are small whole numbers: sums are exact in any order. */
static inline uint64_t peers_sum(const Position *at)
{
    return (uint64_t)(at->x + at->y * 2 + at->z * 3);
}

/* The numbers 0 to n - 1 in a random order, the same for all. The caller frees. */
static inline uint32_t *peers_order(uint32_t n)
{
    uint32_t *order = (uint32_t *)malloc((size_t)n * sizeof *order);
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint32_t j = (uint32_t)(state % (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

/* The work of an item of jobs.for: about 90 ns. One function for all: inlined, compilers make
 * another one of it here and there. */
uint32_t peers_work(uint32_t i);

#ifdef __cplusplus
}
#endif
#endif
