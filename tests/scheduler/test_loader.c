/* SPDX-License-Identifier: MIT */
/* test_loader.c: a thread of the program records on a recorder of its own while the owner goes on
 * with the world: it registers components and archetypes, creates and destroys entities, steps
 * systems that record, plays other recorders, takes and restores snapshots. What the thread
 * recorded is then played and compared with what it noted. ThreadSanitizer sees what the two touch
 * at the same time. */
#include "atomic.h"
#include "plain.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <weft/snapshot.h>
#include <weft/type.h>
#include <weft/weft.h>

enum { ROUNDS = 12, CALLS = 40, ROWS_MOST = 60000, OWN = 3000 };

enum { LOADS, WAITS, ENDS }; /* of the thread */

/* A row that the thread made. */
typedef struct noted {
    weft_entity entity; /* null: it got its id at playback */
    uint32_t number;
} noted;

typedef struct bed {
    weft_world *world;
    weft_component number, link, team, list, switched, wide;
    weft_archetype shapes[5]; /* all have `number`; [1] links, [2] team, [3] list and switched */
    weft_archetype own;       /* the owner's */
    weft_component own_value;
    weft_query own_rows, numbers;
    weft_recorder *commands, *others;
    weft_snapshot *snapshot;
    weft_a32 x_turn;
    uint32_t ways;   /* 0: rows are ordered; 1: unordered; 2: both */
    uint32_t made;   /* components and archetypes of the owner */
    uint32_t next;   /* number of the next row of the thread */
    uint64_t played; /* rows of the thread in the world */
    uint32_t count;  /* noted in this round */
    noted rows[ROWS_MOST];
    test_random random, loads; /* owner, thread */
} bed;

static uint32_t below(test_random *random, uint32_t bound)
{
    return (uint32_t)test_random_below(random, bound);
}

static void note(bed *b, weft_entity entity)
{
    CHECK(b->count < ROWS_MOST);
    b->rows[b->count++] = (noted){entity, b->next++};
}

/* ---- the thread ---- */

/* Sizes on both sides of what nurseries, small chunks and megachunks hold. */
static uint32_t draw_count(test_random *random)
{
    static const uint32_t sizes[] = {1, 2, 7, 60, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1100};
    return sizes[below(random, sizeof sizes / sizeof sizes[0])];
}

static void fill(bed *b, const weft_slice *rows, uint32_t shape, uint32_t i, bool is_unordered)
{
    uint32_t *numbers = weft_slice_write(rows, 0);
    numbers[i] = b->next;
    weft_entity entity = {0};
    if (is_unordered) entity = rows->entities[i];
    if (shape == 1) ((weft_entity *)weft_slice_write(rows, 1))[i] = entity;
    if (shape == 3) {
        weft_buffers list = weft_slice_write_buffers(rows, 1);
        uint32_t elements[40];
        for (uint32_t k = 0; k < 40; k++) elements[k] = b->next;
        CHECK_OK(weft_buffers_append(&list, i, elements, b->next % 41));
        if (b->next % 3 == 0) weft_slice_enable(rows, 2, i, false);
    }
    note(b, entity);
}

static void load_rows(bed *b)
{
    bool is_unordered = b->ways == 2 ? below(&b->loads, 2) == 0 : b->ways == 1;
    uint32_t shape = below(&b->loads, 5), team = below(&b->loads, 3);
    weft_values shared = {b->team, &team};
    weft_rows_desc desc = {.archetype = b->shapes[shape], .is_unordered = is_unordered};
    if (shape == 2 && team != 0) {
        desc.shared = &shared;
        desc.shared_count = 1;
    }
    for (uint32_t left = draw_count(&b->loads); left != 0;) {
        weft_slice rows;
        desc.count = left;
        CHECK_OK(weft_recorder_create_rows_with(b->commands, &desc, &rows));
        for (uint32_t i = 0; i < rows.count; i++) fill(b, &rows, shape, i, is_unordered);
        if (shape == 2) CHECK_U64(*(const uint32_t *)weft_slice_read_shared(&rows, 1), team);
        left -= rows.count;
    }
}

static void load_one(bed *b)
{
    uint32_t shape = below(&b->loads, 5), elements[3] = {1, 2, 3};
    weft_recorder *r = b->commands;
    weft_entity e = weft_recorder_create_entity(r, b->shapes[shape]);
    CHECK(e.version != 0);
    CHECK_OK(weft_recorder_set(r, e, b->number, &b->next, sizeof b->next));
    if (below(&b->loads, 4) == 0) CHECK_OK(weft_recorder_set(r, e, b->link, &e, sizeof e));
    if (below(&b->loads, 4) == 0) CHECK_OK(weft_recorder_set_shared(r, e, b->team, &elements[1]));
    if (below(&b->loads, 4) == 0) CHECK_OK(weft_recorder_append(r, e, b->list, elements, 3));
    if (below(&b->loads, 4) == 0) CHECK_OK(weft_recorder_set_buffer(r, e, b->list, elements, 2));
    if (below(&b->loads, 4) == 0) CHECK_OK(weft_recorder_add(r, e, b->switched));
    if (below(&b->loads, 4) == 0) CHECK_OK(weft_recorder_enable(r, e, b->switched, false));
    if (below(&b->loads, 4) == 0) CHECK_OK(weft_recorder_remove(r, e, b->wide));
    if (below(&b->loads, 4) == 0) CHECK_OK(weft_recorder_set_name(r, e, "loaded"));
    if (below(&b->loads, 4) == 0) {
        weft_entity copy = weft_recorder_instantiate(r, e);
        CHECK(copy.version != 0);
        CHECK_OK(weft_recorder_destroy_entity(r, copy));
    }
    note(b, (weft_entity){0});
}

