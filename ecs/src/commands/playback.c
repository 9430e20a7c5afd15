/* SPDX-License-Identifier: MIT */
/* playback.c: playback: segments in key order, ids for created entities, then the commands.
 *
 *   1. sort     segments of all recorders, sorted by key (unique: a slice has one recorder);
 *   2. name     entities created by commands, instances too, get their ids, in key order, before
 *               anything happens, so that every deferred handle can be replaced wherever it stands;
 *   3. link     private chunks filled by jobs join the world, in key order (playback_link.c);
 *   4. play     instances come first where that makes no difference (playback_instances.c); long
 *               runs of creations, destructions and changes of single entities are folded and
 *               moved in parallel (fold_rows.c); the rest goes one by one through the immediate
 *               operations (playback_one.c).
 * Which way is taken depends on the commands only, never on the number of workers. */
#include "playback.h"

#include "command_shared.h"
#include "error.h"
#include "fold.h"
#include "host.h"
#include "playback_error.h"
#include "playback_instances.h"
#include "playback_link.h"
#include "playback_one.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

#define FOLD_MOST (UINT64_C(1) << 30) /* references to commands are 32-bit numbers */
/* Build-time parameter, so that tests and the explorer reach both ways. */
#ifndef WEFT__MERGE_MOST
#define WEFT__MERGE_MOST 64u
#endif
#define MERGE_MOST WEFT__MERGE_MOST /* ascending runs of segments that are merged; above: sorted */

/* ---- 1. sort ---- */

static int compare_segments(const void *left, const void *right)
{
    const weft__command_segment *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Segments of one recorder and one system with ascending keys, between which there may be segments
 * of other systems; lives on the stack of sort_segments. */
typedef struct ascending {
    const weft__command_segment *at;
    const weft__command_segment *last;
    uint32_t recorder;
} ascending;

/* The system that recorded a segment. */
static uint32_t recorded_by(const weft__command_segment *segment)
{
    return (uint32_t)(segment->key >> 32);
}

/* The run among runs[0..count) that a segment goes on with; count: none. The last one of a system
 * is the only one that can, and systems of one stage record in turn. */
static uint32_t run_before(const ascending *runs, uint32_t count,
                           const weft__command_segment *segment)
{
    for (uint32_t i = count; i-- > 0;)
        if (recorded_by(runs[i].last) == recorded_by(segment))
            return runs[i].last->key <= segment->key ? i : count;
    return count;
}

/* Lists the ascending runs of all recorders: one of each system, and one more for every part of a
 * loop that a worker stole. Returns their number, above MERGE_MOST when they do not fit. */
static uint32_t runs_list(const weft__playback *playback, ascending *runs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        const weft_recorder *recorder = playback->recorders[i];
        const uint32_t first = count;
        for (uint32_t k = 0; k < recorder->segment_count; k++) {
            const weft__command_segment *segment = &recorder->segments[k];
            uint32_t run = first + run_before(runs + first, count - first, segment);
            if (run == MERGE_MOST) return MERGE_MOST + 1;
            if (run == count) runs[count++] = (ascending){segment, NULL, i};
            runs[run].last = segment;
        }
    }
    return count;
}

/* Goes on to the next segment of a run. False: there is none. */
static bool run_next(ascending *run)
{
    if (run->at == run->last) return false;
    const uint32_t system = recorded_by(run->at);
    do run->at++;
    while (recorded_by(run->at) != system);
    return true;
}

/* Merges the runs. Keys are unique, and neighbours mostly come from one run: what lies before the
 * head of every other run is copied without comparing with it. */
static void runs_merge(ascending *runs, uint32_t count, weft__command_segment *out)
{
    while (count != 0) {
        uint32_t lowest = 0;
        uint64_t limit = UINT64_MAX;
        for (uint32_t i = 1; i < count; i++) {
            uint64_t key = runs[i].at->key, low = runs[lowest].at->key;
            uint64_t higher = key < low ? low : key;
            if (key < low) lowest = i;
            if (higher < limit) limit = higher;
        }
        ascending *run = &runs[lowest];
        bool has_more;
        do {
            *out = *run->at;
            out++->recorder = run->recorder;
            has_more = run_next(run);
        } while (has_more && run->at->key < limit);
        if (!has_more) *run = runs[--count];
    }
}

/* So many runs that sorting is as good. */
static void sort_shuffled(weft__playback *playback, uint32_t count)
{
    weft__command_segment *at = playback->segments;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        const weft_recorder *recorder = playback->recorders[i];
        for (uint32_t k = 0; k < recorder->segment_count; k++, at++) {
            *at = recorder->segments[k];
            at->recorder = i;
        }
    }
    qsort(playback->segments, count, sizeof playback->segments[0], compare_segments);
}

