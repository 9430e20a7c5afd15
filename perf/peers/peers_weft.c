/* SPDX-License-Identifier: MIT */
/* peers_weft.c: the rows in weft, as a program that embeds it writes them, by public headers only.
 * One by one means one call for each entity, as in the other libraries, also where weft has a call
 * for many. Observers are run once, at the end: that is when weft calls them. */
#include "peers.h"

#include <stdio.h>
#include <weft/jobs.h>
#include <weft/observer.h>
#include <weft/weft.h>

/* Owner: one run. */
typedef struct state {
    weft_world *world;
    weft_component position, velocity, health, relation;
    weft_archetype both;
    weft_query moving;
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

static void get(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        const Position *at = weft_entity_read(s->world, s->entities[s->order[i]], s->position);
        s->counted += at == NULL ? 0 : (uint64_t)at->x;
    }
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

static void *open_none(uint32_t n, uint32_t workers)
{
    (void)workers;
    state *s = state_make(1000);
    s->n = n;
    return s;
}

static void worlds(void *data)
{
    state *s = data;
    for (uint32_t i = 0; i < s->n; i++) {
        world_make(s);
        check(weft_entity_create_filled(
                  s->world, s->both,
                  WEFT_VALUES({s->position, s->positions}, {s->velocity, s->velocities}), 1000,
                  s->entities) == WEFT_OK);
        s->counted += 1000;
        weft_world_destroy(s->world);
    }
    s->world = NULL;
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
    {"destroy", open_full, destroy, sum_positions, close_all},
    {"iterate", open_full, iterate, sum_positions, close_all},
    {"iterate.fragments", open_fragments, iterate, sum_positions, close_all},
    {"get", open_full, get, sum_counted, close_all},
    {"set", open_full, set, sum_positions, close_all},
    {"add", open_add, add, sum_health, close_all},
    {"remove", open_remove, remove_all, sum_health, close_all},
    {"sparse.add", open_sparse, add, sum_health, close_all},
    {"observe.add", open_observed_add, add_observed, sum_counted, close_all},
    {"observe.set", open_observed_set, set_observed, sum_counted, close_all},
    {"children", open_children, children, sum_children, close_all},
    {"world", open_none, worlds, sum_counted, close_all},
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
