/* SPDX-License-Identifier: MIT */
/* test_transfer.c: entities that move from one world to another: everything they have arrives,
 * references follow, counts stay exact. */
#include "blob_fixture.h"
#include "buffer_append.h"
#include "plain.h"
#include "transfer_fixture.h"

#include <weft/world_text.h>

#include <string.h>

/* ---- item 129: move all, by query, append ---- */

PLAIN_TEST(all_entities_move_with_their_values_and_the_source_is_empty)
{
    enum { COUNT = 5000 };
    side a, b;
    open_pair(&a, &b);
    weft_entity e[COUNT], old[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        e[i] = old[i] = make(&a, i);
        if (i % 3 == 0) CHECK_OK(weft_entity_add(a.world, e[i], a.lever));
    }
    weft_entity there = make(&b, 77);
    weft_transfer_report report;
    CHECK_OK(weft_world_transfer(b.world, a.world,
                                 &(weft_transfer_desc){.tracked = e, .tracked_count = COUNT},
                                 &report, sizeof report));
    CHECK_U64(report.entities, COUNT);
    CHECK(report.chunks_kept != 0);
    CHECK_U64(entities_of(a.world), 0);
    CHECK_U64(entities_of(b.world), COUNT + 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK(!weft_entity_is_alive(a.world, old[i]));
        CHECK_U64(number_of(&b, e[i]), i);
        CHECK_U64(weft_entity_has(b.world, e[i], b.lever), i % 3 == 0);
    }
    CHECK_U64(number_of(&b, there), 77);
    CHECK_OK(weft_world_transfer(b.world, a.world, NULL, &report,
                                 sizeof report)); /* nothing is there to move */
    CHECK_U64(report.entities, 0);
    close_pair(&a, &b);
}

PLAIN_TEST(a_query_moves_exactly_the_rows_it_selects)
{
    enum { COUNT = 1000 };
    side a, b;
    open_pair(&a, &b);
    weft_entity e[COUNT], kept[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        e[i] = kept[i] = make(&a, i);
        CHECK_OK(weft_entity_add(a.world, e[i], a.lever));
        if (i % 2 == 1) CHECK_OK(weft_entity_enable(a.world, e[i], a.lever, false));
    }
    weft_query_desc desc = {.terms = {{a.value, WEFT_READ}, {a.lever, WEFT_READ}}};
    weft_query query = weft_query_create(a.world, &desc);
    CHECK(query.id != 0);
    CHECK_OK(weft_world_transfer(
        b.world, a.world,
        &(weft_transfer_desc){.query = query, .tracked = e, .tracked_count = COUNT}, NULL, 0));
    CHECK_OK(weft_world_validate(a.world));
    CHECK_U64(entities_of(b.world), COUNT / 2);
    CHECK_U64(weft_query_count(a.world, query), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 2 == 0) CHECK_U64(number_of(&b, e[i]), i);
        if (i % 2 == 1) CHECK(e[i].version == 0 && number_of(&a, kept[i]) == i);
    }
    close_pair(&a, &b);
}

PLAIN_TEST(many_small_transfers_append_to_chunks_with_room)
{
    side a, b;
    open_pair(&a, &b);
    for (uint32_t i = 0; i < 300; i++) {
        make(&a, i);
        move_all(&b, &a, NULL, 0);
    }
    weft_world_stats stats;
    weft_world_stats_get(b.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 300);
    CHECK(stats.chunks < 10);
    close_pair(&a, &b);
}

PLAIN_TEST(chunk_values_and_names_and_residues_move)
{
    side a, b;
    open_pair(&a, &b);
    weft_entity e[3] = {make(&a, 0), make(&a, 1), make(&a, 2)};
    CHECK_OK(weft_entity_add(a.world, e[0], a.per_chunk));
    uint64_t chunk_value = 4711;
    *chunk_value_of(&a) = chunk_value;
    CHECK_OK(weft_entity_set_name(a.world, e[1], "Ada \xC3\xA9"));
    uint32_t clean = 9;
    CHECK_OK(weft_entity_set(a.world, e[2], a.clean, &clean, sizeof clean));
    CHECK_OK(weft_entity_destroy(a.world, e[2]));
    move_all(&b, &a, e, 3);
    CHECK(weft_entity_has(b.world, e[0], b.per_chunk));
    CHECK_U64(*chunk_value_of(&b), chunk_value);
    CHECK_TEXT(weft_entity_name(b.world, e[1]), "Ada \xC3\xA9");
    CHECK(!weft_entity_is_alive(b.world, e[2]) && !weft_entity_has(b.world, e[2], b.value));
    CHECK_U64(*(const uint32_t *)weft_entity_read(b.world, e[2], b.clean), 9);
    CHECK_OK(weft_entity_remove(b.world, e[2], b.clean)); /* the last one ends it there, too */
    CHECK(weft_entity_archetype(b.world, e[2]).id == 0);
    close_pair(&a, &b);
}