/* One beat of the thread. */
static void load(bed *b)
{
    uint32_t what = below(&b->loads, 8);
    if (what == 0)
        CHECK_OK(weft_recorder_query_enable(b->commands, b->numbers, b->switched, true));
    else if (what < 4)
        load_one(b);
    else
        load_rows(b);
}

static void *loader(void *user)
{
    bed *b = user;
    for (;;) {
        uint32_t turn = at_load_acq(&b->x_turn); /* hands the recorder over */
        if (turn == ENDS) return NULL;
        if (turn == WAITS) {
            at_stall();
            continue;
        }
        for (uint32_t i = 0; i < CALLS; i++) load(b);
        at_store_rel(&b->x_turn, WAITS); /* hands it back */
    }
}

/* ---- the owner, meanwhile ---- */

static void make_types(bed *b)
{
    static const uint32_t flags[] = {0, WEFT_SHARED, WEFT_SPARSE, WEFT_ENABLEABLE};
    weft_component list[2] = {b->own_value};
    char name[16];
    if (b->made > 400) return;
    for (uint32_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "made %u", b->made);
        list[1] = weft_component_create_plain(b->world, name, 4, 4, flags[b->made++ % 4]);
        CHECK(list[1].id != 0);
        weft_component_create_typed(b->world, name, 4, 4, flags[(b->made - 1) % 4]);
        if ((b->made - 1) % 4 != 2) CHECK(weft_archetype_create(b->world, list, 2).id != 0);
    }
}

static void change_entities(bed *b)
{
    static weft_entity e[OWN];
    uint32_t count = 1 + below(&b->random, OWN);
    if (weft_query_count(b->world, b->own_rows) > 4 * OWN)
        CHECK_OK(weft_query_destroy_entities(b->world, b->own_rows));
    CHECK_OK(weft_entity_create_many(b->world, b->own, count, e));
    for (uint32_t i = 0; i < 50; i++) CHECK(weft_entity_create(b->world, b->own).version != 0);
    for (uint32_t i = 0; i < count; i += 2) CHECK_OK(weft_entity_destroy(b->world, e[i]));
    CHECK_OK(weft_entity_destroy_many(b->world, e, count / 4));
}

static void play_others(bed *b)
{
    weft_entity e[40];
    weft_slice rows;
    uint32_t count = (uint32_t)weft_query_entities(b->world, b->own_rows, e, 40);
    for (uint32_t i = 0; i < count && i < 40; i++)
        CHECK_OK(weft_recorder_destroy_entity(b->others, e[i]));
    CHECK_OK(weft_recorder_create_rows(b->others, b->own, 30, &rows));
    if (b->ways != 0) CHECK_OK(weft_recorder_create_rows_unordered(b->others, b->own, 300, &rows));
    CHECK_OK(weft_recorder_play(b->others));
}

/* Its snapshot has none of the rows of the thread that were played since: both are forgotten. */
static void snapshots(bed *b)
{
    if (b->snapshot == NULL || below(&b->random, 2) == 0) {
        weft_snapshot_destroy(b->snapshot);
        CHECK_OK(weft_snapshot_take(b->world, NULL, &b->snapshot));
        return;
    }
    weft_result result = weft_snapshot_restore(b->world, b->snapshot);
    CHECK(result == WEFT_OK || (b->ways != 0 && result == WEFT_WRONG_PHASE));
}

static void go_on(bed *b)
{
    switch (below(&b->random, 8)) {
    case 0:
        make_types(b);
        break;
    case 1:
    case 2:
        change_entities(b);
        break;
    case 3:
    case 4:
        CHECK_OK(weft_world_step(b->world, 0.1f));
        break;
    case 5:
        play_others(b);
        break;
    case 6:
        snapshots(b);
        break;
    default:
        CHECK(weft_world_hash(b->world, WEFT_HASH_CONTENT) != 0);
        weft_world_compact(b->world, 1000);
    }
}

/* ---- the meeting ---- */

static void compare(bed *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        weft_entity e = b->rows[i].entity;
        if (e.version == 0) continue;
        const uint32_t *number = weft_entity_read(b->world, e, b->number);
        CHECK(number != NULL);
        CHECK_U64(*number, b->rows[i].number);
        const weft_entity *own =
            weft_entity_has(b->world, e, b->link) ? weft_entity_read(b->world, e, b->link) : NULL;
        if (own != NULL) CHECK(own->index == e.index && own->version == e.version);
    }
    CHECK_U64(weft_query_count(b->world, b->numbers), b->count);
    CHECK_OK(weft_world_validate(b->world));
}

