/* SPDX-License-Identifier: MIT */
/* test_archetype.c: archetypes without rows leave the order by compaction and end, unless something
 * knows them; what follows depends on the rows alone. */
#include "random.h"
#include "sparse.h"
#include "storage_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { TAGS = 12, ROWS = 400, SHARED_FROM = 10 };

/* Owner: one test. */
typedef struct bed {
    storage_fixture f;
    weft_component tag[TAGS]; /* the last ones are SHARED */
    weft_query some, all;
    weft_entity e[ROWS];
    test_random random;
} bed;

static bed bed_open(uint64_t seed)
{
    bed b = {.f = storage_open(), .random = test_random_init(seed)};
    for (uint32_t i = 0; i < TAGS; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", i);
        b.tag[i] = i < SHARED_FROM
                       ? weft_component_create_plain(b.f.world, name, 0, 1, 0)
                       : weft_component_create_plain(b.f.world, name, 4, 4, WEFT_SHARED);
    }
    b.some = weft_query_create(b.f.world, &(weft_query_desc){.terms = {{b.tag[3], WEFT_READ}}});
    b.all = weft_query_create(b.f.world, &(weft_query_desc){.with_inactive = true});
    return b;
}

/* Entities with many different sets of components; the first few stay, with values. */
static void scatter(bed *b)
{
    weft_world *w = b->f.world;
    for (uint32_t i = 0; i < ROWS; i++) {
        if (weft_entity_is_alive(w, b->e[i])) continue;
        b->e[i] = weft_entity_create(w, storage_moving(&b->f));
        CHECK_OK(WEFT_SET(w, b->e[i], b->f.position, vector3, {(float)i, 2, 3}));
    }
    for (uint32_t n = 0; n < 8 * ROWS; n++) {
        weft_entity e = b->e[test_random_below(&b->random, ROWS)];
        weft_component tag = b->tag[test_random_below(&b->random, TAGS)];
        uint32_t value = (uint32_t)test_random_below(&b->random, 3);
        if (weft_entity_has(w, e, tag))
            CHECK_OK(weft_entity_remove(w, e, tag));
        else if (weft_entity_read_shared(w, e, tag) == NULL && tag.id >= b->tag[SHARED_FROM].id)
            CHECK_OK(weft_entity_set_shared(w, e, tag, &value));
        else
            CHECK_OK(weft_entity_add(w, e, tag));
    }
}

static void gather_in(bed *b)
{
    CHECK_OK(weft_entity_destroy_many(b->f.world, b->e + 5, ROWS - 5));
}

static void compact(bed *b)
{
    while (weft_world_compact(b->f.world, UINT64_MAX) != 0) {
    }
    CHECK_OK(weft_world_validate(b->f.world));
}

static weft_world_stats stats_of(const bed *b)
{
    weft_world_stats stats;
    weft_world_stats_get(b->f.world, &stats, sizeof stats);
    return stats;
}

static void check_rows(const bed *b)
{
    uint64_t found = 0;
    CHECK_U64(weft_query_count(b->f.world, b->all), 5);
    for (uint32_t i = 0; i < 5; i++) {
        const vector3 *p = weft_entity_read(b->f.world, b->e[i], b->f.position);
        CHECK(p != NULL && (uint32_t)p->x == i);
        found += weft_entity_has(b->f.world, b->e[i], b->tag[3]);
    }
    CHECK_U64(weft_query_count(b->f.world, b->some), found);
}

Test(archetype, compaction_ends_those_without_rows_and_gives_their_memory_back)
{
    bed b = bed_open(1);
    scatter(&b);
    weft_world_stats full = stats_of(&b);
    gather_in(&b);
    uint64_t hash = weft_world_hash(b.f.world, WEFT_HASH_CONTENT);
    compact(&b);
    weft_world_stats after = stats_of(&b);
    CHECK(full.archetypes > 500);
    CHECK(after.archetypes <= 5);
    CHECK(after.bytes_metadata < full.bytes_metadata / 3);
    CHECK(after.rows_moved >= full.rows_moved && after.bytes_moved >= full.bytes_moved);
    CHECK_U64(weft_world_hash(b.f.world, WEFT_HASH_CONTENT), hash);
    check_rows(&b);
    for (uint32_t round = 0; round < 5; round++) { /* ids and slabs are used again */
        scatter(&b);
        gather_in(&b);
        compact(&b);
        check_rows(&b);
        CHECK(stats_of(&b).bytes_metadata < full.bytes_metadata / 2);
    }
    storage_close(&b.f);
}

