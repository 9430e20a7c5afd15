/* SPDX-License-Identifier: MIT */
/* test_storage_random.c: random structural operations against a naive model of the world: a flat
 * list of entities with a set of components and a number as value of each. After every operation
 * the world is validated and compared with the model, entity by entity. A second test repeats the
 * same streams while the k-th allocation (or mapping) of each operation fails, for every k, once
 * and for ever: the operation must then fail, and the world must be as before. */
#include "memory_fault.h"
#include "os_fault.h"
#include "plain.h"

#include <weft/ecs.h>

#include <stdlib.h>
#include <string.h>

enum { KINDS = 9, ENTITIES = 400, MANY = 40 };

/* Components by number; sizes chosen to make small rows, odd alignments and tags. */
enum { DATA12, DATA4, DATA64, TAG, OTHER_TAG, SWITCH, LIST, SHARE, CLEAN };

/* What the model knows of one entity. */
typedef struct model_entity {
    weft_entity handle;
    bool is_residue;
    uint32_t set;           /* bit per component number */
    uint32_t values[KINDS]; /* LIST: number of elements, all equal to this number */
    bool disabled;          /* of SWITCH */
} model_entity;

typedef struct model {
    model_entity entities[ENTITIES];
    uint32_t count;
    weft_entity dead[64]; /* some handles that must stay dead */
    uint32_t dead_count;
} model;

/* Components that need nothing but their bytes moved: a stream of them alone has few archetypes,
 * and most of its changes go the lean way of entity_change.c; others go the general way. */
enum {
    PLAIN_KINDS = 1 << DATA12 | 1 << DATA4 | 1 << DATA64 | 1 << TAG,
    RESIDUE_KINDS = 1 << DATA4 | 1 << TAG | 1 << CLEAN,
    ALL_KINDS = (1 << KINDS) - 1
};

typedef struct bed {
    weft_world *world;
    uint32_t drawn; /* components that operations are drawn from: bits */
    weft_component component[KINDS];
    model model;
    test_random random;
    test_memory memory;
    test_os os;
} bed;

static const size_t sizes[KINDS] = {12, 4, 64, 0, 0, 4, 4, 4, 8};
static const uint32_t kinds[KINDS] = {0,           0,           0,           0, 0, WEFT_ENABLEABLE,
                                      WEFT_BUFFER, WEFT_SHARED, WEFT_CLEANUP};
static const char *const names[KINDS] = {"data12", "data4", "data64", "tag",  "other_tag",
                                         "switch", "list",  "share",  "clean"};

static void bed_open(bed *b, uint64_t seed, uint32_t drawn)
{
    test_note_seed(seed);
    memset(b, 0, sizeof *b);
    b->drawn = drawn;
    b->random = test_random_init(seed);
    test_memory_init(&b->memory);
    test_os_init(&b->os);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1,
                                                  .allocator = test_memory_hook(&b->memory),
                                                  .os = &b->os.table},
                               &b->world));
    for (uint32_t k = 0; k < KINDS; k++) {
        weft_component_desc desc = {.name = names[k],
                                    .size = sizes[k],
                                    .flags = kinds[k],
                                    .buffer_capacity = k == LIST ? 2 : 0,
                                    .chunk_row_limit = k == DATA64 ? 7 : 0};
        b->component[k] = weft_component_create(b->world, &desc);
        CHECK(b->component[k].id != 0);
    }
}

static void bed_close(bed *b)
{
    CHECK_OK(weft_world_destroy(b->world));
    test_memory_fini(&b->memory);
}

/* ---- reading the world ---- */

static void list_check(const weft_buffer *list, uint32_t value)
{
    CHECK_U64(list->count, value);
    const uint32_t *elements = weft_buffer_read(list);
    for (uint32_t i = 0; i < value; i++) CHECK_U64(elements[i], value);
}

static void value_check(const bed *b, const model_entity *m, uint32_t k)
{
    weft_component component = b->component[k];
    if (kinds[k] == WEFT_SHARED) {
        const uint32_t *shared = weft_entity_read_shared(b->world, m->handle, component);
        CHECK(shared != NULL);
        CHECK_U64(*shared, m->values[k]);
        return;
    }
    if (sizes[k] == 0) return;
    const void *value = weft_entity_read(b->world, m->handle, component);
    CHECK(value != NULL);
    if (k == LIST) {
        list_check(value, m->values[k]);
        return;
    }
    const uint32_t *words = value;
    for (size_t w = 0; w < sizes[k] / 4; w++) CHECK_U64(words[w], m->values[k]);
}

