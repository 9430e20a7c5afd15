/* SPDX-License-Identifier: MIT */
/* pool_memory.c: the mapping of a pool (pool_memory.h): first the page that a forked child finds
 * wiped, then the workers, what else every pool touches, and the arrays that are used from their
 * beginning on. */
#include "pool_memory.h"
#include "bits.h"

#include <string.h>

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

/* ---- mappings that are kept ----
 *
 * To end a mapping costs more than all else at the end of a small world (170 us of 177 in a
 * guest whose page tables are its host's). That of a pool of one worker that never had a job is
 * clean but for its head: it is cleaned, and kept for the next such pool. Where another thread is
 * at it, mappings come and go as others do: nothing waits, and a forked child, which may find
 * x_busy set for ever and the heads of all wiped, does without.
 *
 *   K1  release of x_busy, after the list -> exchange of x_busy, before it */

enum { KEPT_MOST = 128 }; /* of a few touched pages each */

/* Lies where its mapping begins, in the page that a forked child finds wiped. */
typedef struct kept_mapping {
    struct kept_mapping *next;
    size_t bytes;
} kept_mapping;

static struct {
    weft_a32 x_busy;
    uint32_t count;
    kept_mapping *first;
} kept;

/* A zeroed mapping of so many bytes; NULL: none is kept. */
static void *kept_take(size_t bytes)
{
    if (at_xchg_ar(&kept.x_busy, 1u) != 0) return NULL; /* K1 */
    kept_mapping *found = kept.first;
    if (found != NULL && found->bytes == bytes) {
        kept.first = found->next;
        kept.count--;
        *found = (kept_mapping){NULL, 0};
    } else {
        found = NULL;
    }
    at_store_rel(&kept.x_busy, 0u); /* K1 */
    for (size_t i = 0; WEFT_IS_CHECKED && found != NULL && i < bytes; i++)
        WEFT_ASSERT(((const char *)found)[i] == 0);
    return found;
}

/* False: enough are kept, or another thread is at it. */
static bool kept_give(void *mapping, size_t bytes)
{
    if (at_xchg_ar(&kept.x_busy, 1u) != 0) return false; /* K1 */
    bool is_kept = kept.count < KEPT_MOST;
    if (is_kept) {
        *(kept_mapping *)mapping = (kept_mapping){kept.first, bytes};
        kept.first = mapping;
        kept.count++;
    }
    at_store_rel(&kept.x_busy, 0u); /* K1 */
    return is_kept;
}

/* Whether pools like this one share mappings: tests count those of their own systems. */
static bool is_shared(const weft_job_pool *pool)
{
    return pool->worker_count == 1 && pool->os == weft__os_default();
}

/* Whether nothing behind the workers was ever written. */
static bool is_unused(const weft_job_pool *pool)
{
    const weft_job_context *worker = &pool->workers[0];
    const weft__worker_stats *stats = &worker->stats;
    /* relaxed, all: it is quiet */
    uint64_t pushed = at_load_rlx(&stats->x_submitted) + at_load_rlx(&stats->x_plain_submitted) +
                      at_load_rlx(&stats->x_children) + at_load_rlx(&stats->x_loops_parallel) +
                      at_load_rlx(&stats->x_graph_runs);
    for (uint32_t c = 0; c < WEFT_JOB_CLASS_COUNT; c++) pushed += worker->deques[c].bottom - 1;
    /* relaxed, both: as above */
    pushed += at_load_rlx(&pool->table.slots.x_mark) + at_load_rlx(&pool->table.edge_slots.x_mark);
    return pushed == 0;
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
    if (is_shared(pool)) pool->alive = kept_take(pool->mapped_bytes);
    if (pool->alive == NULL)
        pool->alive = pool->os->map(pool->os->user, pool->mapped_bytes, WEFT__ALIVE_BYTES);
    if (pool->alive == NULL) return WEFT_OUT_OF_MEMORY;
    lay_out(pool, &arrays, jobs, edges);
    weft__job_table_init(&pool->table, &arrays, jobs, edges, pool->worker_count);
    return WEFT_OK;
}

void weft__pool_unmap(weft_job_pool *pool)
{
    char *mapping = (char *)pool->alive;
    if (mapping == NULL) return;
    if (is_shared(pool) && pool->thread_count == 0 && is_unused(pool)) {
        memset(mapping, 0, (size_t)((char *)pool->table.jobs - mapping));
        if (kept_give(mapping, pool->mapped_bytes)) return;
    }
    pool->os->unmap(pool->os->user, mapping, pool->mapped_bytes);
}
