/* test_cost.c: predictions, their sampling, and splits that did not gain. */
#include "check.h"
#include "cost.h"

#include <criterion/criterion.h>

static weft_job_cost cost;
static const weft__cost_limits limits = {.awake_ticks = 1000, .asleep_ticks = 10000};

static weft__cost_state *state(void)
{
    return weft__cost_state_of(&cost);
}

Test(cost, an_unknown_loop_predicts_nothing)
{
    CHECK_U64(weft__cost_predict(state(), 1000000), 0);
}

Test(cost, the_first_measurement_is_taken_as_it_is)
{
    weft__cost_learn(state(), 5000, 100);
    CHECK_U64(weft__cost_predict(state(), 200), 10000);
    weft__cost_learn(state(), 0, 0); /* no items: nothing learnt */
    CHECK_U64(weft__cost_predict(state(), 200), 10000);
}

Test(cost, an_empty_loop_is_known_to_be_small)
{
    weft__cost_learn(state(), 1, 1000000);
    CHECK(weft__cost_predict(state(), 10000000) > 0);
    CHECK(weft__cost_predict(state(), 10000000) < 100000);
}

Test(cost, one_interrupted_run_changes_little)
{
    weft__cost_learn(state(), 1000, 100);
    weft__cost_learn(state(), 10000000, 100);
    CHECK(weft__cost_predict(state(), 100) < 1500);
    for (uint32_t i = 0; i < 100; i++) weft__cost_learn(state(), 10000000, 100);
    CHECK(weft__cost_predict(state(), 100) > 9000000);
    for (uint32_t i = 0; i < 100; i++) weft__cost_learn(state(), 1000, 100);
    CHECK(weft__cost_predict(state(), 100) < 1100);
}

Test(cost, huge_costs_saturate_instead_of_wrapping)
{
    weft__cost_learn(state(), UINT64_MAX / 2, 1);
    CHECK(weft__cost_predict(state(), UINT32_MAX) > UINT64_C(1) << 60);
}

Test(cost, tiny_loops_are_timed_once_in_sixteen_runs)
{
    uint32_t tiny = 0, large = 0;
    for (uint32_t i = 0; i < 160; i++) tiny += weft__cost_is_timed(state(), 10, limits.awake_ticks);
    for (uint32_t i = 0; i < 160; i++)
        large += weft__cost_is_timed(state(), 900, limits.awake_ticks);
    CHECK_U64(tiny, 10);
    CHECK_U64(large, 160);
}

/* Ticks from a judgement at `now` until the loop may be split again. */
static uint64_t pause_from(uint64_t now)
{
    uint64_t begun = now;
    while (!weft__cost_pays(state(), 1000, 1000, now)) now += 1 << 14;
    return now - begun;
}

Test(cost, only_loops_above_the_pay_off_are_split)
{
    CHECK(weft__cost_pays(state(), 1000, 1000, 0));
    CHECK(!weft__cost_pays(state(), 999, 1000, 0));
}

Test(cost, a_split_that_does_not_gain_pauses_for_64_times_its_loss)
{
    const uint64_t now = UINT64_C(1) << 50;
    CHECK(!weft__cost_judge_split(state(), 640000, 1640000, now));
    CHECK(!weft__cost_pays(state(), 1u << 30, 1000, now)); /* however much it promises */
    uint64_t pause = pause_from(now);
    CHECK(pause >= 64 * (10000 + 1000000));
    CHECK(pause <= 64 * (10000 + 1000000) + (2 << 16));
}

Test(cost, tries_that_fail_cost_a_sixtieth_of_the_time_at_most)
{
    static const uint64_t losses[] = {0, 1000, 100000, 10000000, 60000000};
    for (uint32_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        cost = (weft_job_cost){0};
        uint64_t now = 1000, lost = 0;
        for (uint32_t k = 0; k < 20; k++) {
            CHECK(!weft__cost_judge_split(state(), 600000, 600000 + losses[i], now));
            lost += losses[i];
            now += pause_from(now);
        }
        CHECK(lost * 60 <= now);
        CHECK(now <= 20 * (losses[i] * 64 + (1 << 26) + (2 << 16))); /* and it does come back */
    }
}

