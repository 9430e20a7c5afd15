/* SPDX-License-Identifier: MIT */
/* segment_graph.c: from the stages of a segment to its graph.
 *
 * Systems that collide are ordered by an edge between their tasks; near collisions inside a stage
 * put fused systems into one task. Fused systems that run over the same archetypes and wait for the
 * same tasks share one, too: a chunk is then in the cache for all of them. In the second plan those
 * that a serial system of a later stage waits for are a task apart from the others of their stage,
 * which then run beside that system: a near collision between the two is an edge. Edges that a
 * chain of others implies are left out. A plan is made when it is first wanted, then kept until the
 * schedule is compiled again. */
#include "segment_graph.h"
#include "registry.h"

#include <stdio.h>

#define SYSTEMS_MOST 4096u /* the sets of bits grow with the square */
#define EDGES_MOST 64u     /* of a task: above that its stages are run one after the other */

/* One access item of a system that was looked at. */
typedef struct placed_item {
    const weft__access_item *item;
    uint32_t system; /* local number */
    uint32_t next;   /* of the same component; WEFT__NONE ends */
} placed_item;

/* Making one graph. Systems have local numbers, in the order of stages. Owner:
 * weft__segment_plan_make, on its stack; arrays in `pile`. */
typedef struct drawing {
    weft__scheduler *scheduler;
    weft__segment *segment;
    weft__task_plan *plan; /* to be made */
    weft__pile pile;
    weft__system **systems; /* [count] */
    uint32_t count;
    uint32_t words;          /* of a set of systems, or of tasks */
    uint64_t *before;        /* [count][words] earlier systems that it collides with */
    uint64_t *preds;         /* [count][words] tasks of earlier stages that its own waits for */
    uint64_t *waits;         /* [task][words] the same, of tasks */
    uint32_t *parent;        /* [count] fused systems of one task; of a root itself */
    bool *is_urgent;         /* [count] fused, and to go first; all false in the first plan */
    uint32_t *first_user;    /* [archetype] a fused system of this stage, + 1 */
    weft__system **in_order; /* what the tasks' lists are made of */
    bool is_failed;
} drawing;

static void *take(drawing *d, weft__pile *pile, size_t count, size_t size)
{
    void *taken = weft__pile_take(pile, count + 1, size);
    if (taken == NULL) d->is_failed = true;
    return taken;
}

static void set_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool has_bit(const uint64_t *set, uint32_t bit)
{
    return (set[bit / 64] >> bit % 64 & 1) != 0;
}

static uint64_t *row_of(const drawing *d, uint64_t *sets, uint32_t number)
{
    return sets + (size_t)number * d->words;
}

void weft__systems_label(char *title, size_t bytes, const char *prefix,
                         weft__system *const *systems, uint32_t count)
{
    size_t used = 0;
    for (uint32_t i = 0; i < count && used < bytes - 8; i++) {
        int written =
            snprintf(title + used, bytes - used, "%s%s", i == 0 ? prefix : " + ", systems[i]->name);
        used += written > 0 ? (size_t)written : 0;
    }
    if (used >= bytes) memcpy(title + bytes - 4, "...", 4);
}

/* ---- collisions ---- */

static void list_systems(drawing *d)
{
    weft__segment *segment = d->segment;
    weft__scheduler *scheduler = d->scheduler;
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++)
        d->count += scheduler->stages[i].system_count;
    d->words = d->count / 64 + 1;
    d->systems = take(d, &d->pile, d->count, sizeof d->systems[0]);
    d->before = take(d, &d->pile, (size_t)d->count * d->words, sizeof(uint64_t));
    d->preds = take(d, &d->pile, (size_t)d->count * d->words, sizeof(uint64_t));
    d->waits = take(d, &d->pile, (size_t)d->count * d->words, sizeof(uint64_t));
    d->parent = take(d, &d->pile, d->count, sizeof(uint32_t));
    d->is_urgent = take(d, &d->pile, d->count, sizeof(bool));
    d->plan->task_of = take(d, &d->plan->pile, d->count, sizeof(uint32_t));
    d->first_user = take(d, &d->pile, weft__archetype_count(scheduler->world), sizeof(uint32_t));
    if (d->is_failed) return;
    uint32_t at = 0;
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++)
        for (uint32_t k = 0; k < scheduler->stages[i].system_count; k++, at++) {
            d->systems[at] = scheduler->stages[i].systems[k];
            d->systems[at]->number = at;
            d->parent[at] = at;
        }
}

