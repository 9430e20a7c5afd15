/* SPDX-License-Identifier: MIT */
/* section_plan.c: entities are sorted into sections, runs and pieces. Chunks are taken in the order
 * of archetypes, so the plan follows from the state of the world. See section_plan.h. */
#include "section_plan.h"
#include "error.h"
#include "format.h"
#include "private_chunk.h"
#include "world_file_write.h"

#include <stdlib.h>
#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

/* A chunk and where it goes. Owner: the list of weft__section_plan_make. */
typedef struct entry {
    const weft__chunk *chunk;
    uint32_t section, shape;
    uint32_t tuple; /* the first entry with the same shape and values */
    uint32_t order;
} entry;

static weft_result refused(const weft_world *world)
{
    return weft__error_memory(world, "weft_sections_save");
}

/* ---- types and shapes ---- */

static bool is_left_out(const weft__section_plan *plan, uint32_t id)
{
    if (id == plan->section_component) return true;
    for (uint32_t i = 0; i < plan->desc->without_count; i++)
        if (plan->desc->without[i].id == id) return true;
    return false;
}

static weft_result type_check(const weft__section_plan *plan, const weft__type *type)
{
    const bool is_hidden = weft__type_is_hooked(type) && type->reference_count != 0;
    const char *problem = is_hidden ? "is saved by a hook and has references" : NULL;
    if (problem == NULL) problem = weft__type_save_problem(type);
    if (problem == NULL && (type->desc.flags & WEFT_SHARED) != 0 && type->reference_count != 0)
        problem = "is SHARED and has references";
    if (problem == NULL) return WEFT_OK;
    return weft__error(plan->world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY,
                       weft__component(plan->world, type->id),
                       "weft_sections_save: %s %s: leave it out by weft_sections_desc.without",
                       type->desc.name, problem);
}

/* The number of a type in the file. */
static weft_result type_add(weft__section_plan *plan, const weft__type *type)
{
    if (plan->numbers[type->id] != 0) return WEFT_OK;
    weft_result result = type_check(plan, type);
    if (result != WEFT_OK) return result;
    weft__out_put(&plan->types, &type, sizeof(const weft__type *));
    plan->numbers[type->id] = (uint32_t)(plan->types.count / sizeof(const weft__type *));
    return plan->types.is_refused ? refused(plan->world) : WEFT_OK;
}

const uint32_t *weft__plan_shape(const weft__section_plan *plan, uint32_t shape)
{
    const uint32_t *at = (const uint32_t *)(const void *)plan->shapes.at;
    while (shape-- != 0) at += 1 + at[0];
    return at;
}

/* The shape of an archetype: another one with the same types, or a new one. */
static weft_result shape_add(weft__section_plan *plan, const weft__archetype *archetype)
{
    size_t begin = plan->shapes.count;
    uint32_t count = 0;
    weft__out_u32(&plan->shapes, 0);
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type *type = archetype->types[i].type;
        if (is_left_out(plan, type->id)) continue;
        weft_result result = type_add(plan, type);
        if (result != WEFT_OK) return result;
        weft__out_u32(&plan->shapes, plan->numbers[type->id] - 1);
        count++;
    }
    if (plan->shapes.is_refused) return refused(plan->world);
    uint32_t *made = (uint32_t *)(void *)(plan->shapes.at + begin);
    made[0] = count;
    for (uint32_t s = 0; s < plan->shape_count; s++) {
        const uint32_t *other = weft__plan_shape(plan, s);
        if (memcmp(other, made, (count + 1) * sizeof *made) != 0) continue;
        plan->shapes.count = begin;
        plan->shape_of[archetype->id - 1] = s;
        return WEFT_OK;
    }
    plan->shape_of[archetype->id - 1] = plan->shape_count++;
    return WEFT_OK;
}

/* ---- chunks ---- */

static uint32_t section_of(const weft__section_plan *plan, const weft__chunk *chunk)
{
    if (plan->section_component == 0) return 0;
    uint32_t type = weft__archetype_find(chunk->archetype, plan->section_component);
    if (type == WEFT__NONE) return 0;
    uint32_t index = chunk->tuple->values[chunk->archetype->types[type].shared];
    if (index == 0) return 0;
    const weft_section *value =
        weft__shared_value(&plan->world->shared, plan->section_component, index);
    return value->section;
}

