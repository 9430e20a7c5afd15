/* SPDX-License-Identifier: MIT */
/* section_plan.h: which entities of a world go to which section, run and piece of a section file.
 *
 * On the stack of one save; owner of the world, idle; reads only. */
#ifndef WEFT_SECTION_PLAN_H
#define WEFT_SECTION_PLAN_H

#include "archetype_state.h"
#include "bytes.h"
#include "section_format.h"

/* Where an entity is in the file. Always: row == WEFT__NONE: it is not. */
typedef struct weft__section_place {
    uint32_t section, row;
    uint32_t export; /* its number among the exports of its section + 1; 0: none */
} weft__section_place;

/* Rows of one chunk of the file. */
typedef struct weft__plan_piece {
    uint32_t rows, first_span, span_count;
    uint64_t at, bytes, hash; /* `at` from the first piece of the section */
} weft__plan_piece;

/* Rows of one shape and one tuple. */
typedef struct weft__plan_run {
    const weft__chunk *chunk; /* one of its chunks: shared and chunk values are the same in all */
    uint32_t shape, rows, first_piece, piece_count;
} weft__plan_run;

/* The runs and pieces of a section. A value. Always: rows = the sum over its runs. */
typedef struct weft__plan_section {
    uint32_t first_run, run_count, first_piece, piece_count, rows;
} weft__plan_section;

/* What is written. Owner: the stack of weft_sections_save; ended by weft__section_plan_fini. */
typedef struct weft__section_plan {
    weft_world *world;
    const weft_sections_desc *desc;
    uint32_t section_component; /* id; 0: the world has none */
    uint32_t *numbers;          /* [type id]: number in the file + 1; 0: not in it */
    uint32_t number_count;
    uint32_t place_count;
    weft__section_place *places; /* [entity index] */
    weft__out types;             /* const weft__type *[] */
    weft__out shapes;            /* uint32_t[]: types, type[] of each */
    uint32_t shape_count;
    uint32_t *shape_of; /* [archetype id - 1] number; WEFT__NONE: not written */
    weft__out spans, pieces, runs, sections;
} weft__section_plan;

/* Decides. Errors set. */
weft_result weft__section_plan_make(weft__section_plan *plan);
void weft__section_plan_fini(weft__section_plan *plan);

static inline const weft__type *weft__plan_type(const weft__section_plan *plan, uint32_t number)
{
    return ((const weft__type *const *)(const void *)plan->types.at)[number];
}

/* The types of a shape: the count, then their numbers. */
const uint32_t *weft__plan_shape(const weft__section_plan *plan, uint32_t shape);

#endif