static bool is_in_segment(const drawing *d, const weft__system *system)
{
    return system->stage >= d->segment->first_stage && system->stage < d->segment->end_stage;
}

/* Barriers count as collisions. Those to gates are the last ones: what leads to a gate is known
 * before what it leads to. */
static void add_barriers(drawing *d)
{
    const weft__scheduler *scheduler = d->scheduler;
    const uint32_t systems = scheduler->ordered_count;
    size_t words = (size_t)scheduler->gate_count * d->words;
    uint64_t *gates = take(d, &d->pile, words, sizeof gates[0]);
    if (d->is_failed) return;
    for (uint32_t i = scheduler->barrier_count; i-- > 0;) {
        const weft__order_edge edge = scheduler->barriers[i];
        uint64_t *before;
        if (edge.after >= systems)
            before = row_of(d, gates, edge.after - systems);
        else if (is_in_segment(d, scheduler->ordered[edge.after]))
            before = row_of(d, d->before, scheduler->ordered[edge.after]->number);
        else
            continue;
        if (edge.before < systems) {
            const weft__system *first = scheduler->ordered[edge.before];
            if (is_in_segment(d, first)) set_bit(before, first->number);
            continue;
        }
        const uint64_t *gate = row_of(d, gates, edge.before - systems);
        for (uint32_t w = 0; w < d->words; w++) before[w] |= gate[w];
    }
}

static void find_collisions(drawing *d)
{
    const weft__scheduler *scheduler = d->scheduler;
    uint32_t limit = weft__type_count(scheduler->world) + 1, item_count = 0, placed_count = 0;
    for (uint32_t i = 0; i < d->count; i++)
        item_count += scheduler->nodes[d->systems[i]->position].access.count;
    uint32_t *heads = take(d, &d->pile, limit, sizeof heads[0]);
    placed_item *placed = take(d, &d->pile, item_count, sizeof placed[0]);
    if (d->is_failed) return;
    memset(heads, 0xff, (limit + 1) * sizeof heads[0]);
    for (uint32_t i = 0; i < d->count; i++) {
        const weft__access_set *access = &scheduler->nodes[d->systems[i]->position].access;
        for (uint32_t k = 0; k < access->count; k++) {
            const weft__access_item *item = &access->items[k];
            for (uint32_t at = heads[item->component]; at != WEFT__NONE; at = placed[at].next)
                if (placed[at].system != i &&
                    !has_bit(row_of(d, d->before, i), placed[at].system) &&
                    weft__access_item_conflict(placed[at].item, item) != WEFT__CONFLICT_NONE)
                    set_bit(row_of(d, d->before, i), placed[at].system);
            placed[placed_count] = (placed_item){item, i, heads[item->component]};
            heads[item->component] = placed_count++;
        }
    }
    add_barriers(d);
}

/* ---- tasks ---- */

static bool is_fused(const drawing *d, uint32_t system)
{
    uint32_t position = d->systems[system]->position;
    return (d->scheduler->nodes[position].traits & WEFT__STAGING_FUSABLE) != 0;
}

static uint32_t root_of(const drawing *d, uint32_t system)
{
    while (d->parent[system] != system) system = d->parent[system];
    return system;
}

static void unite(drawing *d, uint32_t a, uint32_t b)
{
    a = root_of(d, a);
    b = root_of(d, b);
    if (a == b) return;
    if (a > b) {
        uint32_t c = a;
        a = b;
        b = c;
    }
    d->parent[b] = a;
    for (uint32_t w = 0; w < d->words; w++) row_of(d, d->preds, a)[w] |= row_of(d, d->preds, b)[w];
}

