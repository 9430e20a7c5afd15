/* SPDX-License-Identifier: MIT */
/* observer_run.c: rounds of observers: what differs is found, each observer is called with its
 * part, then what they recorded is played, in the order (observer, batch). The recorders are those
 * of the systems, which are empty at a sync point. While observers are called the world is only
 * read. */
#include "observer_run.h"

#include "diagnose.h"
#include "registry.h"

#include <stdio.h>

/* Calls of one observer. Lives on the owner's stack. */
typedef struct calling {
    weft__scheduler *scheduler;
    weft__observer *observer;
    const weft__noticed *noticed;
    uint32_t position;
} calling;

static const weft__noticed *noticed_of(const weft__observer *observer)
{
    const weft__observer_watch *watch = observer->watch;
    bool is_any = watch->component == 0;
    switch ((weft_observer_event)observer->desc.on) {
    case WEFT_ON_ADDED:
        return &watch->added;
    case WEFT_ON_REMOVED:
        return &watch->removed;
    case WEFT_ON_CHANGED:
        return &watch->changed;
    case WEFT_ON_CREATED:
        return is_any ? &watch->added : &watch->created;
    case WEFT_ON_DESTROYED:
    default:
        return is_any ? &watch->removed : &watch->destroyed;
    }
}

/* Entities [begin, end) as batch `number`. */
static void call(const calling *c, uint32_t worker, uint32_t number, uint32_t begin, uint32_t end)
{
    const weft__observer_watch *watch = c->observer->watch;
    const weft__value_line *values = c->noticed->values.at;
    weft_recorder *commands = c->scheduler->recorders[worker];
    weft__recorder_key(commands, (uint64_t)c->position << 32 | number);
    weft_observation observation = {
        .world = watch->world,
        .commands = commands,
        .component = c->observer->desc.component,
        .event = c->observer->desc.on,
        .count = end - begin,
        .entities = c->noticed->entities.at + begin,
        .values = values == NULL ? NULL : values->bytes + (size_t)begin * watch->bytes};
    const weft__observing observing = {c->scheduler, c->observer->name, worker, number};
    const weft__observing *before = WEFT_IS_CHECKED ? weft__diagnose_observe(&observing) : NULL;
    c->observer->desc.run(&observation, c->observer->desc.user);
    weft__recorder_key(commands, UINT64_MAX); /* what comes late is of no observer or system */
    if (!WEFT_IS_CHECKED) return;
    weft__diagnose_observe(before);
    commands->is_closed = true;
}

static int call_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const calling *c = argument;
    uint32_t worker = job == NULL ? 0 : weft_job_worker_index(job);
    const uint32_t none = 0; /* errors of several threads are not kept */
    weft__callback_error error = {.world = c->scheduler->world, .current = &none};
    weft__callback_error *before = weft__error_divert(&error);
    for (uint32_t i = begin; i < end; i++) {
        uint32_t first = i * WEFT__OBSERVER_BATCH, last = first + WEFT__OBSERVER_BATCH;
        call(c, worker, i, first,
             last < c->noticed->entities.count ? last : c->noticed->entities.count);
    }
    weft__error_divert(before);
    return 0;
}

static bool is_serial(const weft__scheduler *scheduler)
{
    return scheduler->worker_count == 1 || scheduler->options.without_parallel;
}

static void call_all(calling *c)
{
    uint32_t count = c->noticed->entities.count;
    if (!c->observer->desc.is_parallel) {
        call(c, 0, 0, 0, count);
        return;
    }
    uint32_t batches = (count - 1) / WEFT__OBSERVER_BATCH + 1;
    weft_job_for_desc desc = {.fn = call_part,
                              .argument = c,
                              .count = batches,
                              .cost = &c->observer->cost,
                              .name = c->observer->name};
    weft_job_context *job = weft__front(c->scheduler->world)->host.context;
    bool is_alone = is_serial(c->scheduler) || batches == 1;
    if (is_alone || weft_job_for(job, &desc, NULL) != WEFT_OK) /* refused: nothing was run */
        call_part(NULL, c, 0, batches);
}

/* ---- one round ---- */

static weft_result scan(const weft__scheduler *scheduler, bool *is_news)
{
    weft__observers *observers = scheduler->observers;
    const weft__observer_watch *all = NULL;
    bool is_done = true;
    for (uint32_t i = 0; is_done && i < observers->watches.count; i++) {
        weft__observer_watch *watch = observers->watches.at[i];
        is_done = weft__observer_watch_scan(watch, all);
        if (watch->component == 0) all = watch;
    }
    *is_news = false;
    for (uint32_t i = 0; i < observers->all.count; i++)
        *is_news = *is_news || noticed_of(observers->all.at[i])->entities.count != 0;
    if (is_done) return WEFT_OK;
    return weft__error(scheduler->world, WEFT_OUT_OF_MEMORY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "observers: out of memory; what was found is told by the next run: free "
                       "memory and try again");
}

