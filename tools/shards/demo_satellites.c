/* SPDX-License-Identifier: MIT */
/* demo_satellites.c: satellites around the earth; two that come close break up, and so does one
 * in many by itself. What they leave are fragments, which break others up.
 *
 *   orbit look  rows   places of near sectors, random numbers -> Fate
 *   orbit move  rows   Fate -> State (leapfrog around a point mass); breaks up by commands
 *
 * Units: km, s.
 */
#include <math.h>
#include <stdlib.h>

#include <weft/random.h>

#include "demo.h"

enum { fragments = 5, kind_last = 2 /* too small to break up */, halo_state = 0, halo_kind = 1 };

static const double mass = 398600.8, ground = 6478.0, near_km = 12.0, half_side = 8000.0;
static const uint32_t alone_in = 40000; /* steps until one breaks up by itself, on average */

typedef struct state {
    double at[3], v[3];
} state;

/* kind 0: a satellite; 1: a piece of one; 2: a piece of that. */
typedef struct piece {
    uint32_t kind;
    uint32_t age; /* steps; young pieces of one break-up do not meet */
} piece;

typedef struct fate {
    uint32_t breaks;
} fate;

enum { young = 20 };

/* The model on one rank. Owner: the demo. Constant while systems run. */
typedef struct orbits {
    demo *run;
    weft_component state, piece, fate;
    weft_archetype archetype;
} orbits;

static bool meets(const weft_shard_rows *rows, const state *self, uint64_t gid)
{
    const state *states = rows->columns[halo_state];
    const piece *pieces = rows->columns[halo_kind];
    for (uint32_t i = 0; i < rows->count; i++) {
        const double x = states[i].at[0] - self->at[0], y = states[i].at[1] - self->at[1];
        const double z = states[i].at[2] - self->at[2];
        if (x * x + y * y + z * z < near_km * near_km && rows->gids[i] != gid &&
            pieces[i].age >= young)
            return true;
    }
    return false;
}

static void look(weft_slice *slice, void *user)
{
    const orbits *m = user;
    const weft_shard *shard = m->run->shard;
    const state *states = weft_slice_read(slice, 0);
    const piece *pieces = weft_slice_read(slice, 1);
    fate *fates = weft_slice_write(slice, 2);
    const uint64_t *gids = weft_slice_read(slice, 3);
    const uint32_t *near;
    const uint32_t count = weft_shard_near(shard, weft_shard_slice_sector(shard, slice), &near);
    const uint32_t tick = (uint32_t)weft_shard_tick(shard);
    for (uint32_t i = 0; i < slice->count; i++) {
        weft_random random = weft_random_of(m->run->info.seed, gids[i], tick, 0);
        bool breaks = weft_random_below(&random, alone_in) == 0;
        for (uint32_t k = 0; !breaks && pieces[i].age >= young && k < count; k++) {
            weft_shard_rows rows;
            if (weft_shard_rows_get(shard, near[k], &rows))
                breaks = meets(&rows, &states[i], gids[i]);
        }
        fates[i].breaks = breaks && pieces[i].kind < kind_last;
    }
}

static void pull(state *s, double dt)
{
    const double square = s->at[0] * s->at[0] + s->at[1] * s->at[1] + s->at[2] * s->at[2];
    const double factor = -mass / (square * sqrt(square)) * dt;
    for (int axis = 0; axis < 3; axis++) s->v[axis] += factor * s->at[axis];
}

static void move(state *s, double dt)
{
    pull(s, 0.5 * dt);
    for (int axis = 0; axis < 3; axis++) s->at[axis] += dt * s->v[axis];
    pull(s, 0.5 * dt);
}

static bool is_down(const state *s)
{
    const double square = s->at[0] * s->at[0] + s->at[1] * s->at[1] + s->at[2] * s->at[2];
    return square < ground * ground;
}

/* Pieces leave in all directions with up to 0.1 km/s. */
static void break_up(const weft_slice *slice, const orbits *m, const state *whole, uint32_t kind,
                     uint64_t gid)
{
    weft_random random =
        weft_random_of(m->run->info.seed, gid, (uint32_t)weft_shard_tick(m->run->shard), 1);
    weft_recorder *commands = weft_slice_recorder(slice);
    for (uint32_t k = 0; k < fragments; k++) {
        state part = *whole;
        const piece is = {.kind = kind + 1};
        for (int axis = 0; axis < 3; axis++)
            part.v[axis] += 0.2 * (weft_random_double(&random) - 0.5);
        const weft_entity entity = weft_recorder_create_entity(commands, m->archetype);
        weft_recorder_set(commands, entity, m->state, &part, sizeof part);
        weft_recorder_set(commands, entity, m->piece, &is, sizeof is);
    }
}

