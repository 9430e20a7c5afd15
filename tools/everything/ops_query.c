/* SPDX-License-Identifier: MIT */
/* ops_query.c: queries: made, asked, filtered, iterated, and changes of all rows that one
 * selects. What a query selects is a set; its order is checked where it is promised: archetype
 * after archetype. */
#include "everything.h"
#include "selection.h"

#include <stdlib.h>
#include <string.h>
#include <weft/finder.h>

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

/* ---- make ---- */

/* False: a system uses it. */
static bool query_drop(everything *e, uint32_t slot)
{
    everything_query *q = &e->queries[slot];
    if (q->query.id == 0) return true;
    if (q->recorders != 0) return false; /* what they record would be refused */
    weft_result expected = q->systems == 0 ? WEFT_OK : WEFT_BUSY;
    everything_says(e, "IS(%s, weft_query_destroy(world, q[%u]));", weft_result_name(expected),
                    slot);
    weft_result result = weft_query_destroy(e->here->world, q->query);
    if (expected == WEFT_OK) *q = (everything_query){0};
    return everything_result(e, "weft_query_destroy", result, expected) && expected == WEFT_OK;
}

/* Makes what a slot asks for. */
static void query_make(everything *e, uint32_t slot)
{
    everything_query *q = &e->queries[slot];
    everything_says(e, "q[%u] = weft_query_create(world, &(weft_query_desc)", slot);
    selection_says(e, q);
    everything_says(e, ");");
    everything_says(e, "CHECK(q[%u].id != 0);", slot);
    weft_query_desc desc = selection_desc(e, q);
    q->query = weft_query_create(e->here->world, &desc);
    if (q->query.id == 0)
        everything_fails(e, "weft_query_create", "%s", weft_world_error(e->here->world)->text);
}

/* Kinds of an entity that has one with a bit: that one, and another. */
static uint64_t switched_kinds(const everything *e, uint32_t a)
{
    const model *m = &e->here->m;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t n = (a + i) % m->count;
        uint64_t switches = 0, others = model_is_alive(m, n) ? m->entities[n].set : 0;
        for (uint32_t kind = 0; kind < KINDS; kind++)
            if (kind_is_switch(kind)) switches |= KIND_BIT(kind) & others;
        if (switches == 0) continue;
        others &= ~switches;
        return (switches & -switches) | (others & -others);
    }
    return 0;
}

static void run_make(everything *e, const everything_call *c)
{
    uint32_t slot = c->a / 8 % EVERYTHING_QUERIES;
    everything_query *q = &e->queries[slot];
    uint64_t set = c->value;
    if (!query_drop(e, slot)) return;
    if (c->a / 64 % 4 == 0) { /* whose rows are chosen by bits */
        uint64_t near = switched_kinds(e, c->b);
        if (near != 0) set = near;
    }
    selection_draw(q, set, c->a, c->b);
    query_make(e, slot);
}

void everything_queries_make(everything *e)
{
    for (uint32_t slot = 0; slot < EVERYTHING_QUERIES; slot++) {
        if (e->queries[slot].query.id == 0) continue;
        e->queries[slot].asks.shared_count = 0;
        query_make(e, slot);
    }
}

/* ---- ask ---- */

/* Archetype after archetype, as weft_archetype_at and weft_query_archetypes list them. */
static void order_check(everything *e, const selection *s, const weft_entity *entities)
{
    weft_world *world = e->here->world;
    uint32_t count = weft_query_archetypes(world, s->q->query, NULL, 0), at = 0;
    weft_archetype *list = model_memory(&e->here->m, (count + 1) * sizeof *list);
    weft_query_archetypes(world, s->q->query, list, count);
    for (uint32_t i = 0; i < s->count && !selection_is_of_sparse_rows(s); i++) {
        weft_archetype archetype = weft_entity_archetype(world, entities[i]);
        while (at < count && list[at].id != archetype.id) at++;
        if (at == count) {
            everything_fails(e, "order of archetypes", "row %u of q[%u]", i, s->slot);
            return;
        }
    }
}

