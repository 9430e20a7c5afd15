/* SPDX-License-Identifier: MIT */
/* relation_fixture.h: a world with relations of every policy, and a naive model of settling: what
 * the fields say before it decides what they must say after it. */
#ifndef WEFT_TESTS_RELATION_FIXTURE_H
#define WEFT_TESTS_RELATION_FIXTURE_H

#include "check.h"

#include <weft/ecs.h>

#include <stdlib.h>
#include <string.h>

enum { RELATIONS = 4 };

/* Owner: one test. */
typedef struct relation_fixture {
    weft_world *world;
    weft_component of[RELATIONS]; /* Parent, InstanceOf, likes (keep), owned_by (destroy) */
    weft_component tag, weight;
    weft_component rest; /* CLEANUP: the dead that had it stay as residues */
    weft_query all;
} relation_fixture;

/* An entity as the model sees it. */
typedef struct model_row {
    weft_entity id; /* null: none lives here */
    bool has[RELATIONS];
    bool has_rest;
    bool is_residue;
    weft_entity target[RELATIONS];
    uint32_t depth;
} model_row;

typedef struct relation_model {
    model_row *rows; /* [index of the handle without tag bits] */
    uint32_t end;
    bool has_cycle;
} relation_model;

/* A field that is not at the start of its value. */
typedef struct liking {
    uint32_t much;
    uint32_t pad;
    weft_entity whom;
} liking;

static inline size_t relation_offset(uint32_t relation)
{
    return relation == 2 ? offsetof(liking, whom) : 0;
}

static inline relation_fixture relation_open_with(const weft_world_desc *desc)
{
    static const weft_field plain = {"entity", WEFT_FIELD_ENTITY, 0, 1};
    static const weft_field inner = {"whom", WEFT_FIELD_ENTITY, offsetof(liking, whom), 0};
    relation_fixture f = {0};
    CHECK_OK(weft_world_create(desc, &f.world));
    f.tag = weft_component_create_plain(f.world, "tag", 0, 1, 0);
    f.weight = weft_component_create_plain(f.world, "weight", 8, 8, 0);
    f.rest = weft_component_create_plain(f.world, "rest", 4, 4, WEFT_CLEANUP);
    f.of[0] = weft_component_parent(f.world);
    f.of[1] = weft_component_instance_of(f.world);
    f.of[2] = weft_component_create(f.world, &(weft_component_desc){.name = "likes",
                                                                    .size = sizeof(liking),
                                                                    .alignment = 4,
                                                                    .fields = &inner,
                                                                    .field_count = 1});
    f.of[3] = weft_component_create(f.world, &(weft_component_desc){.name = "owned_by",
                                                                    .size = sizeof(weft_entity),
                                                                    .alignment = 4,
                                                                    .fields = &plain,
                                                                    .field_count = 1});
    CHECK_OK(weft_relation_declare(
        f.world,
        &(weft_relation_desc){.component = f.of[2], .on_target_death = WEFT_ON_TARGET_KEEP}));
    CHECK_OK(weft_relation_declare(
        f.world,
        &(weft_relation_desc){.component = f.of[3], .on_target_death = WEFT_ON_TARGET_DESTROY}));
    f.all =
        weft_query_create(f.world, &(weft_query_desc){.with_prefabs = true, .with_inactive = true});
    CHECK(f.all.id != 0);
    return f;
}

static inline relation_fixture relation_open(uint32_t workers)
{
    return relation_open_with(&(weft_world_desc){.workers = workers});
}

