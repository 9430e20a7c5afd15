/* SPDX-License-Identifier: MIT */
/* prefab.c: the Prefab tag goes with linked groups: what adds or removes it where there is a group
 * does so for the members as well, in one change, all or none. Queries therefore need not know of
 * groups. Here is the search for the members; the rest is a change like others (row_moves.h).
 * Owner, world idle. */
#include "prefab.h"

#include "archetype.h"
#include "batch.h"
#include "entity_value.h"
#include "error.h"
#include "linked_group.h"

#include <stdlib.h>

/* Rows of members: chunk id << 32 | row. Owner: the stack of one search. */
typedef struct member_keys {
    uint64_t *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
} member_keys;

/* What a walk over the members of groups adds to. Owner: the stack of group_collect. */
typedef struct group_target {
    weft_world *world;
    member_keys *keys;
} group_target;

static bool member_add(void *user, weft_entity member, weft__chunk *chunk, uint32_t row)
{
    const group_target *to = user;
    (void)member;
    if ((chunk->archetype->flags & WEFT__IS_RESIDUE) != 0) return true;
    uint64_t key = (uint64_t)chunk->id << 32 | row;
    return WEFT__LIST_APPEND(&to->world->memory, WEFT__MEMORY_COMMANDS, to->keys, &key, 1);
}

/* Members of the group of one row, alive and no residues. */
static bool group_collect(weft_world *world, member_keys *keys, const weft__chunk *chunk,
                          uint32_t row)
{
    group_target to = {world, keys};
    return weft__group_each(world, chunk, row, member_add, &to);
}

static bool part_collect(const weft__change *change, member_keys *keys,
                         const weft__change_part *part)
{
    if ((part->chunk->archetype->flags & WEFT__HAS_LINKED_GROUP) == 0) return true;
    const uint32_t *rows = weft__change_rows(change, part);
    for (uint32_t i = 0; i < part->count; i++)
        if (!group_collect(change->world, keys, part->chunk,
                           rows != NULL ? rows[i] : part->first + i))
            return false;
    return true;
}

static int key_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Row i of a part, or WEFT__NONE behind the last. */
static uint32_t part_row(const weft__change *change, const weft__change_part *part, uint32_t i)
{
    if (i >= part->count) return WEFT__NONE;
    const uint32_t *rows = weft__change_rows(change, part);
    return rows != NULL ? rows[i] : part->first + i;
}

/* The ascending rows of two parts of a chunk, in one list. */
static bool twins_join(weft__change *change, uint32_t first, uint32_t second)
{
    uint32_t at = change->rows.count, i = 0, k = 0;
    for (;;) {
        uint32_t a = part_row(change, &change->parts.at[first], i);
        uint32_t b = part_row(change, &change->parts.at[second], k);
        if (a == WEFT__NONE && b == WEFT__NONE) break;
        i += a < b;
        k += b < a;
        if (!weft__change_push_row(change, a < b ? a : b)) return false;
    }
    weft__change_part *part = &change->parts.at[second];
    part->before = first;
    part->leaving = at;
    part->leaving_count = change->rows.count - at;
    return true;
}

/* A part for the members in one chunk, keys[0..count), that are not in its part `named` (or
 * WEFT__NONE). */
static bool members_add(weft__change *change, uint32_t named, const uint64_t *keys, uint32_t count)
{
    uint32_t number = change->parts.count, i = 0;
    if (!weft__change_push_part(change, change->world->chunks.at[keys[0] >> 32])) return false;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t row = (uint32_t)keys[k];
        if (k != 0 && keys[k] == keys[k - 1]) continue;
        while (named != WEFT__NONE && part_row(change, &change->parts.at[named], i) < row) i++;
        if (named != WEFT__NONE && part_row(change, &change->parts.at[named], i) == row) continue;
        if (!weft__change_push_row(change, row)) return false;
        change->parts.at[number].count++;
    }
    if (change->parts.at[number].count == 0)
        change->parts.count--;
    else if (named != WEFT__NONE)
        return twins_join(change, named, number);
    return true;
}

static bool keys_add(weft__change *change, const member_keys *keys)
{
    const weft_world *world = change->world;
    for (uint32_t first = 0, end; first < keys->count; first = end) {
        end = first + 1;
        while (end < keys->count && (keys->at[end] ^ keys->at[first]) >> 32 == 0) end++;
        uint32_t mark = world->chunks.at[keys->at[first] >> 32]->mark;
        if (!members_add(change, mark == 0 ? WEFT__NONE : mark - 1, keys->at + first, end - first))
            return false;
    }
    return true;
}

weft_result weft__change_follow_groups(weft__change *change, const char *what)
{
    weft_world *world = change->world;
    member_keys keys = {0};
    uint32_t named_count = change->parts.count;
    bool is_done = true;
    for (uint32_t i = 0; i < named_count && is_done; i++)
        is_done = part_collect(change, &keys, &change->parts.at[i]);
    if (is_done && keys.count != 0) {
        qsort(keys.at, keys.count, sizeof *keys.at, key_compare);
        for (uint32_t i = 0; i < named_count; i++) change->parts.at[i].chunk->mark = i + 1;
        is_done = keys_add(change, &keys);
        for (uint32_t i = 0; i < named_count; i++) change->parts.at[i].chunk->mark = 0;
    }
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_COMMANDS, &keys);
    return is_done ? WEFT_OK : weft__error_memory(world, what);
}

/* ---- entities ---- */

static bool is_listed(const uint32_t *list, uint32_t count, uint32_t component)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == component) return true;
    return false;
}

/* Where rows of an archetype go that were named, or that are members of their groups. The former
 * may leave an archetype that the latter come to. */
static weft__archetype *target_of(weft_world *world, weft__archetype *from,
                                  const weft__prefab_request *request, bool is_named)
{
    uint32_t prefab = world->builtin.prefab.id;
    bool is_removed = request->to != NULL
                          ? (request->to->flags & WEFT__IS_PREFAB) == 0
                          : is_listed(request->remove, request->remove_count, prefab);
    if (is_named && request->to != NULL) return request->to;
    if (!is_named)
        return weft__archetype_change(world, from, &prefab, !is_removed, &prefab, is_removed);
    return weft__archetype_change(world, from, request->add, request->add_count, request->remove,
                                  request->remove_count);
}

weft_result weft__prefab_change(weft_world *world, const weft_entity *entities, uint32_t count,
                                const weft__prefab_request *request, const char *what)
{
    weft__change change = {.world = world};
    weft_result result = weft__batch_select(&change, entities, count, what);
    uint32_t named_count = change.parts.count;
    if (result == WEFT_OK) result = weft__change_follow_groups(&change, what);
    /* rows may have been reserved in a chunk that all of its rows leave: none changes whole */
    change.moves_whole = named_count < change.parts.count;
    for (uint32_t i = 0; i < change.parts.count && result == WEFT_OK; i++) {
        weft__change_part *part = &change.parts.at[i];
        result = weft__change_send(
            &change, part, target_of(world, part->chunk->archetype, request, i < named_count));
    }
    return weft__change_finish(&change, result);
}