static void run_ask(everything *e, const everything_call *c)
{
    selection s;
    if (!selection_of(e, c, &s)) return;
    weft_world *world = e->here->world;
    uint32_t n = everything_pick(e, c->b);
    bool matches = n != EVERYTHING_FOREIGN && model_selects(&e->here->m, &s.q->asks, n);
    everything_says(e, "CHECK(weft_query_count(world, q[%u]) == %u);", s.slot, s.count);
    everything_equal(e, "weft_query_count", weft_query_count(world, s.q->query), s.count);
    everything_says(e, "CHECK(weft_query_is_empty(world, q[%u]) == %d);", s.slot, s.count == 0);
    everything_equal(e, "weft_query_is_empty", weft_query_is_empty(world, s.q->query),
                     s.count == 0);
    everything_says(e, "CHECK(weft_query_matches(world, q[%u], %s) == %d);", s.slot,
                    everything_c_entity(e, n), matches);
    everything_equal(e, "weft_query_matches",
                     weft_query_matches(world, s.q->query, everything_handle(e->here, n)), matches);
    weft_entity *entities = everything_has_failed(e) ? NULL : selection_entities(e, &s);
    if (entities == NULL) return;
    order_check(e, &s, entities);
    weft_entity single = weft_query_single(world, s.q->query);
    everything_equal(e, "weft_query_single", everything_number(e->here, single),
                     s.count == 1 ? s.numbers[0] : 0);
}

static void run_info(everything *e, const everything_call *c)
{
    selection s;
    weft_query list[EVERYTHING_QUERIES];
    weft_term terms[MODEL_TERMS];
    weft_query_info info;
    uint32_t expected = 0, same = 0;
    if (!selection_of(e, c, &s)) return;
    for (uint32_t i = 0; i < EVERYTHING_QUERIES; i++) expected += e->queries[i].query.id != 0;
    uint32_t count = weft_query_list(e->here->world, list, EVERYTHING_QUERIES);
    if (count < expected) everything_equal(e, "weft_query_list", count, expected);
    for (uint32_t i = 0; i < count && i < EVERYTHING_QUERIES; i++)
        same += list[i].id == s.q->query.id;
    if (count <= EVERYTHING_QUERIES) everything_equal(e, "weft_query_list has it", same, 1);
    count = weft_query_terms(e->here->world, s.q->query, terms, MODEL_TERMS);
    everything_equal(e, "weft_query_terms", count, s.q->asks.term_count);
    for (uint32_t i = 0; i < count && i < MODEL_TERMS; i++)
        everything_equal(e, "weft_query_terms: component", terms[i].component.id,
                         e->here->of[s.q->asks.terms[i].kind].id);
    weft_result result = weft_query_info_get(e->here->world, s.q->query, &info, sizeof info);
    everything_result(e, "weft_query_info_get", result, WEFT_OK);
    everything_equal(e, "weft_query_info: ignores_enabled", info.ignores_enabled,
                     s.q->asks.ignores_enabled);
    if (info.rows < s.count) everything_equal(e, "weft_query_info: rows", info.rows, s.count);
}

/* ---- filters ---- */

static bool is_filtered(const model_term *term)
{
    return kind_is_shared(term->kind) && term->match != MODEL_ABSENT;
}

/* Values that entities have, those of young ones first. */
static void shared_of_living(everything *e, model_query *asks, uint32_t a)
{
    const model *m = &e->here->m;
    size_t size = m->kinds[asks->shared_kind].size;
    uint8_t *values = model_memory(&e->here->m, asks->shared_count * size);
    memcpy(values, asks->shared, asks->shared_count * size);
    uint32_t found = 0;
    for (uint32_t n = m->count - 1 - a % 4 % m->count; n > 0 && found < asks->shared_count; n--) {
        const model_value *value = model_read(m, n, asks->shared_kind);
        bool is_new = value != NULL;
        for (uint32_t i = 0; i < found && is_new; i++)
            is_new = memcmp(values + i * size, value->bytes, size) != 0;
        if (is_new) memcpy(values + found++ * size, value->bytes, size);
    }
    asks->shared = values;
}

