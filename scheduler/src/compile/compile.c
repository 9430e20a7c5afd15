/* SPDX-License-Identifier: MIT */
/* compile.c: from registered systems to a schedule: their order of effect, what they touch,
 * their stages (staging.c), and what workers need to run them. Everything of a compiled schedule
 * lies in one pile, except what is kept between compilations. */
#include "compile.h"
#include "file_problem.h"
#include "log.h"
#include "registry.h"
#include "search.h"
#include "segment_graph.h"
#include "stage_entries.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct weft__system_list weft__system_list;

/* ---- the list of systems in a file ----
 *
 * WEFT_SYSTEMS=FOLDER writes FOLDER/systems-PROCESS-WORLD, a line per system each time that the
 * schedule is compiled, for tools that see addresses of names only (running.h):
 *
 *   system ADDRESS STAGE NAME    ADDRESS of the name, hexadecimal, as in markers and probes
 *
 * The last line of an address counts. A file that cannot be written is a warning, once. */

/* Owner: the scheduler. */
struct weft__system_list {
    const weft__os_files *files;
    weft__os_file file;
    bool is_open;
    char path[4096];
};

static const char *folder(void)
{
    const char *value = secure_getenv("WEFT_SYSTEMS"); /* not in set-uid programs */
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void fail(weft__scheduler *scheduler, weft__system_list *list, weft_result result,
                 const char *operation)
{
    weft__file_problem problem;
    weft__file_failed(&problem, result, operation, list->path);
    weft__log(&weft__world_desc(scheduler->world)->log, WEFT_LOG_WARNING,
              "WEFT_SYSTEMS: the list of systems is incomplete: %s", problem.text);
    if (list->is_open) list->files->close(list->files->user, list->file);
    list->is_open = false;
}

/* Once: what fails stays closed. */
static weft__system_list *list_of(weft__scheduler *scheduler)
{
    if (scheduler->system_list != NULL || folder() == NULL) return scheduler->system_list;
    weft__system_list *list = WEFT__NEW_ZEROED(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, *list);
    if (list == NULL) return NULL;
    scheduler->system_list = list;
    list->files = weft__os_files_of(weft__world_desc(scheduler->world)->os);
    snprintf(list->path, sizeof list->path, "%s/systems-%" PRIu32 "-%" PRIu32, folder(),
             weft__os_process(), weft__front(scheduler->world)->number);
    errno = 0;
    weft_result result = list->files->open_write(list->files->user, list->path, &list->file);
    list->is_open = result == WEFT_OK;
    if (result != WEFT_OK) fail(scheduler, list, result, "create");
    return list;
}

static void system_list_write(weft__scheduler *scheduler)
{
    weft__system_list *list = list_of(scheduler);
    for (uint32_t i = 0; list != NULL && list->is_open && i < scheduler->ordered_count; i++) {
        char line[WEFT__NAME_LIMIT + 64];
        const weft__system *system = scheduler->ordered[i];
        int length = snprintf(line, sizeof line, "system %" PRIxPTR " %" PRIu32 " %s\n",
                              (uintptr_t)system->name, system->stage, system->name);
        errno = 0;
        weft_result result =
            list->files->write(list->files->user, list->file, line, (size_t)length);
        if (result != WEFT_OK) fail(scheduler, list, result, "write");
    }
}

void weft__system_list_close(weft__scheduler *scheduler)
{
    weft__system_list *list = scheduler->system_list;
    if (list == NULL) return;
    if (list->is_open) list->files->close(list->files->user, list->file);
    WEFT__FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, list, 1);
}

/* ---- the order of effect ----
 *
 * Systems and the begin and end of every group are nodes of a graph; before/after names are its
 * edges. Orders that come from groups decide who is first when two systems collide, or when the
 * schedule cannot see what both do; an order between two systems by name is kept in any case. What
 * is kept without a collision is a barrier (see staging.c). Many systems before many others have
 * theirs to and from a gate, which is no system: the number of barriers does not grow with the
 * square of that of systems. A name that is not there yet orders nothing: the schedule is compiled
 * again when it comes. Of the order that comes out, systems that a sync point need not delay are
 * moved in front of it. */

/* ---- the graph ---- */

/* The graph while it is built; lives on the stack of one compilation, with arrays of its own.
 * Nodes: systems by slot, then 2 per group (begin, end). Always: edge_count <= edge_limit. */
typedef struct ordering_build {
    weft__scheduler *scheduler;
    weft__order_edge *edges;
    uint32_t edge_count;
    uint32_t edge_limit;
    uint32_t *ranks;
    uint32_t *order;
    uint32_t node_count;
} ordering_build;

static uint32_t group_begin(const ordering_build *b, uint32_t group)
{
    return b->scheduler->system_capacity + group * 2;
}

static uint32_t group_end(const ordering_build *b, uint32_t group)
{
    return group_begin(b, group) + 1;
}

static void add_edge(ordering_build *b, uint32_t before, uint32_t after)
{
    WEFT_ASSERT(b->edge_count < b->edge_limit);
    b->edges[b->edge_count++] = (weft__order_edge){before, after};
}

/* First and last node of what a name means; false: no system or group has it yet. */
static bool find_name(const ordering_build *b, const char *name, uint32_t *first, uint32_t *last)
{
    const weft__scheduler *scheduler = b->scheduler;
    const weft__system *system = weft__system_named(scheduler, name);
    uint32_t group = system == NULL ? weft__group_named(scheduler, name) : WEFT__NONE;
    if (system != NULL) *first = *last = weft__system_slot(system);
    if (group != WEFT__NONE) {
        *first = group_begin(b, group);
        *last = group_end(b, group);
    }
    return system != NULL || group != WEFT__NONE;
}

