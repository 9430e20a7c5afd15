/* SPDX-License-Identifier: MIT */
/* test_stand_in.c: checked builds answer a mistake with memory that stands in, never NULL: the
 * callback goes on, writes what it wants, and the step names the mistake; the world stays as it
 * was. NULL is the answer for dead and absent look-ups, in every build. */
#include "invariant.h"

#include <weft/finder.h>
#include <weft/weft.h>

#include "plain.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define IS_POISONED(address) __asan_address_is_poisoned(address)
#else
#define IS_POISONED(address) false
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 700u

typedef struct Wide {
    uint64_t words[40];
} Wide;

static weft_world *world;
static weft_component a, b, tag, shared, chunk, list, sparse, score, stray;
static weft_entity entities[ROWS], plain;
static weft_query others;
static weft_slice *kept;

static void begin(uint32_t workers)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &world));
    a = weft_component_create_plain(world, "a", 4, 4, 0);
    b = weft_component_create_plain(world, "b", 8, 8, 0);
    tag = WEFT_TAG(world, marked);
    shared = weft_component_create_plain(world, "team", 4, 4, WEFT_SHARED);
    chunk = weft_component_create_plain(world, "zone", 4, 4, WEFT_CHUNK);
    list = weft_component_create_plain(world, "list", 4, 4, WEFT_BUFFER);
    sparse = weft_component_create_plain(world, "rare", 4, 4, WEFT_SPARSE);
    score = weft_component_create_plain(world, "score", 16, 8, WEFT_RESOURCE);
    stray = WEFT_COMPONENT(world, Wide); /* the largest: of no archetype */
    weft_component all[] = {a, b, tag, shared, chunk, list};
    CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, all, 6), ROWS, entities));
    for (uint32_t i = 0; i < ROWS; i++) CHECK_OK(weft_entity_add(world, entities[i], sparse));
    plain = weft_entity_create(world, weft_archetype_create(world, &b, 1));
    others = weft_query_create(world, &(weft_query_desc){.terms = {{b, WEFT_READ}}});
}

