/* SPDX-License-Identifier: MIT */
/* stream_leave.c: how a section leaves. A chunk whose order version is that of its publication
 * holds exactly the rows that it came with; so an entity block that only such chunks fill can be
 * withdrawn as a whole, which ends all its entities for the world at once. See stream_leave.h. */
#include "stream_leave.h"
#include "chunk.h"
#include "column_map.h"
#include "error.h"
#include "private_chunk.h"
#include "query_change.h"
#include "sparse.h"
#include "stream_late.h"

#include <string.h>

#define BLOCKS_PER_PIECE 32u

/* ---- the crew's part ---- */

static void leave_run(weft__crew_job *job, uint32_t piece, uint32_t thread)
{
    const weft__leave *leave = (const weft__leave *)(const void *)job;
    (void)thread;
    if (piece == 0) return; /* others may begin */
    piece--;
    if (piece < leave->chunk_count) {
        weft__private_drop(leave->stream->world, leave->chunks[piece]);
        return;
    }
    uint32_t first = (piece - leave->chunk_count) * BLOCKS_PER_PIECE;
    for (uint32_t i = first; i < leave->block_count && i < first + BLOCKS_PER_PIECE; i++)
        weft__lent_kill(leave->blocks[i].block);
}

/* ---- life ---- */

/* What was allocated: the counts grow up to it. */
typedef struct leave_room {
    weft__leave leave;
    uint32_t chunks, blocks;
} leave_room;

weft__leave *weft__leave_make(weft_stream *stream, uint32_t section, uint32_t chunks,
                              uint32_t blocks)
{
    weft_world *world = stream->world;
    leave_room *made = weft__stream_alloc(world, 1, sizeof *made);
    if (made == NULL) return NULL;
    made->chunks = chunks;
    made->blocks = blocks;
    weft__leave *leave = &made->leave;
    leave->stream = stream;
    leave->section = section;
    leave->chunks = weft__stream_alloc(world, chunks, sizeof *leave->chunks);
    leave->blocks = weft__stream_alloc(world, blocks, sizeof *leave->blocks);
    if (leave->chunks != NULL && leave->blocks != NULL) return leave;
    weft__stream_free(world, leave->chunks, chunks, sizeof *leave->chunks);
    weft__stream_free(world, leave->blocks, blocks, sizeof *leave->blocks);
    weft__stream_free(world, made, 1, sizeof *made);
    return NULL;
}

static void leave_free(weft__leave *leave)
{
    weft_world *world = leave->stream->world;
    leave_room *made = (leave_room *)(void *)leave;
    weft__stream_free(world, leave->chunks, made->chunks, sizeof *leave->chunks);
    weft__stream_free(world, leave->blocks, made->blocks, sizeof *leave->blocks);
    weft__stream_free(world, made, 1, sizeof *made);
}

void weft__leave_push(weft__leave *leave)
{
    weft__stream_section *s = &leave->stream->sections[leave->section];
    weft__sections_pin(leave->stream->world);
    s->state = WEFT_SECTION_LEAVING;
    s->leave = leave;
    leave->job.run = leave_run;
    leave->job.piece_count =
        1 + leave->chunk_count + (leave->block_count + BLOCKS_PER_PIECE - 1) / BLOCKS_PER_PIECE;
    weft__crew_push(&leave->stream->streams->crew, &leave->job);
}

/* ---- the rest ---- */

/* Chunks of an archetype with this value of Section: their rows end here. */
static weft_result archetype_clear(weft_stream *stream, weft__archetype *archetype, uint32_t index)
{
    uint32_t type = weft__archetype_find(archetype, stream->streams->section.id);
    uint32_t shared = archetype->types[type].shared;
    weft_result result = WEFT_OK;
    for (uint32_t c = archetype->chunk_count; c-- > 0 && result == WEFT_OK;) {
        if (c >= archetype->chunk_count) continue; /* another one went with it */
        weft__chunk *chunk = archetype->chunks[c];
        if (chunk->tuple->values[shared] == index)
            result = weft__chunk_destroy_rows(stream->world, chunk);
    }
    return result;
}

/* Ends all rows with the section that are left: came later, or are not as they came. */
static weft_result rest_clear(weft_stream *stream, uint32_t section)
{
    weft_world *world = stream->world;
    uint32_t component = stream->streams->section.id, index = stream->sections[section].index;
    if (weft__shared_references(&world->shared, component, index) <= 1) return WEFT_OK;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < world->archetypes.count && result == WEFT_OK; i++) {
        weft__archetype *archetype = world->archetypes.at[i];
        if (archetype->chunk_count != 0 && (archetype->flags & WEFT__IS_RESIDUE) == 0 &&
            weft__archetype_find(archetype, component) != WEFT__NONE)
            result = archetype_clear(stream, archetype, index);
    }
    return result;
}

weft_result weft__leave_end(weft__leave *leave)
{
    weft_stream *stream = leave->stream;
    weft__stream_section *s = &stream->sections[leave->section];
    weft_result result = rest_clear(stream, leave->section);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < leave->block_count; i++) {
        weft__directory_put_back(&stream->world->directory, &leave->blocks[i]);
        weft__column_maps_block(stream->world, leave->blocks[i].index);
    }
    weft__section_value_release(stream, leave->section);
    s->leave = NULL;
    s->state = s->result == WEFT_OK ? WEFT_SECTION_ABSENT : WEFT_SECTION_FAILED;
    stream->streams->bytes -= s->bytes;
    stream->world->lent.loads--;
    leave_free(leave);
    return WEFT_OK;
}

