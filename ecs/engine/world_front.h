/* SPDX-License-Identifier: MIT */
/* world_front.h: the front of a world: its first bytes, which the scheduler reads and changes: the
 * phase and version that it is in, its clock, the thread that runs it, and who else lives and dies
 * with it. What is behind the front is private to ecs (world_state.h).
 *
 * Phases: structure may be changed by the owner only while `busy` is 0. Cursors and steps raise it;
 * the scheduler's playback lowers it for itself at sync points (it is the owner then). */
#pragma once

#include "component_type.h"
#include "invariant.h"
#include "jobs_engine.h"

#include <weft/finder.h>
#include <weft/world.h>

/* Of ecs; other layers hold pointers to them. */
typedef struct weft__chunk weft__chunk;
typedef struct weft__archetype weft__archetype;
typedef struct weft__type weft__type;
typedef struct weft__format weft__format;
typedef struct weft__tuple weft__tuple;
typedef struct weft__plan weft__plan;

/* Look-ups inline are calls where calls are checked, and where tests make blocks tiny. */
#if WEFT_IS_CHECKED || (defined(WEFT__BLOCK_SLOTS) && WEFT__BLOCK_SLOTS != 4096u)
#define WEFT__HIDES_TABLES 1
#else
#define WEFT__HIDES_TABLES 0
#endif

struct weft__renewal;

/* Data of other parts that lives and dies with the world. Destroyed in this order, before the
 * storage. */
typedef enum weft__extension_slot {
    WEFT__EXTENSION_STREAMS, /* first: its threads end before anything else does */
    WEFT__EXTENSION_SCHEDULER,
    WEFT__EXTENSION_COMMANDS,
    WEFT__EXTENSION_SNAPSHOTS,
    WEFT__EXTENSION_RELATIONS, /* relation_engine.h */
    WEFT__EXTENSION_COUNT
} weft__extension_slot;

/* How far a fixed rate or a timer is: what files keep of systems and groups, by their names. A
 * value. */
typedef struct weft__kept_run {
    char name[64]; /* "": taken */
    bool is_group;
    double elapsed; /* seconds not yet used up by runs */
    double timer;   /* seconds until it runs; -1: not set */
} weft__kept_run;

/* One such part. Owner: the world; set by the part when it first has data, while the world is idle.
 * Always: data == NULL or destroy != NULL. */
typedef struct weft__extension {
    void *data;
    void (*destroy)(void *data); /* called when data is not NULL */
    /* Visits the references that `data` holds on shared values; NULL: never any. For the checker.
     */
    void (*shared_visit)(const void *data,
                         void (*visit)(void *user, uint32_t component, uint32_t index), void *user);
    /* What snapshots keep of `data`; NULL: nothing. A snapshot owns its state from keep to drop.
     * `state_keep` returns false when out of memory. `state_put` cannot fail; it gets NULL where
     * the snapshot is older than `data`. */
    bool (*state_keep)(const void *data, void **state);
    void (*state_put)(void *data, const void *state);
    void (*state_drop)(const void *data, void *state);
    /* The scheduler: visits what world files keep of `data`; takes what it knows of front.runs. */
    void (*runs_visit)(const void *data, void (*visit)(void *user, const weft__kept_run *run),
                       void *user);
    void (*runs_take)(void *data);
    /* Renews change versions that `data` holds (version_renewal.h); NULL: it holds none. */
    void (*renew)(void *data, struct weft__renewal *renewal);
} weft__extension;

enum {
    WEFT__BUSY_STEPPING = 1 << 30,      /* systems run */
    WEFT__BUSY_OBSERVERS = 1 << 19,     /* observers are called: the world is only read */
    WEFT__BUSY_CALLBACK = 1 << 18,      /* one is called that may at most read the world */
    WEFT__BUSY_CURSORS = (1 << 18) - 1, /* the low bits count open cursors */
    WEFT__BUSY_WRITING = WEFT__BUSY_STEPPING | WEFT__BUSY_OBSERVERS |
                         WEFT__BUSY_CALLBACK, /* no values are written */
};

/* What a step is doing, beside `busy`: some of its calls back may change structure. */
enum {
    WEFT__FRAME_NONE = 0, /* between steps */
    WEFT__FRAME_ASKS = 1, /* a run condition or the size of a range: they only look */
    WEFT__FRAME_RUNS = 2, /* systems and playback */
};

