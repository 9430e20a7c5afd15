/* SPDX-License-Identifier: MIT */
/* test_order.c: orders of slices as a program's own tests use them (weft/order.h): a system that
 * carries something from slice to slice is found by drawn orders, what a pool did is run again,
 * and wrong orders are refused. Parts: test_part_order.c. */
#include "atomic.h"
#include "plain.h"

#include <weft/order.h>
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3000, WORKERS = 3, STEPS = 3 };

/* One world. `carried`: what a worker keeps from slice to slice, which is the bug. */
typedef struct bed {
    weft_world *world;
    weft_component value, other;
    weft_archetype archetype;
    uint32_t carried[WORKERS];
    bool carries;
} bed;

static bed b;
static bool adds_worker; /* another bug */

static void take_on(weft_slice *slice, void *user)
{
    (void)user;
    uint32_t *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        if (b.carries) values[i] += b.carried[slice->worker];
        if (b.carries) b.carried[slice->worker] = values[i] * 31 + 7;
        values[i] = values[i] * 5 + weft_slice_entities(slice)[i].index;
        if (adds_worker) values[i] += slice->worker;
    }
}

static void double_other(weft_slice *slice, void *user)
{
    (void)user;
    uint32_t *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) values[i] = values[i] * 2 + 1;
}

static void give_birth(weft_slice *slice, void *user)
{
    (void)user;
    weft_recorder_create_entity(weft_slice_recorder(slice), b.archetype);
}

static void bed_open(uint32_t workers, bool carries)
{
    memset(&b, 0, sizeof b);
    b.carries = carries;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &b.world));
    b.value = weft_component_create(
        b.world,
        &(weft_component_desc){.name = "value", .size = 4, .alignment = 4, .chunk_row_limit = 64});
    b.other = weft_component_create_plain(b.world, "other", 4, 4, 0);
    b.archetype = weft_archetype_create(b.world, (weft_component[]){b.value, b.other}, 2);
    CHECK_OK(weft_entity_create_many(b.world, b.archetype, ROWS, NULL));
    const weft_system_desc descs[] = {
        {.name = "take on", .run = take_on, .over.rows.terms = {{b.value, WEFT_WRITE, 0, 0}}},
        {.name = "double", .run = double_other, .over.rows.terms = {{b.other, WEFT_WRITE, 0, 0}}},
        {.name = "bear",
         .run = give_birth,
         .flags = WEFT_SYSTEM_MAIN_THREAD,
         .effects = WEFT_RECORDS_CREATE}};
    for (uint32_t i = 0; i < 3; i++) CHECK(weft_system_create(b.world, &descs[i]).id != 0);
}

static uint64_t bed_step(void)
{
    for (uint32_t i = 0; i < STEPS; i++) CHECK_OK(weft_world_step(b.world, 1));
    return weft_world_hash(b.world, WEFT_HASH_LAYOUT);
}

static uint64_t run(const char *order, uint32_t workers, bool carries, weft_result ends)
{
    bed_open(workers, carries);
    if (order != NULL) CHECK_OK(weft_order_begin(b.world, order));
    const uint64_t hash = bed_step();
    CHECK_RESULT(weft_order_end(b.world), ends);
    CHECK_OK(weft_world_destroy(b.world));
    return hash;
}

static uint32_t hashes_of_draws(uint32_t workers, bool carries)
{
    uint64_t hashes[8];
    uint32_t count = 0;
    for (uint32_t seed = 0; seed < 8; seed++) {
        char order[16];
        snprintf(order, sizeof order, "draw:%u", seed);
        const uint64_t hash = run(order, workers, carries, WEFT_OK);
        CHECK_U64(run(order, workers, carries, WEFT_OK), hash); /* the same, as often as it takes */
        uint32_t i = 0;
        while (i < count && hashes[i] != hash) i++;
        hashes[i] = hash;
        count += i == count;
    }
    return count;
}

PLAIN_TEST(drawn_orders_show_what_a_system_carries_from_slice_to_slice)
{
    CHECK(hashes_of_draws(WORKERS, true) >= 6);
    CHECK(hashes_of_draws(1, true) >= 6); /* also on one worker */
    CHECK_U64(hashes_of_draws(WORKERS, false), 1);
    CHECK_U64(run("draw:1", WORKERS, false, WEFT_OK), run(NULL, WORKERS, false, WEFT_OK));
}

/* What is carried stays with its worker; what depends on its number differs. */
PLAIN_TEST(rotated_workers_run_the_same_order)
{
    CHECK_U64(run("draw:5,workers:rotate", WORKERS, true, WEFT_OK),
              run("draw:5", WORKERS, true, WEFT_OK));
    adds_worker = true;
    CHECK(run("draw:5,workers:rotate", WORKERS, false, WEFT_OK) !=
          run("draw:5", WORKERS, false, WEFT_OK));
    adds_worker = false;
}

PLAIN_TEST(what_workers_did_is_run_again_with_the_same_hash)
{
    for (uint32_t workers = 1; workers <= WORKERS; workers++) {
        const uint64_t hash = run("record:a.order", workers, true, WEFT_OK);
        for (uint32_t i = 0; i < 3; i++)
            CHECK_U64(run("replay:a.order", workers, true, WEFT_OK), hash);
    }
}

