/* SPDX-License-Identifier: MIT */
/* report.c: the schedule as text: why it orders two systems, which orders only registration
 * decides, what the last step waited for, why sync points are there, and all of it as JSON.
 *
 * Two systems are ordered by an edge between them (they collide over a component, or one names the
 * other), by a chain of edges through others, because one is exclusive, or by a sync point. Else
 * their stages are what the others left, and say nothing about the two. Everything is derived from
 * the compiled schedule on demand: nothing is kept, and nothing here is on the path of a frame.
 * Owner, between steps. */
#include "compile.h"
#include "counters.h"
#include "dispatch.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>
#include <weft/system.h>

typedef enum decided_by {
    WEFT__DECIDED_BY_NAME,        /* one of them names the other */
    WEFT__DECIDED_BY_GROUP,       /* orders of groups, or of a system and a group */
    WEFT__DECIDED_BY_CHAIN,       /* orders with other systems */
    WEFT__DECIDED_BY_REGISTRATION /* no order leads from one to the other */
} decided_by;

/* The shortest ways of orders from one system to all others. Owner: the caller, who frees `pile`.
 *   edges: pairs of places, sorted by `before`; node order_nodes[place] has this place
 *   previous[place] == WEFT__NONE: not reached, or the source */
typedef struct weft__orders {
    const weft__scheduler *scheduler;
    weft__pile pile;
    weft__order_edge *edges;
    uint32_t *places;   /* [node] */
    uint32_t *previous; /* [place] */
    uint32_t *lengths;  /* [place] edges of the way; UINT32_MAX: not reached */
    const weft__system *source;
} weft__orders;

#define WEFT__NO_SYSTEMS "no systems"

/* What orders two systems without the help of others. */
typedef enum system_edge_kind {
    WEFT__EDGE_NONE,
    WEFT__EDGE_ACCESS, /* they collide over a component */
    WEFT__EDGE_NAME,   /* one names the other; they do not collide */
} system_edge_kind;

/* The reason of the order of two systems. A value.
 *   kind != ACCESS: all else is 0 or WEFT__NONE */
typedef struct system_edge {
    system_edge_kind kind;
    uint32_t component;    /* that needs the strongest order, the first of those */
    bool is_first_written; /* by the first system; is_second_written: by the second */
    bool is_second_written;
    bool is_resource;
    uint32_t archetype; /* number of one in which they meet; WEFT__NONE: none is needed */
} system_edge;

/* ---- what decides which of two that collide is first ----
 *
 * The compiled schedule keeps the graph of orders (compile.c): systems, and the begin and end of
 * each group. If it leads from one system to the other, that way is the reason; else the order of
 * registration is. Ways are searched in the topological order of the nodes, so one pass over the
 * edges finds all that lead from one system. */

/* ---- ways ---- */

static int compare_edges(const void *left, const void *right)
{
    const weft__order_edge *a = left, *b = right;
    if (a->before != b->before) return a->before < b->before ? -1 : 1;
    return a->after < b->after ? -1 : a->after > b->after;
}

static bool orders_init(weft__orders *orders, const weft__scheduler *scheduler)
{
    const weft__order_graph *graph = &scheduler->order_graph;
    weft__pile *pile = &orders->pile;
    *orders = (weft__orders){scheduler, {scheduler->memory, WEFT__MEMORY_SYSTEMS}};
    orders->edges = weft__pile_take(pile, graph->edge_count, sizeof orders->edges[0]);
    orders->places = weft__pile_take(pile, graph->node_count, sizeof orders->places[0]);
    orders->previous = weft__pile_take(pile, graph->node_count, sizeof orders->previous[0]);
    orders->lengths = weft__pile_take(pile, graph->node_count, sizeof orders->lengths[0]);
    if (pile->is_refused) return false;
    for (uint32_t i = 0; i < graph->node_count; i++) orders->places[graph->nodes[i]] = i;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        orders->edges[i] = (weft__order_edge){orders->places[graph->edges[i].before],
                                              orders->places[graph->edges[i].after]};
    qsort(orders->edges, graph->edge_count, sizeof orders->edges[0], compare_edges);
    return true;
}

static uint32_t place_of(const weft__orders *orders, const weft__system *system)
{
    return orders->places[weft__system_slot(system)];
}

static void search_from(weft__orders *orders, const weft__system *source)
{
    const weft__order_graph *graph = &orders->scheduler->order_graph;
    orders->source = source;
    memset(orders->lengths, 0xff, graph->node_count * sizeof orders->lengths[0]);
    memset(orders->previous, 0xff, graph->node_count * sizeof orders->previous[0]);
    orders->lengths[place_of(orders, source)] = 0;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const weft__order_edge *edge = &orders->edges[i];
        uint32_t length = orders->lengths[edge->before];
        if (length == UINT32_MAX || length + 1 >= orders->lengths[edge->after]) continue;
        orders->lengths[edge->after] = length + 1;
        orders->previous[edge->after] = edge->before;
    }
}

static bool is_system(const weft__orders *orders, uint32_t place)
{
    const weft__order_graph *graph = &orders->scheduler->order_graph;
    return graph->nodes[place] < graph->system_limit;
}

