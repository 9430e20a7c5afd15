/* SPDX-License-Identifier: MIT */
/* sector_move.c: see sector_move.h.
 *
 * All that can fail because of what rows are happens before the ranks agree; then rows leave, and
 * come. Movers that go the same way lie together in the list, so they are written, taken out and
 * put in many at once. */
#include "sector_move.h"

#include <stdlib.h>

#include "arrival.h"
#include "mail.h"
#include "mover_list.h"
#include "newborn.h"
#include "ranks_agree.h"
#include "ranks_error.h"
#include "stub.h"

#define KEPT_PAIRS 65536u /* memory for fewer movers is always kept */

/* Memory of syncs, used again by each. Owner: the shard. */
typedef struct weft__moving {
    weft__mover_list list;
    weft__bytes *out; /* [rank] */
    weft__round round;
    weft__block *blocks;
    uint64_t block_capacity;
    uint32_t block_count;
} moving;

/* ---- leaving ---- */

static weft_result write_movers(weft_shard *shard, moving *m)
{
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < m->list.count && result == WEFT_OK; begin = end) {
        const uint32_t rank = shard->map.rank_of[m->list.sectors[begin]];
        end = weft__movers_to_rank(shard, &m->list, begin);
        if (rank == shard->map.rank) continue;
        result = weft__movers_write(shard, &m->list, begin, end, &m->out[rank]);
        shard->stats.moved_bytes += m->out[rank].count;
    }
    return result;
}

/* Rows [begin, end) go to another rank: they leave the world. */
static weft_result take_leavers(weft_shard *shard, const moving *m, uint32_t begin, uint32_t end)
{
    const weft__mover_list *list = &m->list;
    weft_result result = WEFT_OK;
    shard->stats.rows_left += end - begin;
    if (shard->has_references)
        return weft__stubs_leave(shard, list->entities + begin, list->gids + begin, end - begin);
    result = weft_entity_destroy_many(shard->world, list->entities + begin, end - begin);
    return result == WEFT_OK ? WEFT_OK : weft__ranks_fail(result, "rows cannot leave the world");
}

/* Rows [begin, end) stay on this rank and get their sector. */
static weft_result move_here(weft_shard *shard, const moving *m, uint32_t begin, uint32_t end)
{
    const weft__mover_list *list = &m->list;
    weft_result result = WEFT_OK;
    shard->stats.rows_moved += end - begin;
    for (uint32_t next; begin < end && result == WEFT_OK; begin = next) {
        const uint32_t stored = weft__sector_stored(list->sectors[begin]);
        for (next = begin + 1; next < end; next++)
            if (list->sectors[next] != list->sectors[begin]) break;
        result = weft_entity_set_shared_many(shard->world, list->entities + begin, next - begin,
                                             shard->sector, &stored);
    }
    if (result == WEFT_OK) return WEFT_OK;
    return weft__ranks_fail(result, "rows cannot move: %s", weft_world_error(shard->world)->text);
}

static weft_result move_all(weft_shard *shard, const moving *m)
{
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < m->list.count && result == WEFT_OK; begin = end) {
        end = weft__movers_to_rank(shard, &m->list, begin);
        result = shard->map.rank_of[m->list.sectors[begin]] == shard->map.rank
                     ? move_here(shard, m, begin, end)
                     : take_leavers(shard, m, begin, end);
    }
    return result;
}

/* ---- arriving ---- */

static weft_result read_letter(weft_shard *shard, moving *m, const weft__letter *letter)
{
    weft__reader in = {letter->bytes.at, letter->bytes.at + letter->bytes.count};
    weft_result result = WEFT_OK;
    shard->stats.received_bytes += letter->bytes.count;
    while (in.at != in.end && result == WEFT_OK) {
        if (!weft__array_grow(&m->blocks, &m->block_capacity, m->block_count + UINT64_C(1),
                              sizeof *m->blocks))
            return weft__ranks_no_memory();
        result = weft__block_read(shard, &in, NULL, NULL, &m->blocks[m->block_count]);
        if (result == WEFT_OK) shard->stats.rows_arrived += m->blocks[m->block_count++].count;
    }
    return result;
}

static weft_result arrive(weft_shard *shard, moving *m)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < m->round.letter_count && result == WEFT_OK; i++)
        result = read_letter(shard, m, &m->round.letters[i]);
    if (result == WEFT_OK) result = weft__arrivals_place(shard, m->blocks, m->block_count);
    for (uint32_t i = 0; i < m->block_count; i++) weft__block_free(&m->blocks[i]);
    m->block_count = 0;
    return result;
}

/* ---- all of it ---- */

bool weft__moving_make(weft_shard *shard)
{
    moving *m = shard->moving = calloc(1, sizeof *m);
    if (m != NULL) m->out = calloc(shard->map.ranks, sizeof *m->out);
    return m != NULL && m->out != NULL;
}

/* Frees what grows with the rows that move. */
static void moving_shrink(const weft_shard *shard, moving *m)
{
    for (uint32_t rank = 0; m->out != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&m->out[rank]);
    free(m->blocks);
    weft__movers_free(&m->list);
    weft__round_free(&m->round);
    *m = (moving){.out = m->out};
}

void weft__moving_free(weft_shard *shard)
{
    moving *m = shard->moving;
    if (m == NULL) return;
    moving_shrink(shard, m);
    free(m->out);
    free(m);
    shard->moving = NULL;
}

static weft_result sync(weft_shard *shard, moving *m, weft_result result)
{
    for (uint32_t rank = 0; rank < shard->map.ranks; rank++) m->out[rank].count = 0;
    m->list.count = 0;
    if (result == WEFT_OK) result = weft__movers_collect(shard, &m->list);
    result = weft__newborn_name(shard, &m->list, result);
    /* An error of all ends it here on all; a later one goes along with the counts of rows. */
    if (result == WEFT_OK) result = write_movers(shard, m);
    result = weft__mail_exchange(m->out, &m->round, WEFT__TAG_ROWS, result);
    if (result == WEFT_OK) result = move_all(shard, m);
    if (result == WEFT_OK) result = arrive(shard, m);
    if (result == WEFT_OK) result = weft__stubs_sweep(shard);
    return weft__ranks_agree_on(result, &shard->figures_asked);
}

weft_result weft__rows_sync(weft_shard *shard, weft_result result)
{
    moving *m = shard->moving;
    result = sync(shard, m, result);
    weft__shard_pin(shard);
    /* the first sync, in which all rows are new, needs far more memory than later ones */
    if (m->list.pair_capacity > KEPT_PAIRS && m->list.count < m->list.pair_capacity / 64)
        moving_shrink(shard, m);
    if (result == WEFT_OK) shard->keys_version = weft_world_advance_change_version(shard->world);
    return result;
}