static void end(void)
{
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

static uint64_t hash_of(void)
{
    return weft_world_hash(world, WEFT_HASH_CONTENT);
}

/* Fills what was got; a bare NULL is the fault. */
static void fill(const void *got, size_t bytes)
{
    CHECK(got != NULL);
    memset((void *)(uintptr_t)got, 0x5A, bytes);
}

/* ---- mistakes: 0 a; terms 1 to 5 of kinds that have no column, 6 b without WRITE ---- */

static void no_resource(weft_slice *s)
{
    fill(weft_slice_write_resource(s, score), 16);
}
static void no_resource_read(weft_slice *s)
{
    fill(weft_slice_read_resource(s, score), 16);
}
static void bad_resource(weft_slice *s)
{
    fill(weft_slice_read_resource(s, b), 8);
}
static void null_resource(weft_slice *s)
{
    fill(weft_slice_write_resource(s, (weft_component){0, 0}), sizeof(Wide));
}
static void no_look_up(weft_slice *s)
{
    fill(weft_slice_read_entity(s, plain, b), 8);
}
static void no_look_up_write(weft_slice *s)
{
    fill(weft_slice_write_entity(s, plain, b), 8);
}
static void null_look_up(weft_slice *s)
{
    fill(weft_slice_read_entity(s, plain, (weft_component){0, 0}), sizeof(Wide));
}
static void look_up_of_shared(weft_slice *s)
{
    fill(weft_slice_read_entity(s, entities[0], shared), 4);
}
static void look_up_of_resource(weft_slice *s)
{
    fill(weft_slice_write_entity(s, entities[0], score), 16);
}
static void no_finder(weft_slice *s)
{
    weft_finder finder = weft_slice_finder(s, b);
    CHECK(weft_finder_read(&finder, plain) != NULL);
}
static void no_term(weft_slice *s)
{
    fill(weft_slice_write(s, 9), s->count * sizeof(Wide));
}
static void no_term_typed(weft_slice *s)
{
    fill(WEFT_WRITE_COLUMN(s, 9, Wide), s->count * sizeof(Wide));
}
static void no_term_row(weft_slice *s)
{
    fill(weft_slice_write_row(s, 9, 0), sizeof(Wide));
}
static void no_row(weft_slice *s)
{
    fill(weft_slice_write_row(s, 0, s->count), 4);
}
static void wrong_type(weft_slice *s)
{
    fill(WEFT_WRITE_COLUMN(s, 0, Wide), s->count * sizeof(Wide));
}
static void column_of_tag(weft_slice *s)
{
    fill(WEFT_READ_COLUMN(s, 1, float), s->count * 4);
}
static void column_of_shared(weft_slice *s)
{
    fill(weft_slice_read(s, 2), s->count * 4);
}
static void column_of_chunk(weft_slice *s)
{
    fill(weft_slice_read(s, 3), s->count * 4);
}
static void column_of_buffer(weft_slice *s)
{
    fill(weft_slice_read(s, 4), s->count * 4);
}
static void column_of_sparse(weft_slice *s)
{
    fill(weft_slice_read(s, 5), s->count * 4);
}
static void row_of_shared(weft_slice *s)
{
    fill(weft_slice_read_row(s, 2, 0), 4);
}
static void shared_of_plain(weft_slice *s)
{
    fill(weft_slice_read_shared(s, 0), 4);
}
static void shared_of_none(weft_slice *s)
{
    fill(weft_slice_read_shared(s, 9), sizeof(Wide));
}
static void chunk_of_plain(weft_slice *s)
{
    fill(weft_slice_write_chunk(s, 0), 4);
}
static void chunk_of_none(weft_slice *s)
{
    fill(weft_slice_read_chunk(s, 9), sizeof(Wide));
}
static void row_for_writing(weft_slice *s)
{
    fill(weft_slice_write_row(s, 6, 0), 8);
}
static void world_write(weft_slice *s)
{
    fill(weft_entity_write(weft_slice_world(s), plain, b), 8);
}
static void world_write_resource(weft_slice *s)
{
    fill(weft_resource_write(weft_slice_world(s), score), 16);
}
static void buffer_for_writing(weft_slice *s)
{
    weft_buffers lists = weft_slice_read_buffers(s, 4);
    fill(weft_buffers_write(&lists, 0), 4);
}
static void buffers_of_plain(weft_slice *s)
{
    weft_buffers lists = weft_slice_write_buffers(s, 0);
    fill(weft_buffers_write(&lists, 0), 4);
}
static void no_buffer_look_up(weft_slice *s)
{
    weft_buffers lists = weft_slice_write_entity_buffer(s, entities[0], list);
    CHECK(weft_buffers_append(&lists, 0, (uint32_t[]){1}, 1) != WEFT_OK);
    fill(weft_buffers_write(&lists, 0), 4);
}
/* What is no buffer: empty buffers that may be written to, and the mistake. */
static void fill_none(weft_buffers none)
{
    CHECK_U64(none.count, 0);
    CHECK(weft_buffers_append(&none, 0, (uint32_t[]){1}, 1) != WEFT_OK);
    fill(weft_buffers_write(&none, 0), 4);
}
static void entity_buffer_of_plain(weft_slice *s)
{
    fill_none(weft_slice_read_entity_buffer(s, plain, b));
}
static void entity_buffer_of_null(weft_slice *s)
{
    fill_none(weft_slice_write_entity_buffer(s, plain, (weft_component){0, 0}));
}
static void resource_buffer_of_plain(weft_slice *s)
{
    fill_none(weft_slice_read_resource_buffer(s, score));
}
static void resource_buffer_of_null(weft_slice *s)
{
    fill_none(weft_slice_write_resource_buffer(s, (weft_component){0, 0}));
}
static void world_read_shared(weft_slice *s)
{
    fill(weft_entity_read_shared(weft_slice_world(s), plain, b), 8);
}
static void world_read_shared_of_null(weft_slice *s)
{
    fill(weft_entity_read_shared(weft_slice_world(s), plain, (weft_component){0, 0}), sizeof(Wide));
}
static void world_read_of_null(weft_slice *s)
{
    fill(weft_entity_read(weft_slice_world(s), plain, (weft_component){0, 0}), sizeof(Wide));
}
static void world_read_resource(weft_slice *s)
{
    fill(weft_resource_read(weft_slice_world(s), b), 8);
}
static void null_finder(weft_slice *s)
{
    weft_finder finder = weft_slice_finder(s, (weft_component){0, 0});
    CHECK(weft_finder_read(&finder, plain) == NULL);
}
static void indexed_for_writing(weft_slice *s)
{
    weft_indexed indexed;
    CHECK_OK(weft_indexed_open(weft_slice_world(s), others, 0, &indexed));
    fill(weft_indexed_write(&indexed, 0), 8);
    weft_indexed_close(&indexed);
}
static void handles(weft_slice *s)
{
    fill(weft_slice_entities(s), s->count * sizeof(weft_entity));
    CHECK(!weft_entity_is_alive(weft_slice_world(s), weft_slice_entities(s)[0]));
}

typedef struct mistake {
    void (*make)(weft_slice *slice);
    const char *words[4];
    bool needs_rows;
} mistake;

static const mistake mistakes[] = {
    {no_resource, {"component score", "resources"}, false},
    {no_resource_read, {"component score", "resources"}, false},
    {bad_resource, {"component b", "RESOURCE"}, false},
    {null_resource, {"RESOURCE", "registered"}, false},
    {no_look_up, {"component b", "lookups"}, false},
    {no_look_up_write, {"component b", "lookups"}, false},
    {null_look_up, {"looked up", "null"}, false},
    {look_up_of_shared, {"component team", "SHARED"}, false},
    {look_up_of_resource, {"component score", "RESOURCE"}, false},
    {no_finder, {"component b", "lookups"}, false},
    {no_term, {"a term", "count from 0"}, true},
    {no_term_typed, {"a term", "count from 0"}, true},
    {no_term_row, {"a term", "count from 0"}, true},
    {no_row, {"component a", "past its end"}, true},
    {wrong_type, {"component a", "Wide"}, true},
    {column_of_tag, {"component marked", "float"}, true},
    {column_of_shared, {"component team", "weft_slice_read_shared"}, true},
    {column_of_chunk, {"component zone", "weft_slice_read_chunk"}, true},
    {column_of_buffer, {"component list", "weft_slice_read_buffers"}, true},
    {column_of_sparse, {"component rare", "weft_slice_read_row"}, true},
    {row_of_shared, {"component team", "weft_slice_read_shared"}, true},
    {shared_of_plain, {"component a", "SHARED"}, true},
    {shared_of_none, {"a term", "count from 0"}, true},
    {chunk_of_plain, {"component a", "CHUNK"}, true},
    {chunk_of_none, {"a term", "count from 0"}, true},
    {row_for_writing, {"component b", "WEFT_WRITE"}, true},
    {world_write, {"weft_entity_write", "on the world"}, false},
    {world_write_resource, {"weft_resource_write", "on the world"}, false},
    {buffer_for_writing, {"component list", "WEFT_WRITE"}, true},
    {buffers_of_plain, {"component a", "BUFFER"}, true},
    {no_buffer_look_up, {"component list", "lookups"}, false},
    {entity_buffer_of_plain, {"component b"}, false},
    {entity_buffer_of_null, {"looked up", "null"}, false},
    {resource_buffer_of_plain, {"component score"}, false},
    {resource_buffer_of_null, {"RESOURCE", "registered"}, false},
    {world_read_shared, {"component b", "weft_entity_read_shared", "WEFT_SHARED"}, false},
    {world_read_shared_of_null, {"weft_entity_read_shared", "WEFT_SHARED"}, false},
    {world_read_of_null, {"weft_entity_read reads it"}, false},
    {world_read_resource, {"component b", "weft_resource_read", "WEFT_RESOURCE"}, false},
    {null_finder, {"looked up", "null"}, false},
    {handles, {"row 0", "entity handles are for reading"}, true},
};
#define MISTAKES (sizeof mistakes / sizeof mistakes[0])

static void run(weft_slice *slice, void *user)
{
    ((const mistake *)user)->make(slice);
}

#define ALL_TERMS                                                                                  \
    {                                                                                              \
        {a, WEFT_WRITE}, {tag}, {shared}, {chunk}, {list}, {sparse},                               \
        {                                                                                          \
            b                                                                                      \
        }                                                                                          \
    }

static void expect_words(const mistake *made)
{
    for (uint32_t i = 0; made->words[i] != NULL; i++)
        if (strstr(weft_world_error(world)->text, made->words[i]) == NULL)
            CHECK_TEXT(weft_world_error(world)->text, made->words[i]);
}

static void expect_in_system(const mistake *made, uint32_t workers, bool has_rows, uint32_t flags)
{
    begin(workers);
    weft_system_desc desc = {
        .name = "culprit", .run = run, .flags = flags, .user = (void *)(uintptr_t)made};
    if (has_rows) desc.over = (weft_system_over){.rows.terms = ALL_TERMS};
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_always_parallel = true}));
    uint64_t before = hash_of();
    CHECK(weft_world_step(world, 0) != WEFT_OK);
    expect_words(made);
    CHECK(strstr(weft_world_error(world)->text, "'culprit'") != NULL);
    CHECK_U64(hash_of(), before);
    end();
}

