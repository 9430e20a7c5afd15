/* SPDX-License-Identifier: MIT */
/* test_write_groups.c: systems whose queries filter write groups: what they conflict with, and
 * which commands they must see the effect of. */
#include <weft/weft.h>

#include "check.h"

#include <criterion/criterion.h>
#include <string.h>

/* `bits` and `plain` take the target over, `bits` row by row. */
typedef struct fixture {
    weft_world *world;
    weft_component target, bits, plain;
    uint64_t written;
} fixture;

static weft_component taker(fixture *f, const char *name, uint32_t flags)
{
    return weft_component_create(f->world, &(weft_component_desc){.name = name,
                                                                  .size = 4,
                                                                  .flags = flags,
                                                                  .write_groups = &f->target,
                                                                  .write_group_count = 1});
}

static void count_rows(weft_slice *slice, void *user)
{
    fixture *f = user;
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(slice, &begin, &end)) f->written += end - begin;
}

static void toggle(weft_slice *slice, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        weft_slice_enable(slice, 0, i, i % 2 == 0);
}

static void take(weft_slice *slice, void *user)
{
    const fixture *f = user;
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        CHECK_OK(weft_recorder_add(weft_slice_recorder(slice), entities[i], f->plain));
}

static void open_world(fixture *f)
{
    *f = (fixture){0};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &f->world));
    f->target = weft_component_create_plain(f->world, "target", 4, 4, 0);
    f->bits = taker(f, "bits", WEFT_ENABLEABLE);
    f->plain = taker(f, "plain", 0);
    CHECK(f->bits.id != 0 && f->plain.id != 0);
}

static void make_writer(fixture *f)
{
    weft_system_desc desc = {
        .name = "writer",
        .run = count_rows,
        .user = f,
        .flags = WEFT_SYSTEM_SERIAL,
        .over.rows = {.terms = {{f->target, WEFT_WRITE}}, .filters_write_groups = true}};
    CHECK(weft_system_create(f->world, &desc).id != 0);
}

Test(write_groups, a_system_that_sets_the_enable_bits_of_what_takes_over_comes_before)
{
    fixture f;
    open_world(&f);
    weft_component both[2] = {f.target, f.bits};
    CHECK_OK(weft_entity_create_many(f.world, weft_archetype_create(f.world, both, 2), 1000, NULL));
    weft_system_desc toggler = {
        .name = "toggler", .run = toggle, .over.rows = {.terms = {{f.bits, WEFT_WRITE}}}};
    CHECK(weft_system_create(f.world, &toggler).id != 0);
    make_writer(&f);
    char text[1000];
    weft_schedule_ambiguities(f.world, text, sizeof text);
    if (strstr(text, "bits") == NULL) test_fail(__FILE__, __LINE__, text);
    CHECK_OK(weft_world_step(f.world, 0));
    CHECK_U64(f.written, 500);
    CHECK_OK(weft_world_destroy(f.world));
}

Test(write_groups, a_system_and_those_that_take_over_from_it_have_no_rows_in_common)
{
    fixture f;
    open_world(&f);
    weft_component both[2] = {f.target, f.plain};
    CHECK_OK(weft_entity_create_many(f.world, weft_archetype_create(f.world, both, 2), 100, NULL));
    CHECK_OK(weft_entity_create_many(f.world, weft_archetype_create(f.world, both, 1), 10, NULL));
    weft_system_desc other = {
        .name = "other",
        .run = count_rows,
        .user = &f,
        .flags = WEFT_SYSTEM_SERIAL,
        .over.rows = {.terms = {{f.target, WEFT_WRITE}, {f.plain, WEFT_WRITE}}}};
    make_writer(&f);
    CHECK(weft_system_create(f.world, &other).id != 0);
    char text[1000];
    CHECK_U64(weft_schedule_ambiguities(f.world, text, sizeof text), 0); /* nothing orders them */
    CHECK_OK(weft_world_destroy(f.world));
}

Test(write_groups, commands_that_add_what_takes_over_are_played_before)
{
    fixture f;
    open_world(&f);
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.target), 100, NULL));
    weft_system_desc taking = {.name = "taking",
                               .run = take,
                               .user = &f,
                               .effects = WEFT_RECORDS_ADD,
                               .records = {f.plain},
                               .over.rows = {.terms = {{f.target}}}};
    CHECK(weft_system_create(f.world, &taking).id != 0);
    make_writer(&f);
    CHECK_OK(weft_world_step(f.world, 0));
    CHECK_U64(f.written, 0);
    CHECK_OK(weft_world_destroy(f.world));
}
