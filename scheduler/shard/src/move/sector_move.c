/* SPDX-License-Identifier: MIT */
/* sector_move.c: see sector_move.h.
 *
 * All that can fail because of what rows are happens before the ranks agree; then rows leave, and
 * come. Results do not depend on the order of rows in chunks, but it is the same for any number of
 * workers: movers are sorted by gid. */
#include "sector_move.h"

#include <stdlib.h>

#include "arrival.h"
#include "mail.h"
#include "mover_list.h"
#include "newborn.h"
#include "ranks_agree.h"
#include "ranks_error.h"
#include "stub.h"

/* Memory of one sync. */
typedef struct moving {
    weft_shard *shard;
    weft__mover_list list;
    weft__bytes *out; /* [rank] */
    weft__round round;
    weft__block *blocks;
    uint64_t block_capacity;
    uint32_t block_count;
} moving;

/* ---- leaving ---- */

/* Blocks for all ranks; movers are sorted by rank then. */
static weft_result write_movers(moving *m)
{
    weft_shard *shard = m->shard;
    weft__movers_sort(&m->list);
    m->out = calloc(shard->map.ranks, sizeof *m->out);
    if (m->out == NULL) return weft__ranks_no_memory();
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < m->list.count && result == WEFT_OK; begin = end) {
        const uint32_t rank = m->list.movers[begin].rank;
        for (end = begin + 1; end < m->list.count; end++)
            if (m->list.movers[end].rank != rank) break;
        if (rank == shard->map.rank) continue;
        result = weft__movers_write(shard, &m->list, begin, end, &m->out[rank]);
        shard->stats.moved_bytes += m->out[rank].count;
    }
    return result;
}

/* Rows that go to another rank leave the world. */
static weft_result take_leavers(moving *m)
{
    weft_shard *shard = m->shard;
    weft_entity *leavers = malloc((size_t)m->list.count * sizeof *leavers + 1);
    if (leavers == NULL) return weft__ranks_no_memory();
    uint32_t count = 0;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < m->list.count && result == WEFT_OK; i++) {
        const weft__mover *mover = &m->list.movers[i];
        if (mover->rank == shard->map.rank) continue;
        shard->stats.rows_left++;
        if (shard->has_references)
            result = weft__stub_leave(shard, mover->entity, mover->gid);
        else
            leavers[count++] = mover->entity;
    }
    if (result == WEFT_OK && count != 0) {
        result = weft_entity_destroy_many(shard->world, leavers, count);
        if (result != WEFT_OK) (void)weft__ranks_fail(result, "rows cannot leave the world");
    }
    free(leavers);
    return result;
}

/* Rows that stay on this rank get their sector. */
static weft_result move_here(moving *m)
{
    weft_shard *shard = m->shard;
    weft__mover_list *list = &m->list;
    weft_entity *entities = malloc((size_t)list->count * sizeof *entities + 1);
    if (entities == NULL) return weft__ranks_no_memory();
    weft__movers_sort_by_sector(list);
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < list->count && result == WEFT_OK; begin = end) {
        const uint32_t to = list->movers[begin].to, stored = weft__sector_stored(to);
        uint32_t count = 0;
        for (end = begin; end < list->count && list->movers[end].to == to; end++)
            entities[count++] = list->movers[end].entity;
        if (list->movers[begin].rank != shard->map.rank) continue;
        result = weft_entity_set_shared_many(shard->world, entities, count, shard->sector, &stored);
        shard->stats.rows_moved += count;
    }
    free(entities);
    if (result == WEFT_OK) return WEFT_OK;
    return weft__ranks_fail(result, "rows cannot move: %s", weft_world_error(shard->world)->text);
}

/* ---- arriving ---- */

static weft_result read_letter(moving *m, const weft__letter *letter)
{
    weft__reader in = {letter->bytes.at, letter->bytes.at + letter->bytes.count};
    weft_result result = WEFT_OK;
    m->shard->stats.received_bytes += letter->bytes.count;
    while (in.at != in.end && result == WEFT_OK) {
        if (!weft__array_grow(&m->blocks, &m->block_capacity, m->block_count + UINT64_C(1),
                              sizeof *m->blocks))
            return weft__ranks_no_memory();
        result = weft__block_read(m->shard, &in, NULL, NULL, &m->blocks[m->block_count]);
        if (result == WEFT_OK) m->shard->stats.rows_arrived += m->blocks[m->block_count++].count;
    }
    return result;
}

static weft_result arrive(moving *m)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < m->round.letter_count && result == WEFT_OK; i++)
        result = read_letter(m, &m->round.letters[i]);
    return result == WEFT_OK ? weft__arrivals_place(m->shard, m->blocks, m->block_count) : result;
}

static weft_result sync(moving *m, weft_result result)
{
    if (result == WEFT_OK) result = weft__movers_collect(m->shard, &m->list);
    result = weft__newborn_name(m->shard, &m->list, result);
    /* An error of all ends it here on all; a later one goes along with the counts of rows. */
    if (result == WEFT_OK) result = write_movers(m);
    result = weft__mail_exchange(m->out, &m->round, WEFT__TAG_ROWS, result);
    if (result == WEFT_OK) result = take_leavers(m);
    if (result == WEFT_OK) result = move_here(m);
    if (result == WEFT_OK) result = arrive(m);
    if (result == WEFT_OK) result = weft__stubs_sweep(m->shard);
    return weft__ranks_agree_on(result, &m->shard->figures_asked);
}

weft_result weft__rows_sync(weft_shard *shard, weft_result result)
{
    moving m = {.shard = shard};
    result = sync(&m, result);
    for (uint32_t rank = 0; m.out != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&m.out[rank]);
    for (uint32_t i = 0; i < m.block_count; i++) weft__block_free(&m.blocks[i]);
    free(m.out);
    free(m.blocks);
    weft__movers_free(&m.list);
    weft__round_free(&m.round);
    if (result == WEFT_OK) shard->keys_version = weft_world_advance_change_version(shard->world);
    return result;
}
