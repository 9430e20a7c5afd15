/* SPDX-License-Identifier: MIT */
/* test_refused_systems.c: refused memory in the functions of systems, groups, schedules, steps,
 * observers, state logs and transforms, with all kinds of systems: see refused.h. A step that is
 * refused memory may have run a part of its systems (system.h): the next one must work. */
#include "plain.h"
#include "refused.h"

#include <weft/observer.h>
#include <weft/order.h>
#include <weft/snapshot.h>
#include <weft/state_log.h>
#include <weft/transform.h>
#include <weft/weft.h>

#include <string.h>

/* Kinds of systems: what they run over, how, and what they record. */
typedef enum sort {
    ROWS,
    QUERY,
    INDICES,
    RANGE,
    SERIAL,
    MAIN_THREAD,
    EXCLUSIVE,
    BACKGROUND,
    WHOLE_CHUNKS,
    TIMER,
    ASKS_CHANGES,
    JOBS,
    BY_DEPTH,
    SKIPS_UNCHANGED,
    FIXED_RATE,
    CONDITION,
    LOOKUPS,
    RESOURCES,
    LOOPS,
    SPARSE_ROWS,
    BUFFER_ROWS,
    CREATES,
    DESTROYS,
    ADDS,
    REMOVES,
    SETS_SHARED,
    APPENDS,
    INSTANTIATES,
    FILLS_ROWS,
    QUERY_WIDE,
    SORTS,
} sort;

static const char *const sort_names[SORTS] = {
    "rows",      "query",           "indices",      "range",        "serial",       "main_thread",
    "exclusive", "background",      "whole_chunks", "timer",        "asks_changes", "jobs",
    "by_depth",  "skips_unchanged", "fixed_rate",   "condition",    "lookups",      "resources",
    "loops",     "sparse",          "buffers",      "creates",      "destroys",     "adds",
    "removes",   "sets_shared",     "appends",      "instantiates", "fills_rows",   "query_wide"};

enum { ENTITIES = 90, CHAIN = 6 };

/* Owner: one run. */
typedef struct bed {
    weft_world *world;
    sort sort;
    weft_component at, speed, mark, links, colour, note, score, scores, parent;
    weft_archetype made;
    weft_query all, others;
    weft_entity e[ENTITIES];
    weft_system move, tested;
    weft_observer observer;
    weft_snapshot *snapshot;
    weft_a32 x_told; /* entities told to observers */
    uint64_t log_bytes;
} bed;

/* ---- what systems do ---- */

static int job_touch(weft_job_context *job, void *argument)
{
    (void)job;
    *(uint32_t *)argument += 1;
    return 0;
}

static void rows_touch(weft_slice *slice)
{
    uint32_t *at = slice->term_count == 0 ? NULL : weft_slice_write(slice, 0);
    for (uint32_t i = 0; at != NULL && i < slice->count; i++) at[i] += 1;
}

static void look_around(bed *b, weft_slice *slice)
{
    if (b->sort == LOOKUPS)
        for (uint32_t i = 0; i < 20; i++) (void)weft_slice_read_entity(slice, b->e[i], b->speed);
    if (b->sort == RESOURCES) {
        *(uint32_t *)weft_slice_write_resource(slice, b->score) += 1;
        const weft_buffers scores = weft_slice_write_resource_buffer(slice, b->scores);
        (void)weft_buffers_append(&scores, 0, &(uint32_t){7}, 1);
    }
    if (b->sort == LOOPS) {
        weft_cursor c = weft_slice_query(slice, b->others);
        while (weft_query_next(&c)) (void)weft_slice_read(&c.slice, 0);
    }
    weft_job_context *job = b->sort == JOBS ? weft_slice_job(slice) : NULL;
    uint32_t count = 0;
    if (job != NULL) weft_job_child(job, job_touch, &count);
    if (job != NULL) (void)weft_job_children_wait(job);
    if (b->sort == ASKS_CHANGES && slice->count != 0)
        (void)weft_slice_changed_since(slice, 0, weft_slice_since(slice));
    const weft_buffers links =
        b->sort == BUFFER_ROWS ? weft_slice_write_buffers(slice, 1) : (weft_buffers){0};
    for (uint32_t i = 0; i < links.count; i++)
        (void)weft_buffers_append(&links, i, (uint32_t[]){1, 2, 3, 4, 5}, 5);
}

