/* SPDX-License-Identifier: MIT */
/* record_entity.c: recording of commands for single entities. See command_format.h.
 *
 * Nothing here reads entities: whether a target is alive is asked at playback. */
#include "archetype.h"
#include "entity_tag.h"
#include "name_table.h"
#include "recorder.h"
#include "structure.h"
#include "utf8.h"

#include <string.h>
#include <weft/value.h>

/* Bytes behind values that are the recorder's, so that they can be aligned where they are. */
static size_t slack_of(const weft__type *type)
{
    return type->desc.hooks.destruct != NULL && type->desc.alignment > 8 ? type->desc.alignment - 8
                                                                         : 0;
}

/* ---- what is checked while recording ---- */

/* A deferred handle must be of this recorder, this round and, in systems, this slice: another
 * slice's handle would be right or wrong depending on which worker ran it. Not inlined: GCC would
 * split every handle in vector registers. */
static __attribute__((noinline)) bool is_deferred_here(const weft_recorder *commands,
                                                       weft_entity entity)
{
    if (entity.version != commands->epoch || commands->open == NULL) return false;
    if ((entity.index & WEFT__ROW_HANDLE) != 0) {
        uint32_t row = entity.index & ~WEFT__ROW_HANDLE;
        return row >= commands->rows_first && row < commands->rows;
    }
    return entity.index >= commands->open->created_first && entity.index < commands->created;
}

/* What a command on this entity is refused with. Release builds find handles of other worlds at
 * playback, as those of dead entities. */
static weft_result target_check(const weft_recorder *commands, weft_entity entity)
{
    if ((entity.version & 1) == 0)
        return is_deferred_here(commands, entity) ? WEFT_OK : WEFT_STALE_ENTITY;
    bool is_refused =
        WEFT_IS_CHECKED && weft__entity_is_foreign(&commands->world->directory, entity);
    return is_refused ? WEFT_BAD_HANDLE : WEFT_OK;
}

/* Commands on SPARSE components are played one by one, with all of their segment. */
static __attribute__((noinline)) weft_result check_sparse(weft_recorder *commands,
                                                          weft__command_op op, weft_entity entity,
                                                          const weft__type *type)
{
    if (!type->is_of_entities)
        return weft__recorder_fail(commands, WEFT_TYPE_MISMATCH, op, entity, type->id);
    bool is_open = commands->open != NULL;
    if (!is_open && !weft__recorder_make_room(commands, sizeof(weft__command)))
        return weft__recorder_fail(commands, WEFT_OUT_OF_MEMORY, op, entity, type->id);
    commands->open->traits |= WEFT__SEGMENT_HAS_ALONE;
    return WEFT_OK;
}

static weft_result check(weft_recorder *commands, weft__command_op op, weft_entity entity,
                         weft_component component, const weft__type **type)
{
    *type = NULL;
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__recorder_check_open(commands, op, entity, component.id) != WEFT_OK)
        return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK) return weft__recorder_fail(commands, result, op, entity, component.id);
    *type = weft__type_at(commands->world, component);
    if (*type == NULL)
        return weft__recorder_fail(commands, WEFT_BAD_HANDLE, op, entity, component.id);
    if (!weft__command_takes(op, *type))
        return weft__recorder_fail(commands, WEFT_TYPE_MISMATCH, op, entity, component.id);
    if (__builtin_expect(!(*type)->is_folded, 0)) return check_sparse(commands, op, entity, *type);
    return WEFT_OK;
}

static weft_result record(weft_recorder *commands, weft__command_op op, weft_entity entity,
                          uint32_t subject)
{
    weft__command *command = weft__recorder_append_words(commands, op, 0);
    if (command == NULL)
        return weft__recorder_fail(commands, WEFT_OUT_OF_MEMORY, op, entity, subject);
    command->entity = entity;
    command->subject = subject;
    return WEFT_OK;
}

/* A command with values of a type, `bytes` of payload in all, which the caller fills; NULL: no
 * memory, and the failure is noted. */
static inline weft__command *record_values(weft_recorder *commands, weft__command_op op,
                                           weft_entity entity, const weft__type *type, size_t bytes)
{
    weft__command *command = weft__recorder_append(commands, op, bytes + slack_of(type));
    if (command == NULL) {
        weft__recorder_fail(commands, WEFT_OUT_OF_MEMORY, op, entity, type->id);
        return NULL;
    }
    command->entity = entity;
    command->subject = type->id;
    if (type->desc.hooks.destruct != NULL) commands->open->traits |= WEFT__SEGMENT_HAS_OWNED;
    if (op == WEFT__COMMAND_SET_SHARED) weft__recorder_note_shared(commands, type);
    return command;
}

