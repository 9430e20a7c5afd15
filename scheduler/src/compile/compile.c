/* SPDX-License-Identifier: MIT */
/* compile.c: from registered systems to a schedule: their order of effect (compile_order.c),
 * what they touch (compile_nodes.c), their stages (staging.c, compile_stages.c), and what
 * workers need to run them. New archetypes are added where that changes nothing
 * (compile_extend.c). Everything of a compiled schedule lies in one arena, except what is kept
 * between compilations. */
#include "compile.h"

#include "compile_extend.h"
#include "compile_nodes.h"
#include "compile_order.h"
#include "compile_stages.h"
#include "segment_graph.h"
#include "stage_entries.h"
#include "system_list.h"

#include <string.h>

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
        worker->sweep = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                         members * sizeof worker->sweep[0] + 128);
        worker->sweep_columns = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                                 sweep_columns * sizeof(void *) + 128);
        worker->sweep_steps = weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                                               sweep_columns * sizeof(size_t) + 128);
        if (worker->sweep == NULL || worker->sweep_columns == NULL || worker->sweep_steps == NULL)
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
    for (uint32_t i = 0; i < scheduler->segment_count; i++)
        weft__segment_graph_free(scheduler, &scheduler->segments[i]);
    scheduler->segment_count = 0;
    for (uint32_t i = 0; i < scheduler->stage_count; i++)
        weft__stage_entries_free(scheduler, &scheduler->stages[i]);
    scheduler->stage_count = 0;
}

void weft__schedule_free(weft__scheduler *scheduler)
{
    weft__pool_drain_trace(
        weft__front(scheduler->world)->host.pool); /* events point to labels of stages */
    free_stages(scheduler);
    weft__staging_free(&scheduler->staging, scheduler->memory);
    weft__arena_free(scheduler->memory, &scheduler->plan_arena);
    weft__arena_free(scheduler->memory, &scheduler->growth.arena);
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
    weft_result result = weft__schedule_order(scheduler);
    if (result == WEFT_OK) result = weft__schedule_barriers(scheduler);
    if (result == WEFT_OK) result = weft__schedule_nodes(scheduler);
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
    result = weft__schedule_hoist(scheduler, &input);
    if (result != WEFT_OK) return result;
    input.nodes = scheduler->nodes;
    input.barriers = scheduler->barriers;
    result = weft__staging_make(&input, scheduler->memory, &scheduler->staging);
    if (result != WEFT_OK) return weft__error_memory(scheduler->world, "the schedule");
    result = weft__schedule_stages(scheduler);
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
    scheduler->compiled_archetypes = archetypes;
    scheduler->compiled_order = weft__archetype_order(scheduler->world);
    scheduler->compiled_relations = weft__relation_count(scheduler->world);
    scheduler->growth.types = weft__type_count(scheduler->world);
    scheduler->growth.compilations++;
    scheduler->is_dirty = false;
    weft__system_list_write(scheduler);
    return WEFT_OK;
}
