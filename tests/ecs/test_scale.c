/* SPDX-License-Identifier: MIT */
/* test_scale.c: what must take time in proportion to its size: checking, saving, loading, changing
 * worlds. One pass over a world of 16 times as many things takes about as long as 16 passes over
 * the small one, in processor time of this thread; work that grows with the square takes 16 times
 * as long. */
#include "archetype.h"
#include "plain.h"
#include "storage_fixture.h"
#include "world_file_read.h"
#include "world_file_write.h"
#include "world_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FACTOR = 16, TIMES_MOST = 5, ATTEMPTS = 16 };

typedef struct subject {
    const char *what;
    uint32_t count;                                  /* of the small world */
    void (*fill)(weft_world *world, uint32_t count); /* makes `count` things */
    void (*pass)(weft_world *world, uint32_t count); /* what is timed */
} subject;

static double pass_ns(const subject *s, weft_world *world, uint32_t count, uint32_t passes)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (uint32_t i = 0; i < passes; i++) s->pass(world, count);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

static weft_world *filled(const subject *s, uint32_t count)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    s->fill(world, count);
    s->pass(world, count);
    return world;
}

static void check_linear(const subject *s)
{
    weft_world *small = filled(s, s->count), *large = filled(s, FACTOR * s->count);
    double times = 1e9;
    for (int i = 0; i < ATTEMPTS && times > TIMES_MOST; i++) {
        double one = pass_ns(s, large, FACTOR * s->count, 1);
        double many = pass_ns(s, small, s->count, FACTOR);
        if (one / many < times) times = one / many;
    }
    if (times > TIMES_MOST)
        fprintf(stderr, "%s: %d times as many take %.0f times as long\n", s->what, FACTOR,
                times * FACTOR);
    CHECK(times <= TIMES_MOST);
    CHECK_OK(weft_world_destroy(small));
    CHECK_OK(weft_world_destroy(large));
}

static weft_component type_make(weft_world *world, uint32_t number, uint32_t flags)
{
    char name[32];
    snprintf(name, sizeof name, "T%u", number);
    return weft_component_create_plain(world, name, 4, 4, flags);
}

static void validate(weft_world *world, uint32_t count)
{
    (void)count;
    CHECK_OK(weft_world_validate(world));
}

/* ---- what worlds hold many of ---- */

static void fill_shared_values(weft_world *world, uint32_t count)
{
    weft_component team = type_make(world, 0, WEFT_SHARED);
    weft_archetype archetype = weft_archetype_create(world, &team, 1);
    for (uint32_t i = 1; i <= count; i++)
        CHECK_OK(weft_entity_set_shared(world, weft_entity_create(world, archetype), team, &i));
}

static void fill_filters(weft_world *world, uint32_t count)
{
    weft_component team = type_make(world, 0, WEFT_SHARED);
    for (uint32_t i = 1; i <= count; i++) {
        weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{team}}});
        CHECK_OK(weft_query_filter_shared(world, query, team, WEFT_FILTER_EQUAL, &i, 1));
    }
}

static void fill_archetypes(weft_world *world, uint32_t count)
{
    weft_component types[20], some[20];
    for (uint32_t i = 0; i < 20; i++) types[i] = type_make(world, i, 0);
    for (uint32_t n = 1; n <= count; n++) {
        uint32_t some_count = 0;
        for (uint32_t bit = 0; bit < 20; bit++)
            if ((n >> bit & 1) != 0) some[some_count++] = types[bit];
        CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, some, some_count), 1,
                                         NULL));
    }
}

static void fill_types(weft_world *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        weft_component type = type_make(world, i, 0);
        CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, type), 1, NULL));
    }
}

static void fill_names(weft_world *world, uint32_t count)
{
    char name[32];
    for (uint32_t i = 0; i < count; i++) {
        weft_entity entity = weft_entity_create(world, weft_archetype_create(world, NULL, 0));
        snprintf(name, sizeof name, "entity %u", i);
        CHECK_OK(weft_entity_set_name(world, entity, name));
    }
}

static void fill_chunks(weft_world *world, uint32_t count)
{
    weft_component type = weft_component_create(
        world,
        &(weft_component_desc){.name = "few", .size = 4, .alignment = 4, .chunk_row_limit = 2});
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, type), 2 * count, NULL));
}