static inline weft_result record_value(weft_recorder *commands, weft__command_op op,
                                       weft_entity entity, const weft__type *type,
                                       const void *value)
{
    weft__command *command = record_values(commands, op, entity, type, type->desc.size);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    if (type->desc.size != 0)
        weft__value_copy(weft__command_payload(command), value, type->desc.size);
    return WEFT_OK;
}

/* ---- public: creation ---- */

static weft_entity record_creation(weft_recorder *commands, weft__command_op op, uint32_t subject,
                                   weft_entity source)
{
    weft__command *command =
        weft__recorder_append_words(commands, op, op == WEFT__COMMAND_INSTANTIATE ? 1 : 0);
    if (command == NULL) {
        weft__recorder_fail(commands, WEFT_OUT_OF_MEMORY, op, source, 0);
        return WEFT__NO_ENTITY;
    }
    command->entity = (weft_entity){commands->created++, commands->epoch};
    command->subject = subject;
    if (op == WEFT__COMMAND_INSTANTIATE) memcpy(command + 1, &source, sizeof source);
    commands->open->created_count++;
    return command->entity;
}

weft_entity weft_recorder_create_entity(weft_recorder *commands, weft_archetype archetype)
{
    if (commands == NULL ||
        weft__recorder_check_open(commands, WEFT__COMMAND_CREATE, WEFT__NO_ENTITY, 0) != WEFT_OK)
        return WEFT__NO_ENTITY;
    if (weft__archetype_for_rows(commands->world, archetype) == NULL) {
        weft__recorder_fail(commands, WEFT_BAD_HANDLE, WEFT__COMMAND_CREATE, WEFT__NO_ENTITY, 0);
        return WEFT__NO_ENTITY;
    }
    return record_creation(commands, WEFT__COMMAND_CREATE, archetype.id, WEFT__NO_ENTITY);
}

weft_entity weft_recorder_instantiate(weft_recorder *commands, weft_entity source)
{
    if (commands == NULL ||
        weft__recorder_check_open(commands, WEFT__COMMAND_INSTANTIATE, source, 0) != WEFT_OK)
        return WEFT__NO_ENTITY;
    weft_result result = target_check(commands, source);
    if (result != WEFT_OK) {
        weft__recorder_fail(commands, result, WEFT__COMMAND_INSTANTIATE, source, 0);
        return WEFT__NO_ENTITY;
    }
    return record_creation(commands, WEFT__COMMAND_INSTANTIATE, 0, source);
}

/* ---- public: changes ---- */

weft_result weft_recorder_destroy_entity(weft_recorder *commands, weft_entity entity)
{
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__recorder_check_open(commands, WEFT__COMMAND_DESTROY, entity, 0) != WEFT_OK)
        return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK)
        return weft__recorder_fail(commands, result, WEFT__COMMAND_DESTROY, entity, 0);
    return record(commands, WEFT__COMMAND_DESTROY, entity, 0);
}

weft_result weft_recorder_add(weft_recorder *commands, weft_entity entity, weft_component component)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_ADD, entity, component, &type);
    return result != WEFT_OK ? result : record(commands, WEFT__COMMAND_ADD, entity, component.id);
}

weft_result weft_recorder_remove(weft_recorder *commands, weft_entity entity,
                                 weft_component component)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_REMOVE, entity, component, &type);
    if (result == WEFT_OK) result = record(commands, WEFT__COMMAND_REMOVE, entity, component.id);
    if (result == WEFT_OK && (type->desc.flags & WEFT_ENABLEABLE) != 0)
        commands->open->traits |= WEFT__SEGMENT_HAS_ENABLES;
    return result;
}