/* The system or group of a place. */
static const char *name_at(const weft__orders *orders, uint32_t place)
{
    const weft__scheduler *scheduler = orders->scheduler;
    uint32_t node = scheduler->order_graph.nodes[place];
    if (is_system(orders, place)) return scheduler->systems[node]->name;
    return scheduler->groups[(node - scheduler->order_graph.system_limit) / 2].name;
}

static decided_by orders_decided(weft__orders *orders, const weft__system *a, const weft__system *b)
{
    if (orders->source != a) search_from(orders, a);
    uint32_t at = place_of(orders, b);
    WEFT_ASSERT(a != b);
    if (orders->lengths[at] == UINT32_MAX) return WEFT__DECIDED_BY_REGISTRATION;
    if (orders->lengths[at] == 1) return WEFT__DECIDED_BY_NAME;
    for (at = orders->previous[at]; orders->previous[at] != WEFT__NONE; at = orders->previous[at])
        if (is_system(orders, at)) return WEFT__DECIDED_BY_CHAIN;
    return WEFT__DECIDED_BY_GROUP;
}

/* ---- words ---- */

static const char *decided_word(decided_by decided)
{
    static const char *const words[] = {"name", "group", "chain", "registration"};
    return words[decided];
}

static bool lists_name(char (*names)[WEFT__NAME_LIMIT], uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* "'a' -> group 'early' -> group 'late' -> 'b'", from the end to the source; a group once. */
static void add_way(weft__text *t, const weft__orders *orders, uint32_t place)
{
    uint32_t before = orders->previous[place];
    if (before != WEFT__NONE) {
        add_way(t, orders, before);
        bool is_same_group = !is_system(orders, place) && !is_system(orders, before) &&
                             strcmp(name_at(orders, place), name_at(orders, before)) == 0;
        if (is_same_group) return;
        weft__text_add(t, " -> ");
    }
    weft__text_add(t, "%s'%s'", is_system(orders, place) ? "" : "group ", name_at(orders, place));
}

static void decided_add(weft__text *t, weft__orders *orders, const weft__system *a,
                        const weft__system *b)
{
    decided_by decided = orders_decided(orders, a, b);
    weft__text_add(t, "who is first is decided by %s", decided_word(decided));
    if (decided == WEFT__DECIDED_BY_NAME) {
        bool is_before = lists_name(a->lists.before, a->lists.before_count, b->name);
        weft__text_add(t, ": '%s' of '%s' names '%s'", is_before ? "before" : "after",
                       is_before ? a->name : b->name, is_before ? b->name : a->name);
    } else if (decided != WEFT__DECIDED_BY_REGISTRATION) {
        weft__text_add(t, decided == WEFT__DECIDED_BY_GROUP ? ": " : " of orders: ");
        add_way(t, orders, place_of(orders, b));
    } else if (a->rank < b->rank) {
        weft__text_add(t, ": '%s' was created first", a->name);
    } else {
        weft__text_add(t, ": '%s' was created first, but waits for systems that are created later",
                       b->name);
    }
}

static void waits_add(weft__text *t, const weft__scheduler *scheduler, const weft__system *system);

static weft__scheduler *report_open(weft_world *world, weft__text *t, const char **problem)
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

static weft__scheduler *report_begin(weft_world *world, weft__text *t)
{
    const char *problem;
    weft__scheduler *scheduler = report_open(world, t, &problem);
    if (scheduler == NULL) weft__text_add(t, "%s\n", problem);
    return scheduler;
}

/* ---- pairs ---- */

/* What two nodes do with a component over which they collide: fills all but kind and component. */
static void add_access(const weft__staging_node *a, const weft__staging_node *b, system_edge *edge)
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

static system_edge schedule_edge(const weft__scheduler *scheduler, uint32_t from, uint32_t to)
{
    const weft__staging_node *a = &scheduler->nodes[from], *b = &scheduler->nodes[to];
    system_edge edge = {.archetype = WEFT__NONE};
    if (weft__staging_conflict(a, b, &edge.component) != WEFT__CONFLICT_NONE) {
        edge.kind = WEFT__EDGE_ACCESS;
        add_access(a, b, &edge);
        if (edge.archetype >= weft__archetype_count(scheduler->world)) edge.archetype = WEFT__NONE;
    } else if (weft__schedule_has_barrier(scheduler, from, to)) {
        edge.kind = WEFT__EDGE_NAME;
    }
    return edge;
}

static uint32_t schedule_edge_next(const weft__scheduler *scheduler, uint32_t from, uint32_t to,
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

static const char *system_edge_label(const weft__scheduler *scheduler, const system_edge *edge)
{
    return edge->kind == WEFT__EDGE_ACCESS ? weft__type_name(scheduler->world, edge->component)
                                           : "by name or group";
}

/* ", e.g. in archetype 3 (c d)", by its number; nothing for WEFT__NONE. */
static void archetype_add(weft__text *t, const weft__scheduler *scheduler, uint32_t number)
{
    const weft_world *world = scheduler->world;
    if (number == WEFT__NONE || number >= weft__archetype_count(world)) return;
    const weft__archetype *archetype = weft__archetype_numbered(world, number);
    weft__text_add(t, ", e.g. in archetype %u (", archetype->id);
    for (uint32_t i = 0; i < archetype->type_count; i++)
        weft__text_add(t, "%s%s", i == 0 ? "" : " ",
                       weft__type_name(scheduler->world, archetype->types[i].component));
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

/* ---- why a sync point is there: each effect that its observer could see ---- */

/* One effect that the observer could see. A value. */
typedef struct seen_effect {
    uint32_t effects;   /* weft_command_effects: one, or ADD and REMOVE, which name the same list */
    uint32_t component; /* WEFT__NONE: any */
} seen_effect;

enum { SEEN_MOST = 3 };

/* What an observer could see. A value, on the caller's stack.
 *   count == 0: one of the two is exclusive */
typedef struct sync_reason {
    seen_effect seen[SEEN_MOST];
    uint32_t count;
    uint32_t archetype; /* number of one that the observer runs over; WEFT__NONE: none exists yet */
} sync_reason;

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

static sync_reason reason_of(const weft__scheduler *scheduler, const weft__sync_point *point)
{
    static const uint32_t kinds[SEEN_MOST] = {
        WEFT_RECORDS_DESTROY, WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE, WEFT_RECORDS_CREATE};
    const weft__staging_node *recorder = &scheduler->nodes[point->recorder];
    const weft__staging_node *observer = &scheduler->nodes[point->observer];
    uint32_t visible = weft__staging_visible_effects(recorder, observer);
    sync_reason reason = {.archetype = WEFT__NONE};
    for (uint32_t i = 0; i < SEEN_MOST; i++) {
        bool is_destroy = kinds[i] == WEFT_RECORDS_DESTROY;
        if ((visible & kinds[i]) == 0) continue;
        reason.seen[reason.count++] = (seen_effect){
            visible & kinds[i],
            common_component(is_destroy ? recorder->destroys : recorder->records,
                             is_destroy ? recorder->destroy_count : recorder->record_count,
                             observer)};
    }
    if (reason.count != 0)
        reason.archetype = seen_archetype(scheduler, scheduler->ordered[point->observer],
                                          reason.seen[0].component);
    return reason;
}

static const char *effect_word(uint32_t effects)
{
    switch (effects) {
    case WEFT_RECORDS_DESTROY:
        return "destroys";
    case WEFT_RECORDS_CREATE:
        return "creates";
    case WEFT_RECORDS_ADD:
        return "adds or sets";
    case WEFT_RECORDS_REMOVE:
        return "removes";
    default:
        return "adds, sets or removes";
    }
}

static void add_effect(weft__text *t, const weft__scheduler *scheduler, const seen_effect *seen)
{
    bool is_change = (seen->effects & (WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE)) != 0;
    weft__text_add(t, "%s", effect_word(seen->effects));
    if (seen->component == WEFT__NONE)
        weft__text_add(t, is_change ? " any component" : " any entity");
    else
        weft__text_add(t, is_change ? " %s" : " entities with %s",
                       weft__type_name(scheduler->world, seen->component));
}

static void sync_reason_add(weft__text *t, const weft__scheduler *scheduler,
                            const weft__sync_point *point)
{
    sync_reason reason = reason_of(scheduler, point);
    const weft__system *observer = scheduler->ordered[point->observer];
    const weft__system *recorder = scheduler->ordered[point->recorder];
    if (reason.count == 0) {
        const weft__system *exclusive = is_exclusive(observer) ? observer : recorder;
        weft__text_add(t, "commands of '%s' are played back before '%s', because '%s' is exclusive",
                       recorder->name, observer->name, exclusive->name);
        return;
    }
    weft__text_add(t, "'%s' could see commands of '%s', which ", observer->name, recorder->name);
    /* "destroys any entity and adds or sets b" */
    for (uint32_t i = 0; i < reason.count; i++) {
        weft__text_add(t, "%s", i == 0 ? "" : " and ");
        add_effect(t, scheduler, &reason.seen[i]);
    }
    archetype_add(t, scheduler, reason.archetype);
}

/* What a flag is called in JSON. A list ends with flag 0. */
typedef struct flag_word {
    uint32_t flag;
    const char *name;
} flag_word;

static void json_flags(weft__text *t, const flag_word *words, uint32_t flags)
{
    uint32_t count = 0;
    for (; words->flag != 0; words++)
        if ((flags & words->flag) != 0)
            weft__text_add(t, "%s\"%s\"", count++ == 0 ? "[" : ", ", words->name);
    weft__text_add(t, count == 0 ? "[]" : "]");
}

static void sync_reason_json(weft__text *t, const weft__scheduler *scheduler,
                             const weft__sync_point *point)
{
    static const flag_word names[] = {{WEFT_RECORDS_CREATE, "create"},
                                      {WEFT_RECORDS_DESTROY, "destroy"},
                                      {WEFT_RECORDS_ADD, "add or set"},
                                      {WEFT_RECORDS_REMOVE, "remove"},
                                      {0, NULL}};
    sync_reason reason = reason_of(scheduler, point);
    uint32_t effects = 0;
    for (uint32_t i = 0; i < reason.count; i++) effects |= reason.seen[i].effects;
    weft__text_add(t, "\"effect\": \"%s\", \"effects\": ",
                   reason.count == 0 ? "any" : effect_word(reason.seen[0].effects));
    json_flags(t, names, effects);
    if (reason.count != 0 && reason.seen[0].component != WEFT__NONE) {
        weft__text_add(t, ", \"component\": ");
        weft__text_add_quoted(t, weft__type_name(scheduler->world, reason.seen[0].component));
    }
    if (reason.archetype != WEFT__NONE)
        weft__text_add(t, ", \"archetype\": %u",
                       weft__archetype_numbered(scheduler->world, reason.archetype)->id);
}

/* ---- chains of systems ---- */

/* What a search from one position found about another. A value, of a list that lives as long as the
 * search. */
typedef struct step_back {
    uint32_t from;   /* the position before it on the shortest way; WEFT__NONE: not reached */
    uint32_t length; /* links on that way */
} step_back;

/* As system_edge_label; all others are ordered to an exclusive system. NULL: no link. */
static const char *link_between(const weft__scheduler *scheduler, uint32_t from, uint32_t to)
{
    system_edge edge = schedule_edge(scheduler, from, to);
    if (edge.kind != WEFT__EDGE_NONE) return system_edge_label(scheduler, &edge);
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
    weft__pile pile = {scheduler->memory, WEFT__MEMORY_SYSTEMS};
    step_back *found = weft__pile_take(&pile, scheduler->ordered_count, sizeof *found);
    bool is_found = found != NULL && find_chain(scheduler, from, to, found);
    if (is_found)
        weft__text_add(t, "their own data do not collide, but '%s'", scheduler->ordered[to]->name);
    for (uint32_t at = to; is_found && at != from; at = found[at].from)
        weft__text_add(t, "%s waits for '%s' (%s)", at == to ? "" : ", which",
                       scheduler->ordered[found[at].from]->name,
                       link_between(scheduler, found[at].from, at));
    if (is_found) weft__text_add(t, "\n");
    weft__pile_free(&pile);
    return is_found;
}

/* ---- explanations ---- */

/* "'a' writes c, 'b' reads c, e.g. in archetype 3 (c d)", and the other components in a line. */
static void add_collision(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                          const weft__system *b, const system_edge *edge)
{
    const char *name = weft__type_name(scheduler->world, edge->component);
    uint32_t count = 0, next = WEFT__NONE;
    weft__text_add(t, "'%s' %s %s, '%s' %s it", a->name,
                   edge->is_first_written ? "writes" : "reads", name, b->name,
                   edge->is_second_written ? "writes" : "reads");
    if (edge->is_resource) weft__text_add(t, ", a resource");
    archetype_add(t, scheduler, edge->archetype);
    weft__text_add(t, "\n");
    while ((next = schedule_edge_next(scheduler, a->position, b->position, next)) != WEFT__NONE)
        if (next != edge->component)
            weft__text_add(t, "%s%s", count++ == 0 ? "they collide over more: " : ", ",
                           weft__type_name(scheduler->world, next));
    if (count != 0) weft__text_add(t, "\n");
}

static void add_decided(weft__text *t, const weft__scheduler *scheduler, const weft__system *a,
                        const weft__system *b)
{
    weft__orders orders;
    if (orders_init(&orders, scheduler))
        decided_add(t, &orders, a, b);
    else
        weft__text_add(t, "no memory for what decides who is first");
    weft__text_add(t, "\n");
    weft__pile_free(&orders.pile);
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
    system_edge edge = schedule_edge(scheduler, a->position, b->position);
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
        sync_reason_add(t, scheduler, point);
        weft__text_add(t, "\n");
    }
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
    else if (weft__system_is_on_owner(a) && weft__system_is_on_owner(b))
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
    weft__scheduler *scheduler = report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    const weft__system *a = weft__system_at(world, first), *b = weft__system_at(world, second);
    if (a == NULL || b == NULL) {
        weft__text_add(&t, "%s\n", weft_world_error(world)->text);
    } else if (a == b) {
        weft__text_add(&t, "'%s' is named twice: a system has no order with itself\n", a->name);
        weft__text_add(&t, "it is in stage %u\n", a->stage);
        add_unknown(&t, scheduler, a->lists.before, a->lists.before_count, "before");
        add_unknown(&t, scheduler, a->lists.after, a->lists.after_count, "after");
        waits_add(&t, scheduler, a);
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
    weft__scheduler *scheduler = report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    bool has_orders = orders_init(&orders, scheduler);
    for (uint32_t i = 0; has_orders && i < scheduler->ordered_count; i++)
        for (uint32_t k = i + 1; k < scheduler->ordered_count; k++) {
            const weft__system *a = scheduler->ordered[i], *b = scheduler->ordered[k];
            uint32_t component;
            if (weft__staging_conflict(&scheduler->nodes[i], &scheduler->nodes[k], &component) !=
                    WEFT__CONFLICT_NONE &&
                orders_decided(&orders, a, b) == WEFT__DECIDED_BY_REGISTRATION)
                weft__text_add(&t, "%s %s %s\n", a->name, b->name,
                               weft__type_name(scheduler->world, component));
        }
    weft__pile_free(&orders.pile);
    return t.length;
}

/* ---- chains of tasks: what the last step waited for, from the times of the last run ---- */

/* The longest chains of a graph that ran, from their ends. Owner: the caller, who frees `pile`. */
typedef struct chain {
    weft__pile pile;
    uint64_t *until;    /* [task] ns of the longest chain up to its end */
    uint32_t *previous; /* [task] in that chain; WEFT__NONE: it begins there */
    uint32_t last;      /* of the longest one; WEFT__NONE: nothing ran */
} chain;

static bool chain_find(const weft__scheduler *scheduler, const weft__task_plan *plan, chain *out)
{
    uint32_t count = plan->task_count, edge = 0;
    *out = (chain){{scheduler->memory, WEFT__MEMORY_SYSTEMS}, .last = WEFT__NONE};
    out->until = weft__pile_take(&out->pile, count, sizeof out->until[0]);
    out->previous = weft__pile_take(&out->pile, count, sizeof out->previous[0]);
    if (out->pile.is_refused) return false;
    for (uint32_t t = 0; t < count; t++) { /* edges ascend by their second task */
        out->previous[t] = WEFT__NONE;
        for (; edge < plan->edge_count && plan->edges[edge][1] == t; edge++) {
            uint32_t before = plan->edges[edge][0];
            if (out->until[before] <= out->until[t]) continue;
            out->until[t] = out->until[before];
            out->previous[t] = before;
        }
        out->until[t] += plan->tasks[t].time_ns;
        if (out->until[t] != 0 &&
            (out->last == WEFT__NONE || out->until[t] > out->until[out->last]))
            out->last = t;
    }
    return true;
}

/* Turns the links of the chain that ends with `last` round; returns its first task. */
static uint32_t chain_turn(chain *c, uint32_t last)
{
    uint32_t next = WEFT__NONE, at = last;
    while (at != WEFT__NONE) {
        uint32_t previous = c->previous[at];
        c->previous[at] = next;
        next = at;
        at = previous;
    }
    return next;
}

static uint64_t longest_chain(const weft__scheduler *scheduler, const weft__task_plan *plan)
{
    chain c;
    bool is_found = chain_find(scheduler, plan, &c);
    uint64_t longest = is_found && c.last != WEFT__NONE ? c.until[c.last] : 0;
    weft__pile_free(&c.pile);
    return longest;
}

/* ---- stages ---- */

/* From begin to end, in the last step; 0: it did not run, or was not measured. */
static uint64_t wall_of(const weft__scheduler *scheduler, const weft__stage *stage)
{
    return stage->timed_pass == scheduler->step_pass ? stage->time_ns : 0;
}

/* What its systems did in the last step, summed over the workers. */
static uint64_t work_of(const weft__scheduler *scheduler, const weft__stage *stage)
{
    uint64_t work = 0;
    for (uint32_t i = 0; i < stage->system_count; i++) {
        weft__system_tally tally;
        weft__system_tally_get(scheduler, stage->systems[i], &tally);
        if (tally.frame == scheduler->step_pass) work += tally.time_ns;
    }
    return work;
}

static uint64_t wall_of_stages(const weft__scheduler *scheduler, uint32_t first, uint32_t end)
{
    uint64_t wall = 0;
    for (uint32_t i = first; i < end; i++) wall += wall_of(scheduler, &scheduler->stages[i]);
    return wall;
}

static uint64_t wall_of_segment(const weft__scheduler *scheduler, const weft__segment *segment)
{
    if (weft__segment_ran_as_graph(scheduler, segment)) return segment->graph_ns;
    return wall_of_stages(scheduler, segment->first_stage, segment->end_stage);
}

/* ---- as text ---- */

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void add_task(weft__text *t, const weft__task *task)
{
    weft__text_add(t, "    %-40s %10.1f us%s\n", weft__task_label(task),
                   (double)task->time_ns / 1e3, task->on_owner ? "  (main thread)" : "");
}

static void add_graph(weft__text *t, const weft__scheduler *scheduler, const weft__segment *segment)
{
    chain c;
    const weft__task_plan *plan = segment->graph_plan;
    weft__text_add(t, "a graph of %u task%s and %u edge%s: %.1f us\n", plan->task_count,
                   plural(plan->task_count), plan->edge_count, plural(plan->edge_count),
                   (double)segment->graph_ns / 1e3);
    if (!chain_find(scheduler, plan, &c))
        weft__text_add(t, "  no memory for its longest chain\n");
    else if (c.last == WEFT__NONE)
        weft__text_add(t, "  nothing ran\n");
    else {
        weft__text_add(t, "  longest chain, %.1f us (each task from its begin to its end):\n",
                       (double)c.until[c.last] / 1e3);
        for (uint32_t at = chain_turn(&c, c.last); at != WEFT__NONE; at = c.previous[at])
            add_task(t, &plan->tasks[at]);
    }
    weft__pile_free(&c.pile);
}

static void add_stage(weft__text *t, const weft__scheduler *scheduler, const weft__stage *stage)
{
    weft__text_add(t, "    %-40s", weft__stage_label(stage));
    if (stage->timed_pass == scheduler->step_pass)
        weft__text_add(t, " %10.1f us, %10.1f us of work", (double)stage->time_ns / 1e3,
                       (double)work_of(scheduler, stage) / 1e3);
    else if (scheduler->options.is_measured)
        weft__text_add(t, " did not run");
    weft__text_add(t, "\n");
}

static void add_stages_of(weft__text *t, const weft__scheduler *scheduler, uint32_t first,
                          uint32_t end)
{
    if (scheduler->options.is_measured)
        weft__text_add(t, ": %.1f us\n  from begin to end, and the work of all %u worker%s:\n",
                       (double)wall_of_stages(scheduler, first, end) / 1e3, scheduler->worker_count,
                       plural(scheduler->worker_count));
    else
        weft__text_add(t, " (no times: set is_measured of weft_schedule_desc)\n");
    for (uint32_t i = first; i < end; i++) add_stage(t, scheduler, &scheduler->stages[i]);
}

/* What the thread that steps the world did in the last step, one thing after the other. */
static void add_step(weft__text *t, const weft__scheduler *scheduler)
{
    uint64_t rest = scheduler->stats.frame_ns, wall = 0;
    for (uint32_t i = 0; i < scheduler->segment_count; i++)
        wall += wall_of_segment(scheduler, &scheduler->segments[i]);
    weft__text_add(t, "the step: %.1f us: segments %.1f us", (double)rest / 1e3,
                   (double)wall / 1e3);
    for (weft__work work = WEFT__WORK_RELATIONS; work < WEFT__WORKS; work++) {
        weft__text_add(t, ", %s %.1f", weft__work_name(work),
                       (double)scheduler->work_ns[work] / 1e3);
        wall += scheduler->work_ns[work];
    }
    weft__text_add(t, ", the rest %.1f\n", (double)(rest > wall ? rest - wall : 0) / 1e3);
}

size_t weft_schedule_chain(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const weft__scheduler *scheduler = report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    for (uint32_t i = 0; i < scheduler->segment_count; i++) {
        const weft__segment *segment = &scheduler->segments[i];
        uint32_t count = segment->end_stage - segment->first_stage;
        weft__text_add(&t, "segment %u: ", i);
        if (weft__segment_ran_as_graph(scheduler, segment)) {
            add_graph(&t, scheduler, segment);
        } else {
            weft__text_add(&t, "%u stage%s", count, count == 1 ? "" : "s one after the other");
            add_stages_of(&t, scheduler, segment->first_stage, segment->end_stage);
        }
    }
    if (scheduler->options.is_measured) add_step(&t, scheduler);
    return t.length;
}

/* ---- what one system waited for ---- */

static void add_chain_before(weft__text *t, const weft__scheduler *scheduler,
                             const weft__segment *segment, const weft__system *system)
{
    chain c;
    const weft__task_plan *plan = segment->graph_plan;
    uint32_t own = plan->task_of[system->number];
    if (!chain_find(scheduler, plan, &c))
        weft__text_add(t, "no memory for what it waited for\n");
    else if (c.previous[own] == WEFT__NONE)
        weft__text_add(t, "in the last step it waited for no other system of segment %u\n",
                       scheduler->stages[system->stage].segment);
    else {
        weft__text_add(t,
                       "in the last step the longest chain before it took %.1f us (each task "
                       "from its begin to its end):\n",
                       (double)(c.until[own] - plan->tasks[own].time_ns) / 1e3);
        for (uint32_t at = chain_turn(&c, own); at != own; at = c.previous[at])
            add_task(t, &plan->tasks[at]);
    }
    weft__pile_free(&c.pile);
}

/* Segments run one after the other. */
static void add_earlier(weft__text *t, const weft__scheduler *scheduler, uint32_t number)
{
    uint64_t wall = 0;
    if (number == 0) return;
    for (uint32_t i = 0; i < number; i++)
        wall += wall_of_segment(scheduler, &scheduler->segments[i]);
    weft__text_add(t, "segment %u began when segment %u had ended", number, number - 1);
    if (wall != 0) weft__text_add(t, ", after %.1f us", (double)wall / 1e3);
    weft__text_add(t, "\n");
}

/* What a system waited for in the last step: the longest chain of tasks that ends with its own, or
 * the stages of its segment before it. */
static void waits_add(weft__text *t, const weft__scheduler *scheduler, const weft__system *system)
{
    uint32_t number = scheduler->stages[system->stage].segment;
    const weft__segment *segment = &scheduler->segments[number];
    uint32_t first = segment->first_stage, count = system->stage - first;
    const weft__group *group = &scheduler->groups[system->group];
    if (!system->is_enabled) weft__text_add(t, "it is disabled (weft_system_enable)\n");
    if (group->is_disabled)
        weft__text_add(t, "its group '%s' is disabled (weft_group_enable)\n", group->name);
    if (scheduler->step_pass == 0) {
        weft__text_add(t,
                       "no step has run yet: call it again after one to see what it waited for\n");
        return;
    }
    if (!system->is_active) {
        weft__text_add(t, "it did not run in the last step\n");
        return;
    }
    add_earlier(t, scheduler, number);
    if (weft__segment_ran_as_graph(scheduler, segment)) {
        add_chain_before(t, scheduler, segment, system);
    } else if (count == 0) {
        weft__text_add(t, "in the last step it waited for no other stage of segment %u\n", number);
    } else {
        weft__text_add(t, "in the last step it waited for %u stage%s", count, plural(count));
        add_stages_of(t, scheduler, first, system->stage);
    }
}

/* ---- as JSON ---- */

static void json_names(weft__text *t, weft__system *const *systems, uint32_t count)
{
    weft__text_add(t, "{\"systems\": [");
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0) weft__text_add(t, ", ");
        weft__text_add_quoted(t, systems[i]->name);
    }
    weft__text_add(t, "], ");
}

static void json_tasks(weft__text *t, const weft__task_plan *plan)
{
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const weft__task *task = &plan->tasks[i];
        weft__text_add(t, "%s", i == 0 ? "" : ", ");
        json_names(t, task->systems, task->system_count);
        weft__text_add(t, "\"on_main_thread\": %s, \"time_ns\": %llu}",
                       task->on_owner ? "true" : "false", (unsigned long long)task->time_ns);
    }
    weft__text_add(t, "], \"edges\": [");
    for (uint32_t i = 0; i < plan->edge_count; i++)
        weft__text_add(t, "%s[%u, %u]", i == 0 ? "" : ", ", plan->edges[i][0], plan->edges[i][1]);
}

