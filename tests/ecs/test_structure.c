/* SPDX-License-Identifier: MIT */
/* test_structure.c: structural operations beyond the single entity: arrays, versions, cleanup,
 * linked groups, instances, compaction, chunks made by jobs, phases, layout. */
#include "archetype.h"
#include "buffer_append.h"
#include "entity_value.h"
#include "format.h"
#include "private_chunk.h"
#include "storage_fixture.h"
#include "structure.h"

#include <criterion/criterion.h>
#include <string.h>

Test(structure, the_same_types_in_any_order_are_one_archetype)
{
    storage_fixture f = storage_open();
    weft_component ab[] = {f.position, f.tag}, ba[] = {f.tag, f.position}, out[4];
    weft_archetype a = weft_archetype_create(f.world, ab, 2);
    CHECK_U64(weft_archetype_create(f.world, ba, 2).id, a.id);
    CHECK_U64(weft_archetype_components(f.world, a, out, 4), 2);
    CHECK_U64(out[0].id, f.position.id);
    weft_archetype empty = weft_archetype_create(f.world, NULL, 0);
    CHECK(empty.id != 0 && weft_entity_create(f.world, empty).version == 1);
    storage_close(&f);
}

Test(structure, tag_variants_share_the_layout_and_columns_are_cache_lines_apart)
{
    storage_fixture f = storage_open();
    weft_component plain[] = {f.position}, tagged[] = {f.position, f.tag};
    weft_archetype a = weft_archetype_create(f.world, plain, 1);
    weft_archetype b = weft_archetype_create(f.world, tagged, 2);
    const weft__archetype *x = weft__archetype_at(f.world, a), *y = weft__archetype_at(f.world, b);
    CHECK_POINTER(x->format, y->format);
    for (uint32_t c = 0; c < WEFT__SIZE_CLASSES; c++) {
        const weft__layout *layout = weft__layout_obtain(f.world, x->format, c);
        CHECK(layout->capacity * 20 <= weft__class_bytes(c));
        CHECK(layout->capacity * 22 + 128 >= weft__class_bytes(c));
        for (uint32_t i = 0; i < layout->column_count; i++)
            CHECK_U64(layout->columns[i].offset % (c == WEFT__PART_256 ? 16 : 64), 0);
        CHECK(layout->slice_shift >= 6 && layout->slice_shift <= 10);
        CHECK(20u << layout->slice_shift <= 16384);
    }
    storage_close(&f);
}

Test(structure, slices_fill_8_KiB_or_16_where_fewer_rows_would_be_too_few)
{
    static const struct {
        uint32_t row_bytes, slice_rows;
    } cases[] = {{8, 1024}, {16, 512},  {17, 256}, {33, 128}, {64, 128},
                 {65, 128}, {128, 128}, {129, 64}, {1000, 64}};
    storage_fixture f = storage_open();
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char name[] = {(char)('a' + i), 0};
        weft_component c = weft_component_create_plain(
            f.world, name, cases[i].row_bytes - (uint32_t)sizeof(weft_entity), 1, 0);
        weft_archetype a = weft_archetype_create(f.world, &c, 1);
        CHECK_U64(1u << weft__archetype_at(f.world, a)->format->slice_shift, cases[i].slice_rows);
    }
    storage_close(&f);
}

Test(structure, a_row_limit_caps_chunks_and_keeps_them_from_growing)
{
    storage_fixture f = storage_open();
    weft_component capped = weft_component_create(
        f.world, &(weft_component_desc){.name = "capped", .size = 4, .chunk_row_limit = 100});
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, capped), 450, NULL));
    weft_archetype handle = weft_archetype_create(f.world, &capped, 1);
    const weft__archetype *archetype = weft__archetype_at(f.world, handle);
    CHECK_U64(archetype->chunk_count, 5);
    for (uint32_t i = 0; i < 5; i++) CHECK_U64(archetype->chunks[i]->count, i < 4 ? 100 : 50);
    storage_close(&f);
}

