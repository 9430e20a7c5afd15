/* SPDX-License-Identifier: MIT */
/* everything_compare.c: a world of weft against its model: everything that the public functions
 * show of an entity. The first difference ends it, and is said in the C program as a CHECK. */
#include "everything.h"

#include <stdlib.h>
#include <string.h>

/* One entity in both worlds. A value. */
typedef struct pair {
    everything *e;
    everything_place *p;
    uint32_t n;
    weft_entity handle;
} pair;

static const char *name_of(uint32_t kind)
{
    return kinds_of_model()[kind].name;
}

/* weft's values in words of the model. */
static uint8_t *values_read(pair *x, uint32_t kind, const void *bytes, uint32_t count)
{
    const model_kind *of = &kinds_of_model()[kind];
    uint8_t *result = model_memory(&x->e->here->m, (size_t)(count + 1) * of->size);
    if (count != 0) memcpy(result, bytes, (size_t)count * of->size);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < of->link_count; k++) {
            weft_entity handle;
            uint8_t *at = result + (size_t)i * of->size + of->links[k];
            memcpy(&handle, at, sizeof handle);
            uint64_t number = everything_number(x->p, handle);
            memcpy(at, &number, sizeof number);
        }
    return result;
}

/* Where two runs of values differ, as a sentence. */
static void differ(pair *x, uint32_t kind, const char *what, const uint8_t *actual,
                   const uint8_t *expected, uint32_t count)
{
    size_t at = 0, total = (size_t)count * kinds_of_model()[kind].size;
    uint32_t is = 0, should = 0;
    while (at < total && actual[at] == expected[at]) at++;
    memcpy(&is, actual + at / 4 * 4, 4);
    memcpy(&should, expected + at / 4 * 4, 4);
    everything_fails(x->e, what, "entity %u, %s: byte %zu: the word is %u, should be %u", x->n,
                     name_of(kind), at, is, should);
}

static bool values_agree(pair *x, uint32_t kind, const char *what, const char *c_read,
                         const void *bytes, const model_value *value)
{
    size_t total = (size_t)value->count * kinds_of_model()[kind].size;
    if (bytes == NULL && total != 0) {
        everything_says(x->e, "CHECK(%s(%s, e[%u], of[%s]) != NULL);", c_read, x->p->c_name, x->n,
                        name_of(kind));
        everything_fails(x->e, what, "entity %u has no %s, should have one", x->n, name_of(kind));
        return false;
    }
    const uint8_t *actual = values_read(x, kind, bytes, value->count);
    if (total == 0 || memcmp(actual, value->bytes, total) == 0) return true;
    everything_says(x->e, "CHECK(memcmp(%s(%s, e[%u], of[%s]), %s, %zu) == 0);", c_read,
                    x->p->c_name, x->n, name_of(kind),
                    everything_c_value(x->e, kind, value->bytes, value->count), total);
    differ(x, kind, what, actual, value->bytes, value->count);
    return false;
}

static bool buffer_agrees(pair *x, uint32_t kind, const model_value *value)
{
    const weft_buffer *buffer = weft_entity_read(x->p->world, x->handle, x->p->of[kind]);
    if (buffer == NULL || buffer->count != value->count || buffer->capacity < buffer->count) {
        everything_says(x->e, "CHECK(LENGTH(e[%u], of[%s]) == %u);", x->n, name_of(kind),
                        value->count);
        everything_fails(x->e, "length of a buffer", "entity %u, %s: %lld elements, should be %u",
                         x->n, name_of(kind), buffer == NULL ? -1LL : (long long)buffer->count,
                         value->count);
        return false;
    }
    return values_agree(x, kind, "elements of a buffer", "ELEMENTS", weft_buffer_read(buffer),
                        value);
}

static bool value_agrees(pair *x, uint32_t kind)
{
    const model_value *value = model_read(&x->p->m, x->n, kind);
    weft_component component = x->p->of[kind];
    if (value == NULL || kind_is_chunk(kind)) return true;
    if (model_is(&x->p->m, kind, MODEL_BUFFER)) return buffer_agrees(x, kind, value);
    if (model_is(&x->p->m, kind, MODEL_SHARED))
        return values_agree(x, kind, "shared value", "weft_entity_read_shared",
                            weft_entity_read_shared(x->p->world, x->handle, component), value);
    return values_agree(x, kind, "value", "weft_entity_read",
                        weft_entity_read(x->p->world, x->handle, component), value);
}

static bool bit_agrees(pair *x, uint32_t kind)
{
    if (!kind_is_switch(kind) && !kind_is_sparse(kind)) return true;
    bool expected = model_is_enabled(&x->p->m, x->n, kind);
    bool actual = weft_entity_is_enabled(x->p->world, x->handle, x->p->of[kind]);
    if (actual == expected) return true;
    everything_says(x->e, "CHECK(weft_entity_is_enabled(%s, e[%u], of[%s]) == %d);", x->p->c_name,
                    x->n, name_of(kind), expected);
    everything_fails(x->e, "enable bit", "entity %u, %s: is %s", x->n, name_of(kind),
                     actual ? "enabled" : "disabled");
    return false;
}

