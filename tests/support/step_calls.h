/* SPDX-License-Identifier: MIT */
/* step_calls.h: the public calls that change a world, its queries or its schedule, as a table of
 * calls that must be refused: for test_step_calls.c, which makes each of them against its rule of
 * docs/reference/threads.md, for `weft stress threads`, which draws them, and for test_handles.c,
 * which makes them with handles that are none. A refused call gives WRONG_PHASE or BUSY (there
 * BAD_HANDLE), or null where there is no result, and leaves the world as it was. Calls that
 * only look, or that belong to the caller's own rows, buffers, blobs and recorders, are not in the
 * table. */
#ifndef WEFT_TESTS_STEP_CALLS_H
#define WEFT_TESTS_STEP_CALLS_H

#include <weft/observer.h>
#include <weft/order.h>
#include <weft/snapshot.h>
#include <weft/state_log.h>
#include <weft/stream.h>
#include <weft/transfer.h>
#include <weft/transform.h>
#include <weft/type.h>
#include <weft/value.h>
#include <weft/weft.h>
#include <weft/world_text.h>

#include "invariant.h"

#include <stdio.h>
#include <string.h>

/* What the calls need: things of a world, made while it is idle. Constant while calls are made. */
typedef struct calls_room {
    weft_world *world;
    weft_component a, b, tag, shared, resource; /* plain: 4 bytes, 4 bytes, a tag, ... */
    weft_component toggle, list, list_resource;
    weft_component holder, relation; /* `holder` could be made a relation */
    weft_archetype archetype;
    weft_entity entity, other, made; /* two of a and b; one of tag, toggle and list */
    weft_query query, unused;        /* `unused` is of no system and was never counted */
    weft_system system;              /* a timer that is not set */
    weft_recorder *recorder;         /* has one command: add the tag to `entity` */
    weft_snapshot *snapshot;
    weft_observer observer;
    weft_stream *stream;
    weft_world_hook added; /* is one of the world, and calls nothing */
    const char *path;      /* of no file once the room is open */
} calls_room;

/* From where calls are made. */
typedef enum calls_place {
    CALLS_IN_SYSTEM,
    CALLS_BY_STRANGER, /* a thread that runs no system, while one runs */
    CALLS_WHILE_ITERATING,
    CALLS_IN_EXCLUSIVE,
    CALLS_IN_HOOK,
    CALLS_WITH_WRONG_HANDLES /* the world is idle */
} calls_place;

/* What a caller gives and gets. Owner: the caller. */
typedef struct calls_scratch {
    calls_place place;
    weft_world *second; /* another world, the caller's own */
    weft_recorder *made;
    weft_snapshot *taken;
    weft_stream *opened;
    weft_indexed indexed;
    weft_transform transform;
    weft_world_bytes saved;
    weft_world_hook hook;
    uint32_t value;
    uint64_t wide;
    char text[4096];
} calls_scratch;

/* ---- what counts as refused ---- */

static inline bool calls_refused(const calls_scratch *s, weft_result result)
{
    if (s->place == CALLS_WITH_WRONG_HANDLES) return result == WEFT_BAD_HANDLE;
    return result == WEFT_WRONG_PHASE || (s->place == CALLS_BY_STRANGER && result == WEFT_BUSY);
}

static inline bool calls_no_report(const calls_scratch *s, size_t length)
{
    return length != 0 && strstr(s->text, "a step is going on") != NULL;
}

/* Checked builds give systems memory that stands in: what is written there is not in the world. */
static inline bool calls_no_value(const calls_scratch *s, void *value)
{
    if (value == NULL)
        return !WEFT_IS_CHECKED || s->place == CALLS_BY_STRANGER ||
               s->place == CALLS_WITH_WRONG_HANDLES;
    *(uint32_t *)value ^= 99;
    return WEFT_IS_CHECKED;
}

