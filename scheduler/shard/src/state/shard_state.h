/* SPDX-License-Identifier: MIT */
/* shard_state.h: struct weft_shard: what a rank knows of its shard.
 *
 * Everything here is of the owner's thread. Systems read packs and the map while they run;
 * exchanges change packs only while no other system runs (EXCLUSIVE). */
#pragma once

#include "sector_map.h"
#include "world_front.h"

#include <weft/snapshot.h>

/* Tags of rounds that may be open at once, and of others. */
enum { WEFT__TAG_GHOSTS = 2, WEFT__TAG_NAMES, WEFT__TAG_NAMED, WEFT__TAG_ROWS, WEFT__TAG_DEATHS };

/* The rows of one sector: of this rank or ghosts. Owner: the shard. Always: count <= capacity; gids
 * ascend strictly; `present` and columns go with them. */
typedef struct weft__pack {
    uint32_t count, capacity;
    uint64_t *gids;
    weft_entity *entities;
    uint32_t *present;
    uint32_t *place; /* [row in the order of the walk]: place in the pack; of ours only */
    unsigned char *columns[WEFT_SHARD_HALO_LIMIT];
    uint64_t chunks;  /* which chunks it was made of, in their order: a hash; of ours only */
    uint32_t changed; /* columns that changed since they were sent, or since the ghosts have them */
    bool rows_changed; /* other rows since then */
} weft__pack;

/* A system of weft_shard_system_create. Owner: the shard; constant after create but for `costs`. */
typedef struct weft__shard_system {
    struct weft_shard *shard;
    struct weft__shard_system *next;
    void (*run)(weft_slice *slice, void *user);
    void *user;
    weft_system halves[2]; /* interior, border */
    uint32_t sector_term;
    struct weft__shard_half {
        struct weft__shard_system *system;
        bool is_border;
    } half[2]; /* the user pointers of the two */
} weft__shard_system;

/* Owner: its creator. The parts are those of the rooms that have their functions. */
struct weft_shard {
    /* constant after create */
    weft_world *world;
    uint64_t seed;
    double balance_above;
    uint32_t balance_every;
    weft_component key, gid, sector, ghost, stub;
    uint32_t halo_count;
    weft_component halo[WEFT_SHARD_HALO_LIMIT];
    uint32_t halo_bytes[WEFT_SHARD_HALO_LIMIT];
    weft_query rows_query;  /* gid, sector, halo...: sharded entities */
    weft_query key_query;   /* gid, sector, key */
    weft_query ghost_query; /* ghost, sector, halo... (WRITE, stamps when asked) */
    weft_query stub_query;
    weft_query dead_query; /* residues: gid without sector; null without references. After a sync
                              there are none */
    uint32_t kept_count;   /* what checkpoints have beside rows: checkpoint.c */
    weft_component kept[WEFT_SHARD_KEPT_LIMIT];
    weft_query kept_rows[WEFT_SHARD_KEPT_LIMIT]; /* private entities of a mark and of no mark
                                                    before it; null for resources */
    bool has_references; /* the world had components with ENTITY fields at create */
    uint64_t owner_thread;
    bool has_load_rest; /* rows of a load that failed, because their end was refused memory */
    weft__sector_map map;

    /* rows: row_pack.c */
    weft__pack *packs; /* [sector] */
    struct weft__pack_walk *walk;
    uint32_t packed_version; /* change version of the last walk; 0: none */

    /* ghosts: ghost_exchange.c */
    struct weft__halo *ghosts;

    /* gids, movers: sector_move.c, row_block.c */
    uint64_t *counters;    /* [sector]: gids given away; of ours only */
    uint32_t keys_version; /* change version of the last look at keys */
    struct weft__moving *moving;
    struct weft__naming *naming;
    struct weft__gid_table *table;
    weft_archetype stub_archetype;
    uint64_t stubs_after_sweep;

    /* systems, steps: run */
    weft__shard_system *systems;
    struct weft__exchange_plan *plan;
    struct weft__run_log *log; /* NULL: nothing asks for one */
    uint64_t tick;
    uint64_t *costs; /* [worker * sectors + sector]: ns since the last balance */
    uint32_t cost_workers;
    weft_result step_result; /* of exchanges in the step */
    weft_shard_stats stats;

    /* figures of all ranks: shard.c */
    struct weft__rank_figures *figures;
    uint64_t figures_asked; /* not 0: a tool asks; after weft__rows_sync on all ranks or on none */
};

/* Stored in ShardSector: 0 for an entity that has no place yet. */
static inline uint32_t weft__sector_stored(uint32_t sector)
{
    return sector + 1;
}

/* What the shard and the other ranks know does not go back with this world. */
static inline void weft__shard_pin(const weft_shard *shard)
{
    weft__front(shard->world)->pins[WEFT__PIN_SHARD] =
        (weft__pin){weft_world_moment(shard->world),
                    "its shard went on, and neither gids nor other ranks go back: load a "
                    "checkpoint (weft_shard_load), or restore a snapshot that was taken since"};
}

/* Begins a loop of the owner. False: memory was refused, and a loop would look empty. */
static inline bool weft__shard_loop_begin(const weft_shard *shard, weft_query query,
                                          weft_cursor *out)
{
    const weft_error *error = weft_world_error(shard->world);
    const uint64_t errors = error->number;
    *out = weft_query_begin(shard->world, query);
    return error->number == errors;
}

static inline bool weft__sector_is_mine(const weft_shard *shard, uint32_t sector)
{
    return sector < shard->map.count && (shard->map.visibility[sector] & WEFT__SECTOR_MINE) != 0;
}
