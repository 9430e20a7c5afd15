/* SPDX-License-Identifier: MIT */
/* stress_threads.c: `weft stress threads`: two to four host threads that do at once whatever the
 * rules of docs/reference/threads.md allow.
 *
 * A round has phases. In each, a host owns one of the worlds on the pool and holds a recorder of
 * another; it draws actions: steps, loops, snapshots, files, jobs from outside and as a guest, lent
 * threads, small worlds and pools, blobs of one store, values as text, and look-ups in a world that
 * another host steps without changing its structure. Between phases worlds and recorders are handed
 * over by a barrier. Every world has a model, an array of numbers, that its owner changes as the
 * world should change; sums are compared after each action. A watchdog ends a round in which no
 * thread goes on, and says what each was doing.
 *
 * Which command of which recorder comes first, what a system records, who helps whom: nothing that
 * depends on timing is hashed.
 */
#include "stress_host.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hash.h"

/* ---- actions on the own world ---- */

static void act_step(host *h)
{
    place *p = h->owned;
    for (uint32_t i = 1 + weft_stress_below(h, 3); i > 0; i--) {
        p->sum = 0;
        memset(p->scratch, 0, sizeof p->scratch);
        const float dt = (float)weft_stress_below(h, 2);
        EXPECT_OK(h, weft_world_step(p->world, dt));
        weft_stress_model_step(p);
        EXPECT(h, p->sum == weft_stress_sum(&p->model));
        EXPECT(h, p->told == ++p->steps);
        for (uint32_t k = 0; k < 4; k++) EXPECT(h, p->scratch[k] == 500);
    }
}

static void add_one(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) values[i]++;
}

static void act_each(host *h)
{
    EXPECT_OK(h, weft_query_each_parallel(h->owned->world, h->owned->all, add_one, NULL));
    for (uint32_t i = 0; i < h->owned->model.count; i++) h->owned->model.at[i]++;
}

static void act_loop(host *h)
{
    place *p = h->owned;
    weft_cursor cursor = weft_query_begin(p->world, p->all);
    while (weft_query_next(&cursor)) {
        uint32_t *values = weft_slice_write(&cursor.slice, 0);
        for (uint32_t i = 0; i < cursor.slice.count; i++) values[i] ^= 5;
    }
    for (uint32_t i = 0; i < p->model.count; i++) p->model.at[i] ^= 5;
}

static void act_gather(host *h)
{
    place *p = h->owned;
    weft_gather gather;
    void *values;
    uint64_t count;
    if (!EXPECT_OK(h, weft_gather_begin(p->world, p->all,
                                        &(weft_gather_desc){.component = p->value}, &gather)))
        return;
    EXPECT_OK(h, weft_gather_wait(&gather));
    if (EXPECT_OK(h, weft_gather_values(&gather, &values, &count)))
        EXPECT(h, weft_stress_sum_of(values, count) == weft_stress_sum(&p->model));
    EXPECT_OK(h, weft_gather_end(&gather));
}

static void act_snapshot(host *h)
{
    place *p = h->owned;
    weft_snapshot *snapshot, *second;
    numbers *before = malloc(sizeof *before);
    if (before == NULL || h->round->is_unordered) {
        free(before);
        return;
    }
    *before = p->model;
    if (EXPECT_OK(h, weft_snapshot_take(p->world, NULL, &snapshot))) {
        act_each(h);
        if (EXPECT_OK(h, weft_snapshot_take(p->world, snapshot, &second)))
            weft_snapshot_destroy(second);
        EXPECT_OK(h, weft_snapshot_restore(p->world, snapshot));
        p->model = *before;
        weft_snapshot_destroy(snapshot);
    }
    free(before);
}

/* The same rows in a world of its own, which ends again. */
static void check_copy(host *h, const weft_world_bytes *bytes, const char *path)
{
    place *copy = calloc(1, sizeof *copy);
    if (copy == NULL) return;
    weft_stress_open(h, copy, 0, 0);
    weft_result result = bytes != NULL
                             ? weft_world_load_memory(copy->world, bytes->bytes, bytes->count, NULL)
                             : weft_world_load(copy->world, path, NULL);
    EXPECT_OK(h, result);
    EXPECT(h, weft_stress_held(h, copy) == weft_stress_sum(&h->owned->model));
    EXPECT_OK(h, weft_world_destroy(copy->world));
    free(copy);
}

