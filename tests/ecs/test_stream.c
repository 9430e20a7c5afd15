/* SPDX-License-Identifier: MIT */
/* test_stream.c: sections come into a world and leave it: everything they have arrives, what the
 * world has beside stays, and the books are right at every step. */
#include "version_renewal.h" /* before `stage` is a type */

#include "stream_fixture.h"

#include <math.h>

/* All entities of a section by their number; the values must be what section_fill gave. */
static uint32_t section_look(const stage *s, uint32_t section, weft_entity *by_number)
{
    uint32_t found = 0;
    weft_query query = weft_query_create(
        s->world, &(weft_query_desc){.terms = {{s->place, WEFT_READ}, {s->link, WEFT_READ}}});
    CHECK(query.id != 0);
    weft_cursor cursor = weft_query_begin(s->world, query);
    while (weft_query_next(&cursor)) {
        const cable *links = WEFT_READ_COLUMN(&cursor.slice, 1, cable);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) {
            if (links[i].number / 100000 != section) continue;
            by_number[links[i].number % 100000] = weft_slice_entities(&cursor.slice)[i];
            found++;
        }
    }
    CHECK_OK(weft_query_destroy(s->world, query));
    return found;
}

static void section_check(const stage *s, uint32_t section, uint32_t count)
{
    weft_entity *e = calloc(count, sizeof *e);
    CHECK_U64(section_look(s, section, e), count);
    for (uint32_t i = 0; i < count; i++) {
        const cable *to = weft_entity_read(s->world, e[i], s->link);
        const place *at = weft_entity_read(s->world, e[i], s->place);
        CHECK(to != NULL && at != NULL);
        CHECK(weft_entity_equal(to->to, e[i / 2]));
        CHECK_F64((double)at->at[1], (double)i, 0);
        CHECK_U64(weft_entity_has(s->world, e[i], s->tag), i % 3 == 0);
        CHECK_U64(weft_entity_has(s->world, e[i], s->lot), i % 11 == 0);
        if (i % 5 == 0) {
            const uint32_t *lever = weft_entity_read(s->world, e[i], s->lever);
            CHECK_U64(*lever, i);
            CHECK_U64(weft_entity_is_enabled(s->world, e[i], s->lever), i % 10 != 0);
        }
        if (i % 13 == 0) {
            const uint32_t *colour = weft_entity_read_shared(s->world, e[i], s->colour);
            CHECK_U64(*colour, i % 26 == 0 ? 7 : 9);
        }
        if (i % 7 == 0) {
            const weft_buffer *buffer = weft_entity_read(s->world, e[i], s->children);
            CHECK_U64(buffer->count, i % 5);
            const weft_entity *children = weft_buffer_read(buffer);
            for (uint32_t k = 0; k < i % 5; k++) CHECK(weft_entity_equal(children[k], e[i / 3]));
        }
        const weft_section *own = weft_entity_read_shared(s->world, e[i], s->section);
        CHECK(own != NULL);
        CHECK_U64(own->section, section);
    }
    free(e);
}

/* A file of three sections; section 0 has 50 entities. */
enum { COUNT_0 = 50, COUNT_1 = 700, COUNT_2 = 9000 };

static stage file_make(void)
{
    stage s = stage_make(1);
    weft_entity *e = calloc(COUNT_2, sizeof *e);
    section_fill(&s, 0, COUNT_0, e);
    section_fill(&s, 1, COUNT_1, e);
    section_fill(&s, 2, COUNT_2, e);
    weft_result result = weft_sections_save(
        s.world, s.path,
        &(weft_sections_desc){.place = s.place, .place_at = {0, 4, 8}, .scene = 77});
    if (result != WEFT_OK) fprintf(stderr, "%s\n", weft_world_error(s.world)->text);
    CHECK_OK(result);
    free(e);
    return s;
}

