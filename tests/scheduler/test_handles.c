/* SPDX-License-Identifier: MIT */
/* test_handles.c: handles of another world and invented ones, given to every function that takes
 * one; null entries in the lists of descriptions; how errors are counted and forgotten. */
#include "invariant.h"

#include <weft/blob.h>
#include <weft/finder.h>
#include <weft/observer.h>
#include <weft/weft.h>

#include "plain.h"
#include "step_calls.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct side {
    weft_world *world;
    weft_component a, tag, list, shared, single;
    weft_archetype archetype;
    weft_query query;
    weft_system system;
    weft_entity entity;
} side;

static void nothing(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static void open_side(side *s, uint32_t more)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &s->world));
    s->a = weft_component_create_plain(s->world, "a", 4, 4, WEFT_ENABLEABLE);
    s->tag = weft_component_create_plain(s->world, "tag", 0, 1, 0);
    s->list = weft_component_create_plain(s->world, "list", 4, 4, WEFT_BUFFER);
    s->shared = weft_component_create_plain(s->world, "shared", 4, 4, WEFT_SHARED);
    s->single = weft_component_create_plain(s->world, "single", 4, 4, WEFT_RESOURCE);
    weft_component set[] = {s->a, s->list, s->shared};
    s->archetype = weft_archetype_create(s->world, set, 3);
    s->query = weft_query_create(
        s->world, &(weft_query_desc){.terms = {{s->a, WEFT_WRITE, 0, 0}, {s->shared, 0, 0, 0}}});
    s->system = weft_system_create(s->world, &(weft_system_desc){.name = "s", .run = nothing});
    for (uint32_t i = 0; i <= more; i++) s->entity = weft_entity_create(s->world, s->archetype);
    CHECK(s->entity.version != 0 && s->system.id != 0);
}

/* What one call is given that is not in step_calls.h, or takes a handle otherwise there: all of
 * `here`, but for the handles of one kind. */
typedef struct given {
    side *here;
    weft_component component, list, shared, single;
    weft_archetype archetype;
    weft_query query;
    weft_system system;
} given;

typedef enum handle_kind { COMPONENT, ARCHETYPE, QUERY, SYSTEM } handle_kind;

/* Calls that fail tell it by their result (true here). */
#define FAILS(name, text)                                                                          \
    static bool name(const given *g)                                                               \
    {                                                                                              \
        return text;                                                                               \
    }
#define W g->here->world
#define E g->here->entity
static uint32_t value;
static weft_system_stats stats;
static weft_system_counters counters;
static weft_archetype_stats figures;
static weft_relation_stats relation_figures;

static void observe(const weft_observation *observation, void *user)
{
    (void)observation, (void)user;
}

FAILS(entity_get, weft_entity_read(W, E, g->component) == NULL)
FAILS(entity_write, weft_entity_write(W, E, g->component) == NULL)
FAILS(entity_read_many, weft_entity_read_many(W, &E, 1, g->component, &value) != WEFT_OK)
FAILS(change_many_remove,
      weft_entity_change_many(W, &E, 1,
                              &(weft_change_desc){.remove = &g->component, .remove_count = 1}) !=
          WEFT_OK)
FAILS(create_filled,
      weft_entity_create_filled(W, g->here->archetype, WEFT_VALUES({g->component, &value}), 1,
                                NULL) != WEFT_OK)
FAILS(shared_values, weft_shared_values(W, g->shared, NULL, 0) == 0)
FAILS(resource_read, weft_resource_read(W, g->single) == NULL)
FAILS(finder_open, weft_finder_open(W, g->component).world == NULL)
FAILS(read_values_component,
      weft_query_read_values(W, g->here->query, g->component, &value, 1) == 0)
FAILS(system_lookup, weft_system_create(W, &(weft_system_desc){.name = "x",
                                                               .run = nothing,
                                                               .lookups = {{g->component, 0}}})
                             .id == 0)
FAILS(system_resource, weft_system_create(W, &(weft_system_desc){.name = "x",
                                                                 .run = nothing,
                                                                 .resources = {{g->single, 0}}})
                               .id == 0)
