/* SPDX-License-Identifier: MIT */
/* stress_threads.c: `weft stress threads`: two to four host threads that do at once whatever the
 * rules of docs/reference/threads.md allow, and in checked builds what they forbid.
 *
 * A round has phases. In each, a host owns one of the worlds on the pool and holds a recorder of
 * another; it draws actions: steps, loops, snapshots, files, streams, new components while others
 * record, jobs from outside and as a guest, lent threads, small worlds and pools, programs of `weft
 * stress everything`, look-ups in a world that another host steps without changing its structure,
 * and those of stress_owner.c and stress_any.c. Between phases worlds and recorders are handed over
 * by a barrier. Every world has a model, an array of numbers, that its owner changes as the world
 * should change (stress_host.c); sums are compared after each action. What the rules forbid:
 * stress_against.c. A watchdog ends a round in which no host goes on, from the first world that is
 * made to the last one that ends, and says what each was doing.
 *
 * Which command of which recorder comes first, what a system records, which thread helps: nothing
 * that depends on timing is hashed.
 */
#include "stress_host.h"

#include "everything.h"

#include <weft/blob.h>
#include <weft/finder.h>
#include <weft/snapshot.h>
#include <weft/state_log.h>
#include <weft/stream.h>
#include <weft/transfer.h>
#include <weft/world_text.h>
#include <weft/zone.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hash.h"

/* ---- actions on the own world ---- */

/* Of rows that others recorded, with a component that came meanwhile. */
static void count_rows(weft_slice *slice, void *user)
{
    (void)weft_slice_count(slice), (void)weft_slice_since(slice), (void)user;
}

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
        EXPECT(h, p->found != UINT32_MAX && p->found >= p->model.count / 5);
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

/* ---- what only the owner of a world may do, beside others who record for it ---- */

/* Kinds, archetypes, queries and systems that come while other hosts record: these use the
 * archetypes as they are published. */
static void act_describe(host *h)
{
    place *p = h->owned;
    char name[16];
    const uint32_t made = at_load_rlx(&p->x_kinds); /* relaxed: the owner's own */
    if (made == MADE) return;
    snprintf(name, sizeof name, "made %u", made);
    const weft_component more = weft_component_create_plain(p->world, name, 4, 4, 0);
    const weft_term reads = {more, WEFT_READ, WEFT_ALL, 0};
    const weft_query query = weft_query_create(p->world, &(weft_query_desc){.terms = {reads}});
    weft_system_desc desc = {.name = name, .run = count_rows, .user = p};
    desc.over.rows.terms[0] = reads;
    const weft_system system = weft_system_create(p->world, &desc);
    p->kinds[made] = WEFT_ARCHETYPE(p->world, p->value, more);
    EXPECT(h, more.id != 0 && query.id != 0 && system.id != 0 && p->kinds[made].id != 0);
    at_store_rel(&p->x_kinds, made + 1); /* act_record */
    if (made % 4 != 0) EXPECT_OK(h, weft_system_destroy(p->world, system));
    if (made % 4 != 1) EXPECT_OK(h, weft_query_destroy(p->world, query));
}

/* Rows go to a world beside it and come back. */
static void act_transfer(host *h)
{
    place *other = calloc(1, sizeof *other);
    if (other == NULL || h->round->is_unordered) {
        free(other);
        return;
    }
    weft_stress_open(h, other, 0, 0);
    EXPECT_OK(h, weft_world_transfer(other->world, h->owned->world, NULL, NULL, 0));
    EXPECT(h, weft_stress_held(h, other) == weft_stress_sum(&h->owned->model));
    EXPECT_OK(h, weft_world_transfer(h->owned->world, other->world, NULL, NULL, 0));
    EXPECT_OK(h, weft_world_destroy(other->world));
    free(other);
}

