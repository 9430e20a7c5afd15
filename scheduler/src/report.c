/* report.c: the schedule as text: why an order exists, ambiguities, sync points, DOT and JSON.
 * Everything is derived from the compiled schedule on demand; nothing here is on the path of a
 * frame. */
#include "scheduler_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that goes on beyond the buffer: like snprintf, it counts all of it. */
typedef struct text {
    char *at;
    size_t capacity;
    size_t length;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = t->length < t->capacity ? t->capacity - t->length : 0;
    int added = vsnprintf(left == 0 ? NULL : t->at + t->length, left, format, arguments);
    va_end(arguments);
    if (added > 0) t->length += (size_t)added;
}

/* Quotes for DOT and JSON. */
static void add_quoted(text *t, const char *string)
{
    add(t, "\"");
    for (; *string != 0; string++) {
        unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            add(t, "\\%c", c);
        else if (c < 0x20)
            add(t, "\\u%04x", c);
        else
            add(t, "%c", c);
    }
    add(t, "\"");
}

/* The scheduler, compiled; NULL with the reason as text. */
static weft__scheduler *begin(weft_world *world, text *t)
{
    weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (t->capacity > 0 && t->at != NULL) t->at[0] = 0;
    if (t->at == NULL) t->capacity = 0;
    if (scheduler == NULL) {
        add(t, "no systems\n");
        return NULL;
    }
    weft_result result = weft__idle(world, "weft_schedule");
    if (result == WEFT_OK) result = weft__schedule_prepare(scheduler);
    if (result == WEFT_OK) return scheduler;
    add(t, "%s\n", world->error->text);
    return NULL;
}

static const char *component_name(const weft__scheduler *scheduler, uint32_t component)
{
    return weft__type_name(scheduler->world, component);
}

/* ---- pairs ---- */

/* An archetype on which two nodes collide over a component; WEFT__NONE for resources. */
static uint32_t common_archetype(const weft__staging_node *a, const weft__staging_node *b,
                                 uint32_t component)
{
    for (uint32_t i = 0; i < a->access.count; i++)
        for (uint32_t k = 0; k < b->access.count; k++) {
            const weft__access_item *left = &a->access.items[i], *right = &b->access.items[k];
            if (left->component != component || right->component != component) continue;
            if (((left->flags | right->flags) & WEFT__ACCESS_RESOURCE) != 0) continue;
            if (weft__access_item_conflict(left, right) == WEFT__CONFLICT_NONE) continue;
            return weft__archetype_sets_meet(left->match, right->match, left->with);
        }
    return WEFT__NONE;
}

static void add_archetype(text *t, const weft__scheduler *scheduler, uint32_t number)
{
    const weft_world *world = scheduler->world;
    if (number == WEFT__NONE || number >= world->archetype_count) return;
    const weft__archetype *archetype = world->archetypes[number];
    add(t, ", e.g. in archetype %u (", archetype->id);
    for (uint32_t i = 0; i < archetype->type_count; i++)
        add(t, "%s%s", i == 0 ? "" : " ", component_name(scheduler, archetype->types[i].component));
    add(t, ")");
}

static bool has_barrier(const weft__scheduler *scheduler, uint32_t before, uint32_t after)
{
    for (uint32_t i = 0; i < scheduler->barrier_count; i++)
        if (scheduler->barriers[i].before == before && scheduler->barriers[i].after == after)
            return true;
    return false;
}

static const char *kind_of_order(const weft__scheduler *scheduler, const weft__system *a,
                                 const weft__system *b)
{
    if (has_barrier(scheduler, a->position, b->position)) return "by name";
    if (a->group != b->group && a->rank > b->rank) return "by group";
    return a->rank < b->rank ? "by registration" : "by name or group of others";
}

static void add_sync_between(text *t, const weft__scheduler *scheduler, const weft__system *a,
                             const weft__system *b)
{
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        if (point->before_stage <= a->stage || point->before_stage > b->stage) continue;
        add(t, "a sync point before stage %u lies between them: '%s' could see commands of '%s'\n",
            point->before_stage, scheduler->ordered[point->observer]->name,
            scheduler->ordered[point->recorder]->name);
    }
}