PLAIN_TEST(references_follow_and_those_to_others_become_null)
{
    side a, b;
    open_pair(&a, &b);
    weft_entity e[4] = {make(&a, 0), make(&a, 1), make(&a, 2), make(&a, 3)}, gone = make(&a, 4);
    CHECK_OK(weft_entity_destroy(a.world, gone));
    Link link = {.salt = 5, .target = e[1], .pair = {e[0], e[3]}};
    CHECK_OK(weft_entity_set(a.world, e[0], a.link, &link, sizeof link));
    link = (Link){.target = gone, .pair = {e[2], {0, 0}}};
    CHECK_OK(weft_entity_set(a.world, e[1], a.link, &link, sizeof link));
    CHECK_OK(weft_entity_add(a.world, e[1], a.list));
    CHECK_OK(weft_entity_add(a.world, e[0], a.list));
    CHECK_OK(test_buffer_append(a.world, a.list, e[0], (weft_entity[]){e[1], e[3], e[0], gone}, 4));
    weft_query query =
        weft_query_create(a.world, &(weft_query_desc){.terms = {{a.link, WEFT_READ}}});
    weft_transfer_report report;
    CHECK_OK(weft_world_transfer(
        b.world, a.world, &(weft_transfer_desc){.query = query, .tracked = e, .tracked_count = 4},
        &report, sizeof report));
    CHECK_U64(report.entities, 2);
    CHECK_U64(report.references_cleared, 5); /* e3 twice, gone twice, e2 */
    const Link *first = weft_entity_read(b.world, e[0], b.link);
    CHECK_U64(first->salt, 5);
    CHECK(memcmp(&first->target, &e[1], sizeof e[1]) == 0);
    CHECK(memcmp(&first->pair[0], &e[0], sizeof e[0]) == 0 && first->pair[1].version == 0);
    const Link *second = weft_entity_read(b.world, e[1], b.link);
    CHECK(second->target.version == 0 && second->target.index == 0);
    CHECK(second->pair[0].version == 0 && second->pair[1].version == 0);
    const weft_buffer *list = weft_entity_read(b.world, e[0], b.list);
    const weft_entity *items = weft_buffer_read(list);
    CHECK_U64(list->count, 4);
    CHECK(memcmp(&items[0], &e[1], sizeof e[1]) == 0 && items[1].version == 0);
    CHECK(memcmp(&items[2], &e[0], sizeof e[0]) == 0 && items[3].version == 0);
    close_pair(&a, &b);
}

PLAIN_TEST(a_linked_group_works_in_its_new_world)
{
    side a, b;
    open_pair(&a, &b);
    weft_entity e[3] = {make(&a, 0), make(&a, 1), make(&a, 2)};
    weft_component group = weft_component_linked_group(a.world);
    CHECK_OK(weft_entity_add(a.world, e[0], group));
    CHECK_OK(test_buffer_append(a.world, group, e[0], e, 3));
    CHECK_OK(weft_entity_add(a.world, e[0], weft_component_prefab(a.world)));
    make(&b, 9);
    move_all(&b, &a, e, 3);
    weft_entity copies[10];
    CHECK_OK(weft_entity_instantiate(b.world, e[0], 10, copies));
    CHECK_U64(entities_of(b.world), 1 + 3 + 30);
    CHECK_OK(weft_entity_destroy(b.world, e[0]));
    CHECK_U64(entities_of(b.world), 1 + 30);
    CHECK_OK(weft_entity_destroy(b.world, copies[4]));
    CHECK_U64(entities_of(b.world), 1 + 27);
    close_pair(&a, &b);
}

/* ---- items 46 and 47: shared values ---- */

