/* SPDX-License-Identifier: MIT */
/* playback_one.c: commands by the immediate operations, in order of effect. See playback.c.
 *
 * Each goes alone, by the function that WEFT__COMMANDS names; dead targets are skipped and counted.
 * Only instances of one source that follow each other in a segment are made together. */
#include "playback_one.h"
#include "command_shared.h"
#include "entity_tag.h"
#include "entity_value.h"
#include "instantiate.h"
#include "scratch.h"

#include <stdio.h>

/* ---- errors in words ----
 *
 * What a command that failed is called in the world's error. Why comes from the call that refused
 * it, when the world's error says so. Owner only. */

#define RECORDER_BYTES 128 /* bytes of "by system '...' (slice ...)" */

#define WORD(id, name, ...) [WEFT__COMMAND_##id] = #name,
const char *const weft__command_words[WEFT__COMMAND_OP_COUNT] = {WEFT__COMMANDS(WORD)};

/* What a component must be for a command. */
static const char *mismatch_of(uint32_t op)
{
    switch ((weft__command_subject)weft__command_kinds[op].subject) {
    case WEFT__SUBJECT_SHARED:
        return weft__command_is_wide(op)
                   ? "the component is not SHARED: set the values of each entity"
                   : "the component is not SHARED: use weft_recorder_set";
    case WEFT__SUBJECT_ARCHETYPE:
        return "the component is not SHARED (rows have values of their own: write these), or the C "
               "type of a column is another one: name the type of the component";
    case WEFT__SUBJECT_ENABLEABLE:
        return "the component is not ENABLEABLE: register it with WEFT_ENABLEABLE";
    case WEFT__SUBJECT_BUFFER:
        return "the component is no BUFFER: use weft_recorder_set";
    case WEFT__SUBJECT_PLAIN:
        return "the value has another size than the component, or the component is SHARED, a "
               "BUFFER or a CHUNK value: pass the sizeof of its type, or use "
               "weft_recorder_set_shared or weft_recorder_append";
    case WEFT__SUBJECT_COMPONENT:
    case WEFT__SUBJECT_NOTHING:
        break;
    }
    return "a RESOURCE belongs to no entity (use weft_slice_read_resource), and no command changes "
           "the tag of residues";
}

const char *weft__playback_refusal(const weft_world *world, const weft__command_failure *failure)
{
    uint32_t op = failure->op, component = failure->component;
    switch ((unsigned)failure->code) {
    case WEFT_STALE_ENTITY:
        if (op == WEFT__COMMAND_ROWS)
            return "rows made in place were used after playback, or with another recorder: they "
                   "are good until their recorder is played";
        return "the handle is null, or a deferred one of another recorder, slice or playback: "
               "use deferred handles in the recorder that made them, until it is played";
    case WEFT_BAD_HANDLE:
        if (op == WEFT__COMMAND_CREATE || (op == WEFT__COMMAND_ROWS && component == 0))
            return "the archetype is null, of another world or one of residues: use what "
                   "weft_archetype_create of "
                   "this world returned";
        if (weft__command_is_wide(op))
            return "the query or the component is null or of another world: use what "
                   "weft_query_create and weft_component_create of this world returned";
        if (weft__entity_is_foreign(&world->directory, failure->entity))
            return "the entity is of another world: use handles that this world gave";
        return "the component is null or of another world: use what weft_component_create of this "
               "world returned";
    case WEFT_TYPE_MISMATCH:
        return mismatch_of(op);
    case WEFT_NOT_FOUND:
        return "there is no such row: rows count from 0 to count - 1 of the slice";
    case WEFT_INVALID_ARGUMENT:
        if (op == WEFT__COMMAND_ROWS)
            return "a shared component has no value, or the archetype lacks it: give both, or "
                   "leave it out";
        if (op == WEFT__COMMAND_SET_NAME) return "the name is not UTF-8: texts cannot hold it";
        return "the value is NULL: give its address; or the component has is_checked, and "
               "weft_component_check refuses the value";
    case WEFT_UNDECLARED_ACCESS:
        return "rows made in place were used in a way that they do not support: terms "
               "are positions in weft_archetype_components, enable bits need ENABLEABLE, shared "
               "values SHARED, and buffers weft_slice_read_buffers or weft_slice_write_buffers; "
               "for chunk values, other entities, resources and queries use the slice of the "
               "system";
    case WEFT_WRONG_PHASE:
        return "recorded after the callback of its slice had returned: ask weft_slice_recorder in "
               "each call";
    default:
        return "free memory and try again";
    }
}

