/* compile.c: from registered systems to a schedule: order by names and ranks, access sets, stages.
 *
 * Order: systems and the begin and end of every group are nodes of a graph; before/after names
 * are its edges. Orders that come from groups only decide who is first when two systems collide;
 * an order between two systems by name is kept even when they do not (see staging.c). Everything
 * of a compiled schedule lies in one arena, except what is kept between compilations. */
#include "scheduler_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mask words of the largest chunk: a megachunk of rows that are entities only. */
#define WHOLE_MASK_WORDS ((uint32_t)(WEFT__MEGACHUNK_BYTES / sizeof(weft_entity) / 64))

/* ---- the order of effect ---- */

/* The graph while it is built. Nodes: systems by slot, then 2 per group (begin, end). */
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

/* First and last node of what a name means; false: unknown (error set). */
static bool find_name(const ordering_build *b, const char *owner, const char *name, uint32_t *first,
                      uint32_t *last)
{
    const weft__scheduler *scheduler = b->scheduler;
    const weft__system *system = weft__system_named(scheduler, name);
    if (system != NULL) {
        *first = *last = weft__system_slot(system);
        return true;
    }
    uint32_t group = weft__group_named(scheduler, name);
    if (group != WEFT__NONE) {
        *first = group_begin(b, group);
        *last = group_end(b, group);
        return true;
    }
    weft__error(
        scheduler->world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
        "'%s' must run before or after '%s', but no system or group has this name: register "
        "it or drop the constraint",
        owner, name);
    return false;
}

static bool add_names(ordering_build *b, const char *owner, uint32_t first, uint32_t last,
                      const weft__lists *lists)
{
    uint32_t other_first, other_last;
    for (uint32_t i = 0; i < lists->before_count; i++) {
        if (!find_name(b, owner, lists->before[i], &other_first, &other_last)) return false;
        add_edge(b, last, other_first);
    }
    for (uint32_t i = 0; i < lists->after_count; i++) {
        if (!find_name(b, owner, lists->after[i], &other_first, &other_last)) return false;
        add_edge(b, other_last, first);
    }
    return true;
}

static bool add_all_edges(ordering_build *b)
{
    const weft__scheduler *scheduler = b->scheduler;
    for (uint32_t i = 0; i < scheduler->group_count; i++) {
        const weft__group *group = &scheduler->groups[i];
        add_edge(b, group_begin(b, i), group_end(b, i));
        if (!add_names(b, group->name, group_begin(b, i), group_end(b, i), &group->lists))
            return false;
    }
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        const weft__system *system = scheduler->systems[i];
        if (system == NULL) continue;
        add_edge(b, group_begin(b, system->group), i);
        add_edge(b, i, group_end(b, system->group));
        if (!add_names(b, system->name, i, i, &system->lists)) return false;
    }
    return true;
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

/* Fills scheduler->ordered. */
static weft_result order_systems(weft__scheduler *scheduler)
{
    ordering_build b = {.scheduler = scheduler};
    b.node_count = scheduler->system_capacity + 2 * scheduler->group_count;
    b.edge_limit = count_edges(scheduler);
    weft__arena_block **arena = &scheduler->plan_arena;
    b.edges = weft__arena_take(scheduler->memory, arena, b.edge_limit * sizeof b.edges[0]);
    b.ranks = weft__arena_take(scheduler->memory, arena, b.node_count * sizeof b.ranks[0]);
    b.order = weft__arena_take(scheduler->memory, arena, (b.node_count + 1) * sizeof b.order[0]);
    scheduler->ordered = weft__arena_take(scheduler->memory, arena,
                                          scheduler->system_count * sizeof scheduler->ordered[0]);
    if (b.edges == NULL || b.ranks == NULL || b.order == NULL || scheduler->ordered == NULL)
        return weft__error_memory(scheduler->world, "the schedule");
    if (!add_all_edges(&b)) return scheduler->world->error->code;
    set_ranks(&b);
    uint32_t cycle_length;
    weft__ordering graph = {b.node_count, b.ranks, b.edges, b.edge_count, 0};
    weft_result result = weft__ordering_sort(&graph, scheduler->memory, b.order, &cycle_length);
    if (result == WEFT_CYCLE) return report_cycle(&b, cycle_length);
    if (result != WEFT_OK) return weft__error_memory(scheduler->world, "the schedule");
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

/* ---- explicit orders between systems ---- */

static int compare_barriers(const void *left, const void *right)
{
    const weft__order_edge *a = left, *b = right;
    if (a->after != b->after) return a->after < b->after ? -1 : 1;
    return a->before < b->before ? -1 : a->before > b->before;
}

static void add_barriers(weft__scheduler *scheduler, const weft__system *system, bool is_before)
{
    const weft__lists *lists = &system->lists;
    char(*names)[WEFT__NAME_LIMIT] = is_before ? lists->before : lists->after;
    uint32_t count = is_before ? lists->before_count : lists->after_count;
    for (uint32_t i = 0; i < count; i++) {
        const weft__system *other = weft__system_named(scheduler, names[i]);
        if (other == NULL) continue;
        uint32_t own = system->position, their = other->position;
        scheduler->barriers[scheduler->barrier_count++] =
            is_before ? (weft__order_edge){own, their} : (weft__order_edge){their, own};
    }
}

bool weft__schedule_has_barrier(const weft__scheduler *scheduler, uint32_t before, uint32_t after)
{
    for (uint32_t i = 0; i < scheduler->barrier_count; i++)
        if (scheduler->barriers[i].before == before && scheduler->barriers[i].after == after)
            return true;
    return false;
}

static weft_result list_barriers(weft__scheduler *scheduler)
{
    size_t limit = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        limit += (size_t)scheduler->ordered[i]->lists.before_count +
                 scheduler->ordered[i]->lists.after_count;
    scheduler->barriers = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                           limit * sizeof scheduler->barriers[0]);
    if (scheduler->barriers == NULL) return weft__error_memory(scheduler->world, "the schedule");
    scheduler->barrier_count = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        add_barriers(scheduler, system, true);
        add_barriers(scheduler, system, false);
    }
    if (scheduler->barrier_count > 1)
        qsort(scheduler->barriers, scheduler->barrier_count, sizeof scheduler->barriers[0],
              compare_barriers);
    return WEFT_OK;
}

