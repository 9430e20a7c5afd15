/* SPDX-License-Identifier: MIT */
/* part_order.c: lists of parts; drawing them; running them on one thread. See part_order.h.
 *
 * A run covers every item once, whatever a list says: what it does not name runs at the end. */
#include "part_order.h"

#include "list.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

static weft__part_order *order_of(const weft__scheduler *scheduler)
{
    return (weft__part_order *)(void *)scheduler->part_watch;
}

enum { PART_MOST = 4 }; /* items of a drawn part: small ones interleave more */

/* ---- lists ---- */

static bool append(weft__part_order *order, uint32_t list, const weft__part *part)
{
    return WEFT__LIST_APPEND(order->memory, WEFT__MEMORY_SYSTEMS, &order->lists[list], part, 1);
}

/* RECORD: notes that main entries begin. Threads: the worker's. */
static void part_order_note(weft__scheduler *scheduler, uint32_t worker, const weft__part *part)
{
    weft__part_order *order = order_of(scheduler);
    weft__part noted = *part;
    if (order->mode != WEFT__PART_RECORD) return;
    noted.number = at_add_rlx(&order->x_number, 1); /* relaxed: a counter; it publishes nothing */
    noted.pass = scheduler->pass;
    noted.worker = worker;
    if (!append(order, worker, &noted)) order->is_incomplete = true;
}

static int compare_parts(const void *left, const void *right)
{
    const weft__part *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* ---- drawing ---- */

static uint32_t draw(weft__part_order *order, uint32_t below)
{
    uint64_t z = order->random += 0x9e3779b97f4a7c15u; /* splitmix64 (Steele, Lea, Flood 2014) */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % below);
}

/* Appends the items of a task in random parts, in random order. */
static void draw_items(weft__scheduler *scheduler, uint32_t stage, uint32_t first, uint32_t end)
{
    weft__part_order *order = order_of(scheduler);
    const uint32_t begin = order->lists[0].count;
    while (first < end) {
        const uint32_t left = end - first, most = left < PART_MOST ? left : PART_MOST;
        const uint32_t count = 1 + draw(order, most);
        const weft__part part = {.pass = scheduler->pass,
                                 .stage = stage,
                                 .first = first,
                                 .end = first + count,
                                 .worker = draw(order, scheduler->worker_count)};
        if (!append(order, 0, &part)) order->is_incomplete = true;
        first += count;
    }
    weft__part *parts = order->lists[0].at;
    for (uint32_t i = order->lists[0].count; i > begin + 1; i--) {
        const uint32_t other = begin + draw(order, i - begin);
        const weft__part part = parts[i - 1];
        parts[i - 1] = parts[other];
        parts[other] = part;
    }
}

/* Whether a task that is not done yet must come before it. */
static bool must_wait(const weft__task_plan *plan, const uint8_t *is_done, uint32_t task)
{
    for (uint32_t i = 0; i < plan->edge_count; i++)
        if (plan->edges[i][1] == task && !is_done[plan->edges[i][0]]) return true;
    return false;
}

/* The items of all tasks lie behind each other from `begin` on; takes them in an order that the
 * graph allows. first[task]: its next part, ends[task]. */
static void merge_tasks(weft__part_order *order, const weft__task_plan *plan, weft__part *merged,
                        uint32_t *nexts, const uint32_t *ends, uint8_t *is_done)
{
    uint32_t count = 0, left = plan->task_count;
    const weft__part *parts = order->lists[0].at;
    while (left > 0) {
        uint32_t task = draw(order, plan->task_count);
        while (is_done[task] || must_wait(plan, is_done, task))
            task = (task + 1) % plan->task_count;
        if (nexts[task] < ends[task]) merged[count++] = parts[nexts[task]++];
        if (nexts[task] < ends[task]) continue;
        is_done[task] = 1;
        left--;
    }
}

