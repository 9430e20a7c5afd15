/* SPDX-License-Identifier: MIT */
/* slice.c: what a slice can reach beyond its column pointers.
 *
 * Everything that depends on who dispatched the slice (a cursor of the owner, or the scheduler with
 * its declarations) goes through the table of functions in the slice's context. */
#include "column_map.h"
#include "enable.h"
#include "slice_ops.h"
#include "sparse.h"
#include "stand_in.h"

#include <string.h>

static const weft_slice_context *context_of(const weft_slice *slice)
{
    return slice->context;
}

static const weft__slice_ops *ops_of(const weft_slice *slice)
{
    return context_of(slice)->ops;
}

static const weft__chunk *chunk_of(const weft_slice *slice)
{
    return slice->chunk;
}

/* ---- answers to mistakes ---- */

/* The component of a term; WEFT__NONE: there is no such term, or no such slice any more. */
static uint32_t component_of(const weft_slice *slice, uint32_t term)
{
    if (!weft__slice_is_here(slice)) return WEFT__NONE;
    const weft__query *query = weft__slice_query(slice);
    bool has_term = query != NULL && term < query->term_count;
    return has_term ? query->terms[term].component : WEFT__NONE;
}

/* In place of a column that the slice does not give: memory that stands in (stand_in.h). */
static void *no_column(const weft_slice *slice, uint32_t term)
{
    return weft__stand_in_values(context_of(slice)->world, component_of(slice, term),
                                 weft__slice_row_count(slice));
}

/* In place of one value. */
static void *no_value(const weft_slice *slice, uint32_t term)
{
    return weft__stand_in_values(context_of(slice)->world, component_of(slice, term), 1);
}

static void *no_value_of(const weft_slice *slice, weft_component component)
{
    return weft__stand_in_values(context_of(slice)->world, component.id, 1);
}

/* False, and reported, in checked builds: the slice is no more. */
static bool is_here(const weft_slice *slice, weft_access access)
{
    if (!WEFT_IS_CHECKED || weft__slice_is_here(slice)) return true;
    ops_of(slice)->report(slice, WEFT__NONE, access);
    return false;
}

/* False, and reported: there is no such term. */
static bool has_term(const weft_slice *slice, uint32_t term, weft_access access)
{
    if (term < slice->term_count && weft__slice_is_here(slice)) return true;
    ops_of(slice)->report(slice, term, access);
    return false;
}

/* Where a term is in the chunk; NULL (and a report) when there is no such term. */
static const weft__place *place_of(const weft_slice *slice, uint32_t term, weft_access access)
{
    return has_term(slice, term, access) ? (const weft__place *)slice->places + term : NULL;
}

/* ---- columns that are asked for by a call ---- */

/* False, and reported: there is no such term (or no chunk: its callback has returned), its column
 * is for weft_slice_write_buffers, or, in a loop of the owner, it is written and not declared so:
 * systems have copies of what they only read. */
static bool check_term(const weft_slice *slice, uint32_t term, weft_access access)
{
    if (!has_term(slice, term, access)) return false;
    const weft__query_term *asked = &weft__slice_query(slice)->terms[term];
    bool is_undeclared = access == WEFT_WRITE && asked->access != WEFT_WRITE;
    if (is_undeclared || asked->is_buffer || asked->access == WEFT_NO_ACCESS)
        ops_of(slice)->report(slice, term, access);
    return !asked->is_buffer && !(is_undeclared && ops_of(slice) == &weft__slice_ops_owner);
}

/* Whether every row has the component of a term, so that a column that is missing is a mistake: its
 * values are kept otherwise. */
static bool is_kept_otherwise(const weft__query_term *asked)
{
    bool is_sure = asked->match == WEFT_ALL || asked->match == WEFT_PRESENT;
    bool is_other = asked->is_shared || asked->is_chunk_value ||
                    (asked->sparse != NULL && asked->sparse->value_bytes != 0);
    return is_sure && is_other;
}

void *weft_slice_ask(const weft_slice *slice, uint32_t term, weft_access access)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0)
        return ops_of(slice)->new_rows->column(slice, term, access);
    if (WEFT_IS_CHECKED && !check_term(slice, term, access)) return no_column(slice, term);
    bool is_buffer = (slice->calls & WEFT_SLICE_BUFFERS) != 0 && term < slice->term_count &&
                     weft__slice_query(slice)->terms[term].is_buffer;
    if (is_buffer) return NULL;
    bool stamps = access == WEFT_WRITE && (slice->calls & WEFT_SLICE_STAMPS) != 0;
    if (stamps && weft__slice_query(slice)->terms[term].access == WEFT_WRITE)
        weft__slice_stamp(slice, term, context_of(slice)->stamp);
    if (WEFT_IS_CHECKED && slice->columns[term] == NULL &&
        is_kept_otherwise(&weft__slice_query(slice)->terms[term])) {
        ops_of(slice)->report(slice, term, access);
        return no_column(slice, term);
    }
    return slice->columns[term];
}

