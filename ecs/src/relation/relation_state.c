/* SPDX-License-Identifier: MIT */
/* relation_state.c: the index of a relation: what changed in its rows, the lists of sources that
 * follow from it, cycles and depths.
 *
 * Edges of a page that went, and those that came, are sorted by target, then source; an edge that
 * did both (its row moved) cancels out; the rest is merged into the list of its target. Lists of a
 * page lie in one array; a list that grows moves to its end, and the array is packed when half of
 * it is garbage. What a task does concerns its page only, so the result does not depend on who does
 * it. */
#include "relation_state.h"
#include "entity_value.h"
#include "query_change.h"
#include "search.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- rows ---- */

weft__chunk *weft__relation_row(const weft__relation *relation, weft_entity source, uint32_t *row,
                                char **value)
{
    weft__chunk *chunk = weft__entity_chunk(relation->world, source, row);
    const weft__type_slot *slot =
        chunk == NULL ? NULL : weft__archetype_slot(chunk->archetype, relation->component);
    if (slot == NULL) return NULL;
    *value = weft__chunk_value(chunk, slot->column, *row);
    return chunk;
}

void weft__relation_field_clear(const weft__relation *relation, const weft__chunk *chunk,
                                uint32_t row)
{
    const weft__type_slot *slot = weft__archetype_slot(chunk->archetype, relation->component);
    char *value = weft__chunk_value(chunk, slot->column, row);
    memset(value + relation->offset, 0, sizeof(weft_entity));
    weft__rows_stamp(chunk, slot->type, row, 1, relation->world->front.version);
}

static uint32_t chunk_depth(const weft__relation *relation, const weft__chunk *chunk, bool *has)
{
    uint32_t type = weft__archetype_find(chunk->archetype, relation->depth.id);
    *has = type != WEFT__NONE;
    if (!*has) return 0;
    uint32_t index = chunk->tuple->values[chunk->archetype->types[type].shared], depth;
    memcpy(&depth, weft__shared_value(&relation->world->shared, relation->depth.id, index),
           sizeof depth);
    return depth;
}

uint32_t weft__relation_depth_of(const weft__relation *relation, const weft__chunk *chunk)
{
    bool has;
    return relation->depth.id == 0 ? 0 : chunk_depth(relation, chunk, &has);
}

/* ---- the order of changes ----
 *
 * Many are sorted by slot first, by counting, then within each slot; few by merging. Scans give
 * them mostly in order, which is seen before anything is moved: then they stay where they are. */

#define EDGE_COUNTING_FROM 256u /* changes of a page: fewer are sorted by comparison */

/* index << 32 | version, by one load. */
static inline uint64_t edge_key(const weft_entity *entity)
{
    uint64_t bits;
    memcpy(&bits, entity, sizeof bits);
    return bits << 32 | bits >> 32;
}

static inline uint64_t edge_target_key(const weft__edge_change *change)
{
    return edge_key(&change->target);
}

static inline uint64_t edge_source_key(const weft__edge_change *change)
{
    return edge_key(&change->source);
}

#define RUN 12u /* of insertion sort */

static bool is_before(const weft__edge_change *a, const weft__edge_change *b)
{
    uint64_t x = edge_target_key(a), y = edge_target_key(b);
    return x < y || (x == y && edge_source_key(a) < edge_source_key(b));
}

static void insertion_sort(weft__edge_change *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        weft__edge_change item = items[i];
        uint32_t k = i;
        for (; k > 0 && is_before(&item, &items[k - 1]); k--) items[k] = items[k - 1];
        items[k] = item;
    }
}

static void merge(const weft__edge_change *from, uint32_t middle, uint32_t count,
                  weft__edge_change *to)
{
    uint32_t a = 0, b = middle;
    for (uint32_t i = 0; i < count; i++) {
        bool takes_b = a == middle || (b < count && is_before(&from[b], &from[a]));
        to[i] = from[takes_b ? b++ : a++];
    }
}

static bool is_sorted(const weft__edge_change *items, uint32_t count)
{
    uint64_t target = 0, source = 0; /* of the one before */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t x = edge_target_key(&items[i]), y = edge_source_key(&items[i]);
        if (x < target || (x == target && y < source)) return false;
        target = x;
        source = y;
    }
    return true;
}

/* Stable. `room`: as many items. */
static void merge_sort(weft__edge_change *items, uint32_t count, weft__edge_change *room)
{
    if (is_sorted(items, count)) return;
    for (uint32_t i = 0; i < count; i += RUN)
        insertion_sort(items + i, count - i < RUN ? count - i : RUN);
    for (uint32_t width = RUN; width < count; width *= 2) {
        for (uint32_t i = 0; i < count; i += 2 * width) {
            uint32_t size = count - i < 2 * width ? count - i : 2 * width;
            merge(items + i, width < size ? width : size, size, room + i);
        }
        memcpy(items, room, count * sizeof *items);
    }
}

/* Sorts changes of one bucket by target (index, version), then source, in place: the bucket is read
 * again after its lists. `room`: as many items, of any content. */
static void edges_sort(weft__edge_change *items, uint32_t count, weft__edge_change *room)
{
    if (is_sorted(items, count)) return;
    if (count < EDGE_COUNTING_FROM) {
        merge_sort(items, count, room);
        return;
    }
    uint32_t ends[WEFT__BLOCK_SLOTS + 1] = {0};
    for (uint32_t i = 0; i < count; i++) ends[items[i].target.index % WEFT__BLOCK_SLOTS + 1]++;
    for (uint32_t i = 0; i < WEFT__BLOCK_SLOTS; i++) ends[i + 1] += ends[i];
    for (uint32_t i = 0; i < count; i++)
        room[ends[items[i].target.index % WEFT__BLOCK_SLOTS]++] = items[i];
    memcpy(items, room, count * sizeof *items);
    for (uint32_t i = 0, first = 0; i < WEFT__BLOCK_SLOTS; first = ends[i++])
        if (ends[i] - first > 1) merge_sort(items + first, ends[i] - first, room);
}

/* ---- pages ---- */

static weft__target_page *page_make(const weft__relation *relation)
{
    weft__memory *memory = &relation->world->memory;
    weft__target_page *page = weft__alloc_zeroed(memory, WEFT__MEMORY_OTHER, 1, sizeof *page, 64);
    if (page == NULL || !relation->desc.is_acyclic) return page;
    page->nodes = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_OTHER, WEFT__BLOCK_SLOTS, *page->nodes);
    if (page->nodes != NULL) return page;
    weft__free(memory, WEFT__MEMORY_OTHER, page, 1, sizeof *page, 64);
    return NULL;
}

void weft__target_page_free(weft_world *world, weft__target_page *page)
{
    if (page == NULL) return;
    weft__memory *memory = &world->memory;
    WEFT__FREE(memory, WEFT__MEMORY_OTHER, page->sources, page->capacity);
    WEFT__FREE(memory, WEFT__MEMORY_OTHER, page->nodes, WEFT__BLOCK_SLOTS);
    weft__entity_list_fini(world, &page->orphans);
    weft__entity_list_fini(world, &page->came);
    weft__free(memory, WEFT__MEMORY_OTHER, page, 1, sizeof *page, 64);
}

/* Forgets all targets of a page. */
static void target_page_clear(weft__target_page *page)
{
    for (uint32_t w = 0; w < WEFT__BLOCK_WORDS; w++) {
        for (uint64_t bits = page->has[w]; bits != 0; bits &= bits - 1)
            page->slots[w * 64 + bits_lowest(bits)] = (weft__target_slot){0};
        page->has[w] = 0;
    }
    page->used = page->garbage = page->edges = 0;
}

