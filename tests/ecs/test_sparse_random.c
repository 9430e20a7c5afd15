/* SPDX-License-Identifier: MIT */
/* test_sparse_random.c: a random world with SPARSE components beside a model of plain arrays: every
 * way to add, remove, set and end them, and every kind of query term; then the same world in a file
 * and in another world. */
#include "random.h"
#include "sparse_fixture.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3000, KINDS = 2 };

typedef struct model_entity {
    weft_entity id;
    bool has_velocity, is_prefab, is_inactive, is_marked, is_burning, is_hot;
    uint32_t position, burning, hot;
} model_entity;

/* Owner: one test. */
typedef struct model {
    sparse_fixture s;
    weft_component hot; /* SPARSE, 12 bytes */
    model_entity e[MOST];
    uint32_t count;
    test_random random;
    weft_snapshot *snapshot;
    model_entity *saved;
    uint32_t saved_count;
} model;

typedef struct three {
    uint32_t a, b, c;
} three;

static uint32_t below(model *m, uint32_t bound)
{
    return (uint32_t)test_random_below(&m->random, bound);
}

static void model_create(model *m)
{
    if (m->count == MOST) return;
    model_entity *e = &m->e[m->count++];
    *e = (model_entity){.has_velocity = below(m, 2) != 0, .position = below(m, 1000)};
    weft_world *world = m->s.f.world;
    e->id = weft_entity_create(world, e->has_velocity
                                          ? WEFT_ARCHETYPE(world, m->s.f.health, m->s.f.velocity)
                                          : WEFT_ARCHETYPE(world, m->s.f.health));
    CHECK_OK(weft_entity_set(world, e->id, m->s.f.health, &e->position, 4));
}

static void model_forget(model *m, uint32_t i)
{
    m->e[i] = m->e[--m->count];
}

/* Some entities, each once. */
static uint32_t pick(model *m, uint32_t *at, weft_entity *ids)
{
    uint32_t n = 0;
    if (m->count == 0) return 0;
    uint32_t step = 1 + below(m, 40);
    for (uint32_t i = below(m, m->count); i < m->count && n < 200; i += step) {
        at[n] = i;
        ids[n++] = m->e[i].id;
    }
    return n;
}

static void set_hot(model_entity *e, uint32_t value)
{
    e->is_hot = true;
    e->hot = value;
}

