/* SPDX-License-Identifier: MIT */
/* rollback_operations.h: random operations of all kinds on the worlds of rollback_bed.h. Their
 * effect depends on the world and the state of the bed only.
 *
 * Whatever an operation tells its caller enters `digest`: two runs of the same operations from the
 * same state end with the same digest, or something else than the state decided. */
#ifndef WEFT_TESTS_ROLLBACK_OPERATIONS_H
#define WEFT_TESTS_ROLLBACK_OPERATIONS_H

#include "rollback_bed.h"

static inline void pool_add(bed *b, const weft_entity *entities, uint32_t count)
{
    note_entities(b, entities, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = b->state.count < POOL ? b->state.count++ : below(b, POOL);
        b->state.entities[at] = entities[i];
    }
}

static inline weft_entity pick(bed *b)
{
    for (uint32_t i = 0; i < 8 && b->state.count != 0; i++) {
        weft_entity entity = b->state.entities[below(b, b->state.count)];
        if (i == 7 || weft_entity_is_alive(b->world, entity)) return entity;
    }
    return (weft_entity){0, 0};
}

/* Up to four different components. */
static inline uint32_t pick_components(bed *b, weft_component *out)
{
    uint32_t mask = 0, count = 0;
    for (uint32_t n = 1 + below(b, 4); n-- > 0;) mask |= 1u << below(b, KINDS);
    for (uint32_t i = 0; i < KINDS; i++)
        if ((mask >> i & 1) != 0) out[count++] = b->component[i];
    return count;
}

static inline void op_create(bed *b)
{
    weft_component set[KINDS];
    weft_entity made[200];
    uint32_t kinds = pick_components(b, set), count = 1 + below(b, below(b, 8) == 0 ? 200 : 20);
    note(b, (uint64_t)weft_entity_create_many(b->world, weft_archetype_create(b->world, set, kinds),
                                              count, made));
    pool_add(b, made, count);
}

static inline void op_create_one(bed *b)
{
    weft_component set[KINDS];
    weft_archetype archetype = weft_archetype_create(b->world, set, pick_components(b, set));
    weft_entity made = weft_entity_create(b->world, archetype);
    pool_add(b, &made, 1);
}

static inline uint32_t pick_many(bed *b, weft_entity *out)
{
    uint32_t count = 1 + below(b, BATCH);
    for (uint32_t i = 0; i < count; i++) out[i] = pick(b);
    return count;
}

static inline void op_destroy_many(bed *b)
{
    weft_entity some[BATCH];
    uint32_t count = pick_many(b, some);
    note(b, (uint64_t)weft_entity_destroy_many(b->world, some, count));
}

static inline void op_change_many(bed *b)
{
    weft_entity some[BATCH];
    uint32_t count = pick_many(b, some);
    weft_component add[2] = {b->component[below(b, KINDS)], b->component[VALUE]};
    weft_component remove = b->component[below(b, KINDS)];
    note(b, (uint64_t)weft_entity_change_many(b->world, some, count,
                                              &(weft_change_desc){.add = add,
                                                                  .add_count = 1 + below(b, 2),
                                                                  .remove = &remove,
                                                                  .remove_count = below(b, 2)}));
}

static inline void op_value(bed *b)
{
    static const uint32_t kinds[] = {VALUE, SWITCH, FEW, SOME, REST};
    uint32_t value = below(b, 1000);
    weft_entity entity = pick(b);
    note(b,
         (uint64_t)weft_entity_set(b->world, entity, b->component[kinds[below(b, 5)]], &value, 4));
    uint64_t *chunk_value = weft_entity_write(b->world, entity, b->component[PER_CHUNK]);
    if (chunk_value != NULL) *chunk_value += value;
    weft_entity *link = weft_entity_write(b->world, entity, b->component[LINK]);
    if (link != NULL) *link = pick(b);
}

static inline void op_shared(bed *b)
{
    weft_entity some[BATCH];
    uint32_t value = below(b, 12), kind = below(b, 2) == 0 ? SHARE : TEAM;
    uint32_t count = below(b, 2) == 0 ? 1 : 1 + below(b, BATCH);
    for (uint32_t i = 0; i < count; i++) some[i] = pick(b);
    note(b,
         (uint64_t)weft_entity_set_shared_many(b->world, some, count, b->component[kind], &value));
}

static inline void op_buffer(bed *b)
{
    uint32_t elements[5] = {1, 2, 3, 4, below(b, 100)};
    weft_entity entity = pick(b);
    if (!weft_entity_has(b->world, entity, b->component[LIST])) return;
    weft_buffers list = weft_entity_write_buffer(b->world, entity, b->component[LIST]);
    uint32_t count = 1 + below(b, 5);
    CHECK_OK(weft_buffers_append(&list, 0, elements, count));
    if (below(b, 4) == 0) CHECK_OK(weft_buffers_resize(&list, 0, 1));
}

static inline void op_instantiate(bed *b)
{
    weft_entity made[12];
    uint32_t count = 1 + below(b, 12);
    if (weft_entity_instantiate(b->world, pick(b), count, made) == WEFT_OK)
        pool_add(b, made, count);
}

