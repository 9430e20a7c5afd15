/* SPDX-License-Identifier: MIT */
/* test_passing.c: background systems that go on beside sync points. They do where commands leave
 * their rows alone; else what they see and write is the same as if they had ended before. */
#include <weft/weft.h>

#include "atomic.h"
#include "buffer_append.h"
#include "plain.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_S = 20, ROWS = 3000, FEW = 6, APPEARING = 12 };

/* A world of rows that a background system is at, and rows that commands change. Owner: the test.
 */
typedef struct bed {
    weft_world *world;
    weft_component kept, moved, extra, tint, needs, ash;
    weft_entity on_kept[ROWS], on_moved[ROWS], mortal[FEW + ROWS];
    weft_entity root; /* of a linked group: half of on_kept */
    weft_archetype of_kept, of_both;
    weft_component tags[APPEARING];
    uint32_t step, kept_rows;
    weft_query all_kept;
    uint32_t nap_us;    /* of the background system, a slice */
    uint32_t kind;      /* of the commands */
    weft_a32 x_is_set;  /* what the background system waits for */
    weft_a32 x_is_done; /* it has run to its end */
    weft_a64 x_seen;    /* sum over what it saw */
    bool is_late;       /* it waited in vain */
} bed;

static void nap(uint32_t us)
{
    const struct timespec length = {.tv_nsec = (long)us * 1000};
    if (us != 0) nanosleep(&length, NULL);
}

static void bed_open_with(bed *b, uint32_t workers, uint32_t kept_rows)
{
    memset(b, 0, sizeof *b);
    b->kept_rows = kept_rows;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &b->world));
    b->kept = weft_component_create_plain(b->world, "kept", 4, 4, 0);
    b->moved = weft_component_create_plain(b->world, "moved", 4, 4, 0);
    b->extra = weft_component_create_plain(b->world, "extra", 4, 4, 0);
    b->ash = weft_component_create_plain(b->world, "ash", 4, 4, WEFT_CLEANUP);
    b->needs = weft_component_create(
        b->world, &(weft_component_desc){
                      .name = "needs", .alignment = 1, .required = &b->kept, .required_count = 1});
    b->tint = weft_component_create_plain(b->world, "tint", 4, 4, WEFT_SHARED);
    const weft_component both[] = {b->moved, b->extra};
    b->of_kept = weft_archetype_create(b->world, &b->kept, 1);
    weft_archetype on_moved = weft_archetype_create(b->world, &b->moved, 1);
    CHECK_OK(weft_entity_create_many(b->world, b->of_kept, kept_rows, b->on_kept));
    CHECK_OK(weft_entity_create_many(b->world, on_moved, ROWS, b->on_moved));
    CHECK_OK(weft_entity_create_many(b->world, weft_archetype_create(b->world, both, 2), 1, NULL));
    const weft_component dying[] = {b->moved, b->ash};
    weft_archetype mortal = weft_archetype_create(b->world, dying, 2);
    CHECK_OK(weft_entity_create_many(b->world, mortal, FEW + ROWS, b->mortal));
    CHECK_OK(weft_entity_destroy_many(b->world, b->mortal, FEW));
    CHECK_OK(weft_schedule_set(b->world, &(weft_schedule_desc){.is_always_parallel = true}));
}

static void bed_open(bed *b, uint32_t workers)
{
    bed_open_with(b, workers, ROWS);
}

static void bed_close(bed *b)
{
    CHECK_OK(weft_world_validate(b->world));
    CHECK_OK(weft_world_destroy(b->world));
}

static void system_add(bed *b, weft_system_desc desc)
{
    desc.user = b;
    CHECK(weft_system_create(b->world, &desc).id != 0);
}

/* ---- systems ---- */

static bool is_past(const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= deadline->tv_sec;
}

