/* SPDX-License-Identifier: MIT */
/* ghost_exchange.c: messages of ghosts, and the entities that they become.
 *
 * The sectors that each near rank sees are found when the map changes; a message is written from
 * packs and read back into packs. Then ghosts are made equal to the packs that changed: one pass
 * counts those that there must be and that there are, by sector and components; the next one writes
 * values, chunk by chunk, in the order of packs. Nothing of that is kept between calls.
 *
 * A ghost has ShardGhost (the gid), ShardSector, Inactive and the halo components of its row. The
 * ghosts of a sector that have the same components are the rows of the pack in its order; where
 * rows come and leave, entities are added and taken at the end and all values written again. So a
 * ghost's handle means nothing from one exchange to the next. */
#include "ghost_exchange.h"
#include "messages.h"
#include "row_pack.h"
#include "shard_clock.h"

#include <stdlib.h>

/* The ghosts of a sector that have the same components. */
typedef struct ghost_kind {
    uint32_t sector, present;
    uint32_t need, have;
    uint32_t filled; /* place in the pack up to which rows were given */
    uint32_t next;   /* kind of the same sector; NONE: none */
} ghost_kind;

#define NONE UINT32_MAX

/* Memory of one call. */
typedef struct apply_pass {
    weft_shard *shard;
    uint32_t *first; /* [sector]: its first kind; NONE */
    ghost_kind *kinds;
    uint64_t kind_capacity;
    uint32_t kind_count;
    weft_entity *list; /* to be destroyed, then created */
    uint64_t list_capacity;
    uint32_t list_count;
} apply_pass;

static bool is_changed(const weft_shard *shard, uint32_t sector)
{
    return shard->packs[sector].rows_changed || shard->packs[sector].changed != 0;
}

/* NULL: memory is refused. */
static ghost_kind *kind_of(apply_pass *pass, uint32_t sector, uint32_t present)
{
    for (uint32_t k = pass->first[sector]; k != NONE; k = pass->kinds[k].next)
        if (pass->kinds[k].present == present) return &pass->kinds[k];
    if (!weft__array_grow(&pass->kinds, &pass->kind_capacity, pass->kind_count + UINT64_C(1),
                          sizeof *pass->kinds))
        return NULL;
    ghost_kind *kind = &pass->kinds[pass->kind_count];
    *kind = (ghost_kind){.sector = sector, .present = present, .next = pass->first[sector]};
    pass->first[sector] = pass->kind_count++;
    return kind;
}

static uint32_t slice_sector(const weft_slice *slice)
{
    uint32_t stored;
    memcpy(&stored, weft_slice_read_shared(slice, 1), sizeof stored);
    return stored - 1;
}

static uint32_t slice_present(const weft_shard *shard, const weft_slice *slice)
{
    uint32_t present = 0;
    for (uint32_t i = 0; i < shard->halo_count; i++)
        if (slice->columns[i + 2] != NULL) present |= UINT32_C(1) << i;
    return present;
}

/* ---- how many there must be ---- */

static bool count_need(apply_pass *pass)
{
    const weft_shard *shard = pass->shard;
    for (uint32_t sector = 0; sector < shard->map.count; sector++) {
        const weft__pack *pack = &shard->packs[sector];
        if (weft__sector_is_mine(shard, sector) || !pack->rows_changed) continue;
        ghost_kind *kind = NULL;
        for (uint32_t i = 0; i < pack->count; i++) {
            if (kind == NULL || kind->present != pack->present[i])
                kind = kind_of(pass, sector, pack->present[i]);
            if (kind == NULL) return false;
            kind->need++;
        }
    }
    return true;
}

/* Counts those that there are and lists those that are too many. */
static bool count_have(apply_pass *pass)
{
    const weft_shard *shard = pass->shard;
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, shard->ghost_query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        const uint32_t sector = slice_sector(&cursor.slice), count = cursor.slice.count;
        const bool is_mine = weft__sector_is_mine(shard, sector); /* it moved here */
        if (!is_mine && !shard->packs[sector].rows_changed) continue;
        ghost_kind *kind = kind_of(pass, sector, slice_present(shard, &cursor.slice));
        is_done = kind != NULL;
        if (!is_done) break;
        kind->have += count;
        if (kind->have <= kind->need) continue;
        const uint32_t surplus = kind->have - kind->need < count ? kind->have - kind->need : count;
        is_done = weft__array_grow(&pass->list, &pass->list_capacity,
                                   pass->list_count + (uint64_t)surplus, sizeof *pass->list);
        if (!is_done) break;
        memcpy(pass->list + pass->list_count, weft_slice_entities(&cursor.slice) + count - surplus,
               surplus * sizeof *pass->list);
        pass->list_count += surplus;
        kind->have -= surplus;
    }
    weft_query_end(&cursor);
    return is_done;
}

static weft_archetype ghost_archetype(const weft_shard *shard, uint32_t present)
{
    weft_component list[WEFT_SHARD_HALO_LIMIT + 3] = {shard->ghost, shard->sector,
                                                      weft_component_inactive(shard->world)};
    uint32_t count = 3;
    for (uint32_t i = 0; i < shard->halo_count; i++)
        if ((present >> i & 1) != 0) list[count++] = shard->halo[i];
    return weft_archetype_create(shard->world, list, count);
}

