/* SPDX-License-Identifier: MIT */
/* section_write.c: a world as a section file (section_format.h says which bytes). Entities are
 * sorted into sections, runs and pieces, then written piece by piece. Chunks are taken in the order
 * of archetypes, so the plan follows from the state of the world. Owner, world idle; reads only. */
#include "evolution.h"
#include "file_replace.h"
#include "format.h"
#include "hash_lanes.h"
#include "private_chunk.h"
#include "section_format.h"
#include "world_file_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where an entity is in the file. Always: row == WEFT__NONE: it is not. */
typedef struct section_place {
    uint32_t section, row;
    uint32_t export; /* its number among the exports of its section + 1; 0: none */
} section_place;

/* Rows of one chunk of the file. */
typedef struct plan_piece {
    uint32_t rows, first_span, span_count;
    uint64_t at, bytes, hash; /* `at` from the first piece of the section */
} plan_piece;

/* Rows of one shape and one tuple. */
typedef struct plan_run {
    const weft__chunk *chunk; /* one of its chunks: shared and chunk values are the same in all */
    uint32_t shape, rows, first_piece, piece_count;
} plan_run;

/* The runs and pieces of a section. A value. Always: rows = the sum over its runs. */
typedef struct plan_section {
    uint32_t first_run, run_count, first_piece, piece_count, rows;
} plan_section;

/* What is written. Owner: the stack of weft_sections_save; ended by section_plan_fini. */
typedef struct section_plan {
    weft_world *world;
    const weft_sections_desc *desc;
    weft__pile pile;            /* of the arrays here and of the writer */
    uint32_t section_component; /* id; 0: the world has none */
    uint32_t *numbers;          /* [type id]: number in the file + 1; 0: not in it */
    section_place *places;      /* [entity index] */
    weft__out types;            /* const weft__type *[] */
    weft__out shapes;           /* uint32_t[]: types, type[] of each */
    uint32_t shape_count;
    uint32_t *shape_of; /* [archetype id - 1] number; WEFT__NONE: not written */
    weft__out spans, pieces, runs, sections;
} section_plan;

static inline const weft__type *plan_type(const section_plan *plan, uint32_t number)
{
    return ((const weft__type *const *)(const void *)plan->types.at)[number];
}

/* A chunk and where it goes. Owner: the list of section_plan_make. */
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

static bool is_left_out(const section_plan *plan, uint32_t id)
{
    if (id == plan->section_component) return true;
    for (uint32_t i = 0; i < plan->desc->without_count; i++)
        if (plan->desc->without[i].id == id) return true;
    return false;
}

static weft_result type_check(const section_plan *plan, const weft__type *type)
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
static weft_result type_add(section_plan *plan, const weft__type *type)
{
    if (plan->numbers[type->id] != 0) return WEFT_OK;
    weft_result result = type_check(plan, type);
    if (result != WEFT_OK) return result;
    weft__out_put(&plan->types, &type, sizeof(const weft__type *));
    plan->numbers[type->id] = (uint32_t)(plan->types.count / sizeof(const weft__type *));
    return plan->types.is_refused ? refused(plan->world) : WEFT_OK;
}

/* The types of a shape: the count, then their numbers. */
static const uint32_t *plan_shape(const section_plan *plan, uint32_t shape)
{
    const uint32_t *at = (const uint32_t *)(const void *)plan->shapes.at;
    while (shape-- != 0) at += 1 + at[0];
    return at;
}

/* The shape of an archetype: another one with the same types, or a new one. */
static weft_result shape_add(section_plan *plan, const weft__archetype *archetype)
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
        const uint32_t *other = plan_shape(plan, s);
        if (memcmp(other, made, (count + 1) * sizeof *made) != 0) continue;
        plan->shapes.count = begin;
        plan->shape_of[archetype->id - 1] = s;
        return WEFT_OK;
    }
    plan->shape_of[archetype->id - 1] = plan->shape_count++;
    return WEFT_OK;
}

/* ---- chunks ---- */

static uint32_t section_of(const section_plan *plan, const weft__chunk *chunk)
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
static bool is_alike(const section_plan *plan, const weft__chunk *a, const weft__chunk *b)
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
static uint32_t tuple_of(const section_plan *plan, const entry *entries, uint32_t count,
                         const entry *e)
{
    for (uint32_t i = count; i-- > 0;)
        if (entries[i].shape == e->shape && entries[i].section == e->section &&
            is_alike(plan, entries[i].chunk, e->chunk))
            return entries[i].tuple;
    return count;
}

