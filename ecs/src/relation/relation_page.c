/* SPDX-License-Identifier: MIT */
/* relation_page.c: lists of sources. Changes of a page are sorted by target, then source; an edge
 * that went and came (its row moved) cancels out; the rest is merged into the list of its target.
 * Lists of a page lie in one array; a list that grows moves to its end, and the array is packed
 * when half of it is garbage. What a task does concerns its page only, so the result does not
 * depend on who does it. */
#include "relation_page.h"

#include "bits.h"
#include "edge_order.h"
#include "error.h"

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
    uint32_t end = at_load_rlx(&world->directory.x_block_end); /* relaxed: the world is idle */
    if (end <= relation->page_end) return true;
    void *pages = weft__realloc(&world->memory, WEFT__MEMORY_OTHER, relation->pages,
                                relation->page_end, end, sizeof(weft__target_page *), 8);
    if (pages == NULL) return false;
    relation->pages = pages;
    memset(relation->pages + relation->page_end, 0,
           (end - relation->page_end) * sizeof(weft__target_page *));
    relation->page_end = end;
    return true;
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

/* Changes of one edge among those of one target: 1 it came, -1 it went, 0 neither. *next: the first
 * of another edge. */
static inline int edge_net(const weft__edge_change *items, uint32_t count, uint32_t i,
                           uint32_t *next)
{
    uint64_t source = weft__edge_source_key(&items[i]);
    int net = 0;
    do {
        net += (items[i].source.index & WEFT__EDGE_WENT) != 0 ? -1 : 1;
        i++;
    } while (i < count && weft__edge_source_key(&items[i]) == source);
    *next = i;
    return net;
}

/* The handle that users see. */
static weft_entity handle_of(const application *a, const weft__edge_change *change)
{
    uint32_t index = change->source.index & ~WEFT__EDGE_WENT;
    return (weft_entity){index ^ a->relation->world->directory.tag_bits, change->source.version};
}

/* Changes of one living target, in order, into its list: what is before the first of them stays,
 * the rest is merged into `tail` and put back. */