/* What the systems [first, end) of a stage wait for; near collisions among them make one task. */
static void find_predecessors(drawing *d, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = 0; k < first; k++)
            if (has_bit(row_of(d, d->before, i), k))
                set_bit(row_of(d, d->preds, i), d->plan->task_of[k]);
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = first; k < i; k++)
            if (has_bit(row_of(d, d->before, i), k) && d->is_urgent[i] == d->is_urgent[k])
                unite(d, k, i);
}

/* Fused systems over the same archetypes that wait for the same tasks: the urgent ones, or the
 * others. */
static void unite_by_archetype(drawing *d, uint32_t first, uint32_t end, bool are_urgent)
{
    uint32_t archetypes = weft__archetype_count(d->scheduler->world);
    memset(d->first_user, 0, archetypes * sizeof d->first_user[0]);
    for (uint32_t i = first; i < end; i++) {
        if (!is_fused(d, i) || d->is_urgent[i] != are_urgent) continue;
        const weft__query *query = d->systems[i]->context.query;
        for (uint32_t k = 0; k < query->match_count; k++) {
            uint32_t *user = &d->first_user[query->matches[k].number];
            if (*user == 0) {
                *user = i + 1;
                continue;
            }
            const uint64_t *own = row_of(d, d->preds, root_of(d, i));
            const uint64_t *their = row_of(d, d->preds, root_of(d, *user - 1));
            if (memcmp(own, their, d->words * sizeof own[0]) == 0) unite(d, *user - 1, i);
        }
    }
}

/* Whether it waits long enough for a part of a fused task, on one worker, while the others could do
 * the rest of it. */
static bool is_worth_a_split(const drawing *d, uint32_t system)
{
    if (is_fused(d, system) || d->systems[system]->flags != WEFT_SYSTEM_SERIAL) return false;
    const weft__task_plan *whole = &d->segment->plans[WEFT__PLAN_WHOLE];
    if (weft__is_always_parallel(d->scheduler)) return true;
    return whole->graph != NULL &&
           whole->tasks[whole->task_of[system]].time_ns >= WEFT__SPLIT_LEAST_NS;
}

/* Which fused systems [first, end) of a stage go first: what such a system waits for, and what
 * these wait for. */
static void find_urgent(drawing *d, uint32_t first, uint32_t end)
{
    for (uint32_t i = end; i-- > first;) {
        if (!is_fused(d, i)) continue;
        for (uint32_t k = i + 1; k < d->count && !d->is_urgent[i]; k++)
            d->is_urgent[i] = has_bit(row_of(d, d->before, k), i) &&
                              (k < end ? d->is_urgent[k] : is_worth_a_split(d, k));
    }
}

/* An urgent task of the same stage, before which others must not run. */
static void wait_for_urgent(drawing *d, uint32_t system, uint32_t first, uint32_t number)
{
    for (uint32_t k = first; k < system; k++)
        if (has_bit(row_of(d, d->before, system), k) && d->is_urgent[k] && !d->is_urgent[system])
            set_bit(row_of(d, d->waits, number), d->plan->task_of[k]);
}

/* The task of a root, with all its systems, of the stage [first, end). */
static void add_task(drawing *d, uint32_t root, uint32_t first, uint32_t end)
{
    uint32_t number = d->plan->task_count++;
    weft__task *task = &d->plan->tasks[number];
    *task = (weft__task){.scheduler = d->scheduler,
                         .systems = d->in_order,
                         .stage = d->systems[root]->stage,
                         .is_fused = is_fused(d, root),
                         .on_owner = weft__system_is_on_owner(d->systems[root])};
    memcpy(row_of(d, d->waits, number), row_of(d, d->preds, root), d->words * sizeof(uint64_t));
    for (uint32_t i = root; i < end; i++) {
        if (root_of(d, i) != root) continue;
        task->systems[task->system_count++] = d->systems[i];
        d->plan->task_of[i] = number;
        wait_for_urgent(d, i, first, number);
    }
    d->in_order += task->system_count;
    weft__systems_label(task->title, sizeof task->title, WEFT__TASK_TITLE, task->systems,
                        task->system_count);
}