static inline void op_query(bed *b)
{
    weft_query query = b->queries[below(b, QUERIES)];
    weft_component component = b->component[below(b, KINDS)];
    uint32_t value = below(b, 12);
    weft_result result = WEFT_OK;
    switch (below(b, 6)) {
    case 0:
        result = weft_query_add(b->world, query, component);
        break;
    case 1:
        result = weft_query_remove(b->world, query, component);
        break;
    case 2:
        result = weft_query_set_shared(b->world, query, b->component[TEAM], &value);
        break;
    case 3:
        result = weft_query_set(b->world, query, b->component[VALUE], &value, 4);
        break;
    case 4:
        result = weft_query_enable(b->world, query, b->component[SWITCH], value % 2 == 0);
        break;
    default:
        if (value < 3) result = weft_query_destroy_entities(b->world, query);
    }
    note(b, (uint64_t)result);
}

/* One command, on an entity of the world or on one that this recorder made. */
static inline void record_one(bed *b, weft_entity *last)
{
    weft_recorder *commands = b->commands;
    weft_component component = b->component[below(b, KINDS)], set[KINDS];
    weft_entity entity = last->version != 0 && below(b, 3) == 0 ? *last : pick(b);
    uint32_t value = below(b, 12);
    weft_slice rows;
    switch (below(b, 10)) {
    case 0:
        *last = weft_recorder_create_entity(
            commands, weft_archetype_create(b->world, set, pick_components(b, set)));
        break;
    case 1:
        *last = weft_recorder_instantiate(commands, pick(b));
        break;
    case 2:
        weft_recorder_destroy_entity(commands, entity);
        break;
    case 3:
    case 4:
        weft_recorder_add(commands, entity, component);
        break;
    case 5:
        weft_recorder_remove(commands, entity, component);
        break;
    case 6:
        weft_recorder_set(commands, entity, b->component[VALUE], &value, 4);
        break;
    case 7:
        weft_recorder_set_shared(commands, entity, b->component[SHARE], &value);
        break;
    case 8:
        weft_recorder_append(commands, entity, b->component[LIST], &value, 1);
        break;
    default:
        if (value == 0)
            weft_recorder_create_rows(commands,
                                      weft_archetype_create(b->world, set, pick_components(b, set)),
                                      1 + below(b, 60), &rows);
        if (value == 1) weft_recorder_query_add(commands, b->queries[below(b, QUERIES)], component);
        if (value > 8) weft_recorder_enable(commands, entity, b->component[SWITCH], value > 9);
    }
}

static inline void op_commands(bed *b)
{
    weft_entity last = {0, 0};
    uint32_t count = 1 + below(b, below(b, 4) == 0 ? 150 : 10);
    for (uint32_t i = 0; i < count; i++) record_one(b, &last);
    note(b, (uint64_t)weft_recorder_play(b->commands));
}

/* Entities that operations made without telling enter the pool. */
static inline void op_find(bed *b)
{
    weft_entity some[16];
    uint64_t count = weft_query_entities(b->world, b->queries[below(b, QUERIES)], some, 16);
    note(b, count);
    pool_add(b, some, count < 16 ? (uint32_t)count : 16);
}

static inline void op_single(bed *b)
{
    weft_entity entity = pick(b);
    weft_component component = b->component[below(b, KINDS)], set[KINDS];
    weft_result result = WEFT_OK;
    switch (below(b, 5)) {
    case 0:
        result = weft_entity_destroy(b->world, entity);
        break;
    case 1:
        result = weft_entity_add(b->world, entity, component);
        break;
    case 2:
        result = weft_entity_remove(b->world, entity, component);
        break;
    case 3:
        result = weft_entity_set_archetype(
            b->world, entity, weft_archetype_create(b->world, set, pick_components(b, set)));
        break;
    default:
        result = weft_entity_enable(b->world, entity, b->component[SWITCH], below(b, 2) == 0);
    }
    note(b, (uint64_t)result);
}

static inline void operate_once(bed *b)
{
    uint32_t roll = below(b, 32);
    if (roll < 4) op_create(b);
    if (roll == 4) op_create_one(b);
    if (roll >= 5 && roll < 8) op_destroy_many(b);
    if (roll >= 8 && roll < 10) op_change_many(b);
    if (roll >= 10 && roll < 12) op_value(b);
    if (roll >= 12 && roll < 14) op_shared(b);
    if (roll == 14) op_buffer(b);
    if (roll >= 15 && roll < 17) op_instantiate(b);
    if (roll == 17) op_query(b);
    if (roll >= 18 && roll < 22) op_commands(b);
    if (roll == 22) op_find(b);
    if (roll == 23) note(b, weft_world_compact(b->world, 1 + below(b, 50)));
    if (roll == 24 && b->has_systems) CHECK_OK(weft_world_step(b->world, 0.1f));
    if (roll > 24) op_single(b);
}

static inline void operate(bed *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) operate_once(b);
}

#endif
