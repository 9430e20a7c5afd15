/* SPDX-License-Identifier: MIT */
/* test_frame.c: steps of small worlds: order, access, commands, conditions, rates. Every test
 * runs on one and on three workers, with every stage forced onto the pool. */
#include <weft/type.h>
#include <weft/weft.h>

#include "atomic.h"
#include "plain.h"

#include <stdio.h>
#include <string.h>

typedef struct position {
    float x, y;
} position;
typedef struct velocity {
    float x, y;
} velocity;
typedef struct link {
    weft_entity other;
    uint32_t value, padding;
} link;

/* A world with three plain components and a tag. */
typedef struct fixture {
    weft_world *world;
    weft_component position, velocity, link, marked;
} fixture;

static const weft_field link_fields[] = {{"other", WEFT_FIELD_ENTITY, offsetof(link, other), 0}};

static fixture begin(uint32_t workers)
{
    fixture f;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &f.world));
    f.position = WEFT_COMPONENT(f.world, position);
    f.velocity = WEFT_COMPONENT(f.world, velocity);
    f.link = weft_component_create(f.world, &(weft_component_desc){.name = "link",
                                                                   .size = sizeof(link),
                                                                   .fields = link_fields,
                                                                   .field_count = 1});
    f.marked = WEFT_TAG(f.world, marked);
    CHECK(f.link.id != 0 && f.marked.id != 0);
    CHECK_OK(weft_schedule_set(f.world, &(weft_schedule_desc){.is_always_parallel = workers > 1}));
    return f;
}

static void end(fixture *f)
{
    CHECK_OK(weft_world_validate(f->world));
    CHECK_OK(weft_world_destroy(f->world));
}

static void make_movers(fixture *f, uint32_t count, weft_entity *out)
{
    CHECK_OK(weft_entity_create_many(
        f->world, weft_archetype_create(f->world, (weft_component[]){f->position, f->velocity}, 2),
        count, out));
}

static void on_workers(void (*test)(uint32_t workers))
{
    test(1);
    test(3);
}

/* ---- rows ---- */

static void set_velocity(weft_slice *s, void *user)
{
    (void)user;
    velocity *v = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        v[i].x = (float)(s->first + i);
        v[i].y = 1;
    }
}

static void move(weft_slice *s, void *user)
{
    (void)user;
    position *p = weft_slice_write(s, 0);
    const velocity *v = weft_slice_read(s, 1);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        p[i].x += v[i].x * weft_slice_dt(s);
        p[i].y += v[i].y * weft_slice_dt(s);
    }
}

static weft_system add_move(fixture *f)
{
    return weft_system_create(
        f->world, &(weft_system_desc){.name = "move",
                                      .run = move,
                                      .over.rows.terms = {{f->position, WEFT_WRITE, 0, 0},
                                                          {f->velocity, 0, 0, 0}}});
}

static weft_system add_set_velocity(fixture *f)
{
    return weft_system_create(
        f->world, &(weft_system_desc){.name = "set_velocity",
                                      .run = set_velocity,
                                      .over.rows.terms = {{f->velocity, WEFT_WRITE, 0, 0}}});
}

static void rows_move(uint32_t workers)
{
    fixture f = begin(workers);
    static weft_entity entities[5000];
    make_movers(&f, 5000, entities);
    weft_system set = add_set_velocity(&f), mover = add_move(&f);
    CHECK(set.id != 0 && mover.id != 0);
    for (uint32_t i = 0; i < 4; i++) CHECK_OK(weft_world_step(f.world, 0.5f));
    for (uint32_t i = 0; i < 5000; i++) {
        const position *p = weft_entity_read(f.world, entities[i], f.position);
        CHECK_F64((double)p->x, 2.0 * i, 1e-3);
        CHECK_F64((double)p->y, 2.0, 1e-6);
    }
    weft_system_stats stats;
    CHECK_OK(weft_system_stats_get(f.world, mover, &stats, sizeof stats));
    CHECK_U64(stats.rows, 5000);
    CHECK_U64(stats.runs, 4);
    CHECK(stats.is_fused);
    weft_frame_stats frame;
    weft_frame_stats_get(f.world, &frame, sizeof frame);
    CHECK_U64(frame.stages, 1);
    CHECK_U64(frame.frames, 4);
    end(&f);
}