FAILS(system_record, weft_system_create(W, &(weft_system_desc){.name = "x",
                                                               .run = nothing,
                                                               .effects = WEFT_RECORDS_ADD,
                                                               .records = {g->component}})
                             .id == 0)
FAILS(save_without,
      weft_world_save(W, "/nowhere/x",
                      &(weft_save_desc){.without = &g->component, .without_count = 1}) != WEFT_OK)

FAILS(component_check, weft_component_check(W, g->component, &value) != WEFT_OK)
FAILS(required, weft_component_create(W, &(weft_component_desc){.name = "x",
                                                                .size = 4,
                                                                .required = &g->component,
                                                                .required_count = 1})
                        .id == 0)
FAILS(resource_read_buffer, weft_resource_read_buffer(W, g->single).count == 0)
FAILS(relation_figures_of, weft_relation_stats_get(W, g->component, &relation_figures,
                                                   sizeof relation_figures) != WEFT_OK)
FAILS(observer_component, weft_observer_create(W, &(weft_observer_desc){.name = "x",
                                                                        .on = WEFT_ON_ADDED,
                                                                        .component = g->component,
                                                                        .run = observe})
                                  .id == 0)
FAILS(system_destroys, weft_system_create(W, &(weft_system_desc){.name = "x",
                                                                 .run = nothing,
                                                                 .effects = WEFT_RECORDS_DESTROY,
                                                                 .destroys = {g->component}})
                               .id == 0)

FAILS(archetype_components, weft_archetype_components(W, g->archetype, NULL, 0) == 0)
FAILS(archetype_figures,
      weft_archetype_stats_get(W, g->archetype, &figures, sizeof figures) != WEFT_OK)

FAILS(query_count, weft_query_count(W, g->query) == 0)
FAILS(query_is_empty, weft_query_is_empty(W, g->query))
FAILS(query_matches, !weft_query_matches(W, g->query, E))
FAILS(query_archetypes, weft_query_archetypes(W, g->query, NULL, 0) == 0)
FAILS(query_entities, weft_query_entities(W, g->query, NULL, 0) == 0)
FAILS(query_read_values, weft_query_read_values(W, g->query, g->component, &value, 1) == 0)
FAILS(query_single, weft_query_single(W, g->query).version == 0)
FAILS(query_each, weft_query_each_parallel(W, g->query, nothing, NULL) != WEFT_OK)
FAILS(system_filtered, weft_system_create(W, &(weft_system_desc){.name = "x",
                                                                 .run = nothing,
                                                                 .over = {.kind = WEFT_OVER_QUERY,
                                                                          .query = g->query}})
                               .id == 0)
FAILS(system_reads,
      weft_system_create(W, &(weft_system_desc){.name = "x", .run = nothing, .queries = {g->query}})
              .id == 0)

FAILS(system_figures, weft_system_stats_get(W, g->system, &stats, sizeof stats) != WEFT_OK)
FAILS(system_counts, weft_system_counters_get(W, g->system, &counters, sizeof counters) != WEFT_OK)

static bool query_begin(const given *g)
{
    weft_cursor cursor = weft_query_begin(W, g->query);
    bool has_rows = weft_query_next(&cursor);
    weft_query_end(&cursor);
    return !has_rows;
}

#define ROW(of, call)                                                                              \
    {                                                                                              \
        of, #call, call                                                                            \
    }
