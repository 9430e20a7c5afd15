/* SPDX-License-Identifier: MIT */
/* commands_record.c: recording. See commands_state.h for the format.
 *
 * The hot path is a bump in the page and a store of 16 bytes. Nothing here reads entities:
 * whether a target is alive is asked at playback. A worker cannot set the world's error text, so
 * failures are kept in the recorder and reported when it is played. */
#include "commands_state.h"
#include "entity_tag.h"

#include "archetype_state.h"
#include "commands_shared.h"
#include "name_table.h"
#include "private_chunk.h"
#include "slice_rows.h"

#include <string.h>

#define FIRST_PAGE_BYTES 4032u
#define PAGE_BYTES 65472u

/* Even, not 0, and for the next two thousand million rounds not that of any other recorder: so a
 * deferred handle is good in one recorder and one round only. Owner. */
static uint32_t next_epoch(weft_world *world)
{
    world->recorder_epoch = world->recorder_epoch % (UINT32_MAX / 2) + 1;
    return world->recorder_epoch << 1;
}

void weft__commands_init(weft_recorder *commands, weft_world *world, uint32_t id, uint32_t worker)
{
    *commands = (weft_recorder){.world = world,
                                .id = id,
                                .worker = worker,
                                .rows_context = {.ops = &weft__slice_ops_rows, .world = world}};
    commands->epoch = next_epoch(world);
    commands->home = worker;
}

static void free_blocks(weft_recorder *commands)
{
    weft__command_block *block = commands->blocks;
    while (block != NULL) {
        weft__command_block *next = block->next;
        weft__free(&commands->world->memory, WEFT__MEMORY_COMMANDS, block, 1, block->bytes, 8);
        block = next;
    }
    commands->blocks = NULL;
}

/* Rows that were never linked end, and so do ids given to them at once. */
static void drop_private_chunk(weft_world *world, weft__chunk *chunk)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    for (uint32_t row = 0; row < chunk->count && chunk->has_ids; row++)
        if (entities[row].version != 0)
            weft__directory_free_any(&world->directory, &entities[row], 1);
    weft__private_drop(world, chunk);
}

static void drop_private_chunks(weft_recorder *commands)
{
    for (uint32_t i = 0; i < commands->segment_count; i++) {
        const weft__command_segment *segment = &commands->segments[i];
        if ((segment->traits & WEFT__SEGMENT_HAS_ROWS) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(segment);
        for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;)
            if (command->op == WEFT__COMMAND_ROWS && weft__command_chunk(command) != NULL)
                drop_private_chunk(commands->world, weft__command_chunk(command)->chunk);
    }
}

/* Bytes behind values that are the recorder's, so that they can be aligned where they are. */
static size_t slack_of(const weft__type *type)
{
    return type->desc.hooks.destruct != NULL && type->desc.alignment > 8 ? type->desc.alignment - 8
                                                                         : 0;
}

/* Destructs values that no entity took. */
static void drop_value(const weft__type *type, const weft__command *command)
{
    const weft_component_hooks *hooks = &type->desc.hooks;
    if (hooks->destruct == NULL || (command->flags & WEFT__VALUE_IS_TAKEN) != 0) return;
    uint64_t *payload = weft__command_payload(command);
    bool has_elements = weft__command_has_elements(command->op);
    uint32_t count = has_elements ? (uint32_t)payload[0] : 1;
    char *values = (char *)(payload + (has_elements ? 1 : 0));
    size_t step = bits_align_up((uintptr_t)values, type->desc.alignment) - (uintptr_t)values;
    if (count == 0) return;
    if (step != 0) memmove(values + step, values, count * type->desc.size);
    hooks->destruct(values + step, count, hooks->user);
}