static void act_save(host *h)
{
    weft_world_bytes bytes;
    if (!EXPECT_OK(h, weft_world_save_memory(h->owned->world, &bytes, NULL))) return;
    check_copy(h, &bytes, NULL);
    weft_world_bytes_free(h->owned->world, &bytes);
}

static void act_file(host *h)
{
    char path[100];
    snprintf(path, sizeof path, "/tmp/weft-threads-%ld-%u.weft", (long)getpid(), h->number);
    if (!EXPECT_OK(h, weft_world_save(h->owned->world, path, NULL))) return;
    check_copy(h, NULL, path);
    remove(path);
}

/* ---- a recorder of another's world ---- */

static void act_record(host *h)
{
    place *p = h->recorded;
    weft_recorder *recorder = p->recorders[h->number];
    numbers *recorded = &p->recorded[h->number];
    const uint32_t count = 1 + weft_stress_below(h, 20);
    if (recorded->count + count > ROWS / 4) return;
    if (weft_stress_below(h, 2) == 0) {
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t value = (uint32_t)weft_stress_random(&h->random);
            weft_entity made = weft_recorder_create_entity(recorder, p->archetype);
            EXPECT_OK(h, weft_recorder_set(recorder, made, p->value, &value, sizeof value));
            weft_stress_add(recorded, value);
        }
        return;
    }
    for (uint32_t left = count; left > 0;) { /* a call may give fewer rows */
        weft_slice rows = {0};
        weft_result result =
            h->round->is_unordered
                ? weft_recorder_create_rows_unordered(recorder, p->archetype, left, &rows)
                : weft_recorder_create_rows(recorder, p->archetype, left, &rows);
        if (!EXPECT_OK(h, result)) return;
        uint32_t *values = weft_slice_write(&rows, 0);
        for (uint32_t i = 0; i < rows.count; i++)
            weft_stress_add(recorded, values[i] = (uint32_t)weft_stress_random(&h->random));
        left -= rows.count;
    }
}

/* At the begin of a phase: what others recorded in the one before. */
static void play_all(host *h)
{
    place *p = h->owned;
    for (uint32_t i = 0; i < h->round->host_count; i++) {
        EXPECT_OK(h, weft_recorder_play(p->recorders[i]));
        for (uint32_t k = 0; k < p->recorded[i].count; k++)
            weft_stress_add(&p->model, p->recorded[i].at[k]);
        p->recorded[i].count = 0;
    }
    EXPECT(h, weft_stress_held(h, p) == weft_stress_sum(&p->model));
    EXPECT_OK(h, weft_world_validate(p->world));
}

/* ---- jobs ---- */

static int count_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    for (uint32_t i = begin; i < end; i++) ((uint8_t *)argument)[i]++;
    return 0;
}

static int run_outside(weft_job_context *job, void *argument)
{
    (void)job;
    ++*(uint32_t *)argument;
    return 0;
}

static void act_inject(host *h)
{
    for (uint32_t left = 1 + weft_stress_below(h, 4); left > 0 && h->job_count < JOBS; left--) {
        outside_job *self = &h->jobs[h->job_count];
        const outside_job *before =
            h->job_count > 0 ? &h->jobs[weft_stress_below(h, h->job_count)] : NULL;
        weft_job_desc desc = {.fn = run_outside,
                              .argument = &self->ran,
                              .class_ = (weft_job_class)weft_stress_below(h, WEFT_JOB_CLASS_COUNT)};
        *self = (outside_job){0};
        if (before != NULL && weft_stress_below(h, 2) == 0) {
            desc.after = &before->handle;
            desc.after_count = 1;
            self->may_be_cancelled = before->may_be_cancelled;
        }
        if (!EXPECT_OK(h, weft_job_inject(h->round->pool, &desc, &self->handle))) return;
        h->job_count++;
        if (weft_stress_below(h, 4) == 0) {
            self->may_be_cancelled = true;
            EXPECT_OK(h, weft_job_cancel(h->round->pool, self->handle));
        }
        at_store_rel(&h->x_last,
                     (uint64_t)self->handle.generation << 32 | self->handle.index); /* act_wait */
    }
}

