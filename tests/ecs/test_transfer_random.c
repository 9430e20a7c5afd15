/* SPDX-License-Identifier: MIT */
/* test_transfer_random.c: random worlds whose entities move back and forth, against a list of what
 * they must be; and transfers in which the k-th allocation or mapping fails, for every k: both
 * worlds are then as before. */
#include "buffer_append.h"
#include "memory_fault.h"
#include "os_fault.h"
#include "plain.h"
#include "transfer_fixture.h"

#include <string.h>

/* What an entity must be. */
typedef struct expected {
    weft_entity handle;
    uint32_t number;
    bool is_there; /* in b */
} expected;

enum { MODEL = 400 };

static void build(side *s, test_random *random, expected *model, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)test_random_below(random, 1u << 20);
        weft_entity e = make(s, number);
        model[i] = (expected){.handle = e, .number = number};
        if (number % 2 == 0) {
            CHECK_OK(weft_entity_add(s->world, e, s->lever));
            CHECK_OK(weft_entity_enable(s->world, e, s->lever, number % 4 == 0));
        }
        if (number % 3 == 0) set_team(s, e, s->team, (int32_t)(number % 7));
        if (number % 5 == 0) {
            Link link = {.salt = number, .target = model[number % (i + 1)].handle};
            CHECK_OK(weft_entity_set(s->world, e, s->link, &link, sizeof link));
        }
        if (number % 11 == 0) {
            CHECK_OK(weft_entity_add(s->world, e, s->list));
            for (uint32_t k = 0; k < number % 13; k++)
                CHECK_OK(test_buffer_append(s->world, s->list, e, &model[k % (i + 1)].handle, 1));
        }
        if (number % 17 == 0) CHECK_OK(weft_entity_set_name(s->world, e, "seventeen"));
    }
}

static void check_one(side *s, const expected *model, uint32_t i)
{
    weft_entity e = model[i].handle;
    uint32_t number = model[i].number;
    CHECK_U64(number_of(s, e), number);
    CHECK_U64(weft_entity_has(s->world, e, s->lever), number % 2 == 0);
    if (number % 2 == 0) CHECK_U64(weft_entity_is_enabled(s->world, e, s->lever), number % 4 == 0);
    const int32_t *team = weft_entity_read_shared(s->world, e, s->team);
    CHECK_U64(team != NULL, number % 3 == 0);
    if (team != NULL) CHECK_I64(*team, number % 7);
    const Link *link = weft_entity_read(s->world, e, s->link);
    CHECK_U64(link != NULL, number % 5 == 0);
    if (link != NULL) {
        const expected *target = &model[number % (i + 1)];
        CHECK_U64(link->salt, number);
        if (weft_entity_is_alive(s->world, link->target)) /* else they were apart once */
            CHECK(memcmp(&link->target, &target->handle, sizeof target->handle) == 0);
    }
    const weft_buffer *list = weft_entity_read(s->world, e, s->list);
    if (list != NULL) CHECK_U64(list->count, number % 13);
    CHECK_TEXT(weft_entity_name(s->world, e), number % 17 == 0 ? "seventeen" : "");
}

static void check_model(side *a, side *b, const expected *model, uint32_t count)
{
    CHECK_OK(weft_world_validate(a->world));
    CHECK_OK(weft_world_validate(b->world));
    for (uint32_t i = 0; i < count; i++) check_one(model[i].is_there ? b : a, model, i);
}

/* Moves by a query and notes in the model who moved. */
static weft_result move_some(side *to, side *from, weft_query query, expected *model,
                             uint32_t count, bool is_there)
{
    weft_entity tracked[MODEL];
    for (uint32_t i = 0; i < count; i++)
        tracked[i] = model[i].is_there != is_there ? model[i].handle : (weft_entity){0, 0};
    weft_transfer_desc desc = {.query = query, .tracked = tracked, .tracked_count = count};
    weft_result result = weft_world_transfer(to->world, from->world, &desc, NULL, 0);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        if (tracked[i].version == 0) continue;
        model[i].handle = tracked[i];
        model[i].is_there = is_there;
    }
    return result;
}

