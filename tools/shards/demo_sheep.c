/* SPDX-License-Identifier: MIT */
/* demo_sheep.c: sheep eat grass, wolves eat sheep, on a periodic field of cells (Wilensky: Wolf
 * Sheep Predation, 1997), all at once: each decides by the field as the last step left it.
 *
 *   sheep decide  rows   creatures of near sectors -> Plan
 *   sheep act     rows   Plan -> Place, Creature; creates and destroys by commands
 *
 * Gids decide who comes first on a cell: the k-th wolf takes the k-th sheep, the first sheep takes
 * the grass. So both sides decide the same without a message.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/random.h>

#include "demo.h"

enum { cells_per_sector = 6 /* along each axis */, halo_place = 0, halo_creature = 1 };
enum { SHEEP, WOLF, GRASS };
enum { grass_time = 30, sheep_gain = 4, wolf_gain = 20, sheep_births = 25, wolf_births = 20 };

/* The middle of a cell. */
typedef struct place {
    float x, y;
} place;

/* energy: of grass the steps until it has grown, 0: grown. */
typedef struct creature {
    uint32_t kind;
    int32_t energy;
} creature;

/* What a creature will do: its energy (the child's, too, where it has one), and where it goes. */
typedef struct plan {
    int32_t energy;
    int32_t dx, dy;
    uint32_t dies, has_child;
} plan;

/* The model on one rank. Owner: the demo. Constant while systems run. */
typedef struct field {
    demo *run;
    weft_component place, creature, plan;
    weft_archetype archetype;
    uint32_t side; /* cells along each axis */
} field;

/* What there is on the cells around a creature. `before`: of its own kind, on its cell, with lower
 * gids. */
typedef struct around {
    uint32_t sheep[9], wolves, before;
    bool has_grass;
} around;

/* Who looks. */
typedef struct looker {
    place at;
    uint32_t kind;
    uint64_t gid;
} looker;

/* -1, 0, 1 for neighbouring cells, also across the border; else 2. */
static int32_t step_to(float from, float to, uint32_t side)
{
    const int32_t d = (int32_t)to - (int32_t)from, last = (int32_t)side - 1;
    if (d == last) return -1;
    if (d == -last) return 1;
    return d >= -1 && d <= 1 ? d : 2;
}

static void count_row(const field *m, const weft_shard_rows *rows, uint32_t i, const looker *self,
                      around *a)
{
    const place *places = rows->columns[halo_place];
    const creature *other = (const creature *)rows->columns[halo_creature] + i;
    const int32_t dx = step_to(self->at.x, places[i].x, m->side);
    const int32_t dy = step_to(self->at.y, places[i].y, m->side);
    if (dx == 2 || dy == 2) return;
    if (other->kind == SHEEP) a->sheep[(dy + 1) * 3 + dx + 1]++;
    if (dx != 0 || dy != 0) return;
    a->wolves += other->kind == WOLF;
    a->has_grass |= other->kind == GRASS && other->energy == 0;
    a->before += other->kind == self->kind && rows->gids[i] < self->gid;
}

static around look(const field *m, const uint32_t *near, uint32_t near_count, const looker *self)
{
    around a = {.wolves = 0};
    for (uint32_t k = 0; k < near_count; k++) {
        weft_shard_rows rows;
        if (!weft_shard_rows_get(m->run->shard, near[k], &rows)) continue;
        for (uint32_t i = 0; i < rows.count; i++) count_row(m, &rows, i, self, &a);
    }
    return a;
}

/* Sheep wander; wolves go where most sheep are. */
static void choose_way(const creature *self, const around *a, weft_random *random, plan *p)
{
    uint32_t to = weft_random_below(random, 9);
    for (uint32_t i = 0; self->kind == WOLF && i < 9; i++)
        if (a->sheep[i] > a->sheep[to]) to = i;
    p->dx = (int32_t)(to % 3) - 1;
    p->dy = (int32_t)(to / 3) - 1;
}

static plan decide_grass(const creature *self, const around *a)
{
    if (self->energy > 0) return (plan){.energy = self->energy - 1};
    return (plan){.energy = a->sheep[4] > 0 ? grass_time : 0};
}

static plan decide_animal(const creature *self, const around *a, weft_random *random)
{
    plan p = {.energy = self->energy - 1};
    const bool is_sheep = self->kind == SHEEP;
    p.dies = is_sheep && a->before < a->wolves;
    if (is_sheep && a->has_grass && a->before == 0) p.energy += sheep_gain;
    if (!is_sheep && a->before < a->sheep[4]) p.energy += wolf_gain;
    p.dies |= p.energy < 0;
    choose_way(self, a, random, &p);
    if (weft_random_below(random, is_sheep ? sheep_births : wolf_births) == 0 && p.energy > 1) {
        p.has_child = !p.dies;
        p.energy /= 2;
    }
    return p;
}

static void decide(weft_slice *slice, void *user)
{
    const field *m = user;
    const weft_shard *shard = m->run->shard;
    const place *places = weft_slice_read(slice, 0);
    const creature *creatures = weft_slice_read(slice, 1);
    plan *plans = weft_slice_write(slice, 2);
    const uint64_t *gids = weft_slice_read(slice, 3);
    const uint32_t *near;
    const uint32_t count = weft_shard_near(shard, weft_shard_slice_sector(shard, slice), &near);
    const uint32_t tick = (uint32_t)weft_shard_tick(shard);
    for (uint32_t i = 0; i < slice->count; i++) {
        const looker self = {places[i], creatures[i].kind, gids[i]};
        const around a = look(m, near, count, &self);
        weft_random random = weft_random_of(m->run->info.seed, gids[i], tick, 0);
        plans[i] = creatures[i].kind == GRASS ? decide_grass(&creatures[i], &a)
                                              : decide_animal(&creatures[i], &a, &random);
    }
}