static void drop_values(const weft_recorder *commands)
{
    for (uint32_t i = 0; i < commands->segment_count; i++) {
        if ((commands->segments[i].traits & WEFT__SEGMENT_HAS_OWNED) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(&commands->segments[i]);
        for (const weft__command *command; (command = weft__command_next(&cursor)) != NULL;)
            if (command->op == WEFT__COMMAND_SET || weft__command_has_elements(command->op))
                drop_value(commands->world->types.at[command->subject], command);
    }
}

void weft__commands_seal(weft_recorder *commands)
{
    weft__command_page *page = commands->page;
    if (page != NULL) page->used = (uint32_t)(commands->at - (char *)page->data);
}

void weft__commands_reset(weft_recorder *commands, bool with_rows)
{
    weft__commands_seal(commands);
    if (with_rows) drop_private_chunks(commands);
    drop_values(commands);
    for (uint32_t i = 0; i < commands->segment_count; i++)
        weft__commands_let_go_shared(commands->world, &commands->segments[i]);
    free_blocks(commands);
    for (weft__command_page *page = commands->first; page != NULL; page = page->next)
        page->used = 0;
    commands->page = commands->first;
    commands->at = commands->first == NULL ? NULL : (char *)commands->first->data;
    commands->end = commands->first == NULL ? NULL : commands->at + commands->first->bytes;
    commands->segment_count = 0;
    commands->open = NULL;
    commands->private_chunk = NULL;
    commands->created = 0;
    commands->rows = 0;
    commands->rows_asked = false;
    commands->failure = (weft__command_failure){0};
    commands->epoch =
        next_epoch(commands->world); /* handles of this round are refused from now on */
}

void weft__commands_fini(weft_recorder *commands)
{
    weft__memory *memory = &commands->world->memory;
    weft__commands_seal(commands);
    for (uint32_t i = 0; i < commands->segment_count; i++)
        weft__commands_hold_shared(commands->world, &commands->segments[i]);
    weft__commands_reset(commands, true);
    weft__command_page *page = commands->first;
    while (page != NULL) {
        weft__command_page *next = page->next;
        weft__free(memory, WEFT__MEMORY_COMMANDS, page, 1, sizeof *page + page->bytes, 8);
        page = next;
    }
    weft__free(memory, WEFT__MEMORY_COMMANDS, commands->segments, commands->segment_capacity,
               sizeof commands->segments[0], 8);
    weft__free(memory, WEFT__MEMORY_COMMANDS, commands->resolved, commands->resolved_capacity,
               sizeof commands->resolved[0], 8);
    weft__free(memory, WEFT__MEMORY_COMMANDS, commands->row_entities, commands->row_capacity,
               sizeof commands->row_entities[0], 8);
    *commands = (weft_recorder){.world = commands->world};
}

/* ---- room ---- */

weft_result weft__commands_fail(weft_recorder *commands, weft_result code, weft__command_op op,
                                weft_entity entity, uint32_t component)
{
    if (commands->failure.code == WEFT_OK)
        commands->failure =
            (weft__command_failure){code, commands->key, entity, component, (uint8_t)op};
    return code;
}

/* Goes on to a page with room: the next kept one, or a new one. */
static bool next_page(weft_recorder *commands)
{
    weft__command_page *page = commands->page;
    weft__command_page *next = page == NULL ? commands->first : page->next;
    weft__commands_seal(commands);
    if (next == NULL) {
        uint32_t bytes = page == NULL ? FIRST_PAGE_BYTES : PAGE_BYTES;
        next = weft__alloc(&commands->world->memory, WEFT__MEMORY_COMMANDS, 1, sizeof *next + bytes,
                           8);
        if (next == NULL) return false;
        *next = (weft__command_page){.bytes = bytes};
        if (page == NULL)
            commands->first = next;
        else
            page->next = next;
    }
    commands->page = next;
    commands->at = (char *)next->data;
    commands->end = commands->at + next->bytes;
    return true;
}

static bool open_segment(weft_recorder *commands)
{
    if (commands->segment_count == commands->segment_capacity) {
        uint32_t capacity = commands->segment_capacity == 0 ? 8 : commands->segment_capacity * 2;
        void *grown =
            weft__realloc(&commands->world->memory, WEFT__MEMORY_COMMANDS, commands->segments,
                          commands->segment_capacity, capacity, sizeof commands->segments[0], 8);
        if (grown == NULL) return false;
        commands->segments = grown;
        commands->segment_capacity = capacity;
    }
    commands->open = &commands->segments[commands->segment_count++];
    commands->rows_first = commands->rows;
    *commands->open = (weft__command_segment){
        .key = commands->key,
        .page = commands->page,
        .offset = (uint32_t)(commands->at - (char *)commands->page->data),
        .recorder = commands->id,
        .created_first = commands->created,
    };
    return true;
}

static bool make_room(weft_recorder *commands, size_t bytes)
{
    while (commands->page == NULL || (size_t)(commands->end - commands->at) < bytes)
        if (!next_page(commands)) return false;
    return commands->open != NULL || open_segment(commands);
}

/* What a command means for the way its segment is played. */
static uint32_t trait_of(weft__command_op op)
{
    switch (op) {
    case WEFT__COMMAND_CREATE:
        return WEFT__SEGMENT_HAS_CREATES;
    case WEFT__COMMAND_ROWS:
        return WEFT__SEGMENT_HAS_ROWS;
    case WEFT__COMMAND_DESTROY:
        return 0;
    case WEFT__COMMAND_ADD:
        return WEFT__SEGMENT_HAS_ADDS;
    case WEFT__COMMAND_REMOVE:
        return WEFT__SEGMENT_HAS_REMOVES;
    case WEFT__COMMAND_SET:
    case WEFT__COMMAND_APPEND:
    case WEFT__COMMAND_SET_BUFFER:
        return WEFT__SEGMENT_HAS_ADDS | WEFT__SEGMENT_HAS_VALUES;
    case WEFT__COMMAND_ENABLE:
        return WEFT__SEGMENT_HAS_VALUES | WEFT__SEGMENT_HAS_ENABLES;
    case WEFT__COMMAND_INSTANTIATE:
        return WEFT__SEGMENT_HAS_INSTANCES | WEFT__SEGMENT_HAS_ALONE;
    case WEFT__COMMAND_SET_SHARED:
    case WEFT__COMMAND_SET_NAME:
    case WEFT__COMMAND_QUERY_ADD:
    case WEFT__COMMAND_QUERY_REMOVE:
    case WEFT__COMMAND_QUERY_SET_SHARED:
    case WEFT__COMMAND_QUERY_ENABLE:
    case WEFT__COMMAND_QUERY_DESTROY:
    case WEFT__COMMAND_OP_COUNT:
        break;
    }
    return WEFT__SEGMENT_HAS_ALONE;
}

/* A command with `words` words of payload in the page, counted; NULL: out of memory. */
static inline weft__command *append(weft_recorder *commands, weft__command_op op, uint32_t words)
{
    size_t bytes = sizeof(weft__command) + (size_t)words * 8;
    if (__builtin_expect(commands->open == NULL || (size_t)(commands->end - commands->at) < bytes,
                         0) &&
        !make_room(commands, bytes))
        return NULL;
    weft__command *command = (weft__command *)(void *)commands->at;
    commands->at += bytes;
    commands->open->count++;
    commands->open->traits |= trait_of(op);
    command->op = (uint8_t)op;
    command->flags = 0;
    command->words = (uint16_t)words;
    return command;
}

static weft__command *append_apart(weft_recorder *commands, weft__command_op op, size_t bytes)
{
    size_t total = sizeof(weft__command_block) + bits_align_up(bytes, 8);
    weft__command_block *block =
        weft__alloc(&commands->world->memory, WEFT__MEMORY_COMMANDS, 1, total, 8);
    if (block == NULL) return NULL;
    weft__command *command = append(commands, op, 1);
    if (command == NULL) {
        weft__free(&commands->world->memory, WEFT__MEMORY_COMMANDS, block, 1, total, 8);
        return NULL;
    }
    block->bytes = total;
    block->next = commands->blocks;
    commands->blocks = block;
    command->words = WEFT__PAYLOAD_APART;
    *(uint64_t *)(command + 1) = (uint64_t)(uintptr_t)block;
    return command;
}

weft__command *weft__commands_append(weft_recorder *commands, weft__command_op op, size_t bytes)
{
    size_t words = (bytes + 7) / 8;
    if (words > FIRST_PAGE_BYTES / 16) return append_apart(commands, op, bytes);
    return append(commands, op, (uint32_t)words);
}

/* ---- what is checked while recording ---- */

/* A deferred handle must be of this recorder, this round and, in systems, this slice: another
 * slice's handle would be right or wrong depending on which worker ran it. */
static bool is_deferred_here(const weft_recorder *commands, weft_entity entity)
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

static weft_result check(weft_recorder *commands, weft__command_op op, weft_entity entity,
                         weft_component component, const weft__type **type)
{
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__commands_check_open(commands, op, entity, component.id) != WEFT_OK)
        return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK) return weft__commands_fail(commands, result, op, entity, component.id);
    *type = weft__type_at(commands->world, component);
    if (*type == NULL)
        return weft__commands_fail(commands, WEFT_BAD_HANDLE, op, entity, component.id);
    if (!(*type)->is_of_entities)
        return weft__commands_fail(commands, WEFT_TYPE_MISMATCH, op, entity, component.id);
    return WEFT_OK;
}