PLAIN_TEST(sections_arrive_with_everything_and_leave_nothing_behind)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    CHECK_U64(weft_stream_section_count(stream), 3);
    weft_entity mine[3000];
    weft_archetype plain = weft_archetype_create(to.world, &to.place, 1);
    CHECK_OK(weft_entity_create_many(to.world, plain, 3000, mine));
    for (int round = 0; round < 4; round++) {
        CHECK_OK(weft_stream_load(stream, 1, 0));
        CHECK_OK(weft_stream_load(stream, 2, 1));
        CHECK_OK(weft_stream_step(to.world, 0));
        world_check(to.world);
        CHECK_OK(weft_stream_wait(to.world));
        world_check(to.world);
        section_check(&to, 0, COUNT_0);
        section_check(&to, 1, COUNT_1);
        section_check(&to, 2, COUNT_2);
        CHECK_U64(entities_of(to.world), 3000 + COUNT_0 + COUNT_1 + COUNT_2);
        CHECK_OK(weft_stream_unload(stream, 2));
        CHECK_OK(weft_stream_step(to.world, 0));
        world_check(to.world);
        CHECK_U64(entities_of(to.world), 3000 + COUNT_0 + COUNT_1);
        CHECK_OK(weft_stream_unload(stream, 1));
        CHECK_OK(weft_stream_wait(to.world));
        world_check(to.world);
        CHECK_U64(entities_of(to.world), 3000);
        CHECK_U64(state_of(stream, 0), WEFT_SECTION_ABSENT);
        CHECK(weft_entity_is_alive(to.world, mine[2999]));
    }
    weft_stream_close(stream);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(places_and_priorities_that_are_no_numbers_are_refused)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    const float bad[] = {(float)NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 9; i++) {
        float at[3] = {1000, 0, 0};
        at[i % 3] = bad[i / 3];
        CHECK_RESULT(weft_stream_near(stream, at, 10, 20), WEFT_INVALID_ARGUMENT);
        CHECK(strstr(weft_world_error(to.world)->text, "not finite") != NULL);
    }
    const float at[3] = {1000, 0, 0};
    CHECK_RESULT(weft_stream_near(stream, at, (float)NAN, 20), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_stream_near(stream, at, 10, (float)NAN), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_stream_load(stream, 1, (float)NAN), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(to.world)->text, "priority") != NULL);
    CHECK_OK(weft_stream_wait(to.world));
    for (uint32_t i = 0; i < 3; i++) CHECK_U64(state_of(stream, i), WEFT_SECTION_ABSENT);
    CHECK_OK(weft_stream_near(stream, at, 10, INFINITY));
    CHECK_OK(weft_stream_load(stream, 2, -INFINITY));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(what_is_known_of_sections_before_they_are_loaded)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    weft_section_info info;
    CHECK_OK(weft_stream_section_get(stream, 2, &info, sizeof info));
    CHECK_U64(info.rows, COUNT_2);
    CHECK(info.has_bounds && info.chunks != 0 && info.bytes > COUNT_2 * 28);
    CHECK_F64((double)info.least[0], 2000, 0);
    CHECK_F64((double)info.most[1], COUNT_2 - 1, 0);
    CHECK_U64(info.state, WEFT_SECTION_ABSENT);
    CHECK_RESULT(weft_stream_section_get(stream, 3, &info, sizeof info), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_stream_load(stream, 3, 0), WEFT_INVALID_ARGUMENT);
    float at[3] = {1000, 0, 0};
    CHECK_OK(weft_stream_near(stream, at, 10, 20));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_ABSENT);
    at[0] = 2000;
    CHECK_OK(weft_stream_near(stream, at, 10, 20));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_ABSENT);
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
    stage_end(&to); /* closes the stream */
    stage_end(&from);
}

PLAIN_TEST(entities_that_moved_out_of_their_section_stay)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    CHECK_OK(weft_stream_load(stream, 2, 0));
    CHECK_OK(weft_stream_wait(to.world));
    weft_entity *e = calloc(COUNT_2, sizeof *e);
    CHECK_U64(section_look(&to, 2, e), COUNT_2);
    for (uint32_t i = 0; i < COUNT_2; i += 1000)
        CHECK_OK(weft_entity_remove(to.world, e[i], to.section));
    CHECK_OK(weft_entity_remove(to.world, e[4], to.section));
    weft_entity guest;
    weft_archetype same = weft_entity_archetype(to.world, e[2]); /* in the chunk of e[4] */
    CHECK_OK(weft_entity_create_many(to.world, same, 1, &guest));
    const weft_section own =
        *(const weft_section *)weft_entity_read_shared(to.world, e[2], to.section);
    CHECK_OK(weft_entity_set_shared(to.world, guest, to.section, &own));
    CHECK_OK(weft_stream_unload(stream, 2));
    CHECK_OK(weft_stream_wait(to.world));
    world_check(to.world);
    CHECK_U64(entities_of(to.world), COUNT_2 / 1000 + 1);
    for (uint32_t i = 0; i < COUNT_2; i++)
        CHECK_U64(weft_entity_is_alive(to.world, e[i]), i % 1000 == 0 || i == 4);
    CHECK(!weft_entity_is_alive(to.world, guest));
    CHECK_OK(weft_stream_load(stream, 2, 0));
    CHECK_OK(weft_stream_wait(to.world));
    world_check(to.world);
    CHECK_U64(entities_of(to.world), COUNT_2 / 1000 + 1 + COUNT_0 + COUNT_2);
    weft_stream_close(stream);
    world_check(to.world);
    CHECK_U64(entities_of(to.world), COUNT_2 / 1000 + 1);
    free(e);
    stage_end(&to);
    stage_end(&from);
}

