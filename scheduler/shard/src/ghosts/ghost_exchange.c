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
#define HAS_FAILED (UINT64_C(1) << 17)

/* A rank that is near, and the sectors that go there and come from there. Owner: the halo. */
typedef struct halo_peer {
    uint32_t rank;
    uint32_t *sends, *receives; /* ascending */
    uint64_t send_capacity, receive_capacity;
    uint32_t send_count, receive_count;
    bool is_out; /* it has said since the start that it failed */
    weft__bytes out;
} halo_peer;

/* The ranks that are near by a map. */
typedef struct halo_peers {
    halo_peer *list;
    uint64_t capacity;
    uint32_t count;
} halo_peers;

/* Owner: the shard. */
typedef struct weft__halo {
    halo_peers peers, next; /* by the map; by one that is prepared */
    uint32_t exchanges;     /* since the start */
    bool is_open;
    bool is_out;      /* this rank has said since the start that it failed: it exchanges no more */
    uint64_t failure; /* the word that says it */
    weft__round round;
} weft__halo;

/* ---- who sees what ---- */

static void free_peers(halo_peers *peers)
{
    for (uint32_t i = 0; i < peers->count; i++) {
        free(peers->list[i].sends);
        free(peers->list[i].receives);
        weft__bytes_free(&peers->list[i].out);
    }
    free(peers->list);
    *peers = (halo_peers){0};
}

void weft__ghosts_free(weft_shard *shard)
{
    weft__halo *halo = shard->ghosts;
    if (halo == NULL) return;
    free_peers(&halo->peers);
    free_peers(&halo->next);
    weft__round_free(&halo->round);
    free(halo);
    shard->ghosts = NULL;
}

/* The peer of a rank, made when it is new; NULL: memory is refused. */
static halo_peer *peer_of(halo_peers *peers, uint32_t rank)
{
    for (uint32_t i = 0; i < peers->count; i++)
        if (peers->list[i].rank == rank) return &peers->list[i];
    if (!weft__array_grow(&peers->list, &peers->capacity, peers->count + UINT64_C(1),
                          sizeof *peers->list))
        return NULL;
    peers->list[peers->count] = (halo_peer){.rank = rank};
    return &peers->list[peers->count++];
}

/* Adds a sector that is not the last one already: sectors come in ascending order. */
static bool add_sector(uint32_t **list, uint64_t *capacity, uint32_t *count, uint32_t sector)
{
    if (*count != 0 && (*list)[*count - 1] == sector) return true;
    if (!weft__array_grow(list, capacity, *count + UINT64_C(1), sizeof **list)) return false;
    (*list)[(*count)++] = sector;
    return true;
}

