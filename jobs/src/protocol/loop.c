/* SPDX-License-Identifier: MIT */
/* loop.c: the loop table of loop.h: entries, ranges, joining and leaving. Knows nothing of workers
 * beyond their numbers; worker_loop.c runs the parts. */
#include "loop.h"
#include "bits.h"
#include "invariant.h"

#define NO_ERROR UINT64_MAX
#define LEAVE_SPINS 200u
#define SPREAD_WORKERS 16u

static uint64_t pack(uint32_t begin, uint32_t end)
{
    return (uint64_t)end << 32 | begin;
}

weft_result weft__loop_table_init(weft__loop_table *table, weft__memory *memory,
                                  uint32_t worker_count)
{
    *table = (weft__loop_table){.worker_count = worker_count};
    table->loops = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_JOBS, WEFT__LOOPS_MAX, *table->loops);
    table->ranges = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_JOBS,
                                     (size_t)WEFT__LOOPS_MAX * worker_count, *table->ranges);
    if (table->loops == NULL || table->ranges == NULL) {
        weft__loop_table_fini(table, memory);
        return WEFT_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < WEFT__LOOPS_MAX; i++) {
        table->loops[i].ranges = table->ranges + (size_t)i * worker_count;
        table->loops[i].worker_count = worker_count;
        at_init(&table->loops[i].x_ctl, WEFT__LOOP_CLOSED);
    }
    at_init(&table->x_free, bits_mask(WEFT__LOOPS_MAX));
    return WEFT_OK;
}

void weft__loop_table_fini(weft__loop_table *table, weft__memory *memory)
{
    WEFT__FREE(memory, WEFT__MEMORY_JOBS, table->loops, WEFT__LOOPS_MAX);
    WEFT__FREE(memory, WEFT__MEMORY_JOBS, table->ranges,
               (size_t)WEFT__LOOPS_MAX * table->worker_count);
    *table = (weft__loop_table){0};
}

static uint64_t bit_of(const weft__loop_table *table, const weft__loop *loop)
{
    return UINT64_C(1) << (uint32_t)(loop - table->loops);
}

weft__loop *weft__loop_acquire(weft__loop_table *table)
{
    /* the load and the CAS each acquire what L7 needs: one would do, but a CAS that fails loads
     * again */
    uint64_t vacant = at_load_acq(&table->x_free); /* L7 */
    while (vacant != 0) {
        uint32_t index = bits_lowest(vacant);
        if (at_cas_ar(&table->x_free, &vacant, vacant & (vacant - 1))) /* L7 */
            return &table->loops[index];
        at_stall();
    }
    return NULL;
}

static void publish(weft__loop_table *table, weft__loop *loop, uint64_t left)
{
    at_store_rlx(&loop->x_left, left);        /* relaxed: published by L1 */
    at_store_rlx(&loop->x_busy, (uint64_t)0); /* relaxed: published by L1 */
    at_store_rlx(&loop->x_error, NO_ERROR);   /* relaxed: published by L1 */
    at_store_rlx(&loop->x_stop, 0u);          /* relaxed: published by L1 */
    uint32_t hosted = loop->is_hosted ? WEFT__LOOP_HOSTED : 0;
    at_store_rel(&loop->x_ctl, loop->limit << WEFT__LOOP_LIMIT_SHIFT | hosted); /* L1 */
    /* sc, so that no worker sleeps while there is room; a miss would cost a helper, not an item:
     * the opener runs what no worker takes, and x_ctl carries the data (L1) */
    at_or_sc(&table->x_open[loop->class_], bit_of(table, loop)); /* L2 */
}

void weft__loop_open(weft__loop_table *table, weft__loop *loop, uint32_t begin, uint32_t end)
{
    WEFT_ASSERT(begin < end && loop->grain > 0 && loop->limit < table->worker_count);
    uint64_t count = end - begin, parts = loop->limit + 1u;
    for (uint64_t i = 0; i < table->worker_count; i++) {
        uint32_t worker = (uint32_t)((loop->opener + i) % table->worker_count);
        uint64_t items = 0;
        if (i < parts)
            items = pack(begin + (uint32_t)(count * i / parts),
                         begin + (uint32_t)(count * (i + 1) / parts));
        at_store_rlx(&loop->ranges[worker].x_items, items); /* relaxed: published by L1 */
    }
    publish(table, loop, count);
}

void weft__loop_open_graph(weft__loop_table *table, weft__loop *loop, uint32_t left)
{
    WEFT_ASSERT(loop->graph != NULL && left > 0);
    publish(table, loop, left);
}

