/* SPDX-License-Identifier: MIT */
/* buffers.c: the dynamic buffers of some rows, opened through a slice or by entity: what may be
 * changed is settled once, when they are opened. The buffers themselves are in component_type.c. */
#include "guard.h"
#include "world_state.h"

#include <weft/buffers.h>

/* In place of a version of the structure. */
#define NO_STRUCTURE UINT64_MAX            /* a resource: it stays where it is */
#define ROWS_STRUCTURE (UINT64_C(1) << 63) /* rows of a recorder, and the slice's context */
/* Checked builds: what a callback opened, and the context of its slice, a weft__given_slice. */
#define GIVEN_STRUCTURE (UINT64_C(1) << 62)

#define STAND_IN_BYTES ((size_t)65536) /* at least, in place of the elements of a row */

static const weft__new_row_ops *row_ops(const weft_slice *rows)
{
    return weft__slice_ops_of(rows)->new_rows;
}

/* The context of the slice that opened them, when it says whether they still are. */
static const void *context_of(const weft_buffers *buffers)
{
    return (const void *)(uintptr_t)(buffers->structure & ~(ROWS_STRUCTURE | GIVEN_STRUCTURE));
}

/* Not moved since it was opened; of rows of a recorder: not played; of a callback: it runs. */
static bool is_in_place(const weft_buffers *buffers)
{
    if (buffers->structure < GIVEN_STRUCTURE)
        return buffers->structure == buffers->world->front.structure_version;
    if (buffers->structure == NO_STRUCTURE) return true;
    const void *context = context_of(buffers);
    if (buffers->structure < ROWS_STRUCTURE)
        return ((const weft__given_slice *)context)->number == buffers->calls;
    weft_slice rows = {.calls = buffers->calls, .context = context};
    return row_ops(&rows)->are_here(&rows);
}

/* Buffers that stay where they are, until `structure` is set. Memory that stands in for a value is
 * not to be changed as a buffer. */
static weft_buffers make_still(weft_world *world, const weft__type *type, void *rows,
                               uint32_t count, weft_access access)
{
    bool is_writable = access == WEFT_WRITE && !weft__stand_in_holds(world, rows);
    return (weft_buffers){.count = count,
                          .stride = type->value_bytes,
                          .rows = rows,
                          .writable_count = is_writable ? count : 0,
                          .world = world,
                          .type = type,
                          .structure = NO_STRUCTURE};
}

static weft_buffers make(weft_world *world, const weft__type *type, void *rows, uint32_t count,
                         weft_access access)
{
    weft_buffers buffers = make_still(world, type, rows, count, access);
    buffers.structure = world->front.structure_version;
    return buffers;
}

/* Checked builds: ends with the callback of the slice. */
static weft_buffers bind(weft_buffers buffers, const weft_slice *slice)
{
    if (!WEFT_IS_CHECKED || (slice->calls & WEFT__SLICE_GIVEN) == 0 || buffers.count == 0)
        return buffers;
    buffers.structure = GIVEN_STRUCTURE | (uint64_t)(uintptr_t)slice->context;
    buffers.calls = ((const weft__given_slice *)slice->context)->number;
    return buffers;
}

/* ---- opening ---- */

/* Rows that a recorder gave: terms are the components of the archetype. They stay where they are
 * until playback, whatever happens to the structure. */
static weft_buffers of_new_rows(const weft_slice *slice, uint32_t term, weft_access access)
{
    const weft_slice_context *context = slice->context;
    bool is_here = row_ops(slice)->are_here(slice);
    const weft__chunk *chunk = slice->chunk;
    const weft__type *type =
        is_here && term < slice->term_count ? chunk->archetype->types[term].type : NULL;
    bool is_buffer = type != NULL && (type->desc.flags & WEFT_BUFFER) != 0;
    if (is_here && !is_buffer) weft__slice_report(slice, term, access);
    if (!is_buffer && !WEFT_IS_CHECKED) return (weft_buffers){0};
    weft_buffers buffers =
        make_still(context->world, is_buffer ? type : context->world->types.at[1],
                   is_buffer ? slice->columns[term] : NULL, is_buffer ? slice->count : 0, access);
    buffers.structure = ROWS_STRUCTURE | (uint64_t)(uintptr_t)context;
    buffers.calls = slice->calls;
    return buffers;
}

/* A term of a query: BUFFER, and declared for this access. */
static bool may_open(const weft_slice *slice, uint32_t term, weft_access access)
{
    const weft__query *query = weft__slice_query(slice);
    if (term >= slice->term_count || !weft__slice_is_here(slice)) return false;
    uint8_t declared = query->terms[term].access;
    return query->terms[term].is_buffer && (declared == WEFT_WRITE || declared == (uint8_t)access);
}

