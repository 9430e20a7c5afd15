/* SPDX-License-Identifier: MIT */
/* test_rows.c: rows made in place by recorders: refused calls (limits, every k-th allocation)
 * leave nothing behind, handles are known while recording, shared values are as asked for. Every
 * row has a number, by which a naive model finds it. */
#include "memory_fault.h"
#include "os_fault.h"
#include "plain.h"

#include <weft/ecs.h>

#include <stdlib.h>
#include <string.h>

enum { ROWS = 300000, CALLS = 30, ROUNDS = 12 };

typedef struct link {
    weft_entity other;
    uint32_t number; /* of the other one; 0: none */
} link;

/* What the model knows of a row, by number. */
typedef struct model_row {
    weft_entity known; /* handle while recording; null: not asked for */
    bool is_real;      /* that is its id already */
    bool is_played, is_dead, is_tagged;
    uint32_t shared, other, link; /* values; number of the row linked to */
} model_row;

typedef struct bed {
    weft_world *world;
    weft_component number, link, team, kind, tag;
    weft_archetype plain, grouped;
    weft_query all;
    weft_recorder *commands;
    model_row rows[ROWS];
    uint32_t count;    /* numbers given */
    uint32_t recorded; /* of the first row of this round */
    test_random random;
    test_memory memory;
    test_os os;
} bed;

static uint32_t below(bed *b, uint32_t bound)
{
    return (uint32_t)test_random_below(&b->random, bound);
}

static bed *bed_open(uint64_t seed, const weft_world_desc *limits)
{
    static const weft_field field = {"other", WEFT_FIELD_ENTITY, offsetof(link, other), 0};
    bed *b = calloc(1, sizeof *b);
    weft_world_desc desc = *limits;
    test_note_seed(seed);
    b->random = test_random_init(seed);
    b->count = b->recorded = 1;
    test_memory_init(&b->memory);
    test_os_init(&b->os);
    desc.workers = 1;
    desc.allocator = test_memory_hook(&b->memory);
    desc.os = &b->os.table;
    CHECK_OK(weft_world_create(&desc, &b->world));
    b->number = weft_component_create_plain(b->world, "number", 4, 4, 0);
    b->link = weft_component_create(b->world, &(weft_component_desc){.name = "link",
                                                                     .size = sizeof(link),
                                                                     .alignment = 4,
                                                                     .fields = &field,
                                                                     .field_count = 1});
    b->team = weft_component_create_plain(b->world, "team", 4, 4, WEFT_SHARED);
    b->kind = weft_component_create_plain(b->world, "kind", 12, 4, WEFT_SHARED);
    b->tag = weft_component_create_plain(b->world, "tag", 0, 1, 0);
    b->plain = weft_archetype_create(b->world, (weft_component[]){b->number, b->link}, 2);
    b->grouped = weft_archetype_create(b->world,
                                       (weft_component[]){b->number, b->link, b->team, b->kind}, 4);
    b->all = weft_query_create(b->world,
                               &(weft_query_desc){.terms = {{b->number, WEFT_READ, WEFT_ALL, 0}}});
    CHECK_OK(weft_recorder_create(b->world, &b->commands));
    return b;
}

static void bed_close(bed *b)
{
    weft_recorder_destroy(b->commands);
    CHECK_OK(weft_world_destroy(b->world));
    test_memory_fini(&b->memory);
    CHECK_U64(at_load_rlx(&b->os.x_maps), at_load_rlx(&b->os.x_unmaps)); /* relaxed: alone */
    free(b);
}

static void check_valid(const bed *b)
{
    if (weft_world_validate(b->world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(b->world)->text);
}

/* ---- recording ---- */

static uint32_t column_of(const bed *b, weft_archetype archetype, weft_component component)
{
    weft_component list[8];
    uint32_t count = weft_archetype_components(b->world, archetype, list, 8);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].id == component.id) return i;
    return UINT32_MAX;
}

/* A row of this round that lives and whose handle can be had; 0: none. */
static uint32_t draw_recent(bed *b)
{
    if (b->count == b->recorded) return 0;
    uint32_t number = b->recorded + below(b, b->count - b->recorded);
    return b->rows[number].known.version != 0 && !b->rows[number].is_dead ? number : 0;
}

