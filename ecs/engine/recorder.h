/* SPDX-License-Identifier: MIT */
/* recorder.h: recorders: who records, into which memory.
 *
 * Recorded values with a destruct hook are the recorder's until an entity takes them; those that
 * none took (skipped, removed again, dropped) are destructed when the recorder is emptied. Shared
 * values with a release hook are held in the store meanwhile (command_shared.h). */
#ifndef WEFT_RECORDER_H
#define WEFT_RECORDER_H

#include "command_format.h"
#include "component_type.h"

#define WEFT__NURSERIES 4u /* archetypes that few rows at a time are made of, in turn */

/* The first thing that went wrong while recording; code WEFT_OK: nothing did. A value. */
typedef struct weft__command_failure {
    weft_result code;
    uint64_t key;
    weft_entity entity;
    uint32_t component;
    uint8_t op;
} weft__command_failure;

/* A recorder. Owned by its creator; one thread at a time records, the owner of the world
 * plays. Always (checked builds: when it is played):
 *   open == NULL or open == &segments[segment_count - 1]; segment_count <= segment_capacity;
 *   page == NULL or page->data <= at <= end == page->data + page->bytes;
 *   created = sum of created_count of its segments; rows_first <= rows while open != NULL;
 *   piece == NULL or piece->begins_piece, recorded by the open segment;
 *   epoch is even and not 0. */
struct weft_recorder {
    weft_world *world;
    /* hot while recording */
    char *at;                    /* next free byte of `page` */
    char *end;                   /* its end */
    weft__command_segment *open; /* segment of `key`, NULL until its first command */
    uint64_t key;
    uint32_t created;    /* deferred handles since the last playback */
    uint32_t rows;       /* rows made in place since then ... */
    uint32_t rows_first; /* ... before the open segment */
    uint32_t epoch;      /* even version of the deferred handles of this recorder, now */
    uint32_t id;         /* number of the recorder in its set */
    uint32_t worker;
    uint32_t home; /* block hint for ids given at once */
    /* cold */
    weft__command_page *first;
    weft__command_page *page;
    weft__command_segment *segments;
    uint32_t segment_count;
    uint32_t segment_capacity;
    weft__command_block *blocks;
    weft_entity *resolved; /* [created] during playback */
    uint32_t resolved_capacity;
    uint32_t row_capacity;
    weft_entity *row_entities; /* [rows] during playback, when handles were asked for */
    weft__command_rows *piece; /* rows that the open segment makes; NULL: none yet */
    uint32_t run_rows;         /* of it and of those before that differ in their chunk only */
    uint32_t next_nursery;     /* the place that is given up when one is needed */
    weft__chunk *nurseries[WEFT__NURSERIES]; /* private chunks for few rows of many slices */
    bool rows_asked;                         /* handles of some rows were asked for */
    bool is_closed;  /* checked builds: of a system whose callback has returned */
    uint32_t in_set; /* belongs to the scheduler: weft_recorder_play and _destroy refuse it */
    weft__command_failure failure;
    weft_slice_context rows_context; /* of the rows it gives; constant */
};

#define WEFT__PAYLOAD_WORDS_MOST 252u /* larger payloads are blocks */

/* Starts an empty recorder; allocates nothing. `id` < 4096 is its number in the set it is played
 * with. */
void weft__recorder_init(weft_recorder *commands, weft_world *world, uint32_t id, uint32_t worker);
void weft__recorder_fini(weft_recorder *commands);

/* Notes how far the page being filled is used, which recording does not: before the commands are
 * walked over. Recording may go on after it. */
void weft__recorder_seal(weft_recorder *commands);
/* Drops everything recorded (private chunks too when `with_rows`) and keeps the memory. */
void weft__recorder_reset(weft_recorder *commands, bool with_rows);
/* Following commands belong to `key`. */
static inline void weft__recorder_key(weft_recorder *commands, uint64_t key)
{
    if (WEFT_IS_CHECKED) commands->is_closed = false;
    if (commands->key == key) return;
    commands->key = key;
    commands->open = NULL;
    commands->piece = NULL;
}

#endif