PLAIN_TEST(a_replay_of_another_run_says_so_and_runs_every_slice)
{
    run("record:b.order", WORKERS, false, WEFT_OK);
    const uint64_t expected = run(NULL, WORKERS, false, WEFT_OK);
    bed_open(WORKERS, false);
    CHECK_OK(weft_order_begin(b.world, "replay:b.order"));
    weft_query query =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.value, WEFT_READ, 0, 0}}});
    weft_entity rows[ROWS];
    CHECK_U64(weft_query_entities(b.world, query, rows, ROWS), ROWS);
    CHECK_OK(weft_entity_destroy_many(b.world, rows, ROWS / 2)); /* fewer slices */
    bed_step();
    CHECK_RESULT(weft_order_end(b.world), WEFT_NOT_FOUND);
    CHECK_OK(weft_world_destroy(b.world));
    CHECK_U64(run("replay:b.order", WORKERS, false, WEFT_OK), expected);
    bed_open(WORKERS, false); /* behind its end slices run in order */
    CHECK_OK(weft_order_begin(b.world, "replay:b.order"));
    bed_step();
    const uint64_t longer = bed_step();
    CHECK_OK(weft_order_end(b.world));
    CHECK_OK(weft_world_destroy(b.world));
    bed_open(WORKERS, false);
    bed_step();
    CHECK_U64(bed_step(), longer);
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(a_system_that_runs_alone_is_in_no_order)
{
    static const char *const orders[] = {"draw:3", "record:f.order", "replay:f.order"};
    for (uint32_t i = 0; i < 3; i++) {
        bed_open(WORKERS, false);
        CHECK_OK(weft_order_begin(b.world, orders[i]));
        bed_step();
        CHECK_OK(weft_system_run(b.world, weft_system_find(b.world, "take on"), 1));
        CHECK_OK(weft_system_run(b.world, weft_system_find(b.world, "bear"), 1));
        bed_step();
        CHECK_OK(weft_order_end(b.world));
        CHECK_OK(weft_world_destroy(b.world));
    }
}

PLAIN_TEST(an_order_begins_between_any_two_steps)
{
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; i++) {
        bed_open(WORKERS, true);
        CHECK_OK(weft_order_begin(b.world, "draw:9")); /* the same until then */
        bed_step();
        CHECK_OK(weft_order_begin(b.world, i == 0 ? "record:c.order" : "replay:c.order"));
        hashes[i] = bed_step();
        CHECK_OK(weft_order_end(b.world));
        CHECK_OK(weft_world_destroy(b.world));
    }
    CHECK_U64(hashes[0], hashes[1]);
}

PLAIN_TEST(orders_that_are_none_are_refused)
{
    static const char *const wrong[] = {"",
                                        "draw",
                                        "draw:",
                                        "draw:x",
                                        "draw:1 ",
                                        "record:",
                                        "record",
                                        "shuffle:1",
                                        "draw:1,",
                                        "draw:,workers:rotate",
                                        "draw:1,workers:swap"};
    bed_open(WORKERS, false);
    CHECK_RESULT(weft_order_begin(NULL, "draw:1"), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_order_begin(b.world, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_order_end(NULL), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_order_end(b.world)); /* there is none */
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_RESULT(weft_order_begin(b.world, wrong[i]), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_world_destroy(b.world));
    bed_open(1, false);
    CHECK_RESULT(weft_order_begin(b.world, "draw:1,workers:rotate"), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(b.world)->text, "two workers") != NULL);
    CHECK_RESULT(weft_order_begin(b.world, "replay:no.order"), WEFT_NOT_FOUND);
    CHECK(strstr(weft_world_error(b.world)->text, "no.order") != NULL);
    CHECK_OK(weft_order_begin(b.world, "record:no/such/folder.order"));
    bed_step();
    CHECK_RESULT(weft_order_end(b.world), WEFT_IO);
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(files_that_are_no_record_are_refused)
{
    char bytes[4096];
    run("record:d.order", WORKERS, false, WEFT_OK);
    FILE *file = fopen("d.order", "rb");
    CHECK(file != NULL);
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(count > 100 && count < sizeof bytes);
    for (size_t cut = 0; cut < count; cut += cut < 30 ? 1 : 37) {
        file = fopen("cut.order", "wb");
        CHECK(file != NULL && fwrite(bytes, 1, cut, file) == cut && fclose(file) == 0);
        bed_open(WORKERS, false);
        CHECK_RESULT(weft_order_begin(b.world, "replay:cut.order"),
                     cut < 24 ? WEFT_IO : WEFT_CORRUPT);
        CHECK_OK(weft_world_destroy(b.world));
    }
    bed_open(1, false);
    CHECK_RESULT(weft_order_begin(b.world, "replay:d.order"), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(b.world)->text, "workers") != NULL);
    bed_step(); /* without an order */
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(the_environment_asks_for_an_order_of_each_world)
{
    uint64_t hashes[2];
    setenv("WEFT_ORDER", "record:e.order", 1);
    for (uint32_t i = 0; i < 2; i++) {
        bed_open(WORKERS, true);
        hashes[i] = bed_step();
        CHECK_OK(weft_world_destroy(b.world));
    }
    unsetenv("WEFT_ORDER");
    CHECK_U64(run("replay:e.order", WORKERS, true, WEFT_OK), hashes[0]);
    CHECK_U64(run("replay:e.order.world-2", WORKERS, true, WEFT_OK), hashes[1]);
}
