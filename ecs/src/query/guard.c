/* SPDX-License-Identifier: MIT */
/* guard.c: copies of columns between margins of a known pattern.
 *
 * What is copied, compared and reported, and who may call what: guard.h. A ring is used from its
 * beginning to its end and over again; parts in it are numbered, and the oldest ones are looked at
 * a last time before their place is used. */
#include "guard.h"
#include "world_state.h"

#define PATTERN 0xDB      /* as a float -1.2e17, as a count 3.7e9, no address */
#define ALIGNMENT 64u     /* of the first row, at least that of any component */
#define MARGIN_BYTES 128u /* at least, and one row: every field of the row behind the end */
#define RING_SLICES 4u    /* slices that a ring holds at least */
#define RING_BYTES ((size_t)256 << 10)

/* The first byte that is not `fill`, or `bytes`. */
static size_t first_odd(const char *at, size_t bytes, unsigned char fill)
{
    if (bytes == 0) return 0;
    if ((unsigned char)at[0] == fill && memcmp(at, at + 1, bytes - 1) == 0) return bytes;
    size_t i = 0;
    while ((unsigned char)at[i] == fill) i++;
    return i;
}

/* ---- strays ---- */

/* Keeps what was found, one of a kind: the first by slice and row. Without memory it is lost. */
static void keep_stray(weft__guard *guard, const weft__stray *found)
{
    for (uint32_t i = 0; i < guard->strays.count; i++) {
        weft__stray *known = &guard->strays.at[i];
        if (known->kind != found->kind || known->owner != found->owner ||
            known->component != found->component)
            continue;
        uint32_t places = known->places + 1;
        bool is_earlier = found->slice < known->slice ||
                          (found->slice == known->slice && found->row < known->row);
        if (is_earlier) *known = *found;
        known->places = places;
        return;
    }
    (void)WEFT__LIST_APPEND(guard->pile.memory, WEFT__MEMORY_SYSTEMS, &guard->strays, found, 1);
}

static void stray_at(weft__guard *guard, const weft__guard_part *part, weft__stray_kind kind,
                     uint32_t row)
{
    weft__stray stray = {.kind = kind,
                         .owner = part->owner,
                         .slice = part->slice,
                         .component = part->component,
                         .row = row,
                         .places = 1};
    bool is_row = row != WEFT__STRAY_NO_ROW && part->entities != NULL;
    if (is_row) stray.entity = part->entities[row];
    keep_stray(guard, &stray);
}

const char *weft__stray_text(weft__stray_kind kind)
{
    switch (kind) {
    case WEFT__STRAY_READ_WRITTEN:
        return "was written through a pointer for reading (nothing was changed): declare "
               "WEFT_WRITE and use weft_slice_write or weft_slice_write_resource, or do not cast "
               "the const away";
    case WEFT__STRAY_HANDLE:
        return "was written (nothing was changed): entity handles are for reading; record commands "
               "to create and destroy entities";
    case WEFT__STRAY_BEFORE:
        return "was written in front of row 0 of the slice (nothing was changed): rows are 0 to "
               "weft_slice_count - 1";
    case WEFT__STRAY_BEHIND:
        return "was written behind the last row of the slice (nothing was changed): rows are 0 to "
               "weft_slice_count - 1";
    case WEFT__STRAY_LATE:
        break;
    }
    return "was written through a pointer kept past its callback (nothing was changed): call "
           "weft_slice_write in each callback";
}

/* ---- the ring ---- */

static weft__guard_part *part_at(const weft__guard *guard, uint64_t number)
{
    return &guard->parts[number % WEFT__GUARD_PARTS];
}

static size_t part_size(const weft__guard_part *part)
{
    return (size_t)(part->end - part->begin);
}

/* A closed copy still holds the pattern, or was written. */
static void part_look(weft__guard *guard, weft__guard_part *part)
{
    if (HAS_POISON) return; /* the access was reported */
    size_t odd = first_odd(part->values, part->bytes, part->fill);
    if (odd == part->bytes) return;
    stray_at(guard, part, WEFT__STRAY_LATE,
             part->has_rows ? (uint32_t)(odd / part->row_bytes) : WEFT__STRAY_NO_ROW);
    memset(part->values, part->fill, part->bytes);
}

