/* SPDX-License-Identifier: MIT */
/* test_stream_ways.c: the same requests in lockstep give the same world, however many workers and
 * threads there are and however long the disk takes; instances with an offset of their own; a
 * system that loads by distance. */
#include "stream_fixture.h"

#include "random.h"

#include <weft/weft.h>

#include <pthread.h>
#include <sched.h>

enum { SECTIONS = 6, ROWS = 300, STEPS = 48 };

static stage file_make(void)
{
    stage s = stage_make(1);
    weft_entity e[ROWS];
    section_fill(&s, 0, 40, e);
    for (uint32_t k = 1; k <= SECTIONS; k++) section_fill(&s, k, ROWS, e);
    CHECK_OK(weft_sections_save(
        s.world, s.path,
        &(weft_sections_desc){.place = s.place, .place_at = {0, 4, 8}, .scene = 19}));
    return s;
}

/* ---- lockstep ---- */

/* A disk whose reads take a random while. Guarded by `lock`. */
typedef struct disk {
    pthread_mutex_t lock;
    test_random random;
    uint32_t most; /* yields of a read */
} disk;

static void disk_wait(const weft_stream_rows *rows, void *user)
{
    (void)rows;
    disk *d = user;
    pthread_mutex_lock(&d->lock);
    uint32_t turns = d->most == 0 ? 0 : (uint32_t)test_random_below(&d->random, d->most);
    pthread_mutex_unlock(&d->lock);
    while (turns-- != 0) sched_yield();
}

/* Hashes after each step of a script of requests. */
static void script_run(const stage *from, uint32_t workers, uint32_t threads, uint32_t yields,
                       uint64_t hashes[STEPS])
{
    disk d = {.random = test_random_init(workers * 100 + threads), .most = yields};
    pthread_mutex_init(&d.lock, NULL);
    stage to = stage_make(workers);
    weft_stream *stream = stream_open(
        &to, from,
        &(weft_stream_desc){.lockstep = 2, .threads = threads, .filled = disk_wait, .user = &d});
    test_random script = test_random_init(7);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t section = 1 + (uint32_t)test_random_below(&script, SECTIONS);
        if (test_random_below(&script, 2) == 0)
            CHECK_OK(weft_stream_load(stream, section, (float)test_random_below(&script, 3)));
        else
            CHECK_OK(weft_stream_unload(stream, section));
        CHECK_OK(weft_stream_step(to.world, 0));
        CHECK_OK(weft_world_step(to.world, 0.01f));
        hashes[step] = weft_world_hash(to.world, WEFT_HASH_LAYOUT);
    }
    CHECK_OK(weft_stream_wait(to.world));
    world_check(to.world);
    stage_end(&to);
    pthread_mutex_destroy(&d.lock);
}

PLAIN_TEST(lockstep_gives_one_world_for_any_workers_and_timing_of_the_disk)
{
    static const uint32_t ways[][3] = {{1, 1, 0}, {1, 3, 50},  {2, 1, 200}, {3, 2, 20},
                                       {5, 4, 0}, {8, 2, 100}, {8, 1, 0}};
    static uint64_t first[STEPS], now[STEPS];
    stage from = file_make();
    uint32_t changes = 0;
    for (uint32_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        script_run(&from, ways[way][0], ways[way][1], ways[way][2], way == 0 ? first : now);
        for (uint32_t step = 0; step < STEPS && way != 0; step++) CHECK_U64(now[step], first[step]);
    }
    for (uint32_t step = 1; step < STEPS; step++) changes += first[step] != first[step - 1];
    CHECK(changes > STEPS / 3);
    stage_end(&from);
}

/* ---- lockstep: a section that is no longer wanted ---- */

enum { CUT_LOCKSTEP = 8, CUT_STEPS = 24 };

/* A gate in the way of the one thread that reads; the owner, which helps, passes. Guarded by
 * `lock`. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    pthread_t owner;
    bool is_shut;                  /* the thread stays in section 1 */
    uint32_t filled[SECTIONS + 1]; /* rows so far */
} gate;