PLAIN_TEST(a_mistake_of_a_system_gets_memory_and_is_named_by_the_step)
{
    for (uint32_t i = 0; i < MISTAKES && WEFT_IS_CHECKED; i++)
        for (uint32_t way = 0; way < 6; way++) {
            uint32_t flags = way % 3 == 1   ? (uint32_t)WEFT_SYSTEM_MAIN_THREAD
                             : way % 3 == 2 ? (uint32_t)WEFT_SYSTEM_SERIAL
                                            : 0;
            bool is_world =
                mistakes[i].make == world_write || mistakes[i].make == world_write_resource;
            if (is_world && way % 3 == 1) continue; /* the owner gets the error where it is */
            expect_in_system(&mistakes[i], 1 + way / 3, true, flags);
            if (!mistakes[i].needs_rows) expect_in_system(&mistakes[i], 1 + way / 3, false, flags);
        }
}

PLAIN_TEST(an_exclusive_system_looks_up_values_of_entities_only)
{
    const mistake of[] = {{look_up_of_shared, {"component team", "SHARED"}, false},
                          {look_up_of_resource, {"component score", "RESOURCE"}, false}};
    for (uint32_t i = 0; i < 2 && WEFT_IS_CHECKED; i++)
        expect_in_system(&of[i], 1, false, WEFT_SYSTEM_EXCLUSIVE);
}

