/* SPDX-License-Identifier: MIT */
/* playback_error.c: what a command that failed is called in the world's error. Why comes from the
 * call that refused it, when the world's error says so. Owner only. */
#include "playback_error.h"

#include "entity_tag.h"
#include "error.h"
#include "name_table.h"

#include <stdio.h>
#include <string.h>

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

/* Whom a command is about, as words. */
static void describe_target(const weft_world *world, char *text, size_t capacity, uint32_t op,
                            weft_entity entity)
{
    if (weft__command_is_wide(op))
        snprintf(text, capacity, " on query %#x", entity.index);
    else if (weft__command_kinds[op].subject == WEFT__SUBJECT_ARCHETYPE)
        text[0] = 0;
    else if (weft__entity_is_deferred(entity) && (entity.index & WEFT__ROW_HANDLE) != 0)
        snprintf(text, capacity, " on row %u made in place", entity.index & ~WEFT__ROW_HANDLE);
    else
        snprintf(text, capacity, " on %sentity %s",
                 weft__entity_is_deferred(entity) ? "deferred " : "",
                 weft__entity_say(world, entity).text);
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
    describe_target(world, target, sizeof target, op, entity);
    return weft__error(world, code, entity, weft__component(world, component),
                       "command %s%s%s%s, recorded %s: %s", weft__command_words[op],
                       component == 0 ? "" : " of component ",
                       component == 0 ? "" : weft__type_name(world, component), target, by,
                       reason[0] == 0 ? weft_result_text(code) : reason);
}