static void fill_row(bed *b, const weft_slice *rows, weft_archetype archetype, uint32_t i,
                     bool unordered)
{
    model_row *m = &b->rows[b->count];
    *m = (model_row){.is_real = unordered};
    ((uint32_t *)rows->columns[column_of(b, archetype, b->number)])[i] = b->count;
    if (unordered || below(b, 3) == 0) m->known = weft_recorder_row_entity(b->commands, rows, i);
    if (unordered) CHECK_U64(m->known.index, rows->entities[i].index);
    uint32_t other = below(b, 2) == 0 ? draw_recent(b) : 0;
    m->link = other;
    ((link *)rows->columns[column_of(b, archetype, b->link)])[i] =
        (link){b->rows[other].known, other};
    b->count++;
}

/* Makes some rows; the result of the call. */
static weft_result make_rows(bed *b, uint32_t most)
{
    uint32_t team = below(b, 3), kind[3] = {below(b, 2), 7, 7};
    weft_values shared[] = {{b->team, &team}, {b->kind, kind}};
    weft_rows_desc desc = {.count = 1 + below(b, most), .is_unordered = below(b, 2) == 0};
    bool is_grouped = below(b, 2) == 0;
    desc.archetype = is_grouped ? b->grouped : b->plain;
    if (is_grouped && below(b, 4) != 0) {
        desc.shared = shared;
        desc.shared_count = 1 + below(b, 2);
    }
    weft_slice rows;
    weft_result result = weft_recorder_create_rows_with(b->commands, &desc, &rows);
    if (result != WEFT_OK) {
        CHECK(rows.count == 0 && rows.columns == NULL && rows.entities == NULL);
        return result;
    }
    CHECK(rows.count != 0 && rows.count <= desc.count && b->count + rows.count < ROWS);
    uint32_t first = b->count;
    for (uint32_t i = 0; i < rows.count; i++) {
        fill_row(b, &rows, desc.archetype, i, desc.is_unordered);
        b->rows[first + i].shared = desc.shared_count > 0 ? team : 0;
        b->rows[first + i].other = desc.shared_count > 1 ? kind[0] : 0;
    }
    return WEFT_OK;
}

/* A command on a row of this round, by its handle. */
static weft_result change_row(bed *b)
{
    uint32_t number = draw_recent(b);
    if (number == 0) return WEFT_OK;
    model_row *m = &b->rows[number];
    weft_result result;
    if (below(b, 3) == 0) {
        result = weft_recorder_destroy_entity(b->commands, m->known);
        if (result == WEFT_OK) m->is_dead = true;
        return result;
    }
    result = weft_recorder_add(b->commands, m->known, b->tag);
    if (result == WEFT_OK) m->is_tagged = true;
    return result;
}

/* ---- comparing ---- */

static void check_row(const bed *b, weft_entity entity, uint32_t number)
{
    const model_row *m = &b->rows[number];
    CHECK(m->is_played && !m->is_dead);
    if (m->is_real) {
        CHECK_U64(entity.index, m->known.index);
        CHECK_U64(entity.version, m->known.version);
    }
    CHECK(weft_entity_has(b->world, entity, b->tag) == m->is_tagged);
    if (weft_entity_has(b->world, entity, b->team)) {
        CHECK_U64(*(const uint32_t *)weft_entity_read_shared(b->world, entity, b->team), m->shared);
        CHECK_U64(*(const uint32_t *)weft_entity_read_shared(b->world, entity, b->kind), m->other);
    }
    const link *l = weft_entity_read(b->world, entity, b->link);
    CHECK_U64(l->number, m->link);
    if (l->number == 0) return;
    CHECK(weft_entity_is_alive(b->world, l->other) != b->rows[l->number].is_dead);
    if (b->rows[l->number].is_dead) return;
    CHECK_U64(*(const uint32_t *)weft_entity_read(b->world, l->other, b->number), l->number);
}

static void check_all(const bed *b)
{
    static weft_entity entities[ROWS];
    uint64_t count = weft_query_entities(b->world, b->all, entities, ROWS), expected = 0;
    weft_world_stats stats;
    check_valid(b);
    for (uint32_t i = 1; i < b->count; i++) expected += b->rows[i].is_played && !b->rows[i].is_dead;
    CHECK_U64(count, expected);
    weft_world_stats_get(b->world, &stats, sizeof stats);
    CHECK_U64(stats.entities, expected);
    for (uint64_t i = 0; i < count; i++)
        check_row(b, entities[i],
                  *(const uint32_t *)weft_entity_read(b->world, entities[i], b->number));
}

/* The rows recorded since are in the world, or (`is_played` false) never were. */
static void round_ends(bed *b, bool is_played)
{
    for (uint32_t i = b->recorded; i < b->count && is_played; i++) b->rows[i].is_played = true;
    if (!is_played) b->count = b->recorded;
    b->recorded = b->count;
    check_all(b);
}

