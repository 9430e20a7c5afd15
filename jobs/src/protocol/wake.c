/* SPDX-License-Identifier: MIT */
/* wake.c: the protocol of wake.h: announce, look again, sleep; take a bit, set the token, wake.
 * The bitmap and the count of searchers share a cache line that is read on every publish and
 * written only when a worker changes between working, searching and sleeping. */
#include "wake.h"
#include "bits.h"

void weft__wake_init(weft__wake *wake, const weft_os *os, weft__wake_token *tokens,
                     uint32_t worker_count)
{
    *wake = (weft__wake){.os = os,
                         .tokens = tokens,
                         .worker_count = worker_count,
                         .search_limit = (worker_count + 1) / 2,
                         .word_count = (worker_count + 63) / 64};
    for (uint32_t i = 0; i < worker_count; i++) at_init(&tokens[i].x_set, 0);
}

bool weft__wake_begin_search(weft__wake *wake)
{
    /* relaxed: the limit is a matter of economy; the count itself is exact */
    if (at_load_rlx(&wake->x_searching) >= wake->search_limit) return false;
    at_add_sc(&wake->x_searching, 1u); /* W3 */
    return true;
}

bool weft__wake_end_search(weft__wake *wake)
{
    return at_sub_sc(&wake->x_searching, 1u) == 1; /* W3 */
}

void weft__wake_token_set(weft__wake *wake, weft__wake_token *token)
{
    at_store_rel(&token->x_set, 1u); /* W5 */
    wake->os->futex_wake(wake->os->user, &token->x_set, 1);
}

void weft__wake_token_wait(weft__wake *wake, weft__wake_token *token)
{
    weft_a32 *word = &token->x_set;
    while (at_load_acq(word) == 0) wake->os->futex_wait(wake->os->user, word, 0); /* W5 */
    at_store_rlx(word, 0u); /* relaxed: the next waker comes after our next announcement */
}

/* Takes a worker's bit out of the bitmap: true for exactly one caller per announcement. */
static bool take_bit(weft__wake *wake, uint32_t worker)
{
    uint64_t bit = UINT64_C(1) << (worker % 64);
    /* any order would do: one RMW gets the bit, and the token (W5) carries the data; a set bit that
     * is seen late makes a second waker try and fail */
    return (at_and_sc(&wake->x_sleepers[worker / 64], ~bit) & bit) != 0; /* W4 */
}

bool weft__wake_sleep(weft__wake *wake, uint32_t worker, bool is_searching,
                      bool (*has_work)(void *), void *argument)
{
    at_or_sc(&wake->x_sleepers[worker / 64], UINT64_C(1) << (worker % 64)); /* W2 */
    if (is_searching) at_sub_sc(&wake->x_searching, 1u);                    /* W3 */
    if (has_work(argument) && take_bit(wake, worker)) {                     /* W1, W4 */
        /* any order would do: counted late, a publisher wakes one more, never one less */
        at_add_sc(&wake->x_searching, 1u); /* W3 */
        return false;
    }
    weft__wake_token_wait(wake, &wake->tokens[worker]);
    return true;
}

bool weft__wake_one(weft__wake *wake, uint32_t worker)
{
    uint64_t bit = UINT64_C(1) << (worker % 64);
    if ((at_load_sc(&wake->x_sleepers[worker / 64]) & bit) == 0) return false; /* W2 */
    if (!take_bit(wake, worker)) return false;
    /* on behalf of the woken worker; any order would do, as in weft__wake_sleep */
    at_add_sc(&wake->x_searching, 1u); /* W3 */
    weft__wake_token_set(wake, &wake->tokens[worker]);
    return true;
}

/* A sleeper, at or after `near` if there is one; UINT32_MAX when none sleeps. */
static uint32_t find_sleeper(weft__wake *wake, uint32_t near, bool for_host)
{
    for (uint32_t i = 0; i <= wake->word_count; i++) {
        uint32_t word = (near / 64 + i) % wake->word_count;
        /* the sc load in weft__wake_notify came before; here it only chooses whom: any order */
        uint64_t sleepers = at_load_sc(&wake->x_sleepers[word]); /* W2 */
        if (i == 0) sleepers &= ~bits_mask(near % 64);
        if (for_host && word == 0) sleepers &= ~UINT64_C(1);
        if (sleepers != 0) return word * 64 + bits_lowest(sleepers);
    }
    return UINT32_MAX;
}

bool weft__wake_notify_slow(weft__wake *wake, uint32_t near, bool for_host)
{
    for (;;) {
        if (at_load_sc(&wake->x_searching) != 0) return false; /* W3, H3 */
        uint32_t sleeper = find_sleeper(wake, near % wake->worker_count, for_host);
        if (sleeper == UINT32_MAX) return false;
        if (weft__wake_one(wake, sleeper)) return true;
        at_stall();
    }
}

bool weft__wake_next(weft__wake *wake, uint32_t near, bool for_host)
{
    for (;;) {
        uint32_t sleeper = find_sleeper(wake, near % wake->worker_count, for_host);
        if (sleeper == UINT32_MAX) return false;
        if (weft__wake_one(wake, sleeper)) return true;
        at_stall();
    }
}

uint32_t weft__wake_sleeper_count(weft__wake *wake)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < wake->word_count; i++)
        count += bits_count(at_load_sc(&wake->x_sleepers[i])); /* W2 */
    return count;
}

void weft__wake_all(weft__wake *wake)
{
    for (uint32_t word = 0; word < wake->word_count; word++) {
        uint64_t taken = at_xchg_sc(&wake->x_sleepers[word], (uint64_t)0); /* W4, W6 */
        for (; taken != 0; taken &= taken - 1) {
            at_add_sc(&wake->x_searching, 1u); /* W3: any order, as in weft__wake_one */
            weft__wake_token_set(wake, &wake->tokens[word * 64 + bits_lowest(taken)]);
        }
    }
}