/* Gives up the oldest part; false: it is open. */
static bool retire(weft__guard *guard)
{
    weft__guard_part *part = part_at(guard, guard->first);
    if (part->is_open) return false;
    part_look(guard, part);
    ASAN_UNPOISON_MEMORY_REGION(part->begin, part_size(part));
    guard->first++;
    return true;
}

/* The oldest part lies in [from, to) of the ring. */
static bool is_in_way(const weft__guard *guard, size_t from, size_t to)
{
    if (guard->first == guard->end) return false;
    const weft__guard_part *part = part_at(guard, guard->first);
    return part->begin < guard->ring + to && guard->ring + from < part->end;
}

/* A new part with its margins filled, or NULL: no room. Parts lie in the ring in the order of their
 * age, so those in the way are the oldest. */
static weft__guard_part *take(weft__guard *guard, size_t bytes, uint32_t row_bytes)
{
    size_t margin = bits_align_up(row_bytes < MARGIN_BYTES ? MARGIN_BYTES : row_bytes, ALIGNMENT);
    size_t whole = bits_align_up(bytes, ALIGNMENT) + 2 * margin;
    if (whole > guard->size) return NULL;
    size_t at = guard->next;
    if (at + whole > guard->size) {
        while (is_in_way(guard, at, guard->size))
            if (!retire(guard)) return NULL;
        at = 0;
    }
    while (is_in_way(guard, at, at + whole) || guard->end - guard->first == WEFT__GUARD_PARTS)
        if (!retire(guard)) return NULL;
    guard->next = at + whole;
    weft__guard_part *part = part_at(guard, guard->end++);
    *part = (weft__guard_part){.begin = guard->ring + at,
                               .end = guard->ring + at + whole,
                               .values = guard->ring + at + margin,
                               .bytes = bytes,
                               .row_bytes = row_bytes,
                               .fill = PATTERN,
                               .is_open = true};
    memset(part->begin, PATTERN, margin);
    memset(part->values + bytes, PATTERN, (size_t)(part->end - part->values) - bytes);
    return part;
}

/* The margins, then nothing but the pattern. */
static void part_close(weft__guard *guard, weft__guard_part *part)
{
    size_t front = (size_t)(part->values - part->begin);
    char *behind = part->values + part->bytes;
    size_t back = (size_t)(part->end - behind);
    if (first_odd(part->begin, front, PATTERN) != front)
        stray_at(guard, part, WEFT__STRAY_BEFORE, WEFT__STRAY_NO_ROW);
    if (first_odd(behind, back, PATTERN) != back)
        stray_at(guard, part, WEFT__STRAY_BEHIND, WEFT__STRAY_NO_ROW);
    memset(part->values, part->fill, part->bytes);
    ASAN_POISON_MEMORY_REGION(part->begin, part_size(part));
    part->is_open = false;
    part->real = NULL;
    part->entities = NULL;
}

/* ---- buffers that may only be read ---- */

static size_t elements_bytes(const weft__guard_part *part, const weft_buffer *real)
{
    size_t bytes = (size_t)real->count * part->element_bytes;
    return real->heap == NULL ? 0 : bits_align_up(bytes, 16);
}

static const weft_buffer *buffer_at(const char *rows, const weft__guard_part *part, uint32_t row)
{
    return (const weft_buffer *)(const void *)(rows + (size_t)row * part->row_bytes);
}

/* Copies the elements that lie outside the column. */
static void buffers_open(weft__guard *guard, weft__guard_part *part, uint32_t rows)
{
    size_t bytes = 0;
    for (uint32_t row = 0; row < rows; row++)
        bytes += elements_bytes(part, buffer_at(part->real, part, row));
    weft__guard_part *elements = bytes == 0 ? NULL : take(guard, bytes, ALIGNMENT);
    if (elements != NULL) {
        elements->component = part->component;
        elements->owner = part->owner;
        elements->slice = part->slice;
        part->elements = elements->values;
    }
    char *to = part->elements;
    for (uint32_t row = 0; row < rows; row++) {
        const weft_buffer *real = buffer_at(part->real, part, row);
        weft_buffer *copy = (weft_buffer *)(void *)(part->values + (size_t)row * part->row_bytes);
        if (to == NULL || real->heap == NULL) continue;
        memcpy(to, real->heap, (size_t)real->count * part->element_bytes);
        copy->heap = to;
        to += elements_bytes(part, real);
    }
}

