/* SPDX-License-Identifier: MIT */
/* explain.c: why a schedule orders two systems, and which orders only registration decides.
 *
 * Two systems are ordered by an edge between them (they collide over a component, or one names the
 * other), by a chain of edges through others, because one is exclusive, or by a sync point. Else
 * their stages are what the others left, and say nothing about the two. Who is first of two that
 * collide: decided.c. */
#include "explain.h"

#include "chain.h"
#include "compile.h"
#include "compile_order.h"
#include "decided.h"
#include "registry.h"
#include "sync_reason.h"

#include "heap.h"

weft__scheduler *weft__report_open(weft_world *world, weft__text *t, const char **problem)
{
    weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (t->capacity > 0 && t->at != NULL) t->at[0] = 0;
    if (t->at == NULL) t->capacity = 0;
    *problem = WEFT__NO_SYSTEMS;
    if (scheduler == NULL) return NULL;
    /* the error of a job is kept for the end of the step, if it is kept at all */
    *problem = "a step is going on, or a query is iterated: call it when that has ended";
    if (weft__between_steps(world, "the report of the schedule") != WEFT_OK) return NULL;
    if (weft__schedule_prepare(scheduler) == WEFT_OK) return scheduler;
    *problem = weft_world_error(world)->text;
    return NULL;
}

weft__scheduler *weft__report_begin(weft_world *world, weft__text *t)
{
    const char *problem;
    weft__scheduler *scheduler = weft__report_open(world, t, &problem);
    if (scheduler == NULL) weft__text_add(t, "%s\n", problem);
    return scheduler;
}

/* ---- pairs ---- */

static const char *component_name(const weft__scheduler *scheduler, uint32_t component)
{
    return weft__type_name(scheduler->world, component);
}

/* What two nodes do with a component over which they collide: fills all but kind and component. */
static void add_access(const weft__staging_node *a, const weft__staging_node *b,
                       weft__system_edge *edge)
{
    for (uint32_t i = 0; i < a->access.count; i++)
        for (uint32_t k = 0; k < b->access.count; k++) {
            const weft__access_item *left = &a->access.items[i], *right = &b->access.items[k];
            if (left->component != edge->component || right->component != edge->component) continue;
            if (weft__access_item_conflict(left, right) == WEFT__CONFLICT_NONE) continue;
            edge->is_first_written |= (left->flags & WEFT__ACCESS_WRITE) != 0;
            edge->is_second_written |= (right->flags & WEFT__ACCESS_WRITE) != 0;
            bool is_resource = ((left->flags | right->flags) & WEFT__ACCESS_RESOURCE) != 0;
            edge->is_resource |= is_resource;
            if (!is_resource && edge->archetype == WEFT__NONE)
                edge->archetype = weft__archetype_sets_meet(left->match, right->match, left->with);
        }
}

weft__system_edge weft__schedule_edge(const weft__scheduler *scheduler, uint32_t from, uint32_t to)
{
    const weft__staging_node *a = &scheduler->nodes[from], *b = &scheduler->nodes[to];
    weft__system_edge edge = {.archetype = WEFT__NONE};
    if (weft__staging_conflict(a, b, &edge.component) != WEFT__CONFLICT_NONE) {
        edge.kind = WEFT__EDGE_ACCESS;
        add_access(a, b, &edge);
        if (edge.archetype >= weft__archetype_count(scheduler->world)) edge.archetype = WEFT__NONE;
    } else if (weft__schedule_has_barrier(scheduler, from, to)) {
        edge.kind = WEFT__EDGE_NAME;
    }
    return edge;
}

uint32_t weft__schedule_edge_next(const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                                  uint32_t component)
{
    const weft__access_set *a = &scheduler->nodes[from].access, *b = &scheduler->nodes[to].access;
    for (uint32_t i = 0; i < a->count; i++) {
        const weft__access_item *left = &a->items[i];
        if (component != WEFT__NONE && left->component <= component) continue;
        for (uint32_t k = 0; k < b->count; k++)
            if (b->items[k].component == left->component &&
                weft__access_item_conflict(left, &b->items[k]) != WEFT__CONFLICT_NONE)
                return left->component;
    }
    return WEFT__NONE;
}

