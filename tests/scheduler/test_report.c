/* SPDX-License-Identifier: MIT */
/* test_report.c: the schedule as text: explanations, ambiguities, sync points, DOT and JSON,
 * and how each changes when archetypes appear. */
#include <weft/observer.h>
#include <weft/weft.h>

#include "plain.h"

#include <stdlib.h>
#include <string.h>

static weft_world *world;
static weft_component a, b, tag;
static char text[8000];

static void nothing(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
}

static void begin_with(uint32_t workers)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &world));
    a = weft_component_create_plain(world, "a", 4, 4, 0);
    b = weft_component_create_plain(world, "b", 4, 4, 0);
    tag = WEFT_TAG(world, tag);
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){a, b}, 2), 10, NULL));
}

static void begin(void)
{
    begin_with(1);
}

static void end(void)
{
    CHECK_OK(weft_world_destroy(world));
}

static weft_system add(const char *name, weft_component component, weft_access access,
                       const char *after)
{
    weft_system system = weft_system_create(
        world, &(weft_system_desc){.name = name,
                                   .run = nothing,
                                   .after = {after},
                                   .over.rows.terms = {{component, access, WEFT_ALL, 0}}});
    CHECK(system.id != 0);
    return system;
}

static void check_part(const char *part)
{
    if (strstr(text, part) == NULL) CHECK_TEXT(text, part);
}

static void explain(weft_system x, weft_system y, const char *part)
{
    size_t length = weft_schedule_explain(world, x, y, text, sizeof text);
    CHECK_U64(strlen(text), length);
    check_part(part);
}

PLAIN_TEST(an_explanation_names_the_component_the_archetype_and_who_decided)
{
    begin();
    weft_system x = add("x", a, WEFT_WRITE, NULL), y = add("y", a, WEFT_READ, NULL);
    weft_system z = add("z", b, WEFT_WRITE, NULL), n = add("n", b, WEFT_NO_ACCESS, "x");
    explain(x, y, "'x' runs before 'y'\n'x' writes a, 'y' reads it, e.g. in archetype ");
    check_part(
        "(a b)\nwho is first is decided by registration: 'x' was created first\nfused in stage 0");
    explain(y, x, "'x' runs before 'y'"); /* whichever is asked first */
    explain(x, z, "nothing orders 'x' and 'z'");
    explain(x, n,
            "their data do not collide; who is first is decided by name: 'after' of 'n' names 'x'\n"
            "'x' is in stage 0, 'n' in stage 1\n");
    explain(x, (weft_system){0}, "names no system");
    CHECK_OK(weft_group_set(world, &(weft_group_desc){.name = "early", .before = {"default"}}));
    weft_system e = weft_system_create(
        world, &(weft_system_desc){
                   .name = "e", .run = nothing, .group = "early", .over.rows.terms = {{a}}});
    explain(x, e, "'e' runs before 'x'");
    check_part("decided by group: 'e' -> group 'early' -> group 'default' -> 'x'\n");
    weft_system l = weft_system_create(
        world, &(weft_system_desc){
                   .name = "l", .run = nothing, .lookups = {{b, WEFT_READ}, {b, WEFT_WRITE}}});
    explain(add("r", b, WEFT_READ, NULL), l, "'l' writes b, 'r' reads it"); /* named twice */
    CHECK_OK(weft_system_destroy(world, y));
    explain(x, y, "was destroyed");
    end();
}

PLAIN_TEST(an_explanation_of_systems_that_do_not_collide_names_what_lies_between_them)
{
    begin();
    weft_system x = add("x", a, WEFT_WRITE, NULL), late = add("late", tag, WEFT_NO_ACCESS, "x");
    weft_system free_one = add("free", b, WEFT_WRITE, NULL);
    weft_system_desc desc = {.name = "y",
                             .run = nothing,
                             .lookups = {{a, WEFT_READ}},
                             .over.rows.terms = {{b, WEFT_READ, 0, 0}}};
    weft_system y = weft_system_create(world, &desc), z = add("z", b, WEFT_WRITE, NULL);
    explain(x, z,
            "'x' runs before 'z'\ntheir own data do not collide, but 'z' waits for 'y' (b), "
            "which waits for 'x' (a)\n'x' is in stage 0, 'z' in stage 1\n");
    explain(late, free_one,
            "nothing orders 'late' and 'free': one runs after the other, because all systems run "
            "on one thread here; what else they wait for puts 'late' into stage 1, 'free' into "
            "stage 0\n");
    explain(free_one, late, "nothing orders 'free' and 'late': one");
    desc = (weft_system_desc){.name = "e", .run = nothing, .flags = WEFT_SYSTEM_EXCLUSIVE};
    weft_system e = weft_system_create(world, &desc), last = add("last", tag, WEFT_READ, NULL);
    explain(x, e, "'e' is exclusive: nothing runs beside it\n");
    explain(y, last, "'last' waits for 'e' (exclusive), which waits for 'y' (exclusive)\n");
    end();
}