/* Play says again what was refused while recording. */
static void play(bed *b, weft_result expected)
{
    CHECK_RESULT(weft_recorder_play(b->commands), expected);
    round_ends(b, true);
    CHECK_OK(weft_recorder_play(b->commands)); /* said once */
}

static void normal_round(bed *b)
{
    for (uint32_t i = 0; i < CALLS; i++)
        CHECK_OK(below(b, 3) == 0 ? make_rows(b, below(b, 6) == 0 ? 3000 : 200) : change_row(b));
    play(b, WEFT_OK);
}

/* ---- tests ---- */

PLAIN_TEST(random_rows_agree_with_the_model)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        bed *b = bed_open(seed, &(weft_world_desc){0});
        for (uint32_t round = 0; round < ROUNDS; round++) normal_round(b);
        bed_close(b);
    }
}

/* Rows of one size of value: `count` asked for at once, and nothing else. */
static void rows_alone(uint32_t bytes, uint32_t count, bool is_unordered)
{
    weft_world *world;
    weft_recorder *commands;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component value = weft_component_create_plain(world, "value", bytes, 8, 0);
    weft_rows_desc desc = {.archetype = weft_archetype_create(world, &value, 1),
                           .is_unordered = is_unordered};
    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{value}}});
    CHECK_OK(weft_recorder_create(world, &commands));
    for (uint32_t left = count; left > 0;) {
        weft_slice rows;
        desc.count = left;
        CHECK_OK(weft_recorder_create_rows_with(commands, &desc, &rows));
        char *values = weft_slice_write(&rows, 0);
        for (uint32_t i = 0; i < rows.count; i++, left--)
            memcpy(values + (size_t)i * bytes, &left, sizeof left);
    }
    CHECK_OK(weft_recorder_play(commands));
    static weft_entity entities[4096];
    CHECK_U64(weft_query_entities(world, all, entities, 4096), count);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += *(const uint32_t *)weft_entity_read(world, entities[i], value);
    CHECK_U64(sum, (uint64_t)count * (count + 1) / 2);
    CHECK_OK(weft_world_validate(world));
    weft_recorder_destroy(commands);
    CHECK_OK(weft_world_destroy(world));
}

/* Whole chunks of rows that all have their ids: there is no list of rows to name or to move. */
PLAIN_TEST(rows_on_both_sides_of_every_size_of_chunk_join_the_world)
{
    static const uint32_t sizes[] = {8, 128, 1000};
    for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (uint32_t rows = 1; rows <= 2048; rows *= 2)
            for (uint32_t count = rows < 3 ? 1 : rows - 2; count <= rows + 2; count++) {
                rows_alone(sizes[s], count, false);
                rows_alone(sizes[s], count, true);
            }
}

/* Rows that wait for playback are in no hash and no file, and nothing is loaded over their ids. */
PLAIN_TEST(rows_that_were_not_played_are_in_no_hash_and_no_file)
{
    bed *b = bed_open(7, &(weft_world_desc){0});
    weft_entity some[5];
    weft_slice rows;
    weft_world_bytes bytes;
    CHECK_OK(weft_entity_create_many(b->world, b->plain, 5, some));
    CHECK_OK(weft_entity_destroy(b->world, some[3]));
    uint64_t hash = weft_world_hash(b->world, WEFT_HASH_LAYOUT);
    CHECK_OK(weft_recorder_create_rows_unordered(b->commands, b->plain, 700, &rows));
    weft_entity held = rows.entities[rows.count - 1];
    CHECK(!weft_entity_is_alive(b->world, held));
    CHECK_U64(weft_world_hash(b->world, WEFT_HASH_LAYOUT), hash);
    CHECK_OK(weft_world_save_memory(b->world, &bytes, NULL));
    weft_world *other;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &other));
    CHECK_OK(weft_world_load_memory(other, bytes.bytes, bytes.count, NULL));
    CHECK_U64(weft_world_hash(other, WEFT_HASH_LAYOUT), hash);
    CHECK_OK(weft_world_destroy(other));
    /* a world of which a recorder has ids is new, but nothing is loaded */
    weft_recorder *waiting;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &other));
    weft_component number = weft_component_create_plain(other, "number", 4, 4, 0);
    CHECK_OK(weft_recorder_create(other, &waiting));
    CHECK_OK(weft_recorder_create_rows_unordered(waiting, weft_archetype_create(other, &number, 1),
                                                 3, &rows));
    CHECK_RESULT(weft_world_load_memory(other, bytes.bytes, bytes.count, NULL), WEFT_WRONG_PHASE);
    CHECK(strstr(weft_world_error(other)->text, "play or destroy it first") != NULL);
    weft_recorder_destroy(waiting);
    CHECK_OK(weft_world_load_memory(other, bytes.bytes, bytes.count, NULL));
    CHECK_U64(weft_world_hash(other, WEFT_HASH_LAYOUT), hash);
    CHECK_OK(weft_world_validate(other));
    CHECK_OK(weft_world_destroy(other));
    weft_world_bytes_free(b->world, &bytes);
    CHECK_OK(weft_recorder_play(b->commands));
    CHECK(weft_entity_is_alive(b->world, held));
    CHECK(weft_world_hash(b->world, WEFT_HASH_LAYOUT) != hash);
    bed_close(b);
}