static weft_result record(weft_recorder *commands, weft__command_op op, weft_entity entity,
                          uint32_t subject)
{
    weft__command *command = append(commands, op, 0);
    if (command == NULL)
        return weft__commands_fail(commands, WEFT_OUT_OF_MEMORY, op, entity, subject);
    command->entity = entity;
    command->subject = subject;
    return WEFT_OK;
}

/* A command with values of a type, `bytes` of payload in all, which the caller fills; NULL: no
 * memory, and the failure is noted. */
static weft__command *record_values(weft_recorder *commands, weft__command_op op,
                                    weft_entity entity, const weft__type *type, size_t bytes)
{
    weft__command *command = weft__commands_append(commands, op, bytes + slack_of(type));
    if (command == NULL) {
        weft__commands_fail(commands, WEFT_OUT_OF_MEMORY, op, entity, type->id);
        return NULL;
    }
    command->entity = entity;
    command->subject = type->id;
    if (type->desc.hooks.destruct != NULL) commands->open->traits |= WEFT__SEGMENT_HAS_OWNED;
    if (type->desc.shared_release != NULL) commands->open->traits |= WEFT__SEGMENT_HAS_RELEASED;
    return command;
}

static weft_result record_value(weft_recorder *commands, weft__command_op op, weft_entity entity,
                                const weft__type *type, const void *value)
{
    weft__command *command = record_values(commands, op, entity, type, type->desc.size);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    if (type->desc.size != 0) memcpy(weft__command_payload(command), value, type->desc.size);
    return WEFT_OK;
}