/* Through a slice of a declared query. */
static void nested_null_look_up(weft_slice *s)
{
    weft_cursor cursor = weft_slice_query(s, others);
    CHECK(weft_query_next(&cursor));
    null_look_up(&cursor.slice);
    weft_query_end(&cursor);
}

PLAIN_TEST(what_is_declared_is_of_no_use_for_the_call)
{
    static const mistake of[] = {
        {entity_buffer_of_plain, {"component b", "weft_slice_read_entity_buffer", "BUFFER"}, 0},
        {resource_buffer_of_plain,
         {"component score", "weft_slice_read_resource_buffer", "BUFFER"},
         0},
        {nested_null_look_up, {"looked up", "null"}, 0},
        {indexed_for_writing, {"component b: weft_indexed_write", "query declares it"}, 0},
    };
    for (uint32_t i = 0; i < 8 && WEFT_IS_CHECKED; i++) {
        begin(1 + i / 4);
        weft_system_desc desc = {.name = "culprit",
                                 .run = run,
                                 .user = (void *)(uintptr_t)&of[i % 4],
                                 .resources = {{score}},
                                 .lookups = {{b}},
                                 .queries = {others}};
        CHECK(weft_system_create(world, &desc).id != 0);
        uint64_t before = hash_of();
        CHECK(weft_world_step(world, 0) != WEFT_OK);
        expect_words(&of[i % 4]);
        CHECK_U64(hash_of(), before);
        end();
    }
}

