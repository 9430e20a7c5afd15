/* SPDX-License-Identifier: MIT */
/* market.h: traders with cash, each in four of 64 instruments. A trader believes in a price of
 * each, orders by that from time to time, and a call auction matches the orders of an instrument at
 * one price. Money and stock are integers, and no trade makes or loses any. */
#ifndef WEFT_PERF_MARKET_H
#define WEFT_PERF_MARKET_H

#include "program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <weft/random.h>

enum { INSTRUMENTS = 64, KINDS = 4, MOST = 16, CASH = 200000, STOCK = 50 };

typedef struct Trader {
    uint32_t number;
} Trader;
typedef struct Account {
    int64_t cash;
    int32_t stock[KINDS];
} Account;
typedef struct Belief { /* in what a piece of each is worth */
    int32_t price[KINDS];
} Belief;

/* An order: quantity > 0 buys, < 0 sells, at `limit` or better. */
typedef struct Terms {
    uint32_t number; /* of the trader */
    uint16_t instrument, kind;
    int32_t limit, quantity;
} Terms;

/* What is known of all instruments. */
typedef struct Prices {
    int32_t last[INSTRUMENTS];
    int64_t volume[INSTRUMENTS]; /* so far */
} Prices;

/* The instrument that is the trader's kind 0..KINDS-1. */
static inline uint32_t market_instrument(uint32_t number, uint32_t kind)
{
    return (number * 7 + kind * 17) % INSTRUMENTS;
}

/* What an instrument is worth: prices come back to it. */
static inline int32_t market_worth(uint32_t instrument)
{
    return 500 + (int32_t)instrument * 20;
}

static inline void market_begin(uint32_t number, Account *account, Belief *belief)
{
    account->cash = CASH;
    for (uint32_t k = 0; k < KINDS; k++) {
        account->stock[k] = STOCK;
        belief->price[k] = market_worth(market_instrument(number, k));
    }
}

static inline void market_open_prices(Prices *prices)
{
    for (uint32_t i = 0; i < INSTRUMENTS; i++) {
        prices->last[i] = market_worth(i);
        prices->volume[i] = 0;
    }
}

/* A belief follows the price, the worth, and moods. */
static inline void market_believe(uint32_t number, uint32_t tick, const Prices *prices,
                                  Belief *belief)
{
    weft_random random = weft_random_of(9, number, tick, 0);
    for (uint32_t k = 0; k < KINDS; k++) {
        uint32_t instrument = market_instrument(number, k);
        int32_t worth = market_worth(instrument), mood = (int32_t)weft_random_below(&random, 41);
        belief->price[k] += (prices->last[instrument] - belief->price[k]) / 8;
        belief->price[k] += (worth - belief->price[k]) / 16 + mood - 20;
    }
}

/* The order that a trader gives now; quantity 0: none. */
static inline Terms market_order(uint32_t number, uint32_t tick, const Prices *prices,
                                 const Account *account, const Belief *belief)
{
    Terms terms = {number, 0, 0, 0, 0};
    weft_random random = weft_random_of(9, number, tick, 1);
    if (weft_random_below(&random, 4) != 0) return terms;
    uint32_t kind = weft_random_below(&random, KINDS);
    int32_t quantity = 1 + (int32_t)weft_random_below(&random, MOST);
    terms.kind = (uint16_t)kind;
    terms.instrument = (uint16_t)market_instrument(number, kind);
    terms.limit = belief->price[kind];
    if (terms.limit > prices->last[terms.instrument])
        terms.quantity = account->cash >= (int64_t)quantity * terms.limit ? quantity : 0;
    else
        terms.quantity = account->stock[kind] >= quantity ? -quantity : 0;
    return terms;
}

/* An order in the book of its instrument. */
typedef struct market_entry {
    int32_t limit, left; /* left: pieces to buy or to sell */
    uint32_t number;     /* of the trader */
    uint32_t order;      /* the caller's */
} market_entry;

/* By price, best first for its side, then by number. */
static inline int market_compare_buys(const void *left, const void *right)
{
    const market_entry *a = (const market_entry *)left, *b = (const market_entry *)right;
    if (a->limit != b->limit) return a->limit > b->limit ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static inline int market_compare_sales(const void *left, const void *right)
{
    const market_entry *a = (const market_entry *)left, *b = (const market_entry *)right;
    if (a->limit != b->limit) return a->limit < b->limit ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Matches all buys and sales of an instrument, and sorts them: what is traded is taken from `left`.
 * Returns the pieces; *price becomes the middle between the last two that met. */
static inline int64_t market_match(market_entry *buys, uint32_t buy_count, market_entry *sales,
                                   uint32_t sale_count, int32_t *price)
{
    int64_t traded = 0;
    qsort(buys, buy_count, sizeof *buys, market_compare_buys);
    qsort(sales, sale_count, sizeof *sales, market_compare_sales);
    for (uint32_t b = 0, s = 0; b < buy_count && s < sale_count;) {
        if (buys[b].limit < sales[s].limit) break;
        int32_t pieces = buys[b].left < sales[s].left ? buys[b].left : sales[s].left;
        traded += pieces;
        *price = (buys[b].limit + sales[s].limit) / 2;
        buys[b].left -= pieces;
        sales[s].left -= pieces;
        b += buys[b].left == 0;
        s += sales[s].left == 0;
    }
    return traded;
}

/* `pieces` > 0 are bought, < 0 sold. */
static inline void market_settle(Account *account, uint32_t kind, int32_t pieces, int32_t price)
{
    account->cash -= (int64_t)pieces * price;
    account->stock[kind] += pieces;
}

/* ---- the content ---- */

static inline uint64_t market_sum(uint32_t number, const Account *account, const Belief *belief)
{
    uint64_t sum = program_stir(number + 1, (uint64_t)account->cash);
    for (uint32_t k = 0; k < KINDS; k++) {
        sum = program_stir(sum, (uint32_t)account->stock[k]);
        sum = program_stir(sum, (uint32_t)belief->price[k]);
    }
    return sum;
}

static inline uint64_t market_sum_prices(const Prices *prices)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < INSTRUMENTS; i++) {
        sum = program_stir(sum, (uint32_t)prices->last[i]);
        sum = program_stir(sum, (uint64_t)prices->volume[i]);
    }
    return sum;
}

#endif