/* What was written is not older; what no call touched is not newer. */
static bool version_agrees(pair *x, uint32_t kind)
{
    const model *m = &x->p->m;
    const model_value *value = model_read(m, x->n, kind);
    if (value == NULL || model_is(m, kind, MODEL_CHUNK)) return true;
    uint32_t actual = weft_entity_change_version(x->p->world, x->handle, x->p->of[kind]);
    if (actual == value->written) return true;
    uint32_t newest = model_is(m, kind, MODEL_SPARSE) || !x->p->knows_stamps
                          ? UINT32_MAX
                          : model_stamp_of(m, m->entities[x->n].set);
    if (actual >= value->written && actual <= newest) return true;
    everything_says(x->e,
                    "CHECK(weft_entity_change_version(%s, e[%u], of[%s]) >= %u && "
                    "weft_entity_change_version(%s, e[%u], of[%s]) <= %u);",
                    x->p->c_name, x->n, name_of(kind), value->written, x->p->c_name, x->n,
                    name_of(kind), newest);
    everything_fails(x->e, "change version", "entity %u, %s: is %u, should be %u to %u", x->n,
                     name_of(kind), actual, value->written, newest);
    return false;
}

/* The kinds that weft says it has. */
static uint64_t set_read(const pair *x)
{
    weft_component list[KINDS + 2];
    weft_archetype archetype = weft_entity_archetype(x->p->world, x->handle);
    uint32_t count = weft_archetype_components(x->p->world, archetype, list, KINDS + 2);
    uint64_t set = 0;
    for (uint32_t i = 0, kind = 0; i < count; i++) { /* mostly in the order of the kinds */
        uint32_t tries = 0;
        for (; tries < KINDS && x->p->of[kind].id != list[i].id; tries++) kind = (kind + 1) % KINDS;
        if (tries < KINDS) set |= KIND_BIT(kind);
    }
    for (uint32_t kind = SPARSE; kind <= SPARSE_TAG; kind++)
        if (weft_entity_has(x->p->world, x->handle, x->p->of[kind])) set |= KIND_BIT(kind);
    return set;
}

static bool set_agrees(pair *x, uint64_t expected)
{
    uint64_t actual = set_read(x);
    if (actual == expected) return true;
    uint32_t kind = (uint32_t)__builtin_ctzll(actual ^ expected);
    bool is_expected = (expected >> kind & 1) != 0;
    everything_says(x->e, "CHECK(weft_entity_has(%s, e[%u], of[%s]) == %d);", x->p->c_name, x->n,
                    name_of(kind), is_expected);
    everything_fails(x->e, is_expected ? "component is missing" : "component is too much",
                     "entity %u: %s", x->n, name_of(kind));
    return false;
}

bool everything_compare_entity(everything *e, everything_place *p, uint32_t number)
{
    const model_entity *entity = &p->m.entities[number];
    pair x = {e, p, number, everything_handle(p, number)};
    bool is_alive = entity->life == MODEL_ALIVE;
    if (weft_entity_is_alive(p->world, x.handle) != is_alive) {
        everything_says(e, "CHECK(weft_entity_is_alive(%s, e[%u]) == %d);", p->c_name, number,
                        is_alive);
        everything_fails(e, is_alive ? "is dead" : "is alive", "entity %u", number);
        return false;
    }
    if (!set_agrees(&x, entity->set)) return false;
    for (uint64_t left = entity->set; left != 0; left &= left - 1) {
        uint32_t kind = (uint32_t)__builtin_ctzll(left);
        if (!value_agrees(&x, kind) || !bit_agrees(&x, kind) || !version_agrees(&x, kind))
            return false;
    }
    const char *name = weft_entity_name(p->world, x.handle);
    if (strcmp(name, model_name(&p->m, number)) == 0) return true;
    everything_says(e, "CHECK(strcmp(weft_entity_name(%s, e[%u]), \"%s\") == 0);", p->c_name,
                    number, model_name(&p->m, number));
    everything_fails(e, "name", "entity %u is named \"%s\", should be \"%s\"", number, name,
                     model_name(&p->m, number));
    return false;
}

bool everything_compare_touched(everything *e)
{
    everything_place *p = e->here;
    bool agrees = true;
    for (uint32_t i = 0; i < p->m.touched_count; i++) {
        uint32_t n = p->m.touched[i];
        p->m.entities[n].is_touched = false;
        agrees = agrees && everything_compare_entity(e, p, n);
    }
    p->m.touched_count = 0;
    return agrees;
}

static bool resources_agree(everything *e, everything_place *p)
{
    pair x = {e, p, 0, {0}};
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if (!kind_is_resource(kind)) continue;
        const model_value *value = model_resource(&p->m, kind);
        const void *read = weft_resource_read(p->world, p->of[kind]);
        if (model_is(&p->m, kind, MODEL_BUFFER)) {
            const weft_buffer *buffer = read;
            if (!everything_equal(e, "length of a resource", buffer == NULL ? 0 : buffer->count,
                                  value->count))
                return false;
            read = buffer == NULL ? NULL : weft_buffer_read(buffer);
        }
        if (!values_agree(&x, kind, "resource", "RESOURCE", read, value)) return false;
    }
    return true;
}

bool everything_compare(everything *e, everything_place *p)
{
    weft_world_stats stats;
    for (uint32_t n = 1; n < p->m.count; n++)
        if (!everything_compare_entity(e, p, n)) return false;
    if (!resources_agree(e, p)) return false;
    weft_world_stats_get(p->world, &stats, sizeof stats);
    uint64_t expected = (uint64_t)p->m.living + p->m.residues;
    if (stats.entities != expected) {
        everything_says(e, "CHECK(entity_count(%s) == %llu);", p->c_name,
                        (unsigned long long)expected);
        return everything_equal(e, "number of entities", stats.entities, expected);
    }
    weft_result result = weft_world_validate(p->world);
    weft_result should = p->has_rows ? WEFT_CORRUPT : WEFT_OK;
    if (result == should) return true;
    everything_says(e, "IS(%s, weft_world_validate(%s));", weft_result_name(should), p->c_name);
    return everything_result(e, "weft_world_validate", result, should);
}
