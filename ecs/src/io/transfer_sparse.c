/* SPDX-License-Identifier: MIT */
/* transfer_sparse.c: SPARSE rows that go to another world with their entities.
 *
 * Their values are copied as those of all parts; only whose rows they are is settled here. Owner of
 * both worlds, both idle. */
#include "transfer_sparse.h"

#include "directory_check.h"
#include "error.h"
#include "sparse.h"
#include "transfer_memory.h"
#include "transfer_world.h"

#define CATEGORY WEFT__MEMORY_COMMANDS

/* ---- select ---- */

/* One bit per index of the source: the entity moves. Owner: the selection. */
typedef struct moving {
    uint64_t *words;
    size_t count;
} moving;

static bool moves(const weft__transfer *t, const moving *m, weft_entity entity)
{
    uint32_t index = entity.index ^ t->from->directory.tag_bits;
    return (m->words[index / 64] >> index % 64 & 1) != 0;
}

static weft_result moving_note(const weft__transfer *t, moving *m)
{
    m->count = weft__directory_end(&t->from->directory) / 64 + 1;
    m->words = weft__alloc_zeroed(&t->to->memory, CATEGORY, m->count, sizeof *m->words, 8);
    if (m->words == NULL) return weft__error_memory(t->to, "weft_world_transfer");
    for (uint64_t i = 0; i < t->row_count; i++) {
        uint32_t index = t->sources[i].index ^ t->from->directory.tag_bits;
        m->words[index / 64] |= UINT64_C(1) << index % 64;
    }
    return WEFT_OK;
}

/* A part with the rows of a chunk whose entities move: all of them, or a list; none: no part. */
static bool chunk_select(weft__transfer *t, const moving *m, weft__chunk *chunk)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    uint32_t count = 0;
    for (uint32_t row = 0; row < chunk->count; row++) count += moves(t, m, entities[row]) ? 1 : 0;
    if (count == 0) return true;
    if (!weft__change_push_part(&t->change, chunk)) return false;
    weft__change_part *part = &t->change.parts.at[t->change.parts.count - 1];
    part->count = count;
    if (count == chunk->count) part->rows = WEFT__NONE; /* a run from row 0 */
    for (uint32_t row = 0; row < chunk->count && count != chunk->count; row++)
        if (moves(t, m, entities[row]) && !weft__change_push_row(&t->change, row)) return false;
    return true;
}

weft_result weft__transfer_sparse_select(weft__transfer *t)
{
    moving m;
    t->entity_parts = t->change.parts.count;
    if (t->from->types.sparse == NULL || t->row_count == 0) return WEFT_OK;
    weft_result result = moving_note(t, &m);
    for (uint32_t a = 0; a < t->from->archetypes.count && result == WEFT_OK; a++) {
        const weft__archetype *archetype = t->from->archetypes.at[a];
        if ((archetype->flags & WEFT__IS_SPARSE) == 0) continue;
        for (uint32_t i = 0; i < archetype->chunk_count && result == WEFT_OK; i++)
            if (!chunk_select(t, &m, archetype->chunks[i]))
                result = weft__error_memory(t->to, "weft_world_transfer");
    }
    weft__free(&t->to->memory, CATEGORY, m.words, m.count, sizeof *m.words, 8);
    return result;
}

weft_result weft__transfer_sparse_reserve(weft__transfer *t)
{
    for (uint32_t i = t->entity_parts; i < t->change.parts.count; i++) {
        const weft__archetype *from = t->change.parts.at[i].chunk->archetype;
        const weft__archetype *to = t->targets[from->number];
        if (!weft__sparse_reserve_all(t->to, weft__sparse_type(to)))
            return weft__error_memory(t->to, "weft_world_transfer");
    }
    return WEFT_OK;
}

/* ---- commit ---- */

static bool span_give(weft__transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__change_part *part = &t->change.parts.at[number];
    const uint32_t *rows = weft__change_rows(&t->change, part);
    for (uint32_t i = 0; i < to.count; i++) {
        uint32_t location = 0, row = rows != NULL ? rows[done + i] : part->first + done + i;
        weft_entity entity = weft__chunk_entities(part->chunk)[row]; /* may be the place to fill */
        weft__sparse_clear(part->chunk, entity);
        bool is_marked = weft__directory_find(&t->from->directory, entity, &location);
        WEFT_ASSERT(is_marked && (location & WEFT__TRANSFER_MOVES) != 0);
        (void)is_marked;
        weft__chunk_entities(to.chunk)[to.row + i] = t->ids[location & ~WEFT__TRANSFER_MOVES];
    }
    weft__sparse_enter(to.chunk, to.row, to.count);
    return true;
}

void weft__transfer_sparse_commit(weft__transfer *t, uint32_t part)
{
    weft__transfer_spans(t, part, span_give);
}

void weft__transfer_sparse_end(const weft__transfer *t, const weft__change_part *part)
{
    weft__chunk *chunk = part->chunk;
    const uint32_t *rows = weft__change_rows(&t->change, part);
    if (part->count == chunk->count)
        chunk->count = 0;
    else
        for (uint32_t i = part->count; i-- > 0;) weft__sparse_close_row(t->from, chunk, rows[i]);
    weft__chunk_settle(t->from, chunk, part->count);
}
