/* SPDX-License-Identifier: MIT */
/* test_entries.c: systems meet the rows that there are: after rows came into chunks and left them,
 * after one chunk went and another came, after a filter was set and emptied. */
#include <weft/weft.h>

#include "plain.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 700 };

/* A world with a system that adds up the values of its rows, fused with one that raises them, and
 * one that is alone. Owner: the test. */
typedef struct bed {
    weft_world *world;
    weft_component value, kind, team;
    weft_query all;
    uint64_t sum, rows, last, alone;
} bed;

static void raise_values(weft_slice *slice, void *user)
{
    (void)user;
    uint32_t *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) values[i]++;
}

static void add_up(weft_slice *slice, void *user)
{
    bed *b = user;
    const uint32_t *values = weft_slice_read(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) b->sum += values[i];
    b->rows += slice->count;
    b->last = slice->first + slice->count;
}

static void count_alone(weft_slice *slice, void *user)
{
    ((bed *)user)->alone += slice->count;
}

static void bed_open(bed *b)
{
    *b = (bed){0};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &b->world));
    b->value = weft_component_create_plain(b->world, "value", 4, 4, 0);
    b->kind = weft_component_create_plain(b->world, "kind", 4, 4, 0);
    b->team = weft_component_create_plain(b->world, "team", 4, 4, WEFT_SHARED);
    b->all = weft_query_create(
        b->world,
        &(weft_query_desc){.terms = {{b->team, WEFT_READ, 0, 0}, {b->value, WEFT_READ, 0, 0}}});
    weft_system_desc raise = {.name = "raise", .run = raise_values};
    raise.over.rows.terms[0] = (weft_term){b->value, WEFT_WRITE, WEFT_ALL, 0};
    weft_system_desc sum = {.name = "sum", .run = add_up, .user = b};
    sum.over.rows.terms[0] = (weft_term){b->value, WEFT_READ, WEFT_ALL, 0};
    weft_system_desc alone = {
        .name = "alone", .run = count_alone, .user = b, .flags = WEFT_SYSTEM_SERIAL};
    alone.over.rows.terms[0] = (weft_term){b->value, WEFT_READ, WEFT_ALL, 0};
    CHECK(weft_system_create(b->world, &raise).id != 0);
    CHECK(weft_system_create(b->world, &sum).id != 0);
    CHECK(weft_system_create(b->world, &alone).id != 0);
}

/* One step: what the systems meet. */
static void step_meets(bed *b, uint64_t rows, uint64_t sum)
{
    b->sum = b->rows = b->last = b->alone = 0;
    CHECK_OK(weft_world_step(b->world, 0));
    CHECK_U64(b->rows, rows);
    CHECK_U64(b->alone, rows);
    CHECK_U64(b->last, rows);
    CHECK_U64(b->sum, sum);
}

PLAIN_TEST(rows_that_came_and_went_are_met)
{
    static bed b;
    static weft_entity rows[ROWS];
    bed_open(&b);
    weft_archetype archetype = WEFT_ARCHETYPE(b.world, b.value);
    CHECK_OK(weft_entity_create_many(b.world, archetype, 5, rows));
    step_meets(&b, 5, 5);
    CHECK_OK(weft_entity_create_many(b.world, archetype, 3, rows + 5));
    step_meets(&b, 8, 5 * 2 + 3);
    CHECK_OK(weft_entity_destroy(b.world, rows[0]));
    step_meets(&b, 7, 4 * 3 + 3 * 2);
    CHECK_OK(weft_entity_create_many(b.world, archetype, ROWS - 8, rows + 8)); /* many slices */
    step_meets(&b, ROWS - 1, 4 * 4 + 3 * 3 + ROWS - 8);
    for (uint32_t i = 8; i < ROWS; i++) CHECK_OK(weft_entity_destroy(b.world, rows[i]));
    step_meets(&b, 7, 4 * 5 + 3 * 4);
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(rows_of_another_chunk_are_met)
{
    static bed b;
    weft_entity first, second;
    bed_open(&b);
    first = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    step_meets(&b, 1, 1);
    for (uint32_t i = 0; i < 4; i++) { /* as many chunks, of another archetype each time */
        second = weft_entity_create(b.world, i % 2 == 0 ? WEFT_ARCHETYPE(b.world, b.value, b.kind)
                                                        : WEFT_ARCHETYPE(b.world, b.value));
        uint32_t value = 10 * i;
        CHECK_OK(weft_entity_set(b.world, second, b.value, &value, sizeof value));
        CHECK_OK(weft_entity_destroy(b.world, first));
        step_meets(&b, 1, value + 1);
        first = second;
    }
    CHECK_OK(weft_world_destroy(b.world));
}

static void count_team(weft_slice *slice, void *user)
{
    *(uint64_t *)user += slice->count;
}

PLAIN_TEST(a_filter_that_was_set_or_emptied_counts)
{
    static bed b;
    weft_entity rows[6];
    uint64_t met = 0;
    bed_open(&b);
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.value, b.team), 6, rows));
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t team = i % 2;
        CHECK_OK(weft_entity_set_shared(b.world, rows[i], b.team, &team));
    }
    weft_system_desc desc = {.name = "team", .run = count_team, .user = &met};
    desc.over = (weft_system_over){.kind = WEFT_OVER_QUERY, .query = b.all};
    CHECK(weft_system_create(b.world, &desc).id != 0);
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t team = 1;
        met = 0;
        if (round == 1)
            CHECK_OK(weft_query_filter_shared(b.world, b.all, b.team, WEFT_FILTER_EQUAL, &team, 1));
        if (round == 2) CHECK_OK(weft_query_filter_reset(b.world, b.all));
        CHECK_OK(weft_world_step(b.world, 0));
        CHECK_U64(met, round == 1 ? 3 : 6 + round / 2);
        if (round == 1) weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value, b.team));
    }
    CHECK_OK(weft_world_destroy(b.world));
}

