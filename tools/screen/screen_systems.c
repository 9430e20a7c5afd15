/* SPDX-License-Identifier: MIT */
/* screen_systems.c: the systems of the job. One frame of the world is one batch of time steps.
 *
 *   propagate near   rows     NearOrbit -> states of all steps of the batch, Fate
 *   propagate deep   rows     DeepOrbit -> the same, at the places after the near ones
 *   bounds           rows     Fate -> the fastest speed of each slice, for the width of the rows
 *   pairs            steps    states -> pairs that may come close
 *   refine           steps    pairs -> exact closest approach; creates Approach entities
 *   write events     rows     Approach -> the list of the result; destroys them (main thread)
 *   reap             rows     Fate -> destroys satellites that ended, leaves a Loss entity
 *
 * Each declares what it touches; the scheduler makes order and parallelism out of that. "rows" are
 * systems over slices of a query, "steps" run once per index of a range.
 */
#include "screen_world.h"

#include <stdlib.h>
#include <string.h>

/* What the systems need to know; given to all of them as their user pointer. */
static const struct screen_types *types_of(void *user)
{
    return &((const struct screen_world *)user)->types;
}

/* A slice's rows have places of their own: no other slice writes there. */
static uint32_t places_begin(const weft_slice *slice, const struct screen_places *places)
{
    const uint32_t first = places->first + (uint32_t)slice->first;
    for (uint32_t i = 0; i < slice->count; i++) places->who[first + i] = slice->entities[i];
    return first;
}

static void propagate_near(weft_slice *slice, void *user)
{
    const struct screen_places *places =
        weft_slice_write_resource(slice, types_of(user)->near_places);
    const struct sgp4_near *orbits = weft_slice_read(slice, 0);
    struct ephemeris_fate *fates = weft_slice_write(slice, 1);
    ephemeris_near(places->ephemeris, orbits, slice->count, places_begin(slice, places), fates);
}

static void propagate_deep(weft_slice *slice, void *user)
{
    const struct screen_places *places =
        weft_slice_write_resource(slice, types_of(user)->deep_places);
    struct sgp4_deep *orbits = weft_slice_write(slice, 0);
    struct ephemeris_fate *fates = weft_slice_write(slice, 1);
    ephemeris_deep(places->ephemeris, orbits, slice->count, places_begin(slice, places), fates);
}

static void bounds(weft_slice *slice, void *user)
{
    const struct screen_bounds *all = weft_slice_write_resource(slice, types_of(user)->bounds);
    const struct ephemeris_fate *fates = weft_slice_read(slice, 0);
    float fastest = all->of_worker[slice->worker].fastest_km_s;
    for (uint32_t i = 0; i < slice->count; i++) {
        fastest = fates[i].fastest_km_s > fastest ? fates[i].fastest_km_s : fastest;
        all->of_worker[slice->worker].propagations += fates[i].propagations;
    }
    all->of_worker[slice->worker].fastest_km_s = fastest;
}

/* The maximum over all workers does not depend on who did which slice. */
static double fastest_of(const struct screen_bounds *all)
{
    float fastest = 0.0f;
    for (uint32_t i = 0; i < all->worker_count; i++) {
        const float mine = all->of_worker[i].fastest_km_s;
        fastest = mine > fastest ? mine : fastest;
    }
    return (double)fastest;
}

/* One step: its sky into the worker's grid, while that is in its cache, and the pairs of it. */
static void pairs(weft_slice *slice, void *user)
{
    const struct screen_world *w = user;
    const struct screen_types *types = types_of(user);
    const struct screen_places *places = weft_slice_read_resource(slice, types->near_places);
    const struct screen_bounds *all = weft_slice_read_resource(slice, types->bounds);
    const struct screen_suspects *suspects = weft_slice_write_resource(slice, types->suspects);
    const struct sky_kernels *kernels = places->ephemeris->sky_kernels;
    const uint32_t step = slice->index;
    const struct sky sky = ephemeris_sky(places->ephemeris, step);
    const struct sky_rules rules =
        sky_rules_of(w->window.step_s, w->window.threshold_km, fastest_of(all));
    struct sky_grid *grid = &suspects->grid_of_worker[slice->worker];
    suspects->of_step[step].count = 0;
    kernels->hash(&sky, &rules, grid);
    suspects->is_failed[step] = kernels->find_pairs(grid, &rules, &suspects->of_step[step]) != 0;
}

