/* SPDX-License-Identifier: MIT */
/* slice_ops.c: what slices of the owner's cursors reach beyond their columns, and what slices of
 * all dispatchers share: the C type of a term, stamps, the words for a wrong access. */
#include "slice_ops.h"
#include "entity_value.h"
#include "guard.h"
#include "query_cursor.h"

static const weft_slice_context *context_of(const weft_slice *slice)
{
    return slice->context;
}

/* ---- all slices ---- */

/* The name of a C type without what stands in front of it: struct, const, namespaces. */
static const char *bare_name(const char *type)
{
    const char *name = type;
    for (; *type != 0; type++)
        if ((*type == ' ' || *type == ':') && type[1] != 0) name = type + 1;
    return name;
}

bool weft__slice_is_type(const weft__type *held, size_t size, const char *type)
{
    if ((held->desc.flags & WEFT_BUFFER) != 0 || held->value_bytes != size) return false;
    return at_load_rlx(&held->x_is_typed) == 0 || /* relaxed: see weft_component_create_typed */
           strcmp(bare_name(held->desc.name), bare_name(type)) == 0;
}

void weft__slice_stamp(const weft_slice *slice, uint32_t term, uint32_t stamp)
{
    const weft__place *place = (const weft__place *)slice->places + term;
    const weft__chunk *chunk = slice->chunk;
    if (stamp == 0 || slice->count == 0 || place->type == WEFT__NO_PLACE) return;
    uint32_t shift = chunk->layout->slice_shift;
    uint32_t row = weft__slice_first_row(slice);
    weft_a32 *x_versions = weft__chunk_versions(chunk, place->type);
    for (uint32_t s = row >> shift; s <= (row + slice->count - 1) >> shift; s++)
        weft__stamp(&x_versions[s], stamp);
}

bool weft__slice_is_known(const weft_slice *slice)
{
    const weft_slice *shown = slice;
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) return true; /* their recorder knows */
    if ((slice->calls & WEFT__SLICE_GIVEN) != 0)
        shown = &((const weft__given_slice *)slice->context)->slice;
    if ((slice->calls & WEFT__SLICE_SHOWN) != 0)
        shown = &((const weft__query_loop *)(const void *)((const char *)slice->context -
                                                           offsetof(weft__query_loop, context)))
                     ->shown;
    return slice == shown || memcmp(slice, shown, sizeof *slice) == 0;
}

/* ---- slices of the owner's cursors ---- */

/* The place of a value in the column that the slice was given, when it is of one of its rows: in
 * checked builds that may be a copy. NULL: it is elsewhere. */
static char *own_value(const weft_slice *slice, weft_entity entity, weft_component component)
{
    uint32_t row;
    const weft_world *world = context_of(slice)->world;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL || chunk != slice->chunk) return NULL;
    uint32_t first = weft__slice_first_row(slice), id = weft__component_id(world, component);
    if (row < first || row - first >= slice->count) return NULL;
    for (uint32_t i = 0; i < slice->term_count; i++) {
        if (weft__slice_query(slice)->terms[i].component != id || slice->columns[i] == NULL)
            continue;
        uint32_t column = ((const weft__place *)slice->places)[i].column;
        return (char *)slice->columns[i] +
               (size_t)(row - first) * chunk->layout->columns[column].bytes;
    }
    return NULL;
}

static void *owner_get(const weft_slice *slice, weft_entity entity, weft_component component)
{
    char *own = WEFT_IS_CHECKED ? own_value(slice, entity, component) : NULL;
    if (own != NULL) return own;
    return (void *)(uintptr_t)weft_entity_read(context_of(slice)->world, entity, component);
}

static void *owner_get_write(const weft_slice *slice, weft_entity entity, weft_component component)
{
    return weft_entity_write(context_of(slice)->world, entity, component);
}

static bool owner_may_find(const weft_slice *slice, weft_component component)
{
    const weft_world *world = context_of(slice)->world;
    if (weft__type_at(world, component) != NULL) return true;
    weft__error_component(world, component);
    return false;
}

