/* SPDX-License-Identifier: MIT */
/* part_order.c: see part_order.h: keeping parts, running them on one thread, drawing them, files.
 *
 * A replay runs every item once, whatever a list says: what it does not name runs at the end. */
#include "part_order.h"
#include "file_replace.h"
#include "log.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

void weft__part_keep(weft__scheduler *scheduler, uint32_t worker, uint32_t stage, uint32_t item)
{
    weft__part_order *order = scheduler->part_order;
    const weft__part part = {(uint32_t)(scheduler->pass - order->before), stage, item, worker};
    if (order->mode == WEFT__PART_REPLAY) return;
    weft__lock_lock(&order->lock);
    if (!WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &order->parts, &part, 1))
        order->is_incomplete = true;
    weft__lock_unlock(&order->lock);
}

/* ---- running ---- */

/* Items of stages [first, end). Owner: weft__parts_run. */
typedef struct coverage {
    weft__scheduler *scheduler;
    weft__part_fn *run;
    uint32_t first, end;
    bool has_main;    /* main entries are among them */
    uint8_t *has_run; /* [item], stage after stage */
} coverage;

static uint32_t items_of(const coverage *c, uint32_t stage)
{
    const weft__stage *s = &c->scheduler->stages[stage];
    return s->item_count + (c->has_main ? s->main_entry_count : 0);
}

/* Of all stages before one, or of all. */
static uint32_t items_before(const coverage *c, uint32_t stage)
{
    uint32_t count = 0;
    for (uint32_t i = c->first; i < stage; i++) count += items_of(c, i);
    return count;
}

/* False: it is none of these items, or has run. */
static bool run_item(const coverage *c, uint32_t worker, uint32_t stage, uint32_t item)
{
    if (stage < c->first || stage >= c->end || item >= items_of(c, stage)) return false;
    uint8_t *has_run = &c->has_run[items_before(c, stage) + item];
    if (*has_run != 0 || worker >= c->scheduler->worker_count) return false;
    *has_run = 1;
    c->run(c->scheduler, worker, stage, item);
    return true;
}

static void replay(const coverage *c)
{
    weft__part_order *order = c->scheduler->part_order;
    const uint64_t pass = c->scheduler->pass - order->before;
    for (; order->next < order->parts.count; order->next++) {
        const weft__part *part = &order->parts.at[order->next];
        if (part->pass > pass || (part->pass == pass && part->stage >= c->end)) return;
        if (part->pass < pass || !run_item(c, part->worker, part->stage, part->item))
            order->has_differed = true;
    }
}

/* ---- drawing ---- */

/* A task whose items [first, end) have not run; those of main tasks run in order. */
typedef struct drawn_task {
    uint32_t first, end;
    uint32_t *items; /* [end]; NULL: in order */
    uint32_t waits;  /* for tasks before it */
    bool has_ended;
} drawn_task;

static uint32_t draw(const coverage *c, uint32_t below)
{
    uint64_t z = c->scheduler->part_order->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u; /* splitmix64 (Steele, Lea, Flood 2014) */
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % below);
}

/* `items`: room for those of all stages. */
static void tasks_make(const coverage *c, const weft__task_plan *plan, drawn_task *tasks,
                       uint32_t *items)
{
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const weft__task *task = &plan->tasks[i];
        const weft__stage *s = &c->scheduler->stages[task->stage];
        if (task->on_owner) {
            tasks[i].first = s->item_count + task->first_entry;
            tasks[i].end = s->item_count + task->end_entry;
            continue;
        }
        tasks[i].first = s->entries[task->first_entry].first_item;
        tasks[i].end = s->entries[task->end_entry].first_item;
        tasks[i].items = items + items_before(c, task->stage);
        for (uint32_t k = tasks[i].first; k < tasks[i].end; k++) tasks[i].items[k] = k;
    }
    for (uint32_t i = 0; i < plan->edge_count; i++) tasks[plan->edges[i][1]].waits++;
}

static void run_drawn(const coverage *c, uint32_t stage, drawn_task *task)
{
    uint32_t item = task->first++, worker = 0;
    if (task->items != NULL) {
        uint32_t *drawn = &task->items[item + draw(c, task->end - item)];
        const uint32_t other = task->items[item];
        worker = draw(c, c->scheduler->worker_count) + c->scheduler->part_order->rotated;
        worker %= c->scheduler->worker_count;
        item = *drawn;
        *drawn = other;
    }
    (void)run_item(c, worker, stage, item); /* each once */
}