PLAIN_TEST(systems_are_ordered_only_where_some_archetype_matches_both)
{
    begin();
    weft_system_desc with = {
        .name = "with",
        .run = nothing,
        .over.rows.terms = {{a, WEFT_WRITE, 0, 0}, {tag, WEFT_NO_ACCESS, 0, 0}}};
    weft_system_desc any = {.name = "any",
                            .run = nothing,
                            .lookups = {{b, WEFT_READ}},
                            .over.rows.terms = {{a, WEFT_WRITE, 0, 0}}};
    weft_system x = weft_system_create(world, &with), y = weft_system_create(world, &any);
    explain(x, y, "nothing orders"); /* no entity has the tag */
    CHECK_U64(weft_schedule_ambiguities(world, text, sizeof text), 0);
    CHECK_U64(weft_entity_create_many(
                  world, weft_archetype_create(world, (weft_component[]){a, tag}, 2), 1, NULL),
              WEFT_OK);
    explain(x, y, "(a tag)"); /* the new archetype */
    weft_schedule_ambiguities(world, text, sizeof text);
    CHECK_TEXT(text, "with any a\n");
    end();
}

PLAIN_TEST(a_change_filter_reads_what_it_asks_about)
{
    begin();
    weft_query_desc desc = {.terms = {{b, WEFT_READ, 0, 0}, {a, WEFT_NO_ACCESS, 0, 0}}};
    weft_query query = weft_query_create(world, &desc);
    weft_system x = add("x", a, WEFT_WRITE, NULL);
    weft_system_desc watch = {
        .name = "y", .run = nothing, .over = {.kind = WEFT_OVER_QUERY, .query = query}};
    weft_system_desc tour = {.name = "z", .run = nothing, .queries = {query}};
    weft_system y = weft_system_create(world, &watch), z = weft_system_create(world, &tour);
    explain(x, y, "nothing orders");
    explain(x, z, "nothing orders");
    CHECK_OK(weft_system_destroy(world, y));
    CHECK_OK(weft_system_destroy(world, z));
    CHECK_OK(weft_query_filter_changed(world, query, a, 0));
    y = weft_system_create(world, &watch);
    z = weft_system_create(world, &tour);
    explain(x, y, "'x' writes a, 'y' reads it");
    explain(x, z, "'x' writes a, 'z' reads it");
    end();
}

PLAIN_TEST(ambiguities_are_the_conflicts_that_only_registration_orders)
{
    begin();
    add("x", a, WEFT_WRITE, NULL);
    add("y", a, WEFT_WRITE, NULL);
    add("z", a, WEFT_READ, "y");
    weft_schedule_ambiguities(world, text, sizeof text);
    CHECK_TEXT(text, "x y a\nx z a\n");
    CHECK_OK(weft_system_destroy(world, weft_system_find(world, "y")));
    weft_schedule_ambiguities(world, text, sizeof text);
    CHECK_TEXT(text, "x z a\n"); /* the order of z waits for another y */
    add("y", a, WEFT_WRITE, "x");
    weft_schedule_ambiguities(world, text, sizeof text);
    CHECK_TEXT(text, ""); /* x, y, z: a chain of names */
    end();
}

