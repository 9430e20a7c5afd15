/* SPDX-License-Identifier: MIT */
/* stage_run.c: how a stage is run: inline on the owner, as a loop over the pool, beside
 * background loops.
 *
 * A stage that is predicted to be small (run_choice.h) runs on the owner without touching the
 * pool: no atomics, no clock, no worker woken. Above it the loop job decides by its own model. A
 * recording for weft simulate runs everything on the owner, task after task: costs are undisturbed.
 */
#include "stage_run.h"

#include "dispatch.h"
#include "part_order.h"
#include "registry.h"

/* What a loop job gets. Lives on the stack of run_loop; constant while the loop runs. */
typedef struct loop {
    weft__scheduler *scheduler;
    weft__entry *entries;
    uint32_t entry_count;
    uint32_t first; /* item that is number 0 of the loop */
    uint32_t stage; /* for the order of parts; WEFT__NONE: in the background */
} loop;

static int run_items(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const loop *l = argument;
    const uint32_t worker = weft_job_worker_index(job);
    begin += l->first;
    end += l->first;
    if (__builtin_expect(l->scheduler->part_order != NULL, 0) && l->stage != WEFT__NONE)
        weft__part_order_record(l->scheduler, worker, l->stage, begin, end);
    else
        weft__dispatch(&l->scheduler->workers[worker], l->entries, l->entry_count, begin, end);
    return 0;
}

/* The same on a thread that may have tasks of its own to run first: see segment_run.c. */
static int run_items_of_task(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    weft__worker_run_caller_nodes(job);
    return run_items(job, argument, begin, end);
}

static weft_job_context *owner_context(const weft__scheduler *scheduler)
{
    return weft__front(scheduler->world)->host.context;
}

static uint32_t number_of(const weft__scheduler *scheduler, const weft__stage *stage)
{
    return (uint32_t)(stage - scheduler->stages);
}

static void run_inline(weft__scheduler *scheduler, weft__stage *stage, uint32_t begin, uint32_t end)
{
    if (__builtin_expect(scheduler->part_order != NULL, 0))
        weft__part_order_record(scheduler, 0, number_of(scheduler, stage), begin, end);
    else
        weft__dispatch(&scheduler->workers[0], stage->entries, stage->entry_count, begin, end);
}

/* Items [first, end of the stage) on the pool. */
static void run_loop(weft__scheduler *scheduler, weft__stage *stage, uint32_t first)
{
    if (!scheduler->has_frame_hint &&
        weft__front(scheduler->world)->host.context == weft__front(scheduler->world)->host.owner) {
        weft_job_frame_begin(weft__front(scheduler->world)->host.pool);
        scheduler->has_frame_hint = true;
    }
    loop l = {scheduler, stage->entries, stage->entry_count, first, number_of(scheduler, stage)};
    weft_job_for_desc desc = {.fn = run_items,
                              .argument = &l,
                              .count = stage->item_count - first,
                              .cost = &stage->cost,
                              .name = weft__stage_label(stage)};
    weft_result result = weft_job_for(owner_context(scheduler), &desc, NULL);
    if (result == WEFT_OK) return;
    weft__error(scheduler->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "the stage of system '%s' could not run on the pool: %s", stage->systems[0]->name,
                weft_result_text(result));
    weft__scheduler_fail(scheduler, result);
}

/* ---- cost ---- */

static void run_probed(weft__scheduler *scheduler, weft__stage *stage)
{
    uint32_t count = stage->item_count, done = 0;
    uint64_t begin = weft__scheduler_now(scheduler), ns = 0;
    for (uint32_t burst = 1; done < count && ns < WEFT__STAGE_PROBE_NS; burst *= 2) {
        uint32_t end = burst < count - done ? done + burst : count;
        run_inline(scheduler, stage, done, end);
        done = end;
        ns = weft__scheduler_now(scheduler) - begin;
    }
    weft__stage_cost_learn(&stage->probe, ns, done);
    if (done == count) return;
    if (weft__stage_cost_is_small(&stage->probe, count))
        run_inline(scheduler, stage, done, count);
    else
        run_loop(scheduler, stage, done);
}