static weft_result entries_list(section_plan *plan, weft__out *list)
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

static void places_note(section_plan *plan, const weft__span *span, uint32_t section, uint32_t row)
{
    const weft_entity *entities = weft__chunk_entities(span->chunk) + span->row;
    for (uint32_t i = 0; i < span->count; i++)
        plan->places[entities[i].index ^ plan->world->directory.tag_bits] =
            (section_place){section, row + i, 0};
}

#define LAST(list, type) ((type *)(void *)((list).at + (list).count) - 1)
#define COUNT(list, type) ((uint32_t)((list).count / sizeof(type)))

/* Adds the rows of a chunk to the last run. */
static void chunk_add(section_plan *plan, const weft__chunk *chunk)
{
    uint32_t most = piece_rows_most(chunk->archetype);
    for (uint32_t row = 0; row < chunk->count;) {
        plan_section *section = LAST(plan->sections, plan_section);
        plan_run *run = LAST(plan->runs, plan_run);
        bool is_full = run->piece_count == 0 || LAST(plan->pieces, plan_piece)->rows == most;
        if (is_full) {
            plan_piece made = {.first_span = COUNT(plan->spans, weft__span)};
            weft__out_put(&plan->pieces, &made, sizeof made);
            run->piece_count++;
            section->piece_count++;
        }
        if (plan->pieces.is_refused) return;
        plan_piece *piece = LAST(plan->pieces, plan_piece);
        uint32_t left = chunk->count - row, room = most - piece->rows;
        weft__span span = {(weft__chunk *)(uintptr_t)chunk, row, left < room ? left : room};
        weft__out_put(&plan->spans, &span, sizeof span);
        places_note(plan, &span, COUNT(plan->sections, plan_section) - 1, section->rows);
        piece->span_count++;
        piece->rows += span.count;
        run->rows += span.count;
        section->rows += span.count;
        row += span.count;
    }
}

static weft_result entries_cut(section_plan *plan, const entry *entries, uint32_t count)
{
    const entry *last = NULL;
    for (uint32_t i = 0; i < count; last = &entries[i++]) {
        const entry *e = &entries[i];
        while (COUNT(plan->sections, plan_section) <= e->section) {
            plan_section made = {.first_run = COUNT(plan->runs, plan_run),
                                 .first_piece = COUNT(plan->pieces, plan_piece)};
            weft__out_put(&plan->sections, &made, sizeof made);
            if (plan->sections.is_refused) return refused(plan->world);
            last = NULL;
        }
        if (last == NULL || last->shape != e->shape || last->tuple != e->tuple) {
            plan_run made = {.chunk = e->chunk,
                             .shape = e->shape,
                             .first_piece = COUNT(plan->pieces, plan_piece)};
            weft__out_put(&plan->runs, &made, sizeof made);
            LAST(plan->sections, plan_section)->run_count++;
        }
        if (plan->runs.is_refused) return refused(plan->world);
        chunk_add(plan, e->chunk);
        if (plan->pieces.is_refused || plan->spans.is_refused) return refused(plan->world);
    }
    return WEFT_OK;
}

static weft_result tables_make(section_plan *plan)
{
    const weft_world *world = plan->world;
    uint32_t count =
        at_load_rlx(&world->directory.x_block_end) * WEFT__BLOCK_SLOTS; /* relaxed: idle */
    plan->numbers = weft__pile_take(&plan->pile, world->types.count + 1, sizeof(uint32_t));
    plan->places = weft__pile_take(&plan->pile, count, sizeof *plan->places);
    plan->shape_of = weft__pile_take(&plan->pile, world->archetypes.id_count, sizeof(uint32_t));
    if (plan->pile.is_refused) return refused(world);
    memset(plan->places, 0xff, count * sizeof *plan->places);
    return WEFT_OK;
}

/* Decides. Errors set. */
static weft_result section_plan_make(section_plan *plan)
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