/* What recorder.h says of a recorder holds. */
static bool is_sound(const weft_recorder *recorder)
{
    uint32_t created = 0;
    for (uint32_t i = 0; i < recorder->segment_count; i++) {
        if (recorder->segments[i].created_first != created) return false;
        created += recorder->segments[i].created_count;
    }
    const weft__command_page *page = recorder->page;
    const char *data = page == NULL ? NULL : (const char *)page->data;
    bool is_in_page = page == NULL || (data <= recorder->at && recorder->at <= recorder->end &&
                                       recorder->end == data + page->bytes);
    bool is_open_last = recorder->open == NULL ||
                        recorder->open == &recorder->segments[recorder->segment_count - 1];
    return created == recorder->created && is_in_page && is_open_last &&
           recorder->segment_count <= recorder->segment_capacity &&
           (recorder->open == NULL || recorder->rows_first <= recorder->rows) &&
           recorder->epoch != 0 && recorder->epoch % 2 == 0;
}

static weft_result sort_segments(weft__playback *playback)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        WEFT_ASSERT(is_sound(playback->recorders[i]));
        weft__recorder_seal(playback->recorders[i]);
        count += playback->recorders[i]->segment_count;
    }
    if (count == 0) return WEFT_OK;
    playback->segments = weft__scratch_take(playback->world, WEFT__SCRATCH_SEGMENTS, count,
                                            sizeof playback->segments[0]);
    if (playback->segments == NULL) return weft__error_memory(playback->world, "playback");
    ascending runs[MERGE_MOST];
    uint32_t run_count = runs_list(playback, runs);
    if (run_count <= MERGE_MOST)
        runs_merge(runs, run_count, playback->segments);
    else
        sort_shuffled(playback, count);
    playback->segment_count = count;
    for (uint32_t i = 0; i < count; i++) playback->result.commands += playback->segments[i].count;
    return WEFT_OK;
}

/* ---- 2. name ---- */

static weft_result make_resolved(weft_world *world, weft_recorder *recorder)
{
    if (!weft__list_room(&world->memory, WEFT__MEMORY_COMMANDS, &recorder->resolved,
                         &recorder->resolved_capacity, recorder->created,
                         sizeof recorder->resolved[0]))
        return weft__error_memory(world, "playback");
    if (recorder->created != 0)
        memset(recorder->resolved, 0, recorder->created * sizeof recorder->resolved[0]);
    return WEFT_OK;
}

static weft_result name_all(weft__playback *playback)
{
    weft_world *world = playback->world;
    uint32_t created = 0;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        weft_result result = make_resolved(world, playback->recorders[i]);
        if (result != WEFT_OK) return result;
        created += playback->recorders[i]->created;
    }
    if (created == 0) return WEFT_OK;
    weft_result result = weft__directory_reserve_owner(&world->directory, created);
    if (result != WEFT_OK)
        return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "playback: no room for %u created entities", created);
    playback->is_named = true;
    for (uint32_t i = 0; i < playback->segment_count; i++) {
        const weft__command_segment *segment = &playback->segments[i];
        const weft_recorder *recorder = playback->recorders[segment->recorder];
        weft__directory_allocate_owner(&world->directory, segment->created_count,
                                       recorder->resolved + segment->created_first, NULL, 0);
    }
    return WEFT_OK;
}

/* After a failure: ids given to entities that were never placed die. A recorder whose list
 * could not grow has given no ids. */
static void forget_unplaced(weft__playback *playback)
{
    weft_world *world = playback->world;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        const weft_recorder *recorder = playback->recorders[i];
        for (uint32_t k = 0; k < recorder->created && k < recorder->resolved_capacity; k++) {
            uint32_t location;
            weft_entity id = recorder->resolved[k];
            if (weft__directory_find(&world->directory, id, &location) && location == 0)
                weft__directory_free_owner(&world->directory, id);
        }
    }
}

/* In key order, so that the store does not depend on which worker recorded. Goes on after a
 * failure, also of what came before (`result`): what is held is released at the end. */
static weft_result ready_shared(const weft__playback *playback, bool are_rows, weft_result result)
{
    const weft__playback *named = result == WEFT_OK ? playback : NULL;
    bool is_held = true;
    for (uint32_t i = 0; i < playback->segment_count; i++)
        is_held &= weft__command_ready_shared(playback->world, named, &playback->segments[i],
                                              are_rows) == WEFT_OK;
    if (is_held || result != WEFT_OK) return result;
    return weft__error_memory(playback->world, "a shared value");
}

/* ---- 4. play ---- */

/* One past the last segment from `first` on that has none of the traits; counts their commands. */
static uint32_t end_without(const weft__playback *playback, uint32_t first, uint32_t traits,
                            uint64_t *commands)
{
    uint32_t end = first;
    *commands = 0;
    while (end < playback->segment_count && (playback->segments[end].traits & traits) == 0 &&
           *commands + playback->segments[end].count < FOLD_MOST)
        *commands += playback->segments[end++].count;
    return end;
}

