/* SPDX-License-Identifier: MIT */
/* commands_model.h: the naive model of test_commands_random.c: entities by number, and what every
 * command does to one of them, applied one by one in order of effect. */
#ifndef WEFT_TESTS_COMMANDS_MODEL_H
#define WEFT_TESTS_COMMANDS_MODEL_H

#include "memory_fault.h"
#include "os_fault.h"
#include "plain.h"

#include <weft/weft.h>

enum { SYSTEMS = 3, PARTS = 4, OPS = 160, ENTITIES = 6000, STEPS = 14 };

/* Components by number. */
enum { NUMBER, DATA4, DATA12, TAG, SWITCH, CLEAN, LIST, SHARE, LINK, KINDS };

enum { DRAWN = CLEAN }; /* components 1..DRAWN are added, removed and set */

static const uint32_t unchecked = UINT32_MAX; /* a reference that is not checked */

static const size_t sizes[KINDS] = {4, 4, 12, 0, 4, 4, 4, 4, 12};
static const uint32_t flags[KINDS] = {0,           0,           0, 0, WEFT_ENABLEABLE, WEFT_CLEANUP,
                                      WEFT_BUFFER, WEFT_SHARED, 0};

typedef struct link {
    weft_entity other;
    uint32_t value;
} link;

typedef enum op_kind {
    OP_DESTROY,
    OP_ADD,
    OP_REMOVE,
    OP_SET,
    OP_ENABLE,
    OP_APPEND,
    OP_REPLACE,
    OP_LINK,
    OP_CREATE,
    OP_ROWS,
    OP_INSTANTIATE,
    OP_SHARE,
    OP_NAME,
    OP_QUERY_ADD,
    OP_QUERY_REMOVE,
    OP_QUERY_SHARE,
    OP_QUERY_ENABLE,
    OP_QUERY_DESTROY,
    OP_COUNT
} op_kind;

/* One command; entities by number, 0 = none. */
typedef struct op {
    op_kind kind;
    uint32_t component;
    uint32_t value;
    uint32_t target;
    uint32_t other; /* OP_LINK: whom; OP_INSTANTIATE: of whom; OP_ROWS: shared_of */
} op;

/* What one part of one system records. Constant while the step runs. */
typedef struct part {
    op ops[OPS];
    uint32_t count;
} part;

typedef struct model_entity {
    weft_entity handle; /* null: made and gone in one step */
    bool is_alive;
    bool is_residue;  /* destroyed; is_alive: not at its end yet, because of CLEAN */
    bool is_disabled; /* SWITCH */
    uint32_t set;
    uint32_t name;          /* 0: none */
    uint32_t values[KINDS]; /* LIST: the sum of its elements; LINK: a number */
} model_entity;

typedef struct bed {
    weft_world *world;
    weft_component component[KINDS];
    weft_archetype made, rows, grouped; /* `grouped`: rows with SHARE */
    weft_query wide, all;
    part parts[SYSTEMS][PARTS];
    model_entity model[ENTITIES]; /* by number */
    uint32_t numbers;             /* the next one */
    test_random random;
    test_memory memory;
    test_os os;
    bool may_fail;
} bed;

static bed *b; /* one at a time; systems read it */

static uint32_t below(uint32_t bound)
{
    return (uint32_t)test_random_below(&b->random, bound);
}

/* ---- the model ---- */

/* The shared value of rows made in place; 0: the archetype without it. */
static uint32_t shared_of(const op *o)
{
    return o->other % 4;
}

static model_entity *model_make(uint32_t number, uint32_t set)
{
    model_entity *e = &b->model[number];
    *e = (model_entity){.is_alive = true, .set = set};
    e->values[NUMBER] = number;
    return e;
}

/* Residues that ended, and commands that were skipped because of some. */
typedef struct spent_count {
    uint32_t ended, skipped;
} spent_count;

static spent_count spent;

/* Whether the entity has the component afterwards: what is left of a destroyed one gets none. */
static bool model_add(model_entity *e, uint32_t component)
{
    if ((e->set >> component & 1) != 0) return true;
    spent.skipped += e->is_residue;
    if (e->is_residue) return false;
    e->set |= 1u << component;
    e->values[component] = 0;
    if (component == SWITCH) e->is_disabled = false;
    return true;
}

