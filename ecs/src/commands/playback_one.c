/* SPDX-License-Identifier: MIT */
/* playback_one.c: commands by the immediate operations, in order of effect. See playback.c.
 *
 * Each goes alone, by the function that WEFT__COMMANDS names; dead targets are skipped and counted.
 * Those of three kinds that follow each other go through operations on arrays. Where such a run
 * ends depends on the commands and on where their targets are, never on workers:
 *
 *   destroy      what is alive, whatever its archetype
 *   set shared   one component; rows in the order of the layout, so that none stands twice; those
 *                of one value form an array, by its first appearance
 *   instantiate  one source, in one segment; the roots' deferred handles are consecutive */
#include "playback_one.h"

#include "archetype_state.h"
#include "entity_value.h"
#include "instantiate.h"
#include "playback_error.h"
#include "playback_patch.h"
#include "structure.h"

#include <string.h>

#define RUN_MOST 1024u  /* on the stack: a run allocates nothing */
#define VALUES_MOST 64u /* different ones of a run */

/* Reads the commands of many segments. On the stack of weft__playback_runs.
 *   command == NULL: the end; else it lies in segments[segment] */
typedef struct reading {
    weft__playback *playback;
    uint32_t segment, end;
    weft__command_cursor cursor;
    weft__command *command;
    weft_entity entities[RUN_MOST]; /* of the run */
    uint8_t values[RUN_MOST];       /* which of the different values an entity gets */
} reading;

static const weft__command_segment *segment_of(const reading *r)
{
    return &r->playback->segments[r->segment];
}

static void step(reading *r)
{
    r->command = weft__command_next(&r->cursor);
    while (r->command == NULL && ++r->segment < r->end) {
        r->cursor = weft__command_begin(segment_of(r));
        r->command = weft__command_next(&r->cursor);
    }
}

static void advance(reading *r)
{
    do {
        step(r);
    } while (r->command != NULL && weft__command_is_made(r->command));
}

/* A command of a run, for errors. A value. */
typedef struct origin {
    uint64_t key;
    const weft__command *command;
} origin;

static origin origin_of(const reading *r)
{
    return (origin){segment_of(r)->key, r->command};
}

static weft_result report(const reading *r, origin from, weft_result result)
{
    if (result == WEFT_OK) return WEFT_OK;
    return weft__playback_error(r->playback, from.key, from.command->op, from.command->entity,
                                from.command->subject, result);
}

/* Where the target of the command is; NULL: dead. */
static weft__chunk *target_of(const reading *r, weft_entity *entity, uint32_t *row)
{
    *entity = weft__playback_resolve(r->playback, segment_of(r), r->command->entity);
    return weft__entity_chunk(r->playback->world, *entity, row);
}

/* ---- destroy ---- */

static weft_result play_deaths(reading *r)
{
    origin from = origin_of(r);
    uint32_t count = 0;
    for (; r->command != NULL && r->command->op == WEFT__COMMAND_DESTROY && count < RUN_MOST;
         advance(r)) {
        uint32_t row;
        if (target_of(r, &r->entities[count], &row) != NULL) count++;
    }
    return report(r, from, weft_entity_destroy_many(r->playback->world, r->entities, count));
}

/* ---- shared values ---- */

/* Where a row is in the layout, which a restore brings back; its location in memory it does not.
 * A value. */
typedef struct place {
    uint32_t archetype, chunk, row;
} place;

static bool is_behind(place a, place b)
{
    if (a.archetype != b.archetype) return a.archetype > b.archetype;
    if (a.chunk != b.chunk) return a.chunk > b.chunk;
    return a.row > b.row;
}

/* The number of a value among the different ones so far; VALUES_MOST: one too many. */
static uint32_t value_number(const void **values, uint32_t *count, const void *value, size_t bytes)
{
    uint32_t i = 0;
    while (i < *count && memcmp(values[i], value, bytes) != 0) i++;
    if (i == *count && i < VALUES_MOST) values[(*count)++] = value;
    return i;
}

static weft_result set_values(reading *r, weft_component component, const void *const *values,
                              uint32_t value_count, uint32_t count)
{
    weft_world *world = r->playback->world;
    if (value_count == 1)
        return weft_entity_set_shared_many(world, r->entities, count, component, values[0]);
    weft_entity some[RUN_MOST + 1];
    weft_result result = WEFT_OK;
    for (uint32_t value = 0; value < value_count && result == WEFT_OK; value++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++) {
            some[found] = r->entities[i];
            found += r->values[i] == value;
        }
        result = weft_entity_set_shared_many(world, some, found, component, values[value]);
    }
    return result;
}

static weft_result play_shared(reading *r)
{
    origin from = origin_of(r);
    const void *values[VALUES_MOST];
    uint32_t subject = r->command->subject, count = 0, value_count = 0;
    place last = {0};
    size_t bytes = r->playback->world->types.at[subject]->desc.size;
    for (; r->command != NULL && r->command->op == WEFT__COMMAND_SET_SHARED &&
           r->command->subject == subject && count < RUN_MOST;
         advance(r)) {
        uint32_t row;
        const weft__chunk *chunk = target_of(r, &r->entities[count], &row);
        if (chunk == NULL || weft__residue_lacks(chunk, subject)) {
            r->playback->result.skipped++;
            continue;
        }
        place here = {chunk->archetype->number, chunk->list_index, row};
        if (count != 0 && !is_behind(here, last)) break;
        uint32_t value =
            value_number(values, &value_count, weft__command_payload(r->command), bytes);
        if (value == VALUES_MOST) break;
        r->values[count++] = (uint8_t)value;
        last = here;
    }
    return report(
        r, from,
        set_values(r, weft__component(r->playback->world, subject), values, value_count, count));
}

/* ---- instantiate ---- */

static weft_entity source_of(const reading *r)
{
    weft_entity source;
    memcpy(&source, r->command + 1, sizeof source);
    return weft__playback_resolve(r->playback, segment_of(r), source);
}

static weft_result play_instances(reading *r)
{
    weft__playback *playback = r->playback;
    origin from = origin_of(r);
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

static weft_result play_query_add(const one *o)
{
    return weft_query_add(o->world, o->query, o->component);
}

static weft_result play_query_remove(const one *o)
{
    return weft_query_remove(o->world, o->query, o->component);
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

/* What plays a command: one of the two. Constant. */
typedef struct weft__player {
    weft_result (*run)(reading *r);
    weft_result (*one)(const one *o);
} weft__player;

#define RUN(name) .run = play_##name
#define ONE(name) .one = play_##name
#define PLAYER(id, name, on, subject, payload, way, effect, play) [WEFT__COMMAND_##id] = {play},
static const weft__player players[] = {WEFT__COMMANDS(PLAYER)};

static weft_result play_one(reading *r, weft_result (*play)(const one *o))
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
        r->playback->result.skipped++;
        return WEFT_OK;
    }
    weft_result result = play(&o);
    if (result == WEFT_OK) return WEFT_OK;
    return weft__playback_error(r->playback, segment_of(r)->key, command->op, command->entity,
                                has_component ? command->subject : 0, result);
}

static weft_result play_next(reading *r)
{
    const weft__player *player = &players[r->command->op];
    if (player->run != NULL) return player->run(r);
    weft_result result = play_one(r, player->one);
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
