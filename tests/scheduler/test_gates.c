/* SPDX-License-Identifier: MIT */
/* test_gates.c: orders of groups whose systems the schedule cannot see, over gates: what a way
 * leads to runs after it, in random graphs of names and groups; how many barriers there are grows
 * with the systems, not with their square. */
#include "systems_bed.h"

#include "random.h"
#include "registry.h"
#include "scheduler_state.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { SYSTEMS = 16, GROUPS = 5, NODES = SYSTEMS + 2 * GROUPS, MANY = 4000, FEW = 40 };

enum kind { UNSEEN, MAIN, SEEN, RECORDS, ALONE, KINDS };

/* A random schedule. Owner: the test; `clock` to `last` are guarded by `lock`. */
static struct {
    enum kind kinds[SYSTEMS];
    uint32_t groups[SYSTEMS];
    char names[NODES][8]; /* of systems, then of groups */
    bool leads[NODES][NODES];
    bool is_named[SYSTEMS][SYSTEMS];
    pthread_mutex_t lock;
    uint32_t clock, first[SYSTEMS], last[SYSTEMS];
} g = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t ticked(void)
{
    pthread_mutex_lock(&g.lock);
    uint32_t now = ++g.clock;
    pthread_mutex_unlock(&g.lock);
    return now;
}

static void run(weft_slice *s, void *user)
{
    const size_t number = (size_t)((const enum kind *)user - g.kinds);
    (void)s;
    uint32_t begun = ticked();
    sched_yield();
    uint32_t ended = ticked();
    pthread_mutex_lock(&g.lock);
    if (g.first[number] == 0 || begun < g.first[number]) g.first[number] = begun;
    if (ended > g.last[number]) g.last[number] = ended;
    pthread_mutex_unlock(&g.lock);
}

/* ---- random schedules ---- */

static uint32_t below(test_random *random, uint32_t bound)
{
    return (uint32_t)test_random_below(random, bound);
}

static uint32_t begin_of(uint32_t group)
{
    return SYSTEMS + 2 * group;
}

/* First and last node of a system, or of a group behind them. */
static uint32_t first_of(uint32_t which)
{
    return which < SYSTEMS ? which : begin_of(which - SYSTEMS);
}

static uint32_t last_of(uint32_t which)
{
    return which < SYSTEMS ? which : begin_of(which - SYSTEMS) + 1;
}

static void order(uint32_t before, uint32_t after)
{
    g.leads[last_of(before)][first_of(after)] = true;
    if (before < SYSTEMS && after < SYSTEMS) g.is_named[before][after] = true;
}

static uint32_t group_of(uint32_t which)
{
    return which < SYSTEMS ? g.groups[which] : which - SYSTEMS;
}

/* Up to two names before or after `which`: mostly as the groups and systems are numbered, else
 * there may be a cycle. */
static void draw_names(test_random *random, uint32_t which, const char *before[2],
                       const char *after[2])
{
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = below(random, 3); i-- > 0;) {
        uint32_t other = below(random, SYSTEMS + GROUPS);
        uint32_t own = group_of(which), their = group_of(other);
        if (other == which || (own == their && (which >= SYSTEMS || other >= SYSTEMS))) continue;
        uint32_t is_after = own == their ? other < which : their < own;
        if (below(random, 50) == 0) is_after = 1 - is_after;
        (is_after ? after : before)[counts[is_after]++] = g.names[other];
        if (is_after)
            order(other, which);
        else
            order(which, other);
    }
}

static void draw_system(test_random *random, uint32_t number)
{
    const char *before[2] = {NULL, NULL}, *after[2] = {NULL, NULL};
    const enum kind kind = g.kinds[number];
    const uint32_t group = g.groups[number];
    draw_names(random, number, before, after);
    g.leads[begin_of(group)][number] = g.leads[number][begin_of(group) + 1] = true;
    weft_system_desc desc = {.name = g.names[number],
                             .run = run,
                             .user = &g.kinds[number],
                             .group = g.names[SYSTEMS + group],
                             .before = {before[0], before[1]},
                             .after = {after[0], after[1]}};
    if (kind == MAIN) desc.flags = WEFT_SYSTEM_MAIN_THREAD;
    if (kind == ALONE) desc.flags = WEFT_SYSTEM_EXCLUSIVE;
    if (kind == RECORDS) desc.effects = WEFT_RECORDS_CREATE;
    if (kind == SEEN) desc.over.rows.terms[0] = (weft_term){.component = t.a};
    make(&desc);
}

