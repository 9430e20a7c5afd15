/* SPDX-License-Identifier: MIT */
/* rollback_bed.h: small worlds for tests that go back and forth in time: every kind of component,
 * two systems, and a hash of whatever can be asked. The random operations are in
 * rollback_operations.h. */
#ifndef WEFT_TESTS_ROLLBACK_BED_H
#define WEFT_TESTS_ROLLBACK_BED_H

#include "hash.h"
#include "memory_reuse.h"
#include "plain.h"

#include <weft/type.h>
#include <weft/weft.h>

#include <stdlib.h>
#include <string.h>

/* Components by number. */
enum {
    VALUE,
    WIDE,
    TAG,
    SWITCH, /* ENABLEABLE */
    LIST,   /* BUFFER */
    SHARE,  /* SHARED */
    TEAM,   /* SHARED */
    PER_CHUNK,
    REST, /* CLEANUP */
    LINK, /* a reference */
    FEW,  /* three rows a chunk */
    SOME, /* nine */
    KINDS,
};

enum { POOL = 2048, QUERIES = 4, BATCH = 48 };

/* What the next operation depends on, beside the world. A value: copied with a snapshot. */
typedef struct bed_state {
    test_random random;
    uint64_t digest;
    uint32_t count;
    weft_entity entities[POOL]; /* made at some time; some are dead */
} bed_state;

/* Owner: the test. */
typedef struct bed {
    weft_world *world;
    test_reuse_memory *memory;
    weft_component component[KINDS], total;
    weft_query queries[QUERIES];
    weft_recorder *commands;
    bed_state state;
    bool has_systems;
} bed;

static inline uint32_t below(bed *b, uint32_t bound)
{
    return (uint32_t)test_random_below(&b->state.random, bound);
}

static inline void note(bed *b, uint64_t word)
{
    b->state.digest = hash_word(b->state.digest, word);
}

static inline void note_entities(bed *b, const weft_entity *entities, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        note(b, (uint64_t)entities[i].version << 32 | entities[i].index);
}

/* ---- systems ---- */

static inline void system_grow(weft_slice *s, void *user)
{
    const bed *b = user;
    uint32_t *values = weft_slice_write(s, 0);
    const weft_entity *entities = weft_slice_entities(s);
    weft_recorder *commands = weft_slice_recorder(s);
    for (uint32_t i = 0; i < s->count; i++) {
        values[i] = values[i] * 1664525u + entities[i].index + 1013904223u;
        uint32_t roll = values[i] >> 20 & 31, more = roll;
        if (roll == 0) weft_recorder_destroy_entity(commands, entities[i]);
        if (roll == 1) weft_recorder_instantiate(commands, entities[i]);
        if (roll == 2) weft_recorder_add(commands, entities[i], b->component[SOME]);
        if (roll == 3) weft_recorder_remove(commands, entities[i], b->component[SOME]);
        if (roll == 4) weft_recorder_set_shared(commands, entities[i], b->component[TEAM], &more);
        if (roll == 5) weft_recorder_append(commands, entities[i], b->component[LIST], &more, 1);
    }
}

static inline void system_watch(weft_slice *s, void *user)
{
    const bed *b = user;
    uint64_t *total = weft_slice_write_resource(s, b->total);
    *total = hash_word(*total, s->count);
}

static inline void systems_make(bed *b)
{
    weft_system_desc grow = {.name = "grow",
                             .run = system_grow,
                             .user = b,
                             .effects = WEFT_RECORDS_ANY,
                             .over.rows.terms = {{b->component[VALUE], WEFT_WRITE, 0, 0},
                                                 {b->component[TAG], WEFT_READ, 0, 0}}};
    weft_system_desc watch = {.name = "watch",
                              .run = system_watch,
                              .user = b,
                              .flags = WEFT_SYSTEM_SERIAL,
                              .skips_unchanged = true,
                              .resources = {{b->total, WEFT_WRITE}},
                              .over.rows.terms = {{b->component[WIDE], WEFT_READ, 0, 0}}};
    CHECK(weft_system_create(b->world, &grow).id != 0);
    CHECK(weft_system_create(b->world, &watch).id != 0);
}

/* ---- worlds ---- */

