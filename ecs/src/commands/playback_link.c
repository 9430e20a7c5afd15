/* SPDX-License-Identifier: MIT */
/* playback_link.c: rows made in place join the world, before the first command is played: their
 * chunks get the tuples of their shared values and are linked in key order (private_chunk.c),
 * the rows get ids, handles that were asked for become real, and references in the rows are
 * replaced. All or none. */
#include "playback_link.h"

#include "error.h"
#include "playback_patch.h"
#include "private_chunk.h"
#include "scratch.h"
#include "tuple.h"

#include <string.h>

/* A piece to link. Owner: the list of `linking`, scratch of one playback. */
typedef struct link {
    const weft__command_segment *segment;
    const weft__command_rows *rows; /* that began it */
    weft__tuple *tuple;             /* held, when it is not the first one of the archetype */
} link;

/* One linking; lives on the stack of weft__playback_link. */
typedef struct linking {
    weft__playback *playback;
    link *links;
    weft__private_piece *pieces;
    uint32_t count;
} linking;

/* A piece that only continues the one before: on one worker, few rows of many slices are one. */
static bool continues(const linking *l, const weft__command_rows *rows)
{
    if (l->count == 0) return false;
    const weft__private_piece *before = &l->pieces[l->count - 1];
    return rows->in_nursery && before->chunk == rows->chunk &&
           before->first + before->count == rows->first && rows->shared_bytes == 0 &&
           l->links[l->count - 1].rows->shared_bytes == 0 &&
           (rows->chunk->archetype->flags & WEFT__HAS_ENTITY_FIELDS) == 0;
}

static void list_piece(linking *l, const weft__command_segment *segment,
                       const weft__command_rows *rows)
{
    weft__chunk *chunk = rows->chunk;
    if (continues(l, rows)) {
        l->pieces[l->count - 1].count += rows->piece_rows;
        return;
    }
    l->links[l->count] = (link){segment, rows, NULL};
    l->pieces[l->count++] =
        rows->in_nursery
            ? (weft__private_piece){chunk, chunk->tuple,      rows->first, rows->piece_rows,
                                    false, rows->brings_chunk}
            : weft__private_whole(chunk);
}

/* Lists every piece of the playback in order; without `links` it only counts. */
static void list_pieces(linking *l)
{
    const weft__playback *playback = l->playback;
    l->count = 0;
    for (uint32_t i = 0; i < playback->segment_count; i++) {
        const weft__command_segment *segment = &playback->segments[i];
        if ((segment->traits & WEFT__SEGMENT_HAS_ROWS) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(segment);
        for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
            const weft__command_rows *rows =
                command->op == WEFT__COMMAND_ROWS ? weft__command_piece(command) : NULL;
            if (rows == NULL) continue;
            if (l->links != NULL)
                list_piece(l, segment, rows);
            else
                l->count++;
        }
    }
}

/* ---- shared values ---- */

/* The tuple of `from` with one more value; takes the hold on `from` over. NULL: error set. */
static weft__tuple *tuple_step(weft_world *world, weft__tuple *from,
                               const weft__command_shared *value)
{
    uint32_t index;
    weft__tuple *to = NULL;
    if (weft__shared_intern(&world->shared, value->component, value->value, &index) != WEFT_OK) {
        weft__error_memory(world, "a shared value");
    } else {
        to = weft__tuple_with_value(world, from, from->archetype, value->component, index);
        weft__shared_release(&world->shared, value->component, index, 1);
    }
    weft__tuple_release(world, from);
    return to;
}

static weft_result give_tuple(weft_world *world, link *l, weft__private_piece *piece)
{
    const weft__archetype *archetype = l->rows->chunk->archetype;
    const char *at = (const char *)(l->rows->columns + archetype->type_count);
    const char *end = at + l->rows->shared_bytes;
    weft__tuple *tuple = archetype->tuple0;
    tuple->holders++;
    while (at < end && tuple != NULL) {
        const weft__command_shared *value = (const weft__command_shared *)(const void *)at;
        tuple = tuple_step(world, tuple, value);
        at += value->bytes;
    }
    if (tuple == NULL) return world->error->code;
    l->tuple = piece->tuple = tuple;
    if (piece->is_whole) piece->chunk->tuple = tuple;
    return WEFT_OK;
}

