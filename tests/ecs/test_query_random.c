/* SPDX-License-Identifier: MIT */
/* test_query_random.c: random queries and query-wide changes over random worlds, against a naive
 * evaluator that knows of entities only: no archetypes, no chunks, no masks.
 *
 * After every change the whole world is compared with the naive one and validated. */
#include "query_fixture.h"
#include "random.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ENTITIES = 160, KINDS = 12, SHARED_INT = 10, SHARED_FLAG = 11 };

/* One entity as the naive world sees it. */
typedef struct naive_entity {
    weft_entity handle;
    bool is_alive;
    bool has[KINDS];
    bool is_disabled[KINDS]; /* enable bit off */
    int32_t value[KINDS];    /* data, or shared value */
} naive_entity;

/* What one kind of the naive world is in the real one. */
typedef struct naive_kind {
    weft_component component;
    bool is_data, is_enableable, is_shared;
} naive_kind;

/* Both worlds. */
typedef struct twin {
    fixture f;
    test_random random;
    naive_kind kinds[KINDS];
    naive_entity entities[ENTITIES];
} twin;

static uint32_t below(twin *w, uint32_t bound)
{
    return (uint32_t)test_random_below(&w->random, bound);
}

static void twin_open(twin *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->random = test_random_init(seed);
    fixture_open(&w->f, 1 + below(w, 7));
    const weft_component list[KINDS] = {w->f.a, w->f.b, w->f.c, w->f.t, w->f.u, w->f.l,
                                        w->f.x, w->f.y, w->f.z, w->f.w, w->f.s, w->f.f};
    for (uint32_t k = 0; k < KINDS; k++)
        w->kinds[k] = (naive_kind){.component = list[k],
                                   .is_data = k < 3 || (k >= 6 && k < 9),
                                   .is_enableable = k >= 6 && k < 10,
                                   .is_shared = k >= 10};
}

/* ---- single changes ---- */

static void set_value(twin *w, naive_entity *e, uint32_t k, int32_t value)
{
    weft_component component = w->kinds[k].component;
    if (w->kinds[k].is_shared) {
        char bytes[4];
        memcpy(bytes, &value, 4);
        CHECK_OK(weft_entity_set_shared(w->f.world, e->handle, component, bytes));
    } else {
        CHECK_OK(weft_entity_set(w->f.world, e->handle, component, &value, 4));
    }
    if (!e->has[k]) e->is_disabled[k] = false;
    e->has[k] = true;
    e->value[k] = value;
}

static void add_kind(twin *w, naive_entity *e, uint32_t k)
{
    CHECK_OK(weft_entity_add(w->f.world, e->handle, w->kinds[k].component));
    if (e->has[k]) return;
    e->has[k] = true;
    e->is_disabled[k] = false;
    e->value[k] = 0;
}

static void remove_kind(twin *w, naive_entity *e, uint32_t k)
{
    CHECK_OK(weft_entity_remove(w->f.world, e->handle, w->kinds[k].component));
    e->has[k] = false;
    e->is_disabled[k] = false;
    e->value[k] = 0;
}

static void revive(twin *w, naive_entity *e)
{
    weft_component list[KINDS];
    uint32_t count = 0;
    memset(e, 0, sizeof *e);
    e->is_alive = true;
    for (uint32_t k = 0; k < KINDS; k++) {
        e->has[k] = below(w, 3) == 0;
        if (e->has[k]) list[count++] = w->kinds[k].component;
    }
    CHECK_OK(weft_entity_create_many(w->f.world, weft_archetype_create(w->f.world, list, count), 1,
                                     &e->handle));
}