PLAIN_TEST(shared_values_are_found_by_content_with_exact_references)
{
    side a, b;
    open_pair(&a, &b);
    weft_entity e[200];
    for (int32_t i = 0; i < 200; i++) {
        e[i] = make(&a, (uint64_t)i);
        set_team(&a, e[i], a.team, i % 5);
    }
    for (int32_t i = 0; i < 30; i++) set_team(&b, make(&b, 0), b.team, 3 + i % 3);
    move_all(&b, &a, e, 200); /* validation compares every count with what refers to it */
    CHECK_U64(weft_shared_values(a.world, a.team, NULL, 0), 1);
    CHECK_U64(weft_shared_values(b.world, b.team, NULL, 0), 6); /* 0 (default), 1..5 */
    for (int32_t i = 0; i < 200; i++)
        CHECK_I64(*(const int32_t *)weft_entity_read_shared(b.world, e[i], b.team), i % 5);
    weft_query query = weft_query_create(
        b.world, &(weft_query_desc){.terms = {{b.value, WEFT_READ}, {b.team, WEFT_READ}}});
    int32_t three = 3;
    CHECK_OK(weft_query_filter_shared(b.world, query, b.team, WEFT_FILTER_EQUAL, &three, 1));
    CHECK_U64(weft_query_count(b.world, query), 40 + 10);
    close_pair(&a, &b);
}

PLAIN_TEST(a_release_hook_runs_once_in_the_world_that_has_the_value_last)
{
    side a, b;
    open_pair(&a, &b);
    weft_entity e[4];
    for (int i = 0; i < 4; i++) set_team(&a, e[i] = make(&a, 0), a.owned, 1 + i / 2);
    set_team(&b, make(&b, 0), b.owned, 2);
    move_all(&b, &a, e, 4);
    CHECK_U64(a.released, 1); /* 2 was there already: the source's copy ends; 1 moved */
    CHECK_U64(b.released, 0);
    CHECK_OK(weft_entity_destroy(b.world, e[0]));
    CHECK_U64(b.released, 0);
    CHECK_OK(weft_entity_destroy(b.world, e[1]));
    CHECK_U64(b.released, 1);
    close_side(&a);
    CHECK_U64(a.released, 1);
    CHECK_OK(weft_world_destroy(b.world));
    CHECK_U64(b.released, 2);
}

PLAIN_TEST(a_value_with_a_release_hook_cannot_live_in_two_worlds)
{
    side a, b;
    open_pair(&a, &b);
    weft_entity stays = make(&a, 1), goes = make(&a, 2);
    set_team(&a, stays, a.owned, 7);
    set_team(&a, goes, a.owned, 7);
    CHECK_OK(weft_entity_add(a.world, goes, a.mark));
    weft_query query =
        weft_query_create(a.world, &(weft_query_desc){.terms = {{a.mark, WEFT_NO_ACCESS}}});
    weft_transfer_desc desc = {.query = query};
    CHECK_RESULT(weft_world_transfer(b.world, a.world, &desc, NULL, 0), WEFT_BUSY);
    CHECK(strstr(weft_world_error(b.world)->text, "Owned") != NULL);
    CHECK_U64(a.released + b.released, 0);
    CHECK_U64(entities_of(b.world), 0);
    weft_query all =
        weft_query_create(a.world, &(weft_query_desc){.terms = {{a.owned, WEFT_READ}}});
    int32_t seven = 7;
    CHECK_OK(weft_query_filter_shared(a.world, all, a.owned, WEFT_FILTER_EQUAL, &seven, 1));
    CHECK_RESULT(weft_world_transfer(b.world, a.world, NULL, NULL, 0), WEFT_BUSY); /* the filter */
    CHECK_OK(weft_query_filter_reset(a.world, all));
    move_all(&b, &a, &stays, 1);
    CHECK_U64(a.released + b.released, 0);
    CHECK_I64(*(const int32_t *)weft_entity_read_shared(b.world, stays, b.owned), 7);
    close_pair(&a, &b);
    CHECK_U64(a.released, 0);
    CHECK_U64(b.released, 1);
}

static void released_ignored(void *value, void *user)
{
    (void)value, (void)user;
}