PLAIN_TEST(the_json_has_every_system_and_edge_with_its_component)
{
    begin();
    add("x \"quoted\"\n", a, WEFT_WRITE, NULL);
    add("y", a, WEFT_WRITE, NULL);
    add("z", b, WEFT_READ, NULL);
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_measured = true}));
    CHECK_OK(weft_world_step(world, 0));
    size_t length = weft_schedule_json(world, text, sizeof text);
    CHECK_U64(strlen(text), length);
    check_part("\"critical_path_ns\": ");
    check_part("\"to\": \"y\", \"kind\": \"access\", \"decided_by\": \"registration\", "
               "\"component\": \"a\", \"archetype\": ");
    check_part("\"name\": \"z\", \"group\": \"default\", \"is_enabled\": true, "
               "\"is_group_enabled\": true, \"stage\": 0, \"runs\": 1");
    char all[sizeof text];
    memcpy(all, text, sizeof all);
    for (size_t capacity = 0; capacity < length; capacity += 7) { /* cut like snprintf */
        memset(text, '#', sizeof text);
        CHECK_U64(weft_schedule_json(world, text, capacity), length);
        CHECK(capacity == 0 || strncmp(text, all, capacity - 1) == 0);
        CHECK(capacity == 0 || text[capacity - 1] == 0);
        CHECK_U64((unsigned char)text[capacity], '#');
    }
    CHECK_U64(weft_schedule_json(world, NULL, 0), length);
    end();
}

