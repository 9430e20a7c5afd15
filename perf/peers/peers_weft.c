/* SPDX-License-Identifier: MIT */
/* peers_weft.c: the rows in weft, as a program that embeds it writes them, by public headers only.
 * One by one means one call for each entity, as in the other libraries, also where weft has a call
 * for many. Observers are run once, at the end: that is when weft calls them. */
#include "peers.h"

#include <stdio.h>
#include <weft/finder.h>
#include <weft/jobs.h>
#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/weft.h>

/* Owner: one run. */
typedef struct state {
    weft_world *world;
    weft_component position, velocity, health, relation;
    weft_archetype both;
    weft_component target, tag;
    weft_query moving;
    weft_recorder *recorder;
    weft_world *worlds[PEERS_WORLDS];
    weft_entity *entities, parent;
    uint32_t *order;
    Position *positions;
    Velocity *velocities;
    uint32_t n;
    uint64_t counted;
} state;

static void check(bool is_right)
{
    if (is_right) return;
    fprintf(stderr, "weft-peers: a call of weft failed\n");
    exit(1);
}

static void world_make(state *s)
{
    check(weft_world_create(&(weft_world_desc){.workers = 1}, &s->world) == WEFT_OK);
    s->position = weft_component_create(
        s->world, &(weft_component_desc){.name = "Position", .size = sizeof(Position)});
    s->velocity = weft_component_create(
        s->world, &(weft_component_desc){.name = "Velocity", .size = sizeof(Velocity)});
    s->both = WEFT_ARCHETYPE(s->world, s->position, s->velocity);
}

static state *state_make(uint32_t n)
{
    state *s = calloc(1, sizeof *s);
    check(s != NULL);
    s->n = n;
    s->entities = malloc(n * sizeof *s->entities);
    s->positions = malloc(n * sizeof *s->positions);
    s->velocities = malloc(n * sizeof *s->velocities);
    s->order = peers_order(n);
    check(s->entities != NULL && s->positions != NULL && s->velocities != NULL && s->order != NULL);
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

static void create_bulk(void *data)
{
    state *s = data;
    check(weft_entity_create_filled(
              s->world, s->both,
              WEFT_VALUES({s->position, s->positions}, {s->velocity, s->velocities}), s->n,
              s->entities) == WEFT_OK);
}

static void *open_full(uint32_t n, uint32_t workers)
{
    state *s = open_empty(n, workers);
    create_bulk(s);
    s->moving = weft_query_create(
        s->world,
        &(weft_query_desc){.terms = {{s->position, WEFT_WRITE}, {s->velocity, WEFT_READ}}});
    return s;
}

static void close_all(void *data)
{
    state *s = data;
    if (s->recorder != NULL) weft_recorder_destroy(s->recorder);
    if (s->world != NULL) weft_world_destroy(s->world);
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
        weft_entity made = weft_entity_create(s->world, s->both);
        weft_entity_set(s->world, made, s->position, &s->positions[i], sizeof(Position));
        weft_entity_set(s->world, made, s->velocity, &s->velocities[i], sizeof(Velocity));
    }
}

static void destroy(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) weft_entity_destroy(s->world, s->entities[s->order[i]]);
}

static void iterate(void *data)
{
    state *s = data;
    weft_cursor c = weft_query_begin(s->world, s->moving);
    while (weft_query_next(&c)) {
        Position *at = WEFT_WRITE_COLUMN(&c.slice, 0, Position);
        const Velocity *by = WEFT_READ_COLUMN(&c.slice, 1, Velocity);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) peers_move(&at[i], &by[i]);
    }
}

static void *open_fragments(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    for (uint32_t t = 0; t < PEERS_TAGS; t++) {
        char name[16];
        snprintf(name, sizeof name, "Tag%u", t);
        weft_component tag = weft_component_create(s->world, &(weft_component_desc){.name = name});
        for (uint32_t i = t; i < n; i += PEERS_TAGS) weft_entity_add(s->world, s->entities[i], tag);
    }
    return s;
}