static void run_filter(everything *e, const everything_call *c)
{
    selection s;
    if (!selection_of(e, c, &s)) return;
    model_query *asks = &s.q->asks;
    weft_world *world = e->here->world;
    uint32_t t = 0;
    while (t < asks->term_count && !is_filtered(&asks->terms[t])) t++;
    everything_says(e, "IS(WEFT_OK, weft_query_filter_reset(world, q[%u]));", s.slot);
    asks->shared_count = 0;
    if (!everything_result(e, "weft_query_filter_reset", weft_query_filter_reset(world, s.q->query),
                           WEFT_OK))
        return;
    if (t == asks->term_count || c->b % 4 == 0) return;
    static const weft_filter_op ops[] = {WEFT_FILTER_EQUAL, WEFT_FILTER_NOT_EQUAL,
                                         WEFT_FILTER_ONE_OF};
    weft_filter_op op = ops[c->b / 4 % 3];
    asks->shared_kind = asks->terms[t].kind;
    asks->shared_count = op == WEFT_FILTER_ONE_OF ? 1 + c->b / 12 % 3 : 1;
    asks->is_not = op == WEFT_FILTER_NOT_EQUAL;
    asks->shared =
        everything_value(e, asks->shared_kind, c->value, c->b & 0xffff, asks->shared_count);
    if (c->value % 7 == 0)
        asks->shared = model_memory(&e->here->m,
                                    asks->shared_count * e->here->m.kinds[asks->shared_kind].size);
    if (c->value % 2 == 0) shared_of_living(e, asks, c->a);
    const void *values =
        everything_weft_value(e, e->here, asks->shared_kind, asks->shared, asks->shared_count);
    everything_says(e, "IS(WEFT_OK, weft_query_filter_shared(world, q[%u], of[%s], %d, %s, %u));",
                    s.slot, name_of(asks->shared_kind), (int)op,
                    everything_c_value(e, asks->shared_kind, asks->shared, asks->shared_count),
                    asks->shared_count);
    everything_result(e, "weft_query_filter_shared",
                      weft_query_filter_shared(world, s.q->query, e->here->of[asks->shared_kind],
                                               op, values, asks->shared_count),
                      WEFT_OK);
}

/* A filter on changes selects at least what was written, and nothing whose archetype was left
 * alone. */
static void run_changed(everything *e, const everything_call *c)
{
    selection s;
    if (!selection_of(e, c, &s) || s.q->asks.term_count == 0) return;
    weft_world *world = e->here->world;
    model *m = &e->here->m;
    const model_term *term = &s.q->asks.terms[c->b % s.q->asks.term_count];
    uint32_t kind = term->kind;
    if (term->match == MODEL_NONE) return; /* rows have it disabled, or not */
    weft_result expected = term->match == MODEL_ABSENT ? WEFT_INVALID_ARGUMENT : WEFT_OK;
    uint32_t now = weft_world_change_version(world), since = now - 1 - c->b / 16 % 8;
    if (since == 0 || since > now || !e->here->knows_stamps) return;
    everything_says(e, "IS(%s, weft_query_filter_changed(world, q[%u], of[%s], %u));",
                    weft_result_name(expected), s.slot, name_of(kind), since);
    weft_result result = weft_query_filter_changed(world, s.q->query, e->here->of[kind], since);
    if (!everything_result(e, "weft_query_filter_changed", result, expected)) return;
    if (expected != WEFT_OK) return;
    weft_entity *out = model_memory(m, (s.count + 1) * sizeof *out);
    uint64_t count = weft_query_entities(world, s.q->query, out, s.count);
    bool *is_there = model_memory(m, m->count * sizeof *is_there);
    for (uint64_t i = 0; i < count && i < s.count; i++) {
        uint32_t n = everything_number(e->here, out[i]);
        if (n < m->count) is_there[n] = true;
    }
    for (uint32_t i = 0; i < s.count && !everything_has_failed(e); i++) {
        uint32_t n = s.numbers[i];
        const model_value *value = model_read(m, n, kind);
        bool was_written = value != NULL && value->written > since;
        bool may = kind_is_sparse(kind) || selection_is_of_sparse_rows(&s) ||
                   model_stamp_of(m, m->entities[n].set) > since;
        if (was_written != is_there[n] && (was_written || !may)) {
            everything_says(e, "CHECK(weft_query_matches(world, q[%u], e[%u]) == %d);", s.slot, n,
                            was_written);
            everything_fails(e, was_written ? "a change is missed" : "a change that was none",
                             "entity %u, %s, since %u", n, name_of(kind), since);
        }
    }
    /* the filter on shared values goes, too */
    s.q->asks.shared_count = 0;
    everything_says(e, "IS(WEFT_OK, weft_query_filter_reset(world, q[%u]));", s.slot);
    everything_result(e, "weft_query_filter_reset", weft_query_filter_reset(world, s.q->query),
                      WEFT_OK);
}

