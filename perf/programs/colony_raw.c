/* SPDX-License-Identifier: MIT */
/* colony_raw.c: the colony in plain C: an array of ants, and what each carries beside it. In a step
 * an ant searches, when it carries nothing, and then carries, when it has found something or had
 * it before: as the two systems on weft do, between which commands are played. */
#include "colony.h"

#include <stdlib.h>

typedef struct plain_colony {
    terrain ground;
    Ant *ants;
    uint32_t *load; /* by ant; 0: none */
    uint32_t count, tick;
    uint64_t delivered;
} plain_colony;

static void search(plain_colony *c, uint32_t i)
{
    Ant *ant = &c->ants[i];
    size_t cell = colony_go(&c->ground, colony_now(&c->ground, c->tick)->food, i, c->tick, ant);
    colony_next(&c->ground, c->tick)->home[cell] += colony_scent(ant);
    uint8_t what = c->ground.what[cell];
    if (what > 1) {
        c->load[i] = what;
        colony_turn(ant);
    } else if (what == 1) {
        ant->far = 0;
    }
}

static void carry(plain_colony *c, uint32_t i)
{
    Ant *ant = &c->ants[i];
    size_t cell = colony_go(&c->ground, colony_now(&c->ground, c->tick)->home, i, c->tick, ant);
    colony_next(&c->ground, c->tick)->food[cell] += colony_scent(ant);
    if (c->ground.what[cell] != 1) return;
    c->load[i] = 0;
    c->delivered++;
    colony_turn(ant);
}

static void colony_step(void *side)
{
    plain_colony *c = side;
    c->tick++;
    for (uint32_t y = 0; y < c->ground.side; y++) colony_fade(&c->ground, c->tick, y);
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->load[i] == 0) search(c, i);
        if (c->load[i] != 0) carry(c, i);
    }
}

static void colony_close(void *side)
{
    plain_colony *c = side;
    colony_free_terrain(&c->ground);
    free(c->ants);
    free(c->load);
    free(c);
}

static void *colony_open(uint32_t size, uint32_t workers)
{
    (void)workers;
    plain_colony *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    c->count = size;
    c->ants = malloc(size * sizeof *c->ants);
    c->load = calloc(size, sizeof *c->load);
    if (!colony_make_terrain(&c->ground, size) || !c->ants || !c->load) {
        colony_close(c);
        return NULL;
    }
    for (uint32_t i = 0; i < size; i++) c->ants[i] = colony_begin(&c->ground, i);
    return c;
}

static uint64_t colony_content(void *side)
{
    const plain_colony *c = side;
    uint64_t sum = colony_sum_trails(&c->ground) + c->delivered;
    for (uint32_t i = 0; i < c->count; i++) sum += colony_sum(i, &c->ants[i], c->load[i]);
    return sum;
}

const program_side colony_raw = {colony_open, colony_step, colony_content, NULL, colony_close};