/* The place of its task among those of a stage. */
static uint32_t turn_of(const drawing *d, uint32_t system)
{
    enum { ALONE, URGENT, FUSED, ON_OWNER };
    if (weft__system_is_on_owner(d->systems[system])) return ON_OWNER;
    if (!is_fused(d, system)) return ALONE;
    return d->is_urgent[system] ? URGENT : FUSED;
}

/* In the order in which one worker would run them: systems alone, fused ones, the owner's. */
static void make_tasks(drawing *d)
{
    weft__task_plan *plan = d->plan;
    plan->tasks = take(d, &plan->pile, d->count, sizeof plan->tasks[0]);
    d->in_order = take(d, &plan->pile, d->count, sizeof d->in_order[0]);
    if (d->is_failed) return;
    uint32_t first = 0;
    for (uint32_t s = d->segment->first_stage; s < d->segment->end_stage; s++) {
        uint32_t end = first + d->scheduler->stages[s].system_count;
        if (plan == &d->segment->plans[WEFT__PLAN_SPLIT]) find_urgent(d, first, end);
        find_predecessors(d, first, end);
        unite_by_archetype(d, first, end, true);
        unite_by_archetype(d, first, end, false);
        for (uint32_t turn = 0; turn < 4; turn++)
            for (uint32_t i = first; i < end; i++)
                if (turn_of(d, i) == turn && root_of(d, i) == i) add_task(d, i, first, end);
        first = end;
    }
}

/* ---- edges ---- */

/* Turns what each task waits for into what must be an edge, and fills `reach`. The nearest first:
 * what one of them waits for needs no edge. */
static void reduce(drawing *d)
{
    weft__task_plan *plan = d->plan;
    uint32_t words = plan->task_count / 64 + 1;
    plan->reach_words = words;
    plan->reach = take(d, &plan->pile, (size_t)plan->task_count * words, sizeof plan->reach[0]);
    if (d->is_failed) return;
    for (uint32_t t = 0; t < plan->task_count && !d->is_failed; t++) {
        uint64_t *waits = row_of(d, d->waits, t), *reach = plan->reach + (size_t)t * words;
        for (uint32_t p = t; p-- > 0;) {
            if (!has_bit(waits, p)) continue;
            if (has_bit(reach, p)) {
                waits[p / 64] &= ~(UINT64_C(1) << p % 64);
                continue;
            }
            const uint64_t *further = plan->reach + (size_t)p * words;
            for (uint32_t w = 0; w < words; w++) reach[w] |= further[w];
            set_bit(reach, p);
            plan->edge_count++;
        }
        if (plan->edge_count > EDGES_MOST * plan->task_count) d->is_failed = true;
    }
}

static void list_edges(drawing *d)
{
    weft__task_plan *plan = d->plan;
    plan->edges = take(d, &plan->pile, plan->edge_count, sizeof plan->edges[0]);
    if (d->is_failed) return;
    uint32_t count = 0;
    for (uint32_t t = 0; t < plan->task_count; t++)
        for (uint32_t p = 0; p < t; p++)
            if (has_bit(row_of(d, d->waits, t), p)) {
                plan->edges[count][0] = p;
                plan->edges[count++][1] = t;
            }
    WEFT_ASSERT(count == plan->edge_count);
}

/* Whether two tasks may run at once that are not both the owner's. */
static bool has_overlap(const weft__task_plan *plan)
{
    for (uint32_t t = 0; t < plan->task_count; t++)
        for (uint32_t p = 0; p < t; p++)
            if (!has_bit(plan->reach + (size_t)t * plan->reach_words, p) &&
                !(plan->tasks[t].on_owner && plan->tasks[p].on_owner))
                return true;
    return false;
}

/* Whether it is another one than those that were made before. */
static bool is_new(const weft__segment *segment, const weft__task_plan *plan)
{
    const weft__task_plan *whole = &segment->plans[WEFT__PLAN_WHOLE];
    return plan == whole || plan->task_count != whole->task_count;
}

/* ---- the graph ---- */

