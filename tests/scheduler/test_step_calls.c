/* SPDX-License-Identifier: MIT */
/* test_step_calls.c: every public call that changes a world, its queries or its schedule, made
 * against its rule (docs/reference/threads.md, which this program reads): by a system on the owner
 * and on another worker, by a thread that runs no system, while a query is iterated, in an
 * exclusive system, in a hook. Each must be refused (WRONG_PHASE or BUSY, or null where there is no
 * result) and leave the world as it was. Calls that only look, or that belong to the caller's own
 * rows, buffers, blobs and recorders, are not in the table. */
#include "invariant.h"
#include "systems_bed.h"

#include <weft/observer.h>
#include <weft/state_log.h>
#include <weft/transform.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* What the calls need; made before the step. */
typedef struct room {
    weft_archetype archetype;
    weft_query query, unused; /* `unused` is of no system and was never counted */
    weft_system other;
    weft_recorder *recorder, *made;
    weft_snapshot *snapshot, *taken;
    weft_indexed indexed;
    weft_gather gather;
    weft_entity made_entity; /* of `switch` and `list` */
    weft_component holder;   /* could be made a relation */
    weft_component relation, list, list_resource;
    weft_observer observer;
    weft_bundle bundle;
    weft_world_bytes saved;
    weft_transform transform;
    uint32_t value;
    uint64_t wide;
    weft_world *second;
    weft_world_hook hook, added; /* `added` is one of the world, which calls nothing */
    weft_stream *stream, *opened;
} room;

static room r;
static weft_component r_switch;
static char text[4096];

static void observe_nothing(const weft_observation *observation, void *user)
{
    (void)observation, (void)user;
}

static const weft_observer_desc observing = {
    .name = "n", .on = WEFT_ON_CREATED, .run = observe_nothing};

static weft_result write_nowhere(void *user, const void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return WEFT_IO;
}

static weft_result read_nothing(void *user, void *to, size_t capacity, size_t *count)
{
    (void)user, (void)to, (void)capacity;
    *count = 0;
    return WEFT_IO;
}

static const weft_writer writer = {.write = write_nowhere};
static const weft_reader reader = {.read = read_nothing};
static const weft_text json = {.bytes = "{}", .count = 2};