weft_result weft__playback_error(const weft__playback *playback, uint64_t key, uint32_t op,
                                 weft_entity entity, uint32_t component, weft_result code)
{
    weft_world *world = playback->world;
    const char *recorder = playback->name == NULL ? NULL : playback->name(playback->user, key);
    char reason[sizeof world->error->text] = "", target[128],
                       by[RECORDER_BYTES] = "outside systems";
    if (world->error->code == code && world->error->text[0] != 0)
        memcpy(reason, world->error->text, sizeof reason - 1);
    if (recorder != NULL)
        snprintf(by, sizeof by, "by system '%s' (slice %u)", recorder, (uint32_t)key);
    /* Whom a command is about, as words. */
    size_t capacity = sizeof target;
    if (weft__command_is_wide(op))
        snprintf(target, capacity, " on query %#x", entity.index);
    else if (weft__command_kinds[op].subject == WEFT__SUBJECT_ARCHETYPE)
        target[0] = 0;
    else if (weft__entity_is_deferred(entity) && (entity.index & WEFT__ROW_HANDLE) != 0)
        snprintf(target, capacity, " on row %u made in place", entity.index & ~WEFT__ROW_HANDLE);
    else
        snprintf(target, capacity, " on %sentity %s",
                 weft__entity_is_deferred(entity) ? "deferred " : "",
                 weft__entity_say(world, entity).text);
    return weft__error(world, code, entity, weft__component(world, component),
                       "command %s%s%s%s, recorded %s: %s", weft__command_words[op],
                       component == 0 ? "" : " of component ",
                       component == 0 ? "" : weft__type_name(world, component), target, by,
                       reason[0] == 0 ? weft_result_text(code) : reason);
}

/* ---- one by one ---- */

/* Reads the commands of many segments. On the stack of weft__playback_runs.
 *   command == NULL: the end; else it lies in segments[segment] */
typedef struct reading {
    weft__playback *playback;
    uint32_t segment, end;
    weft__command_cursor cursor;
    weft__command *command;
} reading;

static const weft__command_segment *segment_of(const reading *r)
{
    return &r->playback->segments[r->segment];
}

static void advance(reading *r)
{
    do {
        r->command = weft__command_next(&r->cursor);
        while (r->command == NULL && ++r->segment < r->end) {
            r->cursor = weft__command_begin(segment_of(r));
            r->command = weft__command_next(&r->cursor);
        }
    } while (r->command != NULL && weft__command_is_made(r->command));
}

/* A command of a run, for errors. A value. */
typedef struct origin {
    uint64_t key;
    const weft__command *command;
} origin;

static weft_result report(const reading *r, origin from, weft_result result)
{
    if (result == WEFT_OK) return WEFT_OK;
    return weft__playback_error(r->playback, from.key, from.command->op, from.command->entity,
                                from.command->subject, result);
}

static weft_entity source_of(const reading *r)
{
    weft_entity source;
    memcpy(&source, r->command + 1, sizeof source);
    return weft__playback_resolve(r->playback, segment_of(r), source);
}

static weft_result play_instances(reading *r)
{
    weft__playback *playback = r->playback;
    origin from = {segment_of(r)->key, r->command};
    weft_entity source = source_of(r);
    uint32_t segment = r->segment, first = r->command->entity.index, count = 0, row;
    for (; r->command != NULL && r->segment == segment &&
           r->command->op == WEFT__COMMAND_INSTANTIATE && r->command->entity.index == first + count;
         advance(r), count++) {
        weft_entity own = source_of(r);
        if (memcmp(&own, &source, sizeof own) != 0) break;
    }
    weft_entity *copies =
        &playback->recorders[playback->segments[segment].recorder]->resolved[first];
    if (weft__living_chunk(playback->world, source, &row) != NULL)
        return report(r, from,
                      weft__instantiate(playback->world, NULL, source, count, copies, true));
    playback->result.skipped += count;
    weft__directory_free_many_owner(&playback->world->directory, copies, count);
    return WEFT_OK;
}

/* ---- one ---- */

/* A command that is played alone; lives on the stack of play_next. For the rows of a query `query`,
 * else `entity`. */
typedef struct one {
    weft_world *world;
    const reading *reading;
    weft__command *command;
    void *payload;
    weft_entity entity;
    weft_component component;
    weft_query query;
} one;

