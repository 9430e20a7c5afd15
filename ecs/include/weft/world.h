/* SPDX-License-Identifier: MIT */
/* world.h: worlds: handles, creation, errors, statistics, hashes, compaction, change versions.
 *
 * Public. A world owns entities, components, archetypes, chunks, queries, shared values and
 * systems, and its job pool unless one is lent to it. Several worlds may share a pool.
 *
 * A thread in a call *owns* the world, one thread at a time. A world may
 * pass from thread to thread when the hand-over synchronises. A second thread in a world is
 * refused (BUSY, WRONG_PHASE): always in checked builds, in others unless both enter at the same
 * moment. Several threads may step different worlds over one pool at the same time: a thread
 * that did not create the pool is its guest during the call (<weft/jobs.h>), helped by workers
 * 1..N-1. Only the thread that created the pool can wait for its jobs. */
#ifndef WEFT_WORLD_H
#define WEFT_WORLD_H

#include <weft/base.h>
#include <weft/jobs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- handles ---- */

/* A world: entities and all that belongs to them. */
typedef struct weft_world weft_world;
typedef struct weft_blob_store weft_blob_store; /* <weft/blob.h> */

/* weft_entity and weft_component, which errors can name, are in <weft/base.h>. */

/* Whether two handles are the same. Threads: any. */
static inline bool weft_entity_equal(weft_entity a, weft_entity b)
{
    return a.index == b.index && a.version == b.version;
}

/* The tag of a world: the top four bits of weft_entity.index. A world refuses entities with another
 * tag (BAD_HANDLE); questions (weft_entity_is_alive, ...) and look-ups treat them as dead. Release
 * builds skip them, as they skip dead ones, in weft_entity_destroy_many, in recorded commands and
 * in weft_transfer_desc.tracked.
 *
 * With weft_world_desc.entity_tag 0 a release build uses tag 0. A checked build uses the lowest tag
 * that no living world of the process has: the first world has the handles of a release build, and
 * up to 16 living worlds refuse each other's entities. More worlds share tag 15 and cannot tell
 * their entities apart. A tag is used again after its worlds were destroyed.
 *
 * Hashes and world files leave tags out, of entities and of fields described as ENTITY: equal
 * worlds with different tags hash equally, and a file loads into a world with any tag. A program
 * that keeps handles in other fields, or computes with indices, uses weft_entity_index or
 * WEFT_WITHOUT_ENTITY_TAG: tag 0, without protection from foreign entities. */
#define WEFT_ENTITY_TAG_SHIFT 28
#define WEFT_WITHOUT_ENTITY_TAG 16u

/* The index without the tag of the world (WEFT_ENTITY_TAG_SHIFT): the same number in worlds with
 * different tags that made the same entities. Below 2^27. Threads: any. */
static inline uint32_t weft_entity_index(weft_entity entity)
{
    return entity.index & ((UINT32_C(1) << WEFT_ENTITY_TAG_SHIFT) - 1);
}

/* Whether the handle is null, which no entity has. Threads: any. */
static inline bool weft_entity_is_null(weft_entity entity)
{
    return (entity.index | entity.version) == 0;
}

/* A handle below is an id, which depends on the history of the world only, and the number of the
 * world. Every build refuses handles of another world. {0, 0} is null. Numbers follow
 * the order in which a process creates worlds. No hash, file or result depends on them, unless
 * components hold such handles: keep names or ids in components. */

/* An archetype of one world: a set of component types; ids count from 1. It lives as long as the
 * world. */
typedef struct weft_archetype {
    uint32_t id;
    uint32_t world; /* private */
} weft_archetype;

/* A query of one world. The id holds an index and a generation: stale handles are refused. */
typedef struct weft_query {
    uint32_t id;
    uint32_t world; /* private */
} weft_query;

/* ---- create and destroy ---- */

/* Describes a world. Zero means default. Everything is copied. */
typedef struct weft_world_desc {
    const char *name;    /* for traces and errors, UTF-8; default "world" */
    uint32_t workers;    /* threads including the owner; 0 = the cores this process may use */
    weft_job_pool *pool; /* a pool to borrow, which must outlive the world (destroying it earlier
                            is BUSY); NULL = the world creates its own, with `workers` */
    weft_allocator allocator;    /* heap memory; default malloc */
    uint32_t entity_block_limit; /* blocks of 4,096 entities; default and maximum 32,768 */
    uint32_t megachunk_limit;    /* 1 MiB each; default and maximum 16,384 */
    uint32_t component_limit;    /* component types; default and maximum 65,531 */
    uint32_t entity_tag;     /* 1..15, or WEFT_WITHOUT_ENTITY_TAG; 0: see WEFT_ENTITY_TAG_SHIFT */
    bool without_huge_pages; /* do not ask the OS for 2 MiB pages */
    const weft_os *os;       /* NULL; tests inject faults here */
    const char *trace_file;  /* trace of the world's own pool, see weft_job_pool_desc; NULL: as
                                the environment variable WEFT_TRACE says; "": never */
    weft_error *error;       /* filled by weft_world_create; NULL: not wanted */
    weft_log log;       /* warnings, mistakes, reports of the world, and of a pool of its own */
    size_t stack_bytes; /* of the threads of its own pool, see weft_job_pool_desc */
    bool is_hidden;     /* a scratch world: tools that watch for worlds are not told of it */
} weft_world_desc;

