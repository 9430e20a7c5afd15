/* SPDX-License-Identifier: MIT */
/* archetype_state.h: archetypes (sets of component types), tuples of shared values, cached edges
 * between archetypes, and the plans that say which columns a move copies.
 *
 * Owned by the world, written by the owner while the world is idle. Archetypes, formats and plans
 * live as long as the world; a tuple lives while a chunk uses it or it is held. */
#pragma once

#include "chunk_state.h"
#include "list.h"
#include "table.h"

/* One component type of an archetype; owned by it, constant. Always: component == type->id; at most
 * one of column != 0, shared and chunk_offset says where values are (none: a tag). */
typedef struct weft__type_ref {
    const weft__type *type;
    uint32_t component;    /* type->id */
    uint32_t chunk_offset; /* CHUNK: bytes into chunk->chunk_values, or WEFT__NONE */
    uint16_t column;       /* in the format; 0: no column */
    uint16_t enableable;   /* position among the enableable types, or WEFT__NO_PLACE */
    uint16_t shared;       /* position in the tuple, or WEFT__NO_PLACE */
} weft__type_ref;

/* Entry of the look-up table of an archetype: component id -> positions. component 0: free.
 * Owned by it, constant. Always: types[type].component == component and types[type].column ==
 * column. */
typedef struct weft__type_slot {
    uint32_t component;
    uint16_t type;   /* position in types */
    uint16_t column; /* 0: no column */
} weft__type_slot;

enum {
    WEFT__HAS_CLEANUP = 1 << 0, /* destroy leaves a residue */
    WEFT__IS_RESIDUE = 1 << 1,  /* has the residue tag */
    WEFT__IS_PREFAB = 1 << 2,
    WEFT__IS_DISABLED = 1 << 3,
    WEFT__HAS_LINKED_GROUP = 1 << 4, /* destroy and instantiate follow it */
    WEFT__NEEDS_DESTRUCT = 1 << 5,   /* some column needs_destruct */
    WEFT__NEEDS_CONSTRUCT = 1 << 6,
    WEFT__HAS_ENTITY_FIELDS = 1 << 7,
    WEFT__IS_SPECIAL =
        1 << 8,               /* a row's birth or death is more than bytes: one of cleanup, residue,
                                  linked group, construct, destruct, shared */
    WEFT__HAS_BITS = 1 << 10, /* enableable types: bits of rows that move move, too */
    WEFT__IS_SPARSE =
        1 << 9, /* holds the rows of a SPARSE type, which is its only one (sparse.h) */
    /* given by a shard (component_type.h) */
    WEFT__IS_STAND_IN = 1 << 11, /* its entities stand for those of other ranks: not observed */
    WEFT__IS_SHARDED = 1 << 12,  /* its sources are on all ranks; a residue is a living target
                                    until all ranks know of the death */
};

/* What one column copy of a move needs. A value. */
typedef struct weft__column_copy {
    uint32_t from;  /* column in the source format */
    uint32_t to;    /* column in the destination format */
    uint32_t bytes; /* per row */
} weft__column_copy;

/* What a plain move does to one column, all of them in one list for one loop. */
typedef enum weft__step_kind {
    WEFT__STEP_END,
    WEFT__STEP_MOVE, /* in both: the value goes, the last row's fills its place; those of 8 to 16
                        bytes come first */
    WEFT__STEP_ZERO, /* only in the destination */
    WEFT__STEP_DROP, /* only in the source: the last row's value fills the place */
} weft__step_kind;

/* Owner: the plan; the offsets are those of plan->from_layout and to_layout. */
typedef struct weft__step {
    uint32_t kind;
    uint32_t bytes;       /* per row */
    uint32_t from_offset; /* of the columns, in plan->from_layout and to_layout */
    uint32_t to_offset;
    uint32_t from; /* columns; 0 where there is none */
    uint32_t to;
} weft__step;

/* How rows go from one archetype to another: made once per pair, one block with its lists. Types
 * present in both keep their change versions and enable bits. Owned by `from`, constant but for
 * next, the offsets of steps, and rows_moved (owner of the world). Always:
 *   1 + copy_count + added_count = columns of to; 1 + copy_count + dropped_count = columns of from;
 *   kept_count + new_type_count = to->type_count;
 *   steps = copies, those of 8 to 16 bytes first, added, dropped, END; is_plain: from != to. */