static void add_names(ordering_build *b, uint32_t first, uint32_t last, const weft__lists *lists)
{
    uint32_t other_first, other_last;
    for (uint32_t i = 0; i < lists->before_count; i++)
        if (find_name(b, lists->before[i], &other_first, &other_last))
            add_edge(b, last, other_first);
    for (uint32_t i = 0; i < lists->after_count; i++)
        if (find_name(b, lists->after[i], &other_first, &other_last))
            add_edge(b, other_last, first);
}

static void add_all_edges(ordering_build *b)
{
    const weft__scheduler *scheduler = b->scheduler;
    for (uint32_t i = 0; i < scheduler->group_count; i++) {
        const weft__group *group = &scheduler->groups[i];
        add_edge(b, group_begin(b, i), group_end(b, i));
        add_names(b, group_begin(b, i), group_end(b, i), &group->lists);
    }
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        const weft__system *system = scheduler->systems[i];
        if (system == NULL) continue;
        add_edge(b, group_begin(b, system->group), i);
        add_edge(b, i, group_end(b, system->group));
        add_names(b, i, i, &system->lists);
    }
}

/* Group nodes come as early as they can: rank 0. */
static void set_ranks(ordering_build *b)
{
    const weft__scheduler *scheduler = b->scheduler;
    for (uint32_t i = 0; i < b->node_count; i++) {
        const weft__system *system = i < scheduler->system_capacity ? scheduler->systems[i] : NULL;
        b->ranks[i] = system == NULL ? 0 : system->rank + 1;
    }
}

static weft_result report_cycle(const ordering_build *b, uint32_t length)
{
    const weft__scheduler *scheduler = b->scheduler;
    char path[300] = "";
    size_t at = 0;
    for (uint32_t i = 0; i <= length && at < sizeof path - 1; i++) {
        uint32_t node = b->order[i % length];
        bool is_system = node < scheduler->system_capacity;
        const char *name = is_system
                               ? scheduler->systems[node]->name
                               : scheduler->groups[(node - scheduler->system_capacity) / 2].name;
        if (!is_system && i > 0) { /* begin and end of one group in a row: say it once */
            uint32_t last = b->order[(i - 1) % length];
            if (last >= scheduler->system_capacity && (last ^ node) == 1 &&
                (last - scheduler->system_capacity) / 2 == (node - scheduler->system_capacity) / 2)
                continue;
        }
        int added = snprintf(path + at, sizeof path - at, "%s%s%s", i == 0 ? "" : " -> ",
                             is_system ? "" : "group ", name);
        if (added > 0) at += (size_t)added;
    }
    return weft__error(scheduler->world, WEFT_CYCLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "the order of systems is a cycle: %s; drop one before/after", path);
}

/* Two edges for each system and group, and one for each name. */
static uint32_t count_edges(const weft__scheduler *scheduler)
{
    uint32_t count = 2 * (scheduler->system_capacity + scheduler->group_count);
    for (uint32_t i = 0; i < scheduler->group_count; i++)
        count += scheduler->groups[i].lists.before_count + scheduler->groups[i].lists.after_count;
    for (uint32_t i = 0; i < scheduler->system_capacity; i++)
        if (scheduler->systems[i] != NULL)
            count += scheduler->systems[i]->lists.before_count +
                     scheduler->systems[i]->lists.after_count;
    return count;
}

static weft_result schedule_order(weft__scheduler *scheduler)
{
    ordering_build b = {.scheduler = scheduler};
    b.node_count = scheduler->system_capacity + 2 * scheduler->group_count;
    b.edge_limit = count_edges(scheduler);
    weft__pile *pile = &scheduler->pile;
    b.edges = weft__pile_take(pile, b.edge_limit, sizeof b.edges[0]);
    b.ranks = weft__pile_take(pile, b.node_count, sizeof b.ranks[0]);
    b.order = weft__pile_take(pile, b.node_count + 1, sizeof b.order[0]);
    scheduler->ordered = weft__pile_take(pile, scheduler->system_count, sizeof(void *));
    if (pile->is_refused) return WEFT_OUT_OF_MEMORY;
    add_all_edges(&b);
    set_ranks(&b);
    uint32_t cycle_length;
    weft__ordering graph = {b.node_count, b.ranks, b.edges, b.edge_count, 0};
    weft_result result = weft__ordering_sort(&graph, pile, b.order, &cycle_length);
    if (result == WEFT_CYCLE) return report_cycle(&b, cycle_length);
    if (result != WEFT_OK) return result;
    scheduler->order_graph = (weft__order_graph){.edges = b.edges,
                                                 .nodes = b.order,
                                                 .edge_count = b.edge_count,
                                                 .node_count = b.node_count,
                                                 .system_limit = scheduler->system_capacity};
    scheduler->ordered_count = 0;
    for (uint32_t i = 0; i < b.node_count; i++) {
        weft__system *system =
            b.order[i] < scheduler->system_capacity ? scheduler->systems[b.order[i]] : NULL;
        if (system == NULL) continue;
        system->position = scheduler->ordered_count;
        scheduler->ordered[scheduler->ordered_count++] = system;
    }
    return WEFT_OK;
}

/* ---- orders that hold without a collision ---- */

static int compare_barriers(const void *left, const void *right)
{
    const weft__order_edge *a = left, *b = right;
    if (a->after != b->after) return a->after < b->after ? -1 : 1;
    return a->before < b->before ? -1 : a->before > b->before;
}

/* The schedule sees what systems do with the rows of their terms. An exclusive system has a segment
 * of its own anyway. */