/* Two values that are one in the destination, since a reference becomes null: in either order. */
PLAIN_TEST(a_value_that_merges_with_another_cannot_live_in_two_worlds)
{
    typedef struct held {
        weft_entity to;
        uint32_t number;
    } held;
    static const weft_field fields[] = {WEFT_FIELD(held, to), WEFT_FIELD(held, number)};
    const weft_component_desc desc = {.name = "Held",
                                      .size = sizeof(held),
                                      .alignment = 4,
                                      .flags = WEFT_SHARED,
                                      .fields = fields,
                                      .field_count = 2,
                                      .shared_release = released_ignored};
    for (int is_late = 0; is_late < 2; is_late++) {
        side a, b;
        open_pair(&a, &b);
        weft_component of = weft_component_create(a.world, &desc);
        weft_component_create(b.world, &desc);
        weft_entity stays = make(&a, 1), goes[2] = {make(&a, 2), make(&a, 3)};
        const held values[2] = {{{0, 0}, 1}, {stays, 1}};
        CHECK_OK(weft_entity_set_shared(a.world, stays, of, &values[1]));
        for (int i = 0; i < 2; i++) {
            CHECK_OK(weft_entity_set_shared(a.world, goes[i], of, &values[i ^ is_late]));
            CHECK_OK(weft_entity_add(a.world, goes[i], a.mark));
        }
        weft_query query =
            weft_query_create(a.world, &(weft_query_desc){.terms = {{a.mark, WEFT_NO_ACCESS}}});
        weft_transfer_desc some = {.query = query};
        CHECK_RESULT(weft_world_transfer(b.world, a.world, &some, NULL, 0), WEFT_BUSY);
        CHECK_U64(entities_of(b.world), 0);
        CHECK_OK(weft_entity_remove(a.world, stays, of));
        CHECK_OK(weft_world_transfer(b.world, a.world, &some, NULL, 0));
        CHECK_U64(entities_of(b.world), 2);
        close_pair(&a, &b);
    }
}

PLAIN_TEST(moved_values_count_as_changed_exactly_once)
{
    side a, b;
    open_pair(&a, &b);
    for (uint32_t i = 0; i < 500; i++) make(&a, i);
    for (int i = 0; i < 50; i++)
        weft_world_advance_change_version(a.world); /* versions far apart */
    weft_query query =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.value, WEFT_READ}}});
    CHECK_OK(
        weft_query_filter_changed(b.world, query, b.value, weft_world_change_version(b.world)));
    weft_world_advance_change_version(b.world);
    move_all(&b, &a, NULL, 0);
    CHECK_U64(weft_query_count(b.world, query), 500);
    uint32_t since = weft_world_advance_change_version(b.world);
    CHECK_OK(weft_query_filter_reset(b.world, query));
    CHECK_OK(weft_query_filter_changed(b.world, query, b.value, since));
    CHECK_U64(weft_query_count(b.world, query), 0);
    close_pair(&a, &b);
}

PLAIN_TEST(enable_bits_move_with_whole_chunks_and_with_single_rows)
{
    enum { COUNT = 3000 };
    side a, b;
    open_pair(&a, &b);
    static weft_entity e[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        e[i] = make(&a, i);
        CHECK_OK(weft_entity_add(a.world, e[i], a.lever));
        CHECK_OK(weft_entity_add(a.world, e[i], a.mark));
        CHECK_OK(weft_entity_enable(a.world, e[i], a.lever, i % 3 != 0));
        CHECK_OK(weft_entity_enable(a.world, e[i], a.mark, i % 7 != 0));
    }
    weft_query query = weft_query_create(
        a.world, &(weft_query_desc){.terms = {{a.lever, WEFT_READ}, {a.mark, WEFT_NO_ACCESS}}});
    weft_entity first[COUNT];
    memcpy(first, e, sizeof e);
    weft_transfer_desc desc = {.query = query, .tracked = first, .tracked_count = COUNT};
    CHECK_OK(weft_world_transfer(b.world, a.world, &desc, NULL, 0)); /* rows */
    move_all(&b, &a, e, COUNT); /* what is left, in whole chunks */
    for (uint32_t i = 0; i < COUNT; i++) {
        weft_entity now = first[i].version != 0 ? first[i] : e[i];
        CHECK_U64(first[i].version != 0, i % 3 != 0 && i % 7 != 0);
        CHECK_U64(number_of(&b, now), i);
        CHECK_U64(weft_entity_is_enabled(b.world, now, b.lever), i % 3 != 0);
        CHECK_U64(weft_entity_is_enabled(b.world, now, b.mark), i % 7 != 0);
    }
    close_pair(&a, &b);
}

/* ---- types, errors ---- */