static const struct {
    handle_kind kind;
    const char *name;
    bool (*call)(const given *g);
} more_calls[] = {
    ROW(COMPONENT, entity_get),
    ROW(COMPONENT, entity_write),
    ROW(COMPONENT, entity_read_many),
    ROW(COMPONENT, change_many_remove),
    ROW(COMPONENT, create_filled),
    ROW(COMPONENT, shared_values),
    ROW(COMPONENT, resource_read),
    ROW(COMPONENT, finder_open),
    ROW(COMPONENT, read_values_component),
    ROW(COMPONENT, system_lookup),
    ROW(COMPONENT, system_resource),
    ROW(COMPONENT, system_record),
    ROW(COMPONENT, save_without),
    ROW(COMPONENT, component_check),
    ROW(COMPONENT, required),
    ROW(COMPONENT, resource_read_buffer),
    ROW(COMPONENT, relation_figures_of),
    ROW(COMPONENT, observer_component),
    ROW(COMPONENT, system_destroys),
    ROW(ARCHETYPE, archetype_components),
    ROW(ARCHETYPE, archetype_figures),
    ROW(QUERY, query_begin),
    ROW(QUERY, query_count),
    ROW(QUERY, query_is_empty),
    ROW(QUERY, query_matches),
    ROW(QUERY, query_archetypes),
    ROW(QUERY, query_entities),
    ROW(QUERY, query_read_values),
    ROW(QUERY, query_single),
    ROW(QUERY, query_each),
    ROW(QUERY, system_filtered),
    ROW(QUERY, system_reads),
    ROW(SYSTEM, system_figures),
    ROW(SYSTEM, system_counts),
};

/* The handles of one kind come from `there`, or are invented: number `lie` of them. */
static given give(side *here, const side *there, handle_kind kind, uint32_t lie)
{
    given g = {.here = here,
               .component = here->a,
               .list = here->list,
               .shared = here->shared,
               .single = here->single,
               .archetype = here->archetype,
               .query = here->query,
               .system = here->system};
    const side *from = kind == COMPONENT ? there : here;
    g.component = from->a, g.list = from->list, g.shared = from->shared, g.single = from->single;
    if (kind == ARCHETYPE) g.archetype = there->archetype;
    if (kind == QUERY) g.query = there->query;
    if (kind == SYSTEM) g.system = there->system;
    uint32_t world = here->a.world, ids[] = {0, 0, 0x7fffu, UINT32_MAX};
    weft_component invented = {ids[lie], lie == 1 ? world : lie == 3 ? UINT32_MAX : world};
    if (lie == 0) return g;
    if (kind == COMPONENT) g.component = g.list = g.shared = g.single = invented;
    if (kind == ARCHETYPE) g.archetype = (weft_archetype){invented.id, invented.world};
    if (kind == QUERY) g.query = (weft_query){invented.id, invented.world};
    if (kind == SYSTEM) g.system = (weft_system){invented.id, invented.world};
    return g;
}

PLAIN_TEST(handles_of_another_world_and_invented_ones_are_refused_by_every_function)
{
    side here, there;
    open_side(&here, 0);
    open_side(&there, 3);
    CHECK(here.a.id == there.a.id && here.query.id == there.query.id);
    uint64_t before = weft_world_hash(here.world, WEFT_HASH_LAYOUT);
    for (uint32_t i = 0; i < sizeof more_calls / sizeof more_calls[0]; i++)
        for (uint32_t lie = 0; lie < 4; lie++) {
            given g = give(&here, &there, more_calls[i].kind, lie);
            uint64_t number = weft_world_error(here.world)->number;
            bool failed = more_calls[i].call(&g);
            const weft_error *error = weft_world_error(here.world);
            if (!failed || error->code != WEFT_BAD_HANDLE || error->number == number)
                CHECK_TEXT(error->text, more_calls[i].name);
        }
    CHECK_U64(weft_world_hash(here.world, WEFT_HASH_LAYOUT), before);
    CHECK_OK(weft_world_validate(here.world));
    given right = give(&here, &here, COMPONENT, 0);
    CHECK(!entity_get(&right) && !entity_write(&right) && !query_count(&right));
    CHECK(!weft_entity_has(here.world, here.entity, there.a));
    CHECK(!weft_entity_is_enabled(here.world, here.entity, there.a));
    CHECK(weft_entity_read_shared(here.world, here.entity, there.shared) == NULL);
    CHECK(weft_component_info(here.world, there.a) == NULL);
    CHECK_U64(weft_component_hash(here.world, there.a), 0);
    const weft_system_desc by_depth = {
        .name = "x", .run = nothing, .over.rows.terms = {{here.a}}, .by_depth = there.a};
    CHECK_U64(weft_system_create(here.world, &by_depth).id, 0);
    CHECK_RESULT(weft_world_error(here.world)->code, WEFT_BAD_HANDLE);
    CHECK_OK(weft_world_destroy(here.world));
    CHECK_OK(weft_world_destroy(there.world));
}

