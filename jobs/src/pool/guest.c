/* SPDX-License-Identifier: MIT */
/* guest.c: entering and leaving of guests: numbers from a bitmap, the contexts behind them,
 * which are made when a number is used for the first time, with a ring of events where there are
 * some. Loops and children know nothing of it but the job WEFT__JOB_HOSTED. The protocol is in
 * guest.h. */
#include "bits.h"
#include "pool_state.h"

#include <string.h>

/* A guest with what a worker has in arrays of the pool. Owner: who holds its number. */
typedef struct guest {
    weft_job_context context;
    weft__wake_token token;
    /* in a pool that is traced */
    weft_a32 x_thread; /* the system's number of the first thread that had it; others look for it */
    char thread_name[WEFT__OS_THREAD_NAME]; /* its */
    bool has_several;                       /* threads had it */
    _Alignas(64) weft__child children[WEFT__GUEST_CHILDREN];
} guest;

/* A free number, taken; UINT32_MAX: all are in use. */
static uint32_t take_number(weft__guests *guests)
{
    for (uint32_t word = 0; word < WEFT__GUEST_WORDS; word++) {
        uint32_t left = WEFT__GUESTS_MAX - word * 64;
        uint64_t all = bits_mask(left < 64 ? left : 64);
        /* relaxed: a hint; the or decides */
        uint64_t vacant = all & ~at_load_rlx(&guests->x_inside[word]);
        while (vacant != 0) {
            uint64_t bit = vacant & (0 - vacant);
            uint64_t before = at_or_ar(&guests->x_inside[word], bit); /* H1 */
            if ((before & bit) == 0) return word * 64 + bits_lowest(bit);
            vacant = all & ~before;
        }
    }
    return UINT32_MAX;
}

/* For a thread of a traced pool: the number that it had before, else one that is new, else any. */
static uint32_t take_own_number(weft__guests *guests, uint32_t thread)
{
    for (uint32_t i = 0; i < WEFT__GUESTS_MAX; i++) {
        guest *made = at_load_acq(&guests->x_guests[i]); /* H2 */
        /* relaxed: hints; the or decides */
        if (made != NULL && at_load_rlx(&made->x_thread) != thread) continue;
        uint64_t bit = UINT64_C(1) << (i % 64);
        if ((at_or_ar(&guests->x_inside[i / 64], bit) & bit) == 0) return i; /* H1 */
    }
    return take_number(guests);
}

static void note_thread(guest *self, uint32_t thread)
{
    uint32_t first = at_load_rlx(&self->x_thread); /* relaxed: H1 made it visible */
    if (first != 0) {
        self->has_several = self->has_several || first != thread;
        return;
    }
    weft__os_thread_name(self->thread_name);
    at_store_rlx(&self->x_thread, thread); /* relaxed: for others a hint */
}

uint32_t weft__guest_thread(const weft_job_pool *pool, uint32_t number, char name[16])
{
    const guest *self = at_plain(&pool->guests.x_guests[number]);
    bool is_known = self != NULL && !self->has_several;
    memcpy(name, is_known ? self->thread_name : "", is_known ? sizeof self->thread_name : 1);
    return is_known ? at_plain(&self->x_thread) : 0;
}

static void give_number(weft__guests *guests, uint32_t number)
{
    at_and_ar(&guests->x_inside[number / 64], ~(UINT64_C(1) << (number % 64))); /* H1, H4 */
}

static guest *make(weft_job_pool *pool, uint32_t number)
{
    guest *made = WEFT__NEW_ZEROED(&pool->memory, WEFT__MEMORY_JOBS, 1, *made);
    if (made == NULL) return NULL;
    weft_job_context *context = &made->context;
    context->pool = pool;
    context->alive = pool->alive;
    context->jobs = pool->table.jobs;
    context->small_ticks = pool->workers[0].small_ticks;
    context->guest = number + 1;
    context->job = WEFT__JOB_HOSTED;
    context->next_job = WEFT__JOB_NONE;
    context->token = &made->token;
    weft__child_init(&context->children, made->children, WEFT__GUEST_CHILDREN, true);
    context->frame_base = context->children.bottom;
    at_init(&context->x_label, NULL);
    at_init(&made->x_thread, 0);
    uint32_t events = weft__trace_capacity(&pool->workers[0].trace);
    context->head.is_observed = events != 0;
    if (events > WEFT__GUEST_EVENTS) events = WEFT__GUEST_EVENTS;
    if (weft__trace_file_ring(pool->trace_file, pool->worker_count + number, &pool->memory, events,
                              &context->trace) != WEFT_OK) {
        WEFT__FREE(&pool->memory, WEFT__MEMORY_JOBS, made, 1);
        return NULL;
    }
    at_store_rel(&pool->guests.x_guests[number], (void *)made); /* H2 */
    return made;
}

weft_job_context *weft__guest_at(const weft_job_pool *pool, uint32_t number)
{
    guest *found = at_load_acq(&pool->guests.x_guests[number]); /* H2 */
    return found != NULL ? &found->context : NULL;
}

weft_result weft_job_pool_enter(weft_job_pool *pool, weft_job_context **out)
{
    if (out != NULL) *out = NULL;
    if (pool == NULL || out == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__pool_is_forked(pool)) return WEFT_FORKED;
    weft_job_context *owner = &pool->workers[0];
    if (owner->head.thread == weft__thread_self() && owner->depth == 0) {
        weft__zones_to(owner);
        *out = owner;
        return WEFT_OK;
    }
    bool is_traced = weft__trace_capacity(&pool->workers[0].trace) != 0;
    uint32_t thread = is_traced ? weft__os_thread_number() : 0;
    uint32_t number =
        is_traced ? take_own_number(&pool->guests, thread) : take_number(&pool->guests);
    if (number == UINT32_MAX) return WEFT_LIMIT;
    weft_job_context *context = weft__guest_at(pool, number);
    if (context == NULL) {
        guest *made = make(pool, number);
        if (made == NULL) {
            give_number(&pool->guests, number);
            return WEFT_OUT_OF_MEMORY;
        }
        context = &made->context;
    }
    if (is_traced) note_thread(at_load_acq(&pool->guests.x_guests[number]), thread); /* H2 */
    weft__zones_to(context);
    *out = context;
    return WEFT_OK;
}

weft_result weft_job_pool_leave(weft_job_context *context)
{
    if (context == NULL) return WEFT_INVALID_ARGUMENT;
    if (context->depth != 0) return WEFT_WRONG_PHASE;
    weft__zones_to(NULL);
    if (context->guest == 0) return WEFT_OK; /* the owner's */
    weft_job_children_wait(context);
    give_number(&context->pool->guests, context->guest - 1);
    return WEFT_OK;
}

bool weft__guests_are_inside(weft_job_pool *pool)
{
    uint64_t inside = 0;
    for (uint32_t word = 0; word < WEFT__GUEST_WORDS; word++)
        inside |= at_load_acq(&pool->guests.x_inside[word]); /* H4 */
    return inside != 0;
}

void weft__guests_free(weft_job_pool *pool)
{
    for (uint32_t i = 0; i < WEFT__GUESTS_MAX; i++) {
        guest *old = at_plain(&pool->guests.x_guests[i]);
        if (old != NULL) weft__trace_fini(&old->context.trace, &pool->memory, pool->os);
        WEFT__FREE(&pool->memory, WEFT__MEMORY_JOBS, old, 1);
    }
}