static void *open_tables(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    for (uint32_t t = 0; t < PEERS_BITS; t++) {
        char name[16];
        snprintf(name, sizeof name, "Tag%u", t);
        weft_component tag = weft_component_create(s->world, &(weft_component_desc){.name = name});
        for (uint32_t i = 0; i < n; i++)
            if ((i >> t & 1) != 0) weft_entity_add(s->world, s->entities[i], tag);
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
    s->target = weft_component_create(
        s->world, &(weft_component_desc){.name = "Target", .size = sizeof(weft_entity)});
    for (uint32_t i = 0; i < n; i++)
        weft_entity_set(s->world, s->entities[i], s->target, &s->entities[s->order[i]],
                        sizeof(weft_entity));
    s->moving = weft_query_create(
        s->world, &(weft_query_desc){.terms = {{s->position, WEFT_WRITE}, {s->target, WEFT_READ}}});
    return s;
}

static void follow(void *data)
{
    state *s = data;
    weft_finder find = weft_finder_open(s->world, s->velocity);
    weft_cursor c = weft_query_begin(s->world, s->moving);
    while (weft_query_next(&c)) {
        Position *at = WEFT_WRITE_COLUMN(&c.slice, 0, Position);
        const weft_entity *target = weft_slice_read(&c.slice, 1);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            const Velocity *by = weft_finder_read(&find, target[i]);
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
        weft_query made = weft_query_create(
            s->world,
            &(weft_query_desc){.terms = {{s->position, WEFT_WRITE}, {s->velocity, WEFT_READ}}});
        s->counted += weft_query_is_empty(s->world, made) ? 0 : 1;
        weft_query_destroy(s->world, made);
    }
}

static void get(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        const Position *at = weft_entity_read(s->world, s->entities[s->order[i]], s->position);
        s->counted += at == NULL ? 0 : (uint64_t)at->x;
    }
}

static void has(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        s->counted += weft_entity_has(s->world, s->entities[s->order[i]], s->velocity);
}

static void copy(void *data)
{
    state *s = data;
    weft_entity first = s->entities[0];
    for (uint32_t i = 0; i < s->n; i++)
        check(weft_entity_instantiate(s->world, first, 1, &s->entities[i]) == WEFT_OK);
}

static void *open_copy(uint32_t n, uint32_t workers)
{
    state *s = open_empty(n, workers);
    s->n = 1;
    create_bulk(s);
    s->n = n;
    return s;
}

static void destroy_bulk(void *data)
{
    state *s = data;
    check(weft_query_destroy_entities(s->world, s->moving) == WEFT_OK);
}

static void set(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        weft_entity_set(s->world, s->entities[s->order[i]], s->position, &s->positions[i],
                        sizeof(Position));
}

static void count(const weft_observation *o, void *user)
{
    *(uint64_t *)user += o->count;
}

static void *open_health(uint32_t n, uint32_t flags, uint32_t event)
{
    state *s = open_full(n, 1);
    s->health = weft_component_create(
        s->world, &(weft_component_desc){.name = "Health", .size = sizeof(Health), .flags = flags});
    if (event == 0) return s;
    weft_observer made = weft_observer_create(
        s->world,
        &(weft_observer_desc){.name = "counts",
                              .on = event,
                              .component = event == WEFT_ON_ADDED ? s->health : s->position,
                              .run = count,
                              .user = &s->counted});
    check(made.id != 0);
    return s;
}

static void *open_add(uint32_t n, uint32_t workers)
{
    (void)workers;
    return open_health(n, 0, 0);
}

static void *open_observed_create(uint32_t n, uint32_t workers)
{
    state *s = open_empty(n, workers);
    weft_observer made =
        weft_observer_create(s->world, &(weft_observer_desc){.name = "counts",
                                                             .on = WEFT_ON_ADDED,
                                                             .component = s->position,
                                                             .run = count,
                                                             .user = &s->counted});
    check(made.id != 0);
    return s;
}

static void create_observed(void *data)
{
    create_bulk(data);
    check(weft_observers_run(((state *)data)->world) == WEFT_OK);
}

static void *open_enable(uint32_t n, uint32_t workers)
{
    (void)workers;
    state *s = open_health(n, WEFT_ENABLEABLE, 0);
    Health *points = calloc(n, sizeof *points);
    check(points != NULL && weft_entity_set_many(s->world, s->entities, n, s->health, points,
                                                 sizeof *points) == WEFT_OK);
    free(points);
    return s;
}

static void enable(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        weft_entity_enable(s->world, s->entities[s->order[i]], s->health, false);
}

static uint64_t sum_enabled(const void *data)
{
    const state *s = data;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += weft_entity_is_enabled(s->world, s->entities[i], s->health);
    return sum + s->n;
}

static void *open_tag(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    s->tag = weft_component_create(s->world, &(weft_component_desc){.name = "Tag"});
    return s;
}

