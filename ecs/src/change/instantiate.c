/* SPDX-License-Identifier: MIT */
/* instantiate.c: copies of an entity and of its linked group, with the groups of members. Every
 * member's rows are reserved and their values replicated (deep for buffers) before any id is
 * given, so that a failure leaves nothing behind; then references inside the group are
 * redirected to the copies of the same instance, and roots of prefabs are told what they are
 * instances of. Owner, serial. */
#include "archetype.h"
#include "bits.h"
#include "enable.h"
#include "entity_sparse.h"
#include "entity_value.h"
#include "error.h"
#include "format.h"
#include "linked_group.h"
#include "move_plan.h"
#include "name_table.h"
#include "structure.h"
#include "tuple.h"

#include <string.h>

/* One member of the group. Owner: the operation. Its copies fill spans [span_first, span_end). */
typedef struct member {
    weft_entity entity;
    const weft__chunk *chunk;
    uint32_t row;
    const weft__plan *plan;
    weft__tuple *to;     /* held */
    uint32_t span_first; /* its copies: spans from here on, `count` rows in all */
    uint32_t span_end;
    weft_entity *copies; /* [instance] */
} member;

/* One operation. Owner: the calling function's stack. */
typedef struct instantiation {
    weft_world *world;
    member *members;
    uint32_t member_count;
    uint32_t member_capacity;
    uint32_t count;  /* instances */
    uint32_t *table; /* hash of entity -> member index + 1 */
    uint32_t table_mask;
    weft__spans spans;
    weft_entity *copies; /* [member * count + instance] */
    uint32_t instance;   /* the one being redirected */
} instantiation;

static uint32_t *table_slot(const instantiation *op, weft_entity entity)
{
    uint32_t i = (uint32_t)hash_fold(entity.index ^ HASH_K0, HASH_K1) & op->table_mask;
    while (op->table[i] != 0) {
        weft_entity found = op->members[op->table[i] - 1].entity;
        if (found.index == entity.index && found.version == entity.version) break;
        i = (i + 1) & op->table_mask;
    }
    return &op->table[i];
}

/* ---- collection ---- */

static bool member_count(void *user, weft_entity entity, weft__chunk *chunk, uint32_t row)
{
    uint32_t *count = user;
    (void)entity, (void)chunk, (void)row;
    ++*count;
    return true;
}

static bool member_add(void *user, weft_entity entity, weft__chunk *chunk, uint32_t row)
{
    instantiation *op = user;
    if ((chunk->archetype->flags & WEFT__IS_RESIDUE) != 0) return true;
    uint32_t *slot = table_slot(op, entity);
    if (*slot != 0) return true;
    op->members[op->member_count] = (member){.entity = entity, .chunk = chunk, .row = row};
    *slot = ++op->member_count;
    return true;
}

static weft_result members_collect(instantiation *op, weft_entity source)
{
    weft_world *world = op->world;
    uint32_t row, count = 0;
    weft__chunk *chunk = weft__entity_chunk(world, source, &row);
    const weft_buffer *group = weft__group_of(world, chunk, row);
    const weft_entity *listed =
        group == NULL || group->count == 0 ? &source : weft_buffer_read(group);
    if (listed[0].index != source.index || listed[0].version != source.version)
        return weft__error(world, WEFT_INVALID_ARGUMENT, source, world->builtin.linked_group,
                           "weft_entity_instantiate: element 0 of the linked group of %s is "
                           "not the entity itself: put the root first",
                           weft__entity_say(world, source).text);
    bool is_counted = weft__group_each(world, chunk, row, member_count, &count);
    if (count == 0) count = 1;
    op->table_mask = (uint32_t)bits_round_up_power_of_two(2 * (uint64_t)count) - 1;
    op->members = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_COMMANDS, count,
                                     sizeof *op->members, _Alignof(member));
    op->member_capacity = count;
    op->table = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_COMMANDS, op->table_mask + 1,
                                   sizeof *op->table, _Alignof(uint32_t));
    if (!is_counted || op->members == NULL || op->table == NULL)
        return weft__error_memory(world, "weft_entity_instantiate");
    member_add(op, source, chunk, row);
    bool is_added = weft__group_each(world, chunk, row, member_add, op);
    return is_added ? WEFT_OK : weft__error_memory(world, "weft_entity_instantiate");
}

