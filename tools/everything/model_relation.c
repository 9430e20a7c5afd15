/* SPDX-License-Identifier: MIT */
/* model_relation.c: relations of the reference world (model.h): what settling does with dead
 * targets and depths, and references that lead to the dead. */
#include "model.h"

#include <string.h>

/* ---- links ---- */

static uint64_t link_of(const model *m, const model_value *value, uint32_t element, uint32_t link)
{
    uint64_t number;
    const model_kind *kind = &m->kinds[value->kind];
    memcpy(&number, value->bytes + (size_t)element * kind->size + kind->links[link], sizeof number);
    return number;
}

static void link_clear(const model *m, model_value *value, uint32_t element, uint32_t link)
{
    const model_kind *kind = &m->kinds[value->kind];
    memset(value->bytes + (size_t)element * kind->size + kind->links[link], 0, sizeof(uint64_t));
}

static uint64_t value_clear(model *m, model_value *value)
{
    uint64_t cleared = 0;
    for (uint32_t i = 0; i < value->count; i++)
        for (uint32_t k = 0; k < m->kinds[value->kind].link_count; k++) {
            uint64_t number = link_of(m, value, i, k);
            if (number == 0 || model_is_alive(m, (uint32_t)number)) continue;
            link_clear(m, value, i, k);
            cleared++;
        }
    if (cleared != 0) value->written = m->version;
    return cleared;
}

uint64_t model_clear_references(model *m)
{
    uint64_t cleared = 0;
    for (uint32_t n = 1; n < m->count; n++) {
        uint64_t kinds = 0;
        for (model_value *value = m->entities[n].values; value != NULL; value = value->next) {
            if (model_is(m, value->kind, MODEL_SHARED)) continue;
            uint64_t of_value = value_clear(m, value);
            if (of_value != 0) kinds |= UINT64_C(1) << value->kind;
            cleared += of_value;
        }
        if (kinds != 0) model_touch(m, n, kinds);
    }
    for (uint32_t kind = 0; kind < m->kind_count; kind++)
        if (m->resources[kind] != NULL) cleared += value_clear(m, m->resources[kind]);
    return cleared;
}

/* ---- settling ---- */

/* The target of a relation's source; 0: none. */
static uint32_t target_of(const model *m, uint32_t n, uint32_t kind)
{
    const model_value *value = model_is_alive(m, n) ? model_read(m, n, kind) : NULL;
    return value == NULL ? 0 : (uint32_t)link_of(m, value, 0, 0);
}

/* One pass over dead targets; true: something changed. */
static bool targets_pass(model *m, uint32_t kind)
{
    bool has_changed = false;
    for (uint32_t n = 1; n < m->count; n++) {
        uint32_t target = target_of(m, n, kind);
        if (target == 0 || model_is_alive(m, target)) continue;
        if (model_is(m, kind, MODEL_KEEPS_DEAD)) continue;
        has_changed = true;
        if (model_is(m, kind, MODEL_DIES_WITH)) {
            model_destroy(m, n);
        } else {
            link_clear(m, model_read(m, n, kind), 0, 0);
            model_touch(m, n, UINT64_C(1) << kind);
        }
    }
    return has_changed;
}

/* The number of targets above; model.count: there is a cycle. */
static uint32_t depth_of(const model *m, uint32_t n, uint32_t kind)
{
    uint32_t depth = 0;
    for (uint32_t up = target_of(m, n, kind); up != 0 && depth < m->count; depth++)
        up = target_of(m, up, kind);
    return depth;
}

bool model_has_cycle(const model *m)
{
    for (uint32_t kind = 0; kind < m->kind_count; kind++)
        for (uint32_t n = 1; n < m->count && model_is(m, kind, MODEL_ACYCLIC); n++)
            if (depth_of(m, n, kind) >= m->count) return true;
    return false;
}

static void depths_set(model *m, uint32_t kind)
{
    for (uint32_t n = 1; n < m->count; n++) {
        if (!model_is_alive(m, n)) continue;
        uint32_t depth = depth_of(m, n, kind), old = 0;
        const model_value *value = model_read(m, n, kind + 1);
        if (value != NULL && !model_has(m, n, kind)) {
            model_change(m, n, 0, UINT64_C(2) << kind);
            continue;
        }
        if (value == NULL && depth == 0) continue;
        if (value != NULL) memcpy(&old, value->bytes, sizeof old);
        if (value == NULL || old != depth) model_set(m, n, kind + 1, &depth, 1);
    }
}

model_result model_settle(model *m)
{
    bool has_changed = true;
    while (has_changed) {
        has_changed = false;
        for (uint32_t kind = 0; kind < m->kind_count; kind++)
            if (model_is(m, kind, MODEL_RELATION)) has_changed |= targets_pass(m, kind);
    }
    for (uint32_t kind = 0; kind < m->kind_count; kind++) {
        if (!model_is(m, kind, MODEL_ACYCLIC)) continue;
        for (uint32_t n = 1; n < m->count; n++)
            if (depth_of(m, n, kind) >= m->count) return MODEL_CYCLE;
        if (model_is(m, kind, MODEL_BY_DEPTH)) depths_set(m, kind);
    }
    return MODEL_OK;
}
