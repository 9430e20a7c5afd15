/* SPDX-License-Identifier: MIT */
/* entity_bundle.c: entities created from bundles: the steps of weft_entity_create, then the values
 * go to their columns, whose slice the creation stamped.
 *
 * All checks of fields are made when the bundle is opened: a type keeps its position in an
 * archetype, and an archetype its id, as long as the world lives. Owner, world idle. */
#include "archetype.h"
#include "component_check.h"
#include "entity_value.h"
#include "error.h"
#include "ready_rows.h"

#include <string.h>
#include <weft/bundle.h>

static weft_result field_error(const weft_world *world, weft_result code, const weft__type *type,
                               const char *problem)
{
    return weft__error(world, code, WEFT__NO_ENTITY, weft__component(world, type->id),
                       "weft_bundle_open: component \"%s\" %s", type->desc.name, problem);
}

static weft_result field_add(const weft_world *world, const weft__archetype *archetype,
                             const weft_bundle_field *field, weft_bundle *bundle)
{
    const weft__type *type = weft__type_at(world, field->component);
    if (type == NULL) return weft__error_component(world, field->component);
    bool is_plain = (type->desc.flags & (WEFT_BUFFER | WEFT_SPARSE)) == 0;
    uint32_t position = weft__archetype_find(archetype, type->id);
    if (position == WEFT__NONE && is_plain)
        return field_error(world, WEFT_INVALID_ARGUMENT, type,
                           "is not in the archetype: leave it out, or take an archetype with it");
    if (!is_plain || archetype->types[position].column == 0)
        return field_error(world, WEFT_TYPE_MISMATCH, type,
                           "has no plain column: leave it out, and set it after the creation");
    for (uint32_t i = 0; i < bundle->field_count; i++)
        if (bundle->fields[i].type == position)
            return field_error(world, WEFT_INVALID_ARGUMENT, type, "is listed twice");
    uint32_t at = bundle->field_count++;
    bundle->fields[at].type = position;
    bundle->fields[at].column = archetype->types[position].column;
    bundle->fields[at].bytes = type->value_bytes;
    bundle->fields[at].offset = field->offset;
    return WEFT_OK;
}

weft_bundle weft_bundle_open(weft_world *world, weft_archetype handle,
                             const weft_bundle_field *fields, uint32_t count)
{
    static const char what[] = "weft_bundle_open";
    weft_bundle bundle = {.archetype = handle}, none = {.field_count = 0};
    if (world == NULL || weft__idle(world, what) != WEFT_OK) return none;
    if (fields == NULL && count != 0) {
        weft__error_argument(world, what, "fields is NULL: give a list, or a count of 0");
        return none;
    }
    if (count > WEFT_BUNDLE_FIELDS) {
        weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, (weft_component){0, 0},
                    "weft_bundle_open: %u fields, a bundle has at most %u: write the others with "
                    "weft_entity_write",
                    count, WEFT_BUNDLE_FIELDS);
        return none;
    }
    const weft__archetype *archetype = weft__archetype_at(world, handle);
    if (archetype == NULL) return none;
    if ((archetype->flags & WEFT__IS_RESIDUE) != 0) {
        weft__error_residue_tag(world, what);
        return none;
    }
    for (uint32_t i = 0; i < count; i++)
        if (field_add(world, archetype, &fields[i], &bundle) != WEFT_OK) return none;
    return bundle;
}

/* A value that the caller has just written, perhaps float by float: a load that spans two of its
 * stores cannot be forwarded from the store buffer and waits; one of four bytes never spans two. */
static inline void word_take(char *to, const char *from)
{
    uint32_t word;
    memcpy(&word, from, 4);
    __asm__("" : "+r"(word)); /* the compiler would join them */
    memcpy(to, &word, 4);
}

/* False: it is a value of another size. */
static inline bool words_take(char *to, const char *from, size_t bytes)
{
    switch (bytes) {
    case 16:
        word_take(to + 12, from + 12);
        __attribute__((fallthrough));
    case 12:
        word_take(to + 8, from + 8);
        __attribute__((fallthrough));
    case 8:
        word_take(to + 4, from + 4);
        __attribute__((fallthrough));
    case 4:
        word_take(to, from);
        return true;
    default:
        return false;
    }
}