static void run_shared(weft__scheduler *scheduler, weft__stage *stage)
{
    if (__builtin_expect(stage->probe.frames_to_measure == 0, 0)) {
        run_probed(scheduler, stage);
        return;
    }
    stage->probe.frames_to_measure--;
    if (weft__stage_cost_is_small(&stage->probe, stage->item_count))
        run_inline(scheduler, stage, 0, stage->item_count);
    else
        run_loop(scheduler, stage, 0);
}

/* ---- background ---- */

static void start_background(weft__scheduler *scheduler, weft__stage *stage)
{
    uint32_t count = stage->background_entry_count;
    uint32_t items = stage->background_entries[count].first_item;
    loop *l = weft__arena_take(scheduler->memory, &stage->arena, sizeof *l);
    bool is_started = false;
    /* on a thread that may not wait for it, it would outlive the step */
    bool may_wait = weft__pool_check_owner(owner_context(scheduler)) == WEFT_OK;
    if (l != NULL && may_wait && !scheduler->is_serial &&
        !weft__part_order_rules(scheduler->part_order)) {
        *l = (loop){scheduler, stage->background_entries, count, 0, WEFT__NONE};
        weft_job_for_desc desc = {.fn = run_items,
                                  .argument = l,
                                  .count = items,
                                  .class_ = WEFT_JOB_BACKGROUND,
                                  .name = "background"};
        weft_job_desc job = {.class_ = WEFT_JOB_BACKGROUND, .name = "background"};
        is_started = weft_job_for_submit(owner_context(scheduler), &desc, &job,
                                         &stage->background) == WEFT_OK;
    }
    if (is_started)
        scheduler->background_count++;
    else
        weft__dispatch(&scheduler->workers[0], stage->background_entries, count, 0, items);
}

void weft__stage_join(weft__scheduler *scheduler, uint32_t number)
{
    for (uint32_t i = 0; scheduler->background_count > 0 && i < scheduler->stage_count; i++) {
        weft__stage *stage = &scheduler->stages[i];
        if (stage->background.generation == 0 || stage->join_stage > number) continue;
        weft_result result = weft_job_wait(owner_context(scheduler), stage->background, NULL);
        weft__scheduler_fail(scheduler, result);
        stage->background = (weft_job_handle){0, 0};
        scheduler->background_count--;
    }
}

/* ---- the owner's systems ---- */

void weft__stage_run_main(weft__scheduler *scheduler, weft__stage *stage, uint32_t first,
                          uint32_t last)
{
    weft_world *world = scheduler->world;
    for (uint32_t i = first; i < last; i++) {
        const weft__entry *entry = &stage->main_entries[i];
        weft__system *system = entry->system;
        if (!system->is_active) continue;
        bool may_change = (system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0 && system->query.id == 0;
        weft__front(world)->version = system->context.stamp;
        if (may_change) weft__front(world)->busy = 0;
        weft__dispatch(&scheduler->workers[0], stage->main_entries, stage->main_entry_count,
                       entry->first_item, entry[1].first_item);
        if (!may_change) continue;
        weft__left_loops_end(scheduler, "system", system->name);
        weft__front(world)->busy = WEFT__BUSY_STEPPING;
    }
}

/* ---- ranges and resources ---- */

/* Like a run condition, it looks at the world. */
static uint32_t ask_size(weft__scheduler *scheduler, const weft__system *system)
{
    weft_world *world = scheduler->world;
    uint32_t busy = weft__front(world)->busy;
    weft__front(world)->frame = WEFT__FRAME_ASKS;
    weft__front(world)->busy = WEFT__BUSY_CALLBACK;
    uint32_t size = system->range(world, system->user);
    weft__left_loops_end(scheduler, "range of system", system->name);
    weft__front(world)->busy = busy;
    weft__front(world)->frame = WEFT__FRAME_RUNS;
    return size;
}

/* Sizes are read before the entry they end at is renumbered. */
static void ask_ranges(weft__scheduler *scheduler, weft__entry *entries, uint32_t count)
{
    uint32_t items = 0, begin = entries[0].first_item;
    for (uint32_t i = 0; i < count; i++) {
        weft__entry *entry = &entries[i];
        uint32_t end = entry[1].first_item, size = end - begin;
        weft__system *system = entry->system;
        if (entry->kind == WEFT__ENTRY_RANGE && system->range != NULL)
            size = system->is_active ? ask_size(scheduler, system) : 0;
        entry->first_item = items;
        items += size;
        begin = end;
    }
    entries[count].first_item = items;
}

/* A recording: each task in a span of its own. */
static void run_recorded(weft__scheduler *scheduler, weft__stage *stage)
{
    const weft__segment *segment = &scheduler->segments[stage->segment];
    weft_job_context *owner = owner_context(scheduler);
    for (uint32_t i = 0; i < stage->task_count; i++) {
        const weft__task *task = &stage->tasks[i];
        uint32_t number = (uint32_t)(task - segment->plan->tasks);
        weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "task", number);
        if (task->on_owner)
            weft__stage_run_main(scheduler, stage, task->first_entry, task->end_entry);
        else
            run_inline(scheduler, stage, stage->entries[task->first_entry].first_item,
                       stage->entries[task->end_entry].first_item);
        weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "task", number);
    }
}