static void tag_add(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) weft_entity_add(s->world, s->entities[s->order[i]], s->tag);
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
    for (uint32_t i = 0; i < s->n; i++)
        weft_entity_remove(s->world, s->entities[s->order[i]], s->tag);
}

static uint64_t sum_tagged(const void *data)
{
    const state *s = data;
    uint64_t sum = s->n;
    for (uint32_t i = 0; i < s->n; i++) sum += weft_entity_has(s->world, s->entities[i], s->tag);
    return sum;
}

static void *open_sparse(uint32_t n, uint32_t workers)
{
    (void)workers;
    return open_health(n, WEFT_SPARSE, 0);
}

static void *open_observed_add(uint32_t n, uint32_t workers)
{
    (void)workers;
    return open_health(n, 0, WEFT_ON_ADDED);
}

static void *open_observed_set(uint32_t n, uint32_t workers)
{
    (void)workers;
    return open_health(n, 0, WEFT_ON_CHANGED);
}

static void add(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        weft_entity_set(s->world, s->entities[s->order[i]], s->health, &(Health){i},
                        sizeof(Health));
}

/* The values lie in an array, as those of the others. */
static void add_bulk(void *data)
{
    state *s = data;
    check(weft_entity_set_many(s->world, s->entities, s->n, s->health, s->order, sizeof(Health)) ==
          WEFT_OK);
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
        weft_entity_remove(s->world, s->entities[s->order[i]], s->health);
}

static void remove_bulk(void *data)
{
    state *s = data;
    weft_query all = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->health}}});
    check(weft_query_remove(s->world, all, s->health) == WEFT_OK);
}

static void *open_sparse_full(uint32_t n, uint32_t workers)
{
    state *s = open_sparse(n, workers);
    add_bulk(s);
    return s;
}

static void add_order(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        weft_entity_set(s->world, s->entities[i], s->health, &(Health){i}, sizeof(Health));
}

static void get_health(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        const Health *health = weft_entity_read(s->world, s->entities[s->order[i]], s->health);
        s->counted += health == NULL ? 0 : health->points;
    }
}

static void add_bulk_observed(void *data)
{
    add_bulk(data);
    check(weft_observers_run(((state *)data)->world) == WEFT_OK);
}

static void *open_commands(uint32_t n, uint32_t workers)
{
    state *s = open_add(n, workers);
    check(weft_recorder_create(s->world, &s->recorder) == WEFT_OK);
    return s;
}

static void commands_add(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        weft_recorder_set(s->recorder, s->entities[s->order[i]], s->health, &(Health){i},
                          sizeof(Health));
    check(weft_recorder_play(s->recorder) == WEFT_OK);
}

static void *open_commands_empty(uint32_t n, uint32_t workers)
{
    state *s = open_empty(n, workers);
    check(weft_recorder_create(s->world, &s->recorder) == WEFT_OK);
    return s;
}

static void commands_create(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        weft_entity made = weft_recorder_create_entity(s->recorder, s->both);
        weft_recorder_set(s->recorder, made, s->position, &s->positions[i], sizeof(Position));
        weft_recorder_set(s->recorder, made, s->velocity, &s->velocities[i], sizeof(Velocity));
    }
    check(weft_recorder_play(s->recorder) == WEFT_OK);
}

static void commands_destroy(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        weft_recorder_destroy_entity(s->recorder, s->entities[s->order[i]]);
    check(weft_recorder_play(s->recorder) == WEFT_OK);
}

static void *open_names(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    for (uint32_t i = 0; i < n; i++) {
        char name[PEERS_NAME];
        peers_name(name, i);
        weft_entity_set_name(s->world, s->entities[i], name);
    }
    return s;
}

static void names(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        char name[PEERS_NAME];
        peers_name(name, s->order[i]);
        weft_entity found = weft_entity_find(s->world, name);
        s->counted += weft_entity_equal(found, s->entities[s->order[i]]);
    }
}

static void add_observed(void *data)
{
    add(data);
    check(weft_observers_run(((state *)data)->world) == WEFT_OK);
}

static void set_observed(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        Position at = s->positions[s->order[i]];
        at.z = 2;
        weft_entity_set(s->world, s->entities[s->order[i]], s->position, &at, sizeof at);
    }
    check(weft_observers_run(s->world) == WEFT_OK);
}

static void *open_children(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    s->relation = weft_component_parent(s->world);
    s->parent = weft_entity_create(s->world, s->both);
    return s;
}

static void children(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        weft_relation_set(s->world, s->entities[i], s->relation, s->parent);
    check(weft_relation_settle(s->world) == WEFT_OK);
}

