/* SPDX-License-Identifier: MIT */
/* label.c: pieces of labelled bodies on other workers. Bodies without a label, which is nearly all
 * there are, never come here. The rules are in label.h. */
#include "label.h"

static uint64_t now_ns(const weft_job_context *worker)
{
    const weft__ticks *ticks = &worker->pool->ticks;
    return weft__ticks_moment_ns(ticks, weft__ticks_now(ticks));
}

bool weft__label_show(weft_job_context *context, const weft__label *label)
{
    const weft__child_stack *stack = &context->children;
    if (weft__label_of(context) != NULL || stack->floor != stack->bottom) return false;
    at_store_rlx(&context->x_label,
                 (void *)(uintptr_t)label); /* relaxed: by the push that follows */
    return true;
}

void weft__label_hide(weft_job_context *context)
{
    at_store_rlx(&context->x_label, (void *)NULL); /* relaxed: after the joins */
}

void weft__label_begin(weft_job_context *worker, weft__labelled *piece, const weft__label *label)
{
    piece->label = label;
    piece->is_shown = weft__label_show(worker, label);
    piece->begun = label->took != NULL ? now_ns(worker) : 0;
    weft__note(worker, WEFT_JOB_EVENT_SPAN_BEGIN, label->name, UINT32_MAX);
    weft__fire_piece(worker->head.index, label->name, true);
    weft__running_begin(&piece->running, label->name);
}

void weft__label_end(weft_job_context *worker, weft__labelled *piece)
{
    const weft__label *label = piece->label;
    weft__running_end(&piece->running);
    weft__fire_piece(worker->head.index, label->name, false);
    weft__note(worker, WEFT_JOB_EVENT_SPAN_END, label->name, 0);
    if (label->took != NULL)
        label->took(label->user, worker->head.index, now_ns(worker) - piece->begun);
    if (piece->is_shown) weft__label_hide(worker);
}
