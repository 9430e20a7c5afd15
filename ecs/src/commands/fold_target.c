/* SPDX-License-Identifier: MIT */
/* fold_target.c: targets that are not in the world yet, or were not when they were recorded, and
 * the references of values: what few commands need. */
#include "fold_target.h"

#include "playback_patch.h"

weft__fold_ref weft__fold_place_created(const weft__fold_finder *finder, weft__command *command)
{
    const weft__fold *fold = finder->fold;
    const weft__command_segment *segment = &fold->segments[finder->segment];
    uint32_t number =
        fold->created_bases[finder->segment] + command->entity.index - segment->created_first;
    if (command->op == WEFT__COMMAND_CREATE)
        fold->created_ids[number] =
            weft__playback_resolve(fold->playback, segment, command->entity);
    return (weft__fold_ref){command, WEFT__FOLD_PLACE_CREATED | number / WEFT__FOLD_BLOCK_ROWS,
                            number % WEFT__FOLD_BLOCK_ROWS};
}

void weft__fold_patch(const weft__fold *fold, uint32_t segment, weft__command *command)
{
    const weft__type *type = fold->playback->world->types.at[command->subject];
    uint64_t *payload = weft__command_payload(command);
    const bool has_elements = weft__command_has_elements(command->op);
    weft__playback_patch(fold->playback, &fold->segments[segment], type, payload + has_elements,
                         has_elements ? (uint32_t)payload[0] : 1);
}

void weft__fold_resolve(weft__fold_finder *finder, weft__command *command)
{
    const weft__command_segment *segment = &finder->fold->segments[finder->segment];
    bool has_instances = (segment->traits & WEFT__SEGMENT_HAS_INSTANCES) != 0;
    bool is_row = (command->entity.index & WEFT__ROW_HANDLE) != 0;
    if (!is_row && !has_instances) return;
    weft_entity entity = weft__playback_resolve(finder->fold->playback, segment, command->entity);
    if (is_row || weft__fold_find(finder, entity)) command->entity = entity;
}