/* ---- archetypes without rows ---- */

/* Memory that is overwritten when it is released. */
static void *take_memory(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release_memory(void *user, void *memory, size_t bytes, size_t alignment)
{
    (void)user, (void)alignment;
    if (memory != NULL) memset(memory, 0xff, bytes);
    free(memory);
}

enum { TAGS = 12 };

/* A world whose query of enableable values matches `tag_count` archetypes. Owner: the test. */
typedef struct tag_bed {
    weft_world *world;
    weft_component value, hidden, tags[TAGS];
    weft_entity rows[TAGS], last; /* one of each archetype; hidden from the query */
    uint32_t tag_count;
    bool is_tagging;
} tag_bed;

/* The first time, an archetype appears at the sync point that the query does not match. */
static void tag_last(weft_slice *slice, void *user)
{
    const tag_bed *b = user;
    if (b->is_tagging) CHECK_OK(weft_recorder_add(weft_slice_recorder(slice), b->last, b->tags[0]));
}

static void disable_first(weft_slice *slice, void *user)
{
    (void)user;
    weft_slice_enable(slice, 0, 0, false);
}

static void tag_bed_open(tag_bed *b, uint32_t tag_count)
{
    const weft_world_desc desc = {.workers = 1, .allocator = {take_memory, release_memory, NULL}};
    *b = (tag_bed){.tag_count = tag_count};
    CHECK_OK(weft_world_create(&desc, &b->world));
    b->value = weft_component_create_plain(b->world, "value", 4, 4, WEFT_ENABLEABLE);
    b->hidden = weft_component_create_plain(b->world, "hidden", 0, 1, 0);
    weft_system_desc tag = {.name = "tag", .run = tag_last, .user = b, .effects = WEFT_RECORDS_ADD};
    CHECK(weft_system_create(b->world, &tag).id != 0);
    weft_system_desc disable = {.name = "disable", .run = disable_first, .after = {"tag"}};
    disable.over.rows.terms[0] = (weft_term){b->value, WEFT_WRITE, WEFT_ALL, 0};
    disable.over.rows.terms[1] = (weft_term){b->hidden, WEFT_READ, WEFT_NONE, 0};
    CHECK(weft_system_create(b->world, &disable).id != 0);
    b->last = weft_entity_create(b->world, WEFT_ARCHETYPE(b->world, b->value, b->hidden));
    for (uint32_t i = 0; i < tag_count; i++) {
        char name[] = {'t', 'a', 'g', (char)('a' + i), 0};
        b->tags[i] = weft_component_create_plain(b->world, name, 0, 1, 0);
        b->rows[i] = weft_entity_create(b->world, WEFT_ARCHETYPE(b->world, b->value, b->tags[i]));
    }
}

static void step_disables(tag_bed *b)
{
    CHECK_OK(weft_world_step(b->world, 0));
    for (uint32_t i = 0; i < b->tag_count; i++) {
        CHECK(!weft_entity_is_enabled(b->world, b->rows[i], b->value));
        CHECK_OK(weft_entity_enable(b->world, b->rows[i], b->value, true));
    }
}

/* What a query knows of its archetypes moves when it makes room for more; its chunks stay. */
PLAIN_TEST(archetypes_may_appear_between_stages)
{
    static tag_bed b;
    for (uint32_t tag_count = 1; tag_count <= TAGS; tag_count++) {
        tag_bed_open(&b, tag_count);
        step_disables(&b);
        b.is_tagging = true;
        step_disables(&b);
        CHECK_OK(weft_world_validate(b.world));
        CHECK_OK(weft_world_destroy(b.world));
    }
}
