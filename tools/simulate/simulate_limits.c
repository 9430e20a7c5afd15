/* SPDX-License-Identifier: MIT */
/* simulate_limits.c: what limits the speed-up, stage by stage, graph by graph and task by task:
 * bounds that no schedule can beat are compared with what the simulated pool needed. */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

#include "run_choice.h"

/* Sums over all frames. */
typedef struct sums {
    double work_ns, longest_ns, rounds_ns; /* rounds: as many slices as the worker with most gets */
    uint64_t runs, slices;
    double owner_ns; /* part of the work */
    uint32_t graph;  /* of a stage; SIM_NONE */
} sums;

/* Making the rows. Owner: sim_limits_make, on its stack. */
typedef struct making {
    const sim_costs *costs;
    const sim_result *result;
    sums *stages, *nodes, *graphs;
    uint64_t *until; /* scratch of sim_segment_chain */
    double owner_ns;
    sim_row *rows;
    uint32_t count;
} making;

/* `count` items as a loop, then `owner_count` on the owner. */
static void add_items(const making *m, uint32_t first, uint32_t count, uint32_t owner_count,
                      sums *s)
{
    uint64_t work = 0, owner = 0, longest = 0;
    const sim_item *items = m->costs->items + first;
    for (uint32_t i = 0; i < count; i++) {
        work += items[i].ns;
        if (items[i].ns > longest) longest = items[i].ns;
    }
    for (uint32_t i = count; i < count + owner_count; i++) owner += items[i].ns;
    s->runs++;
    s->slices += count + owner_count;
    s->work_ns += (double)(work + owner);
    s->owner_ns += (double)owner;
    s->longest_ns += (double)(longest + owner);
    uint32_t workers = m->result->workers, rounds = (count + workers - 1) / workers;
    if (count != 0) s->rounds_ns += (double)work / count * rounds;
}

static void add_segment(const making *m, uint32_t first)
{
    const sim_costs *c = m->costs;
    uint32_t end = sim_segment_end(c, first);
    sums *s = &m->graphs[c->stages[first].graph];
    s->runs++;
    s->longest_ns += (double)sim_segment_chain(c, first, end, m->until);
    for (uint32_t i = first; i < end; i++) {
        const sim_stage *stage = &c->stages[i];
        for (uint32_t k = stage->first; k < stage->first + stage->count + stage->owner_count; k++)
            s->work_ns += c->items[k].ns;
        s->slices += stage->count + stage->owner_count;
        for (uint32_t t = stage->first_task; t < stage->first_task + stage->task_count; t++) {
            const sim_task *task = &c->tasks[t];
            bool on_owner = c->nodes[task->node].on_owner;
            add_items(m, task->first, on_owner ? 0 : task->count, on_owner ? task->count : 0,
                      &m->nodes[task->node]);
        }
    }
}

static void add_all(making *m)
{
    const sim_costs *c = m->costs;
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const sim_stage *stage = &c->stages[i];
        m->owner_ns += (double)stage->serial_ns;
        if (stage->graph != SIM_NONE && !stage->has_begun) add_segment(m, i);
        if (stage->count + stage->owner_count == 0) continue;
        add_items(m, stage->first, stage->count, stage->owner_count, &m->stages[stage->number]);
        m->stages[stage->number].graph = stage->graph;
    }
}

/* The bound that is nearest below what the stage took; none reaches half of it: the pool itself. */
static sim_limit limit_of(const sums *s, double took_ns, uint32_t workers)
{
    double even = s->work_ns / workers;
    if (workers == 1 || took_ns <= 1.25 * even) return SIM_LIMIT_NONE;
    if (s->owner_ns >= took_ns / 2) return SIM_LIMIT_OWNER;
    if (s->work_ns / (double)s->runs < WEFT__STAGE_INLINE_NS) return SIM_LIMIT_SMALL;
    bool is_slice = s->longest_ns >= s->rounds_ns;
    double bound = is_slice ? s->longest_ns : s->rounds_ns;
    if (bound < took_ns / 2 || bound <= 1.1 * even) return SIM_LIMIT_SHARING;
    return is_slice ? SIM_LIMIT_SLICE : SIM_LIMIT_COUNT;
}

static sim_limit limit_of_graph(const sums *s, double took_ns, uint32_t workers)
{
    double even = s->work_ns / workers;
    if (workers == 1 || took_ns <= 1.25 * even) return SIM_LIMIT_NONE;
    return s->longest_ns >= took_ns / 2 ? SIM_LIMIT_CHAIN : SIM_LIMIT_SHARING;
}

