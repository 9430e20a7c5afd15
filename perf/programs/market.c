/* SPDX-License-Identifier: MIT */
/* market.c: the market on weft. An order is an entity that lives for one step and refers to its
 * trader; prices are a resource. The books of all instruments are arrays that each step fills, and
 * an instrument is an index of a system. */
#include "market.h"

#include <weft/type.h>
#include <weft/weft.h>

typedef struct From { /* of an order */
    weft_entity trader;
} From;
static const weft_field from_fields[] = {WEFT_FIELD(From, trader)};
static const weft_type from_type = WEFT_TYPE(From, from_fields);

typedef struct Market {
    weft_world *world;
    weft_component trader, account, belief, terms, from, prices;
    weft_archetype order;
    weft_query traders, orders;
    Terms *all;          /* of orders, by row */
    int32_t *filled;     /* pieces, by row of the order */
    market_entry *books; /* by instrument: buys, then sales */
    uint32_t begin[2 * INSTRUMENTS + 1];
} Market;

static void believe(weft_slice *s, void *user)
{
    const Market *m = user;
    Belief *belief = WEFT_WRITE_COLUMN(s, 0, Belief);
    const Trader *trader = WEFT_READ_COLUMN(s, 1, Trader);
    const Prices *prices = weft_slice_read_resource(s, m->prices);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        market_believe(trader[i].number, tick, prices, &belief[i]);
}

static void order(weft_slice *s, void *user)
{
    const Market *m = user;
    const Trader *trader = WEFT_READ_COLUMN(s, 0, Trader);
    const Account *account = WEFT_READ_COLUMN(s, 1, Account);
    const Belief *belief = WEFT_READ_COLUMN(s, 2, Belief);
    const weft_entity *e = weft_slice_entities(s);
    const Prices *prices = weft_slice_read_resource(s, m->prices);
    weft_recorder *r = weft_slice_recorder(s);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        Terms terms = market_order(trader[i].number, tick, prices, &account[i], &belief[i]);
        if (terms.quantity == 0) continue;
        From from = {e[i]};
        weft_entity order = weft_recorder_create_entity(r, m->order);
        weft_recorder_set(r, order, m->terms, &terms, sizeof terms);
        weft_recorder_set(r, order, m->from, &from, sizeof from);
    }
}

/* ---- the auction ---- */

static void collect(weft_slice *s, void *user)
{
    Market *m = user;
    const Terms *terms = WEFT_READ_COLUMN(s, 0, Terms);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) m->all[s->first + i] = terms[i];
}

static uint32_t side_of(const Terms *terms)
{
    return terms->instrument * 2u + (terms->quantity < 0);
}

static void sort(weft_slice *s, void *user) /* into books */
{
    Market *m = user;
    uint32_t count = 0, next[2 * INSTRUMENTS];
    weft_cursor c = weft_slice_query(s, m->orders); /* counts them */
    while (weft_query_next(&c)) count += weft_slice_count(&c.slice);
    memset(m->begin, 0, sizeof m->begin);
    for (uint32_t i = 0; i < count; i++) m->begin[side_of(&m->all[i]) + 1]++;
    for (uint32_t k = 0; k < 2 * INSTRUMENTS; k++) {
        m->begin[k + 1] += m->begin[k];
        next[k] = m->begin[k];
    }
    for (uint32_t i = 0; i < count; i++) {
        const Terms *t = &m->all[i];
        m->books[next[side_of(t)]++] = (market_entry){t->limit, abs(t->quantity), t->number, i};
    }
}

static void match(weft_slice *s, void *user) /* called for each instrument */
{
    Market *m = user;
    Prices *prices = weft_slice_write_resource(s, m->prices); /* each its own one */
    const uint32_t *begin = &m->begin[s->index * 2];
    market_entry *buys = m->books + begin[0], *sales = m->books + begin[1];
    prices->volume[s->index] += market_match(buys, begin[1] - begin[0], sales, begin[2] - begin[1],
                                             &prices->last[s->index]);
    for (uint32_t k = begin[0]; k < begin[2]; k++) {
        int32_t asked = m->all[m->books[k].order].quantity, left = m->books[k].left;
        m->filled[m->books[k].order] = asked > 0 ? asked - left : asked + left;
    }
}

static void settle(weft_slice *s, void *user) /* a trader has one order in a step, or none */
{
    const Market *m = user;
    const Terms *terms = WEFT_READ_COLUMN(s, 0, Terms);
    const From *from = WEFT_READ_COLUMN(s, 1, From);
    const Prices *prices = weft_slice_read_resource(s, m->prices);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        int32_t pieces = m->filled[s->first + i];
        if (pieces == 0) continue;
        Account *account = weft_slice_write_entity(s, from[i].trader, m->account);
        if (account != NULL)
            market_settle(account, terms[i].kind, pieces, prices->last[terms[i].instrument]);
    }
}

static void forget(weft_slice *s, void *user)
{
    const Market *m = user;
    weft_recorder_query_destroy_entities(weft_slice_recorder(s), m->orders);
}

/* ---- the world ---- */