/* Room for the pages of all blocks of the directory. False: no memory. */
static bool relation_pages_reserve(weft__relation *relation)
{
    weft_world *world = relation->world;
    uint32_t end = weft__relations_of(world)->block_end;
    return WEFT__LIST_REACH(&world->memory, WEFT__MEMORY_OTHER, &relation->pages, end);
}

/* ---- the lists of a page ---- */

/* One page being changed. Owner: the stack of its task. */
typedef struct application {
    weft__relation *relation;
    weft__target_page *page;
} application;

/* Packs the lists into an array of another size. */
static bool page_pack(const application *a, uint32_t capacity)
{
    weft__target_page *page = a->page;
    weft__memory *memory = &a->relation->world->memory;
    weft_entity *sources = WEFT__NEW(memory, WEFT__MEMORY_OTHER, capacity, weft_entity);
    uint32_t used = 0;
    if (sources == NULL) return false;
    for (uint32_t w = 0; w < WEFT__BLOCK_WORDS; w++)
        for (uint64_t bits = page->has[w]; bits != 0; bits &= bits - 1) {
            weft__target_slot *slot = &page->slots[w * 64 + bits_lowest(bits)];
            if (slot->count != 0)
                memcpy(sources + used, page->sources + slot->first, slot->count * sizeof *sources);
            slot->first = used;
            used += slot->capacity = slot->count;
        }
    WEFT__FREE(memory, WEFT__MEMORY_OTHER, page->sources, page->capacity);
    page->sources = sources;
    page->capacity = capacity;
    page->used = used;
    page->garbage = 0;
    return true;
}

/* Room for `count` more at the end of the lists. */
static bool page_reserve(const application *a, uint32_t count)
{
    const weft__target_page *page = a->page;
    if (page->capacity - page->used >= count) return true;
    uint32_t live = page->used - page->garbage + count;
    return page_pack(a, live + live / 4 + 16);
}

static bool slot_reserve(const application *a, weft__target_slot *slot, uint32_t count)
{
    weft__target_page *page = a->page;
    if (count <= slot->capacity) return true;
    uint32_t capacity = slot->count == 0 ? count : count + count / 2;
    if (!page_reserve(a, capacity)) return false;
    if (slot->count != 0)
        memcpy(page->sources + page->used, page->sources + slot->first,
               slot->count * sizeof(weft_entity));
    page->garbage += slot->capacity;
    slot->first = page->used;
    slot->capacity = capacity;
    page->used += capacity;
    return true;
}

static void slot_clear(weft__target_page *page, uint32_t number)
{
    weft__target_slot *slot = &page->slots[number];
    page->garbage += slot->capacity;
    page->edges -= slot->count;
    slot->first = slot->count = slot->capacity = 0;
    page->has[number / 64] &= ~(UINT64_C(1) << number % 64);
}

/* The first source of a list that is not before `source`. */
static uint32_t list_find(const weft_entity *list, uint32_t count, uint32_t source)
{
    if (count == 0 || list[count - 1].index < source) return count;
    return WEFT__SEARCH(list, count, index, source);
}

/* Sorted changes of one kind. A value. */
typedef struct edge_run {
    const weft__edge_change *items;
    uint32_t count;
} edge_run;

/* Edges of one target, or of one page, that went and that came. A value. */
typedef struct edge_changes {
    edge_run went, came;
} edge_changes;

/* Takes the first change of either; true: it came. *is_both: the edge went and came, so nothing
 * happened to it. */
static inline bool changes_next(edge_changes *c, weft_entity *source, bool *is_both)
{
    uint64_t went = c->went.count != 0 ? edge_source_key(c->went.items) : UINT64_MAX;
    uint64_t came = c->came.count != 0 ? edge_source_key(c->came.items) : UINT64_MAX;
    bool has_come = came <= went, has_gone = went <= came;
    *source = (has_come ? c->came.items : c->went.items)->source;
    *is_both = has_come && has_gone;
    c->came.items += has_come, c->came.count -= has_come;
    c->went.items += has_gone, c->went.count -= has_gone;
    return has_come;
}

static inline bool changes_any(const edge_changes *c)
{
    return (c->went.count | c->came.count) != 0;
}

/* The lowest index of a source that changed. */
static uint32_t changes_first(const edge_changes *c)
{
    uint32_t went = c->went.count != 0 ? c->went.items->source.index : UINT32_MAX;
    uint32_t came = c->came.count != 0 ? c->came.items->source.index : UINT32_MAX;
    return went < came ? went : came;
}

/* What the rows of a list share. Owner: the stack of list_merge. */
typedef struct known_depth {
    const weft__chunk *chunk; /* of the source looked at last */
    uint32_t depth;           /* that it says */
    uint32_t right;           /* of all sources of the target; 0: not known yet */
} known_depth;

/* A row moved, and its edge is as it was. One that lost its depth on the way, or was given another,
 * comes by depth as if it had a new target. False: no memory. */
static bool moved_note(const application *a, const weft__edge_change *edge, known_depth *known)
{
    const weft__relation *relation = a->relation;
    const weft_world *world = relation->world;
    uint32_t row;
    if (relation->depth.id == 0) return true;
    if (known->right == 0) {
        const weft__chunk *above = weft__entity_chunk(
            world,
            (weft_entity){edge->target.index ^ world->directory.tag_bits, edge->target.version},
            &row);
        if (above == NULL) return true; /* it died: its sources are orphans */
        known->right = weft__relation_depth_of(relation, above) + 1;
    }
    const weft__chunk *chunk = weft__entity_chunk(world, edge->source, &row);
    if (chunk != known->chunk && chunk != NULL)
        known->depth = weft__relation_depth_of(relation, chunk);
    known->chunk = chunk;
    return chunk == NULL || known->depth == known->right ||
           weft__entity_list_push(relation->world, &a->page->came, edge->source);
}

/* Changes of one living target, in order, into its list: what is before the first of them stays,
 * the rest is merged into `tail` and put back. Inlined where most changes come by: a struct that is
 * passed is written in parts and read as a whole, which stalls. */
static inline __attribute__((always_inline)) bool
list_merge(const application *a, weft__target_slot *slot, edge_changes changes)
{
    weft__target_page *page = a->page;
    weft_world *world = a->relation->world;
    weft_entity few[64], *tail = few, source;
    uint32_t from = list_find(page->sources + slot->first, slot->count, changes_first(&changes));
    uint32_t most = slot->count - from + changes.came.count, kept = 0;
    bool is_acyclic = a->relation->desc.is_acyclic, is_both;
    known_depth known = {0};
    if (most > sizeof few / sizeof few[0])
        tail = WEFT__NEW(&world->memory, WEFT__MEMORY_OTHER, most, *tail);
    if (tail == NULL) return false;
    const weft_entity *old = page->sources + slot->first + from;
    const weft_entity *end = page->sources + slot->first + slot->count;
    while (changes_any(&changes)) {
        bool has_come = changes_next(&changes, &source, &is_both);
        if (is_both) {
            page->is_failed |= !moved_note(a, &changes.came.items[-1], &known);
            continue;
        }
        page->changed++;
        while (old < end && old->index < source.index) tail[kept++] = *old++;
        /* at its place stands the one that went, or one that is dead, whose index is used again */
        bool is_there =
            old < end && old->index == source.index && (has_come || old->version == source.version);
        old += is_there;
        if (!has_come) continue;
        tail[kept++] = source;
        if (is_acyclic && !weft__entity_list_push(world, &page->came, source))
            page->is_failed = true;
    }
    while (old < end) tail[kept++] = *old++;
    bool is_done = slot_reserve(a, slot, from + kept);
    if (is_done) {
        page->edges += from + kept - slot->count;
        slot->count = from + kept;
        weft_entity *list = page->sources + slot->first + from;
        for (uint32_t i = 0; i < kept; i++) list[i] = tail[i];
    }
    if (tail != few) WEFT__FREE(&world->memory, WEFT__MEMORY_OTHER, tail, most);
    return is_done;
}