static bool is_unseen(const weft__system *system)
{
    return (system->query.id == 0 || (system->flags & WEFT_SYSTEM_MAIN_THREAD) != 0) &&
           (system->flags & WEFT_SYSTEM_EXCLUSIVE) == 0;
}

/* One search for the barriers of a schedule. Owner: the call, on its stack; the arrays lie in the
 * pile of the schedule. */
typedef struct barrier_search {
    weft__scheduler *scheduler;
    uint32_t *first, *next; /* [node + 1] into `next`: the nodes before each node */
    uint32_t *open;         /* [node]: a stack of those to look before */
    uint32_t *seen_for;     /* [node]: the node that it was reached from, + 1 */
    uint32_t *gates;        /* [node]: its gate; 0: not looked for; WEFT__NONE: there is none */
    bool *has_unseen;       /* [group] */
    uint32_t gate_count;
    uint32_t count; /* barriers so far; kept when scheduler->barriers has room */
} barrier_search;

static const weft__system *system_at(const barrier_search *s, uint32_t node)
{
    return node < s->scheduler->order_graph.system_limit ? s->scheduler->systems[node] : NULL;
}

static void add_barrier(barrier_search *s, uint32_t before, uint32_t after)
{
    if (s->scheduler->barriers != NULL)
        s->scheduler->barriers[s->count] = (weft__order_edge){before, after};
    s->count++;
}

/* From the end of a group to its begin, while the group holds an unseen system: ways lead through
 * that. */
static bool is_detour(const barrier_search *s, uint32_t node, uint32_t before)
{
    uint32_t limit = s->scheduler->order_graph.system_limit;
    return before >= limit && node == before + 1 && (before - limit) % 2 == 0 &&
           s->has_unseen[(before - limit) / 2];
}

/* The gate of a node: all unseen systems on any way to it, but not those before them, have a
 * barrier to it. */
static uint32_t gate_of(barrier_search *s, uint32_t node)
{
    if (s->gates[node] != 0) return s->gates[node];
    const uint32_t gate = s->scheduler->ordered_count + s->gate_count, count = s->count;
    uint32_t open = 0;
    s->open[open++] = node;
    while (open != 0) {
        const uint32_t at = s->open[--open];
        for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++) {
            const uint32_t reached = s->next[i];
            const weft__system *system = system_at(s, reached);
            if (s->seen_for[reached] == node + 1 || is_detour(s, at, reached)) continue;
            s->seen_for[reached] = node + 1;
            if (system != NULL && is_unseen(system))
                add_barrier(s, system->position, gate);
            else
                s->open[open++] = reached;
        }
    }
    s->gates[node] = s->count == count ? WEFT__NONE : gate;
    if (s->count != count) s->gate_count++;
    return s->gates[node];
}

/* Orders by name between systems, and ways from one unseen system to another. */
static void add_barriers(barrier_search *s)
{
    const weft__order_graph *graph = &s->scheduler->order_graph;
    memset(s->seen_for, 0, graph->node_count * sizeof s->seen_for[0]);
    memset(s->gates, 0, graph->node_count * sizeof s->gates[0]);
    s->count = s->gate_count = 0;
    for (uint32_t node = 0; node < graph->system_limit; node++) {
        const weft__system *to = s->scheduler->systems[node];
        for (uint32_t i = s->first[node]; i < s->first[node + 1]; i++) {
            const weft__system *from = system_at(s, s->next[i]);
            if (from != NULL) add_barrier(s, from->position, to->position);
            if (!is_unseen(to) || (from != NULL && is_unseen(from))) continue;
            const uint32_t gate = gate_of(s, s->next[i]);
            if (gate != WEFT__NONE) add_barrier(s, gate, to->position);
        }
    }
}

bool weft__schedule_has_barrier(const weft__scheduler *scheduler, uint32_t before, uint32_t after)
{
    return weft__order_edges_have(scheduler->barriers, scheduler->barrier_count, before, after);
}

/* The edges by where they end, and which groups hold unseen systems. */
static bool list_edges(barrier_search *s)
{
    const weft__order_graph *graph = &s->scheduler->order_graph;
    weft__pile *pile = &s->scheduler->pile;
    s->first = weft__pile_take(pile, graph->node_count + 2, sizeof s->first[0]);
    s->next = weft__pile_take(pile, graph->edge_count + 1, sizeof s->next[0]);
    s->open = weft__pile_take(pile, graph->node_count + 1, sizeof s->open[0]);
    s->seen_for = weft__pile_take(pile, graph->node_count + 1, sizeof s->open[0]);
    s->gates = weft__pile_take(pile, graph->node_count + 1, sizeof s->gates[0]);
    s->has_unseen = weft__pile_take(pile, graph->node_count + 1, 1);
    if (pile->is_refused) return false;
    for (uint32_t i = 0; i < graph->edge_count; i++) s->first[graph->edges[i].after + 2]++;
    for (uint32_t i = 0; i < graph->node_count; i++) s->first[i + 2] += s->first[i + 1];
    for (uint32_t i = 0; i < graph->edge_count; i++)
        s->next[s->first[graph->edges[i].after + 1]++] = graph->edges[i].before;
    for (uint32_t i = 0; i < s->scheduler->ordered_count; i++)
        if (is_unseen(s->scheduler->ordered[i]))
            s->has_unseen[s->scheduler->ordered[i]->group] = true;
    return true;
}

