/* SPDX-License-Identifier: MIT */
/* sync_point.c: playback of what systems recorded, between stages and at the end of a pass; then
 * relations are settled and observers run.
 *
 * Commands are counted for the systems that recorded them; checked builds compare them with what
 * these declared. */
#include "sync_point.h"

#include "diagnose.h"
#include "dispatch.h"
#include "ecs_engine.h"
#include "hash_log.h"
#include "observer_run.h"
#include "registry.h"

#define PASSING_MOST 32u /* background systems under way that a sync point is compared with */

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
            const uint32_t position = (uint32_t)(segment->key >> 32);
            if (position >= scheduler->ordered_count) continue; /* by a recorder that was kept */
            const weft__system *system = scheduler->ordered[position];
            weft__system_tally *tally = &scheduler->workers[i].tallies[weft__system_slot(system)];
            if (tally->frame != scheduler->pass)
                *tally = (weft__system_tally){.frame = scheduler->pass};
            tally->commands += segment->count;
            if (WEFT_IS_CHECKED) weft__diagnose_effects(scheduler, segment);
        }
    }
}

static weft__playback_desc describe(const weft__scheduler *scheduler, weft__playback_costs *costs)
{
    bool is_serial = scheduler->is_serial || weft__part_order_rules(scheduler->part_order);
    return (weft__playback_desc){.world = scheduler->world,
                                 .job =
                                     is_serial ? NULL : weft__front(scheduler->world)->host.context,
                                 .recorders = scheduler->recorders,
                                 .count = scheduler->worker_count,
                                 .costs = costs,
                                 .name = recorder_name,
                                 .user = scheduler};
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
    const weft__playback_desc desc = describe(scheduler, costs);
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

static void run_observers(weft__scheduler *scheduler, uint32_t version)
{
    weft_world *world = scheduler->world;
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

/* ---- background systems that pass it ---- */

/* The queries of the background systems that are under way; false: more than `capacity`. */
static bool list_queries(const weft__scheduler *scheduler, const weft__query **queries,
                         uint32_t capacity, uint32_t *count)
{
    for (uint32_t i = 0; i < scheduler->stage_count; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        for (uint32_t k = 0; k < stage->system_count; k++) {
            const weft__system *system = stage->systems[k];
            if (stage->background.generation == 0 || !system->passes || system->query.id == 0)
                continue;
            if (*count == capacity) return false;
            queries[(*count)++] = system->context.query;
        }
    }
    return true;
}

/* Waits for them unless what is played leaves their rows as they are. What observers record and
 * what relations lead to is not known before, and the log hashes the world. */
static void let_pass(weft__scheduler *scheduler)
{
    const weft__playback_desc desc = describe(scheduler, NULL);
    const weft__query *queries[PASSING_MOST];
    uint32_t count = 0;
    bool is_open = scheduler->observers != NULL || scheduler->hash_log != NULL ||
                   weft__relations_any(scheduler->world);
    if (is_open || !list_queries(scheduler, queries, PASSING_MOST, &count) ||
        !weft__playback_spares(&desc, queries, count))
        weft__stage_join(scheduler, UINT32_MAX);
}

void weft__sync_point_run(weft__scheduler *scheduler, uint32_t version, weft__playback_costs *costs)
{
    weft_world *world = scheduler->world;
    weft__note(weft__front(world)->host.context, WEFT_JOB_EVENT_MARK, "sync point", UINT32_MAX);
    if (scheduler->background_count != 0) let_pass(scheduler);
    if (has_commands(scheduler)) {
        weft__hash_log_commands(scheduler);
        play_commands(scheduler, version, costs);
        weft__hash_log_playback(scheduler, version);
    }
    if (weft__relations_any(world)) settle_relations(scheduler, version);
    if (scheduler->observers != NULL) run_observers(scheduler, version);
}
