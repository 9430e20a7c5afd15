/* SPDX-License-Identifier: MIT */
/* row_diff.h: diff: which rows of a component came, went or may have other values since the last
 * look, by change versions.
 *
 * A *mirror* holds the entities of a chunk as they were at the last look. A chunk whose order
 * changed since then is compared with its mirror as a whole, of another one only slices that were
 * written. A look lists such rows as *pieces*, in the order of archetypes and chunks; the caller
 * compares them (in jobs, if it likes), makes the mirrors current, and says so. A stamp of the
 * version that the world still has may come again: what bears it is listed at the next look, too.
 * Owner, world idle. */
#pragma once

#include "archetype_state.h"

#define WEFT__PIECE_ROWS 8192u /* at most */

struct weft__renewal;

/* The rows of one chunk as of the last look. Owner: its diff, at mirrors[chunk id]. Always: count
 * <= capacity. One block with its arrays. */
typedef struct weft__mirror {
    uint64_t serial; /* of the chunk */
    uint64_t look;   /* the last one that met it */
    uint32_t level;  /* of the chunk; 0: none */
    uint32_t count;
    uint32_t capacity;
    uint32_t value_bytes; /* of diff->value_bytes when it was made */
    weft_entity *rows;
    void *values; /* of value_bytes a row: the caller's */
} weft__mirror;

/* Rows to be compared. A value. */
typedef struct weft__row_piece {
    weft__mirror *mirror;
    const weft__chunk *chunk; /* NULL: it is gone, and the rows of the mirror are */
    weft__place place;        /* of the component in the chunk */
    uint32_t first;
    uint32_t end;        /* of the rows of the chunk or those of the mirror: whichever are more */
    uint32_t noted;      /* the caller's */
    bool has_other_rows; /* rows may have come or gone; else the entities are as mirrored */
} weft__row_piece;

/* Owner: what compares. Constant before `seen`, but for has_values. */
typedef struct weft__row_diff {
    weft_world *world;
    weft__memory_category category;
    uint32_t component;   /* 0: all entities */
    uint32_t without;     /* archetypes with one of these flags are not looked at */
    uint32_t value_bytes; /* of a row in a mirror */
    bool has_values;      /* rows in slices that were written are listed, too */
    uint32_t (*level)(const void *user, const weft__chunk *chunk); /* NULL: none has one. All rows
                                       of a chunk that has another one went, and came with it */
    const void *user;
    uint32_t seen; /* versions after it are news; 0: all are */
    uint64_t look;
    uint64_t rows;                      /* in the chunks of the last look */
    uint64_t listed;                    /* of them, in pieces */
    WEFT__LIST(weft__mirror *) mirrors; /* [chunk id]; NULL: none */
    WEFT__LIST(weft__mirror *) gone;    /* whose chunks are */
    WEFT__LIST(weft__row_piece) pieces;
} weft__row_diff;

/* Bytes of a mirror with room for `capacity` rows. */
static inline size_t weft__mirror_bytes(uint32_t capacity, uint32_t value_bytes)
{
    return sizeof(weft__mirror) + capacity * (sizeof(weft_entity) + value_bytes);
}

/* Whether WEFT__ROWS_AT_ONCE handles are the same. */
#define WEFT__ROWS_AT_ONCE 8u
static inline bool weft__rows_are_same(const void *a, const void *b)
{
    typedef uint64_t two_rows __attribute__((vector_size(16), aligned(8), may_alias));
    const two_rows *x = a, *y = b;
    two_rows other = ((x[0] ^ y[0]) | (x[1] ^ y[1])) | ((x[2] ^ y[2]) | (x[3] ^ y[3]));
    return (other[0] | other[1]) == 0;
}

/* Lists what is to be compared. False: no memory; only a reset helps. */
bool weft__row_diff_look(weft__row_diff *diff);
/* The mirrors have the rows of the pieces now. What is stamped from now on is news; `is_spent`: but
 * for the version that the world has. */
void weft__row_diff_seen(weft__row_diff *diff, bool is_spent);
/* Mirrors have room for values of `bytes` a row, which the caller sets. False: no memory; some
 * have. */
bool weft__row_diff_widen(weft__row_diff *diff, uint32_t bytes);
/* Forgets all rows and versions: at the next look every row comes. */
void weft__row_diff_reset(weft__row_diff *diff);
void weft__row_diff_fini(weft__row_diff *diff);