const char *weft__system_edge_label(const weft__scheduler *scheduler, const weft__system_edge *edge)
{
    return edge->kind == WEFT__EDGE_ACCESS ? component_name(scheduler, edge->component)
                                           : "by name or group";
}

void weft__archetype_add(weft__text *t, const weft__scheduler *scheduler, uint32_t number)
{
    const weft_world *world = scheduler->world;
    if (number == WEFT__NONE || number >= weft__archetype_count(world)) return;
    const weft__archetype *archetype = weft__archetype_numbered(world, number);
    weft__text_add(t, ", e.g. in archetype %u (", archetype->id);
    for (uint32_t i = 0; i < archetype->type_count; i++)
        weft__text_add(t, "%s%s", i == 0 ? "" : " ",
                       component_name(scheduler, archetype->types[i].component));
    weft__text_add(t, ")");
}

static bool is_exclusive(const weft__system *system)
{
    return (system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0;
}

/* The first sync point between two systems, or NULL. */
static const weft__sync_point *sync_between(const weft__scheduler *scheduler, const weft__system *a,
                                            const weft__system *b)
{
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        if (point->before_stage > a->stage && point->before_stage <= b->stage) return point;
    }
    return NULL;
}

/* ---- chains of systems ---- */

/* What a search from one position found about another. A value, of a list that lives as long as the
 * search. */
typedef struct step_back {
    uint32_t from;   /* the position before it on the shortest way; WEFT__NONE: not reached */
    uint32_t length; /* links on that way */
} step_back;

/* As weft__system_edge_label; all others are ordered to an exclusive system. NULL: no link. */
static const char *link_between(const weft__scheduler *scheduler, uint32_t from, uint32_t to)
{
    weft__system_edge edge = weft__schedule_edge(scheduler, from, to);
    if (edge.kind != WEFT__EDGE_NONE) return weft__system_edge_label(scheduler, &edge);
    return is_exclusive(scheduler->ordered[from]) || is_exclusive(scheduler->ordered[to])
               ? "exclusive"
               : NULL;
}

/* The shortest chain of links between two positions: fills found[from .. to]. */
static bool find_chain(const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                       step_back *found)
{
    found[from] = (step_back){WEFT__NONE, 0};
    for (uint32_t k = from + 1; k <= to; k++) {
        found[k] = (step_back){WEFT__NONE, UINT32_MAX};
        for (uint32_t i = from; i < k; i++) {
            bool is_reached = i == from || found[i].from != WEFT__NONE;
            if (!is_reached || found[i].length + 1 >= found[k].length) continue;
            if (link_between(scheduler, i, k) != NULL)
                found[k] = (step_back){i, found[i].length + 1};
        }
    }
    return found[to].from != WEFT__NONE;
}

/* "'c' waits for 'b' (velocity), which waits for 'a' (position)". False: there is no chain, or no
 * memory to look for one. */
static bool add_chain(weft__text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to)
{
    step_back *found = weft__alloc(scheduler->memory, WEFT__MEMORY_SYSTEMS,
                                   scheduler->ordered_count, sizeof *found, _Alignof(step_back));
    bool is_found = found != NULL && find_chain(scheduler, from, to, found);
    if (is_found)
        weft__text_add(t, "their own data do not collide, but '%s'", scheduler->ordered[to]->name);
    for (uint32_t at = to; is_found && at != from; at = found[at].from)
        weft__text_add(t, "%s waits for '%s' (%s)", at == to ? "" : ", which",
                       scheduler->ordered[found[at].from]->name,
                       link_between(scheduler, found[at].from, at));
    if (is_found) weft__text_add(t, "\n");
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, found, scheduler->ordered_count,
               sizeof *found, _Alignof(step_back));
    return is_found;
}

