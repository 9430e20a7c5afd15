/* SPDX-License-Identifier: MIT */
/* buffers.h: dynamic buffers: arrays that grow, one per row or one per world.
 *
 *   weft_buffers links = weft_slice_write_buffers(slice, 0);
 *   for (uint32_t row = 0; row < links.count; row++) {
 *       Link *link = weft_buffers_write(&links, row);
 *       for (uint32_t i = 0; i < weft_buffers_length(&links, row); i++) link[i].age++;
 *       weft_buffers_append(&links, row, &(Link){0}, 1); // `link` may have moved
 *   }
 *
 * Public. A row of a BUFFER component is a header (weft_buffer) and the elements that fit inline;
 * more elements move to the heap. With RESOURCE it is one such value of the world. weft_buffers
 * stands for the column, since only the world knows the distance between rows: weft_slice_write and
 * weft_slice_read give NULL for such a term (checked builds report it). It holds type, access and
 * rows, so that nothing else can be changed through it. A pointer to elements that is kept past its
 * callback is a mistake that checked builds tell when it is written through, until its place is
 * used again, some callbacks later; reads are not told (AddressSanitizer tells both, as long).
 * Threads: owner or system, unless a function says otherwise. */
#ifndef WEFT_BUFFERS_H
#define WEFT_BUFFERS_H

#include <weft/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- open ----
 *
 * Threads: callback, unless a function says otherwise. */

/* The buffers of some rows. {0}: none. Valid until the slice ends or structure changes; growing
 * and trimming are no structural changes. Of a resource: until the slice ends, outside systems
 * until the world is destroyed. */
typedef struct weft_buffers {
    uint32_t count;          /* rows; 0: absent component or refused call */
    uint32_t stride;         /* private from here on: bytes from row to row */
    void *rows;              /* header of the first row */
    uint32_t writable_count; /* rows that may be changed: count, or 0 */
    uint32_t calls;          /* of the slice, for rows of a recorder */
    weft_world *world;
    const void *type;
    uint64_t structure; /* version of the structure that the rows belong to; from 2^63 on: a
                           resource, or rows of a recorder */
} weft_buffers;

/* The buffers of a term on a BUFFER component, for reading: of a system, of a cursor, or of rows of
 * weft_recorder_create_rows (`term` is then the position in the archetype). count 0 for an absent
 * optional component. Errors, with count 0 in every build: UNDECLARED_ACCESS (another kind of
 * component, access that is not declared), set for a cursor at once, for a system after the step
 * (checked builds), for rows of a recorder at playback. */
WEFT_API weft_buffers weft_slice_read_buffers(const weft_slice *slice, uint32_t term);

/* As weft_slice_read_buffers, for writing: the term must be declared WEFT_WRITE. */
WEFT_API weft_buffers weft_slice_write_buffers(const weft_slice *slice, uint32_t term);

/* The buffer of another entity, as one row, with the declaration that weft_slice_read_entity needs.
 * count 0 when the entity, or its residue, has none; checked builds report a component that is no
 * BUFFER. */
WEFT_API weft_buffers weft_slice_read_entity_buffer(const weft_slice *slice, weft_entity entity,
                                                    weft_component component);

/* As weft_slice_read_entity_buffer, for writing, with the declaration that weft_slice_write_entity
 * needs. */
WEFT_API weft_buffers weft_slice_write_entity_buffer(const weft_slice *slice, weft_entity entity,
                                                     weft_component component);

/* The buffer of an entity, as one row, for the owner. Errors, with count 0: BAD_HANDLE,
 * STALE_ENTITY, NOT_FOUND, TYPE_MISMATCH (no BUFFER), WRONG_PHASE, INVALID_ARGUMENT. Threads:
 * owner.
 */
WEFT_API weft_buffers weft_entity_read_buffer(weft_world *world, weft_entity entity,
                                              weft_component component);

/* As weft_entity_read_buffer, for writing: stamps the change version of the slice. Threads: owner.
 */
WEFT_API weft_buffers weft_entity_write_buffer(weft_world *world, weft_entity entity,
                                               weft_component component);