void *weft_slice_ask_as(const weft_slice *slice, uint32_t term, weft_access access, size_t size,
                        const char *type)
{
    if (!WEFT_IS_CHECKED) return weft_slice_ask(slice, term, access);
    if ((slice->calls & WEFT_SLICE_ROWS) != 0)
        return ops_of(slice)->new_rows->column_as(slice, term, access, size, type);
    const weft_world *world = context_of(slice)->world;
    if (check_term(slice, term, access)) {
        const weft__query_term *asked = &weft__slice_query(slice)->terms[term];
        if (is_kept_otherwise(asked) ||
            weft__slice_is_type(world->types.at[asked->component], size, type))
            return weft_slice_ask(slice, term, access);
        ops_of(slice)->mistype(slice, term, access, type);
    }
    return weft__stand_in_bytes(world, weft__slice_row_count(slice) * size);
}

/* ---- single rows ---- */

/* The term of a slice of a query; NULL, and reported, when there is none, or it is not declared. */
static const weft__query_term *row_term(const weft_slice *slice, uint32_t term, uint32_t row,
                                        weft_access access)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) {
        ops_of(slice)->report(slice, term, access);
        return NULL;
    }
    if (!has_term(slice, term, access)) return NULL;
    if (row >= slice->count) {
        ops_of(slice)->report_row(slice, term, row, access);
        return NULL;
    }
    if (WEFT_IS_CHECKED && !check_term(slice, term, access)) return NULL;
    return &weft__slice_query(slice)->terms[term];
}

/* `asked` is SPARSE: the row that the entity has of it. */
static void *sparse_value(const weft_slice *slice, const weft__query_term *asked, uint32_t row,
                          weft_access access)
{
    uint32_t at;
    const weft_slice_context *context = context_of(slice);
    const weft__chunk *chunk =
        weft__sparse_find(context->world, asked->sparse, slice->entities[row], &at);
    if (chunk == NULL || asked->sparse->value_bytes == 0) return NULL;
    if (access == WEFT_WRITE && context->stamp != 0)
        weft__stamp(&weft__chunk_versions(chunk, 0)[at >> chunk->layout->slice_shift],
                    context->stamp);
    return weft__chunk_value(chunk, 1, at);
}

static void *row_value(const weft_slice *slice, uint32_t term, uint32_t row, weft_access access)
{
    const weft__query_term *asked = row_term(slice, term, row, access);
    if (asked == NULL) return no_value(slice, term);
    if (asked->sparse != NULL) return sparse_value(slice, asked, row, access);
    char *column = weft_slice_ask(slice, term, access);
    const weft__place *place = (const weft__place *)slice->places + term;
    if (column == NULL || place->column == WEFT__NO_PLACE) return column;
    return column + (size_t)row * chunk_of(slice)->layout->columns[place->column].bytes;
}

const void *weft_slice_read_row(const weft_slice *slice, uint32_t term, uint32_t row)
{
    return row_value(slice, term, row, WEFT_READ);
}

void *weft_slice_write_row(const weft_slice *slice, uint32_t term, uint32_t row)
{
    return row_value(slice, term, row, WEFT_WRITE);
}

/* ---- values of the chunk ---- */

const void *weft_slice_read_shared(const weft_slice *slice, uint32_t term)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) return ops_of(slice)->new_rows->shared(slice, term);
    const weft__place *place = place_of(slice, term, WEFT_READ);
    bool is_shared = place != NULL && weft__slice_query(slice)->terms[term].is_shared;
    if (place != NULL && !is_shared) ops_of(slice)->report(slice, term, WEFT_READ);
    if (!is_shared) return no_value(slice, term);
    if (place->shared == WEFT__NO_PLACE) return NULL;
    uint32_t component = weft__slice_query(slice)->terms[term].component;
    return weft__shared_value(&context_of(slice)->world->shared, component,
                              chunk_of(slice)->tuple->values[place->shared]);
}

static void *slice_chunk_value(const weft_slice *slice, uint32_t term, weft_access access)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) {
        ops_of(slice)->report(slice, term, access);
        return no_value(slice, term);
    }
    const weft__place *place = place_of(slice, term, access);
    bool is_chunk = place != NULL && weft__slice_query(slice)->terms[term].is_chunk_value;
    if (place != NULL && !is_chunk) ops_of(slice)->report(slice, term, access);
    if (!is_chunk) return no_value(slice, term);
    if (place->type == WEFT__NO_PLACE) return NULL;
    if (WEFT_IS_CHECKED) check_term(slice, term, access);
    const weft__chunk *chunk = chunk_of(slice);
    uint32_t offset = chunk->archetype->types[place->type].chunk_offset;
    if (offset == WEFT__NONE) return NULL;
    uint32_t stamp = context_of(slice)->stamp;
    if (access == WEFT_WRITE && stamp != 0) /* one value for all slices */
        for (uint32_t s = 0; s < chunk->layout->slice_count; s++)
            weft__stamp(&weft__chunk_versions(chunk, place->type)[s], stamp);
    return chunk->chunk_values + offset;
}