static void record_for(bed *b, weft_recorder *to, weft_entity entity)
{
    const uint32_t colour = 3 + entity.index % 4;
    if (b->sort == CREATES) (void)weft_recorder_create_entity(to, b->made);
    if (b->sort == DESTROYS) (void)weft_recorder_destroy_entity(to, entity);
    if (b->sort == ADDS) (void)weft_recorder_set(to, entity, b->note, &colour, 4);
    if (b->sort == ADDS) (void)weft_recorder_add(to, entity, b->mark);
    if (b->sort == REMOVES) (void)weft_recorder_remove(to, entity, b->speed);
    if (b->sort == SETS_SHARED) (void)weft_recorder_set_shared(to, entity, b->colour, &colour);
    if (b->sort == APPENDS)
        (void)weft_recorder_append(to, entity, b->links, (uint32_t[]){1, 2, 3}, 3);
    if (b->sort == INSTANTIATES) (void)weft_recorder_instantiate(to, entity);
}

static void record(bed *b, weft_slice *slice)
{
    if (b->sort < CREATES) return;
    weft_recorder *to = weft_slice_recorder(slice);
    weft_slice rows;
    if (b->sort == FILLS_ROWS && weft_recorder_create_rows(to, b->made, 9, &rows) == WEFT_OK)
        *(uint32_t *)weft_slice_write(&rows, 0) = 4;
    if (b->sort == QUERY_WIDE) (void)weft_recorder_query_add(to, b->others, b->mark);
    for (uint32_t i = 0; i < slice->count; i++) record_for(b, to, slice->entities[i]);
}

static void run(weft_slice *slice, void *user)
{
    bed *b = user;
    rows_touch(slice);
    look_around(b, slice);
    record(b, slice);
    if (b->sort == EXCLUSIVE) (void)weft_entity_create_many(b->world, b->made, 70, NULL);
}

static void move(weft_slice *slice, void *user)
{
    (void)user;
    rows_touch(slice);
}

static uint32_t range(weft_world *world, void *user)
{
    const bed *b = user;
    return (uint32_t)weft_query_count(world, b->all) / 9;
}

static bool condition(weft_world *world, void *user)
{
    const bed *b = user;
    return weft_query_count(world, b->others) != 0;
}

/* ---- systems ---- */

static weft_system_desc base_of(bed *b)
{
    weft_system_desc desc = {.name = "tested", .run = run, .user = b, .group = "late"};
    desc.over.rows.terms[0] = (weft_term){b->at, WEFT_WRITE, WEFT_ALL, 0};
    desc.after[0] = "move";
    return desc;
}

static weft_system_desc recording_of(bed *b, weft_system_desc desc)
{
    static const uint32_t effects[SORTS] = {[CREATES] = WEFT_RECORDS_CREATE,
                                            [DESTROYS] = WEFT_RECORDS_DESTROY,
                                            [ADDS] = WEFT_RECORDS_ADD,
                                            [REMOVES] = WEFT_RECORDS_REMOVE,
                                            [SETS_SHARED] = WEFT_RECORDS_ADD,
                                            [APPENDS] = WEFT_RECORDS_ADD,
                                            [INSTANTIATES] = WEFT_RECORDS_CREATE,
                                            [FILLS_ROWS] = WEFT_RECORDS_CREATE,
                                            [QUERY_WIDE] = WEFT_RECORDS_ADD};
    desc.effects = effects[b->sort];
    return desc;
}

