/* SPDX-License-Identifier: MIT */
/* world_state.h: the world struct and its parts, look-up of types, and handles. Phases, and what
 * the scheduler reads and changes: world_front.h. */
#pragma once

#include "archetype_state.h"
#include "bits.h"
#include "directory.h"
#include "error.h"
#include "hash.h"
#include "pile.h"
#include "roll.h"
#include "shared.h"
#include "small_memory.h"

/* Where rows are, as the directory keeps it: a location is the location of the chunk's first row
 * plus the row, and never 0. Locations come in berths of 1,024: berth b belongs to the chunk
 * world->berths.at[b]. A chunk has as many berths in a row as its capacity needs. Berth 0
 * belongs to none: entities without a place are there. Bit 31 is always 0. */
#define WEFT__BERTH_SHIFT 10
#define WEFT__BERTH_LIMIT (UINT32_C(1) << (31 - WEFT__BERTH_SHIFT))
#define WEFT__BERTH_CLASSES 8 /* runs of 1, 2, 4 ... 128 berths: the rows a megachunk can hold */

/* 1,024 locations: of a chunk, or free; the first berth of a free run links to the next run
 * of its size (0: none). Owner: the berth table of the world. */
typedef union weft__berth {
    weft__chunk *chunk;
    uintptr_t next_free;
} weft__berth;

/* A weft_type that came with a text. Owner: the table of types. */
typedef struct weft__description {
    struct weft__description *next;
    weft__pile pile; /* of all of it, this struct too */
    const weft_type *type;
} weft__description;

/* The shortest way from a component to what a SPARSE type has. Part of the table of types. Always:
 * sparse == NULL, and no component of these ids has the key, or the key is its type's. */
#define WEFT__SPARSE_NEAR 8u
typedef struct weft__sparse_near {
    uint64_t key; /* weft__sparse_key of the component */
    const struct weft__sparse *sparse;
} weft__sparse_near;

/* Component types. Owner, world idle; read by all while it is. Threads that record meanwhile read
 * `known`. Always, outside of a registration: at is the newest list of `known`. */
typedef struct weft__type_table {
    weft__type **at; /* [id]; [0] is NULL */
    uint32_t count;  /* ids 1..count */
    weft__roll known;
    const weft__type *sparse; /* the last SPARSE type; sparse->next leads to those before it */
    weft__sparse_near near[WEFT__SPARSE_NEAR]; /* [id % WEFT__SPARSE_NEAR]: the first SPARSE type
                                                  of these ids */
    weft__table names;                         /* of ids */
    weft__description *descriptions;
} weft__type_table;

/* How queries follow the order of archetypes: functions of query_state.c, set by query_state.c
 * before the first archetype.
 * Owner, world idle. `reserve` may fail for want of memory and changes nothing that can be seen;
 * `enter`, after it and before anything else, cannot. `cut`: archetypes from number `count` on left
 * the order; entering as many of the same cannot fail. */
typedef struct weft__matching {
    bool (*reserve)(weft_world *world, const weft__archetype *archetype);
    void (*enter)(weft_world *world, weft__archetype *archetype);
    void (*cut)(weft_world *world, uint32_t count);
} weft__matching;

/* Archetypes, by id for ever and by number in the order that queries see (archetype.c).
 * Owner, world idle; read by all while it is. Threads that record meanwhile read `known`. Always:
 * count <= id_count; by_id is the newest list of `known`. */
typedef struct weft__archetype_table {
    weft__archetype **by_id;       /* [id - 1]: all that were made; NULL: the id is free */
    WEFT__LIST(uint64_t) nonempty; /* bit per number: the archetype has rows */
    uint32_t id_count;
    uint32_t free_ids;    /* below id_count */
    uint32_t free_from;   /* none is below */
    uint32_t count;       /* in the order */
    weft__archetype **at; /* [number]: those in the order */
    uint32_t capacity;    /* of at */
    weft__roll known;
    uint64_t order_version; /* +1 whenever numbers may mean other archetypes */
    bool has_residues;      /* some archetype that was made has the tag of residues */
    weft__table sets;       /* of ids */
} weft__archetype_table;

/* The archetypes of each component (archetype_state.h). Owner, world idle; read by all. */
typedef WEFT__LIST(struct weft__component_list) weft__component_index; /* [component id] */

