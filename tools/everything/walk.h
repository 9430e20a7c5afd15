/* SPDX-License-Identifier: MIT */
/* walk.h: loops and systems over the rows of a query: what they do (walk_rows.h) drawn for a query,
 * done by the model, and said in C.
 *
 * What a walk does to a row depends on the row, on whom its link leads to and on a number: not on
 * the order of rows, but for walks by depth, where parents come before children. */
#ifndef WEFT_TOOLS_WALK_H
#define WEFT_TOOLS_WALK_H

#include "selection.h"
#include "walk_rows.h"

/* What a walk may do beside reading and writing its terms. */
typedef enum walk_may {
    WALK_MAY_LOOK_UP = 1 << 0,
    WALK_MAY_ADD = 1 << 1, /* to whom a link leads: rows one after the other */
    WALK_MAY_RECORD = 1 << 2,
    WALK_MAY_USE = 1 << 3,   /* read a resource; with WALK_MAY_ADD add to it */
    WALK_MAY_CHUNK = 1 << 4, /* write values of chunks: it gets whole chunks */
    WALK_BY_DEPTH = 1 << 5,  /* by PARENT: it may look up what it writes */
} walk_may;

/* A new entity: which one of those that `self` made in one run. */
typedef struct walk_made_entry {
    uint32_t self, i, number;
} walk_made_entry;

/* A walk in words of the model. */
typedef struct walk_plan {
    walk w;
    everything *e;
    model_query asks;
    uint32_t kinds[WALK_TERMS];
    uint32_t lookup_kind, record_kind, resource_kind;
    const uint8_t *record_bytes; /* of the model */
    uint32_t record_slot;        /* of the query of commands; EVERYTHING_QUERIES: none */
    bool is_query_recorded;
    uint64_t made_set;
    struct walk_made_entry *made; /* new entities whose handles are not known */
    uint32_t made_count, made_room;
    bool is_by_depth, stamps_asked;
    weft_a64 x_rows; /* that the callback was given */
} walk_plan;

/* A kind to look up: mostly one that entity n has, SPARSE ones first now and then. */
uint32_t walk_lookup_kind(const everything *e, uint32_t n, uint64_t drawn);
/* Draws one for a query; at most `terms` of it are written. */
void walk_draw(everything *e, walk_plan *p, const everything_query *q, uint64_t drawn,
               uint32_t may);
/* A resource that it reads or writes: WALK_READS or WALK_WRITES. */
void walk_draw_resource(walk_plan *p, bool is_list, uint32_t flags);
/* What a look-up gives for this entity is added to a sum, or the sum to it. */
uint32_t walk_model_look(const walk_plan *p, uint32_t target, uint32_t sum);
/* The model does it to these entities; commands take effect behind the last row. */
void walk_model(walk_plan *p, const uint32_t *numbers, uint32_t count);
/* What an entity with this sum has recorded takes effect; behind the last one: walk_model_end. */
void walk_model_record(walk_plan *p, uint32_t n, uint32_t sum);
void walk_model_end(walk_plan *p);
/* After a step: handles of what the walk made. How many are still not known; they may be when those
 * of another walk are. */
uint32_t walk_learn(walk_plan *p);
/* Archetypes that the query visits count as changed where it writes. */
void walk_model_visit(const walk_plan *p);
/* Whether a walk writes values of a kind, of its rows or of others. */
bool walk_writes(const walk_plan *p, uint32_t kind);
/* Says `walk NAME = {...};`, or without `type` an assignment. */
void walk_says(walk_plan *p, const char *type, const char *name);
/* Prints walk_rows.h and what it needs, before main. */
void walk_print_rows(FILE *out);

#endif
