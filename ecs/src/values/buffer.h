/* SPDX-License-Identifier: MIT */
/* buffer.h: changing one dynamic buffer whose type is known. Threads: those that may write the row;
 * the memory counters are atomic. Errors leave the buffer unchanged and set no error text. */
#ifndef WEFT_BUFFER_H
#define WEFT_BUFFER_H

#include "component_type.h"

/* `elements` may be the buffer's own. OUT_OF_MEMORY, LIMIT, INVALID_ARGUMENT (NULL). */
weft_result weft__buffer_append(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                const void *elements, uint32_t count);
/* OUT_OF_MEMORY, LIMIT. */
weft_result weft__buffer_resize(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                uint32_t count);
/* OUT_OF_MEMORY, LIMIT. */
weft_result weft__buffer_reserve(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                 uint32_t capacity);

#endif
