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
    uint32_t index; /* in the list of the rank that asks */
    uint32_t rank;  /* that asks */
    uint32_t unused;
    uint64_t gid; /* the answer */
} name_request;

/* Memory of one naming. */
typedef struct naming {
    weft_shard *shard;
    weft__mover_list newborn; /* copies */
    name_request *requests;   /* that this rank answers */
    uint64_t capacity;
    uint32_t count;
    weft__bytes *out; /* [rank] */
    weft__round asked, answered;
} naming;

/* ---- what is asked ---- */

/* Replaces `order` by the hash of the values. */
static weft_result hash_newborn(naming *n)
{
    weft__bytes bytes = {0};
    weft__movers_sort(&n->newborn);
    weft_result result = weft__movers_write(n->shard, &n->newborn, 0, n->newborn.count, &bytes);
    weft__reader in = {bytes.at, bytes.at + bytes.count};
    uint32_t at = 0;
    while (result == WEFT_OK && at < n->newborn.count) {
        weft__block block;
        result = weft__block_read(n->shard, &in, NULL, NULL, &block);
        if (result != WEFT_OK) break;
        uint64_t(*hashes)[2] = calloc(block.count, sizeof *hashes);
        if (hashes == NULL) {
            result = weft__ranks_no_memory();
        } else {
            weft__block_hash(n->shard, &block, hashes);
            for (uint32_t i = 0; i < block.count; i++) n->newborn.movers[at++].order = hashes[i][0];
        }
        free(hashes);
        weft__block_free(&block);
    }
    weft__bytes_free(&bytes);
    return result;
}

static weft_result prepare(naming *n, const weft__mover_list *list)
{
    const uint32_t ranks = n->shard->map.ranks;
    n->out = calloc(ranks, sizeof *n->out);
    if (n->out == NULL) return weft__ranks_no_memory();
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->movers[i].gid != 0) continue;
        if (!weft__array_grow(&n->newborn.movers, &n->newborn.capacity,
                              n->newborn.count + UINT64_C(1), sizeof *n->newborn.movers))
            return weft__ranks_no_memory();
        weft__mover *mover = &n->newborn.movers[n->newborn.count++];
        *mover = list->movers[i];
        mover->order = i; /* until it is hashed */
        mover->gid = 0;
    }
    return WEFT_OK;
}

static bool add_request(naming *n, const name_request *request)
{
    if (!weft__array_grow(&n->requests, &n->capacity, n->count + UINT64_C(1), sizeof *n->requests))
        return false;
    n->requests[n->count++] = *request;
    return true;
}

/* Requests to other ranks into messages, those to this rank into the list. */
static weft_result sort_requests(naming *n)
{
    for (uint32_t i = 0; i < n->newborn.count; i++) {
        const weft__mover *mover = &n->newborn.movers[i];
        const name_request request = {
            .hash = mover->order, .sector = mover->to, .index = i, .rank = n->shard->map.rank};
        const bool is_done = mover->rank == n->shard->map.rank
                                 ? add_request(n, &request)
                                 : weft__bytes_put(&n->out[mover->rank], &request, sizeof request);
        if (!is_done) return weft__ranks_no_memory();
    }
    return WEFT_OK;
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

/* Sends the answers of others, each with all requests of that rank. */
static weft_result answer(naming *n)
{
    const uint32_t ranks = n->shard->map.ranks, rank = n->shard->map.rank;
    weft__bytes *out = calloc(ranks, sizeof *out);
    if (out == NULL) return weft__ranks_no_memory();
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
        for (uint64_t at = 0; at + sizeof(name_request) <= bytes->count;
             at += sizeof(name_request)) {
            name_request request;
            memcpy(&request, bytes->at + at, sizeof request);
            n->newborn.movers[request.index].gid = request.gid;
        }
    }
    for (uint32_t other = 0; other < ranks; other++) weft__bytes_free(&out[other]);
    free(out);
    return result;
}

/* Gids into the world. */
static weft_result write_gids(naming *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->requests[i].rank == n->shard->map.rank)
            n->newborn.movers[n->requests[i].index].gid = n->requests[i].gid;
    for (uint32_t i = 0; i < n->newborn.count; i++) {
        const weft__mover *mover = &n->newborn.movers[i];
        uint64_t *gid = weft_entity_write(n->shard->world, mover->entity, n->shard->gid);
        if (gid == NULL)
            return weft__ranks_fail(WEFT_STALE_ENTITY, "a new row has ended: a hook changes the "
                                                       "world during weft_shard_sync");
        *gid = mover->gid;
    }
    return WEFT_OK;
}

static weft_result name_all(naming *n, weft__mover_list *list, weft_result result)
{
    if (result == WEFT_OK) result = prepare(n, list);
    if (result == WEFT_OK) result = hash_newborn(n);
    if (result == WEFT_OK) result = sort_requests(n);
    result = ask(n, result);
    if (result == WEFT_OK) result = give_gids(n);
    if (result == WEFT_OK) result = answer(n);
    return result == WEFT_OK ? write_gids(n) : result;
}

/* In the list, too: gids by entity. */
static int by_entity(const void *a, const void *b)
{
    const uint32_t left = ((const weft__mover *)a)->entity.index,
                   right = ((const weft__mover *)b)->entity.index;
    return (left > right) - (left < right);
}

static void note_gids(naming *n, weft__mover_list *list)
{
    weft__mover_list *born = &n->newborn;
    if (born->count != 0) qsort(born->movers, born->count, sizeof *born->movers, by_entity);
    for (uint32_t i = 0; i < list->count && born->count != 0; i++) {
        if (list->movers[i].gid != 0) continue;
        const weft__mover *found =
            bsearch(&list->movers[i], born->movers, born->count, sizeof *born->movers, by_entity);
        if (found != NULL) list->movers[i].gid = list->movers[i].order = found->gid;
    }
}

weft_result weft__newborn_name(weft_shard *shard, weft__mover_list *list, weft_result result)
{
    naming n = {.shard = shard};
    result = name_all(&n, list, result);
    if (result == WEFT_OK) note_gids(&n, list);
    for (uint32_t rank = 0; n.out != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&n.out[rank]);
    free(n.out);
    free(n.requests);
    weft__movers_free(&n.newborn);
    weft__round_free(&n.asked);
    weft__round_free(&n.answered);
    return result;
}
