/* SPDX-License-Identifier: MIT */
/* row_ids.c: ids for many new rows. They are dealt out in shares, each all of its block, so that no
 * other thread has its words. */
#include "row_ids.h"

#include "error.h"
#include "host.h"

weft_result weft__row_ids_prepare(weft__row_ids *ids, weft_world *world, uint64_t rows,
                                  const char *what)
{
    *ids = (weft__row_ids){.world = world, .rows = (uint32_t)rows};
    weft_result result = rows > UINT32_MAX
                             ? WEFT_LIMIT
                             : weft__directory_reserve_owner(&world->directory, (uint32_t)rows);
    if (result != WEFT_OK) return weft__error_limit(world, result, what);
    if (rows == 0) return WEFT_OK;
    ids->share_count = weft__directory_shares(&world->directory, ids->rows, NULL);
    ids->shares = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, ids->share_count,
                              sizeof *ids->shares, 4);
    if (ids->shares == NULL) return weft__error_memory(world, what);
    weft__directory_shares(&world->directory, ids->rows, ids->shares);
    return WEFT_OK;
}

void weft__row_ids_fini(weft__row_ids *ids)
{
    weft__free(&ids->world->memory, WEFT__MEMORY_COMMANDS, ids->shares, ids->share_count,
               sizeof *ids->shares, 4);
}

static void share_fill(const weft__row_ids *ids, const weft__id_share *share)
{
    uint32_t low = 0, high = ids->run_count;
    while (high - low > 1) { /* the last run that begins at or before the share */
        uint32_t middle = low + (high - low) / 2;
        if (ids->runs[middle].first <= share->first)
            low = middle;
        else
            high = middle;
    }
    for (uint32_t done = 0; done < share->count; low++) {
        const weft__id_run *r = &ids->runs[low];
        uint32_t skipped = share->first + done - r->first, n = r->count - skipped;
        if (n > share->count - done) n = share->count - done;
        uint32_t row = r->row + skipped;
        weft__directory_fill(&ids->world->directory, share, n, weft__chunk_entities(r->chunk) + row,
                             r->location + skipped);
        done += n;
    }
}

static int shares_fill(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const weft__row_ids *ids = user;
    for (uint32_t i = begin; i < end; i++) share_fill(ids, &ids->shares[i]);
    return 0;
}

void weft__row_ids_give(const weft__row_ids *ids, weft_job_context *job, weft_job_cost *cost)
{
    if (ids->rows == 0) return;
    weft__directory_deal_owner(&ids->world->directory, ids->rows, ids->shares);
    weft_job_for_desc loop = {.fn = shares_fill,
                              .argument = (void *)(uintptr_t)ids,
                              .count = ids->share_count,
                              .grain = 1,
                              .cost = cost,
                              .name = "ids of creation"};
    weft__host_for(ids->world, job, &loop);
}
