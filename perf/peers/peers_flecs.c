/* SPDX-License-Identifier: MIT */
/* peers_flecs.c: the rows in flecs 4, as its manual writes them: components by id, a cached query,
 * observers, ChildOf for children. The world is a small one, without the modules that no row needs.
 * Nothing is checked: what went wrong shows in the sums. */
#include "peers.h"

#include <flecs.h>
#include <stdio.h>
#include <string.h>

/* Owner: one run. */
typedef struct state {
    ecs_world_t *world;
    ecs_entity_t position, velocity, health, target, tag, parent;
    ecs_world_t *worlds[PEERS_WORLDS];
    ecs_query_t *moving;
    ecs_entity_t *entities;
    uint32_t *order;
    Position *positions;
    Velocity *velocities;
    uint32_t n;
    uint64_t counted;
} state;

static ecs_entity_t component(ecs_world_t *world, const char *name, size_t size)
{
    ecs_entity_t entity = ecs_entity_init(world, &(ecs_entity_desc_t){.name = name});
    return ecs_component_init(
        world, &(ecs_component_desc_t){.entity = entity,
                                       .type = {.size = (ecs_size_t)size, .alignment = 4}});
}

static void world_make(state *s)
{
    s->world = ecs_mini(); /* without the modules that no row needs */
    s->position = component(s->world, "Position", sizeof(Position));
    s->velocity = component(s->world, "Velocity", sizeof(Velocity));
}

static state *state_make(uint32_t n)
{
    state *s = calloc(1, sizeof *s);
    s->n = n;
    s->entities = malloc(n * sizeof *s->entities);
    s->positions = malloc(n * sizeof *s->positions);
    s->velocities = malloc(n * sizeof *s->velocities);
    s->order = peers_order(n);
    for (uint32_t i = 0; i < n; i++) {
        s->positions[i] = peers_position(i);
        s->velocities[i] = peers_velocity(i);
    }
    return s;
}

static void *open_empty(uint32_t n, uint32_t workers)
{
    (void)workers;
    state *s = state_make(n);
    world_make(s);
    return s;
}

static void bulk(state *s, uint32_t n)
{
    void *data[2] = {s->positions, s->velocities};
    const ecs_entity_t *made = ecs_bulk_init(
        s->world,
        &(ecs_bulk_desc_t){.count = (int32_t)n, .ids = {s->position, s->velocity}, .data = data});
    memcpy(s->entities, made, n * sizeof *made);
}

static void create_bulk(void *data)
{
    bulk(data, ((state *)data)->n);
}

static void *open_full(uint32_t n, uint32_t workers)
{
    state *s = open_empty(n, workers);
    create_bulk(s);
    s->moving = ecs_query_init(
        s->world,
        &(ecs_query_desc_t){.terms = {{.id = s->position}, {.id = s->velocity, .inout = EcsIn}},
                            .cache_kind = EcsQueryCacheAuto});
    return s;
}

static void close_all(void *data)
{
    state *s = data;
    if (s->moving != NULL) ecs_query_fini(s->moving);
    if (s->world != NULL) ecs_fini(s->world);
    free(s->entities);
    free(s->positions);
    free(s->velocities);
    free(s->order);
    free(s);
}

static void create(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        ecs_entity_t made = ecs_new(s->world);
        ecs_set_id(s->world, made, s->position, sizeof(Position), &s->positions[i]);
        ecs_set_id(s->world, made, s->velocity, sizeof(Velocity), &s->velocities[i]);
    }
}

static void destroy(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) ecs_delete(s->world, s->entities[s->order[i]]);
}

static void iterate(void *data)
{
    state *s = data;
    ecs_iter_t it = ecs_query_iter(s->world, s->moving);
    while (ecs_query_next(&it)) {
        Position *at = ecs_field(&it, Position, 0);
        const Velocity *by = ecs_field(&it, Velocity, 1);
        for (int32_t i = 0; i < it.count; i++) peers_move(&at[i], &by[i]);
    }
}

static void *open_fragments(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    for (uint32_t t = 0; t < PEERS_TAGS; t++) {
        ecs_entity_t tag = ecs_new(s->world);
        for (uint32_t i = t; i < n; i += PEERS_TAGS) ecs_add_id(s->world, s->entities[i], tag);
    }
    return s;
}

static void *open_tables(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    for (uint32_t t = 0; t < PEERS_BITS; t++) {
        ecs_entity_t tag = ecs_new(s->world);
        for (uint32_t i = 0; i < n; i++)
            if ((i >> t & 1) != 0) ecs_add_id(s->world, s->entities[i], tag);
    }
    return s;
}