static uint64_t recorded(const weft__scheduler *scheduler)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft_recorder *commands = scheduler->recorders[i];
        count += commands->segment_count + (commands->failure.code != WEFT_OK);
    }
    return count;
}

/* Calls all observers; *first: the first that recorded, or NULL. The error of one that left a loop
 * open. */
static weft_result call_round(weft__scheduler *scheduler, const weft__observer **first)
{
    weft_result result = WEFT_OK;
    weft__observers *observers = scheduler->observers;
    weft__world_front *front = weft__front(scheduler->world);
    uint32_t busy = front->busy;
    front->busy = WEFT__BUSY_OBSERVERS;
    *first = NULL;
    for (uint32_t i = 0; i < observers->all.count; i++) {
        calling c = {scheduler, observers->all.at[i], noticed_of(observers->all.at[i]), i};
        if (c.noticed->entities.count == 0) continue;
        call_all(&c);
        weft_result left = weft__left_loops_end(scheduler, "observer", c.observer->name);
        if (result == WEFT_OK) result = left;
        if (*first == NULL && recorded(scheduler) != 0) *first = observers->all.at[i];
    }
    front->busy = busy;
    return result;
}

static void told(const weft__observers *observers)
{
    for (uint32_t i = 0; i < observers->watches.count; i++)
        weft__observer_watch_told(observers->watches.at[i]);
}

/* The name behind the key of a command, for errors. `user`: the scheduler. */
static const char *observer_name(const void *user, uint64_t key)
{
    const weft__scheduler *scheduler = user;
    uint32_t position = (uint32_t)(key >> 32);
    return position < scheduler->observers->all.count ? scheduler->observers->all.at[position]->name
                                                      : NULL;
}

static weft_result play(weft__scheduler *scheduler)
{
    weft_world *world = scheduler->world;
    weft_job_context *job = is_serial(scheduler) ? NULL : weft__front(world)->host.context;
    weft__playback_result played;
    weft__playback_desc desc = {.world = world,
                                .job = job,
                                .recorders = scheduler->recorders,
                                .count = scheduler->worker_count,
                                .name = observer_name,
                                .user = scheduler};
    weft_result result = weft__playback_run(&desc, &played);
    scheduler->stats.commands += played.commands;
    scheduler->stats.commands_skipped += played.skipped;
    if (result == WEFT_OK && weft__relations_any(world))
        result = weft__relations_settle_all(world, job, false);
    return result;
}

static weft_result cycle_error(const weft__scheduler *scheduler, const weft__observer *const *chain)
{
    char text[WEFT__OBSERVER_ROUNDS * 31 + 1]; /* long names are cut: all rounds are named */
    size_t used = 0;
    for (uint32_t i = 0; i < WEFT__OBSERVER_ROUNDS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.28s", i == 0 ? "" : " > ",
                                 chain[i]->name);
    return weft__error(scheduler->world, WEFT_CYCLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "observers still find changes after %u rounds: %s: let one of them record "
                       "only what is not yet so",
                       WEFT__OBSERVER_ROUNDS, text);
}

weft_result weft__observers_play(weft__scheduler *scheduler)
{
    weft__observers *observers = scheduler->observers;
    const weft__observer *chain[WEFT__OBSERVER_ROUNDS];
    for (uint32_t i = 0; scheduler->is_restored && i < observers->watches.count; i++)
        observers->watches.at[i]->is_suspect = true;
    scheduler->is_restored = false;
    weft_result left = WEFT_OK;
    for (uint32_t round = 0;; round++) {
        bool is_news;
        weft_result result = scan(scheduler, &is_news);
        if (result != WEFT_OK) return result;
        bool is_over = round == WEFT__OBSERVER_ROUNDS;
        if (is_news && !is_over) result = call_round(scheduler, &chain[round]);
        if (left == WEFT_OK) left = result;
        told(observers);
        if (!is_news) return left;
        if (is_over) return cycle_error(scheduler, chain);
        if (chain[round] == NULL) return left; /* nothing was recorded: nothing changes */
        result = play(scheduler);
        if (result != WEFT_OK) return result;
    }
}

void weft__observers_free(weft__scheduler *scheduler)
{
    weft__observers *observers = scheduler->observers;
    weft__memory *memory = scheduler->memory;
    if (observers == NULL) return;
    for (uint32_t i = 0; i < observers->all.count; i++)
        weft__free(memory, WEFT__MEMORY_SYSTEMS, observers->all.at[i], 1,
                   sizeof *observers->all.at[i], 8);
    for (uint32_t i = 0; i < observers->watches.count; i++) {
        weft__observer_watch_fini(observers->watches.at[i]);
        weft__free(memory, WEFT__MEMORY_SYSTEMS, observers->watches.at[i], 1,
                   sizeof *observers->watches.at[i], 8);
    }
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &observers->all);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &observers->watches);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, observers, 1, sizeof *observers, 8);
    scheduler->observers = NULL;
}
