/* SPDX-License-Identifier: MIT */
/* test_run_choice.c: which way a segment runs, decided from times that are given: the shorter way
 * is held, disturbed frames do not matter. */
#include "run_choice.h"

#include "plain.h"

/* Frames of a segment that takes stages_ns or graph_ns, but ten times as long whenever `disturbed`
 * (a period; 0: never) divides the number of the frame; returns how many ran as a graph. */
static uint32_t choose_frames(weft__segment_choice *choice, uint32_t count, uint64_t stages_ns,
                              uint64_t graph_ns, uint32_t disturbed)
{
    uint32_t graphs = 0;
    for (uint32_t i = 1; i <= count; i++) {
        weft__way way = WEFT__WAY_STAGES;
        if (choice->rest != 0)
            choice->rest--;
        else {
            way = weft__segment_choice_way(choice);
            uint64_t ns = way == WEFT__WAY_GRAPH ? graph_ns : stages_ns;
            if (disturbed != 0 && i % disturbed == 0) ns *= 10;
            weft__segment_choice_learn(choice, way, ns, 2);
        }
        graphs += way == WEFT__WAY_GRAPH;
    }
    return graphs;
}

PLAIN_TEST(the_way_that_takes_less_time_is_held)
{
    const uint32_t frames = 4000, compared = 2 * WEFT__MATCH_RUNS;
    for (uint32_t disturbed = 0; disturbed <= 24; disturbed += 6) {
        weft__segment_choice choice = {.rest = 0}, other = choice;
        uint32_t graphs = choose_frames(&choice, frames, 100000, 95000, disturbed);
        CHECK(graphs >= frames - 6 * compared); /* 128 frames, then 256, 512, 1024, 1024 */
        graphs = choose_frames(&other, frames, 95000, 100000, disturbed);
        CHECK(graphs >= WEFT__MATCH_RUNS && graphs <= 6 * compared);
    }
}

PLAIN_TEST(a_way_that_is_much_slower_runs_four_times_only)
{
    weft__segment_choice choice = {.rest = 0};
    const uint32_t clear = WEFT__MATCH_CLEAR_RUNS;
    CHECK_U64(choose_frames(&choice, 2 * clear, 100000, 60000, 0), clear);
    CHECK_U64(choose_frames(&choice, WEFT__HOLD_LEAST, 100000, 60000, 0), WEFT__HOLD_LEAST);
    CHECK_U64(choose_frames(&choice, 2 * clear, 100000, 60000, 0), clear);
}

PLAIN_TEST(short_segments_run_stage_after_stage)
{
    weft__segment_choice choice = {.rest = 0};
    CHECK_U64(choose_frames(&choice, 1000, WEFT__GRAPH_LEAST_NS - 1, 1000, 0), 0);
    choice = (weft__segment_choice){.rest = 0};
    choose_frames(&choice, 100, 100000, 60000, 0);
    CHECK_U64(choose_frames(&choice, 1000, 14000, 14000, 0),
              WEFT__HOLD_OTHER_RUNS + 1); /* it has become short */
}

/* Stages take long enough, and a graph much less. */
PLAIN_TEST(a_short_graph_is_a_gain)
{
    weft__segment_choice choice = {.rest = 0};
    CHECK(choose_frames(&choice, 1000, 2 * WEFT__GRAPH_LEAST_NS, 10000, 0) >= 980);
}

/* Every fourth frame takes ten times as long, whichever frame of a match is the first of them. */
PLAIN_TEST(work_of_every_fourth_frame_does_not_decide)
{
    for (uint32_t phase = 0; phase < 4; phase++) {
        weft__segment_choice choice = {.rest = 0};
        for (uint32_t i = 0; i < 2 * WEFT__MATCH_RUNS; i++) {
            weft__way way = weft__segment_choice_way(&choice);
            uint64_t ns = way == WEFT__WAY_GRAPH ? 95000 : 100000;
            weft__segment_choice_learn(&choice, way, i % 4 == phase ? 10 * ns : ns, 2);
        }
        CHECK_U64(choice.way, WEFT__WAY_GRAPH);
        CHECK(choice.runs_left != 0);
    }
}

/* The frame does as much as before, but the graph no longer suits it. */
PLAIN_TEST(a_graph_that_becomes_slow_is_compared_soon)
{
    weft__segment_choice choice = {.rest = 0};
    choose_frames(&choice, 2000, 100000, 60000, 0);
    CHECK_U64(choice.hold, WEFT__HOLD_MOST);
    CHECK(choose_frames(&choice, 200, 100000, 150000, 0) <=
          WEFT__HOLD_OTHER_RUNS + WEFT__MATCH_RUNS);
    CHECK_U64(choice.way, WEFT__WAY_STAGES);
}