/* Whether rows of two chunks of one shape may be in one run. */
static bool is_alike(const weft__section_plan *plan, const weft__chunk *a, const weft__chunk *b)
{
    if (a == b) return true;
    for (uint32_t i = 0; i < a->archetype->type_count; i++) {
        const weft__type_ref *ref = &a->archetype->types[i];
        if (plan->numbers[ref->component] == 0) continue;
        if (ref->chunk_offset == WEFT__NONE && ref->shared == WEFT__NO_PLACE) continue;
        const weft__type_ref *other =
            &b->archetype->types[weft__archetype_find(b->archetype, ref->component)];
        if (ref->shared != WEFT__NO_PLACE &&
            a->tuple->values[ref->shared] != b->tuple->values[other->shared])
            return false;
        if (ref->chunk_offset != WEFT__NONE &&
            memcmp(a->chunk_values + ref->chunk_offset, b->chunk_values + other->chunk_offset,
                   ref->type->chunk_bytes) != 0)
            return false;
    }
    return true;
}

/* The first entry of the same section and shape that the chunk is alike. */
static uint32_t tuple_of(const weft__section_plan *plan, const entry *entries, uint32_t count,
                         const entry *e)
{
    for (uint32_t i = count; i-- > 0;)
        if (entries[i].shape == e->shape && entries[i].section == e->section &&
            is_alike(plan, entries[i].chunk, e->chunk))
            return entries[i].tuple;
    return count;
}