static bool list_merge(const application *a, weft__target_slot *slot,
                       const weft__edge_change *items, uint32_t count)
{
    weft__target_page *page = a->page;
    weft_world *world = a->relation->world;
    weft_entity few[64], *tail = few;
    uint32_t from = list_find(page->sources + slot->first, slot->count, handle_of(a, items).index);
    uint32_t most = slot->count - from + count, kept = 0, next = 0;
    if (most > sizeof few / sizeof few[0])
        tail = weft__alloc(&world->memory, WEFT__MEMORY_OTHER, most, sizeof *tail, 8);
    if (tail == NULL) return false;
    const weft_entity *old = page->sources + slot->first + from;
    const weft_entity *end = page->sources + slot->first + slot->count;
    for (uint32_t i = 0; i < count; i = next) {
        weft_entity source = handle_of(a, &items[i]);
        int net = edge_net(items, count, i, &next);
        if (net == 0) continue;
        page->changed++;
        while (old < end && old->index < source.index) tail[kept++] = *old++;
        bool is_there = old < end && old->index == source.index && old->version == source.version;
        if (net < 0 && is_there) old++;
        if (net < 0) continue;
        bool is_reused = old < end && old->index == source.index; /* that one is dead */
        if (is_reused) old++;
        tail[kept++] = source;
        if (a->relation->desc.is_acyclic && !weft__entity_list_push(world, &page->came, source))
            page->is_failed = true;
    }
    while (old < end) tail[kept++] = *old++;
    bool is_done = slot_reserve(a, slot, from + kept);
    if (is_done) {
        page->edges += from + kept - slot->count;
        slot->count = from + kept;
        if (kept != 0) memcpy(page->sources + slot->first + from, tail, kept * sizeof *tail);
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

/* Changes of one version of a target that is not alive: what came is orphaned. */
static bool dead_changes(const application *a, const weft__edge_change *items, uint32_t count)
{
    for (uint32_t i = 0, next = 0; i < count; i = next)
        if (edge_net(items, count, i, &next) > 0 && !orphan(a, handle_of(a, &items[i])))
            return false;
    return true;
}

static uint32_t version_end(const weft__edge_change *items, uint32_t first, uint32_t count)
{
    uint32_t end = first + 1;
    while (end < count && items[end].target.version == items[first].target.version) end++;
    return end;
}

/* Changes of one index, of several versions or a dead one: first of the target that the list is of,
 * then, if that died, of others. */
static bool versions_change(const application *a, weft__target_slot *slot, uint32_t living,
                            const weft__edge_change *items, uint32_t count)
{
    uint32_t old = slot->version, number = items[0].target.index % WEFT__BLOCK_SLOTS;
    bool is_done = true;
    for (uint32_t i = 0, end; i < count && is_done; i = end) {
        end = version_end(items, i, count);
        if (old != 0 && items[i].target.version == old)
            is_done = list_merge(a, slot, items + i, end - i);
    }
    if (is_done && old != living) is_done = slot_orphan(a, number);
    slot->version = living;
    for (uint32_t i = 0, end; i < count && is_done; i = end) {
        end = version_end(items, i, count);
        uint32_t version = items[i].target.version;
        if (old != 0 && version == old) continue;
        is_done = version == living && living != 0 ? list_merge(a, slot, items + i, end - i)
                                                   : dead_changes(a, items + i, end - i);
    }
    return is_done;
}

static bool slot_change(const application *a, const weft__edge_change *items, uint32_t count)
{
    uint32_t index = items[0].target.index, number = index % WEFT__BLOCK_SLOTS;
    weft__target_slot *slot = &a->page->slots[number];
    uint32_t living = weft__living_version(a->relation->world, index);
    /* sorted by version: all are of the living target, whose list is there */
    bool is_plain = living != 0 && slot->version == living && items[0].target.version == living &&
                    items[count - 1].target.version == living;
    bool is_done = is_plain ? list_merge(a, slot, items, count)
                            : versions_change(a, slot, living, items, count);
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

/* Counts what came by slot in `ends`, as places. False: something went, or a target is not alive:
 * nothing was done. Places are kept in the slots too. */
static bool build_count(const application *a, const weft__edge_change *items, uint32_t count,
                        uint32_t *ends)
{
    weft__target_page *page = a->page;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = items[i].target.index % WEFT__BLOCK_SLOTS;
        weft__target_slot *slot = &page->slots[number];
        if (ends[number]++ == 0)
            slot->version = weft__living_version(a->relation->world, items[i].target.index);
        if (slot->version != items[i].target.version ||
            (items[i].source.index & WEFT__EDGE_WENT) != 0)
            return false;
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

/* The lists of a page that has none, by counting: all changes came, to living targets. False: it
 * is otherwise, or there is no memory; there are no lists yet. */
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
    uint32_t tag = a->relation->world->directory.tag_bits;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = items[i].target.index % WEFT__BLOCK_SLOTS;
        page->sources[ends[number]++] =
            (weft_entity){items[i].source.index ^ tag, items[i].source.version};
    }
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

static bool changes_apply(const application *a, uint32_t first, uint32_t count)
{
    weft__edge_change *items = a->relation->changes + first;
    if (count == 0) return true;
    if (a->page->edges == 0 && count >= WEFT__EDGE_COUNTING_FROM && page_build(a, items, count))
        return true;
    const weft__edge_change *sorted = weft__edges_sort(items, count, a->relation->sorted + first);
    bool is_done = a->page->edges != 0 || page_reserve(a, count);
    for (uint32_t i = 0, end; i < count && is_done; i = end) {
        end = i + 1;
        while (end < count && sorted[end].target.index == sorted[i].target.index) end++;
        is_done = slot_change(a, sorted + i, end - i);
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
        uint32_t block = relation->active[i], first = relation->firsts[block];
        application a = {relation, relation->pages[block]};
        a.page->orphans.count = a.page->came.count = a.page->changed = 0;
        a.page->is_failed = a.page->has_loose = false;
        bool is_done = changes_apply(&a, first, relation->firsts[block + 1] - first);
        if (is_done && (loop->had_deaths == NULL || loop->had_deaths[block]))
            is_done = page_bury(&a, block);
        if (!is_done) a.page->is_failed = true; /* its lists may be half done */
    }
    return 0;
}

/* Lists the pages that have changes, or targets in a block that had deaths. */
static bool active_list(weft__relation *relation, const bool *had_deaths)
{
    void *active =
        weft__relation_room(relation->world, relation->active, &relation->active_capacity,
                            relation->page_end + 1, sizeof *relation->active);
    if (active == NULL) return false;
    relation->active = active;
    relation->active_count = 0;
    for (uint32_t b = 0; b < relation->page_end; b++) {
        bool has_changes = relation->firsts[b] != relation->firsts[b + 1];
        if (has_changes && relation->pages[b] == NULL &&
            (relation->pages[b] = page_make(relation)) == NULL)
            return false;
        bool had = relation->pages[b] != NULL && relation->pages[b]->edges != 0 &&
                   (had_deaths == NULL || had_deaths[b]);
        if (has_changes || had) relation->active[relation->active_count++] = b;
    }
    return true;
}

weft_result weft__relation_pages_apply(weft__relation *relation, const bool *had_deaths,
                                       weft_job_context *job)
{
    page_loop loop = {relation, had_deaths};
    bool is_failed = !active_list(relation, had_deaths);
    if (is_failed) relation->active_count = 0;
    weft_job_for_desc desc = {.fn = pages_run,
                              .argument = &loop,
                              .count = relation->active_count,
                              .grain = 1,
                              .cost = &relation->page_cost,
                              .name = "relation: lists"};
    if (job == NULL || relation->active_count < 2)
        pages_run(job, &loop, 0, relation->active_count);
    else if (weft_job_for(job, &desc, NULL) != WEFT_OK) /* a forked process: nothing was run */
        pages_run(job, &loop, 0, relation->active_count);
    for (uint32_t i = 0; i < relation->active_count; i++) {
        const weft__target_page *page = relation->pages[relation->active[i]];
        is_failed = is_failed || page->is_failed;
        relation->stats.changed += page->changed;
        relation->is_loose = relation->is_loose || page->has_loose;
    }
    relation->stats.sources = 0;
    for (uint32_t b = 0; b < relation->page_end; b++)
        if (relation->pages[b] != NULL) relation->stats.sources += relation->pages[b]->edges;
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