static void draw_tasks(weft__scheduler *scheduler, const weft__task_plan *plan, uint32_t *scratch)
{
    weft__part_order *order = order_of(scheduler);
    weft__part_list *all = &order->lists[0];
    uint32_t *nexts = scratch, *ends = scratch + plan->task_count;
    uint8_t *is_done = (uint8_t *)(ends + plan->task_count);
    const uint32_t begin = all->count;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const weft__task *task = &plan->tasks[i];
        const weft__stage *stage = &scheduler->stages[task->stage];
        nexts[i] = all->count;
        if (!task->on_owner) {
            draw_items(scheduler, task->stage, stage->entries[task->first_entry].first_item,
                       stage->entries[task->end_entry].first_item);
        } else if (task->first_entry < task->end_entry) {
            const weft__part part = {.pass = scheduler->pass,
                                     .stage = task->stage,
                                     .first = task->first_entry,
                                     .end = task->end_entry,
                                     .is_main = true};
            if (!append(order, 0, &part)) order->is_incomplete = true;
        }
        ends[i] = all->count;
    }
    const uint32_t count = all->count - begin;
    weft__part *merged =
        weft__alloc(order->memory, WEFT__MEMORY_SYSTEMS, count + 1, sizeof *merged, 8);
    if (merged == NULL) return; /* task after task is an order, too */
    merge_tasks(order, plan, merged, nexts, ends, is_done);
    memcpy(all->at + begin, merged, count * sizeof *merged);
    weft__free(order->memory, WEFT__MEMORY_SYSTEMS, merged, count + 1, sizeof *merged, 8);
}

static void draw_segment(weft__scheduler *scheduler, const weft__task_plan *plan)
{
    weft__part_order *order = order_of(scheduler);
    const uint32_t words = 3 * plan->task_count + 1;
    uint32_t *scratch =
        weft__alloc_zeroed(order->memory, WEFT__MEMORY_SYSTEMS, words, sizeof *scratch, 8);
    if (scratch == NULL) return;
    draw_tasks(scheduler, plan, scratch);
    weft__free(order->memory, WEFT__MEMORY_SYSTEMS, scratch, words, sizeof *scratch, 8);
}

/* ---- running ---- */

/* What of stages [first, end) has been run: a byte per item and per main entry. Owner: run. */
typedef struct coverage {
    weft__scheduler *scheduler;
    uint32_t first, end;
    bool has_main;
    uint8_t *bytes;
    uint32_t count;
} coverage;

static uint32_t stage_bytes(const coverage *c, uint32_t stage)
{
    const weft__stage *s = &c->scheduler->stages[stage];
    return s->item_count + (c->has_main ? s->main_entry_count : 0);
}

/* Where the bytes of a part are; NULL: it is of no item of these stages. */
static uint8_t *bytes_of(const coverage *c, const weft__part *part)
{
    if (part->stage < c->first || part->stage >= c->end || part->first >= part->end) return NULL;
    const weft__stage *s = &c->scheduler->stages[part->stage];
    if (part->is_main ? !c->has_main || part->end > s->main_entry_count
                      : part->end > s->item_count || part->worker >= c->scheduler->worker_count)
        return NULL;
    uint32_t at = 0;
    for (uint32_t i = c->first; i < part->stage; i++) at += stage_bytes(c, i);
    return c->bytes + at + (part->is_main ? s->item_count : 0) + part->first;
}

static void run_part(coverage *c, const weft__part *part)
{
    weft__scheduler *scheduler = c->scheduler;
    uint8_t *bytes = bytes_of(c, part);
    const uint32_t count = part->end - part->first;
    if (bytes == NULL || memchr(bytes, 1, count) != NULL) {
        order_of(scheduler)->has_differed = true;
        return;
    }
    memset(bytes, 1, count);
    weft__part_run(scheduler, part->worker, part);
}