static void wait_for(weft_slice *slice, void *user)
{
    bed *b = user;
    struct timespec deadline;
    (void)slice;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += b->is_late ? 0 : PATIENCE_S;
    while (at_load_acq(&b->x_is_set) == 0 && !is_past(&deadline)) at_stall(); /* the test's own */
    if (at_load_acq(&b->x_is_set) == 0) b->is_late = true;
}

static void set(weft_slice *slice, void *user)
{
    bed *b = user;
    (void)slice;
    at_store_rel(&b->x_is_set, 1u);
}

/* Sees its rows one slice after the other, and writes them. */
static void look(weft_slice *slice, void *user)
{
    bed *b = user;
    uint32_t *values = weft_slice_write(slice, 0);
    uint64_t sum = 0;
    nap(b->nap_us);
    for (uint32_t i = 0; i < slice->count; i++) {
        values[i]++;
        sum += ((uint64_t)weft_slice_entities(slice)[i].index << 8) + values[i];
    }
    at_add_rlx(&b->x_seen, sum); /* relaxed: a sum */
}

static void look_and_tell(weft_slice *slice, void *user)
{
    bed *b = user;
    (void)slice;
    nap(b->nap_us);
    at_store_rel(&b->x_is_done, 1u);
}

static void twice(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) values[i] *= 2;
}

static void nothing(weft_slice *slice, void *user)
{
    (void)slice;
    (void)user;
}

static void add_extra(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_recorder *recorder = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < 100; i++)
        CHECK_OK(weft_recorder_add(recorder, b->on_moved[i], b->extra));
}

/* Commands that concern the rows of the background system, one way or another. */
enum {
    DESTROY,
    DESTROY_GROUP,
    ADD,
    CREATE,
    CREATE_ROWS,
    SET,
    SET_SHARED,
    INSTANTIATE,
    BECOME,
    REQUIRE,
    DIE,
    QUERY_ADD,
    KINDS
};

static void record_for(const bed *b, weft_recorder *recorder, uint32_t i)
{
    const uint32_t value = 77;
    weft_entity target = b->on_kept[i % b->kept_rows];
    weft_slice rows;
    switch (b->kind) {
    case DESTROY:
        CHECK_OK(weft_recorder_destroy_entity(recorder, target));
        break;
    case DESTROY_GROUP: /* whose members they are */
        if (i == 0) CHECK_OK(weft_recorder_destroy_entity(recorder, b->root));
        break;
    case ADD:
        CHECK_OK(weft_recorder_add(recorder, target, b->extra));
        break;
    case CREATE:
        CHECK(weft_recorder_create_entity(recorder, b->of_kept).version != 0);
        break;
    case CREATE_ROWS:
        if (i == 0) CHECK_OK(weft_recorder_create_rows(recorder, b->of_kept, 500, &rows));
        break;
    case SET:
        CHECK_OK(weft_recorder_set(recorder, target, b->kept, &value, sizeof value));
        break;
    case SET_SHARED:
        CHECK_OK(weft_recorder_set_shared(recorder, target, b->tint, &value));
        break;
    case INSTANTIATE:
        CHECK(weft_recorder_instantiate(recorder, target).version != 0);
        break;
    case BECOME: /* rows of other archetypes come to lie beside them */
        CHECK_OK(weft_recorder_remove(recorder, b->on_moved[i], b->moved));
        CHECK_OK(weft_recorder_add(recorder, b->on_moved[i], b->kept));
        break;
    case REQUIRE: /* the same, by what another component requires */
        CHECK_OK(weft_recorder_add(recorder, b->on_moved[i], b->needs));
        break;
    case DIE: /* what remains of them comes to lie beside the others that died */
        CHECK_OK(weft_recorder_destroy_entity(recorder, b->mortal[FEW + i]));
        break;
    case QUERY_ADD:
        if (i == 0) CHECK_OK(weft_recorder_query_add(recorder, b->all_kept, b->extra));
        break;
    default:
        break;
    }
}

/* For one entity in the first step, after which every archetype that is needed is there, and for
 * others in the next. */