static void each_nothing(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static bool is_cursor_empty(weft_query query)
{
    weft_cursor cursor = weft_query_begin(t.world, query);
    bool has_rows = weft_query_next(&cursor);
    weft_query_end(&cursor);
    return !has_rows;
}

/* Where calls are made. */
typedef enum place { IN_SYSTEM, BY_STRANGER, ITERATING, IN_EXCLUSIVE, IN_HOOK } place;

static place where;

static bool is_refusal(weft_result result)
{
    return result == WEFT_WRONG_PHASE || (where == BY_STRANGER && result == WEFT_BUSY);
}

static bool is_no_report(size_t length)
{
    return length != 0 && strstr(text, "a step is going on") != NULL;
}

/* Checked builds give systems memory that stands in: what is written there is not in the world. */
static bool is_no_value(void *value)
{
    if (value == NULL) return !WEFT_IS_CHECKED || where == BY_STRANGER;
    *(uint32_t *)value ^= 99;
    return WEFT_IS_CHECKED;
}

#define WRONG(...) is_refusal((__VA_ARGS__))
#define REPORT(...) is_no_report((__VA_ARGS__))
#define NO_ID(...) ((__VA_ARGS__).id == 0)
#define IS_EMPTY(...) ((__VA_ARGS__).archetype.id == 0)
#define NO_VALUE(...) is_no_value(__VA_ARGS__)

/* X(name, is refused); `e`: a live entity. */
#define CALLS(X)                                                                                   \
    X(weft_world_destroy, WRONG(weft_world_destroy(t.world)))                                      \
    X(weft_world_blobs, weft_world_blobs(t.world) == NULL)                                         \
    X(weft_world_hook_add, WRONG(weft_world_hook_add(t.world, &r.hook)))                           \
    X(weft_world_hook_remove, WRONG(weft_world_hook_remove(t.world, &r.added)))                    \
    X(weft_world_moment, weft_world_moment(t.world) == 0)                                          \
    X(weft_sections_save, WRONG(weft_sections_save(t.world, "step_calls.weft", NULL)))             \
    X(weft_stream_open, WRONG(weft_stream_open(t.world, "step_calls.wss", NULL, &r.opened)))       \
    X(weft_stream_close, (weft_stream_close(r.stream), true))                                      \
    X(weft_stream_load, WRONG(weft_stream_load(r.stream, 0, 0)))                                   \
    X(weft_stream_unload, WRONG(weft_stream_unload(r.stream, 0)))                                  \
    X(weft_stream_near, WRONG(weft_stream_near(r.stream, (const float[3]){0, 0, 0}, 1, 2)))        \
    X(weft_stream_step, WRONG(weft_stream_step(t.world, 0)))                                       \
    X(weft_stream_wait, WRONG(weft_stream_wait(t.world)))                                          \
    X(weft_world_validate, WRONG(weft_world_validate(t.world)))                                    \
    X(weft_world_hash, weft_world_hash(t.world, WEFT_HASH_LAYOUT) == 0)                            \
    X(weft_world_compact, weft_world_compact(t.world, UINT64_MAX) == 0)                            \
    X(weft_world_clear_references, WRONG(weft_world_clear_references(t.world, &r.wide)))           \
    X(weft_world_advance_change_version, weft_world_advance_change_version(t.world) == 0)          \
    X(weft_component_create,                                                                       \
      NO_ID(weft_component_create(t.world, &(weft_component_desc){.name = "n", .size = 4})))       \
    X(weft_component_create_plain, NO_ID(weft_component_create_plain(t.world, "n", 4, 4, 0)))      \
    X(weft_component_create_typed, NO_ID(weft_component_create_typed(t.world, "n", 4, 4, 0)))      \
    X(weft_component_change_version, weft_component_change_version(t.world, t.a) == 0)             \
    X(weft_relation_declare,                                                                       \
      WRONG(weft_relation_declare(t.world, &(weft_relation_desc){r.holder})))                      \
    X(weft_component_parent, NO_ID(weft_component_parent(t.world)))                                \
    X(weft_component_instance_of, NO_ID(weft_component_instance_of(t.world)))                      \
    X(weft_relation_set, WRONG(weft_relation_set(t.world, e, r.relation, t.rows[1])))              \
    X(weft_relation_set_many,                                                                      \
      WRONG(weft_relation_set_many(t.world, &e, 1, r.relation, t.rows[1])))                        \
    X(weft_relation_settle, WRONG(weft_relation_settle(t.world)))                                  \
    X(weft_observer_create, NO_ID(weft_observer_create(t.world, &observing)))                      \
    X(weft_observer_destroy, WRONG(weft_observer_destroy(t.world, r.observer)))                    \
    X(weft_observers_run, WRONG(weft_observers_run(t.world)))                                      \
    X(weft_transform_create, WRONG(weft_transform_create(t.world, NULL, &r.transform)))            \
    X(weft_resource_write_buffer,                                                                  \
      weft_resource_write_buffer(t.world, r.list_resource).writable_count == 0)                    \
    X(weft_resource_write, NO_VALUE(weft_resource_write(t.world, t.resource)))                     \
    X(weft_archetype_create,                                                                       \
      NO_ID(weft_archetype_create(t.world, (weft_component[]){t.tag, t.shared, t.b}, 3)))          \
    X(weft_entity_create, weft_entity_create(t.world, r.archetype).version == 0)                   \
    X(weft_entity_create_many,                                                                     \
      WRONG(weft_entity_create_many(t.world, WEFT_ARCHETYPE(t.world, t.a), 1, NULL)))              \
    X(weft_entity_create_filled,                                                                   \
      WRONG(weft_entity_create_filled(t.world, r.archetype, NULL, 0, 1, NULL)))                    \
    X(weft_bundle_open, IS_EMPTY(weft_bundle_open(t.world, r.archetype, NULL, 0)))                 \
    X(weft_entity_create_bundle,                                                                   \
      weft_entity_is_null(weft_entity_create_bundle(t.world, &r.bundle, &r.value)))                \
    X(weft_entity_instantiate, WRONG(weft_entity_instantiate(t.world, e, 1, NULL)))                \
    X(weft_entity_destroy, WRONG(weft_entity_destroy(t.world, e)))                                 \
    X(weft_entity_destroy_many, WRONG(weft_entity_destroy_many(t.world, &e, 1)))                   \
    X(weft_entity_write, NO_VALUE(weft_entity_write(t.world, e, t.b)))                             \
    X(weft_entity_write_buffer,                                                                    \
      weft_entity_write_buffer(t.world, r.made_entity, r.list).writable_count == 0)                \
    X(weft_entity_set, WRONG(weft_entity_set(t.world, e, t.b, &r.value, 4)))                       \
    X(weft_entity_set_many, WRONG(weft_entity_set_many(t.world, &e, 1, t.b, &r.value, 4)))         \
    X(weft_entity_add, WRONG(weft_entity_add(t.world, e, t.tag)))                                  \
    X(weft_entity_remove, WRONG(weft_entity_remove(t.world, e, t.b)))                              \
    X(weft_entity_change_many,                                                                     \
      WRONG(weft_entity_change_many(t.world, &e, 1,                                                \
                                    &(weft_change_desc){.add = &t.tag, .add_count = 1})))          \
    X(weft_entity_set_archetype, WRONG(weft_entity_set_archetype(t.world, e, r.archetype)))        \
    X(weft_entity_swap, WRONG(weft_entity_swap(t.world, e, t.rows[1])))                            \
    X(weft_entity_enable, WRONG(weft_entity_enable(t.world, r.made_entity, r_switch, false)))      \
    X(weft_entity_set_name, WRONG(weft_entity_set_name(t.world, e, "name")))                       \
    X(weft_entity_set_name_unique, WRONG(weft_entity_set_name_unique(t.world, e, "name")))         \
    X(weft_entity_set_shared, WRONG(weft_entity_set_shared(t.world, e, t.shared, &r.value)))       \
    X(weft_entity_set_shared_many,                                                                 \
      WRONG(weft_entity_set_shared_many(t.world, &e, 1, t.shared, &r.value)))                      \
    X(weft_query_create,                                                                           \
      NO_ID(weft_query_create(t.world, &(weft_query_desc){.terms = {{.component = t.tag}}})))      \
    X(weft_query_destroy, WRONG(weft_query_destroy(t.world, r.unused)))                            \
    X(weft_query_filter_shared,                                                                    \
      WRONG(weft_query_filter_shared(t.world, r.query, t.shared, WEFT_FILTER_EQUAL, &r.value, 1))) \
    X(weft_query_filter_changed, WRONG(weft_query_filter_changed(t.world, r.query, t.a, 1)))       \
    X(weft_query_filter_order, WRONG(weft_query_filter_order(t.world, r.query, 1)))                \
    X(weft_query_filter_reset, WRONG(weft_query_filter_reset(t.world, r.query)))                   \
    X(weft_query_write_values,                                                                     \
      WRONG(weft_query_write_values(t.world, r.query, t.a, &r.value, ROWS)))                       \
    X(weft_query_begin, is_cursor_empty(r.unused))                                                 \
    X(weft_query_each_parallel,                                                                    \
      WRONG(weft_query_each_parallel(t.world, r.unused, each_nothing, NULL)))                      \
    X(weft_indexed_open, WRONG(weft_indexed_open(t.world, r.unused, 0, &r.indexed)))               \
    X(weft_query_add, WRONG(weft_query_add(t.world, r.query, t.tag)))                              \
    X(weft_query_remove, WRONG(weft_query_remove(t.world, r.query, t.b)))                          \
    X(weft_query_set, WRONG(weft_query_set(t.world, r.query, t.b, &r.value, 4)))                   \
    X(weft_query_set_shared, WRONG(weft_query_set_shared(t.world, r.query, t.shared, &r.value)))   \
    X(weft_query_enable, WRONG(weft_query_enable(t.world, r.query, r_switch, false)))              \
    X(weft_query_destroy_entities, WRONG(weft_query_destroy_entities(t.world, r.query)))           \
    X(weft_gather_begin, WRONG(weft_gather_begin(                                                  \
                             t.world, r.query, &(weft_gather_desc){.component = t.a}, &r.gather))) \
    X(weft_world_transfer_to,                                                                      \
      WRONG(weft_world_transfer(t.world, r.second, &(weft_transfer_desc){0}, NULL, 0)))            \
    X(weft_world_transfer_from,                                                                    \
      WRONG(weft_world_transfer(r.second, t.world, &(weft_transfer_desc){0}, NULL, 0)))            \
    X(weft_world_save, WRONG(weft_world_save(t.world, "step_calls.weft", NULL)))                   \
    X(weft_world_load, WRONG(weft_world_load(t.world, "step_calls.weft", NULL)))                   \
    X(weft_world_save_memory, WRONG(weft_world_save_memory(t.world, &r.saved, NULL)))              \
    X(weft_world_load_memory, WRONG(weft_world_load_memory(t.world, "weft", 4, NULL)))             \
    X(weft_world_save_stream, WRONG(weft_world_save_stream(t.world, &writer, NULL)))               \
    X(weft_world_load_stream, WRONG(weft_world_load_stream(t.world, &reader, NULL)))               \
    X(weft_world_write_json, WRONG(weft_world_write_json(t.world, &writer, NULL)))                 \
    X(weft_world_read_json, WRONG(weft_world_read_json(t.world, &json, NULL, NULL)))               \
    X(weft_recorder_create, WRONG(weft_recorder_create(t.world, &r.made)))                         \
    X(weft_recorder_destroy, (weft_recorder_destroy(r.recorder), true))                            \
    X(weft_recorder_play, WRONG(weft_recorder_play(r.recorder)))                                   \
    X(weft_system_create,                                                                          \
      NO_ID(weft_system_create(t.world, &(weft_system_desc){.name = "n", .run = nothing})))        \
    X(weft_system_destroy, WRONG(weft_system_destroy(t.world, r.other)))                           \
    X(weft_system_enable, WRONG(weft_system_enable(t.world, r.other, false)))                      \
    X(weft_timer_set, WRONG(weft_timer_set(t.world, r.other, 1)))                                  \
    X(weft_timer_stop, WRONG(weft_timer_stop(t.world, r.other)))                                   \
    X(weft_group_set, WRONG(weft_group_set(t.world, &(weft_group_desc){.name = "g"})))             \
    X(weft_group_enable, WRONG(weft_group_enable(t.world, "default", false)))                      \
    X(weft_world_step, WRONG(weft_world_step(t.world, 0)))                                         \
    X(weft_system_run, WRONG(weft_system_run(t.world, r.other, 0)))                                \
    X(weft_schedule_set, WRONG(weft_schedule_set(t.world, &(weft_schedule_desc){0})))              \
    X(weft_schedule_compile, WRONG(weft_schedule_compile(t.world)))                                \
    X(weft_schedule_explain,                                                                       \
      REPORT(weft_schedule_explain(t.world, r.other, r.other, text, sizeof text)))                 \
    X(weft_schedule_ambiguities, REPORT(weft_schedule_ambiguities(t.world, text, sizeof text)))    \
    X(weft_schedule_sync_points, REPORT(weft_schedule_sync_points(t.world, text, sizeof text)))    \
    X(weft_schedule_chain, REPORT(weft_schedule_chain(t.world, text, sizeof text)))                \
    X(weft_schedule_counters, REPORT(weft_schedule_counters(t.world, text, sizeof text)))          \
    X(weft_state_log_begin,                                                                        \
      WRONG(weft_state_log_begin(t.world, &(weft_state_log_desc){.writer = writer})))              \
    X(weft_state_log_end, WRONG(weft_state_log_end(t.world)))                                      \
    X(weft_schedule_dot, REPORT(weft_schedule_dot(t.world, text, sizeof text)))                    \
    X(weft_schedule_json, REPORT(weft_schedule_json(t.world, text, sizeof text)))                  \
    X(weft_snapshot_take, WRONG(weft_snapshot_take(t.world, NULL, &r.taken)))                      \
    X(weft_snapshot_restore, WRONG(weft_snapshot_restore(t.world, r.snapshot)))                    \
    X(weft_snapshot_destroy, (weft_snapshot_destroy(r.snapshot), true))

#define DEFINE(name, ...)                                                                          \
    static bool call_##name(weft_entity e)                                                         \
    {                                                                                              \
        (void)e;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
CALLS(DEFINE)

#define ENTRY(name, ...) {#name, call_##name},
static const struct {
    const char *name;
    bool (*is_refused)(weft_entity e);
} calls[] = {CALLS(ENTRY)};
enum { CALL_COUNT = sizeof calls / sizeof calls[0] };

/* ---- the rules ---- */

static char rules[64 * 1024]; /* threads.md */

static void read_rules(void)
{
    const char *root = getenv("WEFT_SOURCE_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/reference/threads.md", root == NULL ? "." : root);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t length = fread(rules, 1, sizeof rules - 1, file);
    CHECK(length > 0 && length < sizeof rules - 1);
    rules[length] = 0;
    fclose(file);
}

/* The rule of a function, which is not ended; NULL: it has none. */
static const char *rule_of(const char *name)
{
    char quoted[128];
    snprintf(quoted, sizeof quoted, "`%s`", name);
    const char *at = strstr(rules, quoted);
    while (at > rules && at[-1] != '\n') at--;
    return at == NULL ? NULL : at + strlen("| ");
}

static bool has_rule(const char *rule, const char *name)
{
    size_t length = strlen(name);
    return strncmp(rule, name, length) == 0 && strncmp(rule + length, " |", 2) == 0;
}

static bool must_refuse(const char *name)
{
    char function[128];
    snprintf(function, sizeof function, "%s", name);
    const char *rule = rule_of(function);
    if (rule == NULL) { /* weft_world_transfer_to, _from */
        *strrchr(function, '_') = 0;
        rule = rule_of(function);
    }
    if (rule == NULL) CHECK_TEXT(name, "a function of threads.md");
    if (has_rule(rule, "owner, outside of hooks")) return true;
    if (has_rule(rule, "owner, between steps")) return where <= IN_EXCLUSIVE;
    if (has_rule(rule, "owner, world idle")) return where <= ITERATING;
    if (has_rule(rule, "owner")) return where <= BY_STRANGER;
    CHECK(has_rule(rule, "owner or system")); /* weft_indexed_open, of a query never used */
    return where == IN_SYSTEM;
}

/* Functions of other libraries, whose tests refuse them. */
static const char *const elsewhere[] = {
    "weft_scene_create",  "weft_scene_destroy", "weft_scene_gltf_register",
    "weft_live_start",    "weft_live_stop",     "weft_live_apply",
    "weft_inspect_start", "weft_inspect_stop",  "weft_inspect_pump"};

static bool is_in_table(const char *name, size_t length)
{
    for (uint32_t i = 0; i < CALL_COUNT; i++)
        if (strncmp(calls[i].name, name, length) == 0 &&
            (calls[i].name[length] == 0 || strcmp(calls[i].name + length, "_to") == 0))
            return true;
    for (uint32_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (strncmp(elsewhere[i], name, length) == 0 && elsewhere[i][length] == 0) return true;
    return false;
}

PLAIN_TEST(every_function_with_a_rule_of_phases_is_in_the_table)
{
    uint32_t count = 0;
    read_rules();
    for (const char *line = strstr(rules, "\n| owner, "); line != NULL;
         line = strstr(line + 1, "\n| owner, ")) {
        const char *end = strchr(line + 1, '\n');
        for (const char *at = strchr(line + 1, '`'); at != NULL && at < end;) {
            size_t length = strcspn(at + 1, "`");
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)length, at + 1);
            if (!is_in_table(name, length)) CHECK_TEXT(name, "in the table");
            count++;
            at = strchr(at + length + 2, '`');
        }
    }
    CHECK(count > 80);
}

/* ---- the calls ---- */

static bool refused[CALL_COUNT];
static bool wants_worker; /* the calls are made by another worker, while the owner waits */
static weft_a32 x_done, x_began;

static void make_calls(void)
{
    for (uint32_t i = 0; i < CALL_COUNT; i++)
        refused[i] = !must_refuse(calls[i].name) || calls[i].is_refused(t.rows[0]);
    at_store_rel(&x_done, 1); /* read by the owner, who waits for it */
}

static void caller(weft_slice *slice, void *user)
{
    (void)user;
    bool is_mine = (slice->worker != 0) == wants_worker;
    if (is_mine && at_load_acq(&x_done) == 0) make_calls(); /* one index at a time: see below */
    /* the other worker comes for its index while this one is held up */
    for (uint32_t i = 0; !is_mine && i < 100000 && at_load_acq(&x_done) == 0; i++) sched_yield();
}

static void open_relations(void)
{
    weft_component_desc desc = {.name = "relation",
                                .size = sizeof(weft_target),
                                .alignment = 4,
                                .fields = &(weft_field){.name = "at", .kind = WEFT_FIELD_ENTITY},
                                .field_count = 1};
    r.relation = weft_component_create(t.world, &desc);
    CHECK_OK(weft_relation_declare(t.world, &(weft_relation_desc){.component = r.relation}));
    desc.name = "holder";
    r.holder = weft_component_create(t.world, &desc);
    r.observer = weft_observer_create(
        t.world, &(weft_observer_desc){
                     .name = "o", .on = WEFT_ON_CHANGED, .component = t.b, .run = observe_nothing});
    CHECK(r.holder.id != 0 && r.observer.id != 0);
}

static void open_stream(void)
{
    weft_world *source;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &source));
    CHECK(weft_component_create_plain(source, "a", 4, 4, 0).id != 0);
    CHECK(weft_component_section(source).id != 0);
    CHECK_OK(weft_sections_save(source, "step_calls.wss", NULL));
    CHECK_OK(weft_world_destroy(source));
    CHECK_OK(weft_stream_open(t.world, "step_calls.wss", NULL, &r.stream));
    remove("step_calls.wss");
}

