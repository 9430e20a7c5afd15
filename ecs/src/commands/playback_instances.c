/* SPDX-License-Identifier: MIT */
/* playback_instances.c: prefabs are mostly spawned like this: an instance, its values, the next
 * instance. Played in this order, each instance is an operation of its own. So the instances of
 * many segments are made first, all of one source by one operation, and the values are folded then.
 *
 * That is allowed when no other command can change what is copied: sources are entities that live,
 * few, of small groups, and no other command of these segments has one of their members as its
 * target, destroys an entity with a group, or tags one as a prefab. What is allowed depends on the
 * commands and the world, never on workers. */
#include "playback_instances.h"

#include "entity_value.h"
#include "instantiate.h"
#include "linked_group.h"
#include "playback_error.h"
#include "playback_scratch.h"
#include "prefab.h"

#include <string.h>

#define SOURCES_MOST 16u
#define MEMBERS_MOST 64u
#define COPIES_MOST (1u << 16) /* of one operation */
#define FILTER_BITS 1024u

/* A command that makes an instance. A value. */
typedef struct spawn {
    weft__command *command;
    uint32_t segment;
    uint32_t source;
} spawn;

/* One playing of instances; lives on the stack of weft__playback_instances. */
typedef struct spawning {
    weft__playback *playback;
    uint32_t first, end; /* segments */
    spawn *spawns;
    uint32_t count;
    weft_entity sources[SOURCES_MOST];
    uint32_t counts[SOURCES_MOST];
    uint32_t source_count;
    weft_entity members[MEMBERS_MOST]; /* of all sources, with themselves */
    uint32_t member_count;
    uint64_t filter[FILTER_BITS / 64]; /* bit per index of a member; others may have it, too */
} spawning;

static bool is_same(weft_entity a, weft_entity b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- what there is to make ---- */

/* The number of a source; SOURCES_MOST: there are too many. */
static uint32_t source_number(spawning *s, weft_entity source)
{
    uint32_t i = 0;
    while (i < s->source_count && !is_same(s->sources[i], source)) i++;
    if (i < s->source_count || i == SOURCES_MOST) return i;
    s->sources[s->source_count++] = source;
    return i;
}

/* Lists the commands that make instances. False: they must be played where they stand. */
static bool list_spawns(spawning *s)
{
    for (uint32_t i = s->first; i < s->end; i++) {
        const weft__command_segment *segment = &s->playback->segments[i];
        if ((segment->traits & WEFT__SEGMENT_HAS_INSTANCES) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(segment);
        for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
            if (command->op != WEFT__COMMAND_INSTANTIATE) continue;
            weft_entity source;
            memcpy(&source, command + 1, sizeof source);
            uint32_t number =
                weft__entity_is_deferred(source) ? SOURCES_MOST : source_number(s, source);
            if (number == SOURCES_MOST) return false;
            s->spawns[s->count++] = (spawn){command, i, number};
            s->counts[number]++;
        }
    }
    return true;
}

/* ---- whether they may come first ---- */

static bool add_member(void *user, weft_entity member, weft__chunk *chunk, uint32_t row)
{
    spawning *s = user;
    (void)chunk, (void)row;
    if (s->member_count == MEMBERS_MOST) return false;
    s->members[s->member_count++] = member;
    uint32_t bit = member.index % FILTER_BITS;
    s->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    return true;
}

static bool list_members(spawning *s)
{
    weft_world *world = s->playback->world;
    for (uint32_t i = 0; i < s->source_count; i++) {
        uint32_t row;
        weft__chunk *chunk = weft__entity_chunk(world, s->sources[i], &row);
        if (chunk == NULL || (chunk->archetype->flags & WEFT__IS_RESIDUE) != 0) return false;
        if (!add_member(s, s->sources[i], chunk, row)) return false;
        if (!weft__group_each(world, chunk, row, add_member, s)) return false;
    }
    return true;
}

static bool is_member(const spawning *s, weft_entity entity)
{
    uint32_t bit = entity.index % FILTER_BITS;
    if ((s->filter[bit / 64] >> bit % 64 & 1) == 0) return false;
    for (uint32_t i = 0; i < s->member_count; i++)
        if (is_same(s->members[i], entity)) return true;
    return false;
}

/* Whether a command could change what is copied. */
static bool is_in_the_way(const spawning *s, const weft__command *command)
{
    const weft_world *world = s->playback->world;
    if (weft__entity_is_deferred(command->entity)) return false;
    if (is_member(s, command->entity)) return true;
    bool is_death = command->op == WEFT__COMMAND_DESTROY;
    if (!is_death && command->subject != world->builtin.prefab.id) return false;
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, command->entity, &row);
    return chunk != NULL && weft__chunk_has_groups(chunk);
}

