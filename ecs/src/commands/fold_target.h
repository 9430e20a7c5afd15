/* SPDX-License-Identifier: MIT */
/* fold_target.h: where the target of a command is, and references in recorded values. The task of
 * a segment asks for its commands one after the other; the next target is mostly the next row. */
#ifndef WEFT_FOLD_TARGET_H
#define WEFT_FOLD_TARGET_H

#include "entity_value.h"
#include "fold_state.h"

#include <string.h>

/* Finding the targets of one segment. Lives on a worker's stack. */
typedef struct weft__fold_finder {
    weft__fold *fold;
    uint32_t segment;
    weft__chunk *chunk; /* where the last target was ... */
    uint32_t row;       /* ... and its row */
} weft__fold_finder;

static inline bool weft__fold_is_same(weft_entity a, weft_entity b)
{
    return memcmp(&a, &b, sizeof a) == 0; /* one comparison of 8 bytes */
}

static inline bool weft__fold_is_at(const weft__chunk *chunk, uint32_t row, weft_entity entity)
{
    if (row >= chunk->count) return false;
    return weft__fold_is_same(weft__chunk_entities(chunk)[row], entity);
}

/* Finds a living target: a row that holds the handle is its place, so neighbours need no look-up.
 */
static inline bool weft__fold_find(weft__fold_finder *finder, weft_entity entity)
{
    if (finder->chunk != NULL && weft__fold_is_at(finder->chunk, finder->row + 1, entity)) {
        finder->row++;
        return true;
    }
    if (finder->chunk != NULL && weft__fold_is_at(finder->chunk, finder->row, entity)) return true;
    uint32_t row = 0;
    weft__chunk *chunk = weft__entity_chunk(finder->fold->playback->world, entity, &row);
    if (chunk == NULL) return false;
    finder->chunk = chunk;
    finder->row = row;
    return true;
}

/* Whether a command has a value with references. */
static inline bool weft__fold_has_references(const weft__fold *fold, const weft__command *command)
{
    if (!weft__command_kinds[command->op].has_values) return false;
    return fold->playback->world->types.at[command->subject]->entity_offset_count != 0;
}

/* Deferred references in a value become those of the entities they mean, in place. */
void weft__fold_patch(const weft__fold *fold, uint32_t segment, weft__command *command);
/* A deferred target becomes the entity that it is in the world by now: a row made in place, an
 * instance. */
void weft__fold_resolve(weft__fold_finder *finder, weft__command *command);
/* The place of an entity that a CREATE command of these segments makes; its id is noted there. */
weft__fold_ref weft__fold_place_created(const weft__fold_finder *finder, weft__command *command);

/* Both of the above where they are needed. */
static inline void weft__fold_ready(weft__fold_finder *finder, weft__command *command)
{
    if (weft__fold_has_references(finder->fold, command))
        weft__fold_patch(finder->fold, finder->segment, command);
    if (weft__entity_is_deferred(command->entity)) weft__fold_resolve(finder, command);
}

/* The place of the target of a command that is ready. False: the immediate operations must do it.
 */
static inline bool weft__fold_place(weft__fold_finder *finder, weft__command *command,
                                    weft__fold_ref *ref)
{
    if (weft__entity_is_deferred(command->entity)) {
        *ref = weft__fold_place_created(finder, command);
        return true;
    }
    *ref = (weft__fold_ref){command, WEFT__FOLD_PLACE_DEAD, 0};
    if (!weft__fold_find(finder, command->entity)) return true;
    const weft__archetype *archetype = finder->chunk->archetype;
    ref->place = finder->chunk->id;
    ref->row = finder->row;
    if ((archetype->flags & WEFT__IS_RESIDUE) != 0) return false;
    return command->op != WEFT__COMMAND_DESTROY || weft__fold_dies_alone(archetype);
}

#endif
