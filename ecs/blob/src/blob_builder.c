/* SPDX-License-Identifier: MIT */
/* blob_builder.c: makes one blob: memory that never moves while it is filled, then one block.
 *
 * Allocations are given positions in the final block at once. Memory comes in chunks, each large
 * enough for the whole blob so far and used from where the last one ended: position p lies at
 * memory + p of its chunk, so the layout does not depend on the chunks. References are written by
 * finish only: until then an array field holds count 0 and a mark (its extent's number), so reading
 * through it finds nothing, and giving it elements twice is noticed. At the end the earlier chunks
 * are copied into the front of the last one, which becomes the block unless too much of it would be
 * left over: with a known size, or one large array, nothing large is copied. Large copies hash
 * whole blocks of content on the way. */
#include "bits.h"
#include "blob_store.h"
#include "blob_type.h"
#include "blob_validate.h"
#include "hash_lanes.h"
#include "invariant.h"
#include "list.h"
#include "text.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

#define CHUNK_BYTES_MIN ((uint64_t)16 << 10)
#define CHUNKS_MAX 64u /* each at least twice the blob before it: 2^62 bytes need fewer */
#define TABLE_SLACK ((uint64_t)4 << 10)

/* Positions [start, end) of the blob live at memory + position. Never moves. Owner: the builder;
 * finish may hand the last one over as the block. Always: start <= end <= capacity. */
typedef struct chunk {
    char *memory;
    uint64_t start, end;
    uint64_t capacity; /* bytes of memory */
} chunk;

/* A pointer field and where it shall lead (0: nowhere), in order of the calls. A value; listed
 * by the builder. */
typedef struct pointer_patch {
    uint64_t at, target;
} pointer_patch;

/* Owner: the caller; one thread at a time. Invariants: chunks[i].end <= chunks[i + 1].start;
 * extents are in order of position; chunk_count == 0 after finish. */
struct weft_blob_builder {
    weft_blob_store *store;
    const weft_blob_type *type;
    uint32_t chunk_count;
    uint64_t end;        /* first position not yet given away */
    uint64_t owner_hint; /* see weft__blob_extent_find */
    WEFT__LIST(weft__blob_extent) extents;
    WEFT__LIST(pointer_patch) pointers;
    WEFT__LIST(weft__blob_hash_block) known;
    weft__blob_plan plan;
    chunk chunks[CHUNKS_MAX];
    weft_error error; /* the first one, kept; only the code is set while there is none */
};

/* Where a field handed in by the caller lies. A value. */
typedef struct place {
    const weft_blob_field *field;
    uint64_t at;     /* its position */
    uint64_t extent; /* number of the extent around it */
} place;

/* `text` says what to do; NULL: that of the result. */
static weft_result keep_error(weft_blob_builder *b, weft_result result, const char *text)
{
    if (b->error.code != WEFT_OK) return result;
    b->error.number = 0;
    weft__error_fill(&b->error, result, "%s", text != NULL ? text : weft_result_text(result));
    return result;
}

/* ---- memory ---- */

static void free_chunk(weft_blob_builder *b, chunk *c)
{
    weft__free(b->store->memory, WEFT__MEMORY_BLOBS, c->memory, c->capacity, 1,
               WEFT_BLOB_ALIGNMENT_MAX);
    c->memory = NULL;
}

/* A chunk that can hold positions up to `end`, from the end of the last one on. */
static weft_result add_chunk(weft_blob_builder *b, uint64_t end)
{
    if (b->chunk_count == CHUNKS_MAX) return WEFT_LIMIT;
    uint64_t capacity = end + TABLE_SLACK + b->extents.count * sizeof(weft__blob_extent);
    if (capacity < CHUNK_BYTES_MIN) capacity = CHUNK_BYTES_MIN;
    if (capacity < 2 * b->end) capacity = 2 * b->end;
    capacity = weft__blob_reserve(capacity);
    char *memory =
        weft__alloc(b->store->memory, WEFT__MEMORY_BLOBS, capacity, 1, WEFT_BLOB_ALIGNMENT_MAX);
    if (memory == NULL) return WEFT_OUT_OF_MEMORY;
    b->chunks[b->chunk_count++] = (chunk){memory, b->end, b->end, capacity};
    return WEFT_OK;
}

static char *address_of(const weft_blob_builder *b, uint64_t position)
{
    for (uint32_t i = b->chunk_count; i-- != 0;) {
        const chunk *c = &b->chunks[i];
        if (position >= c->start) return c->memory + position;
    }
    return NULL;
}