static void json_stages(weft__text *t, const weft__scheduler *scheduler,
                        const weft__segment *segment)
{
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        weft__text_add(t, "%s", i == segment->first_stage ? "" : ", ");
        json_names(t, stage->systems, stage->system_count);
        weft__text_add(t, "\"stage\": %u, \"time_ns\": %llu, \"work_ns\": %llu}", i,
                       (unsigned long long)wall_of(scheduler, stage),
                       (unsigned long long)work_of(scheduler, stage));
    }
}

static void segments_json(weft__text *t, const weft__scheduler *scheduler)
{
    static const weft__task_plan none = {.task_count = 0};
    for (uint32_t i = 0; i < scheduler->segment_count; i++) {
        const weft__segment *segment = &scheduler->segments[i];
        bool is_graph = weft__segment_ran_as_graph(scheduler, segment);
        const weft__task_plan *plan = is_graph ? segment->graph_plan : &none;
        uint64_t wall = wall_of_segment(scheduler, segment);
        weft__text_add(t, "%s\n    {\"first_stage\": %u, \"stages\": %u, \"is_graph\": %s",
                       i == 0 ? "" : ",", segment->first_stage,
                       segment->end_stage - segment->first_stage, is_graph ? "true" : "false");
        weft__text_add(t, ", \"time_ns\": %llu, \"longest_chain_ns\": %llu, \"stage_times\": [",
                       (unsigned long long)wall,
                       (unsigned long long)(is_graph ? longest_chain(scheduler, plan) : wall));
        if (!is_graph) json_stages(t, scheduler, segment);
        weft__text_add(t, "], \"tasks\": [");
        json_tasks(t, plan);
        weft__text_add(t, "]}");
    }
}

