/* SPDX-License-Identifier: MIT */
/* component.h: component types: kinds, hooks, registration, and the values of resources.
 *
 * Public. A component type belongs to one world and lives as long as it. */
#ifndef WEFT_COMPONENT_H
#define WEFT_COMPONENT_H

#include <weft/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_field weft_field; /* <weft/type.h> */
typedef struct weft_type weft_type;

/* ---- kinds ---- */

/* Kinds of components, as flags. Without flags each row has a plain value; a component of size 0 is
 * a tag, which has none. */
typedef enum weft_component_flags {
    WEFT_DATA = 0,
    WEFT_ENABLEABLE = 1 << 0, /* has an enable bit per row; new rows are enabled */
    WEFT_SHARED = 1 << 1,     /* many entities share one value, stored once per world; rows with the
                                 same values share chunks. Of other kinds only CLEANUP is allowed */
    WEFT_BUFFER = 1 << 2, /* dynamic array per row, with RESOURCE per world (buffers.h); `size` is
                             the element size */
    /* One value per chunk, zero in a new chunk; it stays when rows come or leave. Added to entities
     * like other components, read and written through slices only (weft_slice_read_chunk,
     * weft_slice_write_chunk). Of other kinds only CLEANUP is allowed; no hooks. */
    WEFT_CHUNK = 1 << 3,
    WEFT_CLEANUP = 1 << 4, /* survives weft_entity_destroy until it is removed; not ENABLEABLE */
    /* One value per world, of any size (values of other kinds, and elements of a BUFFER, must fit a
     * chunk of 1 MiB). Not part of archetypes. Of other kinds only BUFFER is allowed. */
    WEFT_RESOURCE = 1 << 5,
    WEFT_NOT_HASHED = 1 << 6, /* with any kind: weft_world_hash leaves out the values (pointers,
                                 caches, measured times), but not which entities have the component,
                                 nor its enable bits */
    /* For what entities get and lose often: adding and removing it does not move the entity. It
     * is in no archetype; its values lie by themselves, in an array of their own, and single
     * reads cost the same. Queries name it as any other, and reach it row by row where they name
     * other components, too (weft_slice_read_row, weft_slice_write_row). Of other kinds only
     * NOT_HASHED is allowed. */
    WEFT_SPARSE = 1 << 7,
    /* Instances (weft_entity_instantiate) do not get it: numbers and handles that only one entity
     * may have. Not with SPARSE or RESOURCE; CLEANUP components are never copied. */
    WEFT_NOT_COPIED = 1 << 8,
} weft_component_flags;

/* ---- hooks ---- */

/* Lifecycle functions of a type. They get arrays of `count` values (BUFFER: elements), are
 * called by any worker during playback, never at once for the same value, and must not touch the
 * world: what would change, step or end it is refused (WRONG_PHASE or BUSY; unchecked builds do
 * not see it on threads that neither own the pool nor run a playback). Checked builds name hook and
 * call: the world's error, of the call that ran the hook or of the next playback or step. */
typedef struct weft_component_hooks {
    /* Added values, already zeroed. */
    void (*construct)(void *values, uint32_t count, void *user);
    /* Values about to end: removed, or of destroyed rows. */
    void (*destruct)(void *values, uint32_t count, void *user);
    /* Makes copies in raw memory (instances, snapshots). Default: the bytes; without `destruct`
     * only. */
    void (*copy)(void *to, const void *from, uint32_t count, void *user);
    void *user;
    /* World files (world_file.h), both or none. `save` returns the bytes that one value takes, and
     * writes them if they fit `capacity`; if not, it is called again with more room. `load` fills a
     * constructed value from them; it returns false when they are malformed (untrusted input). */
    size_t (*save)(const void *value, void *out, size_t capacity, void *user);
    bool (*load)(void *value, const void *bytes, size_t count, void *user);
} weft_component_hooks;

/* ---- registration ---- */

/* Describes a component type. Zero means default. Everything is copied. */
typedef struct weft_component_desc {
    const char *name;         /* unique in the world, 1..255 bytes of UTF-8 */
    size_t size;              /* bytes; 0 makes a tag. Buffers: bytes of one element */
    size_t alignment;         /* power of two up to 64 (buffers: 16) that divides the size; 0 =
                                 natural for the size (at most 16) */
    uint32_t flags;           /* weft_component_flags */
    uint32_t buffer_capacity; /* BUFFER: elements stored inline; 0 = as many as fit 128 bytes */
    uint32_t chunk_row_limit; /* caps the rows of chunks that contain it (which then do not grow);
                                 0 = no cap */
    /* Optional: its description (type.h), which must outlive the world. Name, size and alignment
     * may be 0 then, and the fields are those of the type, nested ones one by one. ENTITY and
     * BLOB fields must be described to be patched, hashed and saved. Of a BUFFER: of one
     * element. */
    const weft_type *type;
    const weft_field *fields; /* instead of `type`: kinds up to WEFT_FIELD_BLOB; copied */
    uint32_t field_count;
    weft_component_hooks hooks; /* optional; not for CHUNK; for SHARED `user` only */
    /* SHARED, both or none. Default: the described fields if there are any (padding is ignored,
     * -0.0 equals 0.0), else all bytes. `user` is hooks.user. None may touch the world. */
    uint64_t (*shared_hash)(const void *value, void *user);
    bool (*shared_equal)(const void *a, const void *b, void *user);
    void (*shared_release)(void *value, void *user); /* called when a value is no longer used */
    /* Optional: components that an entity gets with this one where it lacks them (zero or
     * constructed values), and those that they require. They come wherever this one comes: an
     * archetype is created with them; adding this one moves the entity once. Removing this one
     * leaves them, and they may be removed. Not RESOURCE, SPARSE or Prefab, and neither has any. */
    const weft_component *required;
    uint32_t required_count;
    /* Checked builds refuse values that weft_component_check refuses (INVALID_ARGUMENT):
     * weft_entity_set, weft_entity_set_many, weft_entity_create_filled and recorders.
     * What is written through a pointer is not looked at. Needs `type`; not for SHARED. */
    bool is_checked;
} weft_component_desc;