PLAIN_TEST(the_owner_gets_the_error_of_a_component_that_does_not_fit)
{
    begin(1);
    weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{a, WEFT_WRITE}}});
    weft_cursor cursor = weft_query_begin(world, query);
    CHECK(weft_query_next(&cursor));
    const weft_component wrong[] = {b, {0, 0}};
    for (uint32_t i = 0; i < 2 * 6 && WEFT_IS_CHECKED; i++) {
        weft_component which = wrong[i % 2];
        uint64_t errors = weft_world_error(world)->number;
        switch (i / 2) {
        case 0:
            fill_none(weft_slice_read_entity_buffer(&cursor.slice, plain, which));
            break;
        case 1:
            fill_none(weft_slice_write_entity_buffer(&cursor.slice, plain, which));
            break;
        case 2:
            fill_none(weft_slice_read_resource_buffer(&cursor.slice, which));
            break;
        case 3:
            fill_none(weft_slice_write_resource_buffer(&cursor.slice, which));
            break;
        case 4:
            CHECK(weft_entity_read_shared(world, plain, which) == NULL);
            break;
        default:
            if (which.id != 0) continue; /* found, as declared */
            weft_slice_finder(&cursor.slice, which);
        }
        CHECK(weft_world_error(world)->number > errors);
    }
    weft_query_end(&cursor);
    CHECK(weft_entity_read_shared(world, plain, shared) == NULL); /* absent: no mistake */
    end();
}

PLAIN_TEST(a_mistake_in_a_loop_of_the_owner_gets_memory_and_sets_the_error)
{
    for (uint32_t i = 0; i < MISTAKES && WEFT_IS_CHECKED; i++) {
        if (!mistakes[i].needs_rows || mistakes[i].make == handles) continue;
        begin(1);
        weft_query query = weft_query_create(world, &(weft_query_desc){.terms = ALL_TERMS});
        uint64_t before = hash_of();
        uint64_t errors = weft_world_error(world)->number;
        weft_cursor cursor = weft_query_begin(world, query);
        while (weft_query_next(&cursor)) mistakes[i].make(&cursor.slice);
        CHECK(weft_world_error(world)->number > errors);
        CHECK_U64(hash_of(), before);
        errors = weft_world_error(world)->number;
        bool is_told = mistakes[i].make == no_row; /* by its error; the loop itself succeeds */
        CHECK((weft_query_each_parallel(world, query, run, (void *)(uintptr_t)&mistakes[i]) ==
               WEFT_OK) == is_told);
        CHECK(weft_world_error(world)->number > errors);
        CHECK_U64(hash_of(), before);
        end();
    }
}

/* ---- slices kept past their callback ---- */

static void keep(weft_slice *slice, void *user)
{
    (void)user;
    kept = slice;
}

/* What can be asked of a slice; false: there is no such way. */
static bool use(const weft_slice *s, uint32_t way)
{
    const uint32_t rows = s->count;
    switch (way) {
    case 0:
        fill(weft_slice_write(s, 0), rows * 4);
        break;
    case 1:
        fill(WEFT_WRITE_COLUMN(s, 0, float), rows * 4);
        break;
    case 2:
        fill(weft_slice_read_row(s, 0, 2), 4);
        break;
    case 3:
        fill(weft_slice_write_chunk(s, 3), 4);
        break;
    case 4:
        fill(weft_slice_write_resource(s, score), 16);
        break;
    case 5:
        fill(weft_slice_write_entity(s, plain, b), 8);
        break;
    case 6:
        fill(weft_slice_read_shared(s, 2), 4);
        break;
    case 7:
        weft_slice_write_buffers(s, 4);
        break;
    case 8:
        weft_slice_enable(s, 0, 0, false);
        break;
    case 9:
        CHECK(weft_slice_changed_since(s, 0, 1));
        break;
    case 10:
        weft_slice_finder(s, b);
        break;
    case 11:
        CHECK(weft_slice_recorder(s) == NULL);
        break;
    case 12: {
        weft_cursor cursor = weft_slice_query(s, others);
        CHECK(!weft_query_next(&cursor));
        break;
    }
    case 13:
        fill(weft_slice_read_resource(s, score), 16);
        break;
    case 14:
        fill(weft_slice_read_entity(s, plain, b), 8);
        break;
    default:
        return false;
    }
    return true;
}

