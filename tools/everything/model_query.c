/* SPDX-License-Identifier: MIT */
/* model_query.c: which entities a query selects (model.h): each is asked each term.
 *
 * No order, no matching of archetypes: what weft promises of the order, ops_query.c checks. */
#include "model.h"

#include <string.h>

/* Whether enable bits count for a term. */
static bool is_on(const model *m, const model_query *query, uint32_t n, uint32_t kind)
{
    return model_has(m, n, kind) && (query->ignores_enabled || model_is_enabled(m, n, kind));
}

static bool is_met(const model *m, const model_query *query, uint32_t n, const model_term *term)
{
    switch (term->match) {
    case MODEL_ALL:
    case MODEL_ANY:
        return is_on(m, query, n, term->kind);
    case MODEL_NONE:
        return !is_on(m, query, n, term->kind);
    case MODEL_ABSENT:
        return !model_has(m, n, term->kind);
    case MODEL_PRESENT:
        return model_has(m, n, term->kind);
    case MODEL_OPTIONAL:
        return true;
    case MODEL_DISABLED:
        return model_has(m, n, term->kind) && !model_is_enabled(m, n, term->kind);
    }
    return false;
}

/* All terms of one alternative, of ANY at least one. */
static bool is_alternative_met(const model *m, const model_query *query, uint32_t n,
                               uint32_t alternative)
{
    bool has_any = false, is_any_met = false;
    for (uint32_t i = 0; i < query->term_count; i++) {
        const model_term *term = &query->terms[i];
        if (term->alternative != alternative) continue;
        bool met = is_met(m, query, n, term);
        if (term->match == MODEL_ANY)
            has_any = true, is_any_met = is_any_met || met;
        else if (!met)
            return false;
    }
    return !has_any || is_any_met;
}

static bool is_hidden(const model *m, const model_query *query, uint32_t n)
{
    for (uint64_t left = m->entities[n].set; left != 0; left &= left - 1) {
        uint32_t kind = (uint32_t)__builtin_ctzll(left);
        bool is_prefab = model_is(m, kind, MODEL_PREFAB);
        if (!is_prefab && !model_is(m, kind, MODEL_INACTIVE)) continue;
        bool is_named = is_prefab ? query->with_prefabs : query->with_inactive;
        for (uint32_t i = 0; i < query->term_count; i++)
            is_named = is_named || query->terms[i].kind == kind;
        if (!is_named) return true;
    }
    return false;
}

/* As is_alternative_met for the archetype alone: bits and SPARSE kinds may say either. */
static bool is_alternative_near(const model *m, const model_query *query, uint32_t n,
                                uint32_t alternative)
{
    for (uint32_t i = 0; i < query->term_count; i++) {
        const model_term *term = &query->terms[i];
        bool has = model_has(m, n, term->kind);
        if (term->alternative != alternative || model_is(m, term->kind, MODEL_SPARSE)) continue;
        if (has ? term->match == MODEL_ABSENT
                : term->match == MODEL_ALL || term->match == MODEL_PRESENT ||
                      term->match == MODEL_DISABLED)
            return false;
    }
    return true;
}

void model_visit(model *m, const model_query *query)
{
    for (uint32_t n = 1; n < m->count; n++) {
        bool is_near = query->term_count == 0;
        if (m->entities[n].life != MODEL_ALIVE && m->entities[n].life != MODEL_RESIDUE) continue;
        for (uint32_t i = 0; i < query->term_count && !is_near; i++)
            is_near = is_alternative_near(m, query, n, query->terms[i].alternative);
        if (is_near) model_note_rows(m, m->entities[n].set);
    }
}

static bool is_value_met(const model *m, const model_query *query, uint32_t n)
{
    if (query->shared_count == 0) return true;
    const model_value *value = model_read(m, n, query->shared_kind);
    size_t size = m->kinds[query->shared_kind].size;
    if (value == NULL) return query->is_not;
    for (uint32_t i = 0; i < query->shared_count; i++)
        if (memcmp(value->bytes, (const uint8_t *)query->shared + i * size, size) == 0)
            return !query->is_not;
    return query->is_not;
}

bool model_selects(const model *m, const model_query *query, uint32_t n)
{
    if (n == 0 || n >= m->count) return false;
    if (m->entities[n].life != MODEL_ALIVE && m->entities[n].life != MODEL_RESIDUE) return false;
    if (is_hidden(m, query, n) || !is_value_met(m, query, n)) return false;
    for (uint32_t i = 0; i < query->term_count; i++)
        if (is_alternative_met(m, query, n, query->terms[i].alternative)) return true;
    return query->term_count == 0;
}

uint32_t model_selected(const model *m, const model_query *query, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t n = 1; n < m->count; n++)
        if (model_selects(m, query, n)) out[count++] = n;
    return count;
}