/* One entity changes. */
static void change_one(model *m)
{
    weft_world *world = m->s.f.world;
    if (m->count == 0) return;
    model_entity *e = &m->e[below(m, m->count)];
    uint32_t value = below(m, 100000);
    three v = {value, value + 1, value + 2};
    switch (below(m, 11)) {
    case 0:
        CHECK_OK(weft_entity_add(world, e->id, m->s.burning));
        if (!e->is_burning) e->burning = 0;
        e->is_burning = true;
        break;
    case 1:
        CHECK_OK(weft_entity_remove(world, e->id, m->s.burning));
        e->is_burning = false;
        break;
    case 2:
        CHECK_OK(weft_entity_set(world, e->id, m->s.burning, &value, 4));
        e->is_burning = true;
        e->burning = value;
        break;
    case 3:
    case 4:
        CHECK_OK(weft_entity_set(world, e->id, m->hot, &v, sizeof v));
        set_hot(e, value);
        break;
    case 5:
        CHECK_OK(weft_entity_remove(world, e->id, m->hot));
        e->is_hot = false;
        break;
    case 6:
        e->is_marked = !e->is_marked;
        CHECK_OK(e->is_marked ? weft_entity_add(world, e->id, m->s.marked)
                              : weft_entity_remove(world, e->id, m->s.marked));
        break;
    case 7:
        e->has_velocity = !e->has_velocity;
        CHECK_OK(e->has_velocity ? weft_entity_add(world, e->id, m->s.f.velocity)
                                 : weft_entity_remove(world, e->id, m->s.f.velocity));
        break;
    case 8:
        e->is_prefab = below(m, 4) == 0;
        CHECK_OK(e->is_prefab ? weft_entity_add(world, e->id, weft_component_prefab(world))
                              : weft_entity_remove(world, e->id, weft_component_prefab(world)));
        break;
    case 9:
        e->is_inactive = below(m, 4) == 0;
        CHECK_OK(e->is_inactive ? weft_entity_add(world, e->id, weft_component_inactive(world))
                                : weft_entity_remove(world, e->id, weft_component_inactive(world)));
        break;
    default:
        CHECK_OK(weft_entity_destroy(world, e->id));
        model_forget(m, (uint32_t)(e - m->e));
    }
}

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Many at once. */
static void change_many(model *m)
{
    weft_world *world = m->s.f.world;
    uint32_t at[200], values[200];
    weft_entity ids[200];
    uint32_t n = pick(m, at, ids);
    if (n == 0) return;
    for (uint32_t i = 0; i < n; i++) values[i] = below(m, 1000);
    weft_component changed[] = {m->s.burning, m->s.f.velocity, m->s.marked};
    switch (below(m, 5)) {
    case 0:
        CHECK_OK(weft_entity_set_many(world, ids, n, m->s.burning, values, 4));
        for (uint32_t i = 0; i < n; i++)
            m->e[at[i]].is_burning = true, m->e[at[i]].burning = values[i];
        break;
    case 1:
        CHECK_OK(weft_entity_change_many(
            world, ids, n,
            &(weft_change_desc){
                .add = changed, .add_count = 2, .remove = changed + 2, .remove_count = 1}));
        for (uint32_t i = 0; i < n; i++) {
            model_entity *e = &m->e[at[i]];
            if (!e->is_burning) e->burning = 0;
            e->is_burning = e->has_velocity = true;
            e->is_marked = false;
        }
        break;
    case 2:
        CHECK_OK(weft_entity_change_many(
            world, ids, n,
            &(weft_change_desc){
                .add = changed + 2, .add_count = 1, .remove = changed, .remove_count = 2}));
        for (uint32_t i = 0; i < n; i++) {
            model_entity *e = &m->e[at[i]];
            e->is_burning = e->has_velocity = false;
            e->is_marked = true;
        }
        break;
    case 3:
        if (n > 20) n = 20;
        CHECK_OK(weft_entity_destroy_many(world, ids, n));
        qsort(at, n, sizeof at[0], descending);
        for (uint32_t i = 0; i < n; i++) model_forget(m, at[i]);
        break;
    default:
        for (uint32_t i = 0; i < 3 && m->count + 1 < MOST; i++) {
            model_entity copy = m->e[at[0]];
            CHECK_OK(weft_entity_instantiate(world, copy.id, 1, &copy.id));
            copy.is_prefab = false;
            m->e[m->count++] = copy;
        }
    }
}

/* By query: every entity with a velocity, prefabs and inactive ones left out. */
static void change_by_query(model *m)
{
    weft_world *world = m->s.f.world;
    uint32_t value = below(m, 1000), kind = below(m, 4);
    weft_query q = weft_query_create(
        world, &(weft_query_desc){.terms = {{kind == 3 ? m->s.marked : m->s.f.velocity}}});
    if (kind == 0) CHECK_OK(weft_query_add(world, q, m->s.marked));
    if (kind == 1) CHECK_OK(weft_query_remove(world, q, m->s.burning));
    if (kind == 2) CHECK_OK(weft_query_set(world, q, m->s.burning, &value, 4));
    if (kind == 3) CHECK_OK(weft_query_add(world, q, m->s.f.velocity));
    CHECK_OK(weft_query_destroy(world, q));
    for (uint32_t i = 0; i < m->count; i++) {
        model_entity *e = &m->e[i];
        if (!(kind == 3 ? e->is_marked : e->has_velocity) || e->is_prefab || e->is_inactive)
            continue;
        if (kind == 0) e->is_marked = true;
        if (kind == 1) e->is_burning = false;
        if (kind == 2) e->is_burning = true, e->burning = value;
        if (kind == 3) e->has_velocity = true;
    }
}

/* A recorder, long enough to be folded sometimes. */
static void change_by_commands(model *m)
{
    weft_world *world = m->s.f.world;
    uint32_t at[200];
    weft_entity ids[200];
    uint32_t n = pick(m, at, ids), value = below(m, 1000), ends = 0;
    bool destroys = below(m, 4) == 0;
    weft_recorder *r;
    CHECK_OK(weft_recorder_create(world, &r));
    for (uint32_t i = 0; i < n; i++) {
        model_entity *e = &m->e[at[i]];
        if (destroys && i % 3 == 0) {
            CHECK_OK(weft_recorder_destroy_entity(r, ids[i]));
            ends++;
        } else if (!destroys && i % 3 == 0) {
            CHECK_OK(weft_recorder_set(r, ids[i], m->s.burning, &value, 4));
            e->is_burning = true;
            e->burning = value;
        } else if (!destroys) {
            CHECK_OK(weft_recorder_remove(r, ids[i], m->s.marked));
            e->is_marked = false;
        }
    }
    CHECK_OK(weft_recorder_play(r));
    weft_recorder_destroy(r);
    if (ends == 0) return;
    qsort(at, n, sizeof at[0], descending);
    for (uint32_t i = 0; i < n; i++)
        if (!weft_entity_is_alive(world, m->e[at[i]].id)) model_forget(m, at[i]);
}