static bool orphan(const application *a, weft_entity source)
{
    const weft__relation *relation = a->relation;
    bool is_kept = relation->desc.on_target_death == WEFT_ON_TARGET_KEEP;
    a->page->has_loose = a->page->has_loose || is_kept;
    return (is_kept && !relation->desc.by_depth) ||
           weft__entity_list_push(a->relation->world, &a->page->orphans, source);
}

/* The target of a slot died: its sources are orphans. */
static bool slot_orphan(const application *a, uint32_t number)
{
    weft__target_slot *slot = &a->page->slots[number];
    for (uint32_t i = 0; i < slot->count; i++)
        if (!orphan(a, a->page->sources[slot->first + i])) return false;
    slot_clear(a->page, number);
    slot->version = 0;
    return true;
}

/* Changes of one version of a target that is not alive: what came is orphaned; by depth what moved,
 * too, since it may have been given a depth. */
static bool dead_changes(const application *a, edge_changes changes)
{
    bool by_depth = a->relation->desc.by_depth, is_both;
    weft_entity source;
    while (changes.came.count != 0)
        if (changes_next(&changes, &source, &is_both) && (!is_both || by_depth) &&
            !orphan(a, source))
            return false;
    return true;
}

/* The changes of a run that are of one version of the target. */
static edge_run version_run(edge_run run, uint32_t version)
{
    edge_run of = {run.items, 0};
    for (; run.count != 0 && run.items->target.version < version; run.count--)
        of.items = ++run.items;
    while (of.count < run.count && of.items[of.count].target.version == version) of.count++;
    return of;
}

/* The version of the entity that lives at an index; 0: none does. */
static inline uint32_t living_version(const weft_world *world, uint32_t index)
{
    const weft__entity_block *block = weft__directory_block(&world->directory, index);
    if (block == NULL) return 0;
    uint32_t version = (uint32_t)(at_load_rlx(&block->x_slots[index % WEFT__BLOCK_SLOTS]) >>
                                  32); /* relaxed: the world is idle */
    if ((version & 1) == 0) return 0;
    if (__builtin_expect(!world->archetypes.has_residues, 1)) return version;
    weft_entity entity = {index ^ world->directory.tag_bits, version};
    return weft__target_lives(world, entity) ? version : 0;
}

/* Changes of one index, of several versions or a dead one: first of the target that the list is of,
 * then, if that died, of others. */
static __attribute__((noinline)) bool versions_change(const application *a, uint32_t index,
                                                      const edge_changes *all)
{
    edge_changes changes = *all;
    weft__target_slot *slot = &a->page->slots[index % WEFT__BLOCK_SLOTS];
    uint32_t old = slot->version, number = index % WEFT__BLOCK_SLOTS;
    uint32_t living = living_version(a->relation->world, index);
    bool is_done = true;
    edge_changes own = {version_run(changes.went, old), version_run(changes.came, old)};
    if (old != 0 && changes_any(&own)) is_done = list_merge(a, slot, own);
    if (is_done && old != living) is_done = slot_orphan(a, number);
    slot->version = living;
    while (changes.came.count != 0 && is_done) {
        uint32_t version = changes.came.items->target.version;
        edge_changes of = {version_run(changes.went, version), version_run(changes.came, version)};
        changes.came.items += of.came.count, changes.came.count -= of.came.count;
        if (old != 0 && version == old) continue;
        is_done = version == living && living != 0 ? list_merge(a, slot, of) : dead_changes(a, of);
    }
    return is_done;
}

/* Whether all of a run, which is sorted by version, are of one version. */
static bool run_is_of(edge_run run, uint32_t version)
{
    return run.count == 0 || (run.items[0].target.version == version &&
                              run.items[run.count - 1].target.version == version);
}

static inline __attribute__((always_inline)) bool slot_change(const application *a, uint32_t index,
                                                              edge_changes changes)
{
    uint32_t number = index % WEFT__BLOCK_SLOTS;
    weft__target_slot *slot = &a->page->slots[number];
    uint32_t living = living_version(a->relation->world, index);
    /* all are of the living target, whose list is there */
    bool is_plain = living != 0 && slot->version == living && run_is_of(changes.went, living) &&
                    run_is_of(changes.came, living);
    bool is_done;
    if (is_plain) {
        is_done = list_merge(a, slot, changes);
    } else {
        edge_changes all = changes;
        is_done = versions_change(a, index, &all);
    }
    if (slot->count != 0)
        a->page->has[number / 64] |= UINT64_C(1) << number % 64;
    else if (is_done)
        slot_clear(a->page, number);
    return is_done;
}

/* Targets that died without a change of their sources. */
static bool page_bury(const application *a, uint32_t block)
{
    for (uint32_t w = 0; w < WEFT__BLOCK_WORDS; w++)
        for (uint64_t bits = a->page->has[w]; bits != 0; bits &= bits - 1) {
            uint32_t number = w * 64 + bits_lowest(bits);
            uint32_t living =
                living_version(a->relation->world, block * WEFT__BLOCK_SLOTS + number);
            if (a->page->slots[number].version == living) continue;
            if (!slot_orphan(a, number)) return false;
        }
    return true;
}

/* ---- a page that has no lists ---- */

static void list_sort(weft_entity *list, uint32_t count)
{
    bool is_ascending = true;
    for (uint32_t i = 1; i < count; i++)
        is_ascending = is_ascending && list[i - 1].index < list[i].index;
    if (!is_ascending) qsort(list, count, sizeof *list, weft__compare_u32);
}

/* Counts what came by slot in `ends`, as places. False: a target is not alive: nothing was done.
 * Places are kept in the slots too. */
static bool build_count(const application *a, const weft__edge_change *items, uint32_t count,
                        uint32_t *ends)
{
    weft__target_page *page = a->page;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = items[i].target.index % WEFT__BLOCK_SLOTS;
        weft__target_slot *slot = &page->slots[number];
        if (ends[number]++ == 0)
            slot->version = living_version(a->relation->world, items[i].target.index);
        if (slot->version != items[i].target.version) return false;
    }
    return true;
}

/* The lists of a page that has none, by counting, of what came to living targets. False: some is
 * not alive, or there is no memory; there are no lists yet. */
static bool page_build(const application *a, const weft__edge_change *items, uint32_t count)
{
    weft__target_page *page = a->page;
    uint32_t ends[WEFT__BLOCK_SLOTS] = {0};
    page->used = page->garbage = 0;
    if (page->capacity < count && !page_pack(a, count)) return false;
    if (!build_count(a, items, count, ends)) {
        for (uint32_t i = 0; i < WEFT__BLOCK_SLOTS; i++) page->slots[i] = (weft__target_slot){0};
        return false;
    }
    for (uint32_t w = 0; w < WEFT__BLOCK_WORDS; w++) {
        uint64_t has = 0;
        for (uint32_t b = 0; b < 64 && w * 64 + b < WEFT__BLOCK_SLOTS; b++) {
            uint32_t number = w * 64 + b, n = ends[number];
            ends[number] = page->used;
            if (n == 0) continue;
            weft__target_slot *slot = &page->slots[number];
            slot->first = page->used;
            slot->count = slot->capacity = n;
            page->used += n;
            has |= UINT64_C(1) << b;
        }
        page->has[w] = has;
    }
    for (uint32_t i = 0; i < count; i++)
        page->sources[ends[items[i].target.index % WEFT__BLOCK_SLOTS]++] = items[i].source;
    for (uint32_t i = 0; i < WEFT__BLOCK_SLOTS; i++)
        if (page->slots[i].count > 1)
            list_sort(page->sources + page->slots[i].first, page->slots[i].count);
    page->edges = page->changed = count;
    if (a->relation->desc.is_acyclic &&
        !weft__entity_list_append(a->relation->world, &page->came, page->sources, count))
        page->is_failed = true;
    return true;
}