/* Creates a world. `desc` may be NULL (all defaults). On failure *out is NULL, and *desc->error has
 * the text; on success its code is WEFT_OK. Threads: any. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY,
 * THREAD_FAILED, IO (trace_file). Cost: an empty world
 * without a pool of its own takes some kilobytes. */
WEFT_API weft_result weft_world_create(const weft_world_desc *desc, weft_world **out);

/* Destroys the world and everything in it, with destruct hooks; joins its own pool. NULL is
 * ignored. Threads: owner, outside of hooks. Errors, and then the world lives on as it was, and
 * weft_world_error has the text: WRONG_PHASE while the world steps or is iterated, in its hooks, or
 * inside a job of its own pool; BUSY: snapshots, recorders, indexed accesses, streams,
 * blob builders, live links, scenes, shards or inspectors are on it, or its own pool has pending
 * jobs, guests or other worlds. The text names them and the calls that end them. */
WEFT_API weft_result weft_world_destroy(weft_world *world);

/* The pool of the world, which owns it unless it was lent: weft_job_pool_destroy is BUSY then.
 * Threads: any. */
WEFT_API weft_job_pool *weft_world_pool(const weft_world *world);

/* The blob store of the world (<weft/blob.h>), created on first use with the world's memory hook
 * and destroyed with the world, after the last destruct hook. NULL, with an error text, when memory
 * is exhausted, for LIMIT (weft_blob_store_create), and when the first use is in a system. Threads:
 * owner; the store may be used by any thread. */
WEFT_API weft_blob_store *weft_world_blobs(weft_world *world);

/* ---- errors ---- */

/* The last error, never NULL, valid until the next failing call; its code is WEFT_OK when no
 * call failed, or after it was cleared. Every failing call of the owner sets it, whether it
 * returns a code, a null handle, NULL, 0 or false. Exceptions: BUSY because another thread is in
 * the world; refusals of weft_world_destroy inside a job of the world's pool; calls
 * that any thread may make; questions whose answer is no (weft_component_find, weft_entity_has).
 * Calls that succeed leave it as it is: `number` tells whether it is new. Threads: owner. */
WEFT_API const weft_error *weft_world_error(const weft_world *world);

/* Clears the last error: code WEFT_OK, no text; its number stays. NULL is ignored. Threads:
 * owner. */
WEFT_API void weft_world_error_clear(weft_world *world);

/* ---- hooks ---- */

/* What is called around the steps of a world. Memory of the caller, from add to remove. */
typedef struct weft_world_hook {
    /* At the end of each weft_world_step, world idle, on its thread: may read and change the world,
     * but neither step nor destroy it (WRONG_PHASE; the same in `ended`). What fails in it is the
     * error of weft_world_error in it only. May be NULL. */
    void (*stepped)(weft_world *world, void *user);
    /* When the world is destroyed, before anything of it ends; the hook is removed. May be NULL. */
    void (*ended)(weft_world *world, void *user);
    void *user;
    /* A word that is 0 while `stepped` need not be called; other threads may change it, atomically.
     * NULL: it is called in each step. */
    const uint32_t *asks;
    /* What a tool may show of it: a name to find it by; NULL: nothing. */
    const char *name;
    /* Writes figures as members of a JSON object, without braces, and returns their length like
     * snprintf. Called between steps and in hooks, by the thread of the world. NULL: nothing. */
    size_t (*tell)(char *text, size_t capacity, void *user);
    /* What has to end before the world, and the call that ends it: "live link (weft_live_stop)".
     * While the hook is there weft_world_destroy is BUSY and says so. NULL: it ends with the
     * world. */
    const char *holds;
    struct weft_world_hook *next; /* private */
} weft_world_hook;

/* Adds a hook, behind those that there are; one that a hook adds is called from the next step on.
 * Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, WRONG_PHASE (also: the world is being destroyed).
 * Threads: owner, between steps. Cost of a hook: a call in each step, or with `asks` some loads. */
WEFT_API weft_result weft_world_hook_add(weft_world *world, weft_world_hook *hook);
/* Takes a hook away, which is not called again; in a hook: any, also that one. Errors: NOT_FOUND,
 * INVALID_ARGUMENT, WRONG_PHASE (it stays). Threads: owner, world idle. */
WEFT_API weft_result weft_world_hook_remove(weft_world *world, weft_world_hook *hook);
/* The first hook of this name, in the order in which they were added; NULL: there is none. Threads:
 * owner. */
WEFT_API const weft_world_hook *weft_world_hook_find(const weft_world *world, const char *name);
/* `created` is called at the end of every weft_world_create of this process from now on, on its
 * thread, but not for worlds that are hidden (weft_world_desc); NULL: nothing is. For tools that
 * look at worlds without the help of a program. Threads: setup. */