static weft_query some_query(side *s, uint64_t choice)
{
    if (choice == 0) return (weft_query){0};
    weft_component by = choice == 1 ? s->lever : choice == 2 ? s->team : s->link;
    return weft_query_create(s->world, &(weft_query_desc){.terms = {{by, WEFT_READ}}});
}

PLAIN_TEST(random_transfers_back_and_forth_lose_nothing)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        test_random random = test_random_init(seed);
        test_memory memory[2];
        side a, b;
        for (int i = 0; i < 2; i++) test_memory_init(&memory[i]);
        bool is_same = seed % 2 == 0; /* one hook for both: heap memory changes hands */
        open_side(&a, &(weft_world_desc){.allocator = test_memory_hook(&memory[0])}, false);
        open_side(&b, &(weft_world_desc){.allocator = test_memory_hook(&memory[is_same ? 0 : 1])},
                  true);
        static expected model[MODEL];
        uint32_t count = 1 + (uint32_t)test_random_below(&random, MODEL);
        build(&a, &random, model, count);
        for (int step = 0; step < 6; step++) {
            bool is_forth = test_random_below(&random, 2) == 0;
            side *to = is_forth ? &b : &a, *from = is_forth ? &a : &b;
            weft_query query = some_query(from, test_random_below(&random, 4));
            CHECK_OK(move_some(to, from, query, model, count, is_forth));
            check_model(&a, &b, model, count);
        }
        close_pair(&a, &b);
        for (int i = 0; i < 2; i++) test_memory_fini(&memory[i]);
    }
}

/* Fails the k-th allocation (or mapping) of a transfer, for every k. */
static void fail_every(bool is_map, bool is_forever, bool is_same)
{
    for (uint64_t k = 1;; k++) {
        test_random random = test_random_init(7);
        test_memory memory;
        test_os os;
        side a, b;
        test_memory_init(&memory);
        test_os_init(&os);
        weft_world_desc faulty = {.allocator = test_memory_hook(&memory), .os = &os.table};
        open_side(&a, is_same ? &faulty : &(weft_world_desc){0}, false);
        open_side(&b, &faulty, true);
        static expected model[MODEL];
        build(&a, &random, model, 120);
        for (int i = 0; i < 3; i++) set_team(&a, make(&a, 0), a.owned, 5);
        set_team(&b, make(&b, 0), b.team, 3);
        uint64_t content = weft_world_hash(a.world, WEFT_HASH_LAYOUT);
        uint64_t target = weft_world_hash(b.world, WEFT_HASH_LAYOUT);
        if (is_map) test_os_fail_map(&os, k);
        if (!is_map) test_memory_fail(&memory, k, is_forever);
        weft_result result = move_some(&b, &a, (weft_query){0}, model, 120, true);
        bool was_refused = is_map ? at_load_rlx(&os.x_fail_map_at) == 0 : memory.failures != 0;
        test_memory_fail(&memory, 0, false);
        test_os_fail_map(&os, 0);
        if (result != WEFT_OK) {
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
            CHECK_RESULT(weft_world_error(b.world)->code, WEFT_OUT_OF_MEMORY);
            CHECK_U64(weft_world_hash(a.world, WEFT_HASH_LAYOUT), content);
            CHECK_U64(weft_world_hash(b.world, WEFT_HASH_LAYOUT), target);
            CHECK_U64(a.released + b.released, 0);
            check_model(&a, &b, model, 120);
            CHECK_OK(move_some(&b, &a, (weft_query){0}, model, 120, true));
        }
        check_model(&a, &b, model, 120);
        CHECK_U64(a.released, 0);
        close_pair(&a, &b);
        CHECK_U64(b.released, 1);
        test_memory_fini(&memory);
        if (!was_refused) break;
    }
}

PLAIN_TEST(every_failing_allocation_leaves_both_worlds_as_they_were)
{
    for (int forever = 0; forever < 2; forever++)
        for (int same = 0; same < 2; same++) fail_every(false, forever != 0, same != 0);
}

