/* SPDX-License-Identifier: MIT */
/* sheep_raw.c: wolves and sheep in plain C: two herds, each an array. Those that live on are moved
 * together in the pass that decides it; the young ones of the step come behind. */
#include "sheep.h"

#include <stdlib.h>

typedef struct animal {
    uint64_t number;
    Place at;
    Energy energy;
} animal;

typedef struct herd {
    animal *list, *young;
    uint32_t count, young_count, room;
} herd;

typedef struct plain_meadow {
    meadow ground;
    herd sheep, wolves;
    uint32_t tick;
} plain_meadow;

static void walk(const meadow *ground, herd *h, uint64_t *lowest, uint32_t tick)
{
    for (uint32_t i = 0; i < h->count; i++) {
        animal *a = &h->list[i];
        sheep_walk(ground, a->number, tick, &a->at, &a->energy);
        size_t patch = sheep_patch(ground, a->at);
        if (a->number < lowest[patch]) lowest[patch] = a->number;
    }
}

/* Room for one young one of each. */
static void make_room(herd *h)
{
    if (h->count * 2 <= h->room) return;
    h->room = h->count * 4;
    h->list = realloc(h->list, h->room * sizeof *h->list);
    h->young = realloc(h->young, h->room * sizeof *h->young);
    if (!h->list || !h->young) abort();
}

static void breed(herd *h, animal *mother, uint32_t tick, uint32_t percent)
{
    if (!sheep_breeds(mother->number, tick, percent, mother->energy.left)) return;
    animal young = {
        sheep_young(mother->number, tick).number, mother->at, {mother->energy.left / 2}};
    mother->energy.left -= young.energy.left;
    h->young[h->young_count++] = young;
}

static void join_young(herd *h)
{
    memcpy(h->list + h->count, h->young, h->young_count * sizeof *h->young);
    h->count += h->young_count;
    h->young_count = 0;
}

static void sheep_step(void *side)
{
    plain_meadow *m = side;
    const meadow *ground = &m->ground;
    m->tick++;
    sheep_clear(ground, 0, (size_t)ground->side * ground->side);
    walk(ground, &m->sheep, ground->sheep, m->tick);
    walk(ground, &m->wolves, ground->wolf, m->tick);
    make_room(&m->wolves);
    make_room(&m->sheep);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->wolves.count; i++) {
        animal a = m->wolves.list[i];
        sheep_hunt(ground, sheep_patch(ground, a.at), a.number, &a.energy);
        if (a.energy.left < 0) continue;
        breed(&m->wolves, &a, m->tick, WOLF_BREED);
        m->wolves.list[kept++] = a;
    }
    m->wolves.count = kept;
    kept = 0;
    for (uint32_t i = 0; i < m->sheep.count; i++) {
        animal a = m->sheep.list[i];
        if (!sheep_graze(ground, sheep_patch(ground, a.at), a.number, &a.energy)) continue;
        if (a.energy.left < 0) continue;
        breed(&m->sheep, &a, m->tick, SHEEP_BREED);
        m->sheep.list[kept++] = a;
    }
    m->sheep.count = kept;
    join_young(&m->wolves);
    join_young(&m->sheep);
}

static void sheep_close(void *side)
{
    plain_meadow *m = side;
    sheep_free_meadow(&m->ground);
    free(m->sheep.list);
    free(m->sheep.young);
    free(m->wolves.list);
    free(m->wolves.young);
    free(m);
}

static void *sheep_open(uint32_t size, uint32_t workers)
{
    (void)workers;
    plain_meadow *m = calloc(1, sizeof *m);
    if (m == NULL) return NULL;
    for (int i = 0; i < 2; i++) {
        herd *h = i == 0 ? &m->sheep : &m->wolves;
        h->room = size;
        h->list = malloc(size * sizeof *h->list);
        h->young = malloc(size * sizeof *h->young);
    }
    if (!sheep_make_meadow(&m->ground, size) || !m->sheep.list || !m->sheep.young ||
        !m->wolves.list || !m->wolves.young) {
        sheep_close(m);
        return NULL;
    }
    for (uint32_t i = 0; i < size; i++) {
        herd *h = sheep_is_wolf(i) ? &m->wolves : &m->sheep;
        animal *a = &h->list[h->count++];
        Tag tag;
        sheep_begin(i, m->ground.side, &tag, &a->at, &a->energy);
        a->number = tag.number;
    }
    return m;
}

static uint64_t sheep_content(void *side)
{
    const plain_meadow *m = side;
    uint64_t sum = sheep_sum_grass(&m->ground);
    for (uint32_t i = 0; i < m->sheep.count; i++) {
        const animal *a = &m->sheep.list[i];
        sum += sheep_sum(false, a->number, a->at, a->energy.left);
    }
    for (uint32_t i = 0; i < m->wolves.count; i++) {
        const animal *a = &m->wolves.list[i];
        sum += sheep_sum(true, a->number, a->at, a->energy.left);
    }
    return sum;
}

const program_side sheep_raw = {sheep_open, sheep_step, sheep_content, NULL, sheep_close};
