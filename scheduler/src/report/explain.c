/* SPDX-License-Identifier: MIT */
/* explain.c: why a schedule orders two systems, and which orders only registration decides.
 *
 * Two systems are ordered by an edge between them (they collide over a component, or one names the
 * other), by a chain of edges through others, because one is exclusive, or by a sync point. Else
 * their stages are what the others left, and say nothing about the two. */
#include "explain.h"

#include "compile.h"
#include "compile_order.h"
#include "registry.h"

#include "heap.h"

#include <string.h>

weft__scheduler *weft__report_begin(weft_world *world, weft__text *t)
{
    weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (t->capacity > 0 && t->at != NULL) t->at[0] = 0;
    if (t->at == NULL) t->capacity = 0;
    if (scheduler == NULL) {
        weft__text_add(t, "no systems\n");
        return NULL;
    }
    if (weft__between_steps(world, "the report of the schedule") != WEFT_OK) {
        /* the error of a job is kept for the end of the step, if it is kept at all */
        weft__text_add(t, "a step is going on: call it when weft_world_step has returned\n");
        return NULL;
    }
    if (weft__schedule_prepare(scheduler) == WEFT_OK) return scheduler;
    weft__text_add(t, "%s\n", weft_world_error(world)->text);
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
    if (number == WEFT__NONE || number >= weft__archetype_count(world)) return;
    const weft__archetype *archetype = weft__archetype_numbered(world, number);
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

const char *weft__schedule_edge(const weft__scheduler *scheduler, uint32_t from, uint32_t to)
{
    uint32_t component = 0;
    if (weft__staging_conflict(&scheduler->nodes[from], &scheduler->nodes[to], &component) !=
        WEFT__CONFLICT_NONE)
        return component_name(scheduler, component);
    return weft__schedule_has_barrier(scheduler, from, to) ? "by name" : NULL;
}

uint32_t weft__schedule_edge_archetype(const weft__scheduler *scheduler, uint32_t from, uint32_t to)
{
    const weft__staging_node *a = &scheduler->nodes[from], *b = &scheduler->nodes[to];
    uint32_t component = 0, number = WEFT__NONE;
    if (weft__staging_conflict(a, b, &component) != WEFT__CONFLICT_NONE)
        number = common_archetype(a, b, component);
    return number >= weft__archetype_count(scheduler->world)
               ? WEFT__NONE
               : weft__archetype_numbered(scheduler->world, number)->id;
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

/* As weft__schedule_edge; all others are ordered to an exclusive system. */
static const char *link_between(const weft__scheduler *scheduler, uint32_t from, uint32_t to)
{
    const char *edge = weft__schedule_edge(scheduler, from, to);
    if (edge != NULL) return edge;
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

/* ---- sync points ---- */

/* A component of a sorted list that another one has, too, or that the observer's rows must have;
 * WEFT__NONE: none. */
static uint32_t common_component(const uint32_t *list, uint32_t count,
                                 const weft__staging_node *observer)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < observer->required_count; k++)
            if (observer->required[k] == list[i]) return list[i];
        for (uint32_t k = 0; k < observer->mention_count; k++)
            if (observer->mentions[k] == list[i]) return list[i];
    }
    return WEFT__NONE;
}

/* An archetype over which the observer runs and which has the component, if one is given. */
static uint32_t seen_archetype(const weft__scheduler *scheduler, const weft__system *observer,
                               uint32_t component)
{
    const weft__query *query = observer->context.query;
    for (uint32_t i = 0; query != NULL && i < query->match_count; i++) {
        uint32_t number = query->matches[i].number;
        const weft__archetype *archetype = weft__archetype_numbered(scheduler->world, number);
        if (component == WEFT__NONE || weft__archetype_find(archetype, component) != WEFT__NONE)
            return number;
    }
    return WEFT__NONE;
}

/* The number of the archetype instead of its id. */
static weft__sync_reason reason_of(const weft__scheduler *scheduler, const weft__sync_point *point)
{
    const weft__staging_node *recorder = &scheduler->nodes[point->recorder];
    const weft__staging_node *observer = &scheduler->nodes[point->observer];
    const uint32_t *list = recorder->records;
    uint32_t count = recorder->record_count;
    weft__sync_reason reason = {.archetype = WEFT__NONE};
    switch (weft__staging_visible(recorder, observer)) {
    case WEFT__VISIBLE_DESTROYED:
        reason.effect = "destroys";
        list = recorder->destroys;
        count = recorder->destroy_count;
        break;
    case WEFT__VISIBLE_CHANGED:
        reason.effect = "changes";
        break;
    case WEFT__VISIBLE_CREATED:
        reason.effect = "creates";
        break;
    case WEFT__VISIBLE_TO_EXCLUSIVE:
    case WEFT__VISIBLE_NOTHING: /* a barrier around an exclusive recorder */
        reason.effect = "any";
        return reason;
    }
    uint32_t component = common_component(list, count, observer);
    if (component != WEFT__NONE) reason.component = component_name(scheduler, component);
    reason.archetype = seen_archetype(scheduler, scheduler->ordered[point->observer], component);
    return reason;
}

