/* SPDX-License-Identifier: MIT */
/* ghost_exchange.c: the sectors that each near rank sees are found when the map changes; a
 * message is written from packs and read back into packs. Which ghosts there are as entities is
 * left to ghost_rows.c. */
#include "ghost_exchange.h"

#include <stdlib.h>

#include "ghost_rows.h"
#include "ranks_error.h"
#include "row_pack.h"
#include "shard_clock.h"

#define ROWS_FOLLOW (UINT64_C(1) << 16)

/* A rank that is near, and the sectors that go there and come from there. Owner: the halo. */
typedef struct halo_peer {
    uint32_t rank;
    uint32_t *sends, *receives; /* ascending */
    uint64_t send_capacity, receive_capacity;
    uint32_t send_count, receive_count;
    weft__bytes out;
} halo_peer;

/* Owner: the shard. Peers ascend by rank and go with the map of `epoch`. */
typedef struct weft__halo {
    halo_peer *peers;
    uint64_t peer_capacity;
    uint32_t peer_count;
    uint32_t epoch;
    bool is_open;
    weft__round round;
} weft__halo;

/* ---- who sees what ---- */

static void free_peers(weft__halo *halo)
{
    for (uint32_t i = 0; i < halo->peer_count; i++) {
        free(halo->peers[i].sends);
        free(halo->peers[i].receives);
        weft__bytes_free(&halo->peers[i].out);
    }
    halo->peer_count = 0;
}

void weft__ghosts_free(weft_shard *shard)
{
    weft__halo *halo = shard->ghosts;
    if (halo == NULL) return;
    free_peers(halo);
    free(halo->peers);
    weft__round_free(&halo->round);
    free(halo);
    shard->ghosts = NULL;
}

/* The peer of a rank, made when it is new; NULL: memory is refused. */
static halo_peer *peer_of(weft__halo *halo, uint32_t rank)
{
    for (uint32_t i = 0; i < halo->peer_count; i++)
        if (halo->peers[i].rank == rank) return &halo->peers[i];
    if (!weft__array_grow(&halo->peers, &halo->peer_capacity, halo->peer_count + UINT64_C(1),
                          sizeof *halo->peers))
        return NULL;
    halo->peers[halo->peer_count] = (halo_peer){.rank = rank};
    return &halo->peers[halo->peer_count++];
}

/* Adds a sector that is not the last one already: sectors come in ascending order. */
static bool add_sector(uint32_t **list, uint64_t *capacity, uint32_t *count, uint32_t sector)
{
    if (*count != 0 && (*list)[*count - 1] == sector) return true;
    if (!weft__array_grow(list, capacity, *count + UINT64_C(1), sizeof **list)) return false;
    (*list)[(*count)++] = sector;
    return true;
}

static bool add_pairs_of(weft_shard *shard, uint32_t sector)
{
    const weft__sector_map *map = &shard->map;
    const uint32_t rank = map->rank_of[sector];
    for (uint32_t k = map->near_begin[sector]; k < map->near_begin[sector + 1]; k++) {
        const uint32_t other = map->rank_of[map->near[k]];
        if (other == rank || (other != map->rank && rank != map->rank)) continue;
        halo_peer *peer = peer_of(shard->ghosts, rank == map->rank ? other : rank);
        if (peer == NULL) return false;
        const bool is_done =
            rank == map->rank
                ? add_sector(&peer->sends, &peer->send_capacity, &peer->send_count, sector)
                : add_sector(&peer->receives, &peer->receive_capacity, &peer->receive_count,
                             sector);
        if (!is_done) return false;
    }
    return true;
}

/* Finds the peers again where the map has changed. */
static bool update_peers(weft_shard *shard)
{
    if (shard->ghosts == NULL) shard->ghosts = calloc(1, sizeof *shard->ghosts);
    weft__halo *halo = shard->ghosts;
    if (halo == NULL) return false;
    if (halo->epoch == shard->map.epoch) return true;
    free_peers(halo);
    for (uint32_t sector = 0; sector < shard->map.count; sector++) {
        const uint8_t seen = shard->map.visibility[sector];
        if ((seen & (WEFT__SECTOR_BORDER | WEFT__SECTOR_GHOST)) == 0) continue;
        if (!add_pairs_of(shard, sector)) return false;
    }
    halo->epoch = shard->map.epoch;
    return true;
}

/* ---- sending ---- */

static bool write_sector(weft_shard *shard, weft__bytes *out, uint32_t sector)
{
    const weft__pack *pack = &shard->packs[sector];
    const uint64_t rows = pack->count;
    const uint64_t word =
        (pack->changed & 0xFFFF) | (pack->rows_changed ? ROWS_FOLLOW : 0) | rows << 32;
    bool is_done = weft__bytes_word(out, word);
    const uint64_t before = out->count;
    if (pack->rows_changed)
        is_done = is_done && weft__bytes_put(out, pack->gids, rows * sizeof *pack->gids) &&
                  weft__bytes_put(out, pack->present, rows * sizeof *pack->present);
    for (uint32_t i = 0; i < shard->halo_count && is_done; i++)
        if ((pack->changed >> i & 1) != 0)
            is_done = weft__bytes_put(out, pack->columns[i], rows * shard->halo_bytes[i]);
    shard->stats.header_bytes += sizeof word;
    shard->stats.value_bytes += out->count - before;
    if (out->count != before) shard->stats.ghost_rows += rows;
    return is_done;
}