static void open_room(void)
{
    read_rules();
    begin(2);
    r_switch = weft_component_create_plain(t.world, "switch", 4, 4, WEFT_ENABLEABLE);
    r = (room){.archetype = weft_archetype_create(t.world, &t.a, 1)};
    r.list = weft_component_create_plain(t.world, "list", 4, 4, WEFT_BUFFER);
    r.list_resource =
        weft_component_create_plain(t.world, "lists", 4, 4, WEFT_BUFFER | WEFT_RESOURCE);
    CHECK_OK(weft_entity_create_many(t.world, WEFT_ARCHETYPE(t.world, t.tag, r_switch, r.list), 1,
                                     &r.made_entity));
    open_relations();
    r.bundle = weft_bundle_open(t.world, r.archetype, &(weft_bundle_field){t.a, 0}, 1);
    r.query = weft_query_create(
        t.world, &(weft_query_desc){.terms = {{t.a, WEFT_WRITE, WEFT_ALL, 0},
                                              {t.shared, WEFT_NO_ACCESS, WEFT_OPTIONAL, 0}}});
    r.unused =
        weft_query_create(t.world, &(weft_query_desc){.terms = {{t.b, WEFT_READ, WEFT_ALL, 0}}});
    r.other =
        make(&(weft_system_desc){.name = "other", .run = nothing, .flags = WEFT_SYSTEM_TIMER});
    CHECK_OK(weft_recorder_create(t.world, &r.recorder));
    CHECK_OK(weft_recorder_add(r.recorder, t.rows[0], t.tag));
    CHECK_OK(weft_snapshot_take(t.world, NULL, &r.snapshot));
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &r.second));
    CHECK_OK(weft_world_hook_add(t.world, &r.added));
    open_stream();
    CHECK_OK(weft_schedule_compile(t.world));
}