size_t weft_schedule_explain(weft_world *world, weft_system first, weft_system second, char *out,
                             size_t capacity)
{
    text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    const weft__system *a = weft__system_at(world, first), *b = weft__system_at(world, second);
    if (a == NULL || b == NULL) {
        add(&t, "%s\n", world->error->text);
        return t.length;
    }
    bool is_reversed = a->position > b->position;
    const weft__system *before = is_reversed ? b : a, *after = is_reversed ? a : b;
    const weft__staging_node *from = &scheduler->nodes[before->position];
    const weft__staging_node *to = &scheduler->nodes[after->position];
    uint32_t component = 0;
    weft__conflict conflict = weft__staging_conflict(from, to, &component);
    bool is_explicit = has_barrier(scheduler, before->position, after->position);
    if (before == after ||
        (conflict == WEFT__CONFLICT_NONE && !is_explicit && before->stage == after->stage)) {
        add(&t, "nothing orders '%s' and '%s': they may run at the same time\n", a->name, b->name);
        return t.length;
    }
    add(&t, "'%s' runs before '%s'\n", before->name, after->name);
    if (conflict != WEFT__CONFLICT_NONE) {
        add(&t, "both touch %s and one writes it", component_name(scheduler, component));
        add_archetype(&t, scheduler, common_archetype(from, to, component));
        add(&t, "; who is first is decided %s\n", kind_of_order(scheduler, before, after));
    } else if (is_explicit) {
        add(&t, "by name; their data do not collide\n");
    }
    if (before->stage == after->stage && conflict == WEFT__CONFLICT_NEAR)
        add(&t, "fused in stage %u: each slice runs '%s', then '%s'\n", before->stage, before->name,
            after->name);
    else
        add(&t, "'%s' is in stage %u, '%s' in stage %u\n", before->name, before->stage, after->name,
            after->stage);
    add_sync_between(&t, scheduler, before, after);
    return t.length;
}

/* Whether a chain of explicit orders leads from one position to a later one. */
static bool is_ordered_by_names(const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                                uint8_t *reached)
{
    memset(reached, 0, scheduler->ordered_count);
    reached[from] = 1;
    for (uint32_t i = 0; i < scheduler->barrier_count; i++) /* sorted by `after` */
        if (reached[scheduler->barriers[i].before]) reached[scheduler->barriers[i].after] = 1;
    return reached[to] != 0;
}

static bool group_names(const weft__group *group, const char *name)
{
    for (uint32_t i = 0; i < WEFT_SYSTEM_ORDER; i++)
        if (strcmp(group->before[i], name) == 0 || strcmp(group->after[i], name) == 0) return true;
    return false;
}

static bool is_ordered_by_groups(const weft__scheduler *scheduler, const weft__system *a,
                                 const weft__system *b)
{
    if (a->group == b->group) return false;
    const weft__group *left = &scheduler->groups[a->group], *right = &scheduler->groups[b->group];
    return group_names(left, right->name) || group_names(right, left->name);
}

size_t weft_schedule_ambiguities(weft_world *world, char *out, size_t capacity)
{
    text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    uint8_t *reached =
        weft__arena_take(scheduler->memory, &scheduler->plan_arena, scheduler->ordered_count);
    for (uint32_t i = 0; reached != NULL && i < scheduler->ordered_count; i++)
        for (uint32_t k = i + 1; k < scheduler->ordered_count; k++) {
            const weft__system *a = scheduler->ordered[i], *b = scheduler->ordered[k];
            uint32_t component;
            if (weft__staging_conflict(&scheduler->nodes[i], &scheduler->nodes[k], &component) ==
                    WEFT__CONFLICT_NONE ||
                is_ordered_by_names(scheduler, i, k, reached) ||
                is_ordered_by_groups(scheduler, a, b))
                continue;
            add(&t, "%s %s %s\n", a->name, b->name, component_name(scheduler, component));
        }
    return t.length;
}

size_t weft_schedule_sync_points(weft_world *world, char *out, size_t capacity)
{
    text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        add(&t, "before stage %u: '%s' could see commands of '%s'\n", point->before_stage,
            scheduler->ordered[point->observer]->name, scheduler->ordered[point->recorder]->name);
    }
    add(&t, "end of the step\n");
    return t.length;
}

/* ---- export ---- */

static uint64_t time_of(const weft__scheduler *scheduler, const weft__system *system)
{
    weft__system_tally tally;
    weft__system_tally_get(scheduler, system, &tally);
    return tally.time_ns;
}

/* Calls for every ordered pair that collides or is ordered by name. */
static void each_edge(text *t, const weft__scheduler *scheduler,
                      void (*visit)(text *t, const weft__scheduler *scheduler, uint32_t from,
                                    uint32_t to, const char *label, uint32_t number))
{
    uint32_t number = 0;
    for (uint32_t to = 0; to < scheduler->ordered_count; to++)
        for (uint32_t from = 0; from < to; from++) {
            uint32_t component = 0;
            weft__conflict conflict =
                weft__staging_conflict(&scheduler->nodes[from], &scheduler->nodes[to], &component);
            if (conflict == WEFT__CONFLICT_NONE && !has_barrier(scheduler, from, to)) continue;
            const char *label =
                conflict == WEFT__CONFLICT_NONE ? "by name" : component_name(scheduler, component);
            visit(t, scheduler, from, to, label, number++);
        }
}

