/* SPDX-License-Identifier: MIT */
/* slice_ops.c: what slices of the owner's cursors reach beyond their columns, and what slices of
 * all dispatchers share: the C type of a term, stamps, the words for a wrong access. */
#include "slice_ops.h"

#include "archetype_state.h"
#include "entity_value.h"
#include "error.h"
#include "guard.h"
#include "query_cursor.h"

#include <string.h>

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

/* ---- slices that are kept ---- */

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
        return "is a BUFFER, which has no column: use weft_slice_read_buffers or "
               "weft_slice_write_buffers";
    return "is used in a way that its kind does not support: SHARED values need "
           "weft_slice_read_shared, CHUNK weft_slice_read_chunk, SPARSE weft_slice_read_row, "
           "BUFFER "
           "weft_slice_read_buffers, enable bits ENABLEABLE";
}

static void owner_report(const weft_slice *slice, uint32_t term, weft_access access)
{
    if (!weft__slice_is_here(slice)) {
        weft__error(context_of(slice)->world, WEFT_UNDECLARED_ACCESS, WEFT__NO_ENTITY,
                    WEFT__NO_COMPONENT, "a loop over a query " WEFT__SLICE_GONE);
        return;
    }
    const weft__query *query = weft__slice_query(slice);
    uint32_t component = term < query->term_count ? query->terms[term].component : 0;
    weft__error(context_of(slice)->world, WEFT_UNDECLARED_ACCESS, WEFT__NO_ENTITY,
                weft__component(context_of(slice)->world, component),
                "term %u of %u (%s) of a query %s", term, query->term_count,
                weft__type_name(context_of(slice)->world, component),
                weft__slice_problem(query, term, access));
}

static void owner_report_row(const weft_slice *slice, uint32_t term, uint32_t row,
                             weft_access access)
{
    const weft_world *world = context_of(slice)->world;
    uint32_t component = weft__slice_query(slice)->terms[term].component;
    weft__error(
        world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, weft__component(world, component),
        "row %u of a slice of %u row%s, whose term %u (%s) is to be %s, " WEFT__ROW_PAST_END, row,
        slice->count, slice->count == 1 ? "" : "s", term, weft__type_name(world, component),
        access == WEFT_WRITE ? "written" : "read");
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
    .report_row = owner_report_row,
    .mistype = owner_mistype,
    .asks = owner_asks,
};