static void entity_check(const bed *b, const model_entity *m)
{
    CHECK(weft_entity_is_alive(b->world, m->handle) == !m->is_residue);
    for (uint32_t k = 0; k < KINDS; k++) {
        bool has = (m->set >> k & 1) != 0;
        CHECK(weft_entity_has(b->world, m->handle, b->component[k]) == has);
        if (has) value_check(b, m, k);
    }
    if ((m->set >> SWITCH & 1) != 0)
        CHECK(weft_entity_is_enabled(b->world, m->handle, b->component[SWITCH]) != m->disabled);
}

static void bed_check(const bed *b)
{
    if (weft_world_validate(b->world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(b->world)->text);
    weft_world_stats stats;
    weft_world_stats_get(b->world, &stats, sizeof stats);
    CHECK_U64(stats.entities, b->model.count);
    for (uint32_t i = 0; i < b->model.count; i++) entity_check(b, &b->model.entities[i]);
    for (uint32_t i = 0; i < b->model.dead_count; i++)
        CHECK(!weft_entity_is_alive(b->world, b->model.dead[i]));
}

/* ---- operations: drawn once, then applied to the world until they succeed, then to the model
 * ---- */

typedef enum op_kind {
    OP_CREATE,
    OP_CREATE_MANY,
    OP_CREATE_FILLED,
    OP_DESTROY,
    OP_DESTROY_MANY,
    OP_ADD,
    OP_REMOVE,
    OP_SET,
    OP_SET_SHARED,
    OP_LIST,
    OP_CHANGE_MANY,
    OP_SET_ARCHETYPE,
    OP_ENABLE,
    OP_INSTANTIATE,
    OP_COMPACT,
    OP_NAME,
    OP_COUNT
} op_kind;

typedef struct op {
    op_kind kind;
    uint32_t set;    /* components to create with or to add */
    uint32_t remove; /* components to remove */
    uint32_t component;
    uint32_t value;
    uint32_t count;
    uint32_t victims[MANY]; /* model indices, with repetitions */
    weft_entity made[MANY];
} op;

static uint32_t below(bed *b, uint32_t bound)
{
    return (uint32_t)test_random_below(&b->random, bound);
}

static op op_draw(bed *b)
{
    op o = {.kind = (op_kind)below(b, OP_COUNT)};
    if (b->drawn != ALL_KINDS && (o.kind == OP_SET_SHARED || below(b, 2) == 0))
        o.kind = below(b, 2) == 0 ? OP_ADD : OP_REMOVE;
    bool is_creation = o.kind <= OP_CREATE_FILLED || o.kind == OP_INSTANTIATE;
    if (b->model.count == 0) o.kind = OP_CREATE_MANY, is_creation = true;
    uint32_t most = b->drawn == RESIDUE_KINDS ? 2 * MANY : ENTITIES; /* few: often changed */
    if (is_creation && b->model.count + MANY > most) o.kind = OP_DESTROY_MANY;
    o.set = below(b, 1u << KINDS) & b->drawn;
    o.remove = below(b, 1u << KINDS) & b->drawn & ~o.set;
    do o.component = below(b, KINDS);
    while ((b->drawn >> o.component & 1) == 0);
    o.value = below(b, 6);
    o.count = o.kind == OP_CREATE ? 1 : below(b, MANY);
    for (uint32_t i = 0; i < MANY && b->model.count != 0; i++)
        o.victims[i] = below(b, b->model.count);
    return o;
}

static uint32_t components_of(const bed *b, uint32_t set, weft_component *out)
{
    uint32_t count = 0;
    for (uint32_t k = KINDS; k-- > 0;) /* not in the order of ids */
        if ((set >> k & 1) != 0) out[count++] = b->component[k];
    return count;
}

static bool is_plain(uint32_t k)
{
    return sizes[k] != 0 && (kinds[k] & (WEFT_BUFFER | WEFT_SHARED)) == 0;
}

static weft_result create_filled(bed *b, op *o)
{
    static uint32_t data[KINDS][MANY * 16];
    weft_component list[KINDS];
    weft_values filled[KINDS];
    uint32_t count = components_of(b, o->set, list), filled_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = list[i].id - b->component[0].id;
        for (uint32_t w = 0; w < MANY * 16; w++) data[k][w] = o->value;
        filled[filled_count] = (weft_values){list[i], is_plain(k) ? data[k] : NULL};
        if (is_plain(k) || o->value % 2 == 0) filled_count++;
    }
    weft_archetype archetype = weft_archetype_create(b->world, list, count);
    return weft_entity_create_filled(b->world, archetype, filled, filled_count, o->count, o->made);
}