/* ---- explanations ---- */

/* "'a' writes c, 'b' reads c, e.g. in archetype 3 (c d)", and the other components in a line. */
static void add_collision(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                          const weft__system *b, const weft__system_edge *edge)
{
    const char *name = component_name(scheduler, edge->component);
    uint32_t count = 0, next = WEFT__NONE;
    weft__text_add(t, "'%s' %s %s, '%s' %s it", a->name,
                   edge->is_first_written ? "writes" : "reads", name, b->name,
                   edge->is_second_written ? "writes" : "reads");
    if (edge->is_resource) weft__text_add(t, ", a resource");
    weft__archetype_add(t, scheduler, edge->archetype);
    weft__text_add(t, "\n");
    while ((next = weft__schedule_edge_next(scheduler, a->position, b->position, next)) !=
           WEFT__NONE)
        if (next != edge->component)
            weft__text_add(t, "%s%s", count++ == 0 ? "they collide over more: " : ", ",
                           component_name(scheduler, next));
    if (count != 0) weft__text_add(t, "\n");
}

static void add_decided(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                        const weft__system *b)
{
    weft__orders orders;
    if (weft__orders_init(&orders, scheduler))
        weft__decided_add(t, &orders, a, b);
    else
        weft__text_add(t, "no memory for what decides who is first");
    weft__text_add(t, "\n");
    weft__orders_free(&orders);
}

/* Whether `b`, at a later position, may run while the background system `a` does. */
static bool goes_on(const weft__scheduler *scheduler, const weft__system *a, const weft__system *b)
{
    return (a->flags & WEFT_SYSTEM_BACKGROUND) != 0 &&
           scheduler->staging.join_stage[a->position] > b->stage;
}

/* A line that says why `a` comes before `b`, which is at a later position; false: nothing does. */
static bool add_reason(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                       const weft__system *b)
{
    weft__system_edge edge = weft__schedule_edge(scheduler, a->position, b->position);
    if (edge.kind == WEFT__EDGE_ACCESS) {
        add_collision(t, scheduler, a, b, &edge);
        add_decided(t, scheduler, a, b);
    } else if (edge.kind == WEFT__EDGE_NAME) {
        weft__text_add(t, "their data do not collide; ");
        add_decided(t, scheduler, a, b);
    } else if (is_exclusive(a) || is_exclusive(b)) {
        weft__text_add(t, "'%s' is exclusive: nothing runs beside it\n",
                       is_exclusive(a) ? a->name : b->name);
    } else if (a->stage >= b->stage || goes_on(scheduler, a, b) ||
               (!add_chain(t, scheduler, a->position, b->position) &&
                sync_between(scheduler, a, b) == NULL)) {
        return false;
    }
    return true;
}

static void add_stages(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                       const weft__system *b)
{
    if (a->stage == b->stage) {
        weft__text_add(t, "fused in stage %u: each slice runs '%s', then '%s'\n", a->stage, a->name,
                       b->name);
        return;
    }
    weft__text_add(t, "'%s' is in stage %u, '%s' in stage %u\n", a->name, a->stage, b->name,
                   b->stage);
    const weft__sync_point *point = sync_between(scheduler, a, b);
    if (point != NULL) {
        weft__text_add(t, "a sync point before stage %u lies between them: ", point->before_stage);
        weft__sync_reason_add(t, scheduler, point);
        weft__text_add(t, "\n");
    }
}