static void *open_few(uint32_t n, uint32_t workers)
{
    state *s = open_full(10, workers);
    s->n = n;
    return s;
}

static void passes(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) iterate(s);
}

static void *open_follow(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    s->target = component(s->world, "Target", sizeof(ecs_entity_t));
    for (uint32_t i = 0; i < n; i++)
        ecs_set_id(s->world, s->entities[i], s->target, sizeof(ecs_entity_t),
                   &s->entities[s->order[i]]);
    ecs_query_fini(s->moving);
    s->moving = ecs_query_init(
        s->world,
        &(ecs_query_desc_t){.terms = {{.id = s->position}, {.id = s->target, .inout = EcsIn}},
                            .cache_kind = EcsQueryCacheAuto});
    return s;
}

static void follow(void *data)
{
    state *s = data;
    ecs_iter_t it = ecs_query_iter(s->world, s->moving);
    while (ecs_query_next(&it)) {
        Position *at = ecs_field(&it, Position, 0);
        const ecs_entity_t *target = ecs_field(&it, ecs_entity_t, 1);
        for (int32_t i = 0; i < it.count; i++) {
            const Velocity *by = ecs_get_id(s->world, target[i], s->velocity);
            if (by != NULL) peers_move(&at[i], by);
        }
    }
}

static void *open_queries(uint32_t n, uint32_t workers)
{
    state *s = open_tables(1u << PEERS_BITS, workers);
    s->n = n;
    return s;
}

static void queries(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        ecs_query_t *made = ecs_query_init(
            s->world,
            &(ecs_query_desc_t){.terms = {{.id = s->position}, {.id = s->velocity, .inout = EcsIn}},
                                .cache_kind = EcsQueryCacheAuto});
        s->counted += ecs_query_is_true(made);
        ecs_query_fini(made);
    }
}

static void get(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        const Position *at = ecs_get_id(s->world, s->entities[s->order[i]], s->position);
        s->counted += at == NULL ? 0 : (uint64_t)at->x;
    }
}

static void has(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        s->counted += ecs_has_id(s->world, s->entities[s->order[i]], s->velocity);
}

static void *open_copy(uint32_t n, uint32_t workers)
{
    state *s = open_empty(n, workers);
    bulk(s, 1);
    return s;
}

static void copy(void *data)
{
    state *s = data;
    ecs_entity_t first = s->entities[0];
    for (uint32_t i = 0; i < s->n; i++) s->entities[i] = ecs_clone(s->world, 0, first, true);
}

static void destroy_bulk(void *data)
{
    state *s = data;
    ecs_delete_with(s->world, s->position);
}

static void set(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        ecs_set_id(s->world, s->entities[s->order[i]], s->position, sizeof(Position),
                   &s->positions[i]);
}

static void *open_add(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    s->health = component(s->world, "Health", sizeof(Health));
    return s;
}

static void *open_sparse(uint32_t n, uint32_t workers)
{
    state *s = open_add(n, workers);
    ecs_add_id(s->world, s->health, EcsSparse);
    ecs_add_id(s->world, s->health, EcsDontFragment);
    return s;
}

static void count(ecs_iter_t *it)
{
    *(uint64_t *)it->ctx += (uint64_t)it->count;
}

static void observe(state *s, ecs_entity_t component, ecs_entity_t event)
{
    ecs_observer_init(s->world, &(ecs_observer_desc_t){.query.terms = {{.id = component}},
                                                       .events = {event},
                                                       .callback = count,
                                                       .ctx = &s->counted});
}

static void *open_observed_create(uint32_t n, uint32_t workers)
{
    state *s = open_empty(n, workers);
    observe(s, s->position, EcsOnAdd);
    return s;
}

static void *open_tag(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    s->tag = ecs_new(s->world);
    return s;
}

static void tag_add(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) ecs_add_id(s->world, s->entities[s->order[i]], s->tag);
}

static void *open_tagged(uint32_t n, uint32_t workers)
{
    state *s = open_tag(n, workers);
    tag_add(s);
    return s;
}

static void tag_remove(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) ecs_remove_id(s->world, s->entities[s->order[i]], s->tag);
}

static uint64_t sum_tagged(const void *data)
{
    const state *s = data;
    uint64_t sum = s->n;
    for (uint32_t i = 0; i < s->n; i++) sum += ecs_has_id(s->world, s->entities[i], s->tag);
    return sum;
}

static void *open_observed_add(uint32_t n, uint32_t workers)
{
    state *s = open_add(n, workers);
    observe(s, s->health, EcsOnAdd);
    return s;
}

static void *open_observed_set(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    observe(s, s->position, EcsOnSet);
    return s;
}