static weft_result set_archetype(bed *b, const op *o, weft_entity handle)
{
    weft_component list[KINDS];
    const model_entity *m = &b->model.entities[o->victims[0]];
    uint32_t set = o->set | (m->set & 1u << CLEAN);
    weft_archetype to = weft_archetype_create(b->world, list, components_of(b, set, list));
    if (to.id == 0) return weft_world_error(b->world)->code;
    return weft_entity_set_archetype(b->world, handle, to);
}

static weft_result list_append(bed *b, const op *o, weft_entity handle)
{
    const model_entity *m = &b->model.entities[o->victims[0]];
    if ((m->set >> LIST & 1) == 0) return WEFT_OK;
    weft_buffers lists = weft_entity_write_buffer(b->world, handle, b->component[LIST]);
    weft_result result = weft_buffers_resize(&lists, 0, o->value);
    uint32_t *elements = weft_buffers_write(&lists, 0);
    for (uint32_t i = 0; i < o->value && result == WEFT_OK; i++) elements[i] = o->value;
    return result;
}

static weft_result many_apply(bed *b, op *o)
{
    weft_component list[KINDS], other[KINDS];
    weft_entity handles[MANY];
    for (uint32_t i = 0; i < o->count && b->model.count != 0; i++)
        handles[i] = b->model.entities[o->victims[i]].handle;
    uint32_t count = components_of(b, o->set, list);
    if (o->kind == OP_CREATE_MANY)
        return weft_entity_create_many(b->world, weft_archetype_create(b->world, list, count),
                                       o->count, o->made);
    if (o->kind == OP_DESTROY_MANY) return weft_entity_destroy_many(b->world, handles, o->count);
    uint32_t removed = components_of(b, o->remove, other);
    return weft_entity_change_many(
        b->world, handles, o->count,
        &(weft_change_desc){
            .add = list, .add_count = count, .remove = other, .remove_count = removed});
}

static weft_result set_value(bed *b, const op *o, weft_entity handle)
{
    uint32_t words[16], k = o->component;
    for (uint32_t w = 0; w < 16; w++) words[w] = o->value;
    if (!is_plain(k) && sizes[k] != 0) return WEFT_OK;
    return weft_entity_set(b->world, handle, b->component[k], words, sizes[k]);
}

static weft_result create_one(bed *b, op *o)
{
    weft_component list[KINDS];
    weft_archetype archetype =
        weft_archetype_create(b->world, list, components_of(b, o->set, list));
    if (archetype.id == 0) return weft_world_error(b->world)->code;
    o->made[0] = weft_entity_create(b->world, archetype);
    return o->made[0].version != 0 ? WEFT_OK : weft_world_error(b->world)->code;
}

static weft_result instantiate(bed *b, op *o, weft_entity handle)
{
    return weft_entity_instantiate(b->world, handle, o->count, o->made);
}

/* Residues that came and went, and operations that were refused because of them. */
typedef struct spent_count {
    uint32_t made, ended, refused;
} spent_count;

static spent_count spent;

/* What is left of a destroyed entity loses components, and gets none. */
static bool gains(const model_entity *e, uint32_t add, uint32_t remove)
{
    return e->is_residue && (add & ~remove & ~e->set) != 0;
}

/* Whether an operation is on what is left of a destroyed entity, and more than a removal. */
static bool is_on_the_dead(const bed *b, const op *o)
{
    const model_entity *e = &b->model.entities[o->victims[0]];
    bool is_set = is_plain(o->component) || sizes[o->component] == 0;
    switch (o->kind) {
    case OP_CHANGE_MANY:
        for (uint32_t i = 0; i < o->count; i++)
            if (gains(&b->model.entities[o->victims[i]], o->set, o->remove)) return true;
        return false;
    case OP_ADD:
        return gains(e, 1u << o->component, 0);
    case OP_SET:
        return is_set && gains(e, 1u << o->component, 0);
    case OP_DESTROY:
    case OP_SET_SHARED:
    case OP_SET_ARCHETYPE:
    case OP_INSTANTIATE:
    case OP_NAME:
        return e->is_residue;
    case OP_CREATE:
    case OP_CREATE_MANY:
    case OP_CREATE_FILLED:
    case OP_DESTROY_MANY:
    case OP_REMOVE:
    case OP_LIST:
    case OP_ENABLE:
    case OP_COMPACT:
    case OP_COUNT:
        break;
    }
    return false;
}

