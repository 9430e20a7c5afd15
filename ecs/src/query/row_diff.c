/* SPDX-License-Identifier: MIT */
/* row_diff.c: listing what may differ from the mirrors, chunk by chunk: rows where the order of a
 * chunk changed, slices where only values did. What does differ is found by the caller: relations
 * note edges by page, observers entities and their old values. See row_diff.h. */
#include "row_diff.h"
#include "filter.h"
#include "world_state.h"

static void mirror_free(const weft__row_diff *diff, weft__mirror *mirror)
{
    if (mirror == NULL) return;
    weft__free(&diff->world->memory, diff->category, mirror, 1,
               weft__mirror_bytes(mirror->capacity, mirror->value_bytes), 8);
}

/* `like`: what it is of, and its capacity. */
static weft__mirror *mirror_make(const weft__row_diff *diff, weft__mirror like)
{
    like.value_bytes = diff->value_bytes;
    weft__mirror *mirror = weft__alloc(&diff->world->memory, diff->category, 1,
                                       weft__mirror_bytes(like.capacity, like.value_bytes), 8);
    if (mirror == NULL) return NULL;
    *mirror = like;
    mirror->rows = (weft_entity *)(void *)(mirror + 1);
    mirror->values = mirror->rows + mirror->capacity;
    return mirror;
}

/* ---- pieces ---- */

/* Rows [first, end) of a piece, in pieces that are not too large. */
static bool list_rows(weft__row_diff *diff, weft__row_piece piece)
{
    uint32_t end = piece.end;
    diff->listed += end - piece.first;
    for (; piece.first < end; piece.first = piece.end) {
        piece.end = end - piece.first < WEFT__PIECE_ROWS ? end : piece.first + WEFT__PIECE_ROWS;
        if (!WEFT__LIST_APPEND(&diff->world->memory, diff->category, &diff->pieces, &piece, 1))
            return false;
    }
    return true;
}

/* The slices that were written: a piece for those that follow each other. */
static bool list_slices(weft__row_diff *diff, weft__row_piece piece)
{
    const weft__chunk *chunk = piece.chunk;
    const weft_a32 *x_versions = weft__chunk_versions(chunk, piece.place.type);
    uint32_t shift = chunk->layout->slice_shift, slices = weft__chunk_slices(chunk);
    for (uint32_t first, end = 0;;) {
        first = weft__versions_scan(x_versions, end, slices, diff->seen, true);
        if (first == slices) return true;
        end = weft__versions_scan(x_versions, first, slices, diff->seen, false);
        piece.first = first << shift;
        piece.end = end == slices ? chunk->count : end << shift;
        if (!list_rows(diff, piece)) return false;
    }
}

/* The rows of a mirror went with its chunk. Where memory is refused it stays at its place. */
static bool let_go(weft__row_diff *diff, weft__mirror **place)
{
    weft__mirror *mirror = *place;
    weft__row_piece all = {.mirror = mirror, .end = mirror->count, .has_other_rows = true};
    if (!list_rows(diff, all) ||
        !WEFT__LIST_APPEND(&diff->world->memory, diff->category, &diff->gone, &mirror, 1))
        return false;
    *place = NULL;
    return true;
}

/* The mirror of a chunk; an old one of its id goes, and one of another level. NULL: no memory. */
static weft__mirror *mirror_obtain(weft__row_diff *diff, const weft__chunk *chunk)
{
    weft__mirror **place = &diff->mirrors.at[chunk->id];
    uint32_t level = diff->level == NULL ? 0 : diff->level(diff->user, chunk);
    bool is_right = *place != NULL && (*place)->serial == chunk->serial && (*place)->level == level;
    if (is_right || (*place != NULL && !let_go(diff, place))) return is_right ? *place : NULL;
    return *place = mirror_make(diff, (weft__mirror){.serial = chunk->serial,
                                                     .level = level,
                                                     .capacity = chunk->capacity});
}

