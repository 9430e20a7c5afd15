/* SPDX-License-Identifier: MIT */
/* command_shared.c: see command_shared.h. Segments without such values are not walked.
 *
 * A value is found again by its content, so nothing is stored per value: the store holds a value
 * as long as there is a reference to it. */
#include "command_shared.h"
#include "world_state.h"

/* ---- deferred handles in recorded values ---- */

/* What a visited reference is resolved by; lives for one call. */
typedef struct patch {
    const weft__playback *playback;
    const weft__command_segment *segment;
} patch;

static bool patch_reference(void *user, weft__reference *r)
{
    const patch *p = user;
    if (!r->is_blob) r->entity = weft__playback_resolve(p->playback, p->segment, r->entity);
    return true;
}

void weft__playback_patch_rows(const weft__playback *playback, const weft__command_segment *segment,
                               const weft__type *type, void *values, uint32_t count)
{
    patch p = {playback, segment};
    weft__type_references(type, values, count, patch_reference, &p);
}

void weft__playback_patch(const weft__playback *playback, const weft__command_segment *segment,
                          const weft__type *type, void *elements, uint32_t count)
{
    patch p = {playback, segment};
    weft__elements_references(type, elements, count, patch_reference, &p);
}

/* ---- shared values ---- */

/* What values of a segment go through; on the stack of one call. */
typedef struct values {
    weft_world *world;
    const weft__playback *playback; /* NULL: handles stay */
    const weft__command_segment *segment;
} values;

/* What happens to one value; false: out of memory. */
typedef bool value_fn(const values *v, uint32_t component, void *value);

static bool make_ready(const values *v, uint32_t component, void *value)
{
    const weft__type *type = v->world->types.at[component];
    uint32_t index;
    if (v->playback != NULL) weft__playback_patch(v->playback, v->segment, type, value, 1);
    return type->desc.shared_release == NULL ||
           weft__shared_intern(&v->world->shared, component, value, &index) == WEFT_OK;
}

static bool let_go(const values *v, uint32_t component, void *value)
{
    uint32_t index;
    if (v->world->types.at[component]->desc.shared_release == NULL) return true;
    bool is_found = weft__shared_find(&v->world->shared, component, value, &index);
    WEFT_ASSERT(is_found);
    if (is_found) weft__shared_release(&v->world->shared, component, index, 1);
    return true;
}

/* Calls `fn` for the first *count values of rows, in order; false when it did not take value
 * *count. The chunk of the rows may be gone. */
static bool each_of_rows(const values *v, const weft__command *command, uint32_t *count,
                         value_fn *fn)
{
    weft__command_rows *rows = weft__command_payload(command);
    const weft__archetype *archetype = v->world->archetypes.by_id[command->subject - 1];
    char *at = (char *)(rows->columns + archetype->type_count), *end = at + rows->shared_bytes;
    for (uint32_t i = 0; at < end && i < *count; i++) {
        weft__command_shared *value = (weft__command_shared *)(void *)at;
        if (!fn(v, value->component, value->value)) {
            *count = i;
            return false;
        }
        at += value->bytes;
    }
    return true;
}

static bool has_shared(const weft__command *command)
{
    const uint8_t payload = weft__command_kinds[command->op].payload;
    return payload == WEFT__PAYLOAD_COMMON || payload == WEFT__PAYLOAD_ROWS;
}

/* All values of a command, or none. */
static bool command_ready(const values *v, const weft__command *command)
{
    if (command->op != WEFT__COMMAND_ROWS)
        return make_ready(v, command->subject, weft__command_payload(command));
    uint32_t count = UINT32_MAX;
    if (each_of_rows(v, command, &count, make_ready)) return true;
    each_of_rows(v, command, &count, let_go);
    return false;
}

weft_result weft__command_ready_shared(weft_world *world, const weft__playback *playback,
                                       const weft__command_segment *segment, bool are_rows)
{
    const values v = {world, playback, segment};
    if ((segment->traits & WEFT__SEGMENT_HAS_READIED) == 0) return WEFT_OK;
    weft_result result = WEFT_OK;
    weft__command_cursor cursor = weft__command_begin(segment);
    for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
        if (!has_shared(command) || (command->flags & WEFT__VALUE_IS_READY) != 0 ||
            (are_rows && command->op != WEFT__COMMAND_ROWS))
            continue;
        if (command_ready(&v, command))
            command->flags |= WEFT__VALUE_IS_READY;
        else
            result = WEFT_OUT_OF_MEMORY;
    }
    return result;
}

void weft__command_let_go_shared(weft_world *world, const weft__command_segment *segment)
{
    const values v = {world, NULL, segment};
    if ((segment->traits & WEFT__SEGMENT_HAS_READIED) == 0) return;
    weft__command_cursor cursor = weft__command_begin(segment);
    for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
        if (!has_shared(command) || (command->flags & WEFT__VALUE_IS_READY) == 0) continue;
        uint32_t count = UINT32_MAX;
        if (command->op == WEFT__COMMAND_ROWS)
            each_of_rows(&v, command, &count, let_go);
        else
            let_go(&v, command->subject, weft__command_payload(command));
    }
}