static weft_result operation(bed *b, op *o)
{
    weft_entity handle = b->model.entities[o->victims[0]].handle;
    weft_component component = b->component[o->component];
    switch (o->kind) {
    case OP_CREATE:
        return create_one(b, o);
    case OP_CREATE_FILLED:
        return create_filled(b, o);
    case OP_CREATE_MANY:
    case OP_DESTROY_MANY:
    case OP_CHANGE_MANY:
        return many_apply(b, o);
    case OP_DESTROY:
        return weft_entity_destroy(b->world, handle);
    case OP_ADD:
        return weft_entity_add(b->world, handle, component);
    case OP_REMOVE:
        return weft_entity_remove(b->world, handle, component);
    case OP_SET:
        return set_value(b, o, handle);
    case OP_SET_SHARED:
        return weft_entity_set_shared(b->world, handle, b->component[SHARE], &o->value);
    case OP_LIST:
        return list_append(b, o, handle);
    case OP_SET_ARCHETYPE:
        return set_archetype(b, o, handle);
    case OP_ENABLE:
        if ((b->model.entities[o->victims[0]].set >> SWITCH & 1) == 0) return WEFT_OK;
        return weft_entity_enable(b->world, handle, b->component[SWITCH], o->value % 2 == 0);
    case OP_INSTANTIATE:
        return instantiate(b, o, handle);
    case OP_COMPACT:
        weft_world_compact(b->world, o->value == 0 ? UINT64_MAX : o->count);
        break;
    case OP_NAME:
        return weft_entity_set_name(b->world, handle, names[o->component]);
    case OP_COUNT:
        break;
    }
    return WEFT_OK;
}

/* Refused ones turn into one that does nothing to the model. */
static weft_result world_apply(bed *b, op *o)
{
    bool is_refused = b->model.count != 0 && is_on_the_dead(b, o);
    weft_result result = operation(b, o);
    if (!is_refused || result == WEFT_OUT_OF_MEMORY) return result;
    CHECK_RESULT(result, WEFT_STALE_ENTITY);
    spent.refused++;
    o->kind = OP_COMPACT;
    return WEFT_OK;
}

/* ---- the same on the model ---- */

static void model_kill(model *m, uint32_t index)
{
    if (m->dead_count < 64) m->dead[m->dead_count++] = m->entities[index].handle;
    m->entities[index] = m->entities[--m->count];
}

/* True when the entity is gone. */
static bool model_destroy(model_entity *e)
{
    if ((e->set >> CLEAN & 1) == 0) return true;
    spent.made += !e->is_residue;
    e->is_residue = true;
    e->set = 1u << CLEAN;
    return false;
}

static void model_change(model_entity *e, uint32_t add, uint32_t remove)
{
    for (uint32_t k = 0; k < KINDS; k++) {
        if ((add >> k & 1) == 0 || (e->set >> k & 1) != 0) continue;
        e->values[k] = 0;
        if (k == SWITCH) e->disabled = false;
    }
    e->set = (e->set | add) & ~remove;
    spent.ended += e->is_residue && e->set == 0;
}

static bool is_spent(const model_entity *e)
{
    return e->is_residue && e->set == 0;
}

static void model_create(model *m, const op *o, uint32_t i)
{
    model_entity *e = &m->entities[m->count++];
    *e = (model_entity){.handle = o->made[i], .set = o->set};
    for (uint32_t k = 0; k < KINDS && o->kind == OP_CREATE_FILLED; k++)
        if (is_plain(k)) e->values[k] = o->value;
}

/* Array operations: victims as a set, killed from the highest index down. */
static void model_many(model *m, const op *o)
{
    bool is_victim[ENTITIES] = {false};
    for (uint32_t i = 0; i < o->count; i++) is_victim[o->victims[i]] = true;
    for (uint32_t i = m->count; i-- > 0;) {
        if (!is_victim[i]) continue;
        model_entity *e = &m->entities[i];
        if (o->kind == OP_DESTROY_MANY) {
            if (model_destroy(e)) model_kill(m, i);
            continue;
        }
        model_change(e, o->set, o->remove);
        if (is_spent(e)) model_kill(m, i);
    }
}

static void model_set(model_entity *e, const op *o, uint32_t k)
{
    model_change(e, 1u << k, 0);
    e->values[k] = o->value;
}

static void model_instantiate(model *m, const op *o)
{
    model_entity source = m->entities[o->victims[0]];
    source.set &= ~(1u << CLEAN);
    for (uint32_t i = 0; i < o->count; i++) {
        m->entities[m->count] = source;
        m->entities[m->count++].handle = o->made[i];
    }
}