Test(structure, chunks_grow_with_the_population_and_waste_stays_under_an_eighth)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    const weft__archetype *archetype = weft__archetype_at(f.world, moving);
    for (uint32_t i = 0; i < 100000; i++) weft_entity_create(f.world, moving);
    uint64_t room = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; i++)
        room += archetype->chunks[i]->capacity - archetype->chunks[i]->count;
    CHECK(room * 8 <= 100000);
    CHECK(archetype->chunk_count < 64);
    CHECK_OK(weft_entity_create_many(
        f.world, weft_archetype_create(f.world, (weft_component[]){f.health, f.position}, 2), 10000,
        NULL));
    const weft__archetype *bulk = f.world->archetypes.at[f.world->archetypes.count - 1];
    CHECK(bulk->chunk_count <= 3);
    storage_close(&f);
}

Test(structure, an_operation_on_an_array_equals_single_operations_whatever_the_order)
{
    const weft_world_desc untagged = {.entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    storage_fixture a = storage_open_with(&untagged), b = storage_open_with(&untagged);
    weft_entity e[300], duplicated[600];
    CHECK_OK(weft_entity_create_many(a.world, WEFT_ARCHETYPE(a.world, a.position), 300, e));
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.position), 300, e));
    for (uint32_t i = 0; i < 300; i++) {
        CHECK_OK(WEFT_SET(a.world, e[i], a.position, vector3, {(float)i, 0, 0}));
        CHECK_OK(WEFT_SET(b.world, e[i], b.position, vector3, {(float)i, 0, 0}));
        duplicated[2 * i] = duplicated[2 * i + 1] = e[299 - i];
    }
    CHECK_OK(weft_entity_change_many(a.world, duplicated, 300,
                                     &(weft_change_desc){.add = &a.health, .add_count = 1}));
    for (uint32_t i = 150; i < 300; i++) CHECK_OK(weft_entity_add(b.world, e[i], b.health));
    CHECK_U64(weft_world_hash(a.world, WEFT_HASH_CONTENT),
              weft_world_hash(b.world, WEFT_HASH_CONTENT));
    storage_close(&a);
    storage_close(&b);
}

Test(structure, an_array_with_a_dead_entity_changes_nothing)
{
    storage_fixture f = storage_open();
    weft_entity e[10];
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.position), 10, e));
    CHECK_OK(weft_entity_destroy(f.world, e[7]));
    uint64_t before = weft_world_hash(f.world, WEFT_HASH_LAYOUT);
    CHECK_RESULT(weft_entity_change_many(f.world, e, 10,
                                         &(weft_change_desc){.add = &f.health, .add_count = 1}),
                 WEFT_STALE_ENTITY);
    CHECK_U64(weft_world_hash(f.world, WEFT_HASH_LAYOUT), before);
    CHECK_OK(weft_entity_destroy_many(f.world, e, 10)); /* dead ones are skipped */
    CHECK_OK(weft_entity_create_many(f.world, weft_archetype_create(f.world, NULL, 0), 0, NULL));
    storage_close(&f);
}

static uint32_t change_version(const storage_fixture *f, weft_entity e, weft_component component)
{
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(f->world, e, &row);
    uint32_t type = weft__archetype_find(chunk->archetype, component.id);
    return at_load_rlx(&weft__chunk_versions(chunk, type)[row >> chunk->layout->slice_shift]);
}

Test(structure, writers_stamp_readers_do_not_and_moves_keep_other_versions)
{
    storage_fixture f = storage_open();
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    uint32_t first = weft_world_advance_change_version(f.world);
    CHECK_U64(change_version(&f, e, f.position), first);
    CHECK(weft_entity_read(f.world, e, f.position) != NULL);
    CHECK_U64(change_version(&f, e, f.position), first);
    CHECK(weft_entity_write(f.world, e, f.position) != NULL);
    CHECK_U64(change_version(&f, e, f.position), first + 1);
    CHECK_U64(change_version(&f, e, f.velocity), first);
    weft_world_advance_change_version(f.world);
    CHECK_OK(weft_entity_add(f.world, e, f.health));
    CHECK_U64(change_version(&f, e, f.health), first + 2);
    CHECK_U64(change_version(&f, e, f.position), first + 1);
    CHECK_U64(change_version(&f, e, f.velocity), first);
    storage_close(&f);
}

