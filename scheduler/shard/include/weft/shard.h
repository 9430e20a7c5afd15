/* SPDX-License-Identifier: MIT */
/* shard.h: one world in shards: each rank of a run has a part of the entities, and the results are
 * the same for any number of ranks and workers.
 *
 * Public: libweft-shard. Space (or any key) is cut into *sectors*, many more than ranks. Each
 * sector is on one rank; which one decides speed, never results. Entities with the component
 * ShardGid are *sharded*: they belong to the sector that their key says, and move to its rank.
 * Others are private to their rank: cameras, settings.
 *
 *     weft_ranks_start(&argc, &argv);
 *     weft_shard_create(world, &(weft_shard_desc){.grid = {...}, .key = position,
 *                                                 .halo = {position}}, &shard);
 *     ... every rank creates the entities that weft_shard_is_mine says ...
 *     weft_shard_system_create(shard, &flock);   // reads rows of sectors beside its own
 *     while (...) weft_shard_step(shard, dt);
 *     weft_shard_hash(shard, hash);              // one hash for any number of ranks
 *
 * A *gid* names an entity in the whole run: sector << 40 | a counter of the sector in which it
 * began. *Ghosts* are copies of the halo components of rows in sectors beside one's own:
 * read-only entities with the tags ShardGhost and Inactive, which queries leave out unless they
 * name ShardGhost. They are exchanged within the step: begun after the last system that writes a
 * halo component, ended before the first that reads ghosts; between them systems run over interior
 * sectors.
 *
 * Results do not depend on ranks as long as a system uses, of other entities, only the rows that
 * weft_shard_rows gives (sorted by gid) in sectors that weft_shard_near lists (sorted by number),
 * draws random numbers by gid and weft_shard_tick, and changes only its own row or records commands
 * on it. docs/guide/shards.md is the guide, docs/reference/ranks.md says of each kind and feature
 * whether ranks keep it. A row that changes ranks counts as changed, as do those beside it in its
 * chunk, so systems that skip what did not change must give the same when they run again. Observers
 * see no such moves, but those of ShardGid do, and neither ghosts nor stubs. Refused by name:
 * sharded entities with CLEANUP components, acyclic relations (Parent), InstanceOf, LinkedGroup,
 * CHUNK values, hooks that own memory or BLOB fields, keys without a sector (weft_shard_sync);
 * weft_relation_sources of sharded targets; SERIAL, MAIN_THREAD, EXCLUSIVE, TIMER, BACKGROUND,
 * skips_unchanged, by_depth of systems that read ghosts (weft_shard_system_create).
 *
 * Threads: ranks, unless a function says otherwise. Calls marked *collective* are made by all ranks
 * in the same order. Errors: a call that fails returns a code, weft_ranks_error says what to do;
 * every collective call fails on all ranks, with one code, when it fails on one. Where memory was
 * refused no row is lost, and the same call again goes on; until one does, rows that moved may
 * be on two ranks, or on none. */
#ifndef WEFT_SHARD_H
#define WEFT_SHARD_H

#include <weft/ranks.h>
#include <weft/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- description ---- */

#define WEFT_SHARD_SECTOR_LIMIT (UINT32_C(1) << 24) /* sectors of a run, at most */
#define WEFT_SHARD_HALO_LIMIT 16u                   /* halo components, at most */
#define WEFT_SHARD_NEAR_LIMIT 128u                  /* sectors near one, itself included, at most */
#define WEFT_SHARD_KEPT_LIMIT 16u                   /* kept components, at most */

/* A sharded world. Opaque; owned by its creator, destroyed before its world. */
typedef struct weft_shard weft_shard;

/* Sectors as cells of a grid. The key component has the coordinates. */
typedef struct weft_shard_grid {
    uint32_t dimensions;      /* 2 or 3; 0: there is no grid: sector_of and neighbours count */
    uint32_t cells[3];        /* along each axis */
    double least[3], most[3]; /* the box; outside of it the nearest cell counts, along a periodic
                                 axis the one that the position comes to when it is wrapped */
    bool is_periodic[3];
    uint32_t at[3]; /* bytes from the start of the key to each coordinate; all 0: packed */
    bool is_double; /* coordinates are double; else float */
    double reach;   /* how far systems look: ghosts are all sectors within it. 0: the cells beside
                        one, diagonal ones included */
} weft_shard_grid;

