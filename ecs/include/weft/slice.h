/* SPDX-License-Identifier: MIT */
/* slice.h: what a system or a cursor sees: a run of rows of one chunk, as columns.
 *
 * Public. The library fills a weft_slice; its fields are read only. Use the inline functions: they
 * cost a load, and checked builds verify term and access. Pointers are valid until the callback
 * returns or the cursor advances. Threads: callback (the thread that was given the slice). */
#ifndef WEFT_SLICE_H
#define WEFT_SLICE_H

#include <weft/entity.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_recorder weft_recorder; /* commands.h */

/* ---- slice ---- */

/* What a term does with its component. */
typedef enum weft_access {
    WEFT_READ = 0,
    WEFT_WRITE = 1,     /* stamps the change version of the slices visited, or with
                           weft_query_desc.stamps_asked of those whose column is requested */
    WEFT_NO_ACCESS = 2, /* only matches */
} weft_access;

/* Rows of one chunk that a query selects. */
typedef struct weft_slice {
    uint32_t count;       /* rows */
    uint32_t term_count;  /* terms of the query */
    void *const *columns; /* [term]: first row, NULL for a tag, a shared or an absent component.
                             Of a BUFFER: buffers.h */
    const weft_entity *entities; /* [row] */
    const uint64_t *enabled; /* bit per row (bits >= count are 0), NULL when every row is enabled */
    uint64_t first;          /* rows of the query before it, filters and enable bits ignored: the
                                slice has the range [first, first + count) */
    uint32_t index;          /* position in the query: the same for any number of workers */
    uint32_t worker;         /* 0..workers-1, for scratch memory per worker; results must not
                                depend on it */
    float dt;                /* seconds of this step; 0 outside systems */
    uint32_t calls;          /* private: not 0: requesting a column is a call (weft_slice_calls) */
    const void *chunk;       /* private */
    const void *places;      /* private: where the terms are in the chunk's archetype */
    const void *context;     /* private: weft_slice_context */
} weft_slice;

/* Private: why requesting a column is a call. */
typedef enum weft_slice_calls {
    WEFT_SLICE_CHECKED = 1 << 0, /* checked builds of the library */
    WEFT_SLICE_STAMPS = 1 << 1,  /* the query stamps requested columns */
    WEFT_SLICE_BUFFERS = 1 << 2, /* a term is a BUFFER, whose column is not given */
    WEFT_SLICE_ROWS = 1 << 3,    /* rows of weft_recorder_create_rows; the bits above tell in which
                                    round of the recorder */
} weft_slice_calls;

/* Private: the query and the world of a slice. */
typedef struct weft_slice_context {
    const void *ops;
    weft_world *world;
    const void *query;
    uint32_t stamp;                 /* change version that writes get */
    uint32_t since;                 /* change version of the last run of the system; 0: none */
    const struct weft_frame *frame; /* of the system; NULL: that of the world */
} weft_slice_context;

/* ---- rows ---- */

/* The number of rows. */
static inline uint32_t weft_slice_count(const weft_slice *slice)
{
    return slice->count;
}

/* Seconds of this step; 0 outside systems. */
static inline float weft_slice_dt(const weft_slice *slice)
{
    return slice->dt;
}

/* The worker that runs the slice, 0..workers-1: an index for scratch memory. Results must not
 * depend on it. */
static inline uint32_t weft_slice_worker(const weft_slice *slice)
{
    return slice->worker;
}

/* The entities of the rows. */
static inline const weft_entity *weft_slice_entities(const weft_slice *slice)
{
    return slice->entities;
}

/* ---- columns ---- */

/* Private: the column of a term, stamped when the query has stamps_asked. Checked builds report an
 * access that is not declared; there is no such term: NULL, in them memory that stands in. */
WEFT_API void *weft_slice_ask(const weft_slice *slice, uint32_t term, weft_access access);

/* Private: as weft_slice_ask, for values of C type `type` of `size` bytes. When the term holds
 * another type, checked builds report it and give memory that stands in. */
WEFT_API void *weft_slice_ask_as(const weft_slice *slice, uint32_t term, weft_access access,
                                 size_t size, const char *type);

/* The column of a term for reading: an array of weft_slice_count values. NULL for a tag, a SHARED,
 * CHUNK or BUFFER component (each has functions of its own) and an absent optional one. */
