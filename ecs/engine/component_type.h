/* SPDX-License-Identifier: MIT */
/* component_type.h: what a component type is: its description, derived sizes, and what its
 * values need: the dispatch of lifecycle hooks, buffers, entity references and blob fields over
 * arrays of values.
 *
 * A type never moves and never goes while its world lives; id 0 is null. It is made by
 * component_registry.c and constant then, but for what has another note; read by any thread. */
#pragma once

#include "heap.h"

#include <string.h>
#include <weft/blob.h>
#include <weft/component.h>

/* What names nothing, and the id or position that nothing has. */
#define WEFT__NONE UINT32_MAX
#define WEFT__NO_ENTITY ((weft_entity){0, 0})
#define WEFT__NO_COMPONENT ((weft_component){0})

/* Whether a list has an id. */
static inline bool weft__ids_have(const uint32_t *list, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == id) return true;
    return false;
}

/* Puts an id into an ascending list that has room, unless it is there. */
static inline void weft__ids_insert(uint32_t *list, uint32_t *count, uint32_t id)
{
    uint32_t at = *count;
    while (at > 0 && list[at - 1] > id) at--;
    if (at > 0 && list[at - 1] == id) return;
    for (uint32_t i = *count; i > at; i--) list[i] = list[i - 1];
    list[at] = id;
    ++*count;
}

#define WEFT__COLUMN_ALIGNMENT ((size_t)64)
#define WEFT__BUFFER_INLINE_BYTES 128u

/* The elements, for those that may change them. */
static inline void *weft__buffer_data(const weft_buffer *buffer)
{
    return (void *)(uintptr_t)weft_buffer_read(buffer);
}

/* Owned by the table of types of a world. value_bytes % value_alignment == 0; value_bytes == 0 or
 * chunk_bytes == 0; (resource != NULL) == ((desc.flags & WEFT_RESOURCE) != 0); needs_* hold for
 * every BUFFER; desc is first; entity_offset_count <= reference_count; entity_offsets[i] + 8 <=
 * desc.size. */
typedef struct weft__type {
    weft_component_desc desc; /* pointers are the world's copies; alignment and capacity resolved */
    const weft_world *world;
    uint32_t id;
    uint32_t value_bytes; /* bytes per row in a column, 0: no column (tag, shared, chunk, resource
                              that is no buffer). BUFFER: header + inline elements, padded */
    uint32_t value_alignment;
    uint32_t chunk_bytes;         /* CHUNK: bytes of the value in the chunk's side memory, else 0 */
    uint32_t entity_offset_count; /* ENTITY fields, arrays expanded */
    uint32_t reference_count;     /* and BLOB fields, behind them */
    uint32_t *entity_offsets;     /* [reference_count]: bytes from the start of the value (or buffer
                                     element) */
    uint32_t *required;           /* all components that come with this one, ascending */
    uint32_t required_count;
    uint32_t required_capacity;
    uint32_t plain_bytes;        /* of a value in a row, set by copying bytes; 0: it is not */
    bool is_of_entities;         /* may be added and removed: no RESOURCE, no tag of residues */
    bool is_folded;              /* commands on it may be folded: is_of_entities, not SPARSE */
    bool needs_destruct;         /* BUFFER, or a destruct hook */
    bool needs_construct;        /* BUFFER, or a construct hook (after zeroing) */
    bool needs_copy;             /* BUFFER, or a copy hook (else memcpy) */
    bool is_uncopyable;          /* a destruct hook without a copy hook: both would own one thing */
    weft_a32 x_is_typed;         /* its name is that of its C type; never 0 again */
    uint64_t hash;               /* stable: name, layout, kind, fields */
    void *resource;              /* RESOURCE: the value */
    const void *shared_default;  /* SHARED: the default value */
    struct weft__sparse *sparse; /* SPARSE: where the rows are (sparse.h), else NULL */
    uint32_t map_misses;         /* owner only: look-ups that a column map would have served */
    uint32_t archetype_flags;    /* of all archetypes with it; set before there is one */
} weft__type;

/* Bytes of one value in memory: of a BUFFER with its header, of any other kind as described. */
static inline size_t weft__type_bytes(const weft__type *type)
{
    return (type->desc.flags & WEFT_BUFFER) != 0 ? type->value_bytes : type->desc.size;
}

/* Functions over `count` values of a column that starts at `values`. `user`-hooks get elements for
 * buffers. Threads: the owner of these rows. */
/* Zeroes, then prepares buffers, then runs the construct hook. */
void weft__type_construct(const weft__type *type, void *values, uint32_t count);
/* The same when the memory is zero already. */
void weft__type_construct_zeroed(const weft__type *type, void *values, uint32_t count);
/* Runs the destruct hook and frees spilled buffers. Leaves bytes undefined. */
void weft__type_destruct(weft__memory *memory, const weft__type *type, void *values,
                         uint32_t count);
/* Copies one value (deep for buffers, through the copy hook) to `count` new ones. OUT_OF_MEMORY:
 * the copies made so far are destructed again. */
weft_result weft__type_replicate(weft__memory *memory, const weft__type *type, void *to,
                                 const void *from, uint32_t count);
/* The hooks alone, over elements of buffers and over values in commands. */
void weft__elements_construct(const weft__type *type, void *elements, uint32_t count);
void weft__elements_destruct(const weft__type *type, void *elements, uint32_t count);

/* The type that weft_component_info described. */
static inline const weft__type *weft__type_of(const weft_component_desc *info)
{
    return (const weft__type *)(const void *)info;
}
static inline bool weft__type_has_blobs(const weft__type *type)
{
    return type->reference_count != type->entity_offset_count;
}

/* One reference of a value, on its way to what is stored and back. */
typedef struct weft__reference {
    union {
        weft_entity entity;
        weft_blob_ref blob;
        uint64_t bits; /* 0: null */
    };
    uint32_t offset; /* in the value */
    bool is_blob;
} weft__reference;
/* False ends the walk. */
typedef bool weft__reference_visit(void *user, weft__reference *reference);

/* The walk over references: calls `visit` for those of `count` values side by side as they are
 * described (elements of a BUFFER that are in no buffer), which may lie anywhere, and stores what
 * it made of them: of each value entities, then blobs. False when `visit` ended it. */
static inline bool weft__elements_references(const weft__type *type, void *elements, uint64_t count,
                                             weft__reference_visit *visit, void *user)
{
    const uint32_t references = type->reference_count;
    char *value = elements;
    for (uint64_t i = 0; references != 0 && i < count; i++, value += type->desc.size) {
        for (uint32_t k = 0; k < references; k++) {
            weft__reference reference = {.offset = type->entity_offsets[k],
                                         .is_blob = k >= type->entity_offset_count};
            memcpy(&reference.bits, value + reference.offset, sizeof reference.bits);
            if (!visit(user, &reference)) return false;
            memcpy(value + reference.offset, &reference.bits, sizeof reference.bits);
        }
    }
    return true;
}
/* The same for values in a column, buffers' elements included. */
bool weft__type_references(const weft__type *type, void *values, uint32_t count,
                           weft__reference_visit *visit, void *user);

/* Change one dynamic buffer. Threads: those that may write the row; the memory counters are atomic.
 * OUT_OF_MEMORY, LIMIT leave the buffer as it was and set no error text. `elements` may be the
 * buffer's own (NULL: INVALID_ARGUMENT). */
weft_result weft__buffer_append(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                const void *elements, uint32_t count);
weft_result weft__buffer_resize(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                uint32_t count);
weft_result weft__buffer_reserve(weft__memory *memory, const weft__type *type, weft_buffer *buffer,
                                 uint32_t capacity);