static void draw_all(const coverage *c, const weft__task_plan *plan, drawn_task *tasks)
{
    for (uint32_t left = plan->task_count; left > 0;) {
        uint32_t i = draw(c, plan->task_count);
        while (tasks[i].has_ended || tasks[i].waits != 0) i = (i + 1) % plan->task_count;
        if (tasks[i].first < tasks[i].end) run_drawn(c, plan->tasks[i].stage, &tasks[i]);
        if (tasks[i].first < tasks[i].end) continue;
        tasks[i].has_ended = true;
        left--;
        for (uint32_t k = 0; k < plan->edge_count; k++)
            if (plan->edges[k][0] == i) tasks[plan->edges[k][1]].waits--;
    }
}

void weft__parts_run(weft__scheduler *scheduler, uint32_t first, uint32_t end,
                     const weft__task_plan *plan, weft__part_fn *run)
{
    coverage c = {scheduler, run, first, end, plan != NULL, NULL};
    weft__task all = {.stage = first, .end_entry = scheduler->stages[first].entry_count};
    const weft__task_plan one = {.tasks = &all, .task_count = 1};
    weft__pile pile = {.memory = scheduler->memory, .category = WEFT__MEMORY_SYSTEMS};
    const uint32_t count = items_before(&c, end);
    if (plan == NULL) plan = &one;
    c.has_run = weft__pile_take(&pile, count, 1);
    drawn_task *tasks = weft__pile_take(&pile, plan->task_count, sizeof *tasks);
    uint32_t *items = weft__pile_take(&pile, count, sizeof *items);
    if (pile.is_refused) {
        weft__scheduler_fail(scheduler, weft__error_memory(scheduler->world, "an order of slices"));
    } else if (scheduler->part_order->mode == WEFT__PART_DRAW) {
        tasks_make(&c, plan, tasks, items);
        draw_all(&c, plan, tasks);
    } else {
        replay(&c);
        for (uint32_t stage = first; stage < end; stage++)
            for (uint32_t i = 0; i < items_of(&c, stage); i++) (void)run_item(&c, 0, stage, i);
    }
    weft__pile_free(&pile);
}

/* ---- begin, end ---- */

static void order_free(weft__scheduler *scheduler)
{
    weft__part_order *order = scheduler->part_order;
    if (order != NULL) WEFT__LIST_FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, &order->parts);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, order, 1, sizeof *order, 64);
    scheduler->part_order = NULL;
}

weft__part_order *weft__part_order_begin(weft__scheduler *scheduler, weft__part_mode mode,
                                         uint64_t seed)
{
    order_free(scheduler);
    weft__part_order *order =
        weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1, sizeof *order, 64);
    if (order == NULL) {
        weft__error_memory(scheduler->world, "an order of slices");
        return NULL;
    }
    order->mode = mode;
    order->random = seed;
    order->before = scheduler->pass;
    weft__lock_init(&order->lock, weft__world_desc(scheduler->world)->os);
    return scheduler->part_order = order;
}

/* What a file begins with; its parts follow. */
typedef struct file_head {
    char magic[16];
    uint32_t workers, parts;
} file_head;

static const char file_magic[16] = "weft order 1\n";

static weft_result refuse(const weft__scheduler *scheduler, weft_result result, const char *why)
{
    return weft__error(scheduler->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "order of slices: %s", why);
}

static weft_result parts_read(weft__scheduler *scheduler, weft__file_source *source)
{
    file_head head = {.parts = 0};
    weft_result result = weft__file_read(source, &head, sizeof head, 0);
    weft__part_order *order = weft__part_order_begin(scheduler, WEFT__PART_REPLAY, 0);
    if (result != WEFT_OK) return refuse(scheduler, result, source->problem.text);
    if (memcmp(head.magic, file_magic, sizeof file_magic) != 0 ||
        source->bytes != sizeof head + head.parts * sizeof(weft__part))
        return refuse(scheduler, WEFT_CORRUPT, "the file is no whole record");
    if (head.workers != scheduler->worker_count)
        return refuse(scheduler, WEFT_INVALID_ARGUMENT, "the record is of more or fewer workers");
    if (order == NULL ||
        !WEFT__LIST_REACH(scheduler->memory, WEFT__MEMORY_SYSTEMS, &order->parts, head.parts))
        return weft__error_memory(scheduler->world, "an order of slices");
    if (head.parts == 0) return WEFT_OK;
    result = weft__file_read(source, order->parts.at, head.parts * sizeof(weft__part), sizeof head);
    return result == WEFT_OK ? WEFT_OK : refuse(scheduler, result, source->problem.text);
}