/* The owner of the pool waits for a job that another host injected, and may cancel. */
static void act_wait(host *h)
{
    if (h->number != 0) return;
    host *other = &h->round->hosts[weft_stress_below(h, h->round->host_count)];
    const uint64_t last = at_load_acq(&other->x_last);
    const weft_job_handle handle = {(uint32_t)last, (uint32_t)(last >> 32)};
    const weft_result result = weft_job_wait(weft_job_pool_owner(h->round->pool), handle, NULL);
    EXPECT(h, result == WEFT_OK || result == WEFT_CANCELLED);
    EXPECT(h, weft_job_is_done(h->round->pool, handle));
}

/* When nothing is pending: each ran once, or was cancelled before. */
static void check_jobs(host *h)
{
    for (uint32_t i = 0; i < h->job_count; i++) {
        const outside_job *job = &h->jobs[i];
        EXPECT(h, weft_job_is_done(h->round->pool, job->handle));
        EXPECT(h, job->ran == 1 || (job->ran == 0 && job->may_be_cancelled));
    }
    h->job_count = 0;
    at_store_rel(&h->x_last, (uint64_t)0);
}

static int add_two(weft_job_context *job, void *argument)
{
    uint8_t *cell = argument;
    (void)job;
    *cell = (uint8_t)(*cell + 2);
    return 0;
}

static void run_graph(host *h, weft_job_context *context, uint8_t *cells)
{
    const weft_job_graph_node nodes[3] = {{.fn = add_two, .argument = cells},
                                          {.fn = add_two, .argument = cells + 1},
                                          {.fn = add_two, .argument = cells}};
    const uint32_t edges[2][2] = {{0, 2}, {1, 2}};
    const weft_job_graph_desc desc = {
        .nodes = nodes, .node_count = 3, .edges = edges, .edge_count = 2};
    weft_job_graph *graph;
    if (!EXPECT_OK(h, weft_job_graph_create(h->round->pool, &desc, &graph))) return;
    EXPECT_OK(h, weft_job_graph_run(context, graph, NULL));
    EXPECT_OK(h, weft_job_graph_destroy(graph));
    EXPECT(h, cells[0] == 4 && cells[1] == 2);
}

static void act_guest(host *h)
{
    static const uint32_t count = ITEMS;
    uint8_t *cells = calloc(count, 1), children[8] = {0}, nodes[2] = {0};
    const weft_job_for_desc loop = {.fn = count_part, .argument = cells, .count = count};
    weft_job_context *context;
    if (cells == NULL) return;
    if (EXPECT_OK(h, weft_job_pool_enter(h->round->pool, &context))) {
        EXPECT_OK(h, weft_job_for(context, &loop, NULL));
        for (uint32_t i = 0; i < 8; i++) weft_job_child(context, add_two, &children[i]);
        run_graph(h, context, nodes);
        EXPECT(h, weft_job_children_wait(context) == 0);
        EXPECT_OK(h, weft_job_pool_leave(context));
    }
    for (uint32_t i = 0; i < count; i++) EXPECT(h, cells[i] == 1);
    for (uint32_t i = 0; i < 8; i++) EXPECT(h, children[i] == 2);
    free(cells);
}

static bool is_enough(void *user)
{
    host *h = user;
    return h->asks-- == 0 || at_load_acq(&h->round->x_waiting) != 0;
}

/* Lends the thread to the pool until it was asked some times or another host is done; the owner of
 * the pool takes lent threads back. */
static void act_lend(host *h)
{
    round *r = h->round;
    if (!r->is_host_driven || h->number >= r->workers) return;
    if (h->number == 0) {
        const uint32_t worker = 1 + weft_stress_below(h, r->workers - 1);
        const weft_result result = weft_job_worker_recall(r->pool, worker);
        EXPECT(h, result == WEFT_OK || result == WEFT_NOT_FOUND);
        return;
    }
    h->asks = 1 + weft_stress_below(h, 20);
    EXPECT_OK(h, weft_job_worker_run(r->pool, h->number, is_enough, h));
}

