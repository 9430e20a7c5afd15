/* SPDX-License-Identifier: MIT */
/* sector_move.c: see sector_move.h.
 *
 * All that can fail because of what rows are happens before they come and leave. Movers that go
 * the same way lie together in the list, so they are written, taken out and put in many at
 * once. */
#include "sector_move.h"

#include <stdlib.h>

#include "arrival.h"
#include "mail.h"
#include "mover_list.h"
#include "newborn.h"
#include "ranks_agree.h"
#include "ranks_error.h"
#include "row_pack.h"
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
    /* rows that came, until the ranks agree; then rows that are elsewhere, until they have left */
    weft_entity *gone;
    uint64_t *gone_gids;
    uint64_t gone_capacity[2];
    uint32_t gone_count;
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

static bool reserve_gone(moving *m, uint64_t count)
{
    return weft__array_grow(&m->gone, &m->gone_capacity[0], count, sizeof *m->gone) &&
           weft__array_grow(&m->gone_gids, &m->gone_capacity[1], count, sizeof *m->gone_gids);
}

weft_result weft__rows_settle(weft_shard *shard)
{
    moving *m = shard->moving;
    uint32_t count = 0;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < m->gone_count; i++) {
        if (!weft_entity_is_alive(shard->world, m->gone[i])) continue;
        m->gone[count] = m->gone[i];
        m->gone_gids[count++] = m->gone_gids[i];
    }
    m->gone_count = count;
    if (count == 0) return WEFT_OK;
    if (shard->has_references)
        result = weft__stubs_leave(shard, m->gone, m->gone_gids, count);
    else if (weft_entity_destroy_many(shard->world, m->gone, count) != WEFT_OK)
        result = weft__ranks_fail(weft_world_error(shard->world)->code, "rows cannot leave: %s",
                                  weft_world_error(shard->world)->text);
    if (result == WEFT_OK) m->gone_count = 0;
    return result;
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

/* Rows get their sector of this rank, or leave the world. */
static weft_result move_all(weft_shard *shard, moving *m)
{
    weft_result result = WEFT_OK;
    m->gone_count = 0;
    for (uint32_t begin = 0, end; begin < m->list.count; begin = end) {
        end = weft__movers_to_rank(shard, &m->list, begin);
        const uint32_t count = end - begin;
        if (shard->map.rank_of[m->list.sectors[begin]] == shard->map.rank) {
            if (result == WEFT_OK) result = move_here(shard, m, begin, end);
            continue;
        }
        memcpy(m->gone + m->gone_count, m->list.entities + begin, count * sizeof *m->gone);
        memcpy(m->gone_gids + m->gone_count, m->list.gids + begin, count * sizeof *m->gone_gids);
        m->gone_count += count;
        shard->stats.rows_left += count;
    }
    const weft_result left = weft__rows_settle(shard);
    return result == WEFT_OK ? left : result;
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

/* Puts the rows that came into the world. */
static weft_result place_blocks(weft_shard *shard, moving *m)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < m->block_count; i++) rows += m->blocks[i].count;
    if (!reserve_gone(m, rows > m->list.count ? rows : m->list.count))
        return weft__ranks_no_memory();
    for (uint32_t i = 0; i < m->block_count; i++) {
        const weft__block *block = &m->blocks[i];
        if (block->count == 0) continue;
        memset(m->gone + m->gone_count, 0, block->count * sizeof *m->gone);
        memcpy(m->gone_gids + m->gone_count, block->gids, block->count * sizeof *m->gone_gids);
        m->gone_count += block->count;
    }
    if (rows == 0) return WEFT_OK;
    return weft__arrivals_place(shard, m->blocks, m->block_count, m->gone);
}

static weft_result arrive(weft_shard *shard, moving *m)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < m->round.letter_count && result == WEFT_OK; i++)
        result = read_letter(shard, m, &m->round.letters[i]);
    if (result == WEFT_OK) result = place_blocks(shard, m);
    for (uint32_t i = 0; i < m->block_count; i++) weft__block_free(&m->blocks[i]);
    m->block_count = 0;
    return result;
}

/* ---- all of it ---- */

bool weft__moving_make(weft_shard *shard)
{
    moving *m = shard->moving = calloc(1, sizeof *m);
    if (m != NULL) m->out = calloc(shard->map.ranks, sizeof *m->out);
    return m != NULL && m->out != NULL && weft__round_make(&m->round, shard->map.ranks - 1) &&
           weft__naming_make(shard);
}

/* Frees what grows with the rows that move. */
static void moving_shrink(const weft_shard *shard, moving *m)
{
    for (uint32_t rank = 0; m->out != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&m->out[rank]);
    free(m->blocks);
    free(m->gone);
    free(m->gone_gids);
    weft__movers_free(&m->list);
    weft__round_shrink(&m->round);
    *m = (moving){.out = m->out, .round = m->round};
}

void weft__moving_free(weft_shard *shard)
{
    moving *m = shard->moving;
    if (m == NULL) return;
    moving_shrink(shard, m);
    weft__naming_free(shard);
    weft__round_free(&m->round);
    free(m->out);
    free(m);
    shard->moving = NULL;
}

static weft_result sync(weft_shard *shard, moving *m, weft_result result)
{
    for (uint32_t rank = 0; rank < shard->map.ranks; rank++) m->out[rank].count = 0;
    m->list.count = 0;
    if (result == WEFT_OK) result = weft__rows_settle(shard);
    if (result == WEFT_OK) result = weft__movers_collect(shard, &m->list);
    result = weft__newborn_name(shard, &m->list, result);
    /* Errors that not all have go along with the counts of rows. */
    if (result == WEFT_OK) result = write_movers(shard, m);
    result = weft__mail_exchange(m->out, &m->round, WEFT__TAG_ROWS, result);
    if (result == WEFT_OK) result = m->round.failed;
    if (result == WEFT_OK) result = arrive(shard, m);
    if (result == WEFT_OK) result = weft__stubs_sweep(shard);
    result = weft__ranks_agree_on(result, &shard->figures_asked);
    if (result == WEFT_OK) return weft_ranks_agree(move_all(shard, m));
    (void)weft__rows_settle(shard); /* those that came, where some did */
    return result;
}

weft_result weft__rows_sync(weft_shard *shard, weft_result result)
{
    moving *m = shard->moving;
    result = sync(shard, m, result);
    weft__shard_pin(shard);
    if (result != WEFT_OK) weft__packs_forget_sent(shard); /* what others have is not known */
    /* the first sync, in which all rows are new, needs far more memory than later ones */
    if (m->gone_count == 0 && m->list.pair_capacity > KEPT_PAIRS &&
        m->list.count < m->list.pair_capacity / 64)
        moving_shrink(shard, m), weft__naming_shrink(shard);
    if (result == WEFT_OK) shard->keys_version = weft_world_advance_change_version(shard->world);
    return result;
}