/* The versions of now become older than versions are kept. */
static void versions_pass(weft_world *world)
{
    for (uint32_t i = 0; i < 8; i++) {
        weft__front(world)->version += WEFT__VERSION_KEPT / 4;
        (void)weft_world_advance_change_version(world);
    }
}

static void swap_a_row(bool is_long_ago)
{
    stage from = file_make(), to = stage_make(1);
    weft_component list[3] = {to.place, to.link, to.section};
    weft_entity guest, e[COUNT_1];
    CHECK_OK(weft_entity_create_many(to.world, weft_archetype_create(to.world, list, 3), 1,
                                     &guest)); /* has an id of no block of the section */
    weft_stream *stream = stream_open(&to, &from, NULL);
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(section_look(&to, 1, e), COUNT_1);
    const weft_section own =
        *(const weft_section *)weft_entity_read_shared(to.world, e[4], to.section);
    CHECK_OK(weft_entity_remove(to.world, e[4], to.section));
    CHECK_OK(weft_entity_set_shared(to.world, guest, to.section, &own));
    if (is_long_ago) versions_pass(to.world);
    CHECK_OK(weft_stream_unload(stream, 1));
    CHECK_OK(weft_stream_wait(to.world));
    world_check(to.world);
    CHECK(weft_entity_is_alive(to.world, e[4]));
    CHECK(!weft_entity_is_alive(to.world, guest));
    CHECK_U64(entities_of(to.world), 1);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(a_chunk_with_another_row_in_its_place_is_not_as_it_came)
{
    swap_a_row(false);
}

PLAIN_TEST(a_chunk_that_changed_versions_ago_is_not_as_it_came)
{
    swap_a_row(true);
}

PLAIN_TEST(chunks_that_a_restore_made_again_leave_like_those_that_came)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    weft_snapshot *snapshot;
    weft_query all =
        weft_query_create(to.world, &(weft_query_desc){.terms = {{to.place, WEFT_READ}}});
    for (int round = 0; round < 2; round++) {
        CHECK_OK(weft_stream_load(stream, 2, 0));
        CHECK_OK(weft_stream_wait(to.world));
        CHECK_OK(weft_snapshot_take(to.world, NULL, &snapshot));
        CHECK_OK(weft_query_destroy_entities(to.world, all));
        CHECK_U64(entities_of(to.world), 0);
        CHECK_OK(weft_snapshot_restore(to.world, snapshot));
        section_check(&to, 2, COUNT_2);
        CHECK_OK(weft_stream_unload(stream, 2));
        CHECK_OK(weft_stream_step(to.world, 0)); /* the crew frees chunks from here on */
        for (uint32_t i = 0; i < 200; i++)
            CHECK_OK(weft_entity_destroy(
                to.world, weft_entity_create(to.world, WEFT_ARCHETYPE(to.world, to.tag))));
        CHECK_OK(weft_stream_wait(to.world));
        world_check(to.world);
        CHECK_U64(entities_of(to.world), 0);
        weft_snapshot_destroy(snapshot);
    }
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(a_snapshot_from_before_a_section_came_or_left_is_refused)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    weft_snapshot *before, *with;
    CHECK_OK(weft_snapshot_take(to.world, NULL, &before));
    CHECK_OK(weft_snapshot_restore(to.world, before)); /* nothing came yet */
    CHECK_OK(weft_stream_load(stream, 2, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_RESULT(weft_snapshot_restore(to.world, before), WEFT_UNSUPPORTED);
    CHECK(strstr(weft_world_error(to.world)->text, "sections came or left") != NULL);
    section_check(&to, 2, COUNT_2);
    CHECK_OK(weft_snapshot_take(to.world, NULL, &with));
    CHECK_OK(weft_snapshot_restore(to.world, with));
    CHECK_OK(weft_stream_unload(stream, 2));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_RESULT(weft_snapshot_restore(to.world, with), WEFT_UNSUPPORTED);
    CHECK_U64(entities_of(to.world), 0);
    weft_snapshot_destroy(before);
    weft_snapshot_destroy(with);
    stage_end(&to);
    stage_end(&from);
}

/* Requests by calls are the stream's: a restore leaves them as they are. Those of entities are the
 * world's. */
PLAIN_TEST(a_restore_leaves_requests_by_calls_and_puts_back_those_of_entities)
{
    stage from = file_make(), to = stage_make(1);
    weft_component asks = weft_component_section_request(to.world);
    weft_stream *stream = stream_open(&to, &from, NULL);
    weft_snapshot *without, *with;
    CHECK_OK(weft_snapshot_take(to.world, NULL, &without));
    /* asked for after the snapshot: it still is */
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_snapshot_restore(to.world, without));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
    /* let go and not yet gone: it still is let go */
    CHECK_OK(weft_snapshot_take(to.world, NULL, &with));
    CHECK_OK(weft_stream_unload(stream, 1));
    CHECK_OK(weft_snapshot_restore(to.world, with));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(entities_of(to.world), 0);
    weft_snapshot_destroy(with);
    weft_snapshot_destroy(without);
    /* by an entity that is put back: asked for, or no longer */
    CHECK_OK(weft_snapshot_take(to.world, NULL, &without));
    weft_section_request request = {weft_stream_number(stream), 2, 0};
    weft_entity e = weft_entity_create(to.world, weft_archetype_create(to.world, &asks, 1));
    CHECK_OK(weft_entity_set(to.world, e, asks, &request, sizeof request));
    CHECK_OK(weft_snapshot_take(to.world, NULL, &with));
    CHECK_OK(weft_snapshot_restore(to.world, without));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_ABSENT);
    CHECK_OK(weft_snapshot_restore(to.world, with)); /* nothing came */
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
    CHECK_RESULT(weft_snapshot_restore(to.world, without), WEFT_UNSUPPORTED);
    weft_snapshot_destroy(with);
    weft_snapshot_destroy(without);
    stage_end(&to);
    stage_end(&from);
}

