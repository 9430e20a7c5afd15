/* SPDX-License-Identifier: MIT */
/* record_rows.c: recording of rows made in place. A recorder fills private chunks
 * (private_chunk.c). Few rows of a slice go to a nursery, a chunk that the rows of other slices
 * share: its rows are copied at playback, a chunk for each slice would have to be opened and
 * copied. Many rows have chunks of their own, as long as the archetype and the shared values stay
 * the same. Which it is depends on what the slice asked for, never on what is in the nursery: the
 * result must not depend on which slices a worker has run. A call takes all it needs before the
 * first row is there: chunk, ids, command; when one of them is refused the others are given back,
 * and nothing is left behind. Playback puts the rows into the world (playback_link.c). */
#include "archetype.h"
#include "directory.h"
#include "private_chunk.h"
#include "recorder.h"
#include "world_state.h"

#include <string.h>

#define OP WEFT__COMMAND_ROWS

/* One call; lives on its stack. */
typedef struct making {
    const weft_rows_desc *desc;
    weft__archetype *archetype;
    weft__chunk *chunk;
    uint32_t count; /* rows of this call */
    bool is_new;    /* the chunk */
    bool in_nursery;
    bool goes_on;   /* with the piece of the call before */
    bool is_like;   /* the call before, but for the chunk */
    uint32_t place; /* of a new nursery */
    size_t shared_bytes;
} making;

static weft_result refuse(weft_recorder *commands, weft_result code, uint32_t component)
{
    return weft__recorder_fail(commands, code, OP, WEFT__NO_ENTITY, component);
}

/* ---- shared values ---- */

static size_t value_bytes(const weft__type *type)
{
    return sizeof(weft__command_shared) + bits_align_up(type->desc.size, 8);
}

/* Whether a shared value refers to rows that get their ids only when they are linked: the value
 * decides where they are linked. */
static bool has_rows(const weft__type *type, const void *value)
{
    for (uint32_t i = 0; i < type->entity_offset_count; i++) {
        weft_entity to;
        memcpy(&to, (const char *)value + type->entity_offsets[i], sizeof to);
        if (weft__entity_is_deferred(to) && (to.index & WEFT__ROW_HANDLE) != 0) return true;
    }
    return false;
}

/* Checks the shared values and adds their bytes up. */
static weft_result check_shared(weft_recorder *commands, making *m)
{
    const weft_rows_desc *desc = m->desc;
    if (desc->shared_count != 0 && desc->shared == NULL)
        return refuse(commands, WEFT_INVALID_ARGUMENT, 0);
    for (uint32_t i = 0; i < desc->shared_count; i++) {
        const weft__type *type = weft__type_at(commands->world, desc->shared[i].component);
        uint32_t component = desc->shared[i].component.id;
        if (type == NULL) return refuse(commands, WEFT_BAD_HANDLE, component);
        if ((type->desc.flags & WEFT_SHARED) == 0)
            return refuse(commands, WEFT_TYPE_MISMATCH, component);
        if (weft__archetype_find(m->archetype, component) == WEFT__NONE ||
            (desc->shared[i].values == NULL && type->desc.size != 0) ||
            has_rows(type, desc->shared[i].values))
            return refuse(commands, WEFT_INVALID_ARGUMENT, component);
        m->shared_bytes += value_bytes(type);
    }
    return m->shared_bytes <= UINT32_MAX ? WEFT_OK : refuse(commands, WEFT_LIMIT, 0);
}

static char *values_of(const weft__command_rows *rows)
{
    return (char *)(uintptr_t)(rows->columns + rows->chunk->archetype->type_count);
}

/* Whether the rows made last have the shared values asked for, in the same order. */
static bool has_values(const weft_recorder *commands, const making *m)
{
    const weft__command_rows *rows = commands->piece;
    if (rows->shared_bytes != m->shared_bytes) return false;
    const char *at = values_of(rows);
    for (uint32_t i = 0; i < m->desc->shared_count; i++) {
        const weft__command_shared *value = (const weft__command_shared *)(const void *)at;
        const weft__type *type = weft__type_at(commands->world, m->desc->shared[i].component);
        if (value->component != type->id) return false;
        size_t bytes = type->desc.size;
        if (bytes != 0 && memcmp(value->value, m->desc->shared[i].values, bytes) != 0) return false;
        at += value->bytes;
    }
    return true;
}

static void write_values(weft_recorder *commands, const making *m, weft__command_rows *rows)
{
    char *at = values_of(rows);
    for (uint32_t i = 0; i < m->desc->shared_count; i++) {
        weft__command_shared *value = (weft__command_shared *)(void *)at;
        const weft__type *type = weft__type_at(commands->world, m->desc->shared[i].component);
        value->component = type->id;
        weft__recorder_note_shared(commands, type);
        value->bytes = (uint32_t)value_bytes(type);
        memset(value->value, 0, value->bytes - sizeof *value);
        if (type->desc.size != 0) memcpy(value->value, m->desc->shared[i].values, type->desc.size);
        at += value->bytes;
    }
}