static weft_result replay_open(weft__scheduler *scheduler, const char *path)
{
    weft__file_source source;
    weft_result result = weft__file_open(weft__world_desc(scheduler->world)->os, path, &source);
    if (result != WEFT_OK) return refuse(scheduler, result, source.problem.text);
    result = parts_read(scheduler, &source);
    weft__file_close(&source);
    if (result != WEFT_OK) order_free(scheduler);
    return result;
}

weft_result weft__order_open(weft__scheduler *scheduler, const char *order)
{
    if (strncmp(order, "replay:", 7) == 0) return replay_open(scheduler, order + 7);
    const bool is_drawn = strncmp(order, "draw:", 5) == 0;
    char *end = NULL;
    const uint64_t seed = is_drawn ? strtoull(order + 5, &end, 0) : 0;
    const bool is_record = strncmp(order, "record:", 7) == 0 && order[7] != '\0';
    const bool is_rotated = is_drawn && end != order + 5 && strcmp(end, ",workers:rotate") == 0;
    if (is_drawn ? end == order + 5 || (*end != '\0' && !is_rotated) : !is_record)
        return refuse(scheduler, WEFT_INVALID_ARGUMENT,
                      "say draw:SEED or draw:SEED,workers:rotate, where SEED is a number, "
                      "record:FILE or replay:FILE");
    if (is_rotated && scheduler->worker_count == 1)
        return refuse(scheduler, WEFT_INVALID_ARGUMENT, "workers:rotate needs two workers");
    weft__part_order *begun =
        weft__part_order_begin(scheduler, is_drawn ? WEFT__PART_DRAW : WEFT__PART_RECORD, seed);
    if (begun == NULL) return WEFT_OUT_OF_MEMORY;
    begun->rotated = is_rotated ? 1 : 0;
    if (!is_drawn) snprintf(begun->path, sizeof begun->path, "%s", order + 7);
    return WEFT_OK;
}

static weft_result parts_write(const weft__scheduler *scheduler, const weft__part_order *order)
{
    file_head head = {.workers = scheduler->worker_count, .parts = order->parts.count};
    const weft__file_piece pieces[] = {{&head, sizeof head},
                                       {order->parts.at, head.parts * sizeof(weft__part)}};
    weft__file_problem problem;
    memcpy(head.magic, file_magic, sizeof file_magic);
    if (order->is_incomplete) return weft__error_memory(scheduler->world, "an order of slices");
    const weft_result result = weft__file_replace(weft__world_desc(scheduler->world)->os,
                                                  order->path, pieces, 2, &problem);
    return result == WEFT_OK ? WEFT_OK : refuse(scheduler, result, problem.text);
}

static void warn(const weft__scheduler *scheduler)
{
    weft__log(&weft__world_desc(scheduler->world)->log, WEFT_LOG_WARNING, "WEFT_ORDER: %s",
              weft__world_error_record(scheduler->world)->text);
}

weft_result weft__order_close(weft__scheduler *scheduler)
{
    const weft__part_order *order = scheduler->part_order;
    weft_result result = WEFT_OK;
    if (order != NULL && order->path[0] != '\0') result = parts_write(scheduler, order);
    if (order != NULL && order->has_differed)
        result = refuse(scheduler, WEFT_NOT_FOUND,
                        "the run had other slices than the record: repeat its input, too");
    if (result != WEFT_OK && order->is_asked) warn(scheduler);
    order_free(scheduler);
    return result;
}

void weft__order_obey(weft__scheduler *scheduler)
{
    static weft_a32 x_worlds; /* of this process that were asked for an order */
    const char *asked = secure_getenv("WEFT_ORDER");
    char order[4096];
    if (asked == NULL || asked[0] == '\0') return;
    const uint32_t number = at_add_rlx(&x_worlds, 1) + 1; /* relaxed: a number */
    const bool is_further = number > 1 && strncmp(asked, "draw:", 5) != 0;
    snprintf(order, sizeof order, is_further ? "%s.world-%u" : "%s", asked, number);
    if (weft__order_open(scheduler, order) == WEFT_OK)
        scheduler->part_order->is_asked = true;
    else
        warn(scheduler);
}
