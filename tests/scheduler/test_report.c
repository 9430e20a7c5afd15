/* SPDX-License-Identifier: MIT */
/* test_report.c: the schedule as text: explanations, ambiguities, sync points, DOT and JSON,
 * and how each changes when archetypes appear. */
#include <weft/weft.h>

#include "plain.h"

#include <stdlib.h>
#include <string.h>

static weft_world *world;
static weft_component a, b, tag;
static char text[4000];

static void nothing(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
}

static void begin(void)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    a = weft_component_create_plain(world, "a", 4, 4, 0);
    b = weft_component_create_plain(world, "b", 4, 4, 0);
    tag = WEFT_TAG(world, tag);
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){a, b}, 2), 10, NULL));
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
    explain(x, y, "'x' runs before 'y'\nboth touch a and one writes it, e.g. in archetype ");
    check_part("(a b); who is first is decided by registration\nfused in stage 0");
    explain(y, x, "'x' runs before 'y'"); /* whichever is asked first */
    explain(x, z, "nothing orders 'x' and 'z'");
    explain(x, n, "by name; their data do not collide\n'x' is in stage 0, 'n' in stage 1\n");
    explain(x, (weft_system){0}, "names no system");
    CHECK_OK(weft_group_set(world, &(weft_group_desc){.name = "early", .before = {"default"}}));
    weft_system e = weft_system_create(
        world, &(weft_system_desc){
                   .name = "e", .run = nothing, .group = "early", .over.rows.terms = {{a}}});
    explain(x, e, "'e' runs before 'x'");
    check_part("decided by group");
    weft_system l = weft_system_create(
        world, &(weft_system_desc){
                   .name = "l", .run = nothing, .lookups = {{b, WEFT_READ}, {b, WEFT_WRITE}}});
    explain(add("r", b, WEFT_READ, NULL), l, "both touch b and one writes it"); /* named twice */
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
            "nothing orders 'late' and 'free'; what else they wait for puts 'late' "
            "into stage 1, 'free' into stage 0\n");
    explain(free_one, late, "nothing orders 'free' and 'late'; what");
    explain(x, x, "nothing orders");
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
    explain(x, y, "both touch a");
    explain(x, z, "both touch a");
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
    check_part("'z' must run before or after 'y'"); /* it does not compile any more */
    add("y", a, WEFT_WRITE, "x");
    weft_schedule_ambiguities(world, text, sizeof text);
    CHECK_TEXT(text, ""); /* x, y, z: a chain of names */
    end();
}

PLAIN_TEST(dot_and_json_have_every_system_and_edge_with_its_component)
{
    begin();
    add("x \"quoted\"\n", a, WEFT_WRITE, NULL);
    add("y", a, WEFT_WRITE, NULL);
    add("z", b, WEFT_READ, NULL);
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_measured = true}));
    CHECK_OK(weft_world_step(world, 0));
    size_t length = weft_schedule_dot(world, text, sizeof text);
    CHECK_U64(strlen(text), length);
    check_part("digraph schedule {");
    check_part("s0 [label=\"x \\\"quoted\\\"");
    check_part("s0 -> s1 [label=\"a\"];");
    CHECK(strstr(text, "s1 -> s2") == NULL && strstr(text, "s0 -> s2") == NULL);
    check_part(" us\""); /* measured times */
    length = weft_schedule_json(world, text, sizeof text);
    CHECK_U64(strlen(text), length);
    check_part("\"critical_path_ns\": ");
    check_part("\"to\": \"y\", \"component\": \"a\", \"archetype\": ");
    check_part("\"name\": \"z\", \"group\": \"default\", \"stage\": 0, \"runs\": 1");
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

PLAIN_TEST(dot_draws_a_sync_point_from_who_records_to_who_could_see_it)
{
    begin();
    weft_system_desc desc = {.name = "records",
                             .run = nothing,
                             .effects = WEFT_RECORDS_DESTROY,
                             .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    weft_schedule_dot(world, text, sizeof text);
    CHECK(strstr(text, "dashed") == NULL); /* no system looks before the end of the step */
    add("looks", b, WEFT_READ, NULL);
    weft_schedule_dot(world, text, sizeof text);
    check_part("s0 -> s1 [style=dashed, label=\"commands\"];");
    weft_schedule_json(world, text, sizeof text);
    check_part("\"recorder\": \"records\", \"observer\": \"looks\", \"effect\": \"destroys\"");
    end();
}

PLAIN_TEST(reports_of_a_world_without_systems_or_with_a_cycle_say_so)
{
    begin();
    weft_schedule_dot(world, text, sizeof text);
    CHECK_TEXT(text, "no systems\n");
    CHECK(weft_schedule_json(NULL, text, sizeof text) != 0);
    add("x", a, WEFT_READ, "x");
    weft_schedule_sync_points(world, text, sizeof text);
    check_part("x -> x");
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