WEFT_API void weft_world_watch_created(void (*created)(weft_world *world));

/* ---- checks and hashes ---- */

/* Checks every invariant of the storage. WEFT_CORRUPT: weft_world_error says which one is broken;
 * unplayed rows of a recorder (weft_recorder_create_rows) also give WEFT_CORRUPT. Errors: also
 * INVALID_ARGUMENT, WRONG_PHASE. Threads: owner, world idle. Cost: O(entities + metadata). */
WEFT_API weft_result weft_world_validate(weft_world *world);

/* What a hash covers. Both are equal for any number of workers. */
typedef enum weft_hash_kind {
    WEFT_HASH_LAYOUT,  /* ids, versions, order of chunks and rows, bytes */
    WEFT_HASH_CONTENT, /* ids and component values only: independent of where rows are stored, so
                          without values of CHUNK components, which depend on it */
} weft_hash_kind;

/* A hash of the state of the world. Padding bytes inside components count: zero your structs.
 * Values of WEFT_NOT_HASHED components do not count. 0 when the world is not idle (WRONG_PHASE);
 * also the CONTENT of a world without entities and hashed resources.
 * Threads: owner, world idle. Cost: O(bytes). */
WEFT_API uint64_t weft_world_hash(weft_world *world, weft_hash_kind kind);

/* ---- statistics and memory ---- */

/* Counts, and bytes by category. */
typedef struct weft_world_stats {
    uint64_t entities; /* alive, and residues */
    uint64_t archetypes;
    uint64_t chunks;
    uint64_t slices;
    uint64_t units_used;        /* of 16 KiB */
    uint64_t megachunks_mapped; /* of 1 MiB */
    uint64_t component_types;
    uint64_t queries;
    uint64_t bytes_moved;    /* component bytes copied by structural changes since creation */
    uint64_t rows_moved;     /* rows copied by structural changes since creation */
    uint64_t bytes_entities; /* directory and entity blocks */
    uint64_t bytes_chunks;   /* component storage, mapped */
    uint64_t bytes_metadata; /* chunk metadata, archetypes, edges; objects of chunks that ended
                                stay for those to come */
    uint64_t bytes_types;
    uint64_t bytes_queries;
    uint64_t bytes_shared;
    uint64_t bytes_buffers; /* spilled dynamic buffers */
    uint64_t bytes_commands;
    uint64_t bytes_systems;
    uint64_t bytes_other;
    uint64_t bytes_total;
    uint64_t allocations; /* successful calls of the allocator hook since creation */
    uint64_t bytes_blobs; /* the world's blob store; mapped files are not counted */
} weft_world_stats;

/* Counts and bytes of a world. `out_bytes`: sizeof *out. Threads: owner. Cost: O(chunks +
 * archetypes + moves cached between them). */
WEFT_API void weft_world_stats_get(const weft_world *world, weft_world_stats *out,
                                   size_t out_bytes);

/* Merges chunks that are not full, frees the empty ones that are kept, and returns empty
 * megachunks to the OS, moving at most `row_budget` rows. A megachunk (1 MiB) stays while one chunk
 * is in it: full chunks are not moved from one to another. Where half or more of the archetypes,
 * and at least 64, have no rows, these leave the order of iteration; they come last when rows come
 * to them again, and their memory goes unless their handle was given out or a snapshot knows them.
 * Returns the number of rows moved: repeat until it is 0 to compact completely. It stops early when
 * memory is exhausted, which is no error. 0 also when the world is not idle (WRONG_PHASE). Handles
 * do not change. Threads: owner, world idle. */
WEFT_API uint64_t weft_world_compact(weft_world *world, uint64_t row_budget);

/* Sets every described ENTITY field that leads to a dead entity to null: in values, buffers
 * (linked groups, too), chunk values and resources; not in SHARED values, which cannot change in
 * place. Only slices in which a field was cleared count as changed. `cleared` may be NULL.
 * Threads: owner, world idle. Errors: INVALID_ARGUMENT, WRONG_PHASE. Cost: O(values of types with
 * such fields), a look-up each. */
WEFT_API weft_result weft_world_clear_references(weft_world *world, uint64_t *cleared);

/* ---- change versions ---- */

/* The change version of the world: a counter that each system of a step and
 * weft_world_advance_change_version raise. It wraps, and is never 0. Writes stamp it; pass it
 * later to weft_query_filter_changed. What weft keeps of versions (systems, filters, observers,
 * relations, snapshots) is right for ever. One that the program keeps is good until 2^30 more
 * have passed (5 hours of 1,000 systems at 60 steps a second): take another before, or pass 0.
 * After that what did not change may count as changed, and after 2^31 changes are missed.
 * Threads: owner. */
WEFT_API uint32_t weft_world_change_version(const weft_world *world);

/* Raises the change version by one: later writes count as changes since the old one. Returns the
 * old version; 0 while systems run (WRONG_PHASE). Threads: owner. */
WEFT_API uint32_t weft_world_advance_change_version(weft_world *world);

#ifdef __cplusplus
}
#endif
#endif
