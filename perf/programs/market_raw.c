/* SPDX-License-Identifier: MIT */
/* market_raw.c: the market in plain C: traders in the order of their numbers, and a list of the
 * orders of a step. */
#include "market.h"

typedef struct plain_market {
    uint32_t count, tick, order_count;
    Prices prices;
    Account *accounts; /* by trader */
    Belief *beliefs;
    Terms *orders;
    market_entry *books; /* by instrument: buys, then sales */
    uint32_t begin[2 * INSTRUMENTS + 1];
} plain_market;

static void give_orders(plain_market *m)
{
    m->order_count = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        market_believe(i, m->tick, &m->prices, &m->beliefs[i]);
        Terms terms = market_order(i, m->tick, &m->prices, &m->accounts[i], &m->beliefs[i]);
        if (terms.quantity != 0) m->orders[m->order_count++] = terms;
    }
}

static uint32_t side_of(const Terms *terms)
{
    return terms->instrument * 2u + (terms->quantity < 0);
}

static void sort_orders(plain_market *m)
{
    uint32_t next[2 * INSTRUMENTS];
    memset(m->begin, 0, sizeof m->begin);
    for (uint32_t i = 0; i < m->order_count; i++) m->begin[side_of(&m->orders[i]) + 1]++;
    for (uint32_t k = 0; k < 2 * INSTRUMENTS; k++) {
        m->begin[k + 1] += m->begin[k];
        next[k] = m->begin[k];
    }
    for (uint32_t i = 0; i < m->order_count; i++) {
        const Terms *t = &m->orders[i];
        m->books[next[side_of(t)]++] = (market_entry){t->limit, abs(t->quantity), t->number, i};
    }
}

static void auction(plain_market *m, uint32_t instrument)
{
    const uint32_t *begin = &m->begin[instrument * 2];
    market_entry *buys = m->books + begin[0], *sales = m->books + begin[1];
    int32_t *price = &m->prices.last[instrument];
    m->prices.volume[instrument] +=
        market_match(buys, begin[1] - begin[0], sales, begin[2] - begin[1], price);
    for (uint32_t k = begin[0]; k < begin[2]; k++) {
        const Terms *t = &m->orders[m->books[k].order];
        int32_t left = m->books[k].left;
        int32_t pieces = t->quantity > 0 ? t->quantity - left : t->quantity + left;
        market_settle(&m->accounts[t->number], t->kind, pieces, *price);
    }
}

static void market_step(void *side)
{
    plain_market *m = side;
    m->tick++;
    give_orders(m);
    sort_orders(m);
    for (uint32_t i = 0; i < INSTRUMENTS; i++) auction(m, i);
}

static void market_close(void *side)
{
    plain_market *m = side;
    free(m->accounts);
    free(m->beliefs);
    free(m->orders);
    free(m->books);
    free(m);
}

static void *market_open(uint32_t size, uint32_t workers)
{
    (void)workers;
    plain_market *m = calloc(1, sizeof *m);
    if (m == NULL) return NULL;
    m->count = size;
    m->accounts = calloc(size, sizeof *m->accounts);
    m->beliefs = calloc(size, sizeof *m->beliefs);
    m->orders = calloc(size, sizeof *m->orders);
    m->books = calloc(size, sizeof *m->books);
    if (!m->accounts || !m->beliefs || !m->orders || !m->books) {
        market_close(m);
        return NULL;
    }
    market_open_prices(&m->prices);
    for (uint32_t i = 0; i < size; i++) market_begin(i, &m->accounts[i], &m->beliefs[i]);
    return m;
}

static uint64_t market_content(void *side)
{
    const plain_market *m = side;
    uint64_t sum = market_sum_prices(&m->prices);
    for (uint32_t i = 0; i < m->count; i++) sum += market_sum(i, &m->accounts[i], &m->beliefs[i]);
    return sum;
}

const program_side market_raw = {market_open, market_step, market_content, NULL, market_close};
