/* SPDX-License-Identifier: MIT */
/* playback_one.c: one command by the immediate operations. See playback.c.
 *
 * Dead targets are skipped and counted. What comes in runs of one kind: playback_runs.c. */
#include "playback_one.h"

#include "archetype_state.h"
#include "buffer.h"
#include "entity_value.h"
#include "playback_error.h"
#include "playback_patch.h"
#include "structure.h"

#include <string.h>

/* A created entity goes to its first place. */
static weft_result play_create(weft__playback *playback, weft_entity id,
                               const weft__command *command)
{
    weft_world *world = playback->world;
    weft__archetype *archetype = world->archetypes.by_id[command->subject - 1];
    weft__spans spans = {0};
    weft_result result = weft__rows_reserve(world, archetype->tuple0, 1, &spans);
    if (result == WEFT_OK) {
        weft__span *span = &spans.items[0];
        weft__rows_fill(world, span->chunk, span->row, 1);
        weft__chunk_entities(span->chunk)[span->row] = id;
        weft__directory_place(&world->directory, id, weft__location(span->chunk, span->row));
    }
    weft__spans_fini(world, &spans);
    return result;
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

static weft_result play_elements(weft_world *world, weft_entity entity,
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

static weft_result play_query(weft_world *world, const weft__command *command)
{
    weft_query query = weft__query_handle_of(world, command->entity.index);
    weft_component component = weft__component(world, command->subject);
    if (command->op == WEFT__COMMAND_QUERY_ADD) return weft_query_add(world, query, component);
    if (command->op == WEFT__COMMAND_QUERY_REMOVE)
        return weft_query_remove(world, query, component);
    if (command->op == WEFT__COMMAND_QUERY_SET_SHARED)
        return weft_query_set_shared(world, query, component, weft__command_payload(command));
    if (command->op == WEFT__COMMAND_QUERY_ENABLE)
        return weft_query_enable(world, query, component, command->flags != 0);
    return weft_query_destroy_entities(world, query);
}

/* The values of a command that succeeded are the entity's. */
static weft_result note_taken(weft__command *command, weft_result result)
{
    if (result == WEFT_OK) command->flags = WEFT__VALUE_IS_TAKEN;
    return result;
}

static weft_result play_change(weft__playback *playback, const weft__command_segment *segment,
                               weft_entity entity, weft__command *command)
{
    weft_world *world = playback->world;
    weft_component component = weft__component(world, command->subject);
    const weft__type *type = weft__type_at(world, component);
    void *payload = weft__command_payload(command);
    switch ((weft__command_op)command->op) {
    case WEFT__COMMAND_ADD:
        return weft_entity_add(world, entity, component);
    case WEFT__COMMAND_REMOVE:
        return weft_entity_remove(world, entity, component);
    case WEFT__COMMAND_SET:
        weft__playback_patch(playback, segment, type, payload, 1);
        return note_taken(command,
                          weft_entity_set(world, entity, component, payload, type->desc.size));
    case WEFT__COMMAND_ENABLE:
        return weft_entity_enable(world, entity, component, command->flags != 0);
    case WEFT__COMMAND_SET_NAME:
        return weft_entity_set_name(world, entity, command->words == 0 ? NULL : payload);
    case WEFT__COMMAND_APPEND:
    case WEFT__COMMAND_SET_BUFFER:
        weft__playback_patch(playback, segment, type, (uint64_t *)payload + 1,
                             (uint32_t)((uint64_t *)payload)[0]);
        return note_taken(command, play_elements(world, entity, command));
    case WEFT__COMMAND_CREATE:
    case WEFT__COMMAND_ROWS:
    case WEFT__COMMAND_DESTROY: /* these three: playback_runs.c */
    case WEFT__COMMAND_SET_SHARED:
    case WEFT__COMMAND_INSTANTIATE:
    case WEFT__COMMAND_QUERY_ADD:
    case WEFT__COMMAND_QUERY_REMOVE:
    case WEFT__COMMAND_QUERY_SET_SHARED:
    case WEFT__COMMAND_QUERY_ENABLE:
    case WEFT__COMMAND_QUERY_DESTROY:
    case WEFT__COMMAND_OP_COUNT:
        break;
    }
    return WEFT_INVALID_ARGUMENT;
}

/* A component that was removed by an earlier command is not there to be enabled: no error. */
static bool is_missed(const weft_world *world, weft_entity entity, const weft__command *command)
{
    return command->op == WEFT__COMMAND_ENABLE &&
           !weft_entity_has(world, entity, weft__component(world, command->subject));
}

/* Whether a command does something to its target: what is left of a destroyed entity loses
 * components, and keeps those that it has. */
static bool is_accepted(const weft_world *world, weft_entity entity, const weft__command *command)
{
    uint32_t row;
    if (weft_entity_is_alive(world, entity)) return true;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    return chunk != NULL && command->op != WEFT__COMMAND_SET_NAME &&
           (command->op == WEFT__COMMAND_REMOVE || !weft__residue_lacks(chunk, command->subject));
}

static weft_result play(weft__playback *playback, const weft__command_segment *segment,
                        weft__command *command)
{
    if (command->op == WEFT__COMMAND_ROWS) return WEFT_OK; /* linked before */
    if (command->op >= WEFT__COMMAND_QUERY_ADD) return play_query(playback->world, command);
    weft_entity entity = weft__playback_resolve(playback, segment, command->entity);
    if (command->op == WEFT__COMMAND_CREATE) return play_create(playback, entity, command);
    if (!is_accepted(playback->world, entity, command) ||
        is_missed(playback->world, entity, command)) {
        playback->result.skipped++;
        return WEFT_OK;
    }
    return play_change(playback, segment, entity, command);
}

weft_result weft__playback_one(weft__playback *playback, const weft__command_segment *segment,
                               weft__command *command)
{
    weft_result result = play(playback, segment, command);
    if (result == WEFT_OK) return WEFT_OK;
    return weft__playback_error(playback, segment->key, command->op, command->entity,
                                command->op == WEFT__COMMAND_CREATE ? 0 : command->subject, result);
}
