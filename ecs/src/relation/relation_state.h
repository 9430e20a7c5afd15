/* SPDX-License-Identifier: MIT */
/* relation_state.h: what a relation keeps beside the chunks: mirrors of the rows that have the
 * component, and pages of targets with the lists of their sources. Owner, world idle.
 *
 * The fields of the component are the truth; all of this can be made again from them. A *mirror*
 * (row_diff.h) holds the entities and targets of a chunk as they were when it was last scanned;
 * comparing it with the chunk gives edges that came and went. A *page* belongs
 * to a block of the entity directory: it has a slot per entity of the block that is a target, and
 * the lists of sources (relation_state.c). Order within a list is that of the sources' indices, so
 * lists are a function of the fields alone: neither workers nor what rows moved when show in
 * them. */
#pragma once

#include "entity_list.h"
#include "row_diff.h"

#include <weft/relation.h>

/* A target. Owner: its page. Always: count <= capacity; first + capacity <= page->used. */
typedef struct weft__target_slot {
    uint32_t version; /* of the handle; 0: never used */
    uint32_t first;   /* in page->sources */
    uint32_t count;
    uint32_t capacity;
} weft__target_slot;

/* A target in an acyclic relation, for the search for cycles and depths. Owner: its page. Fields
 * are of the settling whose number is in `mark`, else stale. */
typedef struct weft__target_node {
    uint32_t mark; /* number of the settling << 2 | weft__node_state */
    uint32_t parent;
    uint32_t depth;
} weft__target_node;

/* An edge as a row had it: of a mirror (it went) or a chunk (it came). A value. */
typedef struct weft__edge_change {
    weft_entity source; /* as the user has it */
    weft_entity target; /* index without the tag */
} weft__edge_change;

/* Changes are in buckets: of page b, edges that went in bucket 2 b, and those that came in the next
 * one. What belongs to no page (no target, or one that cannot be) is in the last two. */
#define WEFT__BUCKET_WENT 0u
#define WEFT__BUCKET_CAME 1u

/* Targets of one block of the directory. Owner: the relation, at pages[block]; while changes are
 * applied, the task of the page. Always: a slot with count != 0 has its bit in `has`; used <=
 * capacity; edges = sum of count. */
typedef struct weft__target_page {
    weft_entity *sources; /* the lists; handles as the user has them */
    uint32_t used;
    uint32_t capacity;
    uint32_t garbage; /* of `used`, in no list */
    uint32_t edges;
    weft__target_node *nodes; /* acyclic relations: [slot], else NULL */
    /* results of the last application */
    weft__entity_list orphans; /* sources whose target is dead */
    weft__entity_list came;    /* acyclic: sources that have another target */
    uint32_t changed;
    bool has_loose; /* KEEP: edges to dead targets were left out of the lists */
    bool is_failed; /* no memory */
    uint64_t has[WEFT__BLOCK_WORDS];
    weft__target_slot slots[WEFT__BLOCK_SLOTS];
} weft__target_page;

/* Owner: the world's relations. Owner of the world, world idle; `pages` are read by systems. */
typedef struct weft__relation {
    weft_world *world;
    uint32_t component;
    uint32_t offset; /* of the field in the value */
    weft_relation_desc desc;
    weft_component depth; /* null: not by depth */
    weft__row_diff diff;  /* mirrors hold the targets; a null one where there is none */
    bool is_suspect;      /* the world was restored: every row is compared */
    bool is_loose;  /* mirrors have edges that are in no list: their target is dead. A restored
                        snapshot may bring it back */
    bool is_broken; /* memory ran out, or most is gone: built from nothing */
    /* pages */
    WEFT__LIST(weft__target_page *) pages; /* [block of the directory]; NULL: none */
    /* scratch, kept */
    WEFT__LIST(uint32_t) offsets; /* [task * buckets + bucket]: where its changes go */
    WEFT__LIST(weft__edge_change) changes;
    WEFT__LIST(weft__edge_change) sorted; /* room to sort `changes` with */
    WEFT__LIST(uint32_t) tasks;           /* of a scan */
    WEFT__LIST(uint32_t) firsts;          /* [bucket + 1]: its changes */
    WEFT__LIST(uint32_t) active;          /* pages to be looked at: the only one that counts */
    /* of all rounds of a settling */
    weft__entity_list came; /* sources that have another target */
    bool has_all_come;      /* all sources are among them */
    weft__entity_list left; /* by depth: sources without a target that have a depth */
    weft__entity_list lost; /* by depth: targets whose own edge went; they may lack the relation */
    weft__entity_list orphans;            /* of one round: sources whose target is dead */
    WEFT__LIST(weft__entity_list) levels; /* by depth: sources to be moved there */
    uint32_t settling;                    /* number, for marks */
    weft_job_cost scan_cost, page_cost;
    weft_relation_stats stats;
} weft__relation;

/* The extension of a world that has relations. Owner: the world. */
typedef struct weft__relations {
    weft_world *world;
    WEFT__LIST(weft__relation *) all;
    weft_component parent;
    WEFT__LIST(bool)
    had_deaths;         /* [block of the directory]: some entity died since the last round */
    uint32_t block_end; /* blocks that there were when the round began; recorders may make more */
} weft__relations;

