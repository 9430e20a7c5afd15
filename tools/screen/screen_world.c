/* SPDX-License-Identifier: MIT */
/* screen_world.c: making the world: types, resources, satellites. The order of the satellites
 * follows the catalogue, so that entities and layout are the same in every run.
 */
#include "screen_world.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* A batch is as many steps as fit this much memory with their states: the last-level cache has
 * them until their pairs are found. The ends of its loops, where workers wait for each other,
 * weigh less the more steps there are. */
static const size_t batch_bytes = (size_t)16 << 20;
static const size_t bytes_per_object = 6 * sizeof(float);
enum { batch_steps_min = 8, batch_steps_max = 64 };

static int register_types(struct screen_world *w)
{
    struct screen_types *t = &w->types;
    t->near = WEFT_COMPONENT(w->world, struct sgp4_near);
    t->deep = WEFT_COMPONENT(w->world, struct sgp4_deep);
    t->satellite = WEFT_COMPONENT(w->world, struct screen_satellite);
    t->fate = WEFT_COMPONENT(w->world, struct ephemeris_fate);
    t->constellation = WEFT_COMPONENT_FLAGS(w->world, struct screen_group, WEFT_SHARED);
    t->approach = WEFT_COMPONENT(w->world, struct screen_approach);
    t->loss = WEFT_COMPONENT(w->world, struct screen_loss);
    t->near_places = weft_component_create_plain(w->world, "near places", sizeof w->near_places,
                                                 _Alignof(struct screen_places),
                                                 WEFT_RESOURCE | WEFT_NOT_HASHED);
    t->deep_places = weft_component_create_plain(w->world, "deep places", sizeof w->deep_places,
                                                 _Alignof(struct screen_places),
                                                 WEFT_RESOURCE | WEFT_NOT_HASHED);
    t->bounds =
        WEFT_COMPONENT_FLAGS(w->world, struct screen_bounds, WEFT_RESOURCE | WEFT_NOT_HASHED);
    t->suspects =
        WEFT_COMPONENT_FLAGS(w->world, struct screen_suspects, WEFT_RESOURCE | WEFT_NOT_HASHED);
    t->events =
        WEFT_COMPONENT_FLAGS(w->world, struct screen_events, WEFT_RESOURCE | WEFT_NOT_HASHED);
    return weft_world_error(w->world)->code == WEFT_OK ? 0 : -1;
}

uint32_t screen_batch_steps(uint32_t objects)
{
    const size_t steps = batch_bytes / (bytes_per_object * ((size_t)objects + 1));
    if (steps < batch_steps_min) return batch_steps_min;
    return steps > batch_steps_max ? batch_steps_max : (uint32_t)steps;
}

static int allocate_steps(struct screen_world *w, uint32_t steps, uint32_t objects)
{
    struct screen_suspects *s = &w->suspects;
    s->of_step = calloc(steps, sizeof *s->of_step);
    s->is_failed = calloc(steps, sizeof *s->is_failed);
    s->grid_of_worker = calloc(w->bounds.worker_count, sizeof *s->grid_of_worker);
    if (!s->of_step || !s->is_failed || !s->grid_of_worker) return -1;
    for (uint32_t i = 0; i < w->bounds.worker_count; i++) {
        if (sky_grid_init(&s->grid_of_worker[i], objects)) return -1;
    }
    return 0;
}

static int allocate(struct screen_world *w, uint32_t objects)
{
    const uint32_t steps = screen_batch_steps(objects);
    const uint32_t workers = weft_job_pool_worker_count(weft_world_pool(w->world));
    if (ephemeris_init(&w->ephemeris, steps, objects)) return -1;
    w->ephemeris.kernels = sgp4_kernels_best();
    w->ephemeris.sky_kernels = sky_kernels_best();
    w->ephemeris.window = &w->window;
    weft_entity *who = calloc((size_t)objects + 1, sizeof *who);
    w->near_places = (struct screen_places){.ephemeris = &w->ephemeris, .who = who};
    w->deep_places = w->near_places;
    w->bounds.worker_count = workers;
    w->bounds.of_worker = aligned_alloc(64, workers * sizeof *w->bounds.of_worker);
    if (!who || !w->bounds.of_worker) return -1;
    return allocate_steps(w, steps, objects);
}

/* The resources hold pointers; their memory stays with the screen_world. */
static int publish(struct screen_world *w)
{
    const struct screen_events events = {.list = &w->events};
    const struct {
        weft_component type;
        const void *value;
        size_t size;
    } resources[] = {
        {w->types.near_places, &w->near_places, sizeof w->near_places},
        {w->types.deep_places, &w->deep_places, sizeof w->deep_places},
        {w->types.bounds, &w->bounds, sizeof w->bounds},
        {w->types.suspects, &w->suspects, sizeof w->suspects},
        {w->types.events, &events, sizeof events},
    };
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        void *value = weft_resource_write(w->world, resources[i].type);
        if (!value) return -1;
        memcpy(value, resources[i].value, resources[i].size);
    }
    return 0;
}

/* The elements of one kind of satellite, ready to become columns. */
struct columns {
    void *orbits;
    struct screen_satellite *satellites;
    weft_entity *entities;
    uint32_t count;
};