static weft_result add_ghosts(apply_pass *pass, const ghost_kind *kind)
{
    const weft_shard *shard = pass->shard;
    const uint32_t count = kind->need - kind->have, stored = weft__sector_stored(kind->sector);
    if (!weft__array_grow(&pass->list, &pass->list_capacity, count, sizeof *pass->list))
        return weft__ranks_no_memory();
    const weft_values sector = {shard->sector, &stored};
    const weft_result result = weft_entity_create_filled(
        shard->world, ghost_archetype(shard, kind->present), &sector, 1, count, pass->list);
    if (result != WEFT_OK)
        return weft__ranks_fail(result, "ghosts cannot be created: %s",
                                weft_world_error(shard->world)->text);
    return WEFT_OK;
}

/* As many entities of each kind as there are rows. */
static weft_result match_counts(apply_pass *pass)
{
    if (!count_need(pass) || !count_have(pass)) return weft__ranks_no_memory();
    if (pass->list_count != 0) {
        weft_result result =
            weft_entity_destroy_many(pass->shard->world, pass->list, pass->list_count);
        if (result != WEFT_OK) return weft__ranks_fail(result, "ghosts cannot be destroyed");
    }
    for (uint32_t i = 0; i < pass->kind_count; i++) {
        if (pass->kinds[i].need <= pass->kinds[i].have) continue;
        weft_result result = add_ghosts(pass, &pass->kinds[i]);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

/* ---- values ---- */

/* Gives rows [from, from + count) of a pack to rows of a slice. */
static void fill_rows(const weft_shard *shard, const weft_slice *slice, uint32_t row,
                      const weft__pack *pack, uint32_t from, uint32_t count)
{
    if (pack->rows_changed) {
        uint64_t *gids = weft_slice_write(slice, 0);
        memcpy(gids + row, pack->gids + from, count * sizeof *gids);
    }
    memcpy(pack->entities + from, weft_slice_entities(slice) + row, count * sizeof(weft_entity));
    for (uint32_t i = 0; i < shard->halo_count; i++) {
        if ((pack->changed >> i & 1) == 0 || slice->columns[i + 2] == NULL) continue;
        const size_t bytes = shard->halo_bytes[i];
        unsigned char *column = weft_slice_write(slice, i + 2);
        memcpy(column + row * bytes, pack->columns[i] + from * bytes, count * bytes);
    }
}

static bool fill_ghosts(apply_pass *pass)
{
    const weft_shard *shard = pass->shard;
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, shard->ghost_query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        const uint32_t sector = slice_sector(&cursor.slice);
        if (!is_changed(shard, sector)) continue;
        const weft__pack *pack = &shard->packs[sector];
        ghost_kind *kind = kind_of(pass, sector, slice_present(shard, &cursor.slice));
        is_done = kind != NULL;
        for (uint32_t row = 0; is_done && row < cursor.slice.count;) {
            uint32_t from = kind->filled, end;
            while (from < pack->count && pack->present[from] != kind->present) from++;
            const uint32_t left = cursor.slice.count - row;
            for (end = from; end < pack->count && end - from < left;) {
                if (pack->present[end] != kind->present) break;
                end++;
            }
            if (end == from) break; /* never: there are as many ghosts as rows */
            fill_rows(shard, &cursor.slice, row, pack, from, end - from);
            kind->filled = end;
            row += end - from;
        }
    }
    weft_query_end(&cursor);
    return is_done;
}

static weft_result apply(apply_pass *pass)
{
    weft_shard *shard = pass->shard;
    bool has_values = false, has_rows = false;
    for (uint32_t sector = 0; sector < shard->map.count; sector++) {
        if (weft__sector_is_mine(shard, sector)) continue;
        has_values |= is_changed(shard, sector);
        has_rows |= shard->packs[sector].rows_changed;
    }
    if (!has_values) return WEFT_OK;
    pass->first = malloc(shard->map.count * sizeof *pass->first);
    if (pass->first == NULL) return weft__ranks_no_memory();
    memset(pass->first, 0xFF, shard->map.count * sizeof *pass->first);
    weft_result result = has_rows ? match_counts(pass) : WEFT_OK;
    if (result == WEFT_OK && !fill_ghosts(pass)) result = weft__ranks_no_memory();
    for (uint32_t sector = 0; sector < shard->map.count && result == WEFT_OK; sector++) {
        if (weft__sector_is_mine(shard, sector)) continue;
        shard->packs[sector].changed = 0;
        shard->packs[sector].rows_changed = false;
    }
    return result;
}

/* Brings ghosts in line with packs that changed. Owner, structure may change. Errors: those of
 * creating and destroying entities. */
static weft_result ghost_rows_apply(weft_shard *shard)
{
    apply_pass pass = {.shard = shard};
    weft_result result = apply(&pass);
    free(pass.first);
    free(pass.kinds);
    free(pass.list);
    return result;
}

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
    if (result == WEFT_OK) result = ghost_rows_apply(shard);
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