PLAIN_TEST(a_slice_kept_past_its_callback_gives_memory_for_all_its_rows)
{
    for (uint32_t way = 0; way < 7 && WEFT_IS_CHECKED; way++) {
        begin(1);
        weft_system_desc desc = {.name = "keeper",
                                 .run = keep,
                                 .flags = WEFT_SYSTEM_WHOLE_CHUNKS | WEFT_SYSTEM_SERIAL,
                                 .over.rows.terms = ALL_TERMS,
                                 .resources = {{score, WEFT_WRITE}},
                                 .lookups = {{b, WEFT_WRITE}}};
        CHECK(weft_system_create(world, &desc).id != 0);
        CHECK_OK(weft_world_step(world, 0));
        uint64_t before = hash_of();
        CHECK_U64(weft_slice_count(kept), 0);
        if (!IS_POISONED(&weft_slice_entities(kept)[100]))
            CHECK(!weft_entity_is_alive(world, weft_slice_entities(kept)[100]));
        if (way == 0) fill(weft_slice_write(kept, 0), 500 * 4);
        if (way == 1) fill(WEFT_WRITE_COLUMN(kept, 0, float), 500 * 4);
        CHECK(use(kept, way));
        CHECK_RESULT(weft_world_step(world, 0), WEFT_UNDECLARED_ACCESS);
        CHECK(strstr(weft_world_error(world)->text, "callback ha") != NULL);
        CHECK(strstr(weft_world_error(world)->text, "'keeper'") != NULL);
        CHECK_U64(hash_of(), before);
        end();
    }
}

/* How a slice is kept and used: by address or as a copy, by callbacks of the same kind. */
typedef struct keeping {
    uint32_t way;
    bool is_copy;
    bool is_declared; /* a slice of a declared query: its cursor is gone, only a copy is left */
    weft_slice copy;
} keeping;

static void keep_either(weft_slice *slice, void *user)
{
    keeping *k = user;
    kept = k->is_copy ? &k->copy : slice;
    k->copy = *slice;
    if (!k->is_declared) return;
    weft_cursor cursor = weft_slice_query(slice, others);
    CHECK(weft_query_next(&cursor));
    k->copy = cursor.slice;
    weft_query_end(&cursor);
}

static void use_late(weft_slice *slice, void *user)
{
    const keeping *k = user;
    (void)slice;
    use(kept, k->way);
}

/* The kinds of callback that keep and use. */
static void kind_of(uint32_t kind, weft_system_desc *desc, keeping *k)
{
    weft_system_desc rows = {.over.rows.terms = ALL_TERMS,
                             .resources = {{score, WEFT_WRITE}},
                             .lookups = {{b, WEFT_WRITE}},
                             .queries = {others},
                             .effects = WEFT_RECORDS_ANY,
                             .flags = WEFT_SYSTEM_SERIAL};
    *desc = rows;
    if (kind == 1) desc->over = (weft_system_over){.kind = WEFT_OVER_COUNT, .count = 1};
    if (kind == 2) desc->flags = WEFT_SYSTEM_MAIN_THREAD;
    if (kind == 3) desc->flags = WEFT_SYSTEM_EXCLUSIVE;
    if (kind == 4) k->is_declared = k->is_copy = true;
}

