/* SPDX-License-Identifier: MIT */
/* test_clock.c: what time it is: numbers and times of steps, rests of fixed rates, paused groups,
 * and timers, the last also in random order against a naive model. */
#include "systems_bed.h"

#include "random.h"

#include <math.h>
#include <weft/snapshot.h>

/* The runs of a system, and the frame of the last one. */
typedef struct runs {
    uint32_t count;
    weft_frame frames[64];
} runs;

static void note(weft_slice *s, void *user)
{
    runs *r = user;
    r->frames[r->count % 64] = weft_slice_frame(s);
    CHECK_F64((double)weft_slice_dt(s), (double)r->frames[r->count % 64].dt, 0);
    r->count++;
}

static void step(float dt)
{
    CHECK_OK(weft_world_step(t.world, dt));
}

/* ---- steps ---- */

static void check_frame(weft_frame frame, uint64_t number, double time, double dt)
{
    CHECK_U64(frame.number, number);
    CHECK_F64(frame.time, time, 1e-12);
    CHECK_F64((double)frame.dt, dt, 0);
}

static void steps_are_counted(void)
{
    runs all = {0};
    check_frame(weft_world_frame(t.world), 0, 0, 0);
    make(SYSTEM_OF(note, .user = &all));
    for (uint32_t i = 1; i <= 4; i++) {
        step(0.25f);
        check_frame(weft_world_frame(t.world), i, 0.25 * i, 0.25);
        check_frame(all.frames[i - 1], i, 0.25 * i, 0.25);
    }
    CHECK_RESULT(weft_world_step(t.world, -1), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_system_run(t.world, weft_system_find(t.world, "x"), 0.5f));
    check_frame(all.frames[4], 4, 1, 0.5);
    make(&(weft_system_desc){.name = "y", .run = nothing, .after = {"y"}});
    CHECK_RESULT(weft_world_step(t.world, 1), WEFT_CYCLE);
    check_frame(weft_world_frame(t.world), 4, 1, 0.25);
}

PLAIN_TEST(a_step_knows_its_number_and_time)
{
    on_workers(steps_are_counted);
}

PLAIN_TEST(a_world_without_systems_counts_its_steps)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    CHECK_OK(weft_world_step(world, 0.5f));
    CHECK_OK(weft_world_step(world, 0.25f));
    check_frame(weft_world_frame(world), 2, 0.75, 0.25);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(the_time_of_a_group_passes_before_it_has_systems)
{
    weft_world *world;
    runs late = {0};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    CHECK_OK(weft_group_set(world, &(weft_group_desc){.name = "fixed", .period = 0.5f}));
    CHECK_OK(weft_world_step(world, 0.25f));
    CHECK_F64((double)weft_world_alpha(world, "fixed"), 0.5, 0);
    weft_system_create(
        world, &(weft_system_desc){.name = "late", .run = note, .user = &late, .group = "fixed"});
    CHECK_OK(weft_world_step(world, 0.25f));
    CHECK_U64(late.count, 1);
    CHECK_OK(weft_world_destroy(world));
}

/* Three ticks of a quarter in a step of 0.875 s, each at its own time. */
static void ticks_have_times(void)
{
    runs own = {0}, group = {0};
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "fixed", .period = 0.25f}));
    make(SYSTEM_OF(note, .user = &own, .period = 0.25f));
    make(&(weft_system_desc){.name = "y", .run = note, .user = &group, .group = "fixed"});
    step(0.875f);
    step(0.125f);
    CHECK_U64(own.count, 4);
    CHECK_U64(group.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        check_frame(own.frames[i], i < 3 ? 1 : 2, 0.25 * (i + 1), 0.25);
        check_frame(group.frames[i], i < 3 ? 1 : 2, 0.25 * (i + 1), 0.25);
    }
}

PLAIN_TEST(ticks_of_a_fixed_rate_have_times_of_their_own)
{
    on_workers(ticks_have_times);
}

static void note_alpha(weft_slice *s, void *user)
{
    *(float *)user = weft_world_alpha(weft_slice_world(s), "fixed");
}