Test(structure, a_destroyed_entity_keeps_its_cleanup_components)
{
    storage_fixture f = storage_open();
    weft_component handle = weft_component_create_plain(f.world, "handle", 8, 8, WEFT_CLEANUP);
    weft_entity e = weft_entity_create(f.world, storage_moving(&f)), copy;
    uint64_t value = 77;
    CHECK_OK(weft_entity_set(f.world, e, handle, &value, 8));
    CHECK_OK(weft_entity_instantiate(f.world, e, 1, &copy));
    CHECK(!weft_entity_has(f.world, copy, handle));
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK(!weft_entity_is_alive(f.world, e) && !weft_entity_has(f.world, e, f.position));
    CHECK_U64(*(const uint64_t *)weft_entity_read(f.world, e, handle), 77);
    CHECK_RESULT(weft_entity_destroy(f.world, e), WEFT_STALE_ENTITY);
    CHECK_OK(weft_entity_remove(f.world, e, handle));
    CHECK(weft_entity_archetype(f.world, e).id == 0);
    storage_close(&f);
}

/* Its source died between recording and playback: skipped, as for a source without residue. */
Test(structure, a_recorded_copy_of_what_is_only_cleanup_by_then_is_skipped)
{
    storage_fixture f = storage_open();
    weft_component handle = weft_component_create_plain(f.world, "handle", 8, 8, WEFT_CLEANUP);
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    weft_recorder *commands;
    CHECK_OK(weft_entity_add(f.world, e, handle));
    CHECK_OK(weft_recorder_create(f.world, &commands));
    weft_entity copy = weft_recorder_instantiate(commands, e);
    CHECK_OK(weft_recorder_add(commands, copy, f.health)); /* skipped with it */
    weft_recorder_instantiate(commands, e);
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK_OK(weft_recorder_play(commands));
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 1);
    weft_recorder_destroy(commands);
    CHECK_OK(weft_world_validate(f.world));
    storage_close(&f);
}

typedef struct link {
    weft_entity other, self;
} link;

Test(structure, instances_of_a_group_refer_to_each_other_and_still_to_strangers)
{
    storage_fixture f = storage_open();
    const weft_field fields[] = {{"other", WEFT_FIELD_ENTITY, 0, 2}};
    weft_component link_id =
        weft_component_create(f.world, &(weft_component_desc){.name = "link",
                                                              .size = sizeof(link),
                                                              .alignment = 4,
                                                              .fields = fields,
                                                              .field_count = 1});
    weft_component group = weft_component_linked_group(f.world);
    weft_entity e[3], roots[50];
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, link_id), 3, e));
    CHECK_OK(weft_entity_add(f.world, e[0], group));
    CHECK_OK(weft_entity_add(f.world, e[0], weft_component_prefab(f.world)));
    CHECK_OK(test_buffer_append(f.world, group, e[0], e, 2));
    CHECK_OK(WEFT_SET(f.world, e[0], link_id, link, {e[1], e[0]}));
    CHECK_OK(WEFT_SET(f.world, e[1], link_id, link, {e[2], e[0]})); /* e[2] is a stranger */
    CHECK_OK(weft_entity_instantiate(f.world, e[0], 50, roots));
    for (uint32_t i = 0; i < 50; i++) {
        const link *root = weft_entity_read(f.world, roots[i], link_id);
        CHECK_U64(root->self.index, roots[i].index);
        const link *child = weft_entity_read(f.world, root->other, link_id);
        CHECK_U64(child->other.index, e[2].index);
        CHECK_U64(child->self.index, roots[i].index);
        CHECK(!weft_entity_has(f.world, roots[i], weft_component_prefab(f.world)));
    }
    CHECK_OK(weft_entity_destroy(f.world, roots[4]));
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 3 + 98);
    storage_close(&f);
}

