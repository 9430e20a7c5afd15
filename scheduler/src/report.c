/* report.c: the schedule as text: why an order exists, ambiguities, sync points, DOT and JSON.
 * Everything is derived from the compiled schedule on demand; nothing here is on the path of a
 * frame. */
#include "scheduler_private.h"

#include "counters.h"
#include "text.h"

#include <string.h>

/* The scheduler, compiled; NULL with the reason as text. */
static weft__scheduler *begin(weft_world *world, weft__text *t)
{
    weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (t->capacity > 0 && t->at != NULL) t->at[0] = 0;
    if (t->at == NULL) t->capacity = 0;
    if (scheduler == NULL) {
        weft__text_add(t, "no systems\n");
        return NULL;
    }
    weft_result result = weft__between_steps(world, "the report of the schedule");
    if (result == WEFT_OK) result = weft__schedule_prepare(scheduler);
    if (result == WEFT_OK) return scheduler;
    weft__text_add(t, "%s\n", world->error->text);
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

static void add_archetype(weft__text *t, const weft__scheduler *scheduler, uint32_t number)
{
    const weft_world *world = scheduler->world;
    if (number == WEFT__NONE || number >= world->archetype_count) return;
    const weft__archetype *archetype = world->archetypes[number];
    weft__text_add(t, ", e.g. in archetype %u (", archetype->id);
    for (uint32_t i = 0; i < archetype->type_count; i++)
        weft__text_add(t, "%s%s", i == 0 ? "" : " ",
                       component_name(scheduler, archetype->types[i].component));
    weft__text_add(t, ")");
}

static const char *kind_of_order(const weft__scheduler *scheduler, const weft__system *a,
                                 const weft__system *b)
{
    if (weft__schedule_has_barrier(scheduler, a->position, b->position)) return "by name";
    if (a->group != b->group && a->rank > b->rank) return "by group";
    return a->rank < b->rank ? "by registration" : "by name or group of others";
}

static void add_sync_between(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                             const weft__system *b)
{
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        if (point->before_stage <= a->stage || point->before_stage > b->stage) continue;
        weft__text_add(
            t, "a sync point before stage %u lies between them: '%s' could see commands of '%s'\n",
            point->before_stage, scheduler->ordered[point->observer]->name,
            scheduler->ordered[point->recorder]->name);
    }
}

size_t weft_schedule_explain(weft_world *world, weft_system first, weft_system second, char *out,
                             size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    const weft__system *a = weft__system_at(world, first), *b = weft__system_at(world, second);
    if (a == NULL || b == NULL) {
        weft__text_add(&t, "%s\n", world->error->text);
        return t.length;
    }
    bool is_reversed = a->position > b->position;
    const weft__system *before = is_reversed ? b : a, *after = is_reversed ? a : b;
    const weft__staging_node *from = &scheduler->nodes[before->position];
    const weft__staging_node *to = &scheduler->nodes[after->position];
    uint32_t component = 0;
    weft__conflict conflict = weft__staging_conflict(from, to, &component);
    bool is_explicit = weft__schedule_has_barrier(scheduler, before->position, after->position);
    if (before == after ||
        (conflict == WEFT__CONFLICT_NONE && !is_explicit && before->stage == after->stage)) {
        weft__text_add(&t, "nothing orders '%s' and '%s': they may run at the same time\n", a->name,
                       b->name);
        return t.length;
    }
    weft__text_add(&t, "'%s' runs before '%s'\n", before->name, after->name);
    if (conflict != WEFT__CONFLICT_NONE) {
        weft__text_add(&t, "both touch %s and one writes it", component_name(scheduler, component));
        add_archetype(&t, scheduler, common_archetype(from, to, component));
        weft__text_add(&t, "; who is first is decided %s\n",
                       kind_of_order(scheduler, before, after));
    } else if (is_explicit) {
        weft__text_add(&t, "by name; their data do not collide\n");
    }
    if (before->stage == after->stage && conflict == WEFT__CONFLICT_NEAR)
        weft__text_add(&t, "fused in stage %u: each slice runs '%s', then '%s'\n", before->stage,
                       before->name, after->name);
    else
        weft__text_add(&t, "'%s' is in stage %u, '%s' in stage %u\n", before->name, before->stage,
                       after->name, after->stage);
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
    weft__text t = {out, capacity, 0};
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
            weft__text_add(&t, "%s %s %s\n", a->name, b->name,
                           component_name(scheduler, component));
        }
    return t.length;
}

size_t weft_schedule_sync_points(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        weft__text_add(&t, "before stage %u: '%s' could see commands of '%s'\n",
                       point->before_stage, scheduler->ordered[point->observer]->name,
                       scheduler->ordered[point->recorder]->name);
    }
    weft__text_add(&t, "end of the step\n");
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
static void each_edge(weft__text *t, const weft__scheduler *scheduler,
                      void (*visit)(weft__text *t, const weft__scheduler *scheduler, uint32_t from,
                                    uint32_t to, const char *label, uint32_t number))
{
    uint32_t number = 0;
    for (uint32_t to = 0; to < scheduler->ordered_count; to++)
        for (uint32_t from = 0; from < to; from++) {
            uint32_t component = 0;
            weft__conflict conflict =
                weft__staging_conflict(&scheduler->nodes[from], &scheduler->nodes[to], &component);
            if (conflict == WEFT__CONFLICT_NONE && !weft__schedule_has_barrier(scheduler, from, to))
                continue;
            const char *label =
                conflict == WEFT__CONFLICT_NONE ? "by name" : component_name(scheduler, component);
            visit(t, scheduler, from, to, label, number++);
        }
}

