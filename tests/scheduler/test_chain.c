/* SPDX-License-Identifier: MIT */
/* test_chain.c: what a system waited for in the last step, on a clock that the systems move on: a
 * chain of tasks, stages, and segments before its own. */
#include <weft/weft.h>

#include "told_clock.h"

#include <string.h>

static weft_world *world;
static weft_job_pool *pool;
static weft_component a, b, c;
static test_os os;
static char text[4000];

static void begin(void)
{
    pool = told_pool_create(&os);
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = pool, .os = &os.table}, &world));
    a = weft_component_create_plain(world, "a", 4, 4, 0);
    b = weft_component_create_plain(world, "b", 4, 4, 0);
    c = weft_component_create_plain(world, "c", 4, 4, 0);
    weft_archetype archetype = weft_archetype_create(world, (weft_component[]){a, b, c}, 3);
    CHECK_OK(weft_entity_create_many(world, archetype, 1, NULL));
}

static void end(void)
{
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
    CHECK_OK(weft_job_pool_destroy(pool));
}

static void add(const char *name, weft_component component, uint32_t flags, uint32_t effects)
{
    const weft_system_desc desc = {.name = name,
                                   .run = nap,
                                   .flags = flags,
                                   .effects = effects,
                                   .records = {effects != 0 ? c : (weft_component){0}},
                                   .over.rows.terms = {{component, WEFT_WRITE}}};
    CHECK(weft_system_create(world, &desc).id != 0);
}

static void check_part(const char *part)
{
    if (strstr(text, part) == NULL) CHECK_TEXT(text, part);
}

static void ask(const char *name)
{
    weft_system system = weft_system_find(world, name);
    CHECK(weft_schedule_explain(world, system, system, text, sizeof text) < sizeof text);
}

static void step(const weft_schedule_desc *desc)
{
    CHECK_OK(weft_schedule_set(world, desc));
    CHECK_OK(weft_world_step(world, 0));
}

PLAIN_TEST(a_system_of_a_graph_waited_for_the_longest_chain_before_it)
{
    begin();
    add("alone", a, WEFT_SYSTEM_NOT_FUSED, 0);
    add("first", b, WEFT_SYSTEM_SERIAL, 0);
    add("second", b, WEFT_SYSTEM_MAIN_THREAD, 0);
    step(&(weft_schedule_desc){.is_always_parallel = true});
    ask("second");
    check_part("'second' is named twice: a system has no order with itself\nit is in stage 1\n"
               "in the last step the longest chain before it took 3000.0 us");
    check_part("\n    first ");
    CHECK(strstr(text, "alone") == NULL);
    ask("alone");
    check_part("in the last step it waited for no other system of segment 0\n");
    weft_schedule_chain(world, text, sizeof text);
    check_part("longest chain, 6000.0 us");
    end();
}

PLAIN_TEST(a_system_of_a_stage_waited_for_the_stages_before_it_and_for_earlier_segments)
{
    begin();
    add("first", b, WEFT_SYSTEM_SERIAL, 0);
    add("second", b, WEFT_SYSTEM_SERIAL, WEFT_RECORDS_ADD);
    add("third", c, WEFT_SYSTEM_SERIAL, 0);
    add("fourth", c, WEFT_SYSTEM_SERIAL, 0);
    step(&(weft_schedule_desc){.is_measured = true, .without_overlap = true});
    ask("second");
    check_part("in the last step it waited for 1 stage: 3000.0 us\n"
               "  from begin to end, and the work of all 2 workers:\n    first ");
    check_part("     3000.0 us,     3000.0 us of work\n");
    ask("third");
    check_part("segment 1 began when segment 0 had ended, after 6000.0 us\n"
               "in the last step it waited for no other stage of segment 1\n");
    ask("fourth");
    check_part("after 6000.0 us\nin the last step it waited for 1 stage: 3000.0 us\n");
    weft_schedule_json(world, text, sizeof text);
    check_part("\"is_graph\": false, \"time_ns\": 6000000, \"longest_chain_ns\": 6000000, "
               "\"stage_times\": [{\"systems\": [\"first\"], \"stage\": 0, \"time_ns\": 3000000, "
               "\"work_ns\": 3000000}, ");
    end();
}

PLAIN_TEST(a_system_that_ran_alone_leaves_the_times_of_the_last_step)
{
    begin();
    add("first", b, WEFT_SYSTEM_SERIAL, 0);
    add("second", b, WEFT_SYSTEM_SERIAL, 0);
    weft_system first = weft_system_find(world, "first");
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_measured = true}));
    CHECK_OK(weft_system_run(world, first, 0));
    ask("second");
    check_part("no step has run yet");
    step(&(weft_schedule_desc){.is_measured = true, .without_overlap = true});
    CHECK_OK(weft_system_run(world, first, 0));
    ask("second");
    check_part("in the last step it waited for 1 stage: 3000.0 us\n");
    end();
}

/* A segment that runs in another way than before does not show the times of that run. */
PLAIN_TEST(times_of_an_earlier_graph_are_not_those_of_the_last_step)
{
    begin();
    add("alone", a, WEFT_SYSTEM_NOT_FUSED, 0);
    add("first", b, WEFT_SYSTEM_SERIAL, 0);
    add("second", b, WEFT_SYSTEM_MAIN_THREAD, 0);
    step(&(weft_schedule_desc){.is_always_parallel = true});
    weft_schedule_json(world, text, sizeof text);
    check_part("\"is_graph\": true, \"time_ns\": 9000000, \"longest_chain_ns\": 6000000, "
               "\"stage_times\": [], \"tasks\": [{\"systems\": [\"alone\"], ");
    step(&(weft_schedule_desc){.without_parallel = true});
    weft_schedule_json(world, text, sizeof text);
    check_part("\"is_graph\": false, \"time_ns\": 0, ");
    check_part("\"tasks\": [], \"edges\": []}");
    end();
}