/* In place of buffers that may not be opened: empty ones in checked builds, else none. */
static weft_buffers stand_in(const weft_slice *slice, uint32_t term)
{
    weft_world *world = weft_slice_world(slice);
    const weft__query *query = weft__slice_query(slice);
    bool has_term = weft__slice_is_here(slice) && query != NULL && term < query->term_count;
    const weft__type *type = world->types.at[has_term ? query->terms[term].component : 1];
    uint32_t rows = weft__slice_row_count(slice);
    if (!WEFT_IS_CHECKED) return (weft_buffers){0};
    if ((type->desc.flags & WEFT_BUFFER) == 0) return make(world, type, NULL, 0, WEFT_READ);
    void *values = weft__stand_in_values(world, type->id, rows);
    return make(world, type, values, values == NULL ? 0 : rows, WEFT_READ);
}

static weft_buffers slice_buffers(const weft_slice *slice, uint32_t term, weft_access access)
{
    weft_buffers none = {0};
    if (slice == NULL || slice->context == NULL) return none;
    const weft_slice_context *context = slice->context;
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) return of_new_rows(slice, term, access);
    if (!may_open(slice, term, access)) {
        weft__slice_report(slice, term, access);
        return stand_in(slice, term);
    }
    const weft__place *place = (const weft__place *)slice->places + term;
    if (place->type == WEFT__NO_PLACE) return none;
    const weft__chunk *chunk = slice->chunk;
    const weft__type *type = chunk->archetype->types[place->type].type;
    if (access == WEFT_WRITE && (slice->calls & WEFT_SLICE_STAMPS) != 0)
        weft__slice_stamp(slice, term, context->stamp);
    return bind(make(context->world, type, slice->columns[term], slice->count, access), slice);
}

weft_buffers weft_slice_read_buffers(const weft_slice *slice, uint32_t term)
{
    return slice_buffers(slice, term, WEFT_READ);
}

weft_buffers weft_slice_write_buffers(const weft_slice *slice, uint32_t term)
{
    return slice_buffers(slice, term, WEFT_WRITE);
}

static const weft__type *buffer_type(const weft_world *world, weft_component component)
{
    const weft__type *type = weft__type_at(world, component);
    return type != NULL && (type->desc.flags & WEFT_BUFFER) != 0 ? type : NULL;
}

/* In place of the buffer of a component that is none, in checked builds; `value` is what the slice
 * answered: memory that stands in when it has reported the component. */
static weft_buffers no_buffer(const weft_slice *slice, weft_component component, const void *value,
                              const char *what)
{
    weft_world *world = weft_slice_world(slice);
    bool is_reported = value != NULL && weft__stand_in_holds(world, value);
    if (!is_reported)
        weft__error_use(world, WEFT_TYPE_MISMATCH, what, component,
                        ": it is no BUFFER: open a component registered with WEFT_BUFFER");
    const weft__type *type = weft__type_at(world, component);
    return make(world, type == NULL ? world->types.at[1] : type, NULL, 0, WEFT_READ);
}

static weft_buffers slice_buffer_of(const weft_slice *slice, weft_entity entity,
                                    weft_component component, weft_access access)
{
    weft_buffers none = {0};
    if (slice == NULL || slice->context == NULL) return none;
    weft_world *world = weft_slice_world(slice);
    const weft__type *type = buffer_type(world, component);
    if (type == NULL && !WEFT_IS_CHECKED) return none;
    void *value = access == WEFT_WRITE
                      ? weft_slice_write_entity(slice, entity, component)
                      : (void *)(uintptr_t)weft_slice_read_entity(slice, entity, component);
    if (type == NULL)
        return no_buffer(slice, component, value,
                         access == WEFT_WRITE ? "weft_slice_write_entity_buffer"
                                              : "weft_slice_read_entity_buffer");
    return value == NULL ? none : bind(make(world, type, value, 1, access), slice);
}

weft_buffers weft_slice_read_entity_buffer(const weft_slice *slice, weft_entity entity,
                                           weft_component component)
{
    return slice_buffer_of(slice, entity, component, WEFT_READ);
}

weft_buffers weft_slice_write_entity_buffer(const weft_slice *slice, weft_entity entity,
                                            weft_component component)
{
    return slice_buffer_of(slice, entity, component, WEFT_WRITE);
}