static void close_room(void)
{
    CHECK_OK(weft_recorder_play(r.recorder)); /* it is still there, with what was recorded */
    CHECK(weft_entity_has(t.world, t.rows[0], t.tag));
    weft_recorder_destroy(r.recorder);
    CHECK_OK(weft_snapshot_restore(t.world, r.snapshot)); /* so is it */
    weft_snapshot_destroy(r.snapshot);
    CHECK_U64(weft_stream_list(t.world, NULL, 0), 1);
    weft_stream_close(r.stream);
    CHECK_OK(weft_world_hook_remove(t.world, &r.added));
    CHECK_OK(weft_world_destroy(r.second));
    end();
}

static void check_table(void)
{
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < CALL_COUNT; i++) {
        if (refused[i]) continue;
        static const char *const places[] = {"a system", "a stranger", "a loop",
                                             "an exclusive system", "a hook"};
        fprintf(stderr, "%s: accepted by %s\n", calls[i].name,
                wants_worker ? "another worker" : places[where]);
        accepted++;
    }
    CHECK_U64(accepted, 0);
}

static void call_in_a_step(uint32_t flags, bool on_worker)
{
    open_room();
    make(&(weft_system_desc){.name = "caller",
                             .run = caller,
                             .over = {.kind = WEFT_OVER_COUNT, .count = flags == 0 ? 2 : 1},
                             .flags = flags});
    wants_worker = on_worker;
    where = (flags & WEFT_SYSTEM_EXCLUSIVE) != 0 ? IN_EXCLUSIVE : IN_SYSTEM;
    at_init(&x_done, 0);
    uint64_t before = weft_world_hash(t.world, WEFT_HASH_LAYOUT);
    for (uint32_t step = 0; step < 1000 && at_load_acq(&x_done) == 0; step++)
        weft_world_step(t.world, 0); /* checked builds report the calls */
    CHECK(at_load_acq(&x_done) == 1);
    check_table();
    CHECK_U64(weft_world_hash(t.world, WEFT_HASH_LAYOUT), before);
    CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "caller")));
    CHECK_OK(weft_world_step(t.world, 0));
    close_room();
}

