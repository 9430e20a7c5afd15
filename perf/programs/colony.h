/* SPDX-License-Identifier: MIT */
/* colony.h: ants look for food and carry it home. They leave two trails, one leads home and one to
 * food, which fade and spread. An ant that searches follows the trail of food, one that carries the
 * trail home, in the step already in which it found food. Trails are whole numbers, so that ants
 * may add in any order. */
#ifndef WEFT_PERF_COLONY_H
#define WEFT_PERF_COLONY_H

#include "program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <weft/random.h>

enum { DISTRICT = 80, STRONGEST = 4096 };

typedef struct Ant {
    uint32_t x, y;
    uint32_t way; /* 0 to 7: where it looks */
    uint32_t far; /* steps since it was at home or at food */
} Ant;
typedef struct Load {
    uint32_t from; /* which food */
} Load;

typedef struct trails { /* by cell */
    uint32_t *home, *food;
} trails;

typedef struct terrain {
    trails trails[2]; /* of this step and of the next, in turn */
    uint8_t *what;    /* 0, 1: home, 2 and more: food */
    uint32_t side;
} terrain;

static inline uint32_t colony_side(uint32_t ants)
{
    uint32_t side = DISTRICT;
    while (side * side < ants * 2) side += DISTRICT;
    return side;
}

static inline size_t colony_cells(const terrain *t)
{
    return (size_t)t->side * t->side;
}

static inline const trails *colony_now(const terrain *t, uint32_t tick)
{
    return &t->trails[tick % 2];
}

static inline const trails *colony_next(const terrain *t, uint32_t tick)
{
    return &t->trails[(tick + 1) % 2];
}

static inline void colony_put(terrain *t, uint32_t x, uint32_t y, uint32_t radius, uint8_t what)
{
    for (uint32_t j = y - radius; j <= y + radius; j++)
        for (uint32_t i = x - radius; i <= x + radius; i++) {
            uint32_t square = (i - x) * (i - x) + (j - y) * (j - y);
            if (square <= radius * radius) t->what[(size_t)j * t->side + i] = what;
        }
}

/* Districts of 80 x 80 cells, each with a home in its middle and food around it. */
static inline bool colony_make_terrain(terrain *t, uint32_t ants)
{
    t->side = colony_side(ants);
    t->what = calloc(colony_cells(t), 1);
    for (int i = 0; i < 2; i++) {
        t->trails[i].home = calloc(colony_cells(t), sizeof(uint32_t));
        t->trails[i].food = calloc(colony_cells(t), sizeof(uint32_t));
        if (!t->what || !t->trails[i].home || !t->trails[i].food) return false;
    }
    for (uint32_t y = 0; y < t->side; y += DISTRICT)
        for (uint32_t x = 0; x < t->side; x += DISTRICT) {
            colony_put(t, x + 40, y + 40, 5, 1);
            colony_put(t, x + 64, y + 40, 3, 2);
            colony_put(t, x + 40, y + 60, 3, 3);
            colony_put(t, x + 12, y + 36, 3, 4);
            colony_put(t, x + 38, y + 18, 3, 5);
        }
    return true;
}

static inline void colony_free_terrain(terrain *t)
{
    free(t->what);
    for (int i = 0; i < 2; i++) {
        free(t->trails[i].home);
        free(t->trails[i].food);
    }
}

/* A row of cells: a half stays, a half comes from the four neighbours, and a 32nd is lost. */
static inline void colony_fade_row(const uint32_t *now, uint32_t *next, uint32_t side, uint32_t y)
{
    const uint32_t *here = now + (size_t)y * side;
    const uint32_t *above = now + (size_t)(y > 0 ? y - 1 : side - 1) * side;
    const uint32_t *below = now + (size_t)(y + 1 < side ? y + 1 : 0) * side;
    for (uint32_t x = 0; x < side; x++) {
        uint32_t left = here[x > 0 ? x - 1 : side - 1], right = here[x + 1 < side ? x + 1 : 0];
        uint32_t sum = (here[x] * 4 + above[x] + below[x] + left + right) / 8;
        next[(size_t)y * side + x] = sum - sum / 32;
    }
}

static inline void colony_fade(const terrain *t, uint32_t tick, uint32_t y)
{
    const trails *now = colony_now(t, tick), *next = colony_next(t, tick);
    colony_fade_row(now->home, next->home, t->side, y);
    colony_fade_row(now->food, next->food, t->side, y);
}

static inline size_t colony_cell(const terrain *t, uint32_t x, uint32_t y)
{
    return (size_t)y * t->side + x;
}

/* The cell in front of an ant that looks another way. */
static inline void colony_ahead(const terrain *t, const Ant *ant, uint32_t way, uint32_t *x,
                                uint32_t *y)
{
    static const int32_t by_x[8] = {1, 1, 0, -1, -1, -1, 0, 1};
    static const int32_t by_y[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    uint32_t side = t->side;
    *x = ant->x + (side + (uint32_t)by_x[way]);
    *y = ant->y + (side + (uint32_t)by_y[way]);
    *x = *x >= 2 * side ? *x - 2 * side : *x >= side ? *x - side : *x;
    *y = *y >= 2 * side ? *y - 2 * side : *y >= side ? *y - side : *y;
}

/* The ant goes one step along a trail: of the three cells in front to the strongest, now and then
 * to any. The cell it comes to. */
static inline size_t colony_go(const terrain *t, const uint32_t *trail, uint32_t number,
                               uint32_t tick, Ant *ant)
{
    weft_random random = weft_random_of(9, number, tick, 0);
    uint32_t choice = weft_random_below(&random, 24), best = choice % 3, strongest = 0;
    for (uint32_t k = 0; choice >= 3 && k < 3; k++) {
        uint32_t x, y;
        colony_ahead(t, ant, (ant->way + 7 + k) % 8, &x, &y);
        uint32_t strength = trail[colony_cell(t, x, y)];
        if (strength > strongest) strongest = strength, best = k;
    }
    ant->way = (ant->way + 7 + best) % 8;
    colony_ahead(t, ant, ant->way, &ant->x, &ant->y);
    ant->far++;
    return colony_cell(t, ant->x, ant->y);
}

/* What an ant leaves on its trail: less, the farther it has come. */
static inline uint32_t colony_scent(const Ant *ant)
{
    return ant->far < 128 ? (uint32_t)STRONGEST >> (ant->far / 12) : 0;
}

static inline void colony_turn(Ant *ant)
{
    ant->way = (ant->way + 4) % 8;
    ant->far = 0;
}

static inline Ant colony_begin(const terrain *t, uint32_t number)
{
    weft_random random = weft_random_of(9, number, 0, 1);
    Ant ant = {0, 0, 0, 128};
    ant.x = weft_random_below(&random, t->side);
    ant.y = weft_random_below(&random, t->side);
    ant.way = weft_random_below(&random, 8);
    return ant;
}

/* What an ant and the trails add to the content. */
static inline uint64_t colony_sum(uint32_t number, const Ant *ant, uint32_t load)
{
    uint64_t sum = program_stir(program_stir((uint64_t)number + 1, ant->x), ant->y);
    return program_stir(program_stir(program_stir(sum, ant->way), ant->far), load);
}

static inline uint64_t colony_sum_trails(const terrain *t)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < colony_cells(t); i++)
        for (int k = 0; k < 2; k++)
            sum += program_stir(program_stir(i + 1, t->trails[k].home[i]), t->trails[k].food[i]);
    return sum;
}

#endif