/* ---- a page ---- */

/* Takes the changes of a target off a sorted run. */
static inline edge_run run_take(edge_run *run, uint32_t index)
{
    edge_run of = {run->items, 0};
    while (of.count < run->count && of.items[of.count].target.index == index) of.count++;
    run->items += of.count, run->count -= of.count;
    return of;
}

static edge_run run_sort(const application *a, uint32_t first, uint32_t end)
{
    weft__edge_change *items = a->relation->changes.at + first;
    edges_sort(items, end - first, a->relation->sorted.at + first);
    return (edge_run){items, end - first};
}

static bool changes_apply(const application *a, uint32_t block)
{
    uint32_t first = weft__bucket_first(a->relation, block, WEFT__BUCKET_WENT);
    uint32_t middle = weft__bucket_first(a->relation, block, WEFT__BUCKET_CAME);
    uint32_t end = weft__bucket_first(a->relation, block + 1, WEFT__BUCKET_WENT);
    if (first == end) return true;
    if (a->page->edges == 0 && first == middle && end - middle >= EDGE_COUNTING_FROM &&
        page_build(a, a->relation->changes.at + middle, end - middle))
        return true;
    edge_changes all = {run_sort(a, first, middle), run_sort(a, middle, end)};
    bool is_done = a->page->edges != 0 || page_reserve(a, all.came.count);
    while (changes_any(&all) && is_done) {
        uint32_t went = all.went.count != 0 ? all.went.items->target.index : UINT32_MAX;
        uint32_t came = all.came.count != 0 ? all.came.items->target.index : UINT32_MAX;
        uint32_t index = went < came ? went : came;
        edge_changes of = {run_take(&all.went, index), run_take(&all.came, index)};
        is_done = slot_change(a, index, of);
    }
    return is_done;
}

/* What the tasks of a loop share. Owner: the stack of weft__relation_pages_apply. */
typedef struct page_loop {
    weft__relation *relation;
    const bool *had_deaths;
} page_loop;

static int pages_run(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const page_loop *loop = argument;
    weft__relation *relation = loop->relation;
    (void)job;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t block = relation->active.at[i];
        application a = {relation, relation->pages.at[block]};
        a.page->orphans.count = a.page->came.count = a.page->changed = 0;
        a.page->is_failed = a.page->has_loose = false;
        bool is_done = changes_apply(&a, block);
        if (is_done && (loop->had_deaths == NULL || loop->had_deaths[block]))
            is_done = page_bury(&a, block);
        if (!is_done) a.page->is_failed = true; /* its lists may be half done */
    }
    return 0;
}

/* Lists the pages that have changes, or targets in a block that had deaths. */
static bool active_list(weft__relation *relation, const bool *had_deaths)
{
    relation->active.count = 0;
    if (!WEFT__RELATION_ROOM(relation->world, &relation->active, relation->pages.count + 1))
        return false;
    for (uint32_t b = 0; b < relation->pages.count; b++) {
        bool has_changes = weft__bucket_first(relation, b, WEFT__BUCKET_WENT) !=
                           weft__bucket_first(relation, b + 1, WEFT__BUCKET_WENT);
        if (has_changes && relation->pages.at[b] == NULL &&
            (relation->pages.at[b] = page_make(relation)) == NULL)
            return false;
        bool had = relation->pages.at[b] != NULL && relation->pages.at[b]->edges != 0 &&
                   (had_deaths == NULL || had_deaths[b]);
        if (has_changes || had) relation->active.at[relation->active.count++] = b;
    }
    return true;
}

/* On the workers, or here: for one task, without a job, in a forked process (nothing was run). */
static void loop_run(weft_job_context *job, const weft_job_for_desc *desc)
{
    if (job == NULL || desc->count < 2 || weft_job_for(job, desc, NULL) != WEFT_OK)
        desc->fn(job, desc->argument, 0, desc->count);
}

weft_result weft__relation_pages_apply(weft__relation *relation, const bool *had_deaths,
                                       weft_job_context *job)
{
    page_loop loop = {relation, had_deaths};
    bool is_failed = !active_list(relation, had_deaths);
    if (is_failed) relation->active.count = 0;
    weft_job_for_desc desc = {.fn = pages_run,
                              .argument = &loop,
                              .count = relation->active.count,
                              .grain = 1,
                              .cost = &relation->page_cost,
                              .name = "relation: lists"};
    loop_run(job, &desc);
    for (uint32_t i = 0; i < relation->active.count; i++) {
        const weft__target_page *page = relation->pages.at[relation->active.at[i]];
        is_failed = is_failed || page->is_failed;
        relation->stats.changed += page->changed;
        relation->is_loose = relation->is_loose || page->has_loose;
    }
    relation->stats.sources = 0;
    for (uint32_t b = 0; b < relation->pages.count; b++)
        if (relation->pages.at[b] != NULL) relation->stats.sources += relation->pages.at[b]->edges;
    if (!is_failed) return WEFT_OK;
    relation->is_broken = true;
    return weft__error_memory(relation->world, "the index of a relation");
}

bool weft__target_take(weft__relation *relation, weft_entity target, weft__entity_list *out)
{
    weft__target_page *page;
    uint32_t index = weft__bare_index(relation->world, target);
    if (!weft__target_has(relation, index)) return true;
    weft__target_slot *slot = weft__target_slot_at(relation, index, &page);
    if (slot->version != target.version) return true;
    if (!weft__entity_list_append(relation->world, out, page->sources + slot->first, slot->count))
        return false;
    relation->stats.sources -= slot->count;
    slot_clear(page, index % WEFT__BLOCK_SLOTS);
    return true;
}

/* Which rows may have is listed by row_diff.h. They are compared twice: the first pass counts
 * changes per task and page, the second puts each at its place, so that what is in which order does
 * not depend on workers. Edges that went and those that came are apart: rows mostly have them in
 * the order of the lists, each for itself. Where there are more changes than rows, the index is
 * built from nothing: that needs no removals. */

static void relation_reset(weft__relation *relation)
{
    weft__row_diff_reset(&relation->diff);
    for (uint32_t i = 0; i < relation->pages.count; i++)
        if (relation->pages.at[i] != NULL) target_page_clear(relation->pages.at[i]);
    relation->is_broken = relation->is_loose = false;
    relation->stats.sources = 0;
    relation->stats.rebuilds++;
    relation->has_all_come = true;
}

/* ---- comparison ---- */

/* Changes of one kind. Neighbours mostly go to the same page: the count of the one that was noted
 * last is in `at`. A value. */
typedef struct edge_stream {
    uint32_t kind; /* WEFT__BUCKET_ */
    uint32_t page;
    uint32_t at;
} edge_stream;

/* What a task knows: copies, so that loops keep them in registers. Owner: the stack of the task. */
typedef struct comparison {
    const weft__relation *relation;
    uint32_t *counts; /* [bucket]: how many changes, or where the next one goes */
    weft__edge_change *changes;
    uint32_t tag;
    uint32_t end; /* of the pages: what belongs to none */
    edge_stream went, came;
    bool is_second;
    bool has_depth; /* rows of the chunk have a depth that is not 0 */
} comparison;