size_t weft_schedule_sync_points(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    weft__scheduler *scheduler = report_begin(world, &t);
    if (scheduler == NULL) return t.length;
    for (uint32_t i = 0; i < scheduler->staging.sync_count; i++) {
        const weft__sync_point *point = &scheduler->staging.syncs[i];
        weft__text_add(&t, "before stage %u: ", point->before_stage);
        sync_reason_add(&t, scheduler, point);
        weft__text_add(&t, "\n");
    }
    weft__text_add(&t, "end of the step\n");
    return t.length;
}

/* ---- export ---- */

static void json_access(weft__text *t, const weft__scheduler *scheduler, uint32_t from, uint32_t to,
                        const system_edge *edge)
{
    weft__text_add(t, ", \"component\": ");
    weft__text_add_quoted(t, system_edge_label(scheduler, edge));
    if (edge->archetype != WEFT__NONE)
        weft__text_add(t, ", \"archetype\": %u",
                       weft__archetype_numbered(scheduler->world, edge->archetype)->id);
    weft__text_add(t, ", \"from_access\": \"%s\", \"to_access\": \"%s\", \"components\": [",
                   edge->is_first_written ? "write" : "read",
                   edge->is_second_written ? "write" : "read");
    uint32_t count = 0, next = WEFT__NONE;
    while ((next = schedule_edge_next(scheduler, from, to, next)) != WEFT__NONE) {
        weft__text_add(t, "%s", count++ == 0 ? "" : ", ");
        weft__text_add_quoted(t, weft__type_name(scheduler->world, next));
    }
    weft__text_add(t, "]");
}