/* ---- stages ---- */

static void set_stage_flags(weft__stage *stage)
{
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        if ((system->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0)
            stage->has_main = true;
        if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) stage->is_exclusive = true;
        if (system->range != NULL) stage->has_ranges = true;
        if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0) stage->has_background = true;
    }
}

static weft_result make_stages(weft__scheduler *scheduler)
{
    const weft__staging *staging = &scheduler->staging;
    uint32_t count = staging->stage_count + 1; /* the last one is the end of the frame */
    if (count > scheduler->stage_capacity) {
        weft__stage *grown =
            weft__realloc(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->stages,
                          scheduler->stage_capacity, count, sizeof *grown, 64);
        if (grown == NULL) return weft__error_memory(scheduler->world, "the schedule");
        scheduler->stages = grown;
        scheduler->stage_capacity = count;
    }
    memset(scheduler->stages, 0, count * sizeof scheduler->stages[0]);
    scheduler->stage_count = staging->stage_count;
    scheduler->stage_systems =
        weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                         scheduler->ordered_count * sizeof scheduler->stage_systems[0]);
    if (scheduler->stage_systems == NULL)
        return weft__error_memory(scheduler->world, "the schedule");
    uint32_t offset = 0; /* versions: systems in order of effect, each sync point its own */
    for (uint32_t i = 0; i < staging->stage_count; i++) {
        weft__stage *stage = &scheduler->stages[i];
        uint32_t first = staging->stage_first[i], end = staging->stage_first[i + 1];
        stage->systems = scheduler->stage_systems + first;
        stage->system_count = end - first;
        stage->is_sync = staging->is_sync[i] != 0;
        for (uint32_t k = first; k < end; k++) {
            weft__system *system = scheduler->ordered[staging->stage_nodes[k]];
            system->stage = i;
            scheduler->stage_systems[k] = system;
        }
        set_stage_flags(stage);
        stage->join_stage = UINT32_MAX;
        for (uint32_t k = first; k < end; k++) {
            uint32_t join = staging->join_stage[staging->stage_nodes[k]];
            if (join < stage->join_stage) stage->join_stage = join;
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
    return WEFT_OK;
}

static void find_conditions(weft__scheduler *scheduler)
{
    scheduler->has_conditions = false;
    scheduler->has_filters = false;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        const weft__group *group = &scheduler->groups[system->group];
        if (system->run_if != NULL || system->period > 0 || !system->is_enabled ||
            group->is_disabled || group->period > 0 || weft__system_is_timer(system))
            scheduler->has_conditions = true;
        if (system->query.id != 0 && !system->owns_query) scheduler->has_filters = true;
    }
}

