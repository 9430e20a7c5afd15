/* SPDX-License-Identifier: MIT */
/* explore_tag.c: the counts of ecs/src/values/entity_tag.c under every schedule: worlds that are
 * made and ended by several threads at once, with and without a tag that they ask for. No two
 * worlds that ask for none have the same tag while another one is free, and no count is lost. */
#include "entity_tag.h"
#include "explore_plans.h"

#include <weft/world.h>

#define WORLDS 4u
#define TAGS (WEFT__ENTITY_TAG_LAST + 1u)
#define NONE UINT32_MAX

static uint32_t tags[WORLDS]; /* of the living worlds of threads; NONE */
static uint32_t mains[TAGS];  /* worlds of the scenario's own thread, per tag */
static uint32_t numbers[WORLDS] = {0, 1, 2, 3};

static void begin_world(uint32_t number, uint32_t wanted)
{
    EXPLORE_CHECK(tags[number] == NONE, "world %u lives", number);
    tags[number] = weft__entity_tag_obtain(wanted);
    EXPLORE_CHECK(tags[number] < TAGS, "tag %u", tags[number]);
}

static void end_world(uint32_t number)
{
    weft__entity_tag_release(tags[number]);
    tags[number] = NONE;
}

static uint32_t begin_mains(uint32_t wanted)
{
    uint32_t tag = weft__entity_tag_obtain(wanted);
    mains[tag]++;
    return tag;
}

static void end_mains(uint32_t tag)
{
    mains[tag]--;
    weft__entity_tag_release(tag);
}

/* The counts belong to the process: what an execution that failed left behind goes first. */
static void start(void)
{
    static bool is_used;
    for (uint32_t tag = 0; tag < TAGS; tag++)
        while (mains[tag] > 0) end_mains(tag);
    for (uint32_t i = 0; i < WORLDS; i++) {
        if (is_used && tags[i] != NONE) end_world(i);
        tags[i] = NONE;
    }
    is_used = true;
}

/* Ends every world; then the counts must be what they were: the first tag is free. */
static void finish(void)
{
    for (uint32_t tag = 0; tag < TAGS; tag++)
        while (mains[tag] > 0) end_mains(tag);
    for (uint32_t i = 0; i < WORLDS; i++)
        if (tags[i] != NONE) end_world(i);
    for (uint32_t tag = 0; tag < TAGS; tag++)
        EXPLORE_CHECK(begin_mains(0) == tag, "tag %u has a world after the last one ended", tag);
    for (uint32_t tag = 0; tag < TAGS; tag++) end_mains(tag);
}

static void join(void)
{
    explore_join_all();
    explore_end();
}

static void make(void *number)
{
    begin_world(*(uint32_t *)number, 0);
}

static void make_untagged(void *number)
{
    begin_world(*(uint32_t *)number, WEFT_WITHOUT_ENTITY_TAG);
}

static void end(void *number)
{
    end_world(*(uint32_t *)number);
}

/* T1. */
static void worlds_made_at_once(void)
{
    start();
    for (uint32_t i = 0; i < 3; i++) explore_thread(make, &numbers[i]);
    explore_begin();
    join();
    for (uint32_t i = 0; i < 3; i++) {
        EXPLORE_CHECK(tags[i] < 3, "three worlds, tag %u", tags[i]);
        for (uint32_t k = 0; k < i; k++)
            EXPLORE_CHECK(tags[i] != tags[k], "two worlds have tag %u", tags[i]);
    }
    finish();
}

/* T2: both may have tag 0, when the one that asks for none was first; a third may not. */
static void asked_for_against_free(void)
{
    start();
    explore_thread(make_untagged, &numbers[0]);
    explore_thread(make, &numbers[1]);
    explore_begin();
    join();
    EXPLORE_CHECK(tags[0] == 0, "asked for 0, got %u", tags[0]);
    end_world(1);
    uint32_t tag = begin_mains(0);
    EXPLORE_CHECK(tag == 1, "tag %u, but only 0 has a world", tag);
    finish();
}

/* T2, T3: a tag that two worlds asked for is free after both ended, not after one. */
static void release_of_a_shared_tag(void)
{
    start();
    begin_world(0, WEFT_WITHOUT_ENTITY_TAG);
    begin_world(1, WEFT_WITHOUT_ENTITY_TAG);
    explore_thread(end, &numbers[0]);
    explore_thread(make, &numbers[2]);
    explore_begin();
    join();
    EXPLORE_CHECK(tags[2] == 1, "tag %u, while a world lives that asked for 0", tags[2]);
    finish();
}

/* T3: one ends, one asks for the same tag, one asks for none. */
static void release_against_asked_for(void)
{
    start();
    begin_world(0, WEFT_WITHOUT_ENTITY_TAG);
    explore_thread(end, &numbers[0]);
    explore_thread(make_untagged, &numbers[1]);
    explore_begin();
    join();
    uint32_t tag = begin_mains(0);
    EXPLORE_CHECK(tag == 1, "tag %u, while a world lives that asked for 0", tag);
    finish();
}

/* T3, T1: every tag has a world, one ends; one of two new ones may have its tag, the other shares
 * the last. */
static void one_tag_for_two(void)
{
    start();
    begin_world(0, 0);
    for (uint32_t tag = 1; tag < TAGS; tag++) begin_mains(0);
    explore_thread(end, &numbers[0]);
    explore_thread(make, &numbers[1]);
    explore_thread(make, &numbers[2]);
    explore_begin();
    join();
    for (uint32_t i = 1; i < 3; i++)
        EXPLORE_CHECK(tags[i] == 0 || tags[i] == WEFT__ENTITY_TAG_LAST, "tag %u", tags[i]);
    EXPLORE_CHECK(tags[1] != 0 || tags[2] != 0, "two worlds have tag 0");
    finish();
}

const explore_scenario explore_scenarios[] = {
    {"tag_worlds_made_at_once",
     worlds_made_at_once,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 2, 1)},
     NULL},
    {"tag_asked_for_against_free",
     asked_for_against_free,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 3, 1)},
     NULL},
    {"tag_release_of_a_shared_tag",
     release_of_a_shared_tag,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 3, 1)},
     NULL},
    {"tag_release_against_asked_for",
     release_against_asked_for,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 3, 1)},
     NULL},
    {"tag_one_tag_for_two",
     one_tag_for_two,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_C11, 2, 1)},
     NULL},
    {0},
};