/* Formats of rows, and by their columns. Owner. */
typedef struct weft__format_table {
    WEFT__LIST(weft__format *) all;
    weft__table numbers; /* places in `all`, from 1 */
} weft__format_table;

/* Chunks by id. Owner, world idle; read by all. count <= end <= capacity. */
typedef struct weft__chunk_table {
    weft__chunk **at;  /* [id]; [0] is NULL; NULL until the first chunk */
    uint64_t *ids;     /* bit per id below capacity: in use */
    uint64_t serial;   /* the last one given */
    uint32_t end;      /* ids below were used */
    uint32_t capacity; /* of at */
    uint32_t count;
    uint32_t id_word;   /* words of ids below have no free id */
    weft__chunk *ended; /* objects of the lines for chunks to come, by room_next */
} weft__chunk_table;

#define WEFT__SPARES 16u /* chunks of at most 4 KiB each */

/* Spare chunks (chunk.h). Owner, world idle. Always: count = entries of the ring that are not
 * NULL; each is the `spare` of its archetype, and at ring[id % WEFT__SPARES]. */
typedef struct weft__spare_chunks {
    weft__chunk *ring[WEFT__SPARES];
    uint32_t next;
    uint32_t count;
} weft__spare_chunks;

/* Locations of rows. Owner, world idle; read by all. end <= capacity. */
typedef struct weft__berth_table {
    weft__berth *at;                    /* [location >> WEFT__BERTH_SHIFT]; NULL until needed */
    uint32_t end;                       /* berths below were used */
    uint32_t capacity;                  /* of at */
    uint32_t free[WEFT__BERTH_CLASSES]; /* first berth of a free run of 2^k, 0: none */
} weft__berth_table;

/* The way that the last lean change of one entity took: while entities of the same chunk change
 * the same way, nothing is looked up again, and where a row goes is known before where it comes
 * from. Forgotten when a chunk is linked, released or changes archetype; used only while `to` is
 * the first chunk with room. Owner of the world. Always: from == NULL, or plan->from ==
 * from->archetype, plan->is_plain, plan->to == to->archetype and tuple == plan->to->tuple0. */
typedef struct weft__quick {
    weft__chunk *from;  /* NULL: nothing is known */
    uint64_t key;       /* number of the world << 33 | component << 1 | is_remove */
    weft__plan *plan;   /* plain; its steps are placed for the layouts of `from` and `to` */
    weft__tuple *tuple; /* of `to` */
    weft__chunk *to;
    uint32_t bytes; /* of the value that is added, when it is set by copying them; else a size that
                       no value has */
    /* the run: rows of one slice that may come to `to` without its being looked at */
    uint32_t run_begin;
    uint32_t run_rows;    /* 0: none. The last row that fits is in no run */
    uint32_t run_version; /* of all types of the slice; no run while it is not the world's */
    uint32_t new_version; /* of types that rows do not bring; the others are compared */
    /* of chunks like `from` */
    uint32_t from_edge;   /* capacity - 2 */
    uint32_t from_slices; /* layout->slice_count */
    uint32_t from_words;  /* of versions: from_slices times the types of the archetype */
} weft__quick;

/* Components that every world has, and InstanceOf. Part of the world; constant after create. */
typedef struct weft__builtin {
    weft_component prefab;
    weft_component inactive;
    weft_component linked_group;
    weft_component residue;     /* tag of cleanup residues, not public */
    weft_component instance_of; /* null until it is registered; owner, world idle */
} weft__builtin;

/* What the world's books do not count. Owner, world idle. */
typedef struct weft__lent {
    uint32_t loads;  /* sections that are filled or ended by threads now */
    uint64_t berths; /* of chunks that are not linked: those of streams, spare ones */
} weft__lent;

/* What structural changes have moved since creation. Part of the world; any thread, relaxed: it is
 * statistics. */
typedef struct weft__moved {
    weft_a64 x_rows;
    weft_a64 x_bytes;
} weft__moved;

/* Owned by who created it. The parts say who changes them; what is shared between workers while
 * systems run is the directory, the units and the parts of units. Always, while the world is idle:
 *   entities alive = sum of archetype->entity_count = rows of all chunks with an id;
 *   chunks.count = sum of archetype->chunk_count;
 *   units in use = sum of unit_count of the chunks + one for each unit that is cut into parts. */