PLAIN_TEST(the_json_has_a_sync_point_with_who_records_and_who_could_see_it)
{
    begin();
    weft_system_desc desc = {.name = "records",
                             .run = nothing,
                             .effects = WEFT_RECORDS_DESTROY,
                             .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    weft_schedule_json(world, text, sizeof text);
    CHECK(strstr(text, "\"observer\"") == NULL); /* no system looks before the end of the step */
    add("looks", b, WEFT_READ, NULL);
    weft_schedule_json(world, text, sizeof text);
    check_part("\"recorder\": \"records\", \"observer\": \"looks\", \"effect\": \"destroys\", "
               "\"effects\": [\"destroy\"], \"archetype\": ");
    end();
}

static void hear(const weft_observation *observation, void *user)
{
    (void)observation, (void)user;
}

PLAIN_TEST(the_json_has_observers_in_the_order_in_which_they_run)
{
    begin();
    add("x", a, WEFT_READ, NULL);
    weft_schedule_json(world, text, sizeof text);
    check_part("\"observers\": [\n  ]");
    const weft_observer_desc late = {
        .name = "late", .on = WEFT_ON_CHANGED, .component = a, .run = hear, .is_parallel = true};
    const weft_observer_desc early = {
        .name = "early", .on = WEFT_ON_DESTROYED, .run = hear, .before = "late"};
    CHECK(weft_observer_create(world, &late).id != 0);
    CHECK(weft_observer_create(world, &early).id != 0);
    weft_schedule_json(world, text, sizeof text);
    check_part(
        "\"observers\": [\n    {\"name\": \"early\", \"on\": \"destroyed\", \"component\": \"\", "
        "\"is_parallel\": false},\n    {\"name\": \"late\", \"on\": \"changed\", "
        "\"component\": \"a\", \"is_parallel\": true}");
    end();
}

PLAIN_TEST(each_edge_of_the_json_says_what_kind_it_is_and_who_decided)
{
    begin();
    CHECK_OK(weft_group_set(world, &(weft_group_desc){.name = "early", .before = {"default"}}));
    weft_system last =
        weft_system_create(world, &(weft_system_desc){.name = "last",
                                                      .run = nothing,
                                                      .group = "other",
                                                      .after = {"middle"},
                                                      .over.rows.terms = {{a, WEFT_WRITE, 0, 0}}});
    add("middle", tag, WEFT_NO_ACCESS, "early");
    weft_system_desc desc = {.name = "e",
                             .run = nothing,
                             .group = "early",
                             .lookups = {{b, WEFT_WRITE}},
                             .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    weft_system e = weft_system_create(world, &desc);
    weft_system r = add("r", b, WEFT_READ, NULL);
    add("s", a, WEFT_READ, NULL);
    explain(last, e, "decided by chain of orders: 'e' -> group 'early' -> 'middle' -> 'last'\n");
    explain(r, e, "decided by group: 'e' -> group 'early' -> group 'default' -> 'r'\n");
    weft_schedule_json(world, text, sizeof text);
    check_part(
        "\"from\": \"middle\", \"to\": \"last\", \"kind\": \"name\", \"decided_by\": \"name\"}");
    check_part(
        "\"from\": \"e\", \"to\": \"last\", \"kind\": \"access\", \"decided_by\": \"chain\", "
        "\"component\": \"a\"");
    check_part("\"from_access\": \"read\", \"to_access\": \"write\", \"components\": [\"a\"]}");
    check_part("\"to\": \"r\", \"kind\": \"access\", \"decided_by\": \"group\"");
    check_part("\"to\": \"s\", \"kind\": \"access\", \"decided_by\": \"registration\"");
    CHECK(strstr(text, "by name") == NULL);
    weft_schedule_ambiguities(world, text, sizeof text); /* the same pairs: only those */
    CHECK_TEXT(text, "last s a\n");
    end();
}

PLAIN_TEST(an_order_that_registration_alone_turns_round_is_told_as_such)
{
    begin();
    weft_system x = add("x", a, WEFT_WRITE, "z"), y = add("y", a, WEFT_WRITE, NULL);
    add("z", tag, WEFT_NO_ACCESS, NULL);
    explain(x, y, "'y' runs before 'x'\n");
    check_part("by registration: 'x' was created first, but waits for systems that are created "
               "later\n");
    end();
}

PLAIN_TEST(all_components_over_which_two_systems_collide_are_named)
{
    begin();
    weft_component c = weft_component_create_plain(world, "c", 4, 4, WEFT_RESOURCE);
    weft_system_desc desc = {.name = "x",
                             .run = nothing,
                             .resources = {{c, WEFT_WRITE}},
                             .over.rows.terms = {{a, WEFT_WRITE, 0, 0}, {b, WEFT_READ, 0, 0}}};
    weft_system x = weft_system_create(world, &desc);
    desc.name = "y";
    weft_system y = weft_system_create(world, &desc);
    explain(x, y, "'x' writes c, 'y' writes it, a resource\nthey collide over more: a\n");
    weft_schedule_json(world, text, sizeof text);
    check_part("\"components\": [\"a\", \"c\"]");
    end();
}

static void record(const char *name, uint32_t effects)
{
    weft_system old = weft_system_find(world, name);
    if (old.id != 0) CHECK_OK(weft_system_destroy(world, old));
    weft_system_desc desc = {.name = name,
                             .run = nothing,
                             .effects = effects,
                             .records = {b},
                             .before = {"looks"},
                             .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    CHECK(weft_system_create(world, &desc).id != 0);
}

PLAIN_TEST(a_sync_point_says_which_effects_of_the_commands_can_be_seen)
{
    static const struct {
        uint32_t effects;
        const char *text, *json;
    } cases[] = {
        {WEFT_RECORDS_ADD, "which adds or sets b, e.g.",
         "\"effect\": \"adds or sets\", \"effects\": [\"add or set\"], \"component\": \"b\""},
        {WEFT_RECORDS_REMOVE, "which removes b, e.g.",
         "\"effect\": \"removes\", \"effects\": [\"remove\"], \"component\": \"b\""},
        {WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE, "which adds, sets or removes b, e.g.",
         "\"effects\": [\"add or set\", \"remove\"]"},
        {WEFT_RECORDS_CREATE | WEFT_RECORDS_REMOVE,
         "which removes b and creates entities with b, e.g.",
         "\"effect\": \"removes\", \"effects\": [\"create\", \"remove\"]"},
        {WEFT_RECORDS_DESTROY | WEFT_RECORDS_ADD, "which destroys any entity and adds or sets b",
         "\"effect\": \"destroys\", \"effects\": [\"destroy\", \"add or set\"]"},
    };
    begin();
    add("looks", b, WEFT_READ, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        record("records", cases[i].effects);
        weft_schedule_sync_points(world, text, sizeof text);
        check_part(cases[i].text);
        weft_schedule_json(world, text, sizeof text);
        check_part(cases[i].json);
    }
    end();
}

PLAIN_TEST(a_sync_point_around_an_exclusive_system_says_which_one_it_is)
{
    begin();
    record("records", WEFT_RECORDS_ADD);
    weft_system_desc desc = {.name = "looks", .run = nothing, .flags = WEFT_SYSTEM_EXCLUSIVE};
    CHECK(weft_system_create(world, &desc).id != 0);
    weft_schedule_sync_points(world, text, sizeof text);
    check_part(
        "commands of 'records' are played back before 'looks', because 'looks' is exclusive\n");
    weft_schedule_json(world, text, sizeof text);
    check_part("\"effect\": \"any\", \"effects\": []}");
    check_part("\"flags\": [\"exclusive\"]");
    end();
}

PLAIN_TEST(the_json_says_which_systems_and_groups_are_disabled)
{
    static const struct {
        bool is_enabled, is_group_enabled;
        const char *json;
    } cases[] = {
        {true, true, "\"is_enabled\": true, \"is_group_enabled\": true"},
        {false, true, "\"is_enabled\": false, \"is_group_enabled\": true"},
        {true, false, "\"is_enabled\": true, \"is_group_enabled\": false"},
    };
    begin();
    weft_system x = add("x", a, WEFT_WRITE, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_OK(weft_system_enable(world, x, cases[i].is_enabled));
        CHECK_OK(weft_group_enable(world, "default", cases[i].is_group_enabled));
        weft_schedule_json(world, text, sizeof text);
        check_part(cases[i].json);
    }
    end();
}

PLAIN_TEST(a_background_system_is_said_to_go_on_beside_others)
{
    begin_with(2);
    weft_system_desc desc = {.name = "bg",
                             .run = nothing,
                             .flags = WEFT_SYSTEM_BACKGROUND,
                             .over.rows.terms = {{a, WEFT_READ, WEFT_ALL, 0}}};
    weft_system bg = weft_system_create(world, &desc);
    weft_system_desc recording = {
        .name = "rec", .run = nothing, .effects = WEFT_RECORDS_ADD, .records = {tag}};
    CHECK(weft_system_create(world, &recording).id != 0);
    weft_system see = add("see", tag, WEFT_NO_ACCESS, NULL);
    weft_system writer = add("writer", a, WEFT_WRITE, "see");
    explain(bg, see,
            "nothing orders 'bg' and 'see': they may run at the same time, because 'bg' is a "
            "BACKGROUND system, which goes on beside later stages and beside sync points that "
            "leave its rows alone");
    explain(see, bg, "may run at the same time");
    explain(bg, writer, "'bg' runs before 'writer'\n'bg' reads a, 'writer' writes it");
    weft_schedule_json(world, text, sizeof text);
    check_part("\"flags\": [\"background\"], \"passes_sync_points\": true, \"join_stage\": 2");
    end();
}

PLAIN_TEST(a_system_named_twice_is_told_what_it_waited_for)
{
    begin();
    weft_system x = add("x", a, WEFT_WRITE, NULL), y = add("y", b, WEFT_WRITE, "x");
    explain(y, y, "'y' is named twice: a system has no order with itself\nit is in stage 1\n");
    check_part("no step has run yet");
    CHECK_OK(weft_world_step(world, 0));
    explain(x, x, "in the last step it waited for no other stage of segment 0\n");
    explain(y, y,
            "it waited for 1 stage (no times: set is_measured of weft_schedule_desc)\n    x ");
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_measured = true}));
    CHECK_OK(weft_world_step(world, 0));
    explain(y, y, "it waited for 1 stage: ");
    check_part(" us of work\n");
    CHECK_OK(weft_system_enable(world, y, false));
    explain(y, y, "it is in stage 1\nit is disabled (weft_system_enable)\nin the last step");
    CHECK_OK(weft_group_enable(world, "default", false));
    CHECK_OK(weft_world_step(world, 0));
    explain(
        x, x,
        "its group 'default' is disabled (weft_group_enable)\nit did not run in the last step\n");
    end();
}

