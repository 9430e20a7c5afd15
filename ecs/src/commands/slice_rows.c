/* SPDX-License-Identifier: MIT */
/* slice_rows.c: slices of rows that a recorder made in place (record_rows.c). Their terms are the
 * positions of the archetype; they reach their own columns, buffers, enable bits and shared values,
 * and no more: the rows are of no query, and the system's slice reaches the rest. A worker cannot
 * set the world's error, so what is wrong is noted in the recorder, and playback reports it. After
 * playback nothing of a slice is read but its context and round: the rest may be gone. */
#include "slice_rows.h"

#include "enable.h"
#include "recorder.h"
#include "slice_ops.h"
#include "world_state.h"

static weft_recorder *recorder_of(const weft_slice *slice)
{
    char *context = (char *)(uintptr_t)slice->context;
    return (weft_recorder *)(void *)(context - offsetof(weft_recorder, rows_context));
}

/* Its recorder was not played since the rows were made. */
static bool is_current(const weft_slice *slice)
{
    return slice->calls == weft__rows_calls(recorder_of(slice));
}

/* The component of a term; NULL: there is no such term, or the rows were played. */
static const weft__type_ref *ref_of(const weft_slice *slice, uint32_t term)
{
    if (!is_current(slice)) return NULL;
    const weft__chunk *chunk = slice->chunk;
    return term < slice->term_count ? &chunk->archetype->types[term] : NULL;
}

static void note(const weft_slice *slice, weft_result code, uint32_t component)
{
    if (!is_current(slice)) {
        code = WEFT_STALE_ENTITY;
        component = 0;
    }
    weft__recorder_fail(recorder_of(slice), code, WEFT__COMMAND_ROWS, WEFT__NO_ENTITY, component);
}

static void rows_report(const weft_slice *slice, uint32_t term, weft_access access)
{
    const weft__type_ref *ref = ref_of(slice, term);
    (void)access;
    note(slice, WEFT_UNDECLARED_ACCESS, ref == NULL ? 0 : ref->component);
}

static void rows_report_row(const weft_slice *slice, uint32_t term, uint32_t row,
                            weft_access access)
{
    const weft__type_ref *ref = ref_of(slice, term);
    (void)row, (void)access;
    note(slice, WEFT_NOT_FOUND, ref == NULL ? 0 : ref->component);
}

/* ---- answers to mistakes: memory that stands in, in checked builds, else NULL ---- */

static void *no_values(const weft_slice *slice, uint32_t component, uint32_t rows)
{
    return weft__stand_in_values(recorder_of(slice)->world, component, rows);
}

/* The values of a term; `rows` of them. */
static void *no_term(const weft_slice *slice, uint32_t term, uint32_t rows)
{
    const weft__type_ref *ref = ref_of(slice, term);
    return no_values(slice, ref == NULL ? WEFT__NONE : ref->component, rows);
}

/* ---- what works ---- */

static void *rows_column(const weft_slice *slice, uint32_t term, weft_access access)
{
    const weft__type_ref *ref = ref_of(slice, term);
    if (ref != NULL && (ref->type->desc.flags & WEFT_BUFFER) == 0) return slice->columns[term];
    rows_report(slice, term, access);
    return no_term(slice, term, slice->count);
}

static void rows_mistype(const weft_slice *slice, uint32_t term, weft_access access,
                         const char *type)
{
    (void)access, (void)type;
    note(slice, WEFT_TYPE_MISMATCH, ref_of(slice, term)->component);
}

static void *rows_column_as(const weft_slice *slice, uint32_t term, weft_access access, size_t size,
                            const char *type)
{
    void *column = rows_column(slice, term, access);
    const weft__type_ref *ref = ref_of(slice, term);
    if (column != NULL && ref != NULL && !weft__slice_is_type(ref->type, size, type))
        rows_mistype(slice, term, access, type);
    else if (ref != NULL)
        return column;
    return weft__stand_in_bytes(recorder_of(slice)->world, size * slice->count);
}

/* The command that made the rows: their column pointers lie in it. */
static const weft__command_rows *command_of(const weft_slice *slice)
{
    char *columns = (char *)(uintptr_t)slice->columns;
    return (const weft__command_rows *)(void *)(columns - offsetof(weft__command_rows, columns));
}

/* The value that the rows were asked for with; NULL: none, it is the default. */
static const void *asked_value(const weft_slice *slice, uint32_t component)
{
    const weft__command_rows *rows = command_of(slice)->piece;
    const char *at = (const char *)(rows->columns + rows->chunk->archetype->type_count);
    for (const char *end = at + rows->shared_bytes; at < end;) {
        const weft__command_shared *value = (const weft__command_shared *)(const void *)at;
        if (value->component == component) return value->value;
        at += value->bytes;
    }
    return NULL;
}

static const void *rows_shared(const weft_slice *slice, uint32_t term)
{
    const weft__type_ref *ref = ref_of(slice, term);
    if (ref == NULL || ref->shared == WEFT__NO_PLACE) {
        rows_report(slice, term, WEFT_READ);
        return no_term(slice, term, 1);
    }
    const void *value = asked_value(slice, ref->component);
    return value != NULL ? value : ref->type->shared_default;
}

static void rows_enable(const weft_slice *slice, uint32_t term, uint32_t row, bool enabled)
{
    const weft__type_ref *ref = ref_of(slice, term);
    const weft__chunk *chunk = slice->chunk;
    if (ref == NULL || ref->enableable == WEFT__NO_PLACE) {
        rows_report(slice, term, WEFT_WRITE);
        return;
    }
    if (row >= slice->count) {
        rows_report_row(slice, term, row, WEFT_WRITE);
        return;
    }
    weft__chunk_enable(chunk, ref->enableable, command_of(slice)->first + row, enabled);
}

/* ---- what does not ---- */

static const void *rows_get(const weft_slice *slice, weft_entity entity, weft_component component)
{
    (void)entity;
    note(slice, WEFT_UNDECLARED_ACCESS, component.id);
    return no_values(slice, component.id, 1);
}

static void *rows_get_write(const weft_slice *slice, weft_entity entity, weft_component component)
{
    (void)entity;
    note(slice, WEFT_UNDECLARED_ACCESS, component.id);
    return no_values(slice, component.id, 1);
}

static bool rows_may_find(const weft_slice *slice, weft_component component)
{
    note(slice, WEFT_UNDECLARED_ACCESS, component.id);
    return false;
}

static void *rows_resource(const weft_slice *slice, weft_component component, weft_access access)
{
    (void)access;
    note(slice, WEFT_UNDECLARED_ACCESS, component.id);
    return no_values(slice, component.id, 1);
}

static weft_recorder *rows_commands(const weft_slice *slice)
{
    return recorder_of(slice);
}

/* They get their version at playback. */
static bool rows_asks(const weft_slice *slice, uint32_t term)
{
    (void)slice, (void)term;
    return false;
}

static bool rows_are_here(const weft_slice *slice)
{
    if (is_current(slice)) return true;
    note(slice, WEFT_STALE_ENTITY, 0);
    return false;
}

static const weft__new_row_ops new_row_ops = {
    .are_here = rows_are_here,
    .column = rows_column,
    .column_as = rows_column_as,
    .shared = rows_shared,
    .enable = rows_enable,
};

const weft__slice_ops weft__slice_ops_rows = {
    .get = rows_get,
    .get_write = rows_get_write,
    .may_find = rows_may_find,
    .resource = rows_resource,
    .commands = rows_commands,
    .report = rows_report,
    .report_row = rows_report_row,
    .mistype = rows_mistype,
    .asks = rows_asks,
    .new_rows = &new_row_ops,
};
