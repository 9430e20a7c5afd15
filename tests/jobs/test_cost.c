/* SPDX-License-Identifier: MIT */
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
    weft__cost_learn(state(), 4000, 100);
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

Test(cost, one_percent_of_the_time_is_for_measuring_one_worker)
{
    const uint64_t period = WEFT__COST_CHECK_PERIOD, spin = 100000;
    uint64_t checked = 0;
    for (uint64_t now = 5 * period; now < 9 * period; now += 100)
        checked += 100 * weft__cost_is_checked(now, spin);
    CHECK(checked > 4 * spin + 4 * (1 << 15)); /* helpers sleep before it ends */
    CHECK(checked * 100 <= 4 * period);
    CHECK(weft__cost_is_short(64 * 1000, &limits));
    CHECK(!weft__cost_is_short(64 * 1000 + 64, &limits)); /* too long to be wrong */
}

Test(cost, splits_of_short_loops_teach_what_is_wrong_by_more_than_two)
{
    weft__cost_learn(state(), 64000, 100);
    weft__cost_split split = {
        .is_short = true, .predicted = 64000, .wall = 32000, .busy = 128000, .count = 100};
    for (uint32_t i = 0; i < 100; i++) weft__cost_learn_split(state(), &split);
    CHECK_U64(weft__cost_predict(state(), 100), 64000);
    split.busy = 32000;
    for (uint32_t i = 0; i < 100; i++) weft__cost_learn_split(state(), &split);
    CHECK_U64(weft__cost_predict(state(), 100), 64000);
    split.busy = 640000; /* 20 workers: half of it is work for certain */
    weft__cost_learn_split(state(), &split);
    CHECK_U64(weft__cost_predict(state(), 100), 64000 + (320000 - 64000) / 8);
    split.predicted = 96000;
    split.busy = 20000;
    weft__cost_learn_split(state(), &split);
    CHECK_U64(weft__cost_predict(state(), 100), 96000 - (96000 - 20000) / 2);
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

/* Splits of 640,000 ticks that lose `lost` each, until a pause begins; how many. */
static uint64_t fail(uint64_t lost, uint64_t now)
{
    for (uint64_t count = 1; count < 1000; count++) {
        CHECK(!weft__cost_judge_split(state(), 640000, 640000 + lost, now));
        if (pause_from(now) != 0) return count;
    }
    CHECK(false);
    return 0;
}

Test(cost, the_first_failure_is_repeated_at_once)
{
    const uint64_t now = UINT64_C(1) << 50;
    CHECK(!weft__cost_judge_split(state(), 640000, 9640000, now));
    CHECK(weft__cost_pays(state(), 1000, 1000, now));
    CHECK(weft__cost_judge_split(state(), 640000, 320000, now));
    CHECK(weft__cost_pays(state(), 1000, 1000, now));
}

Test(cost, splits_that_do_not_gain_pause_for_8_times_their_loss)
{
    const uint64_t now = UINT64_C(1) << 50;
    uint64_t lost = 1000000 * fail(1000000, now);
    CHECK(!weft__cost_pays(state(), 1u << 30, 1000, now)); /* however much it promises */
    uint64_t pause = pause_from(now);
    CHECK(pause >= 8 * (10000 + lost - 40000)); /* all but the last are kept in sixteenths */
    CHECK(pause <= 8 * (10000 + lost) + (2 << 16));
}

Test(cost, splits_may_lose_a_million_ticks_before_they_pause)
{
    const uint64_t now = UINT64_C(1) << 50;
    CHECK_U64(fail(3000000, now), 2); /* the first is forgiven whatever it lost */
    cost = (weft_job_cost){0};
    CHECK_U64(fail(120000, now), 10); /* a second core whose caches are cold */
    cost = (weft_job_cost){0};
    CHECK_U64(fail(0, now), 28); /* one that does not come counts a sixteenth */
}

Test(cost, a_debt_is_paid_by_gains_before_a_failure_is_repeated_again)
{
    uint64_t now = UINT64_C(1) << 50;
    CHECK(!weft__cost_judge_split(state(), 640000, 640000 * 5, now)); /* lost 65 sixteenths */
    for (uint32_t i = 0; i < 3; i++)                                  /* gained 7 each */
        CHECK(weft__cost_judge_split(state(), 640000, 320000, now));
    CHECK(!weft__cost_judge_split(state(), 640000, 640000, now)); /* too soon after the last */
    CHECK(pause_from(now) >= 8 * 10000);
    now += pause_from(now);
    for (uint32_t i = 0; i < 3; i++) CHECK(weft__cost_judge_split(state(), 640000, 320000, now));
    CHECK(!weft__cost_judge_split(state(), 640000, 640000 * 3, now));
    for (uint32_t i = 0; i < 6; i++) CHECK(weft__cost_judge_split(state(), 640000, 320000, now));
    CHECK(!weft__cost_judge_split(state(), 640000, 640000 * 3, now));
    CHECK_U64(pause_from(now), 0);
}

Test(cost, failures_are_paid_out_of_what_was_gained)
{
    const uint64_t now = UINT64_C(1) << 50;
    for (uint32_t i = 0; i < 40; i++) CHECK(weft__cost_judge_split(state(), 640000, 320000, now));
    uint32_t failures = 0;
    for (; failures < 100 && pause_from(now) == 0; failures++)
        CHECK(!weft__cost_judge_split(state(), 640000, 640000 * 2, now));
    CHECK_U64(failures, 7); /* 17 of 64 sixteenths each; the last three without credit */
}

/* Sixteenths of credit after very many splits of `alone` ticks that gained half. */
static uint64_t credit_of(uint64_t alone)
{
    const uint64_t now = UINT64_C(1) << 50;
    cost = (weft_job_cost){0};
    for (uint32_t i = 0; i < 100000; i++) weft__cost_judge_split(state(), alone, alone / 2, now);
    uint64_t lost = 0;
    for (; lost < 100000 && pause_from(now) == 0; lost++)
        weft__cost_judge_split(state(), alone, alone, now); /* one each */
    return lost - 2;                                        /* the last two had no credit */
}

Test(cost, credit_is_the_time_of_four_loops_at_most)
{
    CHECK_U64(credit_of(UINT64_C(1) << 24), 64);
    CHECK_U64(credit_of(UINT64_C(1) << 32), 64);
}

Test(cost, gains_and_losses_in_turn_pause_when_they_lose_more_than_they_gain)
{
    uint64_t now = 1000, lost = 0, gained = 0;
    for (uint32_t k = 0; k < 200; k++) {
        bool has_failed = k % 2 == 0;
        weft__cost_judge_split(state(), 640000, has_failed ? 640000 * 3 : 320000, now);
        *(has_failed ? &lost : &gained) += has_failed ? 640000 * 2 : 320000;
        now += 640000 + pause_from(now);
    }
    CHECK((lost - gained) * 50 <= now);
}

Test(cost, tries_that_fail_and_fail_cost_a_fiftieth_of_the_time_at_most)
{
    static const uint64_t losses[] = {0, 1000, 100000, 10000000, 60000000};
    for (uint32_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        cost = (weft_job_cost){0};
        uint64_t now = 1000, begun = 0, lost = 0;
        for (uint32_t pauses = 0; pauses < 23; pauses++) {
            if (pauses == 3) begun = now, lost = 0; /* after the three shorter pauses */
            lost += fail(losses[i], now) * losses[i];
            now += pause_from(now);
        }
        uint64_t passed = now - begun;
        bool is_huge = losses[i] > UINT64_C(1) << 25; /* pauses are bounded: about a second */
        CHECK(lost * (is_huge ? 30 : 56) <= passed);  /* losses are kept in sixteenths */
        CHECK(passed <= 20 * 64 * (losses[i] * 2 + (2 << 20))); /* and it does come back */
    }
}

Test(cost, each_pause_in_a_row_is_twice_the_one_before_up_to_a_bound)
{
    uint64_t now = 0;
    for (uint64_t failures = 1; failures <= 8; failures++) {
        uint64_t lost = 10000 + 1000000 * fail(1000000, now), pause = pause_from(now);
        uint64_t most = (failures < 4 ? 4u << failures : 64u) * lost;
        CHECK(pause <= most + (2 << 16) && pause + most / 32 >= most); /* kept in sixteenths */
        now += pause;
    }
}

Test(cost, a_try_interrupted_for_long_is_repeated_within_a_second)
{
    fail(UINT64_C(1) << 60, 0);
    uint64_t pause = pause_from(0);
    CHECK(pause > UINT64_C(1) << 28 && pause < UINT64_C(1) << 30);
}

Test(cost, the_retry_time_outlives_the_wrap_of_its_field)
{
    const uint64_t now = (UINT64_C(1) << 56) - 1000; /* the field wraps during the pause */
    fail(50000, now);
    CHECK(!weft__cost_pays(state(), 1000, 1000, now));
    CHECK(!weft__cost_pays(state(), 1000, 1000, now + 2000));
    CHECK(weft__cost_pays(state(), 1000, 1000, now + 100000000));
}

Test(cost, counting_runs_leaves_the_rest_of_the_history_alone)
{
    const uint64_t now = UINT64_C(1) << 50;
    CHECK(!weft__cost_judge_split(state(), 640000, 9640000, now));
    for (uint32_t i = 0; i < 200; i++) weft__cost_is_timed(state(), 10, limits.awake_ticks);
    CHECK_U64(pause_from(now), 0);
    CHECK(!weft__cost_judge_split(state(), 640000, 640000, now));
    CHECK(pause_from(now) >= 8 * (10000 + 8900000)); /* the debt was still there */
    for (uint32_t i = 0; i < 200; i++) weft__cost_is_timed(state(), 10, limits.awake_ticks);
    CHECK_U64(weft__cost_failures(state()), 1);
}

Test(cost, splits_that_gain_four_loops_end_the_pauses)
{
    for (uint32_t i = 0; i < 3; i++) /* pauses */
        for (uint32_t k = 0; k < 28; k++)
            CHECK(!weft__cost_judge_split(state(), 640000, 640000, 0));
    CHECK(weft__cost_failures(state()) > 1);
    CHECK(!weft__cost_pays(state(), 1000000, 1000, 0));
    CHECK(weft__cost_judge_split(state(), 640000, 590000, 0)); /* one sixteenth of credit ... */
    CHECK(weft__cost_failures(state()) > 1);                   /* ... is no reason to forget */
    for (uint32_t i = 0; i < 9; i++) CHECK(weft__cost_judge_split(state(), 640000, 320000, 0));
    CHECK(weft__cost_pays(state(), 1000, 1000, 0));
    CHECK_U64(weft__cost_failures(state()), 0); /* the next counts as the first again */
}

Test(cost, only_a_split_that_gains_raises_the_estimate_by_much)
{
    weft__cost_learn(state(), 640000, 100);
    const weft__cost_split slow = {
        .predicted = 640000, .wall = 5000000, .busy = 9000000, .count = 100};
    for (uint32_t i = 0; i < 3; i++) weft__cost_learn_split(state(), &slow);
    CHECK(weft__cost_predict(state(), 100) < 640000 + 3 * 20001);
    const weft__cost_split gain = {
        .predicted = 640000, .wall = 500000, .busy = 960000, .count = 100};
    uint64_t before = weft__cost_predict(state(), 100);
    weft__cost_learn_split(state(), &gain);
    CHECK(weft__cost_predict(state(), 100) > before + (960000 - before) / 9);
    const weft__cost_split unknown = {.wall = 1, .busy = 2560000, .count = 100};
    before = weft__cost_predict(state(), 100);
    weft__cost_learn_split(state(), &unknown); /* not judged: believed */
    CHECK(weft__cost_predict(state(), 100) > before + (2560000 - before) / 9);
}

/* Ticks as in `limits`: a wake-up pays from 10,000, a worker searches for 3,000. */
static uint32_t wakes_of_loops(uint32_t count, uint64_t predicted, uint64_t gap)
{
    weft__cost_burst burst = {0};
    uint64_t now = 1;
    uint32_t wakes = 0;
    for (uint32_t i = 0; i < count; i++, now += predicted + gap)
        wakes += weft__cost_burst_wakes(&burst, predicted, now, 3000, limits.asleep_ticks);
    return wakes;
}

Test(cost, a_row_of_short_loops_wakes_a_worker_a_single_one_does_not)
{
    CHECK_U64(wakes_of_loops(1, 9000, 0), 0);
    CHECK_U64(wakes_of_loops(4, 4000, 100), 0);
    CHECK_U64(wakes_of_loops(5, 4000, 100), 1);
    CHECK_U64(wakes_of_loops(20, 4000, 100), 4);
}

Test(cost, loops_that_a_woken_worker_would_not_live_to_see_wake_none)
{
    CHECK_U64(wakes_of_loops(1000, 4000, 3001), 0);
    CHECK_U64(wakes_of_loops(1000, 4000, 2999), 200);
}
