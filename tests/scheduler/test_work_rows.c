/* SPDX-License-Identifier: MIT */
/* test_work_rows.c: what a step does beside calling systems has a row each in figures and reports:
 * relations, playback, observers, hashing. Together with the systems they are the step, and a row
 * whose work is not done is zero. One worker, so that work and time are the same. */
#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/state_log.h>
#include <weft/weft.h>

#include "plain.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 20000, STEPS = 12 };
enum { RELATIONS = 1, PLAYBACK = 2, OBSERVERS = 4, HASHING = 8, HOST = 16, WORKS = 32 };

/* A world that does in each step what `works` says. Owner: the test. */
typedef struct bed {
    uint32_t works;
    weft_world *world;
    weft_component a, tag, parent;
    weft_entity parents[2], entities[ROWS];
} bed;

static void spin(weft_slice *slice, void *user)
{
    float *a = weft_slice_write(slice, 0);
    (void)user;
    for (int k = 0; k < 40; k++)
        for (uint32_t i = 0; i < weft_slice_count(slice); i++) a[i] = a[i] * 0.5f + 1;
}

/* Gives every tenth row a tag, or takes it away. */
static void record(weft_slice *slice, void *user)
{
    const bed *b = user;
    const bool is_added = weft_world_frame(b->world).number % 2 == 1;
    weft_recorder *recorder = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i += 10) {
        const weft_entity entity = weft_slice_entities(slice)[i];
        if (is_added)
            weft_recorder_add(recorder, entity, b->tag);
        else
            weft_recorder_remove(recorder, entity, b->tag);
    }
}

/* Gives every row the other parent. */
static void relink(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_target *target = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        target[i].entity = b->parents[weft_world_frame(b->world).number % 2];
}

static void see(const weft_observation *observation, void *user)
{
    (void)observation, (void)user;
}

static weft_result drop(void *user, const void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return WEFT_OK;
}

static void begin(bed *b, uint32_t works)
{
    *b = (bed){.works = works};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &b->world));
    b->a = weft_component_create_plain(b->world, "a", 4, 4, 0);
    b->tag = weft_component_create_plain(b->world, "tag", 0, 1, 0);
    weft_component both[2] = {b->a};
    if ((works & (RELATIONS | HOST)) != 0) both[1] = b->parent = weft_component_parent(b->world);
    for (int i = 0; i < 2; i++) b->parents[i] = weft_entity_create(b->world, (weft_archetype){0});
    const weft_archetype archetype =
        weft_archetype_create(b->world, both, (works & (RELATIONS | HOST)) != 0 ? 2 : 1);
    CHECK_OK(weft_entity_create_many(b->world, archetype, ROWS, b->entities));
    weft_system_create(
        b->world,
        &(weft_system_desc){.name = "spin", .run = spin, .over.rows.terms = {{b->a, WEFT_WRITE}}});
    if ((works & PLAYBACK) != 0)
        weft_system_create(b->world,
                           &(weft_system_desc){.name = "record",
                                               .run = record,
                                               .user = b,
                                               .effects = WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE,
                                               .over.rows.terms = {{b->a, WEFT_READ}}});
    if ((works & RELATIONS) != 0)
        weft_system_create(b->world,
                           &(weft_system_desc){.name = "relink",
                                               .run = relink,
                                               .user = b,
                                               .over.rows.terms = {{b->parent, WEFT_WRITE}}});
    if ((works & OBSERVERS) != 0)
        CHECK(weft_observer_create(b->world, &(weft_observer_desc){.name = "see",
                                                                   .on = WEFT_ON_CHANGED,
                                                                   .component = b->a,
                                                                   .run = see})
                  .id != 0);
    if ((works & HASHING) != 0)
        CHECK_OK(weft_state_log_begin(b->world, &(weft_state_log_desc){.writer.write = drop}));
    CHECK_OK(weft_schedule_set(b->world, &(weft_schedule_desc){.is_measured = true}));
}

static uint64_t time_of_systems(const bed *b)
{
    weft_system systems[8];
    uint64_t ns = 0;
    const uint32_t count = weft_system_list(b->world, systems, 8);
    for (uint32_t i = 0; i < count; i++) {
        weft_system_stats stats;
        CHECK_OK(weft_system_stats_get(b->world, systems[i], &stats, sizeof stats));
        ns += stats.time_ns;
    }
    return ns;
}

static weft_frame_stats figures(const bed *b)
{
    weft_frame_stats stats;
    weft_frame_stats_get(b->world, &stats, sizeof stats);
    return stats;
}

static uint64_t sum_of(const weft_frame_stats *stats)
{
    return stats->relations_ns + stats->playback_ns + stats->observers_ns + stats->hashing_ns;
}