PLAIN_TEST(fused_systems_run_in_order_on_every_row)
{
    on_workers(rows_move);
}

/* ---- commands ---- */

static void mark_all(weft_slice *s, void *user)
{
    fixture *f = user;
    const weft_entity *entities = weft_slice_entities(s);
    weft_recorder *commands = weft_slice_recorder(s);
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        CHECK_OK(weft_recorder_add(commands, entities[i], f->marked));
}

static void count_rows(weft_slice *s, void *user)
{
    uint64_t *rows = user;
    *rows += weft_slice_count(s);
}

static void sync_before_observer(uint32_t workers)
{
    fixture f = begin(workers);
    make_movers(&f, 3000, NULL);
    uint64_t rows = 0;
    weft_system marker = weft_system_create(
        f.world,
        &(weft_system_desc){.name = "mark",
                            .run = mark_all,
                            .user = &f,
                            .effects = WEFT_RECORDS_ADD,
                            .records = {f.marked},
                            .over.rows.terms = {{f.position, 0, 0, 0},
                                                {f.marked, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
    weft_system counter = weft_system_create(
        f.world, &(weft_system_desc){.name = "count",
                                     .run = count_rows,
                                     .user = &rows,
                                     .flags = WEFT_SYSTEM_SERIAL,
                                     .over.rows.terms = {{f.marked, WEFT_NO_ACCESS, 0, 0}}});
    CHECK(marker.id != 0 && counter.id != 0);
    CHECK_OK(weft_world_step(f.world, 0));
    CHECK_U64(rows, 3000);
    weft_frame_stats stats;
    weft_frame_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.sync_points, 2);
    CHECK_U64(stats.commands, 3000);
    CHECK_OK(weft_world_step(f.world, 0));
    CHECK_U64(rows, 6000);
    char text[200];
    weft_schedule_sync_points(f.world, text, sizeof text);
    CHECK_TEXT(
        text,
        "before stage 1: 'count' could see commands of 'mark', which adds or sets marked, e.g. "
        "in archetype 2 (position velocity marked)\nend of the step\n");
    end(&f);
}

PLAIN_TEST(a_later_system_sees_commands_after_the_sync_point_between)
{
    on_workers(sync_before_observer);
}

static void spawn_linked(weft_slice *s, void *user)
{
    fixture *f = user;
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    weft_archetype archetype = weft_entity_archetype(weft_slice_world(s), entities[0]);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        weft_entity made = weft_recorder_create_entity(commands, archetype);
        link there = {entities[i], 7, 0}, back = {made, 9, 0};
        CHECK_OK(weft_recorder_set(commands, made, f->link, &there, sizeof there));
        CHECK_OK(weft_recorder_set(commands, entities[i], f->link, &back, sizeof back));
    }
}

static void deferred_handles(uint32_t workers)
{
    fixture f = begin(workers);
    static weft_entity entities[700];
    make_movers(&f, 700, entities);
    weft_system spawner = weft_system_create(
        f.world,
        &(weft_system_desc){
            .name = "spawn",
            .run = spawn_linked,
            .user = &f,
            .effects = WEFT_RECORDS_ANY,
            .over.rows.terms = {{f.position, 0, 0, 0}, {f.link, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
    CHECK(spawner.id != 0);
    CHECK_OK(weft_world_step(f.world, 0));
    for (uint32_t i = 0; i < 700; i++) {
        const link *back = weft_entity_read(f.world, entities[i], f.link);
        CHECK(back != NULL);
        CHECK_U64(back->value, 9);
        CHECK(weft_entity_is_alive(f.world, back->other));
        const link *there = weft_entity_read(f.world, back->other, f.link);
        CHECK(there != NULL);
        CHECK_U64(there->value, 7);
        CHECK_U64(there->other.index, entities[i].index);
        CHECK_U64(there->other.version, entities[i].version);
    }
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 1400);
    end(&f);
}

PLAIN_TEST(deferred_entities_become_real_in_targets_and_values)
{
    on_workers(deferred_handles);
}

static void destroy_all(weft_slice *s, void *user)
{
    (void)user;
    weft_recorder *commands = weft_slice_recorder(s);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        CHECK_OK(weft_recorder_destroy_entity(commands, weft_slice_entities(s)[i]));
        CHECK_OK(weft_recorder_destroy_entity(commands, weft_slice_entities(s)[i]));
    }
}

static void spawn_rows(weft_slice *s, void *user)
{
    const weft_archetype *archetype = user;
    weft_recorder *commands = weft_slice_recorder(s);
    for (uint32_t left = 300; left > 0;) {
        weft_slice rows;
        CHECK_OK(weft_recorder_create_rows(commands, *archetype, left, &rows));
        CHECK(rows.count > 0 && rows.count <= left);
        position *p = rows.columns[0];
        for (uint32_t i = 0; i < rows.count; i++)
            p[i].x = (float)(s->index * 1000 + 300 - left + i);
        left -= rows.count;
    }
}

static void storm(uint32_t workers)
{
    fixture f = begin(workers);
    weft_archetype archetype =
        weft_archetype_create(f.world, (weft_component[]){f.position, f.velocity}, 2);
    weft_system spawner = weft_system_create(
        f.world, &(weft_system_desc){.name = "spawn",
                                     .run = spawn_rows,
                                     .user = &archetype,
                                     .over = {.kind = WEFT_OVER_COUNT, .count = 20},
                                     .effects = WEFT_RECORDS_CREATE});
    CHECK(spawner.id != 0);
    CHECK_OK(weft_world_step(f.world, 0));
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 6000);
    CHECK_OK(weft_world_validate(f.world));
    CHECK_OK(weft_system_destroy(f.world, spawner));
    weft_system destroyer = weft_system_create(
        f.world, &(weft_system_desc){.name = "destroy",
                                     .run = destroy_all,
                                     .effects = WEFT_RECORDS_DESTROY,
                                     .over.rows.terms = {{f.position, 0, 0, 0}}});
    CHECK(destroyer.id != 0);
    CHECK_OK(weft_world_step(f.world, 0));
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 0);
    weft_frame_stats frame;
    weft_frame_stats_get(f.world, &frame, sizeof frame);
    CHECK_U64(frame.commands_skipped, 0);
    end(&f);
}

PLAIN_TEST(rows_made_in_jobs_are_linked_and_destroying_twice_is_fine)
{
    on_workers(storm);
}

/* ---- measuring ---- */

static void take_a_while(weft_slice *s, void *user)
{
    uint64_t *sum = user;
    for (uint32_t i = 0; i < 20000; i++) *sum = (*sum ^ *sum >> 7) * 0x9e3779b97f4a7c15 + s->count;
}

static weft_system_stats stats_of(const fixture *f, weft_system system)
{
    weft_system_stats stats;
    CHECK_OK(weft_system_stats_get(f->world, system, &stats, sizeof stats));
    return stats;
}

static void total_time_on(uint32_t workers)
{
    fixture f = begin(workers);
    uint64_t sum = 0, total = 0;
    make_movers(&f, 10, NULL);
    weft_system system = weft_system_create(
        f.world, &(weft_system_desc){.name = "slow",
                                     .run = take_a_while,
                                     .user = &sum,
                                     .over.rows.terms = {{f.position, WEFT_READ, WEFT_ALL, 0}}});
    CHECK_OK(weft_world_step(f.world, 0));
    CHECK_U64(stats_of(&f, system).total_ns, 0); /* not measured */
    CHECK_OK(weft_schedule_set(f.world, &(weft_schedule_desc){.is_measured = true}));
    for (uint32_t i = 0; i < 4; i++) {
        if (i % 2 == 0)
            CHECK_OK(weft_world_step(f.world, 0));
        else
            CHECK_OK(weft_system_run(f.world, system, 0));
        weft_system_stats stats = stats_of(&f, system);
        CHECK(stats.time_ns != 0);
        total += stats.time_ns;
        CHECK_U64(stats.total_ns, total);
    }
    CHECK_OK(weft_system_enable(f.world, system, false));
    CHECK_OK(weft_world_step(f.world, 0));
    CHECK_U64(stats_of(&f, system).total_ns, total);
    CHECK_OK(weft_schedule_set(f.world, &(weft_schedule_desc){0}));
    CHECK_OK(weft_system_enable(f.world, system, true));
    CHECK_OK(weft_world_step(f.world, 0));
    CHECK_U64(stats_of(&f, system).total_ns, total); /* the run was not timed */
    end(&f);
}

PLAIN_TEST(the_total_time_of_a_system_is_the_sum_of_its_measured_runs)
{
    on_workers(total_time_on);
}

static void critical_path_on(uint32_t workers)
{
    fixture f = begin(workers);
    uint64_t sums[3] = {0}, total = 0;
    weft_system systems[3];
    const uint32_t flags[3] = {WEFT_SYSTEM_MAIN_THREAD, WEFT_SYSTEM_MAIN_THREAD, 0};
    weft_frame_stats frame;
    CHECK_OK(weft_schedule_set(f.world, &(weft_schedule_desc){.is_measured = true}));
    for (uint32_t i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), 0};
        systems[i] = weft_system_create(
            f.world, &(weft_system_desc){
                         .name = name, .run = take_a_while, .user = &sums[i], .flags = flags[i]});
    }
    CHECK_OK(weft_world_step(f.world, 0));
    weft_frame_stats_get(f.world, &frame, sizeof frame);
    CHECK_U64(frame.stages, 1);
    for (uint32_t i = 0; i < 3; i++) total += stats_of(&f, systems[i]).time_ns;
    uint64_t owner = total - stats_of(&f, systems[2]).time_ns, shared = total / workers;
    CHECK_U64(frame.critical_path_ns, owner > shared ? owner : shared);
    CHECK(workers > 1 || frame.critical_path_ns <= frame.frame_ns);
    end(&f);
}

