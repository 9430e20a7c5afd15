/* SPDX-License-Identifier: MIT */
/* simulate_costs.c: reads a recording (.slices, see jobs/src/trace/trace_file.c) or makes an
 * artificial one. Lines are untrusted: what does not fit is an error with its line number. */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_MAX (UINT32_C(1) << 27)
#define NUMBERS_MAX 65536u /* of stages, and of the tasks of a graph */

static bool grow(void **array, uint32_t *room, uint32_t count, size_t size)
{
    if (count < *room) return true;
    if (count >= COUNT_MAX) return false;
    uint32_t more = *room == 0 ? 64 : 2 * *room;
    void *larger = realloc(*array, more * size);
    if (larger == NULL) return false;
    *array = larger;
    *room = more;
    return true;
}

#define GROW(c, list, list_count, list_room)                                                       \
    grow((void **)&(c)->list, &(c)->list_room, (c)->list_count, sizeof *(c)->list)

static bool add_item(sim_costs *c, uint32_t ns, uint32_t bytes)
{
    if (!GROW(c, items, item_count, item_room)) return false;
    c->items[c->item_count++] = (sim_item){ns, bytes};
    return true;
}

static bool add_stage(sim_costs *c, uint64_t serial_ns, uint32_t number)
{
    if (!GROW(c, stages, stage_count, stage_room)) return false;
    c->stages[c->stage_count++] = (sim_stage){.serial_ns = serial_ns,
                                              .number = number,
                                              .first = c->item_count,
                                              .graph = SIM_NONE,
                                              .first_task = c->task_count};
    if (number >= c->number_end) c->number_end = number + 1;
    return true;
}

/* Ends the last frame, if any, and begins the next. */
static bool add_frame(sim_costs *c)
{
    if (!grow((void **)&c->frame_first, &c->frame_room, c->frame_count + 1, sizeof(uint32_t)))
        return false;
    c->frame_first[c->frame_count++] = c->stage_count;
    c->frame_first[c->frame_count] = c->stage_count;
    return true;
}

/* ---- graphs */

/* Whether two graphs are of the same segment and have the same tasks and edges. */
static bool is_same_graph(const sim_costs *c, const sim_graph *a, const sim_graph *b)
{
    if (a->number != b->number || a->node_count != b->node_count || a->edge_count != b->edge_count)
        return false;
    if (memcmp(&c->edges[a->first_edge], &c->edges[b->first_edge],
               a->edge_count * sizeof *c->edges) != 0)
        return false;
    for (uint32_t i = 0; i < a->node_count; i++) {
        const sim_node *x = &c->nodes[a->first_node + i], *y = &c->nodes[b->first_node + i];
        if (x->on_owner != y->on_owner || strcmp(x->title, y->title) != 0) return false;
    }
    return true;
}

static bool begin_graph(sim_costs *c, uint32_t number)
{
    if (!GROW(c, graphs, graph_count, graph_room)) return false;
    c->graphs[c->graph_count] =
        (sim_graph){.number = number, .first_node = c->node_count, .first_edge = c->edge_count};
    return true;
}

/* Keeps the graph that was just read, if there is no such one yet; returns its place. */
static uint32_t end_graph(sim_costs *c)
{
    const sim_graph *graph = &c->graphs[c->graph_count];
    for (uint32_t i = c->graph_count; i-- > 0;) {
        if (!is_same_graph(c, &c->graphs[i], graph)) continue;
        c->node_count = graph->first_node;
        c->edge_count = graph->first_edge;
        return i;
    }
    return c->graph_count++;
}

static void copy_title(char title[SIM_TITLE_BYTES], const char *text)
{
    snprintf(title, SIM_TITLE_BYTES, "%.*s", (int)strcspn(text, "\n"), text);
}

/* "N OWNER TEXT" */
static const char *read_node(sim_costs *c, const char *text)
{
    unsigned number, on_owner;
    int at = 0;
    sim_graph *graph = &c->graphs[c->graph_count];
    if (sscanf(text, "%u %u %n", &number, &on_owner, &at) != 2 || at == 0 || on_owner > 1 ||
        number != graph->node_count || number >= NUMBERS_MAX)
        return "a task that is none";
    if (!GROW(c, nodes, node_count, node_room)) return "out of memory";
    sim_node *node = &c->nodes[c->node_count++];
    node->on_owner = on_owner != 0;
    copy_title(node->title, text + at);
    graph->node_count++;
    return NULL;
}

/* "A B", by ascending B */
static const char *read_edge(sim_costs *c, const char *text)
{
    unsigned before, after;
    sim_graph *graph = &c->graphs[c->graph_count];
    if (sscanf(text, "%u %u", &before, &after) != 2 || before >= after ||
        after >= graph->node_count)
        return "an edge that is none";
    if (graph->edge_count != 0 && c->edges[c->edge_count - 1].after > after)
        return "an edge out of order";
    if (!GROW(c, edges, edge_count, edge_room)) return "out of memory";
    c->edges[c->edge_count++] = (sim_edge){before, after};
    graph->edge_count++;
    return NULL;
}

