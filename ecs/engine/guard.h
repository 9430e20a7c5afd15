/* SPDX-License-Identifier: MIT */
/* guard.h: copies of columns that checked builds hand out in place of the columns, so that stray
 * accesses are found and have no effect. Unchecked builds call nothing here.
 *
 * Before a callback the columns of its slice are copied into the ring of its worker, each copy
 * between two margins of a known pattern; after it the margins are compared (writes in front of the
 * first row and behind the last), copies that may only be read are compared with their column
 * (writes through a pointer that lost its const), the others are written back, and the copy is
 * filled with the pattern (a pointer that was kept reads nonsense, and what is written through it
 * is found when its place is looked at again), headers of buffers with zeros (they are empty).
 * Under AddressSanitizer a closed copy is poisoned instead, so that the access itself is reported.
 *
 * The callback gets its slice as a copy, too, with a context of its own, so that a pointer to the
 * slice and a copy of it are known once the call has ended (weft__slice_is_here). Slices of a
 * worker are given again as late as can be, after WEFT__GUARD_SLICES calls.
 *
 * A buffer that may only be read has its elements copied as well. Entity handles are copied as a
 * column for reading, and resources for reading when they are asked for. What is not copied: values
 * of chunks, shared values, values of look-ups, and what there is no room for.
 *
 * Threads: a guard belongs to one worker; reserve, sweep and reading the list of strays are the
 * owner's, while no worker has copies open. Opening nests (a callback may run jobs). */
#pragma once

#include "pile.h"
#include "slice_ops.h"

/* What was found. */
typedef enum weft__stray_kind {
    WEFT__STRAY_READ_WRITTEN, /* a column or resource for reading was written */
    WEFT__STRAY_HANDLE,       /* an entity handle was written */
    WEFT__STRAY_BEFORE,       /* in front of row 0 */
    WEFT__STRAY_BEHIND,       /* behind the last row */
    WEFT__STRAY_LATE,         /* through a pointer kept past the callback */
} weft__stray_kind;

#define WEFT__STRAY_NO_ROW UINT32_MAX
#define WEFT__GUARD_VALUE_MOST ((size_t)1 << 20) /* larger resources are not copied */
#define WEFT__GUARD_MARGINS ((size_t)512)        /* at most, around a resource */

/* A value; listed by its guard. places >= 1. */
typedef struct weft__stray {
    weft__stray_kind kind;
    uint32_t owner; /* whose copy it was: as given to open */
    uint32_t slice; /* index of the slice */
    uint32_t component;
    uint32_t row; /* the first one, of the slice; STRAY_NO_ROW: none of its rows */
    weft_entity entity;
    uint32_t places; /* slices in which the same was found */
} weft__stray;

/* One copy in a ring. Owner: its guard; its worker only. Always: begin <= values, values + bytes <=
 * end; what is not values holds the pattern, unless a stray wrote it. */
typedef struct weft__guard_part {
    char *begin, *end; /* with its margins */
    char *values;
    size_t bytes;
    const weft_entity *entities; /* of the rows, while it is open */
    char *real;                  /* the column; NULL: closed, or elements of buffers */
    char *elements;              /* read-only buffers: the copies of their elements */
    uint32_t row_bytes;
    uint32_t component;
    uint32_t element_bytes; /* read-only buffers: of one element; else 0 */
    uint32_t owner;
    uint32_t slice;
    unsigned char fill; /* of the values, once it is closed: PATTERN; headers of buffers: 0 */
    bool is_open;
    bool is_written;
    bool has_rows; /* a column; else elements of buffers, or the pointers to columns */
} weft__guard_part;

#define WEFT__GUARD_PARTS 1024u
#define WEFT__GUARD_SLICES 509u /* a prime: a slice kept for a number of steps meets another one */

/* What a callback has as its slice. Owner: its guard, for ever. */
typedef struct weft__given_slice {
    weft_slice_context context;       /* slice.context points here */
    const weft_slice_context *origin; /* of the dispatcher, while the call runs */
    uint32_t owner;                   /* as of strays */
    uint32_t number;                  /* another one with each call that begins or ends */
    weft_slice slice;                 /* chunk NULL: the call has ended */
} weft__given_slice;

/* The ring of a worker: places are used again as late as can be. Parts [first, end) are in it, from
 * old to new; part number n is parts[n % WEFT__GUARD_PARTS]. Owner: weft__guards. Always:
 *   end - first <= WEFT__GUARD_PARTS; next <= size. */
typedef struct weft__guard {
    _Alignas(64) char *ring;
    size_t size;
    size_t next; /* offset of the next part */
    uint64_t first, end;
    weft__guard_part *parts;
    weft__given_slice *given; /* [WEFT__GUARD_SLICES] */
    uint32_t given_next;
    WEFT__LIST(weft__stray) strays; /* found and not yet reported, one of a kind */
    const weft_entity *handles;     /* the copy that was closed last; NULL: none yet */
    weft__pile pile; /* of parts, slices, ring, and smaller rings: pointers into them may be kept */
} weft__guard;

/* Owned by the world: one per worker of its pool, in order. */
typedef struct weft__guards {
    uint32_t count;
    weft__guard guards[];
} weft__guards;

/* The copies of one call; on the stack of who calls. */
typedef struct weft__guard_frame {
    uint64_t first;    /* part; all from it on are closed with the frame */
    weft_slice *slice; /* that the callback has */
} weft__guard_frame;

/* What a term's column is handed out as. */
typedef enum weft__guard_mode {
    WEFT__GUARD_NOT, /* as it is: others may write it meanwhile, or it is reached other ways */
    WEFT__GUARD_READ,
    WEFT__GUARD_WRITE,
} weft__guard_mode;

/* Makes room for slices whose columns and margins take `bytes` together. Memory that cannot be had
 * is no error: what has no room is not copied. Owner. */
void weft__guards_reserve(weft_world *world, size_t bytes);
/* Bytes that the columns of terms take in a slice of `rows` rows. */
size_t weft__guard_bytes(const weft__layout *layout, uint32_t rows, const weft__place *places,
                         uint32_t term_count);
void weft__guards_free(weft_world *world);
/* The guard of a worker, or NULL. */
weft__guard *weft__guard_of(const weft_world *world, uint32_t worker);

/* frame->slice is for the callback: `slice` with copies of its columns and entities; without memory
 * `slice` itself. `modes` [term], NULL: as the terms were declared. `owner`: who is named by
 * strays. `guard` may be NULL. */
void weft__guard_open(weft__guard *guard, weft_slice *slice, const uint8_t *modes, uint32_t owner,
                      weft__guard_frame *frame);
/* Compares, writes back, and ends the slice. Frames of a worker are closed in the reverse order. */
void weft__guard_close(weft__guard *guard, const weft__guard_frame *frame);
/* The context that the dispatcher gave to a slice whose call runs. */
static inline const weft_slice_context *weft__slice_origin(const weft_slice *slice)
{
    if (!WEFT_IS_CHECKED || (slice->calls & WEFT__SLICE_GIVEN) == 0) return slice->context;
    return ((const weft__given_slice *)slice->context)->origin;
}
/* A copy of a resource for reading, closed with the innermost open frame; the resource itself where
 * there is no room. Its worker, inside the call for `slice`. `guard` may be NULL. */
void *weft__guard_value(weft__guard *guard, const weft__type *type, uint32_t owner,
                        const weft_slice *slice);
/* Looks at all closed copies. */
void weft__guard_sweep(weft__guard *guard);
/* What to tell of a stray. */
const char *weft__stray_text(weft__stray_kind kind);