/* Position of an address in memory of this builder, or 0 (where only the header is). */
static uint64_t position_of(const weft_blob_builder *b, const void *address)
{
    for (uint32_t i = b->chunk_count; i-- != 0;) {
        const chunk *c = &b->chunks[i];
        uintptr_t start = (uintptr_t)c->memory + c->start;
        if ((uintptr_t)address - start < c->end - c->start)
            return c->start + ((uintptr_t)address - start);
    }
    return 0;
}

/* Gives away the next extent: `spare` says what it is; its position is filled in. Fails without a
 * change. The memory is not zeroed; the gap before it is. */
static char *allocate(weft_blob_builder *b, weft__blob_extent *spare)
{
    const weft__blob_element *kind = &b->plan.kinds[spare->kind];
    uint64_t bytes, start = bits_align_up(b->end, kind->alignment);
    if (__builtin_mul_overflow(spare->count, kind->bytes, &bytes) ||
        bytes > BLOB_BYTES_MAX - start) {
        return keep_error(b, WEFT_LIMIT, "more than 2^62 bytes: check the count"), NULL;
    }
    if (!WEFT__LIST_ROOM(b->store->memory, WEFT__MEMORY_BLOBS, &b->extents, b->extents.count + 1))
        return keep_error(b, WEFT_OUT_OF_MEMORY, NULL), NULL;
    chunk *c = b->chunk_count == 0 ? NULL : &b->chunks[b->chunk_count - 1];
    if (c == NULL || start + bytes > c->capacity) {
        weft_result result = add_chunk(b, start + bytes);
        if (result != WEFT_OK) return keep_error(b, result, NULL), NULL;
        c = &b->chunks[b->chunk_count - 1];
    }
    char *memory = c->memory + start;
    memset(memory - (start - b->end), 0, start - b->end);
    b->end = c->end = start + bytes;
    spare->position = start;
    b->extents.at[b->extents.count++] = *spare;
    return memory;
}

static weft_result keep_finished(weft_blob_builder *b)
{
    return keep_error(b, WEFT_WRONG_PHASE,
                      "the blob is finished: make another builder for another blob");
}

/* ---- finding fields ---- */

/* The field at an address; INVALID_ARGUMENT unless it is a `kind` of this builder's memory. */
static weft_result find_field(weft_blob_builder *b, const void *address, uint32_t kind, place *out)
{
    if (b->error.code != WEFT_OK) return b->error.code;
    if (b->chunk_count == 0) return keep_finished(b);
    out->at = address == NULL ? 0 : position_of(b, address);
    if (out->at == 0)
        return keep_error(b, WEFT_INVALID_ARGUMENT,
                          "the field is not in memory of this builder: pass the address of a field "
                          "inside what the builder returned, never of a copy");
    const weft__blob_extent *extents = b->extents.at;
    out->extent = weft__blob_extent_find(extents, b->extents.count, out->at, &b->owner_hint);
    const weft__blob_extent *extent = &extents[out->extent];
    const weft__blob_element *element = &b->plan.kinds[extent->kind];
    uint64_t delta = out->at - extent->position;
    out->field = delta < extent->count * element->bytes
                     ? weft__blob_field_at(element, delta % element->bytes)
                     : NULL;
    if (out->field == NULL || out->field->kind != kind)
        return keep_error(b, WEFT_INVALID_ARGUMENT,
                          "the type describes no such reference at this address: list the field in "
                          "its weft_blob_type, and reach nested arrays through the pointer that "
                          "the builder returned");
    return WEFT_OK;
}

/* Elements for the array or string field at `address`, marked as given. */
static char *allocate_owned(weft_blob_builder *b, weft_blob_array *address, const place *where,
                            uint64_t count)
{
    const weft__blob_extent *owner = &b->extents.at[where->extent];
    if (address->offset != 0)
        return keep_error(b, WEFT_ALREADY_EXISTS,
                          "the field was given its elements before: build them once, with the "
                          "final count"),
               NULL;
    if (owner->depth == WEFT_BLOB_DEPTH_MAX)
        return keep_error(b, WEFT_LIMIT,
                          "arrays nest deeper than 256: use one array of nodes and pointers"),
               NULL;
    weft__blob_extent extent = {.count = count,
                                .owner = where->at,
                                .kind = weft__blob_plan_kind(&b->plan, where->field),
                                .depth = owner->depth + 1};
    char *memory = allocate(b, &extent);
    /* The mark. A multiple of 8: what is reached through it is misaligned, so it is never a field.
     */
    if (memory != NULL) address->offset = (int64_t)(b->extents.count - 1) * 8;
    return memory;
}