static void add(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        ecs_set_id(s->world, s->entities[s->order[i]], s->health, sizeof(Health), &(Health){i});
}

/* It has no call for many entities that exist. */
static void add_bulk(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        ecs_set_id(s->world, s->entities[i], s->health, sizeof(Health), &(Health){s->order[i]});
}

static void add_order(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        ecs_set_id(s->world, s->entities[i], s->health, sizeof(Health), &(Health){i});
}

static void *open_enable(uint32_t n, uint32_t workers)
{
    state *s = open_add(n, workers);
    ecs_add_id(s->world, s->health, EcsCanToggle);
    add(s);
    return s;
}

static void enable(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        ecs_enable_id(s->world, s->entities[s->order[i]], s->health, false);
}

static uint64_t sum_enabled(const void *data)
{
    const state *s = data;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += ecs_is_enabled_id(s->world, s->entities[i], s->health);
    return sum + s->n;
}

static void *open_sparse_full(uint32_t n, uint32_t workers)
{
    state *s = open_sparse(n, workers);
    add_bulk(s);
    return s;
}

static void get_health(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        const Health *health = ecs_get_id(s->world, s->entities[s->order[i]], s->health);
        s->counted += health == NULL ? 0 : health->points;
    }
}

static void remove_bulk(void *data)
{
    state *s = data;
    ecs_remove_all(s->world, s->health);
}

static void commands_add(void *data)
{
    state *s = data;
    ecs_defer_begin(s->world);
    add(s);
    ecs_defer_end(s->world);
}

static void commands_create(void *data)
{
    state *s = data;
    ecs_defer_begin(s->world);
    create(s);
    ecs_defer_end(s->world);
}

static void commands_destroy(void *data)
{
    state *s = data;
    ecs_defer_begin(s->world);
    destroy(s);
    ecs_defer_end(s->world);
}

static void *open_names(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    for (uint32_t i = 0; i < n; i++) {
        char name[PEERS_NAME];
        peers_name(name, i);
        ecs_set_name(s->world, s->entities[i], name);
    }
    return s;
}

static void names(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        char name[PEERS_NAME];
        peers_name(name, s->order[i]);
        s->counted += ecs_lookup(s->world, name) == s->entities[s->order[i]];
    }
}

static void *open_remove(uint32_t n, uint32_t workers)
{
    state *s = open_add(n, workers);
    add(s);
    return s;
}

static void remove_all(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        ecs_remove_id(s->world, s->entities[s->order[i]], s->health);
}

static void set_observed(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        Position at = s->positions[s->order[i]];
        at.z = 2;
        ecs_set_id(s->world, s->entities[s->order[i]], s->position, sizeof at, &at);
    }
}

static void *open_children(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    s->parent = ecs_new(s->world);
    return s;
}

static void children(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        ecs_add_id(s->world, s->entities[i], ecs_pair(EcsChildOf, s->parent));
}

static void trees(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        if (i % PEERS_TREE != 0)
            ecs_add_id(s->world, s->entities[i],
                       ecs_pair(EcsChildOf, s->entities[i - i % PEERS_TREE]));
}

static void *open_trees_pass(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    trees(s);
    ecs_query_fini(s->moving);
    s->moving = ecs_query_init(s->world, &(ecs_query_desc_t){.terms = {{.id = s->position},
                                                                       {.id = s->position,
                                                                        .inout = EcsIn,
                                                                        .src.id = EcsCascade,
                                                                        .trav = EcsChildOf}},
                                                             .cache_kind = EcsQueryCacheAuto});
    return s;
}

static void trees_pass(void *data)
{
    state *s = data;
    ecs_iter_t it = ecs_query_iter(s->world, s->moving);
    while (ecs_query_next(&it)) {
        Position *at = ecs_field(&it, Position, 0);
        const Position *above = ecs_field(&it, Position, 1);
        for (int32_t i = 0; i < it.count; i++) peers_add(&at[i], above);
    }
}

static uint64_t sum_trees(const void *data)
{
    const state *s = data;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i += PEERS_TREE)
        sum += (uint64_t)ecs_count_id(s->world, ecs_pair(EcsChildOf, s->entities[i]));
    return sum;
}

static void *open_none(uint32_t n, uint32_t workers)
{
    (void)workers;
    state *s = state_make(PEERS_SMALL);
    s->n = n;
    return s;
}

static void world_fill(state *s)
{
    world_make(s);
    bulk(s, PEERS_SMALL);
    s->counted += PEERS_SMALL;
}

static void worlds(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        world_fill(s);
        ecs_fini(s->world);
    }
    s->world = NULL;
}