static weft_job_graph *make_graph(const weft__scheduler *scheduler, weft__task_plan *plan,
                                  weft_job_fn run)
{
    weft__memory *memory = scheduler->memory;
    weft_job_graph_node *nodes =
        WEFT__NEW_ZEROED(memory, WEFT__MEMORY_SYSTEMS, plan->task_count, *nodes);
    if (nodes == NULL) return NULL;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        weft__task *task = &plan->tasks[i];
        task->ranked_ns = task->time_ns;
        nodes[i] = (weft_job_graph_node){.fn = run,
                                         .argument = task,
                                         .name = task->title,
                                         .cost_ns = task->time_ns,
                                         .on_caller = task->on_owner};
    }
    const weft_job_graph_desc desc = {.nodes = nodes,
                                      .node_count = plan->task_count,
                                      .edges = (const uint32_t(*)[2])plan->edges,
                                      .edge_count = plan->edge_count,
                                      .is_shared = true};
    weft_job_graph *graph = NULL;
    weft_job_graph_create(weft__front(scheduler->world)->host.pool, &desc, &graph);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, nodes, plan->task_count);
    return graph;
}

bool weft__segment_plan_make(weft__scheduler *scheduler, weft__segment *segment,
                             weft__plan_kind kind, weft_job_fn run)
{
    weft__task_plan *plan = &segment->plans[kind];
    if (plan->graph != NULL) return true;
    drawing d = {.scheduler = scheduler,
                 .segment = segment,
                 .plan = plan,
                 .pile = weft__systems_pile(scheduler)};
    plan->pile = d.pile;
    list_systems(&d);
    bool is_useful = !d.is_failed && d.count <= SYSTEMS_MOST;
    if (is_useful) find_collisions(&d);
    if (is_useful && !d.is_failed) make_tasks(&d);
    if (is_useful && !d.is_failed) reduce(&d);
    if (is_useful && !d.is_failed) list_edges(&d);
    is_useful = is_useful && !d.is_failed && has_overlap(plan) && is_new(segment, plan);
    if (is_useful) plan->graph = make_graph(scheduler, plan, run);
    weft__pile_free(&d.pile);
    if (plan->graph != NULL) return true;
    weft__pile_free(&plan->pile);
    *plan = (weft__task_plan){.graph = NULL};
    return false;
}

/* Their entries are made again, task by task. */
void weft__segment_plan_use(weft__scheduler *scheduler, weft__segment *segment,
                            weft__plan_kind kind)
{
    weft__task_plan *plan = &segment->plans[kind];
    if (segment->plan == plan) return;
    WEFT_ASSERT(plan->graph != NULL);
    segment->plan = plan;
    uint32_t task = 0;
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++) {
        weft__stage *stage = &scheduler->stages[i];
        stage->entries_version = 0;
        stage->tasks = &plan->tasks[task];
        stage->task_count = 0;
        for (; task < plan->task_count && plan->tasks[task].stage == i; task++) stage->task_count++;
    }
}

bool weft__segment_graph_rank(weft__scheduler *scheduler, weft__task_plan *plan, weft_job_fn run)
{
    weft_job_graph *graph = make_graph(scheduler, plan, run);
    if (graph == NULL) return false;
    weft_job_graph_destroy(plan->graph);
    plan->graph = graph;
    return true;
}

static void forget_tasks(weft__scheduler *scheduler, const weft__segment *segment)
{
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++) {
        weft__stage *stage = &scheduler->stages[i];
        if (stage->tasks != NULL) stage->entries_version = 0; /* theirs are in another order */
        stage->tasks = NULL;
        stage->task_count = 0;
    }
}

void weft__segment_graph_free(weft__scheduler *scheduler, weft__segment *segment)
{
    for (uint32_t i = 0; i < WEFT__PLANS; i++) {
        weft__task_plan *plan = &segment->plans[i];
        if (plan->graph == NULL) continue;
        weft__pool_drain_trace(weft__front(scheduler->world)->host.pool); /* labels of tasks */
        weft_job_graph_destroy(plan->graph);
        weft__pile_free(&plan->pile);
        *plan = (weft__task_plan){.graph = NULL};
    }
    segment->choice = (weft__segment_choice){.way = WEFT__WAY_STAGES};
    segment->plan = NULL;
    segment->graph_plan = NULL;
    segment->graph_pass = 0;
    forget_tasks(scheduler, segment);
}