static void *open_trees(uint32_t n, uint32_t workers)
{
    state *s = open_full(n, workers);
    s->relation = weft_component_parent(s->world);
    return s;
}

static void trees(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++)
        if (i % PEERS_TREE != 0)
            weft_relation_set(s->world, s->entities[i], s->relation,
                              s->entities[i - i % PEERS_TREE]);
    check(weft_relation_settle(s->world) == WEFT_OK);
}

static void *open_trees_pass(uint32_t n, uint32_t workers)
{
    state *s = open_trees(n, workers);
    trees(s);
    s->moving = weft_query_create(
        s->world,
        &(weft_query_desc){.terms = {{s->position, WEFT_WRITE}, {s->relation, WEFT_READ}}});
    return s;
}

/* Children alone have the relation, and no child is a parent. */
static void trees_pass(void *data)
{
    state *s = data;
    weft_finder find = weft_finder_open(s->world, s->position);
    weft_cursor c = weft_query_begin(s->world, s->moving);
    while (weft_query_next(&c)) {
        Position *at = WEFT_WRITE_COLUMN(&c.slice, 0, Position);
        const weft_target *parent = WEFT_READ_COLUMN(&c.slice, 1, weft_target);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            peers_add(&at[i], weft_finder_read(&find, parent[i].entity));
    }
}

static uint64_t sum_trees(const void *data)
{
    const state *s = data;
    uint64_t sum = 0;
    uint32_t found;
    for (uint32_t i = 0; i < s->n; i += PEERS_TREE) {
        weft_relation_sources(s->world, s->relation, s->entities[i], &found);
        sum += found;
    }
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
    check(weft_entity_create_filled(
              s->world, s->both,
              WEFT_VALUES({s->position, s->positions}, {s->velocity, s->velocities}), PEERS_SMALL,
              s->entities) == WEFT_OK);
    s->counted += PEERS_SMALL;
}

static void worlds(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        world_fill(s);
        weft_world_destroy(s->world);
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
        weft_world_destroy(s->worlds[i]);
        s->worlds[i] = NULL;
    }
}

static void close_worlds(void *data)
{
    for (uint32_t i = 0; i < PEERS_WORLDS; i++)
        if (((state *)data)->worlds[i] != NULL) weft_world_destroy(((state *)data)->worlds[i]);
    close_all(data);
}

/* ---- what came of it ---- */

static uint64_t sum_positions(const void *data)
{
    const state *s = data;
    uint64_t sum = 0;
    weft_query all =
        weft_query_create(s->world, &(weft_query_desc){.terms = {{s->position, WEFT_READ}}});
    weft_cursor c = weft_query_begin(s->world, all);
    while (weft_query_next(&c)) {
        const Position *at = WEFT_READ_COLUMN(&c.slice, 0, Position);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) sum += peers_sum(&at[i]) + 1;
    }
    return sum;
}

static uint64_t sum_health(const void *data)
{
    const state *s = data;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const Health *health = weft_entity_has(s->world, s->entities[i], s->health)
                                   ? weft_entity_read(s->world, s->entities[i], s->health)
                                   : NULL;
        sum += health == NULL ? 1 : health->points * 2;
    }
    return sum;
}

static uint64_t sum_children(const void *data)
{
    const state *s = data;
    uint32_t found;
    weft_relation_sources(s->world, s->relation, s->parent, &found);
    return found;
}

static uint64_t sum_counted(const void *data)
{
    return ((const state *)data)->counted;
}

/* ---- jobs ---- */

/* Owner: one run. */
typedef struct jobs {
    weft_job_pool *pool;
    weft_job_graph *graph;
    uint32_t *cells;
    uint32_t n;
} jobs;

static int tick(weft_job_context *job, void *argument)
{
    (void)job;
    ++*(uint32_t *)argument;
    return 0;
}

static void *open_jobs(uint32_t n, uint32_t workers)
{
    jobs *s = calloc(1, sizeof *s);
    check(s != NULL);
    s->n = n;
    s->cells = calloc(n, sizeof *s->cells);
    check(s->cells != NULL && weft_job_pool_create(&(weft_job_pool_desc){.worker_count = workers},
                                                   &s->pool) == WEFT_OK);
    return s;
}