/* What the next step settles before its first stage. */
static void relink_here(const bed *b)
{
    for (uint32_t i = 0; i < ROWS && (b->works & HOST) != 0; i++) {
        const weft_target target = {b->parents[weft_world_frame(b->world).number % 2]};
        CHECK_OK(weft_entity_set(b->world, b->entities[i], b->parent, &target, sizeof target));
    }
}

/* The part of a step that has a row, in percent; the best of several: others use the machine. */
static double told_part(const bed *b)
{
    double best = 0;
    for (int i = 0; i < STEPS; i++) {
        relink_here(b);
        CHECK_OK(weft_world_step(b->world, 1));
        const weft_frame_stats stats = figures(b);
        const uint64_t told = time_of_systems(b) + sum_of(&stats);
        const double part = 100 * (double)told / (double)stats.frame_ns;
        CHECK(told <= stats.frame_ns);
        if (part > best) best = part;
    }
    return best;
}

PLAIN_TEST(a_row_is_zero_where_its_work_is_not_done_and_all_rows_are_the_step)
{
    for (uint32_t works = 0; works < WORKS; works++) {
        static bed b;
        begin(&b, works);
        const double part = told_part(&b);
        const weft_frame_stats stats = figures(&b);
        CHECK_F64(part, 100.0, 5.0);
        CHECK((stats.relations_ns != 0) == ((works & (RELATIONS | HOST)) != 0));
        CHECK((stats.playback_ns != 0) == ((works & PLAYBACK) != 0));
        CHECK((stats.observers_ns != 0) == ((works & OBSERVERS) != 0));
        CHECK((stats.hashing_ns != 0) == ((works & HASHING) != 0));
        CHECK_OK(weft_world_destroy(b.world));
    }
}

PLAIN_TEST(times_are_taken_where_they_are_asked_for_only)
{
    static bed b;
    begin(&b, WORKS - 1);
    CHECK_OK(weft_schedule_set(b.world, &(weft_schedule_desc){.is_measured = false}));
    CHECK_OK(weft_world_step(b.world, 1));
    const weft_frame_stats stats = figures(&b);
    CHECK_U64(sum_of(&stats), 0);
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(the_state_log_is_zero_again_when_it_has_ended)
{
    static bed b;
    begin(&b, HASHING);
    CHECK_OK(weft_world_step(b.world, 1));
    CHECK(figures(&b).hashing_ns != 0);
    CHECK_OK(weft_state_log_end(b.world));
    CHECK_OK(weft_world_step(b.world, 1));
    CHECK_U64(figures(&b).hashing_ns, 0);
    CHECK_OK(weft_world_destroy(b.world));
}

/* The state log's time behind a system is not the system's. */
PLAIN_TEST(a_system_takes_as_long_with_a_state_log_as_without)
{
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX};
    for (uint32_t k = 0; k < 2; k++) {
        static bed b;
        begin(&b, k == 0 ? 0 : HASHING);
        for (int i = 0; i < STEPS; i++) {
            CHECK_OK(weft_world_step(b.world, 1));
            const uint64_t ns = time_of_systems(&b);
            if (ns < least[k]) least[k] = ns;
        }
        CHECK_OK(weft_world_destroy(b.world));
    }
    CHECK(least[1] < 2 * least[0]);
}

PLAIN_TEST(reports_tell_every_row)
{
    static const char *const names[] = {"relations", "playback", "observers", "hashing"};
    static char text[65536];
    static bed b;
    begin(&b, WORKS - 1);
    CHECK_OK(weft_world_step(b.world, 1));
    const weft_frame_stats stats = figures(&b);
    const uint64_t ns[] = {stats.relations_ns, stats.playback_ns, stats.observers_ns,
                           stats.hashing_ns};
    CHECK(weft_schedule_json(b.world, text, sizeof text) < sizeof text);
    for (int i = 0; i < 4; i++) {
        char part[96];
        snprintf(part, sizeof part, "{\"name\": \"%s\", \"time_ns\": %llu}", names[i],
                 (unsigned long long)ns[i]);
        CHECK(strstr(text, part) != NULL);
    }
    CHECK(weft_schedule_chain(b.world, text, sizeof text) < sizeof text);
    const char *line = strstr(text, "\nthe step: ");
    for (int i = 0; i < 4; i++) {
        char part[96];
        snprintf(part, sizeof part, ", %s ", names[i]);
        CHECK(line != NULL && strstr(line, part) != NULL);
    }
    CHECK(line != NULL && strstr(line, ", the rest ") != NULL);
    CHECK_OK(weft_schedule_set(b.world, &(weft_schedule_desc){.is_measured = false}));
    CHECK_OK(weft_world_step(b.world, 1));
    weft_schedule_chain(b.world, text, sizeof text);
    CHECK(strstr(text, "the step: ") == NULL);
    CHECK_OK(weft_world_destroy(b.world));
}
