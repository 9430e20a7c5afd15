/* SPDX-License-Identifier: MIT */
/* test_batch.c: operations on arrays of entities: which rows fill which holes, what follows them,
 * and short arrays spread over large chunks. */
#include "archetype_state.h"
#include "buffer_append.h"
#include "entity_value.h"
#include "random.h"
#include "storage_fixture.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 30000, KINDS = 6 };

/* Values of every size that has its own loop, one that has none, and an enableable one. */
static const uint32_t value_sizes[KINDS] = {4, 8, 12, 16, 40, 4};

/* Owner: one test. */
typedef struct bed {
    weft_world *world;
    const weft__archetype *archetype; /* of all of them */
    weft_component kinds[KINDS];
    uint32_t kind_count; /* that they have */
    weft_entity entities[COUNT];
    uint32_t versions[COUNT][KINDS]; /* of the slices they were in before */
    bool is_gone[COUNT];
    bool is_off[COUNT]; /* of the enableable kind */
} bed;

static unsigned char byte_of(uint32_t entity, uint32_t kind)
{
    return (unsigned char)(entity * 7 + entity / 256 + kind * 31 + 1);
}

static weft__chunk *place_of(const bed *b, uint32_t i, uint32_t *row)
{
    weft__chunk *chunk = weft__entity_chunk(b->world, b->entities[i], row);
    CHECK(chunk != NULL);
    return chunk;
}

/* With the first `kinds` kinds; the last one is enableable. */
static bed *bed_open(uint32_t kinds)
{
    uint32_t row;
    bed *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &b->world));
    for (uint32_t k = 0; k < KINDS; k++) {
        char name[] = "kind0";
        name[4] = (char)('0' + k);
        b->kinds[k] = weft_component_create_plain(b->world, name, value_sizes[k], 4,
                                                  k == KINDS - 1 ? WEFT_ENABLEABLE : 0);
    }
    b->kind_count = kinds;
    CHECK_OK(weft_entity_create_many(b->world, weft_archetype_create(b->world, b->kinds, kinds),
                                     COUNT, b->entities));
    b->archetype = place_of(b, 0, &row)->archetype;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 2000 == 0) weft_world_advance_change_version(b->world);
        for (uint32_t k = 0; k < kinds; k++)
            memset(weft_entity_write(b->world, b->entities[i], b->kinds[k]), byte_of(i, k),
                   value_sizes[k]);
    }
    return b;
}

static void bed_close(bed *b)
{
    CHECK_OK(weft_world_validate(b->world));
    weft_world_destroy(b->world);
    free(b);
}

static uint32_t version_of(const bed *b, uint32_t i, uint32_t kind)
{
    uint32_t row;
    const weft__chunk *chunk = place_of(b, i, &row);
    const weft__type_slot *slot = weft__archetype_slot(chunk->archetype, b->kinds[kind].id);
    return at_load_rlx(&weft__chunk_versions(chunk, slot->type)[row >> chunk->layout->slice_shift]);
}

static void versions_note(bed *b)
{
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t k = 0; k < b->kind_count; k++) b->versions[i][k] = version_of(b, i, k);
}

/* Survivors have their values, bits and versions that are not older than before. */
static void survivors_check(const bed *b)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK(weft_entity_is_alive(b->world, b->entities[i]) == !b->is_gone[i]);
        for (uint32_t k = 0; k < b->kind_count && !b->is_gone[i]; k++) {
            const unsigned char *value = weft_entity_read(b->world, b->entities[i], b->kinds[k]);
            CHECK(value != NULL);
            CHECK_U64(value[0], byte_of(i, k));
            CHECK_U64(value[value_sizes[k] - 1], byte_of(i, k));
            CHECK((int32_t)(version_of(b, i, k) - b->versions[i][k]) >= 0);
        }
        if (!b->is_gone[i] && b->kind_count == KINDS)
            CHECK(weft_entity_is_enabled(b->world, b->entities[i], b->kinds[KINDS - 1]) !=
                  b->is_off[i]);
    }
}

/* Entity numbers of a chunk by row after those marked gone went by one array: the i-th lowest hole
 * gets the i-th survivor of the tail. Returns how many stay. */
static uint32_t rows_expect(const bed *b, const weft__chunk *chunk, uint32_t *rows)
{
    uint32_t kept = 0, tail, first = b->entities[0].index;
    for (uint32_t r = 0; r < chunk->count; r++) {
        rows[r] = weft__chunk_entities(chunk)[r].index - first;
        kept += !b->is_gone[rows[r]];
    }
    tail = kept;
    for (uint32_t r = 0; r < kept; r++) {
        if (!b->is_gone[rows[r]]) continue;
        while (b->is_gone[rows[tail]]) tail++;
        rows[r] = rows[tail++];
    }
    return kept;
}

/* Marks about one of `one_in` entities, now and then a run of them, and lists them. */
static uint32_t victims_choose(bed *b, test_random *random, uint32_t one_in, weft_entity *victims)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT;) {
        uint64_t run = test_random_below(random, 50) == 0 ? test_random_below(random, 90) : 1;
        bool is_victim = test_random_below(random, one_in) == 0;
        for (; run-- > 0 && i < COUNT; i++) {
            b->is_gone[i] = is_victim;
            if (is_victim) victims[count++] = b->entities[i];
        }
    }
    return count;
}

static void shuffle(test_random *random, weft_entity *entities, uint32_t count)
{
    for (uint32_t i = count; i-- > 1;) {
        uint32_t k = (uint32_t)test_random_below(random, i + 1);
        weft_entity swapped = entities[i];
        entities[i] = entities[k];
        entities[k] = swapped;
    }
}