static void add_traders(Market *m, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        Trader trader = {i};
        Account account;
        Belief belief;
        market_begin(i, &account, &belief);
        weft_entity e = weft_entity_create(
            m->world, WEFT_ARCHETYPE(m->world, m->trader, m->account, m->belief));
        weft_entity_set(m->world, e, m->trader, &trader, sizeof trader);
        weft_entity_set(m->world, e, m->account, &account, sizeof account);
        weft_entity_set(m->world, e, m->belief, &belief, sizeof belief);
    }
}

static void add_types(Market *m)
{
    weft_world *world = m->world;
    m->trader = WEFT_COMPONENT(world, Trader);
    m->account = WEFT_COMPONENT(world, Account);
    m->belief = WEFT_COMPONENT(world, Belief);
    m->terms = WEFT_COMPONENT(world, Terms);
    m->from = weft_component_create(world, &(weft_component_desc){.type = &from_type});
    m->prices = WEFT_COMPONENT_FLAGS(world, Prices, WEFT_RESOURCE);
    m->order = WEFT_ARCHETYPE(world, m->terms, m->from);
    weft_query_desc traders = {.terms = {{m->trader}, {m->account}, {m->belief}}};
    weft_query_desc orders = {.terms = {{m->terms}}};
    m->traders = weft_query_create(world, &traders);
    m->orders = weft_query_create(world, &orders);
    market_open_prices(weft_resource_write(world, m->prices));
}

static void add_trade(Market *m)
{
    weft_lookup read_prices = {m->prices, WEFT_READ};
    weft_system_create(
        m->world, &(weft_system_desc){.name = "believe",
                                      .run = believe,
                                      .user = m,
                                      .over.rows.terms = {{m->belief, WEFT_WRITE}, {m->trader}},
                                      .resources = {read_prices}});
    weft_system_create(
        m->world, &(weft_system_desc){.name = "order",
                                      .run = order,
                                      .user = m,
                                      .over.rows.terms = {{m->trader}, {m->account}, {m->belief}},
                                      .resources = {read_prices},
                                      .effects = WEFT_RECORDS_CREATE,
                                      .records = {m->terms, m->from}});
    weft_system_create(m->world, &(weft_system_desc){.name = "collect",
                                                     .run = collect,
                                                     .user = m,
                                                     .over.rows.terms = {{m->terms}}});
    weft_system_create(
        m->world,
        &(weft_system_desc){
            .name = "sort", .run = sort, .user = m, .queries = {m->orders}, .after = {"collect"}});
    weft_system_create(m->world,
                       &(weft_system_desc){.name = "match",
                                           .run = match,
                                           .user = m,
                                           .over = {.kind = WEFT_OVER_COUNT, .count = INSTRUMENTS},
                                           .resources = {{m->prices, WEFT_WRITE}},
                                           .after = {"sort"}});
    weft_system_create(m->world, &(weft_system_desc){.name = "settle",
                                                     .run = settle,
                                                     .user = m,
                                                     .over.rows.terms = {{m->terms}, {m->from}},
                                                     .lookups = {{m->account, WEFT_WRITE}},
                                                     .resources = {read_prices},
                                                     .after = {"match"}});
    weft_system_create(m->world, &(weft_system_desc){.name = "forget",
                                                     .run = forget,
                                                     .user = m,
                                                     .effects = WEFT_RECORDS_DESTROY,
                                                     .destroys = {m->terms, m->from},
                                                     .after = {"settle"}});
}

static void market_close(void *side)
{
    Market *m = side;
    weft_world_destroy(m->world);
    free(m->all);
    free(m->filled);
    free(m->books);
    free(m);
}

static void *market_open(uint32_t size, uint32_t workers)
{
    Market *m = calloc(1, sizeof *m);
    if (m == NULL) return NULL;
    m->all = calloc(size, sizeof *m->all);
    m->filled = calloc(size, sizeof *m->filled);
    m->books = calloc(size, sizeof *m->books);
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &m->world) != WEFT_OK) {
        market_close(m);
        return NULL;
    }
    add_types(m);
    add_traders(m, size);
    add_trade(m);
    return m;
}

static void market_step(void *side)
{
    weft_world_step(((Market *)side)->world, 1);
}

static uint64_t market_content(void *side)
{
    Market *m = side;
    uint64_t sum = market_sum_prices(weft_resource_read(m->world, m->prices));
    weft_cursor c = weft_query_begin(m->world, m->traders);
    while (weft_query_next(&c)) {
        const Trader *trader = WEFT_READ_COLUMN(&c.slice, 0, Trader);
        const Account *account = WEFT_READ_COLUMN(&c.slice, 1, Account);
        const Belief *belief = WEFT_READ_COLUMN(&c.slice, 2, Belief);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            sum += market_sum(trader[i].number, &account[i], &belief[i]);
    }
    return sum;
}

static uint64_t market_hash(void *side)
{
    return weft_world_hash(((Market *)side)->world, WEFT_HASH_CONTENT);
}

const program_side market_weft = {market_open, market_step, market_content, market_hash,
                                  market_close};