/* The first row that differs from the column, or `rows`. */
static uint32_t buffers_compare(const weft__guard_part *part, uint32_t rows)
{
    const char *elements = part->elements;
    for (uint32_t row = 0; row < rows; row++) {
        const weft_buffer *real = buffer_at(part->real, part, row);
        const weft_buffer *copy = buffer_at(part->values, part, row);
        bool is_copied = elements != NULL && real->heap != NULL;
        const void *heap = is_copied ? elements : real->heap;
        if (copy->heap != heap || copy->count != real->count || copy->capacity != real->capacity ||
            memcmp(real + 1, copy + 1, part->row_bytes - sizeof *real) != 0)
            return row;
        if (!is_copied) continue;
        if (memcmp(elements, real->heap, (size_t)real->count * part->element_bytes) != 0)
            return row;
        elements += elements_bytes(part, real);
    }
    return rows;
}

/* ---- columns ---- */

static uint8_t mode_of(const weft_slice *slice, const uint8_t *modes, uint32_t term)
{
    if (slice->columns[term] == NULL) return WEFT__GUARD_NOT;
    if (modes != NULL) return modes[term];
    uint8_t access = weft__slice_query(slice)->terms[term].access;
    if (access == WEFT_NO_ACCESS) return WEFT__GUARD_NOT;
    return access == WEFT_WRITE ? WEFT__GUARD_WRITE : WEFT__GUARD_READ;
}

static uint32_t row_bytes_of(const weft_slice *slice, uint32_t term)
{
    const weft__chunk *chunk = slice->chunk;
    uint32_t column = ((const weft__place *)slice->places)[term].column;
    return chunk->layout->columns[column].bytes;
}

/* The copy of a column. NULL: no room. */
static weft__guard_part *copy_column(weft__guard *guard, const weft_slice *slice, uint32_t term,
                                     bool is_written)
{
    uint32_t row_bytes = row_bytes_of(slice, term);
    size_t bytes = (size_t)slice->count * row_bytes;
    weft__guard_part *part = take(guard, bytes, row_bytes);
    if (part == NULL) return NULL;
    const weft__chunk *chunk = slice->chunk;
    const weft__type *type =
        chunk->archetype->types[((const weft__place *)slice->places)[term].type].type;
    part->real = slice->columns[term];
    part->entities = slice->entities;
    part->component = type->id;
    part->is_written = is_written;
    part->has_rows = true;
    memcpy(part->values, part->real, bytes);
    if ((type->desc.flags & WEFT_BUFFER) == 0) return part;
    part->fill = 0;
    if (!is_written) part->element_bytes = (uint32_t)type->desc.size;
    return part;
}

/* Points the slice to a copy of its entity handles, which are for reading. Without room it keeps
 * the real ones. */
static void copy_entities(weft__guard *guard, weft_slice *slice, uint32_t owner)
{
    size_t bytes = slice->count * sizeof(weft_entity);
    weft__guard_part *part = take(guard, bytes, sizeof(weft_entity));
    if (part == NULL) return;
    part->real = (char *)(uintptr_t)slice->entities;
    part->entities = slice->entities;
    part->owner = owner;
    part->slice = slice->index;
    part->has_rows = true;
    memcpy(part->values, part->real, bytes);
    slice->calls |= WEFT__SLICE_COPIED | weft__slice_first_row(slice) << WEFT__SLICE_ROW_SHIFT;
    slice->entities = (const weft_entity *)(const void *)part->values;
}

/* The term of the same column that comes first (descriptions may name it twice); whether one of
 * them writes. */
static uint32_t first_of_column(const weft_slice *slice, const uint8_t *modes, uint32_t term,
                                bool *is_written)
{
    uint32_t first = term;
    *is_written = false;
    for (uint32_t i = slice->term_count; i-- > 0;) {
        if (slice->columns[i] != slice->columns[term]) continue;
        first = i;
        *is_written = *is_written || mode_of(slice, modes, i) == WEFT__GUARD_WRITE;
    }
    return first;
}

/* The next slice that no call has. */
static weft_slice *give(weft__guard *guard, const weft_slice *slice, uint32_t owner)
{
    weft__given_slice *given;
    do {
        given = &guard->given[guard->given_next];
        guard->given_next = (guard->given_next + 1) % WEFT__GUARD_SLICES;
    } while (given->slice.chunk != NULL);
    given->origin = slice->context;
    given->context = *given->origin;
    given->owner = owner;
    given->number++;
    given->slice = *slice;
    given->slice.context = &given->context;
    given->slice.calls |= WEFT__SLICE_GIVEN;
    return &given->slice;
}

