/* SPDX-License-Identifier: MIT */
/* buffer.c: resize, reserve and append of one dynamic buffer. Elements are inline until they
 * outgrow the column's capacity, then on the heap through the world's memory hook. */
#include "buffer.h"

#include <string.h>

#define ELEMENTS_MAX (UINT32_MAX - 1)

/* Moves the elements to a place with exactly `capacity` (>= count) elements. */
static weft_result place_change(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                uint32_t capacity)
{
    size_t size = type->desc.size;
    void *heap = NULL;
    if (capacity > type->desc.buffer_capacity) {
        heap = weft__alloc(memory, WEFT__MEMORY_BUFFERS, capacity, size, 16);
        if (heap == NULL) return WEFT_OUT_OF_MEMORY;
    } else {
        capacity = type->desc.buffer_capacity;
    }
    void *old = buffer->heap;
    void *from = weft__buffer_data(buffer);
    void *to = heap != NULL ? heap : (void *)(buffer + 1);
    if (to != from && buffer->count != 0) memcpy(to, from, buffer->count * size);
    weft__free(memory, WEFT__MEMORY_BUFFERS, old, buffer->capacity, size, 16);
    buffer->heap = heap;
    buffer->capacity = capacity;
    return WEFT_OK;
}

static weft_result grow(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                        uint64_t count)
{
    if (count > ELEMENTS_MAX) return WEFT_LIMIT;
    if (count <= buffer->capacity || type->desc.size == 0) return WEFT_OK;
    uint64_t capacity = 2 * (uint64_t)buffer->capacity;
    if (capacity < 8) capacity = 8;
    if (capacity < count) capacity = count;
    if (capacity > ELEMENTS_MAX) capacity = ELEMENTS_MAX;
    return place_change(memory, type, buffer, (uint32_t)capacity);
}

static char *element_at(const weft__type *type, const weft_buffer *buffer, uint32_t i)
{
    return (char *)weft__buffer_data(buffer) + (size_t)i * type->desc.size;
}

weft_result weft__buffer_resize(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                uint32_t count)
{
    weft_result result = grow(memory, type, buffer, count);
    if (result != WEFT_OK) return result;
    uint32_t old = buffer->count;
    if (count < old) weft__elements_destruct(type, element_at(type, buffer, count), old - count);
    buffer->count = count;
    if (count <= old || type->desc.size == 0) return WEFT_OK;
    memset(element_at(type, buffer, old), 0, (count - old) * type->desc.size);
    weft__elements_construct(type, element_at(type, buffer, old), count - old);
    return WEFT_OK;
}

weft_result weft__buffer_reserve(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                 uint32_t capacity)
{
    if (type->desc.size == 0) return WEFT_OK;
    if (capacity < buffer->count) capacity = buffer->count;
    if (capacity > ELEMENTS_MAX) return WEFT_LIMIT;
    if (buffer->heap == NULL && capacity <= buffer->capacity) return WEFT_OK;
    return capacity == buffer->capacity ? WEFT_OK : place_change(memory, type, buffer, capacity);
}

weft_result weft__buffer_append(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                const void *elements, uint32_t count)
{
    if (count == 0) return WEFT_OK;
    if (elements == NULL && type->desc.size != 0) return WEFT_INVALID_ARGUMENT;
    /* elements of the buffer itself move with it */
    uintptr_t inside = (uintptr_t)elements - (uintptr_t)weft__buffer_data(buffer);
    bool is_own = inside < buffer->count * type->desc.size;
    weft_result result = grow(memory, type, buffer, (uint64_t)buffer->count + count);
    if (result != WEFT_OK) return result;
    if (is_own) elements = (const char *)weft_buffer_read(buffer) + inside;
    if (type->desc.size != 0)
        memcpy(element_at(type, buffer, buffer->count), elements, count * type->desc.size);
    buffer->count += count;
    return WEFT_OK;
}