PLAIN_TEST(the_rest_of_a_rate_is_what_a_drawing_system_interpolates_with)
{
    float alpha = -1;
    begin(1);
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "fixed", .period = 0.5f}));
    make(&(weft_system_desc){.name = "move", .run = nothing, .group = "fixed"});
    make(&(weft_system_desc){.name = "own", .run = nothing, .period = 0.25f});
    make(&(weft_system_desc){.name = "draw", .run = note_alpha, .user = &alpha});
    static const double want[] = {0.25, 0.5, 0.75, 0, 0.25};
    for (uint32_t i = 0; i < 5; i++) {
        step(0.125f);
        CHECK_F64((double)alpha, want[i], 0);
        CHECK_F64((double)weft_world_alpha(t.world, "move"), want[i], 0);
        CHECK_F64((double)weft_world_alpha(t.world, "own"), i % 2 == 0 ? 0.5 : 0, 0);
        CHECK_F64((double)weft_world_alpha(t.world, "draw"), 0, 0);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        step(0.1f);
        alpha = weft_world_alpha(t.world, "fixed");
        CHECK(alpha >= 0 && alpha < 1);
    }
    CHECK_F64((double)weft_world_alpha(t.world, "unknown"), 0, 0);
    check_error(WEFT_NOT_FOUND, "unknown");
    CHECK_F64((double)weft_world_alpha(t.world, NULL), 0, 0);
    check_error(WEFT_NOT_FOUND, "no system or group is named ''");
    end();
}

PLAIN_TEST(a_paused_group_goes_on_where_it_was)
{
    runs slow = {0}, free = {0};
    begin(1);
    CHECK_RESULT(weft_group_enable(t.world, "slow", false), WEFT_NOT_FOUND);
    check_error(WEFT_NOT_FOUND, "slow");
    CHECK_OK(weft_group_set(t.world,
                            &(weft_group_desc){.name = "slow", .after = {"default"}, .period = 1}));
    make(SYSTEM_OF(note, .user = &slow, .group = "slow"));
    make(&(weft_system_desc){.name = "y", .run = note, .user = &free});
    step(0.75f);
    CHECK_OK(weft_group_enable(t.world, "slow", false));
    for (uint32_t i = 0; i < 5; i++) step(10);
    CHECK_U64(slow.count, 0);
    CHECK_OK(weft_group_enable(t.world, "slow", true));
    step(0.125f);
    CHECK_U64(slow.count, 0); /* the pause did not count */
    step(0.125f);
    CHECK_U64(slow.count, 1); /* and the rate is still there */
    CHECK_U64(free.count, 8);
    CHECK_RESULT(weft_group_enable(t.world, NULL, true), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_group_enable(t.world, "slo", true), WEFT_NOT_FOUND);
    CHECK_OK(weft_group_enable(t.world, "default", false)); /* named by a system only */
    step(1);
    CHECK_U64(free.count, 8);
    end();
}

/* ---- timers ---- */

static weft_system timer(const char *name, runs *r, const char *group)
{
    return make(&(weft_system_desc){
        .name = name, .run = note, .user = r, .flags = WEFT_SYSTEM_TIMER, .group = group});
}

PLAIN_TEST(a_timer_runs_its_system_once)
{
    runs r = {0};
    begin(1);
    weft_system system = timer("x", &r, NULL);
    CHECK(weft_timer_left(t.world, system) < 0);
    step(1);
    CHECK_U64(r.count, 0);
    CHECK_OK(weft_timer_set(t.world, system, 1));
    step(0.5f);
    CHECK_F64(weft_timer_left(t.world, system), 0.5, 0);
    CHECK_U64(r.count, 0);
    step(0.5f);
    CHECK_U64(r.count, 1);
    CHECK(weft_timer_left(t.world, system) < 0);
    step(5);
    CHECK_U64(r.count, 1);
    CHECK_OK(weft_timer_set(t.world, system, 0));
    step(0);
    CHECK_U64(r.count, 2); /* the next step, however long */
    CHECK_OK(weft_timer_set(t.world, system, 1));
    CHECK_OK(weft_timer_set(t.world, system, 2));
    step(1.5f);
    CHECK_U64(r.count, 2); /* the second call replaced the first */
    CHECK_OK(weft_timer_stop(t.world, system));
    CHECK_OK(weft_timer_stop(t.world, system));
    step(1.5f);
    CHECK_U64(r.count, 2);
    CHECK_OK(weft_timer_set(t.world, system, 1));
    for (uint32_t i = 0; i < 59; i++) step(1.0f / 60);
    CHECK_U64(r.count, 2);
    for (uint32_t i = 59; i < 61; i++) step(1.0f / 60); /* floats of 1/60 are a bit long */
    CHECK_U64(r.count, 3);
    end();
}

