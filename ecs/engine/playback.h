/* SPDX-License-Identifier: MIT */
/* playback.h: playback of recorded commands, in key order: the scheduler plays all its recorders at
 * a sync point, weft_recorder_play plays one. The steps are in playback.c. Owner. */
#pragma once

#include "host.h"
#include "query_state.h"
#include "recorder.h"

/* What one playback did. A value. */
typedef struct weft__playback_result {
    uint64_t commands;
    uint64_t skipped; /* their entity had died */
} weft__playback_result;

/* What playback asks the owner of the recorders: the name behind a key, for errors. */
typedef const char *(*weft__playback_name_fn)(const void *user, uint64_t key);

/* The steps of a playback that are loops on the pool. */
typedef enum weft__playback_step {
    WEFT__PLAYBACK_IDS,
    WEFT__PLAYBACK_ENTER,
    WEFT__PLAYBACK_LIST,
    WEFT__PLAYBACK_ALLOW,
    WEFT__PLAYBACK_NOTE,
    WEFT__PLAYBACK_COLLECT,
    WEFT__PLAYBACK_FOLD,
    WEFT__PLAYBACK_COPY,
    WEFT__PLAYBACK_CLOSE,
    WEFT__PLAYBACK_STEPS
} weft__playback_step;

/* What the loops of playbacks at one place have cost: a step that gains nothing from a second
 * worker is not shared again. All zero: unknown. Owner: the caller of weft__playback_run. */
typedef struct weft__playback_costs {
    uint64_t commands; /* of the last playback: one of quite another size measures itself */
    weft_job_cost steps[WEFT__PLAYBACK_STEPS];
} weft__playback_costs;

/* What to play: lives on the caller's stack, borrowed for the call. */
typedef struct weft__playback_desc {
    weft_world *world;
    weft_job_context *job; /* the owner's context; NULL: serial */
    weft_recorder *const *recorders;
    uint32_t count;
    weft__playback_costs *costs; /* learned; NULL: loops measure themselves */
    weft__playback_name_fn name; /* may be NULL */
    const void *user;
} weft__playback_desc;

/* One playback. On the owner's stack. Once sorted: segments ascend by key; segment_count = sum over
 * the recorders. */
typedef struct weft__playback {
    weft_world *world;
    weft_job_context *job; /* NULL: serial */
    weft_recorder *const *recorders;
    uint32_t recorder_count;
    weft__playback_costs *costs; /* NULL: unknown */
    weft__playback_name_fn name;
    const void *user;
    weft__command_segment *segments; /* all, in key order */
    uint32_t segment_count;
    bool is_named; /* created entities have ids, and no rows yet */
    weft__playback_result result;
} weft__playback;

/* What a step has cost so far; NULL: unknown. */
static inline weft_job_cost *weft__playback_cost(const weft__playback *playback,
                                                 weft__playback_step step)
{
    return playback->costs == NULL ? NULL : &playback->costs->steps[step];
}

/* Runs a part over [0, count), on the pool if there is one. Each part writes what is its own; the
 * next step reads it. False: a part said that the commands cannot be played this way. Owner. */
static inline bool weft__playback_for(const weft__playback *playback, weft__playback_step step,
                                      weft_job_for_fn fn, void *argument, uint32_t count)
{
    return weft__host_for(playback->world, playback->job,
                          &(weft_job_for_desc){.fn = fn,
                                               .argument = argument,
                                               .count = count,
                                               .grain = 1,
                                               .cost = weft__playback_cost(playback, step),
                                               .name = "playback"});
}

/* The entity a handle means: itself, or what a deferred one became; null when that failed. */
static inline weft_entity weft__playback_resolve(const weft__playback *playback,
                                                 const weft__command_segment *segment,
                                                 weft_entity entity)
{
    if (!weft__entity_is_deferred(entity)) return entity;
    const weft_recorder *recorder = playback->recorders[segment->recorder];
    if (entity.version != recorder->epoch) return WEFT__NO_ENTITY;
    if ((entity.index & WEFT__ROW_HANDLE) != 0) {
        uint32_t row = entity.index & ~WEFT__ROW_HANDLE;
        return row < recorder->rows && recorder->rows_asked ? recorder->row_entities[row]
                                                            : WEFT__NO_ENTITY;
    }
    if (entity.index >= recorder->created) return WEFT__NO_ENTITY;
    return recorder->resolved[entity.index];
}

/* Plays the recorders' commands in key order and empties them. Owner, world idle (busy == 0). The
 * error names the command and its recorder; what came before it has taken effect, what comes after
 * it has not and is dropped. `out` may be NULL. */
weft_result weft__playback_run(const weft__playback_desc *desc, weft__playback_result *out);

/* True: playing the commands changes no chunk and no value of the archetypes that the queries match
 * now. False: it does, it may, or finding out would take too long. Seals the recorders. Owner,
 * before weft__playback_run. Costs a look-up a command. */
bool weft__playback_spares(const weft__playback_desc *desc, const weft__query *const *queries,
                           uint32_t query_count);