/* Steps of streams go on counting: what a request waits for under lockstep is not made longer. */
PLAIN_TEST(a_restore_under_lockstep_counts_no_step_again)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, &(weft_stream_desc){.lockstep = 4});
    weft_snapshot *snapshot;
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_snapshot_take(to.world, NULL, &snapshot)); /* no step has seen it */
    CHECK_OK(weft_stream_step(to.world, 0));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_READING);
    CHECK_RESULT(weft_snapshot_restore(to.world, snapshot), WEFT_BUSY);
    weft_snapshot *other;
    CHECK_RESULT(weft_snapshot_take(to.world, NULL, &other), WEFT_BUSY);
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_RESULT(weft_snapshot_restore(to.world, snapshot), WEFT_UNSUPPORTED);
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_stream_unload(stream, 1));
    CHECK_OK(weft_stream_step(to.world, 0));
    CHECK_OK(weft_snapshot_take(to.world, NULL, &snapshot));
    for (int step = 0; step < 3; step++) {
        CHECK_OK(weft_stream_step(to.world, 0));
        CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
        CHECK_OK(weft_snapshot_restore(to.world, snapshot));
    }
    CHECK_OK(weft_stream_step(to.world, 0));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LEAVING);
    CHECK_OK(weft_stream_wait(to.world));
    weft_snapshot_destroy(snapshot);
    stage_end(&to);
    stage_end(&from);
}

/* Handles of entities that ended. */
typedef struct graves {
    weft_entity at[64];
    uint32_t count;
} graves;

static void graves_check(const graves *g, weft_world *world)
{
    for (uint32_t i = 0; i < g->count; i++) CHECK(!weft_entity_is_alive(world, g->at[i]));
}