static weft_buffers entity_buffer(weft_world *world, weft_entity entity, weft_component component,
                                  weft_access access)
{
    weft_buffers none = {0};
    if (world == NULL) return none;
    const weft__type *type = buffer_type(world, component);
    if (type == NULL && weft__type_at(world, component) == NULL)
        weft__error_component(world, component);
    else if (type == NULL)
        weft__error(world, WEFT_TYPE_MISMATCH, entity, component,
                    "weft_entity_%s_buffer: component \"%s\" is no BUFFER: use weft_entity_%s",
                    access == WEFT_WRITE ? "write" : "read", weft__type_name(world, component.id),
                    access == WEFT_WRITE ? "write" : "read");
    if (type == NULL) return none;
    void *value = access == WEFT_WRITE
                      ? weft_entity_write(world, entity, component)
                      : (void *)(uintptr_t)weft_entity_read(world, entity, component);
    return value == NULL ? none : make(world, type, value, 1, access);
}

weft_buffers weft_entity_read_buffer(weft_world *world, weft_entity entity,
                                     weft_component component)
{
    return entity_buffer(world, entity, component, WEFT_READ);
}

weft_buffers weft_entity_write_buffer(weft_world *world, weft_entity entity,
                                      weft_component component)
{
    return entity_buffer(world, entity, component, WEFT_WRITE);
}

/* ---- opening resources ---- */

static weft_buffers of_resource(weft_world *world, weft_component component, void *value,
                                weft_access access)
{
    if (value == NULL) return (weft_buffers){0};
    return make_still(world, world->types.at[component.id], value, 1, access);
}

static weft_buffers slice_resource(const weft_slice *slice, weft_component component,
                                   weft_access access)
{
    if (slice == NULL || slice->context == NULL) return (weft_buffers){0};
    weft_world *world = weft_slice_world(slice);
    const weft__type *type = buffer_type(world, component);
    if (type == NULL && !WEFT_IS_CHECKED) return (weft_buffers){0};
    void *value = access == WEFT_WRITE
                      ? weft_slice_write_resource(slice, component)
                      : (void *)(uintptr_t)weft_slice_read_resource(slice, component);
    if (type == NULL)
        return no_buffer(slice, component, value,
                         access == WEFT_WRITE ? "weft_slice_write_resource_buffer"
                                              : "weft_slice_read_resource_buffer");
    return bind(of_resource(world, component, value, access), slice);
}

weft_buffers weft_slice_read_resource_buffer(const weft_slice *slice, weft_component component)
{
    return slice_resource(slice, component, WEFT_READ);
}

weft_buffers weft_slice_write_resource_buffer(const weft_slice *slice, weft_component component)
{
    return slice_resource(slice, component, WEFT_WRITE);
}

static weft_buffers resource(weft_world *world, weft_component component, weft_access access)
{
    void *value = access == WEFT_WRITE ? weft_resource_write(world, component)
                                       : (void *)(uintptr_t)weft_resource_read(world, component);
    if (value != NULL && buffer_type(world, component) == NULL) {
        weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                    "%s: component \"%s\" is no BUFFER: use weft_resource_read or "
                    "weft_resource_write",
                    access == WEFT_WRITE ? "weft_resource_write_buffer"
                                         : "weft_resource_read_buffer",
                    weft__type_name(world, component.id));
        value = NULL;
    }
    return of_resource(world, component, value, access);
}

weft_buffers weft_resource_read_buffer(weft_world *world, weft_component component)
{
    return resource(world, component, WEFT_READ);
}

weft_buffers weft_resource_write_buffer(weft_world *world, weft_component component)
{
    return resource(world, component, WEFT_WRITE);
}

/* ---- changing ---- */

/* Of the owner's buffers, and in callbacks of weft_query_each_parallel: the calls of systems and
 * recorders may come from any thread. */
static bool tells_owner(const weft_buffers *buffers)
{
    const weft_world *world = buffers->world;
    if (buffers->structure >= ROWS_STRUCTURE && buffers->structure != NO_STRUCTURE)
        return false; /* maybe another thread: it reads nothing of the owner */
    return (world->front.busy & WEFT__BUSY_STEPPING) == 0 || weft__error_is_diverted(world);
}

static weft_result tell(const weft_buffers *buffers, weft_result result, const char *what,
                        const char *problem)
{
    const weft__type *type = buffers->type;
    if (!tells_owner(buffers)) return result;
    return weft__error(buffers->world, result, WEFT__NO_ENTITY,
                       weft__component(buffers->world, type->id),
                       "%s: a buffer of component \"%s\" %s", what, type->desc.name, problem);
}

/* Opened for reading, or no such row: systems of checked builds are reported by the step, the owner
 * gets the error, and recorders and jobs nothing more than the result. */