static void act_pool(host *h)
{
    const weft_job_pool_desc desc = {.worker_count = 1 + weft_stress_below(h, 2),
                                     .allocator = h->round->stress->allocator,
                                     .os = h->round->stress->os,
                                     .spin_ns = 1000};
    weft_job_pool *pool;
    weft_job_handle handle;
    uint32_t ran = 0;
    if (!EXPECT_OK(h, weft_job_pool_create(&desc, &pool))) return;
    weft_job_context *owner = weft_job_pool_owner(pool);
    EXPECT_OK(
        h, weft_job_submit(owner, &(weft_job_desc){.fn = run_outside, .argument = &ran}, &handle));
    EXPECT_OK(h, weft_job_wait(owner, handle, NULL));
    EXPECT(h, ran == 1);
    EXPECT_OK(h, weft_job_pool_destroy(pool));
}

/* ---- what any thread may do ---- */

typedef struct listing {
    WEFT_BLOB_ARRAY(uint32_t) items;
} listing;

static const weft_blob_type item_type = WEFT_BLOB_TYPE_PLAIN(uint32_t);
static const weft_blob_field listing_fields[] = {WEFT_BLOB_FIELD_ARRAY(listing, items, &item_type)};
static const weft_blob_type listing_type = WEFT_BLOB_TYPE(listing, listing_fields);

/* Blobs of few contents: hosts share, free and make again the same ones. */
static void act_blob(host *h)
{
    weft_blob_store *blobs = h->round->blobs;
    const uint32_t first = weft_stress_below(h, 4), count = 1 + first * 3;
    weft_blob_builder *builder;
    weft_blob_ref ref;
    weft_blob_store_stats stats;
    if (!EXPECT_OK(h, weft_blob_builder_create(blobs, &listing_type, 0, &builder))) return;
    listing *root = weft_blob_builder_root(builder);
    uint32_t *items = WEFT_BLOB_BUILD_ARRAY(builder, &root->items, count);
    for (uint32_t i = 0; i < count; i++) items[i] = first + i;
    const bool is_made = EXPECT_OK(h, weft_blob_builder_finish(builder, &ref));
    weft_blob_builder_destroy(builder);
    if (!is_made) return;
    EXPECT_OK(h, weft_blob_acquire(blobs, ref));
    EXPECT_OK(h, weft_blob_release(blobs, ref));
    EXPECT_OK(h, weft_blob_store_stats_get(blobs, &stats, sizeof stats));
    const listing *seen = weft_blob_read(blobs, ref, &listing_type);
    EXPECT(h, seen != NULL && seen->items.untyped.count == count);
    for (uint32_t i = 0; seen != NULL && i < count; i++)
        EXPECT(h, *WEFT_BLOB_AT(&seen->items, i) == first + i);
    EXPECT_OK(h, weft_blob_release(blobs, ref));
}

static void act_value(host *h)
{
    static const weft_field fields[] = {{.name = "x", .kind = WEFT_FIELD_I32},
                                        {.name = "y", .kind = WEFT_FIELD_I32, .offset = 4}};
    static const weft_type type = {
        .name = "pair", .size = 8, .alignment = 4, .fields = fields, .field_count = 2};
    const int32_t value[2] = {(int32_t)weft_stress_below(h, 1000),
                              -(int32_t)weft_stress_below(h, 1000)};
    int32_t back[2] = {0};
    char text[100];
    const size_t length = weft_value_write(NULL, &type, value, text, sizeof text);
    const weft_text read = {.bytes = text, .count = length};
    EXPECT(h, length < sizeof text);
    EXPECT_OK(h, weft_value_read(NULL, &read, &type, back, NULL));
    EXPECT(h, memcmp(value, back, sizeof value) == 0);
}