/* Rows that had many shared values and have one again lie in many small, full chunks. */
Test(structure, compaction_joins_the_chunks_of_rows_that_were_split)
{
    enum { COUNT = 50000, VALUES = 600 };
    storage_fixture f = storage_open();
    weft_component team = weft_component_create_plain(f.world, "team", 4, 4, WEFT_SHARED);
    weft_archetype players = WEFT_ARCHETYPE(f.world, f.position, f.velocity, team);
    weft_entity *e = calloc(COUNT, sizeof *e);
    uint32_t none = 0;
    CHECK_OK(weft_entity_create_many(f.world, players, COUNT, e));
    weft_archetype_stats fresh, joined;
    CHECK_OK(weft_archetype_stats_get(f.world, players, &fresh, sizeof fresh));
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK_OK(WEFT_SET(f.world, e[i], f.position, vector3, {(float)i, 0, 0}));
        uint32_t value = 1 + i % VALUES;
        CHECK_OK(weft_entity_set_shared(f.world, e[i], team, &value));
    }
    CHECK_OK(weft_entity_set_shared_many(f.world, e, COUNT, team, &none));
    CHECK_OK(weft_archetype_stats_get(f.world, players, &joined, sizeof joined));
    CHECK(joined.chunks > 500);
    while (weft_world_compact(f.world, 20000) != 0) CHECK_OK(weft_world_validate(f.world));
    CHECK_OK(weft_archetype_stats_get(f.world, players, &joined, sizeof joined));
    CHECK(joined.chunks <= fresh.chunks + 16);
    CHECK(joined.bytes <= fresh.bytes + fresh.bytes / 5);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK(((const vector3 *)weft_entity_read(f.world, e[i], f.position))->x == (float)i);
    free(e);
    storage_close(&f);
}

Test(structure, compaction_merges_chunks_within_its_budget_and_keeps_every_value)
{
    storage_fixture f = storage_open();
    static weft_entity e[60000];
    CHECK_OK(weft_entity_create_many(
        f.world, weft_archetype_create(f.world, (weft_component[]){f.position, f.velocity}, 2),
        60000, e));
    for (uint32_t i = 0; i < 60000; i++)
        CHECK_OK(WEFT_SET(f.world, e[i], f.position, vector3, {(float)i, 0, 0}));
    for (uint32_t i = 0; i < 60000; i++)
        if (i % 10 != 0) CHECK_OK(weft_entity_destroy(f.world, e[i]));
    weft_world_stats before, after;
    weft_world_stats_get(f.world, &before, sizeof before);
    uint64_t moved = 0, step;
    while ((step = weft_world_compact(f.world, 100)) != 0) {
        CHECK(step <= 100);
        moved += step;
        CHECK_OK(weft_world_validate(f.world));
    }
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK(moved == 0 || after.chunks < before.chunks);
    CHECK(after.units_used <= before.units_used);
    for (uint32_t i = 0; i < 60000; i += 10) {
        const vector3 *p = weft_entity_read(f.world, e[i], f.position);
        CHECK_F64((double)p->x, (double)i, 0);
    }
    storage_close(&f);
}

Test(structure, chunks_made_by_jobs_are_linked_in_order_and_nearly_empty_ones_merged)
{
    storage_fixture f = storage_open();
    const weft__archetype *archetype = weft__archetype_at(f.world, storage_moving(&f));
    weft__chunk *chunks[3];
    const uint32_t rows[3] = {400, 3, 300};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(weft__private_open(f.world, i, (weft__archetype *)(uintptr_t)archetype, rows[i],
                                    &chunks[i]));
        CHECK_U64(weft__private_rows(chunks[i], rows[i], false), 0);
        for (uint32_t r = 0; r < rows[i]; r++)
            ((vector3 *)(void *)weft__chunk_value(chunks[i], 1, r))->x = (float)(i * 1000 + r);
    }
    weft__private_piece pieces[3];
    for (uint32_t i = 0; i < 3; i++) pieces[i] = weft__private_whole(chunks[i]);
    CHECK_OK(
        weft__private_link(&(weft__private_desc){.world = f.world, .pieces = pieces, .count = 3}));
    CHECK_OK(weft_world_validate(f.world));
    CHECK_U64(archetype->entity_count, 703);
    for (uint32_t i = 0; i < 703; i++) {
        float expected = i < 400 ? (float)i : i < 403 ? 600 + (float)i : 1597 + (float)i;
        const vector3 *p = weft_entity_read(f.world, (weft_entity){i, 1}, f.position);
        CHECK_F64((double)p->x, (double)expected, 0);
    }
    storage_close(&f);
}