static void snapshot_or_back(model *m)
{
    weft_world *world = m->s.f.world;
    if (m->snapshot == NULL || below(m, 3) == 0) {
        weft_snapshot *next;
        CHECK_OK(weft_snapshot_take(world, m->snapshot, &next));
        weft_snapshot_destroy(m->snapshot);
        m->snapshot = next;
        memcpy(m->saved, m->e, sizeof m->e);
        m->saved_count = m->count;
        return;
    }
    CHECK_OK(weft_snapshot_restore(world, m->snapshot));
    memcpy(m->e, m->saved, sizeof m->e);
    m->count = m->saved_count;
}

/* ---- what the world says, and the model ---- */

static void check_values(model *m)
{
    weft_world *world = m->s.f.world;
    weft_finder find = weft_finder_open(world, m->hot);
    for (uint32_t i = 0; i < m->count; i++) {
        const model_entity *e = &m->e[i];
        CHECK(weft_entity_has(world, e->id, m->s.burning) == e->is_burning);
        CHECK(weft_entity_has(world, e->id, m->s.marked) == e->is_marked);
        if (e->is_burning)
            CHECK_U64(*(const uint32_t *)weft_entity_read(world, e->id, m->s.burning), e->burning);
        const three *hot = weft_finder_read(&find, e->id);
        CHECK((hot != NULL) == e->is_hot);
        if (hot != NULL) CHECK(hot->a == e->hot && hot->c == e->hot + 2);
        CHECK_U64(*(const uint32_t *)weft_entity_read(world, e->id, m->s.f.health), e->position);
    }
}

/* What a query has: its rows, the sum of their entities, and that of a value of a term. */
typedef struct totals {
    uint64_t rows, entities, values;
} totals;

static totals sum_query(model *m, const weft_query_desc *desc, uint32_t value_term)
{
    weft_world *world = m->s.f.world;
    totals t = {0};
    weft_query q = weft_query_create(world, desc);
    CHECK(q.id != 0);
    weft_cursor c = weft_query_begin(world, q);
    while (weft_query_next(&c)) {
        weft_slice_walk walk = {0};
        while (weft_slice_next_row(&c.slice, &walk)) {
            t.rows++;
            t.entities += c.slice.entities[walk.row].index;
            if (value_term == UINT32_MAX) continue;
            const uint32_t *value = weft_slice_read_row(&c.slice, value_term, (uint32_t)walk.row);
            if (value != NULL) t.values += *value;
        }
    }
    CHECK_U64(weft_query_count(world, q), t.rows);
    CHECK(weft_query_is_empty(world, q) == (t.rows == 0));
    for (uint32_t i = 0; i < m->count && i < 20; i++) {
        weft_entity e = m->e[below(m, m->count)].id;
        bool is_found = false;
        c = weft_query_begin(world, q);
        while (weft_query_next(&c)) {
            weft_slice_walk walk = {0};
            while (weft_slice_next_row(&c.slice, &walk))
                is_found = is_found || (c.slice.entities[walk.row].index == e.index);
        }
        CHECK(weft_query_matches(world, q, e) == is_found);
    }
    CHECK_OK(weft_query_destroy(world, q));
    return t;
}

typedef bool (*model_test)(const model_entity *e);

static bool is_burning(const model_entity *e)
{
    return e->is_burning;
}
static bool burns_moving(const model_entity *e)
{
    return e->is_burning && e->has_velocity;
}
static bool moves_unburnt(const model_entity *e)
{
    return !e->is_burning && e->has_velocity;
}
static bool burns_marked(const model_entity *e)
{
    return e->is_burning && e->is_marked;
}
static bool burns_unmarked(const model_entity *e)
{
    return e->is_burning && !e->is_marked;
}
static bool burns_or_marked(const model_entity *e)
{
    return e->is_burning || e->is_marked;
}
static bool unmarked(const model_entity *e)
{
    return !e->is_marked;
}
static bool moves(const model_entity *e)
{
    return e->has_velocity;
}
static bool is_any(const model_entity *e)
{
    (void)e;
    return true;
}
static bool hot_or_still_burning(const model_entity *e)
{
    return (e->is_hot && e->has_velocity) || (e->is_burning && !e->has_velocity);
}