static void stream_turn(const comparison *c, edge_stream *stream, uint32_t page)
{
    c->counts[2 * stream->page + stream->kind] = stream->at;
    stream->page = page;
    stream->at = c->counts[2 * page + stream->kind];
}

static inline __attribute__((always_inline)) void
note(const comparison *c, edge_stream *stream, uint64_t source, uint64_t target, bool is_second)
{
    uint32_t bare = (uint32_t)target ^ c->tag, page = bare / WEFT__BLOCK_SLOTS;
    if (target >> 32 == 0 || page >= c->end) page = c->end;
    if (page != stream->page) stream_turn(c, stream, page);
    uint32_t at = stream->at++;
    if (!is_second) return;
    c->changes[at] = (weft__edge_change){{(uint32_t)source, (uint32_t)(source >> 32)},
                                         {target >> 32 == 0 ? 0 : bare, (uint32_t)(target >> 32)}};
}

static inline uint64_t handle_load(const void *from)
{
    uint64_t handle;
    memcpy(&handle, from, sizeof handle);
    return handle;
}

static void rows_went(comparison *c, const weft__mirror *mirror, uint32_t first, uint32_t end)
{
    const weft_entity *targets = mirror->values;
    for (uint32_t row = first; row < end; row++) {
        uint64_t target = handle_load(&targets[row]);
        if (target >> 32 == 0) continue;
        note(c, &c->went, handle_load(&mirror->rows[row]), target, c->is_second);
    }
}

/* Rows that are in the chunk now; `is_new`: those of the mirror are not. */
static inline __attribute__((always_inline)) void rows_walk(comparison *task,
                                                            const weft__row_piece *piece,
                                                            uint32_t first, uint32_t end,
                                                            bool is_new, bool is_second)
{
    comparison c = *task;
    weft_entity *sources = piece->mirror->rows, *targets = piece->mirror->values;
    const weft__column *column = &piece->chunk->layout->columns[piece->place.column];
    const char *values = piece->chunk->base + column->offset + c.relation->offset;
    const weft_entity *entities = weft__chunk_entities(piece->chunk);
    size_t bytes = column->bytes;
    for (uint32_t row = first; row < end; row++) {
        if (!is_new && bytes == sizeof(weft_entity) && end - row >= WEFT__ROWS_AT_ONCE &&
            weft__rows_are_same(&entities[row], &sources[row]) &&
            weft__rows_are_same(values + row * bytes, &targets[row])) {
            row += WEFT__ROWS_AT_ONCE - 1;
            continue;
        }
        uint64_t target = handle_load(values + row * bytes), source = handle_load(&entities[row]);
        if (target >> 32 == 0) target = 0;
        uint64_t old = is_new ? 0 : handle_load(&targets[row]);
        if (!is_new && target == old && source == handle_load(&sources[row])) continue;
        if (old >> 32 != 0) note(&c, &c.went, handle_load(&sources[row]), old, is_second);
        if (target != 0 || c.has_depth) note(&c, &c.came, source, target, is_second);
        if (!is_second) continue;
        memcpy(&sources[row], &source, sizeof source);
        memcpy(&targets[row], &target, sizeof target);
    }
    task->went = c.went;
    task->came = c.came;
}

static void rows_compare(comparison *c, const weft__row_piece *piece, uint32_t first, uint32_t end,
                         bool is_new)
{
    if (c->is_second)
        is_new ? rows_walk(c, piece, first, end, true, true)
               : rows_walk(c, piece, first, end, false, true);
    else
        is_new ? rows_walk(c, piece, first, end, true, false)
               : rows_walk(c, piece, first, end, false, false);
}

static void piece_compare(comparison *c, const weft__row_piece *piece)
{
    const weft__mirror *mirror = piece->mirror;
    uint32_t now = piece->chunk == NULL ? 0 : piece->chunk->count, old = mirror->count;
    uint32_t first = piece->first, end = piece->end, both = now < old ? now : old;
    uint32_t middle = end < both ? end : both > first ? both : first;
    if (piece->chunk != NULL) {
        c->has_depth = mirror->level != 0;
        rows_compare(c, piece, first, middle, false);
    }
    if (old > now) rows_went(c, mirror, middle, end < old ? end : old);
    if (now > old) rows_compare(c, piece, middle, end < now ? end : now, true);
}

/* Tasks are runs of pieces. Owner: the stack of the scan. */
typedef struct scan_loop {
    weft__relation *relation;
    uint32_t *tasks; /* [task_count + 1]: first piece */
    uint32_t task_count;
    uint32_t buckets;
    bool is_second;
    bool is_copy; /* rows only moved: mirrors are made current, nothing is compared */
} scan_loop;

static void piece_copy(const weft__relation *relation, const weft__row_piece *piece)
{
    const weft__chunk *chunk = piece->chunk;
    weft__mirror *mirror = piece->mirror;
    weft_entity *targets = mirror->values;
    if (chunk == NULL) return;
    const weft__column *column = &chunk->layout->columns[piece->place.column];
    const char *values = chunk->base + column->offset + relation->offset;
    uint32_t end = piece->end < chunk->count ? piece->end : chunk->count;
    for (uint32_t row = piece->first; row < end; row++) {
        weft_entity target;
        memcpy(&target, values + row * (size_t)column->bytes, sizeof target);
        if (target.version == 0) target.index = 0;
        targets[row] = target;
        mirror->rows[row] = weft__chunk_entities(chunk)[row];
    }
}

static int tasks_run(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const scan_loop *loop = argument;
    weft__relation *relation = loop->relation;
    (void)job;
    for (uint32_t t = begin; t < end && loop->is_copy; t++)
        for (uint32_t i = loop->tasks[t]; i < loop->tasks[t + 1]; i++)
            piece_copy(relation, &relation->diff.pieces.at[i]);
    for (uint32_t t = begin; t < end && !loop->is_copy; t++) {
        comparison c = {.relation = relation,
                        .counts = relation->offsets.at + (size_t)t * loop->buckets,
                        .changes = relation->changes.at,
                        .tag = relation->world->directory.tag_bits,
                        .end = relation->pages.count,
                        .is_second = loop->is_second};
        if (!loop->is_second) memset(c.counts, 0, loop->buckets * sizeof c.counts[0]);
        c.went = (edge_stream){WEFT__BUCKET_WENT, 0, c.counts[WEFT__BUCKET_WENT]};
        c.came = (edge_stream){WEFT__BUCKET_CAME, 0, c.counts[WEFT__BUCKET_CAME]};
        for (uint32_t i = loop->tasks[t]; i < loop->tasks[t + 1]; i++)
            piece_compare(&c, &relation->diff.pieces.at[i]);
        stream_turn(&c, &c.went, 0);
        stream_turn(&c, &c.came, 0);
    }
    return 0;
}

static void run(const scan_loop *loop, weft_job_context *job)
{
    weft__relation *relation = loop->relation;
    weft_job_for_desc desc = {.fn = tasks_run,
                              .argument = (void *)(uintptr_t)loop,
                              .count = loop->task_count,
                              .grain = 1,
                              .cost = &relation->scan_cost,
                              .name = "relation: scan"};
    loop_run(job, &desc);
}

/* ---- the scan ---- */

