/* SPDX-License-Identifier: MIT */
/* world_state.h: the world struct and its parts, look-up of types, and handles.
 *
 * Phases: structure may be changed by the owner only while `busy` is 0. Cursors and steps raise it;
 * the scheduler's playback lowers it for itself at sync points (it is the owner then). */
#ifndef WEFT_WORLD_STATE_H
#define WEFT_WORLD_STATE_H

#include <weft/ecs.h>
#include <weft/finder.h>

#include "directory.h"
#include "hash.h"
#include "invariant.h"
#include "jobs_engine.h"
#include "shared.h"
#include "type.h"
#include "unit_parts.h"

/* Of rooms above; the world has pointers to them. */
typedef struct weft__chunk weft__chunk;         /* chunk_state.h */
typedef struct weft__format weft__format;       /* chunk_state.h */
typedef struct weft__archetype weft__archetype; /* archetype_state.h */
typedef struct weft__tuple weft__tuple;         /* archetype_state.h */
typedef struct weft__plan weft__plan;           /* archetype_state.h */

/* Data of other parts that lives and dies with the world. Destroyed in this order, before the
 * storage. */
typedef enum weft__extension_slot {
    WEFT__EXTENSION_SCHEDULER,
    WEFT__EXTENSION_COMMANDS,
    WEFT__EXTENSION_SNAPSHOTS,
    WEFT__EXTENSION_OTHER,
    WEFT__EXTENSION_COUNT
} weft__extension_slot;

typedef struct weft__extension {
    void *data;
    void (*destroy)(void *data); /* called when data is not NULL */
    /* Visits the references that `data` holds on shared values; NULL: never any. For the checker.
     */
    void (*shared_visit)(const void *data, weft__shared_visit_fn visit, void *user);
    /* What snapshots keep of `data`; NULL: nothing. A snapshot owns its state from keep to drop.
     * `state_keep` returns false when out of memory. `state_put` cannot fail; it gets NULL where
     * the snapshot is older than `data`. */
    bool (*state_keep)(const void *data, void **state);
    void (*state_put)(void *data, const void *state);
    void (*state_drop)(const void *data, void *state);
} weft__extension;

enum {
    WEFT__BUSY_STEPPING = 1 << 30,      /* systems run */
    WEFT__BUSY_PLAYBACK = 1 << 29,      /* the scheduler changes structure in parallel */
    WEFT__BUSY_GATHER = 1 << 20,        /* one open gather: the world is only read */
    WEFT__BUSY_GATHERS = 511 << 20,     /* they are counted */
    WEFT__BUSY_CURSORS = (1 << 20) - 1, /* the low bits count open cursors */
    WEFT__BUSY_WRITING = WEFT__BUSY_STEPPING | WEFT__BUSY_PLAYBACK |
                         WEFT__BUSY_GATHERS, /* the owner may not write values */
};

/* What a step is doing, beside `busy`: some of its calls back may change structure. */
enum {
    WEFT__FRAME_NONE = 0, /* between steps */
    WEFT__FRAME_ASKS = 1, /* a run condition or the size of a range: they only look */
    WEFT__FRAME_RUNS = 2, /* systems and playback */
};

/* Where rows are, as the directory keeps it: a location is the location of the chunk's first row
 * plus the row, and never 0. Locations come in berths of 1,024: berth b belongs to the chunk
 * world->berths.at[b]. A chunk has as many berths in a row as its capacity needs. Berth 0
 * belongs to none: entities without a place are there. Bit 31 is always 0. */
#define WEFT__BERTH_SHIFT 10
#define WEFT__BERTH_LIMIT (UINT32_C(1) << (31 - WEFT__BERTH_SHIFT))
#define WEFT__BERTH_CLASSES 8 /* runs of 1, 2, 4 ... 128 berths: the rows a megachunk can hold */

/* 1,024 locations: of a chunk, or free; the first berth of a free run links to the next run
 * of its size (0: none). */
typedef union weft__berth {
    weft__chunk *chunk;
    uintptr_t next_free;
} weft__berth;

/* The error of the callbacks of weft_query_each_parallel on one worker: the one of the lowest
 * slice. Its worker writes it, the owner reads it when the loop has ended. */
typedef struct weft__callback_error {
    _Alignas(64) weft_error error; /* `number` 0: none */
    uint32_t slice;                /* of the error */
    const weft_world *world;
    const uint32_t *current; /* slice */
} weft__callback_error;

/* Look-ups inline are calls where calls are checked, and where tests make blocks tiny. */
#define WEFT__HIDES_TABLES (WEFT_IS_CHECKED || WEFT__BLOCK_SLOTS != 8192u)

/* Component types. Owner, world idle; read by all. */
typedef struct weft__type_table {
    weft__type **at;    /* [id]; [0] is NULL */
    uint32_t count;     /* ids 1..count */
    uint32_t capacity;  /* of at */
    uint32_t *names;    /* hash table of ids by name, name_mask + 1 entries */
    uint32_t name_mask; /* a power of two less 1 */
} weft__type_table;