/* ---- what is as it came ---- */

/* The chunk of a record if it holds exactly its rows; else NULL. One that a restore made again is
 * the owner's to free. */
static weft__chunk *chunk_as_it_came(const weft_world *world, const weft__loaded_chunk *known)
{
    weft__chunk *chunk = known->id < world->chunks.end ? world->chunks.at[known->id] : NULL;
    bool is_same = chunk != NULL && chunk->is_private && chunk->serial == known->serial &&
                   chunk->order_version == known->version && chunk->count == known->rows &&
                   (chunk->archetype->flags & WEFT__HAS_CLEANUP) == 0;
    return is_same ? chunk : NULL;
}

/* A section that leaves, on the stack. */
typedef struct leaving {
    weft_stream *stream;
    weft_world *world;
    const weft__loaded *loaded;
    uint32_t rows;    /* that it came with */
    uint64_t *intact; /* bit per block */
} leaving;

static bool is_intact(const leaving *l, uint32_t block)
{
    return (l->intact[block / 64] >> block % 64 & 1) != 0;
}

/* Blocks in which nothing lives but rows that are as they came. */
static void blocks_look(const leaving *l)
{
    const weft__directory *directory = &l->world->directory;
    for (uint32_t b = 0; b < l->loaded->block_count; b++) {
        const weft__entity_block *block =
            weft__directory_block(directory, l->loaded->blocks[b] * WEFT__BLOCK_SLOTS);
        uint32_t left = l->rows - b * WEFT__BLOCK_SLOTS;
        uint32_t own = left < WEFT__BLOCK_SLOTS ? left : WEFT__BLOCK_SLOTS;
        if (at_load_rlx(&block->x_count) == own) /* relaxed: idle */
            l->intact[b / 64] |= UINT64_C(1) << b % 64;
    }
    for (uint32_t i = 0; i < l->loaded->chunk_count; i++) {
        const weft__loaded_chunk *known = &l->loaded->chunks[i];
        if (known->rows == 0 || chunk_as_it_came(l->world, known) != NULL) continue;
        uint32_t last = (known->first + known->rows - 1) / WEFT__BLOCK_SLOTS;
        for (uint32_t b = known->first / WEFT__BLOCK_SLOTS; b <= last; b++)
            l->intact[b / 64] &= ~(UINT64_C(1) << b % 64);
    }
}

/* Ends the entities of a chunk whose blocks stay. */
static void entities_end(const leaving *l, const weft__chunk *chunk, uint32_t first)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    for (uint32_t done = 0; done < chunk->count;) {
        uint32_t row = first + done, count = WEFT__BLOCK_SLOTS - row % WEFT__BLOCK_SLOTS;
        if (count > chunk->count - done) count = chunk->count - done;
        if (!is_intact(l, row / WEFT__BLOCK_SLOTS))
            weft__directory_free_many_owner(&l->world->directory, entities + done, count);
        done += count;
    }
}

/* Hands over what is as it came. Cannot fail. */
static void chunks_withdraw(const leaving *l, weft__leave *leave)
{
    const weft__loaded *loaded = l->loaded;
    for (uint32_t i = 0; i < loaded->chunk_count; i++) {
        weft__chunk *chunk = chunk_as_it_came(l->world, &loaded->chunks[i]);
        if (chunk == NULL) continue;
        weft__sparse_forget(l->world, chunk, NULL, 0, chunk->count);
        entities_end(l, chunk, loaded->chunks[i].first);
        weft__chunk_detach(l->world, chunk);
        leave->chunks[leave->chunk_count++] = chunk;
    }
    for (uint32_t b = 0; b < loaded->block_count; b++) {
        if (!is_intact(l, b)) {
            weft__directory_leave(&l->world->directory, loaded->blocks[b]);
            continue;
        }
        leave->blocks[leave->block_count++] =
            weft__directory_withdraw(&l->world->directory, loaded->blocks[b]);
        weft__column_maps_block(l->world, loaded->blocks[b]);
    }
}

/* Blobs that entities elsewhere may still refer to stay in the store. */
static void blobs_leave(const leaving *l, const weft__leave *leave)
{
    if (leave->chunk_count != l->loaded->chunk_count) return;
    for (uint32_t i = 0; i < l->loaded->blob_count; i++)
        weft_blob_release(l->world->blobs, l->loaded->blobs[i]);
}

weft_result weft__leave_begin(weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    weft_world *world = stream->world;
    leaving l = {.stream = stream,
                 .world = world,
                 .loaded = &s->loaded,
                 .rows = weft__section_of(stream, section)->rows};
    uint32_t words = s->loaded.block_count / 64 + 1;
    weft__leave *leave =
        weft__leave_make(stream, section, s->loaded.chunk_count, s->loaded.block_count);
    l.intact = weft__stream_alloc(world, words, sizeof *l.intact);
    if (leave == NULL || l.intact == NULL) {
        if (leave != NULL) leave_free(leave);
        weft__stream_free(world, l.intact, words, sizeof *l.intact);
        return weft__error_memory(world, "weft_stream_step");
    }
    weft__lates_leave(stream, section);
    blocks_look(&l);
    chunks_withdraw(&l, leave);
    weft__stream_free(world, l.intact, words, sizeof *l.intact);
    blobs_leave(&l, leave);
    weft__loaded_free(world, &s->loaded);
    world->lent.loads++;
    stream->streams->stats.unloads++;
    stream->streams->stats.loaded--;
    weft__leave_push(leave);
    return rest_clear(stream, section);
}