static void section_plan_fini(section_plan *plan)
{
    weft__pile_free(&plan->pile);
    weft__out *const lists[] = {&plan->types,  &plan->shapes, &plan->spans,
                                &plan->pieces, &plan->runs,   &plan->sections};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) weft__out_free(lists[i]);
}

/* ---- bytes ---- */

/* What is made of one section. Owner: the list of the writer. */
typedef struct section_bytes {
    weft__out pieces, table;
    weft__out exports; /* uint32_t[]: rows */
    weft__out lates;   /* weft__late[] */
    weft__out blobs;   /* uint64_t[]: ids */
    weft__out names;
    uint32_t name_count;
    bool has_bounds;
    float least[3], most[3];
    uint64_t at, table_hash;
} section_bytes;

/* One save; on the stack of weft_sections_save. */
typedef struct writer {
    weft_world *world;
    section_plan plan;
    section_bytes *sections;
    uint32_t section_count;
    uint32_t section; /* that is written now */
    bool is_refused;
} writer;

#define AT(list, type) ((type *)(void *)(list).at)

/* ---- references ---- */

/* The number of an entity among the exports of its section. */
static uint32_t export_of(writer *w, section_place *place)
{
    weft__out *exports = &w->sections[place->section].exports;
    if (place->export == 0) {
        weft__out_u32(exports, place->row);
        place->export = COUNT(*exports, uint32_t);
    }
    return place->export - 1;
}

/* Whose field a handle is. A value. */
typedef struct field_place {
    uint32_t row, type, element, offset;
} field_place;

static void entity_write(writer *w, weft_entity *field, field_place at)
{
    weft_entity target = *field;
    *field = (weft_entity){0};
    if (!weft_entity_is_alive(w->world, target)) return;
    section_place *place = &w->plan.places[target.index ^ w->world->directory.tag_bits];
    if (place->row == WEFT__NONE) return;
    if (place->section == w->section) {
        *field = (weft_entity){place->row, WEFT__STORED_ROW};
    } else if (place->section == 0) {
        *field = (weft_entity){export_of(w, place), WEFT__STORED_EXPORT};
    } else {
        weft__late late = {at.row,    at.type,        at.element,
                           at.offset, place->section, export_of(w, place)};
        weft__out_put(&w->sections[w->section].lates, &late, sizeof late);
    }
}

static void blob_write(const writer *w, weft_blob_ref *field)
{
    weft__out *blobs = &w->sections[w->section].blobs;
    const weft_blob_store *store = w->world->blobs;
    if (store == NULL || field->id == 0 || weft__blob_store_block(store, *field) == NULL) {
        field->id = 0;
        return;
    }
    uint32_t count = COUNT(*blobs, uint64_t), i = count;
    while (i-- > 0) /* mostly one of the last */
        if (AT(*blobs, uint64_t)[i] == field->id) break;
    if (i == UINT32_MAX) {
        weft__out_u64(blobs, field->id);
        i = count;
    }
    field->id = (uint64_t)i + 1;
}

/* Values whose references become stored ones. On the stack. */
typedef struct settling {
    writer *w;
    field_place at; /* of the value */
} settling;

static bool reference_write(void *user, weft__reference *r)
{
    settling *s = user;
    s->at.offset = r->offset;
    if (r->is_blob)
        blob_write(s->w, &r->blob);
    else
        entity_write(s->w, &r->entity, s->at);
    return true;
}

/* Values that were copied to `values`, one after the other: references become stored ones. */
static void values_settle(writer *w, const weft__type *type, char *values, uint32_t count,
                          field_place at)
{
    settling s = {w, at};
    uint32_t *place = (type->desc.flags & WEFT_BUFFER) != 0 ? &s.at.element : &s.at.row;
    for (uint32_t i = 0; i < count && type->reference_count != 0; i++, ++*place)
        weft__elements_references(type, values + i * type->desc.size, 1, reference_write, &s);
}

/* ---- pieces ---- */

/* A piece that is written: its rows begin at `row` of the section. On the stack. */
typedef struct piece_writer {
    writer *w;
    plan_piece *piece;
    const plan_run *run;
    weft__out *out;
    uint32_t row;
} piece_writer;

static const weft__span *spans_of(const piece_writer *p)
{
    return AT(p->w->plan.spans, weft__span) + p->piece->first_span;
}