/* The handles of a room, as the table of calls names them. */
#define HANDLE(name)                                                                               \
    {                                                                                              \
        "c->" #name, offsetof(calls_room, name)                                                    \
    }
static const struct {
    const char *text;
    size_t offset;
} room_handles[] = {HANDLE(a),        HANDLE(b),      HANDLE(tag),       HANDLE(shared),
                    HANDLE(resource), HANDLE(toggle), HANDLE(list),      HANDLE(list_resource),
                    HANDLE(holder),   HANDLE(query),  HANDLE(archetype), HANDLE(relation),
                    HANDLE(unused),   HANDLE(system), HANDLE(observer)};

/* Whether a call of the table is given a handle; reports say in words what is wrong with it. */
static bool takes_handle(const char *call, const char *handle)
{
    size_t length = strlen(handle);
    const char *at = strstr(call, handle);
    while (at != NULL && (at[length] == '_' || isalnum((unsigned char)at[length])))
        at = strstr(at + 1, handle);
    return at != NULL && strncmp(call, "REPORT", strlen("REPORT")) != 0;
}

/* The room with one of its handles of another world, or number `lie` of those that are invented. */
static calls_room room_with(const calls_room *here, const calls_room *there, size_t offset,
                            uint32_t lie)
{
    calls_room room = *here;
    const uint32_t world = here->a.world, ids[] = {0, 0, 0x7fff, UINT32_MAX};
    const weft_component invented = {ids[lie], lie == 3 ? UINT32_MAX : world};
    memcpy((char *)&room + offset,
           lie == 0 ? (const void *)((const char *)there + offset) : &invented, sizeof invented);
    return room;
}

PLAIN_TEST(each_handle_that_a_call_of_an_owner_is_given_is_checked)
{
    calls_room here, there;
    weft_world *worlds[2];
    calls_scratch scratch = {.place = CALLS_WITH_WRONG_HANDLES};
    uint32_t made = 0;
    for (uint32_t i = 0; i < 2; i++)
        CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &worlds[i]));
    CHECK(calls_room_open(&here, worlds[0], "handles.wss"));
    CHECK(calls_room_open(&there, worlds[1], "handles.wss"));
    uint64_t before = weft_world_hash(worlds[0], WEFT_HASH_LAYOUT);
    for (uint32_t i = 0; i < CALL_COUNT; i++)
        for (uint32_t k = 0; k < sizeof room_handles / sizeof room_handles[0]; k++)
            for (uint32_t lie = 0; takes_handle(calls[i].text, room_handles[k].text) && lie < 4;
                 lie++, made++) {
                calls_room room = room_with(&here, &there, room_handles[k].offset, lie);
                uint64_t number = weft_world_error(worlds[0])->number;
                bool failed = calls[i].is_refused(&room, &scratch);
                const weft_error *error = weft_world_error(worlds[0]);
                if (!failed || error->code != WEFT_BAD_HANDLE || error->number == number)
                    CHECK_TEXT(error->text, calls[i].text);
            }
    CHECK(made > 4 * 30);
    CHECK_U64(weft_world_hash(worlds[0], WEFT_HASH_LAYOUT), before);
    CHECK_OK(weft_world_validate(worlds[0]));
    CHECK(calls_room_close(&here));
    CHECK(calls_room_close(&there));
    for (uint32_t i = 0; i < 2; i++) CHECK_OK(weft_world_destroy(worlds[i]));
}

