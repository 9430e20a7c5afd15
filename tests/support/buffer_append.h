/* SPDX-License-Identifier: MIT */
/* buffer_append.h: appending to the buffer of an entity in one call. */
#ifndef TEST_BUFFER_APPEND_H
#define TEST_BUFFER_APPEND_H

#include <weft/ecs.h>

static inline weft_result test_buffer_append(weft_world *world, weft_component component,
                                             weft_entity entity, const void *elements,
                                             uint32_t count)
{
    weft_buffers buffers = weft_entity_write_buffer(world, entity, component);
    return weft_buffers_append(&buffers, 0, elements, count);
}

#endif