static void add_row(making *m, sim_row_kind kind, uint32_t number, const sums *s, double took_ns)
{
    double frames = m->costs->frame_count;
    uint32_t workers = m->result->workers;
    sim_limit limit =
        kind == SIM_ROW_GRAPH ? limit_of_graph(s, took_ns, workers) : limit_of(s, took_ns, workers);
    if (kind == SIM_ROW_TASK && limit == SIM_LIMIT_SHARING) limit = SIM_LIMIT_BESIDE;
    m->rows[m->count++] = (sim_row){.kind = kind,
                                    .number = number,
                                    .work_us = s->work_ns / 1000 / frames,
                                    .frame_us = took_ns / 1000 / frames,
                                    .slices = (double)s->slices / (double)s->runs,
                                    .longest_us = s->longest_ns / 1000 / (double)s->runs,
                                    .limit = limit};
}

static int compare(const void *a, const void *b)
{
    const sim_row *x = a, *y = b;
    return (x->frame_us < y->frame_us) - (x->frame_us > y->frame_us);
}

/* Moves the tasks of each graph behind it, the longest first. */
static void sort_rows(const making *m, uint32_t first_task)
{
    uint32_t count = first_task, rest = m->count;
    qsort(m->rows, first_task, sizeof *m->rows, compare);
    qsort(m->rows + first_task, m->count - first_task, sizeof *m->rows, compare);
    for (uint32_t i = 0; i < count; i++) {
        if (m->rows[i].kind != SIM_ROW_GRAPH) continue;
        const sim_graph *graph = &m->costs->graphs[m->rows[i].number];
        for (uint32_t k = count; k < rest; k++) {
            const sim_row row = m->rows[k];
            if (row.number - graph->first_node >= graph->node_count) continue;
            memmove(&m->rows[i + 2], &m->rows[i + 1], (k - i - 1) * sizeof row);
            m->rows[++i] = row;
            count++;
        }
    }
}

/* Whether a segment ran as a graph more often than not. */
static bool is_graph(const making *m, uint32_t graph)
{
    return graph != SIM_NONE && 2 * (uint64_t)m->result->graph_runs[graph] > m->graphs[graph].runs;
}

static void make_rows(making *m)
{
    const sim_costs *c = m->costs;
    const sim_result *r = m->result;
    for (uint32_t i = 0; i < c->number_end; i++)
        if (m->stages[i].runs != 0 && !is_graph(m, m->stages[i].graph))
            add_row(m, SIM_ROW_STAGE, i, &m->stages[i], (double)r->stage_ps[i] / 1000);
    for (uint32_t i = 0; i < c->graph_count; i++)
        if (is_graph(m, i))
            add_row(m, SIM_ROW_GRAPH, i, &m->graphs[i], (double)r->graph_ps[i] / 1000);
    double owner_us = m->owner_ns / 1000 / c->frame_count;
    m->rows[m->count++] = (sim_row){
        .kind = SIM_ROW_OWNER, .work_us = owner_us, .frame_us = owner_us, .limit = SIM_LIMIT_OWNER};
    uint32_t first_task = m->count;
    for (uint32_t i = 0; i < c->graph_count; i++)
        for (uint32_t n = 0; is_graph(m, i) && n < c->graphs[i].node_count; n++) {
            uint32_t node = c->graphs[i].first_node + n;
            if (m->nodes[node].runs != 0)
                add_row(m, SIM_ROW_TASK, node, &m->nodes[node], (double)r->node_ps[node] / 1000);
        }
    sort_rows(m, first_task);
}

sim_row *sim_limits_make(const sim_costs *costs, const sim_result *result, uint32_t *count)
{
    making m = {.costs = costs, .result = result};
    size_t rows = (size_t)costs->number_end + costs->graph_count + costs->node_count + 1;
    m.stages = calloc(costs->number_end + 1u, sizeof *m.stages);
    m.nodes = calloc(costs->node_count + 1u, sizeof *m.nodes);
    m.graphs = calloc(costs->graph_count + 1u, sizeof *m.graphs);
    m.until = calloc(costs->node_count + 1u, sizeof *m.until);
    m.rows = calloc(rows, sizeof *m.rows);
    bool has_room = m.stages != NULL && m.nodes != NULL && m.graphs != NULL && m.until != NULL &&
                    m.rows != NULL;
    if (has_room) {
        add_all(&m);
        make_rows(&m);
    }
    *count = m.count;
    free(m.stages);
    free(m.nodes);
    free(m.graphs);
    free(m.until);
    if (has_room) return m.rows;
    free(m.rows);
    return NULL;
}

const char *sim_limit_text(sim_limit limit)
{
    static const char *const texts[] = {
        [SIM_LIMIT_NONE] = "none",
        [SIM_LIMIT_OWNER] = "the owner alone",
        [SIM_LIMIT_CHAIN] = "its longest chain",
        [SIM_LIMIT_SLICE] = "its longest slice",
        [SIM_LIMIT_COUNT] = "too few slices",
        [SIM_LIMIT_SMALL] = "too small to share",
        [SIM_LIMIT_SHARING] = "wakes, joins, memory",
        [SIM_LIMIT_BESIDE] = "others run beside it",
    };
    return texts[limit];
}