static void model_remove(model_entity *e, uint32_t component)
{
    e->set &= ~(1u << component);
    if (!e->is_residue || e->set != 0) return;
    e->is_alive = false;
    spent.ended++;
}

static void model_destroy(model_entity *e)
{
    e->is_alive = e->is_residue = (e->set >> CLEAN & 1) != 0;
    e->set &= 1u << CLEAN;
}

static bool is_wide(const model_entity *e)
{
    return e->is_alive && (e->set >> DATA12 & 1) != 0 && (e->set >> TAG & 1) == 0;
}

static void model_wide(const op *o)
{
    for (uint32_t i = 1; i < b->numbers; i++) {
        model_entity *e = &b->model[i];
        if (!is_wide(e)) continue;
        if (o->kind == OP_QUERY_ADD) model_add(e, o->component);
        if (o->kind == OP_QUERY_REMOVE) model_remove(e, o->component);
        if (o->kind == OP_QUERY_DESTROY) model_destroy(e);
        if (o->kind == OP_QUERY_ENABLE) e->is_disabled = o->value % 2 != 0;
        if (o->kind != OP_QUERY_SHARE) continue;
        model_add(e, SHARE);
        e->values[SHARE] = o->value;
    }
}

static void model_value(model_entity *e, const op *o)
{
    if (o->kind == OP_ENABLE) {
        if ((e->set >> SWITCH & 1) != 0) e->is_disabled = o->value % 2 != 0;
        return;
    }
    if (o->kind == OP_NAME) {
        if (!e->is_residue) e->name = o->value;
        return;
    }
    bool is_list = o->kind == OP_APPEND || o->kind == OP_REPLACE;
    uint32_t component = is_list               ? LIST
                         : o->kind == OP_LINK  ? LINK
                         : o->kind == OP_SHARE ? SHARE
                                               : o->component;
    if (!model_add(e, component)) return;
    if (o->kind == OP_REPLACE) e->values[LIST] = 0;
    if (is_list)
        e->values[LIST] += o->value * (1 + o->value % 3);
    else
        e->values[component] = o->kind == OP_LINK ? o->other : o->value;
}

static void model_instantiate(const op *o)
{
    const model_entity *source = &b->model[o->other];
    if (!source->is_alive || source->is_residue) return;
    b->model[o->target] = *source;
    b->model[o->target].set &= ~(1u << CLEAN);
    b->model[o->target].handle = (weft_entity){0, 0};
    b->model[o->target].values[NUMBER] = o->target;
    if (source->values[LINK] == o->other) b->model[o->target].values[LINK] = unchecked;
}

static void model_apply(const op *o)
{
    model_entity *e = &b->model[o->target];
    if (o->kind == OP_ROWS) return; /* before all others */
    if (o->kind >= OP_QUERY_ADD) {
        model_wide(o);
    } else if (o->kind == OP_CREATE) {
        model_make(o->target, 1u << NUMBER | 1u << DATA4);
    } else if (o->kind == OP_INSTANTIATE) {
        model_instantiate(o);
    } else if (e->is_alive) {
        if (o->kind == OP_DESTROY)
            model_destroy(e);
        else if (o->kind == OP_ADD)
            model_add(e, o->component);
        else if (o->kind == OP_REMOVE)
            model_remove(e, o->component);
        else
            model_value(e, o);
    }
}

static void model_row(const op *o, uint32_t n)
{
    uint32_t share = shared_of(o);
    model_entity *e = model_make(o->target + n, 1u << NUMBER | 1u << DATA12);
    if (share != 0) e->set |= 1u << SHARE;
    e->values[SHARE] = share;
}

static void model_step(void)
{
    for (uint32_t i = 0; i < SYSTEMS * PARTS; i++) {
        const part *p = &b->parts[i / PARTS][i % PARTS];
        for (uint32_t k = 0; k < p->count; k++)
            for (uint32_t n = 0; p->ops[k].kind == OP_ROWS && n < p->ops[k].value; n++)
                model_row(&p->ops[k], n);
    }
    for (uint32_t i = 0; i < SYSTEMS * PARTS; i++) {
        const part *p = &b->parts[i / PARTS][i % PARTS];
        for (uint32_t k = 0; k < p->count; k++) model_apply(&p->ops[k]);
    }
}

#endif
