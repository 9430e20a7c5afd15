/* SPDX-License-Identifier: MIT */
/* shard.c: creating and destroying a shard, and what it is: its components, queries and tables. The
 * ranks compare what they were given before the shard is handed out. Steps are in shard_step.c,
 * systems in shard_system.c. */
#include <stdlib.h>

#include "exchange_plan.h"
#include "ghost_exchange.h"
#include "gid_table.h"
#include "hash.h"
#include "rank_figures.h"
#include "ranks_error.h"
#include "row_block.h"
#include "row_pack.h"
#include "sector_move.h"

/* ---- components and queries ---- */

static weft_result failed(const weft_shard *shard, const char *what)
{
    const weft_error *error = weft_world_error(shard->world);
    return weft__ranks_fail(error->code != WEFT_OK ? error->code : WEFT_INVALID_ARGUMENT, "%s: %s",
                            what, error->text);
}

static weft_result register_components(weft_shard *shard)
{
    weft_world *world = shard->world;
    shard->has_references = weft__world_has_references(shard);
    shard->sector = weft_component_create_plain(world, "ShardSector", sizeof(uint32_t),
                                                _Alignof(uint32_t), WEFT_SHARED);
    if (shard->sector.id == 0) return failed(shard, "ShardSector");
    const weft_component_desc gid = {.name = "ShardGid",
                                     .size = sizeof(uint64_t),
                                     .flags = WEFT_NOT_COPIED |
                                              (shard->has_references ? WEFT_CLEANUP : 0),
                                     .required = &shard->sector,
                                     .required_count = 1};
    /* in this order, also by a call after a refused one: it is that of all ranks */
    shard->gid = weft_component_create(world, &gid);
    if (shard->gid.id == 0) return failed(shard, "ShardGid");
    shard->ghost =
        weft_component_create_plain(world, "ShardGhost", sizeof(uint64_t), _Alignof(uint64_t), 0);
    if (shard->ghost.id == 0) return failed(shard, "ShardGhost");
    shard->stub =
        weft_component_create_plain(world, "ShardStub", sizeof(uint64_t), _Alignof(uint64_t), 0);
    if (shard->stub.id == 0) return failed(shard, "ShardStub");
    shard->stub_archetype = weft_archetype_create(world, &shard->stub, 1);
    return shard->stub_archetype.id != 0 ? WEFT_OK : failed(shard, "stubs");
}

/* Plain values without hooks only. */
static weft_result check_plain(const weft_shard *shard, weft_component component, const char *role)
{
    const weft_component_desc *desc = weft_component_info(shard->world, component);
    if (desc == NULL)
        return weft__ranks_fail(WEFT_BAD_HANDLE, "%s: no component of this world", role);
    const uint32_t others =
        WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_CLEANUP | WEFT_RESOURCE | WEFT_SPARSE;
    if (desc->size == 0 || (desc->flags & others) != 0 || desc->hooks.destruct != NULL ||
        desc->hooks.copy != NULL)
        return weft__ranks_fail(WEFT_TYPE_MISMATCH,
                                "%s %s: only a component with plain values and without hooks", role,
                                desc->name);
    return WEFT_OK;
}

static weft_result take_components(weft_shard *shard, const weft_shard_desc *desc)
{
    weft_result result = check_plain(shard, desc->key, "key");
    if (result != WEFT_OK) return result;
    shard->key = desc->key;
    const weft_shard_grid *grid = &shard->map.grid;
    const size_t size = weft_component_info(shard->world, desc->key)->size;
    for (uint32_t axis = 0; axis < grid->dimensions; axis++)
        if (grid->at[axis] + (grid->is_double ? 8u : 4u) > size)
            return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                    "grid.at[%u] is beyond the %zu bytes of the key", axis, size);
    for (uint32_t i = 0; i < WEFT_SHARD_HALO_LIMIT && desc->halo[i].id != 0; i++) {
        result = check_plain(shard, desc->halo[i], "halo");
        if (result != WEFT_OK) return result;
        for (uint32_t k = 0; k < i; k++)
            if (desc->halo[k].id == desc->halo[i].id)
                return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "halo: a component is there twice");
        shard->halo[i] = desc->halo[i];
        shard->halo_bytes[i] = (uint32_t)weft_component_info(shard->world, desc->halo[i])->size;
        shard->halo_count = i + 1;
    }
    return WEFT_OK;
}

