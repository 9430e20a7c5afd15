/* SPDX-License-Identifier: MIT */
/* sync_point.c: playback of what systems recorded, between stages and at the end of a pass; then
 * relations are settled and observers run.
 *
 * Commands are counted for the systems that recorded them; checked builds compare them with what
 * these declared. */
#include "sync_point.h"

#include "diagnose.h"
#include "ecs_engine.h"
#include "hash_log.h"
#include "observer_run.h"
#include "part_order.h"
#include "registry.h"
#include "stage_run.h"

/* The name behind the key of a command, for errors. `user`: the scheduler. */
static const char *recorder_name(const void *user, uint64_t key)
{
    const weft__scheduler *scheduler = user;
    uint32_t position = (uint32_t)(key >> 32);
    return position < scheduler->ordered_count ? scheduler->ordered[position]->name : NULL;
}

static bool has_commands(const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft_recorder *commands = scheduler->recorders[i];
        if (commands->segment_count != 0 || commands->failure.code != WEFT_OK) return true;
    }
    return false;
}

/* Counts commands per recording system; checked builds compare with what it declared. */
static void tally_commands(weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft_recorder *commands = scheduler->recorders[i];
        if (WEFT_IS_CHECKED) weft__recorder_seal(commands);
        for (uint32_t k = 0; k < commands->segment_count; k++) {
            const weft__command_segment *segment = &commands->segments[k];
            const weft__system *system = scheduler->ordered[segment->key >> 32];
            weft__system_tally *tally = &scheduler->workers[i].tallies[weft__system_slot(system)];
            if (tally->frame != scheduler->pass)
                *tally = (weft__system_tally){.frame = scheduler->pass};
            tally->commands += segment->count;
            if (WEFT_IS_CHECKED) weft__diagnose_effects(scheduler, i, segment);
        }
    }
}

static void play_commands(weft__scheduler *scheduler, uint32_t version, weft__playback_costs *costs)
{
    weft_world *world = scheduler->world;
    weft_job_context *owner = weft__front(world)->host.context;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "playback", UINT32_MAX);
    tally_commands(scheduler);
    uint64_t begin = weft__scheduler_now(scheduler);
    uint32_t busy = weft__front(world)->busy;
    weft__front(world)->busy = 0;
    weft__front(world)->version = version;
    weft__playback_result played;
    bool is_serial = scheduler->is_serial || weft__part_order_rules(scheduler->part_order);
    weft__playback_desc desc = {.world = world,
                                .job = is_serial ? NULL : weft__front(world)->host.context,
                                .recorders = scheduler->recorders,
                                .count = scheduler->worker_count,
                                .costs = costs,
                                .name = recorder_name,
                                .user = scheduler};
    weft_result result = weft__playback_run(&desc, &played);
    weft__front(world)->busy = busy;
    weft__scheduler_fail(scheduler, result);
    scheduler->stats.commands += played.commands;
    scheduler->stats.commands_skipped += played.skipped;
    scheduler->stats.playback_ns += weft__scheduler_now(scheduler) - begin;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "playback", 0);
}

/* What follows from fields that systems and commands wrote. */
static void settle_relations(weft__scheduler *scheduler, uint32_t version)
{
    weft_world *world = scheduler->world;
    weft_job_context *owner = weft__front(world)->host.context;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "relations", UINT32_MAX);
    uint32_t busy = weft__front(world)->busy;
    weft__front(world)->busy = 0;
    weft__front(world)->version = version;
    weft_result result =
        weft__relations_settle_all(world, scheduler->is_serial ? NULL : owner, false);
    weft__front(world)->busy = busy;
    weft__scheduler_fail(scheduler, result);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "relations", 0);
}

/* What observers record is not known to the schedule: no system runs beside it. */
static void run_observers(weft__scheduler *scheduler, uint32_t version)
{
    weft_world *world = scheduler->world;
    if (scheduler->background_count != 0) weft__stage_join(scheduler, UINT32_MAX);
    weft_job_context *owner = weft__front(world)->host.context;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "observers", UINT32_MAX);
    uint32_t busy = weft__front(world)->busy;
    weft__front(world)->busy = 0;
    weft__front(world)->version = version;
    weft_result result = weft__observers_play(scheduler);
    weft__front(world)->busy = busy;
    weft__scheduler_fail(scheduler, result);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "observers", 0);
}

void weft__sync_point_run(weft__scheduler *scheduler, uint32_t version, weft__playback_costs *costs)
{
    weft_world *world = scheduler->world;
    weft__note(weft__front(world)->host.context, WEFT_JOB_EVENT_MARK, "sync point", UINT32_MAX);
    if (has_commands(scheduler)) {
        weft__hash_log_commands(scheduler);
        play_commands(scheduler, version, costs);
        weft__hash_log_playback(scheduler, version);
    }
    if (weft__relations_any(world)) settle_relations(scheduler, version);
    if (scheduler->observers != NULL) run_observers(scheduler, version);
}