static weft_result send_to(weft_shard *shard, halo_peer *peer)
{
    peer->out.count = 0;
    for (uint32_t i = 0; i < peer->send_count; i++)
        if (!write_sector(shard, &peer->out, peer->sends[i])) return weft__ranks_no_memory();
    shard->stats.messages++;
    return weft__round_send(&shard->ghosts->round, peer->rank, &peer->out);
}

weft_result weft__ghosts_begin(weft_shard *shard)
{
    const uint64_t start = weft__shard_now();
    weft_result result = weft__packs_update(shard);
    if (result == WEFT_OK && !update_peers(shard)) result = weft__ranks_no_memory();
    if (result != WEFT_OK) return result;
    weft__halo *halo = shard->ghosts;
    const uint64_t packed = weft__shard_now();
    shard->stats.pack_ns += packed - start;
    weft__round_open(&halo->round, WEFT__TAG_GHOSTS);
    halo->is_open = true;
    for (uint32_t i = 0; i < halo->peer_count && result == WEFT_OK; i++)
        result = weft__round_expect(&halo->round, halo->peers[i].rank);
    for (uint32_t i = 0; i < halo->peer_count && result == WEFT_OK; i++)
        result = send_to(shard, &halo->peers[i]);
    for (uint32_t sector = 0; sector < shard->map.count; sector++) {
        if (!weft__sector_is_mine(shard, sector)) continue;
        shard->packs[sector].changed = 0;
        shard->packs[sector].rows_changed = false;
    }
    shard->stats.exchanges++;
    shard->stats.send_ns += weft__shard_now() - packed;
    return result;
}

void weft__ghosts_poll(weft_shard *shard)
{
    if (shard->ghosts != NULL && shard->ghosts->is_open) weft__round_poll(&shard->ghosts->round);
}

/* ---- receiving ---- */

static weft_result read_sector(weft_shard *shard, weft__reader *in, uint32_t sector)
{
    weft__pack *pack = &shard->packs[sector];
    uint64_t word;
    if (!weft__reader_word(in, &word)) return WEFT_CORRUPT;
    const uint32_t rows = (uint32_t)(word >> 32), mask = (uint32_t)(word & 0xFFFF);
    if (!weft__pack_reserve(shard, pack, rows)) return weft__ranks_no_memory();
    if ((word & ROWS_FOLLOW) != 0) {
        const void *gids = weft__reader_take(in, rows * UINT64_C(8));
        const void *present = weft__reader_take(in, rows * UINT64_C(4));
        if (gids == NULL || present == NULL) return WEFT_CORRUPT;
        if (rows != 0) memcpy(pack->gids, gids, rows * sizeof *pack->gids);
        if (rows != 0) memcpy(pack->present, present, rows * sizeof *pack->present);
        pack->rows_changed = true;
        pack->count = rows;
    }
    if (pack->count != rows || mask >> shard->halo_count != 0) return WEFT_CORRUPT;
    for (uint32_t i = 0; i < shard->halo_count; i++) {
        if ((mask >> i & 1) == 0) continue;
        const void *column = weft__reader_take(in, (uint64_t)rows * shard->halo_bytes[i]);
        if (column == NULL) return WEFT_CORRUPT;
        if (rows != 0) memcpy(pack->columns[i], column, (size_t)rows * shard->halo_bytes[i]);
    }
    pack->changed |= mask;
    return WEFT_OK;
}

static weft_result read_letter(weft_shard *shard, const halo_peer *peer, const weft__letter *letter)
{
    weft__reader in = {letter->bytes.at, letter->bytes.at + letter->bytes.count};
    weft_result result = WEFT_OK;
    shard->stats.received_bytes += letter->bytes.count;
    for (uint32_t i = 0; i < peer->receive_count && result == WEFT_OK; i++)
        result = read_sector(shard, &in, peer->receives[i]);
    if (result == WEFT_CORRUPT || (result == WEFT_OK && in.at != in.end))
        return weft__ranks_fail(WEFT_CORRUPT,
                                "the ghosts that rank %u sent are not those of its map: all ranks "
                                "must make the same calls in the same order",
                                peer->rank);
    return result;
}

weft_result weft__ghosts_end(weft_shard *shard)
{
    weft__halo *halo = shard->ghosts;
    if (halo == NULL || !halo->is_open) return WEFT_OK;
    halo->is_open = false;
    const uint64_t start = weft__shard_now();
    weft_result result = weft__round_wait(&halo->round);
    const uint64_t arrived = weft__shard_now();
    for (uint32_t i = 0; i < halo->peer_count && result == WEFT_OK; i++)
        result = read_letter(shard, &halo->peers[i], &halo->round.letters[i]);
    if (result == WEFT_OK) result = weft__ghost_rows_apply(shard);
    shard->stats.wait_ns += arrived - start;
    shard->stats.apply_ns += weft__shard_now() - arrived;
    return result;
}