/* ---- copies ---- */

/* A term with plain values that is not one of ABSENT; of SPARSE ones only the driver; the count:
 * none. */
static uint32_t value_term(const selection *s, uint32_t from)
{
    const model_query *asks = &s->q->asks;
    for (uint32_t i = 0; i < asks->term_count; i++) {
        uint32_t t = (from + i) % asks->term_count;
        const model_term *term = &asks->terms[t];
        if (kind_is_sparse(term->kind) && t != s->driver) continue;
        if (kind_has_value(term->kind) && term->match != MODEL_ABSENT) return t;
    }
    return asks->term_count;
}

static const char *const copy_ways[] = {"read", "write", NULL};

/* Compares values in query order with those of the model; absent ones are zero. */
static void values_check(everything *e, uint32_t kind, const weft_entity *entities,
                         const uint8_t *values, uint32_t count, const char *what)
{
    const model *m = &e->here->m;
    uint32_t size = m->kinds[kind].size;
    uint8_t *zero = model_memory(&e->here->m, size);
    for (uint32_t i = 0; i < count; i++) {
        const model_value *value = model_read(m, everything_number(e->here, entities[i]), kind);
        const uint8_t *expected =
            everything_weft_value(e, e->here, kind, value == NULL ? zero : value->bytes, 1);
        if (memcmp(values + (size_t)i * size, expected, size) == 0) continue;
        everything_fails(e, what, "%s of row %u, entity %u", name_of(kind), i,
                         everything_number(e->here, entities[i]));
        return;
    }
}

static void run_copy(everything *e, const everything_call *c)
{
    selection s;
    if (!selection_of(e, c, &s)) return;
    uint32_t t = value_term(&s, c->b);
    if (t == s.q->asks.term_count) return;
    uint32_t kind = s.q->asks.terms[t].kind, size = e->here->m.kinds[kind].size;
    const weft_entity *entities = selection_entities(e, &s);
    if (entities == NULL) return;
    if (c->way == 0) {
        uint8_t *values = model_memory(&e->here->m, (size_t)(s.count + 1) * size);
        memset(values, 0xa5, (size_t)(s.count + 1) * size); /* absent ones must become zero */
        uint64_t count =
            weft_query_read_values(e->here->world, s.q->query, e->here->of[kind], values, s.count);
        everything_says(e, "CHECK(weft_query_read_values(world, q[%u], of[%s], NULL, 0) == %u);",
                        s.slot, name_of(kind), s.count);
        if (everything_equal(e, "weft_query_read_values", count, s.count))
            values_check(e, kind, entities, values, s.count, "weft_query_read_values");
        return;
    }
    const uint8_t *bytes = everything_value(e, kind, c->value, c->b & 0xffff, s.count);
    const void *values = everything_weft_value(e, e->here, kind, bytes, s.count);
    for (uint32_t i = 0; i < s.count; i++) {
        uint32_t n = everything_number(e->here, entities[i]);
        if (!model_has(&e->here->m, n, kind)) continue;
        model_set(&e->here->m, n, kind, bytes + (size_t)i * size, 1);
        kind_own(kind, &e->x_owned, 1);
    }
    everything_says(e, "IS(WEFT_OK, weft_query_write_values(world, q[%u], of[%s], %s, %u));",
                    s.slot, name_of(kind), everything_c_value(e, kind, bytes, s.count), s.count);
    everything_result(
        e, "weft_query_write_values",
        weft_query_write_values(e->here->world, s.q->query, e->here->of[kind], values, s.count),
        WEFT_OK);
}

/* ---- changes of all rows ---- */

static const char *const change_ways[] = {"add", "remove", "set", "set_shared", "enable", NULL};
enum { ADD, REMOVE, SET, SET_SHARED, ENABLE };

/* A kind that the way takes, from the one drawn on, or from one of the query; KINDS: none. */
static uint32_t kind_for(const everything_call *c, const model_query *asks)
{
    uint32_t from = c->kind;
    if (c->b % 2 == 0 && asks->term_count != 0)
        from = asks->terms[c->b / 2 % asks->term_count].kind;
    for (uint32_t i = 0; i < KINDS; i++) {
        uint32_t kind = (from + i) % KINDS;
        if (!kind_is_any(kind)) continue;
        if (c->way == ADD || c->way == REMOVE) return kind;
        if (c->way == SET && kind_is_set(kind)) return kind;
        if (c->way == SET_SHARED && kind_is_shared(kind)) return kind;
        if (c->way == ENABLE && kind_is_switch(kind)) return kind;
    }
    return KINDS;
}

