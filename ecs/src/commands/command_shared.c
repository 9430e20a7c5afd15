/* SPDX-License-Identifier: MIT */
/* command_shared.c: see command_shared.h. Segments without such values are not walked.
 *
 * A value is found again by its content, so nothing is stored per value: the store holds a value
 * as long as there is a reference to it. */
#include "command_shared.h"

#include "archetype_state.h"
#include "world_state.h"

/* What happens to one value; false: out of memory. */
typedef bool value_fn(weft__shared *shared, uint32_t component, const void *value);

static bool hold(weft__shared *shared, uint32_t component, const void *value)
{
    uint32_t index;
    return weft__shared_intern(shared, component, value, &index) == WEFT_OK;
}

static bool let_go(weft__shared *shared, uint32_t component, const void *value)
{
    uint32_t index;
    bool is_found = weft__shared_find(shared, component, value, &index);
    WEFT_ASSERT(is_found);
    if (is_found) weft__shared_release(shared, component, index, 1);
    return true;
}

static bool is_released(const weft_world *world, uint32_t component)
{
    return world->types.at[component]->desc.shared_release != NULL;
}

/* Calls `fn` for the first *count values of rows, in order; false when it did not take value
 * *count. The chunk of the rows may be gone. */
static bool each_of_rows(weft_world *world, const weft__command *command, uint32_t *count,
                         value_fn *fn)
{
    const weft__command_rows *rows = weft__command_payload(command);
    const weft__archetype *archetype = world->archetypes.by_id[command->subject - 1];
    const char *at = (const char *)(rows->columns + archetype->type_count);
    const char *end = at + rows->shared_bytes;
    for (uint32_t i = 0; at < end && i < *count; i++) {
        const weft__command_shared *value = (const weft__command_shared *)(const void *)at;
        if (is_released(world, value->component) &&
            !fn(&world->shared, value->component, value->value)) {
            *count = i;
            return false;
        }
        at += value->bytes;
    }
    return true;
}

static bool is_held(const weft_world *world, const weft__command *command)
{
    bool is_one =
        command->op == WEFT__COMMAND_SET_SHARED || command->op == WEFT__COMMAND_QUERY_SET_SHARED;
    return command->op == WEFT__COMMAND_ROWS || (is_one && is_released(world, command->subject));
}

/* All values of a command, or none. */
static bool hold_command(weft_world *world, const weft__command *command)
{
    if (command->op != WEFT__COMMAND_ROWS)
        return hold(&world->shared, command->subject, weft__command_payload(command));
    uint32_t count = UINT32_MAX;
    if (each_of_rows(world, command, &count, hold)) return true;
    each_of_rows(world, command, &count, let_go);
    return false;
}

weft_result weft__command_hold_shared(weft_world *world, const weft__command_segment *segment)
{
    if ((segment->traits & WEFT__SEGMENT_HAS_RELEASED) == 0) return WEFT_OK;
    weft_result result = WEFT_OK;
    weft__command_cursor cursor = weft__command_begin(segment);
    for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
        if (!is_held(world, command) || (command->flags & WEFT__VALUE_IS_HELD) != 0) continue;
        if (hold_command(world, command))
            command->flags |= WEFT__VALUE_IS_HELD;
        else
            result = WEFT_OUT_OF_MEMORY;
    }
    return result;
}

void weft__command_let_go_shared(weft_world *world, const weft__command_segment *segment)
{
    if ((segment->traits & WEFT__SEGMENT_HAS_RELEASED) == 0) return;
    weft__command_cursor cursor = weft__command_begin(segment);
    for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
        if (!is_held(world, command) || (command->flags & WEFT__VALUE_IS_HELD) == 0) continue;
        uint32_t count = UINT32_MAX;
        if (command->op == WEFT__COMMAND_ROWS)
            each_of_rows(world, command, &count, let_go);
        else
            let_go(&world->shared, command->subject, weft__command_payload(command));
    }
}