static weft_system_desc desc_of(bed *b)
{
    static const uint32_t flags[SORTS] = {[SERIAL] = WEFT_SYSTEM_SERIAL,
                                          [MAIN_THREAD] = WEFT_SYSTEM_MAIN_THREAD,
                                          [EXCLUSIVE] = WEFT_SYSTEM_EXCLUSIVE,
                                          [BACKGROUND] = WEFT_SYSTEM_BACKGROUND,
                                          [WHOLE_CHUNKS] = WEFT_SYSTEM_WHOLE_CHUNKS,
                                          [TIMER] = WEFT_SYSTEM_TIMER,
                                          [ASKS_CHANGES] = WEFT_SYSTEM_ASKS_CHANGES,
                                          [JOBS] = WEFT_SYSTEM_JOBS,
                                          [RESOURCES] = WEFT_SYSTEM_SERIAL};
    weft_system_desc desc = recording_of(b, base_of(b));
    desc.flags = flags[b->sort];
    if (b->sort == QUERY) desc.over = (weft_system_over){.kind = WEFT_OVER_QUERY, .query = b->all};
    if (b->sort == INDICES) desc.over = (weft_system_over){.kind = WEFT_OVER_COUNT, .count = 40};
    if (b->sort == RANGE) desc.over = (weft_system_over){.kind = WEFT_OVER_RANGE, .range = range};
    if (b->sort == EXCLUSIVE || b->sort == RESOURCES) desc.over = (weft_system_over){0};
    if (b->sort == BY_DEPTH) {
        desc.over.rows.terms[1] = (weft_term){b->parent, WEFT_READ, WEFT_OPTIONAL, 0};
        desc.by_depth = b->parent;
    }
    if (b->sort == SKIPS_UNCHANGED) {
        desc.over.rows.terms[1] = (weft_term){b->speed, WEFT_READ, WEFT_ALL, 0};
        desc.skips_unchanged = true;
    }
    if (b->sort == FIXED_RATE) desc.period = 0.005f;
    if (b->sort == CONDITION) desc.run_if = condition;
    if (b->sort == LOOKUPS) desc.lookups[0] = (weft_lookup){b->speed, WEFT_READ};
    if (b->sort == RESOURCES) desc.resources[0] = (weft_lookup){b->score, WEFT_WRITE};
    if (b->sort == RESOURCES) desc.resources[1] = (weft_lookup){b->scores, WEFT_WRITE};
    if (b->sort == LOOPS) desc.queries[0] = b->others;
    if (b->sort == SPARSE_ROWS)
        desc.over.rows.terms[1] = (weft_term){b->note, WEFT_WRITE, WEFT_OPTIONAL, 0};
    if (b->sort == BUFFER_ROWS)
        desc.over.rows.terms[1] = (weft_term){b->links, WEFT_WRITE, WEFT_ALL, 0};
    return desc;
}

/* ---- the bed ---- */

static void types_make(bed *b)
{
    weft_world *world = b->world;
    b->at = weft_component_create_plain(world, "at", 4, 4, 0);
    b->speed = weft_component_create_plain(world, "speed", 4, 4, 0);
    b->mark = weft_component_create_plain(world, "mark", 4, 4, WEFT_ENABLEABLE);
    b->links = weft_component_create(
        world, &(weft_component_desc){
                   .name = "links", .size = 4, .flags = WEFT_BUFFER, .buffer_capacity = 2});
    b->colour = weft_component_create_plain(world, "colour", 4, 4, WEFT_SHARED);
    b->note = weft_component_create_plain(world, "note", 4, 4, WEFT_SPARSE);
    b->score = weft_component_create_plain(world, "score", 4, 4, WEFT_RESOURCE);
    b->scores = weft_component_create_plain(world, "scores", 4, 4, WEFT_RESOURCE | WEFT_BUFFER);
    b->parent = weft_component_parent(world);
    CHECK(b->note.id != 0 && b->scores.id != 0 && b->parent.id != 0);
}

static void entities_make(bed *b)
{
    weft_world *world = b->world;
    const weft_component with[] = {b->at, b->speed, b->links, b->colour};
    b->made = weft_archetype_create(world, with, 2);
    CHECK_OK(
        weft_entity_create_many(world, weft_archetype_create(world, with, 4), ENTITIES / 2, b->e));
    CHECK_OK(weft_entity_create_many(world, b->made, ENTITIES / 2, b->e + ENTITIES / 2));
    for (uint32_t i = 0; i < ENTITIES; i += 5)
        CHECK_OK(weft_entity_set(world, b->e[i], b->note, &i, 4));
    for (uint32_t i = 1; i < CHAIN; i++)
        CHECK_OK(weft_relation_set(world, b->e[i], b->parent, b->e[i - 1]));
    b->all =
        weft_query_create(world, &(weft_query_desc){.terms = {{b->at, WEFT_WRITE, WEFT_ALL, 0}}});
    b->others =
        weft_query_create(world, &(weft_query_desc){.terms = {{b->speed, WEFT_READ, WEFT_ALL, 0}}});
    CHECK(b->all.id != 0 && b->others.id != 0);
}

