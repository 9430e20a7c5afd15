/* slice.h: what a system or a cursor sees: a run of rows of one chunk, as column pointers.
 *
 * Public. The fields of weft_slice are filled by the engine and read only; use the inline
 * functions, which cost a load, and which checked builds of the library verify (right term,
 * declared access). Pointers live until the callback returns or the cursor advances. Threads:
 * the one that was given the slice, and no other. */
#ifndef WEFT_SLICE_H
#define WEFT_SLICE_H

#include <weft/entity.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_recorder weft_recorder; /* commands.h */

/* What a term does with its component. */
typedef enum weft_access {
    WEFT_READ = 0,
    WEFT_WRITE = 1,     /* stamps the change version of the slices visited, or of those whose column
                           is asked for (weft_query_desc.stamp_asked) */
    WEFT_NO_ACCESS = 2, /* only matches */
} weft_access;

typedef struct weft_slice {
    uint32_t count;      /* rows */
    uint32_t term_count; /* terms of the query */
    void *const
        *columns; /* [term]: first row, or NULL (tag, absent optional, shared, none); of a BUFFER
                             for weft_slice_write_buffers only */
    const weft_entity *entities; /* [row] */
    const uint64_t *enabled; /* bit per row (bits >= count are 0), NULL when every row is enabled */
    uint64_t first;          /* rows before it in the query (filters and enable bits not counted):
                                    disjoint [first, first + count) index ranges per slice */
    uint32_t index;          /* position in the query: stable for a layout, for any worker count */
    uint32_t worker;         /* 0..workers-1: index of per-worker scratch, never of results */
    float dt;                /* seconds of this step; 0 outside systems */
    uint32_t calls;          /* private: not 0: asking for a column is a call (weft_slice_calls) */
    const void *chunk;       /* private */
    const void *places;      /* private: where the terms are in the chunk's archetype */
    const void *context;     /* private: weft_slice_context */
} weft_slice;

/* Private: why asking for a column is a call. */
typedef enum weft_slice_calls {
    WEFT_SLICE_CHECKED = 1 << 0, /* checked builds of the library */
    WEFT_SLICE_STAMPS = 1 << 1,  /* the query stamps what is asked for */
    WEFT_SLICE_BUFFERS = 1 << 2, /* a term is a BUFFER, whose column is not given */
    WEFT_SLICE_ROWS = 1 << 3,    /* rows that a recorder gave (weft_recorder_create_rows) */
} weft_slice_calls;

/* Private: what stands behind a slice. */
typedef struct weft_slice_context {
    const void *ops;
    weft_world *world;
    const void *query;
    uint32_t stamp; /* change version that writes get */
    uint32_t since; /* change version of the last run of the system; 0: none */
} weft_slice_context;

/* Private: the column of a term, stamped if its query wants that. Checked builds report an access
 * that is not declared; NULL (and a report) when there is no such term. */
WEFT_API void *weft_slice_ask(const weft_slice *slice, uint32_t term, weft_access access);
/* Private: the same for values of C type `type` of `size` bytes. When the term holds another one,
 * checked builds report it and give memory of which nothing is kept, or NULL outside of systems. */
WEFT_API void *weft_slice_ask_as(const weft_slice *slice, uint32_t term, weft_access access,
                                 size_t size, const char *type);

static inline uint32_t weft_slice_count(const weft_slice *slice)
{
    return slice->count;
}

static inline float weft_slice_dt(const weft_slice *slice)
{
    return slice->dt;
}

static inline uint32_t weft_slice_worker(const weft_slice *slice)
{
    return slice->worker;
}

/* Entity handles of the rows. */
static inline const weft_entity *weft_slice_entities(const weft_slice *slice)
{
    return slice->entities;
}

/* The column of a term for writing: an array of weft_slice_count values. NULL for an absent
 * optional. */
static inline void *weft_slice_write(const weft_slice *slice, uint32_t term)
{
    if (__builtin_expect(slice->calls != 0, 0)) return weft_slice_ask(slice, term, WEFT_WRITE);
    return slice->columns[term];
}