static weft_result schedule_barriers(weft__scheduler *scheduler)
{
    barrier_search search = {.scheduler = scheduler};
    scheduler->barriers = NULL;
    scheduler->barrier_count = scheduler->gate_count = 0;
    if (!list_edges(&search)) return WEFT_OUT_OF_MEMORY;
    add_barriers(&search); /* only counts */
    scheduler->barriers =
        weft__pile_take(&scheduler->pile, search.count + 1, sizeof scheduler->barriers[0]);
    if (scheduler->barriers == NULL) return WEFT_OUT_OF_MEMORY;
    add_barriers(&search);
    scheduler->barrier_count = search.count;
    scheduler->gate_count = search.gate_count;
    if (search.count > 1)
        qsort(scheduler->barriers, search.count, sizeof scheduler->barriers[0], compare_barriers);
    return WEFT_OK;
}

static weft_result schedule_hoist(weft__scheduler *scheduler, const weft__staging_input *input)
{
    uint32_t count = scheduler->ordered_count, moved = 0;
    weft__pile *pile = &scheduler->pile;
    uint32_t *order = weft__pile_take(pile, count, sizeof order[0]);
    weft_result result =
        order == NULL ? WEFT_OUT_OF_MEMORY : weft__staging_hoist(input, pile, order);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < count; i++) moved += order[i] != i;
    if (moved == 0) return WEFT_OK;
    weft__system **ordered = weft__pile_take(pile, count, sizeof ordered[0]);
    weft__staging_node *nodes = weft__pile_take(pile, count, sizeof nodes[0]);
    if (pile->is_refused) return WEFT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        ordered[i] = scheduler->ordered[order[i]];
        nodes[i] = scheduler->nodes[order[i]];
        ordered[i]->position = i;
    }
    scheduler->ordered = ordered;
    scheduler->nodes = nodes;
    return schedule_barriers(scheduler);
}

/* ---- what each system touches and sees (staging.h) ---- */

/* Sets of archetypes made so far. Lives on the stack of one compilation; the sets are the
 * scheduler's pile's. */
typedef struct sets {
    weft__scheduler *scheduler;
    weft__archetype_set **with; /* [component] */
    uint32_t word_count;
} sets;

static void *take(sets *s, size_t count, size_t size)
{
    return weft__pile_take(&s->scheduler->pile, count, size);
}

static weft__archetype_set *set_make(sets *s)
{
    weft__archetype_set *set = take(s, 1, sizeof *set);
    if (set == NULL) return NULL;
    set->words = take(s, s->word_count, sizeof(uint64_t));
    set->word_count = set->words == NULL ? 0 : s->word_count;
    return set;
}

static void set_close(weft__archetype_set *set)
{
    while (set->first_word < set->word_count && set->words[set->first_word] == 0) set->first_word++;
}

static const weft__archetype_set *set_with(sets *s, uint32_t component)
{
    if (s->with[component] != NULL) return s->with[component];
    weft__archetype_set *set = set_make(s);
    if (set == NULL || set->words == NULL) return set;
    const weft__component_list *list = weft__component_list_at(s->scheduler->world, component);
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        set->words[list->at[i].archetype / 64] |= UINT64_C(1) << (list->at[i].archetype % 64);
    set_close(set);
    return s->with[component] = set;
}

static const weft__archetype_set *set_matching(sets *s, const weft__query *query)
{
    weft__archetype_set *set = set_make(s);
    if (set == NULL || set->words == NULL) return set;
    for (uint32_t i = 0; i < query->match_count; i++)
        set->words[query->matches[i].number / 64] |= UINT64_C(1) << (query->matches[i].number % 64);
    set_close(set);
    return set;
}

static void add_item(sets *s, weft__access_set *access, uint32_t component, uint32_t flags,
                     const weft__archetype_set *match)
{
    const weft__archetype_set *with =
        (flags & WEFT__ACCESS_RESOURCE) != 0 ? NULL : set_with(s, component);
    access->items[access->count++] = (weft__access_item){component, flags, match, with};
}

/* A term reads its column, its chunk value, or the enable bits that decide about rows. Shared
 * values change at sync points only: no access. */
static void add_query(sets *s, weft__access_set *access, const weft__query *query, uint32_t flags)
{
    const weft__archetype_set *match = set_matching(s, query);
    for (uint32_t i = 0; i < query->term_count; i++) {
        const weft__query_term *term = &query->terms[i];
        if (term->sparse != NULL) { /* in rows of its own, in any slice */
            if (term->access == WEFT_NO_ACCESS || term->sparse->value_bytes == 0) continue;
            add_item(s, access, term->component,
                     WEFT__ACCESS_FAR | (term->access == WEFT_WRITE ? WEFT__ACCESS_WRITE : 0u),
                     NULL);
            continue;
        }
        bool is_write = term->access == WEFT_WRITE &&
                        (term->has_column || term->is_chunk_value || term->is_enableable);
        bool is_read = term->access != WEFT_NO_ACCESS && (term->has_column || term->is_chunk_value);
        if (!is_write && !is_read && !term->is_masking) continue;
        add_item(s, access, term->component, flags | (is_write ? WEFT__ACCESS_WRITE : 0u), match);
    }
}

/* Terms, and two tags that hide entities. */
static uint32_t query_item_limit(const weft__query *query)
{
    return query->term_count + 2;
}

static void add_filter(sets *s, weft__access_set *access, const weft__query_handle *handle,
                       uint32_t flags)
{
    const weft__query *query = handle->query;
    const weft__archetype_set *match = NULL;
    for (uint32_t i = 0; i < handle->filter.changed.count; i++) {
        if (match == NULL) match = set_matching(s, query);
        const weft__query_term *term = &query->terms[handle->filter.changed.at[i].term];
        add_item(s, access, term->component, term->sparse == NULL ? flags : WEFT__ACCESS_FAR,
                 term->sparse == NULL ? match : NULL);
    }
}