/* Every ordered pair that collides or is ordered by name. */
static void json_edges(weft__text *t, const weft__scheduler *scheduler)
{
    weft__orders orders;
    const bool has_orders = orders_init(&orders, scheduler); /* there was memory for them */
    const char *separator = "";
    for (uint32_t to = 0; to < scheduler->ordered_count; to++)
        for (uint32_t from = 0; from < to; from++) {
            const weft__system *a = scheduler->ordered[from], *b = scheduler->ordered[to];
            system_edge edge = schedule_edge(scheduler, from, to);
            if (edge.kind == WEFT__EDGE_NONE) continue;
            weft__text_add(t, "%s\n    {\"from\": ", separator);
            separator = ",";
            weft__text_add_quoted(t, a->name);
            weft__text_add(t, ", \"to\": ");
            weft__text_add_quoted(t, b->name);
            weft__text_add(t, ", \"kind\": \"%s\"",
                           edge.kind == WEFT__EDGE_ACCESS ? "access" : "name");
            if (has_orders)
                weft__text_add(t, ", \"decided_by\": \"%s\"",
                               decided_word(orders_decided(&orders, a, b)));
            if (edge.kind == WEFT__EDGE_ACCESS) json_access(t, scheduler, from, to, &edge);
            weft__text_add(t, "}");
        }
    weft__pile_free(&orders.pile);
}