/* Room for `count` elements in a list of scratch; false: no memory. */
#define WEFT__RELATION_ROOM(world, list, count)                                                    \
    WEFT__LIST_ROOM(&(world)->memory, WEFT__MEMORY_OTHER, list, count)

static inline weft__relations *weft__relations_of(const weft_world *world)
{
    return world->front.extensions[WEFT__EXTENSION_RELATIONS].data;
}

/* NULL: the component is no relation. */
static inline weft__relation *weft__relation_find(const weft_world *world, weft_component component)
{
    const weft__relations *relations = weft__relations_of(world);
    if (relations == NULL || component.world != world->front.number) return NULL;
    for (uint32_t i = 0; i < relations->all.count; i++)
        if (relations->all.at[i]->component == component.id) return relations->all.at[i];
    return NULL;
}

/* The slot of a target by index without tag; NULL: it has never had sources. */
static inline weft__target_slot *weft__target_slot_at(const weft__relation *relation,
                                                      uint32_t index, weft__target_page **page)
{
    uint32_t block = index / WEFT__BLOCK_SLOTS;
    *page = block < relation->pages.count ? relation->pages.at[block] : NULL;
    return *page == NULL ? NULL : &(*page)->slots[index % WEFT__BLOCK_SLOTS];
}

/* Whether some entity at the index has sources: a bit, where the slot would miss the cache. */
static inline bool weft__target_has(const weft__relation *relation, uint32_t index)
{
    uint32_t block = index / WEFT__BLOCK_SLOTS, number = index % WEFT__BLOCK_SLOTS;
    const weft__target_page *page =
        block < relation->pages.count ? relation->pages.at[block] : NULL;
    return page != NULL && (page->has[number / 64] >> number % 64 & 1) != 0;
}

static inline uint32_t weft__bare_index(const weft_world *world, weft_entity entity)
{
    return entity.index ^ world->directory.tag_bits;
}

/* Whether a target lives, for its sources. */
static inline bool weft__target_lives(const weft_world *world, weft_entity target)
{
    uint32_t location = 0;
    if (!weft__directory_find(&world->directory, target, &location)) return false;
    return !weft__is_residue_at(world, location) ||
           (world->berths.at[location >> WEFT__BERTH_SHIFT].chunk->archetype->flags &
            WEFT__IS_SHARDED) != 0;
}

/* The first change of a bucket of a page; pages.count: of none. */
static inline uint32_t weft__bucket_first(const weft__relation *relation, uint32_t page,
                                          uint32_t bucket)
{
    return relation->firsts.at[2 * page + bucket];
}

/* The field of a row. */
static inline weft_entity weft__relation_field(const weft__relation *relation, const void *value)
{
    weft_entity target;
    memcpy(&target, (const char *)value + relation->offset, sizeof target);
    return target;
}

/* ---- the lists of sources, page by page: tasks of one loop apply them ---- */

/* Applies the changes of the last scan to all pages that have any or whose block had deaths
 * (`had_deaths`: [page]; NULL: take all for such). Results are in the pages relation->active.
 * OUT_OF_MEMORY: the relation is broken. */
weft_result weft__relation_pages_apply(weft__relation *relation, const bool *had_deaths,
                                       weft_job_context *job);

/* Takes the sources of a dead target out of the index, at the end of `out`. False: no memory. */
bool weft__target_take(weft__relation *relation, weft_entity target, weft__entity_list *out);

void weft__target_page_free(weft_world *world, weft__target_page *page);

/* ---- what changed ---- */

/* Compares what may have changed with the mirrors and makes these current. The changes are in
 * relation->changes, those of bucket b in [firsts[b], firsts[b + 1]), in any order; in the last
 * two are edges to what no entity can be, and rows without a target that have a depth. `job`:
 * the context for loops, or NULL. On OUT_OF_MEMORY the relation is broken: it is built from
 * nothing the next time. */
weft_result weft__relation_scan(weft__relation *relation, weft_job_context *job);

/* After rows moved and no field changed: mirrors follow. */
void weft__relation_follow(weft__relation *relation, weft_job_context *job);

/* ---- cycles and depths ---- */

/* What was done. A value. */
typedef struct weft__depth_result {
    uint32_t cuts;    /* cycles that were cut: their fields are to be scanned once more */
    weft_entity cut;  /* a source whose field was cleared */
    bool has_changed; /* rows moved or were written */
} weft__depth_result;

/* Cuts cycles among relation->came, and gives them and all below them the depth that they have
 * now; takes the depth from those that left. The lists of sources are current. */
weft_result weft__relation_depths(weft__relation *relation, weft__depth_result *out);

/* The depth that a row's chunk says; 0: none. */
uint32_t weft__relation_depth_of(const weft__relation *relation, const weft__chunk *chunk);

/* Makes the field of a row null and stamps it. */
void weft__relation_field_clear(const weft__relation *relation, const weft__chunk *chunk,
                                uint32_t row);

/* The row of an entity that has the component; NULL: it has none. */
weft__chunk *weft__relation_row(const weft__relation *relation, weft_entity source, uint32_t *row,
                                char **value);

/* ---- the check, settled or not ---- */

/* False: `text` says what is wrong. */
bool weft__relations_check(const weft_world *world, char *text, size_t bytes);