static int create_kind(struct screen_world *w, const struct screen_result *r, weft_component orbit,
                       struct columns *c)
{
    if (c->count == 0) return 0;
    const weft_archetype satellites =
        WEFT_ARCHETYPE(w->world, orbit, w->types.satellite, w->types.fate, w->types.constellation);
    if (weft_entity_create_filled(
            w->world, satellites,
            WEFT_VALUES({orbit, c->orbits}, {w->types.satellite, c->satellites}), c->count,
            c->entities)) {
        return -1;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        const struct screen_group group = {r->groups.group_of[c->satellites[i].object]};
        if (group.group == 0) continue; /* zero is the default of a shared component */
        if (weft_entity_set_shared(w->world, c->entities[i], w->types.constellation, &group)) {
            return -1;
        }
    }
    return 0;
}

static void fill_columns(struct screen_result *r, struct columns *near, struct columns *deep)
{
    for (uint32_t i = 0; i < r->catalogue.count; i++) {
        const struct sgp4_elements *e = &r->catalogue.objects[i].elements;
        if (r->is_gone && r->is_gone[i]) continue;
        if (sgp4_is_deep(e)) {
            sgp4_deep_init(e, (struct sgp4_deep *)deep->orbits + deep->count);
            deep->satellites[deep->count++].object = i;
        } else {
            sgp4_near_init(e, (struct sgp4_near *)near->orbits + near->count);
            near->satellites[near->count++].object = i;
        }
    }
    r->near_count = near->count;
    r->deep_count = deep->count;
}

static int columns_init(struct columns *c, size_t orbit_bytes, size_t count)
{
    *c = (struct columns){.orbits = calloc(count, orbit_bytes)};
    c->satellites = calloc(count, sizeof *c->satellites);
    c->entities = calloc(count, sizeof *c->entities);
    return c->orbits && c->satellites && c->entities ? 0 : -1;
}

static void columns_fini(struct columns *c)
{
    free(c->orbits);
    free(c->satellites);
    free(c->entities);
}

static int create_satellites(struct screen_world *w, struct screen_result *r)
{
    struct columns near, deep;
    int result = columns_init(&near, sizeof(struct sgp4_near), r->catalogue.count);
    result |= columns_init(&deep, sizeof(struct sgp4_deep), r->catalogue.count);
    if (result == 0) {
        fill_columns(r, &near, &deep);
        result = create_kind(w, r, w->types.near, &near);
        if (result == 0) result = create_kind(w, r, w->types.deep, &deep);
    }
    columns_fini(&near);
    columns_fini(&deep);
    return result;
}

static weft_query query_of(struct screen_world *w, weft_component component)
{
    return weft_query_create(w->world, &(weft_query_desc){.terms = {{.component = component}}});
}

static int create_queries(struct screen_world *w)
{
    w->near_query = query_of(w, w->types.near);
    w->deep_query = query_of(w, w->types.deep);
    w->loss_query = query_of(w, w->types.loss);
    w->approach_archetype = weft_archetype_create(w->world, &w->types.approach, 1);
    w->loss_archetype = weft_archetype_create(w->world, &w->types.loss, 1);
    return w->near_query.id && w->deep_query.id && w->loss_query.id && w->approach_archetype.id &&
                   w->loss_archetype.id
               ? 0
               : -1;
}

static int build(struct screen_world *w, struct screen_result *r)
{
    if (register_types(w)) return -1;
    if (allocate(w, r->catalogue.count)) return -1;
    if (publish(w) || create_satellites(w, r)) return -1;
    return create_queries(w) || screen_systems_create(w) ? -1 : 0;
}

int screen_world_create(struct screen_world *w, const struct screen_options *options,
                        struct screen_result *result)
{
    *w = (struct screen_world){.options = options, .window = result->window};
    const weft_world_desc desc = {.name = "screen", .workers = options->workers};
    const weft_result created = weft_world_create(&desc, &w->world);
    if (created != WEFT_OK) {
        weft_cli_fail("screen", "cannot make a world of %u workers: %s", (unsigned)options->workers,
                      weft_result_text(created));
        return -1;
    }
    if (build(w, result) == 0) return 0;
    const weft_error *error = weft_world_error(w->world);
    weft_cli_fail("screen", "cannot set up: %s",
                  error->code != WEFT_OK ? error->text : "out of memory");
    return -1;
}

void screen_world_destroy(struct screen_world *w)
{
    weft_world_destroy(w->world);
    for (uint32_t k = 0; k < w->ephemeris.step_capacity; k++) {
        if (w->suspects.of_step) sky_pairs_fini(&w->suspects.of_step[k]);
    }
    ephemeris_fini(&w->ephemeris);
    free(w->near_places.who);
    free(w->bounds.of_worker);
    for (uint32_t i = 0; w->suspects.grid_of_worker && i < w->bounds.worker_count; i++)
        sky_grid_fini(&w->suspects.grid_of_worker[i]);
    free(w->suspects.grid_of_worker);
    free(w->suspects.of_step);
    free(w->suspects.is_failed);
    free(w->events.items);
    *w = (struct screen_world){.world = NULL};
}
