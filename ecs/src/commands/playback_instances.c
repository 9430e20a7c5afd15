/* SPDX-License-Identifier: MIT */
/* playback_instances.c: prefabs are mostly spawned like this: an instance, its values, the next
 * instance. Played in this order, each instance is an operation of its own. So the instances of
 * many segments are made first, all of one source by one operation, and the values are folded then.
 *
 * That is allowed when no other command can change what is copied: sources are entities that live,
 * few, of small groups, and no other command of these segments has one of their members as its
 * target, destroys an entity with a group, or tags one as a prefab. What is allowed depends on the
 * commands and the world, never on workers.
 *
 *   list     (parallel over segments)  the sources of each segment, in order of appearance;
 *   number   (owner)                   sources of all, and where a segment's instances are among
 *                                      those of a source: sums over the segments before it;
 *   allow    (parallel over segments)  whether another command is in the way;
 *   note     (parallel over segments)  the ids of the instances of each source, given before;
 *   make     (owner; workers inside)   source after source. */
#include "playback_instances.h"

#include "entity_value.h"
#include "instantiate.h"
#include "linked_group.h"
#include "playback_error.h"
#include "prefab.h"
#include "scratch.h"

#include <string.h>

#define SOURCES_MOST 16u
#define MEMBERS_MOST 64u
#define COPIES_MOST (1u << 16) /* of one operation */
#define FILTER_BITS 1024u

/* Instances of one source that a segment makes. A value. */
typedef struct share {
    weft_entity source;
    uint32_t number; /* of the source among all */
    uint32_t count;
    uint32_t first; /* instances of the source in segments before */
} share;

/* The instances of a segment. Owner: the spawning; in parallel steps the task of the segment. */
typedef struct listed {
    uint32_t count; /* shares, in order of appearance */
    uint32_t made;  /* sum of their counts */
    share shares[SOURCES_MOST];
} listed;

