/* SPDX-License-Identifier: MIT */
/* scheduler.c: the scheduler of a world: made with the first system, group or option, freed with
 * the world.
 *
 * It lies in the extension of the world; queries are freed by the storage after it. */
#include "scheduler.h"

#include "compile.h"
#include "counters.h"
#include "counters_group.h"
#include "diagnose.h"
#include "dispatch.h"
#include "hash_log.h"
#include "registry.h"
#include "run_state.h"
#include "system_free.h"
#include "system_list.h"

/* With the world: queries are freed by the storage after this. */
static void scheduler_destroy(void *data)
{
    weft__scheduler *scheduler = data;
    weft__memory *memory = scheduler->memory;
    if (scheduler->observers != NULL) scheduler->observers_free(scheduler);
    weft__counters_free(scheduler);
    weft__system_list_close(scheduler);
    weft__hash_log_close(scheduler);
    weft__part_order_free(scheduler);
    weft__schedule_free(scheduler);
    for (uint32_t i = 0; i < scheduler->system_capacity; i++)
        if (scheduler->systems[i] != NULL) weft__system_free(scheduler->systems[i]);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &scheduler->entry_of_chunk);
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        weft__recorder_fini(&worker->commands);
        weft__loops_free(&worker->loops);
        weft__free(memory, WEFT__MEMORY_SYSTEMS, worker->tallies, scheduler->tally_capacity,
                   sizeof worker->tallies[0], 64);
        weft__free(memory, WEFT__MEMORY_SYSTEMS, worker->mask, scheduler->mask_words,
                   sizeof worker->mask[0], 64);
    }
    weft__diagnose_free(scheduler);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, scheduler->workers, scheduler->worker_count,
               sizeof scheduler->workers[0], 64);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, scheduler->recorders, scheduler->worker_count,
               sizeof scheduler->recorders[0], 8);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, scheduler->systems, scheduler->system_capacity,
               sizeof scheduler->systems[0], 8);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, scheduler->generations, scheduler->system_capacity,
               sizeof scheduler->generations[0], 8);
    for (uint32_t i = 0; i < scheduler->group_count; i++)
        weft__lists_free(memory, &scheduler->groups[i].lists);
    weft__list_free(memory, WEFT__MEMORY_SYSTEMS, scheduler->groups, scheduler->group_capacity,
                    sizeof scheduler->groups[0]);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, scheduler, 1, sizeof *scheduler, 64);
}

static weft_result make_workers(weft__scheduler *scheduler)
{
    weft_job_pool *pool = weft__front(scheduler->world)->host.pool;
    uint32_t count = pool == NULL ? 1 : weft_job_pool_worker_count(pool);
    scheduler->workers = weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, count,
                                            sizeof scheduler->workers[0], 64);
    scheduler->recorders = weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, count,
                                              sizeof scheduler->recorders[0], 8);
    if (scheduler->workers == NULL || scheduler->recorders == NULL) {
        weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->workers, count,
                   sizeof scheduler->workers[0], 64);
        weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->recorders, count,
                   sizeof scheduler->recorders[0], 8);
        return WEFT_OUT_OF_MEMORY;
    }
    scheduler->worker_count = count;
    for (uint32_t i = 0; i < count; i++) {
        scheduler->workers[i].scheduler = scheduler;
        scheduler->workers[i].index = i;
        scheduler->workers[i].loops.memory = scheduler->memory;
        weft__recorder_init(&scheduler->workers[i].commands, scheduler->world, i, i);
        scheduler->workers[i].commands.in_set = true;
        scheduler->recorders[i] = &scheduler->workers[i].commands;
    }
    return WEFT_OK;
}

weft__scheduler *weft__scheduler_obtain(weft_world *world)
{
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (scheduler != NULL) return scheduler;
    scheduler = weft__alloc_zeroed(weft__world_memory(world), WEFT__MEMORY_SYSTEMS, 1,
                                   sizeof *scheduler, 64);
    if (scheduler != NULL) {
        scheduler->world = world;
        scheduler->memory = weft__world_memory(world);
        scheduler->is_dirty = true;
        scheduler->counter_wish = weft__counters_asked(&weft__world_desc(world)->log);
        if (make_workers(scheduler) == WEFT_OK) {
            weft__front(world)->extensions[WEFT__EXTENSION_SCHEDULER] =
                (weft__extension){.data = scheduler,
                                  .destroy = scheduler_destroy,
                                  .state_keep = weft__run_state_keep,
                                  .state_put = weft__run_state_put,
                                  .state_drop = weft__run_state_drop,
                                  .runs_visit = weft__runs_visit,
                                  .runs_take = weft__runs_take,
                                  .renew = weft__run_state_renew};
            if (WEFT_IS_CHECKED) weft__diagnose_watch(scheduler);
            weft__hash_log_obey(scheduler);
            return scheduler;
        }
        weft__free(weft__world_memory(world), WEFT__MEMORY_SYSTEMS, scheduler, 1, sizeof *scheduler,
                   64);
    }
    weft__error_memory(world, "the scheduler");
    return NULL;
}