PLAIN_TEST(calls_that_change_a_world_are_refused_in_a_system_of_the_owner)
{
    call_in_a_step(WEFT_SYSTEM_MAIN_THREAD, false);
}

PLAIN_TEST(calls_that_change_a_world_are_refused_in_jobs_of_the_owner)
{
    call_in_a_step(0, false);
}

PLAIN_TEST(calls_that_change_a_world_are_refused_in_jobs_of_other_workers)
{
    call_in_a_step(0, true);
}

PLAIN_TEST(calls_between_steps_are_refused_in_an_exclusive_system)
{
    call_in_a_step(WEFT_SYSTEM_EXCLUSIVE, false);
}

static void lets_a_stranger_call(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
    at_store_rel(&x_began, 1); /* the stranger's acquire: systems run */
    while (at_load_acq(&x_done) == 0) sched_yield();
}

static void *stranger(void *unused)
{
    while (at_load_acq(&x_began) == 0) sched_yield();
    make_calls();
    return unused;
}

static void let_a_stranger_call(uint32_t flags)
{
    pthread_t thread;
    open_room();
    make(&(weft_system_desc){.name = "caller",
                             .run = lets_a_stranger_call,
                             .over = {.kind = WEFT_OVER_COUNT, .count = 1},
                             .flags = flags});
    where = BY_STRANGER;
    wants_worker = false;
    at_init(&x_done, 0);
    at_init(&x_began, 0);
    uint64_t before = weft_world_hash(t.world, WEFT_HASH_LAYOUT);
    CHECK(pthread_create(&thread, NULL, stranger, NULL) == 0);
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    if (WEFT_IS_CHECKED) check_error(WEFT_WRONG_PHASE, "by a thread that runs none of its systems");
    CHECK(pthread_join(thread, NULL) == 0);
    check_table();
    CHECK_U64(weft_world_hash(t.world, WEFT_HASH_LAYOUT), before);
    CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "caller")));
    close_room();
}