/* ---- spans */

typedef enum span { SPAN_FRAME, SPAN_GRAPH, SPAN_STAGE, SPAN_TASK, SPAN_SLICE, SPAN_SERIAL } span;
enum { SPAN_COUNT = 6, SPAN_NONE = 6, DEPTH_MAX = 4 };

/* By its number: the name, and what it may lie in. */
static const struct {
    const char *name;
    uint32_t inside;
} spans[SPAN_COUNT] = {
    [SPAN_FRAME] = {"frame", 1u << SPAN_NONE},
    [SPAN_GRAPH] = {"graph", 1u << SPAN_FRAME},
    [SPAN_STAGE] = {"stage", 1u << SPAN_FRAME},
    [SPAN_TASK] = {"task", 1u << SPAN_STAGE},
    [SPAN_SLICE] = {"slice", 1u << SPAN_STAGE | 1u << SPAN_TASK},
    [SPAN_SERIAL] = {"serial", 1u << SPAN_STAGE | 1u << SPAN_TASK},
};

/* Where the reader is. Owner: sim_costs_read, on its stack. */
typedef struct reader {
    sim_costs *costs;
    uint32_t open[DEPTH_MAX], depth; /* spans */
    uint32_t graph;                  /* of the stages that come; SIM_NONE */
    bool has_begun;                  /* a stage of it was read */
    uint64_t last_ns;
    uint64_t serial_ns; /* not yet given to a stage */
} reader;

static uint32_t inside(const reader *r)
{
    return r->depth == 0 ? (uint32_t)SPAN_NONE : r->open[r->depth - 1];
}

static sim_stage *last_stage(const reader *r)
{
    return &r->costs->stages[r->costs->stage_count - 1];
}

static bool is_in_task_of_owner(const reader *r)
{
    const sim_costs *c = r->costs;
    return inside(r) == SPAN_TASK && c->nodes[c->tasks[c->task_count - 1].node].on_owner;
}

/* A task of the graph that was read; a stage has its tasks of the owner behind the others. */
static const char *begin_task(reader *r, uint32_t number)
{
    sim_costs *c = r->costs;
    sim_stage *stage = last_stage(r);
    if (r->graph == SIM_NONE || number >= c->graphs[r->graph].node_count)
        return "a task that its graph does not have";
    const uint32_t node = c->graphs[r->graph].first_node + number;
    if ((stage->task_count == 0 && stage->count != 0) ||
        (stage->owner_count != 0 && !c->nodes[node].on_owner))
        return "a task out of place";
    if (!GROW(c, tasks, task_count, task_room)) return "out of memory";
    c->tasks[c->task_count++] = (sim_task){.node = node, .first = c->item_count};
    stage->has_begun = stage->graph == SIM_NONE ? r->has_begun : stage->has_begun;
    stage->graph = r->graph;
    stage->task_count++;
    r->has_begun = true;
    return NULL;
}

static const char *begin_slice(reader *r, uint32_t bytes)
{
    const sim_stage *stage = last_stage(r);
    if (is_in_task_of_owner(r) || (inside(r) == SPAN_STAGE && stage->task_count != 0))
        return "a slice out of place";
    return add_item(r->costs, 0, bytes) ? NULL : "out of memory";
}

/* A system of the owner: an item in a task, else time of the owner before the next stage. */
static const char *begin_serial(reader *r)
{
    if (inside(r) == SPAN_STAGE) return NULL;
    if (!is_in_task_of_owner(r)) return "a span out of place";
    return add_item(r->costs, 0, 0) ? NULL : "out of memory";
}

static const char *begin_span(reader *r, span kind, uint64_t ns, uint32_t value)
{
    const char *problem = NULL;
    bool is_kept = true;
    if (r->depth == DEPTH_MAX || (spans[kind].inside >> inside(r) & 1) == 0)
        return "a span out of place";
    switch (kind) {
    case SPAN_FRAME:
        is_kept = add_frame(r->costs);
        r->serial_ns = 0;
        r->graph = SIM_NONE;
        break;
    case SPAN_GRAPH:
        r->serial_ns += ns - r->last_ns;
        is_kept = begin_graph(r->costs, value);
        break;
    case SPAN_STAGE:
        if (value >= NUMBERS_MAX) return "a stage with an impossible number";
        is_kept = add_stage(r->costs, r->serial_ns + (ns - r->last_ns), value);
        r->serial_ns = 0;
        break;
    case SPAN_TASK:
        problem = begin_task(r, value);
        break;
    case SPAN_SLICE:
        problem = begin_slice(r, value);
        break;
    case SPAN_SERIAL:
        problem = begin_serial(r);
        break;
    }
    r->open[r->depth++] = kind;
    return is_kept ? problem : "out of memory";
}

/* The end of a slice, or of a system of the owner. */
static void end_item(reader *r, span kind, uint64_t passed)
{
    sim_costs *c = r->costs;
    sim_stage *stage = last_stage(r);
    const bool is_in_task = inside(r) == SPAN_TASK;
    if (kind == SPAN_SERIAL && !is_in_task) {
        r->serial_ns += passed;
        return;
    }
    c->items[c->item_count - 1].ns = passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
    if (is_in_task) c->tasks[c->task_count - 1].count++;
    *(kind == SPAN_SERIAL ? &stage->owner_count : &stage->count) += 1;
}

