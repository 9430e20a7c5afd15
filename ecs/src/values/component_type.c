/* SPDX-License-Identifier: MIT */
/* component_type.c: what happens to arrays of component values: construction, destruction,
 * replication, and visits of references, with lifecycle hooks and dynamic buffers taken care of.
 * Pure dispatch. Threads: the owner of the rows. */
#include "component_type.h"
#include "error.h"

static weft_buffer *buffer_at(void *values, const weft__type *type, uint32_t i)
{
    return (weft_buffer *)(void *)((char *)values + (size_t)i * type->value_bytes);
}

static void run(const weft__type *type, void (*hook)(void *, uint32_t, void *), const char *name,
                void *values, uint32_t count)
{
    weft__hook running;
    if (hook == NULL || count == 0) return;
    weft__hook_begin(&running, type->world);
    hook(values, count, type->desc.hooks.user);
    weft__hook_end(&running, name, type->desc.name);
}

void weft__elements_construct(const weft__type *type, void *elements, uint32_t count)
{
    run(type, type->desc.hooks.construct, "construct", elements, count);
}

void weft__elements_destruct(const weft__type *type, void *elements, uint32_t count)
{
    run(type, type->desc.hooks.destruct, "destruct", elements, count);
}

void weft__type_construct_zeroed(const weft__type *type, void *values, uint32_t count)
{
    if (!type->needs_construct) return;
    if ((type->desc.flags & WEFT_BUFFER) == 0) {
        weft__elements_construct(type, values, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        buffer_at(values, type, i)->capacity = type->desc.buffer_capacity;
}

void weft__type_construct(const weft__type *type, void *values, uint32_t count)
{
    memset(values, 0, count * weft__type_bytes(type));
    weft__type_construct_zeroed(type, values, count);
}

void weft__type_destruct(weft__memory *memory, const weft__type *type, void *values, uint32_t count)
{
    if (!type->needs_destruct) return;
    if ((type->desc.flags & WEFT_BUFFER) == 0) {
        weft__elements_destruct(type, values, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        weft_buffer *buffer = buffer_at(values, type, i);
        weft__elements_destruct(type, weft__buffer_data(buffer), buffer->count);
        weft__free(memory, WEFT__MEMORY_BUFFERS, buffer->heap, buffer->capacity, type->desc.size,
                   16);
    }
}

static void elements_copy(const weft__type *type, void *to, const void *from, uint32_t count)
{
    const weft_component_hooks *hooks = &type->desc.hooks;
    weft__hook running;
    if (count == 0) return;
    if (hooks->copy == NULL) {
        memcpy(to, from, count * type->desc.size);
        return;
    }
    weft__hook_begin(&running, type->world);
    hooks->copy(to, from, count, hooks->user);
    weft__hook_end(&running, "copy", type->desc.name);
}

/* *blocks counts what was allocated, for weft__memory_count_blocks. */
static weft_result buffer_replicate(weft__memory *memory, const weft__type *type, weft_buffer *to,
                                    const weft_buffer *from, uint32_t *blocks)
{
    *to = (weft_buffer){.capacity = type->desc.buffer_capacity};
    if (type->desc.size == 0) {
        to->count = from->count;
        return WEFT_OK;
    }
    if (from->count > to->capacity) {
        to->heap = weft__alloc_uncounted(memory, from->count * type->desc.size, 16);
        if (to->heap == NULL) return WEFT_OUT_OF_MEMORY;
        to->capacity = from->count;
        ++*blocks;
    }
    to->count = from->count;
    elements_copy(type, weft__buffer_data(to), weft__buffer_data(from), from->count);
    return WEFT_OK;
}

static weft_result buffers_replicate(weft__memory *memory, const weft__type *type, void *to,
                                     const weft_buffer *from, uint32_t count)
{
    uint32_t made = 0, blocks = 0;
    while (made < count &&
           buffer_replicate(memory, type, buffer_at(to, type, made), from, &blocks) == WEFT_OK)
        made++;
    weft__memory_count_blocks(memory, WEFT__MEMORY_BUFFERS, from->count * type->desc.size, blocks);
    if (made == count) return WEFT_OK;
    weft__type_destruct(memory, type, to, made);
    return WEFT_OUT_OF_MEMORY;
}

weft_result weft__type_replicate(weft__memory *memory, const weft__type *type, void *to,
                                 const void *from, uint32_t count)
{
    if ((type->desc.flags & WEFT_BUFFER) != 0)
        return buffers_replicate(memory, type, to, from, count);
    for (uint32_t i = 0; i < count; i++)
        elements_copy(type, (char *)to + (size_t)i * type->value_bytes, from, 1);
    return WEFT_OK;
}

bool weft__type_references(const weft__type *type, void *values, uint32_t count,
                           weft__reference_visit *visit, void *user)
{
    if (type->reference_count == 0) return true;
    if ((type->desc.flags & WEFT_BUFFER) == 0)
        return weft__elements_references(type, values, count, visit, user);
    for (uint32_t i = 0; i < count; i++) {
        weft_buffer *buffer = buffer_at(values, type, i);
        if (!weft__elements_references(type, weft__buffer_data(buffer), buffer->count, visit, user))
            return false;
    }
    return true;
}

/* ---- one dynamic buffer ----
 *
 * Elements are inline until they outgrow the column's capacity, then on the heap. */

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