PLAIN_TEST(every_failing_mapping_leaves_both_worlds_as_they_were)
{
    for (int same = 0; same < 2; same++) fail_every(true, false, same != 0);
}

/* ---- large chunks ---- */

enum { BULK = 6000 };

/* Entities in few large chunks, nothing small beside them; every third one has a long list. */
static void build_bulk(side *s, weft_entity *e)
{
    weft_component components[] = {s->value, s->lever, s->list, s->link};
    CHECK_OK(
        weft_entity_create_many(s->world, weft_archetype_create(s->world, components, 4), BULK, e));
    for (uint32_t i = 0; i < BULK; i++) {
        Value *value = weft_entity_write(s->world, e[i], s->value);
        Link *link = weft_entity_write(s->world, e[i], s->link);
        value->number = i;
        link->target = e[BULK - 1 - i];
        CHECK_OK(weft_entity_enable(s->world, e[i], s->lever, i % 5 != 0));
        if (i % 3 == 0) CHECK_OK(test_buffer_append(s->world, s->list, e[i], e, 7));
    }
}

static void check_bulk(side *s, const weft_entity *e)
{
    CHECK_OK(weft_world_validate(s->world));
    for (uint32_t i = 0; i < BULK; i++) {
        CHECK_U64(number_of(s, e[i]), i);
        const Link *link = weft_entity_read(s->world, e[i], s->link);
        CHECK(memcmp(&link->target, &e[BULK - 1 - i], sizeof e[0]) == 0);
        CHECK_U64(weft_entity_is_enabled(s->world, e[i], s->lever), i % 5 != 0);
        const weft_buffer *list = weft_entity_read(s->world, e[i], s->list);
        CHECK_U64(list->count, i % 3 == 0 ? 7 : 0);
        if (i % 3 == 0) CHECK(memcmp(weft_buffer_read(list), e, 7 * sizeof e[0]) == 0);
    }
}

PLAIN_TEST(large_chunks_move_back_and_forth)
{
    static weft_entity e[BULK];
    for (int apart = 0; apart < 2; apart++) { /* one hook for both, or one each */
        test_memory memory[2];
        side a, b;
        for (int i = 0; i < 2; i++) test_memory_init(&memory[i]);
        open_side(&a, &(weft_world_desc){.allocator = test_memory_hook(&memory[0])}, false);
        open_side(&b, &(weft_world_desc){.allocator = test_memory_hook(&memory[apart])}, false);
        build_bulk(&a, e);
        for (int i = 0; i < 10; i++) make(&b, 1); /* chunks of its own */
        weft_world_stats before, after;
        weft_world_stats_get(a.world, &before, sizeof before);
        for (int round = 0; round < 4; round++) { /* back and forth; the last time it stays */
            side *to = round % 2 == 0 ? &b : &a, *from = round % 2 == 0 ? &a : &b;
            weft_query query = weft_query_create(
                from->world, &(weft_query_desc){.terms = {{from->link, WEFT_READ}}});
            CHECK_OK(weft_query_enable(from->world, query, from->lever, true));
            for (uint32_t i = 0; i < BULK; i += 5)
                CHECK_OK(weft_entity_enable(from->world, e[i], from->lever, false));
            weft_transfer_desc desc = {.query = query, .tracked = e, .tracked_count = BULK};
            weft_transfer_report report;
            CHECK_OK(weft_world_transfer(to->world, from->world, &desc, &report, sizeof report));
            CHECK_U64(report.entities, BULK);
            CHECK(report.chunks_kept != 0);
            check_bulk(to, e);
            CHECK_OK(weft_world_validate(from->world));
        }
        weft_world_stats_get(a.world, &after, sizeof after);
        CHECK_U64(after.bytes_buffers, before.bytes_buffers);
        CHECK_U64(after.units_used, before.units_used);
        CHECK_OK(weft_world_destroy(b.world));
        check_bulk(&a, e);
        close_side(&a);
        for (int i = 0; i < 2; i++) test_memory_fini(&memory[i]);
    }
}