static void add_grants(sets *s, weft__access_set *access, const weft__grant *grants, uint32_t count,
                       uint32_t flags)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_write = grants[i].access == WEFT_WRITE;
        add_item(s, access, grants[i].component, flags | (is_write ? WEFT__ACCESS_WRITE : 0u),
                 NULL);
    }
}

static weft__query_handle *handle_of(const weft__scheduler *scheduler, weft_query query)
{
    return query.id == 0 ? NULL : weft__query_find(scheduler->world, query);
}

static uint32_t item_limit(const weft__scheduler *scheduler, const weft__system *system)
{
    uint32_t limit = system->lists.lookup_count + system->lists.resource_count;
    const weft__query_handle *handle = handle_of(scheduler, system->query);
    if (handle != NULL) limit += query_item_limit(handle->query) + handle->filter.changed.count;
    for (uint32_t i = 0; i < system->lists.query_count; i++) {
        handle = handle_of(scheduler, system->lists.queries[i]);
        limit += query_item_limit(handle->query) + handle->filter.changed.count;
    }
    return limit;
}

static void make_access(sets *s, const weft__system *system, weft__access_set *access)
{
    weft__scheduler *scheduler = s->scheduler;
    access->items = take(s, item_limit(scheduler, system), sizeof access->items[0]);
    if (access->items == NULL) return;
    const weft__query_handle *handle = handle_of(scheduler, system->query);
    if (handle != NULL) {
        add_query(s, access, handle->query, 0);
        add_filter(s, access, handle, 0);
    }
    for (uint32_t i = 0; i < system->lists.query_count; i++) {
        handle = handle_of(scheduler, system->lists.queries[i]);
        add_query(s, access, handle->query, WEFT__ACCESS_FAR);
        add_filter(s, access, handle, WEFT__ACCESS_FAR);
    }
    add_grants(s, access, system->lists.lookups, system->lists.lookup_count, WEFT__ACCESS_FAR);
    add_grants(s, access, system->lists.resources, system->lists.resource_count,
               WEFT__ACCESS_FAR | WEFT__ACCESS_RESOURCE);
    weft__access_set_normalise(access);
}

/* ---- what a system can see of structure ---- */

static void mention_query(const weft__query *query, uint32_t *out, uint32_t *count)
{
    for (uint32_t i = 0; i < query->term_count; i++) out[(*count)++] = query->terms[i].component;
    if (!query->with_prefabs) out[(*count)++] = weft_component_prefab(query->world).id;
    if (!query->with_inactive) out[(*count)++] = weft_component_inactive(query->world).id;
}

static void make_mentions(sets *s, const weft__system *system, weft__staging_node *node)
{
    weft__scheduler *scheduler = s->scheduler;
    uint32_t *mentions = take(s, item_limit(scheduler, system), sizeof mentions[0]);
    uint32_t *required = take(s, item_limit(scheduler, system), sizeof required[0]);
    if (mentions == NULL || required == NULL) return;
    const weft__query_handle *handle = handle_of(scheduler, system->query);
    if (handle != NULL) mention_query(handle->query, mentions, &node->mention_count);
    for (uint32_t i = 0; i < system->lists.query_count; i++)
        mention_query(handle_of(scheduler, system->lists.queries[i])->query, mentions,
                      &node->mention_count);
    for (uint32_t i = 0; i < system->lists.lookup_count; i++)
        mentions[node->mention_count++] = system->lists.lookups[i].component;
    bool has_one_description =
        handle != NULL && handle->query->alternative_count <= 1 && system->lists.query_count == 0;
    for (uint32_t i = 0; has_one_description && i < handle->query->term_count; i++)
        if (handle->query->terms[i].match == WEFT_ALL)
            required[node->required_count++] = handle->query->terms[i].component;
    qsort(mentions, node->mention_count, sizeof mentions[0], weft__compare_u32);
    qsort(required, node->required_count, sizeof required[0], weft__compare_u32);
    node->mentions = mentions;
    node->required = required;
    if (handle != NULL || system->lists.query_count != 0 || system->lists.lookup_count != 0)
        node->traits |= WEFT__STAGING_SEES_ROWS;
    if (has_one_description && system->lists.lookup_count == 0)
        node->traits |= WEFT__STAGING_ROWS_ONLY;
}

static uint32_t traits_of(const weft__system *system)
{
    const uint32_t apart = WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE |
                           WEFT_SYSTEM_BACKGROUND | WEFT_SYSTEM_NOT_FUSED |
                           WEFT_SYSTEM_WHOLE_CHUNKS;
    uint32_t traits = 0;
    if (system->query.id != 0 && (system->flags & apart) == 0) traits |= WEFT__STAGING_FUSABLE;
    if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) traits |= WEFT__STAGING_EXCLUSIVE;
    if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0) traits |= WEFT__STAGING_BACKGROUND;
    if (system->range != NULL) traits |= WEFT__STAGING_STAYS;
    return traits;
}

/* Fields of relations that it writes in place. */
static uint32_t relations_written(const weft__scheduler *scheduler, const weft__staging_node *node,
                                  uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->access.count; i++) {
        const weft__access_item *item = &node->access.items[i];
        if ((item->flags & WEFT__ACCESS_WRITE) != 0 &&
            weft__relation_desc(scheduler->world, item->component) != NULL)
            out[count++] = item->component;
    }
    return count;
}

/* What settling relations makes of a system: who names a relation behind it sees its fields
 * settled, so a field written in place is as one that commands set; and what is destroyed may take
 * anything along. */