static void worlds_make(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        world_fill(s);
        s->worlds[i] = s->world;
    }
    s->world = NULL;
}

static void *open_worlds(uint32_t n, uint32_t workers)
{
    state *s = open_none(n, workers);
    worlds_make(s);
    return s;
}

static void worlds_end(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        ecs_fini(s->worlds[i]);
        s->worlds[i] = NULL;
    }
}

static void close_worlds(void *data)
{
    for (uint32_t i = 0; i < PEERS_WORLDS; i++)
        if (((state *)data)->worlds[i] != NULL) ecs_fini(((state *)data)->worlds[i]);
    close_all(data);
}

static uint64_t sum_positions(const void *data)
{
    const state *s = data;
    uint64_t sum = 0;
    ecs_iter_t it = ecs_each_id(s->world, s->position);
    while (ecs_each_next(&it)) {
        const Position *at = ecs_field(&it, Position, 0);
        for (int32_t i = 0; i < it.count; i++) sum += peers_sum(&at[i]) + 1;
    }
    return sum;
}

static uint64_t sum_health(const void *data)
{
    const state *s = data;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const Health *health = ecs_get_id(s->world, s->entities[i], s->health);
        sum += health == NULL ? 1 : health->points * 2;
    }
    return sum;
}

static uint64_t sum_children(const void *data)
{
    const state *s = data;
    return (uint64_t)ecs_count_id(s->world, ecs_pair(EcsChildOf, s->parent));
}

static uint64_t sum_counted(const void *data)
{
    return ((const state *)data)->counted;
}

static const peers_case cases[] = {
    {"create", open_empty, create, sum_positions, close_all},
    {"create.bulk", open_empty, create_bulk, sum_positions, close_all},
    {"create.observed", open_observed_create, create_bulk, sum_counted, close_all},
    {"copy", open_copy, copy, sum_positions, close_all},
    {"destroy", open_full, destroy, sum_positions, close_all},
    {"destroy.bulk", open_full, destroy_bulk, sum_positions, close_all},
    {"iterate", open_full, iterate, sum_positions, close_all},
    {"iterate.fragments", open_fragments, iterate, sum_positions, close_all},
    {"iterate.tables", open_tables, iterate, sum_positions, close_all},
    {"iterate.few", open_few, passes, sum_positions, close_all},
    {"follow", open_follow, follow, sum_positions, close_all},
    {"query", open_queries, queries, sum_counted, close_all},
    {"get", open_full, get, sum_counted, close_all},
    {"has", open_full, has, sum_counted, close_all},
    {"set", open_full, set, sum_positions, close_all},
    {"add", open_add, add, sum_health, close_all},
    {"add.bulk", open_add, add_bulk, sum_health, close_all},
    {"remove", open_remove, remove_all, sum_health, close_all},
    {"remove.bulk", open_remove, remove_bulk, sum_health, close_all},
    {"tag.add", open_tag, tag_add, sum_tagged, close_all},
    {"tag.remove", open_tagged, tag_remove, sum_tagged, close_all},
    {"enable", open_enable, enable, sum_enabled, close_all},
    {"sparse.add", open_sparse, add, sum_health, close_all},
    {"sparse.add.order", open_sparse, add_order, sum_health, close_all},
    {"sparse.get", open_sparse_full, get_health, sum_counted, close_all},
    {"sparse.remove", open_sparse_full, remove_all, sum_health, close_all},
    {"observe.add", open_observed_add, add, sum_counted, close_all},
    {"observe.add.bulk", open_observed_add, add_bulk, sum_counted, close_all},
    {"observe.set", open_observed_set, set_observed, sum_counted, close_all},
    {"commands.add", open_add, commands_add, sum_health, close_all},
    {"commands.create", open_empty, commands_create, sum_positions, close_all},
    {"commands.destroy", open_full, commands_destroy, sum_positions, close_all},
    {"name", open_names, names, sum_counted, close_all},
    {"children", open_children, children, sum_children, close_all},
    {"trees", open_full, trees, sum_trees, close_all},
    {"trees.pass", open_trees_pass, trees_pass, sum_positions, close_all},
    {"world", open_none, worlds, sum_counted, close_all},
    {"world.make", open_none, worlds_make, sum_counted, close_worlds},
    {"world.end", open_worlds, worlds_end, sum_counted, close_worlds},
    {NULL, NULL, NULL, NULL, NULL},
};

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
const peers_library peers_flecs = {
    "flecs", TEXT(FLECS_VERSION_MAJOR) "." TEXT(FLECS_VERSION_MINOR) "." TEXT(FLECS_VERSION_PATCH),
    cases};