/* `first`, ShardSector, then the halo components where they are there. */
static weft_query halo_query(weft_shard *shard, weft_component first, weft_access access)
{
    weft_term more[WEFT_SHARD_HALO_LIMIT];
    weft_query_desc desc = {
        .terms = {{first, access}, {shard->sector, .match = WEFT_PRESENT}},
        .more_terms = more,
        .more_term_count = shard->halo_count,
        .with_inactive = true,
        .ignores_enabled = true,
        .stamps_asked = access == WEFT_WRITE,
    };
    for (uint32_t i = 0; i < shard->halo_count; i++)
        more[i] = (weft_term){shard->halo[i], .access = access, .match = WEFT_OPTIONAL};
    return weft_query_create(shard->world, &desc);
}

static weft_result make_queries(weft_shard *shard)
{
    shard->rows_query = halo_query(shard, shard->gid, WEFT_READ);
    shard->ghost_query = halo_query(shard, shard->ghost, WEFT_WRITE);
    const weft_query_desc keys = {.terms = {{shard->gid},
                                            {shard->sector, .match = WEFT_PRESENT},
                                            {shard->key, .match = WEFT_PRESENT}},
                                  .with_inactive = true,
                                  .ignores_enabled = true};
    shard->key_query = weft_query_create(shard->world, &keys);
    const weft_query_desc stubs = {.terms = {{shard->stub}}, .with_inactive = true};
    shard->stub_query = weft_query_create(shard->world, &stubs);
    const weft_query_desc dead = {.terms = {{shard->gid}, {shard->sector, .match = WEFT_ABSENT}},
                                  .with_inactive = true};
    if (shard->has_references) shard->dead_query = weft_query_create(shard->world, &dead);
    if ((shard->has_references && shard->dead_query.id == 0) || shard->rows_query.id == 0 ||
        shard->ghost_query.id == 0 || shard->key_query.id == 0 || shard->stub_query.id == 0)
        return failed(shard, "the queries of shards cannot be made");
    return WEFT_OK;
}

/* ---- create ---- */

/* Refuses a run whose ranks describe different shards. */
static weft_result compare_ranks(weft_shard *shard, weft_result result)
{
    result = weft_ranks_agree(result);
    if (result != WEFT_OK) return result;
    uint64_t hash = weft__components_hash(shard);
    hash = hash_bytes(hash, shard->halo_bytes, sizeof shard->halo_bytes);
    hash = hash_bytes(hash, shard->map.near_begin,
                      (shard->map.count + UINT64_C(1)) * sizeof *shard->map.near_begin);
    hash = hash_bytes(hash, shard->map.near,
                      shard->map.near_begin[shard->map.count] * sizeof *shard->map.near);
    hash = hash_word(hash_word(hash, shard->key.id), shard->seed);
    for (uint32_t i = 0; i < shard->halo_count; i++) hash = hash_word(hash, shard->halo[i].id);
    uint64_t first = hash;
    result = weft__transport_broadcast(&first, sizeof first);
    if (result != WEFT_OK) return result;
    if (first != hash)
        result = weft__ranks_fail(WEFT_UNSUPPORTED,
                                  "rank %u differs from rank 0 in its components or in the "
                                  "description of the shard: register the same components in the "
                                  "same order on all ranks",
                                  shard->map.rank);
    return weft_ranks_agree(result);
}

static weft_result make_tables(weft_shard *shard)
{
    const uint64_t sectors = shard->map.count;
    shard->cost_workers = weft_job_pool_worker_count(weft_world_pool(shard->world));
    shard->packs = calloc(sectors, sizeof *shard->packs);
    shard->counters = calloc(sectors, sizeof *shard->counters);
    shard->costs = calloc(sectors * shard->cost_workers, sizeof *shard->costs);
    if (!weft__moving_make(shard) || !weft__ghosts_make(shard) || shard->packs == NULL ||
        shard->counters == NULL || shard->costs == NULL)
        return weft__ranks_no_memory();
    return WEFT_OK;
}

static weft_result init(weft_shard *shard, weft_world *world, const weft_shard_desc *desc)
{
    shard->world = world;
    shard->seed = desc->seed;
    shard->balance_above = desc->balance_above > 0 ? desc->balance_above : 1.15;
    shard->balance_every = desc->balance_every != 0 ? desc->balance_every : 64;
    weft_result result = weft__sector_map_init(&shard->map, desc);
    if (result == WEFT_OK && !(desc->balance_above >= 0))
        result = weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                  "balance_above is %g: give 0 or more; 0 is the default",
                                  desc->balance_above);
    if (result == WEFT_OK) result = register_components(shard);
    if (result == WEFT_OK) result = take_components(shard, desc);
    if (result == WEFT_OK) result = make_queries(shard);
    if (result == WEFT_OK) result = make_tables(shard);
    return result == WEFT_OK ? weft__figures_init(shard) : result;
}