PLAIN_TEST(systems_that_nothing_orders_run_at_the_same_time_only_where_they_can)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &world));
    a = weft_component_create_plain(world, "a", 4, 4, 0);
    b = weft_component_create_plain(world, "b", 4, 4, 0);
    weft_system x = add("x", a, WEFT_WRITE, NULL), y = add("y", b, WEFT_WRITE, NULL);
    weft_system_desc desc = {.name = "m", .run = nothing, .flags = WEFT_SYSTEM_MAIN_THREAD};
    weft_system m = weft_system_create(world, &desc);
    desc.name = "n";
    weft_system n = weft_system_create(world, &desc);
    explain(x, y, "nothing orders 'x' and 'y': they may run at the same time\n");
    explain(m, x, "they may run at the same time\n");
    explain(m, n, "one runs after the other, because both run on the main thread\n");
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.without_parallel = true}));
    explain(x, y, "because all systems run on one thread here\n");
    end();
}

PLAIN_TEST(times_of_stages_are_from_begin_to_end_and_only_of_the_last_step)
{
    begin();
    weft_system x = add("x", a, WEFT_WRITE, NULL);
    add("y", b, WEFT_WRITE, "x");
    weft_schedule_chain(world, text, sizeof text);
    check_part("segment 0: 2 stages one after the other (no times: set is_measured");
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_measured = true}));
    CHECK_OK(weft_world_step(world, 0));
    weft_schedule_chain(world, text, sizeof text);
    check_part("from begin to end, and the work of all 1 worker:\n    x ");
    CHECK(strstr(text, "did not run") == NULL);
    weft_schedule_json(world, text, sizeof text);
    check_part("\"stage_times\": [{\"systems\": [\"x\"], \"stage\": 0, \"time_ns\": ");
    CHECK_OK(weft_system_enable(world, x, false));
    CHECK_OK(weft_world_step(world, 0));
    weft_schedule_chain(world, text, sizeof text);
    check_part(" did not run\n    y ");
    weft_schedule_json(world, text, sizeof text);
    check_part("{\"systems\": [\"x\"], \"stage\": 0, \"time_ns\": 0, \"work_ns\": 0}");
    end();
}