static inline bool calls_no_rows(weft_world *world, weft_query query)
{
    weft_cursor cursor = weft_query_begin(world, query);
    bool has_rows = weft_query_next(&cursor);
    weft_query_end(&cursor);
    return !has_rows;
}

#define WRONG(s, ...) calls_refused(s, (__VA_ARGS__))
#define REPORT(s, ...) calls_no_report(s, (__VA_ARGS__))
#define NO_ID(...) ((__VA_ARGS__).id == 0)
#define IS_EMPTY(...) ((__VA_ARGS__).archetype.id == 0)
#define NO_VALUE(s, ...) calls_no_value(s, __VA_ARGS__)

/* ---- arguments ---- */

static inline void calls_observe(const weft_observation *observation, void *user)
{
    (void)observation, (void)user;
}

static inline void calls_run(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static inline weft_result calls_write(void *user, const void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return WEFT_IO;
}

static const weft_observer_desc calls_observing = {
    .name = "n", .on = WEFT_ON_CREATED, .run = calls_observe};
static const weft_writer calls_writer = {.write = calls_write};
static const weft_text calls_json = {.bytes = "{}", .count = 2};

/* ---- the table ---- */

/* X(name, is refused) */
#define CALLS_OF_OWNERS(X)                                                                         \
    X(weft_world_destroy, WRONG(s, weft_world_destroy(c->world)))                                  \
    X(weft_world_blobs, weft_world_blobs(c->world) == NULL)                                        \
    X(weft_world_hook_add, WRONG(s, weft_world_hook_add(c->world, &s->hook)))                      \
    X(weft_world_hook_remove, WRONG(s, weft_world_hook_remove(c->world, &c->added)))               \
    X(weft_world_moment, weft_world_moment(c->world) == 0)                                         \
    X(weft_sections_save, WRONG(s, weft_sections_save(c->world, c->path, NULL)))                   \
    X(weft_stream_open, WRONG(s, weft_stream_open(c->world, c->path, NULL, &s->opened)))           \
    X(weft_stream_close, (weft_stream_close(c->stream), true))                                     \
    X(weft_stream_load, WRONG(s, weft_stream_load(c->stream, 0, 0)))                               \
    X(weft_stream_unload, WRONG(s, weft_stream_unload(c->stream, 0)))                              \
    X(weft_stream_near, WRONG(s, weft_stream_near(c->stream, (const float[3]){0, 0, 0}, 1, 2)))    \
    X(weft_stream_step, WRONG(s, weft_stream_step(c->world, 0)))                                   \
    X(weft_stream_wait, WRONG(s, weft_stream_wait(c->world)))                                      \
    X(weft_world_validate, WRONG(s, weft_world_validate(c->world)))                                \
    X(weft_world_hash, weft_world_hash(c->world, WEFT_HASH_LAYOUT) == 0)                           \
    X(weft_world_compact, weft_world_compact(c->world, UINT64_MAX) == 0)                           \
    X(weft_world_clear_references, WRONG(s, weft_world_clear_references(c->world, &s->wide)))      \
    X(weft_world_advance_change_version, weft_world_advance_change_version(c->world) == 0)         \
    X(weft_component_create,                                                                       \
      NO_ID(weft_component_create(c->world, &(weft_component_desc){.name = "n", .size = 4})))      \
    X(weft_component_create_plain, NO_ID(weft_component_create_plain(c->world, "n", 4, 4, 0)))     \
    X(weft_component_create_typed, NO_ID(weft_component_create_typed(c->world, "n", 4, 4, 0)))     \
    X(weft_relation_declare,                                                                       \
      WRONG(s, weft_relation_declare(c->world, &(weft_relation_desc){c->holder})))                 \
    X(weft_component_parent, NO_ID(weft_component_parent(c->world)))                               \
    X(weft_component_instance_of, NO_ID(weft_component_instance_of(c->world)))                     \
    X(weft_relation_set, WRONG(s, weft_relation_set(c->world, c->entity, c->relation, c->other)))  \
    X(weft_relation_set_many,                                                                      \
      WRONG(s, weft_relation_set_many(c->world, &c->entity, 1, c->relation, c->other)))            \
    X(weft_relation_settle, WRONG(s, weft_relation_settle(c->world)))                              \
    X(weft_observer_create, NO_ID(weft_observer_create(c->world, &calls_observing)))               \
    X(weft_observer_destroy, WRONG(s, weft_observer_destroy(c->world, c->observer)))               \
    X(weft_observers_run, WRONG(s, weft_observers_run(c->world)))                                  \
    X(weft_transform_create, WRONG(s, weft_transform_create(c->world, NULL, &s->transform)))       \
    X(weft_resource_write_buffer,                                                                  \
      weft_resource_write_buffer(c->world, c->list_resource).writable_count == 0)                  \
    X(weft_resource_write, NO_VALUE(s, weft_resource_write(c->world, c->resource)))                \
    X(weft_archetype_create,                                                                       \
      NO_ID(weft_archetype_create(c->world, (weft_component[]){c->tag, c->shared, c->b}, 3)))      \
    X(weft_entity_create, weft_entity_create(c->world, c->archetype).version == 0)                 \
    X(weft_entity_create_many,                                                                     \
      WRONG(s, weft_entity_create_many(c->world, WEFT_ARCHETYPE(c->world, c->a), 1, NULL)))        \
    X(weft_entity_create_filled,                                                                   \
      WRONG(s, weft_entity_create_filled(c->world, c->archetype, NULL, 0, 1, NULL)))               \
    X(weft_entity_instantiate, WRONG(s, weft_entity_instantiate(c->world, c->entity, 1, NULL)))    \
    X(weft_entity_destroy, WRONG(s, weft_entity_destroy(c->world, c->entity)))                     \
    X(weft_entity_destroy_many, WRONG(s, weft_entity_destroy_many(c->world, &c->entity, 1)))       \
    X(weft_entity_write, NO_VALUE(s, weft_entity_write(c->world, c->entity, c->b)))                \
    X(weft_entity_write_buffer,                                                                    \
      weft_entity_write_buffer(c->world, c->made, c->list).writable_count == 0)                    \
    X(weft_entity_set, WRONG(s, weft_entity_set(c->world, c->entity, c->b, &s->value, 4)))         \
    X(weft_entity_set_many,                                                                        \
      WRONG(s, weft_entity_set_many(c->world, &c->entity, 1, c->b, &s->value, 4)))                 \
    X(weft_entity_add, WRONG(s, weft_entity_add(c->world, c->entity, c->tag)))                     \
    X(weft_entity_remove, WRONG(s, weft_entity_remove(c->world, c->entity, c->b)))                 \
    X(weft_entity_change_many,                                                                     \
      WRONG(s, weft_entity_change_many(c->world, &c->entity, 1,                                    \
                                       &(weft_change_desc){.add = &c->tag, .add_count = 1})))      \
    X(weft_entity_set_archetype,                                                                   \
      WRONG(s, weft_entity_set_archetype(c->world, c->entity, c->archetype)))                      \
    X(weft_entity_enable, WRONG(s, weft_entity_enable(c->world, c->made, c->toggle, false)))       \
    X(weft_entity_set_name, WRONG(s, weft_entity_set_name(c->world, c->entity, "name")))           \
    X(weft_entity_set_name_unique,                                                                 \
      WRONG(s, weft_entity_set_name_unique(c->world, c->entity, "name")))                          \
    X(weft_entity_set_shared,                                                                      \
      WRONG(s, weft_entity_set_shared(c->world, c->entity, c->shared, &s->value)))                 \
    X(weft_entity_set_shared_many,                                                                 \
      WRONG(s, weft_entity_set_shared_many(c->world, &c->entity, 1, c->shared, &s->value)))        \
    X(weft_query_create,                                                                           \
      NO_ID(weft_query_create(c->world, &(weft_query_desc){.terms = {{.component = c->tag}}})))    \
    X(weft_query_destroy, WRONG(s, weft_query_destroy(c->world, c->unused)))                       \
    X(weft_query_filter_shared,                                                                    \
      WRONG(s, weft_query_filter_shared(c->world, c->query, c->shared, WEFT_FILTER_EQUAL,          \
                                        &s->value, 1)))                                            \
    X(weft_query_filter_changed, WRONG(s, weft_query_filter_changed(c->world, c->query, c->a, 1))) \
    X(weft_query_filter_order, WRONG(s, weft_query_filter_order(c->world, c->query, 1)))           \
    X(weft_query_filter_reset, WRONG(s, weft_query_filter_reset(c->world, c->query)))              \
    X(weft_query_write_values,                                                                     \
      WRONG(s, weft_query_write_values(c->world, c->query, c->a, &s->value, 1)))                   \
    X(weft_query_begin, calls_no_rows(c->world, c->unused))                                        \
    X(weft_query_each_parallel,                                                                    \
      WRONG(s, weft_query_each_parallel(c->world, c->unused, calls_run, NULL)))                    \
    X(weft_indexed_open, WRONG(s, weft_indexed_open(c->world, c->unused, 0, &s->indexed)))         \
    X(weft_query_add, WRONG(s, weft_query_add(c->world, c->query, c->tag)))                        \
    X(weft_query_remove, WRONG(s, weft_query_remove(c->world, c->query, c->b)))                    \
    X(weft_query_set, WRONG(s, weft_query_set(c->world, c->query, c->b, &s->value, 4)))            \
    X(weft_query_set_shared,                                                                       \
      WRONG(s, weft_query_set_shared(c->world, c->query, c->shared, &s->value)))                   \
    X(weft_query_enable, WRONG(s, weft_query_enable(c->world, c->query, c->toggle, false)))        \
    X(weft_query_destroy_entities, WRONG(s, weft_query_destroy_entities(c->world, c->query)))      \
    X(weft_world_transfer_to,                                                                      \
      WRONG(s, weft_world_transfer(c->world, s->second, &(weft_transfer_desc){0}, NULL, 0)))       \
    X(weft_world_transfer_from,                                                                    \
      WRONG(s, weft_world_transfer(s->second, c->world, &(weft_transfer_desc){0}, NULL, 0)))       \
    X(weft_world_save, WRONG(s, weft_world_save(c->world, c->path, NULL)))                         \
    X(weft_world_load, WRONG(s, weft_world_load(c->world, c->path, NULL)))                         \
    X(weft_world_save_memory, WRONG(s, weft_world_save_memory(c->world, &s->saved, NULL)))         \
    X(weft_world_load_memory, WRONG(s, weft_world_load_memory(c->world, "weft", 4, NULL)))         \
    X(weft_world_save_json, WRONG(s, weft_world_save_json(c->world, &calls_writer, NULL)))         \
    X(weft_world_load_json, WRONG(s, weft_world_load_json(c->world, &calls_json, NULL, NULL)))     \
    X(weft_recorder_create, WRONG(s, weft_recorder_create(c->world, &s->made)))                    \
    X(weft_recorder_destroy, (weft_recorder_destroy(c->recorder), true))                           \
    X(weft_recorder_play, WRONG(s, weft_recorder_play(c->recorder)))                               \
    X(weft_system_create,                                                                          \
      NO_ID(weft_system_create(c->world, &(weft_system_desc){.name = "n", .run = calls_run})))     \
    X(weft_system_destroy, WRONG(s, weft_system_destroy(c->world, c->system)))                     \
    X(weft_system_enable, WRONG(s, weft_system_enable(c->world, c->system, false)))                \
    X(weft_timer_set, WRONG(s, weft_timer_set(c->world, c->system, 1)))                            \
    X(weft_timer_stop, WRONG(s, weft_timer_stop(c->world, c->system)))                             \
    X(weft_group_set, WRONG(s, weft_group_set(c->world, &(weft_group_desc){.name = "g"})))         \
    X(weft_group_enable, WRONG(s, weft_group_enable(c->world, "default", false)))                  \
    X(weft_world_step, WRONG(s, weft_world_step(c->world, 0)))                                     \
    X(weft_system_run, WRONG(s, weft_system_run(c->world, c->system, 0)))                          \
    X(weft_schedule_set, WRONG(s, weft_schedule_set(c->world, &(weft_schedule_desc){0})))          \
    X(weft_schedule_compile, WRONG(s, weft_schedule_compile(c->world)))                            \
    X(weft_schedule_explain,                                                                       \
      REPORT(s, weft_schedule_explain(c->world, c->system, c->system, s->text, sizeof s->text)))   \
    X(weft_schedule_ambiguities,                                                                   \
      REPORT(s, weft_schedule_ambiguities(c->world, s->text, sizeof s->text)))                     \
    X(weft_schedule_sync_points,                                                                   \
      REPORT(s, weft_schedule_sync_points(c->world, s->text, sizeof s->text)))                     \
    X(weft_schedule_chain, REPORT(s, weft_schedule_chain(c->world, s->text, sizeof s->text)))      \
    X(weft_schedule_counters,                                                                      \
      REPORT(s, weft_schedule_counters(c->world, s->text, sizeof s->text)))                        \
    X(weft_state_log_begin,                                                                        \
      WRONG(s, weft_state_log_begin(c->world, &(weft_state_log_desc){.writer = calls_writer})))    \
    X(weft_state_log_end, WRONG(s, weft_state_log_end(c->world)))                                  \
    X(weft_order_begin, WRONG(s, weft_order_begin(c->world, "draw:1")))                            \
    X(weft_order_end, WRONG(s, weft_order_end(c->world)))                                          \
    X(weft_schedule_json, REPORT(s, weft_schedule_json(c->world, s->text, sizeof s->text)))        \
    X(weft_snapshot_take, WRONG(s, weft_snapshot_take(c->world, NULL, &s->taken)))                 \
    X(weft_snapshot_restore, WRONG(s, weft_snapshot_restore(c->world, c->snapshot)))               \
    X(weft_snapshot_destroy, (weft_snapshot_destroy(c->snapshot), true))

#define CALLS_DEFINE(name, ...)                                                                    \
    static bool calls_of_##name(calls_room *c, calls_scratch *s)                                   \
    {                                                                                              \
        (void)c, (void)s;                                                                          \
        return __VA_ARGS__;                                                                        \
    }
CALLS_OF_OWNERS(CALLS_DEFINE)

#define CALLS_ENTRY(name, ...) {#name, #__VA_ARGS__, calls_of_##name},
static const struct {
    const char *name, *text;
    bool (*is_refused)(calls_room *c, calls_scratch *s); /* makes the call */
} calls[] = {CALLS_OF_OWNERS(CALLS_ENTRY)};
enum { CALL_COUNT = sizeof calls / sizeof calls[0] };

/* ---- rooms ---- */

static inline bool calls_open_kinds(calls_room *c)
{
    weft_component_desc desc = {.name = "relation",
                                .size = sizeof(weft_target),
                                .alignment = 4,
                                .fields = &(weft_field){.name = "at", .kind = WEFT_FIELD_ENTITY},
                                .field_count = 1};
    c->a = weft_component_create_plain(c->world, "a", 4, 4, 0);
    c->b = weft_component_create_plain(c->world, "b", 4, 4, 0);
    c->tag = weft_component_create_plain(c->world, "tag", 0, 1, 0);
    c->shared = weft_component_create_plain(c->world, "shared", 4, 4, WEFT_SHARED);
    c->resource = weft_component_create_plain(c->world, "resource", 4, 4, WEFT_RESOURCE);
    c->toggle = weft_component_create_plain(c->world, "toggle", 4, 4, WEFT_ENABLEABLE);
    c->list = weft_component_create_plain(c->world, "list", 4, 4, WEFT_BUFFER);
    c->list_resource =
        weft_component_create_plain(c->world, "lists", 4, 4, WEFT_BUFFER | WEFT_RESOURCE);
    c->relation = weft_component_create(c->world, &desc);
    desc.name = "holder";
    c->holder = weft_component_create(c->world, &desc);
    return c->a.id != 0 && c->b.id != 0 && c->tag.id != 0 && c->shared.id != 0 &&
           c->resource.id != 0 && c->toggle.id != 0 && c->list_resource.id != 0 &&
           c->holder.id != 0 &&
           weft_relation_declare(c->world, &(weft_relation_desc){c->relation}) == WEFT_OK;
}

/* A stream of a file without entities. */
static inline bool calls_open_stream(calls_room *c)
{
    weft_world *source;
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &source) != WEFT_OK) return false;
    bool is_open = weft_component_create_plain(source, "a", 4, 4, 0).id != 0 &&
                   weft_component_section(source).id != 0 &&
                   weft_sections_save(source, c->path, NULL) == WEFT_OK;
    is_open = weft_world_destroy(source) == WEFT_OK && is_open &&
              weft_stream_open(c->world, c->path, NULL, &c->stream) == WEFT_OK;
    remove(c->path);
    return is_open;
}