PLAIN_TEST(the_critical_path_counts_the_systems_of_the_owner_one_after_the_other)
{
    on_workers(critical_path_on);
}

/* ---- many slices of a chunk ---- */

enum { CALLERS = 19, MANY_ROWS = 3000 };

/* What one of the fused systems saw. Owner: the test; one slice is one caller's at a time. */
typedef struct caller {
    uint32_t number;
    uint8_t seen[MANY_ROWS]; /* rows by s->first */
    weft_a32 x_wrong;
} caller;

/* Rows carry their number in y and count in x which callers came by, in order. */
static void come_by(weft_slice *s, void *user)
{
    caller *c = user;
    position *p = weft_slice_write(s, 0);
    const weft_entity *own = weft_slice_read(s, 1), *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        bool is_right = p[i].y == (float)(s->first + i) &&
                        memcmp(&own[i], &entities[i], sizeof own[i]) == 0 &&
                        p[i].x == (float)(c->number > 4 ? c->number - 1 : c->number);
        if (!is_right) at_add_ar(&c->x_wrong, 1u);
        p[i].x += 1;
        c->seen[s->first + i]++;
    }
}

/* Rows that know their number and their own handle. */
static void make_numbered(fixture *f, weft_component self)
{
    static weft_entity rows[MANY_ROWS];
    CHECK_OK(weft_entity_create_many(
        f->world, weft_archetype_create(f->world, (weft_component[]){f->position, self}, 2),
        MANY_ROWS, rows));
    for (uint32_t i = 0; i < MANY_ROWS; i++) {
        position *p = weft_entity_write(f->world, rows[i], f->position);
        weft_entity *own = weft_entity_write(f->world, rows[i], self);
        CHECK(p != NULL && own != NULL);
        *p = (position){0, (float)i};
        *own = rows[i];
    }
}