PLAIN_TEST(calls_of_a_thread_that_runs_no_system_are_refused_while_one_runs)
{
    let_a_stranger_call(WEFT_SYSTEM_MAIN_THREAD);
}

/* No phase says that a step goes on, but the thread that is in the world. */
PLAIN_TEST(calls_of_another_thread_are_refused_in_an_exclusive_system_of_checked_builds)
{
    if (WEFT_IS_CHECKED) let_a_stranger_call(WEFT_SYSTEM_EXCLUSIVE);
}

PLAIN_TEST(calls_on_an_idle_world_are_refused_while_a_query_is_iterated)
{
    open_room();
    where = ITERATING;
    wants_worker = false;
    uint64_t before = weft_world_hash(t.world, WEFT_HASH_LAYOUT);
    weft_cursor cursor = weft_query_begin(t.world, r.query);
    CHECK(weft_query_next(&cursor));
    make_calls();
    weft_query_end(&cursor);
    check_table();
    CHECK_U64(weft_world_hash(t.world, WEFT_HASH_LAYOUT), before);
    close_room();
}

static void call_in_hook(weft_world *world, void *user)
{
    (void)world, (void)user;
    make_calls();
}

PLAIN_TEST(calls_outside_of_hooks_are_refused_in_a_hook)
{
    weft_world_hook hook = {.stepped = call_in_hook};
    open_room();
    where = IN_HOOK;
    wants_worker = false;
    CHECK_OK(weft_world_hook_add(t.world, &hook));
    CHECK_OK(weft_world_step(t.world, 0));
    check_table();
    CHECK_OK(weft_world_hook_remove(t.world, &hook));
    close_room();
}