/* One playing of instances; lives on the stack of weft__playback_instances. */
typedef struct spawning {
    weft__playback *playback;
    const weft__command_segment *segments;
    uint32_t segment_count;
    listed *lists; /* [segment] */
    uint32_t count;
    weft_entity sources[SOURCES_MOST];
    uint32_t counts[SOURCES_MOST];
    weft_entity *copies[SOURCES_MOST]; /* the instances of each source, in order of effect */
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

/* The share of a source, new when it must; NULL: there are too many. */
static inline share *share_of(listed *list, weft_entity source)
{
    uint32_t i = 0;
    while (i < list->count && !is_same(list->shares[i].source, source)) i++;
    if (i == SOURCES_MOST) return NULL;
    if (i == list->count) list->shares[list->count++] = (share){.source = source};
    return &list->shares[i];
}

/* The next command that makes an instance, and its source; NULL: there is none. */
static inline weft__command *next_instance(weft__command_cursor *cursor, weft_entity *source)
{
    weft__command *command = weft__command_next(cursor);
    while (command != NULL && command->op != WEFT__COMMAND_INSTANTIATE)
        command = weft__command_next(cursor);
    if (command != NULL) memcpy(source, command + 1, sizeof *source);
    return command;
}

static bool has_instances(const spawning *s, uint32_t segment)
{
    return (s->segments[segment].traits & WEFT__SEGMENT_HAS_INSTANCES) != 0;
}

/* Lists the instances of segments. 1: they must be played where they stand. */
static int list_part(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const spawning *s = user;
    for (uint32_t i = begin; i < end; i++) {
        listed *list = &s->lists[i];
        weft__command_cursor cursor = weft__command_begin(&s->segments[i]);
        weft_entity source;
        list->count = list->made = 0;
        while (has_instances(s, i) && next_instance(&cursor, &source) != NULL) {
            share *found = weft__entity_is_deferred(source) ? NULL : share_of(list, source);
            if (found == NULL) return 1;
            found->count++;
            list->made++;
        }
    }
    return 0;
}

/* The number of a source among all; SOURCES_MOST: there are too many. */
static uint32_t source_number(spawning *s, weft_entity source)
{
    uint32_t i = 0;
    while (i < s->source_count && !is_same(s->sources[i], source)) i++;
    if (i < s->source_count || i == SOURCES_MOST) return i;
    s->sources[s->source_count++] = source;
    return i;
}

/* False: there are too many sources. */
static bool number_sources(spawning *s)
{
    for (uint32_t i = 0; i < s->segment_count; i++)
        for (uint32_t k = 0; k < s->lists[i].count; k++) {
            share *one = &s->lists[i].shares[k];
            one->number = source_number(s, one->source);
            if (one->number == SOURCES_MOST) return false;
            one->first = s->counts[one->number];
            s->counts[one->number] += one->count;
            s->count += one->count;
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

/* 1: a command of these segments is in the way. */
static int allow_part(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const spawning *s = user;
    for (uint32_t i = begin; i < end; i++) {
        if (s->lists[i].made == s->segments[i].count) continue; /* no others */
        weft__command_cursor cursor = weft__command_begin(&s->segments[i]);
        for (const weft__command *command; (command = weft__command_next(&cursor)) != NULL;)
            if (command->op != WEFT__COMMAND_INSTANTIATE && command->op != WEFT__COMMAND_ROWS &&
                is_in_the_way(s, command))
                return 1;
    }
    return 0;
}

/* ---- making them ---- */

/* The error of an operation that began with instance `first` of a source. */
static weft_result report(const spawning *s, uint32_t number, uint32_t first, weft_result result)
{
    for (uint32_t i = 0; i < s->segment_count; i++)
        for (uint32_t k = 0; k < s->lists[i].count; k++) {
            const share *one = &s->lists[i].shares[k];
            const uint32_t begin = one->first - one->count; /* they are noted */
            if (one->number != number || first - begin >= one->count) continue;
            weft__command_cursor cursor = weft__command_begin(&s->segments[i]);
            weft_entity source;
            const weft__command *command = next_instance(&cursor, &source);
            for (uint32_t left = first - begin; command != NULL;
                 command = next_instance(&cursor, &source))
                if (is_same(source, one->source) && left-- == 0)
                    return weft__playback_error(s->playback, s->segments[i].key, command->op,
                                                command->entity, command->subject, result);
        }
    return result;
}

/* Source after source, in the order in which they appear. */
static weft_result make_all(const spawning *s)
{
    for (uint32_t i = 0; i < s->source_count; i++) {
        for (uint32_t done = 0, n; done < s->counts[i]; done += n) {
            n = s->counts[i] - done < COPIES_MOST ? s->counts[i] - done : COPIES_MOST;
            weft_result result = weft__instantiate(s->playback->world, s->playback->job,
                                                   s->sources[i], n, s->copies[i] + done, true);
            if (result != WEFT_OK) return report(s, i, done, result);
        }
    }
    return WEFT_OK;
}

static int note_part(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const spawning *s = user;
    for (uint32_t i = begin; i < end; i++) {
        listed *list = &s->lists[i];
        weft__command_cursor cursor = weft__command_begin(&s->segments[i]);
        const weft_entity *resolved = s->playback->recorders[s->segments[i].recorder]->resolved;
        weft_entity source;
        if (list->made == 0) continue;
        for (weft__command *command; (command = next_instance(&cursor, &source)) != NULL;) {
            share *of = share_of(list, source);
            s->copies[of->number][of->first++] = resolved[command->entity.index];
            command->flags |= WEFT__INSTANCE_IS_MADE;
        }
    }
    return 0;
}

weft_result weft__playback_instances(weft__playback *playback, uint32_t first, uint32_t end,
                                     uint64_t *played)
{
    weft_world *world = playback->world;
    spawning s = {
        .playback = playback, .segments = &playback->segments[first], .segment_count = end - first};
    uint32_t most = 0;
    *played = 0;
    for (uint32_t i = 0; i < s.segment_count; i++)
        if (has_instances(&s, i)) most += s.segments[i].created_count;
    if (most == 0) return WEFT_OK;
    s.lists = weft__scratch_take(world, WEFT__SCRATCH_SPAWNS, s.segment_count, sizeof s.lists[0]);
    weft_entity *copies = weft__scratch_take(world, WEFT__SCRATCH_COPIES, most, sizeof copies[0]);
    if (s.lists == NULL || copies == NULL) return WEFT_OK;
    if (!weft__playback_for(playback, WEFT__PLAYBACK_LIST, list_part, &s, s.segment_count) ||
        !number_sources(&s) || !list_members(&s) ||
        !weft__playback_for(playback, WEFT__PLAYBACK_ALLOW, allow_part, &s, s.segment_count))
        return WEFT_OK;
    *played = s.count;
    for (uint32_t i = 0; i < s.source_count; copies += s.counts[i++]) s.copies[i] = copies;
    weft__playback_for(playback, WEFT__PLAYBACK_NOTE, note_part, &s, s.segment_count);
    return make_all(&s);
}