static bool may_come_first(const spawning *s)
{
    for (uint32_t i = s->first; i < s->end; i++) {
        weft__command_cursor cursor = weft__command_begin(&s->playback->segments[i]);
        for (const weft__command *command; (command = weft__command_next(&cursor)) != NULL;)
            if (command->op != WEFT__COMMAND_INSTANTIATE && command->op != WEFT__COMMAND_ROWS &&
                is_in_the_way(s, command))
                return false;
    }
    return true;
}

/* ---- making them ---- */

static weft_entity *place_of(const spawning *s, const spawn *one)
{
    const weft__command_segment *segment = &s->playback->segments[one->segment];
    return &s->playback->recorders[segment->recorder]->resolved[one->command->entity.index];
}

static weft_result report(const spawning *s, const spawn *one, weft_result result)
{
    if (result == WEFT_OK) return WEFT_OK;
    return weft__playback_error(s->playback, s->playback->segments[one->segment].key,
                                one->command->op, one->command->entity, one->command->subject,
                                result);
}

/* Makes the instances of spawns[0, count), which are of one source. */
static weft_result make(const spawning *s, const spawn *const *spawns, uint32_t count,
                        weft_entity *copies)
{
    for (uint32_t done = 0, n; done < count; done += n) {
        n = count - done < COPIES_MOST ? count - done : COPIES_MOST;
        const spawn *const *these = spawns + done;
        weft_result result = weft__instantiate(s->playback->world, s->playback->job,
                                               s->sources[these[0]->source], n, copies);
        if (result != WEFT_OK) return report(s, these[0], result);
        for (uint32_t i = 0; i < n; i++) {
            *place_of(s, these[i]) = copies[i];
            these[i]->command->flags |= WEFT__INSTANCE_IS_MADE;
        }
    }
    return WEFT_OK;
}

/* Source after source, in the order in which they appear. */
static weft_result make_all(const spawning *s, const spawn **order, weft_entity *copies)
{
    uint32_t at[SOURCES_MOST], first = 0;
    for (uint32_t i = 0; i < s->source_count; i++) {
        at[i] = first;
        first += s->counts[i];
    }
    for (uint32_t i = 0; i < s->count; i++) order[at[s->spawns[i].source]++] = &s->spawns[i];
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < s->source_count && result == WEFT_OK; i++)
        result = make(s, order + at[i] - s->counts[i], s->counts[i], copies);
    return result;
}

weft_result weft__playback_instances(weft__playback *playback, uint32_t first, uint32_t end,
                                     uint64_t *played)
{
    weft_world *world = playback->world;
    spawning s = {.playback = playback, .first = first, .end = end};
    uint32_t most = 0;
    *played = 0;
    for (uint32_t i = first; i < end; i++)
        if ((playback->segments[i].traits & WEFT__SEGMENT_HAS_INSTANCES) != 0)
            most += playback->segments[i].created_count;
    if (most == 0) return WEFT_OK;
    s.spawns = weft__scratch_take(world, WEFT__SCRATCH_SPAWNS, most, sizeof s.spawns[0]);
    const spawn **order =
        weft__scratch_take(world, WEFT__SCRATCH_SPAWN_ORDER, most, sizeof order[0]);
    weft_entity *copies = weft__scratch_take(
        world, WEFT__SCRATCH_COPIES, most < COPIES_MOST ? most : COPIES_MOST, sizeof copies[0]);
    if (s.spawns == NULL || order == NULL || copies == NULL) return WEFT_OK;
    if (!list_spawns(&s) || !list_members(&s) || !may_come_first(&s)) return WEFT_OK;
    *played = s.count;
    return make_all(&s, order, copies);
}