static weft_result refuse(const weft_buffers *buffers, uint32_t row, const char *what)
{
    if (buffers->world == NULL) return WEFT_INVALID_ARGUMENT; /* {0} */
    if (row >= buffers->count)
        return tell(buffers, WEFT_INVALID_ARGUMENT, what,
                    "is not there (nothing changed): rows count from 0 to count - 1");
    const weft_world *world = buffers->world;
    const weft__type *type = buffers->type;
    if ((world->front.busy & WEFT__BUSY_STEPPING) != 0 && world->front.watch.mistake != NULL)
        world->front.watch.mistake(world, WEFT_UNDECLARED_ACCESS, what, type->id,
                                   " was given a buffer opened for reading (nothing was changed): "
                                   "declare and open it with WEFT_WRITE");
    return tell(buffers, WEFT_UNDECLARED_ACCESS, what,
                "was opened with WEFT_READ (nothing changed): open it with WEFT_WRITE");
}

void *weft_buffers_refuse(const weft_buffers *buffers, uint32_t row)
{
    refuse(buffers, row, "weft_buffers_write");
    if (!WEFT_IS_CHECKED || buffers->world == NULL) return NULL; /* {0}: dead or absent */
    size_t bytes = is_in_place(buffers) ? ((const weft__type *)buffers->type)->desc.size *
                                              weft_buffers_length(buffers, row)
                                        : 0;
    return weft__stand_in_bytes(buffers->world, bytes < STAND_IN_BYTES ? STAND_IN_BYTES : bytes);
}

/* The header of a row that may be changed now. */
static weft_buffer *open_row(const weft_buffers *buffers, uint32_t row, const char *what,
                             weft_result *result)
{
    *result = WEFT_INVALID_ARGUMENT;
    if (buffers == NULL || row >= buffers->writable_count) {
        if (buffers != NULL) *result = refuse(buffers, row, what);
        return NULL;
    }
    bool is_kept = buffers->structure >= GIVEN_STRUCTURE && buffers->structure < ROWS_STRUCTURE;
    if (is_kept && !is_in_place(buffers)) {
        const weft_slice_context *context = context_of(buffers);
        weft_slice late = {.context = context, .calls = WEFT__SLICE_GIVEN};
        weft__slice_report(&late, 0, WEFT_WRITE);
        *result = WEFT_WRONG_PHASE;
        return NULL;
    }
    if (!is_in_place(buffers)) {
        *result = tell(buffers, WEFT_WRONG_PHASE, what,
                       "was opened before structure changed (nothing changed): open it again");
        return NULL;
    }
    *result = WEFT_OK;
    return (weft_buffer *)(uintptr_t)weft_buffers_row(buffers, row);
}

/* Says why a change was refused. */
static weft_result finish(const weft_buffers *buffers, weft_result result, const char *what)
{
    if (__builtin_expect(result == WEFT_OK, 1)) return WEFT_OK;
    const char *problem =
        "would have more than 2^32 - 2 elements (nothing changed): use fewer elements";
    if (result == WEFT_OUT_OF_MEMORY)
        problem = "cannot grow: out of memory; nothing changed: free memory and try again";
    else if (result == WEFT_INVALID_ARGUMENT)
        problem = "got elements NULL (nothing changed): give an array of `count`";
    return tell(buffers, result, what, problem);
}

weft_result weft_buffers_append(const weft_buffers *buffers, uint32_t row, const void *elements,
                                uint32_t count)
{
    const char *what = "weft_buffers_append";
    weft_result result;
    weft_buffer *buffer = open_row(buffers, row, what, &result);
    if (buffer == NULL) return result;
    result = weft__buffer_append(&buffers->world->memory, buffers->type, buffer, elements, count);
    return finish(buffers, result, what);
}

weft_result weft_buffers_resize(const weft_buffers *buffers, uint32_t row, uint32_t count)
{
    const char *what = "weft_buffers_resize";
    weft_result result;
    weft_buffer *buffer = open_row(buffers, row, what, &result);
    if (buffer == NULL) return result;
    result = weft__buffer_resize(&buffers->world->memory, buffers->type, buffer, count);
    return finish(buffers, result, what);
}

weft_result weft_buffers_reserve(const weft_buffers *buffers, uint32_t row, uint32_t capacity)
{
    const char *what = "weft_buffers_reserve";
    weft_result result;
    weft_buffer *buffer = open_row(buffers, row, what, &result);
    if (buffer == NULL) return result;
    result = weft__buffer_reserve(&buffers->world->memory, buffers->type, buffer, capacity);
    return finish(buffers, result, what);
}