weft__sync_reason weft__sync_reason_of(const weft__scheduler *scheduler,
                                       const weft__sync_point *point)
{
    weft__sync_reason reason = reason_of(scheduler, point);
    if (reason.archetype != WEFT__NONE)
        reason.archetype = weft__archetype_numbered(scheduler->world, reason.archetype)->id;
    return reason;
}

void weft__sync_reason_add(weft__text *t, const weft__scheduler *scheduler,
                           const weft__sync_point *point)
{
    weft__sync_reason reason = reason_of(scheduler, point);
    const weft__system *observer = scheduler->ordered[point->observer];
    weft__text_add(t, "'%s' could see commands of '%s'", observer->name,
                   scheduler->ordered[point->recorder]->name);
    if (strcmp(reason.effect, "any") == 0) {
        weft__text_add(t, ", because one of them is exclusive");
        return;
    }
    bool is_change = strcmp(reason.effect, "changes") == 0;
    weft__text_add(t, ", which %s", reason.effect);
    if (reason.component == NULL)
        weft__text_add(t, is_change ? " any component" : " any entity");
    else
        weft__text_add(t, is_change ? " %s" : " entities with %s", reason.component);
    add_archetype(t, scheduler, reason.archetype);
}

/* ---- explanations ---- */

/* A line that says why `a` comes before `b`, which is at a later position; false: nothing does. */
static bool add_reason(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                       const weft__system *b)
{
    const weft__staging_node *from = &scheduler->nodes[a->position];
    const weft__staging_node *to = &scheduler->nodes[b->position];
    uint32_t component = 0;
    if (weft__staging_conflict(from, to, &component) != WEFT__CONFLICT_NONE) {
        weft__text_add(t, "both touch %s and one writes it", component_name(scheduler, component));
        add_archetype(t, scheduler, common_archetype(from, to, component));
        weft__text_add(t, "; who is first is decided %s\n", kind_of_order(scheduler, a, b));
    } else if (weft__schedule_has_barrier(scheduler, a->position, b->position)) {
        weft__text_add(t, "by name; their data do not collide\n");
    } else if (is_exclusive(a) || is_exclusive(b)) {
        weft__text_add(t, "'%s' is exclusive: nothing runs beside it\n",
                       is_exclusive(a) ? a->name : b->name);
    } else if (a->stage >= b->stage || (!add_chain(t, scheduler, a->position, b->position) &&
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

size_t weft_schedule_explain(weft_world *world, weft_system first, weft_system second, char *out,
                             size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    const weft__system *a = weft__system_at(world, first), *b = weft__system_at(world, second);
    if (a == NULL || b == NULL) {
        weft__text_add(&t, "%s\n", weft_world_error(world)->text);
        return t.length;
    }
    const weft__system *before = a->position > b->position ? b : a, *after = before == a ? b : a;
    weft__text reason = t;
    weft__text_add(&t, "'%s' runs before '%s'\n", before->name, after->name);
    if (before != after && add_reason(&t, scheduler, before, after)) {
        add_stages(&t, scheduler, before, after);
        return t.length;
    }
    t = reason; /* nothing orders them: the first line goes */
    weft__text_add(&t, "nothing orders '%s' and '%s'", a->name, b->name);
    if (a->stage == b->stage)
        weft__text_add(&t, ": they may run at the same time\n");
    else
        weft__text_add(&t,
                       "; what else they wait for puts '%s' into stage %u, '%s' into stage %u\n",
                       a->name, a->stage, b->name, b->stage);
    return t.length;
}

/* ---- ambiguities ---- */

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
    for (uint32_t i = 0; i < group->lists.before_count; i++)
        if (strcmp(group->lists.before[i], name) == 0) return true;
    for (uint32_t i = 0; i < group->lists.after_count; i++)
        if (strcmp(group->lists.after[i], name) == 0) return true;
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
    weft__scheduler *scheduler = weft__report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    uint8_t *reached =
        weft__alloc(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->ordered_count, 1, 1);
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
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, reached, scheduler->ordered_count, 1, 1);
    return t.length;
}
