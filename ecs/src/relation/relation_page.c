/* SPDX-License-Identifier: MIT */
/* relation_page.c: lists of sources. Edges of a page that went, and those that came, are sorted by
 * target, then source; an edge that did both (its row moved) cancels out; the rest is merged into
 * the list of its target.
 * Lists of a page lie in one array; a list that grows moves to its end, and the array is packed
 * when half of it is garbage. What a task does concerns its page only, so the result does not
 * depend on who does it. */
#include "relation_page.h"

#include "bits.h"
#include "edge_order.h"
#include "entity_value.h"
#include "error.h"
#include "relation_depth.h"

#include <stdlib.h>

static int entity_compare(const void *a, const void *b)
{
    uint32_t x = ((const weft_entity *)a)->index, y = ((const weft_entity *)b)->index;
    return x < y ? -1 : x > y;
}

/* ---- pages ---- */

static weft__target_page *page_make(const weft__relation *relation)
{
    weft__memory *memory = &relation->world->memory;
    weft__target_page *page = weft__alloc_zeroed(memory, WEFT__MEMORY_OTHER, 1, sizeof *page, 64);
    if (page == NULL || !relation->desc.is_acyclic) return page;
    page->nodes =
        weft__alloc_zeroed(memory, WEFT__MEMORY_OTHER, WEFT__BLOCK_SLOTS, sizeof *page->nodes, 8);
    if (page->nodes != NULL) return page;
    weft__free(memory, WEFT__MEMORY_OTHER, page, 1, sizeof *page, 64);
    return NULL;
}

void weft__target_page_free(weft_world *world, weft__target_page *page)
{
    if (page == NULL) return;
    weft__memory *memory = &world->memory;
    weft__free(memory, WEFT__MEMORY_OTHER, page->sources, page->capacity, sizeof(weft_entity), 8);
    weft__free(memory, WEFT__MEMORY_OTHER, page->nodes, WEFT__BLOCK_SLOTS, sizeof *page->nodes, 8);
    weft__entity_list_fini(world, &page->orphans);
    weft__entity_list_fini(world, &page->came);
    weft__free(memory, WEFT__MEMORY_OTHER, page, 1, sizeof *page, 64);
}

void weft__target_page_clear(weft__target_page *page)
{
    for (uint32_t w = 0; w < WEFT__BLOCK_WORDS; w++) {
        for (uint64_t bits = page->has[w]; bits != 0; bits &= bits - 1)
            page->slots[w * 64 + bits_lowest(bits)] = (weft__target_slot){0};
        page->has[w] = 0;
    }
    page->used = page->garbage = page->edges = 0;
}

bool weft__relation_pages_reserve(weft__relation *relation)
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
    weft_entity *sources =
        weft__alloc(memory, WEFT__MEMORY_OTHER, capacity, sizeof(weft_entity), 8);
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
    weft__free(memory, WEFT__MEMORY_OTHER, page->sources, page->capacity, sizeof *sources, 8);
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
    uint32_t first = 0;
    if (count == 0 || list[count - 1].index < source) return count;
    while (count > 0) {
        uint32_t half = count / 2;
        if (list[first + half].index < source) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
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
    uint64_t went = c->went.count != 0 ? weft__edge_source_key(c->went.items) : UINT64_MAX;
    uint64_t came = c->came.count != 0 ? weft__edge_source_key(c->came.items) : UINT64_MAX;
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
        tail = weft__alloc(&world->memory, WEFT__MEMORY_OTHER, most, sizeof *tail, 8);
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
    if (tail != few) weft__free(&world->memory, WEFT__MEMORY_OTHER, tail, most, sizeof *tail, 8);
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

/* Changes of one index, of several versions or a dead one: first of the target that the list is of,
 * then, if that died, of others. */
static __attribute__((noinline)) bool versions_change(const application *a, uint32_t index,
                                                      const edge_changes *all)
{
    edge_changes changes = *all;
    weft__target_slot *slot = &a->page->slots[index % WEFT__BLOCK_SLOTS];
    uint32_t old = slot->version, number = index % WEFT__BLOCK_SLOTS;
    uint32_t living = weft__living_version(a->relation->world, index);
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
    uint32_t living = weft__living_version(a->relation->world, index);
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
                weft__living_version(a->relation->world, block * WEFT__BLOCK_SLOTS + number);
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
    if (!is_ascending) qsort(list, count, sizeof *list, entity_compare);
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
            slot->version = weft__living_version(a->relation->world, items[i].target.index);
        if (slot->version != items[i].target.version) return false;
    }
    return true;
}

static void build_places(weft__target_page *page, uint32_t *ends)
{
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
    build_places(page, ends);
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
    weft__edges_sort(items, end - first, a->relation->sorted.at + first);
    return (edge_run){items, end - first};
}

static bool changes_apply(const application *a, uint32_t block)
{
    uint32_t first = weft__bucket_first(a->relation, block, WEFT__BUCKET_WENT);
    uint32_t middle = weft__bucket_first(a->relation, block, WEFT__BUCKET_CAME);
    uint32_t end = weft__bucket_first(a->relation, block + 1, WEFT__BUCKET_WENT);
    if (first == end) return true;
    if (a->page->edges == 0 && first == middle && end - middle >= WEFT__EDGE_COUNTING_FROM &&
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
    if (job == NULL || relation->active.count < 2)
        pages_run(job, &loop, 0, relation->active.count);
    else if (weft_job_for(job, &desc, NULL) != WEFT_OK) /* a forked process: nothing was run */
        pages_run(job, &loop, 0, relation->active.count);
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