static inline void components_make(bed *b)
{
    static const weft_field other = {"other", WEFT_FIELD_ENTITY, 0, 1};
    const weft_component_desc descs[KINDS] = {
        [VALUE] = {.name = "value", .size = 4},
        [WIDE] = {.name = "wide", .size = 12, .alignment = 4},
        [TAG] = {.name = "tag"},
        [SWITCH] = {.name = "switch", .size = 4, .flags = WEFT_ENABLEABLE},
        [LIST] = {.name = "list", .size = 4, .flags = WEFT_BUFFER, .buffer_capacity = 2},
        [SHARE] = {.name = "share", .size = 4, .flags = WEFT_SHARED},
        [TEAM] = {.name = "team", .size = 4, .flags = WEFT_SHARED},
        [PER_CHUNK] = {.name = "per chunk", .size = 8, .flags = WEFT_CHUNK},
        [REST] = {.name = "rest", .size = 4, .flags = WEFT_CLEANUP},
        [LINK] = {.name = "link", .size = 8, .alignment = 4, .fields = &other, .field_count = 1},
        [FEW] = {.name = "few", .size = 4, .chunk_row_limit = 3},
        [SOME] = {.name = "some", .size = 4, .chunk_row_limit = 9}};
    for (uint32_t i = 0; i < KINDS; i++) {
        b->component[i] = weft_component_create(b->world, &descs[i]);
        CHECK(b->component[i].id != 0);
    }
    b->total = weft_component_create_plain(b->world, "total", 8, 8, WEFT_RESOURCE);
}

/* `pool` may be NULL. */
static inline void bed_begin(bed *b, test_reuse reuse, weft_job_pool *pool,
                             const test_random *random, bool with_systems)
{
    static const uint32_t first[QUERIES] = {VALUE, WIDE, SOME, TEAM};
    b->memory = test_reuse_begin(reuse);
    b->state.count = 0;
    b->state.digest = 1;
    b->state.random = *random;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1,
                                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG,
                                                  .pool = pool,
                                                  .without_huge_pages = true,
                                                  .trace_file = "",
                                                  .allocator = test_reuse_hook(b->memory)},
                               &b->world));
    components_make(b);
    for (uint32_t i = 0; i < QUERIES; i++)
        b->queries[i] = weft_query_create(
            b->world, &(weft_query_desc){.terms = {{b->component[first[i]], WEFT_READ, 0, 0}}});
    CHECK_OK(weft_recorder_create(b->world, &b->commands));
    b->has_systems = with_systems;
    if (with_systems) systems_make(b);
}

static inline void bed_end(bed *b)
{
    weft_recorder_destroy(b->commands);
    CHECK_OK(weft_world_destroy(b->world));
    test_reuse_end(b->memory);
}

static inline uint64_t shared_digest(const bed *b, uint64_t hash, uint32_t kind)
{
    const void *values[256];
    uint32_t count = weft_shared_values(b->world, b->component[kind], values, 256);
    CHECK(count <= 256);
    for (uint32_t i = 0; i < count; i++) hash = hash_bytes(hash, values[i], 4);
    return hash_word(hash, count);
}

/* The component sets of archetypes, in order. */
static inline uint64_t archetypes_digest(const bed *b, uint64_t hash,
                                         const weft_archetype *archetypes, uint32_t count)
{
    weft_component set[KINDS + 4];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kinds = weft_archetype_components(b->world, archetypes[i], set, KINDS + 4);
        CHECK(kinds <= KINDS + 4);
        for (uint32_t k = 0; k < kinds; k++) hash = hash_word(hash, set[k].id);
        hash = hash_word(hash, kinds);
    }
    return hash_word(hash, count);
}

/* All of them, and those of the queries. */
static inline uint64_t order_digest(const bed *b, uint64_t hash)
{
    static weft_archetype archetypes[1 << 12];
    weft_world_stats stats;
    weft_world_stats_get(b->world, &stats, sizeof stats);
    CHECK(stats.archetypes <= 1 << 12);
    for (uint32_t i = 0; i < stats.archetypes; i++) archetypes[i] = weft_archetype_at(b->world, i);
    hash = archetypes_digest(b, hash, archetypes, (uint32_t)stats.archetypes);
    for (uint32_t i = 0; i < QUERIES; i++) {
        uint32_t count = weft_query_archetypes(b->world, b->queries[i], archetypes, 1 << 12);
        hash = archetypes_digest(b, hash, archetypes, count);
    }
    return hash;
}

/* Validates; layout, content, and what can be asked for in an order. */
static inline uint64_t bed_hash(bed *b)
{
    static weft_entity rows[1 << 16];
    weft_result result = weft_world_validate(b->world);
    if (result != WEFT_OK) CHECK_TEXT(weft_world_error(b->world)->text, "");
    uint64_t hash = weft_world_hash(b->world, WEFT_HASH_LAYOUT);
    hash = hash_word(hash, weft_world_hash(b->world, WEFT_HASH_CONTENT));
    for (uint32_t i = 0; i < QUERIES; i++) {
        uint64_t count = weft_query_entities(b->world, b->queries[i], rows, 1 << 16);
        hash = hash_bytes(hash_word(hash, count), rows, count * sizeof rows[0]);
    }
    return order_digest(b, shared_digest(b, shared_digest(b, hash, SHARE), TEAM));
}

#endif
