/* SPDX-License-Identifier: MIT */
/* shard_step.c: steps, exchanges outside of steps, balance. Every rank decides about balance
 * from the same sums of costs, so all take the same new map without asking. Errors of exchanges
 * in a step wait in step_result until the ranks agree in weft__rows_sync. */
#include <stdlib.h>

#include "exchange_plan.h"
#include "ghost_exchange.h"
#include "os.h"
#include "rank_figures.h"
#include "ranks_error.h"
#include "row_block.h"
#include "row_pack.h"
#include "sector_move.h"
#include "shard_clock.h"
#include "world_front.h"

weft_result weft_shard_sync(weft_shard *shard)
{
    const uint64_t start = weft__shard_now();
    weft_result result = weft__rows_sync(shard, WEFT_OK);
    shard->stats.sync_ns += weft__shard_now() - start;
    return result;
}

weft_result weft_shard_exchange(weft_shard *shard)
{
    weft_result result = weft__rows_resume(shard);
    if (result != WEFT_OK) return result;
    weft__ghosts_start(shard);
    result = weft__ghosts_begin(shard, WEFT_OK);
    result = weft_ranks_agree(weft__ghosts_end(shard, result));
    weft__shard_pin(shard);
    (void)weft_world_advance_change_version(shard->world); /* later writes are changes */
    if (result != WEFT_OK) weft__packs_forget_sent(shard); /* what others have is not known */
    return result;
}

/* ---- balance ---- */

/* Measured costs of all sectors; where nothing is measured, rows. */
static weft_result sum_costs(weft_shard *shard, uint64_t *costs)
{
    const uint32_t count = shard->map.count;
    for (uint32_t i = 0; i < count; i++) {
        if (!weft__sector_is_mine(shard, i)) continue;
        for (uint32_t worker = 0; worker < shard->cost_workers; worker++)
            costs[i] += shard->costs[(uint64_t)worker * count + i];
        costs[i] += shard->packs[i].count;
    }
    return weft__transport_sum(costs, count);
}

/* Takes a new map over, with the counters of the sectors, and moves rows. */
static weft_result move_sectors(weft_shard *shard, const uint32_t *rank_of)
{
    const uint32_t count = shard->map.count;
    for (uint32_t i = 0; i < count; i++) {
        if (!weft__sector_is_mine(shard, i))
            shard->counters[i] = 0;
        else if (rank_of[i] != shard->map.rank)
            shard->stats.sectors_moved++;
    }
    weft_result result = weft__transport_sum(shard->counters, count);
    if (result != WEFT_OK) return result;
    weft__ghosts_set_map(shard, rank_of);
    return weft__rows_sync(shard, WEFT_OK);
}

static weft_result balance(weft_shard *shard, uint64_t *costs, uint32_t *rank_of, bool *moved)
{
    weft_result result = sum_costs(shard, costs);
    if (result != WEFT_OK) return result;
    memset(shard->costs, 0, (size_t)shard->cost_workers * shard->map.count * sizeof *shard->costs);
    const double now = weft__sector_imbalance(&shard->map, costs, shard->map.rank_of);
    shard->stats.imbalance = now;
    if (now <= shard->balance_above) return WEFT_OK;
    weft__sector_cut(&shard->map, costs, rank_of);
    if (weft__sector_imbalance(&shard->map, costs, rank_of) >= now) return WEFT_OK;
    const bool is_prepared = weft__ghosts_prepare(shard, rank_of);
    result = weft_ranks_agree(is_prepared ? WEFT_OK : weft__ranks_no_memory());
    if (result != WEFT_OK) return result;
    *moved = true;
    return move_sectors(shard, rank_of);
}

weft_result weft_shard_balance(weft_shard *shard, bool *moved)
{
    bool has_moved = false;
    if (moved != NULL) *moved = false;
    if (shard->map.ranks == 1) return WEFT_OK;
    weft_result result = weft__rows_resume(shard);
    if (result != WEFT_OK) return result;
    uint64_t *costs = calloc(shard->map.count, sizeof *costs);
    uint32_t *rank_of = calloc(shard->map.count, sizeof *rank_of);
    result = costs != NULL && rank_of != NULL ? WEFT_OK : weft__ranks_no_memory();
    result = weft_ranks_agree(result);
    if (result == WEFT_OK) result = balance(shard, costs, rank_of, &has_moved);
    free(costs);
    free(rank_of);
    if (moved != NULL) *moved = has_moved;
    return result;
}

/* ---- steps ---- */

/* The systems, with exchanges of ghosts between them. */
static weft_result run_systems(weft_shard *shard, float dt)
{
    weft__ghosts_start(shard);
    shard->step_result = WEFT_OK;
    weft_result result = weft__plan_update(shard);
    if (result == WEFT_OK) {
        result = weft_world_step(shard->world, dt);
        if (result != WEFT_OK)
            result = weft__ranks_fail(result, "the step: %s", weft_world_error(shard->world)->text);
        if (shard->step_result != WEFT_OK) result = shard->step_result;
    }
    return weft__ghosts_finish(shard, weft__plan_exchanges(shard), result);
}

/* Time that is not the work of systems: waiting for ghosts, and hooks. */
static uint64_t idle_ns(const weft_shard *shard)
{
    return shard->stats.wait_ns + weft__front(shard->world)->hooks_ns;
}

weft_result weft_shard_step(weft_shard *shard, float dt)
{
    const uint64_t start = weft__shard_now(), idle = idle_ns(shard);
    shard->owner_thread = weft__os_thread_number();
    weft_result result = weft__rows_resume(shard);
    if (result != WEFT_OK) return result;
    result = run_systems(shard, dt);
    const uint64_t done = weft__shard_now();
    shard->stats.work_ns += done - start - (idle_ns(shard) - idle);
    weft__figures_ask(shard);
    result = weft__rows_sync(shard, result);
    shard->stats.sync_ns += weft__shard_now() - done;
    shard->stats.steps++;
    shard->tick++;
    const bool is_asked = result == WEFT_OK && shard->figures_asked != 0;
    if (result == WEFT_OK && shard->balance_every != UINT32_MAX &&
        shard->stats.steps % shard->balance_every == 0)
        result = weft_shard_balance(shard, NULL);
    shard->stats.step_ns += weft__shard_now() - start;
    if (result == WEFT_OK && is_asked) result = weft__figures_gather(shard);
    return result;
}
