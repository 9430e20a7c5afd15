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

/* Memory of one naming. */
typedef struct naming {
    weft_shard *shard;
    weft__mover_list *list;
    name_request *requests; /* that this rank answers */
    uint64_t capacity;
    uint32_t count;
    weft__bytes *out, *answers; /* [rank]; before gids are given: those would be lost */
    weft__round asked, answered;
} naming;

/* ---- what is asked ---- */

static bool add_request(naming *n, const name_request *request)
{
    if (!weft__array_grow(&n->requests, &n->capacity, n->count + UINT64_C(1), sizeof *n->requests))
        return false;
    n->requests[n->count++] = *request;
    return true;
}

/* Asks for the gid of a mover: requests to other ranks go into messages, those to this rank into
 * the list. */
static bool request_gid(naming *n, uint32_t index, uint64_t hash)
{
    const weft__sector_map *map = &n->shard->map;
    const uint32_t sector = n->list->sectors[index], rank = map->rank_of[sector];
    const name_request request = {
        .hash = hash, .sector = sector, .index = index, .rank = map->rank};
    return rank == map->rank ? add_request(n, &request)
                             : weft__bytes_put(&n->out[rank], &request, sizeof request);
}

/* Asks for gids of movers [begin, end), which are new and of one archetype. */
static weft_result hash_newborn(naming *n, uint32_t begin, uint32_t end)
{
    weft__bytes bytes = {0};
    weft__block block = {0};
    uint64_t(*hashes)[2] = calloc(end - begin, sizeof *hashes);
    if (hashes == NULL) return weft__ranks_no_memory();
    weft_result result = weft__movers_write(n->shard, n->list, begin, end, &bytes);
    weft__reader in = {bytes.at, bytes.at + bytes.count};
    if (result == WEFT_OK) result = weft__block_read(n->shard, &in, NULL, NULL, &block);
    if (result == WEFT_OK) weft__block_hash(n->shard, &block, hashes);
    for (uint32_t i = begin; i < end && result == WEFT_OK; i++)
        if (!request_gid(n, i, hashes[i - begin][0])) result = weft__ranks_no_memory();
    weft__block_free(&block);
    weft__bytes_free(&bytes);
    free(hashes);
    return result;
}

/* The new ones among movers [begin, end), which are of one archetype: run by run. */
static weft_result hash_group(naming *n, uint32_t begin, uint32_t end)
{
    const uint64_t *gids = n->list->gids;
    weft_result result = WEFT_OK;
    for (uint32_t next; begin < end && result == WEFT_OK; begin = next) {
        for (next = begin + 1; next < end; next++)
            if ((gids[next] == 0) != (gids[begin] == 0)) break;
        if (gids[begin] == 0) result = hash_newborn(n, begin, next);
    }
    return result;
}

static weft_result prepare(naming *n)
{
    n->out = calloc(n->shard->map.ranks, sizeof *n->out);
    n->answers = calloc(n->shard->map.ranks, sizeof *n->answers);
    if (n->out == NULL || n->answers == NULL) return weft__ranks_no_memory();
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < n->list->count && result == WEFT_OK; begin = end) {
        end = weft__movers_alike(n->list, begin, n->list->count);
        result = hash_group(n, begin, end);
    }
    return result;
}

/* Sends the requests, and takes those of others. */
static weft_result ask(naming *n, weft_result result)
{
    result = weft__mail_exchange(n->out, &n->asked, WEFT__TAG_NAMES, result);
    for (uint32_t i = 0; i < n->asked.letter_count && result == WEFT_OK; i++) {
        const weft__bytes *bytes = &n->asked.letters[i].bytes;
        for (uint64_t at = 0; at + sizeof(name_request) <= bytes->count;
             at += sizeof(name_request)) {
            name_request request;
            memcpy(&request, bytes->at + at, sizeof request);
            if (!add_request(n, &request)) return weft__ranks_no_memory();
        }
    }
    return result;
}

