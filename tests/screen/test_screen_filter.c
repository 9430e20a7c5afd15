/* SPDX-License-Identifier: MIT */
/* test_screen_filter.c: which approaches are told, and how they are ranked: names, groups,
 * distances, pairs that meet again.
 */
#include "screen_filter.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"
#include "screen_rank.h"

enum { OBJECTS = 80, APPROACHES = 5 };

/* 40 ALPHA, 39 BETA and the ISS; approaches of each kind, two of them of one pair. */
struct bed {
    struct tle_object objects[OBJECTS];
    struct screen_approach approaches[APPROACHES];
    struct screen_result result;
};

static void bed_init(struct bed *bed)
{
    static const uint32_t pairs[APPROACHES][2] = {{0, 1}, {0, 41}, {42, 43}, {5, 79}, {0, 1}};
    memset(bed, 0, sizeof *bed);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        struct tle_object *o = &bed->objects[i];
        o->number = 100 + i;
        snprintf(o->name, sizeof o->name,
                 i == 79  ? "ISS (ZARYA)"
                 : i < 40 ? "ALPHA-%u"
                          : "BETA-%u",
                 i);
        o->elements = (struct sgp4_elements){
            .epoch_day = 2461263.5, .mean_motion = 0.07, .inclination = 1.0, .node = 0.01 * i};
    }
    for (uint32_t i = 0; i < APPROACHES; i++)
        bed->approaches[i] = (struct screen_approach){.tca_s = 100.0 * i,
                                                      .miss_km = 1.0 + i,
                                                      .vrel_km_s = 1.0,
                                                      .object_a = pairs[i][0],
                                                      .object_b = pairs[i][1]};
    bed->result.catalogue = (struct tle_catalogue){.objects = bed->objects, .count = OBJECTS};
    bed->result.window = (struct approach_window){
        .start = {.day = 2461273.5}, .step_s = 10, .step_count = 100, .threshold_km = 10};
    bed->result.approaches = bed->approaches;
    bed->result.approach_count = APPROACHES;
    CHECK(constellations_init(&bed->result.groups, &bed->result.catalogue) == 0);
}

static void expect(const struct screen_options *o, uint32_t approaches)
{
    struct bed bed;
    struct screen_filter filter;
    bed_init(&bed);
    CHECK(screen_filter_init(&filter, o, &bed.result) == WEFT_CLI_OK);
    screen_filter_apply(&filter, &bed.result);
    CHECK_U64(bed.result.approach_count, approaches);
    CHECK_U64(bed.result.hidden_count, APPROACHES - approaches);
    screen_filter_fini(&filter);
    constellations_fini(&bed.result.groups);
}

Test(screen_filter, names_groups_and_distances_choose)
{
    expect(&(struct screen_options){.objects = NULL}, 5);
    expect(&(struct screen_options){.objects = "iss"}, 1);
    expect(&(struct screen_options){.objects = "179"}, 1);
    expect(&(struct screen_options){.objects = "zarya,141"}, 2);
    expect(&(struct screen_options){.group = "beta"}, 2);
    expect(&(struct screen_options){.group = "ALPHA"}, 4);
    expect(&(struct screen_options){.without_group = "ALPHA"}, 1);
    expect(&(struct screen_options){.group = "BETA", .without_group = "ALPHA"}, 1);
    expect(&(struct screen_options){.max_km = 3.0}, 2);
}

Test(screen_filter, names_that_are_not_there_are_refused)
{
    const struct screen_options wrong[] = {
        {.objects = "HUBBLE"}, {.objects = "ISS,99"}, {.group = "GAMMA"}, {.without_group = "ISS"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bed bed;
        struct screen_filter filter;
        bed_init(&bed);
        CHECK(screen_filter_init(&filter, &wrong[i], &bed.result) == WEFT_CLI_FOUND);
        screen_filter_fini(&filter);
        constellations_fini(&bed.result.groups);
    }
}

Test(screen_filter, pairs_are_ranked_once_with_their_reason)
{
    struct bed bed;
    struct screen_ranking ranking;
    char reason[SCREEN_WORDS_BYTES], text[SCREEN_WORDS_BYTES];
    bed_init(&bed);
    CHECK(screen_rank(&bed.result, 2, &ranking) == 0);
    CHECK_U64(ranking.count, 2);
    CHECK_U64(ranking.pair_count, 4);
    CHECK(ranking.pairs[0].approach == &bed.approaches[0]);
    CHECK_U64(ranking.pairs[0].times, 2);
    CHECK_F64(ranking.pairs[0].age_days_a, 10.0, 1e-9);
    screen_rank_reason(&bed.result, &ranking.pairs[0], reason);
    CHECK_TEXT(reason, "orbits cross, both of ALPHA, meet 2 times, old elements");
    screen_rank_reason(&bed.result, &ranking.pairs[1], reason);
    CHECK_TEXT(reason, "orbits cross, old elements");
    screen_rank_direction(&ranking.pairs[0], text);
    CHECK(strncmp(text, "same way", 8) == 0);
    screen_ranking_fini(&ranking);
    struct screen_together together = {.object_a = 0, .object_b = 1};
    bed.result.togethers = &together;
    bed.result.together_count = 1;
    CHECK(screen_rank(&bed.result, 10, &ranking) == 0);
    CHECK_U64(ranking.pair_count, 3); /* the pair that is together has a list of its own */
    screen_ranking_fini(&ranking);
    constellations_fini(&bed.result.groups);
}

Test(screen_filter, distances_are_metres_below_a_kilometre)
{
    char text[SCREEN_WORDS_BYTES];
    screen_rank_distance(0.02349, text);
    CHECK_TEXT(text, "23 m");
    screen_rank_distance(0.9996, text);
    CHECK_TEXT(text, "1.00 km");
}