static void model_apply(model *m, const op *o)
{
    model_entity *e = &m->entities[o->victims[0]];
    uint32_t bit = 1u << o->component;
    switch (o->kind) {
    case OP_CREATE:
    case OP_CREATE_MANY:
    case OP_CREATE_FILLED:
        for (uint32_t i = 0; i < o->count; i++) model_create(m, o, i);
        break;
    case OP_DESTROY:
        if (model_destroy(e)) model_kill(m, o->victims[0]);
        break;
    case OP_DESTROY_MANY:
    case OP_CHANGE_MANY:
        model_many(m, o);
        break;
    case OP_ADD:
        model_change(e, bit, 0);
        break;
    case OP_REMOVE:
        model_change(e, 0, bit);
        if (is_spent(e)) model_kill(m, o->victims[0]);
        break;
    case OP_SET:
        if (is_plain(o->component) || sizes[o->component] == 0) model_set(e, o, o->component);
        break;
    case OP_SET_SHARED:
        model_set(e, o, SHARE);
        break;
    case OP_LIST:
        if ((e->set >> LIST & 1) != 0) e->values[LIST] = o->value;
        break;
    case OP_SET_ARCHETYPE:
        model_change(e, o->set, e->set & ~(o->set | 1u << CLEAN));
        break;
    case OP_ENABLE:
        if ((e->set >> SWITCH & 1) != 0) e->disabled = o->value % 2 != 0;
        break;
    case OP_INSTANTIATE:
        model_instantiate(m, o);
        break;
    case OP_COMPACT:
    case OP_NAME:
    case OP_COUNT:
        break;
    }
}

/* ---- tests ---- */

static void run_stream(uint64_t seed, uint32_t drawn, uint32_t steps)
{
    bed *b = malloc(sizeof *b);
    bed_open(b, seed, drawn);
    for (uint32_t step = 0; step < steps; step++) {
        op o = op_draw(b);
        weft_result result = world_apply(b, &o);
        if (result != WEFT_OK) test_fail(__FILE__, __LINE__, weft_world_error(b->world)->text);
        model_apply(&b->model, &o);
        bed_check(b);
    }
    bed_close(b);
    free(b);
}

/* Applies one operation while its k-th allocation fails, for k = 1, 2, ... until it succeeds. */
static void apply_with_faults(bed *b, op *o, bool is_map, bool forever)
{
    for (uint64_t k = 1;; k++) {
        if (is_map)
            test_os_fail_map(&b->os, k);
        else
            test_memory_fail(&b->memory, k, forever);
        op tried = *o;
        weft_result result = world_apply(b, &tried);
        test_memory_fail(&b->memory, 0, false);
        test_os_fail_map(&b->os, 0);
        if (result == WEFT_OK) {
            *o = tried;
            return;
        }
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        bed_check(b);
        CHECK(k < 1000);
    }
}

static void run_faults(uint64_t seed, uint32_t steps, bool is_map, bool forever)
{
    bed *b = malloc(sizeof *b);
    bed_open(b, seed, seed % 2 == 0 ? PLAIN_KINDS : ALL_KINDS);
    for (uint32_t step = 0; step < steps; step++) {
        op o = op_draw(b);
        if (o.kind == OP_COMPACT) continue; /* stops early instead of failing */
        apply_with_faults(b, &o, is_map, forever);
        model_apply(&b->model, &o);
        bed_check(b);
    }
    bed_close(b);
    free(b);
}

PLAIN_TEST(random_operations_agree_with_the_model)
{
    for (uint64_t seed = 1; seed <= 12; seed++) run_stream(seed, ALL_KINDS, 400);
}

/* Few components, so that there are many residues. */
PLAIN_TEST(random_residues_agree_with_the_model)
{
    spent = (spent_count){0};
    for (uint64_t seed = 21; seed <= 26; seed++) run_stream(seed, RESIDUE_KINDS, 1500);
    CHECK(spent.made > 300 && spent.ended > 100 && spent.refused > 300);
}

PLAIN_TEST(random_plain_changes_agree_with_the_model)
{
    for (uint64_t seed = 13; seed <= 20; seed++) run_stream(seed, PLAIN_KINDS, 1000);
}

PLAIN_TEST(every_failed_allocation_leaves_the_world_as_it_was)
{
    for (uint64_t seed = 101; seed <= 104; seed++) run_faults(seed, 120, false, false);
}

PLAIN_TEST(memory_that_is_gone_for_good_leaves_the_world_as_it_was)
{
    for (uint64_t seed = 201; seed <= 204; seed++) run_faults(seed, 120, false, true);
}

PLAIN_TEST(refused_mappings_leave_the_world_as_it_was)
{
    for (uint64_t seed = 301; seed <= 302; seed++) run_faults(seed, 120, true, false);
}