static void change_one(twin *w)
{
    naive_entity *e = &w->entities[below(w, ENTITIES)];
    uint32_t k = below(w, KINDS);
    if (!e->is_alive) {
        revive(w, e);
        return;
    }
    switch (below(w, 6)) {
    case 0:
        CHECK_OK(weft_entity_destroy(w->f.world, e->handle));
        e->is_alive = false;
        break;
    case 1:
        add_kind(w, e, k);
        break;
    case 2:
        remove_kind(w, e, k);
        break;
    case 3:
        if (w->kinds[k].is_data || w->kinds[k].is_shared)
            set_value(w, e, k, (int32_t)below(w, k == SHARED_FLAG ? 2 : 4));
        break;
    default:
        if (!w->kinds[k].is_enableable || !e->has[k]) break;
        e->is_disabled[k] = below(w, 2) == 0;
        CHECK_OK(
            weft_entity_enable(w->f.world, e->handle, w->kinds[k].component, !e->is_disabled[k]));
    }
}

/* ---- queries ---- */

/* A random query as both sides see it. */
typedef struct twin_query {
    weft_term terms[6];
    uint32_t kind[6];
    uint32_t count;
    bool ignores_enabled;
    /* filter */
    uint32_t filter_kind; /* 0: none */
    weft_filter_op op;
    int32_t values[3];
    uint32_t value_count;
    weft_query handle;
} twin_query;

static weft_match random_match(twin *w, uint32_t k, bool ignores_enabled)
{
    for (;;) {
        weft_match match = (weft_match)below(w, 7);
        if (match != WEFT_DISABLED || (w->kinds[k].is_enableable && !ignores_enabled)) return match;
    }
}

static void add_term(twin *w, twin_query *q)
{
    uint32_t k = below(w, KINDS), alternative = below(w, 4) == 0 ? 1 : 0;
    for (uint32_t i = 0; i < q->count; i++)
        if (q->kind[i] == k && q->terms[i].alternative == alternative) return;
    q->kind[q->count] = k;
    q->terms[q->count++] =
        (weft_term){.component = w->kinds[k].component,
                    .match = random_match(w, k, q->ignores_enabled),
                    .access = below(w, 2) == 0 && !w->kinds[k].is_shared ? WEFT_WRITE : WEFT_READ,
                    .alternative = alternative};
}

static void add_filter(twin *w, twin_query *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (w->kinds[q->kind[i]].is_shared && q->terms[i].match != WEFT_ABSENT)
            q->filter_kind = q->kind[i];
    if (q->filter_kind == 0 || below(w, 2) == 0) {
        q->filter_kind = 0;
        return;
    }
    q->op = (weft_filter_op)below(w, 3);
    q->value_count = q->op == WEFT_FILTER_ONE_OF ? 1 + below(w, 3) : 1;
    uint32_t bytes = q->filter_kind == SHARED_FLAG ? 1 : 4;
    char packed[12];
    for (uint32_t i = 0; i < q->value_count; i++) {
        q->values[i] = (int32_t)below(w, bytes == 1 ? 2 : 4);
        memcpy(packed + i * bytes, &q->values[i], bytes);
    }
    CHECK_OK(weft_query_filter_shared(w->f.world, q->handle, w->kinds[q->filter_kind].component,
                                      q->op, packed, q->value_count));
}

static twin_query random_query(twin *w)
{
    twin_query q = {.ignores_enabled = below(w, 8) == 0};
    uint32_t terms = below(w, 6);
    for (uint32_t i = 0; i < terms; i++) add_term(w, &q);
    weft_query_desc desc = {.ignores_enabled = q.ignores_enabled};
    memcpy(desc.terms, q.terms, sizeof q.terms);
    q.handle = fixture_query(&w->f, &desc);
    add_filter(w, &q);
    return q;
}

/* Whether an entity satisfies one term; ANY terms are judged by the caller. */
static bool satisfies(const twin *w, const naive_entity *e, const twin_query *q, uint32_t i)
{
    uint32_t k = q->kind[i];
    bool counts = w->kinds[k].is_enableable && !q->ignores_enabled;
    bool is_off = counts && e->is_disabled[k];
    switch (q->terms[i].match) {
    case WEFT_ALL:
    case WEFT_ANY:
        return e->has[k] && !is_off;
    case WEFT_NONE:
        return !e->has[k] || is_off;
    case WEFT_ABSENT:
        return !e->has[k];
    case WEFT_PRESENT:
        return e->has[k];
    case WEFT_DISABLED:
        return e->has[k] && is_off;
    case WEFT_OPTIONAL:
        return true;
    }
    return false;
}