/* ---- everything that can fail ---- */

/* Copies of the root of a prefab have InstanceOf, in worlds where it is registered. */
static bool is_told_its_prefab(const instantiation *op, const member *m)
{
    return m == op->members && op->world->builtin.instance_of.id != 0 &&
           (m->chunk->archetype->flags & WEFT__IS_PREFAB) != 0;
}

static weft__archetype *member_target(const instantiation *op, const member *m)
{
    const uint32_t *instance_of = &op->world->builtin.instance_of.id;
    weft__archetype *to = weft__archetype_instance(op->world, m->chunk->archetype);
    if (to == NULL || !is_told_its_prefab(op, m)) return to;
    return weft__archetype_change(op->world, to, instance_of, 1, NULL, 0);
}

static weft_result member_reserve(instantiation *op, member *m)
{
    weft_world *world = op->world;
    weft__archetype *archetype = m->chunk->archetype;
    weft__archetype *to = member_target(op, m);
    if (to != NULL) m->plan = weft__plan_obtain(world, archetype, to);
    if (m->plan != NULL) m->to = weft__tuple_follow(world, m->chunk->tuple, to);
    if (m->to == NULL) return world->error->code;
    m->span_first = op->spans.count;
    weft_result result = weft__rows_reserve(world, m->to, op->count, &op->spans);
    m->span_end = op->spans.count;
    return result;
}

static weft_result values_replicate(weft_world *world, const weft__type *type, char *to,
                                    const char *from, uint32_t count)
{
    if (type->needs_copy) return weft__type_replicate(&world->memory, type, to, from, count);
    size_t bytes = type->value_bytes;
    for (uint32_t i = 0; i < count; i++) memcpy(to + i * bytes, from, bytes);
    return WEFT_OK;
}

/* Replicates columns [0, *column) of spans [from, to); on failure *column and *span tell how
 * far. */
static weft_result member_copy(instantiation *op, const member *m, uint32_t *span, uint32_t *column)
{
    for (*span = m->span_first; *span < m->span_end; ++*span) {
        weft__span s = op->spans.items[*span];
        for (*column = 0; *column < m->plan->copy_count; ++*column) {
            const weft__column_copy *copy = &m->plan->copies[*column];
            weft_result result =
                values_replicate(op->world, s.chunk->archetype->format->types[copy->to],
                                 weft__chunk_value(s.chunk, copy->to, s.row),
                                 weft__chunk_value(m->chunk, copy->from, m->row), s.count);
            if (result != WEFT_OK) return result;
        }
    }
    *column = 0;
    return WEFT_OK;
}

/* Destructs what member_copy made, up to (span, column). */
static void member_undo(instantiation *op, const member *m, uint32_t span, uint32_t column)
{
    for (uint32_t i = m->span_first; i < m->span_end && i <= span; i++) {
        weft__span s = op->spans.items[i];
        uint32_t end = i < span ? m->plan->copy_count : column;
        for (uint32_t c = 0; c < end; c++) {
            uint32_t to = m->plan->copies[c].to;
            weft__type_destruct(&op->world->memory, s.chunk->archetype->format->types[to],
                                weft__chunk_value(s.chunk, to, s.row), s.count);
        }
        weft__chunk_soil(s.chunk); /* the rows go back used */
    }
}

static weft_result members_copy(instantiation *op)
{
    for (uint32_t i = 0; i < op->member_count; i++) {
        uint32_t span, column;
        if (member_copy(op, &op->members[i], &span, &column) == WEFT_OK) continue;
        member_undo(op, &op->members[i], span, column);
        while (i-- > 0) member_undo(op, &op->members[i], op->members[i].span_end, 0);
        return weft__error_memory(op->world, "weft_entity_instantiate");
    }
    return WEFT_OK;
}

/* Copies have the names of their originals: room for them. */
static weft_result names_reserve(const instantiation *op)
{
    weft_world *world = op->world;
    uint64_t named = 0;
    for (uint32_t i = 0; i < op->member_count; i++)
        named += weft_entity_name(world, op->members[i].entity)[0] != '\0';
    if (named == 0) return WEFT_OK;
    return weft__names_reserve(world, (uint32_t)(named * op->count), 0); /* no more than entities */
}