void weft__stage_run(weft__scheduler *scheduler, weft__stage *stage)
{
    if (__builtin_expect(scheduler->is_traced_in_detail, 0) && stage->tasks != NULL) {
        run_recorded(scheduler, stage);
        return;
    }
    if (stage->has_ranges) {
        ask_ranges(scheduler, stage->entries, stage->entry_count);
        stage->item_count = stage->entries[stage->entry_count].first_item;
        ask_ranges(scheduler, stage->main_entries, stage->main_entry_count);
        ask_ranges(scheduler, stage->background_entries, stage->background_entry_count);
    }
    if (stage->background_entry_count != 0) start_background(scheduler, stage);
    if (stage->item_count != 0) {
        const uint32_t number = number_of(scheduler, stage);
        bool is_serial = scheduler->is_serial || stage->item_count == 1;
        if (weft__part_order_rules(scheduler->part_order))
            weft__part_order_run(scheduler, number, number + 1, NULL);
        else if (is_serial)
            run_inline(scheduler, stage, 0, stage->item_count);
        else if (scheduler->options.is_always_parallel)
            run_loop(scheduler, stage, 0);
        else
            run_shared(scheduler, stage);
    }
    if (stage->main_entry_count != 0)
        weft__stage_run_main(scheduler, stage, 0, stage->main_entry_count);
}

/* ---- tasks ---- */

weft_result weft__task_run(weft_job_context *job, weft__task *task)
{
    weft__scheduler *scheduler = task->scheduler;
    weft__stage *stage = &scheduler->stages[task->stage];
    if (task->on_owner) {
        if (__builtin_expect(scheduler->part_order != NULL, 0))
            weft__part_order_note(scheduler, 0,
                                  &(weft__part){.stage = task->stage,
                                                .first = task->first_entry,
                                                .end = task->end_entry,
                                                .is_main = true});
        weft__stage_run_main(scheduler, stage, task->first_entry, task->end_entry);
        return WEFT_OK;
    }
    uint32_t first = stage->entries[task->first_entry].first_item;
    uint32_t end = stage->entries[task->end_entry].first_item;
    loop l = {scheduler, stage->entries, stage->entry_count, first, task->stage};
    if (end - first <= 1) {
        if (end != first) run_items(job, &l, 0, 1);
        return WEFT_OK;
    }
    const weft_job_for_desc desc = {.fn = run_items_of_task,
                                    .argument = &l,
                                    .count = end - first,
                                    .cost = &task->cost,
                                    .name = weft__task_label(task)};
    return weft_job_for(job, &desc, NULL);
}