void weft__guard_open(weft__guard *guard, weft_slice *slice, const uint8_t *modes, uint32_t owner,
                      weft__guard_frame *frame)
{
    frame->slice = slice;
    if (guard == NULL || guard->ring == NULL) return;
    frame->first = guard->end;
    frame->slice = slice = give(guard, slice, owner);
    if (slice->term_count == 0 || slice->count == 0) return;
    weft__guard_part *list = take(guard, slice->term_count * sizeof(void *), sizeof(void *));
    if (list == NULL) return;
    void **columns = (void **)(void *)list->values;
    for (uint32_t i = 0; i < slice->term_count; i++) {
        bool is_written;
        columns[i] = slice->columns[i];
        if (mode_of(slice, modes, i) == WEFT__GUARD_NOT) continue;
        uint32_t first = first_of_column(slice, modes, i, &is_written);
        if (first < i && mode_of(slice, modes, first) != WEFT__GUARD_NOT) {
            columns[i] = columns[first];
            continue;
        }
        weft__guard_part *part = copy_column(guard, slice, i, is_written);
        if (part == NULL) continue;
        part->owner = owner;
        part->slice = slice->index;
        columns[i] = part->values;
        if (part->element_bytes != 0) buffers_open(guard, part, slice->count);
    }
    slice->columns = columns;
    copy_entities(guard, slice, owner);
}

/* The open copy of a value that is the world's, not a row's. */
static weft__guard_part *find_value(const weft__guard *guard, const void *value)
{
    for (uint64_t i = guard->end; i-- > guard->first;) {
        weft__guard_part *part = part_at(guard, i);
        if (part->is_open && part->real == value && !part->has_rows) return part;
    }
    return NULL;
}

void *weft__guard_value(weft__guard *guard, const weft__type *type, uint32_t owner,
                        const weft_slice *slice)
{
    size_t bytes = weft__type_bytes(type);
    if (guard == NULL || guard->ring == NULL || bytes == 0 || bytes > WEFT__GUARD_VALUE_MOST)
        return type->resource;
    weft__guard_part *part = find_value(guard, type->resource);
    if (part != NULL) return part->values;
    part = take(guard, bytes, ALIGNMENT);
    if (part == NULL) return type->resource;
    part->real = type->resource;
    part->row_bytes = (uint32_t)bytes;
    part->component = type->id;
    part->owner = owner;
    part->slice = slice->index;
    memcpy(part->values, part->real, bytes);
    if ((type->desc.flags & WEFT_BUFFER) != 0) {
        part->fill = 0;
        part->element_bytes = (uint32_t)type->desc.size;
        buffers_open(guard, part, 1);
    }
    return part->values;
}

/* Whether a part that is for reading was written: in which row. */
static bool was_written(const weft__guard_part *part, uint32_t *row)
{
    uint32_t rows = (uint32_t)(part->bytes / part->row_bytes);
    *row = rows;
    if (part->element_bytes != 0)
        *row = buffers_compare(part, rows);
    else if (memcmp(part->real, part->values, part->bytes) != 0)
        for (*row = 0; memcmp(part->real + (size_t)*row * part->row_bytes,
                              part->values + (size_t)*row * part->row_bytes, part->row_bytes) == 0;)
            ++*row;
    return *row != rows;
}

/* A pointer to it that is kept sees neither rows nor the entities that they were. */
static void end_slice(const weft__guard *guard, weft_slice *slice)
{
    static void *const nothing[WEFT_INLINE_TERMS * 4];
    slice->columns = nothing;
    slice->entities = slice->count == 0 ? NULL : guard->handles;
    slice->chunk = NULL;
    ((weft__given_slice *)(uintptr_t)slice->context)->number++;
    slice->calls = WEFT_SLICE_CHECKED | WEFT__SLICE_GIVEN | slice->count << WEFT__SLICE_ROW_SHIFT;
    slice->count = 0;
    if (slice->term_count > WEFT_INLINE_TERMS * 4) slice->term_count = 0;
}

