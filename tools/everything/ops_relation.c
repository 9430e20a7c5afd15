/* SPDX-License-Identifier: MIT */
/* ops_relation.c: relations by their own calls: set, for one and for many, settled, asked.
 *
 * What settling does with dead targets and depths is in the model; here are the answers of
 * weft_relation_set, and cycles, which are cut at the lowest handle: the model knows no handles. */
#include "everything.h"

#include <string.h>

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

/* The number that a field holds now; 0 for null, and where there is none. */
static uint32_t target_of(const model *m, uint32_t n, uint32_t kind)
{
    uint64_t number = 0;
    const model_value *value = model_is_alive(m, n) ? model_read(m, n, kind) : NULL;
    if (value != NULL) memcpy(&number, value->bytes, sizeof number);
    return (uint32_t)number;
}

static void field_set(model *m, uint32_t n, uint32_t kind, uint64_t target)
{
    memcpy(model_read(m, n, kind)->bytes, &target, sizeof target);
    model_touch(m, n, KIND_BIT(kind));
}

/* ---- set ---- */

static model_result dead(uint32_t n)
{
    return n == EVERYTHING_FOREIGN ? MODEL_FOREIGN : MODEL_STALE;
}

/* What is wrong: with the target, then with sources that are above it, then with any. */
static model_result set_check(const model *m, uint32_t kind, const uint32_t *sources,
                              uint32_t count, uint32_t target)
{
    if (!kind_is_relation(kind)) return MODEL_MISMATCH;
    if (target != 0 && !model_is_alive(m, target)) return dead(target);
    for (uint32_t i = 0; i < count && model_is(m, kind, MODEL_ACYCLIC); i++) {
        uint32_t up = target, steps = 0;
        while (up != 0 && up != sources[i] && steps++ < m->count) up = target_of(m, up, kind);
        if (up != 0 && up == sources[i])
            return model_is_alive(m, up) ? MODEL_CYCLE : dead(sources[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!model_is_alive(m, sources[i])) return dead(sources[i]);
    return MODEL_OK;
}

/* Many that get a relation by depth have their depth at once. */
static void model_relate(model *m, uint32_t kind, uint32_t n, uint32_t target, bool is_many)
{
    if (!model_has(m, n, kind)) {
        const model_value *above = model_read(m, target, kind + 1);
        uint32_t depth = 0;
        bool has_depth = is_many && model_is(m, kind, MODEL_BY_DEPTH) && target != 0;
        if (has_depth && above != NULL) memcpy(&depth, above->bytes, sizeof depth);
        depth++;
        model_change(m, n, KIND_BIT(kind), 0);
        if (has_depth) model_set(m, n, kind + 1, &depth, 1);
    }
    field_set(m, n, kind, target);
}

static uint32_t known(const everything *e, uint32_t n)
{
    bool is_null = weft_entity_is_null(everything_handle(e->here, n));
    return is_null ? 0 : n;
}

/* A source whose index a dead target has, which some entity still leads to: the new target. */
static void successor_pick(const everything *e, uint32_t kind, uint32_t *source, uint32_t *target)
{
    const model *m = &e->here->m;
    for (uint32_t n = 1; n < m->count; n++) {
        uint32_t gone = target_of(m, n, kind);
        weft_entity handle = everything_handle(e->here, gone);
        if (gone == 0 || model_is_alive(m, gone) || weft_entity_is_null(handle)) continue;
        for (uint32_t k = gone + 1; k < m->count; k++) {
            weft_entity other = everything_handle(e->here, k);
            if (!model_is_alive(m, k) || other.index != handle.index) continue;
            *source = k;
            *target = n;
            return;
        }
    }
}

/* Each below the one before. */
static void run_chain(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    const uint32_t *list = everything_many(e, c->a, 0, c->size % 48 + 1);
    for (uint32_t i = 1; i < c->size % 48 && !everything_has_failed(e); i++) {
        model_result may = set_check(m, c->kind, &list[i], 1, list[i - 1]);
        if (may == MODEL_OK) model_relate(m, c->kind, list[i], list[i - 1], false);
        weft_result expected = everything_result_of(may), result;
        everything_says(e, "IS(%s, weft_relation_set(world, %s, of[%s], %s));",
                        weft_result_name(expected), everything_c_entity(e, list[i]),
                        name_of(c->kind), everything_c_entity(e, list[i - 1]));
        result = weft_relation_set(e->here->world, everything_handle(e->here, list[i]),
                                   e->here->of[c->kind], everything_handle(e->here, list[i - 1]));
        everything_result(e, "weft_relation_set of a chain", result, expected);
    }
}

/* By a query of its rows, so that whole chunks move as they are. */
static void level_query(everything *e, const everything_call *c, uint32_t level)
{
    weft_world *world = e->here->world;
    weft_component depth = e->here->of[DEPTH];
    uint32_t other = (uint32_t)(c->value % 5);
    weft_query_desc desc = {
        .terms = {{depth, WEFT_READ, WEFT_ALL, 0}}, .with_prefabs = true, .with_inactive = true};
    everything_says(e, "weft_query level = weft_query_create(world, &(weft_query_desc){.terms = "
                       "{{of[DEPTH]}}, .with_prefabs = true, .with_inactive = true});");
    everything_says(e,
                    "IS(WEFT_OK, weft_query_filter_shared(world, level, of[DEPTH], "
                    "WEFT_FILTER_EQUAL, &(uint32_t){%u}, 1));",
                    level);
    weft_query query = weft_query_create(world, &desc);
    weft_result result =
        weft_query_filter_shared(world, query, depth, WEFT_FILTER_EQUAL, &level, 1);
    if (!everything_result(e, "a level's filter", result, WEFT_OK)) return;
    if (c->way == 1) {
        everything_says(e, "IS(WEFT_OK, weft_query_remove(world, level, of[DEPTH]));");
        result = weft_query_remove(world, query, depth);
    } else {
        everything_says(e,
                        "IS(WEFT_OK, weft_query_set_shared(world, level, of[DEPTH], "
                        "&(uint32_t){%u}));",
                        other);
        result = weft_query_set_shared(world, query, depth, &other);
    }
    everything_result(e, "the depth of a level", result, WEFT_OK);
    everything_says(e, "IS(WEFT_OK, weft_query_destroy(world, level));");
    everything_result(e, "weft_query_destroy", weft_query_destroy(world, query), WEFT_OK);
}

/* A whole level loses its depth, or gets another: settling gives it back. */
static void run_level(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    uint32_t *list = model_memory(m, m->count * sizeof *list), count = 0;
    uint32_t level = 1 + c->a % 3, depth, other = (uint32_t)(c->value % 5);
    for (uint32_t n = 1; n < m->count; n++) {
        const model_value *value = model_is_alive(m, n) ? model_read(m, n, DEPTH) : NULL;
        if (value != NULL) memcpy(&depth, value->bytes, sizeof depth);
        bool is_of_it = value != NULL && depth == level;
        if (is_of_it && (c->way != 0 || target_of(m, n, PARENT) != 0)) list[count++] = n;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (c->way == 2)
            model_set(m, list[i], DEPTH, &other, 1);
        else
            model_change(m, list[i], 0, KIND_BIT(DEPTH));
    }
    if (c->way != 0) {
        level_query(e, c, level);
        return;
    }
    everything_says_list(e, "list", list, count);
    everything_says(e,
                    "IS(WEFT_OK, weft_entity_change_many(world, list, %u, &(weft_change_desc){"
                    ".remove = &of[DEPTH], .remove_count = 1}));",
                    count);
    weft_result result = weft_entity_change_many(
        e->here->world, everything_handles(e, list, count), count,
        &(weft_change_desc){.remove = &e->here->of[DEPTH], .remove_count = 1});
    everything_result(e, "removing DEPTH", result, WEFT_OK);
}

static void run_set(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    bool is_many = c->way == 2;
    uint32_t one = everything_pick(e, c->a), count = is_many ? c->size : 1;
    uint32_t *sources = is_many ? everything_many(e, c->a, c->b, count) : &one;
    uint32_t target = c->way == 1 ? 0 : known(e, everything_pick(e, c->b));
    if (c->way == 0 && c->value / 32 % 3 == 0) successor_pick(e, c->kind, &one, &target);
    uint32_t kind = c->value % 32 == 0 ? LINK : c->kind;
    model_result may = set_check(m, kind, sources, count, target);
    for (uint32_t i = 0; i < count && may == MODEL_OK; i++)
        model_relate(m, kind, sources[i], target, is_many);
    weft_result expected = everything_result_of(may), result;
    weft_component component = e->here->of[kind];
    weft_entity to = everything_handle(e->here, target);
    if (!is_many) {
        everything_says(e, "IS(%s, weft_relation_set(world, %s, of[%s], %s));",
                        weft_result_name(expected), everything_c_entity(e, one), name_of(kind),
                        everything_c_entity(e, target));
        result = weft_relation_set(e->here->world, everything_handle(e->here, one), component, to);
    } else {
        everything_says_list(e, "list", sources, count);
        everything_says(e, "IS(%s, weft_relation_set_many(world, list, %u, of[%s], %s));",
                        weft_result_name(expected), count, name_of(kind),
                        everything_c_entity(e, target));
        result = weft_relation_set_many(e->here->world, everything_handles(e, sources, count),
                                        count, component, to);
    }
    everything_result(e, "weft_relation_set", result, expected);
}

/* ---- settle ---- */

/* Whether it is in a cycle, and has the lowest handle there. */
static bool is_cut(const everything *e, uint32_t n, uint32_t kind)
{
    const model *m = &e->here->m;
    uint32_t lowest = weft_entity_index(everything_handle(e->here, n)), steps = 0;
    uint32_t up = target_of(m, n, kind);
    for (; up != 0 && up != n && steps < m->count; steps++) {
        if (weft_entity_index(everything_handle(e->here, up)) < lowest) return false;
        up = target_of(m, up, kind);
    }
    return up == n;
}

/* Who had a target has a depth. */
static void cycles_cut(everything *e)
{
    model *m = &e->here->m;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t n = 1; n < m->count && model_is(m, kind, MODEL_ACYCLIC); n++) {
            if (!is_cut(e, n, kind)) continue;
            field_set(m, n, kind, 0);
            if (model_is(m, kind, MODEL_BY_DEPTH) && !model_has(m, n, kind + 1))
                model_set(m, n, kind + 1, NULL, 1);
        }
}

/* The sources that weft lists for each, in the order of their handles, and depths. */
static void sources_check(everything *e, uint32_t kind)
{
    const model *m = &e->here->m;
    weft_world *world = e->here->world;
    weft_component relation = e->here->of[kind];
    uint32_t *counts = model_memory(&e->here->m, m->count * sizeof *counts);
    uint64_t all = 0;
    for (uint32_t n = 1; n < m->count; n++) {
        uint32_t target = target_of(m, n, kind);
        if (!model_is_alive(m, target)) continue;
        counts[target]++;
        all++;
    }
    for (uint32_t n = 1; n < m->count && !everything_has_failed(e); n++) {
        if (!model_is_alive(m, n)) continue;
        uint32_t count = 7;
        const weft_entity *list =
            weft_relation_sources(world, relation, everything_handle(e->here, n), &count);
        if (count != counts[n])
            everything_says(e,
                            "uint32_t count;\n        weft_relation_sources(world, of[%s], e[%u], "
                            "&count);\n        CHECK(count == %u);",
                            name_of(kind), n, counts[n]);
        if (!everything_equal(e, "weft_relation_sources: count", count, counts[n])) return;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t source = everything_number(e->here, list[i]);
            bool is_there = source < m->count && target_of(m, source, kind) == n;
            bool is_behind = i == 0 || weft_entity_index(list[i - 1]) < weft_entity_index(list[i]);
            everything_equal(e, "weft_relation_sources: who", is_there, true);
            everything_equal(e, "weft_relation_sources: order", is_behind, true);
        }
    }
    weft_relation_stats stats;
    weft_result result = weft_relation_stats_get(world, relation, &stats, sizeof stats);
    everything_result(e, "weft_relation_stats_get", result, WEFT_OK);
    everything_equal(e, "weft_relation_stats: sources", stats.sources, all);
}