/* Where a column is in a berth, in one word: bits 16 to 63: the address the value at location 0
 * would have if the column went back that far, which may be negative; 0 to 15: bytes per value. 0:
 * no column here. Values of WEFT__MAP_BYTES_END bytes and more have no map. */
typedef uint64_t weft__column_place;
#define WEFT__MAP_BYTES_END (UINT32_C(1) << 16)

#define WEFT__MAPS_FEW WEFT_FINDER_FEW

/* The map of a component, and the blocks of slots that lead to it: those of the entities, or of a
 * SPARSE component. A value. Always: places == NULL or blocks != NULL. */
typedef struct weft__column_map {
    struct weft__entity_block **blocks;
    weft__column_place *places; /* NULL: there is no map */
} weft__column_map;

/* All maps of a world. Owner: the world; changed by its owner while it is idle. */
typedef struct weft__column_maps {
    /* constant while systems run; what look-ups read: as weft_finder_tables of finder.h */
    weft__column_place *few[WEFT__MAPS_FEW];                /* [component]; NULL: none */
    struct weft__entity_block **few_blocks[WEFT__MAPS_FEW]; /* [component] */
    /* the rest */
    weft__column_map *many;           /* [component], from WEFT__MAPS_FEW on */
    struct weft__entity_block **seen; /* blocks of the entities; NULL: not asked for */
    uint32_t end;                     /* entries of `many` */
    uint32_t count;                   /* maps in use */
    uint32_t seen_end;                /* blocks in `seen` */
    uint32_t counted;                 /* berths that each map counts as memory for */
} weft__column_maps;

/* The clock of the scheduler: part of the world, changed when a step begins, read by all. */
typedef struct weft__clock {
    uint64_t steps; /* begun so far */
    double time;    /* seconds: the sum of their dt */
    float dt;       /* of the last one */
} weft__clock;

/* What does not go back with the world: snapshots from before its moment are not restored. A value.
 */
typedef enum weft__pin_of { WEFT__PIN_SECTIONS, WEFT__PIN_SHARD, WEFT__PIN_COUNT } weft__pin_of;
typedef struct weft__pin {
    uint64_t moment; /* 0: none */
    const char *why; /* a sentence for the refusal */
} weft__pin;

/* Who is told of calls while systems run: part of the world, set by the scheduler of checked
 * builds when it is made, else NULL. Any thread. */
typedef struct weft__world_watch {
    /* A refused call; true: it keeps the report, and the world's error stays the owner's. */
    bool (*refusal)(const weft_world *world, const char *what);
    /* Values read or written through the world. */
    void (*use)(const weft_world *world, const char *what, uint32_t component, weft_access access);
    /* A call `what` that is refused for the component (0: no such one); `problem` stays. */
    void (*mistake)(const weft_world *world, weft_result code, const char *what, uint32_t component,
                    const char *problem);
} weft__world_watch;

/* The pool that the world runs on, and the thread that runs it. Owner: the world. Always: depth
 * != 0: context != NULL; x_thread is changed by the thread that it names. */
typedef struct weft__host {
    weft_job_pool *pool;     /* constant after create */
    weft_job_context *owner; /* of the pool; NULL: the world ends */
    weft_job_context
        *context;            /* of the thread that runs loops for the world now (host.h); or NULL */
    uint32_t depth;          /* weft__host_begin calls inside the first */
    weft_a64 x_thread;       /* that thread; 0: none */
    weft__pool_user tenancy; /* in the list of a lent pool */
    bool owns_pool;
} weft__host;

/* What has to end before the world, in numbers that are living. */
typedef enum weft__holder {
    WEFT__HOLDER_SNAPSHOTS,
    WEFT__HOLDER_RECORDERS,
    WEFT__HOLDER_STREAMS,
    WEFT__HOLDER_INDEXED,
    WEFT__HOLDER_COUNT
} weft__holder;

/* Owned by its world, whose first member it is; changed by the owner of the world. Always:
 *   number in 1..2^31 - 1; version != 0 between passes; frame == WEFT__FRAME_NONE between steps
 *   busy == 0  <=>  structure may change */
