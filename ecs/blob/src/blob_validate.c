/* SPDX-License-Identifier: MIT */
/* blob_validate.c: whether untrusted bytes are a blob of a type: content hash, layout, references.
 *
 * No recursion and no memory: the table of extents is the work list. Pass 1 checks that the extents
 * are the canonical layout of the data (in order, aligned, without overlap or gap beyond alignment,
 * inside). Pass 2 looks at every reference of every element and checks it against the extent it
 * leads to. Arrays and strings must lie behind their owner and name it, so they form a tree;
 * pointers may lead anywhere where something of their type is. */
#include "blob_validate.h"
#include "bits.h"
#include "blob_type.h"
#include "hash_lanes.h"
#include "sized.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(weft__blob_header, field)

/* One validation. On the stack of weft__blob_check. */
typedef struct checker {
    const char *block;
    const weft__blob_header *header;
    const weft__blob_extent *extents;
    const weft__blob_plan *plan;
    weft_load_report *report; /* or NULL */
    uint64_t owned_count;     /* extents that a field has claimed */
    uint64_t array_hint;      /* see weft__blob_extent_find */
    uint64_t pointer_hint;
} checker;

static weft_result refuse_at(const checker *c, const char *check, uint64_t offset)
{
    return weft__load_refuse(c->report, WEFT_LOAD_MALFORMED, offset, check);
}

uint64_t weft__blob_content_hash(const void *block, const weft__blob_hash_block *known,
                                 uint64_t known_count)
{
    const weft__blob_header *header = block;
    uint64_t hash = hash_word(header->type_hash, header->total_bytes);
    hash = hash_word(hash, header->data_end);
    hash = hash_word(hash, header->extent_count);
    uint64_t next_known = 0, at = WEFT_BLOB_HEADER_BYTES;
    for (uint64_t index = 0; at < header->total_bytes; index++) {
        uint64_t end = (index + 1) * BLOB_HASH_BLOCK;
        if (end > header->total_bytes) end = header->total_bytes;
        if (next_known < known_count && known[next_known].index == index) {
            hash = hash_word(hash, known[next_known++].hash);
        } else {
            const char *data = (const char *)block + at;
            hash = hash_word(hash, weft__hash_lanes(BLOB_BLOCK_SEED(index), data, end - at));
        }
        at = end;
    }
    return hash;
}

/* Refuses a header whose number `found` should be `expected`. */
static weft_result refuse_number(weft_load_report *report, weft_load_reason reason, size_t offset,
                                 const char *check, uint64_t found, uint64_t expected)
{
    weft_result result = weft__load_refuse(report, reason, offset, check);
    if (report == NULL) return result;
    report->found = found;
    report->expected = expected;
    return result;
}

/* What marks a blob that this version reads. */
static weft_result check_mark(const weft__blob_header *header, weft_load_report *report)
{
    if (header->magic != BLOB_MAGIC)
        return weft__load_refuse(report, WEFT_LOAD_NOT_WEFT, AT(magic), "not a blob");
    if (header->byte_order != BLOB_BYTE_ORDER)
        return weft__load_refuse(report, WEFT_LOAD_BYTE_ORDER, AT(byte_order), "byte order");
    if (header->version != BLOB_VERSION)
        return refuse_number(report, WEFT_LOAD_VERSION, AT(version), "format version",
                             header->version, BLOB_VERSION);
    return WEFT_OK;
}

static weft_result check_type(const weft__blob_header *header, const weft__blob_plan *plan,
                              weft_load_report *report)
{
    if (header->type_hash == plan->type_hash) return WEFT_OK;
    weft_result result = refuse_number(report, WEFT_LOAD_TYPE_LAYOUT, AT(type_hash), "type hash",
                                       header->type_hash, plan->type_hash);
    if (report != NULL)
        snprintf(report->type, sizeof report->type, "%s", plan->kinds[0].type->name);
    return result;
}

weft_result weft__blob_check_header(const weft__blob_header *header, uint64_t bytes,
                                    const weft__blob_plan *plan, weft_load_report *report)
{
    weft_result result = check_mark(header, report);
    if (result == WEFT_OK) result = check_type(header, plan, report);
    if (result != WEFT_OK) return result;
    if (header->total_bytes > bytes)
        return refuse_number(report, WEFT_LOAD_TRUNCATED, bytes, "truncated", bytes,
                             header->total_bytes);
    if (header->total_bytes != bytes)
        return weft__load_refuse(report, WEFT_LOAD_MALFORMED, AT(total_bytes),
                                 "size: bytes behind the blob");
    if (header->reserved != 0)
        return weft__load_refuse(report, WEFT_LOAD_MALFORMED, AT(reserved),
                                 "reserved field is not zero");
    if (header->extent_count == 0 || header->extent_count > bytes / sizeof(weft__blob_extent))
        return weft__load_refuse(report, WEFT_LOAD_MALFORMED, AT(extent_count),
                                 "number of extents");
    uint64_t table = bytes - header->extent_count * sizeof(weft__blob_extent);
    if (header->data_end <= WEFT_BLOB_HEADER_BYTES || header->data_end > table ||
        bits_align_up(header->data_end, 8) != table)
        return weft__load_refuse(report, WEFT_LOAD_MALFORMED, AT(data_end), "end of data");
    return WEFT_OK;
}