/* The column of a term for reading. */
static inline const void *weft_slice_read(const weft_slice *slice, uint32_t term)
{
    if (__builtin_expect(slice->calls != 0, 0)) return weft_slice_ask(slice, term, WEFT_READ);
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
static inline const void *weft_slice_read_as(const weft_slice *slice, uint32_t term, size_t size,
                                             const char *type)
{
    if (__builtin_expect(slice->calls != 0, 0))
        return weft_slice_ask_as(slice, term, WEFT_READ, size, type);
    return slice->columns[term];
}

/* The columns as arrays of a C type: Position *p = WEFT_WRITE_COLUMN(slice, 0, Position). Checked
 * builds compare the type with the component of the term: its size, and its name when it was
 * registered with WEFT_COMPONENT. */
#define WEFT_WRITE_COLUMN(slice, term, type)                                                       \
    ((type *)weft_slice_write_as((slice), (term), sizeof(type), #type))
#define WEFT_READ_COLUMN(slice, term, type)                                                        \
    ((const type *)weft_slice_read_as((slice), (term), sizeof(type), #type))

/* Visits runs of enabled rows: uint32_t begin = 0, end = 0; while (weft_slice_next_run(s, &begin,
 * &end)) for (i = begin; i < end; i++) ... With no mask there is one run. */
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

/* A walk over the enabled rows of a slice one by one: quicker than runs where masks are scattered
 * (runs of two or three rows). Start with {0}. */
typedef struct weft_slice_walk {
    size_t row;    /* the current row */
    uint64_t left; /* private: bits of the current 64 rows still to come, */
    uint32_t base; /* which begin here, */
    uint32_t next; /* and the first row of the next 64 */
} weft_slice_walk;

/* weft_slice_walk w = {0}; while (weft_slice_next_row(s, &w)) ... p[w.row] ... With no mask it
 * visits every row; a plain loop does that faster. */
static inline bool weft_slice_next_row(const weft_slice *slice, weft_slice_walk *walk)
{
    while (__builtin_expect(walk->left == 0, 0)) { /* out of the loop's way: 0.25 ns a row */
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

/* Shared value of the chunk for a term on a SHARED component (the default when never set). */
WEFT_API const void *weft_slice_read_shared(const weft_slice *slice, uint32_t term);
/* The value of the chunk for a term on a CHUNK component: the way to read and write it, in systems
 * and in loops of the owner (weft_query_begin). Every slice of a chunk sees the same one;
 * WEFT_WRITE stamps the version of all of them. Systems that write it are dispatched with whole
 * chunks. NULL when absent. */
WEFT_API const void *weft_slice_read_chunk(const weft_slice *slice, uint32_t term);
WEFT_API void *weft_slice_write_chunk(const weft_slice *slice, uint32_t term);
/* Sets the enable bit of a row for a term declared WEFT_WRITE. Safe for several slices of one chunk
 * at once. Takes effect at once, also for later systems; not for the mask of this slice. */
WEFT_API void weft_slice_enable(const weft_slice *slice, uint32_t term, uint32_t row, bool enabled);

/* ---- change versions (query.h, filters: what stamps them) ---- */

/* True when values of the term changed, in a slice that these rows lie in, after `version` (what
 * stamps is in docs/guide/queries.md); 0: true. False when the component is absent. In a system
 * a change is one since its last run with weft_slice_since; a term that the system itself writes
 * always changed, unless the query has stamp_asked and the column was not asked for yet. The
 * system must have WEFT_SYSTEM_ASKS_CHANGES, else the answer is true (and checked builds report
 * it). Cost: O(slices in the run). */
WEFT_API bool weft_slice_changed_since(const weft_slice *slice, uint32_t term, uint32_t version);
/* True when rows of the chunk came, went or moved after `version`; 0: true. O(1). */
WEFT_API bool weft_slice_order_changed_since(const weft_slice *slice, uint32_t version);
/* The newest change version of the term in these rows; 0 when absent. Systems: as
 * weft_slice_changed_since; without the flag the version that its own writes get. */
WEFT_API uint32_t weft_slice_change_version(const weft_slice *slice, uint32_t term);
/* The version of the last run of the system: what it has seen; 0 in its first one, and outside
 * systems (there remember weft_world_change_version). */
WEFT_API uint32_t weft_slice_since(const weft_slice *slice);

/* ---- inside systems: other entities and resources, as declared ---- */

/* Value of another entity; the component must be a declared lookup of the system (or, outside
 * systems, anything). NULL when dead or absent. Cost: a hash-free look-up, three dependent loads.
 */
WEFT_API const void *weft_slice_read_entity(const weft_slice *slice, weft_entity entity,
                                            weft_component component);
/* The same for writing; declared as a write lookup. Two rows of different slices must not write the
 * same entity: a system with write lookups that may collide must be declared single. */
WEFT_API void *weft_slice_write_entity(const weft_slice *slice, weft_entity entity,
                                       weft_component component);
/* A declared resource (RESOURCE component). */
WEFT_API const void *weft_slice_read_resource(const weft_slice *slice, weft_component component);
WEFT_API void *weft_slice_write_resource(const weft_slice *slice, weft_component component);
/* The recorder of commands of this slice, good until the callback returns (checked builds report
 * later use); its order is (system, slice, sequence). NULL outside systems. */
WEFT_API weft_recorder *weft_slice_recorder(const weft_slice *slice);
/* The world, for const functions only while systems run. */
WEFT_API weft_world *weft_slice_world(const weft_slice *slice);

#ifdef __cplusplus
}
#endif
#endif
