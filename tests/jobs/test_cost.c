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
    for (uint32_t i = 0; i < 160; i++) tiny += weft__cost_is_timed(state(), 10, &limits);
    for (uint32_t i = 0; i < 160; i++) large += weft__cost_is_timed(state(), 900, &limits);
    CHECK_U64(tiny, 10);
    CHECK_U64(large, 160);
}

Test(cost, a_split_that_does_not_gain_raises_the_pay_off_for_a_while)
{
    CHECK(weft__cost_pays(state(), 1000, 1000, 0));
    CHECK(!weft__cost_pays(state(), 999, 1000, 0));
    CHECK(!weft__cost_judge_split(state(), 1000, 990, 0));
    CHECK(!weft__cost_pays(state(), 1900, 1000, 1000000));
    CHECK(weft__cost_pays(state(), 2000, 1000, 1000000));
    CHECK(weft__cost_pays(state(), 1000, 1000, 1000000000)); /* later: it is tried again */
}

Test(cost, each_failure_in_a_row_doubles_the_pause)
{
    uint64_t now = 0, pause = 0;
    for (uint32_t failures = 1; failures <= 3; failures++) {
        uint64_t begun = now;
        weft__cost_judge_split(state(), 1000, 2000, now);
        while (!weft__cost_pays(state(), (uint64_t)1000 << (failures - 1), 1000, now))
            now += 1 << 20;
        CHECK(now - begun > pause);
        pause = now - begun;
        weft__cost_judge_split(state(), 1000, 2000, now); /* the try fails, too */
    }
}

Test(cost, splits_that_gain_clear_the_penalty)
{
    for (uint32_t i = 0; i < 20; i++) weft__cost_judge_split(state(), 1000, 1000, 0);
    CHECK(!weft__cost_pays(state(), 63999, 1000, 0));
    CHECK(weft__cost_pays(state(), 64000, 1000, 0));
    for (uint32_t i = 0; i < 6; i++) CHECK(weft__cost_judge_split(state(), 1000, 500, 0));
    CHECK(weft__cost_pays(state(), 1000, 1000, 0));
}