struct weft__plan {
    weft__archetype *from;
    weft__archetype *to;
    /* of plain moves (entity_change.c) */
    weft__step *steps;   /* copies, added and dropped once more; to STEP_END */
    uint32_t word_count; /* steps at the front that move 8 to 16 bytes */
    uint8_t from_shift;  /* slice_shift of all layouts of from and to */
    uint8_t to_shift;
    const weft__layout *from_layout, *to_layout; /* that the offsets of the steps are for */
    uint64_t rows_moved;                         /* by plain moves */
    /* of all */
    struct weft__plan *next; /* of the bucket in from->plans */
    uint32_t copy_count;     /* columns in both, the entity column not among them */
    uint32_t added_count;    /* columns only in `to` */
    uint32_t dropped_count;  /* columns only in `from` */
    uint32_t kept_count;     /* types in both */
    uint32_t new_type_count; /* types only in `to` */
    uint32_t copy_bytes;     /* sum over the copies, per row */
    bool is_in_place;        /* same format: whole chunks can change header only */
    bool is_plain;           /* the move of a row copies bytes and no more, and bits where
                                `from` has enableable types: nothing is shared, constructed or
                                destructed, `to` is no residue */
    const weft__column_copy *copies;
    const uint32_t *added;     /* columns of `to` */
    const uint32_t *dropped;   /* columns of `from` */
    const uint32_t *kept;      /* pairs: type position in from, in to */
    const uint32_t *new_types; /* type positions of `to` */
};

/* Cached way from an archetype by adding or removing one component. Owner: the archetype.
 * Always: key == 0 <=> plan == NULL; else plan->from is the archetype. */
typedef struct weft__edge {
    uint64_t key; /* component << 1 | is_remove; 0: free */
    weft__plan *plan;
} weft__edge;

/* The chunks of an archetype that have the same shared values. Archetypes without shared
 * components have exactly one, `tuple0`, which always exists. Owner: the archetype; changed by
 * the owner of the world. Always:
 *   chunk_count = its chunks in archetype->chunks;
 *   rows = sum of their count where the archetype has shared components, else 0;
 *   `room` lists exactly those with count < capacity;
 *   holders = chunk_count + 1 for tuple0 + holds of what is going on; at 0 the tuple ends. */
struct weft__tuple {
    weft__archetype *archetype;
    weft__chunk *room; /* head of the list of chunks with room */
    weft__chunk *some; /* one of its chunks; NULL: not known which (chunk.c) */
    uint64_t rows;     /* weft__tuple_rows */
    uint64_t coming;   /* rows that the operation under way reserves next; else 0 */
    uint32_t chunk_count;
    uint32_t holders;  /* weft__tuple_obtain minus weft__tuple_release */
    uint32_t first;    /* scratch of compaction: position of its first chunk in the list */
    uint32_t place;    /* in archetype->tuples; tuple0 is not there */
    uint32_t values[]; /* [shared position]: index of the value, 0 = default; this tuple holds
                                 one reference on each */
};

/* Owned by the world, which frees it when it ends, or by compaction, if it has no rows and nothing
 * holds it (weft__archetypes_trim); changed by the owner while the world is idle, read by
 * all otherwise. Always:
 *   chunks[i]->list_index == i; entity_count = sum of chunks[i]->count;
 *   types ascend by component; type_count <= (slot_mask + 1) / 2;
 *   world->archetypes.by_id[id - 1] == it; number == NONE or world->archetypes.at[number] == it;
 *   chunk_count != 0: number != NONE; its bit in world->archetypes.nonempty <=> entity_count != 0;
 *   2 * edge_count <= edge_mask + 1 (weft__no_edge: edge_count == 0). */
struct weft__archetype {
    /* what queries read: one line */
    _Alignas(64) weft__chunk **chunks; /* dense; order: appended, swap-back on removal */
    uint32_t chunk_count;
    uint32_t flags;
    uint32_t order_version; /* world version of the last structural change in it */
    uint32_t id;            /* 1.. in order of creation; in handles */
    weft__chunk *spare;     /* an empty chunk kept for the next row (chunk.h), or NULL */
    uint64_t entity_count;
    const weft__type_slot *slots;
    weft__tuple *tuple0; /* all default values; always exists */
    uint32_t type_count;
    uint32_t slot_mask; /* slots: power of two minus one */