PLAIN_TEST(wrong_timers_are_refused)
{
    runs r = {0};
    begin(1);
    weft_system system = timer("x", &r, NULL);
    weft_system other = make(&(weft_system_desc){.name = "y", .run = nothing});
    CHECK_RESULT(weft_timer_set(t.world, other, 1), WEFT_INVALID_ARGUMENT);
    check_error(WEFT_INVALID_ARGUMENT, "WEFT_SYSTEM_TIMER");
    CHECK_RESULT(weft_timer_stop(t.world, other), WEFT_INVALID_ARGUMENT);
    CHECK(weft_timer_left(t.world, other) < 0);
    static const double bad[] = {-1, (double)NAN, (double)INFINITY, -(double)INFINITY};
    for (uint32_t i = 0; i < 4; i++)
        CHECK_RESULT(weft_timer_set(t.world, system, bad[i]), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_timer_set(t.world, (weft_system){77}, 1), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_timer_set(NULL, system, 1), WEFT_INVALID_ARGUMENT);
    weft_cursor cursor = weft_query_begin(t.world, t.all);
    CHECK_RESULT(weft_timer_set(t.world, system, 1), WEFT_WRONG_PHASE);
    weft_query_end(&cursor);
    CHECK(weft_timer_left(t.world, system) < 0);
    CHECK_U64(weft_system_create(t.world, &(weft_system_desc){.name = "z",
                                                              .run = nothing,
                                                              .period = 1,
                                                              .flags = WEFT_SYSTEM_TIMER})
                  .id,
              0);
    check_error(WEFT_INVALID_ARGUMENT, "period");
    end();
}

static bool ask_flag(weft_world *world, void *user)
{
    (void)world;
    return ((const runs *)user)->frames[63].number != 0;
}

PLAIN_TEST(a_condition_puts_a_timer_off_and_does_not_lose_it)
{
    runs r = {0};
    begin(1);
    weft_system system =
        make(SYSTEM_OF(note, .user = &r, .flags = WEFT_SYSTEM_TIMER, .run_if = ask_flag));
    CHECK_OK(weft_timer_set(t.world, system, 1));
    for (uint32_t i = 0; i < 4; i++) step(1);
    CHECK_U64(r.count, 0);
    CHECK_F64(weft_timer_left(t.world, system), 0, 0);
    r.frames[63].number = 1;
    step(0);
    CHECK_U64(r.count, 1);
    step(1);
    CHECK_U64(r.count, 1);
    end();
}

PLAIN_TEST(a_timer_in_a_group_with_a_rate_counts_what_has_passed_of_the_tick)
{
    runs r = {0};
    begin(1);
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "fixed", .period = 1}));
    weft_system system = timer("x", &r, "fixed");
    step(0.75f);
    CHECK_OK(weft_timer_set(t.world, system, 1.5));
    CHECK_F64(weft_timer_left(t.world, system), 1.5, 0);
    step(0.5f); /* a tick */
    CHECK_F64(weft_timer_left(t.world, system), 1, 0);
    CHECK_OK(weft_system_enable(t.world, system, false));
    step(0.5f);
    CHECK_F64(weft_timer_left(t.world, system), 1, 0);
    CHECK_OK(weft_system_enable(t.world, system, true));
    step(1); /* a tick after a quarter of a second: too early */
    CHECK_F64(weft_timer_left(t.world, system), 0, 0);
    CHECK_U64(r.count, 0);
    step(0.25f);
    CHECK_U64(r.count, 1);
    end();
}

PLAIN_TEST(a_timer_of_0_waits_for_a_tick_in_a_group_with_a_rate_however_it_got_it)
{
    runs r = {0};
    begin(1);
    for (uint32_t way = 0; way < 3; way++) { /* the rate was there, after a rest, comes later */
        CHECK_OK(weft_group_set(t.world,
                                &(weft_group_desc){.name = "fixed", .period = way == 2 ? 0 : 1}));
        weft_system system = timer("x", &r, "fixed");
        if (way == 1) step(0.25f);
        CHECK_OK(weft_timer_set(t.world, system, 0));
        if (way == 2)
            CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "fixed", .period = 1}));
        CHECK_F64(weft_timer_left(t.world, system), 0, 0);
        step(0.5f);
        CHECK_U64(r.count, way);
        CHECK_F64(weft_timer_left(t.world, system), 0, 0);
        step(0.5f);
        CHECK_U64(r.count, way + 1);
        CHECK_F64((double)r.frames[way].dt, 1, 0);
        CHECK(weft_timer_left(t.world, system) < 0);
        CHECK_OK(weft_system_destroy(t.world, system));
    }
    end();
}