static const char *end_span(reader *r, span kind, uint64_t ns)
{
    sim_costs *c = r->costs;
    uint64_t passed = ns - r->last_ns;
    if (inside(r) != (uint32_t)kind) return "an end out of place";
    r->depth--;
    if (kind == SPAN_SLICE || kind == SPAN_SERIAL) end_item(r, kind, passed);
    if (kind == SPAN_GRAPH) {
        r->graph = end_graph(c);
        r->has_begun = false;
    }
    if (kind == SPAN_FRAME) {
        if (!add_stage(c, r->serial_ns + passed, 0)) return "out of memory";
        c->frame_first[c->frame_count] = c->stage_count;
    }
    return NULL;
}

/* ---- lines */

/* "N TEXT". */
static const char *read_title(sim_costs *c, const char *text)
{
    unsigned number;
    int at = 0;
    if (sscanf(text, "%u %n", &number, &at) != 1 || at == 0 || number >= NUMBERS_MAX)
        return "a title that is none";
    while (c->title_room <= number) {
        uint32_t old = c->title_room;
        if (!grow((void **)&c->titles, &c->title_room, c->title_room, sizeof *c->titles))
            return "out of memory";
        memset(c->titles + old, 0, (c->title_room - old) * sizeof *c->titles);
    }
    copy_title(c->titles[number], text + at);
    return NULL;
}

const char *sim_costs_title(const sim_costs *costs, uint32_t number)
{
    return number < costs->title_room ? costs->titles[number] : "";
}

static const char *read_span(reader *r, const char *text)
{
    char what[16], name[16];
    unsigned long long ns;
    unsigned value;
    uint32_t kind = 0;
    if (sscanf(text, "%15s %15s %llu %u", what, name, &ns, &value) != 4)
        return "a line that is none";
    if (ns < r->last_ns) return "time goes back: record with one worker (WEFT_WORKERS=1)";
    while (kind < SPAN_COUNT && strcmp(name, spans[kind].name) != 0) kind++;
    if (kind == SPAN_COUNT) return "a span of an unknown kind";
    const char *problem = strcmp(what, "begin") == 0 ? begin_span(r, (span)kind, ns, value)
                                                     : end_span(r, (span)kind, ns);
    r->last_ns = ns;
    return problem;
}

static const char *read_line(reader *r, const char *text)
{
    sim_costs *c = r->costs;
    unsigned long long lost;
    bool is_in_graph = inside(r) == SPAN_GRAPH;
    if (sscanf(text, "workers %u", &c->workers) == 1) return NULL;
    if (sscanf(text, "lost %llu", &lost) == 1) {
        c->lost = lost;
        return NULL;
    }
    if (strncmp(text, "title ", 6) == 0) return read_title(c, text + 6);
    if (strncmp(text, "task ", 5) == 0) return is_in_graph ? read_node(c, text + 5) : NULL;
    if (strncmp(text, "edge ", 5) == 0) return is_in_graph ? read_edge(c, text + 5) : NULL;
    return read_span(r, text);
}

const char *sim_costs_read(FILE *file, sim_costs *out, uint32_t *line)
{
    char text[256];
    reader r = {.costs = out, .graph = SIM_NONE};
    *line = 1;
    *out = (sim_costs){0};
    if (fgets(text, sizeof text, file) == NULL ||
        sscanf(text, "weft-slices %u", &out->version) != 1)
        return "not a recording: make one with WEFT_TRACE=FILE.slices";
    if (out->version < 1 || out->version > 2)
        return "a recording of a newer weft: record it again with this one "
               "(WEFT_TRACE=FILE.slices)";
    while (fgets(text, sizeof text, file) != NULL) {
        ++*line;
        const char *problem = read_line(&r, text);
        if (problem != NULL) return problem;
    }
    if (r.depth != 0) return "it ends inside of a frame: the program did not end its pool";
    return out->frame_count == 0
               ? "no frame in it: the program made no step of a world (weft_world_step)"
               : NULL;
}

bool sim_costs_make(sim_costs *out, uint32_t frames, uint32_t count, uint32_t ns, uint32_t bytes)
{
    *out = (sim_costs){.workers = 1, .version = 2};
    for (uint32_t f = 0; f < frames; f++) {
        if (!add_frame(out) || !add_stage(out, 0, 0)) return false;
        for (uint32_t i = 0; i < count; i++)
            if (!add_item(out, ns, bytes)) return false;
        out->stages[out->stage_count - 1].count = count;
        out->frame_first[out->frame_count] = out->stage_count;
    }
    return true;
}

void sim_costs_free(sim_costs *costs)
{
    free(costs->items);
    free(costs->stages);
    free(costs->tasks);
    free(costs->nodes);
    free(costs->edges);
    free(costs->graphs);
    free(costs->frame_first);
    free(costs->titles);
    *costs = (sim_costs){0};
}