static void graph_make(jobs *s, const uint32_t (*edges)[2], uint32_t edge_count)
{
    weft_job_graph_node *nodes = calloc(s->n, sizeof *nodes);
    check(nodes != NULL);
    for (uint32_t i = 0; i < s->n; i++)
        nodes[i] = (weft_job_graph_node){.fn = tick, .argument = &s->cells[i]};
    weft_job_graph_desc desc = {
        .nodes = nodes, .node_count = s->n, .edges = edges, .edge_count = edge_count};
    check(weft_job_graph_create(s->pool, &desc, &s->graph) == WEFT_OK);
    free(nodes);
}

static void run_graph(void *data)
{
    jobs *s = data;
    weft_job_graph_run(weft_job_pool_owner(s->pool), s->graph, NULL);
}

static void *open_chain(uint32_t n, uint32_t workers)
{
    jobs *s = open_jobs(n, workers);
    uint32_t(*edges)[2] = malloc(n * sizeof *edges);
    check(edges != NULL);
    for (uint32_t i = 1; i < n; i++) {
        edges[i - 1][0] = i - 1;
        edges[i - 1][1] = i;
    }
    graph_make(s, (const uint32_t(*)[2])edges, n - 1);
    free(edges);
    run_graph(s);
    return s;
}

static void *open_layers(uint32_t n, uint32_t workers)
{
    jobs *s = open_jobs(n, workers);
    uint32_t width = n / PEERS_LAYERS, count = 0;
    uint32_t(*edges)[2] = malloc(2 * n * sizeof *edges);
    check(edges != NULL);
    for (uint32_t i = width; i < n; i++)
        for (uint32_t k = 0; k < 2; k++, count++) {
            edges[count][0] = i / width * width - width + (i + k) % width;
            edges[count][1] = i;
        }
    graph_make(s, (const uint32_t(*)[2])edges, count);
    free(edges);
    run_graph(s);
    return s;
}

static void spawn(void *data)
{
    jobs *s = data;
    weft_job_context *owner = weft_job_pool_owner(s->pool);
    for (uint32_t i = 0; i < s->n; i++) weft_job_child(owner, tick, &s->cells[i]);
    weft_job_children_wait(owner);
}

static int work(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    for (uint32_t i = begin; i < end; i++) ((jobs *)argument)->cells[i] += peers_work(i);
    return 0;
}

static void loop(void *data)
{
    jobs *s = data;
    weft_job_for(weft_job_pool_owner(s->pool),
                 &(weft_job_for_desc){.fn = work, .argument = s, .count = s->n}, NULL);
}

static uint64_t sum_cells(const void *data)
{
    const jobs *s = data;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++) sum += s->cells[i];
    return sum;
}

static void close_jobs(void *data)
{
    jobs *s = data;
    if (s->graph != NULL) weft_job_graph_destroy(s->graph);
    weft_job_pool_destroy(s->pool);
    free(s->cells);
    free(s);
}

static const peers_case cases[] = {
    {"create", open_empty, create, sum_positions, close_all},
    {"create.bulk", open_empty, create_bulk, sum_positions, close_all},
    {"create.observed", open_observed_create, create_observed, sum_counted, close_all},
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
    {"observe.add", open_observed_add, add_observed, sum_counted, close_all},
    {"observe.add.bulk", open_observed_add, add_bulk_observed, sum_counted, close_all},
    {"observe.set", open_observed_set, set_observed, sum_counted, close_all},
    {"commands.add", open_commands, commands_add, sum_health, close_all},
    {"commands.create", open_commands_empty, commands_create, sum_positions, close_all},
    {"commands.destroy", open_commands, commands_destroy, sum_positions, close_all},
    {"name", open_names, names, sum_counted, close_all},
    {"children", open_children, children, sum_children, close_all},
    {"trees", open_trees, trees, sum_trees, close_all},
    {"trees.pass", open_trees_pass, trees_pass, sum_positions, close_all},
    {"world", open_none, worlds, sum_counted, close_all},
    {"world.make", open_none, worlds_make, sum_counted, close_worlds},
    {"world.end", open_worlds, worlds_end, sum_counted, close_worlds},
    {"jobs.spawn", open_jobs, spawn, sum_cells, close_jobs},
    {"jobs.for", open_jobs, loop, sum_cells, close_jobs},
    {"jobs.chain", open_chain, run_graph, sum_cells, close_jobs},
    {"jobs.layers", open_layers, run_graph, sum_cells, close_jobs},
    {NULL, NULL, NULL, NULL, NULL},
};

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
const peers_library peers_weft = {
    "weft", TEXT(WEFT_VERSION_MAJOR) "." TEXT(WEFT_VERSION_MINOR) "." TEXT(WEFT_VERSION_PATCH),
    cases};