/* Describes a shard. Zero means default. Copied. */
typedef struct weft_shard_desc {
    weft_component
        key; /* a plain component of all sharded entities, whose value gives the sector */
    weft_shard_grid grid;                               /* sectors by coordinates, or */
    uint32_t sector_count;                              /* by any function: */
    uint32_t (*sector_of)(const void *key, void *user); /* pure; < sector_count: weft_shard_sync
                                                           refuses a row where it is not */
    uint32_t (*neighbours)(uint32_t sector,
                           uint32_t *out, /* pure and symmetric: up to `capacity` */
                           uint32_t capacity,
                           void *user); /* sectors, without itself; their number */
    void *user;
    /* What ghosts have: plain components without hooks. The list ends with the first null. */
    weft_component halo[WEFT_SHARD_HALO_LIMIT];
    uint64_t seed; /* of the run, kept in checkpoints for the program; weft_shard_info has it */
    /* Sectors move between ranks when the largest cost of a rank is more than `balance_above` times
     * the mean: looked at every `balance_every` steps. 0: 1.15 and 64; UINT32_MAX: never. */
    double balance_above;
    uint32_t balance_every;
    /* What checkpoints hold beside sharded entities: resources, and components that mark private
     * entities (prefabs excepted), each kept with its name and all that it has. Values must be the
     * same on all ranks when they are saved, padding included. Neither these types nor the others
     * of such an entity may have references, memory of their own or what sharded entities may not;
     * a resource is no BUFFER, a mark not SPARSE. The list ends with the first null. */
    weft_component kept[WEFT_SHARD_KEPT_LIMIT];
} weft_shard_desc;

/* Makes a shard of a world without sharded entities; collective. Registers the components
 * ShardGid (uint64_t), ShardSector (SHARED, uint32_t), ShardGhost and ShardStub (tags). All
 * ranks must register the same components in the same order, before or after, but those with
 * ENTITY fields before. Errors: INVALID_ARGUMENT, BAD_HANDLE, TYPE_MISMATCH (key or halo: not
 * plain, or with hooks; kept: the text says why not), LIMIT, OUT_OF_MEMORY, WRONG_PHASE
 * (weft_ranks_start was not called), UNSUPPORTED (the ranks differ in components or in the
 * description). Cost: O(sectors). */
WEFT_API weft_result weft_shard_create(weft_world *world, const weft_shard_desc *desc,
                                       weft_shard **out);

/* Destroys the shard; its systems, ghosts and stubs leave the world. Not collective. NULL is
 * ignored. Refused, with the text of weft_ranks_error, in a step and in a hook of the world:
 * weft_shard_step uses the shard behind its hooks. */
WEFT_API void weft_shard_destroy(weft_shard *shard);

/* What a shard is. */
typedef struct weft_shard_info {
    weft_component gid, sector, ghost, stub;
    uint32_t rank, ranks, sectors;
    uint32_t sectors_mine;
    uint64_t seed;
} weft_shard_info;

/* What a shard is; `bytes`: sizeof *out. Threads: any while unchanged. */
WEFT_API void weft_shard_info_get(const weft_shard *shard, weft_shard_info *out, size_t bytes);

/* ---- sectors ---- */

/* The sector of a value of the key component. Threads: any. */
WEFT_API uint32_t weft_shard_sector_of(const weft_shard *shard, const void *key);

/* The rank that has the sector now. Threads: any while unchanged. */
WEFT_API uint32_t weft_shard_rank_of(const weft_shard *shard, uint32_t sector);

/* Whether this rank has the sector of a value of the key component. When all ranks go through the
 * same list and create what is theirs, each entity exists once. Threads: any while unchanged. */
WEFT_API bool weft_shard_is_mine(const weft_shard *shard, const void *key);

/* The sectors near one, itself included, by number; 0 for a bad one. `*out` stays valid while the
 * shard lives. Threads: any. */
WEFT_API uint32_t weft_shard_near(const weft_shard *shard, uint32_t sector, const uint32_t **out);

/* ---- rows of sectors ---- */

/* The rows of a sector that is here, or near one that is: copies of their halo components, as they
 * were at the last exchange, sorted by gid. Packed arrays of `count` values. */