/* Grows an array that every worker has, all or none: fresh arrays first, then the exchange. */
static weft_result grow_worker_arrays(weft__scheduler *scheduler, size_t member, uint32_t *capacity,
                                      uint32_t wanted, size_t size)
{
    weft__memory *memory = scheduler->memory;
    if (wanted <= *capacity) return WEFT_OK;
    void **fresh =
        weft__arena_take(memory, &scheduler->plan_arena, scheduler->worker_count * sizeof fresh[0]);
    uint32_t made = 0;
    for (; fresh != NULL && made < scheduler->worker_count; made++) {
        fresh[made] = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, wanted, size, 64);
        if (fresh[made] == NULL) break;
    }
    if (fresh == NULL || made < scheduler->worker_count) {
        while (made > 0) weft__free(memory, WEFT__MEMORY_SYSTEMS, fresh[--made], wanted, size, 64);
        return weft__error_memory(scheduler->world, "the schedule");
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
        if ((system->flags & WEFT_SYSTEM_WHOLE_CHUNKS) != 0 && query->has_masking_terms)
            mask_words = WHOLE_MASK_WORDS;
    }
    uint32_t parts = 1, part_columns = 1;
    for (uint32_t i = 0; i < scheduler->stage_count; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        uint32_t terms = 0;
        for (uint32_t k = 0; k < stage->system_count; k++)
            if (stage->systems[k]->context.query != NULL)
                terms += ((const weft__query *)stage->systems[k]->context.query)->term_count;
        if (stage->system_count > parts) parts = stage->system_count;
        if (terms > part_columns) part_columns = terms;
    }
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        worker->parts = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                         parts * sizeof worker->parts[0] + 128);
        worker->part_columns = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                                part_columns * sizeof(void *) + 128);
        worker->part_steps = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                              part_columns * sizeof(size_t) + 128);
        if (worker->parts == NULL || worker->part_columns == NULL || worker->part_steps == NULL)
            return weft__error_memory(scheduler->world, "the schedule");
        worker->columns = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                           columns * sizeof worker->columns[0] + 128);
        if (worker->columns == NULL) return weft__error_memory(scheduler->world, "the schedule");
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
    for (uint32_t i = 0; i < scheduler->stage_count; i++)
        weft__runs_free(scheduler, &scheduler->stages[i]);
    scheduler->stage_count = 0;
}

void weft__schedule_free(weft__scheduler *scheduler)
{
    weft__pool_drain_trace(scheduler->world->host.pool); /* events point to labels of stages */
    free_stages(scheduler);
    weft__staging_free(&scheduler->staging, scheduler->memory);
    weft__arena_free(scheduler->memory, &scheduler->plan_arena);
    weft__arena_free(scheduler->memory, &scheduler->growth.arena);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->stages,
               scheduler->stage_capacity, sizeof scheduler->stages[0], 64);
    scheduler->stages = NULL;
    scheduler->stage_capacity = 0;
    scheduler->ordered = NULL;
    scheduler->ordered_count = 0;
    scheduler->is_dirty = true;
}

static weft_result compile(weft__scheduler *scheduler)
{
    weft_result result = order_systems(scheduler);
    if (result == WEFT_OK) result = list_barriers(scheduler);
    if (result == WEFT_OK) result = weft__schedule_nodes(scheduler);
    if (result != WEFT_OK) return result;
    weft__staging_input input = {
        .nodes = scheduler->nodes,
        .node_count = scheduler->ordered_count,
        .barriers = scheduler->barriers,
        .barrier_count = scheduler->barrier_count,
        .component_limit = scheduler->world->types.count + 1,
        .without_fusion = scheduler->options.without_fusion,
        .shuffle_seed = scheduler->options.shuffle_seed,
    };
    result = weft__staging_make(&input, scheduler->memory, &scheduler->staging);
    if (result != WEFT_OK) return weft__error_memory(scheduler->world, "the schedule");
    result = make_stages(scheduler);
    if (result == WEFT_OK) result = size_workers(scheduler);
    if (result == WEFT_OK) find_conditions(scheduler);
    return result;
}

/* The name of a stage in traces: its systems, as many as fit. */
static void label(weft__stage *stage)
{
    size_t used = 0;
    for (uint32_t i = 0; i < stage->system_count && used < sizeof stage->label - 8; i++) {
        int written = snprintf(stage->label + used, sizeof stage->label - used, "%s%s",
                               i == 0 ? "" : " + ", stage->systems[i]->name);
        used += written > 0 ? (size_t)written : 0;
    }
    if (used >= sizeof stage->label) memcpy(stage->label + sizeof stage->label - 4, "...", 4);
}

weft_result weft__schedule_prepare(weft__scheduler *scheduler)
{
    uint32_t archetypes = scheduler->world->archetypes.count;
    if (!scheduler->is_dirty && scheduler->compiled_archetypes == archetypes &&
        scheduler->compiled_order == scheduler->world->archetypes.order_version)
        return WEFT_OK;
    if (weft__schedule_extend(scheduler)) return WEFT_OK;
    free_stages(scheduler);
    weft__staging_free(&scheduler->staging, scheduler->memory);
    weft__arena_empty(scheduler->memory, &scheduler->plan_arena);
    scheduler->ordered_count = 0;
    scheduler->is_dirty = true;
    weft_result result = compile(scheduler);
    if (result != WEFT_OK) {
        weft__schedule_free(scheduler);
        return result;
    }
    for (uint32_t i = 0; i < scheduler->stage_count; i++) label(&scheduler->stages[i]);
    scheduler->compiled_archetypes = archetypes;
    scheduler->compiled_order = scheduler->world->archetypes.order_version;
    scheduler->growth.types = scheduler->world->types.count;
    scheduler->growth.compilations++;
    scheduler->is_dirty = false;
    return WEFT_OK;
}