static void draw(test_random *random)
{
    memset(g.leads, 0, sizeof g.leads);
    memset(g.is_named, 0, sizeof g.is_named);
    for (uint32_t i = 0; i < SYSTEMS + GROUPS; i++)
        snprintf(g.names[i], sizeof g.names[i], "%c%u", i < SYSTEMS ? 's' : 'g', i);
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        g.kinds[i] = (enum kind)below(random, KINDS);
        g.groups[i] = below(random, GROUPS);
    }
    for (uint32_t i = 0; i < GROUPS; i++) {
        const char *before[2] = {NULL, NULL}, *after[2] = {NULL, NULL};
        draw_names(random, SYSTEMS + i, before, after);
        g.leads[begin_of(i)][begin_of(i) + 1] = true;
        CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = g.names[SYSTEMS + i],
                                                            .before = {before[0], before[1]},
                                                            .after = {after[0], after[1]}}));
    }
    for (uint32_t i = 0; i < SYSTEMS; i++) draw_system(random, i);
    for (uint32_t k = 0; k < NODES; k++)
        for (uint32_t i = 0; i < NODES; i++)
            for (uint32_t j = 0; j < NODES && g.leads[i][k]; j++)
                if (g.leads[k][j]) g.leads[i][j] = true;
}

static bool is_cyclic(void)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (g.leads[i][i]) return true;
    return false;
}

static bool is_unseen(uint32_t number)
{
    return g.kinds[number] != SEEN && g.kinds[number] != ALONE;
}

/* How many pairs were in order. */
static uint32_t check_step(void)
{
    uint32_t pairs = 0;
    memset(g.first, 0, sizeof g.first);
    memset(g.last, 0, sizeof g.last);
    CHECK_OK(weft_world_step(t.world, 0.25f));
    for (uint32_t a = 0; a < SYSTEMS; a++)
        for (uint32_t b = 0; b < SYSTEMS; b++) {
            if (!g.is_named[a][b] && !(g.leads[a][b] && is_unseen(a) && is_unseen(b))) continue;
            CHECK(g.first[a] != 0 && g.last[a] < g.first[b]);
            pairs++;
        }
    return pairs;
}

PLAIN_TEST(what_a_way_leads_to_runs_after_it)
{
    test_random random = test_random_init(35);
    uint32_t pairs = 0, cycles = 0;
    for (uint32_t round = 0; round < 600; round++) {
        begin(1 + round % 3);
        draw(&random);
        if (is_cyclic()) {
            CHECK_RESULT(weft_world_step(t.world, 0.25f), WEFT_CYCLE);
            cycles++;
        } else {
            pairs += check_step();
            CHECK_OK(weft_schedule_set(t.world, &(weft_schedule_desc){.is_always_parallel = true,
                                                                      .shuffle_seed = round + 1}));
            pairs += check_step();
        }
        end();
    }
    CHECK(cycles > 20 && cycles < 580 && pairs > 2000);
}

/* ---- numbers ---- */

static weft_a32 x_a_runs, x_b_runs; /* relaxed: counts; the schedule orders them */

static void run_a(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
    CHECK(at_load_rlx(&x_b_runs) == 0);
    at_add_rlx(&x_a_runs, 1u);
}

static void run_b(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
    CHECK(at_load_rlx(&x_a_runs) == MANY / 2);
    at_add_rlx(&x_b_runs, 1u);
}

static void make_many(uint32_t count, const char *group, void (*run_one)(weft_slice *, void *))
{
    for (uint32_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%s %u", group, i);
        make(&(weft_system_desc){.name = name, .run = run_one, .group = group});
    }
}

PLAIN_TEST(two_groups_of_2000_systems_have_one_barrier_for_each_system)
{
    for (uint32_t workers = 1; workers <= 2; workers++) {
        begin(workers);
        CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "b", .after = {"a"}}));
        make_many(MANY / 2, "b", run_b);
        make_many(MANY / 2, "a", run_a);
        const weft__scheduler *scheduler = weft__scheduler_of(t.world);
        for (uint32_t step = 0; step < 3; step++) {
            at_store_rlx(&x_a_runs, 0u);
            at_store_rlx(&x_b_runs, 0u);
            CHECK_OK(weft_world_step(t.world, 0.25f));
            CHECK_U64(at_load_rlx(&x_b_runs), MANY / 2);
            CHECK_U64(scheduler->barrier_count, MANY);
            CHECK_U64(scheduler->gate_count, 1);
            for (uint32_t i = 0; i < scheduler->segment_count; i++)
                for (uint32_t k = 0; k < WEFT__PLANS; k++)
                    CHECK(scheduler->segments[i].plans[k].edge_count <= 64 * MANY);
        }
        end();
    }
}

/* Each group before the next: not each before all that come later. */
PLAIN_TEST(groups_in_a_row_have_barriers_to_their_neighbours_only)
{
    char names[FEW][8];
    begin(1);
    for (uint32_t i = 0; i < FEW; i++) {
        snprintf(names[i], sizeof names[i], "g%u", i);
        CHECK_OK(
            weft_group_set(t.world, &(weft_group_desc){.name = names[i],
                                                       .after = {i == 0 ? NULL : names[i - 1]}}));
        make_many(FEW, names[i], nothing);
    }
    CHECK_OK(weft_world_step(t.world, 0.25f));
    const weft__scheduler *scheduler = weft__scheduler_of(t.world);
    CHECK_U64(scheduler->barrier_count, 2 * FEW * (FEW - 1));
    CHECK_U64(scheduler->gate_count, FEW - 1);
    end();
}
