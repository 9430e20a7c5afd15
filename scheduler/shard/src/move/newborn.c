/* SPDX-License-Identifier: MIT */
/* newborn.c: requests for gids go to the rank that has the sector (mail.h), which sorts all of a
 * sector by hash and answers. Counters are never shared. */
#include "newborn.h"

#include <stdlib.h>

#include "mail.h"
#include "ranks_error.h"

#define COUNTER_BITS 40

/* A new row, here or on another rank. A value; sent as it is. */
typedef struct name_request {
    uint64_t hash;
    uint32_t sector;
    uint32_t index; /* of the mover, in the list of the rank that asks */
    uint32_t rank;  /* that asks */
    uint32_t unused;
    uint64_t gid; /* the answer */
} name_request;

/* Memory of namings, used again by each. Owner: the shard. */
typedef struct weft__naming {
    weft__mover_list *list; /* of the naming that runs */
    weft__bytes *out;       /* [rank]: requests; those to this rank are answered there */
    weft__round asked, answered;
    name_request **requests; /* that this rank answers, where they lie */
    uint64_t capacity;
    uint32_t count;
    uint64_t failure; /* why it cannot; sent in place of answers */
} naming;

/* ---- what is asked ---- */

/* Asks for the gid of a mover. */
static bool request_gid(const weft_shard *shard, uint32_t index, uint64_t hash)
{
    const weft__sector_map *map = &shard->map;
    const uint32_t sector = shard->naming->list->sectors[index];
    const name_request request = {
        .hash = hash, .sector = sector, .index = index, .rank = map->rank};
    return weft__bytes_put(&shard->naming->out[map->rank_of[sector]], &request, sizeof request);
}

/* Asks for gids of movers [begin, end), which are new and of one archetype. */
static weft_result hash_newborn(weft_shard *shard, uint32_t begin, uint32_t end)
{
    weft__bytes bytes = {0};
    weft__block block = {0};
    uint64_t(*hashes)[2] = calloc(end - begin, sizeof *hashes);
    if (hashes == NULL) return weft__ranks_no_memory();
    weft_result result = weft__movers_write(shard, shard->naming->list, begin, end, &bytes);
    weft__reader in = {bytes.at, bytes.at + bytes.count};
    if (result == WEFT_OK) result = weft__block_read(shard, &in, NULL, &block);
    if (result == WEFT_OK) weft__block_hash(shard, &block, hashes);
    for (uint32_t i = begin; i < end && result == WEFT_OK; i++)
        if (!request_gid(shard, i, hashes[i - begin][0])) result = weft__ranks_no_memory();
    weft__block_free(&block);
    weft__bytes_free(&bytes);
    free(hashes);
    return result;
}

/* The new ones among movers [begin, end), which are of one archetype: run by run. */
static weft_result hash_group(weft_shard *shard, uint32_t begin, uint32_t end)
{
    const uint64_t *gids = shard->naming->list->gids;
    weft_result result = WEFT_OK;
    for (uint32_t next; begin < end && result == WEFT_OK; begin = next) {
        for (next = begin + 1; next < end; next++)
            if ((gids[next] == 0) != (gids[begin] == 0)) break;
        if (gids[begin] == 0) result = hash_newborn(shard, begin, next);
    }
    return result;
}

/* Room for what comes back from other ranks: gids that are given and lost would be given away. */
static weft_result reserve_answers(const naming *n, uint32_t ranks, uint32_t mine)
{
    uint32_t at = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (rank == mine || n->out[rank].count == 0) continue;
        weft__bytes *bytes = &n->answered.letters[at++].bytes;
        if (!weft__array_grow(&bytes->at, &bytes->capacity, n->out[rank].count, 1))
            return weft__ranks_no_memory();
    }
    return WEFT_OK;
}

static weft_result prepare(weft_shard *shard)
{
    const naming *n = shard->naming;
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < n->list->count && result == WEFT_OK; begin = end) {
        end = weft__movers_alike(n->list, begin, n->list->count);
        result = hash_group(shard, begin, end);
    }
    return result == WEFT_OK ? reserve_answers(n, shard->map.ranks, shard->map.rank) : result;
}

/* ---- answers ---- */