static void gate_pass(const weft_stream_rows *rows, void *user)
{
    gate *g = user;
    pthread_mutex_lock(&g->lock);
    g->filled[rows->section] += rows->count;
    pthread_cond_broadcast(&g->moved);
    while (g->is_shut && rows->section == 1 && !pthread_equal(pthread_self(), g->owner))
        pthread_cond_wait(&g->moved, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

/* Waits until a section has so many rows. */
static void gate_await(gate *g, uint32_t section, uint32_t rows)
{
    pthread_mutex_lock(&g->lock);
    while (g->filled[section] < rows) pthread_cond_wait(&g->moved, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void gate_open(gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->is_shut = false;
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&g->lock);
}

/* Section 2 is asked for, let go of in the next step, and asked for again. When it is let go of,
 * it is read to the end, or (`is_shut`) nothing of it: the thread is still in section 1. */
static void cut_run(const stage *from, bool is_shut, uint64_t hashes[CUT_STEPS])
{
    gate g = {.owner = pthread_self(), .is_shut = is_shut};
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.moved, NULL);
    stage to = stage_make(1);
    weft_stream *stream =
        stream_open(&to, from,
                    &(weft_stream_desc){
                        .lockstep = CUT_LOCKSTEP, .threads = 1, .filled = gate_pass, .user = &g});
    for (uint32_t step = 0; step < CUT_STEPS; step++) {
        if (step == 0) CHECK_OK(weft_stream_load(stream, 1, 0));
        if (step == 1 || step == 3) CHECK_OK(weft_stream_load(stream, 2, 0));
        if (step == 2) CHECK_OK(weft_stream_unload(stream, 2));
        CHECK_OK(weft_stream_step(to.world, 0));
        if (step == 0 && is_shut) gate_await(&g, 1, 1);
        if (step == 1 && !is_shut) gate_await(&g, 2, ROWS);
        if (step == 1 && is_shut) CHECK_U64(g.filled[2], 0);
        if (step == 2) gate_open(&g);
        hashes[step] = weft_world_hash(to.world, WEFT_HASH_LAYOUT);
    }
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
    CHECK_U64(entities_of(to.world), 40 + 2 * ROWS);
    stage_end(&to);
    pthread_cond_destroy(&g.moved);
    pthread_mutex_destroy(&g.lock);
}

PLAIN_TEST(lockstep_hides_how_far_a_section_came_that_is_no_longer_wanted)
{
    uint64_t first[CUT_STEPS], now[CUT_STEPS];
    stage from = file_make();
    cut_run(&from, false, first);
    cut_run(&from, true, now);
    for (uint32_t step = 0; step < CUT_STEPS; step++) CHECK_U64(now[step], first[step]);
    stage_end(&from);
}

/* ---- instances ---- */

/* Where an instance stands. */
typedef struct instance {
    weft_component place;
    float offset[3];
} instance;

static void instance_move(const weft_stream_rows *rows, void *user)
{
    const instance *of = user;
    place *places = weft_stream_column(rows, of->place);
    CHECK(places != NULL);
    for (uint32_t i = 0; i < rows->count; i++)
        for (uint32_t axis = 0; axis < 3; axis++) places[i].at[axis] += of->offset[axis];
}

/* Entities of a stream's section, whose places must be those of the file and the offset. */
static uint32_t instance_check(const stage *s, const weft_stream *stream, const instance *of)
{
    uint32_t found = 0;
    weft_query query = weft_query_create(
        s->world, &(weft_query_desc){.terms = {{s->place, WEFT_READ}, {s->link, WEFT_READ}}});
    weft_cursor cursor = weft_query_begin(s->world, query);
    while (weft_query_next(&cursor)) {
        const place *places = WEFT_READ_COLUMN(&cursor.slice, 0, place);
        const cable *links = WEFT_READ_COLUMN(&cursor.slice, 1, cable);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) {
            const weft_section *own = weft_entity_read_shared(
                s->world, weft_slice_entities(&cursor.slice)[i], s->section);
            if (own->instance != weft_stream_number(stream)) continue;
            const float row = (float)(links[i].number % 100000);
            const float section = (float)(1000 * (links[i].number / 100000));
            CHECK_F64((double)places[i].at[0], (double)(section + of->offset[0]), 0);
            CHECK_F64((double)places[i].at[1], (double)(row + of->offset[1]), 0);
            CHECK_F64((double)places[i].at[2], (double)(1 + of->offset[2]), 0);
            found++;
        }
    }
    CHECK_OK(weft_query_destroy(s->world, query));
    return found;
}

PLAIN_TEST(two_instances_stand_at_offsets_of_their_own)
{
    stage from = file_make(), to = stage_make(2);
    instance here = {to.place, {0, 0, 0}}, there = {to.place, {4096, -512, 8}};
    weft_stream *one =
        stream_open(&to, &from, &(weft_stream_desc){.filled = instance_move, .user = &here});
    weft_stream *two =
        stream_open(&to, &from, &(weft_stream_desc){.filled = instance_move, .user = &there});
    CHECK_OK(weft_stream_load(one, 1, 0));
    CHECK_OK(weft_stream_load(two, 1, 0));
    CHECK_OK(weft_stream_load(two, 2, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(instance_check(&to, one, &here), 40 + ROWS);
    CHECK_U64(instance_check(&to, two, &there), 40 + 2 * ROWS);
    weft_stream_close(one);
    CHECK_U64(instance_check(&to, two, &there), 40 + 2 * ROWS);
    CHECK_U64(entities_of(to.world), 40 + 2 * ROWS);
    stage_end(&to);
    stage_end(&from);
}

/* ---- by distance ---- */

PLAIN_TEST(far_from_everything_section_0_leaves_too)
{
    stage from = stage_make(1), to = stage_make(1);
    weft_entity e[ROWS];
    for (uint32_t k = 1; k <= SECTIONS; k++) section_fill(&from, k, ROWS, e);
    CHECK_OK(weft_sections_save(from.world, from.path,
                                &(weft_sections_desc){.place = from.place, .place_at = {0, 4, 8}}));
    weft_stream *stream = stream_open(&to, &from, NULL);
    for (uint32_t round = 0; round < 4; round++) {
        float at[3] = {round % 2 == 0 ? 1000.0f : 90000.0f, 10, 1};
        CHECK_OK(weft_stream_near(stream, at, 300, 800));
        CHECK_OK(weft_stream_wait(to.world));
        CHECK_U64(state_of(stream, 0), round % 2 == 0 ? WEFT_SECTION_LOADED : WEFT_SECTION_ABSENT);
        CHECK_U64(entities_of(to.world), round % 2 == 0 ? ROWS : 0);
    }
    stage_end(&to);
    stage_end(&from);
}

/* What the system of docs/guide/streaming.md knows. */
typedef struct walk {
    weft_stream *stream;
    weft_query viewers; /* place of the viewer: it alone has no cable */
} walk;

static void stream_near(weft_slice *slice, void *user)
{
    const walk *w = user;
    weft_world *world = weft_slice_world(slice);
    float at[3] = {0};
    weft_cursor cursor = weft_query_begin(world, w->viewers);
    while (weft_query_next(&cursor))
        memcpy(at, WEFT_READ_COLUMN(&cursor.slice, 0, place)->at, sizeof at);
    weft_query_end(&cursor);
    CHECK_OK(weft_stream_near(w->stream, at, 300, 800));
    CHECK_OK(weft_stream_step(world, 500000));
}

PLAIN_TEST(an_exclusive_system_loads_what_is_near)
{
    stage from = file_make(), to = stage_make(2);
    weft_component viewer = WEFT_TAG(to.world, "viewer"), list[2] = {to.place, viewer};
    walk w = {stream_open(&to, &from, &(weft_stream_desc){.lockstep = 1}),
              weft_query_create(to.world,
                                &(weft_query_desc){.terms = {{to.place, WEFT_READ}, {viewer}}})};
    const weft_system_desc desc = {
        .name = "streaming", .run = stream_near, .user = &w, .flags = WEFT_SYSTEM_EXCLUSIVE};
    CHECK(weft_system_create(to.world, &desc).id != 0);
    weft_entity walker;
    CHECK_OK(
        weft_entity_create_many(to.world, weft_archetype_create(to.world, list, 2), 1, &walker));
    for (uint32_t step = 0; step < 60; step++) {
        place at = {{100.0f * (float)step, 10, 1}}; /* section k is at 1000 k */
        CHECK_OK(weft_entity_set(to.world, walker, to.place, &at, sizeof at));
        CHECK_OK(weft_world_step(to.world, 0.01f));
        if (step % 10 != 5 || step < 10) continue; /* half-way: the last one stays until 800 */
        CHECK_U64(state_of(w.stream, step / 10), WEFT_SECTION_LOADED);
        CHECK_U64(state_of(w.stream, step / 10 + 1), WEFT_SECTION_ABSENT);
        if (step > 20) CHECK_U64(state_of(w.stream, step / 10 - 1), WEFT_SECTION_ABSENT);
    }
    CHECK_OK(weft_stream_wait(to.world));
    world_check(to.world);
    stage_end(&to);
    stage_end(&from);
}
