/* SPDX-License-Identifier: MIT */
/* explore_history.c: is a history of concurrent operations linearisable? Depth-first search over
 * the orders that respect real time (J. Wing and C. Gong, 1993), with the states already refuted
 * remembered (G. Lowe, 2017). Histories are short (24 operations), so a set of done operations is
 * a bit mask, and the memo is keyed by mask and state. An operation that never ended may or may not
 * have taken effect. */
#include "explore_engine.h"

#include <string.h>

#define MEMO 128u

typedef struct search {
    const explore_history *history;
    explore_apply_fn apply;
    size_t bytes;
    uint64_t memo[MEMO]; /* hashes of refuted (mask, state) pairs; 0 = empty */
} search;

void explore_history_init(explore_history *history)
{
    history->count = 0;
    history->clock = 0;
}

uint32_t explore_history_begin(explore_history *history, uint32_t kind, uint64_t argument)
{
    if (history->count == EXPLORE_HISTORY_MAX) explore_fail("history is full");
    uint32_t index = history->count++;
    history->operations[index] =
        (explore_operation){kind, argument, 0, ++history->clock, 0, explore_self()};
    return index;
}

void explore_history_end(explore_history *history, uint32_t index, uint64_t result)
{
    history->operations[index].result = result;
    history->operations[index].end = ++history->clock;
}

static uint64_t key_of(const search *s, uint32_t done, const unsigned char *state)
{
    uint64_t h = done * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (size_t i = 0; i < s->bytes; i++) h = (h ^ state[i]) * UINT64_C(0x100000001B3);
    return h | 1;
}

/* Some operation not done that began after another had ended must wait for that other. */
static bool may_be_next(const explore_history *history, uint32_t done, uint32_t index)
{
    const explore_operation *candidate = &history->operations[index];
    for (uint32_t i = 0; i < history->count; i++) {
        const explore_operation *other = &history->operations[i];
        if (i == index || (done >> i & 1) || !other->end) continue;
        if (other->end < candidate->begin) return false;
    }
    return true;
}

static bool extend(search *s, uint32_t done, const unsigned char *state)
{
    bool is_complete = true;
    for (uint32_t i = 0; i < s->history->count; i++) {
        is_complete &= (done >> i & 1) || !s->history->operations[i].end;
    }
    if (is_complete) return true;
    uint64_t key = key_of(s, done, state);
    if (s->memo[key % MEMO] == key) return false;
    for (uint32_t i = 0; i < s->history->count; i++) {
        if ((done >> i & 1) || !may_be_next(s->history, done, i)) continue;
        _Alignas(16) unsigned char next[EXPLORE_STATE_MAX];
        memcpy(next, state, s->bytes);
        if (!s->apply(next, &s->history->operations[i])) continue;
        if (extend(s, done | 1u << i, next)) return true;
    }
    s->memo[key % MEMO] = key;
    return false;
}

bool explore_history_is_linearisable(const explore_history *history, explore_apply_fn apply,
                                     const void *initial, size_t bytes)
{
    static search s; /* one process explores one schedule at a time */
    _Alignas(16) unsigned char state[EXPLORE_STATE_MAX];
    s.history = history;
    s.apply = apply;
    s.bytes = bytes;
    memset(s.memo, 0, sizeof s.memo);
    memcpy(state, initial, bytes);
    return extend(&s, 0, state);
}
