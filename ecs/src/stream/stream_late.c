/* SPDX-License-Identifier: MIT */
/* stream_late.c: late references: for each field what was written there last is kept, so that a
 * value of the run is told from one of the file. Found by the section of the target: they are
 * sorted by it. See stream_late.h. */
#include "stream_late.h"
#include "entity_value.h"
#include "query_change.h"

#include <string.h>

static bool is_there(const weft_stream *stream, uint32_t section)
{
    return stream->sections[section].state == WEFT_SECTION_LOADED;
}

/* The first reference of a loaded section to `target`, or beyond. */
static uint32_t first_to(const weft__loaded *loaded, uint32_t target)
{
    uint32_t low = 0, high = loaded->late_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (loaded->lates[middle].section < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the field is now; NULL: the entity, the component or the element is gone. */
static char *field_of(weft_world *world, const weft__loaded_late *late, weft__chunk **chunk,
                      uint32_t *row)
{
    *chunk = weft__entity_chunk(world, late->source, row);
    if (*chunk == NULL) return NULL;
    const uint32_t number = weft__archetype_find((*chunk)->archetype, late->component);
    if (number == WEFT__NONE) return NULL;
    const weft__type_ref *ref = &(*chunk)->archetype->types[number];
    const weft__type *type = ref->type;
    if (ref->chunk_offset != WEFT__NONE)
        return (*chunk)->chunk_values + ref->chunk_offset + late->offset;
    if (ref->column == 0) return NULL;
    char *value = weft__chunk_value(*chunk, ref->column, *row);
    if ((type->desc.flags & WEFT_BUFFER) == 0) return value + late->offset;
    const weft_buffer *buffer = (const void *)value;
    if (late->element >= buffer->count) return NULL;
    return (char *)weft__buffer_data(buffer) + late->element * type->desc.size + late->offset;
}

/* Writes a handle where the field still is as it was left. */
static void late_write(weft_world *world, weft__loaded_late *late, weft_entity handle)
{
    weft__chunk *chunk;
    uint32_t row;
    char *field = field_of(world, late, &chunk, &row);
    if (field == NULL || memcmp(field, &late->written, sizeof handle) != 0) return;
    memcpy(field, &handle, sizeof handle);
    weft__component_stamp(world, chunk, late->component, row, 1);
    late->written = handle;
}

static void range_write(weft_stream *stream, uint32_t from, uint32_t target, bool is_cleared)
{
    weft__loaded *loaded = &stream->sections[from].loaded;
    const weft_entity *exports = stream->sections[target].loaded.exports;
    for (uint32_t i = first_to(loaded, target);
         i < loaded->late_count && loaded->lates[i].section == target; i++) {
        weft__loaded_late *late = &loaded->lates[i];
        late_write(stream->world, late, is_cleared ? WEFT__NO_ENTITY : exports[late->target]);
    }
}

void weft__lates_arrive(weft_stream *stream, uint32_t section)
{
    const weft__loaded *own = &stream->sections[section].loaded;
    for (uint32_t i = 0; i < own->late_count;) { /* of each target once */
        uint32_t target = own->lates[i].section;
        if (is_there(stream, target)) range_write(stream, section, target, false);
        while (i < own->late_count && own->lates[i].section == target) i++;
    }
    if (own->export_count == 0) return;
    for (uint32_t other = 0; other < stream->front.header.section_count; other++)
        if (other != section && is_there(stream, other)) range_write(stream, other, section, false);
}

void weft__lates_leave(weft_stream *stream, uint32_t section)
{
    if (stream->sections[section].loaded.export_count == 0) return;
    for (uint32_t other = 0; other < stream->front.header.section_count; other++)
        if (other != section && is_there(stream, other)) range_write(stream, other, section, true);
}

uint64_t weft__lates_waiting(const weft_stream *stream)
{
    uint64_t waiting = 0;
    for (uint32_t s = 0; s < stream->front.header.section_count; s++) {
        const weft__loaded *loaded = &stream->sections[s].loaded;
        for (uint32_t i = 0; i < loaded->late_count && is_there(stream, s); i++)
            waiting += is_there(stream, loaded->lates[i].section) ? 0 : 1;
    }
    return waiting;
}