/* Elements and name of a satellite by its place in the batch. */
static struct approach_object object_at(const weft_slice *slice, const struct screen_types *types,
                                        weft_entity entity, uint32_t *object)
{
    const struct screen_satellite *s = weft_slice_read_entity(slice, entity, types->satellite);
    *object = s->object;
    return (struct approach_object){.near = weft_slice_read_entity(slice, entity, types->near),
                                    .deep = weft_slice_read_entity(slice, entity, types->deep)};
}

static void record_approach(const weft_slice *slice, const struct screen_world *w,
                            const struct screen_approach *found)
{
    weft_recorder *commands = weft_slice_recorder(slice);
    const weft_entity entity = weft_recorder_create_entity(commands, w->approach_archetype);
    weft_recorder_set(commands, entity, w->types.approach, found, sizeof *found);
}

/* Up to a block of suspects: all are refined in lockstep, those below the threshold recorded. */
static void refine_some(const weft_slice *slice, const struct screen_world *w,
                        const weft_entity *who, const struct sky_pair *pair, uint32_t count)
{
    struct approach_suspect suspects[SGP4_LANES];
    struct approach approaches[SGP4_LANES];
    uint32_t object[SGP4_LANES][2];
    const uint32_t step = w->ephemeris.first_step + slice->index;
    for (uint32_t i = 0; i < count; i++) {
        suspects[i].a = object_at(slice, &w->types, who[pair[i].a], &object[i][0]);
        suspects[i].b = object_at(slice, &w->types, who[pair[i].b], &object[i][1]);
        suspects[i].step = step;
    }
    approach_refine(w->ephemeris.kernels, &w->window, suspects, count, approaches);
    for (uint32_t i = 0; i < count; i++) {
        if (!approaches[i].is_below_threshold) continue;
        const uint32_t a = object[i][0], b = object[i][1];
        const struct screen_approach found = {
            .tca_s = approaches[i].tca_s,
            .miss_km = approaches[i].miss_km,
            .vrel_km_s = approaches[i].vrel_km_s,
            .object_a = a < b ? a : b,
            .object_b = a < b ? b : a,
            .step = step,
        };
        record_approach(slice, w, &found);
    }
}

static void refine(weft_slice *slice, void *user)
{
    const struct screen_world *w = user;
    const struct screen_places *places =
        weft_slice_read_resource(slice, types_of(user)->near_places);
    const struct screen_suspects *suspects =
        weft_slice_read_resource(slice, types_of(user)->suspects);
    const struct sky_pairs *list = &suspects->of_step[slice->index];
    for (uint32_t begin = 0; begin < list->count; begin += SGP4_LANES) {
        const uint32_t left = list->count - begin;
        refine_some(slice, w, places->who, list->pairs + begin,
                    left < SGP4_LANES ? left : SGP4_LANES);
    }
}

static int reserve_events(struct screen_event_list *list, uint32_t more)
{
    if (list->count + more <= list->capacity) return 0;
    const uint32_t capacity = 2 * (list->count + more);
    struct screen_approach *grown = realloc(list->items, capacity * sizeof *grown);
    if (!grown) return -1;
    list->items = grown;
    list->capacity = capacity;
    return 0;
}

