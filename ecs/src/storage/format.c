/* SPDX-License-Identifier: MIT */
/* format.c: formats (the sized columns of a row, shared by archetypes) and their layouts per size
 * class of chunk memory. Both live as long as the world. Formats are made by the owner; layouts by
 * anyone, so that jobs can open chunks:
 * L1  layout written, CAS of its pointer (release) -> acquire load of the pointer */
#include "format.h"

#define SLICE_BYTES 8192u       /* what stays in the first-level cache while the next one comes */
#define SLICE_BYTES_WIDE 16384u /* of wide rows, of which a stage touches a part */
#define SLICE_ROWS_WIDE_SHIFT 7
#define SMALL_ALIGNMENT 16u /* of columns in 256 bytes */
#define SLICE_ROWS_MIN_SHIFT 6
#define SLICE_ROWS_MAX_SHIFT 10

static size_t value_bytes(const weft__format *format, uint32_t column)
{
    return column == 0 ? sizeof(weft_entity) : format->types[column]->value_bytes;
}

/* Where a column may begin: on a cache line of its own, but in the smallest chunks, which would
 * have room for three. */
static size_t column_alignment(const weft__format *format, uint32_t column, uint32_t size_class)
{
    if (size_class != WEFT__PART_256) return WEFT__COLUMN_ALIGNMENT;
    uint32_t own = column == 0 ? 0 : format->types[column]->value_alignment;
    return own > SMALL_ALIGNMENT ? own : SMALL_ALIGNMENT;
}

/* Bytes of `rows` rows in a chunk of a size class. */
static size_t rows_bytes(const weft__format *format, uint32_t size_class, size_t rows)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < format->column_count; i++)
        bytes = bits_align_up(bytes, column_alignment(format, i, size_class)) +
                rows * value_bytes(format, i);
    return bytes;
}

static uint32_t class_capacity(const weft__format *format, uint32_t size_class)
{
    size_t bytes = weft__class_bytes(size_class), rows = bytes / format->row_bytes;
    while (rows != 0 && rows_bytes(format, size_class, rows) > bytes) rows--;
    return (uint32_t)rows;
}

static uint32_t slice_shift(uint32_t row_bytes)
{
    if ((uint64_t)row_bytes << SLICE_ROWS_WIDE_SHIFT > SLICE_BYTES_WIDE)
        return SLICE_ROWS_MIN_SHIFT;
    uint32_t shift = SLICE_ROWS_MAX_SHIFT;
    while (shift > SLICE_ROWS_WIDE_SHIFT && ((uint64_t)row_bytes << shift) > SLICE_BYTES) shift--;
    return shift;
}

static size_t format_bytes(uint32_t column_count)
{
    return sizeof(weft__format) + column_count * sizeof(const weft__type *);
}

/* Capped formats use one class only: the smallest that holds the cap, if any does. */
static void classes_set(weft__format *format)
{
    format->smallest_class = 0;
    while (class_capacity(format, format->smallest_class) == 0) format->smallest_class++;
    uint32_t last = WEFT__SIZE_CLASSES - 1;
    if (format->row_limit >= class_capacity(format, last)) {
        format->row_limit = UINT32_MAX;
        return;
    }
    while (class_capacity(format, format->smallest_class) < format->row_limit)
        format->smallest_class++;
}

static weft__format *format_make(weft_world *world, const weft__format *key,
                                 const weft__type *const *columns)
{
    weft__format *format =
        weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, 1,
                           format_bytes(key->column_count), _Alignof(weft__format));
    if (format == NULL) {
        weft__error_memory(world, "archetype");
        return NULL;
    }
    *format = *key;
    for (uint32_t i = 1; i < key->column_count; i++) format->types[i] = columns[i];
    format->slice_shift = slice_shift(format->row_bytes);
    if (rows_bytes(format, WEFT__SIZE_CLASSES - 1, 1) > weft__class_bytes(WEFT__SIZE_CLASSES - 1)) {
        weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "an entity of this archetype takes %u bytes, a chunk has %zu: use smaller "
                    "components or buffers with a smaller inline capacity",
                    format->row_bytes, weft__class_bytes(WEFT__SIZE_CLASSES - 1));
        weft__free(&world->memory, WEFT__MEMORY_METADATA, format, 1,
                   format_bytes(format->column_count), _Alignof(weft__format));
        return NULL;
    }
    classes_set(format);
    return format;
}

static bool is_same(const weft__format *format, const weft__format *key,
                    const weft__type *const *columns)
{
    return format->hash == key->hash && format->column_count == key->column_count &&
           format->cap == key->cap &&
           memcmp(format->types + 1, columns + 1, (key->column_count - 1) * sizeof *columns) == 0;
}

weft__format *weft__format_obtain(weft_world *world, const weft__type *const *columns,
                                  uint32_t column_count, uint32_t row_limit)
{
    weft__format key = {.column_count = column_count,
                        .row_bytes = sizeof(weft_entity),
                        .row_limit = row_limit,
                        .cap = row_limit};
    uint64_t bytes = sizeof(weft_entity);
    key.hash = row_limit;
    for (uint32_t i = 1; i < column_count; i++) {
        key.hash = hash_word(key.hash, columns[i]->id);
        bytes += columns[i]->value_bytes;
    }
    key.row_bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    weft__format_table *formats = &world->formats;
    uint32_t step = 0, number, next = formats->all.count + 1;
    while ((number = weft__table_next(&formats->numbers, (uint32_t)key.hash, &step)) != 0)
        if (is_same(formats->all.at[number - 1], &key, columns)) return formats->all.at[number - 1];
    if (!WEFT__LIST_ROOM(&world->memory, WEFT__MEMORY_METADATA, &formats->all, next) ||
        !weft__table_room(&world->memory, WEFT__MEMORY_METADATA, &formats->numbers, next)) {
        weft__error_memory(world, "archetype");
        return NULL;
    }
    weft__format *format = format_make(world, &key, columns);
    if (format == NULL) return NULL;
    formats->all.at[formats->all.count++] = format;
    weft__table_put(&formats->numbers, (uint32_t)key.hash, next);
    return format;
}