PLAIN_TEST(types_are_matched_by_name_and_layout_and_registered_when_missing)
{
    weft_world *a, *b;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &a));
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &b));
    weft_component list = weft_component_create(
        a, &(weft_component_desc){.name = "numbers", .size = 4, .flags = WEFT_BUFFER});
    weft_component plain = weft_component_create_plain(a, "plain", 12, 4, 0);
    weft_entity e;
    CHECK_OK(weft_entity_create_many(
        a, weft_archetype_create(a, (weft_component[]){list, plain}, 2), 1, &e));
    CHECK_OK(weft_world_transfer(b, a, &(weft_transfer_desc){.tracked = &e, .tracked_count = 1},
                                 NULL, 0));
    CHECK_U64(weft_component_hash(b, weft_component_find(b, "numbers")),
              weft_component_hash(a, list));
    CHECK(weft_entity_has(b, e, weft_component_find(b, "plain")));
    weft_component other = weft_component_create_plain(a, "other", 8, 8, 0);
    CHECK(weft_component_create_plain(b, "other", 4, 4, 0).id != 0);
    CHECK_OK(weft_entity_create_many(a, WEFT_ARCHETYPE(a, other), 10, NULL));
    CHECK_RESULT(weft_world_transfer(b, a, NULL, NULL, 0), WEFT_TYPE_MISMATCH);
    CHECK(strstr(weft_world_error(b)->text, "\"other\"") != NULL);
    CHECK_U64(entities_of(a), 10);
    CHECK_U64(entities_of(b), 1);
    CHECK_OK(weft_world_validate(b));
    CHECK_OK(weft_world_destroy(a));
    CHECK_OK(weft_world_destroy(b));
}

PLAIN_TEST(a_missing_type_comes_with_its_description_what_it_requires_and_its_relation)
{
    typedef struct Heat {
        float celsius;
    } Heat;
    static const weft_field fields[] = {WEFT_FIELD_WITH(Heat, celsius, .unit = "K")};
    static const weft_type type = WEFT_TYPE(Heat, fields);
    side a, b;
    open_pair(&a, &b);
    weft_component parent = weft_component_parent(a.world);
    weft_component needed = weft_component_create_plain(a.world, "Needed", 4, 4, 0);
    weft_component heat = weft_component_create(
        a.world, &(weft_component_desc){.type = &type, .required = &needed, .required_count = 1});
    weft_entity e[2] = {make(&a, 1), make(&a, 2)};
    CHECK_OK(weft_entity_add(a.world, e[1], heat));
    CHECK_OK(weft_relation_set(a.world, e[1], parent, e[0]));
    move_all(&b, &a, e, 2);
    weft_component there = weft_component_find(b.world, "Heat");
    CHECK_POINTER(weft_component_type(b.world, there), &type);
    weft_entity made = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, there));
    CHECK(weft_entity_has(b.world, made, weft_component_find(b.world, "Needed")));
    CHECK_OK(weft_entity_destroy(b.world, e[0]));
    CHECK_OK(weft_relation_settle(b.world));
    CHECK(!weft_entity_is_alive(b.world, e[1]));
    close_pair(&a, &b);
}

/* A description that was read with a text ends with its world: it is not lent to another. */
PLAIN_TEST(a_description_of_a_text_stays_with_its_world)
{
    static const char text[] =
        "{\"type\": \"Heat\", \"size\": 4, \"alignment\": 4, \"description\": {\"name\": \"Heat\", "
        "\"size\": 4, \"alignment\": 4, \"fields\": [{\"name\": \"celsius\", \"kind\": "
        "\"f32\"}]}}\n"
        "{\"entity\": \"0:1\", \"components\": {\"Heat\": {\"celsius\": 3}}}";
    weft_world *from, *to;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &from));
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &to));
    CHECK_OK(weft_world_load_json(from, &(weft_text){text, sizeof text - 1, NULL}, NULL, NULL));
    CHECK_OK(weft_world_transfer(to, from, NULL, NULL, 0));
    CHECK_OK(weft_world_destroy(from));
    const weft_component_desc *heat = weft_component_info(to, weft_component_find(to, "Heat"));
    CHECK(heat != NULL && heat->type == NULL && heat->field_count == 1);
    CHECK_TEXT(heat->fields[0].name, "celsius");
    CHECK_OK(weft_world_destroy(to));
}