weft_result weft__blob_check_size(uint64_t bytes, weft_load_report *report)
{
    if (bytes >= sizeof(weft__blob_header)) return WEFT_OK;
    return refuse_number(report, WEFT_LOAD_TRUNCATED, bytes, "shorter than a header", bytes,
                         sizeof(weft__blob_header));
}

static bool bytes_are_zero(const char *block, uint64_t from, uint64_t to)
{
    for (; from < to; from++) {
        if (block[from] != 0) return false;
    }
    return true;
}

/* One extent that must start at the next possible place behind `*end`; moves `*end` behind it. */
static weft_result check_layout_of(const checker *c, const weft__blob_extent *extent, uint64_t *end)
{
    if (extent->kind >= c->plan->kind_count) return refuse_at(c, "kind of an extent", *end);
    const weft__blob_element *kind = &c->plan->kinds[extent->kind];
    uint64_t start = bits_align_up(*end, kind->alignment), bytes;
    if (extent->position != start) return refuse_at(c, "position of an extent", *end);
    if (extent->count == 0 || __builtin_mul_overflow(extent->count, kind->bytes, &bytes) ||
        start > c->header->data_end || bytes > c->header->data_end - start) {
        return refuse_at(c, "size of an extent", start);
    }
    if (!bytes_are_zero(c->block, *end, start)) return refuse_at(c, "gap is not zero", *end);
    if (extent->depth > WEFT_BLOB_DEPTH_MAX) return refuse_at(c, "depth of arrays", start);
    if ((extent->owner == 0) != (extent->depth == 0)) return refuse_at(c, "owner", start);
    *end = start + bytes;
    return WEFT_OK;
}

/* Pass 1: the extents tile the data. */
static weft_result check_layout(const checker *c)
{
    uint64_t end = WEFT_BLOB_HEADER_BYTES;
    for (uint64_t i = 0; i < c->header->extent_count; i++) {
        weft_result result = check_layout_of(c, &c->extents[i], &end);
        if (result != WEFT_OK) return result;
    }
    const uint64_t table = bits_align_up(end, 8);
    if (end != c->header->data_end) return refuse_at(c, "data behind the last extent", end);
    if (!bytes_are_zero(c->block, end, table)) return refuse_at(c, "gap is not zero", end);
    const weft__blob_extent *root = &c->extents[0];
    bool is_root = root->kind == 0 && root->count == 1 && root->owner == 0;
    return is_root ? WEFT_OK : refuse_at(c, "root", WEFT_BLOB_HEADER_BYTES);
}

/* Position that a reference at `at` leads to. Garbage wraps around; the caller compares with
 * extents. */
static uint64_t target_of(uint64_t at, int64_t offset)
{
    return at + 1 + (uint64_t)offset;
}

/* An array or string of `count` elements (a NUL included) at `at`, in an extent of depth `depth`.
 */
static weft_result check_owned(checker *c, const weft_blob_field *field, uint64_t at,
                               const weft_blob_array *value, uint64_t count, uint32_t depth)
{
    const uint64_t target = target_of(at, value->offset);
    uint64_t i =
        weft__blob_extent_find(c->extents, c->header->extent_count, target, &c->array_hint);
    const weft__blob_extent *extent = &c->extents[i];
    if (extent->position != target || extent->owner != at)
        return refuse_at(c, "array leads to what is not its own", at);
    const weft__blob_element *kind = &c->plan->kinds[extent->kind];
    if (kind->type != field->type || kind->bytes != field->bytes ||
        kind->alignment != field->alignment) {
        return refuse_at(c, "array of another type", at);
    }
    if (extent->count != count) return refuse_at(c, "count", at);
    /* Owner before owned: a tree, so its depths are finite and true. */
    if (target <= at || extent->depth != depth + 1) return refuse_at(c, "nesting", at);
    c->owned_count++;
    return WEFT_OK;
}

static weft_result check_string(checker *c, const weft_blob_field *field, uint64_t at,
                                const weft_blob_array *value, uint32_t depth)
{
    const uint64_t bytes = value->count;
    if (bytes == UINT64_MAX) return refuse_at(c, "count", at);
    weft_result result = check_owned(c, field, at, value, bytes + 1, depth);
    if (result != WEFT_OK) return result;
    const uint64_t target = target_of(at, value->offset);
    const char *text = c->block + target;
    if (text[bytes] != '\0') return refuse_at(c, "string without NUL", at);
    return weft__utf8_span(text, bytes) == bytes ? WEFT_OK : refuse_at(c, "UTF-8", target);
}

