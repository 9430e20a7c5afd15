/* slice.c: what a slice can reach beyond its column pointers.
 *
 * Everything that depends on who dispatched the slice (a cursor of the owner, or the scheduler with
 * its declarations) goes through the table of functions in the slice's context. */
#include "enable.h"
#include "guard.h"

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

/* Where a term is in the chunk; NULL (and a report) when there is no such term. */
static const weft__place *place_of(const weft_slice *slice, uint32_t term, weft_access access)
{
    if (term >= slice->term_count) {
        ops_of(slice)->report(slice, term, access);
        return NULL;
    }
    return (const weft__place *)slice->places + term;
}

/* ---- columns that are asked for by a call ---- */

/* False, and reported: there is no such term (or no chunk: its callback has returned), or its
 * column is for weft_slice_write_buffers. */
static bool check_term(const weft_slice *slice, uint32_t term, weft_access access)
{
    if (term >= slice->term_count || slice->chunk == NULL) {
        ops_of(slice)->report(slice, term, access);
        return false;
    }
    const weft__query_term *asked = &weft__slice_query(slice)->terms[term];
    if (asked->access == WEFT_NO_ACCESS || asked->is_buffer ||
        (access == WEFT_WRITE && asked->access != WEFT_WRITE))
        ops_of(slice)->report(slice, term, access);
    return !asked->is_buffer;
}

void *weft_slice_ask(const weft_slice *slice, uint32_t term, weft_access access)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0)
        return ops_of(slice)->new_rows->column(slice, term, access);
    if (WEFT_IS_CHECKED && !check_term(slice, term, access)) return NULL;
    bool is_buffer = (slice->calls & WEFT_SLICE_BUFFERS) != 0 && term < slice->term_count &&
                     weft__slice_query(slice)->terms[term].is_buffer;
    if (is_buffer) return NULL;
    bool stamps = access == WEFT_WRITE && (slice->calls & WEFT_SLICE_STAMPS) != 0;
    if (stamps && weft__slice_query(slice)->terms[term].access == WEFT_WRITE)
        weft__slice_stamp(slice, term, context_of(slice)->stamp);
    return slice->columns[term];
}

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
    return !held->is_typed || strcmp(bare_name(held->desc.name), bare_name(type)) == 0;
}

void *weft_slice_ask_as(const weft_slice *slice, uint32_t term, weft_access access, size_t size,
                        const char *type)
{
    if (!WEFT_IS_CHECKED) return weft_slice_ask(slice, term, access);
    if ((slice->calls & WEFT_SLICE_ROWS) != 0)
        return ops_of(slice)->new_rows->column_as(slice, term, access, size, type);
    if (!check_term(slice, term, access)) return NULL;
    const weft_world *world = context_of(slice)->world;
    uint32_t component = weft__slice_query(slice)->terms[term].component;
    if (weft__slice_is_type(world->types.at[component], size, type))
        return weft_slice_ask(slice, term, access);
    ops_of(slice)->mistype(slice, term, access, type);
    if (slice->columns[term] == NULL) return NULL;
    return weft__guard_scratch(weft__guard_of(world, slice->worker), slice->count * size);
}

/* ---- values of the chunk ---- */

const void *weft_slice_read_shared(const weft_slice *slice, uint32_t term)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) return ops_of(slice)->new_rows->shared(slice, term);
    const weft__place *place = place_of(slice, term, WEFT_READ);
    if (place == NULL) return NULL;
    if (!weft__slice_query(slice)->terms[term].is_shared)
        ops_of(slice)->report(slice, term, WEFT_READ);
    if (place->shared == WEFT__NO_PLACE) return NULL;
    uint32_t component = weft__slice_query(slice)->terms[term].component;
    return weft__shared_value(&context_of(slice)->world->shared, component,
                              chunk_of(slice)->tuple->values[place->shared]);
}

void weft__slice_stamp(const weft_slice *slice, uint32_t term, uint32_t stamp)
{
    const weft__place *place = (const weft__place *)slice->places + term;
    const weft__chunk *chunk = chunk_of(slice);
    if (stamp == 0 || slice->count == 0 || place->type == WEFT__NO_PLACE) return;
    uint32_t shift = chunk->layout->slice_shift;
    uint32_t row = (uint32_t)(slice->entities - weft__chunk_entities(chunk));
    weft_a32 *x_versions = weft__chunk_versions(chunk, place->type);
    for (uint32_t s = row >> shift; s <= (row + slice->count - 1) >> shift; s++)
        weft__stamp(&x_versions[s], stamp);
}