typedef struct weft_shard_rows {
    uint32_t sector, count;
    bool is_ghost;                              /* of another rank */
    const uint64_t *gids;                       /* ascending */
    const weft_entity *entities;                /* of this world; those of ghosts: until the next
                                                   exchange */
    const uint32_t *present;                    /* bit i: the row has halo component i */
    const void *columns[WEFT_SHARD_HALO_LIMIT]; /* by halo component; zero where it is absent */
} weft_shard_rows;

/* Fills in the rows of a sector, without ENTITY fields translated. False, with no rows, where the
 * sector is neither here nor near. Valid until the next exchange. Threads: owner or system. Cost:
 * O(1). */
WEFT_API bool weft_shard_rows_get(const weft_shard *shard, uint32_t sector, weft_shard_rows *out);

/* The place of a gid among rows; rows->count when it is not there. Threads: any. Cost: O(log
 * count). */
WEFT_API uint32_t weft_shard_rows_find(const weft_shard_rows *rows, uint64_t gid);

/* ---- systems and steps ---- */

/* Registers a system that reads ghosts: as weft_system_create, but its rows (over.rows; they
 * must name ShardGid, so that they are sharded) run in two halves, "NAME" over interior sectors
 * while ghosts are under way, and "NAME.border" over the others. It reads halo components of
 * other rows by weft_shard_rows_get and need not declare that; it must not write them in place.
 * It may be called for one half first or the other: results must not depend on the order of
 * slices. Where it has an order (before, after) name both halves. Errors: as weft_system_create;
 * INVALID_ARGUMENT also for systems without rows, SERIAL, MAIN_THREAD, EXCLUSIVE, TIMER ones,
 * and for one that writes a halo component. */
WEFT_API weft_result weft_shard_system_create(weft_shard *shard, const weft_system_desc *desc);

/* The sector of the rows of a slice, in a system of weft_shard_system_create. Threads: callback. */
WEFT_API uint32_t weft_shard_slice_sector(const weft_shard *shard, const weft_slice *slice);

/* weft_world_step with exchanges of ghosts where systems need them, then weft_shard_sync or, when
 * it is due, weft_shard_balance; collective. Errors: those of the three, on all ranks. */
WEFT_API weft_result weft_shard_step(weft_shard *shard, float dt);

/* The number of steps done, also before a restart: the tick of <weft/random.h>. Threads: owner or
 * system. */
WEFT_API uint64_t weft_shard_tick(const weft_shard *shard);

/* Gives gids to entities that are new (ShardGid 0; instances have no ShardGid until it is added,
 * whatever was copied), and brings entities whose key says another sector there; collective. New
 * ones get gids in the order of a hash of their values, equal ones in that of what refers to
 * them, so it does not matter who created them.
 * Rows arrive in the order that they had in the chunks of their ranks: results must not depend on
 * the order of rows in chunks (docs/guide/shards.md). References (described ENTITY fields) to
 * entities that live on other ranks lead to *stubs*, entities that have a gid only. All ranks learn
 * which rows died since the last call: references lead to nothing from then on, and relations clear
 * or destroy what refers to them; until then a dead target counts as living to relations. Observers
 * run first (weft_observers_run). Call it after the first entities were created; weft_shard_step
 * calls it. Errors: UNSUPPORTED (a component of an entity cannot travel; the text names it), LIMIT
 * (a sector gave away its 2^40 gids), those of weft_observers_run, OUT_OF_MEMORY, IO. Cost, where
 * components have ENTITY fields: 8 bytes to each rank for each death. */
WEFT_API weft_result weft_shard_sync(weft_shard *shard);

/* Exchanges ghosts now, outside of a step; collective. What weft_shard_rows_get gives is then as
 * the world is. Errors: OUT_OF_MEMORY, IO. */
WEFT_API weft_result weft_shard_exchange(weft_shard *shard);

/* Cuts sectors among ranks again, by measured cost if the largest is more than `balance_above`
 * times the mean, and moves them in a weft_shard_sync, which it calls in any case; collective.
 * *moved (may be NULL): whether it did. Errors: as weft_shard_sync. */
WEFT_API weft_result weft_shard_balance(weft_shard *shard, bool *moved);

/* ---- entities ---- */

