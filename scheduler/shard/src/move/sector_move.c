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
    /* rows that came; after an error those that must leave, until they have */
    weft_entity *gone;
    uint64_t *gone_gids;
    uint64_t gone_capacity[2];
    uint32_t gone_count;
    bool is_back;    /* after an error: the rows of `out` must come back */
    bool has_failed; /* the last sync, on all ranks */
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

/* Rows go to another rank: they leave the world. */
static weft_result take_leavers(weft_shard *shard, const weft_entity *entities,
                                const uint64_t *gids, uint32_t count)
{
    if (shard->has_references) return weft__stubs_leave(shard, entities, gids, count);
    const weft_result result = weft_entity_destroy_many(shard->world, entities, count);
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
    const weft__mover_list *list = &m->list;
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < list->count && result == WEFT_OK; begin = end) {
        end = weft__movers_to_rank(shard, list, begin);
        if (shard->map.rank_of[list->sectors[begin]] == shard->map.rank) {
            result = move_here(shard, m, begin, end);
            continue;
        }
        shard->stats.rows_left += end - begin;
        result = take_leavers(shard, list->entities + begin, list->gids + begin, end - begin);
    }
    return result;
}

/* ---- arriving ---- */

static weft_result read_blocks(weft_shard *shard, moving *m, const weft__bytes *bytes)
{
    weft__reader in = {bytes->at, bytes->at + bytes->count};
    weft_result result = WEFT_OK;
    while (in.at != in.end && result == WEFT_OK) {
        if (!weft__array_grow(&m->blocks, &m->block_capacity, m->block_count + UINT64_C(1),
                              sizeof *m->blocks))
            return weft__ranks_no_memory();
        result = weft__block_read(shard, &in, NULL, &m->blocks[m->block_count]);
        m->block_count += result == WEFT_OK;
    }
    return result;
}

static void free_blocks(moving *m)
{
    for (uint32_t i = 0; i < m->block_count; i++) weft__block_free(&m->blocks[i]);
    m->block_count = 0;
}

static bool reserve_gone(moving *m, uint64_t count)
{
    return weft__array_grow(&m->gone, &m->gone_capacity[0], count, sizeof *m->gone) &&
           weft__array_grow(&m->gone_gids, &m->gone_capacity[1], count, sizeof *m->gone_gids);
}

/* Reads what came: all that needs memory before a row moves, but for the world's. */
static weft_result read_letters(weft_shard *shard, moving *m)
{
    uint64_t rows = m->list.count;
    weft_result result = m->round.failed;
    for (uint32_t i = 0; i < m->round.letter_count && result == WEFT_OK; i++) {
        result = read_blocks(shard, m, &m->round.letters[i].bytes);
        shard->stats.received_bytes += m->round.letters[i].bytes.count;
    }
    for (uint32_t i = 0; i < m->block_count; i++) rows += m->blocks[i].count;
    if (result == WEFT_OK && !reserve_gone(m, rows)) result = weft__ranks_no_memory();
    return result;
}

/* Puts the rows of the blocks into the world, and notes them. */
static weft_result place_blocks(weft_shard *shard, moving *m)
{
    m->gone_count = 0;
    for (uint32_t i = 0; i < m->block_count; i++) {
        const weft__block *block = &m->blocks[i];
        if (block->count == 0) continue;
        memset(m->gone + m->gone_count, 0, block->count * sizeof *m->gone);
        memcpy(m->gone_gids + m->gone_count, block->gids, block->count * sizeof *m->gone_gids);
        m->gone_count += block->count;
    }
    if (m->gone_count == 0) return WEFT_OK;
    shard->stats.rows_arrived += m->gone_count;
    return weft__arrivals_place(shard, m->blocks, m->block_count, m->gone);
}

/* ---- after an error ---- */

/* What came goes, what left comes back. */
static void turn_back(const weft_shard *shard, moving *m)
{
    const weft__mover_list *list = &m->list;
    m->is_back = true;
    for (uint32_t i = 0; i < list->count; i++) {
        if (shard->map.rank_of[list->sectors[i]] == shard->map.rank) continue;
        m->gone[m->gone_count] = list->entities[i];
        m->gone_gids[m->gone_count++] = list->gids[i];
    }
}

static weft_result take_out(weft_shard *shard, moving *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->gone_count; i++) {
        if (!weft_entity_is_alive(shard->world, m->gone[i])) continue;
        m->gone[count] = m->gone[i];
        m->gone_gids[count++] = m->gone_gids[i];
    }
    m->gone_count = count;
    const weft_result result =
        count != 0 ? take_leavers(shard, m->gone, m->gone_gids, count) : WEFT_OK;
    if (result == WEFT_OK) m->gone_count = 0;
    return result;
}

static weft_result settle(weft_shard *shard, moving *m)
{
    weft_result result = take_out(shard, m);
    for (uint32_t rank = 0; rank < shard->map.ranks && m->is_back && result == WEFT_OK; rank++)
        result = read_blocks(shard, m, &m->out[rank]);
    if (result == WEFT_OK && m->is_back) result = place_blocks(shard, m);
    free_blocks(m);
    if (result != WEFT_OK) return result;
    m->is_back = false;
    m->gone_count = 0;
    return WEFT_OK;
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
    *m = (moving){.out = m->out, .round = m->round, .has_failed = m->has_failed};
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
    const weft_result settled = settle(shard, m);
    if (result == WEFT_OK) result = settled;
    for (uint32_t rank = 0; rank < shard->map.ranks && !m->is_back; rank++) m->out[rank].count = 0;
    m->list.count = 0;
    if (result == WEFT_OK) result = weft__movers_collect(shard, &m->list);
    result = weft__newborn_name(shard, &m->list, result);
    /* Errors that not all have go along with the counts of rows. */
    if (result == WEFT_OK) result = write_movers(shard, m);
    result = weft__mail_exchange(m->out, &m->round, WEFT__TAG_ROWS, result);
    if (result == WEFT_OK) result = read_letters(shard, m);
    const bool has_begun = result == WEFT_OK;
    if (result == WEFT_OK) result = move_all(shard, m);
    if (result == WEFT_OK) result = place_blocks(shard, m);
    if (result == WEFT_OK) result = weft__stubs_sweep(shard);
    free_blocks(m);
    result = weft__ranks_agree_on(result, &shard->figures_asked);
    if (has_begun && result != WEFT_OK) turn_back(shard, m);
    if (has_begun && result != WEFT_OK) (void)settle(shard, m);
    if (result == WEFT_OK) m->gone_count = 0;
    return result;
}

weft_result weft__rows_sync(weft_shard *shard, weft_result result)
{
    moving *m = shard->moving;
    result = sync(shard, m, result);
    m->has_failed = result != WEFT_OK;
    weft__shard_pin(shard);
    if (result != WEFT_OK) weft__packs_forget_sent(shard); /* what others have is not known */
    /* the first sync, in which all rows are new, needs far more memory than later ones */
    if (!m->is_back && m->list.pair_capacity > KEPT_PAIRS &&
        m->list.count < m->list.pair_capacity / 64)
        moving_shrink(shard, m), weft__naming_shrink(shard);
    if (result == WEFT_OK) shard->keys_version = weft_world_advance_change_version(shard->world);
    return result;
}

weft_result weft__rows_resume(weft_shard *shard)
{
    return shard->moving->has_failed ? weft__rows_sync(shard, WEFT_OK) : WEFT_OK;
}