static void dot_edge(weft__text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                     const char *label, uint32_t number)
{
    (void)scheduler;
    (void)number;
    weft__text_add(t, "  s%u -> s%u [label=", from, to);
    weft__text_add_quoted(t, label);
    weft__text_add(t, "];\n");
}

size_t weft_schedule_dot(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    weft__text_add(&t, "digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n");
    for (uint32_t i = 0; i < scheduler->stage_count; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        weft__text_add(&t, "  subgraph cluster_%u {\n    label=\"stage %u%s\";\n", i, i,
                       stage->is_sync ? " (after a sync point)" : "");
        for (uint32_t k = 0; k < stage->system_count; k++) {
            const weft__system *system = stage->systems[k];
            weft__text_add(&t, "    s%u [label=", system->position);
            weft__text_add_quoted(&t, system->name);
            uint64_t time = time_of(scheduler, system);
            if (time != 0) weft__text_add(&t, ", xlabel=\"%.1f us\"", (double)time / 1e3);
            weft__text_add(&t, "];\n");
        }
        weft__text_add(&t, "  }\n");
    }
    each_edge(&t, scheduler, dot_edge);
    weft__text_add(&t, "}\n");
    return t.length;
}

static void json_edge(weft__text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                      const char *label, uint32_t number)
{
    weft__text_add(t, "%s\n    {\"from\": ", number == 0 ? "" : ",");
    weft__text_add_quoted(t, scheduler->ordered[from]->name);
    weft__text_add(t, ", \"to\": ");
    weft__text_add_quoted(t, scheduler->ordered[to]->name);
    weft__text_add(t, ", \"component\": ");
    weft__text_add_quoted(t, label);
    weft__text_add(t, "}");
}

static void json_systems(weft__text *t, const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        weft__system_tally tally;
        weft__system_tally_get(scheduler, system, &tally);
        weft__text_add(t, "%s\n    {\"name\": ", i == 0 ? "" : ",");
        weft__text_add_quoted(t, system->name);
        weft__text_add(t, ", \"group\": ");
        weft__text_add_quoted(t, scheduler->groups[system->group].name);
        weft__text_add(
            t,
            ", \"stage\": %u, \"runs\": %llu, \"slices\": %llu, \"rows\": %llu, \"commands\": "
            "%llu, "
            "\"time_ns\": %llu",
            system->stage, (unsigned long long)system->runs, (unsigned long long)tally.slices,
            (unsigned long long)tally.rows, (unsigned long long)tally.commands,
            (unsigned long long)tally.time_ns);
        if (scheduler->counters != NULL) {
            weft__text_add(t, ", \"counters\": ");
            weft__counters_json(scheduler, system, t);
        }
        weft__text_add(t, "}");
    }
}

size_t weft_schedule_json(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = begin(world, &t);
    if (scheduler == NULL) return t.length;
    weft__text_add(&t, "{\n  \"stages\": %u,\n  \"critical_path_ns\": %llu,\n  \"systems\": [",
                   scheduler->stage_count,
                   (unsigned long long)weft__schedule_critical_path(scheduler));
    json_systems(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"edges\": [");
    each_edge(&t, scheduler, json_edge);
    weft__text_add(&t, "\n  ],\n  \"sync_points\": [");
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        weft__text_add(&t, "%s\n    {\"before_stage\": %u, \"recorder\": ", i == 0 ? "" : ",",
                       point->before_stage);
        weft__text_add_quoted(&t, scheduler->ordered[point->recorder]->name);
        weft__text_add(&t, ", \"observer\": ");
        weft__text_add_quoted(&t, scheduler->ordered[point->observer]->name);
        weft__text_add(&t, "}");
    }
    weft__text_add(&t, "\n  ]\n}\n");
    return t.length;
}

size_t weft_schedule_counters(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const weft__scheduler *scheduler = begin(world, &t);
    if (scheduler != NULL) weft__counters_text(scheduler, &t);
    return t.length;
}

/* ---- critical path ---- */

static bool is_on_owner(const weft__system *system)
{
    return (system->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0;
}

/* The least time of a stage: all of its work on all workers, the owner's systems one after the
 * other, a system that runs on one worker. */
static uint64_t least_time(const weft__scheduler *scheduler, const weft__stage *stage)
{
    uint64_t work = 0, owner = 0, longest = 0;
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        uint64_t time = time_of(scheduler, system);
        work += time;
        if (is_on_owner(system))
            owner += time;
        else if ((system->flags & WEFT_SYSTEM_SINGLE) != 0 && time > longest)
            longest = time;
    }
    work /= scheduler->worker_count;
    if (owner > longest) longest = owner;
    return work > longest ? work : longest;
}

uint64_t weft__schedule_critical_path(const weft__scheduler *scheduler)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < scheduler->stage_count; i++)
        total += least_time(scheduler, &scheduler->stages[i]);
    return total;
}