static inline const void *weft_slice_read(const weft_slice *slice, uint32_t term)
{
    if (__builtin_expect(slice->calls != 0, 0)) return weft_slice_ask(slice, term, WEFT_READ);
    return slice->columns[term];
}

/* As weft_slice_read, for writing. */
static inline void *weft_slice_write(const weft_slice *slice, uint32_t term)
{
    if (__builtin_expect(slice->calls != 0, 0)) return weft_slice_ask(slice, term, WEFT_WRITE);
    return slice->columns[term];
}

/* Private: what the macros below call. */
static inline void *weft_slice_write_as(const weft_slice *slice, uint32_t term, size_t size,
                                        const char *type)
{
    if (__builtin_expect(slice->calls != 0, 0))
        return weft_slice_ask_as(slice, term, WEFT_WRITE, size, type);
    return slice->columns[term];
}

/* Private: what the macros below call. */
static inline const void *weft_slice_read_as(const weft_slice *slice, uint32_t term, size_t size,
                                             const char *type)
{
    if (__builtin_expect(slice->calls != 0, 0))
        return weft_slice_ask_as(slice, term, WEFT_READ, size, type);
    return slice->columns[term];
}

/* The column of a term as an array of a C type: Position *p = WEFT_WRITE_COLUMN(slice, 0,
 * Position). Checked builds compare the type with the component of the term: its size, and its
 * name when it was registered with WEFT_COMPONENT. */
