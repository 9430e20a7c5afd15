/* SPDX-License-Identifier: MIT */
/* selection.c: what a query selects (selection.h): asked of the model, compared with lists of weft.
 *
 * The order of a list is for its caller: ops_query.c. */
#include "selection.h"

uint32_t selection_driver(const model_query *asks)
{
    uint32_t driver = asks->term_count;
    for (uint32_t t = asks->term_count; t-- > 0;) {
        const model_term *term = &asks->terms[t];
        if (!kind_is_sparse(term->kind) || term->alternative != asks->terms[0].alternative)
            return asks->term_count;
        if (term->match == MODEL_ALL || term->match == MODEL_PRESENT) driver = t;
    }
    return driver;
}

bool selection_of(everything *e, const everything_call *c, selection *s)
{
    *s = (selection){.slot = c->a % EVERYTHING_QUERIES};
    for (uint32_t i = 0; i < EVERYTHING_QUERIES && e->queries[s->slot].query.id == 0; i++)
        s->slot = (s->slot + 1) % EVERYTHING_QUERIES;
    s->q = &e->queries[s->slot];
    if (s->q->query.id == 0) return false;
    s->driver = selection_driver(&s->q->asks);
    s->numbers = model_memory(&e->here->m, e->here->m.count * sizeof *s->numbers);
    s->count = model_selected(&e->here->m, &s->q->asks, s->numbers);
    return true;
}

bool selection_check(everything *e, const selection *s, const weft_entity *entities, uint64_t count,
                     const char *what)
{
    if (count != s->count) {
        everything_says(e, "CHECK(weft_query_count(world, q[%u]) == %u);", s->slot, s->count);
        return everything_equal(e, what, count, s->count);
    }
    bool *found = model_memory(&e->here->m, e->here->m.count * sizeof *found);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = everything_number(e->here, entities[i]);
        if (n < e->here->m.count && !found[n] && model_selects(&e->here->m, &s->q->asks, n)) {
            found[n] = true;
            continue;
        }
        if (n < e->here->m.count)
            everything_says(e, "CHECK(weft_query_matches(world, q[%u], e[%u]) == %d);", s->slot, n,
                            model_selects(&e->here->m, &s->q->asks, n));
        everything_fails(e, what, "row %u is entity %u, which is not selected or there twice", i,
                         n);
        return false;
    }
    return true;
}

weft_entity *selection_entities(everything *e, const selection *s)
{
    weft_entity *out = model_memory(&e->here->m, (s->count + 1) * sizeof *out);
    uint64_t count = weft_query_entities(e->here->world, s->q->query, out, s->count);
    return selection_check(e, s, out, count, "weft_query_entities") ? out : NULL;
}