PLAIN_TEST(recorders_refuse_handles_of_another_world)
{
    side here, there;
    open_side(&here, 0);
    open_side(&there, 0);
    weft_recorder *c;
    CHECK_OK(weft_recorder_create(here.world, &c));
    weft_entity e = here.entity;
    weft_slice rows;
    CHECK_RESULT(weft_recorder_add(c, e, there.a), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_remove(c, e, there.a), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_set(c, e, there.a, &value, 4), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_set_shared(c, e, there.shared, &value), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_enable(c, e, there.a, false), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_append(c, e, there.list, &value, 1), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_query_add(c, there.query, here.tag), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_query_add(c, here.query, there.tag), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_query_remove(c, here.query, there.a), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_query_destroy_entities(c, there.query), WEFT_BAD_HANDLE);
    CHECK_U64(weft_recorder_create_entity(c, there.archetype).version, 0);
    CHECK_RESULT(weft_recorder_create_rows(c, there.archetype, 1, &rows), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_play(c), WEFT_BAD_HANDLE);
    CHECK(weft_entity_is_alive(here.world, e) && weft_query_count(here.world, here.query) == 1);
    weft_recorder_destroy(c);
    CHECK_OK(weft_world_destroy(here.world));
    CHECK_OK(weft_world_destroy(there.world));
}

PLAIN_TEST(references_to_blobs_of_another_store_are_refused)
{
    static const weft_blob_type type = WEFT_BLOB_TYPE_PLAIN(uint64_t);
    weft_blob_store *store[2];
    weft_blob_ref ref[2];
    for (uint32_t i = 0; i < 2; i++) {
        weft_blob_builder *builder;
        CHECK_OK(weft_blob_store_create(NULL, &store[i]));
        CHECK_OK(weft_blob_builder_create(store[i], &type, 0, &builder));
        *(uint64_t *)weft_blob_builder_root(builder) = 7 + i;
        CHECK_OK(weft_blob_builder_finish(builder, &ref[i]));
        weft_blob_builder_destroy(builder);
    }
    weft_blob_info info;
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_U64(*(const uint64_t *)weft_blob_read(store[i], ref[i], &type), 7 + i);
        CHECK(weft_blob_read(store[i], ref[1 - i], &type) == NULL);
        CHECK_RESULT(weft_blob_acquire(store[i], ref[1 - i]), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_blob_release(store[i], ref[1 - i]), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_blob_info_get(store[i], ref[1 - i], &info, sizeof info), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_blob_save(store[i], ref[1 - i], "/nowhere/x"), WEFT_BAD_HANDLE);
    }
    weft_blob_store_destroy(store[0]);
    weft_blob_store_destroy(store[1]);
}

/* ---- lists ---- */

static void check_list(const side *s, const weft_system_desc *desc, const char *where)
{
    CHECK_U64(weft_system_create(s->world, desc).id, 0);
    if (strstr(weft_world_error(s->world)->text, where) == NULL)
        CHECK_TEXT(weft_world_error(s->world)->text, where);
}

PLAIN_TEST(null_entries_of_lists_are_refused_by_name_and_position)
{
    side s;
    open_side(&s, 0);
    const weft_component null = {0};
    const weft_lookup tail[] = {{s.a, WEFT_READ}, {null, WEFT_READ}};
    check_list(&s,
               &(weft_system_desc){.name = "x", .run = nothing, .resources = {{null, WEFT_WRITE}}},
               "resources[0]");
    check_list(&s,
               &(weft_system_desc){
                   .name = "x", .run = nothing, .lookups = {{s.a, 0}, {null, 0}, {s.a, 0}}},
               "lookups[1]");
    check_list(&s,
               &(weft_system_desc){
                   .name = "x", .run = nothing, .more_lookups = tail, .more_lookup_count = 2},
               "more_lookups[1]");
    check_list(&s, &(weft_system_desc){.name = "x", .run = nothing, .more_lookup_count = 2},
               "more_lookups");
    check_list(&s, &(weft_system_desc){.name = "x", .run = nothing, .queries = {{0}, s.query}},
               "queries[0]");
    check_list(&s,
               &(weft_system_desc){.name = "x",
                                   .run = nothing,
                                   .effects = WEFT_RECORDS_ADD,
                                   .records = {s.a, null, s.tag}},
               "records[1]");
    check_list(&s, &(weft_system_desc){.name = "x", .run = nothing, .before = {NULL, "s"}},
               "before[0]");
    check_list(&s, &(weft_system_desc){.name = "x", .run = nothing, .after = {"s", ""}},
               "after[1]");
    check_list(&s,
               &(weft_system_desc){
                   .name = "x", .run = nothing, .over.rows.terms = {{null, WEFT_WRITE, 0, 0}}},
               "terms[0]");
    CHECK_RESULT(weft_group_set(s.world, &(weft_group_desc){.name = "g", .after = {NULL, "s"}}),
                 WEFT_BAD_HANDLE);
    CHECK(strstr(weft_world_error(s.world)->text, "after[0]") != NULL);
    weft_query_desc gap = {.terms = {{s.a, 0, 0, 0}, {null, 0, 0, 0}, {s.tag, 0, 0, 0}}};
    CHECK_U64(weft_query_create(s.world, &gap).id, 0);
    CHECK(strstr(weft_world_error(s.world)->text, "terms[1]") != NULL);
    weft_component set[] = {s.a, null};
    CHECK_U64(weft_archetype_create(s.world, set, 2).id, 0);
    CHECK(strstr(weft_world_error(s.world)->text, "[1]") != NULL);
    CHECK_OK(weft_world_destroy(s.world));
}

