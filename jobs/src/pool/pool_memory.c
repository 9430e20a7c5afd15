/* SPDX-License-Identifier: MIT */
/* pool_memory.c: the mapping of a pool (pool_memory.h): first the page that a forked child finds
 * wiped, then the workers, what else every pool touches, and the arrays that are used from their
 * beginning on. */
#include "pool_memory.h"
#include "bits.h"

/* Lays arrays out one after the other. Owner: the call. Without a base it only counts. */
typedef struct layout {
    char *base;
    size_t bytes;
} layout;

static void *take(layout *out, size_t count, size_t size)
{
    size_t begin = out->bytes;
    out->bytes = (begin + count * size + 63) / 64 * 64;
    return out->base != NULL ? out->base + begin : NULL;
}

/* Sets the pointers of the pool; returns the size of all. */
static size_t lay_out(weft_job_pool *pool, weft__job_arrays *arrays, uint32_t jobs, uint32_t edges)
{
    layout out = {.base = (char *)pool->alive};
    size_t workers = pool->worker_count;
    take(&out, 1, WEFT__ALIVE_BYTES);
    pool->workers = take(&out, workers, sizeof *pool->workers);
    pool->tokens = take(&out, workers, sizeof *pool->tokens);
    pool->threads = take(&out, workers, sizeof *pool->threads);
    arrays->jobs = take(&out, jobs, sizeof *arrays->jobs);
    arrays->slot_links = take(&out, 2 * (size_t)jobs, sizeof *arrays->slot_links);
    arrays->edges = take(&out, edges + workers, sizeof *arrays->edges);
    arrays->edge_links = take(&out, 2 * (size_t)edges, sizeof *arrays->edge_links);
    pool->loop_descs = take(&out, jobs, sizeof *pool->loop_descs);
    pool->children = take(&out, workers * pool->child_capacity, sizeof *pool->children);
    size_t places = workers * WEFT_JOB_CLASS_COUNT * pool->deque_capacity;
    pool->deque_places = take(&out, places, sizeof *pool->deque_places);
    return (out.bytes + WEFT__ALIVE_BYTES - 1) / WEFT__ALIVE_BYTES * WEFT__ALIVE_BYTES;
}

weft_result weft__pool_map(weft_job_pool *pool, const weft_job_pool_desc *desc)
{
    weft__job_arrays arrays;
    /* free slots may hide in the caches of workers: the capacity holds whatever they keep */
    uint32_t spare = 2 * WEFT__SLOTS_BATCH * pool->worker_count;
    uint32_t jobs = desc->job_capacity + spare, edges = desc->edge_capacity + spare;
    uint32_t twice = 2 * desc->job_capacity; /* each slot has a place, and about as many are left */
    pool->deque_capacity = (uint32_t)bits_round_up_power_of_two(twice > jobs ? twice : jobs);
    pool->mapped_bytes = lay_out(pool, &arrays, jobs, edges);
    pool->alive = pool->os->map(pool->os->user, pool->mapped_bytes, WEFT__ALIVE_BYTES);
    if (pool->alive == NULL) return WEFT_OUT_OF_MEMORY;
    lay_out(pool, &arrays, jobs, edges);
    weft__job_table_init(&pool->table, &arrays, jobs, edges, pool->worker_count);
    return WEFT_OK;
}

void weft__pool_unmap(weft_job_pool *pool)
{
    if (pool->alive != NULL) pool->os->unmap(pool->os->user, pool->alive, pool->mapped_bytes);
}