static void *bed_open(const refused_place *place)
{
    static bed made;
    bed *b = &made;
    memset(b, 0, sizeof *b);
    b->sort = (sort)place->kind;
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = place->pool,
                                                  .allocator = place->heap,
                                                  .os = place->os,
                                                  .without_huge_pages = true,
                                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG},
                               &b->world));
    types_make(b);
    entities_make(b);
    CHECK_OK(weft_schedule_set(b->world, &(weft_schedule_desc){.is_always_parallel = true}));
    const weft_system_desc first = {
        .name = "move", .run = move, .over.rows.terms = {{b->at, WEFT_WRITE, WEFT_ALL, 0}}};
    b->move = weft_system_create(b->world, &first);
    CHECK(b->move.id != 0);
    return b;
}

static void bed_close(void *open)
{
    bed *b = open;
    weft_snapshot_destroy(b->snapshot);
    CHECK_OK(weft_world_destroy(b->world));
}

static void bed_look(void *open, refused_look *out)
{
    bed *b = open;
    weft_system systems[8];
    weft_schedule_desc options = {0};
    const uint32_t count = weft_system_list(b->world, systems, 8);
    uint64_t runs = 0;
    refused_see_world(out, b->world);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        weft_system_stats stats;
        CHECK_OK(weft_system_stats_get(b->world, systems[i], &stats, sizeof stats));
        runs += stats.runs;
    }
    weft_schedule_get(b->world, &options, sizeof options);
    const weft_buffers scores = weft_resource_read_buffer(b->world, b->scores);
    refused_see(out, "systems", count);
    refused_see(out, "runs", runs);
    refused_see(out, "options", options.without_fusion);
    refused_see(out, "scores", weft_buffers_length(&scores, 0));
    refused_see(out, "step", weft_world_frame(b->world).number);
    refused_see(out, "told", at_load_rlx(&b->x_told)); /* relaxed: alone */
}

static weft_world *bed_world(void *open)
{
    const bed *b = open;
    return b->world;
}

/* ---- the functions ---- */

static weft_result code_of(const bed *b, bool is_done)
{
    return is_done ? WEFT_OK : weft_world_error(b->world)->code;
}

static weft_result do_create(void *open)
{
    bed *b = open;
    const weft_system_desc desc = desc_of(b);
    b->tested = weft_system_create(b->world, &desc);
    return code_of(b, b->tested.id != 0);
}

static void *tested_open(const refused_place *place)
{
    bed *b = bed_open(place);
    CHECK_OK(do_create(b));
    if (b->sort == TIMER) CHECK_OK(weft_timer_set(b->world, b->tested, 0));
    return b;
}

static weft_result do_step(void *open)
{
    bed *b = open;
    if (b->sort == TIMER) CHECK_OK(weft_timer_set(b->world, b->tested, 0));
    return weft_world_step(b->world, 0.01f);
}

static weft_result do_run(void *open)
{
    bed *b = open;
    return weft_system_run(b->world, b->tested, 0.01f);
}

static weft_result do_destroy(void *open)
{
    bed *b = open;
    return weft_system_destroy(b->world, b->tested);
}

static weft_result do_compile(void *open)
{
    bed *b = open;
    return weft_schedule_compile(b->world);
}

typedef enum text { EXPLAIN, AMBIGUITIES, SYNC_POINTS, CHAINS, JSON, COUNTERS } text;

static weft_result do_text(void *open)
{
    bed *b = open;
    static char to[1 << 16];
    const uint64_t errors = weft_world_error(b->world)->number;
    switch ((text)refused_how()) {
    case EXPLAIN:
        (void)weft_schedule_explain(b->world, b->move, b->tested, to, sizeof to);
        break;
    case AMBIGUITIES:
        (void)weft_schedule_ambiguities(b->world, to, sizeof to);
        break;
    case SYNC_POINTS:
        (void)weft_schedule_sync_points(b->world, to, sizeof to);
        break;
    case CHAINS:
        (void)weft_schedule_chain(b->world, to, sizeof to);
        break;
    case JSON:
        (void)weft_schedule_json(b->world, to, sizeof to);
        break;
    case COUNTERS:
        (void)weft_schedule_counters(b->world, to, sizeof to);
        break;
    }
    return code_of(b, weft_world_error(b->world)->number == errors);
}