/* The thread waits: what it recorded is played, compared, and ended again. */
static void meet(bed *b, bool is_last)
{
    CHECK_OK(weft_recorder_play(b->commands));
    compare(b);
    CHECK_OK(weft_query_destroy_entities(b->world, b->numbers));
    CHECK_OK(weft_world_validate(b->world));
    if (b->snapshot != NULL && below(&b->random, 2) == 0) /* no id is held now */
        CHECK_OK(weft_snapshot_restore(b->world, b->snapshot));
    b->count = 0;
    at_store_rel(&b->x_turn, is_last ? ENDS : LOADS); /* hands the recorder over */
}

static void churn(weft_slice *slice, void *user)
{
    bed *b = user;
    weft_recorder *r = weft_slice_recorder(slice);
    weft_slice rows;
    for (uint32_t i = 0; i < slice->count; i += 3)
        weft_recorder_destroy_entity(r, slice->entities[i]);
    for (uint32_t i = 0; i < slice->count; i += 6) weft_recorder_create_entity(r, b->own);
    weft_recorder_create_rows(r, b->own, 5, &rows);
    weft_recorder_create_rows_unordered(r, b->own, 70, &rows);
}

static void open_bed(bed *b, uint64_t seed, uint32_t ways)
{
    static const weft_field field = {"link", WEFT_FIELD_ENTITY, 0, 0};
    memset(b, 0, sizeof *b);
    test_note_seed(seed);
    b->random = test_random_init(seed);
    b->loads = test_random_fork(&b->random, 1);
    b->ways = ways;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &b->world));
    weft_world *w = b->world;
    b->number = weft_component_create_plain(w, "number", 4, 4, 0);
    b->link = weft_component_create(w, &(weft_component_desc){.name = "link",
                                                              .size = sizeof(weft_entity),
                                                              .alignment = 4,
                                                              .fields = &field,
                                                              .field_count = 1});
    b->team = weft_component_create_plain(w, "team", 4, 4, WEFT_SHARED);
    b->list = weft_component_create(
        w,
        &(weft_component_desc){
            .name = "list", .size = 4, .alignment = 4, .flags = WEFT_BUFFER, .buffer_capacity = 2});
    b->switched = weft_component_create_plain(w, "switched", 4, 4, WEFT_ENABLEABLE);
    b->wide = weft_component_create_plain(w, "wide", 128, 8, 0);
    b->own_value = weft_component_create_plain(w, "own", 8, 8, 0);
    b->shapes[0] = WEFT_ARCHETYPE(w, b->number);
    b->shapes[1] = WEFT_ARCHETYPE(w, b->number, b->link);
    b->shapes[2] = WEFT_ARCHETYPE(w, b->number, b->team);
    b->shapes[3] = WEFT_ARCHETYPE(w, b->number, b->list, b->switched);
    b->shapes[4] = WEFT_ARCHETYPE(w, b->number, b->wide);
    b->own = WEFT_ARCHETYPE(w, b->own_value);
    b->own_rows = weft_query_create(w, &(weft_query_desc){.terms = {{b->own_value}}});
    b->numbers = weft_query_create(w, &(weft_query_desc){.terms = {{b->number}}});
    CHECK_OK(weft_entity_create_many(w, b->own, OWN, NULL));
    weft_system_desc system = {.name = "churn",
                               .run = churn,
                               .user = b,
                               .over.rows.terms = {{b->own_value, WEFT_WRITE}},
                               .effects = WEFT_RECORDS_ANY};
    CHECK(weft_system_create(w, &system).id != 0);
    CHECK_OK(weft_recorder_create(w, &b->commands));
    CHECK_OK(weft_recorder_create(w, &b->others));
}

static void run(uint64_t seed, uint32_t ways)
{
    static bed b;
    pthread_t thread;
    open_bed(&b, seed, ways);
    CHECK(pthread_create(&thread, NULL, loader, &b) == 0);
    for (uint32_t round = 0; round < ROUNDS;) {
        go_on(&b);
        if (at_load_acq(&b.x_turn) != WAITS) continue; /* the recorder is the thread's */
        round++;
        meet(&b, round == ROUNDS);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    weft_snapshot_destroy(b.snapshot);
    weft_recorder_destroy(b.commands);
    weft_recorder_destroy(b.others);
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(a_thread_records_ordered_rows_while_the_owner_goes_on)
{
    for (uint64_t seed = 1; seed <= 4; seed++) run(seed, 0);
}

PLAIN_TEST(a_thread_records_unordered_rows_while_the_owner_goes_on)
{
    for (uint64_t seed = 11; seed <= 14; seed++) run(seed, 1);
}

PLAIN_TEST(a_thread_records_rows_of_both_kinds_while_the_owner_goes_on)
{
    for (uint64_t seed = 21; seed <= 24; seed++) run(seed, 2);
}