static void record(weft_slice *slice, void *user)
{
    const bed *b = user;
    if (b->step == 0) record_for(b, weft_slice_recorder(slice), 0);
    for (uint32_t i = 3; b->step != 0 && i < ROWS; i += 3)
        record_for(b, weft_slice_recorder(slice), i);
}

/* ---- what goes on ---- */

/* A background system, and behind a sync point one that sees what was recorded and sets what the
 * first waits for. */
static void check_passes(weft_query_desc rows)
{
    static bed b;
    bed_open(&b, 2);
    if (rows.terms[0].component.id != 0) rows.terms[0].component = b.kept;
    system_add(&b, (weft_system_desc){.name = "long",
                                      .run = wait_for,
                                      .flags = WEFT_SYSTEM_BACKGROUND,
                                      .over.rows = rows});
    system_add(&b, (weft_system_desc){.name = "records",
                                      .run = add_extra,
                                      .effects = WEFT_RECORDS_ADD,
                                      .records = {b.extra}});
    system_add(&b, (weft_system_desc){.name = "sees",
                                      .run = set,
                                      .over.rows.terms = {{b.extra, WEFT_READ, WEFT_ALL, 0}}});
    for (uint32_t i = 0; i < 3; i++) {
        at_store_rel(&b.x_is_set, 0u);
        CHECK_OK(weft_world_step(b.world, 0));
        CHECK(!b.is_late);
    }
    const uint32_t *value = weft_entity_read(b.world, b.on_moved[99], b.extra);
    CHECK(value != NULL);
    bed_close(&b);
}

PLAIN_TEST(a_background_system_goes_on_beside_a_sync_point_that_spares_its_rows)
{
    const weft_component any = {1, 1};
    check_passes((weft_query_desc){.terms = {{any, WEFT_WRITE, WEFT_ALL, 0}}});
}

PLAIN_TEST(a_background_system_without_rows_goes_on_beside_any_sync_point)
{
    check_passes((weft_query_desc){0});
}

/* ---- what waits ---- */

/* What there is after the steps, and what the background system saw. A value. */
typedef struct outcome {
    uint64_t hash, seen, versions;
} outcome;

/* Change versions of all slices, in order. */
static uint64_t versions_of(bed *b, weft_component component)
{
    uint64_t sum = 0;
    weft_query all = weft_query_create(
        b->world, &(weft_query_desc){.terms = {{component, WEFT_READ, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(b->world, all);
    while (weft_query_next(&cursor)) sum = sum * 31 + weft_slice_change_version(&cursor.slice, 0);
    return sum;
}

static outcome run_kind(uint32_t kind, uint32_t kept_rows, uint32_t workers, uint32_t nap_us)
{
    static bed b;
    bed_open_with(&b, workers, kept_rows);
    b.kind = kind;
    b.nap_us = nap_us;
    const weft_component group = weft_component_linked_group(b.world);
    const weft_archetype of_root = weft_archetype_create(b.world, &group, 1);
    CHECK_OK(weft_entity_create_many(b.world, of_root, 1, &b.root));
    CHECK_OK(test_buffer_append(b.world, group, b.root, &b.root, 1));
    CHECK_OK(test_buffer_append(b.world, group, b.root, b.on_kept, kept_rows / 2));
    b.all_kept =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.kept, WEFT_READ, WEFT_ALL, 0}}});
    const weft_component looked_at = kind == DIE ? b.ash : b.kept;
    const weft_component left_out = kind == DIE ? b.moved : b.extra;
    system_add(&b,
               (weft_system_desc){.name = "looks",
                                  .run = look,
                                  .flags = WEFT_SYSTEM_BACKGROUND,
                                  .over.rows.terms = {{looked_at, WEFT_WRITE, WEFT_ALL, 0},
                                                      {left_out, WEFT_NO_ACCESS, WEFT_NONE, 0}}});
    system_add(&b, (weft_system_desc){.name = "records",
                                      .run = record,
                                      .effects = WEFT_RECORDS_ANY,
                                      .flags = WEFT_SYSTEM_SERIAL});
    system_add(&b, (weft_system_desc){.name = "sees",
                                      .run = nothing,
                                      .over.rows.terms = {{b.moved, WEFT_READ, WEFT_ALL, 0}}});
    for (b.step = 0; b.step < 2; b.step++) CHECK_OK(weft_world_step(b.world, 0));
    const outcome out = {weft_world_hash(b.world, WEFT_HASH_LAYOUT), at_load_rlx(&b.x_seen),
                         versions_of(&b, looked_at)};
    bed_close(&b);
    return out;
}