/* One past the last of the segments from `first` on that have one of the traits. */
static uint32_t end_with(const weft__playback *playback, uint32_t first, uint32_t traits)
{
    uint32_t end = first + 1;
    while (end < playback->segment_count && (playback->segments[end].traits & traits) != 0) end++;
    return end;
}

static weft_result play_all(weft__playback *playback)
{
    for (uint32_t i = 0; i < playback->segment_count;) {
        uint32_t alone = WEFT__SEGMENT_HAS_ALONE;
        uint64_t commands, made;
        uint32_t end = end_without(playback, i, alone, &commands);
        weft_result result = weft__playback_instances(playback, i, end, &made);
        if (made == 0) { /* none, or where they stand */
            alone |= WEFT__SEGMENT_HAS_INSTANCES;
            end = end_without(playback, i, alone, &commands);
        }
        bool is_played = made != 0 && made == commands;
        if (result == WEFT_OK && commands - made >= WEFT__FOLD_LEAST)
            result = weft__fold_play(playback, &playback->segments[i], end - i, &is_played);
        if (end == i) end = end_with(playback, i, alone);
        if (result == WEFT_OK && !is_played) result = weft__playback_runs(playback, i, end);
        if (result != WEFT_OK) return result;
        i = end;
    }
    return WEFT_OK;
}

/* What recorders could not record comes first in the report: the rest is still played. */
static weft_result report_failures(const weft__playback *playback)
{
    const weft__command_failure *first = NULL;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        const weft__command_failure *failure = &playback->recorders[i]->failure;
        if (failure->code != WEFT_OK && (first == NULL || failure->key < first->key))
            first = failure;
    }
    if (first == NULL) return WEFT_OK;
    if (first->code == WEFT_LIMIT)
        weft__error_limit(playback->world, WEFT_LIMIT, "creation from jobs");
    else
        weft__error(playback->world, first->code, first->entity,
                    weft__component(playback->world, first->component), "%s",
                    weft__playback_refusal(playback->world, first));
    return weft__playback_error(playback, first->key, first->op, first->entity, first->component,
                                first->code);
}

/* What is known of the costs of a playback: its items are segments, chunks and tasks, so that what
 * they cost grows with the commands. */
static weft__playback_costs *costs_of(weft__playback_costs *costs, uint64_t commands)
{
    if (costs == NULL) return NULL;
    bool is_alike = commands / 2 <= costs->commands && costs->commands / 2 <= commands;
    costs->commands = commands;
    return is_alike ? costs : NULL;
}

weft_result weft__playback_run(const weft__playback_desc *desc, weft__playback_result *out)
{
    weft_world *world = desc->world;
    weft__playback playback = {.world = world,
                               .job = desc->job,
                               .recorders = desc->recorders,
                               .recorder_count = desc->count,
                               .name = desc->name,
                               .user = desc->user};
    WEFT_ASSERT(world->front.busy == 0);
    bool is_linked = false;
    weft_result result = sort_segments(&playback);
    if (result == WEFT_OK && playback.segment_count != 0) {
        playback.costs = costs_of(desc->costs, playback.result.commands);
        result = ready_shared(&playback, true, name_all(&playback));
        if (result == WEFT_OK) result = weft__playback_link(&playback);
        is_linked = result == WEFT_OK;
        result = ready_shared(&playback, false, result);
        if (result == WEFT_OK) result = play_all(&playback);
        if (result != WEFT_OK && playback.is_named) forget_unplaced(&playback);
    }
    if (result == WEFT_OK) result = report_failures(&playback);
    for (uint32_t i = 0; i < desc->count; i++) weft__recorder_reset(desc->recorders[i], !is_linked);
    if (out != NULL) *out = playback.result;
    return result;
}

/* ---- recorders outside systems ---- */

weft_result weft_recorder_play(weft_recorder *commands)
{
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    weft_world *world = commands->world;
    if (commands->in_set)
        return weft__error(
            world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
            "weft_recorder_play: the step plays the recorders of systems: call weft_world_step");
    weft_result result = weft__host_begin(world, "weft_recorder_play");
    if (result != WEFT_OK) return result;
    weft__playback_desc desc = {
        .world = world, .job = world->front.host.context, .recorders = &commands, .count = 1};
    result = weft__idle(world, "weft_recorder_play");
    if (result == WEFT_OK) result = weft__playback_run(&desc, NULL);
    weft_result mistake = WEFT_IS_CHECKED ? weft__mistake_report(world) : WEFT_OK;
    weft__host_end(world);
    return result == WEFT_OK ? mistake : result;
}