static weft_result prepare(instantiation *op, weft_entity source)
{
    weft_world *world = op->world;
    weft_result result = members_collect(op, source);
    if (result != WEFT_OK) return result;
    uint64_t total = (uint64_t)op->member_count * op->count;
    result = total > UINT32_MAX ? WEFT_LIMIT
                                : weft__directory_reserve_owner(&world->directory, (uint32_t)total);
    if (result != WEFT_OK) return weft__error_limit(world, result, "weft_entity_instantiate");
    op->copies = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, total, sizeof *op->copies,
                             _Alignof(weft_entity));
    if (op->copies == NULL || names_reserve(op) != WEFT_OK)
        return weft__error_memory(world, "weft_entity_instantiate");
    for (uint32_t i = 0; i < op->member_count && result == WEFT_OK; i++) {
        op->members[i].copies = op->copies + (size_t)i * op->count;
        result = member_reserve(op, &op->members[i]);
    }
    if (result == WEFT_OK) result = members_copy(op);
    if (result != WEFT_OK) weft__rows_unreserve(world, &op->spans, 0);
    return result;
}

/* ---- what cannot fail ---- */

static void span_bits(const member *m, weft__span span)
{
    const weft__plan *plan = m->plan;
    for (uint32_t i = 0; i < plan->kept_count; i++) {
        uint32_t from = plan->from->types[plan->kept[2 * i]].enableable;
        uint32_t to = plan->to->types[plan->kept[2 * i + 1]].enableable;
        if (from == WEFT__NO_PLACE) continue;
        const weft_a64 *x_words = weft__chunk_disabled(m->chunk, from);
        /* relaxed: the world is idle */
        if ((at_load_rlx(&x_words[m->row / 64]) >> m->row % 64 & 1) == 0) continue;
        for (uint32_t r = 0; r < span.count; r++)
            weft__chunk_enable(span.chunk, to, span.row + r, false);
    }
}

static void member_commit(instantiation *op, const member *m)
{
    weft_world *world = op->world;
    uint32_t done = 0;
    for (uint32_t i = m->span_first; i < m->span_end; i++) {
        weft__span span = op->spans.items[i];
        weft__directory_allocate_owner(&world->directory, span.count,
                                       weft__chunk_entities(span.chunk) + span.row,
                                       m->copies + done, weft__location(span.chunk, span.row));
        for (uint32_t type = 0; type < m->plan->to->type_count; type++)
            weft__rows_stamp(span.chunk, type, span.row, span.count, world->front.version);
        span_bits(m, span);
        done += span.count;
    }
}

/* After all members have their ids. */
static void member_name(const instantiation *op, const member *m)
{
    if (weft_entity_name(op->world, m->entity)[0] == '\0') return;
    for (uint32_t i = 0; i < op->count; i++) {
        const char *name = weft_entity_name(op->world, m->entity);
        weft_result result = weft_entity_set_name(op->world, m->copies[i], name);
        WEFT_ASSERT(result == WEFT_OK); /* reserved */
        (void)result;
    }
}

static void reference_redirect(weft_entity *reference, void *user)
{
    const instantiation *op = user;
    if (reference->version == 0) return;
    uint32_t found = *table_slot(op, *reference);
    if (found != 0) *reference = op->members[found - 1].copies[op->instance];
}

static void member_redirect(instantiation *op, const member *m)
{
    if ((m->plan->to->flags & WEFT__HAS_ENTITY_FIELDS) == 0) return;
    op->instance = 0;
    for (uint32_t i = m->span_first; i < m->span_end; i++) {
        weft__span span = op->spans.items[i];
        const weft__format *format = span.chunk->archetype->format;
        for (uint32_t r = 0; r < span.count; r++, op->instance++)
            for (uint32_t c = 1; c < format->column_count; c++)
                weft__type_entities(format->types[c],
                                    weft__chunk_value(span.chunk, c, span.row + r), 1,
                                    reference_redirect, op);
    }
}