PLAIN_TEST(a_kept_slice_and_a_kept_copy_are_named_in_a_later_callback)
{
    for (uint32_t run = 0; run < 5 * 2 * 15 && WEFT_IS_CHECKED; run++) {
        keeping k = {.way = run % 15, .is_copy = run / 15 % 2 == 1};
        weft_system_desc desc;
        begin(1 + run % 2);
        kind_of(run / 30, &desc, &k);
        desc.name = "keeper";
        desc.run = keep_either;
        desc.user = &k;
        CHECK(weft_system_create(world, &desc).id != 0);
        desc.name = "late";
        desc.run = use_late;
        CHECK(weft_system_create(world, &desc).id != 0);
        uint64_t before = hash_of();
        weft_result result = weft_world_step(world, 0);
        if (result != WEFT_UNDECLARED_ACCESS) printf("run %u\n", run);
        CHECK_RESULT(result, WEFT_UNDECLARED_ACCESS);
        CHECK(strstr(weft_world_error(world)->text, "'late'") != NULL);
        CHECK(strstr(weft_world_error(world)->text, "callback ha") != NULL);
        CHECK_U64(hash_of(), before);
        end();
    }
}

static void use_copy_now(weft_slice *slice, void *user)
{
    const weft_slice copy = *slice;
    (void)user;
    CHECK(weft_slice_write(&copy, 0) == weft_slice_write(slice, 0));
    CHECK(weft_slice_read_shared(&copy, 2) == weft_slice_read_shared(slice, 2));
    CHECK(weft_slice_read_resource(&copy, score) == weft_slice_read_resource(slice, score));
    CHECK(weft_slice_recorder(&copy) == weft_slice_recorder(slice));
    CHECK(weft_slice_read_entity(&copy, plain, b) != NULL);
}

PLAIN_TEST(a_copy_of_a_slice_is_as_good_as_the_slice_while_its_callback_runs)
{
    begin(2);
    weft_system_desc desc;
    kind_of(0, &desc, NULL);
    desc.name = "copies";
    desc.run = use_copy_now;
    CHECK(weft_system_create(world, &desc).id != 0);
    for (uint32_t i = 0; i < 600; i++) CHECK_OK(weft_world_step(world, 0));
    end();
}

static void keep_in_loop(weft_slice *slice, void *user)
{
    keeping *k = user;
    if (kept != NULL) fill(weft_slice_write(kept, 0), kept->count * 4);
    k->copy = *slice;
    kept = k->is_copy ? &k->copy : slice;
}

PLAIN_TEST(slices_kept_in_loops_of_the_owner_are_named)
{
    for (uint32_t run = 0; run < 2 && WEFT_IS_CHECKED; run++) { /* on the pool */
        begin(1);
        keeping k = {.is_copy = run == 1};
        weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{a, WEFT_WRITE}}});
        kept = NULL;
        CHECK_RESULT(weft_query_each_parallel(world, query, keep_in_loop, &k),
                     WEFT_UNDECLARED_ACCESS);
        CHECK(strstr(weft_world_error(world)->text, "callback ha") != NULL);
        fill(weft_slice_write(kept, 0), 4); /* after the loop */
        CHECK_RESULT(weft_world_error(world)->code, WEFT_UNDECLARED_ACCESS);
        end();
    }
    for (uint32_t run = 0; run < 4 && WEFT_IS_CHECKED; run++) { /* by a cursor */
        begin(1);
        CHECK_OK(weft_entity_remove(world, entities[0], tag)); /* another chunk */
        weft_component gate = weft_component_create_plain(world, "gate", 0, 1, WEFT_ENABLEABLE);
        for (uint32_t i = 0; i < ROWS; i++) CHECK_OK(weft_entity_add(world, entities[i], gate));
        CHECK_OK(weft_entity_enable(world, entities[1], gate, false));
        weft_query_desc desc = {.terms = {{a, WEFT_WRITE}, {run / 2 == 1 ? gate : b}}};
        weft_query query = weft_query_create(world, &desc);
        weft_cursor cursor = weft_query_begin(world, query);
        CHECK(weft_query_next(&cursor));
        weft_slice copy = cursor.slice;
        CHECK(weft_slice_write(&copy, 0) == weft_slice_write(&cursor.slice, 0));
        if (run % 2 == 0) CHECK(weft_query_next(&cursor));
        if (run % 2 == 1) weft_query_end(&cursor);
        uint64_t before = hash_of();
        fill(weft_slice_write(&copy, 0), copy.count * 4);
        CHECK_RESULT(weft_world_error(world)->code, WEFT_UNDECLARED_ACCESS);
        CHECK(strstr(weft_world_error(world)->text, "cursor has gone on") != NULL);
        CHECK_U64(hash_of(), before);
        weft_query_end(&cursor);
        end();
    }
}