static weft_result do_access(void *open)
{
    bed *b = open;
    weft_lookup list[16];
    const uint64_t errors = weft_world_error(b->world)->number;
    (void)weft_system_access(b->world, b->tested, list, 16);
    return code_of(b, weft_world_error(b->world)->number == errors);
}

static weft_result do_take(void *open)
{
    bed *b = open;
    weft_snapshot *taken;
    const weft_result result = weft_snapshot_take(b->world, NULL, &taken);
    if (result == WEFT_OK) weft_snapshot_destroy(taken);
    return result;
}

static weft_result do_group(void *open)
{
    bed *b = open;
    return weft_group_set(b->world, &(weft_group_desc){.name = "late",
                                                       .after = {"default"},
                                                       .before = {"one", "two"},
                                                       .period = 0.5f});
}

static weft_result do_options(void *open)
{
    bed *b = open;
    return weft_schedule_set(b->world, &(weft_schedule_desc){.without_fusion = true});
}

static weft_result do_transform(void *open)
{
    bed *b = open;
    return weft_transform_create(b->world, NULL, NULL);
}

static weft_result take_text(void *user, const void *bytes, size_t count)
{
    bed *b = user;
    (void)bytes;
    b->log_bytes += count;
    return WEFT_OK;
}

static weft_result do_log(void *open)
{
    bed *b = open;
    const weft_result result = weft_state_log_begin(
        b->world,
        &(weft_state_log_desc){.writer = {take_text, b}, .rows_first = 1, .rows_last = 9});
    if (result == WEFT_OK) CHECK_OK(weft_state_log_end(b->world));
    return result;
}

/* The log ends at its first failure, and says so at its end; the step goes on. */
static weft_result do_logged_step(void *open)
{
    bed *b = open;
    weft_result result = weft_state_log_begin(
        b->world,
        &(weft_state_log_desc){.writer = {take_text, b}, .rows_first = 1, .rows_last = 9});
    if (result != WEFT_OK) return result;
    result = weft_world_step(b->world, 0.01f);
    const weft_result ended = weft_state_log_end(b->world);
    return result == WEFT_OK ? ended : result;
}

/* Memory that ends in a step ends the record: its end says so. */
static weft_result in_order(bed *b, const char *order, bool steps)
{
    weft_result result = weft_order_begin(b->world, order);
    if (result == WEFT_OK && steps) result = weft_world_step(b->world, 0.01f);
    const weft_result ended = weft_order_end(b->world);
    return result == WEFT_OK ? ended : result;
}

static weft_result do_order(void *open)
{
    weft_result result = in_order(open, "record:a.order", false);
    if (result == WEFT_OK) result = in_order(open, "replay:a.order", false);
    return result == WEFT_OK ? in_order(open, "draw:1", false) : result;
}

static weft_result do_ordered_step(void *open)
{
    weft_result result = in_order(open, "record:a.order", true);
    return result == WEFT_OK ? in_order(open, "draw:1", true) : result;
}

/* ---- observers ---- */

enum { RECORDS = 1 };

static void observe(const weft_observation *o, void *user)
{
    bed *b = user;
    at_add_rlx(&b->x_told, o->count); /* relaxed: a count */
    if (refused_how() != RECORDS) return;
    for (uint32_t i = 0; i < o->count && o->event == WEFT_ON_ADDED; i++)
        (void)weft_recorder_add(o->commands, o->entities[i], b->mark);
}

static const char *const event_names[] = {"none",    "added",   "removed",
                                          "changed", "created", "destroyed"};

static weft_result do_observer(void *open)
{
    bed *b = open;
    const weft_observer_desc desc = {.name = "seen",
                                     .on = b->sort == 0 ? WEFT_ON_CREATED : (uint32_t)b->sort,
                                     .component = b->sort == 0 ? (weft_component){0, 0} : b->at,
                                     .run = observe,
                                     .user = b,
                                     .is_parallel = b->sort % 2 == 0};
    b->observer = weft_observer_create(b->world, &desc);
    return code_of(b, b->observer.id != 0);
}