static void many_callers_on(uint32_t workers, bool is_measured)
{
    static caller callers[CALLERS];
    fixture f = begin(workers);
    CHECK_OK(weft_schedule_set(f.world, &(weft_schedule_desc){.is_always_parallel = workers > 1,
                                                              .is_measured = is_measured}));
    weft_component self = weft_component_create_plain(f.world, "self", sizeof(weft_entity), 8, 0);
    memset(callers, 0, sizeof callers);
    make_numbered(&f, self);
    for (uint32_t i = 0; i < CALLERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "c%u", i);
        callers[i].number = i;
        weft_system system = weft_system_create(
            f.world, &(weft_system_desc){.name = name,
                                         .run = come_by,
                                         .user = &callers[i],
                                         .over.rows.terms = {{f.position, WEFT_WRITE, WEFT_ALL, 0},
                                                             {self, WEFT_READ, WEFT_ALL, 0}}});
        if (i == 4) CHECK_OK(weft_system_enable(f.world, system, false));
    }
    CHECK_OK(weft_world_step(f.world, 0));
    for (uint32_t i = 0; i < CALLERS; i++) {
        CHECK_U64(at_load_rlx(&callers[i].x_wrong), 0); /* relaxed: the step has ended */
        for (uint32_t row = 0; row < MANY_ROWS; row++) CHECK_U64(callers[i].seen[row], i != 4);
    }
    CHECK_U64(stats_of(&f, weft_system_find(f.world, "c18")).rows, MANY_ROWS);
    CHECK_U64(stats_of(&f, weft_system_find(f.world, "c4")).rows, 0);
    end(&f);
}