static void json_systems(weft__text *t, const weft__scheduler *scheduler)
{
    static const flag_word flags[] = {
        {WEFT_SYSTEM_SERIAL, "serial"},       {WEFT_SYSTEM_MAIN_THREAD, "main thread"},
        {WEFT_SYSTEM_EXCLUSIVE, "exclusive"}, {WEFT_SYSTEM_BACKGROUND, "background"},
        {WEFT_SYSTEM_NOT_FUSED, "not fused"}, {WEFT_SYSTEM_WHOLE_CHUNKS, "whole chunks"},
        {WEFT_SYSTEM_TIMER, "timer"},         {WEFT_SYSTEM_ASKS_CHANGES, "asks changes"},
        {WEFT_SYSTEM_JOBS, "jobs"},           {0, NULL}};
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
            "%llu, \"time_ns\": %llu, \"flags\": ",
            system->stage, (unsigned long long)system->runs, (unsigned long long)tally.slices,
            (unsigned long long)tally.rows, (unsigned long long)tally.commands,
            (unsigned long long)tally.time_ns);
        json_flags(t, flags, system->flags);
        if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0)
            weft__text_add(t, ", \"passes_sync_points\": %s, \"join_stage\": %u",
                           system->passes ? "true" : "false",
                           scheduler->staging.join_stage[system->position]);
        weft__counters_json(scheduler, system, WEFT__WORK_REST, t);
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
        sync_reason_json(t, scheduler, point);
        weft__text_add(t, "}");
    }
}