static void run_settle(everything *e, const everything_call *c)
{
    model *m = &e->here->m;
    weft_result expected = WEFT_OK;
    while (model_settle(m) == MODEL_CYCLE) {
        expected = WEFT_CYCLE;
        cycles_cut(e);
    }
    everything_says(e, "IS(%s, weft_relation_settle(world));", weft_result_name(expected));
    weft_result result = weft_relation_settle(e->here->world);
    if (everything_result(e, "weft_relation_settle", result, expected)) sources_check(e, c->kind);
}

static void run_ask(everything *e, const everything_call *c)
{
    const model *m = &e->here->m;
    uint32_t n = everything_pick(e, c->a), target = target_of(m, n, c->kind), depth = 0;
    weft_entity entity = everything_handle(e->here, n), is;
    everything_says(e, "CHECK(weft_entity_equal(weft_relation_target(world, %s, of[%s]), %s));",
                    everything_c_entity(e, n), name_of(c->kind), everything_c_entity(e, target));
    is = weft_relation_target(e->here->world, entity, e->here->of[c->kind]);
    everything_equal(e, "weft_relation_target",
                     weft_entity_equal(is, everything_handle(e->here, target)), true);
    const model_value *value = model_is_alive(m, n) ? model_read(m, n, DEPTH) : NULL;
    if (value != NULL) memcpy(&depth, value->bytes, sizeof depth);
    everything_says(e, "CHECK(weft_relation_depth(world, of[PARENT], %s) == %u);",
                    everything_c_entity(e, n), depth);
    everything_equal(e, "weft_relation_depth",
                     weft_relation_depth(e->here->world, e->here->of[PARENT], entity), depth);
}