Test(structure, changes_while_a_query_is_iterated_are_refused_and_say_what_to_do)
{
    storage_fixture f = storage_open();
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    weft_query query = weft_query_create(
        f.world, &(weft_query_desc){.terms = {{f.position, WEFT_READ, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&cursor));
    CHECK_RESULT(weft_entity_destroy(f.world, e), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_entity_add(f.world, e, f.health), WEFT_WRONG_PHASE);
    CHECK_U64(weft_entity_create(f.world, storage_moving(&f)).version, 0);
    CHECK_RESULT(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.tag), 3, NULL),
                 WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_entity_instantiate(f.world, e, 1, NULL), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_world_destroy(f.world), WEFT_WRONG_PHASE);
    CHECK(strstr(weft_world_error(f.world)->text, "iterated") != NULL);
    CHECK_OK(WEFT_SET(f.world, e, f.position, vector3, {1, 2, 3})); /* no change of structure */
    weft_query_end(&cursor);
    CHECK_OK(weft_entity_destroy(f.world, e));
    storage_close(&f);
}

static uint32_t constructed, destructed, copied;

static void count_construct(void *values, uint32_t count, void *user)
{
    (void)user;
    memset(values, 1, count * 4u);
    constructed += count;
}

static void count_destruct(void *values, uint32_t count, void *user)
{
    (void)values, (void)user;
    destructed += count;
}

static void count_copy(void *to, const void *from, uint32_t count, void *user)
{
    (void)user;
    memcpy(to, from, count * 4u);
    copied += count;
}

Test(structure, every_constructed_value_is_destructed_once)
{
    storage_fixture f = storage_open();
    weft_component hooked = weft_component_create(
        f.world,
        &(weft_component_desc){.name = "hooked",
                               .size = 4,
                               .hooks = {count_construct, count_destruct, count_copy, NULL}});
    constructed = destructed = copied = 0;
    weft_entity e[20];
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, hooked), 20, e));
    CHECK_OK(weft_entity_add(f.world, e[0], f.tag)); /* moves, which is neither */
    CHECK_OK(weft_entity_instantiate(f.world, e[1], 5, NULL));
    CHECK_U64(constructed, 20);
    CHECK_U64(copied, 5);
    CHECK_OK(weft_entity_remove(f.world, e[2], hooked));
    CHECK_OK(weft_entity_destroy_many(f.world, e, 10));
    CHECK_U64(destructed, 10); /* e[2] had lost it, nine died */
    storage_close(&f);
    CHECK_U64(destructed, constructed + copied);
}

Test(structure, names_belong_to_the_handle_and_are_cut_at_a_character)
{
    storage_fixture f = storage_open();
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    CHECK_TEXT(weft_entity_name(f.world, e), "");
    CHECK_OK(weft_entity_set_name(f.world, e, "first"));
    CHECK_TEXT(weft_entity_name(f.world, e), "first");
    char longer[100];
    memset(longer, 'a', sizeof longer);
    memcpy(longer + 62, "\xc3\xa9", 3); /* a two-byte character across the cut */
    CHECK_OK(weft_entity_set_name(f.world, e, longer));
    CHECK_U64(strlen(weft_entity_name(f.world, e)), 62);
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK_TEXT(weft_entity_name(f.world, e), "");
    weft_entity again = weft_entity_create(f.world, storage_moving(&f));
    CHECK_TEXT(weft_entity_name(f.world, again), "");
    CHECK_RESULT(weft_entity_set_name(f.world, e, "gone"), WEFT_STALE_ENTITY);
    for (int i = 0; i < 200; i++) {
        weft_entity named = weft_entity_create(f.world, storage_moving(&f));
        CHECK_OK(weft_entity_set_name(f.world, named, "many"));
        if (i % 2 == 0) CHECK_OK(weft_entity_destroy(f.world, named));
    }
    storage_close(&f);
}