static bool tasks_make(weft__relation *relation, scan_loop *loop)
{
    if (!WEFT__RELATION_ROOM(relation->world, &relation->tasks,
                             (size_t)relation->diff.pieces.count + 1))
        return false;
    loop->tasks = relation->tasks.at;
    uint32_t rows = WEFT__PIECE_ROWS;
    for (uint32_t i = 0; i < relation->diff.pieces.count; i++) {
        if (rows >= WEFT__PIECE_ROWS) {
            loop->tasks[loop->task_count++] = i;
            rows = 0;
        }
        rows += relation->diff.pieces.at[i].end - relation->diff.pieces.at[i].first;
    }
    loop->tasks[loop->task_count] = relation->diff.pieces.count;
    return true;
}

/* Turns counts into places; returns how many changes there are. */
static uint32_t places_make(weft__relation *relation, const scan_loop *loop)
{
    uint32_t at = 0;
    for (uint32_t b = 0; b < loop->buckets; b++) {
        relation->firsts.at[b] = at;
        for (uint32_t t = 0; t < loop->task_count; t++) {
            uint32_t *count = &relation->offsets.at[(size_t)t * loop->buckets + b], n = *count;
            *count = at;
            at += n;
        }
    }
    relation->firsts.at[loop->buckets] = at;
    return at;
}

/* Room for the results of tasks, and of pages. */
static bool rooms_make(weft__relation *relation, const scan_loop *loop)
{
    return WEFT__RELATION_ROOM(relation->world, &relation->offsets,
                               (size_t)loop->task_count * loop->buckets + 1) &&
           WEFT__RELATION_ROOM(relation->world, &relation->firsts, (size_t)loop->buckets + 1);
}

/* Whether most rows are to be compared, and most of the first ones changed. */
static bool looks_much(const scan_loop *loop)
{
    const weft__relation *relation = loop->relation;
    scan_loop first = *loop;
    uint64_t changes = 0, rows = 0;
    if (relation->diff.listed < relation->diff.rows / 2 || loop->task_count < 16) return false;
    first.task_count = loop->task_count / 16;
    tasks_run(NULL, &first, 0, first.task_count);
    for (size_t i = 0; i < (size_t)first.task_count * loop->buckets; i++)
        changes += relation->offsets.at[i];
    for (uint32_t i = 0; i < loop->tasks[first.task_count]; i++)
        rows += relation->diff.pieces.at[i].end - relation->diff.pieces.at[i].first;
    return changes > rows;
}

/* Counts the changes, then writes them. More of them than rows: the index is to be built from
 * nothing, *is_much; nothing was written. */
static bool compare(weft__relation *relation, weft_job_context *job, bool *is_much)
{
    scan_loop loop = {.relation = relation, .buckets = 2 * relation->pages.count + 2};
    bool is_done = tasks_make(relation, &loop) && rooms_make(relation, &loop);
    *is_much = is_done && relation->stats.sources != 0 && looks_much(&loop);
    if (is_done && !*is_much) {
        run(&loop, job);
        uint32_t changes = places_make(relation, &loop);
        *is_much = changes > WEFT__PIECE_ROWS && relation->stats.sources != 0 &&
                   changes > relation->diff.rows;
        if (!*is_much) {
            is_done = WEFT__RELATION_ROOM(relation->world, &relation->changes, changes) &&
                      WEFT__RELATION_ROOM(relation->world, &relation->sorted, changes);
            loop.is_second = true;
            if (is_done) run(&loop, job);
        }
    }
    return is_done;
}

void weft__relation_follow(weft__relation *relation, weft_job_context *job)
{
    scan_loop loop = {.relation = relation, .is_copy = true};
    bool is_done = weft__row_diff_look(&relation->diff) && tasks_make(relation, &loop);
    if (is_done) run(&loop, job);
    if (is_done) weft__row_diff_seen(&relation->diff, false);
    relation->is_broken = relation->is_broken || !is_done;
}

weft_result weft__relation_scan(weft__relation *relation, weft_job_context *job)
{
    bool is_much = false;
    bool is_lost = relation->is_loose || relation->desc.is_acyclic; /* what mirrors do not say */
    if (relation->is_broken || (relation->is_suspect && is_lost)) relation_reset(relation);
    if (relation->is_suspect) relation->diff.seen = 0;
    relation->has_all_come = relation->has_all_come || relation->stats.sources == 0;
    bool is_done = relation_pages_reserve(relation) && weft__row_diff_look(&relation->diff) &&
                   compare(relation, job, &is_much);
    if (is_done && is_much) {
        relation_reset(relation);
        is_done = weft__row_diff_look(&relation->diff) && compare(relation, job, &is_much);
    }
    relation->stats.scanned = relation->diff.listed;
    if (is_done) weft__row_diff_seen(&relation->diff, false);
    if (is_done) relation->is_suspect = false;
    if (is_done) return WEFT_OK;
    relation->is_broken = true;
    return weft__error_memory(relation->world, "the index of a relation");
}

/* ---- cycles and depths ---- */

/* What may have another depth are the sources whose target changed or went, and all below them; of
 * these, targets have a node, in which the walk up leaves what it found, so that each node is
 * passed once. Each source has one target: a cycle is met by the walk that comes back to its own
 * path, and cut at the lowest index on it, which is a function of the fields alone. */

/* Of a node, in this settling. */
typedef enum weft__node_state {
    NODE_WAITS = 1, /* may have another depth */
    NODE_ON_PATH = 2,
    NODE_DONE = 3,
} weft__node_state;

/* A source that may have another depth. Owner: the work. */
typedef struct item {
    weft_entity source;
    uint32_t target; /* bare index */
    bool has_node;
} item;

/* Owner: the stack of weft__relation_depths. */
typedef struct depth_work {
    weft__relation *relation;
    weft_world *world;
    WEFT__LIST(item) items;
    WEFT__LIST(uint32_t) path;
    weft__entity_list gone; /* by depth: entities that lost the relation and still have a depth */
    uint32_t known_target, known_depth; /* of the last item; WEFT__NONE: none */
    weft__depth_result *out;
} depth_work;

/* ---- what may have another depth ---- */

static weft__target_node *node_at(const weft__relation *relation, uint32_t index)
{
    weft__target_page *page;
    weft__target_slot *slot = weft__target_slot_at(relation, index, &page);
    return slot == NULL ? NULL : &page->nodes[index % WEFT__BLOCK_SLOTS];
}

static uint32_t state_of(const depth_work *work, const weft__target_node *node)
{
    return node->mark >> 2 == work->relation->settling ? node->mark & 3 : 0;
}

static void state_set(const depth_work *work, weft__target_node *node, weft__node_state state)
{
    node->mark = work->relation->settling << 2 | (uint32_t)state;
}

/* Whether an entity has sources itself. */
static bool has_sources(const weft__relation *relation, weft_entity entity)
{
    weft__target_page *page;
    uint32_t index = weft__bare_index(relation->world, entity);
    return weft__target_has(relation, index) &&
           weft__target_slot_at(relation, index, &page)->version == entity.version;
}

/* Adds an item; one that has sources itself gets a node, and is added once only. */
static bool item_add(depth_work *work, weft_entity source, uint32_t target)
{
    weft__target_page *page;
    uint32_t index = weft__bare_index(work->world, source);
    bool has_node = has_sources(work->relation, source);
    if (has_node) {
        weft__target_slot_at(work->relation, index, &page);
        weft__target_node *node = &page->nodes[index % WEFT__BLOCK_SLOTS];
        if (state_of(work, node) != 0) return true;
        node->parent = target;
        state_set(work, node, NODE_WAITS);
    }
    item *added = WEFT__LIST_ADD(&work->world->memory, WEFT__MEMORY_OTHER, &work->items);
    if (added != NULL) *added = (item){source, target, has_node};
    return added != NULL;
}