/* ---- what the refusals say, and what to do instead ---- */

static void advised(weft_slice *slice, void *user)
{
    (void)user;
    weft_recorder *made = NULL;
    CHECK_RESULT(weft_entity_set_name(t.world, t.rows[0], "at once"), WEFT_WRONG_PHASE);
    check_error(WEFT_WRONG_PHASE, "weft_recorder_set_name");
    CHECK_RESULT(weft_recorder_create(t.world, &made), WEFT_WRONG_PHASE);
    CHECK(made == NULL);
    check_error(WEFT_WRONG_PHASE, "weft_slice_recorder");
    weft_recorder_destroy(r.recorder);
    check_error(WEFT_WRONG_PHASE, "weft_recorder_destroy");
    CHECK_U64(weft_world_advance_change_version(t.world), 0);
    check_error(WEFT_WRONG_PHASE, "between steps");
    CHECK(weft_world_blobs(t.world) == NULL);
    check_error(WEFT_WRONG_PHASE, "before the step");
    weft_recorder *commands = weft_slice_recorder(slice);
    weft_entity entity = weft_recorder_create_entity(commands, r.archetype);
    CHECK_OK(weft_recorder_set_name(commands, entity, "made by a system"));
    CHECK_OK(weft_recorder_set_name(commands, t.rows[0], "a row"));
    CHECK_OK(weft_recorder_set_name(commands, t.rows[1], NULL));
}