/* Some rows of the section, which end with it. */
static void rows_note(graves *g, const stage *s)
{
    weft_query all = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->section}}});
    weft_cursor cursor = weft_query_begin(s->world, all);
    for (uint32_t n = 0; weft_query_next(&cursor) && n < 6; n++)
        g->at[g->count++] = weft_slice_entities(&cursor.slice)[0];
    weft_query_end(&cursor);
    CHECK_OK(weft_query_destroy(s->world, all));
}

/* Some slot has more lives behind it than those before it. */
static void lives_end(graves *g, const stage *s, uint32_t lives)
{
    weft_archetype archetype = weft_archetype_create(s->world, &s->place, 1);
    weft_entity before[5];
    CHECK_OK(weft_entity_create_many(s->world, archetype, 5, before));
    for (uint32_t i = 0; i < lives; i++) {
        CHECK_OK(weft_entity_create_many(s->world, archetype, 1, &g->at[g->count]));
        CHECK_OK(weft_entity_destroy(s->world, g->at[g->count++]));
    }
    for (uint32_t i = 0; i < 5; i++) CHECK_OK(weft_entity_destroy(s->world, before[i]));
}

PLAIN_TEST(handles_of_entities_that_were_never_live_again)
{
    stage from = file_make(), to = stage_make(1);
    graves g = {0};
    lives_end(&g, &to, 4);
    weft_stream *stream = stream_open(&to, &from, NULL);
    for (uint32_t round = 0; round < 4; round++) {
        CHECK_OK(weft_stream_load(stream, 1, 0));
        CHECK_OK(weft_stream_wait(to.world));
        CHECK_U64(entities_of(to.world), COUNT_0 + COUNT_1);
        graves_check(&g, to.world);
        rows_note(&g, &to);
        CHECK_OK(weft_stream_unload(stream, 1));
        CHECK_OK(weft_stream_wait(to.world));
        graves_check(&g, to.world);
        if (round == 1) lives_end(&g, &to, 3); /* in a block that ended as a whole */
    }
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(references_between_sections_come_and_go_with_their_target)
{
    stage from = stage_make(1), to = stage_make(1);
    weft_entity a[40], b[40], zero[4];
    section_fill(&from, 0, 4, zero);
    section_fill(&from, 1, 40, a);
    section_fill(&from, 2, 40, b);
    cable one = {.to = b[5], .number = 100001}, two = {.to = a[7], .number = 200001},
          three = {.to = zero[2], .number = 100002};
    CHECK_OK(weft_entity_set(from.world, a[1], from.link, &one, sizeof one));
    CHECK_OK(weft_entity_set(from.world, b[1], from.link, &two, sizeof two));
    CHECK_OK(weft_entity_set(from.world, a[2], from.link, &three, sizeof three));
    CHECK_OK(test_buffer_append(from.world, from.children, a[7], &b[6], 1));
    CHECK_OK(weft_sections_save(from.world, from.path, NULL));
    weft_stream *stream = stream_open(&to, &from, NULL);
    for (int round = 0; round < 3; round++) {
        CHECK_OK(weft_stream_load(stream, 1, 0));
        CHECK_OK(weft_stream_wait(to.world));
        weft_entity in[40] = {{0}}, there[40] = {{0}};
        CHECK_U64(section_look(&to, 1, in), 40);
        weft_stream_stats stats;
        weft_stream_stats_get(to.world, &stats, sizeof stats);
        CHECK_U64(stats.late_references, 2);
        CHECK_U64(((const cable *)weft_entity_read(to.world, in[1], to.link))->to.version, 0);
        weft_entity prefab = ((const cable *)weft_entity_read(to.world, in[2], to.link))->to;
        CHECK_U64(((const cable *)weft_entity_read(to.world, prefab, to.link))->number, 2);
        CHECK_OK(weft_stream_load(stream, 2, 0));
        CHECK_OK(weft_stream_wait(to.world));
        CHECK_U64(section_look(&to, 2, there), 40);
        const cable *now = weft_entity_read(to.world, in[1], to.link);
        CHECK(weft_entity_equal(now->to, there[5]));
        now = weft_entity_read(to.world, there[1], to.link);
        CHECK(weft_entity_equal(now->to, in[7]));
        const weft_buffer *buffer = weft_entity_read(to.world, in[7], to.children);
        const weft_entity *elements = weft_buffer_read(buffer);
        CHECK(weft_entity_equal(elements[buffer->count - 1], there[6]));
        CHECK_OK(weft_stream_unload(stream, 2));
        CHECK_OK(weft_stream_wait(to.world));
        now = weft_entity_read(to.world, in[1], to.link);
        CHECK_U64(now->to.version, 0);
        /* what the run writes there stays */
        cable mine = {.to = in[9], .number = 100001};
        if (round == 1) CHECK_OK(weft_entity_set(to.world, in[1], to.link, &mine, sizeof mine));
        CHECK_OK(weft_stream_load(stream, 2, 0));
        CHECK_OK(weft_stream_wait(to.world));
        memset(there, 0, sizeof there);
        CHECK_U64(section_look(&to, 2, there), 40);
        now = weft_entity_read(to.world, in[1], to.link);
        CHECK(weft_entity_equal(now->to, round == 1 ? in[9] : there[5]));
        CHECK_OK(weft_stream_unload(stream, 1));
        CHECK_OK(weft_stream_wait(to.world));
        CHECK_U64(((const cable *)weft_entity_read(to.world, there[1], to.link))->to.version, 0);
        CHECK_OK(weft_stream_unload(stream, 2));
        CHECK_OK(weft_stream_wait(to.world));
        world_check(to.world);
        CHECK_U64(entities_of(to.world), 0);
    }
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(a_section_that_is_no_longer_wanted_while_it_is_read_gives_everything_back)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    CHECK_OK(weft_stream_load(stream, 0, 0));
    CHECK_OK(weft_stream_wait(to.world));
    for (int round = 0; round < 20; round++) {
        CHECK_OK(weft_stream_load(stream, 2, 0));
        CHECK_OK(weft_stream_step(to.world, 1));
        CHECK_OK(weft_stream_unload(stream, 2));
        if (round % 2 == 0) CHECK_OK(weft_stream_step(to.world, 1));
        CHECK_OK(weft_stream_wait(to.world));
        world_check(to.world);
        CHECK_U64(entities_of(to.world), COUNT_0);
    }
    weft_stream_stats stats;
    weft_stream_stats_get(to.world, &stats, sizeof stats);
    CHECK_U64(stats.under_way, 0);
    CHECK(stats.cancelled != 0);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(two_instances_are_placed_apart_and_have_entities_of_their_own)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *one = stream_open(&to, &from, NULL), *two = stream_open(&to, &from, NULL);
    weft_stream *all[2];
    CHECK_U64(weft_stream_list(to.world, NULL, 0), 2);
    CHECK_U64(weft_stream_list(to.world, all, 2), 2);
    CHECK(all[0] == one && all[1] == two && weft_stream_list(from.world, all, 2) == 0);
    weft_section_info info;
    CHECK_OK(weft_stream_section_get(two, 1, &info, sizeof info));
    CHECK(access(info.path, R_OK) == 0);
    CHECK_OK(weft_stream_load(one, 1, 0));
    CHECK_OK(weft_stream_load(two, 1, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(entities_of(to.world), 2 * (COUNT_0 + COUNT_1));
    CHECK_OK(weft_stream_unload(one, 1));
    CHECK_OK(weft_stream_wait(to.world));
    section_check(&to, 1, COUNT_1);
    weft_stream_close(two);
    weft_stream_close(one);
    world_check(to.world);
    CHECK_U64(entities_of(to.world), 0);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(entities_ask_for_sections_as_long_as_they_live)
{
    stage from = file_make(), to = stage_make(1);
    weft_component asks = weft_component_section_request(to.world);
    weft_stream *stream = stream_open(&to, &from, NULL);
    weft_entity e[2];
    CHECK_OK(weft_entity_create_many(to.world, weft_archetype_create(to.world, &asks, 1), 2, e));
    weft_section_request request = {weft_stream_number(stream), 1, 0};
    for (int i = 0; i < 2; i++)
        CHECK_OK(weft_entity_set(to.world, e[i], asks, &request, sizeof request));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
    CHECK_OK(weft_entity_destroy(to.world, e[0]));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
    request.section = 2;
    CHECK_OK(weft_entity_set(to.world, e[1], asks, &request, sizeof request));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_ABSENT);
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
    CHECK_OK(weft_entity_destroy(to.world, e[1]));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(entities_of(to.world), 0);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(lockstep_shows_a_section_exactly_so_many_steps_later)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, &(weft_stream_desc){.lockstep = 3});
    for (int round = 0; round < 3; round++) {
        CHECK_OK(weft_stream_load(stream, 2, 0));
        for (int step = 0; step < 3; step++) {
            CHECK_OK(weft_stream_step(to.world, 1));
            CHECK_U64(state_of(stream, 2), WEFT_SECTION_READING);
        }
        CHECK_OK(weft_stream_step(to.world, 1));
        CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
        CHECK_OK(weft_stream_unload(stream, 2));
        for (int step = 0; step < 3; step++) {
            CHECK_OK(weft_stream_step(to.world, 1));
            CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
        }
        CHECK_OK(weft_stream_step(to.world, 1));
        CHECK_U64(state_of(stream, 2), WEFT_SECTION_LEAVING);
    }
    stage_end(&to);
    stage_end(&from);
}

/* After a wait what is asked for is there and all else has left, section 0 last. */
PLAIN_TEST(a_wait_ends_when_the_rest_has_left)
{
    for (uint32_t way = 0; way < 16; way++) {
        const uint32_t lockstep = way % 4, workers = 1 + way / 4 % 2;
        stage from = file_make(), to = stage_make(workers);
        weft_component asks = weft_component_section_request(to.world);
        weft_stream *stream =
            stream_open(&to, &from, &(weft_stream_desc){.lockstep = lockstep, .threads = workers});
        weft_stream *beside =
            way < 8 ? NULL : stream_open(&to, &from, &(weft_stream_desc){.lockstep = 3 - lockstep});
        for (uint32_t round = 0; round < 3; round++) {
            CHECK_OK(weft_stream_load(stream, 1, 0));
            if (beside != NULL) CHECK_OK(weft_stream_load(beside, 2, 0));
            CHECK_OK(weft_stream_wait(to.world));
            CHECK_U64(state_of(stream, 0), WEFT_SECTION_LOADED);
            CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
            CHECK_U64(state_of(stream, 2), WEFT_SECTION_ABSENT);
            for (uint32_t i = 0; i < round; i++) CHECK_OK(weft_stream_step(to.world, 0));
            CHECK_OK(weft_stream_load(stream, 2, 0));
            CHECK_OK(weft_stream_unload(stream, 1));
            CHECK_OK(weft_stream_wait(to.world));
            CHECK_U64(state_of(stream, 1), WEFT_SECTION_ABSENT);
            CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
            weft_section_request request = {weft_stream_number(stream), 2, 0};
            weft_entity e = weft_entity_create(to.world, weft_archetype_create(to.world, &asks, 1));
            CHECK_OK(weft_entity_set(to.world, e, asks, &request, sizeof request));
            CHECK_OK(weft_stream_unload(stream, 2));
            CHECK_OK(weft_stream_wait(to.world));
            CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
            CHECK_OK(weft_entity_destroy(to.world, e));
            if (beside != NULL) CHECK_OK(weft_stream_unload(beside, 2));
            CHECK_OK(weft_stream_wait(to.world));
            for (uint32_t i = 0; i < 3; i++) {
                CHECK_U64(state_of(stream, i), WEFT_SECTION_ABSENT);
                if (beside != NULL) CHECK_U64(state_of(beside, i), WEFT_SECTION_ABSENT);
            }
            CHECK_U64(entities_of(to.world), 0);
            weft_stream_stats stats;
            weft_stream_stats_get(to.world, &stats, sizeof stats);
            CHECK_U64(stats.under_way + stats.waiting + stats.bytes, 0);
            world_check(to.world);
        }
        stage_end(&to);
        stage_end(&from);
    }
}

PLAIN_TEST(a_memory_bound_keeps_the_sections_that_were_let_go_last)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_stream_load(stream, 2, 0));
    CHECK_OK(weft_stream_wait(to.world));
    weft_stream_stats stats;
    weft_stream_stats_get(to.world, &stats, sizeof stats);
    uint64_t all = stats.bytes;
    weft_stream_close(stream);
    stream = stream_open(&to, &from, &(weft_stream_desc){.bytes_max = all});
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_OK(weft_stream_unload(stream, 1));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED); /* room enough: kept */
    CHECK_OK(weft_stream_load(stream, 2, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_LOADED);
    weft_stream_close(stream);
    stream = stream_open(&to, &from, &(weft_stream_desc){.bytes_max = all - 1});
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_OK(weft_stream_load(stream, 2, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_WAITING); /* all are needed */
    CHECK_OK(weft_stream_unload(stream, 1));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(state_of(stream, 1), WEFT_SECTION_ABSENT);
    CHECK_U64(state_of(stream, 2), WEFT_SECTION_LOADED);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(saves_and_snapshots_wait_for_what_is_under_way)
{
    stage from = file_make(), to = stage_make(1);
    weft_stream *stream = stream_open(&to, &from, NULL);
    CHECK_OK(weft_stream_load(stream, 2, 0));
    CHECK_OK(weft_stream_step(to.world, 0));
    weft_world_bytes bytes;
    weft_snapshot *snapshot = NULL;
    CHECK_RESULT(weft_world_save_memory(to.world, &bytes, NULL), WEFT_BUSY);
    CHECK_RESULT(weft_snapshot_take(to.world, NULL, &snapshot), WEFT_BUSY);
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_OK(weft_world_save_memory(to.world, &bytes, NULL));
    weft_world_bytes_free(to.world, &bytes);
    stage_end(&to);
    stage_end(&from);
}

PLAIN_TEST(a_stream_holds_the_world_and_may_be_closed_while_sections_are_read)
{
    stage from = file_make();
    for (int round = 0; round < 8; round++) {
        stage to = stage_make(1);
        weft_stream *stream = stream_open(&to, &from, &(weft_stream_desc){.threads = 2});
        CHECK_OK(weft_stream_load(stream, 1, 0));
        CHECK_OK(weft_stream_load(stream, 2, 0));
        for (int step = 0; step < round; step++) CHECK_OK(weft_stream_step(to.world, 1));
        CHECK_RESULT(weft_world_destroy(to.world), WEFT_BUSY);
        CHECK(strstr(weft_world_error(to.world)->text, "streams: 1 (weft_stream_close)") != NULL);
        stage_end(&to);
    }
    stage_end(&from);
}

static const weft_field chunk_link_fields[] = {{"to", WEFT_FIELD_ENTITY, 0, 1}};

static weft_component chunk_link_create(weft_world *world)
{
    return weft_component_create(world, &(weft_component_desc){.name = "chunk link",
                                                               .size = sizeof(weft_entity),
                                                               .alignment = 4,
                                                               .flags = WEFT_CHUNK,
                                                               .fields = chunk_link_fields,
                                                               .field_count = 1});
}

/* The value of the one chunk that has it. */
static weft_entity *chunk_link(weft_world *world, weft_component link)
{
    weft_query query =
        weft_query_create(world, &(weft_query_desc){.terms = {{link, WEFT_WRITE, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(world, query);
    weft_entity *value = weft_query_next(&cursor) ? weft_slice_write_chunk(&cursor.slice, 0) : NULL;
    weft_query_end(&cursor);
    CHECK_OK(weft_query_destroy(world, query));
    CHECK(value != NULL);
    return value;
}

PLAIN_TEST(a_reference_in_a_chunk_value_comes_and_goes_with_the_section_of_its_target)
{
    stage from = stage_make(1), to = stage_make(1);
    weft_entity host, target;
    weft_stream *stream;
    weft_component link = chunk_link_create(from.world), same = chunk_link_create(to.world);
    weft_archetype tagged = weft_archetype_create(from.world, &from.tag, 1);
    CHECK_OK(weft_entity_create_many(from.world, tagged, 1, &host));
    CHECK_OK(weft_entity_create_many(from.world, tagged, 1, &target));
    section_put(&from, host, 1);
    section_put(&from, target, 2);
    CHECK_OK(weft_entity_add(from.world, host, link));
    *chunk_link(from.world, link) = target;
    CHECK_OK(weft_entity_set_name(from.world, target, "target"));
    CHECK_OK(weft_sections_save(from.world, from.path, &(weft_sections_desc){.with_names = true}));
    CHECK_OK(weft_stream_open(to.world, from.path, NULL, &stream));
    CHECK_OK(weft_stream_load(stream, 1, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(chunk_link(to.world, same)->version, 0);
    CHECK_OK(weft_stream_load(stream, 2, 0));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK(weft_entity_equal(*chunk_link(to.world, same), weft_entity_find(to.world, "target")));
    CHECK_OK(weft_stream_unload(stream, 2));
    CHECK_OK(weft_stream_wait(to.world));
    CHECK_U64(chunk_link(to.world, same)->version, 0);
    stage_end(&from);
    stage_end(&to);
}