static void act_figures(host *h)
{
    weft_job_stats stats;
    weft_job_stats_get(h->round->pool, &stats, sizeof stats);
    weft_job_worker_stats_get(h->round->pool, weft_stress_below(h, h->round->workers), &stats,
                              sizeof stats);
    weft_job_pool_wake(h->round->pool);
    EXPECT(h, weft_job_pool_worker_count(h->round->pool) == h->round->workers);
}

/* A world beside the others, on the pool or with one of its own. */
static void act_world(host *h)
{
    place *p = calloc(1, sizeof *p);
    if (p == NULL) return;
    weft_stress_open(h, p, 1 + weft_stress_below(h, 50), weft_stress_random(&h->random));
    EXPECT(h, weft_stress_systems(p));
    EXPECT_OK(h, weft_world_step(p->world, 0));
    weft_stress_model_step(p);
    EXPECT(h, weft_stress_held(h, p) == weft_stress_sum(&p->model));
    EXPECT_OK(h, weft_world_destroy(p->world));
    free(p);
}

static void touch(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) values[i]++;
}

/* One host steps the world whose structure stays, the others look at it. */
static void act_fixed(host *h)
{
    round *r = h->round;
    const weft_world *world = r->fixed.world;
    if (h->number == h->phase % r->host_count) {
        EXPECT_OK(h, weft_world_step(r->fixed.world, 0));
        return;
    }
    for (uint32_t i = weft_stress_below(h, 7); i < FIXED; i += 7) {
        const weft_entity entity = r->living[i];
        EXPECT(h, weft_entity_is_alive(world, entity));
        EXPECT(h, weft_entity_has(world, entity, r->tag) == (i % 2 == 0));
        EXPECT(h, weft_entity_is_enabled(world, entity, r->fixed.value));
        EXPECT(h, weft_entity_archetype(world, entity).id != 0);
        EXPECT(h, weft_finder_read(&r->finder, entity) != NULL);
        const uint32_t *shared = weft_entity_read_shared(world, entity, r->shared);
        EXPECT(h, (shared != NULL) == (i % 2 == 0) && (shared == NULL || *shared == 77));
    }
    for (uint32_t i = 0; i < 4; i++) EXPECT(h, !weft_entity_is_alive(world, r->dead[i]));
    EXPECT(h, strcmp(weft_component_info(world, r->fixed.value)->name, "value") == 0);
    EXPECT(h, weft_component_hash(world, r->tag) != 0);
    EXPECT(h, weft_system_find(world, "touch").id == r->fixed_system.id);
    EXPECT(h, weft_world_pool(world) == r->pool);
}

/* ---- hosts ---- */

static const struct {
    const char *name;
    void (*run)(host *h);
} actions[] = {
    {"step", act_step},
    {"each_parallel", act_each},
    {"loop", act_loop},
    {"gather", act_gather},
    {"snapshot", act_snapshot},
    {"save", act_save},
    {"file", act_file},
    {"record", act_record},
    {"record more", act_record},
    {"inject", act_inject},
    {"wait", act_wait},
    {"guest", act_guest},
    {"lend", act_lend},
    {"pool", act_pool},
    {"blob", act_blob},
    {"value", act_value},
    {"figures", act_figures},
    {"world", act_world},
    {"fixed world", act_fixed},
    {"fixed again", act_fixed},
    {"contend", weft_stress_contend},
    {"contend more", weft_stress_contend},
    {"intrude", weft_stress_intrude},
    {"intrude more", weft_stress_intrude},
    {"misuse", weft_stress_misuse},
};
enum { ACTION_COUNT = sizeof actions / sizeof actions[0] };

static void doing(host *h, const char *what)
{
    at_store_rel(&h->x_doing, (void *)(uintptr_t)what); /* the watchdog's acquire */
    at_add_rlx(&h->x_went, 1);                          /* relaxed: a counter for the watchdog */
}

static void meet(host *h, const char *what)
{
    doing(h, what);
    pthread_barrier_wait(&h->round->barrier);
}