static float go(float from, int32_t d, uint32_t side)
{
    const int32_t to = (int32_t)from + d, last = (int32_t)side - 1;
    return (float)(to < 0 ? last : to > last ? 0 : to) + 0.5f;
}

static void act(weft_slice *slice, void *user)
{
    const field *m = user;
    place *places = weft_slice_write(slice, 0);
    creature *creatures = weft_slice_write(slice, 1);
    const plan *plans = weft_slice_read(slice, 2);
    for (uint32_t i = 0; i < slice->count; i++) {
        const plan *p = &plans[i];
        creatures[i].energy = p->energy;
        if (p->has_child) {
            weft_recorder *commands = weft_slice_recorder(slice);
            const weft_entity child = weft_recorder_create_entity(commands, m->archetype);
            weft_recorder_set(commands, child, m->place, &places[i], sizeof(place));
            weft_recorder_set(commands, child, m->creature, &creatures[i], sizeof(creature));
        }
        places[i].x = go(places[i].x, p->dx, m->side);
        places[i].y = go(places[i].y, p->dy, m->side);
        if (p->dies) weft_recorder_destroy_entity(weft_slice_recorder(slice), slice->entities[i]);
    }
}

static weft_result create_systems(demo *run)
{
    field *m = run->state;
    m->archetype = WEFT_ARCHETYPE(run->world, run->info.gid, m->place, m->creature, m->plan);
    const weft_system_desc decide_desc = {
        .name = "sheep decide",
        .run = decide,
        .user = m,
        .over.rows.terms = {{.component = m->place},
                            {.component = m->creature},
                            {.component = m->plan, .access = WEFT_WRITE},
                            {.component = run->info.gid}},
    };
    const weft_system_desc act_desc = {
        .name = "sheep act",
        .run = act,
        .user = m,
        .over.rows.terms = {{.component = m->place, .access = WEFT_WRITE},
                            {.component = m->creature, .access = WEFT_WRITE},
                            {.component = m->plan}},
        .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY,
    };
    const weft_result result = weft_shard_system_create(run->shard, &decide_desc);
    if (result != WEFT_OK) return result;
    if (weft_system_create(run->world, &act_desc).id != 0) return WEFT_OK;
    return weft_world_error(run->world)->code;
}

/* A quarter as many animals as cells. */
static weft_result describe(demo *run, weft_shard_desc *desc)
{
    field *m = run->state = calloc(1, sizeof *m);
    if (!m) return WEFT_OUT_OF_MEMORY;
    m->run = run;
    const uint32_t sectors =
        (uint32_t)fmax(3.0, sqrt(0.8 * run->options->size) / cells_per_sector + 0.5);
    m->side = sectors * cells_per_sector;
    m->place = weft_component_create_plain(run->world, "Place", sizeof(place), 4, 0);
    m->creature = weft_component_create_plain(run->world, "Creature", sizeof(creature), 4, 0);
    m->plan = weft_component_create_plain(run->world, "Plan", sizeof(plan), 4, 0);
    desc->key = m->place;
    desc->halo[halo_place] = m->place;
    desc->halo[halo_creature] = m->creature;
    desc->grid = (weft_shard_grid){.dimensions = 2,
                                   .cells = {sectors, sectors},
                                   .most = {m->side, m->side},
                                   .is_periodic = {true, true},
                                   .reach = 1};
    return WEFT_OK;
}

static creature first_creature(const demo *run, uint32_t i, uint32_t cells, weft_random *random)
{
    (void)run;
    if (i < cells) return (creature){GRASS, (int32_t)weft_random_below(random, grass_time)};
    if ((i - cells) % 5 == 0) return (creature){WOLF, (int32_t)weft_random_below(random, 40) + 1};
    return (creature){SHEEP, (int32_t)weft_random_below(random, 8) + 1};
}

static weft_result populate(demo *run)
{
    const field *m = run->state;
    const uint32_t cells = m->side * m->side, all = cells + cells / 4;
    place *places = calloc(all, sizeof *places);
    creature *creatures = calloc(all, sizeof *creatures);
    weft_result result = places && creatures ? WEFT_OK : WEFT_OUT_OF_MEMORY;
    uint32_t count = 0;
    for (uint32_t i = 0; result == WEFT_OK && i < all; i++) {
        weft_random random = weft_random_of(run->options->seed, i, 0, 1);
        const uint32_t cell = i < cells ? i : weft_random_below(&random, cells);
        places[count] = (place){(float)(cell % m->side) + 0.5f, (float)(cell / m->side) + 0.5f};
        creatures[count] = first_creature(run, i, cells, &random);
        count += weft_shard_is_mine(run->shard, &places[count]);
    }
    if (result == WEFT_OK)
        result = weft_entity_create_filled(
            run->world, m->archetype, WEFT_VALUES({m->place, places}, {m->creature, creatures}),
            count, NULL);
    free(places);
    free(creatures);
    return result;
}

static void end(demo *run)
{
    free(run->state);
}

const demo_model demo_sheep = {
    .name = "sheep",
    .summary = "sheep, wolves and grass: births and deaths",
    .size = 4000,
    .dt = 1.0f,
    .describe = describe,
    .systems = create_systems,
    .populate = populate,
    .end = end,
};