static void *owner_resource(const weft_slice *slice, weft_component component, weft_access access)
{
    weft_world *world = context_of(slice)->world;
    if (access == WEFT_WRITE) return weft_resource_write(world, component);
    return (void *)(uintptr_t)weft_resource_read(world, component);
}

const char *weft__slice_problem(const weft__query *query, uint32_t term, weft_access access)
{
    if (term >= query->term_count) return "does not exist: terms count from 0 as described";
    uint8_t declared = query->terms[term].access;
    if (access == WEFT_WRITE && declared != WEFT_WRITE)
        return "is written, but not declared so: give it WEFT_WRITE";
    if (declared == WEFT_NO_ACCESS)
        return "is read, but declared WEFT_NO_ACCESS: give it WEFT_READ";
    if (query->terms[term].is_buffer)
        return "is a BUFFER, which has no column: use weft_slice_read_buffers or "
               "weft_slice_write_buffers";
    return "is used in a way that its kind does not support: SHARED values need "
           "weft_slice_read_shared, CHUNK weft_slice_read_chunk, SPARSE weft_slice_read_row, "
           "BUFFER "
           "weft_slice_read_buffers, enable bits ENABLEABLE";
}

static void owner_report(const weft_slice *slice, uint32_t term, weft_access access, uint32_t row,
                         const char *type)
{
    const weft_world *world = context_of(slice)->world;
    if (!weft__slice_is_here(slice)) {
        weft__error(world, WEFT_UNDECLARED_ACCESS, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "a loop over a query " WEFT__SLICE_GONE);
        return;
    }
    const weft__query *query = weft__slice_query(slice);
    const uint32_t id = term < query->term_count ? query->terms[term].component : 0;
    const weft_component component = weft__component(world, id);
    const char *name = weft__type_name(world, id);
    const char *done = access == WEFT_WRITE ? "written" : "read";
    if (type != NULL)
        weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                    "term %u (%s) of a query is %s as %s, which" WEFT__MISTYPED, term, name, done,
                    type);
    else if (row != WEFT__NONE)
        weft__error(
            world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, component,
            "row %u of a slice of %u row%s, whose term %u (%s) is to be %s, " WEFT__ROW_PAST_END,
            row, slice->count, slice->count == 1 ? "" : "s", term, name, done);
    else
        weft__error(world, WEFT_UNDECLARED_ACCESS, WEFT__NO_ENTITY, component,
                    "term %u of %u (%s) of a query %s", term, query->term_count, name,
                    weft__slice_problem(query, term, access));
}

const weft__slice_ops weft__slice_ops_owner = {
    .get = owner_get,
    .get_write = owner_get_write,
    .may_find = owner_may_find,
    .resource = owner_resource,
    .report = owner_report,
};

/* ---- what a slice reaches beyond its column pointers: what depends on who dispatched it goes
 * through the table of functions in its context ---- */

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

/* In place of a column that the slice does not give: memory that stands in (error.h). */
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
    weft__slice_report(slice, WEFT__NONE, access);
    return false;
}

/* False, and reported: there is no such term. */
static bool has_term(const weft_slice *slice, uint32_t term, weft_access access)
{
    if (term < slice->term_count && weft__slice_is_here(slice)) return true;
    weft__slice_report(slice, term, access);
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
        weft__slice_report(slice, term, access);
    return !asked->is_buffer &&
           !(is_undeclared && weft__slice_ops_of(slice) == &weft__slice_ops_owner);
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
        return weft__slice_ops_of(slice)->new_rows->column(slice, term, access);
    if (WEFT_IS_CHECKED && !check_term(slice, term, access)) return no_column(slice, term);
    bool is_buffer = (slice->calls & WEFT_SLICE_BUFFERS) != 0 && term < slice->term_count &&
                     weft__slice_query(slice)->terms[term].is_buffer;
    if (is_buffer) return NULL;
    bool stamps = access == WEFT_WRITE && (slice->calls & WEFT_SLICE_STAMPS) != 0;
    if (stamps && weft__slice_query(slice)->terms[term].access == WEFT_WRITE)
        weft__slice_stamp(slice, term, context_of(slice)->stamp);
    if (WEFT_IS_CHECKED && slice->columns[term] == NULL &&
        is_kept_otherwise(&weft__slice_query(slice)->terms[term])) {
        weft__slice_report(slice, term, access);
        return no_column(slice, term);
    }
    return slice->columns[term];
}