static void model_change_all(everything *e, const everything_call *c, const selection *s,
                             uint32_t kind, const uint8_t *bytes)
{
    model *m = &e->here->m;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t n = s->numbers[i];
        if (c->way == ADD) model_change(m, n, KIND_BIT(kind), 0);
        if (c->way == REMOVE) model_change(m, n, 0, KIND_BIT(kind));
        if (c->way == ENABLE && model_has(m, n, kind)) model_enable(m, n, kind, c->value % 2 != 0);
        if (c->way != SET && c->way != SET_SHARED) continue;
        if (model_set(m, n, kind, bytes, 1) == MODEL_OK) kind_own(kind, &e->x_owned, 1);
    }
}

static weft_result weft_change_all(everything *e, const everything_call *c, weft_query query,
                                   uint32_t kind, const void *value)
{
    weft_world *world = e->here->world;
    weft_component component = e->here->of[kind];
    switch (c->way) {
    case ADD:
        return weft_query_add(world, query, component);
    case REMOVE:
        return weft_query_remove(world, query, component);
    case SET:
        return weft_query_set(world, query, component, value, e->here->m.kinds[kind].size);
    case SET_SHARED:
        return weft_query_set_shared(world, query, component, value);
    default:
        return weft_query_enable(world, query, component, c->value % 2 != 0);
    }
}

/* A query with a term on a kind that has bits, from `a` on, and the term; false: there is none. */
static bool switched_query(const everything *e, uint32_t a, uint32_t *slot, uint32_t *kind)
{
    for (uint32_t i = 0; i < EVERYTHING_QUERIES; i++) {
        const everything_query *q = &e->queries[ *slot = (a + i) % EVERYTHING_QUERIES];
        for (uint32_t t = 0; q->query.id != 0 && t < q->asks.term_count; t++) {
            *kind = q->asks.terms[t].kind;
            if (kind_is_switch(*kind) && q->asks.terms[t].match != MODEL_ABSENT) return true;
        }
    }
    return false;
}

static void run_change(everything *e, const everything_call *c)
{
    selection s;
    everything_call call = *c;
    uint32_t kind;
    if (c->value % 3 == 0 && !switched_query(e, c->a, &call.a, &kind)) call.a = c->a;
    if (!selection_of(e, &call, &s)) return;
    kind = kind_for(c, &s.q->asks);
    if (kind == KINDS) return;
    const uint8_t *bytes = everything_value(e, kind, c->value, c->b & 0xffff, 1);
    const void *value = everything_weft_value(e, e->here, kind, bytes, 1);
    const char *text = everything_c_value(e, kind, bytes, 1), *name = name_of(kind);
    if (c->way == SET && model_is(&e->here->m, kind, MODEL_SIGNED)) return;
    model_change_all(e, c, &s, kind, bytes);
    if (c->way == ADD || c->way == REMOVE)
        everything_says(e, "IS(WEFT_OK, weft_query_%s(world, q[%u], of[%s]));", change_ways[c->way],
                        s.slot, name);
    if (c->way == SET)
        everything_says(e, "IS(WEFT_OK, weft_query_set(world, q[%u], of[%s], %s, %u));", s.slot,
                        name, text, e->here->m.kinds[kind].size);
    if (c->way == SET_SHARED)
        everything_says(e, "IS(WEFT_OK, weft_query_set_shared(world, q[%u], of[%s], %s));", s.slot,
                        name, text);
    if (c->way == ENABLE)
        everything_says(e, "IS(WEFT_OK, weft_query_enable(world, q[%u], of[%s], %d));", s.slot,
                        name, (int)(c->value % 2));
    weft_result result = weft_change_all(e, c, s.q->query, kind, value);
    static const char *const whats[] = {"weft_query_add", "weft_query_remove", "weft_query_set",
                                        "weft_query_set_shared", "weft_query_enable"};
    everything_result(e, whats[c->way], result, WEFT_OK);
}

