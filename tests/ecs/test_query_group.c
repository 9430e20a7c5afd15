/* SPDX-License-Identifier: MIT */
/* test_query_group.c: write groups: which entities a query leaves to components that take over what
 * it writes. */
#include "query_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

static weft_component taker(fixture *f, const char *name, uint32_t flags, weft_component of)
{
    weft_component component = weft_component_create(
        f->world,
        &(weft_component_desc){
            .name = name, .size = 4, .flags = flags, .write_groups = &of, .write_group_count = 1});
    CHECK(component.id != 0);
    return component;
}

/* Rows of a query that filters write groups. */
static uint64_t count_filtered(fixture *f, const weft_term *terms, uint32_t count)
{
    weft_query_desc desc = {.filters_write_groups = true};
    memcpy(desc.terms, terms, count * sizeof *terms);
    weft_query query = fixture_query(f, &desc);
    uint64_t rows = weft_query_count(f->world, query);
    CHECK_U64(fixture_iterate(f, query).rows, rows);
    CHECK_OK(weft_query_destroy(f->world, query));
    return rows;
}

/* COUNT(&f, {f.a, WEFT_WRITE}, ...) */
#define COUNT(fixture_pointer, ...)                                                                \
    count_filtered((fixture_pointer), (const weft_term[]){__VA_ARGS__},                            \
                   sizeof((const weft_term[]){__VA_ARGS__}) / sizeof(weft_term))

/* A target written by the query, two that take it over, plain data beside. */
typedef struct group_world {
    fixture f;
    weft_component target, first, second;
} group_world;

static void open_group(group_world *g)
{
    fixture_open(&g->f, 0);
    g->target = fixture_component(&g->f, "target", 4, 0);
    g->first = taker(&g->f, "first", 0, g->target);
    g->second = taker(&g->f, "second", 0, g->target);
    FIXTURE_CREATE(&g->f, 1, NULL, g->target);
    FIXTURE_CREATE(&g->f, 2, NULL, g->target, g->first);
    FIXTURE_CREATE(&g->f, 4, NULL, g->target, g->second);
    FIXTURE_CREATE(&g->f, 8, NULL, g->target, g->first, g->second);
    FIXTURE_CREATE(&g->f, 16, NULL, g->first);
}

Test(query_group, writing_a_component_leaves_out_entities_with_one_that_takes_it_over)
{
    group_world g;
    open_group(&g);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}), 1);
    fixture_close(&g.f);
}

Test(query_group, reading_or_only_matching_a_component_leaves_out_nothing)
{
    group_world g;
    open_group(&g);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_READ}), 15);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_NO_ACCESS}), 15);
    fixture_close(&g.f);
}

Test(query_group, a_query_that_does_not_filter_write_groups_sees_everything)
{
    group_world g;
    open_group(&g);
    CHECK_U64(weft_query_count(g.f.world, FIXTURE_QUERY(&g.f, {g.target, WEFT_WRITE})), 15);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}), 1); /* and the two are not shared */
    fixture_close(&g.f);
}

Test(query_group, a_component_that_is_required_takes_nothing_over_but_others_still_do)
{
    group_world g;
    open_group(&g);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.first}), 2);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.first}, {g.second}), 8);
    fixture_close(&g.f);
}

Test(query_group, any_terms_extend_a_query_to_entities_it_would_leave_out)
{
    group_world g;
    open_group(&g);
    weft_component third = taker(&g.f, "third", 0, g.target);
    FIXTURE_CREATE(&g.f, 32, NULL, g.target, third);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.first, .match = WEFT_ANY},
                    {g.second, .match = WEFT_ANY}),
              2 + 4 + 8);
    fixture_close(&g.f);
}

Test(query_group, naming_a_component_as_optional_or_absent_decides_about_it)
{
    group_world g;
    open_group(&g);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.first, .match = WEFT_OPTIONAL}), 1 + 2);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.first, .match = WEFT_ABSENT}), 1);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.first, .match = WEFT_NONE}), 1);
    fixture_close(&g.f);
}