/* Destroys the victims, which are marked already, and looks where the survivors are. */
static void destroy_many(const bed *b, const weft_entity *victims, uint32_t count)
{
    static uint32_t rows[64][COUNT];
    uint32_t kept[64], chunk_count = b->archetype->chunk_count;
    CHECK(chunk_count < 64);
    for (uint32_t c = 0; c < chunk_count; c++)
        kept[c] = rows_expect(b, b->archetype->chunks[c], rows[c]);
    CHECK_OK(weft_entity_destroy_many(b->world, victims, count));
    CHECK_U64(b->archetype->chunk_count, chunk_count);
    for (uint32_t c = 0; c < chunk_count; c++) {
        const weft__chunk *chunk = b->archetype->chunks[c];
        CHECK_U64(chunk->count, kept[c]);
        for (uint32_t r = 0; r < kept[c]; r++)
            CHECK_U64(weft__chunk_entities(chunk)[r].index, b->entities[0].index + rows[c][r]);
    }
}

static void holes_test(uint32_t one_in, bool is_shuffled, uint64_t seed)
{
    bed *b = bed_open(KINDS);
    test_random random = test_random_init(seed);
    static weft_entity victims[COUNT];
    for (uint32_t i = 0; i < COUNT; i += 3) {
        b->is_off[i] = true;
        CHECK_OK(weft_entity_enable(b->world, b->entities[i], b->kinds[KINDS - 1], false));
    }
    uint32_t count = victims_choose(b, &random, one_in, victims);
    if (is_shuffled) shuffle(&random, victims, count);
    CHECK(count > 64);
    versions_note(b);
    destroy_many(b, victims, count);
    survivors_check(b);
    bed_close(b);
}

Test(batch, few_holes_are_filled_by_the_tail_in_order)
{
    holes_test(40, true, 1);
}

Test(batch, many_holes_are_filled_by_the_tail_in_order)
{
    holes_test(2, true, 2);
}

Test(batch, holes_of_an_array_in_order_are_filled_by_the_tail_in_order)
{
    holes_test(3, false, 5);
}

/* Arrays of up to `most` entities, each twice. */
static void few_test(uint32_t kinds, uint32_t most, uint32_t rounds, uint64_t seed)
{
    bed *b = bed_open(kinds);
    test_random random = test_random_init(seed);
    versions_note(b);
    for (uint32_t round = 0; round < rounds; round++) {
        static weft_entity victims[2 * COUNT];
        uint32_t count = 1 + (uint32_t)test_random_below(&random, most);
        for (uint32_t i = 0; i < count; i++) { /* dead ones among them */
            uint32_t entity = (uint32_t)test_random_below(&random, COUNT);
            victims[i] = victims[2 * count - 1 - i] = b->entities[entity];
            b->is_gone[entity] = true;
        }
        destroy_many(b, victims, 2 * count);
    }
    survivors_check(b);
    bed_close(b);
}

Test(batch, arrays_of_a_few_entities_end_these_and_no_others)
{
    few_test(KINDS - 1, 16, 100, 3);
}

Test(batch, arrays_of_some_entities_end_these_and_no_others)
{
    few_test(KINDS - 1, 900, 40, 6);
}

Test(batch, arrays_of_a_few_enableable_entities_end_these_and_no_others)
{
    few_test(KINDS, 40, 100, 7);
}

/* A root's members are more than the array has entities. */
Test(batch, a_short_array_of_roots_ends_their_groups)
{
    enum { MEMBERS = 40 };
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component kind = weft_component_create_plain(world, "kind", 4, 4, 0);
    weft_component root_set[] = {kind, weft_component_linked_group(world)};
    weft_entity root, others[2], members[MEMBERS];
    CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, root_set, 2), 1, &root));
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, kind), MEMBERS, members));
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, kind), 2, others));
    CHECK_OK(test_buffer_append(world, root_set[1], root, &root, 1));
    CHECK_OK(test_buffer_append(world, root_set[1], root, members, MEMBERS));
    weft_entity victims[] = {others[0], members[3], root, root};
    CHECK_OK(weft_entity_destroy_many(world, victims, 4));
    CHECK(!weft_entity_is_alive(world, root) && !weft_entity_is_alive(world, others[0]));
    CHECK(weft_entity_is_alive(world, others[1]));
    for (uint32_t i = 0; i < MEMBERS; i++) CHECK(!weft_entity_is_alive(world, members[i]));
    CHECK_OK(weft_world_validate(world));
    weft_world_destroy(world);
}

Test(batch, a_change_of_a_few_entities_moves_these_and_no_others)
{
    bed *b = bed_open(KINDS);
    test_random random = test_random_init(4);
    weft_component more = weft_component_create_plain(b->world, "more", 4, 4, 0);
    static bool has[COUNT];
    versions_note(b);
    for (uint32_t round = 0; round < 200; round++) {
        weft_entity some[10];
        bool is_add = test_random_below(&random, 3) != 0;
        for (uint32_t i = 0; i < 10; i++) {
            uint32_t entity = (uint32_t)test_random_below(&random, COUNT);
            some[i] = b->entities[entity];
            has[entity] = is_add;
        }
        CHECK_OK(weft_entity_change_many(
            b->world, some, 10,
            &(weft_change_desc){
                .add = &more, .add_count = is_add, .remove = &more, .remove_count = !is_add}));
    }
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK(weft_entity_has(b->world, b->entities[i], more) == has[i]);
    survivors_check(b);
    bed_close(b);
}