PLAIN_TEST(wrong_calls_are_errors_and_change_nothing)
{
    side a, b;
    open_pair(&a, &b);
    make(&a, 1);
    CHECK_RESULT(weft_world_transfer(NULL, a.world, NULL, NULL, 0), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_transfer(b.world, NULL, NULL, NULL, 0), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_transfer(a.world, a.world, NULL, NULL, 0), WEFT_INVALID_ARGUMENT);
    weft_transfer_desc no_array = {.tracked_count = 3};
    CHECK_RESULT(weft_world_transfer(b.world, a.world, &no_array, NULL, 0), WEFT_INVALID_ARGUMENT);
    weft_transfer_desc stale = {.query = {12345}};
    uint64_t before = weft_world_error(b.world)->number;
    CHECK_RESULT(weft_world_transfer(b.world, a.world, &stale, NULL, 0), WEFT_BAD_HANDLE);
    CHECK_U64(weft_world_error(b.world)->number, before + 1); /* not that of the source */
    CHECK(strlen(weft_world_error(b.world)->text) > 20);
    weft_query query =
        weft_query_create(a.world, &(weft_query_desc){.terms = {{a.value, WEFT_READ}}});
    weft_cursor cursor = weft_query_begin(a.world, query);
    CHECK(weft_query_next(&cursor));
    CHECK_RESULT(weft_world_transfer(b.world, a.world, NULL, NULL, 0), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_world_transfer(a.world, b.world, NULL, NULL, 0), WEFT_WRONG_PHASE);
    weft_query_end(&cursor);
    CHECK_U64(entities_of(a.world), 1);
    close_pair(&a, &b);
}

/* ---- blobs ---- */

typedef struct Model {
    weft_blob_ref scene;
} Model;

static void release_models(void *values, uint32_t count, void *user)
{
    weft_world *const *world = user;
    for (uint32_t i = 0; i < count; i++) {
        weft_blob_ref ref = ((Model *)values)[i].scene;
        if (ref.id != 0) CHECK_OK(weft_blob_release(weft_world_blobs(*world), ref));
    }
}

static weft_component register_model(weft_world **world, const char *name, bool owns)
{
    const weft_field field = {"scene", WEFT_FIELD_BLOB, 0, 1};
    return weft_component_create(
        *world,
        &(weft_component_desc){.name = name,
                               .size = sizeof(Model),
                               .fields = &field,
                               .field_count = 1,
                               .hooks = {.destruct = owns ? release_models : NULL, .user = world}});
}

PLAIN_TEST(blobs_that_components_refer_to_come_along)
{
    side a, b;
    open_pair(&a, &b);
    weft_component owning_a = register_model(&a.world, "owning", true);
    weft_component owning_b = register_model(&b.world, "owning", true);
    weft_component loose_a = register_model(&a.world, "loose", false);
    weft_component loose_b = register_model(&b.world, "loose", false);
    weft_entity e[20];
    weft_blob_ref ref;
    for (uint32_t i = 0; i < 20; i++) {
        e[i] = make(&a, i);
        CHECK_OK(blob_build_scene(weft_world_blobs(a.world), 2 + i % 2, 0, &ref));
        CHECK_OK(weft_entity_add(a.world, e[i], i < 10 ? owning_a : loose_a));
        ((Model *)weft_entity_write(a.world, e[i], i < 10 ? owning_a : loose_a))->scene = ref;
    }
    move_all(&b, &a, e, 20);
    for (uint32_t i = 0; i < 20; i++) {
        const Model *model = weft_entity_read(b.world, e[i], i < 10 ? owning_b : loose_b);
        const Scene *scene = weft_blob_read(weft_world_blobs(b.world), model->scene, &scene_type);
        CHECK(scene != NULL);
        CHECK_U64(WEFT_BLOB_COUNT(&scene->nodes), 2 + i % 2);
    }
    weft_blob_store_stats stats;
    CHECK_OK(weft_blob_store_stats_get(weft_world_blobs(b.world), &stats, sizeof stats));
    CHECK_U64(stats.blob_count, 2);
    weft_blob_info info;
    const Model *model = weft_entity_read(b.world, e[0], owning_b);
    CHECK_OK(weft_blob_info_get(weft_world_blobs(b.world), model->scene, &info, sizeof info));
    CHECK_U64(info.reference_count, 5 + 1); /* five fields, and one kept for the loose type */
    CHECK_OK(weft_blob_info_get(weft_world_blobs(a.world), ref, &info, sizeof info));
    CHECK_U64(info.reference_count, 5); /* those of the loose type are the program's still */
    close_pair(&a, &b);
}
