/* SPDX-License-Identifier: MIT */
/* trace_nest.c: one stack of open spans per worker (trace_nest.h).
 */
#include "trace_nest.h"

static bool is_same_span(const weft__trace_record *begin, const weft__trace_record *end)
{
    return begin->kind + 1 == end->kind && begin->name == end->name;
}

static void pass(weft__trace_nest *nest, const weft__trace_record *record)
{
    nest->format->event(nest->out, nest->info, record);
}

/* A span for each share, by its part of the time of `span`. */
static void draw_shares(weft__trace_nest *nest, const weft__trace_stack *stack,
                        const weft__trace_record *span, uint64_t end_ns)
{
    uint64_t whole = 0, passed = 0;
    double length = (double)(end_ns - span->time_ns);
    for (uint32_t i = 0; i < stack->share_count; i++) whole += stack->shares[i].value;
    for (uint32_t i = 0; i < stack->share_count && whole > 0; i++) {
        weft__trace_record begin = *span, end = *span;
        begin.name = end.name = stack->shares[i].name;
        begin.time_ns += (uint64_t)(length * (double)passed / (double)whole);
        passed += stack->shares[i].value;
        end.time_ns += (uint64_t)(length * (double)passed / (double)whole);
        end.kind++; /* each end follows its begin in weft_job_event_kind */
        pass(nest, &begin);
        pass(nest, &end);
    }
}

static void end_span(weft__trace_nest *nest, weft__trace_stack *stack, uint64_t time_ns)
{
    const weft__trace_record begin = stack->open[--stack->depth];
    weft__trace_record end = begin;
    end.kind++; /* as above */
    end.time_ns = time_ns;
    if (stack->is_leaf) draw_shares(nest, stack, &begin, time_ns);
    stack->is_leaf = false;
    stack->share_count = 0;
    pass(nest, &end);
}

static void begin_span(weft__trace_nest *nest, weft__trace_stack *stack,
                       const weft__trace_record *record)
{
    if (stack->depth == WEFT__NESTING_MAX) return;
    stack->open[stack->depth++] = *record;
    stack->is_leaf = true;
    stack->share_count = 0;
    pass(nest, record);
}

void weft__trace_nest_take(void *user, const weft__trace_record *record)
{
    weft__trace_nest *nest = user;
    weft__trace_stack *stack = &nest->stacks[record->worker];
    uint32_t depth = stack->depth;
    stack->last_ns = record->time_ns;
    switch (weft__trace_kind_of(record)->shape) {
    case WEFT__TRACE_BEGIN:
        begin_span(nest, stack, record);
        break;
    case WEFT__TRACE_END:
        while (depth > 0 && !is_same_span(&stack->open[depth - 1], record)) depth--;
        while (depth > 0 && stack->depth >= depth) end_span(nest, stack, record->time_ns);
        break;
    case WEFT__TRACE_SHARE:
        if (depth > 0 && stack->share_count < WEFT__SHARES_MAX)
            stack->shares[stack->share_count++] = *record;
        break;
    case WEFT__TRACE_INSTANT:
    case WEFT__TRACE_VALUE:
        pass(nest, record);
        break;
    }
}

void weft__trace_nest_end(weft__trace_nest *nest)
{
    for (uint32_t i = 0; i < nest->info->row_count; i++) {
        weft__trace_stack *stack = &nest->stacks[i];
        while (stack->depth > 0) end_span(nest, stack, stack->last_ns);
    }
}
