/* SPDX-License-Identifier: MIT */
/* section_read.h: the front of a section file, read and checked: what is needed to reserve room for
 * its sections; and the work of a thread on a load: the table of a section, and its pieces.
 *
 * Untrusted bytes: every number is compared with what is there before it is used. Owned by the
 * stream; constant after it was read, so that threads may use it. */
#pragma once

#include "bytes.h"
#include "file_problem.h"
#include "section_format.h"
#include "stream_crew.h"

/* What rows of a shape are in this world. */
typedef struct weft__front_shape {
    const uint32_t *types; /* [type_count] numbers in the file, ascending by component id */
    uint32_t type_count;
    weft__archetype *archetype; /* with Section */
} weft__front_shape;

/* Always: the sum of the rows of its pieces is `rows`. */
typedef struct weft__front_run {
    uint32_t shape, rows, first_piece, piece_count;
    const char *shared; /* its shared values, as the file has them */
} weft__front_run;

/* Always: rows fit one chunk of the shape; [at, at + bytes) is in the file. */
typedef struct weft__front_piece {
    uint32_t run, rows;
    uint32_t first; /* number of its first row in the section */
    uint64_t at, bytes, hash;
} weft__front_piece;

/* Owned by the front, constant. Always: [at, at + bytes) is in the file; table_bytes <= bytes. */
typedef struct weft__front_section {
    bool has_bounds;
    float least[3], most[3];
    uint64_t at, bytes, table_bytes, table_hash;
    uint32_t rows, first_run, run_count, first_piece, piece_count;
    uint32_t export_count, late_count, blob_count, name_count;
} weft__front_section;

/* Owner: its stream. Constant after weft__front_open; read by any thread. */
typedef struct weft__file_front {
    weft_world *world;
    weft__pile pile; /* of all of it */
    weft__file_source file;
    bool is_open; /* `file` */
    weft__section_header header;
    char *bytes;              /* [header.front_bytes] */
    const weft__type **types; /* [header.type_count] */
    weft__front_shape *shapes;
    weft__front_section *sections;
    weft__front_run *runs;
    weft__front_piece *pieces;
} weft__file_front;

/* Opens and reads; makes the archetypes. Errors set: `file` may be open. */
weft_result weft__front_open(weft__file_front *front, const char *path);

/* weft__crew_job.run of a load. */
void weft__section_fill(weft__crew_job *job, uint32_t piece, uint32_t thread);