/* One round in which the k-th allocation (or mapping) is refused while rows are recorded. False:
 * there are fewer. */
static bool refuse_recording(bed *b, uint64_t k, bool is_map, bool forever)
{
    uint64_t refused = b->memory.failures;
    weft_result first = WEFT_OK;
    if (is_map)
        test_os_fail_map(&b->os, k);
    else
        test_memory_fail(&b->memory, k, forever);
    for (uint32_t i = 0; i < CALLS; i++) {
        weft_result result = below(b, 2) == 0 ? make_rows(b, 300) : change_row(b);
        if (result != WEFT_OK) CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        if (first == WEFT_OK) first = result;
    }
    /* relaxed: alone */
    bool has_failed =
        is_map ? at_load_rlx(&b->os.x_fail_map_at) == 0 : b->memory.failures != refused;
    test_memory_fail(&b->memory, 0, false);
    test_os_fail_map(&b->os, 0);
    play(b, first);
    return has_failed;
}

/* Ids that a recorder reserved, and that nothing gave back, would refuse the restore. */
static void check_no_id_is_held(bed *b)
{
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(b->world, NULL, &snapshot));
    CHECK_OK(weft_snapshot_restore(b->world, snapshot));
    weft_snapshot_destroy(snapshot);
}

PLAIN_TEST(every_refused_allocation_of_a_recorder_leaves_nothing_behind)
{
    for (uint64_t seed = 20; seed < 26; seed++)
        for (uint64_t k = 1;; k++) {
            bed *b = bed_open(seed, &(weft_world_desc){0});
            bool has_failed = refuse_recording(b, k, false, seed % 2 == 0);
            normal_round(b);
            check_no_id_is_held(b);
            bed_close(b);
            if (!has_failed) break;
            CHECK(k < 1000);
        }
}

PLAIN_TEST(refused_mappings_of_a_recorder_leave_nothing_behind)
{
    for (uint64_t seed = 30; seed < 34; seed++)
        for (uint64_t k = 1;; k++) {
            bed *b = bed_open(seed, &(weft_world_desc){0});
            bool has_failed = refuse_recording(b, k, true, false);
            normal_round(b);
            bed_close(b);
            if (!has_failed) break;
            CHECK(k < 100);
        }
}

PLAIN_TEST(rows_whose_linking_fails_never_were)
{
    for (uint64_t seed = 40; seed < 46; seed++) {
        bed *b = bed_open(seed, &(weft_world_desc){0});
        for (uint64_t k = 1;; k++) {
            for (uint32_t i = 0; i < 5; i++) CHECK_OK(make_rows(b, 300));
            test_memory_fail(&b->memory, k, seed % 2 == 0);
            weft_result result = weft_recorder_play(b->commands);
            test_memory_fail(&b->memory, 0, false);
            round_ends(b, result == WEFT_OK);
            if (result == WEFT_OK) break;
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
            CHECK(k < 1000);
        }
        normal_round(b);
        bed_close(b);
    }
}

/* Fills a small world by rows until it refuses, again and again. */
static void fill_world(uint64_t seed, const weft_world_desc *limits)
{
    bed *b = bed_open(seed, limits);
    for (uint32_t round = 0; round < 6; round++) {
        weft_result result = WEFT_OK;
        for (uint32_t i = 0; result == WEFT_OK; i++) {
            CHECK(i < 1000);
            result = make_rows(b, 1500);
        }
        CHECK_RESULT(result, WEFT_LIMIT);
        while ((result = make_rows(b, 1500)) == WEFT_OK) {
        } /* the same reason again: what was taken for the first is given back */
        CHECK_RESULT(result, WEFT_LIMIT);
        result = weft_recorder_play(b->commands);
        CHECK_RESULT(result, WEFT_LIMIT);
        CHECK(strstr(weft_world_error(b->world)->text, "raise it in weft_world_desc") != NULL);
        /* ordered rows may meet the limit when they get their ids: then none is there */
        bool is_played = weft_query_count(b->world, b->all) != 0;
        round_ends(b, is_played);
        CHECK_OK(weft_query_destroy_entities(b->world, b->all));
        for (uint32_t i = 1; i < b->count; i++) b->rows[i].is_dead = true;
        check_all(b);
        b->count = b->recorded = 1;
    }
    bed_close(b);
}