static void add_relations(sets *s, weft__staging_node *node)
{
    if (!weft__relations_any(s->scheduler->world)) return;
    node->destroy_count = 0;
    uint32_t *written = take(s, node->access.count + node->record_count + 1, sizeof written[0]);
    uint32_t count = written == NULL ? 0 : relations_written(s->scheduler, node, written);
    if (count == 0) return;
    bool is_any = node->effects != WEFT_RECORDS_NOTHING && node->record_count == 0;
    node->effects |= WEFT_RECORDS_ADD;
    if (is_any) return;
    for (uint32_t i = 0; i < node->record_count; i++) written[count++] = node->records[i];
    qsort(written, count, sizeof written[0], weft__compare_u32);
    node->records = written;
    node->record_count = count;
}

static bool is_cleanup(const weft_world *world, uint32_t component)
{
    return (weft_component_info(world, weft__component(world, component))->flags & WEFT_CLEANUP) !=
           0;
}

/* Who removes a CLEANUP component may end residues, which can have all of these and nothing else:
 * as if it destroyed them. */
static void add_residues(sets *s, weft__staging_node *node)
{
    const weft_world *world = s->scheduler->world;
    bool is_destroyer = (node->effects & WEFT_RECORDS_DESTROY) != 0, ends_any = false;
    uint32_t types = weft__type_count(world), count = is_destroyer ? node->destroy_count : 0;
    if ((node->effects & WEFT_RECORDS_REMOVE) == 0 || (is_destroyer && count == 0)) return;
    for (uint32_t i = 0; i < node->record_count && !ends_any; i++)
        ends_any = is_cleanup(world, node->records[i]);
    if (!ends_any) return;
    uint32_t *destroys = take(s, count + types, sizeof destroys[0]);
    if (destroys == NULL) return;
    for (uint32_t i = 0; i < count; i++) destroys[i] = node->destroys[i];
    for (uint32_t id = 1; id <= types; id++)
        if (is_cleanup(world, id)) destroys[count++] = id;
    qsort(destroys, count, sizeof destroys[0], weft__compare_u32);
    node->effects |= WEFT_RECORDS_DESTROY;
    node->destroys = destroys;
    node->destroy_count = count;
}

/* Whether entries of the query, made before a sync point, serve behind it: nothing but the chunk
 * says which rows are the system's, and where their values are. */
static bool has_steady_rows(const weft__query_handle *handle)
{
    const weft__query *query = handle->query;
    bool is_steady = weft__filter_is_empty(&handle->filter) && !query->has_masking_terms &&
                     !query->has_buffers && !query->has_sparse_terms && !query->is_of_sparse_rows;
    for (uint32_t i = 0; i < query->term_count && is_steady; i++)
        is_steady = !query->terms[i].is_shared;
    return is_steady;
}

static weft_result schedule_nodes(weft__scheduler *scheduler)
{
    const weft_world *world = scheduler->world;
    sets s = {.scheduler = scheduler, .word_count = weft__archetype_count(world) / 64 + 1};
    s.with = take(&s, weft__type_count(world) + 1, sizeof s.with[0]);
    scheduler->nodes = take(&s, scheduler->ordered_count, sizeof scheduler->nodes[0]);
    for (uint32_t i = 0; i < scheduler->ordered_count && !scheduler->pile.is_refused; i++) {
        weft__system *system = scheduler->ordered[i];
        weft__staging_node *node = &scheduler->nodes[i];
        node->traits = traits_of(system);
        node->effects = system->effects;
        node->records = system->lists.records;
        node->record_count = system->lists.record_count;
        node->destroys = system->lists.destroys;
        node->destroy_count = system->lists.destroy_count;
        make_access(&s, system, &node->access);
        make_mentions(&s, system, node);
        add_relations(&s, node);
        add_residues(&s, node);
        /* When its effects are known. */
        const weft__query_handle *handle = handle_of(scheduler, system->query);
        bool sees_others = (node->traits & WEFT__STAGING_SEES_ROWS) != 0 &&
                           (node->traits & WEFT__STAGING_ROWS_ONLY) == 0;
        system->passes =
            (node->traits & WEFT__STAGING_BACKGROUND) != 0 && !sees_others &&
            node->effects == WEFT_RECORDS_NOTHING && system->range == NULL &&
            !system->skips_unchanged && (system->flags & WEFT_SYSTEM_ASKS_CHANGES) == 0 &&
            !weft__relations_any(scheduler->world) && (handle == NULL || has_steady_rows(handle));
        if (system->passes) node->traits |= WEFT__STAGING_PASSES;
    }
    return scheduler->pile.is_refused ? WEFT_OUT_OF_MEMORY : WEFT_OK;
}

/* ---- stages ---- */

static void set_stage_flags(weft__stage *stage)
{
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        if (weft__system_is_on_owner(system)) stage->has_main = true;
        if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) stage->is_exclusive = true;
        if (system->range != NULL) stage->has_ranges = true;
        if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0) stage->has_background = true;
    }
}

/* What asks for stage after stage: sizes that are asked for when the stages before have ended,
 * loops that go on beside several stages, systems that nothing may run beside. */
static bool allows_overlap(const weft__stage *stage)
{
    return !stage->has_ranges && !stage->has_background && !stage->is_exclusive;
}

