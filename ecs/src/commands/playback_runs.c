/* SPDX-License-Identifier: MIT */
/* playback_runs.c: runs of commands of one kind by array operations. Where runs end depends on the
 * commands and on where their targets are, never on workers:
 *
 *   destroy      what is alive, whatever its archetype
 *   set shared   one component; rows in the order of the layout, so that none stands twice; those
 *                of one value form an array, by its first appearance
 *   instantiate  one source, in one segment; the roots' deferred handles are consecutive */
#include "playback_runs.h"

#include "archetype_state.h"
#include "entity_value.h"
#include "instantiate.h"
#include "playback_error.h"
#include "playback_one.h"

#include <string.h>

#define RUN_MOST 1024u  /* on the stack: a run allocates nothing */
#define VALUES_MOST 64u /* different ones of a run */

/* Reads the commands of many segments. On the stack of weft__playback_runs.
 *   command == NULL: the end; else it lies in segments[segment] */
typedef struct reading {
    weft__playback *playback;
    uint32_t segment, end;
    weft__command_cursor cursor;
    weft__command *command;
    weft_entity entities[RUN_MOST]; /* of the run */
    uint8_t values[RUN_MOST];       /* which of the different values an entity gets */
} reading;

static const weft__command_segment *segment_of(const reading *r)
{
    return &r->playback->segments[r->segment];
}

static void step(reading *r)
{
    r->command = weft__command_next(&r->cursor);
    while (r->command == NULL && ++r->segment < r->end) {
        r->cursor = weft__command_begin(segment_of(r));
        r->command = weft__command_next(&r->cursor);
    }
}

static void advance(reading *r)
{
    do {
        step(r);
    } while (r->command != NULL && weft__command_is_made(r->command));
}

/* A command of a run, for errors. A value. */
typedef struct origin {
    uint64_t key;
    const weft__command *command;
} origin;

static origin origin_of(const reading *r)
{
    return (origin){segment_of(r)->key, r->command};
}

static weft_result report(const reading *r, origin from, weft_result result)
{
    if (result == WEFT_OK) return WEFT_OK;
    return weft__playback_error(r->playback, from.key, from.command->op, from.command->entity,
                                from.command->subject, result);
}

/* Where the target of the command is; NULL: dead. */
static weft__chunk *target_of(const reading *r, weft_entity *entity, uint32_t *row)
{
    *entity = weft__playback_resolve(r->playback, segment_of(r), r->command->entity);
    return weft__entity_chunk(r->playback->world, *entity, row);
}

/* ---- destroy ---- */

static weft_result play_deaths(reading *r)
{
    origin from = origin_of(r);
    uint32_t count = 0;
    for (; r->command != NULL && r->command->op == WEFT__COMMAND_DESTROY && count < RUN_MOST;
         advance(r)) {
        uint32_t row;
        if (target_of(r, &r->entities[count], &row) != NULL) count++;
    }
    return report(r, from, weft_entity_destroy_many(r->playback->world, r->entities, count));
}

/* ---- shared values ---- */

/* Where a row is in the layout, which a restore brings back; its location in memory it does not.
 * A value. */
typedef struct place {
    uint32_t archetype, chunk, row;
} place;

static bool is_behind(place a, place b)
{
    if (a.archetype != b.archetype) return a.archetype > b.archetype;
    if (a.chunk != b.chunk) return a.chunk > b.chunk;
    return a.row > b.row;
}

/* The number of a value among the different ones so far; VALUES_MOST: one too many. */
static uint32_t value_number(const void **values, uint32_t *count, const void *value, size_t bytes)
{
    uint32_t i = 0;
    while (i < *count && memcmp(values[i], value, bytes) != 0) i++;
    if (i == *count && i < VALUES_MOST) values[(*count)++] = value;
    return i;
}

static weft_result set_values(reading *r, weft_component component, const void *const *values,
                              uint32_t value_count, uint32_t count)
{
    weft_world *world = r->playback->world;
    if (value_count == 1)
        return weft_entity_set_shared_many(world, r->entities, count, component, values[0]);
    weft_entity some[RUN_MOST + 1];
    weft_result result = WEFT_OK;
    for (uint32_t value = 0; value < value_count && result == WEFT_OK; value++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++) {
            some[found] = r->entities[i];
            found += r->values[i] == value;
        }
        result = weft_entity_set_shared_many(world, some, found, component, values[value]);
    }
    return result;
}

static weft_result play_shared(reading *r)
{
    origin from = origin_of(r);
    const void *values[VALUES_MOST];
    uint32_t subject = r->command->subject, count = 0, value_count = 0;
    place last = {0};
    size_t bytes = r->playback->world->types.at[subject]->desc.size;
    for (; r->command != NULL && r->command->op == WEFT__COMMAND_SET_SHARED &&
           r->command->subject == subject && count < RUN_MOST;
         advance(r)) {
        uint32_t row;
        const weft__chunk *chunk = target_of(r, &r->entities[count], &row);
        if (chunk == NULL || weft__residue_lacks(chunk, subject)) {
            r->playback->result.skipped++;
            continue;
        }
        place here = {chunk->archetype->number, chunk->list_index, row};
        if (count != 0 && !is_behind(here, last)) break;
        uint32_t value =
            value_number(values, &value_count, weft__command_payload(r->command), bytes);
        if (value == VALUES_MOST) break;
        r->values[count++] = (uint8_t)value;
        last = here;
    }
    return report(
        r, from,
        set_values(r, weft__component(r->playback->world, subject), values, value_count, count));
}

/* ---- instantiate ---- */

static weft_entity source_of(const reading *r)
{
    weft_entity source;
    memcpy(&source, r->command + 1, sizeof source);
    return weft__playback_resolve(r->playback, segment_of(r), source);
}

static weft_result play_instances(reading *r)
{
    weft__playback *playback = r->playback;
    origin from = origin_of(r);
    weft_entity source = source_of(r);
    uint32_t segment = r->segment, first = r->command->entity.index, count = 0, row;
    for (; r->command != NULL && r->segment == segment &&
           r->command->op == WEFT__COMMAND_INSTANTIATE && r->command->entity.index == first + count;
         advance(r), count++) {
        weft_entity own = source_of(r);
        if (memcmp(&own, &source, sizeof own) != 0) break;
    }
    weft_entity *copies =
        &playback->recorders[playback->segments[segment].recorder]->resolved[first];
    if (weft__living_chunk(playback->world, source, &row) != NULL)
        return report(r, from,
                      weft__instantiate(playback->world, NULL, source, count, copies, true));
    playback->result.skipped += count;
    weft__directory_free_many_owner(&playback->world->directory, copies, count);
    return WEFT_OK;
}

/* ---- all ---- */

static weft_result play_next(reading *r)
{
    if (r->command->op == WEFT__COMMAND_DESTROY) return play_deaths(r);
    if (r->command->op == WEFT__COMMAND_SET_SHARED) return play_shared(r);
    if (r->command->op == WEFT__COMMAND_INSTANTIATE) return play_instances(r);
    weft_result result = weft__playback_one(r->playback, segment_of(r), r->command);
    if (result == WEFT_OK) advance(r);
    return result;
}

weft_result weft__playback_runs(weft__playback *playback, uint32_t first, uint32_t end)
{
    reading r;
    r.playback = playback;
    r.segment = first;
    r.end = end;
    if (first == end) return WEFT_OK;
    r.cursor = weft__command_begin(segment_of(&r));
    advance(&r);
    weft_result result = WEFT_OK;
    while (r.command != NULL && result == WEFT_OK) result = play_next(&r);
    return result;
}