static bool is_on_owner(const weft__system *system)
{
    return (system->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0;
}

/* Neither waits for the other: whether they may run at the same time, and why the stages differ. */
static void add_no_order(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                         const weft__system *b)
{
    const weft_schedule_desc *options = &scheduler->options;
    const weft__system *before = a->position < b->position ? a : b, *after = before == a ? b : a;
    weft__text_add(t, "nothing orders '%s' and '%s': ", a->name, b->name);
    if (scheduler->worker_count == 1 || options->without_parallel)
        weft__text_add(t, "one runs after the other, because all systems run on one thread here");
    else if (is_on_owner(a) && is_on_owner(b))
        weft__text_add(t, "one runs after the other, because both run on the main thread");
    else if (a->stage == b->stage)
        weft__text_add(t, "they may run at the same time");
    else if (goes_on(scheduler, before, after))
        weft__text_add(t,
                       "they may run at the same time, because '%s' is a BACKGROUND system, which "
                       "goes on beside later stages%s",
                       before->name,
                       before->passes ? " and beside sync points that leave its rows alone" : "");
    else if (scheduler->segments[scheduler->stages[a->stage].segment].may_overlap)
        weft__text_add(t, "they may run at the same time, where the step runs as a graph");
    else
        weft__text_add(t, "they run in stages, one after the other");
    if (a->stage != b->stage)
        weft__text_add(t, "; %s '%s' into stage %u, '%s' into stage %u",
                       options->without_fusion ? "without_fusion puts"
                                               : "what else they wait for puts",
                       a->name, a->stage, b->name, b->stage);
    weft__text_add(t, "\n");
}

static void add_order(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                      const weft__system *b)
{
    bool is_first = a->position < b->position;
    const weft__system *before = is_first ? a : b, *after = is_first ? b : a;
    weft__text reason = *t;
    weft__text_add(t, "'%s' runs before '%s'\n", before->name, after->name);
    if (add_reason(t, scheduler, before, after)) {
        add_stages(t, scheduler, before, after);
        return;
    }
    *t = reason; /* nothing orders them: the first line goes */
    add_no_order(t, scheduler, a, b);
}

/* Names of orders that wait for a system or a group. */
static void add_unknown(weft__text *t, const weft__scheduler *scheduler,
                        char (*names)[WEFT__NAME_LIMIT], uint32_t count, const char *word)
{
    for (uint32_t i = 0; i < count; i++)
        if (weft__system_named(scheduler, names[i]) == NULL &&
            weft__group_named(scheduler, names[i]) == WEFT__NONE)
            weft__text_add(t, "its order %s '%s' waits: no system or group has this name yet\n",
                           word, names[i]);
}

size_t weft_schedule_explain(weft_world *world, weft_system first, weft_system second, char *out,
                             size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    const weft__system *a = weft__system_at(world, first), *b = weft__system_at(world, second);
    if (a == NULL || b == NULL) {
        weft__text_add(&t, "%s\n", weft_world_error(world)->text);
    } else if (a == b) {
        weft__text_add(&t, "'%s' is named twice: a system has no order with itself\n", a->name);
        weft__text_add(&t, "it is in stage %u\n", a->stage);
        add_unknown(&t, scheduler, a->lists.before, a->lists.before_count, "before");
        add_unknown(&t, scheduler, a->lists.after, a->lists.after_count, "after");
        weft__waits_add(&t, scheduler, a);
    } else {
        add_order(&t, scheduler, a, b);
    }
    return t.length;
}

/* ---- ambiguities ---- */

size_t weft_schedule_ambiguities(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__orders orders;
    weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    bool has_orders = weft__orders_init(&orders, scheduler);
    for (uint32_t i = 0; has_orders && i < scheduler->ordered_count; i++)
        for (uint32_t k = i + 1; k < scheduler->ordered_count; k++) {
            const weft__system *a = scheduler->ordered[i], *b = scheduler->ordered[k];
            uint32_t component;
            if (weft__staging_conflict(&scheduler->nodes[i], &scheduler->nodes[k], &component) !=
                    WEFT__CONFLICT_NONE &&
                weft__orders_decided(&orders, a, b) == WEFT__DECIDED_BY_REGISTRATION)
                weft__text_add(&t, "%s %s %s\n", a->name, b->name,
                               component_name(scheduler, component));
        }
    weft__orders_free(&orders);
    return t.length;
}