/* ---- public: creation ---- */

static weft_entity record_creation(weft_recorder *commands, weft__command_op op, uint32_t subject,
                                   weft_entity source)
{
    weft__command *command = append(commands, op, op == WEFT__COMMAND_INSTANTIATE ? 1 : 0);
    if (command == NULL) {
        weft__commands_fail(commands, WEFT_OUT_OF_MEMORY, op, source, 0);
        return WEFT__NO_ENTITY;
    }
    command->entity = (weft_entity){commands->created++, commands->epoch};
    command->subject = subject;
    if (op == WEFT__COMMAND_INSTANTIATE) memcpy(command + 1, &source, sizeof source);
    commands->open->created_count++;
    commands->open->traits |=
        op == WEFT__COMMAND_CREATE ? WEFT__SEGMENT_HAS_CREATES : WEFT__SEGMENT_HAS_INSTANCES;
    return command->entity;
}

static bool is_archetype(const weft_recorder *commands, weft_archetype archetype)
{
    const weft_world *world = commands->world;
    return weft__archetype_is(world, archetype) &&
           (world->archetypes.by_id[archetype.id - 1]->flags & WEFT__IS_RESIDUE) == 0;
}

weft_entity weft_recorder_create_entity(weft_recorder *commands, weft_archetype archetype)
{
    if (commands == NULL ||
        weft__commands_check_open(commands, WEFT__COMMAND_CREATE, WEFT__NO_ENTITY, 0) != WEFT_OK)
        return WEFT__NO_ENTITY;
    if (!is_archetype(commands, archetype)) {
        weft__commands_fail(commands, WEFT_BAD_HANDLE, WEFT__COMMAND_CREATE, WEFT__NO_ENTITY, 0);
        return WEFT__NO_ENTITY;
    }
    return record_creation(commands, WEFT__COMMAND_CREATE, archetype.id, WEFT__NO_ENTITY);
}