static void check_query(model *m, weft_query_desc desc, model_test test, uint32_t value_term)
{
    for (uint32_t with = 0; with < 4; with++) {
        totals expected = {0};
        desc.with_prefabs = (with & 1) != 0;
        desc.with_inactive = (with & 2) != 0;
        for (uint32_t i = 0; i < m->count; i++) {
            const model_entity *e = &m->e[i];
            if (!test(e) || (e->is_prefab && !desc.with_prefabs) ||
                (e->is_inactive && !desc.with_inactive))
                continue;
            expected.rows++;
            expected.entities += e->id.index;
            if (value_term != UINT32_MAX && e->is_burning) expected.values += e->burning;
        }
        totals t = sum_query(m, &desc, value_term);
        CHECK_U64(t.rows, expected.rows);
        CHECK_U64(t.entities, expected.entities);
        CHECK_U64(t.values, expected.values);
    }
}

static void check_queries(model *m)
{
    weft_component s = m->s.burning, k = m->s.marked, v = m->s.f.velocity, h = m->s.f.health;
    const uint32_t none = UINT32_MAX;
    check_query(m, (weft_query_desc){.terms = {{s}}}, is_burning, 0);
    check_query(m, (weft_query_desc){.terms = {{s, .match = WEFT_PRESENT}}}, is_burning, 0);
    check_query(m, (weft_query_desc){.terms = {{s}, {k}}}, burns_marked, 0);
    check_query(m, (weft_query_desc){.terms = {{k}, {s}}}, burns_marked, 1);
    check_query(m, (weft_query_desc){.terms = {{s}, {k, .match = WEFT_NONE}}}, burns_unmarked, 0);
    check_query(m, (weft_query_desc){.terms = {{v}, {s, .access = WEFT_WRITE}}}, burns_moving, 1);
    check_query(m, (weft_query_desc){.terms = {{s}, {v, .match = WEFT_PRESENT}}}, burns_moving, 0);
    check_query(m, (weft_query_desc){.terms = {{v}, {s, .match = WEFT_NONE}}}, moves_unburnt, none);
    check_query(m, (weft_query_desc){.terms = {{v}, {s, .match = WEFT_ABSENT}}}, moves_unburnt,
                none);
    check_query(m, (weft_query_desc){.terms = {{h}, {s, .match = WEFT_OPTIONAL}}}, is_any, 1);
    check_query(m, (weft_query_desc){.terms = {{v}, {s, .match = WEFT_OPTIONAL}}}, moves, 1);
    check_query(m, (weft_query_desc){.terms = {{s, .match = WEFT_ANY}, {k, .match = WEFT_ANY}}},
                burns_or_marked, 0);
    check_query(m, (weft_query_desc){.terms = {{k, .match = WEFT_NONE}}}, unmarked, none);
    check_query(m, (weft_query_desc){0}, is_any, none);
    check_query(m,
                (weft_query_desc){.terms = {{m->hot, .alternative = 1},
                                            {v, .alternative = 1},
                                            {s, .alternative = 2},
                                            {v, .match = WEFT_NONE, .alternative = 2}}},
                hot_or_still_burning, none);
}