const void *weft_slice_read_chunk(const weft_slice *slice, uint32_t term)
{
    return slice_chunk_value(slice, term, WEFT_READ);
}

void *weft_slice_write_chunk(const weft_slice *slice, uint32_t term)
{
    return slice_chunk_value(slice, term, WEFT_WRITE);
}

/* Apart, as all that follows, so that the quick way saves no registers: 3.5 ns a row, 4.2
 * with them. */
static __attribute__((noinline)) void enable_later(const weft_slice *slice, uint32_t enableable,
                                                   uint32_t row, bool enabled)
{
    weft__chunk_enable(chunk_of(slice), enableable, weft__slice_first_row(slice) + row, enabled);
}

static __attribute__((noinline)) void enable_checked(const weft_slice *slice, uint32_t term,
                                                     uint32_t row, bool enabled)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) {
        ops_of(slice)->new_rows->enable(slice, term, row, enabled);
        return;
    }
    const weft__query *query = weft__slice_query(slice);
    const weft__place *place = place_of(slice, term, WEFT_WRITE);
    if (place == NULL) return;
    if (row >= slice->count) {
        ops_of(slice)->report_row(slice, term, row, WEFT_WRITE);
        return;
    }
    if (place->enableable == WEFT__NO_PLACE || query->terms[term].access != WEFT_WRITE) {
        ops_of(slice)->report(slice, term, WEFT_WRITE);
        return;
    }
    if ((slice->calls & WEFT_SLICE_STAMPS) != 0)
        weft__slice_stamp(slice, term, context_of(slice)->stamp);
    enable_later(slice, place->enableable, row, enabled);
}

/* The bits of the first enableable type of an archetype are found without multiplications. */
void weft_slice_enable(const weft_slice *slice, uint32_t term, uint32_t row, bool enabled)
{
    uint32_t enableable = WEFT__NO_PLACE;
    const uint32_t slow = WEFT_SLICE_CHECKED | WEFT_SLICE_STAMPS | WEFT_SLICE_ROWS;
    bool is_plain = (slice->calls & slow) == 0;
    if (__builtin_expect(is_plain && term < slice->term_count && row < slice->count, 1))
        enableable = ((const weft__place *)slice->places)[term].enableable;
    if (__builtin_expect(enableable == 0, 1)) /* the run is stamped */
        weft__chunk_enable(chunk_of(slice), 0, weft__slice_first_row(slice) + row, enabled);
    else if (enableable != WEFT__NO_PLACE)
        enable_later(slice, enableable, row, enabled);
    else
        enable_checked(slice, term, row, enabled);
}

/* ---- through the context ---- */

const void *weft_slice_read_entity(const weft_slice *slice, weft_entity entity,
                                   weft_component component)
{
    if (!is_here(slice, WEFT_READ)) return no_value_of(slice, component);
    return ops_of(slice)->get(slice, entity, component);
}

void *weft_slice_write_entity(const weft_slice *slice, weft_entity entity, weft_component component)
{
    if (!is_here(slice, WEFT_WRITE)) return no_value_of(slice, component);
    return ops_of(slice)->get_write(slice, entity, component);
}

static void *slice_resource(const weft_slice *slice, weft_component component, weft_access access)
{
    if (!is_here(slice, access)) return no_value_of(slice, component);
    return ops_of(slice)->resource(slice, component, access);
}

const void *weft_slice_read_resource(const weft_slice *slice, weft_component component)
{
    return slice_resource(slice, component, WEFT_READ);
}

void *weft_slice_write_resource(const weft_slice *slice, weft_component component)
{
    return slice_resource(slice, component, WEFT_WRITE);
}

weft_finder weft_slice_finder(const weft_slice *slice, weft_component component)
{
    const weft_slice_context *context = slice->context;
    const weft__slice_ops *ops = context->ops;
    is_here(slice, WEFT_READ); /* reported, it goes on */
    if (!ops->may_find(slice, component) || weft__type_at(context->world, component) == NULL)
        return (weft_finder){0};
    return weft__finder_make(context->world, component);
}

weft_recorder *weft_slice_recorder(const weft_slice *slice)
{
    return is_here(slice, WEFT_NO_ACCESS) ? ops_of(slice)->commands(slice) : NULL;
}

weft_world *weft_slice_world(const weft_slice *slice)
{
    return context_of(slice)->world;
}