    uint32_t number;            /* place in the order (archetype.c); WEFT__NONE: not in it */
    uint32_t chunk_value_bytes; /* side memory for CHUNK components */
    weft__chunk *first_chunk;   /* storage of `chunks` while there is one chunk at most */
    weft__format *format;
    uint64_t hash;
    uint32_t chunk_capacity;
    uint32_t arriving; /* scratch of one change of whole chunks; else 0 */
    uint32_t enableable_count;
    uint32_t shared_count;
    const uint32_t *shared_components; /* [shared position]: component id */

    WEFT__LIST(weft__tuple *) tuples; /* the others */
    weft__table tuple_places;         /* in `tuples`, from 1, by their values */

    weft__edge *edges; /* open addressing; weft__no_edge until used */
    uint32_t edge_count;
    uint32_t edge_mask; /* power of two minus one */
    /* plans from here, by where they go: a chain per bucket, recently used ones in front */
    weft__plan **plans; /* first_plans until there are many */
    weft__plan *first_plans;
    uint32_t plan_count;
    uint32_t plan_mask; /* buckets: power of two minus one */

    struct weft__line_slab *slab; /* that its block is in */
    uint32_t holders;             /* noted orders that name it */
    weft_a32 x_is_given;          /* not 0: programs or streams may know its handle. Relaxed */

    weft__archetype *residue;  /* where destroyed rows go; NULL until needed or without CLEANUP */
    weft__archetype *instance; /* what instantiate makes; NULL until needed */
    weft__archetype *next_ending; /* while compaction ends some */
    weft__type_ref types[];       /* ascending component id */
};

/* The table of an archetype without edges: never written. */
extern const weft__edge weft__no_edge;

/* Rows in all chunks of a tuple. */
static inline uint64_t weft__tuple_rows(const weft__tuple *tuple)
{
    const weft__archetype *archetype = tuple->archetype;
    return archetype->shared_count != 0 ? tuple->rows : archetype->entity_count;
}

static inline const weft__type_slot *weft__archetype_slot(const weft__archetype *archetype,
                                                          uint32_t component)
{
    uint32_t i = component & archetype->slot_mask;
    for (;; i = (i + 1) & archetype->slot_mask) {
        const weft__type_slot *slot = &archetype->slots[i];
        if (slot->component == component) return slot;
        if (slot->component == 0) return NULL;
    }
}

/* Position of a component in `types`, or WEFT__NONE. */
static inline uint32_t weft__archetype_find(const weft__archetype *archetype, uint32_t component)
{
    const weft__type_slot *slot = weft__archetype_slot(archetype, component);
    return slot != NULL && component != 0 ? slot->type : WEFT__NONE;
}

/* The edge if it is known, else NULL. */
static inline weft__plan *weft__archetype_edge_find(const weft__archetype *archetype,
                                                    uint32_t component, bool is_remove)
{
    uint64_t key = (uint64_t)component << 1 | (is_remove ? 1 : 0);
    uint32_t mask = archetype->edge_mask;
    for (uint32_t i = (uint32_t)key & mask;; i = (i + 1) & mask) {
        const weft__edge *edge = &archetype->edges[i];
        if (edge->key == key || edge->key == 0) return edge->plan;
    }
}

/* ---- the archetypes of each component ---- */

#define WEFT__NO_PLACE UINT16_MAX

/* Where a component is in an archetype; NO_PLACE: nowhere. A value. */
typedef struct weft__place {
    uint16_t type;       /* position among the types: versions */
    uint16_t column;     /* of the format; NO_PLACE: no column */
    uint16_t enableable; /* position among the enableable types */
    uint16_t shared;     /* position in the tuple */
} weft__place;

/* One archetype that has the component. Owner: the list. place = weft__place_find(archetype). */
typedef struct weft__index_entry {
    uint32_t archetype; /* number */
    weft__place place;
} weft__index_entry;

/* Of one component. Owner: the world's component index. Always:
 *   at[i].archetype < at[i + 1].archetype;
 *   sum of count over all components = sum of type_count over the archetypes in the order. */
typedef struct weft__component_list {
    weft__index_entry *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
} weft__component_list;

static inline weft__place weft__place_none(void)
{
    return (weft__place){WEFT__NO_PLACE, WEFT__NO_PLACE, WEFT__NO_PLACE, WEFT__NO_PLACE};
}
/* Where an archetype has a component. */
weft__place weft__place_find(const weft__archetype *archetype, uint32_t component);

/* The list of a component; an empty one when no archetype has had it. */
const weft__component_list *weft__component_list_at(const weft_world *world, uint32_t component);

/* Whether the lists are those of the archetypes in the order. Cost: O(their types). */
bool weft__component_index_check(const weft_world *world);