static weft_result make_segments(weft__scheduler *scheduler)
{
    uint32_t stages = scheduler->stage_count;
    scheduler->segment_count = stages == 0 ? 0 : scheduler->stages[stages - 1].segment + 1;
    scheduler->segments =
        weft__pile_take(&scheduler->pile, scheduler->segment_count, sizeof scheduler->segments[0]);
    if (scheduler->segments == NULL) {
        scheduler->segment_count = 0;
        return WEFT_OUT_OF_MEMORY;
    }
    bool is_recorded = weft__pool_is_traced_in_detail(weft__front(scheduler->world)->host.pool);
    bool is_shared = (scheduler->worker_count > 1 || is_recorded) &&
                     !scheduler->options.without_parallel && !scheduler->options.without_overlap;
    for (uint32_t i = 0; i < stages; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        weft__segment *segment = &scheduler->segments[stage->segment];
        if (segment->end_stage == 0) {
            segment->first_stage = i;
            segment->may_overlap = is_shared;
        }
        segment->end_stage = i + 1;
        segment->may_overlap = segment->may_overlap && allows_overlap(stage);
    }
    for (uint32_t i = 0; i < scheduler->segment_count; i++) {
        weft__segment *segment = &scheduler->segments[i];
        bool has_one = segment->end_stage - segment->first_stage == 1 &&
                       scheduler->stages[segment->first_stage].system_count == 1;
        if (has_one) segment->may_overlap = false;
        if (segment->may_overlap) scheduler->stages[segment->first_stage].frames_to_ask = 1;
    }
    return WEFT_OK;
}

static weft_result schedule_stages(weft__scheduler *scheduler)
{
    const weft__staging *staging = &scheduler->staging;
    uint32_t count = staging->stage_count + 1; /* the last one is the end of the frame */
    if (!weft__list_room(scheduler->memory, WEFT__MEMORY_SYSTEMS, &scheduler->stages,
                         &scheduler->stage_capacity, count, sizeof *scheduler->stages))
        return WEFT_OUT_OF_MEMORY;
    memset(scheduler->stages, 0, count * sizeof scheduler->stages[0]);
    scheduler->stage_count = staging->stage_count;
    scheduler->stage_systems =
        weft__pile_take(&scheduler->pile, scheduler->ordered_count, sizeof(void *));
    if (scheduler->stage_systems == NULL) return WEFT_OUT_OF_MEMORY;
    uint32_t offset = 0; /* versions: systems in order of effect, each sync point its own */
    for (uint32_t i = 0; i < staging->stage_count; i++) {
        weft__stage *stage = &scheduler->stages[i];
        uint32_t first = staging->stage_first[i], end = staging->stage_first[i + 1];
        stage->pile = weft__systems_pile(scheduler);
        stage->systems = scheduler->stage_systems + first;
        stage->system_count = end - first;
        stage->is_sync = staging->is_sync[i] != 0;
        for (uint32_t k = first; k < end; k++) {
            weft__system *system = scheduler->ordered[staging->stage_nodes[k]];
            system->stage = i;
            scheduler->stage_systems[k] = system;
        }
        set_stage_flags(stage);
        weft__systems_label(stage->title, sizeof stage->title, WEFT__STAGE_TITLE, stage->systems,
                            stage->system_count);
        stage->join_stage = UINT32_MAX;
        for (uint32_t k = first; k < end; k++) {
            const weft__system *system = stage->systems[k - first];
            uint32_t join = staging->join_stage[system->position];
            if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0 && join < stage->join_stage)
                stage->join_stage = join;
        }
        bool is_boundary =
            i > 0 && (stage->is_sync || stage->is_exclusive || stage[-1].is_exclusive);
        stage->segment = i == 0 ? 0 : stage[-1].segment + is_boundary;
    }
    uint32_t sync = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        for (; sync < staging->sync_count && staging->syncs[sync].observer == i; sync++)
            scheduler->stages[staging->syncs[sync].before_stage].sync_version_offset = offset++;
        scheduler->ordered[i]->version_offset = offset++;
    }
    scheduler->stages[staging->stage_count].is_sync = true;
    scheduler->stages[staging->stage_count].sync_version_offset = offset++;
    scheduler->version_count = offset;
    return make_segments(scheduler);
}

/* ---- the whole ---- */

/* Mask words of the largest chunk: a megachunk of rows that are entities only. */
#define WHOLE_MASK_WORDS (WEFT__CHUNK_ROWS_MAX / 64)

static void find_conditions(weft__scheduler *scheduler)
{
    scheduler->has_conditions = false;
    scheduler->has_filters = false;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        const weft__group *group = &scheduler->groups[system->group];
        if (system->run_if != NULL || system->period > 0 || !system->is_enabled ||
            group->is_disabled || weft__system_is_timer(system))
            scheduler->has_conditions = true;
        if (system->query.id != 0 && !system->owns_query) scheduler->has_filters = true;
    }
    for (uint32_t i = 0; i < scheduler->group_count; i++) /* its time passes without systems, too */
        if (scheduler->groups[i].period > 0) scheduler->has_conditions = true;
}

/* Grows an array that every worker has, all or none: fresh arrays first, then the exchange. */
static weft_result grow_worker_arrays(weft__scheduler *scheduler, size_t member, uint32_t *capacity,
                                      uint32_t wanted, size_t size)
{
    weft__memory *memory = scheduler->memory;
    if (wanted <= *capacity) return WEFT_OK;
    void **fresh = weft__pile_take(&scheduler->pile, scheduler->worker_count, sizeof fresh[0]);
    uint32_t made = 0;
    for (; fresh != NULL && made < scheduler->worker_count; made++) {
        fresh[made] = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, wanted, size, 64);
        if (fresh[made] == NULL) break;
    }
    if (fresh == NULL || made < scheduler->worker_count) {
        while (made > 0) weft__free(memory, WEFT__MEMORY_SYSTEMS, fresh[--made], wanted, size, 64);
        return WEFT_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        void **slot = (void **)(void *)((char *)&scheduler->workers[i] + member);
        if (*slot != NULL) memcpy(fresh[i], *slot, *capacity * size);
        weft__free(memory, WEFT__MEMORY_SYSTEMS, *slot, *capacity, size, 64);
        *slot = fresh[i];
    }
    *capacity = wanted;
    return WEFT_OK;
}