static const char *const set_ways[] = {"set", "clear", "many", NULL};
static const char *const level_ways[] = {"many", "query remove", "query set_shared", NULL};

const everything_op everything_ops_relation[] = {
    {.name = "relation_set",
     .functions = "weft_relation_set weft_relation_set_many",
     .weight = 5,
     .draws = DRAWS_KIND | DRAWS_SIZE,
     .takes = kind_is_relation,
     .ways = set_ways,
     .run = run_set},
    {.name = "relation_chain",
     .functions = "weft_relation_set",
     .weight = 2,
     .draws = DRAWS_KIND | DRAWS_SIZE,
     .takes = kind_is_relation,
     .run = run_chain},
    {.name = "relation_level",
     .functions = "weft_entity_change_many weft_query_remove weft_query_set_shared",
     .weight = 2,
     .ways = level_ways,
     .run = run_level},
    {.name = "relation_settle",
     .functions = "weft_relation_settle weft_relation_sources weft_relation_stats_get",
     .weight = 3,
     .draws = DRAWS_KIND,
     .takes = kind_is_relation,
     .run = run_settle},
    {.name = "relation_ask",
     .functions = "weft_relation_target weft_relation_depth",
     .weight = 2,
     .draws = DRAWS_KIND,
     .takes = kind_is_relation,
     .run = run_ask},
    {0},
};