PLAIN_TEST(nineteen_fused_systems_see_each_row_of_a_large_chunk_once_and_in_order)
{
    for (uint32_t i = 0; i < 4; i++) many_callers_on(i % 2 == 0 ? 1 : 3, i / 2 == 1);
}

/* ---- runs of rows ---- */

PLAIN_TEST(runs_of_rows_with_gaps_and_repeats_play_as_recorded)
{
    fixture f = begin(1);
    weft_entity rows[200];
    weft_recorder *commands;
    make_movers(&f, 200, rows);
    CHECK_OK(weft_recorder_create(f.world, &commands));
    for (uint32_t i = 0; i < 60; i++) CHECK_OK(weft_recorder_destroy_entity(commands, rows[i]));
    for (uint32_t i = 40; i < 80; i++) CHECK_OK(weft_recorder_destroy_entity(commands, rows[i]));
    for (uint32_t i = 70; i < 120; i++) CHECK_OK(weft_recorder_add(commands, rows[i], f.marked));
    for (uint32_t i = 120; i < 200; i += 2)
        CHECK_OK(weft_recorder_destroy_entity(commands, rows[i]));
    CHECK_OK(weft_recorder_play(commands));
    for (uint32_t i = 0; i < 200; i++) {
        bool is_alive = i >= 80 && (i < 120 || i % 2 == 1);
        CHECK_U64(weft_entity_is_alive(f.world, rows[i]), is_alive);
        if (is_alive) CHECK_U64(weft_entity_has(f.world, rows[i], f.marked), i < 120);
    }
    weft_recorder_destroy(commands);
    end(&f);
}

PLAIN_TEST(names_of_many_rows_play_beside_destroys)
{
    fixture f = begin(1);
    weft_entity rows[200];
    weft_recorder *commands;
    make_movers(&f, 200, rows);
    CHECK_OK(weft_recorder_create(f.world, &commands));
    for (uint32_t i = 0; i < 100; i++) CHECK_OK(weft_recorder_set_name(commands, rows[i], "named"));
    for (uint32_t i = 50; i < 150; i++) CHECK_OK(weft_recorder_destroy_entity(commands, rows[i]));
    CHECK_OK(weft_recorder_play(commands));
    for (uint32_t i = 0; i < 200; i++) {
        CHECK_U64(weft_entity_is_alive(f.world, rows[i]), i < 50 || i >= 150);
        if (i < 50) CHECK_TEXT(weft_entity_name(f.world, rows[i]), "named");
        if (i >= 150) CHECK_TEXT(weft_entity_name(f.world, rows[i]), "");
    }
    weft_recorder_destroy(commands);
    end(&f);
}

PLAIN_TEST(switching_what_a_row_does_not_have_yet_means_nothing)
{
    fixture f = begin(1);
    weft_entity rows[200];
    weft_recorder *commands;
    weft_component lamp = weft_component_create_plain(f.world, "lamp", 4, 4, WEFT_ENABLEABLE);
    make_movers(&f, 200, rows);
    CHECK_OK(weft_recorder_create(f.world, &commands));
    for (uint32_t i = 0; i < 200; i++) {
        CHECK_OK(weft_recorder_enable(commands, rows[i], lamp, false));
        CHECK_OK(weft_recorder_add(commands, rows[i], lamp));
        if (i % 2 == 0) CHECK_OK(weft_recorder_enable(commands, rows[i], lamp, false));
    }
    CHECK_OK(weft_recorder_play(commands));
    for (uint32_t i = 0; i < 200; i++)
        CHECK_U64(weft_entity_is_enabled(f.world, rows[i], lamp), i % 2 != 0);
    weft_recorder_destroy(commands);
    end(&f);
}