Test(structure, null_arguments_are_refused_by_every_function)
{
    storage_fixture f = storage_open();
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    CHECK_RESULT(weft_world_create(NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_destroy(NULL, e), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_add(NULL, e, f.tag), WEFT_INVALID_ARGUMENT);
    CHECK(weft_entity_read(NULL, e, f.tag) == NULL && weft_entity_write(NULL, e, f.tag) == NULL);
    CHECK(!weft_entity_is_alive(NULL, e) && !weft_entity_has(NULL, e, f.tag));
    CHECK_U64(weft_entity_create(NULL, (weft_archetype){1}).version, 0);
    CHECK_U64(weft_component_create(NULL, NULL).id, 0);
    CHECK_U64(weft_archetype_create(NULL, NULL, 0).id, 0);
    CHECK_U64(weft_archetype_create(f.world, NULL, 2).id, 0);
    CHECK_RESULT(weft_entity_create_many(f.world, weft_archetype_create(f.world, NULL, 1), 1, NULL),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_create_filled(f.world, (weft_archetype){1, 0}, NULL, 1, 1, NULL),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_destroy_many(f.world, NULL, 1), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_change_many(f.world, NULL, 1, &(weft_change_desc){0}),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_change_many(f.world, NULL, 0, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_read_many(f.world, NULL, 1, f.position, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_validate(NULL), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_world_destroy(NULL));
    weft_world_stats_get(NULL, NULL, 0);
    CHECK_U64(weft_world_compact(NULL, 1), 0);
    CHECK_U64(weft_world_hash(NULL, WEFT_HASH_LAYOUT), 0);
    storage_close(&f);
}

/* The call is refused with `code`, says why, and makes nothing. */
#define FILLED_IS_REFUSED(code, part, ...)                                                         \
    do {                                                                                           \
        CHECK_RESULT(                                                                              \
            weft_entity_create_filled(f.world, archetype, WEFT_VALUES(__VA_ARGS__), 1, NULL),      \
            code);                                                                                 \
        CHECK(strstr(weft_world_error(f.world)->text, part) != NULL);                              \
        weft_world_stats stats;                                                                    \
        weft_world_stats_get(f.world, &stats, sizeof stats);                                       \
        CHECK_U64(stats.entities, 0);                                                              \
    } while (0)

Test(structure, lists_of_values_that_cannot_fill_an_archetype_are_refused)
{
    storage_fixture f = storage_open();
    vector3 at = {1, 2, 3};
    weft_archetype archetype = WEFT_ARCHETYPE(f.world, f.position, f.tag);
    FILLED_IS_REFUSED(WEFT_INVALID_ARGUMENT, "not in the archetype", {f.velocity, &at});
    FILLED_IS_REFUSED(WEFT_INVALID_ARGUMENT, "not in the archetype", {f.velocity, NULL});
    FILLED_IS_REFUSED(WEFT_INVALID_ARGUMENT, "twice", {f.position, &at}, {f.position, &at});
    FILLED_IS_REFUSED(WEFT_TYPE_MISMATCH, "no plain column", {f.tag, &at});
    FILLED_IS_REFUSED(WEFT_BAD_HANDLE, "weft_component_create", {{0, 0}, &at});
    CHECK_OK(weft_entity_create_filled(f.world, archetype, NULL, 0, 1, NULL));
    weft_entity e;
    CHECK_OK(weft_entity_create_filled(f.world, archetype,
                                       WEFT_VALUES({f.tag, NULL}, {f.position, &at}), 1, &e));
    CHECK(((const vector3 *)weft_entity_read(f.world, e, f.position))->z == 3);
    archetype.id = 0; /* keeps the error of what made it null */
    weft_archetype_create(f.world, (weft_component[]){f.tag, f.tag}, 2);
    CHECK_RESULT(weft_entity_create_filled(f.world, archetype, NULL, 0, 1, NULL),
                 WEFT_INVALID_ARGUMENT);
    storage_close(&f);
}

Test(structure, entities_that_are_created_with_values_get_the_shared_ones_that_are_listed)
{
    storage_fixture f = storage_open();
    weft_component team = weft_component_create_plain(f.world, "team", 4, 4, WEFT_SHARED);
    weft_component layer = weft_component_create_plain(f.world, "layer", 4, 4, WEFT_SHARED);
    weft_archetype archetype = WEFT_ARCHETYPE(f.world, f.position, team, layer);
    const vector3 at[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    const uint32_t red = 7, low = 3, none = 0;
    weft_entity e[3], other;
    CHECK_OK(weft_entity_create_filled(
        f.world, archetype, WEFT_VALUES({team, &red}, {f.position, at}, {layer, &low}), 3, e));
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_U64(*(const uint32_t *)weft_entity_read_shared(f.world, e[i], team), red);
        CHECK_U64(*(const uint32_t *)weft_entity_read_shared(f.world, e[i], layer), low);
        CHECK(((const vector3 *)weft_entity_read(f.world, e[i], f.position))->z == at[i].z);
    }
    CHECK_OK(weft_entity_create_filled(f.world, archetype,
                                       WEFT_VALUES({team, &none}, {layer, NULL}), 1, &other));
    CHECK_U64(*(const uint32_t *)weft_entity_read_shared(f.world, other, team), 0);
    CHECK_U64(*(const uint32_t *)weft_entity_read_shared(f.world, other, layer), 0);
    CHECK_OK(weft_world_validate(f.world));
    CHECK_OK(weft_entity_destroy_many(f.world, e, 3)); /* nothing else holds the values */
    CHECK_U64(weft_shared_values(f.world, team, NULL, 0), 1);
    CHECK_U64(weft_shared_values(f.world, layer, NULL, 0), 1);
    CHECK_RESULT(weft_entity_create_filled(f.world, archetype,
                                           WEFT_VALUES({team, &red}, {team, &red}), 1, NULL),
                 WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_shared_values(f.world, team, NULL, 0), 1);
    storage_close(&f);
}

Test(structure, creating_in_an_archetype_that_could_not_be_made_says_why_it_could_not)
{
    storage_fixture f = storage_open();
    weft_entity e = weft_entity_create(f.world, WEFT_ARCHETYPE(f.world, f.tag, f.tag));
    CHECK(weft_entity_is_null(e));
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(f.world)->text, "weft_archetype_create") != NULL);
    weft_world_error_clear(f.world);
    CHECK(weft_entity_is_null(weft_entity_create(f.world, (weft_archetype){0, 0})));
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_BAD_HANDLE);
    storage_close(&f);
}