/* Its rows as a section, which the threads of a stream read into a world beside it. */
static void act_stream(host *h)
{
    char path[100];
    place *other = calloc(1, sizeof *other);
    weft_stream *stream;
    const weft_stream_desc desc = {.threads = 1 + weft_stress_below(h, 3)};
    if (other == NULL) return;
    snprintf(path, sizeof path, "/tmp/weft-threads-%ld-%u.wss", (long)getpid(), h->number);
    weft_stress_open(h, other, 0, 0);
    for (uint32_t i = 0; i < at_load_rlx(&h->owned->x_kinds); i++) { /* relaxed: its own */
        char name[16];
        snprintf(name, sizeof name, "made %u", i);
        EXPECT(h, weft_component_create_plain(other->world, name, 4, 4, 0).id != 0);
    }
    EXPECT(h, weft_component_section(other->world).id != 0);
    EXPECT(h, weft_component_section_request(other->world).id != 0);
    if (EXPECT_OK(h, weft_sections_save(h->owned->world, path, NULL)) &&
        EXPECT_OK(h, weft_stream_open(other->world, path, &desc, &stream))) {
        weft_stream_stats stats;
        weft_section_info info;
        EXPECT(h, weft_stream_number(stream) != UINT32_MAX);
        EXPECT(h, weft_stream_section_count(stream) == 1);
        EXPECT_OK(h, weft_stream_load(stream, 0, 1));
        EXPECT_OK(h, weft_stream_wait(other->world));
        weft_stream_stats_get(other->world, &stats, sizeof stats);
        EXPECT(h, stats.under_way == 0);
        EXPECT_OK(h, weft_stream_section_get(stream, 0, &info, sizeof info));
        EXPECT(h, weft_stress_held(h, other) == weft_stress_sum(&h->owned->model));
        EXPECT_OK(h, weft_stream_unload(stream, 0));
        EXPECT_OK(h, weft_stream_step(other->world, 0));
        weft_stream_close(stream);
    }
    remove(path);
    EXPECT_OK(h, weft_world_destroy(other->world));
    free(other);
}

static weft_result count_bytes(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)user += count;
    return WEFT_OK;
}

/* Texts about the world and its schedule, and a log of a step. */
static void act_report(host *h)
{
    weft_world *world = h->owned->world;
    char text[2000];
    size_t bytes = 0;
    weft_world_stats stats;
    weft_frame_stats frame;
    const weft_writer writer = {.write = count_bytes, .user = &bytes};
    const weft_system grow = weft_system_find(world, "grow");
    EXPECT_OK(h, weft_state_log_begin(world, &(weft_state_log_desc){.writer = writer}));
    act_step(h);
    EXPECT_OK(h, weft_state_log_end(world));
    EXPECT_OK(h, weft_world_save_json(world, &writer, NULL));
    EXPECT(h, bytes != 0);
    EXPECT(h, weft_schedule_explain(world, grow, grow, text, sizeof text) != 0);
    EXPECT(h, weft_schedule_json(world, text, sizeof text) != 0);
    EXPECT(h, weft_schedule_sync_points(world, text, sizeof text) != 0);
    weft_world_stats_get(world, &stats, sizeof stats);
    weft_frame_stats_get(world, &frame, sizeof frame);
    EXPECT(h, stats.entities >= h->owned->model.count);
    EXPECT(h, weft_system_enable(world, grow, true) == WEFT_OK);
}

/* ---- a recorder of another's world ---- */

/* Changes no number. */
static void record_wide(host *h)
{
    const place *p = h->recorded;
    weft_recorder *recorder = p->recorders[h->number];
    const uint32_t value = weft_stress_below(h, 3);
    switch (weft_stress_below(h, 5)) {
    case 0:
        EXPECT_OK(h, weft_recorder_query_add(recorder, p->all, p->mark));
        break;
    case 1:
        EXPECT_OK(h, weft_recorder_query_remove(recorder, p->all, p->mark));
        break;
    case 2:
        EXPECT_OK(h, weft_recorder_query_set_shared(recorder, p->all, p->group, &value));
        break;
    case 3:
        EXPECT_OK(h, weft_recorder_query_add(recorder, p->all, p->lit));
        EXPECT_OK(h, weft_recorder_query_enable(recorder, p->all, p->lit, value == 0));
        break;
    default:
        EXPECT_OK(h, weft_recorder_query_destroy_entities(recorder, p->none));
        break;
    }
}

