/* SPDX-License-Identifier: MIT */
/* report.c: the schedule as text: sync points, DOT and JSON. Why two systems are ordered:
 * explain.c.
 *
 * Everything is derived from the compiled schedule on demand; nothing here is on the path of a
 * frame. */
#include "decided.h"
#include "explain.h"

#include "counters_report.h"
#include "frame_stats.h"
#include "registry.h"

#include <string.h>

size_t weft_schedule_sync_points(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        weft__text_add(&t, "before stage %u: ", point->before_stage);
        weft__sync_reason_add(&t, scheduler, point);
        weft__text_add(&t, "\n");
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
static void each_edge(weft__text *t, const weft__scheduler *scheduler, void *user,
                      void (*visit)(weft__text *t, const weft__scheduler *scheduler, uint32_t from,
                                    uint32_t to, const weft__system_edge *edge, void *user))
{
    for (uint32_t to = 0; to < scheduler->ordered_count; to++)
        for (uint32_t from = 0; from < to; from++) {
            weft__system_edge edge = weft__schedule_edge(scheduler, from, to);
            if (edge.kind != WEFT__EDGE_NONE) visit(t, scheduler, from, to, &edge, user);
        }
}

static void dot_edge(weft__text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                     const weft__system_edge *edge, void *user)
{
    (void)user;
    weft__text_add(t, "  s%u -> s%u [label=", from, to);
    weft__text_add_label(t, weft__system_edge_label(scheduler, edge));
    weft__text_add(t, "];\n");
}

static void dot_sync_point(weft__text *t, const weft__scheduler *scheduler,
                           const weft__sync_point *point)
{
    weft__text_add(t, "  s%u -> s%u [style=dashed, label=", point->recorder, point->observer);
    weft__sync_reason_label(t, scheduler, point);
    weft__text_add(t, "];\n");
}

size_t weft_schedule_dot(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const char *problem;
    weft__scheduler *scheduler = weft__report_open(world, &t, &problem);
    weft__text_add(&t, "digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n");
    if (scheduler == NULL) {
        weft__text_add(&t, "  label=");
        weft__text_add_label(&t, problem);
        weft__text_add(&t, ";\n}\n");
        return t.length;
    }
    for (uint32_t i = 0; i < scheduler->stage_count; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        weft__text_add(&t, "  subgraph cluster_%u {\n    label=\"stage %u%s\";\n", i, i,
                       stage->is_sync ? " (after a sync point)" : "");
        for (uint32_t k = 0; k < stage->system_count; k++) {
            const weft__system *system = stage->systems[k];
            weft__text_add(&t, "    s%u [label=", system->position);
            weft__text_add_label(&t, system->name);
            uint64_t time = time_of(scheduler, system);
            if (time != 0) weft__text_add(&t, ", xlabel=\"%.1f us\"", (double)time / 1e3);
            weft__text_add(&t, "];\n");
        }
        weft__text_add(&t, "  }\n");
    }
    each_edge(&t, scheduler, NULL, dot_edge);
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++)
        dot_sync_point(&t, scheduler, &scheduler->staging.syncs[i]);
    weft__text_add(&t, "}\n");
    return t.length;
}

/* What json_edge needs for all edges. Lives on the stack of weft_schedule_json. */
typedef struct edge_list {
    weft__orders orders;
    bool has_orders; /* there was memory for them */
    uint32_t count;
} edge_list;

static void json_access(weft__text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                        const weft__system_edge *edge)
{
    weft__text_add(t, ", \"component\": ");
    weft__text_add_quoted(t, weft__system_edge_label(scheduler, edge));
    if (edge->archetype != WEFT__NONE)
        weft__text_add(t, ", \"archetype\": %u",
                       weft__archetype_numbered(scheduler->world, edge->archetype)->id);
    weft__text_add(t, ", \"from_access\": \"%s\", \"to_access\": \"%s\", \"components\": [",
                   edge->is_first_written ? "write" : "read",
                   edge->is_second_written ? "write" : "read");
    uint32_t count = 0, next = WEFT__NONE;
    while ((next = weft__schedule_edge_next(scheduler, from, to, next)) != WEFT__NONE) {
        weft__text_add(t, "%s", count++ == 0 ? "" : ", ");
        weft__text_add_quoted(t, weft__type_name(scheduler->world, next));
    }
    weft__text_add(t, "]");
}

static void json_edge(weft__text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                      const weft__system_edge *edge, void *user)
{
    edge_list *list = user;
    const weft__system *a = scheduler->ordered[from], *b = scheduler->ordered[to];
    weft__text_add(t, "%s\n    {\"from\": ", list->count++ == 0 ? "" : ",");
    weft__text_add_quoted(t, a->name);
    weft__text_add(t, ", \"to\": ");
    weft__text_add_quoted(t, b->name);
    weft__text_add(t, ", \"kind\": \"%s\"", edge->kind == WEFT__EDGE_ACCESS ? "access" : "name");
    if (list->has_orders)
        weft__text_add(t, ", \"decided_by\": \"%s\"",
                       weft__decided_word(weft__orders_decided(&list->orders, a, b)));
    if (edge->kind == WEFT__EDGE_ACCESS) json_access(t, scheduler, from, to, edge);
    weft__text_add(t, "}");
}

