/* SPDX-License-Identifier: MIT */
/* test_change.c: single changes, births and deaths: the lean ways, each one straight function, give
 * the same world as the general ways, to the last version of the last slice. */
#include "archetype_state.h"
#include "check.h"
#include "random.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <string.h>
#include <weft/query.h>

enum { KINDS = 7, ENTITIES = 3000, STEPS = 12000 };

/* All sizes that a step of a plain move treats apart; a tag; a capped chunk. */
static const size_t sizes[KINDS] = {12, 4, 8, 16, 20, 0, 12};

/* The same entities in two worlds: one changes them one by one, the other as arrays of one. */
typedef struct twins {
    weft_world *lean, *general;
    weft_component component[KINDS]; /* of `lean`; those of `general` have the same ids */
    weft_entity entities[ENTITIES];
    uint32_t count;
    test_random random;
} twins;

static weft_world *world_open(twins *t)
{
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &world));
    for (uint32_t k = 0; k < KINDS; k++) {
        char name[2] = {(char)('a' + k), 0};
        t->component[k] = weft_component_create(
            world, &(weft_component_desc){
                       .name = name, .size = sizes[k], .chunk_row_limit = k == 6 ? 100 : 0});
    }
    return world;
}

static weft_component general(const twins *t, weft_component component)
{
    return weft__component(t->general, component.id);
}

static void twins_open(twins *t, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    test_note_seed(seed);
    t->random = test_random_init(seed);
    t->general = world_open(t);
    t->lean = world_open(t);
    static uint32_t values[ENTITIES][3];
    for (uint32_t i = 0; i < ENTITIES; i++) values[i][0] = values[i][1] = values[i][2] = i;
    weft_component first = t->component[0], twin = general(t, first);
    weft_entity same[ENTITIES];
    CHECK_OK(weft_entity_create_filled(t->lean, WEFT_ARCHETYPE(t->lean, first),
                                       WEFT_VALUES({first, values}), ENTITIES, t->entities));
    CHECK_OK(weft_entity_create_filled(t->general, WEFT_ARCHETYPE(t->general, twin),
                                       WEFT_VALUES({twin, values}), ENTITIES, same));
    CHECK(memcmp(same, t->entities, sizeof same) == 0);
    t->count = ENTITIES;
}

static void chunks_compare(const weft__chunk *a, const weft__chunk *b)
{
    CHECK_U64(a->count, b->count);
    CHECK_U64(a->capacity, b->capacity);
    CHECK_U64(a->order_version, b->order_version);
    CHECK_U64(a->has_room, b->has_room);
    for (uint32_t c = 0; c < a->layout->column_count; c++)
        CHECK(memcmp(weft__chunk_column(a, c), weft__chunk_column(b, c),
                     (size_t)a->count * a->layout->columns[c].bytes) == 0);
    for (uint32_t type = 0; type < a->archetype->type_count; type++)
        for (uint32_t s = 0; s < weft__chunk_slices(a); s++)
            CHECK_U64(at_plain(&weft__chunk_versions(a, type)[s]),
                      at_plain(&weft__chunk_versions(b, type)[s]));
}

static uint64_t rows_moved(const weft_world *world)
{
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    return stats.rows_moved * 1000003 + stats.bytes_moved;
}

static void twins_compare(twins *t)
{
    CHECK_OK(weft_world_validate(t->lean));
    CHECK_OK(weft_world_validate(t->general));
    CHECK_U64(t->lean->archetypes.count, t->general->archetypes.count);
    for (uint32_t i = 0; i < t->lean->archetypes.count; i++) {
        const weft__archetype *a = t->lean->archetypes.at[i], *b = t->general->archetypes.at[i];
        CHECK_U64(a->chunk_count, b->chunk_count);
        CHECK_U64(a->entity_count, b->entity_count);
        CHECK_U64(a->order_version, b->order_version);
        for (uint32_t c = 0; c < a->chunk_count; c++) chunks_compare(a->chunks[c], b->chunks[c]);
    }
    CHECK_U64(weft_world_hash(t->lean, WEFT_HASH_LAYOUT),
              weft_world_hash(t->general, WEFT_HASH_LAYOUT));
    CHECK_U64(rows_moved(t->lean), rows_moved(t->general));
}

static uint32_t below(twins *t, uint32_t bound)
{
    return (uint32_t)test_random_below(&t->random, bound);
}

/* An entity dies and another is born in its place in the list. */
static void replace_one(twins *t, uint32_t at)
{
    weft_component set[KINDS] = {t->component[0]}, other[KINDS];
    uint32_t count = 1, wanted = below(t, 1u << KINDS);
    for (uint32_t k = 1; k < KINDS; k++)
        if ((wanted >> k & 1) != 0) set[count++] = t->component[k];
    CHECK_OK(weft_entity_destroy(t->lean, t->entities[at]));
    CHECK_OK(weft_entity_destroy_many(t->general, &t->entities[at], 1));
    weft_archetype archetype = weft_archetype_create(t->lean, set, count);
    weft_entity same;
    t->entities[at] = weft_entity_create(t->lean, archetype);
    for (uint32_t i = 0; i < count; i++) other[i] = general(t, set[i]);
    CHECK_OK(weft_entity_create_many(t->general, weft_archetype_create(t->general, other, count), 1,
                                     &same));
    CHECK(memcmp(&same, &t->entities[at], sizeof same) == 0);
}