void weft__loop_show(weft__loop_table *table, weft__loop *loop)
{
    uint64_t bit = bit_of(table, loop);
    if ((at_load_sc(&table->x_open[loop->class_]) & bit) != 0) return; /* L2 */
    at_or_sc(&table->x_open[loop->class_], bit);                       /* L2 */
}

void weft__loop_hide(weft__loop_table *table, weft__loop *loop)
{
    uint64_t bit = bit_of(table, loop);
    /* relaxed: only a hint; joining an empty entry does no harm */
    if ((at_load_rlx(&table->x_open[loop->class_]) & bit) == 0) return;
    at_and_sc(&table->x_open[loop->class_], ~bit); /* L2: any order, hiding is a hint */
}

static void recycle(weft__loop_table *table, weft__loop *loop)
{
    at_or_ar(&table->x_free, bit_of(table, loop)); /* L7 */
}

void weft__loop_close(weft__loop_table *table, weft__loop *loop)
{
    weft__loop_hide(table, loop);
    uint32_t old = at_or_ar(&loop->x_ctl, WEFT__LOOP_CLOSED); /* L6 */
    WEFT_ASSERT((old & WEFT__LOOP_CLOSED) == 0);
    if ((old & WEFT__LOOP_INSIDE) == 0) recycle(table, loop);
}

void weft__loop_close_sync(weft__loop_table *table, weft__loop *loop, const weft_os *os)
{
    weft__loop_hide(table, loop);
    uint32_t ctl = at_or_ar(&loop->x_ctl, WEFT__LOOP_CLOSED) | WEFT__LOOP_CLOSED; /* L6, L8 */
    for (uint32_t spins = 0; (ctl & WEFT__LOOP_INSIDE) != 0; spins++) {
        if (spins < LEAVE_SPINS)
            at_stall();
        else
            os->futex_wait(os->user, &loop->x_ctl, ctl);
        ctl = at_load_acq(&loop->x_ctl); /* L6, L8 */
    }
    recycle(table, loop);
}

void weft__loop_leave(weft__loop_table *table, weft__loop *loop, const weft_os *os)
{
    bool is_sync = loop->graph != NULL;
    uint32_t old = at_sub_ar(&loop->x_ctl, 1u); /* L6, L8 */
    WEFT_ASSERT((old & WEFT__LOOP_INSIDE) != 0);
    if ((old & WEFT__LOOP_CLOSED) == 0 || (old & WEFT__LOOP_INSIDE) != 1) return;
    if (is_sync)
        os->futex_wake(os->user, &loop->x_ctl, 1); /* the entry may be in use again: harmless */
    else
        recycle(table, loop);
}

static bool has_room(uint32_t ctl, uint32_t worker)
{
    uint32_t refused = worker == 0 ? WEFT__LOOP_CLOSED | WEFT__LOOP_HOSTED : WEFT__LOOP_CLOSED;
    return (ctl & refused) == 0 &&
           (ctl & WEFT__LOOP_INSIDE) < (ctl >> WEFT__LOOP_LIMIT_SHIFT & WEFT__LOOP_LIMIT);
}

/* A lost race for the entry: few workers try again at once; of many, each attempt takes the word
 * from all others, so they spread out (64 workers, slices of 2 us, simulated: 57 instead of 48 of
 * 64). */
static uint32_t back_off(uint32_t pauses, uint32_t worker_count)
{
    uint32_t least = worker_count / 4, most = 4 * worker_count;
    pauses = worker_count < SPREAD_WORKERS ? 1 : pauses == 0 ? least : 2 * pauses;
    if (pauses > most) pauses = most;
    for (uint32_t i = 0; i < pauses; i++) at_stall();
    return pauses;
}

weft__loop *weft__loop_join(weft__loop_table *table, weft_job_class class_, uint32_t worker)
{
    uint32_t pauses = 0;
    /* relaxed: a hint; the CAS below decides */
    uint64_t open = at_load_rlx(&table->x_open[class_]);
    for (; open != 0; open &= open - 1) {
        weft__loop *loop = &table->loops[bits_lowest(open)];
        uint32_t ctl = at_load_acq(&loop->x_ctl); /* L1: any order, the CAS that joins acquires */
        while (has_room(ctl, worker)) {
            if (at_cas_ar(&loop->x_ctl, &ctl, ctl + 1)) return loop; /* L1 */
            pauses = back_off(pauses, table->worker_count);
            ctl = at_load_rlx(&loop->x_ctl); /* relaxed: the CAS that joins acquires */
        }
    }
    return NULL;
}