/* How queries follow the order of archetypes: set by query_create.c before the first archetype.
 * Owner, world idle. `reserve` may fail for want of memory and changes nothing that can be seen;
 * `enter`, after it and before anything else, cannot. `cut`: archetypes from number `count` on left
 * the order; entering as many of the same cannot fail. */
typedef struct weft__matching {
    bool (*reserve)(weft_world *world, const weft__archetype *archetype);
    void (*enter)(weft_world *world, weft__archetype *archetype);
    void (*cut)(weft_world *world, uint32_t count);
} weft__matching;

/* Archetypes, by id for ever and by number in the order that queries see (archetype_order.c).
 * Owner, world idle; read by all. count <= id_count. */
typedef struct weft__archetype_table {
    weft__archetype **by_id; /* [id - 1]: all that were made */
    uint64_t *nonempty;      /* bit per number: the archetype has rows */
    uint32_t id_count;
    uint32_t count;          /* in the order */
    weft__archetype **at;    /* [number]: those in the order */
    uint32_t capacity;       /* of at and, in bits, nonempty */
    uint32_t id_capacity;    /* of by_id */
    uint64_t order_version;  /* +1 whenever numbers may mean other archetypes */
    weft__archetype **table; /* hash table by set, table_mask + 1 entries */
    uint32_t table_mask;
} weft__archetype_table;

/* The archetypes of each component (component_index.h). Owner, world idle; read by all. */
typedef struct weft__component_index {
    struct weft__component_list *lists; /* [component id] */
    uint32_t capacity;
} weft__component_index;

/* Formats of rows, by their columns. Owner. */
typedef struct weft__format_table {
    weft__format **table; /* hash table, table_mask + 1 entries */
    uint32_t table_mask;
    uint32_t count;
} weft__format_table;

/* Chunks by id. Owner, world idle; read by all. count <= end <= capacity. */
typedef struct weft__chunk_table {
    weft__chunk **at;  /* [id]; [0] is NULL; NULL until the first chunk */
    uint64_t *ids;     /* bit per id below capacity: in use */
    uint64_t serial;   /* the last one given */
    uint32_t end;      /* ids below were used */
    uint32_t capacity; /* of at */
    uint32_t count;
    uint32_t id_word; /* words of ids below have no free id */
} weft__chunk_table;

/* Locations of rows. Owner, world idle; read by all. end <= capacity. */
typedef struct weft__berth_table {
    weft__berth *at;                    /* [location >> WEFT__BERTH_SHIFT]; NULL until needed */
    uint32_t end;                       /* berths below were used */
    uint32_t capacity;                  /* of at */
    uint32_t free[WEFT__BERTH_CLASSES]; /* first berth of a free run of 2^k, 0: none */
} weft__berth_table;

/* Where a column is in a berth, in one word: bits 16 to 63: the address the value at location 0
 * would have if the column went back that far, which may be negative; 0 to 15: bytes per value. 0:
 * no column here. Values of WEFT__MAP_BYTES_END bytes and more have no map. */
typedef uint64_t weft__column_place;
#define WEFT__MAP_BYTES_END (UINT32_C(1) << 16)

#define WEFT__MAPS_FEW WEFT_FINDER_FEW

/* All maps of a world. */
typedef struct weft__column_maps {
    /* constant while systems run; what look-ups read: as weft_finder_tables of finder.h */
    const weft__entity_block **seen;         /* NULL: no component has a map */
    weft__column_place *few[WEFT__MAPS_FEW]; /* [component]; NULL: none */
    /* the rest */
    weft__column_place **many; /* [component], from WEFT__MAPS_FEW on */
    uint32_t end;              /* entries of `many` */
    uint32_t count;            /* maps in use */
    uint32_t seen_end;         /* blocks in `seen` */
    uint32_t counted;          /* berths that each map counts as memory for */
} weft__column_maps;

/* The way that the last lean change of one entity took: while entities of the same chunk change the
 * same way, nothing is looked up again, and where a row goes is known before where it comes from.
 * Forgotten when a chunk is linked, released or changes archetype; used only while `to` is the
 * first chunk with room. */
typedef struct weft__quick {
    const weft__chunk *from; /* NULL: nothing is known */
    uint64_t key;            /* number of the world << 33 | component << 1 | is_remove */
    weft__plan *plan;        /* plain; its steps are placed for the layouts of `from` and `to` */
    weft__tuple *tuple;      /* of `to` */
    weft__chunk *to;
} weft__quick;

/* The clock of the scheduler: changed when a step begins, read by all. */
typedef struct weft__clock {
    uint64_t steps; /* begun so far */
    double time;    /* seconds: the sum of their dt */
    float dt;       /* of the last one */
} weft__clock;

/* Who is told of calls while systems run: set by the scheduler of checked builds, else NULL. Any
 * thread. */
typedef struct weft__world_watch {
    /* A refused call; true: it keeps the report, and the world's error stays the owner's. */
    bool (*refusal)(const weft_world *world, const char *what);
    /* Values read or written through the world. */
    void (*use)(const weft_world *world, const char *what, uint32_t component, weft_access access);
    /* A refused change of a buffer that may only be read. */
    void (*write)(const weft_world *world, const char *what, uint32_t component);
} weft__world_watch;