static void *observed_open(const refused_place *place)
{
    bed *b = bed_open(place);
    CHECK_OK(do_observer(b));
    CHECK_OK(weft_observers_run(b->world));
    at_store_rlx(&b->x_told, 0u); /* relaxed: alone */
    CHECK_OK(weft_entity_create_many(b->world, b->made, 33, NULL));
    CHECK_OK(weft_entity_destroy_many(b->world, b->e + 60, 20));
    for (uint32_t i = 20; i < 40; i++) CHECK_OK(weft_entity_remove(b->world, b->e[i], b->at));
    *(uint32_t *)weft_entity_write(b->world, b->e[50], b->at) = 99;
    return b;
}

static weft_result do_observers_run(void *open)
{
    bed *b = open;
    return weft_observers_run(b->world);
}

static weft_result do_observer_destroy(void *open)
{
    bed *b = open;
    return weft_observer_destroy(b->world, b->observer);
}

/* ---- the tables ---- */

static const refused_function on_types[] = {
    {"weft_system_create", do_create, REFUSED_KINDS, 0},
    {"weft_group_set", do_group, 0, 0},
    {"weft_schedule_set", do_options, 0, 0},
    {"weft_transform_create", do_transform, REFUSED_LATER, 0},
    {"weft_state_log_begin", do_log, 0, 0},
    {"weft_order_begin", do_order, 0, 0},
};

static const refused_function on_systems[] = {
    {"weft_system_destroy", do_destroy, REFUSED_KINDS, 0},
    {"weft_schedule_compile", do_compile, REFUSED_KINDS, 0},
    {"weft_schedule_explain", do_text, REFUSED_KINDS, EXPLAIN},
    {"weft_schedule_ambiguities", do_text, REFUSED_KINDS, AMBIGUITIES},
    {"weft_schedule_sync_points", do_text, REFUSED_KINDS, SYNC_POINTS},
    {"weft_schedule_chain", do_text, 0, CHAINS},
    {"weft_schedule_json", do_text, REFUSED_KINDS, JSON},
    {"weft_schedule_counters", do_text, 0, COUNTERS},
    {"weft_system_access", do_access, REFUSED_KINDS, 0},
    {"weft_snapshot_take systems", do_take, REFUSED_KINDS, 0},
    {"weft_world_step", do_step, REFUSED_KINDS | REFUSED_PART | REFUSED_WORKERS, 0},
    {"weft_system_run", do_run, REFUSED_KINDS | REFUSED_PART | REFUSED_WORKERS, 0},
    {"weft_world_step logged", do_logged_step, REFUSED_PART | REFUSED_SILENT | REFUSED_WORKERS, 0},
    {"weft_order_end after a step", do_ordered_step, REFUSED_PART | REFUSED_WORKERS, 0},
};

static const refused_function on_observers[] = {
    {"weft_observer_create", do_observer, REFUSED_KINDS, 0},
};

static const refused_function on_observed[] = {
    {"weft_observers_run", do_observers_run, REFUSED_KINDS | REFUSED_LATER | REFUSED_WORKERS, 0},
    /* commands behind one that fails are dropped */
    {"weft_observers_run commands", do_observers_run,
     REFUSED_KINDS | REFUSED_LATER | REFUSED_PART | REFUSED_WORKERS, RECORDS},
    {"weft_observer_destroy", do_observer_destroy, REFUSED_KINDS, 0},
};

static const refused_bed bed_of_systems = {.close = bed_close,
                                           .look = bed_look,
                                           .world = bed_world,
                                           .kinds = sort_names,
                                           .kind_count = SORTS,
                                           .fewest = 50,
                                           .is_small = true};

PLAIN_TEST(refused_registrations_leave_everything_as_before)
{
    refused_sweep_of(&bed_of_systems, "a world", bed_open, REFUSED_LIST(on_types));
}

PLAIN_TEST(refused_steps_leave_a_world_that_goes_on)
{
    refused_bed swept = bed_of_systems;
    swept.fewest = 300;
    swept.is_small = false;
    refused_sweep_of(&swept, "a world with systems", tested_open, REFUSED_LIST(on_systems));
}

PLAIN_TEST(refused_observers_tell_later)
{
    refused_bed swept = bed_of_systems;
    swept.kinds = event_names;
    swept.kind_count = 6;
    swept.fewest = 10;
    refused_sweep_of(&swept, "a world", bed_open, REFUSED_LIST(on_observers));
    refused_sweep_of(&swept, "a world with an observer", observed_open, REFUSED_LIST(on_observed));
}
