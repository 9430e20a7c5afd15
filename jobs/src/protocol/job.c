/* SPDX-License-Identifier: MIT */
/* job.c: the protocol of job.h. Knows nothing of deques or workers: worker_job.c decides where a
 * ready job goes and who is woken. */
#include "job.h"

void weft__job_table_init(weft__job_table *table, const weft__job_arrays *arrays, uint32_t capacity,
                          uint32_t edge_capacity, uint32_t worker_count)
{
    *table = (weft__job_table){.jobs = arrays->jobs,
                               .edges = arrays->edges,
                               .capacity = capacity,
                               .edge_capacity = edge_capacity,
                               .worker_count = worker_count};
    weft__slots_init(&table->slots, arrays->slot_links, capacity);
    weft__slots_init(&table->edge_slots, arrays->edge_links, edge_capacity);
}

weft__attach weft__job_attach(weft__job_table *table, weft_job_handle handle, uint32_t edge)
{
    if (!weft__job_is_valid(table, handle)) return WEFT__ATTACH_INVALID;
    if (handle.generation == 0) return WEFT__ATTACH_ENDED;
    weft_a64 *list = &table->jobs[handle.index].x_list;
    uint64_t old = at_load_acq(list); /* J2 */
    for (;;) {
        bool is_closed = (uint32_t)old == WEFT__JOB_LIST_CLOSED;
        if ((uint32_t)(old >> 32) != handle.generation || is_closed) return WEFT__ATTACH_ENDED;
        table->edges[edge].next = (uint32_t)old;
        if (at_cas_ar(list, &old, weft__job_word(handle.generation, edge)))
            return WEFT__ATTACHED; /* J3 */
        at_stall();
    }
}

void weft__job_mark(weft__job *job, uint32_t flag)
{
    at_or_ar(&job->x_state, (uint64_t)flag); /* J5: any order; J2 publishes, flags carry no data */
}

uint32_t weft__job_order_edges(weft__job_table *table, uint32_t edge)
{
    uint32_t first = WEFT__JOB_LIST_EMPTY;
    while (edge != WEFT__JOB_LIST_EMPTY) { /* youngest first: turn it round */
        uint32_t next = table->edges[edge].next;
        table->edges[edge].next = first;
        first = edge;
        edge = next;
    }
    return first;
}

static uint32_t flags_of(const weft__job_table *table, weft_job_handle handle)
{
    if (handle.generation == 0) return 0;
    /* here and below any order would do: flags carry no data, and a stale state fails the CAS */
    uint64_t state = at_load_acq(&table->jobs[handle.index].x_state); /* J5 */
    return (uint32_t)(state >> 32) == handle.generation ? (uint32_t)state : 0;
}

bool weft__job_has_failed(const weft__job_table *table, weft_job_handle handle)
{
    return (flags_of(table, handle) & WEFT__JOB_KEPT) != 0;
}

bool weft__job_flag(weft__job_table *table, weft_job_handle handle, uint32_t flag)
{
    if (weft__job_is_done(table, handle)) return false;
    weft_a64 *word_of = &table->jobs[handle.index].x_state;
    uint64_t state = at_load_acq(word_of); /* J5 */
    while ((uint32_t)(state >> 32) == handle.generation) {
        if (at_cas_ar(word_of, &state, state | flag)) return true; /* J5 */
        at_stall();
    }
    return false;
}

weft_result weft__job_collect(weft__job_table *table, weft_job_handle handle, int *code,
                              bool *is_recyclable)
{
    *is_recyclable = false;
    if (handle.generation == 0) return WEFT_OK;
    weft__job *job = &table->jobs[handle.index];
    uint64_t state = at_load_acq(&job->x_state); /* J5 */
    for (;;) {
        bool is_kept =
            (uint32_t)(state >> 32) == handle.generation && (state & WEFT__JOB_KEPT) != 0;
        if (!is_kept) return WEFT_OK; /* it succeeded, or its error was collected before */
        uint32_t own_code = at_load_rlx(&job->x_code); /* relaxed: counts only if the CAS wins */
        /* any order would do: who asks has seen the end by an acquire of x_list (J2) */
        if (at_cas_ar(&job->x_state, &state, state & ~(uint64_t)WEFT__JOB_KEPT)) { /* J5 */
            *is_recyclable = true;
            if (code != NULL) *code = (int)own_code;
            return (state & WEFT__JOB_SKIPPED) != 0 ? WEFT_CANCELLED : WEFT_JOB_FAILED;
        }
        at_stall();
    }
}