static void run_phase(host *h)
{
    round *r = h->round;
    h->owned = &r->places[(h->number + h->phase) % r->host_count];
    /* of three hosts and more not the one that will play it */
    const uint32_t away = r->host_count > 2 ? 2 : 1;
    h->recorded = &r->places[(h->number + h->phase + away) % r->host_count];
    doing(h, "play");
    play_all(h);
    meet(h, "waits for others to play");
    if (h->number == 0) at_store_rel(&r->x_waiting, 0u); /* is_enough */
    meet(h, "waits for others to begin");
    for (uint32_t i = 0; i < ACTIONS && !weft_stress_has_errors(); i++) {
        h->random = weft_stress_random(&h->script);
        const uint32_t action = weft_stress_below(h, ACTION_COUNT);
        doing(h, actions[action].name);
        actions[action].run(h);
        EXPECT(h, weft_stress_held(h, h->owned) == weft_stress_sum(&h->owned->model));
    }
    at_add_rlx(&r->x_waiting, 1u); /* relaxed: the wake-up orders it */
    weft_job_pool_wake(r->pool);
    meet(h, "waits for others to end");
    if (h->number == 0) {
        doing(h, "waits for all jobs");
        const weft_result result = weft_job_wait_all(weft_job_pool_owner(r->pool), NULL);
        EXPECT(h, result == WEFT_OK || result == WEFT_CANCELLED);
        weft_stress_against_check(h);
    }
    meet(h, "waits for the jobs");
    check_jobs(h);
    meet(h, "hands over");
}

static void *run_host(void *argument)
{
    host *h = argument;
    for (h->phase = 0; h->phase < PHASES; h->phase++) run_phase(h);
    doing(h, "has ended");
    return NULL;
}

/* ---- the watchdog ---- */

static uint64_t went(round *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->host_count; i++)
        sum += at_load_rlx(&r->hosts[i].x_went); /* relaxed: a counter */
    return sum;
}

static void tell_hang(round *r)
{
    fprintf(stderr, "weft stress: round %u: no host goes on for %d s:\n", r->stress->round,
            HANG_SECONDS);
    for (uint32_t i = 0; i < r->host_count; i++)
        fprintf(stderr, "  host %u: %s\n", i,
                (const char *)at_load_acq(&r->hosts[i].x_doing)); /* doing */
    abort();
}