/* What the last step did beside its systems. */
static void json_work(weft__text *t, const weft__scheduler *scheduler,
                      const weft_frame_stats *stats)
{
    const uint64_t ns[WEFT__WORKS] = {0, stats->relations_ns, stats->playback_ns,
                                      stats->observers_ns, stats->hashing_ns};
    weft__text_add(t, "],\n  \"frame_ns\": %llu,\n  \"work\": [",
                   (unsigned long long)stats->frame_ns);
    for (weft__work work = WEFT__WORK_RELATIONS; work < WEFT__WORKS; work++) {
        weft__text_add(t, "%s\n    {\"name\": \"%s\", \"time_ns\": %llu",
                       work == WEFT__WORK_RELATIONS ? "" : ",", weft__work_name(work),
                       (unsigned long long)ns[work]);
        weft__counters_json(scheduler, NULL, work, t);
        weft__text_add(t, "}");
    }
    weft__text_add(t, "\n  ]");
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
                   "[],\n  \"sync_points\": [],\n  \"segments\": [],\n  \"observers\": [],\n  "
                   "\"frame_ns\": 0,\n  \"work\": []\n}\n");
}

size_t weft_schedule_json(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const char *problem;
    weft__scheduler *scheduler = report_open(world, &t, &problem);
    if (scheduler == NULL) {
        json_nothing(&t, problem);
        return t.length;
    }
    weft_frame_stats stats;
    weft_frame_stats_get(world, &stats, sizeof stats);
    weft__text_add(&t, "{\n  \"stages\": %u,\n  \"critical_path_ns\": %llu,\n  \"systems\": [",
                   scheduler->stage_count, (unsigned long long)stats.critical_path_ns);
    json_systems(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"edges\": [");
    json_edges(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"sync_points\": [");
    json_sync_points(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"segments\": [");
    segments_json(&t, scheduler);
    weft__text_add(&t, "\n  ],\n  \"observers\": [");
    if (scheduler->observers != NULL) scheduler->observers_json(&t, scheduler);
    weft__text_add(&t, "\n  ");
    json_work(&t, scheduler, &stats);
    weft__text_add(&t, "\n}\n");
    return t.length;
}

size_t weft_schedule_counters(weft_world *world, char *out, size_t capacity)
{
    weft__text t = {out, capacity, 0};
    const weft__scheduler *scheduler = report_begin(world, &t);
    if (scheduler != NULL) weft__counters_text(scheduler, &t);
    return t.length;
}