static void orbit(weft_slice *slice, void *user)
{
    const orbits *m = user;
    state *states = weft_slice_write(slice, 0);
    piece *pieces = weft_slice_write(slice, 1);
    const fate *fates = weft_slice_read(slice, 2);
    const uint64_t *gids = weft_slice_read(slice, 3);
    for (uint32_t i = 0; i < slice->count; i++) {
        move(&states[i], (double)slice->dt);
        pieces[i].age += pieces[i].age < young;
        if (fates[i].breaks) break_up(slice, m, &states[i], pieces[i].kind, gids[i]);
        if (fates[i].breaks || is_down(&states[i]))
            weft_recorder_destroy_entity(weft_slice_recorder(slice), slice->entities[i]);
    }
}

static weft_result create_systems(demo *run)
{
    orbits *m = run->state;
    m->archetype = WEFT_ARCHETYPE(run->world, run->info.gid, m->state, m->piece, m->fate);
    const weft_system_desc look_desc = {
        .name = "orbit look",
        .run = look,
        .user = m,
        .over.rows.terms = {{.component = m->state},
                            {.component = m->piece},
                            {.component = m->fate, .access = WEFT_WRITE},
                            {.component = run->info.gid}},
    };
    const weft_system_desc move_desc = {
        .name = "orbit move",
        .run = orbit,
        .user = m,
        .over.rows.terms = {{.component = m->state, .access = WEFT_WRITE},
                            {.component = m->piece, .access = WEFT_WRITE},
                            {.component = m->fate},
                            {.component = run->info.gid}},
        .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY,
    };
    const weft_result result = weft_shard_system_create(run->shard, &look_desc);
    if (result != WEFT_OK) return result;
    if (weft_system_create(run->world, &move_desc).id != 0) return WEFT_OK;
    return weft_world_error(run->world)->code;
}

static weft_result describe(demo *run, weft_shard_desc *desc)
{
    orbits *m = run->state = calloc(1, sizeof *m);
    if (!m) return WEFT_OUT_OF_MEMORY;
    m->run = run;
    m->state = weft_component_create_plain(run->world, "State", sizeof(state), 8, 0);
    m->piece = weft_component_create_plain(run->world, "Piece", sizeof(piece), 4, 0);
    m->fate = weft_component_create_plain(run->world, "Fate", sizeof(fate), 4, 0);
    desc->key = m->state;
    desc->halo[halo_state] = m->state;
    desc->halo[halo_kind] = m->piece;
    desc->grid =
        (weft_shard_grid){.dimensions = 3, .cells = {8, 8, 8}, .is_double = true, .reach = near_km};
    for (int axis = 0; axis < 3; axis++) {
        desc->grid.least[axis] = -half_side;
        desc->grid.most[axis] = half_side;
    }
    return WEFT_OK;
}

/* Circular orbits 400 to 1,000 km above the ground, in any plane. */
static state first_state(weft_random *random)
{
    state s = {{0, 0, 0}, {0, 0, 0}};
    double a[3], b[3], along = 0, square = 0;
    const double radius = 6778.0 + 600.0 * weft_random_double(random);
    for (int axis = 0; axis < 3; axis++) a[axis] = weft_random_normal(random);
    for (int axis = 0; axis < 3; axis++) b[axis] = weft_random_normal(random);
    for (int axis = 0; axis < 3; axis++) square += a[axis] * a[axis];
    for (int axis = 0; axis < 3; axis++) s.at[axis] = radius * a[axis] / sqrt(square);
    for (int axis = 0; axis < 3; axis++) along += b[axis] * a[axis] / square;
    for (int axis = 0; axis < 3; axis++) b[axis] -= along * a[axis];
    square = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    for (int axis = 0; axis < 3; axis++) s.v[axis] = sqrt(mass / radius / square) * b[axis];
    return s;
}

static weft_result populate(demo *run)
{
    const orbits *m = run->state;
    const uint32_t size = run->options->size;
    state *states = calloc(size, sizeof *states);
    piece *pieces = calloc(size, sizeof *pieces);
    weft_result result = states && pieces ? WEFT_OK : WEFT_OUT_OF_MEMORY;
    uint32_t count = 0;
    for (uint32_t i = 0; result == WEFT_OK && i < size; i++) {
        weft_random random = weft_random_of(run->options->seed, i, 0, 2);
        states[count] = first_state(&random);
        count += weft_shard_is_mine(run->shard, &states[count]);
    }
    if (result == WEFT_OK)
        result = weft_entity_create_filled(run->world, m->archetype,
                                           WEFT_VALUES({m->state, states}, {m->piece, pieces}),
                                           count, NULL);
    free(states);
    free(pieces);
    return result;
}

static void end(demo *run)
{
    free(run->state);
}

const demo_model demo_satellites = {
    .name = "satellites",
    .summary = "orbits, close encounters, break-ups",
    .size = 3000,
    .dt = 10.0f,
    .describe = describe,
    .systems = create_systems,
    .populate = populate,
    .end = end,
};