/* Sixty-three bytes are kept, and no half of a character. */
static void check_long_names(void)
{
    char name[100];
    memset(name, 'x', sizeof name);
    memcpy(name + 62, "\xc3\xa9", 2);
    name[99] = 0;
    CHECK_OK(weft_recorder_set_name(r.recorder, t.rows[0], name));
    CHECK_OK(weft_recorder_set_name(r.recorder, t.rows[1], name + 40));
    CHECK_OK(weft_recorder_play(r.recorder));
    CHECK_U64(strlen(weft_entity_name(t.world, t.rows[0])), 62);
    CHECK_TEXT(weft_entity_name(t.world, t.rows[1]), name + 40);
}

PLAIN_TEST(refusals_in_a_step_say_what_to_do_and_names_are_recorded)
{
    open_room();
    CHECK_OK(weft_entity_set_name(t.world, t.rows[1], "goes"));
    make(&(weft_system_desc){.name = "advised",
                             .run = advised,
                             .over = {.kind = WEFT_OVER_COUNT, .count = 1},
                             .flags = WEFT_SYSTEM_MAIN_THREAD,
                             .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD});
    weft_world_step(t.world, 0);
    CHECK_TEXT(weft_entity_name(t.world, t.rows[0]), "a row");
    CHECK_TEXT(weft_entity_name(t.world, t.rows[1]), "");
    weft_query only_a = weft_query_create(
        t.world, &(weft_query_desc){.terms = {{t.a, WEFT_READ, WEFT_ALL, 0},
                                              {t.b, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
    weft_entity named = weft_query_single(t.world, only_a);
    CHECK_TEXT(weft_entity_name(t.world, named), "made by a system");
    check_long_names();
    CHECK_OK(weft_recorder_add(r.recorder, t.rows[0], t.tag));
    CHECK(weft_world_blobs(t.world) != NULL);
    close_room();
}