PLAIN_TEST(a_timer_that_its_condition_put_off_does_not_wait_for_a_tick)
{
    runs r = {0};
    begin(1);
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "fixed", .period = 1}));
    weft_system system = make(SYSTEM_OF(note, .user = &r, .flags = WEFT_SYSTEM_TIMER,
                                        .run_if = ask_flag, .group = "fixed"));
    CHECK_OK(weft_timer_set(t.world, system, 1));
    step(1);
    CHECK_U64(r.count, 0);
    r.frames[63].number = 1;
    CHECK_OK(weft_group_enable(t.world, "fixed", false));
    step(0.25f);
    CHECK_U64(r.count, 0);
    CHECK_OK(weft_group_enable(t.world, "fixed", true));
    step(0.25f);
    CHECK_U64(r.count, 1);
    step(3);
    CHECK_U64(r.count, 1);
    end();
}

PLAIN_TEST(a_timer_that_its_condition_put_off_does_not_wait_for_a_tick_of_another_rate)
{
    runs r = {0};
    begin(1);
    weft_system system = make(SYSTEM_OF(note, .user = &r, .flags = WEFT_SYSTEM_TIMER,
                                        .run_if = ask_flag, .group = "fixed"));
    CHECK_OK(weft_timer_set(t.world, system, 0.5));
    step(1);
    CHECK_U64(r.count, 0);
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "fixed", .period = 1}));
    CHECK_F64(weft_timer_left(t.world, system), 0, 0);
    r.frames[63].number = 1;
    step(0.25f);
    CHECK_U64(r.count, 1);
    end();
}

/* A chain: the exclusive system of a timer sets the next one. */
static void set_again(weft_slice *s, void *user)
{
    runs *r = user;
    note(s, user);
    weft_world *world = weft_slice_world(s);
    if (r->count < 3) CHECK_OK(weft_timer_set(world, weft_system_find(world, "x"), 0.5));
}

PLAIN_TEST(an_exclusive_system_sets_timers)
{
    runs r = {0};
    begin(1);
    weft_system system =
        make(SYSTEM_OF(set_again, .user = &r, .flags = WEFT_SYSTEM_TIMER | WEFT_SYSTEM_EXCLUSIVE));
    CHECK_OK(weft_timer_set(t.world, system, 0.25));
    for (uint32_t i = 0; i < 20; i++) step(0.25f);
    CHECK_U64(r.count, 3);
    for (uint32_t i = 0; i < 3; i++) CHECK_U64(r.frames[i].number, 1 + 2 * i);
    end();
}

PLAIN_TEST(timers_and_the_clock_are_part_of_a_snapshot)
{
    runs r = {0};
    weft_snapshot *snapshot;
    begin(1);
    weft_system system = timer("x", &r, NULL);
    step(0.5f);
    CHECK_OK(weft_timer_set(t.world, system, 1));
    step(0.75f);
    CHECK_OK(weft_snapshot_take(t.world, NULL, &snapshot));
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_F64(weft_timer_left(t.world, system), 0.25, 0);
        check_frame(weft_world_frame(t.world), 2, 1.25, 0.75);
        step(0.25f);
        CHECK_U64(r.count, i);
        step(1);
        CHECK_U64(r.count, i);
        runs younger = {0};
        weft_system late = timer("late", &younger, NULL);
        CHECK_OK(weft_timer_set(t.world, late, 1));
        CHECK_OK(weft_snapshot_restore(t.world, snapshot));
        CHECK(weft_timer_left(t.world, late) < 0); /* it was not there */
        CHECK_OK(weft_system_destroy(t.world, late));
    }
    weft_snapshot_destroy(snapshot);
    end();
}

/* The model counts 64ths of a second, which floats hold exactly. */
enum { TIMERS = 6, UNIT = 64, CATCH_UP = 8 };

typedef struct model {
    runs runs[TIMERS];
    weft_system systems[TIMERS];
    bool is_set[TIMERS];
    int64_t left[TIMERS]; /* not above 0: waits for a tick */
    bool is_enabled[TIMERS];
    uint32_t expected[TIMERS];
    bool is_running[2]; /* groups: every step, fixed */
    int64_t rest, period;
    uint64_t tick_time[TIMERS]; /* when the last run was, in units */
    int64_t now;
} model;

static const char *const groups[] = {"free", "fixed"};

static void model_run(model *m, uint32_t i, int64_t time)
{
    m->is_set[i] = false;
    m->expected[i]++;
    m->tick_time[i] = (uint64_t)time;
}

/* Of the fixed group: the first of `ticks` at which the time has passed. */
static void model_ticks(model *m, uint32_t i, int64_t ticks, int64_t rest_before)
{
    for (int64_t tick = 1; tick <= ticks; tick++) {
        if (tick * m->period - rest_before < m->left[i]) continue;
        model_run(m, i, m->now - m->rest - (ticks - tick) * m->period);
        return;
    }
    m->left[i] -= ticks * m->period + m->rest - rest_before;
}