/* Every other one of the rows of a query is switched: chunks of which some rows are selected. */
static void run_mask(everything *e, const everything_call *c)
{
    enum { ROWS_MOST = 48 };
    selection s;
    everything_call call = *c;
    uint32_t kind;
    if (!switched_query(e, c->a, &call.a, &kind) || !selection_of(e, &call, &s)) return;
    bool enabled = c->b % 4 == 0;
    for (uint32_t i = 0; i < s.count && i < ROWS_MOST; i++) {
        uint32_t n = s.numbers[i];
        if (everything_mix(c->value, n) % 3 != 0 || !model_has(&e->here->m, n, kind)) continue;
        weft_result expected = everything_result_of(model_enable(&e->here->m, n, kind, enabled));
        everything_says(e, "IS(%s, weft_entity_enable(world, e[%u], of[%s], %d));",
                        weft_result_name(expected), n, name_of(kind), enabled);
        weft_result result = weft_entity_enable(e->here->world, everything_handle(e->here, n),
                                                e->here->of[kind], enabled);
        if (!everything_result(e, "weft_entity_enable", result, expected)) return;
    }
}

static void run_destroy_entities(everything *e, const everything_call *c)
{
    selection s;
    if (!selection_of(e, c, &s) || (s.count > 64 && c->b % 4 != 0)) return;
    for (uint32_t i = 0; i < s.count; i++) model_destroy_alone(&e->here->m, s.numbers[i]);
    everything_says(e, "IS(WEFT_OK, weft_query_destroy_entities(world, q[%u]));", s.slot);
    everything_result(e, "weft_query_destroy_entities",
                      weft_query_destroy_entities(e->here->world, s.q->query), WEFT_OK);
}

static void run_finder(everything *e, const everything_call *c)
{
    uint32_t first = everything_pick(e, c->a);
    weft_finder finder = weft_finder_open(e->here->world, e->here->of[c->kind]);
    everything_says(e, "weft_finder finder = weft_finder_open(world, of[%s]);", name_of(c->kind));
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t n = i == 0 ? first : everything_pick(e, c->b + i);
        bool has = model_read(&e->here->m, n, c->kind) != NULL;
        weft_entity entity = everything_handle(e->here, n);
        const void *found = weft_finder_read(&finder, entity);
        everything_says(e, "CHECK((weft_finder_read(&finder, %s) != NULL) == %d);",
                        everything_c_entity(e, n), has);
        const void *read = weft_entity_read(e->here->world, entity, e->here->of[c->kind]);
        everything_equal(e, "weft_finder_read", found != NULL, has);
        everything_equal(e, "weft_finder_read and weft_entity_read", found == read, true);
    }
}

const everything_op everything_ops_query[] = {
    {.name = "query_make",
     .functions = "weft_query_create weft_query_destroy",
     .weight = 10,
     .draws = DRAWS_SET,
     .run = run_make},
    {.name = "query_ask",
     .functions = "weft_query_count weft_query_is_empty weft_query_matches weft_query_entities "
                  "weft_query_single weft_query_archetypes",
     .weight = 8,
     .run = run_ask},
    {.name = "query_info",
     .functions = "weft_query_list weft_query_terms weft_query_info_get",
     .weight = 1,
     .run = run_info},
    {.name = "query_filter",
     .functions = "weft_query_filter_shared weft_query_filter_reset",
     .weight = 5,
     .run = run_filter},
    {.name = "query_changed",
     .functions = "weft_query_filter_changed weft_query_filter_reset weft_query_entities",
     .weight = 4,
     .run = run_changed},
    {.name = "query_copy",
     .functions = "weft_query_read_values weft_query_write_values",
     .weight = 5,
     .ways = copy_ways,
     .run = run_copy},
    {.name = "query_change",
     .functions = "weft_query_add weft_query_remove weft_query_set weft_query_set_shared "
                  "weft_query_enable",
     .weight = 6,
     .draws = DRAWS_KIND,
     .ways = change_ways,
     .run = run_change},
    {.name = "query_mask", .functions = "weft_entity_enable", .weight = 3, .run = run_mask},
    {.name = "query_destroy_entities",
     .functions = "weft_query_destroy_entities",
     .weight = 1,
     .run = run_destroy_entities},
    {.name = "finder",
     .functions = "weft_finder_open weft_finder_read",
     .weight = 2,
     .draws = DRAWS_KIND,
     .takes = kind_has_value,
     .run = run_finder},
    {0},
};