/* The root's copies get their prefab, which redirection would have made the copy itself. */
static void root_tell(const instantiation *op)
{
    const member *m = op->members;
    if (!is_told_its_prefab(op, m)) return;
    uint32_t type = weft__archetype_find(m->plan->to, op->world->builtin.instance_of.id);
    for (uint32_t i = m->span_first; i < m->span_end; i++) {
        weft__span span = op->spans.items[i];
        uint32_t column = span.chunk->archetype->types[type].column;
        weft_entity *targets = (weft_entity *)weft__chunk_value(span.chunk, column, span.row);
        for (uint32_t r = 0; r < span.count; r++) targets[r] = m->entity;
    }
}

/* References in the SPARSE values of the copies. */
static void sparse_redirect(instantiation *op, const weft__type *type, const member *m)
{
    for (op->instance = 0; op->instance < op->count; op->instance++) {
        uint32_t row;
        const weft__chunk *chunk =
            weft__sparse_find(op->world, type, m->copies[op->instance], &row);
        if (chunk != NULL)
            weft__type_entities(type, weft__chunk_value(chunk, 1, row), 1, reference_redirect, op);
    }
}

/* The SPARSE components of all members; without memory for them the copies go again. */
static weft_result sparse_copy(instantiation *op)
{
    weft_world *world = op->world;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < op->member_count && result == WEFT_OK; i++)
        result = weft__sparse_copy(world, op->members[i].entity, op->members[i].copies, op->count);
    const weft__type *type = world->types.sparse;
    for (; type != NULL && result == WEFT_OK; type = type->sparse->next)
        for (uint32_t i = 0; i < op->member_count && type->entity_offset_count != 0; i++)
            sparse_redirect(op, type, &op->members[i]);
    if (result == WEFT_OK) return WEFT_OK;
    weft_error error = *world->error;
    for (uint32_t i = 0; i < op->member_count * op->count; i++)
        weft_entity_destroy(world, op->copies[i]);
    *world->error = error;
    return result;
}

static void finish(instantiation *op)
{
    weft__memory *memory = &op->world->memory;
    for (uint32_t i = 0; i < op->member_count; i++)
        if (op->members[i].to != NULL) weft__tuple_release(op->world, op->members[i].to);
    weft__free(memory, WEFT__MEMORY_COMMANDS, op->copies, (size_t)op->member_count * op->count,
               sizeof *op->copies, _Alignof(weft_entity));
    weft__free(memory, WEFT__MEMORY_COMMANDS, op->members, op->member_capacity, sizeof *op->members,
               _Alignof(member));
    weft__free(memory, WEFT__MEMORY_COMMANDS, op->table, op->table_mask + 1, sizeof *op->table,
               _Alignof(uint32_t));
    weft__spans_fini(op->world, &op->spans);
}

weft_result weft_entity_instantiate(weft_world *world, weft_entity source, uint32_t count,
                                    weft_entity *out)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_entity_instantiate");
    if (result != WEFT_OK) return result;
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, source, &row);
    if (chunk == NULL) return weft__error_stale(world, source);
    if ((chunk->archetype->flags & WEFT__IS_RESIDUE) != 0)
        return weft__error(world, WEFT_INVALID_ARGUMENT, source, WEFT__NO_COMPONENT,
                           "weft_entity_instantiate: %s was destroyed already and is a residue: "
                           "use a living entity",
                           weft__entity_say(world, source).text);
    if (count == 0) return WEFT_OK;
    instantiation op = {.world = world, .count = count};
    result = prepare(&op, source);
    for (uint32_t i = 0; i < op.member_count && result == WEFT_OK; i++)
        member_commit(&op, &op.members[i]);
    for (uint32_t i = 0; i < op.member_count && result == WEFT_OK; i++)
        member_redirect(&op, &op.members[i]);
    if (result == WEFT_OK) root_tell(&op);
    if (result == WEFT_OK && world->types.sparse != NULL) result = sparse_copy(&op);
    for (uint32_t i = 0; i < op.member_count && result == WEFT_OK; i++)
        member_name(&op, &op.members[i]);
    if (result == WEFT_OK && out != NULL) memcpy(out, op.members[0].copies, count * sizeof *out);
    finish(&op);
    return result;
}