typedef struct weft__world_front {
    /* weft_world_head of finder.h */
    uint32_t number; /* in the handles of this world; constant */
    uint32_t busy;   /* 0: structure may change */
#if WEFT__HIDES_TABLES
    weft_finder_tables no_tables; /* where inline look-ups expect those of `maps` */
#endif
    weft__column_maps maps; /* ecs only */
    /* hot */
    _Alignas(64) uint32_t version; /* change version, never 0 */
    uint32_t frame;                /* WEFT__FRAME_*; set by the scheduler */
    uint32_t renewed;              /* version at the last renewal (version_renewal.h) ... */
    uint64_t renewal;              /* and its number; put back with the versions */
    uint64_t renewals;             /* made so far */
    uint64_t structure_version;    /* +1 on every change of a row count, chunk list or tuple */
    weft__host host;               /* host.h */
    weft__clock clock;
    uint64_t moments;                       /* given out so far: weft_world_moment */
    weft__pin pins[WEFT__PIN_COUNT];        /* changed by those that they are of */
    weft_a32 x_holders[WEFT__HOLDER_COUNT]; /* changed by the owner, INDEXED by systems, too */
    weft__world_watch watch;
    weft__extension extensions[WEFT__EXTENSION_COUNT];
    weft__kept_run *runs; /* [run_count] loaded, for systems and groups that are not there yet */
    uint32_t run_count, run_capacity;
    struct weft__queries *queries; /* query_state.h */
    weft_world_hook *hooks;        /* called by the step, each once */
    weft_world_hook *hook_next;    /* behind the one that is called; moves on when it is removed */
    weft_world_hook *hook_new;     /* the first that was added while hooks are called, or NULL */
    uint64_t hooks_ns;             /* how long they took since the world was created */
    bool is_told;                  /* hooks are called, or the world ends: it cannot step */
    bool is_ending;                /* weft_world_destroy ends what is on it */
} weft__world_front;

/* Threads: any; what may be changed, the struct says. */
static inline weft__world_front *weft__front(const weft_world *world)
{
    return (weft__world_front *)(uintptr_t)world;
}

/* One more, or with -1 one less, that has to end before the world. relaxed: it is read by the owner
 * while no system runs. */
static inline void weft__hold(const weft_world *world, weft__holder kind, int more)
{
    at_add_rlx(&weft__front(world)->x_holders[kind], (uint32_t)more); /* relaxed: above */
}
/* Around a callback that may not use the world: what changes or ends it is refused. Owner, where no
 * systems run; such callbacks are not called in each other. */
static inline void weft__callback_begin(const weft_world *world)
{
    weft__front(world)->busy |= WEFT__BUSY_CALLBACK;
}
static inline void weft__callback_end(const weft_world *world)
{
    weft__front(world)->busy &= ~(uint32_t)WEFT__BUSY_CALLBACK;
}
/* Later writes get a newer version. Owner. */
static inline void weft__version_advance(weft_world *world)
{
    weft__world_front *front = weft__front(world);
    if (++front->version == 0) front->version = 1;
}

/* Whether what was stamped with `version` is news to what has seen `since`. 0 is older than all;
 * else by distance, which wraps. */
static inline bool weft__version_is_newer(uint32_t version, uint32_t since)
{
    return version != 0 && (since == 0 || (int32_t)(version - since) > 0);
}

/* The id of a component of this world; WEFT__NONE, which no archetype has, for any other handle. */
static inline uint32_t weft__component_id(const weft_world *world, weft_component component)
{
    bool is_ours = component.world == weft__front(world)->number && component.id != 0;
    return __builtin_expect(is_ours, 1) ? component.id : WEFT__NONE;
}

/* Handles from ids; id 0 gives null. */
static inline weft_component weft__component(const weft_world *world, uint32_t id)
{
    return (weft_component){id, id == 0 ? 0 : weft__front(world)->number};
}

/* A value is used through the world: checked builds ask whether a system may. Any thread, also one
 * that reads beside a step: it looks at nothing that the step writes. */
static inline void weft__note_use(const weft_world *world, const char *what,
                                  weft_component component, weft_access access)
{
    if (!WEFT_IS_CHECKED) return;
    if (weft__front(world)->watch.use != NULL)
        weft__front(world)->watch.use(world, what, component.id, access);
}

static inline void weft__note_read(const weft_world *world, const char *what,
                                   weft_component component)
{
    weft__note_use(world, what, component, WEFT_READ);
}