/* Entities without a target have depth 0; what is below them may have another. */
static bool root_add(depth_work *work, weft_entity entity)
{
    weft__target_page *page;
    uint32_t index = weft__bare_index(work->world, entity);
    const weft__target_slot *slot = weft__target_slot_at(work->relation, index, &page);
    if (!has_sources(work->relation, entity)) return true;
    weft__target_node *node = &page->nodes[index % WEFT__BLOCK_SLOTS];
    node->depth = 0;
    state_set(work, node, NODE_DONE);
    for (uint32_t k = 0; k < slot->count; k++)
        if (!item_add(work, page->sources[slot->first + k], index)) return false;
    return true;
}

/* The target of a source, while it is alive. */
static bool target_lives(const depth_work *work, weft_entity source, weft_entity *target)
{
    uint32_t row;
    char *value;
    if (weft__relation_row(work->relation, source, &row, &value) == NULL) return false;
    *target = weft__relation_field(work->relation, value);
    return weft__target_lives(work->world, *target);
}

/* Those of a list that have no target. */
static bool roots_add(depth_work *work, const weft__entity_list *list)
{
    weft_entity target;
    for (uint32_t i = 0; i < list->count; i++)
        if (!target_lives(work, list->at[i], &target) && !root_add(work, list->at[i])) return false;
    return true;
}

static bool roots_collect(depth_work *work)
{
    if (!roots_add(work, &work->relation->left) || !roots_add(work, &work->relation->lost))
        return false;
    for (uint32_t i = 0; i < work->gone.count; i++)
        if (!root_add(work, work->gone.at[i])) return false;
    return true;
}

/* Finds the entities that lost the relation and still have a depth. */
static bool gone_collect(depth_work *work)
{
    const weft_world *world = work->world;
    const weft__relation *relation = work->relation;
    const weft__component_list *list = weft__component_list_at(world, relation->depth.id);
    for (uint32_t i = 0; i < list->count; i++) {
        const weft__archetype *archetype = world->archetypes.at[list->at[i].archetype];
        if (archetype->entity_count == 0 ||
            weft__archetype_find(archetype, relation->component) != WEFT__NONE)
            continue;
        for (uint32_t c = 0; c < archetype->chunk_count; c++)
            for (uint32_t r = 0; r < archetype->chunks[c]->count; r++)
                if (!weft__entity_list_push(work->world, &work->gone,
                                            weft__chunk_entities(archetype->chunks[c])[r]))
                    return false;
    }
    return true;
}

/* All nodes, and what is below them. Those that came and have no sources are filed by came_file. */
static bool items_collect(depth_work *work)
{
    const weft__relation *relation = work->relation;
    weft_entity target;
    if (!roots_collect(work)) return false;
    for (uint32_t i = 0; i < relation->came.count; i++) {
        weft_entity source = relation->came.at[i];
        if (!has_sources(relation, source) || !target_lives(work, source, &target)) continue;
        if (!item_add(work, source, weft__bare_index(work->world, target))) return false;
    }
    if (relation->has_all_come) return true;
    for (uint32_t i = 0; i < work->items.count; i++) {
        if (!work->items.at[i].has_node) continue;
        weft__target_page *page;
        uint32_t index = weft__bare_index(work->world, work->items.at[i].source);
        weft__target_slot slot = *weft__target_slot_at(relation, index, &page);
        for (uint32_t k = 0; k < slot.count; k++)
            if (!item_add(work, page->sources[slot.first + k], index)) return false;
    }
    return true;
}

/* ---- depths ---- */

/* The path came back to `index`, which is on it. */
static void cycle_cut(depth_work *work, uint32_t index)
{
    weft_world *world = work->world;
    uint32_t lowest = index, row;
    char *value;
    for (uint32_t i = work->path.count; work->path.at[--i] != index;)
        if (work->path.at[i] < lowest) lowest = work->path.at[i];
    weft_entity source = {lowest ^ world->directory.tag_bits, living_version(world, lowest)};
    const weft__chunk *chunk = weft__relation_row(work->relation, source, &row, &value);
    if (chunk != NULL) weft__relation_field_clear(work->relation, chunk, row);
    if (work->out->cuts++ == 0) work->out->cut = source;
    work->out->has_changed = true;
    weft__target_node *node = node_at(work->relation, lowest);
    for (uint32_t i = 0; i < work->path.count; i++)
        state_set(work, node_at(work->relation, work->path.at[i]), NODE_WAITS);
    node->depth = 0;
    state_set(work, node, NODE_DONE);
}

/* The depth of an entity whose own target did not change, nor those above it. */
static uint32_t settled_depth(const depth_work *work, uint32_t index)
{
    uint32_t row;
    weft_entity entity = {index ^ work->world->directory.tag_bits,
                          living_version(work->world, index)};
    const weft__chunk *chunk = weft__entity_chunk(work->world, entity, &row);
    return chunk == NULL ? 0 : weft__relation_depth_of(work->relation, chunk);
}

/* The depth of the target of an index. False: no memory. */
static bool depth_find(depth_work *work, uint32_t index, uint32_t *depth)
{
    weft__target_node *node;
    work->path.count = 0;
    uint32_t at = index;
    for (;;) {
        node = node_at(work->relation, at);
        uint32_t state = state_of(work, node);
        if (state == NODE_ON_PATH) {
            cycle_cut(work, at);
            work->path.count = 0;
            at = index;
        } else if (state == NODE_WAITS) {
            state_set(work, node, NODE_ON_PATH);
            if (!WEFT__LIST_APPEND(&work->world->memory, WEFT__MEMORY_OTHER, &work->path, &at, 1))
                return false;
            at = node->parent;
        } else {
            *depth = state == NODE_DONE ? node->depth : settled_depth(work, at);
            break;
        }
    }
    while (work->path.count != 0) {
        node = node_at(work->relation, work->path.at[--work->path.count]);
        node->depth = ++*depth;
        state_set(work, node, NODE_DONE);
    }
    return true;
}

/* The depth of an item; the same target as before is not looked up again. */
static bool item_depth(depth_work *work, const item *of, uint32_t *depth)
{
    if (of->has_node) return depth_find(work, weft__bare_index(work->world, of->source), depth);
    if (of->target != work->known_target) {
        if (!depth_find(work, of->target, &work->known_depth)) return false;
        work->known_target = of->target;
    }
    *depth = work->known_depth + 1;
    return true;
}

/* ---- rows to their depth ---- */

static bool lists_add(const depth_work *work, uint32_t depth, weft_entity entity)
{
    weft__relation *relation = work->relation;
    return WEFT__LIST_REACH(&work->world->memory, WEFT__MEMORY_OTHER, &relation->levels,
                            depth + 1) &&
           weft__entity_list_push(work->world, &relation->levels.at[depth], entity);
}

/* Files an entity where its chunk says another depth. */
static bool lists_file(const depth_work *work, weft_entity entity, uint32_t depth)
{
    uint32_t row;
    bool has;
    const weft__chunk *chunk = weft__entity_chunk(work->world, entity, &row);
    if (chunk == NULL) return true;
    uint32_t now = chunk_depth(work->relation, chunk, &has);
    return (has && now == depth) || lists_add(work, depth, entity);
}