#define WEFT_WRITE_COLUMN(slice, term, type)                                                       \
    ((type *)weft_slice_write_as((slice), (term), sizeof(type), #type))
#define WEFT_READ_COLUMN(slice, term, type)                                                        \
    ((const type *)weft_slice_read_as((slice), (term), sizeof(type), #type))

/* The value of a term in one row, for reading: of a SPARSE component that rows of other components
 * are asked for, else an element of the column. NULL when the row's entity lacks it (an OPTIONAL
 * term), and for a tag. Cost: a look-up by entity where the term is SPARSE. */
WEFT_API const void *weft_slice_read_row(const weft_slice *slice, uint32_t term, uint32_t row);

/* As weft_slice_read_row, for writing: stamps the change version of the value's slice. */
WEFT_API void *weft_slice_write_row(const weft_slice *slice, uint32_t term, uint32_t row);

/* ---- enabled rows ---- */

/* Visits the runs of enabled rows; without a mask there is one run.
 *   uint32_t begin = 0, end = 0;
 *   while (weft_slice_next_run(slice, &begin, &end)) for (uint32_t i = begin; i < end; i++) ... */
static inline bool weft_slice_next_run(const weft_slice *slice, uint32_t *begin, uint32_t *end)
{
    uint32_t row = *end, count = slice->count;
    if (slice->enabled == NULL) {
        *begin = row;
        *end = count;
        return row < count;
    }
    const uint64_t *words = slice->enabled;
    while (row < count) { /* first enabled row at or after `row` */
        uint64_t word = words[row >> 6] >> (row & 63);
        if (word != 0) {
            row += (uint32_t)__builtin_ctzll(word);
            break;
        }
        row = (row | 63) + 1;
    }
    if (row >= count) return false;
    *begin = row;
    while (row < count) { /* first disabled row after it */
        uint64_t word = ~words[row >> 6] >> (row & 63);
        if (word != 0) {
            row += (uint32_t)__builtin_ctzll(word);
            break;
        }
        row = (row | 63) + 1;
    }
    *end = row < count ? row : count;
    return true;
}

/* A walk over the enabled rows of a slice, one by one: faster than runs where enabled rows are
 * scattered (runs of two or three rows). Zero-initialise. */
typedef struct weft_slice_walk {
    size_t row;    /* the current row */
    uint64_t left; /* private: bits of the current 64 rows still to come, */
    uint32_t base; /* which begin here, */
    uint32_t next; /* and the first row of the next 64 */
} weft_slice_walk;

/* Advances to the next enabled row; false at the end. Without a mask it visits every row, which a
 * plain loop does faster.
 *   weft_slice_walk walk = {0};
 *   while (weft_slice_next_row(slice, &walk)) ... p[walk.row] ... */
static inline bool weft_slice_next_row(const weft_slice *slice, weft_slice_walk *walk)
{
    while (__builtin_expect(walk->left == 0, 0)) { /* apart from the loop: saves 0.25 ns a row */
        uint32_t row = walk->next;
        if (row >= slice->count) return false;
        uint32_t rows = slice->count - row;
        walk->base = row;
        walk->next = row + 64;
        walk->left = slice->enabled != NULL ? slice->enabled[row >> 6]
                                            : ~UINT64_C(0) >> (rows < 64 ? 64 - rows : 0);
    }
    walk->row = walk->base + (uint32_t)__builtin_ctzll(walk->left);
    walk->left &= walk->left - 1;
    return true;
}

/* Sets the enable bit of a row, for a term declared WEFT_WRITE. Slices of one chunk may do so at
 * once. Takes effect immediately, except in the mask of this slice. */
WEFT_API void weft_slice_enable(const weft_slice *slice, uint32_t term, uint32_t row, bool enabled);

/* ---- shared and chunk values ---- */

/* The shared value of the rows for a term on a SHARED component; all zero when it was never set. */
WEFT_API const void *weft_slice_read_shared(const weft_slice *slice, uint32_t term);

/* The value of the chunk for a term on a CHUNK component, for reading, in systems and in loops
 * of the owner (weft_query_begin). All slices of a chunk have the same value. NULL when absent. */
WEFT_API const void *weft_slice_read_chunk(const weft_slice *slice, uint32_t term);

/* As weft_slice_read_chunk, for writing: stamps the versions of all slices of the chunk. A system
 * with a WRITE term on a CHUNK component is called with whole chunks. */
WEFT_API void *weft_slice_write_chunk(const weft_slice *slice, uint32_t term);

/* ---- changes ----
 *
 * docs/guide/queries.md says what stamps change versions. */

/* Whether values of the term changed after `version` in these rows; true for version 0, false when
 * the component is absent. A system passes weft_slice_since for changes since its last run. A term
 * that it writes counts as changed, unless the query has stamps_asked and the column was not
 * requested yet. The system needs WEFT_SYSTEM_ASKS_CHANGES; without it the answer is true (checked
 * builds report it). Cost: O(slices in the run). */
WEFT_API bool weft_slice_changed_since(const weft_slice *slice, uint32_t term, uint32_t version);

/* Whether rows of the chunk came, left or moved after `version`; true for version 0. */
WEFT_API bool weft_slice_order_changed_since(const weft_slice *slice, uint32_t version);

/* The newest change version of the term in these rows: the weft_world_change_version of the last
 * write; 0 when absent. Systems need WEFT_SYSTEM_ASKS_CHANGES; without it they get the version of
 * their own writes. */
WEFT_API uint32_t weft_slice_change_version(const weft_slice *slice, uint32_t term);

/* The change version of the system's last run; 0 in its first run and outside systems, where the
 * caller keeps weft_world_change_version. */
WEFT_API uint32_t weft_slice_since(const weft_slice *slice);

/* ---- beyond the rows ----
 *
 * Inside systems: other entities and resources, as the system declares them. */

/* The value of another entity, for reading. In a system the component must be one of its `lookups`.
 * NULL when the entity, or its residue, lacks it; checked builds never answer a mistake with it.
 * Cost: three loads. */
WEFT_API const void *weft_slice_read_entity(const weft_slice *slice, weft_entity entity,
                                            weft_component component);

/* As weft_slice_read_entity, for a lookup declared WEFT_WRITE. Two slices must not write the same
 * entity: declare the system WEFT_SYSTEM_SERIAL where they could. */
WEFT_API void *weft_slice_write_entity(const weft_slice *slice, weft_entity entity,
                                       weft_component component);

/* The value of a RESOURCE component that is one of the system's `resources`, for reading. */
WEFT_API const void *weft_slice_read_resource(const weft_slice *slice, weft_component component);

/* As weft_slice_read_resource, for a resource declared WEFT_WRITE. */
WEFT_API void *weft_slice_write_resource(const weft_slice *slice, weft_component component);

/* The recorder of this slice (commands.h), valid until the callback returns; checked builds report
 * later use. Commands take effect in the order (system, slice, sequence). NULL outside systems, and
 * in BACKGROUND systems that run on beside sync points (system.h). */
WEFT_API weft_recorder *weft_slice_recorder(const weft_slice *slice);

/* The world. While systems run only functions that do not change it may be called. */
WEFT_API weft_world *weft_slice_world(const weft_slice *slice);

#ifdef __cplusplus
}
#endif
#endif