PLAIN_TEST(what_commands_concern_is_not_changed_under_a_background_system)
{
    static const uint32_t rows[] = {ROWS, FEW}; /* chunks of few rows move when more come */
    for (uint32_t i = 0; i < 2 * KINDS; i++) {
        const outcome one = run_kind(i / 2, rows[i % 2], 1, 0);
        const outcome two = run_kind(i / 2, rows[i % 2], 2, 1000);
        CHECK_U64(two.hash, one.hash);
        CHECK_U64(two.seen, one.seen);
        CHECK_U64(two.versions, one.versions);
    }
}

/* In the last segment, which runs as a graph or in stages. */
static void check_late_writer(bool is_graph)
{
    static bed b;
    bed_open(&b, 2);
    b.nap_us = 1000;
    system_add(&b, (weft_system_desc){.name = "looks",
                                      .run = look,
                                      .flags = WEFT_SYSTEM_BACKGROUND,
                                      .over.rows.terms = {{b.kept, WEFT_WRITE, WEFT_ALL, 0}}});
    system_add(&b, (weft_system_desc){.name = "records",
                                      .run = add_extra,
                                      .effects = WEFT_RECORDS_ADD,
                                      .records = {b.extra}});
    system_add(&b, (weft_system_desc){.name = "sees",
                                      .run = nothing,
                                      .over.rows.terms = {{b.extra, WEFT_READ, WEFT_ALL, 0}}});
    system_add(&b, (weft_system_desc){.name = "twice",
                                      .run = twice,
                                      .flags = is_graph ? WEFT_SYSTEM_NOT_FUSED : 0,
                                      .after = {"sees"},
                                      .over.rows.terms = {{b.kept, WEFT_WRITE, WEFT_ALL, 0}}});
    CHECK_OK(weft_schedule_set(
        b.world, &(weft_schedule_desc){.is_always_parallel = true, .without_overlap = !is_graph}));
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(weft_world_step(b.world, 0));
        expected = 2 * (expected + 1);
        for (uint32_t k = 0; k < ROWS; k++)
            CHECK_U64(*(const uint32_t *)weft_entity_read(b.world, b.on_kept[k], b.kept), expected);
    }
    bed_close(&b);
}

PLAIN_TEST(a_system_behind_the_sync_point_waits_for_what_it_collides_with)
{
    check_late_writer(false);
    check_late_writer(true);
}

/* At the sync point an archetype appears in which it collides with a system behind, so that stages
 * are made again. */
PLAIN_TEST(a_background_system_has_ended_when_the_step_has)
{
    static bed b;
    bed_open(&b, 2);
    b.nap_us = 20000;
    b.kind = ADD;
    b.step = 1;
    system_add(&b, (weft_system_desc){.name = "long",
                                      .run = look_and_tell,
                                      .flags = WEFT_SYSTEM_BACKGROUND,
                                      .over.rows.terms = {{b.extra, WEFT_READ, WEFT_ALL, 0}}});
    system_add(&b, (weft_system_desc){.name = "records",
                                      .run = record,
                                      .effects = WEFT_RECORDS_ADD,
                                      .records = {b.extra}});
    system_add(&b, (weft_system_desc){.name = "sees",
                                      .run = nothing,
                                      .over.rows.terms = {{b.extra, WEFT_WRITE, WEFT_ALL, 0},
                                                          {b.kept, WEFT_READ, WEFT_ALL, 0}}});
    for (uint32_t i = 0; i < 3; i++) {
        at_store_rel(&b.x_is_done, 0u);
        CHECK_OK(weft_world_step(b.world, 0));
        CHECK(at_load_acq(&b.x_is_done) == 1);
    }
    bed_close(&b);
}