static const weft__type_ref *ref_of(const weft__chunk *chunk, const weft__type *type)
{
    return &chunk->archetype->types[weft__archetype_find(chunk->archetype, type->id)];
}

/* What was written from `begin` on is a part of the piece, of which `most` bytes are hashed at
 * once, because they are read so. */
static void hash_add(const piece_writer *p, size_t begin, size_t most)
{
    while (!p->out->is_refused && begin != p->out->count) {
        size_t bytes = p->out->count - begin < most ? p->out->count - begin : most;
        p->piece->hash = weft__hash_lanes(p->piece->hash, p->out->at + begin, bytes);
        begin += bytes;
    }
}

static void column_write(const piece_writer *p, uint32_t number)
{
    const weft__type *type = plan_type(&p->w->plan, number);
    size_t begin = p->out->count;
    uint32_t row = p->row;
    for (uint32_t i = 0; i < p->piece->span_count; i++) {
        const weft__span *span = &spans_of(p)[i];
        const weft__type_ref *ref = ref_of(span->chunk, type);
        size_t at = p->out->count, bytes = (size_t)span->count * type->value_bytes;
        weft__out_put(p->out, weft__chunk_value(span->chunk, ref->column, span->row), bytes);
        if (p->out->is_refused) return;
        values_settle(p->w, type, p->out->at + at, span->count,
                      (field_place){.row = row, .type = number});
        row += span->count;
    }
    hash_add(p, begin, weft__section_part(type) * type->value_bytes);
}

/* Values, or elements, side by side, that have no references. */
static void hooked_write(const piece_writer *p, const weft__type *type, const char *values,
                         uint32_t count)
{
    weft__callback_begin(p->w->world);
    for (uint32_t i = 0; i < count; i++)
        weft__hooked_put(p->out, &p->w->world->directory, type,
                         values + (size_t)i * type->desc.size);
    weft__callback_end(p->w->world);
}

static void hooked_column_write(const piece_writer *p, const weft__type *type)
{
    for (uint32_t i = 0; i < p->piece->span_count; i++) {
        const weft__span *span = &spans_of(p)[i];
        const uint32_t column = ref_of(span->chunk, type)->column;
        hooked_write(p, type, weft__chunk_value(span->chunk, column, span->row), span->count);
    }
}

static void buffers_write(const piece_writer *p, uint32_t number)
{
    const weft__type *type = plan_type(&p->w->plan, number);
    field_place place = {.row = p->row, .type = number};
    for (uint32_t i = 0; i < p->piece->span_count; i++) {
        const weft__span *span = &spans_of(p)[i];
        const weft__type_ref *ref = ref_of(span->chunk, type);
        for (uint32_t r = 0; r < span->count; r++, place.row++) {
            const weft_buffer *buffer =
                (const void *)weft__chunk_value(span->chunk, ref->column, span->row + r);
            weft__out_u32(p->out, buffer->count);
            size_t at = p->out->count;
            if (weft__type_is_hooked(type)) {
                hooked_write(p, type, weft__buffer_data(buffer), buffer->count);
                continue;
            }
            weft__out_put(p->out, weft__buffer_data(buffer), buffer->count * type->desc.size);
            if (p->out->is_refused) return;
            values_settle(p->w, type, p->out->at + at, buffer->count, place);
        }
    }
}

static void piece_write(const piece_writer *p)
{
    const uint32_t *shape = plan_shape(&p->w->plan, p->run->shape);
    const weft__chunk *chunk = p->run->chunk;
    p->piece->hash = WEFT__SECTION_SEED;
    for (uint32_t i = 1; i <= shape[0]; i++)
        if (weft__section_is_packed(plan_type(&p->w->plan, shape[i]))) column_write(p, shape[i]);
    size_t begin = p->out->count;
    for (uint32_t i = 1; i <= shape[0]; i++) {
        const weft__type *type = plan_type(&p->w->plan, shape[i]);
        const weft__type_ref *ref = ref_of(chunk, type);
        if (ref->chunk_offset != WEFT__NONE) {
            size_t at = p->out->count;
            weft__out_put(p->out, chunk->chunk_values + ref->chunk_offset, type->chunk_bytes);
            if (p->out->is_refused) return;
            values_settle(p->w, type, p->out->at + at, 1,
                          (field_place){.row = p->row, .type = shape[i]});
        }
        if (ref->enableable != WEFT__NO_PLACE)
            weft__disabled_put(p->out, type->id, spans_of(p), p->piece->span_count);
        if ((type->desc.flags & WEFT_BUFFER) != 0) buffers_write(p, shape[i]);
        if (weft__section_has_column(type) && weft__type_is_hooked(type))
            hooked_column_write(p, type);
    }
    hash_add(p, begin, SIZE_MAX);
}