/* The values of a new row; what its constructors made is destructed. */
static inline void values_write(weft_world *world, const weft_bundle *bundle,
                                const weft__chunk *chunk, uint32_t row, const char *values)
{
    const weft__archetype *archetype = chunk->archetype;
    const weft__column *columns = chunk->layout->columns;
    char *base = chunk->base;
    bool destructs = (archetype->flags & WEFT__NEEDS_DESTRUCT) != 0;
    for (uint32_t i = 0, n = bundle->field_count; i < n; i++) {
        const weft__type *type = archetype->types[bundle->fields[i].type].type;
        size_t bytes = bundle->fields[i].bytes;
        char *to = base + columns[bundle->fields[i].column].offset + row * bytes;
        if (__builtin_expect(destructs, 0) && type->needs_destruct)
            weft__type_destruct(&world->memory, type, to, 1);
        const char *value = values + bundle->fields[i].offset;
        if (!words_take(to, value, bytes)) memcpy(to, value, bytes);
    }
}

/* Checked builds. */
static weft_result values_check(const weft_world *world, const weft_bundle *bundle,
                                const char *values)
{
    const weft__archetype *archetype = weft__archetype_at(world, bundle->archetype);
    if (archetype == NULL) return world->error->code;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < bundle->field_count && result == WEFT_OK; i++)
        result = weft__values_check(world, archetype->types[bundle->fields[i].type].type,
                                    values + bundle->fields[i].offset, 1);
    return result;
}

/* Any creation, with every check and every error. */
static __attribute__((noinline)) weft_entity
create_generally(weft_world *world, const weft_bundle *bundle, const void *values)
{
    const weft_entity none = {0, 0};
    if (world == NULL) return none;
    if (bundle == NULL || values == NULL) {
        weft__error_argument(world, "weft_entity_create_bundle",
                             "bundle or values is NULL: give their addresses");
        return none;
    }
    if (WEFT_IS_CHECKED && values_check(world, bundle, values) != WEFT_OK) return none;
    weft_entity entity = weft_entity_create(world, bundle->archetype);
    uint32_t row;
    const weft__chunk *chunk = entity.version == 0 ? NULL : weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return none;
    values_write(world, bundle, chunk, row, values);
    return entity;
}

/* The values of the last row, of any size. */
static __attribute__((noinline)) weft_entity finish_generally(weft_world *world,
                                                              const weft_bundle *bundle,
                                                              const weft__chunk *chunk,
                                                              const void *values)
{
    uint32_t row = chunk->count - 1;
    values_write(world, bundle, chunk, row, values);
    return weft__chunk_entities(chunk)[row];
}

/* Whether the values of the bundle are the whole next row, so that it need not be made ready first:
 * it is of a stamped slice, not the last one that fits, and a birth is bytes and no more. */
static inline bool is_covered(const weft_world *world, const weft_bundle *bundle,
                              const weft__chunk *chunk)
{
    const weft__layout *layout = chunk->layout;
    uint32_t slice = chunk->count >> layout->slice_shift;
    return bundle->field_count + 1 == layout->column_count && chunk->count + 1 != chunk->capacity &&
           weft__slice_is_stamped(chunk, slice, world->front.version) &&
           (chunk->archetype->flags & WEFT__IS_SPECIAL) == 0;
}

/* Where the next row is ready or need not be. Nothing is called but at the end. */
weft_entity weft_entity_create_bundle(weft_world *world, const weft_bundle *bundle,
                                      const void *values)
{
    weft__chunk *chunk = WEFT_IS_CHECKED || bundle == NULL || values == NULL
                             ? NULL
                             : weft__chunk_for_one(world, bundle->archetype);
    if (__builtin_expect(chunk == NULL, 0) ||
        !(weft__row_is_ready(world, chunk) || is_covered(world, bundle, chunk)))
        return create_generally(world, bundle, values);
    uint32_t row = chunk->count;
    uint64_t entity =
        weft__directory_allocate_one_owner(&world->directory, weft__location(chunk, row));
    if (__builtin_expect(entity == 0, 0)) return create_generally(world, bundle, values);
    memcpy(weft__chunk_entities(chunk) + row, &entity, sizeof entity); /* in one piece */
    chunk->count = row + 1;
    weft__chunk_count_plain(world, chunk, 1);
    const weft__column *columns = chunk->layout->columns;
    char *base = chunk->base;
    for (uint32_t i = 0, n = bundle->field_count; i < n; i++) {
        size_t bytes = bundle->fields[i].bytes;
        char *to = base + columns[bundle->fields[i].column].offset + row * bytes;
        if (!words_take(to, (const char *)values + bundle->fields[i].offset, bytes))
            return finish_generally(world, bundle, chunk, values);
    }
    return (weft_entity){(uint32_t)entity, (uint32_t)(entity >> 32)};
}