static inline void relation_close(relation_fixture *f)
{
    if (weft_world_validate(f->world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(f->world)->text);
    CHECK_OK(weft_world_destroy(f->world));
}

#define MODEL_INDEX(entity) ((entity).index & ((1u << 27) - 1))

static inline relation_model model_read(const relation_fixture *f)
{
    relation_model m = {0};
    uint64_t count = weft_query_count(f->world, f->all);
    weft_entity *ids = malloc((size_t)(count + 1) * sizeof *ids);
    weft_query_entities(f->world, f->all, ids, count);
    for (uint64_t i = 0; i < count; i++)
        if (MODEL_INDEX(ids[i]) >= m.end) m.end = MODEL_INDEX(ids[i]) + 1;
    m.rows = calloc(m.end + 1, sizeof *m.rows);
    for (uint64_t i = 0; i < count; i++) {
        model_row *row = &m.rows[MODEL_INDEX(ids[i])];
        row->id = ids[i];
        row->has_rest = weft_entity_has(f->world, ids[i], f->rest);
        row->is_residue = !weft_entity_is_alive(f->world, ids[i]);
        CHECK(row->has_rest || !row->is_residue);
        for (uint32_t r = 0; r < RELATIONS; r++) {
            row->has[r] = weft_entity_has(f->world, ids[i], f->of[r]);
            if (!row->has[r]) continue;
            const char *value = weft_entity_read(f->world, ids[i], f->of[r]);
            memcpy(&row->target[r], value + relation_offset(r), sizeof(weft_entity));
        }
    }
    free(ids);
    return m;
}

static inline model_row *model_find(const relation_model *m, weft_entity e)
{
    if (e.version == 0 || MODEL_INDEX(e) >= m->end) return NULL;
    model_row *row = &m->rows[MODEL_INDEX(e)];
    return row->id.index == e.index && row->id.version == e.version && !row->is_residue ? row
                                                                                        : NULL;
}

static inline bool model_bury(relation_model *m)
{
    bool is_news = false;
    for (uint32_t i = 0; i < m->end; i++)
        for (uint32_t r = 0; r < RELATIONS && m->rows[i].id.version != 0; r++) {
            model_row *row = &m->rows[i];
            if (row->target[r].version == 0 || model_find(m, row->target[r]) != NULL) continue;
            if (r == 2) continue;
            is_news = true;
            if (r == 1)
                row->target[r] = (weft_entity){0};
            else
                *row = row->has_rest
                           ? (model_row){.id = row->id, .has_rest = true, .is_residue = true}
                           : (model_row){0};
        }
    return is_news;
}

/* Parents only. */
static inline void model_cut(relation_model *m)
{
    for (uint32_t i = 0; i < m->end; i++) {
        const model_row *up = &m->rows[i];
        uint32_t lowest = i, steps = 0;
        if (up->id.version == 0) continue;
        do {
            up = model_find(m, up->target[0]);
            if (up != NULL && MODEL_INDEX(up->id) < lowest) lowest = MODEL_INDEX(up->id);
        } while (up != NULL && up != &m->rows[i] && ++steps <= m->end);
        if (up != &m->rows[i]) continue;
        m->rows[lowest].target[0] = (weft_entity){0};
        m->has_cycle = true;
    }
}

static inline void model_settle(relation_model *m)
{
    while (model_bury(m)) {
    }
    model_cut(m);
    for (uint32_t i = 0; i < m->end; i++) {
        const model_row *up = model_find(m, m->rows[i].target[0]);
        for (; up != NULL; up = model_find(m, up->target[0])) m->rows[i].depth++;
    }
}

static inline void check_sources(const relation_fixture *f, const relation_model *m, uint32_t r)
{
    uint32_t *counts = calloc(m->end + 1, sizeof *counts);
    for (uint32_t i = 0; i < m->end; i++) { /* ascending: as lists are */
        const model_row *target = model_find(m, m->rows[i].target[r]);
        if (target == NULL) continue;
        uint32_t count, at = counts[MODEL_INDEX(target->id)]++;
        const weft_entity *list = weft_relation_sources(f->world, f->of[r], target->id, &count);
        CHECK(at < count);
        CHECK_U64(list[at].index, m->rows[i].id.index);
        CHECK_U64(list[at].version, m->rows[i].id.version);
    }
    for (uint32_t i = 0; i < m->end; i++) {
        uint32_t count = 0;
        if (m->rows[i].id.version == 0) continue;
        weft_relation_sources(f->world, f->of[r], m->rows[i].id, &count);
        CHECK_U64(count, counts[i]);
    }
    free(counts);
}

static inline void check_depth(const relation_fixture *f, const model_row *row)
{
    weft_component depth = weft_relation_depth_component(f->world, f->of[0]);
    const uint32_t *held = weft_entity_read_shared(f->world, row->id, depth);
    CHECK_U64(weft_relation_depth(f->world, f->of[0], row->id), row->depth);
    if (row->depth != 0) CHECK(held != NULL && *held == row->depth);
    if (!row->has[0]) CHECK(held == NULL);
}

/* Settles the world, and compares it with what the model makes of it. */
static inline void check_settling(const relation_fixture *f)
{
    relation_model m = model_read(f);
    model_settle(&m);
    CHECK_RESULT(weft_relation_settle(f->world), m.has_cycle ? WEFT_CYCLE : WEFT_OK);
    relation_model now = model_read(f);
    uint32_t end = m.end > now.end ? m.end : now.end;
    for (uint32_t i = 0; i < end; i++) {
        const model_row none = {0};
        const model_row *a = i < m.end ? &m.rows[i] : &none;
        const model_row *b = i < now.end ? &now.rows[i] : &none;
        CHECK_U64(b->id.version, a->id.version);
        CHECK(b->is_residue == a->is_residue);
        if (a->id.version == 0) continue;
        for (uint32_t r = 0; r < RELATIONS; r++) {
            CHECK(a->has[r] == b->has[r]);
            CHECK_U64(b->target[r].index, a->target[r].index);
            CHECK_U64(b->target[r].version, a->target[r].version);
        }
        check_depth(f, a);
    }
    for (uint32_t r = 0; r < RELATIONS; r++) check_sources(f, &m, r);
    free(m.rows);
    free(now.rows);
}

#endif
