/* SPDX-License-Identifier: MIT */
/* test_part_order.c: orders of parts: what a pool did can be recorded and run again, on one thread;
 * drawn ones cover every item once. */
#include "part_order.h"

#include "registry.h"
#include "systems_bed.h"

#include <stdlib.h>

enum { STEPS = 3, WORKERS = 3, PARTS_MOST = 4096 };

static weft_a32 x_calls; /* of the other system */
/* Which worker ran which slice of the last step: each written by its worker. */
static uint8_t worker_of[ROWS];

static void note_worker(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *values = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < s->count; i++) values[i]++;
    worker_of[s->index] = (uint8_t)s->worker; /* each slice once */
}

static const weft__part_order *order_begin(weft__scheduler *scheduler, weft__part_mode mode,
                                           uint64_t seed, const weft__part *given, uint32_t count)
{
    weft__part_order *order = weft__part_order_begin(scheduler, mode, seed);
    CHECK(order != NULL);
    CHECK(WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &order->parts, given, count));
    return order;
}

/* Steps a world in a mode; the parts go to `parts`, how many is returned. */
static uint32_t run(weft__part_mode mode, uint64_t seed, const weft__part *given, uint32_t count,
                    weft__part parts[PARTS_MOST])
{
    begin(WORKERS);
    make(&(weft_system_desc){
        .name = "note", .run = note_worker, .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(&(weft_system_desc){.name = "other",
                             .run = add_one,
                             .user = &x_calls,
                             .over.rows.terms = {{t.b, WEFT_WRITE, 0, 0}}});
    CHECK_OK(weft_schedule_compile(t.world));
    weft__scheduler *scheduler = weft__scheduler_of(t.world);
    const weft__part_order *order = order_begin(scheduler, mode, seed, given, count);
    for (int i = 0; i < STEPS; i++) CHECK_OK(weft_world_step(t.world, 1));
    check_values(STEPS);
    CHECK(!order->has_differed && !order->is_incomplete);
    const uint32_t recorded = order->parts.count;
    CHECK(recorded <= PARTS_MOST);
    memcpy(parts, order->parts.at, recorded * sizeof *parts);
    end();
    return recorded;
}

static void check_workers(const weft__part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) CHECK(parts[i].worker < WORKERS);
    CHECK(count > 0);
}

static bool are_equal(const weft__part *a, const weft__part *b, uint32_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

PLAIN_TEST(what_a_pool_did_is_done_again_on_one_thread)
{
    static weft__part first[PARTS_MOST], again[PARTS_MOST];
    uint8_t workers[ROWS];
    const uint32_t count = run(WEFT__PART_RECORD, 0, NULL, 0, first);
    check_workers(first, count);
    memcpy(workers, worker_of, sizeof workers);
    memset(worker_of, 99, sizeof worker_of);
    CHECK_U64(run(WEFT__PART_REPLAY, 0, first, count, again), count);
    CHECK(are_equal(first, again, count));
    for (uint32_t i = 0; i < ROWS; i++)
        if (worker_of[i] != 99) CHECK_U64(worker_of[i], workers[i]);
}

PLAIN_TEST(drawn_orders_follow_from_the_seed)
{
    static weft__part a[PARTS_MOST], b[PARTS_MOST], c[PARTS_MOST];
    const uint32_t count = run(WEFT__PART_DRAW, 7, NULL, 0, a);
    check_workers(a, count);
    CHECK_U64(run(WEFT__PART_DRAW, 7, NULL, 0, b), count);
    CHECK(are_equal(a, b, count));
    const uint32_t other = run(WEFT__PART_DRAW, 8, NULL, 0, c);
    CHECK(other != count || !are_equal(a, c, count));
}

PLAIN_TEST(parts_that_are_missing_are_run_and_wrong_ones_are_not)
{
    static weft__part first[PARTS_MOST];
    const uint32_t count = run(WEFT__PART_DRAW, 3, NULL, 0, first);
    begin(WORKERS);
    make(&(weft_system_desc){
        .name = "note", .run = note_worker, .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    CHECK_OK(weft_schedule_compile(t.world));
    weft__scheduler *scheduler = weft__scheduler_of(t.world);
    first[0].item = 1000000; /* no such item */
    const weft__part_order *order = order_begin(scheduler, WEFT__PART_REPLAY, 0, first, count / 2);
    for (int i = 0; i < STEPS; i++) CHECK_OK(weft_world_step(t.world, 1));
    check_values(STEPS); /* each row once a step all the same */
    CHECK(order->has_differed);
    end();
}