static void dot_edge(text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                     const char *label, uint32_t number)
{
    (void)scheduler;
    (void)number;
    add(t, "  s%u -> s%u [label=", from, to);
    add_quoted(t, label);
    add(t, "];\n");
}

size_t weft_schedule_dot(weft_world *world, char *out, size_t capacity)
{
    text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    add(&t, "digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n");
    for (uint32_t i = 0; i < scheduler->stage_count; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        add(&t, "  subgraph cluster_%u {\n    label=\"stage %u%s\";\n", i, i,
            stage->is_sync ? " (after a sync point)" : "");
        for (uint32_t k = 0; k < stage->system_count; k++) {
            const weft__system *system = stage->systems[k];
            add(&t, "    s%u [label=", system->position);
            add_quoted(&t, system->name);
            uint64_t time = time_of(scheduler, system);
            if (time != 0) add(&t, ", xlabel=\"%.1f us\"", (double)time / 1e3);
            add(&t, "];\n");
        }
        add(&t, "  }\n");
    }
    each_edge(&t, scheduler, dot_edge);
    add(&t, "}\n");
    return t.length;
}

static void json_edge(text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                      const char *label, uint32_t number)
{
    add(t, "%s\n    {\"from\": ", number == 0 ? "" : ",");
    add_quoted(t, scheduler->ordered[from]->name);
    add(t, ", \"to\": ");
    add_quoted(t, scheduler->ordered[to]->name);
    add(t, ", \"component\": ");
    add_quoted(t, label);
    add(t, "}");
}

static void json_systems(text *t, const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        weft__system_tally tally;
        weft__system_tally_get(scheduler, system, &tally);
        add(t, "%s\n    {\"name\": ", i == 0 ? "" : ",");
        add_quoted(t, system->name);
        add(t, ", \"group\": ");
        add_quoted(t, scheduler->groups[system->group].name);
        add(t,
            ", \"stage\": %u, \"runs\": %llu, \"slices\": %llu, \"rows\": %llu, \"commands\": "
            "%llu, "
            "\"time_ns\": %llu}",
            system->stage, (unsigned long long)system->runs, (unsigned long long)tally.slices,
            (unsigned long long)tally.rows, (unsigned long long)tally.commands,
            (unsigned long long)tally.time_ns);
    }
}

size_t weft_schedule_json(weft_world *world, char *out, size_t capacity)
{
    text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    add(&t, "{\n  \"stages\": %u,\n  \"critical_path_ns\": %llu,\n  \"systems\": [",
        scheduler->stage_count, (unsigned long long)weft__schedule_critical_path(scheduler));
    json_systems(&t, scheduler);
    add(&t, "\n  ],\n  \"edges\": [");
    each_edge(&t, scheduler, json_edge);
    add(&t, "\n  ],\n  \"sync_points\": [");
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        add(&t, "%s\n    {\"before_stage\": %u, \"recorder\": ", i == 0 ? "" : ",",
            point->before_stage);
        add_quoted(&t, scheduler->ordered[point->recorder]->name);
        add(&t, ", \"observer\": ");
        add_quoted(&t, scheduler->ordered[point->observer]->name);
        add(&t, "}");
    }
    add(&t, "\n  ]\n}\n");
    return t.length;
}

/* ---- critical path ---- */

/* The shortest time the last frame could have taken on these workers with these stages: slices
 * share out evenly, what runs on one worker does not. */
uint64_t weft__schedule_critical_path(const weft__scheduler *scheduler)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < scheduler->stage_count; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        uint64_t shared = 0, longest = 0;
        for (uint32_t k = 0; k < stage->system_count; k++) {
            const weft__system *system = stage->systems[k];
            uint64_t time = time_of(scheduler, system);
            bool is_series = (system->flags & (WEFT_SYSTEM_SINGLE | WEFT_SYSTEM_MAIN_THREAD |
                                               WEFT_SYSTEM_EXCLUSIVE)) != 0;
            if (!is_series)
                shared += time;
            else if (time > longest)
                longest = time;
        }
        shared /= scheduler->worker_count;
        total += shared > longest ? shared : longest;
    }
    return total;
}