/* Items that no part named: those of systems that do not run in this pass, or the run differs. */
static void run_rest(coverage *c)
{
    for (uint32_t i = c->first; i < c->end; i++) {
        const weft__stage *s = &c->scheduler->stages[i];
        for (uint32_t k = 0; k < stage_bytes(c, i); k++) {
            const bool is_main = k >= s->item_count;
            const uint32_t first = is_main ? k - s->item_count : k;
            const weft__part part = {
                .stage = i, .first = first, .end = first + 1, .is_main = is_main};
            if (*bytes_of(c, &part) == 0) run_part(c, &part);
        }
    }
}

static void part_order_run(weft__scheduler *scheduler, uint32_t first, uint32_t end,
                           const weft__segment *segment)
{
    weft__part_order *order = order_of(scheduler);
    weft__part_list *all = &order->lists[0];
    coverage c = {scheduler, first, end, segment != NULL, NULL, 0};
    for (uint32_t i = first; i < end; i++) c.count += stage_bytes(&c, i);
    c.bytes = weft__alloc_zeroed(order->memory, WEFT__MEMORY_SYSTEMS, c.count + 1, 1, 1);
    if (c.bytes == NULL) {
        weft__scheduler_fail(scheduler, weft__error_memory(scheduler->world, "an order of parts"));
        return;
    }
    if (order->mode == WEFT__PART_DRAW) {
        order->next = all->count;
        if (segment != NULL)
            draw_segment(scheduler, segment->plan);
        else
            draw_items(scheduler, first, 0, scheduler->stages[first].item_count);
    }
    while (order->next < all->count && all->at[order->next].pass == scheduler->pass &&
           all->at[order->next].stage >= first && all->at[order->next].stage < end)
        run_part(&c, &all->at[order->next++]);
    run_rest(&c);
    weft__free(order->memory, WEFT__MEMORY_SYSTEMS, c.bytes, c.count + 1, 1, 1);
}

/* ---- begin, end ---- */

/* Parts go as they go. */
static void part_order_free(weft__scheduler *scheduler)
{
    weft__part_order *order = order_of(scheduler);
    if (order == NULL) return;
    weft__memory *memory = order->memory;
    for (uint32_t i = 0; order->lists != NULL && i < order->worker_count; i++)
        WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &order->lists[i]);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, order->lists, order->worker_count,
               sizeof *order->lists, 64);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, order, 1, sizeof *order, 64);
    scheduler->part_watch = NULL;
}

weft__part_order *weft__part_order_begin(weft__scheduler *scheduler, weft__part_mode mode,
                                         uint64_t seed, const weft__part *given, uint32_t count)
{
    part_order_free(scheduler);
    weft__memory *memory = scheduler->memory;
    weft__part_order *order =
        weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, 1, sizeof *order, 64);
    if (order == NULL) return NULL;
    *order = (weft__part_order){
        .watch = {mode != WEFT__PART_RECORD, part_order_note, part_order_run, part_order_free},
        .mode = mode,
        .random = seed,
        .memory = memory,
        .worker_count = scheduler->worker_count};
    order->lists = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, order->worker_count,
                                      sizeof *order->lists, 64);
    scheduler->part_watch = &order->watch;
    for (uint32_t i = 0; order->lists != NULL && i < count; i++)
        if (!append(order, 0, &given[i])) order->is_incomplete = true;
    if (order->lists != NULL && !order->is_incomplete) return order;
    part_order_free(scheduler);
    return NULL;
}

const weft__part *weft__part_order_end(weft__scheduler *scheduler, uint32_t *count)
{
    weft__part_order *order = order_of(scheduler);
    for (uint32_t i = 1; i < order->worker_count; i++) {
        for (uint32_t k = 0; k < order->lists[i].count; k++)
            if (!append(order, 0, &order->lists[i].at[k])) order->is_incomplete = true;
        order->lists[i].count = 0;
    }
    weft__part_list *all = &order->lists[0];
    if (order->mode == WEFT__PART_RECORD && all->count > 1)
        qsort(all->at, all->count, sizeof *all->at, compare_parts);
    *count = order->is_incomplete ? 0 : all->count;
    return all->at;
}
