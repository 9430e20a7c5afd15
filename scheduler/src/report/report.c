/* SPDX-License-Identifier: MIT */
/* report.c: the schedule as text: sync points, DOT and JSON. Why two systems are ordered:
 * explain.c.
 *
 * Everything is derived from the compiled schedule on demand; nothing here is on the path of a
 * frame. */
#include "chain.h"
#include "explain.h"

#include "counters_report.h"
#include "frame_stats.h"
#include "registry.h"

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
static void each_edge(weft__text *t, const weft__scheduler *scheduler,
                      void (*visit)(weft__text *t, const weft__scheduler *scheduler, uint32_t from,
                                    uint32_t to, const char *label, uint32_t number))
{
    uint32_t number = 0;
    for (uint32_t to = 0; to < scheduler->ordered_count; to++)
        for (uint32_t from = 0; from < to; from++) {
            const char *label = weft__schedule_edge(scheduler, from, to);
            if (label != NULL) visit(t, scheduler, from, to, label, number++);
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
    weft__scheduler *scheduler = weft__report_begin(world, &t);
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
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++)
        weft__text_add(&t, "  s%u -> s%u [style=dashed, label=\"commands\"];\n",
                       scheduler->staging.syncs[i].recorder, scheduler->staging.syncs[i].observer);
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
    uint32_t archetype = weft__schedule_edge_archetype(scheduler, from, to);
    if (archetype != WEFT__NONE) weft__text_add(t, ", \"archetype\": %u", archetype);
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
        weft__counters_json(scheduler, system, t);
        weft__text_add(t, "}");
    }
}

static void json_sync_points(weft__text *t, const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        weft__sync_reason reason = weft__sync_reason_of(scheduler, point);
        weft__text_add(t, "%s\n    {\"before_stage\": %u, \"recorder\": ", i == 0 ? "" : ",",
                       point->before_stage);
        weft__text_add_quoted(t, scheduler->ordered[point->recorder]->name);
        weft__text_add(t, ", \"observer\": ");
        weft__text_add_quoted(t, scheduler->ordered[point->observer]->name);
        weft__text_add(t, ", \"effect\": ");
        weft__text_add_quoted(t, reason.effect);
        if (reason.component != NULL) {
            weft__text_add(t, ", \"component\": ");
            weft__text_add_quoted(t, reason.component);
        }
        if (reason.archetype != WEFT__NONE)
            weft__text_add(t, ", \"archetype\": %u", reason.archetype);
        weft__text_add(t, "}");
    }
}

size_t weft_schedule_json(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    weft__text_add(&t, "{\n  \"stages\": %u,\n  \"critical_path_ns\": %llu,\n  \"systems\": [",
                   scheduler->stage_count,
                   (unsigned long long)weft__schedule_critical_path(scheduler));
    json_systems(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"edges\": [");
    each_edge(&t, scheduler, json_edge);
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
