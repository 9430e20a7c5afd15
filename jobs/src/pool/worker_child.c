/* SPDX-License-Identifier: MIT */
/* worker_child.c: structured children on workers: starting, joining, and helping while waiting. The
 * protocol is in child.h. */
#include "worker_child.h"
#include "label.h"
#include "park.h"

#define OVERFLOW_SKIP 32u /* children run in place between two looks for room */

/* Keeps the error of the child that was started first. */
static void note_error(weft__first_error *error, int code, uint64_t index)
{
    if (code == 0 || (error->code != 0 && index >= error->index)) return;
    *error = (weft__first_error){code, index};
}

/* Runs in place a child for which there is no room. */
static void run_in_place(weft_job_context *worker, weft_job_fn fn, void *argument)
{
    weft__stat_add(&worker->stats.x_children_inlined, 1);
    int code = weft__worker_call_nested(worker, fn, argument);
    if (worker->error.code == 0) worker->error = (weft__first_error){code, worker->children.bottom};
}

static __attribute__((noinline)) void start_without_room(weft_job_context *worker, weft_job_fn fn,
                                                         void *argument)
{
    if (worker->overflow_skip != 0) {
        worker->overflow_skip--;
        run_in_place(worker, fn, argument);
        return;
    }
    worker->overflow_skip = OVERFLOW_SKIP;
    bool has_room = weft__child_make_room(&worker->children) &&
                    weft__child_push_owner(&worker->children, fn, argument, worker->job);
    if (has_room)
        weft__worker_notify(worker);
    else
        run_in_place(worker, fn, argument);
}

void weft_job_child(weft_job_context *worker, weft_job_fn fn, void *argument)
{
    if (__builtin_expect(worker == NULL || fn == NULL, 0)) return;
    weft__stat_add(&worker->stats.x_children, 1);
    if (!weft__child_push_owner(&worker->children, fn, argument, worker->job)) {
        start_without_room(worker, fn, argument);
        return;
    }
    /* A release store published the child, so this look may miss a worker that falls asleep right
     * now. No child is lost by it: the parent runs it, and looks again after pop's exchange. */
    weft__worker_notify(worker);
}

int weft__worker_call_nested(weft_job_context *context, weft_job_fn fn, void *argument)
{
    context->depth++;
    int code = weft__worker_call(context, fn, argument);
    context->depth--;
    return code;
}

int weft__worker_call_labelled(weft_job_context *context, const weft__label *label, weft_job_fn fn,
                               void *argument)
{
    bool is_shown = weft__label_show(context, label);
    int code = weft__worker_call_nested(context, fn, argument);
    if (is_shown) weft__label_hide(context);
    return code;
}

void weft__worker_run_taken(weft_job_context *worker, weft__child *child, uint32_t victim)
{
    uint32_t job = weft__worker_begin_piece(worker, child->job);
    worker->depth++;
    weft__stat_add(&worker->stats.x_stolen, 1);
    weft__note(worker, WEFT_JOB_EVENT_STEAL, NULL, victim);
    const weft__label *label = weft__label_of(&worker->pool->workers[victim]);
    weft__labelled piece;
    if (label != NULL) weft__label_begin(worker, &piece, label);
    weft__note(worker, WEFT_JOB_EVENT_BEGIN, NULL, victim);
    int code = weft__worker_call(worker, child->fn, child->argument);
    weft__note(worker, WEFT_JOB_EVENT_END, NULL, victim);
    if (label != NULL) weft__label_end(worker, &piece);
    worker->depth--;
    weft__worker_end_piece(worker, job);
    if (weft__child_finish(child, code))
        weft__wake_token_set(&worker->pool->wake, worker->pool->workers[victim].token);
}

/* Helps the thief of `child`: takes a descendant of it and runs it. */
static bool help(weft_job_context *worker, weft__child *child)
{
    /* names a worker, whose stack is constant memory: any order would do */
    uint32_t thief = at_load_acq(&child->x_thief); /* C6 */
    if (thief == WEFT__CHILD_NO_THIEF) return false;
    weft__child *descendant;
    weft__child_stack *stack = &worker->pool->workers[thief].children;
    if (weft__child_steal_any(stack, child, worker->head.index, &descendant) != WEFT__STEAL_GOT)
        return false;
    weft__worker_run_taken(worker, descendant, thief);
    return true;
}

/* Whether a taken child has been joined. Helping may start children of its own, and make room for
 * them by passing over children that are done: those are joined, and their slots may be in use
 * again. */
static bool is_joined(const weft__child_stack *stack, uint64_t index)
{
    return index < stack->floor ||
           at_load_acq(&weft__child_at(stack, index)->x_state) == WEFT__CHILD_DONE; /* C4 */
}

/* Waits until a taken child is done: helps, spins, then sleeps. */
static void await_taken(weft_job_context *worker, uint64_t index)
{
    weft__child_stack *stack = &worker->children;
    weft__child *child = weft__child_at(stack, index);
    weft__spin spin = {0};
    while (!is_joined(stack, index)) {
        if (help(worker, child)) {
            spin = (weft__spin){0};
            continue;
        }
        if (weft__worker_spin(worker, &spin)) continue;
        uint32_t state = WEFT__CHILD_READY;
        /* any order would do: one word decides between this and finish, and is_joined acquires */
        if (!at_cas_ar(&child->x_state, &state, (uint32_t)WEFT__CHILD_WAITED)) continue; /* C5 */
        weft__worker_await_token(worker);
    }
}

/* Waits for every child of the frame; all of them are taken. */
static void join_taken(weft_job_context *worker, weft__first_error *error)
{
    weft__child_stack *stack = &worker->children;
    for (uint64_t i = stack->bottom; i > worker->frame_base && i > stack->floor;) {
        if (i == stack->joined_high && stack->joined_low < i) { /* joined by a frame above ours */
            i = stack->joined_low;
            continue;
        }
        await_taken(worker, --i);
        if (i < stack->floor) break; /* passed over: done, without an error */
        weft__child *child = weft__child_at(stack, i);
        note_error(error, child->code, i);
        child->code = 0; /* a frame below must not see it again */
    }
    stack->joined_low = worker->frame_base;
    stack->joined_high = stack->bottom;
    if (stack->floor >= worker->frame_base) stack->floor = stack->bottom;
    worker->frame_base = stack->bottom;
}

int weft_job_children_wait(weft_job_context *worker)
{
    if (__builtin_expect(worker == NULL, 0)) return 0;
    weft__child_stack *stack = &worker->children;
    weft__first_error error = worker->error;
    worker->error.code = 0;
    while (stack->bottom != worker->frame_base) {
        weft__child_pop popped = weft__child_pop_owner(stack);
        if (popped == WEFT__CHILD_TAKEN) {
            join_taken(worker, &error);
            break;
        }
        /* pop moved bottom to the child, or left it behind the child when it was the last */
        uint64_t index = stack->bottom - (popped == WEFT__CHILD_POPPED_LAST);
        weft__child *child = weft__child_at(stack, index);
        weft_job_fn fn = child->fn;
        void *argument = child->argument;
        if (popped == WEFT__CHILD_POPPED_LAST)
            at_store_rlx(&child->x_state, (uint32_t)WEFT__CHILD_DONE); /* relaxed: owner only */
        else
            weft__worker_notify(worker); /* older ones are left: C2 was a full exchange */
        worker->depth++;
        int code = weft__worker_call(worker, fn, argument);
        worker->depth--;
        note_error(&error, code, index);
    }
    return error.code;
}