static void scribble(weft_slice *slice, void *user)
{
    (void)user;
    const uint64_t *first = weft_slice_read_resource(slice, score);
    CHECK(first == weft_slice_read_resource(slice, score)); /* one copy in a call */
    CHECK_U64(first[0], 3);
    ((uint64_t *)(uintptr_t)first)[0] = 4;
}

PLAIN_TEST(a_write_through_a_resource_for_reading_is_named_and_undone)
{
    for (uint32_t way = 0; way < 4 && WEFT_IS_CHECKED; way++) {
        begin(1 + way % 2);
        *(uint64_t *)weft_resource_write(world, score) = 3;
        weft_system_desc desc = {
            .name = "scribbler", .run = scribble, .resources = {{score, WEFT_READ}}};
        if (way >= 2) desc.over = (weft_system_over){.rows.terms = {{a, WEFT_READ}}};
        CHECK(weft_system_create(world, &desc).id != 0);
        CHECK_RESULT(weft_world_step(world, 0), WEFT_UNDECLARED_ACCESS);
        const char *const words[] = {"'scribbler'", "component score",
                                     "through a pointer for reading", "weft_slice_write_resource"};
        for (size_t i = 0; i < 4; i++)
            if (strstr(weft_world_error(world)->text, words[i]) == NULL)
                CHECK_TEXT(weft_world_error(world)->text, words[i]);
        CHECK_U64(*(const uint64_t *)weft_resource_read(world, score), 3);
        end();
    }
}

static void look(weft_slice *slice, void *user)
{
    (void)user;
    CHECK(weft_slice_read_entity(slice, plain, a) == NULL);
    CHECK(weft_slice_write_entity(slice, plain, a) == NULL);
    CHECK(weft_slice_read_entity(slice, (weft_entity){7, 99}, b) == NULL);
    CHECK(weft_slice_write_entity(slice, plain, sparse) == NULL);
    CHECK(weft_slice_write_entity(slice, entities[3], sparse) != NULL);
    CHECK(weft_slice_read_entity(slice, entities[3], sparse) != NULL);
}

PLAIN_TEST(look_ups_of_what_is_dead_or_absent_stay_null)
{
    begin(1);
    weft_system_desc desc = {.name = "looker",
                             .run = look,
                             .lookups = {{a, WEFT_WRITE}, {b, WEFT_READ}, {sparse, WEFT_WRITE}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0));
    end();
}

typedef struct Speed {
    float x, y;
} Speed;
typedef struct Place {
    float x, y;
} Place;

PLAIN_TEST(a_value_of_another_type_of_the_same_size_is_refused)
{
    begin(1);
    weft_component speed = WEFT_COMPONENT(world, Speed);
    CHECK_OK(WEFT_SET(world, plain, speed, Speed, {1, 2}));
    CHECK_OK(WEFT_SET(world, plain, speed, struct Speed, {1, 2}));
    CHECK_OK(WEFT_SET(world, plain, b, Place, {3, 4})); /* of no C type: only its size counts */
    CHECK_RESULT(WEFT_SET(world, plain, speed, Place, {5, 6}),
                 WEFT_IS_CHECKED ? WEFT_TYPE_MISMATCH : WEFT_OK);
    if (WEFT_IS_CHECKED) {
        CHECK(strstr(weft_world_error(world)->text, "\"Speed\" is set with a Place") != NULL);
        CHECK(((const Speed *)weft_entity_read(world, plain, speed))->x == 1);
    }
    CHECK_RESULT(WEFT_SET(world, plain, speed, float, {5}), WEFT_TYPE_MISMATCH);
    end();
}