/* The buffer of a resource (WEFT_BUFFER | WEFT_RESOURCE), as one row, inside a system that lists
 * it in its `resources`. count 0 when it is no such component, or the access is not declared
 * (checked builds report it). */
WEFT_API weft_buffers weft_slice_read_resource_buffer(const weft_slice *slice,
                                                      weft_component component);

/* As weft_slice_read_resource_buffer, for a resource declared WEFT_WRITE. Such a system must be
 * WEFT_SYSTEM_SERIAL, or have no rows and range: weft_system_create refuses others. */
WEFT_API weft_buffers weft_slice_write_resource_buffer(const weft_slice *slice,
                                                       weft_component component);

/* The buffer of a resource, as one row, for the owner. Errors, with count 0: BAD_HANDLE,
 * TYPE_MISMATCH (no RESOURCE, no BUFFER). Threads: owner. */
WEFT_API weft_buffers weft_resource_read_buffer(weft_world *world, weft_component component);

/* As weft_resource_read_buffer, for writing. Errors: also WRONG_PHASE (systems run). Threads:
 * owner. */
WEFT_API weft_buffers weft_resource_write_buffer(weft_world *world, weft_component component);

/* ---- read and write elements ---- */

/* Private: the header of a row, or NULL. */
static inline const weft_buffer *weft_buffers_row(const weft_buffers *buffers, uint32_t row)
{
    if (__builtin_expect(row >= buffers->count, 0)) return NULL;
    const void *header = (const char *)buffers->rows + (size_t)row * buffers->stride;
    return (const weft_buffer *)header;
}

/* Private: reports a row that must not be written; returns NULL. */
WEFT_API __attribute__((cold)) void *weft_buffers_refuse(const weft_buffers *buffers, uint32_t row);

/* The number of elements of a row; 0 when there is no such row. */
static inline uint32_t weft_buffers_length(const weft_buffers *buffers, uint32_t row)
{
    const weft_buffer *header = weft_buffers_row(buffers, row);
    return header == NULL ? 0 : header->count;
}

/* The elements of a row: an array of weft_buffers_length values; NULL when there is no such row.
 * Valid until the buffer grows. */
static inline const void *weft_buffers_read(const weft_buffers *buffers, uint32_t row)
{
    const weft_buffer *header = weft_buffers_row(buffers, row);
    return header == NULL ? NULL : weft_buffer_read(header);
}

/* As weft_buffers_read, for writing. NULL also when the buffers were opened for reading
 * (reported as by weft_buffers_append). */
static inline void *weft_buffers_write(const weft_buffers *buffers, uint32_t row)
{
    if (__builtin_expect(row >= buffers->writable_count, 0))
        return weft_buffers_refuse(buffers, row);
    return (void *)(uintptr_t)weft_buffer_read(weft_buffers_row(buffers, row));
}

/* ---- grow and shrink ---- */

/* Appends copies of the bytes of `count` elements, which may be elements of the same buffer. The
 * capacity doubles. Errors (buffer unchanged): INVALID_ARGUMENT (NULL, no such row),
 * UNDECLARED_ACCESS (opened for reading; reported as by weft_slice_write_buffers), WRONG_PHASE
 * (structure changed since it was opened), OUT_OF_MEMORY, LIMIT (2^32 - 2 elements). The world's
 * error is set, unless systems run or the rows belong to a recorder. Cost: amortised O(count). */
WEFT_API weft_result weft_buffers_append(const weft_buffers *buffers, uint32_t row,
                                         const void *elements, uint32_t count);

/* Sets the number of elements: new ones are zeroed and constructed, removed ones are destructed.
 * Memory on the heap stays until weft_buffers_reserve trims it. Errors: as weft_buffers_append. */
WEFT_API weft_result weft_buffers_resize(const weft_buffers *buffers, uint32_t row, uint32_t count);

/* Makes room for `capacity` elements, or trims to the number of elements, back inline when they
 * fit. Errors: as weft_buffers_append. */
WEFT_API weft_result weft_buffers_reserve(const weft_buffers *buffers, uint32_t row,
                                          uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