PLAIN_TEST(rows_beyond_the_limit_of_entities_leave_nothing_behind)
{
    for (uint64_t seed = 50; seed < 56; seed++)
        fill_world(seed, &(weft_world_desc){.entity_block_limit = 1 + (uint32_t)seed % 3});
}

PLAIN_TEST(rows_beyond_the_limit_of_memory_leave_nothing_behind)
{
    for (uint64_t seed = 60; seed < 66; seed++)
        fill_world(seed, &(weft_world_desc){.megachunk_limit = 2});
}

PLAIN_TEST(handles_of_rows_are_refused_where_they_mean_nothing)
{
    bed *b = bed_open(70, &(weft_world_desc){0});
    weft_recorder *other;
    weft_slice rows, none = {0};
    CHECK_OK(weft_recorder_create(b->world, &other));
    CHECK_OK(weft_recorder_create_rows(b->commands, b->plain, 2, &rows));
    weft_entity handle = weft_recorder_row_entity(b->commands, &rows, 1);
    CHECK(handle.version != 0);
    CHECK(!weft_entity_is_alive(b->world, handle));
    CHECK_RESULT(weft_recorder_add(other, handle, b->tag), WEFT_STALE_ENTITY);
    CHECK_U64(weft_recorder_row_entity(other, &rows, 1).version, 0);
    CHECK_U64(weft_recorder_row_entity(b->commands, &rows, 2).version, 0);
    CHECK_U64(weft_recorder_row_entity(b->commands, &none, 0).version, 0);
    CHECK_U64(weft_recorder_row_entity(b->commands, NULL, 0).version, 0);
    CHECK_U64(weft_recorder_row_entity(NULL, &rows, 0).version, 0);
    CHECK_OK(weft_recorder_add(b->commands, handle, b->tag));
    CHECK_RESULT(weft_recorder_play(b->commands), WEFT_NOT_FOUND);
    CHECK(strstr(weft_world_error(b->world)->text, "no such row") != NULL);
    CHECK_RESULT(weft_recorder_add(b->commands, handle, b->tag), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_recorder_play(b->commands), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_recorder_play(other), WEFT_STALE_ENTITY);
    CHECK_U64(weft_query_count(b->world, b->all), 2);
    weft_recorder_destroy(other);
    check_valid(b);
    bed_close(b);
}

PLAIN_TEST(shared_values_of_rows_that_cannot_be_are_refused)
{
    bed *b = bed_open(71, &(weft_world_desc){0});
    uint32_t team = 1;
    weft_values lists[3] = {{b->number, &team}, {{999, b->number.world}, &team}, {b->team, &team}};
    weft_result expected[3] = {WEFT_TYPE_MISMATCH, WEFT_BAD_HANDLE, WEFT_INVALID_ARGUMENT};
    weft_slice rows;
    for (uint32_t i = 0; i < 3; i++) {
        weft_rows_desc desc = {.archetype = i == 2 ? b->plain : b->grouped,
                               .count = 3,
                               .shared_count = 1,
                               .shared = &lists[i]};
        CHECK_RESULT(weft_recorder_create_rows_with(b->commands, &desc, &rows), expected[i]);
        CHECK_RESULT(weft_recorder_play(b->commands), expected[i]);
    }
    weft_rows_desc desc = {.archetype = b->grouped, .count = 3, .shared_count = 1};
    CHECK_RESULT(weft_recorder_create_rows_with(b->commands, &desc, &rows), WEFT_INVALID_ARGUMENT);
    desc.shared = &(weft_values){b->team, NULL};
    CHECK_RESULT(weft_recorder_create_rows_with(b->commands, &desc, &rows), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_recorder_play(b->commands), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(b->world)->text, "archetype lacks it") != NULL);
    CHECK_RESULT(weft_recorder_create_rows_with(b->commands, NULL, &rows), WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_query_count(b->world, b->all), 0);
    bed_close(b);
}