static void check_model(model *m)
{
    if (weft_world_validate(m->s.f.world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(m->s.f.world)->text);
    CHECK_U64(weft_query_count(m->s.f.world, (weft_query){0}), 0);
    check_values(m);
    check_queries(m);
}

static model *model_open(uint64_t seed)
{
    model *m = calloc(1, sizeof *m);
    m->saved = calloc(MOST, sizeof *m->saved);
    m->s = sparse_open();
    m->hot = weft_component_create_plain(m->s.f.world, "hot", sizeof(three), 4, WEFT_SPARSE);
    m->random = test_random_init(seed);
    return m;
}

static void model_close(model *m)
{
    weft_snapshot_destroy(m->snapshot);
    storage_close(&m->s.f);
    free(m->saved);
    free(m);
}

static void model_step(model *m)
{
    switch (below(m, 40)) {
    case 0:
        change_by_query(m);
        break;
    case 1:
    case 2:
        change_many(m);
        break;
    case 3:
        change_by_commands(m);
        break;
    case 4:
        snapshot_or_back(m);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
        model_create(m);
        break;
    case 12:
        weft_world_compact(m->s.f.world, 1000);
        break;
    default:
        change_one(m);
    }
}

Test(sparse_random, is_what_a_model_says)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        model *m = model_open(seed);
        uint32_t population = seed % 2 == 0 ? 60 : 1500;
        for (uint32_t i = 0; i < population; i++) model_create(m);
        for (uint32_t round = 0; round < 30; round++) {
            for (uint32_t i = 0; i < 60; i++) model_step(m);
            check_model(m);
        }
        model_close(m);
    }
}

/* ---- other worlds ---- */

Test(sparse_random, files_keep_it)
{
    for (uint64_t seed = 11; seed <= 14; seed++) {
        model *m = model_open(seed);
        for (uint32_t i = 0; i < 700; i++) model_create(m);
        for (uint32_t i = 0; i < 2000; i++) model_step(m);
        weft_world *old = m->s.f.world;
        weft_world_bytes bytes;
        CHECK_OK(weft_world_save_memory(old, &bytes, NULL));
        model *copy = model_open(seed);
        CHECK_OK(weft_world_load_memory(copy->s.f.world, bytes.bytes, bytes.count, NULL));
        CHECK_U64(weft_world_hash(copy->s.f.world, WEFT_HASH_LAYOUT),
                  weft_world_hash(old, WEFT_HASH_LAYOUT));
        memcpy(copy->e, m->e, sizeof m->e);
        copy->count = m->count;
        for (uint32_t i = 0; i < m->count; i++) /* another world may have another tag */
            copy->e[i].id.index ^= old->directory.tag_bits ^ copy->s.f.world->directory.tag_bits;
        check_model(copy);
        /* without one of them */
        weft_component left_out = m->hot;
        weft_world_bytes less;
        CHECK_OK(weft_world_save_memory(
            old, &less, &(weft_save_desc){.without = &left_out, .without_count = 1}));
        model *rest = model_open(seed);
        CHECK_OK(weft_world_load_memory(rest->s.f.world, less.bytes, less.count, NULL));
        weft_query q =
            weft_query_create(rest->s.f.world, &(weft_query_desc){.terms = {{rest->hot}}});
        CHECK_U64(weft_query_count(rest->s.f.world, q), 0);
        weft_world_bytes_free(old, &less);
        weft_world_bytes_free(old, &bytes);
        model_close(rest);
        model_close(copy);
        model_close(m);
    }
}

Test(sparse_random, goes_with_entities_to_another_world)
{
    for (uint64_t seed = 21; seed <= 26; seed++) {
        model *m = model_open(seed), *other = model_open(seed);
        for (uint32_t i = 0; i < 1500; i++) model_create(m);
        for (uint32_t i = 0; i < 2000; i++) model_step(m);
        weft_snapshot_destroy(m->snapshot);
        m->snapshot = NULL;
        for (uint32_t i = 0; i < 400; i++) model_create(other);
        weft_entity tracked[MOST];
        for (uint32_t i = 0; i < m->count; i++) tracked[i] = m->e[i].id;
        weft_query q = {0};
        if (seed % 3 != 0)
            q = weft_query_create(m->s.f.world, &(weft_query_desc){.terms = {{m->s.burning}},
                                                                   .with_prefabs = true,
                                                                   .with_inactive = true});
        CHECK_OK(weft_world_transfer(
            other->s.f.world, m->s.f.world,
            &(weft_transfer_desc){.query = q, .tracked = tracked, .tracked_count = m->count}, NULL,
            0));
        uint32_t kept = 0;
        for (uint32_t i = 0; i < m->count; i++) {
            bool went = tracked[i].version != 0;
            CHECK(went == (q.id == 0 || is_burning(&m->e[i])));
            if (!went) {
                m->e[kept++] = m->e[i];
                continue;
            }
            if (other->count == MOST) continue;
            other->e[other->count] = m->e[i];
            other->e[other->count++].id = tracked[i];
        }
        m->count = kept;
        check_model(m);
        check_model(other);
        model_close(other);
        model_close(m);
    }
}