static void model_step(model *m, int64_t units)
{
    const int64_t rest_before = m->rest;
    m->now += units;
    if (m->is_running[1]) m->rest += units;
    int64_t ticks = m->rest / m->period;
    m->rest %= m->period;
    if (ticks > CATCH_UP) ticks = CATCH_UP;
    for (uint32_t i = 0; i < TIMERS; i++) {
        if (!m->is_set[i] || !m->is_enabled[i] || !m->is_running[i % 2]) continue;
        if (i % 2 == 1)
            model_ticks(m, i, ticks, rest_before);
        else if (m->left[i] <= units)
            model_run(m, i, m->now);
        else
            m->left[i] -= units;
    }
}

static void check_model(const model *m)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        const runs *r = &m->runs[i];
        CHECK_U64(r->count, m->expected[i]);
        double expected = m->left[i] > 0 ? (double)m->left[i] / UNIT : 0;
        CHECK_F64(weft_timer_left(t.world, m->systems[i]), m->is_set[i] ? expected : -1, 2e-9);
        if (r->count != 0)
            CHECK_F64(r->frames[(r->count - 1) % 64].time, (double)m->tick_time[i] / UNIT, 0);
    }
}

static void change(model *m, test_random *random)
{
    uint32_t i = (uint32_t)test_random_below(random, TIMERS);
    switch (test_random_below(random, 6)) {
    case 0:
    case 1:
        m->left[i] = (int64_t)test_random_below(random, test_random_below(random, 4) ? 200 : 2);
        m->is_set[i] = true;
        CHECK_OK(weft_timer_set(t.world, m->systems[i], (double)m->left[i] / UNIT));
        break;
    case 2:
        m->is_set[i] = false;
        CHECK_OK(weft_timer_stop(t.world, m->systems[i]));
        break;
    case 3:
        m->is_enabled[i] = !m->is_enabled[i];
        CHECK_OK(weft_system_enable(t.world, m->systems[i], m->is_enabled[i]));
        break;
    case 4:
        m->rest = 0;
        m->period = 1 + (int64_t)test_random_below(random, 40);
        CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "fixed",
                                                            .period = (float)m->period / UNIT,
                                                            .is_disabled = !m->is_running[1]}));
        break;
    default:
        m->is_running[i % 2] = !m->is_running[i % 2];
        CHECK_OK(weft_group_enable(t.world, groups[i % 2], m->is_running[i % 2]));
    }
}

static void run_model(uint64_t seed)
{
    test_random random = test_random_init(seed);
    static model m;
    m = (model){.is_running = {true, true}};
    begin(1);
    m.period = 1 + (int64_t)test_random_below(&random, 40);
    CHECK_OK(weft_group_set(t.world, &(weft_group_desc){.name = "free"}));
    CHECK_OK(weft_group_set(t.world,
                            &(weft_group_desc){.name = "fixed", .period = (float)m.period / UNIT}));
    static const char *const names[TIMERS] = {"t0", "t1", "t2", "t3", "t4", "t5"};
    for (uint32_t i = 0; i < TIMERS; i++) {
        m.systems[i] = timer(names[i], &m.runs[i], groups[i % 2]);
        m.is_enabled[i] = true;
    }
    for (uint32_t i = 0; i < 200; i++) {
        for (uint64_t k = test_random_below(&random, 3); k > 0; k--) change(&m, &random);
        int64_t units = (int64_t)test_random_below(&random, 90);
        step((float)units / UNIT);
        model_step(&m, units);
        check_model(&m);
    }
    end();
}

PLAIN_TEST(random_timers_do_what_a_naive_model_says)
{
    for (uint64_t seed = 1; seed <= 60; seed++) run_model(seed);
}

PLAIN_TEST(a_loaded_world_goes_on_counting)
{
    weft_world_bytes bytes = {0};
    weft_world *loaded;
    begin(1);
    for (uint32_t i = 0; i < 3; i++) step(0.25f);
    CHECK_OK(weft_world_save_memory(t.world, &bytes, NULL));
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &loaded));
    CHECK_OK(weft_world_load_memory(loaded, bytes.bytes, bytes.count, NULL));
    check_frame(weft_world_frame(loaded), 3, 0.75, 0.25);
    CHECK_OK(weft_world_step(loaded, 0.5f));
    check_frame(weft_world_frame(loaded), 4, 1.25, 0.5);
    CHECK_OK(weft_world_destroy(loaded));
    weft_world_bytes_free(t.world, &bytes);
    end();
}