static void *watch(void *argument)
{
    round *r = argument;
    uint64_t last = UINT64_MAX;
    pthread_mutex_lock(&r->lock);
    while (!r->is_over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += HANG_SECONDS;
        if (pthread_cond_timedwait(&r->ends, &r->lock, &until) == 0 || r->is_over) continue;
        if (went(r) == last) tell_hang(r);
        last = went(r);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- rounds ---- */

static void open_fixed(host *h)
{
    round *r = h->round;
    place *p = &r->fixed;
    const uint32_t value = 77;
    weft_stress_open(h, p, 0, 0);
    r->tag = weft_component_create_plain(p->world, "tag", 0, 1, 0);
    r->shared = weft_component_create_plain(p->world, "shared", 4, 4, WEFT_SHARED);
    const weft_component set[] = {p->value, r->tag, r->shared};
    const weft_archetype more = weft_archetype_create(p->world, set, 3);
    for (uint32_t i = 0; i < FIXED; i++) {
        r->living[i] = weft_entity_create(p->world, i % 2 == 0 ? more : p->archetype);
        if (i % 2 == 0)
            EXPECT_OK(h, weft_entity_set_shared(p->world, r->living[i], r->shared, &value));
    }
    for (uint32_t i = 0; i < 4; i++) {
        r->dead[i] = weft_entity_create(p->world, more);
        EXPECT_OK(h, weft_entity_destroy(p->world, r->dead[i]));
    }
    weft_system_desc desc = {.name = "touch", .run = touch};
    desc.over.rows.terms[0] = (weft_term){p->value, WEFT_WRITE, WEFT_ALL, 0};
    r->fixed_system = weft_system_create(p->world, &desc);
    r->finder = weft_finder_open(p->world, p->value);
    EXPECT_OK(h, weft_world_step(p->world, 0));
}

static bool open_round(round *r, uint64_t *random)
{
    const weft_job_pool_desc desc = {.worker_count = r->stress->workers,
                                     .is_host_driven = r->is_host_driven,
                                     .is_always_parallel = weft_stress_random(random) % 2 == 0,
                                     .spin_ns = 1000,
                                     .allocator = r->stress->allocator,
                                     .os = r->stress->os};
    for (uint32_t i = 0; i < r->host_count; i++) {
        host *h = &r->hosts[i];
        *h = (host){.round = r, .number = i, .script = weft_stress_random(random)};
        at_init(&h->x_doing, (void *)(uintptr_t) "begins");
    }
    host *first = &r->hosts[0];
    if (!EXPECT_OK(first, weft_job_pool_create(&desc, &r->pool))) return false;
    const weft_blob_store_desc store = {.allocator = r->stress->allocator, .os = r->stress->os};
    EXPECT_OK(first, weft_blob_store_create(&store, &r->blobs));
    for (uint32_t i = 0; i < r->host_count; i++) {
        place *p = &r->places[i];
        weft_stress_open(first, p, 1 + (uint32_t)(weft_stress_random(random) % ROWS),
                         weft_stress_random(random));
        EXPECT(first, weft_stress_systems(p));
        EXPECT_OK(first, weft_world_hook_add(p->world, &p->hook));
        for (uint32_t k = 0; k < r->host_count; k++)
            EXPECT_OK(first, weft_recorder_create(p->world, &p->recorders[k]));
    }
    open_fixed(first);
    weft_stress_against_open(r);
    return !weft_stress_has_errors();
}

static uint64_t close_round(round *r)
{
    host *first = &r->hosts[0];
    uint64_t hash = hash_word(r->stress->seed, r->host_count);
    for (uint32_t i = 0; i < r->host_count; i++) {
        place *p = &r->places[i];
        first->owned = p;
        play_all(first);
        hash = hash_word(hash, weft_stress_sum(&p->model));
        for (uint32_t k = 0; k < r->host_count; k++) weft_recorder_destroy(p->recorders[k]);
        EXPECT_OK(first, weft_world_destroy(p->world));
    }
    EXPECT_OK(first, weft_world_destroy(r->fixed.world));
    weft_stress_against_close(r);
    weft_blob_store_destroy(r->blobs);
    EXPECT_OK(first, weft_job_pool_destroy(r->pool));
    return hash;
}

static void run_hosts(round *r)
{
    pthread_t watchdog;
    pthread_barrier_init(&r->barrier, NULL, r->host_count);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->ends, NULL);
    bool is_started = pthread_create(&watchdog, NULL, watch, r) == 0;
    for (uint32_t i = 1; i < r->host_count && is_started; i++)
        is_started = pthread_create(&r->hosts[i].thread, NULL, run_host, &r->hosts[i]) == 0;
    if (!is_started) abort(); /* no threads: nothing can be tested */
    run_host(&r->hosts[0]);
    for (uint32_t i = 1; i < r->host_count; i++) pthread_join(r->hosts[i].thread, NULL);
    pthread_mutex_lock(&r->lock);
    r->is_over = true;
    pthread_cond_signal(&r->ends);
    pthread_mutex_unlock(&r->lock);
    pthread_join(watchdog, NULL);
    pthread_cond_destroy(&r->ends);
    pthread_mutex_destroy(&r->lock);
    pthread_barrier_destroy(&r->barrier);
}

static uint64_t threads_round(weft_stress *stress, void *state)
{
    uint64_t random = stress->seed, hash = 0;
    round *r = calloc(1, sizeof *r);
    (void)state;
    if (r == NULL) return 0;
    r->stress = stress;
    r->workers = stress->workers;
    r->host_count = 2 + (uint32_t)(weft_stress_random(&random) % (HOSTS - 1));
    r->is_host_driven = weft_stress_random(&random) % 2 == 0 && r->workers > 1;
    r->is_unordered = weft_stress_random(&random) % 2 == 0;
    if (open_round(r, &random)) {
        run_hosts(r);
        hash = close_round(r);
    }
    free(r);
    return hash;
}

const weft_stress_scenario weft_stress_scenarios_threads[] = {
    {"threads", "two to four host threads do at once what the rules of threads allow", NULL,
     threads_round, NULL, 6, true},
    {0},
};