static bool look_at_chunk(weft__row_diff *diff, const weft__chunk *chunk, weft__place place)
{
    weft__mirror *mirror = mirror_obtain(diff, chunk);
    if (mirror == NULL) return false;
    mirror->look = diff->look;
    weft__row_piece piece = {.mirror = mirror, .chunk = chunk, .place = place};
    piece.end = chunk->count > mirror->count ? chunk->count : mirror->count;
    piece.has_other_rows = diff->seen == 0 || mirror->count != chunk->count ||
                           weft__version_is_newer(chunk->order_version, diff->seen);
    if (piece.has_other_rows) return list_rows(diff, piece);
    return !diff->has_values || list_slices(diff, piece);
}

static bool look_at_archetype(weft__row_diff *diff, const weft__archetype *archetype,
                              weft__place place)
{
    if ((archetype->flags & diff->without) != 0) return true;
    diff->rows += archetype->entity_count;
    for (uint32_t i = 0; i < archetype->chunk_count; i++)
        if (!look_at_chunk(diff, archetype->chunks[i], place)) return false;
    return true;
}

bool weft__row_diff_look(weft__row_diff *diff)
{
    weft_world *world = diff->world;
    const weft__component_list *list = weft__component_list_at(world, diff->component);
    uint32_t count = diff->component == 0 ? world->archetypes.count : list->count;
    diff->look++;
    diff->pieces.count = 0;
    diff->rows = diff->listed = 0;
    if (!WEFT__LIST_REACH(&world->memory, diff->category, &diff->mirrors, world->chunks.end + 1))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = diff->component == 0 ? i : list->at[i].archetype;
        weft__place place = diff->component == 0 ? weft__place_none() : list->at[i].place;
        if (!look_at_archetype(diff, world->archetypes.at[number], place)) return false;
    }
    for (uint32_t id = 0; id < diff->mirrors.count; id++) {
        weft__mirror **place = &diff->mirrors.at[id];
        if (*place != NULL && (*place)->look != diff->look && !let_go(diff, place)) return false;
    }
    return true;
}

/* ---- what was seen ---- */

static void free_gone(weft__row_diff *diff)
{
    for (uint32_t i = 0; i < diff->gone.count; i++) mirror_free(diff, diff->gone.at[i]);
    diff->gone.count = 0;
}

void weft__row_diff_seen(weft__row_diff *diff, bool is_spent)
{
    for (uint32_t i = 0; i < diff->pieces.count; i++) {
        const weft__row_piece *piece = &diff->pieces.at[i];
        if (piece->chunk != NULL) piece->mirror->count = piece->chunk->count;
    }
    diff->pieces.count = 0;
    free_gone(diff);
    diff->seen = diff->world->front.version - (is_spent ? 0 : 1);
}

bool weft__row_diff_widen(weft__row_diff *diff, uint32_t bytes)
{
    diff->value_bytes = bytes;
    for (uint32_t i = 0; i < diff->mirrors.count; i++) {
        weft__mirror *old = diff->mirrors.at[i];
        if (old == NULL || old->value_bytes == bytes) continue;
        weft__mirror *wide = mirror_make(diff, *old);
        if (wide == NULL) return false;
        memcpy(wide->rows, old->rows, old->count * sizeof *old->rows);
        mirror_free(diff, old);
        diff->mirrors.at[i] = wide;
    }
    return true;
}

void weft__row_diff_reset(weft__row_diff *diff)
{
    for (uint32_t i = 0; i < diff->mirrors.count; i++)
        if (diff->mirrors.at[i] != NULL) diff->mirrors.at[i]->count = 0;
    diff->seen = 0;
    diff->pieces.count = 0;
    free_gone(diff);
}

void weft__row_diff_fini(weft__row_diff *diff)
{
    weft__memory *memory = &diff->world->memory;
    free_gone(diff);
    for (uint32_t i = 0; i < diff->mirrors.count; i++) mirror_free(diff, diff->mirrors.at[i]);
    WEFT__LIST_FREE(memory, diff->category, &diff->mirrors);
    WEFT__LIST_FREE(memory, diff->category, &diff->gone);
    WEFT__LIST_FREE(memory, diff->category, &diff->pieces);
}