/* Makes rows of an archetype that is new in each step, and that the background system's query
 * matches. */
static void record_new(weft_slice *slice, void *user)
{
    bed *b = user;
    weft_recorder *recorder = weft_slice_recorder(slice);
    weft_entity made = weft_recorder_create_entity(recorder, b->of_both);
    CHECK_OK(weft_recorder_add(recorder, made, b->tags[b->step]));
}

/* Asks for its values row by row. */
static void look_up(weft_slice *slice, void *user)
{
    bed *b = user;
    nap(b->nap_us);
    for (uint32_t i = 0; i < slice->count; i++) {
        const uint32_t *value = weft_slice_read_row(slice, 0, i);
        CHECK(value != NULL);
        if (value != NULL) at_add_rlx(&b->x_seen, *value); /* relaxed: a sum */
    }
}

PLAIN_TEST(archetypes_that_match_it_may_appear_beside_a_background_system)
{
    static bed b;
    bed_open(&b, 2);
    const weft_component both[] = {b.kept, b.moved};
    const uint32_t one = 1;
    b.nap_us = 300;
    b.of_both = weft_archetype_create(b.world, both, 2);
    for (uint32_t i = 0; i < APPEARING; i++) {
        char name[8];
        snprintf(name, sizeof name, "tag%u", i);
        b.tags[i] = weft_component_create_plain(b.world, name, 0, 1, 0);
    }
    for (uint32_t i = 0; i < ROWS; i++)
        CHECK_OK(weft_entity_set(b.world, b.on_kept[i], b.kept, &one, sizeof one));
    system_add(&b, (weft_system_desc){.name = "looks",
                                      .run = look_up,
                                      .flags = WEFT_SYSTEM_BACKGROUND,
                                      .over.rows.terms = {{b.kept, WEFT_READ, WEFT_ALL, 0}}});
    system_add(&b, (weft_system_desc){.name = "records",
                                      .run = record_new,
                                      .flags = WEFT_SYSTEM_SERIAL,
                                      .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD});
    system_add(&b, (weft_system_desc){.name = "sees",
                                      .run = nothing,
                                      .over.rows.terms = {{b.extra, WEFT_READ, WEFT_ALL, 0}}});
    for (b.step = 0; b.step < APPEARING; b.step++) CHECK_OK(weft_world_step(b.world, 0));
    CHECK_U64(at_load_rlx(&b.x_seen), (uint64_t)APPEARING * ROWS); /* new rows have 0 */
    bed_close(&b);
}

static void ask_recorder(weft_slice *slice, void *user)
{
    bed *b = user;
    CHECK(weft_slice_recorder(slice) == NULL);
    CHECK(weft_recorder_add(weft_slice_recorder(slice), b->on_kept[0], b->extra) != WEFT_OK);
}

PLAIN_TEST(a_background_system_that_declares_no_effects_gets_no_recorder)
{
    static bed b;
    bed_open(&b, 2);
    system_add(&b, (weft_system_desc){
                       .name = "sly", .run = ask_recorder, .flags = WEFT_SYSTEM_BACKGROUND});
    CHECK(weft_world_step(b.world, 0) == WEFT_UNDECLARED_ACCESS);
    CHECK(strstr(weft_world_error(b.world)->text, "system sly") != NULL);
    CHECK(strstr(weft_world_error(b.world)->text, "set `effects`") != NULL);
    bed_close(&b);
}
