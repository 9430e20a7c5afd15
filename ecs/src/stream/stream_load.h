/* SPDX-License-Identifier: MIT */
/* stream_load.h: the streams of a world, their sections, and the jobs that read sections and take
 * them away. Owner of the world, idle, but for what a job has while the crew has it. */
#pragma once

#include "directory_lend.h"
#include "section_read.h"

/* A reference to another section, of an entity of a section that is there. */
typedef struct weft__loaded_late {
    weft_entity source;
    uint32_t component, element, offset; /* the field */
    uint32_t section, target;            /* export of that section */
    weft_entity written; /* what the field was given last; null: nothing, or it was cleared */
} weft__loaded_late;

/* A chunk that a section came with, as it was then. A value. */
typedef struct weft__loaded_chunk {
    uint32_t id;
    uint32_t version; /* order_version: unchanged while the same rows are in it */
    uint64_t serial;
    uint32_t first, rows; /* rows of the section */
} weft__loaded_chunk;

/* What a section was read into: filled by a load, kept while the section is there. Owner: the
 * load, then the section. */
typedef struct weft__loaded {
    weft__pile pile; /* of all of it */
    uint32_t block_count, chunk_count, export_count, late_count, blob_count;
    uint32_t *blocks; /* indices of entity blocks; the last one may have other entities */
    weft__loaded_chunk *chunks;
    weft_entity *exports;
    weft__loaded_late *lates; /* ascending `section` */
    weft_blob_ref *blobs;     /* one reference each */
} weft__loaded;

/* A section that is read. Its job has piece 0: the table; then one per piece of the file. Owner:
 * weft__load_begin to load_end; between push and DONE the crew has what is marked so. */
typedef struct weft__load {
    weft__crew_job job; /* first */
    weft__pile pile;    /* of all but what `loaded` has; at last of the thread of piece 0 */
    struct weft_stream *stream;
    uint32_t section;
    uint64_t due; /* lockstep: the step that publishes it */
    /* constant while the crew has it */
    weft__tuple **tuples;       /* [run of the section]; held */
    uint32_t *locations;        /* [piece of the section] */
    weft__lent_block *blocks;   /* [loaded.block_count] */
    uint64_t *handles;          /* [loaded.block_count] of the first slots; by piece 0 */
    const weft_entity *exports; /* of section 0, or NULL */
    uint32_t export_count;
    /* the crew's */
    weft__chunk **chunks; /* [piece]; each by the thread of its piece */
    weft__loaded loaded;  /* by the thread of piece 0 */
    weft__in names;       /* of the table */
    weft_a32 x_failed;    /* weft_result of the first failure, whose thread writes `text` */
    char text[160];
} weft__load;

/* Chunks and blocks of a section that left; destroyed by the crew. */
typedef struct weft__leave {
    weft__crew_job job; /* first */
    weft__pile pile;    /* of all of it */
    struct weft_stream *stream;
    uint32_t section;
    uint32_t chunk_count, block_count;
    weft__chunk **chunks;
    weft__lent_block *blocks;
    uint64_t *intact; /* bit per block: while it begins */
} weft__leave;

/* What became of a section. Owner: its stream. Always: index != 0 <=> READING, LOADED or
 * LEAVING. */
typedef struct weft__stream_section {
    weft_section_state state;
    weft_result result;           /* FAILED */
    bool is_wanted;               /* by a call */
    uint32_t requests;            /* entities that ask, counted by each step */
    float priority, own_priority; /* of all; of the call */
    uint64_t asked;               /* step that saw the request first; 0: none does */
    uint64_t let_go;              /* step that saw that none asks any more */
    uint32_t index; /* of its shared value of Section, while it has a load or is there */
    uint64_t bytes; /* memory of its rows */
    weft__load *load;
    weft__leave *leave;
    weft__loaded loaded;
    char text[160];
} weft__stream_section;

/* Owned by the streams of its world until it is closed, in the pile of its front. Owner only; the
 * crew reads front, desc and path, which are constant after opening. Always: sections[i].load !=
 * NULL <=> READING. */
struct weft_stream {
    struct weft_stream *next; /* in order of opening */
    weft_world *world;
    struct weft__streams *streams;
    weft__file_front front;
    weft_stream_desc desc;
    const weft_blob_type **blob_types;
    char *path;
    uint32_t number;
    bool is_closing;
    weft__stream_section *sections; /* [front.header.section_count] */
};

/* Entity blocks that are made ahead (stream.c). Owner: its streams; the crew's between push
 * and DONE: slab. */
typedef struct weft__room {
    weft__crew_job job; /* first */
    weft__directory *directory;
    uint32_t count; /* blocks to make */
    bool is_out;    /* asked for, not taken yet */
    bool has_failed;
    weft__block_slab *slab; /* NULL: no memory */
} weft__room;

/* Of a world: an extension. */
typedef struct weft__streams {
    weft_world *world;
    weft_stream *first;
    uint32_t last_number;
    weft__crew crew;
    bool has_crew;
    weft__room room;
    uint64_t step; /* calls of weft_stream_step */
    weft_component section, request;
    weft_query requests; /* of request; null until it is asked for */
    uint64_t bytes;      /* of sections that are there or being read */
    weft_stream_stats stats;
} weft__streams;

/* Those of the world, or NULL. */
weft__streams *weft__streams_of(const weft_world *world);

static inline const weft__front_section *weft__section_of(const weft_stream *stream,
                                                          uint32_t section)
{
    return &stream->front.sections[section];
}

static inline weft__pile weft__stream_pile(weft_world *world)
{
    return (weft__pile){.memory = &world->memory, .category = WEFT__MEMORY_OTHER};
}

/* Memory that rows of a section take. */
uint64_t weft__section_memory(const weft_stream *stream, uint32_t section);
/* Reserves ids, places and shared values, and hands the section to the crew. Section 0 is there, or
 * it is this one. Errors set (nothing changed): OUT_OF_MEMORY, LIMIT. */
weft_result weft__load_begin(weft_stream *stream, uint32_t section, uint64_t due);
/* Puts a section that was read into the world. Errors set (nothing changed; try again):
 * OUT_OF_MEMORY, LIMIT. Cost: O(chunks + blocks), late references, names. */
weft_result weft__load_publish(weft_stream *stream, uint32_t section);
/* Gives up a section whose job is done: its rows are taken away as those of one that leaves. Error
 * set: OUT_OF_MEMORY. */
weft_result weft__load_abandon(weft_stream *stream, uint32_t section);

/* Takes a section out. Chunks that are as they came are handed to the crew, with their entity
 * blocks; entities in others end here. Errors set: OUT_OF_MEMORY, LIMIT: when it is LEAVING then,
 * weft__leave_end ends the rest. */
weft_result weft__leave_begin(weft_stream *stream, uint32_t section);
/* The crew has ended it: blocks and memory are the world's again. Errors set: OUT_OF_MEMORY, LIMIT:
 * some rows are still there; call it again. */
weft_result weft__leave_end(weft__leave *leave);
/* References of sections that are there, to ones that are not. */
uint64_t weft__lates_waiting(const weft_stream *stream);