static weft_result add_pointer(weft_blob_builder *b, uint64_t at, uint64_t target)
{
    pointer_patch *patch = WEFT__LIST_ADD(b->store->memory, WEFT__MEMORY_BLOBS, &b->pointers);
    if (patch == NULL) return keep_error(b, WEFT_OUT_OF_MEMORY, NULL);
    *patch = (pointer_patch){at, target};
    return WEFT_OK;
}

/* ---- public: building ---- */

weft_result weft_blob_builder_create(weft_blob_store *store, const weft_blob_type *root_type,
                                     uint64_t capacity_bytes, weft_blob_builder **out)
{
    if (store == NULL || root_type == NULL || out == NULL || capacity_bytes > BLOB_BYTES_MAX)
        return WEFT_INVALID_ARGUMENT;
    *out = NULL;
    weft_blob_builder *b = weft__alloc(store->memory, WEFT__MEMORY_BLOBS, 1, sizeof *b, 8);
    if (b == NULL) return WEFT_OUT_OF_MEMORY;
    memset(b, 0, offsetof(weft_blob_builder, error));
    b->error.code = WEFT_OK;
    b->store = store;
    weft__blob_store_built(store, 1);
    b->type = root_type;
    b->end = WEFT_BLOB_HEADER_BYTES;
    weft_result result = weft__blob_plan_init(&b->plan, root_type);
    if (result != WEFT_OK)
        weft__blob_store_fail(store, result, NULL, "%s (at byte %llu of the struct)",
                              b->plan.mistake, (unsigned long long)b->plan.mistake_offset);
    if (result == WEFT_OK) result = add_chunk(b, WEFT_BLOB_HEADER_BYTES + capacity_bytes);
    weft__blob_extent root = {.count = 1};
    char *memory = result == WEFT_OK ? allocate(b, &root) : NULL;
    if (memory == NULL) {
        result = result != WEFT_OK ? result : b->error.code;
        weft_blob_builder_destroy(b);
        return result;
    }
    memset(memory, 0, root_type->bytes);
    *out = b;
    return WEFT_OK;
}

void weft_blob_builder_destroy(weft_blob_builder *b)
{
    if (b == NULL) return;
    for (uint32_t i = 0; i < b->chunk_count; i++) free_chunk(b, &b->chunks[i]);
    WEFT__LIST_FREE(b->store->memory, WEFT__MEMORY_BLOBS, &b->extents);
    WEFT__LIST_FREE(b->store->memory, WEFT__MEMORY_BLOBS, &b->pointers);
    WEFT__LIST_FREE(b->store->memory, WEFT__MEMORY_BLOBS, &b->known);
    weft__blob_store_built(b->store, -1);
    weft__free(b->store->memory, WEFT__MEMORY_BLOBS, b, 1, sizeof *b, 8);
}

void *weft_blob_builder_root(weft_blob_builder *b)
{
    return b == NULL || b->chunk_count == 0 ? NULL : address_of(b, WEFT_BLOB_HEADER_BYTES);
}

const weft_error *weft_blob_builder_error(const weft_blob_builder *b)
{
    static const weft_error is_null = {.code = WEFT_INVALID_ARGUMENT,
                                       .text = "the builder is NULL"};
    static const weft_error none;
    if (b == NULL) return &is_null;
    return b->error.code == WEFT_OK ? &none : &b->error;
}

void *weft_blob_builder_array(weft_blob_builder *b, weft_blob_array *array, uint64_t count)
{
    place where;
    if (b == NULL || find_field(b, array, WEFT_BLOB_KIND_ARRAY, &where) != WEFT_OK) return NULL;
    if (count == 0) return array;
    char *memory = allocate_owned(b, array, &where, count);
    if (memory != NULL) memset(memory, 0, count * where.field->bytes);
    return memory;
}

/* Copies into the newest extent; whole hash blocks are hashed on the way. */
static weft_result copy_hashed(weft_blob_builder *b, char *memory, const char *from, uint64_t bytes)
{
    uint64_t position = b->end - bytes;
    while (bytes != 0) {
        uint64_t index = position / BLOB_HASH_BLOCK;
        uint64_t piece = (index + 1) * BLOB_HASH_BLOCK - position;
        if (piece > bytes) piece = bytes;
        if (piece == BLOB_HASH_BLOCK) {
            weft__blob_hash_block *known =
                WEFT__LIST_ADD(b->store->memory, WEFT__MEMORY_BLOBS, &b->known);
            if (known == NULL) return keep_error(b, WEFT_OUT_OF_MEMORY, NULL);
            known->index = index;
            known->hash = weft__hash_lanes_copy(BLOB_BLOCK_SEED(index), memory, from, piece);
        } else {
            memcpy(memory, from, piece);
        }
        memory += piece, from += piece, position += piece, bytes -= piece;
    }
    return WEFT_OK;
}