/* The gid of an entity: 0 when it has none or is new. Threads: owner. */
WEFT_API uint64_t weft_shard_gid(const weft_shard *shard, weft_entity entity);

/* The entity of this world that has the gid: one that lives here, else a ghost or a stub; null with
 * no error when there is none. Cost: O(1), O(entities) the first time after structure changed. */
WEFT_API weft_entity weft_shard_find(weft_shard *shard, uint64_t gid);

/* ---- hash and checkpoints ---- */

/* The hash of all sharded entities of all ranks: two sums mod 2^64 of hashes of (gid, components,
 * values), so it depends on neither ranks, nor workers, nor places of rows; collective. ENTITY
 * fields count as gids; padding and values of NOT_HASHED components as in weft_world_hash. Errors:
 * as weft_shard_save. Cost: O(bytes). */
WEFT_API weft_result weft_shard_hash(weft_shard *shard, uint64_t out[2]);

/* Writes all sharded entities, the tick, the seed and the counters of sectors to one file on a
 * file system that all ranks see, a section for each sector; collective. The same state gives
 * the same bytes for any number of ranks. It is written under "PATH.partial" and renamed when it
 * is whole and on disk: a run that dies leaves the earlier file, and a part that the next save
 * takes over. Only regular files are replaced, and what a symbolic link leads to. Private entities
 * and resources are written where the description of the shard keeps them. Errors: UNSUPPORTED (as
 * weft_shard_sync; what is kept differs between ranks, or a component of a kept entity cannot be
 * kept: the text names it), IO (the text has the reason: no space; the earlier file is there),
 * OUT_OF_MEMORY. */
WEFT_API weft_result weft_shard_save(weft_shard *shard, const char *path);

/* Reads a checkpoint on any number of ranks, into a shard without entities; collective. Components
 * are found by name; where their layout is another one, described fields go by their names, as when
 * a world file is loaded (weft_load_desc). Kept resources and private entities are then on every
 * rank; a resource that the file does not have stays as it is. Errors: NOT_FOUND, IO, CORRUPT
 * (nothing was loaded), UNSUPPORTED (a later version of the format), TYPE_MISMATCH (a component is
 * missing, or fields have no way into the new layout; the file keeps what the description does
 * not), INVALID_ARGUMENT (other sectors; another seed than the description's, unless that is 0; the
 * shard has entities, or the world kept private ones), OUT_OF_MEMORY: what came is taken out again;
 * where that is refused memory too, rows of the file stay until the next load ends them, or the
 * world. */
WEFT_API weft_result weft_shard_load(weft_shard *shard, const char *path);

/* ---- statistics ---- */

/* Counts of this rank since creation; times in ns. */
typedef struct weft_shard_stats {
    uint64_t steps, exchanges;
    uint64_t rows;         /* sharded entities here now */
    uint64_t ghosts;       /* here now */
    uint64_t stubs;        /* here now */
    uint64_t messages;     /* of ghosts sent */
    uint64_t ghost_rows;   /* rows of ghosts of which values were sent, of any component */
    uint64_t value_bytes;  /* of ghosts sent: values and gids */
    uint64_t header_bytes; /* of ghosts sent: the rest */
    uint64_t rows_left, rows_arrived; /* to and from other ranks */
    uint64_t rows_moved;              /* between sectors of this rank */
    uint64_t moved_bytes;             /* of rows that left */
    uint64_t sectors_moved;           /* to other ranks, by balance */
    uint64_t pack_ns, apply_ns;       /* copying rows into packs, and ghosts out of messages */
    uint64_t send_ns;                 /* writing messages and handing them to MPI */
    uint64_t wait_ns;                 /* in exchanges: until the last message was there */
    uint64_t sync_ns;                 /* weft_shard_sync */
    uint64_t border_rows;             /* here now, in sectors that other ranks see */
    double imbalance;                 /* largest cost of a rank / mean, when last looked at */
    uint64_t received_bytes;          /* of ghosts and of rows that arrived */
    uint64_t step_ns;                 /* weft_shard_step */
    uint64_t work_ns; /* of it in systems: without waiting for ghosts, and without hooks */
} weft_shard_stats;

/* Counts of this rank; `bytes`: sizeof *out. */
WEFT_API void weft_shard_stats_get(const weft_shard *shard, weft_shard_stats *out, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