void *weft_slice_ask_as(const weft_slice *slice, uint32_t term, weft_access access, size_t size,
                        const char *type)
{
    if (!WEFT_IS_CHECKED) return weft_slice_ask(slice, term, access);
    if ((slice->calls & WEFT_SLICE_ROWS) != 0)
        return weft__slice_ops_of(slice)->new_rows->column_as(slice, term, access, size, type);
    const weft_world *world = context_of(slice)->world;
    if (check_term(slice, term, access)) {
        const weft__query_term *asked = &weft__slice_query(slice)->terms[term];
        if (is_kept_otherwise(asked) ||
            weft__slice_is_type(world->types.at[asked->component], size, type))
            return weft_slice_ask(slice, term, access);
        weft__slice_ops_of(slice)->report(slice, term, access, WEFT__NONE, type);
    }
    return weft__stand_in_bytes(world, weft__slice_row_count(slice) * size);
}

/* ---- single rows ---- */

/* The term of a slice of a query; NULL, and reported, when there is none, or it is not declared. */
static const weft__query_term *row_term(const weft_slice *slice, uint32_t term, uint32_t row,
                                        weft_access access)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) {
        weft__slice_report(slice, term, access);
        return NULL;
    }
    if (!has_term(slice, term, access)) return NULL;
    if (row >= slice->count) {
        weft__slice_ops_of(slice)->report(slice, term, access, row, NULL);
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
    if ((slice->calls & WEFT_SLICE_ROWS) != 0)
        return weft__slice_ops_of(slice)->new_rows->shared(slice, term);
    const weft__place *place = place_of(slice, term, WEFT_READ);
    bool is_shared = place != NULL && weft__slice_query(slice)->terms[term].is_shared;
    if (place != NULL && !is_shared) weft__slice_report(slice, term, WEFT_READ);
    if (!is_shared) return no_value(slice, term);
    if (place->shared == WEFT__NO_PLACE) return NULL;
    uint32_t component = weft__slice_query(slice)->terms[term].component;
    return weft__shared_value(&context_of(slice)->world->shared, component,
                              chunk_of(slice)->tuple->values[place->shared]);
}

static void *slice_chunk_value(const weft_slice *slice, uint32_t term, weft_access access)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) {
        weft__slice_report(slice, term, access);
        return no_value(slice, term);
    }
    const weft__place *place = place_of(slice, term, access);
    bool is_chunk = place != NULL && weft__slice_query(slice)->terms[term].is_chunk_value;
    if (place != NULL && !is_chunk) weft__slice_report(slice, term, access);
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
        weft__slice_ops_of(slice)->new_rows->enable(slice, term, row, enabled);
        return;
    }
    const weft__query *query = weft__slice_query(slice);
    const weft__place *place = place_of(slice, term, WEFT_WRITE);
    if (place == NULL) return;
    if (row >= slice->count) {
        weft__slice_ops_of(slice)->report(slice, term, WEFT_WRITE, row, NULL);
        return;
    }
    if (place->enableable == WEFT__NO_PLACE || query->terms[term].access != WEFT_WRITE) {
        weft__slice_report(slice, term, WEFT_WRITE);
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
    return weft__slice_ops_of(slice)->get(slice, entity, component);
}

void *weft_slice_write_entity(const weft_slice *slice, weft_entity entity, weft_component component)
{
    if (!is_here(slice, WEFT_WRITE)) return no_value_of(slice, component);
    return weft__slice_ops_of(slice)->get_write(slice, entity, component);
}

static void *slice_resource(const weft_slice *slice, weft_component component, weft_access access)
{
    if (!is_here(slice, access)) return no_value_of(slice, component);
    return weft__slice_ops_of(slice)->resource(slice, component, access);
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
    const weft__slice_ops *ops = weft__slice_ops_of(slice);
    if (!is_here(slice, WEFT_NO_ACCESS) || ops->commands == NULL) return NULL;
    return ops->commands(slice);
}

weft_world *weft_slice_world(const weft_slice *slice)
{
    return context_of(slice)->world;
}