PLAIN_TEST(reports_of_a_world_without_systems_or_with_a_cycle_say_so)
{
    begin();
    weft_schedule_sync_points(world, text, sizeof text);
    CHECK_TEXT(text, "no systems\n");
#define NO_LISTS                                                                                   \
    "  \"stages\": 0,\n  \"critical_path_ns\": 0,\n  \"systems\": [],\n  \"edges\": [],\n"         \
    "  \"sync_points\": [],\n  \"segments\": [],\n  \"observers\": [],\n"                          \
    "  \"frame_ns\": 0,\n  \"work\": []\n}\n"
    CHECK(weft_schedule_json(NULL, text, sizeof text) != 0);
    CHECK_TEXT(text, "{\n" NO_LISTS);
    weft_schedule_json(world, text, sizeof text);
    CHECK_TEXT(text, "{\n" NO_LISTS);
    add("x", a, WEFT_READ, "x");
    weft_schedule_sync_points(world, text, sizeof text);
    check_part("x -> x");
    weft_schedule_json(world, text, sizeof text);
    CHECK(strncmp(text, "{\n  \"error\": \"", 14) == 0);
    check_part("x -> x");
    check_part("\",\n" NO_LISTS);
    end();
}

PLAIN_TEST(names_are_escaped_in_json)
{
    begin();
    add("a\"b\\c\td\001", a, WEFT_READ, NULL);
    weft_schedule_json(world, text, sizeof text);
    check_part("{\"name\": \"a\\\"b\\\\c\\u0009d\\u0001\"");
    end();
}

PLAIN_TEST(systems_can_be_listed_with_what_they_are_and_touch)
{
    weft_system list[2];
    weft_system_info info;
    weft_lookup touched[4];
    begin();
    CHECK_U64(weft_system_list(world, list, 2), 0);
    weft_system reads = add("reads", a, WEFT_READ, NULL);
    weft_system_desc desc = {.name = "writes",
                             .run = nothing,
                             .group = "late",
                             .flags = WEFT_SYSTEM_SERIAL,
                             .lookups = {{a, WEFT_READ}, {b, WEFT_READ}},
                             .over.rows.terms = {{a, WEFT_WRITE, 0, 0}, {tag, 0, 0, 0}}};
    weft_system writes = weft_system_create(world, &desc);
    CHECK_U64(weft_system_list(world, list, 2), 2);
    CHECK(list[0].id == reads.id && list[1].id == writes.id);
    CHECK_OK(weft_system_enable(world, writes, false));
    CHECK_OK(weft_system_info_get(world, writes, &info, sizeof info));
    CHECK_TEXT(info.name, "writes");
    CHECK_TEXT(info.group, "late");
    CHECK(!info.is_enabled && info.flags == WEFT_SYSTEM_SERIAL && info.query.id != 0);
    CHECK_U64(weft_system_access(world, writes, touched, 4), 3);
    CHECK(touched[0].component.id == a.id && touched[0].access == WEFT_WRITE);
    CHECK(touched[1].component.id == tag.id && touched[2].component.id == b.id);
    CHECK_OK(weft_system_destroy(world, reads));
    CHECK_RESULT(weft_system_info_get(world, reads, &info, sizeof info), WEFT_BAD_HANDLE);
    CHECK_U64(weft_system_list(world, list, 2), 1);
    end();
}

PLAIN_TEST(options_of_the_schedule_can_be_read_back)
{
    weft_schedule_desc desc;
    begin();
    weft_schedule_get(world, &desc, sizeof desc);
    CHECK(!desc.is_measured && !desc.without_fusion);
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_measured = true}));
    weft_schedule_get(world, &desc, sizeof desc);
    CHECK(desc.is_measured && !desc.without_fusion);
    end();
}