/* The pool that the world runs on, and the thread that runs it. */
typedef struct weft__host {
    weft_job_pool *pool;     /* constant after create */
    weft_job_context *owner; /* constant after create: of the pool */
    weft_job_context
        *context;            /* of the thread that runs loops for the world now (host.h); or NULL */
    uint32_t depth;          /* weft__host_begin calls inside the first */
    weft_a64 x_thread;       /* that thread; 0: none */
    weft__pool_user tenancy; /* in the list of a lent pool */
    bool owns_pool;
} weft__host;

typedef struct weft__given_values weft__given_values;

/* Components that every world has. Constant after create. */
typedef struct weft__builtin {
    weft_component prefab;
    weft_component inactive;
    weft_component linked_group;
    weft_component residue; /* tag of cleanup residues, not public */
} weft__builtin;

/* What structural changes have moved since creation. Relaxed statistics. */
typedef struct weft__moved {
    weft_a64 x_rows;
    weft_a64 x_bytes;
} weft__moved;

struct weft_world {
    /* weft_world_head of finder.h */
    uint32_t number; /* in the handles of this world; 1..2^31 - 1, constant */
    uint32_t busy;   /* 0: structure may change */
#if WEFT__HIDES_TABLES
    weft_finder_tables no_tables; /* where inline look-ups expect those of `maps` */
#endif
    weft__column_maps maps; /* column_map.h */
    /* hot: two lines */
    _Alignas(64) uint32_t version; /* change version, never 0 */
    uint32_t frame;                /* WEFT__FRAME_*; set by the scheduler */
    weft__berth_table berths;
    weft__archetype_table archetypes;
    weft__type_table types;
    uint64_t structure_version; /* +1 on every change of a row count, chunk list or tuple */
    weft__quick quick;
    weft__chunk_table chunks;
    weft__world_watch watch;
    uint32_t recorder_epoch; /* rounds of all recorders so far */
    weft__clock clock;
    weft__format_table formats;
    weft__component_index component_index;
    weft__matching matching;
    weft__directory directory;
    weft__units units;
    weft__parts parts;
    weft__memory memory;
    weft__shared shared;                   /* shared values */
    struct weft__queries *queries;         /* query_registry.h */
    struct weft__names *names;             /* debug names of entities; NULL until used */
    struct weft__guards *guards;           /* guard.h; NULL until used, and in unchecked builds */
    struct weft__owner_loops *owner_loops; /* owner_loop.h; the same */
    weft__given_values *given_values;      /* given_values.h; the same */
    weft__callback_error
        *callback_errors;   /* [workers]; NULL until the first weft_query_each_parallel */
    weft_blob_store *blobs; /* NULL until asked for */
    weft__builtin builtin;
    weft__moved moved;
    weft__extension extensions[WEFT__EXTENSION_COUNT];
    weft__host host;
    weft_world_desc desc; /* resolved limits; name is a copy */
    weft_error *error;    /* apart, so that const functions can set it */
};

/* A value is used through the world: checked builds ask whether a system may. Any thread. */
static inline void weft__note_use(const weft_world *world, const char *what,
                                  weft_component component, weft_access access)
{
    if (!WEFT_IS_CHECKED || (world->busy & WEFT__BUSY_STEPPING) == 0) return;
    if (world->watch.use != NULL) world->watch.use(world, what, component.id, access);
}

static inline void weft__note_read(const weft_world *world, const char *what,
                                   weft_component component)
{
    weft__note_use(world, what, component, WEFT_READ);
}

#define WEFT__NO_ENTITY ((weft_entity){0, 0})
#define WEFT__NO_COMPONENT ((weft_component){0})

static inline const weft__type *weft__type_at(const weft_world *world, weft_component component)
{
    bool is_known = component.world == world->number && component.id <= world->types.count;
    return is_known ? world->types.at[component.id] : NULL; /* types[0] is NULL */
}

/* The tag of cleanup residues: put on and taken off by destruction only. */
static inline bool weft__type_is_residue_tag(const weft_world *world, const weft__type *type)
{
    return type->id == world->builtin.residue.id;
}

/* The id of a component of this world; WEFT__NONE, which no archetype has, for any other handle. */
static inline uint32_t weft__component_id(const weft_world *world, weft_component component)
{
    bool is_ours = component.world == world->number && component.id != 0;
    return __builtin_expect(is_ours, 1) ? component.id : WEFT__NONE;
}

/* Handles from ids; id 0 gives null. */
static inline weft_component weft__component(const weft_world *world, uint32_t id)
{
    return (weft_component){id, id == 0 ? 0 : world->number};
}

static inline weft_archetype weft__archetype_handle(const weft_world *world, uint32_t id)
{
    return (weft_archetype){id, id == 0 ? 0 : world->number};
}

static inline weft_query weft__query_handle_of(const weft_world *world, uint32_t id)
{
    return (weft_query){id, id == 0 ? 0 : world->number};
}

static inline bool weft__archetype_is(const weft_world *world, weft_archetype handle)
{
    return handle.world == world->number && handle.id - 1 < world->archetypes.id_count;
}

#endif