Test(structure, an_entity_that_has_an_id_but_no_place_yet_is_no_target)
{
    storage_fixture f = storage_open();
    weft_recorder *commands;
    weft_slice rows;
    CHECK_OK(weft_recorder_create(f.world, &commands));
    for (uint32_t round = 0; round < 2; round++) { /* without any chunk, and with one */
        CHECK_OK(weft_recorder_create_rows_unordered(commands, storage_moving(&f), 3, &rows));
        weft_entity e = rows.entities[1];
        CHECK(!weft_entity_is_alive(f.world, e));
        CHECK_RESULT(weft_entity_destroy(f.world, e), WEFT_STALE_ENTITY);
        CHECK_RESULT(weft_entity_add(f.world, e, f.tag), WEFT_STALE_ENTITY);
        CHECK_RESULT(weft_entity_set(f.world, e, f.health, &round, 4), WEFT_STALE_ENTITY);
        CHECK(weft_entity_read(f.world, e, f.position) == NULL);
        CHECK_OK(weft_entity_destroy_many(f.world, &e, 1));
        CHECK_OK(weft_recorder_play(commands));
        CHECK(weft_entity_is_alive(f.world, e));
        CHECK_OK(weft_entity_add(f.world, e, f.tag));
    }
    weft_recorder_destroy(commands);
    storage_close(&f);
}

Test(structure, a_world_full_of_entities_refuses_the_next_and_a_batch_creates_none)
{
    storage_fixture f = storage_open_with(&(weft_world_desc){.entity_block_limit = 1});
    weft_archetype moving = storage_moving(&f);
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.tag), WEFT__BLOCK_SLOTS - 1,
                                     NULL));
    CHECK_RESULT(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.tag), 2, NULL),
                 WEFT_LIMIT);
    CHECK(weft_entity_create(f.world, moving).version != 0);
    CHECK_U64(weft_entity_create(f.world, moving).version, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_LIMIT);
    CHECK_RESULT(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.tag), INT32_MAX, NULL),
                 WEFT_LIMIT);
    storage_close(&f);
}