weft_result weft_recorder_set(weft_recorder *commands, weft_entity entity, weft_component component,
                              const void *value, size_t size)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_SET, entity, component, &type);
    if (result != WEFT_OK) return result;
    if (size != type->desc.size)
        return weft__recorder_fail(commands, WEFT_TYPE_MISMATCH, WEFT__COMMAND_SET, entity,
                                   component.id);
    if (value == NULL && size != 0)
        return weft__recorder_fail(commands, WEFT_INVALID_ARGUMENT, WEFT__COMMAND_SET, entity,
                                   component.id);
    if (size == 0) return record(commands, WEFT__COMMAND_ADD, entity, component.id);
    if (WEFT_IS_CHECKED && type->desc.is_checked &&
        weft_value_check(type->desc.type, value, NULL) != WEFT_OK)
        return weft__recorder_fail(commands, WEFT_INVALID_ARGUMENT, WEFT__COMMAND_SET, entity,
                                   component.id);
    return record_value(commands, WEFT__COMMAND_SET, entity, type, value);
}

weft_result weft_recorder_set_shared(weft_recorder *commands, weft_entity entity,
                                     weft_component component, const void *value)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_SET_SHARED, entity, component, &type);
    if (result != WEFT_OK) return result;
    if (value == NULL && type->desc.size != 0)
        return weft__recorder_fail(commands, WEFT_INVALID_ARGUMENT, WEFT__COMMAND_SET_SHARED,
                                   entity, component.id);
    return record_value(commands, WEFT__COMMAND_SET_SHARED, entity, type, value);
}

weft_result weft_recorder_enable(weft_recorder *commands, weft_entity entity,
                                 weft_component component, bool enabled)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_ENABLE, entity, component, &type);
    if (result != WEFT_OK) return result;
    weft__command *command = weft__recorder_append_words(commands, WEFT__COMMAND_ENABLE, 0);
    if (command == NULL)
        return weft__recorder_fail(commands, WEFT_OUT_OF_MEMORY, WEFT__COMMAND_ENABLE, entity,
                                   component.id);
    command->entity = entity;
    command->subject = component.id;
    command->flags = enabled;
    return WEFT_OK;
}

static weft_result record_elements(weft_recorder *commands, weft__command_op op, weft_entity entity,
                                   weft_component component, const void *elements, uint32_t count)
{
    const weft__type *type;
    weft_result result = check(commands, op, entity, component, &type);
    if (result != WEFT_OK) return result;
    bool is_good = elements != NULL || count == 0;
    for (uint32_t i = 0; i < count && is_good && WEFT_IS_CHECKED && type->desc.is_checked; i++)
        is_good = weft_value_check(type->desc.type, (const char *)elements + i * type->desc.size,
                                   NULL) == WEFT_OK;
    if (!is_good)
        return weft__recorder_fail(commands, WEFT_INVALID_ARGUMENT, op, entity, component.id);
    size_t bytes = (size_t)count * type->desc.size;
    weft__command *command = record_values(commands, op, entity, type, 8 + bytes);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    uint64_t *payload = weft__command_payload(command);
    payload[0] = count;
    if (bytes != 0) memcpy(payload + 1, elements, bytes);
    return WEFT_OK;
}

weft_result weft_recorder_append(weft_recorder *commands, weft_entity entity,
                                 weft_component component, const void *elements, uint32_t count)
{
    return record_elements(commands, WEFT__COMMAND_APPEND, entity, component, elements, count);
}

weft_result weft_recorder_set_buffer(weft_recorder *commands, weft_entity entity,
                                     weft_component component, const void *elements, uint32_t count)
{
    return record_elements(commands, WEFT__COMMAND_SET_BUFFER, entity, component, elements, count);
}

weft_result weft_recorder_set_name(weft_recorder *commands, weft_entity entity, const char *name)
{
    const weft__command_op op = WEFT__COMMAND_SET_NAME;
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__recorder_check_open(commands, op, entity, 0) != WEFT_OK) return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK) return weft__recorder_fail(commands, result, op, entity, 0);
    size_t length = name == NULL ? 0 : strlen(name);
    if (length != 0 && !weft__name_fits(name, length))
        return weft__recorder_fail(commands, WEFT_INVALID_ARGUMENT, op, entity, 0);
    if (length != 0) length = weft__utf8_cut(name, length, WEFT__NAME_BYTES - 1);
    weft__command *command = weft__recorder_append(commands, op, name == NULL ? 0 : length + 1);
    if (command == NULL) return weft__recorder_fail(commands, WEFT_OUT_OF_MEMORY, op, entity, 0);
    command->entity = entity;
    command->subject = 0;
    if (name == NULL) return WEFT_OK;
    char *text = weft__command_payload(command);
    memcpy(text, name, length);
    text[length] = 0;
    return WEFT_OK;
}