static weft_result give_tuples(linking *l)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < l->count && result == WEFT_OK; i++)
        if (l->links[i].rows->shared_bytes != 0)
            result = give_tuple(l->playback->world, &l->links[i], &l->pieces[i]);
    return result;
}

/* After it the chunks that stayed private are without values again. */
static void release_tuples(const linking *l, bool is_linked)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const link *one = &l->links[i];
        if (one->tuple == NULL) continue;
        if (!is_linked) one->rows->chunk->tuple = one->rows->chunk->archetype->tuple0;
        weft__tuple_release(l->playback->world, one->tuple);
    }
}

/* ---- handles ---- */

/* Handles of rows that were asked for become real. */
static void keep_entities(const weft__playback *playback)
{
    for (uint32_t i = 0; i < playback->segment_count; i++) {
        const weft__command_segment *segment = &playback->segments[i];
        const weft_recorder *recorder = playback->recorders[segment->recorder];
        if (!recorder->rows_asked || (segment->traits & WEFT__SEGMENT_HAS_ROWS) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(segment);
        for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
            if (command->op != WEFT__COMMAND_ROWS) continue;
            const weft__command_rows *rows = weft__command_payload(command);
            if (rows->is_asked)
                memcpy(recorder->row_entities + rows->number,
                       weft__chunk_entities(rows->chunk) + rows->first,
                       rows->count * sizeof(weft_entity));
        }
    }
}

static void patch_rows(const weft__playback *playback, const link *l,
                       const weft__private_piece *piece)
{
    const weft__chunk *chunk = piece->chunk;
    const weft__archetype *archetype = chunk->archetype;
    if ((archetype->flags & WEFT__HAS_ENTITY_FIELDS) == 0) return;
    for (uint32_t i = 0; i < archetype->type_count; i++)
        if (archetype->types[i].column != 0)
            weft__playback_patch_rows(
                playback, l->segment, archetype->types[i].type,
                weft__chunk_value(chunk, archetype->types[i].column, piece->first), piece->count);
}

/* All rows have their ids. */
static void rows_named(void *user)
{
    const linking *l = user;
    keep_entities(l->playback);
    for (uint32_t i = 0; i < l->count; i++) patch_rows(l->playback, &l->links[i], &l->pieces[i]);
}

/* Room for the handles of rows, where some were asked for. */
static weft_result reserve_entities(weft_world *world, weft_recorder *recorder)
{
    if (!recorder->rows_asked ||
        weft__list_room(&world->memory, WEFT__MEMORY_COMMANDS, &recorder->row_entities,
                        &recorder->row_capacity, recorder->rows, sizeof(weft_entity)))
        return WEFT_OK;
    return weft__error_memory(world, "playback");
}

weft_result weft__playback_link(weft__playback *playback)
{
    weft_world *world = playback->world;
    linking l = {.playback = playback};
    list_pieces(&l);
    if (l.count == 0) return WEFT_OK;
    l.pieces = weft__scratch_take(world, WEFT__SCRATCH_PIECES, l.count, sizeof l.pieces[0]);
    l.links = weft__scratch_take(world, WEFT__SCRATCH_LINKS, l.count, sizeof l.links[0]);
    if (l.pieces == NULL || l.links == NULL) return weft__error_memory(world, "playback");
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < playback->recorder_count && result == WEFT_OK; i++)
        result = reserve_entities(world, playback->recorders[i]);
    if (result != WEFT_OK) return result;
    list_pieces(&l);
    result = give_tuples(&l);
    if (result == WEFT_OK)
        result = weft__private_link(
            &(weft__private_desc){.world = world,
                                  .job = playback->job,
                                  .cost = weft__playback_cost(playback, WEFT__PLAYBACK_IDS),
                                  .copy_cost = weft__playback_cost(playback, WEFT__PLAYBACK_ENTER),
                                  .pieces = l.pieces,
                                  .count = l.count,
                                  .named = rows_named,
                                  .user = &l});
    release_tuples(&l, result == WEFT_OK);
    return result;
}