/* ---- answers ---- */

static int by_hash(const void *a, const void *b)
{
    const name_request *left = a, *right = b;
    if (left->sector != right->sector) return left->sector < right->sector ? -1 : 1;
    if (left->hash != right->hash) return left->hash < right->hash ? -1 : 1;
    if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static weft_result give_gids(naming *n)
{
    weft_shard *shard = n->shard;
    if (n->count != 0) qsort(n->requests, n->count, sizeof *n->requests, by_hash);
    for (uint32_t i = 0; i < n->count; i++) {
        name_request *request = &n->requests[i];
        const uint64_t counter = ++shard->counters[request->sector];
        if (counter >> COUNTER_BITS != 0)
            return weft__ranks_fail(WEFT_LIMIT, "sector %u has given away all of its 2^40 gids",
                                    request->sector);
        request->gid = (uint64_t)request->sector << COUNTER_BITS | counter;
    }
    return WEFT_OK;
}

/* Into the world, and into the list. */
static weft_result take_gid(naming *n, const name_request *request)
{
    const weft_entity entity = n->list->entities[request->index];
    uint64_t *gid = weft_entity_write(n->shard->world, entity, n->shard->gid);
    if (gid == NULL)
        return weft__ranks_fail(WEFT_STALE_ENTITY, "a new row has ended: a hook changes the "
                                                   "world during weft_shard_sync");
    *gid = n->list->gids[request->index] = request->gid;
    return WEFT_OK;
}

/* Sends the answers of others, each with all requests of that rank. */
static weft_result answer(naming *n)
{
    const uint32_t ranks = n->shard->map.ranks, rank = n->shard->map.rank;
    weft__bytes *out = n->answers;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < n->count && result == WEFT_OK; i++)
        if (n->requests[i].rank != rank &&
            !weft__bytes_put(&out[n->requests[i].rank], &n->requests[i], sizeof *n->requests))
            result = weft__ranks_no_memory();
    weft__round_open(&n->answered, WEFT__TAG_NAMED);
    for (uint32_t other = 0; other < ranks && result == WEFT_OK; other++) {
        if (n->out[other].count != 0) result = weft__round_expect(&n->answered, other);
        if (out[other].count != 0 && result == WEFT_OK)
            result = weft__round_send(&n->answered, other, &out[other]);
    }
    if (result == WEFT_OK) result = weft__round_wait(&n->answered);
    for (uint32_t i = 0; i < n->answered.letter_count && result == WEFT_OK; i++) {
        const weft__bytes *bytes = &n->answered.letters[i].bytes;
        for (uint64_t at = 0; at + sizeof(name_request) <= bytes->count && result == WEFT_OK;
             at += sizeof(name_request)) {
            name_request request;
            memcpy(&request, bytes->at + at, sizeof request);
            result = take_gid(n, &request);
        }
    }
    return result;
}

static weft_result take_own(naming *n)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < n->count && result == WEFT_OK; i++)
        if (n->requests[i].rank == n->shard->map.rank) result = take_gid(n, &n->requests[i]);
    return result;
}

static weft_result name_all(naming *n, weft_result result)
{
    if (result == WEFT_OK) result = prepare(n);
    result = ask(n, result);
    if (result == WEFT_OK) result = give_gids(n);
    if (result == WEFT_OK) result = answer(n);
    return result == WEFT_OK ? take_own(n) : result;
}

weft_result weft__newborn_name(weft_shard *shard, weft__mover_list *list, weft_result result)
{
    naming n = {.shard = shard, .list = list};
    result = name_all(&n, result);
    for (uint32_t rank = 0; n.out != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&n.out[rank]);
    for (uint32_t rank = 0; n.answers != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&n.answers[rank]);
    free(n.out);
    free(n.answers);
    free(n.requests);
    weft__round_free(&n.asked);
    weft__round_free(&n.answered);
    return result;
}