/* Runs on one thread, slice after slice, so that it may grow the list. */
static void write_events(weft_slice *slice, void *user)
{
    const struct screen_events *events = weft_slice_write_resource(slice, types_of(user)->events);
    const struct screen_approach *approaches = weft_slice_read(slice, 0);
    struct screen_event_list *list = events->list;
    if (reserve_events(list, slice->count)) {
        list->is_failed = true;
        return;
    }
    memcpy(list->items + list->count, approaches, slice->count * sizeof *approaches);
    list->count += slice->count;
    weft_recorder *commands = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        weft_recorder_destroy_entity(commands, slice->entities[i]);
    }
}

static void reap(weft_slice *slice, void *user)
{
    const struct screen_world *w = user;
    const struct ephemeris_fate *fates = weft_slice_read(slice, 0);
    const struct screen_satellite *satellites = weft_slice_read(slice, 1);
    for (uint32_t i = 0; i < slice->count; i++) {
        if (fates[i].error == 0) continue;
        weft_recorder *commands = weft_slice_recorder(slice);
        const struct screen_loss loss = {
            .object = satellites[i].object, .step = fates[i].step, .error = fates[i].error};
        const weft_entity entity = weft_recorder_create_entity(commands, w->loss_archetype);
        weft_recorder_set(commands, entity, w->types.loss, &loss, sizeof loss);
        weft_recorder_destroy_entity(commands, slice->entities[i]);
    }
}

static uint32_t steps_of_batch(weft_world *world, void *user)
{
    (void)world;
    return ((const struct screen_world *)user)->ephemeris.step_count;
}

static int create_all(struct screen_world *w, const weft_system_desc *systems, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        weft_system_desc desc = systems[i];
        desc.user = w;
        if (weft_system_create(w->world, &desc).id == 0) return -1;
    }
    return 0;
}

int screen_systems_create(struct screen_world *w)
{
    const struct screen_types *t = &w->types;
    const weft_system_desc systems[] = {
        {
            .name = "propagate near",
            .run = propagate_near,
            .over.rows.terms = {{.component = t->near},
                                {.component = t->fate, .access = WEFT_WRITE}},
            .resources = {{t->near_places, WEFT_WRITE}},
        },
        {
            .name = "propagate deep",
            .run = propagate_deep,
            .over.rows.terms = {{.component = t->deep, .access = WEFT_WRITE},
                                {.component = t->fate, .access = WEFT_WRITE}},
            .resources = {{t->deep_places, WEFT_WRITE}},
        },
        {
            .name = "bounds",
            .run = bounds,
            .over.rows.terms = {{.component = t->fate}},
            .resources = {{t->bounds, WEFT_WRITE}},
        },
        {
            .name = "pairs",
            .run = pairs,
            .over = {.kind = WEFT_OVER_RANGE, .range = steps_of_batch},
            .resources = {{t->near_places, WEFT_READ},
                          {t->deep_places, WEFT_READ},
                          {t->bounds, WEFT_READ},
                          {t->suspects, WEFT_WRITE}},
        },
        {
            .name = "refine",
            .run = refine,
            .over = {.kind = WEFT_OVER_RANGE, .range = steps_of_batch},
            .resources = {{t->near_places, WEFT_READ},
                          {t->deep_places, WEFT_READ},
                          {t->suspects, WEFT_READ}},
            .lookups = {{t->near, WEFT_READ}, {t->deep, WEFT_READ}, {t->satellite, WEFT_READ}},
            .effects = WEFT_RECORDS_CREATE,
            .records = {t->approach},
        },
        {
            .name = "write events",
            .run = write_events,
            .over.rows.terms = {{.component = t->approach}},
            .resources = {{t->events, WEFT_WRITE}},
            .flags = WEFT_SYSTEM_MAIN_THREAD,
            .effects = WEFT_RECORDS_DESTROY,
        },
        {
            .name = "reap",
            .run = reap,
            .over.rows.terms = {{.component = t->fate}, {.component = t->satellite}},
            .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY,
            .after = {"refine"},
        },
    };
    return create_all(w, systems, sizeof systems / sizeof *systems);
}