/* Makes a room in an idle world; false: something could not be made. */
static inline bool calls_room_open(calls_room *c, weft_world *world, const char *path)
{
    *c = (calls_room){.world = world, .path = path};
    if (!calls_open_kinds(c)) return false;
    weft_entity two[2];
    c->archetype = weft_archetype_create(world, &c->a, 1);
    if (weft_entity_create_many(world, WEFT_ARCHETYPE(world, c->a, c->b), 2, two) != WEFT_OK ||
        weft_entity_create_many(world, WEFT_ARCHETYPE(world, c->tag, c->toggle, c->list), 1,
                                &c->made) != WEFT_OK)
        return false;
    c->entity = two[0];
    c->other = two[1];
    c->query = weft_query_create(
        world, &(weft_query_desc){.terms = {{c->a, WEFT_WRITE, WEFT_ALL, 0},
                                            {c->shared, WEFT_NO_ACCESS, WEFT_OPTIONAL, 0}}});
    c->unused =
        weft_query_create(world, &(weft_query_desc){.terms = {{c->b, WEFT_READ, WEFT_ALL, 0}}});
    c->system = weft_system_create(
        world, &(weft_system_desc){.name = "timer", .run = calls_run, .flags = WEFT_SYSTEM_TIMER});
    c->observer = weft_observer_create(
        world, &(weft_observer_desc){
                   .name = "o", .on = WEFT_ON_CHANGED, .component = c->b, .run = calls_observe});
    return c->unused.id != 0 && c->system.id != 0 && c->observer.id != 0 && calls_open_stream(c) &&
           weft_recorder_create(world, &c->recorder) == WEFT_OK &&
           weft_recorder_add(c->recorder, c->entity, c->tag) == WEFT_OK &&
           weft_snapshot_take(world, NULL, &c->snapshot) == WEFT_OK &&
           weft_world_hook_add(world, &c->added) == WEFT_OK &&
           weft_schedule_compile(world) == WEFT_OK;
}

/* Ends a room; false: one of its things is not as it was. */
static inline bool calls_room_close(calls_room *c)
{
    weft_stream *stream;
    bool is_whole =
        weft_recorder_play(c->recorder) == WEFT_OK && weft_entity_has(c->world, c->entity, c->tag);
    weft_recorder_destroy(c->recorder);
    is_whole = weft_snapshot_restore(c->world, c->snapshot) == WEFT_OK && is_whole;
    weft_snapshot_destroy(c->snapshot);
    is_whole = weft_stream_list(c->world, &stream, 1) == 1 && stream == c->stream && is_whole;
    weft_stream_close(c->stream);
    return weft_world_hook_remove(c->world, &c->added) == WEFT_OK && is_whole;
}

#endif
