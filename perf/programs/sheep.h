/* SPDX-License-Identifier: MIT */
/* sheep.h: wolves, sheep and grass, after the predation model of NetLogo (Wilensky 1997): animals
 * walk over patches that wrap around and live on energy. Of the sheep on a patch the one with the
 * lowest number eats the grass, or is eaten by the wolf there that has the lowest number; so
 * nothing depends on the order of animals. */
#ifndef WEFT_PERF_SHEEP_H
#define WEFT_PERF_SHEEP_H

#include "program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <weft/random.h>

enum { GROWS_IN = 12, SHEEP_GAIN = 8, WOLF_GAIN = 10, SHEEP_BREED = 4, WOLF_BREED = 2 };

typedef struct Tag { /* of those that are born made of the mother's number */
    uint64_t number;
} Tag;
typedef struct Place {
    uint32_t x, y;
} Place;
typedef struct Energy {
    int32_t left;
} Energy;

typedef struct meadow {     /* by patch */
    uint64_t *sheep, *wolf; /* the lowest number there; UINT64_MAX: none */
    uint8_t *is_eaten;      /* the sheep */
    uint8_t *growing;       /* steps until there is grass */
    uint32_t side;
} meadow;

static inline uint32_t sheep_side(uint32_t animals)
{
    uint32_t side = 16;
    while (side * side < animals * 3) side += 16;
    return side;
}

static inline bool sheep_make_meadow(meadow *m, uint32_t animals)
{
    m->side = sheep_side(animals);
    size_t patches = (size_t)m->side * m->side;
    m->sheep = malloc(patches * sizeof *m->sheep);
    m->wolf = malloc(patches * sizeof *m->wolf);
    m->is_eaten = calloc(patches, 1);
    m->growing = calloc(patches, 1);
    if (!m->sheep || !m->wolf || !m->is_eaten || !m->growing) return false;
    for (size_t i = 0; i < patches; i++) m->growing[i] = (uint8_t)(i * 7 % GROWS_IN);
    return true;
}

static inline void sheep_free_meadow(meadow *m)
{
    free(m->sheep);
    free(m->wolf);
    free(m->is_eaten);
    free(m->growing);
}

/* Makes patches ready for a step. */
static inline void sheep_clear(const meadow *m, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        m->sheep[i] = m->wolf[i] = UINT64_MAX;
        m->is_eaten[i] = 0;
        m->growing[i] = (uint8_t)(m->growing[i] - (m->growing[i] > 0));
    }
}

static inline size_t sheep_patch(const meadow *m, Place at)
{
    return (size_t)at.y * m->side + at.x;
}

static inline uint32_t sheep_wrap(uint32_t at, uint32_t by, uint32_t side) /* by: 0, 1, 2 */
{
    at = at + by + side - 1;
    return at >= 2 * side ? at - 2 * side : at >= side ? at - side : at;
}

static inline void sheep_walk(const meadow *m, uint64_t number, uint32_t tick, Place *at,
                              Energy *energy)
{
    weft_random random = weft_random_of(5, number, tick, 0);
    at->x = sheep_wrap(at->x, weft_random_below(&random, 3), m->side);
    at->y = sheep_wrap(at->y, weft_random_below(&random, 3), m->side);
    energy->left--;
}

/* Whether an animal breeds: percent. The young one gets half of the energy. */
static inline bool sheep_breeds(uint64_t number, uint32_t tick, uint32_t percent, int32_t left)
{
    if (left < 4) return false;
    weft_random random = weft_random_of(5, number, tick, 1);
    return weft_random_below(&random, 100) < percent;
}

static inline Tag sheep_young(uint64_t number, uint32_t tick)
{
    Tag tag = {program_stir(program_stir(number, tick), 5)};
    return tag;
}

/* The wolf hunts. */
static inline void sheep_hunt(const meadow *m, size_t patch, uint64_t number, Energy *energy)
{
    if (m->wolf[patch] != number || m->sheep[patch] == UINT64_MAX) return;
    m->is_eaten[patch] = 1; /* one wolf writes it */
    energy->left += WOLF_GAIN;
}

/* The sheep grazes; false: it was eaten. */
static inline bool sheep_graze(const meadow *m, size_t patch, uint64_t number, Energy *energy)
{
    if (m->sheep[patch] != number) return true;
    if (m->is_eaten[patch]) return false;
    if (m->growing[patch] == 0) { /* one sheep writes it */
        m->growing[patch] = GROWS_IN;
        energy->left += SHEEP_GAIN;
    }
    return true;
}

/* Animals at first: of eight one is a wolf. */
static inline bool sheep_is_wolf(uint32_t i)
{
    return i % 8 == 0;
}

static inline void sheep_begin(uint32_t i, uint32_t side, Tag *tag, Place *at, Energy *energy)
{
    weft_random random = weft_random_of(5, i, 0, 2);
    tag->number = i;
    at->x = weft_random_below(&random, side);
    at->y = weft_random_below(&random, side);
    energy->left = 4 + (int32_t)weft_random_below(&random, 16);
}

/* What an animal and the grass add to the content. */
static inline uint64_t sheep_sum(bool is_wolf, uint64_t number, Place at, int32_t left)
{
    uint64_t sum = program_stir(program_stir(number + 1, at.x), at.y);
    return program_stir(program_stir(sum, (uint64_t)left), is_wolf);
}

static inline uint64_t sheep_sum_grass(const meadow *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < (size_t)m->side * m->side; i++)
        sum += program_stir(i + 1, m->growing[i]);
    return sum;
}

#endif