/* Another component of the entity takes over what a description writes. */
static bool satisfies_alternative(const twin *w, const naive_entity *e, const twin_query *q,
                                  uint32_t alternative)
{
    bool has_terms = false, wants_any = false, has_any = false;
    for (uint32_t i = 0; i < q->count; i++) {
        if (q->terms[i].alternative != alternative) continue;
        has_terms = true;
        bool is_met = satisfies(w, e, q, i);
        if (q->terms[i].match == WEFT_ANY) {
            wants_any = true;
            has_any = has_any || is_met;
        } else if (!is_met) {
            return false;
        }
    }
    return (has_terms || q->count == 0) && (!wants_any || has_any);
}

static bool passes_filter(const naive_entity *e, const twin_query *q)
{
    if (q->filter_kind == 0) return true;
    bool is_among = false;
    for (uint32_t i = 0; i < q->value_count; i++)
        is_among = is_among || (e->has[q->filter_kind] && e->value[q->filter_kind] == q->values[i]);
    return q->op == WEFT_FILTER_NOT_EQUAL ? !is_among : is_among;
}

static bool selects(const twin *w, const naive_entity *e, const twin_query *q)
{
    return e->is_alive && passes_filter(e, q) &&
           (satisfies_alternative(w, e, q, 0) || satisfies_alternative(w, e, q, 1));
}

static naive_entity *find_entity(twin *w, weft_entity handle)
{
    for (uint32_t i = 0; i < ENTITIES; i++)
        if (w->entities[i].is_alive && w->entities[i].handle.index == handle.index &&
            w->entities[i].handle.version == handle.version)
            return &w->entities[i];
    return NULL;
}

/* Every row a loop gives is selected, once, and its columns hold the right values. */
static uint64_t check_loop(twin *w, const twin_query *q)
{
    bool seen[ENTITIES] = {false};
    uint64_t rows = 0;
    weft_cursor cursor = weft_query_begin(w->f.world, q->handle);
    while (weft_query_next(&cursor)) {
        const weft_slice *slice = &cursor.slice;
        uint32_t begin = 0, end = 0;
        while (weft_slice_next_run(slice, &begin, &end))
            for (uint32_t r = begin; r < end; r++, rows++) {
                naive_entity *e = find_entity(w, weft_slice_entities(slice)[r]);
                CHECK(e != NULL && selects(w, e, q) && !seen[e - w->entities]);
                seen[e - w->entities] = true;
                for (uint32_t i = 0; i < q->count; i++) {
                    const int32_t *column = slice->columns[i];
                    bool is_there = w->kinds[q->kind[i]].is_data && e->has[q->kind[i]];
                    CHECK_U64(column != NULL, is_there);
                    if (column != NULL) CHECK_I64(column[r], e->value[q->kind[i]]);
                }
            }
    }
    return rows;
}

static void check_query(twin *w, const twin_query *q)
{
    uint64_t expected = 0;
    for (uint32_t i = 0; i < ENTITIES; i++) {
        bool is_selected = selects(w, &w->entities[i], q);
        expected += is_selected;
        CHECK_U64(weft_query_matches(w->f.world, q->handle, w->entities[i].handle), is_selected);
    }
    CHECK_U64(check_loop(w, q), expected);
    CHECK_U64(weft_query_count(w->f.world, q->handle), expected);
    CHECK_U64(weft_query_is_empty(w->f.world, q->handle), expected == 0);
    CHECK_U64(weft_query_entities(w->f.world, q->handle, NULL, 0), expected);
}