static uint32_t runs;

static void sum_resources(weft_slice *slice, void *user)
{
    const weft_component *list = user;
    for (uint32_t i = 0; i < 30; i++) {
        uint32_t *number = weft_slice_write_resource(slice, list[i]);
        CHECK(number != NULL);
        *number += i;
    }
    runs++;
}

PLAIN_TEST(lists_have_no_limit)
{
    side s;
    open_side(&s, 0);
    weft_component list[30];
    weft_lookup grants[30];
    char names[30][8];
    const char *earlier[29];
    for (uint32_t i = 0; i < 30; i++) {
        snprintf(names[i], sizeof names[i], "n%u", i);
        list[i] = weft_component_create_plain(s.world, names[i], 4, 4, WEFT_RESOURCE);
        grants[i] = (weft_lookup){list[i], WEFT_WRITE};
        weft_system_desc desc = {.name = names[i],
                                 .run = sum_resources,
                                 .user = list,
                                 .resources = {{list[0], WEFT_WRITE}},
                                 .more_resources = grants + 1,
                                 .more_resource_count = 29,
                                 .more_after = earlier,
                                 .more_after_count = i};
        for (uint32_t k = 0; k < 30; k++)
            grants[k] = (weft_lookup){list[k < i ? k : i], WEFT_WRITE};
        if (i < 29) earlier[i] = names[i];
        if (i < 29) desc.run = nothing;
        CHECK(weft_system_create(s.world, &desc).id != 0);
    }
    CHECK_OK(weft_world_step(s.world, 0));
    CHECK_U64(runs, 1);
    CHECK_U64(*(const uint32_t *)weft_resource_read(s.world, list[29]), 29);
    CHECK_OK(weft_world_destroy(s.world));
}

PLAIN_TEST(errors_are_counted_and_can_be_forgotten)
{
    side s;
    open_side(&s, 0);
    const weft_error *error = weft_world_error(s.world);
    uint64_t number = error->number;
    CHECK(weft_entity_read(s.world, s.entity, s.tag) == NULL);
    CHECK_RESULT(error->code, WEFT_NOT_FOUND);
    CHECK_U64(error->number, number + 1);
    CHECK(weft_entity_read(s.world, s.entity, s.a) != NULL); /* leaves it */
    CHECK_RESULT(error->code, WEFT_NOT_FOUND);
    CHECK(weft_entity_read(s.world, s.entity, s.tag) == NULL);
    CHECK_U64(error->number, number + 2); /* the same again */
    weft_world_error_clear(s.world);
    error = weft_world_error(s.world);
    CHECK(error->code == WEFT_OK && error->text[0] == 0 && error->component.id == 0);
    CHECK_U64(error->number, number + 2);
    weft_world_error_clear(NULL);
    CHECK_OK(weft_world_destroy(s.world));
}