weft_result weft_shard_create(weft_world *world, const weft_shard_desc *desc, weft_shard **out)
{
    if (world == NULL || desc == NULL || out == NULL)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "weft_shard_create: an argument is NULL");
    *out = NULL;
    if (!weft__transport_is_started())
        return weft__ranks_fail(WEFT_WRONG_PHASE, "call weft_ranks_start before "
                                                  "weft_shard_create");
    weft_shard *shard = calloc(1, sizeof *shard);
    weft_result result = shard != NULL ? init(shard, world, desc) : weft__ranks_no_memory();
    result = compare_ranks(shard, result);
    if (result == WEFT_OK)
        *out = shard;
    else
        weft_shard_destroy(shard);
    return result;
}

/* ---- destroy ---- */

static void end_query(weft_shard *shard, weft_query query, bool ends_entities)
{
    if (query.id == 0) return;
    if (ends_entities) (void)weft_query_destroy_entities(shard->world, query);
    (void)weft_query_destroy(shard->world, query);
}

void weft_shard_destroy(weft_shard *shard)
{
    if (shard == NULL) return;
    const weft__world_front *front = weft__front(shard->world);
    if (front->is_told || (front->busy | front->frame) != 0) {
        (void)weft__ranks_fail(WEFT_WRONG_PHASE,
                               "weft_shard_destroy: a step of the world goes on, or calls its "
                               "hooks: destroy the shard when weft_shard_step has returned");
        return;
    }
    weft__front(shard->world)->pins[WEFT__PIN_SHARD].moment = 0;
    weft__plan_free(shard);
    while (shard->systems != NULL) {
        weft__shard_system *system = shard->systems;
        shard->systems = system->next;
        for (uint32_t i = 0; i < 2; i++) (void)weft_system_destroy(shard->world, system->halves[i]);
        free(system);
    }
    end_query(shard, shard->rows_query, false);
    end_query(shard, shard->key_query, false);
    end_query(shard, shard->dead_query, false);
    end_query(shard, shard->ghost_query, true);
    end_query(shard, shard->stub_query, true);
    weft__packs_free(shard);
    weft__ghosts_free(shard);
    weft__gid_table_free(shard);
    weft__figures_free(shard);
    weft__moving_free(shard);
    free(shard->counters);
    free(shard->costs);
    weft__sector_map_free(&shard->map);
    free(shard);
}

/* ---- what it is ---- */

uint32_t weft_shard_sector_of(const weft_shard *shard, const void *key)
{
    return weft__sector_at(&shard->map, key);
}

uint32_t weft_shard_rank_of(const weft_shard *shard, uint32_t sector)
{
    return sector < shard->map.count ? shard->map.rank_of[sector] : 0;
}

bool weft_shard_is_mine(const weft_shard *shard, const void *key)
{
    return weft__sector_is_mine(shard, weft__sector_at(&shard->map, key));
}

uint32_t weft_shard_near(const weft_shard *shard, uint32_t sector, const uint32_t **out)
{
    *out = NULL;
    if (sector >= shard->map.count) return 0;
    *out = shard->map.near + shard->map.near_begin[sector];
    return shard->map.near_begin[sector + 1] - shard->map.near_begin[sector];
}

bool weft_shard_rows_get(const weft_shard *shard, uint32_t sector, weft_shard_rows *out)
{
    *out = (weft_shard_rows){.sector = sector};
    if (sector >= shard->map.count || shard->map.visibility[sector] == 0) return false;
    const weft__pack *pack = &shard->packs[sector];
    out->count = pack->count;
    out->is_ghost = !weft__sector_is_mine(shard, sector);
    out->gids = pack->gids;
    out->entities = pack->entities;
    out->present = pack->present;
    for (uint32_t i = 0; i < shard->halo_count; i++) out->columns[i] = pack->columns[i];
    return true;
}

uint32_t weft_shard_rows_find(const weft_shard_rows *rows, uint64_t gid)
{
    uint32_t begin = 0, end = rows->count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (rows->gids[middle] < gid)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < rows->count && rows->gids[begin] == gid ? begin : rows->count;
}

uint64_t weft_shard_tick(const weft_shard *shard)
{
    return shard->tick;
}