/* Tallies are indexed by slot and survive; columns go by the widest query, masks by the most rows a
 * slice or a whole chunk can have. */
static weft_result size_workers(weft__scheduler *scheduler)
{
    uint32_t columns = 1, mask_words = WEFT__MASK_WORDS;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        const weft__query *query = system->context.query;
        if (query == NULL) continue;
        if (query->term_count > columns) columns = query->term_count;
        if ((system->flags & WEFT_SYSTEM_WHOLE_CHUNKS) != 0 &&
            (query->has_masking_terms || query->is_of_sparse_rows))
            mask_words = WHOLE_MASK_WORDS;
    }
    uint32_t members = 1, sweep_columns = 1;
    for (uint32_t i = 0; i < scheduler->stage_count; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        uint32_t terms = 0;
        for (uint32_t k = 0; k < stage->system_count; k++)
            if (stage->systems[k]->context.query != NULL)
                terms += ((const weft__query *)stage->systems[k]->context.query)->term_count;
        if (stage->system_count > members) members = stage->system_count;
        if (terms > sweep_columns) sweep_columns = terms;
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        weft__pile *pile = &scheduler->pile;
        worker->sweep = weft__pile_take(pile, members * sizeof worker->sweep[0] + 128, 1);
        worker->sweep_columns = weft__pile_take(pile, sweep_columns * sizeof(void *) + 128, 1);
        worker->sweep_steps = weft__pile_take(pile, sweep_columns * sizeof(size_t) + 128, 1);
        worker->columns = weft__pile_take(pile, columns * sizeof(void *) + 128, 1);
        if (pile->is_refused) return WEFT_OUT_OF_MEMORY;
    }
    weft_result result =
        grow_worker_arrays(scheduler, offsetof(weft__worker, tallies), &scheduler->tally_capacity,
                           scheduler->system_capacity, sizeof(weft__system_tally));
    if (result != WEFT_OK) return result;
    return grow_worker_arrays(scheduler, offsetof(weft__worker, mask), &scheduler->mask_words,
                              mask_words, sizeof(uint64_t));
}

static void free_stages(weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->segment_count; i++)
        weft__segment_graph_free(scheduler, &scheduler->segments[i]);
    scheduler->segment_count = 0;
    for (uint32_t i = 0; i < scheduler->stage_count; i++)
        weft__stage_entries_free(&scheduler->stages[i]);
    scheduler->stage_count = 0;
}

void weft__schedule_free(weft__scheduler *scheduler)
{
    weft__pool_drain_trace(
        weft__front(scheduler->world)->host.pool); /* events point to labels of stages */
    free_stages(scheduler);
    scheduler->staging = (weft__staging){0};
    weft__pile_free(&scheduler->pile);
    weft__list_free(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->stages,
                    scheduler->stage_capacity, sizeof scheduler->stages[0]);
    scheduler->stages = NULL;
    scheduler->stage_capacity = 0;
    scheduler->ordered = NULL;
    scheduler->ordered_count = 0;
    scheduler->is_dirty = true;
}

static weft_result compile(weft__scheduler *scheduler)
{
    weft_result result = schedule_order(scheduler);
    if (result == WEFT_OK) result = schedule_barriers(scheduler);
    if (result == WEFT_OK) result = schedule_nodes(scheduler);
    if (result != WEFT_OK) return result;
    weft__staging_input input = {
        .nodes = scheduler->nodes,
        .node_count = scheduler->ordered_count,
        .barriers = scheduler->barriers,
        .barrier_count = scheduler->barrier_count,
        .gate_count = scheduler->gate_count,
        .component_limit = weft__type_count(scheduler->world) + 1,
        .without_fusion = scheduler->options.without_fusion,
        .shuffle_seed = scheduler->options.shuffle_seed,
    };
    result = schedule_hoist(scheduler, &input);
    if (result != WEFT_OK) return result;
    input.nodes = scheduler->nodes;
    input.barriers = scheduler->barriers;
    result = weft__staging_make(&input, &scheduler->pile, &scheduler->staging);
    if (result == WEFT_OK) result = schedule_stages(scheduler);
    if (result == WEFT_OK) result = size_workers(scheduler);
    if (result == WEFT_OK) find_conditions(scheduler);
    return result;
}

weft_result weft__schedule_prepare(weft__scheduler *scheduler)
{
    uint32_t archetypes = weft__archetype_count(scheduler->world);
    if (weft__relations_any(scheduler->world) &&
        scheduler->compiled_relations != weft__relation_count(scheduler->world))
        scheduler->is_dirty = true;
    if (!scheduler->is_dirty && scheduler->compiled_archetypes == archetypes &&
        scheduler->compiled_order == weft__archetype_order(scheduler->world))
        return WEFT_OK;
    free_stages(scheduler);
    scheduler->staging = (weft__staging){0};
    weft__pile_empty(&scheduler->pile);
    scheduler->ordered_count = 0;
    scheduler->is_dirty = true;
    weft_result result = compile(scheduler);
    if (result == WEFT_OUT_OF_MEMORY) weft__error_memory(scheduler->world, "the schedule");
    if (result != WEFT_OK) {
        weft__schedule_free(scheduler);
        return result;
    }
    scheduler->compiled_archetypes = archetypes;
    scheduler->compiled_order = weft__archetype_order(scheduler->world);
    scheduler->compiled_relations = weft__relation_count(scheduler->world);
    scheduler->is_dirty = false;
    system_list_write(scheduler);
    return WEFT_OK;
}