Test(cost, each_failure_in_a_row_doubles_the_pause_up_to_a_bound)
{
    uint64_t now = 0, pause = 0;
    for (uint32_t failures = 1; failures <= 4; failures++) {
        weft__cost_judge_split(state(), 640000, 690000, now);
        uint64_t next = pause_from(now);
        CHECK(next > pause + pause / 2);
        now += pause = next;
    }
    weft__cost_judge_split(state(), 640000, 690000, now);
    CHECK(pause_from(now) <= pause + (2 << 16));
}

Test(cost, a_try_interrupted_for_long_is_repeated_after_about_a_second)
{
    weft__cost_judge_split(state(), 640000, UINT64_C(1) << 60, 0);
    uint64_t pause = pause_from(0);
    CHECK(pause > UINT64_C(1) << 31 && pause < UINT64_C(1) << 33);
}

Test(cost, the_retry_time_outlives_the_wrap_of_its_field)
{
    const uint64_t now = (UINT64_C(1) << 56) - 1000; /* the field wraps during the pause */
    weft__cost_judge_split(state(), 640000, 740000, now);
    CHECK(!weft__cost_pays(state(), 1000, 1000, now));
    CHECK(!weft__cost_pays(state(), 1000, 1000, now + 2000));
    CHECK(weft__cost_pays(state(), 1000, 1000, now + 100000000));
}

Test(cost, one_failure_after_64_gains_is_forgiven)
{
    const uint64_t now = UINT64_C(1) << 50;
    for (uint32_t i = 0; i < 64; i++) CHECK(weft__cost_judge_split(state(), 640000, 320000, now));
    CHECK(!weft__cost_judge_split(state(), 640000, 9640000, now));
    CHECK_U64(pause_from(now), 0);
    for (uint32_t i = 0; i < 63; i++) CHECK(weft__cost_judge_split(state(), 640000, 320000, now));
    CHECK(!weft__cost_judge_split(state(), 640000, 1640000, now)); /* too soon after the last */
    CHECK(pause_from(now) >= 64 * (10000 + 1000000));
    CHECK(weft__cost_judge_split(state(), 640000, 320000, now));
    CHECK(!weft__cost_judge_split(state(), 640000, 1640000, now)); /* counting began again */
    CHECK(pause_from(now) >= 64 * (10000 + 1000000));
}

Test(cost, counting_runs_leaves_the_rest_of_the_history_alone)
{
    const uint64_t now = UINT64_C(1) << 50;
    for (uint32_t i = 0; i < 64; i++) weft__cost_judge_split(state(), 640000, 320000, now);
    for (uint32_t i = 0; i < 200; i++) weft__cost_is_timed(state(), 10, limits.awake_ticks);
    CHECK(!weft__cost_judge_split(state(), 640000, 9640000, now));
    CHECK_U64(pause_from(now), 0); /* the gains were still there */
    for (uint32_t i = 0; i < 200; i++) weft__cost_is_timed(state(), 10, limits.awake_ticks);
    CHECK_U64(weft__cost_failures(state()), 0);
}

Test(cost, a_split_that_gains_ends_the_pauses)
{
    for (uint32_t i = 0; i < 20; i++) CHECK(!weft__cost_judge_split(state(), 640000, 640000, 0));
    CHECK(!weft__cost_pays(state(), 1000000, 1000, 0));
    CHECK(weft__cost_judge_split(state(), 640000, 320000, 0));
    CHECK(weft__cost_pays(state(), 1000, 1000, 0));
    CHECK(!weft__cost_judge_split(state(), 640000, 640000, 0)); /* counts as the first again */
    CHECK(pause_from(0) <= 64 * 10000 + (2 << 16));
}