/* Rows in small chunks, of archetypes [from, to). */
enum { TAGS = 5, SMALL = 200 };

static void small_make(const side *s, uint32_t from, uint32_t to)
{
    static weft_entity small[SMALL];
    for (uint32_t i = from; i < to; i++) {
        weft_component list[TAGS + 1] = {s->value};
        uint32_t count = 1;
        for (uint32_t k = 0; k < TAGS; k++) {
            const char name[] = {'t', (char)('0' + k), 0};
            const weft_component tag = weft_component_create_plain(s->world, name, 0, 1, 0);
            if ((i >> k & 1) != 0) list[count++] = tag;
        }
        const weft_archetype with = weft_archetype_create(s->world, list, count);
        CHECK_OK(weft_entity_create_many(s->world, with, SMALL, small));
    }
}

static void nothing_make(side *a, side *b, weft_entity *e)
{
    (void)b;
    build_bulk(a, e);
}

/* A reservation of which all moves has room. Small chunks, which are copied, need some: the first
 * memory of the destination is full. */
enum { FILL = 30000, RECORDED = 20000, OWN = 16, COPIED = 4 };

static void room_make(side *a, side *b, weft_entity *e)
{
    static weft_entity others[FILL];
    weft_recorder *recorder;
    weft_slice rows;
    build_bulk(a, e);
    small_make(a, OWN, OWN + COPIED);
    small_make(b, 0, OWN);
    const weft_archetype with = WEFT_ARCHETYPE(a->world, a->link);
    CHECK_OK(weft_entity_create_many(a->world, with, FILL, others));
    const weft_rows_desc desc = {WEFT_ARCHETYPE(a->world, a->value, a->link), RECORDED, 0, NULL, 0};
    CHECK_OK(weft_recorder_create(a->world, &recorder));
    CHECK_OK(weft_recorder_create_rows_with(recorder, &desc, &rows));
    CHECK_OK(weft_recorder_play(recorder));
    weft_recorder_destroy(recorder);
    CHECK_OK(weft_entity_set_name(a->world, e[0], "a name, whose room is asked for last"));
}

static void gives_the_memory_back(void (*fill)(side *a, side *b, weft_entity *e))
{
    static weft_entity e[BULK], now[BULK];
    for (uint64_t k = 1;; k++) {
        test_memory memory;
        side a, b;
        test_memory_init(&memory);
        const weft_world_desc desc = {.allocator = test_memory_hook(&memory),
                                      .without_huge_pages = true}; /* small chunks first */
        open_side(&a, &desc, false);
        open_side(&b, &desc, false);
        fill(&a, &b, e);
        const uint64_t rows = entities_of(a.world), own = entities_of(b.world);
        memcpy(now, e, sizeof e);
        weft_transfer_desc all = {.tracked = now, .tracked_count = BULK};
        test_memory_fail(&memory, k, true);
        weft_result result = weft_world_transfer(b.world, a.world, &all, NULL, 0);
        test_memory_fail(&memory, 0, false);
        bool was_refused = result != WEFT_OK;
        if (was_refused) {
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
            check_bulk(&a, e);
            CHECK_U64(entities_of(b.world), own);
            CHECK_OK(weft_world_validate(b.world));
            CHECK_OK(weft_world_validate(a.world));
            CHECK_OK(weft_world_transfer(b.world, a.world, &all, NULL, 0));
        }
        CHECK_U64(entities_of(b.world), own + rows);
        CHECK_OK(weft_world_validate(a.world));
        check_bulk(&b, now);
        close_pair(&a, &b);
        test_memory_fini(&memory);
        if (!was_refused) break;
    }
}

PLAIN_TEST(every_failing_allocation_gives_the_memory_back)
{
    gives_the_memory_back(nothing_make);
}

PLAIN_TEST(memory_that_may_go_back_is_not_given_away_meanwhile)
{
    gives_the_memory_back(room_make);
}