static size_t layout_bytes(const weft__format *format)
{
    return sizeof(weft__layout) + format->column_count * sizeof(weft__column);
}

static weft__layout *layout_make(weft_world *world, const weft__format *format, uint32_t size_class)
{
    weft__layout *layout = weft__alloc(&world->memory, WEFT__MEMORY_METADATA, 1,
                                       layout_bytes(format), _Alignof(weft__layout));
    if (layout == NULL) return NULL;
    uint32_t rows = class_capacity(format, size_class), shift = format->slice_shift;
    if (rows > format->row_limit) rows = format->row_limit;
    *layout = (weft__layout){.size_class = size_class,
                             .capacity = rows,
                             .slice_count = (rows + (1u << shift) - 1) >> shift,
                             .mask_words = (rows + 63) / 64,
                             .slice_shift = shift,
                             .column_count = format->column_count};
    size_t offset = 0;
    for (uint32_t i = 0; i < format->column_count; i++) {
        size_t bytes = value_bytes(format, i);
        offset = bits_align_up(offset, column_alignment(format, i, size_class));
        layout->columns[i] = (weft__column){.offset = (uint32_t)offset, .bytes = (uint32_t)bytes};
        offset += rows * bytes;
    }
    WEFT_ASSERT(offset <= weft__class_bytes(size_class) && rows != 0);
    return layout;
}

const weft__layout *weft__layout_any(weft_world *world, weft__format *format, uint32_t size_class)
{
    weft_aptr *x_layout = &format->x_layouts[size_class];
    weft__layout *layout = at_load_acq(x_layout); /* L1 */
    if (layout != NULL) return layout;
    layout = layout_make(world, format, size_class);
    if (layout == NULL) return NULL;
    void *found = NULL;
    if (at_cas_ar(x_layout, &found, layout)) return layout; /* L1 */
    weft__free(&world->memory, WEFT__MEMORY_METADATA, layout, 1, layout_bytes(format),
               _Alignof(weft__layout));
    return found;
}

const weft__layout *weft__layout_obtain(weft_world *world, weft__format *format,
                                        uint32_t size_class)
{
    const weft__layout *layout = weft__layout_any(world, format, size_class);
    if (layout == NULL) weft__error_memory(world, "chunk layout");
    return layout;
}

uint32_t weft__format_capacity(const weft__format *format, uint32_t size_class)
{
    const weft__layout *layout = at_load_acq(&format->x_layouts[size_class]); /* L1 */
    if (layout != NULL) return layout->capacity;
    uint32_t rows = class_capacity(format, size_class);
    return rows < format->row_limit ? rows : format->row_limit;
}

/* Owner, world idle. */
static bool layout_check(const weft__format *format, const weft__layout *layout,
                         uint32_t size_class)
{
    if (layout->size_class != size_class || layout->column_count != format->column_count ||
        layout->slice_shift != format->slice_shift || layout->capacity == 0 ||
        layout->capacity > format->row_limit ||
        layout->mask_words != (layout->capacity + 63) / 64 ||
        layout->slice_count !=
            (layout->capacity + (1u << layout->slice_shift) - 1) >> layout->slice_shift)
        return false;
    size_t end = 0;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const weft__column *column = &layout->columns[i];
        if (column->offset < end || column->offset % column_alignment(format, i, size_class) != 0)
            return false;
        end = column->offset + (size_t)layout->capacity * column->bytes;
    }
    return end <= weft__class_bytes(size_class);
}

static bool format_check(const weft__format *format)
{
    uint64_t bytes = sizeof(weft_entity);
    for (uint32_t i = 1; i < format->column_count; i++) bytes += format->types[i]->value_bytes;
    if (bytes != format->row_bytes) return false;
    for (uint32_t k = 0; k < WEFT__SIZE_CLASSES; k++) {
        const weft__layout *layout = at_plain(&format->x_layouts[k]);
        if (layout != NULL && !layout_check(format, layout, k)) return false;
    }
    return true;
}

bool weft__formats_check(const weft_world *world)
{
    for (uint32_t i = 0; i < world->formats.all.count; i++)
        if (!format_check(world->formats.all.at[i])) return false;
    return world->formats.all.count == world->formats.numbers.count;
}

void weft__formats_fini(weft_world *world)
{
    for (uint32_t i = 0; i < world->formats.all.count; i++) {
        weft__format *format = world->formats.all.at[i];
        for (uint32_t k = 0; k < WEFT__SIZE_CLASSES; k++)
            weft__free(&world->memory, WEFT__MEMORY_METADATA, at_plain(&format->x_layouts[k]), 1,
                       layout_bytes(format), _Alignof(weft__layout));
        weft__free(&world->memory, WEFT__MEMORY_METADATA, format, 1,
                   format_bytes(format->column_count), _Alignof(weft__format));
    }
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_METADATA, &world->formats.all);
    weft__table_free(&world->memory, WEFT__MEMORY_METADATA, &world->formats.numbers);
}
