/* SPDX-License-Identifier: MIT */
/* record_query.c: recording of commands for all rows of a query. The query is a handle here: what
 * it matches is asked at playback, so that filters and enable bits count as they are then, and rows
 * of earlier commands are among them. */
#include "component_type.h"
#include "recorder.h"
#include "world_state.h"

#include <string.h>

static weft_result refuse(weft_recorder *commands, weft_result code, weft__command_op op,
                          weft_query query, uint32_t component)
{
    return weft__recorder_fail(commands, code, op, (weft_entity){query.id, 0}, component);
}

/* Checks both handles; *type is that of the component. */
static weft_result check(weft_recorder *commands, weft__command_op op, weft_query query,
                         weft_component component, const weft__type **type)
{
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    const weft_world *world = commands->world;
    weft_result result =
        weft__recorder_check_open(commands, op, (weft_entity){query.id, 0}, component.id);
    if (result != WEFT_OK) return result;
    bool is_query = query.world == world->front.number && query.id != 0;
    *type = weft__type_at(world, component);
    if (!is_query || (*type == NULL && weft__command_has_component(op)))
        return refuse(commands, WEFT_BAD_HANDLE, op, query, is_query ? component.id : 0);
    if (*type != NULL && (!(*type)->is_of_entities || !weft__command_takes(op, *type)))
        return refuse(commands, WEFT_TYPE_MISMATCH, op, query, component.id);
    return WEFT_OK;
}

/* A command with `bytes` of payload for the caller to fill; NULL: no memory, noted. */
static weft__command *record(weft_recorder *commands, weft__command_op op, weft_query query,
                             uint32_t component, size_t bytes)
{
    weft__command *command = weft__recorder_append(commands, op, bytes);
    if (command == NULL) {
        refuse(commands, WEFT_OUT_OF_MEMORY, op, query, component);
        return NULL;
    }
    command->entity = (weft_entity){query.id, 0};
    command->subject = component;
    return command;
}

static weft_result record_plain(weft_recorder *commands, weft__command_op op, weft_query query,
                                weft_component component)
{
    const weft__type *type;
    weft_result result = check(commands, op, query, component, &type);
    if (result != WEFT_OK) return result;
    uint32_t subject = type == NULL ? 0 : type->id;
    return record(commands, op, query, subject, 0) == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
}

weft_result weft_recorder_query_add(weft_recorder *commands, weft_query query,
                                    weft_component component)
{
    return record_plain(commands, WEFT__COMMAND_QUERY_ADD, query, component);
}

weft_result weft_recorder_query_remove(weft_recorder *commands, weft_query query,
                                       weft_component component)
{
    return record_plain(commands, WEFT__COMMAND_QUERY_REMOVE, query, component);
}

weft_result weft_recorder_query_destroy_entities(weft_recorder *commands, weft_query query)
{
    return record_plain(commands, WEFT__COMMAND_QUERY_DESTROY, query, WEFT__NO_COMPONENT);
}

weft_result weft_recorder_query_set_shared(weft_recorder *commands, weft_query query,
                                           weft_component component, const void *value)
{
    const weft__command_op op = WEFT__COMMAND_QUERY_SET_SHARED;
    const weft__type *type;
    weft_result result = check(commands, op, query, component, &type);
    if (result != WEFT_OK) return result;
    if (value == NULL && type->desc.size != 0)
        return refuse(commands, WEFT_INVALID_ARGUMENT, op, query, component.id);
    weft__command *command = record(commands, op, query, component.id, type->desc.size);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    if (type->desc.size != 0) memcpy(weft__command_payload(command), value, type->desc.size);
    weft__recorder_note_shared(commands, type);
    return WEFT_OK;
}

weft_result weft_recorder_query_enable(weft_recorder *commands, weft_query query,
                                       weft_component component, bool enabled)
{
    const weft__command_op op = WEFT__COMMAND_QUERY_ENABLE;
    const weft__type *type;
    weft_result result = check(commands, op, query, component, &type);
    if (result != WEFT_OK) return result;
    weft__command *command = record(commands, op, query, component.id, 0);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    command->flags = enabled;
    return WEFT_OK;
}