static weft_result entries_list(weft__section_plan *plan, weft__out *list)
{
    weft_world *world = plan->world;
    for (uint32_t a = 0; a < world->archetypes.count; a++) {
        const weft__archetype *archetype = world->archetypes.at[a];
        if (archetype->chunk_count == 0 || (archetype->flags & WEFT__IS_RESIDUE) != 0) continue;
        if ((archetype->flags & WEFT__IS_SPARSE) != 0) {
            if (is_left_out(plan, archetype->types[0].component)) continue;
            return weft__error(world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY,
                               weft__component(world, archetype->types[0].component),
                               "weft_sections_save: %s is SPARSE: leave it out by "
                               "weft_sections_desc.without",
                               archetype->types[0].type->desc.name);
        }
        weft_result result = shape_add(plan, archetype);
        for (uint32_t c = 0; c < archetype->chunk_count && result == WEFT_OK; c++) {
            const entry *entries = (const entry *)(const void *)list->at;
            uint32_t count = (uint32_t)(list->count / sizeof *entries);
            entry e = {.chunk = archetype->chunks[c],
                       .section = section_of(plan, archetype->chunks[c]),
                       .shape = plan->shape_of[archetype->id - 1],
                       .order = count};
            if (e.section >= WEFT_SECTION_LIMIT)
                return weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                                   "weft_sections_save: section %u: they are numbered from 0 to "
                                   "%u",
                                   e.section, WEFT_SECTION_LIMIT - 1);
            e.tuple = tuple_of(plan, entries, count, &e);
            weft__out_put(list, &e, sizeof e);
            if (list->is_refused) result = refused(world);
        }
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

static int by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    if (x->shape != y->shape) return x->shape < y->shape ? -1 : 1;
    if (x->tuple != y->tuple) return x->tuple < y->tuple ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- pieces ---- */

/* Rows that a piece may have: those of the largest chunk that this world would make. */
static uint32_t piece_rows_most(const weft__archetype *archetype)
{
    const weft__format *format = archetype->format;
    return weft__format_capacity(format, weft__private_class(format, WEFT__CHUNK_ROWS_MAX));
}

static void places_note(weft__section_plan *plan, const weft__span *span, uint32_t section,
                        uint32_t row)
{
    const weft_entity *entities = weft__chunk_entities(span->chunk) + span->row;
    for (uint32_t i = 0; i < span->count; i++)
        plan->places[entities[i].index ^ plan->world->directory.tag_bits] =
            (weft__section_place){section, row + i, 0};
}

#define LAST(list, type) ((type *)(void *)((list).at + (list).count) - 1)
#define COUNT(list, type) ((uint32_t)((list).count / sizeof(type)))

/* Adds the rows of a chunk to the last run. */
static void chunk_add(weft__section_plan *plan, const weft__chunk *chunk)
{
    uint32_t most = piece_rows_most(chunk->archetype);
    for (uint32_t row = 0; row < chunk->count;) {
        weft__plan_section *section = LAST(plan->sections, weft__plan_section);
        weft__plan_run *run = LAST(plan->runs, weft__plan_run);
        bool is_full = run->piece_count == 0 || LAST(plan->pieces, weft__plan_piece)->rows == most;
        if (is_full) {
            weft__plan_piece made = {.first_span = COUNT(plan->spans, weft__span)};
            weft__out_put(&plan->pieces, &made, sizeof made);
            run->piece_count++;
            section->piece_count++;
        }
        if (plan->pieces.is_refused) return;
        weft__plan_piece *piece = LAST(plan->pieces, weft__plan_piece);
        uint32_t left = chunk->count - row, room = most - piece->rows;
        weft__span span = {(weft__chunk *)(uintptr_t)chunk, row, left < room ? left : room};
        weft__out_put(&plan->spans, &span, sizeof span);
        places_note(plan, &span, COUNT(plan->sections, weft__plan_section) - 1, section->rows);
        piece->span_count++;
        piece->rows += span.count;
        run->rows += span.count;
        section->rows += span.count;
        row += span.count;
    }
}

static weft_result entries_cut(weft__section_plan *plan, const entry *entries, uint32_t count)
{
    const entry *last = NULL;
    for (uint32_t i = 0; i < count; last = &entries[i++]) {
        const entry *e = &entries[i];
        while (COUNT(plan->sections, weft__plan_section) <= e->section) {
            weft__plan_section made = {.first_run = COUNT(plan->runs, weft__plan_run),
                                       .first_piece = COUNT(plan->pieces, weft__plan_piece)};
            weft__out_put(&plan->sections, &made, sizeof made);
            if (plan->sections.is_refused) return refused(plan->world);
            last = NULL;
        }
        if (last == NULL || last->shape != e->shape || last->tuple != e->tuple) {
            weft__plan_run made = {.chunk = e->chunk,
                                   .shape = e->shape,
                                   .first_piece = COUNT(plan->pieces, weft__plan_piece)};
            weft__out_put(&plan->runs, &made, sizeof made);
            LAST(plan->sections, weft__plan_section)->run_count++;
        }
        if (plan->runs.is_refused) return refused(plan->world);
        chunk_add(plan, e->chunk);
        if (plan->pieces.is_refused || plan->spans.is_refused) return refused(plan->world);
    }
    return WEFT_OK;
}

static weft_result tables_make(weft__section_plan *plan)
{
    weft_world *world = plan->world;
    plan->number_count = world->types.count + 1;
    plan->place_count =
        at_load_rlx(&world->directory.x_block_end) * WEFT__BLOCK_SLOTS; /* relaxed: idle */
    plan->numbers =
        weft__alloc_zeroed(&world->memory, CATEGORY, plan->number_count, sizeof(uint32_t), 16);
    plan->places =
        weft__alloc(&world->memory, CATEGORY, plan->place_count + 1, sizeof *plan->places, 16);
    plan->shape_of =
        weft__alloc(&world->memory, CATEGORY, world->archetypes.id_count + 1, sizeof(uint32_t), 16);
    if (plan->numbers == NULL || plan->places == NULL || plan->shape_of == NULL)
        return refused(world);
    memset(plan->places, 0xff, plan->place_count * sizeof *plan->places);
    return WEFT_OK;
}

weft_result weft__section_plan_make(weft__section_plan *plan)
{
    weft__out *const lists[] = {&plan->types,  &plan->shapes, &plan->spans,
                                &plan->pieces, &plan->runs,   &plan->sections};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        lists[i]->memory = &plan->world->memory;
    weft__out list = {.memory = &plan->world->memory};
    weft_result result = tables_make(plan);
    if (result == WEFT_OK) result = entries_list(plan, &list);
    uint32_t count = (uint32_t)(list.count / sizeof(entry));
    if (count != 0) qsort(list.at, count, sizeof(entry), by_place);
    if (result == WEFT_OK) result = entries_cut(plan, (const entry *)(const void *)list.at, count);
    weft__out_free(&list);
    return result;
}

void weft__section_plan_fini(weft__section_plan *plan)
{
    weft__memory *memory = &plan->world->memory;
    weft__free(memory, CATEGORY, plan->numbers, plan->number_count, sizeof(uint32_t), 16);
    weft__free(memory, CATEGORY, plan->places, plan->place_count + 1, sizeof *plan->places, 16);
    if (plan->shape_of != NULL)
        weft__free(memory, CATEGORY, plan->shape_of, plan->world->archetypes.id_count + 1,
                   sizeof(uint32_t), 16);
    weft__out *const lists[] = {&plan->types,  &plan->shapes, &plan->spans,
                                &plan->pieces, &plan->runs,   &plan->sections};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) weft__out_free(lists[i]);
}