Test(archetype, a_handle_that_was_given_out_stays_good)
{
    bed b = bed_open(2);
    weft_world *w = b.f.world;
    weft_archetype asked = weft_archetype_create(w, (weft_component[]){b.tag[0], b.tag[5]}, 2);
    scatter(&b);
    weft_archetype seen[20];
    weft_component sets[20][TAGS + 8];
    uint32_t counts[20];
    for (uint32_t i = 0; i < 20; i++) {
        seen[i] = weft_entity_archetype(w, b.e[100 + i]);
        counts[i] = weft_archetype_components(w, seen[i], sets[i], TAGS + 8);
    }
    weft_recorder *recorder;
    CHECK_OK(weft_recorder_create(w, &recorder));
    weft_recorder_create_entity(recorder, asked);
    const weft_archetype filled =
        weft_archetype_create(w, (weft_component[]){b.tag[1], b.tag[6]}, 2);
    gather_in(&b);
    compact(&b);
    for (uint32_t i = 0; i < 20; i++) {
        weft_component now[TAGS + 8];
        CHECK_U64(weft_archetype_components(w, seen[i], now, TAGS + 8), counts[i]);
        CHECK(memcmp(now, sets[i], counts[i] * sizeof now[0]) == 0);
        weft_entity e = weft_entity_create(w, seen[i]);
        CHECK(weft_entity_archetype(w, e).id == seen[i].id);
        CHECK_OK(weft_entity_destroy(w, e));
    }
    weft_slice rows; /* whole chunks of an archetype that has left the order */
    CHECK_OK(weft_recorder_create_rows_unordered(recorder, filled, 5000, &rows));
    CHECK_OK(weft_recorder_play(recorder));
    weft_recorder_destroy(recorder);
    weft_query both =
        weft_query_create(w, &(weft_query_desc){.terms = {{b.tag[0], WEFT_READ},
                                                          {b.tag[5], WEFT_READ},
                                                          {b.f.position, .match = WEFT_NONE}}});
    CHECK_U64(weft_query_count(w, both), 1);
    both = weft_query_create(w, &(weft_query_desc){.terms = {{b.tag[1], WEFT_READ},
                                                             {b.tag[6], WEFT_READ},
                                                             {b.f.position, .match = WEFT_NONE}}});
    CHECK_U64(weft_query_count(w, both), 5000);
    CHECK_OK(weft_world_validate(w));
    storage_close(&b.f);
}

Test(archetype, the_rows_of_a_sparse_type_stay_known_to_it)
{
    bed b = bed_open(4);
    weft_world *w = b.f.world;
    weft_snapshot *before;
    CHECK_OK(weft_snapshot_take(w, NULL, &before));
    weft_component rare = weft_component_create_plain(w, "rare", 4, 4, WEFT_SPARSE);
    scatter(&b);
    gather_in(&b);
    CHECK_OK(WEFT_SET(w, b.e[0], rare, uint32_t, {1}));
    CHECK_OK(weft_snapshot_restore(w, before)); /* its archetype leaves the order */
    scatter(&b);
    gather_in(&b);
    compact(&b);
    const weft__archetype *known = w->types.at[rare.id]->sparse->archetype;
    bool is_there = known == NULL;
    for (uint32_t i = 0; i < w->archetypes.id_count; i++)
        is_there = is_there || w->archetypes.by_id[i] == known;
    CHECK(is_there);
    CHECK_OK(WEFT_SET(w, b.e[0], rare, uint32_t, {2}));
    weft_query of = weft_query_create(w, &(weft_query_desc){.terms = {{rare, WEFT_READ}}});
    CHECK_U64(weft_query_count(w, of), 1);
    CHECK_OK(weft_world_validate(w));
    weft_snapshot_destroy(before);
    storage_close(&b.f);
}

Test(archetype, snapshots_bring_back_what_they_know)
{
    bed b = bed_open(3);
    weft_world *w = b.f.world;
    weft_snapshot *snapshot;
    scatter(&b);
    uint64_t hash = weft_world_hash(w, WEFT_HASH_LAYOUT);
    CHECK_OK(weft_snapshot_take(w, NULL, &snapshot));
    for (uint32_t round = 0; round < 3; round++) {
        gather_in(&b);
        compact(&b);
        scatter(&b);
        gather_in(&b);
        compact(&b);
        CHECK_OK(weft_snapshot_restore(w, snapshot));
        CHECK_OK(weft_world_validate(w));
        CHECK_U64(weft_world_hash(w, WEFT_HASH_LAYOUT), hash);
    }
    weft_snapshot_destroy(snapshot);
    storage_close(&b.f);
}

/* Who knows archetypes does not matter for the order of those to come. */
Test(archetype, the_order_after_compaction_is_a_function_of_the_rows)
{
    uint64_t hash[2];
    for (uint32_t way = 0; way < 2; way++) {
        bed b = bed_open(4);
        weft_snapshot *snapshot = NULL;
        scatter(&b);
        if (way == 1) CHECK_OK(weft_snapshot_take(b.f.world, NULL, &snapshot));
        for (uint32_t i = 0; i < ROWS && way == 1; i += 3) weft_entity_archetype(b.f.world, b.e[i]);
        gather_in(&b);
        compact(&b);
        scatter(&b);
        hash[way] = weft_world_hash(b.f.world, WEFT_HASH_LAYOUT);
        weft_snapshot_destroy(snapshot);
        storage_close(&b.f);
    }
    CHECK_U64(hash[1], hash[0]);
}