static void check_entity(twin *w, const naive_entity *e)
{
    CHECK_U64(weft_entity_is_alive(w->f.world, e->handle), e->is_alive);
    for (uint32_t k = 0; k < KINDS && e->is_alive; k++) {
        weft_component component = w->kinds[k].component;
        CHECK_U64(weft_entity_has(w->f.world, e->handle, component), e->has[k]);
        if (!e->has[k]) continue;
        CHECK_U64(weft_entity_is_enabled(w->f.world, e->handle, component), !e->is_disabled[k]);
        if (w->kinds[k].is_data) {
            const int32_t *value = weft_entity_read(w->f.world, e->handle, component);
            CHECK_I64(*value, e->value[k]);
        } else if (w->kinds[k].is_shared) {
            int32_t value = 0;
            memcpy(&value, weft_entity_read_shared(w->f.world, e->handle, component),
                   k == SHARED_FLAG ? 1 : 4);
            CHECK_I64(value, e->value[k]);
        }
    }
}

static void check_world(twin *w)
{
    for (uint32_t i = 0; i < ENTITIES; i++) check_entity(w, &w->entities[i]);
    fixture_validate(&w->f);
}

/* ---- query-wide changes ---- */

static void assign(naive_entity *e, uint32_t k, int32_t value)
{
    if (!e->has[k]) e->is_disabled[k] = false;
    e->has[k] = true;
    e->value[k] = value;
}

/* Changes all selected entities, in the real world by one call, in the naive one by one. */
static void change_all(twin *w, const twin_query *q)
{
    uint32_t k = below(w, KINDS), choice = below(w, 20);
    int32_t value = (int32_t)below(w, k == SHARED_FLAG ? 2 : 4);
    weft_component component = w->kinds[k].component;
    bool is_on = below(w, 2) == 0, was_selected[ENTITIES];
    for (uint32_t i = 0; i < ENTITIES; i++) was_selected[i] = selects(w, &w->entities[i], q);
    char bytes[4];
    memcpy(bytes, &value, 4);
    if (choice == 0)
        CHECK_OK(weft_query_destroy_entities(w->f.world, q->handle));
    else if (choice < 6)
        CHECK_OK(weft_query_add(w->f.world, q->handle, component));
    else if (choice < 12)
        CHECK_OK(weft_query_remove(w->f.world, q->handle, component));
    else if (w->kinds[k].is_shared)
        CHECK_OK(weft_query_set_shared(w->f.world, q->handle, component, bytes));
    else if (w->kinds[k].is_enableable && choice < 16)
        CHECK_OK(weft_query_enable(w->f.world, q->handle, component, is_on));
    else if (w->kinds[k].is_data)
        CHECK_OK(weft_query_set(w->f.world, q->handle, component, &value, 4));
    else
        return;
    for (uint32_t i = 0; i < ENTITIES; i++) {
        naive_entity *e = &w->entities[i];
        if (!was_selected[i]) continue;
        if (choice == 0) {
            e->is_alive = false;
        } else if (choice < 6) {
            if (!e->has[k]) assign(e, k, 0);
        } else if (choice < 12) {
            e->has[k] = e->is_disabled[k] = false;
            e->value[k] = 0;
        } else if (w->kinds[k].is_enableable && choice < 16 && !w->kinds[k].is_shared) {
            if (e->has[k]) e->is_disabled[k] = !is_on;
        } else {
            assign(e, k, value);
        }
    }
}

static void run_twin(uint64_t seed, int rounds)
{
    twin *w = malloc(sizeof *w);
    twin_open(w, seed);
    for (int round = 0; round < rounds; round++) {
        for (uint32_t i = below(w, 40); i > 0; i--) change_one(w);
        twin_query q = random_query(w), later = random_query(w);
        check_query(w, &q);
        if (below(w, 2) == 0) change_all(w, &q);
        check_world(w);
        for (uint32_t i = below(w, 10); i > 0; i--) change_one(w);
        check_query(w, &later); /* made before archetypes that appeared since */
        CHECK_OK(weft_query_destroy(w->f.world, q.handle));
        CHECK_OK(weft_query_destroy(w->f.world, later.handle));
        check_world(w);
    }
    fixture_close(&w->f);
    free(w);
}

Test(query_random, random_queries_and_changes_agree_with_a_naive_evaluator)
{
    for (uint64_t seed = 1; seed <= 12; seed++) run_twin(seed * 1000003, 150);
}