/* The component with its value, whether it is there or not. */
static void set_one(twins *t, weft_entity entity, uint32_t kind)
{
    uint32_t value[5] = {below(t, 1000), entity.index, 3, below(t, 1000), 5};
    weft_component component = t->component[kind];
    const void *given = sizes[kind] == 0 ? NULL : value;
    CHECK_OK(weft_entity_set(t->lean, entity, component, given, sizes[kind]));
    CHECK_OK(
        weft_entity_set_many(t->general, &entity, 1, general(t, component), given, sizes[kind]));
}

/* A stream visits neighbours, so that the quick way is taken, and now and then jumps. */
static void change_one(twins *t, uint32_t *at, uint32_t *kind, bool *is_remove)
{
    if (below(t, 8) == 0) *at = below(t, ENTITIES);
    if (below(t, 8) == 0) *kind = 1 + below(t, KINDS - 1), *is_remove = below(t, 2) == 0;
    *at = (*at + 1) % ENTITIES;
    if (below(t, 4) == 0) replace_one(t, *at);
    weft_entity entity = t->entities[*at];
    weft_component component = t->component[*kind], other = general(t, component);
    if (*is_remove) {
        CHECK_OK(weft_entity_remove(t->lean, entity, component));
        CHECK_OK(weft_entity_change_many(t->general, &entity, 1,
                                         &(weft_change_desc){.remove = &other, .remove_count = 1}));
    } else if (below(t, 2) == 0) {
        set_one(t, entity, *kind);
    } else {
        CHECK_OK(weft_entity_add(t->lean, entity, component));
        CHECK_OK(weft_entity_change_many(t->general, &entity, 1,
                                         &(weft_change_desc){.add = &other, .add_count = 1}));
    }
    if (below(t, 50) == 0) t->general->front.version = ++t->lean->front.version;
    if (below(t, 100) == 0) {
        float *x = weft_entity_write(t->lean, entity, t->component[0]);
        float *y = weft_entity_write(t->general, entity, general(t, t->component[0]));
        *x = *y = (float)*at;
    }
}

Test(change, the_lean_ways_give_the_same_world_as_the_general_ways)
{
    twins *t = malloc(sizeof *t);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        twins_open(t, seed);
        uint32_t at = 0, kind = 1;
        bool is_remove = false;
        for (uint32_t step = 0; step < STEPS; step++) {
            change_one(t, &at, &kind, &is_remove);
            if (step % 500 == 0) twins_compare(t);
        }
        twins_compare(t);
        CHECK_OK(weft_world_destroy(t->lean));
        CHECK_OK(weft_world_destroy(t->general));
    }
    free(t);
}

Test(change, refusals_are_the_same_on_a_way_that_was_taken_before)
{
    twins *t = malloc(sizeof *t);
    twins_open(t, 7);
    weft_world *world = t->lean;
    for (uint32_t i = 0; i < 10; i++)
        CHECK_OK(weft_entity_add(world, t->entities[i], t->component[1]));
    weft_entity dead = t->entities[11];
    CHECK_OK(weft_entity_destroy(world, dead));
    CHECK_RESULT(weft_entity_add(world, dead, t->component[1]), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_add(world, (weft_entity){0, 0}, t->component[1]), WEFT_STALE_ENTITY);
    weft_entity far = {.index = UINT32_MAX >> 4, .version = 1};
    CHECK_RESULT(weft_entity_add(world, far, t->component[1]), WEFT_STALE_ENTITY);
    weft_component none = {0},
                   strange = {t->component[1].id | UINT32_C(1) << 31, world->front.number};
    CHECK_RESULT(weft_entity_add(world, t->entities[20], none), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_entity_add(world, t->entities[20], strange), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_entity_add(NULL, t->entities[20], t->component[1]), WEFT_INVALID_ARGUMENT);
    uint32_t value = 9;
    weft_entity next = t->entities[20];
    CHECK_RESULT(weft_entity_set(world, dead, t->component[1], &value, 4), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_set(world, next, t->component[1], &value, 8), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_set(world, next, t->component[1], NULL, 4), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_set(world, next, t->component[1], NULL, 0), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_set(world, next, strange, &value, 4), WEFT_BAD_HANDLE);
    CHECK(!weft_entity_has(world, next, t->component[1]));
    weft_query query = weft_query_create(
        world, &(weft_query_desc){.terms = {{t->component[0], WEFT_READ, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(world, query);
    CHECK(weft_query_next(&cursor));
    CHECK_RESULT(weft_entity_add(world, t->entities[20], t->component[1]), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_entity_set(world, next, t->component[1], &value, 4), WEFT_WRONG_PHASE);
    weft_query_end(&cursor);
    CHECK_OK(weft_entity_add(world, t->entities[20], t->component[1]));
    CHECK_OK(weft_entity_add(world, t->entities[20], t->component[1])); /* it is there */
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(t->lean));
    CHECK_OK(weft_world_destroy(t->general));
    free(t);
}