/* ---- what is known of rows ---- */

static void bounds_grow(writer *w, const weft__span *span)
{
    const weft_sections_desc *desc = w->plan.desc;
    if (desc->place.id == 0) return;
    const weft__type_slot *slot = weft__archetype_slot(span->chunk->archetype, desc->place.id);
    if (slot == NULL || slot->column == 0) return;
    section_bytes *s = &w->sections[w->section];
    for (uint32_t r = 0; r < span->count; r++) {
        const char *value = weft__chunk_value(span->chunk, slot->column, span->row + r);
        float at[3];
        for (int k = 0; k < 3; k++) memcpy(&at[k], value + desc->place_at[k], sizeof at[k]);
        if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2])) continue;
        for (int k = 0; k < 3; k++) {
            if (!s->has_bounds || at[k] < s->least[k]) s->least[k] = at[k];
            if (!s->has_bounds || at[k] > s->most[k]) s->most[k] = at[k];
        }
        s->has_bounds = true;
    }
}

static void names_write(writer *w, const weft__span *span, uint32_t row)
{
    if (!w->plan.desc->with_names || w->world->names == NULL) return;
    section_bytes *s = &w->sections[w->section];
    const weft_entity *entities = weft__chunk_entities(span->chunk) + span->row;
    for (uint32_t r = 0; r < span->count; r++) {
        const char *name = weft_entity_name(w->world, entities[r]);
        if (name[0] == '\0') continue;
        weft__out_u32(&s->names, row + r);
        weft__out_u32(&s->names, (uint32_t)strlen(name));
        weft__out_put(&s->names, name, strlen(name));
        s->name_count++;
    }
}

static void section_write(writer *w, uint32_t number)
{
    w->section = number;
    section_bytes *s = &w->sections[number];
    const plan_section *section = &AT(w->plan.sections, plan_section)[number];
    uint32_t row = 0;
    for (uint32_t r = 0; r < section->run_count; r++) {
        const plan_run *run = &AT(w->plan.runs, plan_run)[section->first_run + r];
        for (uint32_t i = 0; i < run->piece_count; i++) {
            plan_piece *piece = &AT(w->plan.pieces, plan_piece)[run->first_piece + i];
            piece_writer p = {w, piece, run, &s->pieces, row};
            piece->at = s->pieces.count;
            piece_write(&p);
            piece->bytes = s->pieces.count - piece->at;
            if (s->pieces.is_refused) return;
            for (uint32_t k = 0; k < piece->span_count; k++) {
                bounds_grow(w, &spans_of(&p)[k]);
                names_write(w, &spans_of(&p)[k], row);
                row += spans_of(&p)[k].count;
            }
        }
    }
}

/* ---- the file ---- */

static void table_write(writer *w, section_bytes *s)
{
    weft__out_put(&s->table, s->exports.at, s->exports.count);
    weft__out_put(&s->table, s->lates.at, s->lates.count);
    for (uint32_t i = 0; i < COUNT(s->blobs, uint64_t); i++)
        weft__blob_put(&s->table, w->world->blobs, AT(s->blobs, uint64_t)[i]);
    weft__out_put(&s->table, s->names.at, s->names.count);
    s->table_hash = weft__hash_lanes(WEFT__SECTION_SEED, s->table.at, s->table.count);
    w->is_refused |= s->table.is_refused | s->pieces.is_refused | s->exports.is_refused |
                     s->lates.is_refused | s->blobs.is_refused | s->names.is_refused;
}