void weft__guard_close(weft__guard *guard, const weft__guard_frame *frame)
{
    if (guard == NULL || guard->ring == NULL) return;
    for (uint64_t i = frame->first; i < guard->end; i++) {
        weft__guard_part *part = part_at(guard, i);
        uint32_t row;
        if (part->real == NULL) continue;
        if (part->component == 0 && part->has_rows)
            guard->handles = (const weft_entity *)(const void *)part->values;
        if (part->is_written)
            memcpy(part->real, part->values, part->bytes);
        else if (was_written(part, &row))
            stray_at(guard, part,
                     part->component == 0 ? WEFT__STRAY_HANDLE : WEFT__STRAY_READ_WRITTEN,
                     part->has_rows ? row : WEFT__STRAY_NO_ROW);
    }
    for (uint64_t i = frame->first; i < guard->end; i++) part_close(guard, part_at(guard, i));
    end_slice(guard, frame->slice);
}

void weft__guard_sweep(weft__guard *guard)
{
    for (uint64_t i = guard->first; i < guard->end; i++)
        if (!part_at(guard, i)->is_open) part_look(guard, part_at(guard, i));
}

/* ---- of a world ---- */

size_t weft__guard_bytes(const weft__layout *layout, uint32_t rows, const weft__place *places,
                         uint32_t term_count)
{
    size_t bytes = term_count * sizeof(void *) + 3 * MARGIN_BYTES;
    bytes += (rows + 2) * sizeof(weft_entity) + 2 * MARGIN_BYTES + 3 * (size_t)ALIGNMENT;
    for (uint32_t i = 0; i < term_count; i++) {
        if (places[i].column == WEFT__NO_PLACE) continue;
        size_t row_bytes = layout->columns[places[i].column].bytes;
        bytes += (rows + 2) * row_bytes + 2 * MARGIN_BYTES + 3 * (size_t)ALIGNMENT;
    }
    return bytes;
}

weft__guard *weft__guard_of(const weft_world *world, uint32_t worker)
{
    weft__guards *guards = world->guards;
    return guards == NULL || worker >= guards->count ? NULL : &guards->guards[worker];
}

static void ring_grow(weft__guard *guard, size_t size)
{
    weft__pile *pile = &guard->pile;
    if (guard->parts == NULL)
        guard->parts = weft__pile_take(pile, WEFT__GUARD_PARTS, sizeof *guard->parts);
    if (guard->given == NULL)
        guard->given = weft__pile_take(pile, WEFT__GUARD_SLICES, sizeof *guard->given);
    char *ring = weft__pile_take(pile, size + ALIGNMENT, 1);
    if (guard->parts == NULL || guard->given == NULL || ring == NULL) return;
    while (guard->first != guard->end) retire(guard);
    guard->ring = ring + (ALIGNMENT - (uintptr_t)ring % ALIGNMENT);
    guard->size = size;
    guard->next = 0;
}

static weft__guards *guards_make(weft_world *world)
{
    uint32_t count = weft_job_pool_worker_count(world->front.host.pool);
    weft__guards *guards = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_SYSTEMS, 1,
                                              sizeof *guards + count * sizeof guards->guards[0],
                                              _Alignof(weft__guards));
    if (guards == NULL) return NULL;
    guards->count = count;
    for (uint32_t i = 0; i < count; i++)
        guards->guards[i].pile =
            (weft__pile){.memory = &world->memory, .category = WEFT__MEMORY_SYSTEMS};
    return guards;
}

void weft__guards_reserve(weft_world *world, size_t bytes)
{
    if (world->guards == NULL) world->guards = guards_make(world);
    weft__guards *guards = world->guards;
    for (uint32_t i = 0; guards != NULL && i < guards->count; i++) {
        size_t size = guards->guards[i].size == 0 ? RING_BYTES : guards->guards[i].size;
        while (size < RING_SLICES * bytes) size *= 2;
        if (size != guards->guards[i].size) ring_grow(&guards->guards[i], size);
    }
}

void weft__guards_free(weft_world *world)
{
    weft__guards *guards = world->guards;
    if (guards == NULL) return;
    for (uint32_t i = 0; i < guards->count; i++) {
        weft__guard *guard = &guards->guards[i];
        ASAN_UNPOISON_MEMORY_REGION(guard->ring, guard->size);
        weft__pile_free(&guard->pile);
        WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_SYSTEMS, &guard->strays);
    }
    weft__free(&world->memory, WEFT__MEMORY_SYSTEMS, guards, 1,
               sizeof *guards + guards->count * sizeof guards->guards[0], _Alignof(weft__guards));
    world->guards = NULL;
}