/* Few archetypes of `count` types each. */
static void fill_wide(weft_world *world, uint32_t count)
{
    weft_component *types = calloc(count, sizeof *types);
    for (uint32_t i = 0; i < count; i++) types[i] = type_make(world, i, 0);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, types, count - i), 1,
                                         NULL));
    free(types);
}

PLAIN_TEST(checking_a_world_takes_time_in_proportion_to_what_is_in_it)
{
    static const subject subjects[] = {

        {"shared values", 2000, fill_shared_values, validate},
        {"filters", 1000, fill_filters, validate},
        {"archetypes", 1000, fill_archetypes, validate},
        {"types", 500, fill_types, validate},
        {"types of an archetype", 500, fill_wide, validate},
        {"names", 2000, fill_names, validate},
        {"chunks", 1000, fill_chunks, validate},
    };
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) check_linear(&subjects[i]);
}

/* Saves, and loads into a world that registered the types the other way round. */
static void save_and_load(weft_world *world, uint32_t count)
{
    weft_world_bytes bytes;
    weft_world *other;
    CHECK_OK(weft__world_write(world, &(weft_save_desc){0}, &bytes));
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &other));
    for (uint32_t i = count; i-- > 0;) {
        char name[32];
        snprintf(name, sizeof name, "T%u", i);
        weft_component type = weft_component_find(world, name);
        if (type.id != 0) type_make(other, i, weft_component_info(world, type)->flags);
    }
    CHECK_OK(weft__world_read(other, bytes.bytes, bytes.count, &(weft_load_desc){0}, true, NULL));
    CHECK_OK(weft_world_destroy(other));
    weft_world_bytes_free(world, &bytes);
}

PLAIN_TEST(files_take_time_in_proportion_to_their_bytes)
{
    static const subject subjects[] = {
        {"shared values", 2000, fill_shared_values, save_and_load},
        {"archetypes", 1000, fill_archetypes, save_and_load},
        {"types", 500, fill_types, save_and_load},
        {"types of an archetype", 500, fill_wide, save_and_load},
        {"names", 2000, fill_names, save_and_load},
        {"chunks", 1000, fill_chunks, save_and_load},
    };
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) check_linear(&subjects[i]);
}

/* ---- what is made on the way ---- */

static void fill_nothing(weft_world *world, uint32_t count)
{
    (void)world, (void)count;
}

/* Ways from one archetype to `count` others, and each of them once more. */
static void lead_away(weft_world *unused, uint32_t count)
{
    (void)unused;
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component *types = calloc(count, sizeof *types);
    for (uint32_t i = 0; i < count; i++) types[i] = type_make(world, i, 0);
    weft__archetype *empty = weft__archetype_obtain(world, NULL, 0);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < count; i++) {
            const weft__plan *way = weft__archetype_edge(world, empty, types[i].id, false);
            CHECK(way != NULL && way->from == empty && way->to->types[0].component == types[i].id);
            CHECK(weft__plan_obtain(world, empty, way->to) == way);
        }
    free(types);
    CHECK_OK(weft_world_destroy(world));
}

static void value_end(void *value, void *user)
{
    (void)value, (void)user;
}

/* `count` shared values that have one owner. */
static void move_owned(weft_world *unused, uint32_t count)
{
    (void)unused;
    weft_world *from, *to;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &from));
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &to));
    weft_component owned = weft_component_create(
        from, &(weft_component_desc){
                  .name = "owned", .size = 4, .flags = WEFT_SHARED, .shared_release = value_end});
    weft_archetype archetype = weft_archetype_create(from, &owned, 1);
    for (uint32_t i = 1; i <= count; i++)
        CHECK_OK(weft_entity_set_shared(from, weft_entity_create(from, archetype), owned, &i));
    weft_transfer_report report;
    CHECK_OK(weft_world_transfer(to, from, NULL, &report, sizeof report));
    CHECK_U64(report.entities, count);
    CHECK_OK(weft_world_destroy(from));
    CHECK_OK(weft_world_destroy(to));
}

PLAIN_TEST(ways_and_values_take_time_in_proportion_to_their_number)
{
    static const subject subjects[] = {
        {"ways from an archetype", 2000, fill_nothing, lead_away},
        {"owned shared values of a transfer", 500, fill_nothing, move_owned},
    };
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) check_linear(&subjects[i]);
}