weft_entity weft_recorder_instantiate(weft_recorder *commands, weft_entity source)
{
    if (commands == NULL ||
        weft__commands_check_open(commands, WEFT__COMMAND_INSTANTIATE, source, 0) != WEFT_OK)
        return WEFT__NO_ENTITY;
    weft_result result = target_check(commands, source);
    if (result != WEFT_OK) {
        weft__commands_fail(commands, result, WEFT__COMMAND_INSTANTIATE, source, 0);
        return WEFT__NO_ENTITY;
    }
    return record_creation(commands, WEFT__COMMAND_INSTANTIATE, 0, source);
}

/* ---- public: changes ---- */

weft_result weft_recorder_destroy_entity(weft_recorder *commands, weft_entity entity)
{
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__commands_check_open(commands, WEFT__COMMAND_DESTROY, entity, 0) != WEFT_OK)
        return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK)
        return weft__commands_fail(commands, result, WEFT__COMMAND_DESTROY, entity, 0);
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
    bool is_plain = (type->desc.flags & (WEFT_BUFFER | WEFT_SHARED | WEFT_CHUNK)) == 0;
    if (!is_plain || size != type->desc.size)
        return weft__commands_fail(commands, WEFT_TYPE_MISMATCH, WEFT__COMMAND_SET, entity,
                                   component.id);
    if (value == NULL && size != 0)
        return weft__commands_fail(commands, WEFT_INVALID_ARGUMENT, WEFT__COMMAND_SET, entity,
                                   component.id);
    if (size == 0) return record(commands, WEFT__COMMAND_ADD, entity, component.id);
    return record_value(commands, WEFT__COMMAND_SET, entity, type, value);
}

weft_result weft_recorder_set_shared(weft_recorder *commands, weft_entity entity,
                                     weft_component component, const void *value)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_SET_SHARED, entity, component, &type);
    if (result != WEFT_OK) return result;
    if ((type->desc.flags & WEFT_SHARED) == 0)
        return weft__commands_fail(commands, WEFT_TYPE_MISMATCH, WEFT__COMMAND_SET_SHARED, entity,
                                   component.id);
    if (value == NULL && type->desc.size != 0)
        return weft__commands_fail(commands, WEFT_INVALID_ARGUMENT, WEFT__COMMAND_SET_SHARED,
                                   entity, component.id);
    return record_value(commands, WEFT__COMMAND_SET_SHARED, entity, type, value);
}

weft_result weft_recorder_enable(weft_recorder *commands, weft_entity entity,
                                 weft_component component, bool enabled)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_ENABLE, entity, component, &type);
    if (result != WEFT_OK) return result;
    if ((type->desc.flags & WEFT_ENABLEABLE) == 0)
        return weft__commands_fail(commands, WEFT_TYPE_MISMATCH, WEFT__COMMAND_ENABLE, entity,
                                   component.id);
    weft__command *command = append(commands, WEFT__COMMAND_ENABLE, 0);
    if (command == NULL)
        return weft__commands_fail(commands, WEFT_OUT_OF_MEMORY, WEFT__COMMAND_ENABLE, entity,
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
    if ((type->desc.flags & WEFT_BUFFER) == 0)
        return weft__commands_fail(commands, WEFT_TYPE_MISMATCH, op, entity, component.id);
    if (elements == NULL && count != 0)
        return weft__commands_fail(commands, WEFT_INVALID_ARGUMENT, op, entity, component.id);
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
    if (weft__commands_check_open(commands, op, entity, 0) != WEFT_OK) return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK) return weft__commands_fail(commands, result, op, entity, 0);
    /* one byte more than is kept tells playback that the text was cut */
    size_t length = name == NULL ? 0 : strnlen(name, WEFT__NAME_BYTES);
    weft__command *command = weft__commands_append(commands, op, name == NULL ? 0 : length + 1);
    if (command == NULL) return weft__commands_fail(commands, WEFT_OUT_OF_MEMORY, op, entity, 0);
    command->entity = entity;
    command->subject = 0;
    if (name == NULL) return WEFT_OK;
    char *text = weft__command_payload(command);
    memcpy(text, name, length);
    text[length] = 0;
    return WEFT_OK;
}