static void run_write(const writer *w, weft__out *front, const plan_run *run)
{
    weft__out_u32(front, run->shape);
    weft__out_u32(front, run->rows);
    weft__out_u32(front, run->piece_count);
    const uint32_t *shape = plan_shape(&w->plan, run->shape);
    for (uint32_t i = 1; i <= shape[0]; i++) {
        const weft__type *type = plan_type(&w->plan, shape[i]);
        const weft__type_ref *ref = ref_of(run->chunk, type);
        if (ref->shared == WEFT__NO_PLACE) continue;
        uint32_t index = run->chunk->tuple->values[ref->shared];
        weft__out_u8(front, index != 0);
        if (index != 0)
            weft__out_put(front, weft__shared_value(&w->world->shared, type->id, index),
                          type->desc.size);
    }
}

static void section_head_write(const writer *w, weft__out *front, uint32_t number)
{
    const section_bytes *s = &w->sections[number];
    const plan_section *section = &AT(w->plan.sections, plan_section)[number];
    weft__out_u32(front, s->has_bounds);
    weft__out_put(front, s->least, sizeof s->least);
    weft__out_put(front, s->most, sizeof s->most);
    weft__out_u64(front, s->at);
    weft__out_u64(front, s->table.count + s->pieces.count);
    weft__out_u64(front, s->table.count);
    weft__out_u64(front, s->table_hash);
    weft__out_u32(front, section->rows);
    weft__out_u32(front, section->run_count);
    weft__out_u32(front, section->piece_count);
    weft__out_u32(front, COUNT(s->exports, uint32_t));
    weft__out_u32(front, COUNT(s->lates, weft__late));
    weft__out_u32(front, COUNT(s->blobs, uint64_t));
    weft__out_u32(front, s->name_count);
    for (uint32_t r = 0; r < section->run_count; r++)
        run_write(w, front, &AT(w->plan.runs, plan_run)[section->first_run + r]);
    for (uint32_t i = 0; i < section->piece_count; i++) {
        const plan_piece *piece = &AT(w->plan.pieces, plan_piece)[section->first_piece + i];
        weft__out_u32(front, piece->rows);
        weft__out_u64(front, s->at + s->table.count + piece->at);
        weft__out_u64(front, piece->bytes);
        weft__out_u64(front, piece->hash);
    }
}

static void types_write(const writer *w, weft__out *front)
{
    for (uint32_t i = 0; i < COUNT(w->plan.types, const weft__type *); i++)
        weft__file_type_put(front, &plan_type(&w->plan, i)->desc);
}

/* The front; sections lie behind it, so it is written twice: first for its length. */
static void front_write(writer *w, weft__out *front)
{
    weft__section_header header = {.magic = WEFT__SECTION_MAGIC,
                                   .version = WEFT__SECTION_VERSION,
                                   .byte_order = WEFT__SECTION_BYTE_ORDER,
                                   .scene = w->plan.desc->scene,
                                   .type_count = COUNT(w->plan.types, const weft__type *),
                                   .shape_count = w->plan.shape_count,
                                   .section_count = w->section_count,
                                   .run_count = COUNT(w->plan.runs, plan_run),
                                   .piece_count = COUNT(w->plan.pieces, plan_piece)};
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint64_t end = bits_align_up(front->count, WEFT__SECTION_ALIGNMENT);
        for (uint32_t i = 0; i < w->section_count; i++) {
            section_bytes *s = &w->sections[i];
            s->at = end;
            end = bits_align_up(end + s->table.count + s->pieces.count, WEFT__SECTION_ALIGNMENT);
        }
        front->count = 0;
        weft__out_put(front, &header, sizeof header);
        types_write(w, front);
        weft__out_put(front, w->plan.shapes.at, w->plan.shapes.count);
        for (uint32_t i = 0; i < w->section_count; i++) section_head_write(w, front, i);
        header.front_bytes = front->count;
        header.total_bytes = end;
    }
    w->is_refused |= front->is_refused;
    if (w->is_refused) return;
    if (header.scene == 0)
        header.scene = weft__hash_lanes(WEFT__SECTION_SEED, front->at + sizeof header,
                                        front->count - sizeof header) |
                       1;
    const size_t behind = offsetof(weft__section_header, version);
    memcpy(front->at, &header, sizeof header);
    header.front_hash =
        weft__hash_lanes(WEFT__SECTION_SEED, front->at + behind, front->count - behind);
    memcpy(front->at, &header, sizeof header);
}