weft_result weft_blob_builder_copy(weft_blob_builder *b, weft_blob_array *array, const void *values,
                                   uint64_t count)
{
    place where;
    if (b == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = find_field(b, array, WEFT_BLOB_KIND_ARRAY, &where);
    if (result != WEFT_OK || count == 0) return result;
    /* References of other memory would be copied as they are. */
    bool is_plain = where.field->type == NULL || where.field->type->field_count == 0;
    if (values == NULL || !is_plain)
        return keep_error(b, WEFT_INVALID_ARGUMENT,
                          "there are no values, or they contain references, which cannot be copied "
                          "as bytes: use weft_blob_builder_array and fill the elements");
    char *memory = allocate_owned(b, array, &where, count);
    return memory == NULL ? b->error.code
                          : copy_hashed(b, memory, values, count * where.field->bytes);
}

weft_result weft_blob_builder_string(weft_blob_builder *b, weft_blob_string *string,
                                     const char *text, uint64_t bytes)
{
    place where;
    if (b == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = find_field(b, string, WEFT_BLOB_KIND_STRING, &where);
    if (result != WEFT_OK || bytes == 0) return result;
    if (text == NULL || bytes > BLOB_BYTES_MAX || weft__utf8_span(text, bytes) != bytes)
        return keep_error(b, WEFT_INVALID_ARGUMENT,
                          "the text is NULL or not UTF-8: keep other bytes in an array");
    char *memory = allocate_owned(b, (weft_blob_array *)(void *)string, &where, bytes + 1);
    if (memory == NULL) return b->error.code;
    memcpy(memory, text, bytes);
    memory[bytes] = '\0';
    return WEFT_OK;
}

void *weft_blob_builder_object(weft_blob_builder *b, weft_blob_pointer *pointer)
{
    place where;
    if (b == NULL || find_field(b, pointer, WEFT_BLOB_KIND_POINTER, &where) != WEFT_OK) return NULL;
    weft__blob_extent object = {.count = 1, .kind = weft__blob_plan_kind(&b->plan, where.field)};
    char *memory = allocate(b, &object);
    if (memory == NULL || add_pointer(b, where.at, object.position) != WEFT_OK) return NULL;
    memset(memory, 0, where.field->bytes);
    return memory;
}

weft_result weft_blob_builder_point(weft_blob_builder *b, weft_blob_pointer *pointer,
                                    const void *target)
{
    place where;
    if (b == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = find_field(b, pointer, WEFT_BLOB_KIND_POINTER, &where);
    if (result != WEFT_OK) return result;
    if (target == NULL) return add_pointer(b, where.at, 0);
    const uint64_t position = position_of(b, target);
    if (position == 0)
        return keep_error(b, WEFT_INVALID_ARGUMENT,
                          "the target is not in memory of this builder: a blob can point into "
                          "itself only");
    uint64_t hint = b->extents.count - 1;
    const weft__blob_extent *extents = b->extents.at;
    const weft__blob_extent *extent =
        &extents[weft__blob_extent_find(extents, b->extents.count, position, &hint)];
    const weft__blob_element *element = &b->plan.kinds[extent->kind];
    if (!weft__blob_target_fits(element, extent, position - extent->position, where.field))
        return keep_error(b, WEFT_INVALID_ARGUMENT,
                          "the target is not of the type that the pointer field describes");
    return add_pointer(b, where.at, position);
}

/* ---- finish ---- */

/* The block: the last chunk when all fits and little of it is left over, else a new one. */
static weft_result make_block(weft_blob_builder *b, uint64_t total, weft__blob_block *out)
{
    const chunk *last = &b->chunks[b->chunk_count - 1];
    if (!b->store->protects && total <= last->capacity &&
        last->capacity - total <= last->capacity / 8) {
        *out = (weft__blob_block){last->memory, last->capacity, BLOB_HEAP};
    } else {
        weft_result result = weft__blob_block_create(b->store, total, out);
        if (result != WEFT_OK) return result;
    }
    for (uint32_t i = 0; i < b->chunk_count; i++) {
        const chunk *c = &b->chunks[i];
        if (c->memory == out->memory) continue;
        memcpy((char *)out->memory + c->start, c->memory + c->start, c->end - c->start);
    }
    return WEFT_OK;
}

/* What the field of an extent counts: a string does not count its NUL. */
static uint64_t visible_count(const weft_blob_builder *b, const weft__blob_extent *extent,
                              uint64_t *hint)
{
    if (b->plan.kinds[extent->kind].bytes != 1) return extent->count;
    const weft__blob_extent *extents = b->extents.at;
    const weft__blob_extent *owner =
        &extents[weft__blob_extent_find(extents, b->extents.count, extent->owner, hint)];
    const weft__blob_element *element = &b->plan.kinds[owner->kind];
    const weft_blob_field *field =
        weft__blob_field_at(element, (extent->owner - owner->position) % element->bytes);
    return extent->count - (field->kind == WEFT_BLOB_KIND_STRING);
}

/* Writes all references of the block. Can be repeated. */
static void write_references(const weft_blob_builder *b, char *block)
{
    const weft__blob_extent *extents = b->extents.at;
    uint64_t hint = 0;
    for (uint64_t i = 1; i < b->extents.count; i++) {
        const weft__blob_extent *extent = &extents[i];
        if (extent->owner == 0) continue;
        weft_blob_array value = {.offset = (int64_t)(extent->position - extent->owner - 1),
                                 .count = visible_count(b, extent, &hint)};
        memcpy(block + extent->owner, &value, sizeof value);
    }
    const pointer_patch *pointers = b->pointers.at;
    for (uint64_t i = 0; i < b->pointers.count; i++) {
        uint64_t target = pointers[i].target;
        weft_blob_pointer value = {target == 0 ? 0 : (int64_t)(target - pointers[i].at - 1)};
        memcpy(block + pointers[i].at, &value, sizeof value);
    }
}

static void write_header_and_table(const weft_blob_builder *b, char *block, uint64_t total)
{
    weft__blob_header *header = (weft__blob_header *)(void *)block;
    const uint64_t table = bits_align_up(b->end, 8);
    *header = (weft__blob_header){.magic = BLOB_MAGIC,
                                  .version = BLOB_VERSION,
                                  .byte_order = BLOB_BYTE_ORDER,
                                  .type_hash = b->plan.type_hash,
                                  .total_bytes = total,
                                  .data_end = b->end,
                                  .extent_count = b->extents.count};
    memset(block + b->end, 0, table - b->end);
    memcpy(block + table, b->extents.at, b->extents.count * sizeof(weft__blob_extent));
    header->content_hash = weft__blob_content_hash(block, b->known.at, b->known.count);
}

/* The caller can write anything into memory that was handed out, references too: what did not come
 * from the builder must not become a blob that reads elsewhere. */
static weft_result check_references_are_ours(weft_blob_builder *b, const char *block,
                                             uint64_t total)
{
    WEFT_ASSERT(weft__blob_content_hash(block, NULL, 0) ==
                ((const weft__blob_header *)(const void *)block)->content_hash);
    weft_load_report problem;
    if (weft__blob_check(block, total, &b->plan, false, &problem) == WEFT_OK) return WEFT_OK;
    char text[sizeof b->error.text];
    snprintf(text, sizeof text,
             "%s (at byte %llu of the blob): a reference was written by hand, copied with its "
             "struct, or overwritten and given again: leave references to the builder's functions",
             problem.check, (unsigned long long)problem.offset);
    return keep_error(b, WEFT_INVALID_ARGUMENT, text);
}

weft_result weft_blob_builder_finish(weft_blob_builder *b, weft_blob_ref *out)
{
    if (b == NULL || out == NULL) return WEFT_INVALID_ARGUMENT;
    out->id = 0;
    if (b->error.code != WEFT_OK) return b->error.code;
    if (b->chunk_count == 0) return keep_finished(b);
    weft__blob_block block;
    const uint64_t total = bits_align_up(b->end, 8) + b->extents.count * sizeof(weft__blob_extent);
    weft_result result = make_block(b, total, &block);
    if (result != WEFT_OK) return result;
    const bool is_in_place = block.memory == b->chunks[b->chunk_count - 1].memory;
    write_references(b, block.memory);
    write_header_and_table(b, block.memory, total);
    result = check_references_are_ours(b, block.memory, total);
    if (result == WEFT_OK) result = weft__blob_store_insert(b->store, &block, b->type, out);
    if (result != WEFT_OK) {
        if (!is_in_place) weft__blob_block_destroy(b->store, &block);
        return result;
    }
    for (uint32_t i = is_in_place; i < b->chunk_count; i++)
        free_chunk(b, &b->chunks[i - is_in_place]);
    b->chunk_count = 0;
    return WEFT_OK;
}