/* A created entity goes to its first place. */
static weft_result play_create(const one *o)
{
    weft_world *world = o->world;
    weft__archetype *archetype = world->archetypes.by_id[o->command->subject - 1];
    weft__spans spans = {0};
    weft_result result = weft__rows_reserve(world, archetype->tuple0, 1, &spans);
    if (result == WEFT_OK) {
        weft__span *span = &spans.at[0];
        weft__rows_fill(world, span->chunk, span->row, 1);
        weft__chunk_entities(span->chunk)[span->row] = o->entity;
        weft__directory_place(&world->directory, o->entity, weft__location(span->chunk, span->row));
    }
    weft__spans_fini(world, &spans);
    return result;
}

/* They were linked before. */
static weft_result play_rows(const one *o)
{
    (void)o;
    return WEFT_OK;
}

static weft_result play_death(const one *o)
{
    return weft_entity_destroy(o->world, o->entity);
}

static weft_result play_add(const one *o)
{
    return weft_entity_add(o->world, o->entity, o->component);
}

static weft_result play_remove(const one *o)
{
    return weft_entity_remove(o->world, o->entity, o->component);
}

/* Deferred handles in `count` values become real. */
static const weft__type *patch(const one *o, void *values, uint32_t count)
{
    const weft__type *type = o->world->types.at[o->command->subject];
    weft__playback_patch(o->reading->playback, segment_of(o->reading), type, values, count);
    return type;
}

/* The values of a command that succeeded are the entity's. */
static weft_result note_taken(weft__command *command, weft_result result)
{
    if (result == WEFT_OK) command->flags = WEFT__VALUE_IS_TAKEN;
    return result;
}

static weft_result play_set(const one *o)
{
    const weft__type *type = patch(o, o->payload, 1);
    return note_taken(o->command, weft_entity_set(o->world, o->entity, o->component, o->payload,
                                                  type->desc.size));
}

static weft_result play_shared(const one *o)
{
    return weft_entity_set_shared(o->world, o->entity, o->component, o->payload);
}

static weft_result play_enable(const one *o)
{
    return weft_entity_enable(o->world, o->entity, o->component, o->command->flags != 0);
}

static weft_result play_name(const one *o)
{
    return weft_entity_set_name(o->world, o->entity, o->command->words == 0 ? NULL : o->payload);
}

weft_result weft__playback_elements(weft_world *world, const weft__command *command,
                                    weft_buffer *buffer)
{
    const weft__type *type = world->types.at[command->subject];
    const uint64_t *payload = weft__command_payload(command);
    uint32_t count = (uint32_t)payload[0];
    weft_result result = WEFT_OK;
    if (command->op == WEFT__COMMAND_SET_BUFFER) {
        if (count > buffer->capacity) /* before the old ones end */
            result = weft__buffer_reserve(&world->memory, type, buffer, count);
        if (result == WEFT_OK) result = weft__buffer_resize(&world->memory, type, buffer, 0);
    }
    return result == WEFT_OK ? weft__buffer_append(&world->memory, type, buffer, payload + 1, count)
                             : result;
}

static weft_result give_elements(weft_world *world, weft_entity entity,
                                 const weft__command *command)
{
    weft_component component = weft__component(world, command->subject);
    const weft__type *type = world->types.at[command->subject];
    const bool is_new = !weft_entity_has(world, entity, component);
    weft_buffer room = {NULL, 0, type->desc.buffer_capacity}; /* before the entity changes */
    const uint64_t *payload = weft__command_payload(command);
    weft_result result = WEFT_OK;
    if (is_new) result = weft__buffer_reserve(&world->memory, type, &room, (uint32_t)payload[0]);
    if (result == WEFT_OK) result = weft_entity_add(world, entity, component);
    weft_buffer *buffer = result == WEFT_OK ? weft_entity_write(world, entity, component) : NULL;
    if (buffer != NULL && is_new) *buffer = room;
    if (buffer == NULL && is_new) weft__buffer_reserve(&world->memory, type, &room, 0);
    if (result != WEFT_OK) return result;
    return buffer == NULL ? world->error->code : weft__playback_elements(world, command, buffer);
}

static weft_result play_elements(const one *o)
{
    patch(o, (uint64_t *)o->payload + 1, (uint32_t)((uint64_t *)o->payload)[0]);
    return note_taken(o->command, give_elements(o->world, o->entity, o->command));
}

static weft_result play_query_share(const one *o)
{
    return weft_query_set_shared(o->world, o->query, o->component, o->payload);
}

static weft_result play_query_enable(const one *o)
{
    return weft_query_enable(o->world, o->query, o->component, o->command->flags != 0);
}

static weft_result play_query_destroy(const one *o)
{
    return weft_query_destroy_entities(o->world, o->query);
}

/* Whether a command does something to its target: what is left of a destroyed entity loses
 * components, and keeps those that it has. A component that was removed by an earlier command is
 * not there to be enabled: no error. */