/* Registers a component type. When one with this name and layout exists (weft_component_hash; write
 * groups and required components: the same, or none given), returns that one, with the hooks that
 * it has. Null on failure: INVALID_ARGUMENT, BAD_HANDLE (an entry of a list), ALREADY_EXISTS, CYCLE
 * (components would require each other), LIMIT, OUT_OF_MEMORY, WRONG_PHASE. Threads: owner, world
 * idle. */
WEFT_API weft_component weft_component_create(weft_world *world, const weft_component_desc *desc);

#ifdef __cplusplus
#define WEFT_ALIGNOF_(type) alignof(type)
#else
#define WEFT_ALIGNOF_(type) _Alignof(type)
#endif

/* Shorthand: a plain component named after its C type: WEFT_COMPONENT(world, Position). */
#define WEFT_COMPONENT(world, type)                                                                \
    weft_component_create_typed((world), #type, sizeof(type), WEFT_ALIGNOF_(type), 0)
/* Shorthand: a plain component with flags. */
#define WEFT_COMPONENT_FLAGS(world, type, flags)                                                   \
    weft_component_create_typed((world), #type, sizeof(type), WEFT_ALIGNOF_(type), (flags))
/* Shorthand: a tag. */
#define WEFT_TAG(world, name) weft_component_create_plain((world), #name, 0, 1, 0)

/* Registers a type by name, size, alignment and flags only. Errors: as
 * weft_component_create. Threads: owner, world idle. */
WEFT_API weft_component weft_component_create_plain(weft_world *world, const char *name,
                                                    size_t size, size_t alignment, uint32_t flags);

/* As weft_component_create_plain, for a component whose name is that of its C type: checked builds
 * compare it with the type that WEFT_READ_COLUMN and WEFT_WRITE_COLUMN name. Threads: owner, world
 * idle. */
WEFT_API weft_component weft_component_create_typed(weft_world *world, const char *type,
                                                    size_t size, size_t alignment, uint32_t flags);

/* ---- questions ---- */

/* The type with this name; null when there is none, and for the internal tag "CleanupResidue".
 * Threads: owner. Cost: O(1). */
WEFT_API weft_component weft_component_find(const weft_world *world, const char *name);

/* The description of a type, valid while the world lives; NULL for a bad handle. Threads: any while
 * unchanged. */
WEFT_API const weft_component_desc *weft_component_info(const weft_world *world,
                                                        weft_component component);

/* The description that the component was registered with; NULL: none, or a bad handle. Threads: any
 * while unchanged. */
WEFT_API const weft_type *weft_component_type(const weft_world *world, weft_component component);

/* A hash of name, size, alignment, kind, buffer capacity and fields: equal in every run and build.
 * 0 for a bad handle. Threads: any while unchanged. */
WEFT_API uint64_t weft_component_hash(const weft_world *world, weft_component component);

/* Checks a value of a described component (a BUFFER: one element) against the ranges of its fields
 * and type->check: weft_value_check. Errors: INVALID_ARGUMENT (weft_world_error names the field),
 * BAD_HANDLE, UNSUPPORTED (registered without `type`). Threads: owner. */
WEFT_API weft_result weft_component_check(const weft_world *world, weft_component component,
                                          const void *value);

/* ---- resources ---- */

/* The value of a RESOURCE component for reading. It is zeroed and constructed when the type is
 * registered; the world owns it, and its address never changes. For a BUFFER it is the
 * weft_buffer. NULL for a bad handle or another kind (weft_world_error). Threads: owner; systems
 * use weft_slice_read_resource. */
WEFT_API const void *weft_resource_read(const weft_world *world, weft_component component);

/* As weft_resource_read, for writing. NULL also while systems run (WRONG_PHASE). A BUFFER is
 * changed through weft_resource_write_buffer. Threads: owner; systems use
 * weft_slice_write_resource. */
WEFT_API void *weft_resource_write(weft_world *world, weft_component component);

/* ---- buffers ---- */

/* The header of a dynamic buffer, which weft_entity_read and weft_resource_read give for a
 * BUFFER. The elements follow inline or are on the heap. Read only: the functions of buffers.h
 * change it. */
typedef struct weft_buffer {
    void *heap;        /* NULL while the elements are inline */
    uint32_t count;    /* elements */
    uint32_t capacity; /* elements that fit before it grows */
} weft_buffer;

/* The elements of a buffer. Valid until it grows or its row moves. Threads: owner or system. */
static inline const void *weft_buffer_read(const weft_buffer *buffer)
{
    return buffer->heap != NULL ? buffer->heap : (const void *)(buffer + 1);
}

#ifdef __cplusplus
}
#endif
#endif