/* ---- one call ---- */

/* The nursery of an archetype that has room; NULL: none, it would be nurseries[m->place]. */
static weft__chunk *nursery_of(weft_recorder *commands, making *m)
{
    for (uint32_t i = 0; i < WEFT__NURSERIES; i++) {
        weft__chunk *nursery = commands->nurseries[i];
        if (nursery == NULL || nursery->archetype != m->archetype) continue;
        m->place = i;
        return nursery->capacity - nursery->count >= m->count ? nursery : NULL;
    }
    m->place = commands->next_nursery;
    return NULL;
}

/* Rows of a slice that are fewer than half of a small chunk. */
static bool is_for_nursery(const making *m, uint32_t run_rows)
{
    if (m->desc->is_unordered) return false;
    uint32_t capacity = weft__private_small(m->archetype);
    return m->count < capacity && run_rows < capacity && (run_rows + m->count) * 2 < capacity;
}

/* The chunk that takes the next rows: the one of the call before, a nursery, or a new one. */
static weft_result find_chunk(weft_recorder *commands, making *m)
{
    const weft__command_rows *piece = commands->open == NULL ? NULL : commands->piece;
    weft__chunk *last = piece == NULL ? NULL : piece->chunk;
    m->is_like = last != NULL && last->archetype == m->archetype && has_values(commands, m);
    bool is_open = m->is_like && !piece->in_nursery && last->count != last->capacity;
    m->in_nursery = !is_open && is_for_nursery(m, m->is_like ? commands->run_rows : 0);
    weft__chunk *chunk = is_open ? last : m->in_nursery ? nursery_of(commands, m) : NULL;
    m->is_new = chunk == NULL;
    m->goes_on = is_open || (m->is_like && chunk == last && m->in_nursery);
    weft_result result = WEFT_OK;
    if (m->is_new)
        result = weft__private_open(commands->world, commands->worker, m->archetype,
                                    m->in_nursery ? 1 : m->count, &chunk);
    if (result != WEFT_OK) return result;
    m->chunk = chunk;
    uint32_t room = chunk->capacity - chunk->count;
    if (m->count > room) m->count = room;
    WEFT_ASSERT(m->count != 0);
    return m->count < WEFT__ROW_HANDLE - commands->rows ? WEFT_OK : WEFT_LIMIT;
}

/* Ids for the rows to come, at their place; what is there after a failure reads as zero again. */
static weft_result take_ids(weft_recorder *commands, const making *m, weft_entity *ids)
{
    weft__directory *directory = &commands->world->directory;
    weft_result result =
        commands->in_set ? weft__directory_allocate_any(directory, &commands->home, m->count, ids)
                         : weft__outside_take(directory, m->count, ids);
    if (result != WEFT_OK) memset(ids, 0, m->count * sizeof *ids);
    return result;
}

static void return_ids(weft_recorder *commands, const making *m, weft_entity *ids)
{
    if (commands->in_set)
        weft__directory_free_any(&commands->world->directory, ids, m->count);
    else
        weft__outside_return(&commands->world->directory, ids, m->count);
    memset(ids, 0, m->count * sizeof *ids);
}

static weft__command_rows *record_rows(weft_recorder *commands, const making *m)
{
    size_t bytes = sizeof(weft__command_rows) + m->archetype->type_count * sizeof(void *);
    size_t shared_bytes = m->goes_on ? 0 : m->shared_bytes;
    weft__command *command = weft__recorder_append(commands, OP, bytes + shared_bytes);
    if (command == NULL) return NULL;
    command->entity = WEFT__NO_ENTITY;
    command->subject = m->archetype->id;
    weft__command_rows *rows = weft__command_payload(command);
    *rows = (weft__command_rows){.chunk = m->chunk,
                                 .first = m->chunk->count,
                                 .count = m->count,
                                 .number = commands->rows,
                                 .shared_bytes = (uint32_t)shared_bytes,
                                 .brings_chunk = m->is_new,
                                 .begins_piece = !m->goes_on,
                                 .in_nursery = m->in_nursery};
    rows->piece = m->goes_on ? commands->piece : rows;
    if (!m->goes_on) write_values(commands, m, rows);
    return rows;
}