static int by_hash(const void *a, const void *b)
{
    const name_request *left = *(name_request *const *)a, *right = *(name_request *const *)b;
    if (left->sector != right->sector) return left->sector < right->sector ? -1 : 1;
    if (left->hash != right->hash) return left->hash < right->hash ? -1 : 1;
    if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static bool list_requests(naming *n, const weft__bytes *bytes)
{
    const uint64_t count = bytes->count / sizeof(name_request);
    name_request *requests = (name_request *)(void *)bytes->at;
    if (!weft__array_grow(&n->requests, &n->capacity, n->count + count, sizeof *n->requests))
        return false;
    for (uint64_t i = 0; i < count; i++) n->requests[n->count++] = &requests[i];
    return true;
}

/* Lists what this rank was asked for. */
static weft_result collect(naming *n, uint32_t mine)
{
    bool is_done = list_requests(n, &n->out[mine]);
    for (uint32_t i = 0; i < n->asked.letter_count && is_done; i++)
        is_done = list_requests(n, &n->asked.letters[i].bytes);
    return is_done ? WEFT_OK : weft__ranks_no_memory();
}

static weft_result give_gids(weft_shard *shard, const naming *n)
{
    if (n->count != 0) qsort(n->requests, n->count, sizeof *n->requests, by_hash);
    for (uint32_t i = 0; i < n->count; i++) {
        name_request *request = n->requests[i];
        const uint64_t counter = ++shard->counters[request->sector];
        if (counter >> COUNTER_BITS != 0)
            return weft__ranks_fail(WEFT_LIMIT, "sector %u has given away all of its 2^40 gids",
                                    request->sector);
        request->gid = (uint64_t)request->sector << COUNTER_BITS | counter;
    }
    return WEFT_OK;
}

/* Into the world, and into the list. */
static weft_result take_gid(const weft_shard *shard, const name_request *request)
{
    weft__mover_list *list = shard->naming->list;
    const weft_entity entity = list->entities[request->index];
    uint64_t *gid = weft_entity_write(shard->world, entity, shard->gid);
    if (gid == NULL)
        return weft__ranks_fail(WEFT_STALE_ENTITY, "a new row has ended: a hook changes the "
                                                   "world during weft_shard_sync");
    *gid = list->gids[request->index] = request->gid;
    return WEFT_OK;
}

/* Requests with their answers, or a word: the error of the rank that should have answered. */
static weft_result take_gids(const weft_shard *shard, uint32_t from, const weft__bytes *bytes)
{
    const name_request *requests = (const name_request *)(const void *)bytes->at;
    weft_result result = WEFT_OK;
    if (bytes->count == sizeof(uint64_t)) {
        uint64_t failure;
        memcpy(&failure, bytes->at, sizeof failure);
        return weft__ranks_other((weft_result)failure, from);
    }
    for (uint64_t i = 0; i < bytes->count / sizeof *requests && result == WEFT_OK; i++)
        result = take_gid(shard, &requests[i]);
    return result;
}

/* Sends each rank its requests with their answers; where there are none, the error in their place,
 * as it waits. Takes the answers of others, also then: they are given. */
static weft_result answer(const weft_shard *shard, naming *n, weft_result result)
{
    weft__round_open(&n->answered, WEFT__TAG_NAMED);
    for (uint32_t rank = 0; rank < shard->map.ranks; rank++)
        if (rank != shard->map.rank && n->out[rank].count != 0)
            weft__round_expect(&n->answered, rank);
    n->failure = (uint64_t)result;
    const weft__bytes failure = {.at = (unsigned char *)&n->failure, .count = sizeof n->failure};
    for (uint32_t i = 0; i < n->asked.letter_count; i++) {
        const weft__letter *letter = &n->asked.letters[i];
        weft__round_send(&n->answered, letter->from, result == WEFT_OK ? &letter->bytes : &failure);
    }
    const weft_result waited = weft__round_wait(&n->answered);
    if (result == WEFT_OK) result = take_gids(shard, shard->map.rank, &n->out[shard->map.rank]);
    for (uint32_t i = 0; i < n->answered.letter_count; i++) {
        const weft__letter *letter = &n->answered.letters[i];
        const weft_result taken = take_gids(shard, letter->from, &letter->bytes);
        if (result == WEFT_OK) result = taken;
    }
    return waited == WEFT_OK ? result : waited;
}

weft_result weft__newborn_name(weft_shard *shard, weft__mover_list *list, weft_result result)
{
    naming *n = shard->naming;
    n->list = list;
    n->count = 0;
    for (uint32_t rank = 0; rank < shard->map.ranks; rank++) n->out[rank].count = 0;
    if (result == WEFT_OK) result = prepare(shard);
    result = weft__mail_exchange(n->out, &n->asked, WEFT__TAG_NAMES, result);
    if (result != WEFT_OK) return result; /* of all ranks */
    result = n->asked.failed;
    if (result == WEFT_OK) result = collect(n, shard->map.rank);
    if (result == WEFT_OK) result = give_gids(shard, n);
    return answer(shard, n, result);
}

/* ---- memory ---- */

bool weft__naming_make(weft_shard *shard)
{
    naming *n = shard->naming = calloc(1, sizeof *n);
    if (n != NULL) n->out = calloc(shard->map.ranks, sizeof *n->out);
    return n != NULL && n->out != NULL && weft__round_make(&n->asked, shard->map.ranks - 1) &&
           weft__round_make(&n->answered, shard->map.ranks - 1);
}

void weft__naming_shrink(weft_shard *shard)
{
    naming *n = shard->naming;
    for (uint32_t rank = 0; n->out != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&n->out[rank]);
    free(n->requests);
    n->requests = NULL;
    n->capacity = 0;
    weft__round_shrink(&n->asked);
    weft__round_shrink(&n->answered);
}

void weft__naming_free(weft_shard *shard)
{
    naming *n = shard->naming;
    if (n == NULL) return;
    weft__naming_shrink(shard);
    weft__round_free(&n->asked);
    weft__round_free(&n->answered);
    free(n->out);
    free(n);
    shard->naming = NULL;
}