/* Some get a name, some a list. */
static void record_more(host *h, weft_entity made)
{
    const place *p = h->recorded;
    weft_recorder *recorder = p->recorders[h->number];
    const uint32_t list[] = {1, 2, h->number};
    char name[32];
    snprintf(name, sizeof name, "%u %u %u", h->number, h->phase, p->recorded[h->number].count);
    EXPECT(h, made.version != 0);
    if (weft_stress_below(h, 2) == 0)
        EXPECT_OK(h, weft_recorder_set_name(recorder, made, name));
    else
        EXPECT_OK(h, weft_recorder_set_buffer(recorder, made, p->list, list, 3));
}

static void act_record(host *h)
{
    place *p = h->recorded;
    weft_recorder *recorder = p->recorders[h->number];
    numbers *recorded = &p->recorded[h->number];
    const uint32_t count = 1 + weft_stress_below(h, 20);
    if (recorded->count + count > ROWS / 4) return;
    const uint32_t kinds = at_load_acq(&p->x_kinds); /* act_describe */
    const uint32_t kind = weft_stress_below(h, MADE);
    const weft_archetype archetype = kind < kinds ? p->kinds[kind] : p->archetype;
    if (weft_stress_below(h, 2) == 0) {
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t value = (uint32_t)weft_stress_random(&h->random);
            weft_entity made = weft_recorder_create_entity(recorder, archetype);
            EXPECT_OK(h, weft_recorder_set(recorder, made, p->value, &value, sizeof value));
            weft_stress_add(recorded, value);
            if (i == 0) record_more(h, made);
        }
        record_wide(h);
        return;
    }
    for (uint32_t left = count; left > 0;) { /* a call may give fewer rows */
        weft_slice rows = {0};
        const weft_rows_desc desc = {
            .archetype = archetype, .count = left, .is_unordered = h->round->is_unordered};
        weft_result result;
        if (left % 2 == 0)
            result = weft_recorder_create_rows_with(recorder, &desc, &rows);
        else if (desc.is_unordered)
            result = weft_recorder_create_rows_unordered(recorder, archetype, left, &rows);
        else
            result = weft_recorder_create_rows(recorder, archetype, left, &rows);
        if (!EXPECT_OK(h, result)) return;
        record_more(h, weft_recorder_row_entity(recorder, &rows, rows.count - 1));
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
    for (uint32_t i = 0; i < CELLS; i++) EXPECT(h, h->cells[i] == h->has_loop);
    memset(h->cells, 0, sizeof h->cells);
    h->has_loop = false;
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

/* Jobs that are submitted in a context: one that is held until another has ended, one behind it, a
 * loop. They outlive the guest. */
static void act_submit(host *h)
{
    weft_job_pool *pool = h->round->pool;
    weft_job_context *context;
    weft_job_handle handles[3];
    if (h->job_count + 3 > JOBS || !EXPECT_OK(h, weft_job_pool_enter(pool, &context))) return;
    EXPECT(h, weft_job_context_pool(context) == pool && weft_job_worker_index(context) == 0);
    EXPECT(h, !weft_job_is_cancelled(context));
    weft_job_trace_enable(pool, weft_stress_below(h, 2) == 0);
    weft_job_trace_mark(context, "submits", h->number);
    const char *zone = weft_zone_enter("submits");
    weft_zone_begin("plots");
    weft_plot("host", h->number);
    weft_zone_end();
    weft_zone_leave(&zone);
    outside_job *jobs = &h->jobs[h->job_count]; /* each behind the one before */
    memset(jobs, 0, 3 * sizeof *jobs);
    for (uint32_t i = 0; i < 3; i++) {
        const weft_job_desc desc = {.fn = run_outside,
                                    .argument = &jobs[i].ran,
                                    .after = i == 0 ? NULL : &handles[i - 1],
                                    .after_count = i == 0 ? 0 : 1};
        EXPECT_OK(h, weft_job_submit(context, &desc, &handles[i]));
        h->jobs[h->job_count++].handle = handles[i];
    }
    if (!h->has_loop) {
        const weft_job_for_desc loop = {.fn = count_part, .argument = h->cells, .count = CELLS};
        h->has_loop = weft_job_for_submit(context, &loop, NULL, NULL) == WEFT_OK;
        EXPECT(h, h->has_loop);
    }
    EXPECT_OK(h, weft_job_pool_leave(context));
    int code;
    const weft_result result = weft_job_result(pool, handles[1], &code);
    EXPECT(h, result == WEFT_OK || result == WEFT_BUSY);
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
    host_round *r = h->round;
    if (!r->is_host_driven || h->number >= r->workers) return;
    if (h->number == 0) {
        const uint32_t worker = 1 + weft_stress_below(h, r->workers - 1);
        const weft_result result = weft_job_worker_recall(r->pool, worker);
        EXPECT(h, result == WEFT_OK || result == WEFT_NOT_FOUND);
        return;
    }
    h->asks = 1 + weft_stress_below(h, 20);
    weft_stress_against_away(h, true);
    EXPECT_OK(h, weft_job_worker_run(r->pool, h->number, is_enough, h));
    weft_stress_against_away(h, false);
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

static void act_figures(host *h)
{
    weft_job_stats stats;
    weft_job_stats_get(h->round->pool, &stats, sizeof stats);
    weft_job_worker_stats_get(h->round->pool, weft_stress_below(h, h->round->workers), &stats,
                              sizeof stats);
    weft_job_pool_wake(h->round->pool);
    if (h->number == 0) { /* the owner of the pool */
        weft_job_frame_begin(h->round->pool);
        EXPECT_OK(h, weft_job_pool_error(h->round->pool)->code);
        weft_job_frame_end(h->round->pool);
    }
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
    host_round *r = h->round;
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

/* A random program over the whole surface (everything.h), of a world on the pool or on its own. */
static void act_everything(host *h)
{
    static const size_t bytes = EVERYTHING_CALLS * sizeof(everything_call);
    everything *e = calloc(1, sizeof *e);
    everything_call *script = malloc(bytes);
    uint64_t hash;
    if (e != NULL && script != NULL) {
        e->seed = weft_stress_random(&h->random);
        e->is_one_of_many = true;
        if (weft_stress_below(h, 3) != 0) e->pool = h->round->pool;
        if (!everything_run(e, script, everything_draw(e->seed, script), &hash))
            weft_stress_error(h->round->stress, "host %u: seed 0x%llx: %s: %s", h->number,
                              (unsigned long long)e->seed, e->failure, e->text);
    }
    free(script);
    free(e);
}

/* ---- hosts ---- */

static const struct {
    const char *name;
    void (*run)(host *h);
} actions[] = {
    {"step", act_step},
    {"each_parallel", act_each},
    {"loop", act_loop},
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
    {"blob", weft_stress_blob},
    {"value", weft_stress_value},
    {"number", weft_stress_number},
    {"figures", act_figures},
    {"world", act_world},
    {"fixed world", act_fixed},
    {"fixed again", act_fixed},
    {"contend", weft_stress_contend},
    {"contend more", weft_stress_contend},
    {"intrude", weft_stress_intrude},
    {"intrude more", weft_stress_intrude},
    {"misuse", weft_stress_misuse},
    {"everything", act_everything},
    {"describe", act_describe},
    {"describe more", act_describe},
    {"transfer", act_transfer},
    {"stream", act_stream},
    {"report", act_report},
    {"scene", weft_stress_scene},
    {"live", weft_stress_live},
    {"relate", weft_stress_relate},
    {"ask", weft_stress_ask},
    {"submit", act_submit},
    {"grid", weft_stress_grid},
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
    host_round *r = h->round;
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
    weft_stress_against_away(h, true);
    meet(h, "waits for others to end");
    weft_stress_against_away(h, false);
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

static uint64_t went(host_round *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->host_count; i++)
        sum += at_load_rlx(&r->hosts[i].x_went); /* relaxed: a counter */
    return sum;
}

static void tell_hang(host_round *r)
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
    host_round *r = argument;
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
    host_round *r = h->round;
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

static bool open_round(host_round *r, uint64_t *random)
{
    const weft_job_pool_desc desc = {.worker_count = r->stress->workers,
                                     .is_host_driven = r->is_host_driven,
                                     .is_always_parallel = weft_stress_random(random) % 2 == 0,
                                     .spin_ns = 1000,
                                     .allocator = r->stress->allocator,
                                     .os = r->stress->os};
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
    if (!weft_stress_grid_build(first, &r->grid)) return false;
    weft_stress_against_open(r);
    return !weft_stress_has_errors();
}

static uint64_t close_round(host_round *r)
{
    host *first = &r->hosts[0];
    uint64_t hash = hash_word(r->stress->seed, r->host_count);
    for (uint32_t i = 0; i < r->host_count; i++) {
        place *p = &r->places[i];
        first->owned = p;
        doing(first, "ends a world");
        play_all(first);
        hash = hash_word(hash, weft_stress_sum(&p->model));
        for (uint32_t k = 0; k < r->host_count; k++) weft_recorder_destroy(p->recorders[k]);
        EXPECT_OK(first, weft_world_destroy(p->world));
    }
    doing(first, "ends what was shared");
    EXPECT_OK(first, weft_world_destroy(r->fixed.world));
    weft_stress_against_close(r);
    weft_grid_destroy(r->grid);
    weft_blob_store_destroy(r->blobs);
    EXPECT_OK(first, weft_job_pool_destroy(r->pool));
    return hash;
}

static void run_hosts(host_round *r)
{
    bool is_started = true;
    pthread_barrier_init(&r->barrier, NULL, r->host_count);
    for (uint32_t i = 1; i < r->host_count && is_started; i++)
        is_started = pthread_create(&r->hosts[i].thread, NULL, run_host, &r->hosts[i]) == 0;
    if (!is_started) abort(); /* no threads: nothing can be tested */
    run_host(&r->hosts[0]);
    for (uint32_t i = 1; i < r->host_count; i++) pthread_join(r->hosts[i].thread, NULL);
    pthread_barrier_destroy(&r->barrier);
}

/* The watchdog looks on from the first world that is made to the last one that ends. */
static uint64_t run_watched(host_round *r, uint64_t *random)
{
    pthread_t watchdog;
    uint64_t hash = 0;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->ends, NULL);
    for (uint32_t i = 0; i < r->host_count; i++) {
        r->hosts[i] = (host){.round = r, .number = i, .script = weft_stress_random(random)};
        at_init(&r->hosts[i].x_doing, (void *)(uintptr_t) "begins");
    }
    if (pthread_create(&watchdog, NULL, watch, r) != 0) abort();
    if (open_round(r, random)) {
        run_hosts(r);
        hash = close_round(r);
    }
    pthread_mutex_lock(&r->lock);
    r->is_over = true;
    pthread_cond_signal(&r->ends);
    pthread_mutex_unlock(&r->lock);
    pthread_join(watchdog, NULL);
    pthread_cond_destroy(&r->ends);
    pthread_mutex_destroy(&r->lock);
    return hash;
}

static uint64_t threads_round(weft_stress *stress, void *state)
{
    uint64_t random = stress->seed;
    host_round *r = calloc(1, sizeof *r);
    (void)state;
    if (r == NULL || everything_op_at(0) == NULL || kinds_of_model() == NULL) return 0;
    r->stress = stress;
    r->workers = stress->workers;
    r->host_count = 2 + (uint32_t)(weft_stress_random(&random) % (HOSTS - 1));
    r->is_host_driven = weft_stress_random(&random) % 2 == 0 && r->workers > 1;
    r->is_unordered = weft_stress_random(&random) % 2 == 0;
    const uint64_t hash = run_watched(r, &random);
    free(r);
    return hash;
}

const weft_stress_scenario weft_stress_scenarios_threads[] = {
    {"threads", "two to four host threads do at once what the rules of threads allow", NULL,
     threads_round, NULL, 6, true},
    {0},
};