/* All that can be refused; the rows are there after it. NULL: *result says why. */
static weft__command_rows *make_rows(weft_recorder *commands, making *m, weft_result *result)
{
    *result = find_chunk(commands, m);
    weft_entity *ids = m->chunk == NULL ? NULL : weft__chunk_entities(m->chunk) + m->chunk->count;
    bool with_ids = m->desc->is_unordered;
    weft__command_rows *rows = NULL;
    if (*result == WEFT_OK && with_ids) *result = take_ids(commands, m, ids);
    if (*result == WEFT_OK) {
        rows = record_rows(commands, m);
        if (rows == NULL) *result = WEFT_OUT_OF_MEMORY;
        if (rows == NULL && with_ids) return_ids(commands, m, ids);
    }
    if (rows != NULL)
        weft__private_rows(m->chunk, m->count, with_ids);
    else if (m->chunk != NULL && m->is_new)
        weft__private_drop(commands->world, m->chunk);
    return rows;
}

/* Describes the rows; column pointers live in the command. */
static void describe_rows(weft__command_rows *made, bool with_ids, weft_slice *rows)
{
    const weft__archetype *archetype = made->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        uint32_t column = archetype->types[i].column;
        made->columns[i] = column == 0 ? NULL : weft__chunk_value(made->chunk, column, made->first);
    }
    *rows =
        (weft_slice){.count = made->count,
                     .term_count = archetype->type_count,
                     .columns = made->columns,
                     .entities = with_ids ? weft__chunk_entities(made->chunk) + made->first : NULL,
                     .calls = rows->calls,
                     .chunk = made->chunk,
                     .context = rows->context};
}

/* The rows of a nursery that is given up stay where they are until playback. */
static void keep_nursery(weft_recorder *commands, const making *m)
{
    commands->nurseries[m->place] = m->chunk;
    if (m->place == commands->next_nursery)
        commands->next_nursery = (m->place + 1) % WEFT__NURSERIES;
}

weft_result weft_recorder_create_rows_with(weft_recorder *commands, const weft_rows_desc *desc,
                                           weft_slice *rows)
{
    if (commands == NULL || desc == NULL || rows == NULL || desc->count == 0)
        return WEFT_INVALID_ARGUMENT;
    *rows = (weft_slice){.calls = weft__rows_calls(commands), .context = &commands->rows_context};
    weft_result result = weft__recorder_check_open(commands, OP, WEFT__NO_ENTITY, 0);
    if (result != WEFT_OK) return result;
    weft__archetype *archetype = weft__archetype_for_rows(commands->world, desc->archetype);
    if (archetype == NULL) return refuse(commands, WEFT_BAD_HANDLE, 0);
    making m = {.desc = desc, .archetype = archetype, .count = desc->count};
    result = check_shared(commands, &m);
    if (result != WEFT_OK) return result;
    weft__command_rows *made = make_rows(commands, &m, &result);
    if (made == NULL) return refuse(commands, result, 0);
    commands->rows += m.count;
    commands->run_rows = m.count + (m.is_like ? commands->run_rows : 0);
    commands->piece = made->piece;
    made->piece->piece_rows += m.count;
    if (m.in_nursery && m.is_new) keep_nursery(commands, &m);
    describe_rows(made, desc->is_unordered, rows);
    return WEFT_OK;
}

weft_result weft_recorder_create_rows(weft_recorder *commands, weft_archetype archetype,
                                      uint32_t count, weft_slice *rows)
{
    weft_rows_desc desc = {.archetype = archetype, .count = count};
    return weft_recorder_create_rows_with(commands, &desc, rows);
}

weft_result weft_recorder_create_rows_unordered(weft_recorder *commands, weft_archetype archetype,
                                                uint32_t count, weft_slice *rows)
{
    weft_rows_desc desc = {.archetype = archetype, .count = count, .is_unordered = true};
    return weft_recorder_create_rows_with(commands, &desc, rows);
}

weft_entity weft_recorder_row_entity(weft_recorder *commands, const weft_slice *rows, uint32_t row)
{
    if (commands == NULL) return WEFT__NO_ENTITY;
    if (weft__recorder_check_open(commands, OP, WEFT__NO_ENTITY, 0) != WEFT_OK)
        return WEFT__NO_ENTITY;
    if (rows == NULL || rows->columns == NULL || row >= rows->count) {
        refuse(commands, WEFT_NOT_FOUND, 0);
        return WEFT__NO_ENTITY;
    }
    if (rows->context != &commands->rows_context || rows->calls != weft__rows_calls(commands)) {
        refuse(commands, WEFT_STALE_ENTITY, 0);
        return WEFT__NO_ENTITY;
    }
    if (rows->entities != NULL) return rows->entities[row];
    char *columns = (char *)(uintptr_t)rows->columns;
    weft__command_rows *made =
        (weft__command_rows *)(void *)(columns - offsetof(weft__command_rows, columns));
    made->is_asked = commands->rows_asked = true;
    return (weft_entity){WEFT__ROW_HANDLE | (made->number + row), commands->epoch};
}
