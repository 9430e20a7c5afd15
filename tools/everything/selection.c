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

/* ---- drawing ---- */

static const char *const match_names[] = {"WEFT_ALL",     "WEFT_ANY",     "WEFT_NONE",
                                          "WEFT_ABSENT",  "WEFT_PRESENT", "WEFT_OPTIONAL",
                                          "WEFT_DISABLED"};
static const char *const access_names[] = {"WEFT_READ", "WEFT_WRITE", "WEFT_NO_ACCESS"};

/* What a term does with its component: writes columns and buffers now and then. */
static weft_access access_of(const model_term *term, uint64_t drawn)
{
    if (term->match == MODEL_NONE || term->match == MODEL_ABSENT) return WEFT_NO_ACCESS;
    bool can_write = kind_has_value(term->kind) || kind_is_buffer(term->kind) ||
                     kind_is_switch(term->kind) || kind_is_chunk(term->kind);
    return can_write && drawn % 3 != 0 ? WEFT_WRITE : WEFT_READ;
}

static uint64_t sparse_kinds(void)
{
    uint64_t set = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if (kind_is_sparse(kind)) set |= KIND_BIT(kind);
    return set;
}

/* Mostly one term has to be there; others as it comes. */
static void terms_draw(everything_query *q, uint64_t set, uint32_t a, uint32_t b)
{
    if (b >> 8 & 1 && (set & sparse_kinds()) != 0) set &= sparse_kinds(); /* rows of SPARSE kinds */
    model_query *asks = &q->asks;
    for (uint64_t left = set; left != 0 && asks->term_count < 4; left &= left - 1) {
        uint32_t kind = (uint32_t)__builtin_ctzll(left);
        uint64_t drawn = everything_mix(b, kind);
        model_term *term = &asks->terms[asks->term_count];
        *term = (model_term){.kind = kind};
        if (drawn % 3 != 0) term->match = (model_match)(drawn / 3 % 7);
        if (term->match == MODEL_DISABLED && (!kind_is_switch(kind) || asks->ignores_enabled))
            term->match = MODEL_PRESENT;
        if (a % 8 == 7) term->alternative = drawn >> 20 & 1;
        q->access[asks->term_count] = access_of(term, drawn >> 32);
        term->is_written = q->access[asks->term_count++] == WEFT_WRITE;
    }
}

void selection_draw(everything_query *q, uint64_t set, uint32_t a, uint32_t b)
{
    q->asks.with_prefabs = b % 4 == 1;
    q->asks.with_inactive = b % 8 < 2;
    q->asks.ignores_enabled = b % 16 == 5;
    q->stamps_asked = b % 32 < 5;
    terms_draw(q, set, a, b);
}

weft_query_desc selection_desc(const everything *e, const everything_query *q)
{
    weft_query_desc desc = {.with_prefabs = q->asks.with_prefabs,
                            .with_inactive = q->asks.with_inactive,
                            .ignores_enabled = q->asks.ignores_enabled,
                            .stamps_asked = q->stamps_asked};
    for (uint32_t i = 0; i < q->asks.term_count; i++)
        desc.terms[i] =
            (weft_term){e->here->of[q->asks.terms[i].kind], q->access[i],
                        (weft_match)q->asks.terms[i].match, q->asks.terms[i].alternative};
    return desc;
}

void selection_says(everything *e, const everything_query *q)
{
    const model_query *asks = &q->asks;
    everything_says(e, "    {.terms = {");
    for (uint32_t i = 0; i < asks->term_count; i++)
        everything_says(e, "        {of[%s], %s, %s, %u},",
                        kinds_of_model()[asks->terms[i].kind].name, access_names[q->access[i]],
                        match_names[asks->terms[i].match], asks->terms[i].alternative);
    everything_says(e,
                    "    }, .with_prefabs = %d, .with_inactive = %d, .ignores_enabled = %d, "
                    ".stamps_asked = %d}",
                    asks->with_prefabs, asks->with_inactive, asks->ignores_enabled,
                    q->stamps_asked);
}