static weft_result check_pointer(checker *c, const weft_blob_field *field, uint64_t at,
                                 int64_t offset)
{
    if (offset == 0) return WEFT_OK;
    const uint64_t target = target_of(at, offset);
    uint64_t i =
        weft__blob_extent_find(c->extents, c->header->extent_count, target, &c->pointer_hint);
    const weft__blob_extent *extent = &c->extents[i];
    const weft__blob_element *kind = &c->plan->kinds[extent->kind];
    if (target < extent->position ||
        !weft__blob_target_fits(kind, extent, target - extent->position, field)) {
        return refuse_at(c, "pointer leads to nothing of its type", at);
    }
    return WEFT_OK;
}

static weft_result check_reference(checker *c, const weft_blob_field *field, uint64_t at,
                                   uint32_t depth)
{
    weft_blob_array value = {0}; /* a string has the same layout, a pointer is its first half */
    if (field->kind == WEFT_BLOB_KIND_POINTER) {
        memcpy(&value.offset, c->block + at, sizeof value.offset);
        return check_pointer(c, field, at, value.offset);
    }
    memcpy(&value, c->block + at, sizeof value);
    if (value.count == 0)
        return value.offset == 0 ? WEFT_OK : refuse_at(c, "offset of an empty array", at);
    if (field->kind == WEFT_BLOB_KIND_STRING) return check_string(c, field, at, &value, depth);
    return check_owned(c, field, at, &value, value.count, depth);
}
static_assert(sizeof(weft_blob_string) == sizeof(weft_blob_array), "check_reference");

/* All references of one extent. */
static weft_result check_extent(checker *c, const weft__blob_extent *extent)
{
    const weft__blob_element *kind = &c->plan->kinds[extent->kind];
    if (kind->type == NULL || kind->type->field_count == 0) return WEFT_OK;
    const uint64_t end = extent->position + extent->count * kind->bytes;
    for (uint64_t element = extent->position; element < end; element += kind->bytes) {
        for (uint32_t i = 0; i < kind->type->field_count; i++) {
            const weft_blob_field *field = &kind->type->fields[i];
            weft_result result = check_reference(c, field, element + field->offset, extent->depth);
            if (result != WEFT_OK) return result;
        }
    }
    return WEFT_OK;
}

/* Pass 2: every reference; and nothing claims an owner that does not own it. */
static weft_result check_references(checker *c)
{
    uint64_t owned = 0;
    for (uint64_t i = 0; i < c->header->extent_count; i++) {
        owned += c->extents[i].owner != 0;
        weft_result result = check_extent(c, &c->extents[i]);
        if (result != WEFT_OK) return result;
    }
    return owned == c->owned_count ? WEFT_OK : refuse_at(c, "extent without owner", 0);
}

weft_result weft__blob_check(const void *block, uint64_t bytes, const weft__blob_plan *plan,
                             bool with_hash, weft_load_report *report)
{
    if (report != NULL) *report = (weft_load_report){0};
    const weft__blob_header *header = block;
    weft_result result = weft__blob_check_size(bytes, report);
    if (result == WEFT_OK) result = weft__blob_check_header(header, bytes, plan, report);
    if (result != WEFT_OK) return result;
    uint64_t hash = with_hash ? weft__blob_content_hash(block, NULL, 0) : header->content_hash;
    if (hash != header->content_hash)
        return refuse_number(report, WEFT_LOAD_CHECKSUM, AT(content_hash), "content hash", hash,
                             header->content_hash);
    checker c = {.block = block,
                 .header = header,
                 .extents = weft__blob_table(block),
                 .plan = plan,
                 .report = report};
    result = check_layout(&c);
    return result == WEFT_OK ? check_references(&c) : result;
}

static weft_result validate(const void *block, uint64_t bytes, const weft_blob_type *type,
                            weft_load_report *report)
{
    if (block == NULL || (uintptr_t)block % WEFT_BLOB_ALIGNMENT_MAX != 0)
        return weft__load_refuse(report, WEFT_LOAD_CALL, 0,
                                 "address of the block: give a multiple of 64");
    weft__blob_plan plan;
    weft_result result = weft__blob_plan_report(&plan, type, report);
    return result == WEFT_OK ? weft__blob_check(block, bytes, &plan, true, report) : result;
}

weft_result weft_blob_validate(const void *block, uint64_t bytes, const weft_blob_type *type,
                               weft_load_report *report, size_t report_bytes)
{
    if (!weft__load_report_is_given(report, report_bytes)) return WEFT_INVALID_ARGUMENT;
    weft_load_report found = {0};
    weft_result result = validate(block, bytes, type, &found);
    if (report != NULL) weft__sized_fill(report, report_bytes, &found, sizeof found);
    return result;
}