bool weft__loop_has_room(weft__loop_table *table, weft_job_class class_, uint32_t worker)
{
    uint64_t open = at_load_sc(&table->x_open[class_]); /* L2, H3 */
    for (; open != 0; open &= open - 1) {
        weft__loop *loop = &table->loops[bits_lowest(open)];
        if (has_room(at_load_acq(&loop->x_ctl), worker)) return true; /* L1 */
    }
    return false;
}

bool weft__loop_claim(weft__loop *loop, uint32_t worker, uint32_t wanted, uint32_t *begin,
                      uint32_t *end)
{
    weft_a64 *range = &loop->ranges[worker].x_items;
    /* here and below any order would do: the word says all there is to know about its items, and L1
     * and L4 carry the data */
    uint64_t items = at_load_acq(range); /* L3 */
    for (;;) {
        uint32_t first = (uint32_t)items, last = (uint32_t)(items >> 32);
        if (first >= last) return false;
        uint32_t left = last - first, share = left / WEFT__LOOP_SHARE;
        uint32_t taken = share > wanted ? share : left < wanted ? left : wanted;
        if (at_cas_ar(range, &items, pack(first + taken, last))) { /* L3 */
            *begin = first;
            *end = first + taken;
            return true;
        }
        at_stall();
    }
}

/* Takes the upper half, or all of a single part, out of a victim's range; false when empty. */
static bool split_range(weft__loop *loop, uint32_t victim, uint64_t *stolen)
{
    weft_a64 *range = &loop->ranges[victim].x_items;
    uint64_t items = at_load_acq(range); /* L3 */
    for (;;) {
        uint32_t first = (uint32_t)items, last = (uint32_t)(items >> 32);
        if (first >= last) return false;
        uint32_t count = last - first;
        uint32_t kept = count > loop->grain ? count / 2 : 0;
        if (at_cas_ar(range, &items, pack(first, first + kept))) { /* L3 */
            *stolen = pack(first + kept, last);
            return true;
        }
        at_stall();
    }
}

uint32_t weft__loop_steal(weft__loop *loop, uint32_t worker)
{
    for (uint32_t i = 1; i < loop->worker_count; i++) {
        uint32_t victim = (worker + i) % loop->worker_count;
        uint64_t stolen;
        if (!split_range(loop, victim, &stolen)) continue;
        /* ours was empty: no CAS on it; any order would do, as in claim */
        at_store_rel(&loop->ranges[worker].x_items, stolen); /* L3 */
        return victim;
    }
    return UINT32_MAX;
}

void weft__loop_fail(weft__loop *loop, uint32_t begin, int code)
{
    uint64_t mine = (uint64_t)begin << 32 | (uint32_t)code;
    /* any order would do: only compared here; x_left (L4) makes it visible to the opener */
    uint64_t error = at_load_acq(&loop->x_error); /* L4 */
    while (error == NO_ERROR || begin < (uint32_t)(error >> 32)) {
        if (at_cas_ar(&loop->x_error, &error, mine)) break; /* L4 */
        at_stall();
    }
}

bool weft__loop_finish(weft__loop *loop, uint32_t count)
{
    if (count == 0) return false;
    bool is_served = loop->is_served; /* the entry may belong to another loop after the sub */
    if (is_served) return at_sub_sc(&loop->x_left, (uint64_t)count) == count; /* L4, G6 */
    uint64_t old = at_sub_ar(&loop->x_left, (uint64_t)count);                 /* L4, L5 */
    WEFT_ASSERT((old & ~WEFT__LOOP_WAITING) >= count);
    return old == (WEFT__LOOP_WAITING | count);
}

bool weft__loop_is_finished(weft__loop *loop)
{
    return (at_load_acq(&loop->x_left) & ~WEFT__LOOP_WAITING) == 0; /* L4 */
}

bool weft__loop_is_finished_sc(weft__loop *loop)
{
    return at_load_sc(&loop->x_left) == 0; /* L4, G6 */
}

bool weft__loop_announce_wait(weft__loop *loop)
{
    /* sc for graphs, whose opener looks for ready nodes next (G4). L5 needs no order: the opener
     * goes on through is_finished, which acquires */
    return (at_or_sc(&loop->x_left, WEFT__LOOP_WAITING) & ~WEFT__LOOP_WAITING) != 0; /* L5 */
}

bool weft__loop_retract_wait(weft__loop *loop)
{
    return (at_and_ar(&loop->x_left, ~WEFT__LOOP_WAITING) & WEFT__LOOP_WAITING) != 0; /* L5 */
}