Test(query_group, writing_any_of_two_components_obeys_the_group_of_the_one_that_is_there)
{
    group_world g;
    open_group(&g);
    weft_component other = fixture_component(&g.f, "other", 4, 0);
    FIXTURE_CREATE(&g.f, 32, NULL, other, g.first); /* first takes the target over, not this one */
    FIXTURE_CREATE(&g.f, 64, NULL, other);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE, WEFT_ANY}, {other, WEFT_WRITE, WEFT_ANY}),
              1 + 32 + 64);
    fixture_close(&g.f);
}

Test(query_group, a_component_of_two_groups_takes_over_both_unless_one_of_them_is_read)
{
    group_world g;
    open_group(&g);
    weft_component source = fixture_component(&g.f, "source", 4, 0);
    weft_component both = weft_component_create(
        g.f.world, &(weft_component_desc){.name = "both",
                                          .size = 4,
                                          .write_groups = (weft_component[]){g.target, source},
                                          .write_group_count = 2});
    FIXTURE_CREATE(&g.f, 32, NULL, g.target, source);
    FIXTURE_CREATE(&g.f, 64, NULL, g.target, source, both);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {source, WEFT_WRITE}), 32);
    CHECK_U64(COUNT(&g.f, {source, WEFT_WRITE}), 32);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {source}), 32 + 64); /* made from the source */
    fixture_close(&g.f);
}

Test(query_group, each_description_judges_by_what_it_writes_and_names)
{
    group_world g;
    open_group(&g);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.first, .alternative = 1}), 1 + 2 + 8 + 16);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.target, WEFT_WRITE, .alternative = 1},
                    {g.second, .alternative = 1}),
              1 + 4);
    fixture_close(&g.f);
}

Test(query_group, a_component_registered_after_the_query_takes_over_too)
{
    group_world g;
    open_group(&g);
    weft_query query = fixture_query(
        &g.f, &(weft_query_desc){.terms = {{g.target, WEFT_WRITE}}, .filters_write_groups = true});
    CHECK_U64(weft_query_count(g.f.world, query), 1);
    weft_component late = taker(&g.f, "late", 0, g.target);
    weft_entity entities[2];
    FIXTURE_CREATE(&g.f, 32, NULL, g.target, late);
    FIXTURE_CREATE(&g.f, 2, entities, g.target, g.f.a);
    CHECK_U64(weft_query_count(g.f.world, query), 1 + 2);
    CHECK_OK(weft_entity_add(g.f.world, entities[0], late));
    CHECK_U64(weft_query_count(g.f.world, query), 1 + 1);
    CHECK(!weft_query_matches(g.f.world, query, entities[0]));
    CHECK_OK(weft_entity_remove(g.f.world, entities[0], late));
    CHECK_U64(weft_query_count(g.f.world, query), 1 + 2);
    fixture_close(&g.f);
}

Test(query_group, a_disabled_component_gives_its_rows_back)
{
    group_world g;
    open_group(&g);
    weft_component bits = taker(&g.f, "bits", WEFT_ENABLEABLE, g.target);
    weft_component more = taker(&g.f, "more", WEFT_ENABLEABLE, g.target);
    weft_entity entities[200];
    FIXTURE_CREATE(&g.f, 100, entities, g.target, bits);
    FIXTURE_CREATE(&g.f, 100, entities + 100, g.target, bits, more);
    weft_query_desc desc = {.terms = {{g.target, WEFT_WRITE}}, .filters_write_groups = true};
    weft_query query = fixture_query(&g.f, &desc);
    CHECK_U64(weft_query_count(g.f.world, query), 1);
    for (uint32_t i = 0; i < 200; i += 2)
        CHECK_OK(weft_entity_enable(g.f.world, entities[i], bits, false));
    CHECK_U64(weft_query_count(g.f.world, query), 1 + 50);
    for (uint32_t i = 100; i < 200; i += 4)
        CHECK_OK(weft_entity_enable(g.f.world, entities[i], more, false));
    CHECK_U64(weft_query_count(g.f.world, query), 1 + 50 + 25);
    CHECK_U64(fixture_iterate(&g.f, query).rows, 1 + 50 + 25);
    CHECK(weft_query_matches(g.f.world, query, entities[100]));
    CHECK(!weft_query_matches(g.f.world, query, entities[102]));
    desc.ignores_enabled = true; /* then being there is what counts */
    CHECK_U64(weft_query_count(g.f.world, fixture_query(&g.f, &desc)), 1);
    fixture_close(&g.f);
}