static weft_result file_write(writer *w, const char *path)
{
    static const char zeroes[WEFT__SECTION_ALIGNMENT];
    weft__out front = {.memory = &w->world->memory}, list = front;
    front_write(w, &front);
    uint64_t at = front.count;
    weft__file_piece piece = {front.at, front.count};
    weft__out_put(&list, &piece, sizeof piece);
    for (uint32_t i = 0; i <= w->section_count; i++) {
        piece = (weft__file_piece){zeroes, bits_align_up(at, WEFT__SECTION_ALIGNMENT) - at};
        weft__out_put(&list, &piece, sizeof piece);
        at += piece.count;
        if (i == w->section_count) break;
        const section_bytes *s = &w->sections[i];
        piece = (weft__file_piece){s->table.at, s->table.count};
        weft__out_put(&list, &piece, sizeof piece);
        piece = (weft__file_piece){s->pieces.at, s->pieces.count};
        weft__out_put(&list, &piece, sizeof piece);
        at += s->table.count + s->pieces.count;
    }
    weft_result result = WEFT_OK;
    weft__file_problem problem;
    if (w->is_refused || list.is_refused)
        result = refused(w->world);
    else if (weft__file_replace(w->world->desc.os, path, AT(list, weft__file_piece),
                                COUNT(list, weft__file_piece), &problem) != WEFT_OK)
        result = weft__error(w->world, WEFT_IO, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                             "weft_sections_save: %s", problem.text);
    weft__out_free(&front);
    weft__out_free(&list);
    return result;
}

static weft_result sections_write(writer *w, const char *path)
{
    weft__memory *memory = &w->world->memory;
    w->section_count = COUNT(w->plan.sections, plan_section);
    w->sections = weft__pile_take(&w->plan.pile, w->section_count, sizeof *w->sections);
    if (w->sections == NULL) return refused(w->world);
    for (uint32_t i = 0; i < w->section_count; i++) {
        section_bytes *s = &w->sections[i];
        s->pieces.memory = s->table.memory = s->exports.memory = memory;
        s->lates.memory = s->blobs.memory = s->names.memory = memory;
    }
    for (uint32_t i = 0; i < w->section_count; i++) section_write(w, i);
    for (uint32_t i = 0; i < w->section_count; i++) table_write(w, &w->sections[i]);
    weft_result result = file_write(w, path);
    for (uint32_t i = 0; i < w->section_count; i++) {
        section_bytes *s = &w->sections[i];
        weft__out *const all[] = {&s->pieces, &s->table, &s->exports,
                                  &s->lates,  &s->blobs, &s->names};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) weft__out_free(all[k]);
    }
    return result;
}

static weft_result save_check(weft_world *world, const char *path, const weft_sections_desc *desc)
{
    static const char what[] = "weft_sections_save";
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (path == NULL || (desc->without == NULL && desc->without_count != 0))
        return weft__error_argument(world, what,
                                    "path is NULL, or desc->without is NULL but its count is not "
                                    "0: set them");
    result = weft__check_listed(world, what, "without", desc->without, desc->without_count);
    if (result != WEFT_OK) return result;
    if (desc->place.id == 0 && desc->place.world == 0) return WEFT_OK;
    const weft__type *type = weft__type_at(world, desc->place);
    if (type == NULL) return weft__error_component(world, desc->place);
    for (int k = 0; k < 3; k++)
        if (!weft__section_is_packed(type) ||
            (uint64_t)desc->place_at[k] + sizeof(float) > type->desc.size)
            return weft__error_argument(world, what,
                                        "desc->place_at is outside of the values of desc->place: "
                                        "give the bytes of three floats of a plain component");
    return WEFT_OK;
}

weft_result weft_sections_save(weft_world *world, const char *path, const weft_sections_desc *desc)
{
    static const weft_sections_desc defaults;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (desc == NULL) desc = &defaults;
    weft_result result = save_check(world, path, desc);
    if (result == WEFT_OK) result = weft__lent_refuse(world, "weft_sections_save");
    if (result != WEFT_OK) return result;
    writer w = {.world = world, .plan = {.world = world, .desc = desc}};
    w.plan.pile = (weft__pile){&world->memory, WEFT__MEMORY_COMMANDS};
    w.plan.section_component = weft_component_find(world, "Section").id;
    result = section_plan_make(&w.plan);
    if (result == WEFT_OK) result = sections_write(&w, path);
    section_plan_fini(&w.plan);
    return result;
}