struct weft_world {
    weft__world_front front; /* first: inline look-ups and the scheduler find it there */
    /* hot: two lines */
    _Alignas(64) weft__berth_table berths;
    weft__archetype_table archetypes;
    weft__type_table types;
    weft__quick quick;
    weft__chunk_table chunks;
    weft__spare_chunks spares;
    uint32_t recorder_epoch; /* rounds of all recorders so far */
    weft__format_table formats;
    weft__component_index component_index;
    weft__matching matching;
    weft__directory directory;
    weft__units units;
    weft__parts parts;
    weft__small small;
    weft__lines lines;
    weft__lines archetype_lines; /* apart, so that slabs end with the archetypes in them */
    weft__memory memory;
    weft__shared shared;         /* shared values */
    struct weft__names *names;   /* debug names of entities; NULL until used */
    struct weft__guards *guards; /* guard.h; NULL until used, and in unchecked builds */
    weft__stand_in stand_in;     /* the same */
    weft_error mistake;          /* the same; guarded by stand_in.lock; number 0: none */
    struct weft__callback_error
        *callback_errors;   /* [workers]; NULL until the first weft_query_each_parallel */
    weft_blob_store *blobs; /* NULL until asked for */
    weft__builtin builtin;
    weft__moved moved;
    weft__lent lent;
    weft_world_desc desc;   /* resolved limits; name is a copy */
    weft_error *error;      /* apart, so that const functions can set it */
    weft_error *hook_error; /* that of hooks, while they are called */
};

/* The type of a handle; NULL: there is none. Any thread, also while the owner registers others. */
static inline const weft__type *weft__type_at(const weft_world *world, weft_component component)
{
    bool is_ours = component.world == world->front.number;
    return is_ours ? weft__roll_at(&world->types.known, component.id) : NULL; /* [0] is NULL */
}

/* The tag of cleanup residues: put on and taken off by destruction only. */
static inline bool weft__type_is_residue_tag(const weft_world *world, const weft__type *type)
{
    return type->id == world->builtin.residue.id;
}

/* Whether a location is that of a residue: what is left of a destroyed entity. */
static inline bool weft__is_residue_at(const weft_world *world, uint32_t location)
{
    if (__builtin_expect(!world->archetypes.has_residues || location == 0, 1)) return false;
    const weft__chunk *chunk = world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
    return (chunk->archetype->flags & WEFT__IS_RESIDUE) != 0;
}

/* Whether an entity is alive: it exists, in its place or without one yet, and was not destroyed.
 * Any thread while no thread changes structure. */
static inline bool weft__entity_lives(const weft_world *world, weft_entity entity)
{
    uint32_t location = 0;
    return weft__directory_find(&world->directory, entity, &location) &&
           !weft__is_residue_at(world, location);
}

/* The handle of an archetype (NULL: null), which the program may keep. Any thread. */
static inline weft_archetype weft__archetype_give(const weft_world *world,
                                                  weft__archetype *archetype)
{
    if (archetype == NULL) return (weft_archetype){0, 0};
    if (at_load_rlx(&archetype->x_is_given) == 0)
        at_store_rlx(&archetype->x_is_given, 1u); /* relaxed, both: never taken back */
    return (weft_archetype){archetype->id, world->front.number};
}

static inline weft_query weft__query_handle_of(const weft_world *world, uint32_t id)
{
    return (weft_query){id, id == 0 ? 0 : world->front.number};
}

static inline bool weft__archetype_is(const weft_world *world, weft_archetype handle)
{
    return handle.world == world->front.number && handle.id - 1 < world->archetypes.id_count &&
           world->archetypes.by_id[handle.id - 1] != NULL;
}

/* A chunk's berths are a run of 2^class of them. */
static inline uint32_t weft__berth_class(uint32_t capacity)
{
    uint32_t berths = (capacity + (1u << WEFT__BERTH_SHIFT) - 1) >> WEFT__BERTH_SHIFT;
    return berths <= 1 ? 0 : bits_highest(berths - 1) + 1;
}

static inline uint32_t weft__berths_of(uint32_t capacity)
{
    return 1u << weft__berth_class(capacity);
}