Test(query_group, enable_bits_of_terms_and_of_what_takes_over_are_judged_together)
{
    group_world g;
    open_group(&g);
    weft_component bits = taker(&g.f, "bits", WEFT_ENABLEABLE, g.target);
    weft_entity entities[64];
    FIXTURE_CREATE(&g.f, 64, entities, g.target, g.f.x, bits);
    for (uint32_t i = 0; i < 64; i++) {
        CHECK_OK(weft_entity_enable(g.f.world, entities[i], g.f.x, i % 2 == 0));
        CHECK_OK(weft_entity_enable(g.f.world, entities[i], bits, i % 4 >= 2));
    }
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.f.x}), 16); /* i % 4 == 0 */
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.f.x, .match = WEFT_DISABLED}), 16);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {g.f.x, .match = WEFT_PRESENT}), 32);
    CHECK_U64(COUNT(&g.f, {g.target, WEFT_WRITE}, {bits}, {g.f.x}), 16); /* i % 4 == 2 */
    fixture_close(&g.f);
}

Test(query_group, query_wide_changes_leave_alone_what_others_take_over)
{
    group_world g;
    open_group(&g);
    weft_query query = fixture_query(
        &g.f, &(weft_query_desc){.terms = {{g.target, WEFT_WRITE}}, .filters_write_groups = true});
    CHECK_OK(weft_query_add(g.f.world, query, g.first)); /* and so the last row leaves the query */
    CHECK_U64(weft_query_count(g.f.world, query), 0);
    CHECK_OK(weft_query_destroy_entities(g.f.world, query));
    CHECK_U64(weft_query_count(g.f.world, FIXTURE_QUERY(&g.f, {g.target})), 15);
    fixture_close(&g.f);
}

static weft_component refused(fixture *f, const weft_component_desc *desc, const char *why)
{
    weft_component component = weft_component_create(f->world, desc);
    if (component.id == 0 && strstr(weft_world_error(f->world)->text, why) == NULL)
        test_fail(__FILE__, __LINE__, weft_world_error(f->world)->text);
    return component;
}

Test(query_group, wrong_groups_are_refused_with_the_reason)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component single = fixture_component(&f, "single", 4, WEFT_RESOURCE);
    weft_component beyond = {.id = 9999};
    weft_component_desc desc = {.name = "n", .size = 4, .write_group_count = 1};
    CHECK_U64(refused(&f, &desc, "write_groups is NULL").id, 0);
    desc.write_groups = &beyond;
    CHECK_U64(refused(&f, &desc, "is not registered").id, 0);
    desc.write_groups = &single;
    CHECK_U64(refused(&f, &desc, "RESOURCE").id, 0);
    desc.write_groups = &f.a;
    desc.flags = WEFT_RESOURCE;
    CHECK_U64(refused(&f, &desc, "has no write groups").id, 0);
    desc.flags = 0;
    weft_component made = refused(&f, &desc, "");
    CHECK(made.id != 0);
    CHECK_U64(weft_component_info(f.world, made)->write_groups[0].id, f.a.id);
    CHECK_U64(refused(&f, &desc, "").id, made.id); /* the same again */
    desc.write_groups = &f.b;
    CHECK_U64(refused(&f, &desc, "write groups").id, 0); /* another group */
    desc.write_group_count = 0;
    CHECK_U64(refused(&f, &desc, "").id, made.id); /* none named: the type as it is */
    fixture_close(&f);
}