/* Files those that came and have no sources; what neighbours share is looked up once. */
static bool came_file(depth_work *work)
{
    const weft__relation *relation = work->relation;
    weft__chunk *chunk = NULL;
    const weft__chunk *known = NULL;
    const weft__type_slot *slot = NULL;
    weft_entity last = WEFT__NO_ENTITY; /* a living target */
    weft_entity before = WEFT__NO_ENTITY;
    uint32_t now = 0, depth = 0, row = 0;
    bool has = false;
    for (uint32_t i = 0; i < relation->came.count; i++) {
        weft_entity source = relation->came.at[i];
        if (has_sources(relation, source)) continue;
        chunk = weft__entity_chunk_after(work->world, source, before, chunk, &row);
        before = source;
        if (chunk == NULL) continue;
        if (chunk != known) {
            slot = weft__archetype_slot(chunk->archetype, relation->component);
            now = chunk_depth(relation, chunk, &has);
            known = chunk;
        }
        if (slot == NULL) continue;
        weft_entity target =
            weft__relation_field(relation, weft__chunk_value(chunk, slot->column, row));
        if (target.index != last.index || target.version != last.version) {
            if (!weft__target_lives(work->world, target)) continue;
            const item leaf = {source, weft__bare_index(work->world, target), false};
            if (!item_depth(work, &leaf, &depth)) return false;
            last = target;
        }
        if ((!has || now != depth) && !lists_add(work, depth, source)) return false;
    }
    return true;
}

static weft_result lists_move(const depth_work *work)
{
    const weft__relation *relation = work->relation;
    weft_result result = WEFT_OK;
    for (uint32_t depth = 0; depth < relation->levels.count; depth++) {
        weft__entity_list *list = &relation->levels.at[depth];
        if (list->count == 0) continue;
        if (result == WEFT_OK)
            result =
                weft__entities_group(work->world, list->at, list->count, relation->depth, &depth);
        list->count = 0;
        work->out->has_changed = true;
    }
    return result;
}

/* Sources without a target have depth 0. One that another relation made a residue since is none. */
static bool left_file(const depth_work *work)
{
    const weft__relation *relation = work->relation;
    for (uint32_t i = 0; i < relation->left.count; i++) {
        weft_entity source = relation->left.at[i];
        uint32_t row;
        char *value;
        if (weft__relation_row(relation, source, &row, &value) == NULL) continue;
        if (weft__target_lives(work->world, weft__relation_field(relation, value))) continue;
        if (!lists_file(work, source, 0)) return false;
    }
    return true;
}

static weft_result depths_apply(depth_work *work)
{
    bool by_depth = work->relation->depth.id != 0, is_done = true;
    for (uint32_t i = 0; i < work->items.count && is_done; i++) {
        uint32_t depth;
        is_done = item_depth(work, &work->items.at[i], &depth);
        if (is_done && by_depth) is_done = lists_file(work, work->items.at[i].source, depth);
    }
    if (by_depth) is_done = is_done && came_file(work) && left_file(work);
    weft_result result = lists_move(work);
    if (!is_done) return weft__error_memory(work->world, "depths");
    if (result != WEFT_OK || work->gone.count == 0) return result;
    work->out->has_changed = true;
    return weft_entity_change_many(
        work->world, work->gone.at, work->gone.count,
        &(weft_change_desc){.remove = &work->relation->depth, .remove_count = 1});
}

weft_result weft__relation_depths(weft__relation *relation, weft__depth_result *out)
{
    weft_world *world = relation->world;
    depth_work work = {
        .relation = relation, .world = world, .known_target = WEFT__NONE, .out = out};
    *out = (weft__depth_result){0};
    relation->settling = (relation->settling + 1) & (UINT32_MAX >> 2);
    if (relation->settling == 0) relation->settling = 1;
    bool is_done = (relation->depth.id == 0 || gone_collect(&work)) && items_collect(&work);
    weft_result result = is_done ? depths_apply(&work) : weft__error_memory(world, "depths");
    if (result != WEFT_OK) relation->is_broken = true;
    relation->came.count = relation->left.count = relation->lost.count = 0;
    relation->has_all_come = false;
    weft__entity_list_fini(world, &work.gone);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &work.items);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_OTHER, &work.path);
    return result;
}

/* ---- the check ---- */

/* Always false. */
#define wrong(text, bytes, ...) (snprintf(text, bytes, __VA_ARGS__), false)

static bool list_check(const weft__target_page *page, const weft__target_slot *slot, char *text,
                       size_t bytes)
{
    const weft_entity *list = page->sources + slot->first;
    if (slot->count > slot->capacity || slot->first + slot->capacity > page->used)
        return wrong(text, bytes, "a list of sources is beyond its page");
    for (uint32_t i = 1; i < slot->count; i++)
        if (list[i].index <= list[i - 1].index)
            return wrong(text, bytes, "source %u of a target is not in order", i);
    return true;
}

static bool page_check(const weft__target_page *page, char *text, size_t bytes)
{
    uint64_t edges = 0, room = 0;
    if (page->used > page->capacity) return wrong(text, bytes, "a page of targets is too full");
    for (uint32_t i = 0; i < WEFT__BLOCK_SLOTS; i++) {
        const weft__target_slot *slot = &page->slots[i];
        bool has = (page->has[i / 64] >> i % 64 & 1) != 0;
        if (has != (slot->count != 0))
            return wrong(text, bytes, "the bit of target %u is wrong", i);
        if (slot->count != 0 && !list_check(page, slot, text, bytes)) return false;
        edges += slot->count;
        room += slot->capacity;
    }
    if (edges != page->edges || room + page->garbage != page->used)
        return wrong(text, bytes, "a page counts %u edges, its lists have %llu", page->edges,
                     (unsigned long long)edges);
    return true;
}

static bool is_listed(const weft__target_page *page, const weft__target_slot *slot,
                      weft_entity source)
{
    const weft_entity *list = page->sources + slot->first;
    uint32_t at = list_find(list, slot->count, source.index);
    return at < slot->count && edge_key(&list[at]) == edge_key(&source);
}

/* Every edge of a mirror whose target has a list is in it; *edges counts them. */
static bool mirror_check(const weft__relation *relation, const weft__mirror *mirror,
                         uint64_t *edges, char *text, size_t bytes)
{
    for (uint32_t row = 0; row < mirror->count; row++) {
        weft__target_page *page;
        weft_entity target = ((const weft_entity *)mirror->values)[row];
        if (target.version == 0) continue;
        const weft__target_slot *slot =
            weft__target_slot_at(relation, weft__bare_index(relation->world, target), &page);
        if (slot == NULL || slot->version != target.version) continue;
        ++*edges;
        if (!is_listed(page, slot, mirror->rows[row]))
            return wrong(text, bytes, "entity %s is not among the sources of its target %s",
                         weft__entity_say(relation->world, mirror->rows[row]).text,
                         weft__entity_say(relation->world, target).text);
    }
    return true;
}

static bool relation_check(const weft__relation *relation, char *text, size_t bytes)
{
    uint64_t listed = 0, edges = 0;
    if (relation->is_broken) return true;
    for (uint32_t i = 0; i < relation->pages.count; i++) {
        if (relation->pages.at[i] == NULL) continue;
        if (!page_check(relation->pages.at[i], text, bytes)) return false;
        listed += relation->pages.at[i]->edges;
    }
    for (uint32_t i = 0; i < relation->diff.mirrors.count; i++)
        if (relation->diff.mirrors.at[i] != NULL &&
            !mirror_check(relation, relation->diff.mirrors.at[i], &edges, text, bytes))
            return false;
    if (edges == listed) return true;
    return wrong(text, bytes, "relation %u: %llu sources are listed, rows have %llu",
                 relation->component, (unsigned long long)listed, (unsigned long long)edges);
}

bool weft__relations_check(const weft_world *world, char *text, size_t bytes)
{
    const weft__relations *relations = weft__relations_of(world);
    for (uint32_t i = 0; relations != NULL && i < relations->all.count; i++)
        if (!relation_check(relations->all.at[i], text, bytes)) return false;
    return true;
}
