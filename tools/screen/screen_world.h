/* SPDX-License-Identifier: MIT */
/* screen_world.h: the world of the job: its component types, resources and entities.
 *
 * Entities: a satellite is {NearOrbit or DeepOrbit, Satellite, Fate, Constellation (shared)}; an
 * approach is {Approach}, created by a job and gone when it is written; a satellite that ended
 * leaves a {Loss}. Near-earth and deep-space satellites are two archetypes because they need
 * different data and different loops.
 *
 * Resources (resources) carry what belongs to no entity: places of the ephemeris, suspects.
 * Their memory is owned by struct screen_world; who may touch which part when follows from the
 * declarations in screen_systems.c.
 */
#ifndef WEFT_SCREEN_SCREEN_WORLD_H
#define WEFT_SCREEN_SCREEN_WORLD_H

#include <weft/weft.h>

#include "ephemeris.h"
#include "screen.h"

/* Component types of one world. Constant after screen_world_create. */
struct screen_types {
    weft_component near, deep;    /* struct sgp4_near, struct sgp4_deep */
    weft_component satellite;     /* struct screen_satellite */
    weft_component fate;          /* struct ephemeris_fate: what the last batch did to it */
    weft_component constellation; /* shared: struct screen_group */
    weft_component approach;      /* struct screen_approach */
    weft_component loss;          /* struct screen_loss */
    weft_component near_places, deep_places; /* resource: struct screen_places */
    weft_component bounds;                   /* resource: struct screen_bounds */
    weft_component suspects;                 /* resource: struct screen_suspects */
    weft_component events;                   /* resource: struct screen_events */
};

struct screen_satellite {
    uint32_t object; /* place in the catalogue */
};

struct screen_group {
    uint32_t group;
};

/* Where the satellites of one kind are in the batch: the k-th row of their query has place
 * first + k. `who` is written along with the states. */
struct screen_places {
    struct ephemeris *ephemeris;
    weft_entity *who;
    uint32_t first;
};

/* Bounds of the slices, gathered per worker: the fastest speed, and how often the theory was
 * asked. Each on a cache line of its own. */
struct screen_bounds {
    struct {
        _Alignas(64) float fastest_km_s;
        uint64_t propagations;
    } * of_worker;
    uint32_t worker_count;
};

/* Pairs per step of the batch that may have an approach; what a worker finds them in.
 * `is_failed`: no memory for them. */
struct screen_suspects {
    struct sky_grid *grid_of_worker;
    struct sky_pairs *of_step;
    uint8_t *is_failed;
};

/* The approaches written so far; grows on the main thread. `is_failed`: no memory. */
struct screen_event_list {
    struct screen_approach *items;
    uint32_t count, capacity;
    bool is_failed;
};

struct screen_events {
    struct screen_event_list *list;
};

/* The world and the memory behind its resources. Owner: the thread that runs the job. */
struct screen_world {
    weft_world *world;
    struct screen_types types;
    const struct screen_options *options;
    struct approach_window window;
    weft_query near_query, deep_query, loss_query;
    weft_archetype approach_archetype, loss_archetype;
    struct ephemeris ephemeris;
    struct screen_places near_places, deep_places;
    struct screen_bounds bounds;
    struct screen_suspects suspects;
    struct screen_event_list events;
};

/* Makes the world, its types, resources and satellites. Returns 0, or -1 after saying what is wrong
 * on stderr; screen_world_destroy in any case. */
int screen_world_create(struct screen_world *w, const struct screen_options *options,
                        struct screen_result *result);
void screen_world_destroy(struct screen_world *w);

/* How many steps a batch has, for this number of objects: the search of a step looks as far as the
 * fastest object of its batch goes. */
uint32_t screen_batch_steps(uint32_t objects);

/* Registers the systems (screen_systems.c). */
int screen_systems_create(struct screen_world *w);

#endif