static bool is_accepted(const one *o)
{
    const weft__command_kind *kind = &weft__command_kinds[o->command->op];
    uint32_t row;
    if (kind->way == WEFT__WAY_SWITCHES && !weft_entity_has(o->world, o->entity, o->component))
        return false;
    if (weft_entity_is_alive(o->world, o->entity)) return true;
    const weft__chunk *chunk = weft__entity_chunk(o->world, o->entity, &row);
    return chunk != NULL && kind->subject != WEFT__SUBJECT_NOTHING &&
           (kind->way == WEFT__WAY_LOSES || !weft__residue_lacks(chunk, o->command->subject));
}

/* ---- all ---- */

/* What plays a command: one of the three. Constant. */
typedef struct weft__player {
    weft_result (*run)(reading *r);
    weft_result (*one)(const one *o);
    weft_result (*all)(weft_world *world, weft_query query, weft_component component);
} weft__player;

#define RUN(name) .run = play_##name
#define ONE(name) .one = play_##name
#define ALL(name) .all = name
#define PLAYER(id, name, on, subject, payload, way, effect, play) [WEFT__COMMAND_##id] = {play},
static const weft__player players[] = {WEFT__COMMANDS(PLAYER)};

static weft_result play_one(reading *r, const weft__player *player)
{
    weft__command *command = r->command;
    const weft__command_kind *kind = &weft__command_kinds[command->op];
    one o = {.world = r->playback->world,
             .reading = r,
             .command = command,
             .payload = weft__command_payload(command)};
    bool has_component = kind->subject >= WEFT__SUBJECT_COMPONENT;
    if (has_component) o.component = weft__component(o.world, command->subject);
    if (kind->on == WEFT__ON_QUERY)
        o.query = weft__query_handle_of(o.world, command->entity.index);
    else if (kind->payload != WEFT__PAYLOAD_ROWS)
        o.entity = weft__playback_resolve(r->playback, segment_of(r), command->entity);
    if (kind->on == WEFT__ON_ENTITY && !is_accepted(&o)) {
        r->playback->result.skipped += kind->way != WEFT__WAY_DIES;
        return WEFT_OK;
    }
    weft_result result =
        player->all != NULL ? player->all(o.world, o.query, o.component) : player->one(&o);
    if (result == WEFT_OK) return WEFT_OK;
    return weft__playback_error(r->playback, segment_of(r)->key, command->op, command->entity,
                                has_component ? command->subject : 0, result);
}

static weft_result play_next(reading *r)
{
    const weft__player *player = &players[r->command->op];
    if (player->run != NULL) return player->run(r);
    weft_result result = play_one(r, player);
    if (result == WEFT_OK) advance(r);
    return result;
}

weft_result weft__playback_runs(weft__playback *playback, uint32_t first, uint32_t end)
{
    reading r;
    r.playback = playback;
    r.segment = first;
    r.end = end;
    if (first == end) return WEFT_OK;
    r.cursor = weft__command_begin(segment_of(&r));
    advance(&r);
    weft_result result = WEFT_OK;
    while (r.command != NULL && result == WEFT_OK) result = play_next(&r);
    return result;
}

/* ---- instances of many segments at once ----
 *
 * Prefabs are mostly spawned like this: an instance, its values, the next instance. Played in this
 * order, each instance is an operation of its own. So the instances of many segments are made
 * first, all of one source by one operation, and the values are folded then.
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
            share *listed_share = &s->lists[i].shares[k];
            listed_share->number = source_number(s, listed_share->source);
            if (listed_share->number == SOURCES_MOST) return false;
            listed_share->first = s->counts[listed_share->number];
            s->counts[listed_share->number] += listed_share->count;
            s->count += listed_share->count;
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
static weft_result report_instance(const spawning *s, uint32_t number, uint32_t first,
                                   weft_result result)
{
    for (uint32_t i = 0; i < s->segment_count; i++)
        for (uint32_t k = 0; k < s->lists[i].count; k++) {
            const share *listed_share = &s->lists[i].shares[k];
            const uint32_t begin = listed_share->first - listed_share->count; /* they are noted */
            if (listed_share->number != number || first - begin >= listed_share->count) continue;
            weft__command_cursor cursor = weft__command_begin(&s->segments[i]);
            weft_entity source;
            const weft__command *command = next_instance(&cursor, &source);
            for (uint32_t left = first - begin; command != NULL;
                 command = next_instance(&cursor, &source))
                if (is_same(source, listed_share->source) && left-- == 0)
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
            if (result != WEFT_OK) return report_instance(s, i, done, result);
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