static void json_edges(weft__text *t, const weft__scheduler *scheduler)
{
    edge_list list = {.count = 0};
    list.has_orders = weft__orders_init(&list.orders, scheduler);
    each_edge(t, scheduler, &list, json_edge);
    weft__orders_free(&list.orders);
}

static void json_flags(weft__text *t, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{WEFT_SYSTEM_SERIAL, "serial"},
                 {WEFT_SYSTEM_MAIN_THREAD, "main thread"},
                 {WEFT_SYSTEM_EXCLUSIVE, "exclusive"},
                 {WEFT_SYSTEM_BACKGROUND, "background"},
                 {WEFT_SYSTEM_NOT_FUSED, "not fused"},
                 {WEFT_SYSTEM_WHOLE_CHUNKS, "whole chunks"},
                 {WEFT_SYSTEM_TIMER, "timer"},
                 {WEFT_SYSTEM_ASKS_CHANGES, "asks changes"},
                 {WEFT_SYSTEM_JOBS, "jobs"}};
    uint32_t count = 0;
    weft__text_add(t, ", \"flags\": [");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((flags & names[i].flag) != 0)
            weft__text_add(t, "%s\"%s\"", count++ == 0 ? "" : ", ", names[i].name);
    weft__text_add(t, "]");
}

static void json_systems(weft__text *t, const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        const weft__group *group = &scheduler->groups[system->group];
        weft__system_tally tally;
        weft__system_tally_get(scheduler, system, &tally);
        weft__text_add(t, "%s\n    {\"name\": ", i == 0 ? "" : ",");
        weft__text_add_quoted(t, system->name);
        weft__text_add(t, ", \"group\": ");
        weft__text_add_quoted(t, group->name);
        weft__text_add(t, ", \"is_enabled\": %s, \"is_group_enabled\": %s",
                       system->is_enabled ? "true" : "false",
                       group->is_disabled ? "false" : "true");
        weft__text_add(
            t,
            ", \"stage\": %u, \"runs\": %llu, \"slices\": %llu, \"rows\": %llu, \"commands\": "
            "%llu, "
            "\"time_ns\": %llu",
            system->stage, (unsigned long long)system->runs, (unsigned long long)tally.slices,
            (unsigned long long)tally.rows, (unsigned long long)tally.commands,
            (unsigned long long)tally.time_ns);
        json_flags(t, system->flags);
        if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0)
            weft__text_add(t, ", \"passes_sync_points\": %s, \"join_stage\": %u",
                           system->passes ? "true" : "false",
                           scheduler->staging.join_stage[system->position]);
        weft__counters_json(scheduler, system, t);
        weft__text_add(t, "}");
    }
}

static void json_sync_points(weft__text *t, const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        weft__text_add(t, "%s\n    {\"before_stage\": %u, \"recorder\": ", i == 0 ? "" : ",",
                       point->before_stage);
        weft__text_add_quoted(t, scheduler->ordered[point->recorder]->name);
        weft__text_add(t, ", \"observer\": ");
        weft__text_add_quoted(t, scheduler->ordered[point->observer]->name);
        weft__text_add(t, ", ");
        weft__sync_reason_json(t, scheduler, point);
        weft__text_add(t, "}");
    }
}

/* The same members, all empty. */
static void json_nothing(weft__text *t, const char *problem)
{
    weft__text_add(t, "{\n");
    if (strcmp(problem, WEFT__NO_SYSTEMS) != 0) {
        weft__text_add(t, "  \"error\": ");
        weft__text_add_quoted(t, problem);
        weft__text_add(t, ",\n");
    }
    weft__text_add(t,
                   "  \"stages\": 0,\n  \"critical_path_ns\": 0,\n  \"systems\": [],\n  \"edges\": "
                   "[],\n  \"sync_points\": [],\n  \"segments\": []\n}\n");
}

size_t weft_schedule_json(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const char *problem;
    weft__scheduler *scheduler = weft__report_open(world, &t, &problem);
    if (scheduler == NULL) {
        json_nothing(&t, problem);
        return t.length;
    }
    weft__text_add(&t, "{\n  \"stages\": %u,\n  \"critical_path_ns\": %llu,\n  \"systems\": [",
                   scheduler->stage_count,
                   (unsigned long long)weft__schedule_critical_path(scheduler));
    json_systems(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"edges\": [");
    json_edges(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"sync_points\": [");
    json_sync_points(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"segments\": [");
    weft__segments_json(&t, scheduler);
    weft__text_add(&t, "\n  ]\n}\n");
    return t.length;
}

size_t weft_schedule_counters(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler != NULL) weft__counters_text(scheduler, &t);
    return t.length;
}