static void *slice_chunk_value(const weft_slice *slice, uint32_t term, weft_access access)
{
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) {
        ops_of(slice)->report(slice, term, access);
        return NULL;
    }
    const weft__place *place = place_of(slice, term, access);
    if (place == NULL) return NULL;
    if (!weft__slice_query(slice)->terms[term].is_chunk_value)
        ops_of(slice)->report(slice, term, access);
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

static uint32_t first_row_of(const weft_slice *slice)
{
    return (uint32_t)(slice->entities - weft__chunk_entities(chunk_of(slice)));
}

/* Apart, as all that follows, so that the quick way saves no registers: 4.2 ns a row before, 3.5
 * after. */
static __attribute__((noinline)) void enable_later(const weft_slice *slice, uint32_t enableable,
                                                   uint32_t row, bool enabled)
{
    weft__chunk_enable(chunk_of(slice), enableable, first_row_of(slice) + row, enabled);
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
    if (row >= slice->count || place->enableable == WEFT__NO_PLACE ||
        query->terms[term].access != WEFT_WRITE) {
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
        weft__chunk_enable(chunk_of(slice), 0, first_row_of(slice) + row, enabled);
    else if (enableable != WEFT__NO_PLACE)
        enable_later(slice, enableable, row, enabled);
    else
        enable_checked(slice, term, row, enabled);
}

/* ---- through the context ---- */

const void *weft_slice_read_entity(const weft_slice *slice, weft_entity entity,
                                   weft_component component)
{
    return ops_of(slice)->get(slice, entity, component);
}

void *weft_slice_write_entity(const weft_slice *slice, weft_entity entity, weft_component component)
{
    return ops_of(slice)->get_write(slice, entity, component);
}

static void *slice_resource(const weft_slice *slice, weft_component component, weft_access access)
{
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

weft_recorder *weft_slice_recorder(const weft_slice *slice)
{
    return ops_of(slice)->commands(slice);
}

weft_world *weft_slice_world(const weft_slice *slice)
{
    return context_of(slice)->world;
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
    uint32_t first = first_row_of(slice), id = weft__component_id(world, component);
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

static const void *owner_get(const weft_slice *slice, weft_entity entity, weft_component component)
{
    const char *own = WEFT_IS_CHECKED ? own_value(slice, entity, component) : NULL;
    if (own != NULL) return own;
    return weft_entity_read(context_of(slice)->world, entity, component);
}

static void *owner_get_write(const weft_slice *slice, weft_entity entity, weft_component component)
{
    return weft_entity_write(context_of(slice)->world, entity, component);
}

static bool owner_may_find(const weft_slice *slice, weft_component component)
{
    (void)slice, (void)component;
    return true;
}

static void *owner_resource(const weft_slice *slice, weft_component component, weft_access access)
{
    weft_world *world = context_of(slice)->world;
    if (access == WEFT_WRITE) return weft_resource_write(world, component);
    return (void *)(uintptr_t)weft_resource_read(world, component);
}

static weft_recorder *owner_commands(const weft_slice *slice)
{
    (void)slice;
    return NULL;
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
        return "is a BUFFER, of which slices have no column: open it by weft_slice_write_buffers, "
               "with "
               "WEFT_WRITE where it changes";
    return "is used in a way that its component has not: enable bits want ENABLEABLE and a row of "
           "the slice, shared values SHARED, chunk values CHUNK, buffers BUFFER";
}

static void owner_report(const weft_slice *slice, uint32_t term, weft_access access)
{
    const weft__query *query = weft__slice_query(slice);
    uint32_t component = term < query->term_count ? query->terms[term].component : 0;
    weft__error(context_of(slice)->world, WEFT_UNDECLARED_ACCESS, WEFT__NO_ENTITY,
                weft__component(context_of(slice)->world, component),
                "term %u of %u (%s) of a query %s", term, query->term_count,
                weft__type_name(context_of(slice)->world, component),
                weft__slice_problem(query, term, access));
}

static void owner_mistype(const weft_slice *slice, uint32_t term, weft_access access,
                          const char *type)
{
    const weft_world *world = context_of(slice)->world;
    uint32_t component = weft__slice_query(slice)->terms[term].component;
    weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, weft__component(world, component),
                "term %u (%s) of a query is %s as %s, which" WEFT__MISTYPED, term,
                weft__type_name(world, component), access == WEFT_WRITE ? "written" : "read", type);
}

static bool owner_asks(const weft_slice *slice, uint32_t term)
{
    (void)slice, (void)term;
    return true;
}

const weft__slice_ops weft__slice_ops_owner = {
    .get = owner_get,
    .get_write = owner_get_write,
    .may_find = owner_may_find,
    .resource = owner_resource,
    .commands = owner_commands,
    .report = owner_report,
    .mistype = owner_mistype,
    .asks = owner_asks,
};