static bool add_pairs_of(weft_shard *shard, const uint32_t *rank_of, uint32_t sector)
{
    const weft__sector_map *map = &shard->map;
    const uint32_t rank = rank_of[sector];
    for (uint32_t k = map->near_begin[sector]; k < map->near_begin[sector + 1]; k++) {
        const uint32_t other = rank_of[map->near[k]];
        if (other == rank || (other != map->rank && rank != map->rank)) continue;
        halo_peer *peer = peer_of(&shard->ghosts->next, rank == map->rank ? other : rank);
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

bool weft__ghosts_prepare(weft_shard *shard, const uint32_t *rank_of)
{
    weft__halo *halo = shard->ghosts;
    free_peers(&halo->next);
    for (uint32_t sector = 0; sector < shard->map.count; sector++)
        if (!add_pairs_of(shard, rank_of, sector)) return false;
    return weft__round_make(&halo->round, halo->next.count);
}

static void take_prepared(weft__halo *halo)
{
    free_peers(&halo->peers);
    halo->peers = halo->next;
    halo->next = (halo_peers){0};
}

void weft__ghosts_set_map(weft_shard *shard, const uint32_t *rank_of)
{
    take_prepared(shard->ghosts);
    weft__sector_map_set(&shard->map, rank_of);
    weft__packs_forget_sent(shard);
    shard->keys_version = 0;
}

bool weft__ghosts_make(weft_shard *shard)
{
    shard->ghosts = calloc(1, sizeof *shard->ghosts);
    if (shard->ghosts == NULL || !weft__ghosts_prepare(shard, shard->map.rank_of)) return false;
    take_prepared(shard->ghosts);
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

/* Messages to all. */
static weft_result write_all(weft_shard *shard, const halo_peers *peers)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < peers->count && result == WEFT_OK; i++) {
        halo_peer *peer = &peers->list[i];
        peer->out.count = 0;
        for (uint32_t k = 0; k < peer->send_count && result == WEFT_OK; k++)
            if (!write_sector(shard, &peer->out, peer->sends[k])) result = weft__ranks_no_memory();
        if (result == WEFT_OK) result = weft__round_fits(peer->rank, &peer->out);
    }
    return result;
}

/* What the packs have is sent: from now on what changes. */
static void forget_changes(weft_shard *shard)
{
    for (uint32_t sector = 0; sector < shard->map.count; sector++) {
        if (!weft__sector_is_mine(shard, sector)) continue;
        shard->packs[sector].changed = 0;
        shard->packs[sector].rows_changed = false;
    }
}

/* Sends the messages, or that this rank has failed. */
static void send_all(weft_shard *shard, weft__halo *halo, weft_result result)
{
    halo->failure = HAS_FAILED | (uint64_t)result << 32;
    const weft__bytes failure = {.at = (unsigned char *)&halo->failure,
                                 .count = sizeof halo->failure};
    weft__round_open(&halo->round, WEFT__TAG_GHOSTS);
    for (uint32_t i = 0; i < halo->peers.count; i++) {
        const halo_peer *peer = &halo->peers.list[i];
        if (peer->is_out) continue;
        weft__round_expect(&halo->round, peer->rank);
        weft__round_send(&halo->round, peer->rank, result == WEFT_OK ? &peer->out : &failure);
        shard->stats.messages++;
    }
}

void weft__ghosts_start(weft_shard *shard)
{
    weft__halo *halo = shard->ghosts;
    halo->exchanges = 0;
    halo->is_out = false;
    for (uint32_t i = 0; i < halo->peers.count; i++) halo->peers.list[i].is_out = false;
}

weft_result weft__ghosts_begin(weft_shard *shard, weft_result result)
{
    weft__halo *halo = shard->ghosts;
    if (halo->is_out) return result;
    const uint64_t start = weft__shard_now();
    if (result == WEFT_OK) result = weft__packs_update(shard);
    const uint64_t packed = weft__shard_now();
    shard->stats.pack_ns += packed - start;
    if (result == WEFT_OK) result = write_all(shard, &halo->peers);
    send_all(shard, halo, result);
    if (result == WEFT_OK) forget_changes(shard);
    halo->is_open = true;
    halo->is_out = result != WEFT_OK;
    halo->exchanges++;
    shard->stats.exchanges++;
    shard->stats.send_ns += weft__shard_now() - packed;
    return result;
}

void weft__ghosts_poll(weft_shard *shard)
{
    if (shard->ghosts->is_open) weft__round_poll(&shard->ghosts->round);
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

/* The error of the rank that sent it; OK: it has sent its packs, or the letter is lost. */
static weft_result failure_in(const weft__letter *letter)
{
    uint64_t word = 0;
    if (letter->bytes.count == sizeof word) memcpy(&word, letter->bytes.at, sizeof word);
    return (word & HAS_FAILED) != 0 ? (weft_result)(word >> 32) : WEFT_OK;
}

/* Notes who has failed; the first of the errors. */
static weft_result read_failures(weft__halo *halo, weft_result result)
{
    const weft__letter *letter = halo->round.letters;
    for (uint32_t i = 0; i < halo->peers.count; i++) {
        halo_peer *peer = &halo->peers.list[i];
        if (peer->is_out) continue;
        const weft_result failure = failure_in(letter++);
        peer->is_out = failure != WEFT_OK;
        if (peer->is_out && result == WEFT_OK) result = weft__ranks_other(failure, peer->rank);
    }
    return result;
}

weft_result weft__ghosts_end(weft_shard *shard, weft_result result)
{
    weft__halo *halo = shard->ghosts;
    if (!halo->is_open) return result;
    halo->is_open = false;
    const uint64_t start = weft__shard_now();
    const weft_result waited = weft__round_wait(&halo->round);
    const uint64_t arrived = weft__shard_now();
    if (result == WEFT_OK) result = waited;
    if (waited != WEFT_IO) result = read_failures(halo, result);
    /* where all is well no peer is out, and letters are in the order of peers */
    for (uint32_t i = 0; i < halo->peers.count && result == WEFT_OK; i++)
        result = read_letter(shard, &halo->peers.list[i], &halo->round.letters[i]);
    if (result == WEFT_OK) result = weft__ghost_rows_apply(shard);
    shard->stats.wait_ns += arrived - start;
    shard->stats.apply_ns += weft__shard_now() - arrived;
    return result;
}

weft_result weft__ghosts_finish(weft_shard *shard, uint32_t planned, weft_result result)
{
    const weft__halo *halo = shard->ghosts;
    result = weft__ghosts_end(shard, result);
    if (result == WEFT_OK || halo->exchanges >= planned) return result;
    result = weft__ghosts_begin(shard, result);
    return weft__ghosts_end(shard, result);
}
